"""The results page: what is chosen is kept and said, and rankings, roll-ups and pairs are there."""

import pytest
from app_driver import Prepared, go, open_app, said
from streamlit.testing.v1 import AppTest
from test_app_pages import judged_by_all

from audit.ui.language import text_in
from audit.ui.results import TAB


@pytest.fixture
def judged(prepared: Prepared) -> Prepared:
    """A database in which every question is answered: half of the outputs of each system are wrong."""
    judged_by_all(prepared)
    return prepared


def results(prepared: Prepared, tab: str = "relations", language: str = "en") -> AppTest:
    app = open_app(prepared.boss, language)
    app.session_state[TAB] = text_in(language, f"results.{tab}")
    return go(app, "results")


@pytest.mark.slow
def test_what_is_chosen_is_said_beside_the_numbers_and_kept_on_other_pages(judged: Prepared) -> None:
    app = results(judged)
    assert "for the population of this corpus; any difference counts. Answers of people and gold." in said(app).replace(
        "\\", ""
    )
    app.segmented_control(key="results-target").set_value("population").run()
    app.number_input(key="results-delta").set_value(2.5).run()
    expected = (
        "95\N{NO-BREAK SPACE}% intervals (mid-p) for the population of this corpus; "
        "differences up to 2.5 points count as equal. Answers of people and gold."
    )
    assert expected in said(app).replace("\\", "")
    go(app, "browse")
    go(app, "results")
    assert not app.exception
    assert expected in said(app).replace("\\", "")
    assert app.number_input(key="results-delta").value == 2.5
    assert "interval:midp|confidence:0.95|target:population|delta:0.025" in app.code[0].value
