"""Differences over several relations at once, against one relation alone and against simulated truth."""

from dataclasses import replace

import numpy as np
import pytest

from audit.statistics.comparison import Common, pooled_difference


def common(rng, groups=600, judged=150, lead=0.0, hard=None, systems=("a", "b", "c")):
    """Groups of one relation under the design shared; systems err together where `hard` (groups,) says so."""
    hard = rng.random(groups) if hard is None else hard
    together = np.where(rng.random((groups, len(systems))) < 0.7, hard[:, None], rng.random((groups, len(systems))))
    held = rng.random((groups, len(systems))) < 0.85
    wrong = together < 0.3 - lead * (np.arange(len(systems)) == 0)
    genuine = (held & ~wrong).astype(float)
    decides = held.any(axis=1) & ~(held.all(axis=1) & (wrong == wrong[:, :1]).all(axis=1))
    whole = np.full(len(systems), groups)
    seen = np.where(np.arange(groups)[:, None] < judged, genuine, np.where(held, np.nan, 0.0))
    stop = np.flatnonzero(decides & np.isnan(seen).any(axis=1))
    seen[stop[0] if len(stop) else groups :] = np.nan
    counts = np.full(len(systems), judged)
    return Common(
        systems, whole, held.sum(axis=0), counts, counts * 0, seen, held, decides, np.arange(groups), np.arange(groups)
    )


@pytest.mark.parametrize("target", ["population", "corpus"])
def test_one_relation_is_its_pair(target):
    relation = common(np.random.default_rng(1), lead=0.1)
    pooled = pooled_difference([relation], ("b", "a"), target)
    pair = relation.differences(target, 0.95, 0.0)[0]
    assert (pair.one, pair.other) == (0, 1)
    assert (pooled.difference, pooled.low, pooled.high) == pytest.approx((-pair.difference, -pair.high, -pair.low))
    assert (pooled.relations, pooled.groups, pooled.judged) == (1, pair.groups, pair.judged)
    if target == "corpus":  # an interval and a test of the same statistic
        assert pooled.p == pytest.approx(pair.p, rel=1e-2)


def test_relations_weigh_as_many_groups_as_they_have():
    rng = np.random.default_rng(2)
    small, large = common(rng, 300, 300), common(rng, 900, 900)
    parts = [float(np.mean(relation.genuine[:, 0] - relation.genuine[:, 1])) for relation in (small, large)]
    pooled = pooled_difference([small, large], ("a", "b"), "corpus")
    # All is judged: known without error, and nothing to test.
    assert pooled.difference == pytest.approx((parts[0] + 3 * parts[1]) / 4)
    assert pooled.low == pooled.high == pytest.approx(pooled.difference)
    assert pooled.p is None
    assert pooled_difference([small, large], ("a", "b")).p > 0


def test_the_test_and_the_interval_agree_beyond_a_margin_too():
    rng = np.random.default_rng(3)
    for lead in (0.0, 0.06, 0.12):
        relations = [common(rng, lead=lead) for _ in range(3)]
        for delta in (0.0, 0.02):
            pooled = pooled_difference(relations, ("a", "b"), delta=delta)
            beyond = pooled.low > delta or pooled.high < -delta
            assert (pooled.p < 0.05) == beyond


def test_relations_that_say_the_same_count_once():
    relation = common(np.random.default_rng(4))
    apart = [replace(relation, cluster=relation.cluster + 1000 * at) for at in range(4)]
    alone, copies, others = (
        pooled_difference(relations, ("a", "b")) for relations in ([relation], [relation] * 4, apart)
    )
    width = alone.high - alone.low
    assert copies.high - copies.low == pytest.approx(width, rel=0.02)
    assert others.high - others.low == pytest.approx(width / 2, rel=0.02)


def test_what_is_not_judged_is_left_out_and_said():
    rng = np.random.default_rng(5)
    unjudged, enough = common(rng, judged=0), common(rng)
    pooled = pooled_difference([unjudged, enough], ("a", "b"))
    assert (pooled.relations, pooled.compared, pooled.groups) == (1, 2, 600)
    nothing = pooled_difference([unjudged], ("a", "b"))
    assert (nothing.difference, nothing.p) == (None, None)
    assert nothing.reason == "no relation has a judged group that compares the two systems"
    assert pooled_difference([enough], ("a", "x")).reason == "no relation has both systems"


def test_cells_drawn_apart_are_cautious():
    rng = np.random.default_rng(6)
    relations = [common(rng, lead=0.2) for _ in range(3)]
    apart = [
        replace(relation, genuine=None, held=None, decides=None, false=np.array([20, 45, 45])) for relation in relations
    ]
    corpus, population = (pooled_difference(apart, ("a", "b"), target) for target in ("corpus", "population"))
    assert population.high - population.low > 1.5 * (corpus.high - corpus.low)


@pytest.mark.slow
def test_intervals_hold_and_equal_systems_are_rarely_told_apart():
    rng = np.random.default_rng(7)
    covered, wrong, times = 0, 0, 200
    for _ in range(times):
        hard = rng.random(600)
        pooled = pooled_difference([common(rng, hard=hard) for _ in range(4)], ("a", "b"))
        covered += pooled.low <= 0 <= pooled.high
        wrong += pooled.p <= 0.05
    assert covered / times > 0.93
    assert wrong / times < 0.07
