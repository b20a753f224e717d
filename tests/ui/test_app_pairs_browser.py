"""A text and its summary, two texts, and a scheme of eleven labels, in a real Chromium: seen whole, answered by key."""

from collections.abc import Iterator

import pytest
from app_driver import Prepared
from app_server import app_server
from browser_driver import Window, judgements, until
from pair_driver import LONG, prepare_pairs, to_task

pytestmark = pytest.mark.browser
_OUTPUT = ".audit-output .audit-text"


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Prepared]]:
    folder = tmp_path_factory.mktemp("pairs")
    prepared = prepare_pairs(folder / "audit.db")
    with app_server(str(prepared.path), folder / "log.txt") as address:
        yield address, prepared


@pytest.mark.parametrize("window", ["en", "zh"], indirect=True)
@pytest.mark.parametrize("width", [1280, 390])
def test_a_summary_stays_in_sight_beside_a_long_text(
    served: tuple[str, Prepared], window: Window, width: int, request: pytest.FixtureRequest
) -> None:
    prepared = served[1]
    to_task(prepared, prepared.ann.id, "summarization", LONG[:40])
    window.resize(width, 720)
    window.log_in("ann")
    until(lambda: window.all(_OUTPUT))
    assert window.in_view(_OUTPUT)
    window.script("document.querySelector('.stMain').scrollTop = 300")
    assert window.in_view(_OUTPUT)
    window.picture(f"pair-{request.node.callspec.params['window']}-{width}")


def test_a_summary_is_graded_by_key(served: tuple[str, Prepared], window: Window) -> None:
    prepared = served[1]
    to_task(prepared, prepared.ben.id, "summarization", "甲赢了第")
    before = judgements(prepared, prepared.ben.id)
    window.log_in("ben")
    until(lambda: window.all(_OUTPUT))
    window.press("3")
    until(lambda: judgements(prepared, prepared.ben.id) == [*before, "misses_point"])
