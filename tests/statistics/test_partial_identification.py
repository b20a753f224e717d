"""Bounds of rates where answers are missing: known answers, limits, and coverage by simulation."""

import hypothesis.strategies as some
import numpy as np
import pytest
from hypothesis import given
from scipy.stats import norm

from audit.errors import AuditError
from audit.statistics.mid_p import mid_p
from audit.statistics.partial_identification import identified_set


def test_where_nothing_is_unanswered_it_is_the_interval_itself():
    found, usual = identified_set(6, 0, 60, 500, mid_p), mid_p(6, 60, 500)
    assert (found.least, found.most) == (0.1, 0.1)
    assert (found.low, found.high) == (usual.low, usual.high)


def test_where_the_bounds_lie_far_apart_each_end_is_one_sided():
    found = identified_set(10, 40, 60, None, mid_p)
    assert found.low == pytest.approx(mid_p(10, 60, None, confidence=0.90).low, abs=1e-9)
    assert found.high == pytest.approx(mid_p(50, 60, None, confidence=0.90).high, abs=1e-9)


def test_the_level_is_imbens_and_manskis():
    """Their equation (7), solved here by a grid: with bounds one standard error apart, c is about 1.70."""
    grid = np.linspace(1.6, 2.0, 4001)
    c = grid[np.argmin(abs(norm.cdf(grid + 1) - norm.cdf(-grid) - 0.95))]
    n, false = 10_000, 5_000
    apart = round(np.sqrt(n) / 2)  # one standard error, in groups
    found = identified_set(false, apart, n, None, mid_p)
    assert (found.least - found.low) / (0.5 / np.sqrt(n)) == pytest.approx(c, abs=0.02)


@given(some.integers(0, 30), some.integers(0, 30), some.integers(0, 30), some.integers(0, 500))
def test_ends_hold_the_bounds_and_stay_rates(false, unanswered, true, more):
    n = false + unanswered + true
    if not n:
        with pytest.raises(AuditError, match="impossible"):
            identified_set(false, unanswered, n, n + more, mid_p)
        return
    found = identified_set(false, unanswered, n, n + more, mid_p)
    assert 0 <= found.low <= found.least <= found.most <= found.high <= 1
    if not more:  # everything was looked at: only answers are missing
        assert (found.low, found.high) == (found.least, found.most)


@pytest.mark.parametrize("counts", [(-1, 2, 3), (2, 2, 3), (0, -1, 3), (0, 0, 0)])
def test_impossible_counts_are_refused(counts):
    with pytest.raises(AuditError):
        identified_set(*counts, 10, mid_p)


@pytest.mark.parametrize("size", [6, 20, 60])
@pytest.mark.parametrize("rate", [0.02, 0.3, 0.7])
@pytest.mark.parametrize("side", ["false ones only", "true ones only", "half of all"])
def test_the_true_rate_is_covered_whatever_leaves_answers_out(size, rate, side):
    """Answers are missing because of what they would be: the worst case for anything but bounds."""
    rng = np.random.default_rng(7)
    population, draws = 400, 1_000
    truth = round(rate * population)
    hits = 0
    for false in rng.hypergeometric(truth, population - truth, size, draws):
        if side == "half of all":
            known = rng.binomial(false, 0.5)
            unanswered = size - known - rng.binomial(size - false, 0.5)
        else:
            known, unanswered = (false, size - false) if side == "false ones only" else (0, false)
        found = identified_set(int(known), int(unanswered), size, population, mid_p)
        hits += found.low <= truth / population <= found.high
    assert hits / draws >= 0.93
