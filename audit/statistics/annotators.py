"""Annotators err: how competent each is, by hidden questions, by the others, and by Dawid and Skene's model."""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

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
    """`part` of `whole` as a fraction with its interval, or a coefficient of so many; None where `reason` says why."""

    part: int
    whole: int
    value: float | None = None
    low: float | None = None
    high: float | None = None
    reason: str | None = None


def share(part: int, whole: int, least: int = LEAST) -> Share:
    """Return a binomial share with Wilson's interval, from `least` observations on.

    >>> share(18, 20).value, share(2, 3).reason
    (0.9, '3 observations, at least 10 are needed')
    """
    if whole < max(least, 1):
        return Share(part, whole, reason=too_few(whole, least))
    ends = wilson(part, whole)
    return Share(part, whole, part / whole, ends.low, ends.high)


def too_few(number: int, least: int = LEAST) -> str:
    """Say why there is no number: so few observations."""
    code = "few.one_observation" if number == 1 else "few.observations"
    return message(code, least=least, **({} if number == 1 else {"number": number}))


@dataclass(frozen=True, slots=True)
class Drift:
    """Shares of right answers in the two halves, and the second less the first with its interval; None: too few."""

    first: Share
    second: Share
    change: float | None = None
    low: float | None = None
    high: float | None = None


def drift(right: Sequence[bool], least: int = LEAST) -> Drift:
    """Compare the first half of a person's answers with the second: whether they judge worse, or better, with time.

    Of an odd number the middle one is second. The difference has Newcombe's interval, made of the Wilson intervals of
    both (his method 10). Source: Newcombe, "Interval estimation for the difference between independent proportions",
    Statistics in Medicine 17 (1998).

    >>> halves = drift([True] * 18 + [False] * 2 + [True] * 10 + [False] * 10)
    >>> round(halves.change, 2), round(halves.low, 2), round(halves.high, 2)
    (-0.4, -0.61, -0.12)
    """
    middle = len(right) // 2
    first, second = (share(sum(map(bool, half)), len(half), least) for half in (right[:middle], right[middle:]))
    if first.value is None or second.value is None:
        return Drift(first, second)
    return Drift(first, second, *difference(second, first))


def difference(first: Share, second: Share) -> tuple[float, float, float]:
    """Return the first of two known shares less the second, and Newcombe's interval."""
    rates = (Estimate(rate.value or 0.0, rate.low or 0.0, rate.high or 0.0) for rate in (first, second))
    return difference_of_rates(*rates)


# Which labels an annotator gives in whose place, and which more often than they are right, or less.


def confusion(
    right_answers: Sequence[Collection[str]], answers: Sequence[str], labels: Sequence[str]
) -> dict[str, dict[str, float]]:
    """Count how often each label was given, by the known one: known -> given -> count.

    Where several labels are right and one of them was given, that one is the known one; where another was given, each
    counts in part.

    >>> confusion([{"x"}, {"x", "y"}, {"x", "y"}], ["y", "y", "z"], ["x", "y", "z"])["x"]
    {'x': 0.0, 'y': 1.0, 'z': 0.5}
    """
    table = {right_label: dict.fromkeys(labels, 0.0) for right_label in labels}
    for right, answer in zip(right_answers, answers, strict=True):
        for label in [answer] if answer in right else right:
            table[label][answer] += 1.0 if answer in right else 1 / len(right)
    return table


@dataclass(frozen=True, slots=True)
class Bias:
    """One label: how often it was given wrongly, how often it was missed, and the difference as a share of all.

    `value` is positive where the label is given too often. `missed` is a fraction where several labels were right and
    none was given: each of them was missed in part.
    """

    label: str
    given: int
    missed: float
    value: float | None = None
    low: float | None = None
    high: float | None = None
    reason: str | None = None


