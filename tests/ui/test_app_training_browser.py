"""Training by keys in a real Chromium, in both languages; and that a hidden question looks like the others there."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from app_driver import Prepared, prepare
from browser_driver import Window, streamlit_server, until
from sqlalchemy import select

from audit.annotation.control_questions import KnownText, add_known
from audit.annotation.settings import change_settings
from audit.store import table_of, tables
from audit.tasks import Input, wording
from audit.ui.language import text_in

pytestmark = pytest.mark.browser
KEYS = {"positive": "1", "neutral": "2", "negative": "3"}
RIGHT = {
    "A masterpiece, if you enjoy watching paint dry.": ("negative", "Irony: the opposite is meant."),
    "The film follows two sisters through one summer.": ("neutral", "Only facts."),
    "Slow at times, but always charming.": ("positive", "What weighs comes after *but*."),
}


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Prepared]]:
    """An app with a training round."""
    prepared = prepare(tmp_path_factory.mktemp("training") / "audit.db")
    items = [KnownText(Input.of(text), (label,), why) for text, (label, why) in RIGHT.items()]
    add_known(prepared.engine, "training", items)
    add_known(prepared.engine, "gold", [KnownText(Input.of(f"A known film {n}."), ("neutral",)) for n in range(30)])
    change_settings(prepared.engine, None, {"pass_mark": 0.6, "gold_share": 0.5})
    with streamlit_server(prepared) as served:
        yield served


def passes(prepared: Prepared, account: int) -> list[int]:
    judgement = table_of(tables.Judgement)
    with prepared.engine.connect() as connection:
        query = select(judgement.c.round).where(judgement.c.annotator_id == account).order_by(judgement.c.id)
        return list(connection.execute(query).scalars())


def attempt(window: Window, language: str, right: int) -> None:
    """One attempt by keys alone, with so many right answers."""
    window.press("n")
    for number in range(3):
        progress = text_in(language, "training.progress", number=number + 1, of=3, right=min(number, right))
        window.see(progress)
        text = until(window.question)
        label = RIGHT[text][0]
        said = label if number < right else "positive" if label == "negative" else "negative"
        if number == 1:
            window.picture(f"training-question-{language}")
        window.press(KEYS[said])
        names = {key: wording("sentiment", language).labels[key] for key in KEYS}
        if number < right:
            window.see(text_in(language, "training.right", answer=names[label]))
        else:
            window.see(text_in(language, "training.wrong", answer=names[said], right=names[label]))
            window.picture(f"training-wrong-{language}")
        window.see(RIGHT[text][1])
        if number == 0:
            window.hold("1", 0.5)  # a held answer key neither answers the next question nor goes on
            assert progress not in window.text()
            window.see(RIGHT[text][1])
        window.press("n")


@pytest.mark.parametrize("language", ["en", "zh"])
def test_training_by_keys(served: tuple[str, Prepared], tmp_path: Path, language: str) -> None:
    address, prepared = served
    account, name = {"en": (prepared.ann, "ann"), "zh": (prepared.ben, "ben")}[language]
    with Window(address, tmp_path / "profile", language) as window:
        window.log_in(name)
        window.see(text_in(language, "training.what", questions=3, mark="60"))
        window.picture(f"training-begin-{language}")
        attempt(window, language, right=1)
        window.see(text_in(language, "training.failed", right=1, of=3))
        window.picture(f"training-failed-{language}")
        attempt(window, language, right=2)
        window.see(text_in(language, "training.passed", right=2, of=3))
        window.picture(f"training-passed-{language}")
        assert passes(prepared, account.id) == [0] * 6
        window.press("n")
        until(window.question)
        for _ in range(8):
            page = str(window.script("return document.querySelector('.st-key-judge').outerHTML"))
            assert not [id for id in _ids(prepared) if f"judge-{id}-" in page]
            window.judge("2")
        window.picture(f"training-judging-{language}")
        later_passes = passes(prepared, account.id)[6:]
        assert len(later_passes) == 8
        assert set(later_passes) == {1, 3}


def _ids(prepared: Prepared) -> list[int]:
    with prepared.engine.connect() as connection:
        return list(connection.execute(select(table_of(tables.Question).c.id)).scalars())
