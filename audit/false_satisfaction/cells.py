"""Counts per cell: what the runner found, and how the drawn groups were settled, by the rule of settled beginnings."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product

import numpy as np
import pandas as pd
from sqlalchemy import Connection, Engine, RowMapping, select
from sqlmodel import SQLModel

from audit.annotation.questions import Asked
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
    Known,
    Process,
    Settled,
    State,
    Whose,
    beginnings,
    drawn_groups,
    gold_labels,
    known_answers,
    read_process,
    settle_group,
)
from audit.relations import Outcome
from audit.sampling.audits import audits_of
from audit.sampling.designs import ALL, INFORMATIVE, within
from audit.store import Checked, checked, table_of, tables
from audit.store.bulk import LIMIT

# What the audits of a report's samples found: follow-ups with an answer of their own, and groups that were checked.

CELL = ["study_id", "relation_id", "system_id"]


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
    waiting: int
    """Questions that are open only to audit what relations carry."""
    checks_waiting: int
    """Agreed answers that wait for an adjudicator's check."""
    shares: Mapping[int, Mapping[str, float]]
    """Per study what is audited of its sample: the shares follow_ups and answers."""

    @property
    def answers(self) -> int:
        """How many answers were checked."""
        return len(self.answered)

    @property
    def answers_wrong(self) -> int:
        """How many of these were wrong."""
        return int(self.answered["wrong"].sum())


