"""How far the judging is: totals, pace, and every cell."""

from typing import Any

import streamlit as st
from sqlalchemy import Engine

from audit.annotation.accounts import Account
from audit.annotation.overview import Overview, overview
from audit.reports.dashboard_charts import progress_chart
from audit.ui.dashboard_parts import Drawn, chart, study_of, table, take_along, tiles
from audit.ui.language import t
from audit.ui.literal import plain
from audit.ui.workshop import current

COLUMNS = ("study", "relation", "system", "drawn", "settled", "judged", "waiting", "fs_rate", "fs_low", "fs_high")


def section(engine: Engine, account: Account) -> None:
    """The totals come at once; the cells are counted beside."""
    found = overview(engine, account.id)
    _totals(found)
    st.markdown(" ".join(plain(line) for line in pace_lines(found)))
    _cells(engine, found)


def _totals(found: Overview) -> None:
    progress = found.progress
    numbers = [("open", progress.open), *((f"by_{name}", number) for name, number in progress.answers.items())]
    numbers += [("disputed", found.disputed), ("flagged", found.flagged)]
    numbers += [("audits", progress.audits), ("checks", progress.checks), ("today", found.today), ("week", found.week)]
    tiles([(t(f"dashboard.{name}"), f"{number:,}") for name, number in numbers])


def pace_lines(found: Overview) -> list[str]:
    """How fast people judge and when that ends, in sentences; the next step where nobody judges."""
    if not found.speed.judgements:
        return [t("dashboard.nobody_lately" if found.left else "dashboard.nothing_left")]
    lines = []
    if found.speed.per_hour is not None and found.speed.per_day is not None:
        lines.append(
            t(
                "dashboard.pace",
                hour=f"{found.speed.per_hour:,.0f}",
                day=f"{found.speed.per_day:,.0f}",
                hours=f"{found.speed.hours:,.1f}",
            )
        )
    if not found.left:
        return [*lines, t("dashboard.nothing_left")]
    lines.append(t("dashboard.left", count=found.left, number=f"{found.left:,}"))
    if found.ends is not None:
        lines.append(t("dashboard.ends", day=f"{found.ends:%Y-%m-%d}"))
    return lines


def _cells(engine: Engine, found: Overview) -> None:
    cells = current(engine, "cells", {}, "progress")
    if not cells.value:
        st.info(t("dashboard.nothing_drawn"), icon=":material/info:")
        return
    if not any(found.progress.answers.values()):
        st.info(t("dashboard.nothing_answered"), icon=":material/info:")
    st.caption(t("dashboard.progress_legend"))
    pictures: list[tuple[str, Drawn | None]] = []
    keys = list(dict.fromkeys((one["task"], one["study"]) for one in cells.value))
    for task, study in keys:
        some = [one for one in cells.value if (one["task"], one["study"]) == (task, study)]
        if len(keys) > 1:
            st.markdown(f"**{plain(study_of(some[0]))}**")
        name = f"judged-{task}-{study}"
        drawn = chart(name, (cells.state,), lambda palette, some=some: progress_chart(some, palette), _words(some))  # type: ignore[misc]
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
