"""Letting answers go stale after guideline or labels changed: for managers, who choose, look, and confirm."""

import streamlit as st
from sqlalchemy import Engine

from audit.annotation.accounts import Account
from audit.annotation.guidelines import ELSEWHERE, guideline_of
from audit.errors import AuditError
from audit.judging.staleness import Choice, Stale, Tally, affected_groups, mark_stale, preview_stale, stale_counts
from audit.ui import session
from audit.ui.language import label_name, t, task_name
from audit.ui.question import FIELD

ROLES = ("manager",)
_DONE = "stale-done"
_SEEN = "stale-seen"
"""(choice, numbers of its preview): what is confirmed is what was looked at."""


def page() -> None:
    """What counts now, the form that chooses, the preview, and the button that does it."""
    engine = session.engine()
    account = session.allowed(engine, *ROLES)
    st.subheader(t("stale.title"))
    st.write(t("stale.what"))
    if done := st.session_state.pop(_DONE, None):
        st.success(t("stale.went", **done), icon=":material/check:")
    tallies = stale_counts(engine, account.id)
    if not tallies:
        st.info(t("stale.none"))
        return
    st.write(f"**{t('stale.now')}**")
    st.dataframe([_row(one) for one in tallies], hide_index=True)
    try:
        choice = _choosing(tallies)
        if choice is not None:
            st.session_state[_SEEN] = (choice, _numbers(preview_stale(engine, choice, account.id)))
    except AuditError as problem:
        st.session_state.pop(_SEEN, None)
        session.refused(problem)
        return
    if _SEEN in st.session_state:
        _preview(engine, account)


def _row(one: Tally) -> dict[str, object]:
    labels = "|".join(label_name(label) for label in one.label.split("|"))
    version = t("stale.elsewhere") if one.guideline == ELSEWHERE else one.guideline or t("stale.not_noted")
    return {
        t("stale.answers"): one.number,
        t("stale.which"): t("stale.which_name", task=task_name(one.task), kind=t(f"stale_kind.{one.kind}")),
        t("stale.what_column"): t(f"stale.{one.what}"),
        t("annotate.guideline"): str(version),
        t("stale.labels_column"): labels if one.known else t("stale.gone", label=labels),
    }


def _choosing(tallies: list[Tally]) -> Choice | None:
    """The choice, when the form is sent."""
    asked = sorted({(one.task, one.kind) for one in tallies})
    questions: dict[tuple[str, str] | None, str] = {None: t("stale.any")}
    questions.update(
        ((task, kind), t("stale.which_name", task=task_name(task), kind=t(f"stale_kind.{kind}")))
        for task, kind in asked
    )
    labels = {
        label: label_name(label) for label in sorted({label for one in tallies for label in one.label.split("|")})
    }
    # The present version is the one below which people usually let go: it stands first.
    versions = sorted({_present(task, kind) for task, kind in asked} | {one.guideline or 1 for one in tallies})
    before: dict[int | None, str] = {None: t("stale.any_version")}
    before.update((version, str(version)) for version in reversed(versions) if version > 1)
    with st.form("stale"):
        st.write(f"**{t('stale.choose')}**")
        which = st.selectbox(t("stale.which"), list(questions), format_func=questions.__getitem__)
        below = st.selectbox(t("stale.below"), list(before), format_func=before.__getitem__)
        chosen = st.multiselect(t("stale.labels"), list(labels), format_func=labels.__getitem__)
        unsettled = st.checkbox(t("stale.unsettled"))
        elsewhere = st.checkbox(t("stale.with_elsewhere"))
        adjudications = st.checkbox(t("stale.adjudications"))
        if not st.form_submit_button(t("stale.preview")):
            return None
    task, kind = which or (None, None)
    return Choice(task, kind, below, tuple(chosen), elsewhere, unsettled, adjudications)


def _present(task: str, kind: str) -> int:
    try:
        return guideline_of(task, kind).version
    except AuditError:
        return 1


def _preview(engine: Engine, account: Account) -> None:
    choice, seen = st.session_state[_SEEN]
    stale = preview_stale(engine, choice, account.id)
    lost = affected_groups(engine, stale, account.id)
    st.write(t("stale.would", **_numbers(stale)))
    st.write(t("stale.groups", settled=lost.settled, waiting=lost.waiting, turned=lost.turned))
    if lost.holds:
        st.write(t("stale.holds", count=lost.holds))
    if not stale.questions:
        return
    with st.form("stale-go"):
        reason = st.text_area(t("stale.reason"), max_chars=FIELD, height=80)
        sure = st.checkbox(t("stale.confirm"))
        if not st.form_submit_button(t("stale.go"), type="primary"):
            return
    if not sure:
        st.warning(t("stale.need_confirm"), icon=":material/info:")
        return
    if _numbers(stale) != seen:
        st.session_state[_SEEN] = (choice, _numbers(stale))
        st.warning(t("stale.changed"), icon=":material/info:")
        return
    try:
        by = session.allowed(engine, *ROLES).id
        went = mark_stale(engine, by, choice, reason, client=session.client())
    except AuditError as problem:
        session.refused(problem)
        return
    del st.session_state[_SEEN]
    st.session_state[_DONE] = _numbers(went)
    st.rerun()


def _numbers(stale: Stale) -> dict[str, int]:
    return {
        "judgements": stale.judgements,
        "people": stale.people,
        "adjudications": stale.adjudications,
        "questions": stale.questions,
    }
