"""Versions of code that has none: a fingerprint of its source, of the constants and the state that it reads.

Functions are followed into other functions of the user's own, not into installed packages. What a fingerprint cannot
see (a file that is read later, a model on another machine) is found by asking stored inputs again
(`audit.runner.preflight`), so nothing here tries to be complete.
"""

import inspect
import re
import sys
import sysconfig
import textwrap
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import is_dataclass
from functools import partial
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any, NamedTuple

from audit.keys import fingerprint

_INSTALLED = (sysconfig.get_path("purelib"), sysconfig.get_path("platlib"), "site-packages", "dist-packages")


class CodeVersion(NamedTuple):
    """A fingerprint, and what went not into it since it cannot be hashed, as "name (kind)"."""

    version: str
    unseen: tuple[str, ...]

    def remark(self, name: str) -> str | None:
        """Return what to say of a system whose state is not in its version; None where all is."""
        if not self.unseen:
            return None
        return (
            f"system {name} holds what cannot be hashed: {', '.join(self.unseen[:3])}; a change of it is noticed only "
            "when stored inputs are asked again, unless the system has a `version`"
        )


def code_version(*things: object, state: bool = True, with_parts: Iterable[str] = ()) -> CodeVersion:
    """Return the version of functions, classes and objects; with `state` also that of the objects that they hold or
    read, else constants count only: strings, numbers, compiled patterns, and collections of them.

    `with_parts` are more texts that are a part of it.

    >>> def exclaims(text, mark="!"):
    ...     return text + mark
    >>> def asks(text, mark="?"):
    ...     return text + mark
    >>> code_version(exclaims) == code_version(asks), code_version(exclaims) == code_version(exclaims)
    (False, True)
    """
    reader = _Reader(state)
    for thing in things:
        reader.read(getattr(thing, "__name__", "the object"), thing)
    return CodeVersion(fingerprint([*with_parts, *reader.parts]), tuple(reader.unseen))


class _Reader:
    """Collects the parts of a version, each function, class and object once."""

    def __init__(self, state: bool):
        self.parts: list[str] = []
        self.unseen: list[str] = []
        self._state = state
        self._seen: dict[int, object] = {}  # By id: what is held here keeps its id to itself

    def read(self, name: str, value: Any) -> None:
        """Add what identifies a value that code reads under this name."""
        try:
            self.parts += [name, _constant(value)]
            return
        except (TypeError, RecursionError):
            pass
        if id(value) in self._seen or isinstance(value, ModuleType):
            return
        self._seen[id(value)] = value
        self.parts.append(name)
        if inspect.isclass(value):
            self._read_class(value)
        elif isinstance(value, partial | MethodType):
            parts = ("func", "args", "keywords", "__func__", "__self__")
            self._read_all({part: getattr(value, part) for part in parts if hasattr(value, part)})
        elif inspect.isroutine(value):
            self.parts += _source(value)
            self._follow(inspect.unwrap(value))
        elif self._state:
            self._read_class(type(value))
            try:
                self.parts.append(_hash(value))
            except Exception:  # foreign code says what its state is
                self.unseen.append(f"{name} ({type(value).__name__})")
        elif isinstance(value, tuple | list):
            self._read_all({str(place): item for place, item in enumerate(value)})
        elif is_dataclass(value) or callable(value):
            self._read_class(type(value))
            self._read_all(getattr(value, "__dict__", {}) if is_dataclass(value) else {})

    def _read_all(self, values: Mapping[str, Any]) -> None:
        for name, value in values.items():
            self.read(name, value)

    def _read_class(self, kind: type) -> None:
        for base in kind.__mro__:
            if base is kind or _is_own(base.__module__):
                self.parts += _source(base)
            for member in vars(base).values() if _is_own(base.__module__) else ():
                self._follow(getattr(member, "__func__", getattr(member, "fget", member)))

    def _follow(self, function: Any) -> None:
        """Add what a function of the user's has beside its source: defaults, what it closes over, and the globals that
        it reads."""
        if not isinstance(function, FunctionType) or not _is_own(function.__module__):
            return
        self._read_all({"defaults": function.__defaults__ or (), **(function.__kwdefaults__ or {})})
        for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=False):
            with suppress(ValueError):  # nothing is in it yet
                self.read(name, cell.cell_contents)
        read = sorted(set(_names(function.__code__)))
        for name in read:
            value = function.__globals__.get(name)
            self.read(name, value)
            if isinstance(value, ModuleType) and _is_own(value.__name__):
                self._read_all({f"{name}.{part}": vars(value)[part] for part in read if part in vars(value)})


def _constant(value: Any) -> str:
    """Return a constant in one spelling, whatever the order of dicts and sets. Raises TypeError for anything else."""
    if value is None or value is ... or isinstance(value, str | bytes | int | float | complex):
        return repr(value)
    if isinstance(value, re.Pattern):
        return repr((value.pattern, value.flags))
    if isinstance(value, dict):
        parts = sorted(f"{_constant(key)}: {_constant(item)}" for key, item in value.items())
    elif isinstance(value, set | frozenset):
        parts = sorted(map(_constant, value))
    elif isinstance(value, tuple | list):
        parts = list(map(_constant, value))
    else:
        raise TypeError(f"{type(value).__name__} is no constant")
    return f"{type(value).__name__}({', '.join(parts)})"


def _names(code: CodeType) -> Iterator[str]:
    """Yield the names that code and what is nested in it reads."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)


def _source(defined: Any) -> list[str]:
    """Return the source of a function or class, or its compiled code where the source cannot be read."""
    try:
        return [textwrap.dedent(inspect.getsource(defined))]
    except (OSError, TypeError):
        members = vars(defined).values() if inspect.isclass(defined) else [defined]
        named = f"{getattr(defined, '__module__', '')}.{getattr(defined, '__qualname__', '')}"
        return [named, *(part for one in members if isinstance(one, FunctionType) for part in _compiled(one.__code__))]


def _compiled(code: CodeType) -> list[str]:
    inner = [_compiled(part) if isinstance(part, CodeType) else [_constant(part)] for part in code.co_consts]
    return [code.co_code.hex(), *code.co_names, *(part for parts in inner for part in parts)]


def _is_own(module: str | None) -> bool:
    """Return whether a module is the user's own: neither Python's, nor an installed package's, nor audit's."""
    top = (module or "").partition(".")[0]
    if top == "audit" or (top in sys.stdlib_module_names and top != "__main__"):
        return False
    file = getattr(sys.modules.get(module or ""), "__file__", None) or ""
    return not any(folder in file for folder in _INSTALLED)


def _hash(value: object) -> str:
    """Return a hash of all that an object holds, the same in every process. Raises whatever pickling it raises."""
    from joblib.hashing import NumpyHasher

    class Hasher(NumpyHasher):  # type: ignore[misc]
        def save(self, obj: Any) -> None:
            if isinstance(obj, dict) and "_stop_words_id" in obj:  # of scikit-learn's vectorizers: an address
                obj = {name: value for name, value in obj.items() if name != "_stop_words_id"}
            elif isinstance(obj, frozenset):
                obj = set(obj)  # of which joblib knows that the order is chance
            elif callable(getattr(obj, "detach", None)) and callable(getattr(obj, "numpy", None)):
                obj = obj.detach().cpu().numpy()  # a tensor pickles its address
            elif isinstance(obj, type | FunctionType):
                obj = obj.__module__, obj.__qualname__, *(_source(obj) if isinstance(obj, FunctionType) else ())
            super().save(obj)

    return str(Hasher().hash(value))
