"""Ask a language model behind an OpenAI-compatible chat endpoint (`POST .../chat/completions`).

Source of the wire format: OpenAI's API reference, "Create chat completion"; vLLM, llama.cpp's server, Ollama, LM
Studio, LiteLLM, Azure OpenAI and others speak it. A system (`audit.systems.chat`) and a judge (`audit.systems.judge`)
are both a `ChatClient` and words to send it. OpenAI's own client is not used: it takes 3 ms of the processor for a
request, three times what httpx does, so that a hundred requests at once wait for it.
"""

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit, urlunsplit

from pydantic import AfterValidator, Field, Strict, model_validator

from audit.errors import BadOutput
from audit.systems.http import checked_json
from audit.systems.remote_file import VARIABLE, Headers, Remote, Text, Url, kind, refuse_secret
from audit.systems.service import Service, with_variables
from audit.user_models import Allowed, Mistake

PATH = "/chat/completions"
_OURS = ("messages", "model", "stream", "n", "response_format", "tools", "tool_choice")
"""Parts of a request that the file says with keys of its own, or that answers could not be read with."""
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

Message = Mapping[str, str]
"""A part of a conversation: `{"role": "user", "content": "..."}`."""
Structured = Literal["schema", "json", "tools", "text"]
"""How an endpoint is told the form of an answer: by a JSON schema that it keeps to, by asking for any JSON object, as
the call of a function with that schema, or by words alone."""


class NoAnswer(BadOutput):
    """The model was asked and gave no answer that can be used: it refused, was cut off, or wrote something else.

    `raw` is what it wrote, as it wrote it. Asking again would cost again, and may say the same.
    """

    def __init__(self, reason: str, raw: str):
        super().__init__(reason)
        self.raw = raw


def _checked_key(key: str) -> str:
    if not VARIABLE.search(key):
        refuse_secret("", "key", key)
    return key


def _checked_request(request: dict[str, Any]) -> dict[str, Any]:
    if ours := next((name for name in _OURS if name in request), None):
        raise Mistake(f"{ours!r} cannot stand here; the file's own keys say it", f"request.{ours}")
    return dict(checked_json(request))


class Endpoint(Remote):
    """What a file says of a chat endpoint, whatever it is asked: a model at an address, and how it is to answer."""

    url: Url = Field(description='it is the address of the endpoint, with or without "/chat/completions"')
    model: Text = Field(description="it is what the endpoint calls the model")
    timeout: float = Field(120.0, ge=0.01, le=86_400)
    api_key: Annotated[str, AfterValidator(_checked_key)] | None = Field(None, repr=False)
    """Sent as `Authorization: Bearer ...`; `${NAME}` is taken from the environment."""
    headers: Headers = Field({}, repr=False)
    structured: Structured = "schema"
    temperature: Annotated[float, Field(ge=0, le=2)] | Literal["default"] = 0.0
    """"default": it is not sent, and the endpoint has its own."""
    top_p: Annotated[float, Field(gt=0, le=1)] | None = None
    seed: int | None = None
    max_tokens: Annotated[int, Field(ge=1, le=1_000_000)] | None = None
    stop: Annotated[tuple[str, ...], Strict(False), Allowed('a list of texts, for example ["\\n"]', bool)] | None = None
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
        settings = {"url": self.url, "model": self.model, "structured": self.structured, "headers": self.headers}
        return {**settings, **self.sampling}

    def body(self, messages: Sequence[Message], schema: Mapping[str, Any]) -> dict[str, Any]:
        """Return the JSON of a request for an answer that is an object of this schema."""
        form: dict[str, Any] = {}
        if self.structured == "json":
            form = {"response_format": {"type": "json_object"}}
        elif self.structured == "tools":
            function = {"name": "answer", "description": "Give the answer.", "parameters": schema}
            choice = {"type": "function", "function": {"name": "answer"}}
            form = {"tools": [{"type": "function", "function": function}], "tool_choice": choice}
        elif self.structured == "schema":
            named = {"name": "answer", "strict": True, "schema": schema}
            form = {"response_format": {"type": "json_schema", "json_schema": named}}
        return {"model": self.model, "messages": list(messages), **self.sampling, **form}


def schema_of(key: str, value: Mapping[str, Any]) -> dict[str, Any]:
    """Return the JSON schema of an object with one key, whose value is of the schema `value`."""
    return {"type": "object", "properties": {key: value}, "required": [key], "additionalProperties": False}


