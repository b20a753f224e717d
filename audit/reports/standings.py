"""How systems stand to each other in a report: under each relation, over all, and by a user's weights.

Leads are paired: over the groups that apply to both systems, from the answers about those that tell them apart
(`audit.statistics.contests`). A system is better than another by what its SR_g is higher.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from scipy.stats import norm

from audit.false_satisfaction.accuracy import RightOutputs, SystemAccuracy
from audit.messages import message
from audit.relations.registry import name_order
from audit.reports.accuracy import accuracy_interval
from audit.reports.document import (
    CellEntry,
    DecisionAccuracy,
    DecisionEntry,
    Move,
    OvertakingEntry,
    PairEntry,
    PreferenceEntry,
    PreferredSystem,
    PrimaryEntry,
    RelationResultEntry,
    ReportDocument,
    State,
    WeightedRanking,
    plain,
)
from audit.reports.preference import Weights
from audit.statistics.contests import DRAWS, Answered, Compared, Contest, Standing, lead, standing
from audit.statistics.intervals import Target
from audit.statistics.orders import TIED, best_of, holm, smallest_move
from audit.statistics.rates import weighted_mean
from audit.studies.deviations import primary_named
from audit.studies.versions import PlanAdherence

if TYPE_CHECKING:
    from audit.reports.build import Basis

SURE, LIKELY, OUT = 0.95, 0.8, 0.01
"""Probability that no system is better, from which the best one is called sure, and likely; and below which one is
out."""
WITHOUT_COUNTS = message("no_order.without_counts")


@dataclass(frozen=True)
class Comparisons:
    """What a study's systems are compared by, by the names of its relations: their groups, and what is answered.

    `open` (groups, systems) are the groups that were given up. `systems` are the names of the columns, `cluster`
    (sources,) codes of documents.
    """

    groups: Mapping[str, Compared]
    answered: Mapping[str, Answered]
    open: Mapping[str, np.ndarray]
    systems: tuple[str, ...]
    cluster: np.ndarray

    def among(self, keep: np.ndarray) -> Comparisons:
        """The same over the groups of these sources (bool) alone."""
        rows = {name: keep[groups.source] for name, groups in self.groups.items()}
        return replace(
            self,
            groups={
                name: Compared(groups.source[at], groups.satisfied[at], groups.output[at], groups.proxy[:, at])
                for (name, groups), at in zip(self.groups.items(), rows.values(), strict=True)
            },
            answered={
                name: Answered(one.q[rows[name]], one.genuine[rows[name]]) for name, one in self.answered.items()
            },
            open={name: one[rows[name]] for name, one in self.open.items()},
        )

    def contest(self, weights: Mapping[str, float]) -> Contest:
        """The contest over relations with these weights."""
        place = {name: at for at, name in enumerate(self.groups)}
        columns = tuple(range(len(self.systems)))
        return Contest({place[name]: share for name, share in weights.items() if name in place}, columns)

    def standing(
        self, weights: Mapping[str, float], systems: Sequence[str], target: Target, delta: float, seed: int = 0
    ) -> Standing:
        """How these systems stand in the mean over relations with these weights."""
        columns = [self.systems.index(system) for system in systems]
        groups, answered = list(self.groups.values()), list(self.answered.values())
        size = max(len(self.cluster), int(self.cluster.max(initial=-1)) + 1)
        cluster = self.cluster if target == "population" else None
        return standing(self.contest(weights), groups, answered, columns, size, cluster, delta, seed=seed)

    def bounds(
        self, weights: Mapping[str, float], system: str, other: str, target: Target, z: float
    ) -> tuple[float, float]:
        """The least and the most that SR_g of one less that of the other may be where groups are open, with the outer
        ends of the intervals of both."""
        a, b = self.systems.index(system), self.systems.index(other)
        groups, ends = list(self.groups.values()), []
        size = max(len(self.cluster), int(self.cluster.max(initial=-1)) + 1)
        for sign in (-1, 1):
            answered = []
            for name, one in self.answered.items():
                genuine = one.genuine.copy()
                genuine[self.open[name][:, a], a] = sign > 0
                genuine[self.open[name][:, b], b] = sign < 0
                answered.append(Answered(one.q, genuine))
            cluster = self.cluster if target == "population" else None
            d, error, rest = lead(self.contest(weights), groups, answered, a, b, size, cluster)
            ends.append(d + sign * z * math.sqrt(float((error**2).sum()) + rest**2))
        return max(ends[0], -1.0), min(ends[1], 1.0)


@dataclass
class _Cells:
    """The cells of one relation, or of several, by system."""

    entries: list[CellEntry] = field(default_factory=list)

    def rate(self, name: str) -> dict[str, float]:
        """The systems whose rate is known."""
        return {cell["system"]: cell[name] for cell in self.entries if cell[name] is not None}  # type: ignore[literal-required]


# Under each relation.


def relation_entries(
    cells: pd.DataFrame, entries: Sequence[CellEntry], comparisons: Mapping[Any, Comparisons], basis: Basis
) -> list[RelationResultEntry]:
    """Return the systems under each relation before and after the correction; `decide` says what is sure."""
    by_relation: dict[tuple[str, Any, str], list[CellEntry]] = {}
    for cell in entries:
        by_relation.setdefault((cell["task"], cell["study"], cell["relation"]), []).append(cell)
    results = []
    for seed, ((task, study, relation), own) in enumerate(by_relation.items()):
        comparison = comparisons.get(study)
        results.append(_relation(task, study, relation, own, comparison, basis, seed))
    return results


def _relation(
    task: str,
    study: Any,
    relation: str,
    cells: list[CellEntry],
    comparison: Comparisons | None,
    basis: Basis,
    seed: int,
) -> RelationResultEntry:
    own = _Cells(cells)
    observed, genuine = own.rate("sr_observed"), own.rate("sr_genuine")
    names = [system for system in genuine if system in observed]
    stand = _standing(comparison, {relation: 1.0}, names, {relation: own}, basis, seed)
    groups = None if comparison is None else comparison.groups.get(relation)
    before = _observed_scores(comparison, relation, observed) if groups is not None else observed
    after = genuine
    if stand is not None and not np.isnan(stand.ahead).any():
        after = dict(zip(names, stand.score.tolist(), strict=True))
    best_before, best_after = best_of(before), best_of(after)
    # A system without a genuine rate yet may still reach its observed one.
    top = max(genuine.values(), default=0.0)
    if any(observed[system] >= top - TIED for system in set(observed) - set(genuine)):
        best_after = []
    return {
        "task": task,
        "study": study,
        "corpus": cells[0]["corpus"],
        "relation": relation,
        "order_observed": _order(before),
        "order_genuine": _order(after),
        "best_observed": best_before,
        "best_genuine": best_after,
        "order_changes": _differ(before, after),
        "best_changes": bool(best_after) and not set(best_before) & set(best_after),
        "best_own": best_of(genuine) if set(genuine) >= set(observed) and genuine else None,
        "common": _common(comparison, relation, names, len(observed)),
        "overtaking": [],
        "ranking": _ranked(cells, names, stand, basis),
        "pairs": _pairs(comparison, {relation: 1.0}, names, stand, basis),
        "best_changes_sure": False,
        "best_sure": False,
    }


def _standing(
    comparison: Comparisons | None,
    weights: Mapping[str, float],
    systems: Sequence[str],
    cells: Mapping[str, _Cells],
    basis: Basis,
    seed: int = 0,
) -> Standing | None:
    """How systems stand, all of which have an estimate under each relation; None where that cannot be known."""
    if len(systems) < 2:
        return None
    if comparison is not None:
        return comparison.standing(weights, systems, basis.target, basis.delta, seed)
    # Of totals nobody knows which groups share a text: the rates count as independent.
    score, error = np.zeros(len(systems)), np.zeros(len(systems))
    z = float(norm.isf((1 - basis.confidence) / 2))
    for relation, share in weights.items():
        by_system = {cell["system"]: cell for cell in cells[relation].entries}
        for at, system in enumerate(systems):
            cell = by_system[system]
            if cell["sr_genuine"] is None or cell["sr_genuine_low"] is None or cell["sr_genuine_high"] is None:
                return None
            score[at] += share * cell["sr_genuine"]
            error[at] = math.hypot(error[at], share * (cell["sr_genuine_high"] - cell["sr_genuine_low"]) / 2 / z)
    drawn = score + np.random.default_rng(seed).standard_normal((DRAWS, len(systems))) * error
    p_best = (drawn >= drawn.max(1, keepdims=True) - basis.delta - 1e-12).mean(0)
    ahead = score[:, None] - score
    return Standing(ahead, np.hypot(error[:, None], error), score - score.mean(), p_best)


def _observed_scores(comparison: Comparisons | None, relation: str, observed: Mapping[str, float]) -> dict[str, float]:
    """The observed rates as pairs of systems compare them, over the groups that apply to both: where all apply to the
    same groups, the rates themselves."""
    if comparison is None or len(observed) < 2:
        return dict(observed)
    names = list(observed)
    satisfied = comparison.groups[relation].satisfied[:, [comparison.systems.index(name) for name in names]]
    applies = satisfied >= 0
    if applies.all(1).sum() == applies.any(1).sum():
        return dict(observed)
    score = np.zeros(len(names))
    for a, b in combinations(range(len(names)), 2):
        both = applies[:, a] & applies[:, b]
        d = float((satisfied[both, a].astype(float) - satisfied[both, b]).mean()) if both.any() else 0.0
        score[a], score[b] = score[a] + d / len(names), score[b] - d / len(names)
    return dict(zip(names, score.tolist(), strict=True))


def _order(rates: Mapping[str, float]) -> list[str]:
    # Rounding first lets tied systems fall back on their names.
    return sorted(rates, key=lambda system: (-round(rates[system], 12), system))


def _differ(before: Mapping[str, float], after: Mapping[str, float]) -> bool:
    """Whether two systems that both orders have compare differently."""

    def sign(difference: float) -> int:
        return 0 if abs(difference) <= TIED else 1 if difference > 0 else -1

    both = sorted(set(before) & set(after))
    return any(sign(before[a] - before[b]) != sign(after[a] - after[b]) for a, b in combinations(both, 2))


def _common(comparison: Comparisons | None, relation: str, names: Sequence[str], observed: int) -> Any:
    """How many groups the comparison is over: that apply to all of these systems, and the most that two share; of the
    former how many tell systems apart, and how many of these are answered."""
    if comparison is None or relation not in comparison.groups:
        return None
    reason = None
    if len(names) < 2:
        reason = message("no_order.one_not_judged") if observed > 1 else None
        return {"groups": 0, "most_groups": 0, "deciding": 0, "judged": 0, "reason": reason}
    groups, answered = comparison.groups[relation], comparison.answered[relation]
    columns = [comparison.systems.index(name) for name in names]
    applies = groups.satisfied[:, columns] >= 0
    telling = groups.telling(columns)
    shared = [int((applies[:, a] & applies[:, b]).sum()) for a, b in combinations(range(len(columns)), 2)]
    known = (answered.genuine[:, columns] >= 0) | (groups.satisfied[:, columns] != 1)
    asked = (answered.q[:, columns] > 0).any(1)
    if not min(shared):
        reason = message("no_order.not_all_share")
    return {
        "groups": int(applies.all(1).sum()),
        "most_groups": max(shared),
        "deciding": int(telling.sum()),
        "judged": int((telling & asked & known.all(1)).sum()),
        "reason": reason,
    }


def _ranked(cells: Sequence[CellEntry], names: Sequence[str], stand: Standing | None, basis: Basis) -> list[Any]:
    """The `ranking` of one relation's cells, by their own rates."""
    ranks = _rank_ends(stand, basis)
    ranking = []
    for cell in cells:
        entry: dict[str, Any] = {"system": cell["system"], "sr_observed": cell["sr_observed"]}
        entry |= {"sr_genuine": cell["sr_genuine"], "p_best": None, "rank_low": None, "rank_high": None, "reason": None}
        if cell["system"] in names and stand is not None and not np.isnan(stand.p_best).any():
            at = names.index(cell["system"])
            entry |= {"p_best": float(stand.p_best[at]), "rank_low": ranks[at][0], "rank_high": ranks[at][1]}
        elif cell["system"] not in names:
            entry["reason"] = message("no_rate.nothing_checked" if cell["sr_observed"] is None else "no_rate.unjudged")
        elif stand is None:
            entry["reason"] = WITHOUT_COUNTS if len(names) > 1 else None
        else:
            entry["reason"] = message("no_order.not_all_share")
        ranking.append(entry)
    return ranking


