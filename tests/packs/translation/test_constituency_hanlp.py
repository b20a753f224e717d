"""HanLP's parser: what it is given, and what is made of its trees."""

import json

import pytest
from nltk import Tree

from audit.errors import AuditError, BadFile
from audit.packs.translation.constituency import hanlp_parser
from audit.packs.translation.constituency.hanlp_parser import HanlpParser, _multitask_parser


class Component:
    """Stands for a component: all words right under X; fails at a sentence with the word `bad`."""

    def __init__(self):
        self.asked = []

    def __call__(self, sentences):
        self.asked += sentences
        if any("bad" in words for words in sentences):
            raise RuntimeError("bad")
        return [Tree("TOP", [Tree("X", [Tree("_", [word]) for word in words])]) for words in sentences]


def parser_with(language):
    parser = HanlpParser("model")
    component = Component()
    parser.__dict__ |= {"languages": (language,), "_component": component}
    return parser, component


def test_english_is_given_as_the_treebank_has_it():
    pytest.importorskip("torch")
    parser, component = parser_with("en")
    tree, bad, none, long = parser.parse(['He said "yes" (twice). It isn’t.', "So bad.", " ", "a " * 101], "en")
    assert component.asked[:2] == [
        ["He", "said", "``", "yes", "''", "-LRB-", "twice", "-RRB-", "."],
        ["It", "is", "n't", "."],
    ]
    assert tree.leaves() == ["He", "said", '"', "yes", '"', "(", "twice", ")", ".", "It", "is", "n’t", "."]
    assert tree.pos()[:2] == [("He", "PRP"), ("said", "VBD")]
    assert [part.label() for part in tree] == ["X", "X"]
    assert [bad, none, long] == [None, None, None]


def test_chinese_is_given_simplified():
    pytest.importorskip("torch")
    pytest.importorskip("jieba")
    pytest.importorskip("opencc")
    parser, component = parser_with("zh")
    (tree,) = parser.parse(["我們來了，他走。"], "zh")
    assert ["".join(words) for words in component.asked] == ["我们来了，他走。"]
    assert "".join(tree.leaves()) == "我們來了，他走。"


def test_a_model_that_parses_nothing_is_said_to():
    pytest.importorskip("torch")
    parser, _ = parser_with("en")

    def broken(sentences):
        raise RuntimeError("sizes do not match\nat all")

    parser.__dict__["_component"] = broken
    with pytest.raises(BadFile, match=r"model: HanLP's model parses no sentence at all \(sizes do not match\)"):
        parser.parse(["Good."], "en")


def test_a_model_of_several_tasks():
    class Several:
        tasks = ("tok/fine", "pos/ctb", "pos/pku", "con")

        def __call__(self, sentences, tasks, skip_tasks):
            assert (tasks, skip_tasks) == (["pos/ctb", "con"], ["tok/fine"])
            return {"con": [Tree("TOP", [Tree("NN", words)]) for words in sentences]}

    assert _multitask_parser(Several(), "model")([["书"]]) == [Tree("TOP", [Tree("NN", ["书"])])]
    Several.tasks = ("tok", "pos")
    with pytest.raises(AuditError, match="has the tasks tok, pos; con is needed"):
        _multitask_parser(Several(), "model")


def test_the_language_of_a_model(tmp_path):
    assert HanlpParser("CTB9_CON_ELECTRA_SMALL").languages == ("zh",)
    assert HanlpParser("EN_TOK_LEM_POS_NER_SRL_UDEP_SDP_CON_MODERNBERT_BASE").languages == ("en",)
    for labels, language in ((["NP", "IP"], "zh"), (["NP", "SBAR"], "en")):
        (tmp_path / "vocabs.json").write_text(json.dumps({"chart": {"idx_to_token": labels}}), encoding="utf-8")
        assert HanlpParser(str(tmp_path)).languages == (language,)
    (tmp_path / "vocabs.json").write_text("{}", encoding="utf-8")
    with pytest.raises(BadFile, match="this is no constituency parser of HanLP"):
        _ = HanlpParser(str(tmp_path)).languages


def test_what_a_parser_needs(tmp_path, monkeypatch):
    pytest.importorskip("hanlp")
    assert HanlpParser(str(tmp_path)).needs() is None
    assert HanlpParser(f"{tmp_path}/none").needs() == (f"there is no directory '{tmp_path}/none'")
    monkeypatch.setattr(hanlp_parser, "find_spec", lambda _: None)
    assert HanlpParser(str(tmp_path)).needs() == 'this needs HanLP; run: pip install "audit[chinese]"'
