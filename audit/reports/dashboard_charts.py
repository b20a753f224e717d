"""Charts of the dashboard, the quality page and the page of values, with words that come from the caller.

Each is an Altair chart made from a part of a document, drawn with `audit.reports.charts.Plot` or `heat_map`.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from audit.reports.charts import (
    LETTER,
    LIGHT,
    LONGEST,
    QUARTERS,
    ROW,
    Palette,
    Plot,
    Tip,
    cut,
    heat_map,
    row_axis,
    styled,
)
from audit.reports.words import UNKNOWN, number, percent

if TYPE_CHECKING:
    import altair as alt


DASHES = ([1, 0], [7, 4], [2, 3], [9, 3, 2, 3], [4, 2], [12, 4])
"""Strokes that tell lines apart. With more lines they repeat; each line has its name at its end."""


def progress_chart(cells: Sequence[Mapping[str, Any]], palette: Palette = LIGHT, width: int = 120) -> "alt.Chart":
    """Heat map of the judged share: a row a relation, a column a system, in each field `judged/drawn`.

    `cells` are those of one task and study, as from `audit.reports.over_time.cells_at_work`.
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


def levels_chart(
    cells: Sequence[Mapping[str, Any]], score: str, palette: Palette = LIGHT, width: int = 130
) -> "alt.Chart":
    """Heat map of satisfied shares: a row a system, a column a level of granularity, and their mean, the score, last.

    `cells` are those of one domain, as from `audit.reports.values.levels_report`; `score` is what the last column is
    called.
    """
    values = [
        {"system": cell["system"], "level": name, "share": share, "text": percent(share)}
        for cell in cells
        for name, share in [*cell["shares"].items(), (score, cell["score"])]
    ]
    return heat_map(values, palette.genuine, palette, width, across="level", down="system")


# Lines: rates, probabilities and coefficients against what was judged.


def _share_scale(title: str) -> dict[str, Any]:
    import altair as alt

    axis = alt.Axis(values=QUARTERS, format=".0%", grid=True)
    return {"scale": alt.Scale(domain=[0, 1], nice=False), "axis": axis, "title": title}


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

    ends = "fs" if rate == "fs_rate" else "sr_genuine"
    values = [
        {
            "system": system["system"],
            "judgements": point["judgements"],
            "rate": system[rate][at],
            "low": system[f"{ends}_low"][at],
            "high": system[f"{ends}_high"][at],
            "observed": system["sr_observed"][at] if rate == "sr_genuine" else None,
            "judged": system["judged"][at],
        }
        for system in systems
        for at, point in enumerate(points)
        if system[rate][at] is not None
    ]
    if not values:
        return None
    x = alt.X("judgements:Q", title=titles[0], axis=alt.Axis(tickCount=4, grid=False, format=",d"))
    tips: list[Tip] = [("judgements", titles[0], ","), *((name, name, ".1%") for name in ("rate", "low", "high"))]
    plot = Plot(values, palette, x, **_share_scale(titles[1]), tips=[*tips, ("judged", "judged", ",")])
    plot.area("low", "high")
    plot.line("rate", palette.genuine)
    plot.point("rate", palette.genuine, size=34)
    plot.line("observed", palette.observed, 1.5, strokeDash=[4, 4])
    return plot.panels("system", _names(values, "system"), 4, width, 150)


def best_chart(
    points: Sequence[Mapping[str, Any]],
    systems: Sequence[Mapping[str, Any]],
    titles: tuple[str, str],
    palette: Palette = LIGHT,
    width: int = 420,
) -> "alt.Chart | None":
    """P(best) of each system against the judgements given: a colour and a stroke each, a name at the end of each line.
    None where unknown."""
    import altair as alt

    values = [
        {"system": cut(system["system"]), "judgements": point["judgements"], "p_best": system["p_best"][at]}
        for system in systems
        for at, point in enumerate(points)
        if system["p_best"][at] is not None
    ]
    if not values:
        return None
    names = _names(values, "system")
    ends = _spread_labels([[value for value in values if value["system"] == name][-1] for name in names], 0.1)
    dashes = alt.Scale(domain=names, range=[DASHES[at % len(DASHES)] for at in range(len(names))])
    x = alt.X("judgements:Q", title=titles[0], axis=alt.Axis(tickCount=6, grid=False, format=",d"))
    share = alt.Scale(domain=[0, 1], nice=False)
    y = alt.Y("p_best:Q", scale=share, title=titles[1], axis=alt.Axis(format=".0%", grid=True, tickCount=5))
    colours = alt.Scale(domain=names, range=[palette.lines[at % len(palette.lines)] for at in range(len(names))])
    colour = alt.Color("system:N", scale=colours, legend=None)
    lines = (
        alt.Chart(alt.Data(values=values))
        .mark_line(strokeWidth=2, point=alt.OverlayMarkDef(size=28))
        .encode(
            x=x,
            y=y,
            color=colour,
            strokeDash=alt.StrokeDash("system:N", scale=dashes, legend=None),
            tooltip=["system:N", alt.Tooltip("judgements:Q", format=","), alt.Tooltip("p_best:Q", format=".1%")],
        )
    )
    labels = (
        alt.Chart(alt.Data(values=ends))
        .mark_text(align="left", dx=26, color=palette.ink, fontSize=12)
        .encode(x=x, y=alt.Y("place:Q", scale=share), text=alt.Text("written:N"))
    )
    # A stroke from each line's end to its name, since names that would cover each other are moved apart.
    leaders = (
        alt.Chart(alt.Data(values=ends))
        .mark_rule(strokeWidth=1.5, xOffset=5, x2Offset=22)
        .encode(x=x, x2="judgements:Q", y=y, y2="place:Q", color=colour)
    )
    return styled(alt.layer(lines, leaders, labels, width=width, height=200), palette)


