"""The app's texts in the language of its user: `t("annotate.undo")`. They are written in data/messages."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from html import escape
from typing import Any, Literal, TypeVar

import streamlit as st

from audit.judging.words import DatabaseWords
from audit.messages import LANGUAGES, catalogue, phrase, said
from audit.relations.composition import summary_from
from audit.resources import data_file
from audit.tasks import Input, Wording, in_text, wording
from audit.text.differences import AFTER, BEFORE, Kind, differences
from audit.text.languages import display_name
from audit.ui.settings import LANGUAGE

_STATE = "language"
_BROWSER = "language-of-browser"
_WORDS = "words"
_WIDGET = "language-switch"


def language() -> str:
    """The code of this session's language: the one chosen here or when logging in, or else Chinese for a Chinese
    browser, or else English."""
    chosen = st.session_state.get(_STATE)
    return str(chosen if chosen in LANGUAGES else st.session_state.get(_BROWSER) or _of_browser())


def ask_browser() -> None:
    """Remember the browser's language for this run of the script: each access to its cookies parses them again."""
    st.session_state[_BROWSER] = _of_browser()


def _of_browser() -> str:
    chosen = st.context.cookies.get(LANGUAGE)
    if chosen in LANGUAGES:
        return str(chosen)
    return "zh" if str(st.context.locale or "").lower().startswith("zh") else "en"


def t(key: str, **values: object) -> str:
    """The text of this key in this session's language, with its values filled in."""
    return text_in(language(), key, **values)


def text_in(code: str, key: str, **values: object) -> str:
    """The text of this key in the language `code`.

    >>> text_in("en", "dispute.count", count=1)
    'One question on which people disagree'
    """
    return phrase(code, key, **values)


def translated(sentence: str) -> str:
    """A sentence of another room (a refusal, a note of a report) in this session's language; as it is where it is no
    message of the catalogue."""
    return said(sentence, language())


def remember_words(words: DatabaseWords) -> None:
    """Keep the words of the database's tasks for this run of the script; each run reads them anew."""
    st.session_state[_WORDS] = words


def words_here() -> DatabaseWords:
    """The words of the database's tasks, as this run of the script read them."""
    return st.session_state.get(_WORDS) or DatabaseWords()


def task_wording(task: str, study_id: int | None = None) -> Wording:
    """What people read about a task (of a study) in this session's language, whoever brings it or set its words."""
    return words_here().wording(task, language(), study_id)


def corpus_wording(task: str, corpus: str) -> Wording:
    """What people read about a task with the texts of a corpus, in this session's language."""
    return wording(task, language(), words_here().of_corpus(task, corpus))


def label_name(label: str, task: str, texts: Sequence[str] = (), study_id: int | None = None) -> str:
    """How a label of a task (of a study) reads in this session's language, beside the texts that it is about where
    these are here; one that the task does not have, as it is.

    It is text, not Markdown: `audit.ui.language.plain` where a button or a message shows it.
    """
    return in_text(label, task, texts, language(), words_here().of(task, study_id))


def output_words(output: str, task: str) -> str:
    """An output of a task as people read it: a code such as "unanswerable" in words, any other as it is."""
    return task_wording(task).outputs.get(output, output)


def label_names(labels: Iterable[str], task: str, texts: Sequence[str] = ()) -> str:
    """Allowed labels in this session's language, with "or" between them."""
    return t("browse.or").join(label_name(label, task, texts) for label in labels)


def task_name(task: str) -> str:
    """A task in this session's language, with its label scheme where it has one."""
    scheme = task.partition("/")[2]
    return in_language(task_wording(task).name, scheme)


def language_name(code: str) -> str:
    """A language in this session's language, Spanish or 西班牙语; the code itself where it has no name there."""
    return display_name(code, language()) or code


def direction(task_input: Input) -> str:
    """The languages from and into which an input is translated; empty where the task is not translation."""
    if task_input.target is None:
        return ""
    return t("asked.direction", source=language_name(task_input.languages[0]), target=language_name(task_input.target))


def in_language(name: str, languages: str) -> str:
    """A name followed by a language, or by what else it needs, as in Text (English); alone where that is empty."""
    return t("asked.in_language", name=name, language=languages) if languages else name


def summary(task: str, relation: str, english: str) -> str:
    """A relation's summary in this session's language where the catalogue has it; else that of its docstring."""
    return summary_from(catalogue(language()), task, relation, english) if english else ""


def language_switch() -> None:
    """The control that changes the language of this session."""

    def change() -> None:
        st.session_state[_STATE] = st.session_state[_WIDGET]

    st.segmented_control(
        t("app.language"), list(LANGUAGES), default=language(), required=True, format_func=LANGUAGES.__getitem__,
        key=_WIDGET, on_change=change, label_visibility="collapsed",
    )  # fmt: skip


# Showing texts literally: whatever a corpus, a system or a person wrote is data, never Markdown or HTML.

_COMMAND = re.compile(r"(`(?:audit |--)[a-z0-9 .-]+`)")
_MARKS = re.compile(r"([\\`*_{}\[\]()#+\-.!|~$:<>&@/])")


def plain(text: str) -> str:
    """Markdown that shows the text as it is; for messages and labels that quote somebody.

    >>> plain("**a** :smile:")
    '\\\\*\\\\*a\\\\*\\\\* \\\\:smile\\\\:'
    """
    return _MARKS.sub(r"\\\1", _valid(text))


def with_commands(text: str) -> str:
    """As `plain`, but a command or option of ours in backticks is shown as one.

    >>> with_commands("*see* `audit gold`, `x`")
    '\\\\*see\\\\* `audit gold`, \\\\`x\\\\`'
    """
    return "".join(part if index % 2 else plain(part) for index, part in enumerate(_COMMAND.split(text)))


