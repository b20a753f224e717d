"""The sections of a report in all forms: the same numbers in terminal, HTML and notebook, in English and Chinese."""

import random
import re
from html import unescape

import pandas as pd
import pytest

from audit.messages import message
from audit.reports import charts
from audit.reports.basis import basis_of_totals
from audit.reports.build import build_report
from audit.reports.document import estimated
from audit.reports.first_page import first_lines
from audit.reports.html import to_html, to_notebook
from audit.reports.sections import to_terminal
from audit.reports.words import estimate

SYSTEMS = ("vader", "textblob", "hiv4", "tfidf-logreg")


def fake(relations=20, systems=SYSTEMS, seed=1):
    """A report with everything that happens: errors, waiting questions, cells without an estimate, two studies."""
    rng, rows = random.Random(seed), []
    for number in range(relations):
        for system in systems:
            groups = rng.randint(200, 2000)
            satisfied = int(groups * rng.uniform(0.4, 0.95))
            judged = rng.choice([min(60, satisfied), rng.randint(0, 30), 0])
            study, corpus = ("s1", "rotten-tomatoes") if number < 13 else ("s2", "polarity-v2")
            row = {"study": study, "corpus": corpus, "task": "sentiment", "system": system, "groups": groups}
            row |= {"relation": f"MR{1 + number // 4}.{1 + number % 4}", "satisfied": satisfied, "drawn": 60}
            row |= {"violated": groups - satisfied - 3, "inapplicable": 2, "errors": 1, "judged": judged}
            rows.append(row | {"false": int(judged * rng.uniform(0.05, 0.9)), "waiting": 60 - judged})
    signature = {"audit": "0.1.0", "seed": 0, "notes": ["A note."]}
    return build_report(basis_of_totals(pd.DataFrame(rows), "population"), signature, waiting=321)


INTERVAL = {"low": 0.1, "high": 0.3}
RATE = estimated((0.2, 0.1, 0.3), 40)
DATA = {
    "audit", "best", "film", "hiv", "relation", "sentiment", "similarity", "sr_g", "textblob", "tfidf", "logreg",
    "vader", "information", "software", "technology", "jiang", "chen", "wang", "and", "holm", "mcnemar",
    "genre", "drama", "key", "empty", "benjamini", "yekutieli", "before", "after", "study", "polarity",
    "rotten", "tomatoes", "mid",
}  # fmt: skip
"""Names in the report, of methods and of papers, which Chinese texts spell as English ones do."""


@pytest.fixture(scope="module")
def report():
    """A report with every section: what `fake` has not is put into its document."""
    document = fake(4)
    document["relations"][0]["carry"] = {"wrong": 2, "error": RATE}
    document["overall"] |= {"audits_waiting": 4}
    cause = {"cause": "label_range", "count": 2, "share": RATE}
    place = {"task": "sentiment", "study": "s1", "false": 5, "named": 4, "cells": 1}
    document["causes"] = [place | {"by": by, "name": by, "causes": [cause]} for by in ("relation", "overall")]
    document["disputes"] = {"settled": 3, "reasons": [{"reason": "slip", "count": 2}], "uncoded": 1}
    counts = {"groups": 9, "violated": 2, "sources": 9, "judged": 5, "false": 1}
    part = dict.fromkeys(("relation", "sr_observed")) | counts | {"slice": "drama", "system": "vader"}
    part |= dict.fromkeys(("fs_rate", "sr_genuine", "vr_observed", "vr_genuine"), RATE)
    place = {"task": "sentiment", "study": "s1", "corpus": "film", "by": "genre"}
    slices = place | {"slices": ["drama"], "empty": ["empty"], "unsliced": 2, "reason": None, "relations": ["MR1.1"]}
    slices |= {"systems": ["vader"], "decisions": [{"slice": "drama", **document["decisions"][0]}]}
    document["slices"] = [slices | {"rates": [part, part | {"relation": "MR1.1"}]}]
    test = {"groups": 9, "clusters": 9, "judged": None, "inside": 0.4, "outside": 0.2, "difference": 0.2, **INTERVAL}
    test |= place | {"slice": "drama", "system": "vader", "rate": "observed", "p": 0.001, "q": 0.01, "found": True}
    document["slice_tests"] = {"level": 0.05, "least": 30, "tests": [test] * 11, "reason": None}
    calls = {"system": "vader", "inputs": 9, "least_calls": 2, "most_calls": 3, "failed": 2}
    calls |= {"contradicted": 2, "share": RATE, "disagreement": RATE}
    by_call = {"relation": "MR1.1", "system": "vader", "groups": 9, "calls": 2, "unstable": 3, "share": RATE}
    by_call |= {"vr_first": 0.2, "vr_mean": 0.3, "vr_by_chance": 0.1, "violated": 4, "always_violated": 1}
    unknown = by_call | {"reason": message("repeats.none_twice")}
    document["repeats"] = [place | {"systems": [calls], "cells": [by_call | {"reason": None}, unknown]}]
    change = {"key": "key", "before": None, "after": ["after"], "version": 2, "at": "2026-03-09T08:00:00"}
    plan = {"plan": "study", "study": 1, "version": 2, "frozen_version": 1, "frozen_at": "2026-03-02T09:41:00"}
    plan |= {"run_began": "2026-03-02T10:00:00", "judgements": 12, "judgements_before": 3, "changed": [change]}
    document["plan"] = [plan | {"deviates": [{"key": "key", "planned": ["before"], "found": []}]}]
    named = {"study": 1, "task": "sentiment", "system": "vader", "other": "hiv4", "relation": None, "tested": True}
    named |= {"named_at": "2026-03-02T09:41:00", "answers_before": 0, "difference": 0.1, **INTERVAL, "p": 0.01}
    document["primary"] = [named | {"relations": 2, "compared": 3, "p_holm": 0.01, "apart": True, "reason": None}]
    document["sensitivity"] = {"labels": ["neutral"], "fs_rate": 0.2, "fs_rate_right": 0.1}
    document["signature"] |= {
        "interval": "midp",
        "confidence": 0.95,
        "target": "population",
        "delta": 0.02,
        "notes": [],
    }
    return document


NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")


def shown(html):
    """The texts of a page."""
    return unescape(re.sub(r"<[^>]*>", " ", html[html.index("<body>") :]))


@pytest.mark.slow
def test_every_form_prints_every_number_of_the_cells(report):
    forms = [to_terminal(report, full=True), shown(to_html(report)), to_notebook(report)]
    for form in forms:
        numbers = set(NUMBER.findall(form))
        for cell in report["cells"]:
            texts = [estimate(cell[rate]).text() for rate in ("fs_rate", "sr_genuine")]
            texts += [f"{cell[name]:,}" for name in ("groups", "satisfied", "violated", "judged", "false", "waiting")]
            assert set(NUMBER.findall(" ".join([*texts, f"{100 * cell['sr_observed']:.1f}"]))) <= numbers
        for relation in report["relations"]:
            rates = [one[rate] for one in relation["ranking"] for rate in ("sr_observed", "sr_genuine")]
            rates += [abs(pair["difference"]) for pair in relation["pairs"] if pair["difference"] is not None]
            assert {f"{100 * rate:.1f}" for rate in rates if rate is not None} <= numbers
    assert set(NUMBER.findall(forms[0])) <= set(NUMBER.findall(forms[1]))
    # The first lines alone are few, and name the others.
    assert len(to_terminal(report).splitlines()) <= 12
    assert to_terminal(report).endswith("--full.")
    assert first_lines(report)[-1].startswith("Next: ")


@pytest.mark.parametrize("width", [70, 140])
def test_the_terminal_stays_within_its_width(width):
    report = fake(3, (*SYSTEMS, "a-system-whose-name-is-much-too-long-for-any-table"))
    lines = to_terminal(report, full=True, width=width).splitlines()
    assert max(map(len, lines[:-1])) <= width
    assert lines[-1] == "audit:0.1.0|seed:0"


@pytest.mark.slow
def test_html_needs_nothing_else_and_its_charts_are_what_vega_lite_knows(monkeypatch):
    """Charts are made without Altair's check, which takes long; here it is made, of every chart of a file."""
    checked = []

    def spec_of(chart):
        checked.append(chart.to_dict())  # raises SchemaValidationError
        return checked[-1]

    monkeypatch.setattr(charts, "spec_of", spec_of)
    report = fake(6)
    html = to_html(report)
    assert html.startswith("<!doctype html>")
    assert not re.search(r"https?:|<(?:script|link|img|a)\b|url\(|@import|<foreignObject", html)
    drawn = re.findall(r'<svg class="chart" role="img" aria-label="[^"]+"', html)
    assert len(drawn) == len(checked) >= 8
    assert "A note." in shown(html)
    assert to_html(report) == html
    first = re.sub(r"<svg.*?</svg>", "", html[: html.index('class="evidence"')], flags=re.DOTALL)
    assert len(shown(first).replace("\N{NO-BREAK SPACE}", "").split()) <= 120


@pytest.mark.slow
def test_names_cannot_become_markup():
    evil = "</svg><script>alert('1')</script>\"&"
    row = {"task": evil, "relation": evil, "system": evil, "study": evil, "corpus": evil}
    row |= {"satisfied": 8, "violated": 2, "judged": 8, "false": 4}
    html = to_html(build_report(basis_of_totals(pd.DataFrame([row]), "population"), {"audit": evil, "notes": [evil]}))
    assert "<script" not in html
    assert shown(html).count(evil) >= 5
    assert re.search(r'<svg [^>]*aria-label="[^"]*&lt;script', html)


@pytest.mark.slow
def test_nothing_in_a_chinese_page_is_english_but_data(report):
    # Reasons of cells are sentences of whoever made them, not of the renderers.
    parts = {name: translated(report[name]) for name in ("rollups", "relations", "cells", "violations")}
    page = to_html(report | parts, "zh")
    body = page[page.index("<body>") : page.index("<summary>完整内容")]
    labels = unescape(" ".join(re.findall(r'aria-label="([^"]*)"', body)))
    text = re.sub(r"audit:0\.1\.0\|\S+", "", shown(re.sub(r"<code>audit [\w -]+</code>", " ", body)) + labels)
    text = re.sub(r"\b(?:SR|VR|R)_?\w+|MR[\d.]+", " ", text)
    assert {word for word in re.findall(r"[A-Za-z]{3,}", text) if word.lower() not in DATA} == set()
    assert '<html lang="zh-Hans">' in page
    assert "<title>有多少满足是虚假的？</title>" in page


def translated(part):
    if isinstance(part, dict):
        return {key: "原因" if key == "reason" and value else translated(value) for key, value in part.items()}
    return list(map(translated, part)) if isinstance(part, list) else part
