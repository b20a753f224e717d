"""One file per task; a new task is one file and one line in `TASKS`."""

from collections.abc import Iterable

from audit.errors import UnknownName
from audit.tasks.base import Input, Output, Task
from audit.tasks.sentiment import Sentiment

TASKS: dict[str, Task] = {task.name: task for task in (Sentiment(),)}


def get_task(name: str) -> Task:
    """The task of this name. Raises UnknownName, which lists the known ones."""
    if name not in TASKS:
        raise UnknownName("task", name, list(TASKS))
    return TASKS[name]


def spellings(tasks: Iterable[str]) -> dict[str, str]:
    """The labels of these tasks by how they read without capitals: systems write them as they like.

    Raises UnknownName for a task.

    >>> spellings(["sentiment"])["NEGATIVE".casefold()]
    'negative'
    """
    return {label.casefold(): label for task in tasks for label in get_task(task).labels}


__all__ = ["TASKS", "Input", "Output", "Task", "get_task", "spellings"]
