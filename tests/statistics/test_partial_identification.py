"""Bounds of rates where answers are missing: known answers, limits, and coverage by simulation."""

import hypothesis.strategies as st
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from scipy.stats import norm

from audit.errors import AuditError
from audit.statistics.intervals import effective_interval, mid_p
from audit.statistics.rates import BOUNDS, ends_confidence, with_bounds, with_rates


def bounds(false, waiting, n, population=None, **columns):
    """(least, most, low, high) of the R_FS of one cell with a draw of n; without a population, of texts to come."""
    target = "population" if population is None else "corpus"
    cell = {"satisfied": population or n, "violated": 10, "judged": 0, "false": 0}
    cell |= {"drawn": n, "drawn_false": false, "drawn_open": waiting, **columns}
    cells = with_rates(pd.DataFrame([cell]), target=target)
    return tuple(with_bounds(cells, target=target).loc[0, list(BOUNDS[:4])].tolist())


def test_where_nothing_waits_it_is_the_interval_itself():
    usual = mid_p(6, 60, 500)
    assert bounds(6, 0, 60, 500) == (0.1, 0.1, usual.low, usual.high)


def test_where_the_bounds_lie_far_apart_each_end_is_one_sided():
    _, _, low, high = bounds(10, 40, 60)
    assert low == pytest.approx(mid_p(10, 60, None, confidence=0.90).low, abs=1e-9)
    assert high == pytest.approx(mid_p(50, 60, None, confidence=0.90).high, abs=1e-9)


def test_of_few_groups_the_ends_are_two_sided():
    assert bounds(4, 16, 29)[2:] == pytest.approx((mid_p(4, 29, None).low, mid_p(20, 29, None).high))


def test_the_level_is_imbens_and_manskis():
    """Their equation (7), solved here by a grid: with bounds one standard error apart, c is about 1.70."""
    grid = np.linspace(1.6, 2.0, 4001)
    c = grid[np.argmin(abs(norm.cdf(grid + 1) - norm.cdf(-grid) - 0.95))]
    n, false = 10_000, 5_000
    apart = round(np.sqrt(n) / 2)  # one standard error, in groups
    least, _, low, _ = bounds(false, apart, n)
    assert (least - low) / (0.5 / np.sqrt(n)) == pytest.approx(c, abs=0.02)


def test_documents_widen_both_ends_as_they_widen_a_rate():
    """20 groups worth, whatever the draw holds: the ends of 20, and two-sided, as fewer than 30 tell them."""
    worth = {"least_worth": 20.0, "most_worth": 20.0}
    cell = {"satisfied": 200, "violated": 0, "judged": 60, "false": 15, "judged_worth": 20.0}
    usual = with_rates(pd.DataFrame([cell]), target="population").iloc[0]
    _, _, low, high = bounds(15, 15, 60, **worth)
    assert low == usual["fs_low"]
    assert high == pytest.approx(mid_p(10, 20, None).high)
    assert low < bounds(15, 15, 60)[2] < effective_interval(0.25, 60).high < high


@given(st.floats(0, 50), st.integers(30, 1000))
def test_levels_lie_between_those_of_one_and_of_two_sides(apart, size):
    least, most = (np.array([[rate], [rate - 0.01], [rate + 0.01]]) for rate in (0.2, 0.2 + 0.01 * apart))
    (level,) = ends_confidence(least, most, np.array([size]))
    assert 0.9 - 1e-6 <= level <= 0.95 + 1e-6
    (further,) = ends_confidence(least, most + 0.01, np.array([size]))
    assert further <= level + 1e-9


@pytest.mark.slow
@given(st.integers(0, 30), st.integers(0, 30), st.integers(0, 30), st.integers(0, 500))
def test_ends_hold_the_bounds_and_stay_rates(false, waiting, true, more):
    n = false + waiting + true
    if not n:
        assert np.isnan(bounds(false, waiting, n, 10)).all()
        return
    least, most, low, high = bounds(false, waiting, n, n + more)
    assert 0 <= low <= least <= most <= high <= 1
    if not more:  # everything was looked at: only answers are missing
        assert (low, high) == (least, most)


def test_more_drawn_than_there_are_is_refused():
    with pytest.raises(AuditError, match="11 judged of 10 satisfied"):
        bounds(1, 1, 11, 10)


@pytest.mark.slow
@pytest.mark.parametrize("size", [6, 20, 60])
@pytest.mark.parametrize("rate", [0.02, 0.3, 0.7])
@pytest.mark.parametrize("side", ["false ones only", "true ones only", "half of all"])
def test_the_true_rate_is_covered_whatever_leaves_answers_out(size, rate, side):
    """Answers are missing because of what they would be: the worst case for anything but bounds."""
    rng = np.random.default_rng(7)
    population, draws = 400, 1_000
    truth = round(rate * population)
    cells = []
    for false in rng.hypergeometric(truth, population - truth, size, draws):
        if side == "half of all":
            known_false = rng.binomial(false, 0.5)
            waiting = size - known_false - rng.binomial(size - false, 0.5)
        else:
            known_false, waiting = (false, size - false) if side == "false ones only" else (0, false)
        cells.append({"drawn": size, "drawn_false": known_false, "drawn_open": waiting})
    cells = pd.DataFrame(cells).assign(satisfied=population, violated=0, judged=0, false=0)
    rates = with_bounds(with_rates(cells))
    hits = (rates["fs_bound_low"] <= truth / population) & (rates["fs_bound_high"] >= truth / population)
    assert hits.mean() >= 0.93
