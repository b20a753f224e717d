"""Tokens of the API: with one, a program may do what its account may, or less.

A token is a row of the table `token` with the purpose `api`, found by its SHA-256: only who made it has the token
itself. It acts for an account, at most with the role that it was made for, and ends when it expires, when somebody ends
it, and when its account is disabled or is given another password by somebody else.
"""

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache
from hashlib import sha256
from typing import Any

from sqlalchemy import ColumnElement, Engine, Select, bindparam, select

from audit.annotation.accounts import ROLES, Account, is_person, note, reading_as, require
from audit.errors import AuditError, NotAllowed, Refused
from audit.messages import message
from audit.store import reading, tables
from audit.store.copying import in_utc
from audit.store.core import annotator, count_rows, token

API = "api"
"""The purpose of these rows of the table."""
MADE, ENDED = "token made", "token ended"
"""Actions of the log."""
BEGINNING = "audit_"
"""What every token begins with, so that whoever looks for secrets in files finds them."""
DAYS, MOST_DAYS = 90, 366
"""How long a token lasts: by default, and at most."""
MOST = 20
"""Tokens of an account that can be used at the same time."""
_LONGEST_NAME = 80
_MINUTE = timedelta(minutes=1)
"""A token is marked as used once a minute: a read is cheap, a write is not."""


@dataclass(frozen=True)
class Token:
    """A token as its owner sees it, without the secret. Times are in UTC."""

    id: str
    """Names it among the owner's: the beginning of the secret's SHA-256."""
    name: str
    role: str
    """The most that it may do."""
    created_at: datetime
    seen_at: datetime | None
    """The last use, to the minute; None: never."""
    expires_at: datetime


@dataclass(frozen=True)
class Bearer:
    """Who sends a request with a token."""

    account: Account
    role: str
    """What the request may do: the token's role or the account's, whichever is less."""
    token: Token


def token_key(secret: str) -> bytes:
    """The 32 bytes under which a token is stored.

    >>> token_key("a") == token_key("a") != token_key("b")
    True
    """
    return sha256(b"token:" + secret.encode("utf-8", "replace")).digest()


def may(role: str, least: str) -> bool:
    """Whether a role may do what `least` may: each may do what those before it may.

    >>> may("manager", "adjudicator"), may("annotator", "adjudicator")
    (True, False)
    """
    return role in ROLES and ROLES.index(role) >= ROLES.index(least)


def make_token(
    engine: Engine,
    account_id: int,
    name: str,
    role: str | None = None,
    days: int = DAYS,
    *,
    by_owner: bool = True,
) -> tuple[str, Token]:
    """A new token of an account: the secret, which nothing keeps, and what its owner sees of it afterwards.

    `role` is the most that it may do (None: what the account may), `days` how long it lasts. `by_owner` is False where
    whoever has the database itself makes it, which the log says. Raises NotAllowed for an account that is absent or
    disabled, and for a role above its own; AuditError for a bad name, role or number of days; Refused where the
    account has `MOST` already.
    """
    name = name.strip()
    if not name or len(name) > _LONGEST_NAME or not name.isprintable():
        raise AuditError(message("token.bad_name", most=_LONGEST_NAME))
    if role is not None and role not in ROLES:
        raise AuditError(message("wrong.role", role=role[:80], allowed=ROLES))
    if not 1 <= days <= MOST_DAYS:
        raise AuditError(message("token.bad_days", days=days, most=MOST_DAYS), parameter="days")
    secret, moment = BEGINNING + secrets.token_urlsafe(32), tables.now()
    row: dict[str, Any] = {
        "key": token_key(secret),
        "purpose": API,
        "annotator_id": account_id,
        "name": name,
        "created_at": moment,
        "seen_at": None,
        "expires_at": moment + timedelta(days=days),
    }
    with engine.begin() as connection:
        # A write that changes nothing: of two tokens that are made at once, the second is counted after the first.
        own_account = annotator.c.id == account_id
        connection.execute(annotator.update().where(own_account).values(disabled=annotator.c.disabled))
        account = require(connection, account_id, *ROLES)
        row["role"] = role or account.role
        if not may(account.role, row["role"]):
            raise NotAllowed(message("token.above", role=row["role"], name=account.name, own=account.role))
        if count_rows(connection, token, *_usable(account_id)) >= MOST:
            raise Refused(message("token.many", most=MOST))
        connection.execute(token.insert(), row)
        note(connection, account_id if by_owner else None, MADE, role=row["role"], days=days)
    return secret, _token(row)


def own_tokens(engine: Engine, account_id: int) -> list[Token]:
    """The tokens of an account that can be used, the newest first. Raises NotAllowed where it is disabled or absent."""
    query = select(token).where(*_usable(account_id)).order_by(token.c.created_at.desc(), token.c.key)
    with reading_as(engine, account_id, *ROLES) as connection:
        return [_token(row) for row in connection.execute(query).mappings()]


def end_token(engine: Engine, account_id: int, id: str) -> Token:
    """End a token of one's own account. Raises NotAllowed where that is disabled, Refused where there is no such token,
    or no longer."""
    with engine.begin() as connection:
        require(connection, account_id, *ROLES)
        rows = connection.execute(select(token).where(*_usable(account_id))).mappings().all()
        row = next((row for row in rows if _id(row["key"]) == id), None)
        unended = (token.c.key == (row["key"] if row else b"")) & token.c.ended_at.is_(None)
        if row is None or not connection.execute(token.update().where(unended).values(ended_at=tables.now())).rowcount:
            raise Refused(message("token.absent"))
        note(connection, account_id, ENDED, role=row["role"])
        return _token(row)


def bearer_of(engine: Engine, secret: str) -> Bearer | None:
    """Who sends a request with this token, read anew; None where it is none, or can be used no more, or its account is
    disabled. Notes the use, at most once a minute."""
    moment = tables.now()
    with reading(engine) as connection:
        row = connection.execute(_by_key(), {"key": token_key(secret), "now": moment}).mappings().first()
    if row is None:
        return None
    account = Account(int(row["id"]), row["account"], row["account_role"])
    seen = in_utc(row["seen_at"]) if row["seen_at"] else None
    if seen is None or seen < moment - _MINUTE:
        with engine.begin() as connection:
            connection.execute(token.update().where(token.c.key == row["key"]).values(seen_at=moment))
    role = row["role"] if may(account.role, row["role"]) else account.role
    return Bearer(account, role, _token(row))


@cache
def _by_key() -> Select[Any]:
    """Cached: every request runs it."""
    return (
        select(token, annotator.c.id, annotator.c.name.label("account"), annotator.c.role.label("account_role"))
        .join(annotator, annotator.c.id == token.c.annotator_id)
        .where(token.c.key == bindparam("key"), token.c.purpose == API)
        .where(token.c.ended_at.is_(None), token.c.expires_at > bindparam("now"))
        .where(annotator.c.disabled.is_(False), is_person(annotator))
    )


def _usable(account_id: int) -> Sequence[ColumnElement[bool]]:
    """Conditions: tokens of this account that can be used."""
    own = (token.c.annotator_id == account_id) & (token.c.purpose == API)
    return own, token.c.ended_at.is_(None), token.c.expires_at > tables.now()


def _id(key: bytes) -> str:
    return bytes(key).hex()[:16]


def _token(row: Any) -> Token:
    seen = row["seen_at"]
    return Token(
        _id(row["key"]),
        row["name"],
        row["role"],
        in_utc(row["created_at"]),
        in_utc(seen) if seen else None,
        in_utc(row["expires_at"]),
    )
