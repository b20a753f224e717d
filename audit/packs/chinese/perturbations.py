"""Perturbations of Chinese texts: noise in characters, other ways to write the same, words, statements, sentences.

Their names are others than those of English perturbations, since a relation of a task has one name, one function and
one list of packages; docs/reference/chinese.md says which belong together.

Noise: in words that change, the tagger's words of two characters or more, no character that counts, negates or refers
is touched, so that a reader still reads what was meant; names stay. What comes out of noise is no other word.
"""

import random
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from itertools import pairwise
from typing import Any

from audit.errors import NotInstalled
from audit.packs.chinese.relations import TASKS as STUDIED
from audit.packs.chinese.relations import is_ended
from audit.packs.chinese.taggers import DEFAULT, is_traditional, jieba, opencc, simplified
from audit.relations.base import Perturb, Plain, Rewritten, Source, Words, maps, where_same
from audit.relations.expect import TITLES, Mapped, SimilarText, plain_words
from audit.relations.uses import EVERY, FIRST, SECOND, SIMILAR, Use, relation, uses
from audit.resources import data_file
from audit.tasks import Input
from audit.text import Analysis
from audit.text.tokens import words


def in_chinese(
    name: str, family: str, tasks: Mapping[str, Use] = EVERY, *, reads_words: bool = False, **options: Any
) -> Callable[[Perturb], Perturb]:
    """The decorator `perturbation` for texts in Chinese; one that `reads_words` has the parameter `tagger`."""
    params = {"tagger": DEFAULT} if reads_words else None
    return relation(name, family=family, tasks=by_name(tasks), languages=("zh",), params=params, **options)


def by_name(tasks: Mapping[str, Use]) -> dict[str, Use]:
    """These uses; a run takes none of them by default in a task of the study, which has its own relations."""
    return {task: replace(use, default=False) if task in STUDIED else use for task, use in tasks.items()}


@dataclass(frozen=True, kw_only=True)
class Throughout(Plain):
    """A perturbation that changes all texts of an input or none, so that both of a pair are written in one way.

    None from it says of a text that it cannot be changed as it should be; the text itself, that nothing is to change.
    It makes no random choices.
    """

    def make_group(self, source: Source) -> tuple[list[Input], Words]:
        read = source.analyses if self.changes == "all" and self.reads(source) else ()
        if any(place < len(read) and self.perturb(read[place], random.Random(0)) is None for place in self.texts):
            return [], ()
        return Plain.make_group(self, source)


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
_COMMON = 2600
"""Characters that people type; the ones that stand most often in the words of jieba's dictionary."""


def _noisy(text: Analysis, choices: random.Random, tagger: str, change: Callable[[str], Iterator[str]]) -> str | None:
    """The text with a tenth of its words changed, at least one; None where none of them can be."""
    text = text.tagged_by(tagger)
    frequencies = _frequencies()
    places = [
        at
        for at, token in enumerate(text.tokens)
        if token.tag in _TOUCHABLE
        and _HAN.fullmatch(token.text)
        and _KEPT.isdisjoint(token.text)
        and frequencies.get(token.text)  # a tagger also makes words of pieces of two
    ]
    choices.shuffle(places)
    new: dict[int, str] = {}
    for at in places:
        # a dictionary also lists beginnings of its words, with frequency 0
        candidates = [word for word in change(text.tokens[at].text) if not frequencies.get(word)]
        if candidates:
            new[at] = choices.choice(candidates)
        if len(new) == max(1, round(_SHARE * len(text.tokens))):
            break
    return text.replace(new) if new else None


def _frequencies() -> Mapping[str, int]:
    """The words of jieba's dictionary with how often they stand in its texts. Raises NotInstalled without jieba."""
    frequencies: Mapping[str, int] = jieba().dt.FREQ
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
    for character, _ in counts.most_common(_COMMON):
        reading = pinyin_dict.get(ord(character), ",")
        encoded = character.encode("gb2312", "ignore")
        is_common = len(encoded) == 2 and 0xB0 <= encoded[0] <= 0xD7  # the first level of GB 2312
        if "," not in reading and character not in _KEPT and is_common:
            readings[reading].append(character)
    return {one: "".join(same).replace(one, "")[:4] for same in readings.values() for one in same}


@cache
def _by_shape() -> Mapping[str, str]:
    """Character -> those that look nearly the same (data/lexicons/chinese_look_alikes.txt)."""
    lines = data_file("lexicons/chinese_look_alikes.txt").read_text(encoding="utf-8").splitlines()
    alike: dict[str, str] = defaultdict(str)
    for group in (group for line in lines if not line.startswith("#") for group in line.split()):
        for character in group:
            alike[character] += group.replace(character, "")
    return alike