def _rank_ends(stand: Standing | None, basis: Basis) -> list[tuple[int, int]]:
    """The ranks that each system may have: by leads that hold for all pairs at once (Bonferroni)."""
    if stand is None:
        return []
    number = len(stand.score)
    z = float(norm.isf((1 - basis.confidence) / number / max(number - 1, 1)))
    ahead = np.nan_to_num(stand.ahead) - z * np.nan_to_num(stand.error, nan=np.inf) > basis.delta + TIED
    return [(1 + int(ahead[:, at].sum()), number - int(ahead[at].sum())) for at in range(number)]


def _pairs(
    comparison: Comparisons | None,
    weights: Mapping[str, float],
    names: Sequence[str],
    stand: Standing | None,
    basis: Basis,
) -> list[PairEntry]:
    """SR_g of each system less that of each other one, of those that have an estimate."""
    if stand is None:
        return []
    return [
        pair_entry(comparison, weights, (names[a], names[b]), stand.ahead[a, b], stand.error[a, b], basis)
        for a, b in combinations(range(len(names)), 2)
    ]


def pair_entry(
    comparison: Comparisons | None,
    weights: Mapping[str, float],
    systems: tuple[str, str],
    ahead: float,
    error: float,
    basis: Basis,
) -> PairEntry:
    """Return the difference of two systems with its interval and tests.

    `p` is that of a difference of at most delta, either way; without error there is no test. Where groups are open the
    ends are those of what is possible, and there is no difference.
    """
    z = float(norm.isf((1 - basis.confidence) / 2))
    entry: PairEntry = {
        "system": systems[0],
        "other": systems[1],
        "difference": plain(float(ahead)),
        **dict.fromkeys(("low", "high", "p", "p_above", "p_below", "p_holm")),  # type: ignore[typeddict-item]
        "apart": False,
        **pair_sizes(comparison, weights, systems),
        "reason": None,
    }
    if np.isnan(ahead):
        return entry | {"reason": message("no_order.none_shared")}
    if comparison is not None and any(
        comparison.open[name][:, [comparison.systems.index(one) for one in systems]].any()
        for name in weights
        if name in comparison.open
    ):
        low, high = comparison.bounds(weights, *systems, basis.target, z)
        return entry | {"difference": None, "low": low, "high": high, "reason": message("no_order.bounds_only")}
    entry |= {"low": max(ahead - z * error, -1.0), "high": min(ahead + z * error, 1.0)}
    if error <= TIED:
        return entry | {"reason": message("no_order.census")}
    above, below = (float(norm.sf((sign * ahead - basis.delta) / error)) for sign in (1, -1))
    p = min(float(norm.sf((abs(ahead) - basis.delta) / error) + norm.sf((abs(ahead) + basis.delta) / error)), 1.0)
    return entry | {"p": p, "p_above": above, "p_below": below}


