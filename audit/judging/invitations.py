"""Links that let somebody set a password: invitations, which make accounts; new passwords; the first manager's account.

All are signed (`audit.judging.sign_in`). An invitation is a row as well, which counts its uses and can be ended.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Connection, Engine, select, update

from audit.errors import NotAllowed, Refused
from audit.judging import accounts
from audit.judging.sign_in import LINK, sign, unsign
from audit.messages import message
from audit.store import tables
from audit.store.copying import in_utc
from audit.store.core import annotator, count_rows, invitation

INVITATION, FIRST, PASSWORD = "invitation", "first account", "password"  # What a link is for
MOST_USES, MOST_DAYS, LONGEST_CODE = 1_000, 365, 80  # Bounds of the form that invites
LASTS = timedelta(days=7)
"""How long a link for a new password can be used, and the first manager's: starting the app again prints another."""


class Terms(NamedTuple):
    """What an invitation gives."""

    role: str = "annotator"
    languages: Sequence[str] = ()  # Codes of the languages that the account reads; none: all
    uses: int = 1  # How many people may use the link
    days: int = 14  # After how many days it expires
    code: str = ""
    """The completion code of a recruitment platform, which the person reads when nothing is left to answer."""


class Invitation(NamedTuple):
    """An invitation as managers see it; `by` is who made it, None whoever has the database itself."""

    id: int
    role: str
    languages: str
    code: str
    uses_left: int
    created_at: datetime
    expires_at: datetime
    by: str | None


class Link(NamedTuple):
    """A link that can be used: what it is for, and the role or the account (its name) that it gives."""

    purpose: str
    id: int | None = None
    role: str = "manager"
    name: str = ""


def invite(engine: Engine, terms: Terms, *, by: int | None = None) -> str:
    """Make an invitation and return the secret of its link. Raises NotAllowed where `by` is no manager, AuditError for
    an unknown role and a bad language."""
    lasts, moment = timedelta(days=terms.days), tables.now()
    row = {"annotator_id": by, "role": accounts.checked_role(terms.role), "uses_left": terms.uses}
    row |= {"languages": accounts.joined_languages(terms.languages), "code": terms.code.strip() or None}
    with accounts.writing_as_manager(engine, by) as connection:
        query = invitation.insert().returning(invitation.c.id)
        id = connection.execute(query, row | {"created_at": moment, "expires_at": moment + lasts}).scalar_one()
        accounts.note(connection, by, "invited", role=terms.role, uses=terms.uses, days=terms.days)
    return sign(engine, LINK, lasts, INVITATION, id)


def invitations(engine: Engine, *, by: int | None = None) -> list[Invitation]:
    """Return the invitations that can be used, the newest first. Raises NotAllowed where `by` is no manager."""
    query = select(invitation, annotator.c.name).outerjoin(annotator, annotator.c.id == invitation.c.annotator_id)
    same = ("id", "role", "languages", "uses_left")
    with accounts.reading_as_manager(engine, by) as connection:
        return [
            Invitation(
                **{name: row._mapping[name] for name in same},
                code=row.code or "",
                created_at=in_utc(row.created_at),
                expires_at=in_utc(row.expires_at),
                by=row.name,
            )
            for row in connection.execute(query.where(_usable()).order_by(invitation.c.id.desc()))
        ]


def end_invitation(engine: Engine, id: int, *, by: int | None = None) -> None:
    """Take an invitation back: its link makes no account any more. Raises Refused where it cannot be used anyway."""
    with accounts.writing_as_manager(engine, by) as connection:
        if not connection.execute(update(invitation).where(_usable(id)).values(uses_left=0)).rowcount:
            raise Refused(message("invitation.not_usable"))
        accounts.note(connection, by, "invitation ended", invitation=id)


