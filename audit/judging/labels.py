"""Labels from elsewhere: `audit import-labels` stores what people said in tables or Label Studio as votes or
adjudications of accounts that cannot log in; `audit gold` lets the labels of a corpus answer questions, apart from
people."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import takewhile
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel, Field, ValidationError
from sqlalchemy import ColumnElement, Connection, Engine, Table, and_, select

from audit.errors import AuditError, BadFile
from audit.false_satisfaction.questions import asked_by
from audit.files import (
    MISSING,
    SHOWN,
    as_text,
    first_lines,
    parse_json,
    plain_frame,
    read_table,
    read_text,
    refuse_unknown_columns,
    text_of,
)
from audit.judging.accounts import checked_name, gold_id, note
from audit.judging.answers import command, is_disputed
from audit.judging.asides import check_comment
from audit.judging.asking import gold_labels, make_questions
from audit.judging.causes import OTHER_REASON, REASONS
from audit.judging.unit import Work, unit_of_work
from audit.judging.words import ELSEWHERE
from audit.keys import normal_text
from audit.messages import with_commas
from audit.store import insert_new, need_study, pieces, rows_among, tables
from audit.store.core import adjudication, annotator, count_rows, input_table, judgement, question, source, study
from audit.store.core import output as output_table
from audit.tasks import Input, Task, base_of, get_task, label_reader, labels_to_write, matches, text_columns
from audit.tasks.classification import PLUS
from audit.tasks.questions import UNSURE, Subject, asks_pairs

if TYPE_CHECKING:
    import pandas as pd

QUESTION = "audit_question"  # The name in a task's `data` under which our export says which question a task is
COLUMNS = ("label", "text", "text_b", "output", "annotator", "language", "target_language", "answer", "reason")
"""What a file of labels may say. `answer` is Prodigy's: a label that was rejected or ignored is none."""
_TEXTS = text_columns(26)
Row = Mapping[str, Any]
"""A label: its place for messages (`where`), the fields of `COLUMNS` that its file has, and from Label Studio the
`question` (its key), `shown_at` and `decided_at`."""


@dataclass(frozen=True)
class Labels:
    """The labels of a file, and how many entries have none, by reason."""

    path: Path
    rows: Sequence[Row]
    without: dict[str, int]


# Reading.


class _Result(BaseModel):
    type: str = ""
    id: str = ""
    from_name: str = ""
    value: dict[str, Any] = {}


class _Annotation(BaseModel):
    result: list[_Result]
    was_cancelled: bool = False
    completed_by: int | str | dict[str, Any] | None = None
    created_at: datetime | None = None
    lead_time: float | None = Field(None, le=1e8)


class _StudioTask(BaseModel):
    """A task of Label Studio (https://labelstud.io/guide/task_format)."""

    data: dict[str, Any]
    annotations: list[_Annotation]


def read_labels(
    path: str | Path, columns: Mapping[str, str] = MappingProxyType({}), content: bytes | None = None
) -> Labels:
    """Read the labels of a table, or of Label Studio's JSON. `columns` has our name -> the file's, of `COLUMNS`: a
    column (`label` may be several with + between them, one for each annotator), or a name in a task's data and for
    `label` the Choices tag. `content` is what an upload holds. Raises BadFile, with the line or task."""
    path = Path(path)
    refuse_unknown_columns(columns, COLUMNS)
    if path.suffix.lower() == ".json":
        with suppress(ValueError):  # reading it as a table says why
            tasks = parse_json(read_text(path) if content is None else text_of(path, content))
            if isinstance(tasks, list) and any(isinstance(task, dict) and "data" in task for task in tasks):
                return _of_studio(path, tasks, columns)
    table = read_table(path, ["label", "text"], COLUMNS, columns=columns, content=content, may_be_empty=["label"])
    return _of_table(path, table, "line")


