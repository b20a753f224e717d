"""Correlations against scipy, by hand, and what has none."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from audit.errors import AuditError
from audit.statistics.linear_model import pearson, spearman

# Anscombe, The American Statistician 27 (1973), first of four sets: r = 0.816.
X = [10, 8, 13, 9, 11, 14, 6, 4, 12, 7, 5]
Y = [8.04, 6.95, 7.58, 8.81, 8.33, 9.96, 7.24, 4.26, 10.84, 4.82, 5.68]


def test_pearson_as_published_and_as_scipy():
    ours, theirs = pearson(X, Y), stats.pearsonr(X, Y)
    assert ours.value == pytest.approx(0.816, abs=5e-4)
    assert (ours.value, ours.p) == (pytest.approx(theirs.statistic), pytest.approx(theirs.pvalue))
    assert (ours.low, ours.high) == pytest.approx(tuple(theirs.confidence_interval()))
    assert ours.n == 11


def test_spearman_as_scipy():
    ours, theirs = spearman(X, Y), stats.spearmanr(X, Y)
    assert (ours.value, ours.p) == (pytest.approx(theirs.statistic), pytest.approx(theirs.pvalue))
    # z = atanh(9/11) = 1.151, its error sqrt((1 + 0.335) / 8) = 0.408.
    assert (ours.low, ours.high) == pytest.approx((0.337, 0.960), abs=0.002)


def test_spearman_of_few_pairs_counts_orders():
    # Six systems in the same order: 2 of 720 orders are as far from 0.
    rho = spearman([1, 2, 3, 4, 5, 6], [10, 20, 30, 40, 50, 600])
    assert (rho.value, rho.p) == (1, pytest.approx(2 / 720))
    assert (rho.low, rho.high) == (None, None)
    assert "lie on a line" in rho.reason
    # Critical value of n = 6, two-sided 5 %: 0.886 (Zar, 1972), where p = 24 / 720.
    assert spearman([1, 2, 3, 4, 5, 6], [2, 1, 3, 4, 6, 5]).p == pytest.approx(0.0333, abs=5e-5)
    assert spearman([1, 2, 3, 4, 5, 6], [1, 3, 2, 5, 4, 6]).value == pytest.approx(0.886, abs=5e-4)


def test_ties_have_their_mean_rank():
    assert spearman([1, 1, 2, 3], [5, 6, 7, 7]).value == pytest.approx(stats.spearmanr([1, 1, 2, 3], [5, 6, 7, 7])[0])


@pytest.mark.parametrize("correlation", [pearson, spearman])
def test_what_has_no_correlation_says_why(correlation):
    for pairs, reason in ((([1, 2], [3, 4]), "2 pairs"), (([], []), "0 pairs"), (([1, 1, 1], [1, 2, 3]), "constant")):
        result = correlation(*pairs)
        assert (result.value, result.p, result.low, result.high) == (None,) * 4
        assert reason in result.reason
    three = correlation([1, 2, 3], [1, 3, 2])
    assert three.value == pytest.approx(0.5)
    assert three.low is None
    assert "three pairs" in three.reason
    with pytest.raises(AuditError, match="3 and 2"):
        correlation([1, 2, 3], [1, 2])
    with pytest.raises(AuditError, match="finite"):
        correlation([1, 2, float("nan")], [1, 2, 3])


@given(st.lists(st.tuples(st.integers(-9, 9), st.integers(-9, 9)), min_size=3, max_size=12))
def test_laws(pairs):
    x, y = map(list, zip(*pairs, strict=True))
    for correlation in (pearson, spearman):
        result = correlation(x, y)
        if result.value is None:
            assert result.reason == "one side is constant"
            continue
        assert -1 <= result.value <= 1
        assert 0 <= result.p <= 1
        assert correlation(y, x).value == pytest.approx(result.value, abs=1e-9)
        assert correlation(x, -np.array(y)).value == pytest.approx(-result.value, abs=1e-9)
        if result.low is not None:
            assert result.low <= result.value <= result.high
