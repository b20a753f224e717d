"""The report: one JSON document that the tables, the charts, the HTML file and the app all read."""

import math
from collections.abc import Mapping
from typing import Any

import pandas as pd

from audit.errors import AuditError
from audit.relations.registry import name_order
from audit.statistics.intervals import Estimator, choose
from audit.statistics.orders import Orders, compare_orders
from audit.statistics.overall import overall
from audit.statistics.rates import RATES, with_rates

Report = dict[str, Any]
"""{"signature": {...}, "cells": [...], "relations": [...], "overall": {...}}, ready for `json.dumps`."""

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
)


def build_report(
    cells: pd.DataFrame,
    signature: Mapping[str, Any],
    *,
    waiting: int | None = None,
    interval: Estimator = choose,
    confidence: float = 0.95,
) -> Report:
    """The report of a frame of cells, one row a (study, task, relation, system).

    Columns of `cells`: study, corpus, task, relation, system (text) and groups, satisfied, violated, inapplicable,
    errors, drawn, judged, false, waiting (counts); task, relation and system are needed, other names may be absent and
    are null then. Where totals are known as rates only, the counts are NaN and the columns sr_observed and fs_rate are
    given. `judged` counts the settled prefix of the draw (DESIGN idea 4) and `false` the false satisfactions in it;
    `waiting` counts the questions of the cell that nobody answered. `signature` is kept as it is; its `notes`, a list
    of strings, are shown wherever the report is. The argument `waiting` is the number of distinct waiting questions.

    Counts are ints, rates are fractions, whatever is unknown is None. Cells are ordered by task, study, relation
    (numbers as numbers) and system, so equal data give equal reports; there are no times in it. Raises AuditError when
    a cell is there twice, or on impossible counts.

    >>> row = dict(task="sentiment", relation="MR1.1", system="a", satisfied=8, violated=2, judged=8, false=4)
    >>> report = build_report(pd.DataFrame([row]), {"seed": 0})
    >>> report["cells"][0]["sr_genuine"], report["cells"][0]["groups"]
    (0.4, None)
    """
    needed = [name for name in ("task", "relation", "system") if len(cells) and name not in cells]
    if needed:
        raise AuditError(f"cells lack the column(s) {', '.join(needed)}; needed are task, relation and system")
    frame = cells.reindex(columns=[*NAMES, *COUNTS, *(name for name in ("sr_observed", "fs_rate") if name in cells)])
    frame = with_rates(_ordered(frame), interval, confidence)
    again = frame.duplicated(["task", "study", "relation", "system"])
    if again.any():
        first = frame[again].iloc[0]
        raise AuditError(f"the cell of relation {first.relation} and system {first.system} is there twice")

    relations: list[dict[str, Any]] = []
    orders: list[Orders] = []
    for (task, study, relation), group in frame.groupby(["task", "study", "relation"], sort=False, dropna=False):
        orders.append(compare_orders(group))
        relations.append(
            {"task": task, "study": _plain(study), "corpus": _plain(group["corpus"].iloc[0]), "relation": relation}
            | dict(orders[-1])
        )
    return {
        "signature": dict(signature),
        "cells": [_cell(row) for row in frame.to_dict("records")],
        "relations": relations,
        "overall": dict(overall(frame, orders, waiting)),
    }


def cells_of(report: Report, task: str, study: object, relation: str) -> list[dict[str, Any]]:
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


def _cell(row: Mapping[str, Any]) -> dict[str, Any]:
    cell: dict[str, Any] = {name: _plain(row[name]) for name in NAMES}
    cell |= {name: None if _unknown(row[name]) else int(row[name]) for name in COUNTS}
    cell |= {name: None if _unknown(row[name]) else float(row[name]) for name in RATES}
    return cell


def _plain(value: Any) -> Any:
    """None for what is missing, and Python's own type for NumPy's."""
    if _unknown(value):
        return None
    return value.item() if hasattr(value, "item") else value


def _unknown(value: Any) -> bool:
    return value is None or value is pd.NA or (isinstance(value, float) and math.isnan(value))
