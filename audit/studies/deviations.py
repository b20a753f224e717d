"""What in a database is otherwise than a plan says, key by key, from the database alone.

Only what differs in effect counts: a sample that is not drawn yet deviates from nothing. What a plan does not know
(a key that came with a later version of `audit`) is not compared.
"""

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, cast

import pandas as pd
from sqlalchemy import Connection, and_, func, select

from audit.annotation.accounts import GOLD
from audit.annotation.settings import settings_of
from audit.corpora.base import Corpus
from audit.errors import AuditError
from audit.runner.run import fitting
from audit.sampling.audits import audits_of
from audit.sampling.designs import INFORMATIVE
from audit.sampling.draw import Size
from audit.store import table_of, tables


@dataclass(frozen=True)
class Deviation:
    """A key of a plan, what it says, and what was found. Lists name what is there."""

    key: str
    planned: Any
    found: Any


@dataclass(frozen=True)
class _Described:
    """What `fitting` asks of a corpus, from a plan: the corpus itself may be on another machine."""

    name: str
    task: str
    unit: str
    language: str


def deviations(
    connection: Connection,
    study: Mapping[str, Any],
    sample: Mapping[str, Any] | None,
    content: Mapping[str, Mapping[str, Any]],
) -> Iterator[Deviation]:
    """Deviations of a study (a row with id, task, corpus, unit) and its sample from the content of a plan."""
    yield from _run(connection, study["id"], content["study"])
    if sample is not None:
        yield from _sample(connection, sample, content["sample"])
        yield from _differs("judging.annotators", content["judging"], "annotators", sample["annotators"])
        table = table_of(tables.Sample)
        protocol = connection.execute(select(table.c.protocol).where(table.c.id == sample["id"])).scalar_one()
        yield from _differs("judging.protocol", content["judging"], "protocol", protocol)
    yield from _judging(connection, study, content["judging"])


def differences(table: str, planned: Mapping[str, Any], found: Mapping[str, Any]) -> list[Deviation]:
    """Keys of one table that a plan names and that were found to be otherwise.

    >>> differences("report", {"delta": 0.02, "target": None}, {"delta": 0.0, "target": "corpus"})
    [Deviation(key='report.delta', planned=0.02, found=0.0)]
    """
    return [one for key in found for one in _differs(f"{table}.{key}", planned, key, found[key])]


def _differs(key: str, planned: Mapping[str, Any], name: str, found: Any) -> Iterator[Deviation]:
    if planned.get(name) is not None and planned[name] != found:
        yield Deviation(key, planned[name], found)


def _run(connection: Connection, study_id: int, planned: Mapping[str, Any]) -> Iterator[Deviation]:
    """Other relations, parameters or systems than planned. While none was run, nothing deviates."""
    progress, relation, system = (table_of(one) for one in (tables.Progress, tables.Relation, tables.System))
    of = select(relation.c.id, relation.c.name, relation.c.params).join(
        progress, progress.c.relation_id == relation.c.id
    )
    relations = connection.execute(of.where(progress.c.study_id == study_id).distinct().order_by(relation.c.id)).all()
    names = select(system.c.name).join(progress, progress.c.system_id == system.c.id)
    systems = sorted(connection.execute(names.where(progress.c.study_id == study_id).distinct()).scalars())
    run = list(dict.fromkeys(str(row[1]) for row in relations))
    if relations and set(run) != set(planned["relations"]):
        yield Deviation("study.relations", planned["relations"], run)
    # A system of somebody's own may have another name than its `module:name`.
    unnamed = [name for name in planned["systems"] if ":" in name and name not in systems]
    missing = [name for name in planned["systems"] if name not in systems and name not in unnamed]
    if systems and (missing or len(set(systems) - set(planned["systems"])) != len(unnamed)):
        yield Deviation("study.systems", planned["systems"], systems)
    expected = _parameters(planned)
    for _, name, spelled in relations:
        if name in expected and json.loads(spelled) != expected[name]:
            yield Deviation(f"study.set.{name}", expected[name], json.loads(spelled))


