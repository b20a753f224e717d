"""What a report says about its own errors: answers that relations carry, and answers that people agree on."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from audit.annotation.causes import CAUSES
from audit.errors import AuditError
from audit.false_satisfaction.cells import ALONE, CELL, Clusters, Counted
from audit.false_satisfaction.groups import spot_checked_groups
from audit.false_satisfaction.proxies import CellProxies
from audit.messages import joined, message
from audit.relations import name_order
from audit.reports.certainty import KEY
from audit.reports.document import (
    AuditTotals,
    CarryEntry,
    CauseCounts,
    CausesEntry,
    CauseShare,
    CellAudit,
    CellEntry,
    ChecksEntry,
    RelationResultEntry,
    unknown,
)
from audit.statistics.comparison import Sums, difference, difference_of_cells
from audit.statistics.corrected import carry_effect, carry_error
from audit.statistics.intervals import Target, effective_interval, effective_size, mid_p
from audit.statistics.prediction_powered import PredictionPowered, prediction_powered
from audit.statistics.rates import ESTIMATES, combine
from audit.store.bulk import LIMIT

RELATION = ["study", "task", "relation"]
LEAST = 10
"""Checked groups that a cell needs for a corrected rate of its own; with fewer its interval would say nothing."""


@dataclass(frozen=True)
class Findings:
    """What audits found; frames have the columns study, task, relation and system beside those named here.

    `cells` (one row a drawn cell): rests_true, rests_false, protocol_judged, protocol_false; `follow_ups` (one an
    audited follow-up of a group): group_id, source, follow_up, wrong, cluster; `checks` (one a checked group): source,
    cluster, protocol, checked; `answers` (one a checked answer, of no cell): source, cluster, wrong. The numbers are
    those of `audit.false_satisfaction.cells.Audited`.
    """

    cells: pd.DataFrame
    follow_ups: pd.DataFrame
    checks: pd.DataFrame
    answers: pd.DataFrame
    waiting: int
    checks_waiting: int


def findings(counted: Counted, clusters: Clusters = ALONE) -> Findings:
    """What was found while cells were counted, with the cells' names and the clusters of sources."""
    audited = counted.audited
    sources = audited.follow_ups["group_id"].to_numpy(np.int64) // LIMIT**2
    return Findings(
        audited.cells.merge(counted.keys, on=CELL),
        audited.follow_ups.assign(cluster=clusters.of(sources)).merge(counted.keys, on=CELL),
        spot_checked_groups(counted, clusters),
        audited.answered.assign(cluster=clusters.of(audited.answered["source"].to_numpy(np.int64))),
        audited.waiting,
        audited.checks_waiting,
    )


@dataclass(frozen=True)
class AuditParts:
    """What audits add to a report: to each cell, to each relation (`carry`), both in its order, and to the totals."""

    cells: list[CellAudit]
    carry: list[CarryEntry | None]
    totals: AuditTotals


def audit_parts(
    entries: Sequence[CellEntry],
    relations: Sequence[RelationResultEntry],
    cells: pd.DataFrame,
    findings: Findings | None,
    of_false: Sums | None,
    confidence: float,
    target: Target,
) -> AuditParts:
    """What audits found, as the report with these `entries` of cells and these `relations` has it.

    `cells` is the report's frame with its rates, `of_false` how its cells' R_FS go together. Without findings (totals
    of a file) all of it is None.
    """
    audited = [unknown(CellAudit) for _ in entries]
    if findings is None:
        return AuditParts(audited, [None] * len(relations), unknown(AuditTotals))
    carry = _carries(entries, relations, audited, findings, confidence, target)
    protocol = _check_rates(entries, audited, cells, findings, confidence, target)
    checks = None
    if len(findings.answers) or len(findings.checks):
        checks = _together(protocol, findings, of_false, confidence, target)
    return AuditParts(
        audited,
        carry,
        {"audits_waiting": findings.waiting, "checks_waiting": findings.checks_waiting, "checks": checks},
    )


def _unit(target: Target) -> str:
    """The sampling unit: documents for the population, else sources."""
    return "cluster" if target == "population" else "source"


