"""Rates by slices of the sources, who is best in each, and the slices in which relations are broken most."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import cast

import numpy as np
import pandas as pd

from audit.corpora.slices import GOLD
from audit.false_satisfaction.groups import Shared
from audit.false_satisfaction.slices import Sliced, StudyGroups, StudySlices, SystemGroups
from audit.messages import message
from audit.reports.certainty import COMPARES, Certainty, Coded, roll_up, sums_of, with_supposed_groups, with_worth
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
from audit.statistics.comparison import ENOUGH_FOR_P_BEST, Common, Sums, holm, pooled_difference
from audit.statistics.intervals import Target, clustered_rate
from audit.statistics.orders import TIED
from audit.statistics.rates import BOUNDS, SUPPOSED, with_bounds, with_rates
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
    """The groups of a study, or of a slice of it: judged, checked (None: not needed, as where sources stand alone) and
    drawn ones of cells that have bounds only, as in `audit.reports.build.Groups`."""

    judged: pd.DataFrame
    checked: pd.DataFrame | None
    drawn: pd.DataFrame

    def of_study(self, study: int) -> "Frames":
        """Those of this study."""
        checked = None if self.checked is None else self.checked[self.checked["study"] == study]
        return Frames(self.judged[self.judged["study"] == study], checked, self.drawn[self.drawn["study"] == study])

    def by_slice(self, groups: StudyGroups, slices: StudySlices) -> "list[Frames]":
        """Those of each slice of a study, by its code; what is in none last."""
        parts = [_by_code(frame, groups, slices) for frame in (self.judged, self.drawn)]
        alone = self.checked is None or groups.clusters == len(groups.sources)
        checked = [None] * len(parts[0]) if alone else _by_code(self.checked, groups, slices)
        return [Frames(*frames) for frames in zip(parts[0], checked, parts[1], strict=True)]


def _by_code(frame: pd.DataFrame, groups: StudyGroups, slices: StudySlices) -> list[pd.DataFrame]:
    code = slices.code[groups.place_of(frame["source"].to_numpy())]
    return [frame[code == at] for at in range(len(slices.names) + 1)]


def slice_entries(
    tables: Sequence[ViolationTable], sliced: Sliced, frames: Frames, shared: Sequence[Shared], how: How
) -> list[SlicesEntry]:
    """One entry a table of `violations` and slicing: rates of every slice and system, and who is best in each slice.

    `rates` has one for each (slice, system) over all relations (`relation` None), put together as roll-ups are, then
    one for each relation. SR_o and VR_o are known for the corpus; the interval of VR_o is for the texts it was drawn
    from, clustered by source and document. The judged groups of a cell that belong to a slice are a random sample of
    the slice's satisfied groups (given how many there are). A study that the property says nothing of has no rates and
    a reason. `p_holm` of the standings is over all slices of all entries. Source: Cochran, Sampling Techniques (1977),
    section 2.13, for subpopulations.
    """
    entries = []
    for table in tables:
        study = cast(int, table["study"])
        groups, of_study = sliced.groups[study], frames.of_study(study)
        commons = [one.common for one in shared if one.study == study]
        for by, studies in sliced.by.items():
            entry, slices = _new_entry(table, by), studies[study]
            entries.append(entry)
            if not slices.names:
                entry["reason"] = message("slices.none_gold" if by == GOLD else "slices.none_of", property=by)
                continue
            _fill(entry, groups, slices, of_study, how)
            _fill_standings(entry, groups, slices, commons, how)
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


def _fill(entry: SlicesEntry, groups: StudyGroups, slices: StudySlices, frames: Frames, how: How) -> None:
    """The rates of an entry, and its slices: those that have groups, in their order, what is in none last."""
    names: list[str | None] = [*slices.names, None]
    with_groups = np.zeros(len(names), bool)
    for system in groups.systems:
        with_groups[slices.code[system.source]] = True
    entry["slices"] = [name for name, has in zip(names, with_groups, strict=True) if has]
    entry["empty"] = [name for name, has in zip(slices.names, with_groups[:-1], strict=True) if not has]
    entry["unsliced"] = int((slices.code == len(slices.names)).sum())
    together: list[SliceRate] = []
    by_relation: list[SliceRate] = []
    by_slice = frames.by_slice(groups, slices)
    for code in np.flatnonzero(with_groups).tolist():
        over, under = _of_slice(entry, groups, slices, code, by_slice[code], how)
        together += over
        by_relation += under
    entry["rates"] = together + by_relation


def _of_slice(
    entry: SlicesEntry, groups: StudyGroups, slices: StudySlices, code: int, frames: Frames, how: How
) -> tuple[list[SliceRate], list[SliceRate]]:
    """The rates of one slice: over relations, and under each."""
    inside = {system.system: _only(system, slices.code[system.source] == code) for system in groups.systems}
    inside = {name: system for name, system in inside.items() if len(system.source)}
    cells = _cells(groups, inside, frames)
    # Sources of their own have one group a cell, which is worth what it is.
    if how.target == "population" and groups.clusters < len(groups.sources):
        cells = with_worth(cells, frames.judged, frames.checked, how.confidence, frames.drawn)
    cells = with_bounds(with_rates(cells, how.confidence, how.target), how.confidence, how.target)
    sure = _certainty(cells, groups, inside, frames, how)
    name = None if code == len(slices.names) else slices.names[code]
    over, under = [], []
    for system in entry["systems"]:
        if system not in inside:
            continue
        places = np.flatnonzero((cells["system"] == system).to_numpy()).tolist()
        together = roll_up(cells, sure, places)
        over.append(_rate(name, None, cells.iloc[places], inside[system], {**together}, len(together["missing"])))
        for place in places:
            row = cells.iloc[place]
            relation = groups.relations.index(row["relation"])
            of_relation = _only(inside[system], inside[system].relation == relation)
            numbers = {key: plain(row[key]) for key in (*GenuineRates.__annotations__, *Bounds.__annotations__)}
            under.append(_rate(name, row["relation"], cells.iloc[[place]], of_relation, numbers, None))
    if groups.study in how.compares:
        for rates in (*over, *under):
            rates["reason"] = COMPARES if rates["reason"] else None
    return over, under


def _certainty(
    cells: pd.DataFrame, groups: StudyGroups, inside: dict[str, SystemGroups], frames: Frames, how: How
) -> Certainty:
    """How the cells of a slice go together, as `audit.reports.certainty.certainty` says it of a report's: the groups of
    a study have their codes already."""
    place = {key: at for at, key in enumerate(zip(cells["relation"], cells["system"], strict=True))}
    population = how.target == "population"
    unit = groups.cluster if population else np.arange(len(groups.sources))
    of_checked: Coded | None = None
    if population:
        of_relation = {
            name: np.array([place.get((relation, name), -1) for relation in groups.relations]) for name in inside
        }
        parts = [(unit[one.source], of_relation[name][one.relation], ~one.violated) for name, one in inside.items()]
        of_checked = cast(Coded, tuple(np.concatenate(columns) for columns in zip(*parts, strict=True)))

    def sums(frame: pd.DataFrame) -> tuple[Sums, Sums] | tuple[None, None]:
        if frame.empty:
            return None, None
        keys = zip(frame["relation"].tolist(), frame["system"].tolist(), strict=True)
        cell = np.array([place[key] for key in keys])
        source = unit[groups.place_of(frame["source"].to_numpy())]
        clusters = [source, *([] if of_checked is None else of_checked[:1])]
        code = pd.factorize(np.concatenate(clusters))[0]
        judged = code[: len(frame)], cell, frame["false"].to_numpy(float)
        checked = None if of_checked is None else (code[len(frame) :], of_checked[1], of_checked[2].astype(float))
        return sums_of(judged, checked, len(cells))

    cases = SUPPOSED if len(frames.drawn) else ()
    supposed = {case: sums(with_supposed_groups(frames.judged, frames.drawn, case)) for case in cases}
    of_false, of_genuine = sums(frames.judged)
    return Certainty(of_false, of_genuine, how.target, how.confidence, supposed)


def _only(system: SystemGroups, rows: np.ndarray) -> SystemGroups:
    arrays = (system.relation, system.source, system.cluster, system.violated)
    return SystemGroups(system.system, *(part[rows] for part in arrays))


def _cells(groups: StudyGroups, inside: dict[str, SystemGroups], frames: Frames) -> pd.DataFrame:
    """The cells of a slice with their counts, a row a relation and system that has groups there."""
    parts = []
    for name, system in inside.items():
        size = np.bincount(system.relation, minlength=len(groups.relations))
        violated = np.bincount(system.relation[system.violated], minlength=len(groups.relations))
        counts = {"relation": groups.relations, "system": name, "satisfied": size - violated, "violated": violated}
        parts.append(pd.DataFrame(counts)[size > 0])
    cells = pd.concat(parts, ignore_index=True).assign(study=groups.study, task=groups.task)
    for prefix, frame, kinds in (
        ("", frames.judged, ("false",)),
        ("drawn_", frames.drawn, ("false", "open")),
    ):
        held = frame.astype({"relation": object, "system": object}).groupby(["relation", "system"], observed=True)
        counted = pd.DataFrame({"judged" if not prefix else "drawn": held.size()})
        counted = counted.assign(**{f"{prefix}{kind}": held[kind].sum() for kind in kinds})
        cells = cells.merge(counted.reset_index(), how="left", on=["relation", "system"])
    number = ["judged", "false", "drawn", "drawn_false", "drawn_open"]
    cells[number] = cells[number].fillna(0).astype(int)
    return cells.assign(drawn=cells["drawn"].where(cells["judged"] == 0, cells["judged"]))


def _rate(
    name: str | None,
    relation: str | None,
    cells: pd.DataFrame,
    groups: SystemGroups,
    rates: dict[str, object],
    missing: int | None,
) -> SliceRate:
    """One entry of `rates`, from R_FS and SR_g of its cells; `missing` relations of several have no judged group."""
    cluster = pd.factorize(groups.cluster)[0]
    observed = clustered_rate(np.bincount(cluster, weights=groups.violated).astype(int), np.bincount(cluster))
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
        "system": groups.system,
        "sources": len(pd.unique(groups.source)),
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


def _fill_standings(
    entry: SlicesEntry, groups: StudyGroups, slices: StudySlices, commons: Sequence[Common], how: How
) -> None:
    """Who is best over all sources, and the standings of the entry, before they are adjusted for each other."""
    complete = [common for common in commons if set(entry["systems"]) == set(common.systems)]
    observed, genuine, _ = _pooled_rates(complete, entry["systems"])
    entry["best_observed"] = _best(observed)
    entry["best_genuine"] = _best(genuine) or None
    for name in entry["slices"]:
        code = len(slices.names) if name is None else slices.names.index(name)
        inside = [common.within(partial(_inside, groups, slices, code)) for common in complete]
        entry["standings"].append(_standing(entry, name, inside, how))


def _inside(groups: StudyGroups, slices: StudySlices, code: int, source: np.ndarray) -> np.ndarray:
    return np.asarray(slices.code[groups.place_of(source)] == code)


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


@dataclass(frozen=True)
class _Pair:
    """A slice and the rest of the sources, of one system: their rates, None where they are not known."""

    slice: str
    system: str
    observed: tuple[DomainRate | None, DomainRate | None]
    genuine: tuple[DomainRate | None, DomainRate | None]


def slice_tests(entries: Sequence[SlicesEntry], sliced: Sliced, judged: pd.DataFrame, how: How) -> SliceTestsEntry:
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
        groups, slices = sliced.groups[study], sliced.by[entry["by"]][study]
        for pair in _pairs(groups, slices, judged[judged["study"] == study], how.confidence):
            for rate, (first, rest) in (("observed", pair.observed), ("genuine", pair.genuine)):
                if first is None or rest is None or not enough(first, rest):
                    _untested(result["untested"], study, entry["by"], rate, pair)
                    continue
                found = excess(first, rest, how.confidence)
                test: SliceTest = {
                    "study": study,
                    "task": entry["task"],
                    "corpus": entry["corpus"],
                    "by": entry["by"],
                    "slice": pair.slice,
                    "system": pair.system,
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


def _untested(untested: list[UntestedSlice], study: int, by: str, rate: str, pair: _Pair) -> None:
    key = {"study": study, "by": by, "slice": pair.slice, "rate": rate}
    same = next((one for one in untested if {name: one.get(name) for name in key} == key), None)
    if same is None:
        untested.append({"study": study, "by": by, "slice": pair.slice, "rate": rate, "systems": [pair.system]})
    else:
        same["systems"].append(pair.system)


def _pairs(groups: StudyGroups, slices: StudySlices, judged: pd.DataFrame, confidence: float) -> Iterator[_Pair]:
    """Every slice that has groups, beside the rest; what is in no slice is of the rest. None without a rest."""
    place = groups.place_of(judged["source"].to_numpy(np.int64))
    of_judged = slices.code[place]
    relation_code = {name: code for code, name in enumerate(groups.relations)}
    relation = judged["relation"].map(relation_code).to_numpy(int)
    name, false = judged["system"].to_numpy(), judged["false"].to_numpy(float)
    for system in groups.systems:
        code = slices.code[system.source]
        own = np.asarray(name == system.system)
        for at, slice_name in enumerate(slices.names):
            inside = code == at
            if not inside.any() or inside.all():
                continue
            rates = []
            for rows, drawn in ((inside, own & (of_judged == at)), (~inside, own & (of_judged != at))):
                of_drawn = JudgedGroups(groups.cluster[place[drawn]], relation[drawn], false[drawn])
                rates.append(_domain(groups, _only(system, rows), of_drawn, confidence))
            (first, of_first), (rest, of_rest) = rates
            yield _Pair(slice_name, system.system, (first, rest), (of_first, of_rest))


def _domain(
    groups: StudyGroups, system: SystemGroups, judged: JudgedGroups, confidence: float
) -> tuple[DomainRate | None, DomainRate | None]:
    """VR_o and VR_g of some sources of a system."""
    size = np.bincount(system.cluster, minlength=groups.clusters)
    hits = np.bincount(system.cluster[system.violated], minlength=groups.clusters)
    observed = observed_rate(hits, size, confidence)
    if observed is None:
        return None, None
    return observed, genuine_rate(system.cluster, system.relation, system.violated, judged, observed, confidence)
