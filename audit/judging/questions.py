"""Questions, keyed by content: the same thing is asked once, whatever study, relation or system needs it."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from functools import cache
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    RowMapping,
    and_,
    bindparam,
    case,
    exists,
    func,
    literal,
    select,
    true,
)

from audit.judging.answers import SCALES, by_people, settle
from audit.keys import digest
from audit.store import insert_new, pieces, rows_among, tables
from audit.store.core import group, input_table, judgement, member, question, sample, source, study
from audit.tasks import get_task

Subject = tuple[str, int, str | None]
"""(task, input, output): what a question asks about whose answer says which outputs are right. The output is None where
the answer is about the input alone (kind `input`), and its text where it is about the two together (kind `pair`)."""

ABOUT_OUTPUTS = ("input", "pair")
"""The kinds of questions whose answers say which outputs are right."""

HOLDS, BROKEN = "holds", "broken"
"""What people may answer about a group: the relation holds here, or it does not."""

RATINGS = ("1", "2", "3", "4", "5")
"""What people may answer on a scale, the worst first."""

BEHIND = 1_000_000_000
"""Added to the rank of an audit, whose question no group waits for: its priority. Ranks stay below it."""


@dataclass(frozen=True)
class OpenQuestions:
    """How many different questions are open, that is, have no answer yet and a drawn group waits for one.

    Flagged and disputed ones are among them, hidden repeats and control questions are not: these ask what is open, or
    answered, once more. `audits` are open too, but no group waits for them: they only check what relations carry.
    """

    texts: int
    """About a text, or an output with its text."""
    groups: int
    """About a group: does the relation hold there?"""
    audits: int

    @property
    def open(self) -> int:
        """What pages and reports call open."""
        return self.texts + self.groups


def count_open(connection: Connection, among: ColumnElement[bool] | None = None) -> OpenQuestions:
    """The open questions of the whole database, or those that meet a condition on the table question."""
    # Grouped outside: PostgreSQL does not take a condition with parameters for the one that was selected.
    parts = select(
        case((question.c.kind == "group", 1), else_=0).label("is_group"),
        case((question.c.priority >= BEHIND, 1), else_=0).label("is_audit"),
    ).where(question.c.priority.is_not(None), question.c.kind.not_in(SCALES), true() if among is None else among)
    part = parts.subquery()
    query = select(part.c.is_group, part.c.is_audit, func.count()).group_by(part.c.is_group, part.c.is_audit)
    counts = {(bool(group), bool(audit)): int(number) for group, audit, number in connection.execute(query)}
    audits = counts.get((False, True), 0) + counts.get((True, True), 0)
    return OpenQuestions(counts.get((False, False), 0), counts.get((True, False), 0), audits)


@dataclass(frozen=True)
class Wanted:
    """A question that people are to be asked, and how: the row of `question` as it should be."""

    task: str
    kind: str
    key: bytes
    input_id: int
    """Of a question about a group, its source's."""
    priority: int
    """The best rank of a drawn group that waits for it."""
    waits: int = 1
    """How many drawn (group, system) pairs wait for it."""
    annotators: int = 2
    """How many people answer it."""
    studies: str = ""
    """Those whose groups wait for it (`audit.judging.assignments.in_column`)."""
    source_input_id: int | None = None
    """The input of the source of which this one is a version."""
    output: str | None = None
    """The text that is asked about together with the input; None: the input alone."""
    group_id: int | None = None

    @classmethod
    def about(
        cls, task: str, input_id: int, input_key: bytes, output: str | None, priority: int, **terms: Any
    ) -> "Wanted":
        """Return the question about an input, or about an input and an output."""
        kind = kind_of(output)
        key = question_key(task, kind, input_key, output)
        return cls(task, kind, key, input_id, priority, output=output, **terms)


