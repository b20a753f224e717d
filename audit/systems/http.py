"""A system that answers over HTTP, described by a TOML file and named `http:FILE.toml`; and what every system shares
that asks another machine.

Three lines are enough for a service that takes `{"texts": [...]}` and returns `{"outputs": [{"label": ..., "score":
...}, ...]}` (docs/reference/systems.md has the whole format)::

    name = "acme"
    version = "2026-11"
    url = "http://127.0.0.1:8000/sentiment"
"""

import asyncio
import html
import json
import logging
import os
import re
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from email.utils import parsedate_to_datetime
from functools import cache, partial
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple
from urllib.parse import quote, quote_plus

from pydantic import AfterValidator, Field, Strict

from audit.errors import AuditError, BadOutput, Declined, NotInstalled, Unanswered, install_line, installed_extras
from audit.files import parse_json
from audit.systems.asking import asking_of
from audit.systems.base import missing
from audit.systems.foreign import number, tell_heard
from audit.systems.remote_file import (
    EVERY,
    HELP,
    VARIABLE,
    Headers,
    Languages,
    Pairs,
    Remote,
    TaskName,
    Url,
    Words,
    kind,
    mistaken_labels,
    read_system_file,
    refuse_secret,
    strings,
)
from audit.tasks import Input, Output, get_task, labels_together, spellings, takes_several
from audit.user_models import Allowed, Mistake, refuse

if TYPE_CHECKING:
    import httpx

LARGEST = 16 * 1024 * 1024  # Bytes of an answer; what is longer is an error, whatever the service says of its length
WORDS = 300  # Characters kept of what a service says beside an error
_AGAIN = (408, 425, 429)
"""Statuses below 500 after which a request is made again (RFC 9110, RFC 6585, RFC 8470)."""
_ABOUT_INPUTS = (400, 413, 414, 422)
"""Statuses that say that something is wrong with what was sent: other inputs may do."""
_SPENT = r"(?i:insufficient[ _](?:quota|balance|credits?)|billing_(?:hard_limit|not_active))"
"""What services say, beside status 402, where the account has no money left: asking again cannot help."""
_ADVICE = (
    (rf"HTTP 402\b|{_SPENT}", "add credit to the account, or change the key"),
    (r"HTTP 404\b.*(?i:\bmodel\b)|(?i:model[ _](?:not[ _](?:found|exist)|id\b))", "check the model"),
    (r"only reasoning came", "raise max_tokens, or lower the effort,"),
    (r"HTTP (3\d\d|404|405|410)\b|no connection|not JSON|the answer is empty", "check the url"),
    (r"no answer within", "check the url, and the timeout,"),
    (r"label '", "name that label in labels"),
    (r"HTTP 4(00|13|14|15|22)\b", "check the request"),
    (r"BadOutput", "check the answer"),
)
"""Errors of every request, and the part of a file to look at."""


