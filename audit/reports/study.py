"""`audit report`: everything is read here, once, from one state of the database; the rest is arithmetic.

`evidence` reads, `report_of` computes the document, with the signature that reproduces it.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

import numpy as np
import pandas as pd
from sqlalchemy import ColumnElement, Connection, Engine, Table, func, select

import audit
from audit.corpora.slices import Slicing, find_slicing
from audit.errors import AuditError
from audit.false_satisfaction.accuracy import RightOutputs, right_outputs
from audit.false_satisfaction.cells import Counted, count, recount, source_clusters
from audit.false_satisfaction.questions import OpenQuestions, asked_by, count_open
from audit.false_satisfaction.resolution import ALLOWED, KnownAnswer, Whose, gold_labels, known_answers
from audit.false_satisfaction.slices import Sliced, slice_sources
from audit.false_satisfaction.states import OPEN
from audit.judging.answers import stands
from audit.judging.causes import CAUSES, REASONS, current_causes
from audit.judging.words import words_of
from audit.messages import message
from audit.options import spread
from audit.relations import name_order
from audit.reports.basis import KEY, Basis, Comparisons
from audit.reports.build import METHOD, build_report, cell_entries
from audit.reports.document import Entry, estimated
from audit.reports.examples import read_examples
from audit.reports.judges import judge_entries, own_note, proxy_judges
from audit.reports.options import ReportOptions, Weights
from audit.reports.repeats import repeat_entries
from audit.reports.slices import slice_entries
from audit.reports.standings import add_accuracy, primary_entries
from audit.reports.validity import add_carries, low_notes, read_validity, validity_entries
from audit.reports.words import capital
from audit.runner.studies import cut_inputs, inapplicable_notes
from audit.sampling.options import MAJORITY
from audit.statistics.contests import DRAWS
from audit.statistics.intervals import Target, effective_interval, effective_size, get_target
from audit.statistics.rates import false_share
from audit.store import snapshot
from audit.store.brought import absent_plugins
from audit.store.core import adjudication, answer, question, relation, system
from audit.studies.deviations import differences
from audit.studies.versions import PlanAdherence, plan_adherence
from audit.tasks import get_task, lists_answers
from audit.tasks.questions import ABOUT_OUTPUTS, ORIGINS, asks_pairs

ESTIMATOR = "every answered group by its inclusion probability (rank conditioning)"
_USUAL = (("quorum", MAJORITY), ("follow_ups", 0.0))
"""Settings of a sample that its signature leaves out, because they are the usual ones."""
_LEVELS = {"relation": ["task", "study", "relation"], "system": ["task", "system"], "overall": ["task"]}


@spread
def study_report(database: Engine | Connection, options: ReportOptions = ReportOptions()) -> Entry:
    """Return the report of one study, or of all in the database.

    Estimates with a proxy are limited to the target `corpus`. Raises AuditError where nothing was run yet, where
    proxies are asked for the population, for slices that cannot be made, and UnknownName for a proxy, a slice or a
    relation of `weights`.
    """
    names = tuple(dict.fromkeys(options.proxy))
    target = get_target(options.target, bool(names))
    if names and target == "population":
        because = "proxies correct a sample by what is known of this corpus"
        advice = "with proxy take the target corpus, or leave proxy out for the target population"
        raise AuditError(f"{because}; {advice}", parameter="proxy")
    slicings = [find_slicing(spec) for spec in options.slices]
    read = evidence(database, options.answers, options.study, slicings, names, options.examples or 0)
    return report_of(read, target=target, delta=options.delta, weights=options.weights, proxies=names)


@dataclass(frozen=True)
class Evidence:
    """What a report is computed from: targets and weights can be tried on it without reading again.

    `open` are the open questions of the studies, `made_from` is the part of the signature that is known already,
    `sliced` are the slices that were asked for, `parts` those of the document that no option changes.
    """

    counted: Counted
    open: OpenQuestions
    made_from: Entry
    plans: Sequence[PlanAdherence]
    accuracy: Sequence[RightOutputs]
    sliced: Sliced | None
    parts: Entry


def evidence(
    database: Engine | Connection,
    whose: Whose = "both",
    study: int | None = None,
    slicings: Sequence[Slicing] = (),
    proxies: Sequence[str] = (),
    examples: int = 0,
) -> Evidence:
    """Return what `report_of` needs of the database as it is at one moment; arguments as in `study_report`."""
    with snapshot(database) as connection:
        counted = count(connection, whose, study, proxies=proxies)
        studies = [int(str(row["id"])) for row in counted.studies]
        among, plans = asked_by(connection, studies), plan_adherence(connection, counted.studies, counted.samples)
        causes, lacking = named_falses(connection, counted), _never_gold(connection, counted)
        made_from = _signature(connection, counted, whose, lacking)
        if not made_from["answers"].get("gold"):
            lacking = {}
        if number := int(causes["code"].notna().sum()):
            made_from["causes"] = number
        tasks, rated = {study_row["task"] for study_row in counted.studies}, read_validity(connection, studies)
        optional: Entry = {
            "judges": judge_entries(connection, tasks=tasks),
            "examples": read_examples(connection, counted, whose, lacking, examples) if examples else [],
            "repeats": repeat_entries(connection, counted, source_clusters(connection, studies)),
            "validity": validity_entries(connection, *rated, counted.checks) if rated else [],
        }
        parts = {
            "causes": cause_entries(causes),
            "disputes": _disputes(connection, among),
            "sensitivity": _sensitivity(connection, counted, whose, lacking) if lacking else None,
            **{name: entries for name, entries in optional.items() if entries},
        }
        accuracy, open_questions = right_outputs(connection, counted, whose), count_open(connection, among)
        sliced = slice_sources(connection, counted, slicings) if slicings else None
    return Evidence(counted, open_questions, made_from, plans, accuracy, sliced, parts)


# What was counted, as numbers are made of it.


def report_of(
    read: Evidence,
    *,
    target: Target = "population",
    delta: float = 0.0,
    weights: Weights | None = None,
    proxies: Sequence[str] = (),
) -> Entry:
    """Return the report of what was read; `proxies` are those that it was read with."""
    counted, basis = read.counted, basis_of(read.counted, target, delta)
    primary = primary_entries(read.plans, basis)
    described = _described(read, settings_of(METHOD, target, delta, weights, proxies), primary)
    report = build_report(basis, described, waiting=counted.waiting, weights=weights, primary=primary)
    if read.open.groups:
        report["overall"]["waiting_groups"] = read.open.groups
    report["overall"]["audits_waiting"] = counted.audits_waiting
    add_carries(report, counted, target)
    add_accuracy(report, read.accuracy)
    report |= read.parts | ({"primary": primary} if primary else {})
    if read.sliced is not None:
        sliced = slice_entries(report["violations"], read.sliced, basis, counted.sources)
        report["slices"], report["slice_tests"] = sliced
    planned = {"answers": described["answers"]["whose"], "target": target, "delta": delta}
    planned |= {"weights": weights.source if weights else None}
    report["plan"] = [_plan(standing, planned) for standing in read.plans]
    report["signature"]["notes"] += low_notes(read.parts.get("validity", ()))
    return report


def cells_of_report(read: Evidence) -> list[Entry]:
    """Return the cells of `report_of` with their counts and rates alone."""
    return cell_entries(basis_of(read.counted))


def basis_of(counted: Counted, target: Target = "population", delta: float = 0.0) -> Basis:
    """Return counts as a report takes them."""
    comparisons = {study: comparisons_of(counted, study) for study in counted.populations}
    return Basis(counted.cells, counted.judged, counted.checked, comparisons, target=target, delta=delta)


def comparisons_of(counted: Counted, study: int) -> Comparisons:
    """Return what a study's systems are compared by."""
    population, standing = counted.populations[study], counted.standings[study]
    own = counted.cells[counted.cells["study_id"] == study]
    relations, systems = (dict(zip(own[f"{of}_id"], own[of], strict=True)) for of in ("relation", "system"))
    names = {id: relations[id] for id in population.relations}
    return Comparisons(
        {name: population.relations[id] for id, name in names.items()},
        {name: standing.answered(id) for id, name in names.items()},
        {name: standing.state[id] == OPEN for id, name in names.items()},
        tuple(systems.get(id, str(id)) for id in population.systems),
        population.cluster,
    )


