"""What a report says about its own errors: answers that relations carry, and answers that people agree on."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from audit.errors import AuditError
from audit.false_satisfaction.audited import CELL
from audit.false_satisfaction.cells import Counted
from audit.false_satisfaction.clusters import ALONE, Clusters
from audit.false_satisfaction.groups import spot_checked_groups
from audit.statistics.annotators import rogan_gladen
from audit.statistics.bounded import Interval
from audit.statistics.carry_error import carry_effect, carry_error
from audit.statistics.dependence import Sums
from audit.statistics.difference import difference, difference_of_cells
from audit.statistics.intervals import Estimator, Target
from audit.statistics.rollups import combine
from audit.store.ids import LIMIT

KEY = ["study", "task", "relation", "system"]
RELATION = ["study", "task", "relation"]
LEAST = 10
"""Checked groups that a cell needs for a corrected rate of its own; with fewer its interval would say nothing."""
CELLS = ("checked", "fs_checked", "fs_checked_low", "fs_checked_high", "fs_carry_low", "fs_carry_high")
"""Keys that every cell of a report has; None: not measured."""


@dataclass(frozen=True)
class Findings:
    """What audits found; frames have the columns study, task, relation and system beside those named here.

    `cells` (one row a drawn cell): rests_true, rests_false, protocol_judged, protocol_false; `follow_ups` (one an
    audited follow-up of a group): group_id, source, follow_up, wrong, cluster; `checks` (one a checked group): source,
    cluster, protocol, checked; `answers` (one a checked answer, of no cell): source, cluster, wrong. The numbers are
    those of `audit.false_satisfaction.audited.Audited`.
    """

    cells: pd.DataFrame
    follow_ups: pd.DataFrame
    checks: pd.DataFrame
    answers: pd.DataFrame
    waiting: int
    checks_waiting: int


def findings(counted: Counted, clusters: Clusters = ALONE) -> Findings:
    """What was found while cells were counted, with the cells' names and the clusters of sources."""
    found = counted.audited
    of_group = found.follow_ups["group_id"].to_numpy(np.int64) // LIMIT**2
    return Findings(
        found.cells.merge(counted.keys, on=CELL),
        found.follow_ups.assign(cluster=clusters.of(of_group)).merge(counted.keys, on=CELL),
        spot_checked_groups(counted, clusters),
        found.answered.assign(cluster=clusters.of(found.answered["source"].to_numpy(np.int64))),
        found.waiting,
        found.checks_waiting,
    )


def add_audits(
    report: dict[str, Any],
    cells: pd.DataFrame,
    found: Findings | None,
    of_false: Sums | None,
    interval: Estimator,
    confidence: float,
    target: Target,
) -> None:
    """Put what audits found into a report: cells get the keys `CELLS`, relations `carry`, the totals `checks`.

    `cells` is the report's frame with its rates, `of_false` how its cells' R_FS go together. Without findings (totals
    of a file) all of it is None.
    """
    for cell in report["cells"]:
        cell |= dict.fromkeys(CELLS)
    for relation in report["relations"]:
        relation["carry"] = None
    report["overall"] |= dict.fromkeys(("audits_waiting", "checks_waiting", "checks"))
    if found is None:
        return
    report["overall"] |= {"audits_waiting": found.waiting, "checks_waiting": found.checks_waiting}
    _add_carry(report, found, confidence, target)
    protocol = _add_checks(report, cells, found, interval, confidence, target)
    if len(found.answers) or len(found.checks):
        report["overall"]["checks"] = _together(protocol, found, of_false, confidence, target)


def _unit(target: Target) -> str:
    """What is drawn: sources, or for texts to come documents."""
    return "cluster" if target == "population" else "source"