def frame_labels(frame: "pd.DataFrame", name: str = "labels") -> Labels:
    """Read the labels of a frame with the columns of a table, `annotator` among them; messages call it by its `name`.
    Raises BadFile."""
    plain = plain_frame(frame, name)
    if missing := [column for column in ("text", "label", "annotator") if column not in plain]:
        columns = with_commas(list(plain.columns) or "none")
        raise BadFile(f"{name} has no column {missing[0]!r}; it needs text, label and annotator, has {columns}")
    return _of_table(Path(name), plain.fillna("").map(as_text), "row")


def _of_table(path: Path, table: "pd.DataFrame", place: str) -> Labels:
    rows, without = list[Row](), Counter[str]()
    for line, row in zip(table.index, table.to_dict("records"), strict=True):
        if row["label"] in MISSING:
            without["no label"] += 1
        elif row.get("answer", "accept") != "accept":
            without["not accepted"] += 1
        else:
            rows.append(row | {"where": f"{place} {line}", "annotator": row.get("annotator") or None})
    return Labels(path, rows, dict(without))


def _of_studio(path: Path, tasks: list[Any], columns: Mapping[str, str]) -> Labels:
    rows, without = list[Row](), Counter[str]()
    for number, content in enumerate(tasks, start=1):
        where = f"task {content.get('id', number) if isinstance(content, dict) else number}"
        try:
            task = _StudioTask.model_validate(content)
            task.data.update({ours: task.data.get(theirs) for ours, theirs in columns.items() if ours != "label"})
            labels = [_annotation(task.data, annotation, columns.get("label")) for annotation in task.annotations]
        except ValidationError as problem:
            first = problem.errors()[0]
            reason = f"{'.'.join(map(str, first['loc']))}: {first['msg']}; export the format JSON, not JSON-MIN"
            raise BadFile(f"{path}, {where}: {reason}") from None
        except ValueError as problem:
            raise BadFile(f"{path}, {where}: {problem}", parameter="columns") from None
        for label in labels or ["not annotated"]:
            if isinstance(label, str):
                without[label] += 1
            else:
                rows.append({"where": where, **label})
    return Labels(path, rows, dict(without))


def _annotation(data: dict[str, Any], annotation: _Annotation, tag: str | None) -> Row | str:
    """The label of an annotation, or why it has none. Raises ValueError with what is wrong."""
    if annotation.was_cancelled:
        return "skipped by the annotator"
    choices = [part for part in annotation.result if part.type == "choices" and tag in (None, part.from_name)]
    if len(tags := sorted({part.from_name for part in choices})) > 1:
        raise ValueError(f"choices of several tags ({', '.join(tags)}); choose one with columns=label=TAG")
    chosen = [part.value.get("choices") for part in choices]
    if not any(chosen):
        return "no choice made"
    if len(chosen) > 1 or not isinstance(chosen[0], list):
        raise ValueError(f"{chosen!r:.60} is not a single choice")
    label = PLUS.join(map(str, chosen[0]))  # several where a text may have several labels
    if choices[0].id == exported_id(label):
        return "exported by audit, and not changed since"
    key, who, decided = data.get(QUESTION), annotation.completed_by, annotation.created_at
    if not isinstance(key, str) and not isinstance(data.get("text"), str):
        raise ValueError(f"no text under the name 'text' in {', '.join(data)}: name it with columns=text=NAME")
    if isinstance(who, dict):
        who = who.get("email") or who.get("id")
    if decided is not None:
        decided = decided.replace(tzinfo=UTC) if decided.tzinfo is None else decided.astimezone(UTC)
    return {name: data[name] for name in (*_TEXTS, *COLUMNS) if name in data} | {
        "label": label,
        "annotator": f"label-studio-{who}" if isinstance(who, int) else who or None,
        "question": bytes.fromhex(key) if isinstance(key, str) else None,
        "shown_at": decided and decided - timedelta(seconds=annotation.lead_time) if annotation.lead_time else None,
        "decided_at": decided,
    }


def exported_id(label: str) -> str:
    """Return the id of a result that we exported: Label Studio keeps it, so that it is known when it comes back.

    >>> exported_id("very positive")
    'audit-very_positive'
    """
    return "audit-" + re.sub(r"[^A-Za-z0-9_-]", "_", label)


