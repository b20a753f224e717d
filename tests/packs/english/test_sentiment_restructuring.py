"""MR4.1 to MR4.5: the study's own examples (table 3), the checks, and what is carried."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from audit.relations import Outcome, Plain, Source, get_relation
from audit.tasks import Input, Output
from audit.text import Analysis
from audit.text.tokens import words


def relation(name: str) -> Plain:
    registered = get_relation("sentiment", name)
    if not isinstance(registered, Plain):
        raise TypeError(name)
    return registered


def source(text: str) -> Source:
    return Source(Input.of(text), Analysis(text), "test")


@pytest.mark.parametrize(
    ("name", "text", "follow_up"),
    [
        ("MR4.1", "The storyline is as cliched as they come.", "The storyline was as cliched as they come."),
        ("MR4.2", "The film is wonderful and exciting.", "The film is exciting and wonderful."),
        ("MR4.3", "Although I like it, I will not buy it.", "I like it, but I will not buy it."),
        ("MR4.4", "The car is faster than the bicycle.", "The bicycle is slower than the car."),
        ("MR4.5", "The car is faster than the bicycle.", "The bicycle is faster than the car."),
        ("MR4.2", "The film is different from the book.", "The book is different from the film."),
        (
            "MR4.3",
            "There's probably a reason for all of this, but we'll never know it.",
            "Although there's probably a reason for all of this, we'll never know it.",
        ),
    ],
)
def test_examples_of_the_study(name: str, text: str, follow_up: str) -> None:
    assert [follow_up_input.text for follow_up_input in relation(name).follow_ups(source(text))] == [follow_up]


@pytest.mark.parametrize("name", ["MR4.1", "MR4.2", "MR4.3"])
def test_truth_is_kept(name: str) -> None:
    registered = relation(name)
    assert registered.family == "restructuring the sentence"
    assert registered.carry.preserves_truth
    assert registered.check([Output("negative"), Output("negative")]).outcome is Outcome.SATISFIED
    assert registered.check([Output("negative"), Output("neutral")]).outcome is Outcome.VIOLATED


def test_rephrased_comparison_keeps_neutral_alone() -> None:
    """ "This is better than that" is praise, "that is worse than this" is blame to many."""
    registered = relation("MR4.4")
    assert registered.carry({"neutral"}) == {"neutral"}
    assert registered.carry({"positive"}) is None
    assert registered.carry({"neutral", "negative"}) is None


def test_swapped_comparison_says_the_opposite() -> None:
    registered = relation("MR4.5")
    assert registered.carry({"positive"}) is None
    assert registered.check([Output("positive"), Output("negative")]).outcome is Outcome.SATISFIED
    assert registered.check([Output("positive"), Output("positive")]).outcome is Outcome.VIOLATED
    assert registered.check([Output("neutral"), Output("negative")]).outcome is Outcome.INAPPLICABLE


@pytest.mark.parametrize("name", ["MR4.1", "MR4.2", "MR4.3", "MR4.4", "MR4.5"])
@pytest.mark.parametrize("text", ["", ".", "and", "but", "than", "Although", "What a film!", "the the than ,"])
def test_odd_texts_make_no_group(name: str, text: str) -> None:
    assert relation(name).follow_ups(source(text)) == []


def test_one_of_several_coordinations_is_drawn() -> None:
    text = Analysis("The plot is dull and silly, and the songs are loud and ugly.")
    follow_ups = {relation("MR4.2").perturb(text, random.Random(seed)) for seed in range(20)}
    assert follow_ups == {
        "The plot is silly and dull, and the songs are loud and ugly.",
        "The plot is dull and silly, and the songs are ugly and loud.",
        "The songs are loud and ugly, and the plot is dull and silly.",
    }


_WORDS = sorted(
    words(
        "the a film it he this is was has made makes good , . but and or although than better worse more n't not 's ' "
        "... who which to of can't won't I THE é"
    )
)


@given(some.lists(some.sampled_from(_WORDS), max_size=14), some.randoms())
@settings(max_examples=200, deadline=None)
def test_nonsense_raises_nothing(chosen: list[str], choices: random.Random) -> None:
    text = Analysis(" ".join(chosen))
    for name in ("MR4.1", "MR4.2", "MR4.3", "MR4.4", "MR4.5"):
        follow_up = relation(name).perturb(text, choices)
        assert follow_up is None or (isinstance(follow_up, str) and follow_up.strip())
