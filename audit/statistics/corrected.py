"""SR_c, the satisfaction rate among groups for which the relation holds, and the rate of false violations.

A relation need not hold in every group: a follow-up may have lost the meaning, or the expectation may be wrong there.
SR_g counts such groups as if they told something about the system. SR_c leaves them out, of the satisfied ones and of
the violated ones alike: genuine satisfactions in which the relation holds / all groups in which it holds. A violated
group in which it does not hold is a *false violation*.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import pandas as pd
from scipy import stats
from scipy.special import betaincinv

from audit.errors import AuditError
from audit.statistics.intervals import (
    Estimate,
    Interval,
    Target,
    effective_size,
    mid_p,
    rate_of_clusters,
)

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
            number, limit = getattr(self, part), getattr(self, whole)
            if not 0 <= number <= limit:
                raise AuditError(f"{part} is {number} and {whole} {limit}; allowed are 0 to {limit} {part}")
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


def corrected(
    counts: Counts,
    confidence: float = 0.95,
    target: Target = "corpus",
    documents: Documents | None = None,
) -> Estimate | None:
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
    the interval counts, as few documents show little). Coverage is in docs/reference/corrected.md.

    >>> whole = Counts(satisfied=8, violated=2, judged=8, false=4, audited_genuine=4, broken_genuine=1,
    ...                audited_false=4, broken_false=1, audited_violated=2, broken_violated=1)
    >>> result = corrected(whole)
    >>> round(result.rate, 4), round(result.low, 4), round(result.high, 4)  # 3 of 7 groups in which the relation holds
    (0.4286, 0.4286, 0.4286)
    """
    audited = counts.audited_genuine + counts.audited_false
    groups = counts.satisfied + counts.violated
    if not groups or (counts.satisfied and not audited) or (counts.violated and not counts.audited_violated):
        return None
    ends_of = partial(_ends, confidence=confidence, target=target)

    def share(bad: int, judged: int, population: int, worth: float, otherwise: float = 0.0) -> Estimate:
        """The share that is not bad."""
        ends_of_bad = ends_of(bad, judged, population, worth)
        return Estimate(1 - (bad / judged if judged else otherwise), 1 - ends_of_bad.high, 1 - ends_of_bad.low)

    documents = documents if documents and target == "population" else Documents(np.full(5, np.inf), np.eye(5))
    worth = documents.worth.tolist()
    broken = (counts.broken_genuine + counts.broken_false) / audited if audited else 0.0
    true = 1 - counts.false / counts.judged if counts.judged else 0.0
    falses = round(counts.satisfied * (1 - true))
    known = 1 - counts.violated / groups
    shares = (
        share(counts.violated, groups, groups, worth[0]) if target == "population" else Estimate(known, known, known),
        share(counts.false, counts.judged, counts.satisfied, worth[1]),
        share(counts.broken_genuine, counts.audited_genuine, round(counts.satisfied * true), worth[2], broken),
        share(counts.broken_false, counts.audited_false, falses, worth[3], broken),
        share(counts.broken_violated, counts.audited_violated, counts.violated, worth[4]),
    )
    rate = _rate(*(part.rate for part in shares))
    if math.isnan(rate):
        return None
    sign = np.where(FALLS, -1.0, 1.0)
    correlations = np.maximum(documents.together * np.outer(sign, sign), 0.0)
    ends = []
    for lower in (True, False):
        distances = []
        for place, (part, fall) in enumerate(zip(shares, FALLS, strict=True)):
            estimates = [estimate.rate for estimate in shares]
            estimates[place] = part.low if lower != fall else part.high
            rate_there = _rate(*estimates)
            distances.append(0.0 if math.isnan(rate_there) else abs(rate_there - rate))
        ends.append(math.sqrt(np.array(distances) @ correlations @ np.array(distances)))
    return Estimate(rate, max(rate - ends[0], 0.0), min(rate + ends[1], 1.0))


