"""What systems share that a TOML file describes, and those among them that ask another machine: the file, reading
outputs, asking again, requests without secrets."""

import asyncio
import json
import logging
import os
import re
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, ExitStack, contextmanager, nullcontext
from email.utils import parsedate_to_datetime
from functools import cache, partial
from typing import TYPE_CHECKING, Annotated, Any, TypeVar
from urllib.parse import parse_qsl, quote, quote_plus, urlsplit

from pydantic import AfterValidator, BeforeValidator, Field, JsonValue, Strict, model_validator

from audit.errors import AuditError, BadOutput, Declined, NotInstalled, Unanswered, install_line, installed_extras
from audit.files import parse_json, read_text, toml_of
from audit.systems.base import missing
from audit.systems.foreign import number, shortened, shown
from audit.tasks import Input, Output, get_task, labels_together, spellings, takes_several
from audit.text.languages import is_code
from audit.user_models import Allowed, Mistake, UserModel, read_as, refuse, sure

if TYPE_CHECKING:
    import httpx

HELP = "see docs/reference/systems.md"
EVERY = "*"  # Stands for any language
TRIES = 6  # Times that a call is made; with the waits between, about 8 s where the machine refuses at once
PATIENCE = 300.0  # Seconds without any answer, or that a machine may ask for, after which a run asks it no more
FIRST_WAIT, LONGEST_WAIT = 0.5, 30.0  # Bounds of the random wait after the first try, which doubles, and of any wait
LARGEST = 16 * 1024 * 1024  # Bytes of an answer; what is longer is an error, whatever the service says of its length
WORDS = 300  # Characters kept of what a service says beside an error
CHARACTERS_OF_TOKEN = 4  # About as many characters of English are a token of a language model; fewer of Chinese
SILENCE = (Unanswered, TimeoutError, ConnectionError)
"""What a call raises that may be answered when it is made again."""
_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
_SECRET = re.compile(r"(auth|authorization|cookie|token|secret|password|passwd|key)$", re.IGNORECASE)
_SPENT = re.compile(r"insufficient[ _](quota|balance|credits?)|billing_(hard_limit|not_active)", re.IGNORECASE)
"""What services say, beside status 402, where the account has no money left: asking again cannot help."""
File = TypeVar("File", bound=UserModel)
Answer = TypeVar("Answer")

# The file


def read_system_file(model: type[File], path: str, kind: str, advice: str = HELP) -> File:
    """Return what a file says of the system `KIND:PATH`. Raises AuditError where no file is named, and BadFile."""
    if not path or path.startswith("//"):
        raise AuditError(f"'{kind}:{path}' names nothing; write {kind}:FILE.toml, a file that describes it ({advice})")
    return read_as(model, toml_of(path, read_text(path), advice), path, advice)


def strings(value: object, key: str = "") -> Iterator[tuple[str, str]]:
    """Yield every text in a JSON document, with the name that it stands under."""
    if isinstance(value, str):
        yield key, value
    elif isinstance(value, dict | list):
        for name, inner in value.items() if isinstance(value, dict) else [(key, inner) for inner in value]:
            yield from strings(inner, name)


def _checked_url(url: str) -> str:
    if "@" in urlsplit(url).netloc:  # not shown: it is a secret
        raise Mistake('has a name or password in it; send them as headers.Authorization = "Basic ${NAME}"')
    if not re.match(r"https?://[^/?#:]|\$\{", url) or not re.fullmatch(r"[!-~]+", url):
        raise Mistake(f"{url!r} must begin with http:// or https:// and name a machine")
    return url


def _are_codes(codes: Iterable[str]) -> bool:
    return all(code == EVERY or is_code(code) for code in codes)


