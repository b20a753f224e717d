"""What is looked at before Streamlit serves anything: pages send strangers to log in, and what belongs to pages is for
those who may see them.

Open to all are the pages that log in, Streamlit's static files and the answer that the server is well. Files to
download are not for everybody, uploads have a size and a ration, websockets have rules of their own
(`audit.ui.sockets`), and what this app has no use for is closed. Every answer gets the headers of `audit.ui.headers`.
This is not all that protects the pages: those ask who is logged in on every run (`audit.ui.session`).
"""

import time
from collections import deque

from anyio import to_thread
from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from audit.errors import AuditError
from audit.ui import cookies
from audit.ui.flags import LARGEST_UPLOAD
from audit.ui.headers import guarded
from audit.ui.places import PLACES, place_named
from audit.ui.sockets import READERS, UPLOADERS, Sockets
from audit.ui.visitors import Visitor, visitor

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
        return RedirectResponse(f"{cookies.root()}/{query}", 303)
    if whose.admitted:
        return None
    query = f"?next={place}" if (place := place_named(name)) else ""
    return RedirectResponse(f"{cookies.root()}/login{query}", 303)


def _path(request: Request) -> str:
    """The path below the app's root."""
    return request.url.path.removeprefix(f"{cookies.root()}/").strip("/")


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
