"""Words of Chinese text with tags of the People's Daily corpus (`audit.packs.chinese.taggers`), by a tagger of choice.

A tagger's name is `jieba`, which needs nothing but its package, or `hanlp:MODEL`: a directory or a name that
`hanlp.load` knows."""

import unicodedata
from functools import cache, lru_cache
from typing import Any

from audit.errors import NotInstalled
from audit.packs.chinese.phrases import PHRASES
from audit.packs.chinese.sentences import spans
from audit.text.tokens import Token, words
from audit.text.tools import LanguageTools, tagger_of

DEFAULT = "jieba"


def chinese(text: str, tagger: str = DEFAULT) -> tuple[Token, ...]:
    """Tokens of a Chinese text by the tagger of this name; white space is none.

    Raises UnknownName for a tagger that is not known, NotInstalled where its package or its model is absent,
    AuditError for a model that finds no words and tags.

    >>> [token.text for token in chinese("我来到北京清华大学。")]
    ['我', '来到', '北京', '清华大学', '。']
    """
    return tagger_of(tagger)(text)


CHINESE = LanguageTools(chinese, spans, has_taggers=True, phrases=PHRASES)


# Simplified and traditional Chinese characters, told apart by OpenCC.

_MISSING = 'Chinese needs OpenCC; run: pip install "audit[chinese]"'


@lru_cache(maxsize=64)  # all relations of a task ask about the same texts, one after the other
def is_traditional(text: str) -> bool:
    """Whether a text is written in traditional characters: more of its characters have another simplified form than
    have another traditional one.

    A name in traditional characters does not make a simplified text a traditional one; characters that are the same
    in both say nothing. Raises NotInstalled without OpenCC.

    >>> is_traditional("這是繁體中文。"), is_traditional("这是简体中文。"), is_traditional("一二三")
    (True, False, False)
    """
    if text.isascii():
        return False
    simplified, traditional = _converters()
    return _changes(text, simplified.convert(text)) > _changes(text, traditional.convert(text))


def _changes(text: str, other: str) -> int:
    """How many characters differ: a conversion keeps the number of characters, or nearly so."""
    return sum(sign != other_sign for sign, other_sign in zip(text, other, strict=False)) if text != other else 0


@cache
def _converters() -> tuple[Any, Any]:
    try:
        from opencc import OpenCC
    except ImportError as problem:
        raise NotInstalled(_MISSING) from problem
    return OpenCC("t2s"), OpenCC("s2t")


def simplified(text: str) -> str:
    """The text in simplified characters. Raises NotInstalled without OpenCC.

    >>> simplified("我們常常一起上學")
    '我们常常一起上学'
    """
    return text if text.isascii() else _converters()[0].convert(text)


# Tags of other tag sets as tags of the People's Daily corpus, which every Chinese tagger here gives.
#
# Those are: n noun, nr person, ns place, nt organisation, nz other proper name, nx letters, Ng noun of one character
# that
# needs another one, v verb, vn and vd verb used as noun and adverb, Vg, a adjective, an, ad, Ag, d adverb, Dg, r
# pronoun,
# m number, q measure word, t time, Tg, s place word, f direction, b attributive, z state, p preposition, c conjunction,
# u auxiliary, y final particle, e exclamation, o sound, h prefix, k suffix, i idiom, l set phrase, j abbreviation,
# w punctuation; x is what has none.
#
# Source: Yu Shiwen et al., "Specification for corpus processing at Peking University", Journal of Chinese Language and
# Computing 13(2), 2003; Xia Fei, "The part-of-speech tagging guidelines for the Penn Chinese Treebank (3.0)", 2000.

PEOPLES_DAILY = words(
    "n nr ns nt nz nx Ng v vn vd Vg a an ad Ag d Dg r Rg m Mg q Qg t Tg s f b Bg z p c u y Yg e o h k i l j w x"
)

