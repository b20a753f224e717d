"""The forms of a report: words, terminal text, charts and HTML."""

import random
import re
from html.parser import HTMLParser

import pandas as pd
import pytest

from audit.reports import charts
from audit.reports.build import build_report
from audit.reports.charts import DARK, false_chart, rates_chart, rates_in_words, to_svg
from audit.reports.html import to_html
from audit.reports.terminal import to_terminal

NOTE = "Gold has two classes, so every neutral output counts as wrong."
SYSTEMS = ("vader", "textblob", "hiv4", "tfidf-logreg")


def fake(relations=20, systems=SYSTEMS, seed=1):
    """A report with everything that happens: errors, waiting questions, cells without an estimate, two studies."""
    rng, rows = random.Random(seed), []
    for number in range(relations):
        for system in systems:
            groups = rng.randint(200, 2000)
            satisfied = int(groups * rng.uniform(0.4, 0.95))
            judged = rng.choice([min(60, satisfied), rng.randint(0, 30), 0])
            rows.append(
                {
                    "study": "s1" if number < 13 else "s2",
                    "corpus": "rotten-tomatoes" if number < 13 else "polarity-v2",
                    "task": "sentiment",
                    "relation": f"MR{1 + number // 4}.{1 + number % 4}",
                    "system": system,
                    "groups": groups,
                    "satisfied": satisfied,
                    "violated": groups - satisfied - 3,
                    "inapplicable": 2,
                    "errors": 1,
                    "drawn": 60,
                    "judged": judged,
                    "false": int(judged * rng.uniform(0.05, 0.9)),
                    "waiting": 60 - judged,
                }
            )
    return build_report(pd.DataFrame(rows), {"audit": "0.1.0", "seed": 0, "notes": [NOTE]}, waiting=321)


class Page(HTMLParser):
    """Tags, their attributes and the text of a document; fails on a tag that is not closed."""

    VOID = ("meta", "br", "circle", "line", "rect", "path")

    def __init__(self, html):
        super().__init__()
        self.tags, self.open, self.text = [], [], ""
        self.feed(html)
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        if tag not in self.VOID:
            assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] != "style":
            self.text += data

    def named(self, tag):
        return [attributes for name, attributes in self.tags if name == tag]


@pytest.mark.slow
def test_terminal_fits_and_says_everything():
    report = fake()
    lines = to_terminal(report).splitlines()
    assert max(len(line) for line in lines[:-1]) <= 100
    assert lines[-1] == "signature audit:0.1.0|seed:0"
    text = "\n".join(lines)
    assert f"Note: {NOTE}" in text
    assert "321 questions wait" in text
    assert "sentiment · polarity-v2" in text
    assert "\x1b" not in text
    for entry in report["relations"]:
        assert f"\n{entry['relation']}" in text
    cell = report["cells"][0]
    row = next(line for line in lines if line.startswith(f"  {cell['system']}"))
    assert f"{cell['satisfied']:,}" in row
    assert f"{100 * cell['sr_observed']:.1f}" in row


@pytest.mark.slow
@pytest.mark.parametrize("width", [70, 80, 100, 140])
def test_terminal_stays_within_its_width(width):
    report = fake(3, (*SYSTEMS, "a-system-whose-name-is-much-too-long-for-any-table"))
    assert max(len(line) for line in to_terminal(report, width).splitlines()[:-1]) <= width


@pytest.mark.slow
def test_charts_say_the_numbers():
    report = fake(2)
    entry = report["relations"][0]
    svg = to_svg(rates_chart(report, entry))
    assert svg.startswith("<svg")
    for cell in report["cells"][:4]:
        assert f">{cell['system']}<" in svg
        assert f"{100 * cell['sr_observed']:.1f} → " in svg
    heat = to_svg(false_chart(report, "sentiment", "s1", DARK))
    assert re.findall(r">(MR\d\.\d)<", heat) == ["MR1.1", "MR1.2"]
    estimated = [cell for cell in report["cells"] if cell["fs_rate"] is not None]
    assert all(f">{100 * cell['fs_rate']:.1f}<" in heat for cell in estimated)
    words = rates_in_words(report, entry)
    assert words.startswith("Satisfaction rates of MR1.1. hiv4: ")


@pytest.mark.slow
def test_charts_of_a_report_are_what_vega_lite_knows(monkeypatch):
    """They are made without Altair's check, which takes long; here it is made, of every chart of a file."""
    checked = []

    def spec_of(chart):
        checked.append(chart.to_dict())  # raises SchemaValidationError
        return checked[-1]

    monkeypatch.setattr(charts, "spec_of", spec_of)
    assert to_html(fake(relations=2)).count('<svg class="chart"') == len(checked) > 5


@pytest.mark.slow
def test_html_is_whole_and_self_contained():
    report = fake()
    html = to_html(report)
    page = Page(html)
    assert html.startswith("<!doctype html>")
    assert page.named("script") == page.named("link") == page.named("img") == page.named("a") == []
    assert "http:" not in html
    assert "https:" not in html
    assert not re.search(r"url\(|@import|<foreignObject", html)
    charts = [attributes for attributes in page.named("svg") if attributes.get("class") == "chart"]
    changed = sum(entry["order_changes"] for entry in report["relations"])
    assert changed > 1
    # The first page's two; two heat maps, rates, changes of order, four levels of roll-ups, violation rates.
    assert len(charts) == 2 + 2 + 20 + changed + 4 + 2
    assert all(attributes["role"] == "img" and attributes["aria-label"] for attributes in charts)
    assert all("scope" in attributes for attributes in page.named("th"))
    assert NOTE in page.text
    assert "audit:0.1.0|seed:0" in page.text
    ranked = sum(entry["ranking"][0]["p_best"] is not None for entry in report["relations"])
    ranked += sum(any(pair["difference"] is not None for pair in entry["pairs"]) for entry in report["relations"])
    # Orders of two studies, cells of 20 relations, rankings as far as they are known, roll-ups, and two tables of
    # violation rates with relations, families and all.
    assert len(page.named("tbody")) == 2 + 20 + ranked + 1 + 2 * 3
    assert to_html(fake(2)) == to_html(fake(2))


@pytest.mark.slow
def test_names_cannot_become_markup():
    evil = "</svg><script>alert('1')</script>\"&"
    row = {"task": evil, "relation": evil, "system": evil, "study": evil, "corpus": evil}
    row |= {"satisfied": 8, "violated": 2, "judged": 8, "false": 4}
    html = to_html(build_report(pd.DataFrame([row]), {"audit": evil, "notes": [evil]}))
    page = Page(html)
    assert "<script" not in html
    assert page.named("script") == []
    assert page.text.count(evil) >= 5
    assert any(evil in attributes.get("aria-label", "") for attributes in page.named("svg"))
