"""Chinese words and tags by jieba, the tagger that needs no model."""

import logging
import re
import warnings
from collections.abc import Iterator
from functools import cache
from importlib.metadata import version

from audit.errors import NotInstalled
from audit.language.chinese_tags import from_jieba
from audit.language.text import Token

RULES = "1"
"""Which corrections of jieba's tags these are; part of the version."""
_RUN = re.compile(r"([…⋯—─])\1*")
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
        return tuple(Token(word, tag, start, start + len(word)) for word, tag, start in _joined(self._words(text)))

    def _words(self, text: str) -> Iterator[tuple[str, str, int]]:
        at = 0
        for half, tag in self._cut(_FULL_POINT.sub(".", text.translate(_HALF))):
            word = text[at : at + len(half)]
            if not word.isspace():
                yield word, from_jieba(half, tag), at
            at += len(half)


def _joined(words: Iterator[tuple[str, str, int]]) -> Iterator[tuple[str, str, int]]:
    """Dashes and ellipses of two signs are one word."""
    before = ("", "", 0)
    for word, tag, at in words:
        if before[0] and before[2] + len(before[0]) == at and _RUN.fullmatch(before[0] + word):
            before = (before[0] + word, tag, before[2])
            continue
        if before[0]:
            yield before
        before = (word, tag, at)
    if before[0]:
        yield before


@cache
def _posseg():
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # jieba asks for pkg_resources, which warns that it will go
            import jieba
            import jieba.posseg
    except ImportError as problem:
        raise NotInstalled(_MISSING) from problem
    jieba.setLogLevel(logging.WARNING)
    return jieba.posseg.POSTokenizer(jieba.Tokenizer())
