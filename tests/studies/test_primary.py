"""A primary comparison is named before the first answer, and every report says when it was."""

import json
import re

import pytest
from sqlalchemy import func, select

from audit.cli import main
from audit.corpora import get_corpus
from audit.errors import AuditError, BadFile, UnknownName
from audit.judging.labels import answer_with_gold
from audit.judging.samples import draw
from audit.messages import phrase
from audit.relations import get_relation
from audit.reports.exports.replay import replay
from audit.reports.html import to_html
from audit.reports.study import study_report
from audit.reports.terminal import to_terminal
from audit.reports.words import primary_lines
from audit.runner.executors import InProcess
from audit.runner.run import run
from audit.sampling.draw import SampleRequest, Size
from audit.store import table_of, tables
from audit.studies.deviations import Primary, name_primary, namings, resolve, valid_naming
from audit.studies.jobs import carry_out
from audit.studies.versions import freeze, set_plan

SYSTEMS = ["vader", "textblob", "hiv4"]


@pytest.fixture
def study(engine, reviews):
    """A run of three systems under two relations, drawn but not judged."""
    relations = [get_relation("sentiment", name) for name in ("MR1.4", "MR3.1")]
    with InProcess() as executor:
        run(engine, get_corpus(str(reviews)), SYSTEMS, relations, executor)
    draw(engine, 1, SampleRequest(Size(per_relation=100)))
    return engine


def named(engine, *names):
    name_primary(engine, 1, resolve(engine, Primary(*names), 1))


def lines_in_the_log(engine):
    log = table_of(tables.Log)
    with engine.connect() as connection:
        return connection.execute(select(func.count()).where(log.c.action == "primary")).scalar()


def test_nothing_changes_where_none_is_named(study):
    answer_with_gold(study)
    report = study_report(study)
    assert "primary" not in report
    assert "primary" not in report["signature"]
    assert primary_lines(report) == []


def test_named_before_the_first_answer_it_is_tested_by_itself_in_every_form(study):
    named(study, "textblob", "hiv4")
    answer_with_gold(study)
    report = study_report(study)
    (entry,) = report["primary"]
    assert (entry["system"], entry["other"], entry["relation"], entry["tested"]) == ("textblob", "hiv4", None, True)
    assert (entry["relations"], entry["compared"], entry["answers_before"]) == (2, 2, 0)
    assert entry["p"] == entry["p_holm"]
    assert entry["low"] < entry["difference"] < entry["high"]
    assert report["signature"]["primary"] == [{"study": 1, "system": "textblob", "other": "hiv4"}]
    first, gate = primary_lines(report)
    assert first.startswith(f"Primary comparison of study 1, named on {entry['named_at'][:10]} before the first answer")
    assert "textblob over hiv4 by" in first
    assert gate == phrase("en", "primary.holds" if entry["apart"] else "primary.fails")
    assert first in to_html(report).replace("&lt;", "<")
    assert first in " ".join(to_terminal(report).replace("\n  ", " ").split("\n"))
    assert primary_lines(report, "zh")[0].startswith("研究 1 的主要比较")


@pytest.mark.parametrize("turned", [False, True])
def test_under_one_relation_it_is_that_pair_unadjusted(study, turned):
    pair = ["textblob", "hiv4"][:: -1 if turned else 1]
    before = study_report(study)
    named(study, *pair, "MR1.4")
    answer_with_gold(study)
    report = study_report(study)
    (entry,) = report["primary"]
    relation = next(entry_of for entry_of in report["relations"] if entry_of["relation"] == "MR1.4")
    tested = next(compared for compared in relation["pairs"] if {compared["system"], compared["other"]} == set(pair))
    sign = 1 if tested["system"] == pair[0] else -1
    assert entry["difference"] == sign * tested["difference"]
    assert entry["low"] == (tested["low"] if sign == 1 else -tested["high"])
    assert entry["p"] == tested["p"] == tested["p_holm"] == entry["p_holm"]
    assert tested["apart"] == entry["apart"] == (entry["p"] <= 0.05)
    rest = [
        compared
        for of in report["relations"]
        for compared in of["pairs"]
        if compared is not tested and compared["p"] is not None
    ]
    assert len(rest) == 4
    assert min(compared["p_holm"] for compared in rest) >= entry["p"]
    assert "primary" not in before


