"""What a report says beyond single cells: roll-ups, how sure each ranking is, and paired differences."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from audit.errors import UnknownName
from audit.messages import message
from audit.relations import get_relation
from audit.relations.registry import base_name
from audit.reports.document import (
    Bounds,
    CommonEntry,
    Covered,
    GenuineRates,
    OvertakingEntry,
    PairEntry,
    PrimaryEntry,
    RankedEntry,
    RelationResultEntry,
    RollupEntry,
    plain,
    unknown,
)
from audit.reports.primary import settle_primary
from audit.statistics.comparison import Common, PairedDifference, Sums, deviations, holm, of_products, opposed
from audit.statistics.intervals import Estimate, Target
from audit.statistics.orders import TIED, rank_systems
from audit.statistics.rates import (
    SUPPOSED,
    Supposed,
    as_if,
    combine,
    ends_confidence,
    has_bounds,
    with_rates,
)

KEY = ["study", "task", "relation", "system"]
STRATIFIED = message("combined.independent")
CLUSTERED = {
    "corpus": message("combined.by_source"),
    "population": message("combined.by_document"),
}
"""By target. A source that names no document is one."""
_TABLE = 10**6
"""Combinations of names up to which cells are looked up in a table."""
LEVELS = ("relation", "system", "family", "overall")
COMPARES = message("no_rate.only_compared")
"""Why a cell has no rate although groups of it are judged."""
WITHOUT_COUNTS = message("no_order.without_counts")


@dataclass(frozen=True)
class Certainty:
    """What roll-ups are made from: how cells go together.

    `of_false` and `of_genuine` are sums over clusters for R_FS and SR_g; None where the sources are not known. `target`
    says what these are: sources or documents. `confidence` is that of the cells' ends. `supposed` has both sums as if
    the open groups of draws that give bounds only were true, or false; it is empty where there are no such draws, or
    their sources are not known.
    """

    of_false: Sums | None
    of_genuine: Sums | None
    target: Target = "corpus"
    confidence: float = 0.95
    supposed: Mapping[Supposed, tuple[Sums | None, Sums | None]] = field(default_factory=dict)

    def method(self, cells: pd.DataFrame) -> str:
        """How these cells are put together."""
        return STRATIFIED if self.of_false is None and not self.supposed else CLUSTERED[self.target]

    def bounds(self, cells: pd.DataFrame, places: Sequence[int], satisfied: bool) -> tuple[float, ...] | None:
        """Bounds of these cells together, and the ends of their interval: of R_FS, or with `satisfied` of SR_g.

        In the order of `BOUNDS`. Each is the weighted mean of the cells' bounds, to which a cell with a rate gives
        that. The ends are those of roll-ups of rates as if the open groups were true, and as if they were false, at the
        level that `ends_confidence` says. None where no cell has a weight.
        """
        chosen = cells.iloc[list(places)]
        # SR_g is lowest if all open groups are false.
        under, over = SUPPOSED[::-1] if satisfied else SUPPOSED
        means = [self._supposing(chosen, places, case, satisfied, self.confidence) for case in (under, over)]
        if means[0] is None or means[1] is None:
            return None
        size = chosen.loc[has_bounds(chosen)].reindex(columns=["drawn", *(f"{case}_worth" for case in SUPPOSED)])
        of_least, of_most = (np.array([[mean.rate], [mean.low], [mean.high]]) for mean in means if mean)
        (level,) = ends_confidence(of_least, of_most, np.array([size.min().min()]), self.confidence)
        means = [self._supposing(chosen, places, case, satisfied, float(level)) for case in (under, over)]
        least, most = (mean for mean in means if mean)
        return least.rate, most.rate, least.low, most.high

    def _supposing(
        self, cells: pd.DataFrame, places: Sequence[int], supposed: Supposed, satisfied: bool, confidence: float
    ) -> Estimate | None:
        """The mean of R_FS or SR_g over cells, with their open groups taken as true or as false."""
        rate, prefix = ("sr_genuine", "sr_genuine") if satisfied else ("fs_rate", "fs")
        names = [rate, *(f"{prefix}_{name}" for name in ("low", "high", "reach"))]
        ends = with_rates(as_if(cells, supposed), confidence, self.target)
        if "gain" in cells:  # estimated with proxies, which have no ends of another level
            ends = ends.assign(**{name: cells[name].where(cells["gain"] > 1, ends[name]) for name in names})
        weights = ends["satisfied"] + ends["violated"] if satisfied else ends["satisfied"]
        sums = self.supposed.get(supposed, (None, None))[satisfied]
        together = None if sums is None else sums.cautious(places)
        rates, low, high, reach = (ends[name].to_numpy(float) for name in names)
        return combine(rates, low, high, weights.to_numpy(float), together, reach)


def only_compared(cells: pd.DataFrame) -> np.ndarray:
    """Which cells were drawn for comparisons only: they have judged groups, but nobody may count the false ones."""
    judged, false = (cells[name].to_numpy(float, na_value=np.nan) for name in ("judged", "false"))
    return np.asarray(~np.isnan(judged) & np.isnan(false))


def certainty(
    cells: pd.DataFrame,
    judged: pd.DataFrame | None,
    checked: pd.DataFrame | None,
    target: Target,
    confidence: float = 0.95,
    drawn: pd.DataFrame | None = None,
) -> Certainty:
    """How the cells of a report go together, one row each, with the columns of `KEY` and the counts.

    `judged` has a row per judged group (columns of `KEY`, source, false, and cluster or as many clusters as sources),
    `checked` one per group that is in a rate (columns of `KEY`, cluster, satisfied): needed for the target
    `population`, where SR_o varies too. A column `value` of `judged` takes the place of `false`: what proxies leave
    unexplained varies together in another way. What cells are worth (`with_worth`) takes the place of their counts.
    `drawn` has the whole draws of cells that have bounds only: the columns of `judged` without `value`, and open (0 or
    1).
    """
    of_false, of_genuine = dependence(cells, judged, checked, target)
    supposed: dict[Supposed, tuple[Sums | None, Sums | None]] = {}
    if judged is not None and drawn is not None and len(drawn):
        supposed = {
            case: dependence(cells, with_supposed_groups(judged, drawn, case), checked, target) for case in SUPPOSED
        }
    return Certainty(of_false, of_genuine, target, confidence, supposed)


def with_supposed_groups(judged: pd.DataFrame, drawn: pd.DataFrame, supposed: Supposed) -> pd.DataFrame:
    """The judged groups and, of cells with bounds only, the whole draw, its open groups taken as true or false."""
    false = drawn["false"] + drawn["open"] if supposed == "most" else drawn["false"]
    draws = drawn.assign(false=false, value=false)[list(judged.columns)]
    return pd.concat([judged, draws], ignore_index=True) if len(judged) else draws


def dependence(
    cells: pd.DataFrame, judged: pd.DataFrame | None, checked: pd.DataFrame | None, target: Target
) -> tuple[Sums | None, Sums | None]:
    """How the cells' R_FS and their SR_g go together: of this corpus from source to source, of its population from
    cluster to cluster.

    Arguments as those of `certainty`; None where no sources are known.
    """
    if judged is None or judged.empty:
        return None, None
    value = "value" if "value" in judged else "false"
    return sums_of(*_coded(cells, judged, value, checked, target), len(cells))


def sums_of(judged: "Coded", checked: "Coded | None", cells: int) -> tuple[Sums, Sums]:
    """`dependence` of groups whose clusters and cells are codes."""
    of_false = deviations(*judged, cells)
    return of_false, of_false if checked is None else of_products(judged, checked, cells)


def with_worth(
    cells: pd.DataFrame,
    judged: pd.DataFrame | None,
    checked: pd.DataFrame | None,
    confidence: float = 0.95,
    drawn: pd.DataFrame | None = None,
) -> pd.DataFrame:
    """The cells with the columns `audit.statistics.rates.WORTH`: texts to come from documents such as these.

    `cells` has the columns of `KEY`, the others as in `certainty`. Without clusters the cells stay as they are, without
    `checked` SR_o counts its groups as independent.
    """
    if judged is None or "cluster" not in judged:
        return cells
    frames = {"": judged}
    if drawn is not None and len(drawn):
        frames |= {f"{case}_": with_supposed_groups(judged.iloc[:0], drawn, case) for case in SUPPOSED}
    for prefix, groups in frames.items():
        of_judged, of_checked = _coded(cells, groups, "false", checked, "population")
        cells = cells.assign(**{f"{prefix or 'judged_'}worth": deviations(*of_judged, len(cells)).worth(confidence)})
        if of_checked is not None:
            cells = cells.assign(**{f"{prefix}opposed": opposed(of_judged, of_checked, len(cells))})
    if of_checked is not None:
        cells = cells.assign(checked_worth=deviations(*of_checked, len(cells)).worth(confidence))
    return cells


Coded = tuple[np.ndarray, np.ndarray, np.ndarray]
"""(cluster, cell, value) of groups, as `deviations` takes them."""


def _coded(
    cells: pd.DataFrame, judged: pd.DataFrame, value: str, checked: pd.DataFrame | None, target: Target
) -> tuple[Coded, Coded | None]:
    """The judged groups and, for the population, the checked ones; both with the same codes of clusters."""
    frames = [judged] if target == "corpus" or checked is None else [judged, checked]
    cluster = "source" if target == "corpus" or "cluster" not in judged else "cluster"
    places = [_places(cells, frame) for frame in frames]
    joined = np.concatenate([frame[cluster].to_numpy() for frame in frames])
    code = pd.factorize(joined)[0]
    parts: list[Coded] = []
    start = 0
    for frame, place, name in zip(frames, places, (value, "satisfied"), strict=False):
        matched = place >= 0
        clusters = code[start : start + len(frame)][matched]
        parts.append((clusters, place[matched], frame[name].to_numpy(float)[matched]))
        start += len(frame)
    return parts[0], parts[1] if len(parts) == 2 else None


def _places(cells: pd.DataFrame, groups: pd.DataFrame) -> np.ndarray:
    """The position of each group's cell in `cells`, or -1. Names are compared once for all groups of a cell."""
    number = np.zeros(len(groups), np.int64)
    of_cell = np.zeros(len(cells), np.int64)
    most = 1
    for name in KEY:
        code, names = pd.factorize(groups[name])
        values = {value: at for at, value in enumerate(names)}
        number = number * (len(names) + 1) + code
        of_cell = of_cell * (len(names) + 1) + np.array([values.get(value, len(names)) for value in cells[name]], int)
        most *= len(names) + 1
    if most < _TABLE:  # a table is quicker than sorting a million groups
        table = np.full(most, -1, np.int64)
        table[of_cell] = np.arange(len(cells))
        return np.asarray(table[number])
    distinct, code = np.unique(number, return_inverse=True)
    place = dict(zip(of_cell.tolist(), range(len(cells)), strict=True))
    return np.array([place.get(key, -1) for key in distinct.tolist()], np.int64)[code]


