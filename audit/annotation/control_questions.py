"""Control questions, whose answers are known beforehand: for training, and hidden among others to measure annotators.

They are stored beside the questions and settle nothing. A question that still awaits answers cannot become one: its
answers count, and nobody may be told about them before.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cache
from itertools import zip_longest
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
from sqlalchemy import (
    BindParameter,
    ColumnElement,
    Connection,
    Engine,
    Select,
    bindparam,
    exists,
    func,
    literal,
    select,
    true,
)

from audit.annotation.accounts import Account, is_person, note, reading_as_manager, writing_as_manager
from audit.annotation.answers import (
    ORIGINS,
    SCALES,
    UNSURE,
    WITHDRAWN,
    is_counted,
    settled_answers,
    settled_by_people,
)
from audit.annotation.deferral import BACK, COMMENT
from audit.annotation.guidelines import guideline_of
from audit.annotation.order import FIRST as FIRST
from audit.annotation.order import TOGETHER, Place
from audit.annotation.questions import (
    ABOUT_OUTPUTS,
    Subject,
    asks_pairs,
    gold_labels,
    kind_of,
    labels_of,
    question_key,
    readable,
)
from audit.annotation.settings import JudgingSettings, exempt_up_to, set_settings, settings_of
from audit.annotation.words import words_of
from audit.errors import AuditError, Refused
from audit.files import read_table, refuse_bad_rows
from audit.keys import fingerprint, normal_text, uniform
from audit.messages import message
from audit.store import input_ids, insert_new, pieces, tables, upsert
from audit.store.bulk import LIMIT
from audit.store.copying import in_utc
from audit.store.core import (
    annotator,
    answer,
    aside,
    count_rows,
    draw,
    input_table,
    judgement,
    known,
    log,
    member,
    question,
    sample,
)
from audit.tasks import Input, get_task, label_reader, takes_several, text_columns
from audit.text.languages import is_code

# Reading texts with known answers from a CSV: the columns text and answer, and perhaps language and explanation.
#
# Where a task compares two texts, the second is in the column text_b.

FILE_COLUMNS = ("text", "text_b", "language", "answer", "explanation")
LONGEST = 100_000
"""Characters of a text that are taken."""


@dataclass(frozen=True)
class KnownText:
    """A text (or two that are compared), the labels that are right answers about it, and what people read after they
    answered in training."""

    input: Input
    allowed: tuple[str, ...]
    explanation: str = ""


def read_known(path: str | Path, task: str = "sentiment", language: str = "en") -> list[KnownText]:
    """The texts of a table with their answers; several right answers of a text have `|` between them.

    `language` is that of rows without one. Raises BadFile for a file that cannot be used, BadRow for one wrong row
    (file, line, reason) and BadFile that lists the first ten where there are several.
    """
    return parse_known(path, None, task, language)


def parse_known(
    name: str | Path, content: bytes | None, task: str = "sentiment", language: str = "en"
) -> list[KnownText]:
    """As `read_known`, of the content of a file; `name` is for messages.

    >>> parse_known("own.csv", b"text,answer\\nA fine film.,positive|neutral")[0].allowed
    ('positive', 'neutral')
    """
    texts, bad = text_columns(get_task(task).texts), list[tuple[int, str]]()
    needed = (*texts, "answer")
    table = read_table(name, needed, FILE_COLUMNS[2:], content=content, may_be_empty=needed, bad=bad)
    rows = [*zip(table.index, table.to_dict("records"), strict=True)]
    number = len(rows) + len(bad)
    labels, several, spelled = labels_of(task, "input"), takes_several([task]), label_reader(get_task(task))
    texts_read: list[KnownText] = []
    lines: dict[bytes, int] = {}
    for line, row in rows:
        code = row.get("language") or language
        written = (label.strip() for label in row["answer"].split("|") if label.strip())
        allowed = tuple(dict.fromkeys((spelled(label) if several else None) or label for label in written))
        if reason := _row_problem(row, texts, allowed, code, labels):
            bad.append((line, reason))
            continue
        known_text = KnownText(
            Input.of(*(normal_text(row[name]) for name in texts), language=code), allowed, row.get("explanation", "")
        )
        if known_text.input.key in lines:
            bad.append((line, message("known.text_again", line=lines[known_text.input.key])))
        lines[known_text.input.key] = line
        texts_read.append(known_text)
    refuse_bad_rows(name, bad, number)
    return texts_read


def _row_problem(
    row: dict[str, str], texts: Sequence[str], allowed: tuple[str, ...], code: str, labels: Sequence[str]
) -> str | None:
    for name in texts:
        if not row[name]:
            return message("file.empty_column", column=name)
        if len(row[name]) > LONGEST:
            return message("known.text_long", column=name, count=len(row[name]), most=LONGEST)
    if "\0" in "".join(row[name] for name in texts) + row.get("explanation", ""):
        return message("known.nul")
    if not allowed:
        return message("known.empty_answer", allowed=labels)
    if unknown := [label for label in allowed if label not in labels]:
        return message("wrong.answer", answer=unknown[0], allowed=labels)
    if set(allowed) == set(labels):
        return message("known.every_label")
    if not is_code(code):
        return message("wrong.language", language=code)
    if len(row.get("explanation", "")) > COMMENT:
        return message("known.explanation_long", most=COMMENT)
    return None


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
    """The control questions that a call added or changed."""

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
    query = (
        select(known, question.c.task, question.c.kind, question.c.output, input_table.c.texts, input_table.c.languages)
        .join(question, question.c.id == known.c.question_id)
        .join(input_table, input_table.c.id == question.c.input_id)
        .order_by(known.c.purpose.desc(), known.c.at, known.c.question_id)
    )
    judged = (
        select(judgement.c.question_id, judgement.c.round, func.count().label("number"))
        .where(judgement.c.round.in_((PASS, KNOWN)), judgement.c.answer != WITHDRAWN)
        .group_by(judgement.c.question_id, judgement.c.round)
    )
    with reading_as_manager(engine, by) as connection:
        counts = {(row.question_id, row.round): row.number for row in connection.execute(judged)}
        return [
            KnownQuestion(
                id=row.question_id,
                purpose=row.purpose,
                task=row.task,
                kind=row.kind,
                texts=tuple(row.texts),
                languages=tuple(row.languages.split(",")),
                output=row.output,
                allowed=tuple(row.allowed),
                explanation=row.explanation,
                judged=counts.get((row.question_id, PASS if row.purpose == TRAINING else KNOWN), 0),
                at=row.at,
            )
            for row in connection.execute(query)
        ]


def add_known(
    engine: Engine, purpose: str, items: Sequence[KnownText], *, task: str = "sentiment", by: int | None = None
) -> Added:
    """Make questions about these texts known. `by` as of `known_questions`.

    A text that is known already gets the new purpose, answer and explanation. Raises AuditError for an unknown purpose,
    label or task, for a task that asks about outputs, and where there is no text; Refused where people are waited for
    on one of the texts. Nothing is changed then.
    """
    with writing_as_manager(engine, by) as connection:
        _check_purpose(purpose)
        if not items:
            raise AuditError(message("known.no_text"))
        name = get_task(task).name
        if asks_pairs(name):
            raise AuditError(message("known.asks_pairs", task=name))
        by_key = {item.input.key: item for item in items}
        ids = input_ids(connection, [item.input for item in items])
        questions = _questions(connection, [((name, ids[key], None), key) for key in by_key])
        rows = {
            questions[name, ids[key], None]: (sorted(set(known_text.allowed)), known_text.explanation.strip())
            for key, known_text in by_key.items()
        }
        return _store(connection, purpose, rows, by)


def add_settled_questions(
    engine: Engine, purpose: str, question_ids: Iterable[int], explanation: str = "", *, by: int | None = None
) -> Added:
    """Make settled questions known, with the answer that settles them: adjudicated before people before gold.

    `by` as of `known_questions`. Raises AuditError for an unknown purpose, Refused for a question that there is not,
    that has no answer, or on which people are waited for.
    """
    with writing_as_manager(engine, by) as connection:
        _check_purpose(purpose)
        ids = list(dict.fromkeys(question_ids))
        answers = settled_answers(connection, ids)
        rows = {}
        for id in ids:
            answer = next((answers[id, origin] for origin in ORIGINS if (id, origin) in answers), None)
            if answer is None:
                raise Refused(message("known.not_settled", id=id))
            rows[id] = (sorted(answer), explanation.strip())
        return _store(connection, purpose, rows, by)


def pick_known(engine: Engine, purpose: str, count: int, seed: int = 0, *, by: int | None = None) -> Added:
    """Make up to `count` questions known that cost no sample anything, as many of each label as there are.

    Candidates are the texts of sources with a gold label (the same wherever the text stands, of tasks that ask about
    texts), and the questions that an adjudicator has settled, of which no drawn group has any part and which people
    are not waited for. Which of a label are taken hangs on `seed` and the texts alone. `by` as of `known_questions`.
    Raises AuditError for an unknown purpose, a count outside 1 to 1,000, and where there is no candidate.
    """
    with writing_as_manager(engine, by) as connection:
        _check_purpose(purpose)
        if not 1 <= count <= MOST:
            raise AuditError(message("known.bad_count", count=count, most=MOST))
        return _pick(connection, purpose, count, seed, by)


def _pick(connection: Connection, purpose: str, count: int, seed: int, by: int | None) -> Added:
    candidates = _candidates(connection)
    if not candidates:
        raise AuditError(message("known.nothing_to_pick"))
    chosen = _spread(candidates, count, seed)
    ids = _questions(connection, [(subject, key) for subject, key, _ in chosen])
    added = _store(connection, purpose, {ids[subject]: (sorted(allowed), "") for subject, _, allowed in chosen}, by)
    labels = Counter("|".join(sorted(allowed)) for _, _, allowed in chosen)
    return replace(added, candidates=len(candidates), labels=dict(sorted(labels.items())))


def remove_known(engine: Engine, question_ids: Iterable[int] | None, *, by: int | None = None) -> int:
    """Make questions known no longer (None: all); returns how many. What was judged of them stays in the history.

    `by` as of `known_questions`. Raises Refused for one that is not known.
    """
    with writing_as_manager(engine, by) as connection:
        stored = set(connection.execute(select(known.c.question_id)).scalars())
        removed = stored if question_ids is None else set(question_ids)
        if unknown := sorted(removed - stored):
            raise Refused(message("known.not_known", id=unknown[0]))
        for piece in pieces(sorted(removed)):
            connection.execute(known.delete().where(known.c.question_id.in_(piece)))
        if removed:
            note(connection, by, "known removed", count=len(removed))
    return len(removed)


def _check_purpose(purpose: str) -> None:
    if purpose not in PURPOSES:
        raise AuditError(message("wrong.purpose", purpose=purpose, allowed=PURPOSES))


def _store(connection: Connection, purpose: str, rows: Mapping[int, tuple[list[str], str]], by: int | None) -> Added:
    """Store question id -> (allowed labels, explanation), if all can be."""
    stored: set[int] = set()
    existing: set[int] = set()
    for piece in pieces(sorted(rows)):
        for row in connection.execute(select(question).where(question.c.id.in_(piece))):
            existing.add(row.id)
            labels = labels_of(row.task, row.kind)
            if unknown := sorted(set(rows[row.id][0]) - set(labels)):
                raise AuditError(message("wrong.answer", answer=unknown[0], allowed=labels))
            if row.priority is not None and not row.filled:
                raise Refused(message("known.waited_for", id=row.id))
        stored.update(connection.execute(select(known.c.question_id).where(known.c.question_id.in_(piece))).scalars())
    if missing := sorted(set(rows) - existing):
        raise Refused(message("refused.no_question", id=missing[0]))
    columns = {"purpose": purpose, "annotator_id": by, "at": tables.now()}
    upsert(
        connection,
        tables.Known,
        [
            {"question_id": id, "allowed": allowed, "explanation": explanation} | columns
            for id, (allowed, explanation) in rows.items()
        ],
    )
    added = len(set(rows) - stored)
    note(connection, by, "known added", purpose=purpose, added=added, changed=len(stored))
    return Added(added, len(stored))


def _questions(connection: Connection, subjects: Iterable[tuple[Subject, bytes]]) -> dict[Subject, int]:
    """The question about each (what is asked, the input's key), by what is asked; nobody waits for a new one."""
    keys = {question_key(subject[0], kind_of(subject[2]), key, subject[2]): subject for subject, key in subjects}
    # What a new sample would write; of a question that is there it leaves the number as it is.
    people = connection.execute(select(func.max(sample.c.annotators))).scalar() or 2
    rows = [
        {"key": key, "task": task, "kind": kind_of(output), "input_id": id, "output": output, "annotators": people}
        for key, (task, id, output) in keys.items()
    ]
    insert_new(connection, tables.Question, rows)
    ids: dict[Subject, int] = {}
    for piece in pieces(keys):
        for id, key in connection.execute(select(question.c.id, question.c.key).where(question.c.key.in_(piece))):
            ids[keys[bytes(key)]] = int(id)
    return ids


Candidate = tuple[Subject, bytes, frozenset[str]]
"""(what is asked, the input's key, allowed labels)"""


def _candidates(connection: Connection) -> list[Candidate]:
    allowed: dict[Subject, frozenset[str]] = {}
    for (task, input_id), golds in gold_labels(connection).items():
        labels = golds.intersection(get_task(task).labels)
        if len(labels) == 1 and not asks_pairs(task):
            allowed[task, input_id, None] = frozenset(labels)
    adjudicated = (
        select(question.c.task, question.c.input_id, question.c.output, answer.c.allowed)
        .join(answer, answer.c.question_id == question.c.id)
        .where(question.c.kind.in_(ABOUT_OUTPUTS), answer.c.origin == "adjudicated")
    )
    allowed |= {(task, id, output): frozenset(labels) for task, id, output, labels in connection.execute(adjudicated)}
    drawn = select(member.c.input_id).join(draw, draw.c.source_id == member.c.group_id // LIMIT**2).distinct()
    drawn_inputs = set(connection.execute(drawn).scalars())
    demanded = select(question.c.task, question.c.input_id, question.c.output).where(
        question.c.priority.is_not(None) | question.c.id.in_(select(known.c.question_id))
    )
    unavailable = {tuple(row) for row in connection.execute(demanded)}
    remaining = {
        key: options for key, options in allowed.items() if key[1] not in drawn_inputs and key not in unavailable
    }
    keys: dict[int, bytes] = {}
    for piece in pieces(sorted({id for _, id, _ in remaining})):
        query = select(input_table.c.id, input_table.c.key).where(input_table.c.id.in_(piece))
        keys.update((id, bytes(key)) for id, key in connection.execute(query))
    return [(subject, keys[subject[1]], options) for subject, options in remaining.items()]


def _spread(candidates: Iterable[Candidate], count: int, seed: int) -> list[Candidate]:
    """`count` of them, in turn from each set of labels, in an order of the seed and the texts."""
    strata: dict[tuple[str, ...], list[Candidate]] = {}
    for candidate in sorted(candidates, key=lambda candidate: _place(seed, candidate)):
        strata.setdefault(tuple(sorted(candidate[2])), []).append(candidate)
    rounds = zip_longest(*(strata[labels] for labels in sorted(strata)))
    return [candidate for turn in rounds for candidate in turn if candidate is not None][:count]


def _place(seed: int, candidate: Candidate) -> float:
    (task, _, output), key, _ = candidate
    return uniform("known", seed, task, key.hex(), *(() if output is None else (output,)))


# Hidden questions: some whose answer is known, and some that the same person has answered before.
#
# They measure how well somebody judges while they judge. Whoever is asked cannot tell them from the others: they are
# leased, shown and counted for the asker as others are. They are never votes: their pass is 2 or 3, and only pass 1 is
# part of an answer. Whether the next question is a hidden one hangs on who asks and on how much they have done so far
# alone, so that a reload changes nothing.

REPEAT, KNOWN = 2, 3
"""Passes of hidden repeats, and of hidden questions whose answer is known."""


def hidden_question(
    connection: Connection,
    account_id: int,
    settings: JudgingSettings,
    languages: tuple[str, ...],
    ordinary: Mapping[str, Any],
    place: Place,
) -> Any:
    """The hidden question that this account is asked now, as a row with its `id`, its `round` (the pass) and what
    `ordinary` has; None: an ordinary one.

    The caller has made sure that there is an ordinary question, else a hidden one would stand out. For the same reason
    it is of the ordinary one's task and kind, and of its language where there is such a one. The caller asks for none
    among the versions of a text: what chance had chosen there comes at their end, so that the shares are reached.
    """
    if not settings.gold_share and not settings.repeat_share:
        return None
    done = _times_asked(connection, account_id)
    run, hidden = (place.run, place.hidden) if settings.versions == TOGETHER else (1, place.hidden)
    if _has_put_aside_since(connection, account_id, place):
        run, hidden = 1, 0
    drawn = (_drawn_pass(account_id, number, settings) for number in range(max(done - run - hidden + 1, 0), done + 1))
    due = [kind for kind in drawn if kind is not None][hidden:]
    if not due:
        return None
    query = _gold(account_id, languages) if due[0] == KNOWN else _repeats(account_id, settings.repeat_after, languages)
    alike = (question.c.task == ordinary["task"], question.c.kind == ordinary["kind"])
    columns = (*(question.c[name] for name in ("task", "kind", "priority", "source_input_id")), input_table.c.languages)
    query = query.join(input_table, input_table.c.id == question.c.input_id).where(*alike).add_columns(*columns)
    rows = connection.execute(query.add_columns(literal(due[0]).label("round"))).all()
    rows = [row for row in rows if row.languages == ordinary["languages"]] or rows
    return rows[int(uniform("which", account_id, done) * len(rows))] if rows else None


def _drawn_pass(account_id: int, number: int, settings: JudgingSettings) -> int | None:
    """The pass of the hidden question that chance has for the time of this number that an account is asked; None: an
    ordinary one comes then."""
    chance = uniform("hidden", account_id, number)
    if chance < settings.gold_share:
        return KNOWN
    return REPEAT if chance < settings.gold_share + settings.repeat_share else None


def _has_put_aside_since(connection: Connection, account_id: int, place: Place) -> bool:
    """Whether this account skipped or flagged a question since its last answer."""
    if not place.answers:
        return False
    decided_at = select(judgement.c.decided_at).where(judgement.c.id == place.answers[0].judgement).scalar_subquery()
    query = select(aside.c.id).where(aside.c.annotator_id == account_id, aside.c.kind != BACK, aside.c.at > decided_at)
    return connection.execute(query.limit(1)).first() is not None


def _times_asked(connection: Connection, account_id: int) -> int:
    """The number of times that this account answered, skipped or flagged: it only ever grows."""
    return int(connection.execute(_asked_count(), {"account": account_id}).scalar() or 0)


@cache
def _asked_count() -> Select[Any]:
    me: BindParameter[int] = bindparam("account")
    judged = select(func.count()).where(
        judgement.c.annotator_id == me, judgement.c.round >= FIRST, judgement.c.answer != WITHDRAWN
    )
    deferred = select(func.count()).where(aside.c.annotator_id == me, aside.c.kind != BACK)
    return select(judged.scalar_subquery() + deferred.scalar_subquery())


def _gold(account_id: int, languages: tuple[str, ...]) -> Select[Any]:
    """Hidden questions that this account never had in any pass, and for which people are not waited for just now."""
    had = exists().where(judgement.c.question_id == question.c.id, judgement.c.annotator_id == account_id)
    return (
        select(question.c.id)
        .join(known, known.c.question_id == question.c.id)
        .where(known.c.purpose == GOLD, ~had, ~_was_deferred(account_id), readable(question, languages))
        .where(question.c.priority.is_(None) | question.c.filled.is_(True))
        .order_by(question.c.id)
    )


def _repeats(account_id: int, after: int, languages: tuple[str, ...]) -> Select[Any]:
    """Questions that this account gave a label at least `after` answers ago, and was never asked again; no ratings."""
    later, again, newer = (judgement.alias(name) for name in ("later", "again", "newer"))
    recent = (
        select(newer.c.id)
        .where(newer.c.annotator_id == account_id, newer.c.round >= FIRST, newer.c.answer != WITHDRAWN)
        .order_by(newer.c.id.desc())
        .limit(1)
        .offset(after - 1)
        .scalar_subquery()
    )
    repeated = exists().where(
        again.c.question_id == judgement.c.question_id, again.c.annotator_id == account_id, again.c.round != FIRST
    )
    return (
        select(question.c.id)
        .join(judgement, judgement.c.question_id == question.c.id)
        .where(judgement.c.annotator_id == account_id, judgement.c.round == FIRST, judgement.c.id < recent)
        .where(judgement.c.answer.not_in((UNSURE, WITHDRAWN)))
        .where(~exists().where(later.c.supersedes == judgement.c.id), ~repeated, ~_was_deferred(account_id))
        .where(readable(question, languages), question.c.kind.not_in(SCALES))
        .order_by(question.c.id)
    )


def _was_deferred(account_id: int) -> Any:
    """Condition: this account once skipped or flagged the question, which the page would remind it of."""
    return exists().where(aside.c.question_id == question.c.id, aside.c.annotator_id == account_id)


# Who has passed the training round. Whoever has not is given no question to judge (`audit.annotation.queue`).
#
# A training round asks every training question once. Its answers are judgements of pass 0, each attempt's superseding
# those of the attempt before; what an attempt came to is in the log. A pass holds for the questions and answers that
# the round had and for the guideline's version: where a manager changes one of these, everybody is trained again.

PASS = 0
"""The pass of judgements given in training."""
ACTION = "training"
"""What the log calls an attempt that is finished."""
_NEARLY = 1e-9
"""Shares closer than this are equal: nine of ten reach a mark of 0.9."""


class Attempt(NamedTuple):
    """A finished attempt at a training round."""

    number: int
    right: int
    questions: int
    passed: bool


class Trainer(NamedTuple):
    """A training question, its right answers, and what people read after they answered."""

    id: int
    key: bytes
    task: str
    kind: str
    allowed: frozenset[str]
    explanation: str


class TrainingAnswer(NamedTuple):
    """An answer in training."""

    judgement: int
    answer: str


@dataclass(frozen=True)
class Round:
    """Where an annotator stands: the questions in the order of this attempt, what was answered of them, and before."""

    questions: tuple[Trainer, ...]
    given: Mapping[int, TrainingAnswer]
    """Question -> answer of the attempt that goes on."""
    attempts: tuple[Attempt, ...]
    """Finished ones, of these questions and others, the first one first."""
    passed: bool
    unwritten: int | None = None
    """The last judgement of an attempt that is finished and not in the log: a question was taken out of the round."""
    version: str = ""

    @property
    def number(self) -> int:
        """Number of the attempt that goes on, from 1."""
        return len(self.attempts) + 1

    @property
    def following(self) -> Trainer:
        """The next question of the attempt that goes on."""
        return next(question for question in self.questions if question.id not in self.given)

    @property
    def right(self) -> int:
        """Right answers of the attempt that goes on."""
        return sum(self.is_right(id) for id in self.given)

    def is_right(self, question_id: int) -> bool:
        """Whether the answer of this attempt to a question is right."""
        question = next(question for question in self.questions if question.id == question_id)
        return self.given[question_id].answer in question.allowed


def needs_training(
    connection: Connection, account: Account, settings: JudgingSettings, languages: tuple[str, ...]
) -> bool:
    """Whether this account must pass the training round before it is given a question. Asked by every claim."""
    state = round_of(connection, account, settings, languages)
    return state is not None and not state.passed


def round_of(
    connection: Connection, account: Account, settings: JudgingSettings, languages: tuple[str, ...]
) -> Round | None:
    """Where an annotator stands; None for those who are not trained: other roles, or where there is no training round.

    `languages` are those that the account reads (`audit.annotation.questions`): the round has questions in them only.
    """
    if not settings.pass_mark or account.role != "annotator":
        return None
    questions = _training_questions(connection, languages)
    if not questions or _is_exempt(connection, account.id):
        return None
    version = _version(connection, questions)
    attempts, passed, until = _attempts(connection, account.id, settings.pass_mark, version)
    ids = {question.id for question in questions}
    answers = {} if passed else _answers_since(connection, account.id, until, ids)
    unwritten = None
    if len(answers) == len(questions):
        unwritten = max(answer.judgement for answer in answers.values())
        right = sum(answers[question.id].answer in question.allowed for question in questions)
        finished = Attempt(
            len(attempts) + 1, right, len(questions), _reaches(right, len(questions), settings.pass_mark)
        )
        attempts, passed, answers = [*attempts, finished], passed or finished.passed, {}
    # Another order in each attempt: what is learnt should be the texts, not a row of keys.
    order = sorted(questions, key=lambda question: uniform("training", account.id, len(attempts), question.key.hex()))
    return Round(tuple(order), answers, tuple(attempts), passed, unwritten, version)


def _is_exempt(connection: Connection, account_id: int) -> bool:
    """Whether this account judged before training was switched on, and was exempted then."""
    last = exempt_up_to(connection)
    params = {"account": account_id, "last": last}
    return bool(last) and connection.execute(_judged_up_to(), params).first() is not None


@cache
def _judged_up_to() -> Select[Any]:
    own = (judgement.c.annotator_id == bindparam("account")) & (judgement.c.round == FIRST)
    return select(judgement.c.id).where(own, judgement.c.id <= bindparam("last")).limit(1)


def write_attempt(connection: Connection, account_id: int, state: Round) -> None:
    """Put the last attempt into the log, where `state.unwritten` says that it is not there."""
    if state.unwritten is None:
        return
    last = state.attempts[-1]
    detail = {"attempt": last.number, "right": last.right, "questions": last.questions, "passed": last.passed}
    note(connection, account_id, ACTION, **detail, until=state.unwritten, round=state.version)


def _training_questions(connection: Connection, languages: tuple[str, ...]) -> list[Trainer]:
    rows = connection.execute(_questions_of(languages))
    return [
        Trainer(row.id, bytes(row.key), row.task, row.kind, frozenset(row.allowed), row.explanation) for row in rows
    ]


# Statements of every claim are cached: building one takes longer than running it.


@cache
def _questions_of(languages: tuple[str, ...]) -> Select[Any]:
    return (
        select(question, known.c.allowed, known.c.explanation)
        .join(known, known.c.question_id == question.c.id)
        .where(known.c.purpose == TRAINING, readable(question, languages))
        .order_by(question.c.id)
    )


@cache
def _finished_attempts() -> Select[Any]:
    own = (log.c.annotator_id == bindparam("account")) & (log.c.action == ACTION)
    return select(log.c.detail).where(own).order_by(log.c.id)


def _version(connection: Connection, questions: list[Trainer]) -> str:
    """A fingerprint of a training round: its questions, their answers and the guideline's version."""
    words = words_of(connection)
    return fingerprint(
        part
        for question in questions
        for part in (
            question.key.hex(),
            ",".join(sorted(question.allowed)),
            str(guideline_of(question.task, question.kind, own=words.of(question.task)).version),
        )
    )


def _attempts(connection: Connection, account_id: int, mark: float, version: str) -> tuple[list[Attempt], bool, int]:
    """Attempts in the log, whether one of this version passed, and the last judgement that they reach to."""
    attempts: list[Attempt] = []
    passed, until = False, 0
    for (detail,) in connection.execute(_finished_attempts(), {"account": account_id}):
        right, questions = int(detail["right"]), int(detail["questions"])
        attempts.append(Attempt(int(detail["attempt"]), right, questions, bool(detail["passed"])))
        # Who passed stays so when the mark goes up, and passes when it goes down below what they reached.
        enough = detail["passed"] or _reaches(right, questions, mark)
        passed = passed or (enough and detail["round"] == version)
        until = int(detail["until"])
    return attempts, passed, until


def _answers_since(
    connection: Connection, account_id: int, until: int, questions: set[int]
) -> dict[int, TrainingAnswer]:
    own = (judgement.c.annotator_id == account_id) & (judgement.c.round == PASS) & (judgement.c.id > until)
    query = select(judgement).where(own, is_counted(judgement)).order_by(judgement.c.id)
    return {
        row.question_id: TrainingAnswer(row.id, row.answer)
        for row in connection.execute(query)
        if row.question_id in questions
    }


def _reaches(right: int, questions: int, mark: float) -> bool:
    return right / questions >= mark - _NEARLY


# Qualification: the training round as one switch. New annotators pass a short round before their first question.

QUALIFYING = 8
"""Questions that are picked where there is no training question."""
QUALIFYING_MARK = 0.75
"""The pass mark where none was set."""


@dataclass(frozen=True)
class Qualification:
    """Whether new annotators are qualified first, and whom it concerns."""

    mark: float
    """Share of right answers that is needed; 0: switched off."""
    questions: int
    """Training questions that there are."""
    judged: int
    """Annotators (enabled accounts) who have judged."""
    waiting: int
    """Of these, who must pass the round before their next question; of all, where it is switched off: nobody."""

    @property
    def on(self) -> bool:
        """Whether anybody is asked: there is a mark and there are questions."""
        return bool(self.mark and self.questions)


def qualification(engine: Engine, *, by: int | None = None) -> Qualification:
    """How it stands. Raises NotAllowed where `by` is no manager."""
    with reading_as_manager(engine, by) as connection:
        return _qualification(connection)


def switch_qualification(engine: Engine, on: bool, *, exempt: bool = True, by: int | None = None) -> Qualification:
    """Have new annotators pass a short round first, or not; says so in the log.

    Where there are no training questions, `QUALIFYING` are picked as `pick_known` does. `exempt`: whoever has judged
    before need not pass it. Raises NotAllowed where `by` is no manager, AuditError where there is nothing to pick from;
    nothing is changed then.
    """
    with writing_as_manager(engine, by) as connection:
        before = _qualification(connection)
        if on and not before.questions:
            _pick(connection, TRAINING, QUALIFYING, 0, by)
        if on and not before.on:
            set_settings(connection, by, {"pass_mark": 0.0})  # so that the next one switches it on, as of now
        set_settings(connection, by, {"pass_mark": (before.mark or QUALIFYING_MARK) if on else 0.0}, exempt=exempt)
        return _qualification(connection)


def _qualification(connection: Connection) -> Qualification:
    settings = settings_of(connection)
    people = connection.execute(
        select(annotator).where(annotator.c.role == "annotator", annotator.c.disabled.is_(False))
    ).all()
    last = connection.execute(select(func.max(judgement.c.id))).scalar() or 0
    judged = [row for row in people if connection.execute(_judged_up_to(), {"account": row.id, "last": last}).first()]
    waiting = sum(
        needs_training(connection, Account(row.id, row.name, row.role), settings, _sorted_codes(row.languages))
        for row in judged
    )
    questions = count_rows(connection, known, known.c.purpose == TRAINING)
    return Qualification(settings.pass_mark, questions, len(judged), waiting)


def _sorted_codes(joined: str) -> tuple[str, ...]:
    return tuple(sorted(filter(None, joined.split(","))))


# What each person judged, and what is known of the right answer: the rows from which their quality is measured.

RECORD_COLUMNS = ["annotator", "question", "task", "kind", "round", "answer", "seconds", "known", "settled", "before"]


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


def judging_record(engine: Engine, among: ColumnElement[bool] | None = None, *, by: int | None = None) -> Record:
    """Everything that is known of how people judge, or how they judge these questions (a condition on the table
    question); for a manager (`by`, an account id; else NotAllowed) or for whoever
    has the database itself (None)."""
    with reading_as_manager(engine, by) as connection:
        frame = _judgements(connection, among)
        attempts = _training_attempts(connection)
        people = sorted(set(frame["annotator"]) | set(attempts))
        return Record(frame, tuple(people), attempts, settings_of(connection))


def _judgements(connection: Connection, among: ColumnElement[bool] | None) -> pd.DataFrame:
    query = (
        select(judgement, annotator.c.name, question.c.task, question.c.kind)
        .join(annotator, annotator.c.id == judgement.c.annotator_id)
        .join(question, question.c.id == judgement.c.question_id)
        .where(
            is_person(annotator), judgement.c.round >= FIRST, is_counted(judgement), true() if among is None else among
        )
        .order_by(judgement.c.id)
    )
    control, settled = _control_answers(connection), settled_by_people(connection)
    first: dict[tuple[str, int], str] = {}
    rows = []
    for row in connection.execute(query):
        id, pass_ = row.question_id, row.round
        if pass_ == FIRST:
            first[row.name, id] = row.answer
        rows.append(
            (
                row.name, id, row.task, row.kind, pass_, row.answer, _seconds(row.shown_at, row.decided_at),
                control.get(id) if pass_ > REPEAT else None, settled.get(id) if pass_ == FIRST else None,
                first.get((row.name, id)) if pass_ == REPEAT else None,
            )
        )  # fmt: skip
    # Plain objects: answers and sets are looked at one by one, which is slow in columns made for text.
    return pd.DataFrame(rows, columns=RECORD_COLUMNS, dtype=object).astype({"seconds": float})


def _seconds(shown: datetime | None, decided: datetime) -> float:
    return float("nan") if shown is None else max((in_utc(decided) - in_utc(shown)).total_seconds(), 0.0)


def _control_answers(connection: Connection) -> dict[int, frozenset[str]]:
    query = select(known.c.question_id, known.c.allowed).where(known.c.purpose == GOLD)
    return {id: frozenset(allowed) for id, allowed in connection.execute(query)}


def _training_attempts(connection: Connection) -> dict[str, tuple[int, bool]]:
    query = (
        select(annotator.c.name, log.c.detail)
        .join(annotator, annotator.c.id == log.c.annotator_id)
        .where(log.c.action == ACTION)
        .order_by(log.c.id)
    )
    attempts: dict[str, tuple[int, bool]] = {}
    for name, detail in connection.execute(query):
        number, passed = attempts.get(name, (0, False))
        attempts[name] = (number + 1, passed or bool(detail["passed"]))
    return attempts
