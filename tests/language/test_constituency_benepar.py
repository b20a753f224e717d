"""benepar: what it is asked and what is made of its trees, against a stand-in for the package."""

import sys
from dataclasses import dataclass
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import ClassVar

import pytest
from nltk import Tree

from audit.errors import BadFile, NotInstalled
from audit.packs.translation.constituency import benepar_parser
from audit.packs.translation.constituency.benepar_parser import BeneparParser


@dataclass
class InputSentence:
    """As benepar 0.2 has it."""

    words: list
    space_after: list
    escaped_words: list


class StandIn:
    """Parses as benepar.Parser does: one tree under TOP for each sentence, tags UNK where a model has none."""

    asked: ClassVar[list] = []

    def __init__(self, model):
        if model == "benepar_fr2":
            raise LookupError("Resource benepar_fr2 not found.")
        if model == "benepar_de2":
            raise RuntimeError("damaged\nfile")

    def parse(self, sentence):
        if "strange" in sentence.words:
            raise ValueError("strange")
        StandIn.asked.append(sentence)
        tags = ["UNK" if word.isalpha() else "." for word in sentence.words]
        return Tree(
            "TOP", [Tree("S", [Tree(tag, [word]) for tag, word in zip(tags, sentence.escaped_words, strict=True)])]
        )

    def parse_sents(self, sentences):
        return (self.parse(one) for one in sentences)


@pytest.fixture
def stand_in(monkeypatch):
    module = ModuleType("benepar")
    module.__spec__ = ModuleSpec("benepar", None)
    module.Parser, module.InputSentence = StandIn, InputSentence
    monkeypatch.setitem(sys.modules, "benepar", module)
    monkeypatch.setattr(benepar_parser, "version", lambda _: "0.2.0")
    monkeypatch.setattr(StandIn, "asked", [])


@pytest.fixture
def absent(monkeypatch):
    monkeypatch.setattr(benepar_parser, "find_spec", lambda _: None)


def test_trees_have_the_words_of_the_text(stand_in):
    pytest.importorskip("torch")
    parser = BeneparParser("benepar_en3")
    first, second, none = parser.parse(['He said "yes" (twice).', "Dogs bark. Cats don't.", "So strange."], "en")
    assert first.leaves() == ["He", "said", '"', "yes", '"', "(", "twice", ")", "."]
    assert first.pos()[0] == ("He", "PRP")
    assert [part.label() for part in second] == ["S", "S"]
    assert none is None
    # The words as the text has them, and as the treebank writes them.
    sentence = StandIn.asked[0]
    assert sentence.words[2:6] == ['"', "yes", '"', "("]
    assert sentence.space_after == [True, True, False, False, True, False, False, False, False]
    assert sentence.escaped_words == ["He", "said", "``", "yes", "''", "-LRB-", "twice", "-RRB-", "."]


def test_names_say_the_language(stand_in, tmp_path):
    parser = BeneparParser("benepar_en3")
    assert (parser.languages, parser.needs(), parser.version) == (
        *(("en",), None),
        "benepar 0.2.0, model benepar_en3, rules 1",
    )
    (tmp_path / "benepar_zh2.pt").write_bytes(b"one")
    path = BeneparParser(str(tmp_path / "benepar_zh2.pt"))
    assert path.languages == ("zh",)
    before = path.version
    (tmp_path / "benepar_zh2.pt").write_bytes(b"two")
    assert path.version != before
    with pytest.raises(BadFile, match="begins with benepar_ and a language, one of ar, de, en"):
        _ = BeneparParser("mymodel").languages


def test_models_that_are_absent_or_damaged(stand_in, monkeypatch):
    with pytest.raises(NotInstalled, match=r"benepar\.download\('benepar_fr2'\)"):
        BeneparParser("benepar_fr2").parse(["Oui."], "fr")
    with pytest.raises(BadFile, match=r"cannot load this model \(damaged\)"):
        BeneparParser("benepar_de2").parse(["Ja."], "de")
    monkeypatch.setattr(StandIn, "parse", lambda *_: 1 / 0)
    with pytest.raises(BadFile, match=r"benepar's model parses no sentence at all \(division by zero\)"):
        BeneparParser("benepar_en3").parse(["Yes."], "en")


def test_the_package_is_named_where_it_is_absent(absent):
    parser = BeneparParser("benepar_en3")
    assert parser.needs() == "this needs the package benepar; run: pip install benepar"
    with pytest.raises(NotInstalled, match="pip install benepar"):
        parser.parse(["Dogs bark."], "en")
