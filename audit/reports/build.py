"""The report: one JSON document that the tables, the charts, the HTML file and the app all read.

Here are rates: of cells, and of cells together by relation, family, system and all, once as a list and once as studies
print them. How systems stand to each other is in `audit.reports.standings`.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pandas as pd

from audit.errors import AuditError, UnknownName
from audit.false_satisfaction.accuracy import NO_GOLD, RightOutputs, SystemAccuracy
from audit.messages import message
from audit.relations import get_relation
from audit.relations.registry import base_name
from audit.reports.basis import COUNTS, KEY, NAMES, Basis
from audit.reports.document import (
    CellEntry,
    Entry,
    EstimateEntry,
    GenuineRates,
    OverallEntry,
    PrimaryEntry,
    RelationResultEntry,
    ReportDocument,
    RollupEntry,
    Signature,
    ViolationRate,
    ViolationTable,
    estimated,
    less,
    plain,
)
from audit.reports.preference import Weights
from audit.reports.standings import decide, decisions, relation_entries
from audit.statistics.intervals import mid_p
from audit.statistics.rates import Rates

Report = ReportDocument
"""What is ready for `json.dumps`; `audit.reports.document` declares every key."""
Families = Mapping[tuple[str, str], str]
"""(task, relation) -> the family's name; relations without one are in no family."""
LEVELS = ("relation", "system", "family", "overall")
METHOD = "beta interval at the effective size"


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

    Cells are ordered by task, study, relation (numbers as numbers) and system, so equal data give equal reports; there
    are no times in it. Raises AuditError when a cell is there twice and on a delta outside 0 to 1; UnknownName for
    weights of unknown relations.

    >>> from audit.reports.basis import basis_of_totals
    >>> row = dict(task="sentiment", relation="MR1.1", system="a", satisfied=8, violated=2, judged=8, false=4)
    >>> report = build_report(basis_of_totals(pd.DataFrame([row]), "corpus"), {"seed": 0})
    >>> report["cells"][0]["sr_genuine"]["value"], report["cells"][0]["groups"]
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
    relations = relation_entries(entries, basis)
    decide(relations, basis.delta, basis.confidence, primary)
    return {
        "signature": _with_expected_misses(entries, signature, basis.confidence),
        "cells": entries,
        "relations": relations,
        "overall": overall(basis, entries, relations, waiting),
        "rollups": roll_ups(basis, entries, families),
        "violations": violation_tables(basis, entries, families),
        "decisions": decisions(basis, entries, families, weights),
    }


