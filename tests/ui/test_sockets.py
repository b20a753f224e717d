"""Who may open a websocket and what passes over it, without a server: the rules of `audit.ui.gate`."""

import asyncio
from typing import Any

import pytest
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from audit.annotation.accounts import Account
from audit.ui.gate import LARGEST_MESSAGE, ConnectionLimits, Sockets, Visitor

HOST = "audit.example.org"
ANN, BOSS = (Visitor(Account(id, name, role)) for id, name, role in ((1, "ann", "annotator"), (2, "boss", "manager")))
PROVIDERS = Visitor(identity=b"somebody")


def rerun() -> BackMsg:
    message = BackMsg()
    message.rerun_script.query_string = ""
    return message


def upload() -> BackMsg:
    message = BackMsg()
    message.file_urls_request.request_id = "1"
    return message


def operation(kind: str) -> BackMsg:
    message = BackMsg()
    getattr(message.backend_operation_request, kind).SetInParent()
    return message


class Connection:
    """A browser's side of a connection, and a server behind the gate that keeps what reaches it."""

    def __init__(self, *frames: bytes | str, origin: str | None = f"https://{HOST}", address: str = "192.0.2.1"):
        headers = [(b"host", HOST.encode())] + ([(b"origin", origin.encode())] if origin is not None else [])
        self.scope: dict[str, Any] = {"type": "websocket", "headers": headers, "client": (address, 1)}
        self._events = [{"type": "websocket.connect"}] + [
            {"type": "websocket.receive", "bytes" if isinstance(frame, bytes) else "text": frame} for frame in frames
        ]
        self.answers: list[dict[str, Any]] = []
        self.reached: list[str | None] = []
        self.open = asyncio.Event()
        self.over = asyncio.Event()

    async def receive(self) -> dict[str, Any]:
        if self._events:
            return self._events.pop(0)
        self.open.set()
        await self.over.wait()
        return {"type": "websocket.disconnect", "code": 1001}

    async def send(self, message: Any) -> None:
        self.answers.append(message)

    async def app(self, _scope: Any, receive: Any, send: Any) -> None:
        await receive()
        await send({"type": "websocket.accept"})
        while (event := await receive())["type"] == "websocket.receive":
            self.reached.append(BackMsg.FromString(event["bytes"]).WhichOneof("type"))
        await send({"type": "websocket.close", "code": 1000})

    async def serve(self, sockets: Sockets, visitor: Visitor) -> None:
        await sockets.serve(self.app, self.scope, self.receive, self.send, visitor)

    @property
    def refused(self) -> bool:
        return [answer["type"] for answer in self.answers] == ["websocket.close"]


def over(connection: Connection, visitor: Visitor, sockets: Sockets | None = None) -> Connection:
    """The connection after it has come and gone."""
    connection.over.set()
    asyncio.run(connection.serve(sockets or Sockets(), visitor))
    return connection


@pytest.mark.parametrize(
    "origin",
    [
        None,
        "",
        "null",
        f"https://{HOST}:8502",
        f"https://{HOST}.evil.example",
        f"https://evil.example/{HOST}",
        f"https://{HOST}@evil.example",
        "http://localhost",
        "http://[",
    ],
)
def test_another_origin_is_refused_whoever_comes(origin: str | None) -> None:
    assert over(Connection(origin=origin), BOSS).refused


@pytest.mark.parametrize("visitor", [ANN, BOSS, PROVIDERS], ids=["account", "manager", "provider's"])
def test_who_is_logged_in_is_connected(visitor: Visitor) -> None:
    connection = over(Connection(rerun().SerializeToString()), visitor)
    assert not connection.refused
    assert connection.reached == ["rerun_script"]


def test_strangers_are_refused_and_who_was_logged_in_is_sent_to_log_in() -> None:
    assert over(Connection(), Visitor()).refused
    former = over(Connection(), Visitor(former=True))
    sent = next(answer["bytes"] for answer in former.answers if answer["type"] == "websocket.send")
    assert ForwardMsg.FromString(sent).auth_redirect.url == "/login"
    assert former.answers[-1] == {"type": "websocket.close", "code": 1000}
    assert former.reached == []


@pytest.mark.parametrize(
    ("message", "passes"),
    [
        (rerun(), "everybody"),
        (BackMsg(stop_script=True), "everybody"),
        (BackMsg(app_heartbeat=True), "everybody"),
        (upload(), "manager"),
        (operation("deferred_file"), "manager"),
        (operation("dataframe_chunk"), "manager"),
        (operation("install_skills"), "nobody"),
        (operation("dismiss_skills_nudge"), "nobody"),
        (BackMsg(clear_cache=True), "nobody"),
        (BackMsg(set_run_on_save=True), "nobody"),
        (BackMsg(load_git_info=True), "nobody"),
        (BackMsg(debug_shutdown_runtime=True), "nobody"),
        (BackMsg(debug_disconnect_websocket=True), "nobody"),
        (BackMsg(), "nobody"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_messages_that_pages_do_not_send_are_dropped(message: BackMsg, passes: str) -> None:
    """The connection goes on: what comes after them is served."""
    for visitor, role in ((ANN, "annotator"), (BOSS, "manager")):
        reached = over(Connection(message.SerializeToString(), rerun().SerializeToString()), visitor).reached
        assert reached[-1] == "rerun_script"
        assert len(reached) == 1 + (passes in (role, "everybody"))


@pytest.mark.parametrize(
    ("frame", "code"),
    [(b"\xff\xff\xff\xff", 1003), ("a text", 1003), (b"\0" * (LARGEST_MESSAGE + 1), 1009)],
    ids=["no message", "text", "too large"],
)
def test_what_is_no_message_ends_the_connection(frame: bytes | str, code: int) -> None:
    connection = over(Connection(frame, rerun().SerializeToString()), BOSS)
    assert connection.reached == []
    assert connection.answers[-1] == {"type": "websocket.close", "code": code}


@pytest.mark.parametrize("limit", ["account", "address", "all"])
def test_connections_are_counted_and_counted_off(limit: str) -> None:
    """Two of three: the third is refused, and let in once the others are closed."""
    sockets = Sockets(ConnectionLimits(**{"account": 9, "address": 9, "all": 9, limit: 2}))
    whose = [Visitor(Account(1 if limit == "account" else id, "", "annotator")) for id in (1, 2, 3)]
    addresses = ["192.0.2.1"] * 3 if limit == "address" else ["192.0.2.1", "192.0.2.2", "192.0.2.3"]

    async def story() -> tuple[bool, bool]:
        first, second, third, again = (Connection(address=address) for address in [*addresses, addresses[2]])
        two = [
            asyncio.create_task(connection.serve(sockets, visitor))
            for connection, visitor in zip((first, second), whose, strict=False)
        ]
        await first.open.wait()
        await second.open.wait()
        await third.serve(sockets, whose[2])
        first.over.set()
        second.over.set()
        await asyncio.gather(*two)
        again.over.set()
        await again.serve(sockets, whose[2])
        return third.refused, again.refused

    assert asyncio.run(story()) == (True, False)
