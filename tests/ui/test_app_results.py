"""The results page: what is chosen is kept and said, and rankings, roll-ups and pairs are there."""

from html import unescape

import pytest
from app_driver import Prepared, go, in_both, open_app, said
from streamlit.testing.v1 import AppTest
from test_app_pages import judged_by_all

from audit.reports.study import study_report
from audit.reports.words import primary_lines
from audit.studies.deviations import Primary, name_primary, resolve
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


@in_both
def test_a_primary_comparison_is_said_above_the_numbers(prepared: Prepared, language: str) -> None:
    report = study_report(prepared.engine)
    leader, second = (entry["system"] for entry in report["relations"][0]["ranking"][:2])
    name_primary(prepared.engine, 1, resolve(prepared.engine, Primary(leader, second), 1))
    assert text_in(language, "primary.waits") in headlines_of(results(prepared, language=language))
    judged_by_all(prepared)
    shown = headlines_of(results(prepared, language=language))
    assert all(line in shown for line in primary_lines(study_report(prepared.engine), language))


def headlines_of(app: AppTest) -> str:
    return unescape(" ".join(element.proto.body for element in app.get("html")))
