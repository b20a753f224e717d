"""Stale answers: a manager withdraws those that a changed guideline or label has overtaken.

Nothing goes stale by itself. What does stays in the history: a judgement is superseded by a row `withdrawn` that names
the manager and says why, and its question comes to the same annotator again; an adjudication is followed by one that
allows no label, and its question is settled as if nobody had adjudicated it.
"""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Connection, Engine, and_, exists, or_, select

from audit.annotation.accounts import note, require_manager
from audit.annotation.answers import (
    ORIGINS,
    PEOPLE,
    UNSURE,
    WITHDRAWN,
    by_people,
    is_counted,
    is_vote,
    stands,
    vote_state,
)
from audit.annotation.deferral import check_comment
from audit.annotation.guidelines import ELSEWHERE
from audit.annotation.questions import Subject, labels_of
from audit.errors import AuditError, Refused
from audit.false_satisfaction.resolution import KnownAnswer, State, drawn_groups, known_answers, settle_group
from audit.judging.unit import unit_of_work
from audit.messages import message
from audit.store import pieces, table_of, tables
from audit.tasks import get_task

KINDS = ("input", "pair", "group")


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
    changed: dict[int, dict[str, list[str]]]
    """Question -> what is left of its answer, allowed labels by origin, where something of it goes or changes."""


@dataclass(frozen=True)
class AffectedGroups:
    """Drawn (group, system) pairs, each once, and questions about groups."""

    settled: int
    """Pairs that are settled now, of those that have a text whose answer goes or changes."""
    waiting: int
    """Of these, such as would wait for answers."""
    turned: int
    """Of these, such as would be false instead of true, or true instead of false."""
    holds: int
    """Groups of which it would not be known any more whether the relation holds in them."""


class _Row(NamedTuple):
    id: int
    question_id: int
    annotator_id: int
    round: int
    guideline: int


def stale_counts(engine: Engine, by: int | None = None) -> list[Tally]:
    """Answers of people that count, by what they are and how they came about, in the order of these.

    Raises NotAllowed unless the account `by` is a manager's (None: whoever has the database itself).
    """
    judgement, question = table_of(tables.Judgement), table_of(tables.Question)
    adjudication = table_of(tables.Adjudication)
    numbers: Counter[tuple[str, str, str, int | None, str]] = Counter()
    with engine.connect() as connection:
        require_manager(connection, by)
        judged = (
            select(question.c.task, question.c.kind, judgement.c.guideline, judgement.c.answer)
            .join(question, question.c.id == judgement.c.question_id)
            .where(is_vote(judgement))
        )
        for task, kind, guideline, label in connection.execute(judged):
            numbers["judgement", task, kind, guideline, label] += 1
        adjudicated = (
            select(question.c.task, question.c.kind, adjudication.c.guideline, adjudication.c.allowed)
            .join(question, question.c.id == adjudication.c.question_id)
            .where(stands(adjudication))
        )
        for task, kind, guideline, allowed in connection.execute(adjudicated):
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
    with engine.connect() as connection:
        require_manager(connection, by)
        return _effect(connection, *_chosen(connection, choice))


