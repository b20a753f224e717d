"""Which relations and tasks of a database came from plug-ins: noted when they are run, read when it is opened."""

from collections.abc import Iterable

from sqlalchemy import Connection, select

from audit import registry
from audit.registry import Brought
from audit.store import tables
from audit.store.bulk import table_of, upsert

_PREFIX = "plug-in"
"""Begins the names of these rows of the table `setting`, which has everything that is so for a whole database."""


def note_brought(connection: Connection, task: str, relations: Iterable[str]) -> None:
    """Note which of a task and its relations, by name, come from plug-ins."""
    rows = []
    for kind, names in ((registry.tasks, [task]), (registry.relations, [f"{task}/{name}" for name in relations])):
        for name in names:
            if by := registry.brought(kind, name):
                value = {"plugin": by.plugin, "module": by.module, "version": by.version}
                rows.append({"name": f"{_PREFIX}:{kind.kind}:{name}", "value": value})
    if rows:
        upsert(connection, tables.Setting, rows)


def expect_brought(connection: Connection) -> None:
    """Let the registry know what this database has from plug-ins."""
    for kind, name, by in _brought(connection):
        registry.expect(kind, name, by)


def absent_plugins(connection: Connection) -> list[str]:
    """One sentence for each task and relation of this database whose plug-in is absent, or there in another version."""
    found = (registry.absent(kind, name) for kind, name, _ in _brought(connection))
    return [sentence for sentence in found if sentence]


def _brought(connection: Connection) -> list[tuple[str, str, Brought]]:
    setting = table_of(tables.Setting)
    query = select(setting.c.name, setting.c.value).where(setting.c.name.like(f"{_PREFIX}:%")).order_by(setting.c.name)
    found = []
    for row, value in connection.execute(query):
        _, kind, name = row.split(":", 2)
        found.append((kind, name, Brought(value["plugin"], value["module"], value["version"])))
    return found


__all__ = ["absent_plugins", "expect_brought", "note_brought"]
