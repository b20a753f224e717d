"""Noise in the characters of Chinese text, and other ways to write the same: typing by sound, scanning, script, width.

In words that change, the tagger's words of two characters or more, no character that counts, negates or refers is
touched, so that a reader still reads what was meant; names stay. What comes out of noise is no other word.
"""

import random
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise

from audit.errors import NotInstalled
from audit.packs.chinese.taggers import DEFAULT, is_traditional, simplified
from audit.packs.chinese.traditional import to_taiwan
from audit.relations.base import Perturb, Plain, Source, Words, where_same
from audit.relations.expect import SimilarText, plain_words
from audit.relations.uses import EVERY, SIMILAR, Use, relation
from audit.resources import data_file
from audit.tasks import Input
from audit.text import Analysis
from audit.text.tokens import words

STUDIED = ("classification", "similarity", "summarization")
"""Tasks of the study of Chinese systems, which a run does with the study's own relations unless others are named."""


def in_chinese(
    name: str,
    family: str,
    tasks: Mapping[str, Use] = EVERY,
    *,
    reads_words: bool = False,
    needs: tuple[str, ...] = (),
    version: str = "1",
    kind: type[Plain] = Plain,
) -> Callable[[Perturb], Perturb]:
    """The decorator `relation` for texts in Chinese; one that `reads_words` has the parameter `tagger`."""
    return relation(
        name,
        family=family,
        tasks=by_name(tasks),
        languages=("zh",),
        version=version,
        params={"tagger": DEFAULT} if reads_words else None,
        needs=needs,
        kind=kind,
    )


@dataclass(frozen=True, kw_only=True)
class Throughout(Plain):
    """A perturbation that changes all texts of an input or none, so that both of a pair are written in one way.

    None from it says of a text that it cannot be changed as it should be; the text itself, that nothing is to change.
    It draws nothing.
    """

    def make_group(self, source: Source) -> tuple[list[Input], Words]:
        read = source.analyses if self.changes == "all" else ()
        if self.reads(source) and any(
            place < len(read) and self.perturb(read[place], random.Random(0)) is None for place in self.texts
        ):
            return [], ()
        return Plain.make_group(self, source)


def by_name(tasks: Mapping[str, Use]) -> dict[str, Use]:
    """These uses, none of a task of the study by default."""
    return {task: replace(use, default=False) if task in STUDIED else use for task, use in tasks.items()}


def same_characters(text: str) -> str:
    """The words of a text (`plain_words`) in simplified characters, letters and digits of half width.

    >>> same_characters("體育２０１５")
    '体 育 2015'
    """
    return plain_words(unicodedata.normalize("NFKC", simplified(text)))


# Noise: one word in ten.

_NOISE = "noise in characters"
_SHARE = 0.1
_TOUCHABLE = frozenset(words("n v vn vd a ad an d b z l i j"))
"""Tags of words that may change: no names, times, numbers, pronouns, links, particles."""
_KEPT = frozenset(
    "不没无非未勿莫别否零一二三四五六七八九十百千万亿两半几多少每各全都只仅最更较前后先上下左右内外男女"
    "东西南北中我你他她它这那哪谁何因但如若虽可能会须应年月日时"
)
"""Characters that decide what is said."""
_HAN = re.compile(r"[\u4e00-\u9fff]{2,}")
_COMMON = 2500
"""Characters that people type; the ones that stand most often in the words of jieba's dictionary."""


def _change(text: Analysis, choices: random.Random, tagger: str, change: Callable[[str], Iterator[str]]) -> str | None:
    """The text with a tenth of its words changed, at least one; None where none of them can be."""
    tokens = text.tagged_by(tagger).tokens
    frequencies = _frequencies()
    places = [
        at
        for at, token in enumerate(tokens)
        if token.tag in _TOUCHABLE
        and _HAN.fullmatch(token.text)
        and _KEPT.isdisjoint(token.text)
        and frequencies.get(token.text)  # a tagger also makes words of pieces of two
    ]
    choices.shuffle(places)
    wanted = max(1, round(_SHARE * len(tokens)))
    new: dict[int, str] = {}
    for at in places:
        # a dictionary also lists beginnings of its words, with frequency 0
        candidates = [word for word in change(tokens[at].text) if not frequencies.get(word)]
        if candidates:
            new[at] = choices.choice(candidates)
        if len(new) == wanted:
            break
    return text.tagged_by(tagger).replace(new) if new else None


