"""Proxies of every satisfied group of a cell: numbers that go with being false and that nobody had to judge.

`disagreement` and `low_confidence` come from the outputs of a run, `reference` from them and the corpus's references;
`judge:NAME` from the
answers of a judge (`audit.false_satisfaction.judged`); any other proxy is a numeric column of the user's, kept with the
sources (`source.attributes`). Estimates
of these groups are sharpened by what goes with being false (`audit.statistics.rates`, `audit.statistics.contests`).
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
import pandas as pd
from sqlalchemy import Connection, Select, case, func, select

from audit.errors import AuditError, UnknownName
from audit.false_satisfaction.judged import JUDGE, find_judge, group_opinions, opinions_of
from audit.false_satisfaction.population import Population, StudyRow
from audit.messages import message
from audit.relations import COUNTED
from audit.store import table_of, tables
from audit.store.bulk import group_ids
from audit.text.similarity import levenshtein_similarity

# How far outputs that are texts lie from the references that a corpus has: a proxy of being wrong, never gold.
#
# There are many right translations and summaries of a text; a reference is one of them. So a distance settles nothing,
# but it goes with being wrong, and sharpens an estimate as any proxy does (`audit.false_satisfaction.proxies`).

COLUMN = "reference"
"""The column of a corpus that holds references."""
_ROWS = 50_000
"""Rows that are held as Python objects at once; all else is arrays."""


@dataclass(frozen=True)
class Distances:
    """How far the outputs about a study's sources lie from the sources' references.

    `sources` and `systems` are ids, ascending; `values` (sources, systems) are 1 - Levenshtein similarity, from 0 (the
    same text) to 1; NaN where there is no reference, or no output that is a text.
    """

    sources: np.ndarray
    systems: np.ndarray
    values: np.ndarray

    def of(self, sources: np.ndarray, system: int) -> np.ndarray:
        """The distances of one system's outputs about these sources, in their order."""
        return np.asarray(self.values[np.searchsorted(self.sources, sources), np.searchsorted(self.systems, system)])


def distances(connection: Connection, study: int, systems: Sequence[int]) -> Distances:
    """The distances of a study's outputs; only the source's own output is compared, for references are of sources."""
    source, output = table_of(tables.Source), table_of(tables.Output)
    system_ids = np.unique(np.asarray(systems, np.int64))
    rows = select(source.c.id, source.c.attributes).where(source.c.study_id == study).order_by(source.c.id)
    references: dict[int, str] = {}
    ids: list[int] = []
    for id, attributes in chain.from_iterable(_parts(connection, rows)):
        ids.append(id)
        if isinstance(value := attributes.get(COLUMN), str) and value.strip():
            references[id] = value.strip()
    result = Distances(np.array(ids, np.int64), system_ids, np.full((len(ids), len(system_ids)), np.nan))
    if not references:
        return result
    query = (
        select(source.c.id, output.c.system_id, output.c.text)
        .join(output, output.c.input_id == source.c.input_id)
        .where(
            source.c.study_id == study,
            output.c.system_id.in_(system_ids.tolist()),
            output.c.text.is_not(None),
            output.c.error.is_(None),
        )
        .order_by(output.c.attempt)  # the last attempt counts
    )
    for id, system, text in chain.from_iterable(_parts(connection, query)):
        if (reference := references.get(id)) is not None:
            position = np.searchsorted(result.sources, id), np.searchsorted(system_ids, system)
            result.values[position] = 1 - levenshtein_similarity(reference, text)
    return result


_OF_OUTPUTS = ("disagreement", "low_confidence")
BUILT_IN = (*_OF_OUTPUTS, "reference")
"""Proxies that need no numeric column. One of the same name is not used."""


@dataclass(frozen=True)
class Proxies:
    """Numbers that go with being false, of every group of a study: `values` by relation (id), arrays (proxies, groups,
    systems), 0 where a cell has no such proxy; `left_out` says why, by relation, system (ids) and proxy."""

    values: Mapping[int, np.ndarray]
    left_out: Mapping[tuple[int, int, str], str]
    columns: frozenset[str]
    """The columns of the corpus."""


@dataclass(frozen=True)
class _Outputs:
    """The outputs of a study's systems: rows are inputs, columns systems; a last row is for inputs without outputs."""

    inputs: np.ndarray
    systems: np.ndarray
    against: np.ndarray
    """The share of the other systems whose output differs."""
    scores: np.ndarray


@dataclass(frozen=True)
class _Columns:
    """The ids of a study's sources, ascending, and by name the user's columns in that order."""

    sources: np.ndarray
    values: Mapping[str, np.ndarray]
    names: frozenset[str]
    """Of all columns, numeric or not."""


