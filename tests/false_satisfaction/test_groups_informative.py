"""Samples of the design `informative`, on a run that can be worked out by hand, and on a real one by plain loops."""

import numpy as np
import pandas as pd
import pytest
from conftest_rows import row
from sqlalchemy import select

from audit.false_satisfaction.cells import count
from audit.false_satisfaction.groups import comparisons, judged_groups, shared_groups
from audit.judging.labels import answer_with_gold
from audit.judging.samples import draw, draw_all
from audit.keys import uniform
from audit.relations import COUNTED, Outcome
from audit.runner.executors import InProcess
from audit.runner.run import run
from audit.sampling.draw import SampleRequest, Size
from audit.statistics.comparison import paired_differences
from audit.store import open_store, table_of, tables

GROUPS = [  # gold, a's outputs, b's outputs, a's verdict, b's verdict
    ("positive", ("positive", "positive"), ("positive", "positive"), "satisfied", "satisfied"),
    ("negative", ("positive", "positive"), ("positive", "positive"), "satisfied", "satisfied"),
    ("negative", ("positive", "positive"), ("negative", "negative"), "satisfied", "satisfied"),
    ("negative", ("negative", "negative"), ("negative", "positive"), "satisfied", "violated"),
    ("negative", ("negative", "positive"), ("negative", "positive"), "violated", "violated"),
    ("negative", ("negative", "negative"), ("neutral", "neutral"), "satisfied", "inapplicable"),
    (None, ("negative", "negative"), ("neutral", "neutral"), "satisfied", "satisfied"),
]


def prepared(build, per_relation=10):
    rows = []
    for number, (truth, *outputs, a, b) in enumerate(GROUPS):
        for system, labels, verdict in zip("ab", outputs, (a, b), strict=True):
            gold = {} if truth is None else {"gold": truth}
            rows.append(row(f"text {number}", f"text {number}!", list(labels), verdict, system=system, **gold))
    engine = build(rows)
    drawn = draw_all(engine, SampleRequest(Size(per_relation=per_relation), "informative"))
    answer_with_gold(engine)
    return engine, drawn[0], count(engine)


def test_only_what_tells_the_systems_apart_is_drawn(build):
    _, drawn, counted = prepared(build)
    # Groups 2, 3 and 6: 0 and 1 are satisfied with identical outputs, 4 by nobody, 5 does not apply to b. Group 3 is
    # violated by b, so that a has three rows and b two.
    assert (drawn.drawn, drawn.cells, drawn.distinct_groups) == (5, 2, 3)
    assert counted.cells.set_index("system")["drawn"].to_dict() == {"a": 3, "b": 2}
    assert counted.waiting == 1


def test_a_cell_has_judged_groups_but_no_false_ones(build):
    _, _, counted = prepared(build)
    assert counted.cells["false"].isna().all()
    assert judged_groups(counted).empty


def test_the_beginning_ends_for_all_systems_where_one_waits(build):
    engine, _, counted = prepared(build)
    source, input_table = table_of(tables.Source), table_of(tables.Input)
    with engine.connect() as connection:  # the study's seed is the sample's: sources in the order of u
        query = select(input_table.c.texts).join(source, source.c.input_id == input_table.c.id).order_by(source.c.u)
        order = [int(row[0][0].split()[-1]) for row in connection.execute(query)]
    order = [number for number in order if number in (2, 3, 6)]
    before = order[: order.index(6)]  # nobody has answered 6
    judged = counted.cells.set_index("system")["judged"].to_dict()
    assert judged == {"a": len(before), "b": sum(n == 2 for n in before)}
    (shared,) = shared_groups(counted, comparisons(engine, counted))
    assert shared.common.judged.sum() == 0  # a sample of comparisons is none of the cells
    settled = shared.common.genuine[shared.common.decides & ~np.isnan(shared.common.genuine).any(axis=1)]
    # Group 2: a is wrong, b right. Group 3: a is right, b violates it.
    assert settled.tolist() == [[0.0, 1.0] if n == 2 else [1.0, 0.0] for n in before]
    (difference,) = paired_differences(shared.common.genuine, shared.common.decides)
    assert (difference.groups, difference.informative, difference.judged) == (6, 3, len(before))


