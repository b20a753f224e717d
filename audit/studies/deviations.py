"""Deviations of a study from its plan, key by key, as the database alone shows them.

Only what differs in effect counts: a sample that is not drawn yet deviates from nothing. What a plan does not know
(a key that came with a later version of `audit`) is not compared.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

import pandas as pd
from sqlalchemy import Connection, Engine, and_, func, select

from audit.annotation.accounts import GOLD, note
from audit.annotation.answers import SCALES
from audit.annotation.settings import settings_of
from audit.errors import AuditError, UnknownName
from audit.messages import message
from audit.sampling.audits import audits_of
from audit.sampling.designs import INFORMATIVE
from audit.sampling.draw import Size
from audit.store import table_of, tables
from audit.store.copying import in_utc


@dataclass(frozen=True)
class Deviation:
    """A key of a plan, what it says, and what was found. Lists name what is there."""

    key: str
    planned: Any
    found: Any


def deviations(
    connection: Connection,
    study: Mapping[str, Any],
    sample: Mapping[str, Any] | None,
    content: Mapping[str, Mapping[str, Any]],
) -> Iterator[Deviation]:
    """Deviations of a study (a row with id, task, corpus, unit) and its sample from the content of a plan."""
    yield from _differing_runs(connection, study["id"], content["study"])
    if sample is not None:
        yield from _sample(connection, sample, content["sample"])
        yield from _differs("judging.annotators", content["judging"], "annotators", sample["annotators"])
        table = table_of(tables.Sample)
        found = connection.execute(select(table.c.quorum).where(table.c.id == sample["id"])).scalar_one()
        yield from _differs("judging.quorum", content["judging"], "quorum", found)
    yield from _judging(connection, study, content["judging"])


def differences(table: str, planned: Mapping[str, Any], actual: Mapping[str, Any]) -> list[Deviation]:
    """Keys of one table that a plan names and that were found to be otherwise.

    >>> differences("report", {"delta": 0.02, "target": None}, {"delta": 0.0, "target": "corpus"})
    [Deviation(key='report.delta', planned=0.02, found=0.0)]
    """
    return [deviation for key in actual for deviation in _differs(f"{table}.{key}", planned, key, actual[key])]


def _differs(key: str, planned: Mapping[str, Any], name: str, actual: Any) -> Iterator[Deviation]:
    if planned.get(name) is not None and planned[name] != actual:
        yield Deviation(key, planned[name], actual)


def _differing_runs(connection: Connection, study_id: int, planned: Mapping[str, Any]) -> Iterator[Deviation]:
    """Other relations or systems than planned. While none was run, nothing deviates."""
    progress, relation, system = (table_of(model) for model in (tables.Progress, tables.Relation, tables.System))
    query = select(relation.c.id, relation.c.name).join(progress, progress.c.relation_id == relation.c.id)
    relations = connection.execute(
        query.where(progress.c.study_id == study_id).distinct().order_by(relation.c.id)
    ).all()
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


def _sample(connection: Connection, sample: Mapping[str, Any], planned: Mapping[str, Any]) -> Iterator[Deviation]:
    yield from _differs("sample.design", planned, "design", sample["design"])
    yield from _differs("sample.seed", planned, "seed", sample["seed"])
    yield from _differs("sample.domain", planned, "domain", sample["domain"])
    yield from _size(connection, sample, planned)
    audits = audits_of(connection, sample["id"])
    for name in ("follow_ups", "answers"):
        yield from _differs(f"sample.audit_{name}", planned, f"audit_{name}", getattr(audits, name))


def _size(connection: Connection, sample: Mapping[str, Any], planned: Mapping[str, Any]) -> Iterator[Deviation]:
    """A sample that is larger or smaller than planned in some cell."""
    table = table_of(tables.Draw)
    by_relation = sample["design"] == INFORMATIVE  # its lists are those of relations
    list_key = [table.c.relation_id] if by_relation else [table.c.relation_id, table.c.system_id]
    query = select(func.max(table.c.rank).label("drawn"), func.max(table.c.pi).label("pi"))
    rows = connection.execute(query.where(table.c.sample_id == sample["id"]).group_by(*list_key)).mappings().all()
    if not rows:
        return
    lists = pd.DataFrame([dict(row) for row in rows])
    size = Size(planned["per_relation"], planned["share"])
    available = (lists["drawn"] / lists["pi"]).round().astype(int)
    expected = available.map(size.of)
    if (lists["drawn"] == expected).all():
        return
    key = "share" if size.per_relation is None else "per_relation"
    differs = lists["drawn"] != expected
    larger = bool((lists["drawn"] > expected).any())
    worst = (lists["drawn"] if key == "per_relation" else lists["pi"])[differs]
    actual = worst.max() if larger else worst.min()
    yield Deviation(f"sample.{key}", planned[key], int(actual) if key == "per_relation" else _rounded(actual))


def _rounded(share: float) -> float:
    return math.floor(share * 10_000 + 0.5) / 10_000


def _judging(connection: Connection, study: Mapping[str, Any], planned: Mapping[str, Any]) -> Iterator[Deviation]:
    for name, value in asdict(settings_of(connection)).items():
        yield from _differs(f"judging.{name}", planned, name, value)
    if planned["gold"] is False and _gold_answered(connection, study["id"]):
        yield Deviation("judging.gold", False, True)


def _gold_answered(connection: Connection, study_id: int) -> bool:
    """Whether gold labels answered questions of the study."""
    judgement, annotator = table_of(tables.Judgement), table_of(tables.Annotator)
    query = (
        select(judgement.c.id)
        .join(annotator, annotator.c.id == judgement.c.annotator_id)
        .where(annotator.c.role == GOLD, judgement.c.question_id.in_(questions_of(study_id)))
    )
    return connection.execute(query.limit(1)).first() is not None


def questions_of(study_id: int) -> Any:
    """A query for the ids of the questions of a study's task about members of its groups, and about these groups; no
    ratings."""
    question, member, group = table_of(tables.Question), table_of(tables.Member), table_of(tables.Group)
    study = table_of(tables.Study)
    return (
        select(question.c.id)
        .join(member, member.c.input_id == question.c.input_id)
        .join(group, group.c.id == member.c.group_id)
        .join(study, and_(study.c.id == group.c.study_id, study.c.task == question.c.task))
        .where(group.c.study_id == study_id, question.c.kind.not_in(SCALES))
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


# The primary comparison of a study: two systems, named before the first answer, that a report tests by itself.
#
# Each naming is a line of the log, with its time, by the ids of study, systems and relation: nothing is changed in
# place.
# The last one before the first answer counts; what is named afterwards is told in the report, and changes no test.

ACTION = "primary"
"""Of the log. Its detail has the ids `study`, `system`, `other`, and `relation`, null for all relations together."""


@dataclass(frozen=True)
class Primary:
    """A comparison by names: whether `system` is better than `other`, under one relation or (None) over all."""

    system: str
    other: str
    relation: str | None = None

    def __post_init__(self) -> None:
        if self.system == self.other:
            raise AuditError(message("primary.same_system", system=self.system))

    def __str__(self) -> str:
        """
        >>> str(Primary("a", "b")), str(Primary("a", "b", "MR1.1"))
        ('a over b', 'a over b under MR1.1')
        """
        return f"{self.system} over {self.other}" + (f" under {self.relation}" if self.relation else "")


@dataclass(frozen=True)
class Naming:
    """A line of the log: ids of what is compared, when it was named, and how many answers there were by then."""

    system: int
    other: int
    relation: int | None
    at: datetime
    answers: int

    @property
    def ids(self) -> tuple[int, int, int | None]:
        """The ids of what is compared."""
        return self.system, self.other, self.relation


def resolve(engine: Engine, primary: Primary, study: int) -> tuple[int, int, int | None]:
    """The ids of systems and relation in this study. Changes nothing.

    Raises UnknownName where it has no system or relation of that name, AuditError where it has several versions of it.
    """
    with engine.connect() as connection:
        systems, relations = (_ids_by_name(connection, study, model) for model in (tables.System, tables.Relation))

    def only(kind: str, name: str, by_name: Mapping[str, Sequence[int]]) -> int:
        if name not in by_name:
            raise UnknownName(kind, name, sorted(by_name))
        if len(by_name[name]) > 1:
            raise AuditError(message("primary.several_versions", study=study, kind=kind, name=name))
        return by_name[name][0]

    system, other = (only("system", name, systems) for name in (primary.system, primary.other))
    return system, other, only("relation", primary.relation, relations) if primary.relation else None


def name_primary(engine: Engine, study: int, ids: tuple[int, int, int | None], by: int | None = None) -> Naming:
    """Note the comparison of these ids (`resolve`) as the study's primary one; the same again notes nothing.

    `by` is the account of a manager, None: whoever has the database itself. Returns the last naming.
    """
    with engine.begin() as connection:
        before = namings(connection, [study]).get(study, [])
        if not before or before[-1].ids != ids:
            system, other, relation = ids
            note(connection, by, ACTION, study=study, system=system, other=other, relation=relation)
        return namings(connection, [study])[study][-1]


def namings(connection: Connection, studies: Sequence[int]) -> dict[int, list[Naming]]:
    """Every naming of these studies, the first one first; studies without one are not there."""
    log = table_of(tables.Log)
    result: dict[int, list[Naming]] = {}
    for detail, at in connection.execute(
        select(log.c.detail, log.c.at).where(log.c.action == ACTION).order_by(log.c.id)
    ):
        if detail.get("study") in studies:
            study, moment = int(detail["study"]), in_utc(at)
            answers = judgements_of(connection, study, moment)
            naming = Naming(int(detail["system"]), int(detail["other"]), detail.get("relation"), moment, answers)
            result.setdefault(study, []).append(naming)
    return result


def valid_naming(history: Sequence[Naming]) -> Naming | None:
    """The naming that a report tests by itself: the last one before the first answer; None where there is none.

    >>> at = datetime(2026, 3, 2)
    >>> before, after = Naming(1, 2, None, at, 0), Naming(1, 3, None, at, 7)
    >>> valid_naming([before, after]) is before, valid_naming([after])
    (True, None)
    """
    return next((naming for naming in reversed(history) if not naming.answers), None)


def primary_named(systems: Sequence[str] | None, relation: str | None) -> Primary | None:
    """The comparison of two named systems; None where none is named. Raises AuditError for another number of them.

    >>> str(primary_named(["a", "b"], None)), primary_named(None, None)
    ('a over b', None)
    """
    if systems is None:
        if relation is not None:
            raise AuditError(message("primary.only_relation", relation=relation))
        return None
    if len(systems) != 2:
        raise AuditError(message("primary.two_systems", count=len(systems), systems=systems))
    return Primary(systems[0], systems[1], relation)


def _ids_by_name(connection: Connection, study: int, model: Any) -> dict[str, list[int]]:
    """Ids by name of the systems, or relations, that a study has verdicts of."""
    table, group, verdict = table_of(model), table_of(tables.Group), table_of(tables.Verdict)
    progress = table_of(tables.Progress)
    column = "system_id" if model is tables.System else "relation_id"
    ids = set(connection.execute(select(progress.c[column]).where(progress.c.study_id == study).distinct()).scalars())
    if not ids:  # an imported run has no chunks
        id_column = verdict.c.system_id if model is tables.System else group.c.relation_id
        query = (
            select(id_column)
            .join_from(group, verdict, verdict.c.group_id == group.c.id)
            .where(group.c.study_id == study)
        )
        ids = set(connection.execute(query.distinct()).scalars())
    names: dict[str, list[int]] = {}
    for id, name in connection.execute(select(table.c.id, table.c.name).order_by(table.c.id)):
        if id in ids:
            names.setdefault(name, []).append(id)
    return names
