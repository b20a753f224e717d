"""Accounts and roles. Every write elsewhere asks `require` again, in its own transaction."""

import json
import math
import secrets
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache
from hashlib import sha256
from ipaddress import IPv6Address, ip_address
from typing import Any, NamedTuple
from unicodedata import normalize

from sqlalchemy import ColumnElement, Connection, Engine, Select, bindparam, delete, func, or_, select
from sqlmodel import SQLModel

from audit.annotation.assignments import assign, assignments_of
from audit.errors import AuditError, NotAllowed, Refused
from audit.messages import joined, message
from audit.store import insert_new, reading, tables
from audit.store.copying import in_utc
from audit.store.core import adjudication, annotator, assignment, judgement, lease, log, login, token
from audit.store.dump import is_secret
from audit.text.languages import is_code

# Passwords: hashed with Argon2id, and checked in the same time whoever is asked about.

SHORTEST = 8
LONGEST = 1_000
"""Characters: hashing a megabyte would keep the server busy."""


def hashed(password: str) -> str:
    """The Argon2id hash that is stored. Raises AuditError for a password that is too short, too long or no text."""
    if len(password) < SHORTEST:
        raise AuditError(message("account.password_short", count=len(password), least=SHORTEST))
    if len(password) > LONGEST:
        raise AuditError(message("account.password_long", count=len(password), most=LONGEST))
    if not _is_text(password):
        raise AuditError(message("account.password_bytes"))
    return str(_hasher().hash(password))


def matches(password: str, stored: str | None) -> bool:
    """Whether this is the password of the stored hash; None: of an account that has none, or that does not exist.

    One hash is computed in every case, so that the time taken does not tell which names exist.
    """
    decoy = _decoy()  # made on the first call, whoever that is about
    usable = stored is not None and len(password) <= LONGEST and _is_text(password)
    candidate = password if usable else "no such password"
    right = bool(_hasher().verify(candidate, stored if usable else decoy))
    return right and usable


def _is_text(password: str) -> bool:
    try:
        password.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


@cache
def _hasher() -> Any:
    from pwdlib import PasswordHash

    return PasswordHash.recommended()


@cache
def _decoy() -> str:
    return str(_hasher().hash("nobody's password"))


ROLES = ("annotator", "adjudicator", "manager")
DELETED = "deleted-"
"""Begins the name that stands in place of a deleted person's."""
ADJUDICATORS = ("adjudicator", "manager")
"""Who settles questions, checks and inspects answers, and gives causes."""
GOLD = "gold"
MODEL = "model"
"""The role of a model whose ratings were imported (`audit.judging.validity`): no person, it cannot log in, and what it
says is no vote."""

_MOST_LANGUAGES = 50


@dataclass(frozen=True)
class Account:
    """An account, without its password."""

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
    studies: Collection[int] = (),
    by: int | None = None,
) -> Account:
    """A new account, made by a manager (`by`, an account id) or by whoever has the database itself (None).

    Without a password the account logs in through an identity provider only. `languages` are codes of the languages
    that it reads, `studies` ids of those that it works on; none: all. Raises AuditError for a taken or bad name, an
    unknown role, a bad language, study or password; NotAllowed for another role.
    """
    name = checked_name(name)
    if role not in ROLES:
        raise AuditError(message("wrong.role", role=role[:80], allowed=ROLES))
    password_hash, codes = None if password is None else hashed(password), _joined(languages)
    with writing_as_manager(engine, by) as connection:
        account = add_person(connection, name, role, password_hash, codes)
        assign(connection, account.id, studies)
        note(connection, by, "account added", account=account.id, role=role, **_noted(studies))
    return account


def stored_name(written: str) -> str:
    """The name of an annotator as it is stored and looked up: neither case nor blanks around it tell people apart.

    >>> stored_name(" Ann@X.test ")
    'ann@x.test'
    """
    return normalize("NFC", written.strip().casefold())


def checked_name(name: str) -> str:
    """The stored name of an annotator. Raises AuditError for what cannot be one."""
    name = stored_name(name)
    if not name or name == GOLD or name.startswith(DELETED) or len(name) > 80 or not name.isprintable():
        raise AuditError(message("account.bad_name", name=name[:80], gold=GOLD))
    return name


