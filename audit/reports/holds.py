"""What a report says of whether relations hold: the share of groups per relation in which they do not."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from audit.statistics.intervals import Target
from audit.statistics.unequal import weighted_rate

ASSUMED = "That relations hold everywhere is assumed; measure it with `audit sample --audit-groups 20`."
"""The note of a report for which no group was asked about."""


def holds_entries(
    units: pd.DataFrame, waiting: Mapping[tuple[str, object, str], int], confidence: float, target: Target
) -> dict[tuple[str, object, str], dict[str, Any]]:
    """`holds` of the relations of which groups were asked about, by (task, study, relation).

    `units` has a row per different judged group (task, study, relation, broken, satisfied, violated, pi, cluster);
    `waiting` the number of different questions that nobody has settled. An entry has judged and broken (counts), the
    estimated rate of groups in which the relation does not hold with its interval, the same for the groups that some
    system satisfies (`satisfied`) and that some system violates (`violated`), and `waiting`. What is not known is None.
    """
    of_relation = dict(iter(units.groupby(["task", "study", "relation"])))
    empty = units.iloc[:0]
    found = {}
    for key, open_ones in waiting.items():
        some = of_relation.get(key, empty)
        found[key] = _share(some, confidence, target) | {
            outcome: _share(some[some[outcome].astype(bool)], confidence, target)
            for outcome in ("satisfied", "violated")
        }
        found[key]["waiting"] = open_ones
    return found


def _share(units: pd.DataFrame, confidence: float, target: Target) -> dict[str, Any]:
    broken, pi, cluster = (units[name].tolist() for name in ("broken", "pi", "cluster"))
    rate = weighted_rate(broken, pi, confidence, target, cluster)
    numbers = dict.fromkeys(("rate", "low", "high")) if rate is None else {
        "rate": rate.rate, "low": rate.low, "high": rate.high
    }  # fmt: skip
    return {"judged": len(units), "broken": int(units["broken"].sum())} | numbers
