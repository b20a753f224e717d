"""MR7 of the study of Chinese systems: two texts change places, or sentences do that do not need each other."""

import random

from hypothesis import given, settings
from hypothesis import strategies as st

from audit.packs.chinese.relations import reordered, swapped
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


def test_all_but_the_first_are_shuffled():
    # Table 4 of the study: the second and the third sentence change places though both speak of 她.
    text = "布莱曼表示，她将乘飞船进入空间站。她希望与孩子们合唱。为了梦想，她每天训练。"
    assert follow_up_of(text) is None
    assert (
        follow_up_of(text, coherent=False)
        == "布莱曼表示，她将乘飞船进入空间站。为了梦想，她每天训练。她希望与孩子们合唱。"
    )


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
