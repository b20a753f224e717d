"""Summarization: a text becomes a shorter one that keeps its main point.

People are asked about a text and a summary of it together: there are many right summaries, so no answer about the text
alone can say which outputs are wrong. A gold summary against a threshold is a proxy, never gold.
"""

from collections.abc import Set
from typing import Literal

from audit.errors import BadOutput
from audit.tasks.base import Output

ACCEPTABLE = frozenset({"good", "minor_gaps"})
"""Answers that make a summary acceptable."""


class Summarization:
    """The task `summarization`: the output is a text, and each answer is a grade of it with its reason.

    >>> Summarization().is_wrong(Output(text="It rained."), {"unfaithful"})
    True
    >>> Summarization().is_wrong(Output(text="It rained."), {"good", "minor_gaps"})
    False
    """

    name = "summarization"
    labels: tuple[str, ...] = ("good", "minor_gaps", "misses_point", "unfaithful", "unreadable")
    """Faithful and whole; small things are missing; the main point is missing; it says what the text does not say; it
    cannot be understood."""
    question_kind: Literal["input", "pair"] = "pair"
    texts = 1
    question = "Is this summary acceptable: faithful to the text, with its main point?"

    def checked(self, output: Output) -> Output:
        if output.text is None or not output.text.strip():
            raise BadOutput("the summary is empty; a summary is a text")
        return Output(text=output.text.strip(), score=output.score)

    def is_wrong(self, output: Output, allowed: Set[str]) -> bool:
        return not allowed & ACCEPTABLE
