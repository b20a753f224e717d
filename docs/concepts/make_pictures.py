"""Draw the pictures of the concepts as SVG beside this file: python docs/concepts/make_pictures.py

Each picture brings its own background, light or dark as the reader's machine prefers, so it can be read on any page.
"""

from html import escape
from pathlib import Path

HERE = Path(__file__).parent
WIDTH = 720
STYLE = """
  .back { fill: #ffffff; stroke: #d0d7de; }
  text { fill: #1f2328; font: 14px system-ui, "Segoe UI", Helvetica, Arial, sans-serif; }
  .small { font-size: 12px; }
  .strong { font-weight: 600; }
  .soft { fill: #59636e; }
  .box { fill: #f6f8fa; stroke: #8c959f; }
  .line { stroke: #59636e; stroke-width: 1.5; fill: none; }
  .dash { stroke: #8c959f; stroke-width: 1; stroke-dasharray: 4 4; fill: none; }
  .head { fill: #59636e; }
  .good { fill: #a5d6a7; stroke: #2e7d32; }
  .bad { fill: #ffcc80; stroke: #bf5b00; }
  .mark { fill: #bbdefb; stroke: #1565c0; }
  .other { fill: #e6eaef; stroke: #8c959f; }
  @media (prefers-color-scheme: dark) {
    .back { fill: #161b22; stroke: #3d444d; }
    text { fill: #f0f6fc; }
    .soft { fill: #b1bac4; }
    .box { fill: #21262d; stroke: #9198a1; }
    .line { stroke: #b1bac4; }
    .dash { stroke: #9198a1; }
    .head { fill: #b1bac4; }
    .good { fill: #1b5e20; stroke: #81c784; }
    .bad { fill: #7a3e00; stroke: #ffb74d; }
    .mark { fill: #0d47a1; stroke: #90caf9; }
    .other { fill: #2d333b; stroke: #9198a1; }
  }
"""


def text(x: float, y: float, words: str, kind: str = "", anchor: str = "middle") -> str:
    return f'<text x="{x}" y="{y}" text-anchor="{anchor}" class="{kind}">{escape(words)}</text>'


def box(x: float, y: float, width: float, height: float, *lines: str, kind: str = "box") -> str:
    """A rectangle with its lines of text in the middle; the first is strong where there are several."""
    parts = [f'<rect x="{x}" y="{y}" width="{width}" height="{height}" rx="6" class="{kind}"/>']
    first = y + height / 2 + 5 - 9 * (len(lines) - 1)
    for at, line in enumerate(lines):
        style = "strong" if at == 0 and len(lines) > 1 else "small" if len(lines) > 1 else ""
        parts.append(text(x + width / 2, first + 18 * at, line, style))
    return "".join(parts)


def line(x1: float, y1: float, x2: float, y2: float, kind: str = "line", arrow: bool = False) -> str:
    end = ' marker-end="url(#arrow)"' if arrow else ""
    return f'<line x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}" class="{kind}"{end}/>'


def arrow(x1: float, y1: float, x2: float, y2: float) -> str:
    return line(x1, y1, x2, y2, arrow=True)


def dot(x: float, y: float, kind: str, radius: float = 8) -> str:
    return f'<circle cx="{x}" cy="{y}" r="{radius}" class="{kind}"/>'


def picture(height: int, told: str, *parts: str) -> str:
    marker = (
        '<defs><marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
        '<path d="M0 0 L8 4 L0 8 z" class="head"/></marker></defs>'
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" '
        f'role="img" aria-label="{escape(told, quote=True)}">\n<style>{STYLE}</style>\n{marker}\n'
        f'<rect x="0.5" y="0.5" width="{WIDTH - 1}" height="{height - 1}" rx="8" class="back"/>\n'
        + "\n".join(parts)
        + "\n</svg>\n"
    )


def overview() -> str:
    steps = [
        ("Run", "groups, outputs,", "verdicts"),
        ("Sample", "some satisfied", "groups per cell"),
        ("Ask", "questions about", "inputs"),
        ("Resolve", "true or false", "satisfaction"),
        ("Report", "genuine rates,", "rankings"),
    ]
    parts = []
    for at, step in enumerate(steps):
        x = 20 + 140 * at
        parts.append(box(x, 40, 112, 80, *step, kind="mark" if at == 4 else "box"))
        if at:
            parts.append(arrow(x - 28, 80, x - 2, 80))
    parts.append(text(216, 150, "by random numbers", "small soft"))
    parts.append(text(356, 150, "gold, people", "small soft"))
    parts.append(text(496, 150, "derived, never typed", "small soft"))
    parts.append(text(636, 150, "with intervals", "small soft"))
    return picture(170, "Run, sample, ask, resolve, report: the five steps of an audit", *parts)


