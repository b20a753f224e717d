"""The runner's contract: every input once per system, whatever is interrupted goes on, whoever does the work and in
whatever order; rejected groups are kept and not executed; what is refused is refused before a database is opened."""

import json
import random
import subprocess
import sys
import threading
from collections import Counter
from concurrent.futures import Future

import pytest
from hypothesis import given
from hypothesis import strategies as st
from interrupting import Interrupting
from sqlalchemy import select

from audit.errors import AuditError, UnderWay, UnknownName
from audit.judging.labels import answer_with_gold
from audit.judging.samples import ask_next
from audit.relations import Outcome, get_relation
from audit.relations.validity import limit_of, limited
from audit.reports.study import study_report
from audit.runner.batch import Batch
from audit.runner.dispatch import AIM, HASTE, Pace
from audit.runner.executors import InProcess, Lost, Processes
from audit.runner.fitting import fitting
from audit.runner.options import RunOptions
from audit.runner.progress import Watcher
from audit.runner.run import run
from audit.runner.studies import Later, Sampled, make_study
from audit.runner.underway import its_environment
from audit.sampling.samples import SampleOptions
from audit.store import open_store
from audit.store.core import input_table, member, verdict

pytestmark = pytest.mark.usefixtures("asked_once", "small_chunks")


class Counting(InProcess):
    batches = 0

    def submit(self, job):
        self.batches += isinstance(job, Batch)
        return super().submit(job)


def test_each_distinct_input_is_executed_once_per_system(own, toy_corpus, toy_relations, engine):
    specs = own.specs("calm", "nervous")
    first = run(engine, toy_corpus(), specs, toy_relations[:2], InProcess())
    assert (first.counts.executed, first.counts.failed, first.left) == (len(own.calls()), 0, 0)
    assert first.counts.checks == sum(first.counts.outcomes.values())
    # Rows 1, 11 and 21 share a text: 28 sources, as many shouted, and two endings each but for the fives.
    texts = {call.split("\t")[1] for call in own.calls()}
    assert len(texts & {f"Film {n} was fine." for n in range(1, 31)}) == 28
    assert len(own.calls()) == 2 * len(texts)

    again = run(engine, toy_corpus(), specs, toy_relations[:2], InProcess())
    assert (again.counts.executed, again.counts.checks) == (0, 0)
    assert "Everything was there already" in again.lines()[-1]
    other_study = run(engine, toy_corpus(), specs, toy_relations[:1], InProcess(), RunOptions(seed=7))
    assert other_study.study.id != first.study.id
    assert (other_study.counts.executed, other_study.counts.stored) == (0, 2 * 56)
    run(engine, toy_corpus(), specs, toy_relations, InProcess())
    assert Counter(own.calls()).most_common(1)[0][1] == 1


@pytest.mark.slow
def test_a_later_relation_or_system_does_only_the_new_work(own, toy_corpus, toy_relations, engine, content):
    run(engine, toy_corpus(), own.specs("calm"), toy_relations[:1], InProcess())
    before = content(engine, "verdict")
    more = run(engine, toy_corpus(), own.specs("calm"), toy_relations, InProcess())
    assert set(content(engine, "verdict")["verdict"]) > set(before["verdict"])
    assert more.counts.executed == len(own.calls()) - 56
    system = run(engine, toy_corpus(), own.specs("calm", "nervous"), toy_relations, InProcess())
    assert system.counts.executed == sum(call.startswith("nervous") for call in own.calls())
    assert system.study.id == more.study.id
    at_once = open_store("sqlite://", create=True)
    run(at_once, toy_corpus(), own.specs("calm", "nervous"), toy_relations, InProcess())
    assert study_report(engine)["cells"] == study_report(at_once)["cells"]


def judged(engine):
    """The report after a draw and gold's answers: what a user sees in the end."""
    ask_next(engine, SampleOptions(4))
    answer_with_gold(engine)
    return json.dumps(study_report(engine), ensure_ascii=False)


