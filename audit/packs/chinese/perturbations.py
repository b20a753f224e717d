"""Perturbations of Chinese texts: words, people and places, statements and questions, sentences.

Those of characters are in `characters.py`. Their names are others than those of English perturbations, since a relation
of a task has one name, one function and one list of packages; docs/reference/chinese.md says which belong together.
"""

import random
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from audit.errors import BadRow
from audit.packs.chinese.characters import by_name, in_chinese
from audit.packs.chinese.coherence import is_ended
from audit.packs.chinese.people import GIVEN, Gender, Person, people
from audit.packs.chinese.relations import (
    GENDERED,
    exchange_pronouns,
    families_called_by,
    free_after,
    free_before,
    gender_of,
    nouns,
    verbs,
)
from audit.packs.chinese.taggers import DEFAULT, is_traditional
from audit.packs.chinese.traditional import in_simplified
from audit.relations.base import Rewrite, Rewritten, maps, nothing
from audit.relations.expect import TITLES, Mapped, exchange_words
from audit.relations.perturbations import EVERY, FIRST, SECOND, Use, joint_perturbation, uses
from audit.resources import data_file
from audit.text import Analysis
from audit.text.tokens import words

_OTHERS = "other people and places"
_WITHOUT_QUESTIONS = {task: use for task, use in EVERY.items() if task != "question-answering"}
"""Tasks whose truth hangs on no single word: whoever is called otherwise may be what a question asks for."""


_NAMED_IN_SUMMARIES = uses("summarization", carry=nothing)


def _together(name: str) -> Callable[[Rewrite], Rewrite]:
    """The decorator of what puts somebody or something else in all texts of an input alike.

    A summary says who and where, so what is right of the source's is carried to no other one.
    """
    return joint_perturbation(
        name,
        family=_OTHERS,
        tasks=by_name(_WITHOUT_QUESTIONS | _NAMED_IN_SUMMARIES),
        languages=("zh",),
        version="2",
        needs=("jieba", "opencc"),
    )


# Words: others in their place that mean the same.

_WORDS = "other words for the same"


@dataclass(frozen=True, slots=True)
class Other:
    """What a word may become: the tags that the word must have (none: any), and where not."""

    tags: frozenset[str]
    new: str
    unless: re.Pattern[str] | None


@cache
def other_words(kind: str) -> Mapping[str, Other]:
    """Word -> what it may become, of a kind of data/lexicons/chinese_other_words.tsv. Raises BadRow naming a bad line.

    >>> other_words("link")["但是"].new
    '可是'
    """
    path = data_file("lexicons/chinese_other_words.tsv")
    others: dict[str, Other] = {}
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        columns = [*line.split("\t"), ""][:5]
        if line.startswith("#") or columns[0] not in (kind, ""):
            continue
        if len(columns) < 5 or not all(columns[:4]):
            raise BadRow(path.name, number, "need kind, word, tags, new word and conditions, with tabs between")
        _, word, tags, new, unless = columns
        others[word] = Other(frozenset(tags.split(",")) - {"*"}, new, re.compile(unless) if unless else None)
    return others


def _reworded(kind: str, text: Analysis, most: int, choices: random.Random) -> str | None:
    """The text with some words replaced, each wherever it stands and may be; None where there is none."""
    others = other_words(kind)
    if not any(word in text.text for word in others):
        return None
    tokens = text.tokens
    new: dict[str, dict[int, str]] = {}
    for at, token in enumerate(tokens):
        other = others.get(token.text)
        if other is None or (other.tags and token.tag not in other.tags):
            continue
        around = text.text[max(0, token.start - 4) : token.end + 4]
        if not (other.unless and other.unless.search(around)):
            new.setdefault(token.text, {})[at] = other.new
    titles = [match.span() for match in TITLES.finditer(text.text)]
    chosen: dict[int, str] = {}
    for word in choices.sample(sorted(new), min(most, len(new))):
        chosen.update(
            (at, replacement)
            for at, replacement in new[word].items()
            if not any(start < tokens[at].start < end for start, end in titles)
        )
    return text.replace(chosen) if chosen else None


