"""Violation rates by relation and system, as studies print them: a pivot of cells a study, with families and totals."""

from collections.abc import Mapping, Sequence

import pandas as pd

from audit.messages import message
from audit.relations import find_relation
from audit.reports.certainty import Certainty, roll_up
from audit.reports.document import ViolationRate, ViolationTable, plain, unknown

VR_BOUNDS = ("vr_least", "vr_most", "vr_bound_low", "vr_bound_high")
"""Where there is no VR_g: what answers leave possible of it."""
_OF_VR = {
    "vr_observed": "sr_observed",
    "vr_genuine": "sr_genuine",
    "vr_genuine_low": "sr_genuine_high",
    "vr_genuine_high": "sr_genuine_low",
    "vr_least": "sr_most",
    "vr_most": "sr_least",
    "vr_bound_low": "sr_bound_high",
    "vr_bound_high": "sr_bound_low",
}
"""VR = 1 - SR, so that the lower end of one is the upper end of the other."""
NOT_RUN = message("no_rate.not_run")


def violation_tables(
    cells: pd.DataFrame, certainty: Certainty, families: Mapping[tuple[str, str], str]
) -> list[ViolationTable]:
    """Return one table a study: rows are its relations, then their families, then totals; columns its systems.

    `cells` has the rates of every cell, in the report's order, `families` the family's name by (task, relation). An
    entry has a cell's own rates, or those of several cells together, each weighed by its groups as in roll-ups;
    `reason` says why there is no VR_g. Where some relation lacks an estimate for a system, or does not apply to it, a
    row `estimated` after `all` is over the other relations, so that VR_o and VR_g of all systems can be compared.
    """
    tables: list[ViolationTable] = []
    for (task, study), own in cells.groupby(["task", "study"], sort=False, dropna=False):
        keys = zip(own["relation"], own["system"].astype(str), strict=True)
        places = dict(zip(keys, cells.index.get_indexer(own.index).tolist(), strict=True))
        systems = sorted(set(own["system"].astype(str)))
        relations = list(dict.fromkeys(own["relation"]))
        by_family: dict[str, list[str]] = {}
        for relation in relations:
            if (task, relation) in families:
                by_family.setdefault(families[task, relation], []).append(relation)
        rows = [("relation", relation, families.get((task, relation)), [relation]) for relation in relations]
        rows += [("family", family, family, members) for family, members in by_family.items()]
        rows += [("all", "all", None, relations)]
        checked = own[own["satisfied"] + own["violated"] != 0]  # unknown counts, too
        known = checked[checked["sr_genuine"].notna()].groupby("relation")["system"].nunique()
        lacking = {relation for relation in checked["relation"] if known.get(relation, 0) < len(systems)}
        estimated = [relation for relation in relations if relation not in lacking]
        if lacking and own.loc[own["relation"].isin(estimated), "satisfied"].any():
            name = message("violations.estimated", part=len(estimated), count=len(relations))
            rows += [("estimated", name, None, estimated)]

        def entry(system: str, members: Sequence[str], places: Mapping[tuple[str, str], int] = places) -> ViolationRate:
            return _entry(
                system, cells, certainty, [places[key] for one in members if (key := (one, system)) in places]
            )

        tables.append(
            {
                "task": str(task),
                "study": plain(study),
                "corpus": plain(own["corpus"].iloc[0]),
                "systems": systems,
                "rows": [
                    {"by": by, "name": name, "family": family, "rates": [entry(system, members) for system in systems]}
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


def _entry(system: str, cells: pd.DataFrame, certainty: Certainty, places: Sequence[int]) -> ViolationRate:
    """Return the rates of the cells at `places`, all of one system."""
    if not places:
        return {**unknown(ViolationRate), "system": system, "reason": NOT_RUN}
    together = dict(roll_up(cells, certainty, places))
    chosen = cells.iloc[list(places)]
    groups, violated = ((chosen["violated"] + more).sum(skipna=False) for more in (chosen["satisfied"], 0))
    if len(places) == 1:  # rates of its own, where totals that were published have no counts, too
        own = chosen.iloc[0]
        together |= {name: own[name] for name in ("sr_observed", "sr_genuine", "sr_genuine_low", "sr_genuine_high")}
    rates = {name: plain(together[of]) for name, of in _OF_VR.items()}
    rates = {name: None if rate is None else 1 - rate for name, rate in rates.items()}
    if len(places) == 1:
        rates |= {name: plain(own[name]) for name in ("vr_observed", "vr_genuine")}
    elif rates["vr_observed"] is not None:
        rates["vr_observed"] = float(violated / groups)
        # Rounding must not let VR_g fall below VR_o where nothing is false.
        rates["vr_genuine"] = rates["vr_genuine"] and max(rates["vr_genuine"], rates["vr_observed"])
    reason = together["reason"] if rates["vr_genuine"] is None else None
    counted = None if pd.isna(groups) else int(groups)
    return {"system": system, "groups": counted, **rates, "reason": reason}  # type: ignore[typeddict-item]
