"""Which relations and tasks of a database came from plug-ins: noted when they are run, read when it is opened."""

from collections.abc import Iterable, Mapping
from typing import Any

from sqlalchemy import Connection, select

from audit import registry
from audit.messages import message
from audit.registry import Registry
from audit.store import tables
from audit.store.bulk import table_of, upsert

_PREFIX = "plug-in"  # Begins the names of these rows of the table `setting`
Brought = Mapping[str, str]
"""Where a thing that a study used came from: `plugin` (the distribution with its version, or the module), the `module`
to load, and the thing's `version`, empty where it has none."""
_KINDS: dict[str, Registry[Any]] = {"task": registry.tasks, "relation": registry.relations}
_expected: dict[tuple[str, str], Brought] = {}


def note_brought(connection: Connection, task: str, relations: Iterable[str]) -> None:
    """Note which of a task and its relations, by name, come from plug-ins."""
    rows = []
    for kind, names in zip(_KINDS.values(), ([task], [f"{task}/{name}" for name in relations]), strict=True):
        for name in names:
            entry = kind.find(name)
            if entry is not None and entry.origin:
                version = str(getattr(kind.get(name), "version", ""))
                value = {"plugin": entry.origin, "module": entry.module, "version": version}
                rows.append({"name": f"{_PREFIX}:{kind.kind}:{name}", "value": value})
    upsert(connection, tables.Setting, rows)


def expect_brought(connection: Connection) -> None:
    """Remember what this database has from plug-ins, so that what is absent can be told."""
    for kind, name, by in _brought(connection):
        _expected[kind, name] = by
        registry.EXPECTED[kind, name] = _said(f"plugin.{kind}_absent", kind, name, by)


def absent_plugins(connection: Connection) -> list[str]:
    """One sentence for each task and relation of this database whose plug-in is absent, or there in another version."""
    return [sentence for kind, name, _ in _brought(connection) if (sentence := absent(kind, name))]


def absent(kind: str, name: str) -> str | None:
    """Why a thing that a database was made with is not the one that is registered now, and how to bring it; None where
    it is, and where no database that this process opened has it."""
    if (by := _expected.get((kind, name))) is None:
        return None
    if _KINDS[kind].find(name) is None:
        return _said(f"plugin.{kind}_absent", kind, name, by)
    version, now = by["version"], str(getattr(_KINDS[kind].get(name), "version", ""))
    if kind != "relation" or now == version:
        return None
    return _said("plugin.other_version", kind, name, by, version=version, now=now)


def _said(code: str, kind: str, name: str, by: Brought, **values: str) -> str:
    brought = message("plugin.brought", kind=kind, name=name, plugin=by["plugin"])
    return message(code, brought=brought, way=message("plugin.load", module=by["module"]), **values)


def _brought(connection: Connection) -> list[tuple[str, str, Brought]]:
    setting = table_of(tables.Setting)
    query = select(setting.c.name, setting.c.value).where(setting.c.name.like(f"{_PREFIX}:%")).order_by(setting.c.name)
    return [(*row.split(":", 2)[1:], value) for row, value in connection.execute(query)]