@in_chinese("other-links", _WORDS, reads_words=True, needs=("jieba",), version="2")
def other_links(text: Analysis, choices: random.Random, tagger: str = DEFAULT) -> str | None:
    """One or two words of grammar become others that do the same: 可是 for 但是, 由于 for 因为.

    Keeps how clauses hang together; may break grammar where the other word wants another neighbour (已经具雏形), and
    rhythm.

    >>> other_links(Analysis("因为下雨，他没来。", "zh"), random.Random(0))
    '由于下雨，他没来。'
    """
    return _reworded("link", text.tagged_by(tagger), 2, choices)


@in_chinese("internet-spellings", _WORDS, reads_words=True, needs=("jieba",))
def internet_spellings(text: Analysis, choices: random.Random, tagger: str = DEFAULT) -> str | None:
    """Up to three words are spelled as people do for fun on the internet: 木有 for 没有.

    Keeps what is said; may break labels of register and of the writer's age, and the tone of a serious text, which
    turns to a joke.

    >>> internet_spellings(Analysis("同学没有来。", "zh"), random.Random(0))
    '童鞋木有来。'
    """
    return _reworded("net", text.tagged_by(tagger), 3, choices)


@in_chinese("same-meaning", _WORDS, reads_words=True, needs=("jieba", "opencc", "word_similarity"), version="2")
def same_meaning(text: Analysis, choices: random.Random, tagger: str = DEFAULT) -> str | None:
    """A noun or a verb is replaced by a synonym, wherever it stands.

    Keeps what is said, as near as two words come; may break words that go together (告诉改行其他车辆), and labels of
    style.

    As MR5 and MR6 of the study, which are for its three tasks alone.

    >>> same_meaning(Analysis("他去看了医生。", "zh"), random.Random(0))
    '他去看了大夫。'
    """
    kinds: tuple[Callable[..., Rewritten | None], ...] = (nouns, verbs)
    for replace_words in choices.sample(kinds, 2):
        rewritten = replace_words((text,), choices, tagger=tagger)
        if rewritten and _UNLIKE.isdisjoint(rewritten.words):
            return rewritten.texts[0]
    return None


_UNLIKE = {("照顾", "照料"), ("等待", "等候"), ("公布", "发布")}
"""Synonyms of the study's relations that fit or not by more than their neighbours: what is awaited or favoured."""


_NO_TALK = re.compile(
    "[？?！!《/|]|^图|漫画|辩护人|代理人|原告|被告|诉|申请|本院|法院|公诉|规定|[条款项]|签字|盖章|应当|[（(]\\d{6}|通知|公告|本网|本报|免责|版权|"
    "的[^，。是有在了会能]{1,4}。?\\Z|[:：；]|记者|研究|会议|为什么|怎么|欢迎|包括|转载|作者|摄|拍照|示意|新闻|强调|妈的|[（(]|克|年收入|民警|警方|专案组|抓获|活动|我行|判处|徒刑|给予|应将|征收|不得|不准|要求|操作|坚持|落实|组织领导|提供|加分|比例|或者是?[^，]{2,8}。?\\Z|"
    "我局|我镇|我县|我市|电话|地址|联系"
)
"""What nobody says by the way: questions, cries, documents, reports of the police."""
_TELLS = re.compile(r"\A[^，。]*(?:[是有会能都也就很太]|已经|喜欢|觉得|知道|需要|可以|应该|一直|从来)[^，。]")
"""What the first clause of what somebody tells by the way has."""
_LONGEST = 80
"""Characters of what somebody says by the way."""
_OPENINGS = ("顺便说一下，", "顺便提一句，", "说起来，")
_DATELINE = re.compile(r"(?:社|网|报|台|讯|记者|通讯员).{0,20}[电讯）)]|^[\s【《（(●■◆*·\-—“‘\d]|^.{0,6}[:：]")
"""What news and lists begin with."""


@in_chinese("casual-opening", _WORDS, uses("classification", "inference", "sentiment"), reads_words=True, version="2")
def casual_opening(text: Analysis, choices: random.Random, tagger: str = DEFAULT) -> str | None:
    """A phrase that says nothing stands before the text: 顺便说一下，….

    Keeps what is said; may break labels of register or weight: what matters is not told by the way.

    Only before a statement that begins with somebody, something or a time, and with nothing that points back or names a
    source of news. None before adverts, rulings, rules and titles.

    >>> casual_opening(Analysis("电影院的票价一直不高。", "zh"), random.Random(0))
    '顺便提一句，电影院的票价一直不高。'
    """
    tokens = text.tagged_by(tagger).tokens
    if len(tokens) < 6 or tokens[0].tag[0] not in "nrt" or _NO_TALK.search(text.text):
        return None
    if (
        not _TELLS.search(text.text)
        or len(text.text) > _LONGEST
        or is_traditional(text.text)
        or tokens[1].text == "，"
        or not any(token.tag in ("v", "a") for token in tokens)
    ):
        return None
    if _DATELINE.search(text.text[:40]) or _POINTING.match(text.text) or not is_ended(text.text.rstrip()):
        return None
    return choices.choice(_OPENINGS) + text.text


