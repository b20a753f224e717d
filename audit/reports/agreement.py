"""The agreement of annotators as one JSON document, and as sections."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from sqlalchemy import ColumnElement, Engine, select

import audit
from audit.errors import AuditError
from audit.messages import message, with_commas
from audit.relations.registry import name_order
from audit.reports.document import Entry
from audit.reports.ratings import Rated, of_spans, stored_ratings
from audit.reports.tables import Section, Table, closing
from audit.reports.words import UNKNOWN, count, number
from audit.statistics.agreement import COEFFICIENTS, Ratings, annotator_pairs, check_level, label_pairs, suite
from audit.store.core import question
from audit.tasks.questions import SCALES

_PAIRS = 10
"""Pairs of annotators that are listed, those that agree least."""
_FIRM = 20
"""Shared items that a pair needs before its kappa is listed among the lowest."""


def agreement_report(
    rated: Rated,
    *,
    by: str | None = None,
    parts: pd.DataFrame | None = None,
    level: str | None = None,
    order: Sequence[str] | None = None,
    confidence: float = 0.95,
) -> Entry:
    """Return every coefficient over all ratings and for each part if `by` is given, and agreement of each pair.

    `rated.frame` has the columns item, annotator, label, at most one row an item and annotator; `by` is relation,
    system, language or pair, and `parts` (columns item and value, an item may be in many parts) says which items belong
    to which (none for pairs). `order` lists the labels in their order, which allows the levels ordinal, linear and
    quadratic; `level` adds the coefficients of one. All parts use the labels of the whole. Raises AuditError where
    there is a single annotator, no item with two judgements, or a level that the labels do not allow.
    """
    frame, people, notes = rated.frame, sorted(rated.frame["annotator"].unique()), list(rated.notes)
    if len(people) < 2:
        who = people[0] if people else "nobody"
        raise AuditError(f"{who} is the only annotator; agreement needs the judgements of two or more")
    if order is not None:
        spelled = {label.casefold(): label for label in order}
        frame = frame.assign(label=[spelled.get(label.casefold(), label) for label in frame["label"]])
        if unknown := sorted(set(frame["label"]) - set(order)):
            raise AuditError(f"label {unknown[0]!r} is not in the order {with_commas(order)}; name every label once")
        if len(set(order)) < len(order):
            raise AuditError(f"the order {with_commas(order)} has a label twice; name every label once")
    ratings = Ratings.of(frame, order or rated.labels, order is not None)
    check_level(level, ratings)
    if not ratings.shared.any():
        needs = "agreement needs items with two or more judgements"
        raise AuditError(f"none of the {ratings.items:,} items was judged by two annotators; {needs}")
    if left_out := ratings.items - int(ratings.shared.sum()):
        notes.append(message("note.one_judgement", count=left_out, whole=ratings.items))

    def measured(of: Ratings) -> Entry:
        items, coefficients = int(of.shared.sum()), list(map(asdict, suite(of, level, confidence)))
        return {"coefficients": coefficients, "items": items, "left_out": of.items - items, "ratings": len(of.item)}

    # In every part 1 and 1.0 are one label, as in the whole.
    frame = frame.assign(label=np.array(ratings.labels, dtype=object)[ratings.label])
    pairs: list[Entry] = annotator_pairs(ratings).to_dict("records")
    for pair in pairs:
        shared = 100 * pair["percent_agreement"]
        pair["note"] = None if pair["cohen_kappa"] is not None else message("undefined.no_variation", percent=shared)
    groups = [
        {"by": by, "value": value, **measured(Ratings.of(of, ratings.labels, ratings.scale == "order"))}
        for value, of in _parts(frame, by, parts)
    ]
    interval = "Bayesian bootstrap by " + ("item" if ratings.clusters is None else "source")
    signature = {"audit": audit.__version__, **rated.origin, "interval": interval, "confidence": confidence}
    return {
        **measured(ratings), "annotators": list(ratings.annotators), "labels": list(ratings.labels), "groups": groups,
        "pairs": pairs, "notes": notes, "signature": signature,
    }  # fmt: skip


def stored_agreement(engine: Engine, by: int | None = None, among: ColumnElement[bool] | None = None) -> list[Entry]:
    """Return the agreement on each task and kind of question that two people judged, `among` some questions or all.

    `confusions` has a row and a column a label, in the order of `labels`: how often one annotator gave the row's label
    where another gave the column's. `by` is a manager's account id (else NotAllowed), or None where the database itself
    is open.
    """
    query = select(question.c.task, question.c.kind).where(question.c.kind.not_in(SCALES)).distinct()
    with engine.connect() as connection:
        kinds = connection.execute(query).all()
    reports: list[Entry] = []
    # Questions about inputs or outputs stand before those about groups.
    for task, kind in sorted(kinds, key=lambda about: (about[0], about[1] == "group", about[1])):
        try:
            rated = stored_ratings(engine, task, kind, by=by, among=among)
            rated = of_spans(rated, engine, "name") if rated.labels is None else rated
            report = agreement_report(rated)
        except AuditError as problem:
            if type(problem) is not AuditError:
                raise
            continue  # fewer than two people have judged such questions
        confusions = label_pairs(Ratings.of(rated.frame, rated.labels)).tolist()
        reports.append({**report, "task": task, "kind": kind, "confusions": confusions})
    return reports


def _parts(frame: pd.DataFrame, by: str | None, parts: pd.DataFrame | None) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield the ratings of each part, in the order of their names; relations with numbers as numbers."""
    if by == "pair":
        for pair in combinations(sorted(frame["annotator"].unique()), 2):
            of_pair = frame[frame["annotator"].isin(pair)]
            shared = of_pair[of_pair.duplicated("item", keep=False)]
            if len(shared):
                yield ", ".join(pair), shared
    elif by is not None and parts is not None:
        groups = dict(list(parts.merge(frame, on="item").groupby("value")[frame.columns]))
        yield from ((value, groups[value]) for value in sorted(groups, key=name_order))


