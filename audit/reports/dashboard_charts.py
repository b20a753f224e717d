"""Charts of the dashboard. Each is an Altair chart made from a part of a document; words come from the caller.

Every chart says in numbers or shapes what it says in colour.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from audit.reports.charts import LETTER, LIGHT, LONGEST, ROW, Palette, cut, heat_map, styled
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
    return _heat(values, palette, palette.genuine, width)


def confusion_chart(
    matrix: Sequence[Sequence[int]], labels: Sequence[str], palette: Palette = LIGHT, width: int = 110
) -> "alt.Chart":
    """Heat map of which labels people take for each other: in each field how often, filled by its share of the row."""
    values = []
    for label, row in zip(labels, matrix, strict=True):
        total = sum(row)
        for other, count in zip(labels, row, strict=True):
            share = count / total if total else 0.0
            values.append({"row": label, "column": other, "share": share, "text": f"{count:,}"})
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
            "system": system["system"],
            "judgements": point["judgements"],
            "rate": system[rate][at],
            "low": system[low][at],
            "high": system[high][at],
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
    order = list(dict.fromkeys(value["system"] for value in values))
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
        {"system": cut(system["system"]), "judgements": point["judgements"], "p_best": system["p_best"][at]}
        for system in systems
        for at, point in enumerate(points)
        if system["p_best"][at] is not None
    ]
    if not values:
        return None
    names = list(dict.fromkeys(value["system"] for value in values))
    ends = _spread_labels(
        [{**[value for value in values if value["system"] == name][-1]} for name in names], "p_best", 0.1
    )
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
    labels = (
        alt.Chart(alt.Data(values=ends))
        .mark_text(align="left", dx=8, color=palette.ink, fontSize=12)
        .encode(x=x, y=alt.Y("place:Q", scale=share), text=alt.Text("written:N"))
    )
    return styled(alt.layer(lines, labels, width=width, height=200), palette)


def _spread_labels(ends: list[dict[str, Any]], name: str, least: float) -> list[dict[str, Any]]:
    """The line ends with a label (`written`) and its `place`, so that no label covers another."""
    place = -least
    for entry in sorted(ends, key=lambda end: end[name]):
        place = max(entry[name], place + least)
        entry |= {"place": place, "written": f"{entry['system']}  {percent(entry[name], 0)}"}
    excess = max((entry["place"] for entry in ends), default=0.0) - 1.0
    return [entry | {"place": entry["place"] - max(excess, 0.0)} for entry in ends]


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
    order = list(dict.fromkeys(value["name"] for value in values))
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
        {"name": cut(person["name"]), "number": person["judgements"], "written": f"{person['judgements']:,}"}
        for person in people
        if person["judgements"]
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


# Charts of how annotators judge: shares with their intervals, and the bias of each label.

MEASURES = ("accuracy", "consistency", "settled", "others")
"""Shares of a quality report that the first chart shows, side by side."""


def shares_chart(
    report: Mapping[str, Any], names: Mapping[str, str], palette: Palette = LIGHT, width: int = 150
) -> "alt.Chart | None":
    """A row an annotator, a column a measure: a disc for the share, a band for its interval; nothing where it is null.

    `names` are the measures' headings. None where no annotator has a share.
    """
    rows = [
        {"name": annotator["annotator"], "measure": names[measure]} | _ends(annotator[measure])
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
        {"name": annotator["annotator"], "measure": names[bias["label"]]} | _ends(bias)
        for annotator in report["annotators"]
        for bias in annotator["bias"]
    ]
    ends = [abs(row[end]) for row in rows for end in ("low", "high") if row[end] is not None]
    reach = round(max([0.1, *ends]) + 0.005, 2)
    return _discs(
        rows, [names[label] for label in report["labels"]], [-reach, 0.0, reach], "+.0%", palette, width, line=True
    )


def _ends(entry: Mapping[str, Any]) -> dict[str, Any]:
    return {name: entry[name] for name in ("value", "low", "high")}


def _discs(
    rows: Sequence[dict[str, Any]],
    measures: Sequence[str],
    ticks: list[float],
    form: str,
    palette: Palette,
    width: int,
    line: bool = False,
) -> "alt.Chart | None":
    """Small multiples with shared rows, their axes from the first to the last of `ticks`; with `line` a line at 0."""
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


# Charts of the values that relations compared: rates at other bounds, and mean values of languages and systems.
#
# Each is an Altair chart made from a document of `audit values`; words come from the caller.


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
    across, share = alt.Scale(domain=[low, last_shown], nice=False), alt.Scale(domain=[0, 1], nice=False)
    x_axis = alt.Axis(tickCount=5, grid=False, format="~r")
    y_axis = alt.Axis(values=[0, 0.25, 0.5, 0.75, 1], format=".0%", grid=True)

    def x(field: str) -> "alt.X":
        return alt.X(f"{field}:Q", scale=across, axis=x_axis, title=titles[0])

    def y(field: str) -> "alt.Y":
        return alt.Y(f"{field}:Q", scale=share, axis=y_axis, title=titles[1])

    # The lines fall, so there is room above a point at the left and below one at the right.
    run_at_left = 2 * cells[0]["bound"] < low + last_shown
    beside: dict[str, Any] = (
        {"align": "left", "dx": 6, "dy": -8} if run_at_left else {"align": "right", "dx": -6, "dy": 12}
    )
    line = alt.Chart().encode(x=x("bound"), y=y("share"), detail="line:N", order="bound:Q")
    run = alt.Chart().transform_filter("isValid(datum.run)").encode(x=x("run"))
    tooltip = [alt.Tooltip("bound:Q", title=titles[0]), alt.Tooltip("share:Q", format=".1%", title=titles[1])]
    run_tooltip = [alt.Tooltip("run:Q", title=titles[0]), alt.Tooltip("reported:Q", format=".1%", title=titles[1])]
    layers = [
        line.transform_filter("datum.own === false").mark_line(color=palette.observed, strokeWidth=1, opacity=0.45),
        run.mark_rule(color=palette.muted, strokeDash=[4, 4], strokeWidth=1.5),
        line.transform_filter("datum.own === true")
        .mark_line(color=palette.genuine, strokeWidth=2.5, point=alt.OverlayMarkDef(size=60, opacity=0))
        .encode(tooltip=tooltip),
        run.mark_point(filled=True, color=palette.genuine, size=50, opacity=1).encode(
            y=y("reported"), tooltip=run_tooltip
        ),
        run.mark_text(color=palette.ink, fontSize=12, fontWeight="bold", **beside).encode(
            y=y("reported"), text="written:N"
        ),
    ]
    order = list(dict.fromkeys(value["panel"] for value in values))
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

    `cells` are those of one domain, as from `audit.reports.values.levels_report`; `score` is what the last column is
    called.
    """
    values = [
        {"system": cell["system"], "level": name, "share": share, "text": percent(share)}
        for cell in cells
        for name, share in [*cell["shares"].items(), (score, cell["score"])]
    ]
    tooltip = ["system:N", "level:N", "text:N"]
    return heat_map(values, "level", "system", palette.genuine, palette, width, tooltip)
