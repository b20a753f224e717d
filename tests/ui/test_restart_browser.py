"""An open page goes on after the server was stopped and started again, without a reload."""

from contextlib import ExitStack
from pathlib import Path

import pytest
from app_driver import Prepared
from app_server import free_port
from browser_driver import Window, judgements, streamlit_server, until

pytestmark = pytest.mark.browser

_COUNT_RUNS = """
window.runs = 0;
const app = document.querySelector("[data-test-script-state]");
new MutationObserver(() => { window.runs += app.dataset.testScriptState === "notRunning"; }).observe(
    app, {attributeFilter: ["data-test-script-state"]});
"""


@pytest.mark.parametrize("before", [0, 2])
def test_presses_are_stored_after_restarts(prepared: Prepared, tmp_path: Path, before: int) -> None:
    port, answers = free_port(), ["positive", "neutral"][:before]
    with ExitStack() as stack:
        with streamlit_server(prepared, port) as (address, _):
            window = stack.enter_context(Window(address, tmp_path / "profile"))
            window.log_in("ann")
            until(window.question)
            for key in "12"[:before]:
                window.judge(key)
            window.script(_COUNT_RUNS)
        for key, answer in (("3", "negative"), ("1", "positive")):
            runs = window.script("return window.runs")  # none after a reload
            with streamlit_server(prepared, port):
                until(lambda runs=runs: window.script("return window.runs") > runs)
                window.judge(key)
                window.judge("2")
            answers += [answer, "neutral"]
            assert judgements(prepared, prepared.ann.id) == answers