def _add_carry(report: dict[str, Any], found: Findings, confidence: float, target: Target) -> None:
    """Each relation's carry error, and what it can do to the R_FS of its cells."""
    resting = dict(iter(found.cells.groupby(RELATION, dropna=False)))
    audited = dict(iter(found.follow_ups.groupby(RELATION, dropna=False)))
    by_cell = found.cells.set_index(KEY)
    for relation in report["relations"]:
        key = tuple(relation[name] for name in RELATION)
        # One follow-up serves all systems: it is one observation, and so are a source's several of one group.
        some = audited.get(key, found.follow_ups.iloc[:0])
        most_of = {"wrong": "max", "cluster": "first"}
        alone, groups = (
            some.groupby(["source", name], sort=False).agg(most_of).reset_index() for name in ("follow_up", "group_id")
        )
        error, of_groups = (
            carry_error(one[_unit(target)].to_numpy(), one["wrong"].to_numpy(int), confidence)
            for one in (alone, groups)
        )
        most = of_groups.high
        mine = [cell for cell in report["cells"] if tuple(cell[name] for name in RELATION) == key]
        judged = sum(cell["judged"] or 0 for cell in mine)
        rests = int(resting[key][["rests_true", "rests_false"]].to_numpy().sum()) if key in resting else 0
        share = rests / judged if judged else None
        relation["carry"] = {
            "audited": error.audited,
            "wrong": error.wrong,
            "error": error.rate,
            "low": error.low,
            "high": error.high,
            "rests_on_carried": share,
            "effect": None if most is None or share is None else share * most,
        }
        for cell in mine:
            if most is None or not cell["judged"]:
                continue
            row = by_cell.loc[tuple(cell[name] for name in KEY)]
            true, false = int(row["rests_true"]), int(row["rests_false"])
            effect = carry_effect(cell["judged"], true, false, most, cell["fs_low"], cell["fs_high"], confidence)
            cell |= {"fs_carry_low": effect.low, "fs_carry_high": effect.high}


def _add_checks(
    report: dict[str, Any],
    cells: pd.DataFrame,
    found: Findings,
    interval: Estimator,
    confidence: float,
    target: Target,
) -> pd.DataFrame:
    """Each cell's corrected rate; returns the cells that have checked groups, with the protocol's own rates.

    Columns: those of `KEY`, position (in the report), satisfied, judged, false, rate, low, high, checked.
    """
    # What a cell's judged groups are worth, where those of a document go together; the protocol's settled ones as well.
    worth = cells["judged_worth"].to_numpy(float) if "judged_worth" in cells else np.full(len(cells), np.nan)
    share = np.divide(worth, cells["judged"].to_numpy(float, na_value=np.nan), out=np.ones(len(cells)), where=worth > 0)
    by_cell = found.cells.set_index(KEY)
    checks = dict(iter(found.checks.groupby(KEY, dropna=False)))
    rows = []
    for position, cell in enumerate(report["cells"]):
        key = tuple(cell[name] for name in KEY)
        some = checks.get(key)
        cell["checked"] = 0 if some is None else len(some)
        if some is None:
            continue
        judged, false = (int(by_cell.loc[key, f"protocol_{name}"]) for name in ("judged", "false"))
        population = cell["satisfied"] if target == "corpus" else None
        size = judged * min(float(share[position]), 1.0)
        hits = false if size == judged else false / judged * size
        own: Interval = interval(hits, size, population, confidence=confidence)
        rows.append((*key, position, cell["satisfied"], judged, false, false / judged, own.low, own.high, len(some)))
        if len(some) < LEAST:
            continue
        change = some["checked"].to_numpy(int) - some["protocol"].to_numpy(int)
        added, removed = (int((change == sign).sum()) for sign in (1, -1))
        right = difference(
            false, judged, population, added, removed, len(some), interval=interval, confidence=confidence, worth=size
        )
        cell |= {"fs_checked": right.rate, "fs_checked_low": right.low, "fs_checked_high": right.high}
    columns = [*KEY, "position", "satisfied", "judged", "false", "rate", "low", "high", "checked"]
    return pd.DataFrame(rows, columns=columns)


