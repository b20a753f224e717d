"""Rankings, letters and tau: known examples, an oracle, and properties."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import betabinom, kendalltau

from audit.errors import AuditError
from audit.statistics.letters import compact_letters
from audit.statistics.posterior import genuine_draws
from audit.statistics.ranking import kendall_tau_b, p_flip, rank_systems


def differing(items, *pairs):
    found = np.zeros((items, items), bool)
    for one, other in pairs:
        found[one, other] = found[other, one] = True
    return found


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
    differ = differing(items, *((one, other) for one, other in pairs if one != other))
    found = [set(text) for text in compact_letters(differ)]
    for one in range(items):
        assert found[one]
        for other in range(one + 1, items):
            assert bool(found[one] & found[other]) != differ[one, other]


def test_a_clear_ranking_and_a_tie():
    rng = np.random.default_rng(1)
    draws = np.stack([rng.normal(0.9, 0.01, 4000), rng.normal(0.5, 0.01, 4000), rng.normal(0.5, 0.01, 4000)], axis=1)
    first, second, third = rank_systems(draws)
    assert (first.p_best, first.rank_low, first.rank_high, first.letters) == (1.0, 1, 1, "a")
    assert {second.letters, third.letters} == {"b"}
    assert (second.rank_low, second.rank_high) == (2, 3)


def test_delta_makes_equals():
    draws = np.array([[0.90, 0.89, 0.5]] * 20)
    assert [one.letters for one in rank_systems(draws)] == ["a", "b", "c"]
    tolerant = rank_systems(draws, delta=0.02)
    assert [one.letters for one in tolerant] == ["a", "a", "b"]
    assert [one.p_best for one in tolerant] == [1.0, 1.0, 0.0]
    assert [one.rank_low for one in tolerant] == [1, 1, 3]


@given(st.integers(2, 5), st.integers(0, 1000))
def test_probabilities_of_being_best_add_up(systems, seed):
    draws = np.random.default_rng(seed).random((200, systems))
    found = rank_systems(draws)
    assert sum(one.p_best for one in found) == pytest.approx(1)
    assert all(1 <= one.rank_low <= one.rank_high <= systems for one in found)


def test_tau_is_scipys():
    one, other = [0.1, 0.4, 0.4, 0.8, 0.9], [0.3, 0.2, 0.6, 0.6, 0.5]
    assert kendall_tau_b(one, other) == pytest.approx(kendalltau(one, other).statistic)


def test_tau_of_the_study():
    # MR1.3 of Jiang et al. 2022, tables 4 and 5: of 6 pairs, amazon-microsoft, amazon-heroku turn: (4 - 2) / 6.
    assert kendall_tau_b([0.9217, 0.9593, 0.9899, 0.8613], [0.8124, 0.6589, 0.6615, 0.4989]) == pytest.approx(1 / 3)


def test_tau_where_it_is_not_defined():
    assert kendall_tau_b([0.5], [0.5]) is None
    assert kendall_tau_b([0.5, 0.5], [0.1, 0.9]) is None
    assert kendall_tau_b([0.5, 0.51, 0.9], [0.5, 0.6, 0.7], delta=0.5) is None


def test_flips():
    draws = np.array([[0.6, 0.7, 0.1], [0.6, 0.5, 0.1], [0.6, 0.61, 0.9], [0.6, 0.2, 0.1]])
    assert p_flip(draws, [0.9, 0.8, 0.7], [0.6, 0.5, 0.3]) == 0.5
    assert p_flip(draws, [0.9, 0.8, 0.7], [0.6, 0.5, 0.3], delta=0.05) == 0.25
    assert p_flip(draws, [0.9, 0.9, 0.9], [0.6, 0.5, 0.3]) is None
    assert p_flip(draws[:, :1], [0.9], [0.6]) is None


def cells(*rows):
    return pd.DataFrame(rows, columns=["satisfied", "violated", "judged", "false"])


def test_the_posterior_is_beta_binomial():
    draws = genuine_draws(cells((60, 40, 20, 5)), draws=40_000)[:, 0]
    unseen = betabinom(40, 5.5, 15.5)
    assert draws.mean() == pytest.approx((55 - unseen.mean()) / 100, abs=0.001)
    assert draws.std() == pytest.approx(unseen.std() / 100, rel=0.02)


def test_the_posterior_where_something_is_known_or_nothing():
    found = genuine_draws(cells((8, 2, 8, 4), (0, 5, 0, 0), (8, 2, 0, 0), (0, 0, 0, 0), (None,) * 4), draws=3)
    assert found[:, :2].tolist() == [[0.4, 0.0]] * 3
    assert np.isnan(found[:, 2:]).all()


def test_the_population_is_less_certain_and_correlation_joins_cells():
    frame = cells((60, 40, 60, 15), (60, 40, 60, 15))
    assert np.ptp(genuine_draws(frame)[:, 0]) == 0
    assert genuine_draws(frame, target="population")[:, 0].std() > 0.03
    some = cells((6000, 4000, 60, 15), (6000, 4000, 60, 15))
    joined = genuine_draws(some, np.array([[1.0, 0.8], [0.8, 1.0]]))
    assert np.corrcoef(joined.T)[0, 1] == pytest.approx(0.8, abs=0.03)
    assert abs(np.corrcoef(genuine_draws(some).T)[0, 1]) < 0.03
