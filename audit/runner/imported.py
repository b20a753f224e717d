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
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, select

from audit.corpora.base import Row
from audit.corpora.recordings import check_codes
from audit.errors import AuditError
from audit.files import Excessive, parse_json, read_text, refuse_bad_rows
from audit.keys import canonical, digest, fingerprint, uniform
from audit.relations import Outcome
from audit.runner.studies import add_sources, named_id
from audit.store import group_id, input_ids, insert_new, table_of, tables
from audit.tasks import Input, Output, Task, base_of, get_task

# Reading a file of metamorphic groups that somebody else made and checked, one JSON object per line.
#
# What a line has is in `audit.runner.imported`. A file is checked as a whole before anything is stored.

VERDICTS = {outcome.name.lower(): outcome for outcome in Outcome if outcome is not Outcome.ERROR}
_ROLES = ("follow_up", "link", "probe")
"""Parts that a follow-up can play; one that is a text alone is the first."""
_OF_FOLLOW_UP = ("text", "language", "target_language", "role")
_NEEDED = ("relation", "system", "source", "follow_ups", "outputs", "verdict")


@dataclass(frozen=True)
class Record:
    """One checked line: a group and what one system returned for it."""

    line: int
    task: str
    relation: str
    system: str
    version: str
    source_key: str
    cluster: str | None
    gold: str | None
    members: tuple[Input, ...]
    roles: tuple[str, ...]
    outputs: tuple[Output, ...]
    outcome: Outcome
    attributes: Mapping[str, str]
    carries: str | tuple[str, ...] | None = None
    """What the relation is said to carry: everything, nothing or labels; None where the line does not say."""


@dataclass(frozen=True)
class ReadRun:
    """A file that was read and checked as a whole."""

    name: str
    task: str
    content: str
    records: list[Record]


def read_run(path: str | Path) -> ReadRun:
    """Read and check a file. Raises BadFile or BadRow (file, line, reason)."""
    path = Path(path)
    text = read_text(path)
    content = fingerprint(text.splitlines())
    records = _checked(path, text, content)
    tasks = {record.task for record in records}
    if len(tasks) > 1:
        raise AuditError(f"{path}: rows of several tasks ({', '.join(sorted(tasks))}); import one file per task")
    return ReadRun(path.name, tasks.pop(), content, records)


def _checked(path: Path, text: str, content: str) -> list[Record]:
    """Every line as a record. Raises BadRow or BadFile."""
    records: list[Record] = []
    bad: list[tuple[int, str]] = []
    seen: dict[object, int] = {}
    outputs: dict[object, tuple[Output, int]] = {}
    sources: dict[str, Record] = {}
    relations: dict[str, Record] = {}
    count = 0
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        count += 1
        try:
            record = _record(number, parse_json(line), content)
            _agree(record, seen, outputs, sources, relations)
            records.append(record)
        except Excessive as problem:
            bad.append((number, str(problem)))
        except ValueError as problem:
            bad.append((number, f"not a JSON object ({problem})"))
        except AuditError as problem:
            bad.append((number, str(problem)))
    refuse_bad_rows(path, bad, count)
    return records


