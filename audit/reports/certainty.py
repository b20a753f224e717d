"""What a report says beyond single cells: roll-ups, how sure each ranking is, and paired differences."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from audit.errors import UnknownName
from audit.relations import get_relation
from audit.statistics.bootstrap import correlations, replicates
from audit.statistics.comparison import LEAST, Common
from audit.statistics.confidence_sequences import PRIOR_POSTERIOR
from audit.statistics.intervals import Target
from audit.statistics.orders import TIED
from audit.statistics.paired import PairedDifference, holm
from audit.statistics.ranking import letters_of, rank_systems
from audit.statistics.rollups import combine

KEY = ["study", "task", "relation", "system"]
STRATIFIED = "stratified over cells, cells independent"
CLUSTERED = "stratified over cells, dependence by a cluster bootstrap over sources"
SEQUENCES = "of the cells' confidence sequences"
LEVELS = ("relation", "system", "family", "overall")
COMPARES = "drawn to compare systems only: its judged groups are no random sample of the satisfied ones"
"""Why a cell has no rate although groups of it are judged."""
WITHOUT_COUNTS = "the totals have rates without counts"


@dataclass(frozen=True)
class Certainty:
    """Correlations (cells, cells) of the cells' R_FS and of their SR_g; None where the sources are not known."""

    of_false: np.ndarray | None
    of_genuine: np.ndarray | None


def only_compared(cells: pd.DataFrame) -> np.ndarray:
    """Which cells were drawn for comparisons only: they have judged groups, but nobody may count the false ones."""
    judged, false = (cells[name].to_numpy(float, na_value=np.nan) for name in ("judged", "false"))
    return np.asarray(~np.isnan(judged) & np.isnan(false))


def certainty(
    cells: pd.DataFrame, judged: pd.DataFrame | None, checked: pd.DataFrame | None, target: Target, seed: int = 0
) -> Certainty:
    """How the cells of a report go together, one row each, with the columns of `KEY` and the counts.

    `judged` has a row per judged group (columns of `KEY`, source, false), `checked` one per group that is in a rate
    (columns of `KEY`, source, satisfied): needed for the target `population`, where SR_o varies too. A column `value`
    of `judged` takes the place of `false`: what proxies leave unexplained varies together in another way.
    """
    return Certainty(*dependence(cells, judged, checked, target, seed))


def dependence(
    cells: pd.DataFrame, judged: pd.DataFrame | None, checked: pd.DataFrame | None, target: Target, seed: int = 0
) -> tuple[np.ndarray | None, np.ndarray | None]:
    """Correlations (cells, cells) of the cells' R_FS and of their SR_g by a cluster bootstrap over sources.

    Arguments as those of `certainty`; None where no sources are known.
    """
    if judged is None or judged.empty:
        return None, None
    number = len(cells)
    places = pd.Series(np.arange(number), index=pd.MultiIndex.from_frame(cells[KEY].astype(object)))
    source, cell, value = _coded(judged, "value" if "value" in judged else "false", places)
    if target == "population" and checked is not None:
        # In one resample, so that R_FS and SR_o of all cells are drawn again together.
        more = _coded(checked, "satisfied", places)
        source, value = np.concatenate([source, more[0]]), np.concatenate([value, more[2]])
        cell = np.concatenate([cell, more[1] + number])
        found = replicates(source, cell, value, 2 * number, seed=seed)
        return correlations(found[:, :number]), correlations(found[:, number:] * (1 - np.nan_to_num(found[:, :number])))
    together = correlations(replicates(source, cell, value, number, seed=seed))
    return together, together


def _coded(groups: pd.DataFrame, value: str, places: pd.Series) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    cell = places.reindex(pd.MultiIndex.from_frame(groups[KEY].astype(object))).to_numpy(float)
    known = ~np.isnan(cell)
    return groups["source"].to_numpy()[known], cell[known].astype(int), groups[value].to_numpy(float)[known]


