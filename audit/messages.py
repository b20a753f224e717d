"""What audit says to people, in English and Chinese: one catalogue for terminal, HTML, app and errors.

Each sentence stands once in each language, in data/messages/en.toml and zh.toml, under its code (`refused.not_leased`);
what only commands and programs are told is English alone. What is said is a `Message`: the English sentence, which
knows its code and its parameters, so that a front end can say it in another language.
"""

import json
import tomllib
from collections.abc import Callable, Iterable, Mapping
from functools import cache, reduce
from typing import Any

ENGLISH = "en"
LANGUAGES = {ENGLISH: "English", "zh": "中文"}
"""Code -> name in the language itself. A new language is a file in data/messages, its guidelines and an entry here."""
_AND = {ENGLISH: ", ", "zh": "、"}


class Message(str):
    """A sentence of the catalogue: it is the English one, and can be said in the other languages. Made by `message`."""

    code: str
    parameters: dict[str, Any]

    def __reduce__(self) -> tuple[Any, ...]:
        return _message, (self.code, self.parameters)


def message(code: str, /, **parameters: object) -> Message:
    """Return the sentence of the catalogue with this code, its parameters filled in.

    A parameter may be a message itself, or several parts, which are listed with commas. `{count:one|many}` in a text is
    what stands left of | where `count` is 1. Raises KeyError where the catalogue has no such code or parameter.

    >>> late = message("welcome.wait", count=1)
    >>> late, said(late, "zh")
    ('Too many wrong passwords; try again in a second.', '密码错误次数过多，请稍后重试。')
    """
    return _message(code, {name: _plain(value) for name, value in parameters.items()})


def joined(code: str, parts: Iterable[str]) -> str:
    """Return parts joined by a message of two, its `first` and `second`, as `list.or`; a single part as it is."""
    return reduce(lambda first, second: message(code, first=first, second=second), parts)


def counted(number: int, thing: str) -> str:
    """A number of things, in English: 1 relation, 1,200 sources."""
    return f"{number:,} {thing}{'' if number == 1 else 's'}"


def with_commas(parts: str | Iterable[object]) -> str:
    """Parts with commas between them, in English; a text as it is."""
    return parts if isinstance(parts, str) else _AND[ENGLISH].join(map(str, parts))


def said(sentence: str, language: str) -> str:
    """A sentence in the language of this code: a message in its words, any other text as it is."""
    return phrase(language, sentence.code, **sentence.parameters) if isinstance(sentence, Message) else sentence


def phrase(language: str, code: str, /, **parameters: object) -> str:
    """Return the text of a code in this language, its parameters filled in as in `message`."""
    parts = {name: _part(value, language) for name, value in parameters.items()}
    if "count" in parts:
        parts["count"] = _Count(parts["count"])
    return catalogue(language)[code].format(**parts)


class _Count:
    """A number that `{count:one|many}` chooses by."""

    def __init__(self, number: object) -> None:
        self.number = number

    def __format__(self, spec: str) -> str:
        singular, choice, many = spec.partition("|")
        return (singular if self.number == 1 else many) if choice else format(self.number, spec)


@cache
def catalogue(language: str) -> Mapping[str, str]:
    """Every text of a language by its code, that of English where it has none of its own."""
    from audit.resources import data_file

    own = dict(_flat(tomllib.loads(data_file(f"messages/{language}.toml").read_text(encoding="utf-8")), ""))
    return own if language == ENGLISH else {**catalogue(ENGLISH), **own}


def to_tree(content: Any, change: Callable[[str], str] = str) -> Any:
    """Return a tree of dicts and lists in which each message is its code and parameters, so that JSON keeps it and
    `from_tree` can make a message of it again. `change` is applied to every other text."""
    if isinstance(content, Message):
        return {"code": content.code, "parameters": to_tree(content.parameters, change)}
    if isinstance(content, Mapping):
        return {key: to_tree(value, change) for key, value in content.items()}
    if isinstance(content, list | tuple):
        return [to_tree(value, change) for value in content]
    return change(content) if isinstance(content, str) else content


def from_tree(tree: Any) -> Any:
    """Return what `to_tree` made the tree of."""
    if isinstance(tree, dict):
        values = {key: from_tree(value) for key, value in tree.items()}
        return _message(**values) if values.keys() == {"code", "parameters"} else values
    return [from_tree(value) for value in tree] if isinstance(tree, list) else tree


def stored(sentence: str, change: Callable[[str], str] = str) -> str:
    """Return a sentence as the database keeps it: a message as JSON, so that `from_stored` can say it in any language;
    any other text as it is. `change` is applied to every text that is filled in."""
    tree = to_tree(sentence, change)
    return tree if isinstance(tree, str) else json.dumps(tree, ensure_ascii=False)


def from_stored(text: str) -> str:
    """Return the sentence that `stored` made a text of; what it did not make, as it is."""
    try:
        sentence = from_tree(json.loads(text))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return text
    return sentence if isinstance(sentence, Message) else text


def _message(code: str, parameters: dict[str, Any]) -> Message:
    sentence = Message(phrase(ENGLISH, code, **parameters))
    sentence.code, sentence.parameters = code, parameters
    return sentence


def _plain(value: object) -> Any:
    """A parameter as JSON can have it."""
    if value is None or isinstance(value, str | int | float):
        return value
    if isinstance(value, BaseException):
        return value.args[0] if len(value.args) == 1 and isinstance(value.args[0], Message) else str(value)
    if isinstance(value, Iterable):
        return [_plain(part) for part in value]
    return value.item() if hasattr(value, "item") else str(value)


def _part(value: object, language: str) -> object:
    if isinstance(value, list | tuple):
        return _AND[language].join(str(_part(part, language)) for part in value)
    return said(value, language) if isinstance(value, str) else value


def _flat(table: Mapping[str, Any], prefix: str) -> Iterable[tuple[str, str]]:
    for key, value in table.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value
