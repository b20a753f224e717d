"""Cells with their counts: what the runner found, and what answers made of the groups that count."""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypedDict, cast

import numpy as np
import pandas as pd
from sqlalchemy import Connection, Engine, RowMapping, select
from sqlmodel import SQLModel

from audit.errors import AuditError
from audit.false_satisfaction.population import Population, StudyRow, read_population
from audit.false_satisfaction.proxies import check_proxies, read_proxies
from audit.false_satisfaction.questions import Carried, asked_by, audited_carries, count_open
from audit.false_satisfaction.resolution import KnownAnswer, State, Whose, drawn_groups, known_answers, settle_group
from audit.false_satisfaction.states import NOT_ASKED, OPEN, Standing, answered_by_gold, read_standing
from audit.keys import canonical
from audit.messages import message
from audit.relations import Outcome
from audit.relations.validity import VALID
from audit.sampling.samples import stored_draws, terms_of
from audit.statistics.rates import ALIKE, GOLD, TELLING, Judged
from audit.statistics.rates import Checked as CheckedGroups
from audit.store import Checked, checked, snapshot, table_of, tables
from audit.store.bulk import LIMIT
from audit.tasks.questions import Subject

CELL = ["study_id", "relation_id", "system_id"]


class SampleRow(TypedDict):
    """How people are asked about a study: how many answer each question, how many votes settle one, the share of the
    drawn sources whose follow-ups are audited, what the last round was to do, and how many rounds there are, of which
    `complete` count."""

    study_id: int
    annotators: int
    quorum: str
    follow_ups: float
    options: dict[str, Any]
    rounds: int
    complete: int


OUTCOMES = {
    Outcome.SATISFIED: "satisfied",
    Outcome.VIOLATED: "violated",
    Outcome.INAPPLICABLE: "inapplicable",
    Outcome.ERROR: "errors",
    Outcome.REJECTED: "rejected",
}
COLUMNS = [
    "study", "corpus", "task", "relation", "system", "groups", "satisfied", "violated", "inapplicable", "errors",
    "rejected", "drawn", "judged", "false", "open", "waiting",
]  # fmt: skip


@dataclass(frozen=True)
class Counted:
    """Cells with their counts, and what they were counted from.

    `cells` has the columns of `CELL` and `COLUMNS`, a row each: `drawn` are its groups about whose sources people were
    asked or gold has a label, of which `waiting` have no answer yet; `judged` those that count, `false` of them false
    satisfactions, `open` given up. `judged` and `checked` are the groups behind these (`audit.statistics.rates`), whose
    cells are rows of `cells`; `group` and `system` are ids of the judged ones.
    """

    cells: pd.DataFrame
    studies: list[StudyRow]
    samples: list[SampleRow]
    checks: Checked
    populations: Mapping[int, Population]
    standings: Mapping[int, Standing]
    judged: Judged
    checked: CheckedGroups
    group: np.ndarray
    system: np.ndarray
    waiting: int
    """Questions that wait for an answer."""
    audited: Sequence[Carried]
    """Follow-ups of drawn groups that have an answer of their own beside the carried one, in audited sources."""
    audits_waiting: int
    gold_alone: frozenset[int]
    """Studies of which only the sources with a gold label are in it, since nobody else was asked."""
    people_alone: frozenset[int]
    """Studies of which only the sources that gold does not answer for are in it."""
    left_out: Mapping[tuple[int, int, str], str]
    """Why a cell lacks a proxy, by relation, system (ids) and the proxy's name."""

    @cached_property
    def sources(self) -> np.ndarray:
        """The ids of sources by their codes in `judged` and `checked`."""
        return np.concatenate([population.source for population in self.populations.values()])

    def places(self) -> dict[tuple[int, int, int], int]:
        """The row of `cells` of each (study, relation, system), by id."""
        return {tuple(key): at for at, key in enumerate(self.cells[CELL].itertuples(index=False, name=None))}


