"""`audit plan`: how many questions each design needs, before the work and from what is known so far."""

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from sqlalchemy import Connection, Engine, select

from audit.annotation.questions import Asked
from audit.errors import AuditError
from audit.false_satisfaction.cells import CELL, Counted, count
from audit.false_satisfaction.settling import State, Whose, drawn_groups, known_answers, settle_group
from audit.reports.plan_groups import Match, asked_in, asked_of, beginnings, matches, numbered, questions, seeds_of
from audit.sampling.designs import INFORMATIVE
from audit.sampling.domains import ALL, GOLD, check_domain
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
from audit.statistics.ranking_allocation import Contest, Goal, standing
from audit.store import table_of, tables

Plan = dict[str, Any]
"""The document of `audit plan --json`."""
ORDERED_BY = {"simple": "simple"}
"""Designs whose lists are drawn cell by cell; all others share their random numbers."""
SHARING = ("shared", INFORMATIVE)
"""Designs that share a source's random number among relations and systems."""
ANNOTATORS = 2
"""People per question where no sample says otherwise, as `audit sample` has it."""
SEQUENCES = (
    "the confidence sequence by which it stops, which holds whenever one stops: audit report --interval sequence"
)
REPORTED = {
    "simple": "the report's interval at a number fixed before",
    "shared": "the report's interval at a number fixed before",
    "two-phase": "the report's interval; that it holds although its number hangs on the first answers is simulated",
    "always-valid": "the confidence sequence, which holds whenever one stops: audit report --interval sequence",
}
DRAWN_BY = {"simple": "simple", "shared": "shared", "two-phase": "shared", "always-valid": "shared"}
"""The design of `audit sample` that draws for a width. For decisions it is `informative`, but for `simple`."""
WIDE = {
    "simple": "enough whatever the rates are",
    "shared": "enough whatever the rates are",
    "two-phase": "enough at the rates expected; judge 40 groups a cell, plan again, and go on where that is too wide",
    "always-valid": "enough at the rates expected; judging may stop at any time",
}
"""What a design's number of questions promises, by design."""
DECIDED = {
    "simple": "enough to be right in each relation with about that probability, however close systems are",
    "shared": "enough to be right in each relation with about that probability, however close systems are",
    "always-valid": "right in each relation with at least that probability, however often one looks; the number is "
    "enough at the differences expected: judge, plan again, and stop where a relation is decided",
}
"""The same for decisions."""


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
    database: str | None = None,
    domain: str | None = None,
) -> Plan:
    """What each design needs so that every cell's interval has `half_width`, or every relation's contest is decided.

    `pace` is in seconds an answer, `price_per_hour` in any currency; `annotators` per question is that of the samples
    drawn, else 2. `database` is named in the commands that draw what a design needs. `domain`
    (`audit.sampling.domains`) says which sources count and are drawn from; None: those of each study's sample. Raises
    AuditError where nothing was run or the domain has no satisfied groups, UnknownName for a domain, and what the
    statistics raise for impossible numbers.
    """
    if domain is not None:
        check_domain(domain)
    if decide is None and half_width is None:
        raise AuditError("a plan needs a goal: a half-width, or a decision about the winner or the order")
    cost(
        0, 1 if annotators is None else annotators, pace, price_per_hour
    )  # mistakes in these are found before minutes of reading
    counted = count(engine, whose, study, domain=domain)
    own = {int(str(one["id"])): int(str(one["seed"])) for one in counted.studies}
    if domain is not None:
        counted = _with_free_seeds(engine, counted, domain)
    people = (
        annotators
        if annotators is not None
        else max((int(str(one["annotators"])) for one in counted.samples), default=ANNOTATORS)
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
        by = DRAWN_BY[need.design] if decide is None or need.design == "simple" else INFORMATIVE
        designs.append(
            asdict(need)
            | {"to_go": need.to_go}
            | asdict(work)
            | {
                "reported": REPORTED[need.design],
                "promise": (WIDE if decide is None else DECIDED)[need.design],
                "draw": _command(counted, own, relations, need.design, by, people, database, domain),
            }
        )
    return {
        "goal": "half-width" if decide is None else decide,
        "half_width": half_width if decide is None else None,
        "delta": None if decide is None else delta,
        "confidence": confidence,
        "guess": guess,
        "domain": domain,
        "annotators": people,
        "pace": pace,
        "price_per_hour": price_per_hour,
        "designs": designs,
        "cells": cells,
        "relations": relations,
        "notes": _notes(counted, guess, decide, domain),
    }


def lines(document: Plan) -> list[str]:
    """The plan for people: a line a design, the fewest questions to go first, and the command that draws for it.

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
        text += f"are answered; at worst {one['questions_worst']:,})"
        if one["hours"] is not None:
            text += f", {one['hours']:,.1f} hours"
        if one["price"] is not None:
            text += f", price {one['price']:,.2f}"
        found.append(f"{text}: {one['promise']}.")
        found += [f"    {one['draw']}"] if one["draw"] else []
    return found + [f"Note: {note}" for note in document["notes"]]


def _with_free_seeds(engine: Engine, counted: Counted, domain: str) -> Counted:
    """The counts, with studies whose seed no sample of another domain has: under one seed a sample has one domain."""
    table = table_of(tables.Sample)
    with engine.connect() as connection:
        rows = connection.execute(select(table.c.study_id, table.c.seed).where(table.c.domain != domain))
        taken = {(int(study), int(seed)) for study, seed in rows}

    def free(study: int, seed: int) -> int:
        while (study, seed) in taken:
            seed += 1
        return seed

    studies = [one | {"seed": free(int(str(one["id"])), int(str(one["seed"])))} for one in counted.studies]
    return replace(counted, studies=studies)


def _command(
    counted: Counted,
    own: Mapping[int, int],
    relations: Sequence[Mapping[str, Any]],
    design: str,
    by: str,
    people: int,
    database: str | None,
    domain: str | None,
) -> str | None:
    """The command that draws what a design needs, study by study; None where it needs nothing.

    `own` are the seeds of the studies themselves.
    """
    commands = []
    for study, seed in seeds_of(counted, (by,) if by != INFORMATIVE else SHARING).items():
        needed = [(str(one["relation"]), int(one["groups"][design])) for one in relations if one["study"] == study]
        sizes = {name: max(size for of, size in needed if of == name) for name, size in needed if size}
        if not sizes:
            continue
        words = ["audit", "sample", *(["--db", database] if database else [])]
        words += ["--study", str(study)] if len(own) > 1 else []
        words += ["--design", by, "--per-relation"]
        one_size = len(set(sizes.values())) == 1 and len(sizes) == len(needed)
        words.append(str(*set(sizes.values())) if one_size else ",".join(f"{k}={n}" for k, n in sizes.items()))
        words += ["--domain", domain] if domain not in (None, ALL) else []
        words += ["--seed", str(seed)] if seed != own[study] else []
        words += ["--annotators", str(people)] if people != ANNOTATORS else []
        commands.append(shlex.join(words))
    return " && ".join(commands) or None


def _notes(counted: Counted, guess: float, decide: Goal | None, domain: str | None) -> list[str]:
    blind = int(((counted.cells["judged"] == 0) | (counted.cells["false"].isna() & (decide is None))).sum())
    notes = ["Only sources with a gold label count, and are drawn from."] if domain == GOLD else []
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
    by_cell = sizes_by_design(cells, half_width, confidence, guess)
    needs, lists, answered = [], {}, _answered(known)
    # A relation's cells are drawn alike: as many groups of each as the one that needs most.
    relation = cells.groupby(["study", "task", "relation"], sort=False).ngroup()
    satisfied = cells["satisfied"].to_numpy(int)
    designs = {
        design: tuple(
            pd.Series(one).groupby(relation).transform("max").clip(upper=satisfied).to_numpy(int) for one in both
        )
        for design, both in by_cell.items()
    }
    longest = np.max([np.maximum(*sizes) for sizes in designs.values()], axis=0)
    systems = counted.keys["system_id"].to_numpy(np.int64)
    for order in ("simple", "shared"):
        lists[order] = asked_in(asked, beginnings(connection, counted, order, longest), systems)
    for design, (expected, worst) in designs.items():
        of = lists[ORDERED_BY.get(design, "shared")]
        questions, there = distinct_questions(of, expected, answered)
        needs.append(Need(design, questions, max(distinct_questions(of, worst)[0], questions), there))
    rows = cells[["study", "task", "relation", "system", "satisfied", "judged", "false"]].to_dict("records")
    places = [dict(row) | {"needed": int(n)} for row, n in zip(rows, by_cell["two-phase"][0], strict=True)]
    relations = []
    for key, some in cells.groupby(["study", "task", "relation"], sort=False):
        to_go, groups = {}, {}
        for design, (expected, _) in designs.items():
            groups[design] = int(expected[some.index].max())
            of = lists[ORDERED_BY.get(design, "shared")]
            found, there = distinct_questions(of[of["cell"].isin(some.index)], expected, answered)
            to_go[design] = found - there
        named = dict(zip(("study", "task", "relation"), key, strict=True))
        relations.append(named | {"to_go": to_go, "groups": groups})
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
        name: (set(), set()) for name in ("simple", "shared", "always-valid")
    }
    places: list[dict[str, Any]] = []
    answered = set(_answered(known).tolist())
    simple = beginnings(connection, counted, "simple", counted.cells["satisfied"].to_numpy())
    place = {tuple(cell): at for at, cell in enumerate(counted.keys[CELL].to_numpy().tolist())}
    relation, system = table_of(tables.Relation), table_of(tables.System)
    rows = connection.execute(select(relation.c.id, relation.c.task, relation.c.name))
    relations = {int(id): (str(task), str(name)) for id, task, name in rows}
    names = {int(id): str(name) for id, name in connection.execute(select(system.c.id, system.c.name))}
    for match in matches(connection, counted, states, seeds_of(counted, SHARING)):
        made, systems = match.contest, match.systems
        values = [_settled(match.y, made, pair) for pair in range(len(made.pairs))]
        at = standing(made, values, goal, delta, confidence)
        sizes = sizes_to_decide(made, at, [len(one) for one in values], goal, delta, confidence, guess)
        to_go, groups = {}, {}
        for design, both in sizes.items():
            groups[design] = both[0]
            expected, worst = (_questions(match, first, asked) for first in both)
            wanted[design][0].update(expected)
            wanted[design][1].update(worst)
            to_go[design] = len(expected - answered)
        sizes_of = equal_sizes(match.observed, match.satisfied_by, goal, delta, confidence)
        fixed = dict(zip(systems, sizes_of.tolist(), strict=True))
        lengths = {place[match.study, match.relation, system]: size for system, size in fixed.items()}
        drawn = simple[simple["rank"] <= simple["cell"].map(lengths).fillna(0)]
        of_cells = counted.keys["system_id"].to_numpy(np.int64)[drawn["cell"].to_numpy(int)]
        needed = asked_of(asked, drawn["group_id"].to_numpy(), of_cells)
        for into in wanted["simple"]:
            into |= needed
        to_go["simple"], groups["simple"] = len(needed - answered), int(max(fixed.values()))
        task, name = relations[match.relation]
        named = {"study": match.study, "task": task, "relation": name}
        places.append(
            named
            | _place([names[one] for one in systems], systems, made, values, at)
            | {"to_go": to_go, "groups": groups}
        )
    needs = [
        Need(design, len(expected), max(len(worst), len(expected)), len(expected & answered))
        for design, (expected, worst) in wanted.items()
    ]
    return needs, places


def _settled(y: np.ndarray, made: Contest, pair: int) -> np.ndarray:
    """Differences of a pair over the longest settled beginning of its informative groups."""
    i, j = made.pairs[pair]
    difference = y[made.groups[pair], i] - y[made.groups[pair], j]
    unknown = np.isnan(difference)
    return difference[: int(np.argmax(unknown))] if unknown.any() else difference


def _questions(match: Match, first: int, asked: pd.DataFrame) -> set[int]:
    """Questions about the first informative groups of a contest, for the systems that are satisfied."""
    drawn = np.isin(np.arange(match.contest.common), _informative(match.contest)[:first])
    row, column = np.nonzero(match.satisfied & drawn[:, None])
    return asked_of(asked, match.groups[row, column], np.array(match.systems)[column])


def _informative(made: Contest) -> np.ndarray:
    return np.unique(np.concatenate(made.groups))


def _place(
    names: Sequence[str], systems: Sequence[int], made: Contest, values: list[np.ndarray], at: Any
) -> dict[str, Any]:
    """What is known of one relation's contest; `names` are those of `systems`, whose ids tell equal ones apart."""
    if len(set(names)) < len(names):
        names = [f"{name}#{system}" for name, system in zip(names, systems, strict=True)]
    begun = at.decided or any(len(one) for one in values)
    return {
        "common": made.common,
        "informative": len(_informative(made)),
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
