"""Cells with their counts: what the runner found, and what answers made of the groups that count."""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from sqlalchemy import Connection, Engine, select

from audit.errors import AuditError
from audit.false_satisfaction.population import Population, StudyRow, read_population
from audit.false_satisfaction.proxies import add_proxies
from audit.false_satisfaction.questions import Carried, asked_by, audited_carries, count_open
from audit.false_satisfaction.resolution import Answers, State, Whose, drawn_groups, known_answers
from audit.false_satisfaction.states import NOT_ASKED, OPEN, Standing, answered_by_gold, read_standing
from audit.keys import canonical
from audit.messages import message
from audit.relations import Outcome, name_order
from audit.relations.validity import VALID
from audit.sampling.samples import stored_draws, terms_of
from audit.statistics.rates import ALIKE, GOLD, TELLING, Judged
from audit.statistics.rates import Checked as CheckedGroups
from audit.store import Checked, checked, snapshot
from audit.store.bulk import LIMIT
from audit.store.core import progress, relation, sample, source, study, system

CELL = ["study_id", "relation_id", "system_id"]
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

    `cells` has the columns of `CELL` and `COLUMNS`, a row each, in the order of a report: `drawn` are its groups about
    whose sources people were asked or gold has a label, of which `waiting` have no answer yet; `judged` those that
    count, `false` of them false satisfactions, `open` given up. `judged` and `checked` are the groups behind these
    (`audit.statistics.rates`), whose cells are rows of `cells`; `group` has ids of the judged ones.
    """

    cells: pd.DataFrame
    studies: list[StudyRow]
    samples: list[dict[str, Any]]
    """How people are asked about a study, what the last round was to do, and how many `rounds` there are, of which
    `complete` count."""
    checks: Checked
    populations: Mapping[int, Population]
    standings: Mapping[int, Standing]
    judged: Judged
    checked: CheckedGroups
    group: np.ndarray
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

    @property
    def system(self) -> np.ndarray:
        """The systems (ids) of the judged groups."""
        return np.asarray(self.cells["system_id"].to_numpy()[self.judged.cell])

    def places(self) -> dict[tuple[int, int, int], int]:
        """The row of `cells` of each (study, relation, system), by id."""
        return {tuple(key): at for at, key in enumerate(self.cells[CELL].itertuples(index=False, name=None))}


def count(
    database: Engine | Connection, whose: Whose = "both", study: int | None = None, proxies: Sequence[str] = ()
) -> Counted:
    """Count every cell of a study, or of all, by the answers of `whose`.

    `proxies` are names of `audit.false_satisfaction.proxies`, which are read, too.

    Raises AuditError where there is nothing to report, and for a study that is not there.
    """
    with snapshot(database) as connection:
        studies, checks = _checks(connection, study)
        answers = known_answers(connection, whose)
        populations, standings = {}, {}
        alone: set[int] = set()
        for id in (row["id"] for row in studies):
            population = read_population(connection, id, checks.of(id))
            standing = read_standing(connection, population, whose, answers)
            about = np.ones(len(population.source), bool)
            if standing.labelled.any() and not standing.rounds:
                # Only gold has answered, for a part of the sources: what is said is about these.
                about = standing.labelled
            elif whose == "people" and standing.rounds:
                # Rounds ask nobody about a source that gold answers for.
                draws = stored_draws(connection, id).query("relation_id == 0")
                about = np.isin(population.source, draws["source_id"]) | ~answered_by_gold(connection, population)
            if not about.all():
                alone.add(id)
                population = population.among(about)
                standing = read_standing(connection, population, whose, answers)
                checks = checks.from_sources(population.source[about], id)
            populations[id], standings[id] = population, standing
        cells = _observed(connection, studies, checks)
        left_out = add_proxies(connection, populations, studies, proxies)
        terms = {id: terms for id, terms in terms_of(connection).items() if id in populations and terms.follow_ups}
        audited = audited_carries(drawn_groups(connection, terms), answers, terms) if terms else []
        open_questions = count_open(connection, asked_by(connection, list(populations)))
        columns = (sample.c.study_id, sample.c.annotators, sample.c.quorum, sample.c.follow_ups, sample.c.options)
        samples = [
            dict(row) | {"rounds": len(standings[id].rounds), "complete": standings[id].complete}
            for row in connection.execute(select(*columns).order_by(sample.c.study_id)).mappings()
            if (id := row["study_id"]) in standings
        ]
    judged, group, counts = _judged(cells, populations, standings)
    only, nobody = frozenset(alone), frozenset[int]()
    return Counted(
        cells.assign(**counts)[[*CELL, *COLUMNS]], studies, samples, checks, populations, standings, judged,
        _satisfied_or_violated(cells, populations, standings), group, open_questions.texts, audited,
        open_questions.audits, *((nobody, only) if whose == "people" else (only, nobody)),
        left_out,
    )  # fmt: skip


def recount(connection: Connection, counted: Counted, whose: Whose, answers: Answers) -> Counted:
    """Count once more, by `answers` in the place of those of `whose`."""
    standings = {id: read_standing(connection, of, whose, answers) for id, of in counted.populations.items()}
    judged, group, counts = _judged(counted.cells, counted.populations, standings)
    cells = counted.cells.assign(**counts)
    return replace(counted, cells=cells, standings=standings, judged=judged, group=group)


_Populations = Mapping[int, Population]
_Standings = Mapping[int, Standing]


@dataclass(frozen=True, slots=True)
class _Cell:
    """A cell that has groups: its row, and the first codes of its study's sources and clusters."""

    place: int
    population: Population
    relation: int
    column: int
    standing: Standing
    sources: int
    clusters: int

    def rows(self, at: np.ndarray) -> dict[str, np.ndarray]:
        """What is said of its groups at these places, whether they are judged or not."""
        groups = self.population.relations[self.relation]
        applies = np.flatnonzero((groups.satisfied >= 0).any(0))
        stratum = np.where(groups.telling(applies.tolist()), TELLING, ALIKE).astype(np.int8)
        stratum[self.standing.labelled[groups.source]] = GOLD
        source = groups.source[at]
        return {
            "cell": np.full(len(at), self.place, np.int32),
            "stratum": stratum[at],
            "source": (source + self.sources).astype(np.int32),
            "cluster": (self.population.cluster[source] + self.clusters).astype(np.int32),
            # What proxies take false for; comparisons have what they take genuine for.
            "proxy": 1 - groups.proxy[:, at, self.column].T,
        }


