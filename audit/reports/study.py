"""`audit report`: the report of what a database holds, with the signature that reproduces it."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np
import pandas as pd
from sqlalchemy import Connection, Engine, func, select

import audit
from audit.annotation.answers import ORIGINS
from audit.annotation.questions import ABOUT_OUTPUTS, asks_pairs
from audit.errors import AuditError
from audit.false_satisfaction.accuracy import RightOutputs, right_outputs
from audit.false_satisfaction.cells import ALONE, CELL, Clusters, Counted, count_drawn, read_resting, source_clusters
from audit.false_satisfaction.groups import (
    Shared,
    bounded_groups,
    checked_groups,
    comparisons,
    judged_groups,
    shared_groups,
)
from audit.false_satisfaction.holds import Holds, count_holds
from audit.false_satisfaction.protocol_arms import Arms, count_arms
from audit.false_satisfaction.resolution import ALLOWED, Whose, gold_labels
from audit.false_satisfaction.topics import Topics, count_topics
from audit.messages import message
from audit.reports.accuracy import accuracy_entries
from audit.reports.build import CommonBy, Groups, Report, build_report, cell_entries, compare_all, rated
from audit.reports.certainty import with_worth
from audit.reports.document import (
    CellEntry,
    DisputesEntry,
    RelationEntry,
    SampleEntry,
    SensitivityEntry,
    Signature,
    StudyEntry,
    SystemEntry,
)
from audit.reports.plan_entries import plan_entries, plans_of
from audit.reports.preference import Weights
from audit.reports.primary import Named, read_named, signature_entry
from audit.reports.sensitivity import GoldError, Lenient, gold_error_entry, read_lenient, sensitivity_entry
from audit.reports.topics import topic_entries
from audit.reports.validity import (
    METHOD,
    carry_note,
    cause_entries,
    check_proxies,
    dispute_entry,
    estimators,
    findings,
    holds_entries,
    named_falses,
    powered,
    protocol_entry,
    shares,
)
from audit.sampling.audits import audits_of
from audit.sampling.designs import ALL, BLIND, INFORMATIVE
from audit.statistics import comparison
from audit.statistics.intervals import HOLDS, MIDP, SEQUENCE, Target, get_method, get_target, method_name
from audit.statistics.prediction_powered import FOLDS
from audit.statistics.rates import overall
from audit.store import table_of, tables
from audit.store.brought import absent_plugins
from audit.studies.deviations import Primary
from audit.studies.versions import PlanAdherence
from audit.tasks import get_task

INTERVAL = MIDP
ESTIMATORS = (
    "longest settled beginning of each cell's draw",
    "comparisons only: longest settled beginning of each relation's informative groups",
)
_USUAL = (("protocol", BLIND), ("domain", ALL))
"""Settings of a sample that its signature leaves out, because they are the usual ones."""


@dataclass(frozen=True)
class Evidence:
    """What a report is computed from, read from the database once: methods, targets and weights can be tried on it.

    `made_from` is the part of the signature that is known already; `checked` is needed for the target `population`.
    """

    counted: Counted
    judged: pd.DataFrame
    drawn: pd.DataFrame
    checked: pd.DataFrame | None
    shared: Sequence[Shared]
    holds: Holds
    made_from: Signature
    causes: pd.DataFrame
    disputes: DisputesEntry | None
    plans: Sequence[PlanAdherence] = ()
    arms: Arms | None = None
    accuracy: Sequence[RightOutputs] = ()
    topics: Topics | None = None
    lenient: Lenient | None = None
    primary: Sequence[Named] = ()
    resting: pd.DataFrame | None = None
    clusters: Clusters = ALONE


def study_report(
    engine: Engine,
    whose: Whose = "both",
    study: int | None = None,
    design: str | None = None,
    *,
    interval: str = INTERVAL,
    target: Target | None = None,
    delta: float = 0.0,
    weights: Weights | None = None,
    proxies: Sequence[str] = (),
    by: str | None = None,
    gold_error: GoldError | None = None,
) -> Report:
    """The report of one study, or of all in the database; `whose` answers count: gold's, people's or both.

    Per study the sample drawn last counts, or the last one of `design`. `interval` names a method of
    `audit.statistics.intervals.METHODS`; `target`, `delta` and `weights` as in `build_report`, the target by default
    what `get_target` says: texts to come, but the corpus for sequences and proxies. With `proxies` (names of
    `audit.false_satisfaction.proxies`, or numeric columns of the corpus) R_FS is estimated by PPI++, and by `interval`
    where that falls back. `by`, `gold` or an attribute of the sources, asks for violation rates by topic. `gold_error`
    is how often gold is known to be wrong, for which R_FS is corrected. Raises AuditError where nothing was run yet,
    where gold says nothing at such an error, or with it proxies or a sequence are asked for, where a sequence or
    proxies cannot be had (for the population, or both together), and UnknownName for a method, a proxy, an attribute or
    a relation of `weights`.
    """
    interval, names = method_name(interval), tuple(dict.fromkeys(proxies))
    target = get_target(target, interval, bool(names))
    method = get_method(interval, target)
    check_proxies(names, interval, target)
    basis = evidence(engine, whose, study, design, target, by, gold_error is not None)
    proxied = powered(engine, basis.counted, basis.judged, names, method) if names else None
    return report_of(
        basis,
        interval=interval,
        target=target,
        delta=delta,
        weights=weights,
        proxies=names,
        proxied=proxied,
        gold_error=gold_error,
    )


def evidence(
    engine: Engine,
    whose: Whose = "both",
    study: int | None = None,
    design: str | None = None,
    target: Target = "population",
    by: str | None = None,
    resting: bool = False,
) -> Evidence:
    """What `report_of` needs from the database; arguments as in `study_report`.

    `resting` says whether it is to be corrected for errors of gold. Raises AuditError where nothing was run.
    """
    counted, drawn = count_drawn(engine, whose, study, design)
    compared = comparisons(engine, counted)
    causes, arms = named_falses(engine, counted), count_arms(engine, counted, whose)
    named_causes = int(causes["code"].notna().sum())
    with engine.connect() as connection:
        clusters = source_clusters(connection, [int(str(row["id"])) for row in counted.studies])
        lacking = never_gold(connection, counted)
    made_from = signature(engine, counted, whose, lacking)
    if not made_from["answers"].get("gold"):
        lacking = {}
    if named_causes:
        made_from["causes"] = named_causes
    if arms:
        made_from["protocols"] = METHOD
    return Evidence(
        counted,
        judged_groups(counted, clusters),
        bounded_groups(counted, clusters),
        checked_groups(counted, clusters) if target == "population" else None,
        shared_groups(counted, compared),
        count_holds(engine, counted, whose, clusters),
        made_from,
        causes,
        dispute_entry(engine),
        plans_of(engine, counted.studies, counted.samples),
        arms,
        right_outputs(engine, counted),
        count_topics(engine, counted, by, clusters) if by else None,
        read_lenient(engine, counted, drawn, whose, lacking, compared),
        read_named(engine, counted.keys),
        read_resting(engine, counted, whose) if resting else None,
        clusters,
    )


def report_of(
    basis: Evidence,
    *,
    interval: str = INTERVAL,
    target: Target = "population",
    delta: float = 0.0,
    weights: Weights | None = None,
    proxies: Sequence[str] = (),
    proxied: tuple[pd.DataFrame, pd.DataFrame] | None = None,
    gold_error: GoldError | None = None,
) -> Report:
    """The report of what was read; arguments as in `study_report`, `target` the one that `basis` was read for.

    `proxied` is what `powered` made of `proxies` and of what was read. For `gold_error`, `basis` has to be read with
    `resting`.
    """
    if gold_error is not None and (proxies or interval == SEQUENCE):
        raise AuditError(message("report_setting.gold_error_fixed"))
    counted, holds = basis.counted, basis.holds
    common: CommonBy = {(shared.task, shared.study, shared.relation): shared.common for shared in basis.shared}
    described = _described(basis, settings_of(interval, target, delta, weights, proxies), gold_error)
    estimates, judged = proxied or (None, basis.judged)
    entries = holds_entries(holds.units, holds.waiting, 0.95, target)
    asked_groups = holds.groups.merge(counted.keys, on=CELL)
    planned = {"answers": described["answers"]["whose"], "interval": interval, "target": target, "delta": delta}
    planned |= {"weights": weights.source if weights else None}
    tested = {
        named.study: Primary(named.system, named.other, named.relation) for named in basis.primary if named.tested
    }
    report = build_report(
        _cells_frame(basis),
        described,
        waiting=counted.waiting,
        interval=get_method(interval, target),
        target=target,
        delta=delta,
        groups=Groups(
            judged,
            basis.checked,
            common,
            estimates,
            entries,
            findings(counted, basis.clusters),
            basis.primary,
            basis.drawn,
            asked_groups,
        ),
        weights=weights,
    )
    report["sensitivity"] = _sensitivity(basis, report, interval, target, delta)
    if gold_error is not None and basis.resting is not None:
        report["gold_error"] = gold_error_entry(counted, basis.resting, gold_error, report["overall"], target)
    report["accuracy"] = accuracy_entries(report["violations"], basis.accuracy)
    if basis.topics is not None:
        report["topics"] = topic_entries(
            report["violations"], basis.topics, basis.judged, basis.checked, get_method(interval, target), target
        )
    report["causes"] = cause_entries(basis.causes)
    report["disputes"] = basis.disputes
    report["plan"] = plan_entries(basis.plans, planned, tested)
    if basis.arms is not None:
        report["protocols"] = protocol_entry(basis.arms)
    return report


def _described(basis: Evidence, settings: Signature, gold_error: GoldError | None) -> Signature:
    """The signature of a report that is computed from `basis` with these settings."""
    described: Signature = {**basis.made_from, **settings}
    if basis.topics is not None:
        described["by"] = basis.topics.by
    notes = [*described["notes"], *_bounds_notes(basis.counted)]
    if settings["interval"] != SEQUENCE:
        notes += _partly_judged_notes(basis.counted)
    described["notes"] = notes
    if tested := [named for named in basis.primary if named.tested]:
        described["primary"] = [signature_entry(named) for named in tested]
    if gold_error is not None and basis.resting is not None:
        described["gold_error"] = [gold_error.low, gold_error.high]
    return described


def cells_of_report(basis: Evidence) -> list[CellEntry]:
    """The cells of `report_of` with their counts and rates, but without what audits found: its roll-ups take longer."""
    return cell_entries(rated(with_worth(_cells_frame(basis), basis.judged, basis.checked, drawn=basis.drawn)))


def _cells_frame(basis: Evidence) -> pd.DataFrame:
    """The cells as `build_report` takes them."""
    return basis.counted.cells.join(basis.counted.keys[CELL]).merge(basis.holds.cells, how="left", on=CELL)


def _partly_judged_notes(counted: Counted) -> list[str]:
    """A note if cells are judged in part: judging may have stopped because of the results."""
    judged, drawn = counted.cells["judged"], counted.cells["drawn"]
    part = int(((judged > 0) & (judged < drawn)).sum())
    if not part:
        return []
    return [message("note.partly_judged", count=part)]


def _bounds_notes(counted: Counted) -> list[str]:
    """A note that names the relations whose answers leave bounds in some cell, and says what would close them."""
    cells = counted.cells.join(counted.keys[["study_id", "relation_id"]])
    cells = cells[(cells["judged"] == 0) & (cells["drawn"] > cells["drawn_open"]) & cells["drawn_false"].notna()]
    open_questions = {
        str(relation_cells["relation"].iloc[0]): counted.waiting_under.get((int(study), int(relation)), 0)
        for (study, relation), relation_cells in cells.groupby(["study_id", "relation_id"], sort=False)
    }
    numbers = [f"{name} {waiting:,}" for name, waiting in open_questions.items()]
    return [message("note.bounds_only", names=open_questions, numbers=numbers)] if open_questions else []


def settings_of(
    interval: str | None, target: Target, delta: float, weights: Weights | None, proxies: Sequence[str] = ()
) -> Signature:
    """The part of a signature that says how a report was computed; the notes come after it."""
    settings: Signature = {
        "interval": interval,
        "confidence": None if interval is None else 0.95,
        "target": target,
        "delta": delta,
        "draws": {"posterior": comparison.DRAWS, "seed": 0},
    }
    if interval == SEQUENCE:
        settings["stopping"] = HOLDS
    if proxies:
        settings["proxy"] = {"names": list(proxies), "folds": FOLDS, "comparisons": "without proxies"}
    if weights is not None:
        settings["weights"] = weights.source
    return settings


def signature(engine: Engine, counted: Counted, whose: Whose, lacking: Mapping[str, Sequence[str]]) -> Signature:
    """Versions, seeds, design and answers: with these and `settings_of` the same numbers come out. Holds no times.

    `lacking` is that of `never_gold`.
    """
    relation, system = table_of(tables.Relation), table_of(tables.System)
    with engine.connect() as connection:
        relation_ids = np.unique(counted.checks.relation).tolist()
        relations = connection.execute(
            select(relation).where(relation.c.id.in_(relation_ids)).order_by(relation.c.id)
        ).mappings()
        systems = connection.execute(
            select(system).where(system.c.id.in_(counted.checks.systems)).order_by(system.c.name, system.c.id)
        ).mappings()
        answers, about_groups = _answer_counts(connection, whose)
        used: list[RelationEntry] = [
            {"name": row["name"], "version": row["version"], "params": json.loads(row["params"])} for row in relations
        ]
        run: list[SystemEntry] = [
            {"name": row["name"], "version": row["version"], "settings": json.loads(row["settings"])} for row in systems
        ]
        audited = {sample["id"]: audits_of(connection, int(str(sample["id"]))).groups for sample in counted.samples}
        missing = [sentence[:1].upper() + sentence[1:] + "." for sentence in absent_plugins(connection)]
    compares = [sample["design"] == INFORMATIVE for sample in counted.samples]
    # A sample that only compares systems has no audits: what they measure is about rates.
    audits = not compares or not all(compares)
    return {
        "audit": audit.__version__,
        "studies": [cast(StudyEntry, dict(study)) for study in counted.studies],
        "samples": [
            cast(
                SampleEntry,
                {name: value for name, value in sample.items() if name != "id" and (name, value) not in _USUAL}
                | {"audit_groups": audited[sample["id"]]}
                | shares(counted, int(str(sample["study_id"]))),
            )
            for sample in counted.samples
        ],
        "systems": run,
        "relations": used,
        "answers": {"whose": whose} | answers,
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
            *([message("note.compares")] if any(compares) else []),
            *([message("note.holds_assumed")] if audits and not any(audited.values()) else []),
            *(carry_note(counted) if audits else []),
        ],
    }


def _answer_counts(connection: Connection, whose: Whose) -> tuple[dict[str, int], dict[str, int]]:
    """By origin, the answers that count: to questions about inputs and outputs, and to those about groups."""
    question, answer = table_of(tables.Question), table_of(tables.Answer)
    by_origin = (
        select(question.c.kind, answer.c.origin, func.count())
        .join(question, question.c.id == answer.c.question_id)
        .where(answer.c.origin.in_(ALLOWED[whose]))
        .group_by(question.c.kind, answer.c.origin)
    )
    counts = {(str(row[0]), str(row[1])): int(row[2]) for row in connection.execute(by_origin)}
    answers, about_groups = (
        {origin: number for origin in ORIGINS if (number := sum(counts.get((kind, origin), 0) for kind in kinds))}
        for kinds in (ABOUT_OUTPUTS, ("group",))
    )
    return answers, about_groups


def _sensitivity(
    basis: Evidence, report: Report, interval: str, target: Target, delta: float
) -> SensitivityEntry | None:
    """What the report would say if gold had the labels that it lacks; None where it lacks none."""
    if basis.lenient is None:
        return None
    counted = basis.lenient.counted
    common: CommonBy = {(shared.task, shared.study, shared.relation): shared.common for shared in basis.lenient.shared}
    frame = rated(counted.cells, get_method(interval, target), target=target)
    relations, *_ = compare_all(frame, common, target, delta, 0.95, interval == SEQUENCE, named=basis.primary)
    return sensitivity_entry(basis.counted, basis.lenient, report["overall"], overall(frame, relations))


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
