"""The TOML file that describes a language model behind a chat endpoint as a system: `chat:FILE.toml`."""

from collections.abc import Mapping, Sequence
from functools import cached_property, partial
from typing import Annotated, Any

from pydantic import AfterValidator, Field, Strict, model_validator

from audit.errors import AuditError
from audit.files import read_text, toml_of
from audit.systems.chat_answers import spelled_by
from audit.systems.chat_client import Endpoint, Form, Message
from audit.systems.http_file import EVERY, Languages, Pairs
from audit.systems.prompts import (
    check_template,
    fields_of,
    filled,
    labels_together,
    missing_text,
    prompt_of,
    values_of,
    wordings,
)
from audit.systems.remote_file import Names, Text
from audit.tasks import Input, Task, get_task
from audit.tasks.question_answering import UNANSWERABLE
from audit.text.languages import is_code
from audit.user_models import Allowed, Mistake, UserModel, read_as, sure

_HELP = "see docs/reference/systems.md"
_KEYS = {
    "similarity": "score",
    "question-answering": "answer",
    "summarization": "summary",
    "translation": "translation",
}
"""What stands in the JSON object of an answer; of tasks that are not here it is a label."""
_LABELS = ("label", "labels")


def _checked_task(name: str) -> str:
    task = sure(lambda: get_task(name))
    sure(lambda: key_of(task))
    return name


def key_of(task: Task) -> str:
    """What an answer to a task is: label, labels, score, answer, summary or translation.

    Raises AuditError for a task without labels.

    >>> key_of(get_task("sentiment")), key_of(get_task("translation"))
    ('label', 'translation')
    """
    if task.name in _KEYS:
        return _KEYS[task.name]
    if labels_together(task):
        return "labels"
    if not task.labels:
        raise AuditError(f'{task.name!r} does not say the labels; write them, as in "{task.name}/finance,sports"')
    if task.question_kind == "pair":
        return "answer"
    return "label"


class Prompt(UserModel):
    """The words of the user's own; what is absent is audit's own prompt for the task."""

    system: str | None = None
    user: Text | None = None


class Example(UserModel):
    """An input and the answer to it, which the model is shown before it is asked."""

    text: str | None = None
    text_a: str | None = None
    text_b: str | None = None
    context: str | None = None
    question: str | None = None
    language: str | None = None
    source_language: str | None = None
    target_language: str | None = None
    answer: str | float = Field(description="it is the right output for this example")

    def input(self, task: Task) -> Input:
        """The input of the example. Raises Mistake where its texts are not those that an input of the task has."""
        ways = [("text",)] if task.texts == 1 else [("text_a", "text_b"), ("context", "question")]
        written = {name for way in (("text",), *ways) for name in way if getattr(self, name) is not None}
        way = next((way for way in ways if written == set(way)), None)
        if way is None:
            raise Mistake(f"must have {' or '.join(' and '.join(way) for way in ways)}, an input of {task.name}")
        texts = [getattr(self, name) for name in way]
        source = self.source_language or self.language or "en"
        if task.name != "translation":
            return Input.of(*texts, language=source)
        if self.target_language is None:
            raise Mistake("must have target_language, into which it is translated")
        return Input.of(*texts, language=source, target=self.target_language)


Examples = Annotated[
    tuple[Example, ...], Strict(False), Allowed("a list of tables, each [[examples]] with the texts and the answer")
]


