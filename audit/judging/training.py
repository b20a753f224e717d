"""The training round: every training question once, with feedback, and a mark to be reached before judging. Its answers
are judgements of pass 0, each attempt's superseding those before; the log has the finished attempts. A pass holds for
the questions, answers and guideline that the round had."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from sqlalchemy import Connection, Engine, Row, select

from audit.judging.accounts import Account, note, reading_as_manager, writing_as_manager
from audit.judging.answers import is_counted
from audit.judging.asides import readable
from audit.judging.control_questions import PASS, TRAINING, pick
from audit.judging.order import FIRST
from audit.judging.settings import EXEMPT_UP_TO, JudgingSettings, set_settings, settings_of
from audit.judging.words import guideline_of, words_of
from audit.keys import fingerprint, uniform
from audit.store.core import count_rows, judgement, known, log, question, setting

ACTION = "training"  # What the log calls a finished attempt
QUALIFYING, QUALIFYING_MARK = 8, 0.75
"""Questions that are picked where there is no training question, and the pass mark where none was set."""


class Attempt(NamedTuple):
    """A finished attempt at a training round."""

    attempt: int
    right: int
    questions: int
    passed: bool


@dataclass(frozen=True)
class Round:
    """Where an annotator stands in training: the questions in the order of this attempt (rows of `question` with
    `allowed` and `explanation`), this attempt's answers by question, and the finished attempts, oldest first."""

    questions: tuple[Row[Any], ...]
    given: Mapping[int, str]
    attempts: tuple[Attempt, ...]
    passed: bool
    mark: float
    version: str

    @property
    def following(self) -> Row[Any]:
        """The next question of this attempt; the last again, if another was taken out of the round meanwhile."""
        return next((question for question in self.questions if question.id not in self.given), self.questions[-1])

    @property
    def right(self) -> int:
        """Right answers of this attempt."""
        return sum(self.given.get(question.id) in question.allowed for question in self.questions)


def needs_training(connection: Connection, account: Account, settings: JudgingSettings) -> bool:
    """Return whether this account must pass the training round before it is given a question. Every claim asks."""
    state = round_of(connection, account, settings)
    return state is not None and not state.passed


def round_of(connection: Connection, account: Account, settings: JudgingSettings) -> Round | None:
    """Return where an annotator stands; None: not trained, for the role, an exemption or want of questions. The round
    has the questions in the languages that the account reads."""
    if not settings.pass_mark or account.role != "annotator":
        return None
    training_questions = select(question, known.c.allowed, known.c.explanation).join(
        known, known.c.question_id == question.c.id
    )
    training_questions = training_questions.where(
        known.c.purpose == TRAINING, readable(question, account.languages)
    ).order_by(question.c.id)
    questions = connection.execute(training_questions).all()
    own = judgement.c.annotator_id == account.id
    exempt = connection.execute(select(setting.c.value).where(setting.c.name == EXEMPT_UP_TO)).scalar() or 0
    before = select(judgement.c.id).where(own, judgement.c.round == FIRST, judgement.c.id <= int(exempt)).limit(1)
    if not questions or connection.execute(before).first():
        return None
    version, mark = _version(connection, questions), settings.pass_mark
    finished = select(log.c.detail).where(log.c.annotator_id == account.id, log.c.action == ACTION)
    done = list(connection.execute(finished.order_by(log.c.id)).scalars())
    # Who passed stays so when the mark goes up, and passes when it goes down below what they reached.
    passed = any(
        detail["round"] == version and (detail["passed"] or _reaches(detail["right"], detail["questions"], mark))
        for detail in done
    )
    since = judgement.c.id > (done[-1]["until"] if done else 0)
    answers = select(judgement.c.question_id, judgement.c.answer).order_by(judgement.c.id)
    answers = answers.where(own, judgement.c.round == PASS, since, is_counted(judgement))
    rows = [] if passed else connection.execute(answers).all()
    own_answers = {id: answer for id, answer in rows if id in {question.id for question in questions}}
    attempts = tuple(Attempt(*(detail[name] for name in Attempt._fields)) for detail in done)
    # Another order in each attempt: what is learnt should be the texts, not a row of keys.
    order = sorted(questions, key=lambda row: uniform("training", account.id, len(attempts), bytes(row.key).hex()))
    return Round(tuple(order), own_answers, attempts, passed, mark, version)


def _reaches(right: int, questions: int, mark: float) -> bool:
    return right / questions >= mark - 1e-9  # nine of ten reach a mark of 0.9


def _version(connection: Connection, questions: Sequence[Row[Any]]) -> str:
    """A fingerprint of a training round: its questions, their answers and the guideline's version."""
    words, parts = words_of(connection), list[str]()
    for row in questions:
        version = guideline_of(row.task, row.kind, own=words.of(row.task, row.study_id)).version
        parts += [bytes(row.key).hex(), ",".join(sorted(row.allowed)), str(version)]
    return fingerprint(parts)


def write_attempt(connection: Connection, account_id: int, state: Round, until: int) -> Attempt | None:
    """Log this attempt with its last judgement and return it, if every question is answered."""
    number = len(state.questions)
    if len(state.given) < number:
        return None
    attempt = Attempt(len(state.attempts) + 1, state.right, number, _reaches(state.right, number, state.mark))
    note(connection, account_id, ACTION, **attempt._asdict(), until=until, round=state.version)
    return attempt


# Qualification: the training round as one switch.


class Qualification(NamedTuple):
    """Whether new annotators are qualified first: the share of right answers that is needed (0: switched off), and the
    training questions that there are."""

    mark: float
    questions: int

    @property
    def on(self) -> bool:
        """Whether anybody is asked: there is a mark and there are questions."""
        return bool(self.mark and self.questions)


def qualification(engine: Engine, *, by: int | None = None) -> Qualification:
    """Return how it stands. Raises NotAllowed where `by` is no manager."""
    with reading_as_manager(engine, by) as connection:
        return _qualification(connection)


def switch_qualification(engine: Engine, on: bool, *, by: int | None = None) -> Qualification:
    """Have new annotators pass a short round first, or not. Whoever has judged before need not. Without training
    questions, `QUALIFYING` are picked. Raises AuditError where there is nothing to pick from."""
    with writing_as_manager(engine, by) as connection:
        before = _qualification(connection)
        if on and not before.questions:
            pick(connection, TRAINING, QUALIFYING, 0, by)
        if on and not before.on:
            set_settings(connection, by, {"pass_mark": 0.0})  # so that the next one switches it on, as of now
        set_settings(connection, by, {"pass_mark": (before.mark or QUALIFYING_MARK) if on else 0.0})
        return _qualification(connection)


def _qualification(connection: Connection) -> Qualification:
    questions = count_rows(connection, known, known.c.purpose == TRAINING)
    return Qualification(settings_of(connection).pass_mark, questions)
