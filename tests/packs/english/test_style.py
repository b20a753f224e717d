"""Perturbations of style: what they leave alone, and where they make no group."""

import random

import pytest

from audit.packs.english import style
from audit.packs.english.style import _spellings
from audit.text import Analysis


def made(perturb, text, seed=0):
    return perturb(Analysis(text), random.Random(seed))


@pytest.mark.parametrize(
    ("text", "capitals"),
    [
        ("it isn't good-looking.", "It Isn't Good-looking."),
        ("write to ann@home.org or see it", "Write To ann@home.org Or See It"),
    ],
)
def test_title_case_leaves_addresses_and_parts_of_words(text, capitals):
    assert made(style.title_case, text) == capitals


@pytest.mark.parametrize(
    ("text", "without"),
    [
        ("It is long, but I like it.", "It is long but I like it."),
        ("We sang, and he slept.", "We sang and he slept."),
        ("Ann, Bob, and Carl came.", None),  # a list
        ("The film, long as it is, but good, won.", None),  # an insertion
        ("We invited Ann, and Bob sang.", None),  # Ann and Bob
    ],
)
def test_only_needless_commas_go(text, without):
    assert made(style.punctuation_removed, text) == without


@pytest.mark.parametrize(
    ("text", "curly"),
    [
        ('He said "no" to \'em.', "He said “no” to ’em."),
        ("It’s “good”.", 'It\'s "good".'),
        ('A 7" record.', None),
    ],
)
def test_quotation_marks_bend_to_their_side(text, curly):
    assert made(style.curly_quotes, text) == curly


def test_spellings_go_both_ways_and_names_stay():
    american, british = _spellings()
    assert american["realising"] == "realizing"
    assert british["humor"] == "humour"
    assert all(word != other for word, other in american.items())
    assert made(style.question_spelling, "The Color Purple is in the theater.") == "The Color Purple is in the theatre."
    assert made(style.question_spelling, "It is long.") is None
    texts = Analysis("The color is gray."), Analysis("Its colour is red.")
    assert style.spelling(texts, random.Random(0)).texts == ("The color is gray.", "Its color is red.")


def test_a_chat_keeps_names_and_quotations():
    assert made(style.social_media, "I like You and your film.") == "I like You & ur film"
    assert made(style.social_media, 'He said "you".') is None
    assert made(style.social_media, "It rains.") is None


@pytest.mark.parametrize(
    "text", ["Is it long?", "It is not long.", "It is also long.", "If it is long, he leaves.", "!"]
)
def test_no_adverb_where_it_would_jar(text):
    assert made(style.adverbs, text) is None


def test_what_is_no_statement_has_no_phrase_behind_it():
    assert made(style.closing_phrase, "A long film.") is None
    assert made(style.closing_phrase, "It is long, he said.") is None
    assert made(style.opening_remark, "it is long.") == made(style.opening_remark, "It is long.").lower()
