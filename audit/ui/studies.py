"""Plans of studies: for managers."""

from collections.abc import Callable, Sequence

import streamlit as st
from sqlalchemy import Engine

from audit.errors import AuditError
from audit.studies.jobs import Work, jobs
from audit.studies.plan import Plan
from audit.studies.plan_file import to_toml
from audit.studies.versions import Version, all_versions, freeze, frozen_version, set_plan, steps
from audit.ui import database, session, studies_form, studies_run
from audit.ui.language import t
from audit.ui.literal import plain
from audit.ui.plan_texts import became
from audit.ui.studies_run import ROLES

TABS = ("plans", "new", "upload")
TAB = "studies-tab"
_DONE = "studies-done"
"""What was done before this run: the key of a text and its values."""
_SHOWN = "studies-plan"

History = Sequence[Version]


def page() -> None:
    """The plans there are, one of them with its run and its versions, and the two ways to a new one."""
    engine = database.engine()
    account = session.allowed(engine, *ROLES)
    with engine.connect() as connection:
        plans = all_versions(connection)
    st.subheader(t("menu.studies"))
    if done := st.session_state.pop(_DONE, None):
        # Here, since the state of a widget cannot be set once it is on the page.
        st.session_state[_SHOWN] = done[1]["name"]
        st.session_state[TAB] = t("studies.plans")
        st.success(plain(t(f"studies.{done[0]}", **done[1])), icon=":material/check:")
    for name, place in zip(
        TABS, st.tabs([t(f"studies.{one}") for one in TABS], key=TAB, on_change="rerun"), strict=True
    ):
        if not place.open:
            continue
        with place:
            if name == "new":
                studies_form.form(plans, _store(engine))
            elif name == "upload":
                studies_form.upload(_store(engine))
            elif plans:
                _plans(engine, account.id, plans)
            else:
                st.caption(t("studies.none"))


def _plans(engine: Engine, account_id: int, plans: dict[str, list[Version]]) -> None:
    last: dict[str, Work] = {}
    for work in jobs(engine, by=account_id):
        last.setdefault(work.plan, work)
    st.dataframe([_row(history, last.get(name)) for name, history in plans.items()], hide_index=True)
    name = st.selectbox(t("studies.plan"), list(plans), key=_SHOWN)
    history = plans[name]
    st.caption(plain(_state(history)))
    studies_run.running(engine, name)
    _versions(history)
    written = to_toml(history[-1].plan())
    with st.expander(t("studies.toml")):
        st.code(written, language="toml")
    st.download_button(
        t("studies.download"),
        written,
        f"{name}.toml",
        "application/toml",
        on_click="ignore",
        icon=":material/download:",
    )
    _freezing(engine, history[-1])


def _row(history: History, work: Work | None) -> dict[str, object]:
    study = history[-1].content["study"]
    return {
        t("studies.plan"): history[-1].name,
        t("studies.version"): history[-1].version,
        t("studies.state"): _state(history),
        t("studies.corpus"): study["corpus"],
        t("studies.limit"): t("studies.all") if study["limit"] is None else f"{study['limit']:,}",
        t("studies.last_run"): studies_run.state_text(work),
    }


def _state(history: History) -> str:
    frozen = frozen_version(history)
    if frozen is None:
        return t("studies.draft")
    since = sum(bool(found) for version, found in steps(history) if version.version > frozen.version)
    date = f"{frozen.at:%Y-%m-%d}"
    return t("studies.frozen_changed", date=date, count=since) if since else t("studies.frozen", date=date)


def _versions(history: History) -> None:
    made = {version.version: found for version, found in steps(history)}
    rows = []
    for one in reversed(history):
        changed = [f"{change.key} {became(change.before, change.after)}" for change in made.get(one.version, ())]
        rows.append(
            {
                t("studies.version"): one.version,
                t("studies.at"): f"{one.at:%Y-%m-%d %H:%M} UTC",
                t("studies.by"): one.by or t("studies.nobody"),
                t("studies.what"): t("studies.was_frozen")
                if one.frozen
                else t("plan.comma").join(changed) or t("studies.was_stored"),
            }
        )
    with st.expander(t("studies.versions"), expanded=len(history) > 1):
        st.dataframe(rows, hide_index=True)


def _freezing(engine: Engine, last: Version) -> None:
    if last.frozen:
        return
    with st.container(border=True):
        st.caption(t("studies.freeze_help"))
        sure = st.checkbox(t("studies.sure"), key=f"sure-{last.name}-{last.version}")
        pressed = st.button(
            t("studies.freeze"), key=f"freeze-{last.name}", disabled=not sure, icon=":material/ac_unit:"
        )
    if pressed and sure:
        try:
            made = freeze(engine, last.name, by=session.allowed(engine, *ROLES).id, version=last.version)
        except AuditError as problem:
            session.refused(problem)
            return
        _again("has_frozen", made)


def _store(engine: Engine) -> Callable[[Plan], None]:
    """What stores a plan as the manager who is logged in now; raises what `set_plan` raises."""

    def store(plan: Plan) -> None:
        made, new = set_plan(engine, plan, by=session.allowed(engine, *ROLES).id)
        _again("has_stored" if new else "has_nothing_new", made)

    return store


def _again(done: str, version: Version) -> None:
    """Show the plan anew, and say what was done."""
    st.session_state[_DONE] = (done, {"name": version.name, "version": version.version})
    st.rerun()
