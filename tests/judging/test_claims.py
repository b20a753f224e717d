"""Claims that cannot be wrong: many processes, none given a place twice, the killed ones' places given again."""

import os
import subprocess
import sys
import threading
import time
from collections import Counter
from datetime import timedelta
from pathlib import Path

import pytest
from question_world import filled
from sqlalchemy import select

from audit.errors import Refused
from audit.judging import queue
from audit.judging.judgements import judge
from audit.judging.queue import next_question, queue_of
from audit.store import table_of, tables
from audit.tasks import Input

PROCESSES, ANNOTATORS = 16, 2
QUESTIONS = int(os.environ.get("AUDIT_CLAIMS", "500"))
"""As many as CI can wait for; `AUDIT_CLAIMS=5000` for the table in docs/evidence/speed.md."""


def votes(engine):
    """(question, annotator) of every judgement."""
    judgement = table_of(tables.Judgement)
    with engine.connect() as connection:
        rows = connection.execute(select(judgement.c.question_id, judgement.c.annotator_id)).all()
    return [tuple(row) for row in rows]


def expire(engine, *people):
    """Let the leases of these people, or of everybody, have expired a minute ago."""
    lease = table_of(tables.Lease)
    theirs = lease.c.annotator_id.in_(people) if people else lease.c.annotator_id > 0
    with engine.begin() as connection:
        connection.execute(lease.update().where(theirs).values(expires_at=tables.now() - timedelta(minutes=1)))


def test_a_place_that_is_taken_while_a_claim_waits_is_not_given_again(where):
    # The second claim has found the last place before the first commits, and waits for its lock: on PostgreSQL it then
    # goes on with what it saw before, unless it looks again.
    engine = filled(where, 1, 3)
    assert next_question(engine, 1).id == 1
    got = []
    waiting = threading.Thread(target=lambda: got.append(next_question(engine, 3)))
    with engine.begin() as connection:
        assert queue._claim(connection, 2) == 1
        waiting.start()
        waiting.join(timeout=0.5)
        assert waiting.is_alive()
    waiting.join()
    assert got == [None]


def test_an_expired_lease_gives_its_place_away_once(where):
    engine = filled(where, 1, 4)
    assert next_question(engine, 1).id == next_question(engine, 2).id == 1
    assert next_question(engine, 3) is None
    expire(engine, 1)
    assert next_question(engine, 3).id == 1
    assert next_question(engine, 4) is None
    with pytest.raises(Refused, match="or took too long"):
        judge(engine, 1, 1, "positive")
    judge(engine, 2, 1, "positive")
    judge(engine, 3, 1, "negative")
    assert next_question(engine, 1) is None
    assert queue_of(engine, 1).left_for_me == 0


@pytest.mark.slow
def test_questions_go_to_people_who_read_all_of_their_languages(where):
    texts = [
        Input(("Gut.",), ("de",)), Input(("Good.",), ("en",)), Input(("Good.", "好。"), ("en", "zh")),
        Input(("Good.", "Fine."), ("en", "en")), Input(("Bom.",), ("pt-BR",)), Input(("Ren.",), ("e",)),
    ]  # fmt: skip
    engine = filled(where, 0, 4, texts=texts)
    annotator = table_of(tables.Annotator)
    with engine.begin() as connection:
        for id, languages in ((1, ""), (2, "en"), (3, "en,zh"), (4, "pt")):
            connection.execute(annotator.update().where(annotator.c.id == id).values(languages=languages))
    seen = {account: [] for account in (1, 2, 3, 4)}
    for account in (2, 3, 4):
        left = queue_of(engine, account).left_for_me
        while shown := next_question(engine, account):
            judge(engine, account, shown.id, "positive")
            seen[account].append(shown.languages)
        assert len(seen[account]) == left
    assert seen[2] == [("en",), ("en", "en")]
    assert seen[3] == [("en",), ("en", "zh"), ("en", "en")]
    assert seen[4] == []
    # 6 questions; two have both votes of people 2 and 3.
    counts = queue_of(engine, 4)
    assert (counts.left_for_me, counts.in_other_languages) == (0, 4)
    assert queue_of(engine, 1) == queue.Queue(mine_today=0, mine=0, left_for_me=4, in_other_languages=0)
    assert queue_of(engine, 2).in_other_languages == 4


@pytest.mark.slow
@pytest.mark.parametrize("killed", [0, 2])
def test_processes_claim_every_place_exactly_once(where, tmp_path, killed):
    engine = filled(where, QUESTIONS, PROCESSES)
    name = engine.url.render_as_string(hide_password=False)
    script = Path(__file__).with_name("claimant.py")
    logs = {account: tmp_path / f"{account}.txt" for account in range(1, PROCESSES + 1)}

    def begin(account):
        with logs[account].open("a") as printed:
            return subprocess.Popen([sys.executable, str(script), name, str(account)], stdout=printed)

    running = {account: begin(account) for account in logs}
    try:
        if killed:
            # In the middle: somebody has judged, and much is left.
            while len(votes(engine)) < QUESTIONS // 2:
                time.sleep(0.2)
            for account in list(running)[:killed]:
                running[account].kill()
                assert running.pop(account).wait() == -9
            expire(engine, *list(logs)[:killed])
        assert all(process.wait() == 0 for process in running.values())
    finally:
        for process in running.values():
            process.kill()
    counted = votes(engine)
    assert len(counted) == len(set(counted)) == QUESTIONS * ANNOTATORS
    assert set(Counter(question for question, _ in counted).values()) == {ANNOTATORS}
    acknowledged = [int(line) for log in logs.values() for line in log.read_text().split("\n")[:-1]]
    judgement = table_of(tables.Judgement)
    with engine.connect() as connection:
        stored = set(connection.execute(select(judgement.c.id)).scalars())
        left = connection.execute(select(table_of(tables.Lease))).all()
    assert len(acknowledged) == len(set(acknowledged))
    assert set(acknowledged) <= stored
    # A killed process may have committed one judgement that it did not live to print.
    assert len(stored) - len(acknowledged) <= killed
    assert left == []
