"""Annotators err: how competent each is, by hidden questions, by the others, and by Dawid and Skene's model."""

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from statistics import median

import numpy as np
import pandas as pd
from scipy.sparse import csr_array
from scipy.special import ndtri

from audit.errors import AuditError
from audit.messages import message
from audit.statistics.agreement import Ratings, interval, krippendorff_alpha, mean_of
from audit.statistics.intervals import Estimate, difference_of_rates, wilson

# A share with its interval, or the reason why there is none: few observations say too little about a person.

LEAST = 10
"""Observations below which no share is given."""


@dataclass(frozen=True, slots=True)
class Share:
    """`part` of `whole` as a fraction with its interval; all three are None where `reason` says why."""

    part: int
    whole: int
    value: float | None
    low: float | None
    high: float | None
    reason: str | None = None


def share(part: int, whole: int, least: int = LEAST, confidence: float = 0.95) -> Share:
    """A binomial share with Wilson's interval, from `least` observations on.

    Raises AuditError on impossible counts. Source of the interval: `audit.statistics.intervals`.

    >>> share(18, 20).value, round(share(18, 20).low, 3), round(share(18, 20).high, 3)
    (0.9, 0.699, 0.972)
    >>> share(2, 3).value, share(2, 3).reason
    (None, '3 observations, at least 10 are needed')
    """
    ends = wilson(part, whole, confidence=confidence)
    if whole < max(least, 1):
        return Share(part, whole, None, None, None, too_few(whole, least))
    return Share(part, whole, part / whole, ends.low, ends.high)


def too_few(number: int, least: int) -> str:
    """The reason that stands where there are too few observations for a number.

    >>> too_few(3, 10)
    '3 observations, at least 10 are needed'
    """
    if number == 1:
        return message("few.one_observation", least=least)
    return message("few.observations", number=number, least=least)


# Whether somebody judges worse, or better, as time goes on: the first half of their answers against the second.


@dataclass(frozen=True, slots=True)
class Drift:
    """Shares of right answers in the two halves, and the second less the first with its interval; None: too few."""

    first: Share
    second: Share
    change: float | None
    low: float | None
    high: float | None


def drift(right: Sequence[bool], least: int = LEAST) -> Drift:
    """The halves of a row of answers, in the order in which they were given; of an odd number the middle one is second.

    The interval of the difference of two independent shares is Newcombe's, from the Wilson intervals of both (his
    method 10). From `least` answers in each half on. Source: Newcombe, "Interval estimation
    for the difference between independent proportions", Statistics in Medicine 17 (1998).

    >>> halves = drift([True] * 18 + [False] * 2 + [True] * 10 + [False] * 10)
    >>> halves.first.value, halves.second.value, round(halves.change, 2), round(halves.low, 2), round(halves.high, 2)
    (0.9, 0.5, -0.4, -0.61, -0.12)
    """
    middle = len(right) // 2
    halves = [(sum(map(bool, half)), len(half)) for half in (right[:middle], right[middle:])]
    first, second = (share(part, whole, least) for part, whole in halves)
    if first.value is None or second.value is None:
        return Drift(first, second, None, None, None)
    low, high = difference(halves[1], halves[0])
    return Drift(first, second, second.value - first.value, low, high)


def difference(*shares: tuple[int, int], confidence: float = 0.95) -> tuple[float, float]:
    """Newcombe's interval for the first of two shares less the second, each (part, whole) with a whole from 1.

    >>> [round(end, 4) for end in difference((56, 70), (48, 80))]
    [0.0524, 0.3339]
    """
    ends = [wilson(*share, confidence=confidence) for share in shares]
    first, second = (Estimate(part / whole, end.low, end.high) for (part, whole), end in zip(shares, ends, strict=True))
    return difference_of_rates(first, second)[1:]


# Which label an annotator gives more often than it is right, or less.


@dataclass(frozen=True, slots=True)
class Bias:
    """One label: how often it was given wrongly, how often it was missed, and the difference as a share of all.

    `value` is positive where the label is given too often; None with its interval where `reason` says why. `missed`
    is a fraction where several labels were right and none was given: each of them was missed in part.
    """

    label: str
    given: int
    missed: float
    value: float | None = None
    low: float | None = None
    high: float | None = None
    reason: str | None = None


