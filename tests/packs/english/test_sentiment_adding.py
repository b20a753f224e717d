import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit.relations import Outcome, Source, get_relation
from audit.tasks import Input, Output
from audit.text import Analysis


def follow_ups_of(name, text, seed="1"):
    relation = get_relation("sentiment", name)
    return [follow.text for follow in relation.follow_ups(Source(Input.of(text), Analysis(text), seed))]


def all_follow_ups(name, text):
    return {follow_up for seed in range(40) for follow_up in follow_ups_of(name, text, str(seed))}


def test_examples_of_the_study():
    assert "The apple is very sweet." in all_follow_ups("MR2.1", "The apple is sweet.")
    assert follow_ups_of("MR2.2", "The weather is bad.") == ["The weather is not bad."]
    assert follow_ups_of("MR2.2", "Well made films are good.") == ["Well made films are not good."]


def test_the_article_fits_the_adverb():
    assert all_follow_ups("MR2.1", "It is a dull film.") == {
        "It is a very dull film.",
        "It is a really dull film.",
        "It is an extremely dull film.",
    }
    assert all_follow_ups("MR2.1", "An awful film.") == {
        "An absolutely awful film.",
        "A truly awful film.",
        "An utterly awful film.",
    }


def test_case_follows_the_place():
    assert all_follow_ups("MR2.1", "Dull, long.") == {"Very dull, long.", "Really dull, long.", "Extremely dull, long."}
    assert all_follow_ups("MR2.1", "I HATE THE FILM.") == {"I REALLY HATE THE FILM."}


@pytest.mark.parametrize("name", ["MR2.1", "MR2.2"])
def test_no_group_without_a_place(name):
    assert follow_ups_of(name, "It was not very good, but not bad either.") == []


def test_checks_and_carry():
    positive, negative, neutral = Output("positive", 0.5), Output("negative", 0.9), Output("neutral", 0.9)
    emphasis, negation = get_relation("sentiment", "MR2.1"), get_relation("sentiment", "MR2.2")
    assert emphasis.check([positive, Output("positive", 0.6)]).outcome is Outcome.SATISFIED
    assert emphasis.check([positive, positive]).outcome is Outcome.VIOLATED
    assert negation.check([positive, neutral]).outcome is Outcome.SATISFIED
    assert negation.check([positive, positive]).outcome is Outcome.VIOLATED
    assert negation.check([neutral, negative]).outcome is Outcome.INAPPLICABLE
    assert emphasis.carry({"positive"}) == {"positive"}
    assert emphasis.carry({"neutral"}) is None
    assert negation.carry({"positive"}) is None


@given(st.text(max_size=80), st.integers())
def test_any_text_is_taken(text, seed):
    for name in ("MR2.1", "MR2.2"):
        follow_up = get_relation("sentiment", name).perturb(Analysis(text), random.Random(seed))
        assert follow_up is None or len(follow_up) > len(text)
