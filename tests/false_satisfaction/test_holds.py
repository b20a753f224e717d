"""Counts of groups in which relations hold, and the report made of them, worked by hand on a small imported run."""

import json

import pytest
from conftest_rows import row
from sqlalchemy import select

from audit.annotation.queue import show
from audit.false_satisfaction.cells import count
from audit.false_satisfaction.holds import count_holds
from audit.judging.adjudications import adjudicate
from audit.judging.labels import answer_with_gold
from audit.judging.samples import draw_all
from audit.messages import message
from audit.reports.html import to_html
from audit.reports.study import study_report
from audit.reports.terminal import to_terminal
from audit.reports.validity import holds_entries
from audit.sampling.audits import Audits
from audit.sampling.draw import SampleRequest, Size
from audit.store import insert_new, table_of, tables

# MR1.1 carries gold to the follow-ups. System a satisfies S1 to S6 and is wrong about S1 and S2 (false satisfactions);
# it violates V1 to V4. System b satisfies what a violates, rightly, and violates S1 and S2.
RIGHT, WRONG = ["positive", "positive"], ["negative", "negative"]
RUN = [
    *(row(f"S{n}", f"S{n} x", WRONG if n < 3 else RIGHT, gold="positive") for n in range(1, 7)),
    *(row(f"V{n}", f"V{n} x", ["positive", "negative"], "violated", gold="positive") for n in range(1, 5)),
    *(row(f"V{n}", f"V{n} x", RIGHT, system="b", gold="positive") for n in range(1, 5)),
    *(row(f"S{n}", f"S{n} x", ["positive", "negative"], "violated", system="b", gold="positive") for n in (1, 2)),
]
BROKEN = {"S1", "S3", "V1", "V2"}


def judge_groups(engine, wish, only=None):
    """An adjudicator answers questions about groups: broken where the source is in `wish`; `only` these sources."""
    question = table_of(tables.Question)
    with engine.begin() as connection:
        person = {"id": 90, "name": "ada", "role": "adjudicator", "languages": "", "disabled": False}
        insert_new(connection, tables.Annotator, [person | {"created_at": tables.now()}])
        ids = list(connection.execute(select(question.c.id).where(question.c.kind == "group")).scalars())
        texts = {id: show(connection, id).texts[0] for id in ids}
    for id, text in texts.items():
        if only is None or text in only:
            adjudicate(engine, 90, id, ["broken" if text in wish else "holds"], "read twice")


def prepared(build, per_cell=10, groups=10, design="shared", rows=RUN):
    engine = build(rows)
    draw_all(engine, SampleRequest(Size(per_relation=per_cell), design, audits=Audits(groups=groups)))
    answer_with_gold(engine)
    return engine


def cell_of(report, system, relation="MR1.1"):
    return next(cell for cell in report["cells"] if (cell["system"], cell["relation"]) == (system, relation))


def test_everything_judged_gives_the_exact_rates(build):
    engine = prepared(build)
    judge_groups(engine, BROKEN)
    report = study_report(engine, target="corpus")
    a, b = cell_of(report, "a"), cell_of(report, "b")
    # a: true S3 to S6, of which S3 is broken; S1 is false and broken. V3 and V4 hold: 3 of S2, S4, S5, S6, V3, V4.
    assert (a["sr_corrected"], a["sr_corrected_low"], a["sr_corrected_high"]) == pytest.approx((3 / 6, 3 / 6, 3 / 6))
    assert a["sr_genuine"] == pytest.approx(0.4)
    # V1 and V2 of V1 to V4 are false violations.
    assert [a[f"false_violation_rate{end}"] for end in ("", "_low", "_high")] == [0.5, 0.5, 0.5]
    assert a["holds_judged"] == 10
    # b: V3 and V4 are true and hold, S2 is violated and holds; of its violations S1 is false.
    assert b["sr_corrected"] == pytest.approx(2 / 3)
    assert (b["false_violation_rate"], b["holds_judged"]) == (0.5, 6)
    relation = report["relations"][0]
    assert (relation["order_corrected"], relation["best_corrected"]) == (["b", "a"], ["b"])
    # Ten groups, whatever system satisfies them. All are satisfied by somebody; S1, S2, V1 to V4 violated by somebody.
    assert {key: relation["holds"][key] for key in ("judged", "broken", "rate", "low", "high", "waiting")} == {
        "judged": 10, "broken": 4, "rate": 0.4, "low": 0.4, "high": 0.4, "waiting": 0
    }  # fmt: skip
    assert relation["holds"]["satisfied"]["judged"] == 10
    assert (relation["holds"]["violated"]["judged"], relation["holds"]["violated"]["rate"]) == (6, 0.5)
    assert report["signature"]["holds"] == {"adjudicated": 10}
    assert report["signature"]["samples"][0]["audit_groups"] == 10
    assert message("note.holds_assumed") not in report["signature"]["notes"]
    json.dumps(report, allow_nan=False)


