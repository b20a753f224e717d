"""Making a study: its sources, and the rows of its relations and systems. Idempotent."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from functools import cached_property
from heapq import nsmallest
from typing import Any

from sqlalchemy import Column, ColumnElement, Connection, Engine, and_, distinct, func, select

from audit.corpora.base import Corpus, Row
from audit.errors import AuditError
from audit.keys import canonical, digest, uniform
from audit.messages import message
from audit.relations import Relation
from audit.relations.base import SYSTEM_REASONS, Outcome
from audit.relations.registry import name_order
from audit.runner.used import used_notes
from audit.store import input_ids, insert_new, table_of, tables
from audit.store.copying import in_utc
from audit.store.queries import id_of, insert_one
from audit.systems.base import System
from audit.tasks import Input

CHUNK = {"sentence": 250, "document": 25}
"""Sources per chunk of work: a kill costs at most the checks of one."""


@dataclass(frozen=True)
class StudyRow:
    """A study as the runner needs it."""

    id: int
    task: str
    corpus: str
    seed: int
    unit: str
    chunk: int
    sources: int

    def size(self, chunk: int) -> int:
        """Sources of a chunk; the last one may be smaller."""
        return min(self.chunk, self.sources - chunk * self.chunk)


class Sampled:
    """The sources of a study that need not be stored yet: the rows with the `limit` smallest u, in the order of u.

    They are drawn when somebody asks, and once: a corpus may be large.
    """

    def __init__(self, corpus: Corpus, seed: int, limit: int | None = None) -> None:
        """Raises AuditError for a limit below 1, and what the corpus raises."""
        check_limit(limit)
        self.corpus, self.seed, self.limit = corpus, seed, limit

    @cached_property
    def key(self) -> bytes:
        """What the study is found by."""
        corpus = self.corpus
        return digest(corpus.task, corpus.name, corpus.fingerprint(), corpus.unit, str(self.seed), str(self.limit))

    @cached_property
    def sources(self) -> list[tuple[float, Row]]:
        """The u of each source, with its row. Raises AuditError for a corpus without rows."""
        drawn = ((uniform(self.seed, row.key), row) for row in self.corpus.rows())
        chosen = sorted(drawn, key=_order) if self.limit is None else nsmallest(self.limit, drawn, key=_order)
        if not chosen:
            raise AuditError(f"corpus {self.corpus.name} has no rows")
        return chosen


def first_inputs(sampled: Sampled, number: int, engine: Engine | None) -> list[Input]:
    """The inputs of a study's first sources, by u: those that a database has where the study is there, else the
    corpus's, which has to be read for that."""
    study, source, input_table = table_of(tables.Study), table_of(tables.Source), table_of(tables.Input)
    stored = (
        select(input_table.c.texts, input_table.c.languages)
        .join(source, source.c.input_id == input_table.c.id)
        .join(study, study.c.id == source.c.study_id)
        .where(study.c.key == sampled.key)
        .order_by(source.c.id)
        .limit(number)
    )
    if engine is not None:
        with engine.connect() as connection:
            if rows := connection.execute(stored).all():
                return [Input.stored(row.texts, row.languages) for row in rows]
    return [row.input for _, row in sampled.sources[:number]]


def make_study(engine: Engine, sampled: Sampled) -> StudyRow:
    """The study of this corpus, seed and limit, with its sources; made in one transaction where it is new.

    Raises what the corpus raises.
    """
    with engine.begin() as connection:
        study_id = id_of(connection, tables.Study, key=sampled.key)
        if study_id is None:
            study_id = _insert(connection, sampled)
        return load_study(connection, study_id)


def cut_inputs(connection: Connection, studies: Sequence[int], systems: Iterable[int] | None = None) -> dict[int, int]:
    """System (of these ids) -> inputs in groups of these studies of which it read a part, where there are any."""
    group, member, output = (table_of(model) for model in (tables.Group, tables.Member, tables.Output))
    in_studies = (
        select(member.c.group_id)
        .join(group, group.c.id == member.c.group_id)
        .where(member.c.input_id == output.c.input_id, group.c.study_id.in_(studies))
        .exists()
    )
    query = (
        select(output.c.system_id, func.count(output.c.input_id.distinct()))
        .where(output.c.details.is_not(None), output.c.details["cut"].as_integer() > 0, in_studies)
        .group_by(output.c.system_id)
    )
    if systems is not None:
        query = query.where(output.c.system_id.in_(list(systems)))
    return {int(system): int(number) for system, number in connection.execute(query)}


