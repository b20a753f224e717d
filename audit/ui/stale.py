"""Making answers stale after the guideline or the labels changed: managers choose, see what goes, and confirm."""

from typing import Any

import streamlit as st

from audit.errors import AuditError
from audit.judging.staleness import Choice, Tally, mark_stale, preview_stale, stale_counts
from audit.judging.words import ELSEWHERE, guideline_of
from audit.ui import session
from audit.ui.language import label_name, t, task_name, words_here
from audit.ui.question import FIELD

ROLES = ("manager",)


def page() -> None:
    """The answers in force, the fields that choose among them, what would go, and the button that lets it go."""
    engine, account = session.enter(*ROLES)
    st.header(t("stale.title"))
    st.write(t("stale.what"))
    session.show_last()
    tallies = stale_counts(engine, account.id)
    if not tallies:
        st.info(t("stale.none"))
        return
    st.dataframe([_row(tally) for tally in tallies], hide_index=True)
    choice = _choice(tallies)
    if choice is None:
        return
    numbers = preview_stale(engine, choice, account.id)._asdict()
    st.write(t("stale.would", **numbers))
    if not numbers["questions"]:
        return
    reason = st.text_area(t("stale.reason"), max_chars=FIELD, height=80, key="stale-reason")
    # What is confirmed are these numbers: where answers came meanwhile, these are other widgets.
    of_these = "-".join(map(str, numbers.values()))
    sure = st.checkbox(t("stale.confirm"), key=f"stale-sure-{of_these}")
    if st.button(t("stale.go"), type="primary", disabled=not sure, key=f"stale-go-{of_these}"):
        with session.changing(engine, account.id):
            gone = mark_stale(engine, account.id, choice, reason, client=session.client())
            session.done(t("stale.went", **gone._asdict()))


def _asked(task: str, kind: str) -> str:
    return t("stale.which_name", task=task_name(task), kind=t(f"stale_kind.{kind}"))


def _row(tally: Tally) -> dict[str, object]:
    labels = "|".join(label_name(label, tally.task) for label in tally.label.split("|"))
    version = t("stale.elsewhere") if tally.guideline == ELSEWHERE else tally.guideline or t("stale.not_noted")
    return {
        t("stale.answers"): tally.number,
        t("column.questions"): _asked(tally.task, tally.kind),
        t("stale.what_column"): t(f"stale.{tally.what}"),
        t("annotate.guideline"): str(version),
        t("stale.labels_column"): labels if tally.known else t("stale.gone", label=labels),
    }


def _choice(tallies: list[Tally]) -> Choice | None:
    """What is chosen; None as long as neither a version nor a label is."""
    questions = sorted({(tally.task, tally.kind) for tally in tallies})
    names: dict[Any, str] = {(None, None): t("stale.any"), **{asked: _asked(*asked) for asked in questions}}
    labels: dict[str, str] = {}
    for label, task in sorted({(label, tally.task) for tally in tallies for label in tally.label.split("|")}):
        labels.setdefault(label, label_name(label, task))
    versions = {_version_in_force(*asked) for asked in questions} | {tally.guideline or 1 for tally in tallies}
    below_names: dict[int | None, str] = {None: t("stale.any_version")}
    below_names |= {version: str(version) for version in sorted(versions, reverse=True) if version > 1}
    st.write(f"**{t('stale.choose')}**")
    task, kind = st.selectbox(t("column.questions"), list(names), format_func=names.__getitem__, key="stale-which")
    below = st.selectbox(t("stale.below"), list(below_names), format_func=below_names.__getitem__, key="stale-below")
    chosen = st.multiselect(
        t("stale.labels"), list(labels), format_func=labels.__getitem__, placeholder=t("studies.choose"),
        key="stale-labels",
    )  # fmt: skip
    adjudications = st.checkbox(t("stale.adjudications"), key="stale-adjudications")
    return Choice(task, kind, below, tuple(chosen), adjudications) if below or chosen else None


def _version_in_force(task: str, kind: str) -> int:
    try:
        return guideline_of(task, kind, own=words_here().of(task)).version
    except AuditError:
        return 1