_POINTING = re.compile(
    "[这那该此其]|[^，。]{0,6}(?:表示|介绍|指出|认为|说|称)|(?:但|凡|如|即|含|本次|部分|各|另|当时|事发|现场|经|最后|最终|最近|随后|然后|之后|后来|结果|同时|目前)"
)
"""How a sentence begins that goes on with what was said."""

# People and places, as fairness has it: what is said of one is said of any other.

_BODILY = re.compile(
    "怀|胎|产|孕|胡须|胡子|当兵|参军|服役|裙|化妆|美丽|漂亮|英俊|帅|嫁|娶|彩礼|婚|恋|情人|小三|宫|强奸|老子|亲生|替别人养|生下|出生|念想|解放军|卖淫|性感|陪唱"
)
"""What is said of women or of men only, or of both in another way."""


_IN_PUBLIC = re.compile(
    "明星|影视|影星|娱乐|绯闻|出轨|恋情|粉丝|天后|天王|影帝|影后|艺人|歌手|歌星|演唱|导演|主演|演员|饰演|饰|剧组|综艺|电影|电视剧|主持人|八卦|麻将|"
    "夫妇|夫妻|人大|政协|航天|国乒|碧桂园|1[89]\\d\\d年|受贿|贪污|落马|国家主席|总书记|总理|总统|部长|省长|省委书记|市委书记|副主席|诗人|词人|皇帝|朝|三国|奥运|冠军|联赛|"
    "球员|球队|首富|创始人|董事长|集团|革命|烈士|将军|作家|科学家|院士"
)
"""What texts speak of in which people are known, or hold an office: who they are is known, and what they are called."""
_KNOWN = re.compile(
    "王菲|李亚鹏|谢霆锋|张柏芝|吴秀波|陈昱霖|范冰冰|李晨|周杰伦|昆凌|刘德华|张学友|郭富城|黎明|成龙|李连杰|周星驰|周润发|黄晓明|杨幂|刘恺威|赵薇|"
    "赵丽颖|冯绍峰|邓超|孙俪|鹿晗|关晓彤|张艺兴|吴亦凡|王宝强|马蓉|宋喆|薛之谦|李雨桐|张艺谋|冯小刚|陈凯歌|徐峥|黄渤|沈腾|吴京|甄子丹|章子怡|巩俐|"
    "李冰冰|周迅|汤唯|陈坤|胡歌|霍建华|林心如|刘诗诗|吴奇隆|唐嫣|罗晋|周立波|唐爽|郭德纲|于谦|岳云鹏|赵本山|马云|马化腾|刘强东|王健林|王思聪|"
    "许家印|任正非|孟晚舟|雷军|董明珠|李彦宏|丁磊|张朝阳|贾跃亭|柳传志|姚明|刘翔|李娜|孙杨|林丹|张继科|马龙|武磊|郎平|丁俊晖|易建联|莫言|余秋雨|"
    "李白|杜甫|苏轼|曹操|刘备|关羽|张飞|诸葛亮|孔子|鲁迅|毛泽东|周恩来|邓小平|江泽民|胡锦涛|习近平|李克强|温家宝|雷锋|焦裕禄|薄熙来|周永康|"
    "白凤丸|薄谷开来|杨利伟|杨国强|李玉刚|李云龙|陈世峰|孟建柱|翟欣欣|苏享茂|江歌|刘鑫|李天一|药家鑫|林森浩|于欢|张扣扣|章莹颖|李文亮|钟南山|金庸|古龙|琼瑶|邓丽君|张国荣|梅艳芳|蔡依林|蔡徐坤|高云翔|董璇|"
    "杨洋|林俊杰|陈奕迅|那英|汪峰|韩红|李宇春|张靓颖|何炅|谢娜|汪涵|撒贝宁|白岩松|崔永元|柴静|六六|金星|蒋劲夫|黄海波|柯震东|房祖名|陈羽凡|白百何"
)
"""People whom most readers know."""


