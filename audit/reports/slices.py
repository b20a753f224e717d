"""Rates by slices of the sources, who is best in each, and the slices in which relations are broken most.

A slice is the report over the groups of its sources: the same functions over filtered frames. The judged groups of a
cell that belong to a slice are a random sample of the slice's satisfied groups, given how many there are. Source:
Cochran, Sampling Techniques (1977), section 2.13, for subpopulations.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, cast

import numpy as np
import pandas as pd

from audit.corpora.slices import GOLD
from audit.false_satisfaction.groups import Shared
from audit.false_satisfaction.slices import Sliced, StudySlices
from audit.messages import message
from audit.reports.certainty import COMPARES, certainty, roll_up, with_worth
from audit.reports.document import (
    Bounds,
    GenuineRates,
    SliceRate,
    SlicesEntry,
    SliceStanding,
    SliceTest,
    SliceTestsEntry,
    UntestedSlice,
    ViolationTable,
    plain,
    unknown,
)
from audit.reports.violations import VR_BOUNDS
from audit.statistics.comparison import ENOUGH_FOR_P_BEST, Common, holm, pooled_difference
from audit.statistics.intervals import Target, clustered_rate
from audit.statistics.orders import TIED
from audit.statistics.rates import BOUNDS, with_bounds, with_rates
from audit.statistics.slices import (
    LEAST_CLUSTERS,
    DomainRate,
    JudgedGroups,
    discovery_rates,
    enough,
    excess,
    genuine_rate,
    observed_rate,
)

LEVEL = 0.05
"""The false discovery rate up to which slices are found."""
COVERED = 0.8
"""The share of a slice's common groups under relations whose systems are compared, for an order of systems."""


@dataclass(frozen=True)
class How:
    """How a report is computed: as the arguments of `audit.reports.build.build_report`. `compares` are the studies with
    samples for comparisons only."""

    target: Target
    delta: float = 0.0
    confidence: float = 0.95
    compares: tuple[int, ...] = ()


@dataclass(frozen=True)
class Frames:
    """The groups of a study, or of a slice of it: judged, checked, and drawn ones of cells that have bounds only, as in
    `audit.reports.build.Groups`."""

    judged: pd.DataFrame
    checked: pd.DataFrame
    drawn: pd.DataFrame

    def of_study(self, study: int) -> "Frames":
        """Those of this study."""
        return Frames(*(frame[frame["study"] == study] for frame in (self.judged, self.checked, self.drawn)))

    def by_slice(self, slices: StudySlices) -> "list[Frames]":
        """Those of each slice of a study, by its code; what is in none last."""
        frames = (self.judged, self.checked, self.drawn)
        codes = [slices.of(frame["source"].to_numpy()) for frame in frames]
        return [
            Frames(*(frame[code == at] for frame, code in zip(frames, codes, strict=True)))
            for at in range(len(slices.names) + 1)
        ]


def slice_entries(
    tables: Sequence[ViolationTable], sliced: Sliced, frames: Frames, shared: Sequence[Shared], how: How
) -> list[SlicesEntry]:
    """One entry a table of `violations` and slicing: rates of every slice and system, and who is best in each slice.

    `rates` has one for each (slice, system) over all relations (`relation` None), put together as roll-ups are, then
    one for each relation. SR_o and VR_o are known for the corpus; the interval of VR_o is for the texts it was drawn
    from, clustered by source and document. A study that the property says nothing of has no rates and a reason.
    `p_holm` of the standings is over all slices of all entries.
    """
    entries = []
    for table in tables:
        study = cast(int, table["study"])
        of_study = frames.of_study(study)
        commons = [one.common for one in shared if one.study == study]
        for by, studies in sliced.by.items():
            entry, slices = _new_entry(table, by), studies[study]
            entries.append(entry)
            if not slices.names:
                entry["reason"] = message("slices.none_gold" if by == GOLD else "slices.none_of", property=by)
                continue
            _fill(entry, slices, of_study, how)
            _fill_standings(entry, slices, commons, how)
    _adjust(entries, 1 - how.confidence)
    return entries


