"""A language model behind an OpenAI-compatible chat endpoint as a system, named `chat:FILE.toml`.

Four lines are enough for sentiment (docs/reference/systems.md has the whole format)::

    name = "small"
    version = "2026-11"
    url = "http://127.0.0.1:8000/v1"
    model = "small-chat"
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from typing import Annotated, Any

from pydantic import AfterValidator, Strict, model_validator

from audit.errors import AuditError
from audit.systems.chat_answers import choice_in, choices_in, number_in, text_in
from audit.systems.chat_client import ChatClient, Endpoint, Message, NoAnswer, Reply, schema_of
from audit.systems.hearing import tell_heard
from audit.systems.prompts import filled, prompt_of, values_of, wordings
from audit.systems.remote_file import EVERY, Languages, Pairs, Text, check_codes, check_labels, read_system_file
from audit.systems.service import OverHttp
from audit.tasks import Input, Output, Task, get_task
from audit.tasks.question_answering import UNANSWERABLE
from audit.user_models import Allowed, Mistake, UserModel, sure

_KEYS = {
    "similarity": "score",
    "question-answering": "answer",
    "summarization": "summary",
    "translation": "translation",
}
"""What stands in the JSON object of an answer; of tasks that are not here it is a label, or several."""
_LABELS = ("label", "labels")
_ROLES = ("system", "user")


def key_of(task: Task) -> str:
    """Return what an answer to a task is: label, labels, score, answer, summary or translation.

    Raises AuditError for a task without labels.

    >>> key_of(get_task("sentiment")), key_of(get_task("translation"))
    ('label', 'translation')
    """
    if task.name in _KEYS:
        return _KEYS[task.name]
    if getattr(task, "parts", ()):
        return "labels"
    if not task.labels:
        raise AuditError(f'{task.name!r} does not say the labels; write them, as in "{task.name}/finance,sports"')
    return "answer" if task.question_kind == "pair" else "label"


def _checked_task(name: str) -> str:
    sure(lambda: key_of(get_task(name)))
    return name


class Prompt(UserModel):
    """The words of the user's own; what is absent is audit's own prompt for the task."""

    system: str | None = None
    user: Text | None = None


class Example(UserModel):
    """A turn of the conversation that the model is shown before it is asked."""

    user: Text
    assistant: Text


class ChatFile(Endpoint):
    """The content of a file."""

    task: Annotated[Text, AfterValidator(_checked_task)] = "sentiment"
    pairs: Pairs = ()
    prompt: Prompt = Prompt()
    examples: Annotated[
        tuple[Example, ...], Strict(False), Allowed("a list of tables, each [[examples]] with user and assistant")
    ] = ()

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
        """The labels that a model names, by the words that it has for them; empty where an output is no label."""
        theirs = {label: word for word, label in reversed(self.labels.items())}
        named = getattr(self.about, "parts", ()) or self.about.labels
        return {theirs.get(label, label): label for label in named} if self.key in _LABELS else {}

    @cached_property
    def form(self) -> dict[str, Any]:
        """The JSON schema of an answer."""
        label: dict[str, Any] = {"type": "string", "enum": list(self.words)}
        values: dict[str, dict[str, Any]] = {
            "label": label,
            "labels": {"type": "array", "items": label},
            "score": {"type": "number"},
        }
        return schema_of(self.key, values.get(self.key, {"type": "string"}))

    @cached_property
    def templates(self) -> dict[str, str]:
        """What is sent before and with each input: the templates of the roles "system" (may be empty) and "user"."""
        own = {role: template for role in _ROLES if (template := getattr(self.prompt, role)) is not None}
        return {role: own[role] if role in own else prompt_of(self.about)[role] for role in _ROLES}

    @cached_property
    def between(self) -> Languages | None:
        """Languages of a model that translates; None for others."""
        return Languages(self.languages or (EVERY,), self.pairs, {}) if self.task == "translation" else None

    @property
    def settings(self) -> dict[str, object]:
        return {
            **super().settings,
            "task": self.task,
            "prompt": dict(self.templates),
            "answer": self.answer_in_words,
            "examples": [example.model_dump() for example in self.examples],
            "labels": self.labels,
            **(self.between.settings if self.between else {}),
        }

    @cached_property
    def answer_in_words(self) -> str:
        """What `{answer}` says of the form of an answer."""
        table = wordings()["text" if self.structured == "text" else "json"]
        return filled(table[self.key], {"labels": ", ".join(self.words)})

    def messages(self, item: Input) -> list[Message]:
        """Return the conversation that asks for the output of an input: the system's words, the examples, the input."""
        messages = [("system", self._said("system", item))] if self.templates["system"].strip() else []
        for example in self.examples:
            messages += [("user", example.user), ("assistant", example.assistant)]
        return [{"role": role, "content": said} for role, said in (*messages, ("user", self._said("user", item)))]

    def _said(self, role: str, item: Input) -> str:
        general = {"task_question": self.about.question, "answer": self.answer_in_words}
        labels = {"labels": ", ".join(self.words)} if self.words else {}
        return filled(self.templates[role], values_of(self.about, item) | labels | general)

    @model_validator(mode="after")
    def _check_together(self) -> "ChatFile":
        """Raise Mistake where keys contradict each other."""
        sure(lambda: self.templates, "prompt")
        texts = [f"<{place}>" for place in range(self.about.texts)]
        item = Input.of(*texts, target="en" if self.between else None)
        said = {role: sure(partial(self._said, role, item), f"prompt.{role}") for role in _ROLES}
        if not all(text in said["user"] for text in texts):
            raise Mistake("must have {text}, where the input goes; of a pair {text_a} and {text_b}", "prompt.user")
        if self.structured == "json" and "json" not in " ".join(said.values()).casefold():
            raise Mistake('must have {answer} or the word JSON, since structured = "json" asks for that', "prompt")
        if self.between is None and self.pairs:
            raise Mistake("is for the task translation; leave it out", "pairs")
        check_codes(self.languages or (), {})
        if self.labels and self.key not in _LABELS:
            raise Mistake(f"is for tasks with labels, an output of {self.task} is a {self.key}", "labels")
        check_labels(self.labels, [self.task])
        named = tuple(self.words.values())
        if self.labels and (missing := [label for label in named if label not in self.labels.values()]):
            reason = f"misses {', '.join(missing)}; it must have a word for each of {', '.join(named)}"
            raise Mistake(reason, "labels")
        return self


