"""The two-way linear model of scores: least-squares means, F tests of type III, and what empty cells leave unknown."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, permutations
from typing import TYPE_CHECKING

import numpy as np
from scipy import stats

from audit.errors import AuditError
from audit.messages import message
from audit.statistics.orders import compact_letters

if TYPE_CHECKING:
    import pandas as pd


_ZERO = 1e-9
"""Relative size under which a number is what rounding leaves of zero."""


@dataclass(frozen=True, slots=True, eq=False)
class Fit:
    """Model S_ij = mu + A_i + B_j (+ (AB)_ij) + e by least squares, I levels of A and J of B.

    `counts` and `means` (I, J): scores of each cell and their mean, nan where there is none. `coefficients` (p,), one
    solution of the normal equations, in the order mu, A, B, AB; `covariance` (p, p) of them; `space` (p, p) projects
    on the rows of the design, so only combinations that it leaves as they are can be estimated. `mse` is the variance
    of errors, `df` its degrees of freedom, or the clusters less one where `clusters` is not None.
    """

    factors: tuple[str, str]
    levels: tuple[tuple[str, ...], tuple[str, ...]]
    interaction: bool
    counts: np.ndarray
    means: np.ndarray
    coefficients: np.ndarray
    covariance: np.ndarray
    space: np.ndarray
    mse: float
    df: int
    clusters: int | None

    @property
    def n(self) -> int:
        """How many scores."""
        return int(self.counts.sum())


@dataclass(frozen=True, slots=True)
class LeastSquaresMean:
    """The mean that a level would have if it had as many scores with every level of the other factor.

    `n` scores; `missing` are the levels of the other factor that it has none with. Mean, standard error, and ends of
    the t interval are None where the mean cannot be estimated (SAS: "Non-est"); `reason` says why.
    """

    level: str
    n: int
    missing: tuple[str, ...]
    mean: float | None
    se: float | None
    low: float | None
    high: float | None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class FTest:
    """A test that an effect is nothing: F with `df` and `df_error`; F and p None where nothing can be tested.

    `left_out` are levels whose mean cannot be estimated: the test says nothing about them.
    """

    effect: str
    f: float | None
    df: int
    df_error: int
    p: float | None
    left_out: tuple[str, ...] = ()
    reason: str | None = None


def fit_two_way(
    frame: "pd.DataFrame",
    first: str = "language",
    second: str = "translator",
    score: str = "score",
    *,
    interaction: bool = True,
    clusters: str | None = None,
) -> Fit:
    """The model of one row a score, with columns `first` and `second` (text) and `score` (numbers).

    Scores may be uneven over cells, and cells may be empty. Errors are taken as independent with one variance, as in
    the MCMT study (equation 2). `clusters` names a column instead: rows that share a value, such as the sentence that
    all systems translated, may go together, and standard errors and tests allow for that (Liang and Zeger, Biometrika
    73, 1986; times G / (G - 1) x (N - 1) / (N - k) for G clusters, N scores and k coefficients that can be told apart,
    as statsmodels and Stata have it, with G - 1 degrees of freedom). Levels are in the order of their names. Raises
    AuditError for no scores, scores that are no finite numbers, and too few to know the size of errors.

    >>> import pandas as pd
    >>> scores = [(1, 1, 3.0), (1, 1, 5.0), (1, 2, 8.0), (2, 1, 1.0), (2, 2, 2.0), (2, 2, 4.0), (2, 2, 6.0)]
    >>> fit = fit_two_way(pd.DataFrame(scores, columns=["language", "translator", "score"]))
    >>> [round(mean.mean, 9) for mean in least_squares_means(fit, "language")]  # (4 + 8) / 2 and (1 + 4) / 2
    [6.0, 2.5]
    """
    if first == second or not len(frame):
        raise AuditError("a two-way model needs two different factors and at least one score")
    values = frame[score].to_numpy(float)
    if not np.isfinite(values).all():
        raise AuditError(f"{int((~np.isfinite(values)).sum()):,} of {len(values):,} scores are no finite numbers")
    rows, row = np.unique(frame[first].astype(str), return_inverse=True)
    columns, column = np.unique(frame[second].astype(str), return_inverse=True)
    shape = (len(rows), len(columns))
    cell = row * shape[1] + column
    counts = np.bincount(cell, minlength=shape[0] * shape[1])
    with np.errstate(invalid="ignore"):
        means = np.bincount(cell, values, len(counts)) / counts
    cells = _design(shape, interaction)
    # All that a score says of the coefficients it says through its cell, so sums over cells are enough.
    gram = (cells.T * counts) @ cells
    inverse = np.linalg.pinv(gram, rcond=_ZERO, hermitian=True)
    coefficients = inverse @ (cells.T @ np.where(counts > 0, np.nan_to_num(means) * counts, 0.0))
    errors = values - (cells @ coefficients)[cell]
    seen = cells[counts > 0]
    df = len(values) - int(np.linalg.matrix_rank(seen))
    if df < 1:
        raise AuditError(
            f"no degree of freedom is left for the error (scores: {len(values):,}, cells with any: {len(seen):,}); "
            "the model needs cells with two or more scores, or no interaction"
        )
    mse = float(errors @ errors) / df
    if mse <= (_ZERO * float(np.abs(values).max())) ** 2:
        mse, errors = 0.0, np.zeros_like(errors)  # equal scores in every cell: the rest is rounding
    if clusters is None:
        covariance, groups = mse * inverse, None
    else:
        covariance, groups = _clustered(frame[clusters].astype(str).to_numpy(), cell, errors, cells, inverse)
        covariance *= (len(values) - 1) / df
        df = groups - 1
    return Fit(
        factors=(first, second),
        levels=(tuple(map(str, rows)), tuple(map(str, columns))),
        interaction=interaction,
        counts=counts.reshape(shape),
        means=means.reshape(shape),
        coefficients=coefficients,
        covariance=covariance,
        space=np.linalg.pinv(seen) @ seen,
        mse=mse,
        df=df,
        clusters=groups,
    )


def least_squares_means(fit: Fit, factor: str, confidence: float = 0.95) -> tuple[LeastSquaresMean, ...]:
    """The least-squares mean of every level of `factor`, with a t interval, in the order of the levels.

    With the interaction a level's mean is the plain mean of its cells' means, so a level with an empty cell has none;
    without it, one is estimated wherever the design connects its level to the others. Raises AuditError for a factor
    that the model has not. Source: Searle, Speed and Milliken, The American Statistician 34 (1980).
    """
    axis = _axis(fit, factor)
    counts = fit.counts if axis == 0 else fit.counts.T
    other = fit.levels[1 - axis]
    wide = float(stats.t.isf((1 - confidence) / 2, fit.df))
    means = []
    for level, row, cell_counts in zip(fit.levels[axis], mean_rows(fit, factor), counts, strict=True):
        missing = tuple(name for name, n in zip(other, cell_counts, strict=True) if not n)
        n = int(cell_counts.sum())
        if not can_be_estimated(fit, row):
            reason = message("means.no_score_with", missing=missing) if missing else message("means.not_connected")
            means.append(LeastSquaresMean(level, n, missing, None, None, None, None, reason))
            continue
        mean, se = float(row @ fit.coefficients), float(np.sqrt(max(0.0, row @ fit.covariance @ row)))
        means.append(LeastSquaresMean(level, n, missing, mean, se, mean - wide * se, mean + wide * se))
    return tuple(means)


def type_three(fit: Fit) -> tuple[FTest, ...]:
    """F tests of both factors, and of the interaction where the model has it.

    A factor's test is that its least-squares means are equal, which is SAS's type III where no cell is empty. Where
    some are, it is of the levels whose mean can be estimated, the others are in `left_out`; SAS then tests other
    combinations that depend on which cells are empty. The interaction's is of all its combinations that can be
    estimated. With clusters: Wald's statistic W on the clustered covariance as Hotelling's T2, so that few clusters do
    not reject too often: F = W (d - q + 1) / (d q) with q and d - q + 1 degrees of freedom, d the clusters less one.
    """
    tests = [_of_factor(fit, factor) for factor in fit.factors]
    if fit.interaction:
        tests.append(_tested(fit, " x ".join(fit.factors), _interaction_rows(fit), ()))
    return tuple(tests)


def mean_rows(fit: Fit, factor: str) -> np.ndarray:
    """(levels, p): the combination of coefficients that is each level's least-squares mean."""
    axis = _axis(fit, factor)
    shape = fit.counts.shape
    rows: np.ndarray = _design(shape, fit.interaction).reshape(*shape, -1).mean(axis=1 - axis)
    return rows


