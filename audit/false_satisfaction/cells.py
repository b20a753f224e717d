"""Counts per cell: what the runner found, and how the drawn groups were settled, by the rule of settled beginnings."""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypedDict, cast

import numpy as np
import pandas as pd
from sqlalchemy import Connection, Engine, RowMapping, select
from sqlmodel import SQLModel

from audit.annotation.questions import Subject
from audit.errors import AuditError
from audit.false_satisfaction.questions import (
    Answers,
    Checks,
    Versions,
    agreed_answers,
    audited_carries,
    audited_follow_ups,
    checked_answers,
    checks_of_cell,
    reach_of,
    rests_on_carried,
)
from audit.false_satisfaction.resolution import (
    PROTOCOL,
    Beginning,
    Drawn,
    KnownAnswer,
    Process,
    Settled,
    State,
    Whose,
    beginnings,
    drawn_groups,
    known_answers,
    read_process,
    settle_group,
)
from audit.keys import canonical
from audit.messages import message
from audit.relations import Outcome
from audit.relations.validity import VALID
from audit.sampling.audits import audits_of
from audit.sampling.designs import ALL, CHANGED, COMPARING, within
from audit.store import Checked, checked, snapshot, table_of, tables
from audit.store.bulk import LIMIT


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


class SampleRow(TypedDict):
    """The sample of a study that counts."""

    id: int
    study_id: int
    design: str
    seed: int
    annotators: int
    domain: str
    quorum: str


# What the audits of a report's samples found: follow-ups with an answer of their own, and groups that were checked.

CELL = ["study_id", "relation_id", "system_id"]
Rows = Sequence[tuple[object, ...]]


@dataclass(frozen=True)
class Audited:
    """Frames with the columns study_id, relation_id, system_id (a cell) and those named here, one row each."""

    cells: pd.DataFrame
    """A cell that was drawn: `rests_true` and `rests_false` (groups of its settled beginning that are true, or false,
    only by carried answers), `protocol_judged` and `protocol_false` (its settled beginning as the protocol left it)."""
    follow_ups: pd.DataFrame
    """An audited follow-up of a group: group_id, source and follow_up (input ids), wrong (0 or 1)."""
    checks: pd.DataFrame
    """A checked group: group_id, protocol and checked (1: a false satisfaction, by the protocol and once checked)."""
    answered: pd.DataFrame
    """An answer on which people agreed that an adjudicator checked, in the reach of the audit: source (that of the
    first group that has it; its id), wrong (0 or 1). Of no cell."""
    waiting: int = 0
    """Questions that are open only to audit what relations carry."""
    checks_waiting: int = 0
    """Agreed answers that wait for an adjudicator's check."""
    shares: Mapping[int, Mapping[str, float]] = field(default_factory=dict)
    """Per study what is audited of its sample: the shares follow_ups and answers."""

    @classmethod
    def of(
        cls, cells: Rows = (), follow_ups: Rows = (), checks: Rows = (), answered: Rows = (), **numbers: Any
    ) -> "Audited":
        """Frames of these rows; without any, what audits found where nobody looked."""
        return cls(
            pd.DataFrame(cells, columns=[*CELL, "rests_true", "rests_false", "protocol_judged", "protocol_false"]),
            pd.DataFrame(follow_ups, columns=[*CELL, "group_id", "source", "follow_up", "wrong"]),
            pd.DataFrame(checks, columns=[*CELL, "group_id", "protocol", "checked"]),
            pd.DataFrame(answered, columns=["source", "wrong"]).astype(int),
            **numbers,
        )

    @property
    def answers(self) -> int:
        """The number of answers that were checked."""
        return len(self.answered)

    @property
    def answers_wrong(self) -> int:
        """The number of these that were wrong."""
        return int(self.answered["wrong"].sum())