def read_proxies(connection: Connection, population: Population, study: StudyRow, names: Sequence[str]) -> Proxies:
    """Return the proxies `names` of all satisfied groups of a study.

    `disagreement` of a group is the share of the study's other systems whose label (or text) differs from this one's,
    mean over the group's counted members; systems without an output do not vote. `low_confidence` is 1 - the least
    score over them; a system without scores, or with one score for everything, has none. `reference` is how far the
    output about the source lies from the source's reference. `judge:NAME` is 1 where the judge NAME calls the group
    false, 0 where not, 1/2 where it was asked and does not say. Raises AuditError where there is no
    such judge, and where a value of a column is not a number, which names its row.
    """
    own_columns = [name for name in names if name not in BUILT_IN and not name.startswith(JUDGE)]
    columns = _user_columns(connection, study, own_columns) if own_columns else None
    systems = np.array(population.systems, np.int64)
    outputs = _outputs(connection, population.study, systems) if set(names) & set(_OF_OUTPUTS) else None
    reference = distances(connection, population.study, population.systems) if "reference" in names else None
    judges = {
        name: opinions_of(connection, find_judge(connection, name.removeprefix(JUDGE)).id)
        for name in names
        if name.startswith(JUDGE)
    }
    values: dict[int, np.ndarray] = {}
    left_out: dict[tuple[int, int, str], str] = {}
    for relation, groups in population.relations.items():
        satisfied, sources = groups.satisfied == 1, population.source[groups.source]
        of_outputs = _of_outputs(connection, population, relation, outputs) if outputs is not None else {}
        rows = []
        for name in names:
            if name in of_outputs:
                value = of_outputs[name]
            elif name == "reference" and reference is not None:
                value = np.stack([reference.of(sources, system) for system in population.systems], axis=1)
            elif name in judges:
                value, _ = group_opinions(connection, population, relation, judges[name])
            elif columns is not None and name in columns.values:
                value = np.repeat(columns.values[name][groups.source][:, None], len(systems), axis=1)
            else:
                value = np.full(satisfied.shape, np.nan)
            for at, system in enumerate(population.systems):
                own = value[satisfied[:, at], at]
                reason = _lacks(name, own)
                if reason and len(own):
                    left_out[relation, system, name] = reason
                if reason:
                    value[:, at] = 0.0
            rows.append(np.where(satisfied, value, 0.0))
        values[relation] = np.stack(rows)
    return Proxies(values, left_out, frozenset() if columns is None else columns.names)


_NOT_THERE = {"reference": "proxy.no_reference", "low_confidence": "proxy.no_score"}


def check_proxies(names: Sequence[str], read: Sequence[Proxies]) -> None:
    """Raise UnknownName for a proxy that no study has, which lists the columns there are."""
    columns = {name for one in read for name in one.columns}
    for name in names:
        if name not in (*BUILT_IN, *columns) and not name.startswith(JUDGE):
            raise UnknownName("proxy", name, [*BUILT_IN, *columns - set(BUILT_IN)])


def _lacks(name: str, own: np.ndarray) -> str:
    """Why a cell lacks a proxy; empty where it has it."""
    if name.startswith(JUDGE):
        missing = int(np.isnan(own).sum())
        return message("proxy.judge_unfinished", count=missing) if missing else ""
    if np.isnan(own).any():
        return message(_NOT_THERE.get(name, "proxy.no_column"))
    if name == "low_confidence" and len(own) and own.min() == own.max():
        return message("proxy.same_score")
    return ""


def _of_outputs(
    connection: Connection, population: Population, relation: int, outputs: _Outputs
) -> dict[str, np.ndarray]:
    """Disagreement and low confidence of a relation's groups, (groups, systems)."""
    member, ids = table_of(tables.Member), population.group[relation]
    inside = member.c.group_id.between(*group_ids(population.source[0], population.source[-1]))
    query = select(member.c.group_id, member.c.input_id).where(inside, member.c.role.in_(COUNTED))
    of_group, inputs = _read(connection, query.order_by(member.c.group_id), "qq")
    keep = np.isin(of_group, ids)
    of_group, inputs = of_group[keep], inputs[keep]
    known, start, size = np.unique(of_group, return_index=True, return_counts=True)
    places = _places(outputs.inputs, inputs)
    against = np.add.reduceat(outputs.against[places], start, axis=0) / size[:, None]
    least = np.minimum.reduceat(outputs.scores[places], start, axis=0)
    row = np.searchsorted(known, ids)
    column = np.arange(ids.shape[1])
    return {"disagreement": against[row, column], "low_confidence": 1 - least[row, column]}