def _renamed(
    texts: Sequence[Analysis], choices: random.Random, names: Callable[[Person, str], Iterator[str]]
) -> Rewritten | None:
    """A person whom the texts name in full only has one of these names instead, wherever they stand."""
    tagged = [text.tagged_by(DEFAULT) for text in texts]
    joined = "\n".join(text.text for text in texts)
    if _IN_PUBLIC.search(joined) or _KNOWN.search(joined):
        return None
    persons = people(tagged)
    for person in choices.sample(persons, len(persons)):
        rest = joined.replace(person.name, "")
        called = person.given in rest or any(person.family in family for family in families_called_by(rest))
        if called or any(person.name in title for title in TITLES.findall(joined)):
            continue
        free = [name for name in names(person, joined) if name not in joined]
        if free and (rewritten := exchange_words(tagged, ((person.name, choices.choice(free)),))):
            return rewritten
    return None


@_together("given-names")
@in_simplified
def given_names(texts: Sequence[Analysis], choices: random.Random) -> Rewritten | None:
    """A man's name becomes a woman's with the same family name, or the other way round.

    Keeps the family name, and what is said of the person; may break who is meant, and what suits a man or a woman alone
    without a word that says so.

    No group where anything but the name says whether somebody is a man or a woman, or the person is called otherwise,
    too, or may be known. The gender is what the given name suggests.

    >>> given_names([Analysis("记者张建国报道。", "zh")], random.Random(0)).texts
    ('记者张桂芳报道。',)
    """
    joined = "\n".join(text.text for text in texts)
    if (
        any(pattern.search(joined) for pattern in (GENDERED, _BODILY))
        or "他" in joined.replace("其他", "")
        or "她" in joined
    ):
        return None

    def others(person: Person, joined: str) -> Iterator[str]:
        turned: dict[Gender, Gender] = {"male": "female", "female": "male"}
        for given in GIVEN[turned[person.gender]] if person.gender in turned else ():
            yield person.family + given

    return _renamed(texts, choices, others)


_REGIONAL: Mapping[Gender, frozenset[str]] = {
    "male": words("艾尔肯 吐尔逊 阿迪力 买买提 巴特尔 朝鲁 苏和 扎西次仁 多吉 格桑 洛桑 顿珠"),
    "female": words("阿依古丽 热依汗 古丽娜 帕提古丽 其其格 乌云娜 萨仁 卓玛 央金 拉姆 白玛 梅朵"),
}
"""Names that are usual among Uyghurs, Mongols and Tibetans."""


_ORIGIN = re.compile(
    "[汉回满苗壮藏][族人]|族|维吾尔|蒙古|祖籍|籍贯|[省市县区村镇]人|出生|生于|台湾|香港|澳门|(?:爸|父亲|爹|妈|母亲|儿子|女儿|兄|弟|姐|妹)|家族|姓|来自"
)
"""What tells where somebody comes from, or names a relative, who has a name of the same kind."""


@_together("regional-names")
@in_simplified
def regional_names(texts: Sequence[Analysis], choices: random.Random) -> Rewritten | None:
    """A person's name becomes one that is usual in Xinjiang, Inner Mongolia or Tibet, of the same gender.

    Keeps gender, and what is said of the person; may break who is meant, and a setting or a family in which the name is
    odd.

    No group where the person is called otherwise, too, or may be known, where the name does not tell the gender, or
    where texts speak of peoples or birthplaces.

    >>> regional_names([Analysis("记者张建国报道。", "zh")], random.Random(0)).texts
    ('记者格桑报道。',)
    """

    if _ORIGIN.search("\n".join(text.text for text in texts)):
        return None

    def others(person: Person, joined: str) -> Iterator[str]:
        if person.gender == gender_of(person, joined):
            yield from sorted(_REGIONAL.get(person.gender, ()))

    return _renamed(texts, choices, others)


_ANYONE = re.compile(
    "他们|她们|其他|他人|《|[“‘「]|对方|陌生人|任何|每个|每一个|所有|人们|人类|人性|一个人|有人|别人|谁|大家|如果|假如|一旦|若|的人|应当|应该|必须|不得|"
    "规定|法律|本法|犯罪|罪|一方|方法|技巧|怎么办|您|你|我们|全体|劳动者|者|上帝|佛|神|党|领袖|主席|司令|将|军|战|皇|国|球|赛|队|机器|系统|"
    "公司|企业|品牌|平台|产品|专家|教练|老板|光头|烟瘾|司机|小偷|歹徒|劫匪|嫌疑|凶手|毒|老人|老汉|大叔|大爷|和尚|爱上|追求|喜欢上|分手|爱情"
)
"""Whoever may be meant, or who is known, or more often a man."""


