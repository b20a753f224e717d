"""Which system is best: paired differences from unequally drawn sources, and elimination while judging.

A contest is one decision: which of its live systems has the highest SR_g under a relation, or in the mean over several.
A round asks the sources that can tell live systems apart, in the order of u / worth; when all of it is answered or
given up, systems that are surely behind their contest's leader are dropped. Every answer counts in every contest, with
its inclusion probability (`audit.statistics.rates`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations

import numpy as np
from scipy.special import ndtr, ndtri, stdtrit

K, EPS = 2.5, 0.02
"""Standard errors beyond which a system is behind, of one rival; and the difference that does not matter."""
FIRST, GROW = 10, 0.25
"""A round goes so many sources further down a contest's list, or this share of those that it has."""
PRIOR, SPREAD = np.array([0.0, 0.5, -0.5]), np.array([1.0, 0.25, 0.25])
"""What a pseudo-answer says of the difference in each kind of group, and its variance before anything is known."""
PULL = 2.0
"""Pseudo-answers that pull the coefficient of a proxy to 0."""
TAIL = ndtr(-2.5)
"""The tail at which Student's quantile takes the place of the normal one."""
DRAWS = 4000
"""Draws that a probability rests on."""
SKILL = (6.0, 2.0)
"""Genuine and false satisfactions that a forecast takes for seen of every system, before any answer."""


@dataclass(frozen=True)
class Pair:
    """The groups that apply to two systems: `both`, their places; of those that tell the systems apart `at`, their
    places, `kind` (0 both satisfied, 1 only the first, 2 only the second) and `regressors` (kinds, then proxies), whose
    sums are `totals`."""

    both: np.ndarray
    at: np.ndarray
    kind: np.ndarray
    regressors: np.ndarray
    totals: np.ndarray

    @property
    def groups(self) -> int:
        """How many groups apply to both."""
        return len(self.both)


@dataclass
class Compared:
    """The groups of one relation, and what systems did with them: all that does not hang on answers.

    `source` (groups,) are places of sources. Of (groups, systems) are `satisfied`: 1, 0, or -1 where the relation does
    not apply, and `output`: equal codes, equal outputs. `proxy` (proxies, groups, systems) is what each proxy, such as
    a model that judges, takes genuine for.
    """

    source: np.ndarray
    satisfied: np.ndarray
    output: np.ndarray
    proxy: np.ndarray
    carries: bool = True
    """Whether the answer about a source settles its groups, whatever it is; else they need questions of their own."""
    questions: float = 1.0
    """How many questions settle a source's groups."""
    _pairs: dict[tuple[int, int], Pair] = field(default_factory=dict)

    def among(self, rows: np.ndarray) -> "Compared":
        """These groups (bool) alone."""
        return Compared(self.source[rows], self.satisfied[rows], self.output[rows], self.proxy[:, rows])

    def pair(self, a: int, b: int) -> Pair:
        """The groups that apply to both systems and can tell them apart."""
        if (a, b) not in self._pairs:
            own, other = self.satisfied[:, a], self.satisfied[:, b]
            both = (own >= 0) & (other >= 0)
            differ = (own != other) | ((own == 1) & (self.output[:, a] != self.output[:, b]))
            at = np.flatnonzero(both & differ)
            kind = np.where(own == other, 0, np.where(own == 1, 1, 2))[at]
            regressors = np.zeros((len(at), 3 + len(self.proxy)))
            regressors[np.arange(len(at)), kind] = 1
            regressors[:, 3:] = (self.proxy[:, at, a] - self.proxy[:, at, b]).T
            self._pairs[a, b] = Pair(np.flatnonzero(both), at, kind, regressors, regressors.sum(0))
        return self._pairs[a, b]

    def telling(self, live: Sequence[int]) -> np.ndarray:
        """Which groups (bool) can tell two of these systems apart."""
        satisfied = self.satisfied[:, list(live)]
        said = np.where(satisfied == 1, self.output[:, list(live)], -1)
        ends = np.iinfo(said.dtype)
        lowest = np.where(satisfied < 0, ends.max, said).min(1, initial=ends.max)
        highest = np.where(satisfied < 0, ends.min, said).max(1, initial=ends.min)
        return np.asarray((lowest < highest) & (highest >= 0))


