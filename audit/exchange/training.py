"""`audit training-data`: texts with the labels that answers settle, to train or to patch a system on.

A text is in it where its label is settled: answered directly, or carried by a relation from that about its source.
A direct answer goes before carried ones; of several carried ones what all allow is taken. Sources that share a text, or
a document, are of one part: nothing of a source stands in both training and test.
"""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd
from scipy.cluster.hierarchy import DisjointSet
from sqlalchemy import Connection, Engine, select

from audit.errors import AuditError, BadFile
from audit.false_satisfaction.resolution import (
    ALLOWED,
    CARRIED,
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
from audit.store import rows_among, snapshot
from audit.store.core import group, input_table, source, study, system
from audit.store.outcomes import find_inputs
from audit.tasks import Input, get_task, text_columns
from audit.tasks.questions import Subject

KINDS = {
    (Outcome.SATISFIED, State.FALSE): "false satisfaction",
    (Outcome.SATISFIED, State.TRUE): "true satisfaction",
    (Outcome.VIOLATED, State.FALSE): "genuine violation",
    (Outcome.VIOLATED, State.TRUE): "false violation",
}
"""What a judged group is: a false violation is one whose outputs are all right."""
UNSETTLED, SEARCHED = "unsettled", "searched"


@dataclass(frozen=True)
class TrainingData:
    """What was written: texts with one label in `train` and `test`, with several that are right in `ambiguous`;
    `conflicting` ones, of which no label is allowed by all answers, are left out. `kinds` counts judged groups of each
    system, `unsettled` those that wait for an answer; `largest` is the share of texts in the largest part."""

    out: str
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


@dataclass
class _Text:
    """What is known of one text (or pair of texts); `outputs` has the label that each system gave it."""

    input: Input
    direct: KnownAnswer | None = None
    carried: set[KnownAnswer] = field(default_factory=set)
    roles: set[str] = field(default_factory=set)
    rows: set[str] = field(default_factory=set)
    relations: set[str] = field(default_factory=set)
    kinds: set[str] = field(default_factory=set)
    outputs: dict[str, str | None] = field(default_factory=dict)

    def entry(self) -> dict[str, Any]:
        """Return the line of texts.jsonl; `allowed` is empty where answers conflict."""
        answers = [self.direct] if self.direct else list(self.carried)
        allowed = frozenset.intersection(*(answer.allowed for answer in answers))
        wrong = sorted(name for name, label in self.outputs.items() if label not in allowed)
        return {
            "texts": list(self.input.texts),
            "languages": list(self.input.languages),
            "allowed": sorted(allowed),
            "origin": " + ".join(sorted({answer.origin for answer in answers})),
            **{name: sorted(getattr(self, name)) for name in ("roles", "rows", "relations", "kinds")},
            "wrong": wrong,
            "right": sorted(self.outputs.keys() - set(wrong)),
        }


@dataclass
class _Collection:
    """The texts of one task by key, which of them belong together, and how many groups are of each kind."""

    task: str
    whose: Whose
    answers: dict[Subject, KnownAnswer]
    texts: dict[bytes, _Text] = field(default_factory=dict)
    parts: DisjointSet = field(default_factory=DisjointSet)
    kinds: Counter[str] = field(default_factory=Counter)

    def add(self, item: Input, owners: Sequence[object], role: str, row: str, kind: str, relation: str) -> _Text:
        """The text of a member of a group, which belongs together with its owners."""
        for owner in owners:
            self.parts.add(item.key)
            self.parts.add(owner)
            self.parts.merge(item.key, owner)
        text = self.texts.setdefault(item.key, _Text(item))
        text.roles.add(role)
        text.rows.add(row)
        text.kinds |= {kind} - {UNSETTLED}
        text.relations |= {relation} if role != "source" else set()
        return text


def write_training(
    engine: Engine,
    folder: Path,
    *,
    task: str | None = None,
    whose: Whose = "both",
    test_share: float = 0.2,
    seed: int = 0,
    searches: Sequence[str | Path] = (),
) -> TrainingData:
    """Write train.csv, test.csv, ambiguous.csv and texts.jsonl into a new folder, or nothing at all.

    Of one task (None: the only one), by the answers of `whose`; `test_share` of the sources' parts is for tests, drawn
    by `seed`; `searches` are files that `audit search` wrote. No names of people are in it. Raises AuditError for a
    task whose outputs are judged one by one or that is not there, and where nothing is settled.
    """
    if not 0 <= test_share < 1:
        raise AuditError(f"test_share {test_share:g}: must be at least 0 and below 1", parameter="test_share")
    with snapshot(engine) as connection:
        task = _task(connection, task)
        collected = _Collection(task, whose, known_answers(connection, whose))
        for id in connection.execute(select(study.c.id).where(study.c.task == task)).scalars():
            _add_study(connection, id, collected)
        for place in searches:
            _add_search(connection, place, collected)
    if not any(text.direct or text.carried for text in collected.texts.values()):
        raise AuditError(
            f"no text of task {task} has a settled label; let gold or people answer first (audit gold, audit app)"
        )
    with new_folder(folder) as parts:
        return _write(parts, str(folder), collected, test_share, seed)


def _task(connection: Connection, wanted: str | None) -> str:
    present = sorted(set(connection.execute(select(study.c.task)).scalars()))
    tasks = [str(task) for task in present if get_task(task).question_kind == "input"]
    if not tasks or (wanted in present and wanted not in tasks):
        raise AuditError(
            f"outputs of {wanted or ', '.join(present) or 'no task'} are judged one by one, so no label of a text can "
            "be learned from; run a task whose texts have labels first",
            parameter="task",
        )
    if wanted not in tasks and (wanted or len(tasks) > 1):
        raise AuditError(f"the database has these tasks: {', '.join(tasks)}; name one", parameter="task")
    return wanted or tasks[0]


def _add_study(connection: Connection, id: int, into: _Collection) -> None:
    """Add the members of a study's satisfied and violated groups. Gold answers about every source that has it."""
    if "gold" in ALLOWED[into.whose]:
        for input_id, gold in connection.execute(select(source.c.input_id, source.c.gold).where(has_clear_gold(id))):
            into.answers.setdefault((into.task, input_id, None), KnownAnswer(frozenset({gold}), "gold"))
    names = {row.id: f"{row.name}@{row.version}" for row in connection.execute(select(system))}
    of_study = group.c.study_id == id
    relations = connection.execute(select(group.c.relation_id).where(of_study).distinct()).scalars()
    groups = [
        (outcome, drawn)
        for relation in sorted(relations)
        for outcome in (Outcome.SATISFIED, Outcome.VIOLATED)
        for drawn in satisfied_groups(connection, id, relation, outcome)
    ]
    stored = select(input_table.c.id, input_table.c.texts, input_table.c.languages)
    used = rows_among(connection, stored, input_table.c.id, {step.input_id for _, of in groups for step in of.steps})
    inputs = {row.id: Input.stored(row.texts, row.languages) for row in used}
    rows = select(group.c.id, source.c.row, source.c.cluster).join(source, source.c.id == group.c.source_id)
    row_of = {group_id: (row, cluster) for group_id, row, cluster in connection.execute(rows.where(of_study))}
    for outcome, drawn in groups:
        kind = KINDS.get((outcome, settle_group(drawn, into.answers).state), UNSETTLED)
        into.kinds[kind] += 1
        row, cluster = row_of[drawn.group_id]
        owners: list[object] = [("source", id, row), *([] if cluster is None else [("document", id, cluster)])]
        for step in drawn.steps:
            text = into.add(inputs[step.input_id], owners, step.role, row, kind, drawn.relation)
            text.outputs[names[drawn.system_id]] = step.output.label
            text.direct = into.answers.get(drawn.subject(step)) or text.direct
            if not text.direct and (answer := answer_of(drawn, step, into.answers)):
                text.carried.add(answer)


def _found(place: str | Path) -> Iterator[tuple[dict[str, Any], list[Input]]]:
    """Yield the violations of a search, and their inputs: the source, then the follow-ups."""
    for number, line in enumerate(read_text(place).splitlines(), start=1):
        try:
            entry = parse_json(line)
            if entry["outcome"] == "violation" and entry["output"]:
                texts = [entry["texts"], *(follow_up["texts"] for follow_up in entry["follow_ups"])]
                yield entry, [Input(tuple(of), tuple(entry["languages"])) for of in texts]
        except (ValueError, KeyError, TypeError):
            raise BadFile(
                f"{place}, line {number}: not a line of a search; give what audit search --out FILE.jsonl wrote"
            ) from None


def _add_search(connection: Connection, place: str | Path, into: _Collection) -> None:
    """Add the violations of a search whose truth is carried from an answer of the database, or the search's gold."""
    found = list(_found(place))
    if other := next((entry["task"] for entry, _ in found if entry["task"] != into.task), None):
        raise AuditError(f"{place} is of task {other}, not {into.task}; leave it out, or name its task")
    ids = find_inputs(connection, [item.key for _, inputs in found for item in inputs])
    for entry, inputs in found:
        known = [into.answers.get((into.task, ids.get(item.key, 0), None)) for item in inputs]
        relation = find_relation(into.task, entry["relation"] or "")
        answer = known[0]
        if answer is None and entry["gold"] is not None and "gold" in ALLOWED[into.whose]:
            answer = KnownAnswer(frozenset({entry["gold"]}), "gold")
        if answer is None or relation is None:
            continue
        into.kinds[SEARCHED] += 1
        allowed = None if relation.carry.reads else relation.carry(answer.allowed)
        carried = KnownAnswer(frozenset(allowed or ()), f"{CARRIED} {answer.origin}")
        outputs = [entry["output"], *(follow_up["output"] for follow_up in entry["follow_ups"])]
        owners = [("search", entry["row"], inputs[0].key), inputs[0].key]
        members = list(zip(inputs, known, outputs, strict=True))
        for at, (item, direct, output) in enumerate(members if allowed else members[:1]):
            text = into.add(item, owners, "follow_up" if at else "source", entry["row"], SEARCHED, entry["relation"])
            text.direct = direct or text.direct or (None if at else answer)
            text.carried |= {carried} if at else set()
            text.outputs[entry["system"]] = output["label"]


def _write(place: Path, out: str, collected: _Collection, test_share: float, seed: int) -> TrainingData:
    """Write the files; `document` of a CSV, which is a corpus, is the part."""
    parts, first_source = dict[object, list[bytes]](), dict[object, bytes]()
    for key, text in sorted(collected.texts.items()):
        part = collected.parts[key]
        if text.direct or text.carried:
            parts.setdefault(part, []).append(key)
        if "source" in text.roles:
            first_source.setdefault(part, key)
    entries = list[dict[str, Any]]()
    for number, part in enumerate(sorted(parts, key=lambda part: first_source[part]), start=1):
        # By the first source, so that more answers and other relations leave sources where they were.
        split = "test" if uniform(seed, first_source[part].hex()) < test_share else "train"
        entries += [{"split": split, "part": number} | collected.texts[key].entry() for key in parts[part]]
    settled = [entry for entry in entries if entry["allowed"]]
    lines = "".join(json.dumps(entry, ensure_ascii=False) + "\n" for entry in settled)
    (place / "texts.jsonl").write_text(lines, encoding="utf-8")
    texts, sizes = text_columns(get_task(collected.task).texts), dict[str, int]()
    lists = ["relations", "kinds", "wrong", "right"]
    for name in ("train", "test", "ambiguous"):
        also, of_file = ["allowed"] * (name == "ambiguous"), list[dict[str, Any]]()
        for entry in settled:
            of_file += [entry] if name == (entry["split"] if len(entry["allowed"]) == 1 else "ambiguous") else []
        rows = [
            dict(zip(texts, entry["texts"], strict=True))
            | {"gold": "" if also else entry["allowed"][0], "id": number, "language": entry["languages"][0]}
            | {"document": entry["part"], "origin": entry["origin"]}
            | {column: "|".join(entry[column]) for column in (*lists, *also)}
            for number, entry in enumerate(of_file, start=1)
        ]
        columns = [*texts, "gold", "id", "language", "document", "origin", *lists, *also]
        pd.DataFrame(rows, columns=columns).to_csv(place / f"{name}.csv", index=False, lineterminator="\r\n")
        sizes[name] = len(rows)
    counts = {"conflicting": len(entries) - len(settled), "parts": len(parts)}
    counts |= {name: collected.kinds[name] for name in (UNSETTLED, SEARCHED)}
    kinds = {kind: collected.kinds[kind] for kind in KINDS.values()}
    largest = max(map(len, parts.values())) / len(entries)
    return TrainingData(out, collected.task, **sizes, **counts, kinds=kinds, largest=largest)
