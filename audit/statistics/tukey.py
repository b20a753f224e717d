"""Which least-squares means differ: all pairs by Tukey and Kramer, and the subsets that are not told apart."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from scipy import stats

from audit.errors import AuditError
from audit.statistics.letters import compact_letters
from audit.statistics.linear_model import (
    Fit,
    LeastSquaresMean,
    can_be_estimated,
    least_squares_means,
    levels_of,
    mean_rows,
)


@dataclass(frozen=True, slots=True)
class Comparison:
    """The mean of `one` less that of `other`: t = difference / se, the p of a family of all pairs, and its interval."""

    one: str
    other: str
    difference: float
    se: float
    t: float
    df: int
    p: float
    low: float
    high: float


def adjusted_p(t: float, means: int, df: float) -> float:
    """The p of one of all pairs of `means` means: the studentized range beyond |t| sqrt(2). 1 where there is one mean.

    Exact for means with as many scores each, cautious for others (Hayter, Annals of Statistics 12, 1984).

    >>> round(adjusted_p(3.71, 3, 5608), 4)  # as in the MCMT study
    0.0006
    """
    if means < 2:
        return 1.0
    return float(np.clip(stats.studentized_range.sf(abs(t) * np.sqrt(2), means, df), 0.0, 1.0))


def compare_means(fit: Fit, factor: str, confidence: float = 0.95) -> tuple[Comparison, ...]:
    """Every pair of a factor's levels whose means can be estimated, in the order of the levels; others are left out.

    p and ends hold for all pairs together. Raises AuditError for a factor that the model has not, and where scores do
    not vary within cells. Source: Kramer, Biometrics 12 (1956).
    """
    rows = mean_rows(fit, factor)
    known = [(name, row) for name, row in zip(levels_of(fit, factor), rows, strict=True) if can_be_estimated(fit, row)]
    if len(known) < 2:
        return ()
    widest = float(stats.studentized_range.isf(1 - confidence, len(known), fit.df)) / np.sqrt(2)
    found = []
    for (one, row), (other, other_row) in combinations(known, 2):
        apart = row - other_row
        difference, se = float(apart @ fit.coefficients), float(np.sqrt(max(0.0, apart @ fit.covariance @ apart)))
        if not se:
            raise AuditError(f"scores of {one} and {other} do not vary within cells, so nothing says what chance does")
        t = difference / se
        p = adjusted_p(t, len(known), fit.df)
        ends = (difference - widest * se, difference + widest * se)
        found.append(Comparison(one, other, difference, se, t, fit.df, p, *ends))
    return tuple(found)


def homogeneous_subsets(
    means: Mapping[str, float], comparisons: Sequence[Comparison], alpha: float = 0.05
) -> tuple[tuple[str, str], ...]:
    """(level, its letters), the highest mean first: levels that share a letter do not differ (p >= alpha).

    `comparisons` has every pair of `means`, else AuditError. These are the columns of the study's tables 2 and 4.

    >>> pair = Comparison("bing", "youdao", 0.0555, 0.0146, 3.80, 5608, 0.0004, 0.02, 0.09)
    >>> homogeneous_subsets({"youdao": 0.58, "bing": 0.6355}, [pair])
    (('bing', 'a'), ('youdao', 'b'))
    """
    order = sorted(means, key=lambda name: (-means[name], name))
    p = {frozenset((pair.one, pair.other)): pair.p for pair in comparisons}
    absent = [pair for pair in combinations(order, 2) if frozenset(pair) not in p]
    if absent:
        raise AuditError(f"{absent[0][0]} and {absent[0][1]} were not compared; subsets need every pair of the means")
    differ = np.zeros((len(order), len(order)), bool)
    for one, other in combinations(range(len(order)), 2):
        differ[one, other] = differ[other, one] = p[frozenset((order[one], order[other]))] < alpha
    return tuple(zip(order, compact_letters(differ), strict=True))


def compared(
    fit: Fit, confidence: float = 0.95, alpha: float = 0.05
) -> Iterator[tuple[str, tuple[LeastSquaresMean, ...], tuple[Comparison, ...], dict[str, str]]]:
    """For each factor of the model: its name, the least-squares means of its levels, all their pairs, and level -> its
    letters for the levels that have a mean. Raises as `compare_means` does."""
    for factor in fit.factors:
        means, pairs = least_squares_means(fit, factor, confidence), compare_means(fit, factor, confidence)
        known = {one.level: one.mean for one in means if one.mean is not None}
        yield factor, means, pairs, dict(homogeneous_subsets(known, pairs, alpha))
