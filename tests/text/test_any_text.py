"""What holds of any text: letters with accents stay in their words, and a page without a blank takes no longer."""

import time
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit.text.differences import _tokens, differences
from audit.text.ngram_model import model_words
from audit.text.sentences import spans

ACCENTED = st.text(st.sampled_from("aeiouncsyzéèñüçšřőâÅ"), min_size=1, max_size=8)
LENGTH = 50_000


@pytest.mark.parametrize("cut", [_tokens, model_words])
@given(st.lists(ACCENTED, min_size=1, max_size=5))
def test_accents_and_decomposed_letters_keep_their_words_whole(cut, words):
    for form in ("NFC", "NFD"):
        text = unicodedata.normalize(form, " ".join(words).lower())
        assert [word for word in cut(text) if word.strip()] == text.split()


@pytest.mark.parametrize("piece", ["a", "é", "!", "...", "a.", "I ", " ", "我", "'", "(1"])
def test_fifty_thousand_signs_in_a_row_are_read_in_one_walk(piece):
    text = piece * (LENGTH // len(piece))
    began = time.perf_counter()
    for around in (text, f"A {text}x b. I. {text}", f"{text}. the end"):
        assert all(start < end for start, end in spans(around))
    assert "".join(piece.text for piece in differences(text, text + "b") if piece.kind.value != "left_out")[-1] == "b"
    assert time.perf_counter() - began < 20  # looked at again at every sign, it would take minutes