def password_link(engine: Engine, name: str, *, by: int | None = None) -> str:
    """Return the secret of a link with which an account sets a new password, once. Raises AuditError for an unknown or
    disabled account."""
    with accounts.writing_as_manager(engine, by) as connection:
        id = accounts.person_named(connection, name).id
        accounts.note(connection, by, "password link made", account=id)
    return own_password_link(engine, id)


def own_password_link(engine: Engine, account_id: int) -> str:
    """As `password_link`, of one's own account. Raises NotAllowed where it is disabled."""
    number = accounts.own_account(engine, account_id).session_number
    return sign(engine, LINK, LASTS, PASSWORD, account_id, number)


def first_account_link(engine: Engine) -> str | None:
    """Return the secret of the link that makes the first manager, for whoever starts the app; None where a manager can
    log in."""
    with engine.connect() as connection:
        return None if _has_manager(connection) else sign(engine, LINK, LASTS, FIRST)


def link_of(engine: Engine, secret: str) -> Link:
    """Return what a link is for. Raises NotAllowed, with one sentence for every reason, where it cannot be used."""
    with engine.connect() as connection:
        return _link(connection, unsign(engine, LINK, secret))


def _link(connection: Connection, values: list[Any] | None) -> Link:
    purpose, *more = (values or [0, ""])[1:]
    row: Any = None
    if purpose == FIRST and not _has_manager(connection):
        return Link(FIRST)
    if purpose == INVITATION:
        row = connection.execute(select(invitation.c.id, invitation.c.role).where(_usable(more[0]))).first()
    elif purpose == PASSWORD:
        same = (annotator.c.id == more[0], annotator.c.session_number == more[1], annotator.c.disabled.is_(False))
        row = connection.execute(select(annotator.c.id, annotator.c.role, annotator.c.name).where(*same)).first()
    if row is None:
        raise NotAllowed(message("invitation.not_usable"))
    return Link(purpose, *row)


def use(engine: Engine, secret: str, name: str, password: str) -> accounts.Account:
    """Make the account of a link with this name and password, or set its new password. Raises NotAllowed where the link
    cannot be used (any more), AuditError for a bad or taken name and a bad password. It hashes: call it off the event
    loop."""
    link_of(engine, secret)
    values, password_hash = unsign(engine, LINK, secret), accounts.hashed(password)
    # Of two people with the last use of a link, the second waits here.
    with accounts.changing_accounts(engine) as connection:
        link = _link(connection, values)
        if link.purpose == PASSWORD:
            account = accounts.person_named(connection, link.name)
            accounts.change(connection, account.id, password=password_hash, **accounts.ENDED)
            accounts.note(connection, account.id, "own password changed")
        elif link.purpose == FIRST:
            account = accounts.add_person(connection, name, "manager", password_hash)
            accounts.note(connection, account.id, "joined", role=account.role)
        else:
            used = update(invitation).where(_usable(link.id)).values(uses_left=invitation.c.uses_left - 1)
            terms = connection.execute(used.returning(invitation)).first()
            if terms is None:
                raise NotAllowed(message("invitation.not_usable"))
            account = accounts.add_person(connection, name, terms.role, password_hash, terms.languages, terms.code)
            accounts.note(connection, account.id, "joined", role=account.role, invitation=link.id)
    return account


def completion_code(engine: Engine, account_id: int) -> str | None:
    """Return the completion code of the invitation that an account came by; None where there is none."""
    with accounts.reading_as(engine, account_id, *accounts.ROLES) as connection:
        query = select(annotator.c.completion_code).where(annotator.c.id == account_id)
        code: str | None = connection.execute(query).scalar_one()
        return code


def _usable(id: int | None = None) -> ColumnElement[bool]:
    """Return the condition that an invitation, or this one, can still be used."""
    usable = (invitation.c.uses_left > 0) & (invitation.c.expires_at > tables.now())
    return usable if id is None else usable & (invitation.c.id == id)


def _has_manager(connection: Connection) -> bool:
    return count_rows(connection, annotator, annotator.c.role == "manager", annotator.c.disabled.is_(False)) > 0
