"""The training round: questions with known answers, feedback after each, and a mark to be reached before judging."""

from dataclasses import dataclass, replace
from datetime import datetime

from sqlalchemy import Engine, select

from audit.errors import Refused
from audit.judging.accounts import ROLES, require
from audit.judging.answers import is_counted
from audit.judging.control_questions import PASS, Attempt, round_of, write_attempt
from audit.judging.queue import Shown, show
from audit.judging.settings import settings_of
from audit.judging.unit import check_answer, unit_of_work
from audit.messages import message
from audit.store import reading
from audit.store.core import judgement
from audit.tasks.questions import labels_of


@dataclass(frozen=True)
class Training:
    """The page of an annotator who has not passed yet."""

    attempt: int
    """Number of the attempt that goes on, from 1."""
    answered: int
    questions: int
    right: int
    mark: float
    """Share of right answers that is needed."""
    last: Attempt | None
    """The attempt before."""
    shown: Shown
    """The next question."""


@dataclass(frozen=True)
class Feedback:
    """What somebody reads after an answer in training."""

    question_id: int
    answer: str
    right: bool
    allowed: tuple[str, ...]
    explanation: str
    finished: Attempt | None
    """The attempt, where this was its last answer."""


@dataclass(frozen=True)
class JudgingMode:
    """What an account does now: train first, or judge, with or without hidden questions."""

    training: Training | None
    """None: not trained, or passed."""
    mixed: bool
    """Whether hidden questions are mixed in; the browser is not told which they are."""


def judging_mode(engine: Engine, account_id: int) -> JudgingMode:
    """Return whether this account is trained first, and where it stands. Raises NotAllowed if it may not judge."""
    with reading(engine) as connection:
        account = require(connection, account_id, *ROLES)
        settings = settings_of(connection)
        mixed = bool(settings.gold_share or settings.repeat_share)
        state = settings.pass_mark and round_of(connection, account, settings)
        if not state or state.passed:
            return JudgingMode(None, mixed)
        last = state.attempts[-1] if state.attempts else None
        progress = (len(state.attempts) + 1, len(state.given), len(state.questions), state.right, state.mark)
        return JudgingMode(Training(*progress, last, show(connection, state.following.id)), mixed)


def train(
    engine: Engine, account_id: int, question_id: int, answer: str, *, shown_at: datetime | None = None
) -> Feedback:
    """Store an answer in training and return what to say about it. "Unsure" is never right.

    Raises NotAllowed; Refused where the question is not the next one of this account's round, or the answer is none of
    its labels.
    """
    with unit_of_work(engine, account_id, *ROLES) as work:
        connection = work.connection
        # Of two windows of the same person, the second finds the question answered.
        account = require(connection, account_id, *ROLES, lock=True)
        state = round_of(connection, account, settings_of(connection))
        if state is None or state.passed:
            raise Refused(message("refused.no_training"))
        following = state.following
        if following.id != question_id:
            raise Refused(message("refused.not_next"))
        check_answer(following, question_id, answer, None)
        own = (judgement.c.annotator_id == account_id) & (judgement.c.question_id == question_id)
        before = select(judgement.c.id).where(own, judgement.c.round == PASS, is_counted(judgement))
        id = work.judge(following, answer, PASS, shown_at=shown_at, supersedes=connection.execute(before).scalar())
        state = replace(state, given={**state.given, question_id: answer})
        finished = write_attempt(connection, account_id, state, id)
    allowed = tuple(label for label in labels_of(following.task, following.kind) if label in following.allowed)
    return Feedback(question_id, answer, answer in allowed, allowed, following.explanation, finished)
