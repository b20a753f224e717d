"""The choice of a study: the same on every page, remembered, by the plan's name; pages show that study's numbers."""

import pytest
from app_driver import Prepared, go, open_app, said
from small_corpus import SmallCorpus

from audit.judging.samples import ask_next
from audit.relations import get_relation
from audit.reports.first_page import open_questions
from audit.reports.study import study_report
from audit.runner.executors import InProcess
from audit.runner.run import run
from audit.sampling.options import SampleOptions
from audit.ui.study_choice import ALL, CHOICE

PAGES = ("dashboard", "results", "quality", "browse")


@pytest.fixture
def two_studies(prepared: Prepared) -> Prepared:
    texts = ["The soup was cold.", "A kind waiter.", "We would come again.", "Never again."]
    relations = [get_relation("sentiment", "MR3.1")]
    with InProcess() as executor:
        ran = run(prepared.engine, SmallCorpus("meals", texts), ["vader", "textblob"], relations, executor)
    ask_next(prepared.engine, SampleOptions(20), ran.study.id)[0]
    return prepared


@pytest.mark.slow
def test_the_choice_holds_on_every_page(two_studies: Prepared) -> None:
    app = open_app(two_studies.boss)
    for page in PAGES:
        app = go(app, page)
        assert not app.exception
        box = app.selectbox(key=CHOICE)
        assert box.options == ["meals (study 2)", "sentences (study 1)", "All 2 studies together"]
        assert box.value == (2 if page == PAGES[0] else 1)
        if page == PAGES[0]:
            app = box.set_value(1).run()


@pytest.mark.slow
def test_results_and_dashboard_show_the_open_questions_of_the_study(two_studies: Prepared) -> None:
    numbers = {
        study: open_questions(study_report(two_studies.engine, study=study)["overall"]) for study in (1, 2, None)
    }
    assert len(set(numbers.values())) == 3
    app = open_app(two_studies.boss)
    for study, number in numbers.items():
        for page in ("results", "dashboard"):
            app = go(app, page)
            app = app.selectbox(key=CHOICE).set_value(study or ALL).run()
            assert not app.exception
            shown = said(app) if page == "results" else "".join(element.proto.body for element in app.get("html"))
            assert (f"the {number} questions" if page == "results" else f">{number}<") in shown
            assert ("Pooled over all studies" in said(app)) == (study is None)


@pytest.mark.slow
def test_studies_without_a_plan_are_listed(two_studies: Prepared) -> None:
    app = go(open_app(two_studies.boss), "studies")
    table = app.dataframe[-1].value
    assert list(table["Study"]) == ["meals (study 2)", "sentences (study 1)"]
    assert list(table["Plan"]) == ["without a plan"] * 2
    assert list(table["Texts"]) == [4, 12]