# The signature: what gives the same numbers again. Versions, seeds, design, answers and settings, but no times.


def _signature(connection: Connection, counted: Counted, whose: Whose, lacking: Mapping[str, Sequence[str]]) -> Entry:
    """Return what does not hang on `settings_of`. `lacking` is that of `_never_gold`."""
    studies, systems = [int(str(row["id"])) for row in counted.studies], sorted(counted.checks.systems)
    answers, about_groups = _answer_counts(connection, whose, asked_by(connection, studies))
    entries = dict(zip(systems, system_entries(connection, systems), strict=True))
    for id, number in cut_inputs(connection, studies).items():
        entries[id]["cut"] = number
    words, of_study = words_of(connection), [(str(study["task"]), int(str(study["id"]))) for study in counted.studies]
    changed = {task: version for task, id in of_study if (version := words.of(task, id).version)}
    notes = [capital(sentence) + "." for sentence in absent_plugins(connection)]
    for task, labels in (lacking if answers.get("gold") else {}).items():
        named = {"task": task, "labels": labels}
        notes.append(message("note.two_classes") if task == "sentiment" else message("note.never_gold", **named))
    notes += [message("note.gold_domain", study=study) for study in sorted(counted.gold_alone)]
    notes += [message("note.people_domain", study=study) for study in sorted(counted.people_alone)]
    notes += inapplicable_notes(connection, studies)
    notes += [message("note.holds_assumed")] if not about_groups else []
    # Where answers are carried, and nothing measures how often that is wrong.
    if not counted.audited and any(
        standing.carries[relation] and (state >= 0).any()
        for standing in counted.standings.values()
        for relation, state in standing.state.items()
    ):
        waiting = counted.audits_waiting
        notes.append(message("note.carry_waiting", count=waiting) if waiting else message("note.carry_unmeasured"))
    return {
        "audit": audit.__version__,
        "studies": [dict(study) for study in counted.studies],
        "samples": [
            {name: of for name, of in settings.items() if (name, of) not in _USUAL} for settings in counted.samples
        ],
        "systems": sorted(entries.values(), key=lambda system: system["name"]),
        "relations": relation_entries(connection, np.unique(counted.checks.relation).tolist()),
        "answers": {"whose": whose} | answers,
        **({"words": changed} if changed else {}),
        "holds": about_groups or None,
        "estimator": ESTIMATOR,
        "notes": notes,
    }


