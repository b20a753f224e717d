"""`audit report`: the report of what a database holds, with the signature that reproduces it."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

import numpy as np
import pandas as pd
from sqlalchemy import Connection, Engine

from audit.corpora.slices import find_slicing
from audit.errors import AuditError
from audit.false_satisfaction.cells import Counted
from audit.false_satisfaction.states import OPEN
from audit.judging.causes import CAUSES
from audit.messages import message
from audit.options import spread
from audit.relations import name_order
from audit.reports.basis import KEY, Basis, Comparisons, ordered
from audit.reports.build import METHOD, Report, accuracy_entries, build_report, cell_entries
from audit.reports.document import CellEntry, Entry, PrimaryEntry, Signature, estimated
from audit.reports.evidence import Evidence, evidence
from audit.reports.judges import own_note, proxy_judges
from audit.reports.options import ReportOptions
from audit.reports.preference import Weights
from audit.reports.slices import slice_entries, slice_tests
from audit.reports.standings import add_accuracy, primary_entries
from audit.reports.validity import add_carries, low_notes, validity_entries
from audit.statistics.contests import DRAWS
from audit.statistics.intervals import Target, effective_interval, effective_size, get_target
from audit.studies.deviations import differences
from audit.studies.versions import PlanAdherence


@spread
def study_report(database: Engine | Connection, options: ReportOptions = ReportOptions()) -> Report:
    """Return the report of one study, or of all in the database.

    Estimates with a proxy are limited to the target `corpus`. Raises AuditError where nothing was run yet, where
    proxies are asked for the population, for slices that cannot be made, and UnknownName for a proxy, a slice or a
    relation of `weights`.
    """
    names = tuple(dict.fromkeys(options.proxy))
    target = get_target(options.target, bool(names))
    if names and target == "population":
        raise AuditError(message("report_setting.proxy_population"), parameter="proxy")
    slicings = [find_slicing(spec) for spec in options.slices]
    basis = evidence(database, options.answers, options.study, slicings, names, options.examples or 0)
    return report_of(basis, target=target, delta=options.delta, weights=options.weights, proxies=names)


def report_of(
    basis: Evidence,
    *,
    target: Target = "population",
    delta: float = 0.0,
    weights: Weights | None = None,
    proxies: Sequence[str] = (),
) -> Report:
    """Return the report of what was read; `proxies` are those that it was read with."""
    counted = basis.counted
    numbers = basis_of(counted, target, delta)
    primary = primary_entries(basis.plans, numbers)
    described = _described(basis, settings_of(METHOD, target, delta, weights, proxies), primary)
    report = build_report(numbers, described, waiting=counted.waiting, weights=weights, primary=primary)
    if basis.open_groups:
        report["overall"]["waiting_groups"] = basis.open_groups
    report["overall"]["audits_waiting"] = counted.audits_waiting
    add_carries(report, counted, target)
    report["sensitivity"] = _sensitivity(basis, numbers)
    report["accuracy"] = accuracy_entries(report["violations"], basis.accuracy)
    add_accuracy(report, basis.accuracy)
    for name, entries in (("examples", basis.examples), ("repeats", basis.repeats), ("primary", primary)):
        if entries:
            report[name] = list(entries)  # type: ignore[literal-required]
    if basis.sliced is not None:
        report["slices"] = slice_entries(report["violations"], basis.sliced, numbers, counted.sources)
        report["slice_tests"] = slice_tests(report["slices"], basis.sliced, numbers, counted.sources)
    report["causes"] = cause_entries(basis.causes)
    report["disputes"] = basis.disputes
    planned = {"answers": described["answers"]["whose"], "target": target, "delta": delta}
    planned |= {"weights": weights.source if weights else None}
    report["plan"] = [_plan(standing, planned) for standing in basis.plans]
    if basis.judges:
        tasks = {study["task"] for study in counted.studies}
        report["judges"] = [
            {**judge, "tasks": [part for part in judge["tasks"] if part["task"] in tasks]} for judge in basis.judges
        ]
    if basis.validity is not None and basis.validity.is_judged:
        report["validity"] = validity_entries(basis.validity)
        report["signature"]["notes"] += low_notes(report["validity"])
    return report


def cells_of_report(basis: Evidence) -> list[CellEntry]:
    """Return the cells of `report_of` with their counts and rates alone."""
    return cell_entries(basis_of(basis.counted))


# What was read, as a report takes it.


def basis_of(counted: Counted, target: Target = "population", delta: float = 0.0) -> Basis:
    """Return counts as a report takes them."""
    comparisons = {study: comparisons_of(counted, study) for study in counted.populations}
    return Basis(ordered(counted.cells), counted.judged, counted.checked, comparisons, target=target, delta=delta)


def comparisons_of(counted: Counted, study: int) -> Comparisons:
    """Return what a study's systems are compared by."""
    population, standing = counted.populations[study], counted.standings[study]
    own = counted.cells[counted.cells["study_id"] == study]
    relations = dict(zip(own["relation_id"], own["relation"], strict=True))
    systems = dict(zip(own["system_id"], own["system"], strict=True))
    names = {id: relations[id] for id in population.relations}
    return Comparisons(
        {name: population.relations[id] for id, name in names.items()},
        {name: standing.answered(id) for id, name in names.items()},
        {name: standing.state[id] == OPEN for id, name in names.items()},
        tuple(systems.get(id, str(id)) for id in population.systems),
        population.cluster,
    )


