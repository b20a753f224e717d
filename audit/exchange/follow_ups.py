"""How far follow-ups are from their sources, by relation: what a user chooses limits by (`audit follow-ups`)."""

import json
import random
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from sqlalchemy import Connection, Engine, case, func, select, true

import audit
from audit.corpora import Row
from audit.errors import AuditError, NotInstalled, UnknownName
from audit.false_satisfaction.cells import relation_labels
from audit.messages import message
from audit.options import spread
from audit.relations import Fixed, Member, Outcome, Relation, Source, name_order
from audit.relations.validity import MEASURES, VALID, Measure, broken, fitted_for, limits_by_relation, measure_named
from audit.reports.frames import Table, Tables
from audit.reports.options import FollowUpOptions
from audit.store import rows_among
from audit.store.bulk import LIMIT
from audit.store.core import group, input_table, member, relation, source, study, verdict
from audit.store.outcomes import integers
from audit.tasks import Input, Output, get_task
from audit.text import Analysis

_Pair = tuple[Input, list[Input]]
_QUANTILES = {"least": 0.0, "low": 0.05, "median": 0.5, "high": 0.95, "most": 1.0}


def made_of(maker: Relation, rows: Iterable[Row], number: int, seed: int = 0) -> tuple[list[dict[str, Any]], int]:
    """Return what a relation makes of rows, taken at random until so many make a group: the row, the source's texts and
    those of its follow-ups; and how many sources were tried."""
    rows, groups, tried = list(rows), list[dict[str, Any]](), 0
    random.Random(f"{seed} {maker.name}").shuffle(rows)
    while tried < len(rows) and len(groups) < number:
        row, tried = rows[tried], tried + 1
        analysis = Analysis(row.input.text, row.input.languages[0])
        if follow_ups := _follow_ups(maker, Source(row.input, analysis, f"{seed} {row.key}", row.gold)):
            texts = [list(item.texts) for item in follow_ups]
            groups.append({"row": row.key, "source": list(row.input.texts), "follow_ups": texts})
    return groups, tried


def _follow_ups(maker: Relation, source: Source) -> list[Input]:
    """Return the follow-ups of a source. Where they depend on what a system says, its gold label stands for that, and
    of its sentences labels at random."""
    if isinstance(maker, Fixed):
        return maker.follow_ups(source)
    if (task := get_task(maker.task)).question_kind == "pair":
        raise AuditError(f"what {maker.name!r} makes depends on a system's texts; see it with audit run and the app")
    follow_ups: list[Input] = []
    steps = maker.steps(source)

    def said(member: Member) -> Output:
        drawn = random.Random(member.input.text)
        return (
            Output(source.gold, 1.0) if member.role == "source" else Output(drawn.choice(task.labels), drawn.random())
        )

    try:
        members = next(steps)
        while source.gold is not None:
            follow_ups += [member.input for member in members if member.role == "follow_up"]
            members = steps.send(list(map(said, members)))
    except StopIteration as end:
        return follow_ups if end.value is not None else []
    return []


def stored_rows(engine: Engine, study_id: int | None = None) -> tuple[str, list[Row]]:
    """Return the task of a study, the last one where none is named, and its sources, or those of all studies of that
    task, as rows."""
    with engine.connect() as connection:
        only = true() if study_id is None else study.c.id == study_id
        studies = connection.execute(select(study).where(only).order_by(study.c.id.desc())).all()
        if not studies:
            raise AuditError(message("cells.no_study", study=study_id) if study_id else message("cells.no_studies"))
        task, query = studies[0].task, _OF_SOURCES.add_columns(source.c.row, source.c.gold)
        alike = [row.id for row in studies if row.task == task]
        rows = connection.execute(query.where(source.c.study_id.in_(alike))).all()
    return task, [Row(row.row, Input.stored(row.texts, row.languages), row.gold) for row in rows]


