"""The cluster bootstrap: known variances, dependence between cells, and its speed-ups against the plain way."""

import numpy as np
import pytest

from audit.errors import AuditError
from audit.statistics.bootstrap import correlations, replicates


def shared(sources=400, seed=0):
    """Two cells in which every source has one group; half of the outcomes are decided by the source."""
    rng = np.random.default_rng(seed)
    hard = rng.random(sources) < 0.4
    own = rng.random((sources, 2)) < 0.4
    value = np.where(rng.random((sources, 1)) < 0.5, hard[:, None], own)
    return np.repeat(np.arange(sources), 2), np.tile([0, 1], sources), value.ravel().astype(float)


def test_the_spread_is_the_binomial_standard_error():
    source, cell, value = shared()
    found = replicates(source, cell, value, 2)
    rates = [value[cell == one].mean() for one in (0, 1)]
    assert found.mean(axis=0) == pytest.approx(rates, abs=0.003)
    assert found.std(axis=0) == pytest.approx([np.sqrt(rate * (1 - rate) / 400) for rate in rates], rel=0.06)


def test_cells_correlate_as_their_values_do():
    source, cell, value = shared()
    expected = np.corrcoef(value[cell == 0], value[cell == 1])[0, 1]
    assert correlations(replicates(source, cell, value, 2))[0, 1] == pytest.approx(expected, abs=0.06)


def test_groups_of_one_source_in_one_cell_vary_together():
    # Ten copies of each of 50 sources carry the information of 50 groups, not of 500.
    value = np.repeat(np.arange(50) % 2, 10).astype(float)
    found = replicates(np.repeat(np.arange(50), 10), np.zeros(500, int), value, 1)
    assert found.std() == pytest.approx(np.sqrt(0.25 / 50), rel=0.06)


def test_counting_patterns_and_drawing_sources_agree():
    # With 3 distinct patterns sources are counted; made distinct by tiny changes, each is drawn by itself.
    source, cell, value = shared(200)
    plain = replicates(source, cell, value + 1e-9 * np.arange(len(value)), 2, draws=4000)
    counted = replicates(source, cell, value, 2, draws=4000)
    assert counted.std(axis=0) == pytest.approx(plain.std(axis=0), rel=0.06)
    assert correlations(counted)[0, 1] == pytest.approx(correlations(plain)[0, 1], abs=0.05)


def test_same_seed_same_replicates_and_empty_cells_are_nan():
    source, cell, value = shared(30)
    one, other = (replicates(source, cell, value, 3, draws=7, seed=4) for _ in range(2))
    assert np.array_equal(one, other, equal_nan=True)
    assert np.isnan(one[:, 2]).all()
    together = correlations(one)
    assert together[2].tolist() == [0, 0, 1]
    assert replicates(source[:0], cell[:0], value[:0], 2, draws=3).shape == (3, 2)


def test_wrong_arrays_are_refused():
    with pytest.raises(AuditError, match="1 sources, 2 cells"):
        replicates(np.array([0]), np.array([0, 0]), np.array([1, 1]), 1)
    with pytest.raises(AuditError, match="between 0 and 0"):
        replicates(np.array([0]), np.array([3]), np.array([1]), 1)
