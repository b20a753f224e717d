"""The TOML file that describes a system over HTTP: reading it, with a message for each thing that can be wrong."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, Literal
from urllib.parse import quote

from pydantic import AfterValidator, Field, PlainValidator, Strict, model_validator

from audit.errors import AuditError, BadOutput
from audit.files import parse_json, read_text, toml_of
from audit.systems.remote_file import (
    VARIABLE,
    Headers,
    Names,
    Remote,
    Text,
    checked_headers,
    checked_url,
    kind,
    labels_of,
    refuse_secret,
    strings,
)
from audit.tasks import Input, get_task
from audit.text.languages import is_code
from audit.user_models import Allowed, Mistake, UserModel, read_as, sure

# What the file of a translation service says of languages: which it has, what it calls them, where they go.

LANGUAGE = re.compile(r"\{(source|target)_language\}")
"""A place where the code of the language of a text goes, or of the language to translate into."""
EVERY = "*"
REQUEST = {
    "texts": "{texts}",
    "source_language": "{source_language}",
    "target_language": "{target_language}",
}
"""The JSON that is sent to a translation service, unless the file says."""


@dataclass(frozen=True)
class Languages:
    """The languages that a service translates from and into (`("*",)`: any), the pairs where it has not all of them,
    and its own names for our codes."""

    spoken: tuple[str, ...]
    pairs: tuple[tuple[str, str], ...]
    codes: Mapping[str, str]

    @property
    def read(self) -> tuple[str, ...]:
        """The languages that it translates from."""
        return tuple(dict.fromkeys(source for source, _ in self.pairs)) if self.pairs else self.spoken

    @property
    def settings(self) -> dict[str, object]:
        """The part of the description that may change an output."""
        return {"languages": list(self.spoken), "pairs": ["-".join(pair) for pair in self.pairs], "codes": self.codes}

    def has(self, item: Input) -> bool:
        """Whether the service translates this input's text into its target."""
        source, target = item.languages[0], item.target
        if target is None:
            return False
        if self.pairs:
            return (source, target) in self.pairs
        return self.spoken == (EVERY,) or {source, target} <= set(self.spoken)

    def groups(self, inputs: Sequence[Input]) -> list[list[int]]:
        """The places of the inputs that the service has, those of one pair of languages together: a request has one
        pair."""
        by_pair: dict[tuple[str, ...], list[int]] = {}
        for place, item in enumerate(inputs):
            if self.has(item):
                by_pair.setdefault(item.languages, []).append(place)
        return list(by_pair.values())

    def name(self, item: Input, side: str) -> str:
        """What the service calls the language of the input on this side, "source" or "target".

        >>> Languages(("*",), (), {"zh": "zh-CHS"}).name(Input.of("It rains.", target="zh"), "target")
        'zh-CHS'
        """
        code = item.languages[0] if side == "source" else item.target or ""
        return self.codes.get(code, code)

    def address(self, url: str, item: Input) -> str:
        """The url with the languages of the input in it."""
        return LANGUAGE.sub(lambda place: quote(self.name(item, place[1]), safe=""), url)


def _pair(written: object) -> tuple[str, str]:
    """Two codes with a hyphen between them, either of which may have a hyphen of its own: `pt-BR-en`."""
    parts = written.split("-") if isinstance(written, str) else []
    for at in range(1, len(parts)):
        pair = "-".join(parts[:at]), "-".join(parts[at:])
        if all(is_code(code) for code in pair):  # a region, in capitals, is none by itself
            return pair
    raise Mistake(f'{written!r} is no pair of languages such as "en-es" or "en-pt-BR"')


# Paths into a JSON document, such as `results[*].label`: where a service's outputs stand in its answer.

_PART = re.compile(r'\.?(?P<name>[^.\[\]"*\s]+)|\[(?P<place>\d+)\]|(?P<each>\[\*\])|\["(?P<quoted>[^"]*)"\]')
_GRAMMAR = 'names with dots between them, [0], ["a name"], and [*] once for "one for each input"'