def affected_groups(engine: Engine, stale: Stale, by: int | None = None) -> AffectedGroups:
    """Settle what `stale` touches as it is now, and as it would be without these answers; writes nothing.

    Raises NotAllowed unless the account `by` is a manager's (None: whoever has the database itself).
    """
    question, member = table_of(tables.Question), table_of(tables.Member)
    with engine.connect() as connection:
        require_manager(connection, by)
        changed: dict[Subject, KnownAnswer | None] = {}
        holds = 0
        for piece in pieces(sorted(stale.changed)):
            query = select(*(question.c[name] for name in ("id", "task", "kind", "input_id", "output")))
            for id, task, kind, input_id, output in connection.execute(query.where(question.c.id.in_(piece))):
                remaining = stale.changed[id]
                if kind == "group":
                    holds += not remaining
                else:
                    origin = next((candidate for candidate in ORIGINS if candidate in remaining), None)
                    changed[task, int(input_id), output] = (
                        None if origin is None else KnownAnswer(frozenset(remaining[origin]), origin)
                    )
        touched: set[int] = set()
        for piece in pieces(sorted({input_id for _, input_id, _ in changed})):
            query = select(member.c.group_id).where(member.c.input_id.in_(piece), member.c.role != "probe")
            touched |= {int(row[0]) for row in connection.execute(query)}
        before = known_answers(connection)
        after = {key: answer for key, answer in before.items() if key not in changed}
        after |= {key: answer for key, answer in changed.items() if answer is not None}
        states: dict[tuple[int, int], tuple[State, State]] = {}
        for drawn in drawn_groups(connection, None, touched):
            if not any(drawn.subject(step) in changed for step in drawn.steps):
                continue  # it has the text, and another output for it
            now = settle_group(drawn, before).state
            if now is not State.WAITING:
                states[drawn.group_id, drawn.system_id] = (now, settle_group(drawn, after).state)
    waiting = sum(then is State.WAITING for _, then in states.values())
    turned = sum(then not in (State.WAITING, now) for now, then in states.values())
    return AffectedGroups(len(states), waiting, turned, holds)


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
        effect = _effect(connection, judgements, adjudications)
        moment = tables.now()
        withdrawn = [*judgements, *_repeats(connection, judgements)]
        work.add(
            tables.Judgement,
            [
                {
                    "question_id": row.question_id,
                    "annotator_id": row.annotator_id,
                    "round": row.round,
                    "answer": WITHDRAWN,
                    "comment": reason,
                    "guideline": row.guideline,
                    "decided_at": moment,
                    "supersedes": row.id,
                    "client": client,
                    "withdrawn_by": by,
                }
                for row in withdrawn
            ],
        )
        taken_back = {"annotator_id": by, "allowed": [], "reason": reason, "decided_at": moment}
        work.add(tables.Adjudication, [{"question_id": row.question_id} | taken_back for row in adjudications])
        numbers = {
            "judgements": effect.judgements,
            "adjudications": effect.adjudications,
            "questions": effect.questions,
        }
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


def _chosen(connection: Connection, choice: Choice) -> tuple[list[_Row], list[_Row]]:
    """The judgements of the first pass and the adjudications that a choice means.

    Raises Refused for labels that no answer is: they are mistyped, and the log keeps what was chosen.
    """
    _need_labels(connection, choice.labels)
    question, answer = table_of(tables.Question), table_of(tables.Answer)
    conditions: list[ColumnElement[bool]] = []
    if choice.task is not None:
        conditions.append(question.c.task == choice.task)
    if choice.kind is not None:
        conditions.append(question.c.kind == choice.kind)
    if choice.unsettled:
        settled = answer.c.origin.in_(PEOPLE)
        conditions.append(~exists().where(answer.c.question_id == question.c.id, settled))
    judgements = _chosen_judgements(connection, choice, conditions)
    return judgements, _chosen_adjudications(connection, choice, conditions) if choice.adjudications else []


def _chosen_judgements(connection: Connection, choice: Choice, conditions: Sequence[ColumnElement[bool]]) -> list[_Row]:
    """The judgements of a choice; `conditions` are those on their questions."""
    judgement, question = table_of(tables.Judgement), table_of(tables.Question)
    column = judgement.c
    chosen = list(conditions)
    if choice.below is not None:
        ours = and_(column.guideline > ELSEWHERE, column.guideline < choice.below)
        chosen.append(or_(ours, column.guideline == ELSEWHERE) if choice.elsewhere else ours)
    elif not choice.elsewhere:
        chosen.append(column.guideline > ELSEWHERE)
    if choice.labels:
        chosen.append(column.answer.in_(choice.labels))
    query = (
        select(column.id, column.question_id, column.annotator_id, column.round, column.guideline)
        .join(question, question.c.id == column.question_id)
        .where(is_vote(judgement), *chosen)
        .order_by(column.id)
    )
    return [_Row(*row) for row in connection.execute(query)]


