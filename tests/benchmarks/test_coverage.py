"""The number that the issue asks for: 95 % intervals hold the true R_FS in at least 93 % of (cell, redraw) pairs."""

import pytest
import redraw_reports
from redraws import CELL, coverage, population


@pytest.mark.slow
def test_intervals_hold_the_truth_on_real_systems(tmp_path):
    truth = population(tmp_path / "audit.db", sources=600)
    assert truth.groupby(CELL).ngroups >= 25
    assert coverage(truth, redraws=50)["held"].mean() >= 0.93


@pytest.mark.slow
def test_intervals_hold_the_truth_of_two_systems_on_a_few_sentences(tmp_path):
    truth = population(tmp_path / "audit.db", systems=("vader", "textblob"), sources=300)
    cells = coverage(truth, redraws=40, per_cell=40)
    assert cells["held"].mean() >= 0.93
    assert (cells["mean"] - cells["true"]).abs().max() < 0.05


@pytest.mark.slow
def test_reports_hold_the_truth_on_real_systems(tmp_path):
    found = redraw_reports.measure(*redraw_reports.study(tmp_path / "audit.db", sources=500), redraws=6)
    share = found.groupby(["design", "kind"])["held"].mean()
    for design in redraw_reports.DESIGNS:
        assert share[design, "difference"] >= 0.9
        assert share[design, "rank"] >= 0.9
        assert share[design, "winner"] >= 0.9
    rolled = found[found["kind"].str.contains("relation |system |family |overall ")]
    assert rolled["held"].mean() >= 0.9


@pytest.mark.slow
def test_reports_on_a_few_sentences_hold_the_truth(tmp_path):
    made = redraw_reports.study(tmp_path / "audit.db", ("vader", "textblob"), 120, ("MR1.1", "MR3.1"))
    found = redraw_reports.measure(*made, redraws=3, per_relation=15)
    assert set(found["design"]) == set(redraw_reports.DESIGNS)
    assert {"difference", "rank", "relation fs_rate", "overall sr_genuine"} <= set(found["kind"])
    assert found["held"].mean() >= 0.9
    # Only rates of random samples of cells are rolled up.
    assert set(found.loc[found["kind"] == "overall fs_rate", "design"]) == {"shared"}
    assert "| overall | SR_g |" in redraw_reports.tables(found, 3)
