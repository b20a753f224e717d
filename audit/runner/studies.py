"""Studies in the store: made with their sources, found again, and listed. Idempotent."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from heapq import nsmallest
from typing import Any

from sqlalchemy import Column, ColumnElement, Connection, Engine, and_, case, func, literal, select, true

from audit.corpora.base import Corpus, Row
from audit.errors import AuditError
from audit.keys import canonical, digest, uniform
from audit.messages import message
from audit.relations import Relation
from audit.relations.base import SYSTEM_REASONS, Outcome
from audit.relations.registry import name_order
from audit.store import columns, input_ids, insert_new, open_store, tables
from audit.store.copying import in_utc
from audit.store.core import (
    count_rows,
    group,
    input_table,
    member,
    output,
    progress,
    relation,
    source,
    study,
    system,
    verdict,
)
from audit.store.engine import file_of
from audit.store.outcomes import id_of, insert_one
from audit.systems.base import System
from audit.tasks import Input

CHUNK = {"sentence": 250, "document": 25}  # Sources per chunk of work: a kill costs at most the checks of one


class Later:
    """A database that is opened, and given to `begin`, once all is checked: a mistake leaves no empty one behind."""

    def __init__(self, store: str, begin: Callable[[Engine], object] = lambda engine: None) -> None:
        self._store, self._begin = store, begin

    @property
    def is_new(self) -> bool:
        """Whether there is no such file yet, so that nothing is stored."""
        file = file_of(self._store)
        return file is not None and not file.exists()

    @cached_property
    def engine(self) -> Engine:
        """The database, made where there is none."""
        engine = open_store(self._store, create=True)
        self._begin(engine)
        return engine


def opened(database: Engine | Later) -> Engine:
    """Return the engine of a database, which is opened now if it was not."""
    return database.engine if isinstance(database, Later) else database


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
        """Return the number of sources of a chunk; the last one may be smaller."""
        return min(self.chunk, self.sources - chunk * self.chunk)


class Sampled:
    """The sources of a study that need not be stored yet: the rows with the `limit` smallest u, in the order of u."""

    def __init__(self, corpus: Corpus, seed: int, limit: int | None = None) -> None:
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
        order: Any = lambda entry: (entry[0], entry[1].key)  # noqa: E731
        chosen = sorted(drawn, key=order) if self.limit is None else nsmallest(self.limit, drawn, key=order)
        if not chosen:
            raise AuditError(f"corpus {self.corpus.name} has no rows")
        return chosen

    def first_inputs(self, number: int, engine: Engine | None) -> list[Input]:
        """Return the inputs of the first sources, by u: those that a database has where the study is there, else the
        corpus's, which has to be read for that."""
        stored = (
            select(input_table.c.texts, input_table.c.languages)
            .join(source, source.c.input_id == input_table.c.id)
            .join(study, study.c.id == source.c.study_id)
            .where(study.c.key == self.key)
            .order_by(source.c.id)
            .limit(number)
        )
        if engine is not None:
            with engine.connect() as connection:
                if rows := connection.execute(stored).all():
                    return [Input.stored(row.texts, row.languages) for row in rows]
        return [row.input for _, row in self.sources[:number]]


def make_study(connection: Connection, sampled: Sampled) -> StudyRow:
    """Return the study of this corpus, seed and limit, made with its sources where it is new."""
    corpus = sampled.corpus
    study_id = id_of(connection, tables.Study, key=sampled.key)
    if study_id is None:
        row: dict[str, Any] = {
            "key": sampled.key,
            "task": corpus.task,
            "corpus": corpus.name,
            "fingerprint": corpus.fingerprint(),
        }
        row |= {"unit": corpus.unit, "has_gold": any(row_read.gold is not None for _, row_read in sampled.sources)}
        row |= {"seed": sampled.seed, "limit": sampled.limit, "imported": False, "chunk": CHUNK[corpus.unit]}
        row |= {"created_at": tables.now()}
        study_id, new = insert_one(connection, tables.Study, row, "key")
        if new:  # else another process made it, with its sources, since we looked
            add_sources(connection, study_id, sampled.sources)
    stored = connection.execute(select(study).where(study.c.id == study_id)).mappings().one()
    sources = count_rows(connection, source, source.c.study_id == study_id)
    own = {name: stored[name] for name in ("task", "corpus", "seed", "unit", "chunk")}
    return StudyRow(study_id, **own, sources=sources)


