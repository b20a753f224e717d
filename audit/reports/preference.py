"""A user's preferences: weights over relations give one ranking, and say how much hangs on the weights."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from audit.errors import BadFile, UnknownName
from audit.files import read_table, refuse_bad_rows
from audit.messages import message
from audit.relations.registry import name_order
from audit.reports.certainty import WITHOUT_COUNTS, Certainty
from audit.reports.document import Move, PreferenceEntry, PreferredSystem, WeightedRanking
from audit.statistics.comparison import ENOUGH_FOR_P_BEST, Common, weighted_draws
from audit.statistics.intervals import Target
from audit.statistics.orders import best_of, normalised, rank_systems, smallest_move
from audit.statistics.rates import combine

NO_CHANCES = message("no_order.no_chances")
UNRELATED = message("no_order.unrelated")
COMPARED_ONLY = message("no_rate.weighted_compared")


@dataclass(frozen=True)
class Weights:
    """Weights by relation, 0 or more, and the file they came from. Relations that it leaves out weigh 0."""

    source: str
    of: Mapping[str, float]

    def over(self, relations: list[str]) -> dict[str, float]:
        """Weights of these relations, summing to 1. Raises UnknownName for a weight of a relation that is not there.

        >>> Weights("mine.csv", {"MR1.1": 3, "MR2.1": 1}).over(["MR1.1", "MR1.2", "MR2.1"])
        {'MR1.1': 0.75, 'MR1.2': 0.0, 'MR2.1': 0.25}
        """
        for relation in self.of:
            if relation not in relations:
                raise UnknownName("relation with a weight", relation, relations)
        shares = normalised([self.of.get(relation, 0.0) for relation in relations])
        return dict(zip(relations, shares.tolist(), strict=True))


def read_weights(file: str) -> Weights:
    """Weights of a CSV (UTF-8) with a header and the columns relation and weight.

    Raises BadFile where the file is missing, empty or lacks a column, or all weights are 0; BadRow, or BadFile for
    several, for a weight that is not a number from 0, an empty relation, or one that is there twice.
    """
    path = Path(file)
    faulty_rows: list[tuple[int, str]] = []
    rows = read_table(path, ("relation", "weight"), may_be_empty=("weight",), bad=faulty_rows)
    number_of_rows = len(rows) + len(faulty_rows)
    weights: dict[str, float] = {}
    for number, relation, text in zip(rows.index, rows["relation"], rows["weight"], strict=True):
        weight = _number(text)
        if relation in weights:
            faulty_rows.append((number, f"relation {relation} is there twice"))
        elif weight is None:
            faulty_rows.append((number, f"column weight is {text!r}; allowed are numbers from 0"))
        else:
            weights[relation] = weight
    refuse_bad_rows(path, faulty_rows, number_of_rows)
    if not sum(weights.values()):
        raise BadFile(f"{path}: no relation has a weight above 0; give at least one")
    return Weights(path.name, weights)


def preference(
    cells: pd.DataFrame,
    commons: Sequence[Common | None],
    certainty: Certainty,
    weights: Weights,
    delta: float,
) -> PreferenceEntry:
    """The entry `preference` of a report: every system's weighted SR_g, how sure the winner is, what would change it.

    `cells` are the report's, with rates over the common groups of their relation, and with the cells' own SR_g in a
    column `own`; `commons` are the relations' common groups in the order of the cells, None where rates alone are
    known; `certainty` says how cells go together, which gives a score its interval, and what it is about. A relation
    that is in several studies shares its weight among them. A system that was not run under a relation with a weight is
    left out, with the reason; while a system has no estimate there, nobody knows the winner, and probabilities are
    None. Where the column `relative` is true rates are known up to a constant: they decide who wins, but give no score.
    """
    entries = entries_of(cells)
    relations = sorted(dict.fromkeys(entries["relation"]), key=name_order)
    shares = weights.over(relations)
    times = entries["relation"].map(entries["relation"].value_counts())
    weight = (entries["relation"].map(shares) / times).to_numpy(float)
    ranked = weighted_ranking(cells, commons, certainty, weight, delta)
    return {"weights": shares, "source": weights.source, **ranked}


def entries_of(cells: pd.DataFrame) -> pd.DataFrame:
    """The relations of a report's cells in their order: columns task, study, relation."""
    return cells[["task", "study", "relation"]].drop_duplicates().reset_index(drop=True)