@dataclass(frozen=True)
class Answered:
    """What answers made of a relation's groups, both (groups, systems): `q`, the inclusion probability (0: never to be
    asked so far), and `genuine`: 1, 0, or -1 where the group was not asked."""

    q: np.ndarray
    genuine: np.ndarray


def difference(
    groups: Compared, answered: Answered, a: int, b: int, cluster: np.ndarray | None = None
) -> tuple[float, np.ndarray, np.ndarray, float]:
    """Return SR_g of system a less that of b over their common groups; the sources of the answered groups that tell
    them apart, what each adds to the error, and what the variance has beyond the sum of their squares.

    With `cluster` (sources,), codes of documents, the difference is that of all texts like these, and what is added to
    the error comes from the documents of all common groups, instead of from sources.

    Difference (regression) estimator: the numbers of each kind and the sums of the proxies are known, so only residuals
    are estimated. The fit is weighted least squares with 1 / q, scaled to the known number of each kind, drawn to
    `PRIOR` by a pseudo-answer a kind and to 0 in the proxies (power tuning: Angelopoulos, Duchi and Zrnic 2023).
    Residuals have a pseudo-residual a kind, since proxies err where nobody has looked, and a kind of which nothing was
    asked counts whole.
    """
    pair = groups.pair(a, b)
    number = pair.groups
    # A group that one system alone satisfies needs only the answer about that one's outputs.
    needed = [answered.q[pair.at, a], answered.q[pair.at, b]]
    chance = np.choose(pair.kind, [np.minimum(*needed), *needed])
    x = np.where(groups.satisfied[pair.at][:, [a, b]] == 1, answered.genuine[pair.at][:, [a, b]], 0)
    keep = (x >= 0).all(1) & (chance > 0)
    kind, f, q, d = pair.kind[keep], pair.regressors[keep], chance[keep], (x[keep, 0] - x[keep, 1]).astype(float)
    more, count, kinds = f.shape[1] - 3, np.bincount(kind, minlength=3), pair.totals[:3]
    w = 1 / q
    w *= (kinds / np.maximum(np.bincount(kind, w, 3), 1e-12))[kind]
    scaled = w / w.mean() if len(w) else w
    prior, pull = np.concatenate([PRIOR, np.zeros(more)]), np.concatenate([np.ones(3), np.full(more, PULL)])
    fit = np.linalg.solve((f * scaled[:, None]).T @ f + np.diag(pull), f.T @ (scaled * d) + pull * prior)
    residual = d - f @ fit
    unseen = SPREAD * (1 + np.abs(fit[3:]).sum()) ** 2
    variance = (np.bincount(kind, residual**2, 3) + unseen) / np.maximum(count, 1)
    freedom = max(count.sum() - (count > 0).sum() - more, 1)
    widen = (stdtrit(freedom, TAIL) / ndtri(TAIL)) ** 2 * (1 + more / freedom)
    part = np.sqrt(1 - q) * w / number
    total = (variance * widen * np.bincount(kind, part**2, 3)).sum()
    total += (unseen * (kinds / number) ** 2)[count == 0].sum()
    estimate = float(pair.totals @ fit + (w * residual).sum()) / number
    more = max(float(total - ((part * residual) ** 2).sum()), 0.0)
    if cluster is None:
        return estimate, groups.source[pair.at[keep]], part * residual, more
    # Linearised over both stages: what a group adds to the estimate, whether it tells the systems apart or not.
    value = np.zeros(len(groups.source))
    value[pair.at] = pair.regressors @ fit
    value[pair.at[keep]] += w * residual
    codes = cluster[groups.source[pair.both]]
    clusters, place = np.unique(codes, return_inverse=True)
    part = (value[pair.both] - estimate) / number * np.sqrt(len(clusters) / max(len(clusters) - 1, 1))
    # Few documents that all say the same have no spread: one more that says the opposite is never ruled out.
    least = (2 * estimate / max(len(clusters), 1)) ** 2 - (np.bincount(place, part) ** 2).sum()
    return estimate, codes, part, max(more, float(least))


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


