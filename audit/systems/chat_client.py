"""Asking a language model behind an OpenAI-compatible chat endpoint (`POST .../chat/completions`).

Source of the wire format: OpenAI's API reference, "Create chat completion"; vLLM, llama.cpp's server, Ollama, LM
Studio, LiteLLM, Azure OpenAI and others speak it. `Endpoint` is what a file says of one; a system
(`audit.systems.chat`) and a judge are both a `ChatClient` and words to send it.
"""

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit, urlunsplit

from pydantic import AfterValidator, Field, Strict, model_validator

from audit.errors import BadOutput, Declined
from audit.systems.remote_file import (
    VARIABLE,
    Headers,
    Remote,
    Text,
    checked_headers,
    checked_url,
    kind,
    refuse_secret,
    strings,
)
from audit.systems.service import Clients, Service, with_variables
from audit.user_models import Allowed, Mistake

PATH = "/chat/completions"
_OURS = ("messages", "model", "stream", "n", "response_format", "tools", "tool_choice")
"""Parts of a request that the file says with keys of its own, or that answers could not be read with."""
_UNALLOWED = re.compile(r"HTTP (?:401|403|407)\b")
"""The beginning of what a service says whose key is wrong or may not do this."""
_TAG = re.compile(
    r"<(?P<a>/)?(?:\w+:)?(?:think|thinking|thought|reasoning)>|\[(?P<b>/)?think\]|◁(?P<c>/)?think▷"
    r"|<\|(?:begin|start|(?P<d>end))_(?:of_)?(?:thought|thinking)\|>",
    re.IGNORECASE,
)
"""A tag around what models that reason aloud write before their answer; of a closing one a group is there."""
_FINAL = re.compile(r"<\|channel\|>\s*final\b.*?<\|message\|>|(?<=\S)assistantfinal", re.DOTALL)
"""The beginning of the answer of models that write in channels (OpenAI's Harmony format); the second where the endpoint
took the special tokens out."""
_CHANNEL = re.compile(r"<\|channel\|>|\A\s*(?:analysis|commentary)(?=[A-Z])")
_END = re.compile(r"<\|(?:return|end|call|start)\|>.*", re.DOTALL)

Role = Literal["system", "user", "assistant"]
Message = Mapping[str, str]
"""A part of a conversation: `{"role": "user", "content": "..."}`."""


class NoAnswer(BadOutput):
    """The model was asked and gave no answer that can be used: it refused, was cut off, or wrote something else.

    `raw` is what it wrote, as it wrote it. Asking again would cost again, and may say the same.
    """

    def __init__(self, reason: str, raw: str = ""):
        super().__init__(reason)
        self.raw = raw


@dataclass(frozen=True)
class Form:
    """The JSON object that an answer has to be: its JSON schema, under a name that endpoints want for it.

    >>> Form.of(label=("right", "wrong")).schema["properties"]["label"]["enum"]
    ['right', 'wrong']
    """

    schema: Mapping[str, Any]
    name: str = "answer"

    @classmethod
    def of(cls, **values: Sequence[str] | Sequence[Sequence[str]] | type) -> "Form":
        """The form with these keys: each is one of some texts, a list of some texts where these stand in a list of
        their own, or a `str` or a `float`."""
        properties = {key: _schema_of(value) for key, value in values.items()}
        return cls(
            {"type": "object", "properties": properties, "required": list(values), "additionalProperties": False}
        )

    @staticmethod
    def written(**values: object) -> str:
        """An answer as such an object, for examples.

        >>> Form.written(label="right")
        '{"label": "right"}'
        """
        return json.dumps(values, ensure_ascii=False)


def _schema_of(value: Any) -> dict[str, Any]:
    if isinstance(value, type):
        return {"type": "number" if value is float else "string"}
    if value and not isinstance(value[0], str):
        return {"type": "array", "items": _schema_of(value[0])}
    return {"type": "string", "enum": list(value)}


