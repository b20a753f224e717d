"""Charts of the dashboard and of the quality page, with words that come from the caller."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from audit.reports.charts import LIGHT, Palette, Rows, heat, intervals

if TYPE_CHECKING:
    import altair as alt


def progress_chart(cells: Rows, palette: Palette = LIGHT, width: int = 120) -> "alt.Chart":
    """Return a heat map of the judged share of cells, as from `cells_at_work`: in each field `judged/drawn`."""
    rows = [
        {
            "row": cell["relation"],
            "column": cell["system"],
            "share": cell["judged"] / cell["drawn"] if cell["drawn"] else 0.0,
            "text": f"{cell['judged']:,}/{cell['drawn']:,}",
        }
        for cell in cells
    ]
    return heat(rows, palette.genuine, palette, width)


def confusion_chart(matrix: Sequence[Sequence[int]], labels: Sequence[str], palette: Palette = LIGHT) -> "alt.Chart":
    """Return a heat map of which labels people take for each other, filled by the share of the row."""
    rows = [
        {"row": label, "column": other, "share": times / sum(row) if sum(row) else 0.0, "text": f"{times:,}"}
        for label, row in zip(labels, matrix, strict=True)
        for other, times in zip(labels, row, strict=True)
    ]
    return heat(rows, palette.observed, palette)


MEASURES = ("accuracy", "consistency", "settled", "others")
"""Shares of a quality report that the first chart shows, side by side."""


def shares_chart(
    report: Any, names: Mapping[str, str], palette: Palette = LIGHT, width: int = 150
) -> "alt.Chart | None":
    """Return a row an annotator, a column a measure of a quality report; None where no annotator has a share."""
    rows = [
        {**one[measure], "name": one["annotator"], "measure": names[measure]}
        for one in report["annotators"]
        for measure in MEASURES
    ]
    return intervals(rows, [0.0, 0.5, 1.0], ".0%", palette, width) if _any_known(rows) else None


def bias_chart(report: Any, names: Mapping[str, str], palette: Palette = LIGHT, width: int = 150) -> "alt.Chart | None":
    """Return a row an annotator, a column a label: right of the line it is given too often, left of it too seldom."""
    rows = [
        {**bias, "name": one["annotator"], "measure": names[bias["label"]]}
        for one in report["annotators"]
        for bias in one["bias"]
    ]
    reach = round(
        max([0.1, *(abs(row[end]) for row in rows for end in ("low", "high") if row[end] is not None)]) + 0.005, 2
    )
    return intervals(rows, [-reach, 0.0, reach], "+.0%", palette, width) if _any_known(rows) else None


def _any_known(rows: Rows) -> bool:
    return any(row["value"] is not None for row in rows)