@dataclass(frozen=True)
class Evidence:
    """What contests go by: the groups of each relation, what answers made of them, and how many sources there are. With
    `cluster` (sources,), codes of documents, differences are those of all texts like these."""

    relations: Sequence[Compared]
    answered: Sequence[Answered]
    sources: int
    cluster: np.ndarray | None = None


def lead(contest: Contest, evidence: Evidence, a: int, b: int) -> tuple[float, np.ndarray, float]:
    """Return the mean over a contest's relations of SR_g of a less that of b, the errors (sources,) that its sources,
    or documents, add, which go together over relations, and the standard error beyond them."""
    weights, relations = contest.weights.items(), evidence.relations
    shared = {at: weight for at, weight in weights if weight and relations[at].pair(a, b).groups}
    # Systems that share no group cannot be told apart, nor said to be as good as each other.
    total, rest, error = 0.0, 0.0 if shared else np.inf, np.zeros(evidence.sources)
    for at, weight in shared.items():
        share = weight / sum(shared.values())
        d, source, part, more = difference(relations[at], evidence.answered[at], a, b, evidence.cluster)
        total += share * d
        np.add.at(error, source, share * part)
        rest += share * np.sqrt(more)
    return total, error, rest


def boundary(rivals: int, k: float = K) -> float:
    """Standard errors beyond which the leader is ahead of each of so many rivals: `k` for one, Bonferroni for more.

    >>> boundary(1), round(boundary(3), 2)
    (2.5, 2.87)
    """
    return float(-ndtri(ndtr(-k) / max(rivals, 1)))


def eliminate(contest: Contest, evidence: Evidence, eps: float = EPS, k: float = K) -> Contest:
    """Return an open contest after a round: without the systems that are behind, ended where nobody can be ahead of the
    leader by more than `eps`, or where its whole list was asked."""
    live, leader = list(contest.live), contest.leader if contest.leader in contest.live else contest.live[0]
    ahead: dict[int, tuple[float, float]] = {}
    for turn in range(len(live)):  # until nobody is ahead of the leader, or they go round in a ring
        for other in live:
            if other != leader:
                total, error, rest = lead(contest, evidence, leader, other)
                ahead[other] = total, float(np.sqrt((error**2).sum() + rest**2))
        better = min(ahead, key=lambda other: ahead[other][0], default=None)
        if better is None or ahead[better][0] >= 0 or turn == len(live) - 1:
            break
        leader, ahead = better, {}
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


@dataclass(frozen=True)
class Thresholds:
    """How far sources were asked, the largest threshold of each: `source` (sources,), the question about it, and by
    place of a relation whose groups need questions of their own, these (sources,)."""

    source: np.ndarray
    relation: Mapping[int, np.ndarray]

    def of(self, place: int, groups: Compared) -> np.ndarray:
        """The inclusion probability (groups,) of a relation's groups."""
        of_source = self.source if groups.carries else self.relation.get(place, np.zeros(len(self.source)))
        return np.asarray(of_source[groups.source])


