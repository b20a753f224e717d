"""What audit says to people, in English and Chinese: one catalogue for terminal, HTML, app and errors.

Each sentence stands once in each language, in data/messages/en.toml and zh.toml, under its code. What is said is a
`Message`: the English sentence, which knows its code and its parameters, so that a front end can say it in another
language.
"""

import tomllib
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

ENGLISH = "en"
LANGUAGES = {ENGLISH: "English", "zh": "中文"}
"""Code -> name in the language itself. A new language is one file in data/messages, guidelines, and an entry here."""
_AND = {ENGLISH: ", ", "zh": "、"}


class Message(str):
    """A sentence of the catalogue: it is the English one, and can be said in the other languages. Made by `message`."""

    code: str
    parameters: dict[str, Any]

    def __reduce__(self) -> tuple[Any, ...]:
        return _message, (self.code, self.parameters)


def message(code: str, /, **parameters: object) -> Message:
    """The sentence of the catalogue with this code, its parameters filled in.

    A parameter may be a message itself, or a sequence, whose parts are listed. Where `count` is 1 and the catalogue has
    `CODE_one`, that one is taken. Raises KeyError where the catalogue has no such code or parameter.

    >>> late = message("welcome.wait", count=1)
    >>> late, said(late, "zh")
    ('Too many wrong passwords; try again in a second.', '密码错误次数过多，请稍后重试。')
    """
    return _message(code, parameters)


def said(sentence: str, language: str) -> str:
    """A sentence in the language of this code: a message in its words, any other text as it is."""
    return words(language, sentence.code, sentence.parameters) if isinstance(sentence, Message) else sentence


def words(language: str, code: str, parameters: Mapping[str, object]) -> str:
    """The text of a code in this language. Raises KeyError where the catalogue has no such code or parameter."""
    texts = catalogue(language)
    if parameters.get("count") == 1 and f"{code}_one" in texts:
        code = f"{code}_one"
    return texts[code].format(**{name: _part(value, language) for name, value in parameters.items()})


@cache
def catalogue(language: str) -> Mapping[str, str]:
    """Every text of a language by its code."""
    from audit.resources import data_file

    content = tomllib.loads(data_file(f"messages/{language}.toml").read_text(encoding="utf-8"))
    return dict(_flat(content, ""))


def to_wire(content: Any) -> dict[str, tuple[str, dict[str, Any]]]:
    """The messages in a tree of dicts and lists: English sentence -> code and parameters, so that `from_wire` can find
    them again in what JSON made of the tree."""
    found: dict[str, tuple[str, dict[str, Any]]] = {}
    _collect(content, found)
    return found


def from_wire(content: Any, messages: Mapping[str, tuple[str, Mapping[str, Any]]]) -> Any:
    """The tree, its messages messages again.

    >>> late = message("welcome.wait", count=1)
    >>> type(from_wire({"notes": [str(late)]}, to_wire([late]))["notes"][0]).__name__
    'Message'
    """
    if isinstance(content, str):
        if content not in messages:
            return content
        code, parameters = messages[content]
        return _message(code, {name: from_wire(value, messages) for name, value in parameters.items()})
    if isinstance(content, Mapping):
        return {key: from_wire(value, messages) for key, value in content.items()}
    if isinstance(content, list | tuple):
        return [from_wire(value, messages) for value in content]
    return content


def _message(code: str, parameters: dict[str, Any]) -> Message:
    sentence = Message(words(ENGLISH, code, parameters))
    sentence.code, sentence.parameters = code, parameters
    return sentence


def _part(value: object, language: str) -> object:
    if isinstance(value, list | tuple):
        return _AND[language].join(str(_part(part, language)) for part in value)
    return said(value, language) if isinstance(value, str) else value


def _collect(content: Any, found: dict[str, tuple[str, dict[str, Any]]]) -> None:
    if isinstance(content, Message):
        found[str(content)] = content.code, content.parameters
        _collect(content.parameters, found)
    elif isinstance(content, Mapping):
        for value in content.values():
            _collect(value, found)
    elif isinstance(content, list | tuple):
        for value in content:
            _collect(value, found)


def _flat(table: Mapping[str, Any], prefix: str) -> Iterable[tuple[str, str]]:
    for key, value in table.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value