@dataclass(frozen=True)
class Reply:
    """What a model wrote. `tokens` are pieces of all that it wrote, each with the logarithm of its probability, where
    the endpoint was asked for them and says them: the text, what it reasoned before, the token that ends it."""

    text: str
    tokens: tuple[tuple[str, float], ...] = ()
    reasoning: str = ""

    def probability(self, part: str) -> float | None:
        """Return the probability of the last place in the text that reads so, as the product of its tokens'; None where
        tokens are absent or do not spell the text.

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


class ChatClient:
    """The way to a model: `ask` sends one conversation. `file` is what messages call the file that has the `endpoint`.
    Creating it asks nothing."""

    def __init__(self, file: str, endpoint: Endpoint):
        self.endpoint = endpoint
        texts = [endpoint.url, *endpoint.sent_headers.values()]
        variables = [name for text in texts for name in VARIABLE.findall(text)]
        self.service = Service(file, endpoint.address, variables, endpoint.timeout)

    async def ask(self, messages: Sequence[Message], schema: Mapping[str, Any]) -> Reply:
        """Return the model's answer to one conversation, sent once; its text is to be an object of the schema (what it
        is in fact, whoever reads it finds out).

        Raises Unanswered and Declined as every service does, BadOutput for what is no answer of a chat endpoint, and
        NoAnswer, which has the text, where the model refused or did not come to an end.
        """
        service, endpoint = self.service, self.endpoint
        sent = json.dumps(endpoint.body(messages, schema)).encode()
        headers = {name: with_variables(value) for name, value in endpoint.sent_headers.items()}
        with service.masked():
            content = await service.content("POST", with_variables(endpoint.address), sent, headers)
            return self._reply(service.document(content))

    def _reply(self, document: Any) -> Reply:
        """Return the answer in a document. Raises BadOutput and NoAnswer."""
        choices = document.get("choices") if isinstance(document, dict) else None
        choice = choices[0] if isinstance(choices, list) and choices and isinstance(choices[0], dict) else {}
        written = choice.get("message")
        if not isinstance(written, dict):
            if said := isinstance(document, dict) and document.get("error"):
                words = self.service.words(json.dumps(said, ensure_ascii=False).encode())
                raise BadOutput(f"the endpoint answers with an error: {words}")
            raise BadOutput(f"this is no answer of a chat endpoint, which has choices[0].message, but {kind(document)}")
        content, beside = (self.service.without_secrets(text, least=8) for text in _texts_of(written))
        answer, aloud = without_reasoning(content)
        reasoning = "\n".join(filter(None, [beside.strip(), aloud]))
        raw, end = content or reasoning, choice.get("finish_reason")
        if refusal := written.get("refusal"):
            raise NoAnswer("the model refused to answer", self.service.without_secrets(str(refusal), least=8))
        if end == "content_filter":
            raise NoAnswer("the endpoint's content filter kept the answer back", content)
        only = bool(reasoning) and not answer.strip()
        if end == "length":
            what = "only reasoning came, which" if only else "the answer"
            raise NoAnswer(f"{what} was cut off at the most tokens that it may have (finish_reason length)", raw)
        if not answer.strip():
            raise NoAnswer("only reasoning came, and no answer" if only else "the model's answer is empty", raw)
        return Reply(answer, _tokens_of(choice.get("logprobs")), reasoning)


def _texts_of(written: Mapping[str, Any]) -> tuple[str, str]:
    """What a model wrote, in one piece or several, or as the arguments of the function that it calls; and what it
    reasoned, where the endpoint tells it apart: beside the content, or in parts of it."""
    content, calls = written.get("content"), written.get("tool_calls")
    others: list[Any] = []
    if isinstance(content, list):
        texts = [part for part in content if isinstance(part, dict) and part.get("type", "text") == "text"]
        others = [part for part in content if part not in texts]
        content = "".join(str(part.get("text", "")) for part in texts)
    beside = [written.get(name) for name in ("reasoning_content", "reasoning")]
    reasoning = next((text for text in beside if isinstance(text, str)), None)
    if reasoning is None:
        reasoning = json.dumps(others, ensure_ascii=False) if others else ""
    if isinstance(calls, list) and calls and isinstance(calls[0], dict):
        arguments = (calls[0].get("function") or {}).get("arguments")
        content = arguments if isinstance(arguments, str) else json.dumps(arguments)
    if content is not None and not isinstance(content, str):
        raise BadOutput(f"the content of a message must be a text, the answer has {kind(content)}")
    return content or "", reasoning


def _tokens_of(logprobs: Any) -> tuple[tuple[str, float], ...]:
    listed = logprobs.get("content") if isinstance(logprobs, dict) else None
    if not isinstance(listed, list):
        return ()
    try:
        return tuple((str(entry["token"]), float(entry["logprob"])) for entry in listed)
    except (TypeError, KeyError, ValueError):
        return ()


def without_reasoning(text: str) -> tuple[str, str]:
    """Return the answer in what a model wrote, and what it reasoned before; the answer is empty where only reasoning
    came. It stands behind the last closing tag, whether there is an opening one or not, or in the channel `final`.

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
