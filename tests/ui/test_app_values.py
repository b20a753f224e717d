"""The results page's values: rates at other bounds, means and levels are those of the documents, with their charts."""

import pytest
from app_driver import Prepared, closed, go, in_both, open_app, said
from sqlalchemy import text
from streamlit.testing.v1 import AppTest
from test_app_results import charts
from translation_driver import prepare_values

from audit.reports.values import bounds_report, means_report
from audit.ui.language import name_in, text_in
from audit.ui.results import BOUND_VALUES, TAB


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Prepared:
    return closed(prepare_values(tmp_path_factory.mktemp("values")))


def values(prepared: Prepared, language: str = "en") -> AppTest:
    app = open_app(prepared.boss, language)
    app.session_state[TAB] = text_in(language, "results.values")
    app = go(app, "results")
    assert not app.exception
    assert not app.error
    return app


def choose(app: AppTest, relation: str) -> AppTest:
    box = app.selectbox(key="results-values-relation")
    chosen = next(option for option in box.options if option.startswith(relation))
    return box.set_value(box.options.index(chosen)).run()


@in_both
def test_rates_at_other_bounds_and_means_are_the_documents(prepared: Prepared, language: str) -> None:
    app = choose(values(prepared, language), "RTT")
    assert not app.exception
    assert charts(app) == 3  # bounds, target languages, systems
    cells = [cell for cell in bounds_report(prepared.engine, at=BOUND_VALUES)["cells"] if cell["relation"] == "RTT"]
    bounds, means, tests, differences = (frame.value for frame in app.dataframe)
    rate = f"{text_in(language, 'column.sr_observed')}"
    assert bounds[rate].tolist() == pytest.approx([100 * cell["sr_observed"] for cell in cells])
    report = means_report(prepared.engine, "RTT", 1)
    assert means[text_in(language, "column.mean")].tolist() == pytest.approx([mean["mean"] for mean in report["means"]])
    assert name_in(language, "es") in means[text_in(language, "column.factor_level")].tolist()
    assert tests[text_in(language, "column.f")].tolist() == pytest.approx([test["f"] for test in report["tests"]])
    assert len(differences) == len(report["comparisons"]) == 11  # one pair of languages, ten of systems
    assert not (differences["p"] == "0.0000").any()


def test_another_relation_and_independent_values_are_other_numbers(prepared: Prepared) -> None:
    app = choose(values(prepared), "MCMT")
    first = app.dataframe[1].value
    app.toggle(key="results-values-independent").set_value(True).run()
    assert not app.exception
    second = app.dataframe[1].value
    assert first["Mean"].tolist() == pytest.approx(second["Mean"].tolist())
    assert first["Standard error"].tolist() != second["Standard error"].tolist()
    assert "as in the MCMT study" in said(app)
    assert means_report(prepared.engine, "MCMT", 1)["means"][0]["mean"] == pytest.approx(first["Mean"][0])


def test_levels_are_shown_once_two_of_them_have_verdicts(prepared: Prepared) -> None:
    assert text_in("en", "values.levels") not in said(values(prepared))
    with prepared.engine.begin() as connection:  # the tab asks for names, and these have values
        connection.execute(text("UPDATE relation SET name = 'MGMT-word' WHERE name = 'RTT'"))
    app = values(prepared)
    assert charts(app) == 4
    assert text_in("en", "values.levels") in said(app)


def test_where_no_relation_has_a_bound_there_is_no_such_tab(prepared: Prepared) -> None:
    with prepared.engine.begin() as connection:
        connection.execute(text("UPDATE relation SET params = '{}'"))
    app = values(prepared, "zh")
    assert not app.exception
    assert app.tabs
    assert text_in("zh", "results.values") not in [tab.label for tab in app.tabs]
