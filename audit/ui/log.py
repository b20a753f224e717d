"""The log: who did what that changes how numbers come about, or that shows what is hidden otherwise. For managers."""

import csv
import io
import json

import streamlit as st

from audit.annotation.accounts import Entry, entries
from audit.reports.tables import harmless
from audit.ui import session
from audit.ui.language import t, text_or

ROLES = ("manager",)
SHOWN = 200
"""Lines on the page; the download has all of them."""
_ALL = 1_000_000


def page() -> None:
    """The last lines, the newest first, and all of them as CSV."""
    engine = session.engine()
    account = session.allowed(engine, *ROLES)
    st.subheader(t("menu.log"))
    st.caption(t("log.what"))
    found = entries(engine, account.id, SHOWN)
    if not found:
        st.info(t("log.nothing"))
        return
    st.dataframe([_row(one) for one in found], hide_index=True, width="stretch")
    st.download_button(
        t("log.download"),
        lambda: as_csv(entries(engine, session.allowed(engine, *ROLES).id, _ALL)),
        "log.csv",
        "text/csv",
        on_click="ignore",
        icon=":material/download:",
    )


def as_csv(found: list[Entry]) -> str:
    r"""The lines as CSV, in the words in which they are stored: at (UTC), who, action, question, detail (JSON).

    >>> from datetime import UTC, datetime
    >>> as_csv([Entry(datetime(2026, 5, 1, tzinfo=UTC), "ada", "names revealed", 7, {"people": 2})])
    'at,who,action,question,detail\r\n2026-05-01T00:00:00,ada,names revealed,7,"{""people"": 2}"\r\n'
    """
    file = io.StringIO()
    writer = csv.writer(file)
    writer.writerow(["at", "who", "action", "question", "detail"])
    for one in found:
        detail = json.dumps(one.detail, ensure_ascii=False) if one.detail else ""
        at, who = f"{one.at:%Y-%m-%dT%H:%M:%S}", harmless(one.who or "")
        writer.writerow([at, who, one.action, one.question_id or "", detail])
    return file.getvalue()


def _row(one: Entry) -> dict[str, str]:
    return {
        t("log.at"): f"{one.at:%Y-%m-%d %H:%M:%S} UTC",
        t("log.who"): one.who or t("log.database"),
        t("log.action"): text_or(f"log_action.{one.action.replace(' ', '_')}", one.action),
        t("log.question"): "" if one.question_id is None else str(one.question_id),
        t("log.detail"): ", ".join(f"{name}: {_value(value)}" for name, value in one.detail.items()),
    }


def _value(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
