"""Proxies of every satisfied group of a cell: numbers that go with being false and that nobody had to judge.

`disagreement` and `low_confidence` come from the outputs of a run, `reference` from them and the corpus's references;
`judge:NAME` from the
answers of a judge (`audit.false_satisfaction.judged`); any other proxy is a numeric column of the user's, kept with the
sources (`source.attributes`). What
`audit.statistics.prediction_powered` takes.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
import pandas as pd
from sqlalchemy import Connection, Engine, Select, and_, case, func, select

from audit.errors import AuditError, UnknownName
from audit.false_satisfaction.cells import Counted, StudyRow
from audit.false_satisfaction.groups import random_beginnings
from audit.false_satisfaction.judged import (
    JUDGE,
    CellOpinions,
    Opinions,
    cell_opinions,
    find_judge,
    list_beginnings,
    opinions_of,
    scope_of,
)
from audit.false_satisfaction.resolution import State
from audit.messages import message
from audit.relations import COUNTED, Outcome
from audit.statistics.prediction_powered import disagreement, low_confidence
from audit.store import Checked, snapshot, table_of, tables
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
class CellProxies:
    """The proxies of one cell of which something is judged.

    `names` are those that the cell has, p of them; `left_out` says why it lacks the others. `truth` (n,) is 1 for a
    false satisfaction, 0 for a true one, over the settled beginning of the draw in its order; `of_sample` (n, p) are
    the proxies of these groups, `of_population` (N, p) those of all satisfied groups of the cell.
    """

    study: int
    relation: int
    system: int
    names: tuple[str, ...]
    left_out: Mapping[str, str]
    truth: np.ndarray
    of_sample: np.ndarray
    of_population: np.ndarray
    size: int


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


@dataclass(frozen=True)
class _StudyProxies:
    """What the proxies of a study are made of; None: not needed, or not there."""

    outputs: _Outputs | None
    columns: _Columns | None
    distances: Distances | None
    checks: Checked
    judges: "Mapping[str, _JudgeOfStudy | None]"


@dataclass(frozen=True)
class _JudgeOfStudy:
    """What a judge answered, and by relation and system (ids) the groups that it was asked about as a proxy."""

    opinions: Opinions
    beginnings: Mapping[tuple[int, int], np.ndarray]


def cell_proxies(database: Engine | Connection, counted: Counted, names: Sequence[str]) -> Iterator[CellProxies]:
    """The proxies `names` of every cell of which a group is judged, relation by relation; memory is linear in groups.

    `disagreement` of a group is the share of the study's other systems whose label (or text) differs from this one's,
    mean over the group's counted members; systems without an output do not vote. `low_confidence` is 1 - the least
    score over them; a system without scores, or with one score for everything, has none. `reference` is how far the
    output about the source lies from the source's reference (`audit.false_satisfaction.proxies`). `judge:NAME` is 1
    where the judge NAME calls the group false, 0 where not, 1/2 where it was asked and does not say. Raises
    UnknownName, which lists the columns there are, and AuditError where a value of a column is not a number, which
    names its row, and where there is no such judge.
    """
    own_columns = [name for name in names if name not in BUILT_IN and not name.startswith(JUDGE)]
    with snapshot(database) as connection:
        columns = _user_columns(connection, counted, own_columns) if own_columns else {}
        judged = random_beginnings(counted)
        for study in (row["id"] for row in counted.studies):
            part = judged[judged["study_id"] == study]
            if part.empty:
                continue
            systems = counted.keys.loc[counted.keys["study_id"] == study, "system_id"].unique()
            proxies = _StudyProxies(
                _outputs(connection, study, np.sort(systems)) if set(names) & set(_OF_OUTPUTS) else None,
                columns.get(study),
                distances(connection, study, systems) if "reference" in names else None,
                counted.checks.of(study),
                _judges(connection, counted, study, [name for name in names if name.startswith(JUDGE)]),
            )
            for relation in part["relation_id"].unique():
                beginning = part[part["relation_id"] == relation]
                yield from _of_relation(connection, study, int(relation), beginning, names, proxies)


def _of_relation(
    connection: Connection,
    study: int,
    relation: int,
    judged: pd.DataFrame,
    names: Sequence[str],
    proxies: _StudyProxies,
) -> Iterator[CellProxies]:
    outputs, columns = proxies.outputs, proxies.columns
    group, member = table_of(tables.Group), table_of(tables.Member)
    of_cell = and_(group.c.study_id == study, group.c.relation_id == relation)
    groups, of_system, sources = _satisfied(connection, study, relation, proxies.checks)
    ids, against, least = np.empty(0, int), np.empty((0, 0)), np.empty((0, 0))
    if outputs is not None:
        members = select(member.c.group_id, member.c.input_id).join(group, group.c.id == member.c.group_id)
        in_rate = member.c.role.in_(COUNTED)
        of_group, inputs = _read(connection, members.where(of_cell, in_rate).order_by(member.c.group_id), "qq")
        ids, start, size = np.unique(of_group, return_index=True, return_counts=True)
        rows_of_inputs = _places(outputs.inputs, inputs)
        against = np.add.reduceat(outputs.against[rows_of_inputs], start, axis=0) / size[:, None]
        least = np.minimum.reduceat(outputs.scores[rows_of_inputs], start, axis=0)
    judges = {
        name: judge and cell_opinions(connection, study, relation, judge.opinions, judge.beginnings)[0]
        for name, judge in proxies.judges.items()
    }
    for system, beginning in judged.groupby("system_id", sort=False):
        own = of_system == system
        positions = np.searchsorted(groups[own], beginning["group_id"].to_numpy())
        values: dict[str, np.ndarray] = {}
        left_out: dict[str, str] = {}
        for name in names:
            if name == "reference" and proxies.distances is not None:
                values[name] = proxies.distances.of(sources[own], int(str(system)))
                if np.isnan(values[name]).any():
                    left_out[name] = message("proxy.no_reference")
                    del values[name]
            elif name in _OF_OUTPUTS and outputs is not None:
                column = int(np.searchsorted(outputs.systems, system))
                rows = np.searchsorted(ids, groups[own])
                if name == "disagreement":
                    values[name] = against[rows, column]
                elif reason := _no_confidence(outputs.scores[:-1, column], least[rows, column]):
                    left_out[name] = reason
                else:
                    values[name] = low_confidence(least[rows, column])
            elif name in judges:
                of_judge = (judges[name] or {}).get(int(str(system)))
                values[name] = _on_groups(of_judge, groups[own])
                if reason := _not_judged(of_judge, values[name], positions):
                    left_out[name] = reason
                    del values[name]
            elif columns is not None and name in columns.values:
                values[name] = columns.values[name][np.searchsorted(columns.sources, sources[own])]
            else:
                left_out[name] = message("proxy.no_column")
        population = np.column_stack(list(values.values())) if values else np.empty((int(own.sum()), 0))
        truth = (beginning["state"] == State.FALSE).to_numpy(float)
        is_known = ~np.isnan(population).any(axis=1)
        yield CellProxies(
            study, relation, int(str(system)), tuple(values), left_out, truth, population[positions],
            population[is_known], len(population),
        )  # fmt: skip


def _satisfied(connection: Connection, study: int, relation: int, checks: Checked) -> tuple[np.ndarray, ...]:
    """Groups, systems and sources (ids) of the satisfied groups in the domain of `checks`, ordered by group."""
    group, verdict = table_of(tables.Group), table_of(tables.Verdict)
    query = (
        select(group.c.id, verdict.c.system_id, group.c.source_id)
        .join(verdict, and_(verdict.c.group_id == group.c.id, verdict.c.outcome == int(Outcome.SATISFIED)))
        .where(group.c.study_id == study, group.c.relation_id == relation)
        .order_by(group.c.id)
    )
    groups, of_system, sources = _read(connection, query, "qqq")
    in_domain = np.isin(sources, checks.source[checks.relation == relation])
    return groups[in_domain], of_system[in_domain], sources[in_domain]


def _judges(
    connection: Connection, counted: Counted, study: int, names: Sequence[str]
) -> dict[str, _JudgeOfStudy | None]:
    """By the proxy's name, what a judge says of a study; None: it was not asked about the groups of its sample."""
    sample = next(sample for sample in counted.samples if sample["study_id"] == study) if names else None
    judges: dict[str, _JudgeOfStudy | None] = {}
    for name in names:
        judge = find_judge(connection, name.removeprefix(JUDGE))
        scope = scope_of(connection, judge.id, study, sample["id"]) if sample else None
        judges[name] = None
        if scope is not None and sample is not None:
            lists = list_beginnings(connection, counted.checks.of(study), study, sample["seed"], scope.per_cell)
            judges[name] = _JudgeOfStudy(opinions_of(connection, judge.id), lists)
    return judges


