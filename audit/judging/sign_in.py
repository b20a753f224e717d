"""Signing in: what a login, a link or an API token says, signed with a secret of the database. Nothing is stored. Each
carries its expiry and a number of its account, which `accounts.ENDED` counts up: those before are over at once."""

import math
import secrets
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from functools import cache, lru_cache
from ipaddress import ip_address, ip_network
from typing import Any, NamedTuple

from sqlalchemy import Engine, Select, bindparam, select

from audit.errors import AuditError, NotAllowed
from audit.judging import accounts
from audit.messages import message
from audit.store import insert_new, reading, tables
from audit.store.core import annotator, secret

LOGIN, LINK, TOKEN = "login", "link", "token"  # What a signed text is for: one of them never serves as another
LOGIN_LASTS = timedelta(days=7)
DAYS, MOST_DAYS = 90, 366  # How long an API token lasts: by default, and at most
BEGINNING = "audit_"  # What every API token begins with, so that scanners for secrets find it
CLAIM = "email"  # The claim of an identity token that names the account, where the setting names none


def sign(engine: Engine, purpose: str, lasts: timedelta, *values: object) -> str:
    """Return a text that carries the values until it expires."""
    return str(_signer(engine, purpose).dumps([(tables.now() + lasts).timestamp(), *values]))


def unsign(engine: Engine, purpose: str, text: str | None) -> list[Any] | None:
    """Return the expiry and the values of a signed text; None where it is forged, expired or for another purpose."""
    from itsdangerous import BadData

    try:
        values: list[Any] = _signer(engine, purpose).loads(text or "")
    except (BadData, UnicodeEncodeError):
        return None
    return values if values[0] > tables.now().timestamp() else None


@lru_cache(maxsize=32)
def _signer(engine: Engine, purpose: str) -> Any:
    from itsdangerous import URLSafeSerializer

    with engine.begin() as connection:
        if (key := connection.execute(select(secret.c.key)).scalar()) is None:
            insert_new(connection, tables.Secret, [{"id": 1, "key": secrets.token_urlsafe(32)}])
            key = connection.execute(select(secret.c.key)).scalar_one()
    return URLSafeSerializer(key, salt=f"audit-{purpose}")


# Logins of the app.


def login_of(engine: Engine, account_id: int, lasts: timedelta = LOGIN_LASTS) -> str:
    """Return a login of an enabled account, for the browser's cookie. Raises NotAllowed."""
    return sign(engine, LOGIN, lasts, account_id, accounts.own_account(engine, account_id).session_number)


def account_of(engine: Engine, login: str | None) -> accounts.Account | None:
    """Return the account of a login, read anew; None where it is no login, or no longer."""
    values = unsign(engine, LOGIN, login)
    return None if values is None else _account(engine, "session_number", *values[1:])


def end_logins(engine: Engine, account_id: int) -> None:
    """Log an account out, in every browser. Raises NotAllowed where it is disabled or absent."""
    with engine.begin() as connection:
        accounts.require(connection, account_id, *accounts.ROLES)
        accounts.change(connection, account_id, session_number=annotator.c.session_number + 1)


def log_in(engine: Engine, name: str, password: str) -> accounts.Account:
    """Return the account of a name and password. Raises NotAllowed, with one message for every reason."""
    # No account has a name that cannot be printed, and PostgreSQL refuses a NUL byte in a question.
    row = _named(engine, name) if name.strip().isprintable() else None
    right = accounts.matches(password, row.password if row else None)
    if row is None or not right or row.disabled:
        raise NotAllowed(message("account.wrong_password"))
    return accounts.Account.of(row)


def account_of_claims(engine: Engine, claims: Mapping[str, Any], claim: str = CLAIM) -> accounts.Account:
    """Return the account that a verified identity token of a provider names. Raises NotAllowed where no enabled account
    has the name, and for an e-mail address that the provider has not verified: anybody may have typed it there."""
    name = claims.get(claim)
    if not isinstance(name, str) or not name.strip():
        raise NotAllowed(message("account.no_claim", claim=claim))
    if claim == "email" and claims.get("email_verified", True) not in (True, "true"):
        raise NotAllowed(message("account.address_not_verified", address=name))
    row = _named(engine, name)
    if row is None or row.disabled:
        raise NotAllowed(message("account.may_not_log_in", name=name))
    return accounts.Account.of(row)


def _named(engine: Engine, name: str) -> Any:
    with engine.connect() as connection:
        query = select(annotator).where(annotator.c.name == accounts.stored_name(name), accounts.is_person(annotator))
        return connection.execute(query).first()


def _account(engine: Engine, number: str, id: int, value: int) -> accounts.Account | None:
    """The enabled account whose column `number` has this value."""
    with reading(engine) as connection:
        row = connection.execute(_by(number), {"id": id, "value": value}).first()
    return None if row is None else accounts.Account.of(row)


