"""Hidden questions: some whose answer is known, and some that the same person has answered before.

They measure how well somebody judges while they judge. Whoever is asked cannot tell them from the others: they are
leased, shown and counted for the asker as others are. They are never votes: their pass is 2 or 3, and only pass 1 is
part of an answer. Whether the next question is a hidden one hangs on who asks and on how much they have done so far
alone, so that a reload changes nothing.
"""

from functools import cache
from typing import Any

from sqlalchemy import BindParameter, Connection, Select, bindparam, exists, func, select

from audit.annotation.answers import UNSURE, WITHDRAWN
from audit.annotation.deferral import BACK
from audit.annotation.known import GOLD
from audit.annotation.readable import readable
from audit.annotation.settings import JudgingSettings
from audit.keys import uniform
from audit.store import table_of, tables

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
    done = _done(connection, account_id)
    chance = uniform("hidden", account_id, done)
    if chance < settings.gold_share:
        query, kind = _gold(account_id, languages), KNOWN
    elif chance < settings.gold_share + settings.repeat_share:
        query, kind = _repeats(account_id, settings.repeat_after, languages), REPEAT
    else:
        return None
    ids = [int(row[0]) for row in connection.execute(query)]
    return (ids[int(uniform("which", account_id, done) * len(ids))], kind) if ids else None


def _done(connection: Connection, account_id: int) -> int:
    """How often this account answered, skipped or flagged: it only ever grows."""
    return int(connection.execute(_number_done(), {"account": account_id}).scalar() or 0)


@cache
def _number_done() -> Select[Any]:
    judgement, aside = table_of(tables.Judgement), table_of(tables.Aside)
    me: BindParameter[int] = bindparam("account")
    judged = select(func.count()).where(
        judgement.c.annotator_id == me, judgement.c.round >= FIRST, judgement.c.answer != WITHDRAWN
    )
    put = select(func.count()).where(aside.c.annotator_id == me, aside.c.kind != BACK)
    return select(judged.scalar_subquery() + put.scalar_subquery())


def _gold(account_id: int, languages: tuple[str, ...]) -> Select[Any]:
    """Hidden questions that this account never had in any pass, and for which people are not waited for just now."""
    question, known = table_of(tables.Question), table_of(tables.Known)
    judgement = table_of(tables.Judgement).alias("had")
    had = exists().where(judgement.c.question_id == question.c.id, judgement.c.annotator_id == account_id)
    return (
        select(question.c.id)
        .join(known, known.c.question_id == question.c.id)
        .where(known.c.purpose == GOLD, ~had, ~_put_aside(account_id), readable(question, languages))
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
        .where(~exists().where(later.c.supersedes == judgement.c.id), ~repeated, ~_put_aside(account_id))
        .where(readable(question, languages))
        .order_by(question.c.id)
    )


def _put_aside(account_id: int) -> Any:
    """Condition: this account skipped or flagged the question some time, of which the page would speak again."""
    question, aside = table_of(tables.Question), table_of(tables.Aside)
    return exists().where(aside.c.question_id == question.c.id, aside.c.annotator_id == account_id)
