"""Systems under test. A new system is one class or function and one line that registers it in
`audit.registry.systems`, here or in a plug-in."""

import sys
from collections.abc import Callable
from functools import partial
from importlib import import_module
from inspect import isclass
from pathlib import Path
from types import ModuleType
from typing import Any

from audit import registry
from audit.errors import AuditError
from audit.registry import Registry
from audit.systems.base import HasPairs, System
from audit.tasks import matches

SYSTEMS: Registry[Callable[..., System]] = registry.systems
"""Who makes the systems of these names; those with an argument are given it."""
_CALLER = "the caller of this process"
_OWN = ("", _CALLER)  # Where systems come from that are no code of the user's files or of a plug-in


def _cloud(name: str, path: str = "") -> System:
    system: System = import_module("audit.systems.clouds").Cloud(name, path)
    return system


for _name, _maker, _argument in (
    ("recorded", "recorded:Recorded", "PATH"),
    ("http", "http:Http", "FILE.toml"),
    ("logreg", "trained:Logreg", "FILE.csv"),
    ("centroid", "trained:Centroid", "FILE.csv"),
    ("keywords", "trained:Keywords", "FILE.toml"),
    ("chat", "chat:Chat", "FILE.toml"),
    ("command", "command:Command", "FILE.toml"),
    ("transformers", "models:transformers", "MODEL|FILE.toml"),
    ("rapidfuzz", "surface:RapidFuzz", ""),
    ("word-jaccard", "surface:WordJaccard", ""),
    ("lead-3", "surface:Lead", ""),
):
    SYSTEMS.register(_name, f"audit.systems.{_maker}", argument=_argument, listed=not _argument)
for _name in (
    *("comprehend", "azure-language", "azure-translator", "google-language", "google-translate", "corenlp"),
    *("baidu-sentiment", "baidu-similarity", "baidu-translate", "alibaba-sentiment", "tencent-sentiment"),
    *("youdao-translate", "comprehend-entities", "azure-entities", "google-entities"),
):
    SYSTEMS.register(_name, partial(_cloud, _name), argument="[FILE.toml]", listed=False)


def offer_system(name: str, make: Callable[[], System]) -> None:
    """Let `get_system` find a system of the caller's under a name, in this process; one that was offered before is
    replaced. Raises AuditError where a built-in system or that of a plug-in has the name."""
    before = SYSTEMS.find(name)
    if before is not None and before.origin != _CALLER:
        raise AuditError(f"system {name!r} has the name of a built-in one; give yours another, as in {{'mine': ...}}")
    SYSTEMS.register(name, make, replace=True, listed=False, origin=_CALLER)


def offered(name: str) -> Callable[[], System] | None:
    """Return what makes the caller's system of this name; None where the caller offered none."""
    entry = SYSTEMS.find(name.partition(":")[0])
    return SYSTEMS.get(name) if entry is not None and entry.origin == _CALLER else None


def systems_of(spec: str) -> list[str]:
    """Return the specs that are meant by one: `recorded:PATH` means every engine of the files, any other itself."""
    if spec.startswith("recorded:"):
        return list(import_module("audit.systems.recorded").specs_of(spec))
    return [spec]


def is_own(spec: str) -> bool:
    """Return whether a spec names code of the user's or of a plug-in, which may do anything when it is loaded."""
    name, colon, _ = without_version(spec).partition(":")
    entry = SYSTEMS.find(name)
    return bool(colon) if entry is None else entry.origin not in _OWN


def is_fixed(spec: str) -> bool:
    """Return whether the version of a system says all that its outputs depend on: one of audit's that takes no file and
    asks no other machine."""
    entry = SYSTEMS.find(without_version(spec))
    return entry is not None and entry.origin == "" and entry.listed


