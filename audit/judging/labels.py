"""`audit import-labels`: labels that people gave elsewhere become judgements of annotators of their own.

They are votes like any other: a question that wants two annotators is settled by two of them that agree, or by one of
them and somebody who judges it here. The annotators are disabled accounts: nobody can log in as one of them.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Engine, func, select

from audit.annotation.accounts import GOLD
from audit.annotation.answers import UNSURE
from audit.annotation.clients import command
from audit.annotation.guidelines import ELSEWHERE
from audit.annotation.questions import asks_pairs, question_ids, question_key
from audit.errors import AuditError
from audit.judging.label_files import Label, Labels, refuse
from audit.judging.unit import unit_of_work
from audit.store import insert_new, need_study, pieces, table_of, tables
from audit.tasks import Input, Task, get_task, matches

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
    given: Labels,
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
        of = _task(connection, task)
        _need_questions(given, of)
        named = _named(given, annotator)
        labels = _understood(given, of, renamed or {})
        unmatched: Counter[str] = Counter()
        first: dict[str, str] = {}

        def left(label: Label, reason: str) -> None:
            unmatched[reason] += 1
            first.setdefault(reason, label.where)

        if study is not None:
            need_study(connection, study)
        found, opened = _questions(connection, given, of, language, study)
        chosen: dict[tuple[str, int], tuple[Label, str]] = {}
        contradictory: set[tuple[str, int]] = set()
        repeated = 0
        for place, (label, answer) in enumerate(zip(given.labels, labels, strict=True)):
            target = found[place]
            if isinstance(target, str):
                left(label, target)
                continue
            key = (named[place], target)
            if key in contradictory:
                left(label, CONTRADICTORY)
            elif key not in chosen:
                chosen[key] = (label, answer)
            elif chosen[key][1] == answer:
                repeated += 1
            else:
                contradictory.add(key)
                left(chosen.pop(key)[0], CONTRADICTORY)
                left(label, CONTRADICTORY)
        people = _annotators(connection, sorted({name for name, _ in chosen}))
        before = _before(connection, people.values())
        rows: list[dict[str, Any]] = []
        known = 0
        for (name, question), (label, answer) in chosen.items():
            earlier = before.get((people[name], question))
            if earlier is not None and earlier[1] == answer:
                known += 1
                continue
            rows.append(
                {
                    "question_id": question,
                    "annotator_id": people[name],
                    "round": 1,
                    "answer": answer,
                    "guideline": ELSEWHERE,
                    "client": command("import-labels"),
                    "shown_at": label.shown_at,
                    "decided_at": label.decided_at or tables.now(),
                    "supersedes": earlier[0] if earlier is not None else None,
                }
            )
        work.add(tables.Judgement, rows)
    changed = sum(row["supersedes"] is not None for row in rows)
    return Imported(
        len(given.labels),
        len(rows) - changed,
        changed,
        known,
        repeated,
        opened,
        dict(unmatched),
        first,
        given.without,
        sorted(people),
    )


def _task(connection: Connection, name: str | None) -> Task:
    if name is not None and get_task(name).labels:
        return get_task(name)
    table = table_of(tables.Study)
    found = {str(row[0]) for row in connection.execute(select(table.c.task).distinct())}
    there = sorted(one for one in found if matches(one, name))
    if not there:
        of = f" of the task {name}" if name else ""
        raise AuditError(f"there are no studies{of} yet, so no text to label; run `audit run` first")
    if len(there) > 1:
        raise AuditError(f"there are studies of several tasks: {', '.join(there)}; choose one with --task")
    return get_task(there[0])


def _need_questions(given: Labels, task: Task) -> None:
    """Raises AuditError where a label is about a text, and the task asks about outputs."""
    loose = next((one for one in given.labels if one.question is None), None)
    if asks_pairs(task.name) and loose is not None:
        raise AuditError(
            f"{given.path}, {loose.where}: task {task.name} asks about each output, and a text or row does not say "
            "which is meant; give the question's key (`audit export --format label-studio` writes it with each task)"
        )


def _named(given: Labels, annotator: str | None) -> list[str]:
    """Who gave each label."""
    names = {label.annotator for label in given.labels}
    if annotator is None and None in names:
        raise AuditError(f"{given.path}: the file does not say who gave the labels; name them with --annotator")
    if annotator is not None and len(names) > 1:
        raise AuditError(
            f"{given.path}: the file names {len(names)} annotators, --annotator would make one of them; leave it out"
        )
    found = [annotator if annotator is not None else str(label.annotator) for label in given.labels]
    for name in sorted(set(found)):
        if not name.strip() or len(name) > 80 or not name.isprintable() or name == GOLD or name.startswith("deleted-"):
            raise AuditError(
                f"annotator {name!r}: must be 1 to 80 printable characters, not {GOLD!r} and not begin with 'deleted-'"
            )
    return found


def _understood(given: Labels, task: Task, renamed: Mapping[str, str]) -> list[str]:
    """Each label in the task's spelling. Raises BadFile for those that are none of its labels."""
    allowed = {label.casefold(): label for label in (*task.labels, UNSURE)}
    for name, label in renamed.items():
        if label.casefold() not in allowed:
            raise AuditError(f"--map {name}={label}: {label!r} is not one of {', '.join(allowed.values())}")
    mapped = {name.casefold(): allowed[label.casefold()] for name, label in renamed.items()}
    found = [mapped.get(one.label.casefold()) or allowed.get(one.label.casefold()) for one in given.labels]
    bad = [
        (one.where, f"label {one.label!r} is not one of {', '.join(allowed.values())}; rename it with --map")
        for one, answer in zip(given.labels, found, strict=True)
        if answer is None
    ]
    refuse(given.path, bad, len(given.labels))
    return [str(answer) for answer in found]


