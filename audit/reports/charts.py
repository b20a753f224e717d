"""Charts of a report, for the HTML file, notebooks and the app. Each is an Altair chart made from a report's dict.

Every chart says in numbers or shapes what it says in colour. `Plot` (marks along one axis) and `heat_map` draw them,
and those of `audit.reports.dashboard_charts`. Words are in the language that is asked for.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any
from unicodedata import east_asian_width

from audit.messages import ENGLISH, phrase, said
from audit.reports.build import Report, cells_of
from audit.reports.document import (
    AccuracyEntry,
    CellEntry,
    PairEntry,
    PreferredSystem,
    RelationResultEntry,
    SliceRate,
    SlicesEntry,
    ViolationRate,
    ViolationTable,
)
from audit.reports.violations import counterpart
from audit.reports.words import (
    UNKNOWN,
    family_name,
    genuine_text,
    listed,
    oriented,
    p_text,
    percent,
    place,
    rollup_name,
    slice_name,
    task_name,
)
from audit.statistics.orders import TIED
from audit.tasks import base_of

if TYPE_CHECKING:
    import altair as alt


ROW = 26
"""Height of one system or relation in pixels."""
DARK_FILL = 0.8
"""False rate from which a heat map's field is so strong that white numbers have more contrast than dark ones."""
LETTER = 7.4
"""Width of a letter of an axis label in pixels, in a wide font: the browser's may be wider than the chart engine's."""
WIDE = 13.0
"""Width of a letter of a Chinese, Japanese or Korean label, in pixels."""
NUMBERS = 96
"""Width of `100.0 → 100.0` and the space after it."""
LONGEST = 20
"""Letters of a system's name that an axis shows."""
LONGEST_FAMILY = 28
"""Letters of a family's name that an axis shows."""
QUARTERS = [0, 0.25, 0.5, 0.75, 1]


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
    lines: tuple[str, ...] = ()
    """Of lines that are told apart: the stroke and the name at its end say the same."""


LIGHT = Palette(
    *("#1e252c", "#5d6873", "#dedbd4", "#fffefc", "#74808c", "#0b6b74", "#a63d2b"),
    lines=("#0b6b74", "#a63d2b", "#5b4b9a", "#8a6100", "#1f5fa8", "#3d4750"),
)
DARK = Palette(
    *("#e6e3dd", "#a3abb3", "#3a4149", "#1b2026", "#98a3ae", "#4db4bd", "#c9573f"),
    lines=("#4db4bd", "#e0795f", "#a99be0", "#d9b24a", "#7fb0ea", "#c3c9cf"),
)
LEAST_SHOWN = 10
"""Judged groups from which on a heat map shows a rate: one of fewer may be anything."""

Tip = tuple[str, str, str | None]
"""A line of a tooltip: field, title, format of its number."""


# What charts are drawn with.


