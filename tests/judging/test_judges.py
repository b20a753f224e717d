"""Asking judges that are models: what is asked, what is stored, and that nothing of people changes."""

import json

import pytest
from conftest_rows import row
from question_world import rows
from simulated_judges import Simulated

from audit.errors import AuditError, Refused
from audit.judging.judges import HOPELESS, JudgeRequest, ask_judge
from audit.judging.labels import answer_with_gold
from audit.judging.samples import ask_next
from audit.reports.study import study_report
from audit.runner.imported import import_run
from audit.sampling.samples import SampleOptions
from audit.store import open_store, tables
from audit.systems.judge import function_judge

LABEL = "positive"


@pytest.fixture
def films(tmp_path):
    """12 films under a relation that carries answers (MR1.1) and one that carries none (X), of one system; 4 drawn."""
    groups = [
        row(f"Film {n}.", f"Film {n}!{end}", [LABEL, LABEL], relation=relation, id=f"{n}", gold=LABEL)
        for n in range(12)
        for relation, end in (("MR1.1", ""), ("X", "!"))
    ]
    path = tmp_path / "run.jsonl"
    path.write_text("\n".join(json.dumps(group) for group in groups), encoding="utf-8")
    engine = open_store(str(tmp_path / "audit.db"), create=True)
    import_run(engine, path)
    ask_next(engine, SampleOptions(4))
    return engine


def judge_of(simulated):
    return function_judge(simulated, simulated.name, None)


def everybody():
    """What a judge says that is right about every film."""
    return {f"Film {n}{end}": LABEL for n in range(12) for end in (".", "!", "!!")}


def people(engine):
    """All that people and gold did, and the queue."""
    models = (tables.Judgement, tables.Answer, tables.Adjudication, tables.Annotator)
    queue = [(one["id"], one["priority"], one["waits"], one["filled"]) for one in rows(engine, tables.Question)
             if one["priority"] is not None]  # fmt: skip
    return [rows(engine, model) for model in models], queue


def test_the_questions_of_people_are_asked_and_answers_are_no_votes(films):
    before, simulated = people(films), Simulated(everybody())
    done = ask_judge(films, judge_of(simulated), JudgeRequest())
    open_questions = [one for one in rows(films, tables.Question) if one["priority"] is not None]
    assert done.asked == done.answered == len(open_questions) == len(simulated.calls) > 0
    assert people(films) == before
    stored = rows(films, tables.JudgeAnswer)
    assert {one["question_id"] for one in stored} == {one["id"] for one in open_questions}
    assert {(one["variant"], one["attempt"], one["answer"], one["error"]) for one in stored} == {(0, 1, LABEL, None)}
    asked = simulated.calls[0]
    assert asked.question == "Is what this text says positive, negative, or neither?"
    assert asked.labels == ("positive", "neutral", "negative")
    assert "film" in asked.guideline
    assert "{labels}" not in asked.guideline


@pytest.mark.slow
def test_what_was_answered_is_not_asked_again_and_errors_are(films):
    silent = Simulated(everybody(), silent={f"Film {n}." for n in range(0, 12, 2)})
    first = ask_judge(films, judge_of(silent), JudgeRequest())
    assert first.errors > 0
    assert first.last_error == "ConnectionError: the line is dead"
    again = Simulated(everybody())
    second = ask_judge(films, judge_of(again), JudgeRequest())
    assert (second.judge, second.asked, second.errors) == (first.judge, first.errors, 0)
    attempts = [one for one in rows(films, tables.JudgeAnswer) if one["attempt"] == 2]
    assert len(attempts) == first.errors
    assert ask_judge(films, judge_of(Simulated(everybody())), JudgeRequest()).asked == 0


def test_so_many_are_asked_at_most_and_variants_ask_the_same_in_other_ways(films):
    first = ask_judge(films, judge_of(Simulated(everybody())), JudgeRequest(max_calls=3))
    assert first.asked == len(rows(films, tables.JudgeAnswer)) == 3
    assert first.left == ask_judge(films, judge_of(Simulated(everybody())), JudgeRequest()).asked > 0
    simulated = Simulated(everybody(), name="another")
    done = ask_judge(films, judge_of(simulated), JudgeRequest(variants=["labels", "wording", "texts"]))
    numbers = [call.variant for call in simulated.calls]
    assert numbers.count(0) == numbers.count(1) == numbers.count(2) > 0
    assert numbers.count(3) == 0  # single texts have no order
    assert done.asked == len(numbers)


@pytest.mark.slow
def test_a_judge_that_is_a_system_under_test_is_refused(films):
    own = Simulated(everybody(), name="a")  # the system of the run
    with pytest.raises(Refused, match="the same model as the system under test a") as refused:
        ask_judge(films, judge_of(own), JudgeRequest())
    assert refused.value.parameters == ("allow_own",)
    assert own.calls == []
    assert rows(films, tables.Judge) == []
    assert ask_judge(films, judge_of(own), JudgeRequest(allow_own=True, everything=True)).own == ("a",)
    answer_with_gold(films)
    report = study_report(films, "gold", proxy=["judge:a"])
    assert any("judges its own outputs" in note for note in report["signature"]["notes"])
    assert report["judges"][0]["own"] == ["a"]


def test_a_judge_that_never_answers_is_asked_no_more(tmp_path):
    groups = [row(f"Film {n}.", f"Film {n}!", [LABEL, LABEL], id=f"{n}") for n in range(3 * HOPELESS)]
    path = tmp_path / "run.jsonl"
    path.write_text("\n".join(json.dumps(group) for group in groups), encoding="utf-8")
    engine = open_store(str(tmp_path / "audit.db"), create=True)
    import_run(engine, path)
    dead = Simulated({}, silent={f"Film {n}." for n in range(3 * HOPELESS)})
    with pytest.raises(AuditError, match="nothing is drawn yet"):
        ask_judge(engine, judge_of(dead), JudgeRequest())
    ask_next(engine, SampleOptions(share=1.0))
    with pytest.raises(AuditError, match=f"no answer to {HOPELESS} questions one after the other.*the line is dead"):
        ask_judge(engine, judge_of(dead), JudgeRequest())
    assert len(rows(engine, tables.JudgeAnswer)) == HOPELESS  # what came is stored
