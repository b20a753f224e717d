"""What all cloud services share: limits of texts, requests, errors, secrets; and the two ways to ask one.

A subclass says as attributes what its vendor documents, and has `ask`, which makes one request. An answer that came in
part is kept until its call is made again, so that no text is paid for twice; one text that a service fails at is a
stored error of that text alone.
"""

import asyncio
import json
import logging
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from importlib.util import find_spec
from threading import Lock, local
from types import SimpleNamespace
from typing import Any, ClassVar, TypeVar

from audit.errors import AuditError, BadOutput, Declined, NotInstalled, Unanswered, install_line
from audit.packs.cloud.cloud_file import read_cloud_file
from audit.systems.asking import asked_in_pieces
from audit.systems.http_file import Languages
from audit.systems.remote_file import VARIABLE, check_address, kind
from audit.systems.service import Clients, Service, cut, problem_of, with_variables, without_values
from audit.tasks import Input, Output
from audit.user_models import short

Returned = TypeVar("Returned")
Outcome = Output | AuditError
"""What became of one input: its output, or why there is none. Unanswered: it is asked again."""


_ABOUT_TEXTS = (400, 405, 406, 413, 414, 422)
"""Statuses that come, with a code, for what is wrong with a text (405: Alibaba's for one that is too long)."""