def made_lines(name: str, groups: Sequence[Mapping[str, Any]], tried: int) -> list[str]:
    """Return the same for people: sources, each with its follow-ups, and the share that makes a group."""
    lines = []
    for of_relation in groups:
        lines += [
            " ‖ ".join(of_relation["source"]),
            *(f"  > {' ‖ '.join(texts)}" for texts in of_relation["follow_ups"]),
        ]
    return [*lines, f"{name} makes follow-ups of {len(groups)} of {tried} sources."]


class _Made(NamedTuple):
    """The groups of a relation in a study, in the order of their sources' random numbers, and its limits; `about` has
    study, corpus, task, and relation, as reports call it: those that share a name are told apart."""

    about: dict[str, Any]
    name: str
    limits: list[str]
    groups: list[int]
    rejected: int


def _all_made(connection: Connection, only: int | None, names: Sequence[str]) -> list[_Made]:
    """Return what each relation made, of one study or of all, and of these relations where some are named."""
    rejected = func.max(case((verdict.c.outcome == int(Outcome.REJECTED), 1), else_=0))
    key = (group.c.study_id, group.c.relation_id, group.c.id)
    query = select(*key, rejected).join(verdict, verdict.c.group_id == group.c.id).group_by(*key).order_by(group.c.id)
    query = query.where(true() if only is None else group.c.study_id == only)
    frame = pd.DataFrame(integers(connection, query), columns=["study", "relation", "group", "rejected"])
    if frame.empty:
        raise AuditError(message("cells.nothing_checked"))
    corpora = {row.id: row.corpus for row in connection.execute(select(study))}
    stored = {row["id"]: row for row in connection.execute(select(relation)).mappings()}
    labels = relation_labels({id: stored[id] for id in frame["relation"].unique().tolist()})
    if absent := next((name for name in names if name not in labels.values()), None):
        raise UnknownName("relation", absent, sorted(set(labels.values()), key=name_order))
    groups_made = []
    for (study_id, id), groups in frame.groupby(["study", "relation"]):
        row, label = stored[id], labels[id]
        about = {"study": int(study_id), "corpus": corpora[study_id], "task": row["task"], "relation": label}
        if not names or label in names:
            limits = json.loads(row["params"]).get(VALID) or []
            groups_made.append(
                _Made(about, row["name"], limits, groups["group"].tolist(), int(groups["rejected"].sum()))
            )
    return sorted(groups_made, key=lambda of: (of.about["study"], of.about["task"], name_order(of.about["relation"])))


def chosen_measures(names: Sequence[str] = ()) -> list[Measure]:
    """Return the measures of these names; without names all that are quick and can be computed here.

    Raises UnknownName, which lists the measures, and NotInstalled with the line that installs what one needs.
    """
    if not names:
        return [of for of in map(measure_named, MEASURES) if not of.slow and of.lacks() is None]
    chosen: list[Measure] = [measure_named(name) for name in dict.fromkeys(names)]
    for of in chosen:
        if line := of.lacks():
            raise NotInstalled(f"{of.name} cannot be measured here; run: {line}", parameter="measures")
    return chosen


