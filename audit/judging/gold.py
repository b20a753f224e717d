"""`audit gold`: the labels of a corpus answer questions, under the name `gold`, apart from people.

Only questions about inputs: a label says what is true of a text, never whether some system's output for it is right. A
reference such as a gold summary, compared with the output, is a proxy.
"""

from dataclasses import dataclass

from sqlalchemy import Connection, Engine, func, select

from audit.annotation.accounts import gold_id
from audit.annotation.clients import command
from audit.judging.unit import unit_of_work
from audit.store import pieces, table_of, tables


@dataclass(frozen=True)
class Gilded:
    """What gold answered."""

    questions: int
    """Questions there are that gold can answer: those about outputs and groups are for people alone."""
    answered: int
    """Questions that gold answers now."""
    added: int
    """Of these, answered by this call."""
    contradictory: int
    """Questions whose text has different gold labels in different rows: gold says nothing about them."""
    pairs: int
    """Questions about an output for a source with a gold label: ignored, since gold says nothing about outputs."""


def answer_with_gold(engine: Engine, *, by: int | None = None) -> Gilded:
    """Answer every question about an input that is a source with a gold label. Repeating it adds nothing.

    Asked for by a manager (`by`, an account id; else NotAllowed) or by whoever has the database itself (None).
    """
    with unit_of_work(engine, by, "manager", owner=True) as work:
        work.hold_all()
        connection = work.connection
        labels = _labels(connection)
        asked = _asked(connection, list(labels))
        annotator = gold_id(connection)
        judgement = table_of(tables.Judgement)
        query = select(judgement.c.question_id).where(judgement.c.annotator_id == annotator)
        before = {int(row[0]) for row in connection.execute(query)}
        moment = tables.now()
        clear = {question: next(iter(labels[key])) for question, key in asked.items() if len(labels[key]) == 1}
        new = [
            {
                "question_id": question,
                "annotator_id": annotator,
                "round": 1,
                "answer": label,
                "guideline": 0,
                "client": command("gold"),
                "decided_at": moment,
            }
            for question, label in clear.items()
            if question not in before
        ]
        work.add(tables.Judgement, new)
        question = table_of(tables.Question)
        total = connection.execute(select(func.count()).where(question.c.kind == "input")).scalar() or 0
        pairs = len(_asked(connection, list(labels), "pair"))
    contradictory = sum(len(labels[key]) > 1 for key in asked.values())
    return Gilded(int(total), len(before | set(clear)), len(new), contradictory, pairs)


def _labels(connection: Connection) -> dict[tuple[str, int], set[str]]:
    """Gold labels by (task, input)."""
    source, study = table_of(tables.Source), table_of(tables.Study)
    query = (
        select(study.c.task, source.c.input_id, source.c.gold)
        .join(study, study.c.id == source.c.study_id)
        .where(source.c.gold.is_not(None))
        .distinct()
    )
    labels: dict[tuple[str, int], set[str]] = {}
    for task, given, label in connection.execute(query):
        labels.setdefault((task, int(given)), set()).add(label)
    return labels


def _asked(connection: Connection, keys: list[tuple[str, int]], kind: str = "input") -> dict[int, tuple[str, int]]:
    """Questions of this kind about these inputs: question id -> (task, input)."""
    table = table_of(tables.Question)
    wanted = set(keys)
    found: dict[int, tuple[str, int]] = {}
    for piece in pieces({given for _, given in keys}):
        query = select(table.c.id, table.c.task, table.c.input_id).where(
            table.c.kind == kind, table.c.input_id.in_(piece)
        )
        for id, task, given in connection.execute(query):
            if (task, int(given)) in wanted:
                found[int(id)] = (task, int(given))
    return found