class Service:
    """A service, with the environment variables that are in `texts` of requests to it: `file` names them in messages,
    `timeout` is the seconds that a request may take. Their values are read when requests are made, kept nowhere else,
    and taken out of every message and output, as `tokens` are, other secrets by what stands in their place.
    """

    def __init__(self, file: str, texts: Iterable[str], timeout: float):
        self.file, self._timeout = file, timeout
        self.variables = sorted({name for text in texts for name in VARIABLE.findall(text)})
        self.tokens: dict[str, str] = {}
        # Clients with one connection each: one client looks at all of its hundred connections for each request.
        self._idle: list[httpx.AsyncClient] = []

    def needs(self) -> str | None:
        """Return what is missing, the HTTP client or a variable of the environment; None when it can be asked."""
        if any(missing(module, "") is not None for module in ("httpx", "tenacity", "aiolimiter")):
            return install_line("http")
        for name in self.variables:
            value = os.environ.get(name, "").strip()
            if not value:
                return f"set the environment variable {name}, which {self.file} names"
            if not value.isascii() or not value.isprintable():
                return f"the environment variable {name} must be printable ASCII, without line breaks"
        return None

    async def exchange(
        self, address: str, sent: bytes, headers: Mapping[str, str], method: str = "POST"
    ) -> "tuple[int, Mapping[str, str], bytes]":
        """Return status, headers and content of the answer to one request. Raises Unanswered where there is none,
        BadOutput for one that cannot be read, NotInstalled where something is missing; call it in `masked`."""
        import httpx

        client = self._idle.pop() if self._idle else self._new_client()
        filled = {name: with_variables(value) for name, value in headers.items()}
        try:
            async with (
                asyncio.timeout(self._timeout),
                client.stream(method, with_variables(address), content=sent, headers=filled) as response,
            ):
                content = bytearray()
                async for part in response.aiter_bytes():
                    content += part
                    if len(content) > LARGEST:
                        raise BadOutput(f"the answer is longer than {LARGEST:,} bytes")
        except BaseException as problem:
            await client.aclose()  # the rest of an answer may be on its connection
            if isinstance(problem, TimeoutError | httpx.TimeoutException):
                raise Unanswered(f"no answer within {self._timeout:g} s") from None
            if isinstance(problem, httpx.DecodingError | httpx.InvalidURL | httpx.UnsupportedProtocol):
                raise BadOutput(f"it cannot be asked or read ({problem})") from None
            if isinstance(problem, httpx.TransportError):
                raise Unanswered(f"no connection ({type(problem).__name__}: {problem})") from None
            raise
        client.cookies.clear()  # no answer may hang on what was asked before
        self._idle.append(client)
        return response.status_code, response.headers, bytes(content)

    def _new_client(self) -> "httpx.AsyncClient":
        import httpx

        if needs := self.needs():
            raise NotInstalled(f"{self.file} cannot be asked here; {needs}")
        if self.variables:  # it logs the address of each request, and a part of that may be secret
            logging.getLogger("httpx").setLevel(logging.WARNING)
        # `exchange` limits the whole request. Redirects are not followed: headers would go wherever an answer says.
        headers = {"User-Agent": "audit", "Content-Type": "application/json"}
        return httpx.AsyncClient(verify=_certificates(), timeout=None, headers=headers)

    async def answer(self, address: str, sent: bytes, headers: Mapping[str, str], method: str = "POST") -> bytes:
        """Return the content of the answer to one request. Raises what `exchange` raises, and Unanswered and Declined
        by its status; call it in `masked`."""
        status, sent_back, content = await self.exchange(address, sent, headers, method)
        if 200 <= status < 300:
            return content
        words = self.words(content)
        reason = f"HTTP {status}: {words}".removesuffix(": ")
        if status == 402 or (status in (403, 429) and re.search(_SPENT, words)):
            raise Declined(reason, final=True)
        raise problem_of(status, sent_back, reason)

    async def close(self) -> None:
        """End the connections; the next request opens others."""
        while self._idle:
            await self._idle.pop().aclose()

    def document(self, content: bytes) -> Any:
        """Return the JSON of an answer. Raises BadOutput, which has the words that it is instead."""
        try:
            return parse_json(content)
        except ValueError:
            words = self.words(content)
            raise BadOutput(f"the answer is not JSON: {words}" if words else "the answer is empty") from None

    def words(self, content: bytes) -> str:
        """Return the beginning of an answer in one line, without secrets."""
        return " ".join(self.without_secrets(content[: 64 * 1024].decode("utf-8", "replace")).split())

    def without_secrets(self, text: str, least: int = 1) -> str:
        """Return the text without secrets of `least` characters and more, however they are spelled."""
        secrets = {name: os.environ.get(name, "").strip() for name in self.variables} | self.tokens
        for name, value in sorted(secrets.items(), key=lambda item: -len(item[1])):
            ways = (
                html.escape(value),
                json.dumps(value)[1:-1],
                quote(value),
                quote(value, ""),
                quote_plus(value),
                value,
            )
            for spelled in ways if len(value) >= least else ():
                text = text.replace(spelled, f"${{{name}}}")
        return text

    @contextmanager
    def masked(self) -> Iterator[None]:
        """Take secrets out of any error that is raised in this block, and cut it then, or half of one would stay."""
        try:
            yield
        except AuditError as problem:
            text = " ".join(self.without_secrets(str(problem)).split())
            problem.args = (text if len(text) <= WORDS else text[: WORDS - 3] + "...",)
            raise

    def advice(self, error: str) -> str:
        """Say what to change where every request ends with this error.

        >>> Service("acme.toml", ["${ACME_KEY}"], 30).advice("Declined: HTTP 401: no such key")
        'check the environment variable ACME_KEY, which acme.toml names'
        """
        if re.search(r"HTTP 40[13]\b", error):
            if not self.variables:
                return f"see whether it wants a key, which goes to headers of {self.file}"
            return f"check the environment variable {' or '.join(self.variables)}, which {self.file} names"
        what = next((what for pattern, what in _ADVICE if re.search(pattern, error)), None)
        return f"{what} of {self.file}" if what else f"mend what the error says, or {self.file}"


