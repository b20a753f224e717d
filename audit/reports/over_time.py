"""How numbers firmed up while people judged: rates and the ranking, and agreement."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any, cast

import numpy as np
import pandas as pd
from sqlalchemy import ColumnElement, Engine, select

from audit.annotation.activity import Overview, PersonActivity, Unread
from audit.annotation.answers import SCALES
from audit.annotation.ratings import Kind, Rated, stored_ratings
from audit.errors import AuditError
from audit.false_satisfaction.cells import CELL, Clusters, Counted, source_clusters
from audit.false_satisfaction.groups import (
    Comparison,
    Shared,
    checked_groups,
    comparisons,
    judged_groups,
    shared_groups,
)
from audit.false_satisfaction.history import POINTS, replay
from audit.false_satisfaction.resolution import State, Whose
from audit.reports.agreement import agreement_report
from audit.reports.build import CommonBy, Groups, Report, build_report
from audit.reports.certainty import KEY
from audit.reports.document import CellEntry
from audit.reports.documents import (
    AgreementOverTime,
    CellAtWork,
    HistoryDocument,
    HistoryPoint,
    PersonEntry,
    ProgressDocument,
    SpeedNumbers,
    StoredAgreement,
    SystemHistory,
    TotalsDocument,
    UnreadEntry,
    Winner,
)
from audit.reports.words import UNKNOWN, count, percent, with_interval
from audit.statistics.agreement import Ratings, label_pairs
from audit.store import snapshot, table_of, tables

RATES = ("judged", "sr_observed", "fs_rate", "fs_low", "fs_high", "sr_genuine", "sr_genuine_low", "sr_genuine_high")
PERIODS = 8
"""Stretches of the judging in which agreement is measured."""
LEAST = 10
"""Items a stretch has at least: agreement on fewer says nothing."""


def history_report(
    engine: Engine, whose: Whose = "both", study: int | None = None, points: int = POINTS
) -> HistoryDocument:
    """Rates of every cell and the ranking of every relation at points of the history of judging, as a JSON document.

    `points` has how much people had given at each; `relations` has for each relation its systems in the order of the
    report, and for each system lists with one entry a point: those of `RATES`, and p_best. `winner` is the system with
    the highest p_best at the last point (None where the ranking is not known). At the last point all numbers are those
    of the report with default settings. Raises AuditError where there is nothing to report.
    """
    point_entries: list[HistoryPoint] = []
    relations: dict[tuple[str, int | str | None, str], dict[str, Any]] = {}
    compared: Sequence[Comparison] | None = None
    checked: pd.DataFrame | None = None
    with snapshot(engine) as connection:
        for point in replay(connection, whose, study, points):
            if checked is None or compared is None:  # what was checked, and what is compared, is the same at all points
                clusters = source_clusters(connection, [int(str(row["id"])) for row in point.counted.studies])
                checked = checked_groups(point.counted, clusters)
                compared = comparisons(connection, point.counted)
            report = _report(point.counted, clusters, checked, shared_groups(point.counted, compared))
            for entry in report["relations"]:
                key = (entry["task"], entry["study"], entry["relation"])
                relations.setdefault(key, {"corpus": entry["corpus"], "systems": {}})
            for system, numbers, key in _systems(report):
                series = relations[key]["systems"].setdefault(system, {name: [] for name in (*RATES, "p_best")})
                for name, value in numbers.items():
                    series[name].append(value)
            point_entries.append(
                {
                    "judgements": point.judgements,
                    "adjudications": point.adjudications,
                    "until": point.until.isoformat() if point.until else None,
                    "answers": point.answers,
                    "judged": int(point.counted.cells["judged"].sum()),
                }
            )
    return {
        "points": point_entries,
        "relations": [
            {
                "task": task,
                "study": number,
                "corpus": record["corpus"],
                "relation": relation,
                "systems": [cast(SystemHistory, {"system": name} | lists) for name, lists in record["systems"].items()],
                **_winner(record["systems"]),
            }
            for (task, number, relation), record in relations.items()
        ],
    }


def _report(counted: Counted, clusters: Clusters, checked: pd.DataFrame, shared: Sequence[Shared]) -> Report:
    """The report of the counts at a point, with default settings; without roll-ups of audits and notes."""
    common: CommonBy = {
        (comparison.task, comparison.study, comparison.relation): comparison.common for comparison in shared
    }
    return build_report(
        counted.cells.join(counted.keys[CELL]),
        {},
        groups=Groups(judged_groups(counted, clusters), checked, common=common),
    )


def _systems(report: Report) -> Iterator[tuple[str, dict[str, Any], tuple[str, Any, str]]]:
    chances = {
        (relation["task"], relation["study"], relation["relation"], entry["system"]): entry["p_best"]
        for relation in report["relations"]
        for entry in relation["ranking"]
    }
    for cell in report["cells"]:
        key = (cell["task"], cell["study"], cell["relation"])
        values: Mapping[str, Any] = cell
        numbers = {name: values[name] for name in RATES} | {"p_best": chances.get((*key, cell["system"]))}
        yield cell["system"], numbers, key


def _winner(systems: Mapping[str, Mapping[str, Sequence[float | None]]]) -> Winner:
    last = [(chance, name) for name, lists in systems.items() if (chance := lists["p_best"][-1]) is not None]
    chance, best = max(last, key=lambda ranked: ranked[0], default=(None, None))
    return {"winner": best, "p_winner": chance}


def agreement_over_time(rated: Rated, periods: int = PERIODS) -> AgreementOverTime:
    """The agreement of `agreement_report` with a part for each stretch of the judging, and which labels were mixed up.

    `rated.frame` is in the order in which ratings were given. Items that two or more judged are cut, in the order in
    which they were last judged, into at most `periods` stretches of equal length, of `LEAST` items or more; the values
    of `groups` are "1", "2", ... `confusions` has a row and a column a label, in the order of `labels`: how often one
    annotator gave the row's label where another gave the column's. Raises AuditError as `agreement_report` does.
    """
    parts = _stretches(rated.frame, periods)
    report = agreement_report(rated, by="period" if len(parts) else None, parts=parts if len(parts) else None)
    matrix = label_pairs(Ratings.of(rated.frame, rated.labels))
    return {**report, "confusions": matrix.tolist()}


def _stretches(frame: pd.DataFrame, periods: int) -> pd.DataFrame:
    """The stretch of each item: columns item and value (the number of the stretch, as text)."""
    placed = pd.DataFrame({"item": frame["item"].to_numpy(), "place": np.arange(len(frame))})
    spans = placed.groupby("item")["place"].agg(["size", "max"])
    shared = spans[spans["size"] >= 2].sort_values("max")
    number = min(periods, len(shared) // LEAST)
    if number < 2:
        return pd.DataFrame({"item": [], "value": []})
    stretch = np.arange(len(shared)) * number // len(shared) + 1
    return pd.DataFrame({"item": shared.index, "value": stretch.astype(str)})


def stored_agreement(
    engine: Engine, by: int | None = None, among: ColumnElement[bool] | None = None
) -> list[StoredAgreement]:
    """`agreement_over_time` for each task and kind of question that two people judged, with `task` and `kind`; among
    the questions that meet a condition, or all.

    For a manager (`by`, an account id; else NotAllowed) or for whoever has the database itself (None).
    """
    reports: list[StoredAgreement] = []
    for task, kind in _question_kinds(engine):
        try:
            report = agreement_over_time(stored_ratings(engine, task, kind, by=by, among=among))
        except AuditError as problem:
            if type(problem) is not AuditError:
                raise
            continue  # fewer than two people have judged such questions
        reports.append({**report, "task": task, "kind": kind})
    return reports


def _question_kinds(engine: Engine) -> Sequence[tuple[str, Kind]]:
    question = table_of(tables.Question)
    query = select(question.c.task, question.c.kind).where(question.c.kind.not_in(SCALES)).distinct()
    with engine.connect() as connection:
        kinds = [(str(task), kind) for task, kind in connection.execute(query)]
    # Questions about inputs or outputs first, then those about groups; PostgreSQL takes no such order of distinct rows.
    return sorted(kinds, key=lambda asked: (asked[0], asked[1] == "group", asked[1]))


# How far the judging is, as one JSON document: totals, pace, cells and people; and as text for a terminal.

CELLS = (
    "study", "corpus", "task", "relation", "system", "drawn", "settled", "judged", "waiting", "fs_rate", "fs_low",
    "fs_high",
)  # fmt: skip
"""Keys of each cell."""


def progress_document(
    overview: Overview, people: Sequence[PersonActivity], cells: Sequence[CellAtWork]
) -> ProgressDocument:
    """The document of the command `audit progress`; `cells` as from `cells_at_work`. Times are in UTC, by ISO 8601."""
    return {**totals(overview), "cells": list(cells), "people": [person(at_work) for at_work in people]}


def totals(overview: Overview) -> TotalsDocument:
    """The document's counts over the whole database: `questions`, `judgements`, `pace` and `unread`."""
    progress = overview.progress
    return {
        "questions": {
            "open": progress.questions.open,
            "open_groups": progress.questions.groups,
            "audits": progress.questions.audits,
            "checks": progress.checks,
            "people": progress.answers["people"],
            "adjudicated": progress.answers["adjudicated"],
            "gold": progress.answers["gold"],
            "filled": overview.filled,
            "split": overview.split,
            "disputed": overview.disputed,
            "flagged": overview.flagged,
        },
        "judgements": {"today": overview.today, "week": overview.week, "left": overview.left},
        "pace": {
            **cast(SpeedNumbers, asdict(overview.speed)),
            "ends": overview.ends.isoformat() if overview.ends else None,
        },
        "unread": [cast(UnreadEntry, _unread_entry(item)) for item in overview.unread],
    }