class Connector:
    """A cloud service as a `System` and an `AsynchronousSystem`, with the settings of a file where `path` names one.

    Creating it reads the file and raises BadFile for what is wrong with it; nothing is asked, no client is loaded.
    """

    spec: ClassVar[str]
    service: ClassVar[str]
    """The vendor's name of the service."""
    operation: ClassVar[str]
    api: ClassVar[str]
    """The version of the interface, which is the system's version unless the file has another."""
    tasks: tuple[str, ...]
    spoken: ClassVar[tuple[str, ...]]
    """Languages of texts; "*" is any."""
    codes: ClassVar[Mapping[str, str]] = {}
    labels: ClassVar[Mapping[str, str]] = {}
    """Its words for labels -> ours."""
    endpoint: ClassVar[str]
    """Where it is, unless the file says; `{region}` and `${NAME}` in it are filled in."""
    region: ClassVar[str | None] = None
    neutral: ClassVar[float | None] = None
    options: ClassVar[frozenset[str]] = frozenset()
    """Keys of files that it has, beside `endpoint`, and `languages` and `codes` or `labels`."""
    fixed: ClassVar[Mapping[str, object]] = {}
    """Further settings that nobody can change."""

    most: ClassVar[int]
    """Of one text, as `measure` counts."""
    unit: ClassVar[str] = "characters"
    in_request: ClassVar[int | None] = None
    """The most of all texts of a request together; None: no such limit."""
    documents: ClassVar[int] = 1
    """The most texts of a request."""

    variables: ClassVar[tuple[str, ...]] = ()
    """Environment variables that have to be set."""
    accepted: ClassVar[str] = ""
    """How credentials are given, for who gave wrong ones."""
    refusals: ClassVar[frozenset[str]] = frozenset()
    """Codes of errors about credentials."""
    crowding: ClassVar[frozenset[str]] = frozenset()
    """Codes of errors after which it is asked again, less often."""
    failures: ClassVar[frozenset[str]] = frozenset()
    """Codes of errors after which it is asked again."""
    closings: ClassVar[frozenset[str]] = frozenset()
    """Codes of errors that hold for every text until somebody does something: no money, no such service."""

    def __init__(self, path: str = ""):
        own = {"codes", "languages"} if self.translates else {"languages", "codes", "labels"}
        self.file = read_cloud_file(path, self.options | own | {"endpoint"}, self.tasks)
        self._path = path
        self.name, self.version = self.file.name or self.spec, self.file.version or self.api
        self._region = self.file.region or self.region
        self._endpoint = self.file.endpoint or self.endpoint.replace("{region}", self._region or "")
        self._neutral = self.neutral if self.file.neutral is None else self.file.neutral
        self._words = {**self.labels, **self.file.labels}
        languages = self.file.languages or self.spoken
        self.languages: tuple[str, ...] = languages
        self._between = Languages(languages, (), {**self.codes, **self.file.codes})
        self.batch, self.concurrency = self.documents, self.file.concurrency
        self.tries, self.patience, self.rate = self.file.tries, self.file.patience, self.file.rate
        self.price = self.file.price
        self.summary = f"{self.service}, {self.operation}"
        self._answered: dict[tuple[Input, int], Output] = {}
        """Outputs of calls that came in part, by input and how often it stands before it in its call."""
        self._refusal = ""
        """What it said of the credentials, where it has answered nothing yet: it is asked no more."""
        self._has_answered = False

    def __reduce__(self) -> tuple[type["Connector"], tuple[str]]:
        return type(self), (self._path,)  # without clients and their secrets

    @property
    def translates(self) -> bool:
        """Whether it is a translation service."""
        return "translation" in self.tasks

    @property
    def settings(self) -> Mapping[str, object]:
        """What may change an output. How it is asked (pace, patience) is none of it, nor is any credential."""
        settings: dict[str, object] = {
            "service": self.service,
            "operation": self.operation,
            "languages": list(self.languages),
            **self.fixed,
        }
        optional = {
            "endpoint": self._endpoint or None,
            "region": self._region,
            "project": self.file.project,
            "labels": self._words,
            "codes": self._between.codes,
            "neutral": self._neutral,
        }
        return settings | {name: value for name, value in optional.items() if value not in (None, {})}

    # Whether it can be asked

    def needs(self) -> str | None:
        """None when it can be asked; else what is missing: a package, or a variable of the environment."""
        if self.module and not installed(self.module):
            return install_line(self.extra)
        return self.unset()

    module: ClassVar[str] = "httpx"
    extra: ClassVar[str] = "http"

    def unset(self) -> str | None:
        """What is missing or wrong in the environment, in words."""
        for name in dict.fromkeys([*self.variables, *VARIABLE.findall(self._endpoint)]):
            value = os.environ.get(name, "").strip()
            if not value:
                return f"set the environment variable {name}, which {self.spec} is asked with"
            if not value.isascii() or not value.isprintable():
                return f"the environment variable {name} must be printable ASCII, without line breaks"
        if fault := check_address(self.address):
            return f"the endpoint of {self._path or self.spec}, with the environment's values, {fault}"
        return None

    @property
    def address(self) -> str:
        """Where it is asked, without a slash at the end."""
        return with_variables(self._endpoint).rstrip("/")

    def lacks(self, item: Input) -> bool:
        """Whether it is no service for this pair of languages."""
        return self.translates and not self._between.has(item)

    # Secrets

    def secrets(self) -> dict[str, str]:
        """What may appear nowhere, by the name that stands in its place."""
        return {name: os.environ.get(name, "").strip() for name in self.variables}

    def without_secrets(self, text: str, least: int = 4) -> str:
        """The text without secrets of `least` characters and more."""
        return without_values(text, {name: value for name, value in self.secrets().items() if value}, least)

    @contextmanager
    def masked(self) -> Iterator[None]:
        """No error that is raised in this block has a secret in it."""
        try:
            yield
        except AuditError as problem:
            problem.args = (self._said(problem),)
            raise

    def _said(self, problem: AuditError) -> str:
        return cut(" ".join(self.without_secrets(str(problem)).split()))

    # Running

    def run(self, inputs: Sequence[Input]) -> list[Output]:
        """As many requests at once as allowed, and again where there was no answer. Raises what the first one raised
        that had none in the end."""
        return asyncio.run(self._run(inputs))

    async def _run(self, inputs: Sequence[Input]) -> list[Output]:
        try:
            return await asked_in_pieces(self, inputs, self.run_async)
        finally:
            await self.close_async()

    async def run_async(self, inputs: Sequence[Input]) -> list[Output]:
        """At most `batch` inputs, in one request for each language or pair of languages. Raises Unanswered and
        Declined; a text that the service fails at, or that is too long for it, is an output that is an error."""
        keys = [(item, sum(before == item for before in inputs[:place])) for place, item in enumerate(inputs)]
        own = [self._without_asking(item) for item in inputs]
        waiting = [place for place, output in enumerate(own) if output is None and keys[place] not in self._answered]
        again: Unanswered | None = None
        for places in self._requests(inputs, waiting):
            with self.masked():
                if self._refusal and not self._has_answered:
                    raise Declined(self._refusal)
                outcomes = await self.ask([inputs[place] for place in places])
            self._has_answered = True
            if len(outcomes) != len(places):
                raise BadOutput(f"{len(outcomes)} outputs for {len(places)} inputs")
            for place, outcome in zip(places, outcomes, strict=True):
                if isinstance(outcome, Unanswered):
                    again = Unanswered(self._said(outcome), outcome.after, outcome.crowded, inputs=True)
                else:
                    self._answered[keys[place]] = self._output(outcome)
        if again is not None:
            raise again
        return [self._answered.pop(key) if output is None else output for key, output in zip(keys, own, strict=True)]

    def _output(self, outcome: Outcome) -> Output:
        if isinstance(outcome, AuditError):
            return Output(error=self._said(outcome))
        if outcome.text is None:
            return outcome
        # A short value may be a word of the language, and no text is changed for that.
        return Output(outcome.label, outcome.score, self.without_secrets(outcome.text, least=8))

    def _without_asking(self, item: Input) -> Output | None:
        """The output for which nobody has to be asked, or None."""
        if self.lacks(item):
            return Output()
        for text in item.texts:
            if not text.strip():
                return Output(error=f"the text is empty, which {self.service} does not take")
            if (size := self.measure(text)) > self.most:
                return Output(
                    error=f"the text has {size:,} {self.unit}, {self.service} takes {self.most:,} at most in a text"
                )
        return None

    def _requests(self, inputs: Sequence[Input], places: Sequence[int]) -> Iterator[list[int]]:
        """The places of each request: of one language or pair of languages, no more than a request may have."""
        by_language: dict[tuple[str, ...], list[int]] = {}
        for place in places:
            by_language.setdefault(inputs[place].languages, []).append(place)
        for same in by_language.values():
            request: list[int] = []
            size = 0
            for place in same:
                more = sum(map(self.measure, inputs[place].texts))
                full = self.in_request is not None and size + more > self.in_request
                if request and (full or len(request) == self.documents):
                    yield request
                    request, size = [], 0
                request.append(place)
                size += more
            yield request

    def measure(self, text: str) -> int:
        """The size of a text as the service counts it, or a little more: those that count characters count them in
        different ways.

        >>> Connector.unit, Connector.measure(Connector.__new__(Connector), "naïve 🎬")
        ('characters', 8)
        """
        if self.unit == "bytes":
            return len(text.encode("utf-8", "replace"))
        # A character of UTF-16 that is a pair counts as two.
        return len(text) + sum(character > "\uffff" for character in text)

    async def ask(self, inputs: Sequence[Input]) -> list[Outcome]:
        """One request: what became of each of these inputs, all of the same languages. Raises Unanswered, Declined and
        BadOutput for what holds for all."""
        raise TypeError(f"{type(self).__name__} must define ask")

    async def close_async(self) -> None:
        """End the connections that are kept for `run_async`."""

    def prepare(self) -> None:
        """Load what asking needs, before there are threads that would load it while others work."""

    # What answers mean

    def language(self, item: Input, side: str = "source") -> str:
        """The service's code of a language of the input; `side` is "source" or "target"."""
        return self._between.name(item, side)

    def label(self, word: object) -> str:
        """Our label for the service's. Raises BadOutput for one that nobody translates."""
        if isinstance(word, str | int) and str(word) in self._words:
            return self._words[str(word)]
        raise BadOutput(
            f"the label {short(word)} of {self.service} has no meaning here; say in its file what it is, as in "
            f'labels = {{ "..." = "{next(iter(self._words.values()))}" }}'
        )

    def label_of_number(self, number: float) -> tuple[str, float]:
        """The label for a number from -1 to 1, and a confidence in it."""
        if abs(number) <= (self._neutral or 0.0):
            return "neutral", max(0.0, 1 - abs(number))
        return ("positive" if number > 0 else "negative"), min(1.0, abs(number))

    def problem(
        self, code: str, words: str, status: int | None = None, headers: Mapping[str, str] | None = None
    ) -> AuditError:
        """The error for a code and the words of the service, and the HTTP status where it says something: whether to
        ask again, and what to change."""
        reason = f"{code}: {words}".strip(": ") if words != code else code
        by_status = problem_of(status, headers or {}, reason) if status is not None and status >= 300 else None
        after = by_status.after if isinstance(by_status, Unanswered) else None
        if code in self.crowding:
            return Unanswered(reason, after, crowded=True)
        if code in self.failures:
            return Unanswered(reason, after, inputs=True)
        if code in self.closings:
            return Declined(reason)
        if code in self.refusals or (by_status is not None and status in (401, 403)):
            self._refusal = f"{self.service} refuses the credentials; check {self.accepted} ({reason})"
            return Declined(self._refusal)
        if by_status is None or (status in _ABOUT_TEXTS and not code.startswith("HTTP ")):
            return Declined(reason, inputs=True)
        return by_status