def roll_ups(cells: pd.DataFrame, certainty: Certainty, families: Mapping[tuple[str, str], str]) -> list[RollupEntry]:
    """Rates per relation, system, family and overall, of a frame with the rates of every cell.

    `families` maps (task, relation) to the family's name; relations without one are in no family. Studies of a task are
    taken together. A rate is None, with the reason and the cells that are to blame, where one of its cells has none;
    where these have bounds there are `BOUNDS` in its place.
    """
    entries = []
    for by in LEVELS:
        members: dict[tuple[str | None, str], list[int]] = {}
        for place, (task, relation, system) in enumerate(
            zip(cells["task"], cells["relation"], cells["system"], strict=True)
        ):
            name = {"relation": relation, "system": system, "family": families.get((task, relation)), "overall": "all"}
            if name[by] is not None:
                members.setdefault((None if by == "overall" else task, str(name[by])), []).append(place)
        for (task, label), places in members.items():
            entries.append(roll_up(cells, certainty, places, by, label, task))
    return entries


def covered(cells: pd.DataFrame, certainty: Certainty) -> Covered:
    """Return the share of false satisfactions over the cells that have an estimate, its interval, and what they cover.

    Where no cell has one, but answers leave bounds, these are over all cells. `satisfied_covered` is the satisfied
    groups of the cells that count; rates are None where nothing is known.
    """
    satisfied, violated, rate = (
        cells[name].to_numpy(float, na_value=np.nan) for name in ("satisfied", "violated", "fs_rate")
    )
    estimated = ~np.isnan(satisfied + violated + rate) & (satisfied > 0)
    places = np.flatnonzero(estimated if estimated.any() else satisfied > 0)
    together = roll_up(cells, certainty, places.tolist())
    known = together["fs_rate"] is not None or together["fs_least"] is not None
    return {
        **{name: together[name] for name in (*GenuineRates.__annotations__, *Bounds.__annotations__)},  # type: ignore[typeddict-item, literal-required]
        "sr_observed": together["sr_observed"] if known else None,
        "cells_covered": len(places) if known else 0,
        "satisfied_covered": int(satisfied[places].sum()) if known else 0,
    }