Text = Annotated[str, Allowed("a text in quotes that is not empty", lambda text: bool(text.strip()))]
Spelled = Annotated[Text, BeforeValidator(lambda value: value if isinstance(value, bool | list | dict) else str(value))]
"""A name or version that may be written 2, 1.5 or 2026-11-21, which TOML reads as other things than texts."""
TaskName = Annotated[Text, AfterValidator(lambda name: sure(lambda: get_task(name)) and name)]
Url = Annotated[Text, AfterValidator(_checked_url)]
Words = Annotated[dict[str, str], Allowed('a table of texts, for example { POS = "positive" }')]
Codes = Annotated[dict[str, str], Allowed('a table of codes such as { zh = "zh-CHS" }', _are_codes)]
_CODES = Allowed('a list of codes such as ["en", "pt-BR"], or ["*"]', lambda codes: bool(codes) and _are_codes(codes))
Languages = Annotated[tuple[str, ...], Strict(False), _CODES]


class Price(UserModel):
    """What a service takes: for each request, for a million characters that it is sent, for a million tokens in and
    out. `output_tokens` is how many an answer has, as far as one can say before."""

    currency: str = "USD"
    call: float = Field(0.0, ge=0)
    characters: float = Field(0.0, ge=0)
    input_tokens: float = Field(0.0, ge=0)
    answers: float = Field(0.0, ge=0)
    output_tokens: float = Field(10.0, ge=0)

    def of(self, calls: int, characters: int, tokens: float | None = None, answered: float | None = None) -> float:
        """Return what requests cost; tokens that were not counted are estimated."""
        tokens = characters / CHARACTERS_OF_TOKEN if tokens is None else tokens
        answered = self.output_tokens * calls if answered is None else answered
        per_million = self.characters * characters + self.input_tokens * tokens + self.answers * answered
        return self.call * calls + per_million / 1_000_000


class SystemFile(UserModel):
    """What every file that describes a system has."""

    name: Spelled = Field(description="it is what reports call the system")
    version: Spelled = Field(description="nobody can see from here when it changes: change the version when it does")
    deterministic: bool | None = None  # Whether it always answers the same; None: nobody knows
    languages: Languages | None = None
    labels: Words = Field({}, repr=False)  # Its own words for labels -> ours


class Remote(SystemFile):
    """What every file that describes a service has beside. Values keep `${NAME}` in place of a secret, so all of it may
    be stored and shown. The pace (from `concurrency` on) identifies no system."""

    url: Url = Field(description="it is the address that requests go to")
    headers: Words = Field({}, repr=False)
    request: JsonValue = None  # What is sent, or what is sent beside
    concurrency: int = Field(8, ge=1, le=1_000)
    timeout: float = Field(30.0, ge=0.01, le=86_400)  # Seconds that a request may take
    tries: int = Field(TRIES, ge=1, le=100)
    patience: float = Field(PATIENCE, ge=0, le=86_400)
    rate: Annotated[float, Field(gt=0, le=100_000)] | None = None  # The most requests a second
    price: Price | None = None

    @model_validator(mode="after")
    def _can_be_shown(self) -> "Remote":
        query = dict(parse_qsl(urlsplit(self.url).query))
        said = {"headers": self.headers, "request": self.request, "url": query, "api_key": getattr(self, "api_key", "")}
        for where, part in said.items():
            for name, value in strings(part, where):
                if value and _SECRET.search(name) and not _VARIABLE.search(value) and "{text" not in value:
                    secret = 'looks like a secret: take it from the environment, for example "${SERVICE_KEY}"'
                    raise Mistake(secret, where if name == where else f"{where}.{name}")
        return self


class FromFile:
    """A system that a file describes; `argument` names the file."""

    summary: str
    settings: Mapping[str, object]

    def __init__(self, argument: str, file: SystemFile, tasks: tuple[str, ...], languages: tuple[str, ...]):
        self._made_of: tuple[str, ...] = (argument,)
        self.name, self.version, self.deterministic = file.name, file.version, file.deterministic
        self.tasks, self.languages = tasks, languages
        by_task = [get_task(task).labels for task in tasks]
        allowed = [label for labels in by_task for label in labels] if all(by_task) else file.labels.values()
        if unknown := [label for label in file.labels.values() if label not in allowed]:
            wrong = f"{unknown[0]!r} is no label of {', '.join(tasks)}; allowed are {', '.join(allowed)}"
            refuse(argument, [("labels", wrong)], HELP)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), self._made_of  # without what it holds, and secrets

    def needs(self) -> str | None:
        """Return what is missing, None when it can be asked."""
        raise NotImplementedError

    def prepare(self) -> None:
        """Raise NotInstalled where something is missing."""
        if needs := self.needs():
            raise NotInstalled(f"system {self.name} cannot run here; {needs}")


