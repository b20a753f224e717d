"""A language model behind an OpenAI-compatible endpoint as a system: `chat:FILE.toml` (docs/reference/systems.md).

Sources of the wire formats: OpenAI's API reference, "Create chat completion" and "Create a model response". OpenAI's
own client is not used: it takes 2.9 ms of the processor for a request where this takes 1.2, so that a hundred requests
of 200 ms at once wait for it.
"""

import asyncio
import json
import math
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from string import ascii_lowercase
from typing import Annotated, Any, Literal

from pydantic import Field, Strict

from audit.errors import AuditError, BadOutput, Declined
from audit.files import raw_json
from audit.keys import fingerprint
from audit.resources import data_file
from audit.systems.endpoint import HELP, OverHttp, Remote, Service, TaskName, Text, read_system_file
from audit.systems.foreign import number, shown
from audit.tasks import Input, Output, Task, base_of, get_task, text_names
from audit.tasks.question_answering import UNANSWERABLE
from audit.user_models import UserModel, refuse

POLL = 20.0  # Seconds between looks at a batch
_FEW, _BATCH = 10, 1_000
"""Inputs that are asked directly although the file has a `batch`, since somebody waits for the first; most of one."""
_FAILED = ("failed", "expired", "cancelling", "cancelled")
_KEYS = {
    "similarity": "score",
    "question-answering": "answer",
    "summarization": "summary",
    "translation": "translation",
}
"""What stands in the JSON object of an answer; of tasks that are not here it is a label, or several."""
_FIELD = re.compile(r"\{([a-z][a-z_0-9]*)\}")
_REASONED = re.compile(
    r"</(?:think|thinking|reasoning)>|\[/think\]|<\|channel\|>\s*final\b.*?<\|message\|>", re.IGNORECASE | re.DOTALL
)
"""What stands between what models that reason aloud write before their answer and that: a closing tag, or the beginning
of the channel `final` (OpenAI's Harmony format)."""
_OPENING = re.compile(r"\A\s*(?:<(?:think|thinking|reasoning)>|\[think\]|<\|channel\|>)", re.IGNORECASE)
_MARKS = "\"'`*_.,:;!?()[]<>“”‘’。，！？：；「」 \t\r\n"
_BEFORE = re.compile(r"\A(?:the )?(?:final )?(?:answer|label|score|class|category)(?:\s+is)?\s*[:：]\s*", re.IGNORECASE)
Message = Mapping[str, str]
"""A part of a conversation: `{"role": "user", "content": "..."}`."""


class NoAnswer(BadOutput):
    """What a model wrote, `raw`, is no answer. Asking again would cost again, and may say the same."""

    def __init__(self, reason: str, raw: str):
        super().__init__(f"{reason}: {shown(raw)}")
        self.raw = raw


# Prompts: templates with fields such as {text}; other braces are nothing special, so that a prompt may show JSON.


@cache
def wordings() -> Mapping[str, Mapping[str, str]]:
    """Return what comes with audit: prompts by task, what {answer} says, names of languages."""
    return tomllib.loads(data_file("prompts/en.toml").read_text("utf-8"))


def filled(template: str, values: Mapping[str, str]) -> str:
    """Return a template with its fields in it, all at once: a text that spells a field stays as it is. Raises
    AuditError for another field."""
    if unknown := next((name for name in _FIELD.findall(template) if name not in values), None):
        raise AuditError(f"{{{unknown}}} is no field here; allowed are {', '.join(f'{{{name}}}' for name in values)}")
    return _FIELD.sub(lambda match: values[match[1]], template)


def values_of(task: Task, item: Input) -> dict[str, str]:
    """Return what the fields stand for that come from an input.

    >>> values_of(get_task("translation"), Input.of("It rains.", target="es-MX"))
    {'text': 'It rains.', 'source_language': 'English', 'target_language': 'Spanish (es-MX)'}
    """
    names = ("text",) if task.texts == 1 else tuple(f"text_{letter}" for letter in ascii_lowercase[: task.texts])
    values = dict(zip((*names, *text_names(task)), item.texts * 2, strict=False))
    sides = ("source_language", "target_language") if item.target is not None else ("language",)
    for side, code in zip(sides, (item.languages[0], item.languages[-1]), strict=False):
        called, base = wordings()["languages"], code.partition("-")[0]
        values[side] = called.get(code) or (f"{called[base]} ({code})" if base in called else code)
    return values


# Reading what a model wrote: a JSON object, or the bare value, as tolerantly as leaves no doubt.


