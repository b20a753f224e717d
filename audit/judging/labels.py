"""`audit import-labels`: labels that people gave elsewhere become judgements of annotators of their own, or decisions
of adjudicators of their own. And `audit gold`: the labels of a corpus answer questions, apart from people.

Imported judgements are votes like any other: a question that wants two annotators is settled by two of them that agree,
or by one of them and somebody who judges it here. Their accounts are disabled: nobody can log in as one of them.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import takewhile
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

from sqlalchemy import ColumnElement, Connection, Engine, Table, and_, select, true, union

from audit.errors import AuditError, BadFile
from audit.false_satisfaction.questions import asked_by
from audit.files import MISSING, SHOWN, as_text, first_lines, parse_json, plain_frame, read_table, read_text
from audit.judging.accounts import checked_name, gold_id
from audit.judging.answers import command, is_disputed
from audit.judging.asides import check_comment
from audit.judging.asking import gold_labels, make_questions
from audit.judging.causes import OTHER_REASON, REASONS
from audit.judging.unit import Work, unit_of_work
from audit.judging.words import ELSEWHERE
from audit.keys import normal_text
from audit.messages import message, with_commas
from audit.store import insert_new, need_study, pieces, rows_among, tables
from audit.store.core import adjudication, annotator, count_rows, input_table, judgement, question, source, study
from audit.store.core import output as output_table
from audit.tasks import Input, Task, base_of, get_task, label_reader, labels_to_write, matches, text_columns
from audit.tasks.classification import PLUS
from audit.tasks.questions import UNSURE, Subject, asks_pairs

if TYPE_CHECKING:
    import pandas as pd

QUESTION = "audit_question"
"""The name in a task's `data` under which our export says which question a task is."""
COLUMNS = ("label", "text", "text_b", "output", "annotator", "language", "target_language", "answer", "reason")
"""What a file of labels may say. `answer` is Prodigy's: a label that was rejected or ignored is none."""
_TEXTS = text_columns(26)


@dataclass(frozen=True, slots=True)
class Label:
    """One label as a file has it: about an input's texts, an output of it, or a question by its key."""

    where: str
    """For messages: line 3, task 17."""
    label: str
    annotator: str | None = None
    texts: tuple[str, ...] = ()
    language: str | None = None
    question: bytes | None = None
    target: str | None = None
    """The language that the text is translated into."""
    output: str | None = None
    shown_at: datetime | None = None
    decided_at: datetime | None = None
    reason: str = ""
    """Why an adjudicator decided so: a code of `audit.judging.causes`, or words."""


@dataclass(frozen=True)
class Labels:
    """The labels of a file, and how many entries have none, by reason."""

    path: Path
    labels: Sequence[Label]
    without: dict[str, int]


_Read = Callable[[], Label | str]
"""Reads an entry: its label, or why it has none; raises ValueError with what is wrong."""


def read_labels(path: str | Path, columns: Mapping[str, str] = MappingProxyType({})) -> Labels:
    """Read the labels of a table, or of Label Studio's JSON.

    `columns` has our name -> the file's, of `COLUMNS`: of a table a column (`label` may be several with + between them,
    one for each annotator), of Label Studio a name in a task's data, and for `label` the Choices tag that is meant,
    where tasks have several. Raises BadFile for a file that cannot be read, is of another kind or has entries that
    cannot be understood (with their lines or tasks, ten at most).
    """
    path = Path(path)
    if unknown := [name for name in columns if name not in COLUMNS]:
        raise AuditError(message("corpus_file.unknown_column", column=unknown[0], allowed=COLUMNS), parameter="columns")
    if path.suffix.lower() == ".json" and (tasks := _tasks(path)) is not None:
        return _collected(path, _label_studio(tasks, columns), [], "columns")
    bad: list[tuple[int, str]] = []
    table = read_table(path, ["label"], COLUMNS, columns=columns, may_be_empty=["label"], bad=bad)
    return _of_table(path, table, [(f"line {line}", reason) for line, reason in bad], "line")


