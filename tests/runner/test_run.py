"""The runner's contract: every input once per system, whatever fails is kept, whatever is interrupted goes on."""

from collections import Counter

import pytest
from interrupting import Interrupting
from sqlalchemy import select

from audit.judging.samples import ask_next
from audit.reports.study import study_report
from audit.runner.batch import Batch
from audit.runner.executors import InProcess
from audit.runner.options import RunOptions
from audit.runner.run import run
from audit.sampling.samples import SampleOptions
from audit.store import open_store, table_of, tables

pytestmark = pytest.mark.usefixtures("asked_once")


@pytest.fixture(autouse=True)
def small_chunks(monkeypatch):
    """Thirty sources are then four chunks, of a few batches each."""
    monkeypatch.setattr("audit.runner.studies.CHUNK", {"sentence": 8, "document": 2})
    for name in ("FEW", "MOST"):
        monkeypatch.setattr(f"audit.runner.dispatch.{name}", 10)


@pytest.fixture
def engine():
    return open_store("sqlite://", create=True)


class Counting(InProcess):
    batches = 0

    def submit(self, job):
        self.batches += isinstance(job, Batch)
        return super().submit(job)


def outcomes(engine, relation, system):
    """Outcome and reason of each source row of a cell."""
    group, verdict, source = table_of(tables.Group), table_of(tables.Verdict), table_of(tables.Source)
    relations, systems = table_of(tables.Relation), table_of(tables.System)
    query = (
        select(source.c.row, verdict.c.outcome, verdict.c.reason)
        .select_from(verdict)
        .join(group, group.c.id == verdict.c.group_id)
        .join(source, source.c.id == group.c.source_id)
        .join(relations, relations.c.id == group.c.relation_id)
        .join(systems, systems.c.id == verdict.c.system_id)
        .where(relations.c.name == relation, systems.c.name == system)
    )
    with engine.connect() as connection:
        return {row[0]: (row[1], row[2]) for row in connection.execute(query)}


def test_each_distinct_input_is_executed_once_per_system(own, toy_corpus, toy_relations, engine):
    specs = own.specs("calm", "nervous")
    first = run(engine, toy_corpus(), specs, toy_relations[:2], InProcess())
    assert (first.counts.executed, first.counts.failed, first.left) == (len(own.calls()), 0, 0)
    assert first.counts.checks == sum(first.counts.outcomes.values())
    # Rows 1, 11 and 21 share a text: 28 sources, as many shouted, and two endings each but for the fives.
    assert Counter(own.calls()).most_common(1)[0][1] == 1
    texts = {call.split("\t")[1] for call in own.calls()}
    assert len(texts & {f"Film {n} was fine." for n in range(1, 31)}) == 28
    assert len(own.calls()) == 2 * len(texts)

    again = run(engine, toy_corpus(), specs, toy_relations[:2], InProcess())
    assert (again.counts.executed, again.counts.checks) == (0, 0)
    assert "Everything was there already" in again.lines()[-1]
    other_study = run(engine, toy_corpus(), specs, toy_relations[:1], InProcess(), options=RunOptions(seed=7))
    assert other_study.study.id != first.study.id
    assert other_study.counts.executed == 0
    assert other_study.counts.stored == 2 * 56
    run(engine, toy_corpus(), specs, toy_relations, InProcess())
    assert Counter(own.calls()).most_common(1)[0][1] == 1


@pytest.mark.slow
def test_a_later_relation_or_system_does_only_the_new_work(own, toy_corpus, toy_relations, engine, content):
    run(engine, toy_corpus(), own.specs("calm"), toy_relations[:1], InProcess())
    before = content(engine, "verdict", "group", "output")
    more = run(engine, toy_corpus(), own.specs("calm"), toy_relations, InProcess())
    assert set(content(engine, "verdict")["verdict"]) > set(before["verdict"])
    assert more.counts.groups == more.counts.checks
    assert more.counts.executed == len(own.calls()) - 56
    system = run(engine, toy_corpus(), own.specs("calm", "nervous"), toy_relations, InProcess())
    assert system.counts.executed == sum(call.startswith("nervous") for call in own.calls())
    assert system.study.id == more.study.id
    assert Counter(own.calls()).most_common(1)[0][1] == 1

    at_once = open_store("sqlite://", create=True)
    run(at_once, toy_corpus(), own.specs("calm", "nervous"), toy_relations, InProcess())
    assert study_report(engine)["cells"] == study_report(at_once)["cells"]


def test_groups_have_the_members_their_relation_made(own, toy_corpus, toy_relations, engine):
    run(engine, toy_corpus(), own.specs("calm"), toy_relations, InProcess())
    group, member, relation = table_of(tables.Group), table_of(tables.Member), table_of(tables.Relation)
    query = (
        select(relation.c.name, group.c.id, group.c.system_id, member.c.role)
        .select_from(member)
        .join(group, group.c.id == member.c.group_id)
        .join(relation, relation.c.id == group.c.relation_id)
        .order_by(group.c.id, member.c.step)
    )
    shapes: dict[str, set] = {}
    roles: dict[tuple, list] = {}
    with engine.connect() as connection:
        for name, id, system, role in connection.execute(query):
            roles.setdefault((name, id, system is None), []).append(role)
    for (name, _, shared), roles_of_group in roles.items():
        shapes.setdefault(name, set()).add((shared, *roles_of_group))
    assert shapes == {
        "T1": {(True, "source", "follow_up")},
        "T2": {(True, "source", "follow_up", "follow_up")},
        "T3": {(False, "source", "probe", "follow_up")},
    }
    rows = {name: set(outcomes(engine, name, own.specs("calm")[0])) for name in ("T1", "T2", "T3")}
    assert len(rows["T1"]) == 30
    assert rows["T2"] == rows["T1"] - {"5", "15", "25"}
    assert {"1", "11", "21"} <= rows["T3"] or not {"1", "11", "21"} & rows["T3"]
    assert 0 < len(rows["T3"]) < 30


def judged(engine):
    """The report after a draw: what a user sees in the end."""
    ask_next(engine, SampleOptions(4))
    return study_report(engine)


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
        stored = content(engine)
        assert stored == expected, f"stopped after {stop} batches"
        if stop % (5 * every) == 0:
            assert judged(engine) == report
        engine.dispose()
    engine = open_store("sqlite://", create=True)
    run(engine, toy_corpus(21), specs, toy_relations, Interrupting(counting.batches))
    assert content(engine) == expected


def sources_of(engine, study):
    table = table_of(tables.Source)
    query = select(table.c.row, table.c.u).where(table.c.study_id == study).order_by(table.c.id)
    with engine.connect() as connection:
        return [tuple(row) for row in connection.execute(query)]


def test_a_larger_limit_begins_with_the_sources_of_a_smaller_one(own, toy_corpus, toy_relations, engine):
    def limited(limit):
        ran = run(
            engine, toy_corpus(), own.specs("calm"), toy_relations[:1], InProcess(), options=RunOptions(limit=limit)
        )
        return sources_of(engine, ran.study.id)

    ten, twenty, everything, more = limited(10), limited(20), limited(None), limited(99)
    assert len(ten) == 10
    assert twenty[:10] == ten
    assert everything[:20] == twenty
    assert more == everything
    assert [u for _, u in everything] == sorted(u for _, u in everything)
    assert len({u for _, u in everything}) == 30
    assert Counter(own.calls()).most_common(1)[0][1] == 1
