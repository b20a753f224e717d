"""N-grams of a running text: what is counted, how words are ranked, which ones fit, what is kept."""

import math

import pytest

from audit.packs.translation.proposers import count, first_fitting
from audit.packs.translation.tools import get_tool

TEXT = """The old man saw a good film.
The old man saw a great film. The old woman saw a great film.
A young man sees the old film.
The movie was not good, but the story was great.
"""


@pytest.fixture
def own(tmp_path, monkeypatch):
    monkeypatch.setenv("AUDIT_CACHE", str(tmp_path / "cache"))
    file = tmp_path / "own.txt"
    file.write_text(TEXT, encoding="utf-8")
    return file


def test_the_probability_of_a_word_by_hand():
    # "a b c" twice, "a d c" once. After "a" stands b 2 of 3 times, d 1 of 3; c follows both always.
    counts = count(map(str.split, ["a b c", "a b c", "a d c"]))
    a, b, c, d = (counts.ids[word] for word in "abcd")
    log = counts._log
    # Before each line stand two edges, and after the last: 4 times, of which 3 before "a".
    assert log(1, 1, a) == pytest.approx(math.log(3 / 4))
    assert log(1, a, b) == pytest.approx(math.log(2 / 3))
    assert log(a, d, c) == pytest.approx(math.log(1))
    # Never seen together: 0.4 * 0.4 * 3 of 15 ids in the text, edges among them (9 words, 2 edges after each line and
    # 2 before the first: 9 + 8 = 17).
    assert log(b, d, a) == pytest.approx(math.log(0.4 * 0.4 * 3 / 17))
    assert counts.ranked(["a"], ["c"], "x") == ["b", "d"]
    assert counts.ranked(["a"], ["c"], "b") == ["d"]


def test_words_of_the_same_part_of_speech_that_are_others(own):
    proposer = get_tool("proposer", f"ngram:{own}")
    tokens = ("The", "old", "man", "saw", "a", "good", "film", ".")
    proposed = dict(zip(tokens, proposer.propose([(tokens, at) for at in range(8)], "en"), strict=True))
    assert proposed["good"] == "great"
    assert proposed["man"] == "woman"
    assert proposed["."] is None


@pytest.mark.parametrize("negation", ["never", "no", "not", "none", "neither", "nor", "hardly", "barely", "without"])
def test_a_negation_is_never_proposed(negation):
    tokens = ("They", "quickly", "saw", "the", "good", "museum", ".")
    for at in (1, 2, 4, 5):
        assert first_fitting(tokens, at, [negation], "en") is None
