"""MR7 of the study of Chinese systems: two texts change places, or sentences do that do not need each other."""

import pickle
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from audit.packs.chinese.relations import reordered, swapped
from audit.relations import Source, get_relation
from audit.relations.registry import configured
from audit.tasks import Input
from audit.text import Analysis

LEAD = "新华社北京1月1日电 厂里有事。"
PLACE = "要把车间建在市中心的老城区，方便交通。"
STAFF = "要把员工安排在附近的宿舍，改善生活。"
GOODS = "要把产品做好，降低价格。"


def follow_up_of(text, seed=0, coherent=True, **params):
    follow_up = reordered([Analysis(text, "zh")], random.Random(seed), coherent=coherent, **params)
    return None if follow_up is None else follow_up.texts[0]


def test_two_texts_change_places():
    pair = [Analysis("一", "zh"), Analysis("二", "zh")]
    assert swapped(pair, random.Random(0)).texts == ("二", "一")
    assert swapped(pair[:1], random.Random(0)) is None


def test_two_demands_change_places_and_the_first_sentence_stays():
    assert follow_up_of(LEAD + PLACE + STAFF) == LEAD + STAFF + PLACE


def test_two_reports_change_places():
    first, second = "厂长表示，今天一切都好。", "工人认为，明天一切都好。"
    assert follow_up_of(LEAD + first + second) == LEAD + second + first


def test_two_items_of_a_list_change_places():
    lead = "双方都有委托诉讼代理人，是南昌的律师。"
    first, second = "委托诉讼代理人：余彬，南昌甲律师事务所律师。", "委托诉讼代理人：聂骁，南昌甲律师事务所律师。"
    assert follow_up_of(lead + first + second) == lead + second + first


@pytest.mark.parametrize(
    "text",
    [
        "",
        "😀😀",
        PLACE,  # one sentence
        PLACE + STAFF,  # the first one stays
        LEAD + PLACE + "要把员工安排。",  # short ones are headings and talk
        LEAD + PLACE + "但是" + STAFF,
        LEAD + PLACE + "要把他的员工安排在附近的宿舍，改善生活。",
        LEAD + PLACE + "要把该厂的员工安排在附近的宿舍，改善生活。",
        LEAD + PLACE + "要把员工也安排在附近的宿舍，改善生活。",
        LEAD + PLACE + "二是" + STAFF,
        LEAD + PLACE + "要把员工安排进了附近的宿舍，改善生活。",  # what happened
        LEAD + PLACE + "要把员工在明年安排在附近的宿舍，改善生活。",  # when
        LEAD + PLACE + "要把员工在2018年5月1日安排在附近的宿舍，改善生活。",
        LEAD + PLACE + "员工住在附近的宿舍，生活舒适。",  # a description beside a demand
        LEAD + PLACE + "加强员工的管理，改善附近的宿舍。",  # 要 may go on
        LEAD + "公司位于上海市中心的老城区，交通方便。员工住在附近的宿舍，生活舒适。",  # no items of one list
        LEAD + "三级：走路发飘，活动受限，无法直线走路。四级：吃饭发飘，活动受限，无法正常吃饭。",  # they count
        LEAD + "突出两个要素，一是品牌要素。注重产品的品牌，设立产品的标志。",  # it begins to count
        "被告人张强、李明开设赌场。被告人张强获利两万元，李明获利一万元。被告人张强约定抽头，李明约定不抽头。",
        LEAD + "推进老城区的改造，方便交通。实施办法有：安排员工的宿舍。",
        LEAD + "厂长说，工厂在1995年建成。厂长表示，今天一切都好。",  # the same speaker goes on
        LEAD + "厂长表示，今天一切都好。" + STAFF,  # a report beside what is none
        LEAD + "我妻子说，今天一切都好。" + "厂长问，明天一切都好吗。",  # a conversation
        LEAD + PLACE + STAFF + "员工的条件很好。",  # what follows takes up the second
        LEAD + "要把员工安排在附近的宿舍。" + "要把宿舍建在市中心的老城区。",  # the second takes up the first
        LEAD + PLACE + STAFF + "但是宿舍太小。",  # what follows leans on the second
        LEAD + PLACE + "要把员工安排在哪里的宿舍，改善生活？",
        LEAD + "公司的要求如下：" + PLACE + STAFF[:-1],
        LEAD + PLACE + "要把员工安排在“附近的宿舍，改善生活。",  # a quotation that does not end
        LEAD + "实施甲行动，打好基础。推进老城区的改造，方便交通。实施乙行动，提高产量。",  # 推进 is a part of 甲
        "廠裡有事。公司位於上海市中心的老城區，交通方便。員工住在附近的宿舍，生活舒適。",  # traditional
    ],
)
def test_what_may_lean_on_another_sentence_stays(text):
    assert follow_up_of(text) is None


def test_what_goes_before_advice_stays_before_it():
    assert follow_up_of(LEAD + "厂长表示，今天一切都好。工人建议，明天大家都来。") is None


