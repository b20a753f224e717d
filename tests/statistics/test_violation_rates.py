"""Violation rates of cells together: weights by hand, what is not known, and how they stand to each other."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit.statistics.rates import violations

NAN = float("nan")


def of(*cells):
    return violations(*(np.array(column, float) for column in zip(*cells, strict=True)))


def test_worked_by_hand():
    # 10 of 100 and 60 of 300 groups violated: 70 of 400. SR_g .6 and .4: VR_g = 1 - (100 x .6 + 300 x .4) / 400 = .55.
    # Independent cells: the distances of the ends are .25 x .1 and .75 x .04, so sqrt(.025^2 + .03^2) = .0390512.
    rates = of((90, 10, 0.6, 0.5, 0.7), (240, 60, 0.4, 0.36, 0.44))
    assert (rates.groups, rates.unestimated) == (400, 0)
    assert (rates.vr_observed, rates.vr_genuine) == pytest.approx((0.175, 0.55))
    assert (rates.vr_genuine_low, rates.vr_genuine_high) == pytest.approx((0.55 - 0.0390512, 0.55 + 0.0390512))


def test_the_rows_all_of_the_chinese_study_are_no_plain_means():
    # Jin, Ding, Zhou (2022), table 9, AliNLP under MR7.3: "All" is 11.64 %, but the plain mean of its seven topics
    # (76.73 / 7) is 10.96 %: "All" weighs topics by their groups, which the study does not print.
    topics = [0.92, 7.70, 5.22, 5.41, 13.49, 6.81, 37.18]
    equal = of(*((10_000 - round(100 * rate), round(100 * rate), 0.0, 0.0, 0.0) for rate in topics))
    assert 100 * equal.vr_observed == pytest.approx(76.73 / 7)
    assert equal.vr_observed < 0.1164


def test_a_cell_without_an_estimate_leaves_the_genuine_rate_unknown():
    rates = of((90, 10, 0.6, 0.5, 0.7), (50, 50, NAN, NAN, NAN))
    assert (rates.groups, rates.vr_observed, rates.vr_genuine, rates.unestimated) == (200, 0.3, None, 1)


def test_a_cell_without_a_group_weighs_nothing():
    alone, beside = of((90, 10, 0.6, 0.5, 0.7)), of((90, 10, 0.6, 0.5, 0.7), (0, 0, NAN, NAN, NAN))
    assert alone == beside
    nothing = of((0, 0, NAN, NAN, NAN))
    assert (nothing.groups, nothing.vr_observed, nothing.vr_genuine) == (0, None, None)


def test_rates_without_counts_cannot_be_weighed():
    assert of((NAN, NAN, 0.6, 0.5, 0.7)).groups is None


@given(st.lists(st.tuples(st.integers(0, 50), st.integers(0, 50), st.floats(0, 1)), min_size=1, max_size=8))
def test_false_satisfactions_only_add_violations(drawn):
    # SR_g = SR_o (1 - R_FS), as every cell has it.
    cells = []
    for satisfied, violated, false in drawn:
        genuine = satisfied / (satisfied + violated) * (1 - false) if satisfied + violated else NAN
        cells.append((satisfied, violated, genuine, 0.0 * genuine, genuine))
    combined = of(*cells)
    if combined.vr_observed is not None:
        assert combined.vr_observed <= combined.vr_genuine + 1e-12
        assert combined.vr_genuine_low <= combined.vr_genuine + 1e-12
        assert combined.vr_genuine <= combined.vr_genuine_high + 1e-12
        rates = [1 - cell[2] for cell in cells if cell[0] + cell[1]]
        assert min(rates) - 1e-9 <= combined.vr_genuine <= max(rates) + 1e-9
