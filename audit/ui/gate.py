"""What is looked at before Streamlit serves anything: pages send strangers to log in, and what belongs to pages is for
those who may see them.

Open to all are the pages that log in, Streamlit's static files and the answer that the server is well. Files to
download are not for everybody, uploads have a size and a ration, websockets have rules of their own
(`audit.ui.gate`), and what this app has no use for is closed. Every answer gets the headers of `audit.ui.gate`.
This is not all that protects the pages: those ask who is logged in on every run (`audit.ui.session`).
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

from audit.annotation.accounts import Account, account_of, cookie_key, identity_key, name_of_login, network
from audit.errors import AuditError
from audit.store.soundness import explained
from audit.ui import session, settings
from audit.ui.places import PLACES, place_named
from audit.ui.session import claims_of_cookies
from audit.ui.settings import LARGEST_UPLOAD

# What every answer of the server tells the browser: in no frame, no script but the app's own, nothing sent elsewhere.
#
# Texts are escaped where they are shown (`audit.ui.language`); this stands behind it: were a text taken for HTML one
# day, the browser would run nothing of it. Streamlit's page asks a host of Google's for pictures of its icons; that is
# refused: who judges when is nobody else's business. Source: W3C, Content Security Policy Level 3.

_INLINE = re.compile(r"<script>(.*?)</script>", re.DOTALL)


@cache
def policy() -> str:
    """The policy for Streamlit's pages.

    `unsafe-eval` is Vega's, which compiles the expressions of charts; `blob:` is how Streamlit loads `held_keys.js`.
    The sums are those of the scripts in Streamlit's own page, worked out from the installed one.
    """
    import streamlit

    page = (Path(streamlit.__file__).parent / "static" / "index.html").read_text(encoding="utf-8")
    sums = " ".join(f"'sha256-{b64encode(sha256(one.encode()).digest()).decode()}'" for one in _INLINE.findall(page))
    return (
        f"default-src 'self'; script-src 'self' blob: 'unsafe-eval' {sums}; style-src 'self' 'unsafe-inline'; "
        "img-src 'self' data: blob:; font-src 'self' data:; connect-src 'self' data: blob:; worker-src 'self' blob:; "
        "object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
    )


def guarded(send: Send) -> Send:
    """Answers with these headers, where they have none of their own."""

    async def to_browser(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            headers.setdefault("Content-Security-Policy", policy())
            headers.setdefault("X-Frame-Options", "DENY")
            headers.setdefault("X-Content-Type-Options", "nosniff")
            headers.setdefault("Referrer-Policy", "same-origin")
        await send(message)

    return to_browser


# Whose request it is, by its cookies: of an account, of somebody whom a provider has sent, of nobody.


@dataclass(frozen=True)
class Visitor:
    """Who sends a request.

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


def visitor(sent: Mapping[str, str]) -> Visitor:
    """The visitor behind the cookies of a request. Raises AuditError where the database cannot be opened or read."""
    with explained(session.where()):
        return _read_visitor(sent)


def _read_visitor(sent: Mapping[str, str]) -> Visitor:
    limits, key = settings.login_limits(), None
    if token := sent.get(settings.login_name()):
        key = cookie_key(token)
        if account := account_of(session.engine(), key, limits):
            return Visitor(account)
    if claims := claims_of_cookies(sent):
        identity = identity_key(claims)
        account = account_of(session.engine(), identity, limits)
        return Visitor(account) if account else Visitor(identity=identity)
    return Visitor(former=key is not None and name_of_login(session.engine(), key) is not None)


def account_behind(sent: Mapping[str, str]) -> Account | None:
    """The account that is logged in by the cookies of a request, by password or by provider; None where nobody is."""
    return visitor(sent).account


# The websocket that Streamlit's pages live on: who may open one, how many, and what is obeyed that comes over it.
#
# Streamlit opens a session for whoever connects, from any port of localhost, and obeys messages that clear the caches
# of
# all. Here a connection needs a login and the page's own origin; each account, each address and the server have a
# number of connections; and messages pass that the app's pages send, none else.
#
# A connection is refused before it is accepted, which the browser hears as 403. Somebody whose login has ended is
# sent to the page that logs in, since their browser would go on connecting for ever.

