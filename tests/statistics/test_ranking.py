"""Rankings and letters: known examples and properties."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit.errors import AuditError
from audit.statistics.orders import compact_letters, letters_of, rank_systems


def differing(items, *pairs):
    differ = np.zeros((items, items), bool)
    for first, second in pairs:
        differ[first, second] = differ[second, first] = True
    return differ


def test_letters_of_known_examples():
    # The example of R's multcompView::multcompLetters: only B and C differ.
    assert compact_letters(differing(3, (1, 2))) == ["ab", "a", "b"]
    # R's chickwts by TukeyHSD at .05: sunflower, casein, meatmeal, soybean, linseed, horsebean (best first) differ in
    # these pairs; the display of multcomp::cld is a a ab b bc c.
    pairs = [(0, 3), (0, 4), (0, 5), (1, 3), (1, 4), (1, 5), (2, 5), (3, 5)]
    assert compact_letters(differing(6, *pairs)) == ["a", "a", "ab", "b", "bc", "c"]


def test_letters_of_extremes():
    assert compact_letters(differing(0)) == []
    assert compact_letters(differing(3)) == ["a", "a", "a"]
    many = compact_letters(~np.eye(54, dtype=bool))
    assert many[:2] == ["a", "b"]
    assert many[51:] == ["Z", "(53)", "(54)"]
    with pytest.raises(AuditError, match="square, symmetric"):
        compact_letters(np.array([[0, 1], [0, 0]], bool))


@given(st.integers(1, 7).flatmap(lambda n: st.tuples(st.just(n), st.sets(st.tuples(*[st.integers(0, n - 1)] * 2)))))
def test_two_share_a_letter_exactly_where_they_do_not_differ(drawn):
    items, pairs = drawn
    differ = differing(items, *((first, second) for first, second in pairs if first != second))
    letters = [set(text) for text in compact_letters(differ)]
    for first in range(items):
        assert letters[first]
        for other in range(first + 1, items):
            assert bool(letters[first] & letters[other]) != differ[first, other]


def test_a_clear_ranking_and_a_tie():
    rng = np.random.default_rng(1)
    draws = np.stack([rng.normal(0.9, 0.01, 4000), rng.normal(0.5, 0.01, 4000), rng.normal(0.5, 0.01, 4000)], axis=1)
    first, second, third = rank_systems(draws)
    assert (first.p_best, first.rank_low, first.rank_high) == (1.0, 1, 1)
    assert (second.rank_low, second.rank_high) == (third.rank_low, third.rank_high) == (2, 3)


def test_delta_makes_equals():
    draws = np.array([[0.90, 0.89, 0.5]] * 20)
    tolerant = rank_systems(draws, delta=0.02)
    assert [ranked.p_best for ranked in tolerant] == [1.0, 1.0, 0.0]
    assert [ranked.rank_low for ranked in tolerant] == [1, 1, 3]


@given(st.integers(2, 5), st.integers(0, 1000))
def test_probabilities_of_being_best_add_up(systems, seed):
    draws = np.random.default_rng(seed).random((200, systems))
    ranking = rank_systems(draws)
    assert sum(ranked.p_best for ranked in ranking) == pytest.approx(1)
    assert all(1 <= ranked.rank_low <= ranked.rank_high <= systems for ranked in ranking)


def test_letters_are_those_of_the_pairs_told_apart():
    assert letters_of(["a", "b", "c"], []) == {"a": "a", "b": "a", "c": "a"}
    assert letters_of(["a", "b", "c"], [("c", "a")]) == {"a": "a", "b": "ab", "c": "b"}
    assert letters_of([], []) == {}
