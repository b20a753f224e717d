"""Paired differences and elimination: what holds for every draw, and that decisions are right."""

import numpy as np
import pytest

from audit.statistics.contests import (
    Answered,
    Compared,
    Contest,
    Evidence,
    Thresholds,
    answered_to,
    ask,
    difference,
    eliminate,
    forecast,
    lead,
    standing,
)

STANDING = {  # lead of the first over the second, its errors, two scores, two standard errors, chances to be best
    (False, 0): (0.015444, 0.050344, 0.040692, 0.061645, 0.028367, 0.064733, 0.069991, 0.642, 0.471, 0.003),
    (False, 2): (0.012163, 0.020239, 0.051349, 0.04776, 0.014094, 0.055193, 0.078721, 0.636, 0.482, 0.046),
    (True, 0): (0.015444, 0.101042, 0.040692, 0.061645, 0.028367, 0.108928, 0.10823, 0.587, 0.466, 0.021),
    (True, 2): (0.012163, 0.086197, 0.051349, 0.04776, 0.014094, 0.100332, 0.113443, 0.551, 0.469, 0.076),
}


def world(seed, ahead=0.05, sources=1500, systems=3, relations=2, carries=(True, True)):
    """Binary labels: the first system is right `ahead` more often than the others; each relation applies to a part."""
    rng = np.random.default_rng(seed)
    right = np.array([0.7 + ahead] + [0.7] * (systems - 1))
    gold = rng.integers(0, 2, sources)
    label = np.where(rng.random((sources, systems)) < right, gold[:, None], 1 - gold[:, None])
    groups, genuine = [], []
    for place in range(relations):
        source = np.sort(rng.choice(sources, int(sources * rng.uniform(0.4, 1)), replace=False))
        satisfied = (rng.random((len(source), systems)) < 0.95).astype(np.int8)
        proxy = np.zeros((0, *satisfied.shape))
        cost = 1.0 if carries[place] else 2.0
        groups.append(Compared(source, satisfied, label[source], proxy, carries[place], cost))
        genuine.append((satisfied == 1) & (label[source] == gold[source][:, None]))
    return groups, genuine, rng.random(sources)


def played(groups, genuine, u, contests):
    asked, rounds = Thresholds(np.zeros(len(u)), {}), 0
    while any(contest.ended is None for contest in contests):
        contests, asked = ask(contests, groups, u, asked)
        pairs = enumerate(zip(groups, genuine, strict=True))
        state = [answered_to(each, place, x, u, asked) for place, (each, x) in pairs]
        contests = [one if one.ended else eliminate(one, Evidence(groups, state, len(u))) for one in contests]
        rounds += 1
    return contests, asked, state, rounds


def test_a_difference_is_exact_when_all_are_asked_and_unbiased_before():
    (groups, *_), (x, *_), u = world(0)
    true = x[:, 0].mean() - x[:, 1].mean()
    whole = answered_to(groups, 0, x, u, Thresholds(np.ones(len(u)), {}))
    assert difference(groups, whole, 0, 1)[0] == pytest.approx(true)
    rng, found, covered = np.random.default_rng(1), [], []
    for _ in range(400):
        state = answered_to(groups, 0, x, rng.random(len(u)), Thresholds(np.full(len(u), 0.1), {}))
        estimate, _, parts, more = difference(groups, state, 0, 1)
        found.append(estimate)
        covered.append(abs(estimate - true) <= 1.96 * ((parts**2).sum() + more) ** 0.5)
    assert np.mean(found) == pytest.approx(true, abs=4 * np.std(found) / 20)
    assert np.mean(covered) >= 0.92


@pytest.mark.parametrize("carries", [(True, True), (True, False)])
def test_a_decision_is_right_and_asks_a_part(carries):
    right, asked = [], []
    for seed in range(12):
        groups, genuine, u = world(seed, carries=carries)
        ((contest,), thresholds, state, _) = played(groups, genuine, u, [Contest({0: 0.5, 1: 0.5}, (0, 1, 2))])
        means = np.mean([x.mean(0) for x in genuine], axis=0)
        right.append(means[contest.leader] >= means.max() - 0.02)
        asked.append((u <= thresholds.source).mean())
        assert standing(contest, Evidence(groups, state, len(u)), (0, 1, 2)).p_best.sum() == pytest.approx(1, abs=0.01)
    assert np.mean(right) >= 0.9
    assert np.mean(asked) < 0.7


