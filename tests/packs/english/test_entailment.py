"""Perturbations of a premise and a hypothesis, and what their labels are."""

import random

import pytest

from audit.packs.english import entailment
from audit.packs.english.entailment import _opposites
from audit.relations import get_relation
from audit.text import Analysis


def made(rewrite, premise, hypothesis, seed=0):
    rewritten = rewrite((Analysis(premise), Analysis(hypothesis)), random.Random(seed))
    return rewritten.texts if rewritten else None


def test_a_number_that_both_have_grows():
    for seed in range(5):
        premise, hypothesis = made(entailment.changed_number, "Tom paid 80 euros.", "Tom paid 80 euros to Ann.", seed)
        assert premise == "Tom paid 80 euros."
        assert int(hypothesis.split()[2]) > 80


@pytest.mark.parametrize(
    ("premise", "hypothesis"),
    [
        ("Tom paid 80 euros.", "Tom paid at least 80 euros."),
        ("Tom paid more than 80 euros.", "Tom paid 80 euros."),
        ("Tom paid 90 euros.", "Tom paid 80 euros."),
        ("Tom left at 9.40.", "Tom left at 9.40."),
        ("The shop is open from 9 on.", "The shop is open from 9 on."),
    ],
)
def test_no_number_changes_that_leaves_room(premise, hypothesis):
    assert made(entailment.changed_number, premise, hypothesis) is None


@pytest.mark.parametrize(
    ("hypothesis", "opposite"),
    [
        ("The shop is open on Mondays.", "The shop is closed on Mondays."),
        ("The team won the match.", None),
        ("She left before lunch.", "She left after lunch."),
        ("She left after a minute.", None),
        ("The tower is 62 metres high.", None),
        ("A shop is open.", None),
        ("The shop is not open.", None),
        ("The soup is good.", None),
    ],
)
def test_only_what_is_said_of_a_known_subject_is_turned_round(hypothesis, opposite):
    texts = made(entailment.swapped_antonym, "It rains.", hypothesis)
    assert (texts and texts[1]) == opposite


def test_no_word_is_its_own_opposite():
    assert all(word != opposite for (_, word), opposite in _opposites().items())


def test_what_is_carried():
    for name in ("changed-number", "swapped-antonym"):
        carry = get_relation("inference", name).carry
        assert carry({"entailment"}) == {"contradiction"}
        assert carry({"neutral"}) is None
    for name, label in (("open", "neutral"), ("stated", "entailment"), ("denied", "contradiction")):
        assert get_relation("inference", f"overlap-{name}").carry({"neutral"}) == {label}


@pytest.mark.parametrize("hypothesis", ["The thieves got away, since it rained.", "On Sundays the shop opens at nine."])
def test_no_part_of_a_hypothesis_falls_out_of_a_frame(hypothesis):
    for rewrite in (entailment.overlap_open, entailment.overlap_stated, entailment.overlap_denied):
        assert made(rewrite, "It rains.", hypothesis) is None


def test_a_negated_hypothesis_is_no_open_question():
    assert made(entailment.overlap_open, "It rains.", "Rosa did not buy the house.") is None
    assert made(entailment.overlap_stated, "It rains.", "Rosa did not buy the house.") is not None
