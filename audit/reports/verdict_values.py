"""What relations measured: every verdict of a study with its value, as a frame; the ground of `audit values`."""

import json
import math
from collections.abc import Iterable, Sequence
from typing import Any

import pandas as pd
from sqlalchemy import Connection, Engine, select

import audit
from audit.errors import AuditError, UnknownName
from audit.false_satisfaction.cells import ground_of
from audit.relations import Outcome
from audit.relations.registry import name_order
from audit.store import pieces, table_of, tables
from audit.store.ids import group_ids
from audit.tasks import Input

COLUMNS = [
    "study", "corpus", "relation", "system", "source", "text", "language", "target", "outcome", "value",
    "relation_id", "system_id",
]  # fmt: skip
LEVELS = ("MGMT-sentence", "MGMT-phrase", "MGMT-word")
"""The three levels of multi-granularity testing: what a system's MGMT score is the mean of."""
_SOURCE = ("source", "text", "language", "target")


def verdict_values(
    engine: Engine,
    study: int | None = None,
    relations: Sequence[str] = (),
    task: str | None = "translation",
    among: Sequence[int] | None = None,
) -> pd.DataFrame:
    """One row a verdict that satisfies or violates: columns `COLUMNS`.

    `study` and `source` are ids, `text`, `language` and `target` (None where there is none) are of the source's first
    text, `outcome` is 0 (satisfied) or 1 (violated), `value` is what was compared, NaN where it was labels. Relations
    and systems have the names of a report's cells. Rows stand in the order of studies, `relations` (all by default),
    systems and sources. `task` None: of every task. `among`: of relations with these ids alone; others are not
    read, and there may be no rows.

    Raises AuditError where nothing has been checked or no study of the task is there, UnknownName for a relation that
    none of them has.
    """
    with engine.connect() as connection:
        ground = ground_of(connection, study)
        cells = ground.cells if task is None else ground.cells[ground.cells["task"] == task]
        if cells.empty:
            raise AuditError(f"no study of task {task} has been run; `audit run --task {task}` does")
        known = sorted(cells["relation"].unique(), key=name_order)
        for name in relations:
            if name not in known:
                raise UnknownName("relation", name, known)
        cells = cells[cells["relation"].isin(relations or known)]
        if among is not None:
            cells = cells[cells["relation_id"].isin(among)]
        if cells.empty:
            return pd.DataFrame(columns=COLUMNS)
        found = [_of_study(connection, int(one), cells[cells["study_id"] == one]) for one in cells["study_id"].unique()]
    corpora = {one["id"]: one["corpus"] for one in ground.studies}
    values = pd.concat(found, ignore_index=True)
    values["corpus"] = values["study"].map(corpora)
    order = {name: place for place, name in enumerate(relations or known)}
    values["order"] = values["relation"].map(order)
    values = values.sort_values(["study", "order", "system", "source"], kind="stable", ignore_index=True)
    return values[COLUMNS]


def _of_study(connection: Connection, study: int, cells: pd.DataFrame) -> pd.DataFrame:
    verdict, group, source = (table_of(one) for one in (tables.Verdict, tables.Group, tables.Source))
    given = table_of(tables.Input)
    mine = select(source.c.id, given.c.texts, given.c.languages).join(given, given.c.id == source.c.input_id)
    mine = mine.where(source.c.study_id == study)
    inputs = [(row.id, Input.stored(row.texts, row.languages)) for row in connection.execute(mine)]
    rows = [(id, one.text, one.languages[0], one.target) for id, one in inputs]
    sources = pd.DataFrame(rows, columns=list(_SOURCE))
    relations = [int(one) for one in cells["relation_id"].unique()]
    query = (
        select(group.c.relation_id, verdict.c.system_id, group.c.source_id, verdict.c.outcome, verdict.c.value)
        .join(group, group.c.id == verdict.c.group_id)
        .where(
            # Groups are numbered by their sources: the narrow way into the verdicts.
            verdict.c.group_id.between(*group_ids(int(sources["source"].min()), int(sources["source"].max()))),
            group.c.study_id == study,
            group.c.relation_id.in_(relations),
            verdict.c.outcome.in_((int(Outcome.SATISFIED), int(Outcome.VIOLATED))),
        )
    )
    found = [tuple(row) for row in connection.execute(query)]
    checks = pd.DataFrame(found, columns=["relation_id", "system_id", "source", "outcome", "value"])
    checks["value"] = checks["value"].astype(float)
    names = cells[["relation_id", "system_id", "relation", "system"]]
    return checks.merge(names, on=["relation_id", "system_id"]).merge(sources, on="source").assign(study=study)


