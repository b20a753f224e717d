"""Passwords: hashed with Argon2id, and checked in the same time whoever is asked about."""

from functools import cache
from typing import Any

from audit.errors import AuditError

SHORTEST = 8
LONGEST = 1_000
"""Characters: hashing a megabyte would keep the server busy."""


def hashed(password: str) -> str:
    """The Argon2id hash that is stored. Raises AuditError for a password that is too short, too long or no text."""
    if len(password) < SHORTEST:
        raise AuditError(f"the password has {len(password)} characters, at least {SHORTEST} are needed")
    if len(password) > LONGEST:
        raise AuditError(f"the password has {len(password)} characters, at most {LONGEST} are allowed")
    if not _is_text(password):
        raise AuditError("the password has bytes that are no UTF-8; type it anew")
    return str(_hasher().hash(password))


def matches(password: str, stored: str | None) -> bool:
    """Whether this is the password of the stored hash; None: of an account that has none, or that does not exist.

    One hash is computed in every case, so that the time taken does not tell which names exist.
    """
    decoy = _decoy()  # made on the first call, whoever that is about
    usable = stored is not None and len(password) <= LONGEST and _is_text(password)
    given = password if usable else "no such password"
    right = bool(_hasher().verify(given, stored if usable else decoy))
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
