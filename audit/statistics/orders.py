"""Which system looks best for one relation, and which is (Jiang et al. 2022, section 6.2)."""

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import TypedDict, TypeVar

import pandas as pd

TIED = 1e-12
"""Rates closer than this are equal: what is left are the last bits of a product."""

Name = TypeVar("Name", str, int)


class Orders(TypedDict):
    """Systems of one relation before and after correction, best first, ties by name."""

    order_observed: list[str]
    order_genuine: list[str]
    best_observed: list[str]
    best_genuine: list[str]
    order_changes: bool
    best_changes: bool


def compare_orders(frame: pd.DataFrame) -> Orders:
    """Order and best systems by observed and by genuine satisfaction rate.

    `frame` has the columns system, sr_observed, sr_genuine, one row a system; NaN where a rate is unknown. The lists
    hold the systems whose rate is known; `best_*` lists ties. As SR_g is at most SR_o, a system without a genuine rate
    can still be ruled out as the best; while one cannot, `best_genuine` is empty: nobody knows who is best.
    `best_changes` where the best before and the best after are known and share no system, `order_changes` where any
    pair of systems that have both rates compares differently, a tie made or broken included.

    >>> frame = pd.DataFrame({"system": ["a", "b"], "sr_observed": [0.8, 0.9], "sr_genuine": [0.7, 0.6]})
    >>> compare_orders(frame)["best_observed"], compare_orders(frame)["best_genuine"]
    (['b'], ['a'])
    """
    observed = _known(frame, "sr_observed")
    genuine = _known(frame, "sr_genuine")
    best_before, best_after = best_of(observed), best_of(genuine)
    # Whoever has no genuine rate yet may still reach the observed one.
    if any(observed[system] >= max(genuine.values(), default=0.0) - TIED for system in set(observed) - set(genuine)):
        best_after = []
    return {
        "order_observed": _order(observed),
        "order_genuine": _order(genuine),
        "best_observed": best_before,
        "best_genuine": best_after,
        "order_changes": bool(changing_places([observed, genuine])),
        "best_changes": bool(best_after) and not set(best_before) & set(best_after),
    }


def changing_places(rates: Sequence[Mapping[str, float]]) -> set[str]:
    """The systems of pairs that compare differently under some of these rates, of those that know both systems.

    >>> sorted(changing_places([{"a": 0.9, "b": 0.8, "c": 0.1}, {"a": 0.7, "b": 0.7}]))
    ['a', 'b']
    """
    found: set[str] = set()
    for one, other in combinations(sorted(set().union(*rates)), 2):
        if len({_sign(rate[one] - rate[other]) for rate in rates if one in rate and other in rate}) > 1:
            found |= {one, other}
    return found


def order_where_known(frame: pd.DataFrame, rate: str) -> tuple[list[str], list[str]] | None:
    """(order, best) of the systems by one rate, best first, ties by name; None while a system has none.

    `frame` has the columns system, sr_observed and `rate`, one row a system. Systems without an observed rate, to which
    the relation applied nowhere, are left out.

    >>> frame = pd.DataFrame({"system": ["a", "b"], "sr_observed": [0.8, 0.9], "sr_corrected": [0.7, 0.6]})
    >>> order_where_known(frame, "sr_corrected")
    (['a', 'b'], ['a'])
    """
    rates = _known(frame, rate)
    observed = _known(frame, "sr_observed")
    if not observed or set(observed) - set(rates):
        return None
    return _order(rates), best_of(rates)


def _known(frame: pd.DataFrame, column: str) -> dict[str, float]:
    rates = zip(frame["system"], frame[column], strict=True)
    return {str(system): float(rate) for system, rate in rates if not pd.isna(rate)}


def _order(rates: dict[str, float]) -> list[str]:
    # Rounding first lets tied systems fall back on their names.
    return sorted(rates, key=lambda system: (-round(rates[system], 12), system))


def best_of(rates: Mapping[Name, float]) -> list[Name]:
    """Whoever has the highest rate, in order; all that are tied.

    >>> best_of({"b": 0.5, "a": 0.5, "c": 0.4})
    ['a', 'b']
    """
    top = max(rates.values(), default=0.0)
    return sorted(name for name, rate in rates.items() if top - rate <= TIED)


def _sign(difference: float) -> int:
    return 0 if abs(difference) <= TIED else 1 if difference > 0 else -1
