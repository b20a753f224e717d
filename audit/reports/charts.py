"""Charts of a report, for the HTML file and for the app. Each is an Altair chart made from the report's own dict."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from audit.reports.build import Report, cells_of
from audit.reports.words import UNKNOWN, percent

if TYPE_CHECKING:
    import altair as alt

ROW = 26
"""Height of one system or relation in pixels."""
DARK_FILL = 0.8
"""False rate from which a heat map's field is so strong that white numbers have more contrast than dark ones."""
LETTER = 7.4
"""Width of a letter of an axis label in pixels, in a wide font: the browser's may be wider than the chart engine's."""
LONGEST = 20
"""Letters of a system's name that an axis shows."""


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


def rates_chart(report: Report, relation: Mapping[str, Any], palette: Palette = LIGHT, width: int = 300) -> "alt.Chart":
    """Observed and genuine satisfaction of one relation, a row a system, the genuinely best on top.

    `relation` is an entry of `report["relations"]`. A ring is SR_o, a disc SR_g, the line between them is what is
    false, the band around the disc is its interval; at the right stand the numbers in per cent. A system without a
    genuine rate has a ring only.
    """
    import altair as alt

    cells = cells_of(report, relation["task"], relation["study"], relation["relation"])
    known = [cell for cell in cells if cell["sr_observed"] is not None]
    systems = [*relation["order_genuine"]]
    systems += [system for system in relation["order_observed"] if system not in systems]
    systems += [cell["system"] for cell in cells if cell["system"] not in systems]
    values = [
        {key: cell[key] for key in ("system", "sr_observed", "sr_genuine", "sr_genuine_low", "sr_genuine_high")}
        | {"numbers": f"{percent(cell['sr_observed'])} → {percent(cell['sr_genuine'])}"}
        for cell in cells
    ]
    # The same room for names in all charts of a report, so that they line up.
    room = LETTER * min(LONGEST, max(len(cell["system"]) for cell in report["cells"]))
    names = alt.Axis(labelLimit=room, minExtent=room, maxExtent=room, labelPadding=8)
    base = alt.Chart(alt.Data(values=values)).encode(y=alt.Y("system:N", sort=systems, title=None, axis=names))
    share = alt.Scale(domain=[0, 1], nice=False)
    axis = alt.Axis(values=[0, 0.25, 0.5, 0.75, 1], format=".0%", title=None, labelFlush=False)

    def x(field: str) -> "alt.X":
        return alt.X(f"{field}:Q", scale=share, axis=axis)

    tooltip = [
        alt.Tooltip("system:N"),
        alt.Tooltip("sr_observed:Q", format=".1%", title="observed"),
        alt.Tooltip("sr_genuine:Q", format=".1%", title="genuine"),
    ]
    estimated = base.transform_filter("isValid(datum.sr_genuine)")
    layers = [base.mark_text(align="left", dx=width + 10, color=palette.muted).encode(x=alt.value(0), text="numbers:N")]
    if any(cell["sr_genuine_low"] is not None for cell in known):
        layers.append(
            base.transform_filter("isValid(datum.sr_genuine_low)")
            .mark_bar(height=11, opacity=0.25, color=palette.genuine, cornerRadius=3)
            .encode(x=x("sr_genuine_low"), x2="sr_genuine_high:Q")
        )
    layers += [
        estimated.mark_rule(color=palette.false, strokeWidth=2).encode(x=x("sr_genuine"), x2="sr_observed:Q"),
        base.transform_filter("isValid(datum.sr_observed)")
        .mark_point(shape="circle", size=62, filled=True, fill=palette.paper, stroke=palette.observed, opacity=1)
        .encode(x=x("sr_observed"), tooltip=tooltip),
        estimated.mark_point(shape="circle", size=62, filled=True, color=palette.genuine, opacity=1).encode(
            x=x("sr_genuine"), tooltip=tooltip
        ),
    ]
    return _styled(alt.layer(*layers, width=width, height={"step": ROW}), palette)


