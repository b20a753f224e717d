"""`audit rerank FILE`: correct and rank totals that were measured elsewhere."""

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import audit
from audit.errors import BadFile
from audit.files import read_table, refuse_bad_rows, sha_of
from audit.reports.build import Groups, Report, build_report
from audit.reports.document import Signature
from audit.reports.preference import Weights
from audit.reports.study import settings_of
from audit.reports.validity import check_proxies
from audit.statistics.intervals import MIDP, Target, get_target
from audit.statistics.prediction_powered import prediction_powered
from audit.statistics.rates import ESTIMATES

CELL = ("task", "relation", "system")
RATE_COLUMNS = ("sr_observed", "fs_rate")
COUNT_COLUMNS = ("groups", "satisfied", "judged", "false")
"""Each count is a part of the one before it."""
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
    """Return the report of a table of totals.

    Columns: relation, system, and either sr_observed and fs_rate (fractions; no intervals can be given) or, preferred
    where both are there, groups, satisfied, judged and false (counts; groups = satisfied + violated; judged = satisfied
    groups that were judged, drawn at random; judged may be 0: no estimate). Optional: task, `sentiment` where it is
    absent, and family, the part of the relation's name before its last full stop where it is absent. Other columns are
    ignored. `target`, `delta` and `weights` as in `study_report`. Totals know of no documents: their groups count as
    independent.

    With `proxy`, `judge:NAME`, R_FS is estimated with a judge that is a model, whose counts are in the columns
    judge_false, judge_false_judged and both_false (`JUDGE_COLUMNS`), and in judge_asked how many satisfied groups it
    was asked about, a random sample that has the judged ones (all, where it is absent); for the target `corpus`.

    Raises BadFile for a file that cannot be read or lacks columns, BadRow for one bad row (file, line, column, value,
    what is allowed), and BadFile that lists the first ten where there are several.
    """
    path = Path(path)
    names = [proxy] if proxy else []
    target = get_target(target, bool(proxy))
    check_proxies(names, target)
    bad: list[tuple[int, str]] = []
    optional = ("task", "family", *RATE_COLUMNS, *COUNT_COLUMNS, *JUDGE_COLUMNS, "judge_asked")
    table = read_table(path, ("relation", "system"), optional, bad=bad)
    by_counts = _has_counts(path, table, bool(proxy))
    if table.empty:
        refuse_bad_rows(path, bad, len(bad))
    cells = _cells(path, table, bad, by_counts, bool(proxy))
    signature: Signature = {
        "audit": audit.__version__,
        "file": path.name,
        "sha": sha_of(path),
        **settings_of(MIDP if by_counts else None, target, delta, weights, names),
        "confidence": confidence if by_counts else None,
        "notes": [] if by_counts else ["The file has rates without counts, so intervals cannot be given."],
    }
    return build_report(
        cells.drop(columns=[*JUDGE_COLUMNS, "judge_asked"], errors="ignore"),
        signature,
        confidence=confidence,
        target=target,
        delta=delta,
        weights=weights,
        groups=Groups(estimates=_estimates(cells)) if proxy else None,
    )


def _has_counts(path: Path, table: pd.DataFrame, judge: bool) -> bool:
    """Return whether the table has counts, or else rates. Raises BadFile for one with neither."""
    counts, rates = (
        [name for name in form if name not in table]
        for form in ((*COUNT_COLUMNS, *JUDGE_COLUMNS * judge), RATE_COLUMNS)
    )
    if judge and counts:
        raise BadFile(f"{path}: column(s) {', '.join(counts)} missing; proxy needs the judge's counts")
    if not counts or not rates:
        return not counts
    begun = [lacking for lacking, form in ((counts, COUNT_COLUMNS), (rates, RATE_COLUMNS)) if len(lacking) < len(form)]
    what = " or ".join(f"column(s) {', '.join(lacking)}" for lacking in begun or (counts, rates))
    needed = f"{', '.join(RATE_COLUMNS)} or {', '.join(COUNT_COLUMNS)}"
    raise BadFile(f"{path}: {what} missing; needed are relation, system and either {needed}")


