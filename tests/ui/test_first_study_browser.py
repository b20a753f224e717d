"""From an empty folder to the first answer of an invited annotator, in the browser, with labels and an HTTP system of
the team's own: in at most twelve clicks and three minutes."""

import json
import re
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from app_server import app_server
from browser_driver import Window, until
from sqlalchemy import select

from audit.judging.accounts import list_accounts
from audit.store import open_store, table_of, tables
from audit.studies.next_step import next_step, standing
from audit.ui.language import text_in

pytestmark = pytest.mark.browser
MOST_CLICKS, MOST_SECONDS = 12, 180
PASSWORD = "long enough"
LABELS = ("cancel", "delivery", "refund")
THINGS = ("order", "parcel", "invoice", "ticket", "lamp", "chair", "phone", "book", "coat", "table")
SAID = {
    "cancel": "Please cancel my {} before it is sent.",
    "delivery": "My {} has not arrived yet.",
    "refund": "I want the money back for the {}.",
}


class Service(BaseHTTPRequestHandler):
    """A classifier of messages that only sometimes listens."""

    def do_POST(self) -> None:
        texts = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["texts"]
        answer = json.dumps({"outputs": [{"label": LABELS[len(text) % 3]} for text in texts]}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def service() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Service)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/intents"
    server.shutdown()


class Counting(Window):
    """A window that counts the clicks of whoever uses it."""

    clicks = 0

    def click(self, selector: str, text: str) -> None:
        Counting.clicks += 1
        super().click(selector, text)

    def enter(self, link: str, button: str, name: str) -> None:
        """Open an invitation, and choose a name and a password."""
        self.driver.get(link)
        until(lambda: self.all("input[name=password]"))
        self.all("input[name=name]")[0].send_keys(name)
        self.all("input[name=password]")[0].send_keys(PASSWORD)
        self.click("button.main", button)


@pytest.mark.parametrize("language", ["en", "zh"])
def test_from_nothing_to_the_first_answer(tmp_path: Path, language: str) -> None:
    def said(key: str) -> str:
        return text_in(language, key)

    messages = tmp_path / "messages.csv"
    lines = [f"{SAID[label].format(thing)},{label}" for thing in THINGS for label in LABELS]
    messages.write_text("\n".join(["message,intent", *lines]) + "\n", encoding="utf-8")
    folder, began, Counting.clicks = tmp_path / "new", time.monotonic(), 0
    folder.mkdir()
    with service() as url, app_server(str(folder / "audit.db"), tmp_path / "log.txt") as address:
        (link,) = re.findall(r"http://\S+/join/\S+", (tmp_path / "log.txt").read_text(encoding="utf-8"))
        with Counting(f"{address}/login", tmp_path / "mia", language) as mia:
            mia.enter(f"{link}?lang={language}", said("first.enter"), "mia")
            mia.see(said("form.lacks_texts"))
            mia.picture(f"begin-{language}-empty")
            Counting.clicks += 1  # the file is chosen in a window of the browser's
            until(lambda: mia.all("input[type=file]"))[0].send_keys(str(messages))
            mia.see(said("form.own_system"))
            mia.click(".st-key-own-system button", "")
            Counting.clicks += 1  # the field
            until(lambda: mia.all(".st-key-form-address input"))[0].send_keys(url + "\n")
            mia.click("button", said("form.try_and_add"))
            until(lambda: mia.all(".stAlert"))
            mia.picture(f"begin-{language}-form")
            mia.click(".st-key-form-run button", said("form.run"))
            until(lambda: mia.all(".st-key-invite-by-link button"), 120)
            mia.picture(f"begin-{language}-run")
            mia.click(".st-key-invite-by-link button", said("project.invite"))
            invitation = until(lambda: mia.all(".st-key-new-link code"))[0].text.strip()
            mia.picture(f"begin-{language}-invited")
            with Counting(f"{address}/login", tmp_path / "ann", language) as ann:
                ann.enter(f"{invitation}?lang={language}", said("join.enter"), "ann")
                until(ann.question)
                ann.picture(f"begin-{language}-question")
                ann.judge("1")
                Counting.clicks += 2  # the guideline is read, and the first answer given
            clicks, seconds = Counting.clicks, time.monotonic() - began
            print(f"{clicks} clicks, {seconds:.0f} s")
            assert clicks <= MOST_CLICKS
            assert seconds <= MOST_SECONDS
            engine = open_store(str(folder / "audit.db"))
            judgement = table_of(tables.Judgement)
            with engine.connect() as connection:
                assert len(connection.execute(select(judgement.c.answer)).all()) == 1
            roles = {account.name: account for account in list_accounts(engine)}
            assert {name: account.role for name, account in roles.items()} == {"ann": "annotator", "mia": "manager"}
            assert next_step(standing(engine, by=roles["mia"].id)).code == "judging"
            mia.driver.get(f"{address}/studies")
            mia.see(said("menu.words"))
            mia.picture(f"begin-{language}-card")
