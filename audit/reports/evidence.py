"""What a report is made from: everything is read here, once, from one state of the database; the rest is arithmetic."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import cast

import numpy as np
import pandas as pd
from sqlalchemy import ColumnElement, Connection, Engine, RowMapping, func, select
from sqlmodel import SQLModel

import audit
from audit.annotation.answers import ORIGINS, stands
from audit.annotation.causes import REASONS, current_causes, is_check
from audit.annotation.questions import ABOUT_OUTPUTS, OpenQuestions, asks_pairs
from audit.annotation.words import words_of
from audit.corpora.slices import Slicing
from audit.false_satisfaction.accuracy import RightOutputs, right_outputs
from audit.false_satisfaction.cells import (
    CELL,
    OUTCOMES,
    Clusters,
    Counted,
    DrawnCell,
    Ground,
    count_drawn,
    counted_from,
    drawn_cells,
    source_clusters,
)
from audit.false_satisfaction.groups import (
    Shared,
    bounded_groups,
    checked_groups,
    comparisons,
    judged_groups,
    random_beginnings,
    shared_groups,
)
from audit.false_satisfaction.proxies import CellProxies, cell_proxies
from audit.false_satisfaction.questions import asked_by
from audit.false_satisfaction.resolution import (
    ALLOWED,
    KnownAnswer,
    State,
    Whose,
    gold_labels,
    known_answers,
    read_process,
)
from audit.false_satisfaction.slices import Sliced, slice_sources
from audit.messages import message
from audit.reports.certainty import KEY
from audit.reports.document import (
    DisputesEntry,
    ExampleEntry,
    JudgeEntry,
    RelationEntry,
    RepeatsEntry,
    SampleEntry,
    Signature,
    StudyEntry,
    SystemEntry,
)
from audit.reports.examples import read_examples
from audit.reports.judges import judge_entries
from audit.reports.repeats import repeat_entries
from audit.reports.sensitivity import Lenient
from audit.reports.validity_study import ValidityRecord, read_validity
from audit.runner.studies import cut_inputs, inapplicable_notes
from audit.sampling.designs import ALL, COMPARING, MAJORITY
from audit.statistics.intervals import Target
from audit.store import snapshot, table_of, tables
from audit.store.brought import absent_plugins
from audit.store.bulk import LIMIT
from audit.studies.versions import PlanAdherence, plan_adherence
from audit.tasks import get_task

ESTIMATORS = (
    "longest settled beginning of each cell's draw",
    "comparisons only: longest settled beginning of each relation's informative groups",
)
_USUAL = (("domain", ALL), ("quorum", MAJORITY))
"""Settings of a sample that its signature leaves out, because they are the usual ones."""


@dataclass(frozen=True)
class Evidence:
    """What a report is computed from: methods, targets and weights can be tried on it without reading again.

    `made_from` is the part of the signature that is known already; `checked` is needed for the target `population`,
    `sliced` are the slices that were asked for, `proxies` those that were, `lenient` are the counts if gold had the
    labels that it lacks, `judges` what models answered.
    """

    counted: Counted
    clusters: Clusters
    judged: pd.DataFrame
    drawn: pd.DataFrame
    checked: pd.DataFrame | None
    shared: Sequence[Shared]
    open_groups: int
    made_from: Signature
    causes: pd.DataFrame
    disputes: DisputesEntry | None
    plans: Sequence[PlanAdherence]
    accuracy: Sequence[RightOutputs]
    sliced: Sliced | None
    proxies: Sequence[CellProxies]
    lenient: Lenient | None
    judges: Sequence[JudgeEntry]
    repeats: Sequence[RepeatsEntry]
    examples: Sequence[ExampleEntry]
    validity: ValidityRecord | None


def evidence(
    database: Engine | Connection,
    whose: Whose = "both",
    study: int | None = None,
    design: str | None = None,
    target: Target = "population",
    slicings: Sequence[Slicing] = (),
    proxies: Sequence[str] = (),
    examples: int = 0,
) -> Evidence:
    """What `report_of` needs of the database as it is at one moment; arguments as in `study_report`.

    Raises AuditError where nothing was run.
    """
    with snapshot(database) as connection:
        counted, drawn = count_drawn(connection, whose, study, design)
        compared = comparisons(connection, counted)
        clusters = source_clusters(connection, _ids(counted))
        causes = named_falses(connection, counted)
        lacking = never_gold(connection, counted)
        made_from = signature(connection, counted, whose, lacking)
        if not made_from["answers"].get("gold"):
            lacking = {}
        if number := int(causes["code"].notna().sum()):
            made_from["causes"] = number
        return Evidence(
            counted=counted,
            clusters=clusters,
            judged=judged_groups(counted, clusters),
            drawn=bounded_groups(counted, clusters),
            checked=checked_groups(counted, clusters) if target == "population" or slicings else None,
            shared=shared_groups(counted, compared),
            open_groups=_open_groups(connection, _ids(counted)),
            made_from=made_from,
            causes=causes,
            disputes=disputes(connection, asked_by(connection, _ids(counted))),
            plans=plan_adherence(connection, counted.studies, counted.samples),
            accuracy=right_outputs(connection, counted, whose),
            sliced=slice_sources(connection, counted, slicings) if slicings else None,
            proxies=list(cell_proxies(connection, counted, proxies)) if proxies else [],
            lenient=read_lenient(connection, counted, drawn, whose, lacking) if lacking else None,
            judges=judge_entries(connection),
            repeats=repeat_entries(connection, counted, clusters),
            examples=read_examples(connection, counted, drawn, whose, lacking, examples) if examples else (),
            validity=read_validity(connection, [int(str(row["id"])) for row in counted.studies], counted.checks),
        )


def open_of(basis: Evidence) -> OpenQuestions:
    """The open questions of the studies that were read: `count_open` of the whole database counts the same."""
    counted = basis.counted
    return OpenQuestions(counted.waiting, basis.open_groups, counted.audited.waiting)


def _open_groups(connection: Connection, studies: Sequence[int]) -> int:
    """The open questions about groups of these studies."""
    question = table_of(tables.Question)
    of_groups = select(func.count()).where(question.c.kind == "group", question.c.priority.is_not(None))
    return int(connection.execute(of_groups.where(asked_by(connection, studies))).scalar_one())


def signature(
    connection: Connection, counted: Counted, whose: Whose, lacking: Mapping[str, Sequence[str]]
) -> Signature:
    """Versions, seeds, design and answers: with these and `settings_of` the same numbers come out. Holds no times.

    `lacking` is that of `never_gold`.
    """
    answers, about_groups = _answer_counts(connection, whose, asked_by(connection, _ids(counted)))
    cut = cut_inputs(connection, _ids(counted))
    ids = sorted(counted.checks.systems)
    systems: list[SystemEntry] = [
        {**entry, "cut": cut[id]} if id in cut else entry
        for id, entry in zip(ids, system_entries(connection, ids), strict=True)
    ]
    missing = [sentence[:1].upper() + sentence[1:] + "." for sentence in absent_plugins(connection)]
    compares = [sample["design"] in COMPARING for sample in counted.samples]
    # A sample that only compares systems has no audits: what they measure is about rates.
    audits = not compares or not all(compares)
    return {
        "audit": audit.__version__,
        "studies": [cast(StudyEntry, dict(study)) for study in counted.studies],
        "samples": [
            cast(
                SampleEntry,
                {name: value for name, value in sample.items() if name != "id" and (name, value) not in _USUAL}
                | shares(counted, int(str(sample["study_id"]))),
            )
            for sample in counted.samples
        ],
        "systems": sorted(systems, key=lambda system: system["name"]),
        "relations": relation_entries(connection, np.unique(counted.checks.relation).tolist()),
        "answers": {"whose": whose} | answers,
        **_words(connection, counted),
        "holds": about_groups or None,
        "estimator": "; ".join(ESTIMATORS[compares_only] for compares_only in sorted(set(compares or [False]))),
        **estimators(counted),
        "notes": [
            *missing,
            *(
                message("note.two_classes")
                if task == "sentiment"
                else message("note.never_gold", task=task, labels=labels)
                for task, labels in (lacking if answers.get("gold") else {}).items()
            ),
            *(
                message("note.gold_domain", study=sample["study_id"])
                for sample in counted.samples
                if sample["domain"] != ALL
            ),
            *inapplicable_notes(connection, _ids(counted)),
            *([message("note.compares")] if any(compares) else []),
            *([message("note.holds_assumed")] if audits and not about_groups else []),
            *(carry_note(counted) if audits else []),
        ],
    }


def _words(connection: Connection, counted: Counted) -> Signature:
    """The part of a signature that says in which words people were asked; empty where all words are audit's own."""
    words = words_of(connection)
    versions = {task: words.of(task).version for task in sorted({str(study["task"]) for study in counted.studies})}
    changed = {task: version for task, version in versions.items() if version}
    return {"words": changed} if changed else {}