@dataclass(frozen=True)
class Reply:
    """What a model wrote. `tokens` are pieces of all that it wrote, each with the logarithm of its probability, where
    the endpoint was asked for them and says them: the text, what it reasoned before, the token that ends it."""

    text: str
    tokens: tuple[tuple[str, float], ...] = ()
    reasoning: str = ""

    def probability(self, part: str) -> float | None:
        """The probability of the last place in the text that reads so, as the product of its tokens'; None where tokens
        are absent or do not spell the text.

        >>> Reply("positive", tokens=(("pos", math.log(0.8)), ("itive", 0.0), ("<end>", -1.0))).probability("positive")
        0.8
        """
        before = "".join(token for token, _ in self.tokens).rfind(self.text)
        start = self.text.rfind(part)
        if before < 0 or start < 0 or not part:
            return None
        start += before
        total, at = 0.0, 0
        for token, logarithm in self.tokens:
            if at < start + len(part) and at + len(token) > start:
                total += logarithm
            at += len(token)
        return round(min(1.0, math.exp(total)), 6)


def without_reasoning(text: str) -> tuple[str, str]:
    """The answer in what a model wrote, and what it reasoned before; the answer is empty where only reasoning came.

    It stands behind the last closing tag, whether there is an opening one or not, or in the channel `final`.

    >>> without_reasoning("Is it bad? No.</think> good"), without_reasoning("good")
    (('good', 'Is it bad? No.'), ('good', ''))
    >>> without_reasoning("<think>Is it bad?")
    ('', 'Is it bad?')
    """
    if _CHANNEL.search(text):
        *_, final = [None, *_FINAL.finditer(text)]
        if final is None:
            return "", text.strip()
        return _END.sub("", text[final.end() :]).strip(), text[: final.start()].strip()
    *_, tag = [None, *_TAG.finditer(text)]
    if tag is None:
        return text, ""
    place = tag.end() if any(tag.groups()) else len(text)
    return text[place:].strip(), _TAG.sub("", text[:place]).strip()


Structured = Literal["schema", "json", "tools", "text"]
"""How an endpoint is told the form of an answer: by a JSON schema that it keeps to, by asking for any JSON object, as
the call of a function with that schema, or by words alone."""


def _checked_key(key: str) -> str:
    if not VARIABLE.search(key):
        refuse_secret("", "key", key)
    return key


def _checked_request(request: dict[str, Any]) -> dict[str, Any]:
    if ours := next((name for name in _OURS if name in request), None):
        raise Mistake(f"{ours!r} cannot stand here; the file's own keys say it", f"request.{ours}")
    try:
        json.dumps(request, allow_nan=False)
    except (TypeError, ValueError):
        raise Mistake("has a date or a number that JSON does not know") from None
    for name, value in strings(request):
        refuse_secret(f"request.{name}", name, value)
    return request


Stops = Annotated[tuple[str, ...], Strict(False), Allowed('a list of texts, for example ["\\n"]', bool)]