def _carries(
    entries: Sequence[CellEntry],
    relations: Sequence[RelationResultEntry],
    audited: Sequence[CellAudit],
    findings: Findings,
    confidence: float,
    target: Target,
) -> list[CarryEntry | None]:
    """Each relation's carry error; how far it can move the R_FS of its cells is filled in in `audited`, one a cell."""
    resting = dict(iter(findings.cells.groupby(RELATION, dropna=False)))
    audits = dict(iter(findings.follow_ups.groupby(RELATION, dropna=False)))
    by_cell = findings.cells.set_index(KEY)
    carries: list[CarryEntry | None] = []
    for relation in relations:
        key = (relation["study"], relation["task"], relation["relation"])
        # A follow-up of several systems is one observation, and so are several follow-ups of one group.
        follow_ups = audits.get(key, findings.follow_ups.iloc[:0])
        most_of = {"wrong": "max", "cluster": "first"}
        by_follow_up, by_group = (
            follow_ups.groupby(["source", name], sort=False).agg(most_of).reset_index()
            for name in ("follow_up", "group_id")
        )
        error, of_groups = (
            carry_error(observations[_unit(target)].to_numpy(), observations["wrong"].to_numpy(int), confidence)
            for observations in (by_follow_up, by_group)
        )
        most = of_groups.high
        cells = [
            (entry, parts)
            for entry, parts in zip(entries, audited, strict=True)
            if (entry["study"], entry["task"], entry["relation"]) == key
        ]
        judged = sum(entry["judged"] or 0 for entry, _ in cells)
        rests = int(resting[key][["rests_true", "rests_false"]].to_numpy().sum()) if key in resting else 0
        share = rests / judged if judged else None
        carries.append(
            {
                "audited": error.audited,
                "wrong": error.wrong,
                "error": error.rate,
                "low": error.low,
                "high": error.high,
                "rests_on_carried": share,
                "effect": None if most is None or share is None else share * most,
            }
        )
        for entry, parts in cells:
            fs_low, fs_high = entry["fs_low"], entry["fs_high"]
            if most is None or not entry["judged"] or fs_low is None or fs_high is None:
                continue
            row = by_cell.loc[(*key, entry["system"])]
            true, false = int(row["rests_true"]), int(row["rests_false"])
            low, high = carry_effect(entry["judged"], true, false, most, fs_low, fs_high, confidence)
            parts |= {"fs_carry_low": low, "fs_carry_high": high}
    return carries


def _check_rates(
    entries: Sequence[CellEntry],
    audited: Sequence[CellAudit],
    cells: pd.DataFrame,
    findings: Findings,
    confidence: float,
    target: Target,
) -> pd.DataFrame:
    """Fill in corrected rates in `audited`; return the cells with checked groups and their rates by the protocol.

    Columns: those of `KEY`, position (in the report), satisfied, judged, false, rate, low, high, checked.
    """
    # The groups of one document are dependent; the groups that the protocol settled count by the same share.
    worth = cells["judged_worth"].to_numpy(float) if "judged_worth" in cells else np.full(len(cells), np.nan)
    share = np.divide(worth, cells["judged"].to_numpy(float, na_value=np.nan), out=np.ones(len(cells)), where=worth > 0)
    by_cell = findings.cells.set_index(KEY)
    checks = dict(iter(findings.checks.groupby(KEY, dropna=False)))
    rows = []
    for position, (cell, parts) in enumerate(zip(entries, audited, strict=True)):
        key = (cell["study"], cell["task"], cell["relation"], cell["system"])
        checked_groups = checks.get(key)
        parts["checked"] = 0 if checked_groups is None else len(checked_groups)
        if checked_groups is None:
            continue
        judged, false = (int(by_cell.loc[key, f"protocol_{name}"]) for name in ("judged", "false"))
        population = cell["satisfied"] if target == "corpus" else None
        size = judged * min(float(share[position]), 1.0)
        hits = false if size == judged else false / judged * size
        ends = mid_p(hits, size, population, confidence=confidence)
        rows.append(
            (*key, position, cell["satisfied"], judged, false, false / judged, ends.low, ends.high, len(checked_groups))
        )
        if len(checked_groups) < LEAST:
            continue
        change = checked_groups["checked"].to_numpy(int) - checked_groups["protocol"].to_numpy(int)
        added, removed = (int((change == sign).sum()) for sign in (1, -1))
        corrected = difference(
            false,
            judged,
            population,
            added,
            removed,
            len(checked_groups),
            confidence=confidence,
            worth=size,
        )
        parts |= {"fs_checked": corrected.rate, "fs_checked_low": corrected.low, "fs_checked_high": corrected.high}
    columns = [*KEY, "position", "satisfied", "judged", "false", "rate", "low", "high", "checked"]
    return pd.DataFrame(rows, columns=columns)


