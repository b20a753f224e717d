"""Questions that many rooms ask the tables: the row with a key, values by key, rows among many, names by id."""

from collections.abc import Iterable, Mapping
from typing import Any

from sqlalchemy import Column, Connection, select
from sqlmodel import SQLModel

from audit.store.bulk import insert_new, pieces, table_of


def id_of(connection: Connection, model: type[SQLModel], **key: object) -> int | None:
    """The id of the row with these values, which are a key; None where there is none."""
    number: int | None = connection.execute(select(table_of(model).c.id).filter_by(**key)).scalar()
    return number


def insert_one(connection: Connection, model: type[SQLModel], row: Mapping[str, Any], *key: str) -> tuple[int, bool]:
    """Insert a row unless there is one with its values of these columns; the id, and whether it is new."""
    values = {name: row[name] for name in key}
    if (id := id_of(connection, model, **values)) is not None:
        return id, False
    new = insert_new(connection, model, [row])  # another process may have inserted it since we looked
    return id_of(connection, model, **values) or 0, bool(new)


def values_by(
    connection: Connection, key: Column[Any], value: Column[Any], among: Iterable[Any] | None = None
) -> dict[Any, Any]:
    """One column of a table by another, which is a key: of all rows, or of those whose key is `among` these, however
    many they are."""
    query = select(key, value)
    queries = [query] if among is None else [query.where(key.in_(piece)) for piece in pieces(among)]
    return {row[0]: row[1] for part in queries for row in connection.execute(part)}


def names_of(connection: Connection, model: type[SQLModel]) -> dict[int, str]:
    """The names of relations, systems or people by id, in the order of the ids."""
    table = table_of(model)
    return dict(sorted(values_by(connection, table.c.id, table.c.name).items()))
