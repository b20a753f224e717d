"""Claims of shown questions by many processes: never two at a time, and each but the first saw the answers before."""

import subprocess
import sys
import time
from collections import defaultdict
from pathlib import Path

import pytest
from question_world import claim_at_once, filled
from sqlalchemy import func, select

from audit.annotation.queue import next_question
from audit.judging.judgements import judge
from audit.store import table_of, tables

PROCESSES, QUESTIONS, ANNOTATORS = 8, 30, 3


def shown(place, questions, people):
    """A database as `filled` makes it, all of whose questions are shown and want three people."""
    engine = filled(place, questions, people)
    with engine.begin() as connection:
        connection.execute(table_of(tables.Question).update().values(protocol="shown", annotators=ANNOTATORS))
    return engine


def test_two_claims_at_the_same_moment_do_not_look_at_a_shown_question_both(where):
    engine = shown(where, 1, 4)
    assert next_question(engine, 1).id == 1
    judge(engine, 1, 1, "positive")
    for _ in range(10):
        got = claim_at_once(engine, 2, 3)
        assert sorted(question is None for question in got.values()) == [False, True]
        assert [question.earlier[0].answer for question in got.values() if question] == ["positive"]
        with engine.begin() as connection:
            connection.execute(table_of(tables.Lease).delete())


@pytest.mark.slow
def test_processes_validate_one_after_the_other(where):
    engine = shown(where, QUESTIONS, PROCESSES)
    name = engine.url.render_as_string(hide_password=False)
    script = Path(__file__).with_name("claimant.py")
    running = [
        subprocess.Popen([sys.executable, str(script), name, str(account)], stdout=subprocess.DEVNULL)
        for account in range(1, PROCESSES + 1)
    ]
    lease, most = table_of(tables.Lease), 0
    at_once = (
        select(func.count()).select_from(lease).group_by(lease.c.question_id).order_by(func.count().desc()).limit(1)
    )
    try:
        while any(process.poll() is None for process in running):
            with engine.connect() as connection:
                most = max(most, connection.execute(at_once).scalar() or 0)
            time.sleep(0.01)
        assert all(process.wait() == 0 for process in running)
    finally:
        for process in running:
            process.kill()
    judgement = table_of(tables.Judgement)
    history = defaultdict(list)
    with engine.connect() as connection:
        for row in connection.execute(select(judgement).order_by(judgement.c.id)).mappings():
            history[row["question_id"]].append(row)
    assert most == 1
    assert len(history) == QUESTIONS
    for rows in history.values():
        assert len({row["annotator_id"] for row in rows}) == len(rows) == ANNOTATORS
        assert [row["saw"] for row in rows] == [None, *(row["id"] for row in rows[:-1])]
