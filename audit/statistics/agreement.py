"""Agreement among annotators: coefficients with intervals, and `suite`, which gives all that fit the data.

Every coefficient is (observed - expected) / (1 - expected), and both are functions of sums over items. So an estimate
is a function of the sums, and its posterior the same function of sums in which items weigh a little more or less.

>>> import pandas as pd
>>> rows = [(1, "a", "x"), (1, "b", "x"), (2, "a", "y"), (2, "b", "x"), (3, "a", "y"), (3, "b", "y")]
>>> ratings = Ratings.of(pd.DataFrame(rows, columns=["item", "annotator", "label"]))
>>> {coefficient.name: round(coefficient.estimate, 3) for coefficient in suite(ratings)}
{'percent_agreement': 0.667, 'cohen_kappa': 0.4, 'krippendorff_alpha': 0.444, 'gwet_ac1': 0.333}
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
import pandas as pd
from scipy.sparse import csr_array, diags_array, hstack
from scipy.special import stdtrit

from audit.errors import AuditError
from audit.messages import message

Scale = Literal["names", "order", "numbers"]
LEVELS: dict[str, tuple[Scale, ...]] = {
    "nominal": ("names", "order", "numbers"),
    "ordinal": ("order", "numbers"),
    "interval": ("numbers",),
    "ratio": ("numbers",),
    "linear": ("order", "numbers"),
    "quadratic": ("order", "numbers"),
}
"""Levels, and the scales of labels that allow them. The first four are alpha's, linear and quadratic the others'."""
MOST_LABELS = 1_000
"""Weights are a matrix of labels x labels: more labels than this are measurements, or free text."""
_CELLS = 2_000_000
"""Numbers held at once, so that memory stays small however many items there are."""


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
        """Read a frame with the columns item, annotator, label, one row a rating; optionally cluster.

        `labels` are the labels that were allowed (default: those that occur); with `order` they stand in their order.
        Where all labels are numbers, the scale is `numbers`, and spellings of one number ("1", "1.0") are one label.
        Raises AuditError: no rows, an annotator who rates an item twice, a label that was not allowed, more than
        1,000 labels.
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
        if unknown := [label for label in used if label not in place]:
            raise AuditError(f"label {unknown[0]!r} is not one of {', '.join(names)}")
        clusters = None
        if "cluster" in frame:
            # One cluster an item: that of its first rating.
            clusters = pd.factorize(frame["cluster"].to_numpy()[np.unique(item, return_index=True)[1]])[0]
        scale: Scale = "order" if order else "names" if values is None else "numbers"
        label = np.array([place[label] for label in used])[codes]
        people = tuple(map(str, annotators))
        return cls(item, annotator, label, int(item.max()) + 1, people, names, scale, values, clusters)

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


def number_of(label: str) -> float | None:
    """Return the number that a label is, or None.

    >>> number_of("1.5"), number_of("nan"), number_of("1_0"), number_of("good")
    (1.5, None, None, None)
    """
    try:
        number = float(label)
    except ValueError:
        return None
    return number if math.isfinite(number) and "_" not in label else None


def _scaled(labels: Sequence[str], order: bool) -> tuple[tuple[str, ...], dict[str, int], np.ndarray | None]:
    """Return labels in order, the place of every spelling, and the labels' values where they have an order."""
    names = list(dict.fromkeys(labels)) if order else sorted(set(labels))
    numbers = {label: number for label in names if (number := number_of(label)) is not None}
    values = np.arange(len(names), dtype=float) if order else None
    place = {label: position for position, label in enumerate(names)}
    if not order and len(numbers) == len(names):
        values = np.unique(list(numbers.values()))
        place = {label: int(np.searchsorted(values, number)) for label, number in numbers.items()}
        # A number is shown as the first of its spellings.
        spelled = {position: label for label, position in reversed(place.items())}
        names = [spelled[position] for position in range(len(values))]
    if len(names) > MOST_LABELS:
        raise AuditError(
            f"there are {len(names):,} different labels, at most {MOST_LABELS:,} are allowed; round numbers, or sort "
            "free text into categories"
        )
    return tuple(names), place, values