def _new_entry(table: ViolationTable, by: str) -> SlicesEntry:
    return {
        "task": table["task"],
        "study": table["study"],
        "corpus": table["corpus"],
        "by": by,
        "slices": [],
        "empty": [],
        "unsliced": 0,
        "systems": table["systems"],
        "relations": [row["name"] for row in table["rows"] if row["by"] == "relation"],
        "best_observed": [],
        "best_genuine": None,
        "rates": [],
        "standings": [],
        "reason": None,
    }


def _fill(entry: SlicesEntry, slices: StudySlices, frames: Frames, how: How) -> None:
    """The rates of an entry, and its slices: those that have groups, in their order, what is in none last."""
    entry["unsliced"] = int((slices.code == len(slices.names)).sum())
    together: list[SliceRate] = []
    by_relation: list[SliceRate] = []
    for name, part in zip((*slices.names, None), frames.by_slice(slices), strict=True):
        if part.checked.empty:
            entry["empty"] += [] if name is None else [name]
            continue
        entry["slices"].append(name)
        over, under = _of_slice(entry, name, part, how)
        together += over
        by_relation += under
    entry["rates"] = together + by_relation


def _of_slice(
    entry: SlicesEntry, name: str | None, frames: Frames, how: How
) -> tuple[list[SliceRate], list[SliceRate]]:
    """The rates of one slice: over relations, and under each."""
    cells = _cells(entry, frames)
    if how.target == "population":
        cells = with_worth(cells, frames.judged, frames.checked, how.confidence, frames.drawn)
    cells = with_bounds(with_rates(cells, how.confidence, how.target), how.confidence, how.target)
    sure = certainty(cells, frames.judged, frames.checked, how.target, how.confidence, frames.drawn)
    groups = dict(iter(frames.checked.groupby(["relation", "system"], observed=True)))
    over, under = [], []
    for system in entry["systems"]:
        places = np.flatnonzero((cells["system"] == system).to_numpy()).tolist()
        if not places:
            continue
        together = roll_up(cells, sure, places)
        relations = cells["relation"].iloc[places].tolist()
        own = [groups[relation, system] for relation in relations]
        over.append(_rate(name, None, cells.iloc[places], own, {**together}, len(together["missing"])))
        for place, relation, checked in zip(places, relations, own, strict=True):
            row = cells.iloc[place]
            numbers = {key: plain(row[key]) for key in (*GenuineRates.__annotations__, *Bounds.__annotations__)}
            under.append(_rate(name, relation, cells.iloc[[place]], [checked], numbers, None))
    if entry["study"] in how.compares:
        for rates in (*over, *under):
            rates["reason"] = COMPARES if rates["reason"] else None
    return over, under


def _cells(entry: SlicesEntry, frames: Frames) -> pd.DataFrame:
    """The cells of a slice that have groups there, with their counts, in the entry's order of systems and relations."""
    counts: dict[str, Any] = {}
    for names, frame, columns in (
        (("groups", "satisfied"), frames.checked, ("satisfied",)),
        (("judged", "false"), frames.judged, ("false",)),
        (("drawn", "drawn_false", "drawn_open"), frames.drawn, ("false", "open")),
    ):
        held = frame.astype({"relation": object, "system": object}).groupby(["relation", "system"])
        counted = [held.size(), *(held[column].sum() for column in columns)]
        counts |= dict(zip(names, counted, strict=True))
    cells = pd.DataFrame(counts)
    cells = cells[cells["groups"] > 0].fillna(0).astype(int).rename_axis(["relation", "system"]).reset_index()
    order = {name: at for at, name in enumerate(entry["relations"])}
    systems = {name: at for at, name in enumerate(entry["systems"])}
    cells = cells.iloc[np.lexsort((cells["relation"].map(order), cells["system"].map(systems)))]
    cells = cells.reset_index(drop=True).assign(study=entry["study"], task=entry["task"])
    drawn = cells["drawn"].where(cells["judged"] == 0, cells["judged"])
    return cells.assign(violated=cells["groups"] - cells["satisfied"], drawn=drawn)


