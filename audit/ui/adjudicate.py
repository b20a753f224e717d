"""Settling questions on which people disagree or that they flagged, and checking some on which they agree."""

import streamlit as st

from audit.annotation.accounts import ADJUDICATORS
from audit.annotation.disputes import disputes
from audit.judging.adjudications import checks_left, inspections_left
from audit.judging.deferral import flags_left
from audit.ui import database, inspections, session
from audit.ui.causes import causing
from audit.ui.choice import one_of
from audit.ui.decision import PROBLEM
from audit.ui.disputes import SENT_BACK, disputed, flagged
from audit.ui.language import t
from audit.ui.settled import settled
from audit.ui.spot_checks import checking

ROLES = ADJUDICATORS
_DONE = "adjudicate-done"
_MODE = "adjudicate-mode"
DISPUTED, FLAGS, CHECKS, CAUSES, MINE = "disputed", "flags", "checks", "causes", "mine"


def page() -> None:
    """A disputed or flagged question to settle, one to check, a cause to give, or the last ones to change."""
    engine = database.engine()
    account = session.allowed(engine, *ROLES)
    if st.session_state.pop(_DONE, False):
        st.toast(t("adjudicate.done"), icon=":material/check:")
    if st.session_state.pop(SENT_BACK, False):
        st.toast(t("flagged.sent_back"), icon=":material/reply:")
    if problem := st.session_state.pop(PROBLEM, None):
        session.refused(problem)
    ids = disputes(engine, account.id)
    checks, left = checks_left(engine, account.id), inspections_left(engine, account.id)
    labels = {
        DISPUTED: t("check.disputed", count=len(ids)),
        FLAGS: t("flagged.flags", count=flags_left(engine, account.id)),
        CHECKS: t("check.checks", count=checks),
        **inspections.mode(left),
        CAUSES: t("causes.causes"),
        MINE: t("settled.mine"),
    }
    mode = one_of(t("menu.adjudicate"), labels, _MODE, label_visibility="collapsed")
    if mode == CAUSES:
        causing(ROLES)
        return
    if mode == CHECKS:
        done = checking(engine, account.id, checks)
    elif mode == inspections.INSPECTIONS:
        done = inspections.inspecting(engine, account.id, left or 0)
    elif mode == FLAGS:
        done = flagged(engine, account.id)
    elif mode == MINE:
        done = settled(engine, account.id)
    else:
        done = disputed(engine, account.id, ids)
    if done:
        # Begin the page anew after something was stored, and say so there.
        st.session_state[_DONE] = True
        st.rerun()
