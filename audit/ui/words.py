"""The page *Words*: what annotators read about a task of this database. For managers, who change it in a form."""

from itertools import cycle
from typing import Any

import streamlit as st
from sqlalchemy import Connection, Engine, select
from sqlalchemy.sql import union

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
    stored_words,
)
from audit.messages import LANGUAGES
from audit.store import reading
from audit.store.core import question, study
from audit.studies.uploads import uploaded_here
from audit.studies.versions import all_versions
from audit.tasks import get_task, wording
from audit.tasks.words import ANY, OwnWords
from audit.ui import session
from audit.ui.language import language, single_choice, t, task_name, words_here

ROLES = ("manager",)


def page() -> None:
    """A task, a language of readers, and the form with the words that were set; what is empty is in audit's words."""
    engine, account = session.enter(*ROLES)
    st.header(t("menu.words"))
    st.write(t("words.what"))
    session.show_last()
    uploaded = [corpus.task for corpus in uploaded_here(engine).values()]
    with reading(engine) as connection:
        tasks = _tasks(connection, uploaded)
        left, right = st.columns(2)
        with left:
            task_names = {task: task_name(task) for task in tasks}
            task = st.selectbox(t("words.task"), tasks, format_func=task_names.__getitem__, key="words-task")
        with right:
            names = {ANY: t("words.every_language"), **LANGUAGES}
            code = single_choice(t("words.language"), names, "words-language")
        stored, answers = stored_words(connection, task), answers_under(connection, task)
    version = guideline_of(task, get_task(task).question_kind, own=words_here().of(task)).version
    key = "words.version" if stored.version else "words.shipped"
    st.caption(t(key, version=stored.version, guideline=version))
    _form(engine, account.id, task, code, stored, answers)


def _tasks(connection: Connection, uploaded: list[str]) -> list[str]:
    """The tasks of studies, questions, plans and uploaded texts that can be given words; else the one that plans begin
    with: words are best set before the first question is asked."""
    asked = connection.execute(union(select(study.c.task), select(question.c.task))).scalars().all()
    planned = [version.content["study"]["task"] for history in all_versions(connection).values() for version in history]
    return sorted(task for task in {*asked, *planned, *uploaded} if has_words(task)) or ["sentiment"]


def _form(engine: Engine, account_id: int, task: str, code: str, stored: WordsVersion, answers: int) -> None:
    """The form of one task in one language, or for all of them; beside each field stands what is said without it."""
    now, place = stored.content.get(code, {}), f"{task}-{code}-{stored.version}"
    shown = wording(task, code or language(), OwnWords(subject=words_here().of(task).subject))

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
        own = set_words(engine, task, written if code == ANY else {code: written}, by=account_id, change=change)
        if own.version == stored.version:
            session.done(t("words.unchanged"))
        version = guideline_of(task, get_task(task).question_kind, own=own).version
        session.done(t("words.stored", guideline=version))