def _rate(
    name: str | None,
    relation: str | None,
    cells: pd.DataFrame,
    checked: Sequence[pd.DataFrame],
    rates: dict[str, object],
    missing: int | None,
) -> SliceRate:
    """One entry of `rates`, from R_FS and SR_g of its cells; `missing` relations of several have no judged group."""
    satisfied, cluster, source = (
        np.concatenate([part[column].to_numpy() for part in checked]) for column in ("satisfied", "cluster", "source")
    )
    code = pd.factorize(cluster)[0]
    observed = clustered_rate(np.bincount(code, weights=1 - satisfied).astype(int), np.bincount(code))
    held = {key: cast("float | None", rates[key]) for key in (*GenuineRates.__annotations__, *Bounds.__annotations__)}
    counts = {key: int(cells[key].sum()) for key in ("violated", "judged", "false")}
    reason = None
    if held["sr_genuine"] is None and held["sr_least"] is None:
        some = message("slices.some_not_judged", count=missing or 1, whole=len(cells))
        reason = message("slices.not_judged") if missing is None else some
    elif held["sr_genuine"] is None:
        reason = message("slices.bounds_only")

    def other(key: str) -> float | None:
        return None if held[key] is None else 1 - cast(float, held[key])

    genuine = other("sr_genuine")
    bounds = dict(zip(VR_BOUNDS, map(other, (BOUNDS[5], BOUNDS[4], BOUNDS[7], BOUNDS[6])), strict=True))
    entry = {
        "slice": name,
        "relation": relation,
        "system": str(cells["system"].iloc[0]),
        "sources": len(pd.unique(source)),
        "groups": observed.size,
        **counts,
        **held,
        "vr_observed": observed.rate,
        "vr_observed_low": observed.low,
        "vr_observed_high": observed.high,
        # Rounding must not let VR_g fall below VR_o where nothing is false.
        "vr_genuine": None if genuine is None else max(genuine, cast(float, observed.rate)),
        "vr_genuine_low": other("sr_genuine_high"),
        "vr_genuine_high": other("sr_genuine_low"),
        **bounds,
        "reason": reason,
    }
    return cast(SliceRate, entry)


# Who is best in each slice, over the groups there that apply to all systems.


def _fill_standings(entry: SlicesEntry, slices: StudySlices, commons: Sequence[Common], how: How) -> None:
    """Who is best over all sources, and the standings of the entry, before they are adjusted for each other."""
    complete = [common for common in commons if set(entry["systems"]) == set(common.systems)]
    observed, genuine, _ = _pooled_rates(complete, entry["systems"])
    entry["best_observed"] = _best(observed)
    entry["best_genuine"] = _best(genuine) or None
    for name in entry["slices"]:
        code = len(slices.names) if name is None else slices.names.index(name)
        inside = [common.within(partial(_is_in, slices, code)) for common in complete]
        entry["standings"].append(_standing(entry, name, inside, how))


def _is_in(slices: StudySlices, code: int, source: np.ndarray) -> np.ndarray:
    return np.asarray(slices.of(source) == code)


