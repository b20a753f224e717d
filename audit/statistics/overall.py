"""Totals over all cells, and the genuine rates that they add up to."""

from collections.abc import Sequence
from typing import TypedDict

import numpy as np
import pandas as pd

from audit.statistics.orders import Orders


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
    order_changes: int
    best_changes: int
    sr_observed: float | None
    fs_rate: float | None
    sr_genuine: float | None
    fs_rate_median: float | None
    fs_rate_least: float | None
    fs_rate_most: float | None


def overall(cells: pd.DataFrame, orders: Sequence[Orders], waiting: int | None = None) -> Overall:
    """Totals over `cells` (columns of `with_rates`, one row a cell) and their relations' orders.

    Counts are sums over all cells. The rates are stratified totals over the cells that have an estimate, each weighted
    by its number of satisfied groups: `fs_rate` = sum(satisfied x R_FS) / sum(satisfied) is the share of false ones
    among everything those cells report as satisfied, and `sr_observed`, `sr_genuine` are shares of their satisfied
    plus violated groups. A plain false / judged would weigh cells by how many were judged. There is no interval: cells
    share sources and systems, so their errors do not cancel as those of independent strata would.

    `relations_compared` counts the relations with two systems or more that are in both orders: only there an order
    can change. `waiting` is the number of distinct questions that wait; the same question may wait in many cells, so
    that the sum over cells, used where it is not given, is only an upper bound (`waiting_distinct` says which it is).

    >>> one = dict(task="sentiment", relation="MR1.1", system="a", satisfied=80, violated=20, judged=10, false=1)
    >>> overall(pd.DataFrame([one | dict(sr_observed=0.8, fs_rate=0.1, sr_genuine=0.72)]), [])["fs_rate"]
    0.1
    """
    fs_rate = _column(cells, "fs_rate")
    satisfied, violated = _column(cells, "satisfied"), _column(cells, "violated")
    known = np.isfinite(_column(cells, "sr_genuine")) & np.isfinite(satisfied)
    checked = (satisfied + violated)[known].sum()
    reported = satisfied[known].sum()
    # A cell without satisfied groups has no R_FS but also weighs nothing.
    false = np.where(satisfied[known] > 0, satisfied[known] * np.nan_to_num(fs_rate[known]), 0.0).sum()
    rates = fs_rate[np.isfinite(fs_rate)]
    return {
        "relations": len(orders),
        "relations_compared": sum(
            len(set(order["order_observed"]) & set(order["order_genuine"])) > 1 for order in orders
        ),
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
        "order_changes": sum(order["order_changes"] for order in orders),
        "best_changes": sum(order["best_changes"] for order in orders),
        "sr_observed": float(reported / checked) if checked else None,
        "fs_rate": float(false / reported) if reported else None,
        "sr_genuine": float((reported - false) / checked) if checked else None,
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