def relation_entries(connection: Connection, ids: Sequence[int]) -> list[RelationEntry]:
    """Relations by name, version and parameters, in the order of these ids."""
    rows = _rows(connection, tables.Relation)
    return [
        {"name": rows[id]["name"], "version": rows[id]["version"], "params": json.loads(rows[id]["params"])}
        for id in ids
    ]


def system_entries(connection: Connection, ids: Iterable[int]) -> list[SystemEntry]:
    """Systems by name, version and settings, in the ascending order of these ids."""
    stored = _rows(connection, tables.System)
    rows = [stored[id] for id in sorted(ids)]
    return [{"name": row["name"], "version": row["version"], "settings": json.loads(row["settings"])} for row in rows]


def _rows(connection: Connection, model: type[SQLModel]) -> dict[int, RowMapping]:
    return {row["id"]: row for row in connection.execute(select(table_of(model))).mappings()}


def _ids(counted: Counted) -> list[int]:
    return [int(str(row["id"])) for row in counted.studies]


def _answer_counts(
    connection: Connection, whose: Whose, among: ColumnElement[bool]
) -> tuple[dict[str, int], dict[str, int]]:
    """By origin, the answers that count: to questions about inputs and outputs, and to those about groups."""
    question, answer = table_of(tables.Question), table_of(tables.Answer)
    by_origin = (
        select(question.c.kind, answer.c.origin, func.count())
        .join(question, question.c.id == answer.c.question_id)
        .where(answer.c.origin.in_(ALLOWED[whose]), among)
        .group_by(question.c.kind, answer.c.origin)
    )
    counts = {(str(row[0]), str(row[1])): int(row[2]) for row in connection.execute(by_origin)}
    answers, about_groups = (
        {origin: number for origin in ORIGINS if (number := sum(counts.get((kind, origin), 0) for kind in kinds))}
        for kinds in (ABOUT_OUTPUTS, ("group",))
    )
    return answers, about_groups


