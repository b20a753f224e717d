"""The log: actions that change how numbers come about, or that reveal hidden information. For managers."""

import csv
import io
import json

import streamlit as st

from audit.annotation.accounts import Entry, entries
from audit.reports.tables import harmless
from audit.ui import session
from audit.ui.language import t, text_or

ROLES = ("manager",)
LINES = 200
"""Entries on the page; the download has all of them."""
_ALL = 1_000_000


def page() -> None:
    """The last entries, the newest first, and all of them as CSV."""
    engine, account = session.enter(*ROLES)
    st.subheader(t("menu.log"))
    st.caption(t("log.what"))
    log_entries = entries(engine, account.id, LINES)
    if not log_entries:
        st.info(t("log.nothing"))
        return
    st.dataframe([_row(entry) for entry in log_entries], hide_index=True, width="stretch")
    st.download_button(
        t("log.download"),
        lambda: as_csv(entries(engine, session.require_role(engine, *ROLES).id, _ALL)),
        "log.csv",
        "text/csv",
        on_click="ignore",
        icon=":material/download:",
    )


def as_csv(log_entries: list[Entry]) -> str:
    r"""The entries as CSV, in the words in which they are stored: at (UTC), who, action, question, detail (JSON).

    >>> from datetime import UTC, datetime
    >>> as_csv([Entry(datetime(2026, 5, 1, tzinfo=UTC), "ada", "names revealed", 7, {"people": 2})])
    'at,who,action,question,detail\r\n2026-05-01T00:00:00,ada,names revealed,7,"{""people"": 2}"\r\n'
    """
    file = io.StringIO()
    writer = csv.writer(file)
    writer.writerow(["at", "who", "action", "question", "detail"])
    for entry in log_entries:
        detail = json.dumps(entry.detail, ensure_ascii=False) if entry.detail else ""
        at, account = f"{entry.at:%Y-%m-%dT%H:%M:%S}", harmless(entry.who or "")
        writer.writerow([at, account, entry.action, entry.question_id or "", detail])
    return file.getvalue()


def _row(entry: Entry) -> dict[str, str]:
    return {
        t("log.at"): f"{entry.at:%Y-%m-%d %H:%M:%S} UTC",
        t("log.who"): entry.who or t("log.database"),
        t("log.action"): text_or(f"log_action.{entry.action.replace(' ', '_')}", entry.action),
        t("log.question"): "" if entry.question_id is None else str(entry.question_id),
        t("log.detail"): ", ".join(f"{name}: {_value(value)}" for name, value in entry.detail.items()),
    }


def _value(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
