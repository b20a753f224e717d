"""A plug-in's task in the app: its question, guideline and words, general ones without, a note where it is absent."""

from collections.abc import Iterator
from dataclasses import replace

import pytest
from app_driver import Prepared, blocks, go, open_app, rows, said
from plugged import plugged, registries_kept
from plugin_driver import prepare_inference

from audit import registry
from audit.annotation.queue import next_question
from audit.store import open_store, tables

pytestmark = pytest.mark.usefixtures("no_waiting")


@pytest.fixture
def inference(tmp_path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Prepared]:
    with plugged():
        monkeypatch.setenv("AUDIT_DB", str(tmp_path / "audit.db"))
        yield prepare_inference(tmp_path / "audit.db")


def answers(app) -> list[str]:
    return [one.label for one in app.button if str(one.key).startswith("judge-")]


def test_a_plugins_task_brings_its_words(inference: Prepared) -> None:
    app = open_app(inference.ann)
    shown = next_question(inference.engine, inference.ann.id)
    assert shown is not None
    page = blocks(app)
    for words in ("Does the hypothesis follow from the premise?", "<h3>Premise</h3>", "<h3>Hypothesis</h3>"):
        assert words in page
    assert answers(app)[:3] == ["It follows", "Neither", "It is ruled out"]
    app.button(key=f"guideline-{shown.id}").click().run()
    assert "Use only the premise" in said(app)
    assert "**It follows**" in said(app)
    app.button(key=f"judge-{shown.id}-entailed").click().run()
    assert not app.exception
    assert rows(inference, tables.Judgement)[-1]["answer"] == "entailed"


def test_in_another_language_what_is_there_is_shown(inference: Prepared) -> None:
    page = blocks(open_app(inference.ann, "zh"))
    assert "能否从前提推出假设？" in page
    assert "<h3>前提</h3>" in page


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_task_without_words_is_asked_about_all_the_same(inference: Prepared, language: str) -> None:
    registry.tasks.register("entailment", replace(registry.tasks.get("entailment"), wordings={}), replace=True)
    app = open_app(inference.ann, language)
    shown = next_question(inference.engine, inference.ann.id)
    assert shown is not None
    assert "Does the hypothesis follow from the premise?" in blocks(app)
    assert answers(app)[:3] == ["entailed", "neutral", "contradicted"]
    app.button(key=f"guideline-{shown.id}").click().run()
    assert not app.exception
    assert "- **contradicted**" in said(app)


@pytest.mark.parametrize("place", ["results", "dashboard", "studies", "browse"])
def test_managers_see_it(inference: Prepared, place: str) -> None:
    app = open_app(inference.boss)
    go(app, place)
    assert not app.exception
    assert "plug-in" not in said(app)


def test_without_the_plugin_the_app_says_so(tmp_path, inference: Prepared, monkeypatch: pytest.MonkeyPatch) -> None:
    with registries_kept():
        for kind, name in ((registry.tasks, "entailment"), (registry.relations, "entailment/NLI1.1")):
            kind.unregister(name)
        open_store(str(inference.path)).dispose()  # as the app of another process does
        app = open_app(inference.boss)
        assert not app.exception
        assert "comes from the plug-in audit" in said(app).replace("\\", "")
        app = open_app(inference.ann)
        assert not app.exception