def can_be_estimated(fit: Fit, row: np.ndarray) -> bool:
    """Whether a combination of coefficients lies in the space of the design's rows: the same in every solution."""
    return bool(np.abs(row @ fit.space - row).max() < 1e-6)


def _axis(fit: Fit, factor: str) -> int:
    if factor not in fit.factors:
        raise AuditError(f"the model has no factor {factor!r}; it has {fit.factors[0]} and {fit.factors[1]}")
    return fit.factors.index(factor)


def _design(shape: tuple[int, ...], interaction: bool) -> np.ndarray:
    """(I * J, p): a row a cell, 0 and 1 for mu, A, B and AB: more coefficients than can be told apart."""
    rows, columns = np.divmod(np.arange(shape[0] * shape[1]), shape[1])
    parts = [np.ones((len(rows), 1)), np.eye(shape[0])[rows], np.eye(shape[1])[columns]]
    return np.hstack([*parts, np.eye(len(rows))] if interaction else parts)


def _clustered(
    names: np.ndarray, cell: np.ndarray, errors: np.ndarray, cells: np.ndarray, inverse: np.ndarray
) -> tuple[np.ndarray, int]:
    _, group = np.unique(names, return_inverse=True)
    groups = int(group.max()) + 1
    if groups < 2:
        raise AuditError("all scores are in one cluster; standard errors by cluster need two or more")
    sums = np.zeros((groups, len(cells)))
    np.add.at(sums, (group, cell), errors)
    scores = sums @ cells
    return inverse @ (scores.T @ scores) @ inverse * groups / (groups - 1), groups


