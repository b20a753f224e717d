"""`audit export --format training`: texts with the labels that answers settle, to train or to patch a system on.

A text is in it where its label is settled: answered directly, or carried by a relation from that about its source.
A direct answer goes before carried ones; of several carried ones what all allow is taken. Sources that share a text, or
a document, are of one part: nothing of a source stands in both training and test.
"""

import csv
import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from pydantic import ConfigDict
from sqlalchemy import Connection, Engine, select

from audit.annotation.accounts import require_manager
from audit.annotation.questions import Subject
from audit.errors import AuditError
from audit.false_satisfaction.resolution import (
    ALLOWED,
    CARRIED,
    Drawn,
    KnownAnswer,
    State,
    Whose,
    answer_of,
    known_answers,
    satisfied_groups,
    settle_group,
)
from audit.files import parse_json, read_text
from audit.keys import uniform
from audit.new_files import new_folder
from audit.relations import Outcome, find_relation
from audit.sampling.samples import has_clear_gold
from audit.store import rows_among, snapshot, table_of, tables
from audit.store.outcomes import find_inputs
from audit.tasks import Input, get_task, text_columns
from audit.user_models import UserModel, read_as

TRAIN, TEST = "train", "test"
TEST_SHARE = 0.2
KINDS = {
    (Outcome.SATISFIED, State.FALSE): "false satisfaction",
    (Outcome.SATISFIED, State.TRUE): "true satisfaction",
    (Outcome.VIOLATED, State.FALSE): "genuine violation",
    (Outcome.VIOLATED, State.TRUE): "false violation",
}
"""What a judged group is: a false violation is one whose outputs are all right."""


@dataclass(frozen=True, kw_only=True)
class TrainingRequest:
    """What is written: of which task (None: the only one), by whose answers, which share of the sources' parts is for
    tests, drawn by `seed`, and the files of searches, as `audit search` writes them as JSONL."""

    task: str | None = None
    whose: Whose = "both"
    test_share: float = TEST_SHARE
    seed: int = 0
    searches: Sequence[str | Path] = ()


@dataclass(frozen=True)
class TrainingData:
    """What was written: texts with one label in `train` and `test`, with several that are right in `ambiguous`;
    `conflicting` ones, of which no label is allowed by all answers, are left out. `kinds` counts judged groups of each
    system, `unsettled` those that wait for an answer; `largest` is the share of texts in the largest part."""

    folder: Path
    task: str
    train: int
    test: int
    ambiguous: int
    conflicting: int
    kinds: dict[str, int]
    unsettled: int
    searched: int
    parts: int
    largest: float

    def as_json(self) -> dict[str, Any]:
        """As the command has it in JSON."""
        counts = {name: value for name, value in asdict(self).items() if name != "folder"}
        return {"out": str(self.folder)} | counts


@dataclass
class _Text:
    """What is known of one text (or pair of texts)."""

    input: Input
    direct: KnownAnswer | None = None
    carried: list[KnownAnswer] = field(default_factory=list)
    relations: set[str] = field(default_factory=set)
    roles: set[str] = field(default_factory=set)
    kinds: set[str] = field(default_factory=set)
    outputs: dict[str, str | None] = field(default_factory=dict)
    """System -> the label it gave."""
    rows: set[str] = field(default_factory=set)

    @property
    def allowed(self) -> frozenset[str]:
        """The labels that are right; none where answers conflict."""
        if self.direct is not None:
            return self.direct.allowed
        return frozenset.intersection(*(answer.allowed for answer in self.carried))

    @property
    def origin(self) -> str:
        """Where the label comes from: `gold`, `carried people` ..."""
        return self.direct.origin if self.direct else " + ".join(sorted({answer.origin for answer in self.carried}))

    def entry(self, split: str, part: int) -> dict[str, Any]:
        """The line of texts.jsonl."""
        wrong = sorted(system for system, label in self.outputs.items() if label not in self.allowed)
        return {
            "split": split,
            "texts": list(self.input.texts),
            "languages": list(self.input.languages),
            "allowed": sorted(self.allowed),
            "origin": self.origin,
            "roles": sorted(self.roles),
            "rows": sorted(self.rows),
            "part": part,
            "relations": sorted(self.relations),
            "kinds": sorted(self.kinds),
            "wrong": wrong,
            "right": sorted(self.outputs.keys() - set(wrong)),
        }


