"""A primary comparison is named by a plan that was frozen before the first answer, and every report says when."""

import pytest

from audit.judging.labels import answer_with_gold
from audit.messages import phrase
from audit.reports.first_page import primary_lines
from audit.reports.html import to_html
from audit.reports.study import study_report
from audit.reports.words import Say
from audit.runner.executors import InProcess
from audit.studies.jobs import carry_out
from audit.studies.versions import freeze, set_plan

SYSTEMS = ["vader", "textblob", "hiv4"]


@pytest.fixture
def named(engine, plan):
    """`named(system, other, relation)` -> a plan that names these, carried out and frozen, but not judged."""

    def work(*names, frozen=True):
        primary = {"report__primary": list(names[:2])} | ({"report__primary_relation": names[2]} if names[2:] else {})
        films = plan(study__systems=SYSTEMS, study__limit=200, sample__base=100, judging__gold=False, **primary)
        set_plan(engine, films)
        if frozen:
            freeze(engine, "films")
        with InProcess() as executor:
            carry_out(engine, films, executor)
        return engine

    return work


@pytest.mark.slow
def test_named_before_the_first_answer_it_is_tested_by_itself_in_every_form(named):
    study = named("textblob", "hiv4")
    answer_with_gold(study)
    report = study_report(study)
    (entry,) = report["primary"]
    assert (entry["system"], entry["other"], entry["relation"], entry["tested"]) == ("textblob", "hiv4", None, True)
    assert (entry["relations"], entry["compared"], entry["answers_before"]) == (2, 2, 0)
    assert entry["p"] == entry["p_holm"]
    assert entry["low"] < entry["difference"] < entry["high"]
    assert report["signature"]["primary"] == [{"study": 1, "system": "textblob", "other": "hiv4"}]
    first, gate = primary_lines(report, Say())
    assert first.startswith(f"Primary comparison of study 1, named on {entry['named_at'][:10]} before the first answer")
    assert "textblob over hiv4 by" in first
    assert gate == phrase("en", "primary.holds" if entry["apart"] else "primary.fails")
    assert first in to_html(report).replace("&lt;", "<")


@pytest.mark.slow
@pytest.mark.parametrize("turned", [False, True])
def test_under_one_relation_it_is_that_pair_unadjusted(named, turned):
    pair = ["textblob", "hiv4"][:: -1 if turned else 1]
    study = named(*pair, "MR1.4")
    answer_with_gold(study)
    report = study_report(study)
    (entry,) = report["primary"]
    relation = next(entry_of for entry_of in report["relations"] if entry_of["relation"] == "MR1.4")
    tested = next(compared for compared in relation["pairs"] if {compared["system"], compared["other"]} == set(pair))
    sign = 1 if tested["system"] == pair[0] else -1
    assert entry["difference"] == sign * tested["difference"]
    assert entry["p"] == tested["p"] == tested["p_holm"] == entry["p_holm"]
    assert tested["apart"] == entry["apart"] == (entry["p"] <= 0.05)
    rest = [
        compared
        for of in report["relations"]
        for compared in of["pairs"]
        if compared is not tested and compared["p"] is not None
    ]
    assert len(rest) == 5
    assert min(compared["p_holm"] for compared in rest) >= entry["p"]


@pytest.mark.slow
def test_frozen_after_an_answer_it_is_one_of_the_others(named):
    study = named("textblob", "hiv4", frozen=False)
    answer_with_gold(study)
    before = study_report(study)
    assert "primary" not in before
    freeze(study, "films")
    report = study_report(study)
    (entry,) = report["primary"]
    assert entry["tested"] is False
    assert entry["answers_before"] > 0
    assert report["relations"] == before["relations"]
    (line,) = primary_lines(report, Say())
    assert "was named as primary comparison on" in line
    assert line.endswith("so it is adjusted like all others.")
