"""The forms of a report: words, terminal text, charts and HTML."""

import random
import re
from html.parser import HTMLParser

import pandas as pd
import pytest

from audit.reports import charts
from audit.reports.build import build_report
from audit.reports.charts import DARK, false_chart, rates_chart, rates_in_words, rollup_chart, scores_chart, to_svg
from audit.reports.html import to_html
from audit.reports.preference import Weights
from audit.reports.terminal import to_terminal
from audit.reports.words import best_text, change_text, headlines, notes_of, order_text, signature_line

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


def one_cell_report(**counts):
    row = {"task": "sentiment", "relation": "MR1.1", "system": "a", "satisfied": 80, "violated": 20}
    return build_report(pd.DataFrame([row | {"judged": 0, "false": 0} | counts]), {"audit": "0.1.0"}, target="corpus")


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


@pytest.mark.parametrize("width", [70, 80, 100, 140])
def test_terminal_stays_within_its_width(width):
    report = fake(3, (*SYSTEMS, "a-system-whose-name-is-much-too-long-for-any-table"))
    assert max(len(line) for line in to_terminal(report, width).splitlines()[:-1]) <= width


def test_terminal_leaves_out_counts_that_nobody_knows():
    frame = pd.DataFrame(
        [{"task": "t", "relation": "MR1", "system": "a", "satisfied": None, "violated": None, "judged": None}]
    ).assign(false=None, sr_observed=0.9, fs_rate=0.5)
    text = to_terminal(build_report(frame, {}))
    assert "satisfied  " not in text
    assert "90.0  50.0  45.0" in text


def test_headlines_in_plain_words():
    numbers = dict(headlines(one_cell_report(judged=80, false=20)))
    assert "80.0\N{NO-BREAK SPACE}% of its groups seem to satisfy" in numbers["25.0\N{NO-BREAK SPACE}% [25.0–25.0]"]
    assert "60.0\N{NO-BREAK SPACE}% [60.0–60.0] really do" in numbers["25.0\N{NO-BREAK SPACE}% [25.0–25.0]"]
    assert numbers["80"] == "of 80 satisfied groups were judged; 1 of 1 cell has a genuine rate."
    compared = fake(3)["overall"]["relations_compared"]
    assert f" of {compared}" in headlines(fake(3))[1][0]


def test_notes_say_what_is_not_known_and_not_sure():
    assert notes_of(fake())[0] == NOTE
    assert any("not checked because a system failed" in note for note in notes_of(fake()))
    assert notes_of(one_cell_report()) == ["No cell has a genuine rate yet: no satisfied group of a sample is settled."]
    rows = [
        {"task": "t", "relation": "MR1", "system": "a", "satisfied": 90, "violated": 10, "judged": 9, "false": 3},
        {"task": "t", "relation": "MR1", "system": "b", "satisfied": 80, "violated": 20, "judged": 0, "false": 0},
    ]
    assert any(
        "no order after correction" in note and "MR1" in note for note in notes_of(build_report(pd.DataFrame(rows), {}))
    )
    assert notes_of(build_report(pd.DataFrame(rows).assign(judged=9), {})) == []
    all_judged = [row | {"judged": row["satisfied"], "false": 30 if row["system"] == "a" else 8} for row in rows]
    report = build_report(pd.DataFrame(all_judged), {}, target="corpus")
    assert report["relations"][0]["best_changes"]
    assert notes_of(report) == []


def test_orders_and_changes_in_words():
    rows = [
        {"task": "t", "relation": "MR1", "system": name, "satisfied": good, "violated": 100 - good}
        for name, good in (("a", 90), ("b", 90), ("c", 50))
    ]
    frame = pd.DataFrame(rows).assign(judged=[0, 90, 50], false=[0, 45, 0])
    report = build_report(frame, {}, target="corpus")
    entry = report["relations"][0]
    # The same systems before and after: an order over other systems is no change.
    assert (order_text(entry, "observed"), order_text(entry, "genuine")) == ("b > c", "c > b")
    assert change_text(entry) == "not known yet"
    assert best_text(entry) == "was a, b, now not known yet"  # a may still have up to .9
    settled = build_report(frame.assign(judged=[90, 90, 50], false=[80, 45, 0]), {}, target="corpus")["relations"][0]
    assert change_text(settled) == "another system is best, for sure"
    assert best_text(settled) == "was a, b, is c"
    only = build_report(frame.iloc[:1], {})["relations"][0]
    assert (change_text(only), best_text(only)) == ("one system", "was a, now not known yet")


def test_a_relation_without_groups_in_words():
    rows = [{"task": "t", "relation": "MR1", "system": name, "satisfied": 0, "violated": 0} for name in "ab"]
    entry = build_report(pd.DataFrame(rows), {})["relations"][0]
    assert (change_text(entry), best_text(entry)) == (
        "nothing to compare",
        "no group is satisfied or violated",
    )