def installed(module: str) -> bool:
    """Whether a module is there, which may be inside a package that is not."""
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:  # the package that it is in
        return False


def number(value: object, name: str) -> float:
    """A number of an answer. Raises BadOutput for anything else.

    >>> number(0.25, "score")
    0.25
    """
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise BadOutput(f"{name} must be a number, the answer has {kind(value)}")
    return float(value)


def score_of(scores: object, name: str) -> float | None:
    """The score that stands in an answer under this name; None where there is none. Raises BadOutput for one that is
    no number.

    >>> score_of({"Positive": 0.9}, "Positive"), score_of({"Positive": 0.9}, "Amazed")
    (0.9, None)
    """
    value = scores.get(name) if isinstance(scores, dict) else None
    return None if value is None else number(value, f"the score {name}")


def entry(document: object, *names: str | int) -> Any:
    """What stands in an answer under these names, one inside the other. Raises BadOutput where there is none.

    >>> entry({"items": [{"sentiment": 2}]}, "items", 0, "sentiment")
    2
    """
    value = document
    for name in names:
        inside = isinstance(value, dict) if isinstance(name, str) else isinstance(value, list) and name < len(value)
        if not inside or (isinstance(value, dict) and name not in value):
            spelled = repr(name) if isinstance(name, str) else f"place {name}"
            raise BadOutput(f"the answer has no {spelled}, but {kind(value)}")
        value = value[name]  # type: ignore[index]
    return value


