"""Which system is best: paired differences from unequally drawn sources, and elimination while judging.

A contest is one decision: which of its live systems has the highest SR_g under a relation, or in the mean over several.
A round asks the sources that can tell live systems apart, in the order of u / worth; when all of it is answered or
given up, systems that are surely behind their contest's leader are dropped. Every answer counts in every contest, with
its source's inclusion probability (`audit.statistics.weighted`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from scipy.stats import norm
from scipy.stats import t as student

K, EPS = 2.5, 0.02
"""Standard errors beyond which a system is behind, of one rival; and the difference that does not matter."""
FIRST, GROW = 10, 0.25
"""A round goes so many sources further down a contest's list, or this share of those that it has."""
PRIOR, SPREAD = np.array([0.0, 0.5, -0.5]), np.array([1.0, 0.25, 0.25])
"""What a pseudo-answer says of the difference in each type of group, and its variance before anything is known."""
PULL = 2.0
"""Pseudo-answers that pull the coefficient of a proxy to 0."""
TAIL = norm.sf(2.5)
"""The tail at which Student's quantile takes the place of the normal one."""


@dataclass
class Compared:
    """The groups of one relation: arrays over groups, or (groups, systems).

    `source` are places of sources, `satisfied` is 1, 0, or -1 where the relation does not apply to the system's group,
    `output` codes of outputs (equal: the same), `proxy` (proxies, groups, systems) what each proxy takes genuine for.
    """

    source: np.ndarray
    satisfied: np.ndarray
    output: np.ndarray
    proxy: np.ndarray
    _pairs: dict[tuple[int, int], "Pair"] = field(default_factory=dict)

    def pair(self, a: int, b: int) -> "Pair":
        """The groups that apply to both systems and can tell them apart."""
        if (a, b) not in self._pairs:
            one, other = self.satisfied[:, a], self.satisfied[:, b]
            both = (one >= 0) & (other >= 0)
            differ = (one != other) | ((one == 1) & (self.output[:, a] != self.output[:, b]))
            at = np.flatnonzero(both & differ)
            kind = np.where(one == other, 0, np.where(one == 1, 1, 2))[at]
            regressors = np.zeros((len(at), 3 + len(self.proxy)))
            regressors[np.arange(len(at)), kind] = 1
            regressors[:, 3:] = (self.proxy[:, at, a] - self.proxy[:, at, b]).T
            self._pairs[a, b] = Pair(at, kind, regressors, regressors.sum(0), int(both.sum()))
        return self._pairs[a, b]

    def telling(self, live: Sequence[int]) -> np.ndarray:
        """Which groups (bool) can tell two of these systems apart."""
        satisfied = self.satisfied[:, list(live)]
        output = np.where(satisfied == 1, self.output[:, list(live)], -1 - satisfied)
        low = np.where(satisfied < 0, np.iinfo(int).max, output).min(1)
        high = np.where(satisfied < 0, np.iinfo(int).min, output).max(1)
        return np.asarray((low < high) & (high >= 0))


@dataclass(frozen=True)
class Pair:
    """The groups that tell two systems apart: their places, kinds (both satisfied, only the first, only the second),
    regressors (kinds, then proxies), the regressors' sums, and how many groups apply to both."""

    at: np.ndarray
    kind: np.ndarray
    regressors: np.ndarray
    totals: np.ndarray
    groups: int


def difference(
    groups: Compared, a: int, b: int, q: np.ndarray, asked: np.ndarray, genuine: np.ndarray
) -> tuple[float, np.ndarray, np.ndarray, float]:
    """Return SR_g of system a less that of b over their common groups; the sources of the answered groups that tell
    them apart, what each adds to the error, and what the variance has beyond the sum of their squares.

    Difference (regression) estimator: the numbers of each kind and the sums of the proxies are known, so only residuals
    are estimated. The fit is weighted least squares with 1 / q, scaled to the known number of each kind, drawn to
    `PRIOR` by a pseudo-answer a kind and to 0 in the proxies (power tuning: Angelopoulos, Duchi and Zrnic 2023).
    """
    pair = groups.pair(a, b)
    keep = asked[groups.source[pair.at]]
    at, kind, f = pair.at[keep], pair.kind[keep], pair.regressors[keep]
    source, more = groups.source[at], f.shape[1] - 3
    d = genuine[at, a].astype(float) - genuine[at, b]
    count, kinds = np.bincount(kind, minlength=3), pair.totals[:3]
    w = 1 / q[source]
    w *= (kinds / np.maximum(np.bincount(kind, w, 3), 1e-12))[kind]
    scaled = w / w.mean() if len(w) else w
    prior, pull = np.concatenate([PRIOR, np.zeros(more)]), np.concatenate([np.ones(3), np.full(more, PULL)])
    fit = np.linalg.solve((f * scaled[:, None]).T @ f + np.diag(pull), f.T @ (scaled * d) + pull * prior)
    residual = d - f @ fit
    unseen = SPREAD * (1 + np.abs(fit[3:]).sum()) ** 2
    variance = (np.bincount(kind, residual**2, 3) + unseen) / np.maximum(count, 1)
    freedom = max(count.sum() - (count > 0).sum() - more, 1)
    widen = (student.isf(TAIL, freedom) / norm.isf(TAIL)) ** 2 * (1 + more / freedom)
    part = np.sqrt(1 - q[source]) * w / pair.groups
    total = (variance * widen * np.bincount(kind, part**2, 3)).sum()
    total += (unseen * (kinds / pair.groups) ** 2)[count == 0].sum()
    return (
        float(pair.totals @ fit + (w * residual).sum()) / pair.groups,
        source,
        part * residual,
        float(total - ((part * residual) ** 2).sum()),
    )


