"""How often systems contradict themselves on the same input, apart from how often they violate relations.

A relation that is violated says that a system answers differently to different texts. A system that answers at random
violates relations, too, whatever they change in a text: calls on the same input tell the one from the other.
"""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from sqlalchemy import Connection, select

from audit.errors import first_line
from audit.false_satisfaction.cells import Clusters, Counted
from audit.messages import message
from audit.relations import Composed, Outcome, Plain, find_relation
from audit.relations.registry import name_order
from audit.reports.document import RepeatedCell, RepeatedLabel, RepeatedSystem, RepeatsEntry, unknown
from audit.runner.repeats import base_ids
from audit.statistics.repeats import NO_CALL, contradictions, steadiness, violation_rate
from audit.store import UNCHECKED, integers, table_of, tables
from audit.store.bulk import group_ids
from audit.tasks import Output, get_task
from audit.tasks.repeated import FIRST, MAJORITY, what_is_said

Answered = Mapping[int, Sequence[Output]]
"""What a system returned for each input (by id), in the order of the calls, without those that failed."""


@dataclass(frozen=True)
class SystemCalls:
    """What a system said about each input of a study that it was asked several times: `said` has an entry an input,
    with one a call, `cluster` (inputs,) what the input belongs to."""

    system: str
    take: str
    said: Sequence[Sequence[Hashable]]
    cluster: np.ndarray
    failed: int
    """Calls on these inputs that failed."""


@dataclass(frozen=True)
class CellCalls:
    """The outcomes of a cell's groups by each call, (groups, calls) with `NO_CALL` behind; or why these are not known.

    `counted` (groups,) are those that count, `cluster` what the groups belong to. `by_chance` (groups, calls) are those
    of groups in which further calls on the source stand in the place of the follow-ups; None where a relation is
    violated by equal outputs.
    """

    relation: str
    system: str
    outcomes: np.ndarray = field(default_factory=lambda: np.empty((0, 0), int))
    counted: np.ndarray = field(default_factory=lambda: np.empty(0, int))
    cluster: np.ndarray = field(default_factory=lambda: np.empty(0, int))
    by_chance: np.ndarray | None = None
    reason: str | None = None


@dataclass(frozen=True)
class StudyCalls:
    """The systems of a study that were asked inputs several times, and their cells."""

    study: int
    task: str
    corpus: str
    systems: Sequence[SystemCalls]
    cells: Sequence[CellCalls]


def repeat_entries(studies: Sequence[StudyCalls], confidence: float = 0.95) -> list[RepeatsEntry]:
    """One entry a study in which systems were asked the same several times: what calls on one input say of each system,
    and of each of its cells how steady its verdicts are."""
    return [
        {
            "task": calls.task,
            "study": calls.study,
            "corpus": calls.corpus,
            "systems": [_system(calls.task, system, confidence) for system in calls.systems],
            "cells": [_cell(cell, confidence) for cell in calls.cells],
        }
        for calls in studies
    ]


def _system(task: str, calls: SystemCalls, confidence: float) -> RepeatedSystem:
    found = contradictions(calls.said, calls.cluster, confidence)
    numbers = [len(said) for said in calls.said]
    return {
        "system": calls.system,
        "take": calls.take,
        "inputs": found.inputs,
        "least_calls": min(numbers, default=0),
        "most_calls": max(numbers, default=0),
        "failed": calls.failed,
        "contradicted": found.contradicted,
        "share": found.share,
        "share_low": found.share_low,
        "share_high": found.share_high,
        "disagreement": found.disagreement,
        "disagreement_low": found.disagreement_low,
        "disagreement_high": found.disagreement_high,
        "labels": _labels(task, calls.said),
    }


def _labels(task: str, said: Sequence[Sequence[Hashable]]) -> list[RepeatedLabel]:
    """The inputs by the label that was said first, of tasks whose outputs are labels."""
    if get_task(task).question_kind == "pair":
        return []
    return [
        {
            "label": label,
            "inputs": sum(calls[0] == label for calls in said),
            "contradicted": sum(calls[0] == label and len(set(calls)) > 1 for calls in said),
        }
        for label in get_task(task).labels
    ]


