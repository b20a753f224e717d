"""Sentiment of a sentence or document: positive, negative or neutral, with a confidence score in [0, 1].

Source: Jiang, Chen, Wang, "On the effectiveness of testing sentiment analysis systems with metamorphic testing"
(Information and Software Technology 150, 2022), section 4.2.
"""

from collections.abc import Set
from typing import Literal

from audit.errors import BadOutput
from audit.tasks.base import Output, checked_score


class Sentiment:
    """The task `sentiment`.

    >>> Sentiment().is_wrong(Output("positive", 0.9), {"negative"})
    True
    """

    name = "sentiment"
    labels: tuple[str, ...] = ("positive", "neutral", "negative")
    question_kind: Literal["input", "pair"] = "input"
    texts = 1
    question = "Is what this text says positive, negative, or neither?"

    def checked(self, output: Output) -> Output:
        if output.label not in self.labels:
            raise BadOutput(f"label {output.label!r} is not one of {', '.join(self.labels)}")
        checked_score(output.score)
        return output

    def is_wrong(self, output: Output, allowed: Set[str]) -> bool:
        return output.label not in allowed
