"""The benchmark of kills, on a small study: killed twice at one moment each and once at two, nothing is left of it."""

from pathlib import Path

import pytest
from kills import World, disturbed, undisturbed

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not Path("/proc").exists(), reason="looks for processes in /proc"),
]


def test_a_run_that_was_killed_ends_as_an_undisturbed_one(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    world = World(tmp_path, 120, systems=("vader", "textblob"), chunk=10, relations=("MR1.4", "MR2.1", "MR3.1"))
    everything, expected, _ = undisturbed(world)
    for number, shares in enumerate([(0.25,), (0.8,), (0.2, 0.6)]):
        for attempt in range(5):
            killed = disturbed(world, tmp_path / f"killed{number}-{attempt}.db", shares, everything, expected)
            assert killed.fine, killed
            # A busy machine may look at the database so late that the run has stored everything before it is killed.
            if len(killed.verdicts) == len(shares) and max(killed.verdicts) < 1:
                break
        else:
            pytest.fail(f"none of five runs was killed in time: {killed}")
        assert all(wanted <= stored for wanted, stored in zip(shares, killed.verdicts, strict=True))
