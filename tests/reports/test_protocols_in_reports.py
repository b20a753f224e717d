"""What seeing an earlier answer moves, from the judgements to every form of the report; simulated people."""

import csv
import json
import re

import pytest
from disputing import disputed
from sqlalchemy import select

from audit.annotation.accounts import add_account
from audit.annotation.queue import next_question
from audit.cli import main
from audit.false_satisfaction.cells import count
from audit.false_satisfaction.protocol_arms import count_arms
from audit.judging.adjudications import adjudicate, inspect, next_inspection
from audit.judging.judgements import judge
from audit.judging.samples import draw_all
from audit.judging.unit import rebuild
from audit.reports.html import to_html
from audit.reports.study import study_report
from audit.reports.terminal import to_terminal
from audit.reports.words import protocol_lines
from audit.runner.imported import import_run, read_run
from audit.sampling.designs import arm_of
from audit.sampling.draw import SampleRequest, Size
from audit.store import open_store, table_of, tables

FILMS = 24


@pytest.fixture
def engine(tmp_path):
    """Two systems that call every film positive, twice, although every third is bad."""
    lines = [
        {
            "relation": "X", "system": system, "source": f"Film {number}.", "follow_ups": [f"Film {number}, again."],
            "outputs": ["positive", "positive"], "verdict": "satisfied", "id": str(number),
        }
        for number in range(FILMS) for system in ("a", "b")
    ]  # fmt: skip
    (tmp_path / "own.jsonl").write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    engine = open_store(str(tmp_path / "audit.db"), create=True)
    import_run(engine, read_run(tmp_path / "own.jsonl"))
    return engine


def judged(engine, protocol):
    """Draw under a protocol and answer everything; anna sees that a film is bad, ben says so only where she did."""
    draw_all(engine, SampleRequest(Size(per_relation=FILMS), protocol=protocol))
    anna, ben = (add_account(engine, name, "annotator", "long enough").id for name in ("anna", "ben"))
    ada = add_account(engine, "ada", "adjudicator", "long enough").id
    for person in (anna, ben, anna, ben):  # ben may have to wait for anna
        while (shown := next_question(engine, person)) is not None:
            bad = int(re.findall(r"\d+", shown.texts[0])[0]) % 3 == 0
            sees = person == anna or [judgement.answer for judgement in shown.earlier] == ["negative"]
            judge(engine, person, shown.id, "negative" if bad and sees else "positive")
    # Disputes are settled as ben has it: the first annotator is overruled.
    for case in disputed(engine, ada):
        adjudicate(engine, ada, case.shown.id, ["positive"], "not that bad")
    rebuild(engine)
    return ada


def bad(arm):
    return [n for n in range(0, FILMS, 3) if arm_of("random", 0, str(n)) == arm]


def of_arm(arm):
    return [n for n in range(FILMS) if arm_of("random", 0, str(n)) == arm]


def test_the_effect_of_seeing_an_earlier_answer(engine):
    ada = judged(engine, "random")
    inspection = next_inspection(engine, ada)
    inspect(engine, ada, inspection.shown.id, [inspection.votes[0].answer])
    report = study_report(engine)
    protocols = report["protocols"]
    blind, shown = protocols["arms"]
    # Blind, every bad film is disputed and settled as good; shown, ben repeats what anna said: all bad ones are false.
    assert (blind["protocol"], blind["sources"], blind["groups"], blind["false"]) == (
        "blind", len(of_arm("blind")), 2 * len(of_arm("blind")), 0,
    )  # fmt: skip
    assert (shown["groups"], shown["false"]) == (2 * len(of_arm("shown")), 2 * len(bad("shown")))
    assert protocols["difference"] == pytest.approx(len(bad("shown")) / len(of_arm("shown")))
    assert protocols["low"] <= protocols["difference"] <= protocols["high"]
    assert (protocols["randomised"], protocols["crossed"]) == (True, 0)
    # Of a film one question is about the source, one about the follow-up.
    assert (blind["questions"], blind["disputed"]) == (2 * len(of_arm("blind")), 2 * len(bad("blind")))
    assert blind["agreement"] == pytest.approx(1 - len(bad("blind")) / len(of_arm("blind")))
    assert (blind["validations"], blind["inspected"]) == (0, 0)
    assert (shown["agreement"], shown["disputed"]) == (1, 0)
    assert shown["validations"] == shown["unchanged"] == shown["questions"]
    assert (shown["inspected"], shown["inspected_changed"]) == (1, 0)
    assert report["signature"]["samples"][0]["protocol"] == "random"
    assert report["signature"]["protocols"].startswith("plain means over judged groups by arm")