READERS = ("adjudicator", "manager")
"""Who may fetch files that pages offer for download; annotators are offered none."""
UPLOADERS = ("manager",)
"""Who has pages that take files."""
LARGEST_MESSAGE = 2 << 20
"""Bytes of a message from a browser: the state of all widgets of a page is in it."""
NORMAL, UNSUITED, TOO_LARGE = 1000, 1003, 1009
"""Codes with which a connection ends (RFC 6455, section 7.4.1)."""
_REFUSED = {"type": "websocket.close", "code": 1008}
_EVERYBODYS = ("rerun_script", "stop_script", "app_heartbeat")
_READERS_OPERATIONS = ("deferred_file", "dataframe_chunk")


@dataclass(frozen=True)
class Most:
    """Connections open at once: of an account, of an address (a whole team may share one), of all."""

    account: int = 24
    address: int = 400
    all: int = 1_000

    @classmethod
    def within(cls, files: int) -> "Most":
        """As many as this number of open files has room for: a page takes up to seven, and two minutes longer than it
        is open.

        >>> Most.within(1_024).all, Most.within(65_536).all
        (64, 1000)
        """
        return cls(all=min(cls.all, max(24, files // 16)))


class Sockets:
    """The connections that are open. For one event loop."""

    def __init__(self, most: Most | None = None):
        self.most = most or Most()
        self._open: Counter[tuple[str, object]] = Counter()

    async def serve(self, app: ASGIApp, scope: Scope, receive: Receive, send: Send, visitor: Visitor) -> None:
        """Let Streamlit serve a connection, or refuse it."""
        if not from_own_page(Headers(scope=scope)):
            return await send(_REFUSED)
        if visitor.former:
            return await _send_away(receive, send)
        if not visitor.admitted:
            return await send(_REFUSED)
        address = scope["client"][0] if scope.get("client") else ""
        whose = visitor.account.id if visitor.account else visitor.identity
        places: dict[tuple[str, object], int] = {
            ("all", ""): self.most.all,
            ("address", network(address)): self.most.address,
            ("account", whose): self.most.account,
        }
        if any(self._open[place] >= most for place, most in places.items()):
            return await send(_REFUSED)
        self._open.update(places.keys())
        try:
            await _serve(app, scope, receive, send, visitor)
        finally:
            self._open.subtract(places.keys())
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


def obeyed(message: BackMsg, role: str | None) -> bool:
    """Whether a page of ours sends this for somebody of this role (None: nobody's account).

    >>> obeyed(BackMsg(clear_cache=True), "manager"), obeyed(BackMsg(stop_script=True), None)
    (False, True)
    """
    kind = message.WhichOneof("type")
    if kind == "file_urls_request":
        return role in UPLOADERS
    if kind == "backend_operation_request":
        return role in READERS and message.backend_operation_request.WhichOneof("payload") in _READERS_OPERATIONS
    return kind in _EVERYBODYS


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
                wish = BackMsg.FromString(content)
            except DecodeError:
                return await end(UNSUITED)
            if obeyed(wish, role):
                return message

    async def to_browser(message: Message) -> None:
        if not ended:
            await send(message)

    await app(scope, from_browser, to_browser)


async def _send_away(receive: Receive, send: Send) -> None:
    """Have the page go to the one that logs in: what Streamlit's own page does when it is told to log in."""
    await receive()
    redirect = ForwardMsg()
    redirect.auth_redirect.url = f"{settings.root()}/login"
    await send({"type": "websocket.accept", "subprotocol": "streamlit"})
    await send({"type": "websocket.send", "bytes": redirect.SerializeToString()})
    await send({"type": "websocket.close", "code": NORMAL})


OPEN = ("static", "login", "logout", "password", "auth", "oauth2callback", "_stcore/health")
"""First parts of paths that serve strangers: files of Streamlit's page, the doors, the provider's way back."""
_BEHIND_PAGES = ("_stcore/host-config", "_stcore/bidi-components", "component")
_FILES, _UPLOADS = "media", "_stcore/upload_file"
_CLOSED = ("_stcore", "app")
"""The rest of what Streamlit serves: metrics, an interface for agents, files beside the script."""
HOURLY = 64 << 20
"""Bytes that one account may upload within an hour."""
_FRAMING = 1 << 16
"""Bytes of an upload that are not its file's."""


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
            await self._http(scope, receive, guarded(send))
        else:
            await self._app(scope, receive, send)

    async def _http(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope)
        path = _path(request)
        answer = None
        if _within(path, *OPEN):
            pass
        elif _within(path, _FILES):
            answer = _answer(await _visitor(scope), READERS)
        elif _within(path, _UPLOADS):
            answer = self._upload(request, await _visitor(scope))
        elif _within(path, *_BEHIND_PAGES):
            whose = await _visitor(scope)
            answer = None if whose.admitted or whose.former else _refused(403)
        elif _within(path, *_CLOSED):
            answer = _refused(404)
        elif _is_page(request):
            answer = await _pages(request, path)
            send = _unkept(send)
        await (answer or self._app)(scope, receive, send)

    def _upload(self, request: Request, whose: Visitor) -> Response | None:
        """The answer in the place of an upload, or None. What is longer than it says is Streamlit's to refuse."""
        if refused := _answer(whose, UPLOADERS):
            return refused
        if request.method != "PUT" or whose.account is None:
            return None
        length = request.headers.get("content-length", "")
        if not (length.isascii() and length.isdecimal()):
            return _refused(411)
        size, moment = int(length[:20]), time.monotonic()
        ration = self._rations.setdefault(whose.account.id, deque())
        while ration and ration[0][0] < moment - 3600:
            ration.popleft()
        if size > (LARGEST_UPLOAD << 20) + _FRAMING or sum(size for _, size in ration) + size > HOURLY:
            return _refused(413)
        ration.append((moment, size))
        return None


_REASONS = {
    403: "This is not for your account, or you are not logged in.",
    404: "There is nothing here.",
    411: "Say how long the file is (Content-Length).",
    413: f"The file is too large (at most {LARGEST_UPLOAD} MB), or too much was uploaded within an hour.",
}


def _refused(status: int) -> Response:
    return PlainTextResponse(f"{_REASONS[status]}\n", status)


def _answer(whose: Visitor, roles: tuple[str, ...]) -> Response | None:
    return None if whose.account is not None and whose.account.role in roles else _refused(403)


async def _visitor(scope: Scope) -> Visitor:
    """Who sends this; where the database cannot be read, nobody that is known."""
    try:
        return await to_thread.run_sync(visitor, Request({**scope, "type": "http"}).cookies)
    except AuditError:
        return Visitor()


async def _pages(request: Request, name: str) -> Response | None:
    """The answer in the place of a page, or None. The page that logs in says what is wrong with the database."""
    whose = await _visitor(request.scope)
    if whose.account is not None and any(place.name == name and place.home == whose.account.role for place in PLACES):
        # Streamlit knows the first page by no name of its own, and would say that there is none.
        query = f"?{request.url.query}" if request.url.query else ""
        return RedirectResponse(f"{settings.root()}/{query}", 303)
    if whose.admitted:
        return None
    query = f"?next={place}" if (place := place_named(name)) else ""
    return RedirectResponse(f"{settings.root()}/login{query}", 303)


def _path(request: Request) -> str:
    """The path below the app's root."""
    return request.url.path.removeprefix(f"{settings.root()}/").strip("/")


def _within(path: str, *places: str) -> bool:
    return any(path == place or path.startswith(f"{place}/") for place in places)


def _is_page(request: Request) -> bool:
    return request.method in ("GET", "HEAD") and "text/html" in request.headers.get("accept", "")


def _unkept(send: Send) -> Send:
    """Pages are not kept by the browser: after logging out, the back button asks again."""

    async def to_browser(message: Message) -> None:
        if message["type"] == "http.response.start":
            MutableHeaders(scope=message)["Cache-Control"] = "no-store"
        await send(message)

    return to_browser