# Importing.

Role = Literal["annotator", "adjudicator"]
"""What the labels of a file are: votes of annotators, or decisions of adjudicators."""
NO_REASON = "imported"  # The reason of a decision for which the file gives none
NOT_HERE = "text not in the database, in this language and with every text that the task compares"
NO_OUTPUT = "output that no system returned for it"
NO_QUESTION = "no such question"
CONTRADICTORY = "the same annotator gave it different labels"
UNDECIDED = "unsure, which decides nothing"


@dataclass(frozen=True)
class Imported:
    """What an import of labels did. `labels` = added + changed + known + the sum of `unmatched`."""

    labels: int
    added: int
    changed: int  # New ones that take the place of what the same annotator was imported with before
    known: int  # Imported before, or in the file before, with the same label
    opened: int  # Questions that were made for them
    too_few: int  # Questions of these labels that fewer people have answered than are asked: they stay open
    disputed: int  # Questions of these labels whose answers do not settle them: they wait for an adjudicator
    unmatched: dict[str, int]  # Labels that were not used, by reason; `first` has where the first of these is
    first: dict[str, str]
    without: dict[str, int]  # Entries of the file that have no label, by reason
    annotators: list[str]


def import_labels(
    engine: Engine,
    file: Labels,
    *,
    annotator: str | None = None,
    renamed: Mapping[str, str] = MappingProxyType({}),
    task: str | None = None,
    language: str = "en",
    all_known: bool = False,
    role: Role = "annotator",
    by: int | None = None,
) -> Imported:
    """Store labels as judgements, or as adjudications, in one transaction; the same file again adds nothing. A label is
    about a question by its key, or about the input (and where people judge each output, the `output`) that these texts
    in this `language` are; questions are made for what has none, and what the database does not have is counted, or
    refused (`all_known`). `renamed` maps the file's labels to the task's; `annotator` names who gave them, where the
    file names at most one. `by` is a manager's account, or None: the owner of the database. Raises AuditError."""
    with unit_of_work(engine, by, "manager", owner=True) as work:
        work.hold_all()
        connection = work.connection
        of_task = _task(connection, task)
        names = _annotator_names(file, annotator)
        answers = _answers(file, of_task, renamed)
        targets, opened = _targets(connection, file, of_task, language)
        entries = list(zip(file.rows, names, answers, targets, strict=True))
        if all_known:
            texts = [" / ".join(str(row.get(name, "")) for name in _TEXTS[: of_task.texts])[:60] for row in file.rows]
            together = zip(entries, texts, strict=True)
            _refuse(file, [(row["where"], f"{of} ({text})") for (row, *_, of), text in together if isinstance(of, str)])
        said: dict[tuple[str, int], list[tuple[str, Row]]] = {}
        unused: list[tuple[str, str]] = []
        for row, name, answer, target in entries:
            if isinstance(target, str) or (role == "adjudicator" and answer == UNSURE):
                unused.append((target if isinstance(target, str) else UNDECIDED, row["where"]))
            else:
                said.setdefault((name, target), []).append((answer, row))
        clear = {key: labels[0] for key, labels in said.items() if len({answer for answer, _ in labels}) == 1}
        unused += [(CONTRADICTORY, row["where"]) for key in said if key not in clear for _, row in said[key]]
        people = _elsewhere_accounts(connection, sorted({name for name, _ in clear}), role)
        chosen = {(people[name], id): label for (name, id), label in clear.items()}
        added, changed = (_decide if role == "adjudicator" else _vote)(work, chosen)
        if by is not None:
            note(connection, by, "labels imported", added=added, changed=changed)
        work.finish()
        questions = sorted({question_id for _, question_id in chosen})
        too_few = _count(connection, questions, question.c.filled.is_(False)) if role == "annotator" else 0
        disputed = _count(connection, questions, is_disputed())
    return Imported(
        labels=len(file.rows),
        added=added,
        changed=changed,
        known=len(file.rows) - len(unused) - added - changed,
        opened=opened,
        too_few=too_few,
        disputed=disputed,
        unmatched=dict(Counter(reason for reason, _ in unused)),
        first=dict(reversed(unused)),
        without=file.without,
        annotators=sorted(people),
    )


