"""Observed and genuine rates of cells (Jiang et al. 2022, section 3.2, table 2).

R_FS = false / judged, SR_o = satisfied / (satisfied + violated), SR_g = SR_o (1 - R_FS), VR_g = VR_o + SR_o R_FS.
Inapplicable groups and errors are counted beside, not in. What is not known is NaN, never an error.
"""

import numpy as np
import pandas as pd

from audit.errors import AuditError
from audit.statistics.intervals import Estimator, bounds, choose

COUNTS = ("groups", "satisfied", "violated", "inapplicable", "errors", "judged", "false")
"""Columns of counts that `with_rates` expects."""
RATES = (
    "sr_observed",
    "vr_observed",
    "fs_rate",
    "fs_low",
    "fs_high",
    "sr_genuine",
    "sr_genuine_low",
    "sr_genuine_high",
    "vr_genuine",
)
"""Columns that `with_rates` adds, fractions or NaN."""


def with_rates(cells: pd.DataFrame, interval: Estimator = choose, confidence: float = 0.95) -> pd.DataFrame:
    """The cells with the columns `RATES` added; other columns, the index and the order of rows are kept.

    `judged` is a simple random sample of the cell's satisfied groups, `false` of them are false satisfactions. The
    intervals are for this corpus: its satisfied groups are the population (finite population correction), and SR_o is
    known exactly, so the ends of SR_g are SR_o (1 - fs_high) and SR_o (1 - fs_low). Counts may be NaN where
    `sr_observed` and `fs_rate` are given instead (totals published without counts); such rows get no interval.

    Nothing judged: fs_rate and SR_g are NaN. Nothing satisfied, something violated: fs_rate is NaN, but SR_g = 0, as
    there is nothing to correct. Nothing satisfied or violated: all are NaN. Raises AuditError on impossible counts
    and missing columns.

    >>> cell = dict(groups=100, satisfied=80, violated=20, inapplicable=0, errors=0, judged=80, false=40)
    >>> with_rates(pd.DataFrame([cell])).loc[0, ["sr_observed", "fs_rate", "sr_genuine"]].tolist()
    [0.8, 0.5, 0.4]
    """
    missing = [name for name in ("satisfied", "violated", "judged", "false") if name not in cells]
    if missing:
        raise AuditError(f"cells lack the column(s) {', '.join(missing)}; needed are {', '.join(COUNTS)}")
    satisfied, violated = _numbers(cells, "satisfied"), _numbers(cells, "violated")
    judged, false = _numbers(cells, "judged"), _numbers(cells, "false")
    for name, values in (("satisfied", satisfied), ("violated", violated)):
        if (values < 0).any():
            raise AuditError(f"{name} is {values[values < 0][0]:g} in a cell; a count is 0 or more")

    checked = satisfied + violated
    sr_observed = _ratio(satisfied, checked, _numbers(cells, "sr_observed"))
    fs_rate = _ratio(false, judged, _numbers(cells, "fs_rate"))
    fs_low, fs_high = _intervals(false, judged, satisfied, interval, confidence)
    # Where nothing is satisfied SR_g is 0 whatever R_FS would be: the product must not inherit the unknown.
    nothing = sr_observed == 0
    correct = {
        "sr_genuine": np.where(nothing, 0.0, sr_observed * (1 - fs_rate)),
        "sr_genuine_low": np.where(nothing, 0.0, sr_observed * (1 - fs_high)),
        "sr_genuine_high": np.where(nothing, 0.0, sr_observed * (1 - fs_low)),
    }
    vr_observed = _ratio(violated, checked, 1 - sr_observed)
    vr_genuine = np.where(nothing, vr_observed, vr_observed + sr_observed * fs_rate)
    added = {"sr_observed": sr_observed, "vr_observed": vr_observed, "fs_rate": fs_rate}
    added |= {"fs_low": fs_low, "fs_high": fs_high, **correct, "vr_genuine": vr_genuine}
    return cells.assign(**{name: added[name] for name in RATES})


def _numbers(cells: pd.DataFrame, name: str) -> np.ndarray:
    """A column as floats, NaN where it or a value is absent."""
    if name not in cells:
        return np.full(len(cells), np.nan)
    return pd.to_numeric(cells[name]).to_numpy(dtype=float, na_value=np.nan)


def _ratio(part: np.ndarray, whole: np.ndarray, given: np.ndarray) -> np.ndarray:
    """part / whole where something was counted, NaN where 0 were; the given rate where nothing was counted at all."""
    ratio = np.full(len(whole), np.nan)
    np.divide(part, whole, out=ratio, where=whole > 0)
    return np.where(np.isnan(whole), given, ratio)


def _intervals(
    false: np.ndarray, judged: np.ndarray, satisfied: np.ndarray, interval: Estimator, confidence: float
) -> tuple[np.ndarray, np.ndarray]:
    low, high = np.full(len(judged), np.nan), np.full(len(judged), np.nan)
    known = np.flatnonzero(~np.isnan(false) & ~np.isnan(satisfied) & (judged != 0) & ~np.isnan(judged))
    k, n, population = (values[known].astype(int).tolist() for values in (false, judged, satisfied))
    low[known], high[known] = bounds(k, n, population, interval, confidence)
    return low, high
