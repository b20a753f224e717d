"""Does a relation hold here: whether follow-ups are sound, what violations are then worth, and how often an answer that
a relation carries is wrong.

A follow-up is unsound where its text is invalid by people's ratings, or where its relation does not hold in the group.
`audit validity report` is this document; the report's notes name relations whose follow-ups are often invalid.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import asdict
from typing import Any

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
from audit.reports.document import Entry, estimated, plain
from audit.reports.tables import Section, Table, closing
from audit.reports.words import UNKNOWN, Say, count, estimate, number
from audit.statistics.agreement import Ratings, suite
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

_OF_RATERS = {
    (None, "percent_agreement"), ("ordinal", "krippendorff_alpha"), ("quadratic", "cohen_kappa"),
    ("quadratic", "fleiss_kappa"),
}  # fmt: skip


def read_validity(
    connection: Connection, studies: Collection[int] | None = None
) -> tuple[pd.DataFrame, pd.DataFrame] | None:
    """Return the drawn pairs of these studies or of all, and how texts were rated; None where nothing was drawn.

    Of a pair: study, wanted (raters of each text), task, relation_id, relation, group_id, source and follow_up
    (inputs), cluster, holds (1 or 0: whether the relation holds in the group, NaN while nobody has settled that), the
    scores SCALE_source and SCALE_follow_up, and valid (NaN where a score is missing). Of a rating that counts:
    input_id, scale, annotator and rating, 1 to 5 or unsure.
    """
    studies_of = select(validity_study.c.study_id, validity_study.c.annotators).order_by(validity_study.c.study_id)
    wanted = {id: number for id, number in connection.execute(studies_of) if studies is None or id in studies}
    if not wanted:
        return None
    key = ["study_id", "relation_id", "rank", "group_id"]
    members = pd.DataFrame(drawn_members(connection, list(wanted)), columns=[*key, "role", "input_id"])
    pairs = members.pivot(index=key, columns="role", values="input_id").reindex(columns=["source", "follow_up"])
    pairs = pairs.reset_index().rename(columns={"study_id": "study"})
    pairs["wanted"] = pairs["study"].map(wanted)
    for name, of, table, column in (("task", "study", study, "task"), ("relation", "relation_id", relation, "name")):
        pairs[name] = pairs[of].map(dict(connection.execute(select(table.c.id, table.c[column])).all()))
    pairs["cluster"] = source_clusters(connection, wanted).loc[pairs["group_id"] // LIMIT**2].to_numpy()
    answers, content_of = group_answers(connection), contents(connection, set(pairs["group_id"].tolist()))
    holds = {id: HOLDS in answers[content].allowed for id, content in content_of.items() if content in answers}
    pairs["holds"] = pairs["group_id"].map(holds).astype(float)
    of_texts = (
        select(question.c.input_id, question.c.kind, annotator.c.name, judgement.c.answer)
        .join(judgement, judgement.c.question_id == question.c.id)
        .join(annotator, annotator.c.id == judgement.c.annotator_id)
        .where(question.c.kind.in_(SCALES), judgement.c.round == 1, is_counted(judgement), is_person(annotator))
        .order_by(judgement.c.id)
    )
    texts = sorted({*pairs["source"].tolist(), *pairs["follow_up"].tolist()})
    rows = list(rows_among(connection, of_texts, question.c.input_id, texts))
    ratings = pd.DataFrame(rows, columns=["input_id", "scale", "annotator", "rating"])
    numbers = ratings[ratings["rating"] != UNSURE].astype({"rating": float})
    scores = numbers.pivot_table(index="input_id", columns="scale", values="rating").reindex(columns=list(SCALES))
    source, follow_up = (scores.reindex(pairs[role]).to_numpy(float) for role in ("source", "follow_up"))
    unrated = np.isnan(np.hstack([source, follow_up])).any(axis=1)
    pairs["valid"] = np.where(unrated, np.nan, is_valid(source, follow_up))
    for at, scale in enumerate(SCALES):
        pairs[f"{scale}_source"], pairs[f"{scale}_follow_up"] = source[:, at], follow_up[:, at]
    return pairs, ratings


def validity_report(database: Engine | Connection, study: int | None = None) -> Entry:
    """Return the document of the validity study, of one study or of all. Raises AuditError for a study that is not
    there, and where nothing was drawn or rated."""
    with snapshot(database) as connection:
        if study is not None:
            need_study(connection, study)
        coefficients = read_validity(connection, None if study is None else [study])
        if coefficients is None:
            raise AuditError("no pairs were drawn to be rated; draw some with `audit validity draw`")
        pairs, ratings = coefficients
        entries = validity_entries(connection, pairs, ratings)
    if not entries:
        raise AuditError("nobody has rated any of the drawn texts yet")
    raters = ratings.groupby("annotator", sort=True).size().rename("ratings").rename_axis("name").reset_index()
    questions, most = len({*pairs["source"], *pairs["follow_up"]}) * len(SCALES), int(pairs["wanted"].max())
    few = questions - int((ratings.groupby(["input_id", "scale"]).size() >= most).sum())
    few_ratings = message("validity.few_ratings", count=few, whole=questions, wanted=most)
    agreement = {scale: _agreement(pairs, ratings[ratings["scale"] == scale]) for scale in SCALES}
    return {
        "raters": raters.to_dict("records"), "unsure": int((ratings["rating"] == UNSURE).sum()), "relations": entries,
        "agreement": [{"scale": scale, "coefficients": coefficients} for scale, coefficients in agreement.items()],
        "notes": [few_ratings] * bool(few) + low_notes(entries),
        "signature": {
            "audit": audit.__version__, "studies": sorted(pairs["study"].unique().tolist()),
            "valid": f"both scales >= {GOOD:g}, or at most {DROP:g} below the source",
            "differences": "t over clusters with two imagined pairs",
            "shares": "exact interval at the effective size of clusters", "confidence": 0.95,
        },
    }  # fmt: skip


def validity_entries(
    connection: Connection, pairs: pd.DataFrame, ratings: pd.DataFrame, checks: Checked | None = None
) -> list[Entry]:
    """Return an entry for each relation of each study of which pairs were drawn, in their order; none before somebody
    has rated a text or settled whether a relation holds. `checks` are those of the studies, where they were read."""
    if ratings.empty and pairs["holds"].isna().all():
        return []
    checks = checks or checked(connection, sorted(pairs["study"].unique().tolist()))
    systems = dict(connection.execute(select(system.c.id, system.c.name)).all())
    names = [systems[id] for id in checks.systems]
    entries = [_entry(of, checks, names) for _, of in pairs.groupby(["study", "relation_id"], sort=True)]
    return sorted(entries, key=lambda entry: (entry["study"], name_order(entry["relation"])))


def _entry(pairs: pd.DataFrame, checks: Checked, systems: Sequence[str]) -> Entry:
    study_id, relation_id, task, name = pairs.iloc[0][["study", "relation_id", "task", "relation"]]
    rated, judged = (pairs[pairs[column].notna()] for column in ("valid", "holds"))
    rows = np.flatnonzero((checks.study == study_id) & (checks.relation == relation_id))
    groups, outcomes = checks.groups(rows), checks.outcome[rows]
    cells = list[Entry]()
    for by, answers, column in (("text", rated, "valid"), ("relation", judged, "holds")):
        for at in np.argsort(systems, kind="stable") if by == "text" or len(judged) else ():
            cells += _cell(systems[at], by, answers, answers[column] == 0, pd.Series(outcomes[:, at], groups[:, at]))
    valid, broken, scales = rated["valid"] == 1, judged["holds"] == 0, list[Entry]()
    shares = [
        estimated(rate_of_clusters(of["cluster"].to_numpy(), hit.to_numpy(int)), len(of))
        for of, hit in ((rated, valid), (judged, broken))
    ]
    for scale in SCALES:
        both = pairs.dropna(subset=[f"{scale}_source", f"{scale}_follow_up"])
        source, follow_up = both[f"{scale}_source"], both[f"{scale}_follow_up"]
        difference = paired_difference((follow_up - source).to_numpy(float), both["cluster"].to_numpy())
        means = {"scale": scale, "original": plain(source.mean()), "follow_up": plain(follow_up.mean())}
        scales.append(means | {"difference": estimated(difference, len(both))})
    return {
        "study": int(study_id), "task": str(task), "relation": str(name), "pairs": len(pairs), "scales": scales,
        "valid": int(valid.sum()), "share": shares[0], "holds": {"broken": int(broken.sum()), "rate": shares[1]},
        "cells": cells,
    }  # fmt: skip


def _cell(name: str, by: str, answers: pd.DataFrame, unsound: pd.Series, outcome: pd.Series) -> Iterator[Entry]:
    """Yield what a system's violations are worth, by the judged pairs of its violated and satisfied groups, whose
    `outcome` is by group."""
    of_pairs = answers["group_id"].map(outcome)
    satisfied, violated = (
        OutcomePairs(
            int((outcome == kind).sum()), unsound[at].to_numpy(bool), answers.loc[at, "cluster"].to_numpy(np.int64)
        )
        for kind, at in ((int(kind), of_pairs == int(kind)) for kind in (Outcome.SATISFIED, Outcome.VIOLATED))
    )
    if satisfied.groups + violated.groups:
        share, rate = violations_worth(satisfied, violated)
        yield {
            "system": name, "by": by, "asked_satisfied": len(satisfied.unsound),
            "asked_violated": len(violated.unsound), "unsound_violated": int(violated.unsound.sum()),
            "unsound": estimated(share if violated.groups else None),
            "vr_observed": violated.groups / (satisfied.groups + violated.groups), "vr_sound": estimated(rate),
        }  # fmt: skip


def _agreement(pairs: pd.DataFrame, rated: pd.DataFrame) -> list[Entry]:
    """Return how far the raters of one scale agree, over texts."""
    frame = rated[rated["rating"] != UNSURE].rename(columns={"input_id": "item", "rating": "label"})
    if frame["annotator"].nunique() < 2:
        return []
    # Texts of one source go together: the source's own text, and what was made of it.
    cluster_of = pd.concat([pairs.set_index(role)["cluster"] for role in ("follow_up", "source")]).to_dict()
    ratings = Ratings.of(frame.assign(cluster=frame["item"].map(cluster_of)), RATINGS)
    by_name = {
        (coefficient.level, coefficient.name): coefficient
        for level in ("ordinal", "quadratic")
        for coefficient in suite(ratings, level)
    }
    return [asdict(coefficient) for key, coefficient in by_name.items() if key in _OF_RATERS]


def low_notes(entries: Sequence[Entry]) -> list[str]:
    """Warn of each relation whose share of valid follow-ups is low, whatever the drawn ones happen to be."""
    low = [
        low_entry
        for low_entry in entries
        if low_entry["share"]["high"] is not None and low_entry["share"]["high"] < LOW_SHARE
    ]
    return [
        message("validity.low", relation=low_entry["relation"], limit=100 * LOW_SHARE, valid=low_entry["valid"],
                rated=low_entry["share"]["n"], high=100 * low_entry["share"]["high"])
        for low_entry in low
    ]  # fmt: skip


def add_carries(report: Entry, counted: Counted, target: Target) -> None:
    """Add to each relation of a report how many carried answers were wrong, of those that people answered, too."""
    names = counted.cells[["study", "relation", "study_id", "relation_id"]].drop_duplicates()
    ids = {tuple(row[:2]): row[2:] for row in names.itertuples(index=False, name=None)}
    rows = [(carried.group_id, carried.source, carried.follow_up, carried.wrong) for carried in counted.audited]
    audited = pd.DataFrame(rows, columns=["group", "source", "follow_up", "wrong"]).astype(np.int64)
    for entry in report["relations"]:
        study, id = ids[entry["study"], entry["relation"]]
        population = counted.populations[study]
        own = (audited["group"] // LIMIT % LIMIT == id) & (audited["group"] // LIMIT**2).isin(population.source)
        own = audited[own].drop_duplicates(["source", "follow_up"], keep="last")  # several systems are one observation
        places = np.searchsorted(population.source, own["group"] // LIMIT**2)
        # Follow-ups of one source are not independent; carrying is a property of the relation, not of these texts.
        cluster, wrong = population.cluster[places] if target == "population" else places, own["wrong"].to_numpy(int)
        entry["carry"] = {"wrong": int(wrong.sum()), "error": estimated(rate_of_clusters(cluster, wrong), len(own))}


def validity_sections(document: Entry) -> Iterator[Section]:
    """Yield who rated, the ratings by relation, what violations are worth, and how far raters agree."""
    raters = ", ".join(f"{rater['name']} ({count(rater['ratings'])})" for rater in document["raters"])
    who, say = f"Rated by {raters}; {count(document['unsure'])} answers were unsure and count as none.", Say()
    parts: list[Any] = [who, *validity_parts(document["relations"], say)]
    for part in document["agreement"]:
        coefficients = (
            coefficient_table(part["coefficients"]) if part["coefficients"] else "There are fewer than two raters."
        )
        parts.append(Section(f"Agreement of raters on {say('scale.name_' + part['scale']).lower()}", [coefficients]))
    yield Section(say("validity.title"), [*parts, closing(document)])


def validity_parts(entries: Sequence[Entry], say: Say) -> Iterator[str | Table]:
    """Yield for each study the ratings by relation, as TextFlint's human evaluation prints them, and what violations
    are worth where pairs of violated groups were judged."""
    scales = [head for scale in reversed(SCALES) for head in (f"{scale}_original", f"{scale}_follow_up", "difference")]
    for study_id in dict.fromkeys(entry["study"] for entry in entries):
        own = [entry for entry in entries if entry["study"] == study_id]
        yield say("validity.table", study=study_id, task=wording(own[0]["task"], say.language).name)
        heads = ["relation", "rated", *scales, "valid", *["broken"] * any(of["holds"]["rate"]["n"] for of in own)]
        yield Table([say(f"validity.{head}") for head in heads], [_ratings(entry)[: len(heads)] for entry in own])
        for kind in ("text", "relation"):
            cells = [
                (entry["relation"], cell["system"], cell["vr_observed"],
                 f"{count(cell['unsound_violated'])}/{count(cell['asked_violated'])}",
                 *(estimate(cell[rate]) for rate in ("unsound", "vr_sound")))
                for entry in own
                for cell in entry["cells"]
                if cell["by"] == kind and cell["asked_violated"]
            ]  # fmt: skip
            if cells:
                heads = ["relation", "system", "vr", "of_violated", "unsound", "vr_sound"]
                yield say(f"validity.violations_{kind}", least=LEAST)
                yield Table([say(f"validity.{head}") for head in heads], cells, 2)


def _ratings(entry: Entry) -> tuple[Any, ...]:
    """Return a row of the ratings of a relation: mean scores, their difference, and the shares of follow-ups that are
    valid, and of groups in which the relation does not hold."""
    means: list[str] = []
    for part in reversed(entry["scales"]):
        value, low, high = (part["difference"][end] for end in ("value", "low", "high"))
        difference = UNKNOWN if value is None else f"{value:+.2f} [{low:+.2f}, {high:+.2f}]"
        means += [number(part["original"], 2), number(part["follow_up"], 2), difference]
    rated, shares = f"{count(entry['share']['n'])}/{count(entry['pairs'])}", (entry["share"], entry["holds"]["rate"])
    return entry["relation"], rated, *means, *map(estimate, shares)
