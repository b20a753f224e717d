"""What has a name and may come from anybody: relations, systems, corpora, tasks, languages, taggers, parsers,
proposers, measures and slices.

There is one `Registry` for each kind. What comes with audit is registered where it is written; a plug-in registers in
the same way, with a decorator or a call, in a module of its own:

    from audit import registry

    @registry.systems.register("mine")
    def classify(text):
        return "positive" if "good" in text else "negative"

The module is found because its package has an entry point of the kind's group (`audit.systems`, `audit.relations` ...),
because `load_plugin` was called with its name, or because the environment variable AUDIT_PLUGINS has it. Plug-ins are
looked at when a name is not found, or when all names are wanted: whoever uses none waits for none.
"""

import importlib
import inspect
import logging
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from importlib.machinery import PathFinder
from importlib.util import find_spec
from threading import RLock
from types import ModuleType
from typing import Any, Generic, TypeVar, cast, overload

from audit.errors import AuditError, UnknownName, first_line
from audit.messages import Message, message, noun

T = TypeVar("T")
F = TypeVar("F")

VARIABLE = "AUDIT_PLUGINS"
"""The environment variable with the modules of plug-ins, separated by commas. Child processes inherit it."""
PACKS = ("audit.packs.english", "audit.packs.chinese", "audit.packs.translation", "audit.packs.cloud")
"""What comes with audit for languages, and for the services of others. Each registers its things when it is imported,
as a plug-in does, and its relations in its modules `relations` and `perturbations` where it has them."""
_PACKAGE = __name__.partition(".")[0]
_log = logging.getLogger(__name__)
_lock = RLock()
_plugins: dict[str, str | None] = {}
"""Modules of plug-ins that were asked for, in that order, each with the reason why it could not be loaded."""
_problems: list[str] = []
_origins: list[str] = []
"""The plug-ins that are being loaded, the innermost last."""


@dataclass(frozen=True)
class Entry(Generic[T]):
    """A thing with its name."""

    name: str
    load: Callable[[], T]
    module: str
    """That defines it; of one that is loaded when it is wanted, the module to be loaded."""
    origin: str = ""
    """The plug-in that brought it: its distribution with the version, or its module. Empty: it comes with audit."""
    argument: str = ""
    """What stands behind a colon after the name, in capitals; in brackets where it may be left out."""
    listed: bool = True
    """Whether it is one of `names`."""
    lazy: bool = False


