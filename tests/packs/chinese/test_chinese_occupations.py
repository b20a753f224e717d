"""MR3: an occupation by another."""

import pytest
from chinese_texts import all_follow_ups, follow_up_of

from audit.packs.chinese.people import occupations


@pytest.mark.parametrize(
    "text",
    [
        "车上乘客众多，司机想跑。",
        "博物馆收藏了画家的油画。",
        "大学生退役士兵可以报名。",
        "有困难找警察。",
        "有的司法人员和律师见面。",
        "四位老师喊冤，他们是贵州教师。",
    ],
)
def test_no_occupation_that_the_rest_of_the_text_gives_away(text):
    assert follow_up_of(3, text) is None


def test_an_occupation_is_replaced_everywhere_by_one_of_its_field():
    for (first, second), ((old, new),) in all_follow_ups(3, "一名律师说，律师很忙。", "律师们都忙。"):
        assert old == "律师"
        assert new in ("法官", "公证员")
        assert (first, second) == (f"一名{new}说，{new}很忙。", f"{new}们都忙。")


def test_the_new_one_is_not_in_the_texts():
    for _, words in all_follow_ups(3, "他是医生，她是护士。"):
        assert words in ((("医生", "药剂师"),), (("护士", "药剂师"),))
    assert follow_up_of(3, "记者从公安局获悉，编辑和通讯员都在。") is None


@pytest.mark.parametrize(
    "text",
    [
        "记者会昨天举行。",
        "教师节快乐。",
        "演员表很长。",
        "医生集团成立了。",
        "货车司机受伤了。",
        "王老师来了。",
        "《演员的诞生》开播了。",
        "总统和主席来了。",
        "实习记者来了。",
        "交警九大队成立了。",
        "律师事务所成立了。",
        "公务员考试开始了。",
        "客户经理来了。",
    ],
)
def test_longer_words_offices_and_forms_of_address_stay(text):
    assert follow_up_of(3, text) is None


@pytest.mark.parametrize(
    ("text", "old"),
    [
        ("老教师退休了。", "教师"),
        ("派出所民警赶到现场。", "民警"),
        ("中山大学教授王燕鸣表示同意。", "教授"),
        ("（记者李强）昨天的雨很大。", "记者"),
        ("他告诉记者，没有问题。", "记者"),
        ("两名年轻的演员来了。", "演员"),
    ],
)
def test_what_describes_or_names_somebody_may_stand_beside(text, old):
    (follow_up,), ((replaced, new),) = follow_up_of(3, text) or ((), ())
    assert replaced == old
    assert follow_up == text.replace(old, new)


def test_the_list_is_one_of_plain_professions():
    all_occupations = occupations()
    for occupation in all_occupations.values():
        assert occupation.name not in occupation.stand_ins
        assert len(set(occupation.stand_ins)) == len(occupation.stand_ins) > 0
        for name in (occupation.name, *occupation.stand_ins):
            assert 2 <= len(name) <= 5
            assert name.isalpha()
    assert not set(all_occupations) & {"总统", "主席", "总理", "销售总监", "经理", "书记", "其他"}


@pytest.mark.parametrize("text", ["音乐家合奏团来了。", "出租驾驶司机很多。", "出租车上，司机说他很累。"])
def test_what_only_this_occupation_does_stays(text):
    assert follow_up_of(3, text) is None