def weights_of(ratings: Ratings, level: str | None = None) -> np.ndarray:
    """Return how far every two labels agree at a level, (q, q): 1 on the diagonal, 0 for those furthest apart.

    Distances are differences of the values, squared but for `linear`; `ratio` divides them by the sum of both,
    `ordinal` takes for values the share of ratings below a label and half of its own. With values in place of positions
    a label that nobody used changes nothing. Sources: Krippendorff (2011); Cohen, Psychological Bulletin 70 (1968).

    >>> frame = pd.DataFrame({"item": [1, 1, 2], "annotator": ["a", "b", "a"], "label": ["1", "2", "5"]})
    >>> weights_of(Ratings.of(frame), "linear")[0].tolist(), weights_of(Ratings.of(frame), "quadratic")[0].tolist()
    ([1.0, 0.75, 0.0], [1.0, 0.9375, 0.0])
    """
    if level in (None, "nominal") or ratings.values is None:
        return np.eye(len(ratings.labels))
    values = ratings.values
    if level == "ordinal":
        shares = ratings.counts[ratings.shared].sum(axis=0) / max(ratings.per_item[ratings.shared].sum(), 1.0)
        values = np.cumsum(shares) - shares / 2
    apart = np.abs(values[:, None] - values[None, :])
    if level == "ratio":
        sums = values[:, None] + values[None, :]
        apart = apart / np.where(sums > 0, sums, 1.0)
    if level != "linear":
        apart = apart**2
    weights: np.ndarray = 1 - apart / (apart.max() or 1.0)
    return weights


# A coefficient as sums over items, and its interval.

TINY = 1e-12
"""Sums of shares closer than this are equal: what is left are the last bits."""
DRAWS = 2_000
"""Draws of an interval; fewer, down to a tenth, where items are of more than 50,000 kinds."""
AGREED, APART = 1.0, 0.5
"""Items in which all agree (shared out over the labels), and in which none does, that the prior counts."""


@dataclass(frozen=True, eq=False)
class Parts:
    """A coefficient as sums over n items.

    `rows` (n, f) has for each item its weight (0: nothing to agree on), its agreement times that weight, and what
    `chance` needs, which makes expected agreement (d,) from sums (d, f). `prior` (k, f) are rows of imagined items,
    `mass` (k,) how often each is imagined. `clusters` (n,) says which items belong together, None: each stands alone.
    """

    rows: csr_array
    chance: Callable[[np.ndarray], np.ndarray]
    prior: np.ndarray
    mass: np.ndarray
    clusters: np.ndarray | None = None

    @cached_property
    def items(self) -> int:
        """Items that two annotators or more rated, so that there is something to agree on."""
        return int((self.rows[:, [0]].toarray() > 0).sum())

    @cached_property
    def observed(self) -> float:
        """Observed agreement, a fraction; NaN of no items."""
        weight, agreed = self.rows[:, :2].sum(axis=0)
        return float(agreed / weight) if self.items else math.nan

    @cached_property
    def expected(self) -> float:
        """Agreement by chance, a fraction; NaN of no items."""
        return float(self.chance(np.asarray(self.rows.sum(axis=0))[None])[0]) if self.items else math.nan

    @property
    def value(self) -> float | None:
        """The coefficient; None where chance alone would make everybody agree."""
        if 1 - self.expected <= TINY:
            return None
        return (self.observed - self.expected) / (1 - self.expected)


def mean_of(shares: np.ndarray) -> Parts:
    """Return the parts of a plain mean of n shares between 0 and 1, not corrected for chance."""
    rows = csr_array(np.column_stack([np.ones(len(shares)), shares]))
    return Parts(rows, lambda sums: np.zeros(len(sums)), np.array([[1.0, 1.0], [1.0, 0.0]]), np.array([0.5, 0.5]))


