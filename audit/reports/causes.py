"""What a report says of the causes of false satisfactions, and of the reasons for which people disagreed."""

from typing import Any

import numpy as np
import pandas as pd
from sqlalchemy import Engine, select

from audit.annotation.answers import stands
from audit.annotation.causes import CAUSES, standing_causes
from audit.annotation.reasons import REASONS, is_check
from audit.false_satisfaction.audited import CELL
from audit.false_satisfaction.cells import Counted
from audit.false_satisfaction.groups import random_beginnings
from audit.false_satisfaction.settling import State
from audit.relations import name_order
from audit.statistics.effective import effective_interval, effective_size
from audit.store import table_of, tables
from audit.store.ids import LIMIT

LEVELS = ("relation", "system", "overall")
KEY = ["study", "task", "relation", "system"]


def named_falses(engine: Engine, counted: Counted) -> pd.DataFrame:
    """The false satisfactions of the settled beginnings, with their causes as far as these count.

    Columns study, task, relation, system, satisfied, judged, source, code. One row each, in the order of its cell's
    ranks; `satisfied` and `judged` are counts of its cell; `code` is the cause in the beginning of the cell's list in
    which every one has a cause, else None: a later one may have got its cause because somebody looked for it. A cause
    counts while its group is false.
    """
    rows = random_beginnings(counted)
    rows = rows[rows["state"] == State.FALSE].merge(counted.keys, on=CELL)
    cells = counted.cells[["satisfied", "judged"]].join(counted.keys[CELL])
    rows = rows.merge(cells, on=CELL, suffixes=("", "_of_cell")).sort_values([*CELL, "rank"])
    with engine.connect() as connection:
        causes = standing_causes(connection)
    pairs = zip(rows["group_id"].tolist(), rows["system_id"].tolist(), strict=True)
    given = [found.code if (found := causes.get(pair)) else None for pair in pairs]
    rows = rows.assign(code=pd.Series(given, index=rows.index, dtype=object), source=rows["group_id"] // LIMIT**2)
    if len(rows):
        reached = rows["code"].notna().astype(int).groupby([rows[name] for name in CELL], sort=False).cummin()
        rows["code"] = rows["code"].where(reached == 1, None)
    rows = rows.drop(columns="judged").rename(columns={"judged_of_cell": "judged"})
    return rows[[*KEY, "satisfied", "judged", "source", "code"]].reset_index(drop=True)


def cause_entries(falses: pd.DataFrame, confidence: float = 0.95) -> list[dict[str, Any]]:
    """Shares of causes by relation, by system and over all; empty where no cause was given.

    `falses` is what `named_falses` returns. An entry has by, name, task, study (of a relation), `false` (false
    satisfactions that were judged), `named` (those whose cause counts), `cells` (cells with one) and `causes`: code,
    count, share, low and high for each code of the list. Each cell weighs as many false satisfactions as it has by its
    estimate (satisfied times R_FS); intervals are Clopper and Pearson's at the effective number of sources (Korn and
    Graubard 1998), or a point where every false satisfaction there is has its cause.
    """
    if not falses["code"].notna().any():
        return []
    count = falses.groupby(KEY, sort=False)["code"].transform("size")
    named = falses.groupby(KEY, sort=False)["code"].transform("count")
    estimated = falses["satisfied"] * count / falses["judged"]
    falses = falses.assign(weight=(estimated / named.where(named > 0)).astype(float))
    entries = []
    for by in LEVELS:
        keys = {"relation": ["task", "study", "relation"], "system": ["task", "system"], "overall": ["task"]}[by]
        parts = [(key, some) for key, some in falses.groupby(keys, sort=False) if some["code"].notna().any()]
        for key, some in sorted(parts, key=lambda part: tuple(name_order(str(one)) for one in part[0])):
            entries.append(
                {
                    "by": by,
                    "name": "all" if by == "overall" else str(key[-1]),
                    "task": str(key[0]),
                    "study": int(key[1]) if by == "relation" else None,
                }
                | _shares(some, confidence)
            )
    return entries


def _shares(falses: pd.DataFrame, confidence: float) -> dict[str, Any]:
    some = falses[falses["code"].notna()]
    weight, source = some["weight"].to_numpy(float), some["source"].to_numpy()
    # Every false satisfaction of these cells is known and has its cause: nothing is estimated.
    whole = bool((weight <= 1 + 1e-9).all()) and len(some) == len(falses)
    causes = []
    for code in CAUSES:
        hit = (some["code"] == code).to_numpy()
        share = min(float(weight @ hit / weight.sum()), 1.0)
        low = high = share
        if not whole:
            ends = effective_interval(share, effective_size(source, hit, confidence, weight), confidence)
            low, high = ends.low, ends.high
        causes.append({"cause": code, "count": int(np.sum(hit)), "share": share, "low": low, "high": high})
    return {"false": len(falses), "named": len(some), "cells": len(some.drop_duplicates(KEY)), "causes": causes}


def dispute_entry(engine: Engine) -> dict[str, Any] | None:
    """How adjudicators explained disputes: `settled` questions, `reasons` by code, `uncoded` ones; None: there is none.

    A question's last adjudication counts. Spot checks are none of them: people agreed there.
    """
    table = table_of(tables.Adjudication)
    query = select(table.c.code, table.c.reason).where(stands(table))
    with engine.connect() as connection:
        rows = connection.execute(query).all()
    codes = [code for code, reason in rows if not is_check(code, str(reason))]
    if not codes:
        return None
    reasons = [{"reason": code, "count": codes.count(code)} for code in REASONS]
    return {"settled": len(codes), "reasons": reasons, "uncoded": codes.count(None)}