@cache
def _frequencies() -> Mapping[str, int]:
    """The words of jieba's dictionary with how often they stand in its texts. Raises NotInstalled without jieba."""
    try:
        from jieba import dt
    except ImportError as problem:
        raise NotInstalled('Chinese words need jieba; run: pip install "audit[chinese]"') from problem
    dt.initialize()
    frequencies: Mapping[str, int] = dt.FREQ
    return frequencies


@cache
def _by_sound() -> Mapping[str, str]:
    """Common character -> others of the same sound and tone, both of one reading only, the most frequent first."""
    try:
        from pypinyin.pinyin_dict import pinyin_dict
    except ImportError as problem:
        raise NotInstalled('Chinese sounds need pypinyin; run: pip install "audit[chinese]"') from problem
    counts: Counter[str] = Counter()
    for word, frequency in _frequencies().items():
        for character in word:
            counts[character] += frequency
    readings: dict[str, list[str]] = defaultdict(list)
    for character, _ in counts.most_common(_COMMON + 100):  # some are letters
        reading = pinyin_dict.get(ord(character), ",")
        if "," not in reading and character not in _KEPT and _is_common(character):
            readings[reading].append(character)
    return {one: "".join(same).replace(one, "")[:4] for same in readings.values() for one in same}


def _is_common(character: str) -> bool:
    """Whether a character is one of the first level of GB 2312: no traditional one, and no rare one."""
    encoded = character.encode("gb2312", "ignore")
    return len(encoded) == 2 and 0xB0 <= encoded[0] <= 0xD7


@cache
def _by_shape() -> Mapping[str, str]:
    """Character -> those that look nearly the same (data/lexicons/chinese_look_alikes.txt)."""
    alike: dict[str, str] = {}
    for line in data_file("lexicons/chinese_look_alikes.txt").read_text(encoding="utf-8").splitlines():
        for group in () if line.startswith("#") else line.split():
            for character in group:
                alike[character] = alike.get(character, "") + group.replace(character, "")
    return alike


def _replaced(word: str, others: Mapping[str, str]) -> Iterator[str]:
    """The word with one of its characters replaced."""
    for at, character in enumerate(word):
        for other in others.get(character, ""):
            yield word[:at] + other + word[at + 1 :]


def _homophones(word: str) -> Iterator[str]:
    return _replaced(word, _by_sound())


def _look_alikes(word: str) -> Iterator[str]:
    return _replaced(word, _by_shape())


def _swaps(word: str) -> Iterator[str]:
    for at, (one, other) in enumerate(pairwise(word)):
        if one != other:
            yield word[:at] + other + one + word[at + 2 :]


def _repeats(word: str) -> Iterator[str]:
    if word[-1] != word[-2]:
        yield word + word[-1]


@in_chinese("homophones", _NOISE, reads_words=True, needs=("jieba", "pypinyin"), version="2")
def homophones(text: Analysis, choices: random.Random, tagger: str = DEFAULT) -> str | None:
    """A character of one word in ten is another one of the same sound and tone, as one who types by sound picks it.

    Keeps how every word sounds; may break what is asked of the spelling itself, and the sense of a rare word that
    several others sound like.

    No names, numbers, negations.

    >>> homophones(Analysis("这里的风景非常美丽。", "zh"), random.Random(0))
    '这里的疯景非常美丽。'
    """
    return _change(text, choices, tagger, _homophones)


@in_chinese("look-alikes", _NOISE, reads_words=True, needs=("jieba",), version="2")
def look_alikes(text: Analysis, choices: random.Random, tagger: str = DEFAULT) -> str | None:
    """A character of one word in ten is one that looks nearly the same, as a scanner reads it.

    Keeps how every word looks at a glance; may break how real a typed text looks, since nobody who types takes one
    shape for another.

    >>> look_alikes(Analysis("这里的风景非常美丽。", "zh"), random.Random(0))
    '这里的凤景非常美丽。'
    """
    return _change(text, choices, tagger, _look_alikes)


