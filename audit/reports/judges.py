"""Judges that are models, measured: against people, against gold, and against themselves. Never mixed with people.

`audit judge agreement` is this document; reports and the app have the same entries.
"""

import json
from collections.abc import Collection, Iterator, Sequence
from dataclasses import asdict
from typing import Any

import pandas as pd
from sqlalchemy import Connection, Engine, func, select

import audit
from audit.errors import AuditError
from audit.false_satisfaction.cells import source_clusters
from audit.false_satisfaction.judged import JUDGE, JudgeRow, last_answers, stored_judges
from audit.judging.accounts import reading_as_manager
from audit.judging.judges import own_systems
from audit.messages import message
from audit.reports.document import Entry
from audit.reports.tables import Section, Table, closing
from audit.reports.words import UNKNOWN, Say, count, estimate, number
from audit.statistics.judges import against, rate
from audit.store import rows_among
from audit.store.bulk import LIMIT
from audit.store.core import answer, member, question, study
from audit.systems.judge import UNSURE, VARIANTS
from audit.tasks.questions import labels_of

WHOSE = {"people": ("adjudicated", "people"), "gold": ("gold",)}
"""Whose answers a judge is held against, and their origins, the first that is there."""


def judges_report(engine: Engine, by: int | None = None) -> Entry:
    """Return the document of `audit judge agreement`, for a manager (`by`, an account id; else NotAllowed), or for
    whoever has the database (None), who is told where no judge has answered anything. Raises AuditError."""
    with reading_as_manager(engine, by) as connection:
        judges = judge_entries(connection)
    if not judges and by is None:
        raise AuditError("no judge has answered anything yet; ask one with `audit judge ask`")
    named = [{"name": judge["name"], "version": judge["version"]} for judge in judges]
    interval = "exact, at the effective size of sources; kappa by the Bayesian bootstrap"
    signature = {"audit": audit.__version__, "judges": named, "interval": interval, "confidence": 0.95}
    notes = [message("judges.note_questions"), message("judges.note_apart")]
    return {"judges": judges, "notes": notes, "signature": signature}


def judge_entries(connection: Connection, tasks: Collection[str] | None = None) -> list[Entry]:
    """Return an entry for each judge, with a part for each of these tasks (None: all) and kind of question."""
    judges = stored_judges(connection)
    rows = [
        (judge.id, variant, last.question_id, last.task, last.kind, last.answer)
        for judge in judges
        for variant in range(len(VARIANTS))
        for last in last_answers(connection, judge.id, variant)
        if tasks is None or last.task in tasks
    ]
    answers = pd.DataFrame(rows, columns=["judge", "variant", "question", "task", "kind", "answer"])
    questions = sorted(set(answers["question"]))
    answers["cluster"] = answers["question"].map(_clusters(connection, questions))
    query = select(answer.c.origin, answer.c.question_id, answer.c.allowed)
    settled = list(rows_among(connection, query, answer.c.question_id, questions))
    for whose, origins in WHOSE.items():
        right = {id: frozenset(allowed) for of in reversed(origins) for origin, id, allowed in settled if origin == of}
        answers[whose] = [right.get(id) for id in answers["question"]]
    entries: list[Entry] = []
    for judge in judges:
        settings, own = json.loads(judge.settings), answers[answers["judge"] == judge.id]
        named = {"judge": judge.id, "name": judge.name, "version": judge.version, "settings": settings}
        named["own"] = list(own_systems(connection, judge.name, judge.version, settings))
        parts = own.groupby(["task", "kind"], sort=True)
        entries.append(named | {"tasks": [_part(str(task), str(kind), part) for (task, kind), part in parts]})
    return entries


