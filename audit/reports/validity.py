"""Does a relation hold here: whether follow-ups are sound, what violations are then worth, and how often an answer that
a relation carries is wrong.

A follow-up is unsound where its text is invalid by people's ratings, or where its relation does not hold in the group.
`audit validity report` is this document; the report's notes name relations whose follow-ups are often invalid.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd
from sqlalchemy import Connection, Engine, select

import audit
from audit.errors import AuditError
from audit.false_satisfaction.cells import Counted, source_clusters
from audit.false_satisfaction.questions import contents, drawn_members, group_answers
from audit.judging.accounts import is_person
from audit.judging.answers import is_counted
from audit.messages import message
from audit.relations import Outcome, name_order
from audit.reports.agreement import coefficient_table
from audit.reports.document import Entry, EstimateEntry, ReportDocument, estimated, plain
from audit.reports.tables import Section, Table, closing
from audit.reports.words import UNKNOWN, Say, count, estimate, number
from audit.statistics.agreement import Ratings, suite
from audit.statistics.corrected import carry_error
from audit.statistics.intervals import Target, rate_of_clusters
from audit.statistics.validity import (
    DROP,
    GOOD,
    LEAST,
    LOW_SHARE,
    OutcomePairs,
    is_valid,
    paired_difference,
    violations_worth,
)
from audit.store import Checked, checked, need_study, rows_among, snapshot
from audit.store.bulk import LIMIT
from audit.store.core import annotator, judgement, question, relation, study, system, validity_study
from audit.tasks import wording
from audit.tasks.questions import HOLDS, RATINGS, SCALES, UNSURE

AGREEMENT = {
    None: ("percent_agreement",),
    "ordinal": ("krippendorff_alpha",),
    "quadratic": ("cohen_kappa", "fleiss_kappa"),
}
"""The coefficients of raters, by level."""


@dataclass(frozen=True, eq=False)
class ValidityRecord:
    """What was drawn and how it was rated.

    `pairs` has a row a drawn pair: study, task, relation_id, relation, group_id, source and follow_up (inputs), cluster
    and holds (1 or 0: whether the relation holds in the group, NaN while nobody has settled that). `ratings` has a row
    a rating that counts: input_id, scale, annotator, rating (1 to 5, or unsure). `systems` names those of
    `checks`; `wanted` is how many people rate each text, by study.
    """

    pairs: pd.DataFrame
    ratings: pd.DataFrame
    checks: Checked
    systems: Mapping[int, str]
    wanted: Mapping[int, int]

    @property
    def is_judged(self) -> bool:
        """Whether somebody has rated a text, or a question about a group is settled."""
        return bool(len(self.ratings)) or bool(self.pairs["holds"].notna().any())


def read_validity(
    connection: Connection, studies: Collection[int] | None = None, checks: Checked | None = None
) -> ValidityRecord | None:
    """Read what a validity report needs, of these studies or of all; None where no pairs were drawn.

    `checks` are those of the studies, where they were read before.
    """
    asked = select(validity_study.c.study_id, validity_study.c.annotators).order_by(validity_study.c.study_id)
    wanted = {int(id): int(number) for id, number in connection.execute(asked) if studies is None or id in studies}
    if not wanted:
        return None
    tasks, relations, systems = (
        dict(connection.execute(select(*columns)).all())
        for columns in ((study.c.id, study.c.task), (relation.c.id, relation.c.name), (system.c.id, system.c.name))
    )
    key = ["study_id", "relation_id", "rank", "group_id"]
    members = pd.DataFrame(drawn_members(connection, list(wanted)), columns=[*key, "role", "input_id"])
    pairs = members.pivot(index=key, columns="role", values="input_id").reindex(columns=["source", "follow_up"])
    pairs = pairs.reset_index().rename(columns={"study_id": "study"})
    pairs["task"], pairs["relation"] = pairs["study"].map(tasks), pairs["relation_id"].map(relations)
    pairs["cluster"] = source_clusters(connection, wanted).of((pairs["group_id"] // LIMIT**2).to_numpy(np.int64))
    answers, content_of = group_answers(connection), contents(connection, set(pairs["group_id"].tolist()))
    holds = {id: HOLDS in answers[content].allowed for id, content in content_of.items() if content in answers}
    pairs["holds"] = pairs["group_id"].map(holds).astype(float)
    of_texts = (
        select(question.c.input_id, question.c.kind, annotator.c.name, judgement.c.answer)
        .join(judgement, judgement.c.question_id == question.c.id)
        .join(annotator, annotator.c.id == judgement.c.annotator_id)
        .where(question.c.kind.in_(SCALES), judgement.c.round == 1, is_counted(judgement))
        .where(is_person(annotator))
        .order_by(judgement.c.id)
    )
    ids = sorted({*pairs["source"].tolist(), *pairs["follow_up"].tolist()})
    rows = rows_among(connection, of_texts, question.c.input_id, ids)
    ratings = pd.DataFrame(list(rows), columns=["input_id", "scale", "annotator", "rating"])
    return ValidityRecord(pairs, ratings, checks or checked(connection, list(wanted)), systems, wanted)


def validity_report(database: Engine | Connection, study: int | None = None) -> Entry:
    """Return the document of the validity study, of one study or of all. Raises AuditError for a study that is not
    there, and where nothing was drawn or rated."""
    with snapshot(database) as connection:
        if study is not None:
            need_study(connection, study)
        record = read_validity(connection, None if study is None else [study])
    if record is None:
        raise AuditError(message("validity.none_drawn"))
    rated = record.ratings
    if not record.is_judged:
        raise AuditError(message("validity.none_rated"))
    entries = validity_entries(record)
    raters = rated.groupby("annotator", sort=True).size().rename("ratings").reset_index()
    return {
        "raters": raters.rename(columns={"annotator": "name"}).to_dict("records"),
        "unsure": int((rated["rating"] == UNSURE).sum()),
        "relations": entries,
        "agreement": [_agreement(rated[rated["scale"] == scale], scale, record) for scale in SCALES],
        "notes": [*_notes(record), *low_notes(entries)],
        "signature": {
            "audit": audit.__version__,
            "studies": sorted(record.wanted),
            "valid": f"both scales >= {GOOD:g}, or at most {DROP:g} below the source",
            "differences": "t over clusters with two imagined pairs",
            "shares": "exact interval at the effective size of clusters",
            "confidence": 0.95,
        },
    }


def validity_entries(record: ValidityRecord) -> list[Entry]:
    """Return an entry for each relation of each study of which pairs were drawn, in their order."""
    rated = record.ratings
    numbers = rated[rated["rating"] != UNSURE].assign(rating=lambda frame: frame["rating"].astype(float))
    scores = numbers.pivot_table(index="input_id", columns="scale", values="rating").reindex(columns=list(SCALES))
    source, follow_up = (scores.reindex(record.pairs[role]).to_numpy(float) for role in ("source", "follow_up"))
    unrated = np.isnan(np.hstack([source, follow_up])).any(axis=1)
    pairs = record.pairs.assign(valid=np.where(unrated, np.nan, is_valid(source, follow_up)))
    for at, scale in enumerate(SCALES):
        pairs[f"{scale}_source"], pairs[f"{scale}_follow_up"] = source[:, at], follow_up[:, at]
    entries = [_entry(of_relation, record) for _, of_relation in pairs.groupby(["study", "relation_id"], sort=True)]
    return sorted(entries, key=lambda entry: (entry["study"], name_order(entry["relation"])))


def _entry(pairs: pd.DataFrame, record: ValidityRecord) -> Entry:
    study_id, relation_id, task, name = pairs.iloc[0][["study", "relation_id", "task", "relation"]]
    rated, judged = (pairs[pairs[column].notna()] for column in ("valid", "holds"))
    valid, broken = rated["valid"] == 1, judged["holds"] == 0
    rows = np.flatnonzero((record.checks.study == study_id) & (record.checks.relation == relation_id))
    cells = list(_cells(record, rows, "text", rated.assign(unsound=~valid)))
    if len(judged):
        cells += _cells(record, rows, "relation", judged.assign(unsound=broken))
    return {
        "study": int(study_id),
        "task": str(task),
        "relation": str(name),
        "pairs": len(pairs),
        "scales": [_scale(scale, pairs) for scale in SCALES],
        "valid": int(valid.sum()),
        "share": _share(rated["cluster"], valid),
        "holds": {"broken": int(broken.sum()), "rate": _share(judged["cluster"], broken)},
        "cells": cells,
    }


def _share(cluster: pd.Series, hit: Any) -> EstimateEntry:
    return estimated(rate_of_clusters(cluster.to_numpy(), np.asarray(hit, int)), len(cluster))


def _scale(name: str, pairs: pd.DataFrame) -> Entry:
    """Return what pairs say on one scale, those of which both texts have a score."""
    pairs = pairs.dropna(subset=[f"{name}_source", f"{name}_follow_up"])
    source, follow_up = (pairs[f"{name}_{role}"] for role in ("source", "follow_up"))
    difference = paired_difference((follow_up - source).to_numpy(float), pairs["cluster"].to_numpy())
    return {
        "scale": name,
        "original": plain(source.mean()),
        "follow_up": plain(follow_up.mean()),
        "difference": estimated(difference, len(pairs)),
        "good": _share(pairs["cluster"], follow_up >= GOOD - 1e-9),
    }


def _cells(
    record: ValidityRecord, rows: np.ndarray, by: Literal["text", "relation"], judged: pd.DataFrame
) -> Iterator[Entry]:
    """Yield what violations of each system are worth, by the judged pairs of its violated and satisfied groups."""
    checks, names = record.checks, record.systems
    groups, outcomes = checks.groups(rows), checks.outcome[rows]
    for column, system_id in sorted(enumerate(checks.systems), key=lambda place: names[place[1]]):
        of_pairs = judged["group_id"].map(pd.Series(outcomes[:, column], groups[:, column]))
        satisfied, violated = (
            OutcomePairs(
                int((outcomes[:, column] == outcome).sum()),
                judged.loc[of_pairs == outcome, "unsound"].to_numpy(bool),
                judged.loc[of_pairs == outcome, "cluster"].to_numpy(np.int64),
            )
            for outcome in (int(Outcome.SATISFIED), int(Outcome.VIOLATED))
        )
        if not satisfied.groups + violated.groups:
            continue
        unsound, rate = violations_worth(satisfied, violated)
        yield {
            "system": names[system_id],
            "by": by,
            "asked_satisfied": len(satisfied.unsound),
            "asked_violated": len(violated.unsound),
            "unsound_violated": int(violated.unsound.sum()),
            "unsound": estimated(unsound if violated.groups else None),
            "vr_observed": violated.groups / (satisfied.groups + violated.groups),
            "vr_sound": estimated(rate),
        }


def _agreement(rated: pd.DataFrame, scale: str, record: ValidityRecord) -> Entry:
    """Return how far the raters of one scale agree, over texts."""
    numbers = rated[rated["rating"] != UNSURE]
    coefficients: list[Entry] = []
    if numbers["annotator"].nunique() > 1:
        # Texts of one source go together: the source's own text, and what was made of it.
        cluster_of = pd.concat([record.pairs.set_index(role)["cluster"] for role in ("follow_up", "source")]).to_dict()
        frame = numbers.rename(columns={"input_id": "item", "rating": "label"})
        ratings = Ratings.of(frame.assign(cluster=frame["item"].map(cluster_of)), RATINGS)
        for level, names in AGREEMENT.items():
            coefficients += [asdict(one) for one in suite(ratings, level) if one.level == level and one.name in names]
    return {"scale": scale, "coefficients": coefficients}


def _notes(record: ValidityRecord) -> Iterator[str]:
    """Yield what is missing."""
    questions = len({*record.pairs["source"], *record.pairs["follow_up"]}) * len(SCALES)
    most = max(record.wanted.values())
    if few := questions - int((record.ratings.groupby(["input_id", "scale"]).size() >= most).sum()):
        yield message("validity.few_ratings", count=few, whole=questions, wanted=most)


def low_notes(entries: Sequence[Entry]) -> list[str]:
    """Warn of each relation whose share of valid follow-ups is low, whatever the drawn ones happen to be."""
    notes = list[str]()
    for entry in entries:
        share = entry["share"]
        if share["high"] is not None and share["high"] < LOW_SHARE:
            numbers = {"valid": entry["valid"], "rated": share["n"], "high": 100 * share["high"]}
            limit = 100 * LOW_SHARE
            notes.append(message("validity.low", relation=entry["relation"], limit=limit, **numbers))
    return notes


def add_carries(report: ReportDocument, counted: Counted, target: Target) -> None:
    """Add to each relation of a report how many carried answers were wrong, of those that people answered, too."""
    names = counted.cells[["study", "relation", "study_id", "relation_id"]].drop_duplicates()
    ids = {tuple(row[:2]): row[2:] for row in names.itertuples(index=False, name=None)}
    for entry in report["relations"]:
        study, id = ids[entry["study"], entry["relation"]]
        population, of = counted.populations[study], dict[tuple[int, int], tuple[int, bool]]()
        for one in counted.audited:
            source = one.group_id // LIMIT**2
            place = int(np.searchsorted(population.source, source))
            if one.group_id // LIMIT % LIMIT == id and source in population.source[place : place + 1]:
                of[one.source, one.follow_up] = place, one.wrong  # of several systems it is one observation
        places, wrong = (np.array([part[at] for part in of.values()], int) for at in (0, 1))
        error = carry_error(population.cluster[places] if target == "population" else places, wrong)
        entry["carry"] = {"wrong": error.wrong, "error": estimated(error, error.audited)}


def validity_sections(document: Entry) -> Iterator[Section]:
    """Yield who rated, the ratings by relation, what violations are worth, and how far raters agree."""
    raters = ", ".join(f"{rater['name']} ({count(rater['ratings'])})" for rater in document["raters"])
    say, agreement = Say(), list[Section]()
    for part in document["agreement"]:
        known = part["coefficients"]
        of = [coefficient_table(known)] if known else ["There is nothing to compare: fewer than two raters."]
        agreement.append(Section(f"Agreement of raters on {say('scale.name_' + part['scale']).lower()}", of))
    who = f"Rated by {raters}; {count(document['unsure'])} answers were unsure and count as none."
    parts = [who, *validity_parts(document["relations"], say), *agreement, closing(document)]
    yield Section(say("validity.title"), parts)


def validity_parts(entries: Sequence[Entry], say: Say) -> Iterator[str | Table]:
    """Yield for each study the ratings by relation, as TextFlint's human evaluation prints them, and what violations
    are worth where pairs of violated groups were judged."""

    def heads(*names: str) -> list[str]:
        return [say(f"validity.{name}") for name in names]

    scales = [f"{scale}_{text}" for scale in reversed(SCALES) for text in ("original", "follow_up", "difference")]
    names = ["relation", "rated", *(name if "difference" not in name else "difference" for name in scales), "valid"]
    for study_id in dict.fromkeys(entry["study"] for entry in entries):
        of_study = [entry for entry in entries if entry["study"] == study_id]
        task = wording(of_study[0]["task"], say.language).name
        broken = ["broken"] * any(entry["holds"]["rate"]["n"] for entry in of_study)
        yield say("validity.table", study=study_id, task=task)
        rows = [_row(entry)[: len(names + broken)] for entry in of_study]
        yield Table(heads(*names, *broken), rows)
        for kind in ("text", "relation"):
            cells = [
                (
                    entry["relation"], cell["system"], cell["vr_observed"],
                    f"{count(cell['unsound_violated'])}/{count(cell['asked_violated'])}", estimate(cell["unsound"]),
                    estimate(cell["vr_sound"]),
                )
                for entry in of_study
                for cell in entry["cells"]
                if cell["by"] == kind and cell["asked_violated"]
            ]  # fmt: skip
            if cells:
                yield say(f"validity.violations_{kind}", least=LEAST)
                yield Table(heads("relation", "system", "vr", "of_violated", "unsound", "vr_sound"), cells, 2)


def _row(entry: Entry) -> tuple[Any, ...]:
    means: list[str] = []
    for part in reversed(entry["scales"]):
        value, low, high = (part["difference"][end] for end in ("value", "low", "high"))
        difference = UNKNOWN if value is None else f"{value:+.2f} [{low:+.2f}, {high:+.2f}]"
        means += [number(part["original"], 2), number(part["follow_up"], 2), difference]
    rated = f"{count(entry['share']['n'])}/{count(entry['pairs'])}"
    return (entry["relation"], rated, *means, estimate(entry["share"]), estimate(entry["holds"]["rate"]))
