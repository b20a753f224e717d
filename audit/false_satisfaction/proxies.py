"""Proxies of every satisfied group of a cell: numbers that go with being false and that nobody had to judge.

`disagreement` and `low_confidence` come from the outputs of a run, `reference` from these and the corpus's references,
`judge:NAME` from the answers of a judge (`audit.false_satisfaction.judged`); any other proxy is a numeric column of the
user's, kept with the sources (`source.attributes`). What goes with being false sharpens estimates of these groups
(`audit.statistics.rates`, `audit.statistics.contests`).

There are many right translations and summaries of a text; a reference is one of them, and never gold. So a distance
from it settles nothing, but it goes with being wrong.
"""

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import numpy as np
from sqlalchemy import Connection, select

from audit.errors import AuditError, UnknownName
from audit.false_satisfaction.judged import JUDGE, find_judge, group_opinions, opinions_of
from audit.false_satisfaction.population import Population, StudyRow
from audit.messages import message
from audit.store.core import output, source
from audit.text.similarity import levenshtein_similarity

BUILT_IN = ("disagreement", "low_confidence", "reference")
"""Proxies that need no numeric column. One of the same name is not used."""
_NOT_THERE = {"reference": "proxy.no_reference", "low_confidence": "proxy.no_score"}


def add_proxies(
    connection: Connection, populations: Mapping[int, Population], studies: Sequence[StudyRow], names: Sequence[str]
) -> dict[tuple[int, int, str], str]:
    """Put the proxies `names` of all satisfied groups of these studies into their populations (`Compared.proxy`, what
    each takes genuine for); returns why a cell lacks one, by relation, system (ids) and proxy.

    `disagreement` of a group is the share of the study's other systems whose label (or text) differs from this one's,
    mean over the group's counted members; systems without an output do not vote. `low_confidence` is 1 - the least
    score over them; a system without scores, or with one score for everything, has none. `reference` is how far the
    output about the source lies from the source's reference. `judge:NAME` is 1 where the judge NAME calls the group
    false, 0 where not, 1/2 where it was asked and does not say. Raises AuditError where there is no such judge, and
    where a value of a column is not a number, which names its row; UnknownName for a proxy that no study has.
    """
    of_users = [name for name in names if name not in BUILT_IN and not name.startswith(JUDGE)]
    columns, left_out = set[str](), dict[tuple[int, int, str], str]()
    for study in studies if names else ():
        population, query = populations[study["id"]], select(source.c.row, source.c.attributes)
        query = query.where(source.c.study_id == study["id"]).order_by(source.c.id)
        rows = connection.execute(query).all() if of_users or "reference" in names else []
        columns |= (own := {name for _, attributes in rows for name in attributes})
        of_name = {name: _reader(connection, population, study, name, rows, own) for name in names}
        for relation, groups in population.relations.items():
            satisfied, parts = groups.satisfied == 1, []
            for name in names:
                value = of_name[name](relation)
                for at, system in enumerate(population.systems):
                    of_cell = value[satisfied[:, at], at]
                    if reason := _lacks(name, of_cell):
                        value[:, at] = 0.0
                        if len(of_cell):
                            left_out[relation, system, name] = reason
                parts.append(np.where(satisfied, 1 - value, 0.0))
            groups.proxy = np.stack(parts)
    if unknown := [name for name in of_users if name not in columns]:
        raise UnknownName("proxy", unknown[0], [*BUILT_IN, *columns - set(BUILT_IN)])
    return left_out


def _lacks(name: str, own: np.ndarray) -> str:
    """Why a cell lacks a proxy; empty where it has it."""
    missing = int(np.isnan(own).sum())
    if missing and name.startswith(JUDGE):
        return message("proxy.judge_unfinished", count=missing)
    if missing:
        return message(_NOT_THERE.get(name, "proxy.no_column"))
    if name == "low_confidence" and len(own) and own.min() == own.max():
        return message("proxy.same_score")
    return ""


