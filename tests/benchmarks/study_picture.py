"""The picture of docs/evidence/judgements.md, from the results of study_simulation.py --json.

python tests/benchmarks/study_picture.py results.json docs/pictures/judgements_needed.svg
"""

import json
import sys
from pathlib import Path

import altair as alt
import vl_convert
from study_simulation import BASE

from audit.reports.charts import LIGHT

TITLES = {
    "half_width": "every cell within 5 points",
    "winner": "the best system of every relation",
    "order": "the order of systems of every relation",
}
AGAINST = {"half_width": BASE, "winner": "equal allocation, simple", "order": "equal allocation, simple"}


def picture(results):
    """Bars of judgements by design, a panel a goal; those that draw every cell apart in grey."""
    panels = []
    for goal, title in TITLES.items():
        base = results[goal][AGAINST[goal]]["judgements"]
        rows = []
        for name, one in results[goal].items():
            apart = "simple" in name or name.startswith("study")
            text = f"{one['judgements']:,.0f}"
            text += " (too few)" if name.startswith("study") else ""
            text += "" if apart else f"  ({base / one['judgements']:.1f}x fewer)"
            kind = "apart" if apart else "shared"
            rows.append({"design": name, "judgements": one["judgements"], "kind": kind, "text": text})
        chart = alt.Chart(alt.Data(values=rows), title=alt.Title(title, anchor="start", color=LIGHT.ink)).encode(
            y=alt.Y("design:N", sort=None, title=None, axis=alt.Axis(labelLimit=340, minExtent=320, ticks=False)),
            x=alt.X("judgements:Q", title=None, axis=alt.Axis(format="~s", tickCount=5)),
        )
        bars = chart.mark_bar(height=14, cornerRadiusEnd=2).encode(
            color=alt.Color(
                "kind:N",
                legend=None,
                scale=alt.Scale(domain=["apart", "shared"], range=[LIGHT.observed, LIGHT.genuine]),
            )
        )
        texts = chart.mark_text(align="left", dx=5, color=LIGHT.muted).encode(text="text:N")
        panels.append(alt.layer(bars, texts).properties(width=420, height={"step": 21}))
    return (
        alt.vconcat(*panels, spacing=18)
        .resolve_scale(x="independent")
        .configure(background=LIGHT.paper, padding=14, font="system-ui, sans-serif")
        .configure_view(stroke=None)
        .configure_axis(grid=False, domainColor=LIGHT.line, labelColor=LIGHT.ink, tickColor=LIGHT.line)
    )


def main():
    results, target = (Path(name) for name in sys.argv[1:3])
    chart = picture(json.loads(results.read_text(encoding="utf-8")))
    target.write_text(vl_convert.vegalite_to_svg(chart.to_json()), encoding="utf-8")


if __name__ == "__main__":
    main()