def by_loops(engine, sample, study, seed):
    """`shared_groups` by plain loops over rows: {relation: (systems, genuine, decides)}."""
    with engine.connect() as connection:
        groups = {
            record["id"]: dict(record) for record in connection.execute(select(table_of(tables.Group))).mappings()
        }
        verdicts = list(connection.execute(select(table_of(tables.Verdict))).mappings())
        rows = {
            record["id"]: record["row"] for record in connection.execute(select(table_of(tables.Source))).mappings()
        }
        members = list(connection.execute(select(table_of(tables.Member))).mappings())
        outputs = {
            (record["system_id"], record["input_id"]): record["label"]
            for record in connection.execute(select(table_of(tables.Output))).mappings()
        }
    drawn = count(engine, design=sample).drawn
    states = drawn[drawn["counts"]].set_index(["group_id", "system_id"])["state"].to_dict()
    result = {}
    for relation in sorted({record["relation_id"] for record in groups.values()}):
        applies = {}
        for record in verdicts:
            group = groups[record["group_id"]]
            if group["relation_id"] == relation and record["outcome"] in (Outcome.SATISFIED, Outcome.VIOLATED):
                applies.setdefault(group["source_id"], {})[record["system_id"]] = (group["id"], record["outcome"] == 0)
        systems = sorted({system for judged in applies.values() for system in judged})
        order = sorted(
            (source for source, judged in applies.items() if set(judged) == set(systems)),
            key=lambda source: uniform(seed, rows[source]),
        )
        genuine, decides, open_ = [], [], True
        for source in order:
            by_system = applies[source]
            ids = {group for group, _ in by_system.values()}
            counted = [
                record["input_id"] for record in members if record["group_id"] in ids and record["role"] in COUNTED
            ]
            alike = len(ids) == 1 and all(len({outputs[s, input_id] for s in systems}) == 1 for input_id in counted)
            held = [by_system[s][1] for s in systems]
            tells = any(held) and not (all(held) and alike)
            truth = [
                0.0 if not held[at] else {0: 1.0, 1: 0.0}.get(states.get((by_system[s][0], s)), np.nan)
                for at, s in enumerate(systems)
            ]
            open_ = open_ and not (tells and np.isnan(truth).any())
            genuine.append(truth if open_ else [np.nan] * len(systems))
            decides.append(tells)
        if len(systems) > 1:
            result[relation] = (np.array(genuine), np.array(decides))
    return result


@pytest.mark.slow
@pytest.mark.parametrize("share", [0.4, 1.0])
def test_the_arrays_say_what_plain_loops_say(own, toy_corpus, toy_relations, share):
    engine = open_store("sqlite://", create=True)
    study = run(engine, toy_corpus(), own.specs("calm", "nervous", "failing"), toy_relations, InProcess()).study.id
    draw(engine, study, SampleRequest(Size(share=share), "informative"))
    answer_with_gold(engine)
    counted = count(engine)
    shared = shared_groups(counted, comparisons(engine, counted))
    expected = by_loops(engine, "informative", study, 0)
    assert [relation_groups.relation for relation_groups in shared] == ["T1", "T2", "T3"]
    assert any(relation_groups.common.decides.sum() for relation_groups in shared)
    for relation_groups, (genuine, decides) in zip(shared, expected.values(), strict=True):
        assert relation_groups.common.decides.tolist() == decides.tolist()
        # Rows that tell nothing apart may be known or not; what they say is never used.
        pd.testing.assert_frame_equal(
            pd.DataFrame(relation_groups.common.genuine[decides]), pd.DataFrame(genuine[decides])
        )