def group() -> str:
    return picture(
        230,
        "A source and its follow-up go through one system; the relation checks the two outputs",
        text(150, 30, "inputs", "small soft"),
        text(455, 30, "outputs", "small soft"),
        text(640, 30, "verdict", "small soft"),
        box(20, 45, 260, 56, "Source", "They're not believable."),
        box(20, 145, 260, 56, "Follow-up", "They are not believable."),
        arrow(150, 101, 150, 143),
        text(160, 127, "relation MR1.1", "small soft", "start"),
        arrow(280, 73, 398, 73),
        arrow(280, 173, 398, 173),
        text(338, 63, "system", "small soft"),
        text(338, 163, "system", "small soft"),
        box(400, 45, 110, 56, "positive"),
        box(400, 145, 110, 56, "positive"),
        arrow(510, 73, 576, 114),
        arrow(510, 173, 576, 132),
        box(578, 95, 124, 56, "satisfied", "same label", kind="mark"),
    )


def cell() -> str:
    systems, relations = ["mine", "textblob", "vader"], ["MR1.1", "MR3.1", "MR4.1"]
    counts = [["146 of 146", "145 of 146", "146 of 146"], ["500 of 500", "500 of 500", "498 of 500"]]
    counts.append(["200 of 200", "197 of 200", "197 of 200"])
    parts = [text(320, 28, "systems", "small soft"), text(40, 132, "relations", "small soft")]
    for column, name in enumerate(systems):
        parts.append(text(210 + 110 * column, 50, name, "strong"))
    for row, name in enumerate(relations):
        parts.append(text(120, 90 + 46 * row, name, "strong"))
        for column, count in enumerate(counts[row]):
            chosen = (row, column) == (1, 2)
            parts.append(box(160 + 110 * column, 64 + 46 * row, 100, 40, count, kind="mark" if chosen else "box"))
    parts += [
        line(480, 130, 512, 110, "dash"),
        box(514, 40, 188, 120, "One cell", "500 groups, 498 satisfied", "60 drawn and judged", "29 of them false"),
        text(608, 184, "satisfied of all groups", "small soft"),
        text(608, 202, "stands in each box", "small soft"),
    ]
    return picture(220, "A table of relations by systems; one cell is marked, with its counts", *parts)


def false_satisfaction() -> str:
    return picture(
        250,
        "Outputs that agree and are right are a true satisfaction, outputs that agree and are wrong a false one",
        text(300, 30, "both outputs right", "small soft"),
        text(560, 30, "some output wrong", "small soft"),
        text(85, 85, "the relation", "strong"),
        text(85, 103, "is satisfied", "strong"),
        text(85, 175, "the relation", "strong"),
        text(85, 193, "is violated", "strong"),
        box(180, 50, 240, 80, "True satisfaction", "negative, negative", "the text is negative", kind="good"),
        box(440, 50, 240, 80, "False satisfaction", "positive, positive", "the text is negative", kind="bad"),
        box(180, 144, 240, 80, "Relation does not hold here", "rare; can be measured"),
        box(440, 144, 240, 80, "Violation", "negative, positive", "the text is negative"),
    )


def propagation() -> str:
    parts = [
        box(20, 90, 190, 60, "Source", "They're not believable."),
        text(115, 176, "one answer: negative", "strong"),
        box(20, 20, 190, 40, "one annotator's click", kind="mark"),
        arrow(115, 60, 115, 88),
    ]
    rows = [
        ("MR1.1", "They are not believable.", "negative", "good"),
        ("MR3.1", "THEY'RE NOT BELIEVABLE.", "negative", "good"),
        ("MR2.2", "They're believable.", "is asked by itself", "bad"),
    ]
    for at, (name, follow_up, answer, kind) in enumerate(rows):
        y = 20 + 74 * at
        parts += [
            line(210, 120, 298, y + 29, "line" if kind == "good" else "dash", arrow=True),
            box(300, y, 230, 58, name, follow_up),
            box(560, y + 9, 142, 40, answer, kind=kind),
        ]
    parts.append(text(360, 250, "Solid: the relation propagates the answer. Dashed: it does not.", "small soft"))
    return picture(266, "One answer about a source answers the follow-ups of the relations that propagate it", *parts)