def checked_languages(languages: Sequence[str]) -> None:
    """Raise AuditError where these are too many or no codes of languages."""
    _joined(languages)


def _noted(studies: Collection[int]) -> dict[str, Any]:
    return {"assigned": sorted(set(studies))} if studies else {}


def add_person(connection: Connection, name: str, role: str, password_hash: str | None, languages: str) -> Account:
    """A new account, as a part of the transaction that has asked whether it may be; `languages` are joined by commas.

    Raises AuditError for a name that cannot be one or is taken.
    """
    name = checked_name(name)
    row = {
        "name": name,
        "role": role,
        "password": password_hash,
        "languages": languages,
        "disabled": False,
        "created_at": tables.now(),
    }
    if connection.execute(select(annotator.c.id).where(annotator.c.name == name)).first():
        raise AuditError(message("account.name_taken", name=name))
    connection.execute(annotator.insert(), row)
    id = connection.execute(select(annotator.c.id).where(annotator.c.name == name)).scalar_one()
    return Account(int(id), name, role)


def log_in(engine: Engine, name: str, password: str) -> Account:
    """The account of this name and password. Raises NotAllowed with one message for every reason."""
    # No account has a name that cannot be printed, and PostgreSQL refuses a NUL byte in a question.
    printable_name = stored_name(name) if name.strip().isprintable() else ""
    with engine.connect() as connection:
        row = connection.execute(select(annotator).where(annotator.c.name == printable_name)).mappings().first()
    right = matches(password, row["password"] if row else None)
    if row is None or not right or row["disabled"] or row["role"] not in ROLES:
        raise NotAllowed(message("account.wrong_password"))
    return Account(row["id"], row["name"], row["role"])


def list_accounts(engine: Engine) -> list[Account]:
    """Accounts of people that are not disabled, by name."""
    with engine.connect() as connection:
        return _people(connection, annotator.c.disabled.is_(False))


def _people(connection: Connection, *conditions: ColumnElement[bool]) -> list[Account]:
    query = select(annotator.c.id, annotator.c.name, annotator.c.role).where(is_person(annotator), *conditions)
    return [Account(*row) for row in connection.execute(query.order_by(annotator.c.name))]


def require(connection: Connection, account_id: int, *roles: str) -> Account:
    """The account, read anew, if it is enabled and has one of the roles. Raises NotAllowed."""
    row = connection.execute(_account_query(), {"account": account_id}).first()
    if row is None or row.disabled:
        raise NotAllowed(message("account.absent_or_disabled"))
    if row.role not in roles:
        raise NotAllowed(message("account.role_needed", roles=joined("list.or", roles), name=row.name, role=row.role))
    return Account(int(row.id), row.name, row.role)


def is_person(annotator: Any) -> ColumnElement[bool]:
    """Condition on an annotator, the table or an alias of it: it has one of the `ROLES`.

    One comparison per role: SQLAlchemy rebuilds an `IN` at every execution.
    """
    return or_(*(annotator.c.role == role for role in ROLES))


@cache
def _account_query() -> Select[Any]:
    """Cached: every write checks the account, and building the statement takes longer than running it."""
    columns = (annotator.c.id, annotator.c.name, annotator.c.role, annotator.c.disabled)
    return select(*columns).where(annotator.c.id == bindparam("account"))


def require_manager(connection: Connection, by: int | None) -> None:
    """Raise NotAllowed unless `by` is the account of a manager, or None: whoever has the database itself may do it."""
    if by is not None:
        require(connection, by, "manager")


@contextmanager
def reading_as(engine: Engine, account_id: int, *roles: str) -> Iterator[Connection]:
    """A connection to read with, for an enabled account that has one of the roles. Raises NotAllowed."""
    with engine.connect() as connection:
        require(connection, account_id, *roles)
        yield connection


@contextmanager
def reading_as_manager(engine: Engine, by: int | None) -> Iterator[Connection]:
    """A connection to read with, for a manager (`by`, an account id; else NotAllowed) or for whoever has the database
    itself (None)."""
    with engine.connect() as connection:
        require_manager(connection, by)
        yield connection


@contextmanager
def writing_as_manager(engine: Engine, by: int | None) -> Iterator[Connection]:
    """As `reading_as_manager`, a transaction that is committed at the end."""
    with engine.begin() as connection:
        require_manager(connection, by)
        yield connection