def frame_labels(frame: "pd.DataFrame", name: str = "labels") -> Labels:
    """Read the labels of a frame with the columns of a table, `annotator` among them; messages call it by its `name`.
    Raises BadFile for a column that is missing, fields that are, and a frame without rows."""
    plain = plain_frame(frame, name)
    if missing := [column for column in ("label", "annotator") if column not in plain]:
        columns = with_commas(list(plain.columns) or message("list.none"))
        raise BadFile(f"{name} has no column {missing[0]!r}; it needs text, label and annotator, has {columns}")
    if plain.empty:
        raise BadFile(f"{name} has no rows")
    return _of_table(Path(name), plain.fillna("").map(as_text), [], "row")


def _collected(path: Path, entries: Iterable[tuple[str, _Read]], bad: list[tuple[str, str]], named: str = "") -> Labels:
    labels: list[Label] = []
    without: Counter[str] = Counter()
    for where, read in entries:
        try:
            label = read()
        except ValueError as reason:
            bad.append((where, str(reason)))
            continue
        if isinstance(label, str):
            without[label] += 1
        else:
            labels.append(label)
    _refuse(path, bad, len(labels) + without.total() + len(bad), named)
    return Labels(path, labels, dict(without))


def _refuse(path: Path, bad: Sequence[tuple[str, str]], number: int, parameter: str = "") -> None:
    """Raise BadFile for entries (where, reason) that are wrong; the first ten are listed."""
    if len(bad) == 1:
        raise BadFile(message("file.at_place", file=path, place=bad[0][0], reason=bad[0][1]), parameter=parameter)
    if bad:
        lines = [message("file.place", place=place, reason=reason) for place, reason in bad]
        wrong = f"{path}: {len(bad):,} of {number:,} labels are wrong, so nothing was used:\n"
        raise BadFile(wrong + first_lines(lines, SHOWN), parameter=parameter)


def _of_table(path: Path, table: "pd.DataFrame", bad: list[tuple[str, str]], place: str) -> Labels:
    if "text" not in table:
        raise BadFile(
            f"{path}: of our columns there are {with_commas(table.columns)}; needed are label and text, and perhaps "
            "annotator: say with columns=text=THEIRS which is meant",
            parameter="columns",
        )
    rows = zip(table.index, table.to_dict("records"), strict=True)
    return _collected(path, ((f"{place} {line}", partial(_of_row, f"{place} {line}", row)) for line, row in rows), bad)


def _of_row(where: str, row: Mapping[Any, Any]) -> Label | str:
    if not row.get("text"):
        raise ValueError("the column text is empty")
    if row["label"] in MISSING:
        return "no label"
    if row.get("answer", "accept") != "accept":
        return "not accepted"
    if row.get("annotator") == "":
        raise ValueError("the column annotator is empty; every label needs somebody who gave it")
    return Label(where, row["label"], row.get("annotator"), **_subject(row))


def _subject(row: Mapping[Any, Any]) -> dict[str, Any]:
    """What a row, or a task's data, says of the input that its label is about, and why, as parameters of `Label`."""
    texts = takewhile(lambda text: isinstance(text, str) and text.strip(), map(row.get, _TEXTS))
    return {
        "texts": tuple(normal_text(str(text)) for text in texts),
        "language": str(row.get("language") or "") or None,
        "target": str(row.get("target_language") or "") or None,
        "output": normal_text(str(row.get("output") or "")) or None,
        "reason": str(row.get("reason") or "").strip(),
    }


# Label Studio.


def _tasks(path: Path) -> list[Any] | None:
    """The tasks of Label Studio's JSON; None where the file is anything else, such as its JSON-MIN."""
    try:
        tasks = parse_json(read_text(path))
    except ValueError:
        return None  # reading it as a table says why
    has_data = isinstance(tasks, list) and any(
        isinstance(task, dict) and isinstance(task.get("data"), dict) for task in tasks
    )
    return tasks if has_data else None


def _label_studio(tasks: list[Any], columns: Mapping[str, str]) -> Iterator[tuple[str, _Read]]:
    for number, task in enumerate(tasks, start=1):
        task = task if isinstance(task, dict) else {}
        data, annotations = task.get("data"), task.get("annotations")
        if not isinstance(annotations, list) or not isinstance(data, dict):
            data, annotations = None, []
        else:
            data |= {ours: data.get(theirs) for ours, theirs in columns.items() if ours != "label"}
        where = f"task {task.get('id', number)}"
        for annotation in annotations or [None]:
            yield where, partial(_annotation, where, data, annotation, columns.get("label"))


