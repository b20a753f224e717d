"""The n-gram model: a distribution, the arithmetic of a small case, and texts that are left out."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from audit.text.ngram_model import HeldOut, NgramModel, model_words

TEXTS = ["the cat sat .", "the dog sat .", "a cat ran .", "the cat ran away ."]


def test_probabilities_after_any_words_sum_to_one():
    model = NgramModel(TEXTS, "en")
    vocabulary = {word for text in TEXTS for word in model_words(text)} | {"", "unknown"}
    for before in (("", ""), ("", "the"), ("the", "cat"), ("cat", "the"), ("unknown", "cat"), ("x", "y")):
        assert math.fsum(model._probability((*before, word)) for word in vocabulary) == pytest.approx(1)


def test_the_arithmetic_of_bigrams_by_hand():
    # Texts "a b" and "a": bigrams (edge,a) 2, (a,b) 1, (b,edge) 1, (a,edge) 1. Once: 3, twice: 1, so D = 3/5.
    # Words by what stands before them: a after 1 (the edge, so its own count would be of bigrams: 1), b 1, edge 2.
    # Of 4: once 2, twice 1, so D = 2/4; kinds 3; uniform over a, b, end, unknown: 1/4.
    model = NgramModel(["a b", "a"], "en", order=2)
    end = (2 - 0.5 + 0.5 * 3 * 0.25) / 4
    after_a = (1 - 0.6 + 0.6 * 2 * end) / 2
    first = (2 - 0.6 + 0.6 * 1 * ((1 - 0.5 + 0.5 * 3 * 0.25) / 4)) / 2
    assert model.perplexity("a") == pytest.approx((first * after_a) ** -0.5)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.text(max_size=12), max_size=5), st.text(max_size=12), st.sampled_from(["en", "zh"]))
def test_every_text_has_a_perplexity_of_one_or_more(texts, text, language):
    model = NgramModel(texts, language)
    assert 1 <= model.perplexity(text) < math.inf
    assert NgramModel(texts[::-1], language).perplexity(text) == model.perplexity(text)


def test_texts_are_scored_without_themselves():
    fitted, held_out, turned = NgramModel(TEXTS, "en"), HeldOut(TEXTS, "en", 5), HeldOut(TEXTS[::-1], "en", 5)
    for text in TEXTS:
        assert fitted.perplexity(text) < held_out.perplexity(text) == turned.perplexity(text)
    assert math.isnan(HeldOut(["alone", "alone"]).perplexity("alone"))
