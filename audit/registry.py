"""What has a name and may come from anybody: tasks, relations, systems and corpora, one `Registry` for each kind.

What comes with audit is registered where it is written; a plug-in registers in the same way
(`@registry.systems.register("mine")`), in a module that is found because its package names it in an entry point of the
group `audit.plugins`, because `load_plugin` was called with its name, or because the environment variable AUDIT_PLUGINS
has it. Plug-ins are loaded when a name is not found, or when all names are wanted: who uses none waits for none."""

import importlib
import logging
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from importlib.util import find_spec
from threading import RLock
from typing import Any, Generic, TypeVar

from audit.errors import AuditError, UnknownName, first_line
from audit.resources import attribute, import_from_here

T = TypeVar("T")

GROUP = "audit.plugins"
VARIABLE = "AUDIT_PLUGINS"
"""The environment variable with the modules of plug-ins, separated by commas. Child processes inherit it."""
PACKS = tuple(f"audit.packs.{name}" for name in ("english", "chinese", "translation", "preference", "entities"))
"""What comes with audit for languages, and for the services of others. Each registers its things when it is imported,
and its relations in its modules `relations` and `perturbations` where it has them."""
_log = logging.getLogger(__name__)
_lock = RLock()
_plugins: set[str] = set()  # Modules of plug-ins that were loaded; GROUP, once they were looked for
_problems: list[str] = []
_said: set[str] = set()
EXPECTED: dict[tuple[str, str], str] = {}
"""Of a kind and a name that a database which this process opened has from a plug-in: what to say where it is absent."""
_loaded_now: list[tuple[str, str]] = []  # Origin and module of the plug-ins that are being loaded, the innermost last


@dataclass(frozen=True)
class Entry(Generic[T]):
    """A thing with its name; it is "module:attribute" until it is wanted. `origin` is the plug-in that brought it, its
    distribution with the version or its module; empty: it comes with audit. `module` defines it. `argument` stands
    behind a colon after the name, in brackets where it may be left out. `listed`: it is one of `names`."""

    name: str
    thing: T | str
    origin: str = ""
    module: str = ""
    argument: str = ""
    listed: bool = True


class Registry(Generic[T]):
    """The things of one kind by their names, those of audit and those of plug-ins."""

    def __init__(self, kind: str, home: str = ""):
        """`kind` is its word in messages, and `home` the module that registers what comes with audit."""
        self.kind, self.home = kind, home
        self.check: Callable[[str, Any], None] = lambda name, thing: None
        """Raises AuditError where a thing cannot have this name or cannot be used; set by the room that is home."""
        self._entries: dict[str, Entry[T]] = {}

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
        """Give the thing, or what is decorated, this name; returns it. A thing may be "module:attribute". Raises
        AuditError for a name that is taken, unless the thing is to `replace` the other, for one that is empty or has a
        colon, and for a thing that cannot be used (`check`)."""
        if thing is None:
            return partial(self.register, name, argument=argument, replace=replace, listed=listed, origin=origin)
        if not isinstance(name, str) or not name.strip() or ":" in name:
            raise AuditError(f"{name!r} cannot be the name of a {self.kind}; it must be a text without a colon")
        origin, module = _loaded_now[-1] if _loaded_now else (origin, origin)
        if isinstance(thing, str):
            module = thing.partition(":")[0]
        else:
            self.check(name, thing)
        with _lock:
            if (before := self._entries.get(name)) and not replace:
                by = f"the plug-in {before.origin}" if before.origin else "audit itself"
                raise AuditError(f"{self.kind} {name!r} is registered twice, by {by} and again; choose another name")
            self._entries[name] = Entry(name, thing, origin, module, argument, listed)
        return thing

    @contextmanager
    def restored(self) -> Iterator[None]:
        """Forget at the end of this block what is registered in it; for tests."""
        self.entries()
        before = dict(self._entries)
        try:
            yield
        finally:
            self._entries = before

    def find(self, name: str) -> Entry[T] | None:
        """What is registered under this name, not loaded yet."""
        if name not in self._entries:
            self.entries()
        return self._entries.get(name)

    def get(self, name: str) -> T:
        """The thing of this name. Raises UnknownName, which lists the names and says which plug-ins are broken, and
        AuditError for a plug-in's thing that cannot be loaded."""
        if (entry := self.find(name)) is None:
            raise self.unknown(name)
        return self._thing(entry)

    def names(self) -> list[str]:
        """Every name: those of audit first, then those of plug-ins, each in the order of their registration."""
        return [entry.name for entry in sorted(self.entries(), key=lambda entry: bool(entry.origin)) if entry.listed]

    def entries(self) -> list[Entry[T]]:
        """Everything that is registered, that of plug-ins too."""
        self.come_home()
        if self.home:
            _discover()
        return list(self._entries.values())

    def values(self) -> list[T]:
        """The things of all `names`, loaded. One of a plug-in that cannot be loaded is left out; the log says so."""
        objects = []
        for name in self.names():
            with self.tolerant(self._entries[name]):
                objects.append(self._thing(self._entries[name]))
        return objects

    @contextmanager
    def tolerant(self, entry: Entry[T]) -> Iterator[None]:
        """In this block a plug-in's thing that cannot be loaded or made is left out, and the log says so."""
        try:
            with self.guarded(entry.name):
                yield
        except AuditError as problem:
            if not entry.origin:
                raise
            _report_broken(problem.sentence)

    def guarded(self, name: str) -> AbstractContextManager[None]:
        """Return a block in which whatever the thing of this name raises is an AuditError, if a plug-in brought it."""
        origin = self._entries[name].origin
        return _loading(f"{self.kind} {name!r} of the plug-in {origin}") if origin else nullcontext()

    def unknown(self, name: str, known: list[str] | None = None, notes: Sequence[str] = ()) -> UnknownName:
        """The error for a name that nobody registered; `notes` are sentences about it."""
        expected = [EXPECTED[self.kind, name]] if (self.kind, name) in EXPECTED else []
        return UnknownName(self.kind, name, self.names() if known is None else known, [*notes, *expected, *_problems])

    def come_home(self) -> None:
        """Let audit and its packs register their things first, so that no plug-in takes their names."""
        of_packs = [f"{pack}.{name}" for pack in PACKS for name in ("relations", "perturbations")]
        # Relations have to be loaded to be listed.
        loaded = [module for module in of_packs if find_spec(module)] if self is relations else []
        for module in filter(None, (self.home, *PACKS, *loaded)):
            importlib.import_module(module)

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self.find(name) is not None

    def __iter__(self) -> Iterator[str]:
        return iter(self.names())

    def _thing(self, entry: Entry[T]) -> T:
        if not isinstance(entry.thing, str):
            return entry.thing
        with self.guarded(entry.name):
            thing: T = attribute(entry.thing)
            if entry.origin:
                self.check(entry.name, thing)
        self._entries[entry.name] = replace(entry, thing=thing)
        return thing