def _cells(
    path: Path, table: pd.DataFrame, bad: Sequence[tuple[int, str]], by_counts: bool, judge: bool
) -> pd.DataFrame:
    """Return every row as a cell. Raises after the last row, so that the user sees up to ten mistakes at once."""
    table["task"] = table["task"].replace("", "sentiment") if "task" in table else "sentiment"
    if judge:
        asked = table.get("judge_asked", table["satisfied"])
        table["judge_asked"] = asked.where(asked != "", table["satisfied"])
    columns = (*COUNT_COLUMNS, *((*JUDGE_COLUMNS, "judge_asked") if judge else ())) if by_counts else RATE_COLUMNS
    numbers = table[[*columns]].apply(pd.to_numeric, errors="coerce").replace([np.inf, -np.inf], np.nan)
    shown = numbers.map("{:.0f}".format)
    first = table.groupby([*CELL])["relation"].transform(lambda rows: str(rows.index[0]))
    cell = "relation " + table["relation"] + " and system " + table["system"]
    faults = [(table.duplicated([*CELL]), cell + " are already on line " + first)]
    allowed = "whole numbers from 0" if by_counts else "fractions from 0 to 1, not per cent"
    for name, values in numbers.items():
        fits = (values >= 0) & ((values % 1 == 0) if by_counts else (values <= 1))
        faults.append((values.isna(), f"column {name} is " + table[name].map(repr) + ", which is not a number"))
        faults.append((~fits, f"column {name} is " + table[name] + f"; allowed are {allowed}"))
    for whole, part in pairwise(COUNT_COLUMNS if by_counts else ()):
        says = f"column {part} is " + shown[part] + f" but {whole} is " + shown[whole] + "; allowed are 0 to "
        faults.append((numbers[part] > numbers[whole], says + shown[whole]))
    for name, (low, high) in (_bounds(numbers) if judge else {}).items():
        says = f"column {name} is " + shown[name] + "; with the other counts of the row " + low.map("{:.0f}".format)
        faults.append((~numbers[name].between(low, high), says + " to " + high.map("{:.0f} is possible".format)))
    reasons = dict(bad)
    for wrong, reason in faults:
        for line, why in reason[wrong].items():
            reasons.setdefault(line, why)
    refuse_bad_rows(path, list(reasons.items()), len(table) + len({line for line, _ in bad}))
    if by_counts:
        numbers = numbers.astype(int).assign(violated=lambda cells: cells["groups"] - cells["satisfied"])
    families = [name for name in ("family",) if name in table and table[name].any()]
    return table[[*CELL, *families]].replace({"family": {"": np.nan}}).join(numbers).reset_index(drop=True)


def _bounds(counts: pd.DataFrame) -> dict[str, tuple["pd.Series[Any]", "pd.Series[Any]"]]:
    """Return from where to where each count of a judge can be, given the others of its row."""
    satisfied, judged, false, seen = (counts[name] for name in ("satisfied", "judged", "false", "judge_false_judged"))
    return {
        "judge_asked": (judged, satisfied),
        "judge_false_judged": (judged * 0, judged),
        "judge_false": (seen, seen + counts["judge_asked"] - judged),
        "both_false": ((false + seen - judged).clip(lower=0), false.clip(upper=seen)),
    }


def _estimates(cells: pd.DataFrame) -> pd.DataFrame:
    """Return R_FS of each cell with the judge, as `Groups` has it; totals are of no study."""
    rows = []
    for cell in cells.itertuples():
        seen, both, judged, false = cell.judge_false_judged, cell.both_false, cell.judged, cell.false
        counts = [both, false - both, seen - both, judged - false - seen + both]
        truth, opinion = np.repeat([1, 1, 0, 0], counts), np.repeat([1.0, 0.0, 1.0, 0.0], counts)
        # Folds are dealt in turn, so that the order has to be a random one; totals have none of their own.
        order = np.random.default_rng(0).permutation(judged)
        everywhere = (np.arange(cell.judge_asked) < cell.judge_false).astype(float)
        result = prediction_powered(truth[order], opinion[order], everywhere, total=cell.satisfied)
        rows.append((result.estimate, result.low, result.high, result.method, result.gain, result.reason or None))
    estimates = pd.DataFrame(rows, columns=[*ESTIMATES], dtype=object)
    return cells[[*CELL]].assign(study=np.nan).join(estimates)
