"""Texts in traditional characters: looked up in simplified ones, and converted back.

Taggers, lists of words and thesauri know simplified characters. OpenCC converts one character into one, so what a
relation replaces in the simplified text stands at the same place in the traditional one. A replaced word is read off
there; only the new word is converted, with the characters of Taiwan. All else of a text stays as it is.
"""

import functools
import random
from collections.abc import Callable, Iterator, Sequence
from functools import cache, lru_cache
from typing import Any

from audit.packs.chinese.taggers import is_traditional, simplified
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


@cache
def _to_traditional() -> Any:
    from opencc import OpenCC  # `is_traditional` has said where it is missing

    return OpenCC("s2tw")
