"""Charts of a report, for the HTML file and for the app. Each is an Altair chart made from the report's own dict."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from audit.reports.build import Report, cells_of
from audit.reports.document import PairEntry, RelationResultEntry
from audit.reports.words import UNKNOWN, genuine_text, percent, rollup_name
from audit.statistics.orders import TIED

if TYPE_CHECKING:
    import altair as alt


ROW = 26
"""Height of one system or relation in pixels."""
DARK_FILL = 0.8
"""False rate from which a heat map's field is so strong that white numbers have more contrast than dark ones."""
LETTER = 7.4
"""Width of a letter of an axis label in pixels, in a wide font: the browser's may be wider than the chart engine's."""
NUMBERS = 96
"""Width of `100.0 → 100.0` and the space after it."""
LONGEST = 20
"""Letters of a system's name that an axis shows."""
LONGEST_FAMILY = 28
"""Letters of a family's name that an axis shows."""


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


def rates_chart(
    report: Report, relation: RelationResultEntry, palette: Palette = LIGHT, width: int = 250
) -> "alt.Chart":
    """Observed and genuine satisfaction of one relation, a row a system, the genuinely best on top.

    `relation` is an entry of `report["relations"]`. A ring is SR_o, a disc SR_g, the line between them is what is
    false, the band around the disc is its interval; at the right stand the numbers in per cent, and where the ranking
    is known its letters: systems that share one are not told apart. A system without a genuine rate has a ring only, or
    a thick line between the bounds that its answers leave, with the band of their interval.
    """
    cells = cells_of(report, relation["task"], relation["study"], relation["relation"])
    systems = [*relation["order_genuine"]]
    systems += [system for system in relation["order_observed"] if system not in systems]
    systems += [cell["system"] for cell in cells if cell["system"] not in systems]
    letters = {entry["system"]: entry["letters"] for entry in relation["ranking"]}
    by_name = {cell["system"]: cell for cell in cells}
    rows = [_row(system, by_name[system], "sr_", letters.get(system)) for system in systems]
    return _before_and_after(rows, palette, width, _room(cell["system"] for cell in report["cells"]))


def rollup_chart(report: Report, by: str, palette: Palette = LIGHT, width: int = 250) -> "alt.Chart | None":
    """Observed and genuine satisfaction of the roll-ups of one level, a row each, marked as in `rates_chart`.

    `by` is `relation`, `system`, `family` or `overall`. None where no roll-up of the level has an observed rate.
    """
    entries = [entry for entry in report["rollups"] if entry["by"] == by and entry["sr_observed"] is not None]
    rows = [_row(rollup_name(report, entry), entry, "sr_", None) for entry in entries]
    return (
        _before_and_after(rows, palette, width, _room((row["name"] for row in rows), LONGEST_FAMILY)) if rows else None
    )


def scores_chart(report: Report, palette: Palette = LIGHT, width: int = 250) -> "alt.Chart | None":
    """Every system's weighted rate before and after, the best on top, marked as in `rates_chart`.

    None where the report has no `preference`, or no system has a score in it.
    """
    preference = report.get("preference")
    scored = [entry for entry in preference["ranking"] if entry["score_observed"] is not None] if preference else []
    scored.sort(key=lambda entry: (entry["score"] is None, -(entry["score"] or 0.0), entry["system"]))
    rows = [
        _row(entry["system"], entry, "score_", None)
        | {"genuine": entry["score"]}
        | {"low": entry["score_low"], "high": entry["score_high"]}
        for entry in scored
    ]
    return _before_and_after(rows, palette, width, _room(row["name"] for row in rows)) if rows else None


def _row(name: str, rates: Mapping[str, Any], prefix: str, letters: str | None) -> dict[str, Any]:
    """What `_before_and_after` draws in one row."""
    return {
        "name": name,
        "observed": rates[f"{prefix}observed"],
        "genuine": rates.get(f"{prefix}genuine"),
        "low": rates.get(f"{prefix}genuine_low"),
        "high": rates.get(f"{prefix}genuine_high"),
        "letters": letters or "",
    } | _bounds(rates)