def roll_up(
    cells: pd.DataFrame,
    certainty: Certainty,
    places: Sequence[int],
    by: str = "overall",
    name: str = "all",
    task: str | None = None,
) -> RollupEntry:
    """The rates of the cells at these places together, or of one; where there are none, the reason why, or bounds."""
    chosen = cells.iloc[list(places)]
    names = ("satisfied", "violated", "fs_rate", "sr_genuine")
    satisfied, violated, fs_rate, sr_genuine = (chosen[name].to_numpy(float, na_value=np.nan) for name in names)
    counted = not np.isnan(satisfied + violated).any()
    checked = satisfied + violated
    lacking = (np.isnan(sr_genuine) & ~(checked == 0)) if counted else np.zeros(len(chosen), bool)
    entry: RollupEntry = {
        "by": by,
        "name": name,
        "task": task,
        **unknown(GenuineRates),
        **unknown(Bounds),
        "cells": len(chosen),
        "method": None,
        "reason": None,
        "missing": [],
    }
    if not counted:
        return entry | {"reason": message("no_rate.totals_without_counts")}
    if not checked.sum():
        return entry | {"reason": message("no_rate.nothing_checked")}
    entry["sr_observed"] = float(satisfied.sum() / checked.sum())
    if lacking.any():
        blamed = chosen.loc[lacking, ["study", "relation", "system"]].astype(object)
        blamed = blamed.where(lambda frame: frame.notna(), None)
        entry["missing"] = [
            {"study": row["study"], "relation": row["relation"], "system": row["system"]}
            for row in blamed.to_dict("records")
        ]
        number = int(lacking.sum())
        if (only_compared(chosen) | ~lacking).all():
            return entry | {"reason": message("no_rate.cells_only_compared", count=number)}
        if not bounds_together(chosen, lacking):
            return entry | {"reason": message("no_rate.cells_without_estimate", count=number)}
        if false_bounds := certainty.bounds(cells, places, False):
            least, most, low, high = false_bounds
            entry |= {"fs_least": least, "fs_most": most, "fs_bound_low": low, "fs_bound_high": high}
        if genuine_bounds := certainty.bounds(cells, places, True):
            least, most, low, high = genuine_bounds
            entry |= {"sr_least": least, "sr_most": most, "sr_bound_low": low, "sr_bound_high": high}
        entry["reason"] = message("no_rate.cells_with_bounds", count=number)
        return entry | {"method": certainty.method(chosen)}
    false_together, genuine_together = (
        None if sums is None else sums.cautious(places) for sums in (certainty.of_false, certainty.of_genuine)
    )
    low, high, reach = (chosen[f"fs_{name}"].to_numpy(float) for name in ("low", "high", "reach"))
    false = combine(fs_rate, low, high, satisfied, false_together, reach)
    low, high, reach = (chosen[f"sr_genuine_{name}"].to_numpy(float) for name in ("low", "high", "reach"))
    genuine = combine(sr_genuine, low, high, checked, genuine_together, reach)
    if false is not None:
        entry |= {"fs_rate": false.rate, "fs_low": false.low, "fs_high": false.high}
    if genuine is not None:
        entry |= {"sr_genuine": genuine.rate, "sr_genuine_low": genuine.low, "sr_genuine_high": genuine.high}
    return entry | {"method": certainty.method(chosen)}


