"""Intervals against published numbers, examples worked by hand, and what holds for all observations."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from audit.statistics.intervals import (
    effective_interval,
    effective_size,
    effective_size_of_sums,
    mid_p,
    rate_of_clusters,
    wilson,
)


@pytest.mark.parametrize(
    ("interval", "k", "n", "ends"),
    [
        # Newcombe, Statistics in Medicine 17 (1998), table I, methods 6 (mid-p) and 3 (Wilson).
        (mid_p, 81, 263, (0.2544, 0.3658)),
        (mid_p, 15, 148, (0.0601, 0.1581)),
        (mid_p, 0, 20, (0.0, 0.1391)),
        (wilson, 81, 263, (0.2553, 0.3662)),
        (wilson, 0, 20, (0.0, 0.1611)),
        (wilson, 20, 20, (0.8389, 1.0)),
        (mid_p, 0, 0, (0, 1)),
        (wilson, 0, 0, (0, 1)),
        # R 4.3: binom.test(10, 40)$conf.int.
        (lambda k, n: effective_interval(k / n, n), 10, 40, (0.1269, 0.4120)),
        (lambda k, n: effective_interval(k / n, n), 81, 263, (0.2527, 0.3676)),
    ],
)
def test_published_ends(interval, k, n, ends):
    assert interval(k, n).rounded(4) == ends


def test_mid_p_ends_are_where_the_tail_is_the_risk():
    low, high = mid_p(7, 40)
    assert binom.sf(7, 40, low) + binom.pmf(7, 40, low) / 2 == pytest.approx(0.025)
    assert binom.cdf(6, 40, high) + binom.pmf(7, 40, high) / 2 == pytest.approx(0.025)
    assert mid_p(9, 62).high < mid_p(9.3, 62.0).high < mid_p(10, 62).high


@given(st.integers(1, 300), st.data())
@settings(max_examples=60, deadline=None)
def test_an_interval_holds_its_rate_mirrors_and_widens(n, data):
    k = data.draw(st.integers(0, n))
    for method in (mid_p, wilson):
        (low, high), mirrored, wider = method(k, n), method(n - k, n), method(k, n, 0.99)
        assert 0 <= wider.low <= low <= k / n <= high <= wider.high <= 1
        assert (low, high) == pytest.approx((1 - mirrored.high, 1 - mirrored.low))


def test_copies_of_a_source_add_nothing():
    # Ten sources with two follow-ups each that are always right: worth 20^2 / (10 * 2^2) = 10.
    source = np.arange(20) // 2
    assert effective_size(source, np.zeros(20)) == pytest.approx(10)
    assert rate_of_clusters(source, np.zeros(20))[2] == pytest.approx(effective_interval(0, 10).high)
    # Wrong in pairs, 4 of 20: sums of deviations 2 (1 - .2) twice and -.4 eight times, variance of the mean
    # (10 / 9) (2 * 2.56 + 8 * .16) / 400 = .017778; alone it were .2 * .8 / 19 = .0084211; so worth 20 * .47368 but
    # for half a cluster of copies (worth 10) beside the two that are wrong: 1 / (.8 / 9.4737 + .2 / 10) = 9.5746, and
    # t(.975, 19) = 2.0930, t(.975, 9) = 2.2622: times .85602 = 8.1963.
    assert effective_size(source, source < 2) == pytest.approx(8.1963, abs=1e-3)
    alone, again = (rate_of_clusters(np.repeat(np.arange(60), n), np.repeat(np.arange(60) % 4 == 0, n)) for n in (1, 5))
    assert again == pytest.approx(alone, abs=0.01)


@given(st.lists(st.tuples(st.integers(0, 9), st.booleans()), min_size=1, max_size=40))
def test_intervals_hold_the_rate_and_clusters_only_widen(observed):
    cluster, hit = (np.array(column) for column in zip(*observed, strict=True))
    rate, low, high = rate_of_clusters(cluster, hit)
    assert 0 <= low <= rate <= high <= 1
    _, least, most = rate_of_clusters(np.arange(len(hit)), hit)
    assert (least, most) == pytest.approx(tuple(effective_interval(rate, len(hit))))
    assert low <= least + 1e-12
    assert high >= most - 1e-12
    code = np.unique(cluster, return_inverse=True)[1]
    worth = effective_size(cluster, hit)
    assert 0 < worth <= len(hit)
    assert effective_size_of_sums(np.bincount(code, hit), np.bincount(code)) == pytest.approx(worth)
    # Weights that are all the same change nothing.
    assert effective_size(cluster, hit, weight=np.full(len(hit), 3.0)) == pytest.approx(worth)


def test_nothing_is_not_known():
    assert rate_of_clusters(np.array([]), np.array([])) == (None, None, None)
    assert effective_size_of_sums(np.zeros(0), np.zeros(0)) == effective_size(np.zeros(0), np.zeros(0)) == 0