def weighted_ranking(
    cells: pd.DataFrame,
    commons: Sequence[Common | None],
    certainty: Certainty,
    weight: np.ndarray,
    delta: float,
) -> WeightedRanking:
    """The systems by their weighted SR_g; arguments as of `preference`, `weight` (relations,) those of `entries_of`.

    The weights sum to 1. Only systems of a task with a weight are in it.
    """
    entries = entries_of(cells)
    tasks = set(entries["task"][weight > 0])
    systems = sorted(set(cells.loc[cells["task"].isin(tasks), "system"]))
    place = _place_of_cells(cells, systems, entries)
    observed, genuine = (_by_place(cells[name].to_numpy(float), place) for name in ("sr_observed", "sr_genuine"))
    weighted = weight > 0
    lacks = np.isnan(observed[:, weighted])
    compared = np.flatnonzero(~lacks.any(axis=1))
    names = entries["relation"].to_numpy()[weighted]
    ranking: list[PreferredSystem] = [
        {
            "system": system,
            "score_observed": None,
            "score": None,
            "score_low": None,
            "score_high": None,
            "p_best": None,
            "rank_low": None,
            "rank_high": None,
            "reason": message("no_rate.of", names=dict.fromkeys(names[lacks[at]])) if lacks[at].any() else None,
        }
        for at, system in enumerate(systems)
    ]
    before = observed[np.ix_(compared, weighted)] @ weight[weighted]
    after = genuine[np.ix_(compared, weighted)] @ weight[weighted]
    relative = bool(cells["relative"].to_numpy(bool)[place[np.ix_(compared, weighted)]].any())
    for at, score_before, score_after in zip(compared, before, after, strict=True):
        ranking[at] |= {
            "score_observed": float(score_before),
            "score": None if relative or np.isnan(score_after) else float(score_after),
        }
        if relative:
            ranking[at]["reason"] = COMPARED_ONLY
        if np.isnan(score_after):
            blamed = dict.fromkeys(names[np.isnan(genuine[at, weighted])])
            ranking[at]["reason"] = message("no_rate.no_estimate", names=blamed)
    entry: WeightedRanking = {
        "ranking": ranking,
        "winner_observed": best_of(dict(zip((systems[at] for at in compared), before, strict=True))),
        "winner": [],
        "move": None,
        "withheld": False,
    }
    if not len(compared) or np.isnan(after).any():
        return entry
    best = best_of(dict(zip((systems[at] for at in compared), after, strict=True)))
    if not relative:
        for at, score in zip(compared, after.tolist(), strict=True):
            low, high = _ends(cells, certainty, place[at, weighted], weight[weighted], score)
            ranking[at] |= {"score_low": low, "score_high": high}
    counted = [common for common, counts in zip(commons, weighted, strict=True) if counts]
    draws = _score_draws(
        counted,
        weight[weighted],
        [systems[at] for at in compared],
        certainty.target,
    )
    _add_ranks([ranking[at] for at in compared], draws, delta, certainty.confidence)
    move = _move_entry(genuine, weight, systems.index(best[0]), systems, entries["relation"].tolist(), delta)
    few = _few_judged(counted, [systems[at] for at in compared])
    entry |= {"winner": best, "move": move, "withheld": few}
    return entry


def _few_judged(commons: Sequence[Common | None], systems: Sequence[str]) -> bool:
    """Whether a system has too few judged groups, over all these relations, for its P(best) to hold."""
    judged = np.zeros((2, len(systems)))  # judged, and all that could be
    for common in commons:
        if common is None:
            continue
        if common.outcomes is not None:
            judged += [[len(common.outcomes)], [common.deciding]]
        else:
            at = [common.systems.index(system) for system in systems]
            judged += [common.judged[at], common.satisfied[at]]
    return bool(((judged[0] < ENOUGH_FOR_P_BEST) & (judged[0] < judged[1])).any())