def _spread_labels(ends: Sequence[Mapping[str, Any]], least: float) -> list[dict[str, Any]]:
    """The line ends with a label (`written`) and its `place`, so that no label covers another."""
    place, spread = -least, []
    for end in sorted(ends, key=lambda end: end["p_best"]):
        place = max(end["p_best"], place + least)
        spread.append({**end, "place": place, "written": f"{end['system']}  {percent(end['p_best'], 0)}"})
    excess = max(place - 1.0, 0.0)
    return [entry | {"place": entry["place"] - excess} for entry in spread]


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
    lowest = min([0.0, *(row["low"] for row in values if row["low"] is not None)])
    x = alt.X("stretch:O", title=titles[0], axis=alt.Axis(labelAngle=0))
    scale, axis = alt.Scale(domain=[lowest, 1], nice=False), alt.Axis(grid=True)
    tips: list[Tip] = [("stretch", titles[0], None), *((name, name, ".3f") for name in ("estimate", "low", "high"))]
    plot = Plot(values, palette, x, scale, axis, titles[1], [*tips, ("items", "items", ",")])
    plot.rule("low", "high", palette.genuine, 5, opacity=0.3)
    plot.line("estimate", palette.genuine, 1.5)
    plot.point("estimate", palette.genuine, size=50)
    return plot.panels("name", _names(values, "name"), 4, width, 150)


def bounds_chart(
    cells: Sequence[Mapping[str, Any]], titles: tuple[str, str], palette: Palette = LIGHT, width: int = 190
) -> "alt.Chart":
    """SR_o of one relation at every bound, a panel a system with the other systems' lines in grey behind its own.

    `cells` are those of one study and relation, as from `audit.reports.values.bounds_report`; `titles` those of the
    axes. The dashed line is the bound of the run, the disc on it what the run reported.
    """
    import altair as alt

    ends = [rate["at"] for cell in cells for rate in cell["rates"] if rate["sr_observed"] > 0]
    last = max([*ends, *(cell["bound"] for cell in cells)])
    last_shown = next((rate["at"] for rate in cells[0]["rates"] if rate["at"] > last), last)
    values: list[dict[str, Any]] = []
    for cell in cells:
        name = cell["system"]
        values += [
            {"panel": name, "line": other["system"], "own": other is cell, "bound": rate["at"]}
            | {"share": rate["sr_observed"]}
            for other in cells
            for rate in other["rates"]
            if rate["at"] <= last_shown
        ]
        reported = cell["sr_observed"]
        values.append({"panel": name, "run": cell["bound"], "reported": reported, "written": percent(reported)})
    low = min([0.0, *(rate["at"] for rate in cells[0]["rates"]), *(cell["bound"] for cell in cells)])
    across, share = alt.Scale(domain=[low, last_shown], nice=False), _share_scale(titles[1])
    x_axis = alt.Axis(tickCount=5, grid=False, format="~r")

    def x(field: str) -> "alt.X":
        return alt.X(f"{field}:Q", scale=across, axis=x_axis, title=titles[0])

    # The lines fall, so there is room above a point at the left and below one at the right.
    run_at_left = 2 * cells[0]["bound"] < low + last_shown
    beside: dict[str, Any] = (
        {"align": "left", "dx": 6, "dy": -8} if run_at_left else {"align": "right", "dx": -6, "dy": 12}
    )
    tips: list[Tip] = [("run", titles[0], "~r"), ("reported", titles[1], ".1%")]
    plot = Plot(values, palette, x("run"), **share, tips=tips)
    line = alt.Chart().encode(x=x("bound"), y=alt.Y("share:Q", **share), detail="line:N", order="bound:Q")
    tooltip = [alt.Tooltip("bound:Q", title=titles[0]), alt.Tooltip("share:Q", format=".1%", title=titles[1])]
    run = alt.Chart().transform_filter("isValid(datum.run)").encode(x=x("run"))
    plot.layers += [
        line.transform_filter("datum.own === false").mark_line(color=palette.observed, strokeWidth=1, opacity=0.45),
        run.mark_rule(color=palette.muted, strokeDash=[4, 4], strokeWidth=1.5),
        line.transform_filter("datum.own === true")
        .mark_line(color=palette.genuine, strokeWidth=2.5, point=alt.OverlayMarkDef(size=60, opacity=0))
        .encode(tooltip=tooltip),
    ]
    plot.point("reported", palette.genuine, size=50)
    plot.label("reported", "written", color=palette.ink, fontSize=12, fontWeight="bold", **beside)
    return plot.panels("panel", _names(values, "panel"), 3, width, 130)


