"""Rates by slice and accuracy by gold, who is best in each slice, and the worst of them."""

import json
import random
from dataclasses import replace

import numpy as np
import pytest

from audit.corpora.slices import find_slicing
from audit.judging.labels import answer_with_gold
from audit.judging.samples import ask_next
from audit.reports.document import estimated
from audit.reports.sections import slice_table, worst_table
from audit.reports.study import evidence, report_of, study_report
from audit.reports.words import Say
from audit.runner.imported import import_run
from audit.sampling.samples import SampleOptions
from audit.statistics.intervals import mid_p
from audit.store import open_store

TEXTS, SYSTEMS = 300, ("steady", "quick", "loose")
OTHER = {"positive": "negative", "negative": "positive"}


def groups():
    """Groups of three systems on 300 texts in two genres, a tenth of which has none: the 100 that deny are harder, for
    `steady` less so than for others."""
    for at in range(TEXTS):
        denies, text = at % 3 == 0, f"Film {at} is {'not ' * (at % 3 == 0)}as good as the {at % 7 * 'very '}last."
        attributes = {"genre": "drama" if at % 2 else "comedy"} if at % 10 else {}
        for name in SYSTEMS:
            chance, gold = random.Random(f"{name} {text}"), "negative" if "very" in text else "positive"
            wrong = {"steady": 0.3, "quick": 0.5 if denies else 0.1, "loose": 0.6 if denies else 0.2}[name]
            violated = chance.random() < wrong
            said = gold if chance.random() > wrong / 2 else OTHER[gold]
            yield {
                "relation": "MR3.1", "system": name, "source": text, "follow_ups": [text.upper()], "gold": gold,
                "outputs": [said, OTHER[said] if violated else said], "attributes": attributes,
                "verdict": "violated" if violated else "satisfied",
            }  # fmt: skip


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """Every satisfied group judged by gold."""
    path = tmp_path_factory.mktemp("whole")
    (path / "films.jsonl").write_text("\n".join(map(json.dumps, groups())), encoding="utf-8")
    engine = open_store(str(path / "audit.db"), create=True)
    import_run(engine, path / "films.jsonl")
    ask_next(engine, SampleOptions(share=1.0))
    answer_with_gold(engine)
    return engine


@pytest.mark.slow
def test_where_all_is_judged_the_rates_are_the_true_ones(whole):
    report = study_report(whole, slices=["genre"], target="corpus")
    (entry,), accuracy = report["slices"], report["decisions"][0]["accuracy"]
    assert (entry["slices"], entry["unsliced"]) == (["comedy", "drama", None], TEXTS // 10)
    for rates in (rates for rates in entry["rates"] if rates["slice"] is not None):
        rows = [one for one in groups() if one["system"] == rates["system"]]
        rows = [one for one in rows if one["attributes"].get("genre") == rates["slice"]]
        violated = np.array([one["verdict"] == "violated" for one in rows])
        wrong = violated | [one["outputs"][0] != one["gold"] for one in rows]
        counts = (rates["groups"], rates["violated"], rates["judged"])
        assert counts == (len(rows), violated.sum(), len(rows) - violated.sum())
        for end in ("value", "low", "high"):  # of these very texts nothing is unknown
            assert rates["vr_observed"][end] == pytest.approx(violated.mean())
            assert rates["vr_genuine"][end] == pytest.approx(wrong.mean())
    for system in accuracy["systems"]:
        right = sum(row["outputs"][0] == row["gold"] for row in groups() if row["system"] == system["system"])
        ends = mid_p(right, TEXTS)
        assert system["accuracy"] == estimated((right / TEXTS, ends.low, ends.high), TEXTS)


def shouts(row):
    """A function of a user's."""
    return "BIG" in row.input.text


@pytest.mark.slow
def test_the_slice_that_is_harder_is_the_worst_and_another_system_is_best_in_it(whole):
    many = study_report(whole, slices=["negation", "length", "genre", "phrase:zebra", shouts])
    found = [test for test in many["slice_tests"]["tests"] if test["found"]]
    assert {(test["by"], test["slice"]) for test in found} == {("negation", "yes")}
    assert {(test["rate"], test["system"]) for test in found} >= {("genuine", "quick"), ("observed", "quick")}
    for test in found:
        assert 0 < test["low"] < test["difference"] < test["high"]
        assert test["p"] <= test["q"] <= 0.05
    assert worst_table(many, Say()).rows[0][:3] == ("VR_g", "negation: yes", found[0]["system"])
    # Slices without a rest, and those that nobody is in, are no hypotheses.
    assert {test["by"] for test in many["slice_tests"]["tests"]} == {"negation", "length", "genre"}
    entry = many["slices"][0]
    assert (entry["by"], entry["slices"]) == ("negation", ["yes", "no"])
    assert many["decisions"][0]["systems"][0] == "quick"
    denies, others = ({name in one["systems"] and name for name in SYSTEMS} for one in entry["decisions"])
    assert ("steady" in denies, "quick" in others, "steady" in others) == (True, True, False)


@pytest.mark.slow
def test_bounds_of_slices_are_those_of_their_groups(whole):
    # Nothing of half the draw is answered: the cells have bounds, and so have their slices.
    basis = evidence(whole, slicings=[find_slicing("negation")])
    judged = basis.counted.judged
    half = (judged.source % 2 == 0).astype(np.int8)
    judged = replace(judged, false=judged.false * (1 - half), open=half)
    (entry,) = report_of(replace(basis, counted=replace(basis.counted, judged=judged)))["slices"]
    for rates in entry["rates"]:
        genuine = rates["vr_genuine"]
        assert rates["fs_rate"]["value"] is genuine["value"] is None
        assert rates["vr_observed"]["value"] <= genuine["least"] < genuine["most"] <= 1
        assert genuine["low"] <= genuine["least"]
        assert genuine["high"] >= genuine["most"]
        assert "bounds" in genuine["reason"]
    assert all(row[-1].least is not None for row in slice_table(entry, Say()).rows)