@dataclass(frozen=True)
class Ground:
    """What does not change while people judge: the studies, every verdict, and counts of these.

    `cells` has a row per cell with the columns of `CELL`, task, relation, system (names), groups, satisfied, violated,
    inapplicable, errors and rejected.
    """

    studies: list[StudyRow]
    checks: Checked
    cells: pd.DataFrame


def count(
    database: Engine | Connection,
    whose: Whose = "both",
    study: int | None = None,
    proxies: Sequence[str] = (),
) -> Counted:
    """Count every cell of a study, or of all, by the answers of `whose`.

    `proxies` are names of `audit.false_satisfaction.proxies`, which are read, too.

    Raises AuditError where there is nothing to report, and for a study that is not there.
    """
    with snapshot(database) as connection:
        studies = _studies(connection, study)
        ids = [row["id"] for row in studies]
        checks = checked(connection, ids)
        populations, standings = {}, {}
        alone: set[int] = set()
        people_alone: set[int] = set()
        for id in ids:
            populations[id] = population = read_population(connection, id, checks.of(id))
            standings[id] = standing = read_standing(connection, population, whose)
            about = np.ones(len(population.source), bool)
            if standing.labelled.any() and not standing.rounds:
                # Only gold has answered, for a part of the sources: what is said is about these.
                about = standing.labelled
            elif whose == "people" and standing.rounds:
                # Rounds ask nobody about a source that gold answers for.
                draws = stored_draws(connection, id).query("relation_id == 0")
                about = np.isin(population.source, draws["source_id"]) | ~answered_by_gold(connection, population)
            if not about.all():
                (people_alone if whose == "people" else alone).add(id)
                populations[id] = population = population.among(about)
                standings[id] = read_standing(connection, population, whose)
                checks = checks.from_sources(population.source[about], id)
        cells = _observed(connection, ids, checks)
        if cells.empty:
            raise AuditError(message("cells.nothing_checked"))
        of_study = {row["id"]: row for row in studies}
        numbers = {
            id: read_proxies(connection, population, of_study[id], proxies) if proxies else None
            for id, population in populations.items()
        }
        check_proxies(proxies, [one for one in numbers.values() if one])
        for id, read in numbers.items():
            for relation, values in read.values.items() if read else ():
                compared = populations[id].relations[relation]
                compared.proxy = np.where(compared.satisfied == 1, 1 - values, 0.0)
        audited = _audited(connection, ids, known_answers(connection, whose))
        open_questions = count_open(connection, asked_by(connection, ids))
        samples = _samples(connection, standings)
    groups = _groups(cells, populations, standings)
    counts = _counts(cells, groups, populations, standings)
    cells = cells.assign(study=cells["study_id"], **counts)
    cells["corpus"] = cells["study_id"].map({row["id"]: row["corpus"] for row in studies})
    judged, every, group, system = groups
    return Counted(
        cells[[*CELL, *COLUMNS]], studies, samples, checks, populations, standings, judged, every, group, system,
        open_questions.texts, audited, open_questions.audits, frozenset(alone), frozenset(people_alone),
        {key: reason for one in numbers.values() if one for key, reason in one.left_out.items()},
    )  # fmt: skip


def recount(connection: Connection, counted: Counted, whose: Whose, answers: Mapping[Subject, KnownAnswer]) -> Counted:
    """Count once more, by `answers` in the place of those of `whose`."""
    standings = {id: read_standing(connection, of, whose, answers) for id, of in counted.populations.items()}
    groups = _groups(counted.cells, counted.populations, standings)
    judged, every, group, system = groups
    cells = counted.cells.assign(**_counts(counted.cells, groups, counted.populations, standings))
    return replace(
        counted, cells=cells, standings=standings, judged=judged, checked=every, group=group, system=system
    )  # fmt: skip


def _audited(connection: Connection, ids: Sequence[int], answers: Mapping[Subject, KnownAnswer]) -> list[Carried]:
    terms = {study: terms for study, terms in terms_of(connection).items() if study in ids and terms.follow_ups}
    if not terms:
        return []
    return audited_carries((settle_group(drawn, answers) for drawn in drawn_groups(connection, terms)), answers, terms)


