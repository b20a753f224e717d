"""What the scripts have in common: adding what is missing, and making a table of SQLite anew."""

from typing import Any

from alembic import op
from sqlalchemy import Column, inspect, select, table
from sqlalchemy.schema import SchemaItem


def on_sqlite() -> bool:
    """Whether the database at hand is SQLite."""
    return bool(op.get_bind().dialect.name == "sqlite")


def columns_of(name: str) -> list[str]:
    """The columns that a table has, in their order."""
    return [column["name"] for column in inspect(op.get_bind()).get_columns(name)]


def add_table(name: str, *parts: SchemaItem, **options: Any) -> None:
    """A table, where there is none of this name."""
    op.create_table(name, *parts, if_not_exists=True, **options)


def add_index(name: str, of: str, columns: list[Any]) -> None:
    """An index, where there is none of this name."""
    op.create_index(name, of, columns, if_not_exists=True)


def drop_index(name: str, of: str) -> None:
    """An index goes, where there is one of this name."""
    op.drop_index(name, of, if_exists=True)


def add_column(to: str, column: Column[Any]) -> bool:
    """A column, where there is none of this name; says whether it was missing.

    One that may not be null has a default for the rows that are there.
    """
    if column.name in columns_of(to):
        return False
    op.add_column(to, column, inline_references=True)
    return True


def rebuild_table(name: str, *parts: SchemaItem, read: dict[str, Any] | None = None, **options: Any) -> None:
    """SQLite: another table in place of one, with its rows in the order of the new primary key.

    `read` says from which SQL a column is filled where the old table has none of its name. Indexes go with the old one.
    """
    new = op.create_table(f"{name}_anew", *parts, **options)
    names = [column.name for column in new.columns]
    old = table(name, *(Column(column_name) for column_name in columns_of(name)))
    values = [(read or {})[column_name] if column_name in (read or {}) else old.c[column_name] for column_name in names]
    rows = select(*values).select_from(old).order_by(*(old.c[column.name] for column in new.primary_key.columns))
    op.execute(new.insert().from_select(names, rows))
    op.drop_table(name)
    op.rename_table(f"{name}_anew", name)