def roll_ups(cells: pd.DataFrame, sure: Certainty, families: Mapping[tuple[str, str], str]) -> list[dict[str, Any]]:
    """Rates per relation, system, family and overall, of a frame with the rates of every cell.

    `families` maps (task, relation) to the family's name; relations without one are in no family. Studies of a task are
    taken together. A rate is None, with the reason and the cells that are to blame, where one of its cells has none.
    """
    found = []
    for by in LEVELS:
        members: dict[tuple[str | None, str], list[int]] = {}
        for place, (task, relation, system) in enumerate(
            zip(cells["task"], cells["relation"], cells["system"], strict=True)
        ):
            name = {"relation": relation, "system": system, "family": families.get((task, relation)), "overall": "all"}
            if name[by] is not None:
                members.setdefault((None if by == "overall" else task, str(name[by])), []).append(place)
        for (task, label), places in members.items():
            found.append({"by": by, "name": label, "task": task} | _roll_up(cells, sure, places))
    return found


def covered(cells: pd.DataFrame, sure: Certainty) -> dict[str, Any]:
    """The share of false satisfactions over the cells of which enough is judged, its interval, and what they cover.

    Cells count from `LEAST` judged groups on, or judged whole. `satisfied_covered` is their satisfied groups; rates are
    None where no cell counts.
    """
    names = ("satisfied", "violated", "judged", "false")
    satisfied, violated, judged, false = (cells[name].to_numpy(float, na_value=np.nan) for name in names)
    enough = ~np.isnan(satisfied + violated + false) & ((judged >= LEAST) | (judged == satisfied)) & (satisfied > 0)
    places = np.flatnonzero(enough)
    found = _roll_up(cells, sure, places.tolist())
    rates = ("sr_observed", "fs_rate", "fs_low", "fs_high", "sr_genuine", "sr_genuine_low", "sr_genuine_high")
    return {name: found[name] for name in rates} | {
        "least_judged": LEAST,
        "cells_covered": len(places),
        "satisfied_covered": int(satisfied[places].sum()),
    }


def _roll_up(cells: pd.DataFrame, sure: Certainty, places: Sequence[int]) -> dict[str, Any]:
    some = cells.iloc[list(places)]
    satisfied, violated = (some[name].to_numpy(float, na_value=np.nan) for name in ("satisfied", "violated"))
    fs_rate, sr_genuine = some["fs_rate"].to_numpy(float), some["sr_genuine"].to_numpy(float)
    counted = not np.isnan(satisfied + violated).any()
    checked = satisfied + violated
    lacking = (np.isnan(sr_genuine) & ~(checked == 0)) if counted else np.zeros(len(some), bool)
    answer: dict[str, Any] = dict.fromkeys(
        ("sr_observed", "fs_rate", "fs_low", "fs_high", "sr_genuine", "sr_genuine_low", "sr_genuine_high")
    )
    answer |= {"cells": len(some), "method": None, "reason": None, "missing": []}
    if not counted:
        return answer | {"reason": "the totals have rates without counts, so cells cannot be weighed"}
    if not checked.sum():
        return answer | {"reason": "nothing was satisfied or violated"}
    answer["sr_observed"] = float(satisfied.sum() / checked.sum())
    if lacking.any():
        names = ("study", "relation", "system")
        blamed = some.loc[lacking, list(names)].astype(object).where(lambda frame: frame.notna(), None)
        answer["missing"] = [{name: row[name] for name in names} for row in blamed.to_dict("records")]
        was, has = ("cell was", "cell has") if lacking.sum() == 1 else ("cells were", "cells have")
        if (only_compared(some) | ~lacking).all():
            return answer | {"reason": f"{lacking.sum()} {was} drawn to compare systems only"}
        return answer | {"reason": f"{lacking.sum()} {has} no estimate yet"}
    pick = np.ix_(places, places)
    columns = ("fs_low", "fs_high", "sr_genuine_low", "sr_genuine_high")
    fs_low, fs_high, low, high = (some[name].to_numpy(float) for name in columns)
    of_false, of_genuine = (None if one is None else one[pick] for one in (sure.of_false, sure.of_genuine))
    false = combine(fs_rate, fs_low, fs_high, satisfied, of_false)
    genuine = combine(sr_genuine, low, high, checked, of_genuine)
    if false is not None:
        answer |= {"fs_rate": false.rate, "fs_low": false.low, "fs_high": false.high}
    if genuine is not None:
        answer |= {
            "sr_genuine": genuine.rate,
            "sr_genuine_low": genuine.low,
            "sr_genuine_high": genuine.high,
        }
    how = STRATIFIED if of_false is None else CLUSTERED
    return answer | {"method": f"{how}, {SEQUENCES}" if (some["method"] == PRIOR_POSTERIOR).any() else how}


