"""An annotator's own answers: a list to be searched, and which may still be changed
(`audit.judging.judgements.change`). Hidden questions must not be told from others by it: each question is in it once,
with the last answer in whatever pass; one that its annotator holds now is not in it, or they would learn that it is a
repeat; and what an adjudicator decides closes first answers only."""

import json
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, NamedTuple

from sqlalchemy import (
    ColumnElement,
    Connection,
    Engine,
    Select,
    String,
    and_,
    bindparam,
    case,
    exists,
    null,
    or_,
    select,
)
from sqlalchemy import cast as as_type

from audit.errors import Refused
from audit.judging.accounts import ROLES, reading_as
from audit.judging.answers import WITHDRAWN, is_adjudicated, is_counted
from audit.judging.asides import FLAG, is_flagged
from audit.judging.order import FIRST
from audit.judging.queue import Shown, remembered, show
from audit.messages import message
from audit.store.copying import in_utc
from audit.store.core import aside, input_table, judgement, lease, member, question
from audit.tasks.questions import SCALES

MOST = 100  # Answers on a page, at most
LONGEST = 200  # Characters that are searched for, at most


@dataclass(frozen=True)
class OwnFilter:
    """Which of their own answers somebody wants to see."""

    search: str = ""  # In a text, in the output that was asked about, or in their comment; without regard to case
    task: str | None = None
    answer: str | None = None
    flagged: bool = False  # Flagged by them, and no adjudicator has replied


@dataclass(frozen=True)
class OwnAnswer:
    """An answer, and what it is about, as its annotator may see it."""

    id: int  # Of the judgement
    question_id: int
    task: str
    kind: str
    study_id: int | None
    texts: tuple[str, ...]  # Of a question about a group, its source's
    languages: tuple[str, ...]
    answer: str
    comment: str
    decided_at: datetime
    flagged: bool
    closed: Literal["settled"] | None  # An adjudicator has decided the question; None: the answer may be changed
    round: int = field(default=FIRST, repr=False)
    """The pass, and what was seen when it was given: for whoever changes it, and never to be shown."""
    compared: int | None = field(default=None, repr=False)


class OwnPage(NamedTuple):
    """Answers, the newest first; `next` is the `before` of the page after them, None: there are no more."""

    answers: tuple[OwnAnswer, ...]
    next: int | None


def own_answers(
    engine: Engine, account_id: int, wanted: OwnFilter | None = None, before: int | None = None, size: int = 20
) -> OwnPage:
    """The newest answers of this account that match, of those before the judgement `before`; at most `MOST`. Raises
    NotAllowed, and Refused for a search that is too long."""
    wanted, size = wanted or OwnFilter(), min(max(size, 1), MOST)
    if len(wanted.search) > LONGEST:
        raise Refused(message("refused.search_long", count=len(wanted.search), most=LONGEST))
    conditions: list[ColumnElement[bool]] = []
    if wanted.task is not None:
        conditions.append(question.c.task == wanted.task)
    if wanted.answer is not None:
        conditions.append(judgement.c.answer == wanted.answer)
    if wanted.flagged:
        by_them = select(aside.c.question_id).where(aside.c.annotator_id == account_id, aside.c.kind == FLAG)
        conditions += [judgement.c.question_id.in_(by_them), is_flagged(account_id)]
    if search := wanted.search.strip():
        conditions.append(_says(search, engine.dialect.name == "sqlite"))
    if before is not None:
        conditions.append(judgement.c.id < before)
    query = _list(*conditions, indexed=not wanted.flagged).order_by(judgement.c.id.desc()).limit(size + 1)
    with reading_as(engine, account_id, *ROLES) as connection:
        rows = connection.execute(query, {"account": account_id}).all()
    answers = tuple(map(_own_answer, rows[:size]))
    return OwnPage(answers, answers[-1].id if len(rows) > size else None)


def own_answer(engine: Engine, account_id: int, question_id: int) -> tuple[OwnAnswer, Shown, str | None]:
    """This account's answer to a question, the question without anybody else's answer, and what an adjudicator wrote
    when sending back its flag (None: nobody did). Raises NotAllowed, or Refused where there is no such answer."""
    with reading_as(engine, account_id, *ROLES) as connection:
        entry = counted_answer(connection, account_id, question_id)
        return entry, show(connection, question_id), remembered(connection, account_id, question_id).sent_back


