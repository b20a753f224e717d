"""Runs with limits on follow-ups: what breaks one is kept and counted, and no system is asked about it."""

import json

import pandas as pd
import pytest
from contents import content
from interrupting import Interrupting
from sqlalchemy import select

import audit
from audit.annotation.accounts import add_account
from audit.errors import AuditError, NotInstalled
from audit.false_satisfaction.browse import GroupFilter, browse, detail
from audit.judging.samples import draw_all
from audit.relations import Outcome
from audit.relations.validity import MEASURES, limit_of, limited
from audit.reports.doctor import CHECKS
from audit.reports.exports.reading import import_export
from audit.reports.exports.replay import replay
from audit.reports.exports.writing import export
from audit.reports.follow_ups import follow_ups_lines, follow_ups_report, rejected_groups, write_rejected
from audit.reports.html import to_html
from audit.reports.study import study_report
from audit.reports.terminal import to_terminal
from audit.runner.executors import InProcess
from audit.runner.forecast import forecasts
from audit.runner.run import fitting, run
from audit.runner.studies import Sampled
from audit.sampling.draw import SampleRequest, Size
from audit.store import open_store, table_of, tables

pytestmark = pytest.mark.usefixtures("asked_once")

LIMITS = {"T1": [], "T2": ["edit-distance<=0.25"], "T3": ["edit-distance<=0.52", "perplexity-ratio<=1000"]}


@pytest.fixture
def engine():
    return open_store("sqlite://", create=True)


@pytest.fixture(autouse=True)
def small_chunks(monkeypatch):
    monkeypatch.setattr("audit.runner.studies.CHUNK", {"sentence": 8, "document": 2})
    for name in ("FEW", "MOST"):
        monkeypatch.setattr(f"audit.runner.chunk.{name}", 10)


@pytest.fixture
def strict(toy_relations):
    return [limited(relation, [limit_of(text)[1] for text in LIMITS[relation.name]]) for relation in toy_relations]


def rejected_texts(engine) -> set[str]:
    """Follow-ups of rejected groups that no other group has."""
    verdict, member, stored = table_of(tables.Verdict), table_of(tables.Member), table_of(tables.Input)
    query = select(stored.c.texts).join(member, member.c.input_id == stored.c.id).where(member.c.role == "follow_up")
    rejected = select(verdict.c.group_id).where(verdict.c.outcome == int(Outcome.REJECTED))
    with engine.connect() as connection:
        within = connection.execute(query.where(member.c.group_id.in_(rejected))).scalars()
        others = connection.execute(query.where(member.c.group_id.not_in(rejected))).scalars()
        return {texts[0] for texts in within} - {texts[0] for texts in others}


def test_rejected_groups_are_kept_counted_and_never_executed(own, toy_corpus, strict, engine):
    ran = run(engine, toy_corpus(), own.specs("calm", "nervous"), strict, InProcess())
    assert list(ran.rejected) == ["T2", "T3"]
    for groups, rejected in ran.rejected.values():
        assert 0 < rejected < groups
    counts = ran.counts
    assert counts.checks == sum(counts.outcomes.values())
    assert ran.as_json()["rejected_by_relation"]["T2"] == dict(
        zip(("groups", "rejected"), ran.rejected["T2"], strict=True)
    )
    groups, rejected = ran.rejected["T2"]
    assert f"T2: {rejected} of {groups} groups rejected by its limits, and kept." in ran.lines()
    assert any(line.endswith(f"{counts.outcomes['rejected']} rejected.") for line in ran.lines())
    unasked, asked = rejected_texts(engine), {call.split("\t")[1] for call in own.calls()}
    assert unasked
    assert not unasked & asked
    again = run(engine, toy_corpus(), own.specs("calm", "nervous"), strict, InProcess())
    assert (again.counts.checks, again.counts.executed, again.rejected) == (0, 0, ran.rejected)


def test_other_limits_are_another_relation_and_outputs_are_shared(own, toy_corpus, toy_relations, strict, engine):
    run(engine, toy_corpus(), own.specs("calm"), [strict[1]], InProcess())
    before = content(engine, "verdict")["verdict"]
    loose = run(engine, toy_corpus(), own.specs("calm"), [toy_relations[1]], InProcess())
    assert loose.counts.outcomes["rejected"] == 0
    assert set(content(engine, "verdict")["verdict"]) >= set(before)
    assert len(own.calls()) == len(set(own.calls()))
    report = study_report(engine)
    assert sorted(cell.get("rejected", 0) > 0 for cell in report["cells"]) == [False, True]
    assert [relation["params"].get("valid") for relation in report["signature"]["relations"]].count(None) == 1


