"""What the TOML files of systems that ask another machine have in common: addresses, secrets, labels, pace, price."""

import re
from collections.abc import Iterator, Sequence
from typing import Annotated
from urllib.parse import parse_qsl, urlsplit

from pydantic import BeforeValidator, Field, Strict

from audit.systems.asking import PATIENCE, TRIES
from audit.tasks import get_task
from audit.user_models import Allowed, Mistake, UserModel


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
        """What some requests cost that send so many characters, and tokens; where nobody counted these, one is taken to
        have four characters (`CHARACTERS_OF_TOKEN`)."""
        tokens = characters / CHARACTERS_OF_TOKEN if tokens is None else tokens
        per_million = (
            self.characters * characters + self.input_tokens * tokens + self.answers * self.output_tokens * calls
        )
        return self.call * calls + per_million / 1_000_000


CHARACTERS_OF_TOKEN = 4
"""About as many characters of English are a token of a language model; fewer of Chinese."""


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
_SECRET = re.compile(r"(auth|authorization|cookie|token|secret|password|passwd|key)$", re.IGNORECASE)
_HEADER = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")


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


def spelled(value: object) -> object:
    """As text: a version may be written 2, 1.5 or 2026-11-21, which TOML reads as other things."""
    return value if isinstance(value, bool | list | dict) else str(value)


def checked_url(url: str) -> str:
    if not VARIABLE.search(url) and (fault := check_address(url)):
        raise Mistake(f"{url!r} {fault}")
    parts = urlsplit(VARIABLE.sub("x", url))
    if parts.username is not None or parts.password is not None:
        # Not shown: it is a secret.
        raise Mistake('has a name or password in it; send them as headers.Authorization = "Basic ${NAME}"')
    for name, value in parse_qsl(urlsplit(url).query):
        refuse_secret(f"url, parameter {name}", name, value)
    return url


def checked_headers(headers: dict[str, str]) -> dict[str, str]:
    for name, value in headers.items():
        if not _HEADER.fullmatch(name):
            raise Mistake("is no name of a header; allowed are letters, digits and hyphens", f"headers.{name}")
        refuse_secret(f"headers.{name}", name, value)
        if not value.isascii() or not value.isprintable():
            raise Mistake("must be printable ASCII", f"headers.{name}")
    return headers


def refuse_secret(where: str, name: str, value: str) -> None:
    """Refuse a secret that is written out: values of the file are stored in databases and shown in reports."""
    if value and _SECRET.search(name) and not VARIABLE.search(value) and "{text" not in value:
        raise Mistake('looks like a secret: take it from the environment, for example "${SERVICE_KEY}"', where)


def labels_of(tasks: Sequence[str]) -> list[str]:
    """The labels that a service for these tasks may return; empty where any will do. Raises AuditError for what is no
    task."""
    labels_by_task = [get_task(task).labels for task in tasks]
    return [label for labels in labels_by_task for label in labels] if all(labels_by_task) else []


Text = Annotated[str, Allowed("a text in quotes that is not empty", lambda text: bool(text.strip()))]
Names = Annotated[tuple[str, ...], Strict(False), Allowed('a list of names, for example ["en", "zh"]', bool)]
Labels = Annotated[dict[str, str], Allowed('a table of texts, for example: labels = { POS = "positive" }')]
Headers = Annotated[
    dict[str, str], Allowed('a table of texts, for example: headers = { Authorization = "Bearer ${NAME}" }')
]


class Remote(UserModel):
    """What every file that describes a service has. Values keep `${NAME}` in place of a secret, so all of it may be
    stored and shown."""

    name: Annotated[Text, BeforeValidator(spelled)] = Field(description="it is what reports call the system")
    version: Annotated[Text, BeforeValidator(spelled)] = Field(
        description="nobody can see from here when a service changes: change it when it does"
    )
    deterministic: bool | None = None
    """Whether it always answers the same; None: nobody knows."""
    labels: Labels = Field({}, repr=False)
    """Its own words for labels -> ours."""
    concurrency: int = Field(8, ge=1, le=1_000)
    timeout: float = Field(30.0, ge=0.01, le=86_400)
    """Seconds that a request may take."""
    tries: int = Field(TRIES, ge=1, le=100)
    patience: float = Field(PATIENCE, ge=0, le=86_400)
    rate: Annotated[float, Field(gt=0, le=100_000)] | None = None
    """The most requests a second; None: as many as it answers."""
    price: Price | None = None
    """What it costs, where it costs something."""