class _Parts:
    """Which sources belong together, since they share a text or a document: a union of sets."""

    def __init__(self) -> None:
        self._above: dict[object, object] = {}

    def of(self, thing: object) -> object:
        """What stands for all that belongs together with a thing."""
        while (above := self._above.setdefault(thing, thing)) != thing:
            self._above[thing] = thing = self._above[above]
        return thing

    def join(self, first: object, second: object) -> None:
        """These two belong together."""
        self._above[self.of(first)] = self.of(second)


@dataclass
class _Collected:
    """The texts of one task by key, and which belong together."""

    texts: dict[bytes, _Text] = field(default_factory=dict)
    parts: _Parts = field(default_factory=_Parts)
    kinds: dict[str, int] = field(default_factory=lambda: dict.fromkeys(KINDS.values(), 0))
    unsettled: int = 0
    searched: int = 0

    def text(self, item: Input) -> _Text:
        return self.texts.setdefault(item.key, _Text(item))


def write_training(engine: Engine, folder: Path, request: TrainingRequest, by: int | None = None) -> TrainingData:
    """Write train.csv, test.csv, ambiguous.csv and texts.jsonl into a new folder, or nothing at all.

    The CSVs are what `logreg:FILE` and `audit run --corpus FILE` read; names of people are in none of them. `by` as in
    `export`. Raises AuditError for a task whose outputs are judged one by one, for one that is not there, where nothing
    is settled, and for a test share that is none; NotAllowed; BadFile for a search that cannot be read.
    """
    if not 0 <= request.test_share < 1:
        raise AuditError(f"test_share {request.test_share:g}: must be at least 0 and below 1", parameter="test_share")
    with snapshot(engine) as connection:
        require_manager(connection, by)
        task = _task(connection, request.task)
        collected = _Collected()
        answers = known_answers(connection, request.whose)
        for study in connection.execute(
            select(table_of(tables.Study).c.id).where(table_of(tables.Study).c.task == task)
        ):
            _add_study(connection, study.id, task, answers, request.whose, collected)
        for place in request.searches:
            _add_search(connection, place, task, answers, request.whose, collected)
    known = {key: text for key, text in collected.texts.items() if text.direct or text.carried}
    if not known:
        raise AuditError(
            f"no text of task {task} has a settled label; let gold or people answer first (audit gold, audit app)"
        )
    with new_folder(folder, private=True) as parts:
        return _written(parts, folder, task, known, collected, request)


def _task(connection: Connection, wanted: str | None) -> str:
    study = table_of(tables.Study)
    there = sorted(set(connection.execute(select(study.c.task)).scalars()))
    tasks = [task for task in there if get_task(task).question_kind == "input"]
    if len(tasks) == 1 and wanted is None:
        return str(tasks[0])
    if wanted in tasks:
        return str(wanted)
    if wanted in there:
        raise AuditError(
            f"outputs of {wanted} are judged one by one: no label of a text could be learned from", parameter="task"
        )
    if not tasks:
        raise AuditError("the database has no groups of a task whose texts have labels; make some with a run first")
    said = ", ".join(tasks)
    raise AuditError(f"the database has these tasks: {said}; name one", parameter="task")


