"""Questions whose answer is known before: for training, and hidden among the others to measure those who judge.

They are stored beside the questions and settle nothing. A question that people are waited for cannot be made known:
its answers count, and nobody is told about them before.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, Engine, func, select

from audit.annotation.accounts import require_manager
from audit.annotation.answers import ORIGINS, WITHDRAWN, settled_answers
from audit.annotation.known_files import KnownText
from audit.annotation.logbook import note
from audit.annotation.questions import ABOUT_OUTPUTS, Asked, asks_pairs, kind_of, labels_of, question_key
from audit.errors import AuditError, Refused
from audit.keys import uniform
from audit.store import input_ids, insert_new, pieces, table_of, tables, upsert
from audit.tasks import get_task

TRAINING, GOLD = "training", "gold"
PURPOSES = (TRAINING, GOLD)
MOST = 1_000
"""Questions that one call picks at most."""


@dataclass(frozen=True)
class KnownQuestion:
    """A question with its known answer, and how many judgements were given to it in its pass."""

    id: int
    purpose: str
    task: str
    kind: str
    texts: tuple[str, ...]
    languages: tuple[str, ...]
    output: str | None
    """The output that is judged with the texts, of a question of kind `pair`."""
    allowed: tuple[str, ...]
    explanation: str
    judged: int
    at: datetime


@dataclass(frozen=True)
class Added:
    """What became known by a call."""

    added: int
    """Questions that were not known before."""
    changed: int
    """Questions that were known, and are now with this purpose, answer and explanation."""
    candidates: int | None = None
    """Where questions were picked: how many there were to pick from."""
    labels: Mapping[str, int] | None = None
    """Where questions were picked: how many of each label."""


def known_questions(engine: Engine, *, by: int | None = None) -> list[KnownQuestion]:
    """All known questions, by purpose and in the order in which they became known.

    For a manager (`by`, an account id; else NotAllowed) or for whoever has the database itself (None).
    """
    known, question, given = (table_of(one) for one in (tables.Known, tables.Question, tables.Input))
    judgement = table_of(tables.Judgement)
    query = (
        select(known, question.c.task, question.c.kind, question.c.output, given.c.texts, given.c.languages)
        .join(question, question.c.id == known.c.question_id)
        .join(given, given.c.id == question.c.input_id)
        .order_by(known.c.purpose.desc(), known.c.at, known.c.question_id)
    )
    judged = (
        select(judgement.c.question_id, judgement.c.round, func.count())
        .where(judgement.c.round.in_((0, 3)), judgement.c.answer != WITHDRAWN)
        .group_by(judgement.c.question_id, judgement.c.round)
    )
    with engine.connect() as connection:
        require_manager(connection, by)
        counts = {(int(id), int(round)): int(number) for id, round, number in connection.execute(judged)}
        return [
            KnownQuestion(
                int(row["question_id"]),
                row["purpose"],
                row["task"],
                row["kind"],
                tuple(row["texts"]),
                tuple(row["languages"].split(",")),
                row["output"],
                tuple(row["allowed"]),
                row["explanation"],
                counts.get((int(row["question_id"]), 0 if row["purpose"] == TRAINING else 3), 0),
                row["at"],
            )
            for row in connection.execute(query).mappings()
        ]


def add_known(
    engine: Engine, purpose: str, items: Sequence[KnownText], *, task: str = "sentiment", by: int | None = None
) -> Added:
    """Make questions about these texts known. `by` as of `known_questions`.

    A text that is known already gets the new purpose, answer and explanation. Raises AuditError for an unknown purpose,
    label or task, for a task that asks about outputs, and where there is no text; Refused where people are waited for
    on one of the texts. Nothing is changed then.
    """
    with engine.begin() as connection:
        require_manager(connection, by)
        _check_purpose(purpose)
        if not items:
            raise AuditError("there is no text to make known; give at least one")
        name = get_task(task).name
        if asks_pairs(name):
            raise AuditError(
                f"task {name} asks about each output, which a text does not name; make settled questions known instead"
            )
        by_key = {one.input.key: one for one in items}
        ids = input_ids(connection, [one.input for one in items])
        questions = _questions(connection, [((name, ids[key], None), key) for key in by_key])
        rows = {
            questions[name, ids[key], None]: (sorted(set(one.allowed)), one.explanation.strip())
            for key, one in by_key.items()
        }
        return _know(connection, purpose, rows, by)


def know_questions(
    engine: Engine, purpose: str, question_ids: Iterable[int], explanation: str = "", *, by: int | None = None
) -> Added:
    """Make settled questions known, with the answer that settles them: adjudicated before people before gold.

    `by` as of `known_questions`. Raises AuditError for an unknown purpose, Refused for a question that there is not,
    that has no answer, or on which people are waited for.
    """
    with engine.begin() as connection:
        require_manager(connection, by)
        _check_purpose(purpose)
        ids = list(dict.fromkeys(question_ids))
        answers = settled_answers(connection, ids)
        rows = {}
        for id in ids:
            found = next((answers[id, one] for one in ORIGINS if (id, one) in answers), None)
            if found is None:
                raise Refused(f"question {id} has no answer that settles it; choose one that has")
            rows[id] = (sorted(found), explanation.strip())
        return _know(connection, purpose, rows, by)


def pick_known(engine: Engine, purpose: str, count: int, seed: int = 0, *, by: int | None = None) -> Added:
    """Make up to `count` questions known that cost no sample anything, as many of each label as there are.

    Candidates are the texts of sources with a gold label (the same wherever the text stands, of tasks that ask about
    texts), and the questions that an adjudicator has settled, of which no drawn group has any part and which people
    are not waited for. Which of a label are taken hangs on `seed` and the texts alone. `by` as of `known_questions`.
    Raises AuditError for an unknown purpose, a count outside 1 to 1,000, and where there is no candidate.
    """
    with engine.begin() as connection:
        require_manager(connection, by)
        _check_purpose(purpose)
        if not 1 <= count <= MOST:
            raise AuditError(f"count {count}: must be from 1 to {MOST}")
        candidates = _candidates(connection)
        if not candidates:
            raise AuditError(
                "there is no question to pick: no source outside the samples has a gold label or an adjudicated "
                "answer; add texts with their answers from a CSV file instead"
            )
        chosen = _spread(candidates, count, seed)
        ids = _questions(connection, [(asked, key) for asked, key, _ in chosen])
        rows: dict[int, tuple[list[str], str]] = {ids[asked]: (sorted(allowed), "") for asked, _, allowed in chosen}
        added = _know(connection, purpose, rows, by)
    labels: dict[str, int] = {}
    for _, _, allowed in chosen:
        name = "|".join(sorted(allowed))
        labels[name] = labels.get(name, 0) + 1
    return Added(added.added, added.changed, len(candidates), dict(sorted(labels.items())))


def remove_known(engine: Engine, question_ids: Iterable[int] | None, *, by: int | None = None) -> int:
    """Make questions known no longer (None: all); returns how many. What was judged of them stays in the history.

    `by` as of `known_questions`. Raises Refused for one that is not known.
    """
    table = table_of(tables.Known)
    with engine.begin() as connection:
        require_manager(connection, by)
        known = {int(row[0]) for row in connection.execute(select(table.c.question_id))}
        gone = known if question_ids is None else set(question_ids)
        if strange := sorted(gone - known):
            raise Refused(f"question {strange[0]} is not known; `audit known list` shows which are")
        for piece in pieces(sorted(gone)):
            connection.execute(table.delete().where(table.c.question_id.in_(piece)))
        if gone:
            note(connection, by, "known removed", count=len(gone))
    return len(gone)


def _check_purpose(purpose: str) -> None:
    if purpose not in PURPOSES:
        raise AuditError(f"purpose {purpose!r} is not one of {', '.join(PURPOSES)}")


def _know(connection: Connection, purpose: str, rows: Mapping[int, tuple[list[str], str]], by: int | None) -> Added:
    """Store question id -> (allowed labels, explanation), if all can be."""
    question, table = table_of(tables.Question), table_of(tables.Known)
    there: set[int] = set()
    found: set[int] = set()
    for piece in pieces(sorted(rows)):
        query = select(question.c.id, question.c.task, question.c.kind, question.c.priority, question.c.filled)
        for id, task, kind, priority, filled in connection.execute(query.where(question.c.id.in_(piece))):
            found.add(int(id))
            labels = labels_of(task, kind)
            if strange := sorted(set(rows[id][0]) - set(labels)):
                raise AuditError(f"answer {strange[0]!r} is not one of {', '.join(labels)}")
            if priority is not None and not filled:
                raise Refused(f"people are waited for on question {id}; only a question that nobody waits for is known")
        known = select(table.c.question_id).where(table.c.question_id.in_(piece))
        there |= {int(row[0]) for row in connection.execute(known)}
    if missing := sorted(set(rows) - found):
        raise Refused(f"there is no question {missing[0]}")
    moment = tables.now()
    upsert(
        connection,
        tables.Known,
        [
            {
                "question_id": id,
                "purpose": purpose,
                "allowed": allowed,
                "explanation": explanation,
                "annotator_id": by,
                "at": moment,
            }
            for id, (allowed, explanation) in rows.items()
        ],
    )
    added = len(set(rows) - there)
    note(connection, by, "known added", purpose=purpose, added=added, changed=len(there))
    return Added(added, len(there))


def _questions(connection: Connection, wanted: Iterable[tuple[Asked, bytes]]) -> dict[Asked, int]:
    """The question about each (what is asked, the input's key), by what is asked; nobody waits for a new one."""
    keys = {question_key(asked[0], kind_of(asked[2]), key, asked[2]): asked for asked, key in wanted}
    sample = table_of(tables.Sample)
    # What a new sample would write; of a question that is there it leaves the number as it is.
    people = connection.execute(select(func.max(sample.c.annotators))).scalar() or 2
    rows = [
        {
            "key": key,
            "task": task,
            "kind": kind_of(output),
            "input_id": id,
            "output": output,
            "annotators": people,
        }
        for key, (task, id, output) in keys.items()
    ]
    insert_new(connection, tables.Question, rows)
    table = table_of(tables.Question)
    found: dict[Asked, int] = {}
    for piece in pieces(keys):
        for id, key in connection.execute(select(table.c.id, table.c.key).where(table.c.key.in_(piece))):
            found[keys[bytes(key)]] = int(id)
    return found


Candidate = tuple[Asked, bytes, frozenset[str]]
"""(what is asked, the input's key, allowed labels)"""


def _candidates(connection: Connection) -> list[Candidate]:
    source, study, given = table_of(tables.Source), table_of(tables.Study), table_of(tables.Input)
    question, known = table_of(tables.Question), table_of(tables.Known)
    draw, member, answer = table_of(tables.Draw), table_of(tables.Member), table_of(tables.Answer)
    labels: dict[Asked, set[str]] = {}
    gold = (
        select(study.c.task, source.c.input_id, source.c.gold)
        .join(study, study.c.id == source.c.study_id)
        .where(source.c.gold.is_not(None))
        .distinct()
    )
    for task, input_id, label in connection.execute(gold):
        if label in get_task(task).labels and not asks_pairs(task):
            labels.setdefault((task, int(input_id), None), set()).add(label)
    allowed = {key: frozenset(some) for key, some in labels.items() if len(some) == 1}
    settled = (
        select(question.c.task, question.c.input_id, question.c.output, answer.c.allowed)
        .join(answer, answer.c.question_id == question.c.id)
        .where(question.c.kind.in_(ABOUT_OUTPUTS), answer.c.origin == "adjudicated")
    )
    allowed |= {(str(task), int(id), output): frozenset(some) for task, id, output, some in connection.execute(settled)}
    drawn = select(member.c.input_id).join(draw, draw.c.group_id == member.c.group_id).distinct()
    spent = {int(row[0]) for row in connection.execute(drawn)}
    waited = select(question.c.task, question.c.input_id, question.c.output).where(
        question.c.priority.is_not(None) | question.c.id.in_(select(known.c.question_id))
    )
    taken = {(str(task), int(id), output) for task, id, output in connection.execute(waited)}
    left = {key: some for key, some in allowed.items() if key[1] not in spent and key not in taken}
    keys: dict[int, bytes] = {}
    for piece in pieces(sorted({id for _, id, _ in left})):
        query = select(given.c.id, given.c.key).where(given.c.id.in_(piece))
        keys.update((int(id), bytes(key)) for id, key in connection.execute(query))
    return [(asked, keys[asked[1]], some) for asked, some in left.items()]


def _spread(candidates: Iterable[Candidate], count: int, seed: int) -> list[Candidate]:
    """`count` of them, in turn from each set of labels, in an order of the seed and the texts."""
    strata: dict[tuple[str, ...], list[Candidate]] = {}
    for one in sorted(candidates, key=lambda one: uniform("known", seed, one[0][0], one[1].hex(), *_said(one[0]))):
        strata.setdefault(tuple(sorted(one[2])), []).append(one)
    chosen: list[Candidate] = []
    place = 0
    while len(chosen) < count and any(place < len(some) for some in strata.values()):
        chosen += [strata[labels][place] for labels in sorted(strata) if place < len(strata[labels])]
        place += 1
    return chosen[:count]


def _said(asked: Asked) -> tuple[str, ...]:
    """The output that is asked about, if any."""
    return () if asked[2] is None else (asked[2],)
