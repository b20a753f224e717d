"""The TOML file that describes a system over HTTP: reading it, with a message for each thing that can be wrong."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any, Protocol
from urllib.parse import parse_qsl, quote, urlsplit

from audit.errors import AuditError, BadFile, BadOutput
from audit.files import parse_json, read_text, toml_of
from audit.systems.asking import PATIENCE, TRIES
from audit.tasks import Input, get_task
from audit.text.languages import is_code

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


class _TakesKeys(Protocol):
    def take(self, key: str, default: Any = None) -> Any: ...
    def texts(self, key: str, example: str) -> dict[str, str]: ...
    def wrong(self, key: str, reason: str) -> BadFile: ...


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


def read_languages(table: _TakesKeys, spoken: tuple[str, ...], places: Sequence[str]) -> Languages:
    """The keys `pairs` and `codes` of a file, beside its `languages`; `places` are the texts in which languages may
    stand. Raises BadFile."""
    for code in spoken:
        if code != EVERY and not is_code(code):
            raise table.wrong("languages", f'{code!r} is no code such as es, zh or pt-BR, or ["*"] for all')
    pairs = _pairs(table)
    codes = table.texts("codes", 'codes = { zh = "zh-CHS" }')
    if unknown := next((code for code in codes if not is_code(code)), None):
        raise table.wrong("codes", f"{unknown!r} is no code such as es, zh or pt-BR; write ours = theirs")
    named = {place[1] for text in places for place in LANGUAGE.finditer(text)}
    if "target" not in named and len({target for _, target in pairs}) != 1:
        raise table.wrong(
            "request",
            'must say which language to translate into: put "{target_language}" into it or into the url, or name the '
            'only pair that the service has, as in pairs = ["en-es"]',
        )
    return Languages(spoken, pairs, codes)


def _pairs(table: _TakesKeys) -> tuple[tuple[str, str], ...]:
    written = table.take("pairs", [])
    if not isinstance(written, list):
        raise table.wrong("pairs", f'{written!r} must be a list, for example ["en-es", "es-en"]')
    return tuple(_pair(table, entry) for entry in written)


def _pair(table: _TakesKeys, written: object) -> tuple[str, str]:
    """Two codes with a hyphen between them, either of which may have a hyphen of its own: `pt-BR-en`."""
    parts = written.split("-") if isinstance(written, str) else []
    for at in range(1, len(parts)):
        pair = "-".join(parts[:at]), "-".join(parts[at:])
        if all(is_code(code) for code in pair):  # a region, in capitals, is none by itself
            return pair
    raise table.wrong("pairs", f'{written!r} is no pair of languages such as "en-es" or "en-pt-BR"')


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


def kind(value: object) -> str:
    """Describe a JSON value in words, with the names that an object has.

    >>> kind({"outputs": []}), kind([1, 2])
    ("an object with 'outputs'", 'a list of 2')
    """
    if isinstance(value, dict):
        return f"an object with {', '.join(map(repr, list(value)[:5])) or 'nothing'}"
    if isinstance(value, list):
        return f"a list of {len(value)}"
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    return f"the {'text' if isinstance(value, str) else 'number'} {value!r}"


VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
"""A place where the value of an environment variable goes."""
TEXT = re.compile(r"\{text(_a|_b)?\}")
"""A place where the text of an input goes, or the first or second one of a pair."""
METHODS = ("POST", "PUT")
BATCH, CONCURRENCY, TIMEOUT = 16, 8, 30.0
"""Inputs of a request that takes several, requests at once, and seconds that one may take, unless the file says."""
_SECRET = re.compile(r"(auth|authorization|cookie|token|secret|password|passwd|key)$", re.IGNORECASE)
_HEADER = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_HELP = "see docs/reference/systems.md"
_ANSWERS: Mapping[str, Mapping[str, str]] = {
    "similarity": {"score": "outputs[*].score"},
    "summarization": {"text": "outputs[*].text"},
    "translation": {"text": "outputs[*].text"},
}
"""Where the outputs stand in an answer to the tasks whose output is not a label, unless the file says."""


@dataclass(frozen=True)
class Description:
    """The content of a file. Values keep `${NAME}` in place of a secret, so all of it may be stored and shown."""

    file: str
    name: str
    version: str
    url: str
    tasks: tuple[str, ...]
    languages: tuple[str, ...]
    method: str
    headers: Mapping[str, str]
    request: Any
    """The JSON that is sent, in which "{texts}", "{text}", or "{text_a}" and "{text_b}" stand."""
    label: Path | None
    score: Path | None
    text: Path | None
    score_needed: bool
    labels: Mapping[str, str]
    batch: int
    concurrency: int
    timeout: float
    tries: int
    patience: float
    between: Languages | None
    """Languages of a translation service; None for other services."""

    @property
    def settings(self) -> dict[str, object]:
        """What may change an output, for the database. How politely the service is asked (`batch`, `concurrency`,
        `timeout`, `tries`, `patience`) is none of it: a slower pace must not execute everything anew."""
        paths = {"label": self.label, "score": self.score, "text": self.text}
        return {
            "url": self.url,
            "method": self.method,
            "headers": dict(self.headers),
            "request": self.request,
            "answer": {name: path.written for name, path in paths.items() if path is not None},
            "labels": dict(self.labels),
            **(self.between.settings if self.between else {}),
        }

    @property
    def variables(self) -> list[str]:
        """The environment variables that the file names, sorted."""
        texts = [self.url, *self.headers.values(), *(text for _, text in strings(self.request))]
        return sorted({name for text in texts for name in VARIABLE.findall(text)})


class _Table:
    """A table of the file: takes keys out one by one; whatever is left at the end is unknown."""

    def __init__(self, file: str, content: Mapping[str, Any], prefix: str = ""):
        self.file, self.prefix = file, prefix
        self.remaining = dict(content)
        self.keys: list[str] = []

    def wrong(self, key: str, reason: str) -> BadFile:
        return BadFile(f"{self.file}: {self.prefix}{key}: {reason}")

    def take(self, key: str, default: Any = None) -> Any:
        self.keys.append(key)
        return self.remaining.pop(key, default)

    def text(self, key: str, default: str | None = None) -> str | None:
        value = self.take(key, default)
        if value is not None and (not isinstance(value, str) or not value.strip()):
            raise self.wrong(key, f"{value!r} must be a text in quotes that is not empty")
        return value

    def needed(self, key: str, why: str) -> str:
        value = self.take(key)
        if value is None:
            raise self.wrong(key, f"is missing; {why}")
        # A version may be written 2, 1.5 or 2026-11-21, which TOML reads as other things than texts.
        if isinstance(value, bool | list | dict) or not str(value).strip():
            raise self.wrong(key, f"{value!r} must be a text in quotes that is not empty; {why}")
        return str(value)

    def names(self, key: str, default: Sequence[str]) -> tuple[str, ...]:
        value = self.take(key, list(default))
        if not isinstance(value, list) or not value or not all(isinstance(name, str) and name for name in value):
            raise self.wrong(key, f'{value!r} must be a list of names, for example ["{default[0]}"]')
        return tuple(value)

    def number(self, key: str, default: float, minimum: float, maximum: float, whole: bool = False) -> Any:
        value = self.take(key, default)
        kinds = int if whole else (int, float)
        if isinstance(value, bool) or not isinstance(value, kinds) or not minimum <= value <= maximum:
            raise self.wrong(
                key, f"{value!r} must be a {'whole ' if whole else ''}number from {minimum:g} to {maximum:g}"
            )
        return value

    def texts(self, key: str, example: str) -> dict[str, str]:
        value = self.take(key, {})
        if not isinstance(value, dict) or not all(isinstance(text, str) for text in value.values()):
            raise self.wrong(key, f"must be a table of texts, for example: {example}")
        return value

    def end(self) -> None:
        if self.remaining:
            raise self.wrong(
                next(iter(self.remaining)), f"is no key of it; allowed are {', '.join(self.keys)}; {_HELP}"
            )


def read_description(path: str) -> Description:
    """The description in a file. Raises BadFile, which names the file, the key and what is allowed."""
    table = _Table(path, toml_of(path, read_text(path), _HELP))
    name = table.needed("name", "it is what reports call the system")
    version = table.needed("version", "nobody can see from here when a service changes: change it when it does")
    url = _url(table, table.needed("url", "it is the address that requests go to"))
    method = table.take("method", METHODS[0])
    if method not in METHODS:
        raise table.wrong("method", f"{method!r} must be one of {', '.join(METHODS)}")
    tasks = table.names("tasks", ("sentiment",))
    allowed = _labels(table, tasks)
    translates = "translation" in tasks
    languages = table.names("languages", (EVERY,) if translates else ("en",))
    headers = _headers(table)
    request, many = _request(table, pairs=any(get_task(task).texts == 2 for task in tasks), translates=translates)
    between = read_languages(table, languages, [url, *(text for _, text in strings(request))]) if translates else None
    label, score, text, score_needed = _answer(table, tasks)
    paths = [path for path in (label, score, text) if path is not None]
    several = many and all(path.many for path in paths)
    batch = table.number("batch", BATCH if several else 1, 1, 10_000, whole=True)
    _fit(table, batch, many, paths)
    labels = table.texts("labels", 'labels = { POS = "positive" }')
    if unknown := next((label for label in labels.values() if allowed and label not in allowed), None):
        raise table.wrong("labels", f"{unknown!r} is no label of {', '.join(tasks)}; allowed are {', '.join(allowed)}")
    description = Description(
        file=path,
        name=name,
        version=version,
        url=url,
        tasks=tasks,
        languages=between.read if between else languages,
        method=method,
        headers=headers,
        request=request,
        label=label,
        score=score,
        text=text,
        score_needed=score_needed,
        labels=labels,
        batch=batch,
        concurrency=table.number("concurrency", CONCURRENCY, 1, 1_000, whole=True),
        timeout=table.number("timeout", TIMEOUT, 0.01, 86_400),
        tries=table.number("tries", TRIES, 1, 100, whole=True),
        patience=table.number("patience", PATIENCE, 0, 86_400),
        between=between,
    )
    table.end()
    return description


def check_address(url: str) -> str | None:
    """What is wrong with an address, or None.

    >>> check_address("ftp://example.org")
    'must begin with http:// or https:// and name a machine'
    """
    try:
        parts = urlsplit(url)
        number = parts.port
    except ValueError:
        return "is no address"
    if parts.scheme not in ("http", "https") or not parts.hostname or number == 0:
        return "must begin with http:// or https:// and name a machine"
    if not url.isascii() or not url.isprintable() or " " in url:
        return "has characters that an address cannot have"
    return None


def strings(value: object, key: str = "") -> Iterator[tuple[str, str]]:
    """Every text in a JSON document, with the name that it stands under."""
    if isinstance(value, str):
        yield key, value
    elif isinstance(value, dict):
        for name, inner in value.items():
            yield from strings(inner, name)
    elif isinstance(value, list):
        for inner in value:
            yield from strings(inner, key)


def _url(table: _Table, url: str) -> str:
    if not VARIABLE.search(url) and (fault := check_address(url)):
        raise table.wrong("url", f"{url!r} {fault}")
    parts = urlsplit(VARIABLE.sub("x", url))
    if parts.username is not None or parts.password is not None:
        # Not shown: it is a secret.
        raise table.wrong("url", 'has a name or password in it; send them as headers.Authorization = "Basic ${NAME}"')
    for name, value in parse_qsl(urlsplit(url).query):
        _refuse_secret(table, f"url, parameter {name}", name, value)
    return url


def _headers(table: _Table) -> dict[str, str]:
    headers = table.texts("headers", 'headers = { Authorization = "Bearer ${NAME}" }')
    for name, value in headers.items():
        if not _HEADER.fullmatch(name):
            raise table.wrong(f"headers.{name}", "is no name of a header; allowed are letters, digits and hyphens")
        _refuse_secret(table, f"headers.{name}", name, value)
        if not value.isascii() or not value.isprintable():
            raise table.wrong(f"headers.{name}", "must be printable ASCII")
    return headers


def _labels(table: _Table, tasks: Sequence[str]) -> list[str]:
    """The labels that a service for these tasks may return; empty where any will do."""
    try:
        labels_by_task = [get_task(task).labels for task in tasks]
    except AuditError as problem:
        raise table.wrong("tasks", str(problem)) from None
    kinds = {task if task in _ANSWERS else "a label" for task in tasks}
    if len(kinds) > 1:
        raise table.wrong("tasks", f"outputs of {', '.join(tasks)} are of different kinds; write a file for each")
    return [label for labels in labels_by_task for label in labels] if all(labels_by_task) else []


def _request(table: _Table, pairs: bool, translates: bool) -> tuple[Any, bool]:
    """The template of what is sent, and whether it takes several inputs."""
    request = table.take("request", REQUEST if translates else {"texts": "{texts}"})
    if isinstance(request, str):
        try:
            request = parse_json(request)
        except ValueError as problem:
            raise table.wrong("request", f"this text is not JSON ({problem}); a table is allowed, too") from None
    try:
        json.dumps(request, allow_nan=False)
    except (TypeError, ValueError):
        raise table.wrong("request", "has a date or a number that JSON does not know") from None
    texts = list(strings(request))
    for name, value in texts:
        _refuse_secret(table, f"request.{name}", name, value)
        if not translates and (place := LANGUAGE.search(value)):
            raise table.wrong("request", f"{place[0]!r} is for the task translation")
        if "{texts}" in value and value != "{texts}":
            raise table.wrong("request", f'{value!r}: "{{texts}}" is a list and must stand alone in its quotes')
    places = {(place[0], place[0] == value) for _, value in texts for place in TEXT.finditer(value)}
    _fit_texts(table, places, pairs)
    single = len(places)
    many = sum(value == "{texts}" for _, value in texts)
    if bool(single) == bool(many):
        raise table.wrong(
            "request", 'must have either "{text}" (one input a request) or "{texts}" (a list of them) as a value'
        )
    return request, bool(many)


def _fit_texts(table: _Table, places: Set[tuple[str, bool]], pairs: bool) -> None:
    """Refuse places for texts (and whether each stands alone) that the inputs do not have, or that lose a text."""
    names = {name for name, _ in places}
    halves = names & {"{text_a}", "{text_b}"}
    if halves and not pairs:
        raise table.wrong("request", f'"{min(halves)}" is for pairs of texts, the task similarity; write "{{text}}"')
    if len(halves) == 1 or (pairs and ("{text}", False) in places):
        raise table.wrong(
            "request",
            'an input has two texts: write "{text_a}" and "{text_b}" where they go, or "{text}" alone in its quotes '
            "for a list of both",
        )


def _answer(table: _Table, tasks: Sequence[str]) -> tuple[Path | None, Path | None, Path | None, bool]:
    """Paths to labels, scores and texts, and whether every output has a score."""
    content = table.take("answer", {})
    if not isinstance(content, dict):
        raise table.wrong("answer", 'must be a table, for example: answer = { label = "results[*].label" }')
    inner = _Table(table.file, content, "answer.")
    written = {key: inner.text(key) for key in ("label", "score", "text")}
    inner.end()
    # A score that the file names must be there: a slip of the pen would else make every score 1.
    usual = _ANSWERS.get(tasks[0])
    score_needed = written["score"] is not None or tasks[0] == "similarity"
    if not any(written.values()):
        usual = usual or {"label": "outputs[*].label", "score": "outputs[*].score"}
        written = {key: usual.get(key) for key in written}
    elif usual and not set(usual) <= {key for key, spelled in written.items() if spelled}:
        raise inner.wrong(min(usual), f"is missing; an output of {tasks[0]} is a {min(usual)}")
    paths: dict[str, Path | None] = {}
    for key, spelled in written.items():
        try:
            paths[key] = None if spelled is None else Path.read(spelled)
        except AuditError as problem:
            raise inner.wrong(key, str(problem)) from None
    if usual is None and paths["label"] is None and paths["text"] is None:
        raise inner.wrong("label", "is missing; an output has at least a label or a text")
    return paths["label"], paths["score"], paths["text"], score_needed


def _fit(table: _Table, batch: int, many: bool, paths: Sequence[Path]) -> None:
    """Refuse a batch that the request or the answer has no room for."""
    if batch > 1 and not many:
        raise table.wrong("batch", f'{batch} must be 1, since the request has "{{text}}"; "{{texts}}" sends several')
    if batch > 1 and (single := next((path for path in paths if not path.many), None)):
        raise table.wrong("batch", f"{batch} must be 1, since {single.written!r} has no [*] and so leads to one output")


def _refuse_secret(table: _Table, where: str, name: str, value: str) -> None:
    """Refuse a secret that is written out: values of the file are stored in databases and shown in reports."""
    if value and _SECRET.search(name) and not VARIABLE.search(value) and "{text" not in value:
        raise table.wrong(where, 'looks like a secret: take it from the environment, for example "${SERVICE_KEY}"')