def add_sources(connection: Connection, study_id: int, drawn: Sequence[tuple[float, Row]]) -> None:
    """Insert sources in the given order, which is the order of their ids."""
    ids = input_ids(connection, (row.input for _, row in drawn))
    rows = ((study_id, row.key, ids[row.input.key], row.gold, row.cluster, dict(row.attributes), u) for u, row in drawn)
    insert_new(connection, tables.Source, columns("study_id row input_id gold cluster attributes u", rows))


def relation_id(connection: Connection, relation: Relation) -> int:
    """Return the id of a relation with its version and parameters."""
    params = canonical(dict(relation.params))
    key = {"task": relation.task, "name": relation.name, "version": relation.full_version, "params": params}
    return insert_one(connection, tables.Relation, key, *key)[0]


def system_id(connection: Connection, system: System, settings: Mapping[str, object] | None = None) -> int:
    """Return the id of a system with its version and settings (None: its own)."""
    own = canonical(dict(system.settings if settings is None else settings))
    key = {"name": system.name, "version": system.version, "settings": own}
    return insert_one(connection, tables.System, key, *key)[0]


def finished(connection: Connection, study_id: int) -> set[tuple[int, int, int]]:
    """Return chunk, system and relation of what is noted as finished."""
    query = select(progress.c.chunk, progress.c.system_id, progress.c.relation_id)
    return {(int(row[0]), int(row[1]), int(row[2])) for row in connection.execute(query.filter_by(study_id=study_id))}


# What a report says of the inputs that a system read a part of, and of groups that its outputs say nothing about.


def _details(connection: Connection, studies: Sequence[int], systems: Iterable[int] | None) -> Sequence[Any]:
    """Return what systems (of these ids) say of inputs in groups of these studies: id and name, of how many inputs they
    read a part, and the tokens and money that they used."""
    in_studies = (
        select(member.c.group_id)
        .join(group, group.c.id == member.c.group_id)
        .where(member.c.input_id == output.c.input_id, group.c.study_id.in_(studies))
        .exists()
    )
    details = output.c.details
    cut = func.count(case((details["cut"].as_integer() > 0, output.c.input_id)).distinct())
    tokens = [func.coalesce(func.sum(details["used", name].as_integer()), 0) for name in ("in", "out", "reasoning")]
    cost, currency = func.sum(details["used", "cost"].as_float()), func.max(details["used", "currency"].as_string())
    query = (
        select(system.c.id, system.c.name, cut, *tokens, cost, currency)
        .join(system, system.c.id == output.c.system_id)
        .where(details.is_not(None), in_studies, system.c.id.in_(list(systems)) if systems is not None else true())
        .group_by(system.c.id, system.c.name)
        .order_by(system.c.name, system.c.id)
    )
    return connection.execute(query).all()


def cut_inputs(connection: Connection, studies: Sequence[int], systems: Iterable[int] | None = None) -> dict[int, int]:
    """Return, by system (of these ids), how many inputs in groups of these studies it read a part of, if any."""
    return {int(row[0]): int(row[2]) for row in _details(connection, studies, systems) if row[2]}


