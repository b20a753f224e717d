"""Sentences of Chinese text: where they end, and that nothing of a text is lost."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit.keys import digest
from audit.packs.chinese.sentences import RULES as CHINESE_RULES
from audit.text import sentences
from audit.text.tools import spans


def cut(text):
    return [text[start:end] for start, end in spans(text, "zh")]


SIGNS = st.text(
    st.sampled_from("好来A1 a。！？!?.．…；：，“”‘’「」\"'（）()《》\n\u3000😀\r\u2028‼") | st.characters(), max_size=60
)


@given(SIGNS)
def test_nothing_but_white_space_is_lost(text):
    at = 0
    for start, end in spans(text, "zh"):
        assert not text[at:start].strip()
        assert start < end
        assert text[start:end] == text[start:end].strip()
        at = end
    assert not text[at:].strip()


CHANGED = "sentences are cut otherwise: give RULES another value, and put it here with the digest that was found"
ENGLISH = """Mr. Smith is good. I like him! "Is it?" she said... Then nothing... but wait! He left at 5 p.m.
The U.S. won. It cost $3.50.(Really.) A. B. Clarke wrote it. No. 5 is alive! ... What?!

New paragraph without an end

I.e. this e.g. that vs. those. Great.Bad spacing follows. Dr. No (1962) etc. is fun.
Edward I. Koch left: 1. What a day! ! End"""
CHINESE = """他来了。她说：“走吧！”然后走了。《为什么？》是书名。真的吗？！是的……好吧。
a.com和3.5亿不断。Yahoo!的股价（大跌！）了。
第二行没有句号
A. B. 克拉克写了它。“第一句。第二句。”他说。1. 编号；还有：冒号。完"""


@pytest.mark.parametrize(
    ("text", "language", "rules", "known"),
    [
        (ENGLISH, "en", sentences.RULES, ("37efd66d", "37efd66def7a")),
        (CHINESE, "zh", CHINESE_RULES, ("834fd310", "a5a340eea8dc")),
    ],
)
def test_what_is_cut_otherwise_has_another_version(text, language, rules, known):
    assert (rules, digest(str(spans(text, language))).hex()[:12]) == known, CHANGED
