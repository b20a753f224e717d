"""A database of films under a relation that carries nothing, and gold answers that can be changed; for this folder."""

from conftest_rows import row
from sqlalchemy import select

from audit.judging.accounts import add_account
from audit.judging.answers import settle
from audit.judging.samples import ask_next
from audit.sampling.samples import SampleOptions
from audit.store import insert_new, table_of, tables


def films(said, relation="X"):
    """Groups of one relation, which carries nothing: source and follow-up of each film, and both outputs of systems."""
    return [
        row(f"Film {n}.", f"Film {n}!", [label, label], relation=relation, system=system, id=str(n))
        for system, labels in said.items()
        for n, label in enumerate(labels)
    ]


def alone(system, labels, others, relation="X"):
    """Groups that apply to one system alone: `labels` are what it says of them, `others` to whom they do not apply."""
    return [
        row(f"Own {n}.", f"Own {n}!", [label, label], verdict, relation=relation, system=name, id=f"own-{n}")
        for n, label in enumerate(labels)
        for name, verdict in [(system, "satisfied"), *((other, "inapplicable") for other in others)]
    ]


def world(build, said, more=(), **options):
    """Films, `more` rows beside them, everything drawn; and an adjudicator."""
    engine = build([*films(said, **options), *more])
    ask_next(engine, SampleOptions(share=1.0))
    judge = add_account(engine, "ada", "adjudicator", "long enough").id
    return engine, judge


def answer(engine, labels):
    """Gold answers, by text; a text that is absent has no answer (any more)."""
    input_table, question, judgement = (table_of(model) for model in (tables.Input, tables.Question, tables.Judgement))
    with engine.begin() as connection:
        person = {"id": 9, "name": "gold", "role": "gold", "languages": "", "disabled": False}
        insert_new(connection, tables.Annotator, [person | {"created_at": tables.now()}])
        connection.execute(judgement.delete())
        query = select(question.c.id, input_table.c.texts).join(input_table, input_table.c.id == question.c.input_id)
        rows = connection.execute(query).all()
        for id, texts in rows:
            if texts[0] in labels:
                vote = {"question_id": id, "annotator_id": 9, "answer": labels[texts[0]], "guideline": 0}
                connection.execute(judgement.insert(), vote | {"decided_at": tables.now()})
        settle(connection, [int(id) for id, _ in rows])
    return {texts[0]: int(id) for id, texts in rows}
