"""The page *Question and guideline*: what annotators read about some texts. For managers, who change it in a form."""

from collections.abc import Iterable
from itertools import cycle
from typing import Any

import streamlit as st
from sqlalchemy import Connection, Engine, select

from audit.corpora import Corpus, about_of
from audit.judging.words import (
    GUIDELINE,
    LABELS,
    MOST,
    QUESTION,
    WordsVersion,
    answers_under,
    guideline_of,
    has_words,
    labels_that_read,
    set_words,
)
from audit.messages import LANGUAGES
from audit.store import reading
from audit.store.core import study
from audit.studies.uploads import uploaded_here
from audit.studies.versions import all_versions
from audit.tasks import get_task, wording
from audit.tasks.words import ANY, OwnWords
from audit.ui import session
from audit.ui.language import language, single_choice, t, task_name, words_here

ROLES = ("manager",)


def page() -> None:
    """Texts, a language of readers, and the form with the words that were set; what is empty is in audit's words."""
    engine, account = session.enter(*ROLES)
    st.header(t("menu.words"))
    st.write(t("words.what"))
    session.show_last()
    with reading(engine) as connection:
        texts = _texts(connection, uploaded_here(engine).values())
    if not texts:
        st.info(t("words.none"))
        return
    left, right = st.columns(2)
    titles = {(task, corpus): f"{corpus} · {task_name(task)}" for task, corpus in texts}
    task, corpus = left.selectbox(t("form.texts"), texts, format_func=titles.__getitem__, key="words-texts")
    with right:
        names = {ANY: t("words.every_language"), **LANGUAGES}
        code = single_choice(t("words.language"), names, "words-language")
    with reading(engine) as connection:
        answers = answers_under(connection, task, corpus)
    stored, own = words_here().version(task, corpus), words_here().of_corpus(task, corpus)
    version = guideline_of(task, get_task(task).question_kind, own=own).version
    st.caption(t("words.version" if stored.version else "words.shipped", guideline=version))
    _form(engine, account.id, (task, corpus), code, stored, answers)


def _texts(connection: Connection, uploaded: Iterable[Corpus]) -> list[tuple[str, str]]:
    """Return (task, corpus) of studies, plans and uploaded texts that can be given words: they are best set before the
    first question is asked."""
    pairs = {(row.task, row.corpus) for row in connection.execute(select(study.c.task, study.c.corpus))}
    plans = (version.content["study"] for history in all_versions(connection).values() for version in history)
    pairs |= {(plan["task"], plan["corpus"]) for plan in plans} | {(corpus.task, corpus.name) for corpus in uploaded}
    return sorted((task, corpus) for task, corpus in pairs if has_words(task))


def _form(engine: Engine, account_id: int, of: tuple[str, str], code: str, stored: WordsVersion, answers: int) -> None:
    """The form of some texts in one language, or for all of them; beside each field stands what is said without it."""
    task, corpus = of
    now, place = stored.content.get(code, {}), f"{task}-{corpus}-{code}-{stored.version}"
    shown = wording(task, code or language(), OwnWords(subject=about_of(corpus)))

    def given(field: str, usual: str) -> dict[str, Any]:
        key = f"words-{field}-{place}"
        return {"value": now.get(field, ""), "max_chars": MOST[field], "placeholder": usual, "key": key}

    with st.form(f"words-{place}"):
        written: dict[str, Any] = {
            QUESTION: st.text_input(t("words.question"), **given(QUESTION, shown.question)), LABELS: {},
        }  # fmt: skip
        options = labels_that_read(task)
        for label, column in zip(options, cycle(st.columns(min(len(options), 4))), strict=False):
            written[LABELS][label] = column.text_input(
                t("words.label", label=label), now.get(LABELS, {}).get(label, ""), max_chars=MOST[LABELS],
                placeholder=shown.labels[label], key=f"words-label-{place}-{label}",
            )  # fmt: skip
        written[GUIDELINE] = st.text_area(t("words.guideline"), height=280, **given(GUIDELINE, shown.guideline))
        change = st.checkbox(t("words.change", count=answers), key=f"words-change-{place}") if answers else False
        submitted = st.form_submit_button(t("words.store"), type="primary")
    if not submitted:
        return
    if answers and not change:
        st.warning(t("words.tick"), icon=":material/info:")
        return
    with session.changing(engine, account_id):
        of_language = written if code == ANY else {code: written}
        own = set_words(engine, task, corpus, of_language, by=account_id, change=change)
        if own.version == stored.version:
            session.done(t("words.unchanged"))
        version = guideline_of(task, get_task(task).question_kind, own=own).version
        session.done(t("words.stored", guideline=version))