def get_system(spec: str, seconds: float | None = None, task: str | None = None) -> System:
    """Return the system of this name, with its argument behind a colon (`ways` lists them), or the user's own of the
    form `module:name`, which may take `seconds` to be loaded, and does `task` where it does not say what it does. With
    `@VERSION` behind it, it has that version.

    Raises UnknownName, AuditError where the user's module or name is not there, BadFile for what is wrong with a file.

    >>> get_system("vader").name, get_system("vader@2").version
    ('vader', '2')
    """
    bare = without_version(spec)
    system = _get_system(bare, seconds, task)
    if bare != spec:
        system.version = spec.removeprefix(f"{bare}@")
    return system


def without_version(spec: str) -> str:
    """Return the spec without the version that may stand behind it.

    >>> without_version("mine:classify@2026-11"), without_version("http:ann@home/acme.toml")
    ('mine:classify', 'http:ann@home/acme.toml')
    """
    bare, _, version = spec.rpartition("@")
    is_version = bare and version.isprintable() and 0 < len(version) <= 200 and not set(version) & set("/:# ")
    argument = spec.partition(":")[2]
    is_whole = SYSTEMS.find(spec) is not None or (argument and Path(argument).exists())
    return bare if is_version and not is_whole else spec


def _get_system(spec: str, seconds: float | None, task: str | None) -> System:
    name, colon, argument = spec.partition(":")
    entry, load = SYSTEMS.find(name), import_module("audit.systems.own").load
    told = {"tasks": (task,)} if task else {}
    if entry is None and colon:
        return load(spec, seconds, told=told)  # type: ignore[no-any-return]
    if entry is None or (colon and not entry.argument):
        raise SYSTEMS.unknown(spec)
    if entry.origin not in _OWN:

        def find() -> tuple[Any, ModuleType]:  # A class is created, a function called where there is an argument
            obj: Any = SYSTEMS.get(name)
            obj = obj(*[argument] * bool(colon)) if isclass(obj) or colon else obj
            return obj, sys.modules.get(entry.module) or ModuleType(entry.module)

        return load(spec, seconds, find)  # type: ignore[no-any-return]
    if entry.argument[:1] not in ("", "[") and not colon:
        raise AuditError(f"system {name!r} needs what it works with behind a colon: {name}:{entry.argument}")
    return SYSTEMS.get(name)(*[argument] * bool(colon))


def all_systems(task: str | None = None) -> list[System]:
    """Return every registered system, available or not, in the order of registration. One of a plug-in that cannot be
    loaded is left out; the log says so."""
    systems = []
    for entry in SYSTEMS.entries():
        if entry.listed and entry.argument[:1] in ("", "["):
            with SYSTEMS.tolerant(entry):
                systems.append(get_system(entry.name))
    return [system for system in systems if any(matches(own_task, task) for own_task in system.tasks)]


def listing(task: str | None = None) -> list[dict[str, object]]:
    """Return one row per registered system, for `audit systems`; neither trains nor loads a model."""
    return [
        {
            **{"system": system.name, "version": system.version},
            **{"tasks": list(system.tasks), "languages": list(system.languages)},
            **{"available": system.needs() is None, "needs": system.needs()},
        }
        for system in all_systems(task)
    ]


def ways() -> list[str]:
    """Return how systems of the user's own are named: `module:name`, and those that take an argument."""
    taking = {entry.name: entry.argument for entry in SYSTEMS.entries() if entry.argument[:1] not in ("", "[")}
    return ["module:name", *(f"{name}:{argument}" for name, argument in sorted(taking.items()))]


def pair_listing(task: str | None = None) -> list[dict[str, object]]:
    """Return a row for each pair of languages of the systems that list theirs."""
    having = [system for system in all_systems(task) if isinstance(system, HasPairs)]
    pairs = [(system.name, pair) for system in having for pair in system.pairs()]
    return [
        {"system": name, "from": pair.source, "to": pair.target, "through": [*pair.through], "steps": [*pair.steps]}
        for name, pair in pairs
    ]
