"""The report: one JSON document that the tables, the charts, the HTML file and the app all read.

Here are rates: of cells, and of cells together, once as a list and once as studies print them. How systems stand to
each other is in `audit.reports.standings`.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from audit.messages import message
from audit.relations import find_relation
from audit.relations.registry import base_name
from audit.reports.basis import COUNTS, NAMES, Basis
from audit.reports.document import Entry, estimated, less, plain
from audit.reports.options import Weights
from audit.reports.standings import decide, decisions, relation_entries
from audit.statistics.rates import Rates

Families = Mapping[tuple[str, str], str]
"""(task, relation) -> the family's name; relations without one are in no family."""
METHOD = "beta interval at the effective size"


def build_report(
    basis: Basis,
    signature: Entry,
    *,
    waiting: int | None = None,
    weights: Weights | None = None,
    primary: Sequence[Entry] = (),
) -> Entry:
    """Return the report: equal data give equal ones. `waiting` is the number of questions that wait, `weights` are a
    user's preferences, `primary` what was to be tested first.

    Raises UnknownName for weights of unknown relations.

    >>> from audit.reports.basis import basis_of_totals
    >>> row = dict(task="sentiment", relation="MR1.1", system="a", satisfied=8, violated=2, judged=8, false=4)
    >>> report = build_report(basis_of_totals(pd.DataFrame([row]), "corpus"), {"seed": 0})
    >>> report["cells"][0]["sr_genuine"]["value"], report["cells"][0]["groups"]
    (0.4, None)
    """
    families = families_of(basis.cells, "file" not in signature)
    cells = cell_entries(basis)
    relations = relation_entries(cells, basis)
    decide(relations, basis, primary)
    # Intervals that are expected to miss are told from two on.
    number = sum(cell["fs_rate"]["value"] is not None and cell["fs_rate"]["low"] is not None for cell in cells)
    if (missing := (1 - basis.confidence) * number) >= 2 - 1e-9:
        note = message("note.each_alone", percent=100 * basis.confidence, count=number, missing=missing)
        signature = {**signature, "notes": [*(signature.get("notes") or []), note]}
    return {
        "signature": signature.copy(),
        "cells": cells,
        "relations": relations,
        "overall": _overall(basis, cells, relations, waiting),
        "rollups": _roll_ups(basis, cells, families),
        "violations": _violation_tables(basis, cells, families),
        "decisions": decisions(basis, cells, families, weights),
    }


def families_of(cells: pd.DataFrame, registered: bool) -> dict[tuple[str, str], str]:
    """Return the families: the column `family` where it is given, else the registered relation's.

    For totals of a file (`registered` false), whose MR1.1 may be another relation than ours, the family is the part of
    the name before its last full stop: MR1 of MR1.1.
    """
    families: dict[tuple[str, str], str] = {}
    for task, relation, family in cells.reindex(columns=["task", "relation", "family"]).itertuples(index=False):
        if isinstance(family, str) and family:
            families[task, relation] = family
        elif registered and (other := find_relation(task, base_name(relation))):
            families[task, relation] = other.family  # an imported relation that nobody registered has no family
        elif not registered and "." in relation:
            families[task, relation] = relation.rsplit(".", 1)[0]
    return families


# Cells, and cells together.


def _rates(rates: Rates, n: int | None, reason: str | None = None) -> Entry:
    return {
        "sr_observed": rates.observed and rates.observed.value,
        "fs_rate": estimated(rates.false, n, reason),
        "sr_genuine": estimated(rates.genuine, n, reason),
    }


def cell_entries(basis: Basis) -> list[Entry]:
    """Return the cells of a report with their rates."""
    return [_cell(basis, at, row) for at, row in enumerate(basis.cells.to_dict("records"))]


