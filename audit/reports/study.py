"""`audit report`: the report of what a database holds, with the signature that reproduces it."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any, cast

from sqlalchemy import Connection, Engine

from audit.corpora.slices import find_slicing
from audit.errors import AuditError
from audit.false_satisfaction.cells import CELL, Counted
from audit.false_satisfaction.states import OPEN
from audit.messages import message
from audit.options import spread
from audit.reports.accuracy import accuracy_entries
from audit.reports.build import METHOD, Basis, Report, build_report, cell_entries, ordered
from audit.reports.document import CellEntry, PlanEntry, PrimaryEntry, SensitivityEntry, Signature
from audit.reports.evidence import Evidence, evidence
from audit.reports.judges import own_note, proxy_judges
from audit.reports.options import ReportOptions
from audit.reports.preference import Weights
from audit.reports.slices import slice_entries, slice_tests
from audit.reports.standings import Comparisons, add_accuracy, pair_entry, primary_names
from audit.reports.validity import add_carries, cause_entries
from audit.reports.validity_study import low_notes, validity_entries, whose_ratings
from audit.statistics.contests import DRAWS
from audit.statistics.intervals import Target, get_target
from audit.statistics.rates import of_cells
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
    described = _described(basis, settings_of(METHOD, target, delta, weights, proxies))
    numbers = basis_of(counted, target, delta)
    primary = _primary(basis, numbers)
    report = build_report(numbers, described, waiting=counted.waiting, weights=weights, primary=primary)
    if basis.open_groups:
        report["overall"]["waiting_groups"] = basis.open_groups
    report["overall"]["audits_waiting"] = counted.audits_waiting
    add_carries(report, counted, target)
    report["sensitivity"] = _sensitivity(basis, target)
    report["accuracy"] = accuracy_entries(report["violations"], basis.accuracy)
    add_accuracy(report, basis.accuracy)
    if basis.examples:
        report["examples"] = list(basis.examples)
    if basis.repeats:
        report["repeats"] = list(basis.repeats)
    if primary:
        report["primary"] = primary
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
        report["validity"] = validity_entries(basis.validity, whose_ratings(basis.validity))
        report["signature"]["notes"] += low_notes(report["validity"])
    return report


def basis_of(counted: Counted, target: Target = "population", delta: float = 0.0) -> Basis:
    """Return counts as a report takes them, its cells in their order."""
    cells = ordered(counted.cells.assign(place=range(len(counted.cells))))
    keys = dict(zip(counted.cells[CELL].itertuples(index=False, name=None), range(len(cells)), strict=True))
    order = [keys[key] for key in _ids_of(counted, cells)]
    judged, checked = of_cells(counted.judged, order), of_cells(counted.checked, order)
    comparisons = {study: comparisons_of(counted, study) for study in counted.populations}
    return Basis(cells, judged, checked, comparisons, target=target, delta=delta)


def _ids_of(counted: Counted, cells: object) -> list[tuple[int, int, int]]:
    """The ids of cells in the order of a report."""
    names = ["study", "relation", "system"]
    ids = dict(
        zip(
            counted.cells[names].itertuples(index=False, name=None),
            counted.cells[CELL].itertuples(index=False, name=None),
            strict=True,
        )
    )
    return [ids[key] for key in cells[names].itertuples(index=False, name=None)]  # type: ignore[index]


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


def _sensitivity(basis: Evidence, target: Target) -> SensitivityEntry | None:
    """R_FS as it is, and with the labels that gold lacks right, over the cells that have an estimate."""
    if basis.lenient is None:
        return None
    rates = []
    for counted in (basis.counted, basis.lenient):
        numbers = basis_of(counted, target)
        known = [
            at
            for at in range(len(numbers.cells))
            if (rate := numbers.rates_of_cell(at).false) and rate.value is not None
        ]
        together = numbers.rates(known).false if known else None
        rates.append(None if together is None else together.value)
    labels = list(dict.fromkeys(label for missing in basis.lacking.values() for label in missing))
    return {"labels": labels, "fs_rate": rates[0], "fs_rate_right": rates[1]}


def _plan(standing: PlanAdherence, settings: Mapping[str, Any]) -> PlanEntry:
    """How a study stands to its plan; what that names of the report's settings is compared, too."""
    frozen, deviates = standing.frozen_at, differences("report", standing.plan.content.get("report", {}), settings)
    changed = [
        {**asdict(change), "version": version.version, "at": _time(version.at)} for version, change in standing.changed
    ]
    entry = {
        "plan": standing.plan.name,
        "study": standing.study,
        "version": standing.version,
        "frozen_version": standing.plan.version if frozen else None,
        "frozen_at": _time(frozen) if frozen else None,
        "run_began": _time(standing.began),
        "judgements": standing.judgements,
        "judgements_before": standing.before,
        "changed": changed,
        "deviates": list(map(asdict, [*standing.deviates, *deviates])),
    }
    return cast(PlanEntry, entry)


