"""Chinese words and tags: nothing of a text is lost, persons are persons, and HanLP's kinds of models.

Models that can be downloaded only are stood for by objects with their documented output (hanlp 2.1.5:
components/mtl/multi_task_learning.py, components/taggers/tagger.py, hanlp_common/document.py).
"""

from contextlib import nullcontext
from types import SimpleNamespace

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from audit.errors import BadFile, NotInstalled
from audit.packs.chinese import taggers
from audit.packs.chinese.taggers import PEOPLES_DAILY, HanlpTagger, chinese

SIGNS = "我们在北京见到王小明和比尔·盖茨，iPhone 15发布会。PSV３．５％ＡＢ…—“”！？\n\u3000 😀👨\u200d👩🏽Mr.2,000"
TEXTS = st.text(st.sampled_from(SIGNS) | st.characters(), max_size=40)


def tags(tagger, text):
    return " ".join(f"{token.text}/{token.tag}" for token in tagger(text))


def check_tokens(text, tokens):
    at = 0
    for token in tokens:
        assert not text[at : token.start].strip()
        assert text[token.start : token.end] == token.text
        assert token.text.split() == [token.text]
        assert token.tag in PEOPLES_DAILY
        at = token.end
    assert not text[at:].strip()


@settings(max_examples=60)
@given(TEXTS)
@example("PSV埃因霍温　\r\n")
@example("张·")
@example("……——")
@example("周总理")
def test_tokens_are_the_text_without_its_white_space(text):
    check_tokens(text, chinese(text))


class Tokenizer:
    """A tokenizer: words without tags. This one gives single characters, and no white space."""

    vocabs = {"tag": SimpleNamespace(idx_to_token=["B", "M", "E", "S"])}  # noqa: RUF012

    def __call__(self, sentences):
        return [[sign for sign in one if not sign.isspace()] for one in sentences]


class Tasks:
    """A multi-task model's document for one sentence, as in the docstring of hanlp_common.document.Document."""

    def __init__(self, *tasks):
        self.tasks = dict.fromkeys(tasks)

    def __call__(self, sentences, tasks):
        document = {
            "tok/fine": ["晓美焰", "来到", "北京", "立方庭", "参观", "自然", "语义", "科技", "公司"],
            "pos/ctb": ["NR", "VV", "NR", "NR", "VV", "NN", "NN", "NN", "NN"],
            "pos/pku": ["nr", "v", "ns", "nz", "v", "n", "n", "n", "n"],
            "ner/msra": [("晓美焰", "PERSON", 0, 1), ("北京立方庭", "LOCATION", 2, 4), ("公司", "ORGANIZATION", 8, 9)],
        }
        return {task: [document[task] for _ in sentences] for task in tasks}


SENTENCE = "晓美焰来到北京立方庭参观自然语义科技公司"


@pytest.fixture
def models(monkeypatch):
    """Taggers of objects under names, without HanLP."""
    there = {}
    monkeypatch.setattr(taggers, "load", there.__getitem__)
    monkeypatch.setattr(taggers, "model_version", lambda name: f"model {name}")
    monkeypatch.setattr(taggers, "one_thread", nullcontext)  # torch takes seconds to import
    return there


def test_a_model_of_several_tasks(models):
    models["MTL"] = Tasks("tok/fine", "pos/ctb", "pos/pku", "ner/msra", "dep")
    assert tags(HanlpTagger("MTL"), SENTENCE) == "晓美焰/nr 来到/v 北京/ns 立方庭/nz 参观/v 自然/n 语义/n 科技/n 公司/n"
    # Entities say what proper names of the Treebank are.
    models["CTB"] = Tasks("tok/fine", "pos/ctb", "ner/msra")
    assert tags(HanlpTagger("CTB"), SENTENCE).startswith("晓美焰/nr 来到/v 北京/ns 立方庭/ns")
    models["BARE"] = Tasks("tok/fine", "pos/ctb")
    assert tags(HanlpTagger("BARE"), SENTENCE).startswith("晓美焰/nz 来到/v 北京/nz")


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(TEXTS, st.lists(st.text("好来 a😀x", max_size=4), max_size=6))
def test_whatever_a_model_says_tokens_are_the_text(models, text, words):
    document = {"tok": words, "pos/pku": ["n"] * len(words)}

    class Says(Tasks):
        def __call__(self, sentences, tasks):
            return {task: [document[task] for _ in sentences] for task in tasks}

    models["MTL"] = Says("tok", "pos/pku")
    check_tokens(text, HanlpTagger("MTL")(text))


def test_models_that_are_not_there_are_named_with_what_to_do(monkeypatch, tmp_path):
    def load(*_, **__):
        raise SystemExit("connection refused\nmore of it")

    pretrained = SimpleNamespace(ALL={"PKU_POS_ELECTRA_SMALL": "https://file.hankcs.com/hanlp/pos/pos_pku.zip"})
    monkeypatch.setattr(taggers, "hanlp", lambda: SimpleNamespace(pretrained=pretrained, load=load))
    with pytest.raises(NotInstalled, match="HanLP has no model of this name"):
        chinese("好", "hanlp:NO_SUCH_MODEL")
    with pytest.raises(NotInstalled, match=r"\(connection refused\); download and unpack https://.*/pos_pku\.zip"):
        chinese("好", "hanlp:PKU_POS_ELECTRA_SMALL")
    with pytest.raises(BadFile, match="cannot load this model"):
        chinese("好", f"hanlp:{tmp_path}")