def _replaced(word: str, others: Mapping[str, str]) -> Iterator[str]:
    for at, character in enumerate(word):
        for other in others.get(character, ""):
            yield word[:at] + other + word[at + 1 :]


def _swaps(word: str) -> Iterator[str]:
    for at, (one, other) in enumerate(pairwise(word)):
        if one != other:
            yield word[:at] + other + one + word[at + 2 :]


@in_chinese("homophones", _NOISE, reads_words=True, needs=("jieba", "pypinyin"), version="2")
def homophones(text: Analysis, choices: random.Random, tagger: str = DEFAULT) -> str | None:
    """A character of one word in ten is another one of the same sound and tone, as one who types by sound picks it.

    Keeps how every word sounds; may break what is asked of the spelling itself, and the sense of a rare word that
    several others sound like.

    No names, numbers, negations.
    """
    return _noisy(text, choices, tagger, lambda word: _replaced(word, _by_sound()))


@in_chinese("look-alikes", _NOISE, reads_words=True, needs=("jieba",), version="2")
def look_alikes(text: Analysis, choices: random.Random, tagger: str = DEFAULT) -> str | None:
    """A character of one word in ten is one that looks nearly the same, as a scanner reads it.

    Keeps how every word looks at a glance; may break how real a typed text looks, since nobody who types takes one
    shape for another.
    """
    return _noisy(text, choices, tagger, lambda word: _replaced(word, _by_shape()))


@in_chinese("swapped-characters", _NOISE, reads_words=True, needs=("jieba",), version="2")
def swapped_characters(text: Analysis, choices: random.Random, tagger: str = DEFAULT) -> str | None:
    """Two characters inside one word in ten change places.

    Keeps every character; may break where words end: a swapped character may join its neighbour to another word.
    """
    return _noisy(text, choices, tagger, _swaps)


@in_chinese("repeated-characters", _NOISE, reads_words=True, needs=("jieba",), version="2")
def repeated_characters(text: Analysis, choices: random.Random, tagger: str = DEFAULT) -> str | None:
    """The last character of one word in ten stands twice, as a key that was pressed twice.

    Keeps every word; may break tone, since doubled characters sound childish, or mean "a little" behind a verb.
    """
    return _noisy(text, choices, tagger, lambda word: iter([word + word[-1]] if word[-1] != word[-2] else []))


@in_chinese("stray-spaces", _NOISE)
def stray_spaces(text: Analysis, choices: random.Random) -> str | None:
    """A space stands between two characters, in one of ten places, as in text out of a file with a layout.

    Keeps every character; may break where words end, for whoever takes a space for a border, and labels of layout.
    """
    gaps = [match.end() for match in re.finditer(r"[\u4e00-\u9fff](?=[\u4e00-\u9fff])", text.text)]
    chosen = set(choices.sample(gaps, max(1, round(_SHARE * len(gaps))))) if gaps else set()
    return "".join(" " * (at in chosen) + sign for at, sign in enumerate(text.text)) if chosen else None


# Other ways to write the same.

_WRITING = "another way to write"


def same_characters(text: str) -> str:
    """The words of a text (`plain_words`) in simplified characters, letters and digits of half width.

    >>> same_characters("體育２０１５")
    '体 育 2015'
    """
    return plain_words(unicodedata.normalize("NFKC", simplified(text)))


_BY_SCRIPT = EVERY | {
    "summarization": Use(
        check=SimilarText(SIMILAR, same_characters),
        expects="the summary stays much the same, whatever its script and width",
        carry=where_same(same_characters),
    )
}


@in_chinese("script", _WRITING, _BY_SCRIPT, needs=("jieba", "opencc"), version="2", kind=Throughout)
def script(text: Analysis, choices: random.Random) -> str | None:
    """All is in traditional characters, or, of a text that is, in simplified ones.

    Keeps every word; may break labels of where a text comes from, and systems that know one script only, which is what
    it looks for.

    Characters of Taiwan; words that Taiwan has for itself are not used. No group where a simplified character may stand
    for several traditional ones.
    """
    return simplified(text.text) if is_traditional(text.text) else to_taiwan(text)