def pair_sizes(comparison: Comparisons | None, weights: Mapping[str, float], systems: Sequence[str]) -> dict[str, int]:
    """The groups that apply to both, those that tell them apart, and how many of these are answered."""
    sizes = {"groups": 0, "informative": 0, "judged": 0}
    for name in weights if comparison is not None else ():
        if comparison is None or name not in comparison.groups:
            continue
        columns = [comparison.systems.index(system) for system in systems]
        pair, answered = comparison.groups[name].pair(*columns), comparison.answered[name]
        needed = comparison.groups[name].satisfied[pair.at][:, columns] == 1
        known = (answered.genuine[pair.at][:, columns] >= 0) | ~needed
        sizes["groups"] += pair.groups
        sizes["informative"] += len(pair.at)
        sizes["judged"] += int((known.all(1) & (answered.q[pair.at][:, columns] > 0).any(1)).sum())
    return sizes


def decide(
    relations: Sequence[RelationResultEntry], delta: float, confidence: float, primary: Sequence[PrimaryEntry] = ()
) -> None:
    """Say in every relation which systems are told apart, and which surely overtake the best.

    Two families of hypotheses, each adjusted by Holm over the whole report: all pairs of all relations (`p_holm`,
    two-sided), and that no rival is better than the system reported as best, of all relations (`overtaking`,
    one-sided). A difference that is known without error is in neither. Where several systems are reported as best, a
    rival has to be better than each of them (the largest p counts). `primary` comparisons are tested by themselves, and
    no other adjusted p is below theirs. One that was named after the first answer is one of the others.
    """
    pairs = [pair for relation in relations for pair in relation["pairs"]]
    gate, own = _settle_primary(primary, relations, delta, confidence)
    tested = [pair for pair in pairs if pair["p"] is not None and not any(pair is one for one in own)]
    for pair, p in zip(tested, holm([pair["p"] or 0.0 for pair in tested]), strict=True):
        pair |= {"p_holm": max(p, gate), "apart": max(p, gate) <= 1 - confidence}
    for pair in pairs:
        if pair["p"] is None and pair["difference"] is not None:
            pair["apart"] = bool(abs(pair["difference"]) > delta + TIED)
    rivals: list[tuple[OvertakingEntry, float]] = []
    for relation in relations:
        relation["overtaking"] = [
            rival for system in relation["order_observed"] if (rival := _overtakes(relation, system, delta)) is not None
        ]
        rivals += [(rival, rival["p"]) for rival in relation["overtaking"] if rival["p"] is not None]
    for (rival, _), p in zip(rivals, holm([alone for _, alone in rivals]), strict=True):
        rival |= {"p_holm": max(p, gate), "sure": max(p, gate) <= 1 - confidence}
    for relation in relations:
        relation["best_changes_sure"] = any(rival["sure"] for rival in relation["overtaking"])
        relation["best_sure"] = _surely_best(relation)


