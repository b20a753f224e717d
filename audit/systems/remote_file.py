"""Read the TOML files that describe systems: what all kinds share, and what those share that ask another machine."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, TypeVar
from urllib.parse import parse_qsl, quote, urlsplit

from pydantic import AfterValidator, BeforeValidator, Field, PlainValidator, Strict

from audit.errors import AuditError
from audit.files import read_text, toml_of
from audit.systems.asking import PATIENCE, TRIES
from audit.tasks import Input, get_task
from audit.text.languages import is_code
from audit.user_models import Allowed, Mistake, UserModel, read_as

HELP = "see docs/reference/systems.md"
VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
"""A place where the value of an environment variable goes."""
_SECRET = re.compile(r"(auth|authorization|cookie|token|secret|password|passwd|key)$", re.IGNORECASE)
_HEADER = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
EVERY = "*"
"""Stands for any language."""
LANGUAGE = re.compile(r"\{(source|target)_language\}")
"""A place where the code of a language goes."""
CHARACTERS_OF_TOKEN = 4
"""About as many characters of English are a token of a language model; fewer of Chinese."""

File = TypeVar("File", bound=UserModel)


def read_system_file(model: type[File], path: str, kind: str, advice: str = HELP) -> File:
    """Return the description in a file, for the system `KIND:PATH`.

    Raises AuditError where no file is named, and BadFile, which names file, key and what is allowed.
    """
    if not path or path.startswith("//"):
        raise AuditError(f"'{kind}:{path}' names nothing; write {kind}:FILE.toml, a file that describes it ({advice})")
    return read_as(model, toml_of(path, read_text(path), advice), path, advice)


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


def strings(value: object, key: str = "") -> Iterator[tuple[str, str]]:
    """Yield every text in a JSON document, with the name that it stands under."""
    if isinstance(value, str):
        yield key, value
    elif isinstance(value, dict):
        for name, inner in value.items():
            yield from strings(inner, name)
    elif isinstance(value, list):
        for inner in value:
            yield from strings(inner, key)


# Addresses and secrets: values of a file are stored in databases and shown in reports, so none may be a secret.


def check_address(url: str) -> str | None:
    """Say what is wrong with an address; None where nothing is.

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


def refuse_secret(where: str, name: str, value: str) -> None:
    """Raise Mistake for a secret that is written out."""
    if value and _SECRET.search(name) and not VARIABLE.search(value) and "{text" not in value:
        raise Mistake('looks like a secret: take it from the environment, for example "${SERVICE_KEY}"', where)


def _checked_url(url: str) -> str:
    if not VARIABLE.search(url) and (fault := check_address(url)):
        raise Mistake(f"{url!r} {fault}")
    parts = urlsplit(VARIABLE.sub("x", url))
    if parts.username is not None or parts.password is not None:
        # Not shown: it is a secret.
        raise Mistake('has a name or password in it; send them as headers.Authorization = "Basic ${NAME}"')
    for name, value in parse_qsl(urlsplit(url).query):
        refuse_secret(f"url, parameter {name}", name, value)
    return url


def _checked_headers(headers: dict[str, str]) -> dict[str, str]:
    for name, value in headers.items():
        if not _HEADER.fullmatch(name):
            raise Mistake("is no name of a header; allowed are letters, digits and hyphens", f"headers.{name}")
        refuse_secret(f"headers.{name}", name, value)
        if not value.isascii() or not value.isprintable():
            raise Mistake("must be printable ASCII", f"headers.{name}")
    return headers


def _spelled(value: object) -> object:
    """As text: a version may be written 2, 1.5 or 2026-11-21, which TOML reads as other things."""
    return value if isinstance(value, bool | list | dict) else str(value)


def _pair(written: object) -> tuple[str, str]:
    """Two codes with a hyphen between them, either of which may have a hyphen of its own: `pt-BR-en`."""
    parts = written.split("-") if isinstance(written, str) else []
    for at in range(1, len(parts)):
        pair = "-".join(parts[:at]), "-".join(parts[at:])
        if all(is_code(code) for code in pair):  # a region, in capitals, is none by itself
            return pair
    raise Mistake(f'{written!r} is no pair of languages such as "en-es" or "en-pt-BR"')


Text = Annotated[str, Allowed("a text in quotes that is not empty", lambda text: bool(text.strip()))]
Spelled = Annotated[Text, BeforeValidator(_spelled)]
Url = Annotated[Text, AfterValidator(_checked_url)]
Names = Annotated[tuple[str, ...], Strict(False), Allowed('a list of names, for example ["en", "zh"]', bool)]
Labels = Annotated[dict[str, str], Allowed('a table of texts, for example: labels = { POS = "positive" }')]
Codes = Annotated[dict[str, str], Allowed('a table of texts, for example: codes = { zh = "zh-CHS" }')]
Headers = Annotated[
    dict[str, str],
    Allowed('a table of texts, for example: headers = { Authorization = "Bearer ${NAME}" }'),
    AfterValidator(_checked_headers),
]
Pairs = Annotated[
    tuple[Annotated[tuple[str, str], PlainValidator(_pair)], ...],
    Strict(False),
    Allowed('a list, for example ["en-es", "es-en"]'),
]


