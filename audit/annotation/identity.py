"""From an identity provider's claims to an account: OpenID Connect, as `st.login` reads it.

The provider says who somebody is; which accounts there are, and their roles, is kept here. Nobody gets an account by
logging in.
"""

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Engine, select

from audit.annotation.accounts import Account, is_person
from audit.annotation.logins import Limits, account_of, identity_key, open_login
from audit.errors import NotAllowed
from audit.store import table_of, tables

CLAIM = "email"
"""The claim that names the account, where the setting names none."""


def name_in(claims: Mapping[str, Any], claim: str = CLAIM) -> str:
    """The account's name among the claims of an identity token.

    Raises NotAllowed where the claim is absent or no text, and for an e-mail address that the provider has not
    verified: somebody else may have typed it there.

    >>> name_in({"email": "ann@example.org", "email_verified": True})
    'ann@example.org'
    """
    found = claims.get(claim)
    if not isinstance(found, str) or not found.strip():
        raise NotAllowed(f"the identity provider sent no claim {claim!r}; ask a manager to check the setting")
    if claim == "email" and claims.get("email_verified", True) not in (True, "true"):
        raise NotAllowed(f"the identity provider has not verified the address {found!r}; verify it there first")
    return found.strip()


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
        raise NotAllowed("the identity provider sent no time of issue (the claim 'iat'), so the login cannot expire")
    if issued < (tables.now() - limits.longest).timestamp():
        raise NotAllowed("this login has ended; log in again")
    table = table_of(tables.Annotator)
    query = select(table.c.id, table.c.role).where(table.c.name == name, is_person(table), table.c.disabled.is_(False))
    with engine.connect() as connection:
        row = connection.execute(query).first()
    if row is None:
        raise NotAllowed(f"there is no account {name!r} that may log in; ask a manager for one")
    id, role = row
    try:
        open_login(engine, int(id), key, limits)
    except NotAllowed:
        # Two tabs may come back from the provider at once; the second finds the first one's login, or one that ended.
        if (account := account_of(engine, key, limits)) is None:
            raise
        return account
    return Account(int(id), name, role)