class OutputReader:
    """Makes outputs of the values in answers. Labels are in the file's words, or the tasks' in any case; `clean` takes
    secrets out of a text."""

    def __init__(
        self, labels: Mapping[str, str], tasks: Sequence[str], clean: Callable[..., str] = lambda text, _: text
    ):
        self._labels, self._tasks, self._clean, self._spelling = labels, tasks, clean, spellings(tasks)

    def __call__(self, label: Any, score: Any = None, text: Any = None) -> Output:
        """Return the output that these values are. Raises BadOutput."""
        if isinstance(label, list) and takes_several(self._tasks):
            label = labels_together([self._label(part) for part in label], self._tasks)
        elif label is not None:
            label = self._label(label)
        if score is not None and number(score) is None:
            raise BadOutput(f"a score must be a number, the answer has {shown(score)}")
        # A short secret may be a word of the language, and no text is changed for that.
        return Output(label, number(score), None if text is None else self._written(text, "text", 8))

    def _written(self, value: object, what: str, least: int = 1) -> str:
        if isinstance(value, bool) or not isinstance(value, str | int if what == "label" else str):
            raise BadOutput(f"a {what} must be a text, the answer has {shown(value)}")
        return self._clean(str(value), least)

    def _label(self, value: object) -> str:
        written = self._written(value, "label")
        return self._labels.get(written) or self._spelling.get(written.strip().casefold(), written)


# Asking again


class Asking:
    """The way to one machine, shared by all calls to it, on one event loop: at most `limit` calls at once and `rate` a
    second, each made up to `tries` times, until nothing was answered for `patience` seconds."""

    def __init__(self, limit: int, tries: int = TRIES, patience: float = PATIENCE, rate: float | None = None):
        with installed_extras():
            import tenacity
            from aiolimiter import AsyncLimiter

        self._times, self._patience = "once" if tries == 1 else f"{tries} times", patience
        self._places = asyncio.Semaphore(limit)
        self._pace: AbstractAsyncContextManager[Any] = AsyncLimiter(1, 1 / rate) if rate else nullcontext()
        # A pause and giving up are the machine's, not a call's, which is why tenacity does not hold them.
        self._paused_until, self._given_up = 0.0, ""
        self._failing_since: float | None = None
        self._retrying = partial(
            tenacity.AsyncRetrying,
            retry=tenacity.retry_if_exception_type(SILENCE),
            stop=tenacity.stop_after_attempt(tries),
            wait=tenacity.wait_random_exponential(FIRST_WAIT, max=LONGEST_WAIT),
            reraise=True,
        )

    async def ask(self, call: Callable[[], Awaitable[Answer]]) -> Answer:
        """Return what the call returns, made when there is a place for it. Raises what the call raises, Unanswered
        after the last try, and Declined once the machine is given up."""
        async with self._places:  # held between tries: a machine in trouble is asked less
            try:
                answer: Answer = await self._retrying()(self._once, call)
                return answer
            except SILENCE as problem:
                words = f"{str(problem) or type(problem).__name__} (asked {self._times})"
                raise Unanswered(words, inputs=getattr(problem, "inputs", False)) from None

    async def _once(self, call: Callable[[], Awaitable[Answer]]) -> Answer:
        now = asyncio.get_running_loop().time
        async with self._pace:
            pass
        while not self._given_up and (wait := self._paused_until - now()) > 0:
            await asyncio.sleep(wait)
        if self._given_up:
            raise Declined(self._given_up)
        began, is_there = now(), True  # whatever an answer is worth
        try:
            return await call()
        except (*SILENCE, Declined) as problem:
            is_there = isinstance(problem, Declined) and problem.inputs
            if not is_there:
                self._note(problem, began, now())
            raise
        finally:
            if is_there:
                self._failing_since = None

    def _note(self, problem: Exception, began: float, now: float) -> None:
        """Note a pause that the machine asks for, and give it up where that is too long or nothing else helps."""
        after = getattr(problem, "after", None) or 0.0
        self._paused_until = max(self._paused_until, now + after)
        self._failing_since = self._failing_since or began
        failing, why = now - self._failing_since, str(problem) or type(problem).__name__
        if after > self._patience:
            why += f"; it asks for {after:,.0f} s, patience is {self._patience:,.0f} s"
        elif failing >= self._patience:
            why += f"; nothing was answered for {failing:,.0f} s"
        elif not getattr(problem, "final", False):
            return
        self._given_up = self._given_up or f"{why}, so this run asks it no more"


