"""What is computed elsewhere: kept with its state, shared by sessions, and computed again as it should be."""

import threading
import time
from typing import Any

import pytest
from app_driver import Prepared

from audit.errors import AuditError
from audit.judging.judgements import judge
from audit.judging.queue import next_question
from audit.judging.samples import draw_validity
from audit.sampling.validity import ValidityRequest
from audit.ui import background_cache
from audit.ui.background_cache import QUICK, AnswerCache, CachedAnswer, Worker, computed, produce, state_of
from audit.ui.worker import request_line

ORIGINAL = Worker._answer
"""The real one: conftest.py puts another in its place."""


@pytest.fixture(autouse=True)
def cache(monkeypatch: pytest.MonkeyPatch) -> AnswerCache:
    """A workshop of its own for each test."""
    cache = AnswerCache()
    monkeypatch.setattr(background_cache, "_cache", lambda: cache)
    return cache


def slow(cache: AnswerCache) -> None:
    """As if everything that was found had taken long."""
    for key, answer in cache.answers.items():
        cache.answers[key] = CachedAnswer(answer.value, answer.state, answer.at, QUICK + 1)


def one_judgement(prepared: Prepared) -> None:
    shown = next_question(prepared.engine, prepared.ann.id)
    assert shown is not None
    judge(prepared.engine, prepared.ann.id, shown.id, "positive")


def test_what_was_found_is_kept_until_answers_come(prepared: Prepared) -> None:
    values = {"by": prepared.boss.id}
    first = computed(prepared.engine, "totals", values)
    assert computed(prepared.engine, "totals", values) is first
    one_judgement(prepared)
    second = computed(prepared.engine, "totals", values)
    assert second.state != first.state
    assert second.value["judgements"]["week"] == 1


def test_what_took_long_is_shown_as_it_was_until_it_is_asked_for(prepared: Prepared, cache: AnswerCache) -> None:
    values = {"by": prepared.boss.id}
    first = computed(prepared.engine, "totals", values)
    slow(cache)
    assert computed(prepared.engine, "totals", values).current
    one_judgement(prepared)
    again = computed(prepared.engine, "totals", values)
    assert not again.current
    assert again.value is first.value
    assert computed(prepared.engine, "totals", values, recompute=True).current


def test_what_was_computed_before_a_draw_is_never_shown_after_it(prepared: Prepared, cache: AnswerCache) -> None:
    values = {"by": prepared.boss.id}
    before = computed(prepared.engine, "totals", values)
    slow(cache)
    draw_validity(prepared.engine, ValidityRequest(6, annotators=2, asks="groups"))
    after = computed(prepared.engine, "totals", values)
    assert after.current
    assert after.state != before.state


def test_two_sessions_that_ask_the_same_wait_for_one_computation(prepared: Prepared, monkeypatch: Any) -> None:
    lines = []

    def answer(_: Worker, line: str) -> list[int]:
        lines.append(line)
        time.sleep(0.3)
        return [1]

    monkeypatch.setattr(Worker, "_answer", answer)
    threads = [threading.Thread(target=produce, args=("totals", {}, (1,))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(lines) == 1


def test_every_kind_of_change_changes_the_state(prepared: Prepared) -> None:
    before = state_of(prepared.engine)
    assert state_of(prepared.engine) == before
    one_judgement(prepared)
    assert state_of(prepared.engine) != before


@pytest.mark.slow
def test_a_real_worker_answers_and_is_begun_again_after_it_died(prepared: Prepared, monkeypatch: Any) -> None:
    monkeypatch.setattr(Worker, "_answer", ORIGINAL)
    worker = Worker()
    line = request_line("totals", str(prepared.path), [1], {"by": prepared.boss.id})
    try:
        assert worker.answer(line)["judgements"]["week"] == 0
        first = worker._process
        assert first is not None
        assert worker.answer(line)
        assert worker._process is first
        first.kill()
        first.wait()
        assert worker.answer(line)
        assert worker._process is not first
    finally:
        process = worker._process
        worker.stop()
    assert process is not None
    assert process.poll() is not None


def test_a_worker_that_dies_at_work_is_said_so(prepared: Prepared, monkeypatch: Any) -> None:
    monkeypatch.setattr(Worker, "_answer", ORIGINAL)
    worker = Worker()

    class Gone:
        """A process that ended after it took the request."""

        def __init__(self) -> None:
            self.stdin = self.stdout = self
            self.ended = False

        def write(self, _: str) -> None: ...
        def flush(self) -> None: ...
        def readline(self) -> str:
            return ""

        def poll(self) -> None: ...
        def kill(self) -> None:
            self.ended = True

        def wait(self) -> None: ...

    gone = Gone()
    worker._process = gone  # type: ignore[assignment]
    with pytest.raises(AuditError, match="has ended, perhaps for want of memory"):
        worker.answer("{}")
    assert gone.ended
