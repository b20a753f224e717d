"""Wilson's score interval, with the finite population correction."""

import math

from scipy.special import ndtri

from audit.statistics.bounded import Interval, check_counts


def wilson(k: int, n: int, population: int | None = None, confidence: float = 0.95) -> Interval:
    """Wilson's score interval, with the finite population correction where a population is given.

    The correction replaces n by the effective size n (N - 1) / (N - n), which is infinite, and the interval a point,
    when all N were judged. The ends never leave what is still possible: k false ones were seen and n - k true ones.
    Nothing judged gives 0 to 1. Raises AuditError on impossible counts. Source: Wilson, JASA 22 (1927); effective
    size after Cochran, Sampling Techniques (1977), section 3.

    >>> wilson(0, 20).rounded(4)
    (0.0, 0.1611)
    >>> wilson(3, 10, 10)
    Interval(low=0.3, high=0.3, method='wilson')
    """
    check_counts(k, n, population, confidence)
    if n == 0:
        return Interval(0.0, 1.0, "wilson")
    rate = k / n
    if population == n:
        return Interval(rate, rate, "wilson")
    size = float(n) if population is None else n * (population - 1) / (population - n)
    z = float(ndtri((1 + confidence) / 2))
    shrink = 1 + z * z / size
    centre = (rate + z * z / (2 * size)) / shrink
    half = z * math.sqrt(rate * (1 - rate) / size + z * z / (4 * size * size)) / shrink
    least, most = (0.0, 1.0) if population is None else (k / population, (population - n + k) / population)
    # The estimate itself is always inside; at k = 0 and k = n only rounding could put it outside.
    low = min(max(centre - half, least), rate) if k else 0.0
    high = max(min(centre + half, most), rate) if k < n else 1.0
    return Interval(low, high, "wilson")
