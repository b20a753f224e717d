"""Words of English texts with tags of the Penn Treebank."""

import re
from collections.abc import Sequence
from functools import lru_cache

from audit.packs.english import parser
from audit.packs.english.phrases import PHRASES
from audit.text.tokens import Token
from audit.text.tools import LanguageTools

# Forms of English words: lemmas of verbs and numbers of nouns. A thin, cached layer over lemminflect.

_IRREGULAR_ONLY = frozenset({"is", "are", "am", "was", "were", "be", "been", "being"})
# lemminflect's own lists give these a regular or an odd form first.
_PLURALS = {"cliché": "clichés", "fan": "fans", "person": "people", "movie": "movies", "persona": "personas"}
_SINGULARS = {"people": "person", "movies": "movie", "clichés": "cliché", "series": None, "species": None}


@lru_cache(maxsize=65536)
def known_as(word: str, part: str) -> bool:
    """Whether the dictionary knows the lower-cased word as this part of speech: NOUN, VERB, ADJ or ADV.

    >>> known_as("offers", "VERB"), known_as("kiwi", "VERB")
    (True, False)
    """
    from lemminflect import getAllLemmas

    return part in getAllLemmas(word)


@lru_cache(maxsize=65536)
def is_word(word: str) -> bool:
    """Whether the dictionary knows the lower-cased word, as whatever part of speech.

    >>> is_word("films"), is_word("wodnerful")
    (True, False)
    """
    from lemminflect import getAllLemmas

    return bool(getAllLemmas(word))


@lru_cache(maxsize=65536)
def base(verb: str) -> str | None:
    """The base form of a lower-cased verb form, or None where the dictionary knows no such verb.

    >>> base("makes"), base("went"), base("kiwi")
    ('make', 'go', None)
    """
    if verb in _IRREGULAR_ONLY:
        return "be"
    from lemminflect import getAllLemmas

    lemmas = getAllLemmas(verb).get("VERB")
    if not lemmas:
        return None
    # "found" is a form of find and the base of found: as an inflected form the other verb is always meant.
    others = [lemma for lemma in lemmas if lemma != verb]
    base_form: str = others[0] if others and verb in {"found", "felt", "saw", "left", "lay", "wound"} else lemmas[0]
    return base_form


@lru_cache(maxsize=65536)
def forms(verb: str, mark: str) -> tuple[str, ...]:
    """Spellings of a base verb under a Penn tag (VBZ, VBD, VBN, VBG); empty where unknown.

    >>> forms("go", "VBN")
    ('gone',)
    """
    from lemminflect import getInflection

    return tuple(getInflection(verb, tag=mark, inflect_oov=False))


@lru_cache(maxsize=65536)
def is_form(word: str, mark: str) -> bool:
    """Whether a lower-cased word can be this form (VB, VBZ, VBD, VBN, VBG) of a verb.

    >>> is_form("seen", "VBN"), is_form("saw", "VBN"), is_form("come", "VBN")
    (True, False, True)
    """
    from lemminflect import getAllLemmas

    lemmas = getAllLemmas(word).get("VERB", ())
    if mark == "VB":
        return word in lemmas
    return any(word in forms(lemma, mark) for lemma in lemmas)


@lru_cache(maxsize=16384)
def plural(noun: str) -> str | None:
    """The plural of a lower-cased singular noun, or None where it is not known.

    >>> plural("story"), plural("child")
    ('stories', 'children')
    """
    if noun in _PLURALS:
        return _PLURALS[noun]
    from lemminflect import getInflection

    inflections = getInflection(noun, tag="NNS", inflect_oov=False)
    return inflections[0] if inflections and inflections[0] != noun else None


@lru_cache(maxsize=16384)
def singular(noun: str) -> str | None:
    """The singular of a lower-cased plural noun, or None where it is not known or no plural.

    >>> singular("stories"), singular("women")
    ('story', 'woman')
    """
    if noun in _SINGULARS:
        return _SINGULARS[noun]
    from lemminflect import getAllLemmas

    lemmas = getAllLemmas(noun).get("NOUN", ())
    return lemmas[0] if lemmas and lemmas[0] != noun else None


# Words of a text, tagged with its trees by the parser.

_ENGLISH = re.compile(
    r"""
      \.\.+ | --+ | [$£€]?\d+(?:[.,:]\d+)*(?:'?s\b|th\b|st\b|nd\b|rd\b)?%?      # ellipsis, dashes, numbers
    | (?:[A-Za-z]\.){2,}                                                        # U.S.
    | (?:mr|mrs|ms|dr|jr|sr|st|vs|etc)\.(?=\s|$)                                # titles
    | \w+?(?=n['’]t\b) | n['’]t\b                                               # is + n't
    | ['’](?:s|re|ve|ll|d|m|em|til|tis|cause)\b                                 # it + 's
    | \w+(?:[-&]\w+)*(?:(?<=o)['’](?=\w)\w+)?                                   # words, hyphens, o'brien
    | \S
    """,
    re.VERBOSE | re.IGNORECASE,
)


def _english(text: str) -> tuple[Token, ...]:
    return _all_english([text])[0]


def _all_english(texts: Sequence[str]) -> list[tuple[Token, ...]]:
    unparsed = []
    for matches in map(_split, texts):
        words = [word for word, _, _ in matches]
        unparsed.append(parser.Unparsed(words, _as_seen(words), [(start, end) for _, start, end in matches]))
    return list(parser.parse(unparsed))


def _split(text: str) -> list[tuple[str, int, int]]:
    return [(match.group(), *match.span()) for match in _ENGLISH.finditer(text)]


def split_words(text: str) -> list[str]:
    """The English words of a text as `tag` finds them, without their tags.

    >>> split_words("It isn't 3 o'clock.")
    ['It', 'is', "n't", '3', "o'clock", '.']
    """
    return _ENGLISH.findall(text)


def tag_words(words: list[str]) -> list[str]:
    """Penn tags of English words that are already split (none holds white space): same length, same order.

    By TextBlob, a hundred times as fast as the parser and less often right: for what is tried in the place of a word.
    """
    from textblob.en import tag as pattern_tag

    return [mark for _, mark in pattern_tag(" ".join(_as_seen(words)), tokenize=False)] if words else []


def _as_seen(words: list[str]) -> list[str]:
    return [_without_shouting(word, first) for word, first in zip(words, _openings(words), strict=True)]


def _openings(words: list[str]) -> list[bool]:
    """Which words open a sentence, where a capital says nothing."""
    return [index == 0 or words[index - 1] in (".", "!", "?", "...", '"', "“") for index in range(len(words))]


def _without_shouting(word: str, first: bool) -> str:
    """The word without capitals that do not make it a name: the tagger takes "BAD" and "Love it" for names."""
    if len(word) > 1 and word != "US" and word.isupper() and word.replace("'", "").isalpha():
        return word.lower()
    if first and word[:1].isupper() and word[1:].islower():
        lower = word.lower()
        common = singular(lower) is not None or any(known_as(lower, part) for part in ("VERB", "ADJ", "ADV"))
        if common and lower not in _NAMES:
            return lower
    return word


_NAMES = frozenset({"will", "rose", "mark", "grant", "bill", "drew", "frank", "sue", "jack", "rob", "pat", "bob"})


ENGLISH = LanguageTools(_english, tag_all=_all_english, version=parser.version, phrases=PHRASES)
