"""The choice of a study: the same on every page, remembered, by the plan's name; pages show that study's numbers."""

import pytest
from app_driver import Prepared, go, open_app
from small_corpus import SmallCorpus

from audit.judging.samples import ask_next
from audit.relations import get_relation
from audit.runner.executors import InProcess
from audit.runner.run import run
from audit.sampling.options import SampleOptions
from audit.ui.study_choice import CHOICE

PAGES = ("results", "quality", "browse")


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