_ALONE = frozenset("系制复干斗谷范松征准卷冲丑赞姜咸签游面钟划喂舍岩岳郁注朴")
"""Simplified characters that stand for several traditional ones; as words of their own, nothing says for which."""
_NAMES = _ALONE | frozenset("余于里后采淀适据涂并云只发表")
"""Those of them, and others, that are written otherwise in names: 余某 is no 餘某, 里卡多 no 裡卡多."""
_BOTH_WAYS = re.compile(
    "自制|批复|复议|复制品|[染烫脱掉秀束护生]发(?!生)|[千万百十\\d]+里(?!面|头|边)|[\\d一二两三四五六七八九十百千万几每]只(?![有是要能])"
    "|干(?=[菇果货了])|天干|冲抵|克制|面(?=馆|店|摊)|手.表|多钟|\\d ?周(?!年|岁|边)"
)
"""What is one word or another: 自制 is what one made oneself (自製), or to control oneself (自制)."""
_DOUBTFUL = re.compile(
    "(?<!參)贊(?![同成助許])|(?<![標書竹棉牙抽求])籤(?!筒)|(?<![標精對校基瞄水為認找])準(?![備確則時繩])|[剋巖]|髮(?=[生現展布])"
)
"""What the table makes of single characters where it knows no word."""


def to_taiwan(text: Analysis) -> str | None:
    """The text in the traditional characters of Taiwan; None where a character may stand for several of them.

    The table of OpenCC has many words, but takes the longest that a text has: 31个中小型 has its 个中 (箇中). So the
    text is converted as a whole and word by word, and both must agree. A character of several forms must stand in a
    word of the dictionary, and in no name. Raises NotInstalled without the tagger.

    >>> to_taiwan(Analysis("我们常常一起上学。", "zh")), to_taiwan(Analysis("他系海南人。", "zh"))
    ('我們常常一起上學。', None)
    """
    new: str = opencc("s2tw").convert(text.text)
    if len(new) != len(text.text) or _BOTH_WAYS.search(text.text) or _DOUBTFUL.search(new):
        return None
    for token in text.tagged_by(DEFAULT).tokens:
        if new[token.start : token.end] != _in_taiwan(token.text):
            return None
        is_name = token.tag in ("nr", "nz", "nt")
        is_word = len(token.text) > 1 and token.tag != "nr" and _frequencies().get(token.text)
        if not is_word and not (_NAMES if is_name else _ALONE).isdisjoint(token.text):
            return None
        if is_name and not _NAMES.isdisjoint(token.text):
            return None
    return new


@lru_cache(maxsize=4096)
def _in_taiwan(word: str) -> str:
    converted: str = opencc("s2tw").convert(word)
    return converted


@in_chinese("letter-width", _WRITING, _BY_SCRIPT)
def letter_width(text: Analysis, choices: random.Random) -> str | None:
    """Digits and Latin letters are of full width, or, where they are, of half width.

    Keeps every letter and digit; may break codes, formulas and file names, which are other ones in full width, and
    columns that were even.

    Texts with an address (of mail, of the web) make no group.
    """
    if re.search("@|www|://", text.text):
        return None
    new = re.sub("[０-９Ａ-Ｚａ-ｚ]", lambda match: chr(ord(match[0]) - 0xFEE0), text.text)
    return new if new != text.text else re.sub("[0-9A-Za-z]", lambda match: chr(ord(match[0]) + 0xFEE0), new)


