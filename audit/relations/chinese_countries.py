"""MR2 of the study of Chinese systems: a country is replaced by another.

Source: Jin, Ding, Zhou 2022 (audit/relations/chinese.py), MRPpbs2 of section 3.1.1. The study draws any country from a
list; here it is one of the same continent that a text can speak of in the same way.
"""

import random
from collections.abc import Sequence

from audit.language import Analysis
from audit.language.chinese import DEFAULT
from audit.language.chinese_characters import is_traditional
from audit.language.chinese_countries import (
    Country,
    Parted,
    abbreviated,
    cities,
    countries,
    letters,
    national,
    stand_ins,
)
from audit.language.text import Token
from audit.language.wordsets import words
from audit.relations.base import Rewritten
from audit.relations.chinese import chinese
from audit.relations.substituting import TITLES, substituted

_FAMILY = "same-property substitution"
_OWN = words("我国 祖国 我党")
_CHINA = words(
    "中华 华人 中共 党中央 国务院 人大 人大代表 政协 全国人大 社会主义 习近平 解放军 新时代 人民币 央视 春节 "
    "中华民族 汉族 十九大 十八大 改革开放"
)
"""Words of a sentence on China's own affairs, in which no other country can take its place."""
_BORDERS = words("毗邻 接壤 边境 边界 交界 邻国 邻近")
"""Words of a sentence on where a country lies."""
_PLAIN = words("d p u ad r y")
"""Tags of words that end a name: particles, adverbs, prepositions, pronouns."""
_NAMES_AFTER = words(
    "普法 首都 高速 必发 从 以 于 之 移动 联通 电信 网通 制造 建设 石化 石油 出版 侦探 推介 防卫 "
    "人寿 烟草 卫星 国旅 财险 太保 平安 船舶 电力 电子 邮政 "
    "铁路 核电 国际 国家 人民 联合 太平洋 艺电 通用 现代 人居 福利彩票 星际争霸 黄页 知网 视觉 裁判 长城 "
    "航天 航空 航油 交建 建筑 化工 信达 信托 保险 证券 "
    "期货 基金 商业 世界 全球 海关 海运 远洋 南方 东方 北方 中央 中铁 民航 民生 招商 动向 风险 社科 科学 "
    "工商 农业 进出口 足球 好人 梦 共产党 国防 帝国 王朝 皇家 革命"
)
"""Words of names that begin with a country's."""
_COUNTED = frozenset("一两三四五六七八九十百千万亿几数多第个家名位次架艘年条部场项栋列套代批种")
_UNITS = ("年", "月", "日", "名", "个", "家", "岁", "位")
_BODIES = tuple(words("会 局 部 院 所 社 厅 署 公司 集团 银行 中心 大学 联盟 组织 学校 中学 法院 党"))
_WORKS = tuple(
    words("报 网 杯 奖 节 展 台 赛 刊 版 杂志 论坛 平台 频道 指数 系统 计划 战略 邦 州 省 市 县 区 岛 城 语 话 战争 游")
)
_SENTENCE = 100
"""Tokens on either side, at most, that count as the same sentence."""
_ENDS = frozenset("。！？!?；;")
_MARKS = frozenset("，。、；：！？”’）…,;!?")
_CLOSED = words("v vd Vg vn d ad p c u m q r f t s w k y b l i x")
"""Tags of words that stand before a name and are no part of one (法治中国 is one)."""
_PLAIN_LETTERS = frozenset("美英法德俄韩澳")
"""Letters of countries that are words of their own in hardly any text on one."""


@chinese(2, family=_FAMILY, params={"tagger": DEFAULT})
def country(texts: Sequence[Analysis], choices: random.Random, tagger: str = DEFAULT) -> Rewritten | None:
    """One country is replaced by another wherever it stands; the output stays.

    No group where the name is part of another one (中国移动, 美国纽约, a title), or the text also speaks of the country
    by its letter (美方, 中美), or, of China, as one's own (我国). Texts in traditional characters make no group.

    >>> country([Analysis("他去年在法国留学。", "zh")], random.Random(0)).words
    (('法国', '芬兰'),)
    """
    known = countries()
    there = [name for name in known if any(name in text.text for text in texts)]
    if not there:
        return None
    tagged = [Parted(text.text, text.tagged_by(tagger).tokens) for text in texts]
    spoken = frozenset(token.text for text in tagged for token in text.tokens)
    able = [known[name] for name in there if _alone(known[name], tagged, spoken)]
    if not able or any(is_traditional(text.text) for text in texts):
        return None
    choices.shuffle(able)
    for old in able:
        new = [name for name in stand_ins(old, spoken) if not any(name in text.text for text in texts)]
        if new and (made := substituted(tagged, {old.name: choices.choice(new)})):
            return made
    return None


