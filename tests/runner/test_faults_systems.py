"""What users' own systems do to a run: they hang, end their process, raise, or return what no task allows."""

import multiprocessing
import os
import signal

import pytest
from sqlalchemy import select

from audit.relations import get_relation
from audit.relations.registry import configured
from audit.reports.study import study_report
from audit.runner.executors import InProcess, Processes
from audit.runner.options import RunOptions
from audit.runner.progress import Watcher
from audit.runner.run import run
from audit.store import open_store
from audit.store.core import group, input_table, output, source, system, verdict

FAULTY = """
import ctypes
import faulthandler
import hashlib
import os
import signal
import time
from pathlib import Path

FOLDER = Path({folder!r})
FATAL = "Film 7 was fine."


def answer(text):
    number = hashlib.md5(text.lower().encode()).digest()[0]
    return ("positive", "neutral", "negative")[number % 3], 0.5 + number / 600


def at_fault(text):
    return text == FATAL and not (FOLDER / "mended").exists()


def healthy(text):
    return answer(text)


def hanging(text):
    if at_fault(text):
        time.sleep(60)
    return answer(text)


def hanging_deaf(text):
    if at_fault(text):
        ctypes.PyDLL(None).sleep(60)  # native code that lets no other Python code run, not even a signal's
    return answer(text)


def killed(text):
    if at_fault(text):
        os.kill(os.getpid(), signal.SIGKILL)
    return answer(text)


def leaving(text):
    if at_fault(text):
        os._exit(3)
    return answer(text)


def raising(text):
    if at_fault(text):
        raise RuntimeError("out of order")
    return answer(text)


def unsure(text):
    return ("positive", float("nan")) if at_fault(text) else answer(text)


def unknown(text):
    return "great" if at_fault(text) else answer(text)


def silent(text):
    print("a word of its own")
    return None if at_fault(text) else answer(text)


class TooFew:
    def predict(self, texts):
        kept = [text for text in texts if not at_fault(text)]
        return [answer(text)[0] for text in kept]


"""


class Faulty:
    """The user's module of systems that are at fault, mostly with the source of row 7 alone, until they are mended."""

    def __init__(self, folder):
        self._folder = folder
        # Python and the executors remember modules by name, so every test needs one of its own.
        self.module = f"faulty_{abs(hash(folder))}"
        (folder / f"{self.module}.py").write_text(FAULTY.format(folder=str(folder)), encoding="utf-8")

    def specs(self, *names):
        return [f"{self.module}:{name}" for name in names]

    def mend(self):
        (self._folder / "mended").touch()


