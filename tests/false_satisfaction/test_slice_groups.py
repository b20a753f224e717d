"""Groups by slice and right outputs, on an imported run that can be worked out by hand."""

import numpy as np
import pandas as pd
import pytest
from conftest_rows import row

import audit
from audit.corpora.slices import find_slicing
from audit.errors import AuditError, UnknownName
from audit.false_satisfaction.accuracy import SystemAccuracy, right_outputs
from audit.false_satisfaction.cells import count
from audit.false_satisfaction.slices import MOST, slice_sources
from audit.store import table_of, tables

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


def slices_of(engine, *specs):
    """The slices of the only study, of each of these."""
    sliced = slice_sources(engine, count(engine), [find_slicing(spec) for spec in specs])
    return [next(iter(studies.values())) for studies in sliced.by.values()]


def test_by_gold_in_the_order_of_the_labels_and_what_has_none_last(build):
    engine = engine_of(build)
    (slices,) = slices_of(engine, "gold")
    assert slices.names == ("positive", "negative")
    counted = count(engine)
    groups, systems = counted.checked, counted.cells["system"].to_numpy()
    code = slices.of(counted.sources[groups.source])
    # One of the three positive groups of b was inapplicable: of each relation three and two, one, one.
    of_system = systems[groups.cell]
    assert [np.bincount(code[of_system == system]).tolist() for system in "ab"] == [[4, 2, 2], [2, 2, 2]]


def test_a_column_goes_by_its_name_and_a_function_before_it(build):
    engine = engine_of(build)
    sliced = slice_sources(engine, count(engine), [find_slicing("length"), find_slicing("column:length")])
    assert (list(sliced.by), sliced.hidden) == (["length", "column:length"], ("length",))
    texts, column = (next(iter(studies.values())) for studies in sliced.by.values())
    assert texts.names == ("1",)
    assert column.names == ("9", "10")  # in the order of numbers


def test_what_is_no_slice_is_refused(build):
    engine = engine_of(build)
    for spec in ("colour", "colour:red", "length:3"):
        with pytest.raises(
            UnknownName, match=rf"unknown slice '{spec}';.* known are: column:NAME, document.*phrase:PAT"
        ):
            slices_of(engine, spec)
    with pytest.raises(AuditError, match="slice 'phrase' needs an argument; write phrase:PATTERN"):
        slices_of(engine, "phrase")
    with pytest.raises(AuditError, match="slices: 'gold' is there twice"):
        slices_of(engine, "gold", "gold")


def test_the_column_of_documents_is_one(build):
    rows = [
        row(f"{text} {at}", "!", ["positive"] * 2, "satisfied", document=text) for text in ("x", "y") for at in range(3)
    ]
    (slices,) = slices_of(build(rows), "document")
    assert (slices.names, np.bincount(slices.code).tolist()) == (("x", "y"), [3, 3])


def test_too_many_slices_are_refused(build):
    many = [(f"text {at}", None, at + 1, "positive", "satisfied", "positive", "satisfied") for at in range(MOST + 1)]
    engine = engine_of(build, ("MR1.1",), many)
    with pytest.raises(AuditError, match=r"'column:length' of run.jsonl \(study 1\) has 51 values; slices are at most"):
        slices_of(engine, "column:length")


def test_texts_become_names_of_one_line_and_blank_ones_none(build):
    values = ["two\nlines ", " ", "one", "two lines"]
    sources = [
        (f"text {at}", None, value, "positive", "satisfied", "positive", "satisfied") for at, value in enumerate(values)
    ]
    (slices,) = slices_of(engine_of(build, ("MR1.1",), sources), "column:length")
    assert slices.names == ("one", "two lines")
    assert sorted(slices.code.tolist()) == [0, 1, 1, 2]


def test_right_outputs_worked_by_hand(build):
    engine = engine_of(build)
    (right,) = right_outputs(engine, count(engine))
    # a is right about one and two, b about two only; four has no gold label.
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


def test_without_gold_there_is_none(build):
    bare = [(text, None, None, *said) for text, _, _, *said in SOURCES]
    engine = engine_of(build, sources=bare)
    assert right_outputs(engine, count(engine))[0].systems == ()


def test_without_gold_the_answers_of_people_are_the_labels(build):
    bare = [(text, None, None, *said) for text, _, _, *said in SOURCES]
    study = audit.open(engine_of(build, sources=bare).url.database).sample(10, annotators=1)
    study.answer(pd.DataFrame({"text": ["one", "two"], "label": ["negative", "positive"], "annotator": "anna"}))
    (right,) = right_outputs(study.engine, count(study.engine))
    assert right.by == "people"
    assert right.systems == (SystemAccuracy("a", 2, 2), SystemAccuracy("b", 2, 1))
    assert right_outputs(study.engine, count(study.engine), "gold")[0].systems == ()


def test_summaries_have_references_and_no_gold(build):
    engine = engine_of(build)
    counted = count(engine)
    counted.studies[0]["task"] = "summarization"
    assert right_outputs(engine, counted)[0].systems == ()
