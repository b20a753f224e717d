"""What is looked at before Streamlit serves a request: pages send strangers to log in, downloads are not for everybody.

This spares people an empty page, and keeps files of managers from those who come by their address. It is not what
protects the pages: those ask who is logged in on every run (`audit.ui.session`). Every answer gets the headers of
`audit.ui.headers` on its way.
"""

from anyio import to_thread
from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from audit.errors import AuditError
from audit.ui import cookies, settings
from audit.ui.doors import account_behind, place_named
from audit.ui.headers import guarded
from audit.ui.places import PLACES
from audit.ui.provider import COOKIE

READERS = ("adjudicator", "manager")
"""Who may fetch files that pages offer for download; annotators are offered none."""
_FILES = "media"
_STREAMLITS = ("_stcore", "static", "component", "app", "auth", "oauth2callback", "login", "logout", "password")
"""First parts of paths that are no page: Streamlit's own, which hold nothing of ours, and those of `audit.ui.doors`."""


class Gate:
    """ASGI middleware before Streamlit's."""

    def __init__(self, app: ASGIApp):
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        send = guarded(send)
        request = Request(scope)
        first = _first_part(request)
        if first == _FILES:
            answer = await _files(request)
        elif _is_page(request, first):
            answer = await _pages(request, first)
            send = _unkept(send)
        else:
            answer = None
        await (answer or self._app)(scope, receive, send)


async def _files(request: Request) -> Response | None:
    """The answer in the place of a file, or None."""
    try:
        account = await to_thread.run_sync(account_behind, request.cookies)
    except AuditError:
        account = None
    if account is not None and account.role in READERS:
        return None
    return PlainTextResponse("This file is not for your account, or you are not logged in.\n", 403)


async def _pages(request: Request, name: str) -> Response | None:
    """The answer in the place of a page, or None."""
    try:
        account = await to_thread.run_sync(account_behind, request.cookies)
    except AuditError:
        return None  # the page itself says what is wrong with the database
    if account is not None and any(place.name == name and place.home == account.role for place in PLACES):
        # Streamlit knows the first page by no name of its own, and would say that there is none.
        asked = f"?{request.url.query}" if request.url.query else ""
        return RedirectResponse(f"{cookies.root()}/{asked}", 303)
    if account is not None or _goes_to_the_provider(request):
        return None
    asked = f"?next={place}" if (place := place_named(name)) else ""
    return RedirectResponse(f"{cookies.root()}/login{asked}", 303)


def _first_part(request: Request) -> str:
    path = request.url.path
    root = cookies.root()
    if path.startswith(f"{root}/"):
        path = path[len(root) :]
    return path.strip("/").partition("/")[0]


def _is_page(request: Request, first: str) -> bool:
    wants = "text/html" in request.headers.get("accept", "")
    return first not in _STREAMLITS and request.method in ("GET", "HEAD") and wants


def _unkept(send: Send) -> Send:
    """Pages are not kept by the browser: after logging out, the back button asks again."""

    async def to_browser(message: Message) -> None:
        if message["type"] == "http.response.start":
            MutableHeaders(scope=message)["Cache-Control"] = "no-store"
        await send(message)

    return to_browser


def _goes_to_the_provider(request: Request) -> bool:
    """Whether somebody is on the way to an identity provider or back: the page knows what to do then."""
    return settings.provider() is not None and ("sso" in request.query_params or COOKIE in request.cookies)
