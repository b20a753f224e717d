"""`audit training-data`: texts with the labels that answers settle, to train or to patch a system on.

A text is in it where its label is settled: answered directly, or carried by a relation from that about its source.
A direct answer goes before carried ones; of several carried ones what all allow is taken. Sources that share a text, or
a document, are of one part: nothing of a source stands in both training and test.
"""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, groupby
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
from scipy.cluster.hierarchy import DisjointSet
from sqlalchemy import Connection, Engine, select

from audit.errors import AuditError, BadFile
from audit.false_satisfaction.resolution import (
    CARRIED,
    Answers,
    KnownAnswer,
    State,
    answer_of,
    inputs_of,
    known_answers,
    satisfied_groups,
    settle_group,
)
from audit.files import parse_json, read_text
from audit.keys import uniform
from audit.new_files import new_folder
from audit.relations import Outcome, find_relation
from audit.sampling.samples import has_clear_gold
from audit.store import snapshot
from audit.store.core import group, source, study, system
from audit.store.outcomes import find_inputs
from audit.tasks import Input, get_task, text_columns

KINDS = {
    (Outcome.SATISFIED, State.FALSE): "false satisfaction",
    (Outcome.SATISFIED, State.TRUE): "true satisfaction",
    (Outcome.VIOLATED, State.FALSE): "genuine violation",
    (Outcome.VIOLATED, State.TRUE): "false violation",
}
"""What a judged group is: a false violation is one whose outputs are all right."""
UNSETTLED, SEARCHED = "unsettled", "searched"
SPLITS = ("train", "test")
_LISTS = ("relations", "kinds", "wrong", "right")


@dataclass(frozen=True)
class TrainingData:
    """What was written: texts with one label in `train` and `test`; of `ambiguous` ones several labels are right;
    `conflicting` ones, of which no label is allowed by all answers, are left out. `kinds` counts judged groups of each
    system, `unsettled` those that wait for an answer."""

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


class _Member(NamedTuple):
    """A text in a group of one system. `owners` are what must be in one part with it."""

    item: Input
    owners: Sequence[object]
    role: str
    row: str
    relation: str
    kind: str
    system: str
    label: str | None
    direct: KnownAnswer | None
    carried: KnownAnswer | None


def write_training(
    engine: Engine,
    folder: Path,
    *,
    task: str | None = None,
    test_share: float = 0.2,
    searches: Sequence[str | Path] = (),
) -> TrainingData:
    """Write train.csv, test.csv and texts.jsonl into a new folder, or nothing at all.

    Of one task (None: the only one); a random `test_share` of the sources' parts is for tests; `searches` are files
    that `audit search` wrote. No names of people are in it. Raises AuditError for a task whose outputs are judged one
    by one or that is not there, and where nothing is settled.
    """
    if not 0 <= test_share < 1:
        raise AuditError(f"test_share {test_share:g}: must be at least 0 and below 1", parameter="test_share")
    with snapshot(engine) as connection:
        task = _task(connection, task)
        studies = connection.execute(select(study.c.id).where(study.c.task == task)).scalars().all()
        answers = known_answers(connection)
        for id in studies:
            # Gold answers about every source that has it.
            labelled = select(source.c.input_id, source.c.gold).where(has_clear_gold(id))
            for input_id, gold in connection.execute(labelled):
                answers.setdefault((task, input_id, None), KnownAnswer(frozenset({gold}), "gold"))
        of_studies = (_of_study(connection, id, answers) for id in studies)
        of_searches = (_of_search(connection, place, task, answers) for place in searches)
        members = sorted(chain.from_iterable([*of_studies, *of_searches]), key=lambda member: member.item.key)
    entries = _entries(members, test_share)
    if not entries:
        raise AuditError(
            f"no text of task {task} has a settled label; let gold or people answer first (audit gold, audit app)"
        )
    kinds = Counter(member.kind for member in members if member.role == "source")
    settled = [entry for entry in entries if entry["allowed"]]
    clear = {name: [of for of in settled if of["split"] == name and len(of["allowed"]) == 1] for name in SPLITS}
    with new_folder(folder) as place:
        lines = "".join(json.dumps(entry, ensure_ascii=False) + "\n" for entry in settled)
        (place / "texts.jsonl").write_text(lines, encoding="utf-8")
        for name, of_split in clear.items():
            _table(of_split, text_columns(get_task(task).texts)).to_csv(place / f"{name}.csv", index=False)
    sizes = {name: len(of_split) for name, of_split in clear.items()}
    return TrainingData(
        str(folder), task, **sizes, ambiguous=len(settled) - sum(sizes.values()),
        conflicting=len(entries) - len(settled), kinds={kind: kinds[kind] for kind in KINDS.values()},
        unsettled=kinds[UNSETTLED], searched=kinds[SEARCHED], parts=len({entry["part"] for entry in entries}),
    )  # fmt: skip


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


