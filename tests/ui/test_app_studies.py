"""Studies in the app: plans by the form and by a file, freezing, and a real run that the page only looks at."""

import time

import pytest
from app_driver import Prepared, go, in_both, open_app, said
from sqlalchemy import select
from streamlit.testing.v1 import AppTest

from audit.reports.study import study_report
from audit.store import table_of, tables
from audit.studies.jobs import jobs
from audit.studies.plan import read_plan, to_toml
from audit.studies.versions import set_plan, versions
from audit.ui.language import text_in

PLAN = {
    "name": "films",
    "study": {
        "corpus": "rotten-tomatoes", "systems": ["vader", "textblob"], "relations": ["MR1.4", "MR3.1"], "limit": 20,
    },
    "sample": {"base": 4},
    "judging": {"gold": True},
}  # fmt: skip
PATIENCE = 90


def page(prepared: Prepared, tab: str = "plans", language: str = "en") -> AppTest:
    app = go(open_app(prepared.boss, language), "studies")
    app.session_state["studies-tab"] = text_in(language, f"studies.{tab}")
    return app.run()


def plans(prepared: Prepared) -> list[tuple[str, int, bool]]:
    table = table_of(tables.Plan)
    with prepared.engine.connect() as connection:
        return [tuple(row) for row in connection.execute(select(table.c.name, table.c.version, table.c.frozen))]


def button(app: AppTest, key: str):
    return next(button for button in app.button if str(button.key).startswith(key))


@pytest.mark.slow
def test_a_plan_by_the_form(prepared: Prepared) -> None:
    app = page(prepared, "new")
    assert not app.exception
    app.text_input(key="plan-name-").set_value("films").run()
    for system in ("vader", "hiv4"):
        app.checkbox(key=f"plan-study-systems-{system}-").set_value(True)
    app.multiselect[0].set_value(["MR1.4"])
    app.number_input(key="plan-judging-pass_mark-").set_value(75.0)  # in per cent, as on the page Quality
    app.number_input(key="plan-study-limit-").set_value(50).run()
    assert "50 sources, 1 relations and 2 systems give 100 checks" in app.info[0].value
    app.button(key="store-plan").click().run()
    assert not app.exception
    assert "is stored as version 1" in said(app)
    assert plans(prepared) == [("films", 1, False)]
    (stored,) = versions(prepared.engine, "films")
    assert stored.by == "boss"
    assert stored.content["study"]["systems"] == ["vader", "hiv4"]
    assert stored.content["sample"]["base"] == 20
    assert stored.content["judging"]["pass_mark"] == 0.75
    # The form, begun with the plan, gives the plan again.
    app.session_state["studies-tab"] = text_in("en", "studies.new")
    app.run()
    app.selectbox(key="plan-base").set_value("films").run()
    app.button(key="store-plan").click().run()
    assert "nothing was stored" in said(app)
    assert plans(prepared) == [("films", 1, False)]


@pytest.mark.slow
@in_both
def test_freezing_asks_first_and_is_seen(prepared: Prepared, language: str) -> None:
    set_plan(prepared.engine, read_plan(PLAN))
    app = page(prepared, "plans", language)
    assert not app.exception
    assert button(app, "freeze-").disabled
    app.checkbox(key="sure-films-1").set_value(True).run()
    button(app, "freeze-").click().run()
    assert plans(prepared) == [("films", 1, False), ("films", 2, True)]
    assert text_in(language, "studies.has_frozen", name="films", version=2) in said(app).replace("\\", "")
    assert not [button for button in app.button if str(button.key).startswith("freeze-")]
    set_plan(prepared.engine, read_plan(PLAN | {"sample": {"base": 9}}))
    app.run()
    assert f"{text_in(language, 'field.base')} 4 " in str(app.dataframe[1].value.to_dict())
    assert to_toml(versions(prepared.engine, "films")[-1].plan()).strip() == app.code[0].value.strip()


@pytest.mark.slow
def test_a_run_from_the_page_goes_on_without_it(prepared: Prepared) -> None:
    set_plan(prepared.engine, read_plan(PLAN))
    app = page(prepared)
    button(app, "run-").click().run()
    assert not app.exception
    assert [button.key for button in app.button if str(button.key).startswith(("stop-", "run-"))]
    del app  # the tab is closed
    end = time.monotonic() + PATIENCE
    while (work := jobs(prepared.engine)[0]).live:
        assert time.monotonic() < end
        time.sleep(0.1)
    assert work.state == "done", work.log
    app = page(prepared)
    assert "Carried out" in said(app)
    report = study_report(prepared.engine)
    assert [entry["study"] for entry in report["plan"]] == [2]
    app = go(open_app(prepared.boss, "zh"), "results")
    assert not app.exception
    assert "films（" in str([box.options for box in app.selectbox])
