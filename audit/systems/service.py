"""Services over HTTP: what every system that asks another machine shares, whatever that machine understands.

A request that gets no answer is told apart from one that is refused (`audit.errors.Unanswered`, `Declined`), and the
values of environment variables are read when requests are made, kept nowhere else, and taken out of every message and
output.
"""

import asyncio
import html
import json
import logging
import os
import re
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import partial
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import quote, quote_plus
from urllib.request import getproxies

from audit.errors import AuditError, BadOutput, Declined, NotInstalled, Unanswered
from audit.files import parse_json
from audit.systems.asking import asked_in_pieces
from audit.systems.base import missing
from audit.systems.remote_file import VARIABLE, Remote, check_address
from audit.tasks import Input, Output

if TYPE_CHECKING:
    import httpcore
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
_SPENT = r"(?i:insufficient[ _](?:quota|balance|credits?)|billing_(?:hard_limit|not_active))"
"""What services say, beside status 402, where the account has no money left: asking again cannot help."""
_ADVICE = (
    (rf"HTTP 402\b|{_SPENT}", "add credit to the account, or change the key"),
    (r"HTTP 404\b.*(?i:\bmodel\b)|(?i:model[ _](?:not[ _](?:found|exist)|id\b))", "check the model"),
    (r"only reasoning came", "raise max_tokens, or lower the reasoning (request),"),
    (r"HTTP (3\d\d|404|405|410)\b|no connection|not JSON|the answer is empty", "check the url"),
    (r"no answer within", "check the url, and the timeout,"),
    (r"label '", "name that label in labels"),
    (r"HTTP 4(00|13|14|15|22)\b", "check the request"),
    (r"BadOutput", "check the answer"),
)
"""Errors of every request, and the part of a file to look at."""


