"""`audit report`: the report of what a database holds, with the signature that reproduces it."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any

import pandas as pd
from sqlalchemy import Connection, Engine

from audit.corpora.slices import find_slicing
from audit.errors import AuditError
from audit.false_satisfaction.cells import Counted
from audit.false_satisfaction.states import OPEN
from audit.messages import message
from audit.options import spread
from audit.reports.basis import Basis, Comparisons, ordered
from audit.reports.build import METHOD, build_report, cell_entries
from audit.reports.document import Entry
from audit.reports.evidence import Evidence, evidence
from audit.reports.judges import own_note, proxy_judges
from audit.reports.options import ReportOptions
from audit.reports.preference import Weights
from audit.reports.slices import slice_entries
from audit.reports.standings import add_accuracy, primary_entries
from audit.reports.validity import add_carries, low_notes
from audit.statistics.contests import DRAWS
from audit.statistics.intervals import Target, get_target
from audit.studies.deviations import differences
from audit.studies.versions import PlanAdherence


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
        known = "proxies correct a sample by what is known of this corpus"
        advice = "with proxy take the target corpus, or leave proxy out for the target population"
        raise AuditError(f"{known}; {advice}", parameter="proxy")
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
) -> Entry:
    """Return the report of what was read; `proxies` are those that it was read with."""
    counted, numbers = basis.counted, basis_of(basis.counted, target, delta)
    primary = primary_entries(basis.plans, numbers)
    described = _described(basis, settings_of(METHOD, target, delta, weights, proxies), primary)
    report = build_report(numbers, described, waiting=counted.waiting, weights=weights, primary=primary)
    if basis.open_groups:
        report["overall"]["waiting_groups"] = basis.open_groups
    report["overall"]["audits_waiting"] = counted.audits_waiting
    add_carries(report, counted, target)
    add_accuracy(report, basis.accuracy)
    report |= basis.parts
    if primary:
        report["primary"] = primary
    if basis.sliced is not None:
        parts = slice_entries(report["violations"], basis.sliced, numbers, counted.sources)
        report["slices"], report["slice_tests"] = parts
    planned = {"answers": described["answers"]["whose"], "target": target, "delta": delta}
    planned |= {"weights": weights.source if weights else None}
    report["plan"] = [_plan(standing, planned) for standing in basis.plans]
    report["signature"]["notes"] += low_notes(basis.parts.get("validity", ()))
    return report


def cells_of_report(basis: Evidence) -> list[Entry]:
    """Return the cells of `report_of` with their counts and rates alone."""
    return cell_entries(basis_of(basis.counted))


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


def _plan(standing: PlanAdherence, settings: Mapping[str, Any]) -> Entry:
    """How a study stands to its plan; what that names of the report's settings is compared, too."""
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


def settings_of(
    interval: str | None, target: Target, delta: float, weights: Weights | None, proxies: Sequence[str] = ()
) -> Entry:
    """Return the part of a signature that says how a report was computed; the notes come after it."""
    settings: Entry = {"interval": interval, "confidence": None if interval is None else 0.95, "target": target}
    settings |= {"delta": delta, "draws": {"posterior": DRAWS, "seed": 0}}
    settings |= {"proxy": {"names": list(proxies)}} if proxies else {}
    return settings | ({} if weights is None else {"weights": weights.source})


def _described(basis: Evidence, settings: Entry, primary: Sequence[Entry]) -> Entry:
    """The signature of a report that is computed from `basis` with these settings."""
    described, counted = Entry(**{**basis.made_from, **settings}), basis.counted
    notes = list(described["notes"])
    if bounded := list(dict.fromkeys(counted.cells.loc[counted.cells["open"] > 0, "relation"])):
        notes.append(message("note.bounds_only", names=bounded))
    # What came of rounds that are not answered yet does not count.
    if waiting := sum(sample["rounds"] - sample["complete"] for sample in counted.samples):
        notes.append(message("note.rounds_waiting", count=waiting))
    if basis.sliced is not None:
        described["slices"] = list(basis.sliced.by)
        notes += [message("slices.note_hidden", name=name) for name in basis.sliced.hidden]
    if used := proxy_judges(basis.parts.get("judges", ()), settings):
        described["proxy"]["judges"] = [{key: one[key] for key in ("name", "version", "settings")} for one in used]
        notes += [message("judges.note_proxy", names=[one["name"] for one in used])]
    notes += [own for judge in used if (own := own_note(judge))]
    lacking = pd.Series([(proxy, reason) for (_, _, proxy), reason in counted.left_out.items()], dtype=object)
    for (name, reason), number in lacking.value_counts(sort=False).items():
        notes.append(message("note.proxy_left_out", name=name, count=int(number), reason=reason))
    if tested := [entry for entry in primary if entry["tested"]]:
        names = ("study", "system", "other", "relation")
        described["primary"] = [{key: one[key] for key in names if one[key] is not None} for one in tested]
    return described | {"notes": notes}