def _together(
    cells: pd.DataFrame, findings: Findings, of_false: Sums | None, confidence: float, target: Target
) -> ChecksEntry:
    """The protocol's error over all checked answers, and R_FS of the cells with checked groups, before and after."""
    error = carry_error(findings.answers[_unit(target)].to_numpy(), findings.answers["wrong"].to_numpy(int), confidence)
    entry: ChecksEntry = {
        **unknown(ChecksEntry),
        "answers": error.audited,
        "answers_wrong": error.wrong,
        "error": error.rate,
        "error_low": error.low,
        "error_high": error.high,
        "cells": len(cells),
        "groups": len(findings.checks),
    }
    if cells.empty:
        return entry
    places = cells["position"].to_numpy(int)
    correlations = None if of_false is None else of_false.cautious(places.tolist())
    rate, low, high, satisfied = (cells[name].to_numpy(float) for name in ("rate", "low", "high", "satisfied"))
    before = combine(rate, low, high, satisfied, correlations)
    if before is None:
        return entry
    groups = findings.checks.merge(cells[[*KEY, "satisfied", "checked"]], on=KEY, suffixes=("", "_groups"))
    weight = groups["satisfied"] / cells["satisfied"].sum() / groups["checked_groups"]
    change = (groups["checked"] - groups["protocol"]).to_numpy(int)
    corrected = difference_of_cells(
        before.rate, before.low, before.high, weight.to_numpy(), change, groups[_unit(target)].to_numpy(),
        confidence=confidence,
    )  # fmt: skip
    return entry | {
        "added": int((change == 1).sum()),
        "removed": int((change == -1).sum()),
        "fs_rate": before.rate,
        "fs_low": before.low,
        "fs_high": before.high,
        "fs_checked": corrected.rate,
        "fs_checked_low": corrected.low,
        "fs_checked_high": corrected.high,
        "bias": corrected.bias,
    }


# What a report says of the causes of false satisfactions, and of the reasons for which people disagreed.

LEVELS = ("relation", "system", "overall")


def cause_entries(falses: pd.DataFrame, confidence: float = 0.95) -> list[CausesEntry]:
    """Shares of causes by relation, by system and over all; empty where no cause was given.

    `falses` is what `named_falses` returns. An entry has by, name, task, study (of a relation), `false` (false
    satisfactions that were judged), `named` (those whose cause counts), `cells` (cells with one) and `causes`: code,
    count, share, low and high for each code of the list. Each cell weighs as many false satisfactions as it has by its
    estimate (satisfied times R_FS); intervals are Clopper and Pearson's at the effective number of sources (Korn and
    Graubard 1998), or a point where every false satisfaction there is has its cause.
    """
    if not falses["code"].notna().any():
        return []
    count = falses.groupby(KEY, sort=False)["code"].transform("size")
    named = falses.groupby(KEY, sort=False)["code"].transform("count")
    estimated = falses["satisfied"] * count / falses["judged"]
    falses = falses.assign(weight=(estimated / named.where(named > 0)).astype(float))
    entries: list[CausesEntry] = []
    for by in LEVELS:
        keys = {"relation": ["task", "study", "relation"], "system": ["task", "system"], "overall": ["task"]}[by]
        parts = [
            (key, group_falses)
            for key, group_falses in falses.groupby(keys, sort=False)
            if group_falses["code"].notna().any()
        ]
        for key, group_falses in sorted(parts, key=lambda part: tuple(name_order(str(name)) for name in part[0])):
            entries.append(
                {
                    "by": by,
                    "name": "all" if by == "overall" else str(key[-1]),
                    "task": str(key[0]),
                    "study": int(key[1]) if by == "relation" else None,
                    **_shares(group_falses, confidence),
                }
            )
    return entries


