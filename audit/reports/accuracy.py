"""Accuracy by gold beside what metamorphic testing says: 1 - VR_o and 1 - VR_g of each system."""

from collections.abc import Mapping, Sequence

from audit.false_satisfaction.accuracy import NO_GOLD, RightOutputs, SystemAccuracy
from audit.reports.document import Entry, ViolationTable
from audit.reports.violations import rates_of
from audit.statistics.intervals import Interval, mid_p

SCORES = {"accuracy": "accuracy", "observed": "sr_observed", "genuine": "sr_genuine"}
"""What systems can be ordered by, and the name of that rate in an entry."""


def accuracy_entries(
    violations: Sequence[ViolationTable], right_outputs: Sequence[RightOutputs], confidence: float = 0.95
) -> list[Entry]:
    """One entry a table of `violations`: each system's accuracy with its interval, and its SR_o and SR_g.

    SR_o = 1 - VR_o and SR_g = 1 - VR_g are what a study reports as accuracy by metamorphic testing. Both are over all
    relations or, where the table has a row `estimated`, over those of which every system has an estimate: `over` is
    that row's name. The interval of the accuracy is for the texts that the corpus was drawn from, clustered by
    document. `order_*` are the systems, best first (ties by name), by each of the three; None where one system lacks
    the rate. Without gold `systems` is empty, with the reason.
    """
    by_gold = [outputs for outputs in right_outputs if outputs.by == "gold"]
    counts: dict[int | str | None, RightOutputs] = {outputs.study: outputs for outputs in by_gold}
    return [_entry(table, counts.get(table["study"]), confidence) for table in violations]


def _entry(table: ViolationTable, right_outputs: RightOutputs | None, confidence: float) -> Entry:
    systems: list[Entry] = []
    if right_outputs is not None and right_outputs.reason is None:
        by_name = {answered.system: answered for answered in right_outputs.systems}
        systems = [_system(table, by_name[system], confidence) for system in table["systems"]]
    return {
        "task": table["task"],
        "study": table["study"],
        "corpus": table["corpus"],
        "sources": right_outputs.sources if right_outputs else 0,
        "systems": systems,
        "reason": right_outputs.reason if right_outputs else NO_GOLD,
        "over": next(row["name"] for row in table["rows"] if row["by"] == _totals_row(table)),
        "order_accuracy": _order({system["system"]: system["accuracy"] for system in systems}),
        "order_observed": _order({system["system"]: system["sr_observed"] for system in systems}),
        "order_genuine": _order({system["system"]: system["sr_genuine"] for system in systems}),
    }


def accuracy_interval(answered: SystemAccuracy, confidence: float = 0.95) -> Interval | None:
    """The mid-p interval of a system's accuracy, for texts to come; None where it has no output.

    Outputs of one document count as their effective number.
    """
    if not answered.outputs:
        return None
    worth = answered.outputs if answered.worth is None else answered.worth
    return mid_p(answered.right / answered.outputs * worth, worth, None, confidence=confidence)


def _system(table: ViolationTable, answered: SystemAccuracy, confidence: float) -> Entry:
    ends = accuracy_interval(answered, confidence)
    (rates,) = rates_of(table, _totals_row(table), answered.system)
    is_known = rates["vr_genuine"] is not None  # bounds are in the table of violations
    return {
        "system": answered.system,
        "outputs": answered.outputs,
        "right": answered.right,
        "accuracy": answered.right / answered.outputs if answered.outputs else None,
        "low": ends.low if ends else None,
        "high": ends.high if ends else None,
        "sr_observed": _complement(rates["vr_observed"]),
        "sr_genuine": _complement(rates["vr_genuine"]),
        "sr_genuine_low": _complement(rates["vr_genuine_high"]) if is_known else None,
        "sr_genuine_high": _complement(rates["vr_genuine_low"]) if is_known else None,
    }


def _totals_row(table: ViolationTable) -> str:
    return "estimated" if any(row["by"] == "estimated" for row in table["rows"]) else "all"


def _complement(rate: float | None) -> float | None:
    return None if rate is None else 1 - rate


def _order(rates: Mapping[str, float | None]) -> list[str] | None:
    """Systems by their rates, best first; None where there are none or one lacks the rate."""
    known = {system: rate for system, rate in rates.items() if rate is not None}
    if not rates or len(known) < len(rates):
        return None
    return sorted(known, key=lambda system: (-round(known[system], 12), system))
