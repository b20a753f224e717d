"""The sources of studies by slices: a gold label, a column, a property of the texts."""

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
from audit.false_satisfaction.cells import Counted
from audit.false_satisfaction.population import StudyRow
from audit.relations.registry import name_order
from audit.store import snapshot
from audit.store.core import input_table, source
from audit.tasks import Input, get_task

MOST = 50
"""Different values of a property that still are slices."""
_NOTHING: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True)
class StudySlices:
    """One slicing of one study: `names` in their order, and `code` (sources,) of each source (`sources` are their ids,
    ascending) from 0, after the last one where it is in no slice. Without a name the property says nothing of it."""

    names: tuple[str, ...]
    sources: np.ndarray
    code: np.ndarray

    def of(self, sources: np.ndarray) -> np.ndarray:
        """The codes of these sources (ids)."""
        return np.asarray(self.code[np.searchsorted(self.sources, np.asarray(sources, np.int64))])


@dataclass(frozen=True)
class Sliced:
    """By slicing, in the order in which they were asked for, the slices by study. `hidden` are the slicings that a
    column of the corpus has the name of, too: it was not read."""

    by: Mapping[str, Mapping[int, StudySlices]]
    hidden: tuple[str, ...] = ()


def slice_sources(database: Engine | Connection, counted: Counted, slicings: Sequence[Slicing]) -> Sliced:
    """The slices of every source.

    Raises AuditError for a slicing that is there twice, that has more than 50 slices, or that fails, where no source
    has a gold label and that is asked for, and UnknownName for a column that no source has.
    """
    names = [slicing.name for slicing in slicings]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise AuditError(f"slices: {twice!r} is there twice; name each once", parameter="slices")
    by: dict[str, dict[int, StudySlices]] = {name: {} for name in names}
    columns: set[str] = set()
    with snapshot(database) as connection:
        for study in counted.studies:
            ids, rows = _rows(connection, study["id"], any(slicing.reads_texts for slicing in slicings))
            for slicing in slicings:
                by[slicing.name][study["id"]] = _slices(slicing, study, ids, rows)
            columns.update(*(row.attributes for row in rows))
            columns.update(DOCUMENT[:1] if any(row.cluster for row in rows) else ())
    for slicing in slicings:
        if any(slices.names for slices in by[slicing.name].values()):
            continue
        if slicing.name == GOLD:
            raise AuditError(
                "no source has a gold label; slice by a column or a function, or leave gold out", parameter="slices"
            )
        if slicing.column is not None and slicing.column not in columns:
            names_there = [*{*columns, *SLICES} - {*ARGUMENTS}, *(f"{name}:{what}" for name, what in ARGUMENTS.items())]
            raise UnknownName("slice", slicing.name, names_there)
    return Sliced(by, tuple(slicing.name for slicing in slicings if not slicing.column and slicing.name in columns))


def _rows(connection: Connection, study: int, texts: bool) -> tuple[np.ndarray, list[Row]]:
    """Ids of a study's sources, ascending, and what they are, with or without their texts."""
    query = select(source.c.id, source.c.row, source.c.gold, source.c.cluster, source.c.attributes)
    query = query.where(source.c.study_id == study).order_by(source.c.id)
    if texts:
        texts_of = (input_table.c.texts, input_table.c.languages)
        query = query.add_columns(*texts_of).join(input_table, input_table.c.id == source.c.input_id)
    # The driver's own rows: SQLAlchemy's, with JSON in two columns, take twice as long.
    cursor: Any = connection.execute(query).cursor
    ids, rows, no_text = [], [], Input((), ())
    for id, key, gold, cluster, attributes, *own in cursor.fetchall():
        ids.append(id)
        text = Input.stored(_from_json(own[0]), own[1]) if own else no_text
        rows.append(Row(key, text, gold, cluster, _from_json(attributes)))
    return np.array(ids, np.int64), rows


def _from_json(value: Any) -> Any:
    """A column of JSON as a driver returns it: text, or read already."""
    return _NOTHING if value == "{}" else json.loads(value) if isinstance(value, str) else value


def _slices(slicing: Slicing, study: StudyRow, sources: np.ndarray, rows: Sequence[Row]) -> StudySlices:
    values, declared = divide(slicing, rows)
    present = {value for value in values if value is not None}
    if len(present) > MOST:
        raise AuditError(
            f"{slicing.name!r} of {study['corpus']} (study {study['id']}) has {len(present):,} values; slices are "
            f"at most {MOST}: choose another property, or a function that makes fewer",
            parameter="slices",
        )  # fmt: skip
    if slicing.name == GOLD:
        declared = [label for label in get_task(study["task"]).labels if label in present]
    # Names that numbers or the function declare come first, in their order; then numbers as numbers, names as names.
    order = (*declared, *sorted(present - set(declared), key=name_order)) if present else ()
    code_of = {name: index for index, name in enumerate(order)}
    code = np.array([len(order) if value is None else code_of[value] for value in values], int)
    return StudySlices(order, sources, code)
