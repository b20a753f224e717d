"""Keeping accounts: who there is, other passwords, disabling. By managers, or by whoever has the database itself;
one's own password by oneself.

People are never deleted here, since their judgements are history; a disabled account is out at once, in every browser.
"""

from dataclasses import dataclass
from datetime import UTC, datetime

from sqlalchemy import Connection, Engine, delete, func, select

from audit.annotation.accounts import ROLES, Account, is_person, require, require_manager
from audit.annotation.logins import end_logins
from audit.annotation.passwords import hashed, matches
from audit.errors import AuditError, NotAllowed, Refused
from audit.store import table_of, tables


@dataclass(frozen=True)
class Kept:
    """An account as its keepers see it."""

    id: int
    name: str
    role: str
    languages: tuple[str, ...]
    """Codes of the languages it reads; none: all."""
    disabled: bool
    has_password: bool
    """Without one it logs in through an identity provider only."""
    seen_at: datetime | None
    """The last use of the app, in UTC to the minute; None: never."""


def kept_accounts(engine: Engine, *, by: int | None = None) -> list[Kept]:
    """Every account of a person, the disabled ones too, by name. Raises NotAllowed where `by` is no manager."""
    annotator, login = table_of(tables.Annotator), table_of(tables.Login)
    query = (
        select(annotator, func.max(login.c.seen_at).label("seen_at"))
        .outerjoin(login, login.c.annotator_id == annotator.c.id)
        .where(is_person(annotator))
        .group_by(annotator.c.id)
        .order_by(annotator.c.name)
    )
    with engine.connect() as connection:
        require_manager(connection, by)
        return [
            Kept(
                int(row["id"]),
                row["name"],
                row["role"],
                tuple(row["languages"].split(",")) if row["languages"] else (),
                bool(row["disabled"]),
                row["password"] is not None,
                _utc(row["seen_at"]),
            )
            for row in connection.execute(query).mappings()
        ]


def set_password(engine: Engine, name: str, password: str, *, by: int | None = None) -> Account:
    """Give an account another password, which logs it out everywhere. Raises AuditError or NotAllowed."""
    new = hashed(password)
    table = table_of(tables.Annotator)
    with engine.begin() as connection:
        lock_accounts(connection)
        require_manager(connection, by)
        account = _named(connection, name)
        connection.execute(table.update().where(table.c.id == account.id).values(password=new))
        end_logins(connection, account.id)
    return account


def own_account(engine: Engine, account_id: int) -> Kept:
    """One's own account. Raises NotAllowed where it is disabled or none."""
    annotator = table_of(tables.Annotator)
    with engine.connect() as connection:
        require(connection, account_id, *ROLES)
        row = connection.execute(select(annotator).where(annotator.c.id == account_id)).mappings().one()
    languages = tuple(row["languages"].split(",")) if row["languages"] else ()
    return Kept(account_id, row["name"], row["role"], languages, False, row["password"] is not None, None)


def change_password(engine: Engine, account_id: int, present: str, new: str, *, keep: bytes | None = None) -> Account:
    """Give one's own account another password, which ends its logins but that with the key `keep`.

    Raises NotAllowed where the present password is wrong or the account disabled, Refused for an account without a
    password and where it was given another one meanwhile, AuditError for a new password that cannot be one or is no
    other. Two passwords are hashed: call it where that keeps nobody waiting, and count the tries.
    """
    table = table_of(tables.Annotator)
    with engine.connect() as connection:
        account = require(connection, account_id, *ROLES)
        stored = connection.execute(select(table.c.password).where(table.c.id == account_id)).scalar_one()
    if stored is None:
        raise Refused("this account has no password here: it logs in through the identity provider")
    if not matches(present, stored):
        raise NotAllowed("the present password is wrong; nothing was changed")
    if new == present:
        raise AuditError("the new password is the present one; choose another")
    fresh = hashed(new)
    with engine.begin() as connection:
        still = (table.c.id == account_id) & (table.c.password == stored) & table.c.disabled.is_(False)
        if not connection.execute(table.update().where(still).values(password=fresh)).rowcount:
            raise Refused("the account was changed meanwhile; log in again")
        end_logins(connection, account_id, but=keep)
    return account


def disable_account(engine: Engine, name: str, *, by: int | None = None) -> Account:
    """Keep an account out from now on: its logins end, and the question it was shown is free for others.

    Raises AuditError for an unknown name and for the last manager that is not disabled; NotAllowed for another role.
    """
    table, lease = table_of(tables.Annotator), table_of(tables.Lease)
    with engine.begin() as connection:
        lock_accounts(connection)
        require_manager(connection, by)
        account = _named(connection, name)
        need_another_manager(connection, account)
        connection.execute(table.update().where(table.c.id == account.id).values(disabled=True))
        connection.execute(delete(lease).where(lease.c.annotator_id == account.id))
        end_logins(connection, account.id)
    return account


def enable_account(engine: Engine, name: str, *, by: int | None = None) -> Account:
    """Let a disabled account log in again. Raises AuditError for an unknown name; NotAllowed for another role."""
    table = table_of(tables.Annotator)
    with engine.begin() as connection:
        lock_accounts(connection)
        require_manager(connection, by)
        account = _named(connection, name)
        connection.execute(table.update().where(table.c.id == account.id).values(disabled=False))
    return account


def manager_named(engine: Engine, name: str, *, by: int | None = None) -> Account:
    """The account of this name, which must be an enabled manager's. For commands that act in somebody's name.

    Raises NotAllowed where `by` is no manager, AuditError for another name.
    """
    table = table_of(tables.Annotator)
    with engine.connect() as connection:
        require_manager(connection, by)
        account = _named(connection, name)
        disabled = connection.execute(select(table.c.disabled).where(table.c.id == account.id)).scalar_one()
    if account.role != "manager" or disabled:
        raise AuditError(f"{name!r} is no manager who may log in; see `audit user list`")
    return account


def need_another_manager(connection: Connection, account: Account) -> None:
    """Raise AuditError where this account is the last manager that is not disabled; call `lock_accounts` before."""
    table = table_of(tables.Annotator)
    others = select(table.c.id).where(table.c.role == "manager", table.c.disabled.is_(False), table.c.id != account.id)
    if account.role == "manager" and connection.execute(others).first() is None:
        raise AuditError(f"{account.name!r} is the last manager; make or enable another one first")


def lock_accounts(connection: Connection) -> None:
    """One keeper at a time: of two managers who disable each other at once, the second finds itself the last.

    A write that changes nothing takes the lock on SQLite and on PostgreSQL.
    """
    table = table_of(tables.Annotator)
    connection.execute(table.update().where(table.c.role == "manager").values(disabled=table.c.disabled))


def _named(connection: Connection, name: str) -> Account:
    table = table_of(tables.Annotator)
    query = select(table.c.id, table.c.name, table.c.role).where(table.c.name == name, is_person(table))
    row = connection.execute(query).first()
    if row is None:
        raise AuditError(f"there is no account {name!r}; see `audit user list`")
    return Account(int(row[0]), row[1], row[2])


def _utc(moment: datetime | None) -> datetime | None:
    """SQLite gives times back without their zone, which is always UTC."""
    return moment if moment is None or moment.tzinfo else moment.replace(tzinfo=UTC)