def _cell(calls: CellCalls, confidence: float) -> RepeatedCell:
    entry: RepeatedCell = {
        **unknown(RepeatedCell),
        "relation": calls.relation,
        "system": calls.system,
        "reason": calls.reason,
    }
    if calls.reason is not None:
        return entry
    outcomes = {"satisfied": int(Outcome.SATISFIED), "violated": int(Outcome.VIOLATED)}
    steady = steadiness(calls.outcomes, calls.counted, calls.cluster, **outcomes, confidence=confidence)
    by_chance = None if calls.by_chance is None else violation_rate(calls.by_chance, **outcomes)
    return entry | {
        "groups": steady.groups,
        "calls": steady.calls,
        "unstable": steady.unstable,
        "share": steady.share,
        "low": steady.low,
        "high": steady.high,
        "vr_first": steady.vr_first,
        "vr_mean": steady.vr_mean,
        "vr_by_chance": by_chance,
        "violated": steady.violated,
        "always_violated": steady.always,
    }


# Reading: every call, the members of every group, and the verdicts that there would be by each call.


def read_repeats(connection: Connection, counted: Counted, clusters: Clusters) -> list[StudyCalls]:
    """What the calls in a database say of the systems of these studies; empty where nothing was asked again."""
    if connection.execute(select(table_of(tables.Repeat).c.number).limit(1)).first() is None:
        return []
    bases = base_ids(connection, counted.checks.systems)
    answered, failed = _calls(connection, set(bases.values()))
    members = _members(connection, counted)
    table = table_of(tables.Relation)
    rows = connection.execute(select(table.c.id, table.c.name, table.c.version))
    relations = {int(row.id): (str(row.name), str(row.version)) for row in rows}
    read = []
    for study in counted.studies:
        reader = _Reader(counted, clusters, members, relations, int(study["id"]))
        chosen = {id: base for id, base in bases.items() if base in answered}
        systems = [
            reader.system(id, answered[base], failed.get(base, {}), MAJORITY if id != base else FIRST)
            for id, base in chosen.items()
        ]
        asked = {calls.system for calls in systems if calls.said}
        if asked:
            cells = [cell for id, base in chosen.items() for cell in reader.cells(id, answered[base])]
            read.append(
                StudyCalls(
                    study["id"],
                    study["task"],
                    study["corpus"],
                    sorted((calls for calls in systems if calls.system in asked), key=lambda calls: calls.system),
                    sorted(
                        (cell for cell in cells if cell.system in asked),
                        key=lambda cell: (name_order(cell.relation), cell.system),
                    ),
                )
            )
    return read


def _calls(
    connection: Connection, systems: Iterable[int]
) -> tuple[dict[int, dict[int, list[Output]]], dict[int, dict[int, int]]]:
    """For each of these systems what it returned for each input that it was asked more than once without failing, and
    how many calls on an input failed."""
    table = table_of(tables.Repeat)
    query = select(table).where(table.c.system_id.in_(list(systems)))
    answered: dict[int, dict[int, list[Output]]] = {}
    failed: dict[int, dict[int, int]] = {}
    for row in connection.execute(query.order_by(table.c.input_id, table.c.system_id, table.c.number)):
        if row.error is not None:
            of_system = failed.setdefault(row.system_id, {})
            of_system[row.input_id] = of_system.get(row.input_id, 0) + 1
        else:
            output = Output(row.label, row.score, row.text)
            answered.setdefault(row.system_id, {}).setdefault(row.input_id, []).append(output)
    return (
        {
            system: {id: outputs for id, outputs in of_inputs.items() if len(outputs) > 1}
            for system, of_inputs in answered.items()
        },
        failed,
    )


def _members(connection: Connection, counted: Counted) -> dict[int, list[int]]:
    """The inputs (ids) of every group, in the order of its steps."""
    if not len(counted.checks.source):
        return {}
    table = table_of(tables.Member)
    ends = group_ids(int(counted.checks.source.min()), int(counted.checks.source.max()))
    query = select(table.c.group_id, table.c.input_id).where(table.c.group_id.between(*ends))
    rows = integers(connection, query.order_by(table.c.group_id, table.c.step))
    ids, begins = np.unique(rows[:, 0], return_index=True)
    pieces = np.split(rows[:, 1], begins[1:])
    return {int(id): piece.tolist() for id, piece in zip(ids, pieces, strict=True)}