def label_bias(table: Mapping[str, Mapping[str, float]], least: int = LEAST) -> list[Bias]:
    """Return the bias of each label from a `confusion` of n answers.

    Bias is (wrongly given - missed) / n, a difference of two shares of the same n questions; its interval adds one to
    both counts and two to n, which covers well in small samples and where nothing was wrong. Source: Bonett and Price,
    "Adjusted Wald Confidence Interval for a Difference of Binomial Proportions Based on Paired Data", Journal of
    Educational and Behavioral Statistics 37 (2012).
    """
    number, biases = round(sum(sum(row.values()) for row in table.values())), []
    for label, row in table.items():
        wrongly = round(sum(table[other][label] for other in table if other != label))
        missed = sum(row[other] for other in table if other != label)
        if number < max(least, 1):
            biases.append(Bias(label, wrongly, missed, reason=too_few(number, least)))
            continue
        more, less, value = (wrongly + 1) / (number + 2), (missed + 1) / (number + 2), (wrongly - missed) / number
        half = float(ndtri(0.975)) * math.sqrt((more + less - (more - less) ** 2) / (number + 2))
        # The interval's centre is pulled towards 0, so that at the very end the estimate may lie outside by a little.
        low, high = min(max(more - less - half, -1.0), value), max(min(more - less + half, 1.0), value)
        biases.append(Bias(label, wrongly, missed, value, low, high))
    return biases


# How far an annotator agrees with the others, and how far the others agree without them.


@dataclass(frozen=True, slots=True)
class WithOthers:
    """One annotator among the others, on the `items` that others rated too.

    `value` is the mean share of those others who gave the same label. `alpha_without` is Krippendorff's alpha (nominal)
    of the ratings without this annotator's; None where nothing is left to agree on.
    """

    items: int
    value: float | None = None
    low: float | None = None
    high: float | None = None
    alpha_without: float | None = None
    reason: str | None = None


def leave_one_out(ratings: Ratings, least: int = LEAST) -> tuple[float | None, dict[str, WithOthers]]:
    """Return alpha of all ratings, and how each annotator agrees with the others, by name.

    An alpha that rises when an annotator is left out says that they judge differently from the rest, not that they are
    wrong.
    """
    same = np.asarray(ratings.counts[ratings.item, ratings.label]).ravel() - 1
    rest = ratings.per_item[ratings.item] - 1
    others = {}
    for place, name in enumerate(ratings.annotators):
        own = (ratings.annotator == place) & (rest > 0)
        shares, without = same[own] / rest[own], _alpha(ratings, ratings.annotator != place)
        if len(shares) < max(least, 1):
            others[name] = WithOthers(len(shares), alpha_without=without, reason=too_few(len(shares), least))
        else:
            low, high = interval(mean_of(shares)) or (None, None)
            others[name] = WithOthers(len(shares), float(shares.mean()), low, high, without)
    return _alpha(ratings, np.ones(len(ratings.item), bool)), others


def _alpha(ratings: Ratings, keep: np.ndarray) -> float | None:
    """Return alpha of the ratings that `keep` marks; None where shared items have fewer than two labels."""
    items, item = np.unique(ratings.item[keep], return_inverse=True)
    annotator, label = ratings.annotator[keep], ratings.label[keep]
    kept = replace(ratings, item=item, annotator=annotator, label=label, items=len(items), clusters=None)
    labels = kept.label[kept.shared[kept.item]]
    return krippendorff_alpha(kept).value if len(np.unique(labels)) > 1 else None


# Dawid and Skene's model: what the items really are, and how each annotator errs, from the ratings alone.

PRIOR = 10.0
"""Imagined ratings of each true label by each annotator, right as often as that annotator is on all labels.

Without them a label that people say and that is never true becomes a class of its own for whatever is hard to explain,
and more items do not help (tests/benchmarks/annotator_coverage.py).
"""
CONVERGED, MOST = 1e-5, 5_000
"""Change of an item's probabilities at which EM ends, and iterations after which it ends all the same."""
BURN_IN = 100
"""Sweeps of the sampler that are not counted."""
_LEAST = 1e-300
"""Probability 0 as a logarithm can hold it."""


