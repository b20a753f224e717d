"""`audit report`: the report of what a database holds, with the signature that reproduces it."""

from collections.abc import Sequence

import pandas as pd
from sqlalchemy import Connection, Engine

from audit.corpora.slices import SliceFunction, find_slicing
from audit.errors import AuditError
from audit.false_satisfaction.cells import Counted
from audit.false_satisfaction.groups import Shared
from audit.false_satisfaction.resolution import Whose
from audit.messages import message
from audit.reports.accuracy import accuracy_entries
from audit.reports.build import CommonBy, Groups, Report, build_report, cell_entries, rated
from audit.reports.certainty import with_worth
from audit.reports.decision import add_accuracy
from audit.reports.document import CellEntry, Signature
from audit.reports.evidence import Evidence, evidence
from audit.reports.judges import own_note, proxy_judges
from audit.reports.plan_entries import plan_entries
from audit.reports.preference import Weights
from audit.reports.primary import named_of, signature_entry
from audit.reports.sensitivity import sensitivity_entry
from audit.reports.slices import Frames, How, slice_entries, slice_tests
from audit.reports.validity import (
    cause_entries,
    check_proxies,
    findings,
    powered,
)
from audit.reports.validity_study import low_notes, validity_entries, whose_ratings
from audit.sampling.designs import COMPARING
from audit.statistics import comparison
from audit.statistics.intervals import MIDP, Target, get_target
from audit.statistics.prediction_powered import FOLDS


def study_report(
    database: Engine | Connection,
    whose: Whose = "both",
    study: int | None = None,
    design: str | None = None,
    *,
    target: Target | None = None,
    delta: float = 0.0,
    weights: Weights | None = None,
    proxies: Sequence[str] = (),
    slices: Sequence[str | SliceFunction] = (),
    examples: int = 0,
) -> Report:
    """The report of one study, or of all in the database; `whose` answers count: gold's, people's or both.

    Per study the sample drawn last counts, or the last one of `design`. `target`, `delta` and `weights` as in
    `build_report`, the target by default what `get_target` says: texts to come, but the corpus for proxies. With
    `proxies` (names of `audit.false_satisfaction.proxies`, or numeric columns of the corpus) R_FS is estimated by
    PPI++, and as ever where that falls back. `slices` (`audit.corpora.slices`) ask for rates by slice, who is best in
    each, and the worst of them. `examples` is how many false satisfactions are in it with their texts. Raises
    AuditError where nothing was run yet, where proxies cannot be had (for the population), for slices that cannot be
    made, and UnknownName for a proxy, a slice or a relation of `weights`.
    """
    if examples < 0:
        raise AuditError(message("report_setting.bad_examples", number=examples), parameter="examples")
    names = tuple(dict.fromkeys(proxies))
    target = get_target(target, bool(names))
    check_proxies(names, target)
    slicings = [find_slicing(spec) for spec in slices]
    basis = evidence(database, whose, study, design, target, slicings, names, examples)
    return report_of(basis, target=target, delta=delta, weights=weights, proxies=names)


def report_of(
    basis: Evidence,
    *,
    target: Target = "population",
    delta: float = 0.0,
    weights: Weights | None = None,
    proxies: Sequence[str] = (),
) -> Report:
    """The report of what was read; arguments as in `study_report`, `target` the one that `basis` was read for.

    `proxies` are those that it was read with.
    """
    counted = basis.counted
    described = _described(basis, settings_of(MIDP, target, delta, weights, proxies))
    estimates, judged = None, basis.judged
    if proxies:
        estimates, judged = powered(counted, judged, basis.proxies)
    report = build_report(
        _cells_frame(basis),
        described,
        waiting=counted.waiting,
        target=target,
        delta=delta,
        groups=Groups(
            judged,
            checked=basis.checked,
            common=common_by(basis.shared),
            estimates=estimates,
            audits=findings(counted, basis.clusters),
            primary=named_of(basis.plans),
            drawn=basis.drawn,
        ),
        weights=weights,
    )
    if basis.open_groups:
        report["overall"]["waiting_groups"] = basis.open_groups
    report["sensitivity"] = sensitivity_entry(counted, basis.lenient) if basis.lenient else None
    report["accuracy"] = accuracy_entries(report["violations"], basis.accuracy)
    add_accuracy(report, basis.accuracy)
    if basis.examples:
        report["examples"] = list(basis.examples)
    if basis.repeats:
        report["repeats"] = list(basis.repeats)
    compares = tuple(sample["study_id"] for sample in counted.samples if sample["design"] in COMPARING)
    _add_slices(report, basis, How(target, delta, compares=compares))
    report["causes"] = cause_entries(basis.causes)
    report["disputes"] = basis.disputes
    planned = {"answers": described["answers"]["whose"], "target": target, "delta": delta}
    planned |= {"weights": weights.source if weights else None}
    report["plan"] = plan_entries(basis.plans, planned)
    if basis.judges:
        tasks = {study["task"] for study in counted.studies}
        report["judges"] = [
            {**judge, "tasks": [part for part in judge["tasks"] if part["task"] in tasks]} for judge in basis.judges
        ]
    if basis.validity is not None and basis.validity.is_judged:
        report["validity"] = validity_entries(basis.validity, whose_ratings(basis.validity))
        report["signature"]["notes"] += low_notes(report["validity"])
    return report


def _add_slices(report: Report, basis: Evidence, how: How) -> None:
    """What a report says by slice, where that was asked for."""
    if basis.sliced is not None and basis.checked is not None:
        frames = Frames(basis.judged, basis.checked, basis.drawn)
        report["slices"] = slice_entries(report["violations"], basis.sliced, frames, basis.shared, how)
        report["slice_tests"] = slice_tests(report["slices"], basis.sliced, frames, how)


def _described(basis: Evidence, settings: Signature) -> Signature:
    """The signature of a report that is computed from `basis` with these settings."""
    described: Signature = {**basis.made_from, **settings}
    notes = [*described["notes"], *_bounds_notes(basis.counted)]
    if basis.sliced is not None:
        described["slices"] = list(basis.sliced.by)
        notes += [message("slices.note_hidden", name=name) for name in basis.sliced.hidden]
    notes += _partly_judged_notes(basis.counted)
    described["notes"] = notes
    if used := proxy_judges(basis.judges, settings):
        described["proxy"]["judges"] = [{key: one[key] for key in ("name", "version", "settings")} for one in used]
        described["notes"] += [message("judges.note_proxy", names=[one["name"] for one in used])]
    described["notes"] += [own for judge in used if (own := own_note(judge))]
    if tested := [named for named in named_of(basis.plans) if named.tested]:
        described["primary"] = [signature_entry(named) for named in tested]
    return described


def cells_of_report(basis: Evidence) -> list[CellEntry]:
    """The cells of `report_of` with their counts and rates, but without what audits found: its roll-ups take longer."""
    return cell_entries(rated(with_worth(_cells_frame(basis), basis.judged, basis.checked, drawn=basis.drawn)))


def common_by(shared: Sequence[Shared]) -> CommonBy:
    """The common groups as `build_report` takes them."""
    return {(relation.task, relation.study, relation.relation): relation.common for relation in shared}


def _cells_frame(basis: Evidence) -> pd.DataFrame:
    """The cells as `build_report` takes them."""
    return basis.counted.cells


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
    if proxies:
        settings["proxy"] = {"names": list(proxies), "folds": FOLDS, "comparisons": "without proxies"}
    if weights is not None:
        settings["weights"] = weights.source
    return settings
