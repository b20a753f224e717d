"""Dawid and Skene's model: what the items really are, and how each annotator errs, from the ratings alone."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.sparse import csr_array

from audit.errors import AuditError

CONVERGED = 1e-9
"""Gain of log-likelihood per rating at which the iteration ends."""
MOST = 5_000
"""Iterations after which it ends anyway."""
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
    rated nothing that may have this true label."""
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
    confusion[annotator, k, l], whatever the item and the other annotators say. Maximum likelihood by EM, starting from
    the share of each item's ratings; it finds the nearest maximum, and does not see errors that all annotators share.
    `draws` (seeded) of the model's posterior give intervals. Raises AuditError for no ratings, a single annotator, or
    no item with two ratings. Source: Dawid and Skene, Applied Statistics 28 (1979), equations 2.3 to 2.5.

    >>> rows = [(item, name, "x" if item < 5 else "y") for item in range(8) for name in "abc"]
    >>> found = dawid_skene(pd.DataFrame(rows, columns=["item", "annotator", "label"]))
    >>> found.marginals.round(3).tolist(), found.accuracy.tolist()
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
    said = csr_array((np.ones(len(item)), (item, annotator * kinds + label)), shape=(len(items), people * kinds))
    said.sum_duplicates()
    patterns, of_item = _patterns(said)
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


def _patterns(said: csr_array) -> tuple[csr_array, np.ndarray]:
    """The different rows of `said`, and which of them each item has: items that were rated alike are worked on once."""
    places: dict[tuple[bytes, bytes], int] = {}
    of_item = np.empty(said.shape[0], dtype=int)
    first: list[int] = []
    for row in range(said.shape[0]):
        ends = slice(said.indptr[row], said.indptr[row + 1])
        key = (said.indices[ends].tobytes(), said.data[ends].tobytes())
        if key not in places:
            places[key] = len(first)
            first.append(row)
        of_item[row] = places[key]
    return said[first], of_item


def _shares(patterns: csr_array, kinds: int) -> np.ndarray:
    """Share of each label in each pattern's ratings, (patterns, q)."""
    fold = csr_array(np.tile(np.eye(kinds), (patterns.shape[1] // kinds, 1)))
    counts = (patterns @ fold).toarray()
    return counts / counts.sum(axis=1, keepdims=True)


def _fit(patterns: csr_array, weights: np.ndarray, start: np.ndarray, people: int) -> _Fitted:
    """EM until the log-likelihood stands still, from posteriors `start` (patterns, q)."""
    kinds = start.shape[1]
    posterior, before = start, -np.inf
    total = weights.sum()
    enough = CONVERGED * float(weights @ patterns.sum(axis=1))
    turned = patterns.T.tocsr()
    iteration, done = 0, False
    while not done and iteration < MOST:
        iteration += 1
        # Equations 2.3 and 2.4: labels said, weighed by what the items probably are; (a, q said, q true).
        held = posterior * weights[:, None]
        marginals = held.sum(axis=0) / total
        counts = (turned @ held).reshape(people, kinds, kinds)
        sums = counts.sum(axis=1, keepdims=True)
        chances = np.divide(counts, sums, out=np.zeros_like(counts), where=sums > 0)
        posterior, logs = _posterior(patterns, chances, marginals)
        likelihood = float(weights @ logs)
        done = likelihood - before <= enough
        before = likelihood
    confusion = np.where(sums > 0, chances, np.nan).transpose(0, 2, 1)
    return _Fitted(marginals, confusion, posterior, before, iteration, done)


def _accuracy(fitted: _Fitted) -> np.ndarray:
    """Probability of the true label by annotator, (a,), over the true labels of which the annotator rated something."""
    right = np.diagonal(fitted.confusion, axis1=1, axis2=2)
    weights = np.where(np.isnan(right), 0.0, fitted.marginals)
    return np.nansum(right * weights, axis=1) / weights.sum(axis=1)


def _intervals(
    patterns: csr_array, weights: np.ndarray, fitted: _Fitted, draws: int, seed: int, confidence: float
) -> dict[str, np.ndarray]:
    """Quantiles of the posterior, by Gibbs sampling from the estimate on, so that labels keep their names.

    A sweep draws each item's true label given how annotators err, then how they err given the true labels. The prior
    of what an annotator says of a true label counts half a right rating, and half a wrong one shared out over the true
    labels and what may be said: an annotator who was never wrong may still err, so no interval is a point. The
    intervals are widened to hold the estimate. Source of the sampler: Paun et al., "Comparing Bayesian Models of
    Annotation", TACL 6 (2018), whose model with this name has a flat prior.
    """
    random = np.random.default_rng(seed)
    people, kinds = fitted.confusion.shape[:2]
    prior = np.full((kinds, kinds), 0.5 / (kinds * max(kinds - 1, 1)))
    np.fill_diagonal(prior, 0.5)
    seen = ~np.isnan(np.diagonal(fitted.confusion, axis1=1, axis2=2))
    turned, times = patterns.T.tocsr(), weights.astype(int)
    posterior = fitted.posterior
    marginals, accuracy = np.empty((draws, kinds)), np.empty((draws, people))
    for sweep in range(-BURN_IN, draws):
        held = random.multinomial(times, posterior)
        shares = random.dirichlet(held.sum(axis=0) + 0.5)
        # (a, q said, q true), as in `_fit`.
        chances = random.standard_gamma((turned @ held).reshape(people, kinds, kinds) + prior)
        chances = np.maximum(chances / chances.sum(axis=1, keepdims=True), _LEAST)
        posterior = _posterior(patterns, chances, shares)[0]
        if sweep >= 0:
            known = shares * seen
            marginals[sweep] = shares
            accuracy[sweep] = (np.diagonal(chances, axis1=1, axis2=2) * known).sum(axis=1) / known.sum(axis=1)
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
