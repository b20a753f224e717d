"""MR1 to MR3: a person, a country, an occupation by another. Known answers are of the study's tables, or plain."""

import pytest
from chinese_texts import all_follow_ups, follow_up_of

from audit.packs.chinese.countries import countries
from audit.packs.chinese.people import COMMON, GIVEN, NICKNAMES, occupations


def _only(text: str, *others: str) -> tuple[tuple[str, ...], dict[str, str]]:
    group = follow_up_of(1, text, *others)
    assert group is not None
    return group[0], dict(group[1])


def test_the_study_s_first_example_is_a_child_for_another():
    # table 2, MR1.1: 小明 by 小红
    (follow_up,), words = _only("小明喜欢打篮球。")
    assert follow_up == f"{words['小明']}喜欢打篮球。"
    both = {new for _, ((_, new),) in all_follow_ups(1, "小明喜欢打篮球。", seeds=40)}
    assert both & set(NICKNAMES["male"])
    assert both & set(NICKNAMES["female"])


def test_the_study_s_other_example_is_a_person_for_another_everywhere():
    # table 6, MR1.3: 练束梅 by 白露; 梅 is in women's names
    for (follow_up,), ((old, new),) in all_follow_ups(1, "记者练束梅报道。练束梅说，路很长。"):
        assert old == "练束梅"
        assert new[0] in COMMON
        assert new[1:] in GIVEN["female"]
        assert follow_up == f"记者{new}报道。{new}说，路很长。"


@pytest.mark.parametrize(
    ("text", "gender"),
    [
        ("记者陈香表示，她不知道。", "female"),
        ("记者陈香表示，他不知道。", "male"),
        ("记者陈香表示不知道。", "neutral"),
        ("记者陈香表示，他和她都不知道。", "neutral"),
        ("妻子陈香表示不知道。", "female"),
        ("记者张建国表示，她不知道。", "neutral"),  # a man's name, a woman's pronoun: neither is touched
        ("陈香（男，35岁）表示不知道。", "male"),
    ],
)
def test_new_names_agree_with_what_tells_the_gender(text, gender):
    groups = all_follow_ups(1, text)
    assert groups
    for _, ((_, new),) in groups:
        assert new[1:] in GIVEN[gender]


def test_both_texts_of_a_pair_have_the_same_new_name():
    (first, second), words = _only("记者练束梅报道。", "报道的人是记者练束梅。")
    assert first == f"记者{words['练束梅']}报道。"
    assert second == f"报道的人是记者{words['练束梅']}。"


def test_a_country_is_replaced_everywhere_by_one_of_its_continent():
    for (first, second), ((old, new),) in all_follow_ups(2, "他去年去了法国。", "法国很大，他喜欢法国。"):
        assert old == "法国"
        assert countries()[new].continent == "Europe"
        assert (first, second) == (f"他去年去了{new}。", f"{new}很大，他喜欢{new}。")


def test_only_members_of_the_united_nations_are_countries():
    names = set(countries())
    assert not names & {"台湾", "中国香港特别行政区", "科索沃", "西撒哈拉", "巴勒斯坦领土", "梵蒂冈"}
    assert {"中国", "美国", "法国", "阿联酋", "沙特阿拉伯"} <= names
    assert len(names) == len({country.code for country in countries().values()}) == 146
    assert all("（" not in name and len(name) > 1 for name in names)


def test_an_occupation_is_replaced_everywhere_by_one_of_its_field():
    for (first, second), ((old, new),) in all_follow_ups(3, "一名律师说，律师很忙。", "律师们都忙。"):
        assert old == "律师"
        assert new in ("法官", "公证员")
        assert (first, second) == (f"一名{new}说，{new}很忙。", f"{new}们都忙。")


def test_the_list_is_one_of_plain_professions():
    all_occupations = occupations()
    for occupation in all_occupations.values():
        assert occupation.name not in occupation.stand_ins
        assert len(set(occupation.stand_ins)) == len(occupation.stand_ins) > 0
        for name in (occupation.name, *occupation.stand_ins):
            assert 2 <= len(name) <= 5
            assert name.isalpha()
    assert not set(all_occupations) & {"总统", "主席", "总理", "销售总监", "经理", "书记", "其他"}