class Plot:
    """Marks along one axis, drawn in the order in which they are added.

    `values` are the rows; `across` is the encoding of the other axis (a Y for marks along x, an X for marks along y). A
    mark is drawn in the rows whose fields are known, and left out where no row has them.
    """

    def __init__(
        self,
        values: Sequence[Mapping[str, Any]],
        palette: Palette,
        across: "alt.X | alt.Y",
        scale: Any,
        axis: Any,
        title: str | None = None,
        tips: Sequence[Tip] = (),
    ):
        import altair as alt

        self.values, self.palette, self.layers = values, palette, list[Any]()
        self._upright = isinstance(across, alt.X)
        self._across, self._axis = across, {"scale": scale, "axis": axis, "title": title}
        self._tooltip = [
            alt.Tooltip(f"{field}:Q", title=name, format=form) if form else alt.Tooltip(f"{field}:N", title=name)
            for field, name, form in tips
        ]

    def band(self, low: str, high: str, colour: str | None = None, opacity: float = 0.25, size: int = 11) -> None:
        """A bar between two fields: of an interval, unless told otherwise."""
        look = {"opacity": opacity, "color": colour or self.palette.genuine}
        rounded = {} if colour else {"cornerRadius": 3}
        self._add(lambda base: base.mark_bar(size=size, **rounded, **look), low, high)

    def rule(self, low: str, high: str, colour: str, width: float = 2, **look: Any) -> None:
        """A line between two fields of each row."""
        self._add(lambda base: base.mark_rule(color=colour, strokeWidth=width, **look), low, high)

    def line(self, field: str, colour: str, width: float = 2, **look: Any) -> None:
        """A line from row to row."""
        self._add(lambda base: base.mark_line(color=colour, strokeWidth=width, **look), field)

    def point(self, field: str, colour: str, shape: str = "circle", size: int = 62, hollow: bool = False) -> None:
        """A disc, or a `hollow` ring; where no row has one, the axis is there all the same."""
        paint = {"fill": self.palette.paper, "stroke": colour} if hollow else {"color": colour}
        mark = self._base(field).mark_point(shape=shape, size=size, filled=True, opacity=1, **paint)
        self.layers.append(mark.encode(**self._along(field)))

    def text(self, field: str, at: float, colour: str, size: int = 12, bold: bool = False) -> None:
        """A text in each row, beginning `at` so many pixels."""
        import altair as alt

        if any(value.get(field) for value in self.values):
            mark = self._base(field).mark_text(
                align="left", color=colour, fontSize=size, **({"fontWeight": "bold"} if bold else {})
            )
            self.layers.append(mark.encode(x=alt.XValue(at), text=alt.Text(f"{field}:N")))

    def label(self, field: str, text: str, **look: Any) -> None:
        """A text beside the place that a field has."""
        self._add(lambda base: base.mark_text(**look).encode(text=f"{text}:N"), field)

    def layered(self, **size: Any) -> "alt.LayerChart":
        """The marks as one chart, without data or style; `size` is its `width` and `height`."""
        import altair as alt

        return alt.layer(*self.layers, **size)

    def chart(self, width: float, height: Any = None) -> "alt.Chart":
        """The styled chart; rows have the height `ROW`, unless `height` says it of the whole."""
        import altair as alt

        data = alt.Data(values=list(self.values))
        size = {"step": ROW} if height is None else height
        return styled(self.layered(data=data, width=width, height=size), self.palette)

    def panels(self, by: str, order: Sequence[str], columns: int, width: int, height: Any) -> "alt.Chart":
        """The styled chart with a panel for each value of a field, named above it."""
        import altair as alt

        header = {"labelColor": self.palette.ink, "labelFontSize": 12, "labelFontWeight": "bold", "labelLimit": 200}
        panel = self.layered(width=width, height=height).properties(data=alt.Data(values=list(self.values)))
        facet = alt.Facet(f"{by}:N", sort=list(order), header=alt.Header(title=None, **header))
        return styled(panel.facet(facet=facet, columns=columns, spacing=18), self.palette)

    def _add(self, mark: Any, field: str, second: str | None = None) -> None:
        fields = (field,) if second is None else (field, second)
        if any(all(value.get(name) is not None for name in fields) for value in self.values):
            self.layers.append(mark(self._base(*fields)).encode(**self._along(field, second)))

    def _base(self, *fields: str) -> Any:
        import altair as alt

        base = alt.Chart().encode(**{"x" if self._upright else "y": self._across}, tooltip=self._tooltip)
        for field in fields:
            if any(value.get(field) is None for value in self.values):
                base = base.transform_filter(f"isValid(datum.{field})")
        return base

    def _along(self, field: str, second: str | None = None) -> dict[str, Any]:
        import altair as alt

        first_channel, second_channel = (alt.Y, alt.Y2) if self._upright else (alt.X, alt.X2)
        name = "y" if self._upright else "x"
        encoding: dict[str, Any] = {name: first_channel(f"{field}:Q", **self._axis)}
        return encoding if second is None else encoding | {f"{name}2": second_channel(f"{second}:Q")}


def row_axis(field: str, names: Sequence[str], longest: int = LONGEST) -> "alt.Y":
    """A row for each name, in this order. Charts with the same names line up."""
    return named_rows(field, list(dict.fromkeys(names)), max(letters(cut(name, longest)) for name in names))


def named_rows(field: str, order: Sequence[str], room: float) -> "alt.Y":
    """As `row_axis`, with `room` pixels for the names."""
    import altair as alt

    axis = alt.Axis(labelLimit=room, minExtent=room, maxExtent=room, labelPadding=8)
    return alt.Y(f"{field}:N", sort=list(order), title=None, axis=axis)