def inapplicable_notes(
    connection: Connection, studies: Sequence[int], systems: Iterable[int] | None = None
) -> list[str]:
    """A sentence for each system (of these ids) that read a part of some inputs, or says what it used, and for each
    system and reason of `SYSTEM_REASONS` why groups of these studies are inapplicable: which relations, how many."""
    group, verdict = table_of(tables.Group), table_of(tables.Verdict)
    relation, system = table_of(tables.Relation), table_of(tables.System)
    by_cell = (
        select(system.c.name, verdict.c.reason, relation.c.name, func.count())
        .select_from(verdict)
        .join(group, group.c.id == verdict.c.group_id)
        .join(relation, relation.c.id == group.c.relation_id)
        .join(system, system.c.id == verdict.c.system_id)
        .where(verdict.c.outcome == int(Outcome.INAPPLICABLE), verdict.c.reason.in_(list(SYSTEM_REASONS)))
        .where(group.c.study_id.in_(studies))
        .group_by(system.c.name, verdict.c.reason, relation.c.name)
    )
    if systems is not None:
        by_cell = by_cell.where(verdict.c.system_id.in_(list(systems)))
    cells: dict[tuple[str, str], dict[str, int]] = {}
    for name, reason, of_relation, number in connection.execute(by_cell):
        cells.setdefault((name, reason), {})[of_relation] = number
    cut = cut_inputs(connection, studies, systems)
    names = connection.execute(select(system.c.id, system.c.name).where(system.c.id.in_(list(cut))))
    notes: list[str] = [message("note.cut", system=name, count=cut[id]) for id, name in sorted(names.all())]
    notes += used_notes(connection, studies, systems)
    return notes + [
        message(
            f"inapplicable.{SYSTEM_REASONS[reason]}",
            system=name,
            names=sorted(groups, key=name_order),
            count=sum(groups.values()),
        )
        for (name, reason), groups in sorted(cells.items())
    ]


def check_limit(limit: int | None) -> None:
    """Raises AuditError for a limit below 1."""
    if limit is not None and (not isinstance(limit, int) or limit < 1):
        raise AuditError(
            f"limit {limit!r}: must be at least 1, and a whole number; leave it out for the whole corpus",
            parameter="limit",
        )


def load_study(connection: Connection, study_id: int) -> StudyRow:
    """A stored study by its id."""
    study, source = table_of(tables.Study), table_of(tables.Source)
    row = connection.execute(select(study).where(study.c.id == study_id)).mappings().one()
    counted = select(source.c.id).where(source.c.study_id == study_id).subquery()
    sources = connection.execute(select(func.count()).select_from(counted)).scalar() or 0
    return StudyRow(study_id, row["task"], row["corpus"], row["seed"], row["unit"], row["chunk"], sources)


def _insert(connection: Connection, sampled: Sampled) -> int:
    corpus, chosen = sampled.corpus, sampled.sources
    study = {
        "key": sampled.key,
        "task": corpus.task,
        "corpus": corpus.name,
        "fingerprint": corpus.fingerprint(),
        "unit": corpus.unit,
        "has_gold": any(row.gold is not None for _, row in chosen),
        "seed": sampled.seed,
        "limit": sampled.limit,
        "imported": False,
        "chunk": CHUNK[corpus.unit],
        "created_at": tables.now(),
    }
    study_id, new = insert_one(connection, tables.Study, study, "key")
    if new:  # else another process made it, with its sources, since we looked
        add_sources(connection, study_id, chosen)
    return study_id


def add_sources(connection: Connection, study_id: int, drawn: Sequence[tuple[float, Row]]) -> None:
    """Insert sources in the given order, which is the order of their ids."""
    ids = input_ids(connection, (row.input for _, row in drawn))
    rows = [
        {
            "study_id": study_id,
            "row": row.key,
            "input_id": ids[row.input.key],
            "gold": row.gold,
            "cluster": row.cluster,
            "attributes": dict(row.attributes),
            "u": u,
        }
        for u, row in drawn
    ]
    insert_new(connection, tables.Source, rows)


def _order(drawn: tuple[float, Row]) -> tuple[float, str]:
    return drawn[0], drawn[1].key


def relation_id(connection: Connection, relation: Relation) -> int:
    """The row of a relation with its version and parameters."""
    return named_id(
        connection,
        tables.Relation,
        {
            "task": relation.task,
            "name": relation.name,
            "version": relation.full_version,
            "params": canonical(dict(relation.params)),
        },
    )


def system_id(connection: Connection, system: System, settings: Mapping[str, object] | None = None) -> int:
    """The row of a system with its version and settings (None: its own)."""
    own = dict(system.settings if settings is None else settings)
    return named_id(
        connection, tables.System, {"name": system.name, "version": system.version, "settings": canonical(own)}
    )