@cache
def _certificates() -> Any:
    import httpx

    return httpx.create_ssl_context()  # 30 ms: once for all


class OverHttp:
    """A system that asks a service, which a file describes: a subclass says what is sent and what an answer means.

    A run calls `run_async`, many times at once, waits when the service asks for it, and tries again (`Asking`). `run`
    does the same from any executor, one list of inputs at a time.
    """

    tasks: tuple[str, ...]
    summary: str
    settings: Mapping[str, object]

    def __init__(self, path: str, file: Any, service: Service, batch: int = 1):
        self._made_of: tuple[str, ...] = (path,)
        self.service, self.batch, self.concurrency = service, batch, file.concurrency
        self.name, self.version, self.deterministic = file.name, file.version, file.deterministic
        self.tries, self.patience, self.rate, self.price = file.tries, file.patience, file.rate, file.price
        self.spoken = Languages(file.languages or (EVERY,), file.pairs, getattr(file, "codes", {}))
        self.languages: tuple[str, ...] = file.languages or ("en",)
        self.advice = service.advice

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), self._made_of  # without the client and its secrets

    def needs(self) -> str | None:
        """Return what is missing, or None."""
        return self.service.needs()

    def lacks(self, item: Input) -> bool:
        """Return whether it does not have this pair of languages."""
        return not self.spoken.has(item)

    def prepare(self) -> None:
        """Import the HTTP client before there are threads and processes that would import it while others work."""
        with installed_extras():
            import httpx  # noqa: F401
            import tenacity  # noqa: F401

    async def ask(self, inputs: Sequence[Input]) -> list[Output]:
        """Return one output per input, at most `batch`, in order. Raises Unanswered, Declined and BadOutput."""
        raise NotImplementedError

    async def run_async(self, inputs: Sequence[Input]) -> list[Output]:
        """As `ask`, with no secret in any error."""
        with self.service.masked():
            return await self.ask(inputs)

    def run(self, inputs: Sequence[Input]) -> list[Output]:
        """Return one output per input, with as many requests at once as allowed, and again where there was no answer.
        Raises what the first one raised that had none in the end."""
        return asyncio.run(self._run(inputs))

    async def _run(self, inputs: Sequence[Input]) -> list[Output]:
        asking = asking_of(self)
        pieces = [inputs[start : start + self.batch] for start in range(0, len(inputs), self.batch)]
        try:
            answers = await asyncio.gather(*(asking.ask(partial(self.run_async, piece)) for piece in pieces))
        finally:
            await self.close_async()
        return [output for outputs in answers for output in outputs]

    async def close_async(self) -> None:
        """End the connections that are kept for `run_async`."""
        await self.service.close()