def _reader(
    connection: Connection,
    population: Population,
    study: StudyRow,
    name: str,
    rows: Sequence[Any],
    columns: Collection[str],
) -> Callable[[int], np.ndarray]:
    """What reads a proxy of the groups of a relation: (groups, systems), NaN where there is none."""
    said = population.said
    if name.startswith(JUDGE):
        opinions = opinions_of(connection, find_judge(connection, name.removeprefix(JUDGE)).id)
        return lambda relation: group_opinions(connection, population, relation, opinions)[0]
    if name == "disagreement":
        against = _against(said.compared())
        return lambda relation: (
            _of_members(population, relation, against, np.add)
            / _of_members(population, relation, np.ones(against.shape), np.add)
        )
    if name == "low_confidence":
        scores = _scores(connection, population)
        return lambda relation: 1 - _of_members(population, relation, scores, np.minimum)
    if name == "reference":
        of_source = reference_distances(population, [attributes.get("reference") for _, attributes in rows])
    elif name in columns:
        own = _numbers(name, rows, study)
        of_source = np.repeat(own[:, None], len(population.systems), axis=1)
    else:
        of_source = np.full((len(population.source), len(population.systems)), np.nan)
    return lambda relation: of_source[population.relations[relation].source]


def _against(codes: np.ndarray) -> np.ndarray:
    """The share of the other columns whose output differs from this one's, of those that have one; else 0.5."""
    result = np.full(codes.shape, 0.5)
    for at in range(codes.shape[1]):
        others = np.delete(codes, at, axis=1)
        number = (others >= 0).sum(1)
        differs = ((others >= 0) & (others != codes[:, [at]])).sum(1)
        np.divide(differs, number, out=result[:, at], where=number > 0)
    return result


def _scores(connection: Connection, population: Population) -> np.ndarray:
    """Scores (inputs, systems), NaN where there is none."""
    said, systems = population.said, np.array(population.systems, np.int64)
    query = select(output.c.input_id, output.c.system_id, output.c.score).where(
        output.c.score.is_not(None), output.c.system_id.in_(population.systems)
    )
    rows = np.array(connection.execute(query.order_by(output.c.attempt)).all(), float).reshape(-1, 3)
    place, scores = said.places(rows[:, 0]), np.full(said.code.shape, np.nan)
    there = place >= 0
    scores[place[there], np.searchsorted(systems, rows[there, 1])] = rows[there, 2]
    return scores


def _of_members(population: Population, relation: int, of_input: np.ndarray, how: np.ufunc) -> np.ndarray:
    """What is known of inputs and systems, put together over the counted members of a relation's groups."""
    ids = population.group[relation]
    result = np.full(ids.shape, np.nan)
    for column in range(ids.shape[1]):
        group, at = population.members.of(ids[:, column])
        first = np.flatnonzero(np.diff(group, prepend=-1))
        if len(first):
            result[group[first], column] = how.reduceat(of_input[population.members.place[at], column], first)
    return result


def reference_distances(population: Population, references: Sequence[Any]) -> np.ndarray:
    """How far outputs about sources lie from the sources' `references`, (sources, systems): 1 - Levenshtein similarity,
    from 0 (the same text) to 1; NaN where there is no reference, or no output that is a text."""
    said = population.said
    result = np.full((len(references), len(population.systems)), np.nan)
    place = said.places(population.input)
    for at, reference in enumerate(references):
        if isinstance(reference, str) and reference.strip() and place[at] >= 0:
            for column, code in enumerate(said.code[place[at]].tolist()):
                own = said.outputs[code] if code >= 0 else None
                if own is not None and own.text is not None and not own.error:
                    result[at, column] = 1 - levenshtein_similarity(reference.strip(), own.text)
    return result


def _numbers(name: str, rows: Sequence[Any], study: StudyRow) -> np.ndarray:
    """A column of the user's. Raises AuditError for the first value that is not a finite number."""
    numbers = np.empty(len(rows))
    for index, (row, attributes) in enumerate(rows):
        value = attributes.get(name)
        try:
            numbers[index] = math.nan if isinstance(value, bool) or "_" in str(value) else float(value)
        except (TypeError, ValueError, OverflowError):
            numbers[index] = math.nan
        if not math.isfinite(numbers[index]):
            spelling = "missing" if value is None else repr(value)[:60]
            where = f"in row {row!r} of {study['corpus']} (study {study['id']})"
            advice = "a proxy needs a finite number, such as 0.25, in every row"
            raise AuditError(f"the proxy {name!r} is {spelling} {where}; {advice}")
    return numbers