@in_chinese("swapped-characters", _NOISE, reads_words=True, needs=("jieba",), version="2")
def swapped_characters(text: Analysis, choices: random.Random, tagger: str = DEFAULT) -> str | None:
    """Two characters inside one word in ten change places.

    Keeps every character; may break where words end: a swapped character may join its neighbour to another word.

    >>> swapped_characters(Analysis("这里的风景非常美丽。", "zh"), random.Random(0))
    '这里的景风非常美丽。'
    """
    return _change(text, choices, tagger, _swaps)


@in_chinese("repeated-characters", _NOISE, reads_words=True, needs=("jieba",), version="2")
def repeated_characters(text: Analysis, choices: random.Random, tagger: str = DEFAULT) -> str | None:
    """The last character of one word in ten stands twice, as a key that was pressed twice.

    Keeps every word; may break tone, since doubled characters sound childish, or mean "a little" behind a verb.

    >>> repeated_characters(Analysis("这里的风景非常美丽。", "zh"), random.Random(0))
    '这里的风景景非常美丽。'
    """
    return _change(text, choices, tagger, _repeats)


@in_chinese("stray-spaces", _NOISE)
def stray_spaces(text: Analysis, choices: random.Random) -> str | None:
    """A space stands between two characters, in one of ten places, as in text out of a file with a layout.

    Keeps every character; may break where words end, for whoever takes a space for a border, and labels of layout.

    >>> stray_spaces(Analysis("这里的风景非常美丽。", "zh"), random.Random(0))
    '这里的风景非常 美丽。'
    """
    gaps = [match.end() for match in re.finditer(r"[\u4e00-\u9fff](?=[\u4e00-\u9fff])", text.text)]
    chosen = set(choices.sample(gaps, max(1, round(_SHARE * len(gaps))))) if gaps else set()
    return "".join(" " * (at in chosen) + sign for at, sign in enumerate(text.text)) if chosen else None


# Other ways to write the same.

_WRITING = "another way to write"
_SAME_SUMMARY = Use(
    check=SimilarText(SIMILAR, same_characters),
    expects="the summary stays much the same, whatever its script and width",
    carry=where_same(same_characters),
)
_BY_SCRIPT = EVERY | {"summarization": _SAME_SUMMARY}


@in_chinese("script", _WRITING, _BY_SCRIPT, needs=("jieba", "opencc"), version="2", kind=Throughout)
def script(text: Analysis, choices: random.Random) -> str | None:
    """All is in traditional characters, or, of a text that is, in simplified ones.

    Keeps every word; may break labels of where a text comes from, and systems that know one script only, which is what
    it looks for.

    Characters of Taiwan; words that Taiwan has for itself are not used. No group where a simplified character may stand
    for several traditional ones.

    >>> script(Analysis("我们常常一起上学。", "zh"), random.Random(0))
    '我們常常一起上學。'
    """
    return simplified(text.text) if is_traditional(text.text) else to_taiwan(text)


_NARROW = re.compile("[0-9A-Za-z]+")
_WIDE = re.compile("[０-９Ａ-Ｚａ-ｚ]+")


@in_chinese("letter-width", _WRITING, _BY_SCRIPT)
def letter_width(text: Analysis, choices: random.Random) -> str | None:
    """Digits and Latin letters are of full width, or, where they are, of half width.

    Keeps every letter and digit; may break codes, formulas and file names, which are other ones in full width, and
    columns that were even.

    Texts with an address (of mail, of the web) make no group.

    >>> letter_width(Analysis("会议在2015年举行。", "zh"), random.Random(0))
    '会议在２０１５年举行。'
    """
    if "@" in text.text or "www" in text.text or "://" in text.text:
        return None
    if _WIDE.search(text.text):
        return _WIDE.sub(lambda match: unicodedata.normalize("NFKC", match.group()), text.text)
    return _NARROW.sub(lambda match: "".join(chr(ord(sign) + 0xFEE0) for sign in match.group()), text.text)


