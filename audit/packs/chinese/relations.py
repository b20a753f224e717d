"""The seven relations of the study of Chinese systems, each written once for its three tasks.

Source: Jin, Ding, Zhou, "Evaluation of Chinese natural language processing system based on metamorphic testing"
(Mathematics 10(8), 1276, 2022), sections 3.1 and 4. A relation of number N is MRN.1 of similarity, MRN.2 of
summarization and MRN.3 of classification. Section 4.2 prints the relation between summaries as sum(Ts) =
Replace(sum(Tf)), section 5.1 as Replace(sum(Ts)) = sum(Tf). Only the latter can hold where the new word is in the text
already; it is what is checked.
"""

import random
import re
import string
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, partial
from itertools import pairwise
from typing import Literal

from audit.packs.chinese.coherence import exchangeable, is_ended
from audit.packs.chinese.countries import (
    Country,
    Parted,
    cities,
    countries,
    is_abbreviated,
    letters,
    national,
    stand_ins,
)
from audit.packs.chinese.people import (
    COMMON,
    FAMILIES,
    GIVEN,
    NICKNAMES,
    Gender,
    Occupation,
    Person,
    occupations,
    people,
)
from audit.packs.chinese.synonyms import THESAURI, best, bounds, fits, pairs, replaceable, thesaurus
from audit.packs.chinese.taggers import DEFAULT
from audit.packs.chinese.taggers import chinese as tokens_of
from audit.packs.chinese.traditional import as_simplified, in_simplified
from audit.relations.base import Carry, CheckParams, Rewrite, Rewriting, Rewritten, Words, WordsCheck, unchanged
from audit.relations.expect import (
    TITLES,
    exchange_words,
    rearrange,
    replace_words,
    same_interval,
    same_label,
    same_text,
    substitute,
)
from audit.relations.registry import register
from audit.text import Analysis
from audit.text.tokens import Token, words

TASKS: Mapping[str, tuple[int, WordsCheck]] = {
    "similarity": (1, same_interval),
    "summarization": (2, same_text),
    "classification": (3, same_label),
}
"""Tasks of the study, their place in the relations' names, and the check that "consistent outputs" means there."""


def wrong_count(params: Mapping[str, object], name: str) -> str | None:
    """What is wrong with a parameter that says how many things change; None: nothing.

    >>> wrong_count({"words": 0}, "words")
    'words is 0; allowed are whole numbers from 1 to 1000'
    """
    count = params[name]
    fits = isinstance(count, int) and 1 <= count <= 1000
    return None if fits else f"{name} is {count}; allowed are whole numbers from 1 to 1000"


def chinese(
    number: int,
    *,
    family: str,
    tasks: Sequence[str] = tuple(TASKS),
    carry: Carry = unchanged,
    version: str = "1",
    params: Mapping[str, object] | None = None,
    check_params: CheckParams | None = None,
) -> Callable[[Rewrite], Rewrite]:
    """Register the decorated rewriting for these tasks; the first line of its docstring is the summary.

    A rewriting with parameters takes them by name after the texts and the choices.
    """

    def keep(rewrite: Rewrite) -> Rewrite:
        summary = (rewrite.__doc__ or "").strip().splitlines()[0]
        for task in tasks:
            place, check = TASKS[task]
            register(
                Rewriting(
                    task=task,
                    name=f"MR{number}.{place}",
                    family=family,
                    summary=summary,
                    unit="any",
                    carry=carry,
                    languages=("zh",),
                    version=version,
                    params=params or {},
                    check_params=check_params,
                    rewrite=rewrite,
                    check=check,
                    counterpart=f"MR{number}",
                )
            )
        return rewrite

    return keep


# MR2 of the study of Chinese systems: a country is replaced by another.
#
# Source: Jin, Ding, Zhou 2022, MRPpbs2 of section 3.1.1. The study draws any country
# from a list; here it is one of the same continent that a text can speak of in the same way.

_SAME_PROPERTY = "same-property substitution"
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
    "水务 燃气 航运 工商 农业 进出口 足球 好人 梦 共产党 国防 帝国 王朝 皇家 革命"
)
"""Words of names that begin with a country's."""
_COUNTED = frozenset("一两三四五六七八九十百千万亿几数多第个家名位次架艘年条部场项栋列套代批种")
_UNITS = ("年", "月", "日", "名", "个", "家", "岁", "位")
_BODIES = tuple(words("会 局 部 院 所 社 厅 署 公司 集团 银行 中心 大学 联盟 组织 学校 中学 法院 党"))
_WORKS = tuple(
    words(
        "报 网 杯 奖 节 展 台 赛 刊 版 杂志 论坛 平台 频道 指数 系统 计划 战略 邦 州 省 市 县 区 岛 城 语 话 战争 游 周"
    )
)
_SENTENCE = 100
"""Tokens on either side, at most, that count as the same sentence."""
_ENDS = frozenset("。！？!?；;")
_MARKS = frozenset("，。、；：！？”’）…,;!?")
_CLOSED = words("v vd Vg vn d ad p c u m q r f t s w k y b l i x")
"""Tags of words that stand before a name and are no part of one (法治中国 is one)."""
_PLAIN_LETTERS = frozenset("美英法德俄韩澳")
"""Letters of countries that are words of their own in hardly any text on one."""


