"""Constituency trees: where words stand, how alike two are, which word or phrase is replaced, what modifies."""

import random

import pytest
from nltk import Tree

from audit.packs.translation.trees import (
    deep_word,
    kind_of,
    label_paths,
    modifiers,
)

# Seed 002, figure 3, parsed by hand.
ENGLISH = Tree.fromstring(
    "(SBARQ (WHADVP (WRB How)) (SQ (VBP do) (NP (PRP you)) (VP (VB think) (PP (IN of) (NP (NP (PRP$ your) "
    "(NN proficiency)) (PP (IN in) (NP (ADJP (VBN written) (CC and) (VBN spoken)) (NNP English))))))) (. ?))"
)


def words_of(tree, indices):
    return [tree.leaves()[index] for index in indices]


def test_the_deepest_wanted_words_are_candidates():
    nouns = [at for at, (_, tag) in enumerate(ENGLISH.pos()) if kind_of(tag) in ("noun", "name")]
    assert words_of(ENGLISH, [deep_word(ENGLISH, nouns, 1, random.Random(0))]) == ["English"]
    chosen = {deep_word(ENGLISH, nouns, 5, random.Random(seed)) for seed in range(30)}
    assert sorted(words_of(ENGLISH, chosen)) == ["English", "proficiency"]
    assert deep_word(ENGLISH, [], 5, random.Random(0)) is None


@pytest.mark.parametrize(
    ("tree", "expected"),
    [
        ("(S (NP (DT the) (JJ rich)) (VP (VBP are) (RB not) (ADJP (RB very) (JJ happy))))", ["very", "happy"]),
        ("(NP (DT the) (VBG running) (NN man) (VP (VBG wearing) (NP (NNS shoes))))", ["running"]),
        ("(NP (CD three) (NN computer) (NNS programs))", []),
        ("(VP (VBD was) (VP (VBN broken)))", []),
        ("(VP (RB never) (RB hardly) (ADVP (RB seldom)) (RB quickly) (VB run))", ["quickly"]),
        ("(ADVP (RB still))", ["still"]),
        ("(RB still)", ["still"]),
    ],
)
def test_modifiers_of_english(tree, expected):
    tree = Tree.fromstring(tree)
    assert words_of(tree, modifiers(tree, range(len(tree.leaves())), "en")) == expected


def test_the_example_of_the_paper():
    """Seed 002, figure 4: People still throw their rubbish."""
    tree = Tree.fromstring(
        "(S (NP (NNS People)) (ADVP (RB still)) (VP (VBP throw) (NP (PRP$ their) (NN rubbish))))",
    )
    assert label_paths(tree) == {
        ("S", "NP", "NNS"),
        ("S", "ADVP", "RB"),
        ("S", "VP", "VBP"),
        ("S", "VP", "NP", "PRP$"),
        ("S", "VP", "NP", "NN"),
    }