def share_axis() -> tuple[Any, Any]:
    """The scale and the axis of shares from 0 to 1."""
    import altair as alt

    return alt.Scale(domain=[0, 1], nice=False), alt.Axis(values=QUARTERS, format=".0%", title=None, labelFlush=False)


def heat_map(
    values: Sequence[Mapping[str, Any]],
    fill: str,
    palette: Palette,
    width: int,
    tips: Sequence[Tip] = (("share", " ", ".0%"),),
    across: str = "column",
    down: str = "row",
) -> "alt.Chart":
    """A field of `width` pixels for each of `values`: its `text`, on the colour `fill` as strong as its `share`.

    A share that is None leaves its field empty. Where values have a `note` it stands in small type under the text, and
    `sure`, from 0 to 1, makes the colour paler. `across` and `down` name what columns and rows are; both stand in the
    order in which they come.
    """
    import altair as alt

    filled = [
        dict(value, fill=0 if value["share"] is None else (0.04 + 0.96 * value["share"]) * value.get("sure", 1.0))
        for value in values
    ]
    noted = any(value.get("note") for value in values)
    columns, rows = (list(dict.fromkeys(value[name] for value in values)) for name in (across, down))
    top = alt.Axis(orient="top", labelAngle=0, labelLimit=width - 4, domain=False, ticks=False, labelPadding=6)
    room = max((letters(str(name)) for name in rows), default=0.0)
    left = alt.Axis(domain=False, ticks=False, labelPadding=8, minExtent=min(room, 220))
    base = alt.Chart().encode(
        x=alt.X(f"{across}:N", sort=columns, title=None, scale=alt.Scale(paddingInner=0.03), axis=top),
        y=alt.Y(f"{down}:N", sort=rows, title=None, scale=alt.Scale(paddingInner=0.1), axis=left),
        tooltip=[
            f"{across}:N",
            f"{down}:N",
            *(
                alt.Tooltip(f"{field}:Q", format=form, title=title) if form else alt.Tooltip(f"{field}:N", title=title)
                for field, title, form in tips
            ),
        ],
    )
    fields = base.mark_rect(color=fill, cornerRadius=4).encode(fillOpacity=alt.FillOpacity("fill:Q", scale=None))
    strong = alt.datum.fill >= 0.04 + 0.96 * DARK_FILL
    colour = alt.condition(strong, alt.value("#ffffff"), alt.value(palette.ink))
    texts = [base.mark_text(fontSize=12, dy=-6 if noted else 0).encode(text=alt.Text("text:N"), color=colour)]
    if noted:
        texts.append(base.mark_text(fontSize=10, dy=7).encode(text=alt.Text("note:N"), color=colour))
    height = {"step": ROW + 10 if noted else ROW}
    return styled(
        alt.layer(fields, *texts, data=alt.Data(values=filled), width={"step": width}, height=height), palette
    )


def styled(chart: Any, palette: Palette) -> "alt.Chart":
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


def to_svg(chart: Any) -> str:
    """The chart as an SVG document. Text is escaped; nothing is fetched."""
    import vl_convert

    return str(vl_convert.vegalite_to_svg(spec_of(chart)))


def spec_of(chart: Any) -> dict[str, Any]:
    """The chart as a Vega-Lite specification, for a browser or the chart engine.

    Altair's own check of it would take as long as drawing; tests check every chart. Without being told to pad it,
    Streamlit would squeeze it, numbers beside the plot included, into its plot's width.
    """
    spec: dict[str, Any] = chart.to_dict(validate=False) | {"autosize": "pad"}
    return spec


def letters(text: str) -> float:
    """Pixels that a text needs in a chart: letters of Chinese, Japanese and Korean take nearly twice the room.

    >>> letters("ab"), letters("\\u4f53\\u80b2")
    (14.8, 26.0)
    """
    return sum(WIDE if east_asian_width(letter) in "WF" else LETTER for letter in text)


def cut(name: str, longest: int = LONGEST) -> str:
    """A name as far as a chart shows it.

    >>> cut("a-system-with-a-very-long-name")
    'a-system-with-a-ver…'
    """
    return name if len(name) <= longest else name[: longest - 1] + "…"


# Rates before and after the correction: of one relation, of roll-ups, and by a user's weights.


