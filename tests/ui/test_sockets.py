"""Who may open a websocket and what passes over it, without a server: the rules of `audit.ui.gate`."""

import asyncio
from typing import Any

import pytest
from app_driver import Prepared
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from audit.judging.sign_in import end_logins, login_of
from audit.ui.gate import Gate
from audit.ui.settings import login_cookie_name

HOST = "audit.example.org"


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

    def __init__(self, *frames: bytes | str, login: str = "", origin: str | None = f"https://{HOST}"):
        headers = [(b"host", HOST.encode()), (b"cookie", f"{login_cookie_name()}={login}".encode())]
        headers += [(b"origin", origin.encode())] if origin is not None else []
        self.scope: dict[str, Any] = {"type": "websocket", "path": "/_stcore/stream", "headers": headers}
        self._events: list[dict[str, Any]] = [{"type": "websocket.connect"}] + [
            {"type": "websocket.receive", "bytes" if isinstance(frame, bytes) else "text": frame} for frame in frames
        ]
        self.answers: list[dict[str, Any]] = []
        self.reached: list[str | None] = []
        asyncio.run(Gate(self.app)(self.scope, self.receive, self.send))

    async def receive(self) -> dict[str, Any]:
        return self._events.pop(0) if self._events else {"type": "websocket.disconnect", "code": 1001}

    async def send(self, message: Any) -> None:
        self.answers.append(message)

    async def app(self, _scope: Any, receive: Any, send: Any) -> None:
        await receive()
        await send({"type": "websocket.accept"})
        while (event := await receive())["type"] == "websocket.receive":
            self.reached.append(BackMsg.FromString(event["bytes"]).WhichOneof("type"))

    @property
    def refused(self) -> bool:
        return [answer["type"] for answer in self.answers] == ["websocket.close"]


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
def test_another_origin_is_refused_whoever_comes(prepared: Prepared, origin: str | None) -> None:
    assert Connection(login=login_of(prepared.engine, prepared.boss.id), origin=origin).refused


def test_who_is_logged_in_is_connected_strangers_are_refused_and_others_sent_to_log_in(prepared: Prepared) -> None:
    login = login_of(prepared.engine, prepared.ann.id)
    assert Connection(rerun().SerializeToString(), login=login).reached == ["rerun_script"]
    for stranger in ("", "made-up", login[:-1]):
        assert Connection(login=stranger).refused
    end_logins(prepared.engine, prepared.ann.id)
    former = Connection(rerun().SerializeToString(), login=login)
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
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_messages_that_pages_do_not_send_are_dropped(prepared: Prepared, message: BackMsg, passes: str) -> None:
    """The connection goes on: what comes after them is served."""
    for account in (prepared.ann, prepared.boss):
        login = login_of(prepared.engine, account.id)
        reached = Connection(message.SerializeToString(), rerun().SerializeToString(), login=login).reached
        assert reached[-1] == "rerun_script"
        assert len(reached) == 1 + (passes in (account.role, "everybody"))


@pytest.mark.parametrize("frame", [b"\xff\xff\xff\xff", "a text"], ids=["no message", "text"])
def test_what_is_no_message_ends_the_connection(prepared: Prepared, frame: bytes | str) -> None:
    login = login_of(prepared.engine, prepared.boss.id)
    assert Connection(frame, rerun().SerializeToString(), login=login).reached == []
