"""Making answers stale after the guideline or the labels changed. For managers, who choose, preview and confirm."""

import streamlit as st
from sqlalchemy import Engine

from audit.errors import AuditError
from audit.judging.accounts import Account
from audit.judging.staleness import Choice, Stale, Tally, mark_stale, preview_stale, stale_counts
from audit.judging.words import ELSEWHERE, guideline_of
from audit.ui import session
from audit.ui.language import label_name, t, task_name, words_here
from audit.ui.question import FIELD

ROLES = ("manager",)
_PREVIEWED = "stale-seen"
"""(choice, numbers of its preview): a confirmation is for these numbers only."""


def page() -> None:
    """The answers in force, the form that chooses among them, the preview, and the button that makes them stale."""
    engine, account = session.enter(*ROLES)
    st.header(t("stale.title"))
    st.write(t("stale.what"))
    session.show_last()
    tallies = stale_counts(engine, account.id)
    if not tallies:
        st.info(t("stale.none"))
        return
    st.write(f"**{t('stale.now')}**")
    st.dataframe([_row(tally) for tally in tallies], hide_index=True)
    choice = _choice_form(tallies)
    if choice is not None:
        st.session_state[_PREVIEWED] = (choice, _numbers(preview_stale(engine, choice, account.id)))
    if _PREVIEWED in st.session_state:
        _preview(engine, account)


def _row(tally: Tally) -> dict[str, object]:
    labels = "|".join(label_name(label, tally.task) for label in tally.label.split("|"))
    version = t("stale.elsewhere") if tally.guideline == ELSEWHERE else tally.guideline or t("stale.not_noted")
    return {
        t("stale.answers"): tally.number,
        t("stale.which"): t("stale.which_name", task=task_name(tally.task), kind=t(f"stale_kind.{tally.kind}")),
        t("stale.what_column"): t(f"stale.{tally.what}"),
        t("annotate.guideline"): str(version),
        t("stale.labels_column"): labels if tally.known else t("stale.gone", label=labels),
    }


def _choice_form(tallies: list[Tally]) -> Choice | None:
    """The form; returns its choice in the run in which it is submitted, else None."""
    question_kinds = sorted({(tally.task, tally.kind) for tally in tallies})
    questions: dict[tuple[str, str] | None, str] = {None: t("stale.any")}
    questions.update(
        ((task, kind), t("stale.which_name", task=task_name(task), kind=t(f"stale_kind.{kind}")))
        for task, kind in question_kinds
    )
    labels: dict[str, str] = {}
    for label, of_task in sorted({(label, tally.task) for tally in tallies for label in tally.label.split("|")}):
        name = label_name(label, of_task)  # one label may read otherwise in each task
        labels[label] = name if labels.get(label, name) == name else f"{labels[label]} / {name}"
    # Usually the answers below the version in force are chosen, so it stands first.
    versions = sorted(
        {_version_in_force(task, kind) for task, kind in question_kinds} | {tally.guideline or 1 for tally in tallies}
    )
    version_names: dict[int | None, str] = {None: t("stale.any_version")}
    version_names.update((version, str(version)) for version in reversed(versions) if version > 1)
    with st.form("stale"):
        st.write(f"**{t('stale.choose')}**")
        question_kind = st.selectbox(t("stale.which"), list(questions), format_func=questions.__getitem__)
        below = st.selectbox(t("stale.below"), list(version_names), format_func=version_names.__getitem__)
        selected_labels = st.multiselect(
            t("stale.labels"), list(labels), format_func=labels.__getitem__, placeholder=t("studies.choose")
        )
        adjudications = st.checkbox(t("stale.adjudications"))
        if not st.form_submit_button(t("stale.preview")):
            return None
    st.session_state.pop(_PREVIEWED, None)  # of another choice
    task, kind = question_kind or (None, None)
    return Choice(task, kind, below, tuple(selected_labels), adjudications)


def _version_in_force(task: str, kind: str) -> int:
    try:
        return guideline_of(task, kind, own=words_here().of(task)).version
    except AuditError:
        return 1


def _preview(engine: Engine, account: Account) -> None:
    choice, previewed = st.session_state[_PREVIEWED]
    stale = preview_stale(engine, choice, account.id)
    st.write(t("stale.would", **_numbers(stale)))
    if not stale.questions:
        return
    with st.form("stale-go"):
        reason = st.text_area(t("stale.reason"), max_chars=FIELD, height=80)
        confirmed = st.checkbox(t("stale.confirm"))
        if not st.form_submit_button(t("stale.go"), type="primary"):
            return
    if not confirmed:
        st.warning(t("stale.need_confirm"), icon=":material/info:")
        return
    if _numbers(stale) != previewed:
        st.session_state[_PREVIEWED] = (choice, _numbers(stale))
        st.warning(t("stale.changed"), icon=":material/info:")
        return
    with session.changing(engine, account.id):
        let_go = mark_stale(engine, account.id, choice, reason, client=session.client())
        del st.session_state[_PREVIEWED]
        session.done(t("stale.went", **_numbers(let_go)))


def _numbers(stale: Stale) -> dict[str, int]:
    return {name: getattr(stale, name) for name in ("judgements", "people", "adjudications", "questions")}