def _of_factor(fit: Fit, factor: str) -> FTest:
    rows = mean_rows(fit, factor)
    estimable = [can_be_estimated(fit, row) for row in rows]
    left_out = tuple(
        name for name, is_estimable in zip(fit.levels[_axis(fit, factor)], estimable, strict=True) if not is_estimable
    )
    estimable_rows = rows[np.array(estimable, bool)]
    return _tested(fit, factor, estimable_rows[1:] - estimable_rows[:1], left_out)


def _interaction_rows(fit: Fit) -> np.ndarray:
    """All combinations of observed cells that are 0 wherever effects only add up."""
    shape = fit.counts.shape
    seen = fit.counts.ravel() > 0
    adding = _design(shape, False)[seen]
    basis, sizes, _ = np.linalg.svd(adding)
    orthogonal = basis[:, int((sizes > _ZERO * sizes[0]).sum()) :]
    rows: np.ndarray = orthogonal.T @ _design(shape, True)[seen]
    return rows


def _tested(fit: Fit, effect: str, rows: np.ndarray, left_out: tuple[str, ...]) -> FTest:
    df = len(rows)
    if not df:
        why = message("means.one_level") if effect in fit.factors else message("means.no_cells")
        return FTest(effect, None, 0, fit.df, None, left_out, why)
    effects = rows @ fit.coefficients
    spread = rows @ fit.covariance @ rows.T
    if np.linalg.matrix_rank(spread, hermitian=True) < df:
        why = message("means.no_variation") if fit.mse == 0 else message("means.few_clusters")
        return FTest(effect, None, df, fit.df, None, left_out, why)
    rest = fit.df if fit.clusters is None else fit.df - df + 1
    if rest < 1:
        return FTest(
            effect,
            None,
            df,
            fit.df,
            None,
            left_out,
            message("means.few_clusters_for_test", clusters=fit.clusters, count=df),
        )
    f = float(effects @ np.linalg.solve(spread, effects)) / df * rest / fit.df
    return FTest(effect, f, df, rest, float(stats.f.sf(f, df, rest)), left_out)


def levels_of(fit: Fit, factor: str) -> Sequence[str]:
    """The levels of a factor, in the order of `least_squares_means`."""
    return fit.levels[_axis(fit, factor)]


# Which least-squares means differ: all pairs by Tukey and Kramer, and the subsets that are not told apart.


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
    estimable = [
        (name, row) for name, row in zip(levels_of(fit, factor), rows, strict=True) if can_be_estimated(fit, row)
    ]
    if len(estimable) < 2:
        return ()
    widest = float(stats.studentized_range.isf(1 - confidence, len(estimable), fit.df)) / np.sqrt(2)
    comparisons = []
    for (first, row), (second, second_row) in combinations(estimable, 2):
        apart = row - second_row
        difference, se = float(apart @ fit.coefficients), float(np.sqrt(max(0.0, apart @ fit.covariance @ apart)))
        if not se:
            raise AuditError(
                f"scores of {first} and {second} do not vary within cells, so nothing says what chance does"
            )
        t = difference / se
        p = adjusted_p(t, len(estimable), fit.df)
        ends = (difference - widest * se, difference + widest * se)
        comparisons.append(Comparison(first, second, difference, se, t, fit.df, p, *ends))
    return tuple(comparisons)


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
    for first, second in combinations(range(len(order)), 2):
        differ[first, second] = differ[second, first] = p[frozenset((order[first], order[second]))] < alpha
    return tuple(zip(order, compact_letters(differ), strict=True))