def asking_of(system: Any) -> Asking:
    """Return the way to the machine of a system, or of a file that describes one, at the pace that it says."""
    pace: dict[str, Any] = {"tries": TRIES, "patience": PATIENCE, "rate": None}
    return Asking(getattr(system, "concurrency", 1), **{name: getattr(system, name, pace[name]) for name in pace})


# Requests


class Service:
    """A service, with the environment variables that are in `texts` of requests to it, which `file` names.

    Their values are read when requests are made, kept nowhere else, and taken out of every message and output, as
    `tokens` are, other secrets by what stands in their place.
    """

    def __init__(self, file: str, texts: Iterable[str], timeout: float):
        self.file, self._timeout = file, timeout
        self.variables = sorted({name for text in texts for name in _VARIABLE.findall(text)})
        self.tokens: dict[str, str] = {}
        # Clients with one connection each: one client looks at all of its hundred connections for each request.
        self._idle: list[httpx.AsyncClient] = []
        self._turn = asyncio.Lock()

    def needs(self) -> str | None:
        """Return what is missing, the HTTP client or a variable of the environment; None when it can be asked."""
        if any(missing(module, "") is not None for module in ("httpx", "tenacity", "aiolimiter", "jmespath")):
            return install_line("http")
        unset = [name for name in self.variables if not os.environ.get(name, "").strip()]
        return f"set the environment variable {unset[0]}, which {self.file} names" if unset else None

    async def exchange(
        self, address: str, sent: bytes, headers: Mapping[str, str], method: str = "POST"
    ) -> "tuple[int, Mapping[str, str], bytes]":
        """Return status, headers and content of the answer to one request, made in `masked`. Raises Unanswered where
        there is none, BadOutput for one that cannot be read, NotInstalled where something is missing.

        Requests are sent one after the other. Else those that follow a hundred answers that come together are made a
        step each in turn and leave together, and the service has nothing to do meanwhile: that cost a quarter.
        """
        import httpx

        with ExitStack() as turn:
            if self._idle:  # else a connection is made first, which may take long
                await self._turn.acquire()
                turn.callback(self._turn.release)
            client = self._idle.pop() if self._idle else self._new_client()

            async def content_sent() -> AsyncIterator[bytes]:
                yield sent
                turn.close()

            filled = {name: with_variables(value) for name, value in headers.items()}
            filled["Content-Length"] = str(len(sent))
            content = bytearray()
            try:
                request = client.build_request(method, with_variables(address), content=content_sent(), headers=filled)
                async with asyncio.timeout(self._timeout):
                    response = await client.send(request, stream=True)
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
        """Return the content of the answer to one request, made in `masked`. Raises what `exchange` raises, and
        Unanswered and Declined by its status."""
        status, sent_back, content = await self.exchange(address, sent, headers, method)
        if 200 <= status < 300:
            return content
        words = self.words(content)
        raise problem_of(status, sent_back, f"HTTP {status}: {words}".removesuffix(": "))

    async def close(self) -> None:
        """End the connections; the next request opens others, on any event loop."""
        while self._idle:
            await self._idle.pop().aclose()
        self._turn = asyncio.Lock()

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
            if len(value) >= least:
                for spelled in (value, quote(value), quote(value, ""), quote_plus(value), json.dumps(value)[1:-1]):
                    text = text.replace(spelled, f"${{{name}}}")
        return text

    @contextmanager
    def masked(self) -> Iterator[None]:
        """Take secrets out of any error that is raised in this block, and cut it then, or half of one would stay."""
        try:
            yield
        except AuditError as problem:
            problem.args = (shortened(self.without_secrets(str(problem)), WORDS),)
            raise

    def advice(self, error: str) -> str:
        """Say what to change where every request ends with this error."""
        if re.search(r"HTTP 40[123]\b", error) and self.variables:
            return f"check the environment variable {' or '.join(self.variables)}, which {self.file} names"
        what = "name that label in labels" if "label '" in error else "check the url"
        return f"{what} of {self.file}"