def families_of(cells: pd.DataFrame, registered: bool) -> dict[tuple[str, str], str]:
    """Return the families: the column `family` where it is given, else the registered relation's.

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


# Cells, and cells together.


def genuine_rates(rates: Rates, n: int | None, reason: str | None) -> GenuineRates:
    """Return rates as documents have them."""
    observed = None if rates.observed is None else rates.observed.value
    false, genuine = (estimated(rate, n, reason) for rate in (rates.false, rates.genuine))
    return {"sr_observed": observed, "fs_rate": false, "sr_genuine": genuine}


def cell_entries(basis: Basis) -> list[CellEntry]:
    """Return the cells of a report with their rates."""
    return [_cell(basis, at, row) for at, row in enumerate(basis.cells.to_dict("records"))]


def _cell(basis: Basis, at: int, row: Mapping[Any, Any]) -> CellEntry:
    cell: Any = {name: plain(row[name]) for name in NAMES}
    cell |= {name: None if plain(row[name]) is None else int(row[name]) for name in COUNTS}
    if plain(row.get("rejected")):
        cell["rejected"] = int(row["rejected"])
    published = plain(row.get("sr_observed"))
    if published is None:
        rates = genuine_rates(basis.rates_of_cell(at), cell["judged"], None)
    else:  # totals that were published as rates
        false = plain(row["fs_rate"])
        genuine = None if false is None else published * (1 - false)
        rates = {"sr_observed": published, "fs_rate": estimated((false,)), "sr_genuine": estimated((genuine,))}
    if rates["sr_genuine"]["value"] is None:
        rates["fs_rate"]["reason"] = rates["sr_genuine"]["reason"] = _reason(cell, rates["sr_observed"])
    return cell | rates  # type: ignore[no-any-return]


def _reason(cell: Entry, sr_observed: float | None) -> str:
    """Why a cell has no genuine rate."""
    if sr_observed is None:
        return message("no_rate.nothing_checked")
    if not cell["drawn"]:
        return message("no_rate.none_drawn")
    if cell["open"]:
        return message("no_rate.one_sided")
    return message("no_rate.waits") if cell["judged"] else message("no_rate.none_judged")


def _groups(cell: CellEntry) -> int:
    return (cell["satisfied"] or 0) + (cell["violated"] or 0)


def together(basis: Basis, entries: Sequence[CellEntry], places: Sequence[int]) -> tuple[GenuineRates, list[Entry]]:
    """Return the rates of the cells at these places together, or bounds, or the reason why there are none; and which
    cells lack an estimate."""
    chosen, unknown = [entries[at] for at in places], Rates(None, None, None)
    if any(cell["satisfied"] is None for cell in chosen):
        return genuine_rates(unknown, None, message("no_rate.totals_without_counts")), []
    if not any(map(_groups, chosen)):
        return genuine_rates(unknown, None, message("no_rate.nothing_checked")), []
    lacking = [c for c in chosen if c["sr_genuine"]["value"] is None and c["sr_observed"] is not None]
    rates, reason = basis.rates(places), None
    if rates.false is not None and rates.false.least is not None:
        reason = message("no_rate.cells_with_bounds", count=len(lacking))
    elif lacking:
        reason = message("no_rate.cells_without_estimate", count=len(lacking))
    missing: list[Entry] = [{name: cell[name] for name in ("study", "relation", "system")} for cell in lacking]
    return genuine_rates(rates, sum(cell["judged"] or 0 for cell in chosen), reason), missing


def roll_ups(basis: Basis, entries: Sequence[CellEntry], families: Families) -> list[RollupEntry]:
    """Return rates per relation, system, family and overall; studies of a task are taken together."""
    rolled: list[RollupEntry] = []
    for by in LEVELS:
        members: dict[tuple[str | None, str], list[int]] = {}
        for place, cell in enumerate(entries):
            family = families.get((cell["task"], cell["relation"]))
            name = {"relation": cell["relation"], "system": cell["system"], "family": family, "overall": "all"}[by]
            if name is not None:
                members.setdefault((None if by == "overall" else cell["task"], name), []).append(place)
        for (task, name), places in members.items():
            rates, missing = together(basis, entries, places)
            rolled.append({"by": by, "name": name, "task": task, **rates, "cells": len(places), "missing": missing})
    return rolled


def overall(
    basis: Basis, entries: Sequence[CellEntry], relations: Sequence[RelationResultEntry], waiting: int | None = None
) -> OverallEntry:
    """Return totals over the cells, rates of those that have an estimate (or where none has, but answers leave bounds,
    of all), and how often the best changes.

    `best_changes_sure` counts relations where another system surely overtakes the one reported as best,
    `best_changes_open` where another one looks best, which the judged groups do not decide. An order can change only in
    the relations with two systems or more that are in both (`relations_compared`).
    """
    sums: dict[str, Any] = {name: _sum([cell[name] for cell in entries]) for name in COUNTS}  # type: ignore[literal-required]
    if any("rejected" in cell for cell in entries):
        sums["rejected"] = sum(cell.get("rejected") or 0 for cell in entries)
    sure = sum(relation["best_changes_sure"] for relation in relations)
    known = [at for at, cell in enumerate(entries) if cell["fs_rate"]["value"] is not None and cell["satisfied"]]
    covered = known or [at for at, cell in enumerate(entries) if cell["satisfied"]]
    rates, _ = together(basis, entries, covered)
    if rates["fs_rate"]["low"] is None:
        covered, rates["sr_observed"] = [], None
    return {
        "relations": len(relations),
        "relations_compared": sum(
            len(set(relation["order_observed"]) & set(relation["order_genuine"])) > 1 for relation in relations
        ),
        "systems": len({cell["system"] for cell in entries}),
        "cells": sum(cell["sr_observed"] is not None for cell in entries),
        "cells_estimated": sum(cell["sr_genuine"]["value"] is not None for cell in entries),
        "cells_waiting": sum((cell["waiting"] or 0) > 0 for cell in entries),
        **sums,  # type: ignore[typeddict-item]
        "waiting": sums["waiting"] if waiting is None else waiting,
        "waiting_distinct": waiting is not None,
        "best_changes_sure": sure,
        "best_changes_open": sum(r["best_changes"] and not r["best_changes_sure"] for r in relations),
        **rates,
        "cells_covered": len(covered),
        "satisfied_covered": sum(entries[at]["satisfied"] or 0 for at in covered),
    }


def _sum(values: Sequence[Any]) -> int | None:
    return None if values and all(value is None for value in values) else sum(value or 0 for value in values)


def _with_expected_misses(entries: Sequence[CellEntry], signature: Signature, confidence: float) -> Signature:
    """The signature, with a note of how many intervals are expected to miss, where these are two or more."""
    number = sum(cell["fs_rate"]["value"] is not None and cell["fs_rate"]["low"] is not None for cell in entries)
    missing = (1 - confidence) * number
    if missing < 2 - 1e-9:
        return signature.copy()
    note = message("note.each_alone", percent=100 * confidence, count=number, missing=missing)
    return {**signature, "notes": [*(signature.get("notes") or []), note]}


# Violation rates as studies print them, and accuracy beside them.


def violation_tables(basis: Basis, entries: Sequence[CellEntry], families: Families) -> list[ViolationTable]:
    """Return one table a study: rows are its relations, then their families, then totals; columns its systems.

    An entry has a cell's own rates, or those of several cells together. Where some relation lacks an estimate for a
    system, or does not apply to it, a row `estimated` after `all` is over the other relations, so that VR_o and VR_g of
    all systems can be compared.
    """
    tables: list[ViolationTable] = []
    for task, study in dict.fromkeys((cell["task"], cell["study"]) for cell in entries):
        own = [cell for cell in entries if (cell["task"], cell["study"]) == (task, study)]
        systems = sorted({cell["system"] for cell in own})
        place: Any = {"task": task, "study": study, "corpus": own[0]["corpus"], "systems": systems}
        rows: Any = [
            {
                "by": by, "name": name, "family": family,
                "rates": [_violations(system, basis, entries, study, members) for system in systems],
            }
            for by, name, family, members in _rows(own, systems, families)
        ]  # fmt: skip
        tables.append(place | {"rows": rows})
    return tables


def _rows(
    cells: Sequence[CellEntry], systems: Sequence[str], families: Families
) -> Iterator[tuple[str, str, str | None, list[str]]]:
    """Yield the rows of a study's table: kind, name, family, and the relations that it is over."""
    relations = list(dict.fromkeys(cell["relation"] for cell in cells))
    of = {name: families.get((cells[0]["task"], name)) for name in relations}
    yield from (("relation", relation, of[relation], [relation]) for relation in relations)
    for family in dict.fromkeys(filter(None, of.values())):
        yield "family", family, family, [name for name in relations if of[name] == family]
    yield "all", "all", None, relations
    checked = [cell for cell in cells if cell["sr_observed"] is not None]
    known = {(cell["relation"], cell["system"]) for cell in checked if cell["sr_genuine"]["value"] is not None}
    lacking = {cell["relation"] for cell in checked for one in systems if (cell["relation"], one) not in known}
    rest = [relation for relation in relations if relation not in lacking]
    if lacking and any(cell["satisfied"] for cell in cells if cell["relation"] in rest):
        yield "estimated", message("violations.estimated", part=len(rest), count=len(relations)), None, rest


