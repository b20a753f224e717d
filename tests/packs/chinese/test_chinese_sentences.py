"""Sentences of Chinese text: where they end, and that nothing of a text is lost."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit.text import Analysis
from audit.text.tools import spans


def cut(text):
    return [text[start:end] for start, end in spans(text, "zh")]


SIGNS = st.text(
    st.sampled_from("好来A1 a。！？!?.．…；：，“”‘’「」\"'（）()《》\n\u3000😀\r\u2028‼") | st.characters(), max_size=60
)


@given(SIGNS)
def test_nothing_but_white_space_is_lost(text):
    sentences = spans(text, "zh")
    at = 0
    for start, end in sentences:
        assert not text[at:start].strip()
        assert start < end
        assert text[start:end] == text[start:end].strip()
        at = end
    assert not text[at:].strip()


@given(SIGNS)
def test_sentences_are_put_back_where_they_were(text):
    analysis = Analysis(text, "zh")
    same = {index: sentence.text for index, sentence in enumerate(analysis.sentences)}
    assert analysis.replace_sentences(same) == text


@pytest.mark.parametrize("piece", ["好。", "。 ", "（”", "“好。”", "a（。）", "1.", '"', "（好", "a.　", "\n"])
def test_a_long_text_is_cut_in_one_walk(piece):
    """What might be looked at again and again: were it, 30,000 characters would take minutes."""
    text = piece * (30_000 // len(piece))
    assert sum(not sign.isspace() for sentence in cut(text) for sign in sentence) == sum(
        not sign.isspace() for sign in text
    )
