"""Which relations and tasks of a database came from plug-ins: noted when they are run, read when it is opened."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, select

from audit import registry
from audit.messages import message, noun
from audit.registry import Registry
from audit.store import tables
from audit.store.bulk import table_of, upsert

_PREFIX = "plug-in"
"""Begins the names of these rows of the table `setting`, which has everything that is so for a whole database."""


@dataclass(frozen=True)
class Brought:
    """Where a thing that a study used came from: a plug-in (the distribution with its version, or the module), the
    module to load, and the thing's version, empty where it has none."""

    plugin: str
    module: str
    version: str = ""


_KINDS: dict[str, Registry[Any]] = {"task": registry.tasks, "relation": registry.relations}
_expected: dict[tuple[str, str], Brought] = {}


def note_brought(connection: Connection, task: str, relations: Iterable[str]) -> None:
    """Note which of a task and its relations, by name, come from plug-ins."""
    rows = []
    of_relations = [f"{task}/{name}" for name in relations]
    for kind, names in zip(_KINDS.values(), ([task], of_relations), strict=True):
        for name in names:
            found = kind.find(name)
            if found is not None and found.origin:
                version = str(getattr(kind.get(name), "version", ""))
                value = {"plugin": found.origin, "module": found.module, "version": version}
                rows.append({"name": f"{_PREFIX}:{kind.kind}:{name}", "value": value})
    if rows:
        upsert(connection, tables.Setting, rows)


def expect_brought(connection: Connection) -> None:
    """Remember what this database has from plug-ins, so that what is absent can be told."""
    for kind, name, by in _brought(connection):
        _expected[kind, name] = by
        registry.EXPECTED[kind, name] = _absent(kind, name, by)


def absent_plugins(connection: Connection) -> list[str]:
    """One sentence for each task and relation of this database whose plug-in is absent, or there in another version."""
    found = (absent(kind, name) for kind, name, _ in _brought(connection))
    return [sentence for sentence in found if sentence]


def absent(kind: str, name: str) -> str | None:
    """Why a thing that a database was made with is not the one that is registered now, and how to bring it; None where
    it is, and where no database that this process opened has it."""
    by = _expected.get((kind, name))
    if by is None:
        return None
    if _KINDS[kind].find(name) is None:
        return _absent(kind, name, by)
    now = str(getattr(_KINDS[kind].get(name), "version", "")) if kind == "relation" else by.version
    if now == by.version:
        return None
    return message("plugin.other_version", brought=_from(kind, name, by), version=by.version, now=now, way=_way(by))


def _absent(kind: str, name: str, by: Brought) -> str:
    code = "plugin.relation_absent" if kind == "relation" else "plugin.task_absent"
    return message(code, brought=_from(kind, name, by), way=_way(by))


def _from(kind: str, name: str, by: Brought) -> str:
    return message("plugin.brought", kind=noun(kind), name=name, plugin=by.plugin)


def _way(by: Brought) -> str:
    return message("plugin.load", module=by.module)


def _brought(connection: Connection) -> list[tuple[str, str, Brought]]:
    setting = table_of(tables.Setting)
    query = select(setting.c.name, setting.c.value).where(setting.c.name.like(f"{_PREFIX}:%")).order_by(setting.c.name)
    found = []
    for row, value in connection.execute(query):
        _, kind, name = row.split(":", 2)
        found.append((kind, name, Brought(value["plugin"], value["module"], value["version"])))
    return found


__all__ = ["absent", "absent_plugins", "expect_brought", "note_brought"]