class _Reader:
    """The checks of one study, as calls would have them."""

    def __init__(
        self,
        counted: Counted,
        clusters: Clusters,
        members: Mapping[int, Sequence[int]],
        relations: Mapping[int, tuple[str, str]],
        study: int,
    ):
        self.checks, self.clusters, self.members = counted.checks.of(study), clusters, members
        self.relations = relations
        keys = counted.cells[counted.cells["study_id"] == study]
        self.task = str(keys["task"].iloc[0]) if len(keys) else ""
        self.names = {
            kind: dict(zip(keys[f"{kind}_id"].tolist(), keys[kind].tolist(), strict=True))
            for kind in ("system", "relation")
        }

    def system(self, id: int, answered: Answered, failed: Mapping[int, int], take: str) -> SystemCalls:
        """What a system said about the inputs of its groups; an input belongs to the first source that has it."""
        column = self.checks.systems.index(id)
        rows = np.flatnonzero(self.checks.outcome[:, column] != UNCHECKED)
        groups = self.checks.groups(rows)[:, column]
        source_of: dict[int, int] = {}
        for group, source in zip(groups.tolist(), self.checks.source[rows].tolist(), strict=True):
            for input in self.members.get(group, ()):
                source_of.setdefault(input, source)
        asked = [input for input in source_of if input in answered]
        said = [[what_is_said(self.task, output) for output in answered[input]] for input in asked]
        cluster = self.clusters.of(np.array([source_of[input] for input in asked], np.int64))
        number = sum(failed.get(input, 0) for input in source_of)
        return SystemCalls(str(self.names["system"].get(id, f"#{id}")), take, said, cluster, number)

    def cells(self, id: int, answered: Answered) -> list[CellCalls]:
        """The cells of a system, by relation."""
        return [
            self.cell(relation, id, answered)
            for relation in self.names["relation"]
            if ((self.checks.relation == relation) & (self._outcomes(id) != UNCHECKED)).any()
        ]

    def _outcomes(self, id: int) -> np.ndarray:
        return np.asarray(self.checks.outcome[:, self.checks.systems.index(id)])

    def cell(self, relation_id: int, id: int, answered: Answered) -> CellCalls:
        """The outcomes of a cell's groups by each call."""
        names = str(self.names["relation"][relation_id]), str(self.names["system"][id])
        stored_name, version = self.relations[relation_id]
        relation = find_relation(self.task, stored_name)
        # Behind a semicolon stand versions of taggers, which checks do not ask.
        if relation is None or version.partition(";")[0] != relation.version:
            return CellCalls(*names, reason=message("repeats.other_version"))
        if not isinstance(relation, Plain | Composed):
            code = "repeats.hangs_on_outputs" if relation.per_system else "repeats.hangs_on_words"
            return CellCalls(*names, reason=message(code))
        outcome = self._outcomes(id)
        unanswered = np.isin(outcome, (UNCHECKED, Outcome.ERROR, Outcome.REJECTED))
        checked = np.flatnonzero((self.checks.relation == relation_id) & ~unanswered)
        groups = self.checks.groups(checked)[:, self.checks.systems.index(id)].tolist()
        asked = [all(input in answered for input in self.members.get(group, (-1,))) for group in groups]
        rows = checked[np.array(asked, bool)]
        if not len(rows):
            return CellCalls(*names, reason=message("repeats.none_twice"))
        calls = [
            [answered[input] for input in self.members[group]] for group, is_asked in zip(groups, asked, strict=True)
            if is_asked
        ]  # fmt: skip
        try:
            by_call, by_chance = _by_call(relation, calls), _by_chance(relation, calls)
        except Exception as problem:  # a check of somebody's own that is another one by now
            return CellCalls(*names, reason=message("repeats.check_failed", problem=first_line(problem)))
        cluster = self.clusters.of(self.checks.source[rows])
        return CellCalls(*names, by_call, outcome[rows], cluster, by_chance)


def _by_call(relation: Plain | Composed, groups: Sequence[Sequence[Sequence[Output]]]) -> np.ndarray:
    """The outcome of each group by the first call on each member, by the second, and so on: as many as all have."""
    return _table(
        [
            [relation.verdict([outputs[at] for outputs in members], ()).outcome for at in range(min(map(len, members)))]
            for members in groups
        ]
    )


def _by_chance(relation: Plain | Composed, groups: Sequence[Sequence[Sequence[Output]]]) -> np.ndarray | None:
    """The outcome of each group if the follow-ups were the source once more: each call on it in turn, and others in the
    place of follow-ups. None where the relation does not hold of equal outputs, which no such group could satisfy."""
    rows = []
    for members in groups:
        source, follow_ups = members[0], len(members) - 1
        if relation.verdict([source[0]] * len(members), ()).outcome == Outcome.VIOLATED:
            return None
        others = len(source) - 1
        rows.append(
            [
                relation.verdict(
                    [source[at], *(source[(at + 1 + place % others) % len(source)] for place in range(follow_ups))], ()
                ).outcome
                for at in range(len(source))
            ]
        )
    return _table(rows)


def _table(rows: Sequence[Sequence[int]]) -> np.ndarray:
    table = np.full((len(rows), max(map(len, rows))), NO_CALL)
    for row, outcomes in zip(table, rows, strict=True):
        row[: len(outcomes)] = outcomes
    return table