def _clusters(connection: Connection, questions: Sequence[int]) -> dict[int, int]:
    """Return the document of each question's text, or its source: the first of whose groups has the text."""
    query = select(question.c.id, func.min(member.c.group_id))
    query = query.join(member, member.c.input_id == question.c.input_id).group_by(question.c.id)
    source_of = {id: group // LIMIT**2 for id, group in rows_among(connection, query, question.c.id, questions)}
    clusters = source_clusters(connection, connection.execute(select(study.c.id)).scalars().all())
    codes = clusters.loc[list(source_of.values())].tolist()
    # A question of no group, such as one of a training round, stands alone: numbers that no source has.
    return {id: -(10**12) - id for id in questions} | dict(zip(source_of, codes, strict=True))


def _part(task: str, kind: str, answers: pd.DataFrame) -> Entry:
    """Return how a judge answered the questions of a task and kind: as usual, in other ways, and against others."""
    usual, consistency = answers[answers["variant"] == 0], list[Entry]()
    unsure, errors = usual["answer"] == UNSURE, usual["answer"].isna()
    part: Entry = {"task": task, "kind": kind, "asked": len(usual), "answered": int((~(unsure | errors)).sum())}
    for variant, other in answers[answers["variant"] > 0].groupby("variant", sort=True):
        both = usual.merge(other[["question", "answer"]], on="question", suffixes=("", "_other"))
        paired = both.dropna(subset=["answer", "answer_other"])
        if len(both):
            same = rate((paired["answer"] == paired["answer_other"]).to_numpy(), paired["cluster"].to_numpy())
            consistency.append({"variant": VARIANTS[variant], "same": asdict(same)})
    part |= {"unsure": int(unsure.sum()), "errors": int(errors.sum()), "consistency": consistency}
    for whose in WHOSE:
        part[whose], settled = None, usual[usual[whose].notna()]
        if len(settled):
            said = settled[~(unsure | errors)[settled.index]]
            cluster, labels = said["cluster"].to_numpy(), labels_of(task, kind)
            shares = asdict(against(said["answer"].tolist(), said[whose].tolist(), cluster, labels))
            part[whose] = {"questions": len(said), "left_out": len(settled) - len(said), **shares}
    return part


def proxy_judges(judges: Sequence[Entry], settings: Entry) -> list[Entry]:
    """Return the judges that are among a report's proxies."""
    names = [name.removeprefix(JUDGE) for name in settings.get("proxy", {}).get("names", []) if name.startswith(JUDGE)]
    rows = ((judge, JudgeRow(judge["judge"], judge["name"], judge["version"], "")) for judge in judges)
    return [judge for judge, row in rows if any(map(row.called, names))]


def own_note(entry: Entry) -> str:
    """Return that the judge is a system under test, where it is one; else an empty text."""
    return message("judges.is_own", name=entry["name"], systems=entry["own"]) if entry["own"] else ""


def judge_section(entry: Entry, say: Say) -> Section:
    """Return how a judge did with the questions of each task: how many, against whom, and against itself."""
    parts: list[Any] = [say.said(own)] if (own := own_note(entry)) else []
    for part in entry["tasks"]:
        numbers = {name: count(part[name]) for name in ("asked", "answered", "unsure", "errors")}
        parts.append(say(f"judges.asked_{part['kind']}", task=part["task"], **numbers))
        for whose in WHOSE:
            if not (held := part[whose]):
                parts.append(say(f"judges.no_{whose}"))
                continue
            value, low, high = (number(held["kappa"][end], 3) for end in ("value", "low", "high"))
            kappa = say.said(held["kappa"]["reason"]) or f"{value} [{low}–{high}]"
            against = {"accuracy": share_text(held["accuracy"], say), "kappa": kappa}
            parts.append(say(f"judges.against_{whose}", count=held["questions"], **against))
            names, labels = ("sensitivity", "specificity"), [of_label["label"] for of_label in held["labels"]]
            rows = [
                (of_label["label"], *(share_text(of_label[name], say) for name in names)) for of_label in held["labels"]
            ]
            parts.append(Table([say(f"judges.{name}") for name in (f"by_{whose}", *names)], rows))
            confusion = [(label, *row) for label, row in zip(labels, held["confusion"], strict=True)]
            parts.append(Table((say("judges.confusion"), *labels), confusion))
        for variant in part["consistency"]:
            parts.append(say(f"judges.variant_{variant['variant']}", same=share_text(variant["same"], say)))
    return Section(f"{entry['name']}@{entry['version']}", parts)


def share_text(share: Entry, say: Say) -> str:
    """Return a rate in per cent with its interval and its counts, or say why there is none.

    >>> share_text({"part": 34, "whole": 40, "value": 0.85, "low": 0.7, "high": 0.94, "reason": None}, Say())
    '85.0 % [70.0–94.0] (34 / 40)'
    """
    if share["value"] is None:
        return say.said(share["reason"] or UNKNOWN)
    return f"{estimate(share).text(sign=' %')} ({count(share['part'])} / {count(share['whole'])})"


def judges_sections(document: Entry) -> Iterator[Section]:
    """Yield a section a judge, and the notes."""
    yield from (judge_section(entry, Say()) for entry in document["judges"])
    yield closing(document)
