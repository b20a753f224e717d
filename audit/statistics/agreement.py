"""Agreement among annotators: coefficients with intervals, and `suite`, which gives all that fit the data.

>>> import pandas as pd
>>> rows = [(1, "a", "x"), (1, "b", "x"), (2, "a", "y"), (2, "b", "x"), (3, "a", "y"), (3, "b", "y")]
>>> ratings = Ratings.of(pd.DataFrame(rows, columns=["item", "annotator", "label"]))
>>> {coefficient.name: round(coefficient.estimate, 3) for coefficient in suite(ratings)}
{'percent_agreement': 0.667, 'cohen_kappa': 0.4, 'krippendorff_alpha': 0.444, 'gwet_ac1': 0.333}
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Literal

import numpy as np
import pandas as pd
from scipy.sparse import csr_array, diags_array, hstack
from scipy.special import stdtrit

from audit.errors import AuditError
from audit.messages import message

# Who gave which item which label: the one representation that every coefficient reads.

Scale = Literal["names", "order", "numbers"]
MOST_LABELS = 1_000
"""Weights are a matrix of labels x labels: more labels than this are measurements, or free text."""
_CELLS = 4_000_000
"""Cells of items x labels that are worked on at once, so that memory stays small however many items there are."""


@dataclass(frozen=True, eq=False)
class Ratings:
    """m ratings of n items by annotators with q labels; missing ratings are just not there.

    `item`, `annotator` and `label` have the shape (m,) and hold indices; every item has at least one rating, and no
    annotator rates an item twice. `values` (q,) are the labels as numbers where `scale` is `numbers`, their ranks
    where it is `order`, else None. `clusters` (n,) says which items belong together (groups of one source), None:
    every item stands for itself.
    """

    item: np.ndarray
    annotator: np.ndarray
    label: np.ndarray
    items: int
    annotators: tuple[str, ...]
    labels: tuple[str, ...]
    scale: Scale = "names"
    values: np.ndarray | None = None
    clusters: np.ndarray | None = None

    @classmethod
    def of(cls, frame: pd.DataFrame, labels: Sequence[str] | None = None, order: bool = False) -> "Ratings":
        """The ratings of a frame with the columns item, annotator, label, one row a rating; optionally cluster.

        `labels` are the labels that were allowed (default: those that occur); with `order` they stand in their order.
        Where all labels are numbers, the scale is `numbers`, and spellings of one number ("1", "1.0") are one label.
        Raises AuditError: no rows, an annotator who rates an item twice, a label that was not allowed, more than
        1,000 labels.

        >>> frame = pd.DataFrame({"item": [1, 1, 2], "annotator": ["a", "b", "a"], "label": ["3", "10", "3.0"]})
        >>> Ratings.of(frame).labels, Ratings.of(frame).counts.toarray().tolist()
        (('3', '10'), [[1.0, 1.0], [1.0, 0.0]])
        """
        if frame.empty:
            raise AuditError("there are no ratings; one row an item, annotator and label is needed")
        item, _ = pd.factorize(frame["item"])
        annotator, annotators = pd.factorize(frame["annotator"], sort=True)
        again = pd.DataFrame({"item": item, "annotator": annotator}).duplicated().to_numpy()
        if again.any():
            first = frame[again].iloc[0]
            raise AuditError(
                f"annotator {first['annotator']} rates item {first['item']} twice; keep one rating of each item"
            )
        codes, used = pd.factorize(frame["label"])
        used = [str(label) for label in used]
        names, place, values = _scaled(used if labels is None else [str(label) for label in labels], order)
        unknown = [label for label in used if label not in place]
        if unknown:
            raise AuditError(f"label {unknown[0]!r} is not one of {', '.join(names)}")
        clusters = None
        if "cluster" in frame:
            # One cluster an item: that of its first rating.
            clusters = pd.factorize(frame["cluster"].to_numpy()[np.unique(item, return_index=True)[1]])[0]
        return cls(
            item,
            annotator,
            np.array([place[label] for label in used])[codes],
            int(item.max()) + 1,
            tuple(map(str, annotators)),
            names,
            "order" if order else "names" if values is None else "numbers",
            np.arange(len(names), dtype=float) if order else values,
            clusters,
        )

    @cached_property
    def counts(self) -> csr_array:
        """How often each item got each label: sparse, items x labels."""
        shape = (self.items, len(self.labels))
        return csr_array((np.ones(len(self.item)), (self.item, self.label)), shape=shape)

    @cached_property
    def per_item(self) -> np.ndarray:
        """Ratings per item, shape (items,), all at least 1."""
        return np.bincount(self.item, minlength=self.items).astype(float)

    @cached_property
    def shared(self) -> np.ndarray:
        """Which items were rated by two annotators or more: booleans of shape (items,)."""
        return self.per_item >= 2

    @cached_property
    def prevalence(self) -> np.ndarray:
        """Share of each label, shape (labels,), each item weighing the same. Items with one rating count here."""
        weights = 1 / self.per_item[self.item] / self.items
        return np.bincount(self.label, weights, minlength=len(self.labels))

    @cached_property
    def both(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """For exactly two annotators: the items that both rated, and the labels of the first and of the second.

        Raises AuditError for another number of annotators.
        """
        if len(self.annotators) != 2:
            raise AuditError(f"there are {len(self.annotators)} annotators; this coefficient is for exactly 2")
        labels = np.full((2, self.items), -1)
        labels[self.annotator, self.item] = self.label
        items = np.flatnonzero((labels >= 0).all(axis=0))
        return items, labels[0, items], labels[1, items]

    def forms(self, weights: np.ndarray) -> np.ndarray:
        """r' W r of each item, r its counts and W the weights (labels x labels): shape (items,).

        >>> frame = pd.DataFrame({"item": [1, 1, 1], "annotator": ["a", "b", "c"], "label": ["x", "x", "y"]})
        >>> Ratings.of(frame).forms(np.eye(2)).tolist()
        [5.0]
        """
        sums = np.empty(self.items)
        step = max(1, _CELLS // len(self.labels))
        for start in range(0, self.items, step):
            block = self.counts[start : start + step].toarray()
            sums[start : start + step] = ((block @ weights) * block).sum(axis=1)
        return sums


def number_of(label: str) -> float | None:
    """The number that a label is, or None.

    >>> number_of("1.5"), number_of("nan"), number_of("1_0"), number_of("good")
    (1.5, None, None, None)
    """
    try:
        number = float(label)
    except ValueError:
        return None
    return number if math.isfinite(number) and "_" not in label else None


def _scaled(labels: Sequence[str], order: bool) -> tuple[tuple[str, ...], dict[str, int], np.ndarray | None]:
    """Labels in their order, the place of every spelling, and the values where all labels are numbers."""
    distinct = list(dict.fromkeys(labels))
    numbers = {label: number_of(label) for label in distinct}
    values: list[float] = sorted({number for number in numbers.values() if number is not None})
    if not order and all(number is not None for number in numbers.values()):
        spelled = {numbers[label]: label for label in sorted(distinct, reverse=True)}
        names = tuple(spelled[value] for value in values)
        place = {label: values.index(number) for label, number in numbers.items() if number is not None}
        scale_values: np.ndarray | None = np.array(values)
    else:
        names = tuple(distinct) if order else tuple(sorted(distinct))
        place = {label: position for position, label in enumerate(names)}
        scale_values = None
    if len(names) > MOST_LABELS:
        raise AuditError(
            f"there are {len(names):,} different labels, at most {MOST_LABELS:,} are allowed; round numbers, or sort "
            "free text into categories"
        )
    return names, place, scale_values


# What all coefficients are made of: sums over items, observed and expected agreement from them, and an interval.
#
# Every coefficient is (observed - expected) / (1 - expected), and both are functions of sums over items. So an estimate
# is the function of the sums, and its posterior the function of sums in which each item weighs a little more or less.

TINY = 1e-12
"""Sums of shares closer than this are equal: what is left are the last bits."""
DRAWS = 2_000
"""Draws of an interval; fewer, down to a tenth, where items are of more than 50,000 kinds."""
_CELLS_A_PIECE = 2_000_000
"""Numbers that are drawn at once, so that memory stays small however many kinds of items there are."""
_MOST = 100_000_000
_Z = 1.959964
AGREED, APART = 1.0, 0.5
"""Items in which all agree (shared out over the labels), and in which none does, that the prior counts."""


@dataclass(frozen=True, eq=False)
class Parts:
    """A coefficient as sums over n items: their rows, a prior's, and what the sums say of chance.

    `rows` (n, f) has for each item its weight (0: nothing to agree on), its agreement times that weight, and what
    `chance` needs; `chance` makes expected agreement (d,) from sums (d, f). `prior` (k, f) are rows of imagined items,
    `mass` (k,) how often each is imagined. `clusters` (n,) says which items belong together, None: each stands alone.
    """

    rows: csr_array
    chance: Callable[[np.ndarray], np.ndarray]
    prior: np.ndarray
    mass: np.ndarray
    clusters: np.ndarray | None = None

    @cached_property
    def items(self) -> int:
        """How many items two annotators or more rated, so that there is something to agree on."""
        return int((self.rows[:, [0]].toarray() > 0).sum())

    @cached_property
    def sums(self) -> np.ndarray:
        """Sums of the rows, (1, f)."""
        return np.asarray(self.rows.sum(axis=0)).reshape(1, -1)

    @property
    def observed(self) -> float:
        """Observed agreement, a fraction; NaN of no items."""
        return float(self.sums[0, 1] / self.sums[0, 0]) if self.items else float("nan")

    @property
    def expected(self) -> float:
        """Agreement by chance, a fraction; NaN of no items."""
        return float(self.chance(self.sums)[0]) if self.items else float("nan")

    @property
    def value(self) -> float | None:
        """The coefficient; None where chance alone would make everybody agree.

        >>> mean_of(np.array([1.0, 0.5])).value
        0.75
        """
        if 1 - self.expected <= TINY:
            return None
        return (self.observed - self.expected) / (1 - self.expected)


def mean_of(shares: np.ndarray) -> Parts:
    """The parts of a plain mean of n shares between 0 and 1, nothing taken off for chance.

    >>> mean_of(np.array([1.0, 1.0, 0.0, 0.0])).observed
    0.5
    """
    rows = csr_array(np.column_stack([np.ones(len(shares)), shares]))
    return Parts(rows, no_chance, np.array([[1.0, 1.0], [1.0, 0.0]]), np.array([0.5, 0.5]))


def no_chance(sums: np.ndarray) -> np.ndarray:
    """Expected agreement of 0 for each of d sums."""
    return np.zeros(len(sums))


def draws_of(parts: Parts, draws: int = DRAWS, seed: int = 0) -> np.ndarray:
    """Draws of the coefficient from its posterior, shape (draws,) or fewer, seeded.

    The kinds of items are taken as multinomial, with a Dirichlet prior: one imagined item in which all agree, shared
    out over the labels, and half an item in which nobody does. For two annotators and two labels this is Jeffreys'
    prior on the three kinds of items. Items of a cluster get one weight, and the prior's items are then clusters of
    mean size. Few items tell the variance badly, so each of n counts a little less, as much as makes the variance
    (t(n - 1) / z)^2 times that of the classical mean. Source: Rubin, "The Bayesian bootstrap", Annals of Statistics 9
    (1981).
    """
    rows = parts.rows
    if parts.clusters is not None:
        codes = np.unique(parts.clusters, return_inverse=True)[1]
        rows = csr_array((np.ones(len(codes)), (codes, np.arange(len(codes))))) @ rows
    units = rows.shape[0]
    rows, times = _distinct(rows)
    size = parts.items / units if parts.clusters is not None else 1.0
    t = float(stdtrit(max(units - 1, 1), 0.975))
    count = max(((units - 1) * (_Z / t) ** 2 - 1) / units, 0.1)
    shapes = np.concatenate([count * times, parts.mass])
    draws = int(np.clip(_MOST // len(shapes), draws // 10, draws))
    random = np.random.default_rng(seed)
    pieces, step = [], max(1, _CELLS_A_PIECE // len(shapes))
    for start in range(0, draws, step):
        weights = random.standard_gamma(shapes, size=(min(step, draws - start), len(shapes)))
        weights *= shapes.sum() / weights.sum(axis=1, keepdims=True)
        sums = weights[:, : len(times)] @ rows + size * (weights[:, len(times) :] @ parts.prior)
        expected = parts.chance(sums)
        pieces.append((sums[:, 1] / sums[:, 0] - expected) / (1 - expected))
    return np.concatenate(pieces)


def interval(parts: Parts, confidence: float = 0.95) -> tuple[float, float] | None:
    """Lower and upper end of a coefficient: quantiles of its posterior (`draws_of`), widened to hold the estimate.

    So the upper end is 1 where all agree, and no interval is a point. Its ends are always possible, and it covers also
    where one label is rare (docs/reference/agreement.md). None with fewer than two items or clusters.

    >>> low, high = interval(mean_of(np.ones(36)))
    >>> round(low, 2), high
    (0.92, 1.0)
    """
    value = parts.value
    units = parts.rows.shape[0] if parts.clusters is None else len(np.unique(parts.clusters))
    if value is None or parts.items < 2 or units < 2:
        return None
    low, high = np.quantile(draws_of(parts), [(1 - confidence) / 2, (1 + confidence) / 2])
    return min(float(low), value), max(float(high), value)


def _distinct(rows: csr_array) -> tuple[csr_array, np.ndarray]:
    """The different rows in an order of their own, and how often each is there."""
    # Equal rows have equal sums over random keys; that two others meet in 53 bits is not to be feared.
    keys = np.random.default_rng(12345).random(rows.shape[1])
    _, first, times = np.unique((rows @ keys).round(12), return_index=True, return_counts=True)
    return rows[first], times.astype(float)


# The coefficients: how much annotators agree, beyond what each of them expects by chance.


def percent_agreement(ratings: Ratings, weights: np.ndarray | None = None) -> Parts:
    """Share of agreeing pairs of annotators, averaged over the items that two or more rated; nothing for chance.

    A fraction, in spite of its name. `weights` (labels x labels) counts near misses in part. Source: Gwet, Handbook of
    Inter-Rater Reliability (4th edition, 2014), chapter 2.

    >>> import pandas as pd
    >>> frame = pd.DataFrame({"item": [1, 1, 2, 2], "annotator": list("abab"), "label": list("xxxy")})
    >>> percent_agreement(Ratings.of(frame)).value
    0.5
    """
    return _of_items(ratings, weights, no_chance)


def cohen_kappa(ratings: Ratings, weights: np.ndarray | None = None) -> Parts:
    """Agreement beyond that of two annotators who draw labels, each by their own prevalence.

    Made from the items that both rated. `weights` (labels x labels) counts near misses in part (Cohen, Psychological
    Bulletin 70, 1968). Raises AuditError unless there are exactly two annotators. Source: Cohen, Educational and
    Psychological Measurement 20 (1960).

    >>> import pandas as pd
    >>> frame = pd.DataFrame({"item": [1, 1, 2, 2, 3, 3], "annotator": list("ababab"), "label": list("xxyxyy")})
    >>> round(cohen_kappa(Ratings.of(frame)).value, 12)
    0.4
    """
    weights = np.eye(len(ratings.labels)) if weights is None else weights
    items, first, second = ratings.both
    labels, ones = len(weights), np.ones(len(items))
    agreement = csr_array(np.column_stack([ones, weights[first, second]]))
    indicators = [
        csr_array((ones, (np.arange(len(items)), codes)), shape=(len(items), labels)) for codes in (first, second)
    ]

    def chance(sums: np.ndarray) -> np.ndarray:
        shares = sums[:, 2:] / sums[:, :1]
        return np.asarray(((shares[:, :labels] @ weights) * shares[:, labels:]).sum(axis=1))

    prior, mass = _prior(weights)
    clusters = None if ratings.clusters is None else ratings.clusters[items]
    rows = csr_array(hstack([agreement, *indicators]))
    return Parts(rows, chance, np.hstack([prior, prior[:, 2:]]), mass, clusters)


def fleiss_kappa(ratings: Ratings, weights: np.ndarray | None = None) -> Parts:
    """Agreement beyond what annotators would reach who all draw labels by their prevalence.

    The annotators of one item need not be those of another, and their number may differ. Items with one rating say
    nothing about agreement but count in the prevalence. `weights` (labels x labels) counts near misses in part.
    Source: Fleiss, Psychological Bulletin 76 (1971); missing ratings: Gwet (2014), chapter 2.

    >>> import pandas as pd
    >>> frame = pd.DataFrame({"item": [1, 1, 2, 2], "annotator": list("abab"), "label": list("xxyy")})
    >>> fleiss_kappa(Ratings.of(frame)).value
    1.0
    """
    weights = np.eye(len(ratings.labels)) if weights is None else weights
    return _of_items(ratings, weights, lambda sums: _pairs(_shares(sums), weights))


def gwet_ac(ratings: Ratings, weights: np.ndarray | None = None) -> Parts:
    """Gwet's AC1, or with `weights` (labels x labels) for near misses his AC2: only what is hard to rate is guessed.

    It stays near the percent agreement where one label prevails and kappa does not. Expected agreement is
    T / (q (q - 1)) x sum of p (1 - p) over the q labels, p their prevalence and T the sum of all weights. With one
    label it is 1: undefined. Source: Gwet, British Journal of Mathematical and Statistical Psychology 61 (2008); with
    missing ratings and weights Gwet (2014), chapters 2 and 3.

    >>> import pandas as pd
    >>> frame = pd.DataFrame({"item": [1, 1, 2, 2], "annotator": list("abab"), "label": ["1", "1", "2", "3"]})
    >>> round(gwet_ac(Ratings.of(frame)).value, 3)
    0.273
    """
    weights = np.eye(len(ratings.labels)) if weights is None else weights
    labels = len(weights)
    factor = float(weights.sum()) / (labels * (labels - 1)) if labels > 1 else np.nan

    def chance(sums: np.ndarray) -> np.ndarray:
        shares = _shares(sums)
        guessed = np.asarray((shares * (1 - shares)).sum(axis=1))
        return factor * guessed if labels > 1 else np.ones(len(sums))

    return _of_items(ratings, weights, chance)


def krippendorff_alpha(ratings: Ratings, level: str = "nominal") -> Parts:
    """1 - observed / expected disagreement, over the items that two annotators or more rated.

    `level` is a key of `DISTANCES`: it says how far two labels are apart; ordinal distances are those of the sample.
    The parts hold agreement, 1 less disagreement in units of the largest distance, so that alpha is their coefficient
    as for the others. Any number of annotators, any missing ratings. Raises AuditError for an unknown level, or labels
    that the level does not allow. Source: Krippendorff, "Computing Krippendorff's Alpha-Reliability" (2011), its form
    for missing data and all metrics.

    >>> import pandas as pd
    >>> rows = [(1, "a", 1), (1, "b", 1), (2, "a", 2), (2, "b", 3), (3, "a", 3), (3, "b", 3)]
    >>> ratings = Ratings.of(pd.DataFrame(rows, columns=["item", "annotator", "label"]))
    >>> round(krippendorff_alpha(ratings).value, 3), round(krippendorff_alpha(ratings, "interval").value, 3)
    (0.545, 0.828)
    """
    if level not in DISTANCES:
        raise AuditError(f"level {level!r} is not one of {', '.join(DISTANCES)}")
    shares = ratings.counts[ratings.shared].sum(axis=0) / max(ratings.per_item[ratings.shared].sum(), 1.0)
    distances = DISTANCES[level](shares if ratings.values is None else ratings.values, shares)
    weights = 1 - distances / (distances.max() or 1.0)

    def chance(sums: np.ndarray) -> np.ndarray:
        # The same ratings, dealt anew to the items: nobody meets a rating of one's own.
        total = sums[:, 0]
        by_chance: np.ndarray = 1 - (1 - _pairs(_shares(sums), weights)) * total / (total - 1)
        return by_chance

    return _of_items(ratings, weights, chance, by_rating=True)


def nominal(values: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """Different labels are all equally far apart: (q,), (q,) -> (q, q).

    >>> nominal(np.zeros(2), np.zeros(2)).tolist()
    [[0.0, 1.0], [1.0, 0.0]]
    """
    return 1 - np.eye(len(shares))


def ordinal(values: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """Squared share of the ratings that lie between two labels, half of each of the two included.

    >>> ordinal(np.arange(3), np.array([0.25, 0.25, 0.5]))[0].tolist()
    [0.0, 0.0625, 0.390625]
    """
    return interval_level(np.cumsum(shares) - shares / 2, shares)


def interval_level(values: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """Squared difference of the values.

    >>> interval_level(np.array([1.0, 4.0]), np.zeros(2))[0].tolist()
    [0.0, 9.0]
    """
    distances: np.ndarray = (values[:, None] - values[None, :]) ** 2
    return distances


def ratio(values: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """Squared difference of the values in units of their sum. Raises AuditError for negative values.

    >>> ratio(np.array([0.0, 1.0, 3.0]), np.zeros(3))[1].tolist()
    [1.0, 0.0, 0.25]
    """
    if (values < 0).any():
        raise AuditError(f"label {values[values < 0][0]:g} is negative; the level ratio allows numbers from 0")
    sums = values[:, None] + values[None, :]
    distances: np.ndarray = ((values[:, None] - values[None, :]) / np.where(sums > 0, sums, 1.0)) ** 2
    return distances


DISTANCES: dict[str, Callable[[np.ndarray, np.ndarray], np.ndarray]] = {
    "nominal": nominal,
    "ordinal": ordinal,
    "interval": interval_level,
    "ratio": ratio,
}
"""How far labels are apart, by level: values (q,) and shares of the ratings (q,) -> distances (q, q)."""


def linear(values: np.ndarray) -> np.ndarray:
    """Weights that fall with the distance of the values (q,): 1 - |x - y| / (max - min).

    With the values of the labels in place of their positions (Cohen 1968), a label that nobody used changes nothing.

    >>> linear(np.array([1.0, 2.0, 5.0]))[0].tolist()
    [1.0, 0.75, 0.0]
    """
    weights: np.ndarray = 1 - np.abs(values[:, None] - values[None, :]) / (np.ptp(values) or 1.0)
    return weights


def quadratic(values: np.ndarray) -> np.ndarray:
    """Weights that fall with the square of the distance of the values (q,).

    >>> quadratic(np.array([1.0, 2.0, 5.0]))[0].tolist()
    [1.0, 0.9375, 0.0]
    """
    return 1 - (1 - linear(values)) ** 2


WEIGHTS: dict[str, Callable[[np.ndarray], np.ndarray]] = {"linear": linear, "quadratic": quadratic}
"""Weights by the name that the suite calls a level: matrices of labels x labels, 1 on the diagonal."""


def _of_items(
    ratings: Ratings,
    weights: np.ndarray | None,
    chance: Callable[[np.ndarray], np.ndarray],
    by_rating: bool = False,
) -> Parts:
    """A coefficient whose rows are weight, agreement and the shares of labels of each item; `chance` reads their sums.

    Items weigh the same, and those with one rating count for the shares; `by_rating`: each weighs as many as it has
    ratings, and those with one do not count.
    """
    weights = np.eye(len(ratings.labels)) if weights is None else weights
    size, shared = ratings.per_item, ratings.shared
    agreed = np.where(shared, (ratings.forms(weights) - size) / np.where(shared, size * (size - 1), 1), 0.0)
    shares = diags_array(1 / size).tocsr() @ ratings.counts
    rows = csr_array(hstack([csr_array(np.column_stack([shared, agreed])), shares]))
    prior, mass = _prior(weights)
    clusters = ratings.clusters
    if by_rating:
        rows = diags_array(size[shared]).tocsr() @ rows[shared]
        clusters = None if clusters is None else clusters[shared]
        prior = prior * (size[shared].mean() if shared.any() else 1.0)
    return Parts(csr_array(rows), chance, prior, mass, clusters)


def _prior(weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rows of imagined items (q + 1, 2 + q): all agree on a label, for each of q labels, and nobody agrees; masses."""
    labels = len(weights)
    apart = (weights.sum() - labels) / max(labels * (labels - 1), 1)
    rows = np.vstack([np.eye(labels), np.full(labels, 1 / labels)])
    agreement = np.r_[np.ones(labels), apart]
    mass = np.r_[np.full(labels, AGREED / labels), APART]
    return np.column_stack([np.ones(labels + 1), agreement, rows]), mass