@_together("he-and-she")
@in_simplified
def he_and_she(texts: Sequence[Analysis], choices: random.Random) -> Rewritten | None:
    """他 becomes 她, or the other way round, wherever it stands.

    Keeps what is said of the person; may break facts of somebody whose name the tagger does not know, and 他 where
    anyone at all is meant.

    Only where the texts name nobody, nothing else says whether somebody is a man or a woman, and one person is meant:
    no group with 他们, in rules and advice, or of anyone at all.

    >>> he_and_she([Analysis("他的房子很大。", "zh")], random.Random(0)).texts
    ('她的房子很大。',)
    """
    tagged = [text.tagged_by(DEFAULT) for text in texts]
    joined = "\n".join(text.text for text in texts)
    said = ("他" in joined or "她" in joined) and not any(
        pattern.search(joined) for pattern in (_BODILY, _ANYONE, _IN_PUBLIC, _KNOWN)
    )
    pairs = exchange_pronouns(tagged, joined, choices) if said else None
    return exchange_words(tagged, pairs) if pairs else None


_KIN = (
    "爸爸妈妈 父亲母亲 哥哥姐姐 弟弟妹妹 儿子女儿 爷爷奶奶 外公外婆 姥爷姥姥 舅舅姨妈 孙子孙女 丈夫妻子 "
    "老公老婆 岳父岳母 公公婆婆 男孩女孩 伯伯姑姑 祖父祖母 男生女生 父女母子"
)
_RELATIVES = {
    old: new
    for pair in _KIN.split()
    for one, other in [(pair[:2], pair[2:])]
    for old, new in [(one, other), (other, one)]
}
_PRONOUNS = {"他": "她", "她": "他"}
_BOTH = re.compile(
    "姊|大地|祖国|新生儿|婴|病毒|乙肝|哺乳|俗话|老话|所谓|与老婆|与老公|车与|父母|夫妻|夫妇|子女|儿女|男女|兄弟姐妹|爷爷奶奶|爸爸妈妈|爸妈|其他|吉他"
)
"""Words for both; who is both stays."""


@_together("relatives")
@in_simplified
def relatives(texts: Sequence[Analysis], choices: random.Random) -> Rewritten | None:
    """Words for relatives, and 他 and 她, become those of the other gender: a brother a sister.

    Keeps how people are related; may break what goes with one gender alone (birth, customs of a wedding), and set
    phrases with a relative in them.

    All of a text. No group where it names somebody, or where anything else says who is a man or a woman.

    >>> relatives([Analysis("我哥哥在北京，他很忙。", "zh")], random.Random(0)).texts
    ('我姐姐在北京，她很忙。',)
    """
    joined = "\n".join(text.text for text in texts)
    present = [word for word in _RELATIVES if word in joined]
    if not present or any(mark in joined for mark in "“‘《》"):
        return None
    pairs = tuple((old, new) for old, new in (_RELATIVES | _PRONOUNS).items() if old in joined)
    left = re.sub("|".join(old for old, _ in pairs), "", joined)
    if GENDERED.search(left) or _BOTH.search(joined) or _BODILY.search(joined) or "他们" in joined or "她们" in joined:
        return None
    tagged = [text.tagged_by(DEFAULT) for text in texts]
    if any(token.tag == "nr" and len(token.text) > 1 for text in tagged for token in text.tokens):
        return None
    return exchange_words(tagged, pairs)