def _count(connection: Connection, ids: Sequence[int], condition: ColumnElement[bool]) -> int:
    return sum(count_rows(connection, question, question.c.id.in_(piece), condition) for piece in pieces(ids))


def _refuse(file: Labels, bad: Sequence[tuple[str, str]], parameter: str = "") -> None:
    """Raise BadFile for labels (where, reason) that are wrong; the first ten are listed."""
    if len(bad) == 1:
        raise BadFile(f"{file.path}, {bad[0][0]}: {bad[0][1]}", parameter=parameter)
    if bad:
        lines = [f"  {place}: {reason}" for place, reason in bad]
        wrong = f"{file.path}: {len(bad):,} of {len(file.rows):,} labels are wrong, so nothing was used:\n"
        raise BadFile(wrong + first_lines(lines, SHOWN), parameter=parameter)


_Chosen = Mapping[tuple[int, int], tuple[str, Row]]
"""(annotator, question) -> the answer, and the label as the file has it."""


def _vote(work: Work, chosen: _Chosen) -> tuple[int, int]:
    """Add votes; another one that the same annotator was imported with before is superseded. Returns how many are new,
    and how many changed."""
    later = judgement.alias("later")
    query = select(judgement).outerjoin(later, later.c.supersedes == judgement.c.id)
    query = query.where(judgement.c.round == 1, later.c.id.is_(None))
    stored = rows_among(work.connection, query, judgement.c.annotator_id, {account for account, _ in chosen})
    before = {(row.annotator_id, row.question_id): (row.answer, row.id) for row in stored}
    same, rows = {"round": 1, "guideline": ELSEWHERE, "client": command("import-labels")}, []
    for key, (answer, label) in chosen.items():
        earlier, id = before.get(key, (None, None))
        if earlier != answer:
            times = {"shown_at": label.get("shown_at"), "decided_at": label.get("decided_at") or tables.now()}
            who = dict(zip(("annotator_id", "question_id"), key, strict=True))
            rows.append({**same, **times, **who, "answer": answer, "supersedes": id})
    work.add(tables.Judgement, rows)
    changed = sum(row["supersedes"] is not None for row in rows)
    return len(rows) - changed, changed


def _decide(work: Work, chosen: _Chosen) -> tuple[int, int]:
    """As `_vote`, for adjudications. What somebody else has decided since stays until the file says otherwise."""
    query = select(adjudication).where(adjudication.c.annotator_id.in_({person for person, _ in chosen}))
    stored = work.connection.execute(query.order_by(adjudication.c.id))
    before = {(row.annotator_id, row.question_id): list(row.allowed) for row in stored}
    rows, changed = [], 0
    for key, (answer, label) in chosen.items():
        if before.get(key) == [answer]:
            continue
        changed += key in before
        written = str(label.get("reason") or "").strip()
        check_comment(written)
        code = written if written in REASONS and written != OTHER_REASON else None
        row = {"annotator_id": key[0], "question_id": key[1], "allowed": [answer], "code": code}
        row |= {"reason": "" if code else written or NO_REASON, "guideline": ELSEWHERE}
        rows.append(row | {"decided_at": label.get("decided_at") or tables.now()})
    work.add(tables.Adjudication, rows)
    return len(rows) - changed, changed


def _task(connection: Connection, name: str | None) -> Task:
    if name is not None and get_task(name).labels:
        return get_task(name)
    stored = connection.execute(select(study.c.task).distinct()).scalars()
    tasks = sorted(candidate for candidate in stored if matches(candidate, name))
    if not tasks:
        raise AuditError("there are no studies of this task yet, so no text to label; run `audit run` first")
    if len(tasks) > 1:
        reason = f"there are studies of several tasks: {with_commas(tasks)}; choose one with task=NAME"
        raise AuditError(reason, parameter="task")
    return get_task(tasks[0])


