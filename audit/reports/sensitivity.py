"""What R_FS would be if gold had the label that it lacks."""

from dataclasses import dataclass

import pandas as pd

from audit.false_satisfaction.cells import CELL, Counted
from audit.false_satisfaction.resolution import State
from audit.reports.document import SensitivityEntry


@dataclass(frozen=True)
class Lenient:
    """The counts with the labels that gold lacks counted right wherever gold answers."""

    labels: tuple[str, ...]
    counted: Counted


def sensitivity_entry(counted: Counted, lenient: Lenient) -> SensitivityEntry:
    """R_FS as it is and with the labels counted right: over the judged groups of the cells that are in the headline,
    each weighted by the satisfied groups of its cell that it stands for."""
    key = [*CELL, "group_id"]
    cells = counted.keys[CELL].join(counted.cells[["satisfied", "judged", "false"]].rename(columns={"judged": "of"}))
    judged = counted.drawn[counted.drawn["judged"]].merge(cells[cells["false"].notna()].drop(columns="false"), on=CELL)
    drawn = lenient.counted.drawn
    right = judged.merge(drawn.loc[drawn["judged"], [*key, "state"]], on=key, suffixes=("_before", ""))
    return {"labels": list(lenient.labels), "fs_rate": _false_share(judged), "fs_rate_right": _false_share(right)}


def _false_share(judged: pd.DataFrame) -> float | None:
    weight = (judged["satisfied"] / judged["of"]).to_numpy(float)
    return float(weight @ (judged["state"] == State.FALSE) / weight.sum()) if weight.sum() else None
