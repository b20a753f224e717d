"""A rate over clusters: against known answers, against the same observations one by one, and what is refused."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit.errors import AuditError
from audit.statistics.intervals import clustered_rate, effective_size, effective_size_of_sums

CLUSTERS = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=1, max_size=40).map(
    lambda pairs: [(min(pair), max(pair)) for pair in pairs]
)


def test_one_observation_a_cluster_gives_the_exact_interval():
    # R 4.3: binom.test(10, 40)$conf.int is 0.1269148 0.4119620.
    rate = clustered_rate(np.arange(40) < 10, np.ones(40))
    assert (rate.hits, rate.size, rate.clusters, rate.rate) == (10, 40, 40, 0.25)
    assert (rate.low, rate.high) == pytest.approx((0.1269148, 0.4119620), abs=1e-6)


def test_copies_within_a_cluster_add_next_to_nothing():
    alone = clustered_rate(np.arange(60) % 4 == 0, np.ones(60))
    again = clustered_rate(5 * (np.arange(60) % 4 == 0), np.full(60, 5))
    assert again.rate == alone.rate
    assert (again.low, again.high) == pytest.approx((alone.low, alone.high), abs=0.01)


def test_large_clusters_weigh_more():
    # 8 of 8 in one cluster and 0 of 2 in another: 8 of 10, not the mean of 1 and 0.
    assert clustered_rate(np.array([8, 0]), np.array([8, 2])).rate == 0.8


def test_nothing_is_not_known():
    rate = clustered_rate(np.zeros(3), np.zeros(3))
    assert (rate.size, rate.clusters, rate.rate, rate.low, rate.high) == (0, 0, None, None, None)


@given(CLUSTERS)
def test_sums_say_what_the_observations_say(pairs):
    hits, size = (np.array(column) for column in zip(*pairs, strict=True))
    cluster = np.repeat(np.arange(len(size)), size)
    hit = np.concatenate([np.arange(many) < few for few, many in pairs])
    assert effective_size_of_sums(hits, size) == pytest.approx(effective_size(cluster, hit))
    rate = clustered_rate(hits, size)
    assert (rate.hits, rate.size, rate.clusters) == (hits.sum(), size.sum(), (size > 0).sum())
    if rate.rate is not None:
        assert 0 <= rate.low <= rate.rate + 1e-12
        assert rate.rate - 1e-12 <= rate.high <= 1


@pytest.mark.parametrize(
    ("hits", "size", "message"),
    [([1], [1, 1], "1 hits and 2 sizes"), ([2], [1], "more than observations"), ([-1], [1], "fewer than 0")],
)
def test_what_cannot_be_is_refused(hits, size, message):
    with pytest.raises(AuditError, match=message):
        clustered_rate(np.array(hits), np.array(size))
