"""The whole database for managers: an export for publishing or analysis, and a backup. Made by another process."""

import shutil
from pathlib import Path

import streamlit as st
from sqlalchemy import Engine

from audit.ui import session
from audit.ui.background_cache import computed
from audit.ui.language import t

ROLES = ("manager",)
_READY = "data-ready"
"""What was made last, until it is made again: (kind, name of the file, its bytes)."""
_TYPES = {"export": "application/zip", "backup": "application/vnd.sqlite3"}


def page() -> None:
    """Two files: each is made when it is asked for, and then downloaded."""
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
    st.caption(t("data.logged"))


def _make_and_download(engine: Engine, account_id: int, kind: str, values: dict[str, bool]) -> None:
    if st.button(t(f"data.make_{kind}"), key=f"make-{kind}", icon=":material/inventory_2:"):
        st.session_state.pop(_READY, None)
        with session.changing(engine, account_id):
            made = computed(engine, kind, {"by": account_id, **values}, recompute=True).value
            file = Path(made)
            try:
                st.session_state[_READY] = (kind, file.name, file.read_bytes())
            finally:
                shutil.rmtree(file.parent, ignore_errors=True)
    ready = st.session_state.get(_READY)
    if ready and ready[0] == kind:
        _, name, content = ready
        st.download_button(
            t("data.download", size=f"{len(content) / 2**20:,.1f}"),
            content,
            name,
            _TYPES[kind],
            type="primary",
            on_click="ignore",
            icon=":material/download:",
        )
