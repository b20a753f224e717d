"""Short versions of the simulations about annotators and small samples; the tables in docs come from the long ones."""

import pytest
from agreement_coverage import World, coverage
from annotator_coverage import dawid_skene_coverage
from clustered_tests import rejected

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    "world", [World(50, 2, (0.97, 0.03)), World(50, 2, (0.9, 0.1)), World(20, 3, (0.9, 0.1), missing=0.3)], ids=str
)
def test_agreement_covers_where_a_label_is_rare(world):
    found = coverage(world, 100)
    assert {name: share for name, (_, share, _) in found.items() if share < 0.9} == {}
    assert found["alpha"][2] < 1.1


@pytest.mark.parametrize(
    ("world", "shares"),
    [((60, 3, 0.95, 0.99), (0.6, 0.4)), ((40, 4, 0.9, 0.99), (0.6, 0.4)), ((400, 3, 0.8, 0.8), (0.5, 0.5, 0))],
)
def test_accuracies_cover_and_are_no_points(world, shares):
    covered, points, width = dawid_skene_coverage(world, shares, 20)
    assert covered >= 0.9
    assert points == 0
    assert width < 0.2


def test_clustered_tests_of_ten_sentences():
    f, tukey = rejected(10, 3, 2, 60)
    assert f <= 0.07
    assert tukey <= 0.1