def _add_study(
    connection: Connection, study: int, task: str, answers: dict[Subject, KnownAnswer], whose: Whose, into: _Collected
) -> None:
    """Add the members of a study's satisfied and violated groups. Gold answers about every source that has it."""
    source, system, group = table_of(tables.Source), table_of(tables.System), table_of(tables.Group)
    if "gold" in ALLOWED[whose]:
        labelled = select(source.c.input_id, source.c.gold).where(has_clear_gold(study))
        for input_id, gold in connection.execute(labelled):
            answers.setdefault((task, input_id, None), KnownAnswer(frozenset({gold}), "gold"))
    names = {row.id: f"{row.name}@{row.version}" for row in connection.execute(select(system))}
    relations = connection.execute(select(group.c.relation_id).where(group.c.study_id == study).distinct()).scalars()
    groups: list[tuple[Outcome, Drawn]] = [
        (outcome, drawn)
        for relation in sorted(relations)
        for outcome in (Outcome.SATISFIED, Outcome.VIOLATED)
        for drawn in satisfied_groups(connection, study, relation, outcome)
    ]
    inputs = _inputs(connection, {step.input_id for _, drawn in groups for step in drawn.steps})
    rows = _rows(connection, study)
    for outcome, drawn in groups:
        state = settle_group(drawn, answers).state
        kind = KINDS.get((outcome, state))
        if kind:
            into.kinds[kind] += 1
        else:
            into.unsettled += 1
        row, cluster = rows[drawn.group_id]
        owner = ("source", study, row)
        if cluster is not None:
            into.parts.join(owner, ("document", study, cluster))
        for step in drawn.steps:
            item = inputs[step.input_id]
            into.parts.join(item.key, owner)
            text = into.text(item)
            _note(text, answer_of(drawn, step, answers), answers.get(drawn.subject(step)))
            text.roles.add(step.role)
            text.rows.add(row)
            text.kinds |= {kind} if kind else set()
            text.relations |= set() if step.role == "source" else {drawn.relation}
            text.outputs[names[drawn.system_id]] = step.output.label


def _note(text: _Text, answer: KnownAnswer | None, direct: KnownAnswer | None) -> None:
    """Keep an answer about a text; of several carried ones, each once."""
    if direct is not None:
        text.direct = direct
    elif answer is not None and answer not in text.carried:
        text.carried.append(answer)


def _inputs(connection: Connection, ids: Collection[int]) -> dict[int, Input]:
    table = table_of(tables.Input)
    query = select(table.c.id, table.c.texts, table.c.languages)
    return {
        id: Input.stored(texts, languages) for id, texts, languages in rows_among(connection, query, table.c.id, ids)
    }


def _rows(connection: Connection, study: int) -> dict[int, tuple[str, str | None]]:
    """Group -> the row of its source, and the document that this was cut from."""
    group, source = table_of(tables.Group), table_of(tables.Source)
    query = select(group.c.id, source.c.row, source.c.cluster).join(source, source.c.id == group.c.source_id)
    return {id: (row, cluster) for id, row, cluster in connection.execute(query.where(group.c.study_id == study))}


# What a search found.


class _FoundOutput(UserModel):
    model_config = ConfigDict(extra="ignore")
    label: str | None


class _FoundFollowUp(UserModel):
    model_config = ConfigDict(extra="ignore")
    texts: list[str]
    output: _FoundOutput


class _FoundLine(UserModel):
    """What is read of a line that `audit search` wrote."""

    model_config = ConfigDict(extra="ignore")
    task: str
    system: str
    row: str
    texts: list[str]
    languages: list[str]
    gold: str | None
    output: _FoundOutput | None
    outcome: str
    relation: str | None
    follow_ups: list[_FoundFollowUp]


def _found(place: str | Path) -> Iterator[_FoundLine]:
    if Path(place).suffix == ".csv":
        raise AuditError(
            f"{place}: a CSV of a search lacks languages, and follow-ups but the last; search again, which asks "
            "for nothing twice, with out=found.jsonl, and give that",
            parameter="out",
        )
    for number, line in enumerate(read_text(place).splitlines(), start=1):
        where = f"{place}, line {number}"
        try:
            content = parse_json(line)
        except ValueError as problem:
            raise AuditError(f"{where}: no JSON ({problem}); give a JSONL that audit search wrote") from None
        yield read_as(_FoundLine, content, where, "give a JSONL that audit search wrote")


