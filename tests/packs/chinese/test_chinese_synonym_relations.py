"""MR5 and MR6 of the study of Chinese systems: nouns and verbs become synonyms."""

import pickle
import random
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from audit.packs.chinese.relations import nouns, verbs
from audit.packs.chinese.synonyms import LEAST, pairs, thesaurus
from audit.relations import Source, get_relation
from audit.relations.expect import replace_words
from audit.relations.registry import configured
from audit.tasks import Input
from audit.text import Analysis


def follow_up_of(rewrite, *texts, seed=0, **params):
    return rewrite([Analysis(text, "zh") for text in texts], random.Random(seed), **params)


def texts_of(rewrite, *texts, **options):
    follow_up = follow_up_of(rewrite, *texts, **options)
    return None if follow_up is None else follow_up.texts


def test_a_noun_becomes_a_synonym_wherever_it_stands_in_a_pair():
    follow_up = follow_up_of(nouns, "医生来了，医生走了。", "他见到医生。")
    assert follow_up.texts == ("大夫来了，大夫走了。", "他见到大夫。")
    assert follow_up.words == (("医生", "大夫"),)


def test_a_verb_becomes_a_synonym():
    assert texts_of(verbs, "老师称赞了小明。") == ("老师夸赞了小明。",)
    assert texts_of(verbs, "他获悉此事。") == ("他得知此事。",)


def test_the_example_of_the_study_is_below_the_score_in_cilin():
    # Table 2 replaces 表扬 by 夸赞 (Synonyms); in Cilin they are in two classes of the same branch.
    assert thesaurus("cilin").score("表扬", "夸赞") == pytest.approx(0.405, abs=0.001)
    assert texts_of(verbs, "老师今天表扬了小明。") is None


@pytest.mark.parametrize(
    "text",
    [
        "医生集团成立。",  # before another noun: a compound
        "他考取了医生资格。",
        "“医生”来了。",  # in quotes
        "《医生》上映。",
        "医生和大夫都来了。",  # the synonym is there already
        "精神病人来了。",  # 精神 stands before it
        "天黑了。",
    ],
)
def test_no_noun_is_replaced_where_the_synonym_does_not_fit(text):
    assert texts_of(nouns, text) is None


@pytest.mark.parametrize(
    "text",
    [
        "他取得联系。",  # a fixed phrase
        "这对他造成很大影响。",  # 对……造成影响, not 导致
        "不具有效力。",  # not after 不
        "火车返回途中。",
    ],
)
def test_no_verb_is_replaced_where_the_synonym_does_not_fit(text):
    assert texts_of(verbs, text) is None


def test_a_word_that_stands_in_quotes_elsewhere_is_not_replaced_at_all():
    assert texts_of(nouns, "医生说：“医生来了。”") is None
    assert texts_of(nouns, "医生来了。", "《医生》上映。") is None


def test_a_word_that_also_stands_inside_a_longer_one_is_not_replaced():
    assert texts_of(nouns, "医生来到医生集团。") is None


def test_two_words_can_be_replaced():
    single, double = (follow_up_of(nouns, "医生问了患者。", words=number) for number in (1, 2))
    assert len(single.words) == 1
    assert double.texts == ("大夫问了病人。",)


@pytest.mark.parametrize("text", ["", "😀😀", "The doctor came.", "ＡＢＣ，１２３。", "\n \n"])
def test_odd_texts_make_no_group(text):
    assert texts_of(nouns, text) is None
    assert texts_of(verbs, text) is None


def test_mixed_text_and_emoji_stay_as_they_are():
    assert texts_of(nouns, "iPhone 15发布😀，医生来了！") == ("iPhone 15发布😀，大夫来了！",)


WORDS = [
    "医生",
    "患者",
    "母亲",
    "资格",
    "召开",
    "会议",
    "获悉",
    "他",
    "了",
    "的",
    "，",
    "。",
    "“",
    "”",
    "iPhone",
    "😀",
    "精神",
    "得到",
]


@settings(deadline=None, max_examples=60)
@given(st.lists(st.lists(st.sampled_from(WORDS), max_size=12).map("".join), min_size=1, max_size=2), st.integers(0, 3))
def test_whole_words_everywhere_and_nothing_else(texts, seed):
    for kind, rewrite in (("n", nouns), ("v", verbs)):
        follow_up = follow_up_of(rewrite, *texts, seed=seed)
        if follow_up is None:
            continue
        assert follow_up == follow_up_of(rewrite, *texts, seed=seed)
        assert follow_up.texts == tuple(replace_words(text, follow_up.words) for text in texts)
        for old, new in follow_up.words:
            assert new in {pair.new for pair in pairs()[kind, old]}
            assert (new, 1.0) in thesaurus("cilin").synonyms(old)
            for text in texts:
                whole = [token for token in Analysis(text, "zh").tokens if token.text == old]
                assert len(whole) == len(re.findall(old, text))


@pytest.mark.parametrize(("task", "place"), [("similarity", 1), ("summarization", 2), ("classification", 3)])
@pytest.mark.parametrize("number", [5, 6])
def test_a_relation_for_each_task_that_survives_pickling(task, place, number):
    relation = get_relation(task, f"MR{number}.{place}")
    two = configured(relation, {"words": 2})
    texts = ["医生称赞了患者。", "患者称赞了医生。"][: 2 if task == "similarity" else 1]
    source = Source(Input.of(*texts, language="zh"), Analysis(texts[0], "zh"), "0:1")
    for variant in (relation, two):
        follow_ups, note = variant.make_group(source)
        assert follow_ups
        assert note
        assert pickle.loads(pickle.dumps(variant)).make_group(source) == (follow_ups, note)  # noqa: S301, our own bytes


def test_every_pair_of_the_list_scores_enough_in_cilin():
    for (_, word), entries in pairs().items():
        scored = dict(thesaurus("cilin").synonyms(word))
        assert all(scored.get(pair.new, 0) >= LEAST for pair in entries), word


@pytest.mark.slow
def test_a_long_text_is_done_in_time():
    text = "医生来了，患者走了。" * 10_000
    assert texts_of(nouns, text)[0].count("医生") in (0, 10_000)


@pytest.mark.parametrize(
    ("relation", "text"),
    [
        (verbs, "团队攻克了技术难题。"),  # 攻占 takes cities
        (verbs, "工厂正在建造军舰。"),
        (verbs, "股价下跌了三个点。"),
        (verbs, "他被告知明天要来。"),
        (verbs, "墙上有着这样的字句。"),
        (verbs, "运动能促进肠道的蠕动。"),
        (verbs, "文化创意产业促进中心昨天成立。"),  # in a name
        (nouns, "他住在富豪东方酒店。"),
        (nouns, "这本书的缺点不少。"),
        (nouns, "他脑袋一晕，倒了。"),
        (nouns, "她发来[礼物]，很高兴。"),  # a picture
    ],
)
def test_a_synonym_that_does_not_go_with_the_words_beside_it_makes_no_group(relation, text):
    assert texts_of(relation, text) is None


@pytest.mark.parametrize(
    ("relation", "text", "rewritten"),
    [
        (verbs, "军队攻占了这座城。", "军队攻克了这座城。"),
        (verbs, "工人建造了一座桥。", "工人修建了一座桥。"),
        (verbs, "改革促进了经济的发展。", "改革推动了经济的发展。"),
    ],
)
def test_a_synonym_that_goes_with_them_does(relation, text, rewritten):
    assert texts_of(relation, text) == (rewritten,)
