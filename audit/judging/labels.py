"""`audit import-labels`: labels that people gave elsewhere become judgements of annotators of their own.

They are votes like any other: a question that wants two annotators is settled by two of them that agree, or by one of
them and somebody who judges it here. The annotators are disabled accounts: nobody can log in as one of them.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlalchemy import BigInteger, ColumnElement, Connection, Engine, Row, Table, and_, cast, exists, func, select, true

from audit.annotation.accounts import GOLD, gold_id
from audit.annotation.answers import UNSURE, command
from audit.annotation.guidelines import ELSEWHERE
from audit.annotation.questions import Subject, asks_pairs, gold_labels, kind_of, question_ids, question_key
from audit.errors import AuditError, BadFile
from audit.false_satisfaction.questions import asked_by
from audit.files import SHOWN, first_lines, parse_json, read_table, read_text
from audit.judging.unit import unit_of_work
from audit.messages import message
from audit.store import insert_new, need_study, pieces, tables
from audit.store.bulk import LIMIT
from audit.store.core import annotator, count_rows, group, input_table, judgement, question, sample, source, study
from audit.store.core import output as output_table
from audit.tasks import Input, Task, base_of, get_task, label_reader, labels_to_write, matches, text_columns
from audit.tasks.classification import PLUS

if TYPE_CHECKING:
    import pandas as pd

QUESTION = "audit_question"
"""The name in a task's `data` under which our export says which question a task is."""
_TEXTS = text_columns(26)


@dataclass(frozen=True, slots=True)
class Label:
    """One label as a file has it. What it is about are an input's texts, a row, or a question by its key."""

    where: str
    """For messages: line 3, task 17."""
    label: str
    annotator: str | None = None
    texts: tuple[str, ...] = ()
    language: str | None = None
    row: str | None = None
    question: bytes | None = None
    target: str | None = None
    """The language that the text is translated into."""
    output: str | None = None
    """The output that is judged, where people judge outputs."""
    shown_at: datetime | None = None
    decided_at: datetime | None = None


@dataclass(frozen=True)
class Labels:
    """The labels of a file, and how many entries have none, by reason."""

    path: Path
    labels: Sequence[Label]
    without: dict[str, int]


def read_labels(path: str | Path, control: str | None = None) -> Labels:
    """The labels of a CSV (`.csv`) or of Label Studio's JSON (`.json`).

    `control` names the Choices tag that is meant, where tasks have several. Raises BadFile for a file that cannot be
    read, is of another kind or has entries that cannot be understood (with their lines or tasks, ten at most).
    """
    path = Path(path)
    kind = path.suffix.lower()
    if kind not in (".csv", ".json"):
        raise BadFile(message("labels.bad_suffix", file=path))
    text = read_text(path)
    if kind == ".json":
        return _label_studio(path, text, control)
    if control is not None:
        raise BadFile(message("labels.control_in_csv", file=path), parameter="control")
    return _csv(path, text)


def refuse(path: Path, bad: Sequence[tuple[str, str]], number: int, parameter: str = "") -> None:
    """Raise BadFile for entries (where, reason) that are wrong; the first ten are listed."""
    if len(bad) == 1:
        raise BadFile(message("file.at_place", file=path, place=bad[0][0], reason=bad[0][1]), parameter=parameter)
    if bad:
        lines = [message("file.place", place=place, reason=reason) for place, reason in bad]
        wrong = message("labels.wrong", file=path, count=len(bad), whole=number, lines=first_lines(lines, SHOWN))
        raise BadFile(wrong, parameter=parameter)


def _csv(path: Path, text: str) -> Labels:
    header, rows = read_table(path, text, message("labels.wanted"))
    return _checked(path, header, [(f"line {line}", fields) for line, fields in rows])