@pytest.mark.parametrize("every", [3, pytest.param(1, marks=pytest.mark.slow)])
def test_interrupted_at_any_batch_it_ends_as_if_undisturbed(own, toy_corpus, toy_relations, content, every):
    """Three chunks, both kinds of relation: stopped after k batches, for every (third) k, then run again."""
    specs = own.specs("calm", "failing")
    undisturbed = open_store("sqlite://", create=True)
    counting = Counting()
    ran = run(undisturbed, toy_corpus(21), specs, toy_relations, counting)
    expected, report = content(undisturbed), judged(undisturbed)
    assert counting.batches > 20
    for stop in range(0, counting.batches, every):
        engine = open_store("sqlite://", create=True)
        with pytest.raises(KeyboardInterrupt):
            run(engine, toy_corpus(21), specs, toy_relations, Interrupting(stop))
        more = run(engine, toy_corpus(21), specs, toy_relations, InProcess())
        assert more.counts.executed <= ran.counts.executed
        assert content(engine) == expected, f"stopped after {stop} batches"
        if stop % (5 * every) == 0:
            assert judged(engine) == report
        engine.dispose()


class Shuffled(InProcess):
    """Takes many jobs and hands them back in a random order."""

    places = 5

    def __init__(self, seed):
        self._chance = random.Random(seed)

    def submit(self, job):
        future = Future()
        done = super().submit(job).result()
        threading.Timer(self._chance.random() / 50, future.set_result, [done]).start()
        return future


@pytest.mark.slow
def test_the_executor_and_the_order_of_completion_change_nothing(own, tmp_path, toy_corpus, toy_relations, content):
    # Plain ones that workers know, and one that asks the systems on its way, which the run itself walks.
    relations = [get_relation("sentiment", name) for name in ("MR1.4", "MR3.1")] + toy_relations[2:]
    specs = own.specs("calm", "failing", "nervous")

    def with_(executor, name, seed=0):
        engine = open_store(str(tmp_path / f"{name}.db"), create=True)
        with executor:
            run(engine, toy_corpus(), specs, relations, executor, RunOptions(seed=seed))
        return content(engine), judged(engine)

    expected = with_(InProcess(), "alone")
    assert len(expected[0]["group"]) > 60
    executors = {f"processes{number}": Processes(number) for number in (1, 2, 3)}
    executors |= {f"shuffled{seed}": Shuffled(seed) for seed in range(5)}
    for name, executor in executors.items():
        assert with_(executor, name) == expected, name
    # And the test can tell one seed from another.
    assert with_(InProcess(), "other", seed=1)[0]["source"] != expected[0]["source"]


def test_a_larger_limit_begins_with_the_sources_of_a_smaller_one(toy_corpus):
    drawn = (Sampled(toy_corpus(), 0, limit).sources for limit in (10, 20, None, 99))
    ten, twenty, everything, more = ([(u, row.key) for u, row in sources] for sources in drawn)
    assert (len(ten), twenty[:10], everything[:20], more) == (10, ten, twenty, everything)


LIMITS = {"T1": [], "T2": ["edit-distance<=0.25"], "T3": ["edit-distance<=0.52", "perplexity-ratio<=1000"]}


def test_rejected_groups_are_kept_counted_and_never_executed(own, toy_corpus, toy_relations, engine):
    strict = [limited(one, [limit_of(text)[1] for text in LIMITS[one.name]]) for one in toy_relations]
    ran = run(engine, toy_corpus(), own.specs("calm", "nervous"), strict, InProcess())
    assert 0 < ran.counts.outcomes["rejected"] < ran.counts.checks == sum(ran.counts.outcomes.values())
    query = select(input_table.c.texts).join(member, member.c.input_id == input_table.c.id)
    query = query.where(member.c.role == "follow_up")
    own_groups = select(verdict.c.group_id).where(verdict.c.outcome == int(Outcome.REJECTED))
    with engine.connect() as connection:
        within = {texts[0] for texts in connection.execute(query.where(member.c.group_id.in_(own_groups))).scalars()}
        others = {texts[0] for texts in connection.execute(query.where(member.c.group_id.not_in(own_groups))).scalars()}
    assert within - others
    assert not (within - others) & {call.split("\t")[1] for call in own.calls()}
    again = run(engine, toy_corpus(), own.specs("calm", "nervous"), strict, InProcess())
    assert (again.counts.checks, again.counts.executed) == (0, 0)


