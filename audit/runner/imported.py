"""`audit import-run`: metamorphic groups that somebody else made and checked, one JSON object per line.

    {"relation": "MR1.1", "system": "amazon", "source": "It isn't good.", "follow_ups": ["It is not good."],
     "outputs": [{"label": "negative", "score": 0.9}, "negative"], "verdict": "satisfied"}

docs/formats.md says what else a line may have. Where a source has several groups of one relation and system, each is a
source of its own, clustered with the others, so that a cell's sample has one group per source.

A file is read line by line and checked as a whole before anything is stored. Meanwhile its groups are in a temporary
file, and a hash stands for each thing that lines must agree on. All of it is stored in one transaction.
"""

import json
import marshal
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import chain
from operator import itemgetter
from pathlib import Path
from tempfile import TemporaryFile
from typing import Annotated, Any, Literal

import numpy as np
import pandas as pd
from pydantic import AfterValidator, BeforeValidator, ConfigDict, Field, FiniteFloat, StringConstraints, ValidationError
from sqlalchemy import Connection, Engine, select

from audit.corpora.base import Row
from audit.corpora.recordings import check_codes
from audit.errors import AuditError
from audit.files import read_lines, refuse_bad_rows, unstorable
from audit.keys import canonical, digest, fingerprint, uniform
from audit.messages import counted
from audit.relations import Outcome
from audit.runner.dispatch import few_collections
from audit.runner.progress import Watcher
from audit.runner.studies import Later, add_sources, opened
from audit.store import columns, group_id, insert_new, pieces, store_inputs, table_of, tables, write_much
from audit.store.outcomes import insert_one
from audit.tasks import Input, Output, Task, base_of, get_task
from audit.user_models import UserModel, mistakes, short

NOT_RECORDED = "no output was recorded"  # The error of an output that is null
VERDICTS = {outcome.name.lower(): outcome for outcome in Outcome if outcome <= Outcome.ERROR}
_CHECKED = ("satisfied", "violated", "inapplicable")
_NUL = re.compile(r"(?<!\\)(?:\\\\)*\\u0000")
BATCH = 10_000  # Lines that are stored at once

# A line of the file.

_WORDS = "a text that is not empty"


def _listed(value: Any) -> Any:
    return value if isinstance(value, list) else [value]


def _attributes(attributes: dict[str, Any] | None) -> dict[str, str]:
    kept = ((name, value) for name, value in (attributes or {}).items() if value is not None)
    return {name: value if isinstance(value, str) else canonical(value) for name, value in kept}


Text = Annotated[str, Field(pattern=r"\S", json_schema_extra={"allowed": _WORDS})]
Name = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=1), Field(json_schema_extra={"allowed": _WORDS})
]
Id = Annotated[Name | None, BeforeValidator(lambda value: str(value) if type(value) is int else value)]
Texts = Annotated[
    list[Text],
    BeforeValidator(_listed),
    Field(min_length=1, json_schema_extra={"allowed": f"{_WORDS}, or a list of such"}),
]


class Said(UserModel):
    model_config = ConfigDict(extra="ignore")
    label: str | None = None
    score: FiniteFloat | None = None
    text: str | None = None
    error: str | None = None


class FollowUp(UserModel):
    text: Texts
    gold: Any = None
    language: Name | None = None
    target_language: Name | None = None
    role: Literal["follow_up", "link", "probe"] = "follow_up"


Call = Said | str | FiniteFloat | None


class Line(UserModel):
    """A line of the file; keys that audit does not know are left alone."""

    model_config = ConfigDict(extra="ignore")
    relation: Name
    system: Name
    source: Texts
    follow_ups: Annotated[
        list[Annotated[FollowUp, BeforeValidator(lambda value: value if isinstance(value, dict) else {"text": value})]],
        Field(min_length=1, json_schema_extra={"allowed": "a list of at least one text"}),
    ]
    outputs: list[Call | Annotated[list[Call], Field(min_length=1)]]
    verdict: Literal["satisfied", "violated", "inapplicable", "error"] | None = None
    id: Id = None
    task: Name | None = None
    version: Name | None = None
    language: Name | None = None
    target_language: Name | None = None
    document: Id = None
    gold: Any = None
    attributes: Annotated[dict[str, Any] | None, AfterValidator(_attributes)] = None
    carries: Any = None