def ask(
    contests: Sequence[Contest],
    relations: Sequence[Compared],
    u: np.ndarray,
    thresholds: Thresholds,
    first: int = FIRST,
    grow: float = GROW,
    most: int | None = None,
) -> tuple[list[Contest], Thresholds]:
    """Return the contests with their lists extended by a round, and the new thresholds.

    What can be asked is a source, for all relations that carry its answer, or a source with its groups under one other
    relation. Each is worth the number of open contests in which it can tell live systems apart (in a mean over
    relations, how much of it), over the questions that it takes. Every open contest goes `first` of them, or `grow` of
    those it has, further down its list, in the order of u / worth; less far where more than `most` sources would be
    new. What is asked for sure (q = 1) is in no list.
    """
    units = [-1, *(at for at, groups in enumerate(relations) if not groups.carries)]
    row = {unit: place for place, unit in enumerate(units)}
    q = np.stack([thresholds.source, *(thresholds.relation.get(unit, np.zeros(len(u))) for unit in units[1:])])
    cost, worth = np.array([1.0, *(relations[unit].questions for unit in units[1:])])[:, None], {}
    for place, contest in enumerate(contests):
        if contest.ended is None:
            own = np.zeros(q.shape)
            for at, weight in contest.weights.items():
                groups = relations[at]
                telling = groups.source[groups.telling(contest.live)]
                unit = row[-1 if groups.carries else at]
                np.add.at(own[unit], telling, weight / max(len(groups.source), 1) / cost[unit])
            worth[place] = own / max(own.max(), 1e-300)
    together, number = sum(worth.values(), np.zeros(q.shape)), np.broadcast_to(u, q.shape)
    scale = 1.0
    while True:
        extended, now = list(contests), q.copy()
        for place, own in worth.items():
            listed = (own > 0) & (q < 1)
            rank = number[listed] / together[listed]
            behind = np.sort(rank[rank > contests[place].until])
            step = max(int(scale * max(first, int(grow * (number[listed] <= q[listed]).sum()))), 1)
            until = (behind[step - 1] + behind[step]) / 2 if len(behind) > step else np.inf
            extended[place] = replace(contests[place], until=float(until))
            now[listed] = np.maximum(now[listed], np.minimum(1.0, until * together[listed]))
        # Whoever is asked about a source's groups under one relation is asked about the source.
        reached = Thresholds(now.max(0), {unit: now[place] for unit, place in row.items() if unit >= 0})
        if most is None or scale < 0.01 or ((u <= reached.source) & (u > thresholds.source)).sum() <= most:
            return extended, reached
        scale /= 2


@dataclass(frozen=True)
class Standing:
    """How systems stand in a contest: `ahead` (systems, systems) is SR_g of the row less that of the column, `error`
    its standard error (NaN where they share no group); `score` (systems,) is what of these leads fits best, from 0 on
    average; `p_best` is the probability that none is better by more than delta."""

    ahead: np.ndarray
    error: np.ndarray
    score: np.ndarray
    p_best: np.ndarray


def standing(
    contest: Contest, evidence: Evidence, systems: Sequence[int], delta: float = 0.0, seed: int = 0
) -> Standing:
    """Return how these systems (columns of the relations) stand.

    Probabilities come from normal draws of the leads over the system with the highest score, whose errors go together
    as those of their sources do. They are NaN where two systems share no group.
    """
    number = len(systems)
    ahead, error = np.zeros((number, number)), np.zeros((number, number))
    parts: dict[tuple[int, int], tuple[np.ndarray, float]] = {}
    for a, b in combinations(range(number), 2):
        d, own, rest = lead(contest, evidence, systems[a], systems[b])
        parts[a, b] = own, rest
        value, spread = (np.nan, np.nan) if np.isinf(rest) else (d, float(np.sqrt((own**2).sum() + rest**2)))
        ahead[a, b], ahead[b, a], error[a, b], error[b, a] = value, -value, spread, spread
    score = np.nan_to_num(ahead).sum(1) / np.maximum((~np.isnan(ahead)).sum(1), 1)
    if np.isnan(ahead).any():
        return Standing(ahead, error, score, np.full(number, np.nan))
    best = int(np.argmax(score))
    leads, rests, errors = np.zeros(number), np.zeros(number), np.zeros((evidence.sources, number))
    for other in range(number):
        if other != best:
            own, rests[other] = parts[min(best, other), max(best, other)]
            errors[:, other] = own if other < best else -own
            leads[other] = ahead[other, best]
    values, vectors = np.linalg.eigh(errors.T @ errors + np.diag(rests**2))
    noise = np.random.default_rng(seed).standard_normal((DRAWS, number))
    drawn = leads + noise @ (vectors * np.sqrt(np.clip(values, 0, None))).T
    return Standing(ahead, error, score, np.asarray((drawn >= drawn.max(1, keepdims=True) - delta - 1e-12).mean(0)))


