"""SR_o at other bounds than the one that a run checked: values are stored, so nothing is run again."""

import json
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from sqlalchemy import Engine, select

from audit.errors import AuditError
from audit.reports.terminal_tables import aligned
from audit.reports.verdict_values import plain, verdict_values
from audit.reports.words import count, percent
from audit.store import table_of, tables

STEPS = tuple(round(step / 10, 1) for step in range(11))
"""Bounds that are shown where none are asked for."""
PARAMETERS = ("threshold", "bound")
"""Names of the parameter that a value must reach; a relation with one of them is satisfied at or above it."""


def bounds_report(
    engine: Engine, study: int | None = None, relations: Sequence[str] = (), at: Sequence[float] = STEPS
) -> dict[str, Any]:
    """Per (study, relation, system): the share of checked groups whose value reaches each bound.

    A cell is there for each relation that has a bound (one of `PARAMETERS`); `checked` are its groups with a value,
    `bound` is that of the run and `sr_observed` its rate, `rates` has one for each of `at`, in that order: the rows of
    a chart. Raises what `verdict_values` raises, and AuditError for a bound that is no number, or where no relation has
    a bound.
    """
    wrong = next((bound for bound in at if not math.isfinite(bound)), None)
    if wrong is not None or not at:
        raise AuditError(f"bound {wrong} is no number; expected bounds such as 0.5,0.6")
    run_at = _bounds(engine)
    values = verdict_values(engine, study, relations, task=None, among=list(run_at))
    cells = []
    for (study_id, corpus, relation, system, key), some in values.groupby(
        ["study", "corpus", "relation", "system", "relation_id"], sort=False
    ):
        bound = run_at[key]
        reached = some["value"].dropna().to_numpy(float)
        if not len(reached):
            continue
        cells.append(
            {
                "study": int(study_id),
                "corpus": corpus,
                "relation": relation,
                "system": system,
                "checked": len(reached),
                "mean": plain(reached.mean()),
                "median": plain(np.median(reached)),
                "bound": bound,
                "sr_observed": plain(np.mean(reached >= bound)),
                "rates": [{"at": float(one), "sr_observed": plain(np.mean(reached >= one))} for one in at],
            }
        )
    if not cells:
        raise AuditError(
            "no relation that was run compares a value with a bound; of `audit relations` those of translations do"
        )
    return {"cells": cells}


def bounds_lines(report: dict[str, Any], width: int = 100) -> list[str]:
    """The document as tables: one a relation, a row a system, a column a bound, in per cent."""
    bounds = [rate["at"] for rate in report["cells"][0]["rates"]]
    heads = ("system", "checked", "mean", "SR_o", *(f"{bound:g}" for bound in bounds))
    by_relation: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for cell in report["cells"]:
        by_relation.setdefault((cell["study"], cell["corpus"], cell["relation"], cell["bound"]), []).append(cell)
    lines = []
    for (study, corpus, relation, bound), cells in by_relation.items():
        rows = [
            (
                cell["system"],
                count(cell["checked"]),
                f"{cell['mean']:.3f}",
                percent(cell["sr_observed"]),
                *(percent(rate["sr_observed"], 0) for rate in cell["rates"]),
            )
            for cell in cells
        ]
        lines += [f"{relation}, study {study} of {corpus}: SR_o at {bound:g}, and at other bounds, in per cent", ""]
        lines += [*aligned(heads, rows, 1, width), ""]
    return lines[:-1]


def _bounds(engine: Engine) -> dict[int, float]:
    """The bound of each relation that has one, by its id."""
    relation = table_of(tables.Relation)
    found = {}
    with engine.connect() as connection:
        for row in connection.execute(select(relation.c.id, relation.c.params)):
            params = json.loads(row.params)
            named = [float(params[name]) for name in PARAMETERS if name in params]
            if named:
                found[int(row.id)] = named[0]
    return found
