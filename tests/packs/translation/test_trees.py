"""Constituency trees: how alike two are, what is replaced in one, and who makes them: spaCy's subtrees, chunks of what
Apertium tags (read and found right by us; sentences are ours), and models of HanLP and benepar, which stand-ins play.
"""

import random
import sys
from importlib.machinery import ModuleSpec
from types import ModuleType, SimpleNamespace

import pytest
from apertium_here import fake_apertium, needs_apertium, no_apertium  # noqa: F401
from nltk import Tree

from audit.errors import BadFile, NotInstalled
from audit.packs.translation import parsers
from audit.packs.translation.parsers import BeneparParser, HanlpParser, Tagged, words_of
from audit.packs.translation.tools import get_tool
from audit.packs.translation.trees import deep_word, kind_of, label_paths, leaf_spans, modifiers

# Seed 002, figure 3, parsed by hand.
ENGLISH = Tree.fromstring(
    "(SBARQ (WHADVP (WRB How)) (SQ (VBP do) (NP (PRP you)) (VP (VB think) (PP (IN of) (NP (NP (PRP$ your) "
    "(NN proficiency)) (PP (IN in) (NP (ADJP (VBN written) (CC and) (VBN spoken)) (NNP English))))))) (. ?))"
)


def words_at(tree, indices):
    return [tree.leaves()[index] for index in indices]


def test_the_deepest_wanted_words_are_candidates():
    nouns = [at for at, (_, tag) in enumerate(ENGLISH.pos()) if kind_of(tag) in ("noun", "name")]
    assert words_at(ENGLISH, [deep_word(ENGLISH, nouns, 1, random.Random(0))]) == ["English"]
    chosen = {deep_word(ENGLISH, nouns, 5, random.Random(seed)) for seed in range(30)}
    assert sorted(words_at(ENGLISH, chosen)) == ["English", "proficiency"]
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
    assert words_at(tree, modifiers(tree, range(len(tree.leaves())), "en")) == expected


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


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        (
            "People still throw their rubbish.",  # as in the study's figure 4
            "(TOP (S (NP (NNS People)) (VP (ADVP (RB still)) (VBP throw) (NP (PRP$ their) (NN rubbish)) (. .))))",
        ),
        (
            "The quick brown fox jumps over the lazy dog.",
            "(TOP (S (NP (DT The) (JJ quick) (JJ brown) (NN fox)) "
            "(VP (VBZ jumps) (PP (IN over) (NP (DT the) (JJ lazy) (NN dog))) (. .))))",
        ),
        (
            "He left. They swim.",
            "(TOP (S (NP (PRP He)) (VP (VBD left) (. .))) (S (NP (PRP They)) (VP (VBP swim) (. .))))",
        ),
    ],
)
def test_spacy_makes_phrases_of_what_depends_on_a_word(text, tree):
    parser = get_tool("parser", "spacy")
    if parser.needs():
        pytest.skip(parser.needs())
    (found,) = parser.parse([text], "en")
    assert found.pformat(10**6) == tree
    assert leaf_spans(text, found.leaves()) is not None


# Models, for which stand-ins answer.


def component(sentences):
    """Stands for a model: all words right under X; fails at a sentence with the word `bad`."""
    if any("bad" in words for words in sentences):
        raise RuntimeError("bad\nat all")
    return [Tree("TOP", [Tree("X", [Tree("_", [word]) for word in words])]) for words in sentences]


def hanlp(monkeypatch, spec, model):
    pytest.importorskip("torch")
    monkeypatch.setattr("audit.packs.chinese.taggers.load", lambda _: model)
    return HanlpParser(spec)


class CRFConstituencyParser:
    def __init__(self):
        self.asked = []

    def __call__(self, sentences):
        self.asked += sentences
        return component(sentences)


def test_trees_of_hanlp_have_the_words_and_tags_of_the_text(monkeypatch):
    parser = hanlp(monkeypatch, "EN_CON", CRFConstituencyParser())
    tree, bad, none, long = parser.parse(['He said "yes". It isn’t.', "So bad.", " ", "a " * 101], "en")
    assert tree.leaves() == ["He", "said", '"', "yes", '"', ".", "It", "is", "n’t", "."]
    assert tree.pos()[:2] == [("He", "PRP"), ("said", "VBD")]
    assert [part.label() for part in tree] == ["X", "X"]
    assert [bad, none, long] == [None, None, None]