@dataclass(frozen=True)
class Contest:
    """One decision and how far it is: `weights` of its relations (places -> share), the systems that are not behind,
    the leader, how far its list was asked (a threshold of u / worth), and how it ended."""

    weights: Mapping[int, float]
    live: tuple[int, ...]
    leader: int | None = None
    until: float = 0.0
    ended: str | None = None
    """`best`: all others were dropped; `within`: nobody is ahead by more than eps; `all asked`."""
    ahead: Mapping[int, tuple[float, float]] = field(default_factory=dict)
    """The leader's lead over each live system, and its standard error."""


def lead(
    contest: Contest, relations: Sequence[Compared], genuine: Sequence[np.ndarray], a: int, b: int, q: np.ndarray,
    asked: np.ndarray,
) -> tuple[float, float]:
    """Mean over a contest's relations of SR_g of a less that of b, and its standard error: the errors of a source go
    together. `genuine` has x (groups, systems) for each relation, valid where the source was `asked`."""
    total, error, rest = _lead(contest, relations, genuine, a, b, q, asked)
    return total, float(np.sqrt((error**2).sum() + rest**2))


def _lead(
    contest: Contest, relations: Sequence[Compared], genuine: Sequence[np.ndarray], a: int, b: int, q: np.ndarray,
    asked: np.ndarray,
) -> tuple[float, np.ndarray, float]:
    shared = {at: weight for at, weight in contest.weights.items() if relations[at].pair(a, b).groups}
    total, rest, error = 0.0, 0.0, np.zeros(len(q))
    for at, weight in shared.items():
        share = weight / sum(shared.values())
        d, source, part, more = difference(relations[at], a, b, q, asked, genuine[at])
        total += share * d
        np.add.at(error, source, share * part)
        rest += share * np.sqrt(max(more, 0.0))
    return total, error, rest


def boundary(rivals: int, k: float = K) -> float:
    """Standard errors beyond which the leader is ahead of each of so many rivals: `k` for one, Bonferroni for more."""
    return float(norm.isf(norm.sf(k) / max(rivals, 1)))


def ask(
    contests: Sequence[Contest], relations: Sequence[Compared], u: np.ndarray, q: np.ndarray,
    first: int = FIRST, grow: float = GROW,
) -> tuple[list[Contest], np.ndarray]:
    """Return the contests with their lists extended by a round, and the new q (sources,): the largest thresholds.

    Every open contest goes `first` sources, or `grow` of those it has, further down its list, in the order of u / worth.
    A source's worth is the number of open contests in which it can tell live systems apart (in a mean over relations,
    how much of it).
    """
    q, worth = q.copy(), {}
    for place, contest in enumerate(contests):
        if contest.ended is None:
            worth[place] = np.zeros(len(u))
            for at, weight in contest.weights.items():
                groups = relations[at]
                telling = groups.source[groups.telling(contest.live)]
                np.add.at(worth[place], telling, weight / max(len(groups.source), 1))
            worth[place] /= max(worth[place].max(), 1e-300)
    together, extended = sum(worth.values(), np.zeros(len(u))), list(contests)
    for place, own in worth.items():
        listed = np.flatnonzero(own)
        rank = u[listed] / together[listed]
        ahead = np.sort(rank[rank > contests[place].until])
        step = max(first, int(grow * (u[listed] <= q[listed]).sum()))
        until = (ahead[step - 1] + ahead[step]) / 2 if len(ahead) > step else np.inf
        extended[place] = replace(contests[place], until=float(until))
        q[listed] = np.maximum(q[listed], np.minimum(1.0, until * together[listed]))
    return extended, q


def eliminate(
    contest: Contest, relations: Sequence[Compared], genuine: Sequence[np.ndarray], q: np.ndarray, asked: np.ndarray,
    eps: float = EPS, k: float = K,
) -> Contest:
    """Return an open contest after a round: without the systems that are behind, ended where nobody can be ahead of the
    leader by more than `eps`, or where its whole list was asked."""
    live, leader = list(contest.live), contest.leader if contest.leader in contest.live else contest.live[0]
    ahead: dict[int, tuple[float, float]] = {}
    for turn in range(len(live)):  # until nobody is ahead of the leader, or they go round in a ring
        ahead = {other: lead(contest, relations, genuine, leader, other, q, asked) for other in live if other != leader}
        better = min(ahead, key=lambda other: ahead[other][0], default=None)
        if better is None or ahead[better][0] >= 0 or turn == len(live) - 1:
            break
        leader = better
    limit = boundary(len(ahead), k)
    live = [system for system in live if system == leader or ahead[system][0] <= limit * ahead[system][1]]
    limit = boundary(len(live) - 1, k)
    ended = None
    if live == [leader]:
        ended = "best"
    elif all(ahead[system][0] - limit * ahead[system][1] > -eps for system in live if system != leader):
        ended = "within"
    elif np.isinf(contest.until):
        ended = "all asked"
    return replace(contest, live=tuple(live), leader=leader, ended=ended, ahead=ahead)


