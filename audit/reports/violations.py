"""Violation rates by relation and system, as studies print them: a matrix a study, with families and totals."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from audit.messages import message
from audit.relations import find_relation
from audit.reports.certainty import COMPARES, Certainty, bounds_together, only_compared
from audit.reports.document import ViolationRate, ViolationTable, plain, unknown
from audit.statistics.rates import BOUNDS, violations

VR_BOUNDS = ("vr_least", "vr_most", "vr_bound_low", "vr_bound_high")
"""Where there is no VR_g: what answers leave possible of it."""
FLAGS = ("only_compared", "known")
"""Columns that are flags, not rates."""
UNCOUNTED = message("no_rate.totals_without_counts")
NOTHING = message("no_rate.nothing_checked")
NOT_RUN = message("no_rate.not_run")


def violation_tables(
    cells: pd.DataFrame, certainty: Certainty, families: Mapping[tuple[str, str], str]
) -> list[ViolationTable]:
    """One table a study: rows are its relations, then its families of relations, then totals; columns its systems.

    `cells` has the rates of every cell, in the report's order, `certainty` their correlations, `families` the family's
    name by (task, relation). A row is {"by", "name", "family", "rates": one entry a system}, an entry {"system",
    "groups" (satisfied or violated), "vr_observed", "vr_genuine" with its ends, `VR_BOUNDS`, "reason"}: why there is no
    VR_g.
    Where some relation lacks an estimate for a system, or does not apply to it, a row `estimated` after `all` is over
    the other relations, so that VR_o and VR_g of all systems can be compared. Families and totals weigh each cell by
    its groups.
    """
    tables: list[ViolationTable] = []
    columns = _columns(cells)
    for (task, study), study_cells in cells.groupby(["task", "study"], sort=False, dropna=False):
        places = {
            (row, system): at
            for at, row, system in zip(study_cells.index, study_cells["relation"], study_cells["system"], strict=True)
        }
        systems = sorted(set(study_cells["system"].astype(str)))
        relations = list(dict.fromkeys(study_cells["relation"]))
        by_family: dict[str, list[str]] = {}
        for relation in relations:
            if (task, relation) in families:
                by_family.setdefault(families[task, relation], []).append(relation)
        rows = [("relation", relation, families.get((task, relation)), [relation]) for relation in relations]
        rows += [("family", family, family, members) for family, members in by_family.items()]
        rows += [("all", "all", None, relations)]
        checked = study_cells[study_cells["satisfied"] + study_cells["violated"] != 0]  # unknown counts, too
        known = checked[checked["sr_genuine"].notna()].groupby("relation")["system"].nunique()
        lacking = {relation for relation in checked["relation"] if known.get(relation, 0) < len(systems)}
        estimated = [relation for relation in relations if relation not in lacking]
        if lacking and columns["satisfied"][[places[key] for key in places if key[0] in estimated]].any():
            name = message("violations.estimated", part=len(estimated), count=len(relations))
            rows += [("estimated", name, None, estimated)]
        tables.append(
            {
                "task": str(task),
                "study": plain(study),
                "corpus": plain(study_cells["corpus"].iloc[0]),
                "systems": systems,
                "rows": [
                    {
                        "by": by,
                        "name": name,
                        "family": family,
                        "rates": [
                            _entry(
                                system,
                                cells,
                                columns,
                                certainty,
                                [places[relation, system] for relation in members if (relation, system) in places],
                            )
                            for system in systems
                        ],
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
    """The entries of one system in a table, of the rows of one kind, in their order, each with its row's `name`."""
    column = table["systems"].index(system)
    return [{"name": row["name"], **row["rates"][column]} for row in table["rows"] if row["by"] == by]


def counterpart(task: str, relation: str) -> str | None:
    """What a relation that is written for several tasks is called in all of them; None for others.

    >>> counterpart("summarization", "MR4.2"), counterpart("classification/a,b", "MR4.3"), counterpart("sentiment", "X")
    ('MR4', 'MR4', None)
    """
    registered = find_relation(task, relation)
    return registered.counterpart if registered is not None and registered.counterpart else None