def _settle_primary(
    primary: Sequence[PrimaryEntry], relations: Sequence[RelationResultEntry], delta: float, confidence: float
) -> tuple[float, list[PairEntry]]:
    """Decide the primary comparisons, each by its own p; returns the largest p of those that are tested (1 where one
    cannot be tested yet), and the pairs of relations that they are."""
    gate, own = 0.0, []
    tested = [entry for entry in primary if entry["tested"]]
    for entry, alone in zip(tested, holm([entry["p"] or 0.0 for entry in tested]), strict=True):
        p = alone if entry["p"] is not None else None
        known = p is None and entry["difference"] is not None
        apart = abs(entry["difference"] or 0.0) > delta + TIED if known else p is not None and p <= 1 - confidence
        entry |= {"p_holm": p, "apart": apart}
        gate = max(gate, p if p is not None else 0.0 if known else 1.0)
        for relation in relations:
            if (relation["study"], relation["relation"]) == (entry["study"], entry["relation"]):
                for pair in relation["pairs"]:
                    if {pair["system"], pair["other"]} == {entry["system"], entry["other"]} and pair["p"] is not None:
                        pair |= {"p_holm": p, "apart": apart}
                        own.append(pair)
    return gate, own


def _surely_best(relation: RelationResultEntry) -> bool:
    """Whether one system is surely better than every other one under a relation."""
    if len(relation["best_genuine"]) != 1:
        return False
    (best,) = relation["best_genuine"]
    beaten = {best}
    for pair in relation["pairs"]:
        if pair["apart"] and best in (pair["system"], pair["other"]):
            ahead = (pair["difference"] or 0.0) > 0
            if ahead == (pair["system"] == best):
                beaten |= {pair["system"], pair["other"]}
    if any(rival["sure"] and rival["system"] == best for rival in relation["overtaking"]):
        beaten |= set(relation["best_observed"])
    return beaten >= set(relation["order_observed"])


