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
from sqlalchemy import ColumnElement, Connection, Engine, Row, Select, bindparam, case, exists, func, select, true

from audit.errors import AuditError, Refused
from audit.files import read_table, refuse_bad_rows
from audit.judging.accounts import Account, is_person, note, reading_as_manager, require, writing_as_manager
from audit.judging.answers import WITHDRAWN, is_counted, settled_answers, settled_by_people
from audit.judging.asides import BACK, COMMENT, readable
from audit.judging.asking import gold_labels, make_questions
from audit.judging.guidelines import guideline_of
from audit.judging.order import FIRST as FIRST
from audit.judging.order import TOGETHER, Place
from audit.judging.settings import JudgingSettings, exempt_up_to, set_settings, settings_of
from audit.judging.words import words_of
from audit.keys import fingerprint, normal_text, uniform
from audit.messages import message
from audit.store import input_ids, pieces, rows_among, tables, upsert
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
)
from audit.tasks import Input, get_task, label_reader, takes_several, text_columns
from audit.tasks.questions import ABOUT_OUTPUTS, ORIGINS, SCALES, UNSURE, Subject, asks_pairs, labels_of
from audit.text.languages import is_code

PASS, REPEAT, KNOWN = 0, 2, 3
"""Passes of judgements beside ordinary ones (`FIRST`): training, hidden repeats, hidden control questions."""
TRAINING, GOLD = "training", "gold"
PURPOSES = (TRAINING, GOLD)
MOST = 1_000
"""Questions that one call picks at most."""
LONGEST = 100_000
"""Characters of a text that are taken."""
FILE_COLUMNS = ("text", "text_b", "language", "answer", "explanation")


@dataclass(frozen=True)
class KnownText:
    """A text (or two that are compared), its right answers, and what people read after they answered in training."""

    input: Input
    allowed: tuple[str, ...]
    explanation: str = ""


def read_known(path: str | Path, task: str = "sentiment", language: str = "en") -> list[KnownText]:
    """Read texts with their answers from a table; several right answers of a text have `|` between them.

    `language` is that of rows without one. Raises BadFile or BadRow (file, line, reason) for what cannot be used.
    """
    return parse_known(path, None, task, language)


def parse_known(
    name: str | Path, content: bytes | None, task: str = "sentiment", language: str = "en"
) -> list[KnownText]:
    """As `read_known`, from the content of a file; `name` is for messages.

    >>> parse_known("own.csv", b"text,answer\\nA fine film.,positive|neutral")[0].allowed
    ('positive', 'neutral')
    """
    texts, bad = text_columns(get_task(task).texts), list[tuple[int, str]]()
    needed = (*texts, "answer")
    table = read_table(name, needed, FILE_COLUMNS[2:], content=content, may_be_empty=needed, bad=bad)
    labels, several, spelled = labels_of(task, "input"), takes_several([task]), label_reader(get_task(task))
    rows: dict[bytes, KnownText] = {}
    lines: dict[bytes, int] = {}
    for line, row in zip(table.index, table.to_dict("records"), strict=True):
        code, explanation = row.get("language") or language, row.get("explanation", "")
        written = [label.strip() for label in row["answer"].split("|") if label.strip()]
        allowed = tuple(dict.fromkeys((spelled(label) if several else None) or label for label in written))
        if reason := _row_problem({name: row[name] for name in texts}, allowed, explanation, code, labels):
            bad.append((line, reason))
            continue
        item = Input.of(*(normal_text(row[name]) for name in texts), language=code)
        if item.key in lines:
            bad.append((line, message("known.text_again", line=lines[item.key])))
        lines[item.key] = line
        rows[item.key] = KnownText(item, allowed, explanation)
    refuse_bad_rows(name, bad, len(table) + len(bad))
    return list(rows.values())


def _row_problem(
    texts: Mapping[str, str], allowed: tuple[str, ...], explanation: str, code: str, labels: Sequence[str]
) -> str | None:
    for name, text in texts.items():
        if not text:
            return message("file.empty_column", column=name)
        if len(text) > LONGEST:
            return message("known.text_long", column=name, count=len(text), most=LONGEST)
    if "\0" in "".join([*texts.values(), explanation]):
        return message("known.nul")
    if not allowed:
        return message("known.empty_answer", allowed=labels)
    if unknown := [label for label in allowed if label not in labels]:
        return message("wrong.answer", answer=unknown[0], allowed=labels)
    if set(allowed) == set(labels):
        return message("known.every_label")
    if not is_code(code):
        return message("wrong.language", language=code)
    return message("known.explanation_long", most=COMMENT) if len(explanation) > COMMENT else None