def bounds_together(cells: pd.DataFrame, lacking: np.ndarray) -> bool:
    """Whether bounds of these cells together say anything; the `lacking` ones have bounds in place of a rate."""
    if not lacking.any() or not has_bounds(cells)[lacking].all():
        return False
    informative = (cells.loc[lacking, "drawn_open"] < cells.loc[lacking, "drawn"]).any()
    return bool(informative or not lacking.all())


def compared(
    cells: pd.DataFrame, common: Common | None, draws: np.ndarray | None, delta: float, confidence: float
) -> list[RankedEntry]:
    """The `ranking` of one relation's cells.

    `common` are its common groups (None: rates alone are known), `draws` (draws, systems) those of `Common.draws`. The
    rates of the entries are over the groups that are compared. Systems with nothing satisfied or violated are left out
    of the comparison. Where too few groups are judged p_best and ranks are None, with the reason.
    """
    reason = WITHOUT_COUNTS if common is None else common.withheld
    observed, genuine = rates_of(cells, common)
    has_rate = ~np.isnan(observed)
    entries: list[RankedEntry] = [
        {
            "system": str(system),
            "sr_observed": plain(float(before)),
            "sr_genuine": plain(float(after)),
            "p_best": None,
            "rank_low": None,
            "rank_high": None,
            "reason": reason if compares else message(f"no_rate.{'unjudged' if own else 'nothing_checked'}"),
        }
        for system, before, after, compares, own in zip(
            cells["system"], observed, genuine, has_rate, cells["sr_observed"].notna(), strict=True
        )
    ]
    if common is None or draws is None:
        return entries
    by_name = {entry["system"]: entry for entry in entries}
    for system, standing in zip(common.systems, rank_systems(draws, delta, confidence), strict=True):
        by_name[system] |= {"p_best": standing.p_best, "rank_low": standing.rank_low, "rank_high": standing.rank_high}
    return entries


