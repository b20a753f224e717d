"""Inputs in the store: each distinct one once, found by its content."""

from collections.abc import Iterable, Mapping, Sequence

from sqlalchemy import Connection, func, select

from audit.store import tables
from audit.store.bulk import insert_new, pieces, table_of
from audit.tasks import Input

_AT_ONCE = 900
"""Keys asked for at once: SQLite's smallest limit on parameters is 999."""


def known_inputs(connection: Connection, wanted: Mapping[bytes, Input]) -> tuple[dict[bytes, int], set[bytes]]:
    """Store inputs, given by key; their ids by key, and the keys of those that were there before.

    On SQLite the connection must be one that writes (`audit.store.writing`): new inputs get the next numbers.
    """
    found = _find(connection, list(wanted))
    before = set(found)
    missing = [key for key in wanted if key not in found]
    if not missing:
        return found, before
    ids = _new_ids(connection, len(missing))
    new = [wanted[key] for key in missing]
    rows = {
        "id": ids,
        "key": missing,
        "texts": [one.texts for one in new],
        "languages": [",".join(one.languages) for one in new],
    }
    if insert_new(connection, tables.Input, rows) == len(missing):
        return found | dict(zip(missing, ids, strict=True)), before
    # Another run stored some of them since we looked.
    return found | _find(connection, missing), set(wanted)


def input_ids(connection: Connection, inputs: Iterable[Input]) -> dict[bytes, int]:
    """Store each distinct input once; returns its id by its key."""
    return known_inputs(connection, {one.key: one for one in inputs})[0]


def _new_ids(connection: Connection, number: int) -> Sequence[int]:
    """Numbers that no input has: asking for each after the insert would take as long as the insert."""
    if connection.dialect.name == "sqlite":
        first = 1 + (connection.execute(select(func.max(table_of(tables.Input).c.id))).scalar() or 0)
        return range(first, first + number)
    sequence = func.pg_get_serial_sequence("input", "id")
    query = select(func.nextval(sequence)).select_from(func.generate_series(1, number))
    return [int(id) for id in connection.execute(query).scalars()]


def _find(connection: Connection, keys: Sequence[bytes]) -> dict[bytes, int]:
    """Ids of the keys that are there. Spelled for the drivers: SQLAlchemy takes longer to write IN than a database to
    answer."""
    found: dict[bytes, int] = {}
    sqlite = connection.dialect.name == "sqlite"
    for piece in pieces(keys, _AT_ONCE):
        marks = ",".join(("?" if sqlite else "%s",) * len(piece))
        rows = connection.exec_driver_sql(f"SELECT key, id FROM input WHERE key IN ({marks})", tuple(piece))  # noqa: S608
        found.update((bytes(key), int(id)) for key, id in rows)
    return found
