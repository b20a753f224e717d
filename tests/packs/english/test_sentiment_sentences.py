"""MR1.1 to MR4.5: the study's own examples (tables 3 and 6), the checks, and what is carried."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from audit.relations import Outcome, Source, get_relation
from audit.relations.registry import configured
from audit.tasks import Input, Output
from audit.text import Analysis

SENTENCES = [
    f"MR{family}.{number}" for family, most in ((1, 4), (2, 2), (3, 2), (4, 5)) for number in range(1, most + 1)
]


def follow_ups_of(name, text, seed="1", **params):
    relation = configured(get_relation("sentiment", name), params)
    return [follow.text for follow in relation.follow_ups(Source(Input.of(text), Analysis(text), seed))]


def all_follow_ups(name, text):
    return {follow_up for seed in range(40) for follow_up in follow_ups_of(name, text, str(seed))}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "source", "follow_up"),
    [
        (
            "MR1.1",
            "don't dismiss this film because of its sources.",
            "do not dismiss this film because of its sources.",
        ),
        ("MR1.2", "I want to buy a bike.", "I want to buy a bicycle."),
        ("MR1.3", "I made a film.", "I made some films."),
        ("MR1.4", "It's a great day.", "It's a great day!"),
        ("MR2.1", "The apple is sweet.", "The apple is very sweet."),
        ("MR2.2", "The weather is bad.", "The weather is not bad."),
        ("MR2.2", "Well made films are good.", "Well made films are not good."),
        ("MR3.1", "it'll make sense when you see it.", "IT'LL MAKE SENSE WHEN YOU SEE IT."),
        ("MR3.1", "The dvd is a massive achievement.", "THE DVD IS A MASSIVE ACHIEVEMENT."),
        ("MR3.1", "THIS IS BAD.", "this is bad."),
        ("MR3.2", "The flower is beautiful.", "The FLOWER is BEAUTIFUL."),
        ("MR3.2", "The network seems overloaded, thats bad.", "The NETWORK seems OVERLOADED, thats BAD."),
        (
            "MR3.2",
            "Well, its main problem is that it's simply too jumbled.",
            "Well, its MAIN PROBLEM is that it's simply too JUMBLED.",
        ),
        ("MR4.1", "The storyline is as cliched as they come.", "The storyline was as cliched as they come."),
        ("MR4.2", "The film is wonderful and exciting.", "The film is exciting and wonderful."),
        ("MR4.2", "The film is different from the book.", "The book is different from the film."),
        ("MR4.3", "Although I like it, I will not buy it.", "I like it, but I will not buy it."),
        (
            "MR4.3",
            "There's probably a reason for all of this, but we'll never know it.",
            "Although there's probably a reason for all of this, we'll never know it.",
        ),
        ("MR4.4", "The car is faster than the bicycle.", "The bicycle is slower than the car."),
        ("MR4.5", "The car is faster than the bicycle.", "The bicycle is faster than the car."),
    ],
)
def test_examples_of_the_study(name, source, follow_up):
    assert follow_up in all_follow_ups(name, source)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("MR1.1", "Good film."),
        ("MR1.4", "Made in the U.S."),
        ("MR1.4", "It has two doors."),  # there must be a sentiment to strengthen
        ("MR2.1", "It was not very good, but not bad either."),
        ("MR2.2", "It was not very good, but not bad either."),
        ("MR3.1", "1999"),
        ("MR3.2", "BAD FILM."),
        ("MR3.2", "The router has four ports."),
        ("MR4.5", "The box is larger than the phone."),
    ],
)
def test_no_group(name, text):
    assert follow_ups_of(name, text) == []


def test_the_study_is_followed_where_it_is_asked_for():
    assert follow_ups_of("MR1.4", "It has two doors.", strict=False) == ["It has two doors!"]
    assert follow_ups_of("MR3.2", "The router has four ports.", strict=False) == ["The ROUTER has four PORTS."]


def test_choices_depend_on_the_seed_alone_and_at_most_two_nouns_are_replaced():
    text = "The movie has a screenplay by a murderer on a couch."
    made = all_follow_ups("MR1.2", text)
    assert len(made) > 1
    assert follow_ups_of("MR1.2", text, "a") == follow_ups_of("MR1.2", text, "a")
    for follow_up in made:
        assert 1 <= sum(a != b for a, b in zip(text.split(), follow_up.split(), strict=True)) <= 2
    assert len(all_follow_ups("MR4.2", "The plot is dull and silly, and the songs are loud and ugly.")) == 2


POSITIVE, WEAKER, NEGATIVE, NEUTRAL = (
    Output("positive", 0.9), Output("positive", 0.5), Output("negative", 0.9), Output("neutral", 0.9),
)  # fmt: skip


@pytest.mark.parametrize(
    ("names", "kept", "verdicts"),
    [
        (
            ("MR1.1", "MR1.2", "MR1.3", "MR3.1", "MR4.1", "MR4.2", "MR4.3"),
            {"positive", "neutral", "negative"},
            [(POSITIVE, WEAKER, "SATISFIED"), (NEUTRAL, WEAKER, "VIOLATED")],
        ),
        (
            ("MR1.4", "MR3.2"),
            {"positive", "neutral", "negative"},
            [(WEAKER, POSITIVE, "SATISFIED"), (POSITIVE, WEAKER, "VIOLATED"), (NEUTRAL, POSITIVE, "INAPPLICABLE")],
        ),
        (
            ("MR2.1",),
            {"positive", "negative"},
            [(WEAKER, POSITIVE, "SATISFIED"), (WEAKER, WEAKER, "VIOLATED"), (NEUTRAL, POSITIVE, "INAPPLICABLE")],
        ),
        (
            ("MR2.2", "MR4.5"),
            set(),
            [(POSITIVE, NEUTRAL, "SATISFIED"), (POSITIVE, WEAKER, "VIOLATED"), (NEUTRAL, NEGATIVE, "INAPPLICABLE")],
        ),
        (("MR4.4",), {"neutral"}, [(POSITIVE, WEAKER, "SATISFIED"), (NEGATIVE, NEUTRAL, "VIOLATED")]),
    ],
)
def test_checks_and_what_is_carried(names, kept, verdicts):
    for name in names:
        relation = get_relation("sentiment", name)
        carried = {label for label in ("positive", "neutral", "negative") if relation.carry({label}) == {label}}
        assert carried == kept
        for source, follow_up, outcome in verdicts:
            assert relation.check([source, follow_up]).outcome is Outcome[outcome]


@pytest.mark.slow
@given(st.text(max_size=80), st.integers())
@settings(max_examples=60, deadline=None)
def test_any_text_is_taken(text, seed):
    for name in SENTENCES:
        follow_up = get_relation("sentiment", name).perturb(Analysis(text), random.Random(seed))
        assert follow_up is None or follow_up != ""
        if name.startswith("MR3") and follow_up is not None and text.isascii():
            assert follow_up.upper() == text.upper()