@dataclass(frozen=True, eq=False)
class Competence:
    """What the model finds: n items, a annotators, q labels. Shares and probabilities are fractions.

    `marginals` (q,) are the shares of true labels. `confusion` (a, true q, said q) is NaN where the annotator rated
    nothing that probably has this true label. `accuracy` (a,) is the probability of giving an item its true label: the
    diagonal of `confusion`, weighed by `marginals`. `posterior` (n, q) is the probability of each label for each item,
    `ratings` (a,) counts each annotator's. The intervals are quantiles of a posterior, lower ends and upper ends.
    """

    labels: tuple[str, ...]
    annotators: tuple[str, ...]
    items: tuple[object, ...]
    ratings: np.ndarray
    marginals: np.ndarray
    confusion: np.ndarray
    accuracy: np.ndarray
    posterior: np.ndarray
    log_likelihood: float
    iterations: int
    converged: bool
    marginals_interval: np.ndarray | None = None
    accuracy_interval: np.ndarray | None = None


def dawid_skene(frame: pd.DataFrame, draws: int = 0, seed: int = 0) -> Competence:
    """Fit the model to ratings: columns item, annotator, label, one row a rating; an annotator may repeat an item.

    Each item has one true label; an annotator says label l of an item whose true label is k with probability
    confusion[annotator, k, l], whatever the item and the other annotators say. EM, starting from the share of each
    item's ratings, with `PRIOR` imagined ratings of each true label; it finds the nearest maximum, and does not see
    errors that all annotators share. `draws` (seeded) of the model's posterior give intervals. Raises AuditError for no
    ratings, a single annotator, or no item with two ratings. Source: Dawid and Skene, Applied Statistics 28 (1979),
    equations 2.3 to 2.5.
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
    # Items that were rated alike are computed once.
    rows = [(counts.indices[a:b].tobytes(), counts.data[a:b].tobytes()) for a, b in pairwise(counts.indptr)]
    of_item = pd.factorize(pd.Series(rows))[0]
    patterns, weights = counts[np.unique(of_item, return_index=True)[1]], np.bincount(of_item)

    marginals, chances, seen, posterior, logs, iterations, converged = _fit(patterns, weights, people)
    accuracy = _accuracy(chances, marginals, seen)
    ends: list[np.ndarray | None] = [None, None]
    if draws:
        drawn = _gibbs(patterns, weights, posterior, seen, draws, seed)
        for place, estimate in enumerate((marginals, accuracy)):
            low, high = np.quantile(drawn[place], [0.025, 0.975], axis=0)
            ends[place] = np.array([np.minimum(low, estimate), np.maximum(high, estimate)])
    return Competence(
        tuple(map(str, labels)),
        tuple(map(str, annotators)),
        tuple(items),
        np.bincount(annotator, minlength=people),
        marginals,
        np.where(seen[:, None], chances, np.nan).transpose(0, 2, 1),
        accuracy,
        posterior[of_item],
        float(weights @ logs),
        iterations,
        converged,
        *ends,
    )


def _fit(
    patterns: csr_array, weights: np.ndarray, people: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray, int, bool]:
    """Run EM. Return marginals, chances (a, q said, q true), which true labels an annotator has seen (a, q), posteriors
    and log-likelihoods of the patterns, iterations, and whether it converged."""
    kinds, by_said = patterns.shape[1] // people, patterns.T.tocsr()
    posterior = (patterns @ np.tile(np.eye(kinds), (people, 1))) / patterns.sum(axis=1)[:, None]
    iterations, change = 0, np.inf
    while change > CONVERGED and iterations < MOST:
        iterations += 1
        # Equations 2.3 and 2.4: labels said, weighed by what the items probably are.
        weighted = posterior * weights[:, None]
        marginals = weighted.sum(axis=0) / weights.sum()
        said = (by_said @ weighted).reshape(people, kinds, kinds)
        right, wrong = _evidence(said)
        imagined = said + _imagined(right / (right + wrong), kinds)
        sums = imagined.sum(axis=1, keepdims=True)
        chances = np.divide(imagined, sums, out=np.zeros_like(said), where=sums > 0)
        before, (posterior, logs) = posterior, _posterior(patterns, chances, marginals)
        change = np.abs(posterior - before).max()
    # Of a label that was hardly ever true there are only imagined ratings.
    return marginals, chances, said.sum(axis=1) >= 0.5, posterior, logs, iterations, bool(change <= CONVERGED)


def _evidence(said: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return how many right and wrong ratings each annotator's (a, q said, q true) are worth on labels in general.

    Accuracy differs from label to label, so many ratings of one label tell little more than `PRIOR` of them: they
    count as a beta-binomial's effective sample.
    """
    number, right = said.sum(axis=1), np.diagonal(said, axis1=1, axis2=2)
    worth = (PRIOR + 1) / np.maximum(number + PRIOR, _LEAST)
    return (right * worth).sum(axis=1), ((number - right) * worth).sum(axis=1)


