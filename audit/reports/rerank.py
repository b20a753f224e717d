"""`audit rerank FILE`: correct and rank totals that somebody else measured."""

import math
from collections.abc import Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

import pandas as pd

import audit
from audit.errors import BadFile, BadRow
from audit.files import read_table, refuse_bad_rows, sha_of
from audit.reports.build import METHOD, Report, basis_of_totals, build_report
from audit.reports.document import Signature
from audit.reports.preference import Weights
from audit.reports.study import settings_of
from audit.statistics.intervals import Target, get_target

RATE_COLUMNS = ("sr_observed", "fs_rate")
COUNT_COLUMNS = ("groups", "satisfied", "judged", "false")
FORMS = (COUNT_COLUMNS, RATE_COLUMNS)


def rerank(
    path: str | Path,
    confidence: float = 0.95,
    *,
    target: Target | None = None,
    delta: float = 0.0,
    weights: Weights | None = None,
) -> Report:
    """The report of a table of totals.

    Columns: relation, system, and either sr_observed and fs_rate (fractions; no intervals can be given) or, preferred
    where both are there, groups, satisfied, judged and false (counts; groups = satisfied + violated; judged = satisfied
    groups that were judged, drawn at random; judged may be 0: no estimate). Optional: task, `sentiment` where it is
    absent, and family, the part of the relation's name before its last full stop where it is absent. Other columns are
    ignored. `target`, `delta` and `weights` as in `study_report`. Totals know of no documents: their groups count as
    independent.

    Raises BadFile when the file is missing, empty, not UTF-8 or lacks columns, BadRow for one bad row (file, line,
    column, value, what is allowed), and BadFile that lists the first ten where there are several.
    """
    path = Path(path)
    target = get_target(target)
    faulty_rows: list[tuple[int, str]] = []
    optional = ("task", "family", *RATE_COLUMNS, *COUNT_COLUMNS)
    table = read_table(path, ("relation", "system"), optional, bad=faulty_rows)
    by_counts = _form(path, list(table.columns))
    cells = list(_cells(path, table, faulty_rows, by_counts))
    signature: Signature = {
        "audit": audit.__version__,
        "file": path.name,
        "sha": sha_of(path),
        **settings_of(METHOD if by_counts else None, target, delta, weights),
        "confidence": confidence if by_counts else None,
        "notes": [] if by_counts else ["The file has rates without counts, so intervals cannot be given."],
    }
    basis = basis_of_totals(pd.DataFrame(cells), target, confidence, delta)
    return build_report(basis, signature, weights=weights)


def _needed_columns() -> str:
    return f"needed are relation, system and either {', '.join(RATE_COLUMNS)} or {', '.join(COUNT_COLUMNS)}"


def _form(path: Path, header: list[str]) -> bool:
    """Whether to read counts (True) or rates (False). A file with both is read as counts; without either: BadFile."""
    lacking = {form: [name for name in ("relation", "system", *form) if name not in header] for form in FORMS}
    for form in FORMS:
        if not lacking[form]:
            return form == COUNT_COLUMNS
    begun = [form for form in FORMS if set(form) & set(header)]
    what = " or ".join(f"column(s) {', '.join(lacking[form])}" for form in begun or FORMS)
    raise BadFile(f"{path}: {what} missing; {_needed_columns()}")


def _cells(
    path: Path, table: pd.DataFrame, faulty_rows: list[tuple[int, str]], by_counts: bool
) -> Iterator[dict[str, Any]]:
    """Every row as a cell. Raises after the last row, so that the user sees up to ten mistakes at once."""
    seen: dict[tuple[str, str, str], int] = {}
    rows, cells = len(table) + len(faulty_rows), []
    for line, row in zip(table.index, table.to_dict("records"), strict=True):
        try:
            cell = _names(row)
            key = (cell["task"], cell["relation"], cell["system"])
            if key in seen:
                raise BadRow(path, line, f"relation {key[1]} and system {key[2]} are already on line {seen[key]}")
            seen[key] = line
            cell |= _counts(path, line, row) if by_counts else _rates(path, line, row)
            cells.append(cell)
        except BadRow as error:
            faulty_rows.append((error.line, error.reason))
    refuse_bad_rows(path, faulty_rows, rows)
    yield from cells


def _names(row: Mapping[str, str]) -> dict[str, Any]:
    cell: dict[str, Any] = {
        "task": row.get("task") or "sentiment",
        "relation": row["relation"],
        "system": row["system"],
    }
    return cell | ({"family": row["family"]} if row.get("family") else {})


def _rates(path: Path, line: int, row: Mapping[str, str]) -> dict[str, Any]:
    rates = {}
    for name in RATE_COLUMNS:
        value = _number(path, line, name, row[name])
        if not 0 <= value <= 1:
            raise BadRow(path, line, f"column {name} is {row[name]}; allowed are fractions from 0 to 1, not per cent")
        rates[name] = value
    return rates


def _counts(path: Path, line: int, row: Mapping[str, str]) -> dict[str, Any]:
    counts = {}
    for name in COUNT_COLUMNS:
        value = _number(path, line, name, row[name])
        if value < 0 or not value.is_integer():
            raise BadRow(path, line, f"column {name} is {row[name]}; allowed are whole numbers from 0")
        counts[name] = int(value)
    # Each count is a part of the one before it: groups, satisfied, judged, false.
    for whole, part in pairwise(COUNT_COLUMNS):
        if counts[part] > counts[whole]:
            raise BadRow(
                path,
                line,
                f"column {part} is {counts[part]} but {whole} is {counts[whole]}; allowed are 0 to {counts[whole]}",
            )
    return {**counts, "violated": counts["groups"] - counts["satisfied"]}


def _number(path: Path, line: int, name: str, value: str) -> float:
    try:
        number = float(value)
    except ValueError:
        number = math.nan
    if not math.isfinite(number) or "_" in value:
        raise BadRow(path, line, f"column {name} is {value!r}, which is not a number")
    return number