class ChatDescription(Endpoint):
    """The content of a file."""

    task: Annotated[Text, AfterValidator(_checked_task)] = "sentiment"
    languages: Names | None = None
    pairs: Pairs = ()
    prompt: Prompt = Prompt()
    examples: Examples = ()

    @cached_property
    def about(self) -> Task:
        """The task itself."""
        return get_task(self.task)

    @cached_property
    def key(self) -> str:
        """What an answer is."""
        return key_of(self.about)

    @cached_property
    def words(self) -> Mapping[str, str]:
        """The labels by the words that the model has for them; empty where an output is no label."""
        return spelled_by(self._named, self.labels) if self.key in _LABELS else {}

    @property
    def _named(self) -> tuple[str, ...]:
        """The labels that a model names: those of the task, or those of which an input may have several."""
        return labels_together(self.about) or self.about.labels

    @cached_property
    def form(self) -> Form:
        """The JSON object that an answer is to be."""
        values: dict[str, Any] = {"label": list(self.words), "labels": [list(self.words)], "score": float}
        return Form.of(**{self.key: values.get(self.key, str)})

    @cached_property
    def templates(self) -> dict[str, str]:
        """What is sent before and with each input: the templates of the roles "system" (may be empty) and "user"."""
        needed = {role for role in ("system", "user") if getattr(self.prompt, role) is None}
        own = prompt_of(self.about) if needed else {}
        return {role: own[role] if role in needed else getattr(self.prompt, role) for role in ("system", "user")}

    @cached_property
    def spoken(self) -> tuple[str, ...]:
        """The languages as the file has them."""
        return self.languages or ((EVERY,) if self.task == "translation" else ("en",))

    @cached_property
    def between(self) -> Languages | None:
        """Languages of a model that translates; None for others."""
        return Languages(self.spoken, self.pairs, {}) if self.task == "translation" else None

    @property
    def settings(self) -> dict[str, object]:
        """What may change an output, for the database: neither secrets nor the pace."""
        examples = [example.model_dump(exclude_none=True) for example in self.examples]
        return {
            **super().settings,
            "headers": self.headers,
            "task": self.task,
            "prompt": dict(self.templates),
            "answer": self._answer_in_words,
            "examples": examples,
            "labels": self.labels,
            **(self.between.settings if self.between else {}),
        }

    @property
    def _answer_in_words(self) -> str:
        table = wordings()["text" if self.structured == "text" else "json"]
        return filled(table[self.key], {"labels": ", ".join(self.words)})

    def messages(self, item: Input) -> list[Message]:
        """The conversation that asks for the output of an input: the system's words, the examples, the input."""
        messages: list[Message] = []
        if self.templates["system"].strip():
            messages.append({"role": "system", "content": self._said("system", item)})
        for example in self.examples:
            messages.append({"role": "user", "content": self._said("user", example.input(self.about))})
            messages.append({"role": "assistant", "content": self.written(example.answer)})
        return [*messages, {"role": "user", "content": self._said("user", item)}]

    def _said(self, role: str, item: Input) -> str:
        general = {
            "labels": ", ".join(self.words),
            "task_question": self.about.question,
            "answer": self._answer_in_words,
        }
        return filled(self.templates[role], {**general, **values_of(self.about, item)})

    def label_of(self, several: Sequence[str]) -> str | None:
        """The task's label that stands for several labels, which is one of all their sets."""
        together: Any = self.about
        label: str | None = together.together(several)
        return label

    def written(self, answer: str | float) -> str:
        """An example's answer as the model is to write it."""
        theirs = {label: word for word, label in self.words.items()}
        value: Any = theirs.get(str(answer), answer)
        if self.key == "labels":
            value = [word for label, word in theirs.items() if label in str(answer).split("+")]
        if self.structured == "text":
            return ", ".join(value) or "none" if isinstance(value, list) else str(value)
        return Form.written(**{self.key: value})

    @model_validator(mode="after")
    def _check_together(self) -> "ChatDescription":
        """What the keys mean together."""
        fields = fields_of(self.about)
        sure(lambda: self.templates, "prompt")
        for role, template in self.templates.items():
            sure(partial(check_template, template, fields), f"prompt.{role}")
        if missing := missing_text(self.about, self.templates["user"]):
            raise Mistake(f"must have {missing}, where the input goes", "prompt.user")
        if self.structured == "json" and not any("json" in self._written_out(role) for role in self.templates):
            raise Mistake('must have {answer} or the word JSON, since structured = "json" asks for that', "prompt")
        if self.task != "translation" and self.pairs:
            raise Mistake("is for the task translation; leave it out", "pairs")
        if unknown := next((code for code in self.spoken if code != EVERY and not is_code(code)), None):
            raise Mistake(f"{unknown!r} is no code such as es, zh or pt-BR", "languages")
        self._check_labels()
        self._check_examples()
        return self

    def _written_out(self, role: str) -> str:
        return self.templates[role].replace("{answer}", self._answer_in_words).casefold()

    def _check_labels(self) -> None:
        if self.labels and self.key not in _LABELS:
            raise Mistake(f"is for tasks with labels, an output of {self.task} is a {self.key}", "labels")
        labels = self._named
        if unknown := next((label for label in self.labels.values() if label not in labels), None):
            raise Mistake(f"{unknown!r} is no label of {self.task}; allowed are {', '.join(labels)}", "labels")
        if self.labels and (missing := [label for label in labels if label not in self.labels.values()]):
            raise Mistake(f"misses {', '.join(missing)}; it must have a word for each of {', '.join(labels)}", "labels")

    def _check_examples(self) -> None:
        for place, example in enumerate(self.examples):
            where = f"examples[{place}]"
            try:
                example.input(self.about)
            except Mistake as mistake:
                raise Mistake(mistake.args[0], where) from None
            answer = example.answer
            if self.key in _LABELS and answer not in self.about.labels:
                allowed = ", ".join(self.about.labels)
                raise Mistake(f"{answer!r} is no label of {self.task}; allowed are {allowed}", f"{where}.answer")
            if self.key == "score" and (isinstance(answer, str) or not 0 <= answer <= 1):
                raise Mistake(f"{answer!r} is no number from 0 to 1", f"{where}.answer")
            if self.key not in (*_LABELS, "score") and not isinstance(answer, str):
                what = f'a text, or "{UNANSWERABLE}"' if self.key == "answer" else "a text"
                raise Mistake(f"{answer!r} must be {what}", f"{where}.answer")


def read_chat(path: str) -> ChatDescription:
    """The description in a file. Raises BadFile, which names the file, the key and what is allowed."""
    return read_as(ChatDescription, toml_of(path, read_text(path), _HELP), path, _HELP)
