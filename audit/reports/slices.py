"""Rates by slices of the sources: the report over each slice's groups, and which slices are worse than the rest."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from scipy.stats import norm

from audit.corpora.slices import GOLD
from audit.false_satisfaction.slices import Sliced, StudySlices
from audit.messages import message
from audit.reports.basis import Basis
from audit.reports.build import genuine_rates
from audit.reports.document import Entry, SliceRate, SliceStanding, SliceTest, ViolationTable, estimated, less
from audit.reports.standings import compared_pair
from audit.statistics.intervals import Estimate, difference_of_rates
from audit.statistics.orders import TIED, best_of, discovery_rates, holm
from audit.statistics.rates import Rates, where

LEVEL = 0.05
"""The false discovery rate up to which slices are found."""
LEAST_CLUSTERS = 20
"""Sources, or documents, that a slice and the rest each need for a test, and of which as many have a judged group for
one of genuine rates: fewer tell too little of how groups go together."""


def slice_entries(tables: Sequence[ViolationTable], sliced: Sliced, basis: Basis, sources: np.ndarray) -> list[Entry]:
    """Return an entry for each table of `violations` and slicing: rates of every slice and system, and which is best in
    each slice.

    `sources` are the ids of the sources by their codes in `basis`. `rates` has one for each (slice, system) over all
    relations (`relation` None), then one for each relation. A study that the property says nothing of has no rates and
    a reason. `p_holm` of the standings is over all slices of all entries.
    """
    entries: list[Entry] = []
    for table in tables:
        for by, studies in sliced.by.items():
            slices = studies[int(str(table["study"]))]
            reason = message("slices.none_gold" if by == GOLD else "slices.none_of", property=by)
            entry: Entry = {
                "task": table["task"], "study": table["study"], "corpus": table["corpus"], "by": by, "slices": [],
                "empty": [], "unsliced": int((slices.code == len(slices.names)).sum()), "systems": table["systems"],
                "relations": [row["name"] for row in table["rows"] if row["by"] == "relation"],
                "best_observed": [], "best_genuine": None, "rates": [], "standings": [],
                "reason": None if slices.names else reason,
            }  # fmt: skip
            entries.append(entry)
            if slices.names:
                _fill(entry, slices, basis, sources)
    # Those whose best is that of the whole have p = 1.
    known = [standing for entry in entries for standing in entry["standings"] if standing["best_differs"] is not None]
    adjusted = holm([1.0 if standing["p"] is None else standing["p"] for standing in known])
    for standing, p in zip(known, adjusted, strict=True):
        if standing["p"] is not None:
            standing |= {"p_holm": p, "sure": p <= 1 - basis.confidence}
    return entries


def _fill(entry: Entry, slices: StudySlices, basis: Basis, sources: np.ndarray) -> None:
    observed, genuine, _ = _pooled(entry, basis)
    entry["best_observed"], entry["best_genuine"] = best_of(observed), best_of(genuine) if genuine else None
    by_relation: list[SliceRate] = []
    for name, keep in _parts(slices, sources):
        part = basis.within(keep)
        if not _cells(entry, part, entry["relations"], entry["systems"]):
            entry["empty"] += [] if name is None else [name]
            continue
        entry["slices"].append(name)
        for system in entry["systems"]:
            entry["rates"] += _rate(entry, name, None, system, part)
            for relation in entry["relations"]:
                by_relation += _rate(entry, name, relation, system, part)
        entry["standings"].append(_standing(entry, name, part, slices))
    entry["rates"] += by_relation


def _parts(slices: StudySlices, sources: np.ndarray) -> Iterator[tuple[str | None, np.ndarray]]:
    """Each slice and the sources (bool, by their codes) that are in it; what is in none last."""
    known = np.isin(sources, slices.sources)
    code = np.full(len(sources), -1)
    code[known] = slices.of(sources[known])
    yield from ((name, code == at) for at, name in enumerate((*slices.names, None)))


def _cells(entry: Entry, part: Basis, relations: Sequence[str], systems: Sequence[str]) -> list[int]:
    """The cells of these relations and systems that have groups in a slice."""
    keys = [(entry["study"], relation, system) for relation in relations for system in systems]
    occupied = set(np.unique(part.checked.cell).tolist())
    return [part.places[key] for key in keys if part.places.get(key) in occupied]


def _rate(entry: Entry, name: str | None, relation: str | None, system: str, part: Basis) -> list[SliceRate]:
    """The rates of a system in a slice, under a relation or over all; none where it has no groups there."""
    cells = _cells(entry, part, entry["relations"] if relation is None else [relation], [system])
    if not cells:
        return []
    rates = part.rates(cells)
    checked = where(part.checked, np.isin(part.checked.cell, cells))
    judged = where(part.judged, np.isin(part.judged.cell, cells))
    reason = None
    if rates.genuine is None or rates.genuine.value is None:
        lacking = len(cells) - len(np.unique(judged.cell))
        some = message("slices.some_not_judged", count=lacking or 1, whole=len(cells))
        reason = some if relation is None else message("slices.not_judged")
        reason = reason if rates.genuine is None else message("slices.bounds_only")
    held = genuine_rates(rates, len(judged.cell), reason)
    return [
        {
            "slice": name, "relation": relation, "system": system, "sources": len(np.unique(checked.source)),
            "groups": len(checked.cell), "violated": int((checked.satisfied == 0).sum()), "judged": len(judged.cell),
            "false": int(judged.false.sum()), **held,
            "vr_observed": estimated(rates.observed and rates.observed.less()), "vr_genuine": less(held["sr_genuine"]),
        }
    ]  # fmt: skip


# Which system is best in each slice.


def _pooled(entry: Entry, part: Basis) -> tuple[dict[str, float], dict[str, float], list[str]]:
    """SR_o and SR_g of the systems over the relations under which all of them have an estimate, each weighed by its
    groups, and these relations."""
    rates: dict[str, dict[str, Rates]] = {}
    size: dict[str, int] = {}
    for relation in entry["relations"]:
        cells = _cells(entry, part, [relation], entry["systems"])
        if len(cells) == len(entry["systems"]):
            rates[relation] = {one: part.rates_of_cell(at) for one, at in zip(entry["systems"], cells, strict=True)}
            size[relation] = int(np.isin(part.checked.cell, cells).sum())

    def mean(names: Sequence[str], kind: str) -> dict[str, float]:
        total = sum(size[name] for name in names)
        return {
            system: sum(size[name] / total * getattr(rates[name][system], kind).value for name in names)
            for system in (entry["systems"] if names else ())
        }

    used = [
        relation
        for relation, by_system in rates.items()
        if all(one.genuine is not None and one.genuine.value is not None for one in by_system.values())
    ]
    return mean(list(rates), "observed"), mean(used, "genuine"), used


def _standing(entry: Entry, name: str | None, part: Basis, slices: StudySlices) -> SliceStanding:
    observed, genuine, used = _pooled(entry, part)
    standing: Any = dict.fromkeys(SliceStanding.__annotations__)
    standing |= {"slice": name, "groups": len(np.unique(part.checked.source)), "relations": len(used), "sure": False}
    standing["order_observed"] = sorted(observed, key=lambda system: (-observed[system], system))
    if len(entry["systems"]) < 2:
        return standing | {"reason": message("slices.one_system")}  # type: ignore[no-any-return]
    if observed:
        standing["best_differs_observed"] = not set(best_of(observed)) & set(entry["best_observed"])
    whole, comparison = entry["best_genuine"], part.comparisons.get(entry["study"])
    if not genuine or not whole or comparison is None:
        return standing | {"reason": message("slices.too_few_judged")}  # type: ignore[no-any-return]
    best = best_of(genuine)
    standing["order_genuine"] = sorted(genuine, key=lambda system: (-genuine[system], system))
    standing["best_differs"] = not set(best) & set(whole)
    if not standing["best_differs"]:
        return standing  # type: ignore[no-any-return]
    # Where several are best over all, the rival has to be better than the one that stands highest here.
    rivals = best[0], max(whole, key=genuine.__getitem__)
    code = len(slices.names) if name is None else slices.names.index(name)
    inside = comparison.among(np.asarray(slices.code == code))
    sizes = {relation: float(len(inside.groups[relation].source)) for relation in used}
    weights = {relation: size / sum(sizes.values()) for relation, size in sizes.items() if size}
    pair = compared_pair(inside, weights, rivals, part, part.delta)
    # It was chosen among all others.
    p = None if pair["p_above"] is None else min(1.0, pair["p_above"] * (len(entry["systems"]) - 1))
    exact = p is None and pair["difference"] is not None and pair["difference"] > part.delta + TIED
    ends = {key: pair[key] for key in ("difference", "low", "high", "reason")}
    return standing | {"rival": best[0], "p": p, "sure": exact, **ends}  # type: ignore[no-any-return]


# The slices in which relations are violated more often than in the rest.


def slice_tests(entries: Sequence[Entry], sliced: Sliced, basis: Basis, sources: np.ndarray) -> Entry:
    """Return each slice of each system tested against the rest of its study's sources, for VR_o and for VR_g.

    Each kind of rate is one family of hypotheses over the whole report, with q-values that hold however the slices
    overlap. Tests are about texts to come, so there are none where the target is the corpus. The worst come first.
    """
    result: Entry = {"level": LEVEL, "least": LEAST_CLUSTERS, "tests": [], "untested": [], "reason": None}
    if basis.target != "population":
        return result | {"reason": message("slices.tests_need_population")}
    untested: dict[tuple[Any, ...], Entry] = {}
    for entry in (entry for entry in entries if not entry["reason"]):
        for name, keep in _parts(sliced.by[entry["by"]][entry["study"]], sources):
            if name is None or name not in entry["slices"]:
                continue
            parts = basis.within(keep), basis.within(~keep)
            for system in entry["systems"]:
                for rate, test in _tests(entry, name, system, *parts):
                    if test is not None:
                        result["tests"].append(test)
                        continue
                    key = {"study": entry["study"], "by": entry["by"], "slice": name, "rate": rate}
                    untested.setdefault(tuple(key.values()), key | {"systems": []})["systems"].append(system)
    result["untested"] = list(untested.values())
    for rate in ("observed", "genuine"):
        of_rate = [test for test in result["tests"] if test["rate"] == rate]
        for test, q in zip(of_rate, discovery_rates([test["p"] for test in of_rate]), strict=True):
            test |= {"q": q, "found": q <= LEVEL}
    result["tests"].sort(key=lambda test: (test["rate"] == "observed", not test["found"], -test["difference"]))
    return result


def _tests(
    entry: Entry, name: str, system: str, inside: Basis, outside: Basis
) -> Iterator[tuple[str, SliceTest | None]]:
    """Yield the test of each kind of rate; None where too little is known for it."""
    z = float(norm.isf((1 - inside.confidence) / 2))
    parts = [(part, _cells(entry, part, entry["relations"], [system])) for part in (inside, outside)]
    if not all(cells for _, cells in parts):
        return
    both = [part.rates(cells) for part, cells in parts]
    checked = [where(part.checked, np.isin(part.checked.cell, cells)) for part, cells in parts]
    judged = [where(part.judged, np.isin(part.judged.cell, cells)) for part, cells in parts]
    for kind, groups in (("observed", checked), ("genuine", judged)):
        rates = [getattr(one, kind) for one in both]
        known = [rate.less() for rate in rates if rate is not None and rate.value is not None]
        clusters = [len(np.unique(one.cluster)) for one in groups]
        if len(known) < 2 or min(clusters) < LEAST_CLUSTERS:
            yield kind, None
            continue
        difference, low, high = difference_of_rates(*(Estimate(rate.value, rate.low, rate.high) for rate in known))
        place: Any = {part: entry[part] for part in ("study", "task", "corpus", "by")}
        yield kind, place | {
            "slice": name, "system": system, "rate": kind, "groups": len(checked[0].cell), "clusters": clusters[0],
            "judged": len(judged[0].cell) if kind == "genuine" else None, "inside": known[0].value,
            "outside": known[1].value, "difference": difference, "low": low, "high": high,
            "p": float(norm.sf(difference / max((difference - low) / z, 1e-12))), "q": 1.0, "found": False,
        }  # fmt: skip
