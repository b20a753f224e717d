"""Accounts, their roles and passwords, and the log. Every write elsewhere calls `require` again, in its own
transaction."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from typing import Any, NamedTuple
from unicodedata import normalize

from sqlalchemy import ColumnElement, Connection, Engine, Row, Select, bindparam, delete, or_, select

from audit.errors import AuditError, NotAllowed
from audit.messages import joined, message
from audit.store import insert_new, tables
from audit.store.core import annotator, invitation, lease, log
from audit.text.languages import is_code

ROLES = ("annotator", "adjudicator", "manager")  # Each may do what those before it may
ADJUDICATORS = ("adjudicator", "manager")  # Who settles questions, checks and inspects answers, and gives causes
GOLD = "gold"
DELETED = "deleted-"  # Begins the name that stands in place of a deleted person's
SHORTEST, LONGEST = 8, 1_000  # Characters of a password: hashing a megabyte would keep the server busy


@dataclass(frozen=True)
class Account:
    """An account, without its password."""

    id: int
    name: str
    role: str
    languages: tuple[str, ...] = field(default=(), compare=False)  # Codes of the languages it reads; none: all
    disabled: bool = field(default=False, compare=False)
    has_password: bool = field(default=False, compare=False)  # Without one it logs in through an identity provider only
    session_number: int = field(default=0, compare=False, repr=False)
    token_number: int = field(default=0, compare=False, repr=False)
    """What its logins and tokens carry (`audit.judging.sign_in`)."""

    @classmethod
    def of(cls, row: Row[Any]) -> "Account":
        """Return the account of a row of `annotator`."""
        languages, numbers = tuple(filter(None, row.languages.split(","))), (row.session_number, row.token_number)
        return cls(row.id, row.name, row.role, languages, row.disabled, row.password is not None, *numbers)


# Passwords: Argon2id. Checking one takes the same time whether or not the account exists.


def hashed(password: str) -> str:
    """Return the hash to store. Raises AuditError for a password that is too short or too long."""
    if not SHORTEST <= len(password) <= LONGEST:
        raise AuditError(message("account.password_length", count=len(password), least=SHORTEST, most=LONGEST))
    return str(_hasher().hash(password.encode("utf-8", "surrogatepass")))


def matches(password: str, stored: str | None) -> bool:
    """Return whether this is the password of the stored hash (None: no account, or one without a password). One hash is
    computed in every case, so that the time does not reveal which names exist."""
    right = bool(_hasher().verify(password[:LONGEST].encode("utf-8", "surrogatepass"), stored or _decoy()))
    return right and stored is not None and len(password) <= LONGEST


@cache
def _hasher() -> Any:
    from pwdlib import PasswordHash

    return PasswordHash.recommended()


@cache
def _decoy() -> str:
    return str(_hasher().hash("nobody's password"))


# Names, roles and languages.


def stored_name(written: str) -> str:
    """Return the name of an annotator as it is stored: neither case nor surrounding blanks tell people apart.

    >>> stored_name(" Ann@X.test ")
    'ann@x.test'
    """
    return normalize("NFC", written.strip().casefold())


def checked_name(name: str) -> str:
    """Return the stored name of an annotator. Raises AuditError for a name that is not allowed."""
    name = stored_name(name)
    if not name or name == GOLD or name.startswith(DELETED) or len(name) > 80 or not name.isprintable():
        raise AuditError(message("account.bad_name", name=name[:80], gold=GOLD))
    return name


def checked_role(role: str) -> str:
    """Return the role. Raises AuditError for an unknown one."""
    if role not in ROLES:
        raise AuditError(message("wrong.choice", what="role", value=role[:80], allowed=ROLES))
    return role


def joined_languages(languages: Sequence[str]) -> str:
    """Return language codes joined by commas, as they are stored. Raises AuditError for one that is no code."""
    if wrong := [code for code in languages if not is_code(code)]:
        raise AuditError(message("wrong.language", language=wrong[0][:40]))
    return ",".join(sorted(set(languages)))


# Who may do what.


def is_person(annotator: Any) -> ColumnElement[bool]:
    """Return the condition that an annotator, the table or an alias of it, has one of the `ROLES`. One comparison per
    role: SQLAlchemy rebuilds an `IN` at every execution."""
    return or_(*(annotator.c.role == role for role in ROLES))


def may(role: str, least: str) -> bool:
    """Return whether a role may do what `least` may.

    >>> may("manager", "adjudicator"), may("annotator", "adjudicator")
    (True, False)
    """
    return role in ROLES and ROLES.index(role) >= ROLES.index(least)


def require(connection: Connection, account_id: int, *roles: str, lock: bool = False) -> Account:
    """Return the account, read anew, if it is enabled and has one of the roles; else raise NotAllowed. `lock`: nobody
    else changes it until the transaction ends."""
    row = connection.execute(_account_query(lock), {"account": account_id}).first()
    if row is None or row.disabled:
        raise NotAllowed(message("account.absent_or_disabled"))
    if row.role not in roles:
        raise NotAllowed(message("account.role_needed", roles=joined("list.or", roles), name=row.name, role=row.role))
    return Account.of(row)


@cache
def _account_query(lock: bool) -> Select[Any]:
    """Cached: every write checks the account, and building the statement takes longer than running it."""
    query = select(annotator).where(annotator.c.id == bindparam("account"))
    return query.with_for_update(key_share=True) if lock else query


def require_manager(connection: Connection, by: int | None) -> None:
    """Raise NotAllowed unless `by` is a manager's account, or None: the owner of the database."""
    if by is not None:
        require(connection, by, "manager")


