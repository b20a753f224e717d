"""Coordinations and conjunctions: what is turned round, and what is left alone."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from audit.packs.english.clauses import switch
from audit.packs.english.coordination import swap, swappable
from audit.packs.english.emphasis import article
from audit.text import Analysis


def swapped(text: str) -> list[str]:
    analysis = Analysis(text)
    return [swap(analysis, pair) for pair in swappable(analysis.tokens)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The film is wonderful and exciting.", "The film is exciting and wonderful."),
        ("It is a dark and honest film.", "It is an honest and dark film."),
        ("It is an honest and dark film.", "It is a dark and honest film."),
        ("It is told slowly and carefully.", "It is told carefully and slowly."),
        ("It is full of humor and pathos.", "It is full of pathos and humor."),
        ("The plot and dialogue are great.", "The dialogue and plot are great."),
        ("I saw it with Tom Hanks and Meg Ryan.", "I saw it with Meg Ryan and Tom Hanks."),
        ("It is either brilliant or stupid.", "It is either stupid or brilliant."),
        ("It was written and directed by a child.", "It was directed and written by a child."),
        ("Funny and clever film.", "Clever and funny film."),
    ],
)
def test_swapped(text: str, expected: str) -> None:
    assert swapped(text) == [expected]


@pytest.mark.parametrize(
    "text",
    [
        "It is shot in black and white.",
        "It gets better and better.",
        "She is happy and proud of him.",
        "It is slow and boring scenes follow.",
        "I saw the film and the acting was bad.",
        "The beginning of the film and end of it.",
        "He came and went.",
        "I liked Beauty and the Beast.",
        "a man and his dog.",
        "this film and its message.",
        "not good and bad",
        "and",
        "",
    ],
)
def test_not_swapped(text: str) -> None:
    assert swapped(text) == []


_ADJECTIVES = ["funny", "honest", "dull", "odd", "sad", "clever", "ugly", "unique"]


@given(some.sampled_from(_ADJECTIVES), some.sampled_from(_ADJECTIVES))
@settings(max_examples=40, deadline=None)
def test_swapping_twice_gives_the_source(one: str, two: str) -> None:
    text = f"It is {article('a', one)} {one} and {two} film."
    made = swapped(text)
    if one == two:
        assert made == []
    for follow_up in made:
        assert text in swapped(follow_up)
        assert sorted(follow_up.replace(" an ", " a ").split()) == sorted(text.replace(" an ", " a ").split())


@pytest.mark.parametrize(
    ("but", "although"),
    [
        ("There's a reason, but we don't know it.", "Although there's a reason, we don't know it."),
        ("I like it, but I will not buy it.", "Although I like it, I will not buy it."),
        ("the film is long, but it keeps its pace.", "although the film is long, it keeps its pace."),
        ("The Mother is long, but it keeps its pace.", "Although The Mother is long, it keeps its pace."),
    ],
)
def test_but_and_although(but: str, although: str) -> None:
    assert switch(Analysis(but)) == although
    assert switch(Analysis(although)) == but


def test_although_elsewhere() -> None:
    assert switch(Analysis("It was slow but I liked it.")) == "Although it was slow, I liked it."
    assert switch(Analysis("I liked it, although the end was bad.")) == "The end was bad, but I liked it."
    assert switch(Analysis("Even though I like it, it is long.")) == "I like it, but it is long."


@pytest.mark.parametrize(
    "text",
    [
        "It is long, but worth it.",
        "The film is long but good.",
        "The film is good, although it is long.",  # "It is long, but the film is good": it comes before its noun
        "It is not only long, but it is dull.",
        "I'm sorry, but it is bad.",
        "A sad but endearing man does it.",
        "Is it long, but is it good?",
        "But it is good.",
        "Although good, it is long.",
        "It is long, but it is good, but it is old.",
        "",
    ],
)
def test_not_switched(text: str) -> None:
    assert switch(Analysis(text)) is None
