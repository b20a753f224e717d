"""A system that answers over HTTP, described by a TOML file and named `http:FILE.toml`.

Three lines are enough for a service that takes `{"texts": [...]}` and returns `{"outputs": [{"label": ..., "score":
...}, ...]}` (docs/reference/systems.md has the whole format)::

    name = "acme"
    version = "2026-11"
    url = "http://127.0.0.1:8000/sentiment"
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from numbers import Real
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, PlainValidator, model_validator

from audit.errors import AuditError, BadOutput
from audit.files import parse_json
from audit.systems.hearing import tell_heard
from audit.systems.remote_file import (
    EVERY,
    LANGUAGE,
    VARIABLE,
    Codes,
    Headers,
    Languages,
    Names,
    Pairs,
    Remote,
    Url,
    check_codes,
    check_labels,
    kind,
    read_system_file,
    refuse_secret,
    strings,
)
from audit.systems.service import OverHttp, Service, with_variables
from audit.tasks import Input, Output, get_task, labels_together, spellings, takes_several
from audit.user_models import Allowed, Mistake, UserModel, sure

BATCH = 16
"""Inputs of a request that takes several, unless the file says."""
_PLACE = re.compile(r"\{(?:text(?P<half>_a|_b)?|(?P<side>source|target)_language)\}")
"""Where a text or the code of a language goes in a request."""
_PART = re.compile(r'\.?(?P<name>[^.\[\]"*\s]+)|\[(?P<place>\d+)\]|(?P<each>\[\*\])|\["(?P<quoted>[^"]*)"\]')
_GRAMMAR = 'names with dots between them, [0], ["a name"], and [*] once for "one for each input"'


@dataclass(frozen=True)
class Path:
    """A path into a JSON document, such as `results[*].label`: as it was written, and its parts, names and places in
    lists. `many`: the parts behind `[*]`, where it leads to one value for each input."""

    written: str
    parts: tuple[str | int, ...]
    many: tuple[str | int, ...] | None = None

    @classmethod
    def read(cls, written: str) -> "Path":
        """Return the path that is spelled so. Raises AuditError, which says what is allowed.

        >>> Path.read('[0]["the label"]').parts, Path.read("results[*].label").many
        ((0, 'the label'), ('label',))
        """
        sides: list[list[str | int]] = [[]]
        at = 0
        while at < len(written):
            match = _PART.match(written, at)
            if match is None or (at == 0 and written.startswith(".")):
                raise AuditError(f"{written!r} is no path, from {written[at:][:20]!r} on; allowed are {_GRAMMAR}")
            if match["each"]:
                sides.append([])
            else:
                name = match["name"] if match["name"] is not None else match["quoted"]
                sides[-1].append(name if match["place"] is None else int(match["place"]))
            at = match.end()
        if len(sides) > 2:
            raise AuditError(f"{written!r} is no path: [*] may stand in it once")
        return cls(written, tuple(sides[0]), tuple(sides[1]) if len(sides) > 1 else None)

    def values(self, document: object, needed: bool = True) -> list[object]:
        """Return what the path leads to: one value for each entry of the list at `[*]`, else one value.

        Where it ends early: None if not `needed`, else raises BadOutput, which says where and what is there.

        >>> Path.read("results[*].label").values({"results": [{"label": "POS"}, {"label": "NEG"}]})
        ['POS', 'NEG']
        """
        if self.many is None:
            return [self._follow(document, self.parts, needed)]
        listed = self._follow(document, self.parts, needed=True)
        if not isinstance(listed, list):
            raise BadOutput(f"the answer has no list where {self.written!r} has [*], but {kind(listed)}")
        return [self._follow(entry, self.many, needed) for entry in listed]

    def _follow(self, value: Any, parts: tuple[str | int, ...], needed: bool) -> object:
        try:
            return follow(value, parts, f", which {self.written!r} leads to")
        except BadOutput:
            if needed:
                raise
            return None


def follow(value: Any, parts: Sequence[str | int], why: str = "") -> Any:
    """Return what stands in a JSON document under these names and places, one inside the other. Raises BadOutput where
    there is none.

    >>> follow({"items": [{"sentiment": 2}]}, ["items", 0, "sentiment"])
    2
    """
    for part in parts:
        fits = isinstance(value, dict) and part in value if isinstance(part, str) else isinstance(value, list)
        if not fits or (isinstance(part, int) and part >= len(value)):
            spelled = repr(part) if isinstance(part, str) else f"place {part}"
            raise BadOutput(f"the answer has no {spelled}{why}, but {kind(value)}")
        value = value[part]
    return value


def _path(written: object) -> Path:
    if isinstance(written, Path):
        return written
    if not isinstance(written, str) or not written.strip():
        raise ValueError
    path: Path = sure(lambda: Path.read(written))
    return path


AnswerPath = Annotated[Path, PlainValidator(_path), Allowed('a path such as "outputs[*].label"')]


class AnswerFile(UserModel):
    """Where the outputs stand in an answer: each of their parts, None for one that they do not have."""

    label: AnswerPath | None = None
    score: AnswerPath | None = None
    text: AnswerPath | None = None

    @property
    def paths(self) -> dict[str, Path]:
        """The parts that an output has, and where."""
        return {name: path for name, path in self if path is not None}


_LABEL = AnswerFile(label=Path.read("outputs[*].label"), score=Path.read("outputs[*].score"))
_OTHERS = {
    "similarity": AnswerFile(score=Path.read("outputs[*].score")),
    "summarization": AnswerFile(text=Path.read("outputs[*].text")),
    "translation": AnswerFile(text=Path.read("outputs[*].text")),
}
"""Where the outputs stand in an answer, unless the file says: of tasks whose output is a label, and of the others."""


def _checked_tasks(tasks: tuple[str, ...]) -> tuple[str, ...]:
    sure(lambda: [get_task(task) for task in tasks])
    if len({task if task in _OTHERS else "a label" for task in tasks}) > 1:
        raise Mistake(f"outputs of {', '.join(tasks)} are of different kinds; write a file for each")
    return tasks


def _json_of(request: Any) -> Any:
    """The template of what is sent, which may be written as a table or as JSON in a text."""
    if isinstance(request, str):
        try:
            request = parse_json(request)
        except ValueError as problem:
            raise Mistake(f"this text is not JSON ({problem}); a table is allowed, too") from None
    for name, value in strings(checked_json(request)):
        if "{texts}" in value and value != "{texts}":
            raise Mistake(f'{value!r}: "{{texts}}" is a list and must stand alone in its quotes', f"request.{name}")
    return request


def checked_json(request: Any) -> Any:
    """Return a part of a request. Raises Mistake for what JSON does not have, and for secrets."""
    try:
        json.dumps(request, allow_nan=False)
    except (TypeError, ValueError):
        raise Mistake("has a date or a number that JSON does not know") from None
    for name, value in strings(request):
        refuse_secret(f"request.{name}", name, value)
    return request


class HttpFile(Remote):
    """The content of a file."""

    url: Url = Field(description="it is the address that requests go to")
    method: Literal["POST", "PUT"] = "POST"
    tasks: Annotated[Names, AfterValidator(_checked_tasks)] = ("sentiment",)
    pairs: Pairs = ()
    codes: Codes = Field({}, repr=False)
    headers: Headers = Field({}, repr=False)
    request: Annotated[Any, AfterValidator(_json_of)] = None
    """The JSON that is sent, in which "{texts}", "{text}", or "{text_a}" and "{text_b}" stand."""
    answer: AnswerFile = AnswerFile()
    batch: Annotated[int, Field(ge=1, le=10_000)] | None = None
    """Inputs of a request that takes several, where the file says."""

    @cached_property
    def between(self) -> Languages | None:
        """Languages of a translation service; None for other services."""
        return Languages(self.languages or (EVERY,), self.pairs, self.codes) if "translation" in self.tasks else None

    @cached_property
    def sent(self) -> Any:
        """The template of what is sent."""
        of_languages = {f"{side}_language": f"{{{side}_language}}" for side in ("source", "target")}
        return (
            self.request if self.request is not None else {"texts": "{texts}"} | (of_languages if self.between else {})
        )

    @cached_property
    def outputs(self) -> AnswerFile:
        """Where the outputs stand."""
        return self.answer if self.answer.paths else _OTHERS.get(self.tasks[0], _LABEL)

    @property
    def takes_several(self) -> bool:
        """Whether a request takes several inputs."""
        return any(value == "{texts}" for _, value in strings(self.sent))

    @property
    def single(self) -> Path | None:
        """A path that leads to one output, whatever was asked."""
        return next((path for path in self.outputs.paths.values() if path.many is None), None)

    @property
    def batch_size(self) -> int:
        """Inputs of a request."""
        return self.batch or (BATCH if self.takes_several and not self.single else 1)

    @property
    def settings(self) -> dict[str, object]:
        """What may change an output, for the database. How politely the service is asked (`batch`, `concurrency`,
        `timeout`, `tries`, `patience`) is none of it: a slower pace must not execute everything anew."""
        return {
            "url": self.url,
            "method": self.method,
            "headers": self.headers,
            "request": self.sent,
            "answer": {name: path.written for name, path in self.outputs.paths.items()},
            "labels": self.labels,
            **(self.between.settings if self.between else {}),
        }

    @property
    def variables(self) -> list[str]:
        """The environment variables that the file names."""
        texts = [self.url, *self.headers.values(), *(text for _, text in strings(self.sent))]
        return [name for text in texts for name in VARIABLE.findall(text)]

    @model_validator(mode="after")
    def _check_together(self) -> "HttpFile":
        """Raise Mistake where keys contradict each other."""
        task, paths = self.tasks[0], self.outputs.paths
        if task in _OTHERS and (absent := [name for name in _OTHERS[task].paths if name not in paths]):
            raise Mistake(f"is missing; an output of {task} is a {absent[0]}", f"answer.{absent[0]}")
        if not paths.keys() & {"label", "text"} and task not in _OTHERS:
            raise Mistake("is missing; an output has at least a label or a text", "answer.label")
        if self.batch_size > 1 and self.single:
            raise Mistake(f"must be 1, since {self.single.written!r} has no [*] and so leads to one output", "batch")
        if self.between is None and (key := next((key for key in ("pairs", "codes") if getattr(self, key)), None)):
            raise Mistake("is for the task translation; leave it out", key)
        check_codes(self.languages or (), self.codes)
        check_labels(self.labels, self.tasks)
        self._check_request()
        return self

    def _check_request(self) -> None:
        """Raise Mistake for a request that would lose a text or the language to translate into: fill one and look."""
        number = 2 if any(get_task(task).texts == 2 for task in self.tasks) else 1
        marks = [[f"<{place}.{part}>" for part in range(number)] for place in range(min(2, self.batch_size))]
        inputs = [Input.of(*texts, language="<from>", target="<into>" if self.between else None) for texts in marks]
        try:
            sent = json.dumps(fill_request(self.sent, inputs, self.between))
        except IndexError:
            raise Mistake('"{text_b}" is for pairs of texts, the task similarity; write "{text}"', "request") from None
        if not all(mark in sent for texts in marks for mark in texts):
            raise Mistake(
                'must have "{texts}" (a list of them) or, with batch = 1, "{text}" as a value; of pairs "{text_a}" and '
                '"{text_b}" may stand there, too',
                "request",
            )
        if self.between is None and (place := LANGUAGE.search(sent)):
            raise Mistake(f"{place[0]!r} is for the task translation", "request")
        into = "<into>" in sent or "{target_language}" in self.url
        if self.between is not None and not into and len({target for _, target in self.pairs}) != 1:
            raise Mistake(
                'must say which language to translate into: put "{target_language}" into it or into the url, or name '
                'the only pair that the service has, as in pairs = ["en-es"]',
                "request",
            )


class Http(OverHttp):
    """The service that a TOML file describes, as a `System` and an `AsynchronousSystem`.

    Creating it reads the file and raises BadFile for what is wrong with it.
    """

    def __init__(self, path: str):
        self._file = file = read_system_file(HttpFile, path, "http")
        self._path = path
        self.name, self.version, self.tasks = file.name, file.version, file.tasks
        self.between = file.between
        self.languages = file.between.read if file.between else file.languages or ("en",)
        self.settings: Mapping[str, object] = file.settings
        self.summary = f"over HTTP, {file.url}"
        self.deterministic = file.deterministic
        self._spelling = spellings(self.tasks)
        # A score that the file names must be there, or a slip of the pen would leave every output without.
        self._score_needed = file.answer.score is not None or self.tasks[0] == "similarity"
        self.keep(Service(path, file.url, file.variables, file.timeout), file, file.batch_size)

    def __reduce__(self) -> tuple[type["Http"], tuple[str]]:
        return Http, (self._path,)  # without the client and its secrets

    async def ask(self, inputs: Sequence[Input]) -> list[Output]:
        """Make one request; for a translation service one for each pair of languages, and none for those it has not."""
        if self.between is None:
            return await self._ask_once(inputs)
        outputs = [Output()] * len(inputs)
        for places in self.between.groups(inputs):
            answered = await self._ask_once([inputs[place] for place in places])
            for place, output in zip(places, answered, strict=True):
                outputs[place] = output
        return outputs

    async def _ask_once(self, inputs: Sequence[Input]) -> list[Output]:
        sent = json.dumps(fill_request(self._file.sent, inputs, self.between)).encode()
        address = with_variables(self._file.url)
        if self.between is not None:
            address = self.between.address(address, inputs[0])
        headers = {name: with_variables(value) for name, value in self._file.headers.items()}
        return self._outputs(await self.service.content(self._file.method, address, sent, headers), len(inputs))

    def _outputs(self, content: bytes, number: int) -> list[Output]:
        """Return the outputs in an answer to this number of inputs. Raises BadOutput where there are others."""
        document = self.service.document(content)
        values: dict[str, list[Any]] = {name: [None] * number for name in ("label", "score", "text")}
        paths = self._file.outputs.paths
        for name, path in paths.items():
            values[name] = path.values(document, needed=name != "score" or self._score_needed)
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
        if isinstance(value, list) and takes_several(self.tasks):
            return labels_together(map(self._label, value), self.tasks)
        if isinstance(value, bool) or not isinstance(value, str | int):
            raise BadOutput(f"a label must be a text, the answer has {kind(value)}")
        written = str(value)
        tell_heard(self.service.without_secrets(written))
        if written in self._file.labels:
            return self._file.labels[written]
        return self._spelling.get(written.strip().casefold()) or self.service.without_secrets(written)

    def _text(self, value: object) -> str:
        if not isinstance(value, str):
            raise BadOutput(f"a text must be a text, the answer has {kind(value)}")
        # A short value may be a word of the language, and no text is changed for that.
        text = self.service.without_secrets(value, least=8)
        tell_heard(text)
        return text


def fill_request(template: Any, inputs: Sequence[Input], between: Languages | None = None) -> Any:
    """Return the JSON of a request: inputs of one text as a text, others as a list of texts. All translations of a
    request are `between` the same two languages.

    >>> fill_request({"documents": "{texts}", "n": 1}, [Input.of("It was good."), Input.of("a", "b")])
    {'documents': ['It was good.', ['a', 'b']], 'n': 1}
    >>> fill_request("Is {text_a} like {text_b}?", [Input.of("a", "b")])
    'Is a like b?'
    """
    if isinstance(template, dict):
        return {name: fill_request(value, inputs, between) for name, value in template.items()}
    if isinstance(template, list):
        return [fill_request(value, inputs, between) for value in template]
    if not isinstance(template, str):
        return template
    contents = [item.text if len(item.texts) == 1 else list(item.texts) for item in inputs]
    if template in ("{texts}", "{text}"):
        return contents if template == "{texts}" else contents[0]

    def value(place: re.Match[str]) -> str:
        if place["side"]:
            return between.name(inputs[0], place["side"]) if between else place[0]
        return inputs[0].texts[place["half"] == "_b"]

    # Variables first, and all texts at once: an input that happens to spell one of them must stay as it is.
    return _PLACE.sub(value, with_variables(template))


def _score(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, Real):
        raise BadOutput(f"a score must be a number, the answer has {kind(value)}")
    return float(value)