def named_id(connection: Connection, model: type[tables.Relation] | type[tables.System], key: dict[str, str]) -> int:
    """The id of the row with this unique key, inserted where it is new."""
    return insert_one(connection, model, key, *key)[0]


# `audit runs`: what was run in a database, by study and system: another version or setting is a system of its own.


@dataclass(frozen=True)
class Listed:
    """A system on a study. `finished` is the share of sources and relations begun that are through."""

    study: int
    corpus: str
    seed: int
    sources: int
    system: str
    version: str
    settings: str
    """Canonical JSON."""
    relations: int
    finished: float
    outputs: int
    """Inputs that the system was executed on in this database, for whatever study."""
    errors: int
    """Of these, how many failed at the last attempt."""
    number: int
    """Of the system in this database, in the order in which systems came: `#2` means it in `audit compare`."""
    began: datetime
    """When the study was begun, in UTC, by the first of its systems."""

    def as_json(self) -> dict[str, Any]:
        """As the command `audit runs` has it in JSON."""
        return asdict(self) | {"began": self.began.isoformat(timespec="seconds")}


def runs(engine: Engine) -> list[Listed]:
    """What was run, by study, and in it by the names of systems and the order in which they came."""
    study, system = table_of(tables.Study), table_of(tables.System)
    with engine.connect() as connection:
        studies = {row["id"]: row for row in connection.execute(select(study)).mappings()}
        systems = {row["id"]: row for row in connection.execute(select(system)).mappings()}
        output = table_of(tables.Output)
        sources = _counted(connection, table_of(tables.Source).c.study_id)
        executed, failed = _counted(connection, output.c.system_id, output.c.attempt == 1), _failed(connection)
        listed = []
        for (study_id, system_id), (relations, chunks) in _progress(connection).items():
            row, system_row = studies[study_id], systems[system_id]
            source_count = sources[study_id]
            whole = relations * -(-source_count // row["chunk"])
            listed.append(
                Listed(
                    study=study_id,
                    corpus=row["corpus"],
                    seed=row["seed"],
                    sources=source_count,
                    system=system_row["name"],
                    version=system_row["version"],
                    settings=system_row["settings"],
                    relations=relations,
                    finished=1.0 if row["imported"] else chunks / whole,
                    outputs=executed.get(system_id, 0),
                    errors=failed.get(system_id, 0),
                    number=system_id,
                    began=in_utc(row["created_at"]),
                )
            )
    return sorted(listed, key=lambda row: (row.study, row.system, row.number))


def _progress(connection: Connection) -> dict[tuple[int, int], tuple[int, int]]:
    """(study, system) -> relations that were begun, and how many chunks of them are through; imports have none."""
    progress, study = table_of(tables.Progress), table_of(tables.Study)
    group, verdict = table_of(tables.Group), table_of(tables.Verdict)
    ran = select(
        progress.c.study_id, progress.c.system_id, func.count(distinct(progress.c.relation_id)), func.count()
    ).group_by(progress.c.study_id, progress.c.system_id)
    imported = (
        select(group.c.study_id, verdict.c.system_id, func.count(distinct(group.c.relation_id)))
        .join(study, and_(study.c.id == group.c.study_id, study.c.imported))
        .join(verdict, verdict.c.group_id == group.c.id)
        .group_by(group.c.study_id, verdict.c.system_id)
    )
    begun = {(study, system): (relations, chunks) for study, system, relations, chunks in connection.execute(ran)}
    return begun | {(study, system): (relations, 0) for study, system, relations in connection.execute(imported)}


def _failed(connection: Connection) -> dict[int, int]:
    """System -> inputs that failed at the last attempt."""
    output, later = table_of(tables.Output), table_of(tables.Output).alias("later")
    again = (
        select(later.c.attempt)
        .where(
            later.c.input_id == output.c.input_id,
            later.c.system_id == output.c.system_id,
            later.c.attempt > output.c.attempt,
        )
        .exists()
    )
    return _counted(connection, output.c.system_id, output.c.error.is_not(None), ~again)


def _counted(connection: Connection, column: Column[Any], *conditions: ColumnElement[bool]) -> dict[int, int]:
    """Rows by the value of a column."""
    query = select(column, func.count()).where(*conditions).group_by(column)
    return {int(value): int(number) for value, number in connection.execute(query)}


def finished(connection: Connection, study_id: int) -> set[tuple[int, int, int]]:
    """Chunk, system and relation of what is noted as finished."""
    progress = table_of(tables.Progress)
    query = select(progress.c.chunk, progress.c.system_id, progress.c.relation_id)
    query = query.where(progress.c.study_id == study_id)
    return {(int(row[0]), int(row[1]), int(row[2])) for row in connection.execute(query)}