_JIEBA = {
    **{"nrt": "nr", "nrfg": "nr", "eng": "nx", "rr": "r", "rz": "r", "rg": "Rg", "mq": "m", "mg": "Mg", "vi": "v"},
    **{"vq": "v", "ng": "Ng", "vg": "Vg", "ag": "Ag", "dg": "Dg", "tg": "Tg", "df": "d", "g": "Ng", "zg": "Ng"},
    **dict.fromkeys(("uj", "ul", "ug", "ud", "uv", "uz"), "u"),
}
_SINGLE = {
    sign: tag
    for tag, signs in {
        "d": "很仍较甚",
        "r": "每此您",
        "p": "往",
        "c": "虽且",
        "y": "啊矣",
        "q": "件度轮年个元岁",
        "a": "新",
    }.items()
    for sign in signs
}
"""Characters of which jieba's tags are wrong more often than right, or are none (zg)."""
_TREEBANK = {
    **{
        "AD": "d",
        "AS": "u",
        "BA": "p",
        "CC": "c",
        "CD": "m",
        "CS": "c",
        "DEC": "u",
        "DEG": "u",
        "DER": "u",
        "DEV": "u",
    },
    **{"DT": "r", "ETC": "u", "FW": "nx", "IJ": "e", "JJ": "b", "LB": "p", "LC": "f", "M": "q", "MSP": "u", "NN": "n"},
    **{"NN-SHORT": "j", "NR": "nz", "NR-SHORT": "j", "NT": "t", "NT-SHORT": "t", "OD": "m", "ON": "o", "P": "p"},
    **{"PN": "r", "PU": "w", "SB": "p", "SP": "y", "URL": "nx", "VA": "a", "VC": "v", "VE": "v", "VV": "v"},
}
_ENTITIES = {
    **dict.fromkeys(("PERSON", "PER", "nr"), "nr"),
    **dict.fromkeys(("LOCATION", "LOC", "GPE", "ns"), "ns"),
    **dict.fromkeys(("ORGANIZATION", "ORG", "nt"), "nt"),
}


def from_jieba(word: str, tag: str) -> str:
    """A tag of jieba.posseg; what it has no tag for is told by its characters.

    >>> from_jieba("叶利钦", "nrt"), from_jieba("……", "x"), from_jieba("PSV", "eng")
    ('nr', 'w', 'nx')
    """
    if tag == "x" and word.isascii() and word.isalnum():
        return "m" if word.isdigit() else "nx"
    tag = _SINGLE.get(word) or _JIEBA.get(tag, tag)
    return by_characters(word) or (tag if tag in PEOPLES_DAILY else "x")


def from_treebank(tag: str) -> str:
    """A tag of the Chinese Treebank. A proper name (NR) is a person or a place there: `nz` until an entity says which.

    >>> from_treebank("VV"), from_treebank("NR"), from_treebank("PU")
    ('v', 'nz', 'w')
    """
    return _TREEBANK.get(tag, "x")


def to_peoples_daily(tag: str) -> str:
    """A tag of the People's Daily corpus, which it stays, or of the Chinese Treebank; `x` for another one.

    >>> to_peoples_daily("nr"), to_peoples_daily("NN"), to_peoples_daily("NNP")
    ('nr', 'n', 'x')
    """
    return tag if tag in PEOPLES_DAILY else from_treebank(tag)


def from_entity(kind: str) -> str | None:
    """The tag of proper names in an entity of this kind (MSRA, OntoNotes or Peking University); None: it says nothing.

    >>> from_entity("GPE"), from_entity("DATE")
    ('ns', None)
    """
    return _ENTITIES.get(kind)


def by_characters(word: str) -> str:
    """The tag of what is no word: `w` punctuation, `x` emoji and other signs; empty for words.

    >>> by_characters("——"), by_characters("😀"), by_characters("好")
    ('w', 'x', '')
    """
    kinds = {unicodedata.category(sign)[0] for sign in word}
    if kinds <= {"P"}:
        return "w"
    return "" if kinds & {"L", "N"} else "x"