@contextmanager
def reading_as(engine: Engine, account_id: int, *roles: str) -> Iterator[Connection]:
    """Open a connection to read with, for an enabled account that has one of the roles. Raises NotAllowed."""
    with engine.connect() as connection:
        require(connection, account_id, *roles)
        yield connection


@contextmanager
def reading_as_manager(engine: Engine, by: int | None) -> Iterator[Connection]:
    """Open a connection to read with, as `require_manager`."""
    with engine.connect() as connection:
        require_manager(connection, by)
        yield connection


@contextmanager
def writing_as_manager(engine: Engine, by: int | None) -> Iterator[Connection]:
    """Open a transaction that is committed at the end, as `require_manager`."""
    with engine.begin() as connection:
        require_manager(connection, by)
        yield connection


@contextmanager
def changing_accounts(engine: Engine, by: int | None = None) -> Iterator[Connection]:
    """As `writing_as_manager`, one after the other: of two managers who disable each other at once, the second finds
    itself the last. Raises AuditError where there was a manager before, and none would remain."""
    with engine.begin() as connection:
        # A write that changes nothing takes the lock on SQLite and on PostgreSQL.
        is_manager = (annotator.c.role == "manager", annotator.c.disabled.is_(False))
        connection.execute(annotator.update().where(is_manager[0]).values(disabled=annotator.c.disabled))
        require_manager(connection, by)
        managers = select(annotator.c.name).where(*is_manager)
        last = connection.execute(managers).scalars().first()
        yield connection
        if last is not None and connection.execute(managers).first() is None:
            raise AuditError(message("account.last_manager", name=last))


# Making and listing accounts, by managers (`by`, an account id) or the owner of the database (None).


def add_account(
    engine: Engine,
    name: str,
    role: str,
    password: str | None,
    *,
    languages: Sequence[str] = (),
    by: int | None = None,
) -> Account:
    """Make an account. Without a password it logs in through an identity provider, or sets one by a link. Raises
    NotAllowed, and AuditError for a taken or bad name, an unknown role, a bad language or password."""
    password_hash = None if password is None else hashed(password)
    with writing_as_manager(engine, by) as connection:
        account = add_person(connection, name, role, password_hash, joined_languages(languages))
        note(connection, by, "account added", account=account.id, role=role)
    return account


def add_person(
    connection: Connection,
    name: str,
    role: str,
    password_hash: str | None,
    languages: str = "",
    code: str | None = None,
) -> Account:
    """Insert an account in the caller's transaction; `code` is its completion code. Raises AuditError for a bad or
    taken name and an unknown role."""
    row: dict[str, Any] = {"name": checked_name(name), "role": checked_role(role), "password": password_hash}
    row |= {"languages": languages, "completion_code": code, "created_at": tables.now()}
    if not insert_new(connection, tables.Annotator, [row]):
        raise AuditError(message("account.name_taken", name=row["name"]))
    return person_named(connection, name)


def gold_id(connection: Connection) -> int:
    """Return the id of the annotator `gold`, made where it is absent. It cannot log in."""
    row = {"name": GOLD, "role": GOLD, "password": None, "languages": "", "created_at": tables.now()}
    insert_new(connection, tables.Annotator, [row])
    return int(connection.execute(select(annotator.c.id).where(annotator.c.name == GOLD)).scalar_one())


def list_accounts(engine: Engine) -> list[Account]:
    """Return the accounts of people that are not disabled, by name."""
    return [account for account in account_details(engine) if not account.disabled]


def account_details(engine: Engine, *, by: int | None = None) -> list[Account]:
    """Return every account of a person, the disabled ones too, by name."""
    with reading_as_manager(engine, by) as connection:
        return _people(connection)


def own_account(engine: Engine, account_id: int) -> Account:
    """Return an account as its owner sees it. Raises NotAllowed where it is disabled or absent."""
    with engine.connect() as connection:
        return require(connection, account_id, *ROLES)