def html(text: str) -> str:
    """HTML that shows the text as it is; for `st.html`, which interprets nothing but HTML and sanitises that.

    >>> html("<b>")
    '&lt;b&gt;'
    """
    return escape(_valid(text))


def sentence(text: str) -> str:
    """A text with a capital letter and a full stop: errors are written without them.

    >>> sentence("choose at least one label"), sentence("请至少选择一个标签")
    ('Choose at least one label.', '请至少选择一个标签。')
    """
    stop = "。" if text[-1:] > "\u2e80" or set(text) & set("，；：、") else "."
    return text[:1].upper() + text[1:] + ("" if text[-1:] in ".!?。！？" else stop)


def text_html(text: str, language: str, extra: str = "") -> str:
    """A text to be read, as an HTML block that scrolls when it is long."""
    return _block(html(text), language, extra)


_MARKS_OF = {
    Kind.ADDED: ("<ins>", "</ins>"),
    Kind.LEFT_OUT: ("<del>", "</del>"),
    Kind.MOVED: ('<mark class="audit-moved">', "</mark>"),
    Kind.MOVED_AWAY: ('<mark class="audit-moved">', "</mark>"),
}
"""How a piece that differs is marked: as added or left out for those who hear the page, too; by lines and not by colour
alone for those who see it (`style.css`)."""
Side = Literal["before", "after", "both"]
SIDES: dict[Side, frozenset[Kind]] = {"after": AFTER, "before": BEFORE, "both": AFTER | {Kind.LEFT_OUT}}
"""What `difference_html` shows of two texts: the one after, the one before, or the one after with what was left out
standing in its place, struck through."""


def difference_html(
    before: str, after: str, language: str, side: Side = "after", moved: bool = False, size: str = ""
) -> str:
    """A side of two texts as an HTML block in which what differs is marked (`SIDES`). With `moved`, the whole text came
    from another place."""
    parts = []
    for piece in differences(_valid(before), _valid(after), language):
        kind = Kind.MOVED if moved and piece.kind is Kind.SAME else piece.kind
        if piece.kind not in SIDES[side]:
            continue
        if kind is Kind.LEFT_OUT and side == "both":  # no letter of it is one of the text
            parts.append("" if piece.text.isspace() else f"<del>{escape(piece.text)}</del>")
        else:
            parts.append(_marked(piece.text, kind))
    return _block("".join(parts), language, f"{size} audit-both".strip() if side == "both" else size)


def _marked(text: str, kind: Kind) -> str:
    """A piece as HTML; the spaces around it are not marked."""
    inside = text.strip()
    if kind is Kind.SAME or not inside:
        return escape(text)
    start = text.index(inside)
    begin, end = _MARKS_OF[kind]
    return f"{escape(text[:start])}{begin}{escape(inside)}{end}{escape(text[start + len(inside) :])}"


def _block(content: str, language: str, extra: str) -> str:
    kinds = f"audit-text {extra}".strip()
    return f'<div class="{kinds}" lang="{escape(language)}" dir="auto" tabindex="0">{content}</div>'


def _valid(text: str) -> str:
    """The text without lone surrogates, which cannot be sent to a browser."""
    return text.encode("utf-8", "replace").decode("utf-8")


# Controls that choose one of a few options side by side.

T = TypeVar("T")


def single_choice(label: str, names: Mapping[T, str], key: str, default: T | None = None, **more: Any) -> T:
    """A control that chooses one of `names`, shown by their names; at first `default`, or else the first of them.

    Exactly one is chosen at any time. `more` are further parameters of `st.segmented_control`.
    """
    chosen: T = st.segmented_control(
        label, list(names), default=next(iter(names)) if default is None else default, required=True,
        format_func=names.__getitem__, key=key, **more,
    )  # fmt: skip
    return chosen


def press(label: str, key: str, action: Callable[..., Any], *args: object, **more: Any) -> None:
    """A button that calls `action` with these arguments; `more` are further parameters of `st.button`."""
    st.button(label, key=key, on_click=action, args=args, **more)


# The page itself: its language, for screen readers and for the choice of Chinese letters, what Streamlit says on it in
# English whatever stands there, and reading by keys. No function of Streamlit's does any of this.


def set_page_language() -> None:
    """Set the language of the HTML page to that of this session, and let keys read the page."""
    data = {
        "language": {"zh": "zh-Hans"}.get(language(), language()),
        "words": {name: t(f"page.{name}") for name in ("gone", "reload")},
        "streamlit": streamlit_words(language()),
    }
    component("page")(key="page-language", data=data)
    component("reading")(
        key="reading",
        data={"words": {"next": t("page.next"), "difference": t("page.difference", number="NUMBER", count="COUNT")}},
    )


@cache
def streamlit_words(code: str) -> list[tuple[str, str]]:
    """What Streamlit says by itself, as it stands in any other language on the page, and in the language `code`.

    >>> ("Choose an option", "请选择") in streamlit_words("zh"), ("请选择", "Choose an option") in streamlit_words("en")
    (True, True)
    """
    pairs = [(name[10:], chinese) for name, chinese in catalogue("zh").items() if name.startswith("streamlit.")]
    return pairs if code == "zh" else [(chinese, english) for english, chinese in pairs]


@cache
def component(name: str) -> Any:
    """A component of data/ui that has a script alone."""
    script = data_file(f"ui/{name}.js").read_text(encoding="utf-8")
    return st.components.v2.component(f"audit_{name}", js=script)
