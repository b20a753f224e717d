"""Charts of violation rates: by relation, family, topic and task, and beside the accuracy by gold."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from unicodedata import east_asian_width

from audit.reports.accuracy import order_words
from audit.reports.build import Report
from audit.reports.charts import LETTER, LIGHT, LONGEST_FAMILY, NUMBERS, ROW, Palette, cut, styled
from audit.reports.document import (
    AccuracyEntry,
    Place,
    TopicRate,
    TopicsEntry,
    ViolationRate,
    ViolationRow,
    ViolationTable,
)
from audit.reports.violations import counterpart
from audit.reports.words import UNKNOWN, count, percent, place, with_interval

if TYPE_CHECKING:
    import altair as alt


# The words and rows for violation rates, topics and accuracy, shared by the terminal and the HTML file.

TOTALS = {"all": "all relations", "estimated": "with an estimate everywhere"}
TITLE = "Violation rates"
ACCURACY = "Accuracy by gold, and by metamorphic testing"
SCORES = {"accuracy": "accuracy", "observed": "1 - VR_o", "genuine": "1 - VR_g"}


def rates_text(entry: ViolationRate | TopicRate) -> str:
    """VR_o, and what it is once false satisfactions are counted, with its interval; a dash where it was not run.

    >>> rates = {"vr_observed": 0.25, "vr_genuine": 0.5, "vr_genuine_low": 0.4, "vr_genuine_high": 0.65}
    >>> rates_text(rates)
    '25.0 → 50.0 [40.0–65.0]'
    >>> rates_text(rates | {"vr_genuine": None})
    '25.0 → –'
    """
    if entry["vr_observed"] is None:
        return UNKNOWN
    if entry["vr_genuine"] is None and entry.get("vr_least") is None:
        return f"{percent(entry['vr_observed'])} → {UNKNOWN}"
    return (
        f"{percent(entry['vr_observed'])} → {with_interval(entry, 'vr_genuine', 'vr_genuine_low', 'vr_genuine_high')}"
    )


def row_name(row: ViolationRow) -> str:
    """What a row of a table is called.

    >>> row_name({"by": "all", "name": "all"}), row_name({"by": "estimated", "name": "6 of 7 relations"})
    ('all relations', '6 of 7 relations')
    """
    return TOTALS["all"] if row["by"] == "all" else str(row["name"])


def title_of(report: Report, entry: Place, text: str) -> str:
    """A heading with the study that it is about, where the report has several."""
    return f"{text}: {place(report, entry)}" if len(report["violations"]) > 1 else text


def rates_key(report: Report) -> str:
    """How the table of violation rates is to be read."""
    text = (
        "VR_o → VR_g in per cent: the violation rate that was observed, and the one in which false satisfactions count "
        "as violations. Families and all relations weigh each cell by its groups."
    )
    if any(row["by"] == "estimated" for table in report["violations"] for row in table["rows"]):
        text += " The last row leaves out relations that lack an estimate for some system."
    return text


def property_name(by: str) -> str:
    """What topics are: the gold label, or a column of the corpus.

    >>> property_name("gold"), property_name("genre")
    ('gold label', 'genre')
    """
    return "gold label" if by == "gold" else by


def topic_key(entry: TopicsEntry) -> str:
    """How the table of topics is to be read."""
    return (
        f"Groups by {property_name(entry['by'])} of their source, over all relations. In brackets: 95 % intervals, of "
        "VR_o for the texts that this corpus was drawn from (the groups of a source count as dependent). VR_g rests on "
        "the judged groups of the topic; it is not known while some relation has none there."
    )


def topic_name(name: str | None) -> str:
    """A topic as it is shown; sources without one have a dash."""
    return UNKNOWN if name is None else name


def topic_rows(entry: TopicsEntry) -> list[tuple[str, ...]]:
    """(topic, system, sources, groups, VR_o, judged, VR_g) of every topic and system over all relations, as text."""
    return [
        (
            topic_name(rates["topic"]),
            rates["system"],
            count(rates["sources"]),
            count(rates["groups"]),
            with_interval(rates, "vr_observed", "vr_observed_low", "vr_observed_high"),
            count(rates["judged"]),
            with_interval(rates, "vr_genuine", "vr_genuine_low", "vr_genuine_high"),
        )
        for rates in entry["rates"]
        if rates["relation"] is None
    ]


def topics_by_relation(entry: TopicsEntry, system: str) -> tuple[list[str], list[tuple[str, list[str]]]]:
    """The relations of one system, and for each topic (name, VR_o → VR_g under each of them), as text."""
    system_rates = [rates for rates in entry["rates"] if rates["system"] == system and rates["relation"] is not None]
    # A topic may lack some relations, so they are collected over all topics.
    relations = [name for name in entry["relations"] if any(rates["relation"] == name for rates in system_rates)]
    texts = {(rates["topic"], rates["relation"]): rates_text(rates) for rates in system_rates}
    rows = [
        (topic_name(topic), [texts.get((topic, relation), UNKNOWN) for relation in relations])
        for topic in entry["topics"]
    ]
    return relations, rows


def accuracy_rows(entry: AccuracyEntry) -> list[tuple[str, ...]]:
    """(system, right of outputs, accuracy, 1 - VR_o, 1 - VR_g) of every system, as text, the most accurate first."""
    systems = sorted(entry["systems"], key=lambda system: (-(system["accuracy"] or 0.0), system["system"]))
    return [
        (
            system["system"],
            f"{count(system['right'])} of {count(system['outputs'])}",
            with_interval(system, "accuracy", "low", "high"),
            percent(system["sr_observed"]),
            with_interval(system, "sr_genuine", "sr_genuine_low", "sr_genuine_high"),
        )
        for system in systems
    ]


def accuracy_lines(entry: AccuracyEntry) -> list[str]:
    """What the accuracies are of, and whether metamorphic testing orders the systems so; or why there are none."""
    if entry["reason"] is not None:
        return [f"No accuracy: {entry['reason']}."]
    over = (
        "all relations" if entry["over"] == "all" else f"{entry['over']}, those of which every system has an estimate"
    )
    lines = [
        f"{count(entry['sources'])} sources have a gold label. 1 - VR over {over}; accuracy has a 95 % interval for "
        "the texts that this corpus was drawn from."
    ]
    by_accuracy = order_words(entry, "accuracy")
    if len(entry["systems"]) < 2 or not by_accuracy:
        return lines
    lines.append(f"Order by accuracy: {by_accuracy}.")
    lines += [_order_line(entry, score) for score in ("observed", "genuine")]
    return lines


def _order_line(entry: AccuracyEntry, score: str) -> str:
    order = order_words(entry, score)
    if not order:
        return f"Order by {SCORES[score]}: not known."
    same = order == order_words(entry, "accuracy")
    return f"Order by {SCORES[score]}: {order} ({'the same' if same else 'another'} order)."


def shown_accuracy(report: Report) -> list[AccuracyEntry]:
    """The entries of `accuracy` that a reader sees: all, where one has systems; else none, as nothing could be said."""
    entries = report.get("accuracy") or []
    return entries if any(entry["systems"] for entry in entries) else []


LINE = 17
"""Height of one bar with its room, in pixels."""
GAP = 9
"""Room between two groups of bars, in pixels."""
WIDE = 13.0
"""Width of a letter of a Chinese, Japanese or Korean label, in pixels."""
ENDS = (0.1, 0.25, 0.5, 1.0)
"""Where the axis of violation rates may end."""


@dataclass(frozen=True, slots=True)
class Bar:
    """A system in a group of bars: VR_o with its ends, VR_g with its ends; None where not known."""

    name: str
    observed: float | None
    genuine: float | None = None
    low: float | None = None
    high: float | None = None
    observed_low: float | None = None
    observed_high: float | None = None


Groups = Sequence[tuple[str, Sequence[Bar]]]


def relation_groups(table: ViolationTable, by: str = "relation") -> Groups:
    """The bars of a table of `violations`: a group a relation, or a family, with `by`; a bar a system that was run."""
    return [
        (
            row["name"],
            [
                Bar(
                    rates["system"],
                    rates["vr_observed"],
                    rates["vr_genuine"],
                    rates["vr_genuine_low"],
                    rates["vr_genuine_high"],
                )
                for rates in row["rates"]
                if rates["vr_observed"] is not None
            ],
        )
        for row in table["rows"]
        if row["by"] == by
    ]


def topic_groups(entry: TopicsEntry) -> Groups:
    """The bars of an entry of `topics`: a group a topic, a bar a system, over all relations."""
    return [
        (
            topic_name(topic),
            [
                Bar(
                    rates["system"],
                    rates["vr_observed"],
                    rates["vr_genuine"],
                    rates["vr_genuine_low"],
                    rates["vr_genuine_high"],
                    rates["vr_observed_low"],
                    rates["vr_observed_high"],
                )
                for rates in entry["rates"]
                if rates["relation"] is None and rates["topic"] == topic
            ],
        )
        for topic in entry["topics"]
    ]


def task_groups(report: Report) -> Groups:
    """The relations that several tasks share, as in the Chinese study: a group a relation, a bar a task and system.

    Empty where fewer than two tasks have such relations.
    """
    groups: dict[str, list[Bar]] = {}
    tasks: set[str] = set()
    for table in report["violations"]:
        several = sum(other["task"] == table["task"] for other in report["violations"]) > 1
        label = place(report, table) if several else table["task"].partition("/")[0]
        for row in table["rows"]:
            name = counterpart(table["task"], row["name"]) if row["by"] == "relation" else None
            for rates in row["rates"] if name else []:
                if name and rates["vr_observed"] is not None:
                    tasks.add(table["task"])
                    ends = rates["vr_genuine"], rates["vr_genuine_low"], rates["vr_genuine_high"]
                    groups.setdefault(name, []).append(
                        Bar(f"{label} · {cut(rates['system'])}", rates["vr_observed"], *ends)
                    )
    return sorted(groups.items()) if len(tasks) > 1 else []


def _bar_rows(groups: Groups, longest: int) -> tuple[list[dict[str, Any]], list[dict[str, Any]], float]:
    """The rows that `bars_chart` draws, with `y` in pixels: (bars, headings, height of the chart)."""
    values: list[dict[str, Any]] = []
    heads: list[dict[str, Any]] = []
    y = 0.0
    for name, bars in groups:
        heads.append({"y": y + LINE / 2, "head": _cut(name, LONGEST_FAMILY)})
        for bar in bars:
            numbers = f"{percent(bar.observed)} → {percent(bar.genuine)}"
            values.append(
                {
                    "y": y + LINE / 2,
                    "group": name,
                    "name": bar.name,
                    "label": _cut(bar.name, longest),
                    "zero": 0,
                    "observed": bar.observed,
                    "genuine": bar.genuine,
                    "low": bar.low,
                    "high": bar.high,
                    "observed_low": bar.observed_low,
                    "observed_high": bar.observed_high,
                    "numbers": numbers,
                }
            )
            y += LINE
        y += GAP
    return values, heads, y - GAP


def bars_chart(groups: Groups, palette: Palette = LIGHT, width: int = 300, longest: int = 20) -> "alt.Chart | None":
    """Grouped bars, one line each: VR_o as a bar, VR_g as a disc with its interval, the false part a line between them.

    Every bar has its system's name (of at most `longest` letters) before it and `VR_o → VR_g` in per cent after it, so
    that nothing hangs on colour. A rule over a bar is the interval of VR_o. The axis ends at 10, 25, 50 or 100 %. None
    where there is no bar.
    """
    import altair as alt

    filled = [(name, bars) for name, bars in groups if bars]
    if not filled:
        return None
    values, heads, height = _bar_rows(filled, longest)
    most = max(value[name] or 0.0 for value in values for name in ("observed", "genuine", "high", "observed_high"))
    end = next(end for end in ENDS if most <= end + 1e-9)
    label_x = max(letters(head["head"]) for head in heads) + 14
    room = label_x + max(letters(value["label"]) for value in values) + 10
    scale = alt.Scale(domain=[0, end], range=[room, room + width], nice=False)
    axis = alt.Axis(
        values=[end * part / 5 for part in range(6)] if end in (0.1, 0.25, 0.5) else [0, 0.25, 0.5, 0.75, 1],
        format=".0%",
        title=None,
        labelFlush=False,
    )

    def x(field: str) -> "alt.X":
        return alt.X(f"{field}:Q", scale=scale, axis=axis)

    base = alt.Chart().encode(
        y=alt.Y("y:Q", scale=alt.Scale(domain=[0, height], range=[0, height], nice=False), axis=None)
    )
    tooltip = [
        alt.Tooltip("group:N", title=" "),
        alt.Tooltip("name:N", title="system"),
        alt.Tooltip("observed:Q", format=".1%", title="VR_o"),
        alt.Tooltip("genuine:Q", format=".1%", title="VR_g"),
    ]
    estimated = base.transform_filter("isValid(datum.genuine)")
    layers = [
        base.mark_text(align="left", color=palette.ink, fontSize=11).encode(
            x=alt.XValue(label_x), text=alt.Text("label:N")
        ),
        base.mark_text(align="left", color=palette.muted, fontSize=11).encode(
            x=alt.XValue(room + width + 12), text=alt.Text("numbers:N")
        ),
        base.mark_bar(size=9, color=palette.observed, opacity=0.75).encode(
            x=x("zero"), x2=alt.X2("observed:Q"), tooltip=tooltip
        ),
    ]
    if any(value["low"] is not None for value in values):
        layers.append(
            base.transform_filter("isValid(datum.low)")
            .mark_bar(size=9, opacity=0.25, color=palette.genuine, cornerRadius=3)
            .encode(x=x("low"), x2=alt.X2("high:Q"))
        )
    layers += [
        estimated.mark_rule(color=palette.false, strokeWidth=2).encode(x=x("observed"), x2=alt.X2("genuine:Q")),
        estimated.mark_point(shape="circle", size=42, filled=True, color=palette.genuine, opacity=1).encode(
            x=x("genuine"), tooltip=tooltip
        ),
        alt.Chart(alt.Data(values=heads))
        .mark_text(align="left", color=palette.ink, fontSize=12, fontWeight="bold")
        .encode(
            y=alt.Y("y:Q", scale=alt.Scale(domain=[0, height], range=[0, height], nice=False), axis=None),
            x=alt.XValue(0),
            text=alt.Text("head:N"),
        ),
    ]
    if any(value["observed_low"] is not None for value in values):
        bounded = base.transform_filter("isValid(datum.observed_low)")
        # At the upper edge, where the line to VR_g does not cover it.
        layers.append(
            bounded.mark_rule(color=palette.ink, strokeWidth=1.5, yOffset=-5).encode(
                x=x("observed_low"), x2=alt.X2("observed_high:Q")
            )
        )
    whole = room + width + 12 + NUMBERS
    return styled(alt.layer(*layers, data=alt.Data(values=values), width=whole, height=height), palette)


def accuracy_chart(entry: AccuracyEntry, palette: Palette = LIGHT, width: int = 300) -> "alt.Chart | None":
    """A row a system, the most accurate on top: accuracy by gold as a diamond, 1 - VR_o a ring, 1 - VR_g a disc.

    A rule is the interval of the accuracy, a band that of 1 - VR_g; numbers at the right are the three, in that order,
    in per cent. None where no system has an accuracy.
    """
    import altair as alt

    placed = [
        ((-system["accuracy"], system["system"]), system)
        for system in entry["systems"]
        if system["accuracy"] is not None
    ]
    if not placed:
        return None
    measured = [system for _, system in sorted(placed, key=lambda most_accurate: most_accurate[0])]
    rates = ("accuracy", "sr_observed", "sr_genuine")
    values = [
        {**system, "numbers": " · ".join(percent(system[name]) for name in ("accuracy", "sr_observed", "sr_genuine"))}
        for system in measured
    ]
    room = max(letters(_cut(system["system"], 20)) for system in measured)
    names = alt.Axis(labelLimit=room, minExtent=room, maxExtent=room, labelPadding=8)
    base = alt.Chart().encode(
        y=alt.Y("system:N", sort=[system["system"] for system in measured], title=None, axis=names),
        tooltip=[alt.Tooltip("system:N", title=" "), *(alt.Tooltip(f"{name}:Q", format=".1%") for name in rates)],
    )
    scale = alt.Scale(domain=[0, 1], nice=False)
    axis = alt.Axis(values=[0, 0.25, 0.5, 0.75, 1], format=".0%", title=None, labelFlush=False)

    def x(field: str) -> "alt.X":
        return alt.X(f"{field}:Q", scale=scale, axis=axis)

    genuine = base.transform_filter("isValid(datum.sr_genuine)")
    layers = [
        base.mark_text(align="left", dx=width + 10, color=palette.muted).encode(
            x=alt.XValue(0), text=alt.Text("numbers:N")
        ),
        base.transform_filter("isValid(datum.sr_genuine_low)")
        .mark_bar(height=11, opacity=0.25, color=palette.genuine, cornerRadius=3)
        .encode(x=x("sr_genuine_low"), x2=alt.X2("sr_genuine_high:Q")),
        base.mark_rule(color=palette.ink, strokeWidth=1.5).encode(x=x("low"), x2=alt.X2("high:Q")),
        base.transform_filter("isValid(datum.sr_observed)")
        .mark_point(shape="circle", size=62, filled=True, fill=palette.paper, stroke=palette.observed, opacity=1)
        .encode(x=x("sr_observed")),
        genuine.mark_point(shape="circle", size=62, filled=True, color=palette.genuine, opacity=1).encode(
            x=x("sr_genuine")
        ),
        base.mark_point(shape="diamond", size=70, filled=True, color=palette.ink, opacity=1).encode(x=x("accuracy")),
    ]
    return styled(alt.layer(*layers, data=alt.Data(values=values), width=width, height={"step": ROW}), palette)


def letters(text: str) -> float:
    """Pixels that a text needs in a chart: letters of Chinese, Japanese and Korean take nearly twice the room.

    >>> letters("ab"), letters("\\u4f53\\u80b2")
    (14.8, 26.0)
    """
    return sum(WIDE if east_asian_width(letter) in "WF" else LETTER for letter in text)


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else text[: longest - 1] + "…"
