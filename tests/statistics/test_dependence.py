"""How cells go together: known variances, dependence between cells, effective sizes, against plain arithmetic."""

import numpy as np
import pytest

from audit.errors import AuditError
from audit.statistics.comparison import deviations, of_products, opposed
from audit.statistics.intervals import effective_size


def shared(sources=400, seed=0):
    """Two cells in which every source has one group; half of the outcomes are decided by the source."""
    rng = np.random.default_rng(seed)
    hard = rng.random(sources) < 0.4
    own = rng.random((sources, 2)) < 0.4
    value = np.where(rng.random((sources, 1)) < 0.5, hard[:, None], own)
    return np.repeat(np.arange(sources), 2), np.tile([0, 1], sources), value.ravel().astype(float)


def test_cells_correlate_as_their_values_do():
    source, cell, value = shared()
    expected = np.corrcoef(value[cell == 0], value[cell == 1])[0, 1]
    sums = deviations(source, cell, value, 2)
    assert sums.correlations()[0, 1] == pytest.approx(expected)
    # Much is false, so what is taken to be seen beforehand weighs little.
    assert sums.cautious([0, 1])[0, 1] == pytest.approx(expected, abs=0.03)


def test_pieces_of_clusters_add_up(monkeypatch):
    source, cell, value = shared()
    whole = deviations(source, cell, value, 2)
    monkeypatch.setattr("audit.statistics.comparison.CHUNK", 14)
    pieces = deviations(source, cell, value, 2)
    assert np.allclose(whole.products, pieces.products)
    assert np.allclose(whole.met, pieces.met)


def test_clean_cells_are_one_observation_as_far_as_they_share_sources():
    # Two cells of 60 clean sources each, 45 of them the same: at most .75 of what they say is the same.
    source = np.concatenate([np.arange(60), np.arange(15, 75)])
    sums = deviations(source, np.repeat([0, 1], 60), np.zeros(120), 2)
    assert sums.correlations()[0, 1] == 0
    assert sums.cautious([0, 1])[0, 1] == pytest.approx(0.75)
    apart = deviations(np.arange(120), np.repeat([0, 1], 60), np.zeros(120), 2)
    assert apart.cautious([0, 1])[0, 1] == 0


def test_cautious_correlations_are_no_less_than_none_and_possible():
    rng = np.random.default_rng(4)
    for _ in range(20):
        cells = 6
        source = rng.integers(0, 12, 80)
        cell = rng.integers(0, cells, 80)
        correlations = deviations(source, cell, (rng.random(80) < 0.1).astype(float), cells).cautious(range(cells))
        assert np.linalg.eigvalsh(correlations).min() > -1e-9
        assert np.abs(correlations).max() <= 1 + 1e-9


def test_worth_is_that_of_the_effective_size():
    rng = np.random.default_rng(2)
    cluster, value = rng.integers(0, 25, 300), (rng.random(300) < 0.2).astype(float)
    (size,) = deviations(cluster, np.zeros(300, int), value, 1).worth()
    assert size == pytest.approx(effective_size(cluster, value))
    (alone,) = deviations(np.arange(300), np.zeros(300, int), value, 1).worth()
    assert alone == 300
    # Nothing false in 20 documents of 3 sentences: 20 observations.
    assert deviations(np.repeat(np.arange(20), 3), np.zeros(60, int), np.zeros(60), 1).worth()[0] == pytest.approx(20)


def test_products_vary_as_the_two_rates_do():
    # The delta method by hand: SR_g = (satisfied / groups) (1 - false / judged), four clusters.
    judged = (np.array([0, 0, 1, 2]), np.zeros(4, int), np.array([1, 0, 1, 0]))
    checked = (np.array([0, 0, 1, 2, 3, 3]), np.zeros(6, int), np.array([1, 1, 1, 1, 0, 0]))
    sums = of_products(judged, checked, 1)
    influence = np.array([0.0, 0.5, -0.5, 0.0]) - 0.5 * 4 / (6 * 4 / 6) * np.array([2 / 3, 1 / 3, 1 / 3, -4 / 3])
    assert sums.products[0, 0] == pytest.approx(influence @ influence)
    assert sums.means[0] == pytest.approx(4 / 6 / 2)


def test_rates_are_opposed_where_documents_that_satisfy_less_are_false_more():
    # Document 0 satisfies all with nothing false, document 1 half with everything false.
    judged = (np.repeat([0, 1], [4, 2]), np.zeros(6, int), np.repeat([0, 1], [4, 2]))
    checked = (np.repeat([0, 1], 4), np.zeros(8, int), np.array([1] * 4 + [1, 1, 0, 0]))
    assert opposed(judged, checked, 1)[0] == pytest.approx(-1)
    alone = (np.arange(6), np.zeros(6, int), judged[2]), (np.arange(8), np.zeros(8, int), np.array([1] * 6 + [0] * 2))
    assert opposed(*alone, 1)[0] == 0


def test_wrong_arrays_are_refused():
    with pytest.raises(AuditError, match="1 clusters, 2 cells"):
        deviations(np.array([0]), np.array([0, 1]), np.array([1.0]), 2)
    with pytest.raises(AuditError, match="between 0 and 1"):
        deviations(np.array([0]), np.array([2]), np.array([1.0]), 2)
