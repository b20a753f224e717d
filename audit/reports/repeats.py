"""How often systems contradict themselves on the same input, apart from how often they violate relations.

A relation that is violated says that a system answers differently to different texts. A system that answers at random
violates relations, too, whatever they change in a text: calls on the same input tell the one from the other.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
import pandas as pd
from sqlalchemy import Connection, select

from audit.errors import first_line
from audit.false_satisfaction.cells import Clusters, Counted
from audit.messages import message
from audit.relations import Composed, Outcome, Plain, find_relation
from audit.relations.registry import name_order
from audit.reports.document import Entry, RepeatedCell, estimated
from audit.statistics.repeats import NO_CALL, contradictions, steadiness, violation_rate
from audit.store import UNCHECKED, integers, table_of, tables
from audit.store.bulk import group_ids
from audit.tasks import Output, get_task
from audit.tasks.repeated import what_is_said

Answered = Mapping[int, Sequence[Output]]
"""What a system returned for each input (by id), in the order of the calls, without those that failed."""
OUTCOMES = {"satisfied": int(Outcome.SATISFIED), "violated": int(Outcome.VIOLATED)}


def repeat_entries(connection: Connection, counted: Counted, clusters: Clusters) -> list[Entry]:
    """Return an entry for each study in which systems were asked the same several times: how often each contradicts
    itself, and how steady the verdicts of each of its cells are."""
    if connection.execute(select(table_of(tables.Repeat).c.number).limit(1)).first() is None:
        return []
    answered, failed = _calls(connection, counted.checks.systems)
    members = _members(connection, counted)
    relation = table_of(tables.Relation)
    named = connection.execute(select(relation.c.id, relation.c.name, relation.c.version))
    stored = {int(id): (str(name), str(version)) for id, name, version in named}
    entries = []
    for study in counted.studies:
        checks, task = counted.checks.of(int(study["id"])), study["task"]
        keys = counted.cells[counted.cells["study_id"] == study["id"]]
        systems = dict(zip(keys["system_id"], keys["system"], strict=True))
        relations = dict(zip(keys["relation_id"], keys["relation"], strict=True))
        entry: Entry = {
            "task": task,
            "study": study["id"],
            "corpus": study["corpus"],
            "systems": [],
            "cells": [],
        }
        for column, id in enumerate(checks.systems):
            if id not in answered:
                continue
            outputs, name = answered[id], str(systems.get(id, f"#{id}"))
            rows = np.flatnonzero(checks.outcome[:, column] != UNCHECKED)
            groups = pd.DataFrame(
                {
                    "relation": checks.relation[rows],
                    "outcome": checks.outcome[rows, column],
                    "cluster": clusters.of(checks.source[rows]),
                    "members": [members[group] for group in checks.groups(rows)[:, column].tolist()],
                }
            )
            found = _system(task, groups, outputs, failed[id])
            if found["inputs"]:
                entry["systems"].append({"system": name, **found})
                for relation_id, of_relation in groups.groupby("relation", sort=False):
                    cell = _cell(task, *stored[relation_id], of_relation, outputs)
                    entry["cells"].append(cell | {"relation": str(relations[relation_id]), "system": name})
        if entry["systems"]:
            entry["systems"].sort(key=lambda system: system["system"])
            entry["cells"].sort(key=lambda cell: (name_order(cell["relation"]), cell["system"]))
            entries.append(entry)
    return entries


def _calls(connection: Connection, systems: Iterable[int]) -> tuple[dict[int, Answered], dict[int, Counter[int]]]:
    """Return what each system returned for each input that it answered more than once, and its failed calls."""
    table = table_of(tables.Repeat)
    query = select(table).where(table.c.system_id.in_(list(systems)))
    outputs: dict[int, dict[int, list[Output]]] = defaultdict(dict)
    failed: dict[int, Counter[int]] = defaultdict(Counter)
    for row in connection.execute(query.order_by(table.c.input_id, table.c.system_id, table.c.number)):
        if row.error is not None:
            failed[row.system_id][row.input_id] += 1
        else:
            output = Output(row.label, row.score, row.text)
            outputs[row.system_id].setdefault(row.input_id, []).append(output)
    return {id: {input: calls for input, calls in of.items() if len(calls) > 1} for id, of in outputs.items()}, failed


def _members(connection: Connection, counted: Counted) -> dict[int, list[int]]:
    """Return the inputs (ids) of every group, in the order of its steps."""
    if not len(counted.checks.source):
        return {}
    table = table_of(tables.Member)
    ends = group_ids(int(counted.checks.source.min()), int(counted.checks.source.max()))
    query = select(table.c.group_id, table.c.input_id).where(table.c.group_id.between(*ends))
    rows = integers(connection, query.order_by(table.c.group_id, table.c.step))
    ids, begins = np.unique(rows[:, 0], return_index=True)
    return {int(id): piece.tolist() for id, piece in zip(ids, np.split(rows[:, 1], begins[1:]), strict=True)}


def _system(task: str, groups: pd.DataFrame, outputs: Answered, failed: Counter[int]) -> dict[str, object]:
    """Measure what a system said about the inputs of its groups; an input belongs to the first source that has it."""
    cluster_of: dict[int, int] = {}
    for members, cluster in zip(groups["members"], groups["cluster"], strict=True):
        for input in members:
            cluster_of.setdefault(input, cluster)
    said = {
        input: [what_is_said(task, output) for output in outputs[input]] for input in cluster_of if input in outputs
    }
    numbers = [len(calls) for calls in said.values()]
    about = get_task(task)
    # Of tasks whose outputs are labels: the inputs by the label that was said first.
    labels: list[Entry] = [
        {
            "label": label,
            "inputs": sum(calls[0] == label for calls in said.values()),
            "contradicted": sum(calls[0] == label and len(set(calls)) > 1 for calls in said.values()),
        }
        for label in (() if about.question_kind == "pair" else about.labels)
    ]
    return {
        "least_calls": min(numbers, default=0),
        "most_calls": max(numbers, default=0),
        "failed": sum(failed[input] for input in cluster_of),
        **_shared(contradictions(list(said.values()), np.array([cluster_of[input] for input in said], np.int64))),
        "labels": labels,
    }


def _cell(task: str, name: str, version: str, groups: pd.DataFrame, outputs: Answered) -> Any:
    """Measure how steady a cell's verdicts are, or say why that is not known."""
    relation = find_relation(task, name)
    # Behind a semicolon stand versions of taggers, which checks do not ask.
    if relation is None or version.partition(";")[0] != relation.version:
        return _not_known(message("repeats.other_version"))
    if not isinstance(relation, Plain | Composed):
        return _not_known(message("repeats.hangs_on_outputs" if relation.per_system else "repeats.hangs_on_words"))
    asked = np.array([all(input in outputs for input in members) for members in groups["members"]], bool)
    checked = groups[asked & ~groups["outcome"].isin((int(Outcome.ERROR), int(Outcome.REJECTED)))]
    if checked.empty:
        return _not_known(message("repeats.none_twice"))
    calls = [[outputs[input] for input in members] for members in checked["members"]]
    try:
        by_call, by_chance = _by_call(relation, calls), _by_chance(relation, calls)
    except Exception as problem:  # a check of a plug-in that has changed since
        return _not_known(message("repeats.check_failed", problem=first_line(problem)))
    counted, cluster = checked["outcome"].to_numpy(), checked["cluster"].to_numpy()
    chance = None if by_chance is None else violation_rate(by_chance, **OUTCOMES)
    return _not_known(None) | _shared(steadiness(by_call, counted, cluster, **OUTCOMES)) | {"vr_by_chance": chance}


