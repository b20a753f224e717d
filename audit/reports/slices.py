"""Rates by slices of the sources: the report over each slice's groups, and which slices are worse than the rest."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

import numpy as np
from scipy.stats import norm

from audit.corpora.slices import GOLD
from audit.false_satisfaction.slices import Sliced, StudySlices
from audit.messages import message
from audit.reports.build import Basis, rate_keys
from audit.reports.document import (
    Entry,
    SliceRate,
    SliceStanding,
    SliceTest,
    ViolationTable,
    unknown,
)
from audit.reports.standings import pair_entry
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
    entries = []
    for table in tables:
        for by, studies in sliced.by.items():
            slices = studies[int(str(table["study"]))]
            entry: Entry = {
                "task": table["task"],
                "study": table["study"],
                "corpus": table["corpus"],
                "by": by,
                "slices": [],
                "empty": [],
                "unsliced": int((slices.code == len(slices.names)).sum()),
                "systems": table["systems"],
                "relations": [row["name"] for row in table["rows"] if row["by"] == "relation"],
                "best_observed": [],
                "best_genuine": None,
                "rates": [],
                "standings": [],
                "reason": None,
            }
            entries.append(entry)
            if slices.names:
                _fill(entry, slices, basis, sources)
            else:
                entry["reason"] = message("slices.none_gold" if by == GOLD else "slices.none_of", property=by)
    _adjust(entries, 1 - basis.confidence)
    return entries


def _fill(entry: Entry, slices: StudySlices, basis: Basis, sources: np.ndarray) -> None:
    whole = _pooled(entry, basis)
    entry["best_observed"], entry["best_genuine"] = best_of(whole[0]), best_of(whole[1]) if whole[1] else None
    together: list[SliceRate] = []
    by_relation: list[SliceRate] = []
    for name, keep in _parts(entry, slices, sources):
        part = within(basis, keep)
        if not _cells(entry, part, entry["relations"], entry["systems"]):
            entry["empty"] += [] if name is None else [name]
            continue
        entry["slices"].append(name)
        for system in entry["systems"]:
            together += _rate(entry, name, None, system, part, entry["relations"])
            for relation in entry["relations"]:
                by_relation += _rate(entry, name, relation, system, part, [relation])
        entry["standings"].append(_standing(entry, name, part, slices, keep))
    entry["rates"] = together + by_relation


def _parts(entry: Entry, slices: StudySlices, sources: np.ndarray) -> Iterator[tuple[str | None, np.ndarray]]:
    """Each slice and the sources (bool, by their codes) that are in it; what is in none last."""
    known = np.isin(sources, slices.sources)
    code = np.full(len(sources), -1)
    code[known] = slices.of(sources[known])
    for at, name in enumerate((*slices.names, None)):
        yield name, code == at


def within(basis: Basis, keep: np.ndarray) -> Basis:
    """Return the basis of the groups of these sources (bool, by their codes) alone."""
    judged, checked = where(basis.judged, keep[basis.judged.source]), where(basis.checked, keep[basis.checked.source])
    return replace(basis, judged=judged, checked=checked, _of_cells={})


def _cells(entry: Entry, part: Basis, relations: Sequence[str], systems: Sequence[str]) -> list[int]:
    """The cells of these relations and systems that have groups in a slice."""
    keys = [(entry["study"], relation, system) for relation in relations for system in systems]
    occupied = set(np.unique(part.checked.cell).tolist())
    return [place for key in keys if (place := part.places.get(key)) in occupied and place is not None]


_ENDS = {"": "value", "_low": "low", "_high": "high"}


def _rate(
    entry: Entry, name: str | None, relation: str | None, system: str, part: Basis, relations: Sequence[str]
) -> list[SliceRate]:
    """The rates of a system in a slice, over these relations together; none where it has no groups there."""
    cells = _cells(entry, part, relations, [system])
    if not cells:
        return []
    rates = part.rates(cells)
    checked = where(part.checked, np.isin(part.checked.cell, cells))
    judged = where(part.judged, np.isin(part.judged.cell, cells))
    held = rate_keys(rates)
    reason = None
    if held["sr_genuine"] is None:
        lacking = len(cells) - len(np.intersect1d(np.unique(judged.cell), cells))
        some = message("slices.some_not_judged", count=lacking or 1, whole=len(cells))
        reason = message("slices.not_judged") if relation is not None else some
        reason = message("slices.bounds_only") if held["sr_least"] is not None else reason
    observed, genuine = (None if rate is None else rate.less() for rate in (rates.observed, rates.genuine))
    row: dict[str, Any] = {
        "slice": name,
        "relation": relation,
        "system": system,
        "sources": len(np.unique(checked.source)),
        "groups": len(checked.cell),
        "violated": int((checked.satisfied == 0).sum()),
        "judged": len(judged.cell),
        "false": int(judged.false.sum()),
        **held,
        **{f"vr_observed{end}": getattr(observed, key, None) for end, key in _ENDS.items()},
        **{f"vr_genuine{end}": getattr(genuine, key, None) for end, key in _ENDS.items()},
        "vr_least": genuine and genuine.least,
        "vr_most": genuine and genuine.most,
        "reason": reason,
    }
    return [cast(SliceRate, row)]


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
    used = [
        relation
        for relation, by_system in rates.items()
        if all(one.genuine is not None and one.genuine.value is not None for one in by_system.values())
    ]
    means: list[dict[str, float]] = []
    for names, kind in ((list(rates), "observed"), (used, "genuine")):
        total = sum(size[name] for name in names)
        means.append(
            {
                system: sum(size[name] / total * getattr(rates[name][system], kind).value for name in names)
                for system in (entry["systems"] if names else ())
            }
        )
    return means[0], means[1], used


def _standing(entry: Entry, name: str | None, part: Basis, slices: StudySlices, keep: np.ndarray) -> SliceStanding:
    observed, genuine, used = _pooled(entry, part)
    standing: SliceStanding = {
        **unknown(SliceStanding),
        "slice": name,
        "groups": len(np.unique(part.checked.source)),
        "order_observed": sorted(observed, key=lambda system: (-observed[system], system)),
        "relations": len(used),
        "sure": False,
    }
    if len(entry["systems"]) < 2:
        return standing | {"reason": message("slices.one_system")}
    if observed:
        standing["best_differs_observed"] = not set(best_of(observed)) & set(entry["best_observed"])
    whole, comparison = entry["best_genuine"], part.comparisons.get(entry["study"])
    if not genuine or not whole or comparison is None:
        return standing | {"reason": message("slices.too_few_judged")}
    standing["order_genuine"] = sorted(genuine, key=lambda system: (-genuine[system], system))
    best = best_of(genuine)
    standing["best_differs"] = not set(best) & set(whole)
    if not standing["best_differs"]:
        return standing
    # Where several are best over all, the rival has to be better than the one that stands highest here.
    incumbent = max(whole, key=genuine.__getitem__)
    of_study = np.isin(slices.sources, slices.sources[_inside(slices, name)])
    inside = comparison.among(of_study)
    sizes = {relation: float(len(inside.groups[relation].source)) for relation in used}
    weights = {relation: size / sum(sizes.values()) for relation, size in sizes.items() if size}
    stand = inside.standing(weights, (best[0], incumbent), part.target, part.delta)
    pair = pair_entry(inside, weights, (best[0], incumbent), stand.ahead[0, 1], stand.error[0, 1], part)
    # It was chosen among all others.
    p = None if pair["p_above"] is None else min(1.0, pair["p_above"] * (len(entry["systems"]) - 1))
    exact = p is None and pair["difference"] is not None and pair["difference"] > part.delta + TIED
    ends = {key: pair[key] for key in ("difference", "low", "high", "reason")}
    return cast(SliceStanding, {**standing, "rival": best[0], "p": p, "sure": exact, **ends})


def _inside(slices: StudySlices, name: str | None) -> np.ndarray:
    code = len(slices.names) if name is None else slices.names.index(name)
    return np.asarray(slices.code == code)


def _adjust(entries: Sequence[Entry], level: float) -> None:
    """Adjust the standings' p for all slices of the report (Holm): those whose best is that of the whole have p = 1."""
    known = [standing for entry in entries for standing in entry["standings"] if standing["best_differs"] is not None]
    values = [1.0 if standing["p"] is None else standing["p"] for standing in known]
    for standing, p in zip(known, holm(values), strict=True):
        if standing["p"] is not None:
            standing["p_holm"], standing["sure"] = p, p <= level


