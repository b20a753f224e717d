"""The agreement of annotators as one JSON document, and as text for a terminal."""

import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from itertools import combinations
from typing import cast

import numpy as np
import pandas as pd
from sqlalchemy import ColumnElement, Engine, select

import audit
from audit.annotation.answers import SCALES
from audit.annotation.ratings import Kind, Rated, stored_ratings
from audit.errors import AuditError
from audit.messages import message
from audit.reports.document import plain
from audit.reports.documents import (
    AgreementDocument,
    AgreementPair,
    AgreementPart,
    CoefficientEntry,
    RatingCounts,
    StoredAgreement,
)
from audit.reports.words import UNKNOWN, count, signature_line
from audit.statistics.agreement import COEFFICIENTS, Ratings, agreement_of_pairs, check_level, label_pairs, suite
from audit.store import table_of, tables

WIDTH = 100
_MATRIX = 10
"""Annotators up to which the text shows a matrix of pairs; with more it lists the pairs that agree least."""
_FIRM = 20
"""Shared items that a pair needs before its kappa is listed among the lowest."""
BY = ("relation", "system", "language", "pair")


def agreement_report(
    rated: Rated,
    *,
    by: str | None = None,
    parts: pd.DataFrame | None = None,
    level: str | None = None,
    order: Sequence[str] | None = None,
    confidence: float = 0.95,
) -> AgreementDocument:
    """Every coefficient over all ratings, for each part if `by` is given, and for each pair of annotators.

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
        raise AuditError(message("agreement.one_annotator", who=who))
    ratings = _ratings(frame, rated.labels, order)
    check_level(level, ratings.scale)
    if not ratings.shared.any():
        raise AuditError(message("agreement.none_shared", count=ratings.items))
    single = int((~ratings.shared).sum())
    notes = list(rated.notes)
    if single:
        notes.append(message("note.one_judgement", count=single, whole=ratings.items))
    # From here on 1 and 1.0 are one label, in every part.
    frame = frame.assign(label=np.array(ratings.labels, dtype=object)[ratings.label])
    groups: list[AgreementPart] = []
    for value, part_frame in _parts(frame, by, parts):
        part = _ratings(part_frame, ratings.labels, ratings.labels if ratings.scale == "order" else None)
        groups.append(
            {"by": by, "value": value, **_counts(part), "coefficients": _coefficients(part, level, confidence)}
        )
    return {
        "coefficients": _coefficients(ratings, level, confidence),
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


def stored_agreement(
    engine: Engine, by: int | None = None, among: ColumnElement[bool] | None = None
) -> list[StoredAgreement]:
    """The agreement on each task and kind of question that two people judged, with `task`, `kind` and `confusions`;
    among the questions that meet a condition, or all.

    `confusions` has a row and a column a label, in the order of `labels`: how often one annotator gave the row's label
    where another gave the column's.

    For a manager (`by`, an account id; else NotAllowed) or for whoever has the database itself (None).
    """
    reports: list[StoredAgreement] = []
    for task, kind in _question_kinds(engine):
        try:
            rated = stored_ratings(engine, task, kind, by=by, among=among)
            report = agreement_report(rated)
        except AuditError as problem:
            if type(problem) is not AuditError:
                raise
            continue  # fewer than two people have judged such questions
        confusions = label_pairs(Ratings.of(rated.frame, rated.labels)).tolist()
        reports.append({**report, "task": task, "kind": kind, "confusions": confusions})
    return reports


def _question_kinds(engine: Engine) -> Sequence[tuple[str, Kind]]:
    question = table_of(tables.Question)
    query = select(question.c.task, question.c.kind).where(question.c.kind.not_in(SCALES)).distinct()
    with engine.connect() as connection:
        kinds = [(str(task), kind) for task, kind in connection.execute(query)]
    # Questions about inputs or outputs first, then those about groups; PostgreSQL takes no such order of distinct rows.
    return sorted(kinds, key=lambda asked: (asked[0], asked[1] == "group", asked[1]))


def _ratings(frame: pd.DataFrame, labels: Sequence[str] | None, order: Sequence[str] | None) -> Ratings:
    if order is None:
        return Ratings.of(frame, labels)
    spelled = {label.casefold(): label for label in order}
    frame = frame.assign(label=[spelled.get(label.casefold(), label) for label in frame["label"]])
    unknown = sorted(set(frame["label"]) - set(order))
    if unknown:
        raise AuditError(message("agreement.not_in_order", label=unknown[0], order=order))
    if len(set(order)) < len(order):
        raise AuditError(message("agreement.order_twice", order=order))
    return Ratings.of(frame, order, order=True)


def _coefficients(ratings: Ratings, level: str | None, confidence: float) -> list[CoefficientEntry]:
    return [cast(CoefficientEntry, asdict(coefficient)) for coefficient in suite(ratings, level, confidence)]


def _counts(ratings: Ratings) -> RatingCounts:
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
        for first, second in combinations(sorted(by_name), 2):
            both = set(by_name[first]["item"]) & set(by_name[second]["item"])
            if both:
                ratings = pd.concat([by_name[first], by_name[second]])
                yield f"{first}, {second}", ratings[ratings["item"].isin(both)]
    elif by is not None and parts is not None:
        joined = parts.merge(frame, on="item")
        for value in sorted(joined["value"].unique(), key=name_order):
            yield str(value), joined.loc[joined["value"] == value, frame.columns]


def _pairs(ratings: Ratings) -> list[AgreementPair]:
    """One row for each pair of annotators who share an item."""
    agreement = agreement_of_pairs(ratings)
    rows: list[AgreementPair] = []
    for first, second in zip(*np.nonzero(np.triu(agreement.items, 1)), strict=True):
        shared, kappa, ac1 = (
            plain(matrix[first, second]) for matrix in (agreement.percent, agreement.kappa, agreement.ac1)
        )
        note = None
        if kappa is None:
            lacks = message("undefined.not_by_both")
            note = lacks if shared is None else message("undefined.no_variation", percent=100 * shared)
        rows.append(
            {
                "one": ratings.annotators[first],
                "other": ratings.annotators[second],
                "items": int(agreement.items[first, second]),
                "percent_agreement": shared,
                "cohen_kappa": kappa,
                "gwet_ac1": ac1,
                "note": note,
            }
        )
    return rows


def agreement_lines(report: AgreementDocument) -> list[str]:
    """The document as lines of text: coefficients, parts, pairs, notes, and the signature last."""
    people = len(report["annotators"])
    lines = [f"Agreement of {people:,} annotators on {count(report['items'])} items that two or more judged.", ""]
    lines += _table(report)
    if report["groups"]:
        lines += ["", *_groups(report)]
    if people > 2:
        lines += ["", *_matrix(report)]
    # A note is printed once, however many coefficients have it.
    distinct_notes = {
        coefficient["note"].split(":")[0]: coefficient["note"]
        for coefficient in reversed(report["coefficients"])
        if coefficient["note"]
    }
    notes = [*distinct_notes.values(), *report["notes"]]
    if notes:
        lines.append("")
    for note in notes:
        lines += textwrap.wrap(f"Note: {note}", WIDTH, subsequent_indent="  ")
    return [*lines, "", "signature " + signature_line(report["signature"])]


def _table(report: AgreementDocument) -> list[str]:
    lines = [f"  {'coefficient':<20}{'level':<11}{'estimate':>9}  {'95 % interval':<17}{'items':>9}"]
    for coefficient in report["coefficients"]:
        ends = (
            f"{_number(coefficient['low'])} to {_number(coefficient['high'])}"
            if coefficient["low"] is not None
            else UNKNOWN
        )
        estimate = "undefined" if coefficient["estimate"] is None else _number(coefficient["estimate"])
        name, level, items = coefficient["name"], coefficient["level"] or "", count(coefficient["items"])
        lines.append(f"  {name:<20}{level:<11}{estimate:>9}  {ends:<17}{items:>9}")
    return lines


def _groups(report: AgreementDocument) -> list[str]:
    """One line for each part: its items, and those unweighted coefficients that it has."""
    names = [name for name in COEFFICIENTS if any(_coefficient(part, name) for part in report["groups"])]
    widest = min(max(len(part["value"]) for part in report["groups"]), 30)
    lines = [f"  {report['groups'][0]['by']:<{widest}}{'items':>9}" + "".join(f"{name:>20}" for name in names)]
    for part in report["groups"]:
        entries = [_coefficient(part, name) for name in names]
        cells = "".join(f"{_number(entry and entry['estimate']):>20}" for entry in entries)
        lines.append(f"  {part['value'][:widest]:<{widest}}{count(part['items']):>9}{cells}")
    return lines


def _coefficient(part: AgreementPart, name: str) -> CoefficientEntry | None:
    return next((entry for entry in part["coefficients"] if entry["name"] == name and entry["level"] is None), None)


def _matrix(report: AgreementDocument) -> list[str]:
    """Cohen's kappa of each pair: as a matrix, or the pairs that agree least where there are many annotators."""
    people = report["annotators"]
    if len(people) > _MATRIX:
        defined = [pair for pair in report["pairs"] if pair["cohen_kappa"] is not None]
        # Pairs who share few items agree by chance or not at all; they are listed only if there are no others.
        firm = [pair for pair in defined if pair["items"] >= _FIRM] or defined
        lowest = sorted(firm, key=lambda pair: pair["cohen_kappa"] or 0.0)[:_MATRIX]
        lines = [f"  Cohen's kappa of the {len(lowest)} pairs that agree least"]
        return lines + [
            f"  {_number(p['cohen_kappa'])}  {p['one']}, {p['other']} ({p['items']:,} items)" for p in lowest
        ]
    by_pair = {(pair["one"], pair["other"]): pair["cohen_kappa"] for pair in report["pairs"]}
    size = max(7, *(min(len(name), 12) + 1 for name in people))
    lines = ["  Cohen's kappa of each pair", "  " + " " * size + "".join(f"{name[:12]:>{size}}" for name in people)]
    for row, annotator in enumerate(people):
        cells = [
            _number(by_pair.get((other, annotator))) if column < row else "" if column > row else "·"
            for column, other in enumerate(people)
        ]
        lines.append(f"  {annotator[:12]:<{size}}" + "".join(f"{cell:>{size}}" for cell in cells))
    return [line.rstrip() for line in lines]


def _number(value: float | None) -> str:
    return UNKNOWN if value is None else f"{value:.3f}"
