"""`audit import-labels`: labels that people gave elsewhere become judgements of annotators of their own.

They are votes like any other: a question that wants two annotators is settled by two of them that agree, or by one of
them and somebody who judges it here. The annotators are disabled accounts: nobody can log in as one of them.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, func, select

from audit.annotation.accounts import GOLD, gold_id
from audit.annotation.answers import UNSURE, command
from audit.annotation.guidelines import ELSEWHERE
from audit.annotation.questions import asks_pairs, question_ids, question_key
from audit.errors import AuditError, BadFile
from audit.files import SHOWN, first_lines, parse_json, read_table, read_text
from audit.judging.unit import unit_of_work
from audit.messages import message
from audit.store import insert_new, need_study, pieces, table_of, tables
from audit.tasks import Input, Task, get_task, matches

# Reading labels that people gave elsewhere: a CSV, or the JSON that Label Studio exports.
#
# A CSV has the columns `label` and `text` or `row` (the row of a corpus), and perhaps `annotator` and `language`. Of
# Label Studio's JSON (the format "JSON", a list of tasks with their `annotations`) the results of type `choices` are
# read; see https://labelstud.io/guide/task_format.

QUESTION = "audit_question"
"""The name in a task's `data` under which our export says which question a task is."""


@dataclass(frozen=True, slots=True)
class Label:
    """One label as a file has it. What it is about is a text, a row, or a question by its key."""

    where: str
    """For messages: line 3, task 17."""
    label: str
    annotator: str | None = None
    text: str | None = None
    language: str | None = None
    row: str | None = None
    question: bytes | None = None
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
    if "label" not in header or ("text" in header) == ("row" in header):
        raise BadFile(message("labels.columns", file=path, columns=header, wanted=message("labels.wanted")))
    bad: list[tuple[str, str]] = []
    labels: list[Label] = []
    empty = 0
    for line, fields in rows:
        where = f"line {line}"
        if len(fields) != len(header):
            bad.append((where, f"{len(fields)} fields where the header has {len(header)}"))
            continue
        row = dict(zip(header, fields, strict=True))
        about = row.get("text") or row.get("row")
        if not about:
            bad.append((where, "the column text or row is empty"))
        elif "annotator" in row and not row["annotator"]:
            bad.append((where, "the column annotator is empty; every label needs somebody who gave it"))
        elif not row["label"]:
            empty += 1
        else:
            labels.append(
                Label(
                    where,
                    row["label"],
                    row.get("annotator"),
                    row.get("text"),
                    row.get("language") or None,
                    row.get("row"),
                )
            )
    refuse(path, bad, len(rows))
    return Labels(path, labels, {"no label": empty} if empty else {})


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
    if len(chosen) > 1 or not isinstance(chosen[0], list) or len(chosen[0]) != 1:
        return f"{chosen!r:.60} is not a single choice"
    label = str(chosen[0][0])
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
        text.strip() if isinstance(text, str) else None,
        str(data["language"]) if data.get("language") else None,
        question=question,
        shown_at=shown,
        decided_at=decided,
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
NO_ROW = "no such row in a study"
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
) -> Imported:
    """Store labels as judgements, in one transaction; the same file again adds nothing.

    A label is about a question by its key, about the input that is this text in this `language`, or about the source
    with this row (of one `study`, or of all). Questions are made for inputs that have none yet; texts that the database
    does not have are counted, not stored. Where people judge each output (summaries), a text or a row does not say
    which output is meant: there labels are about questions by their keys, which `audit export` writes for Label Studio.
    `renamed` maps the file's labels to the task's; letters' case does not count. `annotator` names who gave them, where
    the file names nobody or a single one. Raises BadFile for unknown labels (with their lines and what is allowed) and
    for rows that stand for several texts; AuditError for annotators that nobody named or that are people with an
    account here, where the task is not clear, and for a text or a row where an output is meant; NotAllowed unless the
    account `by` is a manager's (None: whoever has the database itself).
    """
    with unit_of_work(engine, by, "manager", owner=True) as work:
        work.hold_all()
        connection = work.connection
        target_task = _task(connection, task)
        _need_questions(file, target_task)
        annotators = _annotator_names(file, annotator)
        answers = _labels_of_task(file, target_task, renamed or {})
        if study is not None:
            need_study(connection, study)
        targets, opened = _questions(connection, file, target_task, language, study)
        matched = _matched(file.labels, answers, annotators, targets)
        people = _annotators(connection, sorted({name for name, _ in matched.chosen}))
        before = _current_judgements(connection, people.values())
        rows: list[dict[str, Any]] = []
        unchanged = 0
        for (name, question), (label, answer) in matched.chosen.items():
            earlier = before.get((people[name], question))
            if earlier is not None and earlier[1] == answer:
                unchanged += 1
                continue
            rows.append(_judgement_row(label, answer, question, people[name], earlier))
        work.add(tables.Judgement, rows)
    changed = sum(row["supersedes"] is not None for row in rows)
    return Imported(
        len(file.labels),
        len(rows) - changed,
        changed,
        unchanged,
        matched.repeated,
        opened,
        dict(matched.unmatched),
        matched.first,
        file.without,
        sorted(people),
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
    for label, answer, annotator, target in zip(labels, answers, annotators, targets, strict=True):
        if isinstance(target, str):
            matched.leave_out(label, target)
            continue
        key = (annotator, target)
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


def _judgement_row(
    label: Label, answer: str, question: int, annotator: int, earlier: tuple[int, str] | None
) -> dict[str, Any]:
    return {
        "question_id": question,
        "annotator_id": annotator,
        "round": 1,
        "answer": answer,
        "guideline": ELSEWHERE,
        "client": command("import-labels"),
        "shown_at": label.shown_at,
        "decided_at": label.decided_at or tables.now(),
        "supersedes": earlier[0] if earlier is not None else None,
    }


def _task(connection: Connection, name: str | None) -> Task:
    if name is not None and get_task(name).labels:
        return get_task(name)
    table = table_of(tables.Study)
    stored = {str(row[0]) for row in connection.execute(select(table.c.task).distinct())}
    tasks = sorted(candidate for candidate in stored if matches(candidate, name))
    if not tasks:
        raise AuditError(message("labels.no_studies_of", task=name) if name else message("labels.no_studies"))
    if len(tasks) > 1:
        raise AuditError(message("labels.several_tasks", tasks=tasks), parameter="task")
    return get_task(tasks[0])


def _need_questions(file: Labels, task: Task) -> None:
    """Raises AuditError where a label is about a text, and the task asks about outputs."""
    unkeyed = next((label for label in file.labels if label.question is None), None)
    if asks_pairs(task.name) and unkeyed is not None:
        raise AuditError(message("labels.no_key", file=file.path, place=unkeyed.where, task=task.name))


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
    allowed = {label.casefold(): label for label in (*task.labels, UNSURE)}
    for name, label in renamed.items():
        if label.casefold() not in allowed:
            raise AuditError(
                message("labels.renamed_to", name=name, label=label, allowed=allowed.values()), parameter="renamed"
            )
    mapped = {name.casefold(): allowed[label.casefold()] for name, label in renamed.items()}
    answers = [mapped.get(label.label.casefold()) or allowed.get(label.label.casefold()) for label in file.labels]
    bad = [
        (label.where, f"label {label.label!r} is not one of {', '.join(allowed.values())}; rename it with renamed")
        for label, answer in zip(file.labels, answers, strict=True)
        if answer is None
    ]
    refuse(file.path, bad, len(file.labels), parameter="renamed")
    return [str(answer) for answer in answers]


def _questions(
    connection: Connection, file: Labels, task: Task, language: str, study: int | None
) -> tuple[list[int | str], int]:
    """The question of each label, or why there is none; and how many questions were made."""
    by_key = _ids(connection, tables.Question, {label.question for label in file.labels if label.question is not None})
    texts = {
        position: Input.of(label.text, language=label.language or language).key
        for position, label in enumerate(file.labels)
        if label.question is None and label.text is not None
    }
    inputs = _ids(connection, tables.Input, set(texts.values()))
    rows = _rows(connection, file, task, study)
    inputs_by_position: dict[int, int] = {}
    for position, label in enumerate(file.labels):
        input_id = rows.get(label.row) if label.row is not None else inputs.get(texts.get(position, b""))
        if input_id is not None:
            inputs_by_position[position] = input_id
    opened = _create_questions(connection, task, set(inputs_by_position.values()))
    ids_by_subject = question_ids(connection, task.name, set(inputs_by_position.values()))
    questions: list[int | str] = []
    for position, label in enumerate(file.labels):
        if label.question is not None:
            questions.append(by_key.get(label.question, NO_QUESTION))
        elif position in inputs_by_position:
            questions.append(ids_by_subject[task.name, inputs_by_position[position], None])
        else:
            questions.append(NO_ROW if label.row is not None else NOT_HERE)
    return questions, opened


def _ids(
    connection: Connection, model: type[tables.Question] | type[tables.Input], keys: Iterable[bytes]
) -> dict[bytes, int]:
    table = table_of(model)
    ids: dict[bytes, int] = {}
    for piece in pieces(sorted(keys)):
        query = select(table.c.key, table.c.id).where(table.c.key.in_(piece))
        ids.update((bytes(row[0]), int(row[1])) for row in connection.execute(query))
    return ids


def _rows(connection: Connection, file: Labels, task: Task, study: int | None) -> dict[str, int]:
    """Inputs by the row of a source. Raises BadFile where a row stands for different texts in different studies."""
    source, study_table = table_of(tables.Source), table_of(tables.Study)
    places = {label.row: label.where for label in file.labels if label.row is not None}
    inputs_by_row: dict[str, dict[int, int]] = {}
    for piece in pieces(sorted(places)):
        query = (
            select(source.c.row, source.c.input_id, source.c.study_id)
            .join(study_table, study_table.c.id == source.c.study_id)
            .where(study_table.c.task == task.name, source.c.row.in_(piece))
        )
        for row, input_id, study_id in connection.execute(
            query if study is None else query.where(study_table.c.id == study)
        ):
            inputs_by_row.setdefault(row, {}).setdefault(int(input_id), int(study_id))
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


def _create_questions(connection: Connection, task: Task, inputs: set[int]) -> int:
    """Make the questions that are not there; nobody waits for them before a group is drawn that needs them."""
    missing = sorted(inputs - {input_id for _, input_id, _ in question_ids(connection, task.name, inputs)})
    table, sample = table_of(tables.Input), table_of(tables.Sample)
    annotators = connection.execute(select(func.max(sample.c.annotators))).scalar() or 2
    rows = []
    for piece in pieces(missing):
        for id, key in connection.execute(select(table.c.id, table.c.key).where(table.c.id.in_(piece))):
            content = question_key(task.name, "input", bytes(key))
            rows.append(
                {"key": content, "task": task.name, "kind": "input", "input_id": int(id), "annotators": annotators}
            )
    rows.sort(key=lambda row: int(str(row["input_id"])))
    return insert_new(connection, tables.Question, rows)


def _annotators(connection: Connection, names: Sequence[str]) -> dict[str, int]:
    """Accounts for these names, made where they are absent; disabled, so that nobody can log in by any way.

    Votes of disabled accounts count. An account is one of ours when all that it ever answered was answered elsewhere.
    """
    table, judgement = table_of(tables.Annotator), table_of(tables.Judgement)
    for name in names:
        row = connection.execute(select(table).where(table.c.name == name)).mappings().first()
        if row is None:
            continue
        guidelines = select(judgement.c.guideline).where(judgement.c.annotator_id == row["id"]).distinct()
        if row["role"] != ROLE or [int(guideline[0]) for guideline in connection.execute(guidelines)] != [ELSEWHERE]:
            raise AuditError(
                message("labels.account_in_use", name=name),
                parameter="annotator",
            )
    columns = {"role": ROLE, "password": None, "languages": "", "disabled": True, "created_at": tables.now()}
    insert_new(connection, tables.Annotator, [{"name": name} | columns for name in names])
    ids: dict[str, int] = {}
    for piece in pieces(names):
        query = select(table.c.name, table.c.id).where(table.c.name.in_(piece))
        ids.update((str(account[0]), int(account[1])) for account in connection.execute(query))
    return ids


def _current_judgements(connection: Connection, people: Iterable[int]) -> dict[tuple[int, int], tuple[int, str]]:
    """(annotator, question) -> the judgement that counts, and its answer."""
    judgement = table_of(tables.Judgement)
    later = judgement.alias("later")
    current: dict[tuple[int, int], tuple[int, str]] = {}
    for piece in pieces(people):
        query = (
            select(judgement.c.annotator_id, judgement.c.question_id, judgement.c.id, judgement.c.answer)
            .outerjoin(later, later.c.supersedes == judgement.c.id)
            .where(judgement.c.annotator_id.in_(piece), judgement.c.round == 1, later.c.id.is_(None))
        )
        current.update(
            ((int(annotator), int(question)), (int(id), answer))
            for annotator, question, id, answer in connection.execute(query)
        )
    return current


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


def answer_with_gold(engine: Engine, *, by: int | None = None) -> GoldAnswers:
    """Answer every question about an input that is a source with a gold label. Repeating it adds nothing.

    Asked for by a manager (`by`, an account id; else NotAllowed) or by whoever has the database itself (None).
    """
    with unit_of_work(engine, by, "manager", owner=True) as work:
        work.hold_all()
        connection = work.connection
        labels = _gold_labels(connection)
        subjects = _questions_about(connection, list(labels))
        annotator = gold_id(connection)
        judgement = table_of(tables.Judgement)
        query = select(judgement.c.question_id).where(judgement.c.annotator_id == annotator)
        before = {int(row[0]) for row in connection.execute(query)}
        moment = tables.now()
        clear = {question: next(iter(labels[key])) for question, key in subjects.items() if len(labels[key]) == 1}
        new = [
            {
                "question_id": question,
                "annotator_id": annotator,
                "round": 1,
                "answer": label,
                "guideline": 0,
                "client": command("gold"),
                "decided_at": moment,
            }
            for question, label in clear.items()
            if question not in before
        ]
        work.add(tables.Judgement, new)
        question = table_of(tables.Question)
        total = connection.execute(select(func.count()).where(question.c.kind == "input")).scalar() or 0
        pairs = len(_questions_about(connection, list(labels), "pair"))
    contradictory = sum(len(labels[key]) > 1 for key in subjects.values())
    return GoldAnswers(int(total), len(before | set(clear)), len(new), contradictory, pairs)


def _gold_labels(connection: Connection) -> dict[tuple[str, int], set[str]]:
    """Gold labels by (task, input)."""
    source, study = table_of(tables.Source), table_of(tables.Study)
    query = (
        select(study.c.task, source.c.input_id, source.c.gold)
        .join(study, study.c.id == source.c.study_id)
        .where(source.c.gold.is_not(None))
        .distinct()
    )
    labels: dict[tuple[str, int], set[str]] = {}
    for task, input_id, label in connection.execute(query):
        labels.setdefault((task, int(input_id)), set()).add(label)
    return labels


def _questions_about(
    connection: Connection, keys: list[tuple[str, int]], kind: str = "input"
) -> dict[int, tuple[str, int]]:
    """Questions of this kind about these inputs: question id -> (task, input)."""
    table = table_of(tables.Question)
    subjects = set(keys)
    questions: dict[int, tuple[str, int]] = {}
    for piece in pieces({input_id for _, input_id in keys}):
        query = select(table.c.id, table.c.task, table.c.input_id).where(
            table.c.kind == kind, table.c.input_id.in_(piece)
        )
        for id, task, input_id in connection.execute(query):
            if (task, int(input_id)) in subjects:
                questions[int(id)] = (task, int(input_id))
    return questions
