"""`audit run --retry-errors`: what failed is executed again, once; the errors stay stored as earlier attempts."""

import pytest
from sqlalchemy import select

from audit.judging.samples import ask_next
from audit.reports.study import study_report
from audit.runner.executors import InProcess
from audit.runner.run import run
from audit.sampling.samples import SampleOptions
from audit.store import open_store, table_of, tables

pytestmark = pytest.mark.usefixtures("asked_once")

FLAKY = """
from pathlib import Path


def flaky(text):
    with open({log!r}, "a", encoding="utf-8") as file:
        file.write(text + "\\n")
    if "7" in text and not Path({mended!r}).exists():
        raise RuntimeError("seven is out of order")
    return ("positive", "neutral", "negative")[sum(text.lower().encode()) % 3], 0.5
"""


@pytest.fixture(autouse=True)
def small_chunks(monkeypatch):
    """Thirty sources are then four chunks, of a few batches each."""
    monkeypatch.setattr("audit.runner.studies.CHUNK", {"sentence": 8, "document": 2})
    for name in ("FEW", "MOST"):
        monkeypatch.setattr(f"audit.runner.coordinator.{name}", 10)


class Flaky:
    """A system of the user's that fails on some texts until it is mended."""

    def __init__(self, folder):
        self._log, self._mended = folder / "log.txt", folder / "mended"
        (folder / "flaky_system.py").write_text(FLAKY.format(log=str(self._log), mended=str(self._mended)))
        self.spec = "flaky_system:flaky"

    def mend(self):
        self._mended.touch()

    def executed(self):
        """The texts that it was given since this was asked last; of a batch that fails, each is given again alone."""
        lines = self._log.read_text(encoding="utf-8").splitlines() if self._log.exists() else []
        self._log.unlink(missing_ok=True)
        return set(lines)


@pytest.fixture
def flaky(tmp_path, monkeypatch):
    import sys

    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "flaky_system", raising=False)
    # A worker keeps the systems that it made, by their spec.
    from audit.runner import batch

    batch._ready.clear()
    return Flaky(tmp_path)


@pytest.fixture
def engine():
    return open_store("sqlite://", create=True)


def outputs(engine, *columns):
    table = table_of(tables.Output)
    query = select(*(table.c[name] for name in columns)).order_by(table.c.input_id, table.c.attempt)
    with engine.connect() as connection:
        return [tuple(row) for row in connection.execute(query)]


def verdicts(engine):
    table = table_of(tables.Verdict)
    columns = (table.c.group_id, table.c.system_id, table.c.outcome, table.c.value, table.c.reason)
    with engine.connect() as connection:
        return sorted(tuple(row) for row in connection.execute(select(*columns)))


def members(engine):
    table = table_of(tables.Member)
    with engine.connect() as connection:
        return sorted(tuple(row) for row in connection.execute(select(table)))


def test_what_failed_is_executed_once_more_and_nothing_else_is(flaky, toy_corpus, toy_relations, engine):
    first = run(engine, toy_corpus(), [flaky.spec], toy_relations, InProcess())
    failed = {text for text in flaky.executed() if "7" in text}
    assert first.counts.failed == len(failed) > 3
    assert any("retry_errors" in line for line in first.lines())
    flaky.mend()
    idle = run(engine, toy_corpus(), [flaky.spec], toy_relations, InProcess())
    assert (idle.counts.executed, flaky.executed()) == (0, set())  # nothing is tried again unasked
    again = run(engine, toy_corpus(), [flaky.spec], toy_relations, InProcess(), retry_errors=True)
    tried = flaky.executed()
    # Texts that a relation makes of an output that failed are new; each is executed once.
    assert failed <= tried
    assert len(tried) == again.counts.executed
    assert again.counts.retried == len(failed)
    assert (again.counts.failed, again.counts.outcomes["error"]) == (0, 0)
    attempts = outputs(engine, "input_id", "attempt", "error")
    assert sum(attempt == 2 for _, attempt, _ in attempts) == len(failed)
    assert all((error is not None) == (attempt == 1) for id, attempt, error in attempts if (id, 2) in {
        (input_id, number) for input_id, number, _ in attempts
    })  # fmt: skip
    done = run(engine, toy_corpus(), [flaky.spec], toy_relations, InProcess(), retry_errors=True)
    assert (done.counts.checks, flaky.executed()) == (0, set())


@pytest.mark.slow
def test_in_the_end_all_is_as_if_nothing_had_ever_failed(flaky, toy_corpus, toy_relations, engine):
    run(engine, toy_corpus(), [flaky.spec], toy_relations, InProcess())
    ask_next(engine, SampleOptions(5))
    flaky.mend()
    run(engine, toy_corpus(), [flaky.spec], toy_relations, InProcess(), retry_errors=True)
    ask_next(engine, SampleOptions(5))
    calm = open_store("sqlite://", create=True)
    run(calm, toy_corpus(), [flaky.spec], toy_relations, InProcess())
    ask_next(calm, SampleOptions(5))
    assert verdicts(engine) == verdicts(calm)
    assert [row[:2] for row in members(engine)] == [row[:2] for row in members(calm)]
    mended, whole = study_report(engine)["cells"], study_report(calm)["cells"]
    for mended_row, whole_row in zip(mended, whole, strict=True):
        assert mended_row["groups"] == whole_row["groups"]
        assert mended_row["errors"] == whole_row["errors"] == 0
        assert (mended_row["satisfied"], mended_row["violated"]) == (whole_row["satisfied"], whole_row["violated"])


def test_what_fails_again_is_tried_once_in_a_run_and_stays_an_error(flaky, toy_corpus, toy_relations, engine):
    first = run(engine, toy_corpus(), [flaky.spec], toy_relations, InProcess())
    flaky.executed()
    before = verdicts(engine)
    again = run(engine, toy_corpus(), [flaky.spec], toy_relations, InProcess(), retry_errors=True)
    tried = flaky.executed()
    assert len(tried) == again.counts.executed == again.counts.failed == again.counts.retried == first.counts.failed
    assert verdicts(engine) == before
    assert max(attempt for (attempt,) in outputs(engine, "attempt")) == 2
