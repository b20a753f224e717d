"""Contradictions on the same input in the document and in every form of it, and what they are kept apart from."""

import hashlib
import re

import pytest

from audit.relations import registry, uses
from audit.relations.base import unchanged
from audit.relations.expect import different
from audit.reports.html import to_html
from audit.reports.sections import to_terminal
from audit.reports.study import study_report
from audit.runner.executors import InProcess
from audit.runner.options import RunOptions
from audit.runner.run import run
from audit.store import open_store

SYSTEMS = '''
import hashlib

ASKED = {}


def number_of(system, text):
    """Which call it is on this text, from 0."""
    ASKED[system, text] = ASKED.get((system, text), -1) + 1
    return ASKED[system, text]


def steady(text):
    """Tells shouting from speaking, always in the same way."""
    return "negative" if text.isupper() else "positive"


def swaying(text):
    """Says something else in the second call, whatever the text."""
    return "negative" if number_of("swaying", text) == 1 else "positive"


def shaken(text):
    """Says something else in the second call on what is shouted."""
    return "negative" if number_of("shaken", text) == 1 and text.isupper() else "positive"
'''


@pytest.fixture
def specs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    module = "said_" + hashlib.md5(str(tmp_path).encode()).hexdigest()
    (tmp_path / f"{module}.py").write_text(SYSTEMS, encoding="utf-8")
    return lambda *names: [f"{module}:{name}" for name in names]


@pytest.fixture
def relations(toy_relations):
    """T1 (equal, shouted), T3 (hangs on outputs) and DIFF (different)."""

    def shout(text, choices):
        """Everything in upper case; the label changes."""
        return text.text.upper()

    options = {"task": "sentiment", "family": "toys", "unit": "sentence", "carry": unchanged}
    uses.relation("DIFF", check=different, **options)(shout)
    return [toy_relations[0], registry.get_relation("sentiment", "DIFF"), toy_relations[2]]


def made(corpus, specs, relations, repeats):
    engine = open_store("sqlite://", create=True)
    run(engine, corpus, specs, relations, InProcess(), options=repeats)
    return engine


def cells(entry):
    return {(cell["relation"], cell["system"].rpartition(":")[2]): cell for cell in entry["cells"]}


@pytest.mark.slow
def test_contradictions_are_told_apart_from_violations(toy_corpus, specs, relations):
    engine = made(toy_corpus(), specs("steady", "swaying", "shaken"), relations, RunOptions(repeats=3))
    report = study_report(engine)

    (entry,) = report["repeats"]
    steady, shaken, swaying = sorted(entry["systems"], key=lambda system: system["contradicted"])
    assert [system["system"].rpartition(":")[2] for system in (steady, shaken, swaying)] == [
        "steady",
        "shaken",
        "swaying",
    ]
    # Of positive, negative, positive two pairs in three differ.
    assert steady["contradicted"] == steady["share"]["value"] == steady["disagreement"]["value"] == 0
    assert steady["share"]["low"] == 0 < steady["share"]["high"]
    assert (swaying["share"]["value"], swaying["disagreement"]["value"]) == pytest.approx((1, 2 / 3))
    assert {swaying["least_calls"], swaying["most_calls"]} == {3}
    assert [label["inputs"] for label in swaying["labels"]] == [
        swaying["inputs"] if label["label"] == "positive" else 0 for label in swaying["labels"]
    ]
    assert 0 < shaken["contradicted"] < shaken["inputs"]

    by_cell = cells(entry)
    # Always violated, in every call: randomness has no part in it.
    cell = by_cell["T1", "steady"]
    assert (cell["unstable"], cell["vr_first"], cell["vr_mean"], cell["vr_by_chance"]) == (0, 1, 1, 0)
    assert cell["always_violated"] == cell["violated"] == cell["groups"] == 30
    # Both members sway together: satisfied by every call, and yet randomness alone violates two in three.
    cell = by_cell["T1", "swaying"]
    assert (cell["unstable"], cell["vr_mean"], cell["vr_by_chance"]) == (0, 0, pytest.approx(2 / 3))
    # The second call on the follow-up alone is another one: violated by one call in three, not by what counts.
    cell = by_cell["T1", "shaken"]
    assert (cell["unstable"], cell["share"]["value"], cell["vr_first"]) == (30, 1, 0)
    assert cell["vr_mean"] == pytest.approx(1 / 3)
    assert (cell["vr_by_chance"], cell["violated"], cell["always_violated"]) == (0, 0, 0)
    # Violated by what counts, but not by the second call.
    cell = by_cell["DIFF", "shaken"]
    assert (cell["violated"], cell["always_violated"], cell["vr_by_chance"]) == (30, 0, None)
    for system in ("steady", "swaying", "shaken"):
        assert by_cell["T3", system]["reason"] is not None
        assert by_cell["T3", system]["groups"] is None

    text = to_terminal(report, full=True)
    assert "Contradictions on the same input" in text
    assert "lower bound" in text
    assert "not known of T3" in " ".join(text.split())
    assert max(map(len, text.splitlines()[:-1])) <= 100
    page = re.sub(r"<[^>]*>", "", to_html(report))
    assert "0 of 30" in page
    assert "同一输入上的自相矛盾" in to_html(report, "zh")
    assert "多数" not in to_html(report, "zh").partition("同一输入上的自相矛盾")[2][:3000]


@pytest.mark.slow
def test_the_rest_of_the_report_is_what_it_is_without_repeats(toy_corpus, specs, relations):
    once = study_report(made(toy_corpus(), specs("steady"), relations, RunOptions()))
    often = study_report(made(toy_corpus(), specs("steady"), relations, RunOptions(repeats=3)))
    assert often.pop("repeats")
    assert often == once