# Managing them: for a manager (`by`, an account id; else NotAllowed) or the owner of the database (None).


@dataclass(frozen=True)
class KnownQuestion:
    """A control question with its known answer, and how many judgements were given to it in its pass."""

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
    """How many control questions a call added, and how many it changed."""

    added: int
    changed: int
    candidates: int | None = None
    """Where questions were picked: how many there were to pick from."""
    labels: Mapping[str, int] | None = None
    """Where questions were picked: how many of each label."""


def known_questions(engine: Engine, *, by: int | None = None) -> list[KnownQuestion]:
    """List the control questions by purpose, oldest first."""
    of_purpose = case((known.c.purpose == TRAINING, PASS), else_=KNOWN)
    judged = select(func.count()).where(
        judgement.c.question_id == known.c.question_id,
        judgement.c.round == of_purpose,
        judgement.c.answer != WITHDRAWN,
    )
    columns = [question.c.task, question.c.kind, question.c.output, input_table.c.texts, input_table.c.languages]
    query = (
        select(known, *columns, judged.correlate(known).scalar_subquery().label("judged"))
        .join(question, question.c.id == known.c.question_id)
        .join(input_table, input_table.c.id == question.c.input_id)
        .order_by(known.c.purpose.desc(), known.c.at, known.c.question_id)
    )
    with reading_as_manager(engine, by) as connection:
        return [
            KnownQuestion(
                row.question_id,
                row.purpose,
                row.task,
                row.kind,
                tuple(row.texts),
                tuple(row.languages.split(",")),
                row.output,
                tuple(row.allowed),
                row.explanation,
                row.judged,
                row.at,
            )
            for row in connection.execute(query)
        ]


def add_known(
    engine: Engine, purpose: str, items: Sequence[KnownText], *, task: str = "sentiment", by: int | None = None
) -> Added:
    """Make control questions of these texts; one that exists gets the new purpose, answer and explanation.

    Raises AuditError for an unknown purpose, label or task, for a task that asks about outputs, and where there is no
    text; Refused where one of the texts still awaits answers. Nothing is changed then.
    """
    with writing_as_manager(engine, by) as connection:
        if not items:
            raise AuditError(message("known.no_text"))
        name = get_task(task).name
        if asks_pairs(name):
            raise AuditError(message("known.asks_pairs", task=name))
        ids = input_ids(connection, [item.input for item in items])
        by_subject: dict[Subject, KnownText] = {(name, ids[item.input.key], None): item for item in items}
        questions, _ = make_questions(connection, by_subject)
        rows = {questions[subject]: (item.allowed, item.explanation) for subject, item in by_subject.items()}
        return _store(connection, purpose, rows, by)


def add_settled_questions(
    engine: Engine, purpose: str, question_ids: Iterable[int], explanation: str = "", *, by: int | None = None
) -> Added:
    """Make control questions of settled ones, with the answer that settles them: adjudicated before people before gold.

    Raises AuditError for an unknown purpose, Refused for a question that does not exist, has no answer, or still awaits
    answers.
    """
    with writing_as_manager(engine, by) as connection:
        _check_purpose(purpose)
        ids = list(dict.fromkeys(question_ids))
        answers = settled_answers(connection, ids)
        rows: dict[int, tuple[Sequence[str], str]] = {}
        for id in ids:
            allowed = next((answers[id, origin] for origin in ORIGINS if (id, origin) in answers), None)
            if allowed is None:
                raise Refused(message("known.not_settled", id=id))
            rows[id] = (allowed, explanation)
        return _store(connection, purpose, rows, by)


def pick_known(engine: Engine, purpose: str, count: int, seed: int = 0, *, by: int | None = None) -> Added:
    """Pick up to `count` control questions that cost no sample anything, as many of each label as there are.

    Candidates are the texts of sources with one gold label (of tasks that ask about texts) and the questions that an
    adjudicator settled, if no drawn group has any part of them and no answer is awaited. Which are taken depends on
    `seed` and the texts alone. Raises AuditError for an unknown purpose, a count outside 1 to 1,000, and where there is
    no candidate.
    """
    with writing_as_manager(engine, by) as connection:
        if not 1 <= count <= MOST:
            raise AuditError(message("known.bad_count", count=count, most=MOST))
        return _pick(connection, purpose, count, seed, by)