def _annotation(where: str, data: dict[str, Any] | None, annotation: Any, tag: str | None) -> Label | str:
    if data is None:
        raise ValueError("no list of annotations, or no data; export the format JSON, not JSON-MIN")
    if annotation is None:
        return "not annotated"
    if not isinstance(annotation, dict) or not isinstance(annotation.get("result"), list):
        raise ValueError("an annotation without a list of results")
    if annotation.get("was_cancelled"):
        return "skipped by the annotator"
    choices = [part for part in annotation["result"] if isinstance(part, dict) and part.get("type") == "choices"]
    tags = sorted({str(part.get("from_name")) for part in choices})
    if tag is None and len(tags) > 1:
        raise ValueError(f"choices of several tags ({', '.join(tags)}); choose one with columns=label=TAG")
    choices = [part for part in choices if tag in (None, part.get("from_name"))]
    chosen = [part["value"].get("choices") for part in choices if isinstance(part.get("value"), dict)]
    if not any(chosen):
        return "no choice made"
    if len(chosen) > 1 or not isinstance(chosen[0], list):
        raise ValueError(f"{chosen!r:.60} is not a single choice")
    label = PLUS.join(map(str, chosen[0]))  # several where a text may have several labels
    if any(part.get("id") == exported_id(label) for part in choices):
        return "exported by audit, and not changed since"
    key, who = data.get(QUESTION), annotation.get("completed_by")
    if not isinstance(key, str) and not isinstance(data.get("text"), str):
        raise ValueError(
            f"the data has no text under the name 'text'; it has {', '.join(data)}: name it with columns=text=NAME"
        )
    try:
        asked = bytes.fromhex(key) if isinstance(key, str) else None
        decided, shown = _times(annotation)
    except (TypeError, ValueError) as problem:
        raise ValueError(f"{QUESTION} or created_at cannot be read ({problem})") from None
    if isinstance(who, dict):
        who = who.get("email") or who.get("id")
    who = f"label-studio-{who}" if isinstance(who, int) else who or None
    return Label(where, label, who, question=asked, shown_at=shown, decided_at=decided, **_subject(data))


def exported_id(label: str) -> str:
    """Return the id of a result that we exported: Label Studio keeps it, so that it is known when it comes back.

    >>> exported_id("very positive")
    'audit-very_positive'
    """
    return "audit-" + re.sub(r"[^A-Za-z0-9_-]", "_", label)


def _times(annotation: dict[str, Any]) -> tuple[datetime | None, datetime | None]:
    """When it was decided and shown: `created_at`, and so many seconds (`lead_time`) before."""
    if not annotation.get("created_at"):
        return None, None
    decided = datetime.fromisoformat(annotation["created_at"])
    decided = decided.replace(tzinfo=UTC) if decided.tzinfo is None else decided.astimezone(UTC)
    lead = annotation.get("lead_time")
    return decided, decided - timedelta(seconds=float(lead)) if lead is not None else None


# Importing.

Role = Literal["annotator", "adjudicator"]
"""What the labels of a file are: votes of annotators, or decisions of adjudicators."""
NO_REASON = "imported"
"""The reason of a decision for which the file gives none."""
NOT_HERE = "text not in the database"
NOT_IN_LANGUAGE = "text in the database in the language {} alone, not in that of the labels"
NO_OUTPUT = "output that no system returned for it"
NO_QUESTION = "no such question"
CONTRADICTORY = "the same annotator gave it different labels"
UNDECIDED = "unsure, which decides nothing"


