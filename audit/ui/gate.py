"""What is looked at before Streamlit serves a request: pages send strangers to log in, downloads are not for everybody.

This spares people an empty page, and keeps files of managers from those who come by their address. It is not what
protects the pages: those ask who is logged in on every run (`audit.ui.session`).
"""

from anyio import to_thread
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from audit.errors import AuditError
from audit.ui import cookies, settings
from audit.ui.doors import account_behind, place_named
from audit.ui.provider import COOKIE

READERS = ("adjudicator", "manager")
"""Who may fetch files that pages offer for download; annotators are offered none."""
_FILES = "media"
_STREAMLITS = ("_stcore", "static", "component", "app", "auth", "oauth2callback", "login", "logout")
"""First parts of paths that are no page: Streamlit's own, which hold nothing of ours, and those of `audit.ui.doors`."""


class Gate:
    """ASGI middleware before Streamlit's."""

    def __init__(self, app: ASGIApp):
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        answer = await _stopped(Request(scope)) if scope["type"] == "http" else None
        await (answer or self._app)(scope, receive, send)


async def _stopped(request: Request) -> Response | None:
    """The answer in the place of Streamlit's, or None."""
    path = request.url.path.removeprefix(cookies.root()).strip("/")
    first = path.partition("/")[0]
    is_page = request.method in ("GET", "HEAD") and "text/html" in request.headers.get("accept", "")
    if first != _FILES and (first in _STREAMLITS or not is_page):
        return None
    try:
        account = await to_thread.run_sync(account_behind, request.cookies)
    except AuditError:
        # The page itself says what is wrong with the database; files are not served meanwhile.
        return _refused() if first == _FILES else None
    if first == _FILES:
        return None if account is not None and account.role in READERS else _refused()
    if account is not None or _goes_to_the_provider(request):
        return None
    asked = f"?next={name}" if (name := place_named(path)) else ""
    return RedirectResponse(f"{cookies.root()}/login{asked}", 303, {"Cache-Control": "no-store"})


def _goes_to_the_provider(request: Request) -> bool:
    """Whether somebody is on the way to an identity provider or back: the page knows what to do then."""
    return settings.provider() is not None and ("sso" in request.query_params or COOKIE in request.cookies)


def _refused() -> Response:
    return PlainTextResponse("This file is not for your account, or you are not logged in.\n", 403)