def _unread_entry(item: Unread) -> dict[str, object]:
    return asdict(item) | {"languages": list(item.languages), "studies": list(item.studies)}


def person(at_work: PersonActivity) -> PersonEntry:
    """One person at work, with shares: None where there is nothing to divide by."""
    seen_at = at_work.seen_at.isoformat() if at_work.seen_at else None
    shares = {
        "unsure_share": at_work.unsure / at_work.judgements if at_work.judgements else None,
        "agreed_share": at_work.agreed / at_work.settled if at_work.settled else None,
    }
    return cast(PersonEntry, asdict(at_work) | {"languages": list(at_work.languages), "seen_at": seen_at} | shares)


def cells_at_work(counted: Counted, cells: Sequence[CellEntry]) -> list[CellAtWork]:
    """Those of a report's cells that were drawn from, with the keys of `CELLS`; in the report's order.

    `drawn` groups were drawn, `settled` of them are, anywhere in the draw; the first `judged` are all settled, and only
    they count. `waiting` are the questions that the others wait for.
    """
    settled = counted.drawn.assign(settled=counted.drawn["state"] != int(State.WAITING)).groupby(CELL)["settled"].sum()
    named = counted.keys.join(settled, on=CELL).fillna({"settled": 0}).set_index(KEY)["settled"]
    entries = [
        dict(cell) | {"settled": int(named[cell["study"], cell["task"], cell["relation"], cell["system"]])}
        for cell in cells
        if cell["drawn"]
    ]
    return [cast(CellAtWork, {name: entry[name] for name in CELLS}) for entry in entries]