def labels_of(task: str, kind: str) -> tuple[str, ...]:
    """What people may answer to a question of this task and kind, in the order in which the app shows it.

    >>> labels_of("sentiment", "group")
    ('holds', 'broken')
    >>> labels_of("sentiment", "plausibility")
    ('1', '2', '3', '4', '5')
    """
    if kind in SCALES:
        return RATINGS
    return (HOLDS, BROKEN) if kind == "group" else get_task(task).labels


@cache
def asks_pairs(task: str) -> bool:
    """Whether people judge outputs of this task one by one, each with its input. Raises UnknownName.

    >>> asks_pairs("summarization"), asks_pairs("sentiment")
    (True, False)
    """
    return get_task(task).question_kind == "pair"


def kind_of(output: str | None) -> str:
    """The kind of a question that is asked about this output, or about an input alone (None).

    >>> kind_of(None), kind_of("A summary.")
    ('input', 'pair')
    """
    return "input" if output is None else "pair"


def question_key(task: str, kind: str, input_key: bytes, output: str | None = None) -> bytes:
    """16 bytes that name a question about an input, or about an input and an output, by its content.

    A scale is about the text alone, whatever the task.
    """
    return digest("" if kind in SCALES else task, kind, input_key.hex(), output or "", "")


def group_question_key(
    task: str, relation: str, version: str, params: str, members: Iterable[tuple[str, bytes]]
) -> bytes:
    """16 bytes that name the question about a group: its relation, and role and input key of its members in order.

    Groups of other studies, and of other systems, that have the same members under the same relation share it.
    """
    parts = (part for role, key in members for part in (role, key.hex()))
    return digest(task, "group", relation, version, params, *parts)


def make_questions(connection: Connection, subjects: Iterable[Subject]) -> tuple[dict[Subject, int], int]:
    """Make the questions about these subjects that do not exist; nobody is asked them before a round wants them.

    Returns the ids of all, and how many are new.
    """
    wanted = list(dict.fromkeys(subjects))
    key_of = {
        row.id: bytes(row.key)
        for row in rows_among(
            connection,
            select(input_table.c.id, input_table.c.key),
            input_table.c.id,
            sorted({input_id for _, input_id, _ in wanted}),
        )
    }
    people = connection.execute(select(func.max(sample.c.annotators))).scalar() or 2  # as the last sample did
    keys = {
        question_key(task, kind_of(output), key_of[input_id], output): (task, input_id, output)
        for task, input_id, output in wanted
    }
    rows = [
        {"key": key, "task": task, "kind": kind_of(output), "input_id": id, "output": output, "annotators": people}
        for key, (task, id, output) in keys.items()
    ]
    added = insert_new(connection, tables.Question, rows)
    return {keys[key]: int(row["id"]) for key, row in _stored(connection, keys).items()}, added


_TERMS = ("priority", "waits", "source_input_id", "studies", "annotators")
"""The columns that say how a question is asked; the others say what it is, and never change."""


def open_questions(connection: Connection, questions: Iterable[Wanted]) -> None:
    """Bring these questions into the queue: insert what is missing and change what differs, which is little.

    A question that nobody has judged is asked of as many people as are wanted; one that somebody has judged keeps at
    least as many as it had.
    """
    wanted = {question.key: asdict(question) for question in questions}
    stored = _stored(connection, wanted)
    missing = [row for key, row in wanted.items() if key not in stored]
    if missing:
        insert_new(connection, tables.Question, missing)
        stored |= _stored(connection, [row["key"] for row in missing])  # another process may have been faster
    judged = _judged(
        connection, [row["id"] for key, row in stored.items() if row["annotators"] != wanted[key]["annotators"]]
    )
    changed, to_settle = [], []
    # In one order, so that no two processes wait for each other's rows.
    for row in sorted(stored.values(), key=lambda row: int(row["id"])):
        target = {name: wanted[bytes(row["key"])][name] for name in _TERMS}
        if row["id"] in judged:
            target["annotators"] = max(row["annotators"], target["annotators"])
        if any(row[name] != target[name] for name in _TERMS):
            changed.append({f"new_{name}": value for name, value in target.items()} | {"question": row["id"]})
        if row["annotators"] != target["annotators"]:
            to_settle.append(int(row["id"]))
    if changed:
        statement = question.update().where(question.c.id == bindparam("question"))
        connection.execute(statement.values(**{name: bindparam(f"new_{name}") for name in _TERMS}), changed)
    if to_settle:
        settle(connection, to_settle)