def with_corrected(cells: pd.DataFrame, confidence: float = 0.95, target: Target = "corpus") -> pd.DataFrame:
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
    counts_of_cells = cells.reindex(columns=names).apply(pd.to_numeric).to_numpy(float, na_value=np.nan)
    rates = np.full((len(cells), len(RATES)), np.nan)
    documents = cells["documents"].tolist() if "documents" in cells else [None] * len(cells)
    for place in np.flatnonzero(~np.isnan(counts_of_cells).any(axis=1)):
        counts = Counts(**{name: int(value) for name, value in zip(names, counts_of_cells[place], strict=True)})
        of_cell = documents[place] if isinstance(documents[place], Documents) else None
        rate = corrected(counts, confidence, target, of_cell)
        if rate is not None:
            rates[place, :3] = rate.rate, rate.low, rate.high
        if counts.audited_violated:
            worth = float(of_cell.worth[4]) if of_cell else math.inf
            part = counts.broken_violated, counts.audited_violated, counts.violated, worth
            ends = _ends(*part, confidence=confidence, target=target)
            rates[place, 3:] = counts.broken_violated / counts.audited_violated, ends.low, ends.high
    return cells.assign(**{name: rates[:, place] for place, name in enumerate(RATES)})


def _rate(satisfied: float, true: float, holds_true: float, holds_false: float, holds_violated: float) -> float:
    genuine = satisfied * true * holds_true
    holding = genuine + satisfied * (1 - true) * holds_false + (1 - satisfied) * holds_violated
    return genuine / holding if holding > 0 else math.nan


def _ends(bad: int, judged: int, population: int, worth: float, *, confidence: float, target: Target) -> Interval:
    """The interval of the share that is bad; `worth` is what the judged ones are as independent ones."""
    # Rounding may make fewer of the unjudged than were judged.
    groups = max(population, judged) if target == "corpus" else None
    if groups is None and worth < judged:
        return mid_p(bad / judged * worth, worth, None, confidence=confidence)
    return mid_p(bad, judged, groups, confidence=confidence)


# A rate of groups that were drawn with unequal probabilities.


@dataclass(frozen=True, slots=True)
class Weighted(Estimate):
    """A weighted rate, and the number of equally weighted groups that say as much."""

    effective: float


def weighted_rate(
    hits: Sequence[bool],
    pi: Sequence[float],
    confidence: float = 0.95,
    target: Target = "corpus",
    cluster: Sequence[int] | None = None,
) -> Weighted | None:
    """The rate of hits among groups of which each was drawn with its own probability; None where there are none.

    `hits` and `pi` have one value a group; `pi` is above 0 and at most 1. The estimate is Hajek's ratio
    sum(hit / pi) / sum(1 / pi). The interval is Jeffreys' with an effective sample size in the place of n (as Korn and
    Graubard, Survey Methodology 24, 1998, do with Clopper-Pearson's): for the population Kish's
    (sum 1 / pi)^2 / sum 1 / pi^2, for the corpus (sum 1 / pi)^2 / sum (1 - pi) / pi^2, in which groups that are sure
    to be drawn add nothing to the variance. All pi = 1: nothing is left to estimate in the corpus. It is cautious
    where hits are commoner among groups with a large pi (docs/reference/corrected.md). `cluster` has a code a group:
    for the population, groups of one document are worth what the variance between documents tells (`effective_size`).
    Raises AuditError on arrays of different lengths and on probabilities that are none.

    >>> weighted = weighted_rate([True, False, False], [0.5, 1.0, 1.0])
    >>> weighted.rate, weighted.effective
    (0.5, 8.0)
    >>> weighted_rate([True, False], [1.0, 1.0])
    Weighted(rate=0.5, low=0.5, high=0.5, effective=inf)
    """
    hit, chance = np.asarray(hits, float), np.asarray(pi, float)
    if len(hit) != len(chance):
        raise AuditError(f"{len(hit)} groups have {len(chance)} probabilities; needed is one of each for every group")
    if not len(hit):
        return None
    if not ((chance > 0) & (chance <= 1)).all():
        raise AuditError(f"an inclusion probability is {chance.min():g}; allowed is above 0 and at most 1")
    weight = 1 / chance
    rate = float(weight @ hit / weight.sum())
    # Not from the hits' own variance: where a few groups weigh most and none of them is a hit it is far too small.
    spread = float((weight**2 * (1 - chance if target == "corpus" else 1)).sum())
    if spread == 0:
        return Weighted(rate, rate, rate, float("inf"))
    size = float(weight.sum() ** 2) / spread
    if target == "population" and cluster is not None and len(set(cluster)) < len(hit):
        size = min(size, effective_size(np.asarray(cluster), hit, confidence, weight))
    risk = (1 - confidence) / 2
    k = rate * size
    low = min(float(betaincinv(k + 0.5, size - k + 0.5, risk)), rate) if hit.any() else 0.0
    high = max(float(betaincinv(k + 0.5, size - k + 0.5, 1 - risk)), rate) if not hit.all() else 1.0
    return Weighted(rate, low, high, size)


