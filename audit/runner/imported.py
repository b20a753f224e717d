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

A file is read line by line, and checked as a whole before anything is stored: what is known of each line is kept in a
file of its own meanwhile, so that a large one needs little memory. All of it is stored in one transaction, or nothing.
"""

import marshal
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from tempfile import TemporaryFile
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import AfterValidator, ConfigDict, Field, StringConstraints, ValidationError
from sqlalchemy import Connection, Engine, func, select

from audit.corpora.base import Row
from audit.corpora.recordings import check_codes
from audit.errors import AuditError
from audit.files import Excessive, parse_json, read_lines, refuse_bad_rows, unstorable
from audit.keys import canonical, digest, fingerprint, uniform
from audit.relations import Outcome
from audit.runner.dispatch import few_collections
from audit.runner.progress import Watcher
from audit.runner.studies import Later, add_sources, named_id, opened
from audit.store import group_id, insert_new, store_inputs, table_of, tables
from audit.store.queries import insert_one
from audit.tasks import Input, Output, Task, base_of, get_task
from audit.user_models import Allowed, UserModel, mistakes, short

NOT_RECORDED = "no output was recorded"  # The error of an output that is null
VERDICTS = {outcome.name.lower(): outcome for outcome in Outcome if outcome <= Outcome.ERROR}
_COLUMNS = ("label", "score", "text", "error")
_NOTHING = (None,) * 4
BATCH = 5_000  # Lines that are stored at once


# A line of the file, checked by itself, then with its task, then beside the lines before it.


_WORDS = "a text that is not empty"
Text = Annotated[str, Field(pattern=r"\S", json_schema_extra={"allowed": _WORDS})]
Name = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=1), Field(json_schema_extra={"allowed": _WORDS})
]
Texts = Annotated[list[Text], Field(min_length=1, json_schema_extra={"allowed": f"{_WORDS}, or a list of such"})]


class FollowUp(UserModel):
    """A follow-up with its gold label, role and languages."""

    text: Texts
    gold: Any = None
    language: Name | None = None
    target_language: Name | None = None
    role: Literal["follow_up", "link", "probe"] = "follow_up"


def _attribute_texts(attributes: dict[str, Any]) -> dict[str, str]:
    """The attributes of a source as texts, like the columns of a corpus file."""
    return {
        name: value if isinstance(value, str) else canonical(value)
        for name, value in attributes.items()
        if value is not None
    }


class Line(UserModel):
    """A line of the file; keys that audit does not know are left alone."""

    model_config = ConfigDict(extra="ignore")
    relation: Name
    system: Name
    source: Texts
    follow_ups: Annotated[
        list[FollowUp], Field(min_length=1, json_schema_extra={"allowed": "a list of at least one text"})
    ]
    outputs: list[Any]
    verdict: Literal["satisfied", "violated", "inapplicable", "error"] | None = None
    id: Name | None = None
    task: Name = "sentiment"
    version: Name | None = None
    language: Name = "en"
    target_language: Name | None = None
    document: Name | None = None
    gold: Any = None
    attributes: Annotated[
        dict[str, Any], Allowed('an object such as {"length": 12}'), AfterValidator(_attribute_texts)
    ] = Field(default_factory=dict)
    carries: Any = None


def _spelled_out(value: dict[str, Any]) -> dict[str, Any]:
    """A line as `Line` has it: lists of texts, objects of follow-ups, ids as texts, and nothing that is null."""
    line = {name: own for name, own in value.items() if own is not None}
    for name in ("id", "document"):
        if type(line.get(name)) is int:
            line[name] = str(line[name])
    if "source" in line and not isinstance(line["source"], list):
        line["source"] = [line["source"]]
    if isinstance(line.get("follow_ups"), list):
        line["follow_ups"] = [_follow_up(own) for own in line["follow_ups"]]
    return line


def _follow_up(value: Any) -> dict[str, Any]:
    own = (
        {name: part for name, part in value.items() if part is not None} if isinstance(value, dict) else {"text": value}
    )
    if "text" in own and not isinstance(own["text"], list):
        own["text"] = [own["text"]]
    return own


def _fault(value: Any) -> str | None:
    """What a line holds that no database can."""
    if isinstance(value, str):
        return unstorable(value)
    parts = chain(value, value.values()) if isinstance(value, dict) else value if isinstance(value, list) else ()
    return next(filter(None, map(_fault, parts)), None)


class Record(NamedTuple):
    """One checked line: a group and what one system returned for it. `carries` is canonical JSON, None where the line
    does not say."""

    line: int
    task: str
    relation: str
    system: tuple[str, str]
    source: str
    cluster: str | None
    golds: tuple[str | None, ...]
    members: tuple[Input, ...]
    keys: tuple[bytes, ...]
    roles: tuple[str, ...]
    calls: "tuple[Calls, ...]"
    outcome: Outcome
    attributes: Mapping[str, str]
    carries: str | None


Fields = tuple[str | None, float | None, str | None, str | None]
"""Label, score, text and error of an output: tuples are hashed and kept in a third of the time that `Output`s take."""
Calls = tuple[Fields, ...]  # What a system returned for one input, call by call


def _counting(calls: Calls) -> Fields:
    """The output that counts: that of the first call that answered."""
    return calls[0] if len(calls) == 1 else next((call for call in calls if call[3] is None), calls[0])


def _record(number: int, written: str, content: str) -> Record:
    value = parse_json(written)
    if not isinstance(value, dict):
        raise AuditError(f"a JSON {type(value).__name__}; every line must be one JSON object")
    if "\\u" in written and (fault := _fault(value)):
        raise AuditError(f"a text holds {fault}")
    value = _spelled_out(value)
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
    keys, calls = tuple(member.key for member in members), tuple(_calls(output, task) for output in line.outputs)
    source = line.id or keys[0].hex()
    return Record(
        number,
        task.name,
        line.relation,
        (line.system, line.version or f"imported {content}"),
        source,
        line.document,
        tuple(_gold(gold, task) for gold in (line.gold, *(follow_up.gold for follow_up in line.follow_ups))),
        members,
        keys,
        ("source", *(follow_up.role for follow_up in line.follow_ups)),
        calls,
        _outcome(line.verdict, list(map(_counting, calls))),
        line.attributes,
        _carries(line.carries, task),
    )


def _gold(gold: object, task: Task) -> str | None:
    """The gold label of a text, checked against the task."""
    if gold is not None and task.question_kind == "pair":
        raise AuditError(f"gold is {short(gold)}, but {task.name} has no gold: a text has many right outputs")
    if gold is not None and gold not in task.labels:
        raise AuditError(f"gold label {gold!r} is not one of {', '.join(task.labels)}")
    return None if gold is None else str(gold)


def _outcome(verdict: str | None, outputs: Sequence[Fields]) -> Outcome:
    """The verdict of a line as an outcome, which goes with its outputs."""
    failed = any(output[3] is not None for output in outputs)
    if failed and verdict not in (None, "error"):
        raise AuditError(f"an output is missing, so that the verdict is error or left out, not {verdict}")
    if not failed and verdict == "error":
        raise AuditError("verdict: error is of a group with a missing output (null, or an object with error)")
    if not failed and any(output == _NOTHING for output in outputs) and verdict != "inapplicable":
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


def _calls(value: object, task: Task) -> Calls:
    """What a system returned for one input, call by call: a list, or the only one alone."""
    if value == []:
        raise AuditError("an output is an empty list; write null where there is none")
    outputs = (_output(call, task) for call in (value if isinstance(value, list) else [value]))
    checked = (output if output.error is not None else task.checked(output) for output in outputs)
    return tuple((output.label, output.score, output.text, output.error) for output in checked)


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
    if error is not None and not (label is None and score is None):
        raise AuditError("an output has an error and a label or score; it has one of them")
    try:
        return Output(
            label, None if score is None else float(score), text, None if error is None else error or NOT_RECORDED
        )
    except OverflowError:
        raise AuditError(f"score {short(score)} is not a number from 0 to 1") from None


Kept = tuple[Any, ...]
"""Of a record, for the file of its own: row, relation, system, keys, texts and languages, roles, calls, outcome."""


class _Firsts:
    """What was said first of each key, and in which line, as one number: there are millions."""

    def __init__(self) -> None:
        self._packed: dict[int, int] = {}

    def clear(self) -> None:
        self._packed.clear()

    def first(self, key: object, said: object, line: int) -> int | None:
        """Return the line that said something of a key before; None where this is the first."""
        first = self._packed.setdefault(hash(key), (hash(said) & 0xFFFFFFFFFF) << 24 | line) & 0xFFFFFF
        return None if first == line else first

    def other(self, key: object, said: object, line: int) -> int | None:
        """Return the line that said something else of a key; None where none did."""
        packed = (hash(said) & 0xFFFFFFFFFF) << 24 | line
        first = self._packed.setdefault(hash(key), packed)
        return None if first >> 24 == packed >> 24 else first & 0xFFFFFF


class _File:
    """What is known of a file's lines that were read: what later ones must agree with, and what a study needs."""

    def __init__(self) -> None:
        self.rows: dict[str, Row] = {}
        """The sources, and follow-ups with a gold label of their own, which have no groups."""
        self.lines: dict[str, int] = {}  # The first line of each source
        self.relations: dict[str, tuple[str | None, int]] = {}  # What each is said to carry, and where
        self.systems: dict[tuple[str, str], None] = {}
        self.tasks: dict[str, None] = {}
        self.outcomes: Counter[str] = Counter()
        self.apart: set[int] = set()  # Hashes of (row, relation) where systems have groups of their own
        self._cells, self._groups, self._outputs, self._shapes = _Firsts(), _Firsts(), _Firsts(), _Firsts()
        self._more: Counter[int] = Counter()
        """Groups of a relation, a system and a source beyond the first: each is a source of its own,"""
        self._made: set[str] = set()  # with a row of its own
        self._golden: set[tuple[bytes, str]] = set()
        self._labelled: list[tuple[str, Row]] = []
        self._sizes: list[int] = []

    def take(self, record: Record) -> Kept:
        """Return what is stored of a record. Raises AuditError where it contradicts or repeats an earlier one."""
        line, row = record.line, record.source
        while row in self._made:  # somebody's own id looks like one of those below: not the same source
            row += "#"
        cell, group = hash((record.relation, record.system, record.source)), (record.keys, record.roles)
        if (first := self._cells.first(cell, group, line)) is not None:
            first = (
                first if self._cells.other(cell, group, line) is None else self._groups.first((cell, group), 0, line)
            )
            if first is not None:
                raise AuditError(f"the same group of the same relation and system is in line {first}")
        self._agree(record, row)
        if self._cells.other(cell, group, line) is not None:
            self._more[cell] += 1
            row = f"{record.source}#{1 + self._more[cell]}"
            while row in self.lines:
                row += "#"
            self._made.add(row)
        cluster = record.cluster or record.source
        self.rows.setdefault(row, Row(row, record.members[0], record.golds[0], cluster, record.attributes))
        if self._shapes.other((row, record.relation), group, line) is not None:
            self.apart.add(hash((row, record.relation)))
        self._golden.add((record.keys[0], record.golds[0] or ""))
        self._labelled += [
            (f"{row}>{step}", Row("", member, gold, cluster, {}))
            for step, (member, gold) in enumerate(zip(record.members[1:], record.golds[1:], strict=True), start=1)
            if gold is not None
        ]
        self.outcomes[record.outcome.name.lower()] += 1
        inputs = tuple((member.texts, member.languages) for member in record.members)
        own = record.relation, record.system, record.keys, inputs, record.roles, record.calls
        return row, *own, int(record.outcome)

    def _agree(self, record: Record, row: str) -> None:
        line = record.line
        self.tasks.setdefault(record.task)
        self.systems.setdefault(record.system)
        if self.lines.setdefault(row, line) != line:
            self._agree_source(record, self.rows[row], self.lines[row])
        carried, at = self.relations.setdefault(record.relation, (record.carries, line))
        if carried != record.carries:
            raise AuditError(
                f"relation {record.relation} carries {record.carries or 'null'} here and {carried or 'null'} in "
                f"line {at}; say the same in all its lines"
            )
        for key, calls in zip(record.keys, record.calls, strict=True):
            if (other := self._outputs.other((record.system, key), calls, line)) is not None:
                raise AuditError(
                    f"system {record.system[0]} returned {_say(calls)} here and something else in line {other} for the "
                    "same input; write several calls as a list, the same in all lines"
                )

    @staticmethod
    def _agree_source(record: Record, first: Row, line: int) -> None:
        if first.input != record.members[0]:
            raise AuditError(f"the source with the id {record.source!r} has another text or language in line {line}")
        for name, here, there in (
            ("gold label of this source is", record.golds[0], first.gold),
            ("document of this source is", record.cluster or record.source, first.cluster),
            ("attributes of this source are", dict(record.attributes), dict(first.attributes)),
        ):
            if here != there:
                raise AuditError(f"the {name} {short(here)} here and {short(there)} in line {line}")

    def spool(self, kept: list[Any], file: Any) -> None:
        """Put what is stored of some records into a file."""
        self._sizes.append(file.write(marshal.dumps(kept)))

    def spooled(self, file: Any) -> Iterator[list[Kept]]:
        """Yield what was put into a file."""
        file.seek(0)
        for size in self._sizes:
            yield marshal.loads(file.read(size))

    def add_labelled(self) -> int:
        """Add the follow-ups with gold of their own to the rows, once all lines are read; return how many sources have
        groups."""
        for known in (self._cells, self._groups, self._outputs, self._shapes):  # which filled the memory
            known.clear()
        number = len(self.rows)
        for key, row in self._labelled:
            if (golden := (row.input.key, str(row.gold))) not in self._golden:
                self._golden.add(golden)
                while key in self.rows:
                    key += ">"
                self.rows[key] = Row(key, row.input, row.gold, row.cluster, {})
        return number


