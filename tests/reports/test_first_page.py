"""The first page of a report: which system, how sure, what changes, what to do next; examples."""

from pathlib import Path

import pytest

import audit
from audit.exchange.rerank import rerank
from audit.false_satisfaction.accuracy import RightOutputs, SystemAccuracy
from audit.messages import phrase
from audit.reports.first_page import first_lines, next_lines, verdict
from audit.reports.options import read_weights
from audit.reports.standings import add_accuracy
from audit.reports.words import Say

HEAD = "relation,system,groups,satisfied,judged,false\n"


def decision(tmp_path: Path, *rows: str, **options: object) -> dict:
    path = tmp_path / "totals.csv"
    path.write_text(HEAD + "\n".join(rows) + "\n", encoding="utf-8")
    (entry,) = rerank(path, **options)["decisions"]
    return entry


def scores(entry: dict) -> dict:
    return {one["system"]: one["score"]["value"] for one in entry["ranking"]}


def test_a_sure_winner_and_systems_that_are_close(tmp_path):
    # Reported 90 to 80; genuine .9 x .5 = 45 % to .8 x .95 = 76 %.
    entry = decision(tmp_path, "MR1.1,a,1000,900,300,150", "MR1.1,b,1000,800,300,15")
    assert (entry["state"], entry["systems"], entry["best_observed"]) == ("sure", ["b"], ["a"])
    assert verdict(entry).startswith("Use b: the winner among 2 systems (")
    assert scores(entry) == pytest.approx({"a": 0.45, "b": 0.76})
    entry = decision(tmp_path, "MR1.1,a,1000,900,60,30", "MR1.1,b,1000,900,60,29")
    assert (entry["state"], set(entry["systems"])) == ("open", {"a", "b"})


def test_families_weigh_alike_however_many_relations_they_have(tmp_path):
    first = [f"MR1.{at},{name},100,{rate},{rate},0" for at in (1, 2, 3) for name, rate in (("a", 90), ("b", 80))]
    entry = decision(tmp_path, *first, "MR2.1,a,100,50,50,0", "MR2.1,b,100,80,80,0", target="corpus")
    assert scores(entry) == pytest.approx({"a": 0.7, "b": 0.8})
    assert (entry["families"], entry["systems"]) == (["MR1", "MR2"], ["b"])


@pytest.mark.parametrize(
    ("right", "named", "apart"), [((68, 88), ["b"], True), ((68, 70), ["b"], False), ((88, 68), [], False)]
)
def test_a_more_accurate_system_is_named_in_the_first_sentence(tmp_path, right, named, apart):
    path = tmp_path / "totals.csv"
    path.write_text(HEAD + "MR1.1,a,1000,900,300,15\nMR1.1,b,1000,800,300,150\n", encoding="utf-8")
    report = rerank(path)
    systems = tuple(SystemAccuracy(name, 100, number) for name, number in zip("ab", right, strict=True))
    add_accuracy(report, [RightOutputs(None, systems)])
    (entry,) = report["decisions"]
    assert entry["systems"] == ["a"]
    assert (entry["accuracy"]["best"], entry["accuracy"]["apart"]) == (named, apart)
    assert ("b " in verdict(entry)) == bool(named)


def test_users_weights_decide(tmp_path):
    weights = tmp_path / "mine.csv"
    weights.write_text("relation,weight\nMR1.2,1\n", encoding="utf-8")
    rows = ("MR1.1,a,1000,900,300,150", "MR1.1,b,1000,800,300,15", "MR1.2,a,1000,900,300,0", "MR1.2,b,1000,300,300,0")
    entry = decision(tmp_path, *rows, weights=read_weights(str(weights)))
    assert (entry["state"], entry["systems"], entry["weights"]) == ("sure", ["a"], "mine.csv")


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    texts = [("good", "positive"), ("not good", "negative"), ("bad", "negative")]
    rows = [(f"It isn't day {number} and the film is {word}.", gold) for number in range(20) for word, gold in texts]
    with audit.run(rows, systems=["vader", _always], relations=["MR3.1", "MR1.1"], store=None) as made:
        made.sample(60).answer_with_gold()
        yield made


def _always(text: str) -> str:
    return "positive"


@pytest.mark.slow
def test_what_changes_and_what_to_do_next(study):
    document = study.report().document
    (entry,) = document["decisions"]
    lines, steps = first_lines(document), list(next_lines(document, entry, Say()))
    assert len(lines) <= 6
    assert any("→" in line and "could be worse by up to" in line for line in lines)
    assert steps[-1] == phrase("en", "next.holds")
    with audit.run([("A good film.", "positive")], systems=["vader"], relations=["MR3.1"]) as undrawn:
        document = undrawn.report().document
        assert list(next_lines(document, document["decisions"][0], Say())) == [phrase("en", "next.draw")]


@pytest.mark.slow
def test_examples_are_false_and_take_turns(study):
    examples = study.report(examples=5).document["examples"]
    assert len(examples) == 5
    assert {entry["relation"] for entry in examples} == {"MR1.1", "MR3.1"}
    assert len({entry["row"] for entry in examples}) == 5
    assert all(any(member["wrong"] for member in entry["members"]) for entry in examples)


def test_a_system_of_which_nothing_is_judged_leaves_the_decision_to_the_others(tmp_path):
    path = tmp_path / "totals.csv"
    rows = ("MR1.1,a,1000,900,300,15", "MR1.1,b,1000,800,300,150", "MR1.1,c,1000,900,0,0")
    path.write_text(HEAD + "\n".join(rows) + "\n", encoding="utf-8")
    document = rerank(path)
    (entry,) = document["decisions"]
    assert (entry["state"], entry["systems"], entry["unjudged"]) == ("sure", ["a"], ["c"])
    assert scores(entry)["c"] is None
    assert "c" in next(next_lines(document, entry, Say()))
