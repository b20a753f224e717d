"""Checked and judged groups by slices of their sources: a gold label, a column, a property of the texts."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
from sqlalchemy import Connection, Engine, select

from audit.corpora.base import Row
from audit.corpora.slices import ARGUMENTS, DOCUMENT, GOLD, SLICES, Slicing, divide
from audit.errors import AuditError, UnknownName
from audit.false_satisfaction.cells import ALONE, Clusters, Counted, StudyRow
from audit.messages import message
from audit.relations import Outcome
from audit.relations.registry import name_order
from audit.store import snapshot, table_of, tables
from audit.tasks import Input, get_task

MOST = 50
"""Different values of a property that still are slices."""


_NOTHING: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True)
class SystemGroups:
    """The groups of one system that are in a rate, all (groups,): `relation` and `cluster` are codes, `source` the
    place of the group's source among the study's, `violated` is bool."""

    system: str
    relation: np.ndarray
    source: np.ndarray
    cluster: np.ndarray
    violated: np.ndarray


@dataclass(frozen=True)
class StudyGroups:
    """The groups of a study: `sources` (ids, ascending), `cluster` (sources,) their codes from 0 to `clusters` - 1, the
    names of its `relations` in the order of their codes, and the groups of each system."""

    study: int
    task: str
    sources: np.ndarray
    cluster: np.ndarray
    clusters: int
    relations: tuple[str, ...]
    systems: tuple[SystemGroups, ...]

    def place_of(self, source: np.ndarray) -> np.ndarray:
        """Places of these sources (ids)."""
        source = np.asarray(source, np.int64)
        if len(self.sources) and self.sources[-1] - self.sources[0] == len(self.sources) - 1:
            return np.asarray(source - self.sources[0])
        return np.searchsorted(self.sources, source)


@dataclass(frozen=True)
class StudySlices:
    """One slicing of one study: `names` in their order, and `code` (sources,) of each source from 0, after the last one
    where it is in no slice. Without a name the property says nothing of this study."""

    names: tuple[str, ...]
    code: np.ndarray


@dataclass(frozen=True)
class Sliced:
    """The groups by study, and by slicing, in the order in which they were asked for, the slices by study. `hidden` are
    the slicings that a column of the corpus has the name of, too: it was not read."""

    groups: Mapping[int, StudyGroups]
    by: Mapping[str, Mapping[int, StudySlices]]
    hidden: tuple[str, ...] = ()


def slice_groups(
    database: Engine | Connection, counted: Counted, slicings: Sequence[Slicing], clusters: Clusters = ALONE
) -> Sliced:
    """Every group that is in a rate, and the slices of its source.

    Raises AuditError for a slicing that is there twice, that has more than 50 slices, or that fails, where no source
    has a gold label and that is asked for, and UnknownName for a column that no source has.
    """
    names = [slicing.name for slicing in slicings]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise AuditError(message("slices.twice", name=twice), parameter="slices")
    by: dict[str, dict[int, StudySlices]] = {name: {} for name in names}
    groups: dict[int, StudyGroups] = {}
    columns: set[str] = set()
    with snapshot(database) as connection:
        for study in counted.studies:
            ids, rows = _rows(connection, study["id"], any(slicing.reads_texts for slicing in slicings))
            groups[study["id"]] = _groups(counted, study, ids, clusters)
            for slicing in slicings:
                by[slicing.name][study["id"]] = _slices(slicing, study, rows)
            columns.update(*(row.attributes for row in rows))
            columns.update(DOCUMENT[:1] if any(row.cluster for row in rows) else ())
    for slicing in slicings:
        if any(slices.names for slices in by[slicing.name].values()):
            continue
        if slicing.name == GOLD:
            raise AuditError(message("slices.no_gold"), parameter="slices")
        if slicing.column is not None and slicing.column not in columns:
            raise UnknownName(
                "slice",
                slicing.name,
                [*{*columns, *SLICES} - {*ARGUMENTS}, *(f"{name}:{what}" for name, what in ARGUMENTS.items())],
            )
    return Sliced(
        groups, by, tuple(slicing.name for slicing in slicings if not slicing.column and slicing.name in columns)
    )


def _rows(connection: Connection, study: int, texts: bool) -> tuple[np.ndarray, list[Row]]:
    """Ids of a study's sources, ascending, and what they are, with or without their texts."""
    source, held = table_of(tables.Source), table_of(tables.Input)
    query = select(source.c.id, source.c.row, source.c.gold, source.c.cluster, source.c.attributes)
    query = query.where(source.c.study_id == study).order_by(source.c.id)
    if texts:
        query = query.add_columns(held.c.texts, held.c.languages).join(held, held.c.id == source.c.input_id)
    # The driver's own rows: SQLAlchemy's, with JSON in two columns, take twice as long.
    cursor: Any = connection.execute(query).cursor
    found = [
        (id, key, gold, cluster, _from_json(attributes), *((_from_json(own[0]), own[1]) if own else ()))
        for id, key, gold, cluster, attributes, *own in cursor.fetchall()
    ]
    rows = [
        Row(key, Input.stored(*own) if own else Input((), ()), gold, cluster, attributes)
        for _, key, gold, cluster, attributes, *own in found
    ]
    return np.array([row[0] for row in found], np.int64), rows


def _from_json(value: Any) -> Any:
    """A column of JSON as a driver returns it: text, or read already."""
    return _NOTHING if value == "{}" else json.loads(value) if isinstance(value, str) else value


def _slices(slicing: Slicing, study: StudyRow, rows: Sequence[Row]) -> StudySlices:
    values, declared = divide(slicing, rows)
    present = {value for value in values if value is not None}
    if len(present) > MOST:
        raise AuditError(
            message(
                "slices.many_values", by=slicing.name, corpus=study["corpus"], study=study["id"], count=len(present),
                most=MOST,
            ),
            parameter="slices",
        )  # fmt: skip
    if slicing.name == GOLD:
        declared = [label for label in get_task(study["task"]).labels if label in present]
    # Names that numbers or the function declare come first, in their order; then numbers as numbers, names as names.
    order = (*declared, *sorted(present - set(declared), key=name_order)) if present else ()
    code_of = {name: index for index, name in enumerate(order)}
    code = np.array([len(order) if value is None else code_of[value] for value in values], int)
    return StudySlices(order, code)


def _groups(counted: Counted, study: StudyRow, sources: np.ndarray, clusters: Clusters) -> StudyGroups:
    checks = counted.checks.of(study["id"])
    keys = counted.keys[counted.keys["study_id"] == study["id"]]
    relation_names = dict(zip(keys["relation_id"], keys["relation"], strict=True))
    system_names = dict(zip(keys["system_id"], keys["system"], strict=True))
    numbers, relation = np.unique(checks.relation, return_inverse=True)
    place = np.searchsorted(sources, checks.source)
    names, code = np.unique(clusters.of(sources), return_inverse=True)
    systems = []
    for index, system in enumerate(checks.systems):
        outcome = checks.outcome[:, index]
        rows = np.flatnonzero((outcome == Outcome.VIOLATED) | (outcome == Outcome.SATISFIED))
        if system in system_names and len(rows):
            violated = outcome[rows] == Outcome.VIOLATED
            systems.append(SystemGroups(system_names[system], relation[rows], place[rows], code[place[rows]], violated))
    relations = tuple(str(relation_names[number]) for number in numbers.tolist())
    return StudyGroups(study["id"], study["task"], sources, code, len(names), relations, tuple(systems))
