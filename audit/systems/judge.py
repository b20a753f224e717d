"""Judges that are models: whatever answers the questions that people answer, under a name of its own.

A judge is a function of the user's, `module:name`, or a chat model that a file describes, `chat:FILE.toml`. It is shown
what people are shown, and its answers are never votes. Three lines are enough::

    # mine.py
    def judge(asked):
        return "positive" if "good" in asked.text else "negative"

and then `audit judge ask --with mine:judge`.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from inspect import isawaitable
from typing import Any, Literal, Protocol

from audit.errors import AuditError
from audit.systems.foreign import contained, shortened, shown
from audit.systems.own import Described, find_object

UNSURE = "unsure"
"""What a judge may always answer, as people may."""
Variant = Literal["as people", "labels", "wording", "texts"]
VARIANTS: tuple[Variant, ...] = ("as people", "labels", "wording", "texts")
"""Ways of asking the same, by number: as people are asked, the labels in reversed order, the question in other words,
the texts in the opposite order."""
_LAST = "Answer with one of these and nothing else"
PROMPT = f"{{guideline}} {{relation}} {{question}} {{texts}} {_LAST}: {{labels}}"
"""The order of `Asked.prompt`, for signatures."""
LONGEST = 2_000
"""Characters kept of what a judge wrote that is no answer."""


@dataclass(frozen=True)
class Part:
    """A text that is shown: what it is called, the text, and the code of its language."""

    name: str
    text: str
    language: str


@dataclass(frozen=True)
class Asked:
    """A question as a judge is asked it: what people are shown, in English words, and nothing of any system's name.

    `parts` are the texts in the order in which they are shown, an output that is judged included; `texts` and `output`
    are the same as the task has them. `labels` stand in the order in which they are offered. `relation` says what the
    relation of a group does and expects, where the question is about one. `variant` is a number of `VARIANTS`.
    """

    task: str
    kind: str
    question: str
    labels: tuple[str, ...]
    texts: tuple[str, ...]
    parts: tuple[Part, ...]
    output: str | None = None
    relation: str = ""
    guideline: str = ""
    variant: int = 0

    @property
    def text(self) -> str:
        """The first text; the only one of most tasks."""
        return self.texts[0]

    def prompt(self, guideline: bool = True) -> str:
        """The question as one text for a model, which ends with what may be answered; with the guideline, if wanted.

        >>> parts = (Part("Text", "Fine.", "en"),)
        >>> asked = Asked("sentiment", "input", "How is it?", ("good", "bad"), ("Fine.",), parts)
        >>> print(asked.prompt())
        How is it?
        <BLANKLINE>
        Text:
        Fine.
        <BLANKLINE>
        Answer with one of these and nothing else: good, bad, unsure
        """
        blocks = [self.guideline] if self.guideline and guideline else []
        blocks += [f"The relation: {self.relation}"] if self.relation else []
        blocks.append(self.question)
        blocks += [f"{part.name}:\n{part.text}" for part in self.parts]
        return "\n\n".join([*blocks, f"{_LAST}: {', '.join((*self.labels, UNSURE))}"])


@dataclass(frozen=True)
class Answered:
    """What came of a question: a label of its own or `unsure`, or an error. `text` is what the judge wrote beside the
    label, its reasoning, or in place of one."""

    label: str | None = None
    error: str | None = None
    text: str | None = None


class Judge(Protocol):
    """Who is asked: another name, version or settings (model, prompt) is another judge. `concurrency` is the most
    questions at once."""

    name: str
    version: str
    settings: Mapping[str, object]
    concurrency: int

    def needs(self) -> str | None:
        """None where it can be asked; else what is missing."""
        ...

    async def answer(self, asked: Asked) -> Answered:
        """One answer, or an error with the raw text. Raises nothing but what ends the whole."""
        ...

    async def close_async(self) -> None:
        """Let go of what it holds."""
        ...


class Function(Described):
    """A function of the user's (an object that can be called) as a judge; it may be asynchronous."""

    concurrency = 1

    def __init__(self, spec: str, call: Callable[[Asked], object | Awaitable[object]], module: Any):
        super().__init__(spec, call, module)
        self._call = call
        number = getattr(call, "concurrency", 1)
        self.concurrency = number if isinstance(number, int) and 1 <= number <= 1_000 else 1

    def needs(self) -> str | None:
        return None

    async def answer(self, asked: Asked) -> Answered:
        try:
            with contained():
                returned = self._call(asked)
            if isawaitable(returned):
                returned = await returned
        except Exception as problem:
            return Answered(error=f"{type(problem).__name__}: {problem}"[:LONGEST])
        if isinstance(returned, Answered):
            return read_answer(returned.label, asked.labels) if returned.label is not None else returned
        if not isinstance(returned, str):
            return Answered(error=f"returned {shown(returned)}; it must be a label, or 'unsure'")
        return read_answer(returned, asked.labels)

    async def close_async(self) -> None:
        pass


