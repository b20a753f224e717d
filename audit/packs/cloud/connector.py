"""What all cloud services share: their table, their file, limits of texts, requests, errors, secrets.

`data/clouds.toml` says what each vendor documents; `audit.packs.cloud.vendors` has what no table can say: credentials,
signatures, and answers that need more than a path. Vendors' own clients are not used: each has retries, time limits,
loggers and a dozen kinds of exceptions of its own, and the requests are simple.

An answer that came in part is kept until its call is made again, so that no text is paid for twice; one text that a
service fails at is a stored error of that text alone.
"""

import json
import os
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Annotated, Any
from urllib.parse import quote, urlencode, urlsplit

from pydantic import BaseModel, Field, model_validator

from audit.errors import AuditError, BadOutput, Declined, Unanswered
from audit.files import parse_json
from audit.resources import data_file
from audit.systems.http import Path, fill_request, follow
from audit.systems.remote_file import (
    VARIABLE,
    Codes,
    Languages,
    Names,
    Remote,
    Spelled,
    Text,
    Url,
    check_codes,
    check_labels,
    kind,
    read_system_file,
)
from audit.systems.service import OverHttp, Service, cut, problem_of, with_variables, without_values
from audit.tasks import Input, Output
from audit.user_models import Allowed, Mistake, refuse, short

Outcome = Output | AuditError
"""What became of one input: its output, or why there is none. Unanswered: it is asked again."""
_ABOUT_TEXTS = (400, 405, 406, 413, 414, 422)
"""Statuses that come, with a code, for what is wrong with a text (405: Alibaba's for one that is too long)."""
_REGION = Allowed(
    "letters, digits and hyphens, such as eu-west-1",
    lambda region: region.isascii() and region.replace("-", "").isalnum(),
)
_OPTIONS = ("region", "project", "labels", "neutral")
"""Keys that not every service has."""
_HELP = "see docs/reference/cloud.md"


class Vendor(BaseModel):
    """A row of the table; `data/clouds.toml` says what its keys are."""

    vendor: str
    operation: str
    api: str
    task: str = "sentiment"
    languages: tuple[str, ...]
    codes: dict[str, str] = {}
    labels: dict[str, str] = {}
    endpoint: str = ""
    options: tuple[str, ...] = ()
    region: str | None = None
    neutral: float | None = None
    fixed: dict[str, str] = {}
    path: str = ""
    request: Any = None
    form: bool = False
    answer: dict[str, str] = {}
    most: int
    unit: str = "characters"
    in_request: int | None = None
    documents: int = 1
    variables: tuple[str, ...] = ()
    key: str = ""
    accepted: str = ""
    code: str = ""
    words: str = ""
    refused: str = ""
    again: str = ""
    closed: str = ""


@cache
def vendors() -> Mapping[str, Vendor]:
    """Return the vendors by the names of their systems."""
    table = tomllib.loads(data_file("clouds.toml").read_text("utf-8"))
    return {name: Vendor.model_validate(row) for name, row in table.items()}


class CloudFile(Remote):
    """The TOML file of any of them, NAME:FILE.toml. Every key may be left out, and so may the file."""

    name: Spelled = ""
    version: Spelled = ""
    region: Annotated[str, _REGION] | None = None
    endpoint: Url | None = None
    project: Text | None = None
    """Of Google Cloud, whom translations are charged to."""
    languages: Names | None = None
    codes: Codes = Field({}, repr=False)
    """Our code of a language -> the service's."""
    neutral: Annotated[float, Field(ge=0, lt=1)] | None = None
    """For services that return a number from -1 to 1: up to here it is neutral."""

    @model_validator(mode="after")
    def _check_languages(self) -> "CloudFile":
        check_codes(self.languages or (), self.codes)
        return self


@dataclass(frozen=True)
class Request:
    """What is sent to a service: bytes, to a path behind its address."""

    path: str
    sent: bytes
    headers: Mapping[str, str] = field(default_factory=dict)