class Endpoint(Remote):
    """What a file says of a chat endpoint, whatever it is asked: a model at an address, and how it is to answer."""

    url: Annotated[Text, AfterValidator(checked_url)] = Field(
        description='it is the address of the endpoint, with or without "/chat/completions"'
    )
    model: Text = Field(description="it is what the endpoint calls the model")
    timeout: float = Field(120.0, ge=0.01, le=86_400)
    api_key: Annotated[str, AfterValidator(_checked_key)] | None = Field(None, repr=False)
    """Sent as `Authorization: Bearer ...`; `${NAME}` is taken from the environment."""
    headers: Annotated[Headers, AfterValidator(checked_headers)] = Field({}, repr=False)
    structured: Structured = "schema"
    temperature: Annotated[float, Field(ge=0, le=2)] | Literal["default"] = 0.0
    """"default": it is not sent, and the endpoint has its own."""
    top_p: Annotated[float, Field(gt=0, le=1)] | None = None
    seed: int | None = None
    max_tokens: Annotated[int, Field(ge=1, le=1_000_000)] | None = None
    stop: Stops | None = None
    logprobs: bool = False
    """Whether to ask for probabilities of tokens, which become scores."""
    request: Annotated[dict[str, Any], AfterValidator(_checked_request)] = Field({}, repr=False)
    """More of what is sent, as it is."""

    @model_validator(mode="after")
    def _check_headers(self) -> "Endpoint":
        if self.api_key and any(name.casefold() == "authorization" for name in self.headers):
            raise Mistake("is said by headers.Authorization, too; leave one of them out", "api_key")
        return self

    @property
    def address(self) -> str:
        """The address that requests go to, with `${NAME}` in place of secrets.

        >>> Endpoint(name="a", version="1", model="m", url="http://127.0.0.1:8000/v1/").address
        'http://127.0.0.1:8000/v1/chat/completions'
        """
        parts = urlsplit(self.url)
        path = parts.path.rstrip("/")
        return urlunsplit(parts._replace(path=path if path.endswith(PATH) else path + PATH))

    @property
    def sent_headers(self) -> dict[str, str]:
        """The headers of each request, with `${NAME}` in place of secrets."""
        return {**self.headers, **({"Authorization": f"Bearer {self.api_key}"} if self.api_key else {})}

    @property
    def sampling(self) -> dict[str, Any]:
        """What a request says of how tokens are chosen, and whatever else the file adds to it."""
        values = {
            "temperature": None if self.temperature == "default" else self.temperature,
            "top_p": self.top_p,
            "seed": self.seed,
            "max_tokens": self.max_tokens,
            "stop": list(self.stop) if self.stop else None,
            "logprobs": self.logprobs or None,
        }
        return {**{name: value for name, value in values.items() if value is not None}, **self.request}

    @property
    def settings(self) -> dict[str, object]:
        """What may change an answer, for the database: neither secrets nor the pace."""
        return {"url": self.url, "model": self.model, "structured": self.structured, **self.sampling}

    @property
    def variables(self) -> list[str]:
        """The environment variables that the file names, sorted."""
        texts = [self.url, *self.sent_headers.values()]
        return sorted({name for text in texts for name in VARIABLE.findall(text)})


