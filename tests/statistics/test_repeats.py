"""Contradictions of a system with itself and steadiness of verdicts: worked by hand, simulated, and what is refused."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit.statistics.repeats import NO_CALL, contradictions, pair_disagreement, steadiness

OUTCOMES = {"satisfied": 0, "violated": 1}


def test_pairs_that_differ_are_counted_by_hand():
    # Of ten pairs of aabbc: aa and bb agree, eight differ.
    assert pair_disagreement("aabbc") == pytest.approx(0.8)
    assert pair_disagreement("abc") == 1
    assert pair_disagreement([None, None]) == 0


def test_shares_and_means_over_inputs_by_hand():
    found = contradictions(["aa", "ab", "aaa", "aab"], np.array([1, 1, 2, 3]))
    assert (found.inputs, found.contradicted, found.share) == (4, 2, 0.5)
    assert found.disagreement == pytest.approx((0 + 1 + 0 + 2 / 3) / 4)
    assert found.share_low < 0.5 < found.share_high
    assert found.disagreement_low < found.disagreement < found.disagreement_high


@given(st.lists(st.tuples(st.sampled_from("abc"), st.integers(2, 6), st.integers(0, 3)), min_size=1, max_size=30))
def test_a_deterministic_system_contradicts_itself_never(inputs):
    said = [label * calls for label, calls, _ in inputs]
    found = contradictions(said, np.array([cluster for *_, cluster in inputs]))
    assert (found.contradicted, found.share, found.disagreement) == (0, 0, 0)
    assert found.share_low == found.disagreement_low == 0
    assert 0 < found.share_high <= 1  # what was not seen is not impossible


@given(st.lists(st.lists(st.sampled_from("ab"), min_size=2, max_size=5), min_size=1, max_size=30), st.randoms())
def test_what_calls_are_called_and_their_order_do_not_matter(said, random):
    cluster = np.arange(len(said)) // 2
    found = contradictions(said, cluster)
    other = [random.sample(["ba"["ab".index(one)] for one in calls], len(calls)) for calls in said]
    assert contradictions(other, cluster) == found
    assert found.disagreement <= found.share + 1e-12
    assert found.disagreement_low - 1e-12 <= found.disagreement <= found.disagreement_high + 1e-12


def simulated(rng, flips, inputs, calls, per_cluster):
    """Calls of a simulated system that says b in place of a with a probability, which a cluster's inputs share."""
    chance = np.repeat(flips(rng, inputs // per_cluster), per_cluster)
    return rng.random((inputs, calls)) < chance[:, None], np.arange(inputs) // per_cluster


@pytest.mark.parametrize(
    ("flips", "truth", "per_cluster"),
    [
        (lambda rng, size: np.full(size, 0.1), 2 * 0.1 * 0.9, 1),
        (lambda rng, size: np.full(size, 0.5), 0.5, 1),
        # Some documents are hard: half of the inputs are asked in vain, the others flip with a probability of 0.2.
        (lambda rng, size: np.where(rng.random(size) < 0.5, 0.2, 0.0), 0.5 * 2 * 0.2 * 0.8, 4),
    ],
)
def test_a_flipping_system_disagrees_with_itself_as_often_as_it_must_and_intervals_cover(flips, truth, per_cluster):
    rng = np.random.default_rng(18)
    means, covered, redraws, inputs, calls = [], 0, 400, 120, 3
    for _ in range(redraws):
        said, cluster = simulated(rng, flips, inputs, calls, per_cluster)
        found = contradictions(said.tolist(), cluster)
        means.append(found.disagreement)
        covered += found.disagreement_low <= truth <= found.disagreement_high
    assert np.mean(means) == pytest.approx(truth, abs=4 * np.std(means) / np.sqrt(redraws))
    assert covered / redraws >= 0.93


def test_steady_verdicts_by_hand():
    calls = np.array([[0, 0, 0], [1, 1, 1], [1, 0, 1], [0, 1, NO_CALL], [2, 2, 2]])
    steady = steadiness(calls, np.array([0, 1, 1, 0, 2]), np.arange(5), **OUTCOMES)
    assert (steady.groups, steady.calls, steady.unstable, steady.violated, steady.always_violated) == (5, 2, 2, 2, 1)
    assert steady.share == 0.4
    assert steady.low < 0.4 < steady.high
    assert steady.vr_first == 0.5  # of four, the last group is inapplicable
    assert steady.vr_mean == pytest.approx((0 + 1 + 2 / 3 + 1 / 2) / 4)


def test_what_counts_may_be_none_of_the_calls():
    # A majority may violate what no single call does: its outputs come from different calls.
    steady = steadiness(np.zeros((2, 3), int), np.array([1, 0]), np.arange(2), **OUTCOMES)
    assert (steady.violated, steady.always_violated, steady.unstable) == (1, 0, 0)