@chinese(2, family=_SAME_PROPERTY, version="2", params={"tagger": DEFAULT})
@in_simplified
def country(texts: Sequence[Analysis], choices: random.Random, tagger: str = DEFAULT) -> Rewritten | None:
    """One country is replaced by another wherever it stands; the output stays.

    No group where the name is part of another one (中国移动, 美国纽约, a title), or the text also speaks of the country
    by its letter (美方, 中美), or, of China, as one's own (我国).

    >>> country([Analysis("他去年在法国留学。", "zh")], random.Random(0)).words
    (('法国', '芬兰'),)
    """
    all_countries = countries()
    mentioned = [name for name in all_countries if any(name in text.text for text in texts)]
    if not mentioned:
        return None
    tagged = [Parted(text.text, text.tagged_by(tagger).tokens) for text in texts]
    text_words = frozenset(token.text for text in tagged for token in text.tokens)
    candidates = [all_countries[name] for name in mentioned if _stands_alone(all_countries[name], tagged, text_words)]
    if not candidates:
        return None
    choices.shuffle(candidates)
    for old in candidates:
        new = [name for name in stand_ins(old, text_words) if not any(name in text.text for text in texts)]
        if new and (rewritten := substitute(tagged, {old.name: choices.choice(new)})):
            return rewritten
    return None


def _stands_alone(country: Country, texts: Sequence[Analysis], text_words: frozenset[str]) -> bool:
    """Whether the name stands for the country, and nothing else, wherever it stands in the texts."""
    if country.name not in text_words or is_abbreviated(country, text_words):
        return False
    if country.code == "CN" and not text_words.isdisjoint(_OWN):
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
            if not (free_before(tokens, at) and free_after(tokens, at)) or _beside(near, tokens, at):
                return False
    return True


def _is_letter(tokens: Sequence[Token], at: int) -> bool:
    """Whether a token that is a country's letter stands for the country: by its tag, or beside another's (中 + 美)."""
    token, around = tokens[at], [*tokens[max(0, at - 1) : at], *tokens[at + 1 : at + 2]]
    if token.tag in ("j", "ns") or token.text in _PLAIN_LETTERS:
        return True
    return any(
        neighbour.text in letters() and token.start in (neighbour.end, neighbour.start - 1) for neighbour in around
    )


def _beside(near: frozenset[str], tokens: Sequence[Token], at: int) -> bool:
    """Whether the sentence around a token has one of these words."""
    for step in (-1, 1):
        place = at + step
        while 0 <= place < len(tokens) and abs(place - at) < _SENTENCE and tokens[place].text not in _ENDS:
            if tokens[place].text in near:
                return True
            place += step
    return False


def free_before(tokens: Sequence[Token], at: int) -> bool:
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


def free_after(tokens: Sequence[Token], at: int) -> bool:
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
                return not _ends_as_organisation(tokens, place + 1)
            continue
        if token.tag == "m":
            after = tokens[place + 1].text if place + 1 < len(tokens) else ""
            return after not in countries() and (set(token.text) <= _COUNTED or (first and after[:1] in _UNITS))
        if token.tag == "v" and not first:
            return True
        if token.tag in ("c", "v"):
            return (token.tag == "c" or len(token.text) > 1) and not _ends_as_organisation(tokens, place + 1)
        if token.tag in _PLAIN or (token.tag in ("nr", "f", "t") and not first):
            return True
        strange += 1
        if strange > 1 or token.tag != "n" or len(token.text) < 2 or token.text.endswith((*_BODIES, *_WORKS)):
            return False
    return True


def _ends_as_organisation(tokens: Sequence[Token], at: int) -> bool:
    """Whether nouns from here on end as the name of an organisation does (房地产 + 及 + 住宅 + 研究会)."""
    for token in tokens[at:]:
        if token.tag[0] not in "nvabj" or token.tag == "nr":
            return False
        if token.text.endswith((*_BODIES, *_WORKS)):
            return True
    return False