def sample() -> str:
    cells = {
        "vader, MR1.1": [1, 1, 0, 1, 1, 1, 0, 1, 1, 1, 1, 1],
        "textblob, MR1.1": [1, 1, 1, 1, 0, 1, 1, 1, 1, 0, 1, 1],
        "vader, MR3.1": [1, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1],
    }
    parts = [
        text(180, 34, "sources in the order of their random number u", "small soft", "start"),
        line(180, 50, 690, 50, arrow=True),
        text(176, 54, "0", "small soft", "end"),
        text(700, 54, "1", "small soft"),
    ]
    for row, (name, satisfied) in enumerate(cells.items()):
        y = 90 + 44 * row
        parts.append(text(150, y + 5, name, "strong", "end"))
        drawn = 0
        for column, there in enumerate(satisfied):
            x = 200 + 41 * column
            if not there:
                parts.append(text(x, y + 5, "–", "soft"))
                continue
            drawn += 1
            parts.append(dot(x, y, "mark" if drawn <= 5 else "other"))
    parts += [
        dot(190, 232, "mark"),
        text(206, 237, "drawn: the 5 satisfied groups with the smallest u", "small", "start"),
        dot(520, 232, "other"),
        text(536, 237, "satisfied, not drawn", "small", "start"),
    ]
    return picture(256, "Three cells draw the satisfied groups with the smallest random numbers: they overlap", *parts)


def scale(value: float) -> float:
    return 210 + 4.6 * value


def intervals() -> str:
    parts = [line(scale(0), 190, scale(100), 190)]
    for tick in (0, 25, 50, 75, 100):
        parts += [line(scale(tick), 186, scale(tick), 194), text(scale(tick), 210, f"{tick} %", "small soft")]
    parts.append(text(scale(50), 232, "share of satisfied groups that are false", "small soft"))
    rows = [
        (50, "interval, 60 judged", 48, 36, 61),
        (95, "interval, 240 judged", 49, 43, 55),
    ]
    for y, name, value, low, high in rows:
        parts += [
            text(196, y + 5, name, "", "end"),
            line(scale(low), y, scale(high), y),
            line(scale(low), y - 7, scale(low), y + 7),
            line(scale(high), y - 7, scale(high), y + 7),
            dot(scale(value), y, "mark", 6),
        ]
    y = 140
    parts += [
        text(196, y + 5, "bounds, answers missing", "", "end"),
        line(scale(13), y, scale(57), y),
        line(scale(13), y - 7, scale(13), y + 7),
        line(scale(57), y - 7, scale(57), y + 7),
        f'<rect x="{scale(20)}" y="{y - 6}" width="{scale(50) - scale(20)}" height="12" class="bad"/>',
        text(scale(35), y - 14, "20 to 50", "small"),
    ]
    return picture(246, "Two intervals around an estimate, and bounds without one inside a wider interval", *parts)


def rates() -> str:
    def bar(y: float, *parts: tuple[float, str, str]) -> str:
        drawn, x = "", 150.0
        for share, words, kind in parts:
            width = 5.4 * share
            drawn += f'<rect x="{x}" y="{y}" width="{width}" height="44" class="{kind}"/>'
            drawn += text(x + width / 2, y + 27, words, "small" if width < 120 else "")
            x += width
        return drawn

    return picture(
        220,
        "Of an observed satisfaction rate of 80 percent a quarter is false, which leaves a genuine rate of 60 percent",
        text(136, 62, "observed", "strong", "end"),
        bar(36, (80, "SR_o = 80 %", "mark"), (20, "VR_o = 20 %", "other")),
        text(136, 152, "genuine", "strong", "end"),
        bar(126, (60, "SR_g = 60 %", "good"), (20, "false", "bad"), (20, "violated", "other")),
        line(474, 80, 474, 126, "dash"),
        line(582, 80, 582, 126, "dash"),
        text(528, 108, "R_FS = 25 %", "small"),
        line(475, 184, 689, 184),
        text(582, 203, "VR_g = 40 %", "small"),
    )


PICTURES = {
    "overview": overview,
    "group": group,
    "cell": cell,
    "false-satisfaction": false_satisfaction,
    "propagation": propagation,
    "sample": sample,
    "intervals": intervals,
    "rates": rates,
}

if __name__ == "__main__":
    for name, draw in PICTURES.items():
        (HERE / f"{name}.svg").write_text(draw(), encoding="utf-8")