def _overtakes(relation: RelationResultEntry, rival: str, delta: float) -> OvertakingEntry | None:
    """Test whether a rival is better than every system reported as best; no p if that is known without error."""
    best = relation["best_observed"]
    if rival in best:
        return None
    worst, met = None, 0
    for pair in relation["pairs"]:
        if {pair["system"], pair["other"]} - {rival} <= set(best) and rival in (pair["system"], pair["other"]):
            if pair["difference"] is None:
                return None
            met += 1
            sign = 1 if pair["system"] == rival else -1
            p = pair["p_above" if sign == 1 else "p_below"]
            if p is None and sign * pair["difference"] <= delta + TIED:
                return {"system": rival, "p": None, "p_holm": None, "sure": False}
            worst = p if worst is None else max(worst, p) if p is not None else worst
    if met < len(best):
        return None
    return {"system": rival, "p": worst, "p_holm": None, "sure": worst is None}


# Over relations: which system to use, and by a user's weights.

_NO_RANKING: WeightedRanking = {"ranking": [], "winner_observed": [], "winner": [], "move": None}


def weighted_ranking(
    basis: Basis, entries: Sequence[CellEntry], weights: Mapping[tuple[Any, str], float]
) -> WeightedRanking:
    """Return the systems by their mean SR_g over (study, relation) with these weights, which sum to 1.

    A system that was not run under one of them is left out, with the reason; while a system has no estimate there,
    nobody knows the winner.
    """
    weights = {key: share for key, share in weights.items() if share > 0}
    by_relation = {
        key: _Cells([cell for cell in entries if (cell["study"], cell["relation"]) == key]) for key in weights
    }
    systems = sorted({cell["system"] for cells in by_relation.values() for cell in cells.entries})
    observed = {key: cells.rate("sr_observed") for key, cells in by_relation.items()}
    genuine = {key: cells.rate("sr_genuine") for key, cells in by_relation.items()}
    ranking: dict[str, PreferredSystem] = {}
    for system in systems:
        no_rate = [key[1] for key in weights if system not in observed[key]]
        no_estimate = [key[1] for key in weights if system not in genuine[key]]
        reason = message("no_rate.of", names=dict.fromkeys(no_rate)) if no_rate else None
        if no_estimate and not no_rate:
            reason = message("no_rate.no_estimate", names=dict.fromkeys(no_estimate))
        means = [
            None if lacks else sum(share * rates[key][system] for key, share in weights.items())
            for lacks, rates in ((no_rate, observed), (no_estimate, genuine))
        ]
        ranking[system] = {
            "system": system, "score_observed": means[0], "score": means[1], "score_low": None, "score_high": None,
            "p_best": None, "rank_low": None, "rank_high": None, "reason": reason,
        }  # fmt: skip
    compared = [system for system in systems if ranking[system]["score_observed"] is not None]
    before = {system: ranking[system]["score_observed"] or 0.0 for system in compared}
    entry: WeightedRanking = {
        "ranking": list(ranking.values()), "winner_observed": best_of(before), "winner": [], "move": None,
    }  # fmt: skip
    if not compared or any(ranking[system]["score"] is None for system in compared):
        return entry
    stand = _over_studies(basis, by_relation, weights, compared)
    if stand is not None and not np.isnan(stand.p_best).any():
        for at, (system, ends) in enumerate(zip(compared, _rank_ends(stand, basis), strict=True)):
            ranking[system] |= {"p_best": float(stand.p_best[at]), "rank_low": ends[0], "rank_high": ends[1]}
    elif len(compared) > 1:
        for system in compared:
            ranking[system]["reason"] = WITHOUT_COUNTS if stand is None else message("no_order.none_shared")
    for system in compared:
        low, high = _score_ends(system, basis, weights)
        ranking[system] |= {"score_low": low, "score_high": high}
    scores = (
        dict(zip(compared, stand.score.tolist(), strict=True))
        if stand is not None
        else {system: ranking[system]["score"] or 0.0 for system in compared}
    )
    best = best_of(scores)
    return {**entry, "winner": best, "move": _move(genuine, weights, compared, best[0], basis.delta)}


