"""Rates of slices and of the rest, and the test of their difference, by hand and against other programs."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import fisher_exact

from audit.statistics.slices import (
    DomainRate,
    JudgedGroups,
    discovery_rates,
    enough,
    exact_p,
    excess,
    genuine_rate,
    observed_rate,
)


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 60), st.integers(1, 400), st.data())
def test_whole_sizes_give_fishers_exact_test(n, m, data):
    hits, others = data.draw(st.integers(0, n)), data.draw(st.integers(0, m))
    published = fisher_exact([[hits, n - hits], [others, m - others]], alternative="greater").pvalue
    assert exact_p(hits / n, n, others / m, m) == pytest.approx(published, rel=0.02, abs=1e-12)


def domain(values, judged, false, relations=None):
    """A domain in which every group is of a source of its own: violated (1) or satisfied; `judged` are places."""
    violated, cluster = np.array(values, bool), np.arange(len(values))
    relation = np.zeros(len(values), int) if relations is None else np.array(relations)
    observed = observed_rate(violated.astype(int), np.ones(len(values), int))
    of_judged = JudgedGroups(np.array(judged), relation[judged], np.array(false, float))
    return observed, genuine_rate(cluster, relation, violated, of_judged, observed)


def test_rates_worked_by_hand():
    # 2 of 10 violated; of the 8 others 4 are judged, 1 is false: VR_g = (2 + 8 / 4) / 10.
    observed, genuine = domain([1, 1] + [0] * 8, [2, 3, 4, 5], [1, 0, 0, 0])
    assert (observed.rate, observed.worth, observed.clusters) == (0.2, pytest.approx(10), 10)
    assert genuine.rate == pytest.approx(0.4)
    assert (genuine.judged, genuine.clusters, genuine.groups) == (4, 4, 10)
    assert genuine.worth < 10  # four judged groups say less than ten


def test_relations_are_weighed_by_their_groups():
    # 4 groups of one relation, 1 of 2 judged false; 6 of another, 0 of 3: VR_g = (4 / 2 + 0) / 10.
    _, genuine = domain([0] * 10, [0, 1, 4, 5, 6], [1, 0, 0, 0, 0], [0] * 4 + [1] * 6)
    assert genuine.rate == pytest.approx(0.2)


def test_what_is_not_known_is_none():
    assert observed_rate(np.zeros(2, int), np.zeros(2, int)) is None
    assert domain([0, 0], [], [])[1] is None
    assert domain([0, 0], [0], [0], [0, 1])[1] is None  # nothing of the second relation is judged
    assert not enough(None, DomainRate(0.1, 50, 50, 50))
    assert not enough(DomainRate(0.1, 29, 29, 29), DomainRate(0.1, 50, 50, 50))
    assert enough(DomainRate(0.1, 30, 30, 30), DomainRate(0.1, 50, 50, 50))


@pytest.mark.parametrize("false", [0, 1])
def test_where_all_judged_are_alike_something_is_left_open(false):
    _, genuine = domain([0] * 100, list(range(30)), [false] * 30)
    assert genuine.rate == false
    ends = genuine.estimate()
    assert ends.high - ends.low > 0.05
    assert genuine.worth <= 40


def test_copies_in_a_source_are_worth_one():
    hits = np.repeat([0, 4], [30, 10])
    assert observed_rate(hits, np.full(40, 4)).worth < 45


def test_zero_against_zero_is_no_excess():
    none = DomainRate(0.0, 50, 50, 50)
    found = excess(none, none)
    assert (found.difference, found.p) == (0.0, 1.0)
    assert found.low < 0 < found.high
    assert excess(DomainRate(1.0, 50, 50, 50), none).p < 1e-10


def test_q_values_by_hand():
    # m = 3, and 1 + 1/2 + 1/3 = 11/6: .01 x 3 x 11/6, .03 x 3/2 x 11/6, .5 x 11/6, cut at 1.
    assert discovery_rates([0.5, 0.01, 0.03]) == pytest.approx([0.91667, 0.055, 0.0825], abs=1e-4)
