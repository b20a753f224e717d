"""Asking the same input several times: each call is made once, kept, and shared by whatever is made of the calls."""

import pytest
from interrupting import Interrupting
from service import serving
from sqlalchemy import select

from audit.runner.executors import InProcess
from audit.runner.options import RunOptions
from audit.runner.run import LimitReached, run
from audit.store import open_store, table_of, tables

pytestmark = pytest.mark.usefixtures("asked_once", "small_chunks")

MOODY = '''
import fcntl

LABELS = ("positive", "neutral", "negative")


def asked(system, text):
    """Log a call; which call on this text it is, from 0, whatever process makes it."""
    with open({log!r}, "a+", encoding="utf-8") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        file.seek(0)
        number = sum(line == system + "\\t" + text + "\\n" for line in file)
        file.write(system + "\\t" + text + "\\n")
    return number


def moody(text):
    return LABELS[asked("moody", text) % 3], 0.5


def steady(text):
    asked("steady", text)
    return ("positive" if len(text) % 2 else "negative"), 0.75



def fragile(text):
    number = asked("fragile", text)
    if number == 1:
        raise RuntimeError("busy")
    return "positive", 0.5
'''


@pytest.fixture
def moody(own, tmp_path):
    """Adds systems that answer by how often they were asked; `moody("steady")` are specs, `moody.asked(...)` counts."""
    log = tmp_path / "asked.log"
    log.write_text("")
    module = f"moods_{own.module}"
    (tmp_path / f"{module}.py").write_text(MOODY.format(log=str(log)), encoding="utf-8")

    class Moody:
        def __call__(self, *names):
            return [f"{module}:{name}" for name in names]

        def asked(self, name):
            texts = [line.split("\t")[1] for line in log.read_text().splitlines() if line.split("\t")[0] == name]
            return [texts.count(text) for text in dict.fromkeys(texts)]

    return Moody()


def rows(engine, model):
    table = table_of(model)
    with engine.connect() as connection:
        return [dict(row) for row in connection.execute(select(table)).mappings()]


def outputs(engine):
    """What counts, by input: label or error."""
    return {row["input_id"]: row["label"] for row in rows(engine, tables.Output)}


def calls(engine):
    """Input -> labels by the number of the call."""
    by_input = {}
    for row in sorted(rows(engine, tables.Repeat), key=lambda row: (row["input_id"], row["number"])):
        by_input.setdefault(row["input_id"], []).append(row["label"] or "ERROR")
    return by_input


def test_each_input_is_asked_as_often_as_asked_for_and_the_first_call_counts(moody, toy_corpus, toy_relations, engine):
    args = engine, toy_corpus(), moody("moody"), toy_relations[:2], InProcess()
    ran = run(*args, RunOptions(repeats=3))
    asked = moody.asked("moody")
    assert set(asked) == {3}
    assert (ran.counts.executed, ran.counts.repeated) == (3 * len(asked), 2 * len(asked))
    assert "asked again" in " ".join(ran.lines())
    assert set(map(tuple, calls(engine).values())) == {("positive", "neutral", "negative")}
    assert set(outputs(engine)) == set(calls(engine))
    assert set(outputs(engine).values()) == {"positive"}
    again = run(*args, RunOptions(repeats=3))
    assert (again.counts.executed, moody.asked("moody")) == (0, asked)
    more = run(*args, RunOptions(repeats=5))
    assert more.counts.executed == more.counts.repeated == 2 * len(asked)
    assert set(map(len, calls(engine).values())) == {5}


@pytest.mark.slow
@pytest.mark.parametrize("batches", [1, 4, 7, 12, 16])
def test_a_run_that_is_broken_off_asks_nothing_twice(moody, toy_corpus, toy_relations, content, batches):
    whole, broken = open_store("sqlite://", create=True), open_store("sqlite://", create=True)
    args = toy_corpus(), moody("steady"), toy_relations
    run(whole, *args, InProcess(), RunOptions(repeats=3))
    asked = sum(moody.asked("steady"))
    with pytest.raises(KeyboardInterrupt):
        run(broken, *args, Interrupting(batches), RunOptions(repeats=3))
    run(broken, *args, InProcess(), RunOptions(repeats=3))
    assert sum(moody.asked("steady")) == 2 * asked  # the undisturbed run's, and as many
    assert content(whole) == content(broken)


def test_calls_that_fail_are_kept_and_made_again_only_where_that_is_asked_for(moody, toy_corpus, toy_relations, engine):
    args = engine, toy_corpus(), moody("fragile"), toy_relations[:1], InProcess()
    ran = run(*args, RunOptions(repeats=3))
    inputs = len(calls(engine))
    # A call of several texts that fails is made again, text by text: the second time each is asked is lost in that.
    failed = sum(labels.count("ERROR") for labels in calls(engine).values())
    assert ran.counts.failed == failed
    assert set(outputs(engine).values()) == {"positive"}
    assert run(*args, RunOptions(repeats=3)).counts.executed == 0
    assert run(*args, RunOptions(repeats=3, retry_errors=True)).counts.executed == failed
    after = calls(engine)
    assert len(after) == inputs
    assert all(sum(label != "ERROR" for label in labels) == 3 for labels in after.values())
    assert sum(labels.count("ERROR") for labels in after.values()) == failed  # they stay


def test_a_limit_stops_repeated_calls_and_the_same_again_makes_the_rest(tmp_path, toy_corpus, toy_relations, engine):
    with serving() as server:
        args = engine, toy_corpus(), [server.file(tmp_path, "batch = 1")], toy_relations[:1], InProcess()
        with pytest.raises(LimitReached, match="some repeated calls are left") as reached:
            run(*args, RunOptions(repeats=2, max_calls=70))
        assert (reached.value.ran.left, len(server.texts)) == (0, 70)
        run(*args, RunOptions(repeats=2))
    assert {server.texts.count(text) for text in server.texts} == {2}
    assert set(map(len, calls(engine).values())) == {2}