class Registry(Generic[T]):
    """The things of one kind by their names, those of audit and those of plug-ins.

    A thing may be registered as "module:attribute", a string: it is imported when it is wanted.

    >>> shapes = Registry[type]("shape", "audit.shapes")
    >>> shapes.register("line", int)
    <class 'int'>
    >>> shapes.register("ordered", "collections:OrderedDict")
    'collections:OrderedDict'
    >>> shapes.names(), shapes.get("ordered").__name__
    (['line', 'ordered'], 'OrderedDict')
    >>> shapes.get("lime")
    Traceback (most recent call last):
    audit.errors.UnknownName: unknown shape 'lime'; known are: line, ordered; did you mean 'line'?
    """

    def __init__(self, kind: str, group: str, home: str = "", key: Callable[[Any], str] | None = None):
        """`kind` is its word in messages, `group` that of entry points, and `home` the module that registers what
        comes with audit. `key` tells the name of a thing that has its own: such things are loaded to be listed.
        """
        self.kind = kind
        self.group = group
        self._home = home
        self._key = key
        self.check: Callable[[str, Any], None] = lambda name, thing: None
        """Raises AuditError where a thing cannot have this name or cannot be used; set by the room that is home."""
        self._entries: dict[str, Entry[T]] = {}
        self._loaded: dict[str, tuple[Entry[T], T]] = {}
        self._complete = False

    @overload
    def register(
        self, name: str, thing: F, *, argument: str = "", replace: bool = False, listed: bool = True, origin: str = ""
    ) -> F: ...

    @overload
    def register(
        self, name: str, *, argument: str = "", replace: bool = False, listed: bool = True, origin: str = ""
    ) -> Callable[[F], F]: ...

    def register(
        self,
        name: str,
        thing: Any = None,
        *,
        argument: str = "",
        replace: bool = False,
        listed: bool = True,
        origin: str = "",
    ) -> Any:
        """Give the thing, or what is decorated, this name; returns it.

        `argument` says that an argument stands behind the name and a colon, "FILE" for instance; "[FILE]" that it may.
        `origin` is who brings the thing, by default the plug-in or module that calls.

        Raises AuditError for a name that is taken, unless the thing is to `replace` the other, for one that is empty
        or has a colon, and for a thing that cannot be used (`check`).
        """
        if thing is None:
            return partial(self.register, name, argument=argument, replace=replace, listed=listed, origin=origin)
        if not isinstance(name, str) or not name.strip() or ":" in name:
            raise AuditError(message("plugin.bad_name", name=name, kind=noun(self.kind)))
        lazy, module = isinstance(thing, str), next(_executing(), "__main__")
        own = _same_package(module, _PACKAGE)
        if not own:
            self._come_home()
        if not lazy:
            self.check(name, thing)
        origin = origin or ("" if own else _origins[-1] if _origins else module)
        load = partial(_resolved, thing) if isinstance(thing, str) else partial(_itself, thing)
        with _lock:
            before = self._entries.get(name)
            if before is not None and not replace and not (before.lazy and _same_package(before.module, module)):
                by = _brings(before)
                raise AuditError(message("plugin.twice", kind=noun(self.kind), name=name, by=by))
            self._entries[name] = Entry(name, load, module, origin, argument, listed, lazy)
            self._loaded.pop(name, None)
        return thing

    def taken(self, name: str) -> bool:
        """Whether something is registered under this name already; plug-ins are not looked at."""
        return name in self._entries

    def unregister(self, name: str) -> None:
        """Take a name away, if it is there."""
        with _lock:
            self._entries.pop(name, None)
            self._loaded.pop(name, None)

    @contextmanager
    def restored(self) -> Iterator[None]:
        """What is registered in this block, or taken away, is as before at its end; for tests.

        >>> colours = Registry[type]("colour", "audit.colours")
        >>> with colours.restored():
        ...     _ = colours.register("red", int)
        >>> "red" in colours
        False
        """
        self.entries()
        before, loaded = dict(self._entries), dict(self._loaded)
        try:
            yield
        finally:
            with _lock:
                self._entries, self._loaded = before, loaded

    def find(self, name: str) -> Entry[T] | None:
        """What is registered under this name, not loaded yet; None where nothing is, in any plug-in."""
        if (found := self._entries.get(name)) is None:
            self._come_home()
            self._discover()
            found = self._entries.get(name)
        return found

    def get(self, name: str) -> T:
        """The thing of this name. Raises UnknownName, which lists the names and says which plug-ins are broken, and
        AuditError for a plug-in's thing that cannot be loaded."""
        found = self.find(name)
        if found is None:
            raise self.unknown(name)
        return self._thing(found)

    def split(self, spec: str, empty: bool = False) -> tuple[Entry[T], str]:
        """What NAME or NAME:ARGUMENT stands for, and the argument, empty where there is none.

        Raises UnknownName for another name, for one that lacks its argument, and for an argument where the name takes
        none; where it may be `empty`, one that has the colon alone will do.
        """
        name, colon, argument = spec.partition(":")
        found = self.find(name)
        if found is None or (colon and not found.argument) or (colon and not argument and not empty):
            raise self.unknown(spec, self.usages())
        if not colon and found.argument and not found.argument.startswith("["):
            raise self.unknown(spec, self.usages())
        return found, argument

    def make(self, spec: str) -> Any:
        """What the maker of this NAME or NAME:ARGUMENT returns, called with the argument where there is one. Raises as
        `split` and `get` do, and what the maker raises."""
        found, argument = self.split(spec)
        maker: Any = self._thing(found)
        return maker(argument) if argument else maker()

    def call(self, name: str, *arguments: Any) -> Any:
        """What the maker of this name returns, called with these arguments; whatever a plug-in's maker raises is an
        AuditError. Raises as `get` does."""
        found, maker = self.find(name), cast(Callable[..., Any], self.get(name))
        if found is None or not found.origin:
            return maker(*arguments)
        with _loading(f"{self.kind} {name!r} of the plug-in {found.origin}", found.origin):
            return maker(*arguments)

    def names(self) -> list[str]:
        """Every name: those of audit first, then those of plug-ins, each in the order of their registration."""
        entries = [entry for entry in self.entries() if entry.listed]
        return [entry.name for entry in sorted(entries, key=lambda entry: bool(entry.origin))]

    def usages(self) -> list[str]:
        """Every name with what stands behind its colon.

        >>> readers = Registry[type]("reader", "audit.readers")
        >>> _ = readers.register("file", int, argument="FILE"), readers.register("web", int, argument="[URL]")
        >>> readers.usages()
        ['file:FILE', 'web', 'web:URL']
        """
        found = []
        for name in self.names():
            argument = self._entries[name].argument
            if not argument or argument.startswith("["):
                found.append(name)
            if argument:
                found.append(f"{name}:{argument.strip('[]')}")
        return found

    def entries(self) -> list[Entry[T]]:
        """Everything that is registered, that of plug-ins too."""
        self._come_home()
        self._discover()
        return list(self._entries.values())

    def values(self) -> list[T]:
        """The things of all `names`, loaded. One of a plug-in that cannot be loaded is left out; the log says so."""
        found = []
        for name in self.names():
            with self.tolerant(self._entries[name]):
                found.append(self._thing(self._entries[name]))
        return found

    @contextmanager
    def tolerant(self, entry: Entry[T]) -> Iterator[None]:
        """In this block a plug-in's thing that cannot be loaded or made is left out, and the log says so."""
        try:
            yield
        except AuditError as problem:
            if not entry.origin:
                raise
            report_broken(problem.sentence)
        except Exception as problem:  # a plug-in may raise anything
            if not entry.origin:
                raise
            reason = f"{type(problem).__name__}: {first_line(problem)}"
            report_broken(message("plugin.cannot_be_made", thing=self._described(entry), reason=reason))

    def unknown(self, name: str, known: list[str] | None = None, notes: Sequence[str] = ()) -> UnknownName:
        """The error for a name that nobody registered; `notes` are sentences about it."""
        wanted = absent(self.kind, name)
        notes = [*notes, *([wanted] if wanted else []), *broken_plugins()]
        return UnknownName(self.kind, name, self.names() if known is None else known, notes)

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self.find(name) is not None

    def __iter__(self) -> Iterator[str]:
        return iter(self.names())

    def __len__(self) -> int:
        return len(self.names())

    def __getitem__(self, name: str) -> T:
        return self.get(name)

    def _thing(self, entry: Entry[T]) -> T:
        known = self._loaded.get(entry.name)
        if known is not None and known[0] is entry:
            return known[1]
        if not entry.origin:
            thing = entry.load()
        else:
            with _loading(self._described(entry), entry.origin):
                thing = entry.load()
                self.check(entry.name, thing)
        self._loaded[entry.name] = entry, thing
        return thing

    def _described(self, entry: Entry[T]) -> Message:
        return message("plugin.thing", kind=noun(self.kind), name=entry.name, plugin=entry.origin)

    def _come_home(self) -> None:
        """Let audit and its packs register their things first, so that no plug-in takes their names."""
        for module in (*([self._home] if self._home else []), *PACKS):
            importlib.import_module(module)
        if self.group == "audit.relations":  # these have to be loaded to be listed
            for module in (f"{pack}.{name}" for pack in PACKS for name in ("relations", "perturbations")):
                if find_spec(module):
                    importlib.import_module(module)

    def _discover(self) -> None:
        # A plug-in must not see a half of audit: names that are asked for while audit is imported are its own alone.
        if self._complete or any(_same_package(module, _PACKAGE) for module in _executing()):
            return
        with _lock:
            if self._complete:
                return
            self._complete = True  # at once: what is loaded now may ask for names itself
            for module in plugins():
                _load(module)
            for point in _entry_points(self.group):
                self._enter(point)

    def _enter(self, point: Any) -> None:
        """Register what an entry point names; a module registers its things itself when it is imported."""
        origin = f"{point.dist.name} {point.dist.version}" if point.dist else point.module
        try:
            if not point.attr:
                with _loading(message("plugin.called", name=origin), origin):
                    importlib.import_module(point.module)
                return
            name = point.name
            if self._key is not None:
                with _loading(message("plugin.called", name=origin), origin):
                    name = self._key(point.load())
            before = self._entries.get(name)
            if before is not None and _same_package(before.module, point.module) and before.origin:
                return
            if before is not None:
                by = _brings(before)
                raise AuditError(message("plugin.name_in_use", plugin=origin, kind=noun(self.kind), name=name, by=by))
            self._entries[name] = Entry(name, point.load, point.module, origin, lazy=True)
        except AuditError as problem:
            report_broken(problem.sentence)


