"""Comparisons: what is turned round, and what is left alone."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from audit.packs.english.comparatives import antonyms, exchange, judging, rephrase, reverse
from audit.text import Analysis
from audit.text.tokens import words


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The car is faster than the bicycle.", "The bicycle is slower than the car."),
        (
            "Making a fictional movie is easier than making one about real life.",  # the study's own example
            "Making one about real life is harder than making a fictional movie.",
        ),
        ("The trailers were better than the movie.", "The movie was worse than the trailers."),
        ("The movie is much worse than the two books.", "The two books are much better than the movie."),
        ("She was more conventional than this man.", "This man was less conventional than her."),
        ("They are better than this pile of garbage!", "This pile of garbage is worse than them!"),
        ("The jokes are less funny than the trailer.", "The trailer is funnier than the jokes."),
        ("It is better than the book.", "The book is worse than this."),
        ("This was worse than watching a car wreck.", "Watching a car wreck was better than this."),
        ("I am taller than him.", "He is shorter than me."),
        ("You aren't smarter than me.", "I am not dumber than you."),
        # Names of several words, and words of degree, kept blocked these.
        (
            "the Intel Pentium 4/2200 is clearly faster than the AMD Athlon XP 2000+",
            "the AMD Athlon XP 2000+ is clearly slower than the Intel Pentium 4/2200",
        ),
        ("the nomad is only sligtly larger than an ipod.", "an ipod is only sligtly smaller than the nomad."),
        ("The S40 is roughly 10 percent smaller than the G3.", "The G3 is roughly 10 percent bigger than the S40."),
        (
            "My phone is noticeably heavier than any other phone.",
            "Any other phone is noticeably lighter than my phone.",
        ),
        (
            "The 6610 is still easier to use than the other two phones.",
            "The other two phones are still harder to use than the 6610.",
        ),
        (
            "(The new model is roughly 10 percent thinner than the old one).",
            "(The old one is roughly 10 percent thicker than the new model).",
        ),
        (
            "The photos she took are better than the results I got from my old Nikon.",
            "The results I got from my old Nikon are worse than the photos she took.",
        ),
        (
            "The new version is significantly slower than the old one.",
            "The old one is significantly faster than the new version.",
        ),
        (
            "He said that youths who smoke are more likely to die than non-smokers.",
            "He said that non-smokers are less likely to die than youths who smoke.",
        ),
    ],
)
def test_rephrased(text: str, expected: str) -> None:
    assert rephrase(Analysis(text)) == expected


@pytest.mark.parametrize(
    "text",
    [
        "It is better than I thought.",
        "I like it, and it is better than the book.",  # "worse than it" reads badly
        "The film is better than most.",
        "The film is better than its sequel.",
        "It is more comical than scary.",
        "Nothing is better than this film.",
        "There are more than ten.",
        "This is a better than average phone.",
        "It's only slightly heavier than the iPod, and has a longer battery life.",
        "She is more relaxed around him than Cocoa.",
        "The price was higher than what I expected.",
        "It is a camera that is better than the others.",
        "I wish the film was better than the book.",
        "The wait was longer than an hour.",
        "They're slightly more expensive than other displays in the same size range, but you get a better one.",
        "Is the car faster than the bicycle?",
        # The participle says who did it: the Athlon did not cut down on anything.
        "By cutting down on memory wait time, the Pentium seemed much faster than the Athlon.",
        # The parser may cut a subject short; then nothing is made of the rest.
        "Fear Dot Com is more frustrating than a slow modem.",
    ],
)
def test_not_compared(text: str) -> None:
    assert rephrase(Analysis(text)) is None
    assert exchange(Analysis(text)) is None


def test_even_better_keeps_no_truth() -> None:
    """ "Even better" says that both are good; "even worse" that both are bad. Exchanging alone may keep it."""
    text = Analysis("This film is even better than the first.")
    assert rephrase(text) is None
    assert exchange(text) == "The first is even better than this film."


def test_only_a_judgement_is_reversed() -> None:
    assert reverse(Analysis("My phone is more reliable than theirs was.")) is None
    assert reverse(Analysis("My phone is more reliable than this one.")) == "This one is more reliable than my phone."
    assert reverse(Analysis("The G3 is heavier than the S40.")) is None
    assert reverse(Analysis("I bought it because the G3 is better than the S40.")) is None


def test_different_from() -> None:
    text = Analysis("This film is no different from the others.")
    assert exchange(text, "from") is None
    assert exchange(Analysis("The film is different from the book."), "from") == "The book is different from the film."


def test_antonyms_are_comparatives_both_ways() -> None:
    table = antonyms()
    assert table["better"] == "worse"
    assert table["less funny"] == "funnier"
    assert all(word != opposite and opposite for word, opposite in table.items())
    assert {"better", "worse", "more reliable"} <= judging()
    assert judging().isdisjoint({"larger", "smaller", "older"})


_WORDS = sorted(words("the this it I is was n't 's more better than from different car he ' - ."))


@given(st.lists(st.sampled_from(_WORDS), max_size=12))
@settings(max_examples=100, deadline=None)
def test_any_text_is_taken(chosen: list[str]) -> None:
    text = Analysis(" ".join(chosen))
    for made in (rephrase(text), reverse(text), exchange(text, "from")):
        assert made is None or made.strip()
