"""Texts in traditional characters: looked up in simplified ones, and converted back.

Taggers, lists of words and thesauri know simplified characters. OpenCC converts one character into one, so what a
relation replaces in the simplified text stands at the same place in the traditional one. A replaced word is read off
there; only the new word is converted, with the characters of Taiwan. All else of a text stays as it is.
"""

import functools
import random
import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache, lru_cache
from typing import Any

from audit.packs.chinese.taggers import DEFAULT, is_traditional, simplified
from audit.relations.base import Rewritten
from audit.relations.expect import replace_words
from audit.text import Analysis

Rewriter = Callable[..., "Rewritten | None"]
"""Texts, choices and parameters -> the follow-up."""


def in_simplified(rewrite: Rewriter) -> Rewriter:
    """The rewriting of words, which is shown texts in simplified characters only; its follow-ups have the source's.

    None where the words cannot be converted there and back without a doubt. Raises NotInstalled without OpenCC.

    >>> from audit.packs.chinese.relations import nouns
    >>> nouns([Analysis("他去醫院看了醫生。", "zh")], random.Random(0))
    Rewritten(texts=('他去醫院看了大夫。',), words=(('醫生', '大夫'),))
    """

    @functools.wraps(rewrite)
    def rewrite_any(texts: Sequence[Analysis], choices: random.Random, **params: Any) -> Rewritten | None:
        if not any(is_traditional(text.text) for text in texts):
            return rewrite(texts, choices, **params)
        plain = [as_simplified(text) for text in texts]
        if any(len(text.text) != len(other.text) for text, other in zip(texts, plain, strict=True)):
            return None
        rewritten = rewrite(plain, choices, **params)
        return _converted_back(texts, plain, rewritten) if rewritten else None

    return rewrite_any


def as_simplified(text: Analysis) -> Analysis:
    """The analysis itself, or that of the text in simplified characters.

    >>> as_simplified(Analysis("這是醫生。", "zh")).text
    '这是医生。'
    """
    return _analysis(text.text) if is_traditional(text.text) else text


@lru_cache(maxsize=64)  # all relations of a task ask about the same texts, one after the other
def _analysis(text: str) -> Analysis:
    return Analysis(simplified(text), "zh")


def _converted_back(texts: Sequence[Analysis], plain: Sequence[Analysis], rewritten: Rewritten) -> Rewritten | None:
    words: dict[str, str] = {}
    for old, new in rewritten.words:
        for text, other in zip(texts, plain, strict=True):
            for at in _places(old, other.text):
                surface = text.text[at : at + len(old)]
                words[surface] = _to_traditional().convert(new) if text is not other else new
    pairs = tuple(words.items())
    new_texts = tuple(replace_words(text.text, pairs) for text in texts)
    expected = zip(new_texts, plain, texts, rewritten.texts, strict=True)
    if any((simplified(new) if other is not text else new) != wanted for new, other, text, wanted in expected):
        return None
    return Rewritten(new_texts, pairs)


def _places(old: str, text: str) -> Iterator[int]:
    at = text.find(old)
    while at >= 0:
        yield at
        at = text.find(old, at + 1)


_ALONE = frozenset("系制复干斗谷范松征准卷冲丑赞姜咸签游面钟划喂舍岩岳郁注朴")
"""Simplified characters that stand for several traditional ones; as words of their own, nothing says for which."""
_NAMES = _ALONE | frozenset("余于里后采淀适据涂并云只发表")
"""Those of them, and others, that are written otherwise in names: 余某 is no 餘某, 里卡多 no 裡卡多."""
_OF_NAMES = ("nr", "nz", "nt")
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
    new: str = _to_traditional().convert(text.text)
    if len(new) != len(text.text) or _BOTH_WAYS.search(text.text) or _DOUBTFUL.search(new):
        return None
    for token in text.tagged_by(DEFAULT).tokens:
        if new[token.start : token.end] != _of_word(token.text):
            return None
        unsure = _NAMES if token.tag in _OF_NAMES else _ALONE
        if not unsure.isdisjoint(token.text) and (
            len(token.text) == 1 or token.tag == "nr" or not _is_word(token.text)
        ):
            return None
    return new


@lru_cache(maxsize=4096)
def _of_word(word: str) -> str:
    converted: str = _to_traditional().convert(word)
    return converted


def _is_word(text: str) -> bool:
    """Whether jieba's dictionary has the word."""
    from jieba import dt  # the tagger has said where it is missing

    dt.initialize()
    return bool(dt.FREQ.get(text))


@cache
def _to_traditional() -> Any:
    from opencc import OpenCC  # `is_traditional` has said where it is missing

    return OpenCC("s2tw")