def frame_labels(frame: "pd.DataFrame", name: str = "labels") -> Labels:
    """The labels of a frame with the columns of a CSV, `annotator` among them; messages call it by its `name`.

    Raises BadFile for a column that is missing, fields that are, and a frame without rows.
    """
    header = [str(column).strip() for column in frame.columns]
    if missing := [column for column in ("label", "annotator") if column not in header]:
        columns = header or message("list.none")
        raise BadFile(message("labels.no_column", name=name, column=missing[0], columns=columns))
    if frame.empty:
        raise BadFile(message("labels.no_rows", name=name))
    fields = frame.astype(object).where(frame.notna(), "").itertuples(index=False, name=None)
    rows = [(f"row {number}", [str(value).strip() for value in row]) for number, row in enumerate(fields, start=1)]
    return _checked(Path(name), header, rows)


def _checked(path: Path, header: Sequence[str], rows: Sequence[tuple[str, Sequence[str]]]) -> Labels:
    """The labels of rows, each with its place for messages."""
    if "label" not in header or ("text" in header) == ("row" in header):
        raise BadFile(message("labels.columns", file=path, columns=header, wanted=message("labels.wanted")))
    bad: list[tuple[str, str]] = []
    labels: list[Label] = []
    empty = 0
    for where, fields in rows:
        if len(fields) != len(header):
            bad.append((where, message("file.fields", count=len(fields), expected=len(header))))
            continue
        row = dict(zip(header, fields, strict=True))
        if not (row.get("text") or row.get("row")):
            bad.append((where, "the column text or row is empty"))
        elif row.get("annotator") == "":
            bad.append((where, "the column annotator is empty; every label needs somebody who gave it"))
        elif not row["label"]:
            empty += 1
        else:
            labels.append(Label(where, row["label"], row.get("annotator"), row=row.get("row"), **_subject(row)))
    refuse(path, bad, len(rows))
    return Labels(path, labels, {"no label": empty} if empty else {})


def _subject(row: Mapping[str, Any]) -> dict[str, Any]:
    """What a row, or a task's data, says of the input that its label is about, as parameters of `Label`."""
    texts = takewhile(lambda text: isinstance(text, str) and text.strip(), map(row.get, _TEXTS))
    return {
        "texts": tuple(str(text).strip() for text in texts),
        "language": str(row.get("language") or "") or None,
        "target": str(row.get("target_language") or "") or None,
        "output": str(row.get("output") or "").strip() or None,
    }


def _label_studio(path: Path, text: str, control: str | None) -> Labels:
    try:
        tasks = parse_json(text)
    except ValueError as problem:
        raise BadFile(
            message("file.not_json", file=path, reason=problem, advice=message("labels.export_json"))
        ) from None
    if not isinstance(tasks, list) or not all(isinstance(task, dict) and "data" in task for task in tasks):
        raise BadFile(message("labels.no_tasks", file=path))
    bad: list[tuple[str, str]] = []
    labels: list[Label] = []
    without: Counter[str] = Counter()
    for number, task in enumerate(tasks, start=1):
        where = f"task {task.get('id', number)}"
        annotations = task.get("annotations")
        if not isinstance(annotations, list) or not isinstance(task["data"], dict):
            bad.append((where, "no list of annotations, or no data; export the format JSON, not JSON-MIN"))
            continue
        if not annotations:
            without["not annotated"] += 1
        for annotation in annotations:
            label = _annotation(where, task["data"], annotation, control)
            if isinstance(label, Label):
                labels.append(label)
            elif label in (_SKIPPED, _EMPTY, _OURS):
                without[label] += 1
            else:
                bad.append((where, label))
    refuse(path, bad, len(tasks), parameter="control")
    return Labels(path, labels, dict(without))


_SKIPPED = "skipped by the annotator"
_EMPTY = "no choice made"
_OURS = "exported by audit, and not changed since"


