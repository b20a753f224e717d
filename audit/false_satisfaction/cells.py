"""Counts per cell: what the runner found, and how the drawn groups were settled, by the rule of settled prefixes."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from sqlalchemy import Connection, Engine, RowMapping, select
from sqlmodel import SQLModel

from audit.annotation.questions import Asked
from audit.errors import AuditError
from audit.false_satisfaction.audited import CELL, Audited, Book
from audit.false_satisfaction.settling import (
    Drawn,
    Known,
    Settled,
    State,
    Whose,
    drawn_groups,
    known_answers,
    settle_group,
)
from audit.relations import Outcome
from audit.sampling.designs import INFORMATIVE
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
    "drawn", "judged", "false", "waiting",
]  # fmt: skip


@dataclass(frozen=True)
class Counted:
    """Cells with their counts, and what they were counted from.

    `cells` has the columns of `COLUMNS`: `judged` is the length of the longest beginning of the cell's draw in which
    every group is settled, `false` the false satisfactions in it, `waiting` the questions that the rest waits for.
    Of the design `informative` a beginning is the relation's: the one in which every group is settled for all systems
    that satisfy it. Its groups are no random sample of the cell's satisfied ones, so that `false` is missing there.
    """

    cells: pd.DataFrame
    studies: list[dict[str, object]]
    samples: list[dict[str, object]]
    waiting: int
    """Distinct questions that drawn groups wait for, over all cells."""
    keys: pd.DataFrame
    """Columns study_id, relation_id, system_id and the names study, task, relation, system of every cell."""
    drawn: pd.DataFrame
    """One row a drawn group of a cell: study_id, relation_id, system_id, group_id, rank, state (a number of `State`)
    and judged: whether it is in the cell's settled beginning."""
    checks: Checked
    """Every verdict of the studies, as arrays."""
    audited: Audited
    """What audits of the samples found. Their questions are not in `waiting`."""


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
    """One cell's draw in the order of ranks, as some answers settle it. `counts` are those of `prefix_counts`."""

    key: tuple[int, int, int]
    settled: Sequence[Settled]
    counts: dict[str, int]


def count(engine: Engine, whose: Whose = "both", study: int | None = None, design: str | None = None) -> Counted:
    """Count every cell of a study, or of all. Per study the sample drawn last counts, or the last one of `design`.

    Raises AuditError where there is nothing to report, or no such study or sample.
    """
    with engine.connect() as connection:
        ground = ground_of(connection, study, design)
        known = known_answers(connection, whose)
        book = Book(connection, ground.samples, whose, known)
        drawn: list[DrawnCell] = []
        for sample in ground.samples:
            some = drawn_cells(sample, drawn_groups(connection, [int(str(sample["id"]))]), known)
            for one in some:
                book.add(one.key, one.settled, one.counts["judged"], one.counts["false"])
            drawn += some
    waiting = waiting_questions(drawn)
    return counted_from(ground, drawn, len(waiting), book.close(waiting))


def ground_of(connection: Connection, study: int | None = None, design: str | None = None) -> Ground:
    """What answers are counted on; arguments and errors as those of `count`."""
    studies = _studies(connection, study)
    ids = [int(str(one["id"])) for one in studies]
    samples = _samples(connection, ids, design)
    checks = checked(connection, ids)
    cells = _observed(connection, ids, checks)
    if cells.empty:
        raise AuditError("nothing has been checked yet; run `audit run` or `audit import-run` first")
    return Ground(studies, samples, checks, cells)


def drawn_cells(sample: Mapping[str, object], groups: Iterable[Drawn], known: Mapping[Asked, Known]) -> list[DrawnCell]:
    """One sample's draws, settled by these answers; `groups` come cell by cell in the order of their ranks."""
    by_cell: dict[tuple[int, int], list[Settled]] = {}
    for drawn in groups:
        by_cell.setdefault((drawn.relation_id, drawn.system_id), []).append(settle_group(drawn, known))
    ends = {cell: first_waiting(some) for cell, some in by_cell.items()}
    if sample["design"] == INFORMATIVE:
        # One list for all systems of a relation, so one beginning.
        ends = {cell: min(end for other, end in ends.items() if other[0] == cell[0]) for cell in ends}
    study = int(str(sample["study_id"]))
    return [DrawnCell((study, *cell), some, prefix_counts(some, ends[cell])) for cell, some in by_cell.items()]


