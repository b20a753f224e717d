"""Invitations: links that make accounts. A manager makes one for one or many uses; who opens it chooses a name and a
password, and is in.

A link carries a secret of 256 bits, of which the database keeps the SHA-256 alone (table `token`): it is shown once,
when it is made. The first manager of a database without one comes in by such a link, too, which `audit app` prints.
"""

import secrets
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Any

from sqlalchemy import ColumnElement, Connection, Engine, RowMapping, and_, or_, select, update

from audit.annotation.accounts import (
    ROLES,
    Account,
    add_person,
    checked_languages,
    hashed,
    note,
    reading_as,
    reading_as_manager,
    writing_as_manager,
)
from audit.annotation.assignments import assign, checked_studies, from_column
from audit.errors import AuditError, NotAllowed, Refused
from audit.messages import message
from audit.store import tables
from audit.store.copying import in_utc
from audit.store.core import annotator, log, token

INVITATION, FIRST = "invitation", "first account"
"""What a token of ours is for, as `Token.purpose` says."""
MOST_USES, MOST_DAYS, LONGEST_CODE = 1_000, 365, 80
FIRST_FOR = timedelta(days=7)
"""How long the link of the first manager can be used; starting the app again prints another one."""
_REFERENCE = 16


@dataclass(frozen=True)
class Terms:
    """What an invitation gives. Raises AuditError for what it cannot."""

    role: str = "annotator"
    languages: Sequence[str] = ()
    """Codes of the languages that the account reads; none: all."""
    uses: int = 1
    """How many people may use the link."""
    days: int = 14
    """After how many days it expires."""
    code: str = ""
    """The completion code of a recruitment platform, which the person reads when nothing is left to answer."""
    studies: Collection[int] = ()
    """Ids of the studies that the account works on; none: all."""

    def __post_init__(self) -> None:
        if self.role not in ROLES:
            raise AuditError(message("wrong.role", role=self.role[:80], allowed=ROLES))
        for name, value, most in (("uses", self.uses, MOST_USES), ("days", self.days, MOST_DAYS)):
            if not 1 <= value <= most:
                raise AuditError(message(f"invitation.bad_{name}", value=value, most=most))
        if len(self.code) > LONGEST_CODE or not (self.code.isprintable() or not self.code):
            raise AuditError(message("invitation.bad_code", most=LONGEST_CODE))
        checked_languages(self.languages)


@dataclass(frozen=True)
class Invitation:
    """An invitation as managers see it, and whoever opens its link; the secret is not in it."""

    key: bytes
    purpose: str
    role: str
    languages: str
    code: str
    uses_left: int
    created_at: datetime
    expires_at: datetime
    by: str | None
    """Who made it; None: whoever has the database itself."""
    studies: tuple[int, ...] = ()
    """Ids of the studies that the account works on; none: all."""


def invite(engine: Engine, terms: Terms, *, by: int | None = None) -> str:
    """Make an invitation; returns the secret of its link, which is told this once.

    `by` is the account of a manager, or None for whoever has the database itself; NotAllowed for another role.
    """
    with writing_as_manager(engine, by) as connection:
        secret = _store(connection, terms, by)
        studies: dict[str, Any] = {"assigned": sorted(set(terms.studies))} if terms.studies else {}
        note(connection, by, "invited", role=terms.role, uses=terms.uses, days=terms.days, **studies)
    return secret


def invitations(engine: Engine, *, by: int | None = None) -> list[Invitation]:
    """The invitations that can still be used, the newest first. Raises NotAllowed where `by` is no manager."""
    with reading_as_manager(engine, by) as connection:
        query = _query().where(_usable(), token.c.purpose == INVITATION).order_by(token.c.created_at.desc())
        return [_invitation(row) for row in connection.execute(query).mappings()]


def end_invitation(engine: Engine, key: bytes, *, by: int | None = None) -> None:
    """Take an invitation back: its link makes no account any more. Raises Refused where it cannot be used anyway, and
    NotAllowed where `by` is no manager."""
    with writing_as_manager(engine, by) as connection:
        ended = update(token).where(token.c.key == key, token.c.purpose == INVITATION, _usable())
        if not connection.execute(ended.values(ended_at=tables.now())).rowcount:
            raise Refused(message("invitation.not_usable"))
        note(connection, by, "invitation ended", invitation=_reference(key))


def first_account_secret(engine: Engine) -> str | None:
    """The secret of the link that makes the first manager, for whoever starts the app; None where a manager can log in.

    Each call makes a new one and ends those before it.
    """
    with engine.begin() as connection:
        if _has_manager(connection):
            return None
        earlier = and_(token.c.purpose == FIRST, token.c.ended_at.is_(None))
        connection.execute(update(token).where(earlier).values(ended_at=tables.now()))
        return _store(connection, Terms("manager"), None, purpose=FIRST, lasts=FIRST_FOR)


