"""What every interval for a rate is: two ends and the method that found them; and the counts that a method refuses."""

from dataclasses import dataclass
from typing import Protocol

from audit.errors import AuditError


@dataclass(frozen=True, slots=True)
class Interval:
    """Rates between which the true rate lies, both in [0, 1], and the method that found them."""

    low: float
    high: float
    method: str

    def rounded(self, digits: int) -> tuple[float, float]:
        """Both ends, rounded, for reading.

        >>> Interval(0.12345, 0.5, "mid-p binomial").rounded(2)
        (0.12, 0.5)
        """
        return round(self.low, digits), round(self.high, digits)

    def of(self, population: int) -> tuple[int, int]:
        """Both ends as numbers of groups out of `population`.

        >>> Interval(0.1, 0.3, "exact").of(10)
        (1, 3)
        """
        return round(self.low * population), round(self.high * population)


class Estimator(Protocol):
    """What every method looks like: k false of n judged out of `population` -> interval.

    `population` is the number of satisfied groups of this corpus, or None where the interval is for the endless
    population that the corpus came from: then there is no finite population correction, and k and n may be fractions.
    """

    def __call__(self, k: float, n: float, population: int | None, *, confidence: float = 0.95) -> Interval: ...


def check_counts(k: float, n: float, population: int | None, confidence: float) -> None:
    """Raise AuditError, which says what is allowed, on counts or a confidence that cannot be.

    >>> check_counts(2, 10, 50, 0.95)
    """
    if n < 0:
        raise AuditError(f"{n:g} judged groups are impossible; a count is 0 or more")
    if not 0 <= k <= n:
        raise AuditError(f"{k:g} false of {n:g} judged groups is impossible; allowed are 0 to {n:g}")
    if population is not None and n > population:
        raise AuditError(f"{n:g} judged of {population} satisfied groups is impossible; allowed are 0 to {population}")
    if not 0 < confidence < 1:
        raise AuditError(f"confidence {confidence} is impossible; it lies between 0 and 1, for example 0.95")