def settings_of(
    interval: str | None, target: Target, delta: float, weights: Weights | None, proxies: Sequence[str] = ()
) -> Entry:
    """Return the part of a signature that says how a report was computed; the notes come after it."""
    settings: Entry = {"interval": interval, "confidence": None if interval is None else 0.95, "target": target}
    settings |= {"delta": delta, "draws": {"posterior": DRAWS, "seed": 0}}
    settings |= {"proxy": {"names": list(proxies)}} if proxies else {}
    return settings | ({} if weights is None else {"weights": weights.source})


def _described(read: Evidence, settings: Entry, primary: Sequence[Entry]) -> Entry:
    """Return the signature of a report that is computed from `read` with these settings."""
    described, counted, notes = read.made_from | settings, read.counted, list(read.made_from["notes"])
    if bounded := list(dict.fromkeys(counted.cells.loc[counted.cells["open"] > 0, "relation"])):
        notes.append(message("note.bounds_only", names=bounded))
    # What came of rounds that are not answered yet does not count.
    if waiting := sum(sample["rounds"] - sample["complete"] for sample in counted.samples):
        notes.append(message("note.rounds_waiting", count=waiting))
    if read.sliced is not None:
        described["slices"] = list(read.sliced.by)
        notes += [message("slices.note_hidden", name=name) for name in read.sliced.hidden]
    if used := proxy_judges(read.parts.get("judges", ()), settings):
        described["proxy"]["judges"] = [{key: part[key] for key in ("name", "version", "settings")} for part in used]
        notes += [message("judges.note_proxy", names=[part["name"] for part in used])]
    notes += [own for judge in used if (own := own_note(judge))]
    lacking = pd.Series([(proxy, reason) for (_, _, proxy), reason in counted.left_out.items()], dtype=object)
    for (name, reason), number in lacking.value_counts(sort=False).items():
        notes.append(message("note.proxy_left_out", name=name, count=int(number), reason=reason))
    if tested := [entry for entry in primary if entry["tested"]]:
        names = ("study", "system", "other", "relation")
        described["primary"] = [{key: part[key] for key in names if part[key] is not None} for part in tested]
    return described | {"notes": notes}