def invitation_of(engine: Engine, secret: str) -> Invitation:
    """The invitation of a link. Raises NotAllowed, with one sentence for every reason, where it cannot be used."""
    with engine.connect() as connection:
        return _usable_invitation(connection, secret)


def join(engine: Engine, secret: str, name: str, password: str) -> Account:
    """Make the account of an invitation, with this name and password.

    Raises NotAllowed where the link cannot be used (any more); AuditError for a name or password that cannot be one or
    a name that is taken: then the link can be used again. The password is hashed: call it where that keeps nobody
    waiting.
    """
    password_hash = hashed(password)
    with engine.begin() as connection:
        key = _key(secret)
        # The write comes first: of two people with the last use of a link, the second waits here and is refused.
        used = update(token).where(token.c.key == key, _usable())
        moment = tables.now()
        if not connection.execute(used.values(uses_left=token.c.uses_left - 1, seen_at=moment)).rowcount:
            raise NotAllowed(message("invitation.not_usable"))
        row = connection.execute(_query().where(token.c.key == key)).mappings().one()
        if row["purpose"] == FIRST and _has_manager(connection):
            raise NotAllowed(message("invitation.not_usable"))
        account = add_person(connection, name, row["role"], password_hash, row["languages"] or "")
        assign(connection, account.id, from_column(row["studies"]))
        note(connection, account.id, "joined", role=account.role, invitation=_reference(key))
    return account


def completion_code(engine: Engine, account_id: int) -> str | None:
    """The completion code of the invitation that this account came by; None where there is none. Raises NotAllowed for
    an account that is absent or disabled."""
    with reading_as(engine, account_id, *ROLES) as connection:
        query = select(log.c.detail).where(log.c.annotator_id == account_id, log.c.action == "joined")
        references = {detail.get("invitation") for detail in connection.execute(query).scalars()}
        if not references:
            return None
        codes = select(token.c.key, token.c.code).where(token.c.purpose == INVITATION, token.c.code.is_not(None))
        return next((code for key, code in connection.execute(codes) if _reference(key) in references), None)


def _store(
    connection: Connection,
    terms: Terms,
    by: int | None,
    *,
    purpose: str = INVITATION,
    lasts: timedelta | None = None,
) -> str:
    secret, moment = secrets.token_urlsafe(32), tables.now()
    row = {
        "key": _key(secret),
        "purpose": purpose,
        "annotator_id": by,
        "role": terms.role,
        "languages": ",".join(dict.fromkeys(terms.languages)),
        "studies": ",".join(map(str, checked_studies(connection, terms.studies))) or None,
        "code": terms.code.strip() or None,
        "uses_left": terms.uses,
        "created_at": moment,
        "expires_at": moment + (lasts or timedelta(days=terms.days)),
    }
    connection.execute(token.insert(), row)
    return secret


def _has_manager(connection: Connection) -> bool:
    is_manager = and_(annotator.c.role == "manager", annotator.c.disabled.is_(False))
    return connection.execute(select(annotator.c.id).where(is_manager).limit(1)).first() is not None


def _usable() -> ColumnElement[bool]:
    """Condition on `token`: of ours, neither used up, ended nor expired."""
    ours = or_(token.c.purpose == INVITATION, token.c.purpose == FIRST)
    return and_(ours, token.c.uses_left > 0, token.c.ended_at.is_(None), token.c.expires_at > tables.now())


def _query() -> Any:
    return select(token, annotator.c.name.label("by")).outerjoin(annotator, annotator.c.id == token.c.annotator_id)


def _usable_invitation(connection: Connection, secret: str) -> Invitation:
    row = connection.execute(_query().where(token.c.key == _key(secret), _usable())).mappings().first()
    if row is None or (row["purpose"] == FIRST and _has_manager(connection)):
        raise NotAllowed(message("invitation.not_usable"))
    return _invitation(row)


def _invitation(row: RowMapping) -> Invitation:
    return Invitation(
        key=row["key"],
        purpose=row["purpose"],
        role=row["role"],
        languages=row["languages"] or "",
        code=row["code"] or "",
        uses_left=row["uses_left"],
        created_at=in_utc(row["created_at"]),
        expires_at=in_utc(row["expires_at"]),
        by=row["by"],
        studies=from_column(row["studies"]),
    )


def _key(secret: str) -> bytes:
    """The 32 bytes under which a link is stored; another prefix than a cookie's, so that none stands for another."""
    return sha256(b"invitation:" + secret.encode("utf-8", "replace")).digest()


def _reference(key: bytes) -> str:
    """What the log calls an invitation."""
    return key.hex()[:_REFERENCE]
