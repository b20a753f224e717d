"""A system that answers over HTTP, described by a TOML file and named `http:FILE.toml`.

Three lines are enough for a service that takes `{"texts": [...]}` and returns `{"outputs": [{"label": ..., "score":
...}, ...]}` (docs/reference/systems.md has the whole format)::

    name = "acme"
    version = "2026-11"
    url = "http://127.0.0.1:8000/sentiment"

What a run needs of it is `run_async`: `audit.runner.executors.Asynchronous` makes many requests at once, waits when the
service asks for it, and tries again. `run` does the same from any executor, one list of inputs at a time.
"""

import asyncio
import html
import json
import logging
import os
import re
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import partial
from numbers import Real
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, quote_plus

from audit.errors import AuditError, BadOutput, Declined, NotInstalled, Unanswered
from audit.files import parse_json
from audit.systems.asking import Asking
from audit.systems.base import missing
from audit.systems.http_file import VARIABLE, Languages, check_address, kind, read_description
from audit.tasks import Input, Output, spellings

if TYPE_CHECKING:
    import httpx

LARGEST = 16 * 1024 * 1024
"""Bytes of an answer; what is longer is an error, whatever the service says of its length."""
WORDS = 300
"""Characters kept of what a service says beside an error."""
_AGAIN = (408, 425, 429)
"""Statuses below 500 after which a request is made again (RFC 9110, RFC 6585, RFC 8470)."""
_CROWDED = (408, 429, 503, 504)
"""Statuses of a service that has too much to do."""
_ABOUT_INPUTS = (400, 413, 414, 422)
"""Statuses that say that something is wrong with what was sent: other inputs may do."""
_PLACE = re.compile(r"\{(?:text(?P<half>_a|_b)?|(?P<side>source|target)_language)\}")
"""Where a text or the code of a language goes in a request."""


