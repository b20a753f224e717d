"""Stale answers: a manager withdraws those that a changed guideline or label has overtaken.

Nothing goes stale by itself. What does stays in the history: a judgement is superseded by a row `withdrawn` that names
the manager and says why, and its question comes to the same annotator again; an adjudication is followed by one that
allows no label, and its question is settled as if nobody had adjudicated it.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Connection, Engine, Row, Table, and_, exists, func, or_, select

from audit.annotation.accounts import note, reading_as_manager
from audit.annotation.answers import (
    PEOPLE,
    SCALES,
    UNSURE,
    WITHDRAWN,
    by_people,
    is_counted,
    is_vote,
    stands,
)
from audit.annotation.control_questions import REPEAT
from audit.annotation.deferral import check_comment
from audit.annotation.guidelines import ELSEWHERE
from audit.annotation.questions import labels_of
from audit.errors import AuditError, Refused
from audit.judging.unit import unit_of_work
from audit.messages import message
from audit.store import pieces, tables
from audit.store.core import adjudication, answer, judgement, question
from audit.tasks import get_task

KINDS = ("input", "pair", "group", *SCALES)


@dataclass(frozen=True)
class Choice:
    """Which answers go stale: those to which everything that is given applies. Raises AuditError for what cannot be.

    Without `below` and `labels` nothing is chosen: that is refused.
    """

    task: str | None = None
    kind: str | None = None
    """`input`, `pair` or `group`."""
    below: int | None = None
    """Versions of the guideline before this one. Labels from elsewhere have none, and are left out."""
    labels: tuple[str, ...] = ()
    """The answer itself, `unsure` and labels that the task no longer has included."""
    elsewhere: bool = False
    """Imported labels, too, by whatever guideline."""
    unsettled: bool = False
    """Only where neither people nor an adjudicator have settled the question."""
    adjudications: bool = False
    """Adjudications, too; of these, any of the labels that they allow."""

    def __post_init__(self) -> None:
        if self.task is not None:
            get_task(self.task)
        if self.kind is not None and self.kind not in KINDS:
            raise AuditError(message("wrong.kind", kind=self.kind, allowed=KINDS))
        if self.below is not None and self.below < 1:
            raise AuditError(message("stale.bad_version", version=self.below))
        if self.below is None and not self.labels:
            raise AuditError(message("stale.which_needed"))


class Tally(NamedTuple):
    """Answers of one sort that count now."""

    what: str
    """judgement or adjudication."""
    task: str
    kind: str
    guideline: int | None
    """Version; 0: imported labels; None: an adjudication from before versions were noted with them."""
    label: str
    """Of adjudications the labels allowed, with | between them."""
    known: bool
    """Whether people can give this label today."""
    number: int


@dataclass(frozen=True)
class Stale:
    """Answers that would go stale, or did."""

    judgements: int
    adjudications: int
    questions: int
    """Questions that these are about."""
    people: int
    """Annotators whose judgements these are."""


def stale_counts(engine: Engine, by: int | None = None) -> list[Tally]:
    """Answers of people that count, by what they are and how they came about, in the order of these.

    Raises NotAllowed unless the account `by` is a manager's (None: whoever has the database itself).
    """
    numbers: Counter[tuple[str, str, str, int | None, str]] = Counter()
    asked = (question.c.task, question.c.kind)
    judged = select(*asked, judgement.c.guideline, judgement.c.answer).where(is_vote(judgement))
    adjudicated = select(*asked, adjudication.c.guideline, adjudication.c.allowed).where(stands(adjudication))
    with reading_as_manager(engine, by) as connection:
        for task, kind, guideline, label in connection.execute(
            judged.join(question, question.c.id == judgement.c.question_id)
        ):
            numbers["judgement", task, kind, guideline, label] += 1
        for task, kind, guideline, allowed in connection.execute(
            adjudicated.join(question, question.c.id == adjudication.c.question_id)
        ):
            numbers["adjudication", task, kind, guideline, "|".join(sorted(allowed))] += 1
    tallies = [
        Tally(*key, all(label in _labels(key[1], key[2]) for label in key[4].split("|")), number)
        for key, number in numbers.items()
    ]
    return sorted(
        tallies, key=lambda tally: (tally.what != "judgement", *tally[1:3], tally.guideline or 0, tally.label)
    )


def preview_stale(engine: Engine, choice: Choice, by: int | None = None) -> Stale:
    """What `mark_stale` would do with this choice; writes nothing. Raises NotAllowed as `stale_counts`."""
    with reading_as_manager(engine, by) as connection:
        return _effect(*_chosen(connection, choice))


def mark_stale(engine: Engine, by: int, choice: Choice, reason: str, *, client: str | None = None) -> Stale:
    """Mark the chosen answers as stale, in one transaction with a line in the log; returns what went.

    Hidden repeats of an answer that goes, go with it. `reason` is shown to those who are asked again. Raises NotAllowed
    unless the account `by` is a manager's, Refused for a reason that is empty or too long, and where nothing fits the
    choice.
    """
    reason = reason.strip()
    with unit_of_work(engine, by, "manager") as work:
        work.hold_all()  # or an annotator undoes one of these meanwhile, an adjudicator settles another
        connection = work.connection
        if not reason:
            raise Refused(message("stale.reason_needed"))
        check_comment(reason)
        judgements, adjudications = _chosen(connection, choice)
        touched = sorted({row.question_id for row in (*judgements, *adjudications)})
        if not touched:
            raise Refused(message("stale.nothing_fits"))
        effect = _effect(judgements, adjudications)
        moment = tables.now()
        withdrawn = {"answer": WITHDRAWN, "comment": reason, "decided_at": moment, "client": client, "withdrawn_by": by}
        work.add(
            tables.Judgement,
            [
                {name: row._mapping[name] for name in ("question_id", "annotator_id", "round", "guideline")}
                | {"supersedes": row.id}
                | withdrawn
                for row in (*judgements, *_repeats(connection, judgements))
            ],
        )
        taken_back = {"annotator_id": by, "allowed": [], "reason": reason, "decided_at": moment}
        work.add(tables.Adjudication, [{"question_id": row.question_id} | taken_back for row in adjudications])
        numbers = {name: getattr(effect, name) for name in ("judgements", "adjudications", "questions")}
        note(connection, by, "stale", **numbers, **_log_detail(choice))
    return effect


def _log_detail(choice: Choice) -> dict[str, Any]:
    """A choice as details of the log, where `adjudications` is their number already."""
    values = {name: value for name, value in asdict(choice).items() if value not in (None, (), False)}
    if choice.labels:
        values["labels"] = list(choice.labels)
    if values.pop("adjudications", False):
        values["adjudications_too"] = True
    return values


def _chosen(connection: Connection, choice: Choice) -> tuple[list[Row[Any]], list[Row[Any]]]:
    """The judgements of the first pass and the adjudications that a choice means.

    Raises Refused for labels that no answer is: they are mistyped, and the log keeps what was chosen.
    """
    _need_labels(connection, choice.labels)
    conditions: list[ColumnElement[bool]] = []
    if choice.task is not None:
        conditions.append(question.c.task == choice.task)
    if choice.kind is not None:
        conditions.append(question.c.kind == choice.kind)
    if choice.unsettled:
        settled = answer.c.origin.in_(PEOPLE)
        conditions.append(~exists().where(answer.c.question_id == question.c.id, settled))
    judgements = _rows_of(connection, judgement, is_vote(judgement), *conditions, *_of_judgements(choice))
    if not choice.adjudications:
        return judgements, []
    if choice.below is not None:
        version = adjudication.c.guideline
        conditions.append(or_(version.is_(None), version < choice.below))
    if not choice.elsewhere:
        conditions.append(func.coalesce(adjudication.c.guideline, -1) != ELSEWHERE)
    adjudications = _rows_of(connection, adjudication, stands(adjudication), *conditions)
    return judgements, [row for row in adjudications if not choice.labels or set(choice.labels) & set(row.allowed)]


def _of_judgements(choice: Choice) -> Iterator[ColumnElement[bool]]:
    """What a choice says of judgements themselves."""
    version = judgement.c.guideline
    if choice.below is not None:
        ours = and_(version > ELSEWHERE, version < choice.below)
        yield or_(ours, version == ELSEWHERE) if choice.elsewhere else ours
    elif not choice.elsewhere:
        yield version > ELSEWHERE
    if choice.labels:
        yield judgement.c.answer.in_(choice.labels)


def _rows_of(connection: Connection, table: Table, *conditions: ColumnElement[bool]) -> list[Row[Any]]:
    """The judgements or adjudications under conditions on them and on their questions, oldest first."""
    query = select(table).join(question, question.c.id == table.c.question_id)
    return list(connection.execute(query.where(*conditions).order_by(table.c.id)))


def _need_labels(connection: Connection, labels: Sequence[str]) -> None:
    if not labels:
        return
    existing = set(connection.execute(select(judgement.c.answer).distinct()).scalars()) - {WITHDRAWN}
    for allowed in connection.execute(select(adjudication.c.allowed)).scalars():
        existing |= set(allowed)
    if unknown := sorted(set(labels) - existing):
        raise Refused(
            message("stale.nobody_answered", label=unknown[0], names=sorted(existing) or message("list.none"))
        )


def _repeats(connection: Connection, judgements: Sequence[Row[Any]]) -> list[Row[Any]]:
    """The hidden repeats of these answers: they would be compared with what no longer counts."""
    pairs = {(row.question_id, row.annotator_id) for row in judgements}
    query = select(judgement).where(judgement.c.round == REPEAT, by_people(judgement), is_counted(judgement))
    return [
        row
        for piece in pieces(sorted({question_id for question_id, _ in pairs}))
        for row in connection.execute(query.where(judgement.c.question_id.in_(piece)))
        if (row.question_id, row.annotator_id) in pairs
    ]


def _effect(judgements: Sequence[Row[Any]], adjudications: Sequence[Row[Any]]) -> Stale:
    touched = {row.question_id for row in (*judgements, *adjudications)}
    people = {row.annotator_id for row in judgements}
    return Stale(len(judgements), len(adjudications), len(touched), len(people))


def _labels(task: str, kind: str) -> tuple[str, ...]:
    """The labels that people can give today; none for a task that no longer exists."""
    try:
        return (*labels_of(task, kind), UNSURE)
    except AuditError:
        return ()