# The slices in which relations are violated more often than in the rest.


def slice_tests(entries: Sequence[Entry], sliced: Sliced, basis: Basis, sources: np.ndarray) -> Entry:
    """Return each slice of each system tested against the rest of its study's sources, for VR_o and for VR_g.

    Each kind of rate is one family of hypotheses over the whole report, with q-values that hold however the slices
    overlap. Tests are about texts to come, so there are none where the target is the corpus. The worst come first.
    """
    result: Entry = {"level": LEVEL, "least": LEAST_CLUSTERS, "tests": [], "untested": [], "reason": None}
    if basis.target != "population":
        return result | {"reason": message("slices.tests_need_population")}
    for entry in entries:
        if entry["reason"]:
            continue
        slices = sliced.by[entry["by"]][entry["study"]]
        for name, keep in _parts(entry, slices, sources):
            if name in entry["slices"] and name is not None:
                _test(result, entry, name, within(basis, keep), within(basis, ~keep))
    for rate in ("observed", "genuine"):
        of_rate = [test for test in result["tests"] if test["rate"] == rate]
        for test, q in zip(of_rate, discovery_rates([test["p"] for test in of_rate]), strict=True):
            test |= {"q": q, "found": q <= LEVEL}
    result["tests"].sort(key=lambda test: (test["rate"] == "observed", not test["found"], -test["difference"]))
    return result


