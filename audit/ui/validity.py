"""The validity study, for managers: begin it, end it, see how far it is and what it says."""

import streamlit as st
from sqlalchemy import Engine

from audit.annotation.accounts import Account
from audit.errors import AuditError
from audit.judging.validity import ValidityState, draw_validity, end_validity, validity_states
from audit.reports.validity_study import validity_report, validity_tables
from audit.sampling.validity import ANNOTATORS, PER_RELATION, ValidityRequest
from audit.ui import session
from audit.ui.language import language, plain, sentence, t, translated
from audit.ui.study_choice import study_name

_MOST_PAIRS, _MOST_PEOPLE = 1_000, 20
_TABLES = "validity-tables"
"""Whether the tables are open: they are computed from all that was rated."""


def validity_section(engine: Engine, account: Account, study: int | None) -> None:
    """The state of each study's ratings, the buttons that begin and end them, and the tables of what was rated."""
    session.show_last()
    st.write(t("validity.what"))
    states = validity_states(engine, by=account.id)
    for state in states if study is None else [state for state in states if state.study == study]:
        _show(engine, account.id, state)
    with st.form("validity-begin"):
        pairs = st.number_input(
            t("validity.per_relation"), 1, _MOST_PAIRS, PER_RELATION, key="validity-pairs", help=t("validity.per_help")
        )
        people = st.number_input(t("validity.people"), 1, _MOST_PEOPLE, ANNOTATORS, key="validity-people")
        before_all = any(state.first for state in states)
        first = st.checkbox(t("validity.first"), before_all, key="validity-first")
        if st.form_submit_button(t("validity.go_on" if states else "validity.begin"), type="primary"):
            with session.changing(engine, account.id):
                request = ValidityRequest(int(pairs), annotators=int(people), first=first)
                drawn = draw_validity(engine, request, by=account.id)
                session.done(t("validity.drawn", count=sum(part.pairs for part in drawn), relations=len(drawn)))
    if any(state.ratings or state.of_models for state in states):
        st.toggle(t("validity.tables"), key=_TABLES)
        if st.session_state.get(_TABLES):
            _tables(engine, study)


def _show(engine: Engine, account_id: int, state: ValidityState) -> None:
    name = study_name({"corpus": state.corpus, "study": state.study})
    values = {"pairs": f"{state.pairs:,}", "relations": state.relations}
    values |= {"ratings": f"{state.ratings:,}", "wanted": f"{state.wanted:,}", "models": f"{state.of_models:,}"}
    st.markdown(f"**{plain(name)}** · {plain(t('validity.state', **values))}")
    if state.of_models:
        st.caption(plain(t("validity.state_models", models=values["models"])))
    if not state.open:
        st.caption(t("validity.ended"))
    elif st.button(t("validity.end"), key=f"validity-end-{state.study}", icon=":material/stop:"):
        with session.changing(engine, account_id):
            end_validity(engine, state.study, by=account_id)
            session.done(t("validity.ended"))


def _tables(engine: Engine, study: int | None) -> None:
    try:
        document = validity_report(engine, study)
    except AuditError as problem:
        st.info(plain(sentence(translated(problem.sentence))))
        return
    for title, heads, rows, _ in validity_tables(document["relations"], language()):
        st.caption(plain(title))
        # Two columns may have one heading: the second is told by its place.
        names = [
            f"{head} {heads[:at].count(head) + 1}" if head in heads[:at] else head for at, head in enumerate(heads)
        ]
        st.dataframe([dict(zip(names, row, strict=True)) for row in rows], hide_index=True)
    for note in document["notes"]:
        st.caption(plain(translated(note)))