def _say(calls: Calls) -> str:
    def said(call: Fields) -> str:
        label, score, text, error = call
        scored = repr(text) if label is None else label if score is None else f"{label} ({score})"
        return error or ("nothing" if call == _NOTHING else scored)

    return ", ".join(map(said, calls))


def _read(path: Path, content: str, spool: Any) -> _File:
    """Check every line of a file, and put the records into `spool`. Raises BadRow or BadFile."""
    known, bad, count = _File(), list[tuple[int, str]](), 0
    kept: list[Kept] = []
    for number, line in enumerate(read_lines(path), start=1):
        if not line.strip():
            continue
        count += 1
        try:
            kept.append(known.take(_record(number, line, content)))
        except Excessive as problem:
            bad.append((number, str(problem)))
        except ValueError as problem:
            bad.append((number, f"not a JSON object ({problem})"))
        except AuditError as problem:
            bad.append((number, str(problem)))
        if len(kept) == BATCH:
            known.spool(kept, spool)
            kept = []
    known.spool(kept, spool)
    refuse_bad_rows(path, bad, count)
    if len(known.tasks) > 1:
        raise AuditError(f"{path}: rows of several tasks ({', '.join(sorted(known.tasks))}); import one file per task")
    return known


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


def import_run(database: Engine | Later, path: str | Path, seed: int = 0, watcher: Watcher | None = None) -> Imported:
    """Store the groups of a file as a study of its own. Importing it again changes nothing.

    Raises BadFile or BadRow (file, line, reason) before anything is stored.
    """
    path, watcher = Path(path), watcher or Watcher()
    content = fingerprint(piece for line in read_lines(path) for piece in line.splitlines())
    with few_collections(), TemporaryFile() as spool:
        known = _read(path, content, spool)
        names = list(known.relations), list(dict.fromkeys(name for name, _ in known.systems))
        (task,) = known.tasks
        study = {
            "key": digest("import", task, content, str(seed)),
            "task": task,
            "corpus": path.name,
            "fingerprint": content,
            "unit": "sentence",
            "has_gold": False,
            "seed": seed,
            "limit": None,
            "imported": True,
            "chunk": 1,
            "created_at": tables.now(),
        }
        sources = known.add_labelled()
        study["has_gold"] = any(row.gold for row in known.rows.values())
        with opened(database).begin() as connection:
            study_id, new = insert_one(connection, tables.Study, study, "key")
            if not new:
                return Imported(study_id, False, 0, 0, 0, *names, dict.fromkeys(VERDICTS, 0))
            watcher.begin(known.outcomes.total())
            store = _Store(connection, study_id, seed, known)
            for kept in known.spooled(spool):
                store.add(kept)
                watcher.finished(len(kept))
            group = table_of(tables.Group)
            groups = connection.execute(select(func.count()).where(group.c.study_id == study_id)).scalar() or 0
    outcomes = {name: known.outcomes[name] for name in VERDICTS}
    return Imported(study_id, True, sources, groups, known.outcomes.total(), *names, outcomes)