def compared(
    cells: pd.DataFrame, common: Common | None, draws: np.ndarray | None, delta: float, confidence: float
) -> list[dict[str, Any]]:
    """The `ranking` of one relation's cells, without letters: those need the tests of the whole report.

    `common` are its common groups (None: rates alone are known), `draws` (draws, systems) those of `Common.draws`. The
    rates of the entries are over the common groups. Systems with nothing satisfied or violated are left out of the
    comparison. Where too few groups are judged nobody knows the ranking: p_best and ranks are None, with the reason.
    """
    reason = WITHOUT_COUNTS if common is None else common.short
    observed, genuine = rates_of(cells, common)
    known = ~np.isnan(observed)
    entries: list[dict[str, Any]] = [
        {"system": str(system), "sr_observed": _number(before), "sr_genuine": _number(after)}
        | {"p_best": None, "rank_low": None, "rank_high": None, "letters": None}
        | {"reason": (reason if compares else "nothing was satisfied or violated")}
        for system, before, after, compares in zip(cells["system"], observed, genuine, known, strict=True)
    ]
    if common is None or draws is None:
        return entries
    by_name = {entry["system"]: entry for entry in entries}
    for system, one in zip(common.systems, rank_systems(draws, delta, confidence), strict=True):
        by_name[system] |= {"p_best": one.p_best, "rank_low": one.rank_low, "rank_high": one.rank_high}
    return entries


