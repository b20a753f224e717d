"""The guidelines that people judge by: Markdown files of data/guidelines, each with its version in the first line.

The version counts up whenever a text changes in any language, and is the same in all of them: answers given by one
version are comparable whatever language somebody reads.
"""

import re
from dataclasses import dataclass
from functools import cache
from typing import Any

from sqlalchemy import Engine, Select, bindparam, select

from audit.annotation.accounts import ROLES, require
from audit.errors import AuditError
from audit.messages import message
from audit.resources import data_file
from audit.store import reading, table_of, tables
from audit.tasks import TASKS, Task, base_of, wording_of

ELSEWHERE = 0
"""Version of labels that were given elsewhere, without ours."""
OWN = ("classification-inews", "classification-climate-topics")
"""Label schemes with guidelines of their own, as their files are named: TASK-SCHEME."""
GROUPS = ("translation",)
"""Tasks with a guideline of their own for questions about groups, in files named group-TASK."""
_FIRST = re.compile(r"version: ([1-9][0-9]{0,8})\n+")


@dataclass(frozen=True)
class Guideline:
    """What people are told about a kind of question."""

    version: int
    text: str
    """Markdown that we wrote, without the line of the version. `{labels}` in it stands for the task's labels."""


def _of_plugin(task: Task, language: str) -> Guideline:
    """What a plug-in's task says, or what is true of every task."""
    version = getattr(task, "guideline_version", 1)
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise AuditError(message("task_error.guideline_version", task=task.name, version=version))
    text = wording_of(task, language).guideline.strip()
    return Guideline(version, text or _read("general", language).text)


@cache
def guideline_of(task: str, kind: str, language: str = "en") -> Guideline:
    """The guideline of questions of this task and kind (input, pair or group) in a language of the app.

    Classification has one for all label schemes, and better ones for some that have a name. Questions about groups have
    one for all tasks but those of `GROUPS`.

    Raises AuditError for a file that is absent or does not begin with its version.

    >>> guideline_of("sentiment", "group").version >= 1
    True
    """
    spelled = task.replace("/", "-")
    stem = spelled if spelled in OWN else base_of(task)
    if kind == "group":
        stem = f"group-{stem}" if stem in GROUPS else "group"
    elif (entry := TASKS.find(stem)) is not None and entry.origin:
        return _of_plugin(TASKS.get(stem), language)
    return _read(stem, language)


def _read(stem: str, language: str) -> Guideline:
    name = f"guidelines/{stem}.{language}.md"
    content = data_file(name).read_text(encoding="utf-8")
    match = _FIRST.match(content)
    if match is None:
        raise AuditError(message("task_error.guideline_file", name=name))
    return Guideline(int(match[1]), content[match.end() :].strip())


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
    judgement, question = table_of(tables.Judgement), table_of(tables.Question)
    return (
        select(judgement.c.guideline)
        .join(question, question.c.id == judgement.c.question_id)
        .where(judgement.c.annotator_id == bindparam("account"), judgement.c.withdrawn_by.is_(None))
        .where(question.c.task == bindparam("task"), question.c.kind == bindparam("kind"))
        .order_by(judgement.c.id.desc())
        .limit(1)
    )
