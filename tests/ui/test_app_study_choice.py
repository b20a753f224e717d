"""Two studies in one database: the choice between them on every page, and each asks its own question."""

import pytest
from app_driver import Prepared, blocks, go, open_app
from small_corpus import SmallCorpus

from audit.judging.judgements import judge
from audit.judging.queue import next_question
from audit.judging.samples import ask_next
from audit.judging.words import set_words
from audit.relations import get_relation
from audit.runner.executors import InProcess
from audit.runner.run import run
from audit.sampling.options import SampleOptions
from audit.ui.study_choice import CHOICE

MEALS = ["The soup was cold.", "A kind waiter.", "We would come again.", "Never again."]
PAGES = ("results", "quality", "browse")


@pytest.fixture
def two_studies(prepared: Prepared) -> Prepared:
    relations = [get_relation("sentiment", "MR3.1")]
    with InProcess() as executor:
        ran = run(prepared.engine, SmallCorpus("meals", MEALS), ["vader", "textblob"], relations, executor)
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


def test_each_study_asks_its_own_question(two_studies: Prepared) -> None:
    engine, ann, own = two_studies.engine, two_studies.ann.id, "What does the guest think of the meal?"
    set_words(engine, "sentiment", "meals", {"question": own})
    app, about = open_app(two_studies.ann), []
    while (shown := next_question(engine, ann)) is not None:
        about.append(shown.texts[0] in MEALS)
        assert (own in blocks(app.run())) == about[-1]
        judge(engine, ann, shown.id, "positive")
    assert (about.count(True), about.count(False)) == (4, 12)