def counted_answer(connection: Connection, account_id: int, question_id: int) -> OwnAnswer:
    """The answer in this account's list to this question. Raises Refused where there is none."""
    query = _list(judgement.c.question_id == question_id, indexed=False)
    if (row := connection.execute(query, {"account": account_id}).first()) is None:
        raise Refused(message("refused.no_own_answer", id=question_id))
    return _own_answer(row)


def own_labels(engine: Engine, account_id: int) -> dict[str, tuple[str, ...]]:
    """The labels that this account has given, by task: what the list can be filtered by. Raises NotAllowed."""
    own = (judgement.c.annotator_id == account_id, judgement.c.round >= FIRST, judgement.c.answer != WITHDRAWN)
    query = select(question.c.task, judgement.c.answer).join(question, question.c.id == judgement.c.question_id)
    query = query.where(*own, question.c.kind.not_in(SCALES)).distinct().order_by(question.c.task, judgement.c.answer)
    labels: dict[str, tuple[str, ...]] = {}
    with reading_as(engine, account_id, *ROLES) as connection:
        for task, label in connection.execute(query):
            labels[task] = (*labels.get(task, ()), label)
    return labels


def _own_answer(row: Any) -> OwnAnswer:
    fields = dict(row._mapping)
    fields |= {"texts": tuple(row.texts), "languages": tuple(row.languages.split(",")), "comment": row.comment or ""}
    return OwnAnswer(**fields | {"decided_at": in_utc(row.decided_at), "flagged": bool(row.flagged)})


def _says(search: str, sqlite: bool) -> ColumnElement[bool]:
    """Condition: the question's texts, its output or the comment has this. Signs of patterns stand for themselves."""

    def has(column: ColumnElement[Any], text: str) -> ColumnElement[bool]:
        # SQLite's LIKE takes no regard to case by itself, and is four times as fast without being told to.
        written = as_type(column, String)
        return written.contains(text, autoescape=True) if sqlite else written.icontains(text, autoescape=True)

    # Texts are stored as JSON: what is looked for is written as it is there.
    written = json.dumps(search, ensure_ascii=False)[1:-1]
    part, part_input = member.alias("part"), input_table.alias("part_input")
    shown = (part.c.group_id == question.c.group_id, part.c.role != "probe", part_input.c.id == part.c.input_id)
    in_member = exists().where(*shown, has(part_input.c.texts, written))
    in_words = or_(has(question.c.output, search), has(judgement.c.comment, search))
    return or_(has(input_table.c.texts, written), in_words, and_(question.c.kind == "group", in_member))


def _list(*conditions: ColumnElement[bool], indexed: bool = True) -> Select[Any]:
    """What of the list of `account` meets these conditions. `indexed`: by all that it has answered. SQLite reads in the
    order that stands here: what leaves fewest comes first, and never all answers of an account for each."""
    me: Any = bindparam("account")
    own = judgement.c.annotator_id if indexed else judgement.c.annotator_id + 0
    last: Any = input_table.c.id == question.c.input_id  # true; so these are looked at when the text has been
    later, newer = judgement.alias("later"), judgement.alias("newer")
    superseded = exists().where(later.c.supersedes == judgement.c.id, last)
    same = (newer.c.question_id == judgement.c.question_id, newer.c.annotator_id + 0 == me)
    again = exists().where(*same, newer.c.round >= FIRST, newer.c.id > judgement.c.id, is_counted(newer), last)
    held = exists().where(lease.c.question_id == judgement.c.question_id, lease.c.annotator_id == me, last)
    # What adjudicators decide is about first answers; of others it would tell that they are hidden.
    settled = and_(judgement.c.round == FIRST, is_adjudicated(judgement.c.question_id))
    closed = case((settled, "settled"), else_=null()).label("closed")
    names = ("id", "question_id", "round", "answer", "comment", "decided_at", "compared")
    about = (question.c.task, question.c.kind, question.c.study_id, input_table.c.texts, input_table.c.languages)
    return (
        select(*(judgement.c[name] for name in names), *about, is_flagged(me).label("flagged"), closed)
        .join(question, question.c.id == judgement.c.question_id)
        .join(input_table, input_table.c.id == question.c.input_id)
        .where(own == me, judgement.c.round >= FIRST, judgement.c.answer != WITHDRAWN, *conditions)
        .where(*(~what.correlate(judgement, question, input_table) for what in (superseded, again, held)))
    )