def _record(line: int, value: object, content: str) -> Record:
    if not isinstance(value, dict):
        raise AuditError(f"a JSON {type(value).__name__}; every line must be one JSON object")
    value = {name: entry for name, entry in value.items() if entry is not None}
    if missing := [name for name in _NEEDED if name not in value]:
        raise AuditError(f"{', '.join(missing)} missing; needed are {', '.join(_NEEDED)}")
    task = get_task(_string(value, "task", "sentiment"))
    if not task.labels:
        raise AuditError(f"task {task.name!r} has no labels; name its scheme, as in classification/finance,sports")
    languages = _languages(value, task, _string(value, "language", "en"))
    source = _input(value["source"], "source", *languages)
    follow_ups = value["follow_ups"]
    if not isinstance(follow_ups, list) or not follow_ups:
        raise AuditError("follow_ups must be a list of at least one text")
    read_follow_ups = [_follow_up(follow_up, task, *languages) for follow_up in follow_ups]
    members = (source, *(member for member, _ in read_follow_ups))
    if base_of(task.name) == "translation" and (odd := [member for member in members if len(member.texts) != 1]):
        raise AuditError(f"an input of {task.name} is one text, not a list of {len(odd[0].texts)}")
    if task.texts > 1 and (odd := [member for member in members if len(member.texts) != task.texts]):
        number = "two" if task.texts == 2 else task.texts
        raise AuditError(f"an input of {task.name} is a list of {number} texts, not {len(odd[0].texts)}")
    raw_outputs = value["outputs"]
    if not isinstance(raw_outputs, list) or len(raw_outputs) != len(members):
        count = len(raw_outputs) if isinstance(raw_outputs, list) else "no list of"
        raise AuditError(f"{count} outputs for {len(members)} inputs; the source's comes first, then each follow-up's")
    verdict = value["verdict"]
    if not isinstance(verdict, str) or verdict not in VERDICTS:
        raise AuditError(f"verdict {verdict!r} is not one of {', '.join(VERDICTS)}")
    outputs = tuple(task.checked(_output(output, task)) for output in raw_outputs)
    if verdict != "inapplicable" and any(output.absent for output in outputs):
        raise AuditError(f"an output is null, so that the verdict is inapplicable, not {verdict}")
    gold = value.get("gold")
    if gold is not None and task.question_kind == "pair":
        raise AuditError(f"gold is {_short(gold)}, but {task.name} has no gold: a text has many right outputs")
    if gold is not None and gold not in task.labels:
        raise AuditError(f"gold label {gold!r} is not one of {', '.join(task.labels)}")
    return Record(
        line,
        task.name,
        _string(value, "relation"),
        _string(value, "system"),
        _string(value, "version", f"imported {content}"),
        _string(value, "id", source.key.hex()),
        _string(value, "document") if "document" in value else None,
        gold,
        members,
        ("source", *(role for _, role in read_follow_ups)),
        outputs,
        VERDICTS[verdict],
        _attributes(value.get("attributes", {})),
        _carries(value.get("carries"), task),
    )


def _carries(value: object, task: Task) -> str | tuple[str, ...] | None:
    """A declaration of what a relation carries, checked against the task's labels."""
    if value is None or value in ("everything", "nothing"):
        return value if value is None else str(value)
    if not isinstance(value, list) or not value or any(label not in task.labels for label in value):
        labels = ", ".join(task.labels)
        raise AuditError(f"carries is {_short(value)}; it is everything, nothing, or a list of labels out of {labels}")
    return tuple(sorted(set(value)))


def _agree(
    record: Record,
    seen: dict[object, int],
    outputs: dict[object, tuple[Output, int]],
    sources: dict[str, Record],
    relations: dict[str, Record],
) -> None:
    """Raises AuditError where a record contradicts or repeats an earlier one."""
    system = (record.system, record.version)
    group = (record.relation, *system, record.source_key, record.members, record.roles)
    if group in seen:
        raise AuditError(f"the same group of the same relation and system is in line {seen[group]}")
    first = sources.setdefault(record.source_key, record)
    if first.members[0] != record.members[0]:
        raise AuditError(
            f"the source with the id {record.source_key!r} has another text or language in line {first.line}"
        )
    if first.gold != record.gold:
        raise AuditError(
            f"the gold label of this source is {record.gold!r} here and {first.gold!r} in line {first.line}"
        )
    if first.cluster != record.cluster:
        raise AuditError(
            f"the document of this source is {record.cluster!r} here and {first.cluster!r} in line {first.line}"
        )
    if first.attributes != record.attributes:
        raise AuditError(
            f"the attributes of this source are {_short(dict(record.attributes))} here and "
            f"{_short(dict(first.attributes))} in line {first.line}"
        )
    declared = relations.setdefault(record.relation, record)
    if declared.carries != record.carries:
        raise AuditError(
            f"relation {record.relation} carries {_short(record.carries)} here and {_short(declared.carries)} in line "
            f"{declared.line}; say the same in all its lines"
        )
    for member, output in zip(record.members, record.outputs, strict=True):
        before, line = outputs.setdefault((*system, member.key), (output, record.line))
        if before != output:
            raise AuditError(
                f"system {record.system} returned {_say(output)} here and {_say(before)} in line {line} "
                f"for the same input"
            )
    seen[group] = record.line