def test_lines_of_their_own_stay_lines():
    assert follow_up_of(f"{LEAD}\n{PLACE}\n{STAFF}\n") == f"{LEAD}\n{STAFF}\n{PLACE}"
    assert follow_up_of(f"{LEAD}\n{PLACE}\n{STAFF}{GOODS}\n") == f"{LEAD}\n{PLACE}\n{GOODS}{STAFF}"


def test_sentences_without_a_mark_elsewhere_stay_as_they_are():
    end = "道路通向北边的车站"
    assert follow_up_of(f"标题\n{LEAD}{PLACE}{STAFF}\n{end}") == f"标题\n{LEAD}{STAFF}{PLACE}\n{end}"


def test_exchanges_are_as_many_as_asked_for_and_none_moves_twice():
    text = LEAD + "".join(
        f"要把{what}放在{where}的位置。" for what, where in zip("甲乙丙丁戊", "东南西北中", strict=True)
    )
    follow_ups = {follow_up_of(text, seed, exchanges=2) for seed in range(20)}
    assert all(sorted(follow_up) == sorted(text) and follow_up.startswith(LEAD) for follow_up in follow_ups)
    assert (
        max(_moved(text, follow_up) for follow_up in follow_ups) == 4
    )  # two exchanges, with a sentence that stays between them
    assert {_moved(text, follow_up_of(text, seed)) for seed in range(20)} == {2}


def _moved(text, follow_up):
    before, after = Analysis(text, "zh").sentences, Analysis(follow_up, "zh").sentences
    return sum(sentence.text != new_sentence.text for sentence, new_sentence in zip(before, after, strict=True))


def test_all_but_the_first_are_shuffled():
    # Table 4 of the study: the second and the third sentence change places though both speak of 她.
    text = "布莱曼表示，她将乘飞船进入空间站。她希望与孩子们合唱。为了梦想，她每天训练。"
    assert follow_up_of(text) is None
    assert (
        follow_up_of(text, coherent=False)
        == "布莱曼表示，她将乘飞船进入空间站。为了梦想，她每天训练。她希望与孩子们合唱。"
    )


@pytest.mark.parametrize(
    ("text", "reordered"),
    [
        ("标题\n甲走。乙来。丙在。", "标题\n甲走。丙在。乙来。"),  # the title, and the first sentence
        ("甲走。\n小标题（图）\n乙来。\n丙在。", "甲走。\n小标题（图）\n丙在。\n乙来。"),
        ("甲走。乙来。丙在。编辑：丁", "甲走。丙在。乙来。编辑：丁"),
        ("甲走!乙来?丙在。", "甲走!丙在。乙来?"),  # half-width marks, without a space
        ("甲走。乙来。丙在", None),
        ("甲走\n乙来。", None),
        ("标题\n甲走。乙来。", None),
        ("甲\n乙\n丙", None),
    ],
)
def test_what_no_mark_ends_stays_and_no_mark_is_added(text, reordered):
    assert follow_up_of(text, coherent=False) == reordered


PIECES = [
    PLACE,
    STAFF,
    GOODS,
    "但是天黑了。",
    "他走了。",
    "为什么？",
    "\n",
    "会议指出，今天一切都好。",
    "“走吧。”",
    "标题",
    "一、二。",
    "😀",
]


@settings(deadline=None, max_examples=60)
@given(st.lists(st.sampled_from(PIECES), max_size=10), st.integers(0, 3), st.booleans(), st.integers(1, 3))
def test_the_follow_up_has_the_same_sentences(pieces, seed, coherent, exchanges):
    text = "".join(pieces)
    follow_up = follow_up_of(text, seed, coherent=coherent, exchanges=exchanges)
    assert follow_up == follow_up_of(text, seed, coherent=coherent, exchanges=exchanges)
    if follow_up is None:
        return
    before, after = Analysis(text, "zh"), Analysis(follow_up, "zh")
    assert sorted(text[a:b] for a, b in before.spans) == sorted(follow_up[a:b] for a, b in after.spans)
    assert len(follow_up) == len(text.rstrip())
    assert follow_up.startswith(text[slice(*before.spans[0])].strip()[:2]) or not coherent


@pytest.mark.parametrize(("task", "name"), [("summarization", "MR7.2"), ("classification", "MR7.3")])
def test_a_relation_for_each_task_that_survives_pickling(task, name):
    relation = get_relation(task, name)
    text = LEAD + PLACE + STAFF
    source = Source(Input.of(text, language="zh"), Analysis(text, "zh"), "0:1")
    for variant in (relation, configured(relation, {"coherent": True})):
        follow_ups, note = variant.make_group(source)
        assert follow_ups
        assert note == ()
        assert pickle.loads(pickle.dumps(variant)).make_group(source) == (follow_ups, note)  # noqa: S301, our own bytes


@pytest.mark.slow
def test_a_long_text_is_done_in_time():
    assert follow_up_of(LEAD + (PLACE + STAFF + GOODS) * 3_000)