def _cells_of(cells: pd.DataFrame, populations: _Populations, standings: _Standings) -> Iterable[_Cell]:
    first: dict[int, tuple[int, int]] = {}
    sources = clusters = 0
    for study_id, population in populations.items():
        first[study_id] = sources, clusters
        sources, clusters = sources + len(population.source), clusters + int(population.cluster.max(initial=-1)) + 1
    for place, (study_id, relation_id, system_id) in enumerate(cells[CELL].itertuples(index=False, name=None)):
        population = populations[study_id]
        if relation_id in population.relations and system_id in population.systems:
            column = population.systems.index(system_id)
            yield _Cell(place, population, relation_id, column, standings[study_id], *first[study_id])


_TYPES = {"cell": np.int32, "stratum": np.int8, "source": np.int32, "cluster": np.int32}


def _together(parts: Sequence[dict[str, np.ndarray]], **types: Any) -> dict[str, Any]:
    """The groups of all cells, a column each; the parts are emptied, of which there may be hundreds of megabytes."""
    has_proxies = any(part["proxy"].shape[1] for part in parts)
    columns: dict[str, Any] = {
        name: np.concatenate([np.zeros(0, type), *(part.pop(name) for part in parts)])
        for name, type in (_TYPES | types).items()
    }
    return columns | {"proxy": np.concatenate([part.pop("proxy") for part in parts]) if has_proxies else None}


def _satisfied_or_violated(cells: pd.DataFrame, populations: _Populations, standings: _Standings) -> CheckedGroups:
    rows = []
    for cell in _cells_of(cells, populations, standings):
        satisfied = cell.population.relations[cell.relation].satisfied[:, cell.column]
        at = np.flatnonzero(satisfied >= 0)
        rows.append(cell.rows(at) | {"satisfied": satisfied[at]})
    return CheckedGroups(**_together(rows, satisfied=np.int8))


def _judged(
    cells: pd.DataFrame, populations: _Populations, standings: _Standings
) -> tuple[Judged, np.ndarray, dict[str, np.ndarray]]:
    """The groups that count, their ids, and by cell how many there are: judged, false, open, drawn and waiting ones."""
    rows = []
    counts = {name: np.zeros(len(cells), int) for name in ("judged", "false", "open", "drawn", "waiting")}
    for cell in _cells_of(cells, populations, standings):
        of, column, standing = cell.relation, cell.column, cell.standing
        at, drawn = np.flatnonzero(standing.state[of][:, column] != NOT_ASKED), standing.drawn[of][:, column]
        state = standing.state[of][at, column]
        false, open = (state == State.FALSE).astype(np.int8), (state == OPEN).astype(np.int8)
        numbers = len(at), false.sum(), open.sum(), (drawn != NOT_ASKED).sum(), (drawn == OPEN).sum()
        for of_name, number in zip(counts.values(), numbers, strict=True):
            of_name[cell.place] = number
        answered = {"false": false, "open": open, "q": standing.q[of][at, column]}
        rows.append(cell.rows(at) | answered | {"group": cell.population.group[of][at, column]})
    columns = _together(rows, false=np.int8, open=np.int8, q=float, group=np.int64)
    group = columns.pop("group")
    return Judged(**columns), group, counts