def value_in(text: str, key: str, bare: bool = False) -> Any:
    """Return the value under a key of the JSON object in a text, in a fence or with words around it; where there is no
    object, the text itself. With `bare` the text has to begin with it: braces within a text are a part of it.

    Raises NoAnswer for an object without the key, and for several whose values differ.
    """
    fence = re.match(r"\A\s*```[a-zA-Z]*\s*\n(.*?)\n?\s*```\s*\Z", text, re.DOTALL)
    inner, end = fence[1] if fence else text, 0
    is_object, values = inner.lstrip().startswith("{"), []
    while (is_object or not bare) and (start := inner.find("{", end)) >= 0:
        try:
            found, end = raw_json(inner, start)
        except (ValueError, RecursionError):
            if is_object:
                raise NoAnswer("the answer is a part of a JSON object", text) from None
            return inner
        values.append({name.casefold(): [value] for name, value in found.items()}.get(key))
    if None in values or any(value != values[0] for value in values):
        raise NoAnswer(f"the answer has {'no' if None in values else 'different'} {key!r}", text)
    return values[0][0] if values else inner  # type: ignore[index]


def choice_in(text: str, words: Mapping[str, str], key: str = "label") -> str:
    """Return the value among `words` (as the model spells it: what it means) that an answer has under a key, or is
    itself. Capitals, punctuation around a word, and spaces, hyphens and underscores in it say nothing.

    Raises NoAnswer where the answer is none of them: "not positive" is not positive.
    """
    value = value_in(text, key)
    written = _BEFORE.sub("", str(value).strip(_MARKS)) if isinstance(value, str | int) else ""
    for spelled in (lambda word: word.strip(_MARKS), lambda word: re.sub(r"[\W_]+", "", word)):
        spelling = spelled(written).casefold()
        said = {meaning for word, meaning in words.items() if spelling and spelled(word).casefold() == spelling}
        if len(said) == 1:  # else two labels differ in their punctuation only
            return said.pop()
    raise NoAnswer(f"the answer is none of {', '.join(words)}", text)


def choices_in(text: str, words: Mapping[str, str]) -> list[str]:
    """As `choice_in`, of an answer that may have any number of them: a list under "labels", or words with commas, plus
    signs or line breaks between them; nothing, or the word none, is none of them."""
    value = value_in(text, "labels")
    parts = re.split(r"[,+;\n，；、]", value) if isinstance(value, str) else value
    if not isinstance(parts, list) or not all(isinstance(part, str) for part in parts):
        raise NoAnswer("the answer's 'labels' is no list of labels", text)
    parts = [part for part in parts if part.strip(_MARKS)]
    if [part.strip(_MARKS).casefold() for part in parts] == ["none"] and "none" not in words:
        return []
    try:
        return [choice_in(part, words) for part in parts]
    except NoAnswer as problem:
        problem.raw = text
        raise


def without_reasoning(text: str) -> tuple[str, str]:
    """Return the answer in what a model wrote, and what it reasoned before; the answer is empty where only reasoning
    came."""
    *_, last = [None, *_REASONED.finditer(text)]
    opening = _OPENING.match(text)
    if last is None and opening is None:
        return text, ""
    before = text[opening.end() if opening else 0 : last.start() if last else len(text)]
    answer = re.sub(r"<\|(?:return|end|call|start)\|>.*", "", text[last.end() :], flags=re.DOTALL) if last else ""
    return answer.strip(), before.strip()


# The endpoint.


class Endpoint(Remote):
    """What a file says of an endpoint, whatever it is asked: a model at an address, and how it is to answer."""

    model: Text = Field(description="it is what the endpoint calls the model")
    timeout: float = Field(120.0, ge=0.01, le=86_400)
    api_key: str | None = Field(None, repr=False)  # Sent as `Authorization: Bearer ...`
    structured: Literal["schema", "text"] = "schema"
    temperature: Annotated[float, Field(ge=0, le=2)] | Literal["default"] | None = None
    """None: 0, or not sent beside an effort, since models that reason refuse it; "default": not sent."""
    effort: Text | None = None
    max_tokens: Annotated[int, Field(ge=1, le=1_000_000)] | None = None
    logprobs: bool = False
    request: dict[str, Any] = Field({}, repr=False)  # More of what is sent, as it is: `seed`, `top_p`, `stop` ...