def rates_chart(
    report: Report, relation: RelationResultEntry, palette: Palette = LIGHT, width: int = 250, language: str = ENGLISH
) -> "alt.Chart":
    """Observed and genuine satisfaction of one relation, a row a system, the genuinely best on top.

    `relation` is an entry of `report["relations"]`. A ring is SR_o, a disc SR_g, the line between them is what is
    false, the band around the disc is its interval; at the right stand the numbers in per cent. A system without a
    genuine rate has a ring only, or a thick line between the bounds that its answers leave, with the band of their
    interval.
    """
    cells = cells_of(report, relation["task"], relation["study"], relation["relation"])
    systems = [*relation["order_genuine"], *relation["order_observed"], *(cell["system"] for cell in cells)]
    by_name = {cell["system"]: cell for cell in cells}
    rows = [_row(system, by_name[system], language) for system in dict.fromkeys(systems)]
    # The axis has room for the names of the whole report, so that its charts line up.
    names = [cell["system"] for cell in report["cells"]]
    return _before_and_after(rows, palette, width, max(letters(cut(name)) for name in names))


def rollup_chart(
    report: Report, by: str, palette: Palette = LIGHT, width: int = 250, language: str = ENGLISH
) -> "alt.Chart | None":
    """Observed and genuine satisfaction of the roll-ups of one level, a row each, marked as in `rates_chart`.

    `by` is `relation`, `system`, `family` or `overall`. None where no roll-up of the level has an observed rate.
    """
    entries = [entry for entry in report["rollups"] if entry["by"] == by and entry["sr_observed"] is not None]
    rows = [_row(rollup_name(report, entry, language), entry, language) for entry in entries]
    room = max((letters(cut(row["name"], LONGEST_FAMILY)) for row in rows), default=0.0)
    return _before_and_after(rows, palette, width, room) if rows else None


def scores_chart(ranking: Sequence[PreferredSystem], palette: Palette = LIGHT, width: int = 250) -> "alt.Chart | None":
    """Every system's weighted rate before and after, the best on top, marked as in `rates_chart`.

    `ranking` is that of a preference or a decision. None where no system has a score.
    """
    scored = [entry for entry in ranking if entry["score_observed"] is not None]
    scored.sort(key=lambda entry: (entry["score"] is None, -(entry["score"] or 0.0), entry["system"]))
    rows: list[dict[str, Any]] = [
        {
            "name": entry["system"],
            "observed": entry["score_observed"],
            "genuine": entry["score"],
            "low": entry["score_low"],
            "high": entry["score_high"],
            "numbers": f"{percent(entry['score_observed'])} → {percent(entry['score'])}",
        }
        for entry in scored
    ]
    return _before_and_after(rows, palette, width, max(letters(cut(row["name"])) for row in rows)) if rows else None


def family_chart(
    report: Report, palette: Palette = LIGHT, width: int = 124, language: str = ENGLISH
) -> "alt.Chart | None":
    """Heat map of reported against genuine satisfaction: a row a family of relations, a column a system.

    A field has `SR_o → SR_g` in per cent, or the bounds of SR_g; the stronger it is the more points are false. None
    where no family has a rate.
    """
    several = len(report["violations"]) > 1
    values: list[dict[str, Any]] = []
    for table in report["violations"]:
        for row in table["rows"]:
            if row["by"] != "family":
                continue
            name = family_name(row["name"], language)
            if several and any(value["family"] == name for value in values):
                name = f"{name} ({place(report, table, language)})"
            values += [_family_field(name, rates) for rates in row["rates"] if rates["vr_observed"] is not None]
    if not values:
        return None
    tips = [("lost", phrase(language, "chart.lost"), ".1%")]
    return heat_map(values, palette.false, palette, width, tips, "system", "family")


def _family_field(family: str, rates: ViolationRate) -> dict[str, Any]:
    """A field of `family_chart`. Where there are bounds, the points that are surely false give it its colour."""
    observed = 1 - (rates["vr_observed"] or 0.0)
    least = rates["vr_genuine"] if rates["vr_genuine"] is not None else rates["vr_least"]
    if least is None:
        after = UNKNOWN
    elif rates["vr_genuine"] is not None or rates["vr_most"] is None:
        after = percent(1 - least, 0)
    else:
        after = "–".join(dict.fromkeys((percent(1 - rates["vr_most"], 0), percent(1 - least, 0))))
    lost = None if least is None else max(observed - (1 - least), 0.0)
    text = f"{percent(observed, 0)} → {after}"
    return {"family": family, "system": rates["system"], "share": lost, "lost": lost, "text": text}


