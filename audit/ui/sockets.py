"""The websocket that Streamlit's pages live on: who may open one, how many, and what is obeyed that comes over it.

Streamlit opens a session for whoever connects, from any port of localhost, and obeys messages that clear the caches of
all. Here a connection needs a login and the page's own origin; each account, each address and the server have a number
of connections; and messages pass that the app's pages send, none else.

A connection is refused before it is accepted, which the browser hears as 403. Somebody whose login has ended is sent to
the page that logs in, since their browser would go on connecting for ever.
"""

from collections import Counter
from dataclasses import dataclass
from urllib.parse import urlsplit

from google.protobuf.message import DecodeError
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from audit.annotation.attempts import network
from audit.ui import cookies
from audit.ui.visitors import Visitor

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
    redirect.auth_redirect.url = f"{cookies.root()}/login"
    await send({"type": "websocket.accept", "subprotocol": "streamlit"})
    await send({"type": "websocket.send", "bytes": redirect.SerializeToString()})
    await send({"type": "websocket.close", "code": NORMAL})