@contextmanager
def changing_accounts(engine: Engine, by: int | None) -> Iterator[Connection]:
    """As `writing_as_manager`, one after the other: of two managers who disable each other at once, the second finds
    itself the last."""
    with engine.begin() as connection:
        # A write that changes nothing takes the lock on SQLite and on PostgreSQL.
        is_manager = annotator.c.role == "manager"
        connection.execute(annotator.update().where(is_manager).values(disabled=annotator.c.disabled))
        require_manager(connection, by)
        yield connection


def gold_id(connection: Connection) -> int:
    """The annotator `gold`, made where it is absent. It has no password and cannot log in."""
    row = {"name": GOLD, "role": GOLD, "password": None, "languages": "", "disabled": False, "created_at": tables.now()}
    insert_new(connection, tables.Annotator, [row])
    return int(connection.execute(select(annotator.c.id).where(annotator.c.name == GOLD)).scalar_one())


def _joined(languages: Sequence[str]) -> str:
    if len(languages) > _MOST_LANGUAGES:
        raise AuditError(message("account.many_languages", count=len(languages), most=_MOST_LANGUAGES))
    for code in languages:
        if not is_code(code):
            raise AuditError(message("wrong.language", language=code[:40]))
    return ",".join(dict.fromkeys(languages))


# Logins: a row for each browser, found by the SHA-256 of its cookie.
#
# A login expires when it was not used for a while, and after a hard limit in any case. Logging out, disabling the
# account and another password end it at once, in every tab.

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
    """A session cookie: 256 random bits. Only the browser has it; the database stores its `cookie_key`."""
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
    """The CSRF token of this login's forms: bound to the login, which cannot be computed from it."""
    return sha256(b"form:" + token.encode("utf-8", "replace")).hexdigest()


def open_login(engine: Engine, account_id: int, key: bytes, limits: Limits | None = None) -> None:
    """Log an account in under this key.

    Raises NotAllowed for an account that is absent or disabled, and for a key that was used before: what was logged
    out stays so.
    """
    limits = limits or Limits()
    table, moment = login, tables.now()
    with engine.begin() as connection:
        # The account's rows of long ago say nothing any more; its new one keeps the last use.
        old = table.c.expires_at < moment - limits.longest
        connection.execute(table.delete().where(table.c.annotator_id == account_id, old))
        require(connection, account_id, *ROLES)
        if connection.execute(select(table.c.key).where(table.c.key == key)).first():
            raise NotAllowed(message("account.login_ended"))
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
    params = {"key": key, "now": moment, "used": moment - limits.idle, "began": moment - limits.longest}
    with reading(engine) as connection:
        row = connection.execute(_valid_login(), params).first()
    if row is None:
        return None
    id, name, role, created, seen = row
    if in_utc(seen) < moment - _TO_THE_MINUTE:
        until = min(moment + limits.idle, in_utc(created) + limits.longest)
        with engine.begin() as connection:
            is_current = (login.c.key == key) & login.c.ended_at.is_(None)
            connection.execute(login.update().where(is_current).values(seen_at=moment, expires_at=until))
    return Account(int(id), name, role)


def name_of_login(engine: Engine, key: bytes) -> str | None:
    """The name of the account that a login of this key belongs to, or belonged to before it ended; else None.

    Rows of ended logins go when their account logs in a week or more after they expired (`Limits.longest`).
    """
    query = select(annotator.c.name).join(login, annotator.c.id == login.c.annotator_id).where(login.c.key == key)
    with reading(engine) as connection:
        return connection.execute(query).scalar()


def end_login(engine: Engine, key: bytes) -> None:
    """Log out. Nothing happens where nobody is logged in under this key."""
    with engine.begin() as connection:
        connection.execute(
            login.update().where(login.c.key == key, login.c.ended_at.is_(None)).values(ended_at=tables.now())
        )


def end_logins(connection: Connection, account_id: int, but: bytes | None = None) -> None:
    """Log an account out everywhere, as a part of the transaction that disables it or changes its password.

    `but` is the key of a login that stays: of whoever changes their own password, whose tokens of the API
    (`audit.annotation.tokens`) stay, too.
    """
    open_logins = (login.c.annotator_id == account_id) & login.c.ended_at.is_(None)
    if but is not None:
        open_logins &= login.c.key != but
    else:
        own_tokens = (token.c.annotator_id == account_id) & (token.c.purpose == "api") & token.c.ended_at.is_(None)
        connection.execute(token.update().where(own_tokens).values(ended_at=tables.now()))
    connection.execute(login.update().where(open_logins).values(ended_at=tables.now()))


