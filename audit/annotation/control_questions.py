"""Control questions, whose answers are known beforehand: for training, and hidden among others to measure annotators.

They are stored beside the questions and settle nothing. A question that still awaits answers cannot become one: its
answers count, and nobody may be told about them before.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
from sqlalchemy import BindParameter, Connection, Engine, Select, bindparam, exists, func, select

from audit.annotation.accounts import Account, is_person, note, require_manager
from audit.annotation.answers import ORIGINS, UNSURE, WITHDRAWN, is_counted, settled_answers, settled_by_people
from audit.annotation.deferral import BACK, COMMENT
from audit.annotation.guidelines import guideline_of
from audit.annotation.questions import ABOUT_OUTPUTS, Subject, asks_pairs, kind_of, labels_of, question_key, readable
from audit.annotation.settings import JudgingSettings, settings_of
from audit.errors import AuditError, BadFile, Refused
from audit.files import read_table, read_text, refuse_bad_rows
from audit.keys import fingerprint, uniform
from audit.messages import message
from audit.store import input_ids, insert_new, pieces, table_of, tables, upsert
from audit.store.copying import in_utc
from audit.tasks import Input, get_task
from audit.text.languages import is_code

# Reading texts with known answers from a CSV: the columns text and answer, and perhaps language and explanation.
#
# Where a task compares two texts, the second is in the column text_2.

FILE_COLUMNS = ("text", "text_2", "language", "answer", "explanation")
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
    """The texts of a UTF-8 CSV with their answers; several right answers of a text have `|` between them.

    `language` is that of rows without one. Raises BadFile for a file that cannot be used, BadRow for one wrong row
    (file, line, reason) and BadFile that lists the first ten where there are several.
    """
    return parse_known(path, read_text(path), task, language)


def parse_known(name: str | Path, text: str, task: str = "sentiment", language: str = "en") -> list[KnownText]:
    """As `read_known`, of the content of a file; `name` is for messages.

    >>> parse_known("own.csv", "text,answer\\nA fine film.,positive|neutral")[0].allowed
    ('positive', 'neutral')
    """
    header, rows = read_table(name, text, message("known.wanted"))
    texts = ("text", "text_2")[: get_task(task).texts]
    missing = [column for column in (*texts, "answer") if column not in header]
    unknown_columns = [column for column in header if column not in (*texts, *FILE_COLUMNS[2:])]
    if missing or unknown_columns:
        problem = (
            message("file.columns_missing", columns=missing)
            if missing
            else message("file.unknown_column", column=unknown_columns[0])
        )
        raise BadFile(message("file.advised", file=name, reason=problem, advice=message("known.wanted")))
    labels = labels_of(task, "input")
    bad: list[tuple[int, str]] = []
    texts_read: list[KnownText] = []
    lines: dict[bytes, int] = {}
    for line, fields in rows:
        if len(fields) != len(header):
            bad.append((line, message("file.fields", count=len(fields), expected=len(header))))
            continue
        row = dict(zip(header, fields, strict=True))
        code = row.get("language") or language
        allowed = tuple(dict.fromkeys(label.strip() for label in row["answer"].split("|") if label.strip()))
        if reason := _row_problem(row, texts, allowed, code, labels):
            bad.append((line, reason))
            continue
        known_text = KnownText(
            Input.of(*(row[name] for name in texts), language=code), allowed, row.get("explanation", "")
        )
        if known_text.input.key in lines:
            bad.append((line, message("known.text_again", line=lines[known_text.input.key])))
        lines[known_text.input.key] = line
        texts_read.append(known_text)
    refuse_bad_rows(name, bad, len(rows))
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
    control, question, input_table = (table_of(model) for model in (tables.Known, tables.Question, tables.Input))
    judgement = table_of(tables.Judgement)
    query = (
        select(
            control, question.c.task, question.c.kind, question.c.output, input_table.c.texts, input_table.c.languages
        )
        .join(question, question.c.id == control.c.question_id)
        .join(input_table, input_table.c.id == question.c.input_id)
        .order_by(control.c.purpose.desc(), control.c.at, control.c.question_id)
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
    with engine.begin() as connection:
        require_manager(connection, by)
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
    with engine.begin() as connection:
        require_manager(connection, by)
        _check_purpose(purpose)
        if not 1 <= count <= MOST:
            raise AuditError(message("known.bad_count", count=count, most=MOST))
        candidates = _candidates(connection)
        if not candidates:
            raise AuditError(message("known.nothing_to_pick"))
        chosen = _spread(candidates, count, seed)
        ids = _questions(connection, [(subject, key) for subject, key, _ in chosen])
        rows: dict[int, tuple[list[str], str]] = {ids[subject]: (sorted(allowed), "") for subject, _, allowed in chosen}
        added = _store(connection, purpose, rows, by)
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
        stored = {int(row[0]) for row in connection.execute(select(table.c.question_id))}
        removed = stored if question_ids is None else set(question_ids)
        if unknown := sorted(removed - stored):
            raise Refused(message("known.not_known", id=unknown[0]))
        for piece in pieces(sorted(removed)):
            connection.execute(table.delete().where(table.c.question_id.in_(piece)))
        if removed:
            note(connection, by, "known removed", count=len(removed))
    return len(removed)


def _check_purpose(purpose: str) -> None:
    if purpose not in PURPOSES:
        raise AuditError(message("wrong.purpose", purpose=purpose, allowed=PURPOSES))


def _store(connection: Connection, purpose: str, rows: Mapping[int, tuple[list[str], str]], by: int | None) -> Added:
    """Store question id -> (allowed labels, explanation), if all can be."""
    question, table = table_of(tables.Question), table_of(tables.Known)
    stored: set[int] = set()
    existing: set[int] = set()
    for piece in pieces(sorted(rows)):
        query = select(question.c.id, question.c.task, question.c.kind, question.c.priority, question.c.filled)
        for id, task, kind, priority, filled in connection.execute(query.where(question.c.id.in_(piece))):
            existing.add(int(id))
            labels = labels_of(task, kind)
            if unknown := sorted(set(rows[id][0]) - set(labels)):
                raise AuditError(message("wrong.answer", answer=unknown[0], allowed=labels))
            if priority is not None and not filled:
                raise Refused(message("known.waited_for", id=id))
        query_stored = select(table.c.question_id).where(table.c.question_id.in_(piece))
        stored |= {int(row[0]) for row in connection.execute(query_stored)}
    if missing := sorted(set(rows) - existing):
        raise Refused(message("refused.no_question", id=missing[0]))
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
    added = len(set(rows) - stored)
    note(connection, by, "known added", purpose=purpose, added=added, changed=len(stored))
    return Added(added, len(stored))


def _questions(connection: Connection, subjects: Iterable[tuple[Subject, bytes]]) -> dict[Subject, int]:
    """The question about each (what is asked, the input's key), by what is asked; nobody waits for a new one."""
    keys = {question_key(subject[0], kind_of(subject[2]), key, subject[2]): subject for subject, key in subjects}
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
    ids: dict[Subject, int] = {}
    for piece in pieces(keys):
        for id, key in connection.execute(select(table.c.id, table.c.key).where(table.c.key.in_(piece))):
            ids[keys[bytes(key)]] = int(id)
    return ids


Candidate = tuple[Subject, bytes, frozenset[str]]
"""(what is asked, the input's key, allowed labels)"""


def _candidates(connection: Connection) -> list[Candidate]:
    source, study, input_table = table_of(tables.Source), table_of(tables.Study), table_of(tables.Input)
    question, control = table_of(tables.Question), table_of(tables.Known)
    draw, member, answer = table_of(tables.Draw), table_of(tables.Member), table_of(tables.Answer)
    labels: dict[Subject, set[str]] = {}
    gold = (
        select(study.c.task, source.c.input_id, source.c.gold)
        .join(study, study.c.id == source.c.study_id)
        .where(source.c.gold.is_not(None))
        .distinct()
    )
    for task, input_id, label in connection.execute(gold):
        if label in get_task(task).labels and not asks_pairs(task):
            labels.setdefault((task, int(input_id), None), set()).add(label)
    allowed = {key: frozenset(golds) for key, golds in labels.items() if len(golds) == 1}
    adjudicated = (
        select(question.c.task, question.c.input_id, question.c.output, answer.c.allowed)
        .join(answer, answer.c.question_id == question.c.id)
        .where(question.c.kind.in_(ABOUT_OUTPUTS), answer.c.origin == "adjudicated")
    )
    allowed |= {
        (str(task), int(id), output): frozenset(settled_labels)
        for task, id, output, settled_labels in connection.execute(adjudicated)
    }
    drawn = select(member.c.input_id).join(draw, draw.c.group_id == member.c.group_id).distinct()
    drawn_inputs = {int(row[0]) for row in connection.execute(drawn)}
    demanded = select(question.c.task, question.c.input_id, question.c.output).where(
        question.c.priority.is_not(None) | question.c.id.in_(select(control.c.question_id))
    )
    unavailable = {(str(task), int(id), output) for task, id, output in connection.execute(demanded)}
    remaining = {
        key: options for key, options in allowed.items() if key[1] not in drawn_inputs and key not in unavailable
    }
    keys: dict[int, bytes] = {}
    for piece in pieces(sorted({id for _, id, _ in remaining})):
        query = select(input_table.c.id, input_table.c.key).where(input_table.c.id.in_(piece))
        keys.update((int(id), bytes(key)) for id, key in connection.execute(query))
    return [(subject, keys[subject[1]], options) for subject, options in remaining.items()]


def _spread(candidates: Iterable[Candidate], count: int, seed: int) -> list[Candidate]:
    """`count` of them, in turn from each set of labels, in an order of the seed and the texts."""
    strata: dict[tuple[str, ...], list[Candidate]] = {}
    for candidate in sorted(
        candidates,
        key=lambda candidate: uniform("known", seed, candidate[0][0], candidate[1].hex(), *_output_of(candidate[0])),
    ):
        strata.setdefault(tuple(sorted(candidate[2])), []).append(candidate)
    chosen: list[Candidate] = []
    position = 0
    while len(chosen) < count and any(position < len(stratum) for stratum in strata.values()):
        chosen += [strata[labels][position] for labels in sorted(strata) if position < len(strata[labels])]
        position += 1
    return chosen[:count]


def _output_of(subject: Subject) -> tuple[str, ...]:
    """The output that is asked about, if any."""
    return () if subject[2] is None else (subject[2],)


# Hidden questions: some whose answer is known, and some that the same person has answered before.
#
# They measure how well somebody judges while they judge. Whoever is asked cannot tell them from the others: they are
# leased, shown and counted for the asker as others are. They are never votes: their pass is 2 or 3, and only pass 1 is
# part of an answer. Whether the next question is a hidden one hangs on who asks and on how much they have done so far
# alone, so that a reload changes nothing.

FIRST, REPEAT, KNOWN = 1, 2, 3
"""Passes: of ordinary judgements, of hidden repeats, of hidden questions whose answer is known."""


def hidden_question(
    connection: Connection, account_id: int, settings: JudgingSettings, languages: tuple[str, ...]
) -> tuple[int, int] | None:
    """The hidden question that this account is asked now, and its pass; None: an ordinary one.

    The caller has made sure that there is an ordinary question: else a hidden one would stand out.
    """
    if not settings.gold_share and not settings.repeat_share:
        return None
    done = _times_asked(connection, account_id)
    chance = uniform("hidden", account_id, done)
    if chance < settings.gold_share:
        query, kind = _gold(account_id, languages), KNOWN
    elif chance < settings.gold_share + settings.repeat_share:
        query, kind = _repeats(account_id, settings.repeat_after, languages), REPEAT
    else:
        return None
    ids = [int(row[0]) for row in connection.execute(query)]
    return (ids[int(uniform("which", account_id, done) * len(ids))], kind) if ids else None


def _times_asked(connection: Connection, account_id: int) -> int:
    """The number of times that this account answered, skipped or flagged: it only ever grows."""
    return int(connection.execute(_asked_count(), {"account": account_id}).scalar() or 0)


@cache
def _asked_count() -> Select[Any]:
    judgement, aside = table_of(tables.Judgement), table_of(tables.Aside)
    me: BindParameter[int] = bindparam("account")
    judged = select(func.count()).where(
        judgement.c.annotator_id == me, judgement.c.round >= FIRST, judgement.c.answer != WITHDRAWN
    )
    deferred = select(func.count()).where(aside.c.annotator_id == me, aside.c.kind != BACK)
    return select(judged.scalar_subquery() + deferred.scalar_subquery())


def _gold(account_id: int, languages: tuple[str, ...]) -> Select[Any]:
    """Hidden questions that this account never had in any pass, and for which people are not waited for just now."""
    question, control = table_of(tables.Question), table_of(tables.Known)
    judgement = table_of(tables.Judgement).alias("had")
    had = exists().where(judgement.c.question_id == question.c.id, judgement.c.annotator_id == account_id)
    return (
        select(question.c.id)
        .join(control, control.c.question_id == question.c.id)
        .where(control.c.purpose == GOLD, ~had, ~_was_deferred(account_id), readable(question, languages))
        .where(question.c.priority.is_(None) | question.c.filled.is_(True))
        .order_by(question.c.id)
    )


def _repeats(account_id: int, after: int, languages: tuple[str, ...]) -> Select[Any]:
    """Questions that this account gave a label at least `after` answers ago, and was never asked again."""
    question, judgement = table_of(tables.Question), table_of(tables.Judgement)
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
        .where(readable(question, languages))
        .order_by(question.c.id)
    )


