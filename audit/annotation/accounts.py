"""Accounts and roles. Every write elsewhere asks `require` again, in its own transaction."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from sqlalchemy import ColumnElement, Connection, Engine, Select, bindparam, or_, select

from audit.annotation.passwords import hashed, matches
from audit.errors import AuditError, NotAllowed
from audit.language.iso639 import is_code
from audit.store import insert_new, table_of, tables

ROLES = ("annotator", "adjudicator", "manager")
ADJUDICATORS = ("adjudicator", "manager")
"""Who settles questions, checks and inspects answers, and gives causes."""
GOLD = "gold"

_MOST_LANGUAGES = 50


@dataclass(frozen=True)
class Account:
    """Who somebody is, without the password."""

    id: int
    name: str
    role: str


def add_account(
    engine: Engine,
    name: str,
    role: str,
    password: str | None,
    *,
    languages: Sequence[str] = (),
    by: int | None = None,
) -> Account:
    """A new account, made by a manager (`by`, an account id) or by whoever has the database itself (None).

    Without a password the account logs in through an identity provider only. `languages` are codes of the languages
    that it reads; none: all. Raises AuditError for a taken or bad name, an unknown role, a bad language or password;
    NotAllowed for another role.
    """
    name = name.strip()
    if not name or name == GOLD or len(name) > 80 or not name.isprintable():
        raise AuditError(f"account name {name[:80]!r}: must be 1 to 80 printable characters and not {GOLD!r}")
    if role not in ROLES:
        raise AuditError(f"role {role[:80]!r} is not one of {', '.join(ROLES)}")
    row = {
        "name": name,
        "role": role,
        "password": None if password is None else hashed(password),
        "languages": _joined(languages),
        "disabled": False,
        "created_at": tables.now(),
    }
    table = table_of(tables.Annotator)
    with engine.begin() as connection:
        require_manager(connection, by)
        if connection.execute(select(table.c.id).where(table.c.name == name)).first():
            raise AuditError(f"there is an account {name!r} already; choose another name")
        connection.execute(table.insert(), row)
        id = connection.execute(select(table.c.id).where(table.c.name == name)).scalar_one()
    return Account(int(id), name, role)


def log_in(engine: Engine, name: str, password: str) -> Account:
    """The account of this name and password. Raises NotAllowed with one message for every reason."""
    table = table_of(tables.Annotator)
    # No account has a name that cannot be printed, and PostgreSQL refuses a NUL byte in a question.
    asked = name.strip() if name.strip().isprintable() else ""
    with engine.connect() as connection:
        row = connection.execute(select(table).where(table.c.name == asked)).mappings().first()
    right = matches(password, row["password"] if row else None)
    if row is None or not right or row["disabled"] or row["role"] not in ROLES:
        raise NotAllowed("name or password is wrong, or the account is disabled")
    return Account(int(row["id"]), row["name"], row["role"])


def list_accounts(engine: Engine) -> list[Account]:
    """Accounts of people that are not disabled, by name."""
    table = table_of(tables.Annotator)
    query = select(table.c.id, table.c.name, table.c.role).where(is_person(table), table.c.disabled.is_(False))
    with engine.connect() as connection:
        return [Account(int(row[0]), row[1], row[2]) for row in connection.execute(query.order_by(table.c.name))]


def require(connection: Connection, account_id: int, *roles: str) -> Account:
    """The account, read anew, if it is enabled and has one of the roles. Raises NotAllowed."""
    row = connection.execute(_who(), {"account": account_id}).first()
    if row is None or row.disabled:
        raise NotAllowed("this account does not exist or is disabled; log in again")
    if row.role not in roles:
        raise NotAllowed(f"this needs the role {' or '.join(roles)}; {row.name} has the role {row.role}")
    return Account(int(row.id), row.name, row.role)


def is_person(annotator: Any) -> ColumnElement[bool]:
    """Condition on an annotator, the table or an alias of it: it has one of the `ROLES`.

    One comparison for each: `IN` is put together anew whenever a statement is executed.
    """
    return or_(*(annotator.c.role == role for role in ROLES))


@cache
def _who() -> Select[Any]:
    """Made once: everything that somebody does asks this, and putting a statement together takes longer than it."""
    table = table_of(tables.Annotator)
    columns = (table.c.id, table.c.name, table.c.role, table.c.disabled)
    return select(*columns).where(table.c.id == bindparam("account"))


def require_manager(connection: Connection, by: int | None) -> None:
    """Raise NotAllowed unless `by` is the account of a manager, or None: whoever has the database itself may do it."""
    if by is not None:
        require(connection, by, "manager")


def gold_id(connection: Connection) -> int:
    """The annotator `gold`, made where it is absent. It has no password and cannot log in."""
    row = {"name": GOLD, "role": GOLD, "password": None, "languages": "", "disabled": False, "created_at": tables.now()}
    insert_new(connection, tables.Annotator, [row])
    table = table_of(tables.Annotator)
    return int(connection.execute(select(table.c.id).where(table.c.name == GOLD)).scalar_one())


def _joined(languages: Sequence[str]) -> str:
    if len(languages) > _MOST_LANGUAGES:
        raise AuditError(f"{len(languages):,} languages were named; at most {_MOST_LANGUAGES} are allowed")
    for code in languages:
        if not is_code(code):
            raise AuditError(f"language {code[:40]!r} is no code such as en, zh or pt-BR")
    return ",".join(dict.fromkeys(languages))
