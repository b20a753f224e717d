"""The order in which somebody is asked: versions of a text, blocks of one kind, what may not come early."""

from datetime import timedelta
from itertools import groupby

import pytest
from quality_world import know, settle_how
from question_world import filled, rows
from sqlalchemy import select

from audit.false_satisfaction.questions import BEHIND, Wanted
from audit.judging.asking import open_questions
from audit.judging.control_questions import KNOWN, REPEAT
from audit.judging.judgements import judge, skip, undo
from audit.judging.queue import next_question
from audit.store import table_of, tables

VERSIONS = 5
QUESTION, JUDGEMENT, LEASE = (table_of(model) for model in (tables.Question, tables.Judgement, tables.Lease))


def versions(engine, number=VERSIONS):
    """Let every question be about a version of a text: the first, and each `number`th after that number versions later,
    so that versions of one text stand as far apart in the queue as they can."""
    with engine.begin() as connection:
        ids = connection.execute(select(QUESTION.c.id).order_by(QUESTION.c.priority)).scalars().all()
        inputs = dict(connection.execute(select(QUESTION.c.id, QUESTION.c.input_id)).all())
        sources = len(ids) // number
        for place, id in enumerate(ids):
            source = inputs[ids[place % sources]]
            connection.execute(QUESTION.update().where(QUESTION.c.id == id).values(source_input_id=source))
    return {id: place % sources for place, id in enumerate(ids)}


def add_groups(engine, number, priority=lambda place: place, system=None, first=1):
    """Questions about groups whose sources are the inputs of the first questions; their ids in that order."""
    group, member, relation = (table_of(model) for model in (tables.Group, tables.Member, tables.Relation))
    with engine.begin() as connection:
        inputs = connection.execute(select(QUESTION.c.input_id).order_by(QUESTION.c.id).limit(number)).scalars().all()
        relation_id = connection.execute(select(relation.c.id)).scalar()
        study_id = connection.execute(select(table_of(tables.Study).c.id)).scalar()
        wanted = []
        for place, input_id in enumerate(inputs):
            id = 10**6 + first + place
            row = {"id": id, "study_id": study_id, "source_id": place + 1, "relation_id": relation_id}
            connection.execute(group.insert(), row | {"system_id": system})
            member_row = {"group_id": id, "step": 0, "input_id": input_id, "role": "source"}
            connection.execute(member.insert(), member_row)
            wanted.append(
                Wanted(
                    "sentiment",
                    "group",
                    f"{id:016d}".encode(),
                    input_id,
                    priority(place),
                    source_input_id=input_id,
                    group_id=id,
                )
            )
        open_questions(connection, wanted)
        about = select(QUESTION.c.group_id, QUESTION.c.id).where(QUESTION.c.kind == "group")
        by_group = dict(connection.execute(about).all())
    return [by_group[item.group_id] for item in wanted]


def answers(engine, account, most=10**6):
    """Answer until nothing is left, or so often; what was shown."""
    seen = []
    while len(seen) < most and (shown := next_question(engine, account)) is not None:
        judge(engine, account, shown.id, shown.labels[0])
        seen.append(shown)
    return seen


def in_rows(values):
    """The lengths of stretches of equal values."""
    return [len(list(same)) for _, same in groupby(values)]


def test_versions_of_a_text_come_one_after_the_other_the_source_first(where):
    engine = filled(where, 20, 2)
    text_of = versions(engine)
    for account in (1, 2):
        shown = answers(engine, account, 18 if account == 1 else 3)
        assert set(in_rows(text_of[one.id] for one in shown)) <= {VERSIONS, 3}
        sources = [text_of[one.id] for one in shown]
        assert sources == sorted(sources), "the most wanted text first"
        assert [one.id for one in shown][:VERSIONS] == sorted(one.id for one in shown[:VERSIONS])