class _Each:
    """The part `[*]`."""


EACH = _Each()


@dataclass(frozen=True)
class Path:
    """A path as it was written, and its parts: names, places in lists, and at most one `EACH`."""

    written: str
    parts: tuple[str | int | _Each, ...]

    @classmethod
    def read(cls, written: str) -> "Path":
        """The path that is spelled so. Raises AuditError, which says what is allowed.

        >>> Path.read("results[*].label").many
        True
        >>> Path.read('[0]["the label"]').parts
        (0, 'the label')
        """
        parts: list[str | int | _Each] = []
        at = 0
        while at < len(written):
            match = _PART.match(written, at)
            if match is None or (at == 0 and written.startswith(".")):
                raise AuditError(f"{written!r} is no path, from {written[at:][:20]!r} on; allowed are {_GRAMMAR}")
            if match["place"] is not None:
                parts.append(int(match["place"]))
            elif match["each"] is not None:
                parts.append(EACH)
            else:
                parts.append(match["name"] if match["name"] is not None else match["quoted"])
            at = match.end()
        if parts.count(EACH) > 1:
            raise AuditError(f"{written!r} is no path: [*] may stand in it once")
        return cls(written, tuple(parts))

    @property
    def many(self) -> bool:
        """Whether it leads to one value for each input."""
        return EACH in self.parts

    def values(self, document: object, needed: bool = True) -> list[object]:
        """What the path leads to: one value for each entry of the list at `[*]`, else one value.

        Where it ends early: None if not `needed`, else raises BadOutput, which says where and what is there.

        >>> Path.read("results[*].label").values({"results": [{"label": "POS"}, {"label": "NEG"}]})
        ['POS', 'NEG']
        """
        if not self.many:
            return [self._follow(document, self.parts, needed)]
        at = self.parts.index(EACH)
        listed = self._follow(document, self.parts[:at], needed=True)
        if not isinstance(listed, list):
            raise BadOutput(f"the answer has no list where {self.written!r} has [*], but {kind(listed)}")
        return [self._follow(entry, self.parts[at + 1 :], needed) for entry in listed]

    def _follow(self, value: object, parts: tuple[str | int | _Each, ...], needed: bool) -> object:
        for part in parts:
            inside = isinstance(part, str) and isinstance(value, dict) and part in value
            if inside or (isinstance(part, int) and isinstance(value, list) and part < len(value)):
                value = value[part]  # type: ignore[index]
            elif needed:
                spelled = repr(part) if isinstance(part, str) else f"place {part}"
                raise BadOutput(f"the answer has no {spelled}, which {self.written!r} leads to, but {kind(value)}")
            else:
                return None
        return value


TEXT = re.compile(r"\{text(_a|_b)?\}")
"""A place where the text of an input goes, or the first or second one of a pair."""
BATCH = 16
"""Inputs of a request that takes several, unless the file says."""
_HELP = "see docs/reference/systems.md"


def _path(written: object) -> Path:
    if isinstance(written, Path):
        return written
    if not isinstance(written, str) or not written.strip():
        raise ValueError
    path: Path = sure(lambda: Path.read(written))
    return path


def _checked_tasks(tasks: tuple[str, ...]) -> tuple[str, ...]:
    sure(lambda: labels_of(tasks))
    if len({task if task in _ANSWERS else "a label" for task in tasks}) > 1:
        raise Mistake(f"outputs of {', '.join(tasks)} are of different kinds; write a file for each")
    return tasks


def _json_of(request: Any) -> Any:
    """The template of what is sent, which may be written as a table or as JSON in a text."""
    if isinstance(request, str):
        try:
            request = parse_json(request)
        except ValueError as problem:
            raise Mistake(f"this text is not JSON ({problem}); a table is allowed, too") from None
    try:
        json.dumps(request, allow_nan=False)
    except (TypeError, ValueError):
        raise Mistake("has a date or a number that JSON does not know") from None
    for name, value in strings(request):
        refuse_secret(f"request.{name}", name, value)
        if "{texts}" in value and value != "{texts}":
            raise Mistake(f'{value!r}: "{{texts}}" is a list and must stand alone in its quotes')
    return request


