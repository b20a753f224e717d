"""Cells taken together: worked by hand, one cell alone, dependence, and coverage over redraws."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit.errors import AuditError
from audit.statistics.intervals import mid_p
from audit.statistics.rates import combine


def test_two_strata_worked_by_hand():
    # (300 * .1 + 100 * .5) / 400 = .2; half width sqrt((.75 * .1)^2 + (.25 * .2)^2) = sqrt(.008125) = .0901.
    combined = combine([0.1, 0.5], [0.0, 0.3], [0.2, 0.7], [300, 100])
    assert (combined.rate, combined.low, combined.high) == pytest.approx(
        (0.2, 0.2 - 0.008125**0.5, 0.2 + 0.008125**0.5)
    )


def test_full_dependence_adds_the_distances():
    combined = combine([0.2, 0.4], [0.1, 0.2], [0.3, 0.6], [1, 1], np.ones((2, 2)))
    assert (combined.low, combined.high) == pytest.approx((0.15, 0.45))


def test_one_cell_keeps_its_interval_and_weight_0_is_left_out():
    cell = mid_p(3, 20, 90)
    combined = combine([0.15, np.nan], [cell.low, np.nan], [cell.high, np.nan], [90, 0], np.eye(2))
    assert (combined.low, combined.high) == pytest.approx((cell.low, cell.high))
    assert combine([0.1], [0.0], [0.2], [0]) is None


@given(st.lists(st.tuples(st.integers(0, 20), st.integers(1, 500)), min_size=1, max_size=6), st.floats(0, 1))
def test_the_interval_holds_the_rate_and_grows_with_dependence(cells, together):
    intervals = [mid_p(k, 20) for k, _ in cells]
    arguments = ([k / 20 for k, _ in cells], [i.low for i in intervals], [i.high for i in intervals])
    weights = [weight for _, weight in cells]
    apart = combine(*arguments, weights)
    joined = combine(*arguments, weights, np.full((len(cells),) * 2, together) + np.eye(len(cells)) * (1 - together))
    assert 0 <= joined.low <= apart.low + 1e-12
    assert apart.low <= apart.rate + 1e-12
    assert apart.rate <= apart.high + 1e-12
    assert apart.high <= joined.high + 1e-12 <= 1 + 1e-9


@pytest.mark.slow
def test_coverage_where_cells_share_sources():
    # 4 systems on the same 40 of 400 sources, wrong together; the truth is the mean of the population.
    from audit.statistics.comparison import deviations

    rng = np.random.default_rng(5)
    hard = rng.beta(0.5, 1.0, 400)
    wrong = rng.random((400, 4)) < hard[:, None]
    truth, held, alone = wrong.mean(), 0, 0
    for _ in range(250):
        sampled = wrong[rng.choice(400, 40, replace=False)]
        intervals = [mid_p(int(k), 40, 400) for k in sampled.sum(axis=0)]
        cells = (
            sampled.mean(axis=0),
            [interval.low for interval in intervals],
            [interval.high for interval in intervals],
            [1] * 4,
        )
        source, cell = np.repeat(np.arange(40), 4), np.tile(np.arange(4), 40)
        together = deviations(source, cell, sampled.ravel(), 4).cautious(range(4))
        joined, apart = combine(*cells, together), combine(*cells)
        held += joined.low <= truth <= joined.high
        alone += apart.low <= truth <= apart.high
    assert held / 250 >= 0.92
    assert alone / 250 < 0.9  # what taking the cells for independent would promise falsely


def test_wrong_arguments_are_refused():
    with pytest.raises(AuditError, match="different lengths"):
        combine([0.1], [0.0, 0.0], [0.2], [1])
    with pytest.raises(AuditError, match="a weight is -1"):
        combine([0.1], [0.0], [0.2], [-1])
