"""The cookies, and where the app lies: names and paths that the HTTP routes and the Streamlit script share."""

import streamlit as st

LANGUAGE = "audit_language"
"""The language that was chosen on the page that logs in."""


def login_name() -> str:
    """The cookie that holds a login's token. Browsers do not tell ports apart, so the name does: apps of two databases
    on one machine do not log each other out."""
    return f"audit_login_{st.get_option('server.port')}"


def form_name() -> str:
    """The cookie that must agree with the hidden field of the form that logs in."""
    return f"audit_form_{st.get_option('server.port')}"


def browser_name() -> str:
    """The cookie by which a browser is known again that has logged in before; it logs nobody in."""
    return f"audit_browser_{st.get_option('server.port')}"


def root() -> str:
    """The path of the app: empty, or `/base` where `server.baseUrlPath` says so."""
    base = str(st.get_option("server.baseUrlPath") or "").strip("/")
    return f"/{base}" if base else ""