def test_every_form_of_the_report_says_it(engine):
    judged(engine, "random")
    report = study_report(engine)
    first = protocol_lines(report)[0]
    assert first.startswith("R_FS of groups judged blind: 0.0 [0.0–")
    text = " ".join(to_terminal(report).split())
    assert "Seeing an earlier answer moves R_FS by +" in text
    assert "validations repeat the answer that was seen" in text
    page = to_html(report)
    assert "What seeing an earlier answer moves" in page
    assert "judged seeing earlier answers" in page


@pytest.mark.parametrize("protocol", ["blind", "shown"])
def test_one_arm_shows_nothing(engine, protocol):
    judged(engine, protocol)
    report = study_report(engine)
    assert "protocols" not in report
    assert "protocols" not in report["signature"]
    assert report["signature"]["samples"][0].get("protocol", "blind") == protocol
    assert "earlier answer" not in to_html(report)
    assert protocol_lines(report) == []


def test_gold_has_no_arms(engine):
    judged(engine, "random")
    assert count_arms(engine, count(engine, "gold"), "gold") is None


def test_answers_under_the_other_protocol_are_counted(engine):
    judged(engine, "blind")
    draw_all(engine, SampleRequest(Size(per_relation=FILMS), protocol="random"))
    question = table_of(tables.Question)
    with engine.connect() as connection:
        assert set(connection.execute(select(question.c.protocol)).scalars()) == {"blind"}
    protocols = study_report(engine)["protocols"]
    assert protocols["crossed"] == 2 * len(of_arm("shown"))
    assert protocols["arms"][1]["questions"] == 0
    assert "some answer came under the other protocol" in " ".join(protocol_lines(study_report(engine)))


def test_nothing_judged_yet(engine):
    draw_all(engine, SampleRequest(Size(per_relation=FILMS), protocol="random"))
    protocols = study_report(engine)["protocols"]
    assert protocols["difference"] is None
    assert [arm["groups"] for arm in protocols["arms"]] == [0, 0]
    assert protocol_lines(study_report(engine))


def test_an_export_has_what_was_seen_and_replays(engine, tmp_path, capsys):
    ada = judged(engine, "random")
    inspection = next_inspection(engine, ada)
    inspect(engine, ada, inspection.shown.id, [inspection.votes[0].answer])
    where, out, again = str(tmp_path / "audit.db"), str(tmp_path / "out"), str(tmp_path / "again.db")
    assert main(["export", "--db", where, "--out", out]) == 0
    with (tmp_path / "out" / "judgements.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    by_number = {row["judgement"]: row for row in rows}
    seeing = [row for row in rows if row["saw"]]
    assert len(seeing) == study_report(engine)["protocols"]["arms"][1]["validations"]
    assert all(by_number[row["saw"]]["text"] == row["text"] for row in seeing)
    assert all((by_number[row["saw"]]["annotator"], row["annotator"]) == ("anna", "ben") for row in seeing)
    assert main(["import", out, "--db", again]) == 0
    capsys.readouterr()
    assert main(["replay", out, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["equal"]
    assert study_report(open_store(again)) == study_report(engine)