_EDGES = " \t\r\n\"'`*.:!。“”‘’"


def read_answer(text: str, labels: Sequence[str]) -> Answered:
    """The label that a text is, whatever its capitals, quotation marks and full stops. One in the middle of a sentence
    is none: "not positive" is not positive.

    >>> read_answer(" Positive. ", ("positive", "negative")).label
    'positive'
    >>> read_answer("I cannot help with that.", ("positive", "negative")).error
    "'I cannot help with that.' is none of positive, negative, unsure"
    """
    spelling = {label.casefold(): label for label in (*labels, UNSURE)}
    if label := spelling.get(text.strip(_EDGES).casefold()):
        return Answered(label)
    return Answered(error=f"{shortened(text)!r} is none of {', '.join(spelling.values())}", text=text[:LONGEST])


SYMMETRIC = ("similarity",)
"""Tasks whose texts play the same part: in the opposite order each takes the other's name."""


def variant_of(asked: Asked, number: int) -> Asked | None:
    """The same question in another way (`VARIANTS`); None where there is none: a single text has no order.

    >>> asked = Asked("sentiment", "input", "How is it?", ("good", "bad"), ("Fine.",), (Part("Text", "Fine.", "en"),))
    >>> variant_of(asked, 1).labels, variant_of(asked, 3)
    (('bad', 'good'), None)
    """
    name = VARIANTS[number]
    changed = replace(asked, variant=number)
    if name == "labels":
        return replace(changed, labels=asked.labels[::-1])
    if name == "wording":
        return replace(changed, question=_OTHER_WORDS.get(asked.kind, _OTHER_WORDS["input"]))
    if name == "texts":
        if len(asked.parts) < 2:
            return None
        if asked.task in SYMMETRIC:
            names = [part.name for part in asked.parts]
            parts = [replace(part, name=name) for part, name in zip(asked.parts[::-1], names, strict=True)]
            return replace(changed, parts=tuple(parts), texts=asked.texts[::-1])
        return replace(changed, parts=asked.parts[::-1])
    return changed


_OTHER_WORDS = {
    "input": "Read what is shown below. Of the labels that are offered, which one fits it best?",
    "pair": "Below are a text and what a system made of it. Which of the labels that are offered fits the latter best?",
    "group": "Would a careful reader who understands every text below expect just what the relation expects of them?",
}
"""The question in other words, by kind; what may be answered stays."""


def load_judge(spec: str, name: str | None = None) -> Judge:
    """The judge that `module:name` or `chat:FILE.toml` names, under a `name` of the user's where one is given.

    Raises AuditError where there is none, or what it names cannot be called.
    """
    judge = _loaded(spec)
    if name is not None:
        judge.name = name
    if needs := judge.needs():
        raise AuditError(f"the judge {spec!r} cannot be asked here; {needs}")
    return judge


def _loaded(spec: str) -> Judge:
    kind, _, argument = spec.partition(":")
    if kind == "chat":
        from audit.systems.chat_judge import ChatJudge

        return ChatJudge(argument)
    obj, module = find_object(spec, "judge")
    return function_judge(obj, spec, module)


def function_judge(obj: object, spec: str, module: Any) -> Function:
    """A judge of a function of a script or notebook. Raises AuditError for what cannot be called."""
    if not callable(obj):
        raise AuditError(
            f"{spec!r} is a {type(obj).__name__}, which cannot be called; a judge is a function of a question "
            "that returns one of its labels, or 'unsure'"
        )
    return Function(spec, obj, module)


# Whether a judge is the same model as a system: it would be asked whether its own outputs are right.


def same_model(judge: tuple[str, str, Mapping[str, Any]], system: tuple[str, str, Mapping[str, Any]]) -> bool:
    """Whether a judge (name, version, settings) is the model that a system is: the same name of a model, wherever it
    is asked; without one the same address; without both the same name.

    >>> same_model(("referee", "1", {"model": "M-7"}), ("mine", "2", {"model": "m-7", "url": "http://a"}))
    True
    >>> same_model(("referee", "1", {"model": "M-7"}), ("mine", "2", {"model": "m-8"}))
    False
    """
    settings = judge[2], system[2]
    for key in ("model", "url"):
        values = [one.get(key) for one in settings]
        if all(isinstance(value, str) and value for value in values):
            first, second = (str(value).strip().rstrip("/").casefold() for value in values)
            return first == second
    return judge[0] == system[0]