@cache
def _certificates() -> Any:
    import httpx

    return httpx.create_ssl_context()  # 30 ms: once for all


def problem_of(status: int, headers: Mapping[str, str], reason: str) -> AuditError:
    """Return the error for an answer whose status is none of 2xx: Unanswered where the request may be made again (RFC
    9110, RFC 6585, RFC 8470), else Declined."""
    if 300 <= status < 400:
        return Declined(f"HTTP {status}: it leads to {headers.get('location')!r}; name that as the url")
    if status == 402 or (status in (403, 429) and _SPENT.search(reason)):
        return Declined(reason, final=True)
    if status in (408, 425, 429) or status >= 500:
        return Unanswered(reason, seconds_to_wait(headers.get("retry-after") or ""), inputs=status == 500)
    return Declined(reason, inputs=status in (400, 413, 414, 422))


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
    return _VARIABLE.sub(lambda match: os.environ.get(match[1], "").strip(), text)


class OverHttp(FromFile):
    """A system that asks a service, which a file describes: a subclass says what is sent and what an answer means.

    A run calls `run_async`, many times at once, waits when the service asks for it, and tries again (`Asking`). `run`
    does the same from any executor, one list of inputs at a time.
    """

    def __init__(self, path: str, file: Remote, service: Service, tasks: tuple[str, ...], batch: int = 1):
        translates = "translation" in tasks
        super().__init__(path, file, tasks, file.languages or ((EVERY,) if translates else ("en",)))
        self.service, self.batch, self.concurrency, self.advice = service, batch, file.concurrency, service.advice
        self.tries, self.patience, self.rate, self.price = file.tries, file.patience, file.rate, file.price
        self.codes: Mapping[str, str] = getattr(file, "codes", {})
        spoken = {"languages": list(self.languages), "codes": dict(self.codes)}
        self.spoken_settings: dict[str, Any] = spoken if translates else {}

    def needs(self) -> str | None:
        return self.service.needs()

    def lacks(self, item: Input) -> bool:
        """Return whether it does not translate this input's text into its target, where it has one."""
        return item.target is not None and self.languages != (EVERY,) and not {*item.languages} <= {*self.languages}

    def language(self, item: Input, side: str) -> str:
        """Return what the service calls the language of the input on this side, "source" or "target"."""
        code = item.languages[0] if side == "source" else item.target or ""
        return self.codes.get(code, code)

    def prepare(self) -> None:
        """Import the HTTP client before there are threads and processes that would import it while others work."""
        super().prepare()
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
        """Return one output per input. Raises what the first one raised that had none in the end."""

        async def answers() -> list[Output]:
            asking = asking_of(self)
            pieces = [inputs[start : start + self.batch] for start in range(0, len(inputs), self.batch)]
            try:
                answered = await asyncio.gather(*(asking.ask(partial(self.run_async, piece)) for piece in pieces))
            finally:
                await self.close_async()
            return [output for outputs in answered for output in outputs]

        return asyncio.run(answers())

    async def close_async(self) -> None:
        """End the connections that are kept for `run_async`."""
        await self.service.close()