class Service:
    """A service at an address, with the environment variables that requests to it have: `file` names them in messages,
    `timeout` is the seconds that a request may take."""

    def __init__(self, file: str, url: str, variables: Sequence[str], timeout: float):
        self._file, self._url, self._variables, self._timeout = file, url, variables, timeout

    def needs(self) -> str | None:
        """None when it can be asked; else what is missing: the HTTP client, or a variable of the environment."""
        return missing("httpx", "pip install 'audit[http]'") or self._unset()

    def clients(self, headers: Mapping[str, str]) -> "Clients":
        """Connections, each request with these headers, in which `${NAME}` stands for a variable of the environment.
        Raises NotInstalled where something is missing."""
        if needs := self.needs():
            raise NotInstalled(f"{self._file} cannot be asked here; {needs}")
        if self._variables:
            # httpx logs the address of each request, and a part of it may be secret.
            logging.getLogger("httpx").setLevel(logging.WARNING)
        return Clients({name: with_variables(value) for name, value in headers.items()})

    @contextmanager
    def masked(self) -> Iterator[None]:
        """No error that is raised in this block has the value of a variable in it. What a service says may be long: it
        is cut only after secrets are taken out, or half of one stays."""
        try:
            yield
        except AuditError as problem:
            problem.args = (cut(self.without_secrets(str(problem))),)
            raise

    async def content(
        self,
        clients: "Clients",
        method: str,
        address: str,
        sent: bytes | None,
        headers: Mapping[str, str] | None = None,
    ) -> bytes:
        """The bytes of the answer to one request. Raises Unanswered and Declined by its status, BadOutput for an answer
        that cannot be read; call it in `masked`."""
        return self._checked(await self.exchange(clients, method, address, sent, headers))

    async def exchange(
        self,
        clients: "Clients",
        method: str,
        address: str,
        sent: bytes | None,
        headers: Mapping[str, str] | None = None,
    ) -> "Answer":
        """The answer to one request, whatever its status: for services whose errors have codes of their own. Raises
        Unanswered where there is none, BadOutput for one that cannot be read; call it in `masked`."""
        import httpcore
        import httpx

        try:
            async with asyncio.timeout(self._timeout):
                return await self._answer(clients, method, address, sent, headers)
        except (TimeoutError, httpx.TimeoutException, httpcore.TimeoutException):
            raise Unanswered(f"no answer within {self._timeout:g} s", crowded=True) from None
        except httpx.DecodingError as problem:
            raise BadOutput(f"the answer cannot be read ({problem})") from None
        except (httpx.TransportError, httpcore.NetworkError, httpcore.ProtocolError) as problem:
            raise Unanswered(f"no connection ({type(problem).__name__}: {problem})") from None

    async def _answer(
        self,
        clients: "Clients",
        method: str,
        address: str,
        sent: bytes | None,
        headers: Mapping[str, str] | None,
    ) -> "Answer":
        async with clients.exchange(method, address, sent, headers) as (status, answered, content_parts):
            parts, size = [], 0
            async for part in content_parts:
                size += len(part)
                if size > LARGEST:
                    raise BadOutput(f"the answer is longer than {LARGEST:,} bytes")
                parts.append(part)
        return Answer(status, answered, b"".join(parts))

    def _checked(self, answer: "Answer") -> bytes:
        if 200 <= answer.status < 300:
            return answer.content
        words = self.words(answer.content)
        reason = f"HTTP {answer.status}: {words}".removesuffix(": ")
        if answer.status == 402 or (answer.status in (403, 429) and re.search(_SPENT, words)):
            raise Declined(reason, final=True)
        raise problem_of(answer.status, answer.headers, reason)

    def document(self, content: bytes) -> Any:
        """The JSON of an answer. Raises BadOutput, which has the words that it is instead."""
        try:
            return parse_json(content)
        except ValueError:
            words = self.words(content)
            raise BadOutput(f"the answer is not JSON: {words}" if words else "the answer is empty") from None

    def words(self, content: bytes) -> str:
        """The beginning of an answer in one line: spaces are folded when secrets, which may have some, are out."""
        return " ".join(self.without_secrets(content[: 64 * 1024].decode("utf-8", "replace")).split())

    def _unset(self) -> str | None:
        """The environment variable that is absent or holds what a header cannot, in words; None where all are fine."""
        for name in self._variables:
            value = os.environ.get(name, "").strip()
            if not value:
                return f"set the environment variable {name}, which {self._file} names"
            if not value.isascii() or not value.isprintable():
                return f"the environment variable {name} must be printable ASCII, without line breaks"
        if fault := check_address(with_variables(self._url)):
            return f"the url of {self._file}, with the environment's values, {fault}"
        return None

    def advice(self, error: str) -> str:
        """What to change where every request ends with this error.

        >>> Service("acme.toml", "https://api.example.org/", ["ACME_KEY"], 30).advice("Declined: HTTP 401: no such key")
        'check the environment variable ACME_KEY, which acme.toml names'
        """
        if re.search(r"HTTP 40[13]\b", error):
            if "environment variable" in error:  # the system has said which
                return "set it to a key that may do this"
            variables = list(dict.fromkeys(self._variables))
            if not variables:
                return f"see whether it wants a key, which goes to headers of {self._file}"
            return f"check the environment variable {' or '.join(variables)}, which {self._file} names"
        for pattern, what in _ADVICE:
            if re.search(pattern, error):
                return f"{what} of {self._file}"
        return f"mend what the error says, or {self._file}"

    def without_secrets(self, text: str, least: int = 1) -> str:
        """The text with the values of environment variables taken out, however they are spelled; those of `least`
        characters and more."""
        return without_values(text, {name: os.environ.get(name, "").strip() for name in self._variables}, least)


@dataclass(frozen=True)
class Answer:
    """What a service sent back."""

    status: int
    headers: Mapping[str, str]
    content: bytes


def problem_of(status: int, headers: Mapping[str, str], reason: str) -> AuditError:
    """The error for an answer whose status is none of 2xx: Unanswered where the request may be made again (RFC 9110,
    RFC 6585), else Declined. The names of `headers` are in small letters, or it does not look at case.

    >>> problem_of(429, {"retry-after": "3"}, "HTTP 429").after
    3.0
    >>> problem_of(401, {}, "HTTP 401")
    Declined('HTTP 401')
    """
    if 300 <= status < 400:
        return Declined(f"HTTP {status}: it leads to {headers.get('location')!r}; name that as the url")
    if status in _AGAIN or status >= 500:
        after = seconds_to_wait(headers.get("retry-after"), headers.get("date"))
        return Unanswered(reason, after, crowded=status in _CROWDED, inputs=status == 500)
    return Declined(reason, inputs=status in _ABOUT_INPUTS)