def _violations(
    system: str, basis: Basis, entries: Sequence[CellEntry], study: object, relations: Sequence[str]
) -> ViolationRate:
    """The rates of a system's cells under these relations together."""
    keys = [(study, relation, system) for relation in relations]
    places = [basis.places[key] for key in keys if key in basis.places]
    if not places:
        reason = message("no_rate.not_run")
        return {"system": system, "groups": None, "vr_observed": None, "vr_genuine": estimated(None, reason=reason)}
    chosen = [entries[at] for at in places]
    rates: GenuineRates = chosen[0] if len(places) == 1 else together(basis, entries, places)[0]
    observed, genuine = rates["sr_observed"], less(rates["sr_genuine"])
    return {
        "system": system,
        "groups": None if any(cell["satisfied"] is None for cell in chosen) else sum(map(_groups, chosen)),
        "vr_observed": None if observed is None else 1 - observed,
        "vr_genuine": genuine if genuine["value"] is None else {**genuine, "reason": None},
    }


def accuracy_entries(
    violations: Sequence[ViolationTable], right_outputs: Sequence[RightOutputs], confidence: float = 0.95
) -> list[Entry]:
    """Return one entry a table of `violations`: each system's accuracy by gold, and its SR_o and SR_g.

    SR_o = 1 - VR_o and SR_g = 1 - VR_g are what a study reports as accuracy by metamorphic testing. Both are over all
    relations or, where the table has a row `estimated`, over those of which every system has an estimate: `over` is
    that row's name. `order_*` are the systems, best first (ties by name), by each of the three; None where one system
    lacks the rate. Without gold `systems` is empty, with the reason.
    """
    counts: Mapping[Any, RightOutputs] = {one.study: one for one in right_outputs if one.by == "gold"}
    entries: list[Entry] = []
    for table in violations:
        outputs = counts.get(table["study"])
        totals, systems = table["rows"][-1], list[Entry]()
        if outputs is not None and outputs.reason is None:
            by_name = {answered.system: answered for answered in outputs.systems}
            systems = [_accuracy(by_name[rates["system"]], rates, confidence) for rates in totals["rates"]]
        entries.append(
            {
                "task": table["task"], "study": table["study"], "corpus": table["corpus"],
                "sources": outputs.sources if outputs else 0,
                "systems": systems,
                "reason": outputs.reason if outputs else NO_GOLD,
                "over": totals["name"],
                "order_accuracy": _order({one["system"]: one["accuracy"]["value"] for one in systems}),
                "order_observed": _order({one["system"]: one["sr_observed"] for one in systems}),
                "order_genuine": _order({one["system"]: one["sr_genuine"]["value"] for one in systems}),
            }
        )  # fmt: skip
    return entries