def _annotation(where: str, data: dict[str, Any], annotation: Any, control: str | None) -> Label | str:
    """The label of one annotation, or why there is none."""
    if not isinstance(annotation, dict) or not isinstance(annotation.get("result"), list):
        return "an annotation without a list of results"
    if annotation.get("was_cancelled"):
        return _SKIPPED
    results = [
        result for result in annotation["result"] if isinstance(result, dict) and result.get("type") == "choices"
    ]
    tags = sorted({str(result.get("from_name")) for result in results})
    if control is not None:
        results = [result for result in results if result.get("from_name") == control]
    elif len(tags) > 1:
        return f"choices of several tags ({', '.join(tags)}); choose one with control=TAG"
    chosen = [result.get("value", {}).get("choices") for result in results if isinstance(result.get("value"), dict)]
    if not any(chosen):
        return _EMPTY
    if len(chosen) > 1 or not isinstance(chosen[0], list):
        return f"{chosen!r:.60} is not a single choice"
    label = PLUS.join(map(str, chosen[0]))  # several where a text may have several labels
    if any(result.get("id") == exported_id(label) for result in results):
        return _OURS
    key, text = data.get(QUESTION), data.get("text")
    if not isinstance(key, str) and not isinstance(text, str):
        return "the data has no text under the name 'text'"
    try:
        question = bytes.fromhex(key) if isinstance(key, str) else None
        decided, shown = _times(annotation)
    except (TypeError, ValueError) as problem:
        return f"{QUESTION} or created_at cannot be read ({problem})"
    return Label(
        where,
        label,
        _annotator_of(annotation.get("completed_by")),
        question=question,
        shown_at=shown,
        decided_at=decided,
        **_subject(data),
    )


def exported_id(label: str) -> str:
    """The id of a result that we exported: Label Studio keeps it, so that it is known when it comes back as it was.

    >>> exported_id("very positive")
    'audit-very_positive'
    """
    return "audit-" + re.sub(r"[^A-Za-z0-9_-]", "_", label)


def _annotator_of(completed_by: Any) -> str | None:
    """The annotator's e-mail address where the export has it, else their number."""
    if isinstance(completed_by, dict):
        completed_by = completed_by.get("email") or completed_by.get("id")
    return f"label-studio-{completed_by}" if isinstance(completed_by, int) else completed_by or None


def _times(annotation: dict[str, Any]) -> tuple[datetime | None, datetime | None]:
    """When it was decided and shown: `created_at`, and so many seconds (`lead_time`) before."""
    if not annotation.get("created_at"):
        return None, None
    decided = datetime.fromisoformat(annotation["created_at"])
    decided = decided.replace(tzinfo=UTC) if decided.tzinfo is None else decided.astimezone(UTC)
    lead = annotation.get("lead_time")
    return decided, decided - timedelta(seconds=float(lead)) if lead is not None else None


ROLE = "annotator"
NOT_HERE = "text not in the database"
NOT_IN_LANGUAGE = "text in the database in the language {} alone, not in that of the labels"
NO_ROW = "no such row in a study"
NO_OUTPUT = "output that no system returned for it"
NO_QUESTION = "no such question"
CONTRADICTORY = "the same annotator gave it different labels"


@dataclass(frozen=True)
class Imported:
    """What an import of labels did. `labels` = added + changed + known + repeated + the sum of `unmatched`."""

    labels: int
    added: int
    changed: int
    """New judgements that supersede what the same annotator was imported with before."""
    known: int
    """Imported before, with the same label."""
    repeated: int
    """In the file more than once."""
    opened: int
    """Questions that were made for them."""
    too_few: int
    """Questions that these labels are about and fewer people have answered than are asked: they stay open."""
    unmatched: dict[str, int]
    """Labels that were not used, by reason."""
    first: dict[str, str]
    """Where the first of these is, by reason."""
    without: dict[str, int]
    """Entries of the file that have no label, by reason."""
    annotators: list[str]


