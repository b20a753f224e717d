"""What hangs on a question, against a world small enough to be settled by hand."""

import json

import pytest
from film_world import alone, answer, films, world
from hypothesis import given, settings
from hypothesis import strategies as st

from audit.annotation.accounts import add_account
from audit.errors import AuditError, NotAllowed
from audit.false_satisfaction.impact import consequences, read_stakes
from audit.judging.samples import ask_next
from audit.reports.study import study_report
from audit.runner.imported import import_run, read_run
from audit.sampling.samples import SampleOptions
from audit.store import open_store


def test_a_question_decides_the_winner(build):
    # Both systems satisfy both groups. a says positive of film 0, b negative; of film 1 both are right.
    engine, judge = world(build, {"a": ["positive", "positive"], "b": ["negative", "positive"]})
    right = {"Film 1.": "positive", "Film 1!": "positive", "Film 0!": "positive"}
    ids = answer(engine, right)
    # Film 0! is positive, so b's group is false whatever is said of Film 0. That of a: positive: true, SR_g 2/2 over
    # b's 1/2; neutral or negative: false, 1/2 each, a tie. So one pair hangs on it, and who is best.
    (consequence,) = consequences(engine, judge, [ids["Film 0."]])
    assert (consequence.pairs, consequence.relations, consequence.systems) == (1, ("X",), ("a",))
    assert [(of.relation, of.systems) for of in consequence.winners] == [("X", ("a", "b"))]
    assert consequence.orders == ()


def test_a_question_decides_an_order_but_not_the_winner(build):
    said = {"a": ["positive"] * 4, "b": ["positive", "negative", "positive", "positive"]}
    said["c"] = ["positive", "negative", "negative", "neutral"]
    engine, judge = world(build, said)
    right = {f"Film {n}{end}": "positive" for n in range(4) for end in ".!"}
    del right["Film 2."], right["Film 2!"]
    ids = answer(engine, right | {"Film 2!": "positive"})
    # With Film 2. positive: a 4/4, b 3/4, c 1/4. Else: a 3/4, b 2/4, c 1/4. The order stays, two pairs hang on it.
    (consequence,) = consequences(engine, judge, [ids["Film 2."]])
    assert (consequence.pairs, consequence.systems, consequence.winners, consequence.orders) == (2, ("a", "b"), (), ())
    answer(engine, {**right, "Film 3.": "neutral", "Film 3!": "neutral", "Film 2!": "positive"})
    # Now film 3 is c's: with Film 2. positive a 3/4, b 2/4, c 2/4; else a 2/4, b 1/4, c 2/4: a tie at the top.
    (consequence,) = consequences(engine, judge, [ids["Film 2."]])
    assert [of.systems for of in consequence.winners] == [("a", "c")]


@pytest.mark.parametrize("design", ["shared", "informative"])
def test_what_applies_to_one_system_alone_decides_no_winner(build, design):
    """By its own groups a is best whatever the answer, 7/8 or 6/8 to 1/2 or 0; of the two common ones each has one."""
    own = {f"Own {n}{end}": "positive" for n in range(6) for end in ".!"}
    said = {"a": ["negative", "positive"], "b": ["positive", "negative"]}
    engine, judge = world(build, said, alone("a", ["positive"] * 6, "b"), design)
    ids = answer(engine, {"Film 0!": "positive", "Film 1.": "positive", "Film 1!": "positive"} | own)
    (consequence,) = consequences(engine, judge, [ids["Film 0."]])
    # Film 0. positive: one genuine group each, a tie; else that of b is false, and a is best.
    assert [of.systems for of in consequence.winners] == [("a", "b")]


def test_systems_that_share_no_group_have_no_winner(build):
    engine, judge = world(build, {"a": ["positive"]}, alone("b", ["positive", "negative"], "a"))
    ids = answer(engine, {"Film 0.": "positive", "Film 0!": "positive", "Own 0!": "positive"})
    (consequence,) = consequences(engine, judge, [ids["Own 0."]])
    assert (consequence.pairs, consequence.winners, consequence.orders) == (1, (), ())


def test_the_most_consequential_comes_first(build):
    engine, judge = world(build, {"a": ["positive", "positive"], "b": ["negative", "positive"]})
    ids = answer(engine, {"Film 1.": "positive", "Film 1!": "positive", "Film 0!": "positive"})
    listed = consequences(engine, judge, ids.values())
    assert {consequence.question_id for consequence in listed} == set(ids.values())
    assert [consequence.urgency for consequence in listed] == sorted(consequence.urgency for consequence in listed)
    again = consequences(engine, judge, ids.values(), read_stakes(engine, judge))
    assert again == listed


@pytest.fixture(scope="module")
def three_films(tmp_path_factory):
    folder = tmp_path_factory.mktemp("world")
    said = {"a": ["positive", "negative", "positive"], "b": ["positive", "positive", "negative"]}
    (folder / "run.jsonl").write_text("\n".join(map(json.dumps, films(said))), encoding="utf-8")
    engine = open_store(str(folder / "audit.db"), create=True)
    import_run(engine, read_run(folder / "run.jsonl"))
    ask_next(engine, SampleOptions(share=1.0))
    return engine, add_account(engine, "ada", "adjudicator", "long enough").id


@pytest.mark.slow
@settings(max_examples=4)
@given(st.lists(st.sampled_from(["positive", "negative", None]), min_size=6, max_size=6))
def test_it_foresees_what_the_counts_say_after_each_answer(three_films, labels):
    """Brute force: give each answer, count and compare; whatever changes must have been foreseen, and nothing else."""
    engine, judge = three_films
    texts = [f"Film {n}{end}" for n in range(3) for end in ".!"]
    answered = {text: label for text, label in zip(texts, labels, strict=True) if label}
    ids = answer(engine, answered)
    foreseen = {consequence.question_id: consequence for consequence in consequences(engine, judge, ids.values())}
    for text in texts[:2]:
        best, orders = set(), set()
        for label in ("positive", "neutral", "negative"):
            answer(engine, answered | {text: label})
            ranking = study_report(engine)["relations"][0]
            best.add(tuple(ranking["best_genuine"]))
            orders.add(tuple(ranking["order_genuine"]) if len(ranking["order_genuine"]) == 2 else ())
        assert bool(foreseen[ids[text]].winners) == (len(best - {()}) > 1), (text, answered)
        if len(orders - {()}) > 1:
            assert foreseen[ids[text]].winners or foreseen[ids[text]].orders


def test_only_adjudicators_ask_and_only_where_something_was_checked(build, tmp_path):
    engine, _ = world(build, {"a": ["positive"]})
    ann = add_account(engine, "ann", "annotator", "long enough").id
    for work in (lambda: consequences(engine, ann, [1]), lambda: read_stakes(engine, ann)):
        with pytest.raises(NotAllowed, match="ann has the role annotator"):
            work()
    empty = open_store(str(tmp_path / "empty.db"), create=True)
    judge = add_account(empty, "ada", "adjudicator", "long enough").id
    with pytest.raises(AuditError, match="run `audit run` first"):
        consequences(empty, judge, [])
