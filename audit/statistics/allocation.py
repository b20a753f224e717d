"""How many groups to judge of each cell: for a half-width, or in two phases.

All functions take arrays with one entry a cell. A cell has `population` satisfied groups, a share `rate` of which is
false; a simple random sample of them is judged without replacement.
"""

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtri

from audit.errors import AuditError

FIRST_PHASE = 40
"""Groups of each cell that are judged before its own rate says how many more are needed."""
CAUTION = 0.5
"""Standard errors by which `width_targeted` moves a rate towards 1/2: a first phase that came out too small a rate
would else ask for too few groups and make the phases many."""


def effective_size(judged: ArrayLike, population: ArrayLike) -> np.ndarray:
    """Size of a sample with replacement that is as precise: n (N - 1) / (N - n), infinite where all N were judged.

    Source: Cochran, Sampling Techniques (1977), section 3.

    >>> effective_size([50, 100], [100, 100]).round(1).tolist()
    [99.0, inf]
    """
    n, total = np.asarray(judged, float), np.asarray(population, float)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(n >= total, np.inf, n * (total - 1) / (total - n))


def judged_size(effective: ArrayLike, population: ArrayLike) -> np.ndarray:
    """The whole number of groups to judge for an effective size: the inverse of `effective_size`, rounded up.

    >>> judged_size([99.0, np.inf], [100, 100]).tolist()
    [50, 100]
    """
    size, total = np.broadcast_arrays(np.asarray(effective, float), np.asarray(population, float))
    # Of one group either none or all are judged: only there the sum below is not above 0.
    exact = np.where(total <= 1, np.minimum(size, total), 0.0)
    many = (total > 1) & np.isfinite(size)
    np.divide(np.where(many, size, 0.0) * total, size + total - 1, out=exact, where=many)
    exact = np.where(np.isinf(size), total, exact)
    # A last bit above a whole number is not another group.
    return np.minimum(np.ceil(exact - 1e-9), total).astype(int)


def sizes_for_half_width(
    rate: ArrayLike, population: ArrayLike, half_width: float, confidence: float = 0.95
) -> np.ndarray:
    """Groups to judge of each cell so that Wilson's interval reaches `half_width` when `rate` is what comes out.

    `rate` in [0, 1] is the expected R_FS: 1/2 is the worst case. Shape of the result: that of `rate` and `population`
    broadcast, whole numbers at most `population`. Wilson's half-width at the effective size m is
    z sqrt(pq/m + z^2/4m^2) / (1 + z^2/m); with x = z^2/m that is a quadratic equation in x. Raises AuditError where
    the half-width is not between 0 and 1/2 or a rate or population is impossible.

    >>> sizes_for_half_width([0.5, 0.1], [100_000, 100_000], 0.05).tolist()
    [379, 141]
    """
    p, total = np.broadcast_arrays(np.asarray(rate, float), np.asarray(population, float))
    _check(p, total, half_width, confidence)
    z2 = float(ndtri((1 + confidence) / 2)) ** 2
    h2, middle = half_width**2, p * (1 - p) - 2 * half_width**2
    x = (np.sqrt(middle**2 + 4 * (0.25 - h2) * h2) - middle) / (2 * (0.25 - h2))
    return judged_size(z2 / x, total)


def width_targeted(
    judged: ArrayLike, false: ArrayLike, population: ArrayLike, half_width: float, confidence: float = 0.95
) -> np.ndarray:
    """How many groups of each cell to have judged in all, given `false` of the `judged` so far; never fewer than those.

    Two phases: judge `FIRST_PHASE` groups of every cell, then as many as this says; where an interval is still too
    wide, ask again. The rate is moved `CAUTION` standard errors towards 1/2. The rule looks at the counts only, and a
    cell's list has one order for ever, so the beginning that is judged stays a simple random sample of known size up
    to the choice of that size; tests/benchmarks/study_simulation.py shows what that does to coverage. Source: Cox,
    Biometrika 39 (1952), on estimation by double sampling. Raises AuditError on impossible counts.

    >>> width_targeted([40, 40, 0], [2, 20, 0], [9000, 9000, 30], 0.05).tolist()
    [153, 365, 30]
    """
    n, k, total = (np.asarray(values, float) for values in (judged, false, population))
    if (n < 0).any() or (k < 0).any() or (k > n).any() or (n > total).any():
        raise AuditError("counts of cells are impossible; they hold 0 <= false <= judged <= satisfied")
    # Two false and two true ones more (Agresti and Coull, 1998): no rate is 0 or 1 for having seen few.
    rate = (k + 2) / (n + 4)
    error = np.sqrt(rate * (1 - rate) / (n + 4))
    cautious = np.where(rate < 0.5, np.minimum(rate + CAUTION * error, 0.5), np.maximum(rate - CAUTION * error, 0.5))
    wanted = np.maximum(sizes_for_half_width(cautious, total, half_width, confidence), n)
    first = np.minimum(FIRST_PHASE, total)
    return np.where(n < first, first, wanted).astype(int)


def _check(rate: np.ndarray, population: np.ndarray, half_width: float, confidence: float) -> None:
    if not 0 < half_width < 0.5:
        raise AuditError(f"a half-width of {half_width:g} is impossible; it lies between 0 and 0.5, for example 0.05")
    if not 0 < confidence < 1:
        raise AuditError(f"confidence {confidence:g} is impossible; it lies between 0 and 1, for example 0.95")
    if (~((rate >= 0) & (rate <= 1))).any():
        raise AuditError(f"rate {rate[~((rate >= 0) & (rate <= 1))][0]:g} of a cell is impossible; it is 0 to 1")
    if (~(population >= 0)).any():
        raise AuditError(f"{population[~(population >= 0)][0]:g} satisfied groups are impossible; a count is 0 or more")
