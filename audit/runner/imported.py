"""`audit import-run`: metamorphic groups that somebody else made and checked, one JSON object per line.

    {"relation": "MR1.1", "system": "amazon", "source": "It isn't good.", "follow_ups": ["It is not good."],
     "outputs": [{"label": "negative", "score": 0.9}, "negative"], "verdict": "satisfied"}

`outputs` holds the source's, then each follow-up's: a label, score or text alone, or an object; a list of such where
the system was asked the same input several times, in that order. An output that is missing is null, or {"error": "..."}
with what went wrong, and perhaps the `text` that the system said instead; the verdict of its group is `error`, or left
out. An input of two texts is a list of them. Optional: `id` (of the source), `gold`, `document`, `language`,
`task`, `version` (of the system), `attributes` (an object of what else is known of the source, by name), `carries` (of
the relation: `"everything"`, `"nothing"`, a list of labels: an answer about the source that holds for the follow-up
too, or an object of such labels and what is then right of the follow-up, {"yes": "no"}; the same in all its lines).
Without it a relation that is registered under the name carries answers as usual, and any other carries none. Where a
source has several groups of one relation and system, each is a source of its own, clustered with the others, so that a
cell's sample has one group per source.

A follow-up may be an object with `text`, and with a `gold` label, a `language`, `target_language` or `role` of its own:
a chain of translations goes from language to language, and what was made from an output on the way has the role `link`.

    {"task": "translation", "relation": "RTT", "system": "ours", "language": "en", "target_language": "es",
     "source": "It rains.", "follow_ups": [{"text": "Llueve.", "language": "es", "target_language": "en",
     "role": "link"}], "outputs": ["Llueve.", "It is raining."], "verdict": "satisfied"}

An output of a translation may be null, where the system does not have the two languages: its group is inapplicable.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
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

NOT_RECORDED = "no output was recorded"
"""The error of an output that is null."""
VERDICTS = {outcome.name.lower(): outcome for outcome in Outcome if outcome <= Outcome.ERROR}


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
    """A follow-up: a text, or an object with its gold label, role and languages."""

    text: Texts
    gold: Any = None
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
    verdict: Literal["satisfied", "violated", "inapplicable", "error"] | None = None
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
    golds: tuple[str | None, ...]
    """The gold label of each member."""
    members: tuple[Input, ...]
    roles: tuple[str, ...]
    calls: tuple[tuple[Output, ...], ...]
    """What the system returned for each member, call by call."""
    outcome: Outcome
    attributes: Mapping[str, str]
    carries: str | None = None
    """What the relation is said to carry, as canonical JSON; None where the line does not say."""

    @property
    def outputs(self) -> tuple[Output, ...]:
        """The output of each member that counts: that of the first call that answered."""
        return tuple(next((call for call in calls if call.error is None), calls[0]) for calls in self.calls)


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
    outputs: dict[object, tuple[tuple[Output, ...], int]] = {}
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
    record = Record(
        line=number,
        task=task.name,
        relation=line.relation,
        system=line.system,
        version=line.version or f"imported {content}",
        source_key=line.id or members[0].key.hex(),
        cluster=line.document,
        golds=tuple(_gold(gold, task) for gold in (line.gold, *(follow_up.gold for follow_up in line.follow_ups))),
        members=members,
        roles=("source", *(follow_up.role for follow_up in line.follow_ups)),
        calls=tuple(_calls(output, task) for output in line.outputs),
        outcome=Outcome.ERROR,
        attributes=line.attributes,
        carries=_carries(line.carries, task),
    )
    return replace(record, outcome=_outcome(line.verdict, record.outputs))


def _gold(gold: object, task: Task) -> str | None:
    """The gold label of a text, checked against the task."""
    if gold is not None and task.question_kind == "pair":
        raise AuditError(f"gold is {short(gold)}, but {task.name} has no gold: a text has many right outputs")
    if gold is not None and gold not in task.labels:
        raise AuditError(f"gold label {gold!r} is not one of {', '.join(task.labels)}")
    return None if gold is None else str(gold)


def _outcome(verdict: str | None, outputs: Sequence[Output]) -> Outcome:
    """The verdict of a line as an outcome, which goes with its outputs."""
    failed = any(output.error is not None for output in outputs)
    if failed and verdict not in (None, "error"):
        raise AuditError(f"an output is missing, so that the verdict is error or left out, not {verdict}")
    if not failed and verdict == "error":
        raise AuditError("verdict: error is of a group with a missing output (null, or an object with error)")
    if not failed and any(output.absent for output in outputs) and verdict != "inapplicable":
        raise AuditError(f"an output is null, so that the verdict is inapplicable, not {verdict}")
    if not failed and verdict is None:
        raise AuditError("verdict: is missing; it must be one of satisfied, violated, inapplicable")
    return VERDICTS[verdict or "error"]


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


def _carries(value: Any, task: Task) -> str | None:
    """A declaration of what a relation carries, checked against the task's labels, as canonical JSON."""
    if value is None or value in ("everything", "nothing"):
        return value and canonical(value)
    carried: Any = value
    if isinstance(value, dict):
        carried = {label: right if isinstance(right, list) else [right] for label, right in value.items()}
        labels = [*carried, *chain(*(right or [None] for right in carried.values()))]
    else:
        labels = carried = sorted(value, key=str) if isinstance(value, list) else []
    if not labels or any(label not in task.labels for label in labels):
        raise AuditError(
            f"carries is {short(value)}; it is everything, nothing, a list of labels, or an object such as "
            f'{{"{task.labels[0]}": "{task.labels[1]}"}}, with labels out of {", ".join(task.labels)}'
        )
    return canonical(carried)


