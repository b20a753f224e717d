"""Parts that the dashboard and the results share: tables and charts, with downloads as CSV and PNG."""

import base64
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

import streamlit as st

from audit.reports.charts import DARK, LIGHT, Palette, spec_of
from audit.reports.words import UNKNOWN
from audit.ui import session
from audit.ui.background_cache import produce
from audit.ui.language import html, language, t

PER_CENT = {"percent_agreement"}
"""Columns of fractions that are shown in per cent; downloaded files have the fractions."""
FORMATS = dict.fromkeys(PER_CENT, "%.1f") | dict.fromkeys(
    ("estimate", "low", "high", "cohen_kappa", "gwet_ac1"), "%.3f"
)

FONT = "'Source Sans', 'Noto Sans CJK SC', 'Noto Sans SC', 'PingFang SC', 'Microsoft YaHei', system-ui, sans-serif"
"""Fonts of charts: the app's own, then one with Chinese letters."""


def table(
    name: str,
    rows: Sequence[Mapping[str, Any]],
    columns: Sequence[str],
    height: int | Literal["auto"] = "auto",
) -> None:
    """Rows as a table that sorts, its `columns` codes of `[column]`; rates in per cent, a dash for a missing value."""
    cells = [{t(f"column.{column}"): _cell_value(row, column) for column in columns} for row in rows]
    formats: dict[str, Any] = {
        t(f"column.{column}"): st.column_config.NumberColumn(format=FORMATS[column])
        for column in columns
        if column in FORMATS
    }
    st.dataframe(cells, hide_index=True, height=height, column_config=formats, placeholder=UNKNOWN, key=f"table-{name}")


def chart(
    name: str, key: tuple[Any, ...], build: Callable[[Palette], Any], alt: str, download: str | None = None
) -> bool:
    """Show a chart in its own size, with a button for its picture where `download` is the key of the button's text.
    Return False, and show nothing, where there is no chart.

    `key` names the data that it is built from: it is built once per key and language. `alt` is the alternative text.
    """
    full_key = (session.database_url(), name, *key, language())
    spec = chart_spec(full_key, st.context.theme.type == "dark", build)
    if spec is None:
        return False
    st.vega_lite_chart(spec, theme=None, width="content", alt=alt, key=f"chart-{name}")
    if download is not None:
        light = chart_spec(full_key, False, build)
        st.download_button(
            t("dashboard.png", name=t(f"dashboard.{download}")),
            lambda: base64.b64decode(produce("picture", {"spec": light}, full_key)),
            f"{name}.png",
            "image/png",
            key=f"png-{name}",
            on_click="ignore",
            icon=":material/image:",
        )
    return True


@st.cache_data(max_entries=400, show_spinner=False)
def chart_spec(key: tuple[Any, ...], dark: bool, _build: Callable[[Palette], Any]) -> dict[str, Any] | None:
    """The specification of a chart for the browser, or None. Cached: building one is the slowest part of a rerun."""
    chart = _build(DARK if dark else LIGHT)
    if chart is None:
        return None
    spec = spec_of(chart)
    return spec | {"config": spec.get("config", {}) | {"font": FONT}}


def heading(text: str) -> None:
    """A heading inside a tab; it is shown smaller than a page's (data/ui/style.css)."""
    st.markdown(f"## {text}")


def tiles(numbers: Sequence[tuple[str, str]]) -> None:
    """Numbers with their names, as many in a line as there is room for."""
    parts = "".join(f"<div><dt>{html(name)}</dt><dd>{html(number)}</dd></div>" for name, number in numbers)
    st.html(f'<dl class="audit-tiles">{parts}</dl>')


def _cell_value(row: Mapping[str, Any], column: str) -> Any:
    value = row.get(column)
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value))
    return 100 * value if column in PER_CENT and value is not None else value
