"""The whole way, from run to report, on a real PostgreSQL: the same report as on SQLite."""

import pytest
from disputing import disputed
from sqlalchemy import select

import audit
from audit.corpora import get_corpus
from audit.false_satisfaction.questions import attributed_groups, queue_length
from audit.judging.accounts import add_account
from audit.judging.adjudications import adjudicate, flagged_ids, opinions, send_back, take_back
from audit.judging.judgements import flag, judge, skip, undo
from audit.judging.labels import answer_with_gold
from audit.judging.queue import LEASE, next_question
from audit.judging.samples import ask_next, draw_validity
from audit.reports.study import study_report
from audit.runner.executors import InProcess
from audit.runner.fitting import fitting
from audit.runner.options import RunOptions
from audit.runner.run import run
from audit.sampling.samples import SampleOptions
from audit.sampling.validity import ValidityRequest
from audit.store import insert_new, open_store, table_of, tables
from audit.studies.impact import false_satisfactions, give_cause, take_back_cause

pytestmark = pytest.mark.postgres


def everything(engine):
    """Run, sample, let gold and two people answer; returns the reports of two designs."""
    corpus = get_corpus("rotten-tomatoes")
    options = RunOptions(
        relations=["MR1.4", "MR2.2", "MR3.1"],
        limit=60,
        parameters={name: {"strict": False} for name in ("MR1.4", "MR2.2")},
    )
    relations = fitting(corpus, options)
    for _ in range(2):  # the second run finds all done
        ran = run(engine, corpus, ["vader", "textblob"], relations, InProcess(), options)
    assert ran.counts.executed == 0
    ask_next(engine, SampleOptions(5))
    ask_next(engine, SampleOptions(10, follow_ups=0.5))
    answer_with_gold(engine)
    assert queue_length(engine).waiting > 0
    ann = add_account(engine, "ann", "annotator", "long enough").id
    bob = add_account(engine, "bob", "annotator", "long enough").id
    ada = add_account(engine, "ada", "adjudicator", "long enough").id
    for account, label in ((ann, "negative"), (bob, "neutral")):
        shown = next_question(engine, account)
        judge(engine, account, shown.id, label)
        undo(engine, account)
        assert next_question(engine, account).id == shown.id
        judge(engine, account, shown.id, label)
    case = disputed(engine, ada)[0]
    assert {opinion.answer for opinion in opinions(engine, ada, case.shown.id)} == {"negative", "neutral"}
    adjudicate(engine, ada, case.shown.id, ["neutral"], "", "slip")
    assert take_back(engine, ada).allowed == ("neutral",)
    adjudicate(engine, ada, case.shown.id, ["negative"], "it is")
    pair = false_satisfactions(engine, ada).without[0]
    give_cause(engine, ada, *pair, "doubtful")
    assert study_report(engine)["signature"]["causes"] == 1
    assert take_back_cause(engine, ada) == pair
    # Put aside, a question comes back: flagged, when an adjudicator sends it back; skipped, when nothing else is left.
    back, last = next_question(engine, ann).id, None
    flag(engine, ann, back, "odd")
    assert flagged_ids(engine, ada) == [back]
    send_back(engine, ada, back, "judge it")
    assert next_question(engine, ann).id == back
    skip(engine, ann, back)
    # Then what else groups wait for, and audits of what gold's answers are carried to.
    for account in (ann, bob):
        while shown := next_question(engine, account):
            judge(engine, account, shown.id, "positive")
            last = shown.id if account == ann else last
    assert last == back
    assert queue_length(engine).audits == 0
    draw_validity(engine, ValidityRequest(10, annotators=2, asks="groups"))
    judge_groups(engine, ann, bob)
    assert attributed_groups(engine, "system")["value"].nunique() == 2
    report = study_report(engine)
    assert report["relations"][0]["carry"]["error"]["n"] > 0
    ask_next(engine, SampleOptions(10, decide="winner"))
    answer_with_gold(engine)
    return [report, study_report(engine)]


def judge_groups(engine, *accounts):
    """Two people agree that relations hold in every second group."""
    question = table_of(tables.Question)
    query = select(question.c.id).where(question.c.kind == "group").order_by(question.c.priority, question.c.id)
    with engine.connect() as connection:
        group_questions = list(connection.execute(query).scalars())
    assert len(group_questions) > 6
    lease = table_of(tables.Lease)
    for place, id in enumerate(group_questions):
        for account in accounts:
            held = {"question_id": id, "annotator_id": account, "expires_at": tables.now() + LEASE}
            with engine.begin() as connection:
                insert_new(connection, tables.Lease, [held])
            judge(engine, account, id, "broken" if place % 2 else "holds")
    with engine.begin() as connection:
        connection.execute(lease.delete())
        left = connection.execute(query.where(question.c.priority.is_not(None))).all()
    assert left == []


def test_the_same_report_on_postgresql_and_sqlite(postgres_url, tmp_path):
    on_sqlite = everything(open_store(str(tmp_path / "audit.db"), create=True))
    on_postgresql = everything(open_store(postgres_url, create=True))
    assert on_postgresql == on_sqlite
    assert all(any(cell["judged"] for cell in report["cells"]) for report in on_sqlite)
    assert on_sqlite[0]["validity"][0]["holds"]["rate"]["n"]


def test_a_study_of_more_sources_than_a_short_number_can_multiply(postgres_url):
    """Ids of groups are those of sources times 2^20, which is more than 31 bits from source 2,048 on."""
    texts = [f"Day {number}: it isn't good." for number in range(2_100)]
    with audit.run(texts, ["vader"], ["MR3.1"], store=postgres_url, progress=False) as study:
        study.sample(2_100, decide="none")
        assert len(study.questions()) > 2_048