def _has_rate(cells: pd.DataFrame) -> np.ndarray:
    """Which cells have a genuine rate, or nothing that could have one."""
    satisfied, violated, genuine = (
        cells[name].to_numpy(float, na_value=np.nan) for name in ("satisfied", "violated", "sr_genuine")
    )
    return np.asarray(~np.isnan(genuine) | (satisfied + violated == 0))


def _columns(cells: pd.DataFrame) -> dict[str, np.ndarray]:
    names = ("satisfied", "violated", "vr_observed", "vr_genuine", "sr_genuine", "sr_genuine_low", "sr_genuine_high")
    columns = {name: cells[name].to_numpy(float, na_value=np.nan) for name in names}
    return columns | dict(zip(FLAGS, (only_compared(cells), _has_rate(cells)), strict=True))


def _entry(
    system: str,
    cells: pd.DataFrame,
    columns: Mapping[str, np.ndarray],
    certainty: Certainty,
    places: Sequence[int],
) -> ViolationRate:
    """The rates of the cells at `places`, all of one system. A single cell has its own rates, several are pooled."""
    entry: ViolationRate = {
        **unknown(ViolationRate),
        "system": system,
        "reason": NOT_RUN,
    }
    if not places:
        return entry
    chosen = {name: values[places] for name, values in columns.items()}
    if len(places) == 1:
        own = {name: plain(float(values[0])) for name, values in chosen.items() if name not in FLAGS}
        counts = own["satisfied"], own["violated"]
        entry |= {
            "groups": None if None in counts else int(sum(counts)),
            "vr_observed": own["vr_observed"],
            "vr_genuine": own["vr_genuine"],
            "vr_genuine_low": None if own["sr_genuine_high"] is None else 1 - own["sr_genuine_high"],
            "vr_genuine_high": None if own["sr_genuine_low"] is None else 1 - own["sr_genuine_low"],
        }
        lacking = int(own["vr_genuine"] is None)
    else:
        sums = certainty.of_genuine
        of_genuine = None if sums is None else sums.cautious(places)
        low, high, reach = (
            cells.iloc[list(places)][f"sr_genuine_{name}"].to_numpy(float) for name in ("low", "high", "reach")
        )
        together = violations(
            chosen["satisfied"], chosen["violated"], chosen["sr_genuine"], low, high, of_genuine, reach
        )
        entry |= {
            "groups": together.groups,
            "vr_observed": together.vr_observed,
            "vr_genuine": together.vr_genuine,
            "vr_genuine_low": together.vr_genuine_low,
            "vr_genuine_high": together.vr_genuine_high,
        }
        lacking = together.unestimated
    chosen_cells = cells.iloc[list(places)]
    if lacking and bounds_together(chosen_cells, ~chosen["known"]):
        # VR_g = 1 - SR_g, so the lower bound of SR_g is the upper bound of VR_g.
        of_genuine_bounds = _own_bounds(chosen_cells) if len(places) == 1 else certainty.bounds(cells, places, True)
        if of_genuine_bounds:
            least, most, low, high = (1 - bound for bound in of_genuine_bounds)
            entry |= {"vr_least": most, "vr_most": least, "vr_bound_low": high, "vr_bound_high": low}
    return entry | {"reason": _reason(entry, lacking, bool(chosen["only_compared"].any()))}


def _own_bounds(cell: pd.DataFrame) -> tuple[float, ...]:
    return tuple(float(bound) for bound in cell[list(BOUNDS[4:])].iloc[0])


def _reason(entry: ViolationRate, lacking: int, compared: bool) -> str | None:
    """Why there is no VR_g; None where there is."""
    if entry["vr_genuine"] is not None:
        return None
    if entry["groups"] == 0:
        return NOTHING
    if entry["groups"] is None and not lacking:
        return UNCOUNTED
    if compared:
        return COMPARES
    return message("no_rate.cells_without_estimate", count=lacking)