class OverHttp:
    """A system that asks a service: a subclass says what is sent and what an answer means (`ask`).

    What a run needs of it is `run_async`: `audit.runner.executors.Asynchronous` makes many requests at once, waits when
    the service asks for it, and tries again. `run` does the same from any executor, one list of inputs at a time.
    """

    service: Service
    batch: int
    concurrency: int
    tries: int
    patience: float
    rate: float | None

    def keep(self, file: str, remote: Remote, url: str, variables: Sequence[str], batch: int = 1) -> None:
        """Take over what a file says of how its service is asked."""
        self.service = Service(file, url, variables, remote.timeout)
        self.batch, self.concurrency = batch, remote.concurrency
        self.tries, self.patience, self.rate, self.price = remote.tries, remote.patience, remote.rate, remote.price
        self._clients: Clients | None = None

    def headers(self) -> Mapping[str, str]:
        """What every request has, with `${NAME}` in place of secrets."""
        return {}

    async def ask(self, clients: "Clients", inputs: Sequence[Input]) -> list[Output]:
        """One output per input, at most `batch`, in order. Raises Unanswered, Declined and BadOutput."""
        raise TypeError(f"{type(self).__name__} must define ask")

    def needs(self) -> str | None:
        return self.service.needs()

    def advice(self, error: str) -> str:
        """What to change where every request ends with this error."""
        return self.service.advice(error)

    def prepare(self) -> None:
        """Import the HTTP client before there are threads and processes that would import it while others work.

        The service itself is not called: if it is away now, the run tries again.
        """
        import httpcore  # noqa: F401
        import httpx  # noqa: F401

    def run(self, inputs: Sequence[Input]) -> list[Output]:
        """As many requests at once as allowed, and again where there was no answer. Raises what the first one raised
        that had none in the end."""
        return asyncio.run(self._run(inputs))

    async def _run(self, inputs: Sequence[Input]) -> list[Output]:
        async with self.service.clients(self.headers()) as clients:
            return await asked_in_pieces(self, inputs, partial(self.ask, clients))

    async def run_async(self, inputs: Sequence[Input]) -> list[Output]:
        """One request, of at most `batch` inputs. Raises Unanswered, Declined and BadOutput."""
        if self._clients is None:
            self._clients = self.service.clients(self.headers())
        return await self.ask(self._clients, inputs)

    async def close_async(self) -> None:
        """End the connections that are kept for `run_async`."""
        if self._clients is not None:
            clients, self._clients = self._clients, None
            await clients.aclose()


Exchange = tuple[int, Mapping[str, str], AsyncIterator[bytes]]
"""The status of an answer, its headers by their names in small letters, and its content in parts, decoded."""


