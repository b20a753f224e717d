"""Rates by slice and accuracy by gold, in the document and in every form of it."""

import json
import random
from dataclasses import replace

import numpy as np
import pytest

from audit.corpora.slices import find_slicing
from audit.errors import AuditError
from audit.judging.labels import answer_with_gold
from audit.judging.samples import ask_next
from audit.reports.document import estimated
from audit.reports.evidence import evidence
from audit.reports.sections import slice_table, worst_table
from audit.reports.study import report_of, study_report
from audit.reports.words import Say
from audit.runner.imported import import_run
from audit.sampling.samples import SampleOptions
from audit.statistics.intervals import mid_p
from audit.store import open_store

FILMS = 120
RELATIONS = ("MR1.1", "MR3.1")


def lines(gold=True):
    """Films of two genres under two relations: what systems say of a film is right, wrong or inconsistent at random."""
    chance = random.Random(5)
    for film in range(FILMS):
        truth = chance.choice(["positive", "negative"])
        genre = "drama" if film % 3 else "comedy"
        for system, wrong in (("careful", 0.1), ("careless", 0.4)):
            label = truth if chance.random() > wrong else {"positive": "negative", "negative": "positive"}[truth]
            for relation in RELATIONS:
                violated = chance.random() < (0.3 if system == "careful" else 0.1)
                yield {
                    "relation": relation, "system": system, "source": f"Film {film}.",
                    "follow_ups": [f"Film {film}, {relation}!"], "outputs": [label, "neutral" if violated else label],
                    "verdict": "violated" if violated else "satisfied", "attributes": {"genre": genre},
                } | ({"gold": truth} if gold else {})  # fmt: skip


def database(path, gold=True):
    file = path / "films.jsonl"
    file.write_text("\n".join(map(json.dumps, lines(gold))), encoding="utf-8")
    engine = open_store(str(path / "audit.db"), create=True)
    import_run(engine, file)
    ask_next(engine, SampleOptions(share=1.0))
    answer_with_gold(engine)
    return engine


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """Every satisfied group judged by gold."""
    return database(tmp_path_factory.mktemp("whole"))


@pytest.fixture(scope="module")
def report(whole):
    return study_report(whole, slices=["genre"], target="corpus")


def truth(system, keep=lambda row: True):
    """(groups, violated, violated or false) of a system's groups."""
    groups = [row for row in lines() if row["system"] == system and keep(row)]
    violated = [row["verdict"] == "violated" for row in groups]
    false = [row["outputs"][0] != row["gold"] for row in groups]
    return len(groups), sum(violated), sum(row or other for row, other in zip(violated, false, strict=True))


def rate(entry, slice, system, relation=None):
    (rates,) = (
        rates
        for rates in entry["rates"]
        if (rates["slice"], rates["system"], rates["relation"]) == (slice, system, relation)
    )
    return rates


