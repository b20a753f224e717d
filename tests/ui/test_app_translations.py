"""Translations in the app: languages are named, texts say theirs, and nothing of a system is shown before it may be."""

import re

import pytest
from app_driver import Prepared, blocks, closed, in_both, open_app, press_answer, rows, said
from translation_driver import prepare_translations, to_translation
from translations import SPANISH, TEXTS

from audit.judging.words import guideline_of
from audit.messages import LANGUAGES
from audit.store import tables
from audit.tasks import Input, wording
from audit.ui.language import html, name_in, text_in
from audit.ui.question import counterpart

pytestmark = pytest.mark.usefixtures("no_waiting")
NAMES = {"en": ("English", "Spanish", "French"), "zh": ("英语", "西班牙语", "法语")}


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Prepared:
    return closed(prepare_translations(tmp_path_factory.mktemp("translations"), groups=20))


def body(app) -> str:
    """The page's HTML without its style sheet."""
    return re.sub(r"<style>.*?</style>", "", blocks(app), flags=re.DOTALL)


def headings(page: str) -> list[str]:
    """Names of the parts, as they are read."""
    return re.findall(r"<h3>(.*?)</h3>", page)


def codes(page: str) -> list[str]:
    """Languages of the texts, in their order."""
    return re.findall(r'class="audit-text[^"]*" lang="([^"]*)"', page)


def titled(language: str, key: str, *names: str, **values: str) -> str:
    """A heading as the app writes it: with the name of a language, or with two of a direction."""
    what = names[0] if len(names) == 1 else text_in(language, "asked.direction", source=names[0], target=names[1])
    return text_in(language, "asked.in_language", name=text_in(language, key, **values), language=what)


@pytest.mark.slow
@in_both
def test_a_question_names_both_languages_and_no_system(prepared: Prepared, language: str) -> None:
    shown = to_translation(prepared, prepared.ann.id, TEXTS[2])
    app = open_app(prepared.ann, language)
    page = body(app)
    english, spanish, _ = NAMES[language]
    assert text_in(language, "task.translation.question") in page
    assert headings(page) == [
        titled(language, "asked.text", english),
        titled(language, "task.translation.output", spanish),
    ]
    assert codes(page) == ["en", "es"]
    assert page.index(html(TEXTS[2])) < page.index(html(SPANISH[2]))
    assert "<b>" not in page
    assert not re.search("<ins>|<del>|<mark", page)
    guideline = guideline_of("translation", "pair", language).text
    sent = page + said(app).replace(guideline, "") + str(app.session_state)
    assert not re.search(r"\b(one|two|satisfied)\b", sent)
    assert [button.label for button in app.button if str(button.key).startswith("judge-")] == [
        wording("translation", language).labels[label] for label in (*shown.labels, "unsure")
    ]
    assert text_in(language, "label.translation.omitted_or_added") in said(app)
    press_answer(app, "mistranslated")
    assert rows(prepared, tables.Judgement)[-1]["answer"] == "mistranslated"


@pytest.mark.parametrize(
    ("task_input", "other", "expected"),
    [
        (Input.of("b", target="es"), Input.of("a", target="fr"), "a"),
        (Input.of("b", language="es", target="en"), Input.of("a", target="es"), None),
        (Input.of("b"), None, None),
        (Input.of("b", "c"), Input.of("a"), "a"),
    ],
)
def test_texts_are_compared_in_one_language_only(task_input: Input, other: Input | None, expected: str | None) -> None:
    assert counterpart(task_input, other, 0) == (None if expected is None else (expected, False))
    assert counterpart(task_input, other, 1) is None


@pytest.mark.parametrize("reader", LANGUAGES)
def test_names_of_languages_are_those_of_cldr(reader: str) -> None:
    babel = pytest.importorskip("babel", reason="babel is not installed")
    cldr_names = babel.Locale(reader).languages
    assert name_in(reader, "pt-BR") == babel.Locale.parse("pt_BR").get_display_name(reader)
    assert name_in(reader, "yi") == cldr_names["yi"]
