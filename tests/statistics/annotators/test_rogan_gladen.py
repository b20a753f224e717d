"""Rogan and Gladen's correction: by hand, by simulation, and where it cannot be made."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit.errors import AuditError
from audit.statistics.annotators import rogan_gladen


def test_by_hand():
    # Judged .3; (.3 + .95 - 1) / (.9 + .95 - 1) = .25 / .85.
    corrected_rate = rogan_gladen(30, 100, (90, 100), (95, 100))
    assert corrected_rate.rate == pytest.approx(0.25 / 0.85)
    assert corrected_rate.judged == 0.3
    assert corrected_rate.low < corrected_rate.rate < corrected_rate.high


def test_without_errors_the_rate_stays():
    corrected_rate = rogan_gladen(30, 100, (1000, 1000), (1000, 1000))
    assert corrected_rate.rate == pytest.approx(0.3)
    assert (corrected_rate.low, corrected_rate.high) == pytest.approx((0.22, 0.40), abs=0.015)


def test_impossible_rates_are_cut():
    assert rogan_gladen(1, 100, (90, 100), (80, 100)).rate == 0
    assert rogan_gladen(99, 100, (80, 100), (95, 100)).rate == 1


def test_the_interval_covers():
    """2,000 studies: true rate .2, 300 judged, sensitivity .85 and specificity .95 measured on 60 audited each."""
    random = np.random.default_rng(7)
    judged = random.binomial(300, 0.2 * 0.85 + 0.8 * 0.05, 2000)
    true_positives = random.binomial(60, 0.85, 2000)
    cleared = random.binomial(60, 0.95, 2000)
    hits = 0
    for k, se, sp in zip(judged, true_positives, cleared, strict=True):
        corrected_rate = rogan_gladen(int(k), 300, (int(se), 60), (int(sp), 60))
        hits += corrected_rate.low <= 0.2 <= corrected_rate.high
    assert 0.94 <= hits / 2000 <= 0.98


@given(st.integers(0, 50), st.integers(26, 50), st.integers(26, 50))
def test_always_possible(k, se, sp):
    corrected_rate = rogan_gladen(k, 50, (se, 50), (sp, 50))
    assert 0 <= corrected_rate.low <= corrected_rate.rate <= corrected_rate.high <= 1


@pytest.mark.parametrize(
    ("counts", "says"),
    [
        ((5, 4, (9, 10), (9, 10)), "judged 5 of 4 is impossible; allowed are 0 to 4"),
        ((1, 4, (11, 10), (9, 10)), "sensitivity 11 of 10 is impossible"),
        ((1, 4, (9, 10), (-1, 10)), "specificity -1 of 10 is impossible"),
        ((1, 4, (0, 0), (9, 10)), "sensitivity 0 of 0 is impossible"),
        (
            (1, 4, (5, 10), (5, 10)),
            "sensitivity 0.500 and specificity 0.500 add to 1.000, which is no better than chance",
        ),
    ],
)
def test_impossible_counts_are_named(counts, says):
    with pytest.raises(AuditError, match=says):
        rogan_gladen(*counts)


def test_confidence_is_checked():
    with pytest.raises(AuditError, match="between 0 and 1"):
        rogan_gladen(1, 4, (9, 10), (9, 10), confidence=95)
