"""What a report would say if gold had the label that it lacks."""

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from audit.false_satisfaction.cells import CELL, Counted
from audit.false_satisfaction.groups import Shared
from audit.false_satisfaction.resolution import State
from audit.reports.document import (
    LenientRates,
    OverallEntry,
    SensitivityEntry,
)
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