# MR1 of the study of Chinese systems: a person's name, or a pronoun, is replaced by another.
#
# Source: Jin, Ding, Zhou 2022, MRPpbs1 of section 3.1.1; its examples replace 小明 by 小红
# and 练束梅 by 白露. One person is replaced wherever the texts name them, whichever way; everybody else stays.

_FORMS = re.compile(
    f"([{FAMILIES}])(?:先生|女士|小姐|阿姨|大爷|大妈|大叔|大姐|大哥|师傅|太太|奶奶|爷爷|老师|同学|老太|老汉|"
    f"某某|某|姓|总|"
    "局长|主任|书记|所长|医生|教授|律师|警官|院长|校长|经理|老板|法官|队长|部长|大夫|博士)"
    f"|(?<![个只])[小老]([王李张刘陈杨赵吴徐孙朱胡郭梁郑宋])|姓([{FAMILIES}])"
)
"""How news calls people by their family name; 小 and 老 stand before those that make no other word with it (小康, and
一个小胡, which is won at mahjong)."""
_PRONOUNS = {"他": "她", "她": "他", "他们": "她们", "她们": "他们"}
_COUNTED_BY = tuple("个只条点把些")
_IN_WORD = re.compile("其他|吉他|维他|排他|利他|他人|他杀|他乡|他国|他日")
GENDERED = re.compile(
    "[男女父母爸妈爹娘哥姐弟妹爷奶叔姨舅姑嫂婶夫妻帅妇婚孕僧尼兄郎媳婿孙]|汉子|老汉|大汉|先生|小姐|太太|儿子|"
    "小伙|王子|公主|国王|"
    "皇|球员|球星|前锋|门将|佳人|联赛|战队|俱乐部|老公|老婆|老头|球队|将军"
)
"""Words that say, or strongly suggest, whether somebody is a man or a woman."""


@chinese(1, family="same-property substitution", version="2", params={"tagger": DEFAULT})
@in_simplified
def name(texts: Sequence[Analysis], choices: random.Random, tagger: str = DEFAULT) -> Rewritten | None:
    """A person's name, or a pronoun, is replaced by another wherever it stands; the output stays.

    A full name keeps its gender as far as pronouns and the name itself tell, and its family name where the texts also
    call somebody by it (王教授). Pronouns change in texts that name nobody, where nothing else says whether somebody is
    a man or a woman.

    >>> name([Analysis("记者练束梅报道。", "zh")], random.Random(1)).words
    (('练束梅', '陈晓芳'),)
    >>> name([Analysis("他的房子很大。", "zh")], random.Random(0)).texts
    ('她的房子很大。',)
    """
    tagged = [text.tagged_by(tagger) for text in texts]
    joined = "\n".join(text.text for text in texts)
    candidates: list[Callable[[Sequence[Analysis], str, random.Random], Words | None]]
    candidates = [partial(_rename_person, person) for person in people(tagged)]
    candidates += [partial(_rename_family, family) for family in families_called_by(joined)]
    candidates += [
        partial(_replace_nickname, old) for gender in NICKNAMES for old in NICKNAMES[gender] if old in joined
    ]
    if not candidates and any(pronoun in joined for pronoun in _PRONOUNS):
        candidates = [exchange_pronouns]
    choices.shuffle(candidates)
    for replace in candidates:
        words = replace(tagged, joined, choices)
        if words and not any(old in title for title in TITLES.findall(joined) for old, _ in words):
            rewritten = exchange_words(tagged, words)
            if rewritten:
                return rewritten
    return None


def _rename_person(person: Person, texts: Sequence[Analysis], joined: str, choices: random.Random) -> Words | None:
    """A full name by another; the given name alone likewise."""
    rest = joined.replace(person.name, "")
    keeps = any(
        (token.text == person.family or (token.text[0] == person.family[0] and token.tag == "nr"))
        and token.text != person.name
        for text in texts
        for token in text.tokens
    ) or any(person.family in family for family in families_called_by(rest))
    given_names = [given_name for given_name in GIVEN[gender_of(person, joined)] if given_name not in joined]
    families = [family_name for family_name in COMMON if family_name != person.family]
    if not given_names:
        return None
    new = Person(person.family if keeps else choices.choice(families), choices.choice(given_names))
    words = ((person.name, new.name),)
    if len(person.given) == 1 or person.given not in rest:
        return words
    alone = [token for text in texts for token in text.tokens if token.text == person.given]
    return (*words, (person.given, new.given)) if alone and all(token.tag == "nr" for token in alone) else None


