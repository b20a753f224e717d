"""`audit rerank FILE`: correct and rank totals that somebody else measured."""

import csv
import io
import math
from collections.abc import Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

import pandas as pd

import audit
from audit.errors import BadFile, BadRow
from audit.keys import fingerprint
from audit.reports.build import Report, build_report
from audit.statistics.intervals import get_method

RATE_COLUMNS = ("sr_observed", "fs_rate")
COUNT_COLUMNS = ("groups", "satisfied", "judged", "false")
SHOWN = 10
"""Bad rows that one message lists."""


def rerank(path: str | Path, interval: str | None = None, confidence: float = 0.95) -> Report:
    """The report of a CSV of totals (UTF-8, with a header line).

    Columns: relation, system, and either sr_observed and fs_rate (fractions; no intervals can be given) or groups,
    satisfied, judged and false (counts; groups = satisfied + violated; judged = satisfied groups that were judged,
    drawn at random; judged may be 0: no estimate). Optional: task, `sentiment` where it is absent. Other columns are
    ignored. `interval` names a method of `audit.statistics.intervals.METHODS`, `choose` by default.

    Raises BadFile when the file is missing, empty, not UTF-8 or lacks columns, BadRow for one bad row (file, line,
    column, value, what is allowed), and BadFile that lists the first ten where there are several.
    """
    path = Path(path)
    method = get_method(interval or "choose")
    text = _text(path)
    header, lines = _table(path, text)
    by_counts = _form(path, header)
    cells = list(_checked(path, header, lines, by_counts))
    signature = {
        "audit": audit.__version__,
        "file": path.name,
        "sha": fingerprint(text.splitlines()),
        "interval": (interval or "choose") if by_counts else None,
        "confidence": confidence if by_counts else None,
        "target": "the satisfied groups of the file",
        "notes": [] if by_counts else ["The file has rates without counts, so intervals cannot be given."],
    }
    return build_report(pd.DataFrame(cells), signature, interval=method, confidence=confidence)


def _text(path: Path) -> str:
    try:
        raw = path.read_bytes()
    except FileNotFoundError:
        raise BadFile(f"{path}: there is no such file") from None
    except OSError as error:
        raise BadFile(f"{path}: cannot be read ({error.strerror})") from None
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw[: error.start].count(b"\n") + 1
        raise BadFile(f"{path}, line {line}: the file is not UTF-8; save it as UTF-8 and try again") from None


def _table(path: Path, text: str) -> tuple[list[str], list[tuple[int, list[str]]]]:
    """The header, and every row that is not blank with the number of its first line."""
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    rows: list[tuple[int, list[str]]] = []
    line = 1
    try:
        for row in reader:
            if any(field.strip() for field in row):
                rows.append((line, [field.strip() for field in row]))
            line = reader.line_num + 1
    except csv.Error as error:
        raise BadRow(path, line, f"this is not CSV ({error})") from None
    if not rows:
        raise BadFile(f"{path}: the file is empty; {_wanted()}")
    header = rows[0][1]
    twice = sorted({name for name in header if header.count(name) > 1})
    if twice:
        raise BadFile(f"{path}, line {rows[0][0]}: column {twice[0]!r} is there twice")
    if len(rows) == 1:
        raise BadFile(f"{path}: there is a header but no row below it")
    return header, rows[1:]


def _wanted() -> str:
    return f"needed are relation, system and either {', '.join(RATE_COLUMNS)} or {', '.join(COUNT_COLUMNS)}"


def _form(path: Path, header: list[str]) -> bool:
    """Whether the file has counts (True) or rates (False); raises BadFile where it has neither, or parts of both."""
    rates = [name for name in RATE_COLUMNS if name in header]
    counts = [name for name in COUNT_COLUMNS if name in header]
    lacking = [name for name in ("relation", "system") if name not in header]
    if rates and counts:
        raise BadFile(f"{path}: columns {', '.join(rates)} and {', '.join(counts)} are mixed; {_wanted()}, not both")
    if counts:
        lacking += [name for name in COUNT_COLUMNS if name not in header]
    elif rates:
        lacking += [name for name in RATE_COLUMNS if name not in header]
    if lacking or not rates + counts:
        what = f"column(s) {', '.join(lacking)} are missing" if lacking else "there are neither rates nor counts"
        raise BadFile(f"{path}: {what}; {_wanted()}")
    return bool(counts)


def _checked(
    path: Path, header: list[str], lines: list[tuple[int, list[str]]], by_counts: bool
) -> Iterator[dict[str, Any]]:
    """Every row as a cell. Raises after the last row, so that the user sees up to ten mistakes at once."""
    seen: dict[tuple[str, str, str], int] = {}
    bad: list[BadRow] = []
    cells = []
    for line, fields in lines:
        try:
            if len(fields) != len(header):
                raise BadRow(path, line, f"{len(fields)} fields where the header has {len(header)}")
            row = dict(zip(header, fields, strict=True))
            cell = _named(path, line, row)
            key = (cell["task"], cell["relation"], cell["system"])
            if key in seen:
                raise BadRow(path, line, f"relation {key[1]} and system {key[2]} are already on line {seen[key]}")
            seen[key] = line
            cells.append(cell | (_counts(path, line, row) if by_counts else _rates(path, line, row)))
        except BadRow as error:
            bad.append(error)
    if len(bad) == 1:
        raise bad[0]
    if bad:
        shown = "\n".join(f"  {error}" for error in bad[:SHOWN])
        more = f"\n  and {len(bad) - SHOWN} more" if len(bad) > SHOWN else ""
        raise BadFile(f"{path}: {len(bad)} rows are wrong\n{shown}{more}")
    yield from cells


def _named(path: Path, line: int, row: Mapping[str, str]) -> dict[str, Any]:
    for name in ("relation", "system"):
        if not row[name]:
            raise BadRow(path, line, f"column {name} is empty")
    return {"task": row.get("task") or "sentiment", "relation": row["relation"], "system": row["system"]}


def _rates(path: Path, line: int, row: Mapping[str, str]) -> dict[str, Any]:
    found = {}
    for name in RATE_COLUMNS:
        value = _number(path, line, name, row[name])
        if not 0 <= value <= 1:
            raise BadRow(path, line, f"column {name} is {row[name]}; allowed are fractions from 0 to 1, not per cent")
        found[name] = value
    return found


def _counts(path: Path, line: int, row: Mapping[str, str]) -> dict[str, Any]:
    found = {}
    for name in COUNT_COLUMNS:
        value = _number(path, line, name, row[name])
        if value < 0 or not value.is_integer():
            raise BadRow(path, line, f"column {name} is {row[name]}; allowed are whole numbers from 0")
        found[name] = int(value)
    # Each count is a part of the one before it: groups, satisfied, judged, false.
    for whole, part in pairwise(COUNT_COLUMNS):
        if found[part] > found[whole]:
            raise BadRow(
                path,
                line,
                f"column {part} is {found[part]} but {whole} is {found[whole]}; allowed are 0 to {found[whole]}",
            )
    return {**found, "violated": found["groups"] - found["satisfied"]}


def _number(path: Path, line: int, name: str, value: str) -> float:
    try:
        number = float(value)
    except ValueError:
        number = math.nan
    if not math.isfinite(number) or "_" in value:
        raise BadRow(path, line, f"column {name} is {value!r}, which is not a number")
    return number
