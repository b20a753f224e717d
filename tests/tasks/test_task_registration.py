"""A task that cannot be used is refused when it is registered, in a sentence that says what to write."""

from types import SimpleNamespace

import pytest

from audit import registry
from audit.errors import AuditError
from audit.tasks import LabelTask

WHOLE = LabelTask("mood", ("good", "bad"), "How is it?")


@pytest.mark.parametrize(
    ("task", "says"),
    [
        (
            LabelTask("moods", ("good", "good"), "How is it?"),
            "name must be 'mood', as it is registered; labels must be a",
        ),
        (SimpleNamespace(**vars(WHOLE)), "it needs methods checked(output) and is_wrong(output, allowed)"),
        (LabelTask, "register an object"),
    ],
)
def test_a_task_that_cannot_be_used_is_refused(task: object, says: str) -> None:
    with pytest.raises(AuditError) as refused:
        registry.tasks.register("mood", task)
    assert says in str(refused.value)
    assert "mood" not in registry.tasks