def _questions(
    connection: Connection, given: Labels, task: Task, language: str, study: int | None
) -> tuple[list[int | str], int]:
    """The question of each label, or why there is none; and how many questions were made."""
    by_key = _ids(connection, tables.Question, {one.question for one in given.labels if one.question is not None})
    texts = {
        place: Input.of(one.text, language=one.language or language).key
        for place, one in enumerate(given.labels)
        if one.question is None and one.text is not None
    }
    inputs = _ids(connection, tables.Input, set(texts.values()))
    rows = _rows(connection, given, task, study)
    about: dict[int, int] = {}
    for place, label in enumerate(given.labels):
        given_id = rows.get(label.row) if label.row is not None else inputs.get(texts.get(place, b""))
        if given_id is not None:
            about[place] = given_id
    opened = _open(connection, task, set(about.values()))
    asked = question_ids(connection, task.name, set(about.values()))
    found: list[int | str] = []
    for place, label in enumerate(given.labels):
        if label.question is not None:
            found.append(by_key.get(label.question, NO_QUESTION))
        elif place in about:
            found.append(asked[task.name, about[place], None])
        else:
            found.append(NO_ROW if label.row is not None else NOT_HERE)
    return found, opened


def _ids(
    connection: Connection, model: type[tables.Question] | type[tables.Input], keys: Iterable[bytes]
) -> dict[bytes, int]:
    table = table_of(model)
    found: dict[bytes, int] = {}
    for piece in pieces(sorted(keys)):
        query = select(table.c.key, table.c.id).where(table.c.key.in_(piece))
        found.update((bytes(row[0]), int(row[1])) for row in connection.execute(query))
    return found


def _rows(connection: Connection, given: Labels, task: Task, study: int | None) -> dict[str, int]:
    """Inputs by the row of a source. Raises BadFile where a row stands for different texts in different studies."""
    source, of = table_of(tables.Source), table_of(tables.Study)
    wanted = {one.row: one.where for one in given.labels if one.row is not None}
    found: dict[str, dict[int, int]] = {}
    for piece in pieces(sorted(wanted)):
        query = (
            select(source.c.row, source.c.input_id, source.c.study_id)
            .join(of, of.c.id == source.c.study_id)
            .where(of.c.task == task.name, source.c.row.in_(piece))
        )
        for row, given_id, study_id in connection.execute(query if study is None else query.where(of.c.id == study)):
            found.setdefault(row, {}).setdefault(int(given_id), int(study_id))
    bad = [
        (wanted[row], f"row {row!r} is another text in study {' than in '.join(map(str, some.values()))}; name --study")
        for row, some in found.items()
        if len(some) > 1
    ]
    refuse(given.path, bad, len(given.labels))
    return {row: next(iter(some)) for row, some in found.items()}


def _open(connection: Connection, task: Task, inputs: set[int]) -> int:
    """Make the questions that are not there; nobody waits for them before a group is drawn that needs them."""
    missing = sorted(inputs - {given for _, given, _ in question_ids(connection, task.name, inputs)})
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
        if row["role"] != ROLE or [int(one[0]) for one in connection.execute(guidelines)] != [ELSEWHERE]:
            raise AuditError(
                f"{name!r} is an account that somebody uses; give who made these labels another name with --annotator"
            )
    made = {"role": ROLE, "password": None, "languages": "", "disabled": True, "created_at": tables.now()}
    insert_new(connection, tables.Annotator, [{"name": name} | made for name in names])
    found: dict[str, int] = {}
    for piece in pieces(names):
        query = select(table.c.name, table.c.id).where(table.c.name.in_(piece))
        found.update((str(one[0]), int(one[1])) for one in connection.execute(query))
    return found


def _before(connection: Connection, people: Iterable[int]) -> dict[tuple[int, int], tuple[int, str]]:
    """(annotator, question) -> the judgement that counts, and its answer."""
    judgement = table_of(tables.Judgement)
    later = judgement.alias("later")
    found: dict[tuple[int, int], tuple[int, str]] = {}
    for piece in pieces(people):
        query = (
            select(judgement.c.annotator_id, judgement.c.question_id, judgement.c.id, judgement.c.answer)
            .outerjoin(later, later.c.supersedes == judgement.c.id)
            .where(judgement.c.annotator_id.in_(piece), judgement.c.round == 1, later.c.id.is_(None))
        )
        found.update(((int(who), int(what)), (int(id), answer)) for who, what, id, answer in connection.execute(query))
    return found


def renamed_labels(settings: Sequence[str]) -> dict[str, str]:
    """Labels by the names that a file has for them, from `good=positive,bad=negative`. Raises AuditError.

    >>> renamed_labels(["good=positive", "bad=negative"])
    {'good': 'positive', 'bad': 'negative'}
    """
    found: dict[str, str] = {}
    for setting in settings:
        name, equals, label = (part.strip() for part in setting.partition("="))
        if not (equals and name and label) or found.get(name, label) != label:
            raise AuditError(f"--map {setting!r}: expected NAME=LABEL, each name once, for example good=positive")
        found[name] = label
    return found
