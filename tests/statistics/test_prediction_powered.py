"""Rates from few judgements and a cheap signal: unbiased, covering, and never worse for a useless proxy."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit.errors import AuditError
from audit.statistics.intervals import mid_p
from audit.statistics.prediction_powered import disagreement, low_confidence, prediction_powered


def population(size=2000, share=0.3, noise=0.4, seed=0):
    rng = np.random.default_rng(seed)
    truth = (np.arange(size) < share * size).astype(int)
    return truth, truth + noise * rng.normal(size=size)


def redraws(truth, proxy, n, times, seed=1):
    rng = np.random.default_rng(seed)
    for _ in range(times):
        chosen = rng.choice(len(truth), n, replace=False)
        yield prediction_powered(truth[chosen], proxy[chosen], proxy)


def test_one_proxy_worked_by_hand():
    # Two folds by turns; every row has y = f, so each fold's slope is 1 and the estimate is mean(y) - (mean(f) - mean
    # over the population) = the population's mean proxy, .25.
    truth = np.tile([0, 0, 1, 1], 10)
    result = prediction_powered(truth, truth.astype(float), np.r_[truth, np.zeros(40)], folds=2)
    assert result.estimate == pytest.approx(0.25)
    assert result.weights == pytest.approx((1.0,))
    # The residuals do not vary, but one thing unseen of 40 is allowed for: s^2 = 1/40 instead of 0. Two more groups are
    # imagined of which the proxy says nothing: (40 s^2 + 2 S^2) / 42.
    plain = truth.var(ddof=1)
    assert result.gain == pytest.approx(plain / ((40 / 40 + 2 * plain) / 42))
    assert result.low < 0.25 < result.high


def test_unbiased_covering_and_narrower_with_a_good_proxy():
    truth, proxy = population()
    estimates = list(redraws(truth, proxy, 150, 300))
    assert np.mean([estimate.estimate for estimate in estimates]) == pytest.approx(0.3, abs=0.005)
    assert 0.93 <= np.mean([estimate.low <= 0.3 <= estimate.high for estimate in estimates]) <= 0.98
    plain = np.mean([mid_p(45, 150, 2000).high - mid_p(45, 150, 2000).low])
    assert np.mean([estimate.high - estimate.low for estimate in estimates]) < 0.75 * plain


def test_a_useless_proxy_costs_next_to_nothing():
    truth, _ = population()
    noise = np.random.default_rng(3).normal(size=len(truth))
    estimates = list(redraws(truth, noise, 150, 200))
    assert np.mean([estimate.estimate for estimate in estimates]) == pytest.approx(0.3, abs=0.01)
    assert np.mean([estimate.low <= 0.3 <= estimate.high for estimate in estimates]) >= 0.93
    assert max(estimate.gain for estimate in estimates) < 1.1


def test_several_proxies_and_one_that_repeats_another():
    truth, proxy = population()
    chosen = np.random.default_rng(2).choice(2000, 200, replace=False)
    twice = np.column_stack([proxy, 2 * proxy + 1, np.zeros(2000)])
    both = prediction_powered(truth[chosen], twice[chosen], twice)
    once = prediction_powered(truth[chosen], proxy[chosen], proxy)
    assert both.estimate == pytest.approx(once.estimate)
    assert both.weights[2] == 0


@pytest.mark.parametrize(
    ("truth", "proxies", "says"),
    [
        ([0, 1] * 14, None, "28 judged groups are fewer than 30"),
        ([0] * 40, None, "the proxies do not help"),
        ([0, 1] * 20, np.ones(100), "fewer than 5 of 40 groups have another value of the proxies"),
        ([0, 1] * 20, (np.arange(100) % 10 == 0) * 1.0, "fewer than 5 of 40 groups have another value of the proxies"),
        ([0, 1] * 20, np.tile(np.arange(100.0)[:, None], 5), "too few for 5 proxies"),
    ],
)
def test_falls_back_to_wilson_and_says_why(truth, proxies, says):
    proxies = np.arange(100.0) if proxies is None else proxies
    result = prediction_powered(truth, proxies[: len(truth)], proxies)
    interval = mid_p(sum(truth), len(truth), 100)
    assert (result.estimate, result.low, result.high) == (sum(truth) / len(truth), interval.low, interval.high)
    assert says in result.reason
    assert result.method == "mid-p hypergeometric"


def test_everything_judged_is_a_point_and_nothing_judged_is_unknown():
    truth, proxy = population(40)
    result = prediction_powered(truth, proxy, proxy)
    assert result.low == result.estimate == result.high == 0.3
    nothing = prediction_powered([], [], proxy)
    assert (nothing.estimate, nothing.low, nothing.high, nothing.reason) == (None, None, None, "nothing was judged")


@given(st.integers(30, 120), st.floats(0.05, 0.95), st.integers(0, 30).map(lambda n: n / 10), st.integers(0, 5))
def test_ends_hold_the_estimate_and_stay_within_0_and_1(n, share, noise, seed):
    truth, proxy = population(300, share, noise, seed)
    chosen = np.random.default_rng(seed).choice(300, n, replace=False)
    result = prediction_powered(truth[chosen], proxy[chosen], proxy)
    assert 0 <= result.low <= result.estimate <= result.high <= 1
    # Sources of other units change nothing.
    again = prediction_powered(truth[chosen], 100 * proxy[chosen] - 7, 100 * proxy - 7)
    assert again.estimate == pytest.approx(result.estimate)


def test_proxies_are_used_whatever_was_judged():
    """Two false of 60: a choice by how many are false would bias the estimate upward."""
    truth, proxy = population()
    few = np.concatenate([np.flatnonzero(truth == 1)[:2], np.flatnonzero(truth == 0)[:58]])
    assert prediction_powered(truth[few], proxy[few], proxy).reason == ""


@pytest.mark.slow
@pytest.mark.parametrize("known", [150, 300, 2000])
def test_two_phases_hold_and_are_as_wide_as_the_first_phase_makes_them(known):
    """Proxies of `known` groups that are a random sample of all 2,000, of which 100 are judged."""
    truth, proxy = population()
    rng, held, widths = np.random.default_rng(3), 0, []
    for _ in range(300):
        order = rng.permutation(len(truth))
        at = prediction_powered(truth[order[:100]], proxy[order[:100]], proxy[order[:known]], total=2000)
        held += at.low <= 0.3 <= at.high
        widths.append(at.high - at.low)
    assert held >= 0.93 * 300
    # Cochran (1977), section 12.6, with the proxies' R^2 for the judged groups' residuals.
    explained = np.corrcoef(truth, proxy)[0, 1] ** 2
    spread = 0.21 * ((1 / 100 - 1 / known) * (1 - explained) + (1 / known - 1 / 2000))
    assert np.mean(widths) == pytest.approx(2 * 1.96 * spread**0.5, rel=0.08)


def test_proxies_of_the_judged_alone_say_nothing_more():
    truth, proxy = population()
    result = prediction_powered(truth[:100], proxy[:100], proxy[:100], total=2000)
    assert (result.gain, result.population) == (1.0, 2000)
    assert "known of the judged groups alone" in result.reason
    with pytest.raises(AuditError, match="proxies of 2000 groups are more than the 10 that there are"):
        prediction_powered(truth[:5], proxy[:5], proxy, total=10)


def test_disagreement_counts_the_others_that_have_a_label():
    labels = {"a": ["+", "+", "-"], "b": ["+", "-", None], "c": ["-", "-", None]}
    assert disagreement(labels, "a").tolist() == [0.5, 1.0, 0.5]
    with pytest.raises(AuditError, match="no labels of system 'd'"):
        disagreement(labels, "d")
    with pytest.raises(AuditError, match="different lengths"):
        disagreement({"a": ["+"], "b": []}, "a")


def test_low_confidence_is_that_of_the_least_sure_output():
    assert low_confidence([[0.5, 0.9]]).tolist() == [0.5]
    with pytest.raises(AuditError, match="from 0 to 1"):
        low_confidence([float("nan")])


@pytest.mark.parametrize(
    ("truth", "sample", "everything", "says"),
    [
        ([0, 1], [1.0], [1.0, 2.0], "do not fit"),
        ([0, 2], [1.0, 2.0], [1.0, 2.0], "judged group 1 .* is 2"),
        ([0, 1], [1.0, float("nan")], [1.0, 2.0], "sample, row 1, column 0"),
        ([0, 1], [1.0, 2.0], [1.0, float("inf")], "population, row 1, column 0"),
        ([0, 1, 1], [1.0, 2.0, 3.0], [1.0, 2.0], "3 judged of 2 groups"),
    ],
)
def test_bad_input_names_row_and_column(truth, sample, everything, says):
    with pytest.raises(AuditError, match=says):
        prediction_powered(truth, sample, everything)
