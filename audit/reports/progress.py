"""How far the judging is, as one JSON document: totals, pace and cells; and as a section."""

from collections.abc import Iterator, Sequence

from audit.judging.activity import Overview
from audit.reports.document import Entry
from audit.reports.tables import Section, Table
from audit.reports.words import count, estimate

CELLS = (
    "study", "corpus", "task", "relation", "system", "drawn", "settled", "judged", "waiting", "fs_rate",
)  # fmt: skip
"""Keys of each cell."""


def progress_document(overview: Overview, cells: Sequence[Entry]) -> Entry:
    """Return the document of `audit progress`; `cells` as from `cells_at_work`. Times are in UTC, by ISO 8601."""
    return {**totals(overview), "cells": list(cells)}


def totals(overview: Overview) -> Entry:
    """Return the document's counts over the whole database: `questions`, `judgements`, `pace` and `unread`."""
    open_ones = {"open": overview.questions.open, "open_groups": overview.questions.groups}
    answered = {name: overview.answers[name] for name in ("people", "adjudicated", "gold")}
    states = {name: getattr(overview, name) for name in ("filled", "split", "disputed", "flagged")}
    return {
        "questions": {**open_ones, "audits": overview.questions.audits, **answered, **states},
        "judgements": {"today": overview.today, "week": overview.week, "left": overview.left},
        "pace": {**overview.speed._asdict(), "ends": overview.ends.isoformat() if overview.ends else None},
        "unread": [{"languages": list(item.languages), "questions": item.questions} for item in overview.unread],
    }


def cells_at_work(cells: Sequence[Entry]) -> list[Entry]:
    """Return those of a report's cells that were drawn from, with the keys of `CELLS`; in the report's order.

    Of the `drawn` groups `settled` have their answers, and `judged` are of rounds that count.
    """
    drawn: list[Entry] = [{**cell, "settled": cell["drawn"] - cell["waiting"]} for cell in cells if cell["drawn"]]
    return [{name: cell[name] for name in CELLS} for cell in drawn]


def unread_line(item: Entry) -> str:
    """Return what an item of `unread` says, and what to do."""
    questions = f"{count(item['questions'])} question{'' if item['questions'] == 1 else 's'}"
    languages = ", ".join(item["languages"])
    return f"No account may answer {questions} in {languages}: add one that reads these and works on their study."


def progress_sections(document: Entry) -> Iterator[Section]:
    """Yield what waits, what is answered, the pace, and every cell that was drawn from."""
    pace = document["pace"]
    asked, judged = ({name: count(n) for name, n in document[key].items()} for key in ("questions", "judgements"))
    lines = [
        f"{asked['open']} questions wait for people, {asked['audits']} only audit what relations carry.",
        f"Answered: {asked['people']} by people, {asked['adjudicated']} by adjudicators, {asked['gold']} by gold. "
        f"Disputed: {asked['disputed']}; flagged: {asked['flagged']}.",
        f"Judgements: {judged['today']} today, {judged['week']} in seven days, {judged['left']} to go.",
    ]
    if pace["per_hour"] is not None:
        ends = f"; at this pace the last one comes on {pace['ends'][:10]}" if pace["ends"] else ""
        lines.append(f"Pace: {pace['per_hour']:,.0f} an hour of work, {pace['per_day']:,.0f} a day{ends}.")
    lines += [unread_line(item) for item in document["unread"]]
    names = ("relation", "system", "drawn", "settled", "judged", "waiting")
    rows = [(*(cell[name] for name in names), estimate(cell["fs_rate"])) for cell in document["cells"]]
    yield Section("Progress", [*lines, *([Table((*names, "R_FS"), rows, 2)] if rows else [])])
