"""HanLP's parser: what it is given, what is made of its trees; one is trained for real and loaded by HanLP."""

import json
import shutil

import pytest
from nltk import Tree

from audit.errors import AuditError, BadFile, NotInstalled
from audit.packs.chinese.hanlp_tagger import OURS
from audit.packs.chinese.hanlp_training import SCORES
from audit.packs.translation.constituency import get_parser, hanlp_parser, leaf_spans, parser_training
from audit.packs.translation.constituency.hanlp_parser import (
    ABOUT,
    CLASSPATH,
    About,
    HanlpParser,
    WordsAndLetters,
    _multitask_parser,
    _with_single_tags,
)
from audit.packs.translation.constituency.parser_training import train_parser

NAMES, VERBS, NOUNS = ("Ann", "Bob", "Eve", "Tom"), ("sees", "likes", "hears", "has"), ("dog", "cat", "cow", "tree")


def simple_treebank():
    """40 documents of sentences such as: Ann sees the dog in the tree."""
    documents = []
    for number in range(40):
        document = []
        for step in range(8):
            name, verb, noun, last = (
                words[(number // size + step) % 4] for words, size in ((NAMES, 1), (VERBS, 2), (NOUNS, 4), (NOUNS, 8))
            )
            place = f" (PP (IN in) (NP (DT the) (NN {last})))" if (number + step) % 2 else ""
            document.append(
                Tree.fromstring(f"(TOP (S (NP (NNP {name})) (VP (VBZ {verb}) (NP (DT the) (NN {noun})){place}) (. .)))")
            )
        documents.append(tuple(document))
    return tuple(documents)


def test_the_encoder_is_the_one_that_is_allowed():
    assert OURS[CLASSPATH] == WordsAndLetters.__module__
    assert f"{WordsAndLetters.__module__}.{WordsAndLetters.__qualname__}" == CLASSPATH


def test_the_encoder_is_made_again_from_its_config():
    encoder = WordsAndLetters(["a", "dog"], ["a", "d", "g", "o"], hidden=8)
    again = WordsAndLetters.from_config(json.loads(json.dumps(encoder.config)))
    assert vars(again) == vars(encoder)
    assert again.get_output_dim() == 16
    sample = again.transform()({"token": ["<bos>", "A", "dog", "gaa"]})
    # 0 is padding, 1 unknown.
    assert sample["token_input_ids"] == [1, 2, 3, 1]
    assert sample["token_letter_ids"] == [[1, 1, 5, 1, 1], [1], [3, 5, 4], [4, 2, 2]]


def test_each_word_has_one_tag():
    tags = frozenset({"DT", "NN", "VB"})
    learned = Tree.fromstring("(TOP (S (NP (DT (_ the)) (NN (_ cat))) (VP (VB (_ runs)))))")
    assert str(_with_single_tags(learned, tags)) == "(TOP (S (NP (DT the) (NN cat)) (VP (VB runs))))"
    # A tag around two words is none; a word without one waits for the tagger's; of two tags the inner one stays.
    odd = Tree.fromstring("(TOP (S (NN (NP (_ the) (NN (_ cat)))) (DT (VB (_ runs)))))")
    assert str(_with_single_tags(odd, tags)) == "(TOP (S (NP (_ the) (NN cat)) (VB runs)))"
    # A model of HanLP's own finds no tags.
    assert str(_with_single_tags(Tree.fromstring("(TOP (IP (NP (_ 我)) (VP (_ 来))))"), frozenset())) == (
        "(TOP (IP (NP (_ 我)) (VP (_ 来))))"
    )


class Component:
    """Stands for a component: all words right under X; fails at a sentence with the word `bad`."""

    def __init__(self):
        self.asked = []

    def __call__(self, sentences):
        self.asked += sentences
        if any("bad" in words for words in sentences):
            raise RuntimeError("bad")
        return [Tree("TOP", [Tree("X", [Tree("_", [word]) for word in words])]) for words in sentences]


def parser_with(about):
    parser = HanlpParser("model")
    component = Component()
    parser.__dict__ |= {"_about": about, "_component": component}
    return parser, component


def test_english_is_given_as_the_treebank_has_it():
    pytest.importorskip("torch")
    parser, component = parser_with(About("en", frozenset(), False))
    tree, bad, none, long = parser.parse(['He said "yes" (twice). It isn’t.', "So bad.", " ", "a " * 101], "en")
    assert component.asked[:2] == [
        ["He", "said", "``", "yes", "''", "-LRB-", "twice", "-RRB-", "."],
        ["It", "is", "n't", "."],
    ]
    assert tree.leaves() == ["He", "said", '"', "yes", '"', "(", "twice", ")", ".", "It", "is", "n’t", "."]
    assert tree.pos()[:2] == [("He", "PRP"), ("said", "VBD")]
    assert [part.label() for part in tree] == ["X", "X"]
    assert [bad, none, long] == [None, None, None]


def test_chinese_is_given_in_clauses_and_simplified():
    pytest.importorskip("torch")
    pytest.importorskip("jieba")
    pytest.importorskip("opencc")
    parser, component = parser_with(About("zh", frozenset(), True))
    (tree,) = parser.parse(["我們來了，他走。"], "zh")
    assert ["".join(words) for words in component.asked] == ["我们来了", "他走"]
    assert "".join(tree.leaves()) == "我們來了，他走。"
    assert [part.label() for part in tree] == ["X", "PU", "X", "PU"]
    whole, component = parser_with(About("zh", frozenset(), False))
    whole.parse(["我来了，他走。"], "zh")
    assert ["".join(words) for words in component.asked] == ["我来了，他走。"]


def test_a_model_that_parses_nothing_is_said_to():
    pytest.importorskip("torch")
    parser, _ = parser_with(About("en", frozenset(), False))

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
    (tmp_path / ABOUT).write_text("{}", encoding="utf-8")
    with pytest.raises(BadFile, match=r"this is no constituency parser of HanLP .* `audit hanlp train-parser`"):
        _ = HanlpParser(str(tmp_path)).languages


def test_what_a_parser_needs(tmp_path, monkeypatch):
    pytest.importorskip("hanlp")
    assert HanlpParser(str(tmp_path)).needs() is None
    assert HanlpParser(f"{tmp_path}/none").needs() == (
        f"there is no directory '{tmp_path}/none'; make a model with `audit hanlp train-parser`"
    )
    monkeypatch.setattr(hanlp_parser, "find_spec", lambda _: None)
    assert HanlpParser(str(tmp_path)).needs() == 'this needs HanLP; run: pip install "audit[chinese]"'


@pytest.mark.parametrize(
    ("numbers", "says"),
    [
        ({"held_out": 1.0}, "a number between 0 and 1 is allowed"),
        ({"epochs": 0}, "0 epochs train nothing"),
        ({"limit": 0}, "the limit is 0 sentences"),
        ({"limit": 8}, "there are 1 documents, too few"),
        ({"limit": 16}, "there are 1 documents, too few"),
    ],
)
def test_numbers_that_train_nothing_are_refused(tmp_path, monkeypatch, numbers, says):
    monkeypatch.setattr(parser_training, "documents", lambda _: simple_treebank())
    with pytest.raises(AuditError, match=says):
        train_parser(tmp_path / "parser", **numbers)
    assert list(tmp_path.iterdir()) == []


def test_a_training_that_fails_leaves_nothing(tmp_path, monkeypatch):
    def broken(folder, *_):
        (folder / "model.pt").write_bytes(b"half")
        raise KeyboardInterrupt

    monkeypatch.setattr(parser_training, "documents", lambda _: simple_treebank())
    monkeypatch.setattr(parser_training, "hanlp", lambda: None)
    monkeypatch.setattr(parser_training, "_fit", broken)
    with pytest.raises(KeyboardInterrupt):
        train_parser(tmp_path / "parser")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_a_parser_is_trained_and_loaded_by_hanlp(tmp_path, monkeypatch, capsys):
    hanlp = pytest.importorskip("hanlp")
    pytest.importorskip("transformers")
    monkeypatch.setattr(parser_training, "documents", lambda _: simple_treebank())
    said = []
    folder = tmp_path / "parser"
    trained = train_parser(folder, held_out=0.2, epochs=15, seed=3, say=said.append)
    # 40 documents of 8 sentences: 8 held out, of the others 2 to choose the epoch by.
    assert (trained.sentences, trained.held_out_sentences, trained.held_out_words) == (240, 64, 64 * 5 + 32 * 3)
    assert trained.brackets.f1 > 0.9
    assert trained.tags > 0.9
    assert said[0] == "240 sentences are learned from, 64 are held out; 15 epochs."
    assert [line for line in said if line.startswith("Epoch")][-1] == "Epoch 15 / 15:"
    assert capsys.readouterr().out == ""
    assert sorted(file.name for file in folder.iterdir()) == [
        *["config.json", "model.pt", ABOUT, SCORES, "vocabs.json"]
    ]
    assert json.loads((folder / SCORES).read_text(encoding="utf-8"))["seed"] == 3
    from transformers import optimization

    assert not hasattr(optimization, "AdamW")  # what was put back is taken away again
    parser = get_parser(f"hanlp:{folder}")
    text = "Tom hears the cat. Eve has the dog in the tree."
    (tree,) = parser.parse([text], "en")
    assert str(tree.pformat(margin=10**6)) == (
        "(TOP (S (NP (NNP Tom)) (VP (VBZ hears) (NP (DT the) (NN cat))) (. .)) (S (NP (NNP Eve)) (VP (VBZ has) (NP "
        "(DT the) (NN dog)) (PP (IN in) (NP (DT the) (NN tree)))) (. .)))"
    )
    assert len(leaf_spans(text, tree)) == 13
    component = hanlp.load(str(folder), devices=-1, verbose=False)
    assert type(component).__name__ == "CRFConstituencyParser"
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    for place in ("hanlp_parser", "hanlp_encoder"):  # where the encoder was when older models were trained
        shutil.copytree(folder, tmp_path / place)
        past = config["encoder"] | {"classpath": f"audit.language.constituency.{place}.WordsAndLetters"}
        (tmp_path / place / "config.json").write_text(json.dumps(config | {"encoder": past}), encoding="utf-8")
        assert HanlpParser(str(tmp_path / place)).parse([text], "en") == [tree]
    shutil.copytree(folder, tmp_path / "foreign")
    config["encoder"]["classpath"] = "audit.packs.translation.constituency.base.Parser"
    (tmp_path / "foreign" / "config.json").write_text(json.dumps(config), encoding="utf-8")
    with pytest.raises(BadFile, match=r"it names 'audit\.packs\.translation\.constituency\.base\.Parser'"):
        HanlpParser(str(tmp_path / "foreign")).parse(["Tom."], "en")
    (tmp_path / "foreign" / "config.json").write_text(json.dumps({"classpath": "hanlp.x"}), encoding="utf-8")
    with pytest.raises(BadFile, match="HanLP cannot load this model"):
        HanlpParser(str(tmp_path / "foreign")).parse(["Tom."], "en")
    with pytest.raises(NotInstalled, match="HanLP has no model of this name"):
        HanlpParser("NO_SUCH_MODEL").parse(["我来。"], "zh")
