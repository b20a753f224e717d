"""The log in words: what was done with accounts, plans, settings and answers, and by whom. For managers."""

import json
from collections.abc import Mapping
from typing import Any

import streamlit as st

from audit.judging.accounts import Entry, account_details, entries
from audit.ui import session
from audit.ui.language import t, text_or

ROLES = ("manager",)
LINES = 5_000
"""Entries on the page, the newest first; `audit export` has all of them."""


def page() -> None:
    """The last entries, the newest first, of everybody or of one person; the table searches and downloads."""
    engine, account = session.enter(*ROLES)
    st.header(t("menu.log"))
    st.caption(t("log.what"))
    names: dict[int | None, str] = {person.id: person.name for person in account_details(engine, by=account.id)}
    everybody = {None: t("log.everybody"), **names}
    who = st.selectbox(t("log.who"), list(everybody), format_func=everybody.__getitem__, key="log-who", width=420)
    if lines := [_row(entry, names) for entry in entries(engine, account.id, LINES, who=who)]:
        st.dataframe(lines, hide_index=True, width="stretch", column_config=_widths())
    else:
        st.info(t("log.nothing"))


def _widths() -> dict[str, Any]:
    wide = {"log.at": 180, "log.who": 130, "log.action": 190}
    return {t(key): st.column_config.TextColumn(width=width) for key, width in wide.items()}


def _row(entry: Entry, names: Mapping[Any, str]) -> dict[str, str]:
    return {
        t("log.at"): f"{entry.at:%Y-%m-%d %H:%M:%S} UTC",
        t("log.who"): entry.who or t("log.database"),
        t("log.action"): text_or(f"log_action.{entry.action.replace(' ', '_')}", entry.action),
        t("log.detail"): _detail(entry.detail, names),
    }


def _detail(detail: Mapping[str, Any], names: Mapping[Any, str]) -> str:
    """The details of an entry as they are stored, with accounts by name."""
    named = {key: names.get(value, value) if key == "account" else value for key, value in detail.items()}
    return "; ".join(f"{key}: {json.dumps(value, ensure_ascii=False)}" for key, value in named.items())