def _chosen_adjudications(
    connection: Connection, choice: Choice, conditions: Sequence[ColumnElement[bool]]
) -> list[_Row]:
    """As `_chosen_judgements`, for adjudications."""
    adjudication, question = table_of(tables.Adjudication), table_of(tables.Question)
    column = adjudication.c
    chosen = list(conditions)
    if choice.below is not None:
        chosen.append(or_(column.guideline.is_(None), column.guideline < choice.below))
    query = (
        select(column.id, column.question_id, column.annotator_id, column.guideline, column.allowed)
        .join(question, question.c.id == column.question_id)
        .where(stands(adjudication), *chosen)
        .order_by(column.id)
    )
    return [
        _Row(id, question_id, annotator_id, 1, guideline or 0)
        for id, question_id, annotator_id, guideline, allowed in connection.execute(query)
        if not choice.labels or set(choice.labels) & set(allowed)
    ]


def _need_labels(connection: Connection, labels: Sequence[str]) -> None:
    judgement, adjudication = table_of(tables.Judgement), table_of(tables.Adjudication)
    if not labels:
        return
    existing = set(connection.execute(select(judgement.c.answer).distinct()).scalars()) - {WITHDRAWN}
    for allowed in connection.execute(select(adjudication.c.allowed)).scalars():
        existing |= set(allowed)
    if unknown := sorted(set(labels) - existing):
        raise Refused(
            message("stale.nobody_answered", label=unknown[0], names=sorted(existing) or message("list.none"))
        )


def _repeats(connection: Connection, judgements: Sequence[_Row]) -> list[_Row]:
    """The hidden repeats of these answers: they would be compared with what no longer counts."""
    judgement = table_of(tables.Judgement)
    columns = judgement.c
    pairs = {(row.question_id, row.annotator_id) for row in judgements}
    repeats = []
    for piece in pieces(sorted({question_id for question_id, _ in pairs})):
        query = select(columns.id, columns.question_id, columns.annotator_id, columns.round, columns.guideline).where(
            columns.question_id.in_(piece), columns.round == 2, by_people(judgement), is_counted(judgement)
        )
        repeats += [row for fields in connection.execute(query) if (row := _Row(*fields))[1:3] in pairs]
    return repeats


def _effect(connection: Connection, judgements: Sequence[_Row], adjudications: Sequence[_Row]) -> Stale:
    """The effect of withdrawing these: which answers go, and what is left for their questions."""
    touched = {row.question_id for row in (*judgements, *adjudications)}
    stale_ids, unsettled = {row.id for row in judgements}, {row.question_id for row in adjudications}
    before: dict[int, dict[str, list[str]]] = defaultdict(dict)
    answer, question = table_of(tables.Answer), table_of(tables.Question)
    required: dict[int, int] = {}
    votes: dict[int, list[str]] = defaultdict(list)
    judgement = table_of(tables.Judgement)
    for piece in pieces(sorted(touched)):
        for id, origin, allowed in connection.execute(
            select(answer.c.question_id, answer.c.origin, answer.c.allowed).where(answer.c.question_id.in_(piece))
        ):
            before[id][origin] = sorted(allowed)
        rows = connection.execute(select(question.c.id, question.c.annotators).where(question.c.id.in_(piece)))
        required.update((int(id), int(number)) for id, number in rows)
        query = select(judgement.c.id, judgement.c.question_id, judgement.c.answer).where(
            judgement.c.question_id.in_(piece), is_vote(judgement)
        )
        for id, question_id, label in connection.execute(query.order_by(judgement.c.id)):
            if id not in stale_ids:
                votes[question_id].append(label)
    changed = {}
    for id in sorted(touched):
        after = {origin: allowed for origin, allowed in before[id].items() if origin == "gold"}
        if votes[id] and vote_state(votes[id], required[id]) == "agreed":
            after["people"] = [votes[id][0]]
        if "adjudicated" in before[id] and id not in unsettled:
            after["adjudicated"] = before[id]["adjudicated"]
        if after != before[id]:
            changed[id] = after
    people = {row.annotator_id for row in judgements}
    return Stale(len(judgements), len(adjudications), len(touched), len(people), changed)


def _labels(task: str, kind: str) -> tuple[str, ...]:
    """The labels that people can give today; none for a task that no longer exists."""
    try:
        return (*labels_of(task, kind), UNSURE)
    except AuditError:
        return ()