def _shares(falses: pd.DataFrame, confidence: float) -> CauseCounts:
    named = falses[falses["code"].notna()]
    weight, source = named["weight"].to_numpy(float), named["source"].to_numpy()
    # Every false satisfaction of these cells is known and has its cause: nothing is estimated.
    whole = bool((weight <= 1 + 1e-9).all()) and len(named) == len(falses)
    causes: list[CauseShare] = []
    for code in CAUSES:
        has_code = (named["code"] == code).to_numpy()
        share = min(float(weight @ has_code / weight.sum()), 1.0)
        low = high = share
        if not whole:
            ends = effective_interval(share, effective_size(source, has_code, confidence, weight), confidence)
            low, high = ends.low, ends.high
        causes.append({"cause": code, "count": int(np.sum(has_code)), "share": share, "low": low, "high": high})
    return {"false": len(falses), "named": len(named), "cells": len(named.drop_duplicates(KEY)), "causes": causes}


# R_FS of cells with the help of proxies, as a report needs it: `audit report --proxy`.


def check_proxies(names: Sequence[str], target: Target) -> None:
    """Raise AuditError where proxies cannot be used.

    >>> check_proxies(["disagreement"], "corpus")
    """
    if not names:
        return
    if target == "population":
        raise AuditError(
            message("report_setting.proxy_population"),
            parameter="proxy",
        )


def powered(
    counted: Counted, judged: pd.DataFrame, proxies: Iterable[CellProxies]
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """(estimates, judged): a row for each cell with its R_FS by PPI++, and what proxies leave of the judged groups.

    `judged` are the rows of `judged_groups`. The first frame has the columns study, task, relation, system and
    `ESTIMATES`: where `prediction_powered` falls back, the rate of the sample, its own interval and a gain of 1;
    where nothing is judged, no estimate. The second is `judged` with a column `value`: false less the proxies times
    their slopes.
    """
    estimates = pd.DataFrame(None, index=counted.keys.index, columns=list(ESTIMATES), dtype=object)
    # As objects: of a column of strings pandas would keep the English sentences alone.
    none_judged = message("no_rate.no_random_sample")
    estimates["method_reason"] = pd.Series(none_judged, index=estimates.index, dtype=object)
    place = {cell: at for at, cell in enumerate(counted.keys[CELL].itertuples(index=False, name=None))}
    groups = judged.groupby(KEY, sort=False).indices
    values = judged["false"].to_numpy(float).copy()
    for cell in proxies:
        result = prediction_powered(cell.truth, cell.of_sample, cell.of_population, total=cell.size)
        at = place[cell.study, cell.relation, cell.system]
        reason = _reason(cell, result) or None
        estimates.iloc[at] = [result.estimate, result.low, result.high, result.method, result.gain, reason]
        # The rows of `judged` have each cell's groups by rank, as `cell.truth` has them.
        explained = cell.of_sample @ np.array(result.weights) if result.weights else 0.0
        values[groups[tuple(counted.keys[KEY].iloc[at])]] = cell.truth - explained
    return pd.concat([counted.keys[KEY], estimates], axis=1).reset_index(drop=True), judged.assign(value=values)


def _reason(cell: CellProxies, result: PredictionPowered) -> str:
    """Why a proxy was not used; empty where all were."""
    reasons: list[str] = [message("proxy.left_out", proxy=name, reason=why) for name, why in cell.left_out.items()]
    if result.reason and (cell.names or not reasons):
        reasons.append(result.reason)
    return joined("list.also", reasons) if reasons else ""
