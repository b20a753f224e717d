"""`audit runs`: what was run in a database, by study and system: another version or setting is a system of its own."""

from dataclasses import asdict, dataclass
from typing import Any

from sqlalchemy import Connection, Engine, and_, distinct, func, select

from audit.store import table_of, tables


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

    def as_json(self) -> dict[str, Any]:
        """For `audit runs --json`."""
        return asdict(self)


def runs(engine: Engine) -> list[Listed]:
    """What was run, by study, and in it by the names of systems and the order in which they came."""
    study, system = table_of(tables.Study), table_of(tables.System)
    with engine.connect() as connection:
        studies = {int(row["id"]): row for row in connection.execute(select(study)).mappings()}
        systems = {int(row["id"]): row for row in connection.execute(select(system)).mappings()}
        sources, executed, failed = _sources(connection), _executed(connection), _failed(connection)
        found = []
        for (study_id, system_id), (relations, chunks) in _progress(connection).items():
            row, made = studies[study_id], systems[system_id]
            there = sources[study_id]
            whole = relations * -(-there // row["chunk"])
            found.append(
                Listed(
                    study=study_id,
                    corpus=row["corpus"],
                    seed=row["seed"],
                    sources=there,
                    system=made["name"],
                    version=made["version"],
                    settings=made["settings"],
                    relations=relations,
                    finished=1.0 if row["imported"] else chunks / whole,
                    outputs=executed.get(system_id, 0),
                    errors=failed.get(system_id, 0),
                )
            )
    ids = {(row["name"], row["version"], row["settings"]): id for id, row in systems.items()}
    return sorted(found, key=lambda one: (one.study, one.system, ids[one.system, one.version, one.settings]))


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
    found = {(int(row[0]), int(row[1])): (int(row[2]), int(row[3])) for row in connection.execute(ran)}
    return found | {(int(row[0]), int(row[1])): (int(row[2]), 0) for row in connection.execute(imported)}


def _sources(connection: Connection) -> dict[int, int]:
    source = table_of(tables.Source)
    query = select(source.c.study_id, func.count()).group_by(source.c.study_id)
    return {int(row[0]): int(row[1]) for row in connection.execute(query)}


def _executed(connection: Connection) -> dict[int, int]:
    output = table_of(tables.Output)
    query = select(output.c.system_id, func.count()).where(output.c.attempt == 1).group_by(output.c.system_id)
    return {int(row[0]): int(row[1]) for row in connection.execute(query)}


def _failed(connection: Connection) -> dict[int, int]:
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
    query = select(output.c.system_id, func.count()).where(output.c.error.is_not(None), ~again)
    return {int(row[0]): int(row[1]) for row in connection.execute(query.group_by(output.c.system_id))}
