"""Carry error, its interval over sources, and what it can do to R_FS."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit.errors import AuditError
from audit.statistics.corrected import carry_error
from audit.statistics.intervals import effective_interval, effective_size


def test_one_follow_up_a_source_has_the_exact_interval():
    error = carry_error(np.arange(263), np.arange(263) < 81)
    # 81 of 263, Clopper-Pearson .2527-.3676 (issue 3).
    assert (error.audited, error.wrong) == (263, 81)
    assert (error.low, error.high) == pytest.approx((0.2527, 0.3676), abs=5e-5)
    exact = effective_interval(81 / 263, 263)
    assert (error.low, error.high) == pytest.approx((exact.low, exact.high))


def test_nothing_audited_is_not_measured():
    error = carry_error(np.array([]), np.array([]))
    assert (error.audited, error.wrong, error.rate, error.low, error.high) == (0, 0, None, None, None)


def test_copies_of_a_source_add_nothing():
    # Ten sources with two follow-ups each that are always right: worth 20^2 / (10 * 2^2) = 10.
    source = np.arange(20) // 2
    assert effective_size(source, np.zeros(20)) == pytest.approx(10)
    assert carry_error(source, np.zeros(20)).high == pytest.approx(effective_interval(0, 10).high)
    # Wrong in pairs, 4 of 20: sums of deviations 2 (1 - .2) twice and -.4 eight times, variance of the mean
    # (10 / 9) (2 * 2.56 + 8 * .16) / 400 = .017778; alone it were .2 * .8 / 19 = .0084211; so worth 20 * .47368 but
    # for half a cluster of copies (worth 10) beside the two that are wrong: 1 / (.8 / 9.4737 + .2 / 10) = 9.5746, and
    # t(.975, 19) = 2.0930, t(.975, 9) = 2.2622: times .85602 = 8.1963.
    assert effective_size(source, source < 2) == pytest.approx(8.1963, abs=1e-3)


@given(st.data())
def test_intervals_hold_the_rate_and_clusters_only_widen(data):
    n = data.draw(st.integers(1, 40))
    wrong = np.array(data.draw(st.lists(st.booleans(), min_size=n, max_size=n)), int)
    source = np.array(data.draw(st.lists(st.integers(0, 9), min_size=n, max_size=n)))
    error = carry_error(source, wrong)
    assert 0 <= error.low <= error.rate <= error.high <= 1
    assert 0 < effective_size(source, wrong) <= n
    alone = carry_error(np.arange(n), wrong)
    assert error.high >= alone.high - 1e-12
    assert error.low <= alone.low + 1e-12


def test_mistakes_are_said():
    with pytest.raises(AuditError, match=r"rate 1\.5"):
        effective_interval(1.5, 10)
    with pytest.raises(AuditError, match="0 or more"):
        effective_interval(0.5, -1)
    with pytest.raises(AuditError, match="needed is one cluster"):
        effective_size(np.arange(3), np.zeros(2))
