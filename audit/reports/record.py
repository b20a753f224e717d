"""The record: the rows from which the quality of people's judging is measured."""

from dataclasses import dataclass
from typing import Any

import pandas as pd
from sqlalchemy import ColumnElement, Connection, Engine, select, true

from audit.judging.accounts import is_person, reading_as_manager
from audit.judging.answers import is_counted, settled_by_people
from audit.judging.control_questions import GOLD, KNOWN, REPEAT
from audit.judging.order import FIRST
from audit.judging.settings import JudgingSettings, settings_of
from audit.judging.training import ACTION
from audit.store.copying import in_utc
from audit.store.core import annotator, judgement, known, log, question

RECORD_COLUMNS = ["annotator", "question", "task", "kind", "round", "answer", "seconds", "known", "settled", "before"]


@dataclass(frozen=True, eq=False)
class Record:
    """Judgements, attempts at training, and the settings by which they are measured.

    `frame` has a row for each judgement of passes 1 to 3 that counts, in the order in which they were given, with the
    columns of `RECORD_COLUMNS`: `annotator` a name; `seconds` from question to answer (NaN: not timed); `known` the
    right answers of a hidden question, `settled` those that people or an adjudicator settled (frozensets; missing where
    there are none); `before` the same person's first answer, of a repeat.
    """

    frame: pd.DataFrame
    people: tuple[str, ...]
    """Everybody who is trained, or has judged something, by name."""
    attempts: dict[str, tuple[int, bool]]
    """By name: finished attempts at training, and whether one of them passed."""
    settings: JudgingSettings


def judging_record(engine: Engine, among: ColumnElement[bool] | None = None, *, by: int | None = None) -> Record:
    """Read how people judge, everywhere or among some questions (a condition on the table question).

    For a manager (`by`, an account id; else NotAllowed) or the owner of the database (None).
    """
    tried = (
        select(annotator.c.name, log.c.detail)
        .join(annotator, annotator.c.id == log.c.annotator_id)
        .where(log.c.action == ACTION)
    )
    attempts: dict[str, tuple[int, bool]] = {}
    with reading_as_manager(engine, by) as connection:
        frame = _judgements(connection, among)
        for name, detail in connection.execute(tried.order_by(log.c.id)):
            number, passed = attempts.get(name, (0, False))
            attempts[name] = (number + 1, passed or bool(detail["passed"]))
        return Record(frame, tuple(sorted({*frame["annotator"], *attempts})), attempts, settings_of(connection))


def _judgements(connection: Connection, among: ColumnElement[bool] | None) -> pd.DataFrame:
    counted = (is_person(annotator), judgement.c.round >= FIRST, is_counted(judgement))
    query = (
        select(judgement, annotator.c.name, question.c.task, question.c.kind)
        .join(annotator, annotator.c.id == judgement.c.annotator_id)
        .join(question, question.c.id == judgement.c.question_id)
        .where(*counted, true() if among is None else among)
        .order_by(judgement.c.id)
    )
    gold = select(known.c.question_id, known.c.allowed).where(known.c.purpose == GOLD)
    control = {id: frozenset(allowed) for id, allowed in connection.execute(gold)}
    settled, first = settled_by_people(connection), dict[tuple[str, int], str]()
    rows: list[tuple[Any, ...]] = []
    for row in connection.execute(query):
        id, of_first, before = row.question_id, row.round == FIRST, first.get((row.name, row.question_id))
        if of_first:
            first[row.name, id] = row.answer
        told = (
            control.get(id) if row.round == KNOWN else None,
            settled.get(id) if of_first else None,
            before if row.round == REPEAT else None,
        )
        shown, decided = row.shown_at, in_utc(row.decided_at)
        seconds = float("nan") if shown is None else max((decided - in_utc(shown)).total_seconds(), 0.0)
        rows.append((row.name, id, row.task, row.kind, row.round, row.answer, seconds, *told))
    # Plain objects: answers and sets are looked at one by one, which is slow in columns made for text.
    return pd.DataFrame(rows, columns=RECORD_COLUMNS, dtype=object).astype({"seconds": float})