@dataclass(frozen=True)
class Imported:
    """What an import of labels did. `labels` = added + changed + known + repeated + the sum of `unmatched`."""

    labels: int
    added: int
    changed: int
    """New ones that take the place of what the same annotator was imported with before."""
    known: int
    """Imported before, with the same label."""
    repeated: int
    """In the file more than once."""
    opened: int
    """Questions that were made for them."""
    too_few: int
    """Questions of these labels that fewer people have answered than are asked: they stay open."""
    disputed: int
    """Questions of these labels whose answers do not settle them: they wait for an adjudicator."""
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
    renamed: Mapping[str, str] = MappingProxyType({}),
    task: str | None = None,
    language: str = "en",
    all_known: str | None = None,
    role: Role = "annotator",
) -> Imported:
    """Store labels as judgements, or as adjudications, in one transaction; the same file again adds nothing.

    A label is about a question by its key (`audit export` writes it for Label Studio), or about the input that these
    texts in this `language` are; where people judge each output (summaries, translations), about an `output` of it.
    Questions are made for what has none yet. What the database does not have is counted, not stored; with `all_known`,
    a hint, it is refused, and the hint ends the message. `renamed` maps the file's labels to the task's; letters' case
    does not count. `annotator` names who gave them, where the file names nobody or a single one. Raises BadFile for
    labels that cannot be used (with their lines), AuditError for annotators that nobody named or that are people with
    an account here, and where the task is not clear.
    """
    with unit_of_work(engine, None, owner=True) as work:
        work.hold_all()
        connection = work.connection
        of_task = _task(connection, task)
        _need_subjects(file, of_task)
        names = _annotator_names(file, annotator)
        answers = _labels_of_task(file, of_task, renamed)
        targets, opened = _targets(connection, file, of_task, language)
        if all_known is not None:
            bad = [
                (label.where, f"{target} ({' / '.join(label.texts)[:60]}); {all_known}")
                for label, target in zip(file.labels, targets, strict=True)
                if isinstance(target, str)
            ]
            _refuse(file.path, bad, len(file.labels))
        if role == "adjudicator":
            targets = [UNDECIDED if answer == UNSURE else to for answer, to in zip(answers, targets, strict=True)]
        by_name, repeated, unused = _choose(file.labels, answers, names, targets)
        people = _elsewhere_accounts(connection, sorted({name for name, _ in by_name}), role)
        chosen = {(people[name], id): label for (name, id), label in by_name.items()}
        added, changed = (_decide if role == "adjudicator" else _vote)(work, chosen)
        work.finish()
        questions = {question_id for _, question_id in chosen}
        too_few = _count(connection, questions, question.c.filled.is_(False)) if role == "annotator" else 0
        disputed = _count(connection, questions, is_disputed())
    return Imported(
        labels=len(file.labels),
        added=added,
        changed=changed,
        known=len(chosen) - added - changed,
        repeated=repeated,
        opened=opened,
        too_few=too_few,
        disputed=disputed,
        unmatched=dict(Counter(reason for reason, _ in unused)),
        first=dict(reversed(unused)),
        without=file.without,
        annotators=sorted(people),
    )


_Chosen = dict[tuple[Any, int], tuple[Label, str]]
"""(annotator, question) -> their label, and the answer that it stands for."""


def _choose(
    labels: Sequence[Label], answers: Sequence[str], annotators: Sequence[str], targets: Sequence[int | str]
) -> tuple[_Chosen, int, list[tuple[str, str]]]:
    """The label of each (annotator, question) that has a single one; how many are repeated; and those that are not
    used: (reason, where). `targets` are questions, or the reasons why there are none."""
    given: dict[tuple[str, int], dict[str, list[Label]]] = {}
    unused: list[tuple[str, str]] = []
    for label, answer, name, target in zip(labels, answers, annotators, targets, strict=True):
        if isinstance(target, str):
            unused.append((target, label.where))
        else:
            given.setdefault((name, target), {}).setdefault(answer, []).append(label)
    chosen: _Chosen = {}
    repeated = 0
    for key, by_answer in given.items():
        (answer, same), *others = by_answer.items()
        if others:
            unused += [(CONTRADICTORY, label.where) for same in by_answer.values() for label in same]
        else:
            chosen[key] = same[0], answer
            repeated += len(same) - 1
    return chosen, repeated, unused


def _count(connection: Connection, ids: Iterable[int], condition: ColumnElement[bool]) -> int:
    return sum(count_rows(connection, question, question.c.id.in_(piece), condition) for piece in pieces(sorted(ids)))


