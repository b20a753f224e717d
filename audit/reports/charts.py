"""Charts of reports: each is an Altair chart made from rows.

Every chart says in numbers or shapes what it says in colour. What the rows are is told by who makes them
(`audit.reports.sections`); a value that is None is not drawn.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from unicodedata import east_asian_width

from audit.reports.words import percent

if TYPE_CHECKING:
    import altair as alt

ROW = 26
"""Height of a row in pixels."""
WIDTH = 560
LETTER, WIDE = 7.4, 13.0
"""Widths of a letter in pixels, in a wide font: the browser's may be wider than the chart engine's."""
LONGEST = 28
"""Letters of a name that an axis shows."""
DARK_FILL = 0.8
"""Share from which a heat map's field is so strong that white numbers have more contrast than dark ones."""

Rows = Sequence[Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Palette:
    """Colours by what they mean. Shapes and words say the same, so that nothing hangs on colour."""

    ink: str
    muted: str
    line: str
    paper: str
    observed: str
    genuine: str
    false: str


LIGHT = Palette("#1e252c", "#5d6873", "#dedbd4", "#fffefc", "#74808c", "#0b6b74", "#a63d2b")
DARK = Palette("#e6e3dd", "#a3abb3", "#3a4149", "#1b2026", "#98a3ae", "#4db4bd", "#c9573f")


def before_after(rows: Rows, palette: Palette = LIGHT, width: int = WIDTH) -> "alt.Chart":
    """Return rates before and after, a row a `name`, in panels by `group` where rows have one.

    A ring is `observed`, a disc `genuine`, the line between them what is false, the band the interval from `low` to
    `high`; a thick line goes between the bounds `least` and `most`. The numbers at the right are these, in per cent.
    """
    import altair as alt

    values = [_bar(row) for row in rows]
    names = list(dict.fromkeys(value["name"] for value in values))
    room = max(map(letters, names), default=0.0)
    names_axis = alt.Axis(labelLimit=room, minExtent=room, maxExtent=room, labelPadding=8, grid=False)
    tips = [alt.Tooltip(f"{field}:Q", format=".1%") for field in ("observed", "genuine", "low", "high")]
    end = max((value[key] or 0.0 for value in values for key in ("observed", "genuine", "high", "most")), default=1.0)
    end = 1.0 if end > 0.5 else 0.5 if end > 0.25 else 0.25
    scale = alt.Scale(domain=[0, end], nice=False)
    axis = alt.Axis(values=[end * part / 4 for part in range(5)], format=".0%", title=None, labelFlush=False)
    base = alt.Chart().encode(y=alt.Y("name:N", sort=names, title=None, axis=names_axis), tooltip=["name:N", *tips])

    def drawn(mark: str, first: str, last: str | None = None, **look: Any) -> Any:
        """Return marks at a field, or from one to another, of the rows that have it."""
        drawn_rows = base.transform_filter(" && ".join(f"isValid(datum.{field})" for field in (first, last) if field))
        ends = {} if last is None else {"x2": f"{last}:Q"}
        return getattr(drawn_rows, f"mark_{mark}")(**look).encode(x=alt.X(f"{first}:Q", scale=scale, axis=axis), **ends)

    disc: dict[str, Any] = {"filled": True, "opacity": 1, "size": 62}
    layers = [
        drawn("bar", "low", "high", size=11, cornerRadius=3, opacity=0.25, color=palette.genuine),
        drawn("rule", "least", "most", strokeWidth=4, color=palette.genuine),
        drawn("rule", "genuine", "observed", strokeWidth=2, color=palette.false),
        drawn("point", "observed", **disc, fill=palette.paper, stroke=palette.observed),
        drawn("point", "genuine", **disc, color=palette.genuine),
        base.mark_text(align="left", color=palette.muted, fontSize=11).encode(
            x=alt.value(width + 10), text=alt.Text("numbers:N")
        ),
    ]
    chart: Any = alt.layer(*layers, width=width, height={"step": ROW}).properties(data=alt.Data(values=values))
    if groups := list(dict.fromkeys(row["group"] for row in rows if "group" in row)):
        header = alt.Header(title=None, labelAnchor="start", labelFontWeight="bold", labelColor=palette.ink)
        facet = alt.Facet("group:N", sort=groups, header=header)
        chart = chart.facet(facet=facet, columns=1, spacing=8).resolve_scale(y="independent")
    return styled(chart, palette)


def _bar(row: Mapping[str, Any]) -> dict[str, Any]:
    after = percent(row["genuine"])
    if row["genuine"] is None and row.get("least") is not None:
        after = f"{percent(row['least'])}–{percent(row['most'])}"
    ends = {key: row.get(key) for key in ("observed", "genuine", "low", "high", "least", "most")}
    group = {"group": row["group"]} if "group" in row else {}
    return {"name": cut(row["name"]), "numbers": f"{percent(row['observed'])} → {after}", **ends, **group}


def heat(rows: Rows, fill: str, palette: Palette = LIGHT, width: int = 110) -> "alt.Chart":
    """Return a field of `width` pixels for each row: its `text`, on the colour `fill` as strong as its `share`.

    Fields stand by `row` and `column`, in the order in which these come. A share that is None leaves its field empty.
    A `note` stands in small type under the text, and `sure`, from 0 to 1, makes the colour paler.
    """
    import altair as alt

    strengths = (0 if row["share"] is None else (0.04 + 0.96 * row["share"]) * row.get("sure", 1.0) for row in rows)
    values = [dict(row, column=cut(row["column"], 20), fill=of) for row, of in zip(rows, strengths, strict=True)]
    columns, names = (list(dict.fromkeys(value[key] for value in values)) for key in ("column", "row"))
    noted = any(value.get("note") for value in values)
    tips = [f"{key}:N" for key in ("text", "note", "tip") if any(value.get(key) for value in values)]
    top = alt.Axis(orient="top", labelAngle=0, labelLimit=width - 4, labelPadding=6)
    room = min(max((letters(name) for name in names), default=0.0), 220)
    base = alt.Chart().encode(
        x=alt.X("column:N", sort=columns, title=None, scale=alt.Scale(paddingInner=0.03), axis=top),
        y=alt.Y("row:N", sort=names, title=None, scale=alt.Scale(paddingInner=0.1), axis=alt.Axis(minExtent=room)),
        tooltip=["row:N", "column:N", *tips],
    )
    strong = alt.datum.fill >= 0.04 + 0.96 * DARK_FILL
    colour = alt.condition(strong, alt.value("#ffffff"), alt.value(palette.ink))
    layers = [
        base.mark_rect(color=fill, cornerRadius=4).encode(fillOpacity=alt.FillOpacity("fill:Q", scale=None)),
        base.mark_text(fontSize=12, dy=-6 if noted else 0).encode(text=alt.Text("text:N"), color=colour),
    ]
    if noted:
        layers.append(base.mark_text(fontSize=10, dy=7).encode(text=alt.Text("note:N"), color=colour))
    size = {"width": {"step": width}, "height": {"step": ROW + 10 if noted else ROW}}
    return styled(alt.layer(*layers, data=alt.Data(values=values), **size), palette)


def styled(chart: Any, palette: Palette) -> "alt.Chart":
    """Return the chart with the one calm look of all charts: no frame, thin grid, our colours on every axis."""
    import altair as alt

    look = {"labelColor": palette.ink, "labelFontSize": 12, "gridColor": palette.line, "titleColor": palette.muted}
    # `chart.configure` would copy the whole chart with its values.
    chart.config = alt.Config(
        background="transparent",
        font="system-ui, sans-serif",
        padding=4,
        view=alt.ViewConfig(stroke=None),
        axis=alt.AxisConfig(domain=False, ticks=False, **look),
        axisX=alt.AxisConfig(labelColor=palette.muted, labelFontSize=11),
        axisY=alt.AxisConfig(grid=False),
    )
    return chart


def to_svg(chart: Any) -> str:
    """Return the chart as an SVG document. Text is escaped; nothing is fetched."""
    import vl_convert

    return str(vl_convert.vegalite_to_svg(spec_of(chart)))


def spec_of(chart: Any) -> dict[str, Any]:
    """Return the chart as a Vega-Lite specification, for a browser or the chart engine.

    Altair's own check of it would take as long as drawing; tests check every chart. Without being told to pad it,
    Streamlit would squeeze it, numbers beside the plot included, into its plot's width.
    """
    spec: dict[str, Any] = chart.to_dict(validate=False) | {"autosize": "pad"}
    return spec


def letters(text: str) -> float:
    """Return the pixels that a text needs in a chart."""
    return sum(WIDE if east_asian_width(letter) in "WF" else LETTER for letter in text)


def cut(name: str, longest: int = LONGEST) -> str:
    """Return a name as far as a chart shows it."""
    return name if len(name) <= longest else name[: longest - 1] + "…"
