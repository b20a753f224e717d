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
from audit.store.core import input_table, output, system

FAULTY = """
import ctypes
import hashlib
import os
import signal
import time
from pathlib import Path

MENDED = Path({mended!r})


def answer(text):
    number = hashlib.md5(text.lower().encode()).digest()[0]
    return ("positive", "neutral", "negative")[number % 3], 0.5 + number / 600


def at_fault(text):
    return text == "Film 7 was fine." and not MENDED.exists()


def out_of_order():
    raise RuntimeError("out of order")


def faulty(act):
    def system(text):
        return (act() if at_fault(text) else None) or answer(text)
    return system


healthy = faulty(lambda: None)
hanging = faulty(lambda: time.sleep(60))
hanging_deaf = faulty(lambda: ctypes.PyDLL(None).sleep(60))  # native code that lets no other Python code run
killed = faulty(lambda: os.kill(os.getpid(), signal.SIGKILL))
leaving = faulty(lambda: os._exit(3))
raising = faulty(out_of_order)
unsure = faulty(lambda: ("positive", float("nan")))
unknown = faulty(lambda: "great")


def silent(text):
    return None if at_fault(text) else answer(text)


class TooFew:
    def predict(self, texts):
        return [answer(text)[0] for text in texts if not at_fault(text)]
"""


class Faulty:
    """The user's module of systems that are at fault with the source of row 7 alone, until they are mended."""

    def __init__(self, folder):
        self._mended = folder / "mended"
        # Python and the executors remember modules by name, so every test needs one of its own.
        self.module = f"faulty_{abs(hash(folder))}"
        (folder / f"{self.module}.py").write_text(FAULTY.format(mended=str(self._mended)), encoding="utf-8")

    def specs(self, *names):
        return [f"{self.module}:{name}" for name in names]

    def mend(self):
        self._mended.touch()


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
        assert (len(found), cells[spec]) == (INPUTS - 1, 1)


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
@pytest.mark.parametrize(
    ("executor", "faults"), [(lambda: Processes(2), DEADLY), (lambda: Processes(2), WRONG), (InProcess, WRONG)]
)
def test_the_input_that_a_system_fails_on_is_the_only_error_and_is_tried_again(
    faulty, toy_corpus, relations, engine, executor, faults
):
    specs, (healthy,) = faulty.specs(*faults), faulty.specs("healthy")
    with executor() as at_work:
        ran = run(engine, toy_corpus(), [*specs, healthy], relations, at_work, options=RunOptions(time_limit=1))
    number = len(faults)
    assert (ran.counts.executed, ran.counts.failed) == ((number + 1) * INPUTS, number)
    fail_once(engine, specs, faults.values(), healthy)
    faulty.mend()
    with executor() as at_work:
        again = run(engine, toy_corpus(), specs, relations, at_work, options=RunOptions(retry_errors=True))
    assert (again.counts.executed, again.counts.retried, again.counts.failed) == (number, number, 0)
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