def _time(moment: datetime) -> str:
    return moment.isoformat(timespec="milliseconds")


def _primary(basis: Evidence, numbers: Basis) -> list[PrimaryEntry]:
    """The comparisons that frozen plans name, each tested by itself."""
    entries: list[PrimaryEntry] = []
    for named in primary_names(basis.plans):
        comparison = numbers.comparisons[named.study]
        sizes = {name: len(groups.source) for name, groups in comparison.groups.items()}
        wanted = [name for name in sizes if named.relation in (None, name)]
        weights = {name: sizes[name] / sum(sizes[one] for one in wanted) for name in wanted}
        systems = (named.system, named.other)
        if not wanted or not set(systems) <= set(comparison.systems):
            continue
        stand = comparison.standing(weights, systems, numbers.target, numbers.delta)
        pair = pair_entry(comparison, weights, systems, stand.ahead[0, 1], stand.error[0, 1], numbers)
        with_groups = sum(comparison.groups[name].pair(*_columns(comparison, systems)).groups > 0 for name in wanted)
        if not pair["judged"] and pair["informative"]:
            nothing = dict.fromkeys(("difference", "low", "high", "p", "p_above", "p_below"))
            pair |= {**nothing, "reason": message("no_order.none_judged")}  # type: ignore[typeddict-item]
        entries.append(
            {
                **pair,
                "study": named.study,
                "task": named.task,
                "relation": named.relation,
                "relations": with_groups,
                "compared": len(wanted),
                "tested": named.tested,
                "named_at": named.at.isoformat(timespec="seconds"),
                "answers_before": named.answers,
            }
        )
    return entries


def _columns(comparison: Comparisons, systems: Sequence[str]) -> list[int]:
    return [comparison.systems.index(system) for system in systems]


def _described(basis: Evidence, settings: Signature) -> Signature:
    """The signature of a report that is computed from `basis` with these settings."""
    described: Signature = {**basis.made_from, **settings}
    notes = [*described["notes"], *_bounds_notes(basis.counted), *_round_notes(basis.counted)]
    if basis.sliced is not None:
        described["slices"] = list(basis.sliced.by)
        notes += [message("slices.note_hidden", name=name) for name in basis.sliced.hidden]
    described["notes"] = notes
    if used := proxy_judges(basis.judges, settings):
        described["proxy"]["judges"] = [{key: one[key] for key in ("name", "version", "settings")} for one in used]
        described["notes"] += [message("judges.note_proxy", names=[one["name"] for one in used])]
    described["notes"] += [own for judge in used if (own := own_note(judge))]
    described["notes"] += _proxy_notes(basis.counted)
    if tested := [named for named in primary_names(basis.plans) if named.tested]:
        described["primary"] = [named.signature for named in tested]
    return described


def cells_of_report(basis: Evidence) -> list[CellEntry]:
    """Return the cells of `report_of` with their counts and rates alone."""
    return cell_entries(basis_of(basis.counted))


def _round_notes(counted: Counted) -> list[str]:
    """A note where the last rounds are not answered yet: what came of them does not count."""
    waiting = sum(sample["rounds"] - sample["complete"] for sample in counted.samples)
    return [message("note.rounds_waiting", count=waiting)] if waiting else []


def _bounds_notes(counted: Counted) -> list[str]:
    """A note that names the relations whose answers leave bounds in some cell."""
    names = list(dict.fromkeys(counted.cells.loc[counted.cells["open"] > 0, "relation"]))
    return [message("note.bounds_only", names=names)] if names else []


def _proxy_notes(counted: Counted) -> list[str]:
    """A note for each reason why cells lack a proxy."""
    cells: dict[tuple[str, str], int] = {}
    for (_, _, proxy), reason in counted.left_out.items():
        cells[proxy, reason] = cells.get((proxy, reason), 0) + 1
    return [
        message("note.proxy_left_out", name=proxy, count=number, reason=reason)
        for (proxy, reason), number in cells.items()
    ]


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