def _cell(basis: Basis, at: int, row: Mapping[Any, Any]) -> Entry:
    cell = {name: plain(row[name]) for name in NAMES}
    cell |= {name: None if plain(row[name]) is None else int(row[name]) for name in COUNTS}
    if plain(row.get("rejected")):
        cell["rejected"] = int(row["rejected"])
    published = plain(row.get("sr_observed"))
    if published is None:
        cell |= _rates(basis.of_cells[at], cell["judged"])
    else:  # totals that were published as rates
        false = plain(row["fs_rate"])
        genuine = None if false is None else published * (1 - false)
        cell |= {"sr_observed": published, "fs_rate": estimated((false,)), "sr_genuine": estimated((genuine,))}
    if cell["sr_genuine"]["value"] is None:
        code = (
            "nothing_checked" if cell["sr_observed"] is None else "none_drawn" if not cell["drawn"]
            else "one_sided" if cell["open"] else "waits" if cell["judged"] else "none_judged"
        )  # fmt: skip
        cell["fs_rate"]["reason"] = cell["sr_genuine"]["reason"] = message(f"no_rate.{code}")
    return cell


def _groups(cell: Entry) -> int:
    return int((cell["satisfied"] or 0) + (cell["violated"] or 0))


def together(basis: Basis, cells: Sequence[Entry], places: Sequence[int]) -> tuple[Entry, list[Entry]]:
    """Return the rates of the cells at these places together, or bounds, or the reason why there are none; and which
    cells lack an estimate."""
    chosen, unknown = [cells[at] for at in places], Rates(None, None, None)
    if any(cell["satisfied"] is None for cell in chosen):
        return _rates(unknown, None, message("no_rate.totals_without_counts")), []
    if not any(map(_groups, chosen)):
        return _rates(unknown, None, message("no_rate.nothing_checked")), []
    lacking = [c for c in chosen if c["sr_genuine"]["value"] is None and c["sr_observed"] is not None]
    rates, reason = basis.rates(places), None
    bounds = rates.false is not None and rates.false.least is not None
    if lacking or bounds:
        code = "no_rate.cells_with_bounds" if bounds else "no_rate.cells_without_estimate"
        reason = message(code, count=len(lacking))
    missing = [{name: cell[name] for name in ("study", "relation", "system")} for cell in lacking]
    return _rates(rates, sum(cell["judged"] or 0 for cell in chosen), reason), missing


def _roll_ups(basis: Basis, cells: Sequence[Entry], families: Families) -> list[Entry]:
    """Return rates per relation, system, family and overall; studies of a task are taken together."""
    rolled: list[Entry] = []
    for by in ("relation", "system", "family", "overall"):
        members: dict[tuple[str | None, str], list[int]] = {}
        for place, cell in enumerate(cells):
            names = {"family": families.get((cell["task"], cell["relation"])), "overall": "all"}
            if (name := names[by] if by in names else cell[by]) is not None:
                members.setdefault((None if by == "overall" else cell["task"], name), []).append(place)
        for (task, name), places in members.items():
            rates, missing = together(basis, cells, places)
            rolled.append({"by": by, "name": name, "task": task, **rates, "cells": len(places), "missing": missing})
    return rolled


