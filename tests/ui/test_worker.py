"""What is computed in another process: refused in one sentence, kept with its state, shared, computed again."""

import multiprocessing
from concurrent.futures import Future
from contextlib import suppress
from typing import Any

import pytest
from app_driver import Prepared

from audit.errors import AuditError, BadFile, NotAllowed
from audit.judging.accounts import add_account
from audit.judging.judgements import judge
from audit.judging.queue import next_question
from audit.judging.samples import draw_validity
from audit.reports.study import study_report
from audit.runner.executors import InProcess, Lost, Processes
from audit.sampling.validity import ValidityRequest
from audit.store import open_store
from audit.ui import background_cache
from audit.ui.background_cache import QUICK, AnswerCache, CachedAnswer, computed, state_of
from audit.ui.worker import Request

DEFAULTS = {"whose": "both"}


def ask(database, name, **values):
    return Request(name, database, 1, values).work()[0]


def test_the_report_is_the_report_and_numbers_of_people_are_for_managers(judged):
    engine = open_store(judged)
    assert ask(judged, "report", **DEFAULTS) == study_report(engine)
    mia, odd = (
        add_account(engine, name, role, "long enough").id for name, role in (("mia", "manager"), ("odd", "annotator"))
    )
    assert ask(judged, "totals", by=mia)["judgements"]["week"] >= 0
    assert ask(judged, "agreement", by=mia)[0]["annotators"] == ["anna", "ben"]
    for name in ("totals", "agreement"):
        with pytest.raises(NotAllowed, match="odd has the role annotator"):
            ask(judged, name, by=odd)


def test_what_is_refused_or_goes_wrong_is_one_sentence(tmp_path, capsys):
    with pytest.raises(BadFile, match="there is no database"):
        ask(str(tmp_path / "none.db"), "report", **DEFAULTS)
    open_store(str(tmp_path / "empty.db"), create=True).dispose()
    with pytest.raises(AuditError, match="there are no studies yet"):
        ask(str(tmp_path / "empty.db"), "report", **DEFAULTS)
    with pytest.raises(AuditError, match=r"the computation failed \(TypeError\)"):
        ask("audit.db", "totals", nonsense=1)
    assert "nonsense" in capsys.readouterr().err


@pytest.fixture
def cache(monkeypatch: pytest.MonkeyPatch) -> AnswerCache:
    """A cache of its own for each test."""
    cache = AnswerCache()
    monkeypatch.setattr(background_cache, "_cache", lambda: cache)
    return cache


def one_judgement(prepared: Prepared) -> None:
    shown = next_question(prepared.engine, prepared.ann.id)
    assert shown is not None
    judge(prepared.engine, prepared.ann.id, shown.id, "positive")


@pytest.mark.parametrize("took", [0.0, QUICK + 1])
def test_an_answer_is_kept_until_others_come_and_shown_as_old_where_it_takes_long(
    prepared: Prepared, cache: AnswerCache, took: float
) -> None:
    values = {"by": prepared.boss.id}
    first = computed(prepared.engine, "totals", values)
    for key, kept in cache.answers.items():
        cache.answers[key] = CachedAnswer(kept.value, kept.state, kept.at, took)
    assert computed(prepared.engine, "totals", values).current
    before = state_of(prepared.engine)
    one_judgement(prepared)
    assert state_of(prepared.engine) != before
    again = computed(prepared.engine, "totals", values)
    assert (again.value is first.value, again.current) == ((True, False) if took else (False, True))
    assert computed(prepared.engine, "totals", values, recompute=True).value["judgements"]["week"] == 1


def test_what_was_computed_before_a_draw_is_never_shown_after_it(prepared: Prepared, cache: AnswerCache) -> None:
    values = {"by": prepared.boss.id}
    before = computed(prepared.engine, "totals", values)
    for key, kept in cache.answers.items():
        cache.answers[key] = CachedAnswer(kept.value, kept.state, kept.at, QUICK + 1)
    draw_validity(prepared.engine, ValidityRequest(6, annotators=2, asks="groups"))
    after = computed(prepared.engine, "totals", values)
    assert (after.current, after.state == before.state) == (True, False)


@pytest.mark.slow
def test_a_real_process_answers_two_who_ask_the_same_and_another_takes_its_place_when_it_dies(
    prepared: Prepared, monkeypatch: Any
) -> None:
    monkeypatch.setattr(background_cache, "_process", lambda: Processes(1, "spawn"))
    cache, known = AnswerCache(), set(multiprocessing.active_children())
    try:
        first, second = (
            cache.start(key, Request("totals", str(prepared.path), state, {"by": prepared.boss.id}))
            for key, state in (("a", 1), ("a", 1))
        )
        assert first is second
        assert first.result(120).value["judgements"]["week"] == 0
        (process,) = set(multiprocessing.active_children()) - known
        process.kill()
        process.join()
        again = [Request("totals", str(prepared.path), state, {"by": prepared.boss.id}) for state in (2, 3)]
        with suppress(AuditError):  # that it has ended
            cache.start("b", again[0]).result(120)
        assert cache.start("c", again[1]).result(120)
    finally:
        for pool in (cache.quick, cache.slow):
            pool.__exit__()
    assert not set(multiprocessing.active_children()) - known


def test_a_process_that_dies_at_work_is_said_so(cache: AnswerCache) -> None:
    class Dying(InProcess):
        def submit(self, job):
            future = Future()
            future.set_result(Lost("its process ended"))
            return future

    cache.quick = Dying()
    with pytest.raises(AuditError, match="has ended, perhaps for want of memory"):
        cache.start("a", Request("html", "", 1, {})).result()
    assert not cache.running
