"""A study on one page, for its manager: texts, question, systems, people, how far, the answer so far, what next."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import streamlit as st
from sqlalchemy import Engine

from audit.errors import AuditError
from audit.judging.accounts import Account, account_details
from audit.judging.invitations import Terms, invite
from audit.reports.first_page import first_lines
from audit.studies.jobs import Job, begin_job, jobs, stop_job
from audit.studies.listing import ListedStudy
from audit.studies.next_step import next_step, standing
from audit.studies.versions import Version, all_versions
from audit.tasks import get_task
from audit.ui import form, session
from audit.ui.accounts import facts_html, remember_link, show_links
from audit.ui.background_cache import computed
from audit.ui.language import corpus_wording, language, plain, press, sentence, t, task_name, translated, with_commands
from audit.ui.results import report_values
from audit.ui.study_choice import CHOICE, label, listed_studies

ROLES = ("manager",)
BEHIND = ("words", "adjudicate", "answers", "stale")
"""Pages of a manager that only the card leads to."""
_MOST_LABELS = 12
_CHOSEN = "project"
_WAS_LIVE = "project-was-live"
_LEAST_HOURS = 0.1
"""Hours of work below which no end is forecast: a few answers say nothing of the next thousand."""
EVERY = 2
"""Seconds between two looks at a run at work."""
MOST_BY_LINK = 20
"""People who may join by the link that the card makes."""


class Project(NamedTuple):
    """A study as it was planned, as it was run, or both."""

    name: str
    plan: Version | None
    study: ListedStudy | None


def projects(engine: Engine, account_id: int) -> list[Project]:
    """Return every study of a database, planned or run, the newest first."""
    with engine.connect() as connection:
        plans = {name: history[-1] for name, history in all_versions(connection).items() if history}
    studies = reversed(listed_studies(engine, account_id))
    run = [Project(study.plan or label(study), plans.get(study.plan or ""), study) for study in studies]
    named = {project.name for project in run}
    return [*(Project(name, plan, None) for name, plan in reversed(plans.items()) if name not in named), *run]


def page() -> None:
    """The card of a study, or the form of a new one."""
    engine, account = session.enter(*ROLES)
    there = projects(engine, account.id)
    session.show_last()
    if not there or st.session_state.get(form.OPEN):
        if there:
            press(t("project.back"), "back", _show_form, False, icon=":material/arrow_back:")
        form.form(engine, account.id)
        return
    with st.container(horizontal=True, vertical_alignment="bottom", horizontal_alignment="distribute"):
        project = _choice(there)
        press(t("form.title"), "new-study", _show_form, True, icon=":material/add:")
    _next_step(engine, account)
    _facts(engine, account, project)
    if project.study is not None:
        _how_far(engine, account, project.study, alone=len(there) == 1)
    if project.plan is not None:
        _run(engine, account, project.name)


def _show_form(shown: bool) -> None:
    st.session_state[form.OPEN] = shown


def _choice(there: Sequence[Project]) -> Project:
    if len(there) == 1:
        st.header(plain(there[0].name))
        return there[0]
    names = [label(project.study) if project.study else project.name for project in there]
    wanted = next((at for at, project in enumerate(there) if project.name == st.session_state.get(_CHOSEN)), 0)
    at: int = st.selectbox(t("column.study"), range(len(there)), wanted, format_func=names.__getitem__, width=420)
    st.session_state[_CHOSEN] = there[at].name
    if (study := there[at].study) is not None:
        st.session_state[CHOICE] = study.id
    return there[at]


def _next_step(engine: Engine, account: Account) -> None:
    step = next_step(standing(engine, by=account.id))
    grouped = {name: f"{value:,}" for name, value in step.values.items() if isinstance(value, int) and name != "count"}
    values = {**step.values, **grouped}
    with st.container(border=True, horizontal=True, vertical_alignment="center", key="next-step"):
        st.markdown(f"**{plain(t('step_next.title'))}** {plain(t(f'step_next.{step.code}', **values))}")
        if step.code in ("invite", "joining"):
            if st.button(t("project.invite"), key="invite-by-link", type="primary", icon=":material/link:"):
                with session.changing(engine, account.id):
                    remember_link("invite.made", invite(engine, Terms(uses=MOST_BY_LINK), by=account.id))
        elif step.page != "studies" and (page := session.page_of(step.page)) is not None:
            st.page_link(page, label=t(f"menu.{step.page}"), icon=":material/arrow_forward:")
    show_links("invite.made")


def _facts(engine: Engine, account: Account, project: Project) -> None:
    study, plan = project.study, dict[str, Any](project.plan.content if project.plan else {})
    planned, each = plan.get("study", {}), plan.get("judging", {}).get("annotators")
    task = planned.get("task") or (study.task if study else "sentiment")
    corpus = planned.get("corpus") or (study.corpus if study else "")
    words = corpus_wording(task, corpus)
    question = (plan.get("words") or {}).get("question") or words.question
    labels = t("list.comma").join(words.labels.get(name, name) for name in _labels(task))
    details = account_details(engine, by=account.id)
    people = [person.name for person in details if person.role == "annotator" and not person.disabled]
    names = t("list.comma").join(people[:8]) + (" …" if len(people) > 8 else "") or t("project.nobody")
    facts = {
        "texts": corpus + (f" · {study.sources:,}" if study else ""),
        "asked": f"{question} ({labels})" if labels else f"{question} · {task_name(task)}",
        "systems": t("list.comma").join(planned.get("systems") or [str(study.systems) if study else ""]),
        "people": names + (f" · {t('project.each', count=each)}" if each else ""),
    }
    st.html(facts_html({t(f"form.{name}"): value for name, value in facts.items()}))
    with st.container(horizontal=True):
        for name in BEHIND:
            if (page := session.page_of(name)) is not None:
                st.page_link(page, label=t(f"menu.{name}"), icon=":material/arrow_forward:")


def _labels(task: str) -> tuple[str, ...]:
    try:
        return get_task(task).labels[:_MOST_LABELS]
    except AuditError:  # its plug-in is not here
        return ()


def _how_far(engine: Engine, account: Account, study: ListedStudy, alone: bool) -> None:
    among = None if alone else study.id
    totals = computed(engine, "totals", {"by": account.id, "study": among}).value
    questions, judgements = totals["questions"], totals["judgements"]
    done = sum(questions[origin] for origin in ("people", "adjudicated", "gold"))
    said = [t("project.progress", done=f"{done:,}", all=f"{done + questions['open']:,}")]
    said += [t(f"project.{name}", count=questions[name]) for name in ("disputed", "flagged") if questions[name]]
    said += [t("project.today", count=judgements["today"])] if judgements["today"] else []
    if totals["pace"]["ends"] and totals["pace"]["hours"] >= _LEAST_HOURS:
        said.append(t("project.ends", day=totals["pace"]["ends"][:10]))
    st.progress(done / max(1, done + questions["open"]), plain(" · ".join(said)))
    if not done:
        st.caption(t("project.no_answer"))
        return
    with session.showing_refusals():
        first = first_lines(computed(engine, "report", report_values(among)).value, language())[0]
        st.markdown(f"**{t('project.so_far')}** {with_commands(first)}")


# The run: it goes on without the page, which only shows how far it is.


def _run(engine: Engine, account: Account, name: str) -> None:
    work = _last_job(engine, name, account.id)
    st.session_state[_WAS_LIVE] = live = work is not None and work.live
    st.fragment(_show_run, run_every=EVERY if live else None)(name)


def _last_job(engine: Engine, name: str, account_id: int) -> Job | None:
    return next(iter(jobs(engine, name, by=account_id)), None)


@session.report_problems
def _show_run(name: str) -> None:
    engine, account = session.enter(*ROLES)
    work = _last_job(engine, name, account.id)
    if st.session_state.get(_WAS_LIVE) and (work is None or not work.live):
        st.session_state[_WAS_LIVE] = False
        st.rerun()
    if work is not None and work.live:
        step = t("work.stopping") if work.state == "stopping" else t(f"step.{work.step or 'waiting'}")
        text = t("project.step", step=step, done=f"{work.done:,}", total=f"{work.total:,}") if work.total else step
        st.progress(min(1.0, work.done / work.total) if work.total else 0.0, plain(text))
        _change(engine, account, "stop", work.state == "stopping", lambda: stop_job(engine, work.id, by=account.id))
    else:
        if work is not None and work.state != "done":
            reason = plain(sentence(translated(work.message))) if work.message else ""
            st.warning(f"{t(f'work.{work.state}')}. {reason} {t('project.kept')}", icon=":material/info:")
        label = "run" if work is None else "next_round" if work.state == "done" else "go_on"
        _change(engine, account, label, False, lambda: begin_job(engine, name, session.database_url(), by=account.id))


def _change(engine: Engine, account: Account, label: str, disabled: bool, action: Any) -> None:
    icon = ":material/stop:" if label == "stop" else ":material/play_arrow:"
    if st.button(t(f"project.{label}"), key=f"project-{label}", disabled=disabled, icon=icon):
        try:
            session.require_login(engine, account.id)
            action()
        except AuditError as problem:
            session.show_refusal(problem)
        else:
            st.rerun()
