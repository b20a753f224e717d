"""A local server that stands for a service: real sockets, answers that a test decides, a record of its requests."""

import hashlib
import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

LABELS = ("positive", "neutral", "negative")


def label_of(text: str) -> str:
    """What the simulated service says of a text."""
    return LABELS[hashlib.md5(text.encode()).digest()[0] % 3]


def plain_answer(body: dict[str, Any]) -> dict[str, Any]:
    """The answer that a file with only name, version and url expects."""
    return {"outputs": [{"label": label_of(text), "score": 0.75} for text in body["texts"]]}


@dataclass
class Reply:
    """What the server sends back: JSON, or bytes as they are; `None` for a content breaks the connection off. `cut`:
    the connection ends in the middle of the content."""

    content: Any
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    cut: bool = False


def body_of(content: bytes, headers: Any) -> dict[str, Any]:
    """What a request says: JSON, a form, or else a text as {"text": ...}; nothing where it has no content."""
    kind = headers.get("Content-Type", "")
    if kind.startswith("application/x-www-form-urlencoded"):
        return dict(parse_qsl(content.decode(), keep_blank_values=True))
    if kind.startswith("text/plain"):
        return {"text": content.decode()}
    body: dict[str, Any] = json.loads(content or b"{}")
    return body


class Server(ThreadingHTTPServer):
    """`answer(body, number)` makes the reply to the request of this number (from 0); `delay` seconds go by before."""

    daemon_threads = True
    request_queue_size = 256

    def __init__(self, answer: Callable[[dict[str, Any], int], Any], delay: float = 0.0, port: int = 0):
        super().__init__(("127.0.0.1", port), _Handler)
        self.answer, self.delay = answer, delay
        self.lock = threading.Lock()
        self.bodies: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.paths: list[str] = []
        self.times: list[float] = []
        self.connections = 0
        self.at_once = 0
        self.most_at_once = 0
        self.raw = False
        """Whether `answer` is given (method, path, content) of a request, and nothing is recorded."""
        self.away = False
        """Whether connections are broken off."""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/classify"

    @property
    def texts(self) -> list[str]:
        """Every text that was asked for, in the order of the requests."""
        return [text for body in list(self.bodies) for text in body.get("texts", [body.get("text")])]

    def file(self, folder: Path, more: str = "", name: str = "service.toml") -> str:
        """The spec of a file that describes this server."""
        path = folder / name
        path.write_text(f'name = "local"\nversion = "1"\nurl = "{self.url}"\n{more}', encoding="utf-8")
        return f"http:{path}"

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that leaves is no news."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: Server

    def setup(self) -> None:
        super().setup()
        with self.server.lock:
            self.server.connections += 1

    def do_GET(self) -> None:
        self.do_POST()

    def do_POST(self) -> None:
        server = self.server
        content = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if server.raw:
            self.send(Reply(server.answer(self.command, self.path, content)))  # type: ignore[arg-type,call-arg]
            return
        body = body_of(content, self.headers)
        with server.lock:
            number = len(server.bodies)
            server.bodies.append(body)
            server.headers.append(dict(self.headers))
            server.paths.append(self.path)
            server.times.append(time.monotonic())
            server.at_once += 1
            server.most_at_once = max(server.most_at_once, server.at_once)
        try:
            time.sleep(server.delay)
            reply = Reply(None) if server.away else server.answer(body, number)
        finally:
            with server.lock:
                server.at_once -= 1
        if not isinstance(reply, Reply):
            reply = Reply(reply)
        self.send(reply)

    def send(self, reply: Reply) -> None:
        if reply.content is None:
            self.close_connection = True
            return
        content = reply.content if isinstance(reply.content, bytes) else json.dumps(reply.content).encode()
        self.send_response(reply.status)
        for name, value in reply.headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content[: len(content) // 2] if reply.cut else content)
        self.close_connection = self.close_connection or reply.cut

    def log_message(self, format: str, *args: object) -> None:
        """Nothing on stderr."""


@contextmanager
def serving(
    answer: Callable[[dict[str, Any], int], Any] = lambda body, number: plain_answer(body), delay: float = 0.0
) -> Iterator[Server]:
    """A server that runs in this block."""
    with Server(answer, delay) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()