def draws_of(parts: Parts, draws: int = DRAWS, seed: int = 0) -> np.ndarray:
    """Draw the coefficient from its posterior, so often or less, seeded.

    The kinds of items are taken as multinomial, with a Dirichlet prior: one imagined item in which all agree, shared
    out over the labels, and half an item in which nobody does. For two annotators and two labels this is Jeffreys'
    prior on the three kinds of items. Items of a cluster get one weight, and the prior's items are then clusters of
    mean size. Source: Rubin, "The Bayesian bootstrap", Annals of Statistics 9 (1981).
    """
    rows, size = parts.rows, 1.0
    if parts.clusters is not None:
        codes = np.unique(parts.clusters, return_inverse=True)[1]
        rows = csr_array((np.ones(len(codes)), (codes, np.arange(len(codes))))) @ rows
        size = parts.items / rows.shape[0]
    units = rows.shape[0]
    # Items of one kind are drawn at once: equal rows have equal sums over random keys, and that two others meet in 53
    # bits is not to be feared.
    keys = np.random.default_rng(12345).random(rows.shape[1])
    _, first, times = np.unique((rows @ keys).round(12), return_index=True, return_counts=True)
    # Few items tell the variance badly, so each counts a little less: the variance is (t / z)^2 that of the mean.
    stretch = (1.959964 / stdtrit(max(units - 1, 1), 0.975)) ** 2
    shapes = np.concatenate([max(((units - 1) * stretch - 1) / units, 0.1) * times, parts.mass])
    draws = int(np.clip(100_000_000 // len(shapes), draws // 10, draws))
    random, pieces, step = np.random.default_rng(seed), [], max(1, _CELLS // len(shapes))
    for start in range(0, draws, step):
        weights = random.standard_gamma(shapes, size=(min(step, draws - start), len(shapes)))
        weights *= shapes.sum() / weights.sum(axis=1, keepdims=True)
        sums = weights[:, : len(times)] @ rows[first] + size * (weights[:, len(times) :] @ parts.prior)
        expected = parts.chance(sums)
        pieces.append((sums[:, 1] / sums[:, 0] - expected) / (1 - expected))
    return np.concatenate(pieces)


def interval(parts: Parts, confidence: float = 0.95) -> tuple[float, float] | None:
    """Return the ends of a coefficient: quantiles of its posterior (`draws_of`), widened to hold the estimate.

    No interval is a point, its ends are always possible, and it covers also where one label is rare
    (docs/reference/agreement.md). None with fewer than two items or clusters.

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


# The coefficients: how much annotators agree, beyond what each of them expects by chance.


def percent_agreement(ratings: Ratings, level: str | None = None) -> Parts:
    """Return the share of agreeing pairs of annotators, averaged over the items that two or more rated.

    Source: Gwet, Handbook of Inter-Rater Reliability (4th edition, 2014), chapter 2.
    """
    return _of_items(ratings, level, lambda shares, weights: np.zeros(len(shares)))


def cohen_kappa(ratings: Ratings, level: str | None = None) -> Parts:
    """Return agreement beyond that of two annotators who draw labels, each by their own prevalence, on shared items.

    Raises AuditError unless there are exactly two annotators. Source: Cohen, Educational and Psychological Measurement
    20 (1960).
    """
    if len(ratings.annotators) != 2:
        raise AuditError(f"there are {len(ratings.annotators)} annotators; this coefficient is for exactly 2")
    weights, labels = weights_of(ratings, level), len(ratings.labels)
    of_both = np.full((2, ratings.items), -1)
    of_both[ratings.annotator, ratings.item] = ratings.label
    items = np.flatnonzero((of_both >= 0).all(axis=0))
    first, second = of_both[:, items]
    ones = np.ones(len(items))
    said = [csr_array((ones, (np.arange(len(items)), by)), shape=(len(items), labels)) for by in (first, second)]

    def chance(sums: np.ndarray) -> np.ndarray:
        shares = sums[:, 2:] / sums[:, :1]
        return np.asarray(((shares[:, :labels] @ weights) * shares[:, labels:]).sum(axis=1))

    prior, mass = _prior(weights)
    clusters = None if ratings.clusters is None else ratings.clusters[items]
    rows = csr_array(hstack([csr_array(np.column_stack([ones, weights[first, second]])), *said]))
    return Parts(rows, chance, np.hstack([prior, prior[:, 2:]]), mass, clusters)


def fleiss_kappa(ratings: Ratings, level: str | None = None) -> Parts:
    """Return agreement beyond that of annotators who all draw labels by their common prevalence.

    The annotators of one item need not be those of another, and their number may differ. Items with one rating count in
    the prevalence only. Sources: Fleiss, Psychological Bulletin 76 (1971); missing ratings: Gwet (2014), chapter 2.
    """
    return _of_items(ratings, level, _meeting)


def gwet_ac(ratings: Ratings, level: str | None = None) -> Parts:
    """Return Gwet's AC1, or at a level his AC2: only what is hard to rate is guessed.

    It stays near the percent agreement where one label prevails and kappa does not. Expected agreement is
    T / (q (q - 1)) x sum of p (1 - p) over the q labels, p their prevalence and T the sum of all weights. With one
    label it is 1: undefined. Source: Gwet, British Journal of Mathematical and Statistical Psychology 61 (2008); with
    missing ratings and weights Gwet (2014), chapters 2 and 3.
    """

    def chance(shares: np.ndarray, weights: np.ndarray) -> np.ndarray:
        if (labels := len(weights)) == 1:
            return np.ones(len(shares))
        return np.asarray(float(weights.sum()) / (labels * (labels - 1)) * (shares * (1 - shares)).sum(axis=1))

    return _of_items(ratings, level, chance)


def krippendorff_alpha(ratings: Ratings, level: str | None = None) -> Parts:
    """Return 1 - observed / expected disagreement, over the items that two annotators or more rated.

    The parts hold agreement, 1 less disagreement in units of the largest distance, so that alpha is their coefficient
    as for the others. Source: Krippendorff, "Computing Krippendorff's Alpha-Reliability" (2011), its form for missing
    data and all metrics.
    """
    return _of_items(ratings, level, _meeting, by_rating=True)


def _meeting(shares: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return the agreement (d,) of two labels that are drawn by their shares (d, q)."""
    return np.asarray(((shares @ weights) * shares).sum(axis=1))


def _of_items(
    ratings: Ratings,
    level: str | None,
    expected: Callable[[np.ndarray, np.ndarray], np.ndarray],
    by_rating: bool = False,
) -> Parts:
    """Return a coefficient whose rows are weight, agreement and the shares of labels of each item.

    `expected` makes agreement by chance from shares (d, q) and weights. Items weigh the same, and those with one rating
    count for the shares; `by_rating`: each weighs as many as it has ratings, those with one do not count, and nobody
    meets a rating of one's own.
    """
    weights, size, shared = weights_of(ratings, level), ratings.per_item, ratings.shared
    # r' W r of each item, r its counts.
    forms, step = np.empty(ratings.items), max(1, _CELLS // len(weights))
    for start in range(0, ratings.items, step):
        block = ratings.counts[start : start + step].toarray()
        forms[start : start + step] = ((block @ weights) * block).sum(axis=1)
    agreed = np.where(shared, (forms - size) / np.where(shared, size * (size - 1), 1), 0.0)
    shares = diags_array(1 / size).tocsr() @ ratings.counts
    rows = csr_array(hstack([csr_array(np.column_stack([shared, agreed])), shares]))
    prior, mass = _prior(weights)
    clusters = ratings.clusters
    if by_rating:
        rows = csr_array(diags_array(size[shared]).tocsr() @ rows[shared])
        clusters = None if clusters is None else clusters[shared]
        prior = prior * (size[shared].mean() if shared.any() else 1.0)

    def chance(sums: np.ndarray) -> np.ndarray:
        drawn, total = expected(sums[:, 2:] / sums[:, 2:].sum(axis=1, keepdims=True), weights), sums[:, 0]
        return 1 - (1 - drawn) * total / (total - 1) if by_rating else drawn

    return Parts(rows, chance, prior, mass, clusters)


def _prior(weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return rows (q + 1, 2 + q) and masses of imagined items: all agree on one of q labels, or nobody agrees."""
    labels = len(weights)
    apart = (weights.sum() - labels) / max(labels * (labels - 1), 1)
    shares = np.vstack([np.eye(labels), np.full(labels, 1 / labels)])
    mass = np.r_[np.full(labels, AGREED / labels), APART]
    return np.column_stack([np.ones(labels + 1), np.r_[np.ones(labels), apart], shares]), mass


# The coefficients that fit some ratings, with their intervals.


@dataclass(frozen=True)
class Coefficient:
    """One coefficient of some ratings. `estimate`, `low` and `high` are None where they are undefined: `note` says why.

    `items` are those that two annotators or more rated. `note` also explains the kappa paradox where it strikes.
    """

    name: str
    level: str | None
    estimate: float | None
    low: float | None
    high: float | None
    items: int
    annotators: int
    note: str | None = None


COEFFICIENTS: dict[str, Callable[[Ratings, str | None], Parts]] = {
    "percent_agreement": percent_agreement,
    "cohen_kappa": cohen_kappa,
    "fleiss_kappa": fleiss_kappa,
    "krippendorff_alpha": krippendorff_alpha,
    "gwet_ac1": gwet_ac,
    "gwet_ac2": gwet_ac,
}


def suite(ratings: Ratings, level: str | None = None, confidence: float = 0.95) -> list[Coefficient]:
    """Compute percent agreement, one kappa, Krippendorff's alpha and AC1, then those of `level` if there is one.

    Undefined ones are None with a note, never an error. Raises AuditError for a level that is unknown or that the
    labels do not allow.
    """
    check_level(level, ratings)
    people = len(ratings.annotators)
    kappa = "cohen_kappa" if people == 2 else "fleiss_kappa"
    wanted: list[tuple[str, str | None]]
    wanted = [(name, None) for name in ("percent_agreement", kappa, "krippendorff_alpha", "gwet_ac1")]
    if level in ("linear", "quadratic"):
        wanted += [(name, level) for name in ("percent_agreement", kappa, "gwet_ac2")]
    elif level not in (None, "nominal"):
        wanted.append(("krippendorff_alpha", level))
    percent = percent_agreement(ratings).observed
    varies = bool((ratings.label != ratings.label[0]).any()) and bool(ratings.shared.any())
    ac1 = gwet_ac(ratings).value if varies else None
    coefficients = []
    for name, at in wanted:
        parts = COEFFICIENTS[name](ratings, at)
        estimate = parts.value if parts.items and (varies or name == "percent_agreement") else None
        ends = None if estimate is None else interval(parts, confidence)
        note: str | None = None
        if not parts.items:
            note = message("undefined.not_by_both" if name == "cohen_kappa" else "undefined.not_by_two")
        elif estimate is None:
            note = message("undefined.no_variation", percent=100 * percent)
        elif ends is None:
            note = message("undefined.no_interval")
        elif at is None and ac1 is not None and name in (kappa, "krippendorff_alpha"):
            note = _paradox(ratings, percent, parts.expected, ac1 - estimate, ac1)
        low, high = ends or (None, None)
        coefficients.append(Coefficient(name, at, estimate, low, high, parts.items, people, note))
    return coefficients


def check_level(level: str | None, ratings: Ratings) -> None:
    """Raise AuditError for an unknown level, or one that the labels do not allow; None is no level."""
    if level is None:
        return
    if level not in LEVELS:
        raise AuditError(f"level {level!r} is not one of {', '.join(LEVELS)}")
    if ratings.scale not in LEVELS[level]:
        text = next((label for label in ratings.labels if number_of(label) is None), None)
        what = "an order of labels without numbers" if ratings.scale == "order" else f"labels such as {text!r}"
        allowed = ", ".join(name for name, scales in LEVELS.items() if ratings.scale in scales)
        raise AuditError(f"{what} cannot have the level {level}; allowed are {allowed}")
    if level == "ratio" and ratings.values is not None and ratings.values.min() < 0:
        raise AuditError(f"label {ratings.values.min():g} is negative; the level ratio allows numbers from 0")


def _paradox(ratings: Ratings, percent: float, expected: float, below: float, ac1: float) -> str | None:
    """Explain the kappa paradox where it strikes a coefficient that is so much below AC1; else None.

    Nearly everybody agrees, and kappa is low, because nearly everything is one label. Source: Feinstein and Cicchetti,
    Journal of Clinical Epidemiology 43 (1990).
    """
    if percent < 0.8 or below < 0.2:
        return None
    prevalence = np.bincount(ratings.label, 1 / ratings.per_item[ratings.item] / ratings.items)
    most = int(prevalence.argmax())
    return message(
        "undefined.paradox",
        percent=100 * percent,
        prevalence=100 * prevalence[most],
        label=ratings.labels[most],
        expected=100 * expected,
        ac1=ac1,
    )


# Which labels annotators take for each other, and how every two annotators agree.


def label_pairs(ratings: Ratings) -> np.ndarray:
    """Count how often one annotator gave the row's label where another gave the column's; (labels, labels), symmetric.

    Every item adds each of its pairs of annotators in either direction, so the diagonal holds twice those that agree.
    """
    counts = ratings.counts
    pairs = (counts.T @ counts).toarray() - np.diag(np.asarray(counts.sum(axis=0)).ravel())
    numbers: np.ndarray = np.rint(pairs).astype(int)
    return numbers


def annotator_pairs(ratings: Ratings) -> pd.DataFrame:
    """Return how every two annotators agree on the items that both rated; those who share none are left out.

    Columns: one, other, items, percent_agreement, cohen_kappa, gwet_ac1. Kappa and AC1 are None where these items have
    one label only. AC1 counts the labels of all ratings, not of the pair's.
    """
    said = np.full((len(ratings.annotators), ratings.items), -1)
    said[ratings.annotator, ratings.item] = ratings.label
    rated, labels = (said >= 0).astype(int), len(ratings.labels)
    rows = []
    for own, other in zip(*np.nonzero(np.triu(rated @ rated.T, 1)), strict=True):
        first, second = said[:, (rated[own] & rated[other]).astype(bool)][[own, other]]
        table = np.bincount(first * labels + second, minlength=labels**2).reshape(labels, labels) / len(first)
        percent, mean = float(np.trace(table)), (table.sum(axis=0) + table.sum(axis=1)) / 2
        by_chance = (table.sum(axis=1) @ table.sum(axis=0), (mean * (1 - mean)).sum() / max(labels - 1, 1))
        varies = mean.max() < 1 - TINY
        kappa, ac1 = (float((percent - chance) / (1 - chance)) if varies else None for chance in by_chance)
        rows.append((ratings.annotators[own], ratings.annotators[other], len(first), percent, kappa, ac1))
    columns = ["one", "other", "items", "percent_agreement", "cohen_kappa", "gwet_ac1"]
    return pd.DataFrame(rows, columns=columns, dtype=object)