def load_plugin(module: str) -> None:
    """Import a module that registers things, from the current directory or an installed package, and remember it: child
    processes and Dask's workers load it as well. A second call does nothing. Raises AuditError."""
    if module not in _plugins:
        _load(module, module)
    os.environ[VARIABLE] = ",".join(dict.fromkeys([*plugins(), module]))


def plugins() -> list[str]:
    """The modules of plug-ins that `load_plugin` or the environment variable AUDIT_PLUGINS names."""
    names = (name.strip() for name in os.environ.get(VARIABLE, "").split(","))
    return [name for name in dict.fromkeys(names) if name]


def _discover() -> None:
    """Load the plug-ins of the environment and of installed packages, once; of a broken one the log says so."""
    from importlib.metadata import entry_points

    with _lock:
        if GROUP in _plugins:
            return
        _plugins.add(GROUP)  # at once: what is loaded now may ask for names itself
        by_module = {module: module for module in plugins()}
        for point in entry_points(group=GROUP):
            by_module[point.value] = f"{point.dist.name} {point.dist.version}" if point.dist else point.value
        for module in by_module.keys() - _plugins:
            try:
                _load(module, by_module[module])
            except AuditError as problem:
                _report_broken(problem.sentence)


def _load(module: str, origin: str) -> None:
    for kind in (tasks, relations, systems, corpora):
        kind.come_home()
    _plugins.add(module)  # a module that asks for names while it is imported must not be imported by that
    _loaded_now.append((origin, module))
    try:
        with _loading(f"the plug-in {origin!r}"):
            import_from_here(module, "plug-in")
    except AuditError as problem:
        _plugins.discard(module)  # it is tried again
        missing = problem.__cause__
        if isinstance(missing, ModuleNotFoundError) and f"{module}.".startswith(f"{missing.name}."):
            advice = "install its package, or start where its file is; write it as it is imported: mine for mine.py"
            raise AuditError(f"no module {module!r} for a plug-in, neither installed nor here; {advice}") from None
        raise
    finally:
        _loaded_now.pop()


@contextmanager
def _loading(what: str) -> Iterator[None]:
    """Whatever a plug-in's code raises is one AuditError."""
    try:
        yield
    except AuditError as problem:
        raise AuditError(f"{what} could not be loaded: {problem}") from problem
    except (Exception, SystemExit) as problem:
        reason = f"{type(problem).__name__}: {first_line(problem)}"
        raise AuditError(f"{what} could not be loaded ({reason}); fix it or remove it") from problem


def _report_broken(problem: str) -> None:
    """Say once in a process what is wrong with a plug-in: without a handler of its own the log goes to stderr."""
    if problem not in _problems:
        _problems.append(problem)
        warn_once(problem)


def warn_once(sentence: str) -> None:
    """Say something in the log, once in a process."""
    if sentence not in _said:
        _said.add(sentence)
        _log.warning("%s", sentence)


# The kinds. What each thing is stands beside the room that registers audit's own.

tasks: Registry[Any] = Registry("task", "audit.tasks")  # `audit.tasks.base.Task` objects
relations: Registry[Any] = Registry("relation", "audit.relations")
"""`audit.relations.base.Relation` objects by TASK/NAME, as `audit.relations.registry.register` makes it."""
systems: Registry[Any] = Registry("system", "audit.systems")
"""Classes or functions without arguments that make a `System`; of a plug-in, whatever `--systems module:name` takes."""
corpora: Registry[Any] = Registry("corpus", "audit.corpora")
"""Classes or functions without arguments that make a `Corpus`; with an argument, of its path and language."""
