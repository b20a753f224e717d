"""A study as arrays: its sources with their random numbers, and the groups of every relation with what systems did.

Everything that does not hang on answers, read once. What answers make of it is in `audit.false_satisfaction.states`.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TypedDict

import numpy as np
import pandas as pd
from sqlalchemy import Connection, case, func, select, true

from audit.keys import uniforms
from audit.relations import COUNTED, Outcome
from audit.statistics.contests import Compared
from audit.store import Checked, checked, integers, rows_among, table_of, tables
from audit.store.bulk import group_ids


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
class Population:
    """One study, its `task` by name. `source` (sources,) are ids, ascending; `u` their random numbers, `cluster` codes
    of their documents. `systems` are ids, `relations` maps the id of each relation to its groups, whose columns are the
    systems; `group` has the ids of the groups, shaped as these.
    """

    study: int
    task: str
    systems: tuple[int, ...]
    source: np.ndarray
    u: np.ndarray
    cluster: np.ndarray
    relations: dict[int, Compared]
    group: dict[int, np.ndarray]

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
    columns = (source.c.id, source.c.row, source.c.cluster)
    rows = connection.execute(select(*columns).where(source.c.study_id == study).order_by(source.c.id)).all()
    ids, names, clusters = zip(*rows, strict=True) if rows else ((), (), ())
    own = [cluster if cluster is not None else ("source", id) for id, cluster in zip(ids, clusters, strict=True)]
    checks, places = checked(connection, [study]) if checks is None else checks, np.array(ids, np.int64)
    relations, group = {}, {}
    for relation, at, output in _outputs(connection, checks, study):
        satisfied = np.full(checks.outcome[at].shape, -1, np.int8)
        for outcome, value in APPLIES.items():
            satisfied[checks.outcome[at] == outcome] = value
        keep = (satisfied >= 0).any(1)
        place, at, satisfied = np.searchsorted(places, checks.source[at[keep]]), at[keep], satisfied[keep]
        relations[relation] = Compared(place, satisfied, output[keep], np.zeros((0, *satisfied.shape)))
        group[relation] = checks.groups(at)
    return Population(
        study,
        task,
        checks.systems,
        places,
        np.fromiter(uniforms(names, seed), float, len(names)),
        pd.factorize(pd.Series(own, dtype=object))[0],
        relations,
        group,
    )


def _outputs(connection: Connection, checks: Checked, study: int) -> Iterator[tuple[int, np.ndarray, np.ndarray]]:
    """Each relation with the places of its checks, and codes (checks, systems): equal where all counted outputs of a
    group are the same for two systems. A system's own group has a code of its own."""
    source, member = table_of(tables.Source), table_of(tables.Member)
    others = [role for role in COUNTED if role != "source"]
    inside = member.c.group_id.between(*group_ids(checks.source.min(initial=0), checks.source.max(initial=0)))
    pairs = [
        integers(connection, select(source.c.id, source.c.input_id).where(source.c.study_id == study)),
        integers(connection, select(member.c.group_id, member.c.input_id).where(inside, member.c.role.in_(others))),
    ]
    codes = _codes_of_inputs(connection, checks.systems)
    of_source, of_group = (_combined(*part.T, codes) for part in pairs)
    for relation in np.unique(checks.relation).tolist():
        at = np.flatnonzero(checks.relation == relation)
        mixed = _looked_up(of_source, checks.source[at], len(checks.systems))
        for column, group in enumerate(checks.groups(at).T):
            mixed[:, column] ^= _looked_up(of_group, group, len(checks.systems))[:, column]
        mixed[checks.own[at]] += np.arange(len(checks.systems), dtype=np.uint64)
        yield relation, at, np.unique(mixed, return_inverse=True)[1].reshape(mixed.shape)


def _codes_of_inputs(connection: Connection, systems: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
    """The inputs (ids, ascending) about which systems said different things, and a code (inputs, systems) of what each
    said: equal codes, equal outputs. Where nobody said anything that compares, such as scores, all differ."""
    output = table_of(tables.Output)
    said = case((output.c.error.is_(None), func.coalesce(output.c.label, output.c.text)))
    differ = func.coalesce(func.min(said) < func.max(said), true())
    inputs = integers(connection, select(output.c.input_id).group_by(output.c.input_id).having(differ))[:, 0]
    inputs.sort()
    rows = rows_among(
        connection, select(output.c.input_id, output.c.system_id, said), output.c.input_id, inputs.tolist()
    )
    frame = pd.DataFrame(rows, columns=["input", "system", "said"])
    codes = np.arange(len(systems), dtype=np.uint64)[None, :].repeat(len(inputs), 0) + np.uint64(1 << 40)
    column = {system: place for place, system in enumerate(systems)}
    frame = frame[frame["system"].isin(column) & frame["said"].notna()]
    place = np.searchsorted(inputs, frame["input"].to_numpy(np.int64))
    codes[place, frame["system"].map(column).to_numpy(int)] = pd.factorize(frame["said"])[0].astype(np.uint64)
    return inputs, codes


def _combined(
    owner: np.ndarray, input_id: np.ndarray, codes: tuple[np.ndarray, np.ndarray]
) -> tuple[np.ndarray, np.ndarray]:
    """Owners (ids, ascending) with an input about which systems differ, and a hash (owners, systems) of their inputs'
    codes."""
    inputs, of_inputs = codes
    place = np.searchsorted(inputs, input_id)
    known = place < len(inputs)
    known[known] &= inputs[place[known]] == input_id[known]
    owner, place, input_id = owner[known], place[known], input_id[known]
    order = np.argsort(owner, kind="stable")
    owner, place, input_id = owner[order], place[order], input_id[order]
    # Splitmix64: sums of mixed codes, each with its input, tell apart what was said about which.
    mixed = (of_inputs[place] + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15) + input_id[:, None].astype(np.uint64)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed ^= mixed >> np.uint64(27)
    owners, first = np.unique(owner, return_index=True)
    return owners, np.add.reduceat(mixed, first, axis=0) if len(first) else mixed


def _looked_up(of: tuple[np.ndarray, np.ndarray], ids: np.ndarray, systems: int) -> np.ndarray:
    owners, hashes = of
    result = np.zeros((len(ids), systems), np.uint64)
    place = np.searchsorted(owners, ids)
    known = place < len(owners)
    known[known] &= owners[place[known]] == ids[known]
    result[known] = hashes[place[known]]
    return result