def _of_study(connection: Connection, id: int, answers: Answers) -> Iterator[_Member]:
    """Yield the members of a study's satisfied and violated groups."""
    names = {row.id: f"{row.name}@{row.version}" for row in connection.execute(select(system))}
    of_study = group.c.study_id == id
    relations = connection.execute(select(group.c.relation_id).where(of_study).distinct()).scalars().all()
    rows = select(group.c.id, source.c.row, source.c.cluster).join(source, source.c.id == group.c.source_id)
    row_of = {group_id: (row, cluster) for group_id, row, cluster in connection.execute(rows.where(of_study))}
    for relation in sorted(relations):
        for outcome in (Outcome.SATISFIED, Outcome.VIOLATED):
            groups = list(satisfied_groups(connection, id, relation, outcome))
            inputs = inputs_of(connection, {step.input_id for of in groups for step in of.steps})
            for of in groups:
                kind = KINDS.get((outcome, settle_group(of, answers).state), UNSETTLED)
                row, cluster = row_of[of.group_id]
                owners = [("source", id, row), *([] if cluster is None else [("document", id, cluster)])]
                for step in of.steps:
                    direct = answers.get(of.subject(step))
                    carried = None if direct else answer_of(of, step, answers)
                    said = (names[of.system_id], step.output.label, direct, carried)
                    yield _Member(inputs[step.input_id], owners, step.role, row, of.relation, kind, *said)


def _of_search(connection: Connection, place: str | Path, task: str, answers: Answers) -> Iterator[_Member]:
    """Yield the members of a search's violations whose truth is carried from an answer of the database, or the
    search's gold."""
    violations = list(_violations(place))
    if other := next((entry["task"] for entry, _ in violations if entry["task"] != task), None):
        raise AuditError(f"{place} is of task {other}, not {task}; leave it out, or name its task")
    ids = find_inputs(connection, [item.key for _, inputs in violations for item in inputs])
    for entry, inputs in violations:
        answered = [answers.get((task, ids.get(item.key, 0), None)) for item in inputs]
        relation = find_relation(task, entry["relation"] or "")
        if answered[0] is None and entry["gold"] is not None:
            answered[0] = KnownAnswer(frozenset({entry["gold"]}), "gold")
        if (answer := answered[0]) is None or relation is None:
            continue
        allowed = None if relation.carry.reads else relation.carry(answer.allowed)
        carried = KnownAnswer(frozenset(allowed or ()), f"{CARRIED} {answer.origin}")
        outputs = [entry["output"], *(follow_up["output"] for follow_up in entry["follow_ups"])]
        owners = [("search", entry["row"], inputs[0].key), inputs[0].key]
        members = list(zip(inputs, answered, outputs, strict=True))
        for at, (item, direct, output) in enumerate(members if allowed else members[:1]):
            said = (entry["system"], output["label"], direct, carried if at else None)
            role = "follow_up" if at else "source"
            yield _Member(item, owners, role, entry["row"], entry["relation"], SEARCHED, *said)


def _violations(place: str | Path) -> Iterator[tuple[dict[str, Any], list[Input]]]:
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


def _entries(members: Sequence[_Member], test_share: float) -> list[dict[str, Any]]:
    """Return the texts that have an answer as lines of texts.jsonl, part by part, each part in one split."""
    parts = DisjointSet()  # texts and what must not be divided
    for member in members:
        for owner in member.owners:
            parts.add(member.item.key)
            parts.add(owner)
            parts.merge(member.item.key, owner)
    first_source, of_part = dict[object, str](), dict[object, list[dict[str, Any]]]()
    for key, same in groupby(members, key=lambda member: member.item.key):
        entry = _entry(list(same))
        if "source" in entry["roles"]:
            first_source.setdefault(parts[key], key.hex())
        if entry["origin"]:
            of_part.setdefault(parts[key], []).append(entry)
    entries = list[dict[str, Any]]()
    for number, part in enumerate(sorted(of_part, key=lambda part: first_source[part]), start=1):
        # By the first source, so that more answers and other relations leave sources where they were.
        split = "test" if uniform(0, first_source[part]) < test_share else "train"
        entries += [{"split": split, "part": number} | entry for entry in of_part[part]]
    return entries


def _entry(members: Sequence[_Member]) -> dict[str, Any]:
    """Return what is known of one text: `origin` is empty without an answer, `allowed` where answers conflict."""
    direct = next((member.direct for member in members if member.direct), None)
    answers = {direct} if direct else {member.carried for member in members if member.carried}
    allowed = frozenset.intersection(*(answer.allowed for answer in answers)) if answers else frozenset()
    labels = {member.system: member.label for member in members}
    wrong = sorted(name for name, label in labels.items() if label not in allowed)
    return {
        "texts": list(members[0].item.texts),
        "languages": list(members[0].item.languages),
        "allowed": sorted(allowed),
        "origin": " + ".join(sorted({answer.origin for answer in answers})),
        "roles": sorted({member.role for member in members}),
        "rows": sorted({member.row for member in members}),
        "relations": sorted({member.relation for member in members if member.role != "source"}),
        "kinds": sorted({member.kind for member in members} - {UNSETTLED}),
        "wrong": wrong,
        "right": sorted(labels.keys() - set(wrong)),
    }


def _table(entries: Sequence[Mapping[str, Any]], texts: Sequence[str]) -> pd.DataFrame:
    """Return texts with one label as a corpus, whose documents are the parts."""
    rows = [
        dict(zip(texts, entry["texts"], strict=True))
        | {"gold": entry["allowed"][0], "id": number, "language": entry["languages"][0]}
        | {"document": entry["part"], "origin": entry["origin"]}
        | {column: "|".join(entry[column]) for column in _LISTS}
        for number, entry in enumerate(entries, start=1)
    ]
    return pd.DataFrame(rows, columns=[*texts, "gold", "id", "language", "document", "origin", *_LISTS])
