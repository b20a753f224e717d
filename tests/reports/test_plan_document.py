"""`audit plan` on small imported runs, where every question can be counted by hand."""

import json
import shlex

import pytest

from audit.cli import main
from audit.judging.labels import answer_with_gold
from audit.judging.samples import draw_all
from audit.reports.plan import PlanRequest, plan
from audit.reports.study import study_report
from audit.runner.imported import import_run
from audit.sampling.draw import SampleRequest, Size
from audit.store import open_store


def row(number, system, label, relation="MR1.1", verdict="satisfied", gold="positive"):
    source = {"relation": relation, "system": system, "source": f"It isn't {number}.", "gold": gold, "verdict": verdict}
    return source | {"follow_ups": [f"{relation}: it is not {number}."], "outputs": [label, label]}


@pytest.fixture
def build(tmp_path):
    def make(rows):
        path = tmp_path / "run.jsonl"
        path.write_text("\n".join(json.dumps(row) for row in rows), encoding="utf-8")
        engine = open_store(str(tmp_path / "audit.db"), create=True)
        import_run(engine, path)
        return engine

    return make


def by_design(document):
    return {design["design"]: design for design in document["designs"]}


def test_one_question_for_groups_of_two_systems_and_two_relations(build):
    # MR1.1 carries answers: 6 sources, 6 questions, though there are 12 + 6 groups. X carries none: 6 follow-ups more.
    rows = [row(n, system, "positive") for n in range(6) for system in "ab"]
    engine = build(rows)
    assert by_design(plan(engine, PlanRequest(half_width=0.05)))["shared"]["questions"] == 6
    engine = build(rows + [row(n, "a", "positive", "X") for n in range(6)])
    designs = by_design(plan(engine, PlanRequest(half_width=0.05)))
    assert {design["questions"] for design in designs.values()} == {12}


def test_what_each_relation_needs_on_its_own(build):
    # MR1.1 asks about 6 sources; X, which carries nothing, about the same sources and about 6 follow-ups.
    rows = [row(n, system, "positive") for n in range(6) for system in "ab"]
    engine = build(rows + [row(n, "a", "positive", "X") for n in range(6)])
    document = plan(engine, PlanRequest(half_width=0.05))
    assert {relation["relation"]: relation["to_go"]["shared"] for relation in document["relations"]} == {
        "MR1.1": 6,
        "X": 12,
    }
    assert by_design(document)["shared"]["to_go"] == 12
    draw_all(engine, SampleRequest(Size(share=1.0)))
    answer_with_gold(engine)
    # Gold answers the sources; the follow-ups of X are not in the corpus.
    document = plan(engine, PlanRequest(half_width=0.05))
    after = {relation["relation"]: relation["to_go"] for relation in document["relations"]}
    assert set(after["MR1.1"].values()) == {0}
    assert set(after["X"].values()) == {6}


def test_a_contest_counts_only_informative_groups(build):
    # 30 groups with identical outputs, 10 that only a satisfies, 5 where both do with different outputs.
    rows = [row(n, system, "positive") for n in range(30) for system in "ab"]
    rows += [row(n, "a", "positive") for n in range(30, 45)]
    rows += [row(n, "b", "negative", verdict="violated" if n < 40 else "satisfied") for n in range(30, 45)]
    engine = build(rows)
    document = plan(engine, PlanRequest(decide="winner"))
    (relation,) = document["relations"]
    assert (relation["common"], relation["informative"], relation["judged"]) == (45, 15, 0)
    assert (relation["decided"], relation["risk"], relation["order"]) == (False, None, [])
    stops = by_design(document)["always-valid"]
    assert stops["questions"] == stops["questions_worst"] == 15  # P(best) needs all of so few
    # There is one relation, so what it needs is what all need.
    assert relation["to_go"] == {name: design["to_go"] for name, design in by_design(document).items()}

    draw_all(engine, SampleRequest(Size(share=1.0)))
    answer_with_gold(engine)
    document = plan(engine, PlanRequest(decide="order"))
    (relation,) = document["relations"]
    assert (relation["judged"], relation["decided"], relation["risk"]) == (15, True, 0.0)
    assert relation["order"] == ["a", "b"]
    # a: 45 of 45 true (gold is positive, and so is a); b: 30 of 45. All are judged, so the interval is a point.
    (difference,) = relation["differences"]
    assert [difference[name] for name in ("difference", "low", "high")] == pytest.approx([1 / 3] * 3)
    assert by_design(document)["always-valid"]["to_go"] == 0


