import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit.relations import Outcome, Source, get_relation
from audit.relations.registry import configured
from audit.tasks import Input, Output
from audit.text import Analysis


def follow_ups_of(name, text, seed="1"):
    relation = get_relation("sentiment", name)
    return [follow.text for follow in relation.follow_ups(Source(Input.of(text), Analysis(text), seed))]


@pytest.mark.parametrize(
    ("name", "source", "follow_up"),
    [
        # The examples of the study's table 3.
        (
            "MR1.1",
            "don't dismiss this film because of its sources.",
            "do not dismiss this film because of its sources.",
        ),
        ("MR1.2", "I want to buy a bike.", "I want to buy a bicycle."),
        ("MR1.3", "I made a film.", "I made some films."),
        ("MR1.4", "It's a great day.", "It's a great day!"),
    ],
)
def test_examples_of_the_study(name, source, follow_up):
    assert follow_ups_of(name, source) == [follow_up]


def test_full_forms_are_contracted_only_where_there_is_no_contraction():
    assert follow_ups_of("MR1.1", "It is good.") == ["It's good."]
    assert follow_ups_of("MR1.1", "It is good, isn't it?") == ["It is good, is it not?"]
    assert follow_ups_of("MR1.1", "Good film.") == []


@pytest.mark.parametrize(
    "text", ["It is...", "Is it?", "Great!", "", ".", "no mark", "Made in the U.S.", "He said etc."]
)
def test_only_a_final_period_becomes_an_exclamation_mark(text):
    assert follow_ups_of("MR1.4", text) == []


def test_the_period_inside_quotes_or_brackets():
    assert follow_ups_of("MR1.4", 'He said "great."') == ['He said "great!"']
    assert follow_ups_of("MR1.4", "One. Two is awful.") == ["One. Two is awful!"]


def test_there_must_be_a_sentiment_to_strengthen_unless_the_study_is_followed():
    assert follow_ups_of("MR1.4", "It has two doors.") == []
    followed = configured(get_relation("sentiment", "MR1.4"), {"strict": False})
    assert followed.perturb(Analysis("It has two doors."), random.Random(0)) == "It has two doors!"


def test_at_most_two_nouns_are_replaced():
    text = "The movie has a screenplay by a murderer on a couch."
    follow_up = follow_ups_of("MR1.2", text)[0]
    assert 1 <= sum(word != new_word for word, new_word in zip(text.split(), follow_up.split(), strict=True)) <= 2


def test_choices_depend_on_the_seed_alone():
    text = "The movie has a screenplay by a murderer on a couch."
    assert follow_ups_of("MR1.2", text, "a") == follow_ups_of("MR1.2", text, "a")
    assert len({follow_ups_of("MR1.2", text, str(seed))[0] for seed in range(20)}) > 1


def test_checks():
    positive, weaker, neutral = Output("positive", 0.9), Output("positive", 0.5), Output("neutral", 0.9)
    equivalent, stronger = get_relation("sentiment", "MR1.1"), get_relation("sentiment", "MR1.4")
    assert equivalent.check([positive, weaker]).outcome is Outcome.SATISFIED
    assert equivalent.check([neutral, weaker]).outcome is Outcome.VIOLATED
    assert stronger.check([weaker, positive]).outcome is Outcome.SATISFIED
    assert stronger.check([positive, weaker]).outcome is Outcome.VIOLATED
    assert stronger.check([neutral, positive]).outcome is Outcome.INAPPLICABLE
    assert all(get_relation("sentiment", f"MR1.{number}").carry.preserves_truth for number in (1, 2, 3, 4))


@given(st.text(max_size=80), st.integers())
def test_any_text_is_taken(text, seed):
    for name in ("MR1.1", "MR1.2", "MR1.3", "MR1.4"):
        follow_up = get_relation("sentiment", name).perturb(Analysis(text), random.Random(seed))
        assert follow_up is None or follow_up != ""