class Clients(AbstractAsyncContextManager["Clients"]):
    """As many clients as there are requests at once, each with one connection that is kept.

    One client with many connections looks at all of them at the beginning and end of each request, which costs more
    than the request itself from about thirty on. Where there is no proxy, requests go to what httpx itself sends them
    with: what it does around that (cookies, redirects, authentication), which nobody wants here, takes most of the
    processor's time.
    """

    def __init__(self, headers: Mapping[str, str]):
        import httpx

        self._headers = httpx.Headers({"Content-Type": "application/json"})
        self._headers.update(headers)
        self._certificates = httpx.create_ssl_context()  # 30 ms: once for all
        self._has_proxy = bool(getproxies().keys() & {"http", "https", "all"})
        self._addresses: dict[str, tuple[httpcore.URL, bytes]] = {}
        """What was asked already, as it is sent, and its machine."""
        self._made: list[httpx.AsyncClient | httpcore.AsyncConnectionPool] = []
        self._idle: list[httpx.AsyncClient | httpcore.AsyncConnectionPool] = []

    @asynccontextmanager
    async def exchange(
        self, method: str, address: str, sent: bytes | None, headers: Mapping[str, str] | None = None
    ) -> AsyncIterator[Exchange]:
        """One request and its answer, on a connection that nobody else has in this block. An exception ends the
        connection: the rest of an answer may be on it."""
        client = self._idle.pop() if self._idle else self._new()
        try:
            if self._has_proxy:
                whole = cast("httpx.AsyncClient", client)
                async with whole.stream(method, address, content=sent, headers=headers) as response:
                    yield response.status_code, response.headers, response.aiter_bytes()
            else:
                url, machine = self._spelled(address)
                lines, pool = self._lines(machine, sent, headers), cast("httpcore.AsyncConnectionPool", client)
                async with pool.stream(method, url, headers=lines, content=sent) as answer:
                    yield _exchange(answer)
        except BaseException:
            self._made.remove(client)
            await client.aclose()
            raise
        self._idle.append(client)

    def _spelled(self, address: str) -> "tuple[httpcore.URL, bytes]":
        if address not in self._addresses:
            import httpcore
            import httpx

            url = httpx.URL(address)
            spelled = httpcore.URL(scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path)
            if len(self._addresses) > MOST_ADDRESSES:
                self._addresses.clear()
            self._addresses[address] = spelled, url.netloc
        return self._addresses[address]

    def _lines(self, machine: bytes, sent: bytes | None, more: Mapping[str, str] | None) -> list[tuple[bytes, bytes]]:
        headers = self._headers
        if more:
            headers = headers.copy()
            headers.update(more)
        host = [] if "host" in headers else [(b"Host", machine)]
        lines = [*host, (b"Accept", b"*/*"), (b"User-Agent", b"audit"), *headers.raw]
        return lines if sent is None else [*lines, (b"Content-Length", b"%d" % len(sent))]

    def _new(self) -> "httpx.AsyncClient | httpcore.AsyncConnectionPool":
        import httpcore
        import httpx

        client: httpx.AsyncClient | httpcore.AsyncConnectionPool
        if self._has_proxy:
            client = httpx.AsyncClient(
                headers=self._headers,
                verify=self._certificates,
                limits=httpx.Limits(max_connections=1, max_keepalive_connections=1),
                timeout=None,  # `Service` limits the whole request
                follow_redirects=False,  # else the headers would go wherever an answer says
            )
        else:
            client = httpcore.AsyncConnectionPool(
                ssl_context=self._certificates, max_connections=1, max_keepalive_connections=1
            )
        self._made.append(client)
        return client

    async def aclose(self) -> None:
        """End the connections."""
        for client in self._made:
            await client.aclose()

    async def __aexit__(self, *problem: object) -> None:
        await self.aclose()


MOST_ADDRESSES = 1_000
"""Addresses whose spelling is remembered; most services have one."""


def _exchange(answer: "httpcore.Response") -> Exchange:
    headers = {name.lower().decode("ascii", "replace"): value.decode("latin-1") for name, value in answer.headers}
    parts = answer.aiter_stream()
    if headers.get("content-encoding", "identity") != "identity":
        import httpx

        encoded = httpx.Response(answer.status, headers=answer.headers, stream=_streamed(parts))
        return answer.status, headers, encoded.aiter_bytes()
    return answer.status, headers, parts


def _streamed(parts: AsyncIterator[bytes]) -> "httpx.AsyncByteStream":
    """Parts of a content as httpx takes them."""
    import httpx

    class Streamed(httpx.AsyncByteStream):
        async def __aiter__(self) -> AsyncIterator[bytes]:
            async for part in parts:
                yield part

    return Streamed()


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


def with_variables(text: str) -> str:
    """The text with the values of environment variables in it; only for what is sent."""
    return VARIABLE.sub(lambda match: os.environ.get(match[1], "").strip(), text)


def without_values(text: str, secrets: Mapping[str, str], least: int = 1) -> str:
    """The text with secrets (name -> value) taken out, however they are spelled; those of `least` characters and more.

    >>> without_values("bad key a%2Fb or a/b", {"KEY": "a/b"})
    'bad key ${KEY} or ${KEY}'
    """
    for name, value in sorted(secrets.items(), key=lambda item: -len(item[1])):
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


def cut(text: str) -> str:
    """The beginning of what a service says, as much as is kept."""
    return text if len(text) <= WORDS else text[: WORDS - 3] + "..."