def _string(value: Mapping[str, object], name: str, default: str | None = None) -> str:
    text = value.get(name, default)
    if isinstance(text, int) and not isinstance(text, bool) and name in ("id", "document"):
        return str(text)
    if not isinstance(text, str) or not text.strip():
        raise AuditError(f"{name} must be a text that is not empty, not {_short(text)}")
    _refuse_letters(text, name)
    return text.strip()


def _languages(value: Mapping[str, object], task: Task, language: str, target: str | None = None) -> tuple[Any, Any]:
    """The language of a text, and of a translation that to translate into: `language` and `target` where it has none.

    Raises AuditError for a translation into no language, what is no code, and a target where nothing is translated.
    """
    if base_of(task.name) != "translation":
        if "target_language" in value:
            raise AuditError(f"target_language is for translation; {task.name} has none")
        return language, None
    if target is None and "target_language" not in value:
        raise AuditError("target_language missing; a translation is into some language, such as es")
    languages = language, _string(value, "target_language", target)
    check_codes(languages)
    return languages


def _follow_up(value: object, task: Task, language: str, target: str | None) -> tuple[Input, str]:
    """A follow-up and its role. Raises AuditError."""
    if not isinstance(value, dict):
        return _input(value, "follow_ups", language, target), _ROLES[0]
    value = {name: entry for name, entry in value.items() if entry is not None}
    if unknown := [name for name in value if name not in _OF_FOLLOW_UP]:
        raise AuditError(f"a follow-up has {_short(unknown[0])}; it can have {', '.join(_OF_FOLLOW_UP)}")
    if "text" not in value:
        raise AuditError("a follow-up that is an object needs a text")
    role = value.get("role", _ROLES[0])
    if role not in _ROLES:
        raise AuditError(f"role {_short(role)} is not one of {', '.join(_ROLES)}")
    languages = _languages(value, task, _string(value, "language", language), target)
    return _input(value["text"], "follow_ups", *languages), role


def _input(value: object, name: str, language: str, target: str | None = None) -> Input:
    texts = value if isinstance(value, list) else [value]
    for text in texts:
        if not isinstance(text, str) or not text.strip():
            raise AuditError(f"{name} holds {_short(text)}; it must be a text that is not empty")
        _refuse_letters(text, name)
    if not texts:
        raise AuditError(f"{name} holds []; it must be a text that is not empty")
    return Input.of(*texts, language=language, target=target)


def _attributes(value: object) -> dict[str, str]:
    """The attributes of a source as texts, like the columns of a corpus file."""
    if not isinstance(value, dict):
        raise AuditError(f'attributes are {_short(value)}; they must be an object such as {{"length": 12}}')
    attributes = {
        name: entry if isinstance(entry, str) else canonical(entry)
        for name, entry in value.items()
        if entry is not None
    }
    for name, entry in attributes.items():
        _refuse_letters(name + entry, "attributes")
    return attributes