class Connector(OverHttp):
    """A cloud service as a `System` and an `AsynchronousSystem`, with the settings of a file where `path` names one.

    Creating it reads the file and raises BadFile for what is wrong with it; nothing is asked.
    """

    def __init__(self, spec: str, path: str = ""):
        self.vendor = vendor = vendors()[spec]
        self.file = file = read_system_file(CloudFile, path, spec, _HELP) if path else CloudFile.model_validate({})
        self._made_of = spec, path
        self._check(path)
        self.name, self.version, self.tasks = file.name or spec, file.version or vendor.api, (vendor.task,)
        self.region = file.region or vendor.region
        self._url = file.endpoint or vendor.endpoint.replace("{region}", self.region or "")
        self._neutral = vendor.neutral if file.neutral is None else file.neutral
        self.words = {**vendor.labels, **file.labels}
        self.languages: tuple[str, ...] = file.languages or vendor.languages
        self.between = Languages(self.languages, (), {**vendor.codes, **file.codes})
        self.summary = f"{vendor.vendor}, {vendor.operation}"
        self.tokens: dict[str, str] = {}
        """Secrets that are not the values of variables, by what stands in their place."""
        self._answered: dict[tuple[Input, int], Output] = {}
        """Outputs of calls that came in part, by input and how often it stands before it in its call."""
        self._has_answered = False
        variables = [*vendor.variables, *VARIABLE.findall(self._url)]
        self.keep(Service(path or spec, self._url, variables, file.timeout), file, vendor.documents)

    def __reduce__(self) -> tuple[type["Connector"], tuple[str, str]]:
        return type(self), self._made_of  # without clients and secrets

    def _check(self, path: str) -> None:
        """Raise BadFile for settings that this service has not."""
        own = (*self.vendor.options, *(() if self.translates else ("labels",)))
        unknown = [key for key in _OPTIONS if key in self.file.model_fields_set and key not in own]
        refuse(path, [(key, "this service has no such setting; leave it out") for key in unknown], _HELP)
        try:
            check_labels(self.file.labels, [self.vendor.task])
        except Mistake as mistake:
            refuse(path, [(mistake.key, mistake.args[0])], _HELP)

    @property
    def translates(self) -> bool:
        """Whether it is a translation service."""
        return self.vendor.task == "translation"

    @property
    def settings(self) -> Mapping[str, object]:
        """What may change an output. How it is asked (pace, patience) is none of it, nor is any credential."""
        vendor = self.vendor
        optional = {
            "endpoint": self.file.endpoint or vendor.endpoint or None,
            "region": self.region,
            "project": self.file.project,
            "labels": self.words,
            "codes": self.between.codes,
            "neutral": self._neutral,
        }
        named = {"service": vendor.vendor, "operation": vendor.operation, "languages": list(self.languages)}
        return named | vendor.fixed | {name: value for name, value in optional.items() if value not in (None, {})}

    @property
    def address(self) -> str:
        """Where it is asked, without a slash at the end."""
        return with_variables(self._url).rstrip("/")

    @property
    def host(self) -> str:
        """The machine that is asked, as signatures have it."""
        return urlsplit(self.address).netloc

    def lacks(self, item: Input) -> bool:
        """Return whether it is no service for this pair of languages."""
        return self.translates and not self.between.has(item)

    def credentials(self) -> tuple[str, str]:
        """Return the values of its two variables."""
        first, second = (os.environ.get(name, "").strip() for name in self.vendor.variables)
        return first, second

    def without_secrets(self, text: str, least: int = 4) -> str:
        """Return the text without secrets of `least` characters and more."""
        return without_values(self.service.without_secrets(text, least), self.tokens, least)

    def _said(self, problem: AuditError) -> str:
        return cut(" ".join(self.without_secrets(str(problem)).split()))

    # What a vendor says

    async def request(self, inputs: Sequence[Input]) -> Request:
        """Return what is sent for these inputs, all of the same languages."""
        sent = fill_request(self.vendor.request, inputs, self.between)
        if self.vendor.form:
            kind = "application/x-www-form-urlencoded"
            return Request(self.vendor.path, urlencode(sent, quote_via=quote, safe="").encode(), {"Content-Type": kind})
        return Request(self.vendor.path, json.dumps(sent).encode())

    def read(self, document: Any, inputs: Sequence[Input]) -> Sequence[Outcome]:
        """Return what became of each of these inputs. Raises BadOutput for what holds for all."""
        return [outcome_of(lambda: self.output(document))]

    def output(self, document: Any) -> Output:
        """Return what an answer to one input means, by the paths of the table. Raises BadOutput."""
        answer = self.vendor.answer
        if "text" in answer:
            parts = Path.read(answer["text"]).values(document)
            if not parts or not all(isinstance(part, str) for part in parts):
                raise BadOutput(f"a translation must be texts, the answer has {kind(parts)}")
            return Output(text="\n".join(map(str, parts)))
        if "label" not in answer:
            (score,) = Path.read(answer["score"]).values(document)
            return Output(score=min(1.0, max(0.0, number(score, "the score"))))
        (word,) = Path.read(answer["label"]).values(document)
        label = self.label(word)
        for named in (str(word), label):  # a word that is none of ours may have no score of its own
            path = answer["score"].replace("{word}", named).replace("{Word}", named.capitalize())
            (score,) = Path.read(path).values(document, needed=False)
            if score is not None:
                return Output(label, number(score, "the score"))
        return Output(label)

    def code_of(self, document: Any) -> str:
        """Return the code of an error in an answer; empty where it is none."""
        code = inside(document, *self.vendor.code.split(".")) if self.vendor.code else None
        return "" if code in (None, "", 0, "0") else str(code)

    # Running

    async def run_async(self, inputs: Sequence[Input]) -> list[Output]:
        """Return one output per input, of at most `batch`, in one request for each language or pair of languages.

        Raises Unanswered and Declined; a text that the service fails at, or that is too long for it, is an output that
        is an error.
        """
        keys = [(item, sum(before == item for before in inputs[:place])) for place, item in enumerate(inputs)]
        own = [self._without_asking(item) for item in inputs]
        waiting = [place for place, output in enumerate(own) if output is None and keys[place] not in self._answered]
        later: Unanswered | None = None
        for places in self._requests(inputs, waiting):
            try:
                outcomes = await self.ask([inputs[place] for place in places])
            except AuditError as problem:
                problem.args = (self._said(problem),)
                raise
            self._has_answered = True
            if len(outcomes) != len(places):
                raise BadOutput(f"{len(outcomes)} outputs for {len(places)} inputs")
            for place, outcome in zip(places, outcomes, strict=True):
                if isinstance(outcome, Unanswered):
                    later = Unanswered(self._said(outcome), outcome.after, inputs=True)
                else:
                    self._answered[keys[place]] = self._output(outcome)
        if later is not None:
            raise later
        return [self._answered.pop(key) if output is None else output for key, output in zip(keys, own, strict=True)]

    async def ask(self, inputs: Sequence[Input]) -> list[Any]:
        """Make one request. Raises Unanswered, Declined and BadOutput for what holds for all its inputs."""
        return list(self.read(await self.exchange(await self.request(inputs)), inputs))

    async def exchange(self, request: Request) -> Any:
        """Return the JSON of the answer to a request. Raises Unanswered, Declined and BadOutput."""
        answer = await self.service.exchange("POST", self.address + request.path, request.sent, request.headers)
        try:
            document = parse_json(answer.content)
        except ValueError:
            document = None
        code = self.code_of(document)
        if answer.status >= 300 or code:
            words = inside(document, *self.vendor.words.split(".")) if code else self.service.words(answer.content)
            said = str(words or "")
            raise self.problem(code or f"HTTP {answer.status}", said, answer.status, answer.headers)
        return self.service.document(answer.content) if document is None else document

    def _output(self, outcome: Outcome) -> Output:
        if isinstance(outcome, AuditError):
            return Output(error=self._said(outcome))
        if outcome.text is None:
            return outcome
        # A short value may be a word of the language, and no text is changed for that.
        return Output(outcome.label, outcome.score, self.without_secrets(outcome.text, least=8))

    def _without_asking(self, item: Input) -> Output | None:
        """Return the output for which nobody has to be asked, or None."""
        if self.lacks(item):
            return Output()
        for text in item.texts:
            if not text.strip():
                return Output(error=f"the text is empty, which {self.vendor.vendor} does not take")
            if (size := self.measure(text)) > self.vendor.most:
                limit = f"{self.vendor.vendor} takes {self.vendor.most:,} at most in a text"
                return Output(error=f"the text has {size:,} {self.vendor.unit}, {limit}")
        return None

    def _requests(self, inputs: Sequence[Input], places: Sequence[int]) -> Iterator[list[int]]:
        """Yield the places of each request: of one language or pair of languages, no more than a request may have."""
        by_language: dict[tuple[str, ...], list[int]] = {}
        for place in places:
            by_language.setdefault(inputs[place].languages, []).append(place)
        for same in by_language.values():
            request: list[int] = []
            size = 0
            for place in same:
                more = sum(map(self.measure, inputs[place].texts))
                full = self.vendor.in_request is not None and size + more > self.vendor.in_request
                if request and (full or len(request) == self.vendor.documents):
                    yield request
                    request, size = [], 0
                request.append(place)
                size += more
            yield request

    def measure(self, text: str) -> int:
        """Return the size of a text as the service counts it, or a little more: those that count characters count them
        in different ways."""
        if self.vendor.unit == "bytes":
            return len(text.encode("utf-8", "replace"))
        # A character of UTF-16 that is a pair counts as two.
        return len(text) + sum(character > "\uffff" for character in text)

    # What answers mean

    def label(self, word: object) -> str:
        """Return our label for the service's. Raises BadOutput for one that nobody translates."""
        if isinstance(word, str | int) and str(word) in self.words:
            return self.words[str(word)]
        raise BadOutput(
            f"the label {short(word)} of {self.vendor.vendor} has no meaning here; say in its file what it is, as in "
            f'labels = {{ "..." = "{next(iter(self.words.values()))}" }}'
        )

    def label_of_number(self, number: float) -> tuple[str, float]:
        """Return the label for a number from -1 to 1, and a confidence in it."""
        if abs(number) <= (self._neutral or 0.0):
            return "neutral", max(0.0, 1 - abs(number))
        return ("positive" if number > 0 else "negative"), min(1.0, abs(number))

    def problem(self, code: str, words: str, status: int = 200, headers: Mapping[str, str] | None = None) -> AuditError:
        """Return the error for a code and the words of the service, and the HTTP status where it says something:
        whether to ask again, and what to change."""
        reason = f"{code}: {words}".strip(": ") if words != code else code
        by_status = problem_of(status, headers or {}, reason) if status >= 300 else None
        if code in self.vendor.again.split():
            return Unanswered(reason, by_status.after if isinstance(by_status, Unanswered) else None)
        if code in self.vendor.closed.split():
            return Declined(reason)
        if code in self.vendor.refused.split() or status in (401, 403):
            reason = f"{self.vendor.vendor} refuses the credentials; check {self.vendor.accepted} ({reason})"
            return Declined(reason, final=not self._has_answered)
        if by_status is None or (status in _ABOUT_TEXTS and not code.startswith("HTTP ")):
            return Declined(reason, inputs=True)
        return by_status


def entry(document: Any, *names: str | int) -> Any:
    """Return what stands in an answer under these names, one inside the other. Raises BadOutput where there is none."""
    return follow(document, names)


def inside(document: Any, *names: str | int) -> Any:
    """As `entry`; None where there is none."""
    try:
        return follow(document, names)
    except BadOutput:
        return None


def number(value: object, name: str) -> float:
    """Return a number of an answer. Raises BadOutput for anything else.

    >>> number(0.25, "score")
    0.25
    """
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise BadOutput(f"{name} must be a number, the answer has {kind(value)}")
    return float(value)


def outcome_of(make: Callable[[], Output]) -> Outcome:
    """Return the output that `make` returns, or why it cannot be made: of one text, whatever the others have."""
    try:
        return make()
    except AuditError as problem:
        return problem