@dataclass(frozen=True)
class Reply:
    """What a model wrote, and the `problem` where it is no whole answer. `tokens` are pieces of all that it wrote, each
    with the logarithm of its probability; `details` are what it reasoned, and the tokens that it `used`."""

    text: str
    tokens: tuple[tuple[str, float], ...] = ()
    details: Mapping[str, Any] = field(default_factory=dict)
    problem: str = ""

    def probability(self, part: str) -> float | None:
        """Return the probability of the last place in the text that reads so, as the product of its tokens'; None where
        tokens are absent or do not spell the text."""
        before, start = "".join(token for token, _ in self.tokens).rfind(self.text), self.text.rfind(part)
        if before < 0 or start < 0 or not self.tokens:
            return None
        total, at, start = 0.0, 0, start + before
        for token, logarithm in self.tokens:
            if at < start + len(part) and at + len(token) > start:
                total += logarithm
            at += len(token)
        return round(min(1.0, math.exp(total)), 6)


def _parts_of(document: Any, responses: bool) -> tuple[str, str, str | None, str | None, Sequence[Any]]:
    """Return the content of an answer in the form of Responses or chat completions, what is told apart as reasoning, a
    refusal, why it ended, the probabilities of tokens."""
    message, end, tokens = {}, (document.get("incomplete_details") or {}).get("reason"), None
    if responses:
        parts = [part for item in document["output"] for part in item.get("content") or item.get("summary") or []]
    else:
        choice = document["choices"][0]
        message, end, tokens = choice["message"], choice.get("finish_reason"), choice.get("logprobs")
        content = message.get("content") or []
        parts = [{"text": content}] if isinstance(content, str) else content
    texts = [part for part in parts if part.get("type", "text") in ("text", "output_text")]
    refusal = next((part["refusal"] for part in parts if "refusal" in part), message.get("refusal"))
    thoughts = (str(part.get("text") or part) for part in parts if part not in texts and "refusal" not in part)
    reasoning = message.get("reasoning_content") or message.get("reasoning") or "\n".join(thoughts)
    listed = tokens["content"] if tokens else [token for part in texts for token in part.get("logprobs") or []]
    return "".join(part["text"] for part in texts), reasoning, refusal, end, listed or []


def _is_cut(tokens: int, characters: int) -> bool:
    """Return whether a server read a part of a prompt only: Ollama cuts longer ones to its context without a word,
    which is a power of two, 4,096 unless it is told. No text has ten characters in each of its tokens."""
    return (tokens >= 2_048 and tokens.bit_count() == 1) or (tokens >= 256 and characters > 10 * tokens)


def _characters(messages: Sequence[Message]) -> int:
    return sum(len(message["content"]) for message in messages)