def _over_studies(
    basis: Basis,
    cells: Mapping[tuple[Any, str], _Cells],
    weights: Mapping[tuple[Any, str], float],
    systems: Sequence[str],
) -> Standing | None:
    """How systems stand in the mean over relations of several studies, whose errors are independent."""
    parts = []
    for study in dict.fromkeys(key[0] for key in weights):
        own = {key[1]: share for key, share in weights.items() if key[0] == study}
        share = sum(own.values())
        of_study = {key[1]: cells[key] for key in weights if key[0] == study}
        scaled = {name: value / share for name, value in own.items()}
        stand = _standing(basis.comparisons.get(study), scaled, systems, of_study, basis)
        if stand is None:
            return None
        parts.append((share, stand))
    if len(parts) == 1:
        return parts[0][1]
    ahead = np.sum([share * stand.ahead for share, stand in parts], axis=0)
    error = np.sqrt(np.sum([(share * stand.error) ** 2 for share, stand in parts], axis=0))
    score = np.sum([share * stand.score for share, stand in parts], axis=0)
    # Draws that have each pair's error, as far as one error of each system can: half of its squares.
    own = np.sqrt(np.maximum((error**2).sum(1) / max(len(systems) - 1, 1) / 2, 0.0))
    drawn = score + np.random.default_rng(0).standard_normal((DRAWS, len(systems))) * own
    return Standing(ahead, error, score, (drawn >= drawn.max(1, keepdims=True) - basis.delta - 1e-12).mean(0))


def _score_ends(
    system: str, basis: Basis, weights: Mapping[tuple[Any, str], float]
) -> tuple[float, float] | tuple[None, None]:
    """The interval of a weighted rate."""
    rates = [basis.rates_of_cell(basis.places[(*key, system)]).genuine for key in weights]
    known = [rate for rate in rates if rate is not None and rate.value is not None]
    if len(known) < len(rates):
        return None, None
    mean = weighted_mean(known, list(weights.values()), basis.confidence)
    return mean.low, mean.high


def _move(
    genuine: Mapping[tuple[Any, str], Mapping[str, float]],
    weights: Mapping[tuple[Any, str], float],
    systems: Sequence[str],
    winner: str,
    delta: float,
) -> Move | None:
    """How far the weights can move before another system draws level; None where no move can do it."""
    rates = np.array([[genuine[key].get(system, np.nan) for key in weights] for system in systems])
    move = smallest_move(rates, np.array(list(weights.values())), systems.index(winner), delta)
    if move is None:
        return None
    new: dict[str, float] = {}
    for (_, relation), share in zip(weights, move.weights, strict=True):
        new[relation] = new.get(relation, 0.0) + share
    return {"distance": move.distance, "rival": systems[move.rival], "weights": new}


def preference(basis: Basis, entries: Sequence[CellEntry], weights: Weights) -> PreferenceEntry:
    """Return every system's SR_g by a user's weights, how sure the winner is, and what would change it.

    A relation that is in several studies shares its weight among them. Raises UnknownName for a weight of a relation
    that is not there.
    """
    keys = list(dict.fromkeys((cell["study"], cell["relation"]) for cell in entries))
    names = list(dict.fromkeys(relation for _, relation in keys))
    shares = weights.over(names)
    times = {name: sum(relation == name for _, relation in keys) for name in names}
    ranked = weighted_ranking(basis, entries, {key: shares[key[1]] / times[key[1]] for key in keys})
    return {**ranked, "weights": shares, "source": weights.source}


