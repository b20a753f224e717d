"""Which way a text leans, by words that praise or blame in any field."""

import pytest

from audit.packs.english import parser
from audit.packs.english.polarity import leaning, lexicon, polar_words
from audit.text import Analysis


def test_no_form_is_praise_and_blame_as_the_same_part_of_speech():
    assert all(pole in (1, -1) for poles in lexicon().values() for pole in poles.values())
    assert lexicon()["disappointed"] == {"VB": -1, "JJ": -1, "VBN": -1, "VBG": -1}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The router is excellent.", 1),
        ("I am not impressed.", -1),
        ("The router has four ports.", 0),
        ("Great sound, awful manual.", 0),
        ("Nobody would recommend it.", -1),
        ("It was not bad at all.", 1),
        ("It never fails.", 1),
        ("I cannot recommend it enough.", 1),
    ],
)
@pytest.mark.parametrize("with_trees", [True, False])
def test_a_text_leans_as_its_words_do(monkeypatch, text: str, expected: int, with_trees: bool):
    if not with_trees:
        monkeypatch.setattr(parser, "model_name", lambda: None)
    assert leaning(Analysis(text)) == expected


def test_a_negated_word_counts_for_the_other_pole():
    assert list(polar_words(Analysis("I do not love it, but the sound is great.")).values()) == [-1, 1]