def _groups(
    cells: pd.DataFrame, populations: Mapping[int, Population], standings: Mapping[int, Standing]
) -> tuple[Judged, CheckedGroups, np.ndarray, np.ndarray]:
    """The groups that count, all that are satisfied or violated, and the groups and systems (ids) of the former."""
    place = {key: at for at, key in enumerate(cells[CELL].itertuples(index=False, name=None))}
    number = max((len(groups.proxy) for one in populations.values() for groups in one.relations.values()), default=0)
    none, no_proxy = np.zeros(0, np.int64), np.zeros((0, number))
    judged: list[list[np.ndarray]] = [[*[none] * 7, no_proxy, none, none]]
    all_groups: list[list[np.ndarray]] = [[*[none] * 5, no_proxy]]
    sources = clusters = 0
    for study, population in populations.items():
        of_cluster = (population.cluster + clusters).astype(np.int32)
        for relation, groups in population.relations.items():
            state, q = standings[study].state[relation], standings[study].q[relation]
            applies = np.flatnonzero((groups.satisfied >= 0).any(0))
            stratum = np.where(groups.telling(applies.tolist()), TELLING, ALIKE).astype(np.int8)
            stratum[standings[study].labelled[groups.source]] = GOLD
            for column, system in enumerate(population.systems):
                at = np.flatnonzero(groups.satisfied[:, column] >= 0)
                if not len(at):
                    continue
                cell = place[study, relation, system]
                source = groups.source[at].astype(np.int32)
                # What proxies take false for; comparisons have what they take genuine for.
                proxy = 1 - groups.proxy[:, :, column].T
                all_groups.append(
                    [
                        np.full(len(at), cell, np.int32), stratum[at], groups.satisfied[at, column], source + sources,
                        of_cluster[source], proxy[at],
                    ]
                )  # fmt: skip
                at = at[state[at, column] != NOT_ASKED]
                source, of_cell = groups.source[at].astype(np.int32), state[at, column]
                judged.append(
                    [
                        np.full(len(at), cell, np.int32), stratum[at], (of_cell == State.FALSE).astype(np.int8),
                        (of_cell == OPEN).astype(np.int8), q[at, column], source + sources, of_cluster[source],
                        proxy[at], population.group[relation][at, column], np.full(len(at), system, np.int32),
                    ]
                )  # fmt: skip
        sources += len(population.source)
        clusters += int(population.cluster.max(initial=-1)) + 1
    # The first of the parts is the cell, by which the groups are ordered.
    judged.sort(key=lambda part: part[0][:1].tolist())
    all_groups.sort(key=lambda part: part[0][:1].tolist())
    columns, of_all = (
        [np.concatenate(parts) for parts in zip(*groups, strict=True)] for groups in (judged, all_groups)
    )
    of_judged, (group, of_system) = columns[:-2], columns[-2:]
    if not number:
        of_judged, of_all = of_judged[:-1], of_all[:-1]
    return Judged(*of_judged), CheckedGroups(*of_all), group, of_system


def _counts(
    cells: pd.DataFrame,
    groups: tuple[Judged, CheckedGroups, np.ndarray, np.ndarray],
    populations: Mapping[int, Population],
    standings: Mapping[int, Standing],
) -> dict[str, np.ndarray]:
    """By cell: drawn, judged, false, open and waiting groups."""
    judged, number = groups[0], len(cells)
    counts = {
        "judged": np.bincount(judged.cell, minlength=number),
        "false": np.bincount(judged.cell, judged.false, number).astype(int),
        "open": np.bincount(judged.cell, judged.open, number).astype(int),
        "drawn": np.zeros(number, int),
        "waiting": np.zeros(number, int),
    }
    for place, (study, relation, system) in enumerate(cells[CELL].itertuples(index=False, name=None)):
        population = populations[study]
        if relation in population.relations and system in population.systems:
            states = standings[study].drawn[relation][:, population.systems.index(system)]
            counts["drawn"][place] = int((states != NOT_ASKED).sum())
            counts["waiting"][place] = int((states == OPEN).sum())
    return counts


