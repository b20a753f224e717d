"""How far drawn groups fall back when answers go stale: what is said before is what happens."""

import pytest
from sqlalchemy import select

from audit.annotation.accounts import add_account
from audit.errors import NotAllowed
from audit.false_satisfaction.questions import queue_length
from audit.false_satisfaction.resolution import State, drawn_groups, known_answers, settle_group
from audit.judging.staleness import Choice, affected_groups, mark_stale, preview_stale
from audit.store import open_store, table_of, tables


def states(engine):
    """(group, system) -> state, of every drawn pair."""
    with engine.connect() as connection:
        samples = connection.execute(select(table_of(tables.Sample).c.id)).scalars().all()
        answers = known_answers(connection)
        return {
            (group.group_id, group.system_id): settle_group(group, answers).state
            for group in drawn_groups(connection, samples)
        }


@pytest.mark.parametrize(
    "choice",
    [
        Choice(below=9),
        Choice(below=9, adjudications=True),
        Choice(labels=("positive",)),
        Choice(labels=("negative",), adjudications=True),
        Choice(labels=("neutral", "negative"), adjudications=True),
    ],
    ids=str,
)
def test_what_is_said_before_is_what_happens(judged, choice):
    engine = open_store(judged)
    mia = add_account(engine, "mia", "manager", "long enough").id
    before = states(engine)
    said = affected_groups(engine, preview_stale(engine, choice, mia), mia)
    stale = mark_stale(engine, mia, choice, "why")
    after = states(engine)
    changed = [(before[key], after[key]) for key in before if before[key] is not after[key]]
    assert said.waiting == sum(then is State.WAITING for _, then in changed)
    assert said.turned == sum(State.WAITING not in pair for pair in changed)
    assert said.settled >= said.waiting + said.turned
    assert stale.questions > 0
    # What waits now is asked again.
    assert queue_length(engine).waiting > 0


def test_for_managers_alone(judged):
    engine = open_store(judged)
    stale = preview_stale(engine, Choice(below=9))
    with pytest.raises(NotAllowed, match="needs the role manager"):
        affected_groups(engine, stale, 2)
