"""The guidelines that people judge by: Markdown files of data/guidelines, each with its version in the first line, and
the words of a database in their place (`audit.judging.words`).

The version counts up whenever a text changes in any language, and is the same in all of them: answers given by one
version are comparable whatever language somebody reads.
"""

from dataclasses import dataclass
from functools import cache
from typing import Any

from sqlalchemy import Connection, Engine, Select, bindparam, select

from audit.judging.accounts import ROLES, require
from audit.judging.words import own_words
from audit.messages import ENGLISH
from audit.store import reading
from audit.store.core import judgement, question
from audit.tasks import OwnWords, base_of, wording
from audit.tasks.questions import SCALES
from audit.tasks.words import NO_WORDS, read_guideline, shipped_guideline

ELSEWHERE = 0
"""Version of labels that were given elsewhere, without ours."""
GROUPS = ("translation",)
"""Tasks with a guideline of their own for questions about groups, in files named group-TASK."""


@dataclass(frozen=True)
class Guideline:
    """What people are told about a kind of question."""

    version: int
    text: str
    """Markdown, without the line of the version. `{labels}` in it stands for the task's labels."""


def guideline_of(task: str, kind: str, language: str = ENGLISH, own: OwnWords = NO_WORDS) -> Guideline:
    """The guideline of questions of this task and kind (input, pair, group, or a scale) in a language of the app.

    Classification has one for all label schemes, and better ones for some that have a name. Questions about groups have
    one for all tasks but those of `GROUPS`. Each change of a database's own words counts as one of the guideline, since
    a question or a label in other words is another one to be judged by; what is asked about groups is made of both.

    Raises AuditError for a file that is absent or does not begin with its version.

    >>> guideline_of("sentiment", "group").version >= 1
    True
    >>> guideline_of("sentiment", "input", own=OwnWords(version=3)).version
    7
    """
    if kind in SCALES:
        return Guideline(*read_guideline(kind, language))
    if kind == "group":
        base = base_of(task)
        about_groups = read_guideline(f"group-{base}" if base in GROUPS else "group", language)
        return Guideline(about_groups.version + own.version, about_groups.text)
    version = shipped_guideline(task, language, own.subject).version
    return Guideline(version + own.version, wording(task, language, own).guideline)


def guideline_in_force(connection: Connection, task: str, kind: str, language: str = ENGLISH) -> Guideline:
    """The guideline by which such a question is judged in this database now."""
    return guideline_of(task, kind, language, NO_WORDS if kind in SCALES else own_words(connection, task))


def guideline_before(engine: Engine, account_id: int, task: str, kind: str) -> int | None:
    """The version by which this annotator last judged such a question; None for the first one. Raises NotAllowed.

    A manager who lets answers go stale judges nothing in their place.
    """
    with reading(engine) as connection:
        require(connection, account_id, *ROLES)
        params = {"account": account_id, "task": task, "kind": kind}
        version = connection.execute(_last_guideline(), params).scalar()
    return None if version is None else int(version)


@cache
def _last_guideline() -> Select[Any]:
    return (
        select(judgement.c.guideline)
        .join(question, question.c.id == judgement.c.question_id)
        .where(judgement.c.annotator_id == bindparam("account"), judgement.c.withdrawn_by.is_(None))
        .where(question.c.task == bindparam("task"), question.c.kind == bindparam("kind"))
        .order_by(judgement.c.id.desc())
        .limit(1)
    )
