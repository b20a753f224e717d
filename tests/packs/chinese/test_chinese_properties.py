"""What holds of every relation of one property (MR1 to MR3), whatever the text."""

import pytest
from chinese_texts import LONG, follow_up_of, pieces, relation
from hypothesis import given, settings

from audit.errors import UnknownName
from audit.packs.chinese.countries import Parted
from audit.relations import Source
from audit.relations.expect import replace_words
from audit.relations.registry import configured
from audit.tasks import Input
from audit.text import Analysis

NUMBERS = (1, 2, 3)
TEXTS = ("记者李强报道。", "他去过法国。", "一名医生说话了。", "王女士、小明和两名律师去过英国。")


@pytest.mark.parametrize("number", NUMBERS)
@settings(max_examples=30)
@given(text=pieces(), other=pieces())
def test_the_same_words_are_replaced_everywhere_and_never_inside_longer_ones(number, text, other):
    group = follow_up_of(number, text, other)
    if group is None:
        return
    texts, words = group
    assert words
    assert texts == (replace_words(text, words), replace_words(other, words)) != (text, other)
    for source, follow_up in zip((text, other), texts, strict=True):
        tokens = Parted(source, Analysis(source, "zh").tokens).tokens
        starts, ends = {token.start for token in tokens}, {token.end for token in tokens}
        at = 0
        while at < len(source):  # what is replaced at each place, the longest first, is made of whole tokens
            old = max((old for old, _ in words if source.startswith(old, at)), key=len, default="")
            assert not old or (at in starts and at + len(old) in ends)
            at += len(old) or 1
        gain = sum(len(new) - len(old) for old, new in words)
        assert gain or len(follow_up) == len(source) or len(words) > 1
    assert follow_up_of(number, text, other) == group


@pytest.mark.parametrize("number", NUMBERS)
@pytest.mark.parametrize(
    "text",
    ["", "。", "😀😀", "Hello world, iPhone 15!", "ＡＢＣ，１２３。", "昨天下雨，地上都濕了。"],
)
def test_texts_without_such_a_word_make_no_group(number, text):
    assert follow_up_of(number, text) is None


def test_a_text_of_a_hundred_kilobytes():
    assert len(LONG.encode()) > 100_000
    source = Source(Input((LONG,), ("zh",)), Analysis(LONG, "zh"), "1")  # analysed once for all relations
    for number in NUMBERS:
        (follow_up,), words = relation(number).make_group(source)
        assert follow_up.text == replace_words(LONG, words) != LONG


@pytest.mark.parametrize("number", NUMBERS)
def test_the_tagger_is_a_parameter(number):
    source = Source(Input((TEXTS[-1],), ("zh",)), Analysis(TEXTS[-1], "zh"), "1")
    assert relation(number).params == {"tagger": "jieba"}
    assert configured(relation(number), {"tagger": "jieba"}).make_group(source) == relation(number).make_group(source)
    with pytest.raises(UnknownName, match="tagger 'nobody'"):
        configured(relation(number), {"tagger": "nobody"}).make_group(source)