def _row(name: str, rates: Mapping[str, Any], language: str) -> dict[str, Any]:
    """What `_before_and_after` draws in one row; bounds have the band of their interval."""
    band = "bound" if rates.get("sr_least") is not None else "genuine"
    return {
        "name": name,
        "observed": rates["sr_observed"],
        "genuine": rates["sr_genuine"],
        "least": rates.get("sr_least"),
        "most": rates.get("sr_most"),
        "low": rates[f"sr_{band}_low"],
        "high": rates[f"sr_{band}_high"],
        "numbers": f"{percent(rates['sr_observed'])} → {genuine_text(rates, language)}",
    }


def _before_and_after(rows: Sequence[Mapping[str, Any]], palette: Palette, width: int, room: float) -> "alt.Chart":
    """One row for each name, in order: a ring before, a disc after with its interval, and the loss between them."""
    across = named_rows("name", [row["name"] for row in rows], room)
    tips: list[Tip] = [("name", " ", None), ("observed", "SR_o", ".1%"), ("genuine", "SR_g", ".1%")]
    plot = Plot(rows, palette, across, *share_axis(), tips=tips)
    plot.text("numbers", width + 10, palette.muted, 11)
    plot.band("low", "high")
    plot.rule("least", "most", palette.genuine, 4)
    plot.rule("genuine", "observed", palette.false)
    plot.point("observed", palette.observed, hollow=True)
    plot.point("genuine", palette.genuine)
    return plot.chart(width)


def rates_in_words(report: Report, relation: RelationResultEntry, language: str = ENGLISH) -> str:
    """What `rates_chart` shows, for those who cannot see it."""
    parts = []
    for cell in cells_of(report, relation["task"], relation["study"], relation["relation"]):
        if cell["sr_observed"] is None:
            code = "nothing_alt"
        else:
            known = cell["sr_genuine"] is not None or cell["sr_least"] is not None
            code = "rate_alt" if known else "rate_unknown_alt"
        rates = {"observed": percent(cell["sr_observed"]), "genuine": genuine_text(cell, language)}
        parts.append(phrase(language, f"chart.{code}", system=cell["system"], **rates))
    return phrase(language, "chart.rates_alt", relation=relation["relation"], rates=listed(parts, language))


def false_chart(
    report: Report,
    task: str,
    study: object,
    palette: Palette = LIGHT,
    width: int = 96,
    language: str = ENGLISH,
) -> "alt.Chart":
    """Heat map of R_FS: a row a relation, a column a system, `width` pixels each; a dash where it is unknown or fewer
    than `LEAST_SHOWN` groups are judged.

    The number is R_FS in per cent, `n` below it the judged groups, the tooltip has the interval or why there is no
    rate. The stronger a field the more of its satisfaction is false, the paler the less that is known.
    """
    values = [
        _false_field(cell, language) for cell in report["cells"] if (cell["task"], cell["study"]) == (task, study)
    ]
    say = partial(phrase, language)
    tips: list[Tip] = [
        ("rate", say("chart.false"), None),
        ("interval", say("chart.interval"), None),
        ("judged", say("chart.judged"), None),
    ]
    if any(value["reason"] for value in values):
        tips.append(("reason", say("column.reason"), None))
    return heat_map(values, palette.false, palette, width, tips, "system", "relation")


def _false_field(cell: CellEntry, language: str) -> dict[str, Any]:
    """What the heat map of R_FS has of a cell."""
    judged, rate = cell["judged"], cell["fs_rate"]
    low, high = cell["fs_low"], cell["fs_high"]
    few = rate is not None and judged is not None and judged < LEAST_SHOWN
    reason = (
        phrase(language, "chart.few", least=LEAST_SHOWN) if few else cell["reason"] and said(cell["reason"], language)
    )
    is_shown = rate is not None and not few
    return {
        "relation": cell["relation"],
        "system": cell["system"],
        "share": rate if is_shown else None,
        "rate": percent(rate) if is_shown else UNKNOWN,
        "interval": UNKNOWN if not is_shown or low is None else f"{percent(low)}–{percent(high)}",
        "judged": UNKNOWN if judged is None else f"{judged:,}",
        "text": percent(rate) if is_shown else UNKNOWN,
        "note": "" if judged is None else f"n {judged:,}",
        "sure": 1.0 if low is None or high is None else 1.0 - (high - low),
        "reason": reason,
    }