def problem_of(status: int, headers: Mapping[str, str], reason: str) -> AuditError:
    """Return the error for an answer whose status is none of 2xx: Unanswered where the request may be made again (RFC
    9110, RFC 6585), else Declined.

    >>> problem_of(429, {"retry-after": "3"}, "HTTP 429").after
    3.0
    >>> problem_of(401, {}, "HTTP 401")
    Declined('HTTP 401')
    """
    if 300 <= status < 400:
        return Declined(f"HTTP {status}: it leads to {headers.get('location')!r}; name that as the url")
    if status in _AGAIN or status >= 500:
        return Unanswered(reason, seconds_to_wait(headers.get("retry-after") or ""), inputs=status == 500)
    return Declined(reason, inputs=status in _ABOUT_INPUTS)


def seconds_to_wait(after: str) -> float | None:
    """Return the seconds from now that `Retry-After` asks for, a number or a date (RFC 9110, section 10.2.3); None for
    neither."""
    try:
        if re.fullmatch(r"\s*\d+(\.\d+)?\s*", after):
            return float(after)
        return max(0.0, parsedate_to_datetime(after).timestamp() - time.time())
    except (ValueError, OverflowError):
        return None


def with_variables(text: str) -> str:
    """Return the text with the values of environment variables in it; only for what is sent."""
    return VARIABLE.sub(lambda match: os.environ.get(match[1], "").strip(), text)


def values_at(document: Any, path: str, needed: bool = True) -> list[Any]:
    """Return what a JMESPath leads to in a JSON document: one value for each entry of the list at `[*]`, where the path
    has one, else one value. Where there is nothing: None if not `needed`, else raises BadOutput.

    >>> values_at({"results": [{"label": "POS"}, {"label": "NEG"}]}, "results[*].label")
    ['POS', 'NEG']
    """
    import jmespath

    *before, inside = _pieces(path)
    listed = jmespath.search(before[0], document) if before else [document]
    if not isinstance(listed, list):
        raise BadOutput(f"the answer has no list where {path!r} has [*], but {kind(listed)}")
    values = [jmespath.search(inside, entry) for entry in listed]
    if needed and None in values:
        raise BadOutput(f"the answer has nothing at {path!r}, but {kind(listed[values.index(None)])}")
    return values


def is_path(path: str) -> bool:
    """Return whether a text is a JMESPath."""
    with installed_extras():
        import jmespath
    try:
        return all(jmespath.compile(piece) for piece in _pieces(path))
    except jmespath.exceptions.JMESPathError:
        return False


def _pieces(path: str) -> list[str]:
    """Return the paths before and behind the first `[*]`, or the path alone."""
    return [piece.removeprefix(".") or "@" for piece in path.split("[*]", 1)]


_PATHS = {
    "similarity": {"score": "outputs[*].score"},
    "summarization": {"text": "outputs[*].text"},
    "translation": {"text": "outputs[*].text"},
}
_LABEL = {"label": "outputs[*].label", "score": "outputs[*].score"}
"""Where the outputs stand in an answer, unless the file says."""
_PLACE = re.compile(r"\{(?:text(?P<half>_a|_b)?|(?P<side>source|target)_language)\}")
"""Where a text or the code of a language goes in a request."""


def checked_json(request: Any) -> Any:
    """Return a part of a request. Raises Mistake for what JSON does not have, and for secrets."""
    try:
        json.dumps(request, allow_nan=False)
    except (TypeError, ValueError):
        raise Mistake("has a date or a number that JSON does not know") from None
    for name, value in strings(request):
        refuse_secret(f"request.{name}", name, value)
    return request