def _pick(connection: Connection, purpose: str, count: int, seed: int, by: int | None) -> Added:
    candidates = _candidates(connection)
    if not candidates:
        raise AuditError(message("known.nothing_to_pick"))
    keys = select(input_table.c.id, input_table.c.key)
    key_of = {
        row.id: bytes(row.key).hex()
        for row in rows_among(connection, keys, input_table.c.id, sorted({id for _, id, _ in candidates}))
    }

    def place(subject: Subject) -> float:
        task, input_id, output = subject
        return uniform("known", seed, task, key_of[input_id], *(() if output is None else (output,)))

    strata: dict[tuple[str, ...], list[Subject]] = {}
    for subject in sorted(candidates, key=place):
        strata.setdefault(tuple(sorted(candidates[subject])), []).append(subject)
    turns = zip_longest(*(strata[labels] for labels in sorted(strata)))
    chosen = [subject for turn in turns for subject in turn if subject is not None][:count]
    questions, _ = make_questions(connection, chosen)
    rows = {questions[subject]: (sorted(candidates[subject]), "") for subject in chosen}
    labels = Counter("|".join(sorted(candidates[subject])) for subject in chosen)
    added = _store(connection, purpose, rows, by)
    return replace(added, candidates=len(candidates), labels=dict(sorted(labels.items())))


