"""Deviations of a study from its plan, key by key, as the database alone shows them.

Only what differs in effect counts: a sample that is not drawn yet deviates from nothing. What a plan does not know
is not compared.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import Connection, and_, select, true

from audit.errors import AuditError
from audit.judging.accounts import GOLD
from audit.judging.settings import settings_of
from audit.messages import message
from audit.store.core import annotator, count_rows, group, judgement, member, progress, question, relation, system
from audit.store.core import study as study_table
from audit.tasks.questions import SCALES


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
    """Yield deviations of a study (a row with id, task, corpus, unit) and its sample from the content of a plan."""
    planned, of_study = content["study"], progress.c.study_id == study["id"]
    names = select(relation.c.name).join(progress, progress.c.relation_id == relation.c.id).where(of_study)
    relations = list(dict.fromkeys(connection.execute(names.order_by(relation.c.id)).scalars()))
    names = select(system.c.name).join(progress, progress.c.system_id == system.c.id).where(of_study)
    systems = sorted(connection.execute(names.distinct()).scalars())
    # While none was run, nothing deviates.
    if relations and set(relations) != set(planned["relations"]):
        yield Deviation("study.relations", planned["relations"], relations)
    # A system of somebody's own may have another name than its `module:name`.
    absent = [name for name in planned["systems"] if name not in systems]
    unnamed = [name for name in absent if ":" in name]
    if systems and (absent != unnamed or len(set(systems) - set(planned["systems"])) != len(unnamed)):
        yield Deviation("study.systems", planned["systems"], systems)
    judging = asdict(settings_of(connection))
    if sample is not None:
        yield from differences("sample", content["sample"], {"follow_ups": sample["follow_ups"], **sample["options"]})
        judging = {name: sample[name] for name in ("annotators", "quorum")} | judging
    yield from differences("judging", content["judging"], judging)
    by_gold = judgement.c.annotator_id.in_(select(annotator.c.id).where(annotator.c.role == GOLD))
    about_it = judgement.c.question_id.in_(questions_of(study["id"]))
    if content["judging"]["gold"] is False and count_rows(connection, judgement, by_gold, about_it):
        yield Deviation("judging.gold", False, True)


def differences(table: str, planned: Mapping[str, Any], actual: Mapping[str, Any]) -> list[Deviation]:
    """Return the keys of one table that a plan names and that were found to be otherwise.

    >>> differences("report", {"delta": 0.02, "target": None}, {"delta": 0.0, "target": "corpus"})
    [Deviation(key='report.delta', planned=0.02, found=0.0)]
    """
    return [
        Deviation(f"{table}.{key}", planned[key], actual_value)
        for key, actual_value in actual.items()
        if planned.get(key) is not None and planned[key] != actual_value
    ]


def questions_of(study_id: int) -> Any:
    """Return a query for the ids of the questions of a study's task about members of its groups, and about these
    groups; no ratings."""
    return (
        select(question.c.id)
        .join(member, member.c.input_id == question.c.input_id)
        .join(group, group.c.id == member.c.group_id)
        .join(study_table, and_(study_table.c.id == group.c.study_id, study_table.c.task == question.c.task))
        .where(group.c.study_id == study_id, question.c.kind.not_in(SCALES))
        .distinct()
    )


def judgements_of(connection: Connection, study_id: int, until: datetime | None = None) -> int:
    """Return how many judgements count as data about the study's texts: of the first pass, withdrawn ones included."""
    in_time = true() if until is None else judgement.c.decided_at <= until
    about_it = judgement.c.question_id.in_(questions_of(study_id))
    return count_rows(connection, judgement, about_it, judgement.c.round == 1, in_time)


class Primary(NamedTuple):
    """A comparison by names: whether `system` is better than `other`, under one relation or (None) over all."""

    system: str
    other: str
    relation: str | None = None


def primary_named(systems: Sequence[str] | None, relation: str | None) -> Primary | None:
    """Return the comparison of two named systems, which a report tests by itself; None where none is named. Raises
    AuditError for another number of them.

    >>> primary_named(["a", "b"], None)
    Primary(system='a', other='b', relation=None)
    """
    if systems is None:
        if relation is not None:
            raise AuditError(message("primary.only_relation", relation=relation))
        return None
    if len(set(systems)) != 2 or len(systems) != 2:
        raise AuditError(message("primary.two_systems", systems=systems))
    return Primary(systems[0], systems[1], relation)
