"""The gate before Streamlit: without a login it serves the pages that log in, static files and the health check.

It is plain ASGI, since Starlette's BaseHTTPMiddleware does not see websockets. Streamlit opens a session for whoever
connects from any port of localhost, and obeys messages that clear everybody's caches: here a connection needs a login
and the page's own origin, and only messages that the app's own pages send get through. The pages read who is logged in
on every run themselves (`audit.ui.session`).
"""

from collections.abc import Mapping
from urllib.parse import urlsplit

from anyio import CapacityLimiter, to_thread
from google.protobuf.message import DecodeError
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from audit.api import PATH
from audit.errors import AuditError
from audit.judging.accounts import ADJUDICATORS, Account
from audit.judging.sign_in import LOGIN, account_of, unsign
from audit.ui import session, settings
from audit.ui.pages import PAGES, page_named

OPEN = ("static", "login", "logout", "join", "auth", "oauth2callback")
"""First parts of paths that are open to all: Streamlit's static files, the pages that log in, the identity provider's
callback."""
HEALTH = "_stcore/health"
_API = PATH.strip("/") + "/"
"""Below it the API reads a token itself, and no cookie."""
_STREAMLIT = ("_stcore", "app", "media")
"""First parts of Streamlit's own paths, closed but for these:"""
_ROLES = {
    "_stcore/stream": None,
    "_stcore/host-config": None,
    "_stcore/bidi-components": None,
    "_stcore/upload_file": ("manager",),
    "media": ADJUDICATORS,
}
"""Who may use what of it; None: every account. Pages of annotators have no downloads."""
FORM, LARGEST_BODY = 16 << 10, (settings.LARGEST_UPLOAD << 20) + (1 << 20)
"""Bytes of a request: of a form; of an upload and of texts that are sent to the API."""
_NORMAL, _UNSUITED, _REFUSED = 1000, 1003, 1008
"""Close codes of a websocket (RFC 6455, section 7.4.1)."""
_LOOKUPS = CapacityLimiter(8)
"""A pool of its own: slow requests of the API do not keep anybody out."""
_READERS_OPERATIONS = ("deferred_file", "dataframe_chunk")
POLICY = (
    "default-src 'self'; script-src 'self' blob: 'unsafe-eval'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data: blob:; font-src 'self' data:; connect-src 'self' data: blob:; worker-src 'self' blob:; "
    "object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
"""The second defence after escaping: were a text taken for HTML, the browser would run nothing of it, and send nothing
elsewhere. `unsafe-eval` is Vega's, which compiles the expressions of charts; `blob:` is how Streamlit loads
`held_keys.js`."""


def account_behind(cookies: Mapping[str, str]) -> Account | None:
    """Return the account that a request's cookies log in; None also where the database cannot be read, of which the
    login page tells."""
    try:
        return account_of(session.engine(), cookies.get(settings.login_cookie_name()))
    except AuditError:
        return None


def was_logged_in(cookies: Mapping[str, str]) -> bool:
    """Return whether a request's cookies have a login that was real, though it may have ended."""
    try:
        return unsign(session.engine(), LOGIN, cookies.get(settings.login_cookie_name())) is not None
    except AuditError:
        return False


def from_own_page(headers: Headers) -> bool:
    """Return whether the Origin that a browser names is the host that it connects to, port included.

    >>> from_own_page(Headers({"host": "localhost:8501", "origin": "http://localhost:8502"}))
    False
    """
    origin, host = headers.get("origin"), headers.get("host")
    try:
        return bool(origin and host) and urlsplit(origin).netloc.lower() == str(host).lower()
    except ValueError:  # no address
        return False


class Gate:
    """ASGI middleware."""

    def __init__(self, app: ASGIApp):
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            return await self._app(scope, receive, send)
        request = Request({**scope, "type": "http"})
        if scope["type"] == "websocket":
            return await self._socket(request, scope, receive, send)
        answer = _too_large(request) or await _refusal(request)
        private = "text/html" in request.headers.get("accept", "") or _path(request).startswith(_API)
        await (answer or self._app)(scope, receive, _with_headers(send, no_store=private))

    async def _socket(self, request: Request, scope: Scope, receive: Receive, send: Send) -> None:
        account = await _account(request)
        if not from_own_page(request.headers):
            await send({"type": "websocket.close", "code": _REFUSED})  # not accepted, which the browser hears as 403
        elif account is not None:
            await self._app(scope, _only_own_messages(receive, account.role), send)
        elif await to_thread.run_sync(was_logged_in, request.cookies, limiter=_LOOKUPS):
            await _send_to_login(receive, send)
        else:
            await send({"type": "websocket.close", "code": _REFUSED})


def _path(request: Request) -> str:
    return request.url.path.removeprefix(f"{settings.root()}/").strip("/")


async def _account(request: Request) -> Account | None:
    return await to_thread.run_sync(account_behind, request.cookies, limiter=_LOOKUPS)


async def _refusal(request: Request) -> Response | None:
    """Return what is answered in place of what was asked for; None: Streamlit answers."""
    path = _path(request)
    first = path.partition("/")[0]
    if first in OPEN or path == HEALTH or path.startswith(_API):
        return None
    account = await _account(request)
    if account is None:
        if first in _STREAMLIT or "text/html" not in request.headers.get("accept", ""):
            return PlainTextResponse("You are not logged in.\n", 403)
        query = f"?next={page}" if (page := page_named(path)) else ""
        return RedirectResponse(f"{settings.root()}/login{query}", 303)
    if first in _STREAMLIT:
        place = next((place for place in _ROLES if path == place or path.startswith(f"{place}/")), None)
        if place is None:
            return PlainTextResponse("There is nothing here.\n", 404)
        roles = _ROLES[place]
        refused = roles is not None and account.role not in roles
        return PlainTextResponse("This is not for your account.\n", 403) if refused else None
    if any(page.name == path and page.home == account.role for page in PAGES):
        # Streamlit knows the first page by no name of its own, and would say that there is none.
        query = f"?{request.url.query}" if request.url.query else ""
        return RedirectResponse(f"{settings.root()}/{query}", 303)
    return None


def _too_large(request: Request) -> Response | None:
    """Return a refusal of a body that is longer than its path takes, before any of it is read."""
    if request.method in ("GET", "HEAD", "OPTIONS"):
        return None
    length = request.headers.get("content-length", "0")
    if "transfer-encoding" in request.headers or not (length.isascii() and length.isdecimal()):
        return PlainTextResponse("Say how long the body is (Content-Length).\n", 411)
    most = LARGEST_BODY if _path(request).startswith(("_stcore/", _API)) else FORM
    return PlainTextResponse(f"The request has more than {most:,} bytes.\n", 413) if int(length[:20]) > most else None


def _with_headers(send: Send, no_store: bool) -> Send:
    """Wrap `send`: answers get the security headers, where they have none of their own; the back button asks for pages
    again after logging out."""

    async def to_browser(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            headers.setdefault("Content-Security-Policy", POLICY)
            headers.setdefault("X-Frame-Options", "DENY")
            headers.setdefault("X-Content-Type-Options", "nosniff")
            headers.setdefault("Referrer-Policy", "same-origin")
            if no_store:
                headers["Cache-Control"] = "no-store"
        await send(message)

    return to_browser


# Websockets.


def is_allowed_message(message: BackMsg, role: str) -> bool:
    """Return whether the app's own pages send this message for an account of this role.

    >>> is_allowed_message(BackMsg(clear_cache=True), "manager"), is_allowed_message(BackMsg(stop_script=True), "")
    (False, True)
    """
    kind = message.WhichOneof("type")
    if kind == "file_urls_request":
        return role == "manager"
    if kind == "backend_operation_request":
        operation = message.backend_operation_request.WhichOneof("payload")
        return role in ADJUDICATORS and operation in _READERS_OPERATIONS
    return kind in ("rerun_script", "stop_script", "app_heartbeat")


def _only_own_messages(receive: Receive, role: str) -> Receive:
    """Wrap `receive`: messages of other kinds are dropped, and what is no message ends the connection."""

    async def from_browser() -> Message:
        while True:
            message = await receive()
            if message["type"] != "websocket.receive":
                return message
            try:
                if is_allowed_message(BackMsg.FromString(message.get("bytes") or b"\0"), role):
                    return message
            except DecodeError:
                return {"type": "websocket.disconnect", "code": _UNSUITED}

    return from_browser


async def _send_to_login(receive: Receive, send: Send) -> None:
    """Send a page whose login has ended to the login page, by Streamlit's message for it: it would go on connecting for
    ever."""
    await receive()
    redirect = ForwardMsg()
    redirect.auth_redirect.url = f"{settings.root()}/login"
    await send({"type": "websocket.accept", "subprotocol": "streamlit"})
    await send({"type": "websocket.send", "bytes": redirect.SerializeToString()})
    await send({"type": "websocket.close", "code": _NORMAL})
