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
from audit.reports.agreement import WIDTH, closing_lines
from audit.reports.document import AgainstEntry, JudgeEntry, JudgeTask, Signature, ToldEntry, VariantEntry
from audit.reports.documents import JudgesDocument
from audit.reports.tables import aligned
from audit.reports.words import UNKNOWN, count, percent
from audit.statistics.judges import against, rate
from audit.store import pieces, snapshot, table_of, tables
from audit.store.bulk import LIMIT
from audit.systems.judge import UNSURE, VARIANTS

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
    judges: list[JudgeRecord] = []
    about: dict[int, tuple[str, str]] = {}
    for row in stored_judges(connection) if only is None else [find_judge(connection, only)]:
        answers: dict[int, dict[int, str | None]] = {}
        for variant in range(len(VARIANTS)):
            for last in last_answers(connection, row.id, variant):
                about[last.question_id] = (last.task, last.kind)
                answers.setdefault(variant, {})[last.question_id] = last.answer
        own = own_systems(connection, row.name, row.version, json.loads(row.settings))
        judges.append(JudgeRecord(row, own, answers))
    answer, settled = table_of(tables.Answer), dict[int, dict[str, frozenset[str]]]()
    for piece in pieces(sorted(about)):
        query = select(answer.c.question_id, answer.c.origin, answer.c.allowed).where(answer.c.question_id.in_(piece))
        for id, origin, allowed in connection.execute(query):
            settled.setdefault(id, {})[origin] = frozenset(allowed)
    return JudgesRecord(judges, about, settled, _clusters(connection, sorted(about)))


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
    codes = clusters.of(np.array(list(source_of.values()), np.int64)).tolist()
    # A question of no group, such as one of a training round, stands alone: numbers that no source has.
    return {id: -(10**12) - id for id in questions} | dict(zip(source_of, codes, strict=True))


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
    given = list(usual.values())
    people, gold = (_against(usual, record, origins, labels_of(task, kind)) for origins in ORIGINS.values())
    consistency: list[VariantEntry] = []
    for variant, other in sorted(judge.answers.items()):
        if variant and not usual.keys().isdisjoint(other):
            both = [id for id in sorted(usual) if usual[id] is not None and other.get(id) is not None]
            same = rate([usual[id] == other[id] for id in both], np.array([record.clusters[id] for id in both]))
            consistency.append({"variant": VARIANTS[variant], "same": cast(ToldEntry, asdict(same))})
    return {
        "task": task,
        "kind": kind,
        "asked": len(given),
        "answered": len(given) - given.count(UNSURE) - given.count(None),
        "unsure": given.count(UNSURE),
        "errors": given.count(None),
        "consistency": consistency,
        "people": people,
        "gold": gold,
    }


def _against(
    usual: Mapping[int, str | None], record: JudgesRecord, origins: Sequence[str], labels: Sequence[str]
) -> AgainstEntry | None:
    """None where none of the questions is settled by these."""
    truth: dict[int, frozenset[str]] = {}
    for id in sorted(usual):
        settled = record.settled.get(id, {})
        if origin := next((origin for origin in origins if origin in settled), None):
            truth[id] = settled[origin]
    if not truth:
        return None
    given = {id: answer for id in truth if (answer := usual[id]) is not None and answer != UNSURE}
    clusters = np.array([record.clusters[id] for id in given], np.int64)
    found = asdict(against(list(given.values()), [truth[id] for id in given], clusters, labels))
    return cast(AgainstEntry, {"questions": len(given), "left_out": len(truth) - len(given), **found})


def judges_report(engine: Engine, only: str | None = None) -> JudgesDocument:
    """The document of `audit judge agreement`. Raises AuditError where no judge has answered anything."""
    with snapshot(engine) as connection:
        record = read_judges(connection, only)
    if not record.judges:
        raise AuditError("no judge has answered anything yet; ask one with `audit judge ask`")
    return _document(record)


def judges_for_manager(engine: Engine, by: int) -> JudgesDocument:
    """The same for a manager (`by`, an account id), without any judge where there is none. Raises NotAllowed."""
    with reading_as_manager(engine, by) as connection:
        return _document(read_judges(connection))


def _document(record: JudgesRecord) -> JudgesDocument:
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
    numbers = {name: count(part[name]) for name in ("asked", "answered", "unsure", "errors")}
    lines = [say(f"judges.asked_{part['kind']}", task=part["task"], **numbers)]
    for whose, entry in (("people", part["people"]), ("gold", part["gold"])):
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


def label_tables(part: JudgeTask, language: str = ENGLISH) -> list[tuple[tuple[str, ...], list[tuple[str, ...]]]]:
    """Headings and rows of sensitivity and specificity by label, against people and against gold."""
    tables = []
    for whose, entry in (("people", part["people"]), ("gold", part["gold"])):
        if entry is not None:
            heads = tuple(phrase(language, f"judges.{name}") for name in (f"by_{whose}", "sensitivity", "specificity"))
            rates = [(one["label"], one["sensitivity"], one["specificity"]) for one in entry["labels"]]
            tables.append(
                (heads, [(label, *(told_text(told, language) for told in told_of)) for label, *told_of in rates])
            )
    return tables


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
            for heads, rows in label_tables(part):
                lines += ["", *aligned(heads, rows, 1, WIDTH)]
            for against_entry in filter(None, (part["people"], part["gold"])):
                names = [one["label"] for one in against_entry["labels"]]
                counts = zip(names, against_entry["confusion"], strict=True)
                table = [(name, *map(count, row)) for name, row in counts]
                lines += ["", *aligned([phrase(ENGLISH, "judges.confusion"), *names], table, 1, WIDTH)]
            lines.append("")
    return [*lines, *closing_lines(document["notes"], document["signature"])]