def fill_request(template: Any, inputs: Sequence[Input], spoken: Languages | None = None) -> Any:
    """Return the JSON of a request: inputs of one text as a text, others as a list of texts. All are of the
    same languages, which the service calls as `spoken` says.

    >>> fill_request({"documents": "{texts}", "n": 1}, [Input.of("It was good."), Input.of("a", "b")])
    {'documents': ['It was good.', ['a', 'b']], 'n': 1}
    >>> fill_request("Is {text_a} like {text_b}?", [Input.of("a", "b")])
    'Is a like b?'
    """
    if isinstance(template, dict):
        return {name: fill_request(value, inputs, spoken) for name, value in template.items()}
    if isinstance(template, list):
        return [fill_request(value, inputs, spoken) for value in template]
    if not isinstance(template, str):
        return template
    if template in ("{texts}", "{text}"):
        contents = [item.text if len(item.texts) == 1 else list(item.texts) for item in inputs]
        return contents if template == "{texts}" else contents[0]

    def value(place: re.Match[str]) -> str:
        if place["side"]:
            return spoken.name(inputs[0], place["side"]) if spoken else place[0]
        return (*inputs[0].texts, "")[place["half"] == "_b"]

    # Variables first, and all texts at once: an input that happens to spell one of them must stay as it is.
    return _PLACE.sub(value, with_variables(template))


class Request(NamedTuple):
    """What is sent to a service."""

    address: str
    sent: bytes
    headers: Mapping[str, str]


class HttpFile(Remote):
    """The content of a file."""

    url: Url = Field(description="it is the address that requests go to")
    tasks: Annotated[tuple[TaskName, ...], Strict(False), Allowed("a list of tasks", bool)] = ("sentiment",)
    pairs: Pairs = ()
    codes: Words = Field({}, repr=False)
    headers: Headers = Field({}, repr=False)
    # The JSON that is sent, in which "{texts}", "{text}", or "{text_a}" and "{text_b}" stand
    request: Annotated[Any, AfterValidator(checked_json)] = None
    answer: Words = Field(
        {}, repr=True
    )  # Where label, score and text of the outputs stand in an answer, as paths of `values_at`
    batch: int = Field(16, ge=1, le=10_000)  # Inputs of a request that takes several