def ground_of(connection: Connection, study: int | None = None) -> Ground:
    """Everything that does not hang on answers; errors as those of `count`."""
    studies = _studies(connection, study)
    ids = [row["id"] for row in studies]
    checks = checked(connection, ids)
    cells = _observed(connection, ids, checks)
    if cells.empty:
        raise AuditError(message("cells.nothing_checked"))
    return Ground(studies, checks, cells)


def _samples(connection: Connection, standings: Mapping[int, Standing]) -> list[SampleRow]:
    table = table_of(tables.Sample)
    query = select(table.c.study_id, table.c.annotators, table.c.quorum, table.c.follow_ups, table.c.options)
    return [
        cast(
            SampleRow,
            dict(row)
            | {"rounds": len(standings[row["study_id"]].rounds), "complete": standings[row["study_id"]].complete},
        )
        for row in connection.execute(query.order_by(table.c.study_id)).mappings()
        if row["study_id"] in standings
    ]


def _observed(connection: Connection, studies: Sequence[int], checks: Checked) -> pd.DataFrame:
    """One row per cell that was run, those included in which the relation made no group."""
    progress = table_of(tables.Progress)
    pair, pair_code = np.unique(checks.study * LIMIT + checks.relation, return_inverse=True)
    kinds = len(Outcome) + 1  # and not checked
    frames = []
    for column, system in enumerate(checks.systems):
        number = np.bincount(pair_code * kinds + checks.outcome[:, column] + 1, minlength=kinds * len(pair))
        counts = number.reshape(-1, kinds)[:, 1:]
        cell = {"study_id": pair // LIMIT, "relation_id": pair % LIMIT, "system_id": system}
        frames.append(pd.DataFrame(cell | {name: counts[:, int(outcome)] for outcome, name in OUTCOMES.items()}))
    columns = [*CELL, *OUTCOMES.values()]
    counted = pd.concat(frames, ignore_index=True) if frames else pd.DataFrame(columns=columns, dtype=int)
    counted = counted[(counted[[*OUTCOMES.values()]] > 0).any(axis=1)]
    ran = select(*(progress.c[name] for name in CELL)).where(progress.c.study_id.in_(studies)).distinct()
    cells = pd.DataFrame(connection.execute(ran).mappings().all(), columns=CELL, dtype=int)
    cells = pd.concat([cells, counted[CELL]]).drop_duplicates(ignore_index=True)
    cells = cells.merge(counted, how="left", on=CELL)
    for name in OUTCOMES.values():
        cells[name] = cells[name].fillna(0).astype(int)
    cells["groups"] = cells[list(OUTCOMES.values())].sum(axis=1)
    relations = _rows(connection, tables.Relation)
    systems = _rows(connection, tables.System)
    cells["task"] = cells["relation_id"].map({id: row["task"] for id, row in relations.items()})
    cells["relation"] = cells["relation_id"].map(
        relation_labels({id: relations[id] for id in cells["relation_id"].unique()})
    )
    cells["system"] = cells["system_id"].map(_labels(cells, systems, "system_id"))
    return cells


def relation_labels(rows: Mapping[int, Any]) -> dict[int, str]:
    """Names of relations by id, of rows with task, name, version and params (JSON); relations of a task that share a
    name are told apart by what differs: versions, limits and other parameters, the tools that they use; else by ids.

    >>> row = {"task": "sentiment", "name": "MR1.1", "version": "2; spacy 3.8", "params": "{}"}
    >>> relation_labels({3: row, 5: row | {"params": '{"valid": ["replaced<=0.15"]}'}, 8: row | {"version": "1"}})
    {3: 'MR1.1@2', 5: 'MR1.1@2 (replaced<=0.15)', 8: 'MR1.1@1'}
    >>> relation_labels({3: row, 4: row | {"version": "2; spacy 3.9"}})
    {3: 'MR1.1 (spacy 3.8)', 4: 'MR1.1 (spacy 3.9)'}
    """
    alike: dict[tuple[str, str], list[int]] = {}
    for id, row in rows.items():
        alike.setdefault((row["task"], row["name"]), []).append(id)
    labels: dict[int, str] = {}
    for (_, name), ids in alike.items():
        params = {id: dict(json.loads(value) if isinstance(value := rows[id]["params"], str) else value) for id in ids}
        keys = sorted({key for of_relation in params.values() for key in of_relation})
        differing = [key for key in keys if len({canonical(params[id].get(key)) for id in ids}) > 1]
        versions, tools = ({id: str(rows[id]["version"]).partition("; ")[part] for id in ids} for part in (0, 2))
        named = {}
        for id in ids:
            said = [_setting(key, params[id][key]) for key in differing if key in params[id]]
            said += [tools[id]] if tools[id] and len(set(versions.values())) == 1 < len(set(tools.values())) else []
            version = f"@{versions[id]}" if len(set(versions.values())) > 1 else ""
            named[id] = name + version + (f" ({', '.join(said)})" if said else "")
        times = Counter(named.values())
        labels |= {id: label if times[label] == 1 else f"{label}#{id}" for id, label in named.items()}
    return labels


def _setting(key: str, value: Any) -> str:
    """A parameter of a relation in a few words; limits speak for themselves."""
    if key == VALID:
        return ", ".join(map(str, value)) or "no limits"
    return f"{key}={value if isinstance(value, str) else canonical(value)}"


def _rows(connection: Connection, model: type[SQLModel]) -> dict[int, RowMapping]:
    return {row["id"]: row for row in connection.execute(select(table_of(model))).mappings()}


def _labels(cells: pd.DataFrame, rows: Mapping[int, RowMapping], column: str) -> dict[int, str]:
    """Names by id; where a name stands for several versions, the version is added."""
    used = {id: rows[id] for id in cells[column].unique()}
    several = Counter(row["name"] for row in used.values())
    return {
        id: row["name"] if several[row["name"]] == 1 else f"{row['name']}@{row['version']}#{id}"
        for id, row in used.items()
    }


def _studies(connection: Connection, study: int | None) -> list[StudyRow]:
    table = table_of(tables.Study)
    query = select(*(table.c[name] for name in StudyRow.__annotations__)).order_by(table.c.id)
    if study is not None:
        query = query.where(table.c.id == study)
    studies = [cast(StudyRow, dict(row)) for row in connection.execute(query).mappings()]
    if not studies:
        raise AuditError(message("cells.no_studies") if study is None else message("cells.no_study", study=study))
    return studies


# Which sources belong together: the sentences of a document, a text in several languages.


@dataclass(frozen=True)
class Clusters:
    """The sources that name a cluster: ids, ascending, and codes of their clusters, below 0; both (sources,)."""

    sources: np.ndarray
    codes: np.ndarray

    def of(self, source: np.ndarray) -> np.ndarray:
        """The clusters of these sources (ids): codes, of a source that names none its own id.

        >>> Clusters(np.array([2, 5]), np.array([-1, -1])).of(np.array([5, 3, 2])).tolist()
        [-1, 3, -1]
        """
        source = np.asarray(source, np.int64)
        if not len(self.sources):
            return source
        position = np.minimum(np.searchsorted(self.sources, source), len(self.sources) - 1)
        return np.where(self.sources[position] == source, self.codes[position], source)


ALONE = Clusters(np.empty(0, np.int64), np.empty(0, np.int64))
"""Every source by itself."""


def source_clusters(connection: Connection, studies: Iterable[int]) -> Clusters:
    """The clusters of the sources of these studies (ids). Those of one study are none of another's."""
    source = table_of(tables.Source)
    query = select(source.c.id, source.c.study_id, source.c.cluster).where(
        source.c.study_id.in_(list(studies)), source.c.cluster.is_not(None)
    )
    codes: dict[tuple[int, str], int] = {}
    rows = [(id, codes.setdefault((study, name), -1 - len(codes))) for id, study, name in connection.execute(query)]
    pairs = np.array(sorted(rows), np.int64).reshape(-1, 2)
    return Clusters(pairs[:, 0], pairs[:, 1])
