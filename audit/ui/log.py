"""The log in words: what was done with accounts, plans, settings and answers, and by whom. For managers."""

import csv
import io
import json
from collections.abc import Mapping
from typing import Any

import streamlit as st

from audit.annotation.accounts import Entry, account_details, entries
from audit.annotation.settings import BOUNDS
from audit.reports.tables import harmless
from audit.ui import session
from audit.ui.language import t, task_name, text_or
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
        t("log.detail"): detail_in_words(entry.detail, names, studies),
    }


_ORDER = ("name", "account", "plan", "task", "before", "after")
"""Details that come first, in this order."""
_HIDDEN = ("invitation", "until", "round")
"""Details that join lines of the log to rows of other tables, and say nothing to people."""


def detail_in_words(detail: Mapping[str, Any], names: Mapping[int, str], studies: Mapping[int, str]) -> str:
    """The details of an entry in this session's language; `names` are those of accounts, `studies` those of studies, by
    id."""
    parts = []
    setting = detail.get("name") if "before" in detail else None
    for key, value in sorted(detail.items(), key=lambda part: _ORDER.index(part[0]) if part[0] in _ORDER else 9):
        if key in _HIDDEN or value is None:
            continue
        label = text_or(f"log_field.{key}", key.replace("_", " "))
        if setting is not None and key == "name":
            label, value = t("log_field.setting"), text_or(f"field.{value}", str(value))
        said = _assigned(value, studies) if key == "assigned" else _value(key, value, names)
        if key in ("before", "after") and setting in BOUNDS and BOUNDS[setting].most <= 1:
            said = f"{100 * value:g} %"  # as the page with the settings has it
        parts.append(t("log.part", label=label, value=said))
    return t("list.semicolon").join(parts)


def _assigned(value: Any, studies: Mapping[int, str]) -> str:
    """Studies that somebody works on; two lists: before and after."""
    if value and isinstance(value[0], list):
        return t("log.change", before=_assigned(value[0], studies), after=_assigned(value[1], studies))
    return t("list.comma").join(studies.get(id, str(id)) for id in value) or t("accounts.all_studies")


def _value(key: str, value: object, names: Mapping[int, str]) -> str:
    if key == "account" and isinstance(value, int):
        return names.get(value, str(value))
    if key in ("role", "languages", "status") and isinstance(value, list) and len(value) == 2:
        return t("log.change", before=_value(key, value[0], names), after=_value(key, value[1], names))
    if key == "languages":
        return str(value).replace(",", ", ") or t("account.all_languages")
    if isinstance(value, bool):
        return t("slices.yes" if value else "slices.no")
    if isinstance(value, float):
        return f"{value:g}"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, list | tuple):
        return t("list.comma").join(_value(key, part, names) for part in value)
    if isinstance(value, str):
        known = {"role": f"role.{value}", "purpose": f"known.{value}", "kind": f"kind.{value}"}
        known |= dict.fromkeys(("before", "after"), f"versions_of.{value}")
        if key == "task":
            return task_name(value)
        return text_or(known.get(key, ""), value)
    return json.dumps(value, ensure_ascii=False)
