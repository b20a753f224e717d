"""Small queries that several rooms need."""

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection, Engine, select
from sqlmodel import SQLModel

from audit.store import tables
from audit.store.bulk import insert_new, table_of


def id_of(connection: Connection, model: type[SQLModel], **key: object) -> int | None:
    """The id of the row with these values, which are a key; None where there is none."""
    number: int | None = connection.execute(select(table_of(model).c.id).filter_by(**key)).scalar()
    return number


def insert_one(connection: Connection, model: type[SQLModel], row: Mapping[str, Any], *key: str) -> tuple[int, bool]:
    """Insert a row unless there is one with its values of the columns `key`; its id, and whether it is new."""
    values = {name: row[name] for name in key}
    if (id := id_of(connection, model, **values)) is not None:
        return id, False
    new = insert_new(connection, model, [row])  # another process may have inserted it since we looked
    return id_of(connection, model, **values) or 0, bool(new)


def has_gold(engine: Engine) -> bool:
    study = table_of(tables.Study)
    with engine.connect() as connection:
        return connection.execute(select(study.c.id).where(study.c.has_gold).limit(1)).first() is not None
