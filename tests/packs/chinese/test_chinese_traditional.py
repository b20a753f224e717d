"""Texts in traditional characters: words are looked up in simplified ones, and everything else stays as it is."""

import random

import pytest

from audit.packs.chinese.relations import country, name, nouns, occupation, verbs
from audit.text import Analysis


def rewritten(relation, *texts, seed=1):
    return relation([Analysis(text, "zh") for text in texts], random.Random(seed))


@pytest.mark.parametrize(
    ("relation", "text", "words"),
    [
        (name, "記者李強表示，這裡下雨。", "李強"),
        (name, "王女士說，這裡的東西很貴。", "王女士"),
        (name, "他的房子很大，這裡沒有別的東西。", "他"),
        (country, "他去年在法國留學。", "法國"),
        (occupation, "一名律師說，這個問題解決了。", "律師"),
        (nouns, "他看了醫生，這個問題還沒有解決。", "醫生"),
        (verbs, "老師稱讚了他，這裡沒有別人。", "稱讚"),
    ],
)
def test_a_word_is_looked_up_and_the_rest_stays(relation, text, words):
    result = rewritten(relation, text)
    ((old, new),) = result.words
    assert old == words
    assert result.texts == (text.replace(old, new),)


def test_new_words_have_the_characters_of_taiwan():
    assert rewritten(verbs, "老師稱讚了他，這裡沒有別人。").texts == ("老師誇讚了他，這裡沒有別人。",)


def test_each_text_of_a_pair_keeps_its_characters():
    result = rewritten(nouns, "他看了醫生，這個問題還沒有解決。", "他看了医生，这个问题还没有解决。")
    assert result.texts == ("他看了大夫，這個問題還沒有解決。", "他看了大夫，这个问题还没有解决。")
    assert result.words == (("醫生", "大夫"), ("医生", "大夫"))


def test_a_text_without_such_a_word_makes_no_group():
    assert rewritten(nouns, "昨天下雨，地上都濕了。") is None


def test_without_opencc_the_line_that_installs_it_is_said(monkeypatch):
    import sys

    from audit.errors import NotInstalled
    from audit.packs.chinese import taggers

    monkeypatch.setitem(sys.modules, "opencc", None)
    taggers._converters.cache_clear()
    taggers.is_traditional.cache_clear()
    with pytest.raises(NotInstalled, match=r"pip install \"audit\[chinese\]\""):
        rewritten(nouns, "他看了醫生，這個問題還沒有解決。")
    taggers._converters.cache_clear()
