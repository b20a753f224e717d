"""Leases on chunks: nobody gets what another works on, and what a lost run had goes to the next."""

import os
import subprocess
import sys
from datetime import timedelta

import pytest

from audit.runner import leases
from audit.runner.leases import LENGTH, Leases
from audit.runner.studies import make_study
from audit.store import open_store, table_of, tables


@pytest.fixture
def engine(toy_corpus):
    engine = open_store("sqlite://", create=True)
    make_study(engine, toy_corpus(), 0)
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
    one, other = Leases(1), Leases(1)
    with engine.begin() as connection:
        given = [run.claim(connection, [0, 1, 2]) for run in (one, other, one, other)]
    assert given == [0, 1, 2, None]
    assert held(engine) == {0: one.owner, 1: other.owner, 2: one.owner}
    with engine.begin() as connection:
        one.release(connection, 0)
        assert other.claim(connection, [0, 1, 2]) == 0
        one.release(connection)  # only its own
    assert held(engine) == {0: other.owner, 1: other.owner}


def test_a_lease_without_a_sign_of_life_runs_out(engine):
    one, other = Leases(1), Leases(1)
    with engine.begin() as connection:
        one.claim(connection, [0])
    age(engine, LENGTH - timedelta(seconds=5))
    with engine.begin() as connection:
        assert other.claim(connection, [0]) is None
        one.renew(connection, [0])
    age(engine, LENGTH + timedelta(seconds=1))
    with engine.begin() as connection:
        assert other.claim(connection, [0]) == 0
        one.release(connection, 0)  # it is the other's by now
        one.renew(connection, [0])
    assert held(engine) == {0: other.owner}


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


def test_studies_do_not_share_leases(engine, toy_corpus):
    second = make_study(engine, toy_corpus(), 1).id
    with engine.begin() as connection:
        assert Leases(1).claim(connection, [0]) == 0
        assert Leases(second).claim(connection, [0]) == 0
