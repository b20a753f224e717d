"""Checks before Streamlit serves a request: pages send visitors who are not logged in to the login page, and files,
uploads and websockets are served to those who may have them.

Open to all are the login pages, Streamlit's static files and the health check. Downloads depend on the role, uploads
on their size and on an hourly limit per account, websockets on rules of their own (`Sockets`). Everything that this app
does not use is closed. Every answer gets the security headers. The pages have a protection of their own: they read who
is logged in on every run (`audit.ui.session`).
"""

import re
import time
from base64 import b64encode
from collections import Counter, deque
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path
from urllib.parse import urlsplit

from anyio import to_thread
from google.protobuf.message import DecodeError
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from audit.annotation.accounts import (
    ADJUDICATORS,
    Account,
    account_of,
    cookie_key,
    identity_key,
    name_of_login,
    network,
)
from audit.errors import AuditError
from audit.ui import session, settings
from audit.ui.pages import PAGES, page_named
from audit.ui.session import claims_of_cookies
from audit.ui.settings import LARGEST_UPLOAD

# Headers of every answer: the page is shown in no frame, runs no script but the app's own, and sends nothing elsewhere.
#
# Texts are escaped where they are shown (`audit.ui.language`); this is the second defence: were a text taken for HTML,
# the browser would run nothing of it. Streamlit's page asks a host of Google's for pictures of its icons; that is
# refused, since it would tell Google who judges when. Source: W3C, Content Security Policy Level 3.

_INLINE = re.compile(r"<script>(.*?)</script>", re.DOTALL)


@cache
def policy() -> str:
    """The policy for Streamlit's pages.

    `unsafe-eval` is Vega's, which compiles the expressions of charts; `blob:` is how Streamlit loads `held_keys.js`.
    The hashes are of the scripts in the page of the installed Streamlit.
    """
    import streamlit

    page = (Path(streamlit.__file__).parent / "static" / "index.html").read_text(encoding="utf-8")
    hashes = " ".join(
        f"'sha256-{b64encode(sha256(script.encode()).digest()).decode()}'" for script in _INLINE.findall(page)
    )
    return (
        f"default-src 'self'; script-src 'self' blob: 'unsafe-eval' {hashes}; style-src 'self' 'unsafe-inline'; "
        "img-src 'self' data: blob:; font-src 'self' data:; connect-src 'self' data: blob:; worker-src 'self' blob:; "
        "object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
    )