def compared(
    fit: Fit, confidence: float = 0.95, alpha: float = 0.05
) -> Iterator[tuple[str, tuple[LeastSquaresMean, ...], tuple[Comparison, ...], dict[str, str]]]:
    """For each factor of the model: its name, the least-squares means of its levels, all their pairs, and level -> its
    letters for the levels that have a mean. Raises as `compare_means` does."""
    for factor in fit.factors:
        means, pairs = least_squares_means(fit, factor, confidence), compare_means(fit, factor, confidence)
        mean_of_level = {level_mean.level: level_mean.mean for level_mean in means if level_mean.mean is not None}
        yield factor, means, pairs, dict(homogeneous_subsets(mean_of_level, pairs, alpha))


# How two scores of the same things go together: Pearson's and Spearman's correlation, or why there is none.

Numbers = Sequence[float] | np.ndarray
_FEWEST = 3
_EXACT = 8
"""Pairs up to which Spearman's p counts all orders of the ranks: 8! = 40,320."""


@dataclass(frozen=True, slots=True)
class Correlation:
    """One coefficient of `n` pairs, -1 to 1, the p of "there is none" (two-sided), and the ends of an interval.

    What cannot be told is None, and `reason` says why.
    """

    name: str
    n: int
    value: float | None
    p: float | None
    low: float | None
    high: float | None
    reason: str | None = None


def pearson(first: Numbers, second: Numbers, confidence: float = 0.95) -> Correlation:
    """Pearson's r of pairs of numbers; its p by Student's t, its interval by Fisher's z (Biometrika 10, 1915).

    None, with a reason, for fewer than three pairs and where one side is constant; no interval for three pairs or where
    the pairs lie on a line. Raises AuditError for sides of different lengths and numbers that are not finite.

    >>> r = pearson([1, 2, 3, 4, 5], [2, 1, 4, 3, 5])
    >>> round(r.value, 3), round(r.p, 3), round(r.low, 3), round(r.high, 3)
    (0.8, 0.104, -0.28, 0.986)
    """
    return _correlation("pearson", first, second, confidence)


def spearman(first: Numbers, second: Numbers, confidence: float = 0.95) -> Correlation:
    """Spearman's rho: Pearson's r of ranks, ties with their mean rank.

    p is exact up to eight pairs (all orders of the ranks count alike), by Student's t beyond. The interval is Fisher's
    z with the variance (1 + rho^2 / 2) / (n - 3) (Bonett and Wright, Psychometrika 65, 2000). None as in `pearson`.

    >>> rho = spearman([1, 2, 3, 4, 5], [2, 1, 4, 3, 50])
    >>> round(rho.value, 3), round(rho.p, 3)  # 16 of 120 orders are as far from 0
    (0.8, 0.133)
    """
    return _correlation("spearman", first, second, confidence)


def _correlation(name: str, first: Numbers, second: Numbers, confidence: float) -> Correlation:
    x, y = np.asarray(first, float), np.asarray(second, float)
    if x.shape != y.shape or x.ndim != 1:
        raise AuditError(f"a correlation needs pairs of numbers; {x.size} and {y.size} were given")
    if not (np.isfinite(x).all() and np.isfinite(y).all()):
        raise AuditError("a correlation needs finite numbers; leave out pairs in which one is unknown")
    n = len(x)
    if n < _FEWEST:
        return Correlation(name, n, None, None, None, None, f"{n} pairs; a correlation needs {_FEWEST} or more")
    for side in (x, y):
        if np.ptp(side) <= 1e-12 * np.abs(side).max():
            return Correlation(name, n, None, None, None, None, "one side is constant")
    if name == "spearman":
        x, y = stats.rankdata(x), stats.rankdata(y)
    test = stats.pearsonr(x, y)
    value = float(test.statistic)
    on_a_line = 1 - abs(value) < 1e-12
    p = _exact(x, y) if name == "spearman" and n <= _EXACT else 0.0 if on_a_line else float(test.pvalue)
    if n == _FEWEST or on_a_line:
        why = "no interval: all pairs lie on a line" if on_a_line else "no interval: three pairs are too few"
        return Correlation(name, n, round(value) if on_a_line else value, p, None, None, why)
    spread = (1 + value**2 / 2 if name == "spearman" else 1.0) / (n - 3)
    wide = float(stats.norm.isf((1 - confidence) / 2)) * math.sqrt(spread)
    return Correlation(name, n, value, p, math.tanh(math.atanh(value) - wide), math.tanh(math.atanh(value) + wide))


def _exact(x: np.ndarray, y: np.ndarray) -> float:
    """Share of all orders of `y` whose correlation with `x` is as far from 0 as the one seen."""
    x, y = x - x.mean(), y - y.mean()
    all_orders = y[np.array(list(permutations(range(len(y)))))] @ x
    return float(np.mean(np.abs(all_orders) >= abs(x @ y) * (1 - 1e-9)))