def gender_of(person: Person, joined: str) -> Gender:
    """The gender that a person's new name may suggest: one that agrees with everything the texts say."""
    name = re.escape(person.name)
    if re.search(f"[女妻母姐妹妈奶姑][^，。、；：！？]{{0,4}}{name}|{name}(?:女士|小姐|[，,（(、]女)", joined):
        return "female"
    if re.search(f"[男夫父兄哥弟爸爷叔][^，。、；：！？]{{0,4}}{name}|{name}(?:先生|[，,（(、]男)", joined):
        return "male"
    he, she = "他" in joined.replace("其他", ""), "她" in joined
    stated: Gender = "neutral" if he == she else "male" if he else "female"
    if person.gender == "neutral":
        return stated
    return person.gender if stated in ("neutral", person.gender) else "neutral"


def families_called_by(joined: str) -> list[str]:
    """Family names that somebody is called by (王女士, 小王), in a fixed order."""
    return sorted({match[match.lastindex or 0] for match in _FORMS.finditer(joined)})


def _rename_family(family: str, texts: Sequence[Analysis], joined: str, choices: random.Random) -> Words | None:
    """A family name by another in all that somebody is called by; None where a full name has it, too."""
    forms = {match.group() for match in _FORMS.finditer(joined) if match[match.lastindex or 0] == family}
    if re.search(rf"[小老]{family}(?:[村镇乡庄庙桥路街集河沟店湾屯港山]|派出所|小学|中学)", joined):
        return None  # a place
    for text in texts:
        for token in text.tokens:
            if token.tag == "nr" and token.text[0] == family and not text.text.startswith(tuple(forms), token.start):
                return None
    taken = {token.text[0] for text in texts for token in text.tokens if token.tag == "nr"}
    familiar = any(form[0] in "小老" for form in forms)
    new = [
        candidate
        for candidate in COMMON
        if candidate not in taken and (not familiar or _FORMS.fullmatch("小" + candidate))
    ]
    new = [candidate for candidate in new if candidate not in families_called_by(joined) and candidate != family]
    if not new:
        return None
    chosen = choices.choice(new)
    return tuple((form, form.replace(family, chosen, 1)) for form in sorted(forms))


def _replace_nickname(old: str, texts: Sequence[Analysis], joined: str, choices: random.Random) -> Words | None:
    """小明 by 小红; by 小刚 where the texts say that it is a boy. None where it may be no name: 一个小红点."""
    for text in texts:
        for token, after in pairwise((*text.tokens, None)):
            if (
                token
                and token.text == old
                and (
                    text.text[max(token.start - 1, 0) : token.start] in _COUNTED_BY
                    or (after and after.tag[0] == "n" and after.start == token.end)
                )
            ):
                return None
    same = "他" in joined or "她" in joined or bool(GENDERED.search(joined))
    candidates = [
        nickname
        for nicknames in NICKNAMES.values()
        if old in nicknames or not same
        for nickname in nicknames
        if nickname not in joined
    ]
    return ((old, choices.choice(candidates)),) if candidates else None


def exchange_pronouns(texts: Sequence[Analysis], joined: str, choices: random.Random) -> Words | None:
    """他 by 她 or the other way; None where both stand, or the texts name or describe a man or a woman."""
    if ("他" in joined.replace("其他", "") and "她" in joined) or GENDERED.search(joined):
        return None
    if any(
        _IN_WORD.search(text.text[max(token.start - 1, 0) : token.end + 1])
        for text in texts
        for token in text.tokens
        if token.text in _PRONOUNS
    ):
        return None  # taggers cut 及其 + 他
    tokens = [token for text in texts for token in text.tokens]
    if any(token.tag == "nr" and len(token.text) > 1 for token in tokens):
        return None
    pronouns = sorted({token.text for token in tokens} & set(_PRONOUNS))
    if pronouns == ["他们"]:
        return None  # whom a team, a firm or a crowd is; 她们 are women only
    return tuple((old, _PRONOUNS[old]) for old in pronouns) or None


# MR3 of the study of Chinese systems: an occupation is replaced by another.
#
# Source: Jin, Ding, Zhou 2022, MRPpbs3 of section 3.1.1. The study takes any occupation of
# BiasFinder's list; here it is one of the same field, so that the sentence stays sensible.

