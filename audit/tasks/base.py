"""What a system does: the values that pass between relations, systems and people, and the protocol of a task."""

import math
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, field, fields
from typing import Any, Literal, Protocol

from audit.errors import AuditError, BadOutput
from audit.keys import digest


@dataclass(frozen=True, slots=True)
class Input:
    """What a system is given: an ordered tuple of 1..n texts, each with its language; for a translation the language to
    translate into stands behind that of the text."""

    texts: tuple[str, ...]
    languages: tuple[str, ...]

    @classmethod
    def of(cls, *texts: str, language: str = "en", target: str | None = None) -> "Input":
        """Return the input of texts in one language, to be translated into `target` where that is given."""
        return cls(texts, (language,) * len(texts) + (() if target is None else (target,)))

    @classmethod
    def stored(cls, texts: Sequence[str], languages: str) -> "Input":
        """Return it as the table of inputs has it: texts as a list, codes of languages with commas between them."""
        return cls(tuple(texts), tuple(languages.split(",")))

    def __reduce__(self) -> tuple[type["Input"], tuple[tuple[str, ...], tuple[str, ...]]]:
        # Millions are sent to workers: what a dataclass with slots does by itself takes five times as long.
        return Input, (self.texts, self.languages)

    @property
    def text(self) -> str:
        """The first text; the only one for tasks on single texts."""
        return self.texts[0]

    @property
    def target(self) -> str | None:
        """The language to translate into; None where the task is no translation."""
        return self.languages[len(self.texts)] if len(self.languages) > len(self.texts) else None

    @property
    def output_language(self) -> str:
        """The language of an output that is a text."""
        return self.languages[-1]

    @property
    def key(self) -> bytes:
        """16 bytes: equal content, equal key. Outputs and questions are stored under it."""
        return digest(*self.texts, "\0", *self.languages)


@dataclass(frozen=True, slots=True)
class Output:
    """What a system returned for one input: label and/or score and/or text, or an error, beside which `text` is what
    the system said instead, as a language model that refuses does.

    `score` is the system's confidence in its label, 0..1, or None. `details` are kept beside the output, and compared
    by nobody: `reasoning`, what a language model wrote before its answer; `used`, its tokens (`in`, `out`, `reasoning`)
    with their `cost` in a `currency`; and of an input that is too long, `read`, the part that was read, and `cut`, how
    much was left out."""

    label: str | None = None
    score: float | None = None
    text: str | None = None
    error: str | None = None
    details: Mapping[str, Any] | None = field(default=None, compare=False, repr=False)

    @classmethod
    def stored(cls, row: Any) -> "Output":
        """Return it as a row of the tables of outputs or of repeated calls has it, by the names of columns."""
        return cls(row["label"], row["score"], row["text"], row["error"], row["details"])

    def __reduce__(self) -> tuple[type["Output"], tuple[Any, ...]]:  # as that of Input
        return Output, (self.label, self.score, self.text, self.error, self.details)

    @property
    def absent(self) -> bool:
        """Whether the system has no output for the input, without having failed: it does not translate that pair of
        languages, or nobody recorded it. Groups with such an output are inapplicable."""
        return self.label is None and self.score is None and self.text is None and self.error is None


def checked_score(score: float | None) -> float | None:
    """Return the score, None where the system gives none. Raises BadOutput for one that is not from 0 to 1."""
    if score is not None and not (math.isfinite(score) and 0 <= score <= 1):
        raise BadOutput(f"score {score!r} is not a number from 0 to 1")
    return score


@dataclass(frozen=True)
class Wording:
    """What people read about a task, in one language. What is empty is said in general words, labels as they are."""

    name: str = ""  # As menus and reports call the task
    question: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)  # Label -> how it reads
    texts: tuple[str, ...] = ()  # What the texts of an input are called, in their order: ("Premise", "Hypothesis")
    output: str = ""  # What an output that is judged beside the text is called
    guideline: str = ""  # Markdown; `{labels}` in it stands for a list of the labels
    outputs: Mapping[str, str] = field(default_factory=dict)  # Outputs that are a code -> how they read

    def over(self, other: "Wording") -> "Wording":
        """Return these words, and those of the other where these say nothing."""
        said: dict[str, Any] = {}
        for part in fields(Wording):
            own, under = getattr(self, part.name), getattr(other, part.name)
            said[part.name] = {**under, **own} if isinstance(own, Mapping) else own or under
        return Wording(**said)