def agreement_sections(report: Entry) -> Iterator[Section]:
    """Yield the coefficients, those of each part, the pairs that agree least, and the notes."""
    coefficients, people = report["coefficients"], len(report["annotators"])
    parts: list[Any] = [coefficient_table(coefficients, report["signature"]["confidence"])]
    if report["groups"]:
        by = report["groups"][0]["by"]
        rows = [
            {by: part["value"], "items": part["items"]}
            | {
                coefficient["name"]: number(coefficient["estimate"], 3)
                for coefficient in part["coefficients"]
                if coefficient["level"] is None
            }
            for part in report["groups"]
        ]
        heads = [by, "items", *(name for name in COEFFICIENTS if any(name in row for row in rows))]
        parts.append(
            Section(f"By {by}", [Table(heads, [tuple(row.get(name, UNKNOWN) for name in heads) for row in rows])])
        )
    defined = [pair for pair in report["pairs"] if pair["cohen_kappa"] is not None]
    # Pairs who share few items agree by chance or not at all; they are listed only if there are no others.
    firm = [pair for pair in defined if pair["items"] >= _FIRM] or defined
    if people > 2 and firm:
        lowest = sorted(firm, key=lambda pair: pair["cohen_kappa"])[:_PAIRS]
        listed = [(f"{of['one']}, {of['other']}", number(of["cohen_kappa"], 3), of["items"]) for of in lowest]
        title = f"The {len(lowest)} of {len(report['pairs']):,} pairs that agree least"
        parts.append(Section(title, [Table(["pair", "cohen_kappa", "items"], listed)]))
    # A note is said once, however many coefficients have it.
    distinct = {note.split(":")[0]: note for coefficient in reversed(coefficients) if (note := coefficient["note"])}
    title = f"Agreement of {people:,} annotators on {count(report['items'])} items that two or more judged"
    yield Section(title, [*parts, closing(report, *distinct.values())])


def coefficient_table(coefficients: Sequence[Entry], confidence: float = 0.95) -> Table:
    """Return coefficients with their intervals."""
    rows = [
        (
            coefficient["name"], coefficient["level"], number(coefficient["estimate"], 3),
            UNKNOWN
            if coefficient["low"] is None
            else f"{number(coefficient['low'], 3)} to {number(coefficient['high'], 3)}",
            coefficient["items"],
        )
        for coefficient in coefficients
    ]  # fmt: skip
    return Table(["coefficient", "level", "estimate", f"{100 * confidence:g} % interval", "items"], rows, 2)