def test_equal_systems_are_within_eps_of_each_other():
    groups, genuine, u = world(3, ahead=0.0, relations=1)
    same = [
        Compared(one.source, one.satisfied[:, [0, 0]], one.output[:, [0, 0]], one.proxy[:, :, :2]) for one in groups
    ]
    ((contest,), thresholds, _, rounds) = played(same, [x[:, [0, 0]] for x in genuine], u, [Contest({0: 1.0}, (0, 1))])
    assert (contest.ended, contest.live, rounds) == ("within", (0, 1), 1)
    assert (u <= thresholds.source).sum() == 0  # outputs that are the same tell nobody apart


def test_systems_that_share_no_group_are_never_told_apart():
    satisfied = np.array([[1, -1], [-1, 1]] * 20, np.int8)
    groups = Compared(np.arange(40), satisfied, np.zeros((40, 2), int), np.zeros((0, 40, 2)))
    ((contest,), *_) = played(
        [groups], [satisfied == 1], np.random.default_rng(0).random(40), [Contest({0: 1.0}, (0, 1))]
    )
    assert (contest.ended, contest.live) == ("all asked", (0, 1))


def reached(contests, thresholds, u, rounds):
    return [(one.ended, one.leader, one.live) for one in contests], int((u <= thresholds.source).sum()), rounds


def test_the_numbers_are_those_with_which_simulations_covered():
    """No oracle knows these; `benchmarks/rounds.py` says how often such intervals hold the truth."""
    groups, genuine, u = world(5, sources=400, carries=(True, False))
    one = [Contest({0: 0.5, 1: 0.5}, (0, 1, 2))]
    contests, thresholds, _, rounds = played(groups, genuine, u, one)
    assert reached(contests, thresholds, u, rounds) == ([("within", 0, (0, 1, 2))], 128, 10)
    assert [round(value, 4) for pair in contests[0].ahead.values() for value in pair] == [0.086, 0.0377, 0.0803, 0.0348]
    several = played(groups, genuine, u, [Contest({0: 1.0}, (0, 1, 2)), Contest({1: 1.0}, (0, 1))])
    assert reached(several[0], several[1], u, several[3]) == (
        [("within", 0, (0, 2)), ("within", 0, (0, 1))], 126, 8,
    )  # fmt: skip
    half = Thresholds(np.full(400, 0.3), {1: np.full(400, 0.2)})
    state = [answered_to(one, place, x, u, half) for place, (one, x) in enumerate(zip(groups, genuine, strict=True))]
    expected = forecast(one, Evidence(groups, state, 400), u, half, runs=5)
    assert (expected.low, expected.asked, expected.high) == (164, 217, 260)


@pytest.mark.parametrize(("clustered", "proxies"), STANDING)
def test_leads_and_standings_are_those_with_which_simulations_covered(clustered, proxies):
    groups, genuine, u = world(7, sources=120)
    rng, half = np.random.default_rng(1), Thresholds(np.full(120, 0.5), {})
    for one, x in zip(groups, genuine, strict=True):
        one.proxy = np.where(rng.random((proxies, *x.shape)) < 0.8, x, ~x).astype(float)
        one.satisfied[rng.random(x.shape) < 0.05] = -1
    state = [answered_to(one, place, x, u, half) for place, (one, x) in enumerate(zip(groups, genuine, strict=True))]
    evidence = Evidence(groups, state, 120, np.arange(120) // 4 if clustered else None)
    contest = Contest({0: 0.3, 1: 0.7}, (0, 1, 2))
    d, error, rest = lead(contest, evidence, 0, 1)
    stand = standing(contest, evidence, (0, 1, 2), delta=0.01)
    found = [d, (error**2).sum() ** 0.5, rest, *stand.score[:2], *stand.error[0, 1:]]
    assert found == pytest.approx(STANDING[clustered, proxies][:7], abs=1e-6)
    assert stand.p_best == pytest.approx(STANDING[clustered, proxies][7:], abs=0.02)


@pytest.mark.parametrize("number", [1, 3, 5, 20])
def test_few_texts_that_all_say_the_same_leave_a_doubt(number):
    """The chance is near that of a uniform prior, 1 - .5 ** (n + 1), and surely not 1."""
    outputs = np.tile([0, 1], (number, 1))
    relation = Compared(np.arange(number), np.ones((number, 2), np.int8), outputs, np.zeros((0, number, 2)))
    answered = Answered(np.ones((number, 2)), np.tile([1, 0], (number, 1)))
    evidence = Evidence([relation], [answered], number, np.arange(number))
    chance = standing(Contest({0: 1.0}, (0, 1)), evidence, (0, 1)).p_best[0]
    assert chance == pytest.approx(1 - 0.5 ** (number + 1), abs=0.06)
    assert (chance < 0.95) == (number <= 3)
