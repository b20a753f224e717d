"""A study as arrays: its sources with their random numbers, and the groups of every relation with what systems did.

Everything that does not hang on answers, read once. What answers make of it is in `audit.false_satisfaction.states`.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, TypedDict

import numpy as np
import pandas as pd
from sqlalchemy import Connection, case, func, select

from audit.keys import uniforms
from audit.relations import COUNTED, Outcome
from audit.statistics.contests import Compared
from audit.store import Checked, checked, integers, table_of, tables
from audit.store.bulk import group_ids
from audit.tasks import Output
from audit.tasks.questions import asks_pairs


class StudyRow(TypedDict):
    """A study as reports name it."""

    id: int
    task: str
    corpus: str
    fingerprint: str
    unit: str
    has_gold: bool
    seed: int
    limit: int | None
    imported: bool


APPLIES = {Outcome.SATISFIED: 1, Outcome.VIOLATED: 0}
"""What a verdict counts as; any other one: the relation does not apply to the system's group."""


@dataclass(frozen=True)
class Members:
    """The counted members of groups, in the order of these: `group` (members,) are ids, `is_source` flags, `place` rows
    of `Said`."""

    group: np.ndarray
    is_source: np.ndarray
    place: np.ndarray

    def of(self, groups: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return of each member of these groups (ids) the place of its group in `groups`, and its own place here."""
        first = np.searchsorted(self.group, groups)
        number = np.searchsorted(self.group, groups, side="right") - first
        return np.repeat(np.arange(len(groups)), number), np.arange(number.sum()) + np.repeat(
            first - np.cumsum(number) + number, number
        )


@dataclass(frozen=True)
class Said:
    """What systems said of inputs: `inputs` (ids, ascending), and by place `code` (inputs, systems), the output's place
    in `outputs`, -1: it said nothing, or failed where outputs are labels."""

    inputs: np.ndarray
    code: np.ndarray
    outputs: tuple[Output, ...]

    def compared(self) -> np.ndarray:
        """Codes (inputs, systems) of labels and texts: equal codes, equal outputs. What is neither equals nothing."""
        codes = dict[Any, int]()
        words = [None if output.error else output.label or output.text for output in self.outputs]
        of_outputs = [-1 if word is None else codes.setdefault(word, len(codes)) for word in words]
        compared = np.array([*of_outputs, -1], np.int64)[self.code]
        return np.asarray(np.where(compared < 0, np.arange(self.code.shape[1]) - self.code.shape[1] - 1, compared))


@dataclass(frozen=True)
class Population:
    """One study, its `task` by name. `source` (sources,) are ids, ascending; `input` those of their inputs, `u` their
    random numbers, `cluster` codes of their documents. `systems` are ids, `relations` maps the id of each relation to
    its groups, whose columns are the systems; `group` has the ids of the groups, shaped as these.
    """

    study: int
    task: str
    systems: tuple[int, ...]
    source: np.ndarray
    input: np.ndarray
    u: np.ndarray
    cluster: np.ndarray
    relations: dict[int, Compared]
    group: dict[int, np.ndarray]
    members: Members
    said: Said

    def among(self, keep: np.ndarray) -> "Population":
        """Return the study with the groups of these sources (bool) alone."""
        relations, group = {}, {}
        for id, groups in self.relations.items():
            rows = keep[groups.source]
            relations[id] = Compared(
                groups.source[rows], groups.satisfied[rows], groups.output[rows], groups.proxy[:, rows]
            )
            group[id] = self.group[id][rows]
        return replace(self, relations=relations, group=group)


def read_population(connection: Connection, study: int, checks: Checked | None = None) -> Population:
    """Return a study as arrays; `checks` are its verdicts, where these were read already."""
    source, seed_of = table_of(tables.Source), table_of(tables.Study)
    seed, task = connection.execute(select(seed_of.c.seed, seed_of.c.task).where(seed_of.c.id == study)).one()
    columns = (source.c.id, source.c.input_id, source.c.row, source.c.cluster)
    rows = connection.execute(select(*columns).where(source.c.study_id == study).order_by(source.c.id)).all()
    ids, inputs, names, clusters = zip(*rows, strict=True) if rows else ((), (), (), ())
    own = [cluster if cluster is not None else ("source", id) for id, cluster in zip(ids, clusters, strict=True)]
    checks, places = checked(connection, [study]) if checks is None else checks, np.array(ids, np.int64)
    members, asked = _members(connection, checks)
    said = _said(connection, task, checks.systems, asked)
    compared = said.compared()
    relations, group = {}, {}
    for relation in np.unique(checks.relation).tolist():
        at = np.flatnonzero(checks.relation == relation)
        satisfied = np.full(checks.outcome[at].shape, -1, np.int8)
        for outcome, value in APPLIES.items():
            satisfied[checks.outcome[at] == outcome] = value
        keep = (satisfied >= 0).any(1)
        at, satisfied = at[keep], satisfied[keep]
        group[relation] = checks.groups(at)
        output = _same_outputs(group[relation], checks.own[at], members, compared)
        place = np.searchsorted(places, checks.source[at])
        relations[relation] = Compared(place, satisfied, output, np.zeros((0, *satisfied.shape)))
    u, cluster = np.fromiter(uniforms(names, seed), float, len(names)), pd.factorize(pd.Series(own, dtype=object))[0]
    return Population(
        study, task, checks.systems, places, np.array(inputs, np.int64), u, cluster, relations, group, members, said
    )


_ROWS = 50_000
"""Rows that are held as Python objects at once."""
_FEW = 200
"""Labels up to which the database itself says which of them an output has."""


def _members(connection: Connection, checks: Checked) -> tuple[Members, np.ndarray]:
    """The members of the groups of these checks, and the ids of their inputs, ascending."""
    member = table_of(tables.Member)
    inside = member.c.group_id.between(*group_ids(checks.source.min(initial=0), checks.source.max(initial=0)))
    is_source = case((member.c.role == "source", 1), else_=0)
    read = select(member.c.group_id, is_source, member.c.input_id).where(inside, member.c.role.in_(COUNTED))
    group, of_source, input_id = integers(connection, read).T
    order = np.argsort(group, kind="stable")
    inputs, place = np.unique(input_id, return_inverse=True)
    return Members(group[order], of_source[order].astype(bool), place.astype(np.int32)[order]), inputs


def _said(connection: Connection, task: str, systems: Sequence[int], inputs: np.ndarray) -> Said:
    """What systems (ids) said of inputs (ids, ascending)."""
    output = table_of(tables.Output)
    inside = output.c.system_id.in_(list(systems)), output.c.input_id.between(
        int(inputs[0]) if len(inputs) else 0, int(inputs[-1]) if len(inputs) else 0
    )  # fmt: skip
    labels: list[str] = []
    if not asks_pairs(task):  # outputs are labels
        named = select(output.c.label).where(*inside, output.c.label.is_not(None)).distinct().order_by(output.c.label)
        labels = list(connection.execute(named.limit(_FEW + 1)).scalars())
    code = np.full((len(inputs), len(systems)), -1, np.int32)
    if 0 < len(labels) <= _FEW:
        # A row an input, in place of one an output: there are millions. The last attempt is the largest number.
        number = len(labels) + 1
        of_label = case({label: at for at, label in enumerate(labels, 1)}, value=output.c.label, else_=0)
        last = output.c.attempt * number + case((output.c.error.is_(None), of_label), else_=0)
        columns = [func.max(case((output.c.system_id == system, last), else_=0)) for system in systems]
        query = select(output.c.input_id, *columns).where(*inside).group_by(output.c.input_id)
        of_input, *of_systems = integers(connection, query).T
        at = np.minimum(np.searchsorted(inputs, of_input), len(inputs) - 1)
        known = inputs[at] == of_input
        code[at[known]] = np.stack(of_systems, 1)[known] % number - 1
        return Said(inputs, code, tuple(map(Output, labels)))
    codes = dict[tuple[Any, ...], int]()
    # A score that comes with a label says nothing of whether it is right.
    alone = case((output.c.label.is_(None), output.c.score))
    query = select(output.c.input_id, output.c.system_id, output.c.label, alone, output.c.text, output.c.error)
    # The driver's own rows: SQLAlchemy's take four times as long.
    cursor: Any = connection.execute(query.where(*inside).order_by(output.c.attempt)).cursor
    while rows := cursor.fetchmany(_ROWS):
        of_input, system, *values = zip(*rows, strict=True)
        numbers = [codes.setdefault(key, len(codes)) for key in zip(*values, strict=True)]
        ids = np.array(of_input, np.int64)
        at = np.minimum(np.searchsorted(inputs, ids), len(inputs) - 1)
        known = inputs[at] == ids
        code[at[known], np.searchsorted(systems, np.array(system)[known])] = np.array(numbers)[known]
    return Said(inputs, code, tuple(Output(*key) for key in codes))


def read_scores(connection: Connection, population: "Population") -> np.ndarray:
    """Return the scores of the outputs about the inputs of `population.said`, (inputs, systems); NaN: none."""
    output, inputs = table_of(tables.Output), population.said.inputs
    scores = np.full((len(inputs), len(population.systems)), np.nan)
    query = select(output.c.input_id, output.c.system_id, output.c.score).where(
        output.c.system_id.in_(population.systems), output.c.score.is_not(None)
    )
    cursor: Any = connection.execute(query.order_by(output.c.attempt)).cursor
    while rows := cursor.fetchmany(_ROWS):
        of_input, system, score = map(np.array, zip(*rows, strict=True))
        at = np.minimum(np.searchsorted(inputs, of_input), len(inputs) - 1)
        known = inputs[at] == of_input
        scores[at[known], np.searchsorted(population.systems, system[known])] = score[known]
    return scores


def _same_outputs(group: np.ndarray, own: np.ndarray, members: Members, compared: np.ndarray) -> np.ndarray:
    """Codes (groups, systems): equal where all counted outputs of a group are the same for two systems. A system's
    `own` group has a code of its own."""
    mixed = np.zeros(group.shape, np.uint64)
    for column in range(group.shape[1]):
        pair, at = members.of(group[:, column])
        # Splitmix64: sums of mixed codes, each with its input, tell apart what was said about which.
        value = (compared[members.place[at], column] + 100).astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        value += members.place[at].astype(np.uint64)
        value = (value ^ (value >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        value ^= value >> np.uint64(27)
        filled, first = np.unique(pair, return_index=True)
        if len(first):
            mixed[filled, column] = np.add.reduceat(value, first)
    mixed[own] += np.arange(group.shape[1], dtype=np.uint64)
    return np.unique(mixed, return_inverse=True)[1].reshape(mixed.shape)