def false_chart(report: Report, task: str, study: object, palette: Palette = LIGHT, width: int = 96) -> "alt.Chart":
    """Heat map of R_FS: a row a relation, a column a system, `width` pixels each; a dash where it is unknown.

    The stronger a field the more of its satisfaction is false; the number in it is R_FS in per cent.
    """
    import altair as alt

    cells = [cell for cell in report["cells"] if (cell["task"], cell["study"]) == (task, study)]
    relations = list(dict.fromkeys(cell["relation"] for cell in cells))
    values = [
        {
            "relation": cell["relation"],
            "system": cell["system"],
            "rate": cell["fs_rate"],
            "fill": 0.04 + 0.96 * cell["fs_rate"] if cell["fs_rate"] is not None else 0,
            "text": percent(cell["fs_rate"]) if cell["fs_rate"] is not None else UNKNOWN,
        }
        for cell in cells
    ]
    base = alt.Chart(alt.Data(values=values)).encode(
        x=alt.X(
            "system:N",
            title=None,
            scale=alt.Scale(paddingInner=0.03),
            axis=alt.Axis(orient="top", labelAngle=0, labelLimit=width - 4, domain=False, ticks=False, labelPadding=6),
        ),
        y=alt.Y(
            "relation:N",
            sort=relations,
            title=None,
            scale=alt.Scale(paddingInner=0.1),
            axis=alt.Axis(domain=False, ticks=False, labelPadding=8),
        ),
        tooltip=["relation:N", "system:N", alt.Tooltip("rate:Q", format=".1%", title="false")],
    )
    fields = base.mark_rect(color=palette.false, cornerRadius=4).encode(
        fillOpacity=alt.FillOpacity("fill:Q", scale=None)
    )
    strong = alt.datum.rate >= DARK_FILL
    numbers = base.mark_text(fontSize=12).encode(
        text="text:N", color=alt.condition(strong, alt.value("#ffffff"), alt.value(palette.ink))
    )
    return _styled(alt.layer(fields, numbers, width={"step": width}, height={"step": ROW}), palette)


def rates_in_words(report: Report, relation: Mapping[str, Any]) -> str:
    """What `rates_chart` shows, for those who cannot see it."""
    cells = cells_of(report, relation["task"], relation["study"], relation["relation"])
    parts = []
    for cell in cells:
        if cell["sr_observed"] is None:
            parts.append(f"{cell['system']}: nothing to compare")
        elif cell["sr_genuine"] is None:
            parts.append(f"{cell['system']}: {percent(cell['sr_observed'])} % observed, genuine not known yet")
        else:
            observed, genuine = percent(cell["sr_observed"]), percent(cell["sr_genuine"])
            parts.append(f"{cell['system']}: {observed} % observed, {genuine} % genuine")
    return f"Satisfaction rates of {relation['relation']}. " + "; ".join(parts) + "."


def to_svg(chart: "alt.Chart") -> str:
    """The chart as an SVG document. Text is escaped; nothing is fetched."""
    import vl_convert

    # The engine checks the chart too; Altair's own check would take as long as drawing.
    return str(vl_convert.vegalite_to_svg(chart.to_json(validate=False)))


def _styled(chart: "alt.Chart", palette: Palette) -> "alt.Chart":
    """One calm look for all charts: no frame, thin grid, our colours on every axis."""
    import altair as alt

    # In one call, because each call copies the whole chart.
    axis = alt.AxisConfig(
        labelColor=palette.ink,
        labelFontSize=12,
        gridColor=palette.line,
        domain=False,
        ticks=False,
        titleColor=palette.muted,
    )
    return chart.configure(
        background="transparent",
        font="system-ui, sans-serif",
        padding=4,
        view=alt.ViewConfig(stroke=None),
        axis=axis,
        axisX=alt.AxisConfig(labelColor=palette.muted, labelFontSize=11),
        axisY=alt.AxisConfig(grid=False),
    )
