"""Which system to use, and how sure that is: the answer that every report begins with."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from audit.false_satisfaction.accuracy import RightOutputs, SystemAccuracy
from audit.relations.registry import name_order
from audit.reports.accuracy import accuracy_interval
from audit.reports.certainty import Certainty
from audit.reports.document import (
    DecisionAccuracy,
    DecisionEntry,
    PreferenceEntry,
    ReportDocument,
    State,
    WeightedRanking,
)
from audit.reports.preference import entries_of, shown_ranking, weighted_ranking
from audit.statistics.comparison import Common
from audit.statistics.orders import TIED, best_of

SURE, LIKELY, OUT = 0.95, 0.8, 0.01
"""Probability that no system is better, from which the best one is called sure, and likely; and below which one is
out."""
SURE_OF_FEW = 0.99
"""As `SURE` where few groups are judged and probabilities come true less often than they say; `SURE` is likely then."""
_NO_RANKING: WeightedRanking = {"ranking": [], "winner_observed": [], "winner": [], "move": None, "withheld": False}


@dataclass(frozen=True)
class _Basis:
    """What a decision rests on: `weight` (relations,) sums to 1, in the order of `entries_of`."""

    weight: np.ndarray
    families: tuple[str, ...]
    left_out: tuple[str, ...]


def decisions(
    cells: pd.DataFrame,
    commons: Sequence[Common | None],
    certainty: Certainty,
    families: Mapping[tuple[str, str], str],
    delta: float,
    preference: PreferenceEntry | None = None,
) -> list[DecisionEntry]:
    """Return the decision of each task, in the order of the cells.

    Systems are compared by the mean over families of relations of the family's pooled genuine rate, so that a relation
    of 3 groups does not weigh as much as one of 2,000, nor a family of ten relations as ten. Only relations count under
    which every compared system has an estimate; the others are named in `left_out`. The user's weights, where they give
    a winner, replace this mean. `families` maps (task, relation) to a family, a relation without one is its own; the
    other arguments are those of `preference`.
    """
    return [
        _decision(task, cells, commons, certainty, families, delta, preference) for task in dict.fromkeys(cells["task"])
    ]


def _decision(
    task: str,
    cells: pd.DataFrame,
    commons: Sequence[Common | None],
    certainty: Certainty,
    families: Mapping[tuple[str, str], str],
    delta: float,
    preference: PreferenceEntry | None,
) -> DecisionEntry:
    of_task = cells[cells["task"] == task]
    systems = sorted(set(of_task.loc[of_task["sr_observed"].notna() | of_task["own"].notna(), "system"]))
    judged = set(of_task.loc[of_task["sr_genuine"].notna(), "system"])
    basis = _mean_over_families(cells, task, families)
    ranked, weights = _NO_RANKING, None
    used: set[str] = set()
    if preference is not None and preference["winner"] and set(preference["winner"]) <= set(systems):
        ranked, weights = preference, preference["source"]
        used = {relation for relation, share in preference["weights"].items() if share}
    elif basis.weight.any() and (len(judged) > 1 or len(systems) == 1):
        ranked = weighted_ranking(cells, commons, certainty, basis.weight, delta)
        used = set(entries_of(cells)["relation"][basis.weight > 0])
    state, named = _state(ranked)
    if len(systems) == 1:
        state, named = "one_system", systems
    elif state == "unknown" and len(judged) > 1 and not basis.weight.any():
        state = "apart"
    chances = {} if ranked["withheld"] else {one["system"]: one["p_best"] for one in ranked["ranking"]}
    return {
        "task": task,
        "state": state,
        "systems": named,
        "best_observed": ranked["winner_observed"] or [],
        "families": list(basis.families) if ranked["ranking"] and not weights else [],
        "relations": sorted(used, key=name_order),
        "left_out": list(basis.left_out) if ranked["ranking"] and not weights else [],
        "unjudged": unjudged_of(of_task),
        "out": [
            system
            for system, chance in chances.items()
            if state in ("open", "likely") and chance is not None and chance < OUT
        ],
        "weights": weights,
        "ranking": shown_ranking(ranked),
        "accuracy": None,
    }


def _mean_over_families(cells: pd.DataFrame, task: str, families: Mapping[tuple[str, str], str]) -> _Basis:
    """The weights of the relations of one task that make the mean over families of pooled rates.

    A relation weighs within its family as the fewest groups that a system has under it: the same weights for all
    systems, so that none gains by where a relation applies to it.
    """
    place = cells.groupby(["task", "study", "relation"], sort=False, dropna=False).ngroup()
    weight = np.zeros(1 + int(place.max()))
    cells = cells[cells["task"] == task]
    compared = set(cells.loc[cells["sr_genuine"].notna(), "system"])
    members: dict[str, list[tuple[int, float]]] = {}
    names: dict[str, set[str]] = {}
    without: set[str] = set()
    for at, group in cells.groupby(place, sort=False):
        relation = str(group["relation"].iloc[0])
        family = families.get((task, relation), relation)
        if group[["sr_observed", "own"]].isna().all(axis=None):
            continue  # nothing was satisfied or violated
        names.setdefault(family, set()).add(relation)
        rows = group[group["system"].isin(compared)]
        if not compared or set(rows["system"]) != compared or rows["sr_genuine"].isna().any():
            without.add(relation)
            continue
        size = rows[["satisfied", "violated"]].sum(axis=1, min_count=2).min()
        members.setdefault(family, []).append((int(at), 1.0 if math.isnan(size) else float(size)))
    for sizes in members.values():
        total = sum(size for _, size in sizes)
        for at, size in sizes:
            weight[at] = size / total / len(members)
    left_out: list[str] = []
    for family in sorted(names, key=name_order):
        lacking = names[family] & without
        left_out += [family] if lacking == names[family] else sorted(lacking, key=name_order)
    return _Basis(weight, tuple(sorted(members, key=name_order)), tuple(left_out))


def unjudged_of(cells: pd.DataFrame) -> list[str]:
    """Systems of a task's cells that satisfy groups of which nobody has answered anything, by name; none where that
    is so of all.
    """
    names = ("satisfied", "judged", "drawn", "drawn_open")
    satisfied, judged, drawn, waiting = (
        (cells[name] if name in cells else pd.Series(np.nan, cells.index)).astype(float).groupby(cells["system"]).sum()
        for name in names
    )
    known = cells["judged"].notna().groupby(cells["system"]).all()
    settled = (drawn > waiting) & (waiting > 0)
    unjudged = known & (satisfied > 0) & (judged == 0) & ~settled
    return [] if unjudged.all() else [str(name) for name in satisfied.index[unjudged]]


def _state(ranked: WeightedRanking) -> tuple[State, list[str]]:
    """How sure the best system is, and which systems to name."""
    best, ranking = ranked["winner"], ranked["ranking"]
    if not best:
        return "unknown", []
    chances = {entry["system"]: entry["p_best"] for entry in ranking if entry["p_best"] is not None}
    if best[0] not in chances:
        return "looks", list(best)
    needed, probable = (SURE_OF_FEW, SURE) if ranked["withheld"] else (SURE, LIKELY)
    # Systems within delta of each other are both best: several at once are sure only where their intervals say so.
    sure = sorted(system for system, chance in chances.items() if chance >= needed)
    if sure:
        return ("level" if len(sure) > 1 else "sure"), sure
    if chances[best[0]] >= probable and len(best) == 1:
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
