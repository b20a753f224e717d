"""Which false satisfactions are asked about, in which order, and what is stored of them."""

import pytest
from film_world import answer, world

from audit.errors import NotAllowed, Refused
from audit.judging.accounts import add_account
from audit.judging.causes import current_causes
from audit.store import table_of, tables
from audit.studies.impact import (
    cause_of,
    false_satisfactions,
    give_cause,
    take_back_cause,
)

RIGHT = {f"Film {n}{end}": "neutral" for n in range(4) for end in ".!"}


def causes(engine):
    with engine.connect() as connection:
        return connection.execute(table_of(tables.Cause).select()).mappings().all()


@pytest.fixture
def judged_study(build):
    """a never says neutral, so all four groups are false; b is right about the first two films."""
    engine, judge = world(build, {"a": ["positive"] * 4, "b": ["neutral", "neutral", "negative", "positive"]})
    answer(engine, RIGHT)
    with engine.begin() as connection:  # as what gold answers leaves the queue
        connection.execute(table_of(tables.Question).update().values(priority=None))
    return engine, judge


def test_false_satisfactions_end_with_a_cause(judged_study):
    engine, judge = judged_study
    falses = false_satisfactions(engine, judge)
    assert len(falses.all) == 6
    assert falses.without == falses.all
    first = falses.all[0]
    give_cause(engine, judge, *first, "label_range")
    assert false_satisfactions(engine, judge).without == falses.all[1:]
    assert cause_of(engine, judge, *first) == ("label_range", None)
    assert take_back_cause(engine, judge) == first
    assert false_satisfactions(engine, judge).without == falses.all
    assert take_back_cause(engine, judge) is None
    assert [row["code"] for row in causes(engine)] == ["label_range", "taken_back"]


def test_what_is_no_false_satisfaction_is_refused_and_changes_nothing(judged_study):
    engine, judge = judged_study
    ann = add_account(engine, "ann", "annotator", "long enough").id
    pair = false_satisfactions(engine, judge).all[0]
    with pytest.raises(NotAllowed, match="ann has the role annotator"):
        give_cause(engine, ann, *pair, "doubtful")
    for work in (false_satisfactions, take_back_cause):
        with pytest.raises(NotAllowed):
            work(engine, ann)
    with pytest.raises(NotAllowed):
        cause_of(engine, ann, *pair)
    with pytest.raises(Refused, match="say in the comment"):
        give_cause(engine, judge, *pair, "other")
    with pytest.raises(Refused, match="is not one of"):
        give_cause(engine, judge, *pair, "whim")
    with pytest.raises(Refused, match="not a false satisfaction any more"):
        give_cause(engine, judge, 12345, 1, "doubtful")
    answer(engine, dict.fromkeys(RIGHT, "positive"))
    with pytest.raises(Refused, match="not a false satisfaction any more"):
        give_cause(engine, judge, *pair, "doubtful")
    assert causes(engine) == []


def test_a_cause_of_what_is_true_now_is_kept_and_counts_nowhere(judged_study):
    engine, judge = judged_study
    pair = next(candidate for candidate in false_satisfactions(engine, judge).all if candidate[1] == 1)
    give_cause(engine, judge, *pair, "doubtful")
    answer(engine, dict.fromkeys(RIGHT, "positive"))
    with engine.connect() as connection:
        assert pair in current_causes(connection)
    assert pair not in false_satisfactions(engine, judge).all
