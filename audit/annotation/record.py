"""What each person judged, and what is known of the right answer: the rows from which their quality is measured."""

from dataclasses import dataclass
from datetime import datetime

import pandas as pd
from sqlalchemy import Connection, Engine, select

from audit.annotation.accounts import is_person, require_manager
from audit.annotation.answers import counts, settled_by_people
from audit.annotation.hidden import FIRST, REPEAT
from audit.annotation.known import GOLD
from audit.annotation.settings import JudgingSettings, settings_of
from audit.annotation.trained import ACTION
from audit.store import table_of, tables
from audit.store.copying import in_utc

COLUMNS = ["annotator", "question", "task", "kind", "round", "answer", "seconds", "known", "settled", "before"]


@dataclass(frozen=True, eq=False)
class Record:
    """Judgements, attempts at training, and the settings by which they are measured.

    `frame` has a row for each judgement of passes 1 to 3 that counts, in the order in which they were given, with the
    columns of `COLUMNS`: `annotator` a name; `seconds` from question to answer (NaN: not timed); `known` the right
    answers of a hidden question, `settled` those that people or an adjudicator settled (frozensets; missing where there
    are none); `before` the same person's first answer, of a repeat.
    """

    frame: pd.DataFrame
    people: tuple[str, ...]
    """Everybody who is trained, or has judged something, by name."""
    attempts: dict[str, tuple[int, bool]]
    """By name: finished attempts at training, and whether one of them passed."""
    settings: JudgingSettings


def judging_record(engine: Engine, *, by: int | None = None) -> Record:
    """Everything that is known of how people judge; for a manager (`by`, an account id; else NotAllowed) or for whoever
    has the database itself (None)."""
    with engine.connect() as connection:
        require_manager(connection, by)
        frame = _judgements(connection)
        attempts = _attempts(connection)
        people = sorted(set(frame["annotator"]) | set(attempts))
        return Record(frame, tuple(people), attempts, settings_of(connection))


def _judgements(connection: Connection) -> pd.DataFrame:
    judgement, annotator, question = (table_of(one) for one in (tables.Judgement, tables.Annotator, tables.Question))
    query = (
        select(
            annotator.c.name,
            judgement.c.question_id,
            question.c.task,
            question.c.kind,
            judgement.c.round,
            judgement.c.answer,
            judgement.c.shown_at,
            judgement.c.decided_at,
        )
        .join(annotator, annotator.c.id == judgement.c.annotator_id)
        .join(question, question.c.id == judgement.c.question_id)
        .where(is_person(annotator), judgement.c.round >= FIRST, counts(judgement))
        .order_by(judgement.c.id)
    )
    known, settled = _known(connection), settled_by_people(connection)
    first: dict[tuple[str, int], str] = {}
    rows = []
    for name, id, task, kind, round, answer, shown, decided in connection.execute(query):
        if round == FIRST:
            first[name, id] = answer
        rows.append(
            (
                name, int(id), task, kind, int(round), answer, _seconds(shown, decided),
                known.get(id) if round > REPEAT else None, settled.get(id) if round == FIRST else None,
                first.get((name, id)) if round == REPEAT else None,
            )
        )  # fmt: skip
    # Plain objects: answers and sets are looked at one by one, which is slow in columns made for text.
    return pd.DataFrame(rows, columns=COLUMNS, dtype=object).astype({"seconds": float})


def _seconds(shown: datetime | None, decided: datetime) -> float:
    return float("nan") if shown is None else max((in_utc(decided) - in_utc(shown)).total_seconds(), 0.0)


def _known(connection: Connection) -> dict[int, frozenset[str]]:
    known = table_of(tables.Known)
    query = select(known.c.question_id, known.c.allowed).where(known.c.purpose == GOLD)
    return {int(id): frozenset(allowed) for id, allowed in connection.execute(query)}


def _attempts(connection: Connection) -> dict[str, tuple[int, bool]]:
    log, annotator = table_of(tables.Log), table_of(tables.Annotator)
    query = (
        select(annotator.c.name, log.c.detail)
        .join(annotator, annotator.c.id == log.c.annotator_id)
        .where(log.c.action == ACTION)
        .order_by(log.c.id)
    )
    found: dict[str, tuple[int, bool]] = {}
    for name, detail in connection.execute(query):
        number, passed = found.get(name, (0, False))
        found[name] = (number + 1, passed or bool(detail["passed"]))
    return found
