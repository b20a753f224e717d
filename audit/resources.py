"""Where things are: files of `data/` and of installed packages, the cache, what a name stands for, users' modules."""

import importlib
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache, reduce
from importlib.machinery import PathFinder
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

from audit.errors import AuditError, UnknownName


def data_file(name: str) -> Path:
    """Return the path of a file of `data/`, as in `data_file("lexicons/contractions.tsv")`. Raises AuditError."""
    package = Path(__file__).resolve().parent
    for root in (package / "data", package.parent / "data"):
        if (root / name).exists():
            return root / name
    raise AuditError(f"the file data/{name} is missing from this installation of audit; install it again")


@cache
def data_rows(name: str, columns: int = 1) -> tuple[tuple[str, ...], ...]:
    """Return the rows of a table in data/ of so many columns, by tabs, without its comments."""
    lines = data_file(name).read_text(encoding="utf-8").splitlines()
    rows = [tuple(line.split("\t")) for line in lines if line.strip() and not line.startswith("#")]
    if short := next((row for row in rows if len(row) < columns), None):
        raise ValueError(f"{name}: {short} has fewer columns than {columns}")
    return tuple(rows)


@contextmanager
def absent(package: str) -> Iterator[None]:
    """Let imports in this block find no such package, unless it was imported before: spaCy imports PyTorch where it is
    installed, which takes 180 MB and two seconds of every process, though its small models need none of it."""
    before = package in sys.modules
    if not before:
        sys.modules[package] = None  # type: ignore[assignment]
    try:
        yield
    finally:
        if not before:
            del sys.modules[package]


def package_file(package: str, *parts: str) -> Path | None:
    """Return the path of a file of an installed package, None where either is absent. Imports nothing."""
    spec = find_spec(package)
    files = [Path(place, *parts) for place in (spec.submodule_search_locations or [])] if spec else []
    return next(filter(Path.is_file, files), None)


def cache_folder() -> Path:
    """Return the folder of the environment variable AUDIT_CACHE, or the user's cache folder for `audit`."""
    if chosen := os.environ.get("AUDIT_CACHE"):
        return Path(chosen).expanduser()
    from platformdirs import user_cache_dir

    return Path(user_cache_dir("audit"))


def attribute(where: str) -> Any:
    """Return what "module:attribute" names."""
    module, _, path = where.partition(":")
    return reduce(getattr, filter(None, path.split(".")), importlib.import_module(module))


Makers = dict[str, tuple[str | Callable[..., Any], str]]
"""Name -> the maker, or its "module:attribute", and what stands behind the name and a colon; empty where nothing does,
in brackets where it may be left out."""


def made(kind: str, spec: str, makers: Mapping[str, tuple[str | Callable[..., Any], str]]) -> Any:
    """Return what the maker of a NAME or NAME:ARGUMENT makes. Raises UnknownName, which lists the names."""
    name, colon, argument = spec.partition(":")
    maker, wanted = makers.get(name, ("", ""))
    if not maker or (argument and not wanted) or (not argument and (colon or wanted[:1] not in ("", "["))):
        raise UnknownName(kind, spec, [f"{one}:{what}" if what else one for one, (_, what) in makers.items()])
    make = attribute(maker) if isinstance(maker, str) else maker
    return make(argument) if argument else make()


_folders: list[str] = []
"""Directories at the end of Python's path for the modules of users, the present one first: a file of the user's called
statistics.py or numpy.py must never stand in for the library's."""


def import_from_here(name: str, what: str) -> ModuleType:
    """Import a module of the current directory or of an installed package; raises whatever the import raises. Raises
    AuditError where the module is in both: one would be taken unseen. `what` names its use in that message."""
    here, top = os.getcwd(), name.partition(".")[0]
    importlib.invalidate_caches()
    others = [path for path in sys.path if path not in _folders and not _is_one(path or here, here)]
    mine, other = PathFinder.find_spec(top, [here]), PathFinder.find_spec(top, others)
    if mine is not None and mine.origin is not None:
        twice = other is not None and other.origin is not None and not _is_one(other.origin, mine.origin)
        if twice or top in sys.stdlib_module_names:
            raise AuditError(f"the {what}, {mine.origin}, has the same name as another module; rename the file")
    if here not in sys.path or here in _folders:
        before = [folder for folder in _folders if folder != here]
        sys.path[:] = [path for path in sys.path if path not in _folders] + [here, *before]
        _folders[:] = [here, *before]
    return importlib.import_module(name)


def _is_one(path: str, other: str) -> bool:
    return os.path.realpath(path) == os.path.realpath(other)
