"""In which order somebody is asked: the versions of a text one after the other, one task and kind at a time.

The most wanted question comes first (`audit.judging.questions`), but a text that was read before need not be read
again, and keys whose meaning changes are pressed wrongly. So after an answer those come first that are about the same
source, in the same task and kind, and then the others of that task and kind, up to `BLOCK` in a row. What somebody
answered last is read from their judgements: nothing else is kept, so a restart changes nothing.

Audits of follow-ups keep their place behind everything that groups wait for, and no version of theirs is marked: they
measure what is carried, which nobody should answer from memory. Ratings keep theirs: they are about single texts.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from itertools import takewhile
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Connection, Row, Select, bindparam, case, select

from audit.false_satisfaction.questions import BEHIND
from audit.judging.answers import is_counted
from audit.keys import uniform
from audit.store.core import input_table, judgement, question
from audit.tasks.questions import ABOUT_OUTPUTS, SCALES

BLOCK = 25
"""Answers in a row of one task and kind, after which the most wanted question comes, whatever it is; versions of a text
that was begun come before."""
STRETCH = 10
"""Ranks within which the order is random where versions are kept apart."""
MOST = 100
"""Questions of a stretch, the most wanted ones, among which the order is random."""
TOGETHER, APART = "together", "apart"

FIRST = 1
"""The pass of ordinary judgements; higher ones are those of hidden questions."""


def block_of(task: str, kind: str) -> tuple[str, str]:
    """What the keys mean: task and kind. The scales of ratings are alike, and are asked in turn.

    >>> block_of("sentiment", "plausibility") == block_of("similarity", "grammaticality")
    True
    """
    return ("", "rating") if kind in SCALES else (task, kind)


class Answered(NamedTuple):
    """An answer of somebody that counts, and what its question was about."""

    judgement: int
    question: int
    round: int
    task: str
    kind: str
    source: int | None
    """The input of the source of which it is a version."""
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


@dataclass(frozen=True)
class Place:
    """Where somebody stands: their last answers, the newest first; training left out."""

    answers: tuple[Answered, ...] = ()

    @property
    def ordinary(self) -> list[Answered]:
        """Those that were not to hidden questions."""
        return [answered for answered in self.answers if answered.round == FIRST]

    @property
    def last(self) -> Answered | None:
        """The last ordinary answer; None where there is none."""
        return next(iter(self.ordinary), None)

    @property
    def block(self) -> tuple[str, str] | None:
        """The task and kind to go on with; None: a block has ended, or none was begun, or ratings are asked. Hidden
        questions do not count: they come in place of a question, and change nothing of what comes after them."""
        last = self.last
        if last is None or last.kind in SCALES:
            return None
        in_a_row = sum(1 for _ in takewhile(lambda answered: answered.block == last.block, self.ordinary))
        return last.block if in_a_row < BLOCK else None

    @property
    def hidden(self) -> int:
        """Hidden questions that were answered since the last ordinary one."""
        return sum(1 for _ in takewhile(lambda answered: answered.round != FIRST, self.answers))

    @property
    def run(self) -> int:
        """Ordinary answers in a row about versions of the same text, at the end; 1 where there are no others."""
        text = self.last and self.last.text
        return sum(1 for _ in takewhile(lambda answered: answered.text == text, self.ordinary)) if text else 1


def place_of(connection: Connection, account_id: int) -> Place:
    """Where this account stands."""
    rows = connection.execute(_last_answers(), {"account": account_id})
    return Place(tuple(Answered(*row) for row in rows))


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


# Which questions a claim looks among, and in which order: each is a condition on `question` and what to sort by.

MOST_WANTED, OF_BLOCK, OF_SOURCE, ALONE = "most wanted", "block", "source", "alone"


def among(which: str) -> tuple[list[ColumnElement[bool]], list[ColumnElement[Any]]]:
    """Conditions and order of a search.

    `MOST_WANTED`: every question. `OF_BLOCK`: those of `task` and `kind` with a priority from `least` to below `bound`.
    `OF_SOURCE`: of these the versions of `source`, itself first; outputs of one text one after the other. `ALONE`: the
    question `chosen`.
    """
    wanted: list[ColumnElement[Any]] = [question.c.priority, question.c.waits.desc()]
    if which == MOST_WANTED:
        # By kind after what settles most: fewer switches between questions about texts and groups.
        return [], [*wanted, question.c.kind, question.c.id]
    if which == ALONE:
        return [question.c.id == bindparam("chosen")], [question.c.id]
    placed = [question.c.priority >= bindparam("least"), question.c.priority < bindparam("bound")]
    if which == OF_BLOCK:
        of_block = [question.c.task == bindparam("task"), question.c.kind == bindparam("kind")]
        return [*of_block, *placed], [*wanted, question.c.id]
    source: Any = bindparam("source")
    # A source has few questions and a block may have all: `|| ''` keeps databases, which may not know how many, from
    # going through the block's index.
    of_block = [question.c[name].concat("") == bindparam(name) for name in ("task", "kind")]
    text = case((question.c.kind == "pair", question.c.input_id), else_=0)
    order = [case((question.c.input_id == source, 0), else_=1), text, *wanted, question.c.id]
    return [*of_block, *placed, question.c.source_input_id == source], order


def waiting(task: str, kind: str, priority: int = 0, source: int | None = None) -> dict[str, Any]:
    """The values of a search for questions of a task and kind that are asked for the same reason as one of this
    priority: for groups that wait, for audits, or for ratings after all others.

    >>> [waiting("sentiment", "input", priority)["bound"] // BEHIND for priority in (3, BEHIND + 3)]
    [1, 2]
    """
    bound = BEHIND * max(priority // BEHIND + 1, 1)
    return {"task": task, "kind": kind, "source": source, "least": -BEHIND, "bound": bound}


def stretch_of(priority: int) -> dict[str, int]:
    """The priorities of the stretch in which this one is, as bound values.

    >>> stretch_of(13)
    {'least': 10, 'bound': 20}
    """
    least = priority - priority % STRETCH
    return {"least": least, "bound": least + STRETCH}


def own_order(account_id: int, questions: Iterable[int]) -> list[int]:
    """Questions in a random order of this account's own, the same each time.

    >>> own_order(1, [1, 2, 3, 4]) == own_order(1, [4, 3, 2, 1]) != own_order(2, [1, 2, 3, 4])
    True
    """
    return sorted(questions, key=lambda id: uniform("order", account_id, id))


def compared_with(place: Place, chosen: Row[Any]) -> int | None:
    """The judgement with whose text that of a chosen question is compared on the screen: the last one, where it was
    about another version of the text. None for groups, which show their own differences, and for audits."""
    last = place.answers[0] if place.answers else None
    if last is None or chosen.kind not in ABOUT_OUTPUTS or (chosen.priority or 0) >= BEHIND:
        return None
    same = (chosen.task, chosen.kind, chosen.source_input_id)
    return last.judgement if (last.text, last.languages) == (same, chosen.languages) else None
