"""The agreement of annotators as one JSON document, and as text for a terminal."""

import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

import audit
from audit.annotation.ratings import Rated
from audit.errors import AuditError
from audit.reports.words import UNKNOWN, count, percent, signature_line
from audit.statistics.agreement import COEFFICIENTS, Ratings, agreement_of_pairs, check_level, suite

WIDTH = 100
_MATRIX = 10
"""Annotators up to whom the text shows the matrix of pairs; with more, the pairs that agree least."""
_FIRM = 20
"""Shared items from which a pair's kappa says something."""
BY = ("relation", "system", "language", "pair")


def agreement_report(
    rated: Rated,
    *,
    by: str | None = None,
    parts: pd.DataFrame | None = None,
    level: str | None = None,
    order: Sequence[str] | None = None,
    confidence: float = 0.95,
) -> dict[str, Any]:
    """Every coefficient over all ratings, for each part where asked, and for each pair of annotators.

    `rated.frame` has the columns item, annotator, label, at most one row an item and annotator; `by` is one of `BY` and
    `parts` (columns item and value, an item may be in many parts) says which items belong to which relation, system or
    language. `order` lists the labels in their order, which allows the levels ordinal, linear and quadratic; `level`
    adds the coefficients of one. All parts use the labels of the whole. Raises AuditError where there is a single
    annotator, no item with two judgements, or a level that the labels do not allow.
    """
    frame = rated.frame
    people = sorted(frame["annotator"].unique()) if len(frame) else []
    if len(people) < 2:
        who = people[0] if people else "nobody"
        raise AuditError(f"{who} is the only annotator; agreement needs the judgements of two or more")
    ratings = _ratings(frame, rated.labels, order)
    check_level(level, ratings.scale)
    if not ratings.shared.any():
        raise AuditError(
            f"none of the {ratings.items:,} items was judged by two annotators; agreement needs items with two or more "
            "judgements"
        )
    alone = int((~ratings.shared).sum())
    notes = list(rated.notes)
    if alone:
        notes.append(
            f"{alone:,} of {ratings.items:,} items have one judgement only: they say nothing about agreement and are "
            "left out; only where chance is estimated do their labels count."
        )
    # Spellings of one number are one label from here on, in the parts as in the whole.
    frame = frame.assign(label=np.array(ratings.labels, dtype=object)[ratings.label])
    groups = []
    for value, some in _parts(frame, by, parts):
        part = _ratings(some, ratings.labels, ratings.labels if ratings.scale == "order" else None)
        groups.append(
            {"by": by, "value": value}
            | _counts(part)
            | {"coefficients": [asdict(one) for one in suite(part, level, confidence)]}
        )
    return {
        "coefficients": [asdict(one) for one in suite(ratings, level, confidence)],
        **_counts(ratings),
        "annotators": list(ratings.annotators),
        "labels": list(ratings.labels),
        "groups": groups,
        "pairs": _pairs(ratings),
        "notes": notes,
        "signature": {
            "audit": audit.__version__,
            **rated.origin,
            "interval": "Bayesian bootstrap by " + ("item" if ratings.clusters is None else "source"),
            "confidence": confidence,
        },
    }


def _ratings(frame: pd.DataFrame, labels: Sequence[str] | None, order: Sequence[str] | None) -> Ratings:
    if order is None:
        return Ratings.of(frame, labels)
    strange = sorted(set(frame["label"]) - set(order))
    if strange:
        raise AuditError(f"label {strange[0]!r} is not in the order {', '.join(order)}; name every label once")
    if len(set(order)) < len(order):
        raise AuditError(f"the order {', '.join(order)} has a label twice; name every label once")
    return Ratings.of(frame, order, order=True)


def _counts(ratings: Ratings) -> dict[str, Any]:
    return {
        "items": int(ratings.shared.sum()),
        "left_out": int((~ratings.shared).sum()),
        "ratings": len(ratings.item),
    }


def _parts(frame: pd.DataFrame, by: str | None, parts: pd.DataFrame | None) -> Iterator[tuple[str, pd.DataFrame]]:
    """The ratings of each part, in the order of their names; relations with numbers as numbers."""
    from audit.relations import name_order

    if by == "pair":
        by_name = dict(iter(frame.groupby("annotator")))
        for one, other in combinations(sorted(by_name), 2):
            both = set(by_name[one]["item"]) & set(by_name[other]["item"])
            if both:
                some = pd.concat([by_name[one], by_name[other]])
                yield f"{one}, {other}", some[some["item"].isin(both)]
    elif by is not None and parts is not None:
        joined = parts.merge(frame, on="item")
        for value in sorted(joined["value"].unique(), key=name_order):
            yield str(value), joined.loc[joined["value"] == value, frame.columns]


