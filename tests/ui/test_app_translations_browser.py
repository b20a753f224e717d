"""A translation in a real Chromium: languages named in the reader's, seen whole on a small screen, answered by key."""

from collections.abc import Iterator

import pytest
from app_driver import Prepared
from app_server import app_server
from browser_driver import Window, judgements, until
from translation_driver import prepare_translations, to_translation
from translations import TEXTS

from audit.judging.judgements import judge

pytestmark = pytest.mark.browser
_OUTPUT = ".audit-output .audit-text"


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Prepared]]:
    folder = tmp_path_factory.mktemp("translations")
    prepared = prepare_translations(folder, groups=20)
    with app_server(str(prepared.path), folder / "log.txt") as address:
        yield address, prepared


def titles(window: Window) -> list[str]:
    return [heading.text for heading in window.all(".audit-part h3")]


def spoken(window: Window) -> list[str]:
    """Languages of the texts on the screen."""
    return [element.get_attribute("lang") for element in window.all(".audit-text")]


def ends_in_sight(window: Window) -> bool:
    """Whether text and translation end above the answers, which are on the screen."""
    return window.script(
        "const end = document.querySelector('.st-key-answer-bar').getBoundingClientRect().top;"
        "return end <= window.innerHeight && [...document.querySelectorAll('.audit-members .audit-text')]"
        ".every(one => one.getBoundingClientRect().bottom <= end + 1)"
    )


@pytest.mark.parametrize("window", ["zh"], indirect=True)
def test_a_chinese_reader_answers_by_key(served: tuple[str, Prepared], window: Window) -> None:
    prepared = served[1]
    to_translation(prepared, prepared.ann.id, TEXTS[0])
    before = judgements(prepared, prepared.ann.id)
    window.log_in("ann")
    until(lambda: window.all(_OUTPUT))
    assert titles(window) == ["原文（英语）", "译文（西班牙语）"]
    assert spoken(window) == ["en", "es"]
    window.picture("translation-zh")
    window.press("5")
    until(lambda: judgements(prepared, prepared.ann.id) == [*before, "omitted_or_added"])


@pytest.mark.parametrize("window", ["en", "zh"], indirect=True)
@pytest.mark.parametrize("width", [1280, 390])
def test_a_long_translation_stays_in_sight(
    served: tuple[str, Prepared], window: Window, width: int, request: pytest.FixtureRequest
) -> None:
    prepared = served[1]
    to_translation(prepared, prepared.ben.id, TEXTS[3][:30])
    window.resize(width, 720)
    window.log_in("ben")
    until(lambda: window.all(_OUTPUT))
    assert len(titles(window)) == 2
    # They scroll together, to the end of both, and none has a part that is cut.
    assert window.script(f"const e = document.querySelector('{_OUTPUT}'); return e.scrollHeight <= e.clientHeight + 1")
    window.press(" ")
    window.script("document.querySelector('.stMain').scrollTop = 100000")
    until(lambda: ends_in_sight(window))
    # Seven answers, unsure and what stands beside them need no sideways scrolling.
    assert window.script("return document.documentElement.scrollWidth <= window.innerWidth")
    window.picture(f"translation-long-{request.node.callspec.params['window']}-{width}")


@pytest.mark.parametrize("window", ["en", "zh"], indirect=True)
def test_pictures_of_a_group_a_dispute_and_a_warning(
    served: tuple[str, Prepared], window: Window, request: pytest.FixtureRequest
) -> None:
    prepared, language = served[1], request.node.callspec.params["window"]
    while len((shown := to_translation(prepared, prepared.boss.id, kind="group")).group.members) < 3:
        judge(prepared.engine, prepared.boss.id, shown.id, "holds")
    window.log_in("boss")
    until(lambda: window.all(".stAlert"))
    window.picture(f"translation-warning-{language}")
    window.driver.get(f"{served[0]}/annotate")
    until(lambda: len(titles(window)) == 3)
    assert spoken(window) == ["en", "en", "fr"]
    window.picture(f"translation-group-{language}")
