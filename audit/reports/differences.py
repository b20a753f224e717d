"""Pairs of systems in words and in a chart: who is better, by how much, and whether that is sure."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from audit.reports.charts import LETTER, LIGHT, ROW, Palette, cut, styled
from audit.reports.words import UNKNOWN, percent

if TYPE_CHECKING:
    import altair as alt


def oriented(pairs: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The pairs of a relation whose difference is known, the better system first, the surest difference first.

    `pairs` are those of an entry of `report["relations"]`; where `other` was better, the two are swapped and the signs
    of the difference and of its interval turned.

    >>> pair = {"system": "a", "other": "b", "difference": -0.2, "low": -0.3, "high": -0.1, "p_holm": 0.01}
    >>> found = oriented([pair])[0]
    >>> found["system"], found["difference"], found["low"], found["high"]
    ('b', 0.2, 0.1, 0.3)
    """
    found = []
    for pair in pairs:
        if pair["difference"] is None:
            continue
        one = dict(pair)
        if pair["difference"] < 0:
            one |= {"system": pair["other"], "other": pair["system"], "difference": -pair["difference"]}
            one |= {"low": -pair["high"], "high": -pair["low"]}
        found.append(one)
    # Differences known without error have no p, and are the surest.
    return sorted(found, key=lambda one: (one["p_holm"] or 0.0, -one["difference"], one["system"], one["other"]))


def exact(pair: Mapping[str, Any]) -> bool:
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


def pairs_text(pairs: Sequence[Mapping[str, Any]]) -> str:
    r"""The strongest difference of a relation in plain words; empty where none is known.

    >>> pair = {"system": "a", "other": "b", "difference": 0.2, "low": 0.1, "high": 0.3, "p_holm": 0.01}
    >>> pairs_text([pair | {"apart": True, "judged": 40, "informative": 90}])
    'a is better than b by 20.0 points [10.0 to 30.0]; p =\xa0.010 after Holm’s adjustment over the whole report.'
    """
    found = oriented(pairs)
    if not found:
        return ""
    best = found[0]
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
    pairs: Sequence[Mapping[str, Any]], delta: float, palette: Palette = LIGHT, width: int = 250
) -> "alt.Chart | None":
    """The differences of SR_g between two systems each, with their intervals; None where none is known.

    A disc is a pair that is told apart after Holm's adjustment, a ring one that is not; the grey band around 0 holds
    differences up to `delta`. The numbers at the right are points of a percentage and the adjusted p.
    """
    import altair as alt

    found = oriented(pairs)
    if not found:
        return None
    values = [
        {
            "pair": f"{cut(one['system'])} – {cut(one['other'])}",
            "difference": 100 * one["difference"],
            "low": 100 * one["low"],
            "high": 100 * one["high"],
            "apart": one["apart"],
            "numbers": f"{percent(one['difference'])} · p {p_text(one['p_holm'])}",
        }
        for one in found
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
