"""The seven relations of the study: known answers, mostly of its tables, and laws that hold of any text."""

import random
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from audit.errors import NotInstalled
from audit.packs.chinese import relations as chinese
from audit.packs.chinese import taggers
from audit.packs.chinese.relations import country, marks, name, nouns, occupation, reordered, swapped, verbs
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


def test_a_place_is_no_person():
    assert texts_of(name, "我们去张家界旅游，张家界风景好。") is None


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


def test_only_members_of_the_united_nations_are_countries():
    names = set(chinese.countries())
    assert not names & {"台湾", "中国香港特别行政区", "科索沃", "西撒哈拉", "巴勒斯坦领土", "梵蒂冈"}
    assert len(names) == 146
    for one in chinese.countries().values():
        others = chinese._stand_ins(one, frozenset({one.name}))
        assert others
        assert {chinese.countries()[other].continent for other in others} == {one.continent}


def test_the_lists_are_of_plain_words():
    for job in chinese.occupations().values():
        assert job.name not in job.stand_ins
        assert len(set(job.stand_ins)) == len(job.stand_ins) > 0
    assert not set(chinese.occupations()) & {"总统", "主席", "总理", "销售总监", "经理", "书记", "其他"}
    classes = taggers.cilin()
    for (_, word), pairs in chinese.synonym_pairs().items():
        own = {code for code in classes[word] if code.endswith("=")}  # words of one class score 1
        assert all(own & set(classes[pair.new]) for pair in pairs), word
        assert len({pair.new for pair in pairs} - {word}) == len(pairs)
        for pair in pairs:
            assert pair.flags <= {"alone", "object", "verb"}, word
            assert set(pair.lists) <= {"after", "before", "not-after", "not-before", "not-with", "with"}, word


def test_without_chatoperas_package_the_line_that_installs_it():
    with pytest.raises(NotInstalled, match="pip install synonyms"):
        chinese.chatopera_synonyms("医生")


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


@given(
    st.lists(st.text("“”‘’「」，。！？；：（）【】、!?;:(),.…—3a他走天 \n😀", max_size=30), min_size=1, max_size=2),
    st.integers(0, 9),
)
def test_only_the_chosen_mark_changes_and_the_check_could_do_the_same(texts, seed):
    new_texts, words = made(marks, *texts, seed=seed)
    if new_texts is None:
        return
    assert new_texts == tuple(replace_words(text, words) for text in texts)
    for text, new in zip(texts, new_texts, strict=True):
        assert len(text) == len(new)
        assert not {old for old, _ in words} & set(new)
        assert Analysis(new, "zh").spans == Analysis(text, "zh").spans


LEAD = "新华社北京1月1日电 厂里有事。"
PLACE, STAFF = "要把车间建在市中心的老城区，方便交通。", "要把员工安排在附近的宿舍，改善生活。"


def test_two_texts_change_places_and_so_do_sentences_that_lean_on_none():
    assert texts_of(swapped, "一", "二") == ("二", "一")
    assert texts_of(reordered, LEAD + PLACE + STAFF) == (LEAD + STAFF + PLACE,)
    for leaning in ("但是员工很多，他们要有宿舍。", "该厂的员工要有附近的宿舍。", "昨天员工搬到附近的宿舍。"):
        assert texts_of(reordered, LEAD + PLACE + leaning) is None


@pytest.mark.parametrize(
    ("first", "second", "is_list"),
    [
        ("贷款范围：个体商户当天放款。", "贷款要求：无不良信誉记录。", True),
        ("时速超过9千米会被扣4分，罚款200元。", "时速超过40千米会被扣12分，罚款1200元。", True),
        ("专家指出，血栓多见于老年人。", "医院强调，久坐的年轻人风险很大。", True),
        ("原告：许杰，男，住江苏省太仓市。", "被告：钱仁，男，住江苏省苏州市。", False),
        ("一是要加强组织领导，压实责任。", "二是要加强监督检查，抓好落实。", False),
        ("民警赶到现场后发现一辆小客车侧翻。", "民警救出两位老人并送往附近的医院。", False),
        ("张三说，我明天一早就要去北京。", "李四说，你一个人去太不安全了。", False),
    ],
)
def test_lists_and_what_looks_like_one(first, second, is_list):
    new = texts_of(reordered, LEAD + first + second)
    assert new == ((LEAD + second + first,) if is_list else None)


def test_the_study_s_own_form_shuffles_all_but_the_first():
    # Table 4 of the study: the second and the third sentence change places though both speak of 她.
    text = "布莱曼表示，她将乘飞船进入空间站。她希望与孩子们合唱。为了梦想，她每天训练。"
    assert texts_of(reordered, text) is None
    assert texts_of(reordered, text, seed=0, coherent=False) == (
        "布莱曼表示，她将乘飞船进入空间站。为了梦想，她每天训练。她希望与孩子们合唱。",
    )


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
