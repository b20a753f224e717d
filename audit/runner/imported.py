"""`audit import-run`: metamorphic groups that somebody else made and checked, one JSON object per line.

    {"relation": "MR1.1", "system": "amazon", "source": "It isn't good.", "follow_ups": ["It is not good."],
     "outputs": [{"label": "negative", "score": 0.9}, "negative"], "verdict": "satisfied"}

`outputs` holds the source's, then each follow-up's: a label, score or text alone, or an object. An input of two
texts is a list of them. Optional: `id` (of the source), `gold`, `document`, `language`,
`task`, `version` (of the system), `attributes` (an object of what else is known of the source, by name), `carries` (of
the relation: `"everything"`, `"nothing"`, or a list of labels: an answer about the source that holds for the follow-up
too; the same in all its lines). Without it a relation that is registered under the name carries answers as usual, and
any other carries none. Where a source has several groups of
one relation and system, each is a source of its own, clustered with the others, so that a cell's sample has one group
per source.

A follow-up may be an object with `text`, and with a `language`, `target_language` or `role` of its own: a chain of
translations goes from language to language, and what was made from an output on the way has the role `link`.

    {"task": "translation", "relation": "RTT", "system": "ours", "language": "en", "target_language": "es",
     "source": "It rains.", "follow_ups": [{"text": "Llueve.", "language": "es", "target_language": "en",
     "role": "link"}], "outputs": ["Llueve.", "It is raining."], "verdict": "satisfied"}

An output of a translation may be null, where the system does not have the two languages: its group is inapplicable.
"""

from collections import Counter
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Engine, select

from audit.corpora.base import Row
from audit.keys import canonical, digest, uniform
from audit.runner.run_files import VERDICTS, Given, Record, read_run
from audit.runner.studies import add_sources, named_id
from audit.store import group_id, input_ids, insert_new, table_of, tables

__all__ = ["Imported", "import_run", "read_run"]


@dataclass(frozen=True)
class Imported:
    """What an import made; everything is 0 but the study when the file had been imported before."""

    study: int
    new: bool
    sources: int
    groups: int
    checks: int
    relations: list[str]
    systems: list[str]
    outcomes: dict[str, int]


def import_run(engine: Engine, given: Given, seed: int = 0) -> Imported:
    """Store a run as a study of its own, in one transaction. Importing it again changes nothing."""
    task, content, records = given.task, given.content, given.records
    study = {
        "key": digest("import", task, content, str(seed)),
        "task": task,
        "corpus": given.name,
        "fingerprint": content,
        "unit": "sentence",
        "has_gold": any(record.gold for record in records),
        "seed": seed,
        "limit": None,
        "imported": True,
        "chunk": 1,
        "created_at": tables.now(),
    }
    table = table_of(tables.Study)
    with engine.begin() as connection:
        found = connection.execute(select(table.c.id).where(table.c.key == study["key"])).scalar()
        if found is not None:
            return Imported(int(found), False, 0, 0, 0, *_names(records), dict.fromkeys(VERDICTS, 0))
        new = insert_new(connection, tables.Study, [study])
        study_id = int(connection.execute(select(table.c.id).where(table.c.key == study["key"])).scalar_one())
        if not new:  # another process imported it since we looked
            return Imported(study_id, False, 0, 0, 0, *_names(records), dict.fromkeys(VERDICTS, 0))
        sources, groups = _store(connection, study_id, seed, _numbered(records))
    counted = Counter(record.outcome.name.lower() for record in records)
    outcomes = {name: counted[name] for name in VERDICTS}
    return Imported(study_id, True, sources, groups, len(records), *_names(records), outcomes)


def _params(carries: str | tuple[str, ...] | None) -> str:
    """The parameters of an imported relation: what it was said to carry, if anything was said."""
    return canonical({} if carries is None else {"carries": carries if isinstance(carries, str) else list(carries)})


def _names(records: list[Record]) -> tuple[list[str], list[str]]:
    return (
        list(dict.fromkeys(record.relation for record in records)),
        list(dict.fromkeys(record.system for record in records)),
    )


def _numbered(records: list[Record]) -> list[tuple[str, Record]]:
    """Each record with its source row: the second group of a (relation, system, source) gets a row of its own."""
    seen: Counter[tuple[str, str, str, str]] = Counter()
    taken = {record.source_key for record in records}
    numbered = []
    for record in records:
        key = (record.relation, record.system, record.version, record.source_key)
        seen[key] += 1
        row = record.source_key if seen[key] == 1 else f"{record.source_key}#{seen[key]}"
        while seen[key] > 1 and row in taken:  # somebody's own id looks like this: not the same source
            row += "#"
        numbered.append((row, record))
    return numbered


def _store(connection: Connection, study_id: int, seed: int, numbered: list[tuple[str, Record]]) -> tuple[int, int]:
    rows = {
        row: Row(row, record.members[0], record.gold, record.cluster or record.source_key, record.attributes)
        for row, record in numbered
    }
    drawn = sorted(((uniform(seed, row.key), row) for row in rows.values()), key=lambda one: (one[0], one[1].key))
    add_sources(connection, study_id, drawn)
    source = table_of(tables.Source)
    query = select(source.c.row, source.c.id).where(source.c.study_id == study_id)
    source_ids = {row[0]: int(row[1]) for row in connection.execute(query)}
    ids = input_ids(connection, (one for _, record in numbered for one in record.members))
    relations = {
        name: named_id(
            connection,
            tables.Relation,
            {"task": numbered[0][1].task, "name": name, "version": "imported", "params": _params(carries)},
        )
        for name, carries in dict.fromkeys((record.relation, record.carries) for _, record in numbered)
    }
    systems = {
        key: named_id(connection, tables.System, {"name": key[0], "version": key[1], "settings": "{}"})
        for key in dict.fromkeys((record.system, record.version) for _, record in numbered)
    }
    shapes: dict[tuple[str, str], set[tuple[object, ...]]] = {}
    for row, record in numbered:
        shapes.setdefault((row, record.relation), set()).add((record.members, record.roles))
    groups: dict[int, dict[str, Any]] = {}
    members, outputs, verdicts = [], [], []
    for row, record in numbered:
        system = systems[record.system, record.version]
        # Systems that share the follow-ups share the group, as in a run of our own.
        own = system if len(shapes[row, record.relation]) > 1 else None
        relation = relations[record.relation]
        id = group_id(source_ids[row], relation, own)
        groups[id] = {
            "id": id,
            "study_id": study_id,
            "relation_id": relation,
            "source_id": source_ids[row],
            "system_id": own,
        }
        for step, (one, role, output) in enumerate(zip(record.members, record.roles, record.outputs, strict=True)):
            members.append({"group_id": id, "step": step, "input_id": ids[one.key], "role": role})
            outputs.append(
                {
                    "system_id": system,
                    "input_id": ids[one.key],
                    "attempt": 1,
                    "label": output.label,
                    "score": output.score,
                    "text": output.text,
                    "error": None,
                }
            )
        verdicts.append(
            {"group_id": id, "system_id": system, "outcome": int(record.outcome), "value": None, "reason": None}
        )
    insert_new(connection, tables.Group, list(groups.values()))
    insert_new(connection, tables.Member, members)
    insert_new(connection, tables.Output, outputs)
    insert_new(connection, tables.Verdict, verdicts)
    return len(rows), len(groups)