@spread
def follow_ups_report(engine: Engine, study: int | None = None, options: FollowUpOptions = FollowUpOptions()) -> Tables:
    """Return what each measure says of the first groups of each relation, as a table: a row each.

    Rejected groups are measured, too: limits are chosen by all that a relation makes.
    Columns as in `Study.follow_ups`. Raises AuditError where nothing has been checked, and what `chosen_measures` and
    `limit_of` raise.
    """
    by_relation = limits_by_relation(options.valid)
    names = [limit.measure for limits in by_relation.values() for limit in limits]
    measuring, limiting = chosen_measures(options.measures), chosen_measures(names) if names else []
    learning = [of.name for of in (*measuring, *limiting)]
    rows, fitted = list[dict[str, Any]](), dict[int, dict[str, Any]]()
    with engine.connect() as connection:
        for of_relation in _all_made(connection, study, options.relations):
            if (id := of_relation.about["study"]) not in fitted:
                fitted[id] = fitted_for(learning, partial(_sources, connection, id))
            # A relation's own limits take the place of those of all.
            tried = [*by_relation.get("", ()), *by_relation.get(of_relation.name, ())]
            tried = list({(limit.measure, limit.sign[0]): limit for limit in tried}.values())
            pairs = _pairs(connection, of_relation.groups[: options.most])
            about = of_relation.about | {"limits": " and ".join(of_relation.limits), "groups": len(of_relation.groups)}
            about |= {
                "rejected": of_relation.rejected,
                "rejected_share": of_relation.rejected / len(of_relation.groups),
            }
            about |= {"measured": len(pairs), "tried": " and ".join(sorted(map(str, tried)))}
            about["would_reject"] = sum(broken(tried, *pair, fitted[id]) is not None for pair in pairs)
            rows += [about | _measured(of, pairs, fitted[id].get(of.name)) for of in measuring]
    frame = pd.DataFrame(rows)
    shown = ["corpus", "relation", "measure", "groups", "rejected", "would_reject", "low", "median", "high"]
    shown = [name for name in shown if name != "would_reject" or options.valid]
    title = "Quantiles of each measure over groups, each with its worst follow-up: 5 %, 50 %, 95 %."
    notes = [
        f"{row.relation}: {row.rejected:,} of {row.groups:,} groups rejected by {row.limits}."
        for row in frame.drop_duplicates(["study", "relation"]).itertuples()
        if row.rejected
    ]
    if (frame["measured"] < frame["groups"]).any():
        notes.append(f"Measured are the first {options.most:,} groups of a relation that has more.")
    signature = {"measures": {of.name: of.version for of in measuring}, "most": options.most}
    signature |= {"audit": audit.__version__} | ({"valid": list(options.valid)} if options.valid else {})
    return Tables({"measured": Table(title, frame, shown=shown)}, notes, signature)


def _measured(of: Measure, pairs: Sequence[_Pair], fitted: Any) -> dict[str, Any]:
    worst = np.max if of.better == "low" else np.min  # NaN where one is
    measured = pd.Series([worst([of.of(first, other, fitted) for other in rest]) for first, rest in pairs], dtype=float)
    quantiles = dict(zip(_QUANTILES, measured.quantile([*_QUANTILES.values()]), strict=True))
    return {"measure": of.name, "better": of.better, **quantiles, "unknown": int(measured.isna().sum())}


_TEXTS = (input_table.c.texts, input_table.c.languages)
_OF_SOURCES = select(source.c.id, *_TEXTS).join(input_table, input_table.c.id == source.c.input_id)


def _sources(connection: Connection, study_id: int) -> list[Input]:
    """The inputs of a study's sources, in the order of their random numbers, as a run has them."""
    rows = connection.execute(_OF_SOURCES.where(source.c.study_id == study_id).order_by(source.c.id))
    return [Input.stored(row.texts, row.languages) for row in rows]


def _pairs(connection: Connection, groups: Sequence[int]) -> list[_Pair]:
    """The source's input and the follow-ups of each of these groups that has any."""
    rows = rows_among(connection, _OF_SOURCES, source.c.id, sorted({id // LIMIT**2 for id in groups}))
    sources = {row.id: Input.stored(row.texts, row.languages) for row in rows}
    of_members = (
        select(member.c.group_id, *_TEXTS)
        .join(input_table, input_table.c.id == member.c.input_id)
        .where(member.c.role == "follow_up")
        .order_by(member.c.group_id, member.c.step)
    )
    follow_ups: dict[int, list[Input]] = {id: [] for id in groups}
    for row in rows_among(connection, of_members, member.c.group_id, groups):
        follow_ups[row.group_id].append(Input.stored(row.texts, row.languages))
    return [(sources[id // LIMIT**2], inputs) for id, inputs in follow_ups.items() if inputs]
