"""The primary comparison of a study: two systems, named before the first answer, that a report tests by itself.

Each naming is a line of the log, with its time, by the ids of study, systems and relation: nothing is changed in place.
The last one before the first answer counts; what is named afterwards is told in the report, and changes no test.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Engine, select

from audit.annotation.logbook import note
from audit.errors import AuditError, UnknownName
from audit.store import need_study, table_of, tables
from audit.store.copying import in_utc
from audit.studies.deviations import judgements_of

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
            raise AuditError(f"a primary comparison needs two systems, and {self.system!r} is named twice")

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
        """What is compared."""
        return self.system, self.other, self.relation


def resolve(engine: Engine, primary: Primary, study: int | None = None) -> dict[int, tuple[int, int, int | None]]:
    """The ids of systems and relation in each study that has them: in this one, or in all. Changes nothing.

    Raises UnknownName where none has a system or the relation of that name, AuditError where one has several versions
    of it.
    """
    table = table_of(tables.Study)
    with engine.connect() as connection:
        if study is not None:
            need_study(connection, study)
        studies = (
            [study]
            if study is not None
            else list(connection.execute(select(table.c.id).order_by(table.c.id)).scalars())
        )
        known = {one: (_run(connection, one, tables.System), _run(connection, one, tables.Relation)) for one in studies}
    wanted = [("system", 0, primary.system), ("system", 0, primary.other)]
    wanted += [("relation", 1, primary.relation)] if primary.relation else []
    for kind, at, name in wanted:
        if not any(name in of[at] for of in known.values()):
            raise UnknownName(kind, name, sorted({one for of in known.values() for one in of[at]}))
    found = {}
    for one, of in known.items():
        ids = [of[at].get(name) for _, at, name in wanted]
        if all(ids):
            for (kind, _, name), some in zip(wanted, ids, strict=True):
                if some and len(some) > 1:
                    raise AuditError(
                        f"study {one} has several versions of the {kind} {name}, so it is in no primary comparison"
                    )
            system, other, *relation = (some[0] for some in ids if some)
            found[one] = (system, other, relation[0] if relation else None)
    if not found:
        raise AuditError(f"no study has all of {primary}; name what one study has, or its number with --study")
    return found


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
    found: dict[int, list[Naming]] = {}
    for detail, at in connection.execute(
        select(log.c.detail, log.c.at).where(log.c.action == ACTION).order_by(log.c.id)
    ):
        if detail.get("study") in studies:
            study, moment = int(detail["study"]), in_utc(at)
            answers = judgements_of(connection, study, moment)
            one = Naming(int(detail["system"]), int(detail["other"]), detail.get("relation"), moment, answers)
            found.setdefault(study, []).append(one)
    return found


def counting(history: Sequence[Naming]) -> Naming | None:
    """The naming that a report tests by itself: the last one before the first answer; None where there is none.

    >>> at = datetime(2026, 3, 2)
    >>> before, after = Naming(1, 2, None, at, 0), Naming(1, 3, None, at, 7)
    >>> counting([before, after]) is before, counting([after])
    (True, None)
    """
    return next((one for one in reversed(history) if not one.answers), None)


def primary_named(systems: Sequence[str] | None, relation: str | None) -> Primary | None:
    """The comparison of two named systems; None where none is named. Raises AuditError for another number of them.

    >>> str(primary_named(["a", "b"], None)), primary_named(None, None)
    ('a over b', None)
    """
    if systems is None:
        if relation is not None:
            raise AuditError(
                f"the relation {relation} of a primary comparison is named, but no two systems; name them, too"
            )
        return None
    if len(systems) != 2:
        raise AuditError(f"a primary comparison needs two systems, and {len(systems)} are named: {', '.join(systems)}")
    return Primary(systems[0], systems[1], relation)


def _run(connection: Connection, study: int, model: Any) -> dict[str, list[int]]:
    """Ids by name of the systems, or relations, that a study has verdicts of."""
    table, group, verdict = table_of(model), table_of(tables.Group), table_of(tables.Verdict)
    progress = table_of(tables.Progress)
    column = "system_id" if model is tables.System else "relation_id"
    ids = set(connection.execute(select(progress.c[column]).where(progress.c.study_id == study).distinct()).scalars())
    if not ids:  # an imported run has no chunks
        of = verdict.c.system_id if model is tables.System else group.c.relation_id
        query = select(of).join_from(group, verdict, verdict.c.group_id == group.c.id).where(group.c.study_id == study)
        ids = set(connection.execute(query.distinct()).scalars())
    names: dict[str, list[int]] = {}
    for id, name in connection.execute(select(table.c.id, table.c.name).order_by(table.c.id)):
        if id in ids:
            names.setdefault(str(name), []).append(int(id))
    return names
