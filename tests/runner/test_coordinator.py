"""What the coordinator decides by itself: the sizes of batches, and what it does when a batch is lost."""

from concurrent.futures import Future

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pebble import ProcessExpired

from audit.errors import AuditError
from audit.runner.batch import Batch
from audit.runner.coordinator import AIM, FEW, HASTE, MOST, Pace
from audit.runner.executors import InProcess
from audit.runner.options import RunOptions
from audit.runner.progress import Watcher
from audit.runner.run import run
from audit.store import open_store


def paced(seconds_an_input, batches=12):
    """Sizes of the batches of a system that takes so long for each input."""
    pace, sizes = Pace(), []
    for _ in range(batches):
        sizes.append(pace.size)
        pace.learn(pace.size, pace.size * seconds_an_input)
    return sizes


def test_a_quick_system_gets_large_batches_soon_and_a_slow_one_small_ones():
    assert paced(0.0001)[:5] == [FEW, 32, 128, 512, MOST]
    assert paced(0.0001)[-1] == MOST
    assert paced(0.5)[-1] == AIM / 0.5
    assert paced(60)[-1] == 1


@given(st.floats(1e-7, 1e4))
def test_a_batch_takes_about_as_long_as_it_should_whatever_the_system(seconds):
    size = paced(seconds, 20)[-1]
    assert 1 <= size <= MOST
    assert size == 1 or size * seconds <= AIM + 1e-6
    assert size == MOST or (size + 1) * seconds > AIM - 1e-6


def test_a_remainder_says_little_and_a_first_batch_that_loads_a_model_is_forgotten():
    pace = Pace()
    pace.learn(FEW, 40.0)
    assert pace.size == FEW // 4
    pace.learn(2, 0.001)
    pace.learn(8, 0.004)
    assert pace.size == 32
    pace.learn(1, 1.9)  # the last of a chunk, slow by chance
    assert pace.size == 32


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
