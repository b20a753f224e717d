"""Roll-ups, rankings and preferences in the report, and how they are asked for."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from audit.reports.build import Groups, build_report
from audit.reports.preference import UNRELATED, Weights, read_weights
from audit.reports.rerank import rerank
from audit.reports.sections import to_terminal

PAPER = Path(__file__).parents[2].parent / "shared" / "data" / "paper" / "false_satisfaction_2022.csv"
COUNTS = "relation,system,groups,satisfied,judged,false\n"


def totals(tmp_path, *rows, head=COUNTS):
    path = tmp_path / "totals.csv"
    path.write_text(head + "\n".join(rows) + "\n", encoding="utf-8")
    return path


SURE = ("MR1.1,a,1000,900,300,150", "MR1.1,b,1000,800,300,15", "MR1.2,a,1000,500,300,30", "MR1.2,b,1000,400,300,30")


def by(report, level, name="all"):
    return next(roll_up for roll_up in report["rollups"] if (roll_up["by"], roll_up["name"]) == (level, name))


def test_a_roll_up_worked_by_hand(tmp_path):
    report = rerank(totals(tmp_path, *SURE))
    roll_up = by(report, "relation", "MR1.1")
    # False: 900 x .5 + 800 x .05 = 490 of 1,700 satisfied of 2,000.
    assert (roll_up["fs_rate"], roll_up["sr_observed"]) == pytest.approx((490 / 1700, 0.85))
    assert roll_up["sr_genuine"] == pytest.approx(1210 / 2000)
    assert roll_up["cells"] == 2
    assert roll_up["method"].startswith("stratified")
    assert roll_up["fs_low"] < roll_up["fs_rate"] < roll_up["fs_high"]
    assert by(report, "overall")["cells"] == by(report, "family", "MR1")["cells"] == 4
    assert by(report, "system", "a")["cells"] == 2


def test_sources_in_common_widen_a_roll_up():
    rows = [
        {"study": 1, "corpus": "c", "task": "sentiment", "relation": "MR1.1", "system": system}
        | {"groups": 400, "satisfied": 400, "violated": 0, "judged": 40, "false": 16}
        for system in "ab"
    ]
    judged = pd.DataFrame(
        [
            {"study": 1, "task": "sentiment", "relation": "MR1.1", "system": system}
            | {"source": source, "false": int(source < 16)}
            for system in "ab"
            for source in range(40)
        ]
    )
    apart = by(build_report(pd.DataFrame(rows), {}), "overall")
    joined_report = build_report(pd.DataFrame(rows), {}, groups=Groups(judged))
    joined = by(joined_report, "overall")
    cell = joined_report["cells"][0]
    # Wrong together everywhere: two systems say no more than one. Of several cells each distance is z standard errors
    # at least: 1.96 sqrt(.4 x .6 / 39) = .1538.
    assert (joined["fs_low"], joined["fs_high"]) == pytest.approx((0.4 - 0.15375, cell["fs_high"]), abs=1e-4)
    assert cell["fs_low"] > joined["fs_low"]
    assert joined["fs_low"] < apart["fs_low"]
    assert "dependence by sums over documents" in joined["method"]
    assert by(joined_report, "family", "replacing words")["cells"] == 2


def test_a_sure_ranking(tmp_path):
    first, second = rerank(totals(tmp_path, *SURE))["relations"]
    assert [entry["system"] for entry in first["ranking"]] == ["a", "b"]
    assert [entry["p_best"] for entry in first["ranking"]] == [0.0, 1.0]
    assert [(entry["rank_low"], entry["rank_high"]) for entry in first["ranking"]] == [(2, 2), (1, 1)]
    assert [(rival["system"], rival["sure"]) for rival in first["overtaking"]] == [("b", True)]
    assert [(rival["system"], rival["sure"]) for rival in second["overtaking"]] == [("b", False)]
    assert (first["best_changes_sure"], second["best_changes_sure"]) == (True, False)


def test_a_ranking_is_null_while_somebody_is_unknown(tmp_path):
    entry = rerank(totals(tmp_path, "MR1,a,100,80,60,15", "MR1,b,100,80,0,0", "MR1,c,0,0,0,0"))["relations"][0]
    assert [system["p_best"] for system in entry["ranking"]] == [None] * 3
    assert entry["ranking"][0]["reason"] == "one of the systems has no judged group"
    assert entry["overtaking"] == []
    only = rerank(totals(tmp_path, "MR1,a,100,80,60,15", "MR1,c,0,0,0,0"))["relations"][0]
    assert only["ranking"][0]["p_best"] == 1.0
    assert only["ranking"][1]["reason"] == "nothing was satisfied or violated"
    rates = rerank(totals(tmp_path, "MR1,a,.9,.1", "MR1,b,.8,.3", head="relation,system,sr_observed,fs_rate\n"))
    assert rates["relations"][0]["ranking"][0]["reason"] == "the totals have rates without counts"
    assert by(rates, "overall")["reason"].startswith("the totals have rates without counts")


def test_the_populations_genuine_rate_is_covered():
    # SR_o = .7 and R_FS = .3 in the population; corpora of 500 groups of which 60 satisfied ones are judged.
    from audit.statistics.rates import with_rates

    rng = np.random.default_rng(11)
    satisfied = rng.binomial(500, 0.7, 600)
    frame = pd.DataFrame({"satisfied": satisfied, "violated": 500 - satisfied, "judged": 60})
    rated = with_rates(frame.assign(false=rng.binomial(60, 0.3, 600)), target="population")
    held = (rated["sr_genuine_low"] <= 0.49) & (rated["sr_genuine_high"] >= 0.49)
    assert 0.93 <= held.mean() <= 0.98


@pytest.mark.slow
def test_preferences_in_the_report(tmp_path):
    weights = tmp_path / "weights.csv"
    weights.write_text("relation,weight\nMR1.1,1\nMR1.2,9\n", encoding="utf-8")
    preference = rerank(totals(tmp_path, *SURE), weights=read_weights(str(weights)))["preference"]
    assert preference["weights"] == pytest.approx({"MR1.1": 0.1, "MR1.2": 0.9})
    # a: .1 x .45 + .9 x .45 = .45; b: .1 x .76 + .9 x .36 = .4.
    assert [entry["score"] for entry in preference["ranking"]] == pytest.approx([0.45, 0.4])
    assert (preference["winner_observed"], preference["winner"]) == (["a"], ["a"])
    first = preference["ranking"][0]
    # One source may have groups of both relations, which totals do not say.
    assert (first["p_best"], first["reason"]) == (None, UNRELATED)
    alone = rerank(totals(tmp_path, *SURE), weights=Weights("w", {"MR1.2": 1}))["preference"]
    assert alone["ranking"][0]["p_best"] > 0.9
    assert first["score_low"] < 0.45 < first["score_high"]
    # The leads are -.31 and .09: .05 / .4 = .125 of the weight must move.
    assert preference["move"]["distance"] == pytest.approx(0.25)
    assert preference["move"]["weights"] == pytest.approx({"MR1.1": 0.225, "MR1.2": 0.775})
    assert "preference" not in rerank(totals(tmp_path, *SURE))


@pytest.mark.slow
@pytest.mark.skipif(not PAPER.exists(), reason="the study's tables are not beside this checkout")
@pytest.mark.parametrize("relation", ["MR1.3", "MR4.2"])
def test_the_studys_users_should_take_amazon(relation):
    # Jiang et al. 2022, section 6.2: heroku by the observed rates, amazon by the genuine ones.
    preference = rerank(PAPER, weights=Weights("user", {relation: 1}))["preference"]
    assert (preference["winner_observed"], preference["winner"]) == (["heroku"], ["amazon"])
    assert preference["ranking"][0]["p_best"] is None


def rows_of(relations, false):
    return pd.DataFrame(
        [
            {"task": "t", "relation": f"R{number}", "system": system, "satisfied": 900 - at, "violated": 100 + at}
            | {"judged": 60, "false": value}
            for number in range(relations)
            for at, (system, value) in enumerate(zip("ab", false, strict=True))
        ]
    )


@pytest.mark.slow
def test_the_headline_tells_sure_changes_from_open_ones():
    report = build_report(rows_of(20, (22, 18)), {})
    totals = report["overall"]
    assert (totals["best_changes_sure"], totals["best_changes_open"], totals["best_changes_estimated"]) == (0, 20, 20)
    assert "0 of 20 relations have another winner for sure; 20 more look changed, which the judged" in " ".join(
        to_terminal(report, full=True).split()
    )


def test_few_judged_groups_withhold_the_probability_alone():
    few = rows_of(1, (2, 1)).assign(judged=9)
    report = build_report(pd.concat([few, rows_of(1, (22, 11)).assign(relation="R9")]), {})
    totals, (first, second) = report["overall"], report["relations"]
    assert (totals["cells_covered"], totals["satisfied_covered"]) == (4, 2 * 1799)
    assert totals["fs_low"] < totals["fs_rate"] < totals["fs_high"]
    assert first["order_genuine"] == second["order_genuine"] == ["b", "a"]
    assert first["pairs"][0]["low"] < 0 < first["pairs"][0]["high"]
    assert (first["pairs"][0]["p_holm"], first["pairs"][0]["apart"]) == (pytest.approx(0.5, abs=0.4), False)
    assert [one["p_best"] is None for entry in (first, second) for one in entry["ranking"]] == [
        True,
        True,
        False,
        False,
    ]
