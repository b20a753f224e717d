"""Translations in the app: languages are named, texts say theirs, and nothing of a system is shown before it may be."""

import re
import sys

import pytest
from app_driver import Prepared, blocks, closed, go, in_both, open_app, press_answer, rows, said
from sqlalchemy import select
from translation_driver import both_say, prepare_translations, to_translation
from translations import FRENCH, SPANISH, TEXTS

from audit.annotation.accounts import add_account
from audit.annotation.control_questions import add_settled_questions
from audit.annotation.guidelines import guideline_of
from audit.annotation.queue import next_question
from audit.annotation.settings import change_settings
from audit.false_satisfaction.browse import Detail, Part, Side
from audit.judging.deferral import flag
from audit.judging.judgements import judge
from audit.messages import LANGUAGES
from audit.store import table_of, tables
from audit.tasks import Input, Output, wording
from audit.text import languages
from audit.ui import quality
from audit.ui.browse import members
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


def test_long_texts_stand_side_by_side_and_short_ones_do_not(prepared: Prepared) -> None:
    to_translation(prepared, prepared.ann.id, TEXTS[3][:30])
    assert "audit-beside" in body(open_app(prepared.ann))
    to_translation(prepared, prepared.ben.id, TEXTS[0])
    assert "audit-beside" not in body(open_app(prepared.ben))


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


@in_both
def test_a_dispute_is_shown_and_settled(prepared: Prepared, language: str) -> None:
    question = both_say(prepared, TEXTS[0], "accurate", "mistranslated")
    app = go(open_app(prepared.judge, language), "adjudicate")
    page = body(app)
    english, spanish, _ = NAMES[language]
    assert titled(language, "asked.text", english) in headings(page)
    assert titled(language, "task.translation.output", spanish) in headings(page)
    assert text_in(language, "label.translation.mistranslated") in page
    app.button(key=f"allow-{question}-not_fluent").click().run()
    app.text_area(key=f"words-allow-{question}").set_value("Clumsy, but right.")
    app.button(key=f"settle-{question}").click().run()
    assert not app.exception
    settled = {(row["question_id"], row["origin"]): row["allowed"] for row in rows(prepared, tables.Answer)}
    assert settled[question, "adjudicated"] == ["not_fluent"]
    app.session_state["adjudicate-mode"] = "mine"
    own_adjudications = body(go(app, "adjudicate"))
    direction = text_in(language, "asked.direction", source=english, target=spanish)
    assert f" · {direction} · " in own_adjudications


@in_both
def test_a_flagged_translation_reaches_an_adjudicator(prepared: Prepared, language: str) -> None:
    shown = to_translation(prepared, prepared.ann.id, TEXTS[1])
    flag(prepared.engine, prepared.ann.id, shown.id, "Is this Spanish?")
    app = open_app(prepared.judge, language)
    app.session_state["adjudicate-mode"] = "flags"
    page = body(go(app, "adjudicate"))
    assert "Is this Spanish?" in page + said(app)
    assert titled(language, "task.translation.output", NAMES[language][1]) in headings(page)


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
def test_causes_show_the_links_of_a_false_satisfaction(prepared: Prepared, language: str) -> None:
    both_say(prepared, TEXTS[1], "untranslated", "untranslated")
    app = open_app(prepared.boss, language)  # other outputs of the text are open: an adjudicator must not see it yet
    app.session_state["adjudicate-mode"] = "causes"
    page = body(go(app, "adjudicate"))
    english, spanish, _ = NAMES[language]
    assert titled(language, "role_of.link", spanish, english) in headings(page)


@in_both
def test_training_teaches_a_translation(prepared: Prepared, language: str) -> None:
    question = both_say(prepared, TEXTS[0], "accurate", "accurate")
    add_settled_questions(prepared.engine, "training", [question], "See the guideline.", by=prepared.boss.id)
    change_settings(prepared.engine, prepared.boss.id, {"pass_mark": 0.5})
    new = add_account(prepared.engine, "new", "annotator", "long enough", languages=["es", "en"])
    app = open_app(new, language)
    app.button(key="training-begin-1").click().run()
    page = body(app)
    assert titled(language, "task.translation.output", NAMES[language][1]) in headings(page)
    press_training(app, "mistranslated")
    assert text_in(language, "label.translation.accurate") in said(app)
    assert titled(language, "task.translation.output", NAMES[language][1]) in headings(body(app))
    quality = go(open_app(prepared.boss, language), "quality")
    assert not quality.exception
    # Who does not read Spanish is not trained in it, and goes on to what they read.
    other = add_account(prepared.engine, "fra", "annotator", "long enough", languages=["fr", "en"])
    assert next_question(prepared.engine, other.id).languages == ("en", "fr")


def press_training(app, answer: str) -> None:
    """Press an answer of the training."""
    next(
        button for button in app.button if str(button.key).startswith("judge-training") and answer in str(button.key)
    ).click()
    app.run()
    assert not app.exception


def test_the_list_of_known_questions_says_the_direction(prepared: Prepared) -> None:
    question = both_say(prepared, TEXTS[0], "accurate", "accurate")
    add_settled_questions(prepared.engine, "gold", [question], by=prepared.boss.id)
    app = open_app(prepared.boss)
    app.session_state["quality-mode"] = "known"
    app = go(app, "quality")
    column = app.dataframe[0].value[text_in("en", "known.text")]
    assert list(column) == [f"{TEXTS[0]} | {SPANISH[0]} (English → Spanish)"]


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


def test_contradicting_translations_are_compared_by_language(monkeypatch: pytest.MonkeyPatch) -> None:
    source = Side(1, (TEXTS[0],), ("en", "es"), SPANISH[0], ("accurate",), "people", False)
    follow = Side(2, (SPANISH[0],), ("es", "en"), TEXTS[0], ("mistranslated",), "people", False)
    sent: list[str] = []
    monkeypatch.setattr(quality.st, "html", sent.append)
    quality._show_side("Follow-up", "translation", follow, source)
    assert headings(sent[0]) == ["Follow-up (Spanish → English)"]
    assert codes(sent[0]) == ["es", "en"]
    assert not re.search("<ins>|<del>|<mark", sent[0])


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


def test_a_language_that_nobody_knows_is_its_code(monkeypatch: pytest.MonkeyPatch) -> None:
    assert name_in("en", "x-y") == "x-y"
    languages.display_name.cache_clear()
    monkeypatch.setitem(sys.modules, "babel", None)  # as where it is not installed
    assert name_in("zh", "yi") == "yi"
    languages.display_name.cache_clear()


def test_browse_leaves_out_probes_that_found_nothing_or_became_links() -> None:
    through, around = Input.of("It rains.", target="fr"), Input.of("It rains.", target="ca")
    parts = (
        Part("source", Input.of("It rains.", target="es"), Output(text="Llueve."), (), "", None),
        Part("probe", Input.of("It rains.", target="ja"), Output(), (), "", None),
        Part("probe", through, Output(text="Il pleut."), (), "", None),
        Part("probe", around, Output(text="Plou."), (), "", None),
        Part("link", through, Output(text="Il pleut."), (), "", None),
    )
    group = Detail("c", "translation", "MCMT", "s", "1", "1", "satisfied", 0.5, None, parts, None, "")
    for probes, texts_shown in ((True, ["Llueve.", "Plou.", "Il pleut."]), (False, ["Llueve.", "Il pleut."])):
        assert [text in block for text, block in zip(texts_shown, members(group, probes), strict=True)] == [
            True for _ in texts_shown
        ]