def never_gold(connection: Connection, counted: Counted) -> dict[str, list[str]]:
    """By task, the labels that systems may say and the gold of these studies never does; tasks that lack none are not
    there."""
    gold = gold_labels(connection, [int(str(study["id"])) for study in counted.studies])
    lacking = {
        task: [label for label in get_task(task).labels if label not in labels]
        for task, labels in gold.items()
        if not asks_pairs(task)
    }
    return {task: labels for task, labels in lacking.items() if labels}


def carry_note(counted: Counted) -> list[str]:
    """A sentence for the signature where answers are carried and nothing measures how often that is wrong."""
    audited = counted.audited
    rests = int(audited.cells[["rests_true", "rests_false"]].to_numpy().sum())
    if not rests or len(audited.follow_ups):
        return []
    if audited.waiting:
        return [message("note.carry_waiting", count=audited.waiting)]
    return [message("note.carry_unmeasured")]


def shares(counted: Counted, study: int) -> dict[str, float]:
    """What is audited of a study's sample, for the signature; shares of 0 are left out."""
    study_shares = counted.audited.shares.get(study, {})
    return {f"audit_{name}": share for name, share in study_shares.items() if share}


def estimators(counted: Counted) -> Signature:
    """The part of a signature that says how audits are estimated; empty where nothing is audited."""
    audited = [
        name for study_shares in counted.audited.shares.values() for name, share in study_shares.items() if share
    ]
    methods = {}
    if "follow_ups" in audited:
        methods["carry"] = "exact interval at the effective size of sources"
    if "answers" in audited:
        methods["checks"] = "two-phase difference with MOVER ends"
    return {"audits": methods} if methods else {}


