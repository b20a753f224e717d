"""Five hundred texts of eight registers in a language, made from the templates of `registers.toml`, always the same."""

import hashlib
import re
import tomllib
from pathlib import Path
from typing import NamedTuple

REGISTERS = ("reviews", "news", "forum", "tickets", "encyclopaedia", "chat", "technical", "pairs")
MOST = 500
_FILE = Path(__file__).with_name("registers.toml")


class Text(NamedTuple):
    """A text, a second one for tasks over two, and a few of its register together, as a document."""

    name: str
    text: str
    other: str
    document: str


def texts(language: str, number: int = MOST) -> list[Text]:
    """So many texts, one register after the other, so that a few have all of them."""
    content = tomllib.loads(_FILE.read_text(encoding="utf-8"))[language]
    return [_text(content, REGISTERS[place % len(REGISTERS)], place) for place in range(number)]


def pick(options: list, *key: object):
    """One of these, by the key alone: the same in every version of Python."""
    return options[int.from_bytes(hashlib.sha256(repr(key).encode()).digest()[:6]) % len(options)]


def _text(content: dict, register: str, place: int) -> Text:
    sentences, pairs = content[register]["sentences"], content[register].get("pairs", [])
    between = " " if content["slots"]["place"][0].isascii() else ""

    def fill(template: str, *key: object) -> str:
        chosen: dict[str, int] = {}

        def slot(match: re.Match) -> str:
            name = match[1]
            chosen[name] = chosen.get(name, 0) + 1
            return pick(content["slots"][name], *key, name, chosen[name])

        return re.sub(r"\{(\w+)\}", slot, template)

    name = f"{register}-{place // len(REGISTERS)}"
    if pairs and place % 3:  # both are filled alike: a second text is about what the first one is about
        first, second = pick(pairs, name)
        text, other = fill(first, name), fill(second, name)
    else:
        template = pick(sentences, name)
        text, other = fill(template, name), fill(template, name, "other")
    together = [text, *(fill(pick(sentences, name, more), name, more) for more in range(2 + place % 4))]
    return Text(name, text, other, between.join(together))
