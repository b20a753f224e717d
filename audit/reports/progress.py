"""How far the judging is, as one JSON document: totals, pace, cells and people; and as text for a terminal."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from audit.annotation.at_work import AtWork
from audit.annotation.overview import Overview
from audit.false_satisfaction.cells import CELL, Counted
from audit.false_satisfaction.settling import State
from audit.reports.words import UNKNOWN, count, percent, with_interval

CELLS = (
    "study", "corpus", "task", "relation", "system", "drawn", "settled", "judged", "waiting", "fs_rate", "fs_low",
    "fs_high",
)  # fmt: skip
"""Keys of each cell."""


def progress_document(found: Overview, people: Sequence[AtWork], cells: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The document of `audit progress --json`; `cells` as from `cells_at_work`. Times are in UTC, by ISO 8601."""
    return {**totals(found), "cells": list(cells), "people": [person(one) for one in people]}


def totals(found: Overview) -> dict[str, Any]:
    """The document's counts over the whole database: `questions`, `judgements`, `pace` and `unread`."""
    progress = found.progress
    return {
        "questions": {
            "open": progress.open,
            "audits": progress.audits,
            "checks": progress.checks,
            **progress.answers,
            "filled": found.filled,
            "split": found.split,
            "disputed": found.disputed,
            "flagged": found.flagged,
        },
        "judgements": {"today": found.today, "week": found.week, "left": found.left},
        "pace": asdict(found.speed) | {"ends": found.ends.isoformat() if found.ends else None},
        "unread": [asdict(one) | {"languages": list(one.languages)} for one in found.unread],
    }


def person(one: AtWork) -> dict[str, Any]:
    """One person at work, with shares: None where there is nothing to divide by."""
    return {
        **asdict(one),
        "languages": list(one.languages),
        "seen_at": one.seen_at.isoformat() if one.seen_at else None,
        "unsure_share": one.unsure / one.judgements if one.judgements else None,
        "agreed_share": one.agreed / one.settled if one.settled else None,
    }


def cells_at_work(counted: Counted, cells: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Those of a report's cells that were drawn from, with the keys of `CELLS`; in the report's order.

    `drawn` groups were drawn, `settled` of them are, anywhere in the draw; the first `judged` are all settled, and only
    they count. `waiting` are the questions that the others wait for.
    """
    states = counted.drawn.assign(settled=counted.drawn["state"] != int(State.WAITING))
    settled = states.groupby(CELL)["settled"].sum().rename("settled").reset_index()
    named = settled.merge(counted.keys, on=CELL)
    key = ["study", "task", "relation", "system"]
    number = {tuple(row[:4]): int(row[4]) for row in named[[*key, "settled"]].itertuples(index=False)}
    return [
        {name: (dict(cell) | {"settled": number.get(tuple(cell[one] for one in key), 0)})[name] for name in CELLS}
        for cell in cells
        if cell["drawn"]
    ]


def unread_line(one: Mapping[str, Any]) -> str:
    """What an item of `unread` says, and what to do.

    >>> unread_line({"languages": ["en", "es"], "questions": 9, "wanted": 2, "readers": 0, "others": 0})[:58]
    '9 questions in en, es wait, and no annotator reads all of '
    """
    codes, number = one["languages"], one["questions"]
    questions = f"{count(number)} question{'' if number == 1 else 's'} in {', '.join(codes)}"
    ends = "s" if number == 1 else ""
    add = f"add accounts with `audit user add NAME --languages {','.join(codes)}`"
    if not one["readers"]:
        return f"{questions} wait{ends}, and no annotator reads all of these languages; {add}."
    able = one["readers"] + one["others"]
    return f"{questions} want{ends} {one['wanted']} people, and only {able} can read all of these languages; {add}."


def progress_lines(document: dict[str, Any]) -> list[str]:
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
    lines += [unread_line(one) for one in document["unread"]]
    if document["cells"]:
        lines += ["", f"  {'relation':<10}{'system':<22}{'drawn':>7}{'settled':>9}{'judged':>8}{'waits':>7}  R_FS"]
        lines += [
            f"  {cell['relation'][:9]:<10}{cell['system'][:21]:<22}{cell['drawn']:>7,}{cell['settled']:>9,}"
            f"{cell['judged']:>8,}{cell['waiting']:>7,}  {with_interval(cell, 'fs_rate', 'fs_low', 'fs_high')}"
            for cell in document["cells"]
        ]
    judged = [one for one in document["people"] if one["judgements"]]
    if judged:
        lines += [
            "",
            f"  {'person':<22}{'judgements':>11}{'today':>7}{'seconds':>9}{'unsure %':>10}{'settled on %':>14}",
        ]
        lines += [
            f"  {one['name'][:21]:<22}{one['judgements']:>11,}{one['today']:>7,}"
            f"{UNKNOWN if one['seconds'] is None else format(one['seconds'], '.1f'):>9}"
            f"{percent(one['unsure_share']):>10}{percent(one['agreed_share']):>14}"
            for one in judged
        ]
    return lines