class _Store:
    """Stores records in a transaction that is under way."""

    def __init__(self, connection: Connection, study_id: int, seed: int, known: _File):
        self._connection, self._study, self._apart = connection, study_id, known.apart
        numbers = {key: uniform(seed, key) for key in known.rows}
        drawn = sorted(known.rows, key=lambda key: (numbers[key], key))
        add_sources(connection, study_id, [(numbers[key], known.rows[key]) for key in drawn])
        source = table_of(tables.Source)
        rows = connection.execute(select(source.c.row, source.c.id).where(source.c.study_id == study_id))
        self._sources = {str(row): int(id) for row, id in rows}
        (task,) = known.tasks
        self._relations = {
            name: named_id(
                connection,
                tables.Relation,
                {
                    "task": task,
                    "name": name,
                    "version": "imported",
                    "params": "{}" if carries is None else f'{{"carries":{carries}}}',
                },
            )
            for name, (carries, _) in known.relations.items()
        }
        self._systems = {
            (name, version): named_id(connection, tables.System, {"name": name, "version": version, "settings": "{}"})
            for name, version in known.systems
        }

    def add(self, kept: Sequence[Kept]) -> None:
        """Store the groups, outputs and verdicts of some records."""
        inputs = {key: item for record in kept for key, item in zip(record[3], record[4], strict=True)}
        ids, _ = store_inputs(self._connection, {key: Input(*item) for key, item in inputs.items()})
        groups: dict[int, dict[str, Any]] = {}
        outputs: dict[tuple[int, int], dict[str, Any]] = {}
        members, repeats, verdicts = [], [], []
        for row, relation_name, named, keys, _, roles, calls, outcome in kept:
            source, relation, system = self._sources[row], self._relations[relation_name], self._systems[named]
            # Systems that share the follow-ups share the group, as in a run of our own.
            own = system if hash((row, relation_name)) in self._apart else None
            id = group_id(source, relation, own)
            if id not in groups:
                group = {"id": id, "study_id": self._study, "relation_id": relation, "source_id": source}
                groups[id] = group | {"system_id": own}
                members += [
                    {"group_id": id, "step": step, "input_id": ids[key], "role": role}
                    for step, (key, role) in enumerate(zip(keys, roles, strict=True))
                ]
            error = None
            for key, made in zip(keys, calls, strict=True):
                counting = _counting(made)
                error = error if error is not None else counting[3]
                of = {"system_id": system, "input_id": ids[key]}
                outputs[system, ids[key]] = of | {"attempt": 1} | dict(zip(_COLUMNS, counting, strict=True))
                if len(made) > 1:
                    numbered = enumerate(made, start=1)
                    repeats += [of | {"number": n} | dict(zip(_COLUMNS, call, strict=True)) for n, call in numbered]
            verdict = {"outcome": outcome, "value": None, "reason": error}
            verdicts.append(verdict | {"group_id": id, "system_id": system})
        insert_new(self._connection, tables.Group, list(groups.values()))
        insert_new(self._connection, tables.Member, members)
        insert_new(self._connection, tables.Output, list(outputs.values()))
        insert_new(self._connection, tables.Repeat, repeats)
        insert_new(self._connection, tables.Verdict, verdicts)
