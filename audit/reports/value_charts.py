"""Charts of the values that relations compared: rates at other bounds, and mean values of languages and systems.

Each is an Altair chart made from a document of `audit values`; words come from the caller.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from audit.reports.charts import LETTER, LIGHT, LONGEST, ROW, Palette, heat_map, styled
from audit.reports.dashboard_charts import panels
from audit.reports.numbers import number
from audit.reports.words import percent

if TYPE_CHECKING:
    import altair as alt


def bounds_chart(
    cells: Sequence[Mapping[str, Any]], titles: tuple[str, str], palette: Palette = LIGHT, width: int = 190
) -> "alt.Chart":
    """SR_o of one relation at every bound, a panel a system with the other systems' lines in grey behind its own.

    `cells` are those of one study and relation, as from `audit.reports.bounds.bounds_report`; `titles` those of the
    axes. The dashed line is the bound of the run, the disc on it what the run reported.
    """
    import altair as alt

    ends = [rate["at"] for cell in cells for rate in cell["rates"] if rate["sr_observed"] > 0]
    last = max([*ends, *(cell["bound"] for cell in cells)])
    shown = next((rate["at"] for rate in cells[0]["rates"] if rate["at"] > last), last)
    values: list[dict[str, Any]] = []
    for cell in cells:
        name = cell["system"]
        values += [
            {"panel": name, "line": other["system"], "own": other is cell, "bound": rate["at"]}
            | {"share": rate["sr_observed"]}
            for other in cells
            for rate in other["rates"]
            if rate["at"] <= shown
        ]
        reported = cell["sr_observed"]
        values.append({"panel": name, "run": cell["bound"], "reported": reported, "written": percent(reported)})
    low = min([0.0, *(rate["at"] for rate in cells[0]["rates"]), *(cell["bound"] for cell in cells)])
    across, share = alt.Scale(domain=[low, shown], nice=False), alt.Scale(domain=[0, 1], nice=False)
    x_axis = alt.Axis(tickCount=5, grid=False, format="~r")
    y_axis = alt.Axis(values=[0, 0.25, 0.5, 0.75, 1], format=".0%", grid=True)

    def x(field: str) -> "alt.X":
        return alt.X(f"{field}:Q", scale=across, axis=x_axis, title=titles[0])

    def y(field: str) -> "alt.Y":
        return alt.Y(f"{field}:Q", scale=share, axis=y_axis, title=titles[1])

    # Lines fall: there is room above a point at the left, and below one at the right.
    left = 2 * cells[0]["bound"] < low + shown
    beside: dict[str, Any] = {"align": "left", "dx": 6, "dy": -8} if left else {"align": "right", "dx": -6, "dy": 12}
    line = alt.Chart().encode(x=x("bound"), y=y("share"), detail="line:N", order="bound:Q")
    run = alt.Chart().transform_filter("isValid(datum.run)").encode(x=x("run"))
    tooltip = [alt.Tooltip("bound:Q", title=titles[0]), alt.Tooltip("share:Q", format=".1%", title=titles[1])]
    told = [alt.Tooltip("run:Q", title=titles[0]), alt.Tooltip("reported:Q", format=".1%", title=titles[1])]
    layers = [
        line.transform_filter("datum.own === false").mark_line(color=palette.observed, strokeWidth=1, opacity=0.45),
        run.mark_rule(color=palette.muted, strokeDash=[4, 4], strokeWidth=1.5),
        line.transform_filter("datum.own === true")
        .mark_line(color=palette.genuine, strokeWidth=2.5, point=alt.OverlayMarkDef(size=60, opacity=0))
        .encode(tooltip=tooltip),
        run.mark_point(filled=True, color=palette.genuine, size=50, opacity=1).encode(y=y("reported"), tooltip=told),
        run.mark_text(color=palette.ink, fontSize=12, fontWeight="bold", **beside).encode(
            y=y("reported"), text="written:N"
        ),
    ]
    order = list(dict.fromkeys(one["panel"] for one in values))
    panel = alt.layer(*layers, width=width, height=130)
    return styled(panels(panel, "panel", order, values, palette, columns=3), palette)


def means_chart(
    means: Sequence[Mapping[str, Any]],
    letters: Mapping[str, str],
    title: str,
    palette: Palette = LIGHT,
    width: int = 260,
) -> "alt.Chart | None":
    """Least-squares means of one factor with their intervals, a row a level, the highest on top.

    `means` are rows of `audit.reports.means.means_report`, `letters` those of its `subsets` by level: levels that share
    one are not told apart. At the right stand the mean and its letters. None where no mean can be estimated.
    """
    import altair as alt

    found = sorted((one for one in means if one["mean"] is not None), key=lambda one: -one["mean"])
    if not found:
        return None
    values = [
        {"level": one["level"], "mean": one["mean"], "low": one["low"], "high": one["high"]}
        | {"numbers": number(one["mean"], 3), "letters": letters.get(one["level"], "")}
        for one in found
    ]
    names = alt.Axis(labelLimit=LETTER * LONGEST, labelPadding=8)
    base = alt.Chart().encode(y=alt.Y("level:N", sort=[value["level"] for value in values], title=None, axis=names))
    scale = alt.Scale(zero=False, nice=True, padding=8)
    axis = alt.Axis(tickCount=5, format="~r", labelFlush=False)

    def x(field: str) -> "alt.X":
        return alt.X(f"{field}:Q", scale=scale, axis=axis, title=title)

    tooltip = ["level:N", *(alt.Tooltip(f"{name}:Q", format=".4f") for name in ("mean", "low", "high"))]
    beside = base.encode(x=alt.XValue(0))
    layers = [
        base.transform_filter("isValid(datum.low)")
        .mark_bar(height=11, opacity=0.25, color=palette.genuine, cornerRadius=3)
        .encode(x=x("low"), x2=alt.X2("high:Q")),
        base.mark_point(shape="circle", size=62, filled=True, color=palette.genuine, opacity=1).encode(
            x=x("mean"), tooltip=tooltip
        ),
        beside.mark_text(align="left", dx=width + 10, color=palette.muted).encode(text="numbers:N"),
        beside.mark_text(align="left", dx=width + 50, color=palette.ink, fontWeight="bold", fontSize=12).encode(
            text="letters:N"
        ),
    ]
    return styled(alt.layer(*layers, data=alt.Data(values=values), width=width, height={"step": ROW}), palette)


def levels_chart(
    cells: Sequence[Mapping[str, Any]], score: str, palette: Palette = LIGHT, width: int = 130
) -> "alt.Chart":
    """Heat map of satisfied shares: a row a system, a column a level of granularity, and their mean, the score, last.

    `cells` are those of one domain, as from `audit.reports.levels.levels_report`; `score` is what the last column is
    called.
    """
    values = [
        {"system": cell["system"], "level": name, "share": share, "text": percent(share)}
        for cell in cells
        for name, share in [*cell["shares"].items(), (score, cell["score"])]
    ]
    tooltip = ["system:N", "level:N", "text:N"]
    return heat_map(values, "level", "system", palette.genuine, palette, width, tooltip)
