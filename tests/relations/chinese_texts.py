"""What tests of the Chinese relations of one property share: follow-ups of texts, and texts put together at random."""

import random

from hypothesis import strategies as st

from audit.relations import Source, get_relation
from audit.relations.base import Rewriting, Words
from audit.tasks import Input
from audit.text import Analysis

PLACES = {1: "similarity", 2: "summarization", 3: "classification"}


def relation(number: int, place: int = 3) -> Rewriting:
    chosen = get_relation(PLACES[place], f"MR{number}.{place}")
    assert isinstance(chosen, Rewriting)
    return chosen


def follow_up_of(number: int, *texts: str, seed: str = "1", place: int = 3) -> tuple[tuple[str, ...], Words] | None:
    """The follow-up's texts and the words replaced, or None where there is no group."""
    first, *_ = texts
    source = Source(Input(texts, ("zh",) * len(texts)), Analysis(first, "zh"), seed)
    follow_ups, words = relation(number, place).make_group(source)
    return (follow_ups[0].texts, words) if follow_ups else None


def all_follow_ups(number: int, *texts: str, seeds: int = 20) -> list[tuple[tuple[str, ...], Words]]:
    """What comes of a source with several seeds."""
    groups = [follow_up_of(number, *texts, seed=str(seed)) for seed in range(seeds)]
    return [group for group in groups if group is not None]


def pieces(*extra: str) -> st.SearchStrategy[str]:
    """Texts of clauses that hold people, countries and occupations, also inside longer words, and of anything else."""
    clauses = [
        *(
            "记者李强报道",
            "张建国表示同意",
            "王女士来了",
            "小王和老张吵架了",
            "他走了",
            "她们不知道",
            "其他人都在",
            "吉他很贵",
        ),
        *(
            "他去过法国",
            "中国移动宣布",
            "美国政府表示反对",
            "印度洋很大",
            "中国队赢了",
            "法国、英国和德国都同意",
            "英方拒绝",
        ),
        *(
            "一名医生说",
            "记者会开始了",
            "派出所民警赶到现场",
            "教师节快乐",
            "律师表示",
            "货车司机受伤",
            "《演员的诞生》",
        ),
        *("😀", "iPhone 15", "ＡＢＣ１２３", "　", "總統發表談話", "12日", "……", "\n"),
        *extra,
    ]
    piece = st.one_of(st.sampled_from(clauses), st.text("中国人的他她王李张法美医生记者，。 a😀", max_size=6))
    return st.lists(piece, min_size=1, max_size=6).map("，".join)


LONG = "".join(random.Random(1).choices(["记者李强报道。", "他去过法国。", "一名医生说话了。", "天气很好。"], k=5400))
"""A little more than 100 kB of UTF-8."""