def _takes_several(request: Any) -> bool:
    """Whether a request takes several inputs."""
    return any(value == "{texts}" for _, value in strings(request))


Codes = Annotated[dict[str, str], Allowed('a table of texts, for example: codes = { zh = "zh-CHS" }')]
Pairs = Annotated[
    tuple[Annotated[tuple[str, str], PlainValidator(_pair)], ...],
    Strict(False),
    Allowed('a list, for example ["en-es", "es-en"]'),
]
AnswerPath = Annotated[Path, PlainValidator(_path), Allowed('a path such as "outputs[*].label"')]


class Answer(UserModel):
    """Where the outputs stand in an answer: each of their parts, None for one that they do not have."""

    label: AnswerPath | None = None
    score: AnswerPath | None = None
    text: AnswerPath | None = None

    @property
    def paths(self) -> dict[str, Path]:
        """The parts that an output has, and where."""
        return {name: path for name, path in self if path is not None}


_ANSWERS = {
    "a label": Answer(label=Path.read("outputs[*].label"), score=Path.read("outputs[*].score")),
    "similarity": Answer(score=Path.read("outputs[*].score")),
    "summarization": Answer(text=Path.read("outputs[*].text")),
    "translation": Answer(text=Path.read("outputs[*].text")),
}
"""Where the outputs stand in an answer to tasks whose output is a label, and to the others, unless the file says."""


class Description(Remote):
    """The content of a file."""

    url: Annotated[Text, AfterValidator(checked_url)] = Field(description="it is the address that requests go to")
    method: Literal["POST", "PUT"] = "POST"
    tasks: Annotated[Names, AfterValidator(_checked_tasks)] = ("sentiment",)
    languages: Names | None = None
    pairs: Pairs = ()
    codes: Codes = Field({}, repr=False)
    headers: Annotated[Headers, AfterValidator(checked_headers)] = Field({}, repr=False)
    request: Annotated[Any, AfterValidator(_json_of)] = None
    """The JSON that is sent, in which "{texts}", "{text}", or "{text_a}" and "{text_b}" stand."""
    answer: Answer = Answer()
    batch: Annotated[int, Field(ge=1, le=10_000)] | None = None
    """Inputs of a request that takes several, where the file says."""

    @property
    def translates(self) -> bool:
        """Whether it is a translation service."""
        return "translation" in self.tasks

    @property
    def spoken(self) -> tuple[str, ...]:
        """The languages as the file has them."""
        return self.languages or ((EVERY,) if self.translates else ("en",))

    @cached_property
    def between(self) -> Languages | None:
        """Languages of a translation service; None for other services."""
        return Languages(self.spoken, self.pairs, self.codes) if self.translates else None

    @cached_property
    def sent(self) -> Any:
        """The template of what is sent."""
        if self.request is not None:
            return self.request
        return REQUEST if self.translates else {"texts": "{texts}"}

    @cached_property
    def outputs(self) -> Answer:
        """Where the outputs stand."""
        if self.answer.paths:
            return self.answer
        return _ANSWERS.get(self.tasks[0]) or _ANSWERS["a label"]

    @property
    def score_needed(self) -> bool:
        """Whether every output has a score: one that the file names must be there, or a slip of the pen would leave
        every output without."""
        return self.answer.score is not None or self.tasks[0] == "similarity"

    @cached_property
    def batch_size(self) -> int:
        """Inputs of a request."""
        several = _takes_several(self.sent) and all(path.many for path in self.outputs.paths.values())
        return self.batch or (BATCH if several else 1)

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
        """The environment variables that the file names, sorted."""
        texts = [self.url, *self.headers.values(), *(text for _, text in strings(self.sent))]
        return sorted({name for text in texts for name in VARIABLE.findall(text)})

    @model_validator(mode="after")
    def _check_together(self) -> "Description":
        """What the keys mean together."""
        _check_languages(self)
        _check_request(self)
        _check_answer(self)
        if self.batch_size > 1 and not _takes_several(self.sent):
            raise Mistake(
                f'{self.batch} must be 1, since the request has "{{text}}"; "{{texts}}" sends several', "batch"
            )
        if self.batch_size > 1 and (single := next((p for p in self.outputs.paths.values() if not p.many), None)):
            raise Mistake(
                f"{self.batch} must be 1, since {single.written!r} has no [*] and so leads to one output", "batch"
            )
        allowed = labels_of(self.tasks)
        if unknown := next((label for label in self.labels.values() if allowed and label not in allowed), None):
            reason = f"{unknown!r} is no label of {', '.join(self.tasks)}; allowed are {', '.join(allowed)}"
            raise Mistake(reason, "labels")
        return self


