"""Accuracy by gold beside what metamorphic testing says: 1 - VR_o and 1 - VR_g of each system."""

from collections.abc import Mapping, Sequence
from typing import Any

from audit.false_satisfaction.accuracy import NO_GOLD, RightOutputs, SystemAccuracy
from audit.reports.violations import rates_of
from audit.reports.words import in_order
from audit.statistics.intervals import mid_p
from audit.statistics.orders import TIED

SCORES = {"accuracy": "accuracy", "observed": "sr_observed", "genuine": "sr_genuine"}
"""What systems can be ordered by, and the name of that rate in an entry."""


def accuracy_entries(
    violations: Sequence[Mapping[str, Any]], found: Sequence[RightOutputs], confidence: float = 0.95
) -> list[dict[str, Any]]:
    """One entry a table of `violations`: each system's accuracy with its interval, and its SR_o and SR_g.

    SR_o = 1 - VR_o and SR_g = 1 - VR_g are what a study reports as accuracy by metamorphic testing. Both are over all
    relations or, where the table has a row `estimated`, over those of which every system has an estimate: `over` is
    that row's name. The interval of the accuracy is for the texts that the corpus was drawn from, clustered by
    document. `order_*` are the systems, best first (ties by name), by each of the three; None where one system lacks
    the rate. Without gold `systems` is empty, with the reason.
    """
    counts = {one.study: one for one in found}
    return [_entry(table, counts.get(table["study"]), confidence) for table in violations]


def _entry(table: Mapping[str, Any], found: RightOutputs | None, confidence: float) -> dict[str, Any]:
    entry: dict[str, Any] = {name: table[name] for name in ("task", "study", "corpus")}
    entry |= {"sources": found.sources if found else 0, "systems": [], "reason": found.reason if found else NO_GOLD}
    entry["over"] = next(row["name"] for row in table["rows"] if row["by"] == _over(table))
    if found is not None and found.reason is None:
        by_name = {one.system: one for one in found.systems}
        entry["systems"] = [_system(table, by_name[system], confidence) for system in table["systems"]]
    orders = {score: _order(entry["systems"], rate) for score, rate in SCORES.items()}
    return entry | {f"order_{score}": order for score, order in orders.items()}


def _system(table: Mapping[str, Any], one: SystemAccuracy, confidence: float) -> dict[str, Any]:
    # What groups of a document are worth takes the place of their number.
    share = 1.0 if one.worth is None else one.worth / one.outputs
    ends = mid_p(one.right * share, one.outputs * share, None, confidence=confidence) if one.outputs else None
    (rates,) = rates_of(table, _over(table), one.system)
    return {
        "system": one.system,
        "outputs": one.outputs,
        "right": one.right,
        "accuracy": one.right / one.outputs if one.outputs else None,
        "low": ends.low if ends else None,
        "high": ends.high if ends else None,
        "sr_observed": _rest(rates["vr_observed"]),
        "sr_genuine": _rest(rates["vr_genuine"]),
        "sr_genuine_low": _rest(rates["vr_genuine_high"]),
        "sr_genuine_high": _rest(rates["vr_genuine_low"]),
    }


def _over(table: Mapping[str, Any]) -> str:
    return "estimated" if any(row["by"] == "estimated" for row in table["rows"]) else "all"


def _rest(rate: float | None) -> float | None:
    return None if rate is None else 1 - rate


def _order(systems: Sequence[Mapping[str, Any]], rate: str) -> list[str] | None:
    """Systems, best first; None where there are none or one lacks the rate."""
    if not systems or any(one[rate] is None for one in systems):
        return None
    return [one["system"] for one in sorted(systems, key=lambda one: (-round(one[rate], 12), one["system"]))]


def order_words(entry: Mapping[str, Any], score: str) -> str:
    """An order of `accuracy_entries` in words, with `=` between ties; empty where it is not known.

    >>> systems = [{"system": "a", "accuracy": 0.9}, {"system": "b", "accuracy": 0.8}]
    >>> order_words({"systems": systems, "order_accuracy": ["a", "b"]}, "accuracy")
    'a > b'
    """
    rates = {one["system"]: one[SCORES[score]] for one in entry["systems"]}
    return in_order(entry[f"order_{score}"] or (), lambda before, after: bool(rates[before] - rates[after] <= TIED))