def unread_line(item: UnreadEntry) -> str:
    """What an item of `unread` says, and what to do.

    >>> entry = {"languages": ["en", "es"], "questions": 9, "wanted": 2, "readers": 0, "others": 0, "studies": []}
    >>> unread_line(entry)[:58]
    '9 questions in en, es wait, and no annotator reads all of '
    """
    codes, number = item["languages"], item["questions"]
    if item["studies"]:
        able = item["readers"] + item["others"]
        which = f"stud{'y' if len(item['studies']) == 1 else 'ies'} {', '.join(map(str, item['studies']))}"
        return (
            f"{count(number)} question{'' if number == 1 else 's'} of {which} want{'s' if number == 1 else ''} "
            f"{item['wanted']} people, and {able if item['readers'] else 'no annotator'} may answer; assign more."
        )
    questions = f"{count(number)} question{'' if number == 1 else 's'} in {', '.join(codes)}"
    ends = "s" if number == 1 else ""
    add = "add accounts with these languages"
    if not item["readers"]:
        return f"{questions} wait{ends}, and no annotator reads all of these languages; {add}."
    able = item["readers"] + item["others"]
    return f"{questions} want{ends} {item['wanted']} people, and only {able} can read all of these languages; {add}."


def progress_lines(document: ProgressDocument) -> list[str]:
    """The document as lines of text."""
    questions, judgements, pace = document["questions"], document["judgements"], document["pace"]
    lines = [
        f"{count(questions['open'])} questions wait for people, {count(questions['audits'])} only audit what relations "
        f"carry, {count(questions['checks'])} answers wait for a spot check.",
        f"Answered: {count(questions['people'])} by people, {count(questions['adjudicated'])} by adjudicators, "
        f"{count(questions['gold'])} by gold. Disputed: {count(questions['disputed'])}; flagged: "
        f"{count(questions['flagged'])}.",
        f"Judgements: {count(judgements['today'])} today, {count(judgements['week'])} in seven days, "
        f"{count(judgements['left'])} to go.",
    ]
    if pace["per_hour"] is not None:
        ends = f"; at this pace the last one comes on {pace['ends'][:10]}" if pace["ends"] else ""
        lines.append(f"Pace: {pace['per_hour']:,.0f} an hour of work, {pace['per_day']:,.0f} a day{ends}.")
    lines += [unread_line(item) for item in document["unread"]]
    if document["cells"]:
        lines += ["", f"  {'relation':<10}{'system':<22}{'drawn':>7}{'settled':>9}{'judged':>8}{'waits':>7}  R_FS"]
        lines += [
            f"  {cell['relation'][:9]:<10}{cell['system'][:21]:<22}{cell['drawn']:>7,}{cell['settled']:>9,}"
            f"{cell['judged']:>8,}{cell['waiting']:>7,}  {with_interval(cell, 'fs_rate')}"
            for cell in document["cells"]
        ]
    judged = [row for row in document["people"] if row["judgements"]]
    if judged:
        lines += [
            "",
            f"  {'person':<22}{'judgements':>11}{'today':>7}{'seconds':>9}{'unsure %':>10}{'settled on %':>14}",
        ]
        lines += [
            f"  {row['name'][:21]:<22}{row['judgements']:>11,}{row['today']:>7,}"
            f"{UNKNOWN if row['seconds'] is None else format(row['seconds'], '.1f'):>9}"
            f"{percent(row['unsure_share']):>10}{percent(row['agreed_share']):>14}"
            for row in judged
        ]
    return lines