def _imagined(accuracy: np.ndarray, kinds: int) -> np.ndarray:
    """Return imagined ratings (a, q said, q true) of annotators who are right with this probability, (a,)."""
    right = np.eye(kinds)
    wrong = (1 - right) / max(kinds - 1, 1)
    imagined: np.ndarray = PRIOR * (accuracy[:, None, None] * right + (1 - accuracy)[:, None, None] * wrong)
    return imagined


def _accuracy(chances: np.ndarray, marginals: np.ndarray, seen: np.ndarray) -> np.ndarray:
    """Return each annotator's probability of the true label, (a,), over the true labels that they have seen."""
    right, shares = np.diagonal(chances, axis1=1, axis2=2), marginals * seen
    accuracy: np.ndarray = (right * shares).sum(axis=1) / shares.sum(axis=1)
    return accuracy


def _posterior(patterns: csr_array, chances: np.ndarray, marginals: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return what the items of each pattern probably are (patterns, q), and log-likelihoods: equation 2.5."""
    logs = patterns @ np.log(np.maximum(chances, _LEAST)).reshape(patterns.shape[1], -1)
    logs = logs + np.log(np.maximum(marginals, _LEAST))
    most = logs.max(axis=1, keepdims=True)
    shares = np.exp(logs - most)
    summed = shares.sum(axis=1, keepdims=True)
    return shares / summed, (most + np.log(summed)).ravel()


def _gibbs(
    patterns: csr_array, weights: np.ndarray, posterior: np.ndarray, seen: np.ndarray, draws: int, seed: int
) -> tuple[np.ndarray, np.ndarray]:
    """Draw marginals (draws, q) and accuracies (draws, a), beginning at the estimate, so that labels keep their names.

    A sweep draws each item's true label given how annotators err, then how they err given the true labels: first how
    accurate each is on labels in general, then on each label, with `PRIOR` imagined ratings of that accuracy. Half a
    right and half a wrong rating stand before these: an annotator who was never wrong may still err, so no interval is
    a point. Source of the sampler: Paun et al., "Comparing Bayesian Models of Annotation", TACL 6 (2018), whose
    hierarchical model shares accuracy among annotators, not labels.
    """
    random, (people, kinds) = np.random.default_rng(seed), seen.shape
    by_said = patterns.T.tocsr()
    marginals, accuracy = np.empty((draws, kinds)), np.empty((draws, people))
    for sweep in range(-BURN_IN, draws):
        true = random.multinomial(weights, posterior)
        shares = random.dirichlet(true.sum(axis=0) + 0.5)
        said = (by_said @ true).reshape(people, kinds, kinds)
        right, wrong = _evidence(said)
        chances = random.standard_gamma(said + _imagined(random.beta(right + 0.5, wrong + 0.5), kinds))
        chances = np.maximum(chances / chances.sum(axis=1, keepdims=True), _LEAST)
        posterior = _posterior(patterns, chances, shares)[0]
        if sweep >= 0:
            marginals[sweep], accuracy[sweep] = shares, _accuracy(chances, shares, seen)
    return marginals, accuracy