_WESTERN = {"，": ",", "。": ".", "？": "?", "！": "!", "；": ";", "：": ":", "（": "(", "）": ")"}
_FULL_MARK = re.compile(f"[{''.join(_WESTERN)}]")
_BETWEEN = re.compile(
    r"(?<=[\d:：])[:：](?=\d)|[.。]{2}|(?<=\d)[，。](?=\d)|\n[^\n]{0,3}[)）]|[;:]-?[()（）]|[：；][（）]"
)
"""Where a mark of the West would be another sign: in times and numbers, dots, faces."""


@in_chinese("western-marks", _WRITING, version="2", kind=Throughout)
def western_marks(text: Analysis, choices: random.Random) -> str | None:
    """Commas, stops, colons, brackets and the like are those of the West, as much of the web types them.

    Keeps every word; may break labels of careful writing or source, and where sentences end, for whoever knows 。
    alone.

    All of a text. No group where one of them would be another sign: between digits, in a face.

    >>> western_marks(Analysis("他来了，她走了。", "zh"), random.Random(0))
    '他来了,她走了.'
    """
    if _BETWEEN.search(text.text):
        return None
    return _FULL_MARK.sub(lambda match: _WESTERN[match.group()], text.text)


@in_chinese(
    "last-mark",
    _WRITING,
    {task: use for task, use in EVERY.items() if task != "summarization"},
    version="2",
    kind=Throughout,
)
def last_mark(text: Analysis, choices: random.Random) -> str | None:
    """The last full stop or question mark is left out, or a full stop is put where there is no mark.

    Keeps every word; may break whether a short text reads as a heading or as a sentence, and labels of register.

    Of both texts of a pair, or none. Headings get none. A question that no word asks (他来？) keeps its mark.

    >>> last_mark(Analysis("他来了。", "zh"), random.Random(0))
    '他来了'
    >>> last_mark(Analysis("天黑了，他来了", "zh"), random.Random(0))
    '天黑了，他来了。'
    """
    body = text.text.rstrip()
    if re.search(r"[\u4e00-\u9fff]\Z", body):
        return f"{body}。" if "，" in body and not _ASKING.search(body) else None
    if re.search(r"[^\s。.…！!？?]。\Z", body):
        return body[:-1]
    asked = re.split("[，。！；,]", body)[-1]
    return body[:-1] if re.search(r"[\u4e00-\u9fff][？?]\Z", body) and _ASKING.search(asked) else None


_ASKING = re.compile("[吗呢哪谁几]|什么|怎么|怎样|如何|为何|何时|何地|多少|多久|多大|是否|是不是|有没有")

# Numbers and dates.

_DIGITS = "零一二三四五六七八九"
_COUNTED = "个名位家次件辆栋套种条项座所本匹棵只张篇幅艘架"
_DIGIT = re.compile(
    rf"(?<![\d.,、:：\-~～—–/第A-Za-z+＋])([2-9])(?=[{_COUNTED}][\u4e00-\u9fff])(?!个百分点|个月|位数|项目)"
)
_NUMERAL = re.compile(
    rf"(?<![“A-Za-z嘴零一二三四五六七八九十百千万亿两几数第某每这那上下前后近十之前\d.·])([两三四五六七八九])(?=[{_COUNTED}][\u4e00-\u9fff])"
    "(?![个项大](?:代表|全面|自信|意识|维护|确保|坚持|务必|倡导|文明|百分点|月|为主|一百|基本)|棵松)"
)
_VALUES = {"两": "2", **{sign: str(value) for value, sign in enumerate(_DIGITS) if value}}


_MEASURED = (
    "[个名位次家件辆栋套种条项座所本匹棵只张篇幅艘架根起台人岁天户间处份批场支部道层片块轮门排组队只对双遍杯瓶米元]"
)
_LEFT_DIGIT = re.compile(rf"\d\s?(?:多|余)?{_MEASURED}")
_LEFT_NUMERAL = re.compile(
    rf"(?<!第)[一两二三四五六七八九十百](?:多|余)?{_MEASURED}|[一二三四五六七八九][到至、][一两二三四五六七八九]"
)
"""Counts that are still written in the old way."""
_NO_COUNT = re.compile(
    r"\d本[网人院法案次罪届]|[八8]项规定|麻将|位一体|条屏|[一二三四五六七八九][、，][一二三四五六七八九][、，]?"
)