def _annotator_names(file: Labels, annotator: str | None) -> list[str]:
    """The name of each label's annotator. Raises AuditError where the file and `annotator` do not give one."""
    names = [row.get("annotator") for row in file.rows]
    problem = ""
    if annotator is None and None in names:
        problem = "the file does not say who gave the labels; name them with annotator=NAME"
    elif annotator is not None and len(set(names)) > 1:
        problem = f"the file names {len(set(names))} annotators, annotator would make one of them; leave it out"
    if problem:
        raise AuditError(f"{file.path}: {problem}", parameter="annotator")
    return [checked_name(str(name if annotator is None else annotator)) for name in names]


def _answers(file: Labels, task: Task, renamed: Mapping[str, str]) -> list[str]:
    """Each label in the task's spelling. Raises BadFile for those that are none of its labels."""
    spelled, allowed = label_reader(task), (*labels_to_write(task), UNSURE)

    def read(written: str) -> str | None:
        return UNSURE if written.strip().casefold() == UNSURE else spelled(written)

    mapped = {name.casefold(): read(label) for name, label in renamed.items()}
    if wrong := [(name, label) for name, label in renamed.items() if mapped[name.casefold()] is None]:
        problem = "renamed {0}={1}: {1!r} is not one of {2}".format(*wrong[0], with_commas(allowed))
        raise AuditError(problem, parameter="renamed")
    answers = [mapped.get(row["label"].casefold()) or read(row["label"]) for row in file.rows]
    reason = f"is not one of {', '.join(allowed)}; rename it with renamed"
    unknown = [row for row, answer in zip(file.rows, answers, strict=True) if answer is None]
    _refuse(file, [(row["where"], f"label {row['label']!r} {reason}") for row in unknown], "renamed")
    return [str(answer) for answer in answers]


def _targets(connection: Connection, file: Labels, task: Task, language: str) -> tuple[list[int | str], int]:
    """The question of each label, made where it does not exist, or why there is none; and how many were made."""
    by_key = _ids(connection, question, {row["question"] for row in file.rows if row.get("question")})
    about = [_input(row, task, language) for row in file.rows]
    inputs = _inputs(connection, set(about))
    outputs: dict[tuple[int, str], str] = {}
    if pairs := asks_pairs(task.name):
        of = output_table.c
        query = select(of.input_id, of.text).where(of.text.is_not(None), of.error.is_(None)).distinct()
        returned = rows_among(connection, query, of.input_id, sorted(inputs.values()))
        outputs = {(input_id, normal_text(text)): text for input_id, text in returned}
    targets: list[Subject | int | str] = []
    for row, item in zip(file.rows, about, strict=True):
        input_id = inputs.get(item)
        output = None if input_id is None else outputs.get((input_id, normal_text(str(row.get("output")))))
        if row.get("question"):
            targets.append(by_key.get(row["question"], NO_QUESTION))
        elif input_id is None:
            targets.append(NOT_HERE)
        else:
            targets.append(NO_OUTPUT if pairs and output is None else (task.name, input_id, output))
    wanted = {target for target in targets if isinstance(target, tuple)}
    ids, opened = make_questions(connection, sorted(wanted, key=lambda about: (about[1], about[2] or "")))
    return [ids[target] if isinstance(target, tuple) else target for target in targets], opened


def _input(row: Row, task: Task, language: str) -> Input:
    texts = takewhile(lambda text: isinstance(text, str) and text.strip(), map(row.get, _TEXTS[: task.texts]))
    target = row.get("target_language") if base_of(task.name) == "translation" else None
    return Input.of(
        *(normal_text(str(text)) for text in texts), language=row.get("language") or language, target=target or None
    )


