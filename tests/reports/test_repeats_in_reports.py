"""Contradictions on the same input in the document, and what they are kept apart from."""

import pytest

from audit.relations import registry, uses
from audit.relations.base import unchanged
from audit.relations.expect import different
from audit.reports.study import study_report
from audit.runner.executors import InProcess
from audit.runner.options import RunOptions
from audit.runner.run import run
from audit.store import open_store

SYSTEMS = """
ASKED = {}


def number_of(system, text):
    ASKED[system, text] = ASKED.get((system, text), -1) + 1
    return ASKED[system, text]


def steady(text):
    return "negative" if text.isupper() else "positive"


def swaying(text):
    return "negative" if number_of("swaying", text) == 1 else "positive"


def shaken(text):
    return "negative" if number_of("shaken", text) == 1 and text.isupper() else "positive"
"""
"""One tells shouting from speaking; the second call of one is another, and so is that of one on what is shouted."""


@pytest.mark.slow
def test_contradictions_are_told_apart_from_violations(tmp_path, monkeypatch, toy_corpus, toy_relations):
    """Under T1 (equal, shouted), T3 (hangs on outputs) and DIFF (the label changes)."""

    def shout(text, choices):
        """Everything in upper case; the label changes."""
        return text.text.upper()

    uses.relation("DIFF", check=different, task="sentiment", family="toys", unit="sentence", carry=unchanged)(shout)
    relations = [toy_relations[0], registry.get_relation("sentiment", "DIFF"), toy_relations[2]]
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "said_in_repeats.py").write_text(SYSTEMS, encoding="utf-8")

    def made(repeats, *names):
        engine = open_store("sqlite://", create=True)
        specs = [f"said_in_repeats:{name}" for name in names]
        run(engine, toy_corpus(), specs, relations, InProcess(), options=RunOptions(repeats=repeats))
        return study_report(engine)

    (entry,) = made(3, "steady", "swaying", "shaken")["repeats"]
    steady, shaken, swaying = sorted(entry["systems"], key=lambda system: system["contradicted"])
    # Of positive, negative, positive two pairs in three differ.
    assert steady["contradicted"] == steady["share"]["value"] == steady["disagreement"]["value"] == 0
    assert steady["share"]["low"] == 0 < steady["share"]["high"]
    assert (swaying["share"]["value"], swaying["disagreement"]["value"]) == pytest.approx((1, 2 / 3))
    assert {swaying["least_calls"], swaying["most_calls"]} == {3}
    assert 0 < shaken["contradicted"] < shaken["inputs"]
    cells = {(cell["relation"], cell["system"].rpartition(":")[2]): cell for cell in entry["cells"]}
    # Always violated, in every call: randomness has no part in it.
    cell = cells["T1", "steady"]
    assert (cell["unstable"], cell["vr_first"], cell["vr_mean"], cell["vr_by_chance"]) == (0, 1, 1, 0)
    assert cell["always_violated"] == cell["violated"] == cell["groups"] == 30
    # Both members sway together: satisfied by every call, and yet randomness alone violates two in three.
    cell = cells["T1", "swaying"]
    assert (cell["unstable"], cell["vr_mean"], cell["vr_by_chance"]) == (0, 0, pytest.approx(2 / 3))
    # The second call on the follow-up alone is another one: violated by one call in three, not by what counts.
    cell = cells["T1", "shaken"]
    assert (cell["unstable"], cell["share"]["value"], cell["vr_first"]) == (30, 1, 0)
    assert cell["vr_mean"] == pytest.approx(1 / 3)
    # Violated by what counts, but not by the second call.
    cell = cells["DIFF", "shaken"]
    assert (cell["violated"], cell["always_violated"], cell["vr_by_chance"]) == (30, 0, None)
    assert (cells["T3", "steady"]["reason"] is not None, cells["T3", "steady"]["groups"]) == (True, None)
    # The rest of the report is what it is without repeats.
    once, often = made(1, "steady"), made(3, "steady")
    assert often.pop("repeats")
    assert often == once
