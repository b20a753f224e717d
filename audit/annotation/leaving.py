"""A person leaves: the name goes, the answers stay."""

from dataclasses import dataclass

from sqlalchemy import Connection, Engine, delete, func, select
from sqlmodel import SQLModel

from audit.annotation.accounts import ROLES, Account, require_manager
from audit.annotation.keeping import lock_accounts, need_another_manager
from audit.errors import AuditError
from audit.store import table_of, tables
from audit.store.personal import is_secret


@dataclass(frozen=True)
class Left:
    """What is left of a person."""

    name: str
    """In place of the name they had."""
    judgements: int
    adjudications: int


def delete_person(engine: Engine, name: str, *, by: int | None = None) -> Left:
    """Take name, password, languages, sessions and leases away from an account and disable it.

    History is append-only: judgements and adjudications stay as they are, comments included, under the name
    `deleted-N` with N the account's number, and count as before. Done by a manager (`by`, an account id), or by whoever
    has the database itself (None). Raises NotAllowed for another role; AuditError for a name that no person has,
    for the last manager, and where a manager would delete the account they use.
    """
    annotator = table_of(tables.Annotator)
    with engine.begin() as connection:
        lock_accounts(connection)
        require_manager(connection, by)
        row = connection.execute(select(annotator).where(annotator.c.name == name.strip())).mappings().first()
        if row is None or row["role"] not in ROLES:
            raise AuditError(f"there is no person {name!r}; `audit user list` shows who there is")
        if row["id"] == by:
            raise AuditError("you cannot delete the account that you use; let another manager do it")
        id = int(row["id"])
        need_another_manager(connection, Account(id, row["name"], row["role"]))
        connection.execute(
            annotator.update()
            .where(annotator.c.id == id)
            .values(name=_free_name(connection, id), password=None, languages="", disabled=True)
        )
        lease = table_of(tables.Lease)
        connection.execute(delete(lease).where(lease.c.annotator_id == id))
        for table in SQLModel.metadata.sorted_tables:
            if is_secret(table):
                for column in table.columns:
                    if any(foreign.target_fullname == "annotator.id" for foreign in column.foreign_keys):
                        connection.execute(delete(table).where(column == id))
        return Left(
            str(connection.execute(select(annotator.c.name).where(annotator.c.id == id)).scalar_one()),
            _number(connection, tables.Judgement, id),
            _number(connection, tables.Adjudication, id),
        )


def _free_name(connection: Connection, id: int) -> str:
    annotator = table_of(tables.Annotator)
    name = f"deleted-{id}"
    while connection.execute(select(annotator.c.id).where(annotator.c.name == name, annotator.c.id != id)).first():
        name += "-again"  # somebody chose that name for an account
    return name


def _number(connection: Connection, model: type[tables.Judgement] | type[tables.Adjudication], id: int) -> int:
    table = table_of(model)
    query = select(func.count()).select_from(table).where(table.c.annotator_id == id)
    return int(connection.execute(query).scalar_one())