def outcome_of(make: Callable[[], Output]) -> Outcome:
    """The output that `make` returns, or why it cannot be made: of one text, whatever the others have."""
    try:
        return make()
    except (AuditError, ValueError, TypeError, AttributeError, KeyError, ArithmeticError) as problem:
        return problem if isinstance(problem, AuditError) else BadOutput(f"the answer cannot be read ({problem})")


class OverHttps(Connector):
    """A service that is asked by HTTP itself: it has no client, or none that is kept or small."""

    def __init__(self, path: str = ""):
        super().__init__(path)
        self._http = Service(path or self.spec, self._endpoint, self.variables, self.file.timeout)
        self._clients: Clients | None = None

    def prepare(self) -> None:
        import httpx  # noqa: F401

    async def post(self, address: str, sent: bytes, headers: Mapping[str, str]) -> tuple[int, Mapping[str, str], Any]:
        """Status, headers and JSON of the answer, whatever its status. Raises Unanswered where there is none, and
        BadOutput for one of status 200 that is no JSON."""
        if needs := self.needs():
            raise NotInstalled(f"{self.spec} cannot be asked here; {needs}")
        if self._clients is None:
            self._clients = self._http.clients({})
        answer = await self._http.exchange(self._clients, "POST", address, sent, headers)
        if 200 <= answer.status < 300:
            return answer.status, answer.headers, self._http.document(answer.content)
        try:
            document = json.loads(answer.content)
        except ValueError:
            document = None
        if not isinstance(document, dict):
            raise self.problem(f"HTTP {answer.status}", self._http.words(answer.content), answer.status, answer.headers)
        return answer.status, answer.headers, document

    async def close_async(self) -> None:
        if self._clients is not None:
            clients, self._clients = self._clients, None
            await clients.aclose()


