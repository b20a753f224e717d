"""The values of a run in a real Chromium: charts in their own size, tabs that keep apart on a small screen."""

from collections.abc import Iterator
from itertools import pairwise

import pytest
from app_driver import Prepared
from app_server import app_server
from browser_driver import Window, until
from translation_driver import prepare_values

from audit.ui.language import text_in

pytestmark = pytest.mark.browser
_CHART = "[data-testid=stVegaLiteChart] canvas, [data-testid=stVegaLiteChart] svg"


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Prepared]]:
    folder = tmp_path_factory.mktemp("values")
    prepared = prepare_values(folder)
    with app_server(str(prepared.path), folder / "log.txt") as address:
        yield address, prepared


def boxes(window: Window, selector: str) -> list[dict[str, float]]:
    return window.script(
        f"return [...document.querySelectorAll('{selector}')].map(one => one.getBoundingClientRect())"
        ".map(box => ({left: box.left, right: box.right, width: box.width}))"
    )


@pytest.mark.parametrize("window", ["en", "zh"], indirect=True)
@pytest.mark.parametrize("width", [1280, 390])
def test_charts_have_their_size_and_tabs_their_place(
    served: tuple[str, Prepared], window: Window, width: int, request: pytest.FixtureRequest
) -> None:
    language = request.node.callspec.params["window"]
    window.resize(width, 900)
    window.log_in("boss")
    window.driver.get(
        f"{window.driver.current_url.split('/', 3)[0]}//{window.driver.current_url.split('/')[2]}/results"
    )
    window.click("[role=tab]", text_in(language, "results.values"))
    window.see(text_in(language, "values.means"))
    until(lambda: len(boxes(window, _CHART)) == 3)
    # Streamlit squeezes a chart with numbers beside its plot, unless it is told not to.
    until(lambda: all(box["width"] > 300 for box in boxes(window, _CHART)))
    tabs = boxes(window, "[role=tab]")
    assert all(pair["right"] <= other["left"] + 1 for pair, other in pairwise(tabs))
    window.picture(f"values-{language}-{width}")