def import_labels(
    engine: Engine,
    file: Labels,
    *,
    annotator: str | None = None,
    renamed: Mapping[str, str] | None = None,
    task: str | None = None,
    language: str = "en",
    study: int | None = None,
    by: int | None = None,
    all_known: str | None = None,
) -> Imported:
    """Store labels as judgements, in one transaction; the same file again adds nothing.

    A label is about a question by its key (`audit export` writes it for Label Studio), about the input that these
    texts in this `language` are, or about the source with this row (of one `study`, or of all); where people judge each
    output (summaries, translations), about an `output` of that input. Questions are made for what has none yet. What
    the database does not have is counted, not stored; with `all_known`, a hint, it is refused, and the hint ends the
    message. `renamed` maps the file's labels to the task's; letters' case does not count. `annotator` names who gave
    them, where the file names nobody or a single one. Raises BadFile for unknown labels (with their lines and what is
    allowed), for rows that stand for several texts, and for labels without a second text, a language or an output that
    the task needs; AuditError for annotators that nobody named or that are people with an account here, and where the
    task is not clear; NotAllowed unless the account `by` is a manager's (None: whoever has the database itself).
    """
    with unit_of_work(engine, by, "manager", owner=True) as work:
        work.hold_all()
        connection = work.connection
        target_task = _task(connection, task)
        _need_subjects(file, target_task)
        annotators = _annotator_names(file, annotator)
        answers = _labels_of_task(file, target_task, renamed or {})
        if study is not None:
            need_study(connection, study)
        targets, opened = _questions(connection, file, target_task, language, study)
        if all_known is not None:
            _refuse_unknown(file, targets, all_known)
        matched = _matched(file.labels, answers, annotators, targets)
        people = elsewhere_accounts(connection, sorted({name for name, _ in matched.chosen}))
        before = current_judgements(connection, people.values())
        rows = [
            _judgement_row(label, answer, question_id, people[name], earlier)
            for (name, question_id), (label, answer) in matched.chosen.items()
            if (earlier := before.get((people[name], question_id))) is None or earlier.answer != answer
        ]
        work.add(tables.Judgement, rows)
        work.finish()
        too_few = _open(connection, {question_id for _, question_id in matched.chosen})
    changed = sum(row["supersedes"] is not None for row in rows)
    return Imported(
        labels=len(file.labels),
        added=len(rows) - changed,
        changed=changed,
        known=len(matched.chosen) - len(rows),
        repeated=matched.repeated,
        opened=opened,
        too_few=too_few,
        unmatched=dict(matched.unmatched),
        first=matched.first,
        without=file.without,
        annotators=sorted(people),
    )


@dataclass
class _Matched:
    """The label of each (annotator, question) that has a single one, and the labels that were not used."""

    chosen: dict[tuple[str, int], tuple[Label, str]] = field(default_factory=dict)
    """With the answer that it stands for."""
    repeated: int = 0
    unmatched: Counter[str] = field(default_factory=Counter)
    first: dict[str, str] = field(default_factory=dict)

    def leave_out(self, label: Label, reason: str) -> None:
        self.unmatched[reason] += 1
        self.first.setdefault(reason, label.where)


def _matched(
    labels: Sequence[Label], answers: Sequence[str], annotators: Sequence[str], targets: Sequence[int | str]
) -> _Matched:
    """Choose labels; all arguments are (labels,), `targets` a question's id or the reason why there is none."""
    matched = _Matched()
    contradictory: set[tuple[str, int]] = set()
    for label, answer, name, target in zip(labels, answers, annotators, targets, strict=True):
        if isinstance(target, str):
            matched.leave_out(label, target)
            continue
        key = (name, target)
        if key in contradictory:
            matched.leave_out(label, CONTRADICTORY)
        elif key not in matched.chosen:
            matched.chosen[key] = (label, answer)
        elif matched.chosen[key][1] == answer:
            matched.repeated += 1
        else:
            contradictory.add(key)
            matched.leave_out(matched.chosen.pop(key)[0], CONTRADICTORY)
            matched.leave_out(label, CONTRADICTORY)
    return matched


def _open(connection: Connection, ids: Iterable[int]) -> int:
    """How many of these questions fewer people have answered than are asked."""
    return sum(
        count_rows(connection, question, question.c.id.in_(piece), question.c.filled.is_(False))
        for piece in pieces(sorted(ids))
    )


