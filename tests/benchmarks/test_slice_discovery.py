"""The tests of slices on simulated worlds: few of the found are false, and a slice that is harder is found."""

import pytest
from slice_discovery import WORLDS, row


@pytest.mark.slow
@pytest.mark.parametrize("settings", [WORLDS[0], WORLDS[2], WORLDS[6]])
def test_false_discoveries_are_rare(settings):
    for _, five, one, share, _ in row(settings, 12, seed=3):
        assert five <= 0.08
        assert one <= 0.03
        assert share <= 0.1


@pytest.mark.slow
def test_a_harder_slice_is_found():
    (_, _, _, share, power), _ = row(WORLDS[1], 12, seed=3)
    assert power > 0.5
    assert share <= 0.15