def _vote(work: Work, chosen: _Chosen) -> tuple[int, int]:
    """Add votes; those that the same annotator was imported with before are superseded, or stay if they are the same.
    Returns how many are new, and how many changed."""
    later = judgement.alias("later")
    query = select(judgement).outerjoin(later, later.c.supersedes == judgement.c.id)
    query = query.where(judgement.c.round == 1, later.c.id.is_(None))
    stored = rows_among(work.connection, query, judgement.c.annotator_id, {account for account, _ in chosen})
    before = {(row.annotator_id, row.question_id): row for row in stored}
    same = {"round": 1, "guideline": ELSEWHERE, "client": command("import-labels")}
    rows = []
    for (account, question_id), (label, answer) in chosen.items():
        earlier = before.get((account, question_id))
        if earlier is None or earlier.answer != answer:
            given = {"annotator_id": account, "question_id": question_id, "answer": answer, "shown_at": label.shown_at}
            times = {"decided_at": label.decided_at or tables.now(), "supersedes": earlier and earlier.id}
            rows.append(same | given | times)
    work.add(tables.Judgement, rows)
    changed = sum(row["supersedes"] is not None for row in rows)
    return len(rows) - changed, changed


def _decide(work: Work, chosen: _Chosen) -> tuple[int, int]:
    """As `_vote`, for adjudications. What somebody else has decided since stays until the file says otherwise."""
    query = select(adjudication).where(adjudication.c.annotator_id.in_({person for person, _ in chosen}))
    stored = work.connection.execute(query.order_by(adjudication.c.id))
    before = {(row.annotator_id, row.question_id): list(row.allowed) for row in stored}
    rows = []
    for key, (label, answer) in chosen.items():
        if before.get(key) == [answer]:
            continue
        check_comment(label.reason)
        code = label.reason if label.reason in REASONS and label.reason != OTHER_REASON else None
        reason = "" if code else label.reason or NO_REASON
        row = {"annotator_id": key[0], "question_id": key[1], "allowed": [answer], "reason": reason, "code": code}
        rows.append(row | {"guideline": ELSEWHERE, "decided_at": label.decided_at or tables.now()})
    work.add(tables.Adjudication, rows)
    changed = sum((row["annotator_id"], row["question_id"]) in before for row in rows)
    return len(rows) - changed, changed


def _task(connection: Connection, name: str | None) -> Task:
    if name is not None and get_task(name).labels:
        return get_task(name)
    stored = connection.execute(select(study.c.task).distinct()).scalars()
    tasks = sorted(candidate for candidate in stored if matches(candidate, name))
    if not tasks:
        raise AuditError("there are no studies of this task yet, so no text to label; run `audit run` first")
    if len(tasks) > 1:
        raise AuditError(
            f"there are studies of several tasks: {with_commas(tasks)}; choose one with task=NAME", parameter="task"
        )
    return get_task(tasks[0])


def _need_subjects(file: Labels, task: Task) -> None:
    """Raise BadFile where a label does not say which input, or which output, the task asks about."""
    columns, translates, pairs = text_columns(task.texts), base_of(task.name) == "translation", asks_pairs(task.name)
    bad = []
    for label in file.labels:
        if label.question is not None:
            continue
        if len(label.texts) < task.texts:
            needs = f"compares {task.texts} texts; they are in the columns {with_commas(columns)}"
        elif pairs and label.output is None:
            needs = (
                "asks about each output; name it in the column output, or give the question's key (an export for Label "
                "Studio has it with each task)"
            )
        elif translates and label.target is None:
            needs = "asks about outputs in a language; say in the column target_language which, such as es"
        else:
            continue
        bad.append((label.where, f"task {task.name} {needs}"))
    _refuse(file.path, bad, len(file.labels))


