"""Links that let somebody set a password: invitations, which make accounts; new passwords; the first manager's account.

All are signed (`audit.judging.sign_in`). An invitation is a row as well, which counts its uses and can be ended.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, Connection, Engine, select, update

from audit.errors import AuditError, NotAllowed, Refused
from audit.false_satisfaction.questions import from_column
from audit.judging.accounts import (
    ENDED,
    ROLES,
    Account,
    add_person,
    change,
    changing_accounts,
    checked_role,
    checked_studies,
    hashed,
    joined_languages,
    note,
    person_named,
    reading_as,
    reading_as_manager,
    writing_as_manager,
)
from audit.judging.sign_in import LINK, sign, unsign
from audit.messages import message
from audit.store import tables
from audit.store.copying import in_utc
from audit.store.core import annotator, count_rows, invitation

INVITATION, FIRST, PASSWORD = "invitation", "first account", "password"
"""What a link is for."""
MOST_USES, MOST_DAYS, LONGEST_CODE = 1_000, 365, 80
LASTS = timedelta(days=7)
"""How long a link for a new password can be used, and the first manager's: starting the app again prints another."""


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
        checked_role(self.role)
        joined_languages(self.languages)
        for name, value, most in (("uses", self.uses, MOST_USES), ("days", self.days, MOST_DAYS)):
            if not 1 <= value <= most:
                raise AuditError(message(f"invitation.bad_{name}", value=value, most=most))
        if len(self.code) > LONGEST_CODE or not (self.code.isprintable() or not self.code):
            raise AuditError(message("invitation.bad_code", most=LONGEST_CODE))


@dataclass(frozen=True)
class Invitation:
    """An invitation as managers see it."""

    id: int
    role: str
    languages: str
    code: str
    uses_left: int
    created_at: datetime
    expires_at: datetime
    by: str | None
    """Who made it; None: whoever has the database itself."""
    studies: tuple[int, ...]


@dataclass(frozen=True)
class Link:
    """A link that can be used: what it is for, and the role or the account (its name) that it gives."""

    purpose: str
    id: int | None = None
    role: str = "manager"
    name: str = ""
    number: int | None = None


def invite(engine: Engine, terms: Terms, *, by: int | None = None) -> str:
    """Make an invitation and return the secret of its link. Raises NotAllowed where `by` is no manager."""
    lasts, moment = timedelta(days=terms.days), tables.now()
    with writing_as_manager(engine, by) as connection:
        studies = checked_studies(connection, terms.studies)
        row = {
            "annotator_id": by,
            "role": terms.role,
            "languages": joined_languages(terms.languages),
            "studies": ",".join(map(str, studies)) or None,
            "code": terms.code.strip() or None,
            "uses_left": terms.uses,
            "created_at": moment,
            "expires_at": moment + lasts,
        }
        id = connection.execute(invitation.insert().returning(invitation.c.id), row).scalar_one()
        assigned: dict[str, Any] = {"assigned": studies} if studies else {}
        note(connection, by, "invited", role=terms.role, uses=terms.uses, days=terms.days, **assigned)
    return sign(engine, LINK, lasts, INVITATION, id)


def invitations(engine: Engine, *, by: int | None = None) -> list[Invitation]:
    """Return the invitations that can still be used, the newest first. Raises NotAllowed where `by` is no manager."""
    query = (
        select(invitation, annotator.c.name.label("by"))
        .outerjoin(annotator, annotator.c.id == invitation.c.annotator_id)
        .where(_usable())
        .order_by(invitation.c.id.desc())
    )
    with reading_as_manager(engine, by) as connection:
        return [
            Invitation(
                id=row.id,
                role=row.role,
                languages=row.languages,
                code=row.code or "",
                uses_left=row.uses_left,
                created_at=in_utc(row.created_at),
                expires_at=in_utc(row.expires_at),
                by=row.by,
                studies=from_column(row.studies),
            )
            for row in connection.execute(query)
        ]


def end_invitation(engine: Engine, id: int, *, by: int | None = None) -> None:
    """Take an invitation back: its link makes no account any more. Raises Refused where it cannot be used anyway."""
    with writing_as_manager(engine, by) as connection:
        if not connection.execute(update(invitation).where(_usable(id)).values(uses_left=0)).rowcount:
            raise Refused(message("invitation.not_usable"))
        note(connection, by, "invitation ended", invitation=id)