@cache
def _by(number: str) -> Select[Any]:
    """Cached: every click runs it, and building the statement takes longer than running it."""
    same = (annotator.c.id == bindparam("id"), annotator.c[number] == bindparam("value"))
    return select(annotator).where(*same, annotator.c.disabled.is_(False), accounts.is_person(annotator))


# Tokens of the API.


class Bearer(NamedTuple):
    """Who sends a request with a token; `role` is the token's or the account's, whichever is less."""

    account: accounts.Account
    role: str
    expires_at: datetime


def make_token(
    engine: Engine, account_id: int, role: str | None = None, days: int = DAYS, *, by_owner: bool = True
) -> str:
    """Return an API token of an account, which may do at most what `role` may (None: what the account may); `by_owner`
    is False where the owner of the database makes it. Raises NotAllowed, AuditError for a bad role or number of
    days."""
    if not 1 <= days <= MOST_DAYS:
        raise AuditError(message("token.bad_days", days=days, most=MOST_DAYS), parameter="days")
    with engine.begin() as connection:
        account = accounts.require(connection, account_id, *accounts.ROLES)
        role = accounts.checked_role(role or account.role)
        if not accounts.may(account.role, role):
            raise NotAllowed(message("token.above", role=role, name=account.name, own=account.role))
        accounts.note(connection, account_id if by_owner else None, "token made", role=role, days=days)
    return BEGINNING + sign(engine, TOKEN, timedelta(days=days), account_id, account.token_number, role)


def end_tokens(engine: Engine, account_id: int) -> None:
    """End every API token of one's own account. Raises NotAllowed where it is disabled."""
    with engine.begin() as connection:
        accounts.require(connection, account_id, *accounts.ROLES)
        accounts.change(connection, account_id, token_number=annotator.c.token_number + 1)
        accounts.note(connection, account_id, "tokens ended")


def bearer_of(engine: Engine, token: str) -> Bearer | None:
    """Return who sends a request with this token; None where it is no token, or no longer."""
    if (values := unsign(engine, TOKEN, token.removeprefix(BEGINNING))) is None:
        return None
    expires, id, number, role = values
    if (account := _account(engine, "token_number", id, number)) is None:
        return None
    least = role if accounts.may(account.role, role) else account.role
    return Bearer(account, least, datetime.fromtimestamp(expires, UTC))


# Guessing passwords: wrong ones make the next try wait.


class Throttle:
    """Counts tries by name and address, and by address. Kept in the process: strangers cannot fill a table.

    Never by name alone: then a stranger could keep the owner of an account out from everywhere. A try counts from its
    beginning, so that many at once are not all the first.

    >>> throttle = Throttle(clock=lambda: 0.0)
    >>> [throttle.begin("ann", "192.0.2.1") for _ in range(7)]
    [0, 0, 0, 0, 0, 2, 2]
    """

    BY_NAME, BY_ADDRESS = 5, 50  # Tries before the next has to wait; a whole team may share an address
    LONGEST_WAIT, FORGET = 60, 900  # Seconds between two tries at most, and after which a count begins anew
    KEPT = 20_000

    def __init__(self, clock: Callable[[], float] = time.monotonic):
        self._clock = clock
        self._tries: OrderedDict[tuple[str, str], tuple[int, float]] = OrderedDict()
        """(number, when the last began) by (name or nothing, address); the one longest unused first."""

    def begin(self, name: str, address: str) -> int:
        """Count a try and return 0; or return the whole seconds to wait, and count nothing."""
        now, wait, counted = self._clock(), 0.0, {}
        for key, free in zip(_keys(name, address), (self.BY_NAME, self.BY_ADDRESS), strict=True):
            number, last = self._tries.get(key, (0, now))
            number = 0 if now - last > self.FORGET else number
            if number >= free:
                wait = max(wait, last + min(self.LONGEST_WAIT, 2 ** min(number - free + 1, 6)) - now)
            counted[key] = number + 1, now
        if wait > 0:
            return math.ceil(wait)
        for key, tries in counted.items():
            self._tries[key] = tries
            self._tries.move_to_end(key)
        while len(self._tries) > self.KEPT:
            self._tries.popitem(last=False)
        return 0

    def succeed(self, name: str, address: str) -> None:
        """The password was right: the name begins anew at this address, and the address gets its try back."""
        own, shared = _keys(name, address)
        self._tries.pop(own, None)
        if shared in self._tries:
            number, last = self._tries[shared]
            self._tries[shared] = number - 1, last


def _keys(name: str, address: str) -> list[tuple[str, str]]:
    """By name and address, by address; of an IPv6 address the 64 bits that one customer has to themselves."""
    with suppress(ValueError):
        parsed = ip_address(address)
        mapped = getattr(parsed, "ipv4_mapped", None) or parsed
        address = str(mapped if mapped.version == 4 else ip_network((address, 64), strict=False))
    return [(f"name {accounts.stored_name(name[:80])}", address), ("", address)]