# Carry error: how often a relation carries an answer to a follow-up for which it is not right.


@dataclass(frozen=True, slots=True)
class CarryError:
    """`wrong` of the `audited` follow-ups have an answer of their own that the propagated one does not allow.

    `rate` with its ends `low` and `high`; None where nothing was audited.
    """

    audited: int
    wrong: int
    rate: float | None
    low: float | None
    high: float | None


def carry_error(source: np.ndarray, wrong: np.ndarray, confidence: float = 0.95) -> CarryError:
    """The carry error of one relation from its audited follow-ups, each given once: `source` code and `wrong` (0 or 1).

    Follow-ups of one source are not independent, so the interval is the exact one at the effective sample size of a
    sample of sources; with one follow-up a source it is Clopper and Pearson's. The audited sources are taken for a
    sample of endlessly many: carrying is a property of the relation, not of these texts. Raises AuditError on arrays
    of different lengths. Source: Korn and Graubard, Survey Methodology 24 (1998).

    >>> error = carry_error(np.arange(20), np.zeros(20))
    >>> error.rate, round(error.high, 4)
    (0.0, 0.1684)
    """
    if len(source) != len(wrong):
        raise AuditError(f"{len(source)} sources and {len(wrong)} follow-ups; needed is a source for each follow-up")
    hits = np.asarray(wrong, int)
    return CarryError(len(hits), int(hits.sum()), *rate_of_clusters(source, hits, confidence))


@dataclass(frozen=True, slots=True)
class CarryEffect:
    """How far R_FS can be off because answers were carried: at most `down` too high and at most `up` too low."""

    down: float
    up: float
    low: float
    """The lower end of R_FS, widened by `down`."""
    high: float
    """The upper end of R_FS, widened by `up`."""


def most_wrong(carried: int, most: float, confidence: float = 0.95) -> int:
    """How many of `carried` answers may be wrong, if each is with a probability of `most` at the utmost.

    More are so with a probability of at most (1 - confidence) / 4. The number that is wrong varies about its
    expectation, carried x most, and in a cell that was judged whole nothing else does.

    >>> most_wrong(12, 0.2), most_wrong(12, 0.0), most_wrong(0, 0.2)
    (6, 0, 0)
    """
    return int(stats.binom.isf((1 - confidence) / 4, carried, most)) if carried and most > 0 else 0


def carry_effect(
    judged: int, true: int, false: int, most: float, low: float, high: float, confidence: float = 0.95
) -> CarryEffect:
    """What carry errors can do to the R_FS of a cell with the interval `low` to `high`.

    Of `judged` groups, `true` are true and `false` are false satisfactions only by carried answers. `most` is the upper
    end of the interval of the probability that a carried answer of a group is wrong. Then at most `most_wrong` of the
    true ones are false in truth, and of the false ones true: the interval grows by these. By Bonferroni both ends hold
    at once with 95 % in a cell that was judged whole (2.5 % for `most`, 1.25 % for either number), and with 90 % where
    `low` and `high` have 95 % of their own. Raises AuditError on impossible counts.

    >>> effect = carry_effect(60, true=40, false=6, most=0.1, low=0.1, high=0.3)
    >>> round(effect.down, 4), round(effect.up, 4), round(effect.low, 4), round(effect.high, 4)
    (0.05, 0.15, 0.05, 0.45)
    """
    if judged < 1 or min(true, false) < 0 or true + false > judged:
        raise AuditError(
            f"{true} + {false} of {judged} judged groups rest on carried answers: allowed are 0 to {judged}"
        )
    down, up = (most_wrong(carried, most, confidence) / judged for carried in (false, true))
    return CarryEffect(down, up, max(low - down, 0.0), min(high + up, 1.0))