def _bounds(rates: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a row whose answers leave only bounds of SR_g: the bounds, and their interval as the band."""
    if rates.get("sr_least") is None:
        return {"least": None, "most": None}
    bounds = {"least": rates["sr_least"], "most": rates["sr_most"]}
    return bounds | {"low": rates["sr_bound_low"], "high": rates["sr_bound_high"], "numbers": genuine_text(rates)}


def _room(names: Iterable[str], longest: int = LONGEST) -> float:
    """Width in pixels of an axis of names. Charts with the same names line up."""
    return LETTER * min(longest, max(map(len, names)))


def _before_and_after(rows: Sequence[Mapping[str, Any]], palette: Palette, width: int, room: float) -> "alt.Chart":
    """One row for each name, in order: a ring before, a disc after with its interval, and the loss between them."""
    import altair as alt

    values = [
        dict(row, numbers=f"{percent(row['observed'])} → {row.get('numbers') or percent(row['genuine'])}")
        for row in rows
    ]
    names = alt.Axis(labelLimit=room, minExtent=room, maxExtent=room, labelPadding=8)
    order = [row["name"] for row in rows]
    base = alt.Chart().encode(y=alt.Y("name:N", sort=order, title=None, axis=names))
    share = alt.Scale(domain=[0, 1], nice=False)
    axis = alt.Axis(values=[0, 0.25, 0.5, 0.75, 1], format=".0%", title=None, labelFlush=False)

    def x(field: str) -> "alt.X":
        return alt.X(f"{field}:Q", scale=share, axis=axis)

    tooltip = [
        alt.Tooltip("name:N", title=" "),
        alt.Tooltip("observed:Q", format=".1%", title="SR_o"),
        alt.Tooltip("genuine:Q", format=".1%", title="SR_g"),
    ]
    estimated = base.transform_filter("isValid(datum.genuine)")
    layers = [
        base.mark_text(align="left", dx=width + 10, color=palette.muted).encode(
            x=alt.XValue(0), text=alt.Text("numbers:N")
        )
    ]
    if any(row["letters"] for row in rows):
        layers.append(
            base.mark_text(
                align="left", dx=width + 10 + NUMBERS, color=palette.ink, fontWeight="bold", fontSize=12
            ).encode(x=alt.XValue(0), text=alt.Text("letters:N"))
        )
    if any(row["low"] is not None for row in rows):
        layers.append(
            base.transform_filter("isValid(datum.low)")
            .mark_bar(height=11, opacity=0.25, color=palette.genuine, cornerRadius=3)
            .encode(x=x("low"), x2=alt.X2("high:Q"))
        )
    if any(row.get("least") is not None for row in rows):
        layers.append(
            base.transform_filter("isValid(datum.least)")
            .mark_rule(color=palette.genuine, strokeWidth=4)
            .encode(x=x("least"), x2=alt.X2("most:Q"))
        )
    layers += [
        estimated.mark_rule(color=palette.false, strokeWidth=2).encode(x=x("genuine"), x2=alt.X2("observed:Q")),
        base.transform_filter("isValid(datum.observed)")
        .mark_point(shape="circle", size=62, filled=True, fill=palette.paper, stroke=palette.observed, opacity=1)
        .encode(x=x("observed"), tooltip=tooltip),
        estimated.mark_point(shape="circle", size=62, filled=True, color=palette.genuine, opacity=1).encode(
            x=x("genuine"), tooltip=tooltip
        ),
    ]
    return styled(alt.layer(*layers, data=alt.Data(values=values), width=width, height={"step": ROW}), palette)


def false_chart(report: Report, task: str, study: object, palette: Palette = LIGHT, width: int = 96) -> "alt.Chart":
    """Heat map of R_FS: a row a relation, a column a system, `width` pixels each; a dash where it is unknown.

    The stronger a field the more of its satisfaction is false; the number in it is R_FS in per cent.
    """
    import altair as alt

    cells = [cell for cell in report["cells"] if (cell["task"], cell["study"]) == (task, study)]
    values = [
        {
            "relation": cell["relation"],
            "system": cell["system"],
            "share": cell["fs_rate"],
            "text": percent(cell["fs_rate"]),
        }
        for cell in cells
    ]
    tooltip = ["relation:N", "system:N", alt.Tooltip("share:Q", format=".1%", title="false")]
    return heat_map(values, "system", "relation", palette.false, palette, width, tooltip)


def heat_map(
    values: Sequence[Mapping[str, Any]],
    across: str,
    down: str,
    fill: str,
    palette: Palette,
    width: int,
    tooltip: Sequence[Any],
) -> "alt.Chart":
    """A field of `width` pixels for each of `values`: its `text`, on the colour `fill` as strong as its `share`.

    A share that is None leaves its field empty. `across` and `down` name what columns and rows are; both stand in the
    order in which they come.
    """
    import altair as alt

    filled = [dict(value, fill=0 if value["share"] is None else 0.04 + 0.96 * value["share"]) for value in values]
    columns, rows = (list(dict.fromkeys(value[name] for value in values)) for name in (across, down))
    top = alt.Axis(orient="top", labelAngle=0, labelLimit=width - 4, domain=False, ticks=False, labelPadding=6)
    left = alt.Axis(domain=False, ticks=False, labelPadding=8)
    base = alt.Chart().encode(
        x=alt.X(f"{across}:N", sort=columns, title=None, scale=alt.Scale(paddingInner=0.03), axis=top),
        y=alt.Y(f"{down}:N", sort=rows, title=None, scale=alt.Scale(paddingInner=0.1), axis=left),
        tooltip=list(tooltip),
    )
    fields = base.mark_rect(color=fill, cornerRadius=4).encode(fillOpacity=alt.FillOpacity("fill:Q", scale=None))
    strong = alt.datum.share >= DARK_FILL
    numbers = base.mark_text(fontSize=12).encode(
        text=alt.Text("text:N"), color=alt.condition(strong, alt.value("#ffffff"), alt.value(palette.ink))
    )
    layers = alt.layer(fields, numbers, data=alt.Data(values=filled), width={"step": width}, height={"step": ROW})
    return styled(layers, palette)


def rates_in_words(report: Report, relation: RelationResultEntry) -> str:
    """What `rates_chart` shows, for those who cannot see it."""
    cells = cells_of(report, relation["task"], relation["study"], relation["relation"])
    parts = []
    for cell in cells:
        if cell["sr_observed"] is None:
            parts.append(f"{cell['system']}: nothing to compare")
        elif cell["sr_genuine"] is None:
            rate_text = f"{genuine_text(cell)} % genuine" if cell["sr_least"] is not None else "genuine not known yet"
            parts.append(f"{cell['system']}: {percent(cell['sr_observed'])} % observed, {rate_text}")
        else:
            observed, genuine = percent(cell["sr_observed"]), percent(cell["sr_genuine"])
            parts.append(f"{cell['system']}: {observed} % observed, {genuine} % genuine")
    return f"Satisfaction rates of {relation['relation']}. " + "; ".join(parts) + "."


def to_svg(chart: "alt.Chart") -> str:
    """The chart as an SVG document. Text is escaped; nothing is fetched."""
    import vl_convert

    return str(vl_convert.vegalite_to_svg(spec_of(chart)))


def spec_of(chart: "alt.Chart") -> dict[str, Any]:
    """The chart as a Vega-Lite specification, for a browser or the chart engine.

    Altair's own check of it would take as long as drawing; tests check every chart. Without being told to pad it,
    Streamlit would squeeze it, numbers beside the plot included, into its plot's width.
    """
    spec: dict[str, Any] = chart.to_dict(validate=False) | {"autosize": "pad"}
    return spec


def cut(name: str) -> str:
    """A system's name as far as a chart shows it.

    >>> cut("a-system-with-a-very-long-name")
    'a-system-with-a-ver…'
    """
    return name if len(name) <= LONGEST else name[: LONGEST - 1] + "…"


def styled(chart: "alt.Chart", palette: Palette) -> "alt.Chart":
    """The chart with the one calm look of all charts: no frame, thin grid, our colours on every axis."""
    import altair as alt

    axis = alt.AxisConfig(
        labelColor=palette.ink,
        labelFontSize=12,
        gridColor=palette.line,
        domain=False,
        ticks=False,
        titleColor=palette.muted,
    )
    # `chart.configure` would copy the whole chart with its values.
    chart.config = alt.Config(
        background="transparent",
        font="system-ui, sans-serif",
        padding=4,
        view=alt.ViewConfig(stroke=None),
        axis=axis,
        axisX=alt.AxisConfig(labelColor=palette.muted, labelFontSize=11),
        axisY=alt.AxisConfig(grid=False),
    )
    return chart


# Pairs of systems in words and in a chart: who is better, by how much, and whether that is sure.


def oriented(pairs: Sequence[PairEntry]) -> list[PairEntry]:
    """The pairs of a relation whose difference is known, the better system first, the surest difference first.

    `pairs` are those of an entry of `report["relations"]`; where `other` was better, the two are swapped and the signs
    of the difference and of its interval turned.

    >>> pair = {"system": "a", "other": "b", "difference": -0.2, "low": -0.3, "high": -0.1, "p_holm": 0.01}
    >>> best = oriented([pair])[0]
    >>> best["system"], best["difference"], best["low"], best["high"]
    ('b', 0.2, 0.1, 0.3)
    """
    turned = []
    for pair in pairs:
        difference, low, high = pair["difference"], pair["low"], pair["high"]
        if difference is None or low is None or high is None:
            continue
        entry = pair.copy()
        if difference < 0:
            entry |= {"system": pair["other"], "other": pair["system"]}
            entry |= {"difference": -difference, "low": -high, "high": -low}
        # Differences without error have no p and come first.
        turned.append(((entry["p_holm"] or 0.0, -abs(difference), entry["system"], entry["other"]), entry))
    return [entry for _, entry in sorted(turned, key=lambda placed: placed[0])]


def exact(pair: PairEntry) -> bool:
    """Whether the difference is known without error: for the corpus, every group that decides was judged."""
    return bool(pair["low"] == pair["high"])


def p_text(p: float | None) -> str:
    r"""A p-value with three digits and what it is to `p`, as papers print it, on one line.

    >>> p_text(0.0004), p_text(0.0417), p_text(1.0)
    ('<\xa0.001', '=\xa0.042', '=\xa01')
    """
    if p is None:
        return UNKNOWN
    if p < 0.001:
        return "<\N{NO-BREAK SPACE}.001"
    return "=\N{NO-BREAK SPACE}" + ("1" if p >= 0.9995 else f"{p:.3f}".removeprefix("0"))


def pairs_text(pairs: Sequence[PairEntry]) -> str:
    r"""The strongest difference of a relation in plain words; empty where none is known.

    >>> pair = {"system": "a", "other": "b", "difference": 0.2, "low": 0.1, "high": 0.3, "p_holm": 0.01}
    >>> pairs_text([pair | {"apart": True, "judged": 40, "informative": 90}])
    'a is better than b by 20.0 points [10.0 to 30.0]; p =\xa0.010 after Holm’s adjustment over the whole report.'
    """
    ordered = oriented(pairs)
    if not ordered:
        return ""
    best = ordered[0]
    numbers = f"{percent(best['difference'])} points [{percent(best['low'])} to {percent(best['high'])}]"
    tests = f"p {p_text(best['p_holm'])} after Holm’s adjustment over the whole report"
    if exact(best):
        return (
            f"Every group that decides was judged, so the differences are exact for this corpus; the largest is "
            f"{best['system']} over {best['other']} by {percent(best['difference'])} points."
        )
    if best["p_holm"] is None:
        return (
            f"The largest difference is {best['system']} over {best['other']} by {numbers}; too few groups are judged "
            "to test it."
        )
    if not best["apart"]:
        return (
            f"No two systems are told apart; the strongest difference is {best['system']} over {best['other']} by "
            f"{numbers}; {tests}."
        )
    return f"{best['system']} is better than {best['other']} by {numbers}; {tests}."


def differences_chart(
    pairs: Sequence[PairEntry], delta: float, palette: Palette = LIGHT, width: int = 250
) -> "alt.Chart | None":
    """The differences of SR_g between two systems each, with their intervals; None where none is known.

    A disc is a pair that is told apart after Holm's adjustment, a ring one that is not; the grey band around 0 holds
    differences up to `delta`. The numbers at the right are points of a percentage and the adjusted p.
    """
    import altair as alt

    ordered = oriented(pairs)
    if not ordered:
        return None
    values: list[dict[str, Any]] = [
        {
            "pair": f"{cut(pair['system'])} – {cut(pair['other'])}",
            "difference": 100 * pair["difference"],
            "low": 100 * pair["low"],
            "high": 100 * pair["high"],
            "apart": pair["apart"],
            "numbers": f"{percent(pair['difference'])} · p {p_text(pair['p_holm'])}",
        }
        for pair in ordered
        if pair["difference"] is not None and pair["low"] is not None and pair["high"] is not None
    ]
    lowest, highest = (pick(value[end] for value in values) for pick, end in ((min, "low"), (max, "high")))
    reach = [min(lowest, -100 * delta, -5.0), max(highest, 100 * delta, 5.0)]
    scale = alt.Scale(domain=reach, nice=True)
    axis = alt.Axis(title=None, format="+~r", tickCount=5, labelFlush=False)
    room = LETTER * max(len(value["pair"]) for value in values)
    base = alt.Chart().encode(
        y=alt.Y(
            "pair:N",
            sort=[value["pair"] for value in values],
            title=None,
            axis=alt.Axis(labelLimit=room, minExtent=room, maxExtent=room, labelPadding=8),
        )
    )

    def x(field: str) -> "alt.X":
        return alt.X(f"{field}:Q", scale=scale, axis=axis)

    tooltip = ["pair:N", *(alt.Tooltip(f"{name}:Q", format="+.1f") for name in ("difference", "low", "high"))]
    nothing = alt.Chart(alt.Data(values=[{"low": -100 * delta, "high": 100 * delta, "none": 0}]))
    layers: list[Any] = []
    if delta:
        layers.append(nothing.mark_rect(color=palette.observed, opacity=0.2).encode(x=x("low"), x2=alt.X2("high:Q")))
    layers += [
        nothing.mark_rule(color=palette.observed, strokeWidth=1.5).encode(x=x("none")),
        base.mark_rule(color=palette.genuine, strokeWidth=2).encode(x=x("low"), x2=alt.X2("high:Q")),
        base.transform_filter("!datum.apart")
        .mark_point(shape="circle", size=62, filled=True, fill=palette.paper, stroke=palette.genuine, opacity=1)
        .encode(x=x("difference"), tooltip=tooltip),
        base.transform_filter("datum.apart")
        .mark_point(shape="circle", size=62, filled=True, color=palette.genuine, opacity=1)
        .encode(x=x("difference"), tooltip=tooltip),
        base.mark_text(align="left", dx=width + 10, color=palette.muted).encode(
            x=alt.XValue(0), text=alt.Text("numbers:N")
        ),
    ]
    return styled(alt.layer(*layers, data=alt.Data(values=values), width=width, height={"step": ROW}), palette)


# The change of order: where each system stood by the reported rate, and where it stands by the genuine one.

BETWEEN = 110
"""Pixels between the two orders."""


@dataclass(frozen=True, slots=True)
class Moved:
    """A system in both orders: its ranks (1 + the number of better systems) and rates before and after.

    `line_before` and `line_after` are its lines in a drawing, from 0; tied systems stand in the order of the other
    side, so that a tie never looks like a change.
    """

    system: str
    rank_before: int
    rank_after: int
    line_before: int
    line_after: int
    observed: float
    genuine: float


def moves(relation: RelationResultEntry) -> list[Moved]:
    """The systems of a relation that have both rates over the groups that apply to all,
    the genuinely best first; none where there are fewer than two.

    >>> ranking = [
    ...     {"system": "a", "sr_observed": 0.9, "sr_genuine": 0.4},
    ...     {"system": "b", "sr_observed": 0.8, "sr_genuine": 0.6},
    ... ]
    >>> [(move.system, move.rank_before, move.rank_after) for move in moves({"ranking": ranking})]
    [('b', 2, 1), ('a', 1, 2)]
    """
    rates_by_system = {
        entry["system"]: (entry["sr_observed"], entry["sr_genuine"])
        for entry in relation["ranking"]
        if entry["sr_observed"] is not None and entry["sr_genuine"] is not None
    }
    if len(rates_by_system) < 2:
        return []
    ranks = [
        {
            name: 1 + sum(other[side] > rates[side] + TIED for other in rates_by_system.values())
            for name, rates in rates_by_system.items()
        }
        for side in (0, 1)
    ]
    lines = [
        {
            name: line
            for line, name in enumerate(
                sorted(rates_by_system, key=lambda system: (ranks[side][system], ranks[1 - side][system], system))
            )
        }
        for side in (0, 1)
    ]
    return [
        Moved(name, ranks[0][name], ranks[1][name], lines[0][name], lines[1][name], *rates_by_system[name])
        for name in lines[1]
    ]


def order_chart(
    relation: RelationResultEntry,
    palette: Palette = LIGHT,
    titles: tuple[str, str] = ("reported", "genuine"),
) -> "alt.Chart | None":
    """The order before at the left, after at the right, a line a system; None where fewer than two have both rates.

    Who rises has a thick line, who falls a dashed one, who keeps the rank a thin one. Numbers are rates in per cent.
    """
    import altair as alt

    moved = moves(relation)
    if not moved:
        return None
    ends: list[dict[str, Any]] = [
        {
            "system": move.system,
            "side": side,
            "line": line,
            "kind": "same"
            if move.rank_before == move.rank_after
            else "up"
            if move.rank_after < move.rank_before
            else "down",
            "left": f"{cut(move.system)}  {percent(move.observed)}" if not side else "",
            "right": f"{percent(move.genuine)}  {cut(move.system)}" if side else "",
        }
        for move in moved
        for side, line in ((0, move.line_before), (1, move.line_after))
    ]
    scale = alt.Scale(domain=[-0.5, len(moved) - 0.5], reverse=True, nice=False)
    # Texts are drawn inside the plot, so that there is room for them in any font.
    room = LETTER * max(len(end["left"] or end["right"]) for end in ends) + 10
    x = alt.X("side:Q", axis=None, scale=alt.Scale(domain=[0, 1], range=[room, room + BETWEEN], nice=False))
    base = alt.Chart().encode(
        x=x,
        y=alt.Y("line:Q", axis=None, scale=scale),
    )
    layers = []
    looks: dict[str, dict[str, Any]] = {
        "same": {"color": palette.observed, "strokeWidth": 1.5},
        "down": {"color": palette.false, "strokeWidth": 2, "strokeDash": [5, 4]},
        "up": {"color": palette.genuine, "strokeWidth": 3},
    }
    for kind, look in looks.items():
        of_kind = base.transform_filter(alt.datum.kind == kind)
        colour = look["color"]
        layers += [
            of_kind.mark_line(**look).encode(detail=alt.Detail("system:N")),
            of_kind.mark_point(shape="circle", size=46, filled=True, color=colour, opacity=1),
        ]
    layers += [
        base.mark_text(align="right", dx=-10, color=palette.ink, fontSize=12).encode(text=alt.Text("left:N")),
        base.mark_text(align="left", dx=10, color=palette.ink, fontSize=12).encode(text=alt.Text("right:N")),
    ]
    heads = [{"side": side, "title": title} for side, title in enumerate(titles)]
    layers.append(
        alt.Chart(alt.Data(values=heads))
        .mark_text(color=palette.muted, fontSize=11)
        .encode(x=x, y=alt.YValue(-6), text=alt.Text("title:N"))
    )
    return styled(
        alt.layer(*layers, data=alt.Data(values=ends), width=2 * room + BETWEEN, height=ROW * len(moved)), palette
    )


def order_in_words(relation: RelationResultEntry) -> str:
    """What `order_chart` shows, for those who cannot see it."""
    parts = [f"{move.system} from rank {move.rank_before} to {move.rank_after}" for move in moves(relation)]
    return f"Ranks by the reported and by the genuine rate of {relation['relation']}: " + "; ".join(parts) + "."
