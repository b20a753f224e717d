"""Parsers by name, what they remember, spaCy's subtrees, and what HanLP and benepar are given and make of it."""

import sys
from importlib.machinery import ModuleSpec
from types import ModuleType, SimpleNamespace

import pytest
from nltk import Tree

from audit.errors import BadFile, NotInstalled
from audit.packs.translation import parsers
from audit.packs.translation.parsers import BeneparParser, HanlpParser
from audit.packs.translation.tools import get_tool
from audit.packs.translation.trees import leaf_spans


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
