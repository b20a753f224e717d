"""A client of Streamlit's own websocket: it sends what a browser sends, and what no browser of ours would."""

import re
from collections.abc import Iterable
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

PATIENCE = 60
GATE = "gate-begin"


@dataclass
class Screen:
    """What came with one run of the script."""

    page: str = ""
    """Hash of the page's script."""
    pages: dict[str, str] = field(default_factory=dict)
    """Hashes of the pages in the menu, by name."""
    fragment: str = ""
    widgets: dict[str, str] = field(default_factory=dict)
    """Ids of buttons and of text and choice widgets, by the key in them or their label."""
    said: list[str] = field(default_factory=list)
    """Alerts, exceptions and HTML."""

    def id(self, part: str) -> str:
        """The id of the widget whose key has this in it."""
        return next(id for key, id in self.widgets.items() if part in key)


class Session:
    """One session of a page."""

    def __init__(self, socket: Any):
        self._socket = socket

    def send(self, message: BackMsg) -> Screen:
        """Send this, and read to the end of the run."""
        message.rerun_script.query_string = message.rerun_script.query_string or ""
        self._socket.send(message.SerializeToString())
        screen = Screen()
        while True:
            got = ForwardMsg()
            got.ParseFromString(self._socket.recv(timeout=PATIENCE))
            kind = got.WhichOneof("type")
            if kind == "new_session":
                screen.page = got.new_session.page_script_hash
            elif kind == "navigation":
                screen.pages = {page.url_pathname: page.page_script_hash for page in got.navigation.app_pages}
            elif kind == "script_finished":
                return screen
            elif kind == "delta":
                _note(got.delta, screen)

    def open(self, page: str = "") -> Screen:
        """Ask for a page by its hash, as a click in the menu does; no hash: the first page. Where the guideline comes
        before the question, go on to that."""
        message = BackMsg()
        message.rerun_script.page_script_hash = page
        screen = self.send(message)
        return self.press(screen, screen.widgets[GATE]) if GATE in screen.widgets else screen

    def press(self, screen: Screen, id: str, values: Iterable[tuple[str, str, Any]] = (), fragment: str = "") -> Screen:
        """Press a button, with the values of other widgets: (id, field of WidgetState, value)."""
        message = BackMsg()
        message.rerun_script.page_script_hash = screen.page
        message.rerun_script.fragment_id = fragment or screen.fragment
        for name, kind, value in values:
            state = message.rerun_script.widget_states.widgets.add()
            state.id = name
            if isinstance(value, list):
                getattr(state, kind).data.extend(value)
            else:
                setattr(state, kind, value)
        pressed = message.rerun_script.widget_states.widgets.add()
        pressed.id, pressed.trigger_value = id, True
        return self.send(message)


@contextmanager
def session(address: str, cookie: str, origin: str | None = None) -> Any:
    """Connect as a browser with this cookie does."""
    client = pytest.importorskip("websockets.sync.client", reason="websockets is not installed")
    host = address.removeprefix("http://")
    with client.connect(
        f"ws://{host}/_stcore/stream",
        additional_headers={"Cookie": cookie},
        origin=origin or address,
        subprotocols=["streamlit"],
        max_size=None,
        proxy=None,
    ) as socket:
        yield Session(socket)


def _note(delta: Any, screen: Screen) -> None:
    element = delta.new_element
    kind = element.WhichOneof("type")
    if kind in ("alert", "exception", "html", "markdown"):
        screen.said.append(
            {"alert": lambda: element.alert.body, "exception": lambda: element.exception.message,
             "html": lambda: element.html.body, "markdown": lambda: element.markdown.body}[kind]()
        )  # fmt: skip
    elif kind is not None:
        widget = getattr(element, kind)
        if getattr(widget, "id", ""):
            match = re.search(r"-([A-Za-z][\w-]*)$", widget.id)
            screen.widgets[match[1] if match else widget.id] = widget.id
            if kind == "button" and delta.fragment_id:
                screen.fragment = delta.fragment_id