@cache
def _valid_login() -> Select[Any]:
    """Cached: every click runs it, and building the statement takes longer than running it."""
    return (
        select(annotator.c.id, annotator.c.name, annotator.c.role, login.c.created_at, login.c.seen_at)
        .join(annotator, annotator.c.id == login.c.annotator_id)
        .where(
            login.c.key == bindparam("key"),
            login.c.ended_at.is_(None),
            login.c.expires_at > bindparam("now"),
            login.c.seen_at > bindparam("used"),
            login.c.created_at > bindparam("began"),
            annotator.c.disabled.is_(False),
            is_person(annotator),
        )
    )


# How often passwords may be tried: wrong ones make the next try wait, at most a minute.
#
# Failures are counted by name and address together, and by address alone. Never by name alone: then a stranger could
# keep the owner of an account out from everywhere.
#
# The counts are kept in the process, not in the database: strangers can then neither fill a table nor hold its lock,
# and Streamlit serves an app from one process anyway. A restart forgets them, which gives away a few tries.

BY_ACCOUNT = 5
"""Wrong passwords for one name from one address before the next has to wait."""
BY_ADDRESS = 50
"""Wrong passwords from one address: a whole team may share one."""
LONGEST_WAIT = 60
"""Seconds between two tries, at most."""
FORGET = 900
"""Seconds after the last wrong password, after which a count begins anew."""
_MOST = 20_000


class Attempts:
    """Tries by name and address, and by address. Safe among threads.

    `clock` gives seconds. A try counts from its beginning, so that many at once are not all the first.

    >>> attempts = Attempts(clock=lambda: 0.0)
    >>> [attempts.begin("ann", "192.0.2.1") for _ in range(7)]
    [0, 0, 0, 0, 0, 2, 2]
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic):
        self._clock = clock
        self._lock = threading.Lock()
        self._counts: OrderedDict[tuple[str, ...], tuple[int, float]] = OrderedDict()
        """(number, when the last began) by key; the one longest unused first."""

    def begin(self, name: str, address: str) -> int:
        """Count a try and return 0, or return the whole seconds that are left to wait and count nothing."""
        moment = self._clock()
        with self._lock:
            counted = {key: self._count(key, moment) for key in _keys(name, address)}
            wait = max(last + _pause(key, number) for key, (number, last) in counted.items()) - moment
            if wait > 0:
                return math.ceil(wait)
            for key, (number, _) in counted.items():
                self._counts[key] = (number + 1, moment)
                self._counts.move_to_end(key)
            while len(self._counts) > _MOST:
                self._counts.popitem(last=False)
        return 0

    def succeed(self, name: str, address: str) -> None:
        """The password was right: the name begins anew at this address, and the address gets its try back."""
        own, shared = _keys(name, address)
        with self._lock:
            self._counts.pop(own, None)
            number, last = self._counts.get(shared, (0, 0.0))
            if number:
                self._counts[shared] = (number - 1, last)

    def _count(self, key: tuple[str, ...], moment: float) -> tuple[int, float]:
        number, last = self._counts.get(key, (0, moment))
        return (0, moment) if moment - last > FORGET else (number, last)


def _keys(name: str, address: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The keys of name and address, and of the address. No account has a longer name: a megabyte is not kept."""
    return (network(address), name.strip()[:80].casefold()), (network(address),)


def _pause(key: tuple[str, ...], number: int) -> int:
    """Seconds to wait after so many wrong passwords."""
    free = BY_ADDRESS if len(key) == 1 else BY_ACCOUNT
    return min(LONGEST_WAIT, 2 ** min(number - free + 1, 10)) if number >= free else 0


def network(address: str) -> str:
    """The address itself, or of an IPv6 address the 64 bits that one customer has to themselves.

    >>> network("2001:db8::1") == network("2001:db8::2"), network("192.0.2.1")
    (True, '192.0.2.1')
    """
    try:
        parsed = ip_address(address)
    except ValueError:
        return address
    return str(int(parsed) >> 64) if isinstance(parsed, IPv6Address) else str(parsed)


