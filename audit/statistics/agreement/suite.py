"""All coefficients that fit some ratings, with their intervals; a new one is one line in `MEASURES`."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np

from audit.errors import AuditError
from audit.statistics.agreement.brennan_prediger import brennan_prediger
from audit.statistics.agreement.cohen_kappa import cohen_kappa
from audit.statistics.agreement.conger_kappa import conger_kappa
from audit.statistics.agreement.fleiss_kappa import fleiss_kappa
from audit.statistics.agreement.gwet_ac1 import gwet_ac1
from audit.statistics.agreement.gwet_ac2 import gwet_ac2
from audit.statistics.agreement.krippendorff_alpha import DISTANCES, krippendorff_alpha
from audit.statistics.agreement.paradox import paradox_note
from audit.statistics.agreement.parts import Parts, interval
from audit.statistics.agreement.percent_agreement import percent_agreement
from audit.statistics.agreement.ratings import Ratings, Scale
from audit.statistics.agreement.scott_pi import scott_pi
from audit.statistics.agreement.weights import WEIGHTS

LEVELS: Mapping[str | None, tuple[Scale, ...]] = {
    None: ("names", "order", "numbers"),
    "nominal": ("names", "order", "numbers"),
    "ordinal": ("order", "numbers"),
    "interval": ("numbers",),
    "ratio": ("numbers",),
    "linear": ("order", "numbers"),
    "quadratic": ("order", "numbers"),
}
"""Levels in the order of the suite (None: no weights), and the scales of labels that allow them."""


@dataclass(frozen=True)
class Coefficient:
    """One coefficient of some ratings. `estimate`, `low` and `high` are None where they are undefined: `note` says why.

    `items` are those that two annotators or more rated, `annotators` how many rated anything. `note` also explains the
    kappa paradox where it strikes.
    """

    name: str
    level: str | None
    estimate: float | None
    low: float | None
    high: float | None
    items: int
    annotators: int
    note: str | None = None


@dataclass(frozen=True)
class Measure:
    """A coefficient by name: how it is computed at each of its levels."""

    name: str
    compute: Mapping[str | None, Callable[[Ratings], Parts]]
    for_two: bool = False
    """Whether it is for exactly two annotators."""
    chance: bool = True
    """Whether it corrects for chance, and so is undefined where labels do not vary."""


def _weighed(compute: Callable[[Ratings, np.ndarray], Parts], name: str, ratings: Ratings) -> Parts:
    if ratings.values is None:
        raise AuditError(f"the labels are not numbers; the level {name} needs numbers or an order")
    return compute(ratings, WEIGHTS[name](ratings.values))


def _weighted(compute: Callable[..., Parts]) -> dict[str | None, Callable[[Ratings], Parts]]:
    return {name: partial(_weighed, compute, name) for name in WEIGHTS}


def _all(compute: Callable[..., Parts]) -> dict[str | None, Callable[[Ratings], Parts]]:
    return {None: compute, **_weighted(compute)}


MEASURES = (
    Measure("percent_agreement", _all(percent_agreement), chance=False),
    Measure("cohen_kappa", _all(cohen_kappa), for_two=True),
    Measure("scott_pi", _all(scott_pi), for_two=True),
    Measure("fleiss_kappa", _all(fleiss_kappa)),
    Measure("conger_kappa", _all(conger_kappa)),
    Measure(
        "krippendorff_alpha",
        {None: krippendorff_alpha, **{level: partial(krippendorff_alpha, level=level) for level in DISTANCES}},
    ),
    Measure("gwet_ac1", {None: gwet_ac1}),
    Measure("gwet_ac2", _weighted(gwet_ac2)),
    Measure("brennan_prediger", _all(brennan_prediger)),
)


def suite(ratings: Ratings, level: str | None = None, confidence: float = 0.95) -> list[Coefficient]:
    """Every coefficient that fits the ratings, without weights first (level None), then level by level.

    Cohen's kappa and Scott's pi come only with exactly two annotators, levels beyond nominal only where labels are
    numbers (ordinal, linear, quadratic also where they have an order). Krippendorff's alpha without weights is the
    nominal one, so it comes under both. `level` leaves out all other levels, but not those without weights. Undefined
    ones are None with a note, never an error. Raises AuditError for a level that is unknown or does not fit.

    >>> import pandas as pd
    >>> frame = pd.DataFrame({"item": [1, 1, 2, 2], "annotator": list("abab"), "label": list("xxxx")})
    >>> one = suite(Ratings.of(frame))[1]
    >>> one.name, one.estimate, one.note
    ('cohen_kappa', None, 'undefined: no variation; percent agreement 100.0 %')
    """
    check_level(level, ratings.scale)
    wanted = [one for one in LEVELS if ratings.scale in LEVELS[one] and (level is None or one in (None, level))]
    measures = [one for one in MEASURES if not one.for_two or len(ratings.annotators) == 2]
    percent = percent_agreement(ratings)
    ac1 = _value(gwet_ac1(ratings), ratings)
    found = []
    for each in wanted:
        for measure in (one for one in measures if each in one.compute):
            try:
                parts = measure.compute[each](ratings)
            except AuditError as reason:  # a ratio of negative numbers
                undefined = Coefficient(measure.name, each, None, None, None, 0, len(ratings.annotators))
                found.append(_noted(undefined, f"undefined: {reason}"))
                continue
            one = _coefficient(measure, each, parts, ratings, percent, confidence)
            if one.note is None and one.estimate is not None and ac1 is not None and _is_kappa(measure, each):
                one = _noted(one, paradox_note(ratings, percent.observed, parts.expected, one.estimate, ac1))
            found.append(one)
    return found


def check_level(level: str | None, scale: Scale) -> None:
    """Raises AuditError for a level that nobody knows, or that labels of this scale do not allow."""
    known = [name for name in LEVELS if name]
    if level is not None and level not in known:
        raise AuditError(f"level {level!r} is not one of {', '.join(known)}")
    if scale not in LEVELS[level]:
        what = "an order of labels without numbers" if scale == "order" else "labels that are not numbers"
        allowed = ", ".join(name for name in known if scale in LEVELS[name])
        raise AuditError(f"{what} cannot have the level {level}; allowed are {allowed}")


def _is_kappa(measure: Measure, level: str | None) -> bool:
    """Whether the paradox may strike: expected agreement by prevalence, and no weights."""
    return level in (None, "nominal") and measure.chance and measure.name not in ("gwet_ac1", "brennan_prediger")


def _value(parts: Parts, ratings: Ratings) -> float | None:
    varies = bool((ratings.label != ratings.label[0]).any())
    return parts.value if parts.items and varies else None


def _coefficient(
    measure: Measure, level: str | None, parts: Parts, ratings: Ratings, percent: Parts, confidence: float
) -> Coefficient:
    people = len(ratings.annotators)
    estimate = (parts.value if parts.items else None) if not measure.chance else _value(parts, ratings)
    ends = interval(parts, confidence) if estimate is not None else None
    note = None
    if not parts.items:
        who = "both annotators" if measure.for_two else "two annotators"
        note = f"undefined: no item was rated by {who}"
    elif estimate is None:
        note = f"undefined: no variation; percent agreement {100 * percent.observed:.1f} %"
    elif ends is None:
        note = "no interval: it takes two items that do not belong together, and agreement that varies"
    low, high = ends or (None, None)
    return Coefficient(measure.name, level, estimate, low, high, parts.items, people, note)


def _noted(one: Coefficient, note: str | None) -> Coefficient:
    return Coefficient(one.name, one.level, one.estimate, one.low, one.high, one.items, one.annotators, note)
