"""In which order questions are asked, and of how many people; two refreshes at once."""

from conftest_rows import row
from sqlalchemy import select

from audit.judging.accounts import add_account
from audit.judging.judgements import judge
from audit.judging.queue import next_question
from audit.judging.samples import ask_next
from audit.judging.unit import rebuild
from audit.sampling.samples import SampleOptions
from audit.store import table_of, tables

POSITIVE = ["positive", "positive"]


def stored(engine):
    """text -> (priority, waits, annotators) of every question about an input."""
    question, input_table = table_of(tables.Question), table_of(tables.Input)
    columns = (question.c.priority, question.c.waits, question.c.annotators)
    with engine.connect() as connection:
        rows = connection.execute(
            select(input_table.c.texts, *columns).join(question, question.c.input_id == input_table.c.id)
        )
        return {texts[0]: tuple(rest) for texts, *rest in rows}


def people(engine, *names):
    return [add_account(engine, name, "annotator", "long enough").id for name in names]


def test_within_a_rank_what_most_pairs_wait_for_comes_first(build):
    # One source. Its text is in four (group, system) pairs: two relations, two systems; each follow-up in two.
    rows = [
        row("S.", f"S, {relation}.", POSITIVE, relation=relation, system=system, id="1")
        for relation in ("X", "Y") for system in ("a", "b")
    ]  # fmt: skip
    engine = build(rows)
    ask_next(engine, SampleOptions(5))
    assert [stored(engine)[text][1:] for text in ("S.", "S, X.")] == [(4, 2), (2, 2)]
    (ann,) = people(engine, "ann")
    assert next_question(engine, ann).texts == ("S.",)


def test_waits_and_priority_follow_the_answers(build):
    # An answer that makes a group false leaves its other questions to nobody.
    engine = build([row("S.", f"S, {name}.", POSITIVE, relation=name, id="1") for name in ("X", "Y")])
    ask_next(engine, SampleOptions(5, annotators=1))
    (ann,) = people(engine, "ann")
    shown = next_question(engine, ann)
    assert shown.texts == ("S.",)
    judge(engine, ann, shown.id, "negative")
    assert stored(engine) == dict.fromkeys(("S.", "S, X.", "S, Y."), (None, 0, 1))
    everything = stored(engine)
    rebuild(engine)
    assert stored(engine) == everything


def sources_of(engine):
    """text -> text of the source whose version it is, of every question about an input."""
    question, text, source = table_of(tables.Question), table_of(tables.Input), table_of(tables.Input).alias("source")
    with engine.connect() as connection:
        rows = connection.execute(
            select(text.c.texts, source.c.texts)
            .join(question, question.c.input_id == text.c.id)
            .join(source, source.c.id == question.c.source_input_id)
        )
        return {texts[0]: of[0] for texts, of in rows}


def test_a_question_knows_its_source_whatever_is_answered(build):
    rows = [row(f"{s}.", f"{s}, {r}.", POSITIVE, relation=r, id=s) for s in ("S", "T") for r in ("X", "Y")]
    engine = build([*rows, row("T.", "S.", POSITIVE, relation="Z", id="T")])
    ask_next(engine, SampleOptions(5))
    expected = {"S, X.": "S.", "S, Y.": "S.", "T, X.": "T.", "T, Y.": "T.", "T.": "T.", "S.": sources_of(engine)["S."]}
    assert sources_of(engine) == expected
    for account in people(engine, "ann", "ben"):
        for _ in range(3):
            if (shown := next_question(engine, account)) is not None:
                judge(engine, account, shown.id, "negative")
    assert sources_of(engine) == expected
    rebuild(engine)
    assert sources_of(engine) == expected