def test_stopped_anywhere_it_ends_as_if_undisturbed(own, toy_corpus, strict):
    specs = own.specs("calm", "failing")
    undisturbed = open_store("sqlite://", create=True)
    run(undisturbed, toy_corpus(21), specs, strict, InProcess())
    expected = content(undisturbed)
    for stop in (1, 5):
        engine = open_store("sqlite://", create=True)
        with pytest.raises(KeyboardInterrupt):
            run(engine, toy_corpus(21), specs, strict, Interrupting(stop))
        run(engine, toy_corpus(21), specs, strict, InProcess())
        assert content(engine) == expected, f"stopped after {stop} batches"


def test_a_relation_that_rejects_everything_says_so(own, toy_corpus, toy_relations, engine):
    nothing = limited(toy_relations[0], [limit_of("edit-distance<0.01")[1]])
    ran = run(engine, toy_corpus(), own.specs("calm", "failing"), [nothing], InProcess())
    assert "T1: all 30 groups rejected by its limits, and kept." in ran.lines()
    assert not any(call.split("\t")[1].isupper() for call in own.calls())
    (cell, _) = study_report(engine)["cells"]
    assert (cell["groups"], cell["rejected"], cell["sr_observed"]) == (30, 30, None)
    assert cell["reason"]


def test_they_are_in_reports_in_no_rate_and_in_no_sample(own, toy_corpus, strict, engine):
    run(engine, toy_corpus(), own.specs("calm"), strict[1:], InProcess())
    draw_all(engine, SampleRequest(Size(share=1.0)))
    report = study_report(engine)
    assert len(report["cells"]) == 2
    for cell in report["cells"]:
        counted = ("satisfied", "violated", "inapplicable", "errors", "rejected")
        assert cell["groups"] == sum(cell[name] for name in counted)
        assert cell["sr_observed"] == pytest.approx(cell["satisfied"] / (cell["satisfied"] + cell["violated"]))
        assert cell["drawn"] <= cell["satisfied"]
    assert report["overall"]["rejected"] == sum(cell["rejected"] for cell in report["cells"])
    assert "rej." in to_terminal(report)
    assert ">Rejected<" in to_html(report)
    with engine.connect() as connection:
        checks = [found for name in ("references", "outputs", "draws") for found in CHECKS[name](connection, name)]
    assert all(check.ok for check in checks)


def test_people_can_read_what_was_rejected(own, toy_corpus, strict, engine):
    run(engine, toy_corpus(), own.specs("calm"), strict, InProcess())
    manager = add_account(engine, "mia", "manager", "a-long-password")
    lines = browse(engine, manager.id, GroupFilter(state="rejected")).lines
    assert {line.relation for line in lines} == {"T2", "T3"}
    group = detail(engine, manager.id, lines[0].group_id, lines[0].system_id)
    assert group.state == "rejected"
    assert group.reason.startswith("edit-distance 0.")
    assert group.reason.endswith((", at most 0.25", ", at most 0.52"))
    assert group.value > 0.25
    assert [part.output for part in group.parts if part.role == "follow_up"].count(None) >= 1


@pytest.mark.slow
def test_an_export_holds_them(own, toy_corpus, strict, tmp_path):
    engine = open_store(str(tmp_path / "one.db"), create=True)
    run(engine, toy_corpus(8), own.specs("calm"), strict[1:2], InProcess())
    export(engine, tmp_path / "exported")
    import_export(tmp_path / "exported", str(tmp_path / "again.db"))
    assert content(open_store(str(tmp_path / "again.db"))) == content(engine)
    assert not replay(tmp_path / "exported").documents[0].differences


def test_a_forecast_leaves_them_out(own, toy_corpus, toy_relations, strict):
    def to_ask(relations):
        (one,) = forecasts([(Sampled(toy_corpus(), 0, None), relations)], own.specs("calm"), InProcess())
        return one.to_ask

    assert to_ask(strict[:2]) < to_ask(toy_relations[:2])


