"""Perturbations of Chinese texts: what they leave alone, what they carry, and which runs take them."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from audit.packs.chinese import perturbations
from audit.relations import Source, all_relations, get_relation
from audit.tasks import Input
from audit.text import Analysis

TASKS = ("classification", "inference", "question-answering", "sentiment", "similarity", "summarization")
OURS = [one for task in TASKS for one in all_relations(task) if one.languages == ("zh",) and one.name[:2] != "MR"]


def changed(name, *texts, task="classification", seed="1"):
    """The texts of the follow-up, or None where there is no group."""
    source = Source(Input(texts, ("zh",) * len(texts)), Analysis(texts[0], "zh"), seed)
    follow_ups = get_relation(task, name).follow_ups(source)
    return follow_ups[0].texts if follow_ups else None


@pytest.mark.slow
@pytest.mark.parametrize(
    ("perturb", "text", "new"),
    [
        ("homophones", "这里的风景非常美丽。", "这里的疯景非常美丽。"),
        ("look_alikes", "这里的风景非常美丽。", "这里的凤景非常美丽。"),
        ("swapped_characters", "这里的风景非常美丽。", "这里的景风非常美丽。"),
        ("repeated_characters", "这里的风景非常美丽。", "这里的风景景非常美丽。"),
        ("stray_spaces", "这里的风景非常美丽。", "这里的风景非常 美丽。"),
        ("script", "我们常常一起上学。", "我們常常一起上學。"),
        ("letter_width", "会议在2015年举行。", "会议在２０１５年举行。"),
        ("western_marks", "他来了，她走了。", "他来了,她走了."),
        ("last_mark", "他来了。", "他来了"),
        ("last_mark", "天黑了，他来了", "天黑了，他来了。"),
        ("dates", "他7月18日来。", "他7月18号来。"),
        ("dates", "新华社北京1月1日电，他来了。", None),
        ("other_links", "因为下雨，他没来。", "由于下雨，他没来。"),
        ("internet_spellings", "同学没有来。", "童鞋木有来。"),
        ("untrue_statement", "他是医生。", "“他是医生”这一说法不属实。"),
        ("true_statement", "他是医生。", "“他是医生”这一说法属实。"),
        ("doubled_sentence", "它很长。我喜欢它。", "它很长。我喜欢它。我喜欢它。"),
    ],
)
def test_what_becomes_of_a_text(perturb, text, new):
    assert getattr(perturbations, perturb)(Analysis(text, "zh"), random.Random(0)) == new


@pytest.mark.slow
@pytest.mark.parametrize("name", ["homophones", "look-alikes", "swapped-characters", "repeated-characters"])
def test_noise_makes_no_words_and_leaves_names_and_negations(name):
    text = "记者张建国没有在北京看到美丽的风景，会议代表不同意。"
    for seed in range(5):
        (new,) = changed(name, text, seed=str(seed))
        assert new != text
        for kept in ("张建国", "没有", "北京", "不"):
            assert kept in new
        assert len(new) - len(text) == (name == "repeated-characters") * (len(new) - len(text))
    assert changed(name, "他不在。") is None


@settings(max_examples=15, deadline=None)
@given(
    texts=st.lists(st.text("他她是有没不。，？“”《》3%月日张建国南京a \n", max_size=30), min_size=2, max_size=2),
    seed=st.integers(0, 3),
)
def test_any_text_makes_a_group_or_none(texts, seed):
    if not texts[0].strip():
        return
    for relation in OURS:
        source = Source(Input(tuple(texts), ("zh", "zh")), Analysis(texts[0], "zh"), str(seed))
        follow_ups = relation.follow_ups(source)
        assert all(one.texts != tuple(texts) for one in follow_ups)
        assert [one.texts for one in follow_ups] == [one.texts for one in relation.follow_ups(source)]
