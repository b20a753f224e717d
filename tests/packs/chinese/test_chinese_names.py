"""MR1: a person's name or a pronoun by another. Known answers are of the study's tables, or plain from the sentence."""

import pytest
from chinese_texts import all_follow_ups, follow_up_of

from audit.packs.chinese.people import COMMON, GIVEN, NICKNAMES


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


def test_a_child_whose_gender_is_told_keeps_it():
    for _, ((_, new),) in all_follow_ups(1, "小明喜欢打篮球，他跑得快。"):
        assert new in NICKNAMES["male"]


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


def test_a_person_who_is_also_called_by_the_family_name_keeps_it():
    for (follow_up,), words in all_follow_ups(1, "市民王建国说，车丢了。老王很生气，王先生报了警。"):
        assert dict(words)["王建国"].startswith("王")
        assert follow_up.endswith("老王很生气，王先生报了警。")


def test_the_given_name_alone_changes_too_and_is_left_where_it_is_a_word():
    groups = all_follow_ups(1, "记者张晓燕表示同意。晓燕的母亲也同意。")
    for (follow_up,), words in groups:
        new = dict(words)["张晓燕"]
        assert follow_up == f"记者{new}表示同意。{new[1:]}的母亲也同意。"
    assert follow_up_of(1, "记者李建国表示同意，建国以来没有变。") is None


def test_a_family_name_that_stands_alone_keeps_it():
    assert follow_up_of(1, "蒋介石表示，反蒋的人很多。")[0][0].startswith("蒋")


def test_people_known_by_family_name_and_title():
    (follow_up,), words = _only("王女士说，王女士的车丢了。")
    new = words["王女士"]
    assert new[0] != "王"
    assert follow_up == f"{new}说，{new}的车丢了。"
    (follow_up,), words = _only("男子姓王，王某说不知道，王某某也不知道。")
    new = words["王某"][0]
    assert follow_up == f"男子姓{new}，{new}某说不知道，{new}某某也不知道。"


def test_a_title_whose_bearer_is_also_named_in_full_makes_no_group_of_its_own():
    assert follow_up_of(1, "王先生和王芳来了。") is None


def test_pronouns_change_together():
    assert follow_up_of(1, "他的房子很大，他们都喜欢。") == (
        ("她的房子很大，她们都喜欢。",),
        (("他", "她"), ("他们", "她们")),
    )
    assert follow_up_of(1, "她们走了。") == (("他们走了。",), (("她们", "他们"),))
    assert follow_up_of(1, "她走了，其实不远。") == (("他走了，其实不远。",), (("她", "他"),))


@pytest.mark.parametrize(
    "text",
    [
        "他和她走了。",
        "他的妻子走了。",
        "特朗普表示，他不同意。",
        "他走了，其他人没走。",  # 他 also stands inside a longer word
        "自己和大家都好。",
        "他们卖掉了公司。",  # a firm, or men and women
        "吉他很贵。",
        "苹果、三星及其他公司都参加了会议。",  # the tagger cuts 及其 + 他
    ],
)
def test_pronouns_stay_where_a_change_would_not_agree_or_could_not_be_told(text):
    assert follow_up_of(1, text) is None


@pytest.mark.parametrize(
    "text",
    [
        "PSV埃因霍温主场迎战阿森纳。",  # a club's town
        "约翰·史密斯表示同意。",
        "江西昌荣律师事务所成立。",
        "《张建国传》的作者没有说。",
        "李宁公司宣布涨价。",
        "小梁村很大。",
        "记者李强报道，李强国没有报道。",  # one name in another
        "房间里发现了小强，大家都怕。",  # a cockroach
        "打出一个小胡，赢了。",  # mahjong
        "开机后有一个小红亮点。",
    ],
)
def test_what_is_not_surely_a_person_or_part_of_a_longer_name_stays(text):
    assert follow_up_of(1, text) is None


def test_both_texts_of_a_pair_have_the_same_new_name():
    (first, second), words = _only("记者练束梅报道。", "报道的人是记者练束梅。")
    assert first == f"记者{words['练束梅']}报道。"
    assert second == f"报道的人是记者{words['练束梅']}。"
