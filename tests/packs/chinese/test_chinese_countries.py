"""MR2: a country by another."""

import pytest
from chinese_texts import all_follow_ups, follow_up_of

from audit.packs.chinese.countries import countries, stand_ins


def test_a_country_is_replaced_everywhere_by_one_of_its_continent():
    for (first, second), ((old, new),) in all_follow_ups(2, "他去年去了法国。", "法国很大，他喜欢法国。"):
        assert old == "法国"
        assert countries()[new].continent == "Europe"
        assert (first, second) == (f"他去年去了{new}。", f"{new}很大，他喜欢{new}。")


def test_the_new_country_is_not_in_the_texts_and_has_the_office_and_region():
    for _, ((_, new),) in all_follow_ups(2, "美国总统今天访问了巴西。", seeds=10):
        assert new not in ("美国", "巴西", "加拿大")
    for _, ((old, new),) in all_follow_ups(2, "泰国在东南亚。", seeds=10):
        assert old == "泰国"
        assert new in ("越南", "马来西亚", "印度尼西亚", "菲律宾")
    assert stand_ins(countries()["德国"], frozenset({"首相", "英国"})) == [
        "西班牙",
        "荷兰",
        "比利时",
        "丹麦",
        "瑞典",
        "挪威",
    ]


def test_a_token_of_country_and_a_common_noun_is_two():
    (follow_up,), ((old, new),) = follow_up_of(2, "美国政府昨天宣布了。") or ((), ())
    assert old == "美国"
    assert follow_up == f"{new}政府昨天宣布了。"
    assert follow_up_of(2, "中国队昨天赢了。")


@pytest.mark.parametrize(
    "text",
    [
        "中国人民银行昨日宣布降息。",
        "美国航空公司宣布裁员。",
        "中国移动宣布降价。",
        "法国梧桐很高。",
        "英超开始了。",
        "中国上海很大。",  # a city of the country
        "法国（巴黎）很远。",
        "他在法国巴黎留学。",
        "《中国新闻周刊》说，中国很大。",
        "花旗银行（中国）有限公司成立了。",
        "法治中国",
        "他获得感动中国年度人物荣誉。",
        "印度洋很大。",
        "美国宣布，美方将采取行动。",
        "中国和我国的邻国都同意。",
        "12日本人等了一天。",
        "中国房地产及住宅研究会成立了。",
        "台湾和香港都很远。",
    ],
)
def test_names_that_are_part_of_another_one_stay(text):
    assert follow_up_of(2, text) is None


@pytest.mark.parametrize(
    "text", ["他会说英语，去过英国。", "他用美元在美国买房。", "美国总统今天宣布。", "法国、英国和德国都同意。"]
)
def test_languages_currencies_offices_and_lists_do_not_hinder(text):
    assert follow_up_of(2, text)


def test_only_members_of_the_united_nations_are_countries():
    names = set(countries())
    assert not names & {"台湾", "中国香港特别行政区", "科索沃", "西撒哈拉", "巴勒斯坦领土", "梵蒂冈"}
    assert {"中国", "美国", "法国", "阿联酋", "沙特阿拉伯"} <= names
    assert len(names) == len({country.code for country in countries().values()}) == 146
    assert all("（" not in name and len(name) > 1 for name in names)


def test_a_firm_that_is_called_by_a_country_stays():
    assert follow_up_of(2, "美国水务公司宣布涨价。") is None
