"""The report: one JSON document that the tables, the charts, the HTML file and the app all read."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import pandas as pd

from audit.errors import AuditError
from audit.messages import message
from audit.relations.registry import name_order
from audit.reports.certainty import (
    COMPARES,
    KEY,
    certainty,
    common_entry,
    compared,
    covered,
    decide,
    families_of,
    only_compared,
    pair_entries,
    rates_of,
    roll_ups,
    with_worth,
)
from audit.reports.decision import decisions
from audit.reports.document import (
    CellEntry,
    PairEntry,
    PrimaryEntry,
    RelationResultEntry,
    ReportDocument,
    Signature,
    plain,
)
from audit.reports.preference import Weights, preference, shown_ranking
from audit.reports.primary import Named, primary_entries
from audit.reports.validity import Findings, audit_parts
from audit.reports.violations import violation_tables
from audit.statistics import comparison
from audit.statistics.comparison import Common
from audit.statistics.intervals import Target
from audit.statistics.orders import compare_orders, order_where_known
from audit.statistics.rates import BOUNDS, RATES, WORTH, overall, with_bounds, with_estimates, with_rates

Report = ReportDocument
"""What is ready for `json.dumps`; `audit.reports.document` declares every key."""

NAMES = ("study", "corpus", "task", "relation", "system")
COUNTS = (
    "groups",
    "satisfied",
    "violated",
    "inapplicable",
    "errors",
    "drawn",
    "judged",
    "false",
    "waiting",
    "drawn_false",
    "drawn_open",
    "behind",
)
CommonBy = Mapping[tuple[str, object, str], Common]
"""The common groups of relations, by (task, study, relation)."""


@dataclass(frozen=True)
class Groups:
    """The groups behind the counts, where they are known: without them cells count as independent.

    `judged` has a row per judged group with the columns study, task, relation, system, source, false, and cluster
    where sources belong together; `checked` one per group that is satisfied or violated, with satisfied in place of
    false (only needed for the target `population`).
    `common` are the common groups by (task, study, relation); a relation that is not there is compared on each system's
    own groups. `estimates` has a row for each cell, with the columns study, task, relation, system
    and those of `audit.statistics.rates.ESTIMATES`, where R_FS is estimated with proxies; `judged` has what they leave
    unexplained in a column `value` then. `audits` is what audits of follow-ups and answers found, `primary` the
    comparisons that were named before the first answer. `drawn` has the whole draws of cells that have bounds only: the
    columns of `judged`, and open (1: an open group, which may be true or false).
    """

    judged: pd.DataFrame | None = None
    checked: pd.DataFrame | None = None
    common: CommonBy | None = None
    estimates: pd.DataFrame | None = None
    audits: Findings | None = None
    primary: Sequence[Named] = ()
    drawn: pd.DataFrame | None = None


def build_report(
    cells: pd.DataFrame,
    signature: Signature,
    *,
    waiting: int | None = None,
    confidence: float = 0.95,
    target: Target = "population",
    delta: float = 0.0,
    groups: Groups | None = None,
    weights: Weights | None = None,
) -> Report:
    """The report of a frame of cells, one row a (study, task, relation, system).

    Columns of `cells`: study, corpus, task, relation, system (text) and groups, satisfied, violated, inapplicable,
    errors, drawn, judged, false, waiting (counts); task, relation and system are needed, other names may be absent and
    are null then. Where totals are known as rates only, the counts are NaN and the columns sr_observed and fs_rate are
    given. `judged` counts the settled prefix of the draw and `false` the false satisfactions in it. Where
    `judged` is known and `false` is not, the cell was drawn for comparisons only and has no rate of its own.
    `waiting` counts the questions of the cell that nobody answered; `drawn_false` and `drawn_open` the false and the
    open groups of the whole draw, which give bounds where R_FS has no estimate. `signature` is kept as it is; its
    `notes`, a list of strings, are shown wherever the report is. The argument `waiting` is the number of distinct
    waiting questions.
    `target` says what the rates are about, `delta` is the difference of SR_g below which two systems count as equal,
    `groups` the groups behind the counts, `weights` a user's preferences. A column `family` names relations' families.

    Counts are ints, rates are fractions, whatever is unknown is None. Cells are ordered by task, study, relation
    (numbers as numbers) and system, so equal data give equal reports; there are no times in it. Raises AuditError when
    a cell is there twice, on impossible counts, on a delta outside 0 to 1, and on weights of unknown relations.

    >>> row = dict(task="sentiment", relation="MR1.1", system="a", satisfied=8, violated=2, judged=8, false=4)
    >>> report = build_report(pd.DataFrame([row]), {"seed": 0})
    >>> report["cells"][0]["sr_genuine"], report["cells"][0]["groups"]
    (0.4, None)
    """
    if not 0 <= delta < 1:
        raise AuditError(message("report_setting.bad_delta", delta=delta))
    judged, checked, drawn = (groups.judged, groups.checked, groups.drawn) if groups else (None, None, None)
    if target == "population":
        cells = with_worth(cells, judged, checked, confidence, drawn)
    frame = rated(cells, confidence, target)
    shared = (groups.common or {}) if groups else {}
    if groups is not None and groups.estimates is not None:
        frame = with_estimates(frame, frame[KEY].merge(groups.estimates, how="left", on=KEY))
    cell_certainty = certainty(frame, judged, checked, target, confidence, drawn)
    primary_named = groups.primary if groups else ()
    relations, standing, commons, primary = compare_all(
        frame, shared, target, delta, confidence, comparison.DRAWS, primary_named
    )
    families = families_of(frame, "file" not in signature)
    entries = cell_entries(frame)
    audited = audit_parts(
        entries,
        relations,
        frame,
        groups.audits if groups else None,
        cell_certainty.of_false,
        confidence,
        target,
    )
    report: Report = {
        "signature": _with_expected_misses(frame, signature, confidence),
        "cells": [{**cell, **audit} for cell, audit in zip(entries, audited.cells, strict=True)],
        "relations": [{**relation, "carry": carry} for relation, carry in zip(relations, audited.carry, strict=True)],
        "overall": {
            **overall(frame, relations, waiting),
            **covered(frame, cell_certainty),
            **audited.totals,  # type: ignore[typeddict-item]
        },
        "rollups": roll_ups(frame, cell_certainty, families),
        "violations": violation_tables(frame, cell_certainty, families),
        "decisions": [],
    }
    if primary:
        report["primary"] = primary
    if weights is not None:
        report["preference"] = preference(standing, commons, cell_certainty, weights, delta)
    chosen = report.get("preference")
    report["decisions"] = decisions(standing, commons, cell_certainty, families, delta, chosen)
    if chosen is not None:
        chosen["ranking"] = shown_ranking(chosen)
    return report


def _with_interval(frame: pd.DataFrame) -> pd.Series:
    return frame["fs_low"].notna()


def _with_expected_misses(frame: pd.DataFrame, signature: Signature, confidence: float) -> Signature:
    """The signature, with a note of how many intervals are expected to miss, where these are two or more."""
    number = int(_with_interval(frame).sum())
    missing = (1 - confidence) * number
    if missing < 2 - 1e-9:
        return signature.copy()
    note = message("note.each_alone", percent=100 * confidence, count=number, missing=missing)
    return {**signature, "notes": [*(signature.get("notes") or []), note]}


def compare_all(
    frame: pd.DataFrame,
    shared: CommonBy,
    target: Target,
    delta: float,
    confidence: float,
    size: int = 0,
    named: Sequence[Named] = (),
) -> tuple[list[RelationResultEntry], pd.DataFrame, list[Common | None], list[PrimaryEntry]]:
    """The relations of a report, its cells with rates over the common groups, the common groups by relation, and the
    primary comparisons of those `named`.

    `frame` is what `rated` made, `shared` the common groups where they are known. Without `size` there are no
    probabilities.
    """
    # Orders and rankings are about common groups, and may need differences only; the rest is about cells.
    standing = frame.assign(own=frame["sr_genuine"], relative=False)
    relations: list[RelationResultEntry] = []
    commons: dict[tuple[str, object, str], Common | None] = {}
    for (task, study, relation), group in frame.groupby(["task", "study", "relation"], sort=False, dropna=False):
        key = (task, plain(study), relation)
        common = commons[key] = shared.get(key) or Common.of_totals(group)
        observed, genuine = rates_of(group, common, relative=True)
        standing.loc[group.index, ["sr_observed", "sr_genuine"]] = np.column_stack([observed, genuine])
        standing.loc[group.index, "relative"] = common is not None and bool(np.isnan(common.sr_genuine).all())
        # The relation's place in its own study: other studies in the report move no probability of this one.
        seed = sum((entry["task"], entry["study"]) == key[:2] for entry in relations)
        draws = None if common is None or not size else common.draws(target, size, seed)
        orders = (compare_orders if common is None else common.orders_of)(standing.loc[group.index])
        relations.append(
            {
                "task": task,
                "study": plain(study),
                "corpus": plain(group["corpus"].iloc[0]),
                "relation": relation,
                "order_observed": orders["order_observed"],
                "order_genuine": orders["order_genuine"],
                "best_observed": orders["best_observed"],
                "best_genuine": orders["best_genuine"],
                "order_changes": orders["order_changes"],
                "best_changes": orders["best_changes"],
                "best_own": (order_where_known(group, "sr_genuine") or (None, None))[1],
                "common": common_entry(common),
                "overtaking": [],
                "ranking": compared(group, common, draws, delta, confidence),
                "pairs": _pairs(common, target, confidence, delta),
                "best_changes_sure": False,
                "best_sure": False,
            }
        )
    primary = primary_entries(named, relations, commons, target, confidence, delta)
    decide(relations, delta, confidence, primary)
    return relations, standing, list(commons.values()), primary


def rated(cells: pd.DataFrame, confidence: float = 0.95, target: Target = "population") -> pd.DataFrame:
    """The cells in their order with their rates, as columns; arguments and errors as of `build_report`."""
    needed = [name for name in ("task", "relation", "system") if len(cells) and name not in cells]
    if needed:
        raise AuditError(f"cells lack the column(s) {', '.join(needed)}; needed are task, relation and system")
    optional = [name for name in ("sr_observed", "fs_rate", "family", "documents", *WORTH) if name in cells]
    if "rejected" in cells and cells["rejected"].sum() > 0:
        optional.append("rejected")
    frame = _ordered(cells.reindex(columns=[*NAMES, *COUNTS, *optional]))
    frame = with_bounds(with_rates(frame, confidence, target), confidence, target)
    repeated = frame.duplicated(["task", "study", "relation", "system"])
    if repeated.any():
        first = frame[repeated].iloc[0]
        raise AuditError(f"the cell of relation {first.relation} and system {first.system} is there twice")
    return frame


def cell_entries(frame: pd.DataFrame) -> list[CellEntry]:
    """The cells of a report, from what `rated` made."""
    rows = zip(frame.to_dict("records"), only_compared(frame), strict=True)
    return [_cell(row, bool(compared_only)) for row, compared_only in rows]


def cells_of(report: Report, task: str, study: object, relation: str) -> list[CellEntry]:
    """The cells of one relation of a report, in its order."""
    key = (task, study, relation)
    return [cell for cell in report["cells"] if (cell["task"], cell["study"], cell["relation"]) == key]


def _ordered(frame: pd.DataFrame) -> pd.DataFrame:
    """Rows by task, study, relation and system."""
    keys = zip(frame["task"], frame["study"], frame["relation"], frame["system"], strict=True)
    by_name = [
        (str(task), name_order(str(study)), name_order(str(relation)), str(system))
        for task, study, relation, system in keys
    ]
    return frame.iloc[sorted(range(len(frame)), key=by_name.__getitem__)].reset_index(drop=True)


def _pairs(common: Common | None, target: Target, confidence: float, delta: float) -> list[PairEntry]:
    if common is None:
        return []
    return pair_entries(common.systems, common.differences(target, confidence, delta))


def _cell(row: Mapping[str, Any], only_compared: bool) -> CellEntry:
    cell: dict[str, Any] = {name: plain(row[name]) for name in NAMES}
    cell |= {name: None if plain(row[name]) is None else int(row[name]) for name in COUNTS}
    cell |= {name: None if plain(row[name]) is None else float(row[name]) for name in (*RATES, *BOUNDS)}
    if "rejected" in row:
        cell["rejected"] = int(row["rejected"])
    cell |= {"reason": _reason(cell, only_compared)}
    cell |= {name: plain(row.get(name)) for name in ("method", "gain", "method_reason")}
    # The columns of a frame are `CellEntry`'s keys; no type says so.
    return cast(CellEntry, cell)


def _reason(cell: Mapping[str, Any], only_compared: bool) -> str | None:
    """Why a cell has no genuine rate."""
    if cell["sr_genuine"] is not None:
        return None
    if cell["sr_observed"] is None:
        return message("no_rate.nothing_checked")
    if only_compared:
        return COMPARES
    if not cell["drawn"]:
        return message("no_rate.none_drawn")
    if cell["drawn_open"] is None or cell["drawn_open"] == cell["drawn"]:
        return message("no_rate.none_judged")
    if cell["behind"]:
        return message("no_rate.open_behind")
    return message("no_rate.one_sided")