_BEFORE = words("v vd d ad p c u m q r f t s w k y b x")
"""Tags of words that stand before an occupation and are no part of it."""
_AFTER = words("w u d ad p c k r nr t m s f y x")
"""Tags of words that stand after an occupation and make no longer word with it."""
_DRIVING = "出租车|的士|公交|大巴|客车|网约车|货车|卡车|乘客|车上|车厢|方向盘|超员"
_PAINTING = "画作|画廊|油画|国画|绘画|画展|作画|美术"
_GIVEN_AWAY = {
    **dict.fromkeys(("司机", "驾驶员"), _DRIVING),
    **dict.fromkeys(("画家", "书法家"), _PAINTING),
    **dict.fromkeys(("法官", "律师", "检察官"), "司法人员"),
    **{"交警": "支队|大队|交管|高速", "警察": "有困难找", "士兵": "退役|退伍"},
    **{"老师": "教师", "教师": "老师", "医生": "大夫", "大夫": "医生"},
}
"""Occupation -> words of a text that tell it, or call the same people otherwise, so that no other one fits."""
"""What no deliverer drives: in texts that have one of these, drivers stay drivers."""
_DESCRIBING = words("老 年轻 著名 知名 优秀 好 大 女 男 美女 资深 普通 专业 新 小 真 假")
_NOT_BEFORE = words(
    "实习 见习 代理 辩护 委托 执业 注册 主治 助理 首席 总 准 副 金牌 特级 高级 女子 男子 肇事 网约 过往 刑事 "
    "民事 离婚 装修 施工 建筑 打工 装卸 号 驾驶 出租 出租车"
)
"""Words that go with the occupation that they stand before, and not with others."""
_NOT_AFTER = words(
    "培训 招聘 考试 面试 报名 认证 管理 评选 大赛 协会 招待会 会 站 节 证 团 手记 资格 联合会 俱乐部 事务所 "
    "执业 执法 家属 之家 家 部 队 室 界 级 开车 驾车 驾驶 开庭 审理 判决 宣判 判 判令 判处 裁定 驳回 手术 诊断 "
    "授课 讲课 上课 执导 导演 主演 演唱 创作 代理 辩护 执教 合奏 合奏团 乐团 合唱团 摄像 监控"
)
"""Words that make a compound with the occupation before them, or say what only it does."""


@chinese(3, family="same-property substitution", version="2", params={"tagger": DEFAULT})
@in_simplified
def occupation(texts: Sequence[Analysis], choices: random.Random, tagger: str = DEFAULT) -> Rewritten | None:
    """One occupation is replaced by another wherever it stands; the output stays.

    No group where the word is part of a longer one (记者会, 货车司机, 王老师).

    >>> occupation([Analysis("一名律师说，他同意。", "zh")], random.Random(0)).texts
    ('一名公证员说，他同意。',)
    """
    all_occupations = occupations()
    mentioned = [name for name in all_occupations if any(name in text.text for text in texts)]
    if not mentioned:
        return None
    tagged = [text.tagged_by(tagger) for text in texts]
    candidates = [all_occupations[name] for name in mentioned if _occupation_alone(all_occupations[name], tagged)]
    if not candidates:
        return None
    choices.shuffle(candidates)
    for old in candidates:
        new = [name for name in old.stand_ins if not any(name in text.text for text in texts)]
        if new and (rewritten := substitute(tagged, {old.name: choices.choice(new)})):
            return rewritten
    return None


def _occupation_alone(occupation: Occupation, texts: Sequence[Analysis]) -> bool:
    """Whether the word is the occupation, and no part of another word, wherever it stands in the texts."""
    for text in texts:
        if any(occupation.name in title for title in TITLES.findall(text.text)):
            return False
        if occupation.name in _GIVEN_AWAY and re.search(_GIVEN_AWAY[occupation.name], text.text):
            return False
        tokens = text.tokens
        for at, token in enumerate(tokens):
            if token.text == occupation.name and not (
                _occupation_free_before(occupation, tokens, at) and _occupation_free_after(tokens, at)
            ):
                return False
    return True


def _occupation_free_before(occupation: Occupation, tokens: Sequence[Token], at: int) -> bool:
    if at == 0 or tokens[at - 1].end != tokens[at].start:
        return True
    before = tokens[at - 1]
    if before.text in _NOT_BEFORE or before.text in occupations() or before.text in "_-·":
        return False
    if before.text in _DESCRIBING or before.tag in _BEFORE or before.tag == "ns":
        return True
    if before.tag == "nr":
        return occupation.after_names
    return occupation.after_nouns and before.tag[0] in "nj"


def _occupation_free_after(tokens: Sequence[Token], at: int) -> bool:
    if at + 1 == len(tokens) or tokens[at].end != tokens[at + 1].start:
        return True
    after = tokens[at + 1]
    if after.text in _NOT_AFTER or after.text in occupations() or after.text in "_-·":
        return False
    if after.tag == "m" and at + 2 < len(tokens) and tokens[at + 2].text.endswith(("队", "局", "所")):
        return False  # 交警九大队
    return after.tag in _AFTER or after.tag in ("v", "vd")


