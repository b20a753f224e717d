"""Draws of the genuine satisfaction rates of the systems of one relation: where P(best) and ranks come from."""

import numpy as np

DRAWS = 10_000
SPREAD = 0.05
"""Scale of the half-Cauchy prior of the standard deviation of R_FS between systems."""
SLOPE = 1.0
"""Standard deviation of the normal prior of what R_FS gains per unit of SR_o: accurate systems often satisfy less, so
that a prior which takes R_FS and SR_o for unrelated would let SR_o decide who is best."""
CAUTION = 2.0
"""By which the errors' covariance is multiplied. Without it, of systems that are close, those that were said to be best
with a probability of .5 to .8 were so in .48 of the samples; with it probabilities err on the side of caution."""
GRID = 0.6 * np.linspace(0.0, 1.0, 31) ** 1.5
"""Standard deviations between systems over which the posterior is summed."""


def hierarchical_draws(
    observed: np.ndarray,
    fs_rate: np.ndarray,
    covariance: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
    draws: int = DRAWS,
    seed: int = 0,
) -> np.ndarray:
    """Draws of R_FS of the systems of one relation, from its posterior; float array (draws, systems).

    `observed` (systems,) is SR_o, known; `fs_rate` (systems,) estimates R_FS with errors of this `covariance`
    (systems, systems); `low` and `high` (systems,) are what the judged groups leave possible. The estimates are taken
    as normal, and R_FS of the systems as exchangeable once SR_o is allowed for: R_i = m + b (SR_o,i - mean SR_o) + e_i,
    with a flat prior of m, b normal with the standard deviation `SLOPE`, e_i normal with a standard deviation whose
    prior is half-Cauchy with the scale `SPREAD`, summed over `GRID`. Draws given one are made by conditioning
    a draw of the prior on the estimates (Matheron's rule). Where the covariance is 0 the draws are the estimates.

    Few judged groups thus pull the systems together, not to the one that looks best; how well the probabilities hold
    is in docs/report.md. The model is on the scale of the rate: on the logit scale it held worse where few are false.
    Source: Gelman et al., Bayesian Data Analysis (2013), section 5.4.

    >>> rate, sure = np.array([0.2, 0.4]), np.zeros((2, 2))
    >>> hierarchical_draws(np.array([0.9, 0.9]), rate, sure, np.zeros(2), np.ones(2), draws=1).round(3).tolist()
    [[0.2, 0.4]]
    """
    rng = np.random.default_rng(seed)
    systems, covariance = len(observed), CAUTION * covariance
    centred = observed - observed.mean()
    slopes = SLOPE**2 * np.outer(centred, centred)
    # The tiny ridge keeps matrices invertible where everything was judged.
    total = covariance + slopes + (GRID**2)[:, None, None] * np.eye(systems) + 1e-12 * np.eye(systems)
    weight = np.linalg.inv(total)
    of_mean = weight.sum(axis=(1, 2))
    mean = weight.sum(axis=1) @ fs_rate / of_mean
    off = fs_rate - mean[:, None]
    likelihood = 0.5 * (np.linalg.slogdet(weight)[1] - np.log(of_mean) - np.einsum("ti,tij,tj->t", off, weight, off))
    likelihood += np.log(np.gradient(GRID) / (1 + (GRID / SPREAD) ** 2))
    chance = np.exp(likelihood - likelihood.max())
    at = rng.choice(len(GRID), draws, p=chance / chance.sum())
    prior = mean[at, None] + rng.standard_normal((draws, 1)) / np.sqrt(of_mean[at, None])
    prior = prior + GRID[at, None] * rng.standard_normal((draws, systems))
    prior += SLOPE * centred * rng.standard_normal((draws, 1))
    values, vectors = np.linalg.eigh(covariance)
    noise = rng.standard_normal((draws, systems)) @ (vectors * np.sqrt(np.clip(values, 0.0, None))).T
    gap = np.einsum("dij,dj->di", weight[at], fs_rate - prior - noise)
    return np.clip(prior + (GRID**2)[at, None] * gap + gap @ slopes, low, high)
