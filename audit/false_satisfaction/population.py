"""A study as arrays: its sources with their random numbers, and the groups of every relation with what systems did.

Everything that does not hang on answers, read once. What answers make of it is in `audit.false_satisfaction.states`.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, TypedDict

import numpy as np
import pandas as pd
from sqlalchemy import Connection, and_, case, not_, or_, select

from audit.keys import uniforms
from audit.relations import COUNTED, Outcome
from audit.statistics.contests import Compared
from audit.store import Checked, by_system, checked, integers
from audit.store.bulk import group_ids
from audit.store.core import member, output, source
from audit.store.core import study as studies
from audit.tasks import Output, get_task


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
    in `outputs`, -1: it said nothing."""

    inputs: np.ndarray
    code: np.ndarray
    outputs: tuple[Output, ...]

    def places(self, ids: np.ndarray) -> np.ndarray:
        """The places of these inputs (ids); -1: no group has it."""
        at = np.minimum(np.searchsorted(self.inputs, ids), max(len(self.inputs) - 1, 0))
        return np.where(self.inputs[at] == ids, at, -1) if len(self.inputs) else np.full(len(ids), -1)

    def compared(self) -> np.ndarray:
        """Codes (inputs, systems) of labels and texts: equal codes, equal outputs. What is neither equals nothing."""
        codes = dict[Any, int]()
        words = [None if said.error else said.label or said.text for said in self.outputs]
        of_outputs = [-1 if word is None else codes.setdefault(word, len(codes)) for word in words]
        compared = np.array([*of_outputs, -1], np.int32)[self.code]
        nothing = np.arange(self.code.shape[1], dtype=np.int32) - self.code.shape[1] - 1
        return np.asarray(np.where(compared < 0, nothing, compared))


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
        rows = {id: keep[groups.source] for id, groups in self.relations.items()}
        relations = {id: groups.among(rows[id]) for id, groups in self.relations.items()}
        return replace(self, relations=relations, group={id: self.group[id][at] for id, at in rows.items()})


def read_population(connection: Connection, study: int, checks: Checked | None = None) -> Population:
    """Return a study as arrays; `checks` are its verdicts, where these were read already."""
    seed, task = connection.execute(select(studies.c.seed, studies.c.task).where(studies.c.id == study)).one()
    columns = (source.c.id, source.c.input_id, source.c.row, source.c.cluster)
    rows = connection.execute(select(*columns).where(source.c.study_id == study).order_by(source.c.id)).all()
    ids, inputs, names, clusters = zip(*rows, strict=True) if rows else ((), (), (), ())
    own = [cluster if cluster is not None else ("source", id) for id, cluster in zip(ids, clusters, strict=True)]
    checks, places = checked(connection, [study]) if checks is None else checks, np.array(ids, np.int64)
    members, said = _members_and_outputs(connection, checks, get_task(task).labels)
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
        same = _same_outputs(group[relation], checks.own[at], members, compared)
        place = np.searchsorted(places, checks.source[at])
        relations[relation] = Compared(place, satisfied, same, np.zeros((0, *satisfied.shape)))
    u, cluster = np.fromiter(uniforms(names, seed), float, len(names)), pd.factorize(pd.Series(own, dtype=object))[0]
    return Population(
        study, task, checks.systems, places, np.array(inputs, np.int64), u, cluster, relations, group, members, said
    )


def _members_and_outputs(connection: Connection, checks: Checked, labels: Sequence[str]) -> tuple[Members, Said]:
    inside = member.c.group_id.between(*group_ids(checks.source.min(initial=0), checks.source.max(initial=0)))
    signed = case((member.c.role == "source", -member.c.input_id), else_=member.c.input_id)
    group, input_id = integers(
        connection, select(member.c.group_id, signed).where(inside, member.c.role.in_(COUNTED))
    ).T
    order = np.argsort(group, kind="stable")
    inputs, place = np.unique(np.abs(input_id), return_inverse=True)
    members = Members(group[order], input_id[order] < 0, place.astype(np.int32)[order])
    return members, _said(connection, inputs, np.array(checks.systems, np.int64), labels)


def _said(connection: Connection, inputs: np.ndarray, systems: np.ndarray, labels: Sequence[str]) -> Said:
    ends = (int(inputs[0]), int(inputs[-1])) if len(inputs) else (0, 0)
    inside = and_(output.c.system_id.in_(systems.tolist()), output.c.input_id.between(*ends))
    outputs = {Output(label): at for at, label in enumerate(labels)}
    said = Said(inputs, np.full((len(inputs), len(systems)), -1, np.int32), ())
    # A score that comes with a label says nothing of whether it is right. Of several attempts the last one counts.
    alone = case((output.c.label.is_(None), output.c.score))
    other = or_(
        output.c.label.is_(None), output.c.label.not_in(labels), output.c.text.is_not(None), output.c.error.is_not(None)
    )
    columns = (output.c.input_id, output.c.system_id, output.c.label, alone, output.c.text, output.c.error)
    # The driver's own rows: SQLAlchemy's take four times as long.
    cursor: Any = connection.execute(select(*columns).where(inside, other).order_by(output.c.attempt)).cursor
    while rows := cursor.fetchmany(10_000):
        ids, of_systems = (np.array([row[at] for row in rows], np.int64) for at in (0, 1))
        codes = np.array([outputs.setdefault(Output(*values), len(outputs)) for _, _, *values in rows])
        at = said.places(ids)
        said.code[at[at >= 0], np.searchsorted(systems, of_systems[at >= 0])] = codes[at >= 0]
    # Labels and nothing else, as nearly all outputs are. What failed before was executed again.
    label = case({label: at for at, label in enumerate(labels)}, value=output.c.label)
    ids, code = by_system(
        connection, output.c.input_id, output.c.system_id, label, len(labels), systems.tolist(), inside, not_(other)
    )
    at = said.places(ids)
    code, at = code[at >= 0], at[at >= 0]
    said.code[at] = np.where(code >= 0, code, said.code[at])
    return replace(said, outputs=tuple(outputs))


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
    return np.unique(mixed, return_inverse=True)[1].reshape(mixed.shape).astype(np.int32)