def test_named_after_an_answer_it_is_one_of_the_others(study):
    answer_with_gold(study)
    before = study_report(study)
    named(study, "textblob", "hiv4")
    report = study_report(study)
    (entry,) = report["primary"]
    assert entry["tested"] is False
    assert entry["answers_before"] > 0
    assert report["relations"] == before["relations"]
    assert report["signature"] == before["signature"]
    (line,) = primary_lines(report)
    assert "was named as primary comparison on" in line
    assert line.endswith("so it is adjusted like all others.")


def test_another_one_before_the_first_answer_counts_and_afterwards_none(study):
    named(study, "vader", "hiv4")
    named(study, "textblob", "hiv4")
    named(study, "textblob", "hiv4")  # the same again notes nothing
    assert lines_in_the_log(study) == 2
    answer_with_gold(study)
    named(study, "vader", "textblob", "MR1.4")
    with study.connect() as connection:
        history = namings(connection, [1])[1]
    assert valid_naming(history) is history[1]
    (entry,) = study_report(study)["primary"]
    assert (entry["system"], entry["other"], entry["tested"]) == ("textblob", "hiv4", True)


def test_before_it_can_be_tested_nothing_else_is_sure(study):
    named(study, "textblob", "hiv4")
    answer_with_gold(study)
    assert study_report(study)["primary"][0]["difference"] is not None
    (entry,) = study_report(study, "people")["primary"]  # nobody has answered
    assert entry["reason"] == "no relation has a judged group that compares the two systems"
    report = study_report(study, "people")
    assert primary_lines(report)[1] == phrase("en", "primary.waits")
    assert not any(pair["apart"] for relation in report["relations"] for pair in relation["pairs"])


@pytest.mark.parametrize(
    ("names", "kind", "says"),
    [
        (("vader", "vader"), AuditError, "'vader' is named twice"),
        (("vader", "x"), UnknownName, "unknown system 'x'; known are: hiv4, textblob, vader"),
        (("vader", "hiv4", "MR9"), UnknownName, "unknown relation 'MR9'; known are: MR1.4, MR3.1"),
    ],
)
def test_wrong_names_are_one_sentence(study, names, kind, says):
    with pytest.raises(kind, match=re.escape(says)):
        named(study, *names)
    assert lines_in_the_log(study) == 0


def test_a_plan_names_it_and_the_domain_and_is_held_to_both(engine, plan):
    films = plan(report__primary=["textblob", "vader"], report__primary_relation="MR3.1", sample__domain="gold")
    set_plan(engine, films)
    freeze(engine, "films")
    with InProcess() as executor:
        done = carry_out(engine, films, executor)
        carry_out(engine, films, executor)  # notes nothing again
    assert done.drawn.domain == "gold"
    report = study_report(engine)
    (entry,) = report["primary"]
    assert (entry["system"], entry["relation"], entry["tested"]) == ("textblob", "MR3.1", True)
    assert lines_in_the_log(engine) == 1
    assert report["plan"][0]["deviates"] == []


def test_a_plan_whose_comparison_was_not_named_in_time_deviates(engine, plan):
    with InProcess() as executor:
        carry_out(engine, plan(), executor)
    set_plan(engine, plan(report__primary=["textblob", "vader"]))
    freeze(engine, "films")
    (entry,) = study_report(engine)["plan"]
    assert entry["deviates"] == [{"key": "report.primary", "planned": "textblob over vader", "found": None}]


@pytest.mark.parametrize(
    ("key", "value", "says"),
    [
        ("report__primary", ["vader"], "report.primary: a primary comparison needs two systems, and 1 is named"),
        ("report__primary", ["vader", "hiv4"], "report.primary: 'hiv4' is not among the systems: vader, textblob"),
        ("report__primary_relation", "MR3.1", "report.primary: the relation MR3.1 of a primary comparison is named"),
        ("report__primary_relation", "MR9", "report.primary_relation: 'MR9' is not among the relations"),
        ("sample__domain", "silver", "sample.domain: 'silver' must be one of all, gold"),
    ],
)
def test_mistakes_in_a_plan_name_their_key(plan, key, value, says):
    with pytest.raises(BadFile, match=re.escape(says)):
        plan(**{key: value})


def test_a_replay_of_an_export_has_it_too(study, tmp_path):
    named(study, "textblob", "hiv4")
    answer_with_gold(study)
    database, folder, published = (tmp_path / name for name in ("audit.db", "export", "report.json"))
    report = study_report(study)
    published.write_text(json.dumps(report), encoding="utf-8")
    assert main(["export", "--out", str(folder), "--db", str(database)]) == 0
    result = replay(folder, [published])
    assert "primary" in report
    assert {replayed.document: replayed.differences for replayed in result.documents} == dict.fromkeys(
        (replayed.document for replayed in result.documents), 0
    )
