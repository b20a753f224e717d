"""Kinds of values that the keys of a plan take."""

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from audit.errors import AuditError
from audit.tasks import TASKS, get_task

_LARGEST = (1 << 63) - 1
_LONGEST = 500
"""Characters of a text, and names in a list."""


def _as_it_is(value: Any) -> Any:
    return value


@dataclass(frozen=True)
class Kind:
    """What is allowed, in words and as a test, and how a value is spelled in a plan."""

    allowed: str
    fits: Callable[[Any], bool]
    clean: Callable[[Any], Any] = _as_it_is


def text() -> Kind:
    """A text on one line.

    >>> text().fits("imdb"), text().fits(3)
    (True, False)
    """
    return Kind(f'a text such as "imdb", of 1 to {_LONGEST} characters', _is_text)


def choice(names: Iterable[str], renamed: Mapping[str, str] | None = None) -> Kind:
    """One of a few words; `renamed` has names of earlier versions, which become what they are now.

    >>> choice(["a", "b"]).allowed, choice(["a", "b"], {"old": "a"}).clean("old")
    ('one of a, b', 'a')
    """
    known, now = list(names), renamed or {}
    return Kind(
        f"one of {', '.join(known)}",
        lambda value: isinstance(value, str) and (value in known or value in now),
        lambda value: now.get(value, value),
    )


def task() -> Kind:
    """The name of a task; of classification, with its label scheme.

    >>> task().fits("classification/finance,sports"), task().fits("classification")
    (True, False)
    """
    known = [name if of.labels else f"{name}/SCHEME" for name, of in TASKS.items()]
    return Kind(f"one of {', '.join(known)}", _is_task)


def _is_task(value: Any) -> bool:
    try:
        return isinstance(value, str) and bool(get_task(value).labels)
    except AuditError:
        return False


def names(empty: bool = False) -> Kind:
    """A list of texts, each once; `empty` allows none at all.

    >>> names().fits(["vader", "vader"]), names().clean(("vader",))
    (False, ['vader'])
    """
    return Kind(
        'a list of different names such as ["a", "b"]' + ("" if empty else ", with one at least"),
        lambda value: (
            isinstance(value, list | tuple)
            and (empty or len(value) > 0)
            and len(value) <= _LONGEST
            and all(map(_is_text, value))
            and len(set(value)) == len(value)
        ),
        list,
    )


def whole(least: int, most: int = _LARGEST) -> Kind:
    """A whole number.

    >>> whole(1).fits(1), whole(1).fits(True), whole(1).fits(1.0)
    (True, False, False)
    """
    ends = "" if least < 0 else f" from {least}" + ("" if most == _LARGEST else f" to {most}")
    return Kind(
        f"a whole number{ends}",
        lambda value: isinstance(value, int) and not isinstance(value, bool) and least <= value <= most,
    )


def number(least: float, most: float | None = None) -> Kind:
    """A number; kept as a decimal one.

    >>> number(0, 1).fits(0.5), number(0, 1).fits(float("nan")), number(0).clean(1)
    (True, False, 1.0)
    """
    return Kind(
        f"a number from {least}" + ("" if most is None else f" to {most}"),
        lambda value: (
            isinstance(value, int | float)
            and not isinstance(value, bool)
            and math.isfinite(value)
            and least <= value <= (_LARGEST if most is None else most)
        ),
        float,
    )


def yes_no() -> Kind:
    """True or false."""
    return Kind("true or false", lambda value: isinstance(value, bool))


def parameters() -> Kind:
    """Parameters by relation, for example `{"MR6.1": {"sentences": 5}}`; a relation without any is left out.

    >>> parameters().fits({"MR6.1": {"sentences": 5}}), parameters().fits({"MR6.1": 5})
    (True, False)
    """
    return Kind(
        'tables of parameters by relation, such as [study.set."MR6.1"] with sentences = 5 under it',
        lambda value: (
            isinstance(value, Mapping)
            and all(isinstance(some, Mapping) for some in value.values())
            and all(_is_text(name) and _is_plain(one) for some in value.values() for name, one in some.items())
        ),
        lambda value: {name: dict(some) for name, some in value.items() if some},
    )


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and 0 < len(value) <= _LONGEST and value.isprintable() and bool(value.strip())


def _is_plain(value: Any) -> bool:
    if isinstance(value, float):
        return math.isfinite(value)
    if isinstance(value, int):
        return abs(value) <= _LARGEST
    return _is_text(value)
