"""Sections of a report on a page of the app: each behind a click, computed and sent only while it is open."""

from collections.abc import Callable, Sequence
from typing import Any

import streamlit as st

from audit.reports.charts import DARK, LIGHT, Palette, spec_of
from audit.reports.tables import EMPHASIS, Chart, Section, Table, Verbatim
from audit.reports.words import UNKNOWN, Estimate, Say
from audit.ui import session
from audit.ui.language import language, plain, t, with_commands

FONT = "'Source Sans', 'Noto Sans CJK SC', 'Noto Sans SC', 'PingFang SC', 'Microsoft YaHei', system-ui, sans-serif"
"""Fonts of charts: the app's own, then one with Chinese letters."""
_MOST = 3
"""Sections within one from which on one of them is chosen, and shown."""


def show_sections(sections: Sequence[Section], key: tuple[Any, ...]) -> None:
    """Show sections; `key` names what they were made from, and their charts are kept by it."""
    for section in sections:
        with st.expander(plain(section.title), key=f"section-{section.title}", on_change="rerun") as opened:
            if opened.open:
                show_parts(section, section.title, key)


def show_parts(section: Section, path: str, key: tuple[Any, ...]) -> None:
    """Show what stands under the title of a section; `path` names it on its page."""
    within = [part for part in section.parts if isinstance(part, Section)]
    for number, part in enumerate(section.parts):
        if isinstance(part, Chart):
            chart(f"{path}-{number}", key, part.draw, part.alt)
            st.caption(plain(part.key))
        elif isinstance(part, Table):
            show_table(part, f"{path}-{number}")
        elif isinstance(part, Verbatim):
            st.code(part, language=None, wrap_lines=True)
        elif isinstance(part, str):
            st.markdown(with_commands(EMPHASIS.sub(r"\1", part)))
    for part in within if len(within) <= _MOST else [_chosen(path, within)]:
        st.markdown(f"**{plain(part.title)}** {plain(part.about)}")
        show_parts(part, f"{path}-{part.title}", key)


def _chosen(path: str, sections: Sequence[Section]) -> Section:
    """Return the section that the reader chose; at first one that stands out."""
    first = next((number for number, section in enumerate(sections) if section.stands_out), 0)
    names = [f"{section.title} · {section.about}" if section.about else section.title for section in sections]
    chosen: int = st.selectbox(
        t("browse.relation"),
        range(len(names)),
        first,
        names.__getitem__,
        key=f"chosen-{path}-{'|'.join(section.title for section in sections)}",  # other sections, another box
        persist_state="session",
    )
    return sections[chosen]


def show_table(table: Table, key: str) -> None:
    """Show a table that sorts: rates as numbers in per cent, their intervals and bounds beside them.

    A column without any value is left out: before the first answers most have none.
    """
    say, rows, formats = Say(language()), list[dict[str, Any]](), dict[str, Any]()
    for row in table.rows:
        cells: dict[str, Any] = {}
        for head, value in zip(table.columns, row, strict=True):
            if isinstance(value, Estimate | float):
                number = value.value if isinstance(value, Estimate) else value
                formats[head] = st.column_config.NumberColumn(format="%.1f")
                cells[head] = None if number is None else 100 * number
                if isinstance(value, Estimate) and (value.low is not None or value.least is not None):
                    shown = value.text(say.language)
                    cells[f"{head} (95 %)"] = shown if value.value is None else shown.partition(" ")[2]
            else:
                cells[head] = value if value is None or isinstance(value, int) else say.cell(value)
        rows.append(cells)
    valued = {head for cells in rows for head, value in cells.items() if value not in (None, UNKNOWN)}
    rows = [{head: value for head, value in cells.items() if head in valued} for cells in rows]
    st.dataframe(rows, hide_index=True, column_config=formats, placeholder=UNKNOWN, key=f"table-{key}")


def chart(name: str, key: tuple[Any, ...], build: Callable[[Palette], Any], alt: str) -> None:
    """Show a chart, where there is one; `key` names its data: it is built once per key and language."""
    full_key = (session.database_url(), name, *key, language())
    if (spec := chart_spec(full_key, st.context.theme.type == "dark", build)) is not None:
        st.vega_lite_chart(spec, theme=None, width="content", alt=alt, key=f"chart-{name}")


@st.cache_data(max_entries=400, show_spinner=False)
def chart_spec(key: tuple[Any, ...], dark: bool, _build: Callable[[Palette], Any]) -> dict[str, Any] | None:
    """The specification of a chart for the browser. Cached: building one is the slowest part of a rerun."""
    chart = _build(DARK if dark else LIGHT)
    if chart is None:
        return None
    spec = spec_of(chart)
    return spec | {"config": spec.get("config", {}) | {"font": FONT}}