def waiting_questions(drawn: Iterable[DrawnCell]) -> set[Asked]:
    """What is asked in the questions that drawn groups wait for."""
    return {asked for one in drawn for settled in one.settled for asked in settled.waits_for}


def counted_from(ground: Ground, drawn: Sequence[DrawnCell], waiting: int, audited: Audited) -> Counted:
    """Everything that is counted, from the ground and the draws."""
    rows = [dict(zip(CELL, one.key, strict=True)) | one.counts for one in drawn]
    groups = [
        (*one.key, settled.drawn.group_id, settled.drawn.rank, int(settled.state), place < one.counts["judged"])
        for one in drawn
        for place, settled in enumerate(one.settled)
    ]
    judged = pd.DataFrame(rows, columns=[*CELL, "drawn", "judged", "false", "waiting"])
    drawn_rows = pd.DataFrame(groups, columns=[*CELL, "group_id", "rank", "state", "judged"])
    # Where nothing is drawn the columns would have no types, and a mask without one selects columns.
    typed = drawn_rows.astype({"group_id": "int64", "state": int, "judged": bool})
    cells = ground.cells.merge(judged, how="left", on=CELL)
    for column in ("drawn", "judged", "false", "waiting"):
        cells[column] = cells[column].fillna(0).astype(int)
    compares = cells["study_id"].isin([one["study_id"] for one in ground.samples if one["design"] == INFORMATIVE])
    if compares.any():
        cells["false"] = cells["false"].astype("Int64").mask(compares)
    names = {one["id"]: one for one in ground.studies}
    cells["study"] = cells["study_id"]
    cells["corpus"] = cells["study_id"].map({id: one["corpus"] for id, one in names.items()})
    keys = cells[[*CELL, "study", "task", "relation", "system"]]
    return Counted(cells[COLUMNS], ground.studies, ground.samples, waiting, keys, typed, ground.checks, audited)


def first_waiting(settled: Sequence[Settled]) -> float:
    """The rank at which a draw's settled beginning ends: that of its first group that waits, or infinity."""
    return min((one.drawn.rank for one in settled if one.state is State.WAITING), default=math.inf)


def prefix_counts(settled: Sequence[Settled], end: float | None = None) -> dict[str, int]:
    """Counts of one cell's draw, given in the order of ranks; `end` is the rank at which the settled beginning ends
    (default: that of the cell's first group that waits).

    judged and false are counted over the beginning in which every group is settled: counting whatever
    happens to be settled would favour false satisfactions, which need one answer where true ones need all.
    """
    end = first_waiting(settled) if end is None else end
    beginning = [one for one in settled if one.drawn.rank < end]
    false = sum(one.state is State.FALSE for one in beginning)
    waiting = {asked for one in settled for asked in one.waits_for}
    return {"drawn": len(settled), "judged": len(beginning), "false": false, "waiting": len(waiting)}


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


def _samples(connection: Connection, studies: Sequence[int], design: str | None) -> list[dict[str, object]]:
    table = table_of(tables.Sample)
    query = select(table).where(table.c.study_id.in_(studies)).order_by(table.c.study_id, table.c.drawn_at, table.c.id)
    if design is not None:
        query = query.where(table.c.design == design)
    last = {row["study_id"]: dict(row) for row in connection.execute(query).mappings()}
    if design is not None and not last:
        raise AuditError(
            f"no sample has been drawn with the design {design}; run `audit sample --design {design}` first"
        )
    return [
        {name: row[name] for name in ("id", "study_id", "design", "seed", "annotators", "protocol")}
        for row in last.values()
    ]