def _sensitivity(basis: Evidence, numbers: Basis) -> Entry | None:
    """R_FS as it is, and with the labels that gold lacks right, over the cells that have an estimate."""
    if basis.lenient is None:
        return None
    lenient, rates = replace(numbers, judged=basis.lenient.judged), []
    for of, cell in ((numbers, numbers.rates_of_cell), (lenient, lambda at: lenient.rates([at]))):
        false = ((at, cell(at).false) for at in range(len(of.cells)))
        known = [at for at, rate in false if rate is not None and rate.value is not None]
        together = of.rates(known).false if known else None
        rates.append(None if together is None else together.value)
    labels = list(dict.fromkeys(label for missing in basis.lacking.values() for label in missing))
    return {"labels": labels, "fs_rate": rates[0], "fs_rate_right": rates[1]}


def _plan(standing: PlanAdherence, settings: Mapping[str, Any]) -> Entry:
    """How a study stands to its plan; what that names of the report's settings is compared, too."""

    def time(moment: Any) -> str:
        return str(moment.isoformat(timespec="milliseconds"))

    frozen, deviates = standing.frozen_at, differences("report", standing.plan.content.get("report", {}), settings)
    return {
        "plan": standing.plan.name,
        "study": standing.study,
        "version": standing.version,
        "frozen_version": standing.plan.version if frozen else None,
        "frozen_at": time(frozen) if frozen else None,
        "run_began": time(standing.began),
        "judgements": standing.judgements,
        "judgements_before": standing.before,
        "changed": [asdict(change) | {"version": of.version, "at": time(of.at)} for of, change in standing.changed],
        "deviates": list(map(asdict, [*standing.deviates, *deviates])),
    }


# The signature.


def settings_of(
    interval: str | None, target: Target, delta: float, weights: Weights | None, proxies: Sequence[str] = ()
) -> Signature:
    """Return the part of a signature that says how a report was computed; the notes come after it."""
    settings: Signature = {
        "interval": interval,
        "confidence": None if interval is None else 0.95,
        "target": target,
        "delta": delta,
        "draws": {"posterior": DRAWS, "seed": 0},
    }
    if proxies:
        settings["proxy"] = {"names": list(proxies)}
    if weights is not None:
        settings["weights"] = weights.source
    return settings


def _described(basis: Evidence, settings: Signature, primary: Sequence[PrimaryEntry]) -> Signature:
    """The signature of a report that is computed from `basis` with these settings."""
    described, counted = Signature(**{**basis.made_from, **settings}), basis.counted
    notes = list(described["notes"])
    if bounded := list(dict.fromkeys(counted.cells.loc[counted.cells["open"] > 0, "relation"])):
        notes.append(message("note.bounds_only", names=bounded))
    # What came of rounds that are not answered yet does not count.
    if waiting := sum(sample["rounds"] - sample["complete"] for sample in counted.samples):
        notes.append(message("note.rounds_waiting", count=waiting))
    if basis.sliced is not None:
        described["slices"] = list(basis.sliced.by)
        notes += [message("slices.note_hidden", name=name) for name in basis.sliced.hidden]
    if used := proxy_judges(basis.judges, settings):
        described["proxy"]["judges"] = [{key: one[key] for key in ("name", "version", "settings")} for one in used]
        notes += [message("judges.note_proxy", names=[one["name"] for one in used])]
    notes += [own for judge in used if (own := own_note(judge))]
    lacking = pd.Series([(proxy, reason) for (_, _, proxy), reason in counted.left_out.items()], dtype=object)
    for (name, reason), number in lacking.value_counts(sort=False).items():
        notes.append(message("note.proxy_left_out", name=name, count=int(number), reason=reason))
    if tested := [entry for entry in primary if entry["tested"]]:
        names = ("study", "system", "other", "relation")
        described["primary"] = [{key: one[key] for key in names if one[key] is not None} for one in tested]  # type: ignore[literal-required]
    return described | {"notes": notes}


# Causes of false satisfactions.

_LEVELS = {"relation": ["task", "study", "relation"], "system": ["task", "system"], "overall": ["task"]}


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
        parts = [part for part in falses.groupby(keys, sort=False) if part[1]["code"].notna().any()]
        for key, part in sorted(parts, key=lambda one: tuple(name_order(str(name)) for name in one[0])):
            name, study = "all" if by == "overall" else str(key[-1]), int(key[1]) if by == "relation" else None
            entries.append({"by": by, "name": name, "task": str(key[0]), "study": study, **_shares(part, confidence)})
    return entries


def _shares(falses: pd.DataFrame, confidence: float) -> Entry:
    named = falses[falses["code"].notna()]
    weight, source = named["weight"].to_numpy(float), named["source"].to_numpy()
    # Every false satisfaction of these cells is known and has its cause: nothing is estimated.
    whole = bool((weight <= 1 + 1e-9).all()) and len(named) == len(falses)
    causes: list[Entry] = []
    for code in CAUSES:
        has_code = (named["code"] == code).to_numpy()
        share = min(float(weight @ has_code / weight.sum()), 1.0)
        rate = (share, share, share)
        if not whole:
            ends = effective_interval(share, effective_size(source, has_code, confidence, weight), confidence)
            rate = (share, ends.low, ends.high)
        causes.append({"cause": code, "count": int(np.sum(has_code)), "share": estimated(rate)})
    return {"false": len(falses), "named": len(named), "cells": len(named.drop_duplicates(KEY)), "causes": causes}
