import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit.relations import Outcome, get_relation
from audit.relations.registry import configured
from audit.tasks import Output
from audit.text import Analysis


def follow_up_of(name, text):
    return get_relation("sentiment", name).perturb(Analysis(text), random.Random(0))


@pytest.mark.parametrize(
    ("name", "source", "follow_up"),
    [
        # The examples of the study's tables 3 and 6.
        ("MR3.1", "it'll make sense when you see it.", "IT'LL MAKE SENSE WHEN YOU SEE IT."),
        ("MR3.1", "The dvd is a massive achievement.", "THE DVD IS A MASSIVE ACHIEVEMENT."),
        ("MR3.2", "The flower is beautiful.", "The FLOWER is BEAUTIFUL."),
        ("MR3.2", "The network seems overloaded, thats bad.", "The NETWORK seems OVERLOADED, thats BAD."),
        (
            "MR3.2",
            "Well, its main problem is that it's simply too jumbled.",
            "Well, its MAIN PROBLEM is that it's simply too JUMBLED.",
        ),
        ("MR3.1", "THIS IS BAD.", "this is bad."),
        ("MR3.1", "THIS IS bad.", "this is bad."),
        ("MR3.2", "the film's look is bad.", "the FILM'S LOOK is BAD."),
        ("MR3.2", "I enjoyed several of the great films.", "I enjoyed several of the GREAT FILMS."),
        # What a reader found: verbs and interjections shouted, nouns and adjectives missed, handles and links changed.
        ("MR3.2", "There were awful lanes to use.", "There were AWFUL LANES to use."),
        ("MR3.2", "His parting words were awful.", "His PARTING WORDS were AWFUL."),
        ("MR3.2", "Bad phone calls again.", "BAD PHONE CALLS again."),
        ("MR3.2", "None of the bad ones work.", "None of the BAD ones work."),
        ("MR3.2", "Love this place, lol, great food.", "Love this PLACE, lol, GREAT FOOD."),
        ("MR3.2", "That ain't good, way too slow.", "That ain't GOOD, way too SLOW."),
        ("MR3.2", "@rose Sounds like a good time.", "@rose Sounds like a GOOD TIME."),
        (
            "MR3.2",
            "@rose great post #fun http://url_removed &amp; a.b@c.org",
            "@rose GREAT POST #fun http://url_removed &amp; a.b@c.org",
        ),
    ],
)
def test_case(name, source, follow_up):
    assert follow_up_of(name, source) == follow_up


@pytest.mark.parametrize("text", ["", "...", "1999", "这部电影很好。"])
def test_no_letters_with_case_no_group(text):
    assert follow_up_of("MR3.1", text) is None
    assert follow_up_of("MR3.2", text) is None or text == "这部电影很好。"


@pytest.mark.parametrize(
    "text", ["The router has four ports.", "He was betrayed by it.", "I saw the film Toxic Parents."]
)
def test_strict_no_group_where_no_shouted_word_praises_or_blames(text):
    assert follow_up_of("MR3.2", text) is None
    loose = configured(get_relation("sentiment", "MR3.2"), {"strict": False})
    assert (loose.perturb(Analysis(text), random.Random(0)) is None) is ("betrayed" in text)


def test_nothing_to_shout():
    assert follow_up_of("MR3.2", "it was.") is None
    assert follow_up_of("MR3.2", "BAD FILM.") is None


def test_checks_and_carry():
    positive, negative = Output("positive", 0.5), Output("negative", 0.9)
    case, emphasis = get_relation("sentiment", "MR3.1"), get_relation("sentiment", "MR3.2")
    assert case.check([positive, Output("positive", 0.1)]).outcome is Outcome.SATISFIED
    assert case.check([positive, negative]).outcome is Outcome.VIOLATED
    assert emphasis.check([positive, Output("positive", 0.6)]).outcome is Outcome.SATISFIED
    assert emphasis.check([Output("neutral", 1.0), positive]).outcome is Outcome.INAPPLICABLE
    assert case.carry.preserves_truth
    assert emphasis.carry.preserves_truth


@given(st.text(max_size=80))
def test_words_stay_the_same(text):
    for name in ("MR3.1", "MR3.2"):
        follow_up = follow_up_of(name, text)
        assert (
            follow_up is None
            or follow_up.casefold() == text.casefold()
            or follow_up.lower() == text.upper().lower()
            or (follow_up.upper() == text.upper())
        )
