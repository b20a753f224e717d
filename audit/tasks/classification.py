"""Classification: a text gets one label of a scheme that comes with its corpus.

The scheme is a part of the task's name: `classification/climate-topics` has the labels of that corpus,
`classification/finance,sports` those two. Two schemes are two tasks: systems, relations, questions and answers of one
say nothing about the other. A scheme is the same labels in the same order for ever.
"""

import math
from collections.abc import Set
from typing import Literal

from audit.errors import AuditError, BadOutput
from audit.messages import message
from audit.tasks.base import Output

SCHEMES: dict[str, tuple[str, ...]] = {
    "inews": ("positive", "neutral", "negative"),
    "climate-topics": ("climate", "other"),
    "thucnews": (
        *("财经", "彩票", "房产", "股票", "家居", "教育", "科技"),
        *("社会", "时尚", "时政", "体育", "星座", "游戏", "娱乐"),
    ),
}
"""Labels of the schemes that have a name; a new one is one line."""


class Classification:
    """The task `classification`, with a scheme: `Classification("finance,sports")` has two labels.

    Without a scheme it is the task in general, which has no labels. Raises AuditError for a scheme that is neither
    known nor a list of two labels or more.

    >>> Classification("finance,sports").labels
    ('finance', 'sports')
    >>> Classification("finance,sports").is_wrong(Output("sports"), {"finance"})
    True
    """

    question_kind: Literal["input", "pair"] = "input"
    texts = 1
    question = "What is the right label of this text?"

    def __init__(self, scheme: str = ""):
        self.scheme = scheme
        self.name = f"classification/{scheme}" if scheme else "classification"
        self.labels: tuple[str, ...] = _labels(scheme) if scheme else ()

    def checked(self, output: Output) -> Output:
        if output.label is None or (self.labels and output.label not in self.labels):
            raise BadOutput(f"label {output.label!r} is not one of {', '.join(self.labels)}")
        score = 1.0 if output.score is None else output.score
        if not math.isfinite(score) or not 0 <= score <= 1:
            raise BadOutput(f"score {output.score!r} is not a number from 0 to 1")
        return Output(output.label, score)

    def is_wrong(self, output: Output, allowed: Set[str]) -> bool:
        return output.label not in allowed


def _labels(scheme: str) -> tuple[str, ...]:
    if scheme in SCHEMES:
        return SCHEMES[scheme]
    labels = tuple(label.strip() for label in scheme.split(","))
    if len(labels) < 2 or not all(labels) or len({label.casefold() for label in labels}) < len(labels):
        names = list(SCHEMES) or message("list.none")
        raise AuditError(message("task_error.bad_scheme", scheme=scheme, names=names))
    return labels
