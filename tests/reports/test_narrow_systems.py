"""Systems that share few groups with others, or none: each two are compared on what both have, in the whole report."""

import json
import random

import pytest

from audit.judging.labels import answer_with_gold
from audit.judging.samples import draw_all
from audit.reports.sections import to_terminal
from audit.reports.study import study_report
from audit.runner.imported import import_run, read_run
from audit.sampling.draw import SampleRequest, Size
from audit.store import open_store

RIGHT = {"x": 0.97, "y": 0.75, "z": 0.5, "v": 0.7, "w": 0.4}


def report_of(tmp_path, applies, design="shared", groups=400, target="population"):
    """The report of a relation whose systems apply to these texts, of a sample of 60 groups that gold answers."""
    rows = []
    for system, texts in applies.items():
        chance = random.Random(system)  # the same answers, whoever else is compared
        for number in range(groups):
            right = chance.random() < RIGHT[system]
            outcome = "satisfied" if chance.random() < 0.9 else "violated"
            label, other = ("positive", "negative") if right else ("negative", "positive")
            row = {"relation": "MR1.1", "system": system, "source": f"text {number}", "follow_ups": [f"text {number}!"]}
            row |= {"outputs": [label, label if outcome == "satisfied" else other], "gold": "positive"}
            rows.append(row | {"verdict": outcome if number in texts else "inapplicable"})
    folder = tmp_path / "-".join([*applies, design])
    folder.mkdir()
    (folder / "run.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    engine = open_store(str(folder / "audit.db"), create=True)
    import_run(engine, read_run(folder / "run.jsonl"))
    draw_all(engine, SampleRequest(Size(per_relation=60), design))
    answer_with_gold(engine)
    report = study_report(engine, target=target)
    assert "MR1.1" in to_terminal(report, full=True)
    return report, report["relations"][0]


ALL, NARROW = range(400), range(0, 400, 34)


@pytest.mark.slow
@pytest.mark.parametrize("design", ["shared", "informative"])
def test_a_narrow_system_leaves_the_others_as_they_are(tmp_path, design):
    _, alone = report_of(tmp_path, {"x": ALL, "y": ALL}, design)
    _, beside = report_of(tmp_path, {"x": ALL, "y": ALL, "z": NARROW}, design)
    of_two, of_three = alone["pairs"][0], beside["pairs"][0]
    assert of_two["apart"]
    assert of_three["apart"]
    assert (of_three["system"], of_three["other"], of_three["groups"]) == ("x", "y", 400)
    if design == "shared":  # the list of `informative` has what tells z from another, too
        assert {**of_three, "p_holm": None} == {**of_two, "p_holm": None}
    assert [pair["groups"] for pair in beside["pairs"]] == [400, 12, 12]
    assert beside["order_genuine"][0] == "x"
    rates = {one["system"]: one["sr_genuine"] for one in beside["ranking"]}
    if design == "shared":
        assert rates["x"] - rates["y"] == pytest.approx(of_two["difference"], abs=0.02)
        assert beside["common"]["groups"] == 12
        assert beside["common"]["most_groups"] == 400
    assert {one["p_best"] for one in beside["ranking"]} == {None}


@pytest.mark.slow
@pytest.mark.parametrize("design", ["shared", "informative"])
def test_systems_that_share_nothing_have_an_order_where_they_can_be_compared(tmp_path, design):
    halves = {"x": range(200), "y": range(200), "z": range(200, 400)}
    _, relation = report_of(tmp_path, halves, design)
    assert relation["order_genuine"] == ["x", "y"]
    assert set(relation["order_observed"]) == {"x", "y", "z"}
    assert [(pair["groups"], pair["apart"]) for pair in relation["pairs"]] == [(200, True), (0, False), (0, False)]
    assert (relation["best_genuine"], {one["p_best"] for one in relation["ranking"]}) == ([], {None})


@pytest.mark.slow
def test_a_chain_of_pairs_orders_systems_that_no_group_has_in_common(tmp_path):
    thirds = {"x": range(0, 280), "v": range(140, 400), "w": [*range(0, 140), *range(280, 400)]}
    _, relation = report_of(tmp_path, thirds)
    assert relation["common"]["groups"] == 0
    assert relation["order_genuine"] == ["x", "v", "w"]
    assert {one["p_best"] for one in relation["ranking"]} == {None}


@pytest.mark.slow
def test_three_systems_of_their_own_groups_are_not_one(tmp_path):
    apart = {"x": range(100), "y": range(100, 200), "z": range(200, 300)}
    report, relation = report_of(tmp_path, apart)
    assert (relation["order_genuine"], len(relation["order_observed"])) == ([], 3)
    assert report["decisions"][0]["state"] == "unknown"
    assert all(pair["reason"] == "the systems share no group" for pair in relation["pairs"])