class ChatClient:
    """The way to a model: `ask` sends one conversation.

    `file` is what messages call the file that has the `endpoint`. Creating it asks nothing.
    """

    def __init__(self, file: str, endpoint: Endpoint):
        self.file, self.endpoint = file, endpoint
        self.service = Service(file, endpoint.address, endpoint.variables, endpoint.timeout)

    def needs(self) -> str | None:
        """None when the model can be asked; else what is missing here: the HTTP client, or a variable."""
        return self.service.needs()

    def clients(self) -> Clients:
        """Connections for `ask`, to be closed by their owner (`async with`). Raises NotInstalled where something is
        missing."""
        return self.service.clients(self.endpoint.sent_headers)

    async def ask(self, clients: Clients, messages: Sequence[Message], form: Form | None = None) -> Reply:
        """The model's answer to one conversation, sent once; with a form, its text is to be such a JSON object (what it
        is in fact, whoever reads it finds out).

        Raises Unanswered and Declined as every service does, BadOutput for what is no answer of a chat endpoint, and
        NoAnswer, which has the text, where the model refused or did not come to an end.
        """
        sent = json.dumps(self.body(messages, form)).encode()
        with self.service.masked():
            address = with_variables(self.endpoint.address)
            try:
                content = await self.service.content(clients, "POST", address, sent)
            except Declined as problem:
                raise self._key_named(problem) from None
            return self._reply(self.service.document(content))

    def _key_named(self, problem: Declined) -> Declined:
        """An answer that a request is not allowed, with the environment variable to look at; others as they are."""
        variables = self.endpoint.variables
        if not variables or not (match := _UNALLOWED.match(str(problem))):
            return problem
        many = "s" if len(variables) > 1 else ""
        look = f"look at the environment variable{many} {', '.join(variables)}, which {self.file} names"
        return Declined(f"{match[0]} ({look}){str(problem)[match.end() :]}", problem.inputs, problem.final)

    def body(self, messages: Sequence[Message], form: Form | None = None) -> dict[str, Any]:
        """The JSON of a request."""
        body: dict[str, Any] = {"model": self.endpoint.model, "messages": list(messages), **self.endpoint.sampling}
        if form is None or self.endpoint.structured == "text":
            return body
        if self.endpoint.structured == "json":
            return {**body, "response_format": {"type": "json_object"}}
        if self.endpoint.structured == "tools":
            function = {"name": form.name, "description": "Give the answer.", "parameters": dict(form.schema)}
            return {
                **body,
                "tools": [{"type": "function", "function": function}],
                "tool_choice": {"type": "function", "function": {"name": form.name}},
            }
        schema = {"name": form.name, "strict": True, "schema": dict(form.schema)}
        return {**body, "response_format": {"type": "json_schema", "json_schema": schema}}

    def _reply(self, document: Any) -> Reply:
        """The answer in a document. Raises BadOutput and NoAnswer."""
        choices = document.get("choices") if isinstance(document, dict) else None
        choice = choices[0] if isinstance(choices, list) and choices and isinstance(choices[0], dict) else {}
        written = choice.get("message")
        if not isinstance(written, dict):
            said = document.get("error") if isinstance(document, dict) else None
            if said:
                words = self.service.words(json.dumps(said, ensure_ascii=False).encode())
                raise BadOutput(f"the endpoint answers with an error: {words}")
            raise BadOutput(f"this is no answer of a chat endpoint, which has choices[0].message, but {kind(document)}")
        text = self.service.without_secrets(_text_of(written), least=8)
        answer, aloud = without_reasoning(text)
        beside = self.service.without_secrets(_reasoning_of(written), least=8).strip()
        reasoning = "\n".join(filter(None, [beside, aloud]))
        only = bool(reasoning) and not answer.strip()
        if refusal := written.get("refusal"):
            raise NoAnswer("the model refused to answer", self.service.without_secrets(str(refusal), least=8))
        end = choice.get("finish_reason")
        if end == "content_filter":
            raise NoAnswer("the endpoint's content filter kept the answer back", text)
        if end == "length":
            what = "only reasoning came, which" if only else "the answer"
            reason = f"{what} was cut off at the most tokens that it may have (finish_reason length)"
            raise NoAnswer(reason, text or reasoning)
        if not answer.strip():
            reason = "only reasoning came, and no answer" if only else "the model's answer is empty"
            raise NoAnswer(reason, text or reasoning)
        return Reply(answer, _tokens(choice.get("logprobs")), reasoning)


def _text_of(written: Mapping[str, Any]) -> str:
    """What a model wrote: its content, in one piece or several, or the arguments of the function that it calls."""
    calls = written.get("tool_calls")
    if isinstance(calls, list) and calls and isinstance(calls[0], dict):
        arguments = (calls[0].get("function") or {}).get("arguments")
        return arguments if isinstance(arguments, str) else json.dumps(arguments)
    content = written.get("content")
    if isinstance(content, list):
        content = "".join(str(part.get("text", "")) for part in content if _is_text(part))
    if content is not None and not isinstance(content, str):
        raise BadOutput(f"the content of a message must be a text, the answer has {kind(content)}")
    return content or ""


def _is_text(part: Any) -> bool:
    return isinstance(part, dict) and part.get("type", "text") == "text"


def _reasoning_of(written: Mapping[str, Any]) -> str:
    """What a model reasoned, where the endpoint tells it apart: beside the content, or in parts of it."""
    for beside in (written.get("reasoning_content"), written.get("reasoning")):
        if isinstance(beside, str):
            return beside
    content = written.get("content")
    parts = [part for part in content if not _is_text(part)] if isinstance(content, list) else []
    return json.dumps(parts, ensure_ascii=False) if parts else ""


def _tokens(logprobs: Any) -> tuple[tuple[str, float], ...]:
    listed = logprobs.get("content") if isinstance(logprobs, dict) else None
    if not isinstance(listed, list):
        return ()
    pairs = [(entry.get("token"), entry.get("logprob")) for entry in listed if isinstance(entry, dict)]
    numbers = [(token, value) for token, value in pairs if isinstance(token, str) and isinstance(value, int | float)]
    return tuple((token, float(value)) for token, value in numbers) if len(numbers) == len(listed) else ()