class Http:
    """The service that a TOML file describes, as a `System` and an `AsynchronousSystem`.

    Creating it reads the file and raises BadFile for what is wrong with it. The values of environment variables are
    read when requests are made, kept nowhere else, and taken out of every message and output.
    """

    def __init__(self, path: str):
        if not path or path.startswith("//"):
            raise AuditError(
                f"'http:{path}' does not name a system; write http:FILE.toml, where the file has the address "
                "(see docs/reference/systems.md)"
            )
        self._description = description = read_description(path)
        self._file = path
        self.name, self.version, self.tasks = description.name, description.version, description.tasks
        self.languages = description.between.read if description.between else description.spoken
        self.settings: Mapping[str, object] = description.settings
        self.summary = f"over HTTP, {description.url}"
        self.batch, self.concurrency = description.batch_size, description.concurrency
        self.tries, self.patience = description.tries, description.patience
        self._spelling = spellings(self.tasks)
        self._clients: _Clients | None = None

    def __reduce__(self) -> tuple[type["Http"], tuple[str]]:
        return Http, (self._file,)  # without the client and its secrets

    def needs(self) -> str | None:
        return missing("httpx", "pip install 'audit[http]'") or self._unset()

    def prepare(self) -> None:
        """Import the HTTP client before there are threads and processes that would import it while others work.

        The service itself is not called: if it is away now, the run tries again.
        """
        import httpx  # noqa: F401

    def run(self, inputs: Sequence[Input]) -> list[Output]:
        """As many requests at once as allowed, and again where there was no answer. Raises what the first one raised
        that had none in the end."""
        return asyncio.run(self._run(inputs))

    async def _run(self, inputs: Sequence[Input]) -> list[Output]:
        asking = Asking(self.concurrency, self.tries, self.patience)
        pieces = [inputs[start : start + self.batch] for start in range(0, len(inputs), self.batch)]
        try:
            async with self._new_clients() as clients, asyncio.TaskGroup() as group:
                calls = [group.create_task(asking.ask(partial(self._ask, clients, piece))) for piece in pieces]
        except BaseExceptionGroup as problems:
            raise problems.exceptions[0] from None
        return [output for call in calls for output in call.result()]

    async def run_async(self, inputs: Sequence[Input]) -> list[Output]:
        """One request, of at most `batch` inputs. Raises Unanswered, Declined and BadOutput."""
        if self._clients is None:
            self._clients = self._new_clients()
        return await self._ask(self._clients, inputs)

    async def close_async(self) -> None:
        """End the connections that are kept for `run_async`."""
        if self._clients is not None:
            clients, self._clients = self._clients, None
            await clients.aclose()

    def _new_clients(self) -> "_Clients":
        if needs := self.needs():
            raise NotInstalled(f"system {self.name} cannot run here; {needs}")
        if VARIABLE.search(self._description.url):
            # httpx logs the address of each request, and here a part of it is secret.
            logging.getLogger("httpx").setLevel(logging.WARNING)
        return _Clients({name: _with_variables(value) for name, value in self._description.headers.items()})

    async def _ask(self, clients: "_Clients", inputs: Sequence[Input]) -> list[Output]:
        """One request; for a translation service one for each pair of languages, and none for those it has not."""
        if self._description.between is None:
            return await self._ask_once(clients, inputs)
        outputs = [Output()] * len(inputs)
        for places in self._description.between.groups(inputs):
            answered = await self._ask_once(clients, [inputs[place] for place in places])
            for place, output in zip(places, answered, strict=True):
                outputs[place] = output
        return outputs

    async def _ask_once(self, clients: "_Clients", inputs: Sequence[Input]) -> list[Output]:
        import httpx

        try:
            try:
                async with asyncio.timeout(self._description.timeout):
                    content = await self._content(clients, inputs)
            except (TimeoutError, httpx.TimeoutException):
                raise Unanswered(f"no answer within {self._description.timeout:g} s", crowded=True) from None
            except httpx.DecodingError as problem:
                raise BadOutput(f"the answer cannot be read ({problem})") from None
            except httpx.TransportError as problem:
                raise Unanswered(f"no connection ({type(problem).__name__}: {problem})") from None
            return self._outputs(content, len(inputs))
        except AuditError as problem:
            # Everything that a service says comes by here: cut only after secrets are taken out, or half of one stays.
            problem.args = (_cut(self._without_secrets(str(problem))),)
            raise

    async def _content(self, clients: "_Clients", inputs: Sequence[Input]) -> bytes:
        """The bytes of the answer to one request. Raises Unanswered and Declined by its status."""
        between = self._description.between
        sent = json.dumps(_fill_request(self._description.sent, inputs, between)).encode()
        address = _with_variables(self._description.url)
        if between is not None:
            address = between.address(address, inputs[0])
        async with (
            clients.borrowed() as client,
            client.stream(self._description.method, address, content=sent) as response,
        ):
            parts, size = [], 0
            async for part in response.aiter_bytes():
                size += len(part)
                if size > LARGEST:
                    raise BadOutput(f"the answer is longer than {LARGEST:,} bytes")
                parts.append(part)
        content, status = b"".join(parts), response.status_code
        if 200 <= status < 300:
            return content
        words = self._words(content)
        reason = f"HTTP {status}: {words}" if words else f"HTTP {status}"
        if 300 <= status < 400:
            raise Declined(f"HTTP {status}: it leads to {response.headers.get('location')!r}; name that as the url")
        if status in _AGAIN or status >= 500:
            after = seconds_to_wait(response.headers.get("retry-after"), response.headers.get("date"))
            raise Unanswered(reason, after, crowded=status in _CROWDED, inputs=status == 500)
        raise Declined(reason, inputs=status in _ABOUT_INPUTS)

    def _outputs(self, content: bytes, number: int) -> list[Output]:
        """The outputs in an answer to this number of inputs. Raises BadOutput where there are others."""
        try:
            document = parse_json(content)
        except ValueError:
            words = self._words(content)
            raise BadOutput(f"the answer is not JSON: {words}" if words else "the answer is empty") from None
        nothing: list[object] = [None] * number
        values: dict[str, list[object]] = {"label": nothing, "score": nothing, "text": nothing}
        paths = self._description.outputs.paths
        for name, path in paths.items():
            values[name] = path.values(document, needed=name != "score" or self._description.score_needed)
            if len(values[name]) != number:
                raise BadOutput(f"{len(values[name])} outputs for {number} inputs at {path.written!r}")
        return [
            Output(
                self._label(label) if "label" in paths else None,
                None if score is None else _score(score),
                self._text(text) if "text" in paths else None,
            )
            for label, score, text in zip(*values.values(), strict=True)
        ]

    def _label(self, value: object) -> str:
        if isinstance(value, bool) or not isinstance(value, str | int):
            raise BadOutput(f"a label must be a text, the answer has {kind(value)}")
        written = str(value)
        if written in self._description.labels:
            return self._description.labels[written]
        label = self._spelling.get(written.strip().casefold())
        return label or self._without_secrets(written)

    def _text(self, value: object) -> str:
        if not isinstance(value, str):
            raise BadOutput(f"a text must be a text, the answer has {kind(value)}")
        # A short value may be a word of the language, and no text is changed for that.
        return self._without_secrets(value, least=8)

    def _words(self, content: bytes) -> str:
        """The beginning of an answer in one line: spaces are folded when secrets, which may have some, are out."""
        return " ".join(self._without_secrets(content[: 64 * 1024].decode("utf-8", "replace")).split())

    def _unset(self) -> str | None:
        """The environment variable that is absent or holds what a header cannot, in words; None where all are fine."""
        for name in self._description.variables:
            value = os.environ.get(name, "").strip()
            if not value:
                return f"set the environment variable {name}, which {self._file} names"
            if not value.isascii() or not value.isprintable():
                return f"the environment variable {name} must be printable ASCII, without line breaks"
        if fault := check_address(_with_variables(self._description.url)):
            return f"the url of {self._file}, with the environment's values, {fault}"
        return None

    def _without_secrets(self, text: str, least: int = 1) -> str:
        """The text with the values of environment variables taken out, however they are spelled; those of `least`
        characters and more."""
        values = {name: os.environ.get(name, "").strip() for name in self._description.variables}
        for name, value in sorted(values.items(), key=lambda item: -len(item[1])):
            for spelled in (
                html.escape(value),
                json.dumps(value)[1:-1],
                quote(value),
                quote(value, safe=""),
                quote_plus(value),
                value,
            ):
                if len(value) >= least:
                    text = text.replace(spelled, f"${{{name}}}")
        return text