class Book:
    """Keeps what the audits found while the cells of a report are counted one after the other."""

    def __init__(
        self, connection: Connection, samples: Sequence[Mapping[str, object]], whose: Whose, known: Answers
    ) -> None:
        ids = [int(str(one["id"])) for one in samples]
        self._known = known
        self._reach = reach_of(connection, ids)
        audits = {int(str(one["study_id"])): audits_of(connection, int(str(one["id"]))) for one in samples}
        self._shares = {study: {"follow_ups": one.follow_ups, "answers": one.answers} for study, one in audits.items()}
        self._checked = any(one.answers for one in audits.values())
        protocol = known_answers(connection, whose, precedence=PROTOCOL) if self._checked else known
        self._versions = Versions.of(protocol, known)
        self._cells: list[tuple[object, ...]] = []
        self._follow_ups: list[tuple[object, ...]] = []
        self._checks: list[tuple[object, ...]] = []
        self._answers: dict[Asked, tuple[int, bool]] = {}
        self._waiting: set[Asked] = set()
        self._checks_waiting: set[Asked] = set()

    def add(self, cell: tuple[object, ...], some: Sequence[Settled], judged: int, false: int) -> None:
        """One cell's groups in the order of their ranks, of which the first `judged` count, `false` of them false."""
        resting = [one.state for one in some[:judged] if rests_on_carried(one, self._known)]
        # Without spot checks the protocol's answers are those that count: nothing to settle a second time.
        checks = Checks(judged, false, ())
        if self._checked:
            checks = checks_of_cell((one.drawn for one in some[:judged]), self._versions, self._reach)
        rests_false = sum(state is State.FALSE for state in resting)
        self._cells.append((*cell, len(resting) - rests_false, rests_false, checks.judged, checks.false))
        self._checks += [(*cell, group, int(before), int(after)) for group, before, after in checks.checked]
        self._follow_ups += [
            (*cell, one.group_id, one.source, one.follow_up, int(one.wrong))
            for one in audited_carries(some, self._known, self._reach)
        ]
        for one in some:
            drawn = one.drawn
            if self._reach.asks(drawn):
                self._waiting.update(audited_follow_ups(one))
            if self._reach.checks(drawn):
                self._checks_waiting.update(agreed_answers(drawn, self._known))
                for asked, wrong in checked_answers(drawn, self._versions):
                    self._answers.setdefault(asked, (drawn.group_id // LIMIT**2, wrong))

    def close(self, asked: set[Asked]) -> Audited:
        """All cells together; `asked` are the questions that drawn groups wait for: those are no audits."""
        columns = ["rests_true", "rests_false", "protocol_judged", "protocol_false"]
        return Audited(
            pd.DataFrame(self._cells, columns=[*CELL, *columns]),
            pd.DataFrame(self._follow_ups, columns=[*CELL, "group_id", "source", "follow_up", "wrong"]),
            pd.DataFrame(self._checks, columns=[*CELL, "group_id", "protocol", "checked"]),
            pd.DataFrame(list(self._answers.values()), columns=["source", "wrong"]).astype(int),
            len(self._waiting - asked),
            len(self._checks_waiting),
            self._shares,
        )


OUTCOMES = {
    Outcome.SATISFIED: "satisfied",
    Outcome.VIOLATED: "violated",
    Outcome.INAPPLICABLE: "inapplicable",
    Outcome.ERROR: "errors",
}
COLUMNS = [
    "study", "corpus", "task", "relation", "system", "groups", "satisfied", "violated", "inapplicable", "errors",
    "drawn", "judged", "false", "waiting", "drawn_false", "drawn_open", "behind",
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
    studies: list[dict[str, object]]
    samples: list[dict[str, object]]
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
    inapplicable and errors.
    """

    studies: list[dict[str, object]]
    samples: list[dict[str, object]]
    checks: Checked
    cells: pd.DataFrame


@dataclass(frozen=True)
class DrawnCell:
    """One cell's draw in the order of ranks, as some answers settle it."""

    key: tuple[int, int, int]
    settled: Sequence[Settled]
    beginning: Beginning

    @property
    def waiting(self) -> set[Asked]:
        """What is asked in the questions that its groups wait for."""
        return {asked for one in self.settled for asked in one.waits_for}


def count(
    engine: Engine,
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
    return count_drawn(engine, whose, study, design, domain)[0]


def count_drawn(
    engine: Engine,
    whose: Whose = "both",
    study: int | None = None,
    design: str | None = None,
    domain: str | None = None,
) -> tuple[Counted, list[DrawnCell]]:
    """As `count`, with the drawn groups, for whoever asks what other answers would make of them."""
    with engine.connect() as connection:
        ground = ground_of(connection, study, design, domain)
        known = known_answers(connection, whose)
        process = read_process(connection)
        book = Book(connection, ground.samples, whose, known)
        drawn: list[DrawnCell] = []
        for sample in ground.samples:
            cells = drawn_cells(sample, drawn_groups(connection, [int(str(sample["id"]))]), known, process)
            for cell in cells:
                book.add(cell.key, cell.settled, cell.beginning.judged, cell.beginning.false)
            drawn += cells
    waiting = waiting_questions(drawn)
    return counted_from(ground, drawn, len(waiting), book.close(waiting)), drawn


def ground_of(
    connection: Connection, study: int | None = None, design: str | None = None, domain: str | None = None
) -> Ground:
    """What answers are counted on; arguments and errors as those of `count`."""
    studies = _studies(connection, study)
    ids = [int(str(one["id"])) for one in studies]
    samples = _samples(connection, ids, design, domain)
    checks = checked(connection, ids)
    drawn_from = {int(str(one["study_id"])): str(one["domain"]) for one in samples}
    for id, of in drawn_from.items() if domain is None else dict.fromkeys(ids, domain).items():
        checks = within(connection, checks, id, of)
    cells = _observed(connection, ids, checks)
    if domain not in (None, ALL) and not (checks.outcome == Outcome.SATISFIED).any():
        raise AuditError(f"no satisfied group has a source of the domain {domain}; leave the domain out")
    if cells.empty:
        raise AuditError("nothing has been checked yet; run `audit run` or `audit import-run` first")
    return Ground(studies, samples, checks, cells)


def drawn_cells(
    sample: Mapping[str, object],
    groups: Iterable[Drawn],
    known: Mapping[Asked, Known],
    process: Process | None = None,
) -> list[DrawnCell]:
    """One sample's draws, settled by these answers; `groups` come cell by cell in the order of their ranks.

    `process` as in `audit.false_satisfaction.resolution`.
    """
    relations: dict[int, dict[int, list[Settled]]] = {}
    for drawn in groups:
        systems = relations.setdefault(drawn.relation_id, {})
        systems.setdefault(drawn.system_id, []).append(settle_group(drawn, known))
    study, together = int(str(sample["study_id"])), sample["design"] == INFORMATIVE
    return [
        DrawnCell((study, relation, system), settled, beginning)
        for relation, systems in relations.items()
        for (system, settled), beginning in zip(
            systems.items(), beginnings(list(systems.values()), process, together), strict=True
        )
    ]


def waiting_questions(drawn: Iterable[DrawnCell]) -> set[Asked]:
    """What is asked in the questions that drawn groups wait for."""
    return {asked for one in drawn for asked in one.waiting}


def counted_from(ground: Ground, drawn: Sequence[DrawnCell], waiting: int, audited: Audited) -> Counted:
    """Everything that is counted, from the ground and the draws."""
    rows = [(*one.key, *(getattr(one.beginning, name) for name in DRAWS if name != "waiting")) for one in drawn]
    groups = [
        (*one.key, settled.drawn.group_id, settled.drawn.rank, int(settled.state), counts, place < one.beginning.judged)
        for one in drawn
        for place, (settled, counts) in enumerate(zip(one.settled, one.beginning.counts, strict=True))
    ]
    judged = pd.DataFrame(rows, columns=[*CELL, *(name for name in DRAWS if name != "waiting")])
    judged["waiting"] = [len(one.waiting) for one in drawn]
    drawn_rows = pd.DataFrame(groups, columns=[*CELL, "group_id", "rank", "state", "counts", "judged"])
    # Where nothing is drawn the columns would have no types, and a mask without one selects columns.
    typed = drawn_rows.astype({"group_id": "int64", "state": int, "counts": bool, "judged": bool})
    cells = ground.cells.merge(judged, how="left", on=CELL)
    for column in DRAWS:
        cells[column] = cells[column].fillna(0).astype(int)
    compares = cells["study_id"].isin([one["study_id"] for one in ground.samples if one["design"] == INFORMATIVE])
    if compares.any():
        for column in ("false", "drawn_false"):
            cells[column] = cells[column].astype("Int64").mask(compares)
    names = {one["id"]: one for one in ground.studies}
    cells["study"] = cells["study_id"]
    cells["corpus"] = cells["study_id"].map({id: one["corpus"] for id, one in names.items()})
    keys = cells[[*CELL, "study", "task", "relation", "system"]]
    under: dict[tuple[int, int], set[Asked]] = {}
    for one in drawn:
        under.setdefault(one.key[:2], set()).update(one.waiting)
    return Counted(
        cells[COLUMNS],
        ground.studies,
        ground.samples,
        waiting,
        keys,
        typed,
        ground.checks,
        audited,
        {of: len(asked) for of, asked in under.items()},
    )


def _observed(connection: Connection, studies: Sequence[int], checks: Checked) -> pd.DataFrame:
    """One row per cell that was run, those included in which the relation made no group."""
    progress = table_of(tables.Progress)
    pair, place = np.unique(checks.study * LIMIT + checks.relation, return_inverse=True)
    kinds = len(Outcome) + 1  # and not checked
    found = []
    for at, system in enumerate(checks.systems):
        number = np.bincount(place * kinds + checks.outcome[:, at] + 1, minlength=kinds * len(pair))
        counts = number.reshape(-1, kinds)[:, 1:]
        cell = {"study_id": pair // LIMIT, "relation_id": pair % LIMIT, "system_id": system}
        found.append(pd.DataFrame(cell | {name: counts[:, int(outcome)] for outcome, name in OUTCOMES.items()}))
    columns = [*CELL, *OUTCOMES.values()]
    counted = pd.concat(found, ignore_index=True) if found else pd.DataFrame(columns=columns, dtype=int)
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
    cells["relation"] = cells["relation_id"].map(_labels(cells, relations, "relation_id"))
    cells["system"] = cells["system_id"].map(_labels(cells, systems, "system_id"))
    return cells


def _rows(connection: Connection, model: type[SQLModel]) -> dict[int, RowMapping]:
    return {row["id"]: row for row in connection.execute(select(table_of(model))).mappings()}


def _labels(cells: pd.DataFrame, rows: Mapping[int, RowMapping], column: str) -> dict[int, str]:
    """Names by id; where a name stands for several versions (of a relation: within its task), the version is added."""
    used = {id: rows[id] for id in cells[column].unique()}
    several = Counter((row.get("task"), row["name"]) for row in used.values())
    return {
        id: row["name"] if several[row.get("task"), row["name"]] == 1 else f"{row['name']}@{row['version']}#{id}"
        for id, row in used.items()
    }


def _studies(connection: Connection, study: int | None) -> list[dict[str, object]]:
    table = table_of(tables.Study)
    columns = [
        table.c[name]
        for name in ("id", "task", "corpus", "fingerprint", "unit", "has_gold", "seed", "limit", "imported")
    ]
    query = select(*columns).order_by(table.c.id)
    if study is not None:
        query = query.where(table.c.id == study)
    found = [dict(row) for row in connection.execute(query).mappings()]
    if not found:
        raise AuditError(
            "there are no studies yet; run `audit run` first" if study is None else f"there is no study {study}"
        )
    return found


def _samples(
    connection: Connection, studies: Sequence[int], design: str | None, domain: str | None
) -> list[dict[str, object]]:
    table = table_of(tables.Sample)
    query = select(table).where(table.c.study_id.in_(studies)).order_by(table.c.study_id, table.c.drawn_at, table.c.id)
    if design is not None:
        query = query.where(table.c.design == design)
    if domain is not None:
        query = query.where(table.c.domain == domain)
    last = {row["study_id"]: dict(row) for row in connection.execute(query).mappings()}
    if design is not None and not last:
        raise AuditError(f"no sample has been drawn with the design {design}; draw one first")
    return [
        {name: row[name] for name in ("id", "study_id", "design", "seed", "annotators", "protocol", "domain")}
        for row in last.values()
    ]


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
        place = np.minimum(np.searchsorted(self.sources, source), len(self.sources) - 1)
        return np.where(self.sources[place] == source, self.codes[place], source)


ALONE = Clusters(np.empty(0, np.int64), np.empty(0, np.int64))
"""Every source by itself."""


def source_clusters(connection: Connection, studies: Iterable[int]) -> Clusters:
    """The clusters of the sources of these studies (ids). Those of one study are none of another's."""
    source = table_of(tables.Source)
    named = select(source.c.id, source.c.study_id, source.c.cluster).where(
        source.c.study_id.in_(list(studies)), source.c.cluster.is_not(None)
    )
    codes: dict[tuple[int, str], int] = {}
    rows = [(id, codes.setdefault((study, name), -1 - len(codes))) for id, study, name in connection.execute(named)]
    found = np.array(sorted(rows), np.int64).reshape(-1, 2)
    return Clusters(found[:, 0], found[:, 1])


# Which gold labels each judged group rests on, and whether it would be false were they others.

MOST = 4096
"""Combinations of labels that are gone through of one group: 12 labels that say one of two."""


def read_resting(engine: Engine, counted: Counted, whose: Whose) -> pd.DataFrame:
    """A row per drawn group of a cell: the columns of `CELL`, group_id, labels (tuple of numbers, the same for the same
    gold row everywhere), seen (tuple of places) and false (bool array), as `audit.statistics.corrected.Resting` has
    them, and modelled.

    What gold said of a text moves all members that it settles, of all groups. `modelled` is False where other labels
    would leave the group open, or there are more than `MOST` combinations: it rests on none then, as if gold were
    right.
    """
    numbers: dict[Asked, int] = {}
    rows: list[tuple[object, ...]] = []
    with engine.connect() as connection:
        known = known_answers(connection, whose)
        said = {task: sorted(labels) for task, labels in gold_labels(connection).items()}
        for sample in counted.samples:
            for drawn in drawn_groups(connection, [int(str(sample["id"]))]):
                key = (sample["study_id"], drawn.relation_id, drawn.system_id, drawn.group_id)
                asked = _asked_gold(drawn, known)
                labels = said.get(drawn.task, [])
                false = _false(drawn, known, asked, labels)
                if false is None:
                    state = settle_group(drawn, known).state
                    rows.append((*key, (), (), np.array(state is State.FALSE), not asked))
                    continue
                places = tuple(numbers.setdefault(one, len(numbers)) for one in asked)
                seen = tuple(labels.index(next(iter(known[one].allowed))) for one in asked)
                rows.append((*key, places, seen, false, True))
    return pd.DataFrame(rows, columns=[*CELL, "group_id", "labels", "seen", "false", "modelled"])


def _asked_gold(drawn: Drawn, known: Mapping[Asked, Known]) -> list[Asked]:
    """What gold answered of a group's members, each once."""
    asked = dict.fromkeys(drawn.asked(step) for step in drawn.steps)
    return [one for one in asked if one in known and known[one].origin == "gold" and len(known[one].allowed) == 1]


def _false(drawn: Drawn, known: Mapping[Asked, Known], asked: list[Asked], labels: list[str]) -> np.ndarray | None:
    """Whether the group is false under every combination of labels; None where one leaves it open, or gold says
    nothing."""
    if not asked or len(labels) ** len(asked) > MOST:
        return None
    found = np.zeros((len(labels),) * len(asked), bool)
    here = {one: known[one] for step in drawn.steps if (one := drawn.asked(step)) in known}
    for places in product(range(len(labels)), repeat=len(asked)):
        other = {one: Known(frozenset([labels[at]]), "gold") for one, at in zip(asked, places, strict=True)}
        state = settle_group(drawn, here | other).state
        if state is State.WAITING:
            return None
        found[places] = state is State.FALSE
    return found
