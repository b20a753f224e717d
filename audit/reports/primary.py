"""The primary comparison of a report: named by a plan that was frozen before the first answer, and tested by itself.

The comparison that was named is tested at the full level; all others, adjusted among themselves, count as far as it is
rejected first (serial gatekeeping). Whatever is true, it and a family of others (all pairs, or all rivals of the best)
together call something sure that is not in at most 5 % of cases: if the first hypothesis is true, nothing passes the
gate but by a mistake about it, and if it is false, Holm's adjustment of the rest has the full level. Source:
Westfall and Krishen, Journal of Statistical Planning and Inference 99 (2001); Dmitrienko, Offen and Westfall,
Statistics in Medicine 22 (2003).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from audit.messages import message
from audit.reports.document import PairEntry, PrimaryEntry, RelationResultEntry
from audit.statistics.comparison import Common, Pooled, holm, pooled_difference
from audit.statistics.intervals import Target
from audit.statistics.orders import TIED
from audit.studies.deviations import primary_named
from audit.studies.versions import PlanAdherence

Shared = Mapping[tuple[str, object, str], Common | None]
"""The common groups of each relation, by (task, study, relation)."""


@dataclass(frozen=True)
class Named:
    """The primary comparison of a study's frozen plan, by names as the report has them.

    It is `tested` where the plan was frozen before the first answer and names the same two ever since.
    """

    study: int
    task: str
    system: str
    other: str
    relation: str | None
    at: datetime
    answers: int
    tested: bool


def named_of(plans: Sequence[PlanAdherence]) -> list[Named]:
    """The primary comparisons that the frozen plans of studies name."""
    named = []
    for standing in plans:
        settings, frozen_at = standing.plan.content.get("report", {}), standing.frozen_at
        primary = primary_named(settings.get("primary"), settings.get("primary_relation"))
        if primary is None or frozen_at is None:
            continue
        changed = any(change.key.startswith("report.primary") for _, change in standing.changed)
        task, answers = str(standing.plan.content["study"]["task"]), standing.before or 0
        names = (primary.system, primary.other, primary.relation)
        named.append(Named(standing.study, task, *names, frozen_at, answers, not answers and not changed))
    return named


def signature_entry(named: Named) -> dict[str, Any]:
    """A primary comparison as a signature has it."""
    under = {} if named.relation is None else {"relation": named.relation}
    return {"study": named.study, "system": named.system, "other": named.other} | under


def primary_entries(
    named: Sequence[Named],
    relations: Sequence[RelationResultEntry],
    shared: Shared,
    target: Target,
    confidence: float,
    delta: float,
) -> list[PrimaryEntry]:
    """The key `primary` of a report, an entry each, before anything is decided: `decide` fills in `p_holm` and `apart`.

    A comparison under one relation is that relation's pair, over all relations `pooled_difference` of the study.
    """
    return [_entry(comparison, relations, shared, target, confidence, delta) for comparison in named]


def _entry(
    named: Named,
    relations: Sequence[RelationResultEntry],
    shared: Shared,
    target: Target,
    confidence: float,
    delta: float,
) -> PrimaryEntry:
    if named.relation is None:
        commons = [common for (_, study, _), common in shared.items() if study == named.study and common is not None]
        difference = pooled_difference(commons, (named.system, named.other), target, confidence, delta)
    else:
        difference = _pair(named, relations)
    return {
        "study": named.study,
        "task": named.task,
        "system": named.system,
        "other": named.other,
        "relation": named.relation,
        "tested": named.tested,
        "named_at": _time(named.at),
        "answers_before": named.answers,
        "difference": difference.difference,
        "low": difference.low,
        "high": difference.high,
        "p": difference.p,
        "relations": difference.relations,
        "compared": difference.compared,
        "groups": difference.groups,
        "informative": difference.informative,
        "judged": difference.judged,
        "reason": difference.reason,
        "p_holm": None,
        "apart": False,
    }


def _pair(named: Named, relations: Sequence[RelationResultEntry]) -> Pooled:
    """The relation's pair as `Pooled`, with the sign of the comparison that was named."""
    relation = next(
        (entry for entry in relations if (entry["study"], entry["relation"]) == (named.study, named.relation)), None
    )
    pair = None if relation is None else pair_of(relation, named.system, named.other)
    if relation is None or pair is None:
        return Pooled(None, None, None, None, 0, 0, 0, 0, 0, message("no_order.no_such_pair"))
    sizes = (pair["groups"], pair["informative"], pair["judged"])
    reason = relation["common"]["reason"] if relation["common"] else None
    difference, low, high = pair["difference"], pair["low"], pair["high"]
    if reason or difference is None or low is None or high is None:
        return Pooled(None, None, None, None, 0, 1, *sizes, reason or pair["reason"])
    if pair["system"] == named.system:
        return Pooled(difference, low, high, pair["p"], 1, 1, *sizes)
    return Pooled(-difference, -high, -low, pair["p"], 1, 1, *sizes)


def pair_of(relation: RelationResultEntry, system: str, other: str) -> PairEntry | None:
    """The entry of `pairs` that has these two systems, in whatever order."""
    return next((pair for pair in relation["pairs"] if {pair["system"], pair["other"]} == {system, other}), None)


def settle_primary(
    entries: Sequence[PrimaryEntry], relations: Sequence[RelationResultEntry], delta: float, confidence: float
) -> tuple[float, list[PairEntry]]:
    """Fill in `p_holm` and `apart` of the comparisons that are tested by themselves, here and in their pairs.

    Returns the gate, below which no adjusted p of another hypothesis can be, and the pairs that are settled. Of several
    studies' comparisons each is adjusted over them, and all have to be rejected. One that is known without error is no
    hypothesis; one that cannot be tested yet keeps the gate shut.

    >>> untested = dict.fromkeys(("difference", "p", "relation"), None) | {"tested": True}
    >>> settle_primary([], [], 0.0, 0.95)[0], settle_primary([untested], [], 0.0, 0.95)[0]
    (0.0, 1.0)
    >>> entry = untested | {"difference": 0.1, "p": 0.03}
    >>> settle_primary([entry], [], 0.0, 0.95)[0], entry["p_holm"], entry["apart"]
    (0.03, 0.03, True)
    """
    first = [entry for entry in entries if entry["tested"]]
    tested = [(entry, entry["p"]) for entry in first if entry["p"] is not None]
    gate = 0.0
    for (entry, _), p in zip(tested, holm([alone for _, alone in tested]), strict=True):
        entry |= {"p_holm": p, "apart": p <= 1 - confidence}
        gate = max(gate, p)
    pairs = []
    for entry in first:
        if entry["p"] is None:
            if entry["difference"] is None:
                gate = 1.0
            else:
                entry["apart"] = bool(abs(entry["difference"]) > delta + TIED)
        for relation in relations if entry["relation"] is not None else ():
            if (relation["study"], relation["relation"]) == (entry["study"], entry["relation"]):
                pair = pair_of(relation, entry["system"], entry["other"])
                if pair is not None and pair["p"] is not None and entry["p"] is not None:
                    pair |= {"p_holm": entry["p_holm"], "apart": entry["apart"]}
                    pairs.append(pair)
    return gate, pairs


def _time(moment: datetime) -> str:
    return moment.isoformat(timespec="seconds")
