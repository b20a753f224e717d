"""`prepare()` of the user's own systems runs once in each process that asks them, whichever executor does; and a module
or a plug-in that raises costs nothing."""

from collections import Counter

import pytest

from audit.errors import AuditError
from audit.relations import get_relation
from audit.runner.executors import InProcess, Processes
from audit.runner.run import run

OWN = """
import os

LOG = {log!r}


class Model:
    name, version, tasks, languages, ready = "prepared", "1", ("sentiment",), ("en",), False

    def prepare(self):
        self.ready = True
        with open(LOG, "a") as file:
            file.write(f"prepare {{os.getpid()}}\\n")

    def __call__(self, text):
        if not self.ready:
            raise RuntimeError("it was not prepared")
        with open(LOG, "a") as file:
            file.write(f"asked {{os.getpid()}}\\n")
        return "positive"
"""


@pytest.fixture
def module(tmp_path, monkeypatch):
    """The user's module, of a name of its own: executors remember modules."""
    monkeypatch.chdir(tmp_path)
    name = f"preparing_{abs(hash(str(tmp_path)))}"
    (tmp_path / f"{name}.py").write_text(OWN.format(log=str(tmp_path / "log")))
    return name


both_executors = pytest.mark.parametrize("executor", [InProcess, lambda: Processes(2)])


@both_executors
def test_it_is_prepared_once_in_each_process(module, executor, tmp_path, toy_corpus, engine):
    with executor() as doing:
        ran = run(engine, toy_corpus(), [f"{module}:Model"], [get_relation("sentiment", "MR3.1")], doing)
    lines = [line.split() for line in (tmp_path / "log").read_text().splitlines()]
    prepared = Counter(pid for what, pid in lines if what == "prepare")
    assert (ran.counts.executed > 40, ran.counts.failed) == (True, 0)
    assert {pid for what, pid in lines if what == "asked"} <= set(prepared)  # whoever asks has prepared
    assert set(prepared.values()) == {1}


CHANGING = """
import pathlib


class Model:
    def __init__(self):
        loadings = pathlib.Path("loadings")
        loadings.write_text((loadings.read_text() if loadings.exists() else "") + "x")
        self.version = str(loadings.read_text() == "x")

    def __call__(self, text):
        return "positive"
"""


@both_executors
def test_one_that_is_another_when_it_is_loaded_again_is_refused(module, executor, tmp_path, toy_corpus, engine):
    (tmp_path / f"{module}.py").write_text(CHANGING)
    with executor() as doing, pytest.raises(AuditError, match=r"had version .* loaded once more"):
        run(engine, toy_corpus(), [f"{module}:Model"], [get_relation("sentiment", "MR3.1")], doing)