def _add_search(
    connection: Connection,
    place: str | Path,
    task: str,
    answers: Mapping[Subject, KnownAnswer],
    whose: Whose,
    into: _Collected,
) -> None:
    """Add the violations of a search whose truth is carried from an answer of the database, or the search's gold."""
    lines = [line for line in _found(place) if line.outcome == "violation" and line.output is not None]
    if other := next((line.task for line in lines if line.task != task), None):
        raise AuditError(f"{place} is of task {other}, not {task}; leave it out, or name its task")
    ids = find_inputs(
        connection,
        [
            Input(tuple(texts), tuple(line.languages)).key
            for line in lines
            for texts in (line.texts, *(one.texts for one in line.follow_ups))
        ],
    )
    for line in lines:
        item = Input(tuple(line.texts), tuple(line.languages))
        answer = answers.get((task, ids.get(item.key, 0), None))
        if answer is None and line.gold is not None and "gold" in ALLOWED[whose]:
            answer = KnownAnswer(frozenset({line.gold}), "gold")
        relation = find_relation(task, line.relation or "")
        if answer is None or relation is None or line.output is None:
            continue
        members = [(item, line.output.label, answer, "source")]
        allowed = None if relation.carry.reads else relation.carry(answer.allowed)
        if allowed:
            carried = KnownAnswer(allowed, f"{CARRIED} {answer.origin}")
            members += [
                (Input(tuple(one.texts), item.languages), one.output.label, carried, "follow_up")
                for one in line.follow_ups
            ]
        into.searched += 1
        into.parts.join(item.key, ("search", task, line.row, item.key))
        for member, label, known, role in members:
            into.parts.join(member.key, item.key)
            text = into.text(member)
            direct = answers.get((task, ids.get(member.key, 0), None)) or (known if role == "source" else None)
            _note(text, known, direct or text.direct)
            text.roles.add(role)
            text.rows.add(line.row)
            text.kinds.add("searched")
            text.relations |= {line.relation or ""} if role == "follow_up" else set()
            text.outputs[line.system] = label


# The files.


def _written(
    place: Path,
    folder: Path,
    task: str,
    known: Mapping[bytes, _Text],
    collected: _Collected,
    request: TrainingRequest,
) -> TrainingData:
    members: dict[object, list[bytes]] = {}
    for key in sorted(known):
        members.setdefault(collected.parts.of(key), []).append(key)
    entries: list[dict[str, Any]] = []
    conflicting = 0
    firsts: dict[object, bytes] = {}
    for key in sorted((key for key, text in collected.texts.items() if "source" in text.roles), reverse=True):
        firsts[collected.parts.of(key)] = key
    for number, (part, keys) in enumerate(sorted(members.items(), key=lambda part: firsts[part[0]]), start=1):
        # By the first source, so that more answers and other relations leave sources where they were.
        split = TEST if uniform(request.seed, firsts[part].hex()) < request.test_share else TRAIN
        for key in keys:
            if known[key].allowed:
                entries.append(known[key].entry(split, number))
            else:
                conflicting += 1
    alone = {
        split: [one for one in entries if one["split"] == split and len(one["allowed"]) == 1] for split in (TRAIN, TEST)
    }
    ambiguous = [one for one in entries if len(one["allowed"]) > 1]
    names = text_columns(get_task(task).texts)
    for split, rows in alone.items():
        _write_csv(place / f"{split}.csv", names, rows)
    _write_csv(place / "ambiguous.csv", names, ambiguous)
    lines = "".join(json.dumps(entry, ensure_ascii=False) + "\n" for entry in entries)
    (place / "texts.jsonl").write_text(lines, encoding="utf-8")
    return TrainingData(
        folder, task, len(alone[TRAIN]), len(alone[TEST]), len(ambiguous), conflicting, collected.kinds,
        collected.unsettled, collected.searched, len(members), max(map(len, members.values())) / len(known),
    )  # fmt: skip


def _write_csv(place: Path, names: Sequence[str], entries: Sequence[Mapping[str, Any]]) -> None:
    columns = [*names, "gold", "id", "language", "document", "origin", "relations", "kinds", "wrong", "right"]
    columns = [*columns, "allowed"] if place.stem == "ambiguous" else columns
    with place.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, columns, lineterminator="\r\n", extrasaction="ignore")
        writer.writeheader()
        for number, entry in enumerate(entries, start=1):
            joined = {name: "|".join(entry[name]) for name in ("relations", "kinds", "wrong", "right", "allowed")}
            writer.writerow(
                dict(zip(names, entry["texts"], strict=True))
                | joined
                | {"gold": entry["allowed"][0] if len(entry["allowed"]) == 1 else ""}
                | {"id": number, "language": entry["languages"][0], "document": entry["part"]}
                | {"origin": entry["origin"]}
            )


__all__ = ["KINDS", "TEST_SHARE", "TrainingData", "TrainingRequest", "write_training"]
