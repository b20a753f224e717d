"""Proposers of words: n-grams of a running text, and a BERT made here, with weights that say what it must answer."""

import math

import pytest

from audit.errors import NotInstalled
from audit.packs.translation.proposers import FillMask, count, first_fitting
from audit.packs.translation.tools import get_tool

TEXT = """The old man saw a good film.
The old man saw a great film. The old woman saw a great film.
A young man sees the old film.
The movie was not good, but the story was great.
"""


@pytest.fixture
def own(tmp_path, monkeypatch):
    monkeypatch.setenv("AUDIT_CACHE", str(tmp_path / "cache"))
    file = tmp_path / "own.txt"
    file.write_text(TEXT, encoding="utf-8")
    return file


def test_the_probability_of_a_word_by_hand():
    # "a b c" twice, "a d c" once. After "a" stands b 2 of 3 times, d 1 of 3; c follows both always.
    counts = count(map(str.split, ["a b c", "a b c", "a d c"]))
    a, b, c, d = (counts.ids[word] for word in "abcd")
    log = counts._log
    # Before each line stand two edges, and after the last: 4 times, of which 3 before "a".
    assert log(1, 1, a) == pytest.approx(math.log(3 / 4))
    assert log(1, a, b) == pytest.approx(math.log(2 / 3))
    assert log(a, d, c) == pytest.approx(math.log(1))
    # Never seen together: 0.4 * 0.4 * 3 of 15 ids in the text, edges among them (9 words, 2 edges after each line and
    # 2 before the first: 9 + 8 = 17).
    assert log(b, d, a) == pytest.approx(math.log(0.4 * 0.4 * 3 / 17))
    assert counts.ranked(["a"], ["c"], "x") == ["b", "d"]
    assert counts.ranked(["a"], ["c"], "b") == ["d"]


def test_words_of_the_same_part_of_speech_that_are_others(own):
    proposer = get_tool("proposer", f"ngram:{own}")
    tokens = ("The", "old", "man", "saw", "a", "good", "film", ".")
    proposed = dict(zip(tokens, proposer.propose([(tokens, at) for at in range(8)], "en"), strict=True))
    assert proposed["good"] == "great"
    assert proposed["man"] == "woman"
    assert proposed["."] is None


@pytest.mark.parametrize("negation", ["never", "no", "not", "none", "neither", "nor", "hardly", "barely", "without"])
def test_a_negation_is_never_proposed(negation):
    tokens = ("They", "quickly", "saw", "the", "good", "museum", ".")
    for at in (1, 2, 4, 5):
        assert first_fitting(tokens, at, [negation], "en") is None


# A masked language model.

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