def _parsed(written: str) -> Line:
    try:
        line = Line.model_validate_json(written)
    except ValidationError as problem:
        if (first := problem.errors(include_url=False)[0])["type"] == "json_invalid":
            raise AuditError(f"not a JSON object ({first['ctx']['error']})") from None
        faults = mistakes(problem, Line, json.loads(written))[:3]
        raise AuditError("; ".join(f"{where}: {reason}" for where, reason in faults)) from None
    if _NUL.search(written):
        raise AuditError(f"a text holds {unstorable(chr(0))}")
    return line


# What a line means, for its task.

Fields = tuple[str | None, float | None, str | None, str | None]  # Label, score, text and error of an output
Calls = tuple[Fields, ...]  # What a system returned for one input, call by call
_ABSENT: Fields = (None, None, None, None)


def _counting(calls: Calls) -> Fields:
    """Return the output that counts: the first that did not fail."""
    return next((call for call in calls if call[3] is None), calls[0])


@lru_cache(maxsize=30_000)
def _member(name: str, texts: tuple[str, ...], language: str, target: str | None) -> tuple[bytes, Input]:
    task, translates = get_task(name), base_of(name) == "translation"
    if translates != (target is not None):
        raise AuditError(f"target_language is of translations, and of all of them; the task is {task.name}")
    if len(texts) != task.texts and (translates or task.texts > 1):
        raise AuditError(f"an input of {task.name} has {counted(task.texts, 'text')}, not {len(texts)}")
    if target is not None:
        check_codes((language, target))
    item = Input.of(*texts, language=language, target=target)
    return item.key, item


def _calls(said: Any, task: Task) -> Calls:
    return tuple([_fields(call, task) for call in said]) if type(said) is list else (_fields(said, task),)


def _fields(call: Call, task: Task) -> Fields:
    """Return an output, as its task allows it; what stands alone is what the task compares."""
    if isinstance(call, Said):
        return _output(task.name, call.label, call.score, call.text, call.error)
    if call is None:
        return _ABSENT if base_of(task.name) == "translation" else (None, None, None, NOT_RECORDED)
    if isinstance(call, str):
        text = task.question_kind == "pair"
        return _output(task.name, None if text else call, None, call if text else None)
    return _output(task.name, None, call)


@lru_cache(maxsize=30_000)
def _output(
    task: str, label: str | None, score: float | None, text: str | None = None, error: str | None = None
) -> Fields:
    if error is not None:
        return None, None, text, error or NOT_RECORDED
    output = get_task(task).checked(Output(label, score, text))
    return output.label, output.score, output.text, None


def _outcome(verdict: str | None, outputs: Sequence[Fields]) -> Outcome:
    """Return the outcome of a group. Raises AuditError for a verdict that its outputs cannot have."""
    allowed: tuple[str | None, ...] = _CHECKED
    words = f"one of {', '.join(_CHECKED)}"
    if any(output[3] is not None for output in outputs):
        allowed, words = ("error", None), "error or left out, since an output is missing"
    elif _ABSENT in outputs:
        allowed, words = ("inapplicable",), "inapplicable, since an output is null"
    if verdict not in allowed:
        raise AuditError(f"verdict: is {verdict or 'missing'}; it must be {words}")
    return VERDICTS[verdict or "error"]


def _gold(gold: object, task: Task) -> str | None:
    if gold is None:
        return None
    if task.question_kind == "pair":
        raise AuditError(f"gold is {short(gold)}, but {task.name} has no gold: a text has many right outputs")
    if gold not in task.labels:
        raise AuditError(f"gold label {gold!r} is not one of {', '.join(task.labels)}")
    return str(gold)