def password_link(engine: Engine, name: str, *, by: int | None = None) -> str:
    """Return the secret of a link with which an account sets a new password, once. Raises AuditError for an unknown or
    disabled account."""
    with writing_as_manager(engine, by) as connection:
        id = person_named(connection, name).id
        note(connection, by, "password link made", account=id)
    return own_password_link(engine, id)


def own_password_link(engine: Engine, account_id: int) -> str:
    """As `password_link`, of one's own account. Raises NotAllowed where it is disabled."""
    with reading_as(engine, account_id, *ROLES) as connection:
        query = select(annotator.c.session_number).where(annotator.c.id == account_id)
        return sign(engine, LINK, LASTS, PASSWORD, account_id, connection.execute(query).scalar_one())


def first_account_link(engine: Engine) -> str | None:
    """Return the secret of the link that makes the first manager, for whoever starts the app; None where a manager can
    log in."""
    with engine.connect() as connection:
        return None if _has_manager(connection) else sign(engine, LINK, LASTS, FIRST)


def link_of(engine: Engine, secret: str) -> Link:
    """Return what a link is for. Raises NotAllowed, with one sentence for every reason, where it cannot be used."""
    values = unsign(engine, LINK, secret)
    if values is not None:
        _, purpose, *more = values
        with engine.connect() as connection:
            if (link := _link(connection, purpose, *more)) is not None:
                return link
    raise NotAllowed(message("invitation.not_usable"))


def _link(connection: Connection, purpose: str, id: int | None = None, number: int | None = None) -> Link | None:
    if purpose == FIRST:
        return None if _has_manager(connection) else Link(FIRST)
    if purpose == INVITATION:
        role = connection.execute(select(invitation.c.role).where(_usable(id))).scalar()
        return role and Link(INVITATION, id, role)
    same = (annotator.c.id == id, annotator.c.session_number == number, annotator.c.disabled.is_(False))
    row = connection.execute(select(annotator.c.name, annotator.c.role).where(*same)).first()
    return row and Link(PASSWORD, id, row.role, row.name, number)


def use(engine: Engine, secret: str, name: str, password: str) -> Account:
    """Make the account of a link with this name and password; with a link for a new password, set that.

    Raises NotAllowed where the link cannot be used (any more); AuditError for a bad name or password or a taken name:
    then the link can be used again. The password is hashed: call it off the event loop.
    """
    link, password_hash = link_of(engine, secret), hashed(password)
    with changing_accounts(engine) as connection:
        if link.purpose == INVITATION:
            return _join(connection, link.id, name, password_hash)
        if _link(connection, link.purpose, link.id, link.number) is None:
            raise NotAllowed(message("invitation.not_usable"))
        if link.purpose == PASSWORD:
            account = person_named(connection, link.name)
            change(connection, account.id, password=password_hash, **ENDED)
            note(connection, account.id, "own password changed")
        else:
            account = add_person(connection, name, "manager", password_hash)
            note(connection, account.id, "joined", role=account.role)
    return account


def _join(connection: Connection, id: int | None, name: str, password_hash: str) -> Account:
    # The write comes first: of two people with the last use of a link, the second waits here and is refused.
    used = update(invitation).where(_usable(id)).values(uses_left=invitation.c.uses_left - 1).returning(invitation)
    terms = connection.execute(used).first()
    if terms is None:
        raise NotAllowed(message("invitation.not_usable"))
    studies = from_column(terms.studies)
    account = add_person(connection, name, terms.role, password_hash, terms.languages, studies, terms.code)
    note(connection, account.id, "joined", role=account.role, invitation=id)
    return account


def completion_code(engine: Engine, account_id: int) -> str | None:
    """Return the completion code of the invitation that an account came by; None where there is none."""
    with reading_as(engine, account_id, *ROLES) as connection:
        query = select(annotator.c.completion_code).where(annotator.c.id == account_id)
        code: str | None = connection.execute(query).scalar_one()
        return code


def _usable(id: int | None = None) -> ColumnElement[bool]:
    """Return the condition that an invitation, or this one, can still be used."""
    usable = (invitation.c.uses_left > 0) & (invitation.c.expires_at > tables.now())
    return usable if id is None else usable & (invitation.c.id == id)


def _has_manager(connection: Connection) -> bool:
    return count_rows(connection, annotator, annotator.c.role == "manager", annotator.c.disabled.is_(False)) > 0
