"""Running a study from the app in a real Chromium: the tab is closed while it runs, and another one finds it."""

import os
import signal
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from app_driver import Prepared, prepare
from app_server import app_server
from browser_driver import Window, until
from sqlalchemy import Engine, select

from audit.reports.study import study_report
from audit.runner.executors import InProcess
from audit.store import open_store, table_of, tables
from audit.studies.jobs import carry_out, jobs
from audit.studies.plan import read_plan
from audit.studies.versions import set_plan
from audit.ui.language import text_in

pytestmark = pytest.mark.browser
PLAN = {
    "name": "films",
    "study": {"corpus": "rotten-tomatoes", "systems": ["vader", "textblob"], "relations": ["MR1.4", "MR3.1", "MR2.2"]},
    "sample": {"per_relation": 10},
    "judging": {"gold": True},
}
PATIENCE = 240


def opened(address: str, folder: Path, language: str = "en") -> Window:
    window = Window(f"{address}/studies", folder, language)
    window.log_in("boss")
    window.see(text_in(language, "studies.plans"))
    return window


@pytest.fixture
def begun() -> Iterator[list[int]]:
    """The processes of jobs; none of them, and nothing that they began, outlives the test."""
    jobs: list[int] = []
    yield jobs
    for job in jobs:
        with suppress(ProcessLookupError):
            os.killpg(job, signal.SIGKILL)


def hold_workers(engine: Engine) -> int:
    """Let the processes that a job has begun stand still, not the one that shows signs of life; gives its number.

    A quick machine would be done before a browser has come and gone.
    """
    with engine.connect() as connection:
        (job,) = connection.scalars(select(table_of(tables.Job).c.pid)).all()
    os.killpg(job, signal.SIGSTOP)
    os.kill(job, signal.SIGCONT)
    return job


def test_a_run_survives_the_tab_and_the_app(tmp_path: Path, begun: list[int]) -> None:
    prepared: Prepared = prepare(tmp_path / "audit.db")
    set_plan(prepared.engine, read_plan(PLAN))
    with app_server(str(prepared.path), tmp_path / "log.txt") as address:
        window = opened(address, tmp_path / "first")
        window.click("button", text_in("en", "studies.run"))
        until(lambda: "of 8,530 sources" in window.text(), PATIENCE)
        begun.append(hold_workers(prepared.engine))
        window.driver.quit()
        second = opened(address, tmp_path / "second", "zh")
        until(lambda: "8,530" in second.text(), PATIENCE)
        before = jobs(prepared.engine)[0].done
        os.killpg(begun[0], signal.SIGCONT)
        until(lambda: jobs(prepared.engine)[0].done > before, PATIENCE)
        hold_workers(prepared.engine)
        second.driver.save_screenshot(str(tmp_path / "running.png"))
        second.driver.quit()
        assert jobs(prepared.engine)[0].live
    # The app is gone, and everything of its session with it.
    assert jobs(prepared.engine)[0].live
    os.killpg(begun[0], signal.SIGCONT)
    until(lambda: not jobs(prepared.engine)[0].live, PATIENCE)
    assert jobs(prepared.engine)[0].state == "done", jobs(prepared.engine)[0].log
    with app_server(str(prepared.path), tmp_path / "again.txt") as address:
        window = opened(address, tmp_path / "third")
        window.see("Carried out")
        window.driver.save_screenshot(str(tmp_path / "done.png"))
        window.driver.quit()
    calm = open_store(str(tmp_path / "calm.db"), create=True)
    with InProcess() as executor:
        carry_out(calm, read_plan(PLAN), executor)
    ours, theirs = study_report(prepared.engine, study=2), study_report(calm)
    drop = ("study", "study_id", "id")

    def numbers(report):
        return [{key: value for key, value in cell.items() if key not in drop} for cell in report["cells"]]

    assert numbers(ours) == numbers(theirs)