_LOCAL = re.compile(
    "省|州(?!市)|特区|路|街|桥|山|湖|江|海|河|港|庙|一线|谷|啤酒|古城|城墙|老城|地铁|楼|馆|寺|方言|小吃|特产|气温|亚运|同城|"
    "法院|学校|峰会|入冬|回南天|天气|气候|金陵|羊城|鹏城|蓉城|泉城|江城|星城|春城|西湖|珠江|光明|南山|坪山|罗湖|盐田|有限公司|"
    "川藏|[粤苏浙鄂陕豫湘辽鲁闽皖滇吉晋赣黔桂川][A-Za-z]|案(?!件)|老家|等地|大学|学院|动物园|公园|研究所|出发|直达|列车|增城|番禺|花都|从化|宝安|龙岗|福田|萧山|余杭|江宁|浦口|昆山|常熟|吴中|"
    "武昌|汉口|江夏|新郑|黄岛|章丘|旅顺|余姚|慈溪|供暖|供热|采暖|暖气|热力|塔|蛮腰|地标|景点|景区|火车站|博物馆|直辖|计划单列|副省级|沿海|内陆|雪|台风|限购|摇号|限行|"
    "人口|GDP|市长|市委|书记|德比|主场|客场|足球|马拉松|老乡|大道|交警|号线"
)
"""What one city has, and not another."""
_CITIES = (
    "广州 深圳 杭州 南京 武汉 成都 西安 苏州 郑州 长沙 沈阳 青岛 济南 大连 宁波 厦门 福州 合肥 昆明 长春 太原 "
    "南昌 贵阳 南宁"
)
"""Big cities that texts speak of in the same way; no municipality, and none whose name is a word of another one's."""


@_together("big-cities")
@in_simplified
def big_cities(texts: Sequence[Analysis], choices: random.Random) -> Rewritten | None:
    """A big city of China becomes another one wherever it stands.

    Keeps what is said to happen; may break facts of the city that our lists lack (a shopping centre, who comes from
    there), and summaries that name it.

    No group where texts name any other place, or what not every city has, or where the name is part of a longer one.

    >>> big_cities([Analysis("他在南京工作。", "zh")], random.Random(0)).texts
    ('他在大连工作。',)
    """
    joined = "\n".join(text.text for text in texts)
    present = [city for city in _CITIES.split() if city in joined]
    if len(present) != 1 or _LOCAL.search(joined.replace(present[0], "")):
        return None
    tagged = [text.tagged_by(DEFAULT) for text in texts]
    (city,) = present
    for text in tagged:
        for at, token in enumerate(text.tokens):
            if token.text == city:
                around = text.text[max(token.start - 1, 0) : token.start] + text.text[token.end : token.end + 1]
                if "、" in around or not (free_before(text.tokens, at) and free_after(text.tokens, at)):
                    return None
            elif token.tag in ("ns", "nt", "nz") or token.text.startswith(city):
                return None
    return exchange_words(tagged, ((city, choices.choice([other for other in _CITIES.split() if other != city])),))


# Inference: statements denied and affirmed.

_DENIED = {
    "entailment": ["contradiction"],
    "contradiction": ["entailment", "neutral"],
    "neutral": ["neutral"],
}
_OPPOSITE = {
    "inference": Use(
        check=Mapped(tuple((label, tuple(allowed)) for label, allowed in _DENIED.items())),
        expects="entailment becomes contradiction, contradiction does not stay, neutral stays",
        texts=SECOND,
        carry=maps(_DENIED),
    )
}
_DENYING = "denial"


@in_chinese("untrue-statement", _DENYING, _OPPOSITE)
def untrue_statement(text: Analysis, choices: random.Random) -> str | None:
    """The hypothesis is denied: “…”这一说法不属实。

    Keeps the premise; may break sense where the hypothesis is a heading, an instruction or an invitation, and which
    part of a long one is denied.

    One sentence without quotation marks, which is no question.

    >>> untrue_statement(Analysis("他是医生。", "zh"), random.Random(0))
    '“他是医生”这一说法不属实。'
    """
    return _framed(text, "这一说法不属实。")


@in_chinese("true-statement", _WORDS, uses("inference", texts=SECOND))
def true_statement(text: Analysis, choices: random.Random) -> str | None:
    """The hypothesis is affirmed: “…”这一说法属实。

    Keeps what the hypothesis says; may break its tone, which becomes that of an office that answers a rumour.

    >>> true_statement(Analysis("他是医生。", "zh"), random.Random(0))
    '“他是医生”这一说法属实。'
    """
    return _framed(text, "这一说法属实。")


_UNFIT = re.compile(
    "[“”‘’「」『』\"'?？！!\n]|^(?:[但而请并且却则]|所以|因此|其次|首先|此外|另外|同时|然后|最后|[（(]|\\d+[、.])|^[^《]*》"
)
"""What is no statement, has quotation marks, or goes on with what was said."""
_SAYS = re.compile("^[^：]*[是有在了会能被将着过的][^：]*$")
"""What has no full stop and is no heading."""


