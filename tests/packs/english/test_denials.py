"""Negations put in, taken out and doubled; words denied that say the opposite."""

import random

import pytest

from audit.packs.english import denials
from audit.relations import get_relation
from audit.text import Analysis


def made(perturb, text):
    return perturb(Analysis(text), random.Random(0))


@pytest.mark.parametrize(
    ("text", "affirmed"),
    [
        ("The ladder is not safe.", "The ladder is safe."),
        ("Rosa didn't buy the house.", "Rosa bought the house."),
        ("He doesn't sing.", "He sings."),
        ("The shop is not open yet.", None),
        ("The shop does not sell any bread.", None),
        ("Some shops are not open.", None),
        ("It is never open.", None),
        ("The shop is open.", None),
    ],
)
def test_a_negation_goes_where_it_is_the_only_one_and_no_word_needs_it(text, affirmed):
    assert made(denials.negation_removed, text) == affirmed


@pytest.mark.parametrize(
    "text", ["A man is here.", "The man may be here.", "It's that bad.", "Is he here?", "All men sleep."]
)
def test_two_negations_need_a_known_subject(text):
    assert made(denials.double_negation, text) is None


@pytest.mark.parametrize(
    ("text", "denied"),
    [
        ("The plot is dull.", "The plot is not interesting."),
        ("It lacks charm.", "It does not have charm."),
        ("I hated the ending.", "I did not like the ending."),
        ("It is a boring film.", None),
        ("Everyone hated it.", None),
        ("He hated it ten times.", None),
        ("What a boring film!", None),
        ("Everything is bad.", None),
        ("I hated every minute.", None),
        ("It is not a boring film.", None),
        ("The plot is very dull.", None),
        ("The plot is not dull.", None),
        ("The plot is good.", None),
    ],
)
def test_only_blame_is_denied(text, denied):
    assert made(denials.double_denial, text) == denied


def test_what_is_carried():
    removed = get_relation("inference", "negation-removed").carry
    assert removed({"entailment"}) == {"contradiction"}
    assert removed({"contradiction"}) == {"entailment", "neutral"}
    assert get_relation("sentiment", "negation-removed").carry({"positive"}) is None
    assert not get_relation("classification", "negation-added").default
    assert get_relation("sentiment", "double-denial").carry.preserves_truth