_WESTERN = str.maketrans("，。？！；：（）", ",.?!;:()")
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
    """
    return None if _BETWEEN.search(text.text) else text.text.translate(_WESTERN)


_ASKING = re.compile("[吗呢哪谁几]|什么|怎么|怎样|如何|为何|何时|何地|多少|多久|多大|是否|是不是|有没有")


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
    """
    body = text.text.rstrip()
    if re.search(r"[\u4e00-\u9fff]\Z", body):
        return f"{body}。" if "，" in body and not _ASKING.search(body) else None
    if re.search(r"[^\s。.…！!？?]。\Z", body):
        return body[:-1]
    asked = re.split("[，。！；,]", body)[-1]
    return body[:-1] if re.search(r"[\u4e00-\u9fff][？?]\Z", body) and _ASKING.search(asked) else None


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
_MEASURED = f"[{_COUNTED}根起台人岁天户间处份批场支部道层片块轮门排组队对双遍杯瓶米元]"
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
    """
    if is_traditional(text.text) or _NO_COUNT.search(text.text):
        return None
    if _DIGIT.search(text.text):
        new = _DIGIT.sub(lambda match: "两" if match[1] == "2" else _DIGITS[int(match[1])], text.text)
        return None if _LEFT_DIGIT.search(new) else new
    new = _NUMERAL.sub(lambda match: str(_DIGITS.replace("二", "两").index(match[1])), text.text)
    return None if _LEFT_NUMERAL.search(new) or _LEFT_DIGIT.search(text.text) else new


_PERCENT = re.compile(r"(?<![\d.．×*,\-~～—–至到:：/A-Za-z])(\d{1,2}|100)(\.\d{1,3})?[%％](?![\d\-~～—–至到/])")


@in_chinese("percentages", _WRITING, version="2", kind=Throughout)
def percentages(text: Analysis, choices: random.Random) -> str | None:
    """A percentage is written in characters: 百分之三十 for 30%.

    Keeps every value; may break labels of genre: tables, headlines and reports on money write 30%.
    """
    new = _PERCENT.sub(lambda match: f"百分之{_spelled(int(match[1]))}{_decimals(match[2] or '')}", text.text)
    return new if not re.search("[%％]", new) else None


def _spelled(number: int) -> str:
    """A number from 0 to 100 in characters."""
    if number == 100:
        return "百"
    tens, ones = divmod(number, 10)
    before = f"{_DIGITS[tens] if tens > 1 else ''}十" if tens else ""
    return before + (_DIGITS[ones] if ones or not tens else "")


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
    """
    if _FORMAL.search(text.text) or is_traditional(text.text):
        return None
    kinds = {match[2] for match in _DAY.finditer(text.text)}
    if len(kinds) != 1:
        return None if kinds else text.text
    new = _DAY.sub(lambda match: match[1] + ("号" if match[2] == "日" else "日"), text.text)
    return None if re.search(rf"\d{kinds.pop()}", new) else new


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
    """Word -> what it may become, of a kind of data/lexicons/chinese_other_words.tsv.

    >>> other_words("link")["但是"].new
    '可是'
    """
    lines = data_file("lexicons/chinese_other_words.tsv").read_text(encoding="utf-8").splitlines()
    rows = [[*line.split("\t"), ""][:5] for line in lines if line.startswith(f"{kind}\t")]
    return {
        word: Other(frozenset(tags.split(",")) - {"*"}, new, re.compile(unless) if unless else None)
        for _, word, tags, new, unless in rows
    }


def _reworded(kind: str, text: Analysis, most: int, choices: random.Random) -> str | None:
    """The text with some words replaced, each wherever it stands and may be; None where there is none."""
    others = other_words(kind)
    if not any(word in text.text for word in others):
        return None
    titles = [match.span() for match in TITLES.finditer(text.text)]
    new: dict[str, dict[int, str]] = {}
    for at, token in enumerate(text.tokens):
        other = others.get(token.text)
        if other is None or (other.tags and token.tag not in other.tags):
            continue
        around = text.text[max(0, token.start - 4) : token.end + 4]
        if not (other.unless and other.unless.search(around)):
            in_title = any(start < token.start < end for start, end in titles)
            new.setdefault(token.text, {}).update({} if in_title else {at: other.new})
    chosen = [new[word] for word in choices.sample(sorted(new), min(most, len(new)))]
    return text.replace({at: word for places in chosen for at, word in places.items()}) if any(chosen) else None


@in_chinese("other-links", _WORDS, reads_words=True, needs=("jieba",), version="2")
def other_links(text: Analysis, choices: random.Random, tagger: str = DEFAULT) -> str | None:
    """One or two words of grammar become others that do the same: 可是 for 但是, 由于 for 因为.

    Keeps how clauses hang together; may break grammar where the other word wants another neighbour (已经具雏形), and
    rhythm.
    """
    return _reworded("link", text.tagged_by(tagger), 2, choices)


@in_chinese("internet-spellings", _WORDS, reads_words=True, needs=("jieba",))
def internet_spellings(text: Analysis, choices: random.Random, tagger: str = DEFAULT) -> str | None:
    """Up to three words are spelled as people do for fun on the internet: 木有 for 没有.

    Keeps what is said; may break labels of register and of the writer's age, and the tone of a serious text, which
    turns to a joke.
    """
    return _reworded("net", text.tagged_by(tagger), 3, choices)


# Statements denied and affirmed, and questions.

_DENIED = {"entailment": ["contradiction"], "contradiction": ["entailment", "neutral"], "neutral": ["neutral"]}
_OPPOSITE = {
    "inference": Use(
        check=Mapped(tuple((label, tuple(allowed)) for label, allowed in _DENIED.items())),
        expects="entailment becomes contradiction, contradiction does not stay, neutral stays",
        texts=SECOND,
        carry=maps(_DENIED),
    )
}


