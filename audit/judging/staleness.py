"""Stale answers: a manager withdraws those of a task that were given by an earlier guideline; never by what they say,
which would bias what is left. All stays in the history: a judgement is superseded by a row `withdrawn` that says why,
and its question comes to the same annotator again; an adjudication is followed by one that allows no label."""

from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from typing import Any, NamedTuple

from sqlalchemy import Connection, Engine, Row, func, select

from audit.errors import AuditError, Refused
from audit.judging.accounts import note, reading_as_manager
from audit.judging.answers import WITHDRAWN, by_people, is_counted, is_vote, stands
from audit.judging.asides import check_comment
from audit.judging.control_questions import REPEAT
from audit.judging.unit import unit_of_work
from audit.judging.words import ELSEWHERE, guideline_in_force
from audit.messages import message
from audit.store import rows_among, tables
from audit.store.core import adjudication, judgement, question


class Outdated(NamedTuple):
    """Answers in force to questions of a task and kind by versions of the guideline before `below`: judgements,
    adjudications, the questions that these are about, and the annotators."""

    task: str
    kind: str
    below: int
    judgements: int
    adjudications: int
    questions: int
    people: int


def outdated(engine: Engine, by: int | None = None) -> list[Outdated]:
    """Count what could go stale, for each task, kind and version after the first by which answers in force were given.
    Raises NotAllowed unless the account `by` is a manager's (None: whoever has the database itself)."""
    with reading_as_manager(engine, by) as connection:
        answers, outdated_answers = _given(connection), []
        for task, kind in sorted({(row.task, row.kind) for rows in answers for row, _ in rows}):
            of_kind = [[entry for entry in rows if (entry[0].task, entry[0].kind) == (task, kind)] for rows in answers]
            versions = {version for rows in of_kind for row, present in rows for version in (row.version, present)}
            for below in sorted(versions)[1:]:
                outdated_answers.append(_tally(task, kind, below, *(_before(rows, below) for rows in of_kind)))
        return outdated_answers


def mark_stale(
    engine: Engine, by: int, task: str, kind: str, below: int, reason: str, *, client: str | None = None
) -> Outdated:
    """Withdraw the answers that were given by a version before `below`, and hidden repeats of them; returns what went.
    `reason` is shown to those who are asked again. Raises Refused for a reason that is empty or too long, and where
    there is no such answer."""
    with unit_of_work(engine, by, "manager") as work:
        work.hold_all()  # or an annotator undoes one of these meanwhile, an adjudicator settles another
        if not (reason := reason.strip()):
            raise Refused(message("stale.reason_needed"))
        check_comment(reason)
        judgements, adjudications = (_before(rows, below) for rows in _given(work.connection, task, kind))
        gone = _tally(task, kind, below, judgements, adjudications)
        if not gone.questions:
            raise Refused(message("stale.nothing_fits"))
        same = {"decided_at": tables.now(), "answer": WITHDRAWN, "comment": reason, "client": client}
        kept = ("question_id", "annotator_id", "round", "guideline")
        going = [*judgements, *_repeats(work.connection, judgements)]
        rows = [{name: row._mapping[name] for name in kept} | {"supersedes": row.id} for row in going]
        work.add(tables.Judgement, [row | same | {"withdrawn_by": by} for row in rows])
        same = {"annotator_id": by, "allowed": [], "reason": reason, "decided_at": same["decided_at"]}
        work.add(tables.Adjudication, [same | {"question_id": row.question_id} for row in adjudications])
        note(work.connection, by, "stale", **{key: value for key, value in gone._asdict().items() if key != "people"})
    return gone


_Given = list[tuple[Row[Any], int]]  # Answers, with the version of the guideline that is in force for them


def _given(connection: Connection, *of: str) -> list[_Given]:
    """The judgements of the first pass and the adjudications of people that count (of a task and kind), oldest first,
    with the `version` of the guideline, where that is not in force any more. Imported labels have none, and stay."""

    @cache
    def in_force(*question: Any) -> int:
        with suppress(AuditError):
            return guideline_in_force(connection, *question).version
        return 0  # the task is not there any more

    answers = []
    for table, counts in ((judgement, is_vote(judgement)), (adjudication, stands(adjudication))):
        version = func.coalesce(table.c.guideline, 1)  # decisions from before versions were noted
        query = select(table, question.c.task, question.c.kind, question.c.study_id, version.label("version"))
        query = query.join(question, question.c.id == table.c.question_id).where(counts, version != ELSEWHERE)
        conditions = [column == value for column, value in zip((question.c.task, question.c.kind), of, strict=False)]
        rows = connection.execute(query.where(*conditions).order_by(table.c.id)).all()
        entries = [(row, in_force(row.task, row.kind, row.study_id)) for row in rows]
        answers.append([(row, present) for row, present in entries if row.version < present])
    return answers


def _before(answered: _Given, below: int) -> list[Row[Any]]:
    return [row for row, _ in answered if row.version < below]


def _repeats(connection: Connection, judgements: Sequence[Row[Any]]) -> list[Row[Any]]:
    """The hidden repeats of these answers: they would be compared with what no longer counts."""
    pairs = {(row.question_id, row.annotator_id) for row in judgements}
    query = select(judgement).where(judgement.c.round == REPEAT, by_people(judgement), is_counted(judgement))
    rows = rows_among(connection, query, judgement.c.question_id, sorted({id for id, _ in pairs}))
    return [row for row in rows if (row.question_id, row.annotator_id) in pairs]


def _tally(task: str, kind: str, below: int, judgements: list[Row[Any]], adjudications: list[Row[Any]]) -> Outdated:
    questions = {row.question_id for row in (*judgements, *adjudications)}
    people = {row.annotator_id for row in judgements}
    return Outdated(task, kind, below, len(judgements), len(adjudications), len(questions), len(people))