def _parameters(planned: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Parameters by relation as they are run; empty where this version of `audit` lacks one of the relations."""
    described = cast(Corpus, _Described(*(planned[key] for key in ("corpus", "task", "unit", "language"))))
    try:
        fit = fitting(described, planned["relations"], planned["document_share"], planned["set"])
    except AuditError:
        return {}
    return {one.name: dict(one.params) for one in fit}


def _sample(connection: Connection, sample: Mapping[str, Any], planned: Mapping[str, Any]) -> Iterator[Deviation]:
    yield from _differs("sample.design", planned, "design", sample["design"])
    yield from _differs("sample.seed", planned, "seed", sample["seed"])
    yield from _differs("sample.domain", planned, "domain", sample["domain"])
    yield from _size(connection, sample, planned)
    found = audits_of(connection, sample["id"])
    for name in ("groups", "follow_ups", "answers"):
        yield from _differs(f"sample.audit_{name}", planned, f"audit_{name}", getattr(found, name))


def _size(connection: Connection, sample: Mapping[str, Any], planned: Mapping[str, Any]) -> Iterator[Deviation]:
    """A sample that is larger or smaller than planned in some cell."""
    table = table_of(tables.Draw)
    by_relation = sample["design"] == INFORMATIVE  # its lists are those of relations
    of = [table.c.relation_id] if by_relation else [table.c.relation_id, table.c.system_id]
    query = select(func.max(table.c.rank).label("drawn"), func.max(table.c.pi).label("pi"))
    rows = connection.execute(query.where(table.c.sample_id == sample["id"]).group_by(*of)).mappings().all()
    if not rows:
        return
    lists = pd.DataFrame([dict(row) for row in rows])
    size = Size(planned["per_relation"], planned["share"])
    whole = (lists["drawn"] / lists["pi"]).round().astype(int)
    expected = whole.map(size.of)
    if (lists["drawn"] == expected).all():
        return
    key = "share" if size.per_relation is None else "per_relation"
    other = lists["drawn"] != expected
    larger = bool((lists["drawn"] > expected).any())
    worst = (lists["drawn"] if key == "per_relation" else lists["pi"])[other]
    found = worst.max() if larger else worst.min()
    yield Deviation(f"sample.{key}", planned[key], int(found) if key == "per_relation" else _rounded(found))


def _rounded(share: float) -> float:
    return math.floor(share * 10_000 + 0.5) / 10_000


def _judging(connection: Connection, study: Mapping[str, Any], planned: Mapping[str, Any]) -> Iterator[Deviation]:
    for name, value in asdict(settings_of(connection)).items():
        yield from _differs(f"judging.{name}", planned, name, value)
    judged = _judged(connection, study["id"])
    used = sorted(
        {guideline for guideline, _, _ in judged if guideline > 0}
    )  # gold and labels from elsewhere have none
    if used and used != [planned["guideline"]]:
        yield Deviation("judging.guideline", planned["guideline"], used[0] if len(used) == 1 else used)
    if planned["gold"] is False and any(role == GOLD for _, _, role in judged):
        yield Deviation("judging.gold", False, True)
    wanted = set(planned["languages"])
    read = {languages for _, languages, role in judged if role != GOLD and languages}
    if short := sorted(one for one in read if not wanted <= set(one.split(","))):
        yield Deviation("judging.languages", planned["languages"], [one.replace(",", "+") for one in short])


def _judged(connection: Connection, study_id: int) -> list[tuple[int, str, str]]:
    """The guideline, languages and role behind judgements of the study's questions, each combination once.

    Questions about groups have a guideline of their own, with other versions: they are not looked at.
    """
    judgement, annotator, question = (table_of(one) for one in (tables.Judgement, tables.Annotator, tables.Question))
    query = (
        select(judgement.c.guideline, annotator.c.languages, annotator.c.role)
        .join(annotator, annotator.c.id == judgement.c.annotator_id)
        .join(question, question.c.id == judgement.c.question_id)
        .where(question.c.kind != "group", judgement.c.question_id.in_(questions_of(study_id)))
        .distinct()
    )
    return [(int(row[0]), str(row[1]), str(row[2])) for row in connection.execute(query)]


def questions_of(study_id: int) -> Any:
    """A query for the ids of the questions of a study's task about members of its groups, and about these groups."""
    question, member, group = table_of(tables.Question), table_of(tables.Member), table_of(tables.Group)
    study = table_of(tables.Study)
    return (
        select(question.c.id)
        .join(member, member.c.input_id == question.c.input_id)
        .join(group, group.c.id == member.c.group_id)
        .join(study, and_(study.c.id == group.c.study_id, study.c.task == question.c.task))
        .where(group.c.study_id == study_id)
        .distinct()
    )


def judgements_of(connection: Connection, study_id: int, until: datetime | None = None) -> int:
    """Judgements that count as data about the study's texts: of the first pass, withdrawn ones included."""
    judgement = table_of(tables.Judgement)
    query = (
        select(func.count())
        .select_from(judgement)
        .where(judgement.c.question_id.in_(questions_of(study_id)), judgement.c.round == 1)
    )
    if until is not None:
        query = query.where(judgement.c.decided_at <= until)
    return int(connection.execute(query).scalar() or 0)
