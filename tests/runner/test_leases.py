"""Leases on chunks: nobody gets what another works on, and what a lost run had goes to the next."""

import os
import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import event

from audit.runner import leases
from audit.runner.leases import LENGTH, Leases, began
from audit.runner.studies import Sampled, make_study
from audit.store import open_store, table_of, tables


@pytest.fixture
def engine(toy_corpus):
    engine = open_store("sqlite://", create=True)
    make_study(engine, Sampled(toy_corpus(), 0))
    return engine


def held(engine):
    table = table_of(tables.ChunkLease)
    with engine.connect() as connection:
        return {row.chunk: row.owner for row in connection.execute(table.select())}


def age(engine, by):
    table = table_of(tables.ChunkLease)
    with engine.begin() as connection:
        connection.execute(table.update().values(until=tables.now() + LENGTH - by))


def test_each_chunk_goes_to_one_of_several_runs(engine):
    first, second = Leases(1), Leases(1)
    with engine.begin() as connection:
        claimed = [
            run.claim(connection, chunks)
            for run, chunks in ((first, [0, 1, 2]), (second, [0, 1, 2]), (first, [1, 2]), (second, [0, 2]))
        ]
    assert claimed == [0, 1, 2, None]
    assert held(engine) == {0: first.owner, 1: second.owner, 2: first.owner}
    with engine.begin() as connection:
        first.release(connection, 0)
        assert second.claim(connection, [0, 1, 2]) == 0
        first.release(connection)  # only its own
    assert held(engine) == {0: second.owner, 1: second.owner}


def test_a_lease_without_a_sign_of_life_runs_out(engine):
    first, second = Leases(1), Leases(1)
    with engine.begin() as connection:
        first.claim(connection, [0])
    age(engine, LENGTH - timedelta(seconds=5))
    with engine.begin() as connection:
        assert second.claim(connection, [0]) is None
        first.renew(connection, [0])
    age(engine, LENGTH + timedelta(seconds=1))
    with engine.begin() as connection:
        assert second.claim(connection, [0]) == 0
        first.release(connection, 0)  # it is the other's by now
        first.renew(connection, [0])
    assert held(engine) == {0: second.owner}


def test_the_lease_of_a_process_that_is_no_more_need_not_run_out(engine, monkeypatch):
    gone = subprocess.run([sys.executable, "-c", "import os; print(os.getpid())"], capture_output=True, text=True)
    lost, here = Leases(1), Leases(1)
    lost.owner = f"{leases._host()}:{gone.stdout.strip()}:1"
    with engine.begin() as connection:
        assert lost.claim(connection, [0, 1]) == 0
        assert here.claim(connection, [0]) == 0
    far = Leases(1)
    far.owner = f"another-machine:{gone.stdout.strip()}:1"
    with engine.begin() as connection:
        assert far.claim(connection, [1]) == 1
        assert here.claim(connection, [1]) is None  # who knows what runs there
    assert here.owner.split(":")[1] == str(os.getpid())


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="reads /proc")
def test_a_number_that_another_process_has_by_now_and_one_that_nobody_waited_for_are_gone(engine):
    reused, waited_for, here = Leases(1), Leases(1), Leases(1)
    host, pid, since = here.owner.split(":")
    reused.owner = f"{host}:{pid}:{int(since.partition('-')[0]) - 1}-1"
    killed = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    try:
        waited_for.owner = f"{host}:{killed.pid}:{began(killed.pid)}-1"
        with engine.begin() as connection:
            assert [reused.claim(connection, [0]), waited_for.claim(connection, [1])] == [0, 1]
            assert [here.claim(connection, [0]), here.claim(connection, [1])] == [0, None]
        killed.kill()
        os.waitid(os.P_PID, killed.pid, os.WEXITED | os.WNOWAIT)  # it has ended, and is a zombie
        with engine.begin() as connection:
            assert here.claim(connection, [1]) == 1
    finally:
        killed.kill()
        killed.wait()


def test_a_lease_that_we_never_heard_that_we_got_is_ours(engine):
    """The server went away after the commit and before its answer: the claim is made again."""
    first, second = Leases(1), Leases(1)
    with engine.begin() as connection:
        assert first.claim(connection, [0, 1]) == 0
        assert first.claim(connection, [0, 1]) == 0
        assert second.claim(connection, [0, 1]) == 1


def test_studies_do_not_share_leases(engine, toy_corpus):
    second = make_study(engine, Sampled(toy_corpus(), 1)).id
    with engine.begin() as connection:
        assert Leases(1).claim(connection, [0]) == 0
        assert Leases(second).claim(connection, [0]) == 0


@pytest.mark.postgres
def test_two_that_look_at_once_get_two_chunks(toy_corpus, postgres_url):
    """The other claims, and commits, after one has looked who has what and before it writes."""
    engine = open_store(postgres_url, create=True)
    study = make_study(engine, Sampled(toy_corpus(), 0)).id
    first, second = Leases(study), Leases(study)
    claimed = []

    with engine.begin() as connection:

        @event.listens_for(connection, "before_cursor_execute")
        def quicker(_connection, _cursor, statement, *_others):
            if statement.startswith("INSERT") and not claimed:
                with engine.begin() as another:
                    claimed.append(second.claim(another, [0, 1]))

        assert first.claim(connection, [0, 1]) == 1
    assert claimed == [0]
    assert held(engine) == {0: second.owner, 1: first.owner}
    engine.dispose()