def _on_groups(of_judge: CellOpinions | None, groups: np.ndarray) -> np.ndarray:
    """What a judge says of these groups, which ascend; NaN where it was not asked."""
    values = np.full(len(groups), np.nan)
    if of_judge is not None:
        values[np.searchsorted(groups, of_judge.groups)] = of_judge.values
    return values


def _not_judged(of_judge: CellOpinions | None, values: np.ndarray, positions: np.ndarray) -> str:
    """Why a judge is no proxy in a cell; empty where it is. `positions` are those of the groups that people judged."""
    if of_judge is None:
        return message("proxy.judge_not_asked")
    if of_judge.lacking:
        return message("proxy.judge_unfinished", count=of_judge.lacking)
    if np.isnan(values[positions]).any():
        return message("proxy.judge_fewer", groups=len(of_judge.groups))
    return ""


def _no_confidence(scores: np.ndarray, of_groups: np.ndarray) -> str:
    """Why a system's scores are no proxy; empty where they are."""
    if np.isnan(of_groups).any():
        return message("proxy.no_score")
    present = scores[~np.isnan(scores)]
    return message("proxy.same_score") if present.min() == present.max() else ""


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
    by_system = {str(system): labels[:, column] for column, system in enumerate(systems)}
    return _Outputs(inputs, systems, np.column_stack([disagreement(by_system, name) for name in by_system]), scores)