def _carries(value: Any, task: Task) -> str | None:
    """Return what a relation carries, checked against the task's labels, as canonical JSON."""
    if value is None or value in ("everything", "nothing"):
        return value and canonical(value)
    carried, labels = value, list[Any]()
    if isinstance(value, dict):
        carried = {label: _listed(right) for label, right in value.items()}
        labels = [*carried, *chain(*(right or [None] for right in carried.values()))]
    elif isinstance(value, list):
        labels = carried = sorted(value, key=str)
    if not labels or any(label not in task.labels for label in labels):
        raise AuditError(
            f"carries is {short(value)}; it is everything, nothing, a list of labels, or an object such as "
            f'{{"{task.labels[0]}": "{task.labels[1]}"}}, with labels out of {", ".join(task.labels)}'
        )
    return canonical(carried)


# The whole file.

_LINES = ("line", "source", "facts", "cell", "pair", "group")
_OUTPUTS = ("line", "asked", "calls")
_DISAGREEMENTS = (
    ("source", "facts", "the text, language, gold label, document or attributes of this source are others in line {}"),
    ("asked", "calls", "the system returned something else for the same input in line {}; write several calls as a "
     "list, the same in all lines"),
)  # fmt: skip


class _File:
    """What is known of the lines that were read, with a hash for each thing that lines must agree on."""

    def __init__(self, spool: Any) -> None:
        self.spool = spool
        self.sources: dict[str, tuple[int, Row]] = {}
        self.relations: dict[str, tuple[str | None, int]] = {}  # What each carries, and its first line
        self.systems: dict[tuple[str, str | None], None] = {}
        self.tasks: dict[str, None] = {}
        self.outcomes: Counter[str] = Counter()
        self.labelled: dict[tuple[bytes, str], tuple[int, int, Row]] = {}  # Follow-ups with gold: line, step, row
        self.bad: list[tuple[int, str]] = []

    def read(self, path: Path) -> Iterator[str]:
        """Read and check each line by itself; yields what names the content."""
        frames: tuple[list[pd.DataFrame], list[pd.DataFrame]] = ([], [])
        for numbered in pieces(enumerate(read_lines(path), start=1), BATCH):
            taken = []
            for number, written in numbered:
                yield from written.splitlines()
                if written.strip():
                    try:
                        taken.append(self._taken(number, _parsed(written)))
                    except AuditError as problem:
                        self.bad.append((number, str(problem)))
            hashes = [line[0] for line in taken], [output for line in taken for output in line[1]]
            for kept, rows, names in zip(frames, hashes, (_LINES, _OUTPUTS), strict=True):
                kept.append(pd.DataFrame(np.array(rows, np.int64).reshape(-1, len(names)), columns=list(names)))
            marshal.dump([line[2] for line in taken], self.spool)
        self.lines, self.outputs = (pd.concat(kept, ignore_index=True) for kept in frames)

    def spooled(self) -> Iterator[list[Any]]:
        """Yield what is stored of the lines, many at a time."""
        self.spool.seek(0)
        with suppress(EOFError):
            while True:
                yield marshal.load(self.spool)

    def _taken(self, number: int, line: Line) -> tuple[tuple[int, ...], list[tuple[int, int, int]], tuple[Any, ...]]:
        """Take a line: its hashes, those of its outputs, and what is stored of it."""
        task = get_task(line.task or "sentiment")
        if not task.labels:
            raise AuditError(f"task {task.name!r} has no labels; name its scheme, as in classification/finance,sports")
        language, target = line.language or "en", line.target_language
        members = [_member(task.name, tuple(line.source), language, target)]
        for follow_up in line.follow_ups:
            own = tuple(follow_up.text), follow_up.language or language, follow_up.target_language or target
            members.append(_member(task.name, *own))
        if len(line.outputs) != len(members):
            raise AuditError(
                f"{len(line.outputs)} outputs for {len(members)} inputs; the source's comes first, then each "
                "follow-up's"
            )
        keys, roles = tuple([key for key, _ in members]), ("source", *[follow_up.role for follow_up in line.follow_ups])
        calls = tuple([_calls(said, task) for said in line.outputs])
        outcome = _outcome(line.verdict, [_counting(own) for own in calls])
        gold, *golds = [_gold(gold, task) for gold in (line.gold, *[follow_up.gold for follow_up in line.follow_ups])]
        carries = _carries(line.carries, task)
        carried, at = self.relations.setdefault(line.relation, (carries, number))
        if carried != carries:
            raise AuditError(
                f"relation {line.relation} carries {carries or 'null'} here and {carried or 'null'} in line {at}; say "
                "the same in all its lines"
            )
        self.tasks.setdefault(task.name)
        source, system = line.id or keys[0].hex(), (line.system, line.version)
        self.systems.setdefault(system)
        cluster = line.document or source
        if source not in self.sources:
            row = Row(source, members[0][1], gold, cluster, line.attributes or {})
            self.sources[source] = len(self.sources), row
        for step, label in enumerate(golds, start=1):
            if label is not None:
                apart = Row(source, members[step][1], label, cluster)
                self.labelled.setdefault((keys[step], label), (self.outcomes.total(), step, apart))
        self.outcomes[outcome.name.lower()] += 1
        facts = hash((keys[0], gold, cluster, canonical(line.attributes) if line.attributes else None))
        cell, pair = hash((line.relation, system, source)), hash((line.relation, source))
        outputs = [(number, hash((system, key)), hash(own)) for key, own in zip(keys, calls, strict=True)]
        inputs = tuple([(item.texts, item.languages) for _, item in members])
        stored = source, line.relation, system, keys, inputs, roles, calls, int(outcome)
        return (number, self.sources[source][0], facts, cell, pair, hash((keys, roles))), outputs, stored

    def check(self, path: Path) -> None:
        """Check the lines beside each other. Raises BadRow or BadFile for all that are wrong."""
        lines, outputs, wrong = self.lines, self.outputs, dict[int, str]()
        firsts = lines.groupby(["cell", "group"])["line"].transform("first")
        for line, first in zip(lines["line"], firsts, strict=True):
            if line != first:
                wrong[line] = f"the same group of the same relation and system is in line {first}"
        for frame, (key, said, sentence) in zip((lines, outputs), _DISAGREEMENTS, strict=True):
            firsts = frame.groupby(key)[["line", said]].transform("first")
            other = frame[said] != firsts[said]
            for line, first in zip(frame.loc[other, "line"], firsts.loc[other, "line"], strict=True):
                wrong.setdefault(line, sentence.format(first))
        refuse_bad_rows(path, [*self.bad, *wrong.items()], len(lines) + len(self.bad))
        if len(self.tasks) > 1:
            raise AuditError(f"{path}: rows of several tasks ({', '.join(self.tasks)}); import one file per task")
        # Groups of a cell beyond the first of a source are each a source of their own. Systems that share the
        # follow-ups share the group, as in a run of our own.
        lines["number"] = lines.groupby("cell").cumcount()
        lines["apart"] = lines.groupby(["pair", "number"])["group"].transform("nunique") > 1
        lines["new"] = lines["apart"] | ~lines.duplicated(["pair", "number"])
        outputs["new"] = ~outputs.duplicated("asked")

    def row_name(self, source: str, number: int) -> str:
        """Return the row of a source, or of a group of it beyond the first."""
        name = f"{source}#{1 + number}" if number else source
        while number and name in self.sources:  # an id of the file's own looks like that
            name += "#"
        return name

    def rows(self) -> tuple[dict[str, Row], int]:
        """Return the sources by name, with follow-ups that have gold of their own; and how many have groups."""
        rows = {name: row for name, (_, row) in self.sources.items()}
        names = list(rows)
        beyond = self.lines.loc[self.lines["number"] > 0, ["source", "number"]].drop_duplicates()
        for place, number in beyond.itertuples(index=False):
            name = self.row_name(names[place], number)
            rows[name] = replace(rows[names[place]], key=name)
        number_of_sources = len(rows)
        golden = {(row.input.key, row.gold) for row in rows.values()} if self.labelled else set()
        for key, (place, step, row) in self.labelled.items():
            if key not in golden:
                name = f"{self.row_name(row.key, self.lines['number'][place])}>{step}"
                while name in rows:
                    name += ">"
                rows[name] = replace(row, key=name)
        return rows, number_of_sources


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
    """Store the groups of a file as a study of its own. Importing it again changes nothing. Raises BadFile or BadRow
    (file, line, reason) before anything is stored."""
    path, watcher = Path(path), watcher or Watcher()
    with few_collections(), TemporaryFile() as spool:
        content_read = _File(spool)
        content = fingerprint(content_read.read(path))
        content_read.check(path)
        (task,) = content_read.tasks
        names = list(content_read.relations), list(dict.fromkeys(name for name, _ in content_read.systems))
        rows, sources = content_read.rows()
        study: dict[str, Any] = {
            "key": digest("import", task, content, str(seed)),
            "task": task,
            "corpus": path.name,
            "seed": seed,
        }
        study |= {"fingerprint": content, "unit": "sentence", "limit": None, "imported": True, "chunk": 1}
        study |= {"has_gold": any(row.gold for row in rows.values()), "created_at": tables.now()}
        write_much(engine := opened(database))
        with engine.begin() as connection:
            study_id, new = insert_one(connection, tables.Study, study, "key")
            if not new:
                return Imported(study_id, False, 0, 0, 0, *names, dict.fromkeys(VERDICTS, 0))
            total = content_read.outcomes.total()
            watcher.begin(total)
            drawn = sorted((uniform(seed, name), name) for name in rows)
            add_sources(connection, study_id, [(u, rows[name]) for u, name in drawn])
            del rows, drawn
            for number in _store(connection, study_id, content_read, content):
                watcher.finished(number)
    outcomes, groups = {name: content_read.outcomes[name] for name in VERDICTS}, int(content_read.lines["new"].sum())
    return Imported(study_id, True, sources, groups, total, *names, outcomes)


