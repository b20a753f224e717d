"""Inputs in the store: each distinct one once, found by its content."""

from collections.abc import Iterable, Mapping
from typing import Any

from sqlalchemy import Connection, select

from audit.store import tables
from audit.store.bulk import insert_new, pieces, table_of
from audit.tasks import Input


def known_inputs(connection: Connection, wanted: Mapping[bytes, Input]) -> tuple[dict[bytes, int], set[bytes]]:
    """Store inputs, given by key; their ids by key, and the keys of those that were there before."""
    found = _find(connection, wanted)
    missing: list[dict[str, Any]] = [
        {"key": key, "texts": list(one.texts), "languages": ",".join(one.languages)}
        for key, one in wanted.items()
        if key not in found
    ]
    if not missing:
        return found, set(found)
    new = insert_new(connection, tables.Input, missing)
    added = _find(connection, [bytes(row["key"]) for row in missing])
    before = set(found) if new == len(missing) else set(wanted)  # else another run stored some of them since we looked
    return found | added, before


def input_ids(connection: Connection, inputs: Iterable[Input]) -> dict[bytes, int]:
    """Store each distinct input once; returns its id by its key."""
    return known_inputs(connection, {one.key: one for one in inputs})[0]


def _find(connection: Connection, keys: Iterable[bytes]) -> dict[bytes, int]:
    table = table_of(tables.Input)
    found: dict[bytes, int] = {}
    for piece in pieces(keys):
        rows = connection.execute(select(table.c.key, table.c.id).where(table.c.key.in_(piece)))
        found.update({bytes(row[0]): int(row[1]) for row in rows})
    return found
