"""Carry error: how often a relation carries an answer that is not right for the follow-up, and what that can do."""

from dataclasses import dataclass

import numpy as np

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
