"""MR3 of the study of Chinese systems: an occupation is replaced by another.

Source: Jin, Ding, Zhou 2022 (audit/relations/chinese.py), MRPpbs3 of section 3.1.1. The study takes any occupation of
BiasFinder's list; here it is one of the same field, so that the sentence stays sensible.
"""

import random
from collections.abc import Sequence

from audit.language import Analysis
from audit.language.chinese import DEFAULT
from audit.language.chinese_characters import is_traditional
from audit.language.chinese_occupations import Occupation, occupations
from audit.language.text import Token
from audit.language.wordsets import words
from audit.relations.base import Rewritten
from audit.relations.chinese import chinese
from audit.relations.substituting import TITLES, substituted

_BEFORE = words("v vd d ad p c u m q r f t s w k y b x")
"""Tags of words that stand before an occupation and are no part of it."""
_AFTER = words("w u d ad p c k r nr t m s f y x")
"""Tags of words that stand after an occupation and make no longer word with it."""
_DESCRIBING = words("老 年轻 著名 知名 优秀 好 大 女 男 美女 资深 普通 专业 新 小 真 假")
_NOT_BEFORE = words(
    "实习 见习 代理 辩护 委托 执业 注册 主治 助理 首席 总 准 副 金牌 特级 高级 女子 男子 肇事 网约 过往 刑事 "
    "民事 离婚 装修 施工 建筑 打工 装卸 号"
)
"""Words that go with the occupation that they stand before, and not with others."""
_NOT_AFTER = words(
    "培训 招聘 考试 面试 报名 认证 管理 评选 大赛 协会 招待会 会 站 节 证 团 手记 资格 联合会 俱乐部 事务所 "
    "执业 执法 家属 之家 家 部 队 室 界 级 开车 驾车 驾驶 开庭 审理 判决 宣判 判 判令 判处 裁定 驳回 手术 诊断 "
    "授课 讲课 上课 执导 导演 主演 演唱 创作 代理 辩护 执教"
)
"""Words that make a compound with the occupation before them, or say what only it does."""


@chinese(3, family="same-property substitution", params={"tagger": DEFAULT})
def occupation(texts: Sequence[Analysis], choices: random.Random, tagger: str = DEFAULT) -> Rewritten | None:
    """One occupation is replaced by another wherever it stands; the output stays.

    No group where the word is part of a longer one (记者会, 货车司机, 王老师). Texts in traditional characters make no
    group.

    >>> occupation([Analysis("一名律师说，他同意。", "zh")], random.Random(0)).texts
    ('一名公证员说，他同意。',)
    """
    known = occupations()
    there = [name for name in known if any(name in text.text for text in texts)]
    if not there:
        return None
    tagged = [text.tagged_by(tagger) for text in texts]
    able = [known[name] for name in there if _alone(known[name], tagged)]
    if not able or any(is_traditional(text.text) for text in texts):
        return None
    choices.shuffle(able)
    for old in able:
        new = [name for name in old.stand_ins if not any(name in text.text for text in texts)]
        if new and (made := substituted(tagged, {old.name: choices.choice(new)})):
            return made
    return None


def _alone(one: Occupation, texts: Sequence[Analysis]) -> bool:
    """Whether the word is the occupation, and no part of another word, wherever it stands in the texts."""
    for text in texts:
        if any(one.name in title for title in TITLES.findall(text.text)):
            return False
        tokens = text.tokens
        for at, token in enumerate(tokens):
            if token.text == one.name and not (_free_before(one, tokens, at) and _free_after(tokens, at)):
                return False
    return True


def _free_before(one: Occupation, tokens: Sequence[Token], at: int) -> bool:
    if at == 0 or tokens[at - 1].end != tokens[at].start:
        return True
    before = tokens[at - 1]
    if before.text in _NOT_BEFORE or before.text in occupations() or before.text in "_-·":
        return False
    if before.text in _DESCRIBING or before.tag in _BEFORE or before.tag == "ns":
        return True
    if before.tag == "nr":
        return one.after_names
    return one.after_nouns and before.tag[0] in "nj"


def _free_after(tokens: Sequence[Token], at: int) -> bool:
    if at + 1 == len(tokens) or tokens[at].end != tokens[at + 1].start:
        return True
    after = tokens[at + 1]
    if after.text in _NOT_AFTER or after.text in occupations() or after.text in "_-·":
        return False
    if after.tag == "m" and at + 2 < len(tokens) and tokens[at + 2].text.endswith(("队", "局", "所")):
        return False  # 交警九大队
    return after.tag in _AFTER or after.tag in ("v", "vd")
