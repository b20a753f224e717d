"""The results page: what is chosen is kept and said, and rankings, roll-ups and pairs are there."""

import pytest
from app_driver import Prepared, go, in_both, open_app
from test_app_pages import judged_by_all

from audit.reports.sections import sections
from audit.reports.study import study_report


@pytest.fixture
def judged(prepared: Prepared) -> Prepared:
    """A database in which every question is answered: half of the outputs of each system are wrong."""
    judged_by_all(prepared)
    return prepared


@pytest.mark.slow
@in_both
def test_every_section_of_the_report_is_on_the_page(judged: Prepared, language: str) -> None:
    app = open_app(judged.boss, language)
    report = study_report(judged.engine)
    for section in sections(report, language):
        app.session_state[f"section-{section.title}"] = True
    app = go(app, "results")
    assert not app.exception
    assert [expander.label.replace("\\", "") for expander in app.expander] == [
        one.title for one in sections(report, language)
    ]
    assert len(app.get("vega_lite_chart")) + len(app.get("arrow_vega_lite_chart")) >= 5
    cells = next(table.value for table in app.dataframe if "SR_o" in table.value)
    assert 0 <= cells["SR_o"].iloc[0] <= 100
