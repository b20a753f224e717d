"""What the benchmarks of whole studies count and draw."""

import growth
import pytest
from database_counts import counts
from report_speed import simulate


def test_counts_of_a_simulated_database(tmp_path):
    simulate(tmp_path / "simulated.db", groups=20, systems=4).dispose()
    found = counts(tmp_path / "simulated.db")
    # 2 sources x 10 relations are 20 groups, each checked for 4 systems. A source has 11 inputs: its own text and ten
    # follow-ups, 22 in all, each executed by 4 systems. Without "execute once" 80 checks would execute 2 inputs each.
    assert (found.studies, found.sources, found.groups, found.checks) == (1, 2, 20, 80)
    assert (found.inputs, found.executions, found.each_time) == (22, 88, 160)
    assert found.saved == pytest.approx(1 - 88 / 160)
    assert found.mib_per_million == pytest.approx(found.mib / 20 * 1e6)


def test_names_of_the_picture_do_not_meet():
    places = growth._apart({"run": 100.0, "report": 100.0, "sample": 1.0}, 0.5)
    # The two at 100 are half a power of ten apart; what is far away stays where it is.
    assert places["sample"] == pytest.approx(1.0)
    assert sorted(round(places[name], 1) for name in ("run", "report")) == [100.0, pytest.approx(316.2)]


def test_picture_of_a_few_steps_is_drawn():
    took = {"seconds": 2.0, "cpu": 1.0, "peak": 100.0}
    steps = [
        {"groups": groups, "mib": groups / 1000, "run": took, "sample": took, "report": took}
        for groups in (10_000, 100_000)
    ]
    chart = growth.picture(steps).to_dict()
    assert len(chart["hconcat"]) == 2
    scales = [panel["layer"][1]["encoding"]["y"]["scale"]["type"] for panel in chart["hconcat"]]
    assert scales == ["log", "log"]
