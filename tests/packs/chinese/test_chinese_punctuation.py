"""MR4 of the study of Chinese systems: only the chosen mark changes, and nothing is harmed by it."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit.packs.chinese.relations import marks
from audit.relations.expect import replace_words
from audit.text import Analysis


def follow_up_of(*texts, seed=0, **params):
    return marks([Analysis(text, "zh") for text in texts], random.Random(seed), **params)


@pytest.mark.parametrize(
    ("text", "new"),
    [
        ("他说“走”。", "他说「走」。"),
        ("他说「走」。", "他说“走”。"),
        ("“他说‘走’。”", "「他说『走』。」"),
        ("天亮了!走吧。", "天亮了！走吧。"),
        ("谁来了?你好!", "谁来了？你好！"),
        ("记者(张三)报道", "记者（张三）报道"),
        ("他走了；我来了。", "他走了，我来了。"),
    ],
)
def test_the_mark_becomes_the_other_one(text, new):
    assert follow_up_of(text).texts == (new,)


@pytest.mark.parametrize(
    ("text", "new"),
    [
        ("警方提醒：小心", "警方提醒:小心"),
        ("快走！走了？", "快走!走了?"),
        ("【提醒】小心", "[提醒]小心"),
        ("图（一）", "图(一)"),
    ],
)
def test_marks_become_half_width_on_demand(text, new):
    assert follow_up_of(text) is None
    assert follow_up_of(text, half_width=True).texts == (new,)
    assert follow_up_of("他说：“走。”", half_width=True).texts == ("他说：「走。」",)  # only where nothing else can be


SIGNS = "“”‘’「」，。！？；：（）【】、!?;:(),.…—3a他走天 \n😀"


@given(st.lists(st.text(SIGNS, max_size=30), min_size=1, max_size=2), st.integers(0, 9), st.booleans())
def test_only_the_chosen_mark_changes_and_the_check_could_do_the_same(texts, seed, half_width):
    follow_up = follow_up_of(*texts, seed=seed, half_width=half_width)
    if follow_up is None:
        return
    olds = {old for old, _ in follow_up.words}
    assert follow_up.texts == tuple(replace_words(text, follow_up.words) for text in texts)
    for text, new in zip(texts, follow_up.texts, strict=True):
        assert len(text) == len(new)
        assert all(sign == new_sign for sign, new_sign in zip(text, new, strict=True) if sign not in olds)
        assert not olds & set(new)
        assert Analysis(new, "zh").spans == Analysis(text, "zh").spans
    assert follow_up_of(*texts, seed=seed, half_width=half_width) == follow_up