@pytest.fixture
def faulty(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return Faulty(tmp_path)


@pytest.fixture
def relations():
    """One that is sent to workers, which the tests' own are not: 28 texts, each with one follow-up."""
    return [configured(get_relation("sentiment", "MR1.4"), {"strict": False})]


INPUTS = 56


def outputs(engine, name):
    """The last output of each input of a system: text -> (label, score) or an error."""
    query = (
        select(input_table.c.texts, output.c.label, output.c.score, output.c.error)
        .select_from(output)
        .join(input_table, input_table.c.id == output.c.input_id)
        .join(system, system.c.id == output.c.system_id)
        .where(system.c.name == name)
        .order_by(output.c.attempt)
    )
    with engine.connect() as connection:
        return {texts[0]: error or (label, score) for texts, label, score, error in connection.execute(query)}


def errors_of(engine, name):
    """The rows of sources whose check of a system ended in an error."""
    query = (
        select(source.c.row)
        .join(group, group.c.source_id == source.c.id)
        .join(verdict, verdict.c.group_id == group.c.id)
        .join(system, system.c.id == verdict.c.system_id)
        .where(system.c.name == name, verdict.c.outcome == 3)
    )
    with engine.connect() as connection:
        return list(connection.execute(query).scalars())


def fail_once(engine, specs, errors, healthy):
    """Each system has one stored error, its own, on the source of row 7, and answers all else as a healthy one does."""
    right = outputs(engine, healthy)
    assert len(right) == INPUTS
    cells = {cell["system"]: cell["errors"] for cell in study_report(engine)["cells"]}
    for spec, error in zip(specs, errors, strict=True):
        found = outputs(engine, spec)
        assert error in found.pop("Film 7 was fine.")
        if ":Too" not in spec:  # which have no scores
            assert found == {text: right[text] for text in found}
        assert len(found) == INPUTS - 1
        assert errors_of(engine, spec) == ["7"]
        assert cells[spec] == 1


DEADLY = {
    "killed": "its process ended with signal SIGKILL",
    "leaving": "its process ended with status 3",
    "hanging": "no answer within 1 s",
    "hanging_deaf": "no answer within 1 s",
}
WRONG = {
    "raising": "RuntimeError: out of order",
    "unsure": "score nan is not a number from 0 to 1",
    "unknown": "label 'great' is not one of positive, neutral, negative",
    "silent": "returned None for 'Film 7 was fine.'; allowed are a label",
    "TooFew": "returned 0 outputs for 1 texts",
}


@pytest.mark.slow
def test_the_input_that_costs_a_process_its_life_or_its_time_is_the_only_error(faulty, toy_corpus, relations, engine):
    names = list(DEADLY)
    specs, (healthy,) = faulty.specs(*names), faulty.specs("healthy")
    with Processes(2) as executor:
        ran = run(engine, toy_corpus(), [*specs, healthy], relations, executor, options=RunOptions(time_limit=1))
    assert (ran.counts.executed, ran.counts.failed) == (5 * INPUTS, 4)
    fail_once(engine, specs, DEADLY.values(), healthy)
    faulty.mend()
    with Processes(2) as executor:
        again = run(engine, toy_corpus(), [*specs, healthy], relations, executor, options=RunOptions(retry_errors=True))
    assert (again.counts.executed, again.counts.retried, again.counts.failed) == (4, 4, 0)
    assert all(outputs(engine, spec) == outputs(engine, healthy) for spec in specs)


@pytest.mark.slow
@pytest.mark.parametrize("executor", [lambda: Processes(2), InProcess])
def test_what_is_raised_or_returned_in_error_is_stored_and_tried_again(faulty, toy_corpus, relations, engine, executor):
    specs, (healthy,) = faulty.specs(*WRONG), faulty.specs("healthy")
    with executor() as at_work:
        ran = run(engine, toy_corpus(), [*specs, healthy], relations, at_work)
    assert (ran.counts.executed, ran.counts.failed) == (6 * INPUTS, 5)
    fail_once(engine, specs, WRONG.values(), healthy)
    faulty.mend()
    with executor() as at_work:
        again = run(engine, toy_corpus(), specs, relations, at_work, options=RunOptions(retry_errors=True))
    assert (again.counts.executed, again.counts.retried, again.counts.failed) == (5, 5, 0)
    assert {cell["errors"] for cell in study_report(engine)["cells"]} == {0}


class Murderous(Watcher):
    """Ends every worker with SIGKILL at these moments, as a machine without memory does."""

    def __init__(self, moments):
        self._moments, self.ended, self._seen = moments, 0, 0

    def begin(self, sources):
        self._strike()

    def executed(self, outputs):
        self._strike()

    def _strike(self):
        if self._seen in self._moments:
            for worker in multiprocessing.active_children():
                os.kill(worker.pid, signal.SIGKILL)
                self.ended += 1
        self._seen += 1


@pytest.mark.slow
@pytest.mark.parametrize("moments", [{1, 5}, {2}])
def test_workers_that_are_ended_from_outside_are_replaced(
    faulty, toy_corpus, relations, engine, content, small_chunks, moments
):
    watcher, options = Murderous(moments), RunOptions(time_limit=20)
    with Processes(2) as executor:
        ran = run(engine, toy_corpus(), faulty.specs("healthy"), relations, executor, options, watcher)
    assert watcher.ended >= 2
    assert ran.counts.failed == 0
    whole = open_store("sqlite://", create=True)
    run(whole, toy_corpus(), faulty.specs("healthy"), relations, InProcess())
    assert content(engine) == content(whole)