# Rows: counts as bars, and shares, biases and means as discs with their intervals.


def needs_chart(
    rows: Sequence[Mapping[str, Any]], goals: Sequence[str], titles: tuple[str, str], palette: Palette = LIGHT
) -> "alt.Chart | None":
    """Questions to go of each relation, a panel a goal, the number beside each bar; `titles` are the axis's, and a 0's.

    `rows` have name, goal and to_go (None: not known, a dash). None where there are no rows.
    """
    if not rows:
        return None
    values = [
        dict(row, number=row["to_go"] or 0, written=titles[1] if row["to_go"] == 0 else _count_text(row["to_go"]))
        for row in rows
    ]
    return _bars(values, palette, titles[0]).panels("goal", goals, 3, 210, {"step": 21})


def people_chart(people: Sequence[Mapping[str, Any]], palette: Palette = LIGHT, width: int = 420) -> "alt.Chart | None":
    """Judgements of each person, the number beside the bar. None where nobody judged."""
    counts = {cut(person["name"]): person["judgements"] for person in people if person["judgements"]}
    values = [
        {"name": name, "number": judgements, "written": _count_text(judgements)}
        for name, judgements in sorted(counts.items(), key=lambda counted: -counted[1])
    ]
    return _bars(values, palette, None).chart(width) if values else None


def _count_text(number: int | None) -> str:
    return UNKNOWN if number is None else f"{number:,}"


def _bars(values: Sequence[dict[str, Any]], palette: Palette, title: str | None) -> Plot:
    """A bar from 0 to `number` for each name, with `written` at its end."""
    import altair as alt

    most = max(value["number"] for value in values) or 1
    scale = alt.Scale(domain=[0, most * 1.35], nice=False)
    axis = alt.Axis(tickCount=3, format=",d", grid=False) if title else None
    across = alt.Y("name:N", sort=_names(values, "name"), title=None)
    plot = Plot([value | {"zero": 0} for value in values], palette, across, scale, axis, title)
    plot.band("zero", "number", palette.genuine, 0.75, 13)
    plot.label("number", "written", align="left", dx=5, color=palette.ink, fontSize=11)
    return plot


def means_chart(
    means: Sequence[Mapping[str, Any]],
    letters: Mapping[str, str],
    title: str,
    palette: Palette = LIGHT,
    width: int = 260,
) -> "alt.Chart | None":
    """Least-squares means of one factor with their intervals, a row a level, the highest on top.

    `means` are rows of `audit.reports.values.means_report`, `letters` those of its `subsets` by level: levels that
    share one are not told apart. At the right stand the mean and its letters. None where no mean can be estimated.
    """
    import altair as alt

    ordered = sorted((mean for mean in means if mean["mean"] is not None), key=lambda mean: -mean["mean"])
    if not ordered:
        return None
    values = [
        {"level": mean["level"], "mean": mean["mean"], "low": mean["low"], "high": mean["high"]}
        | {"numbers": number(mean["mean"], 3), "letters": letters.get(mean["level"], "")}
        for mean in ordered
    ]
    names = alt.Axis(labelLimit=LETTER * LONGEST, labelPadding=8)
    across = alt.Y("level:N", sort=[value["level"] for value in values], title=None, axis=names)
    scale, axis = alt.Scale(zero=False, nice=True, padding=8), alt.Axis(tickCount=5, format="~r", labelFlush=False)
    tips: list[Tip] = [("level", " ", None), *((name, name, ".4f") for name in ("mean", "low", "high"))]
    plot = Plot(values, palette, across, scale, axis, title, tips)
    plot.band("low", "high")
    plot.point("mean", palette.genuine)
    plot.text("numbers", width + 10, palette.muted, 11)
    plot.text("letters", width + 50, palette.ink, bold=True)
    return plot.chart(width)


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
