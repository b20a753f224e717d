"""Stale answers: a manager withdraws those that a changed guideline or label has overtaken. All stays in the history: a
judgement is superseded by a row `withdrawn` that says why, and its question comes to the same annotator again; an
adjudication is followed by one that allows no label."""

from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Connection, Engine, Row, Table, func, select

from audit.errors import AuditError, Refused
from audit.judging.accounts import note, reading_as_manager
from audit.judging.answers import WITHDRAWN, by_people, is_counted, is_vote, stands
from audit.judging.asides import check_comment
from audit.judging.control_questions import REPEAT
from audit.judging.unit import unit_of_work
from audit.judging.words import ELSEWHERE
from audit.messages import message
from audit.store import rows_among, tables
from audit.store.core import adjudication, judgement, question
from audit.tasks.questions import UNSURE, labels_of


@dataclass(frozen=True)
class Choice:
    """Which answers of people go stale: those to which everything that is given applies. Imported labels have no
    guideline and stay. Raises AuditError where neither `below` nor `labels` is given."""

    task: str | None = None
    kind: str | None = None  # `input`, `pair`, `group` or a scale
    below: int | None = None  # Versions of the guideline before this one
    labels: tuple[str, ...] = ()  # The answer itself, `unsure` and labels that the task no longer has included
    adjudications: bool = False  # Adjudications, too; of these, any of the labels that they allow

    def __post_init__(self) -> None:
        if self.below is None and not self.labels:
            raise AuditError(message("stale.which_needed"))


class Tally(NamedTuple):
    """Answers of one sort that count now."""

    what: str  # judgement or adjudication
    task: str
    kind: str
    guideline: int | None
    """Version; 0: imported labels; None: an adjudication from before versions were noted with them."""
    label: str  # Of adjudications the labels allowed, with | between them
    known: bool  # Whether people can give this label today
    number: int


class Stale(NamedTuple):
    """Answers that would go stale, or did; the questions that these are about, and the annotators."""

    judgements: int
    adjudications: int
    questions: int
    people: int


def stale_counts(engine: Engine, by: int | None = None) -> list[Tally]:
    """Count the answers of people that count, by what they are and how they came about, in the order of these. Raises
    NotAllowed unless the account `by` is a manager's (None: whoever has the database itself)."""
    numbers: Counter[tuple[str, str, str, int | None, str]] = Counter()
    with reading_as_manager(engine, by) as connection:
        for row in _rows_of(connection, judgement, is_vote(judgement)):
            numbers["judgement", row.task, row.kind, row.guideline, row.answer] += 1
        for row in _rows_of(connection, adjudication, stands(adjudication)):
            numbers["adjudication", row.task, row.kind, row.guideline, "|".join(sorted(row.allowed))] += 1
    tallies = []
    for (what, task, kind, version, label), number in numbers.items():
        known = {UNSURE}
        with suppress(AuditError):  # of a task that no longer exists, none
            known.update(labels_of(task, kind))
        tallies.append(Tally(what, task, kind, version, label, set(label.split("|")) <= known, number))
    return sorted(
        tallies, key=lambda tally: (tally.what != "judgement", *tally[1:3], tally.guideline or 0, tally.label)
    )


def preview_stale(engine: Engine, choice: Choice, by: int | None = None) -> Stale:
    """Return what `mark_stale` would do with this choice; writes nothing. Raises NotAllowed as `stale_counts`."""
    with reading_as_manager(engine, by) as connection:
        return _effect(*_chosen(connection, choice))


def mark_stale(engine: Engine, by: int, choice: Choice, reason: str, *, client: str | None = None) -> Stale:
    """Mark the chosen answers, and hidden repeats of them, as stale; returns what went. `reason` is shown to those who
    are asked again. Raises Refused for a reason that is empty or too long, and where nothing fits the choice."""
    reason = reason.strip()
    with unit_of_work(engine, by, "manager") as work:
        work.hold_all()  # or an annotator undoes one of these meanwhile, an adjudicator settles another
        if not reason:
            raise Refused(message("stale.reason_needed"))
        check_comment(reason)
        judgements, adjudications = _chosen(work.connection, choice)
        effect = _effect(judgements, adjudications)
        if not effect.questions:
            raise Refused(message("stale.nothing_fits"))
        moment = tables.now()
        withdrawn = {"answer": WITHDRAWN, "comment": reason, "decided_at": moment, "client": client, "withdrawn_by": by}
        kept = ("question_id", "annotator_id", "round", "guideline")
        going = [*judgements, *_repeats(work.connection, judgements)]
        work.add(
            tables.Judgement,
            [{name: row._mapping[name] for name in kept} | {"supersedes": row.id} | withdrawn for row in going],
        )
        taken_back = {"annotator_id": by, "allowed": [], "reason": reason, "decided_at": moment}
        work.add(tables.Adjudication, [{"question_id": row.question_id} | taken_back for row in adjudications])
        detail = {name: value for name, value in asdict(choice).items() if value and name != "adjudications"}
        numbers = effect._asdict()
        del numbers["people"]
        note(work.connection, by, "stale", **numbers, **detail)
    return effect


def _chosen(connection: Connection, choice: Choice) -> tuple[list[Row[Any]], list[Row[Any]]]:
    """The judgements of the first pass and the adjudications that a choice means."""
    chosen: list[list[Row[Any]]] = []
    for table, counts in ((judgement, is_vote(judgement)), (adjudication, stands(adjudication))):
        version = func.coalesce(table.c.guideline, 1)  # decisions from before versions were noted
        conditions: list[ColumnElement[bool]] = [counts, version != ELSEWHERE]
        conditions += [] if choice.below is None else [version < choice.below]
        conditions += [] if choice.task is None else [question.c.task == choice.task]
        conditions += [] if choice.kind is None else [question.c.kind == choice.kind]
        chosen.append(_rows_of(connection, table, *conditions))
    labels = set(choice.labels)
    return (
        [row for row in chosen[0] if not labels or row.answer in labels],
        [row for row in chosen[1] if choice.adjudications and (not labels or labels & set(row.allowed))],
    )


def _rows_of(connection: Connection, table: Table, *conditions: ColumnElement[bool]) -> list[Row[Any]]:
    """The judgements or adjudications under these conditions, with their questions' task and kind, oldest first."""
    query = select(table, question.c.task, question.c.kind).join(question, question.c.id == table.c.question_id)
    return list(connection.execute(query.where(*conditions).order_by(table.c.id)))


def _repeats(connection: Connection, judgements: Sequence[Row[Any]]) -> list[Row[Any]]:
    """The hidden repeats of these answers: they would be compared with what no longer counts."""
    pairs = {(row.question_id, row.annotator_id) for row in judgements}
    query = select(judgement).where(judgement.c.round == REPEAT, by_people(judgement), is_counted(judgement))
    rows = rows_among(connection, query, judgement.c.question_id, sorted({id for id, _ in pairs}))
    return [row for row in rows if (row.question_id, row.annotator_id) in pairs]


def _effect(judgements: Sequence[Row[Any]], adjudications: Sequence[Row[Any]]) -> Stale:
    questions = {row.question_id for row in (*judgements, *adjudications)}
    return Stale(len(judgements), len(adjudications), len(questions), len({row.annotator_id for row in judgements}))
