"""How alike two trees are: hand-worked, and properties of any two trees."""

from hypothesis import given
from hypothesis import strategies as st
from nltk import Tree

from audit.packs.translation.constituency import label_paths, structure_similarity

LABELS = st.sampled_from(["S", "NP", "VP", "PP", "NN", "VB", "DT"])
TREES = st.recursive(
    LABELS.map(lambda tag: Tree(tag, ["word"])),
    lambda child: st.builds(Tree, LABELS, st.lists(child, min_size=1, max_size=4)),
    max_leaves=12,
)


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


def test_hand_worked():
    tree = Tree.fromstring("(S (NP (DT the) (NN cat)) (VP (VBZ sees) (NP (DT the) (NN dog))) (. .))")
    # 6 paths: S NP DT, S NP NN, S VP VBZ, S VP NP DT, S VP NP NN, S .
    other = Tree.fromstring("(S (NP (DT the) (NN cat)) (VP (VBZ sees) (NP (PRP it))) (ADVP (RB well)) (. .))")
    # Lost: S VP NP DT and S VP NP NN, 2 of 6. Added: S VP NP PRP and S ADVP RB, 2 of 6.
    assert structure_similarity(tree, other) == 1 - (2 / 6 + 2 / 6) / 2
    shorter = Tree.fromstring("(S (VP (VBZ sees)))")
    # Lost: 5 of 6; added: 0 of 1.
    assert structure_similarity(tree, shorter) == 1 - (5 / 6 + 0) / 2


def test_words_and_repeated_paths_say_nothing():
    tree = Tree.fromstring("(NP (JJ big) (JJ red) (NN bus))")
    other = Tree.fromstring("(NP (JJ small) (NN car))")
    assert structure_similarity(tree, other) == 1


def test_trees_without_words():
    empty, full = Tree("S", []), Tree.fromstring("(S (NN fish))")
    assert structure_similarity(empty, Tree("X", [])) == 1
    assert structure_similarity(empty, full) == structure_similarity(full, empty) == 0


@given(TREES, TREES)
def test_from_nothing_in_common_to_the_same(one, other):
    value = structure_similarity(one, other)
    assert 0 <= value <= 1
    assert value == structure_similarity(other, one)
    assert structure_similarity(one, one) == 1
    assert (value == 1) == (label_paths(one) == label_paths(other))
    assert (value == 0) == (not label_paths(one) & label_paths(other))