class ChatClient:
    """The way to a model: `ask` sends one conversation. `file` is what messages call the file that has the `endpoint`.
    Creating it asks nothing. An address that ends with `/responses` is asked in the form of OpenAI's Responses."""

    def __init__(self, file: str, endpoint: Endpoint):
        self.endpoint = endpoint
        bare, mark, query = endpoint.url.partition("?")
        self._base = re.sub("/(chat/completions|responses)$", "", bare.rstrip("/"))
        self.responses = bare.rstrip("/").endswith("/responses")
        self._path = "/responses" if self.responses else "/chat/completions"
        self._address = f"{self._base}{self._path}{mark}{query}"
        key = {"Authorization": f"Bearer {endpoint.api_key}"} if endpoint.api_key else {}
        self._headers = {**endpoint.headers, **key}
        temperature = endpoint.temperature if endpoint.temperature is not None or endpoint.effort else 0.0
        sampling: dict[str, Any] = {"temperature": None if temperature == "default" else temperature}
        effort, most, logprobs = endpoint.effort, endpoint.max_tokens, endpoint.logprobs or None
        if self.responses:
            sampling |= {"max_output_tokens": most, "reasoning": effort and {"effort": effort}}
            sampling |= {"include": logprobs and ["message.output_text.logprobs"]}
        else:
            sampling |= {"max_tokens": most, "reasoning_effort": effort, "logprobs": logprobs}
        self.sampling = {name: value for name, value in sampling.items() if value is not None} | endpoint.request
        self.settings: dict[str, Any] = {
            **{name: getattr(endpoint, name) for name in ("url", "model", "headers", "structured")},
            **self.sampling,
        }
        self.service = Service(file, [endpoint.url, *self._headers.values()], endpoint.timeout)

    def _body(self, messages: Sequence[Message], key: str, value: Mapping[str, Any]) -> dict[str, Any]:
        schema = {"type": "object", "properties": {key: value}, "required": [key], "additionalProperties": False}
        named = {"name": "answer", "strict": True, "schema": schema}
        said = {"model": self.endpoint.model, "input" if self.responses else "messages": messages, **self.sampling}
        if self.endpoint.structured == "text":
            return said
        if self.responses:
            return {**said, "text": {"format": {"type": "json_schema", **named}}}
        return {**said, "response_format": {"type": "json_schema", "json_schema": named}}

    async def ask(self, messages: Sequence[Message], key: str, value: Mapping[str, Any]) -> Reply:
        """Return the model's answer to one conversation, sent once; its text is to be an object with one key, whose
        value is of this schema. Raises Unanswered and Declined, and BadOutput for what is no answer of an endpoint."""
        with self.service.masked():
            document = await self._sent("POST", self._address, self._body(messages, key, value))
            return self._reply(document, _characters(messages))

    async def _sent(self, method: str, address: str, body: Mapping[str, Any] | None = None) -> Any:
        sent = json.dumps(body).encode() if body else b""
        return self.service.document(await self.service.answer(address, sent, self._headers, method))

    async def ask_batch(
        self, conversations: Sequence[Sequence[Message]], key: str, value: Mapping[str, Any], share: float
    ) -> list[Reply]:
        """Return the answers to conversations by the batch form of OpenAI's API: within a day, for a `share` of the
        price. A batch is found again by what it asks, so that a run that was killed goes on with it and pays once.
        Raises what `ask` raises, and Declined where the service does not do the batch."""
        about = {"method": "POST", "url": f"/v1{self._path}"}
        bodies = [self._body(messages, key, value) for messages in conversations]
        rows = [json.dumps({"custom_id": str(place), **about, "body": body}) for place, body in enumerate(bodies)]
        batches, name = f"{self._base}/batches", fingerprint(["\n".join(rows)])
        listed = (await self._sent("GET", f"{batches}?limit=100"))["data"]
        same = (entry for entry in listed if (entry.get("metadata") or {}).get("audit") == name)
        if (batch := next((entry for entry in same if entry["status"] not in _FAILED), None)) is None:
            window = {"endpoint": about["url"], "completion_window": "24h", "metadata": {"audit": name}}
            file = await self._upload("\n".join(rows))
            batch = await self._sent("POST", batches, {"input_file_id": file, **window})
        while batch["status"] not in (*_FAILED, "completed"):
            await asyncio.sleep(POLL)
            batch = await self._sent("GET", f"{batches}/{batch['id']}")
        files = [batch[kind] for kind in ("output_file_id", "error_file_id") if batch.get(kind)]
        if not files:
            raise Declined(f"the batch {batch['id']} is {batch['status']}: {shown(batch.get('errors'))}")
        replies = [Reply("", problem=f"the batch {batch['id']} ended without it")] * len(rows)
        for file in files:
            content = await self.service.answer(f"{self._base}/files/{file}/content", b"", self._headers, "GET")
            for row in map(self.service.document, content.splitlines()):
                place, body = int(row["custom_id"]), (row.get("response") or {}).get("body") or row
                try:
                    replies[place] = self._reply(body, _characters(conversations[place]), share)
                except BadOutput as problem:
                    replies[place] = Reply("", problem=str(problem))
        return replies

    async def _upload(self, lines: str) -> str:
        """Send a file of requests, and return its id."""
        from httpx import Request

        files = {"file": ("audit.jsonl", lines.encode())}
        request = Request("POST", "http://any", data={"purpose": "batch"}, files=files)
        headers = {**self._headers, "Content-Type": request.headers["Content-Type"]}
        content = await self.service.answer(f"{self._base}/files", request.read(), headers)
        return str(self.service.document(content)["id"])

    def _reply(self, document: Any, characters: int, share: float = 1.0) -> Reply:
        try:
            content, beside, refusal, end, listed = _parts_of(document, self.responses)
            tokens = tuple((str(entry["token"]), float(entry["logprob"])) for entry in listed)
            used = self._used(document.get("usage") or {}, characters, share)
        except (KeyError, IndexError, TypeError, AttributeError, ValueError):
            if said := isinstance(document, dict) and document.get("error"):
                raise BadOutput(f"the endpoint answers with an error: {said}") from None
            wanted = "output" if self.responses else "choices[0].message"
            raise BadOutput(f"no answer of a chat endpoint, which has {wanted}: {shown(document)}") from None
        content, beside, refusal = (
            self.service.without_secrets(str(text or ""), least=8) for text in (content, beside, refusal)
        )
        answer, aloud = without_reasoning(content)
        reasoning = "\n".join(filter(None, [beside.strip(), aloud]))
        details = {name: value for name, value in (("reasoning", reasoning), ("used", used)) if value}
        what = "only reasoning came, which" if reasoning and not answer.strip() else "the answer"
        if refusal or end == "content_filter":
            problem = "the model refused to answer" if refusal else "the endpoint's content filter kept the answer back"
        elif end in ("length", "max_output_tokens"):
            problem = f"{what} was cut off at the most tokens that it may have (finish_reason length)"
        elif not answer.strip():
            problem = f"{what} is {'no answer' if reasoning else 'empty'}"
        elif _is_cut(used.get("in", 0), characters):
            read = f"the server read {used['in']:,} tokens of a prompt of {characters:,} characters"
            problem = f"{read}, so it cuts prompts; give the model a longer context (num_ctx of Ollama)"
        else:
            return Reply(answer, tokens, details)
        return Reply(refusal or content or reasoning, (), details, problem)

    def _used(self, usage: Mapping[str, Any], characters: int, share: float) -> dict[str, Any]:
        """Return the tokens that an answer says it took, in, out, and of these for reasoning, and what they cost."""
        sent, written = ("input", "output") if self.responses else ("prompt", "completion")
        numbers = {"in": usage.get(f"{sent}_tokens"), "out": usage.get(f"{written}_tokens")}
        numbers["reasoning"] = (usage.get(f"{written}_tokens_details") or {}).get("reasoning_tokens")
        used: dict[str, Any] = {name: value for name, value in numbers.items() if isinstance(value, int) and value}
        if used and (price := self.endpoint.price):
            cost = share * price.of(1, characters, used.get("in"), used.get("out"))
            used |= {"cost": cost, "currency": price.currency}
        return used