def _stored(connection: Connection, keys: Iterable[bytes]) -> dict[bytes, RowMapping]:
    """The stored rows of these questions, by key; those that are not there are absent."""
    rows = rows_among(connection, select(question), question.c.key, keys)
    return {bytes(row.key): row._mapping for row in rows}


def _judged(connection: Connection, question_ids: Iterable[int]) -> set[int]:
    """Which of these questions some person ever gave a first answer to, taken back or not."""
    query = select(judgement.c.question_id).where(judgement.c.round == 1, by_people(judgement))
    return {row.question_id for row in rows_among(connection, query, judgement.c.question_id, question_ids)}


def close_questions(connection: Connection, question_ids: Iterable[int]) -> None:
    """Take questions out of the queue: no drawn group waits for them any more."""
    for piece in pieces(question_ids):
        connection.execute(question.update().where(question.c.id.in_(piece)).values(priority=None, waits=0))


def question_ids(connection: Connection, task: str, input_ids: Iterable[int]) -> dict[Subject, int]:
    """The questions about these inputs, or about one of them and an output, by what they ask about."""
    query = select(question.c.input_id, question.c.output, question.c.id)
    query = query.where(question.c.task == task, question.c.kind.in_(ABOUT_OUTPUTS))
    rows = rows_among(connection, query, question.c.input_id, input_ids)
    return {(task, input_id, output): id for input_id, output, id in rows}


def gold_labels(connection: Connection) -> dict[tuple[str, int], set[str]]:
    """The gold labels of sources by (task, input); several where rows with the same text have different ones."""
    query = (
        select(study.c.task, source.c.input_id, source.c.gold)
        .join(study, study.c.id == source.c.study_id)
        .where(source.c.gold.is_not(None))
        .distinct()
    )
    labels: dict[tuple[str, int], set[str]] = {}
    for task, input_id, label in connection.execute(query):
        labels.setdefault((task, input_id), set()).add(label)
    return labels


def reveals_outputs(question: Any) -> ColumnElement[bool]:
    """Condition on a question of the outer query: it is about a group that was made for one system, by what that system
    said of the source. Whoever sees it may guess an output, so it comes after the other questions about the same text.
    """
    of_one = group.alias("of_one_system")
    return exists().where(of_one.c.id == question.c.group_id, of_one.c.system_id.is_not(None))


# Who reads what: a question is for people who know all of its languages.


def readable(question: Any, codes: tuple[str, ...]) -> ColumnElement[bool]:
    """Condition on a question of the outer query: who reads `codes` (none: all) reads every text of it.

    Of a question about a group, every member that is shown. Codes are compared letter for letter: who reads `zh` and
    `zh-TW` has both.
    """
    if not codes:
        return true()
    # Aliases: the outer query may have these tables itself.
    its_input, part, part_input = input_table.alias("given"), member.alias("part"), input_table.alias("part_input")
    read = exists().where(its_input.c.id == question.c.input_id, _all_read(its_input.c.languages, codes))
    unreadable = exists().where(
        part.c.group_id == question.c.group_id,
        part.c.role != "probe",
        part_input.c.id == part.c.input_id,
        ~_all_read(part_input.c.languages, codes),
    )
    return and_(read, ~unreadable)


def _all_read(joined: ColumnElement[str], codes: tuple[str, ...]) -> ColumnElement[bool]:
    """Condition: nothing is left of codes joined by commas when the known ones are taken out.

    Commas are doubled first, `,en,,en,`, so that neighbours do not share one.
    """
    rest: ColumnElement[str] = literal(",") + func.replace(joined, ",", ",,") + literal(",")
    for code in codes:
        rest = func.replace(rest, f",{code},", "")
    return rest == ""
