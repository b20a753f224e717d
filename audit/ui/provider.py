"""Who somebody is according to an identity provider: what `st.login` left in the browser, verified by Streamlit."""

import json
from collections.abc import Mapping
from typing import Any

import streamlit as st
from streamlit.errors import StreamlitAuthError

from audit.errors import AuditError
from audit.ui import settings

COOKIE = "_streamlit_user"
_STREAMLITS = ("is_logged_in", "origin", "tokens")
"""What Streamlit adds to the claims; not all of it is there on every way that the claims take."""


def claims_of(found: Mapping[str, Any]) -> dict[str, Any]:
    """The claims alone.

    >>> claims_of({"email": "ann@example.org", "is_logged_in": True})
    {'email': 'ann@example.org'}
    """
    return {name: value for name, value in found.items() if name not in _STREAMLITS}


def claims_of_session() -> dict[str, Any] | None:
    """The claims of this session of a page; None where nobody came from a provider, or none is set."""
    if settings.provider() is None or not st.user.is_logged_in:
        return None
    return claims_of(st.user.to_dict())


def way_to_provider(name: str | None) -> str:
    """The address that leads to the identity provider of this name (None: the only one), and back to the app.

    Raises AuditError where Authlib is not installed, or a setting in secrets.toml is missing. What `st.login` sends a
    page to; Streamlit has no public function for a server that has no page yet.
    """
    from streamlit.auth_util import validate_auth_credentials
    from streamlit.user_info import generate_login_redirect_url

    name = name or "default"
    try:
        validate_auth_credentials(name)
        return generate_login_redirect_url(name)
    except StreamlitAuthError as problem:
        raise AuditError(" ".join(str(problem).split())) from None


def claims_of_cookies(cookies: Mapping[str, str]) -> dict[str, Any] | None:
    """The claims in the cookies of a request, if their signature is Streamlit's own; else None.

    Streamlit has no public function for this: where it is pinned, a test compares the two ways.
    """
    if COOKIE not in cookies or settings.provider() is None:
        return None
    from streamlit.web.server.starlette.starlette_websocket import _get_signed_cookie_with_chunks

    signed = _get_signed_cookie_with_chunks(dict(cookies), COOKIE)
    if signed is None:
        return None
    found = json.loads(signed)
    return claims_of(found) if found.get("is_logged_in") is True else None
