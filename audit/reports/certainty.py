"""What a report says beyond single cells: roll-ups, how sure each ranking is, and paired differences."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from audit.errors import UnknownName
from audit.false_satisfaction.groups import Shared
from audit.relations import get_relation
from audit.statistics.comparison import comparison_draws, relative_rates
from audit.statistics.confidence_sequences import PRIOR_POSTERIOR
from audit.statistics.dependence import Sums, deviations, of_products, opposed
from audit.statistics.intervals import METHODS, SEQUENCE, Target
from audit.statistics.paired import PairedDifference, worth_of_differences
from audit.statistics.posterior import genuine_draws
from audit.statistics.ranking import kendall_tau_b, p_flip, rank_systems
from audit.statistics.rates import with_rates
from audit.statistics.rollups import combine

KEY = ["study", "task", "relation", "system"]
STRATIFIED = "stratified over cells, cells independent"
CLUSTERED = {
    "corpus": "stratified over cells, dependence by sums over sources",
    "population": "stratified over cells, dependence by sums over documents",
}
"""By target. A source that names no document is one."""
UNION = "union bound over the cells' confidence sequences"
NO_PROBABILITIES = "not with sequences: probabilities of rankings hold for a number of judgements that was fixed before"
LEVELS = ("relation", "system", "family", "overall")
_COUNTS = ("satisfied", "violated", "judged")
COMPARES = "drawn to compare systems only: its judged groups are no random sample of the satisfied ones"
"""Why a cell has no rate although groups of it are judged."""


@dataclass(frozen=True)
class Certainty:
    """What probabilities and roll-ups are made from: joint draws of SR_g (draws, cells), and how cells go together.

    `of_false` and `of_genuine` are sums over clusters for R_FS and SR_g; None where the sources are not known.
    `target` says what these are: sources or documents. `confidence` is that of the cells' ends.
    """

    draws: np.ndarray
    of_false: Sums | None
    of_genuine: Sums | None
    target: Target = "corpus"
    confidence: float = 0.95

    def together(
        self, cells: pd.DataFrame, places: Sequence[int], sums: Sums | None
    ) -> tuple[pd.DataFrame, np.ndarray | None]:
        """These cells with the ends that go into an interval of their sum, and the correlations to go with them.

        Of sequences each cell's holds with the risk divided by the number of cells, and the distances are added: then
        all hold at once, at every look, however cells go together (Bonferroni's inequality).
        """
        some = cells.iloc[list(places)]
        if (some["method"] != PRIOR_POSTERIOR).all():
            return some, None if sums is None else sums.cautious(places)
        apart = 1 - (1 - self.confidence) / max(1, int((some["satisfied"] > 0).sum()))
        return with_rates(some, METHODS[SEQUENCE], apart, "corpus"), np.ones((len(some), len(some)))


@dataclass(frozen=True)
class Comparison:
    """What the design `informative` found out about one relation: how its systems differ, but no rate of theirs.

    `genuine` (judged, systems) has outcomes of judged informative groups, of which there are `informative` among the
    `groups` that apply to all of `systems`; `worth` is the share of the judged ones that would say as much if each were
    of a document of its own.
    """

    systems: tuple[str, ...]
    genuine: np.ndarray
    informative: int
    groups: int
    worth: float = 1.0


def comparison_of(shared: Shared) -> Comparison:
    """What groups that were drawn for comparisons only say of one relation's systems."""
    judged = shared.decides & ~np.isnan(shared.genuine).any(axis=1)
    settled = shared.genuine[judged]
    worth = worth_of_differences(settled, shared.cluster[judged])
    return Comparison(shared.systems, settled, int(shared.decides.sum()), len(shared.decides), worth)


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
            one.genuine, one.informative, one.groups, target, len(draws), seed + number, one.worth
        )
    return cells.assign(sr_genuine=rates), joint


def certainty(
    cells: pd.DataFrame,
    judged: pd.DataFrame | None,
    checked: pd.DataFrame | None,
    target: Target,
    confidence: float = 0.95,
    seed: int = 0,
) -> Certainty:
    """The posterior of the cells of a report, one row each, with the columns of `KEY` and the counts.

    `judged` has a row per judged group (columns of `KEY`, source, false, and cluster or as many clusters as sources),
    `checked` one per group that is in a rate (columns of `KEY`, cluster, satisfied): needed for the target
    `population`, where SR_o varies too. A column `value` of `judged` takes the place of `false`: what proxies leave
    unexplained varies together in another way. What cells are worth (`with_worth`) takes the place of their counts.
    """
    of_false, of_genuine = dependence(cells, judged, checked, target)
    # A difference is not made more careful by more correlation, as a sum is.
    shown = None if of_false is None else of_false.correlations()
    draws = genuine_draws(_worth_of(cells), shown, target, seed=seed)
    return Certainty(draws, of_false, of_genuine, target, confidence)


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
    of_judged, of_checked = _coded(cells, judged, value, checked, target)
    of_false = deviations(*of_judged, len(cells))
    return of_false, of_false if of_checked is None else of_products(of_judged, of_checked, len(cells))