@pytest.mark.slow
@pytest.mark.parametrize("system", ["careful", "careless"])
def test_where_all_is_judged_the_rates_are_the_true_ones(report, system):
    (entry,) = report["slices"]
    assert entry["slices"] == ["comedy", "drama"]
    for slice in entry["slices"]:
        groups, violated, wrong = truth(system, lambda row, slice=slice: row["attributes"]["genre"] == slice)
        rates = rate(entry, slice, system)
        assert (rates["groups"], rates["violated"], rates["sources"]) == (groups, violated, groups // 2)
        assert rates["judged"] == groups - violated
        for end in ("value", "low", "high"):  # of these very texts nothing is unknown
            assert rates["vr_observed"][end] == pytest.approx(violated / groups)
            assert rates["vr_genuine"][end] == pytest.approx(wrong / groups)
        for relation in RELATIONS:
            groups, violated, wrong = truth(
                system,
                lambda row, slice=slice, name=relation: (row["attributes"]["genre"], row["relation"]) == (slice, name),
            )
            alone = rate(entry, slice, system, relation)
            assert (alone["groups"], alone["violated"]) == (groups, violated)
            assert alone["vr_genuine"]["value"] == pytest.approx(wrong / groups)


@pytest.mark.slow
def test_accuracy_stands_beside_both_rates(report, whole):
    (entry,) = report["accuracy"]
    assert (entry["sources"], entry["over"], entry["reason"]) == (FILMS, "all", None)
    for system in entry["systems"]:
        first = [line for line in lines() if line["system"] == system["system"] and line["relation"] == "MR1.1"]
        right = sum(line["outputs"][0] == line["gold"] for line in first)
        ends = mid_p(right, FILMS)
        assert system["right"] == right
        assert system["accuracy"] == estimated((right / FILMS, ends.low, ends.high), FILMS)
        groups, violated, wrong = truth(system["system"])
        assert (system["sr_observed"], system["sr_genuine"]["value"]) == pytest.approx(
            (1 - violated / groups, 1 - wrong / groups)
        )
    # The careless system is the more consistent one.
    assert entry["order_observed"] == ["careless", "careful"]
    assert entry["order_accuracy"] == entry["order_genuine"] == ["careful", "careless"]
    assert "slices" not in report_of(evidence(whole))


# Slices of several kinds, who is best in each, and the worst of them.

OTHERS = 300


def harder(name, text):
    """Verdicts of three systems on texts of which those that deny are harder, for `steady` less so than for others."""
    chance = random.Random(f"{name} {text}")
    denies, label = "not" in text, "negative" if "very" in text else "positive"
    wrong = {"steady": 0.3, "quick": 0.5 if denies else 0.1, "loose": 0.6 if denies else 0.2}[name]
    violated = chance.random() < wrong
    said = label if chance.random() > wrong / 2 else {"positive": "negative", "negative": "positive"}[label]
    return label, said, violated


@pytest.fixture(scope="module")
def divided(tmp_path_factory):
    """300 texts in two genres, 100 of which deny, under one relation; a tenth of them has no genre."""
    path = tmp_path_factory.mktemp("divided")
    rows = []
    for at in range(OTHERS):
        text = f"Film {at} is {'not ' if at % 3 == 0 else ''}as good as the {at % 7 * 'very '}last."
        attributes = {"genre": "drama" if at % 2 else "comedy"} if at % 10 else {}
        for name in ("steady", "quick", "loose"):
            gold, said, violated = harder(name, text)
            other = {"positive": "negative", "negative": "positive"}[said]
            rows.append(
                {"relation": "MR3.1", "system": name, "source": text, "follow_ups": [text.upper()], "gold": gold,
                 "outputs": [said, other if violated else said], "verdict": "violated" if violated else "satisfied",
                 "attributes": attributes}
            )  # fmt: skip
    file = path / "divided.jsonl"
    file.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    engine = open_store(str(path / "audit.db"), create=True)
    import_run(engine, file)
    ask_next(engine, SampleOptions(share=1.0))
    answer_with_gold(engine)
    return engine


def shouts(row):
    """A function of a user's."""
    return "BIG" in row.input.text


@pytest.fixture(scope="module")
def many(divided):
    document = study_report(divided, slices=["negation", "length", "genre", "phrase:zebra", shouts])

    return document


@pytest.mark.slow
def test_the_slice_that_is_harder_is_the_worst(many):
    found = [test for test in many["slice_tests"]["tests"] if test["found"]]
    assert {(test["by"], test["slice"]) for test in found} == {("negation", "yes")}
    assert {(test["rate"], test["system"]) for test in found} >= {("genuine", "quick"), ("observed", "quick")}
    for test in found:
        assert 0 < test["low"] < test["difference"] < test["high"]
        assert test["p"] <= test["q"] <= 0.05
    assert worst_table(many, Say()).rows[0][:3] == ("VR_g", "negation: yes", found[0]["system"])
    assert len(worst_table(many, Say()).rows) <= 10
    # Slices without a rest, and those that nobody is in, are no hypotheses.
    assert {test["by"] for test in many["slice_tests"]["tests"]} == {"negation", "length", "genre"}


def test_another_system_is_best_where_texts_deny(many):
    entry = many["slices"][0]
    assert (entry["by"], entry["slices"]) == ("negation", ["yes", "no"])
    assert many["decisions"][0]["systems"][0] == "quick"
    denies, others = entry["decisions"]
    assert (denies["slice"], "steady" in denies["systems"], "quick" in others["systems"]) == ("yes", True, True)
    assert "steady" not in others["systems"]


def test_a_failing_function_changes_nothing_and_is_told(divided):
    def broken(row):
        return row.attributes["genre"][0]

    with pytest.raises(AuditError, match=r"slice 'broken' failed at the row .*: KeyError"):
        study_report(divided, slices=[broken])


@pytest.mark.slow
def test_bounds_of_slices_are_those_of_their_groups(divided):
    # Nothing of half the draw is answered: the cells have bounds, and so have their slices.
    basis = evidence(divided, slicings=[find_slicing("negation")])
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
        assert genuine["reason"] == "answers leave bounds only"
    over = [rates for rates in entry["rates"] if rates["relation"] is None]
    assert all(row[-1].least is not None for row in slice_table(entry, Say()).rows)
    assert len(over) == 6