def load_plugin(module: str) -> None:
    """Import a module that registers things, from the current directory or an installed package, and remember it: child
    processes and Dask's workers load it as well. A second call does nothing.

    Raises AuditError where there is no such module, or where it cannot be imported.
    """
    names = [name for name in plugins() if name != module]
    _plugins.pop(module, None) if _plugins.get(module) else None  # a module that failed is tried again
    _load(module, report=False)
    if problem := _plugins[module]:
        _plugins.pop(module)
        raise AuditError(problem)
    os.environ[VARIABLE] = ",".join([*names, module])


def plugins() -> list[str]:
    """The modules of plug-ins that `load_plugin` or the environment variable AUDIT_PLUGINS names."""
    names = (name.strip() for name in os.environ.get(VARIABLE, "").split(","))
    return [name for name in dict.fromkeys(names) if name]


def broken_plugins() -> list[str]:
    """One sentence for each plug-in that was looked at and is broken."""
    return list(_problems)


# What databases were made with: a thing of a plug-in that is not there would change numbers without a word.


@dataclass(frozen=True)
class Brought:
    """Where a thing that a study used came from."""

    plugin: str
    """The distribution with its version, or the module."""
    module: str
    version: str = ""
    """Of the thing; empty where it has none."""


_expected: dict[tuple[str, str], Brought] = {}


