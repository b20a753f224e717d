"""What a report is made from: everything is read here, once, from one state of the database; the rest is arithmetic."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from sqlalchemy import ColumnElement, Connection, Engine, RowMapping, func, select
from sqlmodel import SQLModel

import audit
from audit.corpora.slices import Slicing
from audit.false_satisfaction.accuracy import RightOutputs, right_outputs
from audit.false_satisfaction.cells import Counted, count, recount, source_clusters
from audit.false_satisfaction.questions import OpenQuestions, asked_by
from audit.false_satisfaction.resolution import ALLOWED, KnownAnswer, Whose, gold_labels, known_answers
from audit.false_satisfaction.slices import Sliced, slice_sources
from audit.judging.answers import stands
from audit.judging.causes import REASONS, current_causes
from audit.judging.words import words_of
from audit.messages import message
from audit.reports.basis import KEY
from audit.reports.document import Entry, Signature
from audit.reports.examples import read_examples
from audit.reports.judges import judge_entries
from audit.reports.repeats import repeat_entries
from audit.reports.validity import ValidityRecord, read_validity
from audit.runner.studies import cut_inputs, inapplicable_notes
from audit.sampling.options import MAJORITY
from audit.store import snapshot, table_of, tables
from audit.store.brought import absent_plugins
from audit.studies.versions import PlanAdherence, plan_adherence
from audit.tasks import get_task
from audit.tasks.questions import ABOUT_OUTPUTS, ORIGINS, asks_pairs

ESTIMATOR = "every answered group by its inclusion probability (rank conditioning)"
_USUAL = (("quorum", MAJORITY), ("follow_ups", 0.0))
"""Settings of a sample that its signature leaves out, because they are the usual ones."""


@dataclass(frozen=True)
class Evidence:
    """What a report is computed from: targets and weights can be tried on it without reading again.

    `made_from` is the part of the signature that is known already; `sliced` are the slices that were asked for;
    `lenient` are the counts if gold had the `lacking` labels; `judges` what models answered.
    """

    counted: Counted
    open_groups: int
    made_from: Signature
    causes: pd.DataFrame
    disputes: Entry | None
    plans: Sequence[PlanAdherence]
    accuracy: Sequence[RightOutputs]
    sliced: Sliced | None
    lenient: Counted | None
    lacking: Mapping[str, Sequence[str]]
    judges: Sequence[Entry]
    repeats: Sequence[Entry]
    examples: Sequence[Entry]
    validity: ValidityRecord | None


def evidence(
    database: Engine | Connection,
    whose: Whose = "both",
    study: int | None = None,
    slicings: Sequence[Slicing] = (),
    proxies: Sequence[str] = (),
    examples: int = 0,
) -> Evidence:
    """Return what `report_of` needs of the database as it is at one moment; arguments as in `study_report`.

    Raises AuditError where nothing was run.
    """
    with snapshot(database) as connection:
        counted = count(connection, whose, study, proxies=proxies)
        studies = [int(str(row["id"])) for row in counted.studies]
        among = asked_by(connection, studies)
        causes, lacking = named_falses(connection, counted), never_gold(connection, counted)
        made_from = signature(connection, counted, whose, lacking)
        if not made_from["answers"].get("gold"):
            lacking = {}
        if number := int(causes["code"].notna().sum()):
            made_from["causes"] = number
        question = table_of(tables.Question)
        of_groups = select(func.count()).where(question.c.kind == "group", question.c.priority.is_not(None), among)
        return Evidence(
            counted=counted,
            open_groups=int(connection.execute(of_groups).scalar_one()),
            made_from=made_from,
            causes=causes,
            disputes=disputes(connection, among),
            plans=plan_adherence(connection, counted.studies, counted.samples),
            accuracy=right_outputs(connection, counted, whose),
            sliced=slice_sources(connection, counted, slicings) if slicings else None,
            lenient=_lenient(connection, counted, whose, lacking) if lacking else None,
            lacking=lacking,
            judges=judge_entries(connection),
            repeats=repeat_entries(connection, counted, source_clusters(connection, studies)),
            examples=read_examples(connection, counted, whose, lacking, examples) if examples else (),
            validity=read_validity(connection, studies, counted.checks),
        )


def open_of(basis: Evidence) -> OpenQuestions:
    """Return the open questions of the studies that were read: `count_open` of the whole database counts the same."""
    counted = basis.counted
    return OpenQuestions(counted.waiting, basis.open_groups, counted.audits_waiting)


def signature(
    connection: Connection, counted: Counted, whose: Whose, lacking: Mapping[str, Sequence[str]]
) -> Signature:
    """Return versions, seeds, design and answers: with these and `settings_of` the same numbers come out. There are no
    times in it.

    `lacking` is that of `never_gold`.
    """
    studies, systems = [int(str(row["id"])) for row in counted.studies], sorted(counted.checks.systems)
    answers, about_groups = _answer_counts(connection, whose, asked_by(connection, studies))
    cut, entries = cut_inputs(connection, studies), system_entries(connection, systems)
    entries = [one | ({"cut": cut[id]} if id in cut else {}) for id, one in zip(systems, entries, strict=True)]
    words = words_of(connection)
    versions = {task: words.of(task).version for task in sorted({str(study["task"]) for study in counted.studies})}
    changed = {task: version for task, version in versions.items() if version}
    notes = [sentence[:1].upper() + sentence[1:] + "." for sentence in absent_plugins(connection)]
    for task, labels in (lacking if answers.get("gold") else {}).items():
        code = "note.two_classes" if task == "sentiment" else "note.never_gold"
        notes.append(message(code, **({} if task == "sentiment" else {"task": task, "labels": labels})))
    notes += [message("note.gold_domain", study=study) for study in sorted(counted.gold_alone)]
    notes += [message("note.people_domain", study=study) for study in sorted(counted.people_alone)]
    notes += inapplicable_notes(connection, studies)
    notes += [message("note.holds_assumed")] if not about_groups else []
    return {
        "audit": audit.__version__,
        "studies": [dict(study) for study in counted.studies],
        "samples": [
            {name: value for name, value in sample.items() if (name, value) not in _USUAL} for sample in counted.samples
        ],
        "systems": sorted(entries, key=lambda system: system["name"]),
        "relations": relation_entries(connection, np.unique(counted.checks.relation).tolist()),
        "answers": {"whose": whose} | answers,
        **({"words": changed} if changed else {}),
        "holds": about_groups or None,
        "estimator": ESTIMATOR,
        "notes": notes + _carry_note(counted),
    }


def relation_entries(connection: Connection, ids: Sequence[int]) -> list[Entry]:
    """Return relations by name, version and parameters, in the order of these ids."""
    rows = _rows(connection, tables.Relation)
    names = ("name", "version")
    return [{name: rows[id][name] for name in names} | {"params": json.loads(rows[id]["params"])} for id in ids]


def system_entries(connection: Connection, ids: Iterable[int]) -> list[Entry]:
    """Return systems by name, version and settings, in the ascending order of these ids."""
    rows, names = _rows(connection, tables.System), ("name", "version")
    return [
        {name: rows[id][name] for name in names} | {"settings": json.loads(rows[id]["settings"])} for id in sorted(ids)
    ]


def _rows(connection: Connection, model: type[SQLModel]) -> dict[int, RowMapping]:
    return {row["id"]: row for row in connection.execute(select(table_of(model))).mappings()}


def _answer_counts(connection: Connection, whose: Whose, among: ColumnElement[bool]) -> list[dict[str, int]]:
    """By origin, the answers that count: to questions about inputs and outputs, and to those about groups."""
    question, answer = table_of(tables.Question), table_of(tables.Answer)
    by_origin = (
        select(question.c.kind, answer.c.origin, func.count())
        .join(question, question.c.id == answer.c.question_id)
        .where(answer.c.origin.in_(ALLOWED[whose]), among)
        .group_by(question.c.kind, answer.c.origin)
    )
    counts = {(str(row[0]), str(row[1])): int(row[2]) for row in connection.execute(by_origin)}
    return [
        {origin: number for origin in ORIGINS if (number := sum(counts.get((kind, origin), 0) for kind in kinds))}
        for kinds in (ABOUT_OUTPUTS, ("group",))
    ]


def never_gold(connection: Connection, counted: Counted) -> dict[str, list[str]]:
    """Return, by task, the labels that systems may say and the gold of these studies never does."""
    gold = gold_labels(connection, [int(str(study["id"])) for study in counted.studies])
    lacking = {
        task: [label for label in get_task(task).labels if label not in labels]
        for task, labels in gold.items()
        if not asks_pairs(task)
    }
    return {task: labels for task, labels in lacking.items() if labels}


def _carry_note(counted: Counted) -> list[str]:
    """A sentence for the signature where answers are carried and nothing measures how often that is wrong."""
    carried = any(
        standing.carries[relation] and (state >= 0).any()
        for standing in counted.standings.values()
        for relation, state in standing.state.items()
    )
    if not carried or counted.audited:
        return []
    waiting = counted.audits_waiting
    return [message("note.carry_waiting", count=waiting) if waiting else message("note.carry_unmeasured")]


def named_falses(connection: Connection, counted: Counted) -> pd.DataFrame:
    """Return the false satisfactions that count, with their causes.

    Columns of `KEY`, source (its id), weight (1 / q) and code: the cause, or None. A cause counts while its group is
    false.
    """
    judged = counted.judged
    false = judged.false == 1
    causes = current_causes(connection)
    pairs = zip(counted.group[false].tolist(), counted.system[false].tolist(), strict=True)
    codes = [cause.code if (cause := causes.get(pair)) else None for pair in pairs]
    rows = counted.cells[KEY].iloc[judged.cell[false]].reset_index(drop=True)
    values = {"source": counted.sources[judged.source[false]], "weight": 1 / judged.q[false]}
    return rows.assign(**values, code=pd.Series(codes, index=rows.index, dtype=object))


def disputes(connection: Connection, among: ColumnElement[bool]) -> Entry | None:
    """Return how adjudicators explained disputes: `settled` questions, `reasons` by code, `uncoded` ones; None: there
    is none. A question's last adjudication counts."""
    table, question = table_of(tables.Adjudication), table_of(tables.Question)
    of_question = select(table.c.code).join(question, question.c.id == table.c.question_id)
    codes = list(connection.execute(of_question.where(stands(table), among)).scalars())
    reasons = [{"reason": code, "count": codes.count(code)} for code in REASONS]
    return {"settled": len(codes), "reasons": reasons, "uncoded": codes.count(None)} if codes else None


def _lenient(connection: Connection, counted: Counted, whose: Whose, lacking: Mapping[str, Sequence[str]]) -> Counted:
    """The counts once more, with the labels that gold never says (`lacking`, by task) right wherever gold answers."""
    answers = {
        question: KnownAnswer(answer.allowed | set(lacking.get(question[0], ())), answer.origin)
        if answer.origin == "gold"
        else answer
        for question, answer in known_answers(connection, whose).items()
    }
    return recount(connection, counted, whose, answers)
