"""The change of order: where each system stood by the reported rate, and where it stands by the genuine one."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from audit.reports.charts import LETTER, LIGHT, ROW, Palette, cut, styled
from audit.reports.words import percent
from audit.statistics.orders import TIED

if TYPE_CHECKING:
    import altair as alt

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


def moves(relation: Mapping[str, Any]) -> list[Moved]:
    """The systems of a relation that have both rates over the groups that apply to all,
    the genuinely best first; none where there are fewer than two.

    >>> ranking = [
    ...     {"system": "a", "sr_observed": 0.9, "sr_genuine": 0.4},
    ...     {"system": "b", "sr_observed": 0.8, "sr_genuine": 0.6},
    ... ]
    >>> found = moves({"ranking": ranking})
    >>> [(one.system, one.rank_before, one.rank_after) for one in found]
    [('b', 2, 1), ('a', 1, 2)]
    """
    both = {
        entry["system"]: (entry["sr_observed"], entry["sr_genuine"])
        for entry in relation["ranking"]
        if entry["sr_observed"] is not None and entry["sr_genuine"] is not None
    }
    if len(both) < 2:
        return []
    ranks = [
        {name: 1 + sum(other[side] > rates[side] + TIED for other in both.values()) for name, rates in both.items()}
        for side in (0, 1)
    ]
    lines = [
        {
            name: line
            for line, name in enumerate(sorted(both, key=lambda one: (ranks[side][one], ranks[1 - side][one], one)))
        }
        for side in (0, 1)
    ]
    return [
        Moved(name, ranks[0][name], ranks[1][name], lines[0][name], lines[1][name], *both[name]) for name in lines[1]
    ]


def order_chart(
    relation: Mapping[str, Any],
    palette: Palette = LIGHT,
    titles: tuple[str, str] = ("reported", "genuine"),
) -> "alt.Chart | None":
    """The order before at the left, after at the right, a line a system; None where fewer than two have both rates.

    Who rises has a thick line, who falls a dashed one, who keeps the rank a thin one. Numbers are rates in per cent.
    """
    import altair as alt

    found = moves(relation)
    if not found:
        return None
    ends: list[dict[str, Any]] = [
        {
            "system": one.system,
            "side": side,
            "line": line,
            "kind": "same"
            if one.rank_before == one.rank_after
            else "up"
            if one.rank_after < one.rank_before
            else "down",
            "left": f"{cut(one.system)}  {percent(one.observed)}" if not side else "",
            "right": f"{percent(one.genuine)}  {cut(one.system)}" if side else "",
        }
        for one in found
        for side, line in ((0, one.line_before), (1, one.line_after))
    ]
    scale = alt.Scale(domain=[-0.5, len(found) - 0.5], reverse=True, nice=False)
    # The texts stand inside the drawing, so that it keeps their room in any font.
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
        some = base.transform_filter(alt.datum.kind == kind)
        colour = look["color"]
        layers += [
            some.mark_line(**look).encode(detail=alt.Detail("system:N")),
            some.mark_point(shape="circle", size=46, filled=True, color=colour, opacity=1),
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
        alt.layer(*layers, data=alt.Data(values=ends), width=2 * room + BETWEEN, height=ROW * len(found)), palette
    )


def order_in_words(relation: Mapping[str, Any]) -> str:
    """What `order_chart` shows, for those who cannot see it."""
    parts = [f"{one.system} from rank {one.rank_before} to {one.rank_after}" for one in moves(relation)]
    return f"Ranks by the reported and by the genuine rate of {relation['relation']}: " + "; ".join(parts) + "."