@in_chinese("untrue-statement", "denial", _OPPOSITE)
def untrue_statement(text: Analysis, choices: random.Random) -> str | None:
    """The hypothesis is denied: “…”这一说法不属实。

    Keeps the premise; may break sense where the hypothesis is a heading, an instruction or an invitation, and which
    part of a long one is denied.

    One sentence without quotation marks, which is no question.
    """
    return _framed(text, "这一说法不属实。")


@in_chinese("true-statement", _WORDS, uses("inference", texts=SECOND))
def true_statement(text: Analysis, choices: random.Random) -> str | None:
    """The hypothesis is affirmed: “…”这一说法属实。

    Keeps what the hypothesis says; may break its tone, which becomes that of an office that answers a rumour.
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
    return f"“{body.removesuffix('。')}”{frame}" if body[-1] == "。" or _SAYS.search(body) else None


_QUESTION = re.compile('[^？?！!。；;：:\n》”"]{4,60}[？?]')
_ASKS = re.compile("[吗呢么哪谁几何啥]|怎|多少|是否|是不是|有没有|能不能|可不可以")
_NO_QUESTION = re.compile(
    r"^(?:[请且但而还那图“‘（(【《\d]|难道|可是|所以|首先|莫非|何况|结果|既然)|不是.*吗|岂|竟然|点击|何况|难道|又怎|更多|然而|奇怪|可想而知|何在|[了的][？?]"
)
"""What is put to nobody, or begins in the middle."""


@in_chinese("may-i-ask", "the question put otherwise", uses("question-answering"))
def may_i_ask(text: Analysis, choices: random.Random) -> str | None:
    """The question is put politely: 请问，….

    Keeps what is asked; may break a rhetorical question, which wants no answer, and labels of politeness.
    """
    body = text.text.strip()
    if not _QUESTION.fullmatch(body) or not _ASKS.search(body) or _NO_QUESTION.search(body):
        return None
    return choices.choice(("请问，", "我想问一下，", "想请教一下，")) + body


# Sentences: more of them. (Another order is MR7.2 and MR7.3 of the study.)

_SENTENCES = "sentences added"
_UNRELATED = EVERY | uses("question-answering", texts=FIRST)


@cache
def _irrelevant() -> Mapping[str, frozenset[str]]:
    """The sentences of data/sentences/chinese_irrelevant.txt with their words of content."""
    sentences = data_file("sentences/chinese_irrelevant.txt").read_text(encoding="utf-8").split()
    analyses = (Analysis(sentence, "zh", DEFAULT) for sentence in sentences)
    return {text.text: frozenset(token.text for token in text.tokens if token.tag[0] in "nva") for text in analyses}


@relation(
    "unrelated-ending",
    by="input",
    family=_SENTENCES,
    tasks=by_name({task: _UNRELATED[task] for task in ("inference", "question-answering", "summarization")}),
    languages=("zh",),
    version="2",
    needs=("jieba", "opencc"),
)
def unrelated_ending(texts: Sequence[Analysis], choices: random.Random) -> Rewritten | None:
    """A sentence about something else stands at the end of the first text.

    Keeps every sentence of the text; may break its thread, and a summary that takes the ending for the point.

    It is one of `data/sentences/chinese_irrelevant.txt` that shares no noun or verb with any text of the input; none
    behind texts in traditional characters.
    """
    joined = "\n".join(text.text for text in texts)
    body = texts[0].text.rstrip()
    if is_traditional(joined) or not is_ended(body.rpartition("\n")[2]) or body[-1] in ".…":
        return None
    free = [sentence for sentence, content in _irrelevant().items() if not any(word in joined for word in content)]
    return Rewritten((body + choices.choice(free), *(text.text for text in texts[1:]))) if free else None


@in_chinese(
    "doubled-sentence",
    _SENTENCES,
    uses("classification", "inference", "question-answering", "sentiment", "summarization", texts=FIRST),
)
def doubled_sentence(text: Analysis, choices: random.Random) -> str | None:
    """One sentence of the text, the context or the premise stands twice, one behind the other.

    Keeps what is said; may break tone, since it sounds insistent, or like a slip of whoever copied the text.
    """
    whole = [(start, end) for start, end in text.spans if text.text[end - 1] in "。！？" and end - start > 4]
    if not whole:
        return None
    start, end = choices.choice(whole)
    return text.text[:end] + text.text[start:end] + text.text[end:]
