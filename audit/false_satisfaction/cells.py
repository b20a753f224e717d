"""Counts per cell: what the runner found, and how the drawn groups were settled, by the rule of settled beginnings."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas as pd
from sqlalchemy import Connection, Engine, RowMapping, select
from sqlmodel import SQLModel

from audit.annotation.questions import Asked
from audit.errors import AuditError
from audit.false_satisfaction.audited import CELL, Audited, Book
from audit.false_satisfaction.beginnings import Beginning, Process, beginnings, read_process
from audit.false_satisfaction.settling import (
    Drawn,
    Known,
    Settled,
    Whose,
    drawn_groups,
    known_answers,
    settle_group,
)
from audit.relations import Outcome
from audit.sampling.designs import INFORMATIVE
from audit.sampling.domains import ALL, within
from audit.store import Checked, checked, table_of, tables
from audit.store.ids import LIMIT

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
    every group counts (`audit.false_satisfaction.beginnings`), `false` the false satisfactions in it, `waiting` the
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

    With `domain` (`audit.sampling.domains`) only its sources count, and samples drawn from it; else the sources are
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

    `process` as in `audit.false_satisfaction.beginnings`.
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
        raise AuditError(
            f"no sample has been drawn with the design {design}; run `audit sample --design {design}` first"
        )
    return [
        {name: row[name] for name in ("id", "study_id", "design", "seed", "annotators", "protocol", "domain")}
        for row in last.values()
    ]