def label_bias(
    right_answers: Sequence[Collection[str]],
    answers: Sequence[str],
    labels: Sequence[str],
    least: int = LEAST,
    confidence: float = 0.95,
) -> list[Bias]:
    """The bias of each label, over n questions whose right answers are known: (n,) sets and (n,) answers.

    An answer that is right says nothing of bias. A wrong one gives its label once too often and misses the right one.
    The bias of a label is (wrongly given - missed) / n, a difference of two shares of the same n questions; its
    interval is the adjusted Wald one of Bonett and Price (2012), which adds one to both counts and two to n: it covers
    well in small samples and where nothing was wrong. From `least` questions on.

    Raises AuditError for answers that are no label, sets without any, and sequences of different lengths. Source:
    Bonett and Price, "Adjusted Wald Confidence Interval for a Difference of Binomial Proportions Based on Paired Data",
    Journal of Educational and Behavioral Statistics 37 (2012).

    >>> right = [{"x"}] * 10 + [{"y"}] * 10
    >>> x, y = label_bias(right, ["x"] * 15 + ["y"] * 5, ["x", "y"])
    >>> x.value, round(x.low, 3), round(x.high, 3), y.value
    (0.25, 0.012, 0.443, -0.25)
    """
    if len(right_answers) != len(answers):
        raise AuditError(f"{len(right_answers)} known answers for {len(answers)} given ones; give one for each")
    wrongly, missed = dict.fromkeys(labels, 0), dict.fromkeys(labels, 0.0)
    for right, answer in zip(right_answers, answers, strict=True):
        if unknown := sorted({answer, *right} - set(labels)):
            raise AuditError(f"label {unknown[0]!r} is not one of {', '.join(labels)}")
        if not right:
            raise AuditError("a known answer has no label; give at least one")
        if answer not in right:
            wrongly[answer] += 1
            for label in right:
                missed[label] += 1 / len(right)
    number = len(answers)
    if number < max(least, 1):
        reason = too_few(number, least)
        return [Bias(label, wrongly[label], missed[label], reason=reason) for label in labels]
    z = float(ndtri((1 + confidence) / 2))
    biases = []
    for label in labels:
        more, less = (wrongly[label] + 1) / (number + 2), (missed[label] + 1) / (number + 2)
        half = z * math.sqrt((more + less - (more - less) ** 2) / (number + 2))
        value = (wrongly[label] - missed[label]) / number
        # The estimate is pulled towards 0, so that at the very end it may lie outside by a little.
        low, high = min(max(more - less - half, -1.0), value), max(min(more - less + half, 1.0), value)
        biases.append(Bias(label, wrongly[label], missed[label], value, low, high))
    return biases


def confusion(
    right_answers: Sequence[Collection[str]], answers: Sequence[str], labels: Sequence[str]
) -> dict[str, dict[str, float]]:
    """How often each label was given, by the known one: known -> given -> count.

    Where several labels are right and one of them was given, that one is the known one; where another was given, each
    counts in part. Raises AuditError as `label_bias` does.

    >>> confusion([{"x"}, {"x", "y"}, {"x", "y"}], ["y", "y", "z"], ["x", "y", "z"])["x"]
    {'x': 0.0, 'y': 1.0, 'z': 0.5}
    """
    label_bias(right_answers, answers, labels)
    table = {right_label: dict.fromkeys(labels, 0.0) for right_label in labels}
    for right, answer in zip(right_answers, answers, strict=True):
        for label in [answer] if answer in right else right:
            table[label][answer] += 1.0 if answer in right else 1 / len(right)
    return table


# How fast somebody answers.


@dataclass(frozen=True, slots=True)
class Speed:
    """Median seconds (None: nothing was timed), and the share of answers faster than `fastest`."""

    seconds: float | None
    fast: Share
    fastest: float


def speed(seconds: Sequence[float], fastest: float) -> Speed:
    """The speed of one annotator: seconds from question to answer, any number of them; `fastest` in seconds.

    Raises AuditError for negative seconds.

    >>> speed([2.0, 4.0], 1.0).seconds
    3.0
    """
    if any(value < 0 for value in seconds):
        raise AuditError(f"{min(seconds)} seconds are impossible; an answer comes after its question")
    fast = sum(value < fastest for value in seconds)
    fast_share = share(fast, len(seconds), 20)
    return Speed(float(median(seconds)) if len(seconds) else None, fast_share, fastest)


# Dawid and Skene's model: what the items really are, and how each annotator errs, from the ratings alone.

PRIOR = 10.0
"""Imagined ratings of each true label by each annotator, right as often as that annotator is on all labels.

Without them a label that people say and that is never true becomes a class of its own for whatever is hard to explain,
and more items do not help (tests/benchmarks/annotator_coverage.py).
"""
CONVERGED = 1e-5
"""Change of an item's probabilities at which the iteration ends."""
MOST = 5_000
"""Iterations after which it ends, converged or not."""
BURN_IN = 100
"""Sweeps of the sampler that are not counted."""
_LEAST = 1e-300
"""Probability 0 as a logarithm can hold it."""


