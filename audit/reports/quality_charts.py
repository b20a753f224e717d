"""Charts of how annotators judge: shares with their intervals, and the bias of each label."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from audit.reports.charts import LETTER, LIGHT, LONGEST, ROW, Palette, styled

if TYPE_CHECKING:
    import altair as alt

MEASURES = ("accuracy", "consistency", "settled", "others")
"""Shares of a quality report that the first chart shows, side by side."""


def shares_chart(
    report: Mapping[str, Any], names: Mapping[str, str], palette: Palette = LIGHT, width: int = 150
) -> "alt.Chart | None":
    """A row an annotator, a column a measure: a disc for the share, a band for its interval; nothing where it is null.

    `names` are the measures' headings. None where no annotator has a share.
    """
    rows = [
        {"name": one["annotator"], "measure": names[measure]} | _ends(one[measure])
        for one in report["annotators"]
        for measure in MEASURES
    ]
    return _discs(rows, [names[one] for one in MEASURES], [0.0, 0.5, 1.0], ".0%", palette, width)


def bias_chart(
    report: Mapping[str, Any], names: Mapping[str, str], palette: Palette = LIGHT, width: int = 150
) -> "alt.Chart | None":
    """A row an annotator, a column a label: right of the line it is given too often, left of it too seldom.

    `names` are the labels' headings. None where no bias is known.
    """
    rows = [
        {"name": one["annotator"], "measure": names[bias["label"]]} | _ends(bias)
        for one in report["annotators"]
        for bias in one["bias"]
    ]
    known = [abs(row[end]) for row in rows for end in ("low", "high") if row[end] is not None]
    reach = round(max([0.1, *known]) + 0.005, 2)
    return _discs(
        rows, [names[one] for one in report["labels"]], [-reach, 0.0, reach], "+.0%", palette, width, line=True
    )


def _ends(one: Mapping[str, Any]) -> dict[str, Any]:
    return {name: one[name] for name in ("value", "low", "high")}


def _discs(
    rows: Sequence[dict[str, Any]],
    measures: Sequence[str],
    ticks: list[float],
    form: str,
    palette: Palette,
    width: int,
    line: bool = False,
) -> "alt.Chart | None":
    """Small multiples that share their rows, from the first of `ticks` to the last; a line at 0 where `line`."""
    import altair as alt

    values = [row for row in rows if row["value"] is not None]
    if not values:
        return None
    names = list(dict.fromkeys(row["name"] for row in rows))
    room = LETTER * min(LONGEST, max(map(len, names)))
    scale = alt.Scale(domain=[ticks[0], ticks[-1]], nice=False)
    axis = alt.Axis(format=form, title=None, values=ticks, labelFlush=False)
    base = alt.Chart().encode(
        y=alt.Y(
            "name:N",
            sort=names,
            scale=alt.Scale(domain=names),
            title=None,
            axis=alt.Axis(labelLimit=room, minExtent=room, labelPadding=8),
        ),
        tooltip=[
            alt.Tooltip("name:N", title=" "),
            alt.Tooltip("measure:N", title="  "),
            *(alt.Tooltip(f"{end}:Q", format=form.replace("0", "1")) for end in ("value", "low", "high")),
        ],
    )
    layers = [
        base.transform_filter("isValid(datum.low)")
        .mark_bar(height=9, opacity=0.25, color=palette.genuine, cornerRadius=3)
        .encode(x=alt.X("low:Q", scale=scale, axis=axis), x2=alt.X2("high:Q")),
        base.mark_point(shape="circle", size=62, filled=True, color=palette.genuine, opacity=1).encode(
            x=alt.X("value:Q", scale=scale, axis=axis)
        ),
    ]
    if line:
        layers.insert(0, alt.Chart().mark_rule(color=palette.muted).encode(x=alt.datum(0, scale=scale)))
    chart = alt.layer(*layers).properties(width=width, height=ROW * len(names))
    header = alt.Header(title=None, labelColor=palette.ink, labelFontSize=12, labelFontWeight="bold")
    return styled(
        chart.facet(
            data=alt.Data(values=values), column=alt.Column("measure:N", sort=list(measures), header=header), spacing=30
        ),
        palette,
    )
