"""Sentences are cut as they were when the version of the rules was given: corpora of sentences are named by it."""

import pytest

from audit.keys import digest
from audit.packs.chinese.sentences import RULES as CHINESE_RULES
from audit.text import sentences
from audit.text.tools import spans

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


def cut(text: str, language: str) -> str:
    return digest(str(spans(text, language))).hex()[:12]


@pytest.mark.parametrize(
    ("text", "language", "rules", "known"),
    [
        (ENGLISH, "en", sentences.RULES, ("37efd66d", "37efd66def7a")),
        (CHINESE, "zh", CHINESE_RULES, ("834fd310", "a5a340eea8dc")),
    ],
)
def test_what_is_cut_otherwise_has_another_version(text, language, rules, known):
    assert (rules, cut(text, language)) == known, CHANGED