def shown_ranking(ranked: WeightedRanking) -> list[PreferredSystem]:
    """The systems of a ranking, without probabilities where too few groups are judged for these to hold."""
    return [{**one, "p_best": None} for one in ranked["ranking"]] if ranked["withheld"] else ranked["ranking"]


def _place_of_cells(cells: pd.DataFrame, systems: Sequence[str], entries: pd.DataFrame) -> np.ndarray:
    """The row in `cells` of each system (rows) under each of the relations (columns); -1 for none."""
    row = {system: number for number, system in enumerate(systems)}
    column = {key: number for number, key in enumerate(_keys(entries))}
    place = np.full((len(systems), len(entries)), -1)
    for number, (key, system) in enumerate(zip(_keys(cells), cells["system"], strict=True)):
        if system in row:
            place[row[system], column[key]] = number
    return place


def _add_ranks(ranking: Sequence[PreferredSystem], draws: np.ndarray | str, delta: float, confidence: float) -> None:
    """Add P(best) and rank intervals, from draws (draws, systems), to the entries; or why there are none."""
    if isinstance(draws, str):
        for entry in ranking:
            entry["reason"] = draws
        return
    for entry, standing in zip(ranking, rank_systems(draws, delta, confidence), strict=True):
        entry |= {"p_best": standing.p_best, "rank_low": standing.rank_low, "rank_high": standing.rank_high}


def _score_draws(
    commons: Sequence[Common | None], weight: np.ndarray, systems: list[str], target: Target
) -> np.ndarray | str:
    """Draws of the systems' scores (draws, systems) over the relations with a weight; or why there are none."""
    counted = [common for common in commons if common is not None]
    if len(counted) < len(commons):
        return WITHOUT_COUNTS
    if len(counted) > 1 and any(common.source is None for common in counted):
        return UNRELATED
    draws = weighted_draws(counted, weight.tolist(), systems, target)
    return NO_CHANCES if draws is None else draws


def _ends(
    cells: pd.DataFrame, certainty: Certainty, places: np.ndarray, weight: np.ndarray, score: float
) -> tuple[float, float] | tuple[None, None]:
    """The interval of a score: as wide as that of the cells' own rates, taken together with these weights."""
    chosen, sums = cells.iloc[places], certainty.of_genuine
    together = None if sums is None else sums.cautious(places.tolist())
    columns = ("own", "sr_genuine_low", "sr_genuine_high", "sr_genuine_reach")
    own, lows, highs, reach = (chosen[name].to_numpy(float) for name in columns)
    combined = None if np.isnan(lows + highs).any() else combine(own, lows, highs, weight.tolist(), together, reach)
    if combined is None:
        return None, None
    return score - (combined.rate - combined.low), score + (combined.high - combined.rate)


def _move_entry(
    genuine: np.ndarray, weight: np.ndarray, winner: int, systems: list[str], relations: list[str], delta: float
) -> Move | None:
    """How far the weights can move before another system draws level; None where no move can do it."""
    move = smallest_move(genuine, weight, winner, delta)
    if move is None:
        return None
    new: dict[str, float] = {}
    for relation, share in zip(relations, move.weights, strict=True):
        new[relation] = new.get(relation, 0.0) + share
    return {"distance": move.distance, "rival": systems[move.rival], "weights": new}


def _keys(frame: pd.DataFrame) -> list[tuple[object, object, object]]:
    columns = (frame[name] for name in ("task", "study", "relation"))
    return [tuple(None if pd.isna(value) else value for value in key) for key in zip(*columns, strict=True)]  # type: ignore[misc]


def _by_place(values: np.ndarray, place: np.ndarray) -> np.ndarray:
    """The cells' values in the shape of `place`; NaN where there is no cell."""
    return np.where(place >= 0, values[np.maximum(place, 0)] if len(values) else np.nan, np.nan)


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) and number >= 0 and "_" not in text else None
