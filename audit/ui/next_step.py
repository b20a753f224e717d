"""What a manager does next, as a line with a link to the page where it is done."""

import streamlit as st
from sqlalchemy import Engine

from audit.judging.accounts import Account
from audit.studies.next_step import next_step, standing
from audit.ui import session
from audit.ui.language import plain, t


def show_next_step(engine: Engine, account: Account, here: str) -> None:
    """Say what comes next; `here` is the name of the page that says it, which needs no link to itself."""
    if account.role != "manager":
        return
    step = next_step(standing(engine, by=account.id))
    values = {
        name: f"{value:,}" if isinstance(value, int) and name != "count" else value
        for name, value in step.values.items()
    }
    with st.container(border=True, horizontal=True, vertical_alignment="center", key=f"next-step-{here}"):
        st.markdown(f"**{plain(t('step_next.title'))}** {plain(t(f'step_next.{step.code}', **values))}")
        if step.page != here and (page := session.page_of(step.page)) is not None:
            st.page_link(page, label=t(f"menu.{step.page}"), icon=":material/arrow_forward:")