class Task(Protocol):
    """Output type, label scheme, question, and when an output is wrong given an answer.

    A plug-in's task may have `wordings`, a mapping from "en" and "zh" to `Wording`, `guideline_version`, a number from
    1 that counts up whenever a guideline changes, and `text_names`, what its texts are called in files beside `text`
    and `text_b`. One whose answers cannot be listed (`audit.tasks.entities`) has `labels` that contain them,
    `read_label(written)`, `misfit(label, text)`, `output_of(value, text)`, `said(label, text)` and `examples`; one with
    label schemes `with_scheme(scheme)`."""

    name: str
    labels: tuple[str, ...]  # What people may answer, in the order in which the app shows it
    question_kind: Literal["input", "pair"]
    """`input`: "what is the right label?"; `pair`: "is this output right?", asked about (input, output)."""
    texts: int  # How many texts an input has
    question: str  # The question in English; annotators read that of `audit.tasks.words.wording`

    def checked(self, output: Output) -> Output:
        """Return the output, if the task allows it; else raise BadOutput saying what is allowed."""
        ...

    def is_wrong(self, output: Output, allowed: Set[str]) -> bool:
        """Return whether the output is wrong when the answer to its question is one of `allowed`."""
        ...


def check_task(name: str, task: Any) -> None:
    """Raise AuditError, which says what to write, unless this is a task of this name with all that `Task` says."""
    labels = getattr(task, "labels", ())
    kinds = ("input", "pair")
    fits = {
        "register an object, not a class": not isinstance(task, type),
        f"name must be {name!r}, as it is registered": getattr(task, "name", "") == name,
        "labels must be a tuple of two or more different texts": type(labels) is not str and len({*labels}) > 1,
        "question must be a text": bool(getattr(task, "question", None)),
        'question_kind must be "input" or "pair"': getattr(task, "question_kind", None) in kinds,
        "texts must be a whole number from 1": getattr(task, "texts", 0) in range(1, 27),
        "it needs methods checked(output) and is_wrong(output, allowed)": all(
            hasattr(task, method) for method in ("checked", "is_wrong")
        ),
    }
    if wrong := [fault for fault, is_right in fits.items() if not is_right]:
        raise AuditError(f"task {name!r} cannot be used: {'; '.join(wrong)}")


def wording_of(task: Task, language: str) -> Wording:
    """Return the wording that a task brings itself, as a plug-in's does; what a language lacks, in English."""
    own: Mapping[str, Wording] = getattr(task, "wordings", None) or {}
    return (own.get(language) or Wording()).over(own.get("en") or Wording())


@dataclass(frozen=True)
class LabelTask:
    """A task whose outputs are one label of a few, with a confidence from 0 to 1."""

    name: str
    labels: tuple[str, ...]
    question: str
    texts: int = 1
    wordings: Mapping[str, Wording] = field(default_factory=dict)
    guideline_version: int = 1
    text_names: tuple[str, ...] = ()
    """What its texts are called in files, beside `text` and `text_b`: ("premise", "hypothesis")."""
    read: Callable[[Output], Output] | None = None
    """Makes what counts of an output, where its label is not the system's own; raises BadOutput."""
    question_kind: Literal["input", "pair"] = field(default="input", init=False)

    def checked(self, output: Output) -> Output:
        """Return the label and its score. Raises BadOutput for a label or a score that is not allowed."""
        if self.read is not None:
            return self.read(output)
        if output.label not in self.labels:
            raise BadOutput(f"label {output.label!r} is not one of {', '.join(self.labels)}")
        return Output(output.label, checked_score(output.score))

    def is_wrong(self, output: Output, allowed: Set[str]) -> bool:
        """Return whether the label is none of those that the answer allows."""
        return output.label not in allowed


@dataclass(frozen=True)
class GradedTask:
    """A task whose outputs are texts, of which many may be right: people are asked about each beside its input, and
    their answers are grades, the first `acceptable` of which make it right. A reference text is a proxy, never gold."""

    name: str
    labels: tuple[str, ...]
    question: str
    acceptable: int = 1
    noun: str = ""  # What an output is called in messages
    may_be_absent: bool = False  # Whether a system need not have an output for every input
    texts: int = 1
    text_names: tuple[str, ...] = ()
    read: Callable[[Output], Output] | None = None  # As of `LabelTask`
    question_kind: Literal["input", "pair"] = field(default="pair", init=False)

    def checked(self, output: Output) -> Output:
        """Return the text without white space around it. Raises BadOutput for an empty one."""
        if self.read is not None:
            return self.read(output)
        if self.may_be_absent and output.absent:
            return output
        if output.text is None or not output.text.strip():
            noun = self.noun or self.name
            raise BadOutput(f"the {noun} is empty; a {noun} is a text")
        return Output(text=output.text.strip(), score=output.score)

    def is_wrong(self, output: Output, allowed: Set[str]) -> bool:
        """Return whether no grade that the answer allows makes the text right."""
        return allowed.isdisjoint(self.labels[: self.acceptable])