def test_only_settled_beginnings_count(build):
    engine = prepared(build)
    # Everything but what a satisfies first: its list has no settled beginning.
    draw = table_of(tables.AuditDraw)
    with engine.connect() as connection:
        counted = count(engine)
        ids = dict(zip(counted.keys["system"], counted.keys["system_id"], strict=True))
        source, input_table = table_of(tables.Source), table_of(tables.Input)
        first = (
            select(input_table.c.texts)
            .join(source, source.c.input_id == input_table.c.id)
            .join(table_of(tables.Group), table_of(tables.Group).c.source_id == source.c.id)
            .join(draw, draw.c.group_id == table_of(tables.Group).c.id)
            .where(draw.c.system_id == ids["a"], draw.c.outcome == 0, draw.c.rank == 1)
        )
        text = connection.execute(first).scalar_one()[0]
    judge_groups(engine, BROKEN, {text_of_pair for n in range(1, 7) for text_of_pair in (f"S{n}", f"V{n}")} - {text})
    a = cell_of(study_report(engine), "a")
    assert a["sr_corrected"] is None
    assert a["holds_judged"] == 4  # the violated ones
    assert a["false_violation_rate"] == 0.5
    holds = count_holds(engine, count(engine))
    assert list(holds.waiting.values()) == [1]


def test_where_false_satisfactions_are_unsettled_the_joint_beginning_is_shorter(build):
    rows = [row(f"S{n}", f"S{n} x", RIGHT) for n in range(1, 4)]  # no gold: nobody says what is right
    engine = prepared(build, rows=rows)
    judge_groups(engine, {"S1"})
    a = cell_of(study_report(engine), "a")
    assert (a["holds_judged"], a["sr_corrected"], a["false_violation_rate"]) == (3, None, None)
    relation = study_report(engine)["relations"][0]
    assert relation["holds"]["rate"] == pytest.approx(1 / 3)
    assert relation["order_corrected"] is None


def test_probabilities_of_groups_are_those_of_the_design(build):
    rows = [row(f"S{n}", f"S{n} x", RIGHT, system=system, gold="positive") for n in range(1, 41) for system in "ab"]
    engine = prepared(build, groups=8, rows=rows)
    judge_groups(engine, {f"S{n}" for n in range(1, 11)})
    holds = count_holds(engine, count(engine))
    # 8 of 40 in each cell, by one list in common.
    assert holds.units["pi"].tolist() == pytest.approx([0.2] * 8)


def test_without_audits_the_report_says_what_is_assumed(build):
    engine = prepared(build, groups=0)
    report = study_report(engine)
    assert message("note.holds_assumed") in report["signature"]["notes"]
    assert report["relations"][0]["holds"] is None
    assert report["signature"]["holds"] is None
    assert cell_of(report, "a")["holds_judged"] is None
    assert "SR_c" not in to_terminal(report)
    assert "false violations" not in to_html(report)


def test_gold_alone_never_says_that_a_relation_holds(build):
    engine = prepared(build)
    judge_groups(engine, BROKEN)
    assert cell_of(study_report(engine, "gold"), "a")["holds_judged"] == 0
    assert cell_of(study_report(engine, "people"), "a")["holds_judged"] == 10


def test_every_form_of_the_report_shows_it(build):
    engine = prepared(build)
    judge_groups(engine, BROKEN)
    report = study_report(engine, target="corpus")
    text = to_terminal(report)
    assert "SR_c" in text
    assert "FV" not in text  # no room beside four intervals
    assert "FV" in to_terminal(report, 120)
    assert "order where the relation holds b > a" in text
    assert "does not hold in 40.0 [40.0–40.0]" in text
    assert "(4 of 10 judged): 40.0 of the satisfied, 50.0 of the violated" in " ".join(text.split())
    assert all(len(line) <= 100 for line in text.splitlines() if not line.startswith("signature"))
    narrow = to_terminal(report, 70)
    assert all(len(line) <= 70 for line in narrow.splitlines() if not line.startswith("signature"))
    page = to_html(report)
    assert "SR<sub>c</sub>" in page
    assert "Order where the relation holds" in page
    assert "Does not hold in 40.0" in page


def test_entries_of_a_relation_where_nothing_was_judged_yet(build):
    engine = prepared(build)
    holds = count_holds(engine, count(engine))
    entry = next(iter(holds_entries(holds.units, holds.waiting, 0.95, "corpus").values()))
    assert (entry["judged"], entry["rate"], entry["waiting"]) == (0, None, 10)
    assert "10 questions about groups without an answer" in to_terminal(study_report(engine))


def test_documents_widen_what_is_said_of_texts_to_come(build):
    """Ten texts, or two documents: what varies between these is all that there is to see."""
    reports = []
    for documents in (10, 2):
        rows = [row | {"document": str(int(row["source"][1:]) % documents) + row["source"][0]} for row in RUN]
        engine = prepared(lambda rows, name=f"{documents}.db": build(rows, database=name), rows=rows)
        judge_groups(engine, BROKEN)
        reports.append(study_report(engine))
    for estimate, low, high in (
        (lambda report: cell_of(report, "a"), "sr_corrected_low", "sr_corrected_high"),
        (lambda report: cell_of(report, "a"), "false_violation_rate_low", "false_violation_rate_high"),
        (lambda report: report["relations"][0]["holds"], "low", "high"),
    ):
        alone, together = (estimate(report)[high] - estimate(report)[low] for report in reports)
        assert together > alone
