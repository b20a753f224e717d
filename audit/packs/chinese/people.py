"""People in Chinese text: who is surely named in it, how else it speaks of them, and names that may stand for theirs.

A tagger takes many words for names, most often those of foreign places. So a name counts only where all its places
allow for one, none may be cut short (邱志|承认为), and at least one asks for one: after a title (记者李强), before what
people do (李强表示), by the characters of a usual name; or where it stands often. Firms speak, too: a word of two
characters needs a title. Foreign names (约翰·史密斯) count as none: which part of them is called alone cannot be told;
those that are spelled like Chinese ones (潘基文) cannot be told from them.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal

from audit.errors import AuditError
from audit.resources import data_file
from audit.text.analysis import Analysis
from audit.text.tokens import Token, words

# Chinese family names: the list is data/lexicons/chinese_surnames.txt, in simplified characters.


def surname(text: str) -> str | None:
    """The family name that a text begins with, the longest there is; None where it begins with none.

    It says nothing about whether the text is a name: ask the tagger (`nr`). Raises AuditError where the list is
    missing from the installation.

    >>> surname("江泽民"), surname("欧阳修"), surname("天气")
    ('江', '欧阳', None)
    """
    names = surnames()
    return next((text[:size] for size in range(_longest(), 0, -1) if text[:size] in names), None)


@cache
def surnames() -> frozenset[str]:
    """Every family name of the list.

    >>> {"王", "诸葛"} <= surnames()
    True
    """
    names: set[str] = set()
    for line in data_file("lexicons/chinese_surnames.txt").read_text(encoding="utf-8").splitlines():
        if not line.startswith("#"):
            names.update(line.split() if " " in line else line)
    return frozenset(names)


@cache
def _longest() -> int:
    return max(map(len, surnames()))


Gender = Literal["male", "female", "neutral"]


def _word_tuple(text: str) -> tuple[str, ...]:
    return tuple(text.split())


COMMON = tuple("王李张刘陈杨赵周吴徐孙朱胡郭何梁郑宋谢唐许邓冯曹彭袁潘蒋蔡魏")
"""Family names that stand in; none is a word that joins what stands beside it."""
FAMILIES = (
    "".join(COMMON) + "沈韩程吕丁苏卢姜崔钟谭陆汪范金石廖贾夏韦付方白邹孟熊秦邱江尹薛闫段雷侯龙史陶黎贺顾毛郝龚邵"
    "万钱严覃武戴莫孔向汤马林罗高黄叶董余杜田于"
)
"""Family names that many bear."""
GIVEN: dict[Gender, tuple[str, ...]] = {
    "male": _word_tuple(
        "建国 志强 国强 文杰 俊杰 立军 志刚 家豪 伟民 浩然 海涛 永刚 建军 少华 德明 子豪 世杰 卫东 振宇 宏伟"
    ),
    "female": _word_tuple(
        "秀英 丽娟 雪梅 婷婷 晓燕 玉兰 淑珍 文静 雅琴 美玲 丽华 小红 思琪 桂芳 佳慧 诗涵 红梅 春燕 晓芳 慧敏"
    ),
    "neutral": _word_tuple("晓明 文华 晓阳 晨曦 子涵 嘉宁 明华 思远 一凡 小宁 晓宁 春华 宇晨 书华 若文"),
}
"""Given names that stand in, reviewed: each is a name and nothing else, and women, men or both bear it."""
NICKNAMES: dict[Gender, tuple[str, ...]] = {
    "male": ("小明", "小刚", "小军", "小亮", "小杰", "小勇", "小涛"),
    "female": ("小红", "小丽", "小芳", "小娟", "小敏", "小玲", "小燕", "小婷"),
    "neutral": (),
}
"""Names of children in stories and textbooks; 小强 is a cockroach as often."""
_FEMALE = frozenset(
    "芳娜丽艳娟霞燕玲丹萍梅莉婷颖雪慧倩琴洁莹琳芬兰秀珍桂淑娇妍娅媛姗婕娥嫣媚黛菁蓉薇菲蕾蓓怡女凤花妹姣婵美莲茜巧贞蕊"
)
_MALE = frozenset("伟强磊勇军刚涛超鹏辉飞斌浩健峰龙雄彪武虎彬钢豪毅胜国邦汉雷柱")
_GIVEN = (
    _FEMALE
    | _MALE
    | frozenset(
        "".join(given_name for given_names in GIVEN.values() for given_name in given_names)
        + "东云亮佳俊倩兵冬凯岩帅帆平彬想成敏旭晶杨柳楠欢欣波洋玉瑜瑞璐畅荣鑫雷静香庆祥福永新义仁礼智忠学天清林松柏"
        "森光耀兴安康乐培元宝昌发富贵根全顺喜增先进继保景树良才启益友仲季连锡铭钧锋锐镇"
    )
)
"""Characters of given names."""
_TITLES = _word_tuple(
    "团长 记者 教授 经理 董事长 主任 院长 校长 局长 书记 县长 市长 区长 镇长 乡长 村长 主席 部长 队长 律师 民警 "
    "医生 医师 大夫 护士 演员 导演 歌手 作家 "
    "画家 主持人 司机 村民 市民 居民 嫌疑人 被告人 被告 原告 男子 女子 学生 球员 选手 教练 主帅 负责人 "
    "秘书长 分析师 研究员 博士 老师 教师 网友 设计师 "
    "总裁 总监 专家 理事长 会长 检察官 法官 所长 站长 科长 处长 厅长 省长 支书 委员 老板 编辑 通讯员 实习生 "
    "同学 诗人 书法家 艺术家 收藏家 科学家 "
    "经济学家 评论员 交警 警察 政委 员工 职工 工人 农民 业主 车主 店主 户主 患者 受害人 当事人 申请人 上诉人 "
    "驾驶员 作者 编剧 明星 艺人 老人 青年 妻子 "
    "丈夫 父亲 母亲 儿子 女儿 师傅 战士 辅警 小伙 女孩 男孩 女生 男生 姑娘 工程师 建筑师 摄影师 行长 台长 "
    "馆长 社长 主编 署长 司长 总理 院士 "
    "厂长 班长 组长 干事 干部 党员 退伍军人 队员 男友 女友 同事 朋友 好友 邻居 哥哥 弟弟 姐姐 妹妹"
)
_NAMED = words("叫 名叫 叫做 叫作 人叫 告诉")
_SPEECH = words(
    "说 表示 认为 介绍 指出 告诉 称 坦言 透露 强调 回忆 解释 建议 宣布 讲述 说道 补充 笑 回答 直言 感慨 感叹 "
    "提醒 呼吁 坚持 承认 否认 告诫 分析 介绍说 回忆说 告诉记者 "
    "主持 出席 参加 带领 率领 担任 陪同 获得 获 当选 荣获 辞职 在接受 接受 供述 交代 负责 致辞 讲话 介绍道 "
    "写道 谈到 提出"
)
_AFTER_TITLES = words(
    "先生 女士 小姐 教授 老师 博士 院士 同志 局长 书记 主任 等人 本人 夫妇 一家 律师 医生 县长 市长 部长 "
    "阿姨 大爷 大妈 大叔 大姐 大哥 师傅 太太 奶奶 爷爷 老太 老汉 "
    "主席 校长 院长 董事长 经理 总经理 总裁 导演 同学 大夫 警官 法官 检察官 队长 所长 一行"
)
_KIN = words(
    "妻子 丈夫 父亲 母亲 儿子 女儿 家 家里 家中 家人 家属 父母 之子 之女 之妻 老家 案 手中 手里 身上 心里 "
    "面前 身边 眼中 生前 名下 母子 父子"
)
_SHORT_AFTER = frozenset(
    "的说在是和与等也又就还都已曾将被把对向从给为以于因并则却才再便称有到去来想要让当任道及或而跟自只仅正更很"
    "没不能会可一二两三四五六七八九十走笑问答写住看"
)
_AFTER_TWO = frozenset("的说在是和与等也又就还都已将被把对向从给称")
"""Of those, what is hardly a third character of the name: 何俊有 is no 何俊 who has something."""
_SHORT_BEFORE = frozenset(
    "女男子妻父母夫弟兄姐妹称叫名的说在是和与等对向从给为以于因并被把由让跟及或将请找据经即员者师"
)
_NO_GIVEN = frozenset(
    "总帅时城县市区镇乡村路街桥寺庙州队杯赛奖省岛店馆院厂族党派教会部某姓氏说称表在对向从将已曾让被把的了和与是"
    "也都就还又等不没很有这那么吗吧坝嘴庄湾坪沟坡岭洼屯性亦均皆仅即则却曾未"
)
DOTS = "·•・‧∙"
"""Signs between the parts of foreign names."""
_FOREIGN = frozenset("斯尔姆顿茨兹勒蒂弗夫佐韦迪塔洛贝奥巴卡伊蒙诺尼戈鲁莱赫森德特克拉罗萨鲍普纳娅莎")
_QUOTES = ("“", "”", "‘", "’", "「", "」", '"')
_FIRM = re.compile("律师(?:事务)?所")
"""Words that turn the personal name before them into the name of a firm."""
_DESCRIBED = re.compile("[（(，,](?:化名|男[，,、）)]|女[，,、）)])")
"""A note right after a name that gives the person's sex, or says that the name is a pseudonym."""
_NO_FAMILIES = frozenset("萨沃桑贝巴索伊海哈米那哥师")
"""Family names that far more often begin a foreign name, or end a title (鉴赏师 + 姚先生)."""
_NO_NAMES = words(
    "周知 顾问 张贴 花旗 黄龙 高度 安全 温度 荣誉 白领 支付宝 华为 金融 明确 康复 易胜博 万科 金山 高校 白银 "
    "黄金 祖国 党和 明星 晋级 高盛 麦考林 董秘 高管 罗老号 高水平 金龙鱼 王老吉 黄金周"
)


