"""Settings of the app: logins, from the environment; Streamlit's own options; cookies and paths."""

import os
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import streamlit as st

from audit.errors import AuditError
from audit.judging.sign_in import CLAIM, LOGIN_LASTS
from audit.messages import message

LOGIN_HOURS = "AUDIT_LOGIN_HOURS"
HTTPS = "AUDIT_HTTPS"
_YEAR = 24 * 366


def login_lasts(environment: Mapping[str, str] | None = None) -> timedelta:
    """Return how long a login lasts. Raises AuditError for anything but a number of hours.

    >>> login_lasts({"AUDIT_LOGIN_HOURS": "0.5"})
    datetime.timedelta(seconds=1800)
    """
    text = (os.environ if environment is None else environment).get(LOGIN_HOURS)
    if not text:
        return LOGIN_LASTS
    try:
        hours = float(text)
    except ValueError:
        hours = 0.0
    if not 0 < hours <= _YEAR:
        raise AuditError(message("settings.bad_hours", variable=LOGIN_HOURS, text=text[:40], most=_YEAR))
    return timedelta(hours=hours)


def only_https(environment: Mapping[str, str] | None = None) -> bool:
    """Whether cookies are for https only, whatever scheme a request seems to have."""
    return (os.environ if environment is None else environment).get(HTTPS, "") == "1"


def provider_settings() -> dict[str, Any] | None:
    """The identity provider, from Streamlit's secrets.toml: `claim` and `name`; None where there is no `[auth]`.

    `[auth]` is Streamlit's own section. `[audit]` may name the `claim` that is the account's name (default: `email`)
    and the `provider` of several (`[auth.NAME]`).
    """
    if not st.secrets.load_if_toml_exists() or "auth" not in st.secrets:
        return None
    own_section = st.secrets.get("audit", {})
    return {"claim": str(own_section.get("claim", CLAIM)), "name": own_section.get("provider")}


# Streamlit's settings for this app: what `audit app` passes to `streamlit run`.

LARGEST_UPLOAD = 5
"""Largest file for upload, in MB."""
FLAGS: dict[str, str] = {
    # Streamlit collects garbage after every rerun otherwise: 100 ms of a core for each answer (hidden option).
    "runner.postScriptGC": "false",
    "server.headless": "true",
    "server.fileWatcherType": "none",
    "browser.gatherUsageStats": "false",
    "client.toolbarMode": "minimal",
    # Tracebacks belong in the server's log, not on an annotator's screen.
    "client.showErrorDetails": "none",
    # Streamlit's own limits are 200 MB for files and messages, 25 MB for the state of a page's widgets.
    "server.maxUploadSize": str(LARGEST_UPLOAD),
    "server.maxMessageSize": "10",
    "server.maxWidgetStateSize": "2",
    "theme.light.primaryColor": "#0b6b74",
    "theme.dark.primaryColor": "#4db4bd",
}


def arguments(port: int) -> list[str]:
    """The arguments after `streamlit run app.py`.

    >>> arguments(8501)[:4]
    ['--server.port', '8501', '--runner.postScriptGC', 'false']
    """
    return [part for name, value in {"server.port": str(port), **FLAGS}.items() for part in (f"--{name}", value)]


# Names of cookies and the app's root path, shared by the HTTP routes and the Streamlit script.

LANGUAGE = "audit_language"
"""The cookie of the language that was chosen on the login page."""


def login_cookie_name() -> str:
    """Return the name of the cookie that holds a login. Browsers do not tell ports apart, so the name does: apps of two
    databases on one machine do not log each other out."""
    return f"audit_login_{st.get_option('server.port')}"


def root() -> str:
    """The path of the app: empty, or `/base` where `server.baseUrlPath` says so."""
    base = str(st.get_option("server.baseUrlPath") or "").strip("/")
    return f"/{base}" if base else ""
