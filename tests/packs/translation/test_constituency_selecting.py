"""DeepSelect: which word or phrase is replaced, and which words of it modify another."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nltk import Tree

from audit.packs.translation.constituency import deep_phrase, deep_select, kind_of, modifiers, tags_of
from audit.packs.translation.constituency.base import PHRASES

# Seed 002, figure 3, parsed by hand.
ENGLISH = Tree.fromstring(
    "(SBARQ (WHADVP (WRB How)) (SQ (VBP do) (NP (PRP you)) (VP (VB think) (PP (IN of) (NP (NP (PRP$ your) "
    "(NN proficiency)) (PP (IN in) (NP (ADJP (VBN written) (CC and) (VBN spoken)) (NNP English))))))) (. ?))"
)
CHINESE = Tree.fromstring(
    "(IP (NP (CP (IP (VP (AD 非常) (VA 认真))) (DEC 的)) (NN 老师)) (VP (AD 也) (AD 不) (VA 高兴)))"
)


def words_of(tree, indices):
    return [tree.leaves()[index] for index in indices]


def test_the_deepest_wanted_words_are_candidates():
    nouns = tags_of(ENGLISH, ("noun", "name"), "en")
    assert nouns == {"NN", "NNP"}
    assert words_of(ENGLISH, [deep_select(ENGLISH, nouns, 1, random.Random(0))]) == ["English"]
    chosen = {deep_select(ENGLISH, nouns, 5, random.Random(seed)) for seed in range(30)}
    assert sorted(words_of(ENGLISH, chosen)) == ["English", "proficiency"]


def test_of_words_at_one_depth_the_first_come_first():
    tree = Tree.fromstring("(S (NP (NN a)) (NP (NN b)) (NP (NN c)))")
    assert {deep_select(tree, {"NN"}, 2, random.Random(seed)) for seed in range(30)} == {0, 1}


def test_the_paper_replaces_written_and_spoken():
    label, leaves = deep_phrase(
        ENGLISH, PHRASES, 1, random.Random(0), lambda indices: modifiers(ENGLISH, indices, "en")
    )
    assert (label, words_of(ENGLISH, leaves)) == ("NP", ["written", "and", "spoken", "English"])
    assert words_of(ENGLISH, modifiers(ENGLISH, leaves, "en")) == ["written", "spoken"]


def test_modifiers_of_chinese():
    assert words_of(CHINESE, modifiers(CHINESE, range(7), "zh")) == ["非常", "认真", "也", "高兴"]


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


@pytest.mark.parametrize(
    ("tag", "language", "kind"),
    [
        ("NNPS", "en", "name"),
        ("WRB", "en", "other"),
        ("vbser", "es", "other"),
        ("VA", "zh", "adjective"),
        ("nr", "zh", "name"),
    ],
)
def test_kinds_of_tags(tag, language, kind):
    assert kind_of(tag, language) == kind


TREES = st.recursive(
    st.sampled_from(["NN", "JJ", "RB"]).map(lambda tag: Tree(tag, ["word"])),
    lambda child: st.builds(Tree, st.sampled_from(["NP", "VP", "X"]), st.lists(child, min_size=1, max_size=3)),
    max_leaves=15,
)


@given(TREES, st.integers(1, 20), st.integers(0, 5))
def test_any_tree(tree, k, seed):
    chosen = deep_select(tree, {"NN"}, k, random.Random(seed))
    assert (chosen is None) == ("NN" not in [tag for _, tag in tree.pos()])
    assert chosen is None or tree.pos()[chosen][1] == "NN"
    assert chosen == deep_select(tree, {"NN"}, k, random.Random(seed))
    phrase = deep_phrase(tree, PHRASES, k, random.Random(seed))
    if phrase is not None:
        label, leaves = phrase
        assert list(leaves) == list(range(leaves[0], leaves[-1] + 1))
        assert any(
            part.label() == label and len(part.leaves()) == len(leaves) for part in tree.subtrees() if part.height() > 2
        )
    assert set(modifiers(tree, range(len(tree.leaves())), "en")) <= set(range(len(tree.leaves())))