def _shares(sums: np.ndarray) -> np.ndarray:
    """Shares of labels (d, q) from sums (d, 2 + q)."""
    shares: np.ndarray = sums[:, 2:] / sums[:, 2:].sum(axis=1, keepdims=True)
    return shares


def _pairs(shares: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Agreement of two labels that are drawn by their shares (d, q): (d,)."""
    return np.asarray(((shares @ weights) * shares).sum(axis=1))


# The kappa paradox: nearly everybody agrees, and kappa is low, because nearly everything is one label.

AGREE = 0.8
"""Percent agreement, as a fraction, from which a low kappa needs an explanation."""
APART_BY = 0.2
"""By how much AC1 must exceed the coefficient before a low kappa is explained."""


def paradox_note(ratings: Ratings, percent: float, expected: float, value: float, ac1: float) -> str | None:
    """A sentence where the paradox strikes a coefficient, else None.

    `percent` is the percent agreement (a fraction), `expected` and `value` the coefficient's expected agreement and
    estimate, `ac1` Gwet's AC1. It strikes where at least .8 agree and the coefficient lies .2 or more below AC1.
    Source: Feinstein and Cicchetti, Journal of Clinical Epidemiology 43 (1990); Gwet (2008).

    >>> import pandas as pd
    >>> frame = pd.DataFrame({"item": [1, 1, 2, 2], "annotator": list("abab"), "label": list("xxxy")})
    >>> paradox_note(Ratings.of(frame), 0.85, 0.8, 0.25, 0.8).split(":")[0]
    'kappa paradox'
    """
    if percent < AGREE or ac1 - value < APART_BY:
        return None
    most = int(ratings.prevalence.argmax())
    return message(
        "undefined.paradox",
        percent=100 * percent,
        prevalence=100 * ratings.prevalence[most],
        label=ratings.labels[most],
        expected=100 * expected,
        ac1=ac1,
    )


# The coefficients that fit some ratings, with their intervals.

LEVELS: dict[str, tuple[Scale, ...]] = {
    "nominal": ("names", "order", "numbers"),
    "ordinal": ("order", "numbers"),
    "interval": ("numbers",),
    "ratio": ("numbers",),
    "linear": ("order", "numbers"),
    "quadratic": ("order", "numbers"),
}
"""Levels, and the scales of labels that allow them."""


@dataclass(frozen=True)
class Coefficient:
    """One coefficient of some ratings. `estimate`, `low` and `high` are None where they are undefined: `note` says why.

    `level` is None for those without weights. `items` are those that two annotators or more rated, `annotators` how
    many rated anything. `note` also explains the kappa paradox where it strikes.
    """

    name: str
    level: str | None
    estimate: float | None
    low: float | None
    high: float | None
    items: int
    annotators: int
    note: str | None = None


COEFFICIENTS: dict[str, Callable[..., Parts]] = {
    "percent_agreement": percent_agreement,
    "cohen_kappa": cohen_kappa,
    "fleiss_kappa": fleiss_kappa,
    "krippendorff_alpha": krippendorff_alpha,
    "gwet_ac1": gwet_ac,
}
"""Functions from ratings to `Parts`. Alpha takes a `level` of `DISTANCES`, the others take `weights`."""


def measures(ratings: Ratings, level: str | None = None) -> dict[str, Callable[[Ratings], Parts]]:
    """The coefficients by name at a level (None: unweighted); the kappa is Cohen's for two annotators, else Fleiss'.

    >>> import pandas as pd
    >>> frame = pd.DataFrame({"item": [1, 1], "annotator": list("ab"), "label": list("xy")})
    >>> list(measures(Ratings.of(frame)))
    ['percent_agreement', 'cohen_kappa', 'krippendorff_alpha', 'gwet_ac1']
    """
    other_kappa = "fleiss_kappa" if len(ratings.annotators) == 2 else "cohen_kappa"
    fitting = {name: compute for name, compute in COEFFICIENTS.items() if name != other_kappa}
    if level in DISTANCES:
        return {"krippendorff_alpha": partial(krippendorff_alpha, level=level)}
    if level is None:
        return fitting
    if ratings.values is None:
        raise AuditError(f"the labels are not numbers; the level {level} needs numbers or an order")
    del fitting["krippendorff_alpha"]
    weights = WEIGHTS[level](ratings.values)
    return {name.replace("ac1", "ac2"): partial(compute, weights=weights) for name, compute in fitting.items()}


def suite(ratings: Ratings, level: str | None = None, confidence: float = 0.95) -> list[Coefficient]:
    """Percent agreement, one kappa, Krippendorff's alpha and AC1, then those of `level` where one is asked for.

    The levels ordinal, interval and ratio are alpha's, linear and quadratic those of the others; nominal is what comes
    without weights. Undefined ones are None with a note, never an error. Raises AuditError for a level that is unknown
    or that the labels do not allow: beyond nominal they are numbers, or (ordinal, linear, quadratic) have an order.

    >>> import pandas as pd
    >>> frame = pd.DataFrame({"item": [1, 1, 2, 2], "annotator": list("abab"), "label": list("xxxx")})
    >>> kappa = suite(Ratings.of(frame))[1]
    >>> kappa.name, kappa.estimate, kappa.note
    ('cohen_kappa', None, 'undefined: no variation; percent agreement 100.0 %')
    """
    check_level(level, ratings.scale)
    percent = percent_agreement(ratings).observed
    ac1 = gwet_ac(ratings).value if _varies(ratings) else None
    return [
        _coefficient(name, at, compute, ratings, percent, ac1, confidence)
        for at in ((None, level) if level not in (None, "nominal") else (None,))
        for name, compute in measures(ratings, at).items()
    ]


def check_level(level: str | None, scale: Scale) -> None:
    """Raises AuditError for a level that nobody knows, or that labels of this scale do not allow; None is no level."""
    if level is None:
        return
    if level not in LEVELS:
        raise AuditError(f"level {level!r} is not one of {', '.join(LEVELS)}")
    if scale not in LEVELS[level]:
        what = "an order of labels without numbers" if scale == "order" else "labels that are not numbers"
        allowed = ", ".join(name for name in LEVELS if scale in LEVELS[name])
        raise AuditError(f"{what} cannot have the level {level}; allowed are {allowed}")


def _varies(ratings: Ratings) -> bool:
    return bool((ratings.label != ratings.label[0]).any()) and bool(ratings.shared.any())


def _coefficient(
    name: str,
    level: str | None,
    compute: Callable[[Ratings], Parts],
    ratings: Ratings,
    percent: float,
    ac1: float | None,
    confidence: float,
) -> Coefficient:
    people, estimate, ends, items = len(ratings.annotators), None, None, 0
    note: str | None = None
    try:
        parts = compute(ratings)
        items = parts.items
        estimate = parts.value if items and (_varies(ratings) or name == "percent_agreement") else None
    except AuditError as reason:  # a ratio of negative numbers
        note = message("undefined.because", reason=reason)
    if note is None and not items:
        note = message("undefined.not_by_both" if name == "cohen_kappa" else "undefined.not_by_two")
    elif note is None and estimate is None:
        note = message("undefined.no_variation", percent=100 * percent)
    if estimate is not None:
        ends = interval(parts, confidence)
        if ends is None:
            note = message("undefined.no_interval")
        elif level is None and ac1 is not None and name not in ("percent_agreement", "gwet_ac1"):
            # Chance by prevalence and no weights: here the paradox may strike.
            note = paradox_note(ratings, percent, parts.expected, estimate, ac1)
    low, high = ends or (None, None)
    return Coefficient(name, level, estimate, low, high, items, people, note)


# Which labels annotators take for each other: a matrix of pairs of ratings.


def label_pairs(ratings: Ratings) -> np.ndarray:
    """How often one annotator gave the row's label where another gave the column's; (labels, labels), symmetric.

    Every item adds each of its pairs of annotators once in either direction, so the diagonal holds twice the pairs that
    agree. An item with one rating adds nothing. Source: the coincidences of Krippendorff (2011), Computing
    Krippendorff's Alpha-Reliability, without the weight 1 / (m - 1) of items with m ratings.

    >>> import pandas as pd
    >>> frame = pd.DataFrame({"item": [1, 1, 1, 2], "annotator": list("abca"), "label": list("xxyx")})
    >>> label_pairs(Ratings.of(frame)).tolist()
    [[2, 2], [2, 0]]
    """
    counts = ratings.counts
    pairs = (counts.T @ counts).toarray() - np.diag(np.asarray(counts.sum(axis=0)).ravel())
    numbers: np.ndarray = np.rint(pairs).astype(int)
    return numbers


# How every two annotators agree: a matrix of pairs, all at once.


@dataclass(frozen=True, eq=False)
class Pairs:
    """Symmetric matrices of annotators x annotators, in the order of `Ratings.annotators`.

    `items` counts the items that both rated. `percent`, `kappa` (Cohen's) and `ac1` (Gwet's) are made from these; NaN
    where there are none, and `kappa` and `ac1` also where these items have one label only: undefined, no variation.
    On the diagonal are each annotator's own items, and NaN.
    """

    items: np.ndarray
    percent: np.ndarray
    kappa: np.ndarray
    ac1: np.ndarray


def agreement_of_pairs(ratings: Ratings) -> Pairs:
    """Percent agreement, Cohen's kappa and AC1 of all pairs of annotators.

    For each label k, M_k[a, b] counts the items that a gave the label k and b rated at all: these are the marginals of
    all pairs' tables, and no pair is looked at on its own. AC1 counts the labels of all ratings, not of the pair's.

    >>> import pandas as pd
    >>> rows = [(1, "a", "x"), (1, "b", "x"), (2, "a", "y"), (2, "b", "x"), (3, "a", "y"), (3, "b", "y")]
    >>> pairs = agreement_of_pairs(Ratings.of(pd.DataFrame(rows, columns=["item", "annotator", "label"])))
    >>> int(pairs.items[0, 1]), round(float(pairs.kappa[0, 1]), 3)
    (3, 0.4)
    """
    people, labels = len(ratings.annotators), len(ratings.labels)
    shape = (ratings.items, people)
    rated = csr_array((np.ones(len(ratings.item)), (ratings.item, ratings.annotator)), shape=shape)
    items = (rated.T @ rated).toarray()
    agreed, by_own, by_common = (np.zeros((people, people)) for _ in range(3))
    uniform = np.zeros((people, people), dtype=bool)
    with np.errstate(invalid="ignore", divide="ignore"):
        for label in range(labels):
            with_label = ratings.label == label
            gave_label = csr_array(
                (np.ones(with_label.sum()), (ratings.item[with_label], ratings.annotator[with_label])), shape=shape
            )
            marginal = (gave_label.T @ rated).toarray() / items
            common = (marginal + marginal.T) / 2
            agreed += (gave_label.T @ gave_label).toarray()
            by_own += marginal * marginal.T
            by_common += common * (1 - common)
            uniform |= common >= 1 - TINY
        percent = agreed / items
        kappa = np.where(uniform, np.nan, (percent - by_own) / (1 - by_own))
        guessed = by_common / max(labels - 1, 1)
        ac1 = np.where(uniform, np.nan, (percent - guessed) / (1 - guessed))
    for matrix in (percent, kappa, ac1):
        np.fill_diagonal(matrix, np.nan)
    return Pairs(items.astype(int), percent, kappa, ac1)