def _candidates(connection: Connection) -> dict[Subject, frozenset[str]]:
    """What could be picked, with its allowed labels."""
    allowed: dict[Subject, frozenset[str]] = {}
    for (task, input_id), golds in gold_labels(connection).items():
        labels = golds.intersection(get_task(task).labels)
        if len(labels) == 1 and not asks_pairs(task):
            allowed[task, input_id, None] = frozenset(labels)
    subject = (question.c.task, question.c.input_id, question.c.output)
    adjudicated = (
        select(*subject, answer.c.allowed)
        .join(answer, answer.c.question_id == question.c.id)
        .where(question.c.kind.in_(ABOUT_OUTPUTS), answer.c.origin == "adjudicated")
    )
    allowed |= {(task, id, output): frozenset(labels) for task, id, output, labels in connection.execute(adjudicated)}
    drawn = select(member.c.input_id).join(draw, draw.c.source_id == member.c.group_id // LIMIT**2).distinct()
    drawn_inputs = set(connection.execute(drawn).scalars())
    wanted = question.c.priority.is_not(None) | question.c.id.in_(select(known.c.question_id))
    unavailable = {tuple(row) for row in connection.execute(select(*subject).where(wanted))}
    return {key: labels for key, labels in allowed.items() if key[1] not in drawn_inputs and key not in unavailable}


def remove_known(engine: Engine, question_ids: Iterable[int] | None, *, by: int | None = None) -> int:
    """Remove control questions (None: all); returns how many. Their judgements are kept.

    Raises Refused for a question that is no control question.
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


def _store(
    connection: Connection, purpose: str, rows: Mapping[int, tuple[Sequence[str], str]], by: int | None
) -> Added:
    """Store question id -> (allowed labels, explanation), if all can be."""
    _check_purpose(purpose)
    existing = {row.id: row for row in rows_among(connection, select(question), question.c.id, sorted(rows))}
    if missing := sorted(rows.keys() - existing.keys()):
        raise Refused(message("refused.no_question", id=missing[0]))
    for id, (allowed, _) in rows.items():
        labels = labels_of(existing[id].task, existing[id].kind)
        if unknown := sorted(set(allowed) - set(labels)):
            raise AuditError(message("wrong.answer", answer=unknown[0], allowed=labels))
        if existing[id].priority is not None and not existing[id].filled:
            raise Refused(message("known.waited_for", id=id))
    changed = len(list(rows_among(connection, select(known.c.question_id), known.c.question_id, sorted(rows))))
    columns = {"purpose": purpose, "annotator_id": by, "at": tables.now()}
    stored = [
        {"question_id": id, "allowed": sorted(set(allowed)), "explanation": explanation.strip()} | columns
        for id, (allowed, explanation) in rows.items()
    ]
    upsert(connection, tables.Known, stored)
    note(connection, by, "known added", purpose=purpose, added=len(rows) - changed, changed=changed)
    return Added(len(rows) - changed, changed)


# Hidden questions: control questions, and repeats of what the same person has answered before.
#
# They measure how well somebody judges while they judge, and cannot be told from the others: they are leased, shown and
# counted for the annotator as others are. They are never votes, for only pass 1 is part of an answer. Whether one comes
# next depends only on the annotator and on how much they have done, so that a reload changes nothing.


def hidden_question(
    connection: Connection, account: Account, settings: JudgingSettings, ordinary: Row[Any], place: Place
) -> tuple[Row[Any], int] | None:
    """Return the hidden question that comes now in place of the `ordinary` one, and its pass; None: none does.

    It is of the ordinary one's task and kind, and if possible of its language, else it would stand out. The caller asks
    for none among the versions of a text: what chance had chosen there comes at their end, so that the shares are kept.
    """
    if not settings.gold_share and not settings.repeat_share:
        return None
    account_id = account.id
    done, put_aside = connection.execute(_asked_count(), {"account": account_id}).one()
    run, hidden = (place.run, place.hidden) if settings.versions == TOGETHER else (1, place.hidden)
    if place.answers and put_aside is not None and put_aside > place.answers[0].decided_at:
        run, hidden = 1, 0
    drawn = (_drawn_pass(account_id, number, settings) for number in range(max(done - run - hidden + 1, 0), done + 1))
    due = [kind for kind in drawn if kind is not None][hidden:]
    if not due:
        return None
    query = _gold(account_id) if due[0] == KNOWN else _repeats(account_id, settings.repeat_after)
    was_deferred = exists().where(aside.c.question_id == question.c.id, aside.c.annotator_id == account_id)
    rows = connection.execute(
        query.join(input_table, input_table.c.id == question.c.input_id)
        .where(question.c.task == ordinary.task, question.c.kind == ordinary.kind)
        .where(~was_deferred, readable(question, account.languages))  # the page would remind them of what they deferred
        .order_by(question.c.id)
    ).all()
    rows = [row for row in rows if row.languages == ordinary.languages] or rows
    return (rows[int(uniform("which", account_id, done) * len(rows))], due[0]) if rows else None


def _drawn_pass(account_id: int, number: int, settings: JudgingSettings) -> int | None:
    """Draw the pass of the hidden question for the n-th time that an account is asked; None: an ordinary one comes."""
    chance = uniform("hidden", account_id, number)
    if chance < settings.gold_share:
        return KNOWN
    return REPEAT if chance < settings.gold_share + settings.repeat_share else None


@cache
def _asked_count() -> Select[Any]:
    """How often `account` answered, skipped or flagged, which only ever grows, and when it last skipped or flagged."""
    me: Any = bindparam("account")
    judged = select(func.count()).where(
        judgement.c.annotator_id == me, judgement.c.round >= FIRST, judgement.c.answer != WITHDRAWN
    )
    return select(judged.scalar_subquery() + func.count(aside.c.id), func.max(aside.c.at)).where(
        aside.c.annotator_id == me, aside.c.kind != BACK
    )


def _question_columns() -> list[ColumnElement[Any]]:
    names = ("id", "task", "kind", "priority", "source_input_id")
    return [*(question.c[name] for name in names), input_table.c.languages]


def _gold(account_id: int) -> Select[Any]:
    """Hidden questions that this account never had in any pass, and that await no answers just now."""
    had = exists().where(judgement.c.question_id == question.c.id, judgement.c.annotator_id == account_id)
    return (
        select(*_question_columns())
        .join(known, known.c.question_id == question.c.id)
        .where(known.c.purpose == GOLD, ~had, question.c.priority.is_(None) | question.c.filled.is_(True))
    )


def _repeats(account_id: int, after: int) -> Select[Any]:
    """Questions that this account gave a label at least `after` answers ago, and was never asked again; no ratings."""
    again, newer = judgement.alias("again"), judgement.alias("newer")
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
        select(*_question_columns())
        .join(judgement, judgement.c.question_id == question.c.id)
        .where(judgement.c.annotator_id == account_id, judgement.c.round == FIRST, judgement.c.id < recent)
        .where(judgement.c.answer != UNSURE, is_counted(judgement), ~repeated, question.c.kind.not_in(SCALES))
    )


# The training round asks every training question once, before the first ordinary one (`audit.judging.queue`).
#
# Its answers are judgements of pass 0, each attempt's superseding those of the attempt before; the log has what a
# finished attempt came to. A pass holds for the questions, answers and guideline that the round had: where a manager
# changes one of these, everybody is trained again.

ACTION = "training"
"""What the log calls a finished attempt."""


class Attempt(NamedTuple):
    """A finished attempt at a training round."""

    number: int
    right: int
    questions: int
    passed: bool


@dataclass(frozen=True)
class Round:
    """Where an annotator stands in training."""

    questions: tuple[Row[Any], ...]
    """In the order of this attempt: rows of `question` with `allowed` and `explanation`."""
    given: Mapping[int, str]
    """Question -> answer, of this attempt."""
    attempts: tuple[Attempt, ...]
    """Finished ones, of these questions and others, the first one first."""
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

    def finished(self) -> Attempt | None:
        """Return this attempt, if every question is answered."""
        number = len(self.questions)
        if len(self.given) < number:
            return None
        return Attempt(len(self.attempts) + 1, self.right, number, _reaches(self.right, number, self.mark))


def needs_training(connection: Connection, account: Account, settings: JudgingSettings) -> bool:
    """Return whether this account must pass the training round before it is given a question. Every claim asks."""
    state = round_of(connection, account, settings)
    return state is not None and not state.passed


def round_of(connection: Connection, account: Account, settings: JudgingSettings) -> Round | None:
    """Return where an annotator stands; None: not trained, for the role, an exemption or want of questions.

    The round has the questions in the languages that the account reads.
    """
    if not settings.pass_mark or account.role != "annotator":
        return None
    me = {"account": account.id}
    questions = connection.execute(_training_questions(account.languages)).all()
    last = exempt_up_to(connection)
    if not questions or (last and connection.execute(_judged_up_to(), me | {"last": last}).first()):
        return None
    version, mark = _version(connection, questions), settings.pass_mark
    done = list(connection.execute(_finished_attempts(), me).scalars())
    # Who passed stays so when the mark goes up, and passes when it goes down below what they reached.
    passed = any(
        detail["round"] == version and (detail["passed"] or _reaches(detail["right"], detail["questions"], mark))
        for detail in done
    )
    given: dict[int, str] = {}
    if not passed:
        own = (judgement.c.annotator_id == account.id) & (judgement.c.round == PASS)
        since = judgement.c.id > (done[-1]["until"] if done else 0)
        answers = select(judgement.c.question_id, judgement.c.answer).where(own, since, is_counted(judgement))
        ids = {question.id for question in questions}
        given = {id: answer for id, answer in connection.execute(answers.order_by(judgement.c.id)) if id in ids}
    attempts = tuple(Attempt(*(detail[name] for name in ("attempt", *Attempt._fields[1:]))) for detail in done)
    # Another order in each attempt: what is learnt should be the texts, not a row of keys.
    order = sorted(questions, key=lambda row: uniform("training", account.id, len(attempts), bytes(row.key).hex()))
    return Round(tuple(order), given, attempts, passed, mark, version)


def write_attempt(connection: Connection, account_id: int, state: Round, until: int) -> Attempt | None:
    """Log the attempt if it is finished, with its last judgement, and return it."""
    if (attempt := state.finished()) is not None:
        detail = {"attempt": attempt.number} | dict(zip(Attempt._fields[1:], attempt[1:], strict=True))
        note(connection, account_id, ACTION, **detail, until=until, round=state.version)
    return attempt


# Statements of every claim are cached: building one takes longer than running it.


@cache
def _judged_up_to() -> Select[Any]:
    own = (judgement.c.annotator_id == bindparam("account")) & (judgement.c.round == FIRST)
    return select(judgement.c.id).where(own, judgement.c.id <= bindparam("last")).limit(1)


@cache
def _training_questions(languages: tuple[str, ...]) -> Select[Any]:
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


def _version(connection: Connection, questions: Sequence[Row[Any]]) -> str:
    """A fingerprint of a training round: its questions, their answers and the guideline's version."""
    words = words_of(connection)
    return fingerprint(
        part
        for row in questions
        for part in (
            bytes(row.key).hex(),
            ",".join(sorted(row.allowed)),
            str(guideline_of(row.task, row.kind, own=words.of(row.task)).version),
        )
    )


def _reaches(right: int, questions: int, mark: float) -> bool:
    return right / questions >= mark - 1e-9  # nine of ten reach a mark of 0.9


# Qualification: the training round as one switch.

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
    """Enabled annotators who have judged."""
    waiting: int
    """Of these, those who must pass the round before their next question."""

    @property
    def on(self) -> bool:
        """Whether anybody is asked: there is a mark and there are questions."""
        return bool(self.mark and self.questions)


def qualification(engine: Engine, *, by: int | None = None) -> Qualification:
    """Return how it stands. Raises NotAllowed where `by` is no manager."""
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
    judged = exists().where(judgement.c.annotator_id == annotator.c.id, judgement.c.round == FIRST)
    enabled = (annotator.c.role == "annotator", annotator.c.disabled.is_(False), judged)
    people = connection.execute(select(annotator.c.id).where(*enabled)).scalars().all()
    waiting = sum(needs_training(connection, require(connection, id, "annotator"), settings) for id in people)
    questions = count_rows(connection, known, known.c.purpose == TRAINING)
    return Qualification(settings.pass_mark, questions, len(people), waiting)


# The record: the rows from which the quality of people's judging is measured.

RECORD_COLUMNS = ["annotator", "question", "task", "kind", "round", "answer", "seconds", "known", "settled", "before"]


@dataclass(frozen=True, eq=False)
class Record:
    """Judgements, attempts at training, and the settings by which they are measured.

    `frame` has a row for each judgement of passes 1 to 3 that counts, in the order in which they were given, with the
    columns of `RECORD_COLUMNS`: `annotator` a name; `seconds` from question to answer (NaN: not timed); `known` the
    right answers of a hidden question, `settled` those that people or an adjudicator settled (frozensets; missing where
    there are none); `before` the same person's first answer, of a repeat.
    """

    frame: pd.DataFrame
    people: tuple[str, ...]
    """Everybody who is trained, or has judged something, by name."""
    attempts: dict[str, tuple[int, bool]]
    """By name: finished attempts at training, and whether one of them passed."""
    settings: JudgingSettings


def judging_record(engine: Engine, among: ColumnElement[bool] | None = None, *, by: int | None = None) -> Record:
    """Read how people judge, everywhere or among some questions (a condition on the table question).

    For a manager (`by`, an account id; else NotAllowed) or the owner of the database (None).
    """
    tried = (
        select(annotator.c.name, log.c.detail)
        .join(annotator, annotator.c.id == log.c.annotator_id)
        .where(log.c.action == ACTION)
    )
    attempts: dict[str, tuple[int, bool]] = {}
    with reading_as_manager(engine, by) as connection:
        frame = _judgements(connection, among)
        for name, detail in connection.execute(tried.order_by(log.c.id)):
            number, passed = attempts.get(name, (0, False))
            attempts[name] = (number + 1, passed or bool(detail["passed"]))
        return Record(frame, tuple(sorted({*frame["annotator"], *attempts})), attempts, settings_of(connection))


def _judgements(connection: Connection, among: ColumnElement[bool] | None) -> pd.DataFrame:
    counted = (is_person(annotator), judgement.c.round >= FIRST, is_counted(judgement))
    query = (
        select(judgement, annotator.c.name, question.c.task, question.c.kind)
        .join(annotator, annotator.c.id == judgement.c.annotator_id)
        .join(question, question.c.id == judgement.c.question_id)
        .where(*counted, true() if among is None else among)
        .order_by(judgement.c.id)
    )
    gold = select(known.c.question_id, known.c.allowed).where(known.c.purpose == GOLD)
    control = {id: frozenset(allowed) for id, allowed in connection.execute(gold)}
    settled, first = settled_by_people(connection), dict[tuple[str, int], str]()
    rows: list[tuple[Any, ...]] = []
    for row in connection.execute(query):
        id, of_first, before = row.question_id, row.round == FIRST, first.get((row.name, row.question_id))
        if of_first:
            first[row.name, id] = row.answer
        told = (
            control.get(id) if row.round == KNOWN else None,
            settled.get(id) if of_first else None,
            before if row.round == REPEAT else None,
        )
        seconds = _seconds(row.shown_at, row.decided_at)
        rows.append((row.name, id, row.task, row.kind, row.round, row.answer, seconds, *told))
    # Plain objects: answers and sets are looked at one by one, which is slow in columns made for text.
    return pd.DataFrame(rows, columns=RECORD_COLUMNS, dtype=object).astype({"seconds": float})


def _seconds(shown: datetime | None, decided: datetime) -> float:
    return float("nan") if shown is None else max((in_utc(decided) - in_utc(shown)).total_seconds(), 0.0)
