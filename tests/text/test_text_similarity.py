"""Scores of two texts: worked by hand, against NLTK, against the recorded sheets of the MCMT study, and their laws."""

import csv
import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit.errors import NotInstalled
from audit.text import similarity as text_similarity
from audit.text.similarity import (
    bleu,
    consistency,
    cosine,
    levenshtein_similarity,
    meteor,
    normalised_similarity,
    reference_bleu,
    word_error_rate,
)

PIVOTS = Path(__file__).parents[2].parent / "shared" / "data" / "mcmt" / "pivot_runs.csv"
BETWEEN_0_AND_1 = [levenshtein_similarity, cosine, bleu, consistency, reference_bleu]
TEXTS = st.text(alphabet="ab .我é", max_size=12) | st.text(max_size=30)


@pytest.fixture(scope="module")
def recorded():
    if not PIVOTS.exists():
        pytest.skip("the study's recorded sheets (../shared/data/mcmt) are not here")
    with PIVOTS.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("column", "score"), [("levenshtein", levenshtein_similarity), ("bleu", bleu), ("cosine", cosine)]
)
def test_the_recorded_scores_of_the_study_are_met(recorded, column, score):
    far = [row for row in recorded if abs(score(row["direct"], row["alternate"]) - float(row[column])) > 1e-9]
    assert len(recorded) == 3752
    assert far == []


def test_without_swaps_some_recorded_values_are_missed(recorded):
    without = ((levenshtein_similarity(row["direct"], row["alternate"], swaps=False), row) for row in recorded)
    assert sum(abs(score - float(row["levenshtein"])) > 1e-6 for score, row in without) == 52


@pytest.mark.parametrize(
    ("score", "texts", "by_hand"),
    [
        # kitten -> sitting: 3 edits (Levenshtein's textbook example), 6 + 7 characters.
        (levenshtein_similarity, ("kitten", "sitting"), 1 - 3 / 13),
        (normalised_similarity, ("kitten", "sitting"), 1 - 6 / 13),
        # Optimal string alignment of CA and ABC is 3, the unrestricted distance 2 (Boytsov, 2011).
        (levenshtein_similarity, ("CA", "ABC"), 1 - 3 / 5),
        # (2, 1) and (1, 1); punctuation is no token, capitals make another one.
        (cosine, ("a a, b", "b a."), 3 / math.sqrt(10)),
        (cosine, ("The cat", "the cat"), 0.5),
        # Precisions 5/6, 3/5, 2/4, 1/3; with one added 6/7, 4/6, 3/5, 2/4.
        (bleu, ("the cat sat on the mat", "the cat sat on a mat"), (6 / 7 * 4 / 6 * 3 / 5 * 2 / 4) ** 0.25),
        # 2/2 and 1/1 stay whole, no run of three or four (0/1 becomes 1/2 each), penalty exp(1 - 4/2).
        (bleu, ("the cat sat down", "the cat"), math.exp(-1) * (1 / 4) ** 0.25),
        (bleu, ("the cat sat", "a dog lay"), 0),
        # Characters for words: 3/4 as it is, then (2 + 1)/(3 + 1), (1 + 1)/(2 + 1), (0 + 1)/(1 + 1).
        (reference_bleu, ("我喜欢猫", "我喜欢狗", "zh"), (3 / 4 * 3 / 4 * 2 / 3 * 1 / 2) ** 0.25),
        (word_error_rate, ("the cat sat down", "the dog sat right down"), 0.5),  # one replaced, one inserted
        (word_error_rate, ("我喜欢猫", "我喜欢狗", "zh"), 0.25),
        (word_error_rate, ("", "two words"), 2),
        # Two matches in one run of two words, of two and two: F = 1, penalty 0.5 (1/2)^3; gatos and gato share a stem.
        (meteor, ("un gato", "un gatos", "es"), 1 - 0.5 / 8),
        (meteor, ("我喜欢猫", "我喜欢狗", "zh"), 3 / 4 * (1 - 0.5 * (1 / 3) ** 3)),
    ],
)
def test_scores_are_those_worked_by_hand(score, texts, by_hand):
    assert score(*texts) == pytest.approx(by_hand)


@given(TEXTS, TEXTS)
def test_scores_stay_in_their_range(a, b):
    for score in BETWEEN_0_AND_1:
        assert 0 <= score(a, b) <= 1 + 1e-12
    assert -1 <= normalised_similarity(a, b) <= 1
    assert word_error_rate(a, b) >= 0


@given(TEXTS)
def test_a_text_is_like_itself(a):
    for score in (levenshtein_similarity, normalised_similarity, cosine):
        assert score(a, a) == 1
    assert word_error_rate(a, a) == 0
    # A text of fewer than four words has fewer orders than BLEU looks at.
    orders = min(4, len(a.split()))
    assert bleu(a, a) == pytest.approx(0.5 ** ((4 - orders) / 4) if orders else 1)


def test_meteor_with_the_real_wordnet():
    text_similarity.wordnet.cache_clear()
    try:
        text_similarity.wordnet()
    except NotInstalled as problem:
        pytest.skip(str(problem))
    # Both values are in the documentation of NLTK's meteor_score.
    reference = "It is a guide to action that ensures that the military will forever heed Party commands"
    hypothesis = "It is a guide to action which ensures that the military always obeys the commands of the party"
    worse = "It is to insure the troops forever hearing the activity guidebook that party direct"
    assert meteor(reference, hypothesis) == pytest.approx(0.6944, abs=5e-5)
    assert meteor(reference, worse) < 0.5


class Absent:
    def ensure_loaded(self):
        raise LookupError("no such resource")


def test_without_wordnet_it_says_how_to_get_it(monkeypatch):
    text_similarity.wordnet.cache_clear()
    monkeypatch.setattr("nltk.corpus.wordnet", Absent())
    with pytest.raises(NotInstalled, match=r"nltk\.downloader wordnet"):
        meteor("a cat", "a cat")
    assert meteor("a cat sleeps", "a cat sleeping", synonyms=False) == pytest.approx(1 - 0.5 / 27)