def _judgement_row(
    label: Label, answer: str, question_id: int, annotator_id: int, earlier: Row[Any] | None
) -> dict[str, Any]:
    return {
        "question_id": question_id,
        "annotator_id": annotator_id,
        "round": 1,
        "answer": answer,
        "guideline": ELSEWHERE,
        "client": command("import-labels"),
        "shown_at": label.shown_at,
        "decided_at": label.decided_at or tables.now(),
        "supersedes": earlier.id if earlier is not None else None,
    }


def _task(connection: Connection, name: str | None) -> Task:
    if name is not None and get_task(name).labels:
        return get_task(name)
    stored = connection.execute(select(study.c.task).distinct()).scalars()
    tasks = sorted(candidate for candidate in stored if matches(candidate, name))
    if not tasks:
        raise AuditError(message("labels.no_studies_of", task=name) if name else message("labels.no_studies"))
    if len(tasks) > 1:
        raise AuditError(message("labels.several_tasks", tasks=tasks), parameter="task")
    return get_task(tasks[0])


def _need_subjects(file: Labels, task: Task) -> None:
    """Raises BadFile where a label does not say which input, or which output, the task asks about."""
    columns, translates, pairs = text_columns(task.texts), base_of(task.name) == "translation", asks_pairs(task.name)
    bad = []
    for label in file.labels:
        if label.question is not None:
            continue
        if label.row is None and len(label.texts) < task.texts:
            needs = message("labels.too_few_texts", task=task.name, count=task.texts, columns=columns)
        elif pairs and label.output is None:
            needs = message("labels.no_output", task=task.name)
        elif label.row is None and translates and label.target is None:
            needs = message("labels.no_target", task=task.name)
        else:
            continue
        bad.append((label.where, needs))
    refuse(file.path, bad, len(file.labels))


def _refuse_unknown(file: Labels, targets: Sequence[int | str], hint: str) -> None:
    """Raises BadFile for labels about what the database does not have."""
    bad = [
        (label.where, f"{target} ({' / '.join(label.texts)[:60] or label.row!r}); {hint}")
        for label, target in zip(file.labels, targets, strict=True)
        if isinstance(target, str)
    ]
    refuse(file.path, bad, len(file.labels))


def _annotator_names(file: Labels, annotator: str | None) -> list[str]:
    """The name of each label's annotator. Raises AuditError where the file and `annotator` do not give one."""
    names = {label.annotator for label in file.labels}
    if annotator is None and None in names:
        raise AuditError(
            message("labels.nobody", file=file.path),
            parameter="annotator",
        )
    if annotator is not None and len(names) > 1:
        raise AuditError(
            message("labels.several_annotators", file=file.path, count=len(names)),
            parameter="annotator",
        )
    annotators = [annotator if annotator is not None else str(label.annotator) for label in file.labels]
    for name in sorted(set(annotators)):
        if not name.strip() or len(name) > 80 or not name.isprintable() or name == GOLD or name.startswith("deleted-"):
            raise AuditError(message("labels.bad_annotator", name=name, gold=GOLD))
    return annotators


def _labels_of_task(file: Labels, task: Task, renamed: Mapping[str, str]) -> list[str]:
    """Each label in the task's spelling. Raises BadFile for those that are none of its labels."""
    spelled, allowed = label_reader(task), (*labels_to_write(task), UNSURE)

    def read(written: str) -> str | None:
        return UNSURE if written.strip().casefold() == UNSURE else spelled(written)

    mapped = {}
    for name, label in renamed.items():
        mapped[name.casefold()] = to = read(label)
        if to is None:
            raise AuditError(message("labels.renamed_to", name=name, label=label, allowed=allowed), parameter="renamed")
    answers = [mapped.get(label.label.casefold()) or read(label.label) for label in file.labels]
    bad = [
        (label.where, f"label {label.label!r} is not one of {', '.join(allowed)}; rename it with renamed")
        for label, answer in zip(file.labels, answers, strict=True)
        if answer is None
    ]
    refuse(file.path, bad, len(file.labels), parameter="renamed")
    return [str(answer) for answer in answers]