def _not_known(reason: str | None) -> Any:
    return dict.fromkeys(RepeatedCell.__annotations__) | {"share": estimated(None, reason=reason), "reason": reason}


def _shared(measured: Any) -> dict[str, Any]:
    """Return what was measured, each rate with its ends as one value."""
    values = asdict(measured)
    for name, ends in (("share", ""), ("share", "share_"), ("disagreement", "disagreement_")):
        if f"{ends}low" in values:
            values[name] = estimated((values[name], values.pop(f"{ends}low"), values.pop(f"{ends}high")))
    return values


Calls = Sequence[Sequence[Output]]
"""The outputs of a group's members, by each call."""


def _by_call(relation: Plain | Composed, groups: Sequence[Calls]) -> np.ndarray:
    """Return the outcome of each group by the first call on each member, by the second, and so on."""
    return _table([[_outcome(relation, outputs) for outputs in zip(*members, strict=False)] for members in groups])


def _by_chance(relation: Plain | Composed, groups: Sequence[Calls]) -> np.ndarray | None:
    """Return the outcome of each group if its follow-ups were the source once more: each call on it in turn, and others
    in place of follow-ups. None where equal outputs violate the relation, so that no such group could satisfy it."""
    rows = []
    for source, *follow_ups in groups:
        if _outcome(relation, [source[0]] * (1 + len(follow_ups))) == Outcome.VIOLATED:
            return None
        # The other calls on the source, from the next one on, once more where they are too few.
        turns = [[*source[at + 1 :], *source[:at]] * len(follow_ups) for at in range(len(source))]
        rows.append([_outcome(relation, [source[at], *turn[: len(follow_ups)]]) for at, turn in enumerate(turns)])
    return _table(rows)


def _outcome(relation: Plain | Composed, outputs: Sequence[Output]) -> int:
    return relation.verdict(outputs, ()).outcome


def _table(rows: Sequence[Sequence[int]]) -> np.ndarray:
    table = np.full((len(rows), max(map(len, rows))), NO_CALL)
    for row, outcomes in zip(table, rows, strict=True):
        row[: len(outcomes)] = outcomes
    return table
