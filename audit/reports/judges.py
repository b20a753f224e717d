"""Judges that are models, measured: against people, against gold, and against themselves. Never mixed with people.

`audit judge agreement` is this document; reports and the app have the same entries.
"""

import json
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import cast

import numpy as np
from sqlalchemy import Connection, Engine, func, select

import audit
from audit.annotation.accounts import reading_as_manager
from audit.annotation.questions import labels_of
from audit.errors import AuditError
from audit.false_satisfaction.cells import source_clusters
from audit.false_satisfaction.judged import JUDGE, JudgeRow, find_judge, last_answers, stored_judges
from audit.judging.judges import own_systems
from audit.messages import ENGLISH, message, phrase, said
from audit.reports.document import AgainstEntry, JudgeEntry, JudgeTask, Signature, ToldEntry, VariantEntry
from audit.reports.documents import JudgesDocument
from audit.reports.tables import aligned
from audit.reports.words import UNKNOWN, count, percent, signature_line
from audit.statistics.judges import Told, against, rate
from audit.store import pieces, snapshot, table_of, tables
from audit.store.bulk import LIMIT
from audit.systems.judge import UNSURE, VARIANTS

WIDTH = 100
ORIGINS = {"people": ("adjudicated", "people"), "gold": ("gold",)}
"""Whose answers a judge is held against, and their origins, the first that is there."""


@dataclass(frozen=True)
class JudgeRecord:
    """What a judge answered: `answers` by way of asking, question -> label, `unsure`, or None for an error."""

    row: JudgeRow
    own: tuple[str, ...]
    answers: Mapping[int, Mapping[int, str | None]]


@dataclass(frozen=True)
class JudgesRecord:
    """Judges, and what is known of their questions: task and kind, settled answers by origin, codes of clusters."""

    judges: Sequence[JudgeRecord]
    about: Mapping[int, tuple[str, str]]
    settled: Mapping[int, Mapping[str, frozenset[str]]]
    clusters: Mapping[int, int]


def read_judges(connection: Connection, only: str | None = None) -> JudgesRecord:
    """What judges (`only` one of this name; None: all) answered. Raises AuditError where there is none of this name."""
    rows = stored_judges(connection) if only is None else [find_judge(connection, only)]
    judges: list[JudgeRecord] = []
    about: dict[int, tuple[str, str]] = {}
    for row in rows:
        answers: dict[int, dict[int, str | None]] = {}
        for variant in range(len(VARIANTS)):
            last = last_answers(connection, row.id, variant)
            about |= {one.question_id: (one.task, one.kind) for one in last}
            if last:
                answers[variant] = {one.question_id: one.answer for one in last}
        own = own_systems(connection, row.name, row.version, json.loads(row.settings))
        judges.append(JudgeRecord(row, own, answers))
    questions = sorted(about)
    return JudgesRecord(judges, about, _settled(connection, questions), _clusters(connection, questions))


def _settled(connection: Connection, questions: Sequence[int]) -> dict[int, dict[str, frozenset[str]]]:
    answer = table_of(tables.Answer)
    found: dict[int, dict[str, frozenset[str]]] = {}
    for piece in pieces(questions):
        query = select(answer.c.question_id, answer.c.origin, answer.c.allowed).where(answer.c.question_id.in_(piece))
        for id, origin, allowed in connection.execute(query):
            found.setdefault(id, {})[origin] = frozenset(allowed)
    return found