def _agree(
    record: Record,
    seen: dict[object, int],
    outputs: dict[object, tuple[tuple[Output, ...], int]],
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
        ("gold label of this source is", record.golds[0], first.golds[0]),
        ("document of this source is", record.cluster, first.cluster),
        ("attributes of this source are", dict(record.attributes), dict(first.attributes)),
    ):
        if here != there:
            raise AuditError(f"the {name} {short(here)} here and {short(there)} in line {first.line}")
    declared = relations.setdefault(record.relation, record)
    if declared.carries != record.carries:
        raise AuditError(
            f"relation {record.relation} carries {record.carries or 'null'} here and {declared.carries or 'null'} in "
            f"line {declared.line}; say the same in all its lines"
        )
    for member, calls in zip(record.members, record.calls, strict=True):
        before, line = outputs.setdefault((*system, member.key), (calls, record.line))
        if before != calls:
            raise AuditError(
                f"system {record.system} returned {_say(calls)} here and {_say(before)} in line {line} for the same "
                "input; write several calls as a list, the same in all lines"
            )
    seen[group] = record.line


def _calls(value: object, task: Task) -> tuple[Output, ...]:
    """What a system returned for one input, call by call: a list, or the only one alone."""
    if value == []:
        raise AuditError("an output is an empty list; write null where there is none")
    outputs = (_output(call, task) for call in (value if isinstance(value, list) else [value]))
    return tuple(output if output.error is not None else task.checked(output) for output in outputs)


def _output(value: object, task: Task) -> Output:
    """What stands for an output: an object, or the one thing that the task compares, alone."""
    if value is None:
        return Output() if base_of(task.name) == "translation" else Output(error=NOT_RECORDED)
    alone = "text" if task.question_kind == "pair" else "score" if base_of(task.name) == "similarity" else "label"
    if isinstance(value, int | float if alone == "score" else str) and not isinstance(value, bool):
        value = {alone: value}
    if not isinstance(value, dict):
        parts = "label and score" if alone == "label" else alone
        raise AuditError(f"output {short(value)} must be a {alone} or an object with {parts}")
    label, score, text, error = (value.get(name) for name in ("label", "score", "text", "error"))
    if score is not None and (isinstance(score, bool) or not isinstance(score, int | float)):
        raise AuditError(f"score {short(score)} is not a number")
    for name, words in (("text", text), ("error", error)):
        if words is not None and not isinstance(words, str):
            raise AuditError(f"the {name} of an output is {short(words)}; it must be a text")
        if fault := unstorable(words or ""):
            raise AuditError(f"an output holds {fault}")
    if error is not None and not (label is None and score is None):
        raise AuditError("an output has an error and a label or score; it has one of them")
    try:
        return Output(
            label, None if score is None else float(score), text, None if error is None else error or NOT_RECORDED
        )
    except OverflowError:
        raise AuditError(f"score {short(score)} is not a number from 0 to 1") from None


def _say(calls: Sequence[Output]) -> str:
    def said(output: Output) -> str:
        score = "" if output.score is None else f" ({output.score})"
        label = repr(output.text) if output.label is None else f"{output.label}{score}"
        return output.error or ("nothing" if output.absent else label)

    return ", ".join(map(said, calls))


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
        "has_gold": any(any(record.golds) for record in records),
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
            {
                "task": numbered[0][1].task,
                "name": name,
                "version": "imported",
                "params": "{}" if carries is None else f'{{"carries":{carries}}}',
            },
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
    members, outputs, calls, verdicts = [], [], [], []
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
        for member, output, made in zip(record.members, record.outputs, record.calls, strict=True):
            key = {"system_id": system, "input_id": ids[member.key]}
            outputs.append(key | {"attempt": 1} | asdict(output))
            if len(made) > 1:
                calls += [key | {"number": number} | asdict(call) for number, call in enumerate(made, start=1)]
        error = next((output.error for output in record.outputs if output.error is not None), None)
        verdict: dict[str, Any] = {"outcome": int(record.outcome), "value": None, "reason": error}
        verdicts.append(verdict | {"group_id": id, "system_id": system})
    insert_new(connection, tables.Group, list(groups.values()))
    insert_new(connection, tables.Member, members)
    insert_new(connection, tables.Output, outputs)
    insert_new(connection, tables.Repeat, calls)
    insert_new(connection, tables.Verdict, verdicts)
    return len({row for row, _ in numbered}), len(groups)


def _add_sources(
    connection: Connection, study_id: int, seed: int, numbered: list[tuple[str, Record]]
) -> dict[str, int]:
    """Insert the sources of the records, and follow-ups with a gold label of their own as rows without groups, in the
    order of their permanent random numbers; the ids of all by row."""
    rows = {
        row: Row(row, record.members[0], record.golds[0], record.cluster or record.source_key, record.attributes)
        for row, record in numbered
    }
    labelled = {(row.input.key, row.gold) for row in rows.values()}
    for name, record in numbered:
        for step, (member, gold) in enumerate(zip(record.members, record.golds, strict=True)):
            if gold is not None and (member.key, gold) not in labelled:
                labelled.add((member.key, gold))
                key = f"{name}>{step}"
                while key in rows:
                    key += ">"
                rows[key] = Row(key, member, gold, rows[name].cluster, {})
    numbers = {key: uniform(seed, row.key) for key, row in rows.items()}
    drawn = sorted(rows.values(), key=lambda row: (numbers[row.key], row.key))
    add_sources(connection, study_id, [(numbers[row.key], row) for row in drawn])
    source = table_of(tables.Source)
    rows_of_study = select(source.c.row, source.c.id).where(source.c.study_id == study_id)
    return {str(row): int(id) for row, id in connection.execute(rows_of_study)}