def p_best(
    contest: Contest, relations: Sequence[Compared], genuine: Sequence[np.ndarray], q: np.ndarray, asked: np.ndarray,
    systems: Sequence[int], draws: int = 4000, seed: int = 0,
) -> np.ndarray:
    """Return the probability (systems,) of each that none is better, by normal draws of the leads over the first.

    The errors of leads go together as their sources' errors do.
    """
    first, others = systems[0], list(systems[1:])
    leads, errors, rest = np.zeros(len(systems)), np.zeros((len(q), len(systems))), np.zeros(len(systems))
    for place, other in enumerate(others, 1):
        total, error, beyond = _lead(contest, relations, genuine, first, other, q, asked)
        leads[place], errors[:, place], rest[place] = -total, -error, beyond
    covariance = errors.T @ errors + np.diag(rest**2)
    values, vectors = np.linalg.eigh(covariance)
    noise = np.random.default_rng(seed).standard_normal((draws, len(systems)))
    drawn = leads + noise @ (vectors * np.sqrt(np.clip(values, 0, None))).T
    return np.asarray((drawn >= drawn.max(1, keepdims=True) - 1e-12).mean(0))


@dataclass(frozen=True)
class Forecast:
    """How many sources a decision will likely take in all: the median, and the range that 9 of 10 runs keep within."""

    asked: int
    low: int
    high: int


def forecast(
    contests: Sequence[Contest], relations: Sequence[Compared], genuine: Sequence[np.ndarray], u: np.ndarray,
    q: np.ndarray, eps: float = EPS, k: float = K, runs: int = 20, seed: int = 0,
) -> Forecast:
    """Return how many sources are asked until every contest has ended, by going on with imagined answers.

    How often each system is right is drawn anew for each run from what was answered (without answers, about 3 times in
    4), and which output of a source is right from how often the systems that gave it are. The same draw serves all
    relations of a source.
    """
    rng, asked = np.random.default_rng(seed), u <= q
    numbers = []
    for _ in range(runs):
        right, source_draw = _skills(relations, genuine, asked, rng), rng.random(len(u))
        imagined = [
            _imagined(groups, x, asked, right, source_draw) for groups, x in zip(relations, genuine, strict=True)
        ]
        now, reach, later = list(contests), q, np.where(asked, u, rng.uniform(q, 1))
        while any(contest.ended is None for contest in now):
            now, reach = ask(now, relations, later, reach)
            there = later <= reach
            now = [c if c.ended else eliminate(c, relations, imagined, reach, there, eps, k) for c in now]
        numbers.append(int((later <= reach).sum()))
    low, middle, high = np.quantile(numbers, [0.05, 0.5, 0.95])
    return Forecast(int(middle), int(low), int(high))


def _skills(
    relations: Sequence[Compared], genuine: Sequence[np.ndarray], asked: np.ndarray, rng: np.random.Generator
) -> np.ndarray:
    """How often each system's satisfaction is genuine (systems,): drawn from the answered groups, a source worth one."""
    hits, total = np.zeros((2, relations[0].satisfied.shape[1]))
    for groups, x in zip(relations, genuine, strict=True):
        satisfied = (groups.satisfied == 1) & asked[groups.source][:, None]
        hits, total = hits + (satisfied * x).sum(0), total + satisfied.sum(0)
    share = np.minimum(1.0, asked.sum() / np.maximum(total, 1))
    return rng.beta(6 + share * hits, 2 + share * (total - hits))


def _imagined(
    groups: Compared, genuine: np.ndarray, asked: np.ndarray, right: np.ndarray, source_draw: np.ndarray
) -> np.ndarray:
    """`genuine`, with the groups of sources that were not asked as the drawn skills have them."""
    output = groups.output
    same = output[:, :, None] == output[:, None, :]
    odds = np.where(same, right, 1 - right).prod(2) / same.sum(2)  # of each system's output: that it is the right one
    edges = np.cumsum(odds, 1) / (odds.sum(1) + 0.1 * odds.max(1))[:, None]
    chosen = (source_draw[groups.source][:, None] > edges).sum(1)
    place = np.minimum(chosen, output.shape[1] - 1)
    imagined = (groups.satisfied == 1) & same[np.arange(len(output)), place] & (chosen < output.shape[1])[:, None]
    return np.where(asked[groups.source][:, None], genuine, imagined)
