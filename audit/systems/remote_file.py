"""The TOML files that describe systems: what all kinds share, and what those share that ask another machine."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, TypeVar
from urllib.parse import parse_qsl, quote, urlsplit

from pydantic import AfterValidator, BeforeValidator, Field, Strict

from audit.errors import AuditError
from audit.files import read_text, toml_of
from audit.systems.asking import PATIENCE, TRIES
from audit.tasks import Input, get_task
from audit.text.languages import is_code
from audit.user_models import Allowed, Mistake, UserModel, read_as, sure

HELP = "see docs/reference/systems.md"
VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
"""A place where the value of an environment variable goes."""
_SECRET = re.compile(r"(auth|authorization|cookie|token|secret|password|passwd|key)$", re.IGNORECASE)
_CODE = r"[a-z]{2,3}(?:-[A-Z]\w*)?"
EVERY = "*"
"""Stands for any language."""
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
    elif isinstance(value, dict | list):
        for name, inner in value.items() if isinstance(value, dict) else [(key, inner) for inner in value]:
            yield from strings(inner, name)


def refuse_secret(where: str, name: str, value: str) -> None:
    """Raise Mistake for a secret that is written out: values of a file are stored and shown in reports."""
    if value and _SECRET.search(name) and not VARIABLE.search(value) and "{text" not in value:
        raise Mistake('looks like a secret: take it from the environment, for example "${SERVICE_KEY}"', where)


def _checked_url(url: str) -> str:
    if "@" in urlsplit(url).netloc:  # not shown: it is a secret
        raise Mistake('has a name or password in it; send them as headers.Authorization = "Basic ${NAME}"')
    if not re.match(r"https?://[^/?#:]|\$\{", url) or not re.fullmatch(r"[!-~]+", url):
        raise Mistake(f"{url!r} must begin with http:// or https:// and name a machine")
    for name, value in parse_qsl(urlsplit(url).query):
        refuse_secret(f"url, parameter {name}", name, value)
    return url


def _checked_headers(headers: dict[str, str]) -> dict[str, str]:
    for name, value in headers.items():
        refuse_secret(f"headers.{name}", name, value)
        if not re.fullmatch(r"[ -~]+", name + value):
            raise Mistake("must be printable ASCII", f"headers.{name}")
    return headers


def _are_pairs(pairs: Sequence[str]) -> bool:
    return all(re.fullmatch(f"{_CODE}-{_CODE}", pair) for pair in pairs)


def _spelled(value: object) -> object:
    """Spell a version that is written 2, 1.5 or 2026-11-21, which TOML reads as other things than texts."""
    return value if isinstance(value, bool | list | dict) else str(value)


Text = Annotated[str, Allowed("a text in quotes that is not empty", lambda text: bool(text.strip()))]
Spelled = Annotated[Text, BeforeValidator(_spelled)]
TaskName = Annotated[Text, AfterValidator(lambda name: sure(lambda: get_task(name)) and name)]
Url = Annotated[Text, AfterValidator(_checked_url)]
Names = Annotated[tuple[str, ...], Strict(False), Allowed('a list of names, for example ["en", "zh"]', bool)]
Words = Annotated[dict[str, str], Allowed('a table of texts, for example { POS = "positive" }')]
Headers = Annotated[Words, AfterValidator(_checked_headers)]
Pairs = Annotated[tuple[str, ...], Strict(False), Allowed('a list such as ["en-es", "en-pt-BR"]', _are_pairs)]


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
    answers: float = Field(0.0, ge=0)  # For a million tokens of answers
    output_tokens: float = Field(10.0, ge=0)

    def of(self, calls: int, characters: int, tokens: float | None = None, answered: float | None = None) -> float:
        """Return what requests cost that send so many characters, and tokens, and get so many tokens; where these were
        not counted, a token has four characters (`CHARACTERS_OF_TOKEN`) and an answer `output_tokens`."""
        tokens = characters / CHARACTERS_OF_TOKEN if tokens is None else tokens
        answered = self.output_tokens * calls if answered is None else answered
        per_million = self.characters * characters + self.input_tokens * tokens + self.answers * answered
        return self.call * calls + per_million / 1_000_000


class SystemFile(UserModel):
    """What every file that describes a system has."""

    name: Spelled = Field(description="it is what reports call the system")
    version: Spelled = Field(description="nobody can see from here when it changes: change the version when it does")
    deterministic: bool | None = None  # Whether it always answers the same; None: nobody knows
    languages: Names | None = None
    labels: Words = Field({}, repr=False)  # Its own words for labels -> ours


class Remote(SystemFile):
    """What every file that describes a service has beside. Values keep `${NAME}` in place of a secret, so all of it may
    be stored and shown."""

    concurrency: int = Field(8, ge=1, le=1_000)
    timeout: float = Field(30.0, ge=0.01, le=86_400)  # Seconds that a request may take
    tries: int = Field(TRIES, ge=1, le=100)
    patience: float = Field(PATIENCE, ge=0, le=86_400)
    rate: Annotated[float, Field(gt=0, le=100_000)] | None = None  # The most requests a second
    price: Price | None = None


def mistaken_labels(labels: Mapping[str, str], tasks: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield words that stand for no label of these tasks, where these have labels of their own."""
    by_task = [get_task(task).labels for task in tasks]
    allowed = [label for labels_of in by_task for label in labels_of] if all(by_task) else []
    if allowed and (unknown := [label for label in labels.values() if label not in allowed]):
        yield "labels", f"{unknown[0]!r} is no label of {', '.join(tasks)}; allowed are {', '.join(allowed)}"


@dataclass(frozen=True)
class Languages:
    """The languages that a service translates from and into (`("*",)`: any), the pairs where it has not all of them
    (`en-es`), and its own names for our codes."""

    spoken: tuple[str, ...]
    pairs: tuple[str, ...] = ()
    codes: Mapping[str, str] = field(default_factory=dict)

    def mistakes(self) -> Iterator[tuple[str, str]]:
        """Yield what is no code of a language."""
        for key, written in (("languages", self.spoken), ("codes", self.codes)):
            if unknown := next((code for code in written if not is_code(code) and code != EVERY), None):
                yield key, f"{unknown!r} is no code such as es, zh or pt-BR, nor {EVERY!r} for all languages"

    @property
    def read(self) -> tuple[str, ...]:
        """The languages that it translates from."""
        sources = [re.sub(f"-{_CODE}$", "", pair) for pair in self.pairs]
        return tuple(dict.fromkeys(sources)) or self.spoken

    @property
    def settings(self) -> dict[str, Any]:
        """The part of the description that may change an output."""
        return {"languages": list(self.spoken), "pairs": list(self.pairs), "codes": dict(self.codes)}

    def has(self, item: Input) -> bool:
        """Return whether the service translates this input's text into its target, where it has one."""
        source, target = item.languages[0], item.target
        if self.pairs or target is None:
            return target is None or f"{source}-{target}" in self.pairs
        return self.spoken == (EVERY,) or {source, target} <= {*self.spoken}

    def name(self, item: Input, side: str) -> str:
        """Return what the service calls the language of the input on this side, "source" or "target".

        >>> Languages(("*",), (), {"zh": "zh-CHS"}).name(Input.of("It rains.", target="zh"), "target")
        'zh-CHS'
        """
        code = item.languages[0] if side == "source" else item.target or ""
        return self.codes.get(code, code)

    def address(self, url: str, item: Input) -> str:
        """Return the url with the languages of the input in it."""
        for side in ("source", "target"):
            url = url.replace(f"{{{side}_language}}", quote(self.name(item, side), safe=""))
        return url