def _questions(
    connection: Connection, file: Labels, task: Task, language: str, study_id: int | None
) -> tuple[list[int | str], int]:
    """The question of each label, or why there is none; and how many questions were made."""
    by_key = _ids(connection, question, {label.question for label in file.labels if label.question is not None})
    translates = base_of(task.name) == "translation"
    keys = {
        position: Input.of(
            *label.texts[: task.texts],
            language=label.language or language,
            target=label.target if translates else None,
        ).key
        for position, label in enumerate(file.labels)
        if label.question is None and label.row is None
    }
    inputs = _ids(connection, input_table, set(keys.values()))
    elsewhere = _in_other_languages(
        connection, {position: file.labels[position] for position, key in keys.items() if key not in inputs}, task
    )
    rows = _rows(connection, file, task, study_id)
    input_ids = [
        rows.get(label.row) if label.row is not None else inputs.get(keys.get(position, b""))
        for position, label in enumerate(file.labels)
    ]
    present = {input_id for input_id in input_ids if input_id is not None}
    outputs = _outputs(connection, present) if asks_pairs(task.name) else None
    subjects: dict[int, Subject] = {}
    questions: list[int | str] = []
    for position, (label, input_id) in enumerate(zip(file.labels, input_ids, strict=True)):
        if label.question is not None:
            questions.append(by_key.get(label.question, NO_QUESTION))
        elif input_id is None:
            questions.append(NO_ROW if label.row is not None else elsewhere.get(position, NOT_HERE))
        elif outputs is not None and (input_id, label.output) not in outputs:
            questions.append(NO_OUTPUT)
        else:
            subjects[position] = (task.name, input_id, outputs[input_id, str(label.output)] if outputs else None)
            questions.append("")
    opened = _create_questions(connection, task, set(subjects.values()))
    ids = question_ids(connection, task.name, present)
    for position, subject in subjects.items():
        questions[position] = ids[subject]
    return questions, opened


def _in_other_languages(connection: Connection, missing: Mapping[int, Label], task: Task) -> dict[int, str]:
    """Of texts that the database does not have in their language, by position: that it has them in another."""
    if not missing:
        return {}
    reasons: dict[int, str] = {}
    for (stored,) in connection.execute(select(input_table.c.languages).distinct()):
        languages = tuple(stored.split(","))
        keys = {position: Input(label.texts[: task.texts], languages).key for position, label in missing.items()}
        present = _ids(connection, input_table, set(keys.values()))
        reason = NOT_IN_LANGUAGE.format("-".join(dict.fromkeys(languages)))
        reasons |= {position: reason for position, key in keys.items() if key in present}
    return reasons


def _outputs(connection: Connection, inputs: Iterable[int]) -> dict[tuple[int, str | None], str]:
    """The texts that systems returned for these inputs, by input and text without spaces at its ends."""
    table = output_table
    outputs: dict[tuple[int, str | None], str] = {}
    for piece in pieces(inputs):
        query = select(table.c.input_id, table.c.text).where(
            table.c.input_id.in_(piece), table.c.text.is_not(None), table.c.error.is_(None)
        )
        outputs.update(((int(input_id), text.strip()), text) for input_id, text in connection.execute(query.distinct()))
    return outputs


def _ids(connection: Connection, table: Table, keys: Iterable[bytes]) -> dict[bytes, int]:
    ids: dict[bytes, int] = {}
    for piece in pieces(sorted(keys)):
        query = select(table.c.key, table.c.id).where(table.c.key.in_(piece))
        ids.update((bytes(key), id) for key, id in connection.execute(query))
    return ids


def _rows(connection: Connection, file: Labels, task: Task, study_id: int | None) -> dict[str, int]:
    """Inputs by the row of a source. Raises BadFile where a row stands for different texts in different studies."""
    places = {label.row: label.where for label in file.labels if label.row is not None}
    query = select(source).join(study, study.c.id == source.c.study_id).where(study.c.task == task.name)
    if study_id is not None:
        query = query.where(study.c.id == study_id)
    inputs_by_row: dict[str, dict[int, int]] = {}
    for piece in pieces(sorted(places)):
        for entry in connection.execute(query.where(source.c.row.in_(piece))):
            inputs_by_row.setdefault(entry.row, {}).setdefault(entry.input_id, entry.study_id)
    bad = [
        (
            places[row],
            f"row {row!r} is another text in study {' than in '.join(map(str, inputs.values()))}; name study=ID",
        )
        for row, inputs in inputs_by_row.items()
        if len(inputs) > 1
    ]
    refuse(file.path, bad, len(file.labels), parameter="study")
    return {row: next(iter(inputs)) for row, inputs in inputs_by_row.items()}


