"""In which order somebody is asked: the most wanted question first, but after an answer the other versions of its text,
then up to `BLOCK` of its task and kind: keys whose meaning changes are pressed wrongly. Where somebody stands is read
from their judgements, so a restart changes nothing. Audits of follow-ups come behind all that groups wait for, and
unmarked: nobody should answer them from memory. Ratings keep their place."""

from datetime import datetime
from functools import cache
from itertools import takewhile
from typing import Any, NamedTuple

from sqlalchemy import Connection, Row, Select, bindparam, select

from audit.false_satisfaction.questions import BEHIND
from audit.judging.answers import is_counted
from audit.store.core import input_table, judgement, question
from audit.tasks.questions import ABOUT_OUTPUTS, SCALES

BLOCK = 25
"""Answers in a row of one task and kind, after which the most wanted question comes, whatever it is; versions of a text
that was begun come before."""

FIRST = 1  # The pass of ordinary judgements; higher ones are those of hidden questions


def block_of(task: str, kind: str) -> tuple[str, str]:
    """What the keys mean: task and kind. The scales of ratings are alike, and are asked in turn.

    >>> block_of("sentiment", "plausibility") == block_of("similarity", "grammaticality")
    True
    """
    return ("", "rating") if kind in SCALES else (task, kind)


class Answered(NamedTuple):
    """An answer of somebody that counts, and what its question was about; `source` is the input of which it is a
    version."""

    judgement: int
    question: int
    round: int
    task: str
    kind: str
    source: int | None
    languages: str
    decided_at: datetime

    @property
    def block(self) -> tuple[str, str]:
        """What its keys meant."""
        return block_of(self.task, self.kind)

    @property
    def text(self) -> tuple[str, str, int] | None:
        """What it shares with other versions of its text; None: it is a version of nothing."""
        return None if self.source is None or self.kind in SCALES else (self.task, self.kind, self.source)


class Place(NamedTuple):
    """Where somebody stands: their last answers, the newest first, training left out; and the last ordinary one."""

    answers: tuple[Answered, ...]
    last: Answered | None
    block: tuple[str, str] | None
    """The task and kind to go on with; None: a block has ended, or none was begun, or ratings are asked. Hidden
    questions do not count: they come in place of a question, and change nothing of what comes after them."""
    hidden: int  # Hidden questions that were answered since the last ordinary one
    run: int  # Ordinary answers in a row about versions of the same text, at the end; 1 where there are no others


def place_of(connection: Connection, account_id: int) -> Place:
    """Return where this account stands."""
    answers = tuple(Answered(*row) for row in connection.execute(_last_answers(), {"account": account_id}))
    hidden = sum(1 for _ in takewhile(lambda answered: answered.round != FIRST, answers))
    if not (ordinary := [answered for answered in answers if answered.round == FIRST]):
        return Place(answers, None, None, hidden, 1)
    last = ordinary[0]
    in_a_row = sum(1 for _ in takewhile(lambda answered: answered.block == last.block, ordinary))
    block = last.block if last.kind not in SCALES and in_a_row < BLOCK else None
    run = sum(1 for _ in takewhile(lambda answered: answered.text == last.text, ordinary)) if last.text else 1
    return Place(answers, last, block, hidden, run)


@cache
def _last_answers() -> Select[Any]:
    """Cached: every claim runs it."""
    columns = (judgement.c.id, question.c.id, judgement.c.round, question.c.task, question.c.kind)
    return (
        select(*columns, question.c.source_input_id, input_table.c.languages, judgement.c.decided_at)
        .join(question, question.c.id == judgement.c.question_id)
        .join(input_table, input_table.c.id == question.c.input_id)
        .where(judgement.c.annotator_id == bindparam("account"), judgement.c.round >= FIRST, is_counted(judgement))
        .order_by(judgement.c.id.desc())
        .limit(2 * BLOCK)  # with the hidden ones
    )


def compared_with(place: Place, chosen: Row[Any]) -> int | None:
    """Return the judgement with whose text that of a chosen question is compared on the screen: the last one, where it
    was about another version of the text. None for groups, which show their own differences, and for audits."""
    last = place.answers[0] if place.answers else None
    if last is None or chosen.kind not in ABOUT_OUTPUTS or (chosen.priority or 0) >= BEHIND:
        return None
    same = (chosen.task, chosen.kind, chosen.source_input_id)
    return last.judgement if (last.text, last.languages) == (same, chosen.languages) else None
