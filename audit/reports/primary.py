"""The primary comparison of a report: named before the first answer, tested by itself, before all the others.

The comparison that was named is tested at the full level; all others, adjusted among themselves, count as far as it is
rejected first (serial gatekeeping). Whatever is true, it and a family of others (all pairs, or all rivals of the best)
together call something sure that is not in at most 5 % of cases: if the first hypothesis is true, nothing passes the
gate but by a mistake about it, and if it is false, Holm's adjustment of the rest has the full level. Source:
Westfall and Krishen, Journal of Statistical Planning and Inference 99 (2001); Dmitrienko, Offen and Westfall,
Statistics in Medicine 22 (2003).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

import pandas as pd
from sqlalchemy import Engine

from audit.statistics.comparison import Common, Pooled, holm, pooled_difference
from audit.statistics.intervals import Target
from audit.statistics.orders import TIED
from audit.studies.deviations import Naming, namings, valid_naming

Shared = Mapping[tuple[str, object, str], Common | None]
"""The common groups of each relation, by (task, study, relation)."""


@dataclass(frozen=True)
class Named:
    """What a study's log says of its primary comparison, by names as the report has them.

    `tested` says whether it was named before the first answer; `later` are (system, other, relation, naming) of what
    was named after the one that counts.
    """

    study: int
    task: str
    system: str
    other: str
    relation: str | None
    naming: Naming
    tested: bool
    later: tuple[tuple[str, str, str | None, Naming], ...] = ()


def spelled(one: Named) -> dict[str, Any]:
    """A primary comparison as a signature has it."""
    under = {} if one.relation is None else {"relation": one.relation}
    return {"study": one.study, "system": one.system, "other": one.other} | under


def read_named(engine: Engine, keys: pd.DataFrame) -> list[Named]:
    """The primary comparisons of a report's studies; `keys` has study_id, relation_id, system_id, task, relation and
    system of every cell. What is not in the report, because it was not run, has the name that ids have: `#7`."""
    with engine.connect() as connection:
        found = namings(connection, [int(one) for one in keys["study_id"].unique()])
    named = []
    for study, history in found.items():
        of_study = keys[keys["study_id"] == study]
        systems, relations = (
            dict(zip(of_study[f"{of}_id"], of_study[of], strict=True)) for of in ("system", "relation")
        )

        def names(one: Naming, systems: Any = systems, relations: Any = relations) -> tuple[str, str, str | None]:
            relation = None if one.relation is None else relations.get(one.relation, f"#{one.relation}")
            return systems.get(one.system, f"#{one.system}"), systems.get(one.other, f"#{one.other}"), relation

        first = valid_naming(history)
        held = first or history[-1]
        later = () if first is None else tuple((*names(one), one) for one in history[history.index(held) + 1 :])
        task = str(of_study["task"].iloc[0])
        named.append(Named(int(study), task, *names(held), held, first is not None, later))
    return named


def primary_entries(
    named: Sequence[Named],
    relations: Sequence[Mapping[str, Any]],
    shared: Shared,
    target: Target,
    confidence: float,
    delta: float,
    sequence: bool,
) -> list[dict[str, Any]]:
    """The key `primary` of a report, an entry each, before anything is decided: `decide` fills in `p_holm` and `apart`.

    A comparison under one relation is that relation's pair, over all relations `pooled_difference` of the study.
    """
    return [_entry(one, relations, shared, target, confidence, delta, sequence) for one in named]


def _entry(
    one: Named,
    relations: Sequence[Mapping[str, Any]],
    shared: Shared,
    target: Target,
    confidence: float,
    delta: float,
    sequence: bool,
) -> dict[str, Any]:
    if one.relation is None:
        commons = [common for (_, study, _), common in shared.items() if study == one.study and common is not None]
        found = pooled_difference(commons, (one.system, one.other), target, confidence, delta, sequence)
    else:
        found = _pair(one, relations)
    entry = {name: getattr(one, name) for name in ("study", "task", "system", "other", "relation", "tested")}
    entry |= {"named_at": _time(one.naming.at), "answers_before": one.naming.answers}
    entry |= {name: getattr(found, name) for name in Pooled.__slots__}
    return entry | {
        "p_holm": None,
        "apart": False,
        "later": [
            {"system": system, "other": other, "relation": relation, "named_at": _time(naming.at)}
            | {"answers_before": naming.answers}
            for system, other, relation, naming in one.later
        ],
    }


def _pair(one: Named, relations: Sequence[Mapping[str, Any]]) -> Pooled:
    """The pair of a relation as `Pooled`, its sign that of the comparison that was named."""
    relation = next((of for of in relations if (of["study"], of["relation"]) == (one.study, one.relation)), None)
    pair = None if relation is None else pair_of(relation, one.system, one.other)
    if relation is None or pair is None:
        return Pooled(None, None, None, None, 0, 0, 0, 0, 0, "the relation has no such pair of systems")
    sizes = (pair["groups"], pair["informative"], pair["judged"])
    reason = relation["common"]["reason"] if relation["common"] else None
    if reason or pair["difference"] is None:
        return Pooled(None, None, None, None, 0, 1, *sizes, reason or pair["reason"])
    found = Pooled(pair["difference"], pair["low"], pair["high"], pair["p"], 1, 1, *sizes)
    if pair["system"] == one.system:
        return found
    return replace(found, difference=-pair["difference"], low=-pair["high"], high=-pair["low"])


def pair_of(relation: Mapping[str, Any], system: str, other: str) -> dict[str, Any] | None:
    """The entry of `pairs` that has these two systems, in whatever order."""
    return next((pair for pair in relation["pairs"] if {pair["system"], pair["other"]} == {system, other}), None)


def settle_primary(
    entries: Sequence[dict[str, Any]], relations: Sequence[Mapping[str, Any]], delta: float, confidence: float
) -> tuple[float, list[dict[str, Any]]]:
    """Fill in `p_holm` and `apart` of the comparisons that are tested by themselves, here and in their pairs.

    Returns the gate, below which no adjusted p of another hypothesis can be, and the pairs that are settled. Of several
    studies' comparisons each is adjusted over them, and all have to be rejected. One that is known without error is no
    hypothesis; one that cannot be tested yet keeps the gate shut.

    >>> found = dict.fromkeys(("difference", "p", "relation"), None) | {"tested": True}
    >>> settle_primary([], [], 0.0, 0.95)[0], settle_primary([found], [], 0.0, 0.95)[0]
    (0.0, 1.0)
    >>> entry = found | {"difference": 0.1, "p": 0.03}
    >>> settle_primary([entry], [], 0.0, 0.95)[0], entry["p_holm"], entry["apart"]
    (0.03, 0.03, True)
    """
    first = [one for one in entries if one["tested"]]
    tested = [one for one in first if one["p"] is not None]
    gate = 0.0
    for one, p in zip(tested, holm([one["p"] for one in tested]), strict=True):
        one |= {"p_holm": p, "apart": p <= 1 - confidence}
        gate = max(gate, p)
    settled = []
    for one in first:
        if one["p"] is None and one["difference"] is None:
            gate = 1.0
        elif one["p"] is None:
            one["apart"] = bool(abs(one["difference"]) > delta + TIED)
        for relation in relations if one["relation"] is not None else ():
            if (relation["study"], relation["relation"]) == (one["study"], one["relation"]):
                pair = pair_of(relation, one["system"], one["other"])
                if pair is not None and pair["p"] is not None and one["p"] is not None:
                    pair |= {"p_holm": one["p_holm"], "apart": one["apart"]}
                    settled.append(pair)
    return gate, settled


def _time(moment: datetime) -> str:
    return moment.isoformat(timespec="seconds")