HOLDING = """
import sys, time
from audit.runner.underway import only_run
from audit.store import open_store
from audit.store.patient import Patient
with only_run(Patient(open_store(sys.argv[1]), print), 1):
    print("held", flush=True)
    time.sleep(60)
"""


def test_a_second_run_is_told_who_runs_and_a_killed_one_leaves_the_study_free(tmp_path, toy_corpus, toy_relations):
    engine = open_store(str(tmp_path / "a.db"), create=True)
    with engine.begin() as connection:
        make_study(connection, Sampled(toy_corpus(), 0))
    command = [sys.executable, "-c", HOLDING, str(tmp_path / "a.db")]
    other = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=its_environment())
    try:
        assert other.stdout.readline() == "held\n"
        with pytest.raises(UnderWay, match=rf"under way: process {other.pid} on .*, since \d{{4}}-.* run again$"):
            run(engine, toy_corpus(), ["vader"], toy_relations, InProcess())
    finally:
        other.kill()
        other.communicate()
    assert run(engine, toy_corpus(), ["vader"], toy_relations, InProcess()).counts.checks > 0


# What is refused.


def test_relations_that_do_not_fit_are_refused(toy_corpus, toy_relations):
    documents = toy_corpus(name="documents")
    documents.unit = "document"
    with pytest.raises(AuditError, match=r"relation MR5\.1 is about a document, corpus toy has sentences$"):
        fitting(toy_corpus(), RunOptions(relations=["MR1.1", "MR5.1"]))
    with pytest.raises(AuditError, match="about a sentence, corpus documents has documents; document_share"):
        fitting(documents, RunOptions(relations=["MR1.1"]))
    with pytest.raises(AuditError, match="document_share is for documents"):
        fitting(toy_corpus(), RunOptions(relations=["MR1.1"], document_share=0.5))
    with pytest.raises(UnknownName, match=r"unknown relation 'MR99'; known are: MR1\.1"):
        fitting(toy_corpus(), RunOptions(relations=["MR99"]))
    assert [one.name for one in fitting(toy_corpus(), RunOptions(relations=["T2", "T1", "T2"]))] == ["T2", "T1"]
    assert "MR5.1" not in [one.name for one in fitting(toy_corpus())]


@pytest.mark.parametrize(
    ("systems", "changed", "reason"),
    [
        (["nobody"], {}, "unknown system 'nobody'"),
        (["OWN:nothing"], {}, "has no 'nothing'"),
        (["rapidfuzz"], {}, "system rapidfuzz does similarity, not sentiment"),
        (["vader"], {"needs": lambda: "get it"}, "corpus toy is not available; get it"),
    ],
)
def test_nothing_is_opened_where_something_is_wrong(own, toy_corpus, toy_relations, tmp_path, systems, changed, reason):
    corpus = toy_corpus()
    vars(corpus).update(changed)
    specs = [system.replace("OWN", own.module) for system in systems]
    with pytest.raises(AuditError, match=reason):
        run(Later(str(tmp_path / "x.db")), corpus, specs, toy_relations, InProcess())
    assert list(tmp_path.glob("*.db")) == []


# The sizes of batches, and what is done when one is lost.


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
            future.set_result(Lost("its process ended with signal SIGSEGV"))
            return future
        return super().submit(job)


def test_a_system_that_is_lost_again_and_again_stops_the_run_and_what_was_finished_is_kept(
    own, toy_corpus, toy_relations, content, engine
):
    executor = Losing()

    class Watching(Watcher):
        def finished(self, sources):
            executor.down = True

    with pytest.raises(AuditError, match="was lost on 10 inputs one after the other"):
        run(engine, toy_corpus(), own.specs("calm"), toy_relations, executor, watcher=Watching())
    assert executor.down
    run(engine, toy_corpus(), own.specs("calm"), toy_relations, InProcess(), RunOptions(retry_errors=True))
    whole = open_store("sqlite://", create=True)
    run(whole, toy_corpus(), own.specs("calm"), toy_relations, InProcess())
    for name in ("verdict", "group", "member", "progress"):
        assert content(engine, name) == content(whole, name)
