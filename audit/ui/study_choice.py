"""The choice of a study, the same on every page that shows numbers: remembered for the session, by the plan's name.

Where a database has one study there is nothing to choose. With several, the newest with answers is shown at first; all
of them together is a choice, too, which says what it pools.
"""

import streamlit as st
from sqlalchemy import Engine

from audit.studies.listing import ListedStudy, first_choice, list_studies
from audit.ui.background_cache import studies_state
from audit.ui.language import t

CHOICE = "study-choice"
_LISTED = "studies-listed"
"""(what changes with every run and draw, the studies), of this session."""
ALL = 0
"""The option that stands for all studies together; ids begin at 1."""


def listed_studies(engine: Engine, account_id: int) -> list[ListedStudy]:
    """The studies of the database; read again where something was run, drawn or planned."""
    state = (account_id, studies_state(engine))
    cached = st.session_state.get(_LISTED)
    if cached is None or cached[0] != state:
        cached = st.session_state[_LISTED] = (state, list_studies(engine, account_id))
    return list(cached[1])


def choose_study(engine: Engine, account_id: int, *, says_pooled: bool = True) -> int | None:
    """The control that chooses a study, by its id; None: all together, which is so where there is one study only.

    `says_pooled`: a line says what it means for numbers to take all together.
    """
    studies = listed_studies(engine, account_id)
    if len(studies) < 2:
        return None
    names = {study.id: label(study) for study in reversed(studies)}
    names[ALL] = t("study_choice.all", count=len(studies))
    first = first_choice(studies)
    chosen: int = st.selectbox(
        t("column.study"), list(names), index=list(names).index(first.id) if first else 0,
        format_func=names.__getitem__, key=CHOICE, width=420, help=t("study_choice.help"), persist_state="session",
    )  # fmt: skip
    if chosen == ALL and says_pooled:
        st.caption(t("study_choice.pooled"))
    return chosen or None


def label(study: ListedStudy) -> str:
    """The name of a study: its plan's with the corpus, or the corpus with the number; never the number alone."""
    if not study.plan:
        return t("browse.study_name", corpus=study.corpus, id=study.id)
    if not study.names_it:
        return t("study_choice.planned_number", plan=study.plan, corpus=study.corpus, id=study.id)
    alone = study.plan == study.corpus
    return study.plan if alone else t("study_choice.planned", plan=study.plan, corpus=study.corpus)
