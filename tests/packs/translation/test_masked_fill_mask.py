"""Masked language models: a BERT of four layers' width made here, with weights that say what it must answer."""

import pytest

from audit.errors import NotInstalled
from audit.packs.translation.proposers import FillMask
from audit.packs.translation.tools import get_tool

PIECES = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
WORDS = ["the", "a", "good", "great", "film", "story", "is", "was", ".", ",", "##s", "1990", "quickly", "sees"]
CHINESE = ["好", "电", "影", "故", "事", "医", "生", "的", "看", "我", "。"]


def make(folder, favourites, kind="BertForMaskedLM"):
    """A tiny BERT whose hidden states are random, and whose bias makes these pieces the most probable, in order."""
    import torch
    import transformers

    folder.mkdir(exist_ok=True)
    pieces = [*PIECES, *WORDS, *CHINESE]
    (folder / "vocab.txt").write_text("\n".join(pieces), encoding="utf-8")
    tokenizer = transformers.BertTokenizerFast(vocab=str(folder / "vocab.txt"), do_lower_case=True)
    config = transformers.BertConfig(
        vocab_size=len(pieces),
        hidden_size=8,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=8,
        max_position_embeddings=64,
    )
    torch.manual_seed(0)
    model = getattr(transformers, kind)(config)
    if kind == "BertForMaskedLM":
        with torch.no_grad():
            for rank, piece in enumerate(favourites):
                model.cls.predictions.bias[pieces.index(piece)] = 100.0 - rank
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    return make(
        tmp_path_factory.mktemp("models") / "tiny", ["##s", "1990", ".", "the", "film", "story", "great", "good"]
    )


def test_the_most_probable_word_that_is_another_one_of_the_same_part_of_speech(tiny):
    proposer = get_tool("proposer", f"fill-mask:{tiny}")
    tokens = ("The", "good", "film", "is", "a", "book", ".")
    # Pieces of words, numbers and marks come first in this model, then "the": none is an adjective or a noun.
    assert proposer.propose([(tokens, 1), (tokens, 2), (tokens, 5)], "en") == ["great", "story", "story"]


def test_chinese_words_get_a_mask_for_each_character(tmp_path):
    pytest.importorskip("jieba")
    model = make(tmp_path / "chinese", ["the", "事", "故", "电", "影"])
    proposer = FillMask(str(model))
    tokens = ("我", "看", "电影", "。")
    # 事 is the most probable character at every place, then 故; 事事 is left out; either order is a noun like 电影.
    assert proposer.propose([(tokens, 2), (tokens, 1)], "zh")[0] in ("事故", "故事")


def test_an_absent_model_says_how_to_get_it(tmp_path):
    with pytest.raises(NotInstalled, match=r"no directory 'no/such-model'.*`hf download no/such-model`"):
        FillMask("no/such-model").propose([(("good", "film"), 0)], "en")