class Chat(OverHttp):
    """The model that a TOML file describes, as a `System` and an `AsynchronousSystem`: one input a conversation.

    What the model refuses, leaves unfinished or says unclearly is a stored error, with what it wrote as the text beside
    it; what it reasoned is kept in the details of the output. Creating it reads the file and raises BadFile for what is
    wrong with it.
    """

    def __init__(self, path: str):
        self.file = file = read_system_file(ChatFile, path, "chat")
        self._path = path
        self.name, self.version, self.tasks = file.name, file.version, (file.task,)
        self.languages = file.between.read if file.between else file.languages or ("en",)
        self.settings: Mapping[str, object] = file.settings
        self.deterministic = file.deterministic
        if self.deterministic is None and file.temperature != 0:
            self.deterministic = False
        self.summary = f"language model {file.model} over HTTP, {file.url}"
        self.client = ChatClient(path, file)
        self.keep(self.client.service, file)

    def __reduce__(self) -> tuple[type["Chat"], tuple[str]]:
        return Chat, (self._path,)  # without the client and its secrets

    def lacks(self, item: Input) -> bool:
        """Return whether it is no model for this pair of languages."""
        return self.file.between is not None and not self.file.between.has(item)

    def count_characters(self, inputs: Sequence[Input]) -> int:
        """Count the characters that are sent for inputs, prompts and examples among them: what they cost hangs on
        that."""
        return sum(len(part["content"]) for item in inputs for part in self.file.messages(item))

    async def ask(self, inputs: Sequence[Input]) -> list[Output]:
        return [await self._ask_one(item) for item in inputs]

    async def _ask_one(self, item: Input) -> Output:
        if self.lacks(item):
            return Output()
        details = None
        try:
            reply = await self.client.ask(self.file.messages(item), self.file.form)
            details = {"reasoning": reply.reasoning} if reply.reasoning else None
            return replace(self._output(reply), details=details)
        except NoAnswer as problem:
            return Output(error=str(problem), text=problem.raw, details=details)

    def _output(self, reply: Reply) -> Output:
        """Return the output in an answer. Raises NoAnswer where there is none."""
        tell_heard(reply.text)
        key, words = self.file.key, self.file.words
        if key == "label":
            label = choice_in(reply.text, words)
            word = next(word for word, meaning in words.items() if meaning == label)
            return Output(label, reply.probability(word) if reply.tokens else None)
        if key == "labels":
            task: Any = self.file.about
            return Output(task.together(choices_in(reply.text, words)))
        if key == "score":
            return Output(score=number_in(reply.text))
        text = text_in(reply.text, key)
        if text is None and key == "answer":
            return Output(text=UNANSWERABLE)
        if not (text or "").strip():
            raise NoAnswer(f"the {key} is empty", reply.text)
        return Output(text=text)
