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
from dataclasses import asdict, dataclass
from itertools import chain
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, ConfigDict, Field, ValidationError, model_validator
from sqlalchemy import Connection, Engine, select

from audit.corpora.base import Row
from audit.corpora.recordings import check_codes
from audit.errors import AuditError
from audit.files import Excessive, parse_json, read_text, refuse_bad_rows, unstorable
from audit.keys import canonical, digest, fingerprint, uniform
from audit.relations import Outcome
from audit.runner.studies import add_sources, named_id
from audit.store import group_id, input_ids, insert_new, table_of, tables
from audit.store.queries import insert_one
from audit.tasks import Input, Output, Task, base_of, get_task
from audit.user_models import Allowed, Mistake, UserModel, mistakes, short

VERDICTS = {outcome.name.lower(): outcome for outcome in Outcome if outcome < Outcome.ERROR}


# A line of the file. It is checked by itself, then with its task, then beside the lines before it.


def _clean(text: str) -> str:
    if fault := unstorable(text):
        raise Mistake(f"holds {fault}")
    if not text.strip():
        raise ValueError
    return text


def _without_null(content: Any) -> Any:
    if isinstance(content, dict):
        return {name: value for name, value in content.items() if value is not None}
    return content


_WORDS = "a text that is not empty"
Text = Annotated[str, AfterValidator(_clean), Allowed(_WORDS)]
Name = Annotated[Text, AfterValidator(str.strip)]
Id = Annotated[Name, BeforeValidator(lambda id: str(id) if type(id) is int else id)]
Texts = Annotated[
    list[Text],
    BeforeValidator(lambda texts: texts if isinstance(texts, list) else [texts]),
    Allowed(f"{_WORDS}, or a list of such", bool),
]


class FollowUp(UserModel):
    """A follow-up: a text, or an object with its role and languages."""

    text: Texts
    language: Name | None = None
    target_language: Name | None = None
    role: Literal["follow_up", "link", "probe"] = "follow_up"

    @model_validator(mode="before")
    @classmethod
    def _of_text(cls, content: Any) -> Any:
        return _without_null(content) if isinstance(content, dict) else {"text": content}


def _attribute_texts(attributes: dict[str, Any]) -> dict[str, str]:
    """The attributes of a source as texts, like the columns of a corpus file."""
    texts = {
        name: value if isinstance(value, str) else canonical(value)
        for name, value in attributes.items()
        if value is not None
    }
    if fault := next(filter(None, map(unstorable, chain(*texts.items()))), None):
        raise Mistake(f"holds {fault}")
    return texts


class Line(UserModel):
    """A line of the file, as it is written; keys that audit does not know are left alone."""

    model_config = ConfigDict(extra="ignore")
    relation: Name
    system: Name
    source: Texts
    follow_ups: Annotated[list[FollowUp], Allowed("a list of at least one text", bool)]
    outputs: list[Any]
    verdict: Literal["satisfied", "violated", "inapplicable"]
    id: Id | None = None
    task: Name = "sentiment"
    version: Name | None = None
    language: Name = "en"
    target_language: Name | None = None
    document: Id | None = None
    gold: Any = None
    attributes: Annotated[
        dict[str, Any], Allowed('an object such as {"length": 12}'), AfterValidator(_attribute_texts)
    ] = Field(default_factory=dict)
    carries: Any = None


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


def _record(number: int, value: object, content: str) -> Record:
    if not isinstance(value, dict):
        raise AuditError(f"a JSON {type(value).__name__}; every line must be one JSON object")
    value = _without_null(value)
    try:
        line = Line.model_validate(value)
    except ValidationError as problem:
        found = mistakes(problem, Line, value)[:3]
        raise AuditError("; ".join(f"{where}: {reason}" for where, reason in found)) from None
    task = get_task(line.task)
    if not task.labels:
        raise AuditError(f"task {task.name!r} has no labels; name its scheme, as in classification/finance,sports")
    members = _members(line, task)
    if len(line.outputs) != len(members):
        raise AuditError(
            f"{len(line.outputs)} outputs for {len(members)} inputs; the source's comes first, then each follow-up's"
        )
    outputs = tuple(task.checked(_output(output, task)) for output in line.outputs)
    if line.verdict != "inapplicable" and any(output.absent for output in outputs):
        raise AuditError(f"an output is null, so that the verdict is inapplicable, not {line.verdict}")
    if line.gold is not None and task.question_kind == "pair":
        raise AuditError(f"gold is {short(line.gold)}, but {task.name} has no gold: a text has many right outputs")
    if line.gold is not None and line.gold not in task.labels:
        raise AuditError(f"gold label {line.gold!r} is not one of {', '.join(task.labels)}")
    return Record(
        line=number,
        task=task.name,
        relation=line.relation,
        system=line.system,
        version=line.version or f"imported {content}",
        source_key=line.id or members[0].key.hex(),
        cluster=line.document,
        gold=line.gold,
        members=members,
        roles=("source", *(follow_up.role for follow_up in line.follow_ups)),
        outputs=outputs,
        outcome=VERDICTS[line.verdict],
        attributes=line.attributes,
        carries=_carries(line.carries, task),
    )