def _alone(country: Country, texts: Sequence[Analysis], spoken: frozenset[str]) -> bool:
    """Whether the name stands for the country, and nothing else, wherever it stands in the texts."""
    if country.name not in spoken or abbreviated(country, spoken):
        return False
    if country.code == "CN" and not spoken.isdisjoint(_OWN):
        return False
    near = _BORDERS | cities().get(country.name, frozenset()) | (_CHINA if country.code == "CN" else frozenset())
    for text in texts:
        if any(country.name in title for title in TITLES.findall(text.text)):
            return False
        tokens = text.tokens
        for at, token in enumerate(tokens):
            if token.text == country.letter and _is_letter(tokens, at):
                return False
            if token.text != country.name:
                continue
            if not (_free_before(tokens, at) and _free_after(tokens, at)) or _beside(near, tokens, at):
                return False
    return True


def _is_letter(tokens: Sequence[Token], at: int) -> bool:
    """Whether a token that is a country's letter stands for the country: by its tag, or beside another's (中 + 美)."""
    token, around = tokens[at], [*tokens[max(0, at - 1) : at], *tokens[at + 1 : at + 2]]
    if token.tag in ("j", "ns") or token.text in _PLAIN_LETTERS:
        return True
    return any(one.text in letters() and token.start in (one.end, one.start - 1) for one in around)


def _beside(near: frozenset[str], tokens: Sequence[Token], at: int) -> bool:
    """Whether the sentence around a token has one of these words."""
    for way in (-1, 1):
        place = at + way
        while 0 <= place < len(tokens) and abs(place - at) < _SENTENCE and tokens[place].text not in _ENDS:
            if tokens[place].text in near:
                return True
            place += way
    return False


def _free_before(tokens: Sequence[Token], at: int) -> bool:
    """Whether the word before a country's name is no part of a longer name."""
    if at == 0:
        return True
    before = tokens[at - 1]
    if before.text[-1].isdigit() and tokens[at].text[0] == "日":
        return False  # 12日本人
    if before.text == "感动":
        return False  # a television programme
    if before.text in countries() or before.end != tokens[at].start:
        return True
    if before.text in "（(" and at + 1 < len(tokens) and tokens[at + 1].text in "）)":
        return False
    if before.tag == "t" and at + 1 < len(tokens) and tokens[at + 1].text in "”》":
        return False
    return before.text not in "·-—_《新老大东西南北" and (before.text == "名" or before.tag in _CLOSED)


def _free_after(tokens: Sequence[Token], at: int) -> bool:
    """Whether the words after a country's name are no part of a longer name.

    The nouns after it, up to the first word that is none, must be ones that any country has, but for one that no
    company is called by; a person's name may follow them (美国总统特朗普).
    """
    strange = 0
    for place in range(at + 1, len(tokens)):
        token = tokens[place]
        first = place == at + 1
        if tokens[place - 1].end != token.start or token.text in countries():
            return True
        if token.tag == "w":
            return token.text[0] in _MARKS or not first
        if token.text in _NAMES_AFTER or (first and tokens[at].text + token.text == "西班牙人"):
            return False  # the latter is a football club
        if token.text in national():
            if token.tag == "v":
                return not _organised(tokens, place + 1)
            continue
        if token.tag == "m":
            after = tokens[place + 1].text if place + 1 < len(tokens) else ""
            return after not in countries() and (set(token.text) <= _COUNTED or (first and after[:1] in _UNITS))
        if token.tag == "v" and not first:
            return True
        if token.tag in ("c", "v"):
            return (token.tag == "c" or len(token.text) > 1) and not _organised(tokens, place + 1)
        if token.tag in _PLAIN or (token.tag in ("nr", "f", "t") and not first):
            return True
        strange += 1
        if strange > 1 or token.tag != "n" or len(token.text) < 2 or token.text.endswith((*_BODIES, *_WORKS)):
            return False
    return True


def _organised(tokens: Sequence[Token], at: int) -> bool:
    """Whether nouns from here on end as the name of an organisation does (房地产 + 及 + 住宅 + 研究会)."""
    for token in tokens[at:]:
        if token.tag[0] not in "nvabj" or token.tag == "nr":
            return False
        if token.text.endswith((*_BODIES, *_WORKS)):
            return True
    return False
