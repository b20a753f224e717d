"""Known errors of gold, a short version of the benchmark: corrected intervals hold through the real settling."""

import pytest
from gold_error import measure

pytestmark = pytest.mark.slow
REDRAWS = 30


@pytest.mark.parametrize("labels", [2, 3])
@pytest.mark.parametrize(("target", "drawn"), [("population", 60), ("corpus", 200)])
def test_corrected_intervals_hold(labels: int, target: str, drawn: int) -> None:
    found = measure(labels, 0.1, target, drawn, REDRAWS)
    assert found["holds"] >= 0.95 - 3 * (0.95 * 0.05 / REDRAWS) ** 0.5
    assert abs(found["bias"]) < 0.5 * abs(found["plain bias"])
