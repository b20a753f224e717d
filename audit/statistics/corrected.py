"""Carry error: how often a relation carries an answer that is not right for the follow-up, and what that can do."""

from dataclasses import dataclass

import numpy as np
from scipy import stats

from audit.statistics.intervals import rate_of_clusters


@dataclass(frozen=True, slots=True)
class CarryError:
    """How many of the audited follow-ups have an answer of their own that the propagated one does not allow; the rate
    and its ends are None where nothing was audited."""

    audited: int
    wrong: int
    rate: float | None
    low: float | None
    high: float | None


def carry_error(source: np.ndarray, wrong: np.ndarray, confidence: float = 0.95) -> CarryError:
    """Return the carry error of one relation from its audited follow-ups: `source` code and `wrong` (0 or 1) of each.

    Follow-ups of one source are not independent, so the interval is the exact one at the effective sample size of a
    sample of sources, which are taken for a sample of endlessly many: carrying is a property of the relation, not of
    these texts. Source: Korn and Graubard, Survey Methodology 24 (1998).

    >>> error = carry_error(np.arange(20), np.zeros(20))
    >>> error.rate, round(error.high, 4)
    (0.0, 0.1684)
    """
    hits = np.asarray(wrong, int)
    return CarryError(len(hits), int(hits.sum()), *rate_of_clusters(source, hits, confidence))


def most_wrong(carried: int, most: float, confidence: float = 0.95) -> int:
    """Return how many of `carried` answers may be wrong, if each is with a probability of `most` at the utmost.

    More are wrong with a probability of at most (1 - confidence) / 4.

    >>> most_wrong(12, 0.2), most_wrong(12, 0.0), most_wrong(0, 0.2)
    (6, 0, 0)
    """
    return int(stats.binom.isf((1 - confidence) / 4, carried, most)) if carried and most > 0 else 0


def carry_effect(
    judged: int, true: int, false: int, most: float, low: float, high: float, confidence: float = 0.95
) -> tuple[float, float]:
    """Widen the interval `low` to `high` of a cell's R_FS by what carry errors can do to it.

    Of `judged` groups, `true` are true and `false` are false satisfactions only by carried answers. `most` is the upper
    end of the interval of the probability that a carried answer of a group is wrong. Then at most `most_wrong` of the
    true ones are false in truth, and of the false ones true: the interval grows by these. By Bonferroni both ends hold
    at once with 95 % in a cell that was judged whole (2.5 % for `most`, 1.25 % for either number), and with 90 % where
    `low` and `high` have 95 % of their own.

    >>> [round(end, 4) for end in carry_effect(60, true=40, false=6, most=0.1, low=0.1, high=0.3)]
    [0.05, 0.45]
    """
    down, up = (most_wrong(carried, most, confidence) / judged for carried in (false, true))
    return max(low - down, 0.0), min(high + up, 1.0)
