"""Intervals of the genuine difference of two versions hold the truth in at least 93 % of simulated corpora."""

import pytest
from compare_coverage import JUDGED, WORLDS, coverage


@pytest.mark.slow
@pytest.mark.parametrize("target", ["corpus", "population"])
@pytest.mark.parametrize("world", WORLDS, ids=lambda world: world.name)
def test_the_difference_is_held(world, target):
    held = [coverage(world, judged, target, 300)[0] for judged in JUDGED.values()]
    assert min(held) >= 0.92  # .94 but for the noise of 300 corpora
    assert sum(held) / len(held) >= 0.95