@pytest.mark.slow
def test_a_plan_for_a_winner_is_done_where_the_report_has_probabilities_and_not_before(build):
    # All groups tell a from b, and a is always right: a few groups decide that already. Ten apply to c.
    rows = [row(n, system, "positive" if system != "b" else "negative") for n in range(200) for system in "ab"]
    rows += [row(n, "c", "negative", verdict="satisfied" if n < 10 else "inapplicable") for n in range(200)]
    engine = build(rows[:400])
    for _ in range(3):
        (relation,) = plan(engine, PlanRequest(decide="winner"))["relations"]
        draw_all(engine, SampleRequest(Size(per_relation=relation["groups"]["always-valid"]), "informative"))
        answer_with_gold(engine)
    (relation,) = plan(engine, PlanRequest(decide="winner"))["relations"]
    assert (relation["decided"], relation["to_go"]["always-valid"]) == (True, 0)
    assert [one["p_best"] for one in study_report(engine)["relations"][0]["ranking"]] == pytest.approx([1, 0], abs=0.01)
    # A narrow system does not keep the plan from counting what the others share.
    *_, relation = plan(build(rows), PlanRequest(decide="winner"))["relations"]
    assert (relation["common"], relation["informative"]) == (200, 200)


def flawed(number, system, relation="MR1.1"):
    """Two systems that are both satisfied everywhere and differ on every third text."""
    return row(number, system, "negative" if number % 3 == 0 and system == "b" else "positive", relation)


@pytest.mark.slow
@pytest.mark.parametrize("goal", [["--decide", "winner"], ["--decide", "order"], ["--half-width", "0.15"]])
@pytest.mark.parametrize("design", ["shared", "always-valid"])
def test_the_command_of_a_plan_draws_what_it_counts(build, tmp_path, capsys, goal, design):
    rows = [flawed(n, system) for n in range(200) for system in "ab"]
    rows += [flawed(n, system, "MR1.2") for n in range(0, 200, 2) for system in "ab"]
    build(rows)
    asks = ["plan", "--db", str(tmp_path / "audit.db"), *goal, "--annotators", "3"]
    assert main([*asks, "--json"]) == 0
    of = by_design(json.loads(capsys.readouterr().out)).get(design)
    if of is None or not of["draw"]:
        assert (design, goal[0]) in {("always-valid", "--half-width")}
        return
    assert main(asks) == 0
    assert f"    {of['draw']}\n" in capsys.readouterr().out
    program, *words = shlex.split(of["draw"])
    assert program == "audit"
    assert main([*words, "--audit-follow-ups", "0", "--json"]) == 0
    drawn = json.loads(capsys.readouterr().out)
    # All answers carry from the sources: what waits is what the plan counts, neither more nor less.
    assert drawn["waiting"] == of["to_go"] == of["questions"] > 0
    assert main([*asks, "--json"]) == 0
    assert by_design(json.loads(capsys.readouterr().out))[design]["draw"] == of["draw"]


@pytest.mark.parametrize("goal", [{"decide": "winner"}, {"half_width": 0.2}])
def test_a_plan_for_gold_counts_its_sources_and_its_command_draws_from_them(build, capsys, tmp_path, goal):
    rows = [flawed(n, system) for n in range(60) for system in "ab"]
    engine = build([row | {"gold": None} if at % 4 < 2 else row for at, row in enumerate(rows)])
    wholly = plan(engine, PlanRequest(**goal))
    draw_all(engine, SampleRequest(Size(per_relation=5)))  # of all sources, with the study's seed
    document = plan(engine, PlanRequest(**goal, domain="gold", database=str(tmp_path / "audit.db")))
    counted = {
        name: by_design(plan_document)["shared"]["questions_worst"]
        for name, plan_document in (("all", wholly), ("gold", document))
    }
    assert 0 < counted["gold"] <= 30 < counted["all"] + 30
    assert {cell["satisfied"] for cell in document["cells"]} <= {30}
    assert {relation.get("common", 30) for relation in document["relations"]} == {30}
    draw = by_design(document)["shared"]["draw"]
    assert draw.endswith(" --domain gold --seed 1")
    assert document["notes"][0] == "Only sources with a gold label count, and are drawn from."
    assert main([*shlex.split(draw)[1:], "--audit-follow-ups", "0", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["studies"][0]["domain"] == "gold"
    # Goes on with the sample that is there, and with its seed.
    again = by_design(plan(engine, PlanRequest(**goal, domain="gold", database=str(tmp_path / "audit.db"))))["shared"]
    assert again["draw"] == draw


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ("--half-width 0", "half-width of 0 "),
        ("--half-width 0.6", "half-width of 0.6"),
        ("--half-width 0.05 --confidence 1", "confidence 1"),
        ("--half-width 0.05 --guess 1.5", "guessed rate of 1.5"),
        ("--half-width 0.05 --price 20", "needs a pace"),
        ("--half-width 0.05 --pace -1", "pace of -1"),
        ("--half-width 0.05 --annotators 0", "at least 1"),
        ("--decide winner --delta 0", "delta of 0"),
        ("--decide winner --delta 2", "delta of 2"),
        ("--half-width 0.05 --study 9", "no study 9"),
        ("--half-width 0.05 --domain silver", "unknown domain 'silver'"),
        ("--half-width 0.05 --domain gold --study 1", "no satisfied group has a source of the domain gold"),
    ],
)
def test_mistakes_are_one_sentence(build, tmp_path, capsys, arguments, says):
    build([row(n, system, "positive", gold=None) for n in range(3) for system in "ab"])
    assert main(["plan", "--db", str(tmp_path / "audit.db"), *arguments.split()]) == 2
    error = capsys.readouterr().err
    assert says in error
    assert error.count("\n") == 1