class Http(OverHttp):
    """The service that a TOML file describes, as a `System` and an `AsynchronousSystem`.

    Creating it reads the file and raises BadFile for what is wrong with it.
    """

    def __init__(self, path: str, file: HttpFile | None = None):
        self.file = file = file or read_system_file(HttpFile, path, "http")
        self.translates = "translation" in file.tasks
        both = {f"{side}_language": f"{{{side}_language}}" for side in ("source", "target")}
        usual = {"texts": "{texts}"} | (both if self.translates else {})
        self.sent = usual if file.request is None else file.request
        self.paths = file.answer or _PATHS.get(file.tasks[0], _LABEL)
        several = any(value == "{texts}" for _, value in strings(self.sent))
        batch = file.batch if several and all("[*]" in path for path in self.paths.values()) else 1
        texts = [file.url, *file.headers.values(), json.dumps(self.sent)]
        super().__init__(path, file, Service(path, texts, file.timeout), batch)
        self.tasks, self.summary, self._spelling = file.tasks, f"over HTTP, {file.url}", spellings(file.tasks)
        if self.translates:
            self.languages = self.spoken.read
        refuse(path, self._mistakes(), HELP)
        # How politely it is asked (batch, concurrency, tries ...) is no setting: a slower pace executes nothing anew.
        self.settings = {
            **{"url": file.url, "headers": file.headers, "request": self.sent, "answer": self.paths},
            **{"labels": file.labels, **(self.spoken.settings if self.translates else {})},
        }

    def _mistakes(self) -> Iterator[tuple[str, str]]:
        """Yield where keys contradict each other, or a text or the language to translate into would be lost."""
        kinds = [_PATHS.get(task, {"label": ""}) for task in self.tasks]
        if any(kind != kinds[0] for kind in kinds):
            yield "tasks", f"outputs of {', '.join(self.tasks)} are of different kinds; write a file for each"
        for name in kinds[0].keys() - self.paths.keys() if "text" not in self.paths else ():
            yield f"answer.{name}", f"is missing; an output of {self.tasks[0]} has a {name}"
        for name, path in self.paths.items():
            if name not in ("label", "score", "text") or not is_path(re.sub(r"\{[wW]ord\}", "word", path)):
                must = f'{path!r} must be a JMESPath such as "outputs[*].label", of label, score or text'
                yield f"answer.{name}", must
        yield from mistaken_labels(self.file.labels, self.tasks)
        yield from self.spoken.mistakes()
        item = Input.of(*["<a>", "<b>"][: get_task(self.tasks[0]).texts], target="<into>" if self.translates else None)
        sent = json.dumps([self.file.url, fill_request(self.sent, [item], self.spoken)])
        if not all(text in sent for text in item.texts):
            places = '"{texts}" (a list of them), "{text}", or of pairs "{text_a}" and "{text_b}"'
            yield "request", f"must have {places} as a value"
        if self.translates and not re.search("<into>|{target_language}", sent) and len(self.spoken.pairs) != 1:
            yield "request", 'must have "{target_language}", or the url, or pairs a single pair: what to translate into'

    async def ask(self, inputs: Sequence[Input]) -> list[Output]:
        """Make one request for each language or pair of languages, and none for pairs that it has not."""
        outputs = [Output()] * len(inputs)
        for languages in dict.fromkeys(item.languages for item in inputs if not self.lacks(item)):
            places = [place for place, item in enumerate(inputs) if item.languages == languages]
            same = [inputs[place] for place in places]
            answered = self.read(await self.exchange(await self.request(same)), same)
            for place, output in zip(places, answered, strict=True):
                outputs[place] = output
        return outputs

    async def request(self, inputs: Sequence[Input]) -> Request:
        """Return what is sent for inputs, all of the same languages."""
        sent = json.dumps(fill_request(self.sent, inputs, self.spoken)).encode()
        return Request(self.spoken.address(self.file.url, inputs[0]), sent, self.file.headers)

    async def exchange(self, request: Request) -> Any:
        """Return the JSON of the answer to a request."""
        return self.service.document(await self.service.answer(*request))

    def read(self, document: Any, inputs: Sequence[Input]) -> list[Output]:
        """Return the outputs in an answer. Raises BadOutput where there are others than asked for."""
        values: dict[str, list[Any]] = {name: [None] * len(inputs) for name in ("label", "score", "text")}
        # A score that the file names must be there, or a slip of the pen would leave every output without.
        needed = self.file.answer or _PATHS.get(self.tasks[0], {})
        for name, path in self.paths.items():
            values[name] = values_at(document, path, needed=name != "score" or "score" in needed)
            if len(values[name]) != len(inputs):
                raise BadOutput(f"{len(values[name])} outputs for {len(inputs)} inputs at {path!r}")
        return [self.output(*parts) for parts in zip(*values.values(), strict=True)]

    def output(self, label: Any, score: Any = None, text: Any = None) -> Output:
        """Return the output that these values of an answer are. Raises BadOutput."""
        if isinstance(label, list) and takes_several(self.tasks):
            label = labels_together([self._label(part) for part in label], self.tasks)
        elif label is not None:
            label = self._label(label)
        if score is not None and number(score) is None:
            raise BadOutput(f"a score must be a number, the answer has {kind(score)}")
        if text is not None:
            if not isinstance(text, str):
                raise BadOutput(f"a text must be a text, the answer has {kind(text)}")
            # A short value may be a word of the language, and no text is changed for that.
            text = self.service.without_secrets(text, least=8)
            tell_heard(text)
        return Output(label, number(score), text)

    def _label(self, value: object) -> str:
        if isinstance(value, bool) or not isinstance(value, str | int):
            raise BadOutput(f"a label must be a text, the answer has {kind(value)}")
        written = self.service.without_secrets(str(value))
        tell_heard(written)
        return self.file.labels.get(written) or self._spelling.get(written.strip().casefold(), written)