def _store(connection: Connection, study_id: int, file: _File, content: str) -> Iterator[int]:
    """Store the groups, outputs and verdicts of a file; yields how many lines were, some at a time."""
    source = table_of(tables.Source)
    rows = connection.execute(select(source.c.row, source.c.id).where(source.c.study_id == study_id))
    sources = {str(row): int(id) for row, id in rows}
    relations, systems = dict[str, int](), dict[tuple[str, str | None], int]()
    for name, (carries, _) in file.relations.items():
        params = "{}" if carries is None else f'{{"carries":{carries}}}'
        key = {"task": next(iter(file.tasks)), "version": "imported", "name": name, "params": params}
        relations[name], _ = insert_one(connection, tables.Relation, key, *key)
    for name, version in file.systems:
        key = {"name": name, "version": version or f"imported {content}", "settings": "{}"}
        systems[name, version], _ = insert_one(connection, tables.System, key, *key)
    flags = zip(*(file.lines[name].tolist() for name in ("number", "apart", "new")), strict=True)
    new_output = iter(file.outputs["new"].tolist())
    for kept in file.spooled():
        inputs = {key: item for line in kept for key, item in zip(line[3], line[4], strict=True)}
        ids, _ = store_inputs(connection, {key: Input(*item) for key, item in inputs.items()})
        groups, members, outputs, repeats, verdicts = [], [], [], [], []
        for (row, relation, named, keys, _, roles, calls, outcome), (number, apart, new) in zip(
            kept, flags, strict=False
        ):
            at, system = sources[file.row_name(row, number)], systems[named]
            own = system if apart else None
            id, failed = group_id(at, relations[relation], own), None
            if new:
                groups.append((id, study_id, relations[relation], at, own))
                members += [(id, n, ids[key], role) for n, (key, role) in enumerate(zip(keys, roles, strict=True))]
            for key, own_calls in zip(keys, calls, strict=True):
                output = _counting(own_calls)
                failed = failed or output[3]
                if next(new_output):
                    outputs.append((ids[key], system, 1, *output))
                    if len(own_calls) > 1:
                        repeats += [(ids[key], system, n, *call) for n, call in enumerate(own_calls, start=1)]
            verdicts.append((id, system, outcome, None, failed))
        said = "label score text error"
        for model, stored, names in (
            (tables.Group, groups, "id study_id relation_id source_id system_id"),
            (tables.Member, members, "group_id step input_id role"),
            (tables.Output, outputs, f"input_id system_id attempt {said}"),
            (tables.Repeat, repeats, f"input_id system_id number {said}"),
            (tables.Verdict, verdicts, "group_id system_id outcome value reason"),
        ):
            stored.sort(key=itemgetter(0, 1))  # in the order of their key a database writes them soonest
            insert_new(connection, model, columns(names, stored))
        yield len(kept)