def _was_deferred(account_id: int) -> Any:
    """Condition: this account once skipped or flagged the question, which the page would remind it of."""
    question, aside = table_of(tables.Question), table_of(tables.Aside)
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
    if not settings.pass_mark or account.role != "annotator":
        return False
    questions = _training_questions(connection, languages)
    if not questions:
        return False
    if _attempts(connection, account.id, settings.pass_mark, _version(questions))[1]:
        return False
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
    if not questions:
        return None
    version = _version(questions)
    attempts, passed, until = _attempts(connection, account.id, settings.pass_mark, version)
    answers = _answers_since(connection, account.id, until, {question.id for question in questions})
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


def write_attempt(connection: Connection, account_id: int, state: Round) -> None:
    """Put the last attempt into the log, where `found.unwritten` says that it is not there."""
    if state.unwritten is None:
        return
    last = state.attempts[-1]
    note(
        connection,
        account_id,
        ACTION,
        attempt=last.number,
        right=last.right,
        questions=last.questions,
        passed=last.passed,
        until=state.unwritten,
        round=state.version,
    )


def _training_questions(connection: Connection, languages: tuple[str, ...]) -> list[Trainer]:
    return [
        Trainer(int(id), bytes(key), task, kind, frozenset(allowed), explanation)
        for id, key, task, kind, allowed, explanation in connection.execute(_questions_of(languages))
    ]


