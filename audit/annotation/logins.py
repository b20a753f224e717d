"""Who is logged in where: a row for each browser, found by the SHA-256 of what the browser shows.

A login expires when it was not used for a while, and after a hard limit in any case. Logging out, disabling the account
and another password end it at once, in every tab.
"""

import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache
from hashlib import sha256
from typing import Any

from sqlalchemy import Connection, Engine, Select, bindparam, select

from audit.annotation.accounts import ROLES, Account, is_person, require
from audit.errors import NotAllowed
from audit.store import insert_new, reading, table_of, tables

_TO_THE_MINUTE = timedelta(minutes=1)
"""A login is marked as used once a minute, not at every click: a read is cheap, a write is not."""


@dataclass(frozen=True)
class Limits:
    """How long a login lasts."""

    idle: timedelta = timedelta(hours=12)
    """Without use."""
    longest: timedelta = timedelta(days=7)
    """However much it is used."""


def new_token() -> str:
    """What a browser's cookie holds: 256 random bits. It is nowhere else; the database has `cookie_key` of it."""
    return secrets.token_urlsafe(32)


def cookie_key(token: str) -> bytes:
    """The 32 bytes under which the login of a cookie is stored.

    >>> cookie_key("a") == cookie_key("a"), len(cookie_key("a"))
    (True, 32)
    """
    return sha256(b"cookie:" + token.encode("utf-8", "replace")).digest()


def identity_key(claims: Mapping[str, Any]) -> bytes:
    """The 32 bytes under which the login of a provider's identity token is stored, by its claims.

    Another prefix than a cookie's: somebody who knows the claims cannot make a cookie of them.
    """
    text = json.dumps(dict(claims), sort_keys=True, ensure_ascii=True, default=str)
    return sha256(b"identity:" + text.encode()).digest()


def form_token(token: str) -> str:
    """What a form of this login carries to show that it is one of ours: bound to the login, and no way back to it."""
    return sha256(b"form:" + token.encode("utf-8", "replace")).hexdigest()


def open_login(engine: Engine, account_id: int, key: bytes, limits: Limits | None = None) -> None:
    """Log an account in under this key.

    Raises NotAllowed for an account that is absent or disabled, and for a key that was used before: what was logged
    out stays so.
    """
    limits = limits or Limits()
    table, moment = table_of(tables.Login), tables.now()
    with engine.begin() as connection:
        # The account's rows of long ago say nothing any more; its new one keeps the last use.
        old = table.c.expires_at < moment - limits.longest
        connection.execute(table.delete().where(table.c.annotator_id == account_id, old))
        require(connection, account_id, *ROLES)
        if connection.execute(select(table.c.key).where(table.c.key == key)).first():
            raise NotAllowed("this login has ended; log in again")
        row = {
            "key": key,
            "annotator_id": account_id,
            "created_at": moment,
            "seen_at": moment,
            "expires_at": moment + min(limits.idle, limits.longest),
        }
        insert_new(connection, tables.Login, [row])


def account_of(engine: Engine, key: bytes, limits: Limits | None = None) -> Account | None:
    """The account that is logged in under this key, read anew; None where there is none, or no longer.

    Puts the expiry off, at most once a minute.
    """
    limits, moment = limits or Limits(), tables.now()
    # Shorter limits hold for logins that there are, too.
    given = {"key": key, "now": moment, "used": moment - limits.idle, "began": moment - limits.longest}
    with reading(engine) as connection:
        row = connection.execute(_valid_login(), given).first()
    if row is None:
        return None
    id, name, role, created, seen = row
    if _utc(seen, moment) < moment - _TO_THE_MINUTE:
        until = min(moment + limits.idle, _utc(created, moment) + limits.longest)
        table = table_of(tables.Login)
        with engine.begin() as connection:
            still = (table.c.key == key) & table.c.ended_at.is_(None)
            connection.execute(table.update().where(still).values(seen_at=moment, expires_at=until))
    return Account(int(id), name, role)


def name_behind(engine: Engine, key: bytes) -> str | None:
    """The name of the account that a login of this key belongs to, or belonged to before it ended; else None.

    Rows of ended logins go when their account logs in a week or more after they expired (`Limits.longest`).
    """
    table, annotator = table_of(tables.Login), table_of(tables.Annotator)
    query = select(annotator.c.name).join(table, annotator.c.id == table.c.annotator_id).where(table.c.key == key)
    with reading(engine) as connection:
        return connection.execute(query).scalar()


def end_login(engine: Engine, key: bytes) -> None:
    """Log out. Nothing happens where nobody is logged in under this key."""
    table = table_of(tables.Login)
    with engine.begin() as connection:
        connection.execute(
            table.update().where(table.c.key == key, table.c.ended_at.is_(None)).values(ended_at=tables.now())
        )


def end_logins(connection: Connection, account_id: int, but: bytes | None = None) -> None:
    """Log an account out everywhere, as a part of the transaction that disables it or changes its password.

    `but` is the key of a login that stays.
    """
    table = table_of(tables.Login)
    mine = (table.c.annotator_id == account_id) & table.c.ended_at.is_(None)
    if but is not None:
        mine &= table.c.key != but
    connection.execute(table.update().where(mine).values(ended_at=tables.now()))


@cache
def _valid_login() -> Select[Any]:
    """Made once: every click asks this, and putting the statement together takes longer than its answer."""
    table, annotator = table_of(tables.Login), table_of(tables.Annotator)
    return (
        select(annotator.c.id, annotator.c.name, annotator.c.role, table.c.created_at, table.c.seen_at)
        .join(annotator, annotator.c.id == table.c.annotator_id)
        .where(
            table.c.key == bindparam("key"),
            table.c.ended_at.is_(None),
            table.c.expires_at > bindparam("now"),
            table.c.seen_at > bindparam("used"),
            table.c.created_at > bindparam("began"),
            annotator.c.disabled.is_(False),
            is_person(annotator),
        )
    )


def _utc(moment: datetime, like: datetime) -> datetime:
    """SQLite gives times back without their zone, which is always UTC."""
    return moment if moment.tzinfo else moment.replace(tzinfo=like.tzinfo)
