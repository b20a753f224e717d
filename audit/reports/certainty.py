"""What a report says beyond single cells: roll-ups, how sure each ranking is, and paired differences."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from audit.errors import UnknownName
from audit.relations import get_relation
from audit.statistics.bootstrap import correlations, replicates
from audit.statistics.comparison import comparison_draws, relative_rates
from audit.statistics.confidence_sequences import PRIOR_POSTERIOR
from audit.statistics.intervals import Target
from audit.statistics.paired import PairedDifference
from audit.statistics.posterior import genuine_draws
from audit.statistics.ranking import kendall_tau_b, p_flip, rank_systems
from audit.statistics.rollups import combine

KEY = ["study", "task", "relation", "system"]
STRATIFIED = "stratified over cells, cells independent"
CLUSTERED = "stratified over cells, dependence by a cluster bootstrap over sources"
SEQUENCES = "of the cells' confidence sequences"
LEVELS = ("relation", "system", "family", "overall")
COMPARES = "drawn to compare systems only: its judged groups are no random sample of the satisfied ones"
"""Why a cell has no rate although groups of it are judged."""


@dataclass(frozen=True)
class Certainty:
    """What probabilities are made from: joint draws of SR_g (draws, cells), and the cells' correlations.

    `of_false` and `of_genuine` (cells, cells) are those of R_FS and SR_g; None where the sources are not known.
    """

    draws: np.ndarray
    of_false: np.ndarray | None
    of_genuine: np.ndarray | None


@dataclass(frozen=True)
class Comparison:
    """What the design `informative` found out about one relation: how its systems differ, but no rate of theirs.

    `genuine` (judged, systems) has outcomes of judged informative groups, of which there are `informative` among the
    `groups` that apply to all of `systems`.
    """

    systems: tuple[str, ...]
    genuine: np.ndarray
    informative: int
    groups: int


Comparisons = Mapping[tuple[str, object, str], Comparison]
"""By (task, study, relation)."""


def only_compared(cells: pd.DataFrame) -> np.ndarray:
    """Which cells were drawn for comparisons only: they have judged groups, but nobody may count the false ones."""
    judged, false = (cells[name].to_numpy(float, na_value=np.nan) for name in ("judged", "false"))
    return np.asarray(~np.isnan(judged) & np.isnan(false))


def compared(
    cells: pd.DataFrame, draws: np.ndarray, comparisons: Comparisons, target: Target, seed: int = 0
) -> tuple[pd.DataFrame, np.ndarray]:
    """The cells and their draws (draws, cells) with relative SR_g in place of what relations do not have that were
    drawn for comparisons only. What they say holds up to a constant that the systems of the relation share."""
    rates, joint = cells["sr_genuine"].to_numpy(float).copy(), draws.copy()
    keys = list(zip(cells["task"], cells["study"], cells["relation"], cells["system"], strict=True))
    place = {key: at for at, key in enumerate(keys)}
    for number, (relation, one) in enumerate(comparisons.items()):
        columns = [place[(*relation, system)] for system in one.systems]
        rates[columns] = relative_rates(one.genuine, one.informative, one.groups)
        joint[:, columns] = comparison_draws(
            one.genuine, one.informative, one.groups, target, len(draws), seed + number
        )
    return cells.assign(sr_genuine=rates), joint


def certainty(
    cells: pd.DataFrame, judged: pd.DataFrame | None, checked: pd.DataFrame | None, target: Target, seed: int = 0
) -> Certainty:
    """The posterior of the cells of a report, one row each, with the columns of `KEY` and the counts.

    `judged` has a row per judged group (columns of `KEY`, source, false), `checked` one per group that is in a rate
    (columns of `KEY`, source, satisfied): needed for the target `population`, where SR_o varies too. A column `value`
    of `judged` takes the place of `false`: what proxies leave unexplained varies together in another way.
    """
    of_false, of_genuine = dependence(cells, judged, checked, target, seed)
    return Certainty(genuine_draws(cells, of_false, target, seed=seed), of_false, of_genuine)


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


def ranked(
    cells: pd.DataFrame, draws: np.ndarray, delta: float, confidence: float
) -> tuple[list[dict[str, Any]], float | None, float | None]:
    """(`ranking`, `tau`, `p_flip`) of one relation's cells; `draws` (draws, cells) are theirs.

    Systems with nothing satisfied or violated are left out of the comparison. While any other has no posterior, nobody
    knows the ranking: p_best, ranks and letters are None, with the reason.
    """
    observed, genuine = cells["sr_observed"].to_numpy(float), cells["sr_genuine"].to_numpy(float)
    compared = np.flatnonzero(~np.isnan(observed))
    unknown = [str(cells["system"].iloc[at]) for at in compared if np.isnan(draws[:, at]).any()]
    nothing = {"p_best": None, "rank_low": None, "rank_high": None, "letters": None}
    reason = None
    if unknown:
        counts = cells["judged"].to_numpy(float, na_value=np.nan)[compared]
        reason = (
            "the totals have rates without counts"
            if np.isnan(counts).any()
            else f"no estimate for {', '.join(unknown)}"
        )
    entries: list[dict[str, Any]] = [
        {"system": str(system)} | nothing | {"reason": reason or "nothing was satisfied or violated"}
        for system in cells["system"]
    ]
    flips = None
    if len(compared) and not unknown:
        joint = draws[:, compared]
        for at, one in zip(compared, rank_systems(joint, delta, confidence), strict=True):
            entries[at] |= {
                "p_best": one.p_best,
                "rank_low": one.rank_low,
                "rank_high": one.rank_high,
                "letters": one.letters,
                "reason": None,
            }
        if len(compared) > 1 and not np.isnan(genuine[compared]).any():
            flips = p_flip(joint, observed[compared].tolist(), genuine[compared].tolist(), delta)
    both = compared[~np.isnan(genuine[compared])]
    known = len(both) == len(compared)
    tau = kendall_tau_b(observed[both].tolist(), genuine[both].tolist(), delta) if known and len(both) > 1 else None
    return entries, tau, flips


def pair_entries(systems: Sequence[str], found: Iterable[PairedDifference]) -> list[dict[str, Any]]:
    """Paired differences as entries of a report, with the systems' names in place of their columns."""
    return [
        {
            "system": systems[one.one],
            "other": systems[one.other],
            "difference": one.difference,
            "low": one.low,
            "high": one.high,
            "p": one.p,
            "p_holm": one.p_holm,
            "mcnemar_p": one.mcnemar_p,
            "groups": one.groups,
            "informative": one.informative,
            "judged": one.judged,
            "reason": one.reason,
        }
        for one in found
    ]


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
