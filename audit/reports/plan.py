"""`audit plan`: how many texts and answers a decision will likely take, before the first answer and during the work."""

from collections.abc import Iterator

from sqlalchemy import Engine, select

from audit.errors import AuditError
from audit.false_satisfaction.population import read_population
from audit.false_satisfaction.rounds import forecast_rounds, relation_names
from audit.reports.document import Entry
from audit.reports.tables import Section, Table, Verbatim, printed
from audit.reports.words import number
from audit.sampling.options import PlanOptions
from audit.sampling.samples import terms_of
from audit.store import need_study, snapshot, table_of, tables


def plan(database: Engine, options: PlanOptions, study: int | None = None, *, named: str | None = None) -> Entry:
    """Return what the decisions of each study will likely take, by imagined answers: how often each system is right is
    drawn from what was answered, and without answers taken for about 3 in 4. Nothing is written. The command that asks
    the next round has the database as it is `named`.

    Raises AuditError where nothing was run, and for a study that is not there.
    """
    with snapshot(database) as connection:
        if study is not None:
            need_study(connection, study)
        table, terms, names = table_of(tables.Study), terms_of(connection), relation_names(connection)
        rows = connection.execute(select(table.c.id, table.c.corpus).order_by(table.c.id)).all()
        studies = []
        for id, corpus in rows:
            population = read_population(connection, id)
            if study not in (None, id) or not population.relations:
                continue
            need = forecast_rounds(connection, population, options, names)
            people = options.annotators or (terms[id].annotators if id in terms else 2)
            answers = round(need.texts.asked * need.questions * people)
            hours = None if options.pace is None else answers * options.pace / 3600
            price = None if hours is None or options.price_per_hour is None else hours * options.price_per_hour
            studies.append(
                {
                    "study": id,
                    "corpus": corpus,
                    "decisions": need.contests,
                    "asked": need.asked,
                    "texts": need.texts.asked,
                    "low": need.texts.low,
                    "high": need.texts.high,
                    "questions": need.questions,
                    "answers": answers,
                    "hours": hours,
                    "price": price,
                }
            )
    if not studies:
        raise AuditError("nothing was checked yet; run `audit run` first")
    return {
        "decide": options.decide,
        "eps": options.eps,
        "annotators": options.annotators,
        "studies": studies,
        "command": f"audit sample --db {named}" if named else "audit sample",
    }


def plan_sections(document: Entry) -> Iterator[Section]:
    """Yield what each study needs, and the command that asks the next round."""
    heads = ["study", "decisions", "asked", "texts", "90 % of runs", "answers"]
    more = [name for name in ("hours", "price") if any(need[name] is not None for need in document["studies"])]
    rows = [
        (
            f"{need['study']} {need['corpus']}", need["decisions"], need["asked"], need["texts"],
            f"{need['low']:,}–{need['high']:,}", need["answers"], *(number(need[name], 1) for name in more),
        )
        for need in document["studies"]
        if need["decisions"]
    ]  # fmt: skip
    alone = [
        f"Study {need['study']}: there are no two systems to compare."
        for need in document["studies"]
        if not need["decisions"]
    ]
    tables = [Table([*heads, *more], rows)] if rows else []
    end = Verbatim(f"Next: {document['command']}")
    yield Section(f"Texts until it is decided: {document['decide']}", [*tables, *alone, end])


lines = printed(plan_sections)
