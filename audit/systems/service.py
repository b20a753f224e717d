"""Services over HTTP: what every system that asks another machine shares, whatever that machine understands.

A request that gets no answer is told apart from one that is refused (`audit.errors.Unanswered`, `Declined`). The values
of environment variables are read when requests are made, kept nowhere else, and taken out of every message and output.
"""

import asyncio
import html
import json
import logging
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, quote_plus

from audit.errors import AuditError, BadOutput, Declined, NotInstalled, Unanswered
from audit.files import parse_json
from audit.systems.asking import asked_in_pieces
from audit.systems.base import missing
from audit.systems.remote_file import VARIABLE, Remote, check_address
from audit.tasks import Input, Output

if TYPE_CHECKING:
    import httpx

LARGEST = 16 * 1024 * 1024
"""Bytes of an answer; what is longer is an error, whatever the service says of its length."""
WORDS = 300
"""Characters kept of what a service says beside an error."""
_AGAIN = (408, 425, 429)
"""Statuses below 500 after which a request is made again (RFC 9110, RFC 6585, RFC 8470)."""
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


@dataclass(frozen=True)
class Answer:
    """What a service sent back; the names of `headers` are in small letters, or it does not look at case."""

    status: int
    headers: Mapping[str, str]
    content: bytes


class Service:
    """A service at an address, with the environment variables that requests to it have: `file` names them in messages,
    `timeout` is the seconds that a request may take.

    It has a client for each request that is under way, each with one connection: one client with a hundred connections
    looks at all of them for each request, which takes ten times the processor's time.
    """

    def __init__(self, file: str, url: str, variables: Sequence[str], timeout: float):
        self.file, self._url, self.variables, self._timeout = file, url, sorted(set(variables)), timeout
        self._idle: list[httpx.AsyncClient] = []
        self._certificates: Any = None

    def needs(self) -> str | None:
        """Return what is missing, the HTTP client or a variable of the environment; None when it can be asked."""
        line = "pip install 'audit[http]'"
        return missing("httpx", line) or missing("tenacity", line) or self._unset()

    def _unset(self) -> str | None:
        for name in self.variables:
            value = os.environ.get(name, "").strip()
            if not value:
                return f"set the environment variable {name}, which {self.file} names"
            if not value.isascii() or not value.isprintable():
                return f"the environment variable {name} must be printable ASCII, without line breaks"
        if fault := check_address(with_variables(self._url)):
            return f"the url of {self.file}, with the environment's values, {fault}"
        return None

    async def exchange(
        self, method: str, address: str, sent: bytes | None, headers: Mapping[str, str] | None = None
    ) -> Answer:
        """Return the answer to one request, whatever its status. Raises Unanswered where there is none, BadOutput for
        one that cannot be read, NotInstalled where something is missing; call it in `masked`."""
        import httpx

        client = self._idle.pop() if self._idle else self._new_client()
        try:
            async with (
                asyncio.timeout(self._timeout),
                client.stream(method, address, content=sent, headers=headers) as response,
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
            if isinstance(problem, httpx.DecodingError):
                raise BadOutput(f"the answer cannot be read ({problem})") from None
            if isinstance(problem, httpx.TransportError):
                raise Unanswered(f"no connection ({type(problem).__name__}: {problem})") from None
            raise
        client.cookies.clear()  # no answer may hang on what was asked before
        self._idle.append(client)
        return Answer(response.status_code, response.headers, bytes(content))

    def _new_client(self) -> "httpx.AsyncClient":
        import httpx

        if needs := self.needs():
            raise NotInstalled(f"{self.file} cannot be asked here; {needs}")
        if self.variables:  # it logs the address of each request, and a part of that may be secret
            logging.getLogger("httpx").setLevel(logging.WARNING)
        if self._certificates is None:
            self._certificates = httpx.create_ssl_context()  # 30 ms: once for all
        # `exchange` limits the whole request. Redirects are not followed: headers would go wherever an answer says.
        headers = {"User-Agent": "audit", "Content-Type": "application/json"}
        return httpx.AsyncClient(verify=self._certificates, timeout=None, headers=headers)

    async def content(
        self, method: str, address: str, sent: bytes | None, headers: Mapping[str, str] | None = None
    ) -> bytes:
        """Return the bytes of the answer to one request. Raises what `exchange` raises, and Unanswered and Declined by
        its status; call it in `masked`."""
        answer = await self.exchange(method, address, sent, headers)
        if 200 <= answer.status < 300:
            return answer.content
        words = self.words(answer.content)
        reason = f"HTTP {answer.status}: {words}".removesuffix(": ")
        if answer.status == 402 or (answer.status in (403, 429) and re.search(_SPENT, words)):
            raise Declined(reason, final=True)
        raise problem_of(answer.status, answer.headers, reason)

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
        """Return the beginning of an answer in one line: spaces are folded when secrets, which may have some, are
        out."""
        return " ".join(self.without_secrets(content[: 64 * 1024].decode("utf-8", "replace")).split())

    def without_secrets(self, text: str, least: int = 1) -> str:
        """Return the text without the values of environment variables, however they are spelled; those of `least`
        characters and more."""
        return without_values(text, {name: os.environ.get(name, "").strip() for name in self.variables}, least)

    @contextmanager
    def masked(self) -> Iterator[None]:
        """Take the values of variables out of any error that is raised in this block. What a service says is cut only
        after that, or half of a secret would stay."""
        try:
            yield
        except AuditError as problem:
            problem.args = (cut(self.without_secrets(str(problem))),)
            raise

    def advice(self, error: str) -> str:
        """Say what to change where every request ends with this error.

        >>> Service("acme.toml", "https://api.example.org/", ["ACME_KEY"], 30).advice("Declined: HTTP 401: no such key")
        'check the environment variable ACME_KEY, which acme.toml names'
        """
        if re.search(r"HTTP 40[13]\b", error):
            if not self.variables:
                return f"see whether it wants a key, which goes to headers of {self.file}"
            return f"check the environment variable {' or '.join(self.variables)}, which {self.file} names"
        for pattern, what in _ADVICE:
            if re.search(pattern, error):
                return f"{what} of {self.file}"
        return f"mend what the error says, or {self.file}"


class OverHttp:
    """A system that asks a service: a subclass calls `keep` and says what is sent and what an answer means (`ask`).

    What a run needs of it is `run_async`: `audit.runner.executors.Asynchronous` makes many requests at once, waits when
    the service asks for it, and tries again. `run` does the same from any executor, one list of inputs at a time.
    """

    service: Service
    batch: int
    concurrency: int

    def keep(self, service: Service, remote: Remote, batch: int = 1) -> None:
        """Take over what a file says of how its service is asked."""
        self.service, self.batch, self.concurrency = service, batch, remote.concurrency
        self.tries, self.patience, self.rate, self.price = remote.tries, remote.patience, remote.rate, remote.price

    async def ask(self, inputs: Sequence[Input]) -> list[Output]:
        """Return one output per input, at most `batch`, in order. Raises Unanswered, Declined and BadOutput."""
        raise NotImplementedError

    def needs(self) -> str | None:
        """Return what is missing, or None."""
        return self.service.needs()

    def advice(self, error: str) -> str:
        """Say what to change where every request ends with this error."""
        return self.service.advice(error)

    def prepare(self) -> None:
        """Import the HTTP client before there are threads and processes that would import it while others work.

        The service itself is not called: if it is away now, the run tries again.
        """
        import httpx  # noqa: F401
        import tenacity  # noqa: F401

    def run(self, inputs: Sequence[Input]) -> list[Output]:
        """Return one output per input, with as many requests at once as allowed, and again where there was no answer.
        Raises what the first one raised that had none in the end."""
        return asyncio.run(self._run(inputs))

    async def _run(self, inputs: Sequence[Input]) -> list[Output]:
        try:
            return await asked_in_pieces(self, inputs, self.run_async)
        finally:
            await self.close_async()

    async def run_async(self, inputs: Sequence[Input]) -> list[Output]:
        """As `ask`, with no secret in any error."""
        with self.service.masked():
            return await self.ask(inputs)

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
        after = seconds_to_wait(headers.get("retry-after"), headers.get("date"))
        return Unanswered(reason, after, inputs=status == 500)
    return Declined(reason, inputs=status in _ABOUT_INPUTS)


def seconds_to_wait(after: str | None, date: str | None = None) -> float | None:
    """Return what `Retry-After` asks for, in seconds from now; None where it says nothing that can be read.

    It is a number of seconds or an HTTP date (RFC 9110, section 10.2.3), which is counted from the answer's own `Date`
    where there is one: the service's clock need not be ours.

    >>> seconds_to_wait("Sat, 21 Nov 2026 17:00:30 GMT", date="Sat, 21 Nov 2026 17:00:00 GMT")
    30.0
    """
    written = (after or "").strip()
    if written.isascii() and written.replace(".", "", 1).isdigit():
        return float(written)
    until, now = _moment(written), _moment(date)
    if until is None:
        return None
    return max(0.0, until - (datetime.now(UTC).timestamp() if now is None else now))


def _moment(date: str | None) -> float | None:
    try:
        moment = parsedate_to_datetime(date or "")
    except (ValueError, OverflowError):
        return None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def with_variables(text: str) -> str:
    """Return the text with the values of environment variables in it; only for what is sent."""
    return VARIABLE.sub(lambda match: os.environ.get(match[1], "").strip(), text)


def without_values(text: str, secrets: Mapping[str, str], least: int = 1) -> str:
    """Return the text without secrets (name -> value), however they are spelled; those of `least` characters and more.

    >>> without_values("bad key a%2Fb or a/b", {"KEY": "a/b"})
    'bad key ${KEY} or ${KEY}'
    """
    for name, value in sorted(secrets.items(), key=lambda item: -len(item[1])):
        if len(value) >= max(least, 1):
            ways = (html.escape(value), json.dumps(value)[1:-1], quote(value), quote(value, safe=""), quote_plus(value))
            for spelled in (*ways, value):
                text = text.replace(spelled, f"${{{name}}}")
    return text


def cut(text: str) -> str:
    """Return the beginning of what a service says, as much as is kept."""
    return text if len(text) <= WORDS else text[: WORDS - 3] + "..."
