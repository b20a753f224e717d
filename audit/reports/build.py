"""The report: one JSON document that the tables, the charts, the HTML file and the app all read.

Here are rates: of cells, of cells together, by relation, family and system. How systems stand to each other is in
`audit.reports.standings`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, cast

import numpy as np
import pandas as pd

from audit.errors import AuditError, UnknownName
from audit.messages import message
from audit.relations import get_relation
from audit.relations.registry import base_name, name_order
from audit.reports.document import (
    CellEntry,
    Covered,
    GenuineRates,
    OverallEntry,
    PrimaryEntry,
    RelationResultEntry,
    ReportDocument,
    RollupEntry,
    Signature,
    plain,
    unknown,
)
from audit.reports.preference import Weights
from audit.reports.standings import Comparisons, decide, decisions, preference, relation_entries
from audit.reports.violations import violation_tables
from audit.statistics.intervals import Target
from audit.statistics.rates import TELLING, Checked, Judged, Rate, Rates, rates_of

Report = ReportDocument
"""What is ready for `json.dumps`; `audit.reports.document` declares every key."""

NAMES = ("study", "corpus", "task", "relation", "system")
KEY = ["task", "study", "relation", "system"]
COUNTS = (
    "groups", "satisfied", "violated", "inapplicable", "errors", "drawn", "judged", "false", "open", "waiting",
)  # fmt: skip
LEVELS = ("relation", "system", "family", "overall")
METHOD = "beta interval at the effective size"
NOTHING = np.zeros(0, int)
NOT_JUDGED = Judged(*[NOTHING] * 7)
NOT_CHECKED = Checked(*[NOTHING] * 5)


@dataclass(frozen=True)
class Basis:
    """What a report is computed from.

    `cells` has a row a (study, task, relation, system): these columns, corpus, perhaps family, and the counts of
    `COUNTS`; where totals are known as rates only, the counts are missing and there are sr_observed and fs_rate.
    `judged` and `checked` are the groups behind them, whose cells are rows of `cells`. `comparisons` are those of each
    study; a study that is not there is compared by its cells' rates alone, as if these were independent.
    """

    cells: pd.DataFrame
    judged: Judged = NOT_JUDGED
    checked: Checked = NOT_CHECKED
    comparisons: Mapping[Any, Comparisons] = field(default_factory=dict)
    target: Target = "population"
    confidence: float = 0.95
    delta: float = 0.0
    _of_cells: dict[int, Rates] = field(default_factory=dict, repr=False)

    def rates(self, places: Sequence[int]) -> Rates:
        """The rates of these cells together."""
        finite = self.target == "corpus"
        return rates_of(places, self.judged, self.checked, finite=finite, confidence=self.confidence)

    def rates_of_cell(self, place: int) -> Rates:
        """The rates of one cell, worked out once."""
        if place not in self._of_cells:
            self._of_cells[place] = self.rates([place])
        return self._of_cells[place]

    @cached_property
    def places(self) -> dict[tuple[object, str, str], int]:
        """The row of each (study, relation, system)."""
        names = (self.cells[name] for name in ("study", "relation", "system"))
        return {(plain(study), *rest): at for at, (study, *rest) in enumerate(zip(*names, strict=True))}


def basis_of_totals(cells: pd.DataFrame, target: Target, confidence: float = 0.95, delta: float = 0.0) -> Basis:
    """Return the basis of a table of totals: every group counts by itself, and the judged ones were drawn at random."""
    cells = ordered(cells)
    judged, checked = [(NOTHING, NOTHING, NOTHING)], [(NOTHING, NOTHING)]
    for at, cell in enumerate(cells.to_dict("records")):
        counts = [plain(cell[name]) for name in ("satisfied", "violated", "judged", "false")]
        if None in counts[:2]:
            continue
        satisfied, violated, n, false = (int(count or 0) for count in counts)
        if not 0 <= false <= n <= satisfied or violated < 0:
            raise AuditError(
                f"relation {cell['relation']}, system {cell['system']}: {false} false of {n} judged of {satisfied} "
                "satisfied groups is impossible"
            )
        judged.append((np.full(n, at), np.arange(n) < false, np.full(n, n / max(satisfied, 1))))
        checked.append((np.full(satisfied + violated, at), np.arange(satisfied + violated) < satisfied))
    cell, is_false, q = (np.concatenate(parts) for parts in zip(*judged, strict=True))
    each, nothing = np.arange(len(cell)), np.zeros(len(cell), np.int8)
    of_cell, is_satisfied = (np.concatenate(parts) for parts in zip(*checked, strict=True))
    every = np.arange(len(of_cell)) + len(cell)
    return Basis(
        cells,
        Judged(cell, nothing + TELLING, is_false.astype(np.int8), nothing, q, each, each),
        Checked(of_cell, np.full(len(of_cell), TELLING), is_satisfied.astype(np.int8), every, every),
        target=target,
        confidence=confidence,
        delta=delta,
    )


def build_report(
    basis: Basis,
    signature: Signature,
    *,
    waiting: int | None = None,
    weights: Weights | None = None,
    primary: Sequence[PrimaryEntry] = (),
) -> Report:
    """Return the report. `signature` is kept as it is; its `notes`, a list of strings, are shown wherever the report
    is. `waiting` is the number of questions that wait, `weights` are a user's preferences, `primary` what was to be
    tested first.

    Counts are ints, rates are fractions, whatever is unknown is None. Cells are ordered by task, study, relation
    (numbers as numbers) and system, so equal data give equal reports; there are no times in it. Raises AuditError when
    a cell is there twice and on a delta outside 0 to 1; UnknownName for weights of unknown relations.

    >>> row = dict(task="sentiment", relation="MR1.1", system="a", satisfied=8, violated=2, judged=8, false=4)
    >>> report = build_report(basis_of_totals(pd.DataFrame([row]), "corpus"), {"seed": 0})
    >>> report["cells"][0]["sr_genuine"], report["cells"][0]["groups"]
    (0.4, None)
    """
    if not 0 <= basis.delta < 1:
        raise AuditError(message("report_setting.bad_delta", delta=basis.delta))
    repeated = basis.cells.duplicated(KEY)
    if repeated.any():
        first = basis.cells[repeated].iloc[0]
        raise AuditError(f"the cell of relation {first.relation} and system {first.system} is there twice")
    families = families_of(basis.cells, "file" not in signature)
    entries = cell_entries(basis)
    relations = relation_entries(basis.cells, entries, basis.comparisons, basis)
    decide(relations, basis.delta, basis.confidence, primary)
    report: Report = {
        "signature": _with_expected_misses(entries, signature, basis.confidence),
        "cells": entries,
        "relations": relations,
        "overall": overall(basis, entries, relations, waiting),
        "rollups": roll_ups(basis, entries, families),
        "violations": violation_tables(basis, entries, families),
        "decisions": [],
    }
    if weights is not None:
        report["preference"] = preference(basis, entries, weights)
    report["decisions"] = decisions(basis, entries, families, report.get("preference"))
    return report


def ordered(frame: pd.DataFrame) -> pd.DataFrame:
    """Return cells by task, study, relation and system, with all columns that a report reads."""
    optional = [name for name in ("sr_observed", "fs_rate", "family", "rejected") if name in frame]
    frame = frame.reindex(columns=[*NAMES, *COUNTS, *optional])
    keys = zip(frame["task"], frame["study"], frame["relation"], frame["system"], strict=True)
    by_name = [
        (str(task), name_order(str(study)), name_order(str(relation)), str(system))
        for task, study, relation, system in keys
    ]
    return frame.iloc[sorted(range(len(frame)), key=by_name.__getitem__)].reset_index(drop=True)


# Cells, and cells together.


def cell_entries(basis: Basis) -> list[CellEntry]:
    """Return the cells of a report with their rates."""
    return [_cell(basis, at, row) for at, row in enumerate(basis.cells.to_dict("records"))]


def _cell(basis: Basis, at: int, row: Mapping[str, Any]) -> CellEntry:
    cell: dict[str, Any] = {name: plain(row[name]) for name in NAMES}
    cell |= {name: None if plain(row[name]) is None else int(row[name]) for name in COUNTS}
    if plain(row.get("rejected")):
        cell["rejected"] = int(row["rejected"])
    if plain(row.get("sr_observed")) is not None:  # totals that were published as rates
        observed, false = plain(row["sr_observed"]), plain(row["fs_rate"])
        genuine = None if false is None else observed * (1 - false)
        rates: dict[str, Any] = {**unknown(GenuineRates)}
        rates |= {"sr_observed": observed, "fs_rate": false, "sr_genuine": genuine}
    else:
        rates = rate_keys(basis.rates_of_cell(at))
    sr_observed, sr_genuine = rates["sr_observed"], rates["sr_genuine"]
    cell |= rates | {
        "vr_observed": None if sr_observed is None else 1 - sr_observed,
        "vr_genuine": None if sr_genuine is None else 1 - sr_genuine,
        "method": METHOD if rates["fs_low"] is not None else None,
    }
    return cast(CellEntry, cell | {"reason": _reason(cell)})


def rate_keys(rates: Rates) -> dict[str, Any]:
    """Return rates as the keys of `GenuineRates`."""
    keys: dict[str, Any] = {"sr_observed": _value(rates.observed)}
    names = (("fs_rate", "fs", "fs", rates.false), ("sr_genuine", "sr_genuine", "sr", rates.genuine))
    for value, ends, bounds, rate in names:
        keys |= {value: _value(rate), f"{ends}_low": rate and rate.low, f"{ends}_high": rate and rate.high}
        keys |= {f"{bounds}_least": rate and rate.least, f"{bounds}_most": rate and rate.most}
    return keys


def _value(rate: Rate | None) -> float | None:
    return None if rate is None else rate.value


def _reason(cell: Mapping[str, Any]) -> str | None:
    """Why a cell has no genuine rate."""
    if cell["sr_genuine"] is not None:
        return None
    if cell["sr_observed"] is None:
        return message("no_rate.nothing_checked")
    if not cell["drawn"]:
        return message("no_rate.none_drawn")
    if cell["open"]:
        return message("no_rate.one_sided")
    return message("no_rate.waits") if cell["judged"] else message("no_rate.none_judged")


def together(
    basis: Basis,
    entries: Sequence[CellEntry],
    places: Sequence[int],
    by: str = "overall",
    name: str = "all",
    task: str | None = None,
) -> RollupEntry:
    """Return the rates of the cells at these places together; where there are none, the reason why, or bounds."""
    chosen = [entries[at] for at in places]
    entry: RollupEntry = {
        "by": by,
        "name": name,
        "task": task,
        **unknown(GenuineRates),
        "cells": len(chosen),
        "method": None,
        "reason": None,
        "missing": [],
    }
    if any(cell["satisfied"] is None for cell in chosen):
        return entry | {"reason": message("no_rate.totals_without_counts")}
    if not any((cell["satisfied"] or 0) + (cell["violated"] or 0) for cell in chosen):
        return entry | {"reason": message("no_rate.nothing_checked")}
    lacking = [cell for cell in chosen if cell["sr_genuine"] is None and cell["sr_observed"] is not None]
    entry["missing"] = [
        {"study": cell["study"], "relation": cell["relation"], "system": cell["system"]} for cell in lacking
    ]
    keys = rate_keys(basis.rates(places))
    entry |= cast(RollupEntry, keys)
    if keys["fs_least"] is not None:
        return entry | {"reason": message("no_rate.cells_with_bounds", count=len(lacking)), "method": METHOD}
    if lacking:
        return entry | {"reason": message("no_rate.cells_without_estimate", count=len(lacking))}
    return entry | {"method": METHOD}


def roll_ups(basis: Basis, entries: Sequence[CellEntry], families: Mapping[tuple[str, str], str]) -> list[RollupEntry]:
    """Return rates per relation, system, family and overall.

    `families` maps (task, relation) to the family's name; relations without one are in no family. Studies of a task are
    taken together.
    """
    rolled = []
    for by in LEVELS:
        members: dict[tuple[str | None, str], list[int]] = {}
        for place, cell in enumerate(entries):
            family = families.get((cell["task"], cell["relation"]))
            name = {"relation": cell["relation"], "system": cell["system"], "family": family, "overall": "all"}[by]
            if name is not None:
                members.setdefault((None if by == "overall" else cell["task"], name), []).append(place)
        rolled += [together(basis, entries, places, by, name, task) for (task, name), places in members.items()]
    return rolled


def overall(
    basis: Basis,
    entries: Sequence[CellEntry],
    relations: Sequence[RelationResultEntry],
    waiting: int | None = None,
) -> OverallEntry:
    """Return totals over the cells, rates of those that have an estimate, and how often the best changes.

    `best_changes_sure` counts relations where another system surely overtakes the one reported as best,
    `best_changes_open` where another one looks best, which the judged groups do not decide. An order can change only in
    the relations with two systems or more that are in both (`relations_compared`).
    """
    sums = {name: _sum([cell[name] for cell in entries]) for name in COUNTS}  # type: ignore[literal-required]
    if any("rejected" in cell for cell in entries):
        sums["rejected"] = sum(cell.get("rejected") or 0 for cell in entries)
    sure = sum(relation["best_changes_sure"] for relation in relations)
    changed = sum(relation["best_changes"] for relation in relations)
    return {
        "relations": len(relations),
        "relations_compared": sum(
            len(set(relation["order_observed"]) & set(relation["order_genuine"])) > 1 for relation in relations
        ),
        "systems": len({cell["system"] for cell in entries}),
        "cells": sum(cell["sr_observed"] is not None for cell in entries),
        "cells_estimated": sum(cell["sr_genuine"] is not None for cell in entries),
        "cells_waiting": sum((cell["waiting"] or 0) > 0 for cell in entries),
        **cast(dict[str, Any], sums),  # type: ignore[typeddict-item]
        "waiting": sums["waiting"] if waiting is None else waiting,
        "waiting_distinct": waiting is not None,
        "best_changes_sure": sure,
        "best_changes_open": sum(
            relation["best_changes"] and not relation["best_changes_sure"] for relation in relations
        ),
        "best_changes_estimated": changed,
        **_covered(basis, entries),
    }


def _sum(values: Sequence[Any]) -> int | None:
    return None if values and all(value is None for value in values) else sum(value or 0 for value in values)


def _covered(basis: Basis, entries: Sequence[CellEntry]) -> Covered:
    """The rates over the cells that have an estimate, and what they cover; where none has, but answers leave bounds,
    over all cells."""
    known = [at for at, cell in enumerate(entries) if cell["fs_rate"] is not None and cell["satisfied"]]
    places = known or [at for at, cell in enumerate(entries) if cell["satisfied"]]
    entry = together(basis, entries, places)
    said = entry["fs_rate"] is not None or entry["fs_least"] is not None
    return {
        **{name: entry[name] for name in GenuineRates.__annotations__},  # type: ignore[typeddict-item, literal-required]
        "sr_observed": entry["sr_observed"] if said else None,
        "cells_covered": len(places) if said else 0,
        "satisfied_covered": sum(entries[at]["satisfied"] or 0 for at in places) if said else 0,
    }


def _with_expected_misses(entries: Sequence[CellEntry], signature: Signature, confidence: float) -> Signature:
    """The signature, with a note of how many intervals are expected to miss, where these are two or more."""
    number = sum(cell["fs_rate"] is not None and cell["fs_low"] is not None for cell in entries)
    missing = (1 - confidence) * number
    if missing < 2 - 1e-9:
        return signature.copy()
    note = message("note.each_alone", percent=100 * confidence, count=number, missing=missing)
    return {**signature, "notes": [*(signature.get("notes") or []), note]}


def families_of(cells: pd.DataFrame, registered: bool) -> dict[tuple[str, str], str]:
    """Return (task, relation) -> family: the column `family` where it is given, else the registered relation's.

    For totals of a file (`registered` false), whose MR1.1 may be another relation than ours, the family is the part of
    the name before its last full stop: MR1 of MR1.1.
    """
    families: dict[tuple[str, str], str] = {}
    column = cells["family"] if "family" in cells else pd.Series([None] * len(cells), index=cells.index)
    for task, relation, family in zip(cells["task"], cells["relation"], column, strict=True):
        if isinstance(family, str) and family:
            families[task, relation] = family
        elif registered:
            try:
                families[task, relation] = get_relation(task, base_name(relation)).family
            except UnknownName:
                continue  # an imported relation that nobody registered has no family
        elif "." in relation:
            families[task, relation] = relation.rsplit(".", 1)[0]
    return families
