"""Totals over all cells, and how many relations have another best system."""

from collections.abc import Mapping, Sequence
from typing import Any, TypedDict

import numpy as np
import pandas as pd


class Overall(TypedDict):
    """Totals of a report. Counts are None where no cell has counts (totals published as rates)."""

    relations: int
    relations_compared: int
    systems: int
    cells: int
    cells_estimated: int
    cells_waiting: int
    groups: int | None
    satisfied: int | None
    violated: int | None
    inapplicable: int | None
    errors: int | None
    drawn: int | None
    judged: int | None
    false: int | None
    waiting: int | None
    waiting_distinct: bool
    best_changes_sure: int
    best_changes_open: int
    best_changes_estimated: int
    order_changes_estimated: int
    fs_rate_median: float | None
    fs_rate_least: float | None
    fs_rate_most: float | None


def overall(cells: pd.DataFrame, relations: Sequence[Mapping[str, Any]], waiting: int | None = None) -> Overall:
    """Totals over `cells` (columns of `with_rates`, one row a cell) and over what their relations say of the best.

    Counts are sums over all cells. Of `relations`, those of `compare_orders` with `best_changes_sure`, changes are
    counted apart: `best_changes_sure` where another system surely overtakes the one reported as best,
    `best_changes_open` where another one looks best, which the judged groups do not decide. `best_changes_estimated`
    and `order_changes_estimated` count what point estimates say: of systems that are equally good, most change.

    `relations_compared` counts the relations with two systems or more that are in both orders: only there an order
    can change. `waiting` is the number of distinct questions that wait; the same question may wait in many cells, so
    that the sum over cells, used where it is not given, is only an upper bound (`waiting_distinct` says which it is).

    >>> one = dict(task="sentiment", relation="MR1.1", system="a", satisfied=80, violated=20, judged=10, false=1)
    >>> overall(pd.DataFrame([one | dict(sr_observed=0.8, fs_rate=0.1, sr_genuine=0.72)]), [])["judged"]
    10
    """
    fs_rate = _column(cells, "fs_rate")
    rates = fs_rate[np.isfinite(fs_rate)]
    return {
        "relations": len(relations),
        "relations_compared": sum(len(set(one["order_observed"]) & set(one["order_genuine"])) > 1 for one in relations),
        "systems": int(cells["system"].nunique()) if len(cells) else 0,
        "cells": len(cells),
        "cells_estimated": int(np.isfinite(_column(cells, "sr_genuine")).sum()),
        "cells_waiting": int((_column(cells, "waiting") > 0).sum()),
        "groups": _total(cells, "groups"),
        "satisfied": _total(cells, "satisfied"),
        "violated": _total(cells, "violated"),
        "inapplicable": _total(cells, "inapplicable"),
        "errors": _total(cells, "errors"),
        "drawn": _total(cells, "drawn"),
        "judged": _total(cells, "judged"),
        "false": _total(cells, "false"),
        "waiting": _total(cells, "waiting") if waiting is None else waiting,
        "waiting_distinct": waiting is not None,
        "best_changes_sure": sum(one["best_changes_sure"] for one in relations),
        "best_changes_open": sum(one["best_changes"] and not one["best_changes_sure"] for one in relations),
        "best_changes_estimated": sum(one["best_changes"] for one in relations),
        "order_changes_estimated": sum(one["order_changes"] for one in relations),
        "fs_rate_median": float(np.median(rates)) if len(rates) else None,
        "fs_rate_least": float(rates.min()) if len(rates) else None,
        "fs_rate_most": float(rates.max()) if len(rates) else None,
    }


def _column(cells: pd.DataFrame, name: str) -> np.ndarray:
    if name not in cells:
        return np.full(len(cells), np.nan)
    return pd.to_numeric(cells[name]).to_numpy(dtype=float, na_value=np.nan)


def _total(cells: pd.DataFrame, name: str) -> int | None:
    values = _column(cells, name)
    if len(values) and np.isnan(values).all():
        return None
    return int(np.nansum(values))