def _overall(basis: Basis, cells: Sequence[Entry], relations: Sequence[Entry], waiting: int | None) -> Entry:
    """Return totals over the cells, rates of those that have an estimate (or where none has, but answers leave bounds,
    of all), and how often the best changes.

    `best_changes_sure` counts relations where another system surely overtakes the one reported as best,
    `best_changes_open` where another one looks best, which the judged groups do not decide. An order can change only in
    the relations with two systems or more that are in both (`relations_compared`).
    """
    sums: Entry = {}
    for name in (*COUNTS, *(["rejected"] if any("rejected" in cell for cell in cells) else [])):
        numbers = [cell[name] for cell in cells if cell.get(name) is not None]
        sums[name] = sum(numbers) if numbers or not cells else None
    satisfied = [at for at, cell in enumerate(cells) if cell["satisfied"]]
    covered = [at for at in satisfied if cells[at]["fs_rate"]["value"] is not None] or satisfied
    rates, _ = together(basis, cells, covered)
    if rates["fs_rate"]["low"] is None:
        covered, rates["sr_observed"] = [], None
    both = (set(of["order_observed"]) & set(of["order_genuine"]) for of in relations)
    return {
        "relations": len(relations),
        "relations_compared": sum(len(systems) > 1 for systems in both),
        "systems": len({cell["system"] for cell in cells}),
        "cells": sum(cell["sr_observed"] is not None for cell in cells),
        "cells_estimated": sum(cell["sr_genuine"]["value"] is not None for cell in cells),
        "cells_waiting": sum((cell["waiting"] or 0) > 0 for cell in cells),
        **sums,
        "waiting": sums["waiting"] if waiting is None else waiting,
        "waiting_distinct": waiting is not None,
        "best_changes_sure": sum(of["best_changes_sure"] for of in relations),
        "best_changes_open": sum(of["best_changes"] and not of["best_changes_sure"] for of in relations),
        **rates,
        "cells_covered": len(covered),
        "satisfied_covered": sum(cells[at]["satisfied"] for at in covered),
    }


# Violation rates as studies print them.


def _violation_tables(basis: Basis, cells: Sequence[Entry], families: Families) -> list[Entry]:
    """Return one table a study: rows are its relations, then their families, then totals; columns its systems.

    An entry has a cell's own rates, or those of several cells together. Where some relation lacks an estimate for a
    system, or does not apply to it, a row `estimated` after `all` is over the other relations, so that VR_o and VR_g of
    all systems can be compared.
    """
    tables: list[Entry] = []
    for task, study in dict.fromkeys((cell["task"], cell["study"]) for cell in cells):
        own = [cell for cell in cells if (cell["task"], cell["study"]) == (task, study)]
        systems = sorted({cell["system"] for cell in own})
        of = {cell["relation"]: families.get((task, cell["relation"])) for cell in own}
        checked = [cell for cell in own if cell["sr_observed"] is not None]
        rated = {(cell["relation"], cell["system"]) for cell in checked if cell["sr_genuine"]["value"] is not None}
        lacking = {
            cell["relation"]
            for cell in checked
            for lacking_system in systems
            if (cell["relation"], lacking_system) not in rated
        }
        others = [relation for relation in of if relation not in lacking]
        shown = [("relation", relation, family, [relation]) for relation, family in of.items()]
        for family in filter(None, dict.fromkeys(of.values())):
            shown.append(("family", family, family, [name for name in of if of[name] == family]))
        shown.append(("all", "all", None, list(of)))
        if lacking and any(cell["satisfied"] for cell in own if cell["relation"] in others):
            name = message("violations.estimated", part=len(others), count=len(of))
            shown.append(("estimated", name, None, others))
        rows = [
            {"by": by, "name": name, "family": family,
             "rates": [_violations(system, basis, cells, study, members) for system in systems]}
            for by, name, family, members in shown
        ]  # fmt: skip
        tables.append({"task": task, "study": study, "corpus": own[0]["corpus"], "systems": systems, "rows": rows})
    return tables


def _violations(system: str, basis: Basis, cells: Sequence[Entry], study: Any, relations: Sequence[str]) -> Entry:
    """Return the rates of a system's cells under these relations together."""
    keys = [(study, relation, system) for relation in relations]
    places = [basis.places[key] for key in keys if key in basis.places]
    if not places:
        unknown = estimated(None, reason=message("no_rate.not_run"))
        return {"system": system, "groups": None, "vr_observed": None, "vr_genuine": unknown}
    chosen = [cells[at] for at in places]
    rates = chosen[0] if len(places) == 1 else together(basis, cells, places)[0]
    genuine = less(rates["sr_genuine"])
    return {
        "system": system,
        "groups": None if any(cell["satisfied"] is None for cell in chosen) else sum(map(_groups, chosen)),
        "vr_observed": None if rates["sr_observed"] is None else 1 - rates["sr_observed"],
        "vr_genuine": genuine if genuine["value"] is None else {**genuine, "reason": None},
    }
