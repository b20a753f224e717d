"""Wilson's score interval for a share of independent observations, such as a person's answers."""

import math

from scipy.special import ndtri

from audit.statistics.bounded import Interval, check_counts


def wilson(k: int, n: int, confidence: float = 0.95) -> Interval:
    """Wilson's score interval. Nothing observed gives 0 to 1.

    Raises AuditError on impossible counts. Source: Wilson, JASA 22 (1927).

    >>> wilson(0, 20).rounded(4), wilson(81, 263).rounded(4)
    ((0.0, 0.1611), (0.2553, 0.3662))
    """
    check_counts(k, n, None, confidence)
    if n == 0:
        return Interval(0.0, 1.0, "wilson")
    rate = k / n
    z = float(ndtri((1 + confidence) / 2))
    shrink = 1 + z * z / n
    centre = (rate + z * z / (2 * n)) / shrink
    half = z * math.sqrt(rate * (1 - rate) / n + z * z / (4 * n * n)) / shrink
    # At k = 0 and k = n only rounding could put the estimate outside.
    return Interval(max(min(centre - half, rate), 0.0), min(max(centre + half, rate), 1.0), "wilson")