def relation_entries(connection: Connection, ids: Sequence[int]) -> list[Entry]:
    """Return relations by name, version and parameters, in the order of these ids."""
    return _named(connection, relation, "params", ids)


def system_entries(connection: Connection, ids: Iterable[int]) -> list[Entry]:
    """Return systems by name, version and settings, in the ascending order of these ids."""
    return _named(connection, system, "settings", sorted(ids))


def _named(connection: Connection, table: Table, settings: str, ids: Sequence[int]) -> list[Entry]:
    rows = {row.id: row for row in connection.execute(select(table))}
    in_order = [rows[id] for id in ids]
    return [
        {"name": row.name, "version": row.version, settings: json.loads(getattr(row, settings))} for row in in_order
    ]


def _answer_counts(connection: Connection, whose: Whose, among: ColumnElement[bool]) -> list[dict[str, int]]:
    """Return by origin the answers that count: to questions about inputs and outputs, and to those about groups."""
    query = (
        select(question.c.kind, answer.c.origin, func.count())
        .join(question, question.c.id == answer.c.question_id)
        .where(answer.c.origin.in_(ALLOWED[whose]), among)
        .group_by(question.c.kind, answer.c.origin)
    )
    counts = {(kind, origin): number for kind, origin, number in connection.execute(query)}
    about = (ABOUT_OUTPUTS, ("group",))
    sums = ({name: sum(counts.get((kind, name), 0) for kind in kinds) for name in ORIGINS} for kinds in about)
    return [{name: number for name, number in of_kinds.items() if number} for of_kinds in sums]


# Plans, gold's labels, disputes and causes.


def _plan(standing: PlanAdherence, settings: Mapping[str, Any]) -> Entry:
    """Return how a study stands to its plan; what that names of the report's settings is compared, too."""
    frozen, deviates = standing.frozen_at, differences("report", standing.plan.content.get("report", {}), settings)
    return {
        "plan": standing.plan.name, "study": standing.study, "version": standing.version,
        "frozen_version": standing.plan.version if frozen else None, "frozen_at": _time(frozen) if frozen else None,
        "run_began": _time(standing.began), "judgements": standing.judgements, "judgements_before": standing.before,
        "changed": [asdict(change) | {"version": of.version, "at": _time(of.at)} for of, change in standing.changed],
        "deviates": list(map(asdict, [*standing.deviates, *deviates])),
    }  # fmt: skip


def _time(moment: datetime) -> str:
    return moment.isoformat(timespec="milliseconds")


def _never_gold(connection: Connection, counted: Counted) -> dict[str, list[str]]:
    """Return by task the labels that systems may say and the gold of these studies never does."""
    gold = gold_labels(connection, [int(str(study["id"])) for study in counted.studies])
    tasks = [task for task in gold if not asks_pairs(task) and lists_answers(get_task(task))]
    lacking = {task: [label for label in get_task(task).labels if label not in gold[task]] for task in tasks}
    return {task: labels for task, labels in lacking.items() if labels}


