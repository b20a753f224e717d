"""Causes of false satisfactions: one group of one system at a time, its cause given by key."""

from typing import Any

import streamlit as st
from sqlalchemy import Engine

from audit.judging.causes import CAUSES, Pair
from audit.store.core import answer, count_rows
from audit.studies.browse import detail
from audit.studies.impact import (
    FalseSatisfactions,
    false_satisfactions,
    give_cause,
    take_back_cause,
)
from audit.ui import session
from audit.ui.background_cache import studies_state
from audit.ui.browse import members, summary_of
from audit.ui.decision import later_button, put_last
from audit.ui.language import html, press, t
from audit.ui.question import FIELD, answer_bar, heading, heading_html, legend_html, on_screen, put_on_screen

_ON_SCREEN = "cause-shown"
"""The pair on the screen."""
_REOPENED = "cause-again"
"""The pair whose cause was taken back; it is shown before the list goes on."""
_LATER = "cause-later"
"""Pairs that this session put off."""


@st.cache_data(max_entries=8, show_spinner=False)
def _false_satisfactions(_engine: Engine, _account_id: int, key: tuple[Any, ...]) -> FalseSatisfactions:
    return false_satisfactions(_engine, _account_id)


@st.fragment
@session.report_problems
def cause_card(roles: tuple[str, ...]) -> None:
    """The next false satisfaction without a cause, and a button for each cause. An answer reruns only this."""
    engine, account = session.enter(*roles)
    session.show_last()
    version = studies_state(engine)
    with engine.connect() as connection:
        answers = count_rows(connection, answer)
    groups = _false_satisfactions(engine, account.id, (*version, answers))
    pair = _next(groups.without)
    if pair is None:
        st.session_state.pop(_ON_SCREEN, None)
        heading(t("causes.nothing" if groups.all else "causes.none"))
        _undo_button(engine, account.id, "last")
        return
    st.caption(t("causes.count", named=len(groups.all) - len(groups.without), all=len(groups.all)))
    _show_group(engine, account.id, pair)


def _next(without: tuple[Pair, ...]) -> Pair | None:
    reopened: Pair | None = st.session_state.get(_REOPENED)
    if reopened in without and reopened not in st.session_state.get(_LATER, ()):
        return reopened
    return next(iter(put_last(_LATER, without)), None)


def _show_group(engine: Engine, account_id: int, pair: Pair) -> None:
    group = detail(engine, account_id, *pair)
    name = f"{pair[0]}-{pair[1]}"
    st.html(
        heading_html(t("causes.question"))
        + f'<p class="audit-expected"><strong>{html(group.relation)}</strong> {html(summary_of(group))}<br>'
        f"{html(t('causes.system', system=group.system))}</p>"
    )
    # What a system said of a probe is neither right nor wrong here, and a document has dozens of them.
    parts = members(group, False)
    legend = legend_html(parts, t("differences.marked"))
    st.html(f'{legend}<div class="audit-members audit-beside">{"".join(parts)}</div>')
    with answer_bar():
        with st.container(key="judge", horizontal=True):
            for number, code in enumerate(CAUSES, start=1):
                press(
                    t(f"cause.{code}"), f"judge-cause-{name}-{code}", _give_cause, engine, account_id, pair, code,
                    shortcut=str(number), width="stretch",
                )  # fmt: skip
        with st.container(key="beside", horizontal=True, gap="small"):
            st.text_input(
                t("causes.comment"), key=f"why-{name}", max_chars=FIELD, placeholder=t("causes.comment"),
                label_visibility="collapsed",
            )  # fmt: skip
            _undo_button(engine, account_id, name)
            later_button(_LATER, pair, f"cause-{name}")
    put_on_screen(_ON_SCREEN, pair)


def _undo_button(engine: Engine, account_id: int, name: str) -> None:
    press(t("annotate.undo"), f"undo-cause-{name}", _undo_cause, engine, account_id, shortcut="z", type="tertiary")


@session.callback
def _give_cause(engine: Engine, account_id: int, pair: Pair, code: str) -> None:
    """Store a cause. One meant for another group than the one on the screen changes nothing."""
    if on_screen(_ON_SCREEN, pair) is None:
        return
    comment = str(st.session_state.get(f"why-{pair[0]}-{pair[1]}") or "")
    give_cause(engine, account_id, *pair, code, comment)
    st.session_state.pop(_REOPENED, None)
    session.say_next(t("causes.done", cause=t(f"cause.{code}")))


@session.callback
def _undo_cause(engine: Engine, account_id: int) -> None:
    pair = take_back_cause(engine, account_id)
    st.session_state[_LATER] = [other for other in st.session_state.get(_LATER, ()) if other != pair]
    session.say_next(t("causes.undone" if pair else "annotate.nothing_to_undo"), ":material/undo:")
    st.session_state[_REOPENED] = pair
