"""What the tabs of the results share: charts that are built once, tables that sort, and how sure a ranking is."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

import streamlit as st

from audit.reports import charts
from audit.reports.build import Report
from audit.reports.words import UNKNOWN, by_rank, percent, ranks_text
from audit.statistics.rates import BOUNDS
from audit.ui.dashboard_parts import built
from audit.ui.language import t, translated
from audit.ui.literal import plain, sentence
from audit.ui.results_source import View

RATES = ("sr_observed", "fs_rate", "fs_low", "fs_high", "sr_genuine", "sr_genuine_low", "sr_genuine_high")
CORRECTED = ("sr_corrected", "sr_corrected_low", "sr_corrected_high")
SCORES = ("score_observed", "score", "score_low", "score_high")
WEIGHTS = ("weight", "weight_level")
DIFFERENCES = ("difference", "low", "high")
CAUSES = ("cause_share", "cause_low", "cause_high")
IN_PERCENT = {*RATES, *BOUNDS, *CORRECTED, *SCORES, *WEIGHTS, *DIFFERENCES, *CAUSES, "p_best"}
"""Columns that hold fractions and are shown in per cent."""
TESTS = ("p_holm", "mcnemar_p")


def chart(view: View, name: tuple[Any, ...], make: Callable[[charts.Palette], Any], words: str) -> None:
    """A chart in its own size, or nothing where there is none; `name` tells it from the view's other charts.

    `words` say what it shows to those who cannot see it.
    """
    dark = st.context.theme.type == "dark"
    spec = built((view.key, name), dark, make)
    if spec is not None:
        st.vega_lite_chart(spec, theme=None, width="content", alt=words)


def table(rows: Sequence[Mapping[str, Any]], names: Sequence[str], height: int | Literal["auto"] = "auto") -> None:
    """Rows as a table that sorts: rates in per cent, names as they are."""
    shown = [{t(f"column.{name}"): _shown(row, name) for name in names} for row in rows]
    st.dataframe(shown, hide_index=True, height=height, column_config=_formats(names), placeholder=UNKNOWN)


def cells_table(report: Report, cells: Sequence[Mapping[str, Any]], names: Sequence[str], height: Any = "auto") -> None:
    """Cells as a table, with bounds, corrected rates, the method and the reason of those that have one."""
    rare = (*BOUNDS, *CORRECTED, "method", "reason")
    more = [name for name in rare if any(cell.get(name) is not None for cell in cells)]
    table([_named(cell) for cell in cells], (*names, *more), height)


def whole(report: Report) -> tuple[str, ...]:
    """The columns that name a cell; the study too where there are several."""
    several = len({cell["study"] for cell in report["cells"]}) > 1
    return (*(("study",) if several else ()), "relation", "system")


def how(view: View) -> str:
    """How the numbers were computed, in one sentence, for beside them."""
    chosen = view.options
    confidence = f"{percent(view.report['signature'].get('confidence') or 0.95, 0)} %"
    parts = (
        t("how.interval", confidence=confidence, method=t(f"interval.{chosen.interval}")),
        t(f"how.{chosen.target}"),
        t(f"how.{chosen.whose}"),
        _tolerance(view),
    )
    return t("how.comma").join(parts) + t("how.stop")


def tolerance(view: View) -> str:
    """Which differences count as equal, as a sentence: for beside whatever depends on it."""
    return sentence(_tolerance(view) + t("how.stop"))


def _tolerance(view: View) -> str:
    chosen = view.options.delta
    return t("how.delta", points=percent(chosen)) if chosen else t("how.no_delta")


def ranking_table(
    entries: Sequence[Mapping[str, Any]], rates: Mapping[str, Mapping[str, Any]], names: Sequence[str]
) -> None:
    """A ranking, best first, with rates of each system: rank interval, letters, P(best), or why it is not known."""
    known = by_rank(entries)
    rest = [entry for entry in entries if entry["p_best"] is None]
    rows = [
        {**rates.get(entry["system"], {}), **entry, "ranks": ranks_text(entry) if entry["p_best"] is not None else None}
        for entry in (*known, *rest)
    ]
    letters = ("letters",) if any(entry.get("letters") for entry in entries) else ()
    sure = ("ranks", "p_best") if known else ()
    why = ("reason",) if rest else ()
    table([_named(row) for row in rows], ("system", *names[:2], *why, *names[2:], *letters, *sure))


def heading(text: str) -> None:
    """A heading inside a tab: smaller than the page's."""
    st.markdown(f"##### {text}")


def say(text: str) -> None:
    """A sentence that may quote names, as it is."""
    st.markdown(plain(text))


def _named(row: Mapping[str, Any]) -> dict[str, Any]:
    """With its study's name, and with its reason in the session's language."""
    named = dict(row)
    if row.get("study") is not None:
        named["study"] = t("browse.study_name", corpus=row.get("corpus"), id=row["study"])
    if row.get("reason"):
        named["reason"] = sentence(translated(row["reason"]))
    return named


def _shown(row: Mapping[str, Any], name: str) -> Any:
    value = row.get(name)
    return 100 * value if name in IN_PERCENT and value is not None else value


def _formats(names: Sequence[str]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name in names:
        if name == "p_best":
            found[t("column.p_best")] = st.column_config.ProgressColumn(format="%.1f", min_value=0, max_value=100)
        elif name in DIFFERENCES:
            found[t(f"column.{name}")] = st.column_config.NumberColumn(format="%+.1f")
        elif name in IN_PERCENT:
            found[t(f"column.{name}")] = st.column_config.NumberColumn(format="%.1f")
        elif name in TESTS:
            found[t(f"column.{name}")] = st.column_config.NumberColumn(format="%.2g")
    return found