# From an identity provider's claims to an account: OpenID Connect, as `st.login` reads it.
#
# The provider says who somebody is; which accounts there are, and their roles, is kept here. Nobody gets an account by
# logging in.

CLAIM = "email"
"""The claim that names the account, where the setting names none."""


def name_in(claims: Mapping[str, Any], claim: str = CLAIM) -> str:
    """The account's name among the claims of an identity token.

    Raises NotAllowed where the claim is absent or no text, and for an e-mail address that the provider has not
    verified: somebody else may have typed it there.

    >>> name_in({"email": "ann@example.org", "email_verified": True})
    'ann@example.org'
    """
    value = claims.get(claim)
    if not isinstance(value, str) or not value.strip():
        raise NotAllowed(message("account.no_claim", claim=claim))
    if claim == "email" and claims.get("email_verified", True) not in (True, "true"):
        raise NotAllowed(message("account.address_not_verified", address=value))
    return stored_name(value)


def account_of_identity(
    engine: Engine, claims: Mapping[str, Any], claim: str = CLAIM, limits: Limits | None = None
) -> Account:
    """The account that is logged in by these claims of a verified identity token; the first time logs it in.

    Raises NotAllowed where no enabled account has the name, where the token was issued too long ago, and where its
    login has ended: a token that was logged out is not taken again.
    """
    limits = limits or Limits()
    key = identity_key(claims)
    if (account := account_of(engine, key, limits)) is not None:
        return account
    name = name_in(claims, claim)
    issued = claims.get("iat")
    if isinstance(issued, bool) or not isinstance(issued, int | float):
        raise NotAllowed(message("account.no_time_of_issue"))
    if issued < (tables.now() - limits.longest).timestamp():
        raise NotAllowed(message("account.login_ended"))
    with engine.connect() as connection:
        people = _people(connection, annotator.c.name == name, annotator.c.disabled.is_(False))
    if not people:
        raise NotAllowed(message("account.may_not_log_in", name=name))
    try:
        open_login(engine, people[0].id, key, limits)
    except NotAllowed:
        # Two tabs may come back from the provider at once; the second finds the first one's login, or one that ended.
        if (account := account_of(engine, key, limits)) is None:
            raise
        return account
    return people[0]


# Managing accounts: listing them, setting passwords, disabling. By managers, or by whoever has the database itself;
# everybody changes their own password.
#
# People are never deleted here, since their judgements are history; a disabled account is out at once, in every
# browser.


@dataclass(frozen=True)
class AccountDetails(Account):
    """An account as managers and its owner see it."""

    languages: tuple[str, ...]
    """Codes of the languages it reads; none: all."""
    disabled: bool
    has_password: bool
    """Without one it logs in through an identity provider only."""
    seen_at: datetime | None
    """The last use of the app, in UTC to the minute; None: never."""
    studies: tuple[int, ...] = ()
    """Ids of the studies that it works on; none: all."""


def account_details(engine: Engine, *, by: int | None = None) -> list[AccountDetails]:
    """Every account of a person, the disabled ones too, by name. Raises NotAllowed where `by` is no manager."""
    with reading_as_manager(engine, by) as connection:
        return _details(connection, is_person(annotator))


def own_account(engine: Engine, account_id: int) -> AccountDetails:
    """An account as its owner sees it. Raises NotAllowed where it is disabled or absent."""
    with reading_as(engine, account_id, *ROLES) as connection:
        return _details(connection, annotator.c.id == account_id)[0]


def _details(connection: Connection, condition: ColumnElement[bool]) -> list[AccountDetails]:
    query = (
        select(annotator, func.max(login.c.seen_at).label("seen_at"))
        .outerjoin(login, login.c.annotator_id == annotator.c.id)
        .where(condition)
        .group_by(annotator.c.id)
        .order_by(annotator.c.name)
    )
    studies = assignments_of(connection)
    return [
        AccountDetails(
            id=row.id,
            name=row.name,
            role=row.role,
            languages=tuple(filter(None, row.languages.split(","))),
            disabled=row.disabled,
            has_password=row.password is not None,
            seen_at=row.seen_at and in_utc(row.seen_at),
            studies=studies.get(row.id, ()),
        )
        for row in connection.execute(query)
    ]


