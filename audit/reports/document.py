"""The report as JSON: nested dicts, whose keys `docs/reference/report.schema.json` declares.

Rates are fractions between 0 and 1, counts are whole numbers, and whatever is unknown is None. A rate has `value`,
`low` and `high`, `n` judged, bounds `least` and `most` where answers leave no value, and then a `reason`.
"""

import math
from typing import Any

import pandas as pd

Entry = dict[str, Any]
"""A document, or a part of one: values by name."""
ENDS = ("value", "low", "high", "least", "most")


def plain(value: Any) -> Any:
    """Return a value as JSON has it: None if it is missing or NaN, of Python's own type instead of NumPy's.

    >>> plain(float("nan")), plain(0.5)
    (None, 0.5)
    """
    if value is None or value is pd.NA or (isinstance(value, float) and math.isnan(value)):
        return None
    return value.item() if hasattr(value, "item") else value


def estimated(rate: Any, n: int | None = None, reason: str | None = None) -> Entry:
    """Return what statistics say of a rate as documents have it: value, low and high, one with these names, or None.

    >>> estimated((0.5, 0.25, 0.75), 8)["high"], estimated(None, reason="nothing is judged")["reason"]
    (0.75, 'nothing is judged')
    """
    values = list(rate) if isinstance(rate, tuple) else [getattr(rate, end, None) for end in ENDS]
    if hasattr(rate, "rate"):
        values[0] = rate.rate
    return {**dict.fromkeys(ENDS), **dict(zip(ENDS, map(plain, values), strict=False)), "n": n, "reason": reason}


def less(rate: Entry) -> Entry:
    """Return 1 minus a rate: the lower end of one is the upper end of the other."""
    ends = zip(ENDS, ("value", "high", "low", "most", "least"), strict=True)
    return rate | {end: None if rate[of] is None else 1 - rate[of] for end, of in ends}