def _test(result: Entry, entry: Entry, name: str, inside: Basis, outside: Basis) -> None:
    z = float(norm.isf((1 - inside.confidence) / 2))
    for system in entry["systems"]:
        parts = [(part, _cells(entry, part, entry["relations"], [system])) for part in (inside, outside)]
        if not all(cells for _, cells in parts):
            continue
        both = [part.rates(cells) for part, cells in parts]
        checked, judged = (
            [where(groups, np.isin(groups.cell, cells)) for part, cells in parts for groups in (getattr(part, kind),)]
            for kind in ("checked", "judged")
        )
        for kind, groups in (("observed", checked), ("genuine", judged)):
            rates = [getattr(one, kind) for one in both]
            known = [rate.less() for rate in rates if rate is not None and rate.value is not None]
            clusters = [len(np.unique(one.cluster)) for one in groups]
            if len(known) < 2 or min(clusters) < LEAST_CLUSTERS:
                _untested(result["untested"], entry, kind, name, system)
                continue
            ends = [Estimate(rate.value, rate.low, rate.high) for rate in known]
            difference, low, high = difference_of_rates(*ends)
            error = max((difference - low) / z, 1e-12)
            test: SliceTest = {
                "study": entry["study"],
                "task": entry["task"],
                "corpus": entry["corpus"],
                "by": entry["by"],
                "slice": name,
                "system": system,
                "rate": kind,
                "groups": len(checked[0].cell),
                "clusters": clusters[0],
                "judged": len(judged[0].cell) if kind == "genuine" else None,
                "inside": known[0].value,
                "outside": known[1].value,
                "difference": difference,
                "low": low,
                "high": high,
                "p": float(norm.sf(difference / error)),
                "q": 1.0,
                "found": False,
            }
            result["tests"].append(test)


def _untested(untested: list[Entry], entry: Entry, rate: str, name: str, system: str) -> None:
    key: Mapping[str, Any] = {"study": entry["study"], "by": entry["by"], "slice": name, "rate": rate}
    same = next((one for one in untested if {part: one.get(part) for part in key} == key), None)
    if same is None:
        untested.append({**key, "systems": [system]})
    else:
        same["systems"].append(system)