def test_a_model_of_several_tasks(monkeypatch):
    class Several:
        tasks = ("tok/fine", "pos/ctb", "pos/pku", "con")

        def __call__(self, sentences, tasks, skip_tasks):
            assert (tasks, skip_tasks) == (["pos/ctb", "con"], ["tok/fine"])
            return {"con": [Tree("TOP", [Tree("NN", words)]) for words in sentences]}

    model = Several()
    (tree,) = hanlp(monkeypatch, "EN_SEVERAL", model).parse(["Book"], "en")
    assert tree == Tree("TOP", [Tree("NN", ["Book"])])
    Several.tasks = ("tok", "pos")
    with pytest.raises(BadFile, match="finds no constituents"):
        hanlp(monkeypatch, "EN_SEVERAL", model).parse(["Book"], "en")


def test_benepar(monkeypatch):
    pytest.importorskip("torch")
    module = ModuleType("benepar")
    module.__spec__ = ModuleSpec("benepar", None)
    module.InputSentence = lambda words: SimpleNamespace(words=words)

    def made(model):
        if model == "benepar_fr2":
            raise LookupError("Resource benepar_fr2 not found.")
        return SimpleNamespace(parse_sents=lambda sentences: iter(component([one.words for one in sentences])))

    module.Parser = made
    monkeypatch.setitem(sys.modules, "benepar", module)
    first, bad = BeneparParser("benepar_en3").parse(["He left. They do not.", "So bad."], "en")
    assert [part.label() for part in first] == ["X", "X"]
    assert first.pos()[4] == ("do", "VBP")
    assert bad is None
    with pytest.raises(NotInstalled, match=r"benepar\.download\('benepar_fr2'\)"):
        BeneparParser("benepar_fr2").parse(["Oui."], "fr")
    monkeypatch.setattr(parsers, "find_spec", lambda _: None)
    with pytest.raises(NotInstalled, match="pip install benepar"):
        _ = BeneparParser("benepar_de2").version


# Chunks: Reading the tagger


def test_contractions_clitics_and_words_of_several_words():
    stream = (
        "^Del/de<pr>+el<det><def><m><sg>$ ^vecino/vecino<n><m><sg>$ ^no/no<adv>$ "
        "^dárselo/dar<vblex><inf>+le<prn><enc><p3><mf><sp>+lo<prn><enc><p3><m><sg>$ "
        "^a pesar de/a pesar de<pr>$ ^Nueva York/Nueva York<np><loc>$^./.<sent>$[]"
    )
    assert words_of(stream) == [
        Tagged("Del", "pr+det", "OFDET"),
        Tagged("vecino", "n", "N"),
        Tagged("no", "adv", "NOT"),
        Tagged("dárselo", "vblex.inf", "INF"),
        Tagged("a", "pr", "PR"),
        Tagged("pesar", "pr", "PR"),
        Tagged("de", "pr", "PR"),
        Tagged("Nueva", "np", "NAME"),
        Tagged("York", "np", "NAME"),
    ]


# Trees


def parsed_by_chunks(text, language):
    parsed = get_tool("parser", "shallow").parse([text], language)[0]
    assert parsed is not None
    assert leaf_spans(text, parsed.leaves()) is not None
    return parsed


def phrases(text, language, *labels):
    """Label and words of every phrase, in the order of their first words, larger ones first."""
    wanted = labels or ("NP", "VP", "PP", "ADVP")
    return [
        (subtree.label(), " ".join(subtree.leaves()))
        for subtree in parsed_by_chunks(text, language).subtrees(lambda one: one.label() in wanted and one.height() > 2)
    ]


@needs_apertium
def test_spanish():
    text = "El viejo perro del vecino no quería dárselo a la niña rubia en Nueva York."
    assert phrases(text, "es") == [
        ("NP", "El viejo perro del vecino"),
        ("NP", "El viejo perro"),
        ("PP", "del vecino"),
        ("NP", "vecino"),
        ("VP", "no quería dárselo a la niña rubia en Nueva York"),
        ("PP", "a la niña rubia"),
        ("NP", "la niña rubia"),
        ("PP", "en Nueva York"),
        ("NP", "Nueva York"),
    ]
    assert parsed_by_chunks(text, "es").pformat(10**6).endswith("(sent .))")
