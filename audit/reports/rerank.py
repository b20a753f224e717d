"""`audit rerank FILE`: correct and rank totals that somebody else measured."""

import math
from collections.abc import Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import audit
from audit.errors import BadFile, BadRow
from audit.files import read_table, refuse_bad_rows, sha_of
from audit.reports.build import Groups, Report, build_report
from audit.reports.document import Signature
from audit.reports.preference import Weights
from audit.reports.study import settings_of
from audit.reports.validity import check_proxies
from audit.statistics.intervals import MIDP, Target, get_target
from audit.statistics.prediction_powered import prediction_powered
from audit.statistics.rates import ESTIMATES

RATE_COLUMNS = ("sr_observed", "fs_rate")
COUNT_COLUMNS = ("groups", "satisfied", "judged", "false")
FORMS = (COUNT_COLUMNS, RATE_COLUMNS)
JUDGE_COLUMNS = ("judge_false", "judge_false_judged", "both_false")
"""With a judge: the satisfied groups that it calls false, those of them that people judged, and of these those that
people call false, too."""


def rerank(
    path: str | Path,
    confidence: float = 0.95,
    *,
    target: Target | None = None,
    delta: float = 0.0,
    weights: Weights | None = None,
    proxy: str | None = None,
) -> Report:
    """The report of a table of totals.

    Columns: relation, system, and either sr_observed and fs_rate (fractions; no intervals can be given) or, preferred
    where both are there, groups, satisfied, judged and false (counts; groups = satisfied + violated; judged = satisfied
    groups that were judged, drawn at random; judged may be 0: no estimate). Optional: task, `sentiment` where it is
    absent, and family, the part of the relation's name before its last full stop where it is absent. Other columns are
    ignored. `target`, `delta` and `weights` as in `study_report`. Totals know of no documents: their groups count as
    independent.

    With `proxy`, `judge:NAME`, R_FS is estimated with a judge that is a model, whose counts are in the columns
    judge_false, judge_false_judged and both_false (`JUDGE_COLUMNS`), and in judge_asked how many satisfied groups it
    was asked about, a random sample that has the judged ones (all, where it is absent); for the target `corpus`.

    Raises BadFile when the file is missing, empty, not UTF-8 or lacks columns, BadRow for one bad row (file, line,
    column, value, what is allowed), and BadFile that lists the first ten where there are several.
    """
    path = Path(path)
    names = [proxy] if proxy else []
    target = get_target(target, bool(proxy))
    check_proxies(names, target)
    faulty_rows: list[tuple[int, str]] = []
    optional = ("task", "family", *RATE_COLUMNS, *COUNT_COLUMNS, *JUDGE_COLUMNS, "judge_asked")
    table = read_table(path, ("relation", "system"), optional, bad=faulty_rows)
    by_counts = _form(path, list(table.columns))
    if proxy and (lacking := [name for name in (*COUNT_COLUMNS, *JUDGE_COLUMNS) if name not in table]):
        raise BadFile(f"{path}: column(s) {', '.join(lacking)} missing; proxy needs the judge's counts")
    cells = list(_cells(path, table, faulty_rows, by_counts, bool(proxy)))
    signature: Signature = {
        "audit": audit.__version__,
        "file": path.name,
        "sha": sha_of(path),
        **settings_of(MIDP if by_counts else None, target, delta, weights, names),
        "confidence": confidence if by_counts else None,
        "notes": [] if by_counts else ["The file has rates without counts, so intervals cannot be given."],
    }
    return build_report(
        pd.DataFrame([{name: value for name, value in cell.items() if name not in ESTIMATES} for cell in cells]),
        signature,
        confidence=confidence,
        target=target,
        delta=delta,
        weights=weights,
        groups=Groups(estimates=_estimates(cells)) if proxy else None,
    )


def _estimates(cells: list[dict[str, Any]]) -> pd.DataFrame:
    """The estimates of the cells as `Groups` has them; totals are of no study."""
    return pd.DataFrame(
        [{"study": None} | {name: cell[name] for name in ("task", "relation", "system", *ESTIMATES)} for cell in cells],
        dtype=object,
    ).astype({"study": float})


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
    path: Path, table: pd.DataFrame, faulty_rows: list[tuple[int, str]], by_counts: bool, judge: bool = False
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
            cells.append(cell | (_with_judge(path, line, row, cell) if judge else {}))
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


def _with_judge(path: Path, line: int, row: Mapping[str, str], cell: Mapping[str, Any]) -> dict[str, Any]:
    """The estimate of a cell with a judge, from counts of what people and it call false."""
    counts = {name: _number(path, line, name, row[name]) for name in JUDGE_COLUMNS}
    counts["judge_asked"] = _number(path, line, "judge_asked", row.get("judge_asked") or str(cell["satisfied"]))
    for name, value in counts.items():
        if value < 0 or not value.is_integer():
            raise BadRow(path, line, f"column {name} is {row[name]}; allowed are whole numbers from 0")
    asked, called, seen, both = (int(counts[name]) for name in ("judge_asked", *JUDGE_COLUMNS))
    judged, false = int(cell["judged"]), int(cell["false"])
    bounds = {
        "judge_asked": (asked, judged, cell["satisfied"]),
        "judge_false_judged": (seen, 0, judged),
        "judge_false": (called, seen, seen + asked - judged),
        "both_false": (both, max(0, false + seen - judged), min(false, seen)),
    }
    for name, (value, low, high) in bounds.items():
        if not low <= value <= high:
            raise BadRow(
                path, line, f"column {name} is {value}; with the other counts of the row {low} to {high} is possible"
            )
    truth = np.repeat([1, 1, 0, 0], [both, false - both, seen - both, judged - false - seen + both])
    opinion = np.repeat([1.0, 0.0, 1.0, 0.0], [both, false - both, seen - both, judged - false - seen + both])
    # Folds are dealt in turn, so that the order has to be a random one; totals have none of their own.
    order = np.random.default_rng(0).permutation(judged)
    everywhere = (np.arange(asked) < called).astype(float)
    result = prediction_powered(truth[order], opinion[order], everywhere, total=cell["satisfied"])
    values = (result.estimate, result.low, result.high, result.method, result.gain, result.reason or None)
    return dict(zip(ESTIMATES, values, strict=True))


def _number(path: Path, line: int, name: str, value: str) -> float:
    try:
        number = float(value)
    except ValueError:
        number = math.nan
    if not math.isfinite(number) or "_" in value:
        raise BadRow(path, line, f"column {name} is {value!r}, which is not a number")
    return number