# MR4 of the study of Chinese systems: a punctuation mark is replaced wherever it stands; the meaning stays.
#
# The study says "replace punctuation" and no more. Replaced here is what leaves correct Chinese that says the same:
#
# - quotation marks “ ” and ‘ ’ become 「 」 and 『 』, and the other way round;
# - half-width marks between Chinese characters become the full-width ones of GB/T 15834-2011;
# - ； becomes ， between two clauses;
# - with `half_width`, where none of these can be: （ ）, 【 】, ：, or ！ with ？, become half-width, as much
#   of the web writes them, though the standard does not.
#
# Not replaced: 。 by ！ or ？ (another force), ， or ； by 。 (sentences end elsewhere), 、 (一、二、 are ordinals),
# 《 》 (titles are no quotations), ——, …… and · (parts of words and names), and the full stop and comma of the West
# (they stand in numbers and addresses).

_SAME_PROPERTY = "same-property substitution"
_ASCII_MARKS = frozenset(string.punctuation)
_SINGLE, _DOUBLE = (("‘", "『"), ("’", "』")), (("“", "「"), ("”", "」"))
_HALF: tuple[Words, ...] = (
    (("（", "("), ("）", ")")),
    (("【", "["), ("】", "]")),
    (("：", ":"),),
    (("！", "!"), ("？", "?")),
)

_Replacements = tuple[tuple[Words, Callable[[str, Words], bool]], ...]
"""Marks and what they become, and whether that harms nothing in a text."""


def _reversed_pairs(marks: Words) -> Words:
    return tuple((new, old) for old, new in marks)


@chinese(4, family=_SAME_PROPERTY, params={"half_width": False})
def marks(texts: Sequence[Analysis], choices: random.Random, *, half_width: bool = False) -> Rewritten | None:
    """A punctuation mark becomes another one that says the same, wherever it stands.

    >>> marks([Analysis("他说：“走。”", "zh")], random.Random(1)).texts
    ('他说：「走。」',)
    """
    plain = [text.text for text in texts]
    for replacements in (_FIRST, _ELSE) if half_width else (_FIRST,):
        possible = [
            marks
            for marks, safe in replacements
            if any(old in text for text in plain for old, _ in marks) and all(safe(text, marks) for text in plain)
        ]
        for marks in choices.sample(possible, len(possible)):
            new_texts = tuple(replace_words(text, marks) for text in plain)
            if all(Analysis(new, "zh").spans == text.spans for text, new in zip(texts, new_texts, strict=True)):
                return Rewritten(new_texts, marks)
    return None


def _quotes(text: str, marks: Words) -> bool:
    """Whether every quotation has both its marks, none holds another one of its kind, and the new marks are new."""
    opened = ""
    for sign in text:
        for (opening, new), (closing, other) in zip(marks[::2], marks[1::2], strict=True):
            if sign in (new, other):
                return False
            if sign == opening:
                if opening in opened:
                    return False
                opened += opening
            elif sign == closing:
                if not opened.endswith(opening):
                    return False
                opened = opened[:-1]
    return not opened


def _to_half(text: str, marks: Words) -> bool:
    """Whether no half-width mark is next to one that is replaced: together they might be another sign, like :)."""
    olds = {old for old, _ in marks}
    return _is_paired(text, marks) and not any(
        sign in olds and not _ASCII_MARKS.isdisjoint(text[max(at - 1, 0) : at] + text[at + 1 : at + 2])
        for at, sign in enumerate(text)
    )


def _to_full(text: str, marks: Words) -> bool:
    """Whether each of the marks stands in Chinese, on both sides: not in a number, an address, code or a smiley.

    A ? that stands behind no character is what is left of a sign that somebody could not read: ????
    """
    olds = {old for old, _ in marks}
    if "?" in olds and any(
        sign == "?" and not _is_character(text[max(at - 1, 0) : at]) for at, sign in enumerate(text)
    ):
        return False
    return _is_paired(text, marks) and all(
        _is_chinese(text[at - 1 : at], olds) and _is_chinese(text[at + 1 : at + 2], olds)
        for at, sign in enumerate(text)
        if sign in olds
    )


def _to_comma(text: str, marks: Words) -> bool:
    """Whether each semicolon stands between two clauses of a line that begin and end with words."""
    return all(
        text[at - 1 : at].isalpha() and _is_character(text[at + 1 : at + 2])
        for at, sign in enumerate(text)
        if sign == "；"
    )


def _is_paired(text: str, marks: Words) -> bool:
    """Whether brackets, if the marks are such, come in pairs, none in another."""
    if marks[0][0] not in "（【([":
        return True
    opened = False
    for sign in text:
        if sign in (marks[0][0], marks[1][0]):
            if opened == (sign == marks[0][0]):
                return False
            opened = not opened
    return not opened