def decisions(
    basis: Basis,
    entries: Sequence[CellEntry],
    families: Mapping[tuple[str, str], str],
    preferred: PreferenceEntry | None = None,
) -> list[DecisionEntry]:
    """Return the decision of each task: which system to use, and how sure that is.

    Systems are compared by the mean over families of relations of the family's pooled genuine rate, so that a relation
    of 3 groups does not weigh as much as one of 2,000, nor a family of ten relations as ten. Only relations count under
    which every compared system has an estimate; the others are named in `left_out`. The user's weights, where they give
    a winner, replace this mean. `families` maps (task, relation) to a family, a relation without one is its own.
    """
    tasks = dict.fromkeys(cell["task"] for cell in entries)
    return [_decision(task, basis, entries, families, preferred) for task in tasks]


def _decision(
    task: str,
    basis: Basis,
    entries: Sequence[CellEntry],
    families: Mapping[tuple[str, str], str],
    preferred: PreferenceEntry | None,
) -> DecisionEntry:
    own = [cell for cell in entries if cell["task"] == task]
    systems = sorted({cell["system"] for cell in own if cell["sr_observed"] is not None})
    judged = {cell["system"] for cell in own if cell["fs_rate"] is not None or cell["satisfied"] == 0}
    weights, used_families, left_out = _mean_over_families(own, families, judged & set(systems))
    ranked, source, used = _NO_RANKING, None, set()
    if preferred is not None and preferred["winner"] and set(preferred["winner"]) <= set(systems):
        ranked, source = preferred, preferred["source"]
        used = {relation for relation, share in preferred["weights"].items() if share}
    elif weights and (len(judged) > 1 or len(systems) == 1):
        # Of systems of which nothing is judged only the reported rates are known.
        reported = weighted_ranking(basis, own, weights)
        ranked = weighted_ranking(basis, [cell for cell in own if cell["system"] in judged], weights)
        rest = [entry for entry in reported["ranking"] if entry["system"] not in judged]
        ranked = {**ranked, "ranking": ranked["ranking"] + rest, "winner_observed": reported["winner_observed"]}
        used = {relation for _, relation in weights}
    state, named = _state(ranked)
    if len(systems) == 1:
        state, named = "one_system", systems
    elif state == "unknown" and len(judged) > 1 and not weights:
        state = "apart"
    chances = {one["system"]: one["p_best"] for one in ranked["ranking"]}
    by_families = bool(ranked["ranking"]) and not source
    return {
        "task": task,
        "state": state,
        "systems": named,
        "best_observed": ranked["winner_observed"] or [],
        "families": used_families if by_families else [],
        "relations": sorted(used, key=name_order),
        "left_out": left_out if by_families else [],
        "unjudged": [system for system in systems if judged and system not in judged],
        "out": [
            system
            for system, chance in chances.items()
            if state in ("open", "likely") and chance is not None and chance < OUT
        ],
        "weights": source,
        "ranking": ranked["ranking"],
        "accuracy": None,
    }


def _mean_over_families(
    cells: Sequence[CellEntry], families: Mapping[tuple[str, str], str], compared: set[str]
) -> tuple[dict[tuple[Any, str], float], list[str], list[str]]:
    """The weights of the (study, relation) of a task that make the mean over families of pooled rates, the families,
    and what is left out.

    A relation weighs within its family as the fewest groups that a system has under it: the same weights for all
    systems, so that none gains by where a relation applies to it.
    """
    members: dict[str, dict[tuple[Any, str], float]] = {}
    names: dict[str, set[str]] = {}
    without: set[str] = set()
    for key in dict.fromkeys((cell["study"], cell["relation"]) for cell in cells):
        rows = [cell for cell in cells if (cell["study"], cell["relation"]) == key]
        if all(cell["sr_observed"] is None for cell in rows):
            continue  # nothing was satisfied or violated
        family = families.get((rows[0]["task"], key[1]), key[1])
        names.setdefault(family, set()).add(key[1])
        rows = [cell for cell in rows if cell["system"] in compared]
        if not compared or {cell["system"] for cell in rows if cell["sr_genuine"] is not None} != compared:
            without.add(key[1])
            continue
        counted = [cell["satisfied"] + (cell["violated"] or 0) for cell in rows if cell["satisfied"] is not None]
        members.setdefault(family, {})[key] = float(min(counted)) if counted else 1.0
    weights = {
        key: size / sum(sizes.values()) / len(members) for sizes in members.values() for key, size in sizes.items()
    }
    left_out: list[str] = []
    for family in sorted(names, key=name_order):
        lacking = names[family] & without
        left_out += [family] if lacking == names[family] else sorted(lacking, key=name_order)
    return weights, sorted(members, key=name_order), left_out


