"""What one answer asks of the database. Speed is measured in tests/benchmarks; how often it is asked, here."""

from collections import Counter

import pytest
from question_world import filled
from sqlalchemy import event, select

from audit.judging.judgements import judge, undo
from audit.judging.queue import next_question, queue_of
from audit.store import table_of, tables

READS = 6
"""Statements that read, at most; each takes about a quarter of a millisecond of a core, of a click's twenty."""
AROUND = 10
"""The same for the queue around a question that has another answer than before."""


@pytest.fixture
def engine(tmp_path):
    """Five questions and three people."""
    return filled(tmp_path / "audit.db", questions=5, people=3)


@pytest.fixture
def statements(engine):
    """Counts statements by their first word, and commits."""
    counts = Counter()

    def statement(_connection, _cursor, text, *_rest):
        counts[text.split(None, 1)[0]] += 1

    event.listen(engine, "before_cursor_execute", statement)
    event.listen(engine, "commit", lambda _connection: counts.update(["COMMIT"]))
    return counts


def test_an_answer_that_leaves_the_question_open_writes_a_judgement_and_nothing_else(engine, statements):
    shown = next_question(engine, 1)
    statements.clear()
    judge(engine, 1, shown.id, "positive")
    # BEGIN; the question locked, the account, what I answered before; the lease away; the judgement; what is wanted and
    # the votes.
    assert statements.pop("SELECT") <= READS
    assert statements == {"BEGIN": 1, "DELETE": 1, "INSERT": 1, "COMMIT": 1}


def test_only_another_answer_touches_the_queue_and_in_the_same_transaction(engine, statements):
    for account in (1, 2):
        assert next_question(engine, account).id == 1
    judge(engine, 1, 1, "positive")
    statements.clear()
    judge(engine, 2, 1, "positive")
    # The question is filled, the answer stored, the question out of the queue.
    assert statements.pop("SELECT") <= READS + AROUND
    assert statements == {"BEGIN": 1, "DELETE": 1, "INSERT": 2, "UPDATE": 2, "COMMIT": 1}
    undo(engine, 2)
    with engine.connect() as connection:
        assert connection.execute(select(table_of(tables.Answer))).all() == []


def test_a_claim_and_what_stands_around_a_question(engine, statements):
    next_question(engine, 1)
    statements.clear()
    next_question(engine, 2)
    # BEGIN; languages, account, settings, what I hold, what I answered last, what has room; the lease; the text. I hold
    # nothing, and nobody's lease has expired: nothing is to be taken away.
    assert statements.pop("SELECT") <= READS + 1
    assert statements == {"BEGIN": 1, "INSERT": 1, "COMMIT": 1}
    statements.clear()
    queue_of(engine, 2)
    assert statements.pop("SELECT") <= READS
    assert not statements