def brought(kind: Registry[Any], name: str) -> Brought | None:
    """Which plug-in brings this thing; None for one of audit's own, and where nobody brings it."""
    found = kind.find(name)
    if found is None or not found.origin:
        return None
    module = found.origin if found.origin in _plugins else found.module
    return Brought(found.origin, module, str(getattr(kind.get(name), "version", "")))


def expect(kind: str, name: str, by: Brought) -> None:
    """Remember that a database has a thing of a plug-in, so that `absent` can say where it comes from."""
    _expected[kind, name] = by


def absent(kind: str, name: str) -> str | None:
    """Why a thing that a database was made with is not the one that is registered now, and how to bring it; None where
    it is, and where no database that this process opened has it."""
    by = _expected.get((kind, name))
    if by is None:
        return None
    what = message("plugin.brought", kind=noun(kind), name=name, plugin=by.plugin)
    way = message("plugin.load", module=by.module)
    entry = {"task": tasks, "relation": relations}[kind].find(name)
    if entry is None:
        code = "plugin.relation_absent" if kind == "relation" else "plugin.task_absent"
        return message(code, brought=what, way=way)
    now = str(getattr(relations.get(name), "version", "")) if kind == "relation" else by.version
    if now != by.version:
        return message("plugin.other_version", brought=what, version=by.version, now=now, way=way)
    return None


def import_from_here(name: str, what: str) -> ModuleType:
    """Import a module of the current directory or of an installed package; raises whatever the import raises.

    Raises AuditError where the module is in the current directory and installed, too: one would be taken unseen. `what`
    names its use in that message: "module of the system 'mine:f'".
    """
    here = os.getcwd()
    importlib.invalidate_caches()
    _refuse_two(name, what, here)
    _stand_last(here)
    return importlib.import_module(name)


def _load(module: str, report: bool = True) -> None:
    with _lock:
        if module in _plugins:
            return
        _plugins[module] = None  # a module that asks for names while it is imported must not be imported by that
        try:
            if module.endswith(".py") or not all(part.isidentifier() for part in module.split(".")):
                raise AuditError(message("plugin.no_module_name", module=module))
            with _loading(message("plugin.called", name=repr(module)), module):
                import_from_here(module, message("plugin.plugin"))
        except AuditError as problem:
            missing = problem.__cause__
            if isinstance(missing, ModuleNotFoundError) and f"{module}.".startswith(f"{missing.name}."):
                problem = AuditError(message("plugin.absent", module=module, folder=os.getcwd()))
            _plugins[module] = problem.sentence
            if report:
                report_broken(problem.sentence)


@contextmanager
def _loading(what: str, origin: str) -> Iterator[None]:
    """Whatever a plug-in's code raises is one AuditError; what it registers has this origin."""
    _origins.append(origin)
    try:
        yield
    except AuditError as problem:
        raise AuditError(message("plugin.refused", plugin=what, reason=problem)) from problem
    except (Exception, SystemExit) as problem:
        reason = f"{type(problem).__name__}: {first_line(problem)}"
        raise AuditError(message("plugin.broken", plugin=what, reason=reason)) from problem
    finally:
        _origins.pop()


def report_broken(problem: str) -> None:
    """Say once in a process what is wrong with a plug-in: without a handler of its own the log goes to stderr."""
    if problem not in _problems:
        _problems.append(problem)
        warn_once(problem)


_said: set[str] = set()


def warn_once(sentence: str) -> None:
    """Say something in the log, once in a process."""
    if sentence not in _said:
        _said.add(sentence)
        _log.warning("%s", sentence)


def _entry_points(group: str) -> list[Any]:
    """The entry points of this group."""
    from importlib.metadata import entry_points

    return list(dict.fromkeys(entry_points(group=group)))