def _pairs(ratings: Ratings) -> list[dict[str, Any]]:
    """One row a pair of annotators who share an item."""
    found = agreement_of_pairs(ratings)
    rows = []
    for one, other in zip(*np.nonzero(np.triu(found.items, 1)), strict=True):
        values = {
            name: None if np.isnan(matrix[one, other]) else float(matrix[one, other])
            for name, matrix in (
                ("percent_agreement", found.percent),
                ("cohen_kappa", found.kappa),
                ("gwet_ac1", found.ac1),
            )
        }
        note = None
        if values["cohen_kappa"] is None:
            note = f"undefined: no variation; percent agreement {percent(values['percent_agreement'])} %"
        rows.append(
            {"one": ratings.annotators[one], "other": ratings.annotators[other], "items": int(found.items[one, other])}
            | values
            | {"note": note}
        )
    return rows


def agreement_lines(report: dict[str, Any]) -> list[str]:
    """The document as lines of text: coefficients, parts, pairs, notes, and the signature last."""
    people = len(report["annotators"])
    lines = [f"Agreement of {people:,} annotators on {count(report['items'])} items that two or more judged.", ""]
    lines += _table(report)
    if report["groups"]:
        lines += ["", *_groups(report)]
    if people > 2:
        lines += ["", *_matrix(report)]
    # One paradox is told once, however many coefficients it strikes.
    said = {one["note"].split(":")[0]: one["note"] for one in reversed(report["coefficients"]) if one["note"]}
    notes = [*said.values(), *report["notes"]]
    if notes:
        lines.append("")
    for note in notes:
        lines += textwrap.wrap(f"Note: {note}", WIDTH, subsequent_indent="  ")
    return [*lines, "", "signature " + signature_line(report["signature"])]


def _table(report: dict[str, Any]) -> list[str]:
    lines = [f"  {'coefficient':<20}{'level':<11}{'estimate':>9}  {'95 % interval':<17}{'items':>9}"]
    for one in report["coefficients"]:
        ends = f"{_number(one['low'])} to {_number(one['high'])}" if one["low"] is not None else UNKNOWN
        estimate = "undefined" if one["estimate"] is None else _number(one["estimate"])
        lines.append(f"  {one['name']:<20}{one['level'] or '':<11}{estimate:>9}  {ends:<17}{count(one['items']):>9}")
    return lines


def _groups(report: dict[str, Any]) -> list[str]:
    """A line a part: items, and the unweighted coefficients that there are."""
    names = [name for name in COEFFICIENTS if any(_of(part, name) for part in report["groups"])]
    widest = min(max(len(part["value"]) for part in report["groups"]), 30)
    lines = [f"  {report['groups'][0]['by']:<{widest}}{'items':>9}" + "".join(f"{name:>20}" for name in names)]
    for part in report["groups"]:
        cells = "".join(f"{_number((_of(part, name) or {}).get('estimate')):>20}" for name in names)
        lines.append(f"  {part['value'][:widest]:<{widest}}{count(part['items']):>9}{cells}")
    return lines


def _of(part: dict[str, Any], name: str) -> dict[str, Any] | None:
    return next((one for one in part["coefficients"] if one["name"] == name and one["level"] is None), None)


def _matrix(report: dict[str, Any]) -> list[str]:
    """Cohen's kappa of each pair: as a matrix, or the pairs that agree least where there are many annotators."""
    people = report["annotators"]
    if len(people) > _MATRIX:
        known = [pair for pair in report["pairs"] if pair["cohen_kappa"] is not None]
        # Two people who share two items agree by luck or not at all; look at them only where there is nobody else.
        firm = [pair for pair in known if pair["items"] >= _FIRM] or known
        lowest = sorted(firm, key=lambda pair: pair["cohen_kappa"])[:_MATRIX]
        lines = [f"  Cohen's kappa of the {len(lowest)} pairs that agree least"]
        return lines + [
            f"  {_number(p['cohen_kappa'])}  {p['one']}, {p['other']} ({p['items']:,} items)" for p in lowest
        ]
    by_pair = {(pair["one"], pair["other"]): pair["cohen_kappa"] for pair in report["pairs"]}
    size = max(7, *(min(len(name), 12) + 1 for name in people))
    lines = ["  Cohen's kappa of each pair", "  " + " " * size + "".join(f"{name[:12]:>{size}}" for name in people)]
    for row, one in enumerate(people):
        cells = [
            _number(by_pair.get((other, one))) if place < row else "" if place > row else "·"
            for place, other in enumerate(people)
        ]
        lines.append(f"  {one[:12]:<{size}}" + "".join(f"{cell:>{size}}" for cell in cells))
    return [line.rstrip() for line in lines]


def _number(value: float | None) -> str:
    return UNKNOWN if value is None else f"{value:.3f}"