# Pairs of systems: who is better, by how much, and whether that is sure.


def differences_chart(
    pairs: Sequence[PairEntry], delta: float, palette: Palette = LIGHT, width: int = 250
) -> "alt.Chart | None":
    """The differences of SR_g between two systems each, with their intervals; None where none is known.

    A disc is a pair that is told apart after Holm's adjustment, a ring one that is not; the grey band around 0 holds
    differences up to `delta`. The numbers at the right are points of a percentage and the adjusted p.
    """
    import altair as alt

    values: list[dict[str, Any]] = [
        {
            "pair": f"{cut(pair['system'])} – {cut(pair['other'])}",
            "difference": 100 * (pair["difference"] or 0.0),
            "low": 100 * (pair["low"] or 0.0),
            "high": 100 * (pair["high"] or 0.0),
            "numbers": f"{percent(pair['difference'])} · p {p_text(pair['p_holm'])}",
            "apart": pair["apart"],
        }
        for pair in oriented(pairs)
    ]
    if not values:
        return None
    for value in values:
        value["sure" if value["apart"] else "open"] = value["difference"]
    ends = [-100 * delta, 100 * delta, -5.0, 5.0, *(value[end] for value in values for end in ("low", "high"))]
    scale = alt.Scale(domain=[min(ends), max(ends)], nice=True)
    axis = alt.Axis(title=None, format="+~r", tickCount=5, labelFlush=False)
    names = [value["pair"] for value in values]
    tips: list[Tip] = [("pair", " ", None), *((name, name, "+.1f") for name in ("difference", "low", "high"))]
    across = named_rows("pair", names, max(map(letters, names)))
    plot = Plot(values, palette, across, scale, axis, tips=tips)
    equal = alt.Chart(alt.Data(values=[{"low": -100 * delta, "high": 100 * delta, "none": 0}]))

    def x(field: str) -> "alt.X":
        return alt.X(f"{field}:Q", scale=scale, axis=axis)

    if delta:
        band = equal.mark_rect(color=palette.observed, opacity=0.2)
        plot.layers.append(band.encode(x=x("low"), x2=alt.X2("high:Q")))
    plot.layers.append(equal.mark_rule(color=palette.observed, strokeWidth=1.5).encode(x=x("none")))
    plot.rule("low", "high", palette.genuine)
    plot.point("open", palette.genuine, hollow=True)
    plot.point("sure", palette.genuine)
    plot.text("numbers", width + 10, palette.muted, 11)
    return plot.chart(width)


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


def order_chart(relation: RelationResultEntry, palette: Palette = LIGHT, language: str = ENGLISH) -> "alt.Chart | None":
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
            "kind": (move.rank_after > move.rank_before) - (move.rank_after < move.rank_before),
            "left": f"{cut(move.system)}  {percent(move.observed)}" if not side else "",
            "right": f"{percent(move.genuine)}  {cut(move.system)}" if side else "",
        }
        for move in moved
        for side, line in ((0, move.line_before), (1, move.line_after))
    ]
    scale = alt.Scale(domain=[-0.5, len(moved) - 0.5], reverse=True, nice=False)
    # Texts are drawn inside the plot, so that there is room for them in any font.
    room = max(letters(end["left"] or end["right"]) for end in ends) + 10
    x = alt.X("side:Q", axis=None, scale=alt.Scale(domain=[0, 1], range=[room, room + BETWEEN], nice=False))
    base = alt.Chart().encode(x=x, y=alt.Y("line:Q", axis=None, scale=scale))
    layers = []
    looks: dict[int, dict[str, Any]] = {
        0: {"color": palette.observed, "strokeWidth": 1.5},
        1: {"color": palette.false, "strokeWidth": 2, "strokeDash": [5, 4]},
        -1: {"color": palette.genuine, "strokeWidth": 3},
    }
    for kind, look in looks.items():
        of_kind = base.transform_filter(alt.datum.kind == kind)
        layers += [
            of_kind.mark_line(**look).encode(detail=alt.Detail("system:N")),
            of_kind.mark_point(shape="circle", size=46, filled=True, color=look["color"], opacity=1),
        ]
    layers += [
        base.mark_text(align="right", dx=-10, color=palette.ink, fontSize=12).encode(text=alt.Text("left:N")),
        base.mark_text(align="left", dx=10, color=palette.ink, fontSize=12).encode(text=alt.Text("right:N")),
    ]
    titles = (phrase(language, f"chart.{name}") for name in ("reported", "genuine"))
    heads = [{"side": side, "title": title} for side, title in enumerate(titles)]
    layers.append(
        alt.Chart(alt.Data(values=heads))
        .mark_text(color=palette.muted, fontSize=11)
        .encode(x=x, y=alt.YValue(-6), text=alt.Text("title:N"))
    )
    size = {"width": 2 * room + BETWEEN, "height": ROW * len(moved)}
    return styled(alt.layer(*layers, data=alt.Data(values=ends), **size), palette)


