"""Training and hidden questions on a real PostgreSQL, with several people at once."""

import threading

import pytest
from quality_world import answer_next, know, right_answer, settle_how, world
from question_world import rows

from audit.annotation.control_questions import judging_record, known_questions, pick_known, remove_known
from audit.annotation.queue import next_question
from audit.errors import AuditError
from audit.judging.training import judging_mode, train
from audit.reports.quality import quality_report
from audit.store import tables

pytestmark = pytest.mark.postgres
PEOPLE = {f"p{number}": "annotator" for number in range(4)} | {"mia": "manager"}


def test_from_training_to_measuring(postgres_url):
    engine, who = world(postgres_url, questions=30, annotators=4, people=PEOPLE)
    know(engine, "training", 3)
    know(engine, "gold", 30, begin="Secret")
    settle_how(engine, pass_mark=0.6, gold_share=0.2, repeat_share=0.2, repeat_after=3)
    with pytest.raises(AuditError, match="there is no question to pick"):
        pick_known(engine, "gold", 3)
    problems = []

    def work(name):
        try:
            assert next_question(engine, who[name]) is None
            while (training := judging_mode(engine, who[name]).training) is not None:
                train(engine, who[name], training.shown.id, right_answer(training.shown.texts[0]))
            while answer_next(engine, who[name]) is not None:
                pass
        except Exception as problem:
            problems.append(problem)

    threads = [threading.Thread(target=work, args=(name,)) for name in PEOPLE if name != "mia"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert problems == []
    stored = rows(engine, tables.Judgement)
    rounds = [row["round"] for row in stored]
    assert rounds.count(0) == 4 * 3
    assert rounds.count(1) == 4 * 30
    assert rounds.count(2) > 0
    assert rounds.count(3) > 0
    assert len({(row["question_id"], row["annotator_id"], row["round"]) for row in stored}) == len(stored)
    assert len(rows(engine, tables.Answer)) == 30
    report = quality_report(judging_record(engine, by=who["mia"]), least=1)
    assert [person["training"] for person in report["annotators"]] == [{"attempts": 1, "passed": True}] * 4
    assert remove_known(engine, None) == 33
    assert known_questions(engine) == []
