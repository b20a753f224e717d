"""A question of a plug-in's task in a real Chromium: read, and answered by key."""

from collections.abc import Iterator

import pytest
from app_driver import Prepared
from app_server import app_server
from browser_driver import Window, judgements, until
from plugged import EXAMPLE, MODULE, environment, plugged
from plugin_driver import prepare_inference

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Prepared]]:
    folder = tmp_path_factory.mktemp("plugins")
    with plugged():
        made = prepare_inference(folder / "audit.db")
    where = environment(EXAMPLE, plugins=MODULE)
    with app_server(str(made.path), folder / "log.txt", environment=where) as address:
        yield address, made


def test_a_question_of_a_plugin_is_answered_by_key(served: tuple[str, Prepared], window: Window) -> None:
    made = served[1]
    window.log_in("ann")
    window.see("Does the hypothesis follow from the premise?")
    window.see("Hypothesis")  # past the guideline, which has the question, too
    window.see("It is ruled out")
    window.press("3")
    until(lambda: judgements(made, made.ann.id) == ["contradicted"])
