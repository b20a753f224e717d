"""Charts of the dashboard. Each is an Altair chart made from a part of a document; words come from the caller.

Every chart says in numbers or shapes what it says in colour.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from audit.reports.charts import LIGHT, ROW, Palette, cut, heat_map, styled
from audit.reports.words import UNKNOWN, percent

if TYPE_CHECKING:
    import altair as alt

DASHES = ([1, 0], [7, 4], [2, 3], [9, 3, 2, 3], [4, 2], [12, 4])
"""Strokes of lines that are told apart; beyond as many they repeat, and the name at the end tells them."""


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
    return _heat(values, palette, palette.genuine, width)


def confusion_chart(
    matrix: Sequence[Sequence[int]], labels: Sequence[str], palette: Palette = LIGHT, width: int = 110
) -> "alt.Chart":
    """Heat map of which labels people take for each other: in each field how often, filled by its share of the row."""
    values = []
    for one, row in zip(labels, matrix, strict=True):
        total = sum(row)
        for other, number in zip(labels, row, strict=True):
            share = number / total if total else 0.0
            values.append({"row": one, "column": other, "share": share, "text": f"{number:,}"})
    return _heat(values, palette, palette.observed, width)


def _heat(values: list[dict[str, Any]], palette: Palette, fill: str, width: int) -> "alt.Chart":
    import altair as alt

    tooltip = ["row:N", "column:N", "text:N", alt.Tooltip("share:Q", format=".0%")]
    return heat_map(values, "column", "row", fill, palette, width, tooltip)


def firming_chart(
    points: Sequence[Mapping[str, Any]],
    systems: Sequence[Mapping[str, Any]],
    rate: str,
    titles: tuple[str, str],
    palette: Palette = LIGHT,
    width: int = 180,
) -> "alt.Chart | None":
    """A rate of each system against the judgements people had given, with its interval as a band; a panel a system.

    `points` and `systems` are those of `audit.reports.over_time.history_report`; `rate` is `fs_rate` or `sr_genuine`,
    `titles` those of the axes. The dashed line is the observed rate, where `rate` is the genuine one. None where no
    system has a rate at any point.
    """
    import altair as alt

    low, high = ("fs_low", "fs_high") if rate == "fs_rate" else ("sr_genuine_low", "sr_genuine_high")
    values = [
        {
            "system": one["system"],
            "judgements": point["judgements"],
            "rate": one[rate][at],
            "low": one[low][at],
            "high": one[high][at],
            "observed": one["sr_observed"][at] if rate == "sr_genuine" else None,
            "judged": one["judged"][at],
        }
        for one in systems
        for at, point in enumerate(points)
        if one[rate][at] is not None
    ]
    if not values:
        return None
    x = alt.X("judgements:Q", title=titles[0], axis=alt.Axis(tickCount=4, grid=False, format=",d"))
    share = alt.Scale(domain=[0, 1], nice=False)
    axis = alt.Axis(values=[0, 0.25, 0.5, 0.75, 1], format=".0%", grid=True)
    base = alt.Chart().encode(x=x)
    tooltip = [
        alt.Tooltip("judgements:Q", format=","),
        *(alt.Tooltip(f"{name}:Q", format=".1%") for name in ("rate", "low", "high")),
        alt.Tooltip("judged:Q", format=","),
    ]
    layers = [
        base.mark_area(opacity=0.22, color=palette.genuine).encode(
            y=alt.Y("low:Q", scale=share, axis=axis, title=titles[1]), y2=alt.Y2("high:Q")
        ),
        base.mark_line(color=palette.genuine, strokeWidth=2).encode(y=alt.Y("rate:Q", scale=share)),
        base.mark_point(color=palette.genuine, filled=True, size=34, opacity=1).encode(
            y=alt.Y("rate:Q", scale=share), tooltip=tooltip
        ),
    ]
    if rate == "sr_genuine":
        layers.append(
            base.mark_line(color=palette.observed, strokeDash=[4, 4], strokeWidth=1.5).encode(
                y=alt.Y("observed:Q", scale=share)
            )
        )
    order = list(dict.fromkeys(one["system"] for one in values))
    return styled(panels(alt.layer(*layers, width=width, height=150), "system", order, values, palette), palette)


def best_chart(
    points: Sequence[Mapping[str, Any]],
    systems: Sequence[Mapping[str, Any]],
    titles: tuple[str, str],
    palette: Palette = LIGHT,
    width: int = 420,
) -> "alt.Chart | None":
    """P(best) of each system against the judgements given: a stroke each, its name at the end. None where unknown."""
    import altair as alt

    values = [
        {"system": cut(one["system"]), "judgements": point["judgements"], "p_best": one["p_best"][at]}
        for one in systems
        for at, point in enumerate(points)
        if one["p_best"][at] is not None
    ]
    if not values:
        return None
    names = list(dict.fromkeys(one["system"] for one in values))
    ends = _apart([{**[one for one in values if one["system"] == name][-1]} for name in names], "p_best", 0.1)
    dashes = alt.Scale(domain=names, range=[DASHES[at % len(DASHES)] for at in range(len(names))])
    x = alt.X("judgements:Q", title=titles[0], axis=alt.Axis(tickCount=6, grid=False, format=",d"))
    share = alt.Scale(domain=[0, 1], nice=False)
    y = alt.Y("p_best:Q", scale=share, title=titles[1], axis=alt.Axis(format=".0%", grid=True, tickCount=5))
    lines = (
        alt.Chart(alt.Data(values=values))
        .mark_line(color=palette.genuine, strokeWidth=2, point=alt.OverlayMarkDef(color=palette.genuine, size=28))
        .encode(
            x=x,
            y=y,
            detail=alt.Detail("system:N"),
            strokeDash=alt.StrokeDash("system:N", scale=dashes, legend=None),
            tooltip=["system:N", alt.Tooltip("judgements:Q", format=","), alt.Tooltip("p_best:Q", format=".1%")],
        )
    )
    written = (
        alt.Chart(alt.Data(values=ends))
        .mark_text(align="left", dx=8, color=palette.ink, fontSize=12)
        .encode(x=x, y=alt.Y("place:Q", scale=share), text=alt.Text("written:N"))
    )
    return styled(alt.layer(lines, written, width=width, height=200), palette)


def _apart(ends: list[dict[str, Any]], name: str, least: float) -> list[dict[str, Any]]:
    """The ends with a `place` for what is `written` there, so that no text stands on another."""
    place = -least
    for one in sorted(ends, key=lambda end: end[name]):
        place = max(one[name], place + least)
        one |= {"place": place, "written": f"{one['system']}  {percent(one[name], 0)}"}
    over = max((one["place"] for one in ends), default=0.0) - 1.0
    return [one | {"place": one["place"] - max(over, 0.0)} for one in ends]


def agreement_chart(
    series: Sequence[Mapping[str, Any]], titles: tuple[str, str], palette: Palette = LIGHT, width: int = 260
) -> "alt.Chart | None":
    """Coefficients by stretch of the judging, with intervals; a panel a coefficient.

    `series` has rows with name, stretch (a number), estimate, low, high, items. None where no estimate is known.
    """
    import altair as alt

    values = [dict(row) for row in series if row["estimate"] is not None]
    if not values:
        return None
    x = alt.X("stretch:O", title=titles[0], axis=alt.Axis(labelAngle=0))
    lowest = min([0.0, *(row["low"] for row in values if row["low"] is not None)])
    scale = alt.Scale(domain=[lowest, 1], nice=False)
    base = alt.Chart().encode(x=x)
    layers = [
        base.transform_filter("isValid(datum.low)")
        .mark_rule(color=palette.genuine, strokeWidth=5, opacity=0.3)
        .encode(y=alt.Y("low:Q", scale=scale, title=titles[1], axis=alt.Axis(grid=True)), y2=alt.Y2("high:Q")),
        base.mark_line(color=palette.genuine, strokeWidth=1.5).encode(y=alt.Y("estimate:Q", scale=scale)),
        base.mark_point(color=palette.genuine, filled=True, size=50, opacity=1).encode(
            y=alt.Y("estimate:Q", scale=scale),
            tooltip=["stretch:O", *(alt.Tooltip(f"{name}:Q", format=".3f") for name in ("estimate", "low", "high")),
                     alt.Tooltip("items:Q", format=",")],
        ),
    ]  # fmt: skip
    order = list(dict.fromkeys(one["name"] for one in values))
    return styled(panels(alt.layer(*layers, width=width, height=150), "name", order, values, palette), palette)


def needs_chart(
    rows: Sequence[Mapping[str, Any]], goals: Sequence[str], titles: tuple[str, str], palette: Palette = LIGHT
) -> "alt.Chart | None":
    """Questions to go of each relation, a panel a goal, the number beside each bar; `titles` are the axis's, and a 0's.

    `rows` have name, goal and to_go (None: not known, a dash). None where there are no rows.
    """
    import altair as alt

    if not rows:
        return None
    values = [
        dict(row)
        | {
            "number": row["to_go"] or 0,
            "written": UNKNOWN if row["to_go"] is None else f"{row['to_go']:,}" if row["to_go"] else titles[1],
        }
        for row in rows
    ]
    order = list(dict.fromkeys(row["name"] for row in rows))
    most = max(value["number"] for value in values) or 1
    base = alt.Chart().encode(
        y=alt.Y("name:N", sort=order, title=None),
        x=alt.X(
            "number:Q",
            title=titles[0],
            scale=alt.Scale(domain=[0, most * 1.35], nice=False),
            axis=alt.Axis(tickCount=3, format=",d", grid=False),
        ),
    )
    bars = base.mark_bar(color=palette.genuine, opacity=0.75, cornerRadius=2, height=13)
    numbers = base.mark_text(align="left", dx=5, color=palette.ink, fontSize=11).encode(text=alt.Text("written:N"))
    panel = alt.layer(bars, numbers, width=210, height={"step": 21})
    return styled(panels(panel, "goal", goals, values, palette, columns=3), palette)


def people_chart(people: Sequence[Mapping[str, Any]], palette: Palette = LIGHT, width: int = 420) -> "alt.Chart | None":
    """Judgements of each person, the number beside the bar. None where nobody judged."""
    import altair as alt

    values = [
        {"name": cut(one["name"]), "number": one["judgements"], "written": f"{one['judgements']:,}"}
        for one in people
        if one["judgements"]
    ]
    if not values:
        return None
    most = max(value["number"] for value in values)
    base = alt.Chart(alt.Data(values=values)).encode(
        y=alt.Y("name:N", sort="-x", title=None),
        x=alt.X("number:Q", axis=None, scale=alt.Scale(domain=[0, most * 1.2], nice=False)),
    )
    bars = base.mark_bar(color=palette.genuine, opacity=0.75, cornerRadius=2, height=14)
    numbers = base.mark_text(align="left", dx=5, color=palette.ink, fontSize=12).encode(text=alt.Text("written:N"))
    return styled(alt.layer(bars, numbers, width=width, height={"step": ROW}), palette)


def panels(
    panel: "alt.Chart",
    by: str,
    order: Sequence[str],
    values: list[dict[str, Any]],
    palette: Palette,
    columns: int = 4,
) -> "alt.Chart":
    """A panel for each value of a field, named above it."""
    import altair as alt

    header = alt.Header(title=None, labelColor=palette.ink, labelFontSize=12, labelFontWeight="bold", labelLimit=200)
    return panel.properties(data=alt.Data(values=values)).facet(
        facet=alt.Facet(f"{by}:N", sort=list(order), header=header), columns=columns, spacing=18
    )
