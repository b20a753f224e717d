"""The dashboard: how far the judging is, how well people agree, what comes out, and what is still to do. For managers.

Only the open section is computed, and redrawn by itself: what takes long is computed in another process
(`audit.ui.workshop`), so that annotators' clicks do not wait for a manager's numbers.
"""

from collections.abc import Callable

import streamlit as st
from sqlalchemy import Engine

from audit.annotation.accounts import Account
from audit.ui import (
    dashboard_agreement,
    dashboard_firming,
    dashboard_needs,
    dashboard_people,
    dashboard_progress,
    database,
    session,
)
from audit.ui.language import t

ROLES = ("manager",)
SECTIONS: dict[str, Callable[[Engine, Account], None]] = {
    "progress": dashboard_progress.section,
    "agreement": dashboard_agreement.section,
    "firming": dashboard_firming.section,
    "needs": dashboard_needs.section,
    "people": dashboard_people.section,
}
TAB = "dashboard-tab"


def page() -> None:
    """The sections as tabs; only the open one is computed."""
    session.allowed(database.engine(), *ROLES)
    places = st.tabs([t(f"dashboard.{name}") for name in SECTIONS], key=TAB, on_change="rerun")
    for name, place in zip(SECTIONS, places, strict=True):
        if place.open:
            with place:
                _section(name)


@st.fragment
@session.guarded
def _section(name: str) -> None:
    """One section; what is chosen in it reruns only this. Whoever is no manager any more is told so here, too."""
    engine = database.engine()
    account = session.allowed(engine, *ROLES)
    SECTIONS[name](engine, account)
