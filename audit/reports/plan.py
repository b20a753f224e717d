"""`audit plan`: how many texts and answers a decision will likely take, before the first answer and during the work."""

from collections.abc import Iterator
from dataclasses import asdict

from sqlalchemy import Engine, select

from audit.errors import AuditError
from audit.false_satisfaction.population import read_population
from audit.false_satisfaction.rounds import forecast_rounds, relation_names
from audit.reports.document import Entry
from audit.reports.tables import Section, Table, Verbatim, printed
from audit.reports.words import number
from audit.sampling.options import PlanOptions
from audit.sampling.samples import terms_of
from audit.store import need_study, snapshot
from audit.store.core import study as studies


def plan(database: Engine, options: PlanOptions, study: int | None = None) -> Entry:
    """Return what the decisions of each study will likely take, by imagined answers: how often each system is right is
    drawn from what was answered, and without answers taken for about 3 in 4. Nothing is written.

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
    asked = {name: value for name, value in asdict(options).items() if name in ("decide", "eps", "annotators")}
    return asked | {"studies": needs, "command": "audit sample"}


def plan_sections(document: Entry) -> Iterator[Section]:
    """Yield what each study needs, and the command that asks the next round."""
    heads = ["study", "decisions", "asked", "texts", "90 % of runs", "answers"]
    more = [name for name in ("hours", "price") if any(need[name] is not None for need in document["studies"])]
    rows = [
        (
            f"{need['study']} {need['corpus']}", need["decisions"], need["asked"], need["texts"],
            f"{need['low']:,}–{need['high']:,}", need["answers"], *(number(need[name], 1) for name in more)
        )
        for need in document["studies"]
        if need["decisions"]
    ]  # fmt: skip
    alone = [need["study"] for need in document["studies"] if not need["decisions"]]
    parts: list[Table | str] = [Table([*heads, *more], rows)] if rows else []
    parts += [f"Study {id}: there are no two systems to compare." for id in alone]
    title = f"Texts until it is decided: {document['decide']}"
    yield Section(title, [*parts, Verbatim(f"Next: {document['command']}")])


lines = printed(plan_sections)
