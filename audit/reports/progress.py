"""How far the judging is (`audit progress`), and how far it has to go (`audit plan`): documents, and as sections."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from sqlalchemy import Engine, select

from audit.errors import AuditError
from audit.false_satisfaction.population import read_population
from audit.false_satisfaction.rounds import forecast_rounds, relation_names
from audit.judging.activity import Overview
from audit.reports.document import Entry
from audit.reports.tables import Section, Table, Verbatim
from audit.reports.words import count, estimate, number
from audit.sampling.options import PlanOptions
from audit.sampling.samples import terms_of
from audit.store import need_study, snapshot
from audit.store.core import study as studies

CELLS = (
    "study", "corpus", "task", "relation", "system", "drawn", "settled", "judged", "waiting", "fs_rate",
)  # fmt: skip
"""Keys of each cell."""


def progress_document(overview: Overview, cells: Sequence[Entry]) -> Entry:
    """Return the document of `audit progress`; `cells` as from `cells_at_work`. Times are in UTC, by ISO 8601."""
    return {**totals(overview), "cells": list(cells)}


def totals(overview: Overview) -> Entry:
    """Return the document's counts over the whole database: `questions`, `judgements`, `pace` and `unread`."""
    questions = overview.questions
    answered = {name: overview.answers[name] for name in ("people", "adjudicated", "gold")}
    states = {name: getattr(overview, name) for name in ("filled", "split", "disputed", "flagged")}
    return {
        "questions": {
            "open": questions.open,
            "open_groups": questions.groups,
            "audits": questions.audits,
            **answered,
            **states,
        },
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
    questions, judged = ({name: count(n) for name, n in document[key].items()} for key in ("questions", "judgements"))
    lines = [
        f"{questions['open']} questions wait for people, {questions['audits']} only audit what relations carry.",
        f"Answered: {questions['people']} by people, {questions['adjudicated']} by adjudicators, {questions['gold']} "
        f"by gold. Disputed: {questions['disputed']}; flagged: {questions['flagged']}.",
        f"Judgements: {judged['today']} today, {judged['week']} in seven days, {judged['left']} to go.",
    ]
    if pace["per_hour"] is not None:
        ends = f"; at this pace the last one comes on {pace['ends'][:10]}" if pace["ends"] else ""
        lines.append(f"Pace: {pace['per_hour']:,.0f} an hour of work, {pace['per_day']:,.0f} a day{ends}.")
    lines += [unread_line(item) for item in document["unread"]]
    names = ("relation", "system", "drawn", "settled", "judged", "waiting")
    rows = [(*(cell[name] for name in names), estimate(cell["fs_rate"])) for cell in document["cells"]]
    yield Section("Progress", [*lines, *([Table((*names, "R_FS"), rows, 2)] if rows else [])])


# How many texts and answers a decision will likely take, before the first answer and during the work.


def plan(database: Engine, options: PlanOptions, study: int | None = None) -> Entry:
    """Return what the decisions of each study will likely take, by imagined answers: how often each system is right is
    drawn from what was answered, and without answers taken for about 3 in 4.

    Raises AuditError where nothing was run, and for a study that is not there.
    """
    needs: list[Entry] = []
    with snapshot(database) as connection:
        if study is not None:
            need_study(connection, study)
        terms, names = terms_of(connection), relation_names(connection)
        for id, corpus in connection.execute(select(studies.c.id, studies.c.corpus).order_by(studies.c.id)).all():
            population = read_population(connection, id)
            if study not in (None, id) or not population.relations:
                continue
            need = forecast_rounds(connection, population, options, names)
            people = options.annotators or (terms[id].annotators if id in terms else 2)
            answers = round(need.texts.asked * need.questions * people)
            hours = None if options.pace is None else answers * options.pace / 3600
            price = None if hours is None or options.price_per_hour is None else hours * options.price_per_hour
            texts = {"asked": need.asked, "texts": need.texts.asked, "low": need.texts.low, "high": need.texts.high}
            work = {"questions": need.questions, "answers": answers, "hours": hours, "price": price}
            needs.append({"study": id, "corpus": corpus, "decisions": need.contests, **texts, **work})
    if not needs:
        raise AuditError("nothing was checked yet; run `audit run` first")
    settings = {name: value for name, value in asdict(options).items() if name in ("decide", "eps", "annotators")}
    return settings | {"studies": needs, "command": "audit sample"}


def plan_sections(document: Entry) -> Iterator[Section]:
    """Yield what each study needs, and the command that asks the next round."""
    heads = ["study", "decisions", "asked", "texts", "90 % of runs", "answers"]
    more = [name for name in ("hours", "price") if any(need[name] is not None for need in document["studies"])]
    rows = [
        (f"{need['study']} {need['corpus']}", *(need[name] for name in ("decisions", "asked", "texts")),
         f"{need['low']:,}–{need['high']:,}", need["answers"], *(number(need[name], 1) for name in more))
        for need in document["studies"]
        if need["decisions"]
    ]  # fmt: skip
    alone = [need["study"] for need in document["studies"] if not need["decisions"]]
    parts: list[Any] = [Table([*heads, *more], rows)] if rows else []
    parts += [f"Study {id}: there are no two systems to compare." for id in alone]
    title = f"Texts until it is decided: {document['decide']}"
    yield Section(title, [*parts, Verbatim(f"Next: {document['command']}")])
