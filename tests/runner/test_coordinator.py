"""What the coordinator decides by itself: the sizes of batches, and what it does when a batch is lost."""

from concurrent.futures import Future

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pebble import ProcessExpired

from audit.errors import AuditError
from audit.runner.batch import Batch
from audit.runner.dispatch import AIM, HASTE, Pace
from audit.runner.executors import InProcess
from audit.runner.options import RunOptions
from audit.runner.progress import Watcher
from audit.runner.run import run
from audit.store import open_store


@given(st.floats(1e-3, 1e3), st.floats(1e-3, 1e3))
def test_no_batch_comes_near_the_limit_of_time_but_one_input_that_takes_so_long(seconds, limit):
    pace = Pace(min(AIM, limit / HASTE))
    for _ in range(20):
        if pace.size * seconds > limit and pace.size > 1:
            pace.lose(pace.size)
        else:
            pace.learn(pace.size, pace.size * seconds)
    assert pace.size == 1 or pace.size * seconds <= limit / HASTE + 1e-6


class Losing(InProcess):
    """Loses every batch once it is `down`, as a process does that dies of it."""

    down = False

    def submit(self, job):
        if isinstance(job, Batch) and self.down:
            future = Future()
            future.set_exception(ProcessExpired("gone", code=-11))
            return future
        return super().submit(job)


def test_a_system_that_is_lost_again_and_again_stops_the_run_and_what_was_finished_is_kept(
    own, toy_corpus, toy_relations, monkeypatch, content
):
    monkeypatch.setattr("audit.runner.studies.CHUNK", {"sentence": 8, "document": 2})
    engine = open_store("sqlite://", create=True)
    executor = Losing()
    executed = []

    class Watching(Watcher):
        def finished(self, sources):
            executed.append(sources)
            executor.down = True

    with pytest.raises(AuditError, match="was lost on 10 inputs one after the other"):
        run(engine, toy_corpus(), own.specs("calm"), toy_relations, executor, watcher=Watching())
    assert executed
    run(engine, toy_corpus(), own.specs("calm"), toy_relations, InProcess(), options=RunOptions(retry_errors=True))
    whole = open_store("sqlite://", create=True)
    run(whole, toy_corpus(), own.specs("calm"), toy_relations, InProcess())
    for name in ("verdict", "group", "member", "progress"):
        assert content(engine, name) == content(whole, name)