def _sensitivity(connection: Connection, counted: Counted, whose: Whose, lacking: Mapping[str, Sequence[str]]) -> Entry:
    """Return R_FS over the cells that have an estimate, as it is, and with the labels that gold never says (`lacking`,
    by task) right wherever gold answers."""
    rates = [false_share(counted.judged, counted.checked, len(counted.cells))]
    said = {output.label for population in counted.populations.values() for output in population.said.outputs}
    labels = list(dict.fromkeys(label for missing in lacking.values() for label in missing))
    if said & set(labels):
        answers = known_answers(connection, whose)
        for subject, of in answers.items():
            if of.origin == "gold":
                answers[subject] = KnownAnswer(of.allowed | set(lacking.get(subject[0], ())), of.origin)
        again = recount(connection, counted, whose, answers)
        rates.append(false_share(again.judged, counted.checked, len(counted.cells)))
    return {"labels": labels, "fs_rate": rates[0], "fs_rate_right": rates[-1]}


def _disputes(connection: Connection, among: ColumnElement[bool]) -> Entry | None:
    """Return how adjudicators explained disputes: `settled` questions, `reasons` by code, `uncoded` ones; None where
    there is none. A question's last adjudication counts."""
    query = select(adjudication.c.code).join(question, question.c.id == adjudication.c.question_id)
    codes = list(connection.execute(query.where(stands(adjudication), among)).scalars())
    reasons = [{"reason": code, "count": codes.count(code)} for code in REASONS]
    return {"settled": len(codes), "reasons": reasons, "uncoded": codes.count(None)} if codes else None


def named_falses(connection: Connection, counted: Counted) -> pd.DataFrame:
    """Return the false satisfactions that count, with their causes; none where no cause was given.

    Columns of `KEY`, source (its id), weight (1 / q) and code: the cause, or None. A cause counts while its group is
    false.
    """
    judged, causes = counted.judged, current_causes(connection)
    false = (judged.false == 1) & bool(causes)  # a million rows need not be made to see that none has a cause
    pairs = zip(counted.group[false].tolist(), counted.system[false].tolist(), strict=True)
    codes = [cause.code if (cause := causes.get(pair)) else None for pair in pairs]
    rows = counted.cells[KEY].iloc[judged.cell[false]].reset_index(drop=True)
    values = {"source": counted.sources[judged.source[false]], "weight": 1 / judged.q[false]}
    return rows.assign(**values, code=pd.Series(codes, index=rows.index, dtype=object))


def cause_entries(falses: pd.DataFrame, confidence: float = 0.95) -> list[Entry]:
    """Return shares of causes by relation, by system and over all; empty where no cause was given.

    `falses` is what `named_falses` returns. `false` are the false satisfactions that count, `named` those that have a
    cause, `cells` the cells with one. Each weighs as the false satisfactions of its cell that it stands for; intervals
    are Clopper and Pearson's at the effective number of sources (Korn and Graubard 1998), or a point where every false
    satisfaction there is has its cause.
    """
    if not falses["code"].notna().any():
        return []
    codes = falses.groupby(KEY, sort=False)["code"]
    number, named = codes.transform("size"), codes.transform("count")
    falses = falses.assign(weight=(falses["weight"] * number / named.where(named > 0)).astype(float))
    entries: list[Entry] = []
    for by, keys in _LEVELS.items():
        parts = falses.groupby(keys, sort=False)
        for key, part in sorted(parts, key=lambda keyed: tuple(name_order(str(name)) for name in keyed[0])):
            named = part[part["code"].notna()]
            if named.empty:
                continue
            weight, source = named["weight"].to_numpy(float), named["source"].to_numpy()
            # Every false satisfaction of these cells is known and has its cause: nothing is estimated.
            whole, causes = bool((weight <= 1 + 1e-9).all()) and len(named) == len(part), list[Entry]()
            for code in CAUSES:
                has_code = (named["code"] == code).to_numpy()
                share = min(float(weight @ has_code / weight.sum()), 1.0)
                ends = effective_interval(share, effective_size(source, has_code, confidence, weight), confidence)
                rate = (share, share, share) if whole else (share, ends.low, ends.high)
                causes.append({"cause": code, "count": int(has_code.sum()), "share": estimated(rate)})
            name, study = "all" if by == "overall" else str(key[-1]), int(key[1]) if by == "relation" else None
            counts = {"false": len(part), "named": len(named), "cells": len(named.drop_duplicates(KEY))}
            entries.append({"by": by, "name": name, "task": str(key[0]), "study": study, **counts, "causes": causes})
    return entries