@dataclass(frozen=True, eq=False)
class Competence:
    """What the model finds: n items, a annotators, q labels. Shares and probabilities are fractions.

    `accuracy` is the probability that an annotator gives an item its true label: the diagonal of `confusion`, weighed
    by `marginals`. The intervals are quantiles of a posterior; None where none was asked for.
    """

    labels: tuple[str, ...]
    annotators: tuple[str, ...]
    items: tuple[object, ...]
    marginals: np.ndarray
    """Share of items of each true label, (q,)."""
    confusion: np.ndarray
    """Probability that an annotator says a label, given the true one: (a, true q, said q); NaN where the annotator
    rated nothing that probably has this true label."""
    accuracy: np.ndarray
    """(a,)"""
    posterior: np.ndarray
    """Probability of each label for each item, (n, q)."""
    ratings: np.ndarray
    """Ratings of each annotator, (a,)."""
    log_likelihood: float
    iterations: int
    converged: bool
    marginals_interval: np.ndarray | None = None
    """Lower and upper ends, (2, q)."""
    accuracy_interval: np.ndarray | None = None
    """Lower and upper ends, (2, a)."""


def dawid_skene(frame: pd.DataFrame, draws: int = 0, seed: int = 0, confidence: float = 0.95) -> Competence:
    """Fit the model to ratings: columns item, annotator, label, one row a rating; an annotator may repeat an item.

    Each item has one true label; an annotator says label l of an item whose true label is k with probability
    confusion[annotator, k, l], whatever the item and the other annotators say. EM, starting from the share of each
    item's ratings, with `PRIOR` imagined ratings of each true label; it finds the nearest maximum, and does not see
    errors that all annotators share.
    `draws` (seeded) of the model's posterior give intervals. Raises AuditError for no ratings, a single annotator, or
    no item with two ratings. Source: Dawid and Skene, Applied Statistics 28 (1979), equations 2.3 to 2.5.

    >>> rows = [(item, name, "x" if item < 5 else "y") for item in range(8) for name in "abc"]
    >>> fit = dawid_skene(pd.DataFrame(rows, columns=["item", "annotator", "label"]))
    >>> fit.marginals.round(3).tolist(), fit.accuracy.tolist()
    ([0.625, 0.375], [1.0, 1.0, 1.0])
    """
    if frame.empty:
        raise AuditError("there are no ratings; one row an item, annotator and label is needed")
    item, items = pd.factorize(frame["item"])
    annotator, annotators = pd.factorize(frame["annotator"], sort=True)
    label, labels = pd.factorize(frame["label"], sort=True)
    if len(annotators) < 2:
        raise AuditError(f"{annotators[0]} is the only annotator; the model compares two or more")
    if np.bincount(item).max() < 2:
        raise AuditError("no item has two ratings; the model compares the ratings of an item")
    people, kinds = len(annotators), len(labels)
    counts = csr_array((np.ones(len(item)), (item, annotator * kinds + label)), shape=(len(items), people * kinds))
    counts.sum_duplicates()
    patterns, of_item = _patterns(counts)
    weights = np.bincount(of_item).astype(float)

    start = _shares(patterns, kinds)
    fitted = _fit(patterns, weights, start, people)
    ratings = np.bincount(annotator, minlength=people)
    ends = _intervals(patterns, weights, fitted, draws, seed, confidence) if draws else {}
    return Competence(
        tuple(map(str, labels)),
        tuple(map(str, annotators)),
        tuple(items),
        fitted.marginals,
        fitted.confusion,
        _accuracy(fitted),
        fitted.posterior[of_item],
        ratings,
        fitted.log_likelihood,
        fitted.iterations,
        fitted.converged,
        **ends,
    )


@dataclass(frozen=True, eq=False)
class _Fitted:
    marginals: np.ndarray
    confusion: np.ndarray
    posterior: np.ndarray
    log_likelihood: float
    iterations: int
    converged: bool


def _patterns(counts: csr_array) -> tuple[csr_array, np.ndarray]:
    """The distinct rows of `counts`, and which of them each item has: items rated alike are computed once."""
    places: dict[tuple[bytes, bytes], int] = {}
    of_item = np.empty(counts.shape[0], dtype=int)
    first: list[int] = []
    for row in range(counts.shape[0]):
        ends = slice(counts.indptr[row], counts.indptr[row + 1])
        key = (counts.indices[ends].tobytes(), counts.data[ends].tobytes())
        if key not in places:
            places[key] = len(first)
            first.append(row)
        of_item[row] = places[key]
    return counts[first], of_item