def _state(ranked: WeightedRanking) -> tuple[State, list[str]]:
    """How sure the best system is, and which systems to name."""
    best, ranking = ranked["winner"], ranked["ranking"]
    if not best:
        return "unknown", []
    chances = {entry["system"]: entry["p_best"] for entry in ranking if entry["p_best"] is not None}
    if best[0] not in chances:
        return "looks", list(best)
    # Systems within delta of each other are both best: several at once are sure only where their intervals say so.
    sure = sorted(system for system, chance in chances.items() if chance >= SURE)
    if sure:
        return ("level" if len(sure) > 1 else "sure"), sure
    if chances[best[0]] >= LIKELY and len(best) == 1:
        return "likely", list(best)
    order = sorted(
        (entry for entry in ranking if entry["p_best"] is not None),
        key=lambda entry: (-(entry["p_best"] or 0.0), entry["system"]),
    )
    return "open", [
        entry["system"]
        for place, entry in enumerate(order)
        if place < 2 or (entry["rank_low"] == 1 and (entry["p_best"] or 0.0) >= OUT)
    ]


def add_accuracy(report: ReportDocument, right_outputs: Sequence[RightOutputs]) -> None:
    """Put the accuracy of the systems on the sources beside the decision of each task.

    Gold's labels go before the answers of people, which are about drawn sources alone.
    """
    task_of = {table["study"]: table["task"] for table in report["violations"]}
    for decision in report["decisions"]:
        studies = [outputs for outputs in right_outputs if task_of.get(outputs.study) == decision["task"]]
        by = next((by for by in ("gold", "people") if any(one.by == by and one.systems for one in studies)), None)
        decision["accuracy"] = _accuracy([one for one in studies if one.by == by], decision["systems"])


def _accuracy(studies: Sequence[RightOutputs], chosen: Sequence[str]) -> DecisionAccuracy | None:
    """The accuracy of every system over these studies together; None where no source has a label.

    `best` is named only where it is none of the `chosen`: there accuracy orders the systems otherwise. It is told
    `apart` where the interval of its lead over the best of these is above 0, the two taken as independent, which is
    cautious of systems that are asked the same texts.
    """
    totals: dict[str, SystemAccuracy] = {}
    for of_study in (system for study in studies for system in study.systems):
        before = totals.get(of_study.system, SystemAccuracy(of_study.system, 0, 0, 0.0))
        worth = of_study.outputs if of_study.worth is None else of_study.worth
        totals[of_study.system] = SystemAccuracy(
            of_study.system,
            before.outputs + of_study.outputs,
            before.right + of_study.right,
            (before.worth or 0.0) + worth,
        )
    rows = {
        name: (total.right / total.outputs, ends, total.outputs)
        for name, total in totals.items()
        if (ends := accuracy_interval(total)) is not None
    }
    if not rows:
        return None
    named = [system for system in chosen if system in rows]
    best = best_of({system: rate for system, (rate, _, _) in rows.items()})
    apart, other = False, bool(named) and set(best).isdisjoint(named)
    if other:
        first, second = rows[best[0]], max((rows[system] for system in named), key=lambda row: row[0])
        below = math.hypot(first[0] - first[1].low, second[1].high - second[0])
        apart = first[0] - second[0] > below + TIED
    return {
        "texts": max(outputs for _, _, outputs in rows.values()),
        "by": studies[0].by,
        "systems": [
            {"system": system, "outputs": outputs, "accuracy": rate, "low": ends.low, "high": ends.high}
            for system, (rate, ends, outputs) in sorted(rows.items(), key=lambda item: (-item[1][0], item[0]))
        ],
        "best": best if other else [],
        "apart": apart,
    }


# Comparisons that were named before the first answer.


@dataclass(frozen=True)
class Named:
    """The primary comparison of a study's frozen plan, by names as the report has them.

    It is `tested` where the plan was frozen before the first answer and names the same two ever since.
    """

    study: int
    task: str
    system: str
    other: str
    relation: str | None
    at: datetime
    answers: int
    tested: bool

    @property
    def signature(self) -> dict[str, Any]:
        """The comparison as a signature has it."""
        under = {} if self.relation is None else {"relation": self.relation}
        return {"study": self.study, "system": self.system, "other": self.other} | under


def primary_names(plans: Sequence[PlanAdherence]) -> list[Named]:
    """Return the primary comparisons that the frozen plans of studies name."""
    named = []
    for plan in plans:
        settings, frozen_at = plan.plan.content.get("report", {}), plan.frozen_at
        primary = primary_named(settings.get("primary"), settings.get("primary_relation"))
        if primary is None or frozen_at is None:
            continue
        changed = any(change.key.startswith("report.primary") for _, change in plan.changed)
        task, answers = str(plan.plan.content["study"]["task"]), plan.before or 0
        names = (primary.system, primary.other, primary.relation)
        named.append(Named(plan.study, task, *names, frozen_at, answers, not answers and not changed))
    return named