def with_security_headers(send: Send, **others: str) -> Send:
    """Wraps `send`: answers get these headers, where they have none of their own, and the `others` in any case."""

    async def to_browser(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            headers.setdefault("Content-Security-Policy", policy())
            headers.setdefault("X-Frame-Options", "DENY")
            headers.setdefault("X-Content-Type-Options", "nosniff")
            headers.setdefault("Referrer-Policy", "same-origin")
            headers.update({name.replace("_", "-"): value for name, value in others.items()})
        await send(message)

    return to_browser


# Who sends a request, by its cookies: an account, somebody from a provider who has no account here, or nobody.


@dataclass(frozen=True)
class Visitor:
    """The sender of a request.

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


def visitor_of(cookies: Mapping[str, str]) -> Visitor:
    """The visitor behind the cookies of a request. Raises AuditError where the database cannot be opened or read."""
    limits, key = settings.login_limits(), None
    if token := cookies.get(settings.login_cookie_name()):
        key = cookie_key(token)
        if account := account_of(session.engine(), key, limits):
            return Visitor(account)
    if claims := claims_of_cookies(cookies):
        identity = identity_key(claims)
        account = account_of(session.engine(), identity, limits)
        return Visitor(account) if account else Visitor(identity=identity)
    return Visitor(former=key is not None and name_of_login(session.engine(), key) is not None)


def account_behind(cookies: Mapping[str, str]) -> Account | None:
    """The account that is logged in by the cookies of a request, by password or by provider; None where nobody is."""
    return visitor_of(cookies).account


# The websocket of Streamlit's pages: who may open one, how many, and which messages are passed on.
#
# Streamlit opens a session for whoever connects, from any port of localhost, and obeys messages that clear the caches
# of all. Here a connection needs a login and the page's own origin; connections are limited per account, per address
# and in all; and only those messages pass that the app's own pages send.
#
# A connection is refused before it is accepted, which the browser hears as 403. Somebody whose login has ended is
# sent to the page that logs in, since their browser would go on connecting for ever.

READERS = ADJUDICATORS
"""Roles that may fetch downloads; the pages of annotators have none."""
UPLOADERS = ("manager",)
"""Roles whose pages take files."""
LARGEST_MESSAGE = 2 << 20
"""Bytes of a message from a browser: the state of all widgets of a page is in it."""
NORMAL, UNSUITED, TOO_LARGE = 1000, 1003, 1009
"""Close codes of a websocket (RFC 6455, section 7.4.1)."""
_REFUSED = {"type": "websocket.close", "code": 1008}
_MESSAGES_OF_ALL = ("rerun_script", "stop_script", "app_heartbeat")
_READERS_OPERATIONS = ("deferred_file", "dataframe_chunk")


@dataclass(frozen=True)
class ConnectionLimits:
    """Connections open at once: per account, per address (a whole team may share one), and in all."""

    account: int = 24
    address: int = 400
    all: int = 1_000

    @classmethod
    def for_open_files(cls, files: int) -> "ConnectionLimits":
        """The limits for this number of open files: a page takes up to seven, and keeps them for two minutes after it
        was closed.

        >>> ConnectionLimits.for_open_files(1_024).all, ConnectionLimits.for_open_files(65_536).all
        (64, 1000)
        """
        return cls(all=min(cls.all, max(24, files // 16)))


class Sockets:
    """The open connections. For one event loop."""

    def __init__(self, limits: ConnectionLimits | None = None):
        self.limits = limits or ConnectionLimits()
        self._open: Counter[tuple[str, object]] = Counter()

    async def serve(self, app: ASGIApp, scope: Scope, receive: Receive, send: Send, visitor: Visitor) -> None:
        """Let Streamlit serve a connection, or refuse it."""
        if not from_own_page(Headers(scope=scope)):
            return await send(_REFUSED)
        if visitor.former:
            return await _redirect_to_login(receive, send)
        if not visitor.admitted:
            return await send(_REFUSED)
        address = scope["client"][0] if scope.get("client") else ""
        account_key = visitor.account.id if visitor.account else visitor.identity
        limits: dict[tuple[str, object], int] = {
            ("all", ""): self.limits.all,
            ("address", network(address)): self.limits.address,
            ("account", account_key): self.limits.account,
        }
        if any(self._open[place] >= limit for place, limit in limits.items()):
            return await send(_REFUSED)
        self._open.update(limits.keys())
        try:
            await _serve(app, scope, receive, send, visitor)
        finally:
            self._open.subtract(limits.keys())
            self._open += Counter()  # forgets those that have none open


def from_own_page(headers: Headers) -> bool:
    """Whether the Origin that a browser names is the host that it connects to, port included.

    >>> from_own_page(Headers({"host": "localhost:8501", "origin": "http://localhost:8502"}))
    False
    """
    origin, host = headers.get("origin"), headers.get("host")
    if not origin or not host:
        return False
    try:
        return urlsplit(origin).netloc.lower() == host.lower()
    except ValueError:  # an address that is none
        return False


def is_allowed_message(message: BackMsg, role: str | None) -> bool:
    """Whether the app's own pages send this message for an account of this role (None: no account).

    >>> is_allowed_message(BackMsg(clear_cache=True), "manager"), is_allowed_message(BackMsg(stop_script=True), None)
    (False, True)
    """
    kind = message.WhichOneof("type")
    if kind == "file_urls_request":
        return role in UPLOADERS
    if kind == "backend_operation_request":
        return role in READERS and message.backend_operation_request.WhichOneof("payload") in _READERS_OPERATIONS
    return kind in _MESSAGES_OF_ALL


async def _serve(app: ASGIApp, scope: Scope, receive: Receive, send: Send, visitor: Visitor) -> None:
    role, ended = visitor.account.role if visitor.account else None, False

    async def end(code: int) -> Message:
        nonlocal ended
        ended = True
        await send({"type": "websocket.close", "code": code})
        return {"type": "websocket.disconnect", "code": code}

    async def from_browser() -> Message:
        while True:
            message = await receive()
            if message["type"] != "websocket.receive":
                return message
            content = message.get("bytes")
            if content is None:  # Streamlit's pages send no text
                return await end(UNSUITED)
            if len(content) > LARGEST_MESSAGE:
                return await end(TOO_LARGE)
            try:
                request = BackMsg.FromString(content)
            except DecodeError:
                return await end(UNSUITED)
            if is_allowed_message(request, role):
                return message

    async def to_browser(message: Message) -> None:
        if not ended:
            await send(message)

    await app(scope, from_browser, to_browser)


async def _redirect_to_login(receive: Receive, send: Send) -> None:
    """Send the page to the login page, by the message that Streamlit has for it."""
    await receive()
    redirect = ForwardMsg()
    redirect.auth_redirect.url = f"{settings.root()}/login"
    await send({"type": "websocket.accept", "subprotocol": "streamlit"})
    await send({"type": "websocket.send", "bytes": redirect.SerializeToString()})
    await send({"type": "websocket.close", "code": NORMAL})


OPEN = ("static", "login", "logout", "password", "join", "auth", "oauth2callback", "_stcore/health", "api")
"""First parts of paths that are open to all: files of Streamlit's page, the login routes, the provider's callback; the
API, which looks at tokens itself and at no cookie."""
_BEHIND_PAGES = ("_stcore/host-config", "_stcore/bidi-components", "component")
_FILES, _UPLOADS = "media", "_stcore/upload_file"
_CLOSED = ("_stcore", "app")
"""Everything else that Streamlit serves: metrics, an interface for agents, files beside the script."""
HOURLY = 64 << 20
"""Bytes that one account may upload within an hour."""
_FRAMING = 1 << 16
"""Bytes of an upload beside those of its file."""


class Gate:
    """ASGI middleware before Streamlit's."""

    def __init__(self, app: ASGIApp, sockets: Sockets | None = None):
        self._app = app
        self._sockets = sockets or Sockets()
        self._rations: dict[int, deque[tuple[float, int]]] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            await self._sockets.serve(self._app, scope, receive, send, await _visitor(scope))
        elif scope["type"] == "http":
            await self._http(scope, receive, send)
        else:
            await self._app(scope, receive, send)

    async def _http(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope)
        path = _path(request)
        answer, others = None, {}
        if _is_below(path, *OPEN):
            pass
        elif _is_below(path, _FILES):
            answer = _refuse_others(await _visitor(scope), READERS)
        elif _is_below(path, _UPLOADS):
            answer = self._upload(request, await _visitor(scope))
        elif _is_below(path, *_BEHIND_PAGES):
            sender = await _visitor(scope)
            answer = None if sender.admitted or sender.former else _refused(403)
        elif _is_below(path, *_CLOSED):
            answer = _refused(404)
        elif _is_page(request):
            answer = await _page_answer(request, path)
            others["Cache_Control"] = "no-store"  # so that the back button asks again after logging out
        await (answer or self._app)(scope, receive, with_security_headers(send, **others))

    def _upload(self, request: Request, sender: Visitor) -> Response | None:
        """A refusal of an upload, or None. Streamlit refuses uploads that are longer than their header says."""
        if refused := _refuse_others(sender, UPLOADERS):
            return refused
        if request.method != "PUT" or sender.account is None:
            return None
        length = request.headers.get("content-length", "")
        if not (length.isascii() and length.isdecimal()):
            return _refused(411)
        size, now = int(length[:20]), time.monotonic()
        ration = self._rations.setdefault(sender.account.id, deque())
        while ration and ration[0][0] < now - 3600:
            ration.popleft()
        if size > (LARGEST_UPLOAD << 20) + _FRAMING or sum(size for _, size in ration) + size > HOURLY:
            return _refused(413)
        ration.append((now, size))
        return None


_REASONS = {
    403: "This is not for your account, or you are not logged in.",
    404: "There is nothing here.",
    411: "Say how long the file is (Content-Length).",
    413: f"The file is too large (at most {LARGEST_UPLOAD} MB), or too much was uploaded within an hour.",
}


def _refused(status: int) -> Response:
    return PlainTextResponse(f"{_REASONS[status]}\n", status)


def _refuse_others(sender: Visitor, roles: tuple[str, ...]) -> Response | None:
    return None if sender.account is not None and sender.account.role in roles else _refused(403)


async def _visitor(scope: Scope) -> Visitor:
    """The sender of a request; an unknown visitor where the database cannot be read."""
    try:
        return await to_thread.run_sync(visitor_of, Request({**scope, "type": "http"}).cookies)
    except AuditError:
        return Visitor()


async def _page_answer(request: Request, name: str) -> Response | None:
    """A redirect in place of a page, or None. The login page says what is wrong with the database."""
    sender = await _visitor(request.scope)
    if sender.account is not None and any(page.name == name and page.home == sender.account.role for page in PAGES):
        # Streamlit knows the first page by no name of its own, and would say that there is none.
        query = f"?{request.url.query}" if request.url.query else ""
        return RedirectResponse(f"{settings.root()}/{query}", 303)
    if sender.admitted:
        return None
    query = f"?next={page}" if (page := page_named(name)) else ""
    return RedirectResponse(f"{settings.root()}/login{query}", 303)


def _path(request: Request) -> str:
    """The path below the app's root."""
    return request.url.path.removeprefix(f"{settings.root()}/").strip("/")


def _is_below(path: str, *places: str) -> bool:
    return any(path == place or path.startswith(f"{place}/") for place in places)


def _is_page(request: Request) -> bool:
    return request.method in ("GET", "HEAD") and "text/html" in request.headers.get("accept", "")