def _together(
    cells: pd.DataFrame, found: Findings, of_false: Sums | None, confidence: float, target: Target
) -> dict[str, Any]:
    """The protocol's error over all checked answers, and R_FS over the cells with checked groups, both ways."""
    error = carry_error(found.answers[_unit(target)].to_numpy(), found.answers["wrong"].to_numpy(int), confidence)
    answer: dict[str, Any] = {
        "answers": error.audited,
        "answers_wrong": error.wrong,
        "error": error.rate,
        "error_low": error.low,
        "error_high": error.high,
        "cells": len(cells),
        "groups": len(found.checks),
        "added": None,
        "removed": None,
    }
    rates = ("fs_rate", "fs_low", "fs_high", "fs_checked", "fs_checked_low", "fs_checked_high", "bias")
    answer |= dict.fromkeys((*rates, "rogan_gladen"))
    if cells.empty:
        return answer
    places = cells["position"].to_numpy(int)
    pick = None if of_false is None else of_false.cautious(places.tolist())
    rate, low, high, satisfied = (cells[name].to_numpy(float) for name in ("rate", "low", "high", "satisfied"))
    before = combine(rate, low, high, satisfied, pick)
    if before is None:
        return answer
    groups = found.checks.merge(cells[[*KEY, "satisfied", "checked"]], on=KEY, suffixes=("", "_groups"))
    weight = groups["satisfied"] / cells["satisfied"].sum() / groups["checked_groups"]
    change = (groups["checked"] - groups["protocol"]).to_numpy(int)
    right = difference_of_cells(
        before.rate, before.low, before.high, weight.to_numpy(), change, groups[_unit(target)].to_numpy(),
        confidence=confidence,
    )  # fmt: skip
    return answer | {
        "added": int((change == 1).sum()),
        "removed": int((change == -1).sum()),
        "fs_rate": before.rate,
        "fs_low": before.low,
        "fs_high": before.high,
        "fs_checked": right.rate,
        "fs_checked_low": right.low,
        "fs_checked_high": right.high,
        "bias": right.bias,
        "rogan_gladen": _rogan_gladen(before.rate, int(cells["judged"].sum()), found.checks, confidence),
    }


def _rogan_gladen(rate: float, judged: int, checks: pd.DataFrame, confidence: float) -> dict[str, Any]:
    """The correction by sensitivity and specificity, from the same checked groups; its rate None with a reason."""
    said, false = checks["protocol"].to_numpy(int) == 1, checks["checked"].to_numpy(int) == 1
    sensitivity, specificity = (
        (int((said & false).sum()), int(false.sum())),
        (
            int((~said & ~false).sum()),
            int((~false).sum()),
        ),
    )
    answer: dict[str, Any] = {"rate": None, "low": None, "high": None, "reason": None}
    answer |= {"sensitivity": list(sensitivity), "specificity": list(specificity)}
    if not (sensitivity[1] and specificity[1]):
        kind = "false" if specificity[1] else "true"
        return answer | {"reason": f"no checked group is a {kind} satisfaction"}
    try:
        found = rogan_gladen(round(rate * judged), judged, sensitivity, specificity, confidence)
    except AuditError:
        return answer | {"reason": "the protocol is no better than chance on the checked groups"}
    return answer | {"rate": found.rate, "low": found.low, "high": found.high}


def carry_note(counted: Counted) -> list[str]:
    """A sentence for the signature where answers are carried and nothing measures how often that is wrong."""
    found = counted.audited
    rests = int(found.cells[["rests_true", "rests_false"]].to_numpy().sum())
    if not rests or len(found.follow_ups):
        return []
    if found.waiting:
        return [
            f"Carry error is not measured yet: {found.waiting:,} of the follow-ups to which answers are carried wait "
            "for an answer of their own."
        ]
    return [
        "Carry error was not measured: no follow-up to which an answer is carried was asked about; ask with "
        "`audit sample --audit-follow-ups 0.1`."
    ]


def shares(counted: Counted, study: int) -> dict[str, float]:
    """What is audited of a study's sample, for the signature; shares of 0 are left out."""
    found = counted.audited.shares.get(study, {})
    return {f"audit_{name}": share for name, share in found.items() if share}


def estimators(counted: Counted) -> dict[str, Any]:
    """The part of a signature that says how audits are estimated; empty where nothing is audited."""
    audited = [name for one in counted.audited.shares.values() for name, share in one.items() if share]
    found = {}
    if "follow_ups" in audited:
        found["carry"] = "exact interval at the effective size of sources"
    if "answers" in audited:
        found["checks"] = "two-phase difference with MOVER ends"
    return {"audits": found} if found else {}
