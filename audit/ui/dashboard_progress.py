"""How far the judging is: totals, pace, and every cell."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import streamlit as st
from sqlalchemy import Engine

from audit.annotation.accounts import Account
from audit.annotation.answers import ORIGINS
from audit.reports.dashboard_charts import progress_chart
from audit.ui.dashboard_parts import Drawn, chart, study_of, table, take_along, tiles
from audit.ui.language import language_name, t
from audit.ui.literal import plain
from audit.ui.workshop import current

COLUMNS = ("study", "relation", "system", "drawn", "settled", "judged", "waiting", "fs_rate", "fs_low", "fs_high")


def section(engine: Engine, account: Account) -> None:
    """The totals come first; the cells when they are counted."""
    found = current(engine, "totals", {"by": account.id}, "totals").value
    _totals(found["questions"], found["judgements"])
    warn_of_unread(found["unread"])
    st.markdown(" ".join(plain(line) for line in pace_lines(found)))
    _cells(engine, any(found["questions"][origin] for origin in ORIGINS))


def _totals(questions: dict[str, int], judgements: dict[str, int]) -> None:
    numbers = [("open", questions["open"]), *((f"by_{origin}", questions[origin]) for origin in ORIGINS)]
    numbers += [(name, questions[name]) for name in ("disputed", "flagged", "audits", "checks")]
    numbers += [(name, judgements[name]) for name in ("today", "week")]
    tiles([(t(f"dashboard.{name}"), f"{number:,}") for name, number in numbers])


def warn_of_unread(unread: Sequence[Mapping[str, Any]]) -> None:
    """A warning for each set of languages that too few accounts read; `unread` as in the totals."""
    for one in unread:
        languages = t("browse.and").join(map(language_name, one["languages"]))
        values = {"number": f"{one['questions']:,}", "languages": plain(languages), "wanted": one["wanted"]}
        kind = "few" if one["readers"] else "nobody"
        able = one["readers"] + one["others"]
        st.warning(t(f"unread.{kind}", count=one["questions"], readers=able, **values), icon=":material/translate:")


def pace_lines(found: dict[str, Any]) -> list[str]:
    """How fast people judge and when that ends, in sentences; the next step where nobody judges."""
    pace, left = found["pace"], found["judgements"]["left"]
    if not pace["judgements"]:
        return [t("dashboard.nobody_lately" if left else "dashboard.nothing_left")]
    lines = []
    if pace["per_hour"] is not None:
        hour, day = (f"{pace[name]:,.0f}" for name in ("per_hour", "per_day"))
        lines.append(t("dashboard.pace", hour=hour, day=day, hours=f"{pace['hours']:,.1f}"))
    if not left:
        return [*lines, t("dashboard.nothing_left")]
    lines.append(t("dashboard.left", count=left, number=f"{left:,}"))
    if pace["ends"] is not None:
        lines.append(t("dashboard.ends", day=pace["ends"][:10]))
    return lines


def _cells(engine: Engine, answered: bool) -> None:
    cells = current(engine, "cells", {}, "progress")
    if not cells.value:
        st.info(t("dashboard.nothing_drawn"), icon=":material/info:")
        return
    if not answered:
        st.info(t("dashboard.nothing_answered"), icon=":material/info:")
    st.caption(t("dashboard.progress_legend"))
    pictures: list[tuple[str, Drawn | None]] = []
    keys = list(dict.fromkeys((one["task"], one["study"]) for one in cells.value))
    for task, study in keys:
        some = [one for one in cells.value if (one["task"], one["study"]) == (task, study)]
        if len(keys) > 1:
            st.markdown(f"**{plain(study_of(some[0]))}**")
        name = f"judged-{task}-{study}"
        drawn = chart(name, (cells.state,), partial(progress_chart, some), _words(some))
        if len(keys) == 1:
            pictures.append(("judged_map", drawn))
        elif drawn is not None:
            drawn.button(name, "judged_map")
    rows = _rows(cells.value)
    table("cells", rows, COLUMNS, height=420 if len(rows) > 11 else "auto")
    take_along("progress", rows, COLUMNS, pictures)


def _rows(cells: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [one | {"study": study_of(one)} for one in cells]


def _words(cells: list[dict[str, Any]]) -> str:
    numbers = "; ".join(f"{one['relation']} {one['system']} {one['judged']}/{one['drawn']}" for one in cells)
    return t("dashboard.progress_alt", numbers=numbers)
