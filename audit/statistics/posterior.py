"""Draws of genuine satisfaction rates from their posterior: where the probabilities of rankings come from."""

import numpy as np
import pandas as pd
from scipy.special import betaincinv, ndtr

from audit.statistics.allocation import effective_size
from audit.statistics.intervals import Target

DRAWS = 10_000
GRID = np.linspace(-6.0, 6.0, 481)
"""Normal scores at which a posterior's quantiles are worked out; between them they are interpolated."""


def genuine_draws(
    cells: pd.DataFrame,
    correlation: np.ndarray | None = None,
    target: Target = "corpus",
    draws: int = DRAWS,
    seed: int = 0,
) -> np.ndarray:
    """Draws of SR_g of every cell; float array (draws, cells), NaN in a cell that has no posterior.

    `cells` has the counts satisfied, violated, judged, false, one row a cell. R_FS has Jeffreys' prior, so its
    posterior is Beta(false + 1/2, judged - false + 1/2). For the corpus the judged groups are known, and of those that
    were not judged Binomial(satisfied - judged, R_FS) are false: a cell judged whole has one value. For the population
    SR_o is drawn too, from Beta(satisfied + 1/2, violated + 1/2). `correlation` (cells, cells), of a cluster bootstrap
    over sources, joins the cells by a normal copula; without it they are independent, which makes the differences of
    systems on the same inputs look less sure than they are. A cell without satisfied groups has SR_g = 0 for the
    corpus; one without judged groups, or whose counts are missing, has no posterior.

    A cell with a `gain` above 1 (columns `gain` and `fs_rate`, optional; for the corpus) was estimated with proxies:
    its judged groups are worth `gain` times as many. The share of all its satisfied groups that are false is then drawn
    from Beta(m R_FS + 1/2, m (1 - R_FS) + 1/2), m = gain n (N - 1) / (N - n), within what the judged groups leave
    possible: the spread of that estimate, by the effective size of drawing without replacement. Source: Gelman et al.,
    Bayesian Data Analysis (2013), sections 2.4 and 8.3.

    >>> frame = pd.DataFrame({"satisfied": [8, 8], "violated": [2, 2], "judged": [8, 0], "false": [4, 0]})
    >>> genuine_draws(frame, draws=2).tolist()
    [[0.4, nan], [0.4, nan]]
    """
    rng = np.random.default_rng(seed)
    counts = (cells[name].to_numpy(float, na_value=np.nan) for name in ("satisfied", "violated", "judged", "false"))
    satisfied, violated, judged, false = counts
    scores = rng.standard_normal((draws, len(cells)))
    if correlation is not None and len(cells):
        values, vectors = np.linalg.eigh(correlation)
        scores = scores @ (vectors * np.sqrt(np.clip(values, 0.0, None))).T
    observed = rng.random((draws, len(cells))) if target == "population" else None
    shares = ndtr(GRID)
    gains = cells["gain"].to_numpy(float, na_value=np.nan) if "gain" in cells else np.full(len(cells), np.nan)
    found = np.full((draws, len(cells)), np.nan)
    for at in range(len(cells)):
        s, v, n, k = satisfied[at], violated[at], judged[at], false[at]
        if np.isnan(s) or np.isnan(v) or s + v == 0 or (n > 0 and np.isnan(k)):
            continue
        if s == 0 and target == "corpus":
            found[:, at] = 0.0
        elif n > 0 and gains[at] > 1 and target == "corpus":
            size, mean = gains[at] * float(effective_size(n, s)), float(cells["fs_rate"].iloc[at])
            curve = betaincinv(size * mean + 0.5, size * (1 - mean) + 0.5, shares)
            share = np.clip(np.interp(scores[:, at], GRID, curve), k / s, 1 - (n - k) / s)
            found[:, at] = s * (1 - share) / (s + v)
        elif n > 0:
            rate = np.interp(scores[:, at], GRID, betaincinv(k + 0.5, n - k + 0.5, shares))
            if observed is None:
                unseen = rng.binomial(int(s - n), np.clip(rate, 0.0, 1.0))
                found[:, at] = (s - k - unseen) / (s + v)
            else:
                found[:, at] = betaincinv(s + 0.5, v + 0.5, observed[:, at]) * (1 - rate)
    return found
