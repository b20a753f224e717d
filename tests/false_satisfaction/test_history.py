"""The counts as they were: every point by hand, and the last one is the report's."""

from datetime import UTC, datetime, timedelta

import pytest
from disputing import disputed
from sqlalchemy import select

from audit.annotation.accounts import add_account
from audit.annotation.answers import Quorum, settled_answers
from audit.annotation.queue import next_question
from audit.corpora import get_corpus
from audit.false_satisfaction.cells import count
from audit.false_satisfaction.history import (
    History,
    PastAdjudication,
    PastJudgement,
    answers_until,
    counting_answers,
    history_of,
    moments_of,
    replay,
)
from audit.false_satisfaction.resolution import known_answers
from audit.judging.adjudications import adjudicate
from audit.judging.judgements import judge, undo
from audit.judging.labels import answer_with_gold
from audit.judging.samples import draw_all
from audit.judging.unit import rebuild
from audit.relations import get_relation
from audit.runner.executors import InProcess
from audit.runner.run import run
from audit.sampling.draw import SampleRequest, Size
from audit.store import open_store, table_of, tables

AT = [datetime(2026, 1, 1, 12, tzinfo=UTC) + timedelta(hours=number) for number in range(9)]
POSITIVE, NEGATIVE = frozenset(["positive"]), frozenset(["negative"])


def said(number, question, answer, role="annotator", supersedes=None):
    """A judgement with this id, given so many hours after noon."""
    return PastJudgement(number, question, role, answer, AT[number], supersedes)


def test_answers_come_change_and_go():
    told = History(
        [
            said(1, 7, "positive"),
            said(2, 7, "positive"),
            said(3, 8, "negative", "gold"),
            said(4, 7, "withdrawn", supersedes=2),
            said(5, 7, "negative"),
        ],
        [PastAdjudication(1, 7, NEGATIVE, AT[6]), PastAdjudication(2, 7, POSITIVE, AT[7])],
        {7: Quorum(2), 8: Quorum(2)},
    )
    gold = {(8, "gold"): NEGATIVE}
    people = {(7, "people"): POSITIVE}
    # One vote; two that agree; one taken back; a dispute; settled; settled otherwise.
    expected = [gold, gold | people, gold | people, gold, gold, gold | {(7, "adjudicated"): NEGATIVE}]
    assert [answers_until(told, at) for at in AT[1:7]] == expected
    assert answers_until(told) == gold | {(7, "adjudicated"): POSITIVE}


def test_an_answer_that_was_replaced_counts_until_then():
    told = History([said(1, 7, "positive"), said(2, 7, "negative", supersedes=1)], [], {7: Quorum(1)})
    assert answers_until(told, AT[1]) == {(7, "people"): POSITIVE}
    assert answers_until(told, AT[2]) == {(7, "people"): NEGATIVE}


def test_moments_are_evenly_spaced_and_the_last_is_now():
    told = History([said(number, number, "positive") for number in range(1, 9)], [], {})
    assert moments_of(told, 4) == [AT[2], AT[4], AT[6], None]
    assert moments_of(told, 100) == [*AT[1:8], None]
    assert moments_of(History([said(1, 1, "positive", "gold")], [], {})) == [None]
    # What happened in one moment is not parted.
    together = History([PastJudgement(n, n, "annotator", "positive", AT[0], None) for n in range(1, 9)], [], {})
    assert moments_of(together, 4) == [None]


def test_of_several_origins_the_first_that_may_count_does():
    answers = {(7, "gold"): NEGATIVE, (7, "people"): POSITIVE}
    about = {7: ("sentiment", 3, None)}
    assert counting_answers(answers, about)["sentiment", 3, None].allowed == POSITIVE
    assert counting_answers(answers, about, "gold")["sentiment", 3, None].allowed == NEGATIVE
    assert counting_answers({(7, "gold"): NEGATIVE}, about, "people") == {}


def same(engine, whose="both"):
    """The last point is the present, in every count."""
    points, counted = list(replay(engine, whose)), count(engine, whose)
    last = points[-1].counted
    assert last.cells.equals(counted.cells)
    assert last.drawn.equals(counted.drawn)
    assert last.waiting == counted.waiting
    return points


@pytest.mark.parametrize("whose", ["both", "people", "gold"])
def test_the_last_point_is_the_present(judged, whose):
    engine = open_store(judged)
    points = same(engine, whose)
    assert points[0].judgements == 0
    if whose == "people":
        assert points[0].counted.cells["judged"].sum() == 0
    steps = [point.judgements + point.adjudications for point in points]
    assert steps == sorted(steps)
    with engine.connect() as connection:
        said_so_far = history_of(connection)
        questions = connection.execute(select(table_of(tables.Question).c.id)).scalars().all()
        # The replayed answers are those that the app derives, and those that the report takes.
        derived = settled_answers(connection, questions)
        assert {key: frozenset(allowed) for key, allowed in derived.items()} == answers_until(said_so_far)
        assert len(known_answers(connection, whose)) == points[-1].answers


def test_on_real_systems_while_people_judge(tmp_path):
    """VADER and TextBlob on real sentences; two simulated annotators, an undo, disputes, an adjudication, then gold."""
    engine = open_store(str(tmp_path / "audit.db"), create=True)
    relations = [get_relation("sentiment", name) for name in ("MR1.4", "MR3.1")]
    with InProcess() as executor:
        run(engine, get_corpus("rotten-tomatoes"), ["vader", "textblob"], relations, executor, limit=30)
    draw_all(engine, SampleRequest(Size(per_relation=12)))
    assert len(same(engine)) == 1
    seen = []
    people = [add_account(engine, name, "annotator", "long enough").id for name in ("ann", "ben")]
    ada = add_account(engine, "ada", "adjudicator", "long enough").id
    for number in range(8):
        for person in people:
            if (shown := next_question(engine, person)) is not None:
                judge(engine, person, shown.id, "negative" if (number + person) % 4 else "positive")
        rebuild(engine)
        seen.append(count(engine).cells["judged"].tolist())
    undo(engine, people[0])
    case = disputed(engine, ada)[0]
    adjudicate(engine, ada, case.shown.id, ["positive"], "it is")
    rebuild(engine)
    points = same(engine)
    assert points[-1].judgements == 17  # 16, and the row that takes one back
    # With a point at every step, what was counted then is what is counted for then now.
    replayed = [point.counted.cells["judged"].tolist() for point in replay(engine, points=1000)]
    assert all(entry in replayed for entry in seen)
    answer_with_gold(engine)
    same(engine)
    same(engine, "people")
