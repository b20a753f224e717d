"""Paired differences: what informative groups leave out is exactly 0, known tests, and coverage."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from audit.errors import AuditError
from audit.statistics.comparison import CENSUS, holm, informative, mcnemar, paired_differences


def population(groups=300, systems=3, seed=0):
    """Verdicts, labels and genuine satisfactions of systems on the same groups."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 2, groups)
    hard = rng.random((groups, 1)) < 0.4
    outputs = np.where(hard & (rng.random((groups, systems)) < 0.6), 1 - truth[:, None], truth[:, None])
    satisfied = rng.random((groups, systems)) < 0.8
    return satisfied, outputs, (satisfied & (outputs == truth[:, None])).astype(float)


@pytest.mark.slow
@given(st.integers(0, 200))
def test_groups_that_do_not_decide_add_exactly_0(seed):
    satisfied, outputs, genuine = population(60, seed=seed)
    decides = informative(satisfied, outputs)
    for first in range(3):
        for other in range(first):
            assert (genuine[~decides, first] - genuine[~decides, other] == 0).all()


def test_judging_all_that_decide_gives_the_true_difference():
    satisfied, outputs, genuine = population()
    decides = informative(satisfied, outputs)
    judged_outcomes = np.where(decides[:, None], genuine, np.nan)  # the others are not judged at all
    for pair in paired_differences(judged_outcomes, decides):
        true = genuine[:, pair.one].mean() - genuine[:, pair.other].mean()
        assert (pair.difference, pair.low, pair.high) == pytest.approx((true, true, true))
        assert pair.judged == pair.informative == decides.sum() < pair.groups
        assert pair.p is pair.p_above is pair.mcnemar_p is None  # known: there is nothing to test
        assert pair.reason == CENSUS


@pytest.mark.parametrize("target", ["corpus", "population"])
def test_coverage_of_the_interval(target):
    satisfied, outputs, genuine = population(400, 2, seed=3)
    decides = informative(satisfied, outputs)
    true = genuine[:, 0].mean() - genuine[:, 1].mean()
    rng, held = np.random.default_rng(7), 0
    for _ in range(400):
        judged = rng.choice(np.flatnonzero(decides), 50, replace=False)
        if target == "population":  # the 400 groups are drawn from their own endless copies
            again = rng.integers(400, size=400)
            sampled, mask = genuine[again].copy(), decides[again]
            judged = rng.choice(np.flatnonzero(mask), 50, replace=False)
        else:
            sampled, mask = genuine.copy(), decides
        sampled[np.setdiff1d(np.arange(400), judged)] = np.nan
        pair = paired_differences(sampled, mask, target)[0]
        held += pair.low <= true <= pair.high
    assert 0.93 <= held / 400 <= 0.985


def test_the_interval_is_the_score_tests():
    # 10 groups only for one, 2 only for the other, 30 for both alike, of endlessly many: z = 8 / sqrt(12) = 2.309.
    genuine = np.array([[1, 0]] * 10 + [[0, 1]] * 2 + [[1, 1]] * 30, float)
    pair = paired_differences(genuine, np.ones(42, bool), "population")[0]
    assert pair.p == pytest.approx(0.02092, abs=1e-5)
    assert pair.difference == pytest.approx(8 / 42)
    assert 0 < pair.low < pair.difference < pair.high  # p < .05, so 0 is outside
    assert (pair.only_one, pair.only_other) == (10, 2)


def test_mcnemar_is_the_exact_binomial_test():
    # The oracle is SciPy's exact binomial test.
    for b, c in [(59, 6), (8, 1), (3, 3), (0, 5)]:
        assert mcnemar(b, c) == pytest.approx(binomtest(b, b + c, 0.5).pvalue)
    assert mcnemar(0, 0) == 1.0


def test_holms_adjustment():
    # Holm 1979: p (1) x 4, then x 3, x 2, x 1, never falling.
    assert holm([0.01, 0.005, 0.03, 0.04]) == pytest.approx([0.03, 0.02, 0.06, 0.06])
    assert holm([]) == []
    assert holm([0.9, 0.8]) == [1.0, 1.0]


def test_every_pair_is_tested_on_both_sides():
    satisfied, outputs, genuine = population(200, 4, seed=2)
    decides = informative(satisfied, outputs)
    genuine[120:] = np.nan
    pairs = paired_differences(genuine, decides)
    assert [(difference.one, difference.other) for difference in pairs] == [
        (0, 1),
        (0, 2),
        (0, 3),
        (1, 2),
        (1, 3),
        (2, 3),
    ]
    for difference in pairs:
        assert difference.p == pytest.approx(min(1, 2 * min(difference.p_above, difference.p_below)))
        assert difference.p_above + difference.p_below == pytest.approx(
            1
        )  # without a margin the two sides share everything


def test_what_is_not_known():
    nothing = paired_differences(np.full((4, 2), np.nan), np.ones(4, bool))[0]
    assert nothing.difference is nothing.p is nothing.p_above is None
    assert nothing.reason == "no group that tells the systems apart is settled for all"
    assert paired_differences(np.empty((0, 2)), np.empty(0, bool))[0].reason == "the systems share no group"
    same = paired_differences(np.full((4, 2), np.nan), np.zeros(4, bool))[0]
    assert (same.difference, same.low, same.high, same.p) == (0.0, 0.0, 0.0, None)


def test_extremes_have_intervals():
    genuine = np.array([[1, 0]] * 5 + [[np.nan, np.nan]] * 20)
    pair = paired_differences(genuine, np.ones(25, bool))[0]
    assert 0 < pair.low < pair.high == 1.0
    alike = paired_differences(np.array([[1, 1]] * 5 + [[np.nan, np.nan]] * 20), np.ones(25, bool))[0]
    assert alike.low < 0 == alike.difference < alike.high
    assert alike.p == 1.0


def test_wrong_arrays_are_refused():
    with pytest.raises(AuditError, match="must be"):
        informative(np.ones((2, 2), bool), np.ones((2, 3)))
    with pytest.raises(AuditError, match="needed are"):
        paired_differences(np.ones((2, 2)), np.ones(3, bool))
    with pytest.raises(AuditError, match="1 \\(genuine\\) or 0"):
        paired_differences(np.full((2, 2), 0.5), np.ones(2, bool))


def judged(b, c, n, groups=400, deciding=200):
    """`genuine` and `decides` where b of n judged groups are genuine for the first system only, c for the other, in a
    random order."""
    genuine = np.full((groups, 2), np.nan)
    genuine[:n] = 0
    drawn = np.random.default_rng(3).permutation(n)
    genuine[drawn[:b], 0] = 1
    genuine[drawn[b : b + c], 1] = 1
    return genuine, np.arange(groups) < deciding


@pytest.mark.parametrize(("population", "judged"), [(61, 60), (40, 39), (12, 5)])
@pytest.mark.parametrize("wins", [0.0, 0.3, 1.0])
def test_ends_near_a_census_are_possible_ones(population, judged, wins):
    # Each group that is not judged adds at most one to either side; where that cannot make up for it, 0 is refuted.
    only_one = round(wins * judged)
    genuine = np.full((population, 2), np.nan)
    genuine[:judged] = 0
    genuine[:only_one, 0] = 1
    pair = paired_differences(genuine, np.ones(population, bool))[0]
    left = population - judged
    least, most = ((only_one + side * left) / population for side in (-1, 1))
    assert least - 1e-12 <= pair.low <= pair.difference <= pair.high <= most + 1e-12
    assert pair.p == 0 or least <= 0
