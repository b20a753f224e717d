"""Violation rates by relation and system, as studies print them: a pivot of cells a study, with families and totals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from audit.messages import message
from audit.relations import find_relation
from audit.reports.document import CellEntry, ViolationRate, ViolationTable, unknown

if TYPE_CHECKING:
    from audit.reports.build import Basis

_OF_VR = {
    "vr_observed": "sr_observed",
    "vr_genuine": "sr_genuine",
    "vr_genuine_low": "sr_genuine_high",
    "vr_genuine_high": "sr_genuine_low",
    "vr_least": "sr_most",
    "vr_most": "sr_least",
}
"""VR = 1 - SR, so that the lower end of one is the upper end of the other."""
NOT_RUN = message("no_rate.not_run")


def violation_tables(
    basis: Basis, entries: Sequence[CellEntry], families: Mapping[tuple[str, str], str]
) -> list[ViolationTable]:
    """Return one table a study: rows are its relations, then their families, then totals; columns its systems.

    `families` maps (task, relation) to the family's name. An entry has a cell's own rates, or those of several cells
    together, as in roll-ups; `reason` says why there is no VR_g. Where some relation lacks an estimate for a system, or
    does not apply to it, a row `estimated` after `all` is over the other relations, so that VR_o and VR_g of all
    systems can be compared.
    """
    tables: list[ViolationTable] = []
    for task, study in dict.fromkeys((cell["task"], cell["study"]) for cell in entries):
        own = [cell for cell in entries if (cell["task"], cell["study"]) == (task, study)]
        systems = sorted({cell["system"] for cell in own})
        relations = list(dict.fromkeys(cell["relation"] for cell in own))
        by_family: dict[str, list[str]] = {}
        for relation in relations:
            if (task, relation) in families:
                by_family.setdefault(families[task, relation], []).append(relation)
        rows = [("relation", relation, families.get((task, relation)), [relation]) for relation in relations]
        rows += [("family", family, family, members) for family, members in by_family.items()]
        rows += [("all", "all", None, relations)]
        checked = [cell for cell in own if cell["sr_observed"] is not None]
        known = {(cell["relation"], cell["system"]) for cell in checked if cell["sr_genuine"] is not None}
        lacking = {cell["relation"] for cell in checked for one in systems if (cell["relation"], one) not in known}
        estimated = [relation for relation in relations if relation not in lacking]
        if lacking and any(cell["satisfied"] for cell in own if cell["relation"] in estimated):
            name = message("violations.estimated", part=len(estimated), count=len(relations))
            rows += [("estimated", name, None, estimated)]
        tables.append(
            {
                "task": task,
                "study": study,
                "corpus": own[0]["corpus"],
                "systems": systems,
                "rows": [
                    {
                        "by": by,
                        "name": name,
                        "family": family,
                        "rates": [_entry(system, basis, entries, study, members) for system in systems],
                    }
                    for by, name, family, members in rows
                ],
            }
        )
    return tables


class NamedRate(ViolationRate):
    """A violation rate with the name of its row."""

    name: str


def rates_of(table: ViolationTable, by: str, system: str) -> list[NamedRate]:
    """Return the entries of one system, of the rows of one kind, in their order, each with its row's `name`."""
    column = table["systems"].index(system)
    return [{"name": row["name"], **row["rates"][column]} for row in table["rows"] if row["by"] == by]


def counterpart(task: str, relation: str) -> str | None:
    """Return what a relation that is written for several tasks is called in all of them; None for others.

    >>> counterpart("summarization", "MR4.2"), counterpart("classification/a,b", "MR4.3"), counterpart("sentiment", "X")
    ('MR4', 'MR4', None)
    """
    registered = find_relation(task, relation)
    return registered.counterpart if registered is not None and registered.counterpart else None


def _entry(
    system: str, basis: Basis, entries: Sequence[CellEntry], study: object, relations: Sequence[str]
) -> ViolationRate:
    """Return the rates of a system's cells under these relations together."""
    from audit.reports.build import together

    keys = [(study, relation, system) for relation in relations]
    places = [basis.places[key] for key in keys if key in basis.places]
    if not places:
        return {**unknown(ViolationRate), "system": system, "reason": NOT_RUN}
    chosen = [entries[at] for at in places]
    rates = chosen[0] if len(places) == 1 else together(basis, entries, places)
    values = {name: rates[of] for name, of in _OF_VR.items()}  # type: ignore[literal-required]
    values = {name: None if rate is None else 1 - rate for name, rate in values.items()}
    reason = rates["reason"] if values["vr_genuine"] is None else None
    groups = (
        None
        if any(cell["satisfied"] is None for cell in chosen)
        else sum((cell["satisfied"] or 0) + (cell["violated"] or 0) for cell in chosen)
    )
    return {"system": system, "groups": groups, **values, "reason": reason}  # type: ignore[typeddict-item]