def _create_questions(connection: Connection, task: Task, subjects: set[Subject]) -> int:
    """Make the questions that are not there; nobody waits for them before a group is drawn that needs them."""
    missing: dict[int, list[str | None]] = {}
    present = question_ids(connection, task.name, {input_id for _, input_id, _ in subjects})
    for _, input_id, output in sorted(subjects - present.keys(), key=lambda subject: (subject[1], subject[2] or "")):
        missing.setdefault(input_id, []).append(output)
    annotators = connection.execute(select(func.max(sample.c.annotators))).scalar() or 2
    rows = [
        {
            "key": question_key(task.name, kind_of(output), bytes(key), output),
            "task": task.name,
            "kind": kind_of(output),
            "input_id": int(id),
            "output": output,
            "annotators": annotators,
        }
        for piece in pieces(missing)
        for id, key in connection.execute(
            select(input_table.c.id, input_table.c.key).where(input_table.c.id.in_(piece))
        )
        for output in missing[int(id)]
    ]
    rows.sort(key=lambda row: (row["input_id"], row["output"] or ""))
    return insert_new(connection, tables.Question, rows)


def elsewhere_accounts(connection: Connection, names: Sequence[str], role: str = ROLE) -> dict[str, int]:
    """Accounts for these names, made where they are absent; disabled, so that nobody can log in by any way.

    `role` is that of a person, whose votes count although the account is disabled, or a model's. An account is one of
    ours when all that it ever answered was answered elsewhere. Raises AuditError for one that is not.
    """
    for name in names:
        row = connection.execute(select(annotator).where(annotator.c.name == name)).mappings().first()
        if row is None:
            continue
        guidelines = select(judgement.c.guideline).where(judgement.c.annotator_id == row["id"]).distinct()
        if row["role"] != role or [int(guideline[0]) for guideline in connection.execute(guidelines)] != [ELSEWHERE]:
            raise AuditError(
                message("labels.account_in_use", name=name),
                parameter="annotator",
            )
    columns = {"role": role, "password": None, "languages": "", "disabled": True, "created_at": tables.now()}
    insert_new(connection, tables.Annotator, [{"name": name} | columns for name in names])
    query = select(annotator.c.name, annotator.c.id)
    return {
        name: id for piece in pieces(names) for name, id in connection.execute(query.where(annotator.c.name.in_(piece)))
    }


def current_judgements(connection: Connection, people: Iterable[int]) -> dict[tuple[int, int], Row[Any]]:
    """(annotator, question) -> the judgement that counts."""
    later = judgement.alias("later")
    query = select(judgement).outerjoin(later, later.c.supersedes == judgement.c.id)
    query = query.where(judgement.c.round == 1, later.c.id.is_(None))
    return {
        (row.annotator_id, row.question_id): row
        for piece in pieces(people)
        for row in connection.execute(query.where(judgement.c.annotator_id.in_(piece)))
    }


def renamed_labels(settings: Sequence[str]) -> dict[str, str]:
    """Labels by the names that a file has for them, from `good=positive,bad=negative`. Raises AuditError.

    >>> renamed_labels(["good=positive", "bad=negative"])
    {'good': 'positive', 'bad': 'negative'}
    """
    renamed: dict[str, str] = {}
    for setting in settings:
        name, equals, label = (part.strip() for part in setting.partition("="))
        if not (equals and name and label) or renamed.get(name, label) != label:
            raise AuditError(
                message("labels.bad_renamed", setting=setting),
                parameter="renamed",
            )
        renamed[name] = label
    return renamed


