"""Translations in the app: languages are named, texts say theirs, and nothing of a system is shown before it may be."""

import re

import pytest
from app_driver import Prepared, blocks, closed, go, in_both, open_app, press_answer, rows, said
from sqlalchemy import select
from translation_driver import both_say, prepare_translations, to_translation
from translations import FRENCH, SPANISH, TEXTS

from audit.annotation.accounts import add_account
from audit.annotation.guidelines import guideline_of
from audit.judging.judgements import judge
from audit.messages import LANGUAGES
from audit.store import table_of, tables
from audit.tasks import Input, wording
from audit.ui.dashboard import TAB
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


@in_both
def test_a_link_is_asked_about_in_its_own_direction(prepared: Prepared, language: str) -> None:
    to_translation(prepared, prepared.ann.id, SPANISH[1], into="en")
    page = body(open_app(prepared.ann, language))
    english, spanish, _ = NAMES[language]
    assert headings(page) == [
        titled(language, "asked.text", spanish),
        titled(language, "task.translation.output", english),
    ]
    assert codes(page) == ["es", "en"]


@in_both
def test_a_question_about_a_group_names_the_direction_of_each_member(prepared: Prepared, language: str) -> None:
    english, spanish, french = NAMES[language]
    while len((shown := to_translation(prepared, prepared.boss.id, kind="group")).group.members) < 3:
        judge(prepared.engine, prepared.boss.id, shown.id, "holds")
    app = go(open_app(prepared.boss, language), "annotate")
    page = body(app)
    assert shown.group.relation == "P"
    assert headings(page) == [
        titled(language, "group.text", english, spanish, letter="A"),
        titled(language, "group.text", english, french, letter="B"),
        titled(language, "group.link", french),
    ]
    assert codes(page) == ["en", "en", "fr"]
    # The text is the same in the follow-up; the French is not compared with it, else each of its words were marked.
    assert not re.search("<ins>|<del>|<mark", page)
    assert not any(text.strip() in page for text in SPANISH)  # no output but those that were made inputs


def in_state(app, language: str, state: str) -> None:
    """Choose the groups of this state: by its place, as names are looked up in the session of the page alone."""
    box = app.selectbox(key="browse-state")
    box.select_index(box.options.index(text_in(language, f"state.{state}"))).run()


@in_both
def test_browse_names_directions_and_compares_only_what_is_in_one_language(prepared: Prepared, language: str) -> None:
    both_say(prepared, TEXTS[1], "mistranslated", "mistranslated")
    english, spanish, french = NAMES[language]
    app = go(open_app(prepared.boss, language), "browse")
    relation = table_of(tables.Relation)
    with prepared.engine.connect() as connection:
        ids = {row.name: row.id for row in connection.execute(select(relation.c.name, relation.c.id))}
    app.selectbox(key="browse-relation").set_value(ids["P"])
    in_state(app, language, "false")
    assert not app.exception
    page = body(app)
    assert headings(page) == [
        titled(language, "role_of.source", english, spanish),
        titled(language, "role_of.follow_up", english, french),
        titled(language, "role_of.link", french, spanish),
    ]
    # Text and output of each member.
    assert codes(page) == ["en", "es", "en", "fr", "fr", "es"]
    assert not re.search("<ins>|<del>|<mark", page)
    assert FRENCH[1] in page
    in_state(app, language, "inapplicable")
    assert text_in(language, "browse.none") in body(app)  # system two has no French
    assert not app.exception


@in_both
def test_the_dashboard_warns_of_languages_that_nobody_reads(prepared: Prepared, language: str) -> None:
    app = open_app(prepared.boss, language)
    app.session_state[TAB] = text_in(language, "dashboard.progress")
    app = go(app, "dashboard")
    assert not app.exception
    english, spanish, french = NAMES[language]
    warned = [warning.value for warning in app.warning]
    # ann and ben read English and Spanish; each of three other sets of languages is told.
    both = text_in(language, "browse.and")
    assert len(warned) == 3
    for names in ((english, french), (french, spanish), (english, spanish, french)):
        assert any(both.join(names) in warning for warning in warned), (names, warned)
    accounts = go(open_app(prepared.boss, language), "accounts")
    assert [warning.value for warning in accounts.warning] == warned
    for name in ("dan", "eve"):
        add_account(prepared.engine, name, "annotator", "long enough", languages=["en", "es", "fr"])
    assert not go(open_app(prepared.boss, language), "accounts").warning


@in_both
@pytest.mark.parametrize("page", ["results", "quality", "stale", "studies", "log", "account"])
def test_other_pages_of_a_study_of_translations(prepared: Prepared, page: str, language: str) -> None:
    both_say(prepared, TEXTS[0], "accurate", "mistranslated")
    assert not go(open_app(prepared.boss, language), page).exception


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
