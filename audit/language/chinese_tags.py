"""Tags of other tag sets as tags of the People's Daily corpus, which every Chinese tagger here gives.

Those are: n noun, nr person, ns place, nt organisation, nz other proper name, nx letters, Ng noun of one character that
needs another one, v verb, vn and vd verb used as noun and adverb, Vg, a adjective, an, ad, Ag, d adverb, Dg, r pronoun,
m number, q measure word, t time, Tg, s place word, f direction, b attributive, z state, p preposition, c conjunction,
u auxiliary, y final particle, e exclamation, o sound, h prefix, k suffix, i idiom, l set phrase, j abbreviation,
w punctuation; x is what has none.

Source: Yu Shiwen et al., "Specification for corpus processing at Peking University", Journal of Chinese Language and
Computing 13(2), 2003; Xia Fei, "The part-of-speech tagging guidelines for the Penn Chinese Treebank (3.0)", 2000.
"""

import unicodedata

from audit.language.wordsets import words

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
