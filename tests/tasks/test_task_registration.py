"""A task that cannot be used is refused when it is registered, in a sentence that says what to write."""

from dataclasses import dataclass
from typing import Any

import pytest

from audit import registry
from audit.errors import AuditError
from audit.tasks import LabelTask, Output


@dataclass
class Bare:
    """Has nothing but what it is given."""

    name: str = "mood"
    labels: Any = ("good", "bad")
    question: Any = "How is it?"
    question_kind: str = "input"
    texts: Any = 1
    wordings: Any = None


class Whole(Bare):
    """Has the methods of a task, too."""

    def checked(self, output: Output) -> Output:
        return output

    def is_wrong(self, output: Output, allowed: Any) -> bool:
        return output.label not in allowed


@pytest.mark.parametrize(
    ("task", "says"),
    [
        (Whole(labels=("good", "good")), "labels must be two or more different texts"),
        (Whole(texts=0), "texts must be a whole number from 1"),
        (Whole(name="moods"), "name must be 'mood', as it is registered"),
        (Bare(), "it needs methods checked(output) and is_wrong(output, allowed)"),
        (LabelTask, "task 'mood' is the class LabelTask; register an object, LabelTask()"),
        (object(), "cannot be used: name must be 'mood'"),
    ],
)
def test_a_task_that_cannot_be_used_is_refused(task: Any, says: str) -> None:
    with pytest.raises(AuditError) as refused:
        registry.tasks.register("mood", task)
    assert says in str(refused.value)
    assert "mood" not in registry.tasks