def accuracy_of(answered: SystemAccuracy, confidence: float = 0.95) -> EstimateEntry:
    """Return a system's accuracy with its mid-p interval for texts to come, where outputs of one document count as
    their effective number."""
    if not answered.outputs:
        return estimated(None, 0)
    rate, worth = answered.right / answered.outputs, answered.outputs if answered.worth is None else answered.worth
    ends = mid_p(rate * worth, worth, None, confidence=confidence)
    return estimated((rate, ends.low, ends.high), answered.outputs)


def _accuracy(answered: SystemAccuracy, rates: ViolationRate, confidence: float) -> Entry:
    genuine = less(rates["vr_genuine"])
    if genuine["value"] is None:  # bounds are in the table of violations
        genuine = estimated(None, reason=genuine["reason"])
    return {
        "system": answered.system,
        "right": answered.right,
        "accuracy": accuracy_of(answered, confidence),
        "sr_observed": None if rates["vr_observed"] is None else 1 - rates["vr_observed"],
        "sr_genuine": genuine,
    }


def _order(rates: Mapping[str, float | None]) -> list[str] | None:
    """Systems by their rates, best first; None where there are none or one lacks the rate."""
    known = {system: rate for system, rate in rates.items() if rate is not None}
    return sorted(known, key=lambda one: (-round(known[one], 12), one)) if rates and len(known) == len(rates) else None