def _members(line: Line, task: Task) -> tuple[Input, ...]:
    """The inputs of a line's group, each with the number of texts and the languages that its task wants."""
    translates = base_of(task.name) == "translation"
    members = []
    for part in (None, *line.follow_ups):
        texts = line.source if part is None else part.text
        language = (part and part.language) or line.language
        target = (part and part.target_language) or line.target_language
        if target is not None and not translates:
            raise AuditError(f"target_language is for translation; {task.name} has none")
        if translates and target is None:
            raise AuditError("target_language missing; a translation is into some language, such as es")
        if target is not None:
            check_codes((language, target))
        if translates and len(texts) != 1:
            raise AuditError(f"an input of {task.name} is one text, not a list of {len(texts)}")
        if task.texts > 1 and len(texts) != task.texts:
            number = "two" if task.texts == 2 else task.texts
            raise AuditError(f"an input of {task.name} is a list of {number} texts, not {len(texts)}")
        members.append(Input.of(*texts, language=language, target=target))
    return tuple(members)


def _carries(value: object, task: Task) -> str | tuple[str, ...] | None:
    """A declaration of what a relation carries, checked against the task's labels."""
    if value is None or value in ("everything", "nothing"):
        return value if value is None else str(value)
    if not isinstance(value, list) or not value or any(label not in task.labels for label in value):
        labels = ", ".join(task.labels)
        raise AuditError(f"carries is {short(value)}; it is everything, nothing, or a list of labels out of {labels}")
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
    for name, here, there in (
        ("gold label of this source is", record.gold, first.gold),
        ("document of this source is", record.cluster, first.cluster),
        ("attributes of this source are", dict(record.attributes), dict(first.attributes)),
    ):
        if here != there:
            raise AuditError(f"the {name} {short(here)} here and {short(there)} in line {first.line}")
    declared = relations.setdefault(record.relation, record)
    if declared.carries != record.carries:
        raise AuditError(
            f"relation {record.relation} carries {short(record.carries)} here and {short(declared.carries)} in line "
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


def _output(value: object, task: Task) -> Output:
    """What stands for an output: an object, or the one thing that the task compares, alone."""
    if value is None and base_of(task.name) == "translation":
        return Output()
    alone = "text" if task.question_kind == "pair" else "score" if base_of(task.name) == "similarity" else "label"
    if isinstance(value, int | float if alone == "score" else str) and not isinstance(value, bool):
        value = {alone: value}
    if not isinstance(value, dict):
        parts = "label and score" if alone == "label" else alone
        raise AuditError(f"output {short(value)} must be a {alone} or an object with {parts}")
    score = value.get("score")
    if score is not None and (isinstance(score, bool) or not isinstance(score, int | float)):
        raise AuditError(f"score {short(score)} is not a number")
    text = value.get("text")
    if text is not None and not isinstance(text, str):
        raise AuditError(f"the text of an output is {short(text)}; it must be a text")
    if fault := unstorable(text or ""):
        raise AuditError(f"an output holds {fault}")
    try:
        return Output(value.get("label"), None if score is None else float(score), text)
    except OverflowError:
        raise AuditError(f"score {short(score)} is not a number from 0 to 1") from None


def _say(output: Output) -> str:
    if output.absent:
        return "nothing"
    said = repr(output.text) if output.label is None else output.label
    return said if output.score is None else f"{said} ({output.score})"


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
    with engine.begin() as connection:
        study_id, new = insert_one(connection, tables.Study, study, "key")
        if not new:
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
        source, relation = source_ids[row], relations[record.relation]
        system = systems[record.system, record.version]
        # Systems that share the follow-ups share the group, as in a run of our own.
        own = system if len(shapes[row, record.relation]) > 1 else None
        id = group_id(source, relation, own)
        groups[id] = {"id": id, "study_id": study_id, "relation_id": relation, "source_id": source, "system_id": own}
        members += [
            {"group_id": id, "step": step, "input_id": ids[member.key], "role": role}
            for step, (member, role) in enumerate(zip(record.members, record.roles, strict=True))
        ]
        outputs += _outputs(record, system, ids)
        verdict: dict[str, Any] = {"outcome": int(record.outcome), "value": None, "reason": None}
        verdicts.append(verdict | {"group_id": id, "system_id": system})
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
    rows_of_study = select(source.c.row, source.c.id).where(source.c.study_id == study_id)
    return {str(row): int(id) for row, id in connection.execute(rows_of_study)}


def _outputs(record: Record, system: int, ids: Mapping[bytes, int]) -> list[dict[str, Any]]:
    """The outputs of a record as rows; `ids` are those of its inputs, by key."""
    return [
        {"system_id": system, "input_id": ids[member.key], "attempt": 1} | asdict(output)
        for member, output in zip(record.members, record.outputs, strict=True)
    ]