class _Clients(AbstractAsyncContextManager["_Clients"]):
    """As many clients as there are requests at once, each with one connection that is kept.

    One client with many connections looks at all of them at the beginning and end of each request, which costs more
    than the request itself from about thirty on.
    """

    def __init__(self, headers: Mapping[str, str]):
        import httpx

        self._headers = httpx.Headers({"Content-Type": "application/json"})
        self._headers.update(headers)
        self._certificates = httpx.create_ssl_context()  # 30 ms: once for all
        self._made: list[httpx.AsyncClient] = []
        self._idle: list[httpx.AsyncClient] = []

    @asynccontextmanager
    async def borrowed(self) -> AsyncIterator["httpx.AsyncClient"]:
        """A client that nobody else has in this block. An exception ends its connection: the rest of an answer may be
        on it."""
        client = self._idle.pop() if self._idle else self._new()
        try:
            yield client
        except BaseException:
            self._made.remove(client)
            await client.aclose()
            raise
        self._idle.append(client)

    def _new(self) -> "httpx.AsyncClient":
        import httpx

        client = httpx.AsyncClient(
            headers=self._headers,
            verify=self._certificates,
            limits=httpx.Limits(max_connections=1, max_keepalive_connections=1),
            timeout=None,  # `Http` limits the whole request
            follow_redirects=False,  # else the headers would go wherever an answer says
        )
        self._made.append(client)
        return client

    async def aclose(self) -> None:
        """End the connections."""
        for client in self._made:
            await client.aclose()

    async def __aexit__(self, *problem: object) -> None:
        await self.aclose()


def seconds_to_wait(after: str | None, date: str | None = None) -> float | None:
    """What `Retry-After` asks for, in seconds from now; None where it says nothing that can be read.

    It is a number of seconds or an HTTP date (RFC 9110, section 10.2.3), which is counted from the answer's own `Date`
    where there is one: the service's clock need not be ours.

    >>> seconds_to_wait("120")
    120.0
    >>> seconds_to_wait("Sat, 21 Nov 2026 17:00:30 GMT", date="Sat, 21 Nov 2026 17:00:00 GMT")
    30.0
    """
    if after is None:
        return None
    if (written := after.strip()).isascii() and written.replace(".", "", 1).isdigit():
        return float(written)
    if (until := _moment(written)) is None:
        return None
    return max(0.0, (until - (_moment(date) or datetime.now(UTC))).total_seconds())


def _moment(date: str | None) -> datetime | None:
    try:
        moment = parsedate_to_datetime(date) if date else None
    except (ValueError, OverflowError):
        return None
    return moment.replace(tzinfo=UTC) if moment and moment.tzinfo is None else moment


def _with_variables(text: str) -> str:
    """The text with the values of environment variables in it; only for what is sent."""
    return VARIABLE.sub(lambda match: os.environ.get(match[1], "").strip(), text)


def _fill_request(template: Any, inputs: Sequence[Input], between: Languages | None = None) -> Any:
    """The JSON of a request: inputs of one text as a text, others as a list of texts. All translations of a request are
    `between` the same two languages.

    >>> _fill_request({"documents": "{texts}", "n": 1}, [Input.of("It was good."), Input.of("a", "b")])
    {'documents': ['It was good.', ['a', 'b']], 'n': 1}
    >>> _fill_request("Is {text_a} like {text_b}?", [Input.of("a", "b")])
    'Is a like b?'
    """
    if isinstance(template, dict):
        return {name: _fill_request(value, inputs, between) for name, value in template.items()}
    if isinstance(template, list):
        return [_fill_request(value, inputs, between) for value in template]
    if not isinstance(template, str):
        return template
    contents = [item.text if len(item.texts) == 1 else list(item.texts) for item in inputs]
    if template == "{texts}":
        return contents
    if template == "{text}":
        return contents[0]
    # Variables first, and all texts at once: an input that happens to spell one of them must stay as it is.
    return _PLACE.sub(lambda place: _place_value(place, inputs[0], between), _with_variables(template))


def _place_value(place: re.Match[str], item: Input, between: Languages | None) -> str:
    if place["side"]:
        return between.name(item, place["side"]) if between else place[0]
    return item.texts[place["half"] == "_b"]


def _score(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, Real):
        raise BadOutput(f"a score must be a number, the answer has {kind(value)}")
    return float(value)


def _cut(text: str) -> str:
    return text if len(text) <= WORDS else text[: WORDS - 3] + "..."