def source_outputs(engine: Engine, sources: Iterable[int]) -> pd.DataFrame:
    """What each system made of sources: columns source, system_id, output (the last text)."""
    source, output = table_of(tables.Source), table_of(tables.Output)
    found: dict[tuple[int, int], str] = {}
    with engine.connect() as connection:
        for piece in pieces(int(one) for one in sources):
            query = (
                select(source.c.id, output.c.system_id, output.c.text)
                .join(output, output.c.input_id == source.c.input_id)
                .where(source.c.id.in_(piece), output.c.text.is_not(None))
                .order_by(output.c.attempt)
            )
            found |= {(int(row.id), int(row.system_id)): row.text for row in connection.execute(query)}
    rows = [(*key, text) for key, text in found.items()]
    return pd.DataFrame(rows, columns=["source", "system_id", "output"])


def plain(value: float | None) -> float | None:
    """A number as JSON has it: None for NaN, of Python's own type.

    >>> plain(float("nan")), plain(0.5)
    (None, 0.5)
    """
    return None if value is None or math.isnan(value) else float(value)


def origin(engine: Engine, values: pd.DataFrame) -> dict[str, Any]:
    """What a document says of where its numbers are from: versions, studies, parameters, settings."""
    relation, system = table_of(tables.Relation), table_of(tables.System)
    with engine.connect() as connection:
        rows = {row.id: row for row in connection.execute(select(relation))}
        systems = {row.id: row for row in connection.execute(select(system))}
    used = [rows[id] for id in values["relation_id"].unique()]
    return {
        "audit": audit.__version__,
        "studies": sorted(int(one) for one in values["study"].unique()),
        "corpora": sorted(values["corpus"].unique()),
        "relations": [{"name": one.name, "version": one.version, "params": json.loads(one.params)} for one in used],
        "systems": [
            {"name": one.name, "version": one.version, "settings": json.loads(one.settings)}
            for one in (systems[id] for id in sorted(values["system_id"].unique()))
        ],
    }


def levels_of(values: pd.DataFrame, relations: Sequence[str] = ()) -> list[str]:
    """The names of relations as the frame has them: those asked for, or those of the three levels that are there.

    Raises AuditError where these are fewer than two, or a level is there in several versions.
    """
    there = list(dict.fromkeys(values["relation"]))
    if relations:
        return [name for name in there if name in relations]
    found: dict[str, str] = {}
    for name in there:
        level = name.split("@")[0]
        if level in LEVELS and level in found:
            raise AuditError(f"{level} was run in several versions ({found[level]}, {name}); choose with --relations")
        if level in LEVELS:
            found[level] = name
    if len(found) < 2:
        raise AuditError(
            f"{len(found)} of the relations {', '.join(LEVELS)} has verdicts; run two of them, or choose other "
            "relations with --relations"
        )
    return [found[level] for level in LEVELS if level in found]


def outcomes(values: pd.DataFrame, relations: Sequence[str]) -> pd.DataFrame:
    """Which of some relations each translation satisfies: index (study, source, system, system_id), a column of 1.0
    (satisfied) and 0.0 (violated) for each relation; only where every one of them was checked."""
    some = values[values["relation"].isin(relations)].assign(satisfied=lambda frame: 1.0 - frame["outcome"])
    index = ["study", "source", "system", "system_id"]
    return some.pivot(index=index, columns="relation", values="satisfied")[list(relations)].dropna()
