"""Primary comparisons, a short version of the benchmark: equal systems are rarely told apart, a lead is found."""

import pytest
from primary_comparison import NAMINGS, SECOND, measure

pytestmark = pytest.mark.slow
REPORTS = 40
AT_MOST = 0.05 + 3 * (0.05 * 0.95 / REPORTS) ** 0.5


@pytest.mark.parametrize("named", [named for named in NAMINGS.values() if named])
def test_equal_systems_are_rarely_told_apart(named: tuple[str, str, str | None]) -> None:
    assert measure(named, 0.0, REPORTS)["false claims"] <= AT_MOST


def test_a_lead_over_all_relations_is_found_and_a_true_hypothesis_shuts_the_gate() -> None:
    assert measure(("a", "b", None), 0.1, REPORTS)["comparison holds"] > 0.4
    assert measure(SECOND, 0.1, REPORTS)["false claims"] <= AT_MOST
