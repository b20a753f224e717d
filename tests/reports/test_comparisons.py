"""Reports on samples of the design `informative`: comparisons without rates."""

import json

import pytest

from audit.judging.labels import answer_with_gold
from audit.judging.samples import draw, draw_all
from audit.reports.certainty import COMPARES
from audit.reports.plan import PlanRequest, lines, plan
from audit.reports.study import study_report
from audit.runner.executors import InProcess
from audit.runner.run import run
from audit.sampling.draw import SampleRequest, Size
from audit.store import open_store

SYSTEMS = ("calm", "nervous", "failing")
RATES = ("fs_rate", "fs_low", "fs_high", "sr_genuine", "sr_genuine_low", "sr_genuine_high", "vr_genuine")


@pytest.fixture
def engine(own, toy_corpus, toy_relations, tmp_path):
    """Three systems on the toy corpus, every group drawn by both designs and, as far as gold can, settled."""
    opened = open_store(str(tmp_path / "audit.db"), create=True)
    # T1 carries what gold says about the source; the other two would leave follow-ups open.
    run(opened, toy_corpus(), own.specs(*SYSTEMS), toy_relations[:1], InProcess())
    for design in ("shared", "informative"):
        draw_all(opened, SampleRequest(Size(share=1.0), design))
    answer_with_gold(opened)
    return opened


@pytest.mark.slow
def test_cells_have_no_rate_and_say_why(engine):
    report = study_report(engine)
    assert report["signature"]["samples"][0]["design"] == "informative"
    for cell in report["cells"]:
        assert [cell[name] for name in (*RATES, "false")] == [None] * (len(RATES) + 1)
        assert cell["reason"] == COMPARES
        assert cell["sr_observed"] is not None
    assert sum(cell["judged"] for cell in report["cells"]) == report["overall"]["judged"] > 0
    assert (report["overall"]["false"], report["overall"]["fs_rate"]) == (None, None)
    assert {roll_up["reason"] for roll_up in report["rollups"] if roll_up["by"] != "system"} == {
        "3 cells were drawn to compare systems only"
    }
    assert json.loads(json.dumps(report, allow_nan=False)) == report


@pytest.mark.slow
def test_comparisons_are_those_of_judging_everything(engine):
    compared, whole = (
        study_report(engine, design=design, target="corpus")["relations"][0] for design in ("informative", "shared")
    )
    assert len(compared["pairs"]) == 3
    for pair, other in zip(compared["pairs"], whole["pairs"], strict=True):
        assert pair == other
        assert pair["low"] == pair["difference"] == pair["high"]  # all informative groups are judged
    level = {entry["system"]: entry for entry in compared["ranking"]}
    assert sum(rate["p_best"] for rate in level.values()) >= 1
    assert {rate["p_best"] for rate in level.values()} <= {0.0, 1.0}
    for pair in compared["pairs"]:
        if pair["difference"] > 0:
            assert level[pair["system"]]["rank_high"] < level[pair["other"]]["rank_low"]
    assert set(compared["order_genuine"]) == set(compared["order_observed"])
    # Designs may not say that another system is best: one compared own groups, the other common ones.
    for name in ("order_observed", "order_genuine", "best_observed", "best_genuine", "best_changes_sure"):
        assert compared[name] == whole[name]


@pytest.mark.slow
def test_a_part_of_the_groups_leaves_doubt_and_more_judging_takes_it(engine):
    draw(engine, 1, SampleRequest(Size(per_relation=3), "informative", seed=5))
    part = study_report(engine)["relations"][0]
    assert all(entry["reason"].startswith("not enough judged") for entry in part["ranking"])
    assert {entry["p_best"] for entry in part["ranking"]} == {None}
    assert all(pair["judged"] <= 3 < pair["informative"] for pair in part["pairs"])
    assert study_report(engine)["relations"][0] == part


def test_plans_go_on_from_what_was_compared_and_name_the_design(engine):
    decided = plan(engine, PlanRequest(decide="order"))
    assert decided["relations"][0]["judged"] == decided["relations"][0]["informative"] > 0
    by_design = {design["design"]: design["draw"] for design in decided["designs"]}
    size = decided["relations"][0]["informative"]
    assert by_design["always-valid"] == f"audit sample --design informative --per-relation {size}"
    assert any(line == f"    {by_design['always-valid']}" for line in lines(decided))
    width = plan(engine, PlanRequest(half_width=0.1))
    assert {(cell["judged"], cell["false"]) for cell in width["cells"]} == {(0, 0)}
    assert [design["draw"].partition(" --per-relation")[0] for design in width["designs"]] == [
        "audit sample --design shared"
    ]
