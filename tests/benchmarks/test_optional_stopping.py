"""Stopping early breaks fixed-n intervals and not sequences: the tables of docs/evidence/judgements.md, small."""

import numpy as np
import pytest
from optional_stopping import cells, pairs, roll_ups

FIXED, NARROW, LEAVES_OUT = range(3)


def test_only_sequences_hold_for_a_cell_when_one_stops_at_will():
    looks = np.arange(20, 161, 10)
    fixed, sequence = (cells(name, 300, looks, (0.3,)) for name in ("midp", "sequence"))
    assert fixed[FIXED, 0] >= 0.93
    assert fixed[LEAVES_OUT, 0] < 0.85
    assert (sequence[:, 0] >= 0.95).all()


@pytest.mark.slow
def test_only_sequences_hold_for_a_difference_when_one_stops_at_will():
    looks = np.arange(30, 271, 30)
    fixed, sequence = (pairs(on, repeats, looks, (0.0,)) for on, repeats in ((False, 200), (True, 60)))
    assert fixed[FIXED, 0] >= 0.92
    assert fixed[LEAVES_OUT, 0] < 0.88
    assert (sequence[:, 0] >= 0.95).all()


def test_roll_ups_of_sequences_hold_when_one_stops_at_will():
    found = roll_ups("sequence", 200, np.arange(20, 161, 20))
    assert (found[:, 0] >= 0.95).all()


@pytest.mark.slow
def test_the_tables_of_the_docs():
    for name in ("midp",):
        found = cells(name)
        assert found[FIXED, 0] >= 0.93
        assert found[LEAVES_OUT, 0] < 0.8
    # Pairs by betting take a third of a second a run: fewer of them than the tables have.
    for sequence in (cells("sequence"), pairs(True, 300), roll_ups("sequence", 500)):
        assert (sequence[:, 0] >= 0.95).all()
    assert pairs(False, 500)[LEAVES_OUT, 0] < 0.8
