"""Who has passed the training round. Whoever has not is given no question to judge (`audit.annotation.queue`).

A training round asks every training question once. Its answers are judgements of pass 0, each attempt's superseding
those of the attempt before; what an attempt came to is in the log. A pass holds for the questions and answers that the
round had and for the guideline's version: where a manager changes one of these, everybody is trained again.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

from sqlalchemy import Connection, Select, bindparam, select

from audit.annotation.accounts import Account
from audit.annotation.answers import counts
from audit.annotation.guidelines import guideline_of
from audit.annotation.known import TRAINING
from audit.annotation.logbook import note
from audit.annotation.readable import readable
from audit.annotation.settings import JudgingSettings
from audit.keys import fingerprint, uniform
from audit.store import table_of, tables

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


class Given(NamedTuple):
    """An answer in training."""

    judgement: int
    answer: str


@dataclass(frozen=True)
class Round:
    """Where an annotator stands: the questions in the order of this attempt, what was answered of them, and before."""

    questions: tuple[Trainer, ...]
    given: Mapping[int, Given]
    """Question -> answer of the attempt that goes on."""
    attempts: tuple[Attempt, ...]
    """Finished ones, of these questions and others, the first one first."""
    passed: bool
    unwritten: int | None = None
    """The last judgement of an attempt that is finished and not in the log: a question was taken out of the round."""
    version: str = ""

    @property
    def number(self) -> int:
        """Of the attempt that goes on, from 1."""
        return len(self.attempts) + 1

    @property
    def right(self) -> int:
        """Right answers of the attempt that goes on."""
        return sum(self.is_right(id) for id in self.given)

    def is_right(self, question_id: int) -> bool:
        """Whether the answer of this attempt to a question is right."""
        one = next(one for one in self.questions if one.id == question_id)
        return self.given[question_id].answer in one.allowed


def needs_training(
    connection: Connection, account: Account, settings: JudgingSettings, languages: tuple[str, ...]
) -> bool:
    """Whether this account must pass the training round before it is given a question. Asked by every claim."""
    if not settings.pass_mark or account.role != "annotator":
        return False
    questions = _questions(connection, languages)
    if not questions:
        return False
    if _attempts(connection, account.id, settings.pass_mark, _version(questions))[1]:
        return False
    found = round_of(connection, account, settings, languages)
    return found is not None and not found.passed


def round_of(
    connection: Connection, account: Account, settings: JudgingSettings, languages: tuple[str, ...]
) -> Round | None:
    """Where an annotator stands; None for those who are not trained: other roles, or where there is no training round.

    `languages` are those that the account reads (`audit.annotation.readable`): the round has questions in them only.
    """
    if not settings.pass_mark or account.role != "annotator":
        return None
    questions = _questions(connection, languages)
    if not questions:
        return None
    version = _version(questions)
    attempts, passed, until = _attempts(connection, account.id, settings.pass_mark, version)
    given = _given(connection, account.id, until, {one.id for one in questions})
    unwritten = None
    if len(given) == len(questions):
        unwritten = max(one.judgement for one in given.values())
        right = sum(given[one.id].answer in one.allowed for one in questions)
        done = Attempt(len(attempts) + 1, right, len(questions), _reaches(right, len(questions), settings.pass_mark))
        attempts, passed, given = [*attempts, done], passed or done.passed, {}
    # Another order in each attempt: what is learnt should be the texts, not a row of keys.
    order = sorted(questions, key=lambda one: uniform("training", account.id, len(attempts), one.key.hex()))
    return Round(tuple(order), given, tuple(attempts), passed, unwritten, version)


def write_attempt(connection: Connection, account_id: int, found: Round) -> None:
    """Put the last attempt into the log, where `found.unwritten` says that it is not there."""
    if found.unwritten is None:
        return
    last = found.attempts[-1]
    note(
        connection,
        account_id,
        ACTION,
        attempt=last.number,
        right=last.right,
        questions=last.questions,
        passed=last.passed,
        until=found.unwritten,
        round=found.version,
    )


def _questions(connection: Connection, languages: tuple[str, ...]) -> list[Trainer]:
    return [
        Trainer(int(id), bytes(key), task, kind, frozenset(allowed), explanation)
        for id, key, task, kind, allowed, explanation in connection.execute(_questions_of(languages))
    ]


# Statements of every claim are made once: putting one together takes longer than its answer.


@cache
def _questions_of(languages: tuple[str, ...]) -> Select[Any]:
    known, question = table_of(tables.Known), table_of(tables.Question)
    return (
        select(question.c.id, question.c.key, question.c.task, question.c.kind, known.c.allowed, known.c.explanation)
        .join(known, known.c.question_id == question.c.id)
        .where(known.c.purpose == TRAINING, readable(question, languages))
        .order_by(question.c.id)
    )


@cache
def _finished() -> Select[Any]:
    log = table_of(tables.Log)
    mine = (log.c.annotator_id == bindparam("account")) & (log.c.action == ACTION)
    return select(log.c.detail).where(mine).order_by(log.c.id)


def _version(questions: list[Trainer]) -> str:
    """What names a training round: its questions, their answers and the guideline's version."""
    return fingerprint(
        part
        for one in questions
        for part in (one.key.hex(), ",".join(sorted(one.allowed)), str(guideline_of(one.task, one.kind).version))
    )


def _attempts(connection: Connection, account_id: int, mark: float, version: str) -> tuple[list[Attempt], bool, int]:
    """Attempts in the log, whether one of this version passed, and the last judgement that they reach to."""
    attempts: list[Attempt] = []
    passed, until = False, 0
    for (detail,) in connection.execute(_finished(), {"account": account_id}):
        right, questions = int(detail["right"]), int(detail["questions"])
        attempts.append(Attempt(int(detail["attempt"]), right, questions, bool(detail["passed"])))
        # Who passed stays so when the mark goes up, and passes when it goes down below what they reached.
        enough = detail["passed"] or _reaches(right, questions, mark)
        passed = passed or (enough and detail["round"] == version)
        until = int(detail["until"])
    return attempts, passed, until


def _given(connection: Connection, account_id: int, until: int, questions: set[int]) -> dict[int, Given]:
    judgement = table_of(tables.Judgement)
    query = (
        select(judgement.c.question_id, judgement.c.id, judgement.c.answer)
        .where(judgement.c.annotator_id == account_id, judgement.c.round == PASS, judgement.c.id > until)
        .where(counts(judgement))
        .order_by(judgement.c.id)
    )
    return {
        int(question): Given(int(id), str(answer))
        for question, id, answer in connection.execute(query)
        if int(question) in questions
    }


def _reaches(right: int, questions: int, mark: float) -> bool:
    return right / questions >= mark - _NEARLY