# What the runner found, which does not hang on answers.


def read_cells(connection: Connection, study: int | None = None) -> tuple[list[StudyRow], Checked, pd.DataFrame]:
    """Return the studies, every verdict, and a row a cell: the columns of `CELL` and those of `COLUMNS` that do not
    hang on answers. Errors are those of `count`."""
    studies, checks = _checks(connection, study)
    return studies, checks, _observed(connection, studies, checks)


def _checks(connection: Connection, only: int | None) -> tuple[list[StudyRow], Checked]:
    query = select(*(study.c[name] for name in StudyRow.__annotations__)).order_by(study.c.id)
    if only is not None:
        query = query.where(study.c.id == only)
    studies: list[Any] = [dict(row) for row in connection.execute(query).mappings()]
    if not studies:
        raise AuditError(message("cells.no_studies") if only is None else message("cells.no_study", study=only))
    return studies, checked(connection, [row["id"] for row in studies])


def _observed(connection: Connection, studies: Sequence[StudyRow], checks: Checked) -> pd.DataFrame:
    """One row per cell that was run, those included in which the relation made no group, in the order of a report."""
    corpora = {row["id"]: row["corpus"] for row in studies}
    pair, pair_code = np.unique(checks.study * LIMIT + checks.relation, return_inverse=True)
    kinds = len(Outcome) + 1  # and not checked
    ran = select(*(progress.c[name] for name in CELL)).where(progress.c.study_id.in_(corpora)).distinct()
    nothing = dict.fromkeys(OUTCOMES.values(), 0)
    counted = {tuple(key): dict(nothing) for key in connection.execute(ran)}
    for column, system_id in enumerate(checks.systems):
        number = np.bincount(pair_code * kinds + checks.outcome[:, column] + 1, minlength=kinds * len(pair))
        for code, numbers in zip(pair.tolist(), number.reshape(-1, kinds)[:, 1:].tolist(), strict=True):
            if any(numbers):
                counted[*divmod(code, LIMIT), system_id] = {name: numbers[int(of)] for of, name in OUTCOMES.items()}
    if not counted:
        raise AuditError(message("cells.nothing_checked"))
    cells = pd.DataFrame([dict(zip(CELL, key, strict=True)) | of for key, of in counted.items()])
    cells["groups"] = cells[[*nothing]].sum(axis=1)
    relations, systems = (
        {row["id"]: row for row in connection.execute(select(table)).mappings()} for table in (relation, system)
    )
    used = {id: systems[id] for id in cells["system_id"].unique()}
    several = Counter(row["name"] for row in used.values())
    # Where a name stands for several versions, the version is added.
    names = {
        id: row["name"] if several[row["name"]] == 1 else f"{row['name']}@{row['version']}#{id}"
        for id, row in used.items()
    }
    labels = relation_labels({id: relations[id] for id in cells["relation_id"].unique()})
    cells["study"], cells["corpus"] = cells["study_id"], cells["study_id"].map(corpora)
    cells["task"] = [relations[id]["task"] for id in cells["relation_id"]]
    cells["relation"], cells["system"] = cells["relation_id"].map(labels), cells["system_id"].map(names)
    keys = zip(cells["task"], cells["study"], map(name_order, cells["relation"]), cells["system"], strict=True)
    places = [at for _, at in sorted((key, at) for at, key in enumerate(keys))]
    return cells.iloc[places].reset_index(drop=True)


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


# Which sources belong together: the sentences of a document, a text in several languages.


def source_clusters(connection: Connection, studies: Iterable[int]) -> pd.Series:
    """The cluster of each source (id) of these studies (ids): a code below 0, of a source that names none its own id.
    Those of one study are none of another's."""
    rows = connection.execute(
        select(source.c.id, source.c.study_id, source.c.cluster).where(source.c.study_id.in_(list(studies)))
    )
    codes: dict[tuple[int, str], int] = {}
    of_source = {id: id if name is None else codes.setdefault((of, name), -1 - len(codes)) for id, of, name in rows}
    return pd.Series(of_source, dtype=np.int64)
