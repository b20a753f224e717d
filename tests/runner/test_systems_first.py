"""What systems must be before and while a run asks them: prepared once in each process, and the same as before."""

from collections import Counter

import pytest

import audit
from audit.errors import AuditError
from audit.relations import get_relation
from audit.runner.executors import InProcess, Processes
from audit.runner.run import run
from audit.systems import SYSTEMS

OWN = """
import os, pathlib


class Model:
    name, version, tasks, languages, ready = "prepared", "1", ("sentiment",), ("en",), False

    def prepare(self):
        self.ready = True
        with open("log", "a") as file:
            file.write(f"prepare {os.getpid()}\\n")

    def __call__(self, text):
        if not self.ready:
            raise RuntimeError("it was not prepared")
        with open("log", "a") as file:
            file.write(f"asked {os.getpid()}\\n")
        return "positive"


class Changing:
    def __init__(self):
        loadings = pathlib.Path("loadings")
        loadings.write_text((loadings.read_text() if loadings.exists() else "") + "x")
        self.version = str(loadings.read_text() == "x")

    def __call__(self, text):
        return "positive"
"""


@pytest.mark.parametrize("executor", [InProcess, lambda: Processes(2)])
def test_one_is_prepared_once_in_each_process_and_refused_where_it_is_another(
    executor, tmp_path, monkeypatch, toy_corpus, engine
):
    monkeypatch.chdir(tmp_path)
    module = f"preparing_{abs(hash(str(tmp_path)))}"  # executors remember modules
    (tmp_path / f"{module}.py").write_text(OWN)
    relations = [get_relation("sentiment", "MR3.1")]
    with executor() as doing:
        ran = run(engine, toy_corpus(), [f"{module}:Model"], relations, doing)
        with pytest.raises(AuditError, match=r"had version .* loaded once more"):
            run(engine, toy_corpus(), [f"{module}:Changing"], relations, doing)
    lines = [line.split() for line in (tmp_path / "log").read_text().splitlines()]
    prepared = Counter(pid for what, pid in lines if what == "prepare")
    assert (ran.counts.executed > 40, ran.counts.failed) == (True, 0)
    assert {pid for what, pid in lines if what == "asked"} <= set(prepared)  # whoever asks has prepared
    assert set(prepared.values()) == {1}


# Outputs of another model are not shown as those of the present one: stored inputs are asked again.


class Said:
    """A function of one version, whose answers and scores are those of its attributes."""

    version, word, moved, calls = "1", "good", 0.0, 0

    def __call__(self, text):
        self.calls += 1
        return ("positive" if self.word in text.casefold() else "negative"), 0.5 + self.moved


@pytest.fixture
def ran(tmp_path):
    """Runs a system on some texts in one database; the inputs executed."""
    texts = [f"Film {number} was {'good' if number % 2 else 'bad'}." for number in range(12)]

    def run(system, **options):
        study = audit.run(texts, {"mine": system}, ["MR3.1"], store=tmp_path / "f.db", progress=False, **options)
        return study.ran.counts.executed

    with SYSTEMS.restored():
        yield run


def test_stored_inputs_are_asked_again_and_another_answer_stops_the_run(ran):
    said = Said()
    assert (ran(said), said.calls) == (24, 24)
    said.moved = 1e-7
    assert (ran(said), said.calls) == (0, 27)
    for name, value in (("word", "film"), ("moved", 0.1)):
        before = getattr(said, name)
        setattr(said, name, value)
        with pytest.raises(AuditError, match=r"(?s)system mine now answers .* to '.*', and .* is stored for version"):
            ran(said)
        setattr(said, name, before)
    said.word, said.version = "film", "2"  # the way on
    assert ran(said) == 24


def test_one_that_may_answer_otherwise_is_told_and_not_stopped(ran):
    said = Said()
    ran(said)
    said.word, said.deterministic = "film", False
    with pytest.warns(UserWarning, match="system mine now answers .* that may be chance"):
        assert ran(said) == 0