def _shares(patterns: csr_array, kinds: int) -> np.ndarray:
    """Share of each label in each pattern's ratings, (patterns, q)."""
    fold = csr_array(np.tile(np.eye(kinds), (patterns.shape[1] // kinds, 1)))
    counts = (patterns @ fold).toarray()
    shares: np.ndarray = counts / counts.sum(axis=1, keepdims=True)
    return shares


def _fit(patterns: csr_array, weights: np.ndarray, start: np.ndarray, people: int) -> _Fitted:
    """EM until the posteriors stand still, from those of `start` (patterns, q)."""
    kinds = start.shape[1]
    posterior, likelihood = start, -np.inf
    total = weights.sum()
    transposed = patterns.T.tocsr()
    iteration, done = 0, False
    while not done and iteration < MOST:
        iteration += 1
        # Equations 2.3 and 2.4: labels said, weighed by what the items probably are; (a, q said, q true).
        weighted = posterior * weights[:, None]
        marginals = weighted.sum(axis=0) / total
        counts = (transposed @ weighted).reshape(people, kinds, kinds)
        right, wrong = _told(counts)
        imagined = counts + _imagined(right / (right + wrong), kinds)
        sums = imagined.sum(axis=1, keepdims=True)
        chances = np.divide(imagined, sums, out=np.zeros_like(counts), where=sums > 0)
        before, (posterior, logs) = posterior, _posterior(patterns, chances, marginals)
        likelihood = float(weights @ logs)
        done = bool(np.abs(posterior - before).max() <= CONVERGED)
    # Of a label that was hardly ever true there are only imagined ratings.
    confusion = np.where(counts.sum(axis=1, keepdims=True) >= 0.5, chances, np.nan).transpose(0, 2, 1)
    return _Fitted(marginals, confusion, posterior, likelihood, iteration, done)


def _told(counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """What each annotator's right and wrong ratings (a, q said, q true) tell of labels in general, (a,) each.

    Accuracy differs from label to label, so many ratings of one label tell little more than `PRIOR` of them: they
    count as a beta-binomial's effective sample.
    """
    said = counts.sum(axis=1)
    right = np.diagonal(counts, axis1=1, axis2=2)
    worth = (PRIOR + 1) / np.maximum(said + PRIOR, _LEAST)
    return (right * worth).sum(axis=1), ((said - right) * worth).sum(axis=1)


def _imagined(accuracy: np.ndarray, kinds: int) -> np.ndarray:
    """Imagined ratings (a, q said, q true) of annotators who are right with this probability, (a,)."""
    right = np.eye(kinds)
    wrong = (1 - right) / max(kinds - 1, 1)
    imagined: np.ndarray = PRIOR * (accuracy[:, None, None] * right + (1 - accuracy)[:, None, None] * wrong)
    return imagined


def _accuracy(fitted: _Fitted) -> np.ndarray:
    """Probability of the true label by annotator, (a,), over the true labels of which the annotator rated something."""
    right = np.diagonal(fitted.confusion, axis1=1, axis2=2)
    weights = np.where(np.isnan(right), 0.0, fitted.marginals)
    accuracy: np.ndarray = np.nansum(right * weights, axis=1) / weights.sum(axis=1)
    return accuracy


def _intervals(
    patterns: csr_array, weights: np.ndarray, fitted: _Fitted, draws: int, seed: int, confidence: float
) -> dict[str, np.ndarray]:
    """Quantiles of the posterior, by Gibbs sampling from the estimate on, so that labels keep their names.

    A sweep draws each item's true label given how annotators err, then how they err given the true labels: first how
    accurate each is on labels in general, then on each label, with `PRIOR` imagined ratings of that accuracy. Half a
    right and half a wrong rating stand before these: an annotator who was never wrong may still err, so no interval is
    a point. The intervals are widened to hold the estimate. Source of the sampler: Paun et al., "Comparing Bayesian
    Models of Annotation", TACL 6 (2018), whose hierarchical model shares accuracy among annotators, not labels.
    """
    random = np.random.default_rng(seed)
    people, kinds = fitted.confusion.shape[:2]
    seen = ~np.isnan(np.diagonal(fitted.confusion, axis1=1, axis2=2))
    transposed, times = patterns.T.tocsr(), weights.astype(int)
    posterior = fitted.posterior
    marginals, accuracy = np.empty((draws, kinds)), np.empty((draws, people))
    for sweep in range(-BURN_IN, draws):
        true_counts = random.multinomial(times, posterior)
        shares = random.dirichlet(true_counts.sum(axis=0) + 0.5)
        # (a, q said, q true), as in `_fit`.
        counts = (transposed @ true_counts).reshape(people, kinds, kinds)
        right, wrong = _told(counts)
        chances = random.standard_gamma(counts + _imagined(random.beta(right + 0.5, wrong + 0.5), kinds))
        chances = np.maximum(chances / chances.sum(axis=1, keepdims=True), _LEAST)
        posterior = _posterior(patterns, chances, shares)[0]
        if sweep >= 0:
            seen_shares = shares * seen
            marginals[sweep] = shares
            accuracy[sweep] = (np.diagonal(chances, axis1=1, axis2=2) * seen_shares).sum(axis=1) / seen_shares.sum(
                axis=1
            )
    ends = [(1 - confidence) / 2, (1 + confidence) / 2]
    return {
        "marginals_interval": _holding(np.quantile(marginals, ends, axis=0), fitted.marginals),
        "accuracy_interval": _holding(np.quantile(accuracy, ends, axis=0), _accuracy(fitted)),
    }


def _posterior(patterns: csr_array, chances: np.ndarray, marginals: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Equation 2.5: what the items of each pattern probably are, (patterns, q), and the pattern's log-likelihood."""
    logs = patterns @ np.log(np.maximum(chances, _LEAST)).reshape(patterns.shape[1], -1)
    logs = logs + np.log(np.maximum(marginals, _LEAST))
    most = logs.max(axis=1, keepdims=True)
    shares = np.exp(logs - most)
    summed = shares.sum(axis=1, keepdims=True)
    return shares / summed, (most + np.log(summed)).ravel()


def _holding(ends: np.ndarray, estimate: np.ndarray) -> np.ndarray:
    return np.array([np.minimum(ends[0], estimate), np.maximum(ends[1], estimate)])


# How much somebody agrees with the others, and how much the others agree without them.


@dataclass(frozen=True, slots=True)
class WithOthers:
    """One annotator among the others.

    `percent` is the mean, over the items that others rated too, of the share of those others who gave the same label;
    with its interval, None where `reason` says why. `alpha_without` is Krippendorff's alpha (nominal) of the ratings
    without this annotator's; None where nothing is left to agree on.
    """

    annotator: str
    items: int
    percent: float | None
    low: float | None
    high: float | None
    alpha_without: float | None
    reason: str | None = None


def leave_one_out(ratings: Ratings, least: int = LEAST) -> tuple[float | None, list[WithOthers]]:
    """Alpha of all ratings, and each annotator among the others in the order of `ratings.annotators`.

    An alpha that rises when somebody is left out says that they judge otherwise than the rest; whether they are wrong
    it cannot say. Source of alpha: `audit.statistics.agreement.krippendorff_alpha`.

    >>> import pandas as pd
    >>> rows = [(item, who, "x" if item % 2 or who == "c" else "y") for item in range(20) for who in "abc"]
    >>> alpha, (a, b, c) = leave_one_out(Ratings.of(pd.DataFrame(rows, columns=["item", "annotator", "label"])))
    >>> round(alpha, 2), a.percent, c.percent, round(a.alpha_without, 2), c.alpha_without
    (0.26, 0.75, 0.5, -0.3, 1.0)
    """
    same = np.asarray(ratings.counts[ratings.item, ratings.label]).ravel() - 1
    others = ratings.per_item[ratings.item] - 1
    results = []
    for place, name in enumerate(ratings.annotators):
        own = (ratings.annotator == place) & (others > 0)
        shares = same[own] / others[own]
        without = _alpha(_subset(ratings, ratings.annotator != place))
        if len(shares) < max(least, 1):
            reason = too_few(len(shares), least)
            results.append(WithOthers(name, len(shares), None, None, None, without, reason))
            continue
        low, high = interval(mean_of(shares)) or (None, None)
        results.append(WithOthers(name, len(shares), float(shares.mean()), low, high, without))
    return _alpha(ratings), results


def _alpha(ratings: Ratings | None) -> float | None:
    if ratings is None or not ratings.shared.any():
        return None
    labels = ratings.label[ratings.shared[ratings.item]]
    return None if (labels == labels[0]).all() else krippendorff_alpha(ratings).value


def _subset(ratings: Ratings, keep: np.ndarray) -> Ratings | None:
    """The ratings that `keep` marks, of the same annotators and labels; items without a rating are dropped. None where
    no rating is left."""
    if not keep.any():
        return None
    _, item = np.unique(ratings.item[keep], return_inverse=True)
    return Ratings(
        item, ratings.annotator[keep], ratings.label[keep], int(item.max()) + 1, ratings.annotators, ratings.labels
    )
