"""What a system says when it is asked the same input several times: whether it says the same."""

from collections.abc import Hashable

from audit.tasks.base import Output
from audit.tasks.question_answering import normalised


def what_is_said(task: str, output: Output) -> Hashable:
    """Return what two outputs of a task have in common where they say the same: the label, or the text, of an answer as
    `normalised` says, of others without differences of spaces."""
    if output.label is not None or output.text is None:
        return output.label
    return normalised(output.text) if task == "question-answering" else " ".join(output.text.split())