def read_description(path: str) -> Description:
    """The description in a file. Raises BadFile, which names the file, the key and what is allowed."""
    return read_as(Description, toml_of(path, read_text(path), _HELP), path, _HELP)


def _check_languages(description: Description) -> None:
    """Refuse languages that there are not, and a translation service that is not told what to translate into."""
    if not description.translates:
        if key := next((key for key in ("pairs", "codes") if getattr(description, key)), None):
            raise Mistake("is for the task translation; leave it out", key)
        return
    for key, codes in (("languages", description.spoken), ("codes", description.codes)):
        if unknown := next((code for code in codes if not is_code(code) and (key, code) != ("languages", EVERY)), None):
            advice = 'or ["*"] for all' if key == "languages" else "write ours = theirs"
            raise Mistake(f"{unknown!r} is no code such as es, zh or pt-BR; {advice}", key)
    texts = [description.url, *(text for _, text in strings(description.sent))]
    named = {place[1] for text in texts for place in LANGUAGE.finditer(text)}
    if "target" not in named and len({target for _, target in description.pairs}) != 1:
        raise Mistake(
            'must say which language to translate into: put "{target_language}" into it or into the url, or name the '
            'only pair that the service has, as in pairs = ["en-es"]',
            "request",
        )


def _check_request(description: Description) -> None:
    """Refuse a request without a place for texts, with places that the inputs do not have, or that loses a text."""
    texts = [text for _, text in strings(description.sent)]
    if not description.translates and (place := next(filter(None, map(LANGUAGE.search, texts)), None)):
        raise Mistake(f"{place[0]!r} is for the task translation", "request")
    places = {(place[0], place[0] == text) for text in texts for place in TEXT.finditer(text)}
    halves = {name for name, _ in places} & {"{text_a}", "{text_b}"}
    pairs = any(get_task(task).texts == 2 for task in description.tasks)
    if halves and not pairs:
        raise Mistake(f'"{min(halves)}" is for pairs of texts, the task similarity; write "{{text}}"', "request")
    if len(halves) == 1 or (pairs and ("{text}", False) in places):
        raise Mistake(
            'an input has two texts: write "{text_a}" and "{text_b}" where they go, or "{text}" alone in its quotes '
            "for a list of both",
            "request",
        )
    if bool(places) == _takes_several(description.sent):
        raise Mistake(
            'must have either "{text}" (one input a request) or "{texts}" (a list of them) as a value', "request"
        )


def _check_answer(description: Description) -> None:
    """Refuse an answer without what an output of the task is."""
    task, paths = description.tasks[0], description.outputs.paths
    if task in _ANSWERS and (absent := [name for name in _ANSWERS[task].paths if name not in paths]):
        raise Mistake(f"is missing; an output of {task} is a {absent[0]}", f"answer.{absent[0]}")
    if not paths.keys() & {"label", "text"} and task not in _ANSWERS:
        raise Mistake("is missing; an output has at least a label or a text", "answer.label")
