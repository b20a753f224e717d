"""What is said beside rates of texts to come in documents holds in simulated worlds: short runs of the benchmark."""

import pytest
from document_coverage import audits_coverage, bounds_coverage

pytestmark = pytest.mark.slow
WORLDS = [(100, 10, 0.3, 0), (20, 30, 0.3, 60)]


@pytest.mark.parametrize("left_out", ["true ones", "few"])
@pytest.mark.parametrize("world", WORLDS)
def test_bounds_hold_of_cells_and_together(world, left_out):
    # .93 but for the noise of 60 redraws. While sentences counted as independent SR_g held in .78 to .86 of 100.
    assert (bounds_coverage(*world, left_out, redraws=60)[:4] >= 0.86).all()


@pytest.mark.parametrize("world", WORLDS)
def test_what_audits_say_holds(world):
    assert (audits_coverage(*world, redraws=60) >= 0.86).all()