class AuditCollector:
    """Collects what the audits found while the cells of a report are counted one by one."""

    def __init__(self, connection: Connection, samples: Sequence[SampleRow], whose: Whose, answers: Answers) -> None:
        ids = [sample["id"] for sample in samples]
        self._known = answers
        self._reach = reach_of(connection, ids)
        audits = {sample["study_id"]: audits_of(connection, sample["id"]) for sample in samples}
        self._shares = {
            study: {"follow_ups": audit.follow_ups, "answers": audit.answers} for study, audit in audits.items()
        }
        self._checked = any(audit.answers for audit in audits.values())
        protocol = known_answers(connection, whose, precedence=PROTOCOL) if self._checked else answers
        self._versions = Versions.of(protocol, answers)
        self._cells: list[tuple[object, ...]] = []
        self._follow_ups: list[tuple[object, ...]] = []
        self._checks: list[tuple[object, ...]] = []
        self._answers: dict[Subject, tuple[int, bool]] = {}
        self._waiting: set[Subject] = set()
        self._checks_waiting: set[Subject] = set()

    def add(self, cell: tuple[object, ...], groups: Sequence[Settled], judged: int, false: int) -> None:
        """One cell's groups in the order of their ranks, of which the first `judged` count, `false` of them false."""
        resting = [settled.state for settled in groups[:judged] if rests_on_carried(settled, self._known)]
        # Without spot checks the protocol's answers are those that count: nothing to settle a second time.
        checks = Checks(judged, false, ())
        if self._checked:
            checks = checks_of_cell((settled.drawn for settled in groups[:judged]), self._versions, self._reach)
        rests_false = sum(state is State.FALSE for state in resting)
        self._cells.append((*cell, len(resting) - rests_false, rests_false, checks.judged, checks.false))
        self._checks += [(*cell, group, int(before), int(after)) for group, before, after in checks.checked]
        self._follow_ups += [
            (*cell, carried.group_id, carried.source, carried.follow_up, int(carried.wrong))
            for carried in audited_carries(groups, self._known, self._reach)
        ]
        for settled in groups:
            drawn = settled.drawn
            if self._reach.asks(drawn):
                self._waiting.update(audited_follow_ups(settled))
            if self._reach.checks(drawn):
                self._checks_waiting.update(agreed_answers(drawn, self._known))
                for subject, wrong in checked_answers(drawn, self._versions):
                    self._answers.setdefault(subject, (drawn.group_id // LIMIT**2, wrong))

    def close(self, demanded: set[Subject]) -> Audited:
        """All cells together; `demanded` are the questions that drawn groups wait for: those are no audits."""
        return Audited.of(
            self._cells,
            self._follow_ups,
            self._checks,
            list(self._answers.values()),
            waiting=len(self._waiting - demanded),
            checks_waiting=len(self._checks_waiting),
            shares=self._shares,
        )


OUTCOMES = {
    Outcome.SATISFIED: "satisfied",
    Outcome.VIOLATED: "violated",
    Outcome.INAPPLICABLE: "inapplicable",
    Outcome.ERROR: "errors",
    Outcome.REJECTED: "rejected",
}
COLUMNS = [
    "study", "corpus", "task", "relation", "system", "groups", "satisfied", "violated", "inapplicable", "errors",
    "rejected", "drawn", "judged", "false", "waiting", "drawn_false", "drawn_open", "behind",
]  # fmt: skip
DRAWS = ("drawn", "judged", "false", "waiting", "drawn_false", "drawn_open", "behind")
"""Those of them that tell how a cell's draw stands."""


@dataclass(frozen=True)
class Counted:
    """Cells with their counts, and what they were counted from.

    `cells` has the columns of `COLUMNS`: `judged` is the length of the longest beginning of the cell's draw in which
    every group counts (`audit.false_satisfaction.resolution`), `false` the false satisfactions in it, `waiting` the
    questions that the rest waits for; `drawn_false` and `drawn_open` tell of the whole draw how many are false and how
    many wait, `behind` how many groups people have settled behind the beginning. Of the design `informative` a
    beginning is the relation's: the one in which every group counts for all systems that satisfy it. Its groups are no
    random sample of the cell's satisfied ones, so that `false` and `drawn_false` are missing there.
    """

    cells: pd.DataFrame
    studies: list[StudyRow]
    samples: list[SampleRow]
    waiting: int
    """Distinct questions that drawn groups wait for, over all cells."""
    keys: pd.DataFrame
    """Columns study_id, relation_id, system_id and the names study, task, relation, system of every cell."""
    drawn: pd.DataFrame
    """One row a drawn group of a cell: study_id, relation_id, system_id, group_id, rank, state (a number of `State`),
    counts (whether the state may count) and judged: whether it is in the beginning that counts."""
    checks: Checked
    """Every verdict of the studies, as arrays."""
    audited: Audited
    """What audits of the samples found. Their questions are not in `waiting`."""
    waiting_under: Mapping[tuple[int, int], int] = field(default_factory=dict)
    """Distinct questions that drawn groups wait for, by study and relation (ids)."""


@dataclass(frozen=True)
class Ground:
    """What does not change while people judge: the studies, their samples, every verdict, and counts of these.

    `cells` has a row per cell with the columns of `CELL`, task, relation, system (names), groups, satisfied, violated,
    inapplicable, errors and rejected.
    """

    studies: list[StudyRow]
    samples: list[SampleRow]
    checks: Checked
    cells: pd.DataFrame


@dataclass(frozen=True)
class DrawnCell:
    """One cell's draw in the order of ranks, as some answers settle it."""

    key: tuple[int, int, int]
    settled: Sequence[Settled]
    beginning: Beginning

    @property
    def waiting(self) -> set[Subject]:
        """The subjects of the questions that its groups wait for."""
        return {subject for settled in self.settled for subject in settled.waits_for}


def count(
    database: Engine | Connection,
    whose: Whose = "both",
    study: int | None = None,
    design: str | None = None,
    domain: str | None = None,
) -> Counted:
    """Count every cell of a study, or of all. Per study the sample drawn last counts, or the last one of `design`.

    With `domain` (`audit.sampling.designs`) only its sources count, and samples drawn from it; else the sources are
    those that each study's sample was drawn from. Raises AuditError where there is nothing to report, no such study
    or sample, or no satisfied group in the domain.
    """
    return count_drawn(database, whose, study, design, domain)[0]


def count_drawn(
    database: Engine | Connection,
    whose: Whose = "both",
    study: int | None = None,
    design: str | None = None,
    domain: str | None = None,
) -> tuple[Counted, list[DrawnCell]]:
    """As `count`, with the drawn groups, to settle them again by other answers."""
    with snapshot(database) as connection:
        ground = ground_of(connection, study, design, domain)
        answers = known_answers(connection, whose)
        process = read_process(connection)
        collector = AuditCollector(connection, ground.samples, whose, answers)
        drawn: list[DrawnCell] = []
        for sample in ground.samples:
            cells = drawn_cells(sample, drawn_groups(connection, [sample["id"]]), answers, process)
            for cell in cells:
                collector.add(cell.key, cell.settled, cell.beginning.judged, cell.beginning.false)
            drawn += cells
    waiting = waiting_questions(drawn)
    return counted_from(ground, drawn, len(waiting), collector.close(waiting)), drawn


def ground_of(
    connection: Connection, study: int | None = None, design: str | None = None, domain: str | None = None
) -> Ground:
    """Everything that does not hang on answers; arguments and errors as those of `count`."""
    studies = _studies(connection, study)
    ids = [row["id"] for row in studies]
    samples = _samples(connection, ids, design, domain)
    checks = checked(connection, ids)
    drawn_from = {sample["study_id"]: sample["domain"] for sample in samples}
    for id, own_domain in drawn_from.items() if domain is None else dict.fromkeys(ids, domain).items():
        checks = within(connection, checks, id, own_domain)
    cells = _observed(connection, ids, checks)
    if domain not in (None, ALL) and not (checks.outcome == Outcome.SATISFIED).any():
        raise AuditError(message("cells.domain_empty", domain=domain))
    if cells.empty:
        raise AuditError(message("cells.nothing_checked"))
    return Ground(studies, samples, checks, cells)


def drawn_cells(
    sample: SampleRow,
    groups: Iterable[Drawn],
    answers: Mapping[Subject, KnownAnswer],
    process: Process | None = None,
) -> list[DrawnCell]:
    """One sample's draws, settled by these answers; `groups` come cell by cell in the order of their ranks.

    `process` as in `audit.false_satisfaction.resolution`.
    """
    relations: dict[int, dict[int, list[Settled]]] = {}
    for drawn in groups:
        systems = relations.setdefault(drawn.relation_id, {})
        systems.setdefault(drawn.system_id, []).append(settle_group(drawn, answers))
    study, one_list = sample["study_id"], sample["design"] in COMPARING
    process = process and process.of_study(study)
    return [
        DrawnCell((study, relation, system), settled, beginning)
        for relation, systems in relations.items()
        for (system, settled), beginning in zip(
            systems.items(), beginnings(list(systems.values()), process, one_list), strict=True
        )
    ]


def waiting_questions(drawn: Iterable[DrawnCell]) -> set[Subject]:
    """The subjects of the questions that drawn groups wait for."""
    return {subject for cell in drawn for subject in cell.waiting}


def counted_from(ground: Ground, drawn: Sequence[DrawnCell], waiting: int, audited: Audited) -> Counted:
    """Everything that is counted, from the ground and the draws."""
    of_beginning = [name for name in DRAWS if name != "waiting"]
    rows = [(*cell.key, *(getattr(cell.beginning, name) for name in of_beginning), len(cell.waiting)) for cell in drawn]
    judged = pd.DataFrame(rows, columns=[*CELL, *of_beginning, "waiting"])
    groups = [(*cell.key, group.drawn.group_id, group.drawn.rank) for cell in drawn for group in cell.settled]
    drawn_rows = pd.DataFrame(groups, columns=[*CELL, "group_id", "rank"]).astype({"group_id": "int64"})
    drawn_rows = drawn_rows.assign(**states_of((cell.settled, cell.beginning) for cell in drawn))
    cells = ground.cells.merge(judged, how="left", on=CELL)
    for column in DRAWS:
        cells[column] = cells[column].fillna(0).astype(int)
    compares = cells["study_id"].isin(
        [sample["study_id"] for sample in ground.samples if sample["design"] in COMPARING]
    )
    if compares.any():
        for column in ("false", "drawn_false"):
            cells[column] = cells[column].astype("Int64").mask(compares)
    cells["study"] = cells["study_id"]
    cells["corpus"] = cells["study_id"].map({study["id"]: study["corpus"] for study in ground.studies})
    keys = cells[[*CELL, "study", "task", "relation", "system"]]
    under: dict[tuple[int, int], set[Subject]] = {}
    for cell in drawn:
        under.setdefault(cell.key[:2], set()).update(cell.waiting)
    return Counted(
        cells[COLUMNS],
        ground.studies,
        ground.samples,
        waiting,
        keys,
        drawn_rows,
        ground.checks,
        audited,
        {relation: len(subjects) for relation, subjects in under.items()},
    )


def states_of(cells: Iterable[tuple[Sequence[Settled], Beginning]]) -> dict[str, np.ndarray]:
    """The columns state, counts and judged of `Counted.drawn`, of these cells one after the other."""
    states: list[int] = []
    counts: list[bool] = []
    judged: list[bool] = []
    for settled, beginning in cells:
        states += [int(group.state) for group in settled]
        counts += beginning.counts
        judged += [position < beginning.judged for position in range(len(settled))]
    # Where nothing is drawn lists would have no types, and a mask without one selects columns.
    return {"state": np.array(states, int), "counts": np.array(counts, bool), "judged": np.array(judged, bool)}


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


def _samples(connection: Connection, studies: Sequence[int], design: str | None, domain: str | None) -> list[SampleRow]:
    table = table_of(tables.Sample)
    query = select(*(table.c[name] for name in SampleRow.__annotations__)).where(table.c.study_id.in_(studies))
    query = query.order_by(table.c.study_id, table.c.drawn_at, table.c.id)
    query = query.where(table.c.design != CHANGED if design is None else table.c.design == design)
    if domain is not None:
        query = query.where(table.c.domain == domain)
    last = {row["study_id"]: cast(SampleRow, dict(row)) for row in connection.execute(query).mappings()}
    if design is not None and not last:
        raise AuditError(message("cells.not_drawn", design=design))
    return list(last.values())


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