def rates_of(cells: pd.DataFrame, common: Common | None, relative: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """(SR_o, SR_g) of one relation's systems in the order of its cells, over the common groups where they are known.

    With `relative` SR_g is known up to a constant where the sample says no more; too few judged groups leave it NaN.
    """
    own = cells["sr_observed"].to_numpy(float)
    if common is None:
        return own, cells["sr_genuine"].to_numpy(float)
    found = common.sr_relative if relative and np.isnan(common.sr_genuine).all() else common.sr_genuine
    # Few groups: an order would be a matter of luck. A cell with enough of its own has its rate all the same.
    few = common.few if common.outcomes is None else np.full(len(common.systems), common.short is not None)
    place = {system: at for at, system in enumerate(common.systems)}
    at = np.array([place.get(str(system), -1) for system in cells["system"]])
    rates = (common.sr_observed, np.where(few, np.nan, found))
    observed, genuine = (np.where(at >= 0, rate[at], np.nan) for rate in rates)
    return observed, genuine


def decide(relations: Sequence[dict[str, Any]], delta: float, confidence: float) -> None:
    """Say in every relation which systems are told apart, with what letters, and which surely overtake the best.

    Two families of hypotheses, each adjusted by Holm over the whole report: all pairs of all relations (`p_holm`,
    two-sided), and that no rival is better than the system reported as best, of all relations (`overtaking`,
    one-sided). A difference that is known without error is in neither. Where several systems are reported as best, a
    rival has to be better than each of them (the largest p counts).
    """
    decided = [one for one in relations if one["common"] and not one["common"]["reason"]]
    pairs = [pair for one in decided for pair in one["pairs"]]
    tested = [pair for pair in pairs if pair["p"] is not None]
    for pair, p in zip(tested, holm([pair["p"] for pair in tested]), strict=True):
        pair |= {"p_holm": p, "apart": p <= 1 - confidence}
    for pair in pairs:
        if pair["p"] is None and pair["difference"] is not None:
            pair["apart"] = bool(abs(pair["difference"]) > delta + TIED)
    rivals: list[dict[str, Any]] = []
    for one in decided:
        one["overtaking"] = [
            found for system in one["order_observed"] if (found := _overtakes(one, system, delta)) is not None
        ]
        rivals += [found for found in one["overtaking"] if found["p"] is not None]
        if not one["common"]["stopping"]:
            told = [(pair["system"], pair["other"]) for pair in one["pairs"] if pair["apart"]]
            letters = letters_of(one["order_genuine"], told)
            for entry in one["ranking"]:
                entry["letters"] = letters.get(entry["system"])
    for found, p in zip(rivals, holm([found["p"] for found in rivals]), strict=True):
        found |= {"p_holm": p, "sure": p <= 1 - confidence}
    for one in relations:
        one["best_changes_sure"] = any(found["sure"] for found in one["overtaking"])


def _overtakes(relation: Mapping[str, Any], rival: str, delta: float) -> dict[str, Any] | None:
    """Whether a rival is better than every system reported as best: its p, or, without error, the answer."""
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
            if p is None and pair["p"] is not None:  # of a sequence, which is two-sided
                p = pair["p"] if min(sign * pair["low"], sign * pair["high"]) > delta else 1.0
            if p is None and sign * pair["difference"] <= delta + TIED:
                return {"system": rival, "p": None, "p_holm": None, "sure": False}
            worst = p if worst is None else max(worst, p) if p is not None else worst
    return {"system": rival, "p": worst, "p_holm": None, "sure": worst is None}


def pair_entries(systems: Sequence[str], found: Iterable[PairedDifference]) -> list[dict[str, Any]]:
    """Differences as entries of a report, with the systems' names in place of their columns."""
    return [
        {
            "system": systems[one.one],
            "other": systems[one.other],
            "difference": one.difference,
            "low": one.low,
            "high": one.high,
            "p": one.p,
            "p_above": one.p_above,
            "p_below": one.p_below,
            "p_holm": None,
            "apart": False,
            "mcnemar_p": one.mcnemar_p,
            "groups": one.groups,
            "informative": one.informative,
            "judged": one.judged,
            "reason": one.reason,
        }
        for one in found
    ]


def common_entry(common: Common | None, stopping: bool) -> dict[str, Any] | None:
    """What a relation's comparisons are about: how many common groups, how many of them decide and are judged."""
    if common is None:
        return None
    paired = common.outcomes is not None
    return {
        "groups": None if common.own else int(common.groups.min()),
        "deciding": common.deciding if paired else None,
        "judged": len(common.outcomes) if common.outcomes is not None else int(common.judged.min()),
        "stopping": stopping,
        "reason": common.short,
    }


def _number(rate: float) -> float | None:
    return None if np.isnan(rate) else float(rate)


def families_of(cells: pd.DataFrame, registered: bool) -> dict[tuple[str, str], str]:
    """(task, relation) -> family: the column `family` where it is given, else the registered relation's.

    For totals of a file (`registered` false), whose MR1.1 may be another relation than ours, the family is the part of
    the name before its last full stop: MR1 of MR1.1.
    """
    found: dict[tuple[str, str], str] = {}
    given = cells["family"] if "family" in cells else pd.Series([None] * len(cells), index=cells.index)
    for task, relation, family in zip(cells["task"], cells["relation"], given, strict=True):
        if isinstance(family, str) and family:
            found[task, relation] = family
        elif registered:
            try:
                found[task, relation] = get_relation(task, relation).family
            except UnknownName:
                continue  # an imported relation that nobody registered has no family
        elif "." in relation:
            found[task, relation] = relation.rsplit(".", 1)[0]
    return found
