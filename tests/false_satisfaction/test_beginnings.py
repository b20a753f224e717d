"""Which groups count: whatever the answers were, the same ones, and none that nobody could have settled as true."""

from dataclasses import replace

import hypothesis.strategies as st
import pytest
from conftest_rows import row
from hypothesis import given
from sqlalchemy import select

from audit.annotation.accounts import add_account
from audit.annotation.questions import Subject
from audit.annotation.queue import next_question
from audit.false_satisfaction.cells import count
from audit.false_satisfaction.resolution import (
    Drawn,
    KnownAnswer,
    Process,
    State,
    Step,
    beginnings,
    read_process,
    settle_group,
)
from audit.judging.judgements import judge
from audit.judging.labels import answer_with_gold
from audit.judging.samples import draw_all
from audit.sampling.draw import SampleRequest, Size
from audit.store import table_of, tables
from audit.tasks import Output

LABELS = ("negative", "neutral", "positive")
CARRIES = {"MR1.1": "everything", "MR6.1": "some labels", "MR2.2": "nothing", "nobody's": "nothing"}


def drawn(relation: str, rank: int, *labels: str) -> Drawn:
    """A satisfied group of a source and follow-ups with these outputs; its inputs are numbered 10 x rank and on."""
    roles = ("source", *("follow_up" for _ in labels[1:]))
    steps = tuple(
        Step(role, 10 * rank + at, Output(label)) for at, (role, label) in enumerate(zip(roles, labels, strict=True))
    )
    return Drawn("sentiment", relation, 1, 1, rank, rank, steps)


def about(rank: int, step: int = 0) -> Subject:
    return "sentiment", 10 * rank + step, None


def says(label: str, origin: str = "gold") -> KnownAnswer:
    return KnownAnswer(frozenset({label}), origin)


def settled(relation: str, outputs, answers):  # type: ignore[no-untyped-def]
    return [settle_group(drawn(relation, at + 1, *labels), answers) for at, labels in enumerate(outputs)]


def counts(cells, **more) -> list[tuple[int, int]]:  # type: ignore[no-untyped-def]
    return [(beginning.judged, beginning.false) for beginning in beginnings(cells, **more)]


PAIRS = [("positive", "positive"), ("negative", "negative"), ("positive", "positive"), ("negative", "negative")]
TRUTHS = ("negative", "negative", "positive", "positive")


def test_gold_of_sources_under_a_relation_that_carries_nothing_counts_nothing():
    """The first group is false by its source, the second waits: that beginning would always be all false."""
    gold = {about(at + 1): says(label) for at, label in enumerate(TRUTHS)}
    (beginning,) = beginnings([settled("MR2.2", PAIRS, gold)])
    assert (beginning.judged, beginning.false) == (0, 0)
    assert (beginning.drawn, beginning.drawn_false, beginning.drawn_open) == (4, 2, 2)
    assert beginnings([settled("MR1.1", PAIRS, gold)])[0].judged == 4


def test_a_cell_all_of_whose_groups_are_false_by_gold_is_no_exception():
    """One group a cell: were it printed where it is false and not where it waits, every printed rate would be 100 %."""
    gold = {about(1): says("negative")}
    assert counts([settled("MR2.2", [("positive", "positive")], gold)]) == [(0, 0)]
    assert counts([settled("MR1.1", [("positive", "positive")], gold)]) == [(1, 1)]


@given(
    st.sampled_from(sorted(CARRIES)),
    st.lists(st.tuples(st.sampled_from(LABELS), st.sampled_from(LABELS)), min_size=1, max_size=6),
    st.data(),
)
def test_what_gold_counts_hangs_on_which_labels_there_are_and_not_on_what_they_say(relation, outputs, data):
    places = [about(at + 1, step) for at in range(len(outputs)) for step in (0, 1)]
    there = data.draw(st.sets(st.sampled_from(places)))
    lengths = set()
    for _ in range(3):
        gold = {place: says(data.draw(st.sampled_from(LABELS))) for place in sorted(there)}
        (beginning,) = beginnings([settled(relation, outputs, gold)])
        lengths.add(beginning.judged)
    assert len(lengths) == 1


def test_a_relation_that_carries_all_that_gold_can_say_counts_by_gold():
    """MR2.1 does not carry neutral, which gold of two classes never says; MR6.1 does not carry negative."""
    gold = {about(at + 1): says(label) for at, label in enumerate(TRUTHS)}
    two = Process(gold={"sentiment": frozenset({"positive", "negative"})})
    three = Process(gold={"sentiment": frozenset(LABELS)})
    for relation, process, judged in (("MR2.1", two, 4), ("MR2.1", three, 0), ("MR6.1", two, 0), ("MR2.2", two, 0)):
        assert beginnings([settled(relation, PAIRS, gold)], process)[0].judged == judged