def _standing(entry: SlicesEntry, name: str | None, commons: Sequence[Common], how: How) -> SliceStanding:
    observed, genuine, used = _pooled_rates(commons, entry["systems"])
    standing: SliceStanding = {
        **unknown(SliceStanding),
        "slice": name,
        "groups": int(sum(common.groups.max() for common in commons)),
        "order_observed": _order(observed),
        "relations": len(used),
        "sure": False,
    }
    if len(entry["systems"]) < 2:
        return standing | {"reason": message("slices.one_system")}
    if observed:
        standing["best_differs_observed"] = not set(_best(observed)) & set(entry["best_observed"])
    whole = entry["best_genuine"]
    if not genuine or not whole:
        return standing | {"reason": message("slices.too_few_judged")}
    standing["order_genuine"], best = _order(genuine), _best(genuine)
    standing["best_differs"] = not set(best) & set(whole)
    if not standing["best_differs"]:
        return standing
    # Where several are best over all, the rival has to be better than the one that stands highest here.
    incumbent = max(whole, key=genuine.__getitem__)
    pooled = pooled_difference(used, (best[0], incumbent), how.target, how.confidence, how.delta)
    # It was chosen among all others.
    p = None if pooled.p is None else min(1.0, pooled.p * (len(entry["systems"]) - 1))
    exact = pooled.p is None and pooled.difference is not None and pooled.difference > how.delta + TIED
    return standing | {
        "rival": best[0],
        "difference": pooled.difference,
        "low": pooled.low,
        "high": pooled.high,
        "p": p,
        "sure": exact,
        "reason": pooled.reason,
    }


def _pooled_rates(
    commons: Sequence[Common], systems: Sequence[str]
) -> tuple[dict[str, float], dict[str, float], list[Common]]:
    """SR_o and SR_g (up to a constant) of the systems over relations, each weighed by its groups; the latter over the
    relations under which answers compare all of them, which come third: none where these are few (`COVERED`), or have
    fewer than `ENOUGH_FOR_P_BEST` judged groups together while there are more."""
    filled = [common for common in commons if not np.isnan(common.sr_observed).any()]
    used = [common for common in filled if not np.isnan(common.sr_relative).any()]
    sizes = [sum(common.most_shared for common in of) for of in (used, filled)]
    judged = sum(common.judged_groups for common in used)
    few = judged < ENOUGH_FOR_P_BEST and sum(common.deciding for common in filled) > judged
    if sizes[0] < COVERED * sizes[1] or few:
        used = []

    def mean(of: Sequence[Common], name: str) -> dict[str, float]:
        total = sum(common.most_shared for common in of)
        sums = dict.fromkeys(systems, 0.0)
        for common in of:
            for system, rate in zip(common.systems, getattr(common, name), strict=True):
                sums[system] += float(rate) * common.most_shared / total
        return sums if of else {}

    return mean(filled, "sr_observed"), mean(used, "sr_relative"), used


def _order(rates: dict[str, float]) -> list[str]:
    return sorted(rates, key=lambda system: (-rates[system], system))


def _best(rates: dict[str, float]) -> list[str]:
    """All that nobody is above."""
    return [system for system in _order(rates) if max(rates.values()) - rates[system] <= TIED]


def _adjust(entries: Sequence[SlicesEntry], level: float) -> None:
    """Adjust the standings' p for all slices of the report (Holm): those whose best is that of the whole have p = 1."""
    known = [standing for entry in entries for standing in entry["standings"] if standing["best_differs"] is not None]
    values = [1.0 if standing["p"] is None else standing["p"] for standing in known]
    for standing, p in zip(known, holm(values), strict=True):
        if standing["p"] is not None:
            standing["p_holm"], standing["sure"] = p, p <= level


# The slices in which relations are broken more often than in the rest.