def person_named(connection: Connection, name: str) -> Account:
    """Return the account of this name. Raises AuditError where there is none."""
    if not (people := _people(connection, annotator.c.name == stored_name(name))):
        raise AuditError(message("account.absent", name=name))
    return people[0]


def _people(connection: Connection, *conditions: ColumnElement[bool]) -> list[Account]:
    query = select(annotator).where(is_person(annotator), *conditions).order_by(annotator.c.name)
    return list(map(Account.of, connection.execute(query)))


# Changing accounts. Each change that takes something away ends the account's logins, and its tokens of the API.


def change(connection: Connection, account_id: int, **values: Any) -> None:
    """Set columns of an account in the caller's transaction."""
    connection.execute(annotator.update().where(annotator.c.id == account_id).values(values))


ENDED = {"session_number": annotator.c.session_number + 1, "token_number": annotator.c.token_number + 1}
"""Columns of an account that end every login of it, and its API tokens."""


def _change(engine: Engine, name: str, by: int | None, action: str, **values: Any) -> Account:
    with changing_accounts(engine, by) as connection:
        account = person_named(connection, name)
        change(connection, account.id, **values)
        if values.get("disabled"):  # the question on its screen is free for others
            connection.execute(delete(lease).where(lease.c.annotator_id == account.id))
        note(connection, by, action, account=account.id)
        return account


def set_password(engine: Engine, name: str, password: str, *, by: int | None = None) -> Account:
    """Give an account another password, which ends its logins and tokens. Raises AuditError for a bad password."""
    return _change(engine, name, by, "password set", password=hashed(password), **ENDED)


def disable_account(engine: Engine, name: str, *, by: int | None = None) -> Account:
    """Keep an account out from now on. Raises AuditError for the last manager."""
    return _change(engine, name, by, "account disabled", disabled=True, **ENDED)


def enable_account(engine: Engine, name: str, *, by: int | None = None) -> Account:
    """Let a disabled account log in again."""
    return _change(engine, name, by, "account enabled", disabled=False)


def change_account(
    engine: Engine, name: str, role: str, languages: Sequence[str] = (), *, by: int | None = None
) -> Account:
    """Give an account another role and other languages (none: all), from its next click on. Raises AuditError for an
    unknown role, a bad language, and where no manager would remain."""
    new = {"role": checked_role(role), "languages": joined_languages(languages)}
    with changing_accounts(engine, by) as connection:
        account = person_named(connection, name)
        old = {"role": account.role, "languages": ",".join(account.languages)}
        if changed := {key: [old[key], value] for key, value in new.items() if value != old[key]}:
            change(connection, account.id, **new)
            # The question on its screen may be in a language that is not for it any more.
            connection.execute(delete(lease).where(lease.c.annotator_id == account.id))
            note(connection, by, "account changed", account=account.id, **changed)
        return person_named(connection, name)


def delete_person(engine: Engine, name: str, *, by: int | None = None) -> str:
    """Take name, password, languages and invitations away from an account, for good; returns `deleted-N`, its name from
    now on. Judgements and adjudications stay and count. Raises AuditError for the last manager and one's own
    account."""
    with changing_accounts(engine, by) as connection:
        account = person_named(connection, name)
        if account.id == by:
            raise AuditError(message("account.own_deletion"))
        empty = {"name": f"{DELETED}{account.id}", "password": None, "languages": "", "completion_code": None}
        change(connection, account.id, **empty, disabled=True, **ENDED)
        for table in (lease, invitation):
            connection.execute(delete(table).where(table.c.annotator_id == account.id))
        note(connection, by, "person deleted", account=account.id)
        return empty["name"] or ""


# The log: who did what that changes how numbers come about, or that shows what is hidden otherwise.


class Entry(NamedTuple):
    """A line of the log."""

    at: datetime
    who: str | None  # Name of the account; None: the owner of the database
    action: str
    detail: dict[str, Any]


def note(connection: Connection, account_id: int | None, action: str, **detail: Any) -> None:
    """Append a line to the log in the caller's transaction. `detail` holds numbers and fixed words, never anyone's name
    or text: exports include it unchanged."""
    row = {"annotator_id": account_id, "action": action, "detail": detail}
    connection.execute(log.insert(), row | {"at": tables.now()})


def entries(engine: Engine, account_id: int, last: int = 200) -> list[Entry]:
    """Return the last lines, the newest first, to a manager."""
    columns = (log.c.at, annotator.c.name, log.c.action, log.c.detail)
    query = select(*columns).outerjoin(annotator, annotator.c.id == log.c.annotator_id)
    with reading_as(engine, account_id, "manager") as connection:
        return [Entry(*row) for row in connection.execute(query.order_by(log.c.id.desc()).limit(last))]