def test_people_are_asked_for_what_waits_so_what_they_settle_counts():
    """The second group waits for its follow-up; the first was false by its source, and counts as far as people got."""
    people = {
        about(1): says("negative", "people"),
        about(2): says("negative", "people"),
        about(2, 1): says("negative", "people"),
    }
    some_settled = settled("MR2.2", [("positive", "positive"), ("negative", "negative")], people)
    assert counts([some_settled]) == [(2, 1)]
    # Sources alone are answered: nobody is asked about follow-ups, as it seems, and the third group waits.
    sources = {about(at + 1): says(label, "people") for at, label in enumerate(TRUTHS)}
    assert counts([settled("MR2.2", PAIRS, sources)]) == [(0, 0)]


def test_beyond_what_was_asked_in_any_cell_of_the_relation_nothing_contingent_counts():
    people = {
        about(1): says("negative", "people"),
        about(1, 1): says("negative", "people"),
        about(2): says("negative", "people"),
    }
    wrong = settled("MR2.2", [("positive", "positive"), ("positive", "positive")], people)
    assert counts([wrong]) == [(2, 2)]
    # Another system is right about the second source, and its follow-up has not been asked about.
    right = settled("MR2.2", [("negative", "negative"), ("negative", "negative")], people)
    assert counts([wrong, right]) == [(1, 1), (1, 0)]
    # Once people are through with it, as in a dispute, others need not wait for the adjudicator.
    assert counts([wrong, right], process=Process(frozenset({about(2, 1)}))) == [(2, 2), (1, 0)]


def test_groups_behind_the_first_open_one_are_told():
    people = {about(at): says("positive", "people") for at in (1, 2, 4, 5)}
    cell = settled("MR1.1", [("positive", "positive")] * 6, people)
    (beginning,) = beginnings([cell])
    assert (beginning.judged, beginning.behind, beginning.first) == (2, 2, about(3))
    # More behind than before: what is open is what is hard, and the beginning is no sample of anything.
    more = people | {about(6): says("positive", "people")}
    (beginning,) = beginnings([settled("MR1.1", [("positive", "positive")] * 6, more)])
    assert (beginning.judged, beginning.behind, beginning.first) == (0, 5, about(3))


def test_informative_lists_end_together():
    people = {about(1): says("positive", "people")}
    long, short = (settled("MR1.1", [("positive", "positive")] * n, people) for n in (1, 2))
    assert counts([long, short], one_list=True) == [(1, 0), (1, 0)]
    second = [replace(group, drawn=replace(group.drawn, rank=group.drawn.rank + 1)) for group in long]
    assert [beginning.judged for beginning in beginnings([second, short], one_list=True)] == [0, 1]


def test_a_dispute_is_passed_and_a_flag_too(build):
    """In the database: two people disagree about one text, and one flags another."""
    engine = build([row(f"text {at}", f"text {at}!", ["positive", "positive"]) for at in range(3)])
    draw_all(engine, SampleRequest(Size(per_relation=3)))
    for name, label in (("ann", "positive"), ("bob", "negative")):
        account = add_account(engine, name, "annotator", "long enough")
        first = next_question(engine, account.id)
        assert first is not None
        judge(engine, account.id, first.id, label)
    with engine.connect() as connection:
        question = table_of(tables.Question)
        disputed = connection.execute(select(question.c.input_id).where(question.c.filled)).scalar_one()
        assert read_process(connection).passed == {("sentiment", disputed, None)}


@pytest.mark.parametrize("whose", ["gold", "both"])
@pytest.mark.parametrize(("relation", "judged"), [("MR1.1", 4), ("MR2.2", 0), ("mine", 0)])
def test_counts_of_a_run_with_gold_alone(build, relation, judged, whose):
    rows = [
        row(f"text {at}", f"text {at}!", list(pair), relation=relation, gold=truth)
        for at, (pair, truth) in enumerate(zip(PAIRS, TRUTHS, strict=True))
    ]
    engine = build(rows)
    draw_all(engine, SampleRequest(Size(per_relation=4)))
    answer_with_gold(engine)
    (cell,) = count(engine, whose).cells.to_dict("records")
    assert (cell["judged"], cell["drawn"]) == (judged, 4)
    assert cell["drawn_false"] == 2
    assert cell["drawn_open"] == (0 if judged else 2)
    assert State.FALSE in count(engine, whose).drawn["state"].tolist()