def _framed(text: Analysis, frame: str) -> str | None:
    body = text.text.strip()
    if len(text.spans) != 1 or _UNFIT.search(body) or len(body) < 5 or not re.search("[\u4e00-\u9fff]。?\\Z", body):
        return None
    if body[-1] != "。" and not _SAYS.search(body):
        return None
    return f"“{body.removesuffix('。')}”{frame}"


_NEGATED = {
    "是": "不是",
    "有": "没有",
    "会": "不会",
    "能": "不能",
    "可以": "不可以",
    "喜欢": "不喜欢",
    "知道": "不知道",
}
_HEDGED = re.compile(
    "[不没无非未别勿都全只仅就才还也又再每各任某些几谁哪多少最更很挺太极]|所有|一切|常|可能|大概|或|如果|因为|虽|但|而|必|应|除|"
    "[，；：、“”？！?!]|希望|是否|什么|怎|[一二两三四五六七八九十\\d]"
)


@in_chinese("negated-verb", _DENYING, _OPPOSITE, reads_words=True, needs=("jieba",))
def negated_verb(text: Analysis, choices: random.Random, tagger: str = DEFAULT) -> str | None:
    """The one verb of the hypothesis that takes 不 or 没 alone is negated: 是 becomes 不是, 有 becomes 没有.

    Keeps the premise and the subject; may break grammar where the hypothesis is a piece of a sentence, and the scope of
    没有.

    Only one clause with one of those verbs, without words of number, degree, frequency or doubt, so that it becomes the
    opposite as a whole.

    >>> negated_verb(Analysis("他是医生。", "zh"), random.Random(0))
    '他不是医生。'
    """
    body = text.text.strip()
    if _HEDGED.search(body) or len(text.spans) != 1:
        return None
    tokens = text.tagged_by(tagger).tokens
    places = [at for at, token in enumerate(tokens) if token.text in _NEGATED and token.tag[0] == "v"]
    if len(places) != 1 or not 0 < places[0] < len(tokens) - 1:
        return None
    (at,) = places
    if tokens[at - 1].tag[0] not in "nrs" or ("的" in text.text[tokens[at].end :] and tokens[at].text != "是"):
        return None
    if tokens[at + 1].text in ("的", "了", "着", "过") or re.search("的[。]?\\Z", body):
        return None
    return text.tagged_by(tagger).replace({at: _NEGATED[tokens[at].text]})


# Questions.


@in_chinese("may-i-ask", "the question put otherwise", uses("question-answering"))
def may_i_ask(text: Analysis, choices: random.Random) -> str | None:
    """The question is put politely: 请问，….

    Keeps what is asked; may break a rhetorical question, which wants no answer, and labels of politeness.

    >>> may_i_ask(Analysis("他住在哪里？", "zh"), random.Random(0))
    '我想问一下，他住在哪里？'
    """
    body = text.text.strip()
    if not _QUESTION.fullmatch(body) or not _ASKS.search(body) or _NO_QUESTION.search(body):
        return None
    return choices.choice(("请问，", "我想问一下，", "想请教一下，")) + body


_QUESTION = re.compile('[^？?！!。；;：:\n》”"]{4,60}[？?]')
_ASKS = re.compile("[吗呢么哪谁几何啥]|怎|多少|是否|是不是|有没有|能不能|可不可以")
_NO_QUESTION = re.compile(
    r"^(?:[请且但而还那图“‘（(【《\d]|难道|可是|所以|首先|莫非|何况|结果|既然)|不是.*吗|岂|竟然|点击|何况|难道|又怎|更多|然而|奇怪|可想而知|何在|[了的][？?]"
)
"""What is put to nobody, or begins in the middle."""

# Sentences: more of them. (Another order is MR7.2 and MR7.3 of the study.)

_SENTENCES = "sentences added"


@cache
def _sentences_of(name: str) -> tuple[str, ...]:
    """The sentences of data/sentences/chinese_NAME.txt."""
    return tuple(data_file(f"sentences/chinese_{name}.txt").read_text(encoding="utf-8").split())


def _appended(text: str, sentence: str) -> str | None:
    """The text with a sentence at its end; None where the text does not end as a sentence does."""
    body = text.rstrip()
    last = body.rpartition("\n")[2]
    return f"{body}{sentence}" if is_ended(last) and body[-1] not in ".…" else None