def _places(ids: np.ndarray, sought: np.ndarray) -> np.ndarray:
    """Where the wanted are among the known, which ascend; one behind the last where they are not."""
    position = np.searchsorted(ids, sought)
    is_present = position < len(ids)
    is_present[is_present] = ids[position[is_present]] == sought[is_present]
    return np.where(is_present, position, len(ids))


def _user_columns(connection: Connection, counted: Counted, names: Sequence[str]) -> dict[int, _Columns]:
    """The columns by study; a study whose sources have no column of a name is without it."""
    source = table_of(tables.Source)
    result: dict[int, _Columns] = {}
    attribute_names: set[str] = set()
    for study_row in counted.studies:
        study = study_row["id"]
        query = select(source.c.id, source.c.row, source.c.attributes).where(source.c.study_id == study)
        ids: list[int] = []
        rows: list[str] = []
        raw: dict[str, list[Any]] = {name: [] for name in names}
        for id, row, attributes in chain.from_iterable(_parts(connection, query.order_by(source.c.id))):
            ids.append(id)
            rows.append(row)
            attribute_names.update(attributes)
            for name in names:
                raw[name].append(attributes.get(name))
        present = {name: fields for name, fields in raw.items() if any(value is not None for value in fields)}
        values = {name: _numbers(name, fields, rows, study_row) for name, fields in present.items()}
        result[study] = _Columns(np.array(ids, np.int64), values)
    for name in names:
        if not any(name in columns.values for columns in result.values()):
            raise UnknownName("proxy", name, [*BUILT_IN, *attribute_names - set(BUILT_IN)])
    return result


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
