"""Carrying out a plan from the app: the process goes on without the page, which only looks at it."""

from collections.abc import Callable

import streamlit as st
from sqlalchemy import Engine

from audit.errors import AuditError
from audit.studies.jobs import Work, begin_job, jobs, stop_job
from audit.ui import database, session
from audit.ui.language import t, translated
from audit.ui.literal import plain, sentence

ROLES = ("manager",)
EVERY = 2
"""Seconds between two looks at a run that is at work."""
_LOOKED = "studies-was-live"
"""Set while the page shows a run that is at work: when that has ended, the whole page is shown anew."""


def _last_job(engine: Engine, name: str, account_id: int) -> Work | None:
    return next(iter(jobs(engine, name, by=account_id)), None)


def running(engine: Engine, name: str) -> None:
    """How far the last run of a plan is, and the buttons that begin, stop and go on."""
    account = session.allowed(engine, *ROLES)
    work = _last_job(engine, name, account.id)
    live = work is not None and work.live
    st.session_state[_LOOKED] = live
    st.fragment(_look, run_every=EVERY if live else None)(name)


def state_text(work: Work | None) -> str:
    """The state of a run in a word or two."""
    return t("work.never") if work is None else t(f"work.{work.state}")


@session.guarded
def _look(name: str) -> None:
    engine = database.engine()
    account = session.allowed(engine, *ROLES)
    work = _last_job(engine, name, account.id)
    if st.session_state.get(_LOOKED) and (work is None or not work.live):
        st.session_state[_LOOKED] = False
        st.rerun()
    if work is not None and work.live:
        _at_work(work)
        if st.button(
            t("studies.stop"), key=f"stop-{work.id}", disabled=work.state == "stopping", icon=":material/stop:"
        ):
            _do(lambda: stop_job(engine, work.id, by=session.allowed(engine, *ROLES).id))
    else:
        _ended(work)
        label = t("studies.run" if work is None else "studies.again" if work.state == "done" else "studies.go_on")
        if st.button(label, key=f"run-{name}", type="primary", icon=":material/play_arrow:"):
            _do(lambda: begin_job(engine, name, database.where(), by=session.allowed(engine, *ROLES).id))
    if work is not None and work.log.strip():
        with st.expander(t("studies.log")):
            st.code(work.log, language=None, wrap_lines=True)


def _at_work(work: Work) -> None:
    step = t(f"step.{work.step}") if work.step else t("step.waiting")
    if work.state == "stopping":
        step = t("work.stopping")
    if work.total:
        text = t("studies.progress", step=step, done=f"{work.done:,}", total=f"{work.total:,}")
        st.progress(min(1.0, work.done / work.total), plain(text))
    else:
        st.progress(0.0, plain(step))
    st.caption(plain(t("studies.close", when=f"{work.started_at:%Y-%m-%d %H:%M} UTC", who=work.by or "")))


def _ended(work: Work | None) -> None:
    if work is None:
        st.caption(t("studies.not_run"))
    elif work.state == "done":
        when = f"{work.ended_at:%Y-%m-%d %H:%M} UTC" if work.ended_at else ""
        st.success(t("studies.done", when=when), icon=":material/check:")
    else:
        why = translated(work.message) if work.message else ""
        said = f"{t(f'work.{work.state}')}. {plain(sentence(why)) if why else ''} {t('studies.kept')}"
        st.warning(said, icon=":material/info:")


def _do(work: Callable[[], object]) -> None:
    """Begin or stop, and show the page anew; or say why not."""
    try:
        work()
    except AuditError as problem:
        session.refused(problem)
        return
    st.rerun()