# Statements of every claim are cached: building one takes longer than running it.


@cache
def _questions_of(languages: tuple[str, ...]) -> Select[Any]:
    control, question = table_of(tables.Known), table_of(tables.Question)
    return (
        select(
            question.c.id, question.c.key, question.c.task, question.c.kind, control.c.allowed, control.c.explanation
        )
        .join(control, control.c.question_id == question.c.id)
        .where(control.c.purpose == TRAINING, readable(question, languages))
        .order_by(question.c.id)
    )


@cache
def _finished_attempts() -> Select[Any]:
    log = table_of(tables.Log)
    own = (log.c.annotator_id == bindparam("account")) & (log.c.action == ACTION)
    return select(log.c.detail).where(own).order_by(log.c.id)


def _version(questions: list[Trainer]) -> str:
    """A fingerprint of a training round: its questions, their answers and the guideline's version."""
    return fingerprint(
        part
        for question in questions
        for part in (
            question.key.hex(),
            ",".join(sorted(question.allowed)),
            str(guideline_of(question.task, question.kind).version),
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
    judgement = table_of(tables.Judgement)
    query = (
        select(judgement.c.question_id, judgement.c.id, judgement.c.answer)
        .where(judgement.c.annotator_id == account_id, judgement.c.round == PASS, judgement.c.id > until)
        .where(is_counted(judgement))
        .order_by(judgement.c.id)
    )
    return {
        int(question): TrainingAnswer(int(id), str(answer))
        for question, id, answer in connection.execute(query)
        if int(question) in questions
    }


def _reaches(right: int, questions: int, mark: float) -> bool:
    return right / questions >= mark - _NEARLY


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


def judging_record(engine: Engine, *, by: int | None = None) -> Record:
    """Everything that is known of how people judge; for a manager (`by`, an account id; else NotAllowed) or for whoever
    has the database itself (None)."""
    with engine.connect() as connection:
        require_manager(connection, by)
        frame = _judgements(connection)
        attempts = _training_attempts(connection)
        people = sorted(set(frame["annotator"]) | set(attempts))
        return Record(frame, tuple(people), attempts, settings_of(connection))


def _judgements(connection: Connection) -> pd.DataFrame:
    judgement, annotator, question = (
        table_of(model) for model in (tables.Judgement, tables.Annotator, tables.Question)
    )
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
        .where(is_person(annotator), judgement.c.round >= FIRST, is_counted(judgement))
        .order_by(judgement.c.id)
    )
    control, settled = _control_answers(connection), settled_by_people(connection)
    first: dict[tuple[str, int], str] = {}
    rows = []
    for name, id, task, kind, round, answer, shown, decided in connection.execute(query):
        if round == FIRST:
            first[name, id] = answer
        rows.append(
            (
                name, int(id), task, kind, int(round), answer, _seconds(shown, decided),
                control.get(id) if round > REPEAT else None, settled.get(id) if round == FIRST else None,
                first.get((name, id)) if round == REPEAT else None,
            )
        )  # fmt: skip
    # Plain objects: answers and sets are looked at one by one, which is slow in columns made for text.
    return pd.DataFrame(rows, columns=RECORD_COLUMNS, dtype=object).astype({"seconds": float})


def _seconds(shown: datetime | None, decided: datetime) -> float:
    return float("nan") if shown is None else max((in_utc(decided) - in_utc(shown)).total_seconds(), 0.0)


def _control_answers(connection: Connection) -> dict[int, frozenset[str]]:
    control = table_of(tables.Known)
    query = select(control.c.question_id, control.c.allowed).where(control.c.purpose == GOLD)
    return {int(id): frozenset(allowed) for id, allowed in connection.execute(query)}


def _training_attempts(connection: Connection) -> dict[str, tuple[int, bool]]:
    log, annotator = table_of(tables.Log), table_of(tables.Annotator)
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
