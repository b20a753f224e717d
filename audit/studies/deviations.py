"""Deviations of a study from its plan, key by key, as the database alone shows them.

Only what differs in effect counts: a sample that is not drawn yet deviates from nothing. What a plan does not know
(a key that came with a later version of `audit`) is not compared.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, and_, func, select

from audit.annotation.accounts import GOLD
from audit.annotation.answers import SCALES
from audit.annotation.settings import settings_of
from audit.errors import AuditError
from audit.messages import message
from audit.store import table_of, tables


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
        yield from _differs("sample.follow_ups", content["sample"], "follow_ups", sample["follow_ups"])
        for name, value in sample["options"].items():
            yield from _differs(f"sample.{name}", content["sample"], name, value)
        for name in ("annotators", "quorum"):
            yield from _differs(f"judging.{name}", content["judging"], name, sample[name])
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


# The primary comparison of a study: two systems that its plan names, which a report tests by itself.


@dataclass(frozen=True)
class Primary:
    """A comparison by names: whether `system` is better than `other`, under one relation or (None) over all."""

    system: str
    other: str
    relation: str | None = None

    def __post_init__(self) -> None:
        if self.system == self.other:
            raise AuditError(message("primary.same_system", system=self.system))


def primary_named(systems: Sequence[str] | None, relation: str | None) -> Primary | None:
    """The comparison of two named systems; None where none is named. Raises AuditError for another number of them.

    >>> primary_named(["a", "b"], None), primary_named(None, None)
    (Primary(system='a', other='b', relation=None), None)
    """
    if systems is None:
        if relation is not None:
            raise AuditError(message("primary.only_relation", relation=relation))
        return None
    if len(systems) != 2:
        raise AuditError(message("primary.two_systems", count=len(systems), systems=systems))
    return Primary(systems[0], systems[1], relation)