# How many questions a decision will likely take.


@dataclass(frozen=True)
class Forecast:
    """Sources asked in all when the contests have ended: the median of imagined runs, and what 9 of 10 keep within."""

    asked: int
    low: int
    high: int


def forecast(
    contests: Sequence[Contest],
    evidence: Evidence,
    u: np.ndarray,
    thresholds: Thresholds,
    eps: float = EPS,
    runs: int = 20,
    seed: int = 0,
) -> Forecast:
    """Return how many sources are asked until every contest has ended, by going on with imagined answers.

    How often each system is right is drawn anew for each run from what was answered (without answers, about 3 times in
    4), and which output of a source is right from how often the systems that gave it are. The same draw serves all
    relations of a source.
    """
    rng, numbers, relations = np.random.default_rng(seed), [], evidence.relations
    for _ in range(runs):
        right, chosen = _skills(evidence, rng), rng.random(len(u))
        imagined = [_imagined(*pair, right, chosen) for pair in zip(relations, evidence.answered, strict=True)]
        later = np.where(u <= thresholds.source, u, rng.uniform(thresholds.source, 1))
        now, reach = list(contests), thresholds
        while any(contest.ended is None for contest in now):
            now, reach = ask(now, relations, later, reach, grow=2 * GROW)
            state = [
                answered_to(groups, place, x, later, reach)
                for place, (groups, x) in enumerate(zip(relations, imagined, strict=True))
            ]
            now = [
                open_contest if open_contest.ended else eliminate(open_contest, replace(evidence, answered=state), eps)
                for open_contest in now
            ]
        numbers.append(int((later <= reach.source).sum()))
    low, middle, high = np.quantile(numbers, [0.05, 0.5, 0.95])
    return Forecast(int(middle), int(low), int(high))


def answered_to(groups: Compared, place: int, genuine: np.ndarray, u: np.ndarray, thresholds: Thresholds) -> Answered:
    """What is known of a relation's groups (`genuine`, as if all were asked) once sources were asked so far."""
    q = thresholds.of(place, groups)
    answered = u[groups.source] <= q
    return Answered(q[:, None].repeat(genuine.shape[1], 1), np.where(answered[:, None], genuine, -1))


def _skills(evidence: Evidence, rng: np.random.Generator) -> np.ndarray:
    """How often each system's satisfaction is genuine (systems,): drawn from answered groups, a source worth one."""
    hits, total, sources = 0.0, 0.0, np.zeros(evidence.sources, bool)
    for groups, state in zip(evidence.relations, evidence.answered, strict=True):
        answered = (groups.satisfied == 1) & (state.genuine >= 0)
        hits, total = hits + (answered & (state.genuine == 1)).sum(0), total + answered.sum(0)
        sources[groups.source[answered.any(1)]] = True
    share = np.minimum(1.0, sources.sum() / np.maximum(total, 1))
    return np.asarray(rng.beta(SKILL[0] + share * hits, SKILL[1] + share * (total - hits)))


def _imagined(groups: Compared, state: Answered, right: np.ndarray, chosen: np.ndarray) -> np.ndarray:
    """`genuine` with what was not asked as the drawn skills have it; `chosen` (sources,) says which output is right."""
    same = groups.output[:, :, None] == groups.output[:, None, :]
    odds = np.where(same, right, 1 - right).prod(2) / same.sum(2)
    edges = np.cumsum(odds, 1) / (odds.sum(1) + 0.1 * odds.max(1))[:, None]
    best = (chosen[groups.source][:, None] > edges).sum(1)
    place, none_right = np.minimum(best, odds.shape[1] - 1), best == odds.shape[1]
    imagined = (groups.satisfied == 1) & same[np.arange(len(odds)), place] & ~none_right[:, None]
    return np.where(state.genuine >= 0, state.genuine, imagined)