# The system.


class Turn(UserModel):
    user: str
    assistant: str


class Prompt(UserModel):
    system: str | None = None
    user: str | None = None


class ChatFile(Endpoint):
    """The content of a file."""

    task: TaskName = "sentiment"
    prompt: Prompt = Prompt()  # What is absent is audit's own prompt for the task
    examples: Annotated[tuple[Turn, ...], Strict(False)] = ()
    batch: Annotated[float, Field(gt=0, le=1)] | None = None
    """The share of the price that the service's batches take: it is asked through these; None: request by request."""


class Chat(OverHttp):
    """The model that a TOML file describes, as a `System` and an `AsynchronousSystem`: one input a conversation.

    What the model refuses, leaves unfinished or says unclearly is a stored error, with what it wrote as the text beside
    it; what it reasoned and the tokens that it used are kept in the details of the output. Raises BadFile.
    """

    def __init__(self, path: str, file: ChatFile | None = None):
        self.file = file = file or read_system_file(ChatFile, path, "chat")
        self.client, self.task = ChatClient(path, file), get_task(file.task)
        super().__init__(path, file, self.client.service, (file.task,), _BATCH if file.batch else 1)
        if file.batch:
            self.batch_seconds, self.batched = 3_600.0, True
            if file.price:
                parts = ("call", "characters", "input_tokens", "answers")
                less = {part: file.batch * getattr(file.price, part) for part in parts}
                self.price = file.price.model_copy(update=less)
        self.summary = f"language model {file.model} over HTTP, {file.url}"
        several, answers = getattr(self.task, "parts", ()), self.task.question_kind == "pair"
        self.key = _KEYS.get(file.task, "labels" if several else "answer" if answers else "label")
        theirs = {label: word for word, label in reversed(file.labels.items())}
        named = (several or self.task.labels) if self.key in ("label", "labels") else ()
        self.words = {theirs.get(label, label): label for label in named}
        """The labels that a model names, by the words that it has for them; empty where an output is no label."""
        label: dict[str, Any] = {"type": "string", "enum": list(self.words)}
        forms = {"label": label, "labels": {"type": "array", "items": label}, "score": {"type": "number"}}
        self._form = forms.get(self.key, {"type": "string"})
        table = wordings()["text" if file.structured == "text" else "json"]
        self._answer = filled(table[self.key], {"labels": ", ".join(self.words)})
        base, own = "several" if several else base_of(file.task), file.prompt.model_dump(exclude_none=True)
        if len(own) < 2 and base not in wordings() and (answers or self.task.texts > 2):
            raise AuditError(f"the task {base!r} has no prompt yet; write [prompt] with system and user")
        general = wordings()["single" if self.task.texts == 1 else "pair"]
        self._templates: Mapping[str, str] = {**wordings().get(base, general), **own}
        self._turns = [turn.model_dump() for turn in file.examples]
        refuse(path, self._mistakes(), HELP)
        about = {"task": file.task, "prompt": self._templates, "answer": self._answer, "examples": self._turns}
        self.settings = {**self.client.settings, **about, "labels": file.labels, **self.spoken_settings}
        if self.deterministic is None and self.client.sampling.get("temperature") != 0:
            self.deterministic = False

    def _mistakes(self) -> Iterator[tuple[str, str]]:
        """Yield where the task, labels and prompts of the file do not fit."""
        file, named = self.file, list(self.words.values())
        if self.key == "label" and not named:
            yield "task", f'{file.task!r} does not say the labels; write them, as in "{file.task}/finance,sports"'
        if file.labels and (missing := [label for label in named if label not in file.labels.values()]):
            yield "labels", f"misses {', '.join(missing)}; it must have a word for each of {', '.join(named)}"
        texts = [f"<{place}>" for place in range(self.task.texts)]
        for role in self._templates:
            try:
                said = self._said(role, Input.of(*texts, target="en" if file.task == "translation" else None))
            except AuditError as problem:
                yield f"prompt.{role}", str(problem)
            else:
                if role == "user" and not all(text in said for text in texts):
                    yield "prompt.user", "must have {text}, where the input goes; of a pair {text_a} and {text_b}"

    def messages(self, item: Input) -> list[Message]:
        """Return the conversation that asks for the output of an input: the system's words, the examples, the input."""
        messages = [("system", self._said("system", item))] if self._templates["system"].strip() else []
        messages += [turn for example in self._turns for turn in example.items()]
        return [{"role": role, "content": said} for role, said in (*messages, ("user", self._said("user", item)))]

    def _said(self, role: str, item: Input) -> str:
        labels = {"labels": ", ".join(self.words)} if self.words else {}
        general = {"task_question": self.task.question, "answer": self._answer}
        return filled(self._templates[role], values_of(self.task, item) | labels | general)

    def count_characters(self, inputs: Sequence[Input]) -> int:
        """Count the characters that are sent for inputs, prompts and examples among them, which they cost."""
        return sum(_characters(self.messages(item)) for item in inputs)

    async def ask(self, inputs: Sequence[Input]) -> list[Output]:
        to_ask = [item for item in inputs if not self.lacks(item)]
        conversations = [self.messages(item) for item in to_ask]
        if self.file.batch and len(to_ask) > _FEW:
            replies = await self.client.ask_batch(conversations, self.key, self._form, self.file.batch)
        else:
            replies = [await self.client.ask(messages, self.key, self._form) for messages in conversations]
        outputs = iter(map(self._answered, replies))
        return [Output() if self.lacks(item) else next(outputs) for item in inputs]

    def _answered(self, reply: Reply) -> Output:
        if reply.problem:
            return Output(error=reply.problem, text=reply.text, details=reply.details)
        try:
            return replace(self._output(reply), details=reply.details)
        except NoAnswer as problem:
            return Output(error=str(problem), text=problem.raw, details=reply.details)

    def _output(self, reply: Reply) -> Output:
        """Return the output in an answer. Raises NoAnswer where there is none."""
        if self.key == "label":
            label = choice_in(reply.text, self.words)
            word = next(word for word, meaning in self.words.items() if meaning == label)
            return Output(label, reply.probability(word))
        if self.key == "labels":
            task: Any = self.task
            return Output(task.together(choices_in(reply.text, self.words)))
        value = value_in(reply.text, self.key, bare=self.key != "score")
        if self.key == "score":
            bare = _BEFORE.sub("", value.strip(_MARKS)) if isinstance(value, str) else value
            score = float(bare) if isinstance(bare, str) and re.fullmatch(r"\d+(\.\d+)?", bare) else number(bare)
            if score is None or not 0 <= score <= 1:
                raise NoAnswer("the answer is no number from 0 to 1", reply.text)
            return Output(score=score)
        if value is None and self.key == "answer":
            return Output(text=UNANSWERABLE)
        if not isinstance(value, str) or not value.strip():
            raise NoAnswer(f"the {self.key} is empty, or no text", reply.text)
        return Output(text=value)
