"""Rewritings of English sentences: what each makes, what it refuses, and what holds of any text.

What they make of real text is pinned in `tests/golden`.
"""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from audit.packs.english import guard
from audit.packs.english.emphasis import negate
from audit.packs.english.guard import article
from audit.packs.english.polarity import feelings
from audit.packs.english.replacing import changes, contract, expand, replacements
from audit.packs.english.restructuring import (
    change_tense,
    exchange,
    rephrase,
    reverse,
    swap,
    swappable,
    switch,
)
from audit.text import Analysis
from audit.text.tokens import words


def replaced(change):
    """The rewriting that puts the tokens which a function names."""

    def rewritten(text):
        analysis = Analysis(text)
        new = change(analysis)
        return analysis.replace(new) if new else None

    return rewritten


def _nouns(text):
    return {at: word for change in replacements(text).values() for at, word in change.items()}


def numbered(text):
    analysis = Analysis(text)
    return next((made for change in changes(analysis) if (made := guard.replaced(analysis, change))), None)


def swapped(text):
    analysis = Analysis(text)
    return [made for pair in swappable(analysis) if (made := swap(analysis, pair))]


def of_text(change, *more):
    return lambda text: change(Analysis(text), *more)


REWRITINGS = {
    "expand": replaced(expand),
    "contract": replaced(contract),
    "synonyms": replaced(_nouns),
    "number": numbered,
    "negate": of_text(negate, False),
    "deny": of_text(negate, True),
    "tense": of_text(change_tense),
    "swap": lambda text: next(iter(swapped(text)), None),
    "switch": of_text(switch),
    "rephrase": of_text(rephrase),
    "reverse": of_text(reverse),
    "exchange": of_text(exchange),
}


@pytest.mark.parametrize(
    ("name", "text", "new"),
    [
        ("expand", "I can't say it won't work.", "I cannot say it will not work."),
        ("expand", "isn't she lovely, and don't you think so?", "is she not lovely, and do you not think so?"),
        ("expand", "it's been done before, and he's made a film.", "it has been done before, and he has made a film."),
        ("expand", "I'd rather leave; he'd seen it; she'd go.", "I would rather leave; he had seen it; she would go."),
        ("contract", "The man who is trying will not fail.", "The man who's trying won't fail."),
        ("contract", "IT IS GOOD.", "IT'S GOOD."),
        ("synonyms", "it pays an homage to them.", "it pays a tribute to them."),
        ("synonyms", "THE MOVIE IS BAD.", "THE FILM IS BAD."),
        ("number", "This movie is a mess.", "These movies are a mess."),
        ("number", "The dog has raided the tissues.", "The dogs have raided the tissues."),
        ("negate", "She really loves the film.", "She does not really love the film."),
        ("negate", "The film that I saw is good.", "The film that I saw is not good."),
        ("deny", "It takes great pictures.", "It does not take great pictures."),
        ("tense", "It's a film that doesn't know it's bad.", "It was a film that didn't know it was bad."),
        ("tense", "I didn't like it.", "I don't like it."),
        ("swap", "It is a dark and honest film.", "It is an honest and dark film."),
        ("swap", "It is either brilliant or stupid.", "It is either stupid or brilliant."),
        ("switch", "The Senate is slow, but it keeps its word.", "Although the Senate is slow, it keeps its word."),
        ("switch", "I liked it, although the end was bad.", "The end was bad, but I liked it."),
        (
            "rephrase",  # the study's own example
            "Making a fictional movie is easier than making one about real life.",
            "Making one about real life is harder than making a fictional movie.",
        ),
        ("rephrase", "You aren't smarter than me.", "I am not dumber than you."),
        ("reverse", "My phone is more reliable than this one.", "This one is more reliable than my phone."),
        ("exchange", "This film is even better than the first.", "The first is even better than this film."),
    ],
)  # fmt: skip
def test_what_is_made(name, text, new):
    assert REWRITINGS[name](text) == new


def test_the_guard_refuses_what_the_parser_reads_otherwise():
    text = Analysis("The engineer who saw the dog lives.")
    assert not guard.reads_well(text, "The engineer who saw the dogs live.")
    assert guard.reads_well(text, "The engineer who saw the cat lives.")


def test_addresses_code_and_quotations_are_protected():
    text = Analysis('Use `best()` at www.best.com, "the best" @best, 5 GB.')
    kept = {text.tokens[index].text for index in guard.protected(text)}
    assert {"best", "5", "GB"} <= kept
    assert {"Use", "at"}.isdisjoint(kept)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The error handler logs each failure.", False),
        ("The app is a failure.", True),
        ("My app has an error.", True),
        ("Despite the harsh exchanges, China wants to mend relations.", False),
        ("Mr. Lee said that the plan is unfair.", False),
        ("The plan of Mr. Lee is unfair.", True),
        ("a harsh, unfair film", True),
    ],
)
def test_neither_a_topic_nor_what_others_say_is_the_writers_feeling(text, expected):
    assert bool(feelings(Analysis(text))) == expected


_ADJECTIVES = ["funny", "honest", "dull", "odd", "sad", "clever", "ugly", "unique"]


@given(st.sampled_from(_ADJECTIVES), st.sampled_from(_ADJECTIVES))
@settings(max_examples=40, deadline=None)
def test_swapping_twice_gives_the_source(one, two):
    text = f"It is {article('a', one)} {one} and {two} film."
    made = swapped(text)
    assert one != two or made == []
    for follow_up in made:
        assert text in swapped(follow_up)
        assert sorted(follow_up.replace(" an ", " a ").split()) == sorted(text.replace(" an ", " a ").split())


_WORDS = words(
    "the a film it he this is was n't 's has made good , . but and or although than better more not ' ... who which "
    "to of can't won't I THE é don't Will cannot been -"
)


@pytest.mark.slow
@given(st.lists(st.sampled_from(sorted(_WORDS)), max_size=14).map(" ".join) | st.text(max_size=60))
@settings(max_examples=150, deadline=None)
def test_any_text_is_taken(text):
    for rewriting in REWRITINGS.values():
        made = rewriting(text)
        assert made is None or made.strip()
    assert len(REWRITINGS["expand"](text) or text) >= len(text)
