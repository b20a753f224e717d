"""`prepare()` of the user's own systems runs once in each process that asks them, whichever executor does; and a module
or a plug-in that raises costs nothing."""

from collections import Counter

import pytest
from sqlalchemy import func, select

from audit.errors import AuditError
from audit.relations import get_relation
from audit.runner.executors import InProcess, Processes
from audit.runner.run import run
from audit.store import open_store, table_of, tables

OWN = """
import os

LOG = {log!r}


class Prepared:
    name = "prepared"
    version = "1"
    tasks = ("sentiment",)
    languages = ("en",)
    ready = False

    def prepare(self):
        self.ready = True
        with open(LOG, "a") as file:
            file.write(f"prepare {{os.getpid()}}\\n")

    def said(self, text):
        if not self.ready:
            raise RuntimeError("it was not prepared")
        with open(LOG, "a") as file:
            file.write(f"asked {{os.getpid()}}\\n")
        return "positive"


class Model(Prepared):
    def predict(self, texts):
        return [self.said(text) for text in texts]
"""


@pytest.fixture
def module(tmp_path, monkeypatch):
    """The user's module, of a name of its own: executors remember modules."""
    monkeypatch.chdir(tmp_path)
    name = f"preparing_{abs(hash(str(tmp_path)))}"
    (tmp_path / f"{name}.py").write_text(OWN.format(log=str(tmp_path / "log")))
    return name


@pytest.fixture(autouse=True)
def small_chunks(monkeypatch):
    """Thirty sources are then four chunks."""
    monkeypatch.setattr("audit.runner.studies.CHUNK", {"sentence": 8, "document": 2})


def outputs(engine):
    """How many outputs there are, and how many are errors."""
    output = table_of(tables.Output)
    with engine.connect() as connection:
        return tuple(connection.execute(select(func.count(), func.count(output.c.error))).one())


def calls(tmp_path):
    """How often each process prepared, and which ones asked."""
    lines = [line.split() for line in (tmp_path / "log").read_text().splitlines()]
    return Counter(pid for what, pid in lines if what == "prepare"), {pid for what, pid in lines if what == "asked"}


EXECUTORS = {"in this process": InProcess, "processes": lambda: Processes(2)}


@pytest.mark.parametrize("executor", ["in this process", "processes"])
def test_it_is_prepared_once_in_each_process(module, executor, tmp_path, toy_corpus):
    relations = [get_relation("sentiment", "MR3.1")]
    engine = open_store("sqlite://", create=True)
    with EXECUTORS[executor]() as doing:
        run(engine, toy_corpus(), [f"{module}:Model"], relations, doing)
        total, errors = outputs(engine)
        prepared, asked = calls(tmp_path)
    assert total > 40
    assert errors == 0
    assert asked <= set(prepared)  # whoever asks has prepared
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


@pytest.mark.parametrize("executor", ["in this process", "processes"])
def test_one_that_is_another_when_it_is_loaded_again_is_refused(module, executor, tmp_path, toy_corpus):
    (tmp_path / f"{module}.py").write_text(CHANGING)
    engine = open_store("sqlite://", create=True)
    with EXECUTORS[executor]() as doing, pytest.raises(AuditError, match=r"had version .* loaded once more"):
        run(engine, toy_corpus(), [f"{module}:Model"], [get_relation("sentiment", "MR3.1")], doing)