def _clusters(connection: Connection, questions: Sequence[int]) -> dict[int, int]:
    """The document of each question's text, or its source: the first of whose groups has the text."""
    question, member, study = table_of(tables.Question), table_of(tables.Member), table_of(tables.Study)
    source_of: dict[int, int] = {}
    for piece in pieces(questions):
        first = (
            select(question.c.id, func.min(member.c.group_id))
            .join(member, member.c.input_id == question.c.input_id)
            .where(question.c.id.in_(piece))
            .group_by(question.c.id)
        )
        source_of |= {int(id): int(group) // LIMIT**2 for id, group in connection.execute(first)}
    clusters = source_clusters(connection, connection.execute(select(study.c.id)).scalars().all())
    ids = list(source_of)
    codes = clusters.of(np.array([source_of[id] for id in ids], np.int64)).tolist()
    # A question of no group, such as one of a training round, stands alone: numbers that no source has.
    alone = {id: -(10**12) - id for id in questions}
    return alone | dict(zip(ids, codes, strict=True))


def judge_entries(record: JudgesRecord, tasks: Sequence[str] | None = None) -> list[JudgeEntry]:
    """An entry for each judge, with a part for each task (of `tasks`; None: of all) and kind of question."""
    return [
        {
            "judge": judge.row.id,
            "name": judge.row.name,
            "version": judge.row.version,
            "settings": json.loads(judge.row.settings),
            "own": list(judge.own),
            "tasks": [
                _part(judge, record, task, kind)
                for task, kind in sorted({record.about[id] for given in judge.answers.values() for id in given})
                if tasks is None or task in tasks
            ],
        }
        for judge in record.judges
    ]


def _part(judge: JudgeRecord, record: JudgesRecord, task: str, kind: str) -> JudgeTask:
    usual = {id: answer for id, answer in judge.answers.get(0, {}).items() if record.about[id] == (task, kind)}
    labels = labels_of(task, kind)
    return {
        "task": task,
        "kind": kind,
        "asked": len(usual),
        "answered": sum(answer is not None and answer != UNSURE for answer in usual.values()),
        "unsure": sum(answer == UNSURE for answer in usual.values()),
        "errors": sum(answer is None for answer in usual.values()),
        "consistency": [
            _consistency(VARIANTS[variant], usual, judge.answers[variant], record)
            for variant in sorted(judge.answers)
            if variant and any(id in usual for id in judge.answers[variant])
        ],
        "people": _against(usual, record, ORIGINS["people"], labels),
        "gold": _against(usual, record, ORIGINS["gold"], labels),
    }


def _consistency(
    name: str, usual: Mapping[int, str | None], other: Mapping[int, str | None], record: JudgesRecord
) -> VariantEntry:
    both = [id for id in sorted(usual) if usual[id] is not None and other.get(id) is not None]
    same = rate([usual[id] == other[id] for id in both], np.array([record.clusters[id] for id in both]))
    return {"variant": name, "same": _told(same)}


def _against(
    usual: Mapping[int, str | None], record: JudgesRecord, origins: Sequence[str], labels: Sequence[str]
) -> AgainstEntry | None:
    """None where none of the questions is settled by these."""
    truth: dict[int, frozenset[str]] = {}
    for id in usual:
        of_question = record.settled.get(id, {})
        if origin := next((origin for origin in origins if origin in of_question), None):
            truth[id] = of_question[origin]
    if not truth:
        return None
    said = {id: answer for id in sorted(truth) if (answer := usual[id]) is not None and answer != UNSURE}
    found = against(
        list(said.values()), [truth[id] for id in said], np.array([record.clusters[id] for id in said]), labels
    )
    return {
        "questions": len(said),
        "left_out": len(truth) - len(said),
        "accuracy": _told(found.accuracy),
        "kappa": _told(found.kappa),
        "labels": [
            {
                "label": one.label,
                "truth": one.truth,
                "given": one.given,
                "sensitivity": _told(one.sensitivity),
                "specificity": _told(one.specificity),
            }
            for one in found.labels
        ],
        "confusion": found.confusion.tolist(),
    }


def _told(told: Told) -> ToldEntry:
    return cast(ToldEntry, asdict(told))


def judges_report(engine: Engine, only: str | None = None) -> JudgesDocument:
    """The document of `audit judge agreement`. Raises AuditError where no judge has answered anything."""
    with snapshot(engine) as connection:
        record = read_judges(connection, only)
    if not record.judges:
        raise AuditError("no judge has answered anything yet; ask one with `audit judge ask`")
    return judges_document(record)


def judges_for_manager(engine: Engine, by: int) -> JudgesDocument:
    """The same for a manager (`by`, an account id), without any judge where there is none. Raises NotAllowed."""
    with reading_as_manager(engine, by) as connection:
        return judges_document(read_judges(connection))


def judges_document(record: JudgesRecord) -> JudgesDocument:
    """What was read as a document."""
    return {
        "judges": judge_entries(record),
        "notes": [message("judges.note_questions"), message("judges.note_apart")],
        "signature": {
            "audit": audit.__version__,
            "judges": [{"name": one.row.name, "version": one.row.version} for one in record.judges],
            "interval": "exact, at the effective size of sources; kappa by the Bayesian bootstrap",
            "confidence": 0.95,
        },
    }


# The entries in words: what terminal, HTML and the app show.

COLUMNS = ("label", "sensitivity", "specificity")


def own_line(entry: JudgeEntry, language: str = ENGLISH) -> str:
    """That the judge is a system under test, where it is one; else empty."""
    if not entry["own"]:
        return ""
    return phrase(language, "judges.is_own", name=entry["name"], systems=", ".join(entry["own"]))


def own_note(judge: JudgeRecord) -> str:
    """The same of a judge that is a proxy, for the notes of a signature."""
    return message("judges.is_own", name=judge.row.name, systems=judge.own) if judge.own else ""


def proxy_judges(settings: Signature) -> list[str]:
    """The names of the judges among a report's proxies."""
    names: list[str] = settings.get("proxy", {}).get("names", [])
    return [name.removeprefix(JUDGE) for name in names if name.startswith(JUDGE)]


def part_lines(part: JudgeTask, language: str = ENGLISH) -> list[str]:
    """What a judge did with the questions of a task, in sentences: how many, against whom, and against itself."""
    say = partial(phrase, language)
    lines = [
        say(
            f"judges.asked_{part['kind']}",
            asked=count(part["asked"]),
            task=part["task"],
            answered=count(part["answered"]),
            unsure=count(part["unsure"]),
            errors=count(part["errors"]),
        )
    ]
    for whose in ("people", "gold"):
        entry = part["people"] if whose == "people" else part["gold"]
        if entry is None:
            lines.append(say(f"judges.no_{whose}"))
        else:
            accuracy, kappa = told_text(entry["accuracy"], language), told_text(entry["kappa"], language, whole=False)
            lines.append(say(f"judges.against_{whose}", count=entry["questions"], accuracy=accuracy, kappa=kappa))
    for variant in part["consistency"]:
        lines.append(say(f"judges.variant_{variant['variant']}", same=told_text(variant["same"], language)))
    return lines


def told_text(told: ToldEntry, language: str = ENGLISH, whole: bool = True) -> str:
    """A rate in per cent (a coefficient as it is) with its interval, or why there is none.

    >>> told_text({"part": 34, "whole": 40, "value": 0.85, "low": 0.7, "high": 0.94, "reason": None})
    '85.0 % [70.0–94.0] (34 / 40)'
    """
    if told["value"] is None:
        return said(told["reason"] or UNKNOWN, language)
    if not whole:
        return f"{told['value']:.3f} [{told['low']:.3f}–{told['high']:.3f}]"
    ends = f"[{percent(told['low'])}–{percent(told['high'])}]"
    return f"{percent(told['value'])} % {ends} ({count(told['part'])} / {count(told['whole'])})"


def label_rows(entry: AgainstEntry, language: str = ENGLISH) -> list[tuple[str, ...]]:
    """The values of `COLUMNS` of each label, as text."""
    return [
        (one["label"], told_text(one["sensitivity"], language), told_text(one["specificity"], language))
        for one in entry["labels"]
    ]


def label_tables(part: JudgeTask, language: str = ENGLISH) -> list[tuple[tuple[str, ...], list[tuple[str, ...]]]]:
    """Headings and rows of sensitivity and specificity by label, against people and against gold."""
    heads = tuple(phrase(language, f"judges.{name}") for name in COLUMNS[1:])
    return [
        ((phrase(language, f"judges.by_{whose}"), *heads), label_rows(entry, language))
        for whose, entry in (("people", part["people"]), ("gold", part["gold"]))
        if entry is not None
    ]


def judges_lines(document: JudgesDocument) -> list[str]:
    """The document as lines of text."""
    lines: list[str] = []
    for entry in document["judges"]:
        title = f"{entry['name']}@{entry['version']} (judge #{entry['judge']})"
        lines += [title, "=" * len(title), ""]
        if note := own_line(entry):
            lines += [*textwrap.wrap(note, WIDTH), ""]
        for part in entry["tasks"]:
            for line in part_lines(part):
                lines += textwrap.wrap(line, WIDTH, subsequent_indent="  ")
            entries = [entry for entry in (part["people"], part["gold"]) if entry is not None]
            for entry_of, (heads, rows) in zip(entries, label_tables(part), strict=True):
                lines += ["", *aligned(heads, rows, 1, WIDTH), "", *_confusion(entry_of)]
            lines.append("")
    for note in document["notes"]:
        lines += textwrap.wrap(f"Note: {note}", WIDTH, subsequent_indent="  ")
    return [*lines, "", "signature " + signature_line(document["signature"])]


def _confusion(entry: AgainstEntry) -> list[str]:
    names = [one["label"] for one in entry["labels"]]
    rows = [(name, *map(count, row)) for name, row in zip(names, entry["confusion"], strict=True)]
    return aligned([phrase(ENGLISH, "judges.confusion"), *names], rows, 1, WIDTH)
