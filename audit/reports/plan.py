"""`audit plan`: how many questions each design needs, before the work and from what is known so far."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from sqlalchemy import Connection, Engine, select

from audit.annotation.questions import Asked
from audit.errors import AuditError
from audit.false_satisfaction.cells import CELL, Counted, count
from audit.false_satisfaction.settling import State, Whose, drawn_groups, known_answers, settle_group
from audit.relations import Outcome
from audit.reports.plan_groups import asked_in, asked_of, beginnings, numbered, output_codes, questions, seeds_of
from audit.sampling.designs import INFORMATIVE, Numbers
from audit.statistics.costs import cost
from audit.statistics.planning import (
    GAP,
    GUESS,
    Need,
    distinct_questions,
    equal_sizes,
    sizes_by_design,
    sizes_to_decide,
)
from audit.statistics.ranking_allocation import Contest, Goal, contest, standing
from audit.store import Checked, table_of, tables
from audit.store.ids import LIMIT

Plan = dict[str, Any]
"""The document of `audit plan --json`."""
ORDERED_BY = {"simple": "simple"}
"""Designs whose lists are drawn cell by cell; all others share their random numbers."""
REPORTED = {
    "simple": "the report's interval at a number fixed before",
    "shared": "the report's interval at a number fixed before",
    "two-phase": "the report's interval; that it holds although its number hangs on the first answers is simulated",
    "stopping": "the asymptotic confidence sequence of each difference, which holds whenever one stops: "
    "audit report --interval sequence",
    "always-valid": "the confidence sequence by which it stops, which holds whenever one stops: "
    "audit report --interval sequence",
}


DRAWN_BY = {"simple": "simple", "shared": "shared", "two-phase": "shared", "always-valid": "shared"}
"""The design of `audit sample` that draws for a width. For decisions it is `informative`, but for `simple`."""


def plan(
    engine: Engine,
    *,
    half_width: float | None = None,
    decide: Goal | None = None,
    delta: float = 0.02,
    confidence: float = 0.95,
    guess: float = GUESS,
    pace: float | None = None,
    price_per_hour: float | None = None,
    annotators: int | None = None,
    study: int | None = None,
    whose: Whose = "both",
) -> Plan:
    """What each design needs so that every cell's interval has `half_width`, or every relation's contest is decided.

    `pace` is in seconds an answer, `price_per_hour` in any currency; `annotators` per question is that of the samples
    drawn, else 2. Raises AuditError where nothing was run, and what the statistics raise for impossible numbers.
    """
    if decide is None and half_width is None:
        raise AuditError("a plan needs a goal: a half-width, or a decision about the winner or the order")
    cost(
        0, 1 if annotators is None else annotators, pace, price_per_hour
    )  # mistakes in these are found before minutes of reading
    counted = count(engine, whose, study)
    people = (
        annotators
        if annotators is not None
        else max((int(str(one["annotators"])) for one in counted.samples), default=2)
    )
    with engine.connect() as connection:
        asked = questions(connection, counted)
        known = known_answers(connection, whose)
        cells: list[dict[str, Any]] = []
        if decide is None and half_width is not None:
            needs, cells, relations = _for_width(connection, asked, counted, known, half_width, confidence, guess)
        elif decide is not None:
            states = _states(connection, counted, known)
            needs, relations = _for_decisions(
                connection, asked, counted, known, states, decide, delta, confidence, guess
            )
    designs = []
    for need in needs:
        work = cost(need.to_go, people, pace, price_per_hour)
        designs.append(asdict(need) | {"to_go": need.to_go} | asdict(work) | {"reported": REPORTED[need.design]})
        by = DRAWN_BY[need.design] if decide is None or need.design == "simple" else INFORMATIVE
        designs[-1]["draw"] = f"audit sample --design {by}"
    return {
        "goal": "half-width" if decide is None else decide,
        "half_width": half_width if decide is None else None,
        "delta": None if decide is None else delta,
        "confidence": confidence,
        "guess": guess,
        "annotators": people,
        "pace": pace,
        "price_per_hour": price_per_hour,
        "designs": designs,
        "cells": cells,
        "relations": relations,
        "notes": _notes(counted, guess, decide),
    }


def lines(document: Plan) -> list[str]:
    """The plan for people: a line a design, the fewest questions to go first.

    >>> lines({"goal": "order", "delta": 0.02, "half_width": None, "confidence": 0.95, "designs": [], "notes": []})
    ['For the order of systems in every relation, differences up to 0.02 aside, at 95 % confidence:']
    """
    goal = {
        "half-width": f"For intervals of at most +- {document['half_width']} in every cell",
        "winner": f"For the best system of every relation, differences up to {document['delta']} aside",
        "order": f"For the order of systems in every relation, differences up to {document['delta']} aside",
    }[document["goal"]]
    found = [f"{goal}, at {100 * document['confidence']:g} % confidence:"]
    for one in sorted(document["designs"], key=lambda need: need["to_go"]):
        text = f"  {one['design']:12} {one['to_go']:>9,} questions to go ({one['answered']:,} of {one['questions']:,} "
        text += f"are answered; at worst {one['questions_worst']:,} in all)"
        if one["hours"] is not None:
            text += f", {one['hours']:,.1f} hours"
        if one["price"] is not None:
            text += f", price {one['price']:,.2f}"
        found.append(f"{text}; draw with `{one['draw']}`")
    return found + [f"Note: {note}" for note in document["notes"]]


def _notes(counted: Counted, guess: float, decide: Goal | None) -> list[str]:
    blind = int(((counted.cells["judged"] == 0) | (counted.cells["false"].isna() & (decide is None))).sum())
    notes = []
    if blind:
        whole = len(counted.cells)
        notes.append(
            f"{blind} of {whole} cells have no judged group: there a rate of {guess:g} is guessed; the worst case is a "
            "rate of 0.5."
            if decide is None
            else f"{blind} of {whole} cells have no judged group: there a rate of {guess:g} and a difference of "
            f"{GAP:g} between systems is guessed; the worst case is a rate of 0.5 and no difference."
        )
    notes.append(
        "Questions about follow-ups are counted wherever a relation may not carry the answer; a wrong source makes "
        "them needless, so fewer may be asked."
    )
    return notes


def _answered(known: Mapping[Asked, Any]) -> np.ndarray:
    return np.array(sorted({numbered(given, output) for _, given, output in known}), np.int64)


def _for_width(
    connection: Connection,
    asked: pd.DataFrame,
    counted: Counted,
    known: Mapping[Asked, Any],
    half_width: float,
    confidence: float,
    guess: float,
) -> tuple[list[Need], list[dict[str, Any]], list[dict[str, Any]]]:
    """The needs of all designs, how many groups each cell needs, and the questions that each relation needs."""
    cells = counted.cells.reset_index(drop=True)
    # What was judged to compare systems says nothing about a cell's rate: there the work is before its beginning.
    cells.loc[cells["false"].isna(), ["judged", "false"]] = 0
    designs = sizes_by_design(cells, half_width, confidence, guess)
    needs, lists, answered = [], {}, _answered(known)
    # No design asks about more of a list than the longest of its beginnings.
    longest = np.max([np.maximum(*sizes) for sizes in designs.values()], axis=0)
    systems = counted.keys["system_id"].to_numpy(np.int64)
    for order in ("simple", "shared"):
        lists[order] = asked_in(asked, beginnings(connection, counted, order, longest), systems)
    for design, (expected, worst) in designs.items():
        of = lists[ORDERED_BY.get(design, "shared")]
        questions, there = distinct_questions(of, expected, answered)
        needs.append(Need(design, questions, max(distinct_questions(of, worst)[0], questions), there))
    rows = cells[["study", "task", "relation", "system", "satisfied", "judged", "false"]].to_dict("records")
    places = [dict(row) | {"needed": int(n)} for row, n in zip(rows, designs["two-phase"][0], strict=True)]
    relations = []
    for key, some in cells.groupby(["study", "task", "relation"], sort=False):
        to_go = {}
        for design, (expected, _) in designs.items():
            of = lists[ORDERED_BY.get(design, "shared")]
            found, there = distinct_questions(of[of["cell"].isin(some.index)], expected, answered)
            to_go[design] = found - there
        relations.append(dict(zip(("study", "task", "relation"), key, strict=True)) | {"to_go": to_go})
    return needs, places, relations


def _states(connection: Connection, counted: Counted, known: Mapping[Asked, Any]) -> dict[tuple[int, int], float]:
    """(group, system) -> 1 (genuinely satisfied) or 0 (false satisfaction), of drawn groups that are settled."""
    samples = [int(str(one["id"])) for one in counted.samples]
    states = {}
    for drawn in drawn_groups(connection, samples) if samples else ():
        state = settle_group(drawn, known).state
        if state is not State.WAITING:
            states[drawn.group_id, drawn.system_id] = float(state is State.TRUE)
    return states


def _for_decisions(
    connection: Connection,
    asked: pd.DataFrame,
    counted: Counted,
    known: Mapping[Asked, Any],
    states: dict[tuple[int, int], float],
    goal: Goal,
    delta: float,
    confidence: float,
    guess: float,
) -> tuple[list[Need], list[dict[str, Any]]]:
    wanted: dict[str, tuple[set[int], set[int]]] = {
        name: (set(), set()) for name in ("simple", "shared", "stopping", "always-valid")
    }
    places: list[dict[str, Any]] = []
    answered = set(_answered(known).tolist())
    simple = beginnings(connection, counted, "simple", counted.cells["satisfied"].to_numpy())
    place = {tuple(cell): at for at, cell in enumerate(counted.keys[CELL].to_numpy().tolist())}
    # By the same random numbers, a source's.
    seeds = seeds_of(counted, ("shared", INFORMATIVE))
    numbers = {study: Numbers.of_study(connection, study, seed) for study, seed in seeds.items()}
    relation, system = table_of(tables.Relation), table_of(tables.System)
    rows = connection.execute(select(relation.c.id, relation.c.task, relation.c.name))
    relations = {int(id): (str(task), str(name)) for id, task, name in rows}
    names = {int(id): str(name) for id, name in connection.execute(select(system.c.id, system.c.name))}
    for study, relation_id, some in _applying(counted.checks):
        systems = list(some["system_id"].unique())
        if len(systems) < 2:
            continue
        some = some.merge(output_codes(connection, study, relation_id), on=["group_id", "system_id"])
        number = numbers[study].of(some["source"].to_numpy())
        some = some.assign(number=number, y=_outcomes(some, states)).sort_values(["number", "source"], kind="stable")
        tables_of = {name: some.pivot(index=["number", "source"], columns="system_id", values=name)[systems]
                     for name in ("satisfied", "code", "y", "group_id")}  # fmt: skip
        # A group that does not apply to every compared system compares nothing.
        common = tables_of["satisfied"].notna().all(axis=1)
        satisfied, code, y, ids = (tables_of[name][common].to_numpy() for name in tables_of)
        made = contest(satisfied.astype(bool), code)
        values = [_settled(y, made, pair) for pair in range(len(made.pairs))]
        at = standing(made, values, goal, delta, confidence)
        sizes = sizes_to_decide(made, at, [len(one) for one in values], goal, delta, confidence, guess)
        to_go = {}
        for design, both in sizes.items():
            expected, worst = (_questions(made, chosen, ids, satisfied.astype(bool), systems, asked) for chosen in both)
            wanted[design][0].update(expected)
            wanted[design][1].update(worst)
            to_go[design] = len(expected - answered)
        totals = some.groupby("system_id")["satisfied"].agg(["sum", "mean"]).loc[systems]
        fixed = dict(zip(systems, equal_sizes(totals["mean"], totals["sum"], goal, delta, confidence), strict=True))
        lengths = {place[study, relation_id, system]: size for system, size in fixed.items()}
        drawn = simple[simple["rank"] <= simple["cell"].map(lengths).fillna(0)]
        of_cells = counted.keys["system_id"].to_numpy(np.int64)[drawn["cell"].to_numpy(int)]
        needed = asked_of(asked, drawn["group_id"].to_numpy(), of_cells)
        for into in wanted["simple"]:
            into |= needed
        to_go["simple"] = len(needed - answered)
        named = {"study": study, "task": relations[relation_id][0], "relation": relations[relation_id][1]}
        places.append(named | _place([names[one] for one in systems], systems, made, values, at) | {"to_go": to_go})
    needs = [
        Need(design, len(expected), max(len(worst), len(expected)), len(expected & answered))
        for design, (expected, worst) in wanted.items()
    ]
    return needs, places


def _outcomes(some: pd.DataFrame, states: dict[tuple[int, int], float]) -> np.ndarray:
    """y of every checked group: 0 where it is violated, what is settled where it is satisfied, else NaN."""
    keys = zip(some["group_id"], some["system_id"], some["satisfied"], strict=True)
    return np.array([states.get((group, system), np.nan) if held else 0.0 for group, system, held in keys], float)


def _settled(y: np.ndarray, made: Contest, pair: int) -> np.ndarray:
    """Differences of a pair over the longest settled beginning of its informative groups."""
    i, j = made.pairs[pair]
    difference = y[made.groups[pair], i] - y[made.groups[pair], j]
    unknown = np.isnan(difference)
    return difference[: int(np.argmax(unknown))] if unknown.any() else difference


def _questions(
    made: Contest,
    sizes: np.ndarray,
    ids: np.ndarray,
    satisfied: np.ndarray,
    systems: Sequence[int],
    asked: pd.DataFrame,
) -> set[int]:
    """Questions about the first informative groups of each pair, for the systems that are satisfied."""
    found: set[int] = set()
    for (i, j), rows, size in zip(made.pairs, made.groups, sizes, strict=True):
        for system in (i, j):
            held = rows[:size][satisfied[rows[:size], system]]
            some = pd.unique(ids[held, system])
            found |= asked_of(asked, some, np.full(len(some), systems[system]))
    return found


def _applying(checks: Checked) -> Iterator[tuple[int, int, pd.DataFrame]]:
    """By study and relation (ids) the satisfied and violated groups: columns group_id, system_id, source, satisfied."""
    of = checks.study * LIMIT + checks.relation
    for pair in np.unique(of).tolist():
        rows = np.flatnonzero(of == pair)
        outcome, groups = checks.outcome[rows], checks.groups(rows)
        applies = (outcome == Outcome.SATISFIED) | (outcome == Outcome.VIOLATED)
        column, row = np.nonzero(applies.T)
        columns = {
            "group_id": groups[row, column],
            "system_id": np.array(checks.systems, np.int64)[column],
            "source": checks.source[rows[row]],
            "satisfied": outcome[row, column] == Outcome.SATISFIED,
        }
        yield pair // LIMIT, pair % LIMIT, pd.DataFrame(columns)


def _place(
    names: Sequence[str], systems: Sequence[int], made: Contest, values: list[np.ndarray], at: Any
) -> dict[str, Any]:
    """What is known of one relation's contest; `names` are those of `systems`, whose ids tell equal ones apart."""
    if len(set(names)) < len(names):
        names = [f"{name}#{system}" for name, system in zip(names, systems, strict=True)]
    begun = any(len(one) for one in values)
    return {
        "common": made.common,
        "informative": len(np.unique(np.concatenate(made.groups))),
        "judged": len(np.unique(np.concatenate(
            [rows[: len(one)] for rows, one in zip(made.groups, values, strict=True)]))),
        "decided": bool(at.decided),
        "risk": float(at.risk) if begun else None,
        "order": [names[i] for i in at.order] if begun else [],
        "differences": [
            {"system": names[i], "other": names[j], "difference": float(at.difference[i, j]),
             "low": float(at.low[i, j]), "high": float(at.high[i, j])}
            for i, j in combinations(at.order, 2)
        ] if begun else [],
    }  # fmt: skip