def named_falses(connection: Connection, counted: Counted) -> pd.DataFrame:
    """The false satisfactions of the settled beginnings, with their causes as far as these count.

    Columns study, task, relation, system, satisfied, judged, source, code. One row each, in the order of its cell's
    ranks; `satisfied` and `judged` are counts of its cell; `code` is the cause in the beginning of the cell's list in
    which every one has a cause, else None: a later one may have got its cause because somebody looked for it. A cause
    counts while its group is false.
    """
    rows = random_beginnings(counted)
    rows = rows[rows["state"] == State.FALSE].merge(counted.keys, on=CELL)
    cells = counted.cells[["satisfied", "judged"]].join(counted.keys[CELL])
    rows = rows.merge(cells, on=CELL, suffixes=("", "_of_cell")).sort_values([*CELL, "rank"])
    causes = current_causes(connection)
    pairs = zip(rows["group_id"].tolist(), rows["system_id"].tolist(), strict=True)
    codes = [cause.code if (cause := causes.get(pair)) else None for pair in pairs]
    rows = rows.assign(code=pd.Series(codes, index=rows.index, dtype=object), source=rows["group_id"] // LIMIT**2)
    if len(rows):
        in_prefix = rows["code"].notna().astype(int).groupby([rows[name] for name in CELL], sort=False).cummin()
        rows["code"] = rows["code"].where(in_prefix == 1, None)
    rows = rows.drop(columns="judged").rename(columns={"judged_of_cell": "judged"})
    return rows[[*KEY, "satisfied", "judged", "source", "code"]].reset_index(drop=True)


def disputes(connection: Connection, among: ColumnElement[bool]) -> DisputesEntry | None:
    """How adjudicators explained disputes: `settled` questions, `reasons` by code, `uncoded` ones; None: there is none.

    A question's last adjudication counts. Spot checks are none of them: people agreed there. `among`: a condition on
    the table question.
    """
    table, question = table_of(tables.Adjudication), table_of(tables.Question)
    of_question = select(table.c.code, table.c.reason).join(question, question.c.id == table.c.question_id)
    rows = connection.execute(of_question.where(stands(table), among))
    codes = [code for code, reason in rows if not is_check(code, str(reason))]
    if not codes:
        return None
    return {
        "settled": len(codes),
        "reasons": [{"reason": code, "count": codes.count(code)} for code in REASONS],
        "uncoded": codes.count(None),
    }


def read_lenient(
    connection: Connection,
    counted: Counted,
    drawn: Sequence[DrawnCell],
    whose: Whose,
    lacking: Mapping[str, Sequence[str]],
) -> Lenient:
    """The counts once more, of the groups `drawn` that were `counted`; `lacking` has for each task the labels that gold
    never says."""
    ground = Ground(
        counted.studies,
        counted.samples,
        counted.checks,
        counted.keys.join(counted.cells[["groups", *OUTCOMES.values()]]),
    )

    def with_lacking(gold: Mapping[str, frozenset[str]]) -> dict[str, frozenset[str]]:
        return {task: labels | set(lacking.get(task, ())) for task, labels in gold.items()}

    answers = {
        question: KnownAnswer(answer.allowed | set(lacking.get(question[0], ())), answer.origin)
        if answer.origin == "gold"
        else answer
        for question, answer in known_answers(connection, whose).items()
    }
    process = read_process(connection)
    gold_of = {study: with_lacking(by_task) for study, by_task in process.gold_of.items()}
    process = replace(process, gold=with_lacking(process.gold), gold_of=gold_of)
    samples = {sample["study_id"]: sample for sample in counted.samples}
    cells = []
    for study, study_cells in groupby(drawn, lambda cell: cell.key[0]):
        groups = [group.drawn for cell in study_cells for group in cell.settled]
        cells += drawn_cells(samples[study], groups, answers, process)
    labels = tuple(dict.fromkeys(label for missing in lacking.values() for label in missing))
    return Lenient(labels, counted_from(ground, cells, 0, counted.audited))