def _outputs(connection: Connection, study: int, systems: np.ndarray) -> _Outputs:
    output, member, group = table_of(tables.Output), table_of(tables.Member), table_of(tables.Group)
    inside = (
        select(member.c.input_id)
        .join(group, group.c.id == member.c.group_id)
        .where(group.c.study_id == study, member.c.role.in_(COUNTED))
    )
    query = select(
        output.c.input_id,
        output.c.system_id,
        output.c.attempt,
        output.c.score,
        case((output.c.error.is_(None), func.coalesce(output.c.label, output.c.text))),  # else it is no output
    ).where(output.c.system_id.in_(systems.tolist()), output.c.input_id.in_(inside))
    input_ids, of_system, attempt, score, label = _read(connection, query, "qqqds")
    inputs = np.unique(input_ids)
    last = np.argsort(attempt, kind="stable")  # the last attempt is written last, so it stays
    position = np.searchsorted(inputs, input_ids[last]), np.searchsorted(systems, of_system[last])
    labels, scores = (np.full((len(inputs) + 1, len(systems)), np.nan) for _ in range(2))
    labels[position], scores[position] = label[last], score[last]
    return _Outputs(inputs, systems, np.column_stack([_against(labels, at) for at in range(len(systems))]), scores)


def _against(labels: np.ndarray, own: int) -> np.ndarray:
    """The share of the other columns whose label differs from this one's, of those that have one; else 0.5."""
    votes = ~np.isnan(np.delete(labels, own, axis=1))
    differs = votes & (np.delete(labels, own, axis=1) != labels[:, [own]])
    number = votes.sum(1)
    return np.asarray(np.divide(differs.sum(1), number, out=np.full(len(labels), 0.5), where=number > 0))


def _places(ids: np.ndarray, sought: np.ndarray) -> np.ndarray:
    """Where the wanted are among the known, which ascend; one behind the last where they are not."""
    position = np.searchsorted(ids, sought)
    is_present = position < len(ids)
    is_present[is_present] = ids[position[is_present]] == sought[is_present]
    return np.where(is_present, position, len(ids))


def _user_columns(connection: Connection, study: StudyRow, names: Sequence[str]) -> _Columns:
    """The user's columns of a study."""
    source = table_of(tables.Source)
    query = select(source.c.id, source.c.row, source.c.attributes).where(source.c.study_id == study["id"])
    ids: list[int] = []
    rows: list[str] = []
    attribute_names: set[str] = set()
    raw: dict[str, list[Any]] = {name: [] for name in names}
    for id, row, attributes in chain.from_iterable(_parts(connection, query.order_by(source.c.id))):
        ids.append(id)
        rows.append(row)
        attribute_names.update(attributes)
        for name in names:
            raw[name].append(attributes.get(name))
    values = {name: _numbers(name, raw[name], rows, study) for name in names if name in attribute_names}
    return _Columns(np.array(ids, np.int64), values, frozenset(attribute_names))


def _numbers(name: str, values: Sequence[Any], rows: Sequence[str], study: StudyRow) -> np.ndarray:
    """Raises AuditError for the first value that is not a finite number."""
    numbers = np.empty(len(values))
    for index, value in enumerate(values):
        try:
            numbers[index] = math.nan if isinstance(value, bool) or "_" in str(value) else float(value)
        except (TypeError, ValueError, OverflowError):
            numbers[index] = math.nan
        if not math.isfinite(numbers[index]):
            spelling = "missing" if value is None else repr(value)[:60]
            raise AuditError(
                message(
                    "proxy.no_number",
                    proxy=name,
                    value=spelling,
                    row=rows[index],
                    corpus=study["corpus"],
                    study=study["id"],
                )
            )
    return numbers


def _read(connection: Connection, query: Select[Any], types: str) -> list[np.ndarray]:
    """The columns of a query as arrays, by NumPy's letters for types; `s`: texts, as numbers that stand for them."""
    codes: dict[str, int] = {}
    parts: list[list[np.ndarray]] = [[] for _ in types]
    for rows in _parts(connection, query):
        for kind, column, values in zip(types, parts, zip(*rows, strict=True), strict=True):
            column.append(_coded(values, codes) if kind == "s" else np.array(values, kind))
    return [
        np.concatenate(column) if column else np.empty(0, "d" if kind == "s" else kind)
        for kind, column in zip(types, parts, strict=True)
    ]


def _coded(texts: Sequence[str | None], codes: dict[str, int]) -> np.ndarray:
    code, distinct = pd.factorize(np.array(texts, object))
    numbers = np.array([codes.setdefault(text, len(codes)) for text in distinct] + [math.nan])
    of_rows: np.ndarray = numbers[code]  # None is -1: the last
    return of_rows


def _parts(connection: Connection, query: Select[Any]) -> Iterator[Sequence[Any]]:
    return connection.execute(query, execution_options={"yield_per": _ROWS}).partitions()
