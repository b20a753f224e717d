"""Sentences of Chinese text: where they end, and that nothing of a text is lost."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit.text import Analysis
from audit.text.tools import spans


def cut(text):
    return [text[start:end] for start, end in spans(text, "zh")]


@pytest.mark.parametrize(
    "sentences",
    [
        ["今天很好。", "明天呢？", "走！"],
        ["什么？！", "不会吧！！！"],
        ["她走了……", "他哭了。"],
        ["（本报记者王。）", "北京讯。"],
        ["iPhone 15发布会.", "他去了!", "好吗?", "好"],
        ["他说：“好。走吧！”", "她来了。"],
        ["他说：「好。」", "她来了。"],
        ["“你好。”", "“你也好。”"],
        ['他说："好。"', "她走了。"],
        ["总则就这样．", "好"],
        ["真好！", "😀下次再来。"],
    ],
)
def test_sentences_end_after_their_marks_and_closing_quotes(sentences):
    assert cut("".join(sentences)) == sentences


@pytest.mark.parametrize(
    "text",
    [
        "一；二：三，四、五",  # these stand within a sentence
        "“好！”他说。",  # what nothing introduces is a part of its sentence
        "他高喊“加油！”的口号。",
        "《怎么办？》是一本书。",
        "他来了（昨天。）然后走了。",
        "从……到……都有。",
        "版本3.5和３．５发布。",
        "Mr. Wang来了。",
        "1.第一点。",
        "１．总则。",
        "看a.com/?q=1吧。",
        "好吗？，他问。",
        "真好！😀",
        "一个人",
        "？？",
        "……",
    ],
)
def test_a_text_of_one_sentence_stays_one(text):
    assert cut(text) == [text]
    whole = Analysis(text, "zh")
    assert whole.sentences == (whole,)


def test_lines_are_sentences_and_white_space_is_in_none():
    assert cut("　　你好\n 再见 \r\n\n走。　来！ ") == ["你好", "再见", "走。", "来！"]
    assert cut("") == cut(" \n　") == []


def test_a_quotation_that_is_never_closed_reaches_no_further_than_its_line():
    assert cut("“好。来！\n他说”走。") == ["“好。", "来！", "他说”走。"]


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
