"""What a report would say if gold had the label that it lacks, or were wrong as often as somebody knows it to be."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from audit.errors import AuditError
from audit.false_satisfaction.cells import CELL, Counted
from audit.false_satisfaction.groups import Shared
from audit.false_satisfaction.resolution import State
from audit.messages import message
from audit.reports.document import (
    Covered,
    GoldErrorEntry,
    GoldErrorSystem,
    LenientRates,
    OverallEntry,
    SensitivityEntry,
)
from audit.statistics.corrected import Resting, correct, corrected_values, resting_share
from audit.statistics.intervals import Target
from audit.statistics.rates import Overall


@dataclass(frozen=True)
class Lenient:
    """The counts with the labels that gold lacks counted right wherever gold answers, and who said such a label.

    `says` has the columns of `CELL` and group_id: the drawn groups of which a counted output has such a label.
    """

    labels: tuple[str, ...]
    counted: Counted
    shared: Sequence[Shared]
    says: pd.DataFrame


def sensitivity_entry(
    counted: Counted, lenient: Lenient, totals: OverallEntry, lenient_totals: Overall
) -> SensitivityEntry:
    """R_FS, over all and by system, as it is, with the labels counted right, and without the groups that have one.

    The rates are over the judged groups of the cells that are in the headline, each weighted by the satisfied groups
    of its cell that it stands for; `share` is the share of the false satisfactions that have such an output. `totals`
    and `lenient_totals` are `overall` of the report and of the one in which the labels count as right.
    """
    key = [*CELL, "group_id"]
    judged = _weighted_groups(counted).merge(lenient.says.assign(says=True), how="left", on=key)
    judged["says"] = judged["says"].notna()
    judged["false"] = judged["state"] == State.FALSE
    right = _weighted_groups(lenient.counted).assign(right=lambda frame: frame["state"] == State.FALSE)
    judged = judged.merge(right[[*key, "right"]], how="left", on=key)
    judged = judged.merge(counted.keys[[*CELL, "system"]], on=CELL)
    of_false = judged[judged["false"]]
    return {
        "labels": list(lenient.labels),
        "share": _mean(of_false, "says"),
        **_rates(judged),
        "systems": [{"system": str(system), **_rates(of_system)} for system, of_system in judged.groupby("system")],
        "best_changes_sure": totals["best_changes_sure"],
        "best_changes_estimated": totals["best_changes_estimated"],
        "best_changes_sure_right": lenient_totals["best_changes_sure"],
        "best_changes_estimated_right": lenient_totals["best_changes_estimated"],
    }


GOLD_ERROR = re.compile(r"(\d*\.?\d+(?:e-?\d+)?)(?:-(\d*\.?\d+(?:e-?\d+)?))?", re.IGNORECASE)
STEPS = 5
"""Error rates from `low` to `high` at which R_FS is corrected."""


@dataclass(frozen=True)
class GoldError:
    """The share of gold labels that are wrong: at least `low`, at most `high`."""

    low: float
    high: float

    @classmethod
    def read(cls, text: str) -> "GoldError":
        """From `0.05`, or `0.02-0.05`. Raises AuditError.

        >>> GoldError.read("0.02-0.05"), GoldError.read(".1")
        (GoldError(low=0.02, high=0.05), GoldError(low=0.1, high=0.1))
        """
        match = GOLD_ERROR.fullmatch(text.strip())
        low, high = (float(match[1]), float(match[2] or match[1])) if match else (1.0, 0.0)
        if not 0 <= low <= high < 1:
            raise AuditError(message("report_setting.bad_gold_error", text=text[:40]))
        return cls(low, high)


def gold_error_entry(
    counted: Counted, resting: pd.DataFrame, error: GoldError, totals: Covered, target: Target
) -> GoldErrorEntry | None:
    """The key `gold_error` of a report: R_FS of the headline, and by system, corrected for wrong gold labels.

    `resting` is what `read_resting` read, `totals` the report's `overall`. The rates are those at the least and the
    most error, the ends those of all between. None where the headline has no rate or gold settles nothing in it. Raises
    AuditError for a rate at which gold says nothing.
    """
    judged = (
        _weighted_groups(counted).merge(resting, on=[*CELL, "group_id"]).merge(counted.keys[[*CELL, "system"]], on=CELL)
    )
    groups = [
        Resting(
            row["labels"],
            row["seen"],
            row["false"],
            float(row["weight"]),
            float(row["of"] / row["satisfied"]) if target == "corpus" else 0.0,
        )
        for row in judged.to_dict("records")
    ]
    observed, low, high = totals["fs_rate"], totals["fs_low"], totals["fs_high"]
    if observed is None or low is None or high is None or not any(group.labels for group in groups):
        return None
    corrections = [
        correct(groups, rate, low, high) for rate in np.unique(np.linspace(error.low, error.high, STEPS)).tolist()
    ]
    reach = resting_share(groups, error.high)
    systems: list[GoldErrorSystem] = []
    for system, places in judged.groupby("system").indices.items():
        of_system = [groups[at] for at in places]
        weight = np.array([group.weight for group in of_system])
        rates = [float(weight @ corrected_values(of_system, rate) / weight.sum()) for rate in (error.low, error.high)]
        now = float(weight @ np.array([float(group.false[group.seen]) for group in of_system]) / weight.sum())
        least, most = (min(max(bound, 0.0), 1.0) for bound in sorted(rates))
        systems.append({"system": str(system), "fs_rate": now, "fs_rate_least": least, "fs_rate_most": most})
    rates = [correction.rate for correction in corrections]
    return {
        "low": error.low,
        "high": error.high,
        "fs_rate": observed,
        "fs_rate_least": min(rates),
        "fs_rate_most": max(rates),
        "fs_low": min(correction.low for correction in corrections),
        "fs_high": max(correction.high for correction in corrections),
        "cut": any(correction.cut for correction in corrections),
        "worst_least": max(observed - reach, 0.0),
        "worst_most": min(observed + reach, 1.0),
        "worst_low": max(low - reach, 0.0),
        "worst_high": min(high + reach, 1.0),
        "groups": len(groups),
        "by_gold": sum(bool(group.labels) for group in groups),
        "left_out": int((~judged["modelled"]).sum()),
        "systems": systems,
    }


def _weighted_groups(counted: Counted) -> pd.DataFrame:
    """The judged drawn groups, each with the satisfied groups of its cell that it stands for as `weight`; of the cells
    that are in the headline."""
    cells = counted.keys[CELL].join(counted.cells[["satisfied", "judged", "false"]].rename(columns={"judged": "of"}))
    judged = counted.drawn[counted.drawn["judged"]].merge(cells[cells["false"].notna()].drop(columns="false"), on=CELL)
    return judged.assign(weight=judged["satisfied"] / judged["of"])


def _rates(judged: pd.DataFrame) -> LenientRates:
    return {
        "fs_rate": _mean(judged, "false"),
        "fs_rate_right": _mean(judged[judged["right"].notna()], "right"),
        "fs_rate_left_out": _mean(judged[~judged["says"]], "false"),
    }


def _mean(frame: pd.DataFrame, column: str) -> float | None:
    weight = frame["weight"].to_numpy(float)
    return float((weight * frame[column].to_numpy(float)).sum() / weight.sum()) if weight.sum() else None
