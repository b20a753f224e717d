"""Gold alone on real text, a short version of the benchmark: no rate by construction, bounds and rates that hold."""

import pytest
from gold_alone import WORLDS, measure

from audit.sampling.draw import Size

pytestmark = pytest.mark.slow
REDRAWS = 40


@pytest.mark.parametrize("world", WORLDS)
@pytest.mark.parametrize("size", [Size(share=0.01), Size(per_relation=60)], ids=["1 %", "60"])
def test_what_is_printed_holds(world: str, size: Size) -> None:
    found = measure(world, size, redraws=REDRAWS)
    carried = WORLDS[world]["carries"] == "everything"
    assert (found["rates"] > 0) == carried
    if found["rates"]:
        # 3 x 40 cells of systems that err together: three standard errors of the 40 redraws.
        assert found["rates cover"] >= 0.95 - 3 * (0.95 * 0.05 / REDRAWS) ** 0.5
    if found["bounds"]:
        assert found["bounds cover"] >= 0.95 - 3 * (0.95 * 0.05 / REDRAWS) ** 0.5
    assert found["roll-ups cover"] >= 0.95 - 3 * (0.95 * 0.05 / REDRAWS) ** 0.5
    if size.per_relation:
        assert found["rates at an edge"] == 0