def _resolved(where: str) -> Any:
    module, _, attribute = where.partition(":")
    found: Any = importlib.import_module(module)
    for part in filter(None, attribute.split(".")):
        found = getattr(found, part)
    return found


def _itself(thing: T) -> T:
    return thing


def _executing() -> Iterator[str]:
    """The modules whose lines are being executed in this thread, the innermost first; a program is `__main__`."""
    frame = inspect.currentframe()
    while frame is not None:
        if frame.f_code.co_name == "<module>":
            yield str(frame.f_globals.get("__name__", "__main__"))
        frame = frame.f_back


def _same_package(one: str, other: str) -> bool:
    return one.partition(".")[0] == other.partition(".")[0]


# Modules of the current directory, for users' systems and plug-ins.

_folders: list[str] = []
"""Directories that stand at the end of Python's path for the modules of users, the present one first."""


def _stand_last(here: str) -> None:
    """Let modules of the current directory be found after all others: a file of the user's called statistics.py or
    numpy.py must never stand in for the library's. Directories that were current before stay, behind it."""
    if here in sys.path and here not in _folders:
        return
    before = [folder for folder in _folders if folder != here]
    sys.path[:] = [path for path in sys.path if path not in _folders] + [here, *before]
    _folders[:] = [here, *before]


def _brings(entry: Entry[Any]) -> Message:
    """Who brings a thing, within a sentence."""
    return message("plugin.called", name=entry.origin) if entry.origin else message("plugin.audit_itself")


def _refuse_two(name: str, what: str, here: str) -> None:
    """Raise AuditError where the module is in the current directory and installed, too."""
    top = name.partition(".")[0]
    mine = PathFinder.find_spec(top, [here])
    if mine is None or mine.origin is None:
        return
    others = [path for path in sys.path if path not in _folders and not _same_file(path or here, here)]
    other = PathFinder.find_spec(top, others)
    twice = other is not None and other.origin is not None and not _same_file(other.origin, mine.origin)
    if top in sys.stdlib_module_names or twice:
        there = (
            message("plugin.pythons_own")
            if other is None or not twice
            else message("plugin.that_of", file=other.origin)
        )
        raise AuditError(message("plugin.same_file", what=what, file=mine.origin, other=there))


def _same_file(one: str, other: str) -> bool:
    return os.path.realpath(one) == os.path.realpath(other)


# The kinds. What each thing is stands beside the room that registers audit's own.

tasks: Registry[Any] = Registry("task", "audit.tasks", "audit.tasks", key=lambda task: task.name)
"""`audit.tasks.base.Task` objects."""
relations: Registry[Any] = Registry(
    "relation", "audit.relations", "audit.relations", key=lambda relation: f"{relation.task}/{relation.name}"
)
"""`audit.relations.base.Relation` objects by TASK/NAME, as `audit.relations.registry.register` makes it."""
systems: Registry[Any] = Registry("system", "audit.systems", "audit.systems")
"""Classes or functions without arguments that make a `System`; of a plug-in, whatever `--systems module:name` takes."""
corpora: Registry[Any] = Registry("corpus", "audit.corpora", "audit.corpora")
"""Classes or functions without arguments that make a `Corpus`; with an argument, of its path and language."""
languages: Registry[Any] = Registry("language", "audit.languages")
"""`audit.text.tools.LanguageTools` by the code of the language."""
taggers: Registry[Any] = Registry("tagger", "audit.taggers")
"""Makers of taggers, called with what stands behind the colon."""
parsers: Registry[Any] = Registry("parser", "audit.parsers")
"""Makers of constituency parsers, called with what stands behind the colon."""
proposers: Registry[Any] = Registry("proposer", "audit.proposers")
"""Makers of proposers of masked words, called with what stands behind the colon."""
measures: Registry[Any] = Registry("measure", "audit.measures", "audit.relations.validity")
"""`audit.relations.validity.Measure` objects: how far a follow-up is from its source."""

slices: Registry[Any] = Registry("slice", "audit.slices", "audit.corpora.slices")
"""Functions from a row to the slice it is in, as `audit.corpora.slices` takes them."""


def _callable(kind: str) -> Callable[[str, Any], None]:
    def check(name: str, thing: Any) -> None:
        if not callable(thing):
            raise AuditError(message("plugin.no_function", kind=noun(kind), name=name, what=type(thing).__name__))

    return check


for _functions in (taggers, parsers, proposers, slices):
    _functions.check = _callable(_functions.kind)
