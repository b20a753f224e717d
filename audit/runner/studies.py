"""Making a study: its sources, and the rows of its relations and systems. Idempotent."""

from collections.abc import Sequence
from dataclasses import dataclass
from heapq import nsmallest

from sqlalchemy import Connection, Engine, func, select

from audit.corpora.base import Corpus, Row
from audit.errors import AuditError
from audit.keys import canonical, digest, uniform
from audit.relations import Relation
from audit.store import input_ids, insert_new, table_of, tables
from audit.systems.base import System

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


def make_study(engine: Engine, corpus: Corpus, seed: int, limit: int | None = None) -> StudyRow:
    """The study of this corpus, seed and limit, with its sources; made in one transaction where it is new.

    With a limit, the sources are the rows with the `limit` smallest u, so a larger limit keeps them all.
    Raises AuditError for a limit below 1, and what the corpus raises.
    """
    check_limit(limit)
    key = digest(corpus.task, corpus.name, corpus.fingerprint(), corpus.unit, str(seed), str(limit))
    study = table_of(tables.Study)
    with engine.begin() as connection:
        found = connection.execute(select(study.c.id).where(study.c.key == key)).scalar()
        if found is None:
            found = _insert(connection, corpus, key, seed, limit)
        return load_study(connection, found)


def check_limit(limit: int | None) -> None:
    """Raises AuditError for a limit below 1."""
    if limit is not None and limit < 1:
        raise AuditError(f"--limit {limit}: must be at least 1; leave it out for the whole corpus")


def load_study(connection: Connection, study_id: int) -> StudyRow:
    """A stored study by its id."""
    study, source = table_of(tables.Study), table_of(tables.Source)
    row = connection.execute(select(study).where(study.c.id == study_id)).mappings().one()
    counted = select(source.c.id).where(source.c.study_id == study_id).subquery()
    sources = connection.execute(select(func.count()).select_from(counted)).scalar() or 0
    return StudyRow(study_id, row["task"], row["corpus"], row["seed"], row["unit"], row["chunk"], sources)


def _insert(connection: Connection, corpus: Corpus, key: bytes, seed: int, limit: int | None) -> int:
    drawn = ((uniform(seed, row.key), row) for row in corpus.rows())
    chosen = sorted(drawn, key=_order) if limit is None else nsmallest(limit, drawn, key=_order)
    if not chosen:
        raise AuditError(f"corpus {corpus.name} has no rows")
    study = {
        "key": key,
        "task": corpus.task,
        "corpus": corpus.name,
        "fingerprint": corpus.fingerprint(),
        "unit": corpus.unit,
        "has_gold": any(row.gold is not None for _, row in chosen),
        "seed": seed,
        "limit": limit,
        "imported": False,
        "chunk": CHUNK[corpus.unit],
        "created_at": tables.now(),
    }
    new = insert_new(connection, tables.Study, [study])
    table = table_of(tables.Study)
    study_id = int(connection.execute(select(table.c.id).where(table.c.key == key)).scalar_one())
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


def system_id(connection: Connection, system: System) -> int:
    """The row of a system with its version and settings."""
    return named_id(
        connection,
        tables.System,
        {"name": system.name, "version": system.version, "settings": canonical(dict(system.settings))},
    )


def named_id(connection: Connection, model: type[tables.Relation] | type[tables.System], key: dict[str, str]) -> int:
    """The id of the row with this unique key, inserted where it is new."""
    table = table_of(model)
    query = select(table.c.id)
    for name, value in key.items():
        query = query.where(table.c[name] == value)
    found = connection.execute(query).scalar()
    if found is None:
        insert_new(connection, model, [key])
        found = connection.execute(query).scalar()
    return int(found or 0)