def test_what_differs_from_the_version_before_is_shown_and_stored(where):
    engine = filled(where, 10, 2)
    versions(engine)
    shown = answers(engine, 1, 6)
    judged = rows(engine, tables.Judgement)
    assert [one.compared_with for one in shown] == [None, *(one.texts for one in shown[:4]), None]
    assert [row["compared"] for row in judged] == [None, *(row["id"] for row in judged[:4]), None]
    again = undo(engine, 1), undo(engine, 1)
    assert next_question(engine, 1).id == again[1] == shown[4].id
    assert next_question(engine, 1).compared_with == shown[3].texts
    # Where people look at the same question again, the same is marked; others see nothing of it.
    assert next_question(engine, 2).compared_with is None
    # Versions of texts in other languages are not compared sign by sign.
    with engine.begin() as connection:
        connection.execute(
            table_of(tables.Input).update().where(table_of(tables.Input).c.id == 6).values(languages="zh")
        )
    judge(engine, 1, again[1], "positive")
    assert next_question(engine, 1).compared_with is None


def test_audits_keep_their_place_and_are_not_marked(where):
    engine = filled(where, 10, 2)
    versions(engine)
    with engine.begin() as connection:
        connection.execute(QUESTION.update().where(QUESTION.c.id == 3).values(priority=BEHIND + 1))
    shown = answers(engine, 1)
    assert shown[-1].id == 3
    assert len(shown) == 10
    with engine.begin() as connection:
        of_one_text = QUESTION.c.id.in_((6, 8, 10))
        connection.execute(QUESTION.update().where(of_one_text).values(priority=BEHIND + QUESTION.c.id))
        connection.execute(QUESTION.update().where(~of_one_text).values(priority=None))
    assert [one.compared_with for one in answers(engine, 2)] == [None, None, None]


def rows_of(engine, *columns):
    with engine.connect() as connection:
        return [tuple(row) for row in connection.execute(select(*columns).order_by(*columns))]


# Hidden questions cannot be told from the others.


@pytest.mark.slow
def test_hidden_questions_are_of_the_kind_around_them(where):
    """All lone texts among groups were hidden ones."""
    engine = filled(where, 40, 2)
    know(engine, "gold", 30)
    add_groups(engine, 40, lambda place: place + 1)
    settle_how(engine, gold_share=0.2, repeat_share=0.2, repeat_after=5)
    answers(engine, 1)
    kind_of = dict(rows_of(engine, QUESTION.c.id, QUESTION.c.kind))
    told = [(row["round"], kind_of[row["question_id"]]) for row in rows(engine, tables.Judgement)]
    assert {(REPEAT, "group"), (REPEAT, "input"), (KNOWN, "input")} == set(told) - {(1, "group"), (1, "input")}
    for place, (kind, asked) in enumerate(told):
        if kind != 1:
            assert asked == next(other for of, other in told[place:] if of == 1)


# Groups that give an output away come after the texts.


def test_a_group_that_reveals_an_output_comes_after_its_text(where):
    engine = filled(where, 4, 3)
    revealing = add_groups(engine, 2, lambda place: 0, system=1)
    order = [shown.id for shown in answers(engine, 1)]
    assert [id for id in order if id in (1, 2, *revealing)] in ([1, 2, *revealing], [1, revealing[0], 2, revealing[1]])
    with engine.begin() as connection:  # versions of its source are texts that it may give away, too
        connection.execute(QUESTION.update().where(QUESTION.c.id == 4).values(source_input_id=1))
    order = [shown.id for shown in answers(engine, 2)]
    assert order.index(revealing[0]) > order.index(4)


def test_what_others_look_at_or_what_was_put_off_keeps_nobody_for_ever(where):
    engine = filled(where, 1, 3)
    (revealing,) = add_groups(engine, 1, lambda place: 0, system=1)
    # Put off once, the text comes again before the group; put off twice, the group comes.
    assert next_question(engine, 1).id == 1
    skip(engine, 1, 1)
    assert next_question(engine, 1).id == 1
    skip(engine, 1, 1)
    assert next_question(engine, 1).id == revealing
    judge(engine, 1, revealing, "holds")
    assert next_question(engine, 1).id == 1
    # Both places of the text are taken: the group waits until they are answered or given up.
    assert next_question(engine, 2).id == 1
    assert next_question(engine, 3) is None
    with engine.begin() as connection:
        connection.execute(LEASE.update().values(expires_at=tables.now() - timedelta(minutes=1)))
    assert next_question(engine, 3).id == 1
    judge(engine, 3, 1, "positive")
    assert next_question(engine, 3).id == revealing