def _is_chinese(sign: str, olds: set[str]) -> bool:
    """Whether a neighbour of a mark is Chinese: a character, a full-width mark, the edge of a line, the mark itself."""
    return (
        not sign
        or sign in olds
        or sign in "\n “”‘’…—"
        or _is_character(sign)
        or unicodedata.east_asian_width(sign) in "WF"
    )


def _is_character(sign: str) -> bool:
    return bool(sign) and unicodedata.name(sign, "").startswith("CJK UNIFIED")


_FIRST: _Replacements = (
    (_DOUBLE + _SINGLE, _quotes),
    (_reversed_pairs(_DOUBLE + _SINGLE), _quotes),
    *((_reversed_pairs(marks), _to_full) for marks in (*_HALF, (("；", ";"),)) if marks[0][0] != "【"),
    ((("；", "，"),), _to_comma),
)
_ELSE: _Replacements = tuple((marks, _to_half) for marks in _HALF)


# MR7 of the study of Chinese systems: the order of two texts, or of a text's sentences, is changed.

_REORDERING = "reordering"
_REORDERING_PARAMS: Mapping[str, object] = {"tagger": "jieba", "coherent": True, "exchanges": 1}
_wrong_exchanges = partial(wrong_count, name="exchanges")


@chinese(7, family=_REORDERING, tasks=("similarity",))
def swapped(texts: Sequence[Analysis], choices: random.Random) -> Rewritten | None:
    """The two texts change places; the similarity stays.

    >>> swapped([Analysis("一", "zh"), Analysis("二", "zh")], random.Random(0)).texts
    ('二', '一')
    """
    return Rewritten(tuple(text.text for text in reversed(texts))) if len(texts) == 2 else None


@chinese(
    7,
    family=_REORDERING,
    tasks=("summarization", "classification"),
    version="2",
    params=_REORDERING_PARAMS,
    check_params=_wrong_exchanges,
)
def reordered(
    texts: Sequence[Analysis],
    choices: random.Random,
    *,
    tagger: str = "jieba",
    coherent: bool = True,
    exchanges: int = 1,
) -> Rewritten | None:
    """Sentences that do not need each other change places; the output stays.

    At most `exchanges` sentences change places with the next one, only where both say side by side what they say, which
    few texts do. Without `coherent`, the study's own form: all sentences but the first are put in random order. That
    the first one stays is ours; it says what the text is about, as in the study's one example (table 4), where its
    text says no more than "change the order of sentences". Such a text loses its thread: many a 但是 or 他 then stands
    before what it refers to. What no mark ends (titles, credits) stays in both forms, so that no mark is added. A text
    of fewer than three sentences makes no group.

    >>> text = Analysis("会议开始。要把安全放在第一的位置。要把质量放在第二的位置。", "zh")
    >>> reordered([text], random.Random(0)).texts
    ('会议开始。要把质量放在第二的位置。要把安全放在第一的位置。',)
    >>> text = Analysis("天亮了。她起床。但是天又黑了。", "zh")
    >>> reordered([text], random.Random(0)), reordered([text], random.Random(0), coherent=False).texts
    (None, ('天亮了。但是天又黑了。她起床。',))
    """
    if len(texts) != 1 or len(texts[0].spans) < 3:
        return None
    order = list(range(len(texts[0].spans)))
    if not coherent:
        moving = [index for index, (start, end) in enumerate(texts[0].spans) if is_ended(texts[0].text[start:end])][1:]
        while len(moving) > 1 and order == sorted(order):  # a shuffle may change nothing
            for place, index in zip(moving, choices.sample(moving, len(moving)), strict=True):
                order[place] = index
    else:
        plain = as_simplified(texts[0])
        if plain.spans != texts[0].spans:
            return None
        _exchange(order, exchangeable(plain.tagged_by(tagger)), choices, exchanges)
    return Rewritten((rearrange(texts[0], order),)) if order != sorted(order) else None


def _exchange(order: list[int], possible: Sequence[int], choices: random.Random, exchanges: int) -> None:
    """Let some sentences change places with the next one; the ones before and behind them stay, as was asked."""
    remaining = exchanges
    for at in choices.sample(possible, len(possible)):
        if remaining and order[at - 1 : at + 3] == list(range(at - 1, min(at + 3, len(order)))):
            order[at], order[at + 1] = at + 1, at
            remaining -= 1


# MR5 and MR6 of the study of Chinese systems: nouns and verbs become synonyms; the meaning stays.