def test_signature_line():
    systems = [{"name": "a", "version": "1", "settings": {}}, {"name": "b", "version": "2", "settings": {"x": 1}}]
    line = signature_line({"systems": systems, "limit": None, "samples": [{"seed": 1, "design": "shared"}], "n": True})
    assert re.fullmatch(r"systems:a@1,b@2#[0-9a-f]{6}\|samples:seed=1,design=shared\|n:true", line)
    systems[1]["settings"] = {"x": 2}
    assert signature_line({"systems": systems}) not in line


def test_studies_of_one_corpus_are_told_apart():
    row = {"task": "t", "relation": "MR1", "system": "a", "corpus": "c", "satisfied": 1, "violated": 1, "judged": 0}
    frame = pd.DataFrame([row | {"false": 0, "study": study} for study in (10, 9)])
    lines = to_terminal(build_report(frame, {})).splitlines()
    assert [line for line in lines if line.startswith("t · ")] == ["t · c · study 9", "t · c · study 10"]


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


def test_charts_of_cells_without_rates():
    report = one_cell_report(satisfied=0, violated=0)
    assert ">a<" in to_svg(rates_chart(report, report["relations"][0]))
    assert ">–<" in to_svg(false_chart(report, "sentiment", None))
    assert "nothing to compare" in rates_in_words(report, report["relations"][0])


def test_charts_of_a_report_are_what_vega_lite_knows(monkeypatch):
    """They are made without Altair's check, which takes long; here it is made, of every chart of a file."""
    checked = []

    def spec_of(chart):
        checked.append(chart.to_dict())  # raises SchemaValidationError
        return checked[-1]

    monkeypatch.setattr(charts, "spec_of", spec_of)
    assert to_html(fake(relations=2)).count('<svg class="chart"') == len(checked) > 5


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
    # The first page's two; two heat maps, rates, changes of order, four levels of roll-ups, violation rates by
    # relation and by family.
    assert len(charts) == 2 + 2 + 20 + changed + 4 + 4
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


@pytest.mark.parametrize("counts", [{}, {"judged": 80, "false": 20}, {"satisfied": 0}, {"satisfied": 0, "violated": 0}])
def test_html_of_one_cell(counts):
    page = Page(to_html(one_cell_report(**counts)))
    assert "MR1.1" in page.text
    assert "None" not in page.text
    assert "nan" not in page.text


def test_html_says_why_a_roll_up_is_not_known_and_what_counts_as_equal():
    report = fake(2)
    report["signature"] |= {"interval": "midp", "target": "population", "delta": 0.02}
    text = Page(to_html(report)).text
    assert "Why not" in text
    assert "no estimate yet" in text
    assert "intervals (mid-p) for the population of this corpus; differences up to 2.0 points count as equal." in text


def test_html_shows_corrected_rates_where_there_are_some():
    report = one_cell_report(judged=8, false=4)
    assert "SRc" not in Page(to_html(report)).text
    report["cells"][0] |= {"sr_corrected": 0.456, "sr_corrected_low": 0.4, "sr_corrected_high": 0.5}
    text = Page(to_html(report)).text
    assert "SRc" in text
    assert "45.6 [40.0–50.0]" in text


def test_charts_of_roll_ups_and_scores():
    report = fake(3)
    svg = to_svg(rollup_chart(report, "system"))
    for name in SYSTEMS:
        assert f">{name}<" in svg
    assert rollup_chart(build_report(pd.DataFrame([]), {}), "overall") is None
    assert scores_chart([]) is None
    rows = [
        {"task": "t", "relation": "MR1", "system": name, "satisfied": 80, "violated": 20, "judged": 40, "false": false}
        for name, false in (("a", 20), ("b", 4))
    ]
    weighted = build_report(pd.DataFrame(rows), {}, weights=Weights("w", {"MR1": 1}))
    svg = to_svg(scores_chart(weighted["preference"]["ranking"]))
    # SR_g of a: .8 x (1 - 20/40) = 40 %; of b: .8 x (1 - 4/40) = 72 %, so b stands above a.
    assert "80.0 → 40.0" in svg
    assert svg.index(">b<") < svg.index(">a<")
    assert "By your weights" in Page(to_html(weighted)).text


def test_html_of_nothing():
    assert "nothing was checked yet" in Page(to_html(build_report(pd.DataFrame([]), {}))).text


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


def test_the_page_takes_its_chart_colours_from_the_readers_scheme():
    html = to_html(one_cell_report(judged=8, false=4))
    for colour in ("ink", "paper", "genuine", "false"):
        assert re.search(rf'svg \[fill="#[0-9a-f]{{6}}"\] {{ fill: var\(--{colour}\); }}', html)
    assert html.count(DARK.genuine) == 1
