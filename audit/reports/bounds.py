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
_NONE = "no relation that was run compares a value with a bound; of `audit relations` those of translations do"


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
    params = _params(engine)
    cells: list[dict[str, Any]] = []
    if not any(name in some for some in params.values() for name in PARAMETERS):
        raise AuditError(_NONE)  # without reading every verdict
    values = verdict_values(engine, study, relations, task=None)
    for (study_id, corpus, relation, system, key), some in values.groupby(
        ["study", "corpus", "relation", "system", "relation_id"], sort=False
    ):
        bound = next((float(params[key][name]) for name in PARAMETERS if name in params[key]), None)
        reached = some["value"].dropna().to_numpy(float)
        if bound is None or not len(reached):
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
        raise AuditError(_NONE)
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


def _params(engine: Engine) -> dict[int, dict[str, Any]]:
    relation = table_of(tables.Relation)
    with engine.connect() as connection:
        return {row.id: json.loads(row.params) for row in connection.execute(select(relation.c.id, relation.c.params))}
