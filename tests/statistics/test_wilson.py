"""Wilson's interval for a person's shares, against published ends."""

import pytest

from audit.statistics.intervals import wilson


# 81 of 263 is the example of Newcombe, Statistics in Medicine 17 (1998), table I, method 3; the others worked by hand.
@pytest.mark.parametrize(
    ("k", "n", "low", "high"), [(81, 263, 0.2553, 0.3662), (0, 20, 0.0, 0.1611), (20, 20, 0.8389, 1.0), (0, 0, 0, 1)]
)
def test_wilson_gives_the_published_ends(k, n, low, high):
    assert wilson(k, n).rounded(4) == (low, high)
