"""Charts of the dashboard, the quality page and the page of values, with words that come from the caller.

Each is an Altair chart made from a part of a document, drawn with `audit.reports.charts.Plot` or `heat_map`.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from audit.reports.charts import (
    LIGHT,
    ROW,
    Palette,
    Plot,
    Tip,
    cut,
    heat_map,
    row_axis,
)

if TYPE_CHECKING:
    import altair as alt


def progress_chart(cells: Sequence[Mapping[str, Any]], palette: Palette = LIGHT, width: int = 120) -> "alt.Chart":
    """Heat map of the judged share: a row a relation, a column a system, in each field `judged/drawn`.

    `cells` are those of one task and study, as from `audit.reports.progress.cells_at_work`.
    """
    values = [
        {
            "row": cell["relation"],
            "column": cut(cell["system"]),
            "share": cell["judged"] / cell["drawn"] if cell["drawn"] else 0.0,
            "text": f"{cell['judged']:,}/{cell['drawn']:,}",
        }
        for cell in cells
    ]
    return heat_map(values, palette.genuine, palette, width)


def confusion_chart(
    matrix: Sequence[Sequence[int]], labels: Sequence[str], palette: Palette = LIGHT, width: int = 110
) -> "alt.Chart":
    """Heat map of which labels people take for each other: in each field how often, filled by its share of the row."""
    values = [
        {"row": label, "column": other, "share": times / sum(row) if sum(row) else 0.0, "text": f"{times:,}"}
        for label, row in zip(labels, matrix, strict=True)
        for other, times in zip(labels, row, strict=True)
    ]
    return heat_map(values, palette.observed, palette, width)


# Rows: shares, biases and means as discs with their intervals.


MEASURES = ("accuracy", "consistency", "settled", "others")
"""Shares of a quality report that the first chart shows, side by side."""


def shares_chart(
    report: Mapping[str, Any], names: Mapping[str, str], palette: Palette = LIGHT, width: int = 150
) -> "alt.Chart | None":
    """A row an annotator, a column a measure: a disc for the share, a band for its interval; nothing where it is null.

    `names` are the measures' headings. None where no annotator has a share.
    """
    rows = [
        _disc(annotator["annotator"], names[measure], annotator[measure])
        for annotator in report["annotators"]
        for measure in MEASURES
    ]
    return _discs(rows, [names[measure] for measure in MEASURES], [0.0, 0.5, 1.0], ".0%", palette, width)


def bias_chart(
    report: Mapping[str, Any], names: Mapping[str, str], palette: Palette = LIGHT, width: int = 150
) -> "alt.Chart | None":
    """A row an annotator, a column a label: right of the line it is given too often, left of it too seldom.

    `names` are the labels' headings. None where no bias is known.
    """
    rows = [
        _disc(annotator["annotator"], names[bias["label"]], bias)
        for annotator in report["annotators"]
        for bias in annotator["bias"]
    ]
    ends = [abs(row[end]) for row in rows for end in ("low", "high") if row[end] is not None]
    reach = round(max([0.1, *ends]) + 0.005, 2)
    return _discs(rows, [names[label] for label in report["labels"]], [-reach, 0.0, reach], "+.0%", palette, width)


def _disc(name: str, measure: str, entry: Mapping[str, Any]) -> dict[str, Any]:
    return {"name": name, "measure": measure} | {end: entry[end] for end in ("value", "low", "high")}


def _discs(
    rows: Sequence[dict[str, Any]],
    measures: Sequence[str],
    ticks: list[float],
    form: str,
    palette: Palette,
    width: int,
) -> "alt.Chart | None":
    """Small multiples with shared rows, their axes from the first to the last of `ticks`, with a line at an inner 0."""
    import altair as alt

    values = [row for row in rows if row["value"] is not None]
    if not values:
        return None
    names = _names(rows, "name")
    across = row_axis("name", names)
    across.scale = alt.Scale(domain=names)
    scale = alt.Scale(domain=[ticks[0], ticks[-1]], nice=False)
    axis = alt.Axis(format=form, values=ticks, labelFlush=False)
    tips: list[Tip] = [("name", " ", None), ("measure", "  ", None)]
    tips += [(end, end, form.replace("0", "1")) for end in ("value", "low", "high")]
    plot = Plot(values, palette, across, scale, axis, tips=tips)
    if ticks[0] < 0:
        plot.layers.append(alt.Chart().mark_rule(color=palette.muted).encode(x=alt.datum(0, scale=scale)))
    plot.band("low", "high", size=9)
    plot.point("value", palette.genuine)
    return plot.panels("measure", measures, len(measures), width, ROW * len(names))


def _names(values: Sequence[Mapping[str, Any]], field: str) -> list[str]:
    """The values of a field, each once, in their order."""
    return list(dict.fromkeys(value[field] for value in values))
