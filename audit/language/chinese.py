"""Words of Chinese text with tags of the People's Daily corpus (Peking University): n noun, nr person, ns place, nt
organisation, v verb, r pronoun, m number, q measure word, w punctuation and so on. `TAGGERS` says who finds them.
"""

import logging
import unicodedata
from collections.abc import Callable
from functools import cache

from audit.errors import NotInstalled, UnknownName
from audit.language.text import Token

DEFAULT = "jieba"


def chinese(text: str, tagger: str = DEFAULT) -> tuple[Token, ...]:
    """Tokens of a Chinese text by this tagger; white space is none.

    Raises UnknownName for a tagger that is not known, NotInstalled where its package is absent.
    """
    if tagger not in TAGGERS:
        raise UnknownName("tagger", tagger, list(TAGGERS))
    return TAGGERS[tagger](text)


def _jieba(text: str) -> tuple[Token, ...]:
    tokens: list[Token] = []
    at = 0
    for word, tag in _posseg().cut(text):
        end = at + len(word)
        if not word.isspace():
            tokens.append(Token(word, "w" if unicodedata.category(word[0])[0] == "P" else tag, at, end))
        at = end
    return tuple(tokens)


@cache
def _posseg():
    try:
        import jieba
        import jieba.posseg
    except ImportError as problem:
        raise NotInstalled('Chinese needs jieba; run: pip install "audit[chinese]"') from problem
    jieba.setLogLevel(logging.WARNING)
    return jieba.posseg.POSTokenizer(jieba.Tokenizer())


TAGGERS: dict[str, Callable[[str], tuple[Token, ...]]] = {"jieba": _jieba}
