"""Rogan and Gladen's correction of a rate for judgements that are sometimes wrong."""

import math
from dataclasses import dataclass

from scipy.special import ndtri

from audit.errors import AuditError


@dataclass(frozen=True, slots=True)
class Corrected:
    """The rate that remains when errors of judgement are taken out, all fractions, and the rate as it was judged."""

    rate: float
    low: float
    high: float
    judged: float


def rogan_gladen(
    k: int,
    n: int,
    sensitivity: tuple[int, int],
    specificity: tuple[int, int],
    confidence: float = 0.95,
) -> Corrected:
    """The true rate behind k of n groups judged false, by annotators whose errors were audited.

    `sensitivity` is (found, really false): of the audited groups that are false, how many the annotators called false;
    `specificity` is (found, really true) likewise for the others. rate = (k / n + sp - 1) / (se + sp - 1), cut to 0..1.
    The n groups and the audited ones are taken as independent samples of large populations. The interval counts the
    uncertainty of all three rates. Raises AuditError for impossible counts, and where se + sp is at most 1, since such
    judgements say nothing. Source: Rogan and Gladen, American Journal of Epidemiology 107 (1978); interval: Lang and
    Reiczigel, Preventive Veterinary Medicine 113 (2014), equation 16.

    >>> found = rogan_gladen(30, 100, sensitivity=(90, 100), specificity=(95, 100))
    >>> round(found.rate, 3), round(found.low, 3), round(found.high, 3)
    (0.294, 0.182, 0.413)
    """
    for name, (part, whole) in (("judged", (k, n)), ("sensitivity", sensitivity), ("specificity", specificity)):
        if whole < 1 or not 0 <= part <= whole:
            raise AuditError(f"{name} {part} of {whole} is impossible; allowed are 0 to {max(whole, 1)} of 1 or more")
    if not 0 < confidence < 1:
        raise AuditError(f"confidence {confidence} is impossible; it lies between 0 and 1, for example 0.95")
    judged, right_false, right_true = k / n, sensitivity[0] / sensitivity[1], specificity[0] / specificity[1]
    if right_false + right_true <= 1:
        raise AuditError(
            f"sensitivity {right_false:.3f} and specificity {right_true:.3f} add to {right_false + right_true:.3f}, "
            "which is no better than chance; the correction needs more than 1; judge again, or audit more groups"
        )
    rate = min(max((judged + right_true - 1) / (right_false + right_true - 1), 0.0), 1.0)

    # Adding z * z (and two) imagined observations keeps the interval honest near 0 and 1 and for small audits.
    z = float(ndtri((1 + confidence) / 2))
    size = n + z * z
    near = (n * judged + z * z / 2) / size
    false_size, true_size = sensitivity[1] + 2, specificity[1] + 2
    se, sp = (sensitivity[0] + 1) / false_size, (specificity[0] + 1) / true_size
    gain = se + sp - 1
    if gain <= 0:
        return Corrected(rate, 0.0, 1.0, judged)
    centre = (near + sp - 1) / gain
    false_error, true_error = se * (1 - se) / false_size, sp * (1 - sp) / true_size
    shift = 2 * z * z * (centre * false_error - (1 - centre) * true_error)
    variance = near * (1 - near) / size + centre**2 * false_error + (1 - centre) ** 2 * true_error
    half = z * math.sqrt(variance) / gain
    low, high = (min(max(centre + shift + sign * half, 0.0), 1.0) for sign in (-1, 1))
    return Corrected(rate, min(low, rate), max(high, rate), judged)