class Price(UserModel):
    """What a service takes, in `currency`: for each request, for a million characters of texts that it is sent, for a
    million tokens in and out. `output_tokens` is how many an answer has, as far as one can say before.

    >>> Price(input_tokens=0.15, answers=0.6, output_tokens=5).of(calls=1, characters=4000)
    0.000153
    """

    currency: str = "USD"
    call: float = Field(0.0, ge=0)
    characters: float = Field(0.0, ge=0)
    input_tokens: float = Field(0.0, ge=0)
    answers: float = Field(0.0, ge=0)
    """For a million tokens of answers."""
    output_tokens: float = Field(10.0, ge=0)
    """Tokens of an answer."""

    def of(self, calls: int, characters: int, tokens: float | None = None) -> float:
        """Return what some requests cost that send so many characters, and tokens; where nobody counted these, one is
        taken to have four characters (`CHARACTERS_OF_TOKEN`)."""
        tokens = characters / CHARACTERS_OF_TOKEN if tokens is None else tokens
        per_million = (
            self.characters * characters + self.input_tokens * tokens + self.answers * self.output_tokens * calls
        )
        return self.call * calls + per_million / 1_000_000


class SystemFile(UserModel):
    """What every file that describes a system has."""

    name: Spelled = Field(description="it is what reports call the system")
    version: Spelled = Field(description="nobody can see from here when it changes: change the version when it does")
    deterministic: bool | None = None
    """Whether it always answers the same; None: nobody knows."""
    languages: Names | None = None
    labels: Labels = Field({}, repr=False)
    """Its own words for labels -> ours."""


class Remote(SystemFile):
    """What every file that describes a service has beside. Values keep `${NAME}` in place of a secret, so all of it may
    be stored and shown."""

    concurrency: int = Field(8, ge=1, le=1_000)
    timeout: float = Field(30.0, ge=0.01, le=86_400)
    """Seconds that a request may take."""
    tries: int = Field(TRIES, ge=1, le=100)
    patience: float = Field(PATIENCE, ge=0, le=86_400)
    rate: Annotated[float, Field(gt=0, le=100_000)] | None = None
    """The most requests a second; None: as many as it answers."""
    price: Price | None = None
    """What it costs, where it costs something."""


def check_labels(labels: Mapping[str, str], tasks: Sequence[str]) -> None:
    """Raise Mistake for words that stand for no label of these tasks, where these have labels of their own."""
    by_task = [get_task(task).labels for task in tasks]
    allowed = [label for labels_of in by_task for label in labels_of] if all(by_task) else []
    if unknown := next((label for label in labels.values() if allowed and label not in allowed), None):
        raise Mistake(f"{unknown!r} is no label of {', '.join(tasks)}; allowed are {', '.join(allowed)}", "labels")


def check_codes(languages: Sequence[str], codes: Mapping[str, str]) -> None:
    """Raise Mistake for what is no code of a language."""
    for key, written in (("languages", languages), ("codes", codes)):
        if unknown := next(
            (code for code in written if not is_code(code) and (key, code) != ("languages", EVERY)), None
        ):
            raise Mistake(f"{unknown!r} is no code such as es, zh or pt-BR, nor {EVERY!r} for all languages", key)


@dataclass(frozen=True)
class Languages:
    """The languages that a service translates from and into (`("*",)`: any), the pairs where it has not all of them,
    and its own names for our codes."""

    spoken: tuple[str, ...]
    pairs: tuple[tuple[str, str], ...] = ()
    codes: Mapping[str, str] | None = None

    @property
    def read(self) -> tuple[str, ...]:
        """The languages that it translates from."""
        return tuple(dict.fromkeys(source for source, _ in self.pairs)) if self.pairs else self.spoken

    @property
    def settings(self) -> dict[str, Any]:
        """The part of the description that may change an output."""
        pairs = ["-".join(pair) for pair in self.pairs]
        return {"languages": list(self.spoken), "pairs": pairs, "codes": self.codes or {}}

    def has(self, item: Input) -> bool:
        """Return whether the service translates this input's text into its target."""
        source, target = item.languages[0], item.target
        if self.pairs or target is None:
            return (source, target) in self.pairs
        return self.spoken == (EVERY,) or {source, target} <= set(self.spoken)

    def groups(self, inputs: Sequence[Input]) -> list[list[int]]:
        """Return the places of the inputs that the service has, those of one pair of languages together."""
        by_pair: dict[tuple[str, ...], list[int]] = {}
        for place, item in enumerate(inputs):
            if self.has(item):
                by_pair.setdefault(item.languages, []).append(place)
        return list(by_pair.values())

    def name(self, item: Input, side: str) -> str:
        """Return what the service calls the language of the input on this side, "source" or "target".

        >>> Languages(("*",), (), {"zh": "zh-CHS"}).name(Input.of("It rains.", target="zh"), "target")
        'zh-CHS'
        """
        code = item.languages[0] if side == "source" else item.target or ""
        return (self.codes or {}).get(code, code)

    def address(self, url: str, item: Input) -> str:
        """Return the url with the languages of the input in it."""
        return LANGUAGE.sub(lambda place: quote(self.name(item, place[1]), safe=""), url)
