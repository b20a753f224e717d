"""Brackets as evalb counts them, worked by hand, and the treebanks as parsers learn from them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nltk import Tree

from audit.errors import AuditError, NotInstalled, UnknownName
from audit.packs.translation.constituency import parser_training
from audit.packs.translation.constituency.parser_training import (
    bracket_score,
    brackets,
    clean_tree,
    documents,
    label_score,
    simple_label,
    simple_tag,
    split,
)

GOLD = Tree.fromstring(
    "(TOP (S (NP (DT The) (NN cat)) (, ,) (VP (VBD sat) (PRT (RP down)) (PP (IN on) (NP (DT a) (NN mat)))) (. .)))"
)


def test_marks_the_root_and_tags_do_not_count():
    tags = [tag for _, tag in GOLD.pos()]
    assert brackets(GOLD, tags) == {
        ("S", 0, 7): 1,
        ("NP", 0, 2): 1,
        ("VP", 2, 7): 1,
        ("ADVP", 3, 4): 1,  # a PRT, which evalb takes for the same
        ("PP", 4, 7): 1,
        ("NP", 5, 7): 1,
    }


def test_hand_worked():
    predicted = Tree.fromstring(
        "(TOP (S (NP (DT The) (NN cat)) (, ,) (VP (VBD sat) (ADVP (RB down) (PP (IN on))) (NP (DT a) (NN mat))) (. .)))"
    )
    # Right: S, NP, VP, NP; the ADVP goes too far and the PP not far enough. 4 of 6 there, 4 of 6 found.
    score = bracket_score([GOLD], [predicted])
    assert (score.right, score.there, score.found) == (4, 6, 6)
    assert (score.precision, score.recall, score.f1) == (4 / 6, 4 / 6, 4 / 6)
    noun_phrases = label_score("NP", [GOLD], [predicted])
    assert (noun_phrases.right, noun_phrases.there, noun_phrases.found) == (2, 2, 2)
    assert label_score("PP", [GOLD], [predicted]).right == 0


def test_a_bracket_that_is_there_twice_is_found_twice():
    twice = Tree.fromstring("(TOP (NP (NP (NN fish))))")
    once = Tree.fromstring("(TOP (NP (NN fish)))")
    score = bracket_score([twice], [once])
    assert (score.right, score.there, score.found) == (1, 2, 1)


def test_missing_trees_and_other_words():
    score = bracket_score([GOLD, GOLD], [GOLD, None])
    assert (score.right, score.there, score.found) == (6, 12, 6)
    with pytest.raises(ValueError, match="9 and 1 words cannot be compared"):
        bracket_score([GOLD], [Tree("X", ["The"])])


LABELS = st.sampled_from(["S", "NP", "VP"])
TREES = st.recursive(
    st.sampled_from(["NN", "VB", "."]).map(lambda tag: Tree(tag, ["word"])),
    lambda child: st.builds(Tree, LABELS, st.lists(child, min_size=1, max_size=3)),
    max_leaves=12,
).map(lambda tree: Tree("TOP", [tree]))


@given(TREES)
def test_a_tree_finds_itself(tree):
    score = bracket_score([tree], [tree])
    assert score.right == score.there == score.found
    assert score.there <= sum(node.height() > 2 for node in tree.subtrees())


def test_cleaned_trees_have_no_traces():
    tree = Tree.fromstring(
        "(S (NP-SBJ (-NONE- *)) (VP (VB go) (NP=2 (NP-1 (CD 1\\/2)) (SBAR (-NONE- 0) (S (-NONE- *T*-1)))) "
        "(-LRB- -LRB-)))"
    )
    assert clean_tree(tree) == Tree.fromstring("(TOP (S (VP (VB go) (NP (CD 1/2)) (-LRB- -LRB-))))")


def test_labels_of_sinica():
    assert [simple_tag(label) for label in ("Nhaa", "VA13", "Cbca", "V_2", "Neu", "T", "I")] == [
        *["Nh", "VA1", "Cbc", "V_2", "Neu", "T", "I"]
    ]
    assert [simple_label(label) for label in ("NP[+theme]", "S‧的", "得‧S", "A‧的", "conjunction")] == [
        *["NP", "S", "S", "A", "X"]
    ]


def test_whole_documents_are_held_out():
    given_ = [(Tree("TOP", [str(number)]),) * 3 for number in range(20)]
    learned, out = split(given_, 0.2, 5)
    assert (len(learned), len(out)) == (16, 4)
    assert sorted([*learned, *out], key=lambda one: int(one[0][0])) == given_
    assert split(given_, 0.2, 5) == (learned, out)
    assert split(given_, 0.2, 6) != (learned, out)
    assert [len(part) for part in split(given_[:2], 0.01, 0)] == [1, 1]
    with pytest.raises(AuditError, match="there are 1 documents, too few"):
        split(given_[:1], 0.5, 0)


def test_languages_without_a_treebank():
    with pytest.raises(UnknownName, match="unknown language with a treebank 'de'; known are: en, zh"):
        documents("de")


def test_a_treebank_that_is_not_there(monkeypatch):
    from nltk import corpus

    class Absent:
        def fileids(self):
            raise LookupError("Resource treebank not found.")

    monkeypatch.setattr(corpus, "treebank", Absent())
    with pytest.raises(NotInstalled, match=r"NLTK's corpus 'treebank' is not installed; run: python -m nltk"):
        parser_training._read.__wrapped__("en")


@pytest.fixture(scope="module", params=["en", pytest.param("zh", marks=pytest.mark.slow)])
def treebank(request):
    try:
        return request.param, documents(request.param)
    except NotInstalled as problem:
        pytest.skip(str(problem))


@pytest.mark.slow
def test_the_treebanks_of_nltk(treebank):
    language, given_ = treebank
    trees = [tree for document in given_ for tree in document]
    # DESIGN, section 6, and NLTK's own README of the corpora.
    assert len(trees) == {"en": 3914, "zh": 10000}[language]
    assert len(given_) == {"en": 199, "zh": 200}[language]
    assert all(tree.label() == "TOP" and len(tree) == 1 and tree.leaves() for tree in trees)
    labels = {node.label() for tree in trees for node in tree.subtrees()}
    assert "-NONE-" not in labels
    assert not [label for label in labels if "‧" in label or "[" in label or ("-" in label and label[0] != "-")]
    if language == "en":
        assert trees[0].leaves()[:2] == ["Pierre", "Vinken"]
    else:
        assert trees[2].leaves() == ["嘉珍", "和", "我", "住在", "同一条", "巷子"]  # NLTK has them in traditional ones
