"""Limits of the API: requests a minute, bytes of a request, requests at the same time."""

import math
import threading
import time
from collections import OrderedDict, deque
from collections.abc import Callable

from anyio import CapacityLimiter
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

MINUTE = 60.0
MOST = 300
"""Requests of a token within a minute."""
BODY = 256 << 10
"""Bytes of a request,"""
LARGE_BODY = 6 << 20
"""and of one that sends texts."""
AT_ONCE = 16
"""Requests that are worked on at the same time; others wait. The app's own pages share the server."""
_KEPT = 20_000


class Allowance:
    """How many requests there were within the last minute, by key. Safe among threads; kept in the process.

    >>> allowance = Allowance(2, clock=lambda: 0.0)
    >>> [allowance.take("a"), allowance.take("a"), allowance.take("a"), allowance.take("b")]
    [0, 0, 60, 0]
    """

    def __init__(self, most: int = MOST, clock: Callable[[], float] = time.monotonic):
        self.most = most
        self._clock = clock
        self._lock = threading.Lock()
        self._times: OrderedDict[str, deque[float]] = OrderedDict()

    def take(self, key: str) -> int:
        """Count a request and return 0; or the whole seconds until the next may come, and count nothing."""
        with self._lock:
            times, now = self._times.setdefault(key, deque()), self._clock()
            while times and times[0] <= now - MINUTE:
                times.popleft()
            if len(times) >= self.most:
                return math.ceil(times[0] + MINUTE - now)
            times.append(now)
            self._times.move_to_end(key)
            while len(self._times) > _KEPT:
                self._times.popitem(last=False)
            return 0


class Bounded:
    """ASGI middleware: reads a request's body, which may not be longer than `largest` of its path says, and lets
    `AT_ONCE` requests through at a time. `refuse` answers what is too long."""

    def __init__(self, app: ASGIApp, largest: Callable[[str], int], refuse: Callable[[Scope, int], ASGIApp]):
        self._app, self._largest, self._refuse = app, largest, refuse
        self._limiter: CapacityLimiter | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        most = self._largest(scope["path"])
        body = await _body(Headers(scope=scope), receive, most)
        if body is None:
            await self._refuse(scope, most)(scope, receive, send)
            return
        self._limiter = self._limiter or CapacityLimiter(AT_ONCE)  # which belongs to an event loop
        read = False

        async def again() -> Message:
            nonlocal read
            if read:
                return await receive()
            read = True
            return {"type": "http.request", "body": body, "more_body": False}

        only_head = scope["method"] == "HEAD"  # answered as GET, without the body

        async def answer(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).setdefault("Cache-Control", "no-store")
            elif only_head:
                message = {**message, "body": b""}
            await send(message)

        async with self._limiter:
            await self._app({**scope, "method": "GET"} if only_head else scope, again, answer)


async def _body(headers: Headers, receive: Receive, most: int) -> bytes | None:
    """The body of a request; None where it is longer than `most` bytes, whatever its header says."""
    length = headers.get("content-length", "")
    if length.isascii() and length.isdecimal() and int(length[:20]) > most:
        return None
    pieces, size = [], 0
    while True:
        message = await receive()
        if message["type"] != "http.request":
            return b""  # whoever sent it is gone
        pieces.append(message.get("body", b""))
        size += len(pieces[-1])
        if size > most:
            return None
        if not message.get("more_body"):
            return b"".join(pieces)