# `audit gold`: the labels of a corpus answer questions, under the name `gold`, apart from people.
#
# Only questions about inputs: a label says what is true of a text, never whether some system's output for it is
# right. A reference such as a gold summary, compared with the output, is a proxy.


@dataclass(frozen=True)
class GoldAnswers:
    """The counts of questions that gold answered."""

    questions: int
    """Questions there are that gold can answer: those about outputs and groups are for people alone."""
    answered: int
    """Questions that gold answers now."""
    added: int
    """Of these, answered by this call."""
    contradictory: int
    """Questions whose text has different gold labels in different rows: gold says nothing about them."""
    pairs: int
    """Questions about an output for a source with a gold label: ignored, since gold says nothing about outputs."""


def answer_with_gold(engine: Engine, study_id: int | None = None, *, by: int | None = None) -> GoldAnswers:
    """Answer every question about an input that is a source with a gold label: those that a study asks, with the labels
    of its own sources, or those of all studies (None). Repeating it adds nothing.

    Asked for by a manager (`by`, an account id; else NotAllowed) or by whoever has the database itself (None).
    """
    with unit_of_work(engine, by, "manager", owner=True) as work:
        work.hold_all()
        connection = work.connection
        _ask_labelled_follow_ups(connection)
        labels = gold_labels(connection)
        among: ColumnElement[bool] = true()
        about_own = among
        if study_id is not None:
            need_study(connection, study_id)
            among = asked_by(connection, [study_id])
            labelled = select(source.c.input_id).where(source.c.study_id == study_id, source.c.gold.is_not(None))
            about_own = and_(among, question.c.input_id.in_(labelled))
        gold = gold_id(connection)
        subjects = _questions_about(connection, labels, about_own)
        answered = select(judgement.c.question_id).join(question, question.c.id == judgement.c.question_id)
        before = set(connection.execute(answered.where(judgement.c.annotator_id == gold, among)).scalars())
        clear = {id: next(iter(labels[key])) for id, key in subjects.items() if len(labels[key]) == 1}
        row = {"annotator_id": gold, "round": 1, "guideline": 0, "client": command("gold"), "decided_at": tables.now()}
        new = [row | {"question_id": id, "answer": label} for id, label in clear.items() if id not in before]
        work.add(tables.Judgement, new)
        total = count_rows(connection, question, question.c.kind == "input", among)
        pairs = len(_questions_about(connection, labels, about_own, "pair"))
    contradictory = sum(len(labels[key]) > 1 for key in subjects.values())
    return GoldAnswers(total, len(before | set(clear)), len(new), contradictory, pairs)


def _ask_labelled_follow_ups(connection: Connection) -> None:
    """Make questions of the follow-ups that came with a gold label of their own, rows without groups of imported
    studies: also where an answer is carried to them, for an answer of their own goes before that."""
    first = cast(source.c.id, BigInteger) * LIMIT**2  # the least id that a group of the source can have
    grouped = exists().where(group.c.id.between(first, first + LIMIT**2 - 1))
    query = (
        select(study.c.task, source.c.input_id)
        .join(study, study.c.id == source.c.study_id)
        .where(study.c.imported, source.c.gold.is_not(None), ~grouped)
    )
    subjects: dict[str, set[Subject]] = {}
    for task, input_id in connection.execute(query):
        subjects.setdefault(task, set()).add((task, input_id, None))
    for task, of_task in subjects.items():
        _create_questions(connection, get_task(task), of_task)


def _questions_about(
    connection: Connection, subjects: Collection[tuple[str, int]], among: ColumnElement[bool], kind: str = "input"
) -> dict[int, tuple[str, int]]:
    """Questions of this kind about these inputs that meet a condition: question id -> (task, input)."""
    query = select(question.c.id, question.c.task, question.c.input_id).where(question.c.kind == kind, among)
    return {
        id: (task, input_id)
        for piece in pieces({input_id for _, input_id in subjects})
        for id, task, input_id in connection.execute(query.where(question.c.input_id.in_(piece)))
        if (task, input_id) in subjects
    }
