"""`audit rerank FILE`: correct and rank totals that were measured elsewhere."""

from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd

import audit
from audit.errors import BadFile
from audit.files import read_table, refuse_bad_rows, sha_of
from audit.reports.basis import basis_of_totals
from audit.reports.build import METHOD, build_report
from audit.reports.document import Entry
from audit.reports.options import Weights
from audit.reports.study import settings_of
from audit.statistics.intervals import Target, get_target

CELL = ["task", "relation", "system"]
RATES = ["sr_observed", "fs_rate"]
COUNTS = ["groups", "satisfied", "judged", "false"]
"""Each count is a part of the one before it."""


def rerank(
    path: str | Path,
    confidence: float = 0.95,
    *,
    target: Target | None = None,
    delta: float = 0.0,
    weights: Weights | None = None,
) -> Entry:
    """Return the report of a table of totals.

    Columns: relation, system, and either sr_observed and fs_rate (fractions; no intervals can be given) or, preferred
    where both are there, groups, satisfied, judged and false (counts; groups = satisfied + violated; judged = satisfied
    groups that were judged, drawn at random; judged may be 0: no estimate). Optional: task, `sentiment` where it is
    absent, and family, the part of the relation's name before its last full stop where it is absent. Other columns are
    ignored. `target`, `delta` and `weights` as in `study_report`. Totals know of no documents: their groups count as
    independent.

    Raises BadFile for a file that cannot be read or lacks columns, and for rows that are wrong, ten at a time.
    """
    path, target = Path(path), get_target(target)
    bad: list[tuple[int, str]] = []
    table = read_table(path, ("relation", "system"), ("task", "family", *RATES, *COUNTS), bad=bad)
    columns = next((form for form in (COUNTS, RATES) if {*form} <= {*table}), None)
    if columns is None:
        raise BadFile(f"{path}: needed are relation, system and either {', '.join(RATES)} or {', '.join(COUNTS)}")
    by_counts = columns is COUNTS
    cells = _cells(path, table, bad, columns)
    signature: Entry = {
        "audit": audit.__version__,
        "file": path.name,
        "sha": sha_of(path),
        **settings_of(METHOD if by_counts else None, target, delta, weights),
        "confidence": confidence if by_counts else None,
        "notes": [] if by_counts else ["The file has rates without counts, so intervals cannot be given."],
    }
    return build_report(basis_of_totals(cells, target, confidence, delta), signature, weights=weights)


def _cells(path: Path, table: pd.DataFrame, bad: list[tuple[int, str]], columns: list[str]) -> pd.DataFrame:
    """Return every row as a cell. Raises after the last row, so that the user sees up to ten mistakes at once."""
    by_counts = columns is COUNTS
    table["task"] = table["task"].replace("", "sentiment") if "task" in table else "sentiment"
    numbers = table[columns].apply(pd.to_numeric, errors="coerce").replace([np.inf, -np.inf], np.nan)
    shown = numbers.map("{:.0f}".format)
    first = table.groupby(CELL)["relation"].transform(lambda rows: str(rows.index[0]))
    cell = "relation " + table["relation"] + " and system " + table["system"]
    faults = [(table.duplicated(CELL), cell + " are already on line " + first)]
    allowed = "whole numbers from 0" if by_counts else "fractions from 0 to 1, not per cent"
    for name, values in numbers.items():
        fits = (values >= 0) & ((values % 1 == 0) if by_counts else (values <= 1))
        faults.append((values.isna(), f"column {name} is " + table[name].map(repr) + ", which is not a number"))
        faults.append((~fits, f"column {name} is " + table[name] + f"; allowed are {allowed}"))
    for whole, part in pairwise(COUNTS if by_counts else ()):
        says = f"column {part} is " + shown[part] + f" but {whole} is " + shown[whole] + "; allowed are 0 to "
        faults.append((numbers[part] > numbers[whole], says + shown[whole]))
    reasons = dict(bad)
    for wrong, reason in faults:
        for line, why in reason[wrong].items():
            reasons.setdefault(line, why)
    refuse_bad_rows(path, list(reasons.items()), len(table) + len({line for line, _ in bad}))
    if by_counts:
        numbers = numbers.astype(int).assign(violated=lambda cells: cells["groups"] - cells["satisfied"])
    families = [name for name in ("family",) if name in table and table[name].any()]
    return table[[*CELL, *families]].replace({"family": {"": np.nan}}).join(numbers).reset_index(drop=True)
