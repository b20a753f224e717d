"""The whole database for managers: an export for publishing or analysis, a backup, and the log of who did what."""

import json
import shutil
from collections.abc import Mapping
from pathlib import Path, PurePath

import streamlit as st
from sqlalchemy import Engine, select

from audit.judging.accounts import Entry, account_details, entries
from audit.judging.labels import Role, import_labels, read_labels
from audit.store.core import input_table, study
from audit.ui import session
from audit.ui.background_cache import computed
from audit.ui.language import t, task_name

ROLES = ("manager",)
_READY = "data-ready"
"""What was made last, until it is made again: (kind, name of the file, its bytes)."""
LINES = 5_000
"""Lines of the log on the page, the newest first; an export has all of them."""
_TYPES = {"export": "application/zip", "backup": "application/vnd.sqlite3"}


def page() -> None:
    """Two files, each made when it is asked for, and the log, whose table can be searched and downloaded."""
    engine, account = session.enter(*ROLES)
    st.header(t("menu.data"))
    with st.container(border=True):
        st.markdown(f"**{t('data.export')}**")
        st.caption(t("data.export_what"))
        pseudonymise = st.toggle(t("data.pseudonymise"), value=True, key="data-pseudonymise")
        _make_and_download(engine, account.id, "export", {"pseudonymise": pseudonymise})
    with st.container(border=True):
        st.markdown(f"**{t('data.backup')}**")
        st.caption(t("data.backup_what"))
        _make_and_download(engine, account.id, "backup", {})
    _import(engine, account.id)
    st.header(t("log.title"))
    names = {person.id: person.name for person in account_details(engine, by=account.id)}
    rows = [
        {
            t("log.at"): f"{entry.at:%Y-%m-%d %H:%M:%S} UTC",
            t("log.who"): entry.who or t("log.database"),
            t("log.action"): entry.action,
            t("log.detail"): _detail(entry, names),
        }
        for entry in entries(engine, account.id, LINES)
    ]
    st.dataframe(rows, hide_index=True)


def _import(engine: Engine, account_id: int) -> None:
    """The form that takes labels from elsewhere, as votes or as decisions."""
    with engine.connect() as connection:
        tasks = {task: task_name(task) for task in connection.execute(select(study.c.task).distinct()).scalars()}
        languages = sorted(connection.execute(select(input_table.c.languages).distinct()).scalars())
    with st.expander(t("data.import")):
        st.caption(t("data.import_what"))
        session.show_last()
        sent = st.file_uploader(t("data.labels"), type=["csv", "tsv", "json", "jsonl", "xlsx"], key="labels-file")
        left, middle, right = st.columns(3)
        annotator = left.text_input(t("data.annotator"), max_chars=80, autocomplete="off").strip()
        roles: dict[Role, str] = {"annotator": t("data.votes"), "adjudicator": t("data.decisions")}
        role = middle.selectbox(t("data.taken_as"), list(roles), format_func=roles.__getitem__)
        task = right.selectbox(t("own.task"), list(tasks), format_func=tasks.__getitem__)
        if st.button(t("data.import"), key="import-labels", disabled=sent is None) and sent is not None:
            with session.changing(engine, account_id):
                file = read_labels(PurePath(sent.name).name, content=sent.getvalue())
                language = languages[0].partition(",")[0] if languages else "en"
                done = import_labels(
                    engine, file, annotator=annotator or None, task=task, language=language, role=role, by=account_id
                )
                unused = sum(done.unmatched.values()) + sum(done.without.values())
                session.done(t("data.imported", added=done.added + done.changed, known=done.known, unused=unused))


def _detail(entry: Entry, names: Mapping[int, str]) -> str:
    of = {"account": names.get(entry.detail["account"])} if "account" in entry.detail else {}
    return json.dumps({**entry.detail, **of}, ensure_ascii=False)[1:-1]


def _make_and_download(engine: Engine, account_id: int, kind: str, values: dict[str, bool]) -> None:
    if st.button(t(f"data.make_{kind}"), key=f"make-{kind}", icon=":material/inventory_2:"):
        st.session_state.pop(_READY, None)
        with session.changing(engine, account_id):
            written = computed(engine, kind, {"by": account_id, **values}, recompute=True).value
            file = Path(written)
            try:
                st.session_state[_READY] = (kind, file.name, file.read_bytes())
            finally:
                shutil.rmtree(file.parent, ignore_errors=True)
    ready = st.session_state.get(_READY)
    if ready and ready[0] == kind:
        _, name, content = ready
        st.download_button(
            t("data.download", size=f"{len(content) / 2**20:,.1f}"), content, name, _TYPES[kind], type="primary",
            on_click="ignore", icon=":material/download:",
        )  # fmt: skip