def _annotator_names(file: Labels, annotator: str | None) -> list[str]:
    """The name of each label's annotator. Raises AuditError where the file and `annotator` do not give one."""
    names = {label.annotator for label in file.labels}
    problem = ""
    if annotator is None and None in names:
        problem = "the file does not say who gave the labels; name them with annotator=NAME"
    elif annotator is not None and len(names) > 1:
        problem = f"the file names {len(names)} annotators, annotator would make one of them; leave it out"
    if problem:
        raise AuditError(f"{file.path}: {problem}", parameter="annotator")
    written = {name: checked_name(str(name if annotator is None else annotator)) for name in sorted(names, key=str)}
    return [written[label.annotator] for label in file.labels]


def _labels_of_task(file: Labels, task: Task, renamed: Mapping[str, str]) -> list[str]:
    """Each label in the task's spelling. Raises BadFile for those that are none of its labels."""
    spelled, allowed = label_reader(task), (*labels_to_write(task), UNSURE)

    def read(written: str) -> str | None:
        return UNSURE if written.strip().casefold() == UNSURE else spelled(written)

    mapped = {}
    for name, label in renamed.items():
        mapped[name.casefold()] = to = read(label)
        if to is None:
            problem = f"renamed {name}={label}: {label!r} is not one of {with_commas(allowed)}"
            raise AuditError(problem, parameter="renamed")
    answers = [mapped.get(label.label.casefold()) or read(label.label) for label in file.labels]
    bad = [
        (label.where, f"label {label.label!r} is not one of {', '.join(allowed)}; rename it with renamed")
        for label, answer in zip(file.labels, answers, strict=True)
        if answer is None
    ]
    _refuse(file.path, bad, len(file.labels), parameter="renamed")
    return [str(answer) for answer in answers]


def _targets(connection: Connection, file: Labels, task: Task, language: str) -> tuple[list[int | str], int]:
    """The question of each label, made where it does not exist, or why there is none; and how many were made."""
    by_key = _ids(connection, question, {label.question for label in file.labels if label.question is not None})
    translates = base_of(task.name) == "translation"
    about = {
        position: Input.of(
            *label.texts[: task.texts], language=label.language or language, target=label.target if translates else None
        )
        for position, label in enumerate(file.labels)
        if label.question is None
    }
    inputs, reasons = _inputs(connection, about)
    outputs: dict[tuple[int, str | None], str] | None = None
    if asks_pairs(task.name):
        of = output_table.c
        query = select(of.input_id, of.text).where(of.text.is_not(None), of.error.is_(None)).distinct()
        returned = rows_among(connection, query, of.input_id, {*inputs.values()})
        outputs = {(input_id, normal_text(text)): text for input_id, text in returned}
    targets: list[int | str] = []
    subjects: dict[int, Subject] = {}
    for position, label in enumerate(file.labels):
        input_id = inputs.get(position)
        if label.question is not None:
            targets.append(by_key.get(label.question, NO_QUESTION))
        elif input_id is None:
            targets.append(reasons.get(position, NOT_HERE))
        elif outputs is not None and (input_id, label.output) not in outputs:
            targets.append(NO_OUTPUT)
        else:
            subjects[position] = (task.name, input_id, outputs[input_id, label.output] if outputs else None)
            targets.append("")
    ids, opened = make_questions(connection, sorted(subjects.values(), key=lambda about: (about[1], about[2] or "")))
    for position, subject in subjects.items():
        targets[position] = ids[subject]
    return targets, opened


def _inputs(connection: Connection, about: Mapping[int, Input]) -> tuple[dict[int, int], dict[int, str]]:
    """The stored input of each of these, by position: the same, or one whose texts have the same normal form. And of
    those that are stored in another language alone, the reason why they are not taken."""
    ids = _ids(connection, input_table, {item.key for item in about.values()})
    inputs = {position: ids[item.key] for position, item in about.items() if item.key in ids}
    missing = {position: item for position, item in about.items() if position not in inputs}
    if not missing:
        return inputs, {}
    # Recorded texts are stored as a system saw them, with the blanks at their ends: these are gone through.
    wanted = {item.texts for item in missing.values()}
    stored: dict[tuple[str, ...], dict[tuple[str, ...], int]] = {}
    columns = (input_table.c.id, input_table.c.texts, input_table.c.languages)
    for id, texts, languages in connection.execute(select(*columns).order_by(input_table.c.id.desc())):
        if (form := tuple(map(normal_text, texts))) in wanted:
            stored.setdefault(form, {})[tuple(languages.split(","))] = int(id)
    reasons = {}
    for position, item in missing.items():
        by_languages = stored.get(item.texts, {})
        if item.languages in by_languages:
            inputs[position] = by_languages[item.languages]
        elif by_languages:
            reasons[position] = NOT_IN_LANGUAGE.format("-".join(dict.fromkeys(next(iter(by_languages)))))
    return inputs, reasons


