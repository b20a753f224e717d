"""Whose request it is, by its cookies: of an account, of somebody whom a provider has sent, of nobody."""

from collections.abc import Mapping
from dataclasses import dataclass

from audit.annotation.accounts import Account
from audit.annotation.logins import account_of, cookie_key, identity_key, name_behind
from audit.store.soundness import explained
from audit.ui import cookies, database, settings
from audit.ui.provider import claims_of_cookies


@dataclass(frozen=True)
class Visitor:
    """Who sends a request.

    account: whose login the cookies show, read from the database; None where nobody is logged in.
    identity: the key of a provider's signed claims that no login belongs to (yet): a page may look at them.
    former: whether the cookie is that of a login that has ended.
    """

    account: Account | None = None
    identity: bytes | None = None
    former: bool = False

    @property
    def admitted(self) -> bool:
        """Whether pages and what belongs to them are for this visitor."""
        return self.account is not None or self.identity is not None


def visitor(sent: Mapping[str, str]) -> Visitor:
    """The visitor behind the cookies of a request. Raises AuditError where the database cannot be opened or read."""
    with explained(database.where()):
        return _visitor(sent)


def _visitor(sent: Mapping[str, str]) -> Visitor:
    limits, key = settings.limits(), None
    if token := sent.get(cookies.login_name()):
        key = cookie_key(token)
        if account := account_of(database.engine(), key, limits):
            return Visitor(account)
    if claims := claims_of_cookies(sent):
        identity = identity_key(claims)
        account = account_of(database.engine(), identity, limits)
        return Visitor(account) if account else Visitor(identity=identity)
    return Visitor(former=key is not None and name_behind(database.engine(), key) is not None)


def account_behind(sent: Mapping[str, str]) -> Account | None:
    """The account that is logged in by the cookies of a request, by password or by provider; None where nobody is."""
    return visitor(sent).account