@dataclass(frozen=True, slots=True)
class Person:
    """A person as texts name them in full: family name, given name, and what the given name says of their gender."""

    family: str
    given: str

    @property
    def name(self) -> str:
        """Family name and given name."""
        return self.family + self.given

    @property
    def gender(self) -> Gender:
        """The gender that the given name suggests; neutral where it suggests none, or both."""
        female, male = not _FEMALE.isdisjoint(self.given), not _MALE.isdisjoint(self.given)
        return "neutral" if female == male else "female" if female else "male"


def people(texts: Sequence[Analysis]) -> list[Person]:
    """The people whom the texts certainly name in full, in order of first mention.

    >>> people([Analysis("记者练束梅报道，张建国表示同意。", "zh")])
    [Person(family='练', given='束梅'), Person(family='张', given='建国')]
    """
    seen: Counter[str] = Counter()
    strong: set[str] = set()
    weak: set[str] = set()
    for text in texts:
        for name, end, before, after in _name_candidates(text):
            seen[name] += 1
            if (
                not (_allows_before(before) and _allows_after(name, after))
                or _FIRM.match(text.text, end)
                or (text.text[end - len(name) - 1 : end - len(name)] in _QUOTES and text.text[end : end + 1] in _QUOTES)
                or _may_be_cut(name, text.text[end : end + 3])
            ):
                weak.add(name)
            elif _asks_for_name(name, before, after) or _DESCRIBED.match(text.text, end):
                strong.add(name)
    persons = []
    for name, times in seen.items():
        family = surname(name) or ""
        part = any(name != other and (name.startswith(other) or other.startswith(name)) for other in seen)
        if name not in weak and not part and (name in strong or (len(name) > 2 and (times > 2 or _is_usual(name)))):
            persons.append(Person(family, name[len(family) :]))
    return persons