def slice_tests(entries: Sequence[SlicesEntry], sliced: Sliced, frames: Frames, how: How) -> SliceTestsEntry:
    """Each slice of each system tested against the rest of its study's sources, for VR_o and for VR_g.

    Each kind of rate is one family of hypotheses over the whole report, with q-values that hold however the slices
    overlap (`audit.statistics.slices`). Tests are about texts to come, so there are none where the target is the
    corpus. The worst come first.
    """
    result: SliceTestsEntry = {"level": LEVEL, "least": LEAST_CLUSTERS, "tests": [], "untested": [], "reason": None}
    if how.target != "population":
        return result | {"reason": message("slices.tests_need_population")}
    for entry in entries:
        if entry["reason"]:
            continue
        study = cast(int, entry["study"])
        slices, of_study = sliced.by[entry["by"]][study], frames.of_study(study)
        for name, system, pairs in _pairs(entry, slices, of_study, how.confidence):
            for rate, (first, rest) in zip(("observed", "genuine"), pairs, strict=True):
                if first is None or rest is None or not enough(first, rest):
                    _untested(result["untested"], study, entry["by"], rate, name, system)
                    continue
                found = excess(first, rest, how.confidence)
                test: SliceTest = {
                    "study": study,
                    "task": entry["task"],
                    "corpus": entry["corpus"],
                    "by": entry["by"],
                    "slice": name,
                    "system": system,
                    "rate": rate,
                    "groups": first.groups,
                    "clusters": first.clusters,
                    "judged": first.judged,
                    "inside": first.rate,
                    "outside": rest.rate,
                    "difference": found.difference,
                    "low": found.low,
                    "high": found.high,
                    "p": found.p,
                    "q": 1.0,
                    "found": False,
                }
                result["tests"].append(test)
    for rate in ("observed", "genuine"):
        of_rate = [test for test in result["tests"] if test["rate"] == rate]
        for test, q in zip(of_rate, discovery_rates([test["p"] for test in of_rate]), strict=True):
            test |= {"q": q, "found": q <= LEVEL}
    result["tests"].sort(key=lambda test: (test["rate"] == "observed", not test["found"], -test["difference"]))
    return result


def _untested(untested: list[UntestedSlice], study: int, by: str, rate: str, name: str, system: str) -> None:
    key = {"study": study, "by": by, "slice": name, "rate": rate}
    same = next((one for one in untested if {part: one.get(part) for part in key} == key), None)
    if same is None:
        untested.append({"study": study, "by": by, "slice": name, "rate": rate, "systems": [system]})
    else:
        same["systems"].append(system)


Rates = tuple[DomainRate | None, DomainRate | None]
"""VR of a slice and of the rest."""


def _pairs(
    entry: SlicesEntry, slices: StudySlices, frames: Frames, confidence: float
) -> Iterator[tuple[str, str, tuple[Rates, Rates]]]:
    """Every slice and system that has groups there, with VR_o and VR_g; what is in no slice is of the rest. None where
    there is no rest."""
    parts = [frame[frame["system"].isin(entry["systems"])] for frame in (frames.checked, frames.judged)]
    clusters = {name: at for at, name in enumerate(pd.unique(pd.concat([part["cluster"] for part in parts])))}
    relations = {name: at for at, name in enumerate(entry["relations"])}
    for system in entry["systems"]:
        checked, judged = (part[part["system"] == system] for part in parts)
        codes = [slices.of(part["source"].to_numpy()) for part in (checked, judged)]
        for at, name in enumerate(slices.names):
            inside = codes[0] == at
            if not inside.any() or inside.all():
                continue
            first, rest = (
                _domain(checked[codes[0] == at] if same else checked[codes[0] != at],
                        judged[codes[1] == at] if same else judged[codes[1] != at], clusters, relations, confidence)
                for same in (True, False)
            )  # fmt: skip
            yield name, system, ((first[0], rest[0]), (first[1], rest[1]))


def _domain(
    checked: pd.DataFrame,
    judged: pd.DataFrame,
    clusters: dict[int, int],
    relations: dict[str, int],
    confidence: float,
) -> Rates:
    """VR_o and VR_g of some sources of a system."""
    cluster, relation = checked["cluster"].map(clusters).to_numpy(int), checked["relation"].map(relations).to_numpy(int)
    violated = checked["satisfied"].to_numpy() == 0
    size = np.bincount(cluster, minlength=len(clusters))
    observed = observed_rate(np.bincount(cluster[violated], minlength=len(clusters)), size, confidence)
    if observed is None:
        return None, None
    of_judged = JudgedGroups(
        judged["cluster"].map(clusters).to_numpy(int),
        judged["relation"].map(relations).to_numpy(int),
        judged["false"].to_numpy(float),
    )
    return observed, genuine_rate(cluster, relation, violated, of_judged, observed, confidence)
