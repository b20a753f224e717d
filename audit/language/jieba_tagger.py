"""Chinese words and tags by jieba, the tagger that needs no model."""

import logging
import re
import warnings
from functools import cache
from importlib.metadata import version

from audit.errors import NotInstalled
from audit.language.chinese_tags import from_jieba
from audit.language.jieba_corrections import Word, corrected
from audit.language.text import Token

RULES = "1"
"""Which corrections of jieba's tags these are; part of the version."""
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
        return tuple(Token(word, tag, start, start + len(word)) for word, tag, start in corrected(words, abroad))


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
