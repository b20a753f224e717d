"""What a report says about its own errors, answers that relations carry; and about causes of false satisfactions."""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from audit.false_satisfaction.cells import Counted
from audit.false_satisfaction.questions import Carried
from audit.judging.causes import CAUSES
from audit.relations import name_order
from audit.reports.build import KEY, Report
from audit.reports.document import Entry
from audit.statistics.corrected import carry_error
from audit.statistics.intervals import Target, effective_interval, effective_size
from audit.store.bulk import LIMIT


def add_carries(report: Report, counted: Counted, target: Target) -> None:
    """Add to each relation of a report how many carried answers were wrong, of those that people answered, too; and
    by how much that can move its R_FS: a carried answer decides at most every group."""
    names = counted.cells[["study_id", "relation_id", "study", "relation"]].drop_duplicates()
    by_relation = {(row.study, row.relation): (row.study_id, row.relation_id) for row in names.itertuples(index=False)}
    for relation in report["relations"]:
        study, id = by_relation[relation["study"], relation["relation"]]
        own = [one for one in counted.audited if one.group_id // LIMIT % LIMIT == id and _is_of(one, counted, study)]
        relation["carry"] = _carry(own, counted, study, target)


def _is_of(carried: Carried, counted: Counted, study: int) -> bool:
    sources = counted.populations[study].source
    place = np.searchsorted(sources, carried.group_id // LIMIT**2)
    return bool(place < len(sources) and sources[place] == carried.group_id // LIMIT**2)


def _carry(audited: list[Carried], counted: Counted, study: int, target: Target) -> Entry:
    # A follow-up of several systems is one observation.
    follow_ups: Mapping[tuple[int, int], Carried] = {(one.source, one.follow_up): one for one in audited}
    population = counted.populations[study]
    places = [int(np.searchsorted(population.source, one.group_id // LIMIT**2)) for one in follow_ups.values()]
    unit = population.cluster[places] if target == "population" and places else np.array(places, int)
    error = carry_error(unit, np.array([one.wrong for one in follow_ups.values()], int))
    return {
        "audited": error.audited,
        "wrong": error.wrong,
        "error": error.rate,
        "low": error.low,
        "high": error.high,
    }


# What a report says of the causes of false satisfactions, and of the reasons for which people disagreed.

LEVELS = ("relation", "system", "overall")


def cause_entries(falses: pd.DataFrame, confidence: float = 0.95) -> list[Entry]:
    """Shares of causes by relation, by system and over all; empty where no cause was given.

    `falses` is what `named_falses` returns. An entry has by, name, task, study (of a relation), `false` (false
    satisfactions that count), `named` (those that have a cause), `cells` (cells with one) and `causes`: code, count,
    share, low and high for each code of the list. Each weighs as the false satisfactions of its cell that it stands
    for; intervals are Clopper and Pearson's at the effective number of sources (Korn and
    Graubard 1998), or a point where every false satisfaction there is has its cause.
    """
    if not falses["code"].notna().any():
        return []
    count = falses.groupby(KEY, sort=False)["code"].transform("size")
    named = falses.groupby(KEY, sort=False)["code"].transform("count")
    falses = falses.assign(weight=(falses["weight"] * count / named.where(named > 0)).astype(float))
    entries: list[Entry] = []
    for by in LEVELS:
        keys = {"relation": ["task", "study", "relation"], "system": ["task", "system"], "overall": ["task"]}[by]
        parts = [
            (key, group_falses)
            for key, group_falses in falses.groupby(keys, sort=False)
            if group_falses["code"].notna().any()
        ]
        for key, group_falses in sorted(parts, key=lambda part: tuple(name_order(str(name)) for name in part[0])):
            entries.append(
                {
                    "by": by,
                    "name": "all" if by == "overall" else str(key[-1]),
                    "task": str(key[0]),
                    "study": int(key[1]) if by == "relation" else None,
                    **_shares(group_falses, confidence),
                }
            )
    return entries


def _shares(falses: pd.DataFrame, confidence: float) -> Entry:
    named = falses[falses["code"].notna()]
    weight, source = named["weight"].to_numpy(float), named["source"].to_numpy()
    # Every false satisfaction of these cells is known and has its cause: nothing is estimated.
    whole = bool((weight <= 1 + 1e-9).all()) and len(named) == len(falses)
    causes: list[Entry] = []
    for code in CAUSES:
        has_code = (named["code"] == code).to_numpy()
        share = min(float(weight @ has_code / weight.sum()), 1.0)
        low = high = share
        if not whole:
            ends = effective_interval(share, effective_size(source, has_code, confidence, weight), confidence)
            low, high = ends.low, ends.high
        causes.append({"cause": code, "count": int(np.sum(has_code)), "share": share, "low": low, "high": high})
    return {"false": len(falses), "named": len(named), "cells": len(named.drop_duplicates(KEY)), "causes": causes}