def _ids(connection: Connection, table: Table, keys: Iterable[bytes]) -> dict[bytes, int]:
    rows = rows_among(connection, select(table.c.key, table.c.id), table.c.key, sorted(keys))
    return {bytes(key): id for key, id in rows}


def _elsewhere_accounts(connection: Connection, names: Sequence[str], role: Role) -> dict[str, int]:
    """Accounts for these names, made where they are absent; disabled, so that nobody can log in by any way. An account
    is one of ours when all that it ever answered was answered elsewhere. Raises AuditError for one that is not."""
    existing = select(annotator.c.id, annotator.c.name)
    for id, name in list(rows_among(connection, existing, annotator.c.name, names)):
        versions = union(
            *(select(table.c.guideline).where(table.c.annotator_id == id) for table in (judgement, adjudication))
        )
        if connection.execute(versions).scalars().all() != [ELSEWHERE]:
            raise AuditError(
                f"{name!r} is an account that somebody uses; give who made these labels another name with annotator",
                parameter="annotator",
            )
    columns = {"role": role, "password": None, "languages": "", "disabled": True, "created_at": tables.now()}
    insert_new(connection, tables.Annotator, [{"name": name} | columns for name in names])
    return {name: id for id, name in rows_among(connection, existing, annotator.c.name, names)}


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
    """Answer the question about every source with a gold label, of a study, or of all (None), whether anybody was asked
    or not: the labels are there before any round. Repeating it adds nothing.

    Asked for by a manager (`by`, an account id; else NotAllowed) or by the owner of the database (None).
    """
    with unit_of_work(engine, by, "manager", owner=True) as work:
        work.hold_all()
        connection = work.connection
        labelled: list[ColumnElement[bool]] = [source.c.gold.is_not(None)]
        among: ColumnElement[bool] = true()
        about_own: ColumnElement[bool] = true()
        if study_id is not None:
            need_study(connection, study_id)
            labelled.append(source.c.study_id == study_id)
            among = asked_by(connection, [study_id])
            about_own = and_(among, question.c.input_id.in_(select(source.c.input_id).where(*labelled)))
        query = select(study.c.task, source.c.input_id).join(study, study.c.id == source.c.study_id).where(*labelled)
        subjects = sorted(connection.execute(query.distinct()))
        make_questions(connection, [(task, id, None) for task, id in subjects if not asks_pairs(task)])
        labels = gold_labels(connection)
        about = select(question.c.id, question.c.task, question.c.input_id, question.c.kind)
        about = about.where(question.c.kind.in_(("input", "pair")), about_own)
        rows = rows_among(connection, about, question.c.input_id, sorted({input_id for _, input_id in labels}))
        asked = [row for row in rows if (row.task, row.input_id) in labels]
        of_text = {row.id: labels[row.task, row.input_id] for row in asked if row.kind == "input"}
        answered = select(judgement.c.question_id).join(question, question.c.id == judgement.c.question_id)
        gold = gold_id(connection)
        before = set(connection.execute(answered.where(judgement.c.annotator_id == gold, among)).scalars())
        clear = {id: next(iter(golds)) for id, golds in of_text.items() if len(golds) == 1}
        same = {"annotator_id": gold, "round": 1, "guideline": 0, "client": command("gold"), "decided_at": tables.now()}
        new = [same | {"question_id": id, "answer": label} for id, label in clear.items() if id not in before]
        work.add(tables.Judgement, new)
        total = count_rows(connection, question, question.c.kind == "input", among)
    contradictory = sum(len(golds) > 1 for golds in of_text.values())
    return GoldAnswers(total, len(before | set(clear)), len(new), contradictory, len(asked) - len(of_text))
