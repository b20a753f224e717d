"""SR_c, the satisfaction rate among groups for which the relation holds, and the rate of false violations.

A relation need not hold in every group: a follow-up may have lost the meaning, or the expectation may be wrong there.
SR_g counts such groups as if they told something about the system. SR_c leaves them out, of the satisfied ones and of
the violated ones alike: genuine satisfactions in which the relation holds / all groups in which it holds. A violated
group in which it does not hold is a *false violation*.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
import pandas as pd

from audit.errors import AuditError
from audit.statistics.intervals import Estimator, Interval, Target, mid_p

COUNTS = (
    "audited_genuine",
    "broken_genuine",
    "audited_false",
    "broken_false",
    "audited_violated",
    "broken_violated",
    "holds_judged",
)
"""Columns of counts that `with_corrected` reads beside satisfied, violated, judged and false."""
RATES = (
    "sr_corrected",
    "sr_corrected_low",
    "sr_corrected_high",
    "false_violation_rate",
    "false_violation_rate_low",
    "false_violation_rate_high",
)
"""Columns that `with_corrected` adds, fractions or NaN."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """What is known of one cell; every number is a count of groups.

    `judged` of the `satisfied` groups are a simple random sample in which `false` are false satisfactions. A simple
    random part of these was also judged for whether the relation holds: `audited_genuine` true satisfactions, in
    `broken_genuine` of which it does not, and `audited_false` false ones, in `broken_false` of which it does not.
    `audited_violated` of the `violated` groups are a simple random sample, too; `broken_violated` are false violations.
    """

    satisfied: int
    violated: int
    judged: int
    false: int
    audited_genuine: int
    broken_genuine: int
    audited_false: int
    broken_false: int
    audited_violated: int
    broken_violated: int

    def __post_init__(self) -> None:
        for part, whole in (
            ("judged", "satisfied"),
            ("false", "judged"),
            ("audited_false", "false"),
            ("broken_genuine", "audited_genuine"),
            ("broken_false", "audited_false"),
            ("audited_violated", "violated"),
            ("broken_violated", "audited_violated"),
        ):
            some, all_of = getattr(self, part), getattr(self, whole)
            if not 0 <= some <= all_of:
                raise AuditError(f"{part} is {some} and {whole} {all_of}; allowed are 0 to {all_of} {part}")
        genuine = self.judged - self.false
        if not 0 <= self.audited_genuine <= genuine:
            raise AuditError(
                f"audited_genuine is {self.audited_genuine} of {genuine} true satisfactions; allowed are 0 to {genuine}"
            )


SHARES = ("violated", "false", "broken_genuine", "broken_false", "broken_violated")
"""The shares that SR_c is made from: of all groups, of the judged ones, and of the three kinds of audited ones."""
FALLS = np.array([False, False, False, True, True])
"""Whether SR_c falls as the share of groups that are not so, such as not broken, rises."""


@dataclass(frozen=True, slots=True)
class Documents:
    """What the groups behind each of `SHARES` are worth as independent ones, where those of a document are alike.

    `worth` (5,) are effective sizes, `together` (5, 5) the correlations of the shares from document to document, the
    diagonal 1.
    """

    worth: np.ndarray
    together: np.ndarray


@dataclass(frozen=True, slots=True)
class Corrected:
    """SR_c with its interval, all in [0, 1]."""

    rate: float
    low: float
    high: float


def corrected(
    counts: Counts,
    interval: Estimator = mid_p,
    confidence: float = 0.95,
    target: Target = "corpus",
    documents: Documents | None = None,
) -> Corrected | None:
    """SR_c of one cell; None where a part of it was not judged, or the relation was found to hold in no group.

    With w = satisfied / (satisfied + violated), q the share of true ones among the satisfied groups, and h the shares
    in which the relation holds (of true and of false satisfactions, of violated groups),

        SR_c = w q h_true / (w (q h_true + (1 - q) h_false) + (1 - w) h_violated).

    Where exactly the judged groups were audited this is the ratio estimator that weighs the outcomes by their sizes; a
    longer draw sharpens q. A share of satisfied groups that were never met in the audit is the one of all satisfied
    groups, with the interval 0 to 1. SR_c rises or falls with each share, so the interval is recovered from theirs:
    the distance from estimate to end is the root of the sum of the squared distances to SR_c with one share at its
    unfavourable end (square-and-add: Newcombe, Statistics in Medicine 17 (1998); MOVER: Zou and Donner, ibid. 27
    (2008)). For the corpus w is known and the shares have the finite population correction, so a cell judged whole has
    no interval left; for the population w has an interval, too, and with `documents` each share has that of its
    effective size, and distances that go together from document to document add up as far as they do (only what widens
    the interval counts, as few documents show little). Coverage is in docs/corrected.md.

    >>> whole = Counts(satisfied=8, violated=2, judged=8, false=4, audited_genuine=4, broken_genuine=1,
    ...                audited_false=4, broken_false=1, audited_violated=2, broken_violated=1)
    >>> found = corrected(whole)
    >>> round(found.rate, 4), round(found.low, 4), round(found.high, 4)  # 3 of 7 groups in which the relation holds
    (0.4286, 0.4286, 0.4286)
    """
    audited = counts.audited_genuine + counts.audited_false
    groups = counts.satisfied + counts.violated
    if not groups or (counts.satisfied and not audited) or (counts.violated and not counts.audited_violated):
        return None
    of = partial(_share, ends=partial(_ends, interval=interval, confidence=confidence, target=target))
    documents = documents if documents and target == "population" else Documents(np.full(5, np.inf), np.eye(5))
    worth = documents.worth.tolist()
    broken = (counts.broken_genuine + counts.broken_false) / audited if audited else 0.0
    true = 1 - counts.false / counts.judged if counts.judged else 0.0
    falses = round(counts.satisfied * (1 - true))
    shares = (
        of(counts.violated, groups, groups, worth[0]) if target == "population" else _known(counts.violated / groups),
        of(counts.false, counts.judged, counts.satisfied, worth[1]),
        of(counts.broken_genuine, counts.audited_genuine, round(counts.satisfied * true), worth[2], otherwise=broken),
        of(counts.broken_false, counts.audited_false, falses, worth[3], otherwise=broken),
        of(counts.broken_violated, counts.audited_violated, counts.violated, worth[4]),
    )
    rate = _rate(*(estimate for _, estimate, _ in shares))
    if math.isnan(rate):
        return None
    sign = np.where(FALLS, -1.0, 1.0)
    together = np.maximum(documents.together * np.outer(sign, sign), 0.0)
    ends = []
    for worse in (True, False):
        distances = []
        for place, (share, fall) in enumerate(zip(shares, FALLS, strict=True)):
            moved = [estimate for _, estimate, _ in shares]
            moved[place] = share[0] if worse != fall else share[2]
            there = _rate(*moved)
            distances.append(0.0 if math.isnan(there) else abs(there - rate))
        ends.append(math.sqrt(np.array(distances) @ together @ np.array(distances)))
    return Corrected(rate, max(rate - ends[0], 0.0), min(rate + ends[1], 1.0))


def with_corrected(
    cells: pd.DataFrame, interval: Estimator = mid_p, confidence: float = 0.95, target: Target = "corpus"
) -> pd.DataFrame:
    """The cells with the columns `RATES` added; other columns, the index and the order of rows are kept.

    `cells` has the counts satisfied, violated, judged, false and those of `COUNTS`, all but holds_judged used; where
    one of a cell is NaN (nothing was audited) or absent its rates are NaN. Of the population's violated groups the
    false violation rate has no finite population correction; a column `documents`, where there is one, has what the
    groups of cells are worth (`Documents`, or None). Raises AuditError on impossible counts.

    >>> cell = dict(satisfied=0, violated=4, judged=0, false=0, audited_genuine=0, broken_genuine=0, audited_false=0,
    ...             broken_false=0, audited_violated=4, broken_violated=1)
    >>> with_corrected(pd.DataFrame([cell])).loc[0, ["sr_corrected", "false_violation_rate"]].tolist()
    [0.0, 0.25]
    """
    names = list(Counts.__dataclass_fields__)
    known = cells.reindex(columns=names).apply(pd.to_numeric).to_numpy(float, na_value=np.nan)
    found = np.full((len(cells), len(RATES)), np.nan)
    documents = cells["documents"].tolist() if "documents" in cells else [None] * len(cells)
    for place in np.flatnonzero(~np.isnan(known).any(axis=1)):
        counts = Counts(**{name: int(value) for name, value in zip(names, known[place], strict=True)})
        here = documents[place] if isinstance(documents[place], Documents) else None
        rate = corrected(counts, interval, confidence, target, here)
        if rate is not None:
            found[place, :3] = rate.rate, rate.low, rate.high
        if counts.audited_violated:
            worth = float(here.worth[4]) if here else math.inf
            part = counts.broken_violated, counts.audited_violated, counts.violated, worth
            ends = _ends(*part, interval=interval, confidence=confidence, target=target)
            found[place, 3:] = counts.broken_violated / counts.audited_violated, ends.low, ends.high
    return cells.assign(**{name: found[:, place] for place, name in enumerate(RATES)})


def _rate(satisfied: float, true: float, holds_true: float, holds_false: float, holds_violated: float) -> float:
    genuine = satisfied * true * holds_true
    holding = genuine + satisfied * (1 - true) * holds_false + (1 - satisfied) * holds_violated
    return genuine / holding if holding > 0 else math.nan


def _known(bad: float) -> tuple[float, float, float]:
    return 1 - bad, 1 - bad, 1 - bad


def _share(
    bad: int, judged: int, population: int, worth: float, otherwise: float = 0.0, *, ends: Callable[..., Interval]
) -> tuple[float, float, float]:
    """(low, estimate, high) of the share that is not bad."""
    found = ends(bad, judged, population, worth)
    return 1 - found.high, 1 - (bad / judged if judged else otherwise), 1 - found.low


def _ends(
    bad: int, judged: int, population: int, worth: float, *, interval: Estimator, confidence: float, target: Target
) -> Interval:
    """The interval of the share that is bad; `worth` is what the judged ones are as independent ones."""
    if target == "corpus":
        # Rounding may make fewer of the unjudged than were judged.
        return interval(bad, judged, max(population, judged), confidence=confidence)
    if worth < judged:
        return interval(bad / judged * worth, worth, None, confidence=confidence)
    return interval(bad, judged, None, confidence=confidence)
