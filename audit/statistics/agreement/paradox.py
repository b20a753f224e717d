"""The kappa paradox: nearly everybody agrees, and kappa is low, because nearly everything is one label."""

from audit.statistics.agreement.ratings import Ratings

AGREE = 0.8
"""Percent agreement, as a fraction, from which a low kappa needs an explanation."""
APART = 0.2
"""So much must AC1 exceed the coefficient."""


def paradox_note(ratings: Ratings, percent: float, expected: float, value: float, ac1: float) -> str | None:
    """A sentence where the paradox strikes a coefficient, else None.

    `percent` is the percent agreement (a fraction), `expected` and `value` the coefficient's expected agreement and
    estimate, `ac1` Gwet's AC1. It strikes where at least .8 agree and the coefficient lies .2 or more below AC1.
    Source: Feinstein and Cicchetti, Journal of Clinical Epidemiology 43 (1990); Gwet (2008).

    >>> import pandas as pd
    >>> frame = pd.DataFrame({"item": [1, 1, 2, 2], "annotator": list("abab"), "label": list("xxxy")})
    >>> paradox_note(Ratings.of(frame), 0.85, 0.8, 0.25, 0.8).split(":")[0]
    'kappa paradox'
    """
    if percent < AGREE or ac1 - value < APART:
        return None
    most = int(ratings.prevalence.argmax())
    return (
        f"kappa paradox: {100 * percent:.1f} % agree, but {100 * ratings.prevalence[most]:.0f} % of the ratings are "
        f"{ratings.labels[most]!r}, so this coefficient expects {100 * expected:.1f} % by chance and little is left to "
        f"earn; read it beside percent_agreement and gwet_ac1 ({ac1:.3f}), which depends less on how common a label is"
    )