def _output(value: object, task: Task) -> Output:
    """What stands for an output: an object, or the one thing that the task compares, alone."""
    if value is None and base_of(task.name) == "translation":
        return Output()
    alone = "text" if task.question_kind == "pair" else "score" if base_of(task.name) == "similarity" else "label"
    if isinstance(value, int | float if alone == "score" else str) and not isinstance(value, bool):
        value = {alone: value}
    if not isinstance(value, dict):
        parts = "label and score" if alone == "label" else alone
        raise AuditError(f"output {_short(value)} must be a {alone} or an object with {parts}")
    score = value.get("score")
    if score is not None and (isinstance(score, bool) or not isinstance(score, int | float)):
        raise AuditError(f"score {_short(score)} is not a number")
    text = value.get("text")
    if text is not None and not isinstance(text, str):
        raise AuditError(f"the text of an output is {_short(text)}; it must be a text")
    _refuse_letters(text or "", "an output")
    try:
        return Output(value.get("label"), None if score is None else float(score), text)
    except OverflowError:
        raise AuditError(f"score {_short(score)} is not a number from 0 to 1") from None


def _refuse_letters(text: str, name: str) -> None:
    """Raises AuditError for what no database and no file in UTF-8 can hold."""
    if "\0" in text:
        raise AuditError(f"{name} holds a NUL byte; remove it")
    if any("\ud800" <= letter <= "\udfff" for letter in text):
        raise AuditError(f"{name} holds half a character (a lone surrogate); write the file as UTF-8")


def _short(value: object) -> str:
    spelling = repr(value)
    return spelling if len(spelling) <= 60 else f"{spelling[:57]}..."


def _say(output: Output) -> str:
    if output.absent:
        return "nothing"
    return repr(output.text) if output.label is None else f"{output.label} ({output.score})"


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


def import_run(engine: Engine, read: ReadRun, seed: int = 0) -> Imported:
    """Store a run as a study of its own, in one transaction. Importing it again changes nothing."""
    task, content, records = read.task, read.content, read.records
    study = {
        "key": digest("import", task, content, str(seed)),
        "task": task,
        "corpus": read.name,
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
        existing_id = connection.execute(select(table.c.id).where(table.c.key == study["key"])).scalar()
        if existing_id is not None:
            return Imported(int(existing_id), False, 0, 0, 0, *_names(records), dict.fromkeys(VERDICTS, 0))
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
    """Store everything that the records say; how many sources and groups that makes."""
    source_ids = _add_sources(connection, study_id, seed, numbered)
    ids = input_ids(connection, (member for _, record in numbered for member in record.members))
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
        for step, (member, role) in enumerate(zip(record.members, record.roles, strict=True)):
            members.append({"group_id": id, "step": step, "input_id": ids[member.key], "role": role})
        outputs += _output_rows(record, system, ids)
        verdicts.append(
            {"group_id": id, "system_id": system, "outcome": int(record.outcome), "value": None, "reason": None}
        )
    insert_new(connection, tables.Group, list(groups.values()))
    insert_new(connection, tables.Member, members)
    insert_new(connection, tables.Output, outputs)
    insert_new(connection, tables.Verdict, verdicts)
    return len(source_ids), len(groups)


def _add_sources(
    connection: Connection, study_id: int, seed: int, numbered: list[tuple[str, Record]]
) -> dict[str, int]:
    """Insert the sources of the records in the order of their permanent random numbers; their ids by row."""
    rows = {
        row: Row(row, record.members[0], record.gold, record.cluster or record.source_key, record.attributes)
        for row, record in numbered
    }
    numbers = {key: uniform(seed, row.key) for key, row in rows.items()}
    drawn = sorted(rows.values(), key=lambda row: (numbers[row.key], row.key))
    add_sources(connection, study_id, [(numbers[row.key], row) for row in drawn])
    source = table_of(tables.Source)
    query = select(source.c.row, source.c.id).where(source.c.study_id == study_id)
    return {row[0]: int(row[1]) for row in connection.execute(query)}


def _output_rows(record: Record, system: int, ids: Mapping[bytes, int]) -> list[dict[str, Any]]:
    """The outputs of a record as rows; `ids` are those of its inputs, by key."""
    return [
        {
            "system_id": system,
            "input_id": ids[member.key],
            "attempt": 1,
            "label": output.label,
            "score": output.score,
            "text": output.text,
            "error": None,
        }
        for member, output in zip(record.members, record.outputs, strict=True)
    ]
