"""The dashboard in a real Chromium, with the real worker: sections open, a table and a picture are taken along."""

import csv
import io
from collections.abc import Iterator
from pathlib import Path

import pytest
from app_driver import Prepared, prepare
from browser_driver import Window, streamlit_server, until
from test_app_pages import judged_by_all

from audit.ui.language import text_in

pytestmark = pytest.mark.browser
PATIENCE = 120
"""Seconds for what the worker computes; it steps back behind whatever else the machine does."""


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Prepared]]:
    """Address of a running app on a database in which everything is judged."""
    prepared = prepare(tmp_path_factory.mktemp("dashboard") / "audit.db")
    judged_by_all(prepared)
    with streamlit_server(prepared) as served:
        yield served


@pytest.fixture(params=["en", "zh-CN"])
def window(served: tuple[str, Prepared], tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Window]:
    folder = tmp_path / "downloads"
    folder.mkdir()
    with Window(served[0], tmp_path / "profile", request.param) as opened:
        opened.driver.execute_cdp_cmd(
            "Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(folder), "eventsEnabled": False}
        )
        yield opened


def downloaded(folder: Path, ending: str) -> Path:
    """The file that was downloaded, once it is whole."""
    return until(lambda: next((path for path in folder.glob(f"*{ending}") if path.stat().st_size), None), PATIENCE)


def test_sections_open_and_a_table_and_a_picture_are_taken_along(
    served: tuple[str, Prepared], window: Window, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    language = "zh" if "zh" in request.node.name else "en"
    folder = tmp_path / "downloads"
    window.log_in("boss")
    # Managers begin on it; the totals come first, the cells when they are counted.
    until(lambda: text_in(language, "dashboard.by_people") in window.text(), PATIENCE)
    until(lambda: window.all(".st-key-csv-progress button"), PATIENCE)
    until(lambda: window.all('[data-testid="stVegaLiteChart"] canvas, [data-testid="stVegaLiteChart"] svg'), PATIENCE)
    window.driver.execute_script("document.querySelector('.st-key-csv-progress button').click()")
    rows = list(csv.reader(io.StringIO(downloaded(folder, ".csv").read_text(encoding="utf-8-sig"), newline="")))
    assert rows[0][1:3] == [text_in(language, "column.relation"), text_in(language, "column.system")]
    assert {row[1] for row in rows[1:]} == {"MR1.4", "MR3.1"}
    window.click('[role="tab"]', text_in(language, "dashboard.agreement"))
    until(lambda: window.all('[class*="st-key-png-confusions"] button'), PATIENCE)
    window.driver.execute_script("""document.querySelector('[class*="st-key-png-confusions"] button').click()""")
    assert downloaded(folder, ".png").read_bytes().startswith(b"\x89PNG\r\n")
    assert "Traceback" not in window.text()
