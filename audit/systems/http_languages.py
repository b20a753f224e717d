"""What the file of a translation service says of languages: which it has, what it calls them, where they go."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol
from urllib.parse import quote

from audit.errors import BadFile
from audit.language.iso639 import is_code
from audit.tasks import Input

LANGUAGE = re.compile(r"\{(source|target)_language\}")
"""A place where the code of the language of a text goes, or of the language to translate into."""
EVERY = "*"
REQUEST = {
    "texts": "{texts}",
    "source_language": "{source_language}",
    "target_language": "{target_language}",
}
"""The JSON that is sent to a translation service, unless the file says."""


class _Table(Protocol):
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
        """What may change an output: a pair that is added later has none so far."""
        return {"languages": list(self.spoken), "pairs": ["-".join(pair) for pair in self.pairs], "codes": self.codes}

    def has(self, one: Input) -> bool:
        """Whether the service translates this input's text into its target."""
        source, target = one.languages[0], one.target
        if target is None:
            return False
        if self.pairs:
            return (source, target) in self.pairs
        return self.spoken == (EVERY,) or {source, target} <= set(self.spoken)

    def groups(self, inputs: Sequence[Input]) -> list[list[int]]:
        """The places of the inputs that the service has, those of one pair of languages together: a request has one
        pair."""
        found: dict[tuple[str, ...], list[int]] = {}
        for place, one in enumerate(inputs):
            if self.has(one):
                found.setdefault(one.languages, []).append(place)
        return list(found.values())

    def name(self, one: Input, side: str) -> str:
        """What the service calls the language of the input on this side, "source" or "target".

        >>> Languages(("*",), (), {"zh": "zh-CHS"}).name(Input.of("It rains.", target="zh"), "target")
        'zh-CHS'
        """
        code = one.languages[0] if side == "source" else one.target or ""
        return self.codes.get(code, code)

    def address(self, url: str, one: Input) -> str:
        """The url with the languages of the input in it."""
        return LANGUAGE.sub(lambda place: quote(self.name(one, place[1]), safe=""), url)


def read_languages(table: _Table, spoken: tuple[str, ...], places: Sequence[str]) -> Languages:
    """The keys `pairs` and `codes` of a file, beside its `languages`; `places` are the texts in which languages may
    stand. Raises BadFile."""
    for code in spoken:
        if code != EVERY and not is_code(code):
            raise table.wrong("languages", f'{code!r} is no code such as es, zh or pt-BR, or ["*"] for all')
    pairs = _pairs(table)
    codes = table.texts("codes", 'codes = { zh = "zh-CHS" }')
    if wrong := next((code for code in codes if not is_code(code)), None):
        raise table.wrong("codes", f"{wrong!r} is no code such as es, zh or pt-BR; write ours = theirs")
    named = {place[1] for text in places for place in LANGUAGE.finditer(text)}
    if "target" not in named and len({target for _, target in pairs}) != 1:
        raise table.wrong(
            "request",
            'must say which language to translate into: put "{target_language}" into it or into the url, or name the '
            'only pair that the service has, as in pairs = ["en-es"]',
        )
    return Languages(spoken, pairs, codes)


def _pairs(table: _Table) -> tuple[tuple[str, str], ...]:
    written = table.take("pairs", [])
    if not isinstance(written, list):
        raise table.wrong("pairs", f'{written!r} must be a list, for example ["en-es", "es-en"]')
    return tuple(_pair(table, one) for one in written)


def _pair(table: _Table, written: object) -> tuple[str, str]:
    """Two codes with a hyphen between them, either of which may have a hyphen of its own: `pt-BR-en`."""
    parts = written.split("-") if isinstance(written, str) else []
    for at in range(1, len(parts)):
        pair = "-".join(parts[:at]), "-".join(parts[at:])
        if all(is_code(code) for code in pair):  # a region, in capitals, is none by itself
            return pair
    raise table.wrong("pairs", f'{written!r} is no pair of languages such as "en-es" or "en-pt-BR"')
