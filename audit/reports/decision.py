"""Which system to use, and how sure that is: the answer that a report's first page begins with."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from audit.relations.registry import name_order
from audit.reports.certainty import Certainty
from audit.reports.document import (
    DecisionEntry,
    PreferenceEntry,
    PreferredSystem,
    RelationResultEntry,
    State,
    WeightedRanking,
)
from audit.reports.preference import weighted_ranking
from audit.statistics.comparison import ENOUGH_FOR_P_BEST, Common

SURE, LIKELY, OUT = 0.95, 0.8, 0.01
"""Probability that no system is better, from which the best one is called sure, and likely; and below which one is
out."""


def decisions(
    relations: Sequence[RelationResultEntry],
    cells: pd.DataFrame,
    commons: Sequence[Common | None],
    certainty: Certainty,
    delta: float,
    stopping: bool,
    preference: PreferenceEntry | None = None,
) -> list[DecisionEntry]:
    """The entry of each task, in the order of the relations.

    `relations` are the report's, in the order of `entries_of(cells)`; the other arguments are those of `preference`. A
    task is decided by its relations that order all of their systems, alike: what answers leave bounds for says nothing
    about the order. Where the user's weights give a winner, they decide instead.
    """
    return [
        _decision(task, relations, cells, commons, certainty, delta, stopping, preference)
        for task in dict.fromkeys(str(relation["task"]) for relation in relations)
    ]


def _decision(
    task: str,
    relations: Sequence[RelationResultEntry],
    cells: pd.DataFrame,
    commons: Sequence[Common | None],
    certainty: Certainty,
    delta: float,
    stopping: bool,
    preference: PreferenceEntry | None,
) -> DecisionEntry:
    ordered = np.array([relation["task"] == task and orders_all(relation) for relation in relations], bool)
    of_task = [relation["relation"] for relation in relations if relation["task"] == task]
    systems = {system for relation in relations if relation["task"] == task for system in relation["order_observed"]}
    ranked: WeightedRanking | None = None
    weights = None
    if preference is not None and preference["winner"] and set(preference["winner"]) <= systems:
        ranked, weights = preference, preference["source"]
        used = {relation for relation, share in preference["weights"].items() if share}
    else:
        if ordered.any():
            ranked = weighted_ranking(cells, commons, certainty, ordered / ordered.sum(), delta, stopping)
        used = {relation["relation"] for relation, whole in zip(relations, ordered, strict=True) if whole}
    best = ranked["winner"] if ranked else None
    of_cells = cells[cells["task"] == task]
    of_used = of_cells[of_cells["relation"].isin(used)].groupby("relation")
    tiny = of_used[["satisfied", "violated"]].sum().sum(axis=1) < ENOUGH_FOR_P_BEST * of_used["system"].nunique()
    state: State = "unknown"
    named: list[str] = []
    out: list[str] = []
    if ranked and best:
        state, named = _state(ranked["ranking"], best)
        out = [
            one["system"]
            for one in ranked["ranking"]
            if state in ("open", "likely") and one["p_best"] is not None and one["p_best"] < OUT
        ]
    if len(systems) < 2:
        state, named = "one_system", sorted(systems)
    return {
        "task": task,
        "state": state,
        "systems": named,
        "best_observed": (ranked["winner_observed"] if ranked else None) or [],
        "relations": [name for name in dict.fromkeys(of_task) if name in used],
        "left_out": sorted(
            {
                relation["relation"]
                for relation, whole in zip(relations, ordered, strict=True)
                if relation["task"] == task and not whole and weights is None and relation["order_observed"]
            },
            key=name_order,
        ),
        "unjudged": unjudged_of(of_cells),
        "out": out,
        "tiny": sorted((str(name) for name in tiny.index[tiny]), key=name_order),
        "weights": weights,
        "ranking": ranked["ranking"] if ranked else [],
    }


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


def orders_all(relation: RelationResultEntry) -> bool:
    """Whether the judged groups of a relation order all of its systems, two at least."""
    observed = set(relation["order_observed"])
    return len(observed) > 1 and set(relation["order_genuine"] or ()) == observed


def _state(ranking: Sequence[PreferredSystem], best: Sequence[str]) -> tuple[State, list[str]]:
    """How sure the best system is, and which systems to name."""
    chances = {entry["system"]: entry["p_best"] for entry in ranking if entry["p_best"] is not None}
    if len(best) > 1:
        return "level", list(best)
    if best[0] not in chances:
        return "looks", list(best)
    chance = chances[best[0]]
    if chance >= SURE:
        return "sure", list(best)
    if chance >= LIKELY:
        return "likely", list(best)
    rivals = [entry for entry in ranking if entry["rank_low"] == 1 and (entry["p_best"] or 0.0) >= OUT]
    return "open", [entry["system"] for entry in sorted(rivals, key=lambda entry: -(entry["p_best"] or 0.0))]