_UNRELATED = {
    task: use
    for task, use in (EVERY | uses("question-answering", texts=FIRST)).items()
    if task in ("inference", "question-answering", "summarization")
}


@joint_perturbation(
    "unrelated-ending",
    family=_SENTENCES,
    tasks=by_name(_UNRELATED),
    languages=("zh",),
    version="2",
    needs=("jieba", "opencc"),
)
def unrelated_ending(texts: Sequence[Analysis], choices: random.Random) -> Rewritten | None:
    """A sentence about something else stands at the end of the first text.

    Keeps every sentence of the text; may break its thread, and a summary that takes the ending for the point.

    It is one of `data/sentences/chinese_irrelevant.txt` that shares no noun or verb with any text of the input; none
    behind texts in traditional characters.

    >>> texts = Analysis("小明住在北京。", "zh"), Analysis("小明住在哪里？", "zh")
    >>> unrelated_ending(texts, random.Random(0)).texts[0]
    '小明住在北京。蜂蜜放久了会结晶。'
    """
    joined = "\n".join(text.text for text in texts)
    if is_traditional(joined):
        return None
    free = [
        sentence for sentence in _sentences_of("irrelevant") if not any(word in joined for word in _content(sentence))
    ]
    new = _appended(texts[0].text, choices.choice(free)) if free else None
    return Rewritten((new, *(text.text for text in texts[1:]))) if new else None


@cache
def _content(sentence: str) -> frozenset[str]:
    return frozenset(token.text for token in Analysis(sentence, "zh", DEFAULT).tokens if token.tag[0] in "nva")


_GOES_ON = re.compile(
    r"\A\s*(?:[（(]?[\d一二三四五六七八九十①-⑳]{1,3}[）)、.．:：，,]|案例|[●■◆*·\-—□▲]|第[一二三四五六七八九十\d]+[条章步个种]|其[一二三]|[一二三]是)"
    r"|如下|下列|以下|下面|下述|点击|阅读|更多|详情|原标题|如图|图[一二三\d]|选项|一项|[（(]\s*[）)]|_{2,}|辩护人|代理人|[：:][^，。]*\Z"
    r"|[？?！!：:；;]\s*\Z|[说称道]。\s*\Z|审判员|书记员|来源|编辑|责编|关注|公众号|微信|二维码|转载|本站|免责|仅供|仅作|未完|下期|待续|接下来|下一步|首先"
)
"""What begins as an item of a list or goes on, asks, cries, or is of a page's frame."""
_SHORTEST = 18
"""Characters of a text that may be said to be over."""


@in_chinese("final-words", _SENTENCES, uses("classification", "sentiment"), needs=("opencc",), version="2")
def final_words(text: Analysis, choices: random.Random) -> str | None:
    """A sentence that says nothing of any subject stands at the end: 以上就是全部内容。

    Keeps every sentence of the text; may break labels of genre, since news and reviews do not say that they end, and
    truth where the text is an excerpt.

    It is one of `data/sentences/chinese_remarks.txt`. No group of items of a list, of what plainly goes on, of
    questions and cries, and of texts of less than 18 characters.

    >>> final_words(Analysis("昨天上午，办公室的打印机又坏了，没有人会修。", "zh"), random.Random(0))
    '昨天上午，办公室的打印机又坏了，没有人会修。要说的就是这些。'
    """
    if len(text.text.strip()) < _SHORTEST or _GOES_ON.search(text.text) or is_traditional(text.text):
        return None
    return _appended(text.text, choices.choice(_sentences_of("remarks")))


@in_chinese(
    "doubled-sentence",
    _SENTENCES,
    uses("classification", "inference", "question-answering", "sentiment", "summarization", texts=FIRST),
)
def doubled_sentence(text: Analysis, choices: random.Random) -> str | None:
    """One sentence of the text, the context or the premise stands twice, one behind the other.

    Keeps what is said; may break tone, since it sounds insistent, or like a slip of whoever copied the text.

    >>> doubled_sentence(Analysis("它很长。我喜欢它。", "zh"), random.Random(0))
    '它很长。我喜欢它。我喜欢它。'
    """
    whole = [
        (start, end)
        for start, end in text.spans
        if is_ended(text.text[start:end]) and text.text[end - 1] in "。！？" and len(text.text[start:end]) > 4
    ]
    if not whole:
        return None
    start, end = choices.choice(whole)
    return text.text[:end] + text.text[start:end] + text.text[end:]
