"""Classification: a text gets labels of a scheme that comes with its corpus, and is a part of the task's name.

`classification/thucnews` has the labels of that corpus, `classification/finance,sports` those two, one to a text. With
plus signs a text may have any number of them: `classification/refund+late+rude`. A label of such a task is a set of
labels in the order of the scheme (`refund+rude`), or `none`; there are so few that all are the task's labels, so
whatever counts labels goes on working. Two schemes are two tasks; a scheme is the same labels in the same order for
ever."""

from collections.abc import Iterable, Set
from itertools import combinations
from typing import Literal

from audit.errors import AuditError, BadOutput
from audit.messages import with_commas
from audit.tasks.base import Output, checked_score

SCHEMES: dict[str, tuple[str, ...]] = {
    "inews": ("positive", "neutral", "negative"),
    "thucnews": (
        *("财经", "彩票", "房产", "股票", "家居", "教育", "科技"),
        *("社会", "时尚", "时政", "体育", "星座", "游戏", "娱乐"),
    ),
}  # Labels of the schemes that have a name; a new one is one line
PLUS = "+"  # Stands between the labels of a scheme of which a text may have several, and between those that it has
NONE_OF_THEM = "none"  # The label of a text that has none of these
MOST_TOGETHER = 8  # Labels of which a text may have several: 2 to the power of it are the sets that people may answer


class Classification:
    """The task `classification` with a scheme; `parts` are, of a scheme with plus signs, its labels. Without a scheme
    it is the task in general, which has no labels. Raises AuditError for a scheme that is neither known nor a list of
    two labels.

    >>> Classification("refund+late").labels
    ('none', 'refund', 'late', 'refund+late')
    """

    question_kind: Literal["input", "pair"] = "input"
    texts = 1

    def __init__(self, scheme: str = ""):
        self.scheme = scheme
        self.name = f"classification/{scheme}" if scheme else "classification"
        self.parts: tuple[str, ...] = _parts(scheme) if PLUS in scheme and "," not in scheme else ()
        self.labels: tuple[str, ...] = _sets(self.parts) if self.parts else _labels(scheme) if scheme else ()
        several = "Which of these labels are right for this text?"
        self.question = several if self.parts else "What is the right label of this text?"

    def with_scheme(self, scheme: str) -> "Classification":
        """Return the task with the labels of a scheme. Raises AuditError as the class does."""
        return Classification(scheme)

    @property
    def multiple(self) -> bool:
        """Whether a text may have several labels."""
        return bool(self.parts)

    def together(self, written: str | Iterable[str]) -> str | None:
        """Return the label that stands for these, in the order of the scheme: from one text with plus signs, or several
        labels in any order and case; None where one of them is none of the scheme's."""
        names = written.split(PLUS) if isinstance(written, str) else list(written)
        folded = {str(name).strip().casefold() for name in names}
        if folded == {NONE_OF_THEM} or not names:
            return NONE_OF_THEM
        all_parts = folded <= {part.casefold() for part in self.parts}
        return PLUS.join(part for part in self.parts if part.casefold() in folded) if all_parts else None

    def checked(self, output: Output) -> Output:
        label = output.label
        if label is not None and self.parts and label not in self.labels:
            label = self.together(label)
            if label is None:
                parts = ", ".join(self.parts)
                raise BadOutput(f"label {output.label!r} is neither {NONE_OF_THEM} nor some of {parts} with + between")
        if label is None or (self.labels and label not in self.labels):
            raise BadOutput(f"label {output.label!r} is not one of {', '.join(self.labels)}")
        return Output(label, checked_score(output.score))

    def is_wrong(self, output: Output, allowed: Set[str]) -> bool:
        return output.label not in allowed


def _labels(scheme: str) -> tuple[str, ...]:
    if scheme in SCHEMES:
        return SCHEMES[scheme]
    labels = tuple(label.strip() for label in scheme.split(","))
    if len(labels) < 2 or not all(labels) or len({label.casefold() for label in labels}) < len(labels):
        advice = "list two or more different labels with commas, as in classification/finance,sports"
        raise AuditError(f"{scheme!r} is no label scheme: known are {with_commas(SCHEMES)}; or {advice}")
    return labels


def _parts(scheme: str) -> tuple[str, ...]:
    parts = tuple(part.strip() for part in scheme.split(PLUS))
    folded = {part.casefold() for part in parts}
    if len(folded) < len(parts) or not 2 <= len(parts) <= MOST_TOGETHER or folded & {"", NONE_OF_THEM, "unsure"}:
        raise AuditError(
            f"{scheme!r} has {len(parts)} labels with +; a text may have several of 2 to {MOST_TOGETHER} different "
            f"ones, none of them {NONE_OF_THEM!r} or 'unsure'; with commas between them it has one"
        )
    return parts


def _sets(parts: tuple[str, ...]) -> tuple[str, ...]:
    """Return every set of the labels as one text, the smallest first."""
    sizes = range(1, len(parts) + 1)
    return (NONE_OF_THEM, *(PLUS.join(chosen) for size in sizes for chosen in combinations(parts, size)))
