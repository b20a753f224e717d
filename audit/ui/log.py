"""The log in words: what was done with accounts, plans, settings and answers, and by whom. For managers."""

import csv
import io
import json
from collections.abc import Mapping
from typing import Any

import streamlit as st

from audit.judging.accounts import Entry, account_details, entries
from audit.reports.tables import harmless
from audit.ui import session
from audit.ui.language import t, text_or
from audit.ui.study_choice import study_names

ROLES = ("manager",)
LINES = 200
"""Entries on the page; the download has all of them."""
SEARCHED = 20_000
"""Entries that a search looks through, the newest first."""
_ALL = 1_000_000


def page() -> None:
    """The last entries, the newest first, of everybody or of one person, with a search; and all of them as CSV."""
    engine, account = session.enter(*ROLES)
    st.header(t("menu.log"))
    st.caption(t("log.what"))
    names = {person.id: person.name for person in account_details(engine, by=account.id)}
    studies = study_names(engine, account.id)
    left, right = st.columns([1, 2])
    with left:
        who = st.selectbox(
            t("log.who"), [None, *names], format_func=lambda id: names[id] if id else t("log.everybody"), key="log-who"
        )
    with right:
        wanted = st.text_input(t("log.search"), max_chars=100, autocomplete="off", key="log-search").strip().casefold()
    rows = [
        _row(entry, names, studies) for entry in entries(engine, account.id, SEARCHED if wanted else LINES, who=who)
    ]
    found = [row for row in rows if wanted in " ".join(row.values()).casefold()][:LINES]
    if found:
        st.dataframe(found, hide_index=True, width="stretch", column_config=_widths())
    else:
        st.info(t("log.not_found" if rows else "log.nothing"))
    st.download_button(
        t("log.download"),
        lambda: as_csv(entries(engine, session.require_role(engine, *ROLES).id, _ALL)),
        "log.csv",
        "text/csv",
        on_click="ignore",
        icon=":material/download:",
    )


def _widths() -> dict[str, Any]:
    wide = {"log.at": 180, "log.who": 130, "log.action": 190, "log.question": 80}
    return {t(key): st.column_config.TextColumn(width=width) for key, width in wide.items()}


def as_csv(log_entries: list[Entry]) -> str:
    r"""The entries as CSV, in the words in which they are stored: at (UTC), who, action, question, detail (JSON).

    >>> from datetime import UTC, datetime
    >>> as_csv([Entry(datetime(2026, 5, 1, tzinfo=UTC), "ada", "words", 7, {"people": 2})])
    'at,who,action,question,detail\r\n2026-05-01T00:00:00,ada,words,7,"{""people"": 2}"\r\n'
    """
    file = io.StringIO()
    writer = csv.writer(file)
    writer.writerow(["at", "who", "action", "question", "detail"])
    for entry in log_entries:
        detail = json.dumps(entry.detail, ensure_ascii=False) if entry.detail else ""
        at, account = f"{entry.at:%Y-%m-%dT%H:%M:%S}", harmless(entry.who or "")
        writer.writerow([at, account, entry.action, entry.question_id or "", detail])
    return file.getvalue()


def _row(entry: Entry, names: Mapping[int, str], studies: Mapping[int, str]) -> dict[str, str]:
    return {
        t("log.at"): f"{entry.at:%Y-%m-%d %H:%M:%S} UTC",
        t("log.who"): entry.who or t("log.database"),
        t("log.action"): text_or(f"log_action.{entry.action.replace(' ', '_')}", entry.action),
        t("log.question"): "" if entry.question_id is None else str(entry.question_id),
        t("log.detail"): _detail(entry.detail, names, studies),
    }


def _detail(detail: Mapping[str, Any], names: Mapping[int, str], studies: Mapping[int, str]) -> str:
    """The details of an entry as they are stored, with accounts and studies by name."""
    named = {key: _named(value, {"account": names, "assigned": studies}.get(key, {})) for key, value in detail.items()}
    return "; ".join(f"{key}: {json.dumps(value, ensure_ascii=False)}" for key, value in named.items())


def _named(value: Any, names: Mapping[int, str]) -> Any:
    if isinstance(value, list):
        return [_named(part, names) for part in value]
    return names.get(value, value) if isinstance(value, int) else value
