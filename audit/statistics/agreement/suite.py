"""The coefficients that fit some ratings, with their intervals; a new one is one line in `measures`."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from audit.errors import AuditError
from audit.statistics.agreement.coefficients import (
    DISTANCES,
    WEIGHTS,
    cohen_kappa,
    fleiss_kappa,
    gwet_ac,
    krippendorff_alpha,
    percent_agreement,
)
from audit.statistics.agreement.paradox import paradox_note
from audit.statistics.agreement.parts import Parts, interval
from audit.statistics.agreement.ratings import Ratings, Scale

LEVELS: dict[str, tuple[Scale, ...]] = {
    "nominal": ("names", "order", "numbers"),
    "ordinal": ("order", "numbers"),
    "interval": ("numbers",),
    "ratio": ("numbers",),
    "linear": ("order", "numbers"),
    "quadratic": ("order", "numbers"),
}
"""Levels, and the scales of labels that allow them."""


@dataclass(frozen=True)
class Coefficient:
    """One coefficient of some ratings. `estimate`, `low` and `high` are None where they are undefined: `note` says why.

    `level` is None for those without weights. `items` are those that two annotators or more rated, `annotators` how
    many rated anything. `note` also explains the kappa paradox where it strikes.
    """

    name: str
    level: str | None
    estimate: float | None
    low: float | None
    high: float | None
    items: int
    annotators: int
    note: str | None = None


def measures(ratings: Ratings, level: str | None = None) -> dict[str, Callable[[Ratings], Parts]]:
    """The coefficients by name at a level (None: unweighted); the kappa is Cohen's for two annotators, else Fleiss'.

    >>> import pandas as pd
    >>> frame = pd.DataFrame({"item": [1, 1], "annotator": list("ab"), "label": list("xy")})
    >>> list(measures(Ratings.of(frame)))
    ['percent_agreement', 'cohen_kappa', 'krippendorff_alpha', 'gwet_ac1']
    """
    kappa = cohen_kappa if len(ratings.annotators) == 2 else fleiss_kappa
    found: dict[str, Callable[..., Parts]] = {"percent_agreement": percent_agreement, kappa.__name__: kappa}
    if level in DISTANCES:
        return {"krippendorff_alpha": partial(krippendorff_alpha, level=level)}
    if level is None:
        return found | {"krippendorff_alpha": krippendorff_alpha, "gwet_ac1": gwet_ac}
    if ratings.values is None:
        raise AuditError(f"the labels are not numbers; the level {level} needs numbers or an order")
    weights = WEIGHTS[level](ratings.values)
    return {name: partial(one, weights=weights) for name, one in (found | {"gwet_ac2": gwet_ac}).items()}


def suite(ratings: Ratings, level: str | None = None, confidence: float = 0.95) -> list[Coefficient]:
    """Percent agreement, one kappa, Krippendorff's alpha and AC1, then those of `level` where one is asked for.

    The levels ordinal, interval and ratio are alpha's, linear and quadratic those of the others; nominal is what comes
    without weights. Undefined ones are None with a note, never an error. Raises AuditError for a level that is unknown
    or that the labels do not allow: beyond nominal they are numbers, or (ordinal, linear, quadratic) have an order.

    >>> import pandas as pd
    >>> frame = pd.DataFrame({"item": [1, 1, 2, 2], "annotator": list("abab"), "label": list("xxxx")})
    >>> one = suite(Ratings.of(frame))[1]
    >>> one.name, one.estimate, one.note
    ('cohen_kappa', None, 'undefined: no variation; percent agreement 100.0 %')
    """
    check_level(level, ratings.scale)
    percent = percent_agreement(ratings).observed
    ac1 = gwet_ac(ratings).value if _varies(ratings) else None
    found = []
    for each in (None, level) if level not in (None, "nominal") else (None,):
        for name, compute in measures(ratings, each).items():
            found.append(_coefficient(name, each, compute, ratings, percent, ac1, confidence))
    return found


def check_level(level: str | None, scale: Scale) -> None:
    """Raises AuditError for a level that nobody knows, or that labels of this scale do not allow; None is no level."""
    if level is None:
        return
    if level not in LEVELS:
        raise AuditError(f"level {level!r} is not one of {', '.join(LEVELS)}")
    if scale not in LEVELS[level]:
        what = "an order of labels without numbers" if scale == "order" else "labels that are not numbers"
        allowed = ", ".join(name for name in LEVELS if scale in LEVELS[name])
        raise AuditError(f"{what} cannot have the level {level}; allowed are {allowed}")


def _varies(ratings: Ratings) -> bool:
    return bool((ratings.label != ratings.label[0]).any()) and bool(ratings.shared.any())


def _coefficient(
    name: str,
    level: str | None,
    compute: Callable[[Ratings], Parts],
    ratings: Ratings,
    percent: float,
    ac1: float | None,
    confidence: float,
) -> Coefficient:
    people, estimate, ends, items, note = len(ratings.annotators), None, None, 0, None
    try:
        parts = compute(ratings)
        items = parts.items
        estimate = parts.value if items and (_varies(ratings) or name == "percent_agreement") else None
    except AuditError as reason:  # a ratio of negative numbers
        note = f"undefined: {reason}"
    if note is None and not items:
        note = f"undefined: no item was rated by {'both' if name == 'cohen_kappa' else 'two'} annotators"
    elif note is None and estimate is None:
        note = f"undefined: no variation; percent agreement {100 * percent:.1f} %"
    if estimate is not None:
        ends = interval(parts, confidence)
        if ends is None:
            note = "no interval: it takes two items that do not belong together"
        elif level is None and ac1 is not None and name not in ("percent_agreement", "gwet_ac1"):
            # Chance by prevalence and no weights: here the paradox may strike.
            note = paradox_note(ratings, percent, parts.expected, estimate, ac1)
    low, high = ends or (None, None)
    return Coefficient(name, level, estimate, low, high, items, people, note)
