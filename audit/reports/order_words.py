"""One relation in words: who was best, who is, what the comparison is about."""

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any

from audit.reports.words import UNKNOWN, count
from audit.statistics.orders import TIED


def order_text(relation: Mapping[str, Any], when: str) -> str:
    """The order of systems, best first, with `=` between tied ones; `when` is `observed`, `genuine` or `corrected`.

    Where a genuine order is known of some systems only, the observed one names the same systems.

    >>> ranking = [{"system": system, "sr_genuine": 0.5} for system in "ab"]
    >>> order_text({"ranking": ranking, "order_genuine": ["a", "b"]}, "genuine")
    'a = b'
    """
    systems = relation[f"order_{when}"]
    if when == "observed" and relation["order_genuine"]:
        systems = [system for system in systems if system in relation["order_genuine"]]
    rates = {entry["system"]: entry.get(f"sr_{when}") for entry in relation["ranking"]}
    # Systems that were only compared have no rates, but differences.
    level = {frozenset((one["system"], one["other"])): one["difference"] for one in relation.get("pairs", ())}

    def tied(before: str, after: str) -> bool:
        if rates[before] is None or rates[after] is None:
            return abs(level.get(frozenset((before, after)), 1.0) or 0.0) <= TIED
        return bool(rates[before] - rates[after] <= TIED)

    return in_order(systems, tied) or UNKNOWN


def in_order(systems: Sequence[str], tied: Callable[[str, str], bool]) -> str:
    """Systems, best first, with `=` between those that are `tied`.

    >>> in_order(["a", "b", "c"], lambda before, after: after == "b")
    'a = b > c'
    """
    signs = [" = " if tied(before, after) else " > " for before, after in pairwise(systems)]
    return "".join(sign + system for sign, system in zip(["", *signs], systems, strict=False))


def change_text(relation: Mapping[str, Any]) -> str:
    """What correction does to one relation, in words.

    >>> unchanged = {"best_changes": False, "best_changes_sure": False, "order_changes": False}
    >>> change_text({"order_observed": ["a", "b"], "order_genuine": ["a"], "best_genuine": []} | unchanged)
    'not known yet'
    """
    if relation["best_changes_sure"]:
        return "another system is best, for sure"
    if not relation["order_observed"]:
        return "nothing to compare"
    if len(relation["order_observed"]) == 1:
        return "one system"
    if not relation["best_genuine"]:
        return "not known yet"
    if relation["best_changes"]:
        return "another system looks best"
    if relation["order_changes"]:
        return "the best stays, others change places"
    return "no change so far" if set(relation["order_genuine"]) < set(relation["order_observed"]) else "no change"


def common_text(relation: Mapping[str, Any]) -> str:
    """What the comparison of a relation's systems is about, and why it says nothing where it does not.

    >>> found = {"groups": 1200, "judged": 58, "deciding": 300, "reason": None}
    >>> common_text({"common": found, "order_observed": ["a", "b"]})
    'compared on the 1,200 groups that apply to all systems; 58 of the 300 that can tell them apart are judged'
    """
    found = relation["common"]
    if found is None or len(relation["order_observed"]) < 2:
        return ""
    if found["groups"] is None:
        text = "compared on each system's own groups: totals do not say which apply to all"
    else:
        text = f"compared on the {count(found['groups'])} groups that apply to all systems"
    if found["deciding"] is not None:
        text += f"; {count(found['judged'])} of the {count(found['deciding'])} that can tell them apart are judged"
    return f"{text}; {found['reason']}" if found["reason"] else text


def best_text(relation: Mapping[str, Any]) -> str:
    """Who was best and who is or looks best, as far as that is known.

    >>> orders = {"order_observed": ["a", "b"], "best_changes": True, "best_changes_sure": True}
    >>> best_text(orders | {"best_observed": ["a"], "best_genuine": ["b"]})
    'was a, is b'
    >>> best_text(orders | {"best_observed": ["a"], "best_genuine": ["b"], "best_changes_sure": False})
    'was a, looks like b'
    """
    before, after = (", ".join(relation[f"best_{when}"]) or UNKNOWN for when in ("observed", "genuine"))
    if not relation["order_observed"]:
        return "the relation applied to none of these sources"
    if not relation["best_genuine"]:
        return f"was {before}, now not known yet"
    if before == after:
        return before
    if not relation["best_changes"]:
        return f"was {before}, of these {after}"
    return f"was {before}, {'is' if relation['best_changes_sure'] else 'looks like'} {after}"