_SYNONYMS = "synonym substitution"
_SYNONYM_PARAMS: Mapping[str, object] = {"thesaurus": "cilin", "tagger": "jieba", "words": 1}


def _wrong_thesaurus(params: Mapping[str, object]) -> str | None:
    if params["thesaurus"] not in THESAURI:
        return f"thesaurus is {params['thesaurus']!r}; allowed are {', '.join(THESAURI)}"
    return wrong_count(params, "words")


@chinese(5, family=_SYNONYMS, version="2", params=_SYNONYM_PARAMS, check_params=_wrong_thesaurus)
@in_simplified
def nouns(
    texts: Sequence[Analysis],
    choices: random.Random,
    *,
    thesaurus: str = "cilin",
    tagger: str = "jieba",
    words: int = 1,
) -> Rewritten | None:
    """A noun is replaced by a synonym, wherever it stands; the output stays.

    >>> nouns([Analysis("他去看了医生。", "zh")], random.Random(0)).texts
    ('他去看了大夫。',)
    """
    return _replace_with_synonyms("n", texts, choices, thesaurus, tagger, words)


@chinese(6, family=_SYNONYMS, version="2", params=_SYNONYM_PARAMS, check_params=_wrong_thesaurus)
@in_simplified
def verbs(
    texts: Sequence[Analysis],
    choices: random.Random,
    *,
    thesaurus: str = "cilin",
    tagger: str = "jieba",
    words: int = 1,
) -> Rewritten | None:
    """A verb is replaced by a synonym, wherever it stands; the output stays.

    >>> verbs([Analysis("老师称赞了小明。", "zh")], random.Random(0)).texts
    ('老师夸赞了小明。',)
    """
    return _replace_with_synonyms("v", texts, choices, thesaurus, tagger, words)


def _replace_with_synonyms(
    kind: Literal["n", "v"], texts: Sequence[Analysis], choices: random.Random, name: str, tagger: str, words: int
) -> Rewritten | None:
    """The follow-up with words of this kind replaced."""
    tagged = [text.tagged_by(tagger) for text in texts]
    synonyms = _candidates(kind, tagged, name, tagger)
    new: dict[str, str] = {}
    rewritten: Rewritten | None = None
    for word in choices.sample(sorted(synonyms), len(synonyms)):
        free = [other for other in synonyms[word] if other not in new.values()]
        if not free:
            continue
        extended = substitute(tagged, {**new, word: choices.choice(free)})
        if extended is None:
            continue
        rewritten, new = extended, dict(extended.words)
        if len(new) >= words:
            break
    return rewritten


def _candidates(
    kind: Literal["n", "v"], texts: Sequence[Analysis], name: str, tagger: str
) -> dict[str, tuple[str, ...]]:
    """Words of the texts -> their best synonyms that fit at all of their places, and that no text has yet."""
    all_pairs = pairs()
    words_by_text = [frozenset(token.text for token in text.tokens) for text in texts]
    places = [replaceable(text.tokens, kind) for text in texts]
    candidates: dict[str, tuple[str, ...]] = {}
    for word in sorted({word for text_places in places for word in text_places if (kind, word) in all_pairs}):
        if any(
            word in text_words and word not in text_places
            for text_places, text_words in zip(places, words_by_text, strict=True)
        ):
            continue
        spots = [
            (text.tokens, at)
            for text_places, text in zip(places, texts, strict=True)
            for at in text_places.get(word, [])
        ]
        scored = best(thesaurus(name).synonyms(word))
        fitting = tuple(
            pair.new
            for pair in all_pairs[kind, word]
            if pair.new in scored
            and not any(pair.new in text.text for text in texts)
            and all(fits(tokens, at, pair) and _stays(tokens, at, pair.new, tagger) for tokens, at in spots)
        )
        if fitting:
            candidates[word] = fitting
    return candidates


def _stays(tokens: Sequence[Token], at: int, new: str, tagger: str) -> bool:
    """Whether the tagger still finds the same words around the new one, which it takes for one word: that no part of
    it makes a word with its neighbours."""
    start, end = bounds(tokens, at)
    around = tokens[start:end]
    expected = [new if start + index == at else token.text for index, token in enumerate(around)]
    gaps = [around[index + 1].start - token.end for index, token in enumerate(around[:-1])]
    text = "".join(word + " " * gap for word, gap in zip(expected, [*gaps, 0], strict=True))
    return _words(text, tagger) == tuple(expected)


@lru_cache(maxsize=1024)  # a long text says the same more than once, and each candidate is asked for
def _words(text: str, tagger: str) -> tuple[str, ...]:
    return tuple(token.text for token in tokens_of(text, tagger))
