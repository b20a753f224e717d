"""MR2 of the study of Chinese systems: a country is replaced by another.

Source: Jin, Ding et al. 2022 (audit/relations/chinese.py), MRPpbs2 of section 3.1.1. The study draws any country from a
list; here it is one of the same continent that a text can speak of in the same way.
"""

import random
from collections.abc import Sequence

from audit.language import Analysis
from audit.language.chinese import DEFAULT
from audit.language.chinese_countries import Country, abbreviated, cities, countries, national, stand_ins
from audit.language.chinese_script import is_traditional
from audit.language.text import Token
from audit.relations.base import Rewritten
from audit.relations.chinese import chinese
from audit.relations.substituting import TITLES, substituted

_FAMILY = "same-property substitution"
_CHINA = frozenset(
    "我国 祖国 我党 中华 华人 中共 党中央 国务院 人大 人大代表 政协 全国人大 社会主义 习近平 解放军 新时代 人民币 央视 春节".split()
)
"""Words of a text on China's own affairs, in which no other country can take its place."""
_PLAIN = frozenset({"uj", "d", "p", "u", "ul", "uz", "ad", "r"})
"""Tags of words that end a name: particles, conjunctions, adverbs, prepositions, pronouns."""
_NO_PLAIN = frozenset({"首都", "首相", "高速", "必发", "从", "以", "于", "之"})
"""Words of names that have such tags."""
_COUNTED = frozenset("一两三四五六七八九十百千万亿几数多第个家名位次架艘年条部场项栋列套代批种")
_BODIES = ("会", "局", "部", "院", "所", "社", "公司", "集团", "银行", "中心", "大学", "联盟", "组织")
_MARKS = frozenset("，。、；：！？”’）…,;!?")
_CLOSED = frozenset("v vd vg d ad p c u uj ul uz ug ud uv m mq q r f t s w k y zg".split())
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
    tagged = [text.tagged_by(tagger) for text in texts]
    words = frozenset(token.text for text in tagged for token in text.tokens)
    able = [known[name] for name in there if _alone(known[name], tagged, words)]
    if not able or any(is_traditional(text.text) for text in texts):
        return None
    choices.shuffle(able)
    for old in able:
        new = [name for name in stand_ins(old, words) if not any(name in text.text for text in texts)]
        if new and (made := substituted(tagged, {old.name: choices.choice(new)})):
            return made
    return None


def _alone(country: Country, texts: Sequence[Analysis], words: frozenset[str]) -> bool:
    """Whether the name stands for the country, and nothing else, wherever it stands in the texts."""
    if country.name not in words or abbreviated(country, words):
        return False
    if not words.isdisjoint(cities().get(country.name, ())) or (country.code == "CN" and not words.isdisjoint(_CHINA)):
        return False
    for text in texts:
        if any(country.name in title for title in TITLES.findall(text.text)):
            return False
        tokens = text.tokens
        for at, token in enumerate(tokens):
            if token.text == country.name and not (_free_before(tokens, at) and _free_after(tokens, at)):
                return False
            if token.text == country.letter and (token.tag in ("j", "ns") or token.text in _PLAIN_LETTERS):
                return False
    return True


def _free_before(tokens: Sequence[Token], at: int) -> bool:
    """Whether the word before a country's name is no part of a longer name."""
    if at == 0:
        return True
    before = tokens[at - 1]
    if before.text in countries() or before.end != tokens[at].start:
        return True
    if before.text in "（(" and tokens[at].end < tokens[-1].end and tokens[at + 1].text in "）)":
        return False
    return before.text not in "·-—_《新老大东西南北" and (before.text == "全" or before.tag in _CLOSED)


def _free_after(tokens: Sequence[Token], at: int) -> bool:
    """Whether the words after a country's name are no part of a longer name.

    Nouns after it must be ones that any country has, up to the first word that is none; a person's name may follow
    them (美国总统特朗普).
    """
    for place in range(at + 1, len(tokens)):
        token = tokens[place]
        if tokens[place - 1].end != token.start:
            return True
        first = place == at + 1
        if token.tag == "w":
            return token.text[0] in _MARKS or not first
        if token.text in national():
            continue
        if token.text in _NO_PLAIN:
            return False
        if token.text in countries():
            return True
        if token.tag == "c":
            return not _organised(tokens, place + 1)
        if token.tag in _PLAIN or (token.tag in ("v", "m", "f") and not first):
            return True
        if token.tag in ("nr", "nrt") and not first:
            return True
        return token.tag == "m" and set(token.text) <= _COUNTED
    return True


def _organised(tokens: Sequence[Token], at: int) -> bool:
    """Whether nouns from here on end as the name of an organisation does (房地产 + 及 + 住宅 + 研究会)."""
    for token in tokens[at:]:
        if token.tag[0] not in "nvabj" or token.tag == "nr":
            return False
        if token.text.endswith(_BODIES):
            return True
    return False