def rates_of(cells: pd.DataFrame, common: Common | None, relative: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """(SR_o, SR_g) of one relation's systems in the order of its cells, over the groups that compare them.

    With `relative` SR_g is known up to a constant where the sample says no more. A system that shares groups with none
    that the others are compared with has the SR_o of its own groups, and no SR_g: it has no place in the order.
    """
    own = cells["sr_observed"].to_numpy(float)
    if common is None:
        return own, cells["sr_genuine"].to_numpy(float)
    place = {system: at for at, system in enumerate(common.systems)}
    at = np.array([place.get(str(system), -1) for system in cells["system"]])
    rates = common.rates(relative and bool(np.isnan(common.sr_genuine).all()))
    observed, genuine = (np.where(at >= 0, rate[at], np.nan) for rate in rates)
    return np.where((at >= 0) & np.isnan(observed), own, observed), genuine


def decide(
    relations: Sequence[RelationResultEntry], delta: float, confidence: float, primary: Sequence[PrimaryEntry] = ()
) -> None:
    """Say in every relation which systems are told apart, and which surely overtake the best.

    Two families of hypotheses, each adjusted by Holm over the whole report: all pairs of all relations (`p_holm`,
    two-sided), and that no rival is better than the system reported as best, of all relations (`overtaking`,
    one-sided). A difference that is known without error is in neither. Where several systems are reported as best, a
    rival has to be better than each of them (the largest p counts). Where a `primary` comparison was named
    (`audit.reports.primary`), it is tested by itself, and no other adjusted p is below its own.
    """
    decided = [
        relation for relation in relations if relation["common"] is not None and not relation["common"]["reason"]
    ]
    pairs = [pair for relation in decided for pair in relation["pairs"]]
    gate, primary_pairs = settle_primary(primary, decided, delta, confidence)
    tested = [
        (pair, pair["p"])
        for pair in pairs
        if pair["p"] is not None and not any(pair is primary_pair for primary_pair in primary_pairs)
    ]
    for (pair, _), p in zip(tested, holm([alone for _, alone in tested]), strict=True):
        pair |= {"p_holm": max(p, gate), "apart": max(p, gate) <= 1 - confidence}
    for pair in pairs:
        if pair["p"] is None and pair["difference"] is not None:
            pair["apart"] = bool(abs(pair["difference"]) > delta + TIED)
    rivals: list[tuple[OvertakingEntry, float]] = []
    for relation in decided:
        relation["overtaking"] = [
            rival for system in relation["order_observed"] if (rival := _overtakes(relation, system, delta)) is not None
        ]
        rivals += [(rival, rival["p"]) for rival in relation["overtaking"] if rival["p"] is not None]
    for (rival, _), p in zip(rivals, holm([alone for _, alone in rivals]), strict=True):
        rival |= {"p_holm": max(p, gate), "sure": max(p, gate) <= 1 - confidence}
    for relation in relations:
        relation["best_changes_sure"] = any(rival["sure"] for rival in relation["overtaking"])
        relation["best_sure"] = _surely_best(relation)


def _surely_best(relation: RelationResultEntry) -> bool:
    """Whether one system is surely better than every other one under a relation."""
    if len(relation["best_genuine"]) != 1:
        return False
    (best,) = relation["best_genuine"]
    beaten = {best}
    for pair in relation["pairs"]:
        if pair["apart"] and best in (pair["system"], pair["other"]):
            ahead = (pair["difference"] or 0.0) > 0
            if ahead == (pair["system"] == best):
                beaten |= {pair["system"], pair["other"]}
    if any(rival["sure"] and rival["system"] == best for rival in relation["overtaking"]):
        beaten |= set(relation["best_observed"])
    return beaten >= set(relation["order_observed"])


def _overtakes(relation: RelationResultEntry, rival: str, delta: float) -> OvertakingEntry | None:
    """Test whether a rival is better than every system reported as best; no p if that is known without error."""
    best = relation["best_observed"]
    if rival in best:
        return None
    worst: float | None = None
    for pair in relation["pairs"]:
        if {pair["system"], pair["other"]} - {rival} <= set(best) and rival in (pair["system"], pair["other"]):
            if pair["difference"] is None:
                return None
            sign = 1 if pair["system"] == rival else -1
            p = pair["p_above" if sign == 1 else "p_below"]
            if p is None and sign * pair["difference"] <= delta + TIED:
                return {"system": rival, "p": None, "p_holm": None, "sure": False}
            worst = p if worst is None else max(worst, p) if p is not None else worst
    return {"system": rival, "p": worst, "p_holm": None, "sure": worst is None}


def pair_entries(systems: Sequence[str], differences: Iterable[PairedDifference]) -> list[PairEntry]:
    """Differences as entries of a report, with the systems' names in place of their columns."""
    return [
        {
            "system": systems[difference.one],
            "other": systems[difference.other],
            "difference": difference.difference,
            "low": difference.low,
            "high": difference.high,
            "p": difference.p,
            "p_above": difference.p_above,
            "p_below": difference.p_below,
            "p_holm": None,
            "apart": False,
            "mcnemar_p": difference.mcnemar_p,
            "groups": difference.groups,
            "informative": difference.informative,
            "judged": difference.judged,
            "reason": difference.reason,
        }
        for difference in differences
    ]


def common_entry(common: Common | None) -> CommonEntry | None:
    """What a relation's comparisons are about: how many common groups, how many of them decide and are judged."""
    if common is None:
        return None
    paired = common.outcomes is not None
    return {
        "groups": None if common.own else int(common.groups.min()),
        "most_groups": None if common.own else int(common.most_shared),
        "deciding": common.deciding if paired else None,
        "judged": len(common.outcomes) if common.outcomes is not None else int(common.judged.min()),
        "reason": common.short,
    }


def families_of(cells: pd.DataFrame, registered: bool) -> dict[tuple[str, str], str]:
    """(task, relation) -> family: the column `family` where it is given, else the registered relation's.

    For totals of a file (`registered` false), whose MR1.1 may be another relation than ours, the family is the part of
    the name before its last full stop: MR1 of MR1.1.
    """
    families: dict[tuple[str, str], str] = {}
    column = cells["family"] if "family" in cells else pd.Series([None] * len(cells), index=cells.index)
    for task, relation, family in zip(cells["task"], cells["relation"], column, strict=True):
        if isinstance(family, str) and family:
            families[task, relation] = family
        elif registered:
            try:
                families[task, relation] = get_relation(task, base_name(relation)).family
            except UnknownName:
                continue  # an imported relation that nobody registered has no family
        elif "." in relation:
            families[task, relation] = relation.rsplit(".", 1)[0]
    return families