def _name_candidates(text: Analysis) -> Iterator[tuple[str, int, Token | None, Token | None]]:
    """Yield possible full names of persons: (name, end of the name, token right before, token right after)."""
    tokens = text.tokens
    at = 0
    while at < len(tokens):
        for size in (1, 2):
            parts = tokens[at : at + size]
            if len(parts) < size:
                break
            before = tokens[at - 1] if at and tokens[at - 1].end == parts[0].start else None
            after = tokens[at + size] if at + size < len(tokens) else None
            if after and after.start != parts[-1].end:
                after = None
            if _may_be_name(parts) or _stands_as_name(parts, before, after):
                yield "".join(part.text for part in parts), parts[-1].end, before, after
                at += size - 1
                break
        at += 1


def _stands_as_name(parts: Sequence[Token], before: Token | None, after: Token | None) -> bool:
    """Whether words that the tagger takes for others stand as a name does: 团长 + 赵 + 劲松 + 告诉."""
    name = "".join(part.text for part in parts)
    return (
        2 <= len(name) <= 3
        and name[0] in FAMILIES
        and before is not None
        and before.text.endswith(_TITLES)
        and after is not None
        and after.text[:2] in _SPEECH
        and all(part.tag[0] in "nv" for part in parts)
        and _may_be_name([Token(name, "nr", parts[0].start, parts[-1].end)])
    )


