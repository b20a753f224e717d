"""How a study stands to its plan: frozen before data came in or not, changed since, and done otherwise."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, select

from audit.corpora import short_name
from audit.store import table_of, tables
from audit.store.copying import in_utc
from audit.studies.deviations import Deviation, deviations, judgements_of
from audit.studies.versions import Change, Version, all_versions, frozen_version, steps


@dataclass(frozen=True)
class Standing:
    """A study, the plan that it belongs to, and what became of that."""

    study: int
    plan: Version
    """The version that the study is held to: the first frozen one, or else the last."""
    version: int
    """The last version's number."""
    judgements: int
    """Judgements about texts of the study so far, gold's included."""
    before: int | None
    """Of these, given before the plan was frozen; None where it is not frozen."""
    began: datetime
    """When the study's run began."""
    changed: tuple[tuple[Version, Change], ...]
    """Changes after it was frozen, each with the version that made it."""
    deviates: tuple[Deviation, ...]
    """What in the database is otherwise than the plan says."""

    @property
    def frozen_at(self) -> datetime | None:
        """When the plan was frozen."""
        return self.plan.at if self.plan.frozen else None


def standings(
    connection: Connection, studies: Sequence[Mapping[str, Any]], samples: Sequence[Mapping[str, Any]]
) -> list[Standing]:
    """Of each study how it stands to each plan that it belongs to.

    `studies` are rows with id, task, corpus, fingerprint, seed and limit, `samples` rows with id, study_id, design,
    seed, domain and annotators: the ones that a report is made from. A study belongs to a plan where a version of it
    has its task, corpus, content, seed and limit; without such a plan it is not in the list.
    """
    found = []
    plans = all_versions(connection)
    sampled = {sample["study_id"]: sample for sample in samples}
    for study in studies:
        for history in plans.values():
            if any(belongs(study, one.content) for one in history):
                found.append(_standing(connection, study, sampled.get(study["id"]), history))
    return found


def belongs(study: Mapping[str, Any], content: Mapping[str, Any]) -> bool:
    """Whether a row of `study` is what this content of a plan plans: task, corpus and its content, seed, limit."""
    planned = content["study"]
    return bool(
        study["task"] == planned["task"]
        and study["corpus"] == short_name(planned["corpus"])
        and study["fingerprint"] == planned["fingerprint"]
        and study["seed"] == planned["seed"]
        and study["limit"] == planned["limit"]
    )


def _standing(
    connection: Connection, study: Mapping[str, Any], sample: Mapping[str, Any] | None, history: Sequence[Version]
) -> Standing:
    frozen = frozen_version(history)
    held = frozen or history[-1]
    table = table_of(tables.Study)
    began = connection.execute(select(table.c.created_at).where(table.c.id == study["id"])).scalar_one()
    after = [one for one in history if one.version >= held.version]
    return Standing(
        study["id"],
        held,
        history[-1].version,
        judgements_of(connection, study["id"]),
        judgements_of(connection, study["id"], held.at) if frozen else None,
        in_utc(began),
        tuple((version, change) for version, found in steps(after) for change in found) if frozen else (),
        tuple(deviations(connection, study, sample, held.content)),
    )