def order_in_words(relation: RelationResultEntry, language: str = ENGLISH) -> str:
    """What `order_chart` shows, for those who cannot see it."""
    say = partial(phrase, language)
    ranks = (
        say("order.rank_alt", system=move.system, before=move.rank_before, after=move.rank_after)
        for move in moves(relation)
    )
    return say("order.ranks_alt", relation=relation["relation"], ranks=listed(ranks, language))


# Violation rates: by relation, slice and task; and accuracy by gold.

LINE = 17
"""Height of one bar with its room, in pixels."""
GAP = 9
"""Room between two groups of bars, in pixels."""
ENDS = (0.1, 0.25, 0.5, 1.0)
"""Where the axis of violation rates may end."""


Groups = Sequence[tuple[str, Sequence[Mapping[str, Any]]]]
"""Groups of bars with their headings. A bar has `name`, `observed`, `genuine` with `low` and `high`, and perhaps
`observed_low` and `observed_high`; None: not known."""


def _bar(rates: ViolationRate | SliceRate, name: str | None = None) -> dict[str, Any]:
    return {
        "name": name or rates["system"],
        "observed": rates["vr_observed"],
        "genuine": rates["vr_genuine"],
        "low": rates["vr_genuine_low"],
        "high": rates["vr_genuine_high"],
        "observed_low": rates.get("vr_observed_low"),
        "observed_high": rates.get("vr_observed_high"),
    }


def relation_groups(table: ViolationTable) -> Groups:
    """The bars of a table of `violations`: a group a relation, a bar a system that was run."""
    return [
        (row["name"], [_bar(rates) for rates in row["rates"] if rates["vr_observed"] is not None])
        for row in table["rows"]
        if row["by"] == "relation"
    ]


def slice_groups(entry: SlicesEntry, language: str = ENGLISH) -> Groups:
    """The bars of an entry of `slices`: a group a slice, a bar a system, over all relations."""
    return [
        (
            slice_name(name, language),
            [_bar(rates) for rates in entry["rates"] if rates["relation"] is None and rates["slice"] == name],
        )
        for name in entry["slices"]
    ]


def task_groups(report: Report, language: str = ENGLISH) -> Groups:
    """The relations that several tasks share, as in the Chinese study: a group a relation, a bar a task and system.

    Empty where fewer than two tasks have such relations.
    """
    groups: dict[str, list[Mapping[str, Any]]] = {}
    tasks: set[str] = set()
    for table in report["violations"]:
        several = sum(other["task"] == table["task"] for other in report["violations"]) > 1
        label = place(report, table, language) if several else task_name(base_of(table["task"]), language)
        for row in table["rows"]:
            name = counterpart(table["task"], row["name"]) if row["by"] == "relation" else None
            for rates in row["rates"] if name else []:
                if name and rates["vr_observed"] is not None:
                    tasks.add(table["task"])
                    groups.setdefault(name, []).append(_bar(rates, f"{label} · {cut(rates['system'])}"))
    return sorted(groups.items()) if len(tasks) > 1 else []