def _may_be_cut(name: str, after: str) -> bool:
    """Whether the character after a name of two may be its third: 邱志 + 承认为 (or 认为), 邓浩 + 志在."""
    return len(name) == 2 and (after[1:] in _SPEECH or (after[:1] in _GIVEN and after[1:2] in _SHORT_AFTER))


def _may_be_name(parts: Sequence[Token]) -> bool:
    """Whether a token tagged as a person, or a family name tagged so and the next token, look like a Chinese name."""
    if parts[0].tag != "nr" or parts[0].start + sum(len(part.text) for part in parts) != parts[-1].end:
        return False
    name = "".join(part.text for part in parts)
    family = surname(name)
    if family is None or family in _NO_FAMILIES or name in _NO_NAMES:
        return False
    if len(parts) == 2 and (parts[0].text != family or parts[1].tag not in ("nr", "nz", "n", "ns")):
        return False
    given_name = name[len(family) :]
    if not 1 <= len(given_name) <= 2 or (len(parts) == 2 and len(given_name) != 2):
        return False
    if (
        any(title.endswith(given_name) or title == given_name for title in _TITLES)
        or given_name in _AFTER_TITLES
        or given_name in _KIN
    ):
        return False
    return (
        given_name[-1] not in _NO_GIVEN
        and given_name[0] not in "某姓"
        and _FOREIGN.isdisjoint(given_name)
        and given_name.isalpha()
    )


def _allows_before(token: Token | None) -> bool:
    if token is None or token.tag == "w":
        return token is None or token.text[0] not in DOTS + "-—_《"
    if token.tag in ("nr", "nx", "m") or token.text in ("小", "老", "阿", "大"):
        return False
    return len(token.text) > 1 or token.text in _SHORT_BEFORE or token.tag[0] in "pcdurvw"


def _allows_after(name: str, token: Token | None) -> bool:
    if token is None or token.tag == "w":
        return token is None or token.text[0] not in DOTS + "-—_》"
    if token.tag in ("nr", "nx"):
        return False
    if len(name) == 2 and len(token.text) == 1:
        return token.text in _AFTER_TWO or token.text in _KIN
    if len(token.text) == 1:
        return token.text in _SHORT_AFTER or token.text in _KIN or token.tag[0] in "pcdur"
    if token.text in _AFTER_TITLES or token.text in _KIN or token.text[:2] in _SPEECH:
        return True
    return token.tag[0] in "vpcdurtmfl" and token.tag != "vn"


def _is_usual(name: str) -> bool:
    """Whether a word that may be a name of three characters is one by its characters, too: 王虎鸣, not 马自达."""
    return name[0] in FAMILIES and name[0] not in "于向" and not _GIVEN.isdisjoint(name[1:])


def _asks_for_name(name: str, before: Token | None, after: Token | None) -> bool:
    """Whether what stands beside a name asks for a person. Firms speak, too (高盛表示): not in words of two characters,
    nor by a family name that few bear."""
    if before is not None and (before.text in _NAMED or before.text.endswith(_TITLES)):
        return True
    if after is None or after.text in _AFTER_TITLES:
        return after is not None
    return after.text[:2] in _SPEECH and len(name) > 2 and name[0] in FAMILIES


# Occupations in Chinese text, and which one may stand for another.
#
# Lists of jobs that libraries have are of advertisements (销售总监/经理); ours,
# `data/lexicons/chinese_occupations.tsv`, is of plain professions as news names them.

_FILE = "lexicons/chinese_occupations.tsv"


@dataclass(frozen=True, slots=True)
class Occupation:
    """An occupation, those that may stand for it, and whether nouns and names may stand right before it."""

    name: str
    stand_ins: tuple[str, ...]
    after_nouns: bool
    after_names: bool


@cache
def occupations() -> Mapping[str, Occupation]:
    """Occupations by name. Raises AuditError when the installation is damaged.

    >>> occupations()["法官"]
    Occupation(name='法官', stand_ins=('检察官', '律师'), after_nouns=True, after_names=False)
    """
    by_name: dict[str, Occupation] = {}
    for number, line in enumerate(data_file(_FILE).read_text(encoding="utf-8").splitlines(), 1):
        if line.startswith("#"):
            continue
        parts = line.split("\t")
        if len(parts) != 3 or not parts[1]:
            raise AuditError(
                f"data/{_FILE}, line {number}: wants an occupation, its stand-ins and what stands before it"
            )
        before = parts[2].split()
        by_name[parts[0]] = Occupation(parts[0], tuple(parts[1].split()), "n" in before, "nr" in before)
    return by_name
