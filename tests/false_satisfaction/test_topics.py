"""Groups by topic and right outputs, on an imported run that can be worked out by hand."""

import numpy as np
import pytest
from conftest_rows import row

from audit.errors import AuditError, UnknownName
from audit.false_satisfaction.accuracy import NO_GOLD, PAIRS, SystemAccuracy, right_outputs
from audit.false_satisfaction.cells import count
from audit.false_satisfaction.topics import MOST, count_topics
from audit.store import table_of, tables
from audit.tasks import TASKS, Output, get_task

SOURCES = [  # text, gold, length, a's output and verdict, b's
    ("one", "negative", 9, "negative", "satisfied", "positive", "satisfied"),
    ("two", "positive", 10, "positive", "violated", "positive", "satisfied"),
    ("three", "positive", 10, "negative", "violated", "neutral", "inapplicable"),
    ("four", None, None, "neutral", "satisfied", "positive", "violated"),
]


def engine_of(build, relations=("MR1.1", "MR3.1"), sources=SOURCES, **more):
    rows = []
    for text, gold, length, *said in sources:
        extra = ({"gold": gold} if gold else {}) | ({"attributes": {"length": length}} if length else {})
        for relation in relations:
            for system, label, verdict in (("a", *said[:2]), ("b", *said[2:])):
                changed = f"{text} {relation}"
                rows.append(row(text, changed, [label, label], verdict, relation, system, **extra, **more))
    return build(rows)


def test_by_gold_in_the_order_of_the_labels_and_what_has_none_last(build):
    engine = engine_of(build)
    counted = count(engine)
    (topics,) = count_topics(engine, counted, "gold").studies.values()
    assert topics.names == ("positive", "negative")
    cells = topics.cells[topics.cells["relation"] == "MR1.1"].sort_values(["system", "topic"])
    # a: two and three violated; one satisfied; four satisfied. b: two satisfied; one satisfied; four violated.
    assert cells[["system", "topic", "satisfied", "violated"]].values.tolist() == [
        ["a", 0, 0, 2], ["a", 1, 1, 0], ["a", 2, 1, 0], ["b", 0, 1, 0], ["b", 1, 1, 0], ["b", 2, 0, 1],
    ]  # fmt: skip
    # Under both relations: each source has two groups, and for a both of each positive one are violated.
    sums = {(row.system, row.topic): row for row in topics.sums.itertuples()}
    assert sorted(sums) == [("a", 0), ("a", 1), ("a", 2), ("b", 0), ("b", 1), ("b", 2)]
    assert (sums["a", 0].violated.tolist(), sums["a", 0].groups.tolist()) == ([2, 2], [2, 2])
    assert sums["b", 0].groups.tolist() == [2]  # three was inapplicable for b
    assert topics.topic_of(topics.sources).tolist() == topics.code.tolist()


@pytest.mark.parametrize("by", ["gold", "length"])
def test_topics_add_up_to_the_cells(build, by):
    engine = engine_of(build)
    counted = count(engine)
    (topics,) = count_topics(engine, counted, by).studies.values()
    added = topics.cells.groupby(["relation", "system"])[["satisfied", "violated"]].sum()
    whole = counted.cells.set_index(["relation", "system"])[["satisfied", "violated"]]
    assert added.sort_index().values.tolist() == whole.sort_index().values.tolist()
    assert sum(row.groups.sum() for row in topics.sums.itertuples()) == int(whole.to_numpy().sum())


def test_numbers_are_in_the_order_of_numbers(build):
    engine = engine_of(build)
    (topics,) = count_topics(engine, count(engine), "length").studies.values()
    assert topics.names == ("9", "10")


def test_what_is_no_topic_is_refused(build):
    engine = engine_of(build)
    with pytest.raises(UnknownName, match=r"unknown attribute 'colour'; known are: gold, length"):
        count_topics(engine, count(engine), "colour")


def test_gold_that_nobody_gave_is_refused(build):
    bare = [(text, None, None, *said) for text, _, _, *said in SOURCES]
    engine = engine_of(build, sources=bare)
    with pytest.raises(AuditError, match="no source has a gold label"):
        count_topics(engine, count(engine), "gold")


def test_too_many_topics_are_refused(build):
    many = [(f"text {at}", None, at + 1, "positive", "satisfied", "positive", "satisfied") for at in range(MOST + 1)]
    engine = engine_of(build, ("MR1.1",), many)
    with pytest.raises(AuditError, match=r"'length' of run.jsonl \(study 1\) has 51 values; topics are at most 50"):
        count_topics(engine, count(engine), "length")


def test_texts_become_names_of_one_line_and_blank_ones_none(build):
    values = ["two\nlines ", " ", "one", "two lines"]
    sources = [
        (f"text {at}", None, value, "positive", "satisfied", "positive", "satisfied") for at, value in enumerate(values)
    ]
    engine = engine_of(build, ("MR1.1",), sources)
    (topics,) = count_topics(engine, count(engine), "length").studies.values()
    assert topics.names == ("one", "two lines")
    assert sorted(topics.code.tolist()) == [0, 1, 1, 2]


def test_right_outputs_worked_by_hand(build):
    engine = engine_of(build)
    (right,) = right_outputs(engine, count(engine))
    # a is right about one and two, b about two only; four has no gold label.
    assert right.sources == 3
    assert right.systems == (SystemAccuracy("a", 3, 2), SystemAccuracy("b", 3, 1))


def test_a_failed_output_is_none(build):
    engine = engine_of(build)
    output, source_table = table_of(tables.Output), table_of(tables.Source)
    with engine.begin() as connection:
        of = connection.execute(source_table.select().where(source_table.c.gold == "negative")).one()
        failed = output.update().where(output.c.input_id == of.input_id, output.c.system_id == 1)
        connection.execute(failed.values(error="down", label=None, score=None))
    (right,) = right_outputs(engine, count(engine))
    assert right.systems[0] == SystemAccuracy("a", 2, 1)


def test_without_gold_there_is_a_reason(build):
    bare = [(text, None, None, *said) for text, _, _, *said in SOURCES]
    engine = engine_of(build, sources=bare)
    assert right_outputs(engine, count(engine))[0].reason == NO_GOLD


def test_summaries_have_references_and_no_gold(build):
    engine = engine_of(build)
    counted = count(engine)
    counted.studies[0]["task"] = "summarization"
    assert right_outputs(engine, counted)[0].reason == PAIRS


@pytest.mark.parametrize("name", [*TASKS, "classification/finance,sports"])
def test_right_is_the_same_label_for_every_task_of_inputs(name):
    # What `right_outputs` counts in the database.
    task = get_task(name)
    if task.question_kind == "input":
        for gold in task.labels:
            wrong = [task.is_wrong(Output(label, 0.5), {gold}) for label in task.labels]
            assert wrong == [label != gold for label in task.labels]


def test_sources_of_a_system_may_differ(build):
    # b was run on the first two texts only: its topics have fewer sources.
    rows = [row(text, f"{text}!", [label, label], verdict, gold=gold) for text, gold, _, label, verdict, *_ in SOURCES]
    rows += [
        row(text, f"{text}!", [label] * 2, verdict, system="b", gold=gold)
        for text, gold, *_, label, verdict in SOURCES[:2]
    ]
    rows = [record for record in rows if record["gold"]]
    engine = build(rows)
    (topics,) = count_topics(engine, count(engine), "gold").studies.values()
    clusters = {(record.system, record.topic): np.count_nonzero(record.groups) for record in topics.sums.itertuples()}
    assert clusters == {("a", 0): 2, ("a", 1): 1, ("b", 0): 1, ("b", 1): 1}