def bars_chart(
    groups: Groups, palette: Palette = LIGHT, width: int = 300, longest: int = 20, language: str = ENGLISH
) -> "alt.Chart | None":
    """Grouped bars, one line each: VR_o as a bar, VR_g as a disc with its interval, the false part a line between them.

    Every bar has its system's name (of at most `longest` letters) before it and `VR_o → VR_g` in per cent after it, so
    that nothing hangs on colour. A rule over a bar is the interval of VR_o. The axis ends at 10, 25, 50 or 100 %. None
    where there is no bar.
    """
    import altair as alt

    filled = [(name, bars) for name, bars in groups if bars]
    if not filled:
        return None
    values, height = _bar_rows(filled, longest)
    most = max(value.get(name) or 0.0 for value in values for name in ("observed", "genuine", "high", "observed_high"))
    end = next(end for end in ENDS if most <= end + 1e-9)
    label_x = max(letters(value["head"]) for value in values if "head" in value) + 14
    room = label_x + max(letters(value["label"]) for value in values if "label" in value) + 10
    ticks = [end * part / 5 for part in range(6)] if end < 1 else QUARTERS
    y = alt.Y("y:Q", scale=alt.Scale(domain=[0, height], range=[0, height], nice=False), axis=None)
    scale = alt.Scale(domain=[0, end], range=[room, room + width], nice=False)
    axis = alt.Axis(values=ticks, format=".0%", title=None, labelFlush=False)
    tips: list[Tip] = [
        ("group", " ", None),
        ("name", phrase(language, "column.system"), None),
        ("observed", "VR_o", ".1%"),
        ("genuine", "VR_g", ".1%"),
    ]
    plot = Plot(values, palette, y, scale, axis, tips=tips)
    plot.text("head", 0, palette.ink, bold=True)
    plot.text("label", label_x, palette.ink, 11)
    plot.text("numbers", room + width + 12, palette.muted, 11)
    plot.band("zero", "observed", palette.observed, 0.75, 9)
    plot.band("low", "high", size=9)
    plot.rule("observed", "genuine", palette.false)
    plot.point("genuine", palette.genuine, size=42)
    # At the upper edge, where the line to VR_g does not cover it.
    plot.rule("observed_low", "observed_high", palette.ink, 1.5, yOffset=-5)
    return plot.chart(room + width + 12 + NUMBERS, height)


def _bar_rows(groups: Groups, longest: int) -> tuple[list[dict[str, Any]], float]:
    """The rows that `bars_chart` draws, with `y` in pixels, and the height of the chart."""
    values: list[dict[str, Any]] = []
    y = 0.0
    for name, bars in groups:
        values.append({"y": y + LINE / 2, "head": cut(name, LONGEST_FAMILY)})
        for bar in bars:
            numbers = f"{percent(bar['observed'])} → {percent(bar['genuine'])}"
            row = {"y": y + LINE / 2, "group": name, "label": cut(bar["name"], longest), "zero": 0, "numbers": numbers}
            values.append({**bar, **row})
            y += LINE
        y += GAP
    return values, y - GAP


def accuracy_chart(
    entry: AccuracyEntry, palette: Palette = LIGHT, width: int = 300, language: str = ENGLISH
) -> "alt.Chart | None":
    """A row a system, the most accurate on top: accuracy by gold as a diamond, 1 - VR_o a ring, 1 - VR_g a disc.

    A rule is the interval of the accuracy, a band that of 1 - VR_g; numbers at the right are the three, in that order,
    in per cent. None where no system has an accuracy.
    """
    known = [system for system in entry["systems"] if system["accuracy"] is not None]
    measured = [(-(system["accuracy"] or 0.0), system["system"]) for system in known]
    if not measured:
        return None
    by_name = {system["system"]: system for system in entry["systems"]}
    rates = ("accuracy", "sr_observed", "sr_genuine")
    values: list[dict[str, Any]] = [dict(by_name[name]) for _, name in sorted(measured)]
    for value in values:
        value["numbers"] = " · ".join(percent(value[name]) for name in rates)
    titles = (phrase(language, "accuracy.accuracy"), "1 - VR_o", "1 - VR_g")
    tips: list[Tip] = [
        ("system", " ", None),
        *((name, title, ".1%") for name, title in zip(rates, titles, strict=True)),
    ]
    plot = Plot(values, palette, row_axis("system", [value["system"] for value in values]), *share_axis(), tips=tips)
    plot.text("numbers", width + 10, palette.muted, 11)
    plot.band("sr_genuine_low", "sr_genuine_high")
    plot.rule("low", "high", palette.ink, 1.5)
    plot.point("sr_observed", palette.observed, hollow=True)
    plot.point("sr_genuine", palette.genuine)
    plot.point("accuracy", palette.ink, "diamond", 70)
    return plot.chart(width)
