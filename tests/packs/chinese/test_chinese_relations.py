"""The seven relations of the study: known answers, mostly of its tables, and laws that hold of any text."""

import random
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from audit.packs.chinese import relations as chinese
from audit.packs.chinese import taggers
from audit.packs.chinese.relations import country, marks, name, nouns, occupation, reordered, verbs
from audit.relations.expect import replace_words
from audit.text import Analysis

PEOPLE = taggers.lexicon("people")


def made(relation, *texts, seed=1, **params):
    """The follow-up's texts and the words replaced; None twice where there is none."""
    follow_up = relation([Analysis(text, "zh") for text in texts], random.Random(seed), **params)
    return (follow_up.texts, follow_up.words) if follow_up else (None, None)


def texts_of(relation, *texts, **params):
    return made(relation, *texts, **params)[0]


def test_the_study_s_first_example_is_a_child_for_another():
    # table 2, MR1.1: 小明 by 小红
    new = {made(name, "小明喜欢打篮球。", seed=seed)[1][0] for seed in range(40)}
    assert {old for old, _ in new} == {"小明"}
    assert {other for _, other in new} & set(PEOPLE["nicknames_male"].split())
    assert "小红" in {other for _, other in new}


@pytest.mark.parametrize(
    ("text", "person", "gender"),
    [
        ("记者练束梅报道。练束梅说，路很长。", "练束梅", "female"),  # table 6, MR1.3: 练束梅 by 白露
        ("记者陈香表示，他不知道。", "陈香", "male"),
        ("记者陈香表示不知道。", "陈香", "neutral"),
        ("妻子陈香表示不知道。", "陈香", "female"),
        ("记者张建国表示，她不知道。", "张建国", "neutral"),  # a man's name, a woman's pronoun: neither is touched
        ("陈香（男，35岁）表示不知道。", "陈香", "male"),
    ],
)
def test_a_person_becomes_another_everywhere_who_agrees_with_what_tells_the_gender(text, person, gender):
    (new,), ((old, other),) = made(name, text)
    assert (old, new) == (person, text.replace(person, other))
    assert other[0] in PEOPLE["common"]
    assert other[1:] in PEOPLE[f"given_{gender}"].split()


@pytest.mark.parametrize(
    ("relation", "text"),
    [
        *(
            (country, text)
            for text in ("中国移动宣布涨价。", "美方拒绝了美国。", "我国的中国队赢了。", "《法国》很好。")
        ),
        *((occupation, text) for text in ("记者会开始了。", "教师节快乐。", "《演员的诞生》。", "货车司机受伤。")),
        *((nouns, text) for text in ("“医生”走了。", "医生资格考试。", "精神病人走了。")),
    ],
)
def test_a_part_of_a_longer_name_or_word_stays(relation, text):
    assert texts_of(relation, text) is None


@pytest.mark.parametrize(
    ("text", "new"),
    [
        ("他说“走”。", "他说「走」。"),
        ("他说「走」。", "他说“走”。"),
        ("“他说‘走’。”", "「他说『走』。」"),
        ("天亮了!走吧。", "天亮了！走吧。"),
        ("记者(张三)报道", "记者（张三）报道"),
        ("他走了；我来了。", "他走了，我来了。"),
    ],
)
def test_a_mark_becomes_one_that_says_the_same(text, new):
    assert texts_of(marks, text) == (new,)


PLACE, STAFF = "要把车间建在市中心的老城区，方便交通。", "要把员工安排在附近的宿舍，改善生活。"


@settings(deadline=None, max_examples=60)
@given(
    st.lists(
        st.sampled_from([PLACE, STAFF, "但是天黑了。", "他走了。", "为什么？", "\n", "“走吧。”", "标题"]), max_size=10
    ),
    st.integers(0, 3),
    st.booleans(),
)
def test_a_reordered_text_has_the_same_sentences(pieces, seed, coherent):
    text = "".join(pieces)
    new, _ = made(reordered, text, seed=seed, coherent=coherent)
    if new is not None:
        before, after = Analysis(text, "zh"), Analysis(new[0], "zh")
        assert sorted(text[a:b] for a, b in before.spans) == sorted(new[0][a:b] for a, b in after.spans)


@pytest.mark.parametrize(
    ("relation", "text", "word"),
    [
        (name, "記者李強表示，這裡下雨。", "李強"),
        (name, "他的房子很大，這裡沒有別的東西。", "他"),
        (country, "他去年在法國留學。", "法國"),
        (occupation, "一名律師說，這個問題解決了。", "律師"),
        (nouns, "他看了醫生，這個問題還沒有解決。", "醫生"),
        (verbs, "老師稱讚了他，這裡沒有別人。", "稱讚"),
    ],
)
def test_in_a_traditional_text_a_word_is_looked_up_and_the_rest_stays(relation, text, word):
    texts, ((old, new),) = made(relation, text)
    assert (old, texts) == (word, (text.replace(old, new),))


PIECES = [
    *("记者李强报道", "张建国表示同意", "王女士来了", "小王和老张吵架了", "他走了", "其他人都在", "吉他很贵"),
    *("他去过法国", "中国移动宣布", "美国政府表示反对", "印度洋很大", "法国、英国和德国都同意", "英方拒绝"),
    *("一名医生说", "记者会开始了", "派出所民警赶到现场", "货车司机受伤", "《演员的诞生》", "患者召开会议", "得到资格"),
    *("😀", "iPhone 15", "ＡＢＣ１２３", "　", "總統發表談話", "12日", "……", "\n"),
]
TEXTS = st.lists(
    st.one_of(st.sampled_from(PIECES), st.text("中国人的他她王李张法美医生记者，。 a😀", max_size=6)),
    min_size=1,
    max_size=6,
).map("，".join)


@pytest.mark.slow
@pytest.mark.parametrize("relation", [name, country, occupation, nouns, verbs])
@settings(max_examples=30, deadline=None)
@given(text=TEXTS, other=TEXTS)
def test_the_same_words_are_replaced_everywhere_and_never_inside_longer_ones(relation, text, other):
    texts, words = made(relation, text, other)
    if texts is None:
        return
    assert words
    assert texts == (replace_words(text, words), replace_words(other, words)) != (text, other)
    for source in (text, other):
        tokens = chinese.parted(chinese.as_simplified(Analysis(source, "zh"))).tokens
        starts, ends = {token.start for token in tokens}, {token.end for token in tokens}
        olds = "|".join(sorted((re.escape(old) for old, _ in words), key=len, reverse=True))
        for match in re.finditer(olds, source):
            assert match.start() in starts
            assert match.end() in ends
    assert made(relation, text, other) == (texts, words)


def test_a_place_is_no_person():
    assert texts_of(name, "我们去张家界旅游，张家界风景好。") is None
