"""The mean over groups of which some are settled: known where all are, bounded where none is, between otherwise."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from audit.errors import AuditError
from audit.statistics.changes import Values, observed_drop, settled_mean, sign_test

RANGES = ((0, 0), (0, 1), (-1, 0), (-1, 1))


def values(truth, ranges, judged, stratum=None, cluster=None):
    """All groups that are `judged` settled, the others open."""
    truth, judged = np.array(truth, int), np.array(judged, bool)
    least, most = np.array(ranges, int).reshape(-1, 2).T
    return Values(
        np.where(judged, truth, least), np.where(judged, truth, most), least, most, judged,
        np.zeros(len(truth), int) if stratum is None else np.array(stratum),
        np.arange(len(truth)) if cluster is None else np.array(cluster),
    )  # fmt: skip


@st.composite
def worlds(draw):
    ranges = draw(st.lists(st.sampled_from(RANGES), min_size=1, max_size=25))
    truth = [draw(st.integers(low, high)) for low, high in ranges]
    # A beginning is judged, as a random order would leave it.
    judged = np.arange(len(ranges)) < draw(st.integers(0, len(ranges)))
    cluster = [draw(st.integers(0, 6)) for _ in ranges]
    return truth, ranges, judged, draw(st.sampled_from(["corpus", "population"])), cluster


@settings(max_examples=60)
@given(worlds())
def test_the_ends_hold_the_estimate_and_never_leave_what_is_possible(world):
    truth, ranges, judged, target, cluster = world
    mean = settled_mean(values(truth, ranges, judged, cluster=cluster), target)
    assert mean.least <= np.mean(truth) <= mean.most
    assert -1 <= mean.low <= mean.high <= 1
    if mean.estimate is not None:
        assert mean.low <= mean.estimate <= mean.high
    if target == "corpus":
        assert mean.least <= mean.low
        assert mean.high <= mean.most
    if judged.all():
        assert mean.estimate == pytest.approx(np.mean(truth))


def test_nothing_judged_gives_what_is_possible():
    mean = settled_mean(values([0, 0, 0, 0], RANGES, [False] * 4), "corpus")
    assert (mean.estimate, mean.low, mean.high, mean.free, mean.settled) == (None, -0.5, 0.5, 3, 0)


def test_groups_with_the_same_outputs_need_no_judging():
    mean = settled_mean(values([0] * 50, [(0, 0)] * 50, [False] * 50), "corpus")
    assert (mean.estimate, mean.low, mean.high) == (0, 0, 0)
    wide = settled_mean(values([0] * 50, [(0, 0)] * 50, [False] * 50))
    assert wide.low < 0 < wide.high


def test_strata_are_weighted_by_their_groups():
    """40 broken groups, of which 10 judged, half of them genuinely; 10 others all judged and false: .5 x 40 / 50."""
    stratum = [0] * 40 + [1] * 10
    judged = [place < 10 or place >= 40 for place in range(50)]
    truth = [place % 2 for place in range(40)] + [0] * 10
    mean = settled_mean(values(truth, [(0, 1)] * 50, judged, stratum), "corpus")
    assert mean.estimate == pytest.approx(0.4)
    assert (mean.judged, mean.settled) == (20, 20)


def test_copies_say_less_than_groups_of_their_own():
    truth = [1, 0, 0, 1, 0] * 8
    apart = settled_mean(values(truth, [(0, 1)] * 40, [True] * 40))
    copies = settled_mean(values(np.repeat(truth[:10], 4), [(0, 1)] * 40, [True] * 40, cluster=np.arange(40) // 4))
    assert copies.high - copies.low > 1.5 * (apart.high - apart.low)


def test_unequal_arrays_are_refused():
    with pytest.raises(AuditError, match="for each group"):
        settled_mean(Values(*[np.zeros(3, int)] * 6, np.zeros(2, int)))


def test_the_sign_test_counts_clusters():
    assert sign_test(np.array([1, 1, 1, -1, 0, 0]), np.array([0, 0, 0, 1, 1, 2])) == (1, 1, 1.0)
    assert sign_test(np.ones(6), np.arange(6)) == (6, 0, pytest.approx(2 / 64))


def test_the_observed_drop_is_the_difference_of_rates():
    old, new = np.array([1] * 8 + [0] * 2), np.array([1] * 5 + [0] * 5)
    drop = observed_drop(old, new, np.arange(10))
    assert drop.difference == pytest.approx(0.3)
    assert drop.low < 0.3 < drop.high
    assert (drop.worse, drop.better, drop.p) == (3, 0, 0.25)
    assert observed_drop(old[:0], new[:0], np.arange(0)).difference is None