def _inputs(connection: Connection, wanted: set[Input]) -> dict[Input, int]:
    """The stored input of each of these: the same, or one whose texts have the same normal form."""
    ids = _ids(connection, input_table, {item.key for item in wanted})
    inputs = {item: ids[item.key] for item in wanted if item.key in ids}
    if missing := wanted - inputs.keys():
        # Recorded texts are stored as a system saw them, with the blanks at their ends: these are gone through.
        columns = (input_table.c.id, input_table.c.texts, input_table.c.languages)
        for id, texts, languages in connection.execute(select(*columns)):
            item = Input(tuple(map(normal_text, texts)), tuple(languages.split(",")))
            if item in missing:
                inputs.setdefault(item, int(id))
    return inputs


def _ids(connection: Connection, table: Table, keys: Iterable[bytes]) -> dict[bytes, int]:
    rows = rows_among(connection, select(table.c.key, table.c.id), table.c.key, sorted(keys))
    return {bytes(key): id for key, id in rows}


def _elsewhere_accounts(connection: Connection, names: Sequence[str], role: Role) -> dict[str, int]:
    """Accounts for these names, made where they are absent, disabled. An account is one of ours when all that it ever
    answered was answered elsewhere. Raises AuditError for one that is not."""
    existing = select(annotator.c.id, annotator.c.name)
    for id, name in list(rows_among(connection, existing, annotator.c.name, names)):
        answered = (select(table.c.guideline).where(table.c.annotator_id == id) for table in (judgement, adjudication))
        if {version for query in answered for version in connection.execute(query).scalars()} != {ELSEWHERE}:
            reason = "is an account that somebody uses; give who made these labels another name with annotator"
            raise AuditError(f"{name!r} {reason}", parameter="annotator")
    columns = {"role": role, "password": None, "languages": "", "disabled": True, "created_at": tables.now()}
    insert_new(connection, tables.Annotator, [{"name": name} | columns for name in names])
    return {name: id for id, name in rows_among(connection, existing, annotator.c.name, names)}


# `audit gold`. Only questions about inputs: a label says what is true of a text, never whether some system's output for
# it is right. A reference such as a gold summary, compared with the output, is a proxy.


@dataclass(frozen=True)
class GoldAnswers:
    """The counts of questions that gold answered."""

    questions: int  # Questions there are that gold can answer: those about outputs and groups are for people alone
    answered: int
    added: int  # Of these, answered by this call
    contradictory: int  # Questions whose text has different gold labels in different rows: gold says nothing about them


def answer_with_gold(engine: Engine, study_id: int | None = None, *, by: int | None = None) -> GoldAnswers:
    """Answer the question about every source with a gold label, of a study, or of all (None), whether anybody was asked
    or not. Repeating it adds nothing. `by` is a manager's account, or None: the owner of the database."""
    with unit_of_work(engine, by, "manager", owner=True) as work:
        work.hold_all()
        connection = work.connection
        query = select(study.c.task, source.c.input_id).join(study, study.c.id == source.c.study_id)
        query, among = query.where(source.c.gold.is_not(None)).distinct(), question.c.kind == "input"
        if study_id is not None:
            need_study(connection, study_id)
            query = query.where(source.c.study_id == study_id)
            among = and_(among, asked_by(connection, [study_id]))
        subjects = [(task, id, None) for task, id in sorted(connection.execute(query)) if not asks_pairs(task)]
        ids, labels, gold = make_questions(connection, subjects)[0], gold_labels(connection), gold_id(connection)
        clear = {ids[about]: min(labels[about[:2]]) for about in subjects if len(labels[about[:2]]) == 1}
        answered = select(judgement.c.question_id).join(question, question.c.id == judgement.c.question_id)
        before = set(connection.execute(answered.where(judgement.c.annotator_id == gold, among)).scalars())
        same = {"annotator_id": gold, "round": 1, "guideline": 0, "client": command("gold"), "decided_at": tables.now()}
        new = [same | {"question_id": id, "answer": label} for id, label in clear.items() if id not in before]
        work.add(tables.Judgement, new)
        total = count_rows(connection, question, among)
    return GoldAnswers(total, len(before | set(clear)), len(new), len(set(subjects)) - len(clear))