def inapplicable_notes(
    connection: Connection, studies: Sequence[int], systems: Iterable[int] | None = None
) -> list[str]:
    """Return a sentence for each system (of these ids) that read a part of some inputs, or says what it used, and for
    each system and reason of `SYSTEM_REASONS` why groups are inapplicable: which relations, how many."""
    by_cell = (
        select(system.c.name, verdict.c.reason, relation.c.name, func.count())
        .select_from(verdict)
        .join(group, group.c.id == verdict.c.group_id)
        .join(relation, relation.c.id == group.c.relation_id)
        .join(system, system.c.id == verdict.c.system_id)
        .where(verdict.c.outcome == int(Outcome.INAPPLICABLE), verdict.c.reason.in_(list(SYSTEM_REASONS)))
        .where(group.c.study_id.in_(studies), system.c.id.in_(list(systems)) if systems is not None else true())
        .group_by(system.c.name, verdict.c.reason, relation.c.name)
    )
    cells: dict[tuple[str, str], dict[str, int]] = {}
    for name, reason, of_relation, number in connection.execute(by_cell):
        cells.setdefault((name, reason), {})[of_relation] = number
    details = _details(connection, studies, systems)
    notes: list[str] = [message("note.cut", system=name, count=cut) for _, name, cut, *_ in details if cut]
    for _, name, _, read, written, thought, cost, currency in details:
        if read:
            values = {"tokens": read, "answers": written, "reasoning": thought, "currency": currency or ""}
            code = f"note.used{'_at' * (cost is not None)}"
            notes.append(message(code, system=name, cost=float(cost or 0), **values))
    for (name, reason), groups in sorted(cells.items()):
        code, names = f"inapplicable.{SYSTEM_REASONS[reason]}", sorted(groups, key=name_order)
        notes.append(message(code, system=name, names=names, count=sum(groups.values())))
    return notes


# `audit runs`: what was run in a database, by study and system: another version or setting is a system of its own.


def runs(engine: Engine) -> list[dict[str, Any]]:
    """Return what was run, by study, and in it by the names of systems and the order in which they came.

    `relations` are those begun, `finished` the share of them and of the sources that is through; `outputs` and `errors`
    are the system's in this database, for whatever study, the last attempts; `number` is its number here, `#2` in
    `audit compare`; `began` is when the study was begun, in UTC.
    """
    later = output.alias()
    same = (later.c.input_id == output.c.input_id, later.c.system_id == output.c.system_id)
    again = select(later.c.attempt).where(*same, later.c.attempt > output.c.attempt).exists()
    own = (progress.c.study_id, progress.c.system_id)
    ran = select(*own, func.count(progress.c.relation_id.distinct()), func.count()).group_by(*own)
    imported = (  # these have no chunks
        select(group.c.study_id, verdict.c.system_id, func.count(group.c.relation_id.distinct()), literal(0))
        .join(study, and_(study.c.id == group.c.study_id, study.c.imported))
        .join(verdict, verdict.c.group_id == group.c.id)
        .group_by(group.c.study_id, verdict.c.system_id)
    )
    with engine.connect() as connection:

        def counted(column: Column[Any], *conditions: ColumnElement[bool]) -> Counter[int]:
            query = select(column, func.count()).where(*conditions).group_by(column)
            return Counter({int(value): int(number) for value, number in connection.execute(query)})

        studies = {row.id: row for row in connection.execute(select(study))}
        systems = {row.id: row for row in connection.execute(select(system))}
        sources, executed = counted(source.c.study_id), counted(output.c.system_id, output.c.attempt == 1)
        failed = counted(output.c.system_id, output.c.error.is_not(None), ~again)
        pairs = [tuple(map(int, row)) for query in (ran, imported) for row in connection.execute(query)]
    listed = []
    for id, number, relations, chunks in pairs:
        of_study, of_system = studies[id], systems[number]
        row = {"study": id, "corpus": of_study.corpus, "seed": of_study.seed, "sources": sources[id]}
        row |= {"system": of_system.name, "version": of_system.version, "settings": of_system.settings}
        all_chunks = relations * -(-sources[id] // of_study.chunk)
        row |= {"relations": relations, "finished": 1.0 if of_study.imported else chunks / all_chunks}
        row |= {"outputs": executed[number], "errors": failed[number], "number": number}
        listed.append(row | {"began": in_utc(of_study.created_at).isoformat(timespec="seconds")})
    return sorted(listed, key=lambda row: (row["study"], row["system"], row["number"]))