def with_worth(
    cells: pd.DataFrame, judged: pd.DataFrame | None, checked: pd.DataFrame | None, confidence: float = 0.95
) -> pd.DataFrame:
    """The cells with the columns `audit.statistics.rates.WORTH`: texts to come from documents such as these.

    `cells` has the columns of `KEY`, the others as in `certainty`. Without clusters the cells stay as they are, without
    `checked` SR_o counts its groups as independent.
    """
    if judged is None or "cluster" not in judged:
        return cells
    of_judged, of_checked = _coded(cells, judged, "false", checked, "population")
    cells = cells.assign(judged_worth=deviations(*of_judged, len(cells)).worth(confidence))
    if of_checked is None:
        return cells
    return cells.assign(
        checked_worth=deviations(*of_checked, len(cells)).worth(confidence),
        opposed=opposed(of_judged, of_checked, len(cells)),
    )


def _worth_of(cells: pd.DataFrame) -> pd.DataFrame:
    """The cells with their counts as the effective sizes that they are worth."""
    if "judged_worth" not in cells:
        return cells
    satisfied, violated, judged = (cells[name].to_numpy(float, na_value=np.nan) for name in _COUNTS)
    checked = satisfied + violated
    sizes = (cells[name].to_numpy(float) if name in cells else checked for name in ("judged_worth", "checked_worth"))
    of_judged, of_checked = (
        np.divide(size, count, out=np.ones(len(cells)), where=count > 0)
        for size, count in zip(sizes, (judged, checked), strict=True)
    )
    false = cells["false"].to_numpy(float, na_value=np.nan)
    return cells.assign(
        satisfied=satisfied * of_checked, violated=violated * of_checked, judged=judged * of_judged,
        false=false * of_judged,
    )  # fmt: skip


Coded = tuple[np.ndarray, np.ndarray, np.ndarray]
"""(cluster, cell, value) of groups, as `deviations` takes them."""


def _coded(
    cells: pd.DataFrame, judged: pd.DataFrame, value: str, checked: pd.DataFrame | None, target: Target
) -> tuple[Coded, Coded | None]:
    """The judged groups, and for the population the checked ones, with common codes of clusters."""
    frames = [judged] if target == "corpus" or checked is None else [judged, checked]
    cluster = "source" if target == "corpus" or "cluster" not in judged else "cluster"
    places = [_places(cells, frame) for frame in frames]
    joined = np.concatenate([frame[cluster].to_numpy() for frame in frames])
    code = pd.factorize(joined)[0]
    parts: list[Coded] = []
    start = 0
    for frame, place, name in zip(frames, places, (value, "satisfied"), strict=False):
        known = place >= 0
        of = code[start : start + len(frame)][known]
        parts.append((of, place[known], frame[name].to_numpy(float)[known]))
        start += len(frame)
    return parts[0], parts[1] if len(parts) == 2 else None


def _places(cells: pd.DataFrame, groups: pd.DataFrame) -> np.ndarray:
    """Each group's place among the cells, -1 where there is none. Names are compared once for all groups of a cell."""
    number = np.zeros(len(groups), np.int64)
    of_cell = np.zeros(len(cells), np.int64)
    for name in KEY:
        code, names = pd.factorize(groups[name])
        values = {value: at for at, value in enumerate(names)}
        number = number * (len(names) + 1) + code
        of_cell = of_cell * (len(names) + 1) + np.array([values.get(value, len(names)) for value in cells[name]], int)
    distinct, code = np.unique(number, return_inverse=True)
    place = dict(zip(of_cell.tolist(), range(len(cells)), strict=True))
    return np.array([place.get(one, -1) for one in distinct.tolist()], np.int64)[code]


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
    of_false, false_together = sure.together(cells, places, sure.of_false)
    of_genuine, genuine_together = sure.together(cells, places, sure.of_genuine)
    low, high, reach = (of_false[f"fs_{name}"].to_numpy(float) for name in ("low", "high", "reach"))
    false = combine(fs_rate, low, high, satisfied, false_together, reach)
    low, high, reach = (of_genuine[f"sr_genuine_{name}"].to_numpy(float) for name in ("low", "high", "reach"))
    genuine = combine(sr_genuine, low, high, checked, genuine_together, reach)
    if false is not None:
        answer |= {"fs_rate": false.rate, "fs_low": false.low, "fs_high": false.high}
    if genuine is not None:
        answer |= {
            "sr_genuine": genuine.rate,
            "sr_genuine_low": genuine.low,
            "sr_genuine_high": genuine.high,
        }
    if (some["method"] == PRIOR_POSTERIOR).any():
        return answer | {"method": UNION}
    return answer | {"method": STRATIFIED if sure.of_false is None else CLUSTERED[sure.target]}


def without_probabilities(ranking: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """A ranking of sequences: what posterior draws say is not valid at every look, so none of it is given."""
    nothing = ("p_best", "rank_low", "rank_high", "letters", "score_low", "score_high")
    return [
        {name: None if name in nothing else value for name, value in one.items()}
        | {"reason": one["reason"] or NO_PROBABILITIES}
        for one in ranking
    ]


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
