"""What the benchmarks of whole studies count and draw."""

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