def set_password(engine: Engine, name: str, password: str, *, by: int | None = None) -> Account:
    """Give an account another password, which logs it out everywhere. Raises AuditError or NotAllowed."""
    new = hashed(password)
    with changing_accounts(engine, by) as connection:
        account = _person_named(connection, name)
        connection.execute(annotator.update().where(annotator.c.id == account.id).values(password=new))
        end_logins(connection, account.id)
        note(connection, by, "password set", account=account.id)
    return account


def change_password(engine: Engine, account_id: int, present: str, new: str, *, keep: bytes | None = None) -> Account:
    """Give one's own account another password, which ends its logins but that with the key `keep`.

    Raises NotAllowed where the present password is wrong or the account disabled, Refused for an account without a
    password and where it was given another one meanwhile, AuditError for a new password that cannot be one or is no
    other. Two passwords are hashed: call it where that keeps nobody waiting, and count the tries.
    """
    with engine.connect() as connection:
        account = require(connection, account_id, *ROLES)
        stored = connection.execute(select(annotator.c.password).where(annotator.c.id == account_id)).scalar_one()
    if stored is None:
        raise Refused(message("account.no_own_password"))
    if not matches(present, stored):
        raise NotAllowed(message("account.present_password_wrong"))
    if new == present:
        raise AuditError(message("account.same_password"))
    new_hash = hashed(new)
    with engine.begin() as connection:
        unchanged = (annotator.c.id == account_id) & (annotator.c.password == stored) & annotator.c.disabled.is_(False)
        if not connection.execute(annotator.update().where(unchanged).values(password=new_hash)).rowcount:
            raise Refused(message("account.changed_meanwhile"))
        end_logins(connection, account_id, but=keep)
        note(connection, account_id, "own password changed")
    return account


def disable_account(engine: Engine, name: str, *, by: int | None = None) -> Account:
    """Keep an account out from now on: its logins end, and the question it was shown is free for others.

    Raises AuditError for an unknown name and for the last manager that is not disabled; NotAllowed for another role.
    """
    with changing_accounts(engine, by) as connection:
        account = _person_named(connection, name)
        need_another_manager(connection, account)
        connection.execute(annotator.update().where(annotator.c.id == account.id).values(disabled=True))
        connection.execute(delete(lease).where(lease.c.annotator_id == account.id))
        end_logins(connection, account.id)
        note(connection, by, "account disabled", account=account.id)
    return account


def enable_account(engine: Engine, name: str, *, by: int | None = None) -> Account:
    """Let a disabled account log in again. Raises AuditError for an unknown name; NotAllowed for another role."""
    with changing_accounts(engine, by) as connection:
        account = _person_named(connection, name)
        connection.execute(annotator.update().where(annotator.c.id == account.id).values(disabled=False))
        note(connection, by, "account enabled", account=account.id)
    return account


def change_account(
    engine: Engine,
    name: str,
    role: str,
    languages: Sequence[str] = (),
    studies: Collection[int] = (),
    *,
    by: int | None = None,
) -> Account:
    """Give an account another role, other languages and other studies (none: all); its next click has them.

    Raises AuditError for an unknown name or role, a bad language or study, and where the last manager would be none any
    more; NotAllowed where `by` is no manager. Nothing is stored where nothing changes.
    """
    if role not in ROLES:
        raise AuditError(message("wrong.role", role=role[:80], allowed=ROLES))
    codes = _joined(languages)
    with changing_accounts(engine, by) as connection:
        account = _person_named(connection, name)
        if role != "manager":
            need_another_manager(connection, account)
        query = select(annotator.c.languages).where(annotator.c.id == account.id)
        before = connection.execute(query).scalar_one()
        had, wanted = assignments_of(connection, [account.id]).get(account.id, ()), tuple(sorted(set(studies)))
        if (role, codes, wanted) != (account.role, before, had):
            new = {"role": role, "languages": codes}
            connection.execute(annotator.update().where(annotator.c.id == account.id).values(new))
            assign(connection, account.id, wanted)
            # What it looks at may be in a language, of a kind or of a study that is not for it any more.
            connection.execute(delete(lease).where(lease.c.annotator_id == account.id))
            changed: dict[str, list[Any]] = {
                "role": [account.role, role],
                "languages": [before, codes],
                "assigned": [list(had), list(wanted)],
            }
            detail: dict[str, Any] = {key: value for key, value in changed.items() if value[0] != value[1]}
            note(connection, by, "account changed", account=account.id, **detail)
    return Account(account.id, account.name, role)