class WithClient(Connector):
    """A service that is asked by its official client, which waits: so in threads, as many as there are requests at
    once. The client's own retries are off: who asks again is `audit.systems.asking`."""

    loggers: ClassVar[tuple[str, ...]] = ()
    """Loggers of the client that write down requests."""
    shared: ClassVar[bool] = False
    """Whether threads may share a client; else each has its own, with connections of its own."""

    def __init__(self, path: str = ""):
        super().__init__(path)
        self._lock = Lock()
        self._held: Any = SimpleNamespace() if self.shared else local()
        self._threads: ThreadPoolExecutor | None = None

    def make_client(self) -> Any:
        """The vendor's client. Whatever it raises goes through `translated`."""
        raise TypeError(f"{type(self).__name__} must define make_client")

    def translated(self, problem: Exception) -> AuditError:
        """What an exception of the client means. One that nobody knows is an answer that cannot be read."""
        raise TypeError(f"{type(self).__name__} must define translated")

    def client(self) -> Any:
        """The client, made once (for each thread). Raises AuditError, without secrets."""
        with self._lock:
            if not hasattr(self._held, "client"):
                if needs := self.needs():
                    raise NotInstalled(f"{self.spec} cannot be asked here; {needs}")
                for name in self.loggers:
                    logging.getLogger(name).setLevel(logging.WARNING)
                with self.masked():
                    self._held.client = self._translating(self.make_client)
        return self._held.client

    def prepare(self) -> None:
        """Load the client, which says what is wrong with the settings; nothing is asked."""
        self.client()

    def _translating(self, work: Callable[[], Returned]) -> Returned:
        try:
            return work()
        except AuditError:
            raise
        except Exception as problem:  # the client's: any of a dozen types
            raise self.translated(problem) from None

    async def in_thread(self, work: Callable[[Any], Returned]) -> Returned:
        """What `work` returns, called with the client in a thread. Raises what `translated` makes of its errors."""
        if self._threads is None:
            self._threads = ThreadPoolExecutor(self.concurrency, thread_name_prefix=self.spec)
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(self.file.timeout):
                return await loop.run_in_executor(self._threads, lambda: self._translating(lambda: work(self.client())))
        except TimeoutError:
            raise Unanswered(f"no answer within {self.file.timeout:g} s", crowded=True) from None

    async def close_async(self) -> None:
        threads, self._threads = self._threads, None
        if threads is not None:
            threads.shutdown(wait=False, cancel_futures=True)


def unread(problem: Exception) -> AuditError:
    """The error for an exception that says that an answer has another form than it should."""
    return BadOutput(f"the answer cannot be read ({type(problem).__name__}: {problem})")


def unreachable(problem: Exception, what: str) -> AuditError:
    """The error for an exception that says that there was no connection; `what` may be wrong with the settings."""
    return Unanswered(f"no connection; if this goes on, check {what} ({type(problem).__name__}: {problem})")
