"""What a system does: the values that pass between relations, systems and people, and the protocol of a task."""

from collections.abc import Set
from dataclasses import dataclass
from typing import Literal, Protocol

from audit.keys import digest


@dataclass(frozen=True, slots=True)
class Input:
    """What a system is given: an ordered tuple of 1..n texts, each with its language.

    >>> Input.of("It was good.").text
    'It was good.'
    """

    texts: tuple[str, ...]
    languages: tuple[str, ...]

    @classmethod
    def of(cls, *texts: str, language: str = "en") -> "Input":
        """All texts in one language."""
        return cls(texts, (language,) * len(texts))

    def __reduce__(self) -> tuple[type["Input"], tuple[tuple[str, ...], tuple[str, ...]]]:
        # Millions are sent to workers: what a dataclass with slots does by itself takes five times as long.
        return Input, (self.texts, self.languages)

    @property
    def text(self) -> str:
        """The first text; the only one for tasks on single texts."""
        return self.texts[0]

    @property
    def key(self) -> bytes:
        """16 bytes: equal content, equal key. Outputs and questions are stored under it."""
        return digest(*self.texts, "\0", *self.languages)


@dataclass(frozen=True, slots=True)
class Output:
    """What a system returned for one input: label and/or score and/or text, or an error and nothing else.

    `score` is the system's confidence in its label, 0..1, or 1.0 where the system gives none.
    """

    label: str | None = None
    score: float | None = None
    text: str | None = None
    error: str | None = None


class Task(Protocol):
    """Output type, label scheme, question, and when an output is wrong given an answer. One file per task."""

    name: str
    labels: tuple[str, ...]
    """What people may answer, in the order in which the app shows it."""
    question_kind: Literal["input", "pair"]
    """`input`: "what is the right label?"; `pair`: "is this output right?", asked about (input, output)."""
    texts: int
    """How many texts an input has."""
    question: str
    """The question as annotators read it (English; the app translates it)."""

    def checked(self, output: Output) -> Output:
        """The output, if the task allows it; else raises BadOutput saying what is allowed."""
        ...

    def is_wrong(self, output: Output, allowed: Set[str]) -> bool:
        """Whether the output is wrong when the answer to its question is one of `allowed`."""
        ...
