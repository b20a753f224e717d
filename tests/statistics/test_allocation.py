"""How many groups to judge: sizes that reach their width."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit.errors import AuditError
from audit.statistics.intervals import mid_p
from audit.statistics.planning import effective_size, judged_size, sizes_for_half_width

POPULATIONS = st.integers(1, 50_000)


@given(st.integers(0, 400), POPULATIONS)
def test_effective_size_and_its_inverse(n, population):
    n = min(n, population)
    assert judged_size(effective_size(n, population), population) == n


def test_effective_size_worked_by_hand():
    # 50 x 99 / 50 = 99: judging half of 100 is as precise as 99 draws with replacement.
    assert effective_size(50, 100) == pytest.approx(99)
    assert np.isinf(effective_size(7, 7))


def test_the_size_for_five_points_in_a_large_population():
    # Wilson at p = 1/2: z^2 (1/4 - h^2) / h^2 = 3.8415 x .2475 / .0025 = 380.3; the next whole number.
    assert sizes_for_half_width(0.5, 10**9, 0.05) == 381


@given(st.integers(1, 99), st.integers(30, 20_000), st.sampled_from([0.02, 0.05, 0.1, 0.2]))
def test_the_size_reaches_its_half_width_and_no_smaller_one_does(percent, population, half_width):
    n = int(sizes_for_half_width(percent / 100, population, half_width))

    def half(size):
        # Wilson's formula at the exact rate: counts are whole numbers, the plan's rate is not.
        m = effective_size(size, population)
        if np.isinf(m):
            return 0.0
        p, z2 = percent / 100, 1.959963984540054**2
        return np.sqrt(z2 * p * (1 - p) / m + z2 * z2 / (4 * m * m)) / (1 + z2 / m)

    assert half(n) <= half_width + 1e-9
    assert n == 1 or half(n - 1) > half_width - 1e-9


def test_the_size_is_that_of_the_reports_wilson_interval():
    n = int(sizes_for_half_width(0.3, 2000, 0.05))
    interval = mid_p(round(0.3 * n), n, 2000)
    assert (interval.high - interval.low) / 2 == pytest.approx(0.05, abs=0.0005)


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: sizes_for_half_width(0.5, 10, 0.5), "half-width of 0.5"),
        (lambda: sizes_for_half_width(0.5, 10, 0), "half-width of 0 "),
        (lambda: sizes_for_half_width(1.2, 10, 0.05), "rate 1.2"),
        (lambda: sizes_for_half_width(float("nan"), 10, 0.05), "rate nan"),
        (lambda: sizes_for_half_width(0.5, -1, 0.05), "-1 satisfied"),
        (lambda: sizes_for_half_width(0.5, 10, 0.05, confidence=1), "confidence 1"),
    ],
)
def test_impossible_numbers_are_named(call, says):
    with pytest.raises(AuditError, match=says):
        call()