def need_another_manager(connection: Connection, account: Account) -> None:
    """Raise AuditError where this account is the last manager that is not disabled, while `changing_accounts`."""
    others = select(annotator.c.id).where(
        annotator.c.role == "manager", annotator.c.disabled.is_(False), annotator.c.id != account.id
    )
    if account.role == "manager" and connection.execute(others).first() is None:
        raise AuditError(message("account.last_manager", name=account.name))


def _person_named(connection: Connection, name: str) -> Account:
    people = _people(connection, annotator.c.name == stored_name(name))
    if not people:
        raise AuditError(message("account.absent", name=name))
    return people[0]


# A person leaves: the name goes, the answers stay.


@dataclass(frozen=True)
class DeletedPerson:
    """What is kept of a deleted person."""

    name: str
    """In place of the name they had."""
    judgements: int
    adjudications: int


def delete_person(engine: Engine, name: str, *, by: int | None = None) -> DeletedPerson:
    """Take name, password, languages, sessions and leases away from an account and disable it.

    History is append-only: judgements and adjudications stay as they are, comments included, under the name
    `deleted-N` with N the account's number, and count as before. Done by a manager (`by`, an account id), or by whoever
    has the database itself (None). Raises NotAllowed for another role; AuditError for a name that no person has,
    for the last manager, and where a manager would delete the account they use.
    """
    with changing_accounts(engine, by) as connection:
        row = connection.execute(select(annotator).where(annotator.c.name == stored_name(name))).first()
        if row is None or row.role not in ROLES:
            raise AuditError(message("account.no_person", name=name))
        if row.id == by:
            raise AuditError(message("account.own_deletion"))
        need_another_manager(connection, Account(row.id, row.name, row.role))
        new_name = f"{DELETED}{row.id}"
        empty = {"name": new_name, "password": None, "languages": "", "disabled": True}
        connection.execute(annotator.update().where(annotator.c.id == row.id).values(empty))
        connection.execute(delete(lease).where(lease.c.annotator_id == row.id))
        connection.execute(delete(assignment).where(assignment.c.annotator_id == row.id))
        for table in SQLModel.metadata.sorted_tables:
            if is_secret(table):
                for column in table.columns:
                    if any(foreign.target_fullname == "annotator.id" for foreign in column.foreign_keys):
                        connection.execute(delete(table).where(column == row.id))
        judgements, adjudications = (
            connection.execute(select(func.count()).where(table.c.annotator_id == row.id)).scalar_one()
            for table in (judgement, adjudication)
        )
        note(connection, by, "person deleted", account=row.id)
        return DeletedPerson(new_name, judgements, adjudications)


# The log: who did what that changes how numbers come about, or that shows what is hidden otherwise.


class Entry(NamedTuple):
    """A line of the log."""

    at: datetime
    who: str | None
    """Name of the account; None: whoever has the database itself."""
    action: str
    question_id: int | None
    detail: dict[str, Any]


def note(
    connection: Connection, account_id: int | None, action: str, question_id: int | None = None, **detail: Any
) -> None:
    """Append a line, as a part of the transaction that does what it says.

    `detail` holds numbers and fixed words, never anyone's name or text: exports include it unchanged.
    """
    row = {"annotator_id": account_id, "action": action, "question_id": question_id, "detail": detail}
    connection.execute(log.insert(), row | {"at": tables.now()})


def entries(engine: Engine, account_id: int, last: int = 200, *, who: int | None = None) -> list[Entry]:
    """The last lines, or the last of the account `who`, the newest first. Raises NotAllowed for anyone but a
    manager."""
    query = (
        select(log.c.at, annotator.c.name, log.c.action, log.c.question_id, log.c.detail)
        .outerjoin(annotator, annotator.c.id == log.c.annotator_id)
        .order_by(log.c.id.desc())
        .limit(last)
    )
    if who is not None:
        query = query.where(log.c.annotator_id == who)
    with reading_as(engine, account_id, "manager") as connection:
        return [Entry(*row) for row in connection.execute(query)]
