"""What the systems that choose sentences share: a text too short to choose from is its own summary."""

from collections.abc import Callable, Sequence

from audit.tasks import Input, Output


def summarized(inputs: Sequence[Input], choose: Callable[[str], str]) -> list[Output]:
    """A summary of each text; the whole text where `choose` finds nothing to choose from, so that none is empty.

    >>> summarized([Input.of(" One. ")], lambda text: "")
    [Output(label=None, score=None, text='One.', error=None)]
    """
    return [Output(text=choose(one.text).strip() or one.text.strip()) for one in inputs]
