"""Settings of logging in, from the environment: `audit app` sets them, and so can whoever starts Streamlit."""

import os
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from audit.annotation.identity import CLAIM
from audit.annotation.logins import Limits
from audit.errors import AuditError

IDLE = "AUDIT_IDLE_HOURS"
LONGEST = "AUDIT_LOGIN_HOURS"
HTTPS = "AUDIT_HTTPS"
_YEAR = 24 * 366


def limits(environment: Mapping[str, str] | None = None) -> Limits:
    """How long logins last. Raises AuditError for what is no number of hours.

    >>> limits({"AUDIT_IDLE_HOURS": "0.5"})
    Limits(idle=datetime.timedelta(seconds=1800), longest=datetime.timedelta(days=7))
    """
    environment = os.environ if environment is None else environment
    usual = Limits()
    return Limits(
        _hours(environment.get(IDLE), f"--idle-hours ({IDLE})") or usual.idle,
        _hours(environment.get(LONGEST), f"--login-hours ({LONGEST})") or usual.longest,
    )


def only_https(environment: Mapping[str, str] | None = None) -> bool:
    """Whether cookies are for https only, however a request seems to come in."""
    return (os.environ if environment is None else environment).get(HTTPS, "") == "1"


def provider() -> dict[str, Any] | None:
    """The identity provider, from Streamlit's secrets.toml: `claim` and `name`; None where there is no `[auth]`.

    `[auth]` is Streamlit's own section. `[audit]` may name the `claim` that is the account's name (default: `email`)
    and the `provider` of several (`[auth.NAME]`).
    """
    import streamlit as st

    if not st.secrets.load_if_toml_exists() or "auth" not in st.secrets:
        return None
    ours = st.secrets.get("audit", {})
    return {"claim": str(ours.get("claim", CLAIM)), "name": ours.get("provider")}


def _hours(text: str | None, name: str) -> timedelta | None:
    if not text:
        return None
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not 0 < number <= _YEAR:
        raise AuditError(f"{name} is {text[:40]!r}; it must be a number of hours above 0 and at most {_YEAR}")
    return timedelta(hours=number)