@in_chinese("small-numbers", _WRITING, version="2", kind=Throughout)
def small_numbers(text: Analysis, choices: random.Random) -> str | None:
    """Small numbers of things are written in characters, or, where none is in digits, in digits.

    Keeps every count; may break names and set phrases with a number that our rules lack (五棵松 was one), and the look
    of formal texts.

    Only 2 to 9 right before a measure word; set phrases (三个代表) stay. No group where other counts would be left in
    the old way.

    >>> [small_numbers(Analysis(text, "zh"), random.Random(0)) for text in ("他有3本书。", "来了两个人。")]
    ['他有三本书。', '来了2个人。']
    """
    if is_traditional(text.text) or _NO_COUNT.search(text.text):
        return None
    if _DIGIT.search(text.text):
        new = _DIGIT.sub(lambda match: "两" if match[1] == "2" else _DIGITS[int(match[1])], text.text)
        return None if _LEFT_DIGIT.search(new) else new
    new = _NUMERAL.sub(lambda match: _VALUES[match[1]], text.text)
    return None if _LEFT_NUMERAL.search(new) or _LEFT_DIGIT.search(text.text) else new


_PERCENT = re.compile(r"(?<![\d.．×*,\-~～—–至到:：/A-Za-z])(\d{1,2}|100)(\.\d{1,3})?[%％](?![\d\-~～—–至到/])")


@in_chinese("percentages", _WRITING, version="2", kind=Throughout)
def percentages(text: Analysis, choices: random.Random) -> str | None:
    """A percentage is written in characters: 百分之三十 for 30%.

    Keeps every value; may break labels of genre: tables, headlines and reports on money write 30%.

    >>> percentages(Analysis("价格上涨了12.5%。", "zh"), random.Random(0))
    '价格上涨了百分之十二点五。'
    """
    new = _PERCENT.sub(lambda match: f"百分之{_spelled(int(match[1]))}{_decimals(match[2] or '')}", text.text)
    return new if not re.search("[%％]", new) else None


def _spelled(number: int) -> str:
    """A number from 0 to 100 in characters."""
    tens, ones = divmod(number, 10)
    if number == 100:
        return "百"
    return ("" if not tens else "十" if tens == 1 else f"{_DIGITS[tens]}十") + (
        _DIGITS[ones] if ones or not tens else ""
    )


def _decimals(text: str) -> str:
    return "点" + "".join(_DIGITS[int(sign)] for sign in text[1:]) if text else ""


_DAY = re.compile(r"(?<=月)(\d{1,2})(日|号)(?![电讯报刊线楼院令文])")


_FORMAL = re.compile(
    r"[日号](?:[电讯]|\s*\d)|日[^，。]{0,12}(?:出生|生于|生，)|月0\d|\[[^\]]*[日号]|原告|被告|[起上公反申控]诉|诉[讼至称]|法院|审理|判决|被执行|羁押|逮捕|刑事拘留|仲裁|经查|公告|通告"
)
"""Rulings, notices, stamps of pages, and what news begins with: nobody writes 号 there."""


@in_chinese("dates", _WRITING, version="2", kind=Throughout)
def dates(text: Analysis, choices: random.Random) -> str | None:
    """The day of a date is 号 instead of 日, or the other way round.

    Keeps every day; may break labels of register: 号 is spoken, 日 written.

    No group where other days stand without a month (24日至27日), in what news begins with (新华社北京1月1日电), in
    rulings, and in traditional characters.

    >>> dates(Analysis("他7月18日来。", "zh"), random.Random(0))
    '他7月18号来。'
    """
    if _FORMAL.search(text.text) or is_traditional(text.text):
        return None
    kinds = {match[2] for match in _DAY.finditer(text.text)}
    if not kinds:
        return text.text
    other = {"日": "号", "号": "日"}
    new = _DAY.sub(lambda match: match[1] + other[match[2]], text.text)
    return new if len(kinds) == 1 and not re.search(rf"\d{kinds.pop()}", new) else None
