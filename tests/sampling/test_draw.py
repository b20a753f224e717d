"""Drawing from a database: what was drawn stays drawn, whatever is asked or run later."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import select

from audit.errors import AuditError, UnknownName
from audit.judging.samples import draw, draw_all
from audit.relations import Outcome
from audit.runner.executors import InProcess
from audit.runner.options import RunOptions
from audit.runner.run import run
from audit.sampling.draw import SampleRequest, Size
from audit.store import group_id, input_ids, insert_new, open_store, table_of, tables
from audit.tasks import Input


def database(sources=30):
    """A study of two relations and two systems with sources, but no verdicts yet."""
    engine = open_store("sqlite://", create=True)
    with engine.begin() as connection:
        ids = input_ids(connection, [Input.of(f"Text {n}.") for n in range(1, sources + 1)])
        study = {
            "id": 1, "key": b"k" * 16, "task": "sentiment", "corpus": "made", "fingerprint": "f", "unit": "sentence",
            "has_gold": False, "seed": 3, "limit": None, "chunk": 10, "created_at": tables.now(),
        }  # fmt: skip
        insert_new(connection, tables.Study, [study])
        rows = [
            {"id": n, "study_id": 1, "row": f"r{n}", "input_id": id, "gold": None, "cluster": None, "attributes": {},
             "u": n / 100}
            for n, id in enumerate(sorted(ids.values()), start=1)
        ]  # fmt: skip
        insert_new(connection, tables.Source, rows)
        for n in (1, 2):
            relation = {"id": n, "task": "sentiment", "name": f"R{n}", "version": "1", "params": "{}"}
            insert_new(connection, tables.Relation, [relation])
            insert_new(connection, tables.System, [{"id": n, "name": f"S{n}", "version": "1", "settings": "{}"}])
    return engine


def add(engine, outcomes):
    """Verdicts by (relation, system, source); relation 2 has a group for each system."""
    groups, verdicts = {}, []
    for (relation, system, source), outcome in outcomes.items():
        own = system if relation == 2 else None
        id = group_id(source, relation, own)
        groups[id] = {"id": id, "study_id": 1, "relation_id": relation, "source_id": source, "system_id": own}
        verdicts.append({"group_id": id, "system_id": system, "outcome": int(outcome), "value": None, "reason": None})
    with engine.begin() as connection:
        insert_new(connection, tables.Group, list(groups.values()))
        insert_new(connection, tables.Verdict, verdicts)


def drawn(engine, sample=None):
    """(relation, system) -> [(group, rank, pi)] in the order of ranks."""
    table = table_of(tables.Draw)
    query = select(table).order_by(table.c.relation_id, table.c.system_id, table.c.rank)
    if sample is not None:
        query = query.where(table.c.sample_id == sample)
    rows_of_cell = {}
    with engine.connect() as connection:
        for row in connection.execute(query).mappings():
            rows_of_cell.setdefault((row["relation_id"], row["system_id"]), []).append(
                (row["group_id"], row["rank"], row["pi"])
            )
    return rows_of_cell


places = st.tuples(st.integers(1, 2), st.integers(1, 2), st.integers(1, 30))
populations = st.dictionaries(places, st.sampled_from(list(Outcome)), min_size=5, max_size=80)
sizes = st.one_of(st.builds(Size, st.integers(1, 35)), st.builds(lambda share: Size(share=share), st.floats(0.01, 1)))
steps = st.lists(sizes, min_size=1, max_size=3)


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(populations, steps, populations)
def test_what_was_drawn_stays_and_every_cell_is_a_beginning(before, size_list, later):
    engine = database()
    before = before | {(1, 1, 1): Outcome.SATISFIED}
    add(engine, before)
    before_this: dict = {}
    for size in size_list:
        sample = draw(engine, 1, SampleRequest(size))
        now = drawn(engine)
        satisfied = {
            cell: {place[2] for place, outcome in before.items() if place[:2] == cell and outcome == Outcome.SATISFIED}
            for cell in [(r, s) for r in (1, 2) for s in (1, 2)]
        }
        assert sample.drawn == sum(map(len, now.values()))
        assert sample.added == sample.drawn - sum(map(len, before_this.values()))
        assert set(now) == {cell for cell, sources in satisfied.items() if sources}
        for cell, rows in now.items():
            total = len(satisfied[cell])
            assert [rank for _, rank, _ in rows] == list(range(1, len(rows) + 1))
            assert len(rows) == max(size.of(total), len(before_this.get(cell, [])))
            assert all(pi == pytest.approx(len(rows) / total) for _, _, pi in rows)
            chosen = [group >> 20 for group, _, _ in rows]
            assert len(set(chosen)) == len(chosen)  # at most one group per (relation, source, system)
            assert set(chosen) <= satisfied[cell]
            # What was drawn keeps its rank while the population stays.
            assert [row[:2] for row in before_this.get(cell, [])] == [
                row[:2] for row in rows[: len(before_this.get(cell, []))]
            ]
        before_this = now
    # The run goes on: more groups are satisfied. What was drawn stays drawn, and the rest is still a beginning.
    add(engine, {place: outcome for place, outcome in later.items() if place not in before})
    draw(engine, 1, SampleRequest(size_list[0]))
    grown = drawn(engine)
    everything = database()
    add(everything, later | before)
    draw(everything, 1, SampleRequest(Size(per_relation=100)))
    complete = drawn(everything)
    for cell, rows in grown.items():
        assert {group for group, _, _ in before_this.get(cell, [])} <= {group for group, _, _ in rows}
        assert [group for group, _, _ in rows] == [group for group, _, _ in complete[cell]][: len(rows)]
        assert all(pi == pytest.approx(len(rows) / len(complete[cell])) for _, _, pi in rows)


@pytest.fixture
def full():
    engine = database()
    add(engine, {(r, s, n): Outcome.SATISFIED for r in (1, 2) for s in (1, 2) for n in range(1, 31)})
    return engine


def test_the_same_call_draws_the_same_and_adds_nothing(full):
    first = draw(full, 1, SampleRequest(Size(per_relation=5)))
    kept = drawn(full)
    again = draw(full, 1, SampleRequest(Size(per_relation=5)))
    assert (first.added, again.added, again.drawn, again.sample) == (20, 0, 20, first.sample)
    assert drawn(full) == kept
    smaller = draw(full, 1, SampleRequest(Size(per_relation=2)))
    assert (smaller.drawn, smaller.added) == (20, 0)
    assert drawn(full) == kept


def test_more_than_there_are_draws_all_with_pi_one(full):
    sample = draw(full, 1, SampleRequest(Size(per_relation=1000)))
    assert (sample.drawn, sample.cells, sample.distinct_sources) == (120, 4, 30)
    assert sample.distinct_groups == 90  # relation 1 has one group for both systems
    assert {pi for rows in drawn(full).values() for _, _, pi in rows} == {1.0}


def test_relations_may_have_numbers_of_their_own(full):
    first, second = relations_of(full)
    assert draw(full, 1, SampleRequest(Size({first: 4}))).drawn == 8
    assert {cell: len(rows) for cell, rows in drawn(full).items()} == {(1, 1): 4, (1, 2): 4}
    sample = draw(full, 1, SampleRequest(Size({first: 2, second: 3})))
    assert (sample.drawn, sample.added) == (14, 6)  # what was drawn of the first stays
    with pytest.raises(UnknownName, match="unknown relation 'MR9'"):
        draw_all(full, SampleRequest(Size({first: 4, "MR9": 1})))
    with pytest.raises(AuditError, match=f"per_relation {first}=0: must be at least 1"):
        Size({first: 0})


def relations_of(engine):
    table = table_of(tables.Relation)
    with engine.connect() as connection:
        return [str(row[0]) for row in connection.execute(select(table.c.name).order_by(table.c.id))]


def test_seeds_and_designs_are_samples_of_their_own(full):
    default = draw(full, 1, SampleRequest(Size(per_relation=3)))
    assert default.seed == 3  # the study's
    assert draw(full, 1, SampleRequest(Size(per_relation=3), seed=3)).sample == default.sample
    other = draw(full, 1, SampleRequest(Size(per_relation=3), seed=4))
    assert other.sample != default.sample
    assert drawn(full, other.sample) != drawn(full, default.sample)
    assert sum(map(len, drawn(full, default.sample).values())) == 12


def test_only_satisfied_groups_are_drawn():
    engine = database()
    add(engine, {(1, 1, n): Outcome(n % 4) for n in range(1, 31)})
    draw(engine, 1, SampleRequest(Size(per_relation=100)))
    assert sorted(group >> 20 for group, _, _ in drawn(engine)[1, 1]) == [n for n in range(1, 31) if n % 4 == 0]


def test_nothing_to_draw_from_is_said(full):
    empty = database()
    with pytest.raises(AuditError, match="study 1 has no satisfied groups to draw from"):
        draw(empty, 1, SampleRequest(Size(per_relation=5)))
    with pytest.raises(AuditError, match="no group is satisfied, so there is nothing to draw"):
        draw_all(empty, SampleRequest(Size(per_relation=5)))
    with pytest.raises(AuditError, match="there is no study 9; this database has 1"):
        draw_all(full, SampleRequest(Size(per_relation=5)), study=9)
    with pytest.raises(UnknownName, match="unknown design 'clever'"):
        draw_all(full, SampleRequest(Size(per_relation=5), design="clever"))
    with pytest.raises(AuditError, match="annotators 0: must be at least 1"):
        draw_all(full, SampleRequest(Size(per_relation=5), annotators=0))
    assert drawn(full) == {}


def test_a_study_in_which_nothing_is_satisfied_does_not_keep_the_others_from_being_drawn(
    own, toy_corpus, toy_relations
):
    engine = open_store("sqlite://", create=True)
    run(engine, toy_corpus(), own.specs("calm"), toy_relations[:1], InProcess())
    never = own.specs("leaving")
    run(engine, toy_corpus(3), never, toy_relations[:1], InProcess(), options=RunOptions(seed=5))
    group, verdict = table_of(tables.Group), table_of(tables.Verdict)
    with engine.begin() as connection:
        second = select(group.c.id).where(group.c.study_id == 2)
        connection.execute(verdict.update().where(verdict.c.group_id.in_(second)).values(outcome=int(Outcome.VIOLATED)))
    samples = draw_all(engine, SampleRequest(Size(per_relation=2)))
    assert [sample.study for sample in samples] == [1]
    with pytest.raises(AuditError, match="study 2 has no satisfied groups"):
        draw_all(engine, SampleRequest(Size(per_relation=2)), study=2)


def test_a_run_that_is_not_finished_is_said(own, toy_corpus, toy_relations, monkeypatch):
    monkeypatch.setattr("audit.runner.studies.CHUNK", {"sentence": 10})
    engine = open_store("sqlite://", create=True)
    run(engine, toy_corpus(), own.specs("calm"), toy_relations[:1], InProcess())
    assert not draw_all(engine, SampleRequest(Size(per_relation=3)))[0].unfinished
    progress = table_of(tables.Progress)
    with engine.begin() as connection:
        connection.execute(progress.delete().where(progress.c.chunk == 2))
    assert draw_all(engine, SampleRequest(Size(per_relation=3)))[0].unfinished