def test_what_follow_ups_are_like(own, toy_corpus, strict, engine):
    ran = run(engine, toy_corpus(), own.specs("calm", "nervous"), strict, InProcess())
    report = follow_ups_report(engine)
    assert [entry["relation"] for entry in report["relations"]] == ["T1", "T2", "T3"]
    for entry in report["relations"][1:]:
        assert (entry["groups"], entry["rejected"]) == ran.rejected[entry["relation"]]
        assert entry["limits"] == sorted(LIMITS[entry["relation"]])
    by_measure = {measured["measure"]: measured for measured in report["relations"][0]["measures"]}
    assert list(by_measure) == [name for name in MEASURES if name != "embedding"]
    assert (by_measure["replaced"]["most"], by_measure["perplexity-ratio"]["median"]) == (0, 1)
    assert by_measure["edit-distance"]["least"] > 0.5
    few = follow_ups_report(engine, relations=["T2"], measures=["replaced"], most=5)["relations"]
    assert [(entry["measured"], len(entry["measures"])) for entry in few] == [(5, 1)]
    assert few[0]["measures"][0]["median"] == pytest.approx(0.2)
    tried = follow_ups_report(engine, valid=["replaced<0.1", "T2:replaced<1", *(f"T2:{one}" for one in LIMITS["T2"])])
    assert [entry["would_reject"] for entry in tried["relations"]] == [
        0,
        ran.rejected["T2"][1],
        report["relations"][2]["groups"],
    ]
    assert "  0 of 30  " in "\n".join(follow_ups_lines(tried))
    assert "T2: " in "\n".join(follow_ups_lines(report))
    json.dumps(report, allow_nan=False)
    with pytest.raises(AuditError, match="unknown measure"):
        follow_ups_report(engine, measures=["reach"])
    with pytest.raises(AuditError, match="1 or more"):
        follow_ups_report(engine, most=0)


def test_rejected_groups_are_written_with_their_limit_and_texts(own, toy_corpus, strict, engine, tmp_path):
    ran = run(engine, toy_corpus(), own.specs("calm", "nervous"), strict, InProcess())
    groups = list(rejected_groups(engine))
    assert [sum(group["relation"] == name for group in groups) for name in ("T2", "T3")] == [
        rejected for _, rejected in ran.rejected.values()
    ]
    assert {group["limit"] for group in groups} == {"edit-distance<=0.25", "edit-distance<=0.52"}
    assert all(group["value"] > float(group["limit"].partition("<=")[2]) for group in groups)
    assert {text for group in groups for texts in group["follow_ups"] for text in texts} >= rejected_texts(engine)
    write_rejected(tmp_path / "r.jsonl", groups)
    assert [json.loads(line) for line in (tmp_path / "r.jsonl").read_text().splitlines()] == groups
    write_rejected(tmp_path / "r.csv", groups)
    rows = pd.read_csv(tmp_path / "r.csv", dtype={"row": str}).to_dict("records")
    assert [(row["row"], row["text"], row["follow_up"]) for row in rows] == [
        (group["row"], group["texts"][0], follow_up[0]) for group in groups for follow_up in group["follow_ups"]
    ]
    assert [group["relation"] for group in rejected_groups(engine, relations=["T1", "T3"])] == ["T3"] * (
        ran.rejected["T3"][1]
    )
    write_rejected(tmp_path / "none.csv", [])
    assert (tmp_path / "none.csv").read_text().strip() == "study,corpus,task,relation,limit,value,row,text,follow_up"
    with pytest.raises(AuditError, match=r"ends with .csv or .jsonl"):
        write_rejected(tmp_path / "r.txt", groups)


def test_wrong_limits_are_refused_before_anything_is_stored(tmp_path, monkeypatch, toy_corpus, toy_relations):
    store = tmp_path / "none.db"

    def attempt(*valid):
        return audit.run(["A good film."], ["vader"], ["MR3.1"], store=store, valid=valid)

    with pytest.raises(AuditError, match=r"MR9.9 is not among the relations that are run: MR3.1"):
        attempt("MR9.9:replaced<=0.4")
    with pytest.raises(AuditError, match="unknown measure"):
        attempt("distance<=0.4")
    monkeypatch.setattr("audit.relations.validity.find_spec", lambda module: None)
    with pytest.raises(NotInstalled, match=r"embedding cannot be looked at here; run: pip install .audit\[chinese\]"):
        attempt("embedding>=0.9")
    assert not store.exists()


def test_limits_of_one_relation_and_of_all(toy_corpus, toy_relations):
    chosen = fitting(toy_corpus(), ["T1", "T2"], valid=["replaced<=0.5", "T2:replaced<=0.1", "T2:bleu>0.2"])
    assert [relation.params.get("valid") for relation in chosen] == [["replaced<=0.5"], ["bleu>0.2", "replaced<=0.1"]]
