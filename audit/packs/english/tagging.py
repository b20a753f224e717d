"""Words of English texts with tags of the Penn Treebank, and their forms: a thin, cached layer over lemminflect."""

import re
from collections.abc import Sequence
from functools import lru_cache

from audit.packs.english import parser
from audit.packs.english.vocabulary import PHRASES
from audit.resources import absent
from audit.text.tokens import Token
from audit.text.tools import LanguageTools

_BE = frozenset({"is", "are", "am", "was", "were", "be", "been", "being"})
# lemminflect's own lists give these a regular or an odd form first.
_PLURALS = {"cliché": "clichés", "fan": "fans", "person": "people", "movie": "movies", "persona": "personas"}
_SINGULARS = {"people": "person", "movies": "movie", "clichés": "cliché", "series": None, "species": None}


@lru_cache(maxsize=65536)
def _lemmas(word: str) -> dict[str, tuple[str, ...]]:
    """Return the lemmas of a lower-cased word by part of speech: NOUN, VERB, ADJ, ADV."""
    with absent("torch"):
        from lemminflect import getAllLemmas

    lemmas: dict[str, tuple[str, ...]] = getAllLemmas(word)
    return lemmas


def known_as(word: str, *parts: str) -> bool:
    """Return whether the dictionary knows the lower-cased word as one of these parts of speech."""
    return not _lemmas(word).keys().isdisjoint(parts)


def is_word(word: str) -> bool:
    """Return whether the dictionary knows the lower-cased word, as whatever part of speech."""
    return bool(_lemmas(word))


def base(verb: str) -> str | None:
    """Return the base form of a lower-cased verb form, or None where the dictionary knows no such verb."""
    lemmas = ("be",) if verb in _BE else _lemmas(verb).get("VERB", (None,))
    # "found" is a form of find and the base of found: as an inflected form the other verb is always meant.
    others = [lemma for lemma in lemmas if lemma != verb]
    return others[0] if others and verb in {"found", "felt", "saw", "left", "lay", "wound"} else lemmas[0]


@lru_cache(maxsize=65536)
def forms(verb: str, mark: str) -> tuple[str, ...]:
    """Return the spellings of a base verb under a Penn tag (VBZ, VBD, VBN, VBG); empty where unknown."""
    with absent("torch"):
        from lemminflect import getInflection

    return tuple(getInflection(verb, tag=mark, inflect_oov=False))


def is_form(word: str, mark: str) -> bool:
    """Return whether a lower-cased word can be this form (VB, VBZ, VBD, VBN, VBG) of a verb."""
    lemmas = _lemmas(word).get("VERB", ())
    return word in lemmas if mark == "VB" else any(word in forms(lemma, mark) for lemma in lemmas)


@lru_cache(maxsize=16384)
def plural(noun: str) -> str | None:
    """Return the plural of a lower-cased singular noun, or None where it is not known."""
    with absent("torch"):
        from lemminflect import getInflection

    forms = (_PLURALS[noun],) if noun in _PLURALS else getInflection(noun, tag="NNS", inflect_oov=False)
    return forms[0] if forms and forms[0] != noun else None


def singular(noun: str) -> str | None:
    """Return the singular of a lower-cased plural noun, or None where it is not known or no plural."""
    if noun in _SINGULARS:
        return _SINGULARS[noun]
    lemmas = _lemmas(noun).get("NOUN", ())
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


def _tag_all(texts: Sequence[str]) -> list[tuple[Token, ...]]:
    found = [[*_ENGLISH.finditer(text)] for text in texts]
    split = [[match.group() for match in matches] for matches in found]
    spans = ([match.span() for match in matches] for matches in found)
    return list(parser.parse(split, list(map(_as_seen, split)), list(spans)))


def _tag(text: str) -> tuple[Token, ...]:
    return _tag_all([text])[0]


def split_words(text: str) -> list[str]:
    """Return the English words of a text as `tag` finds them, without their tags."""
    return _ENGLISH.findall(text)


def tag_words(words: list[str]) -> list[str]:
    """Return Penn tags of words that are already split, by TextBlob: a hundred times as fast as the parser and less
    often right, for what is tried in the place of a word.
    """
    from textblob.en import tag as pattern_tag

    return [mark for _, mark in pattern_tag(" ".join(_as_seen(words)), tokenize=False)] if words else []


def _as_seen(words: Sequence[str]) -> list[str]:
    """Return the words without capitals that make no name: the model takes "BAD" and "Love it" for names."""
    opens = [index == 0 or words[index - 1] in (".", "!", "?", "...", '"', "“") for index in range(len(words))]
    # What spaCy looks at takes quadratic time in a long unbroken word, which is none.
    return [_without_shouting(word[:100], first) for word, first in zip(words, opens, strict=True)]


def _without_shouting(word: str, opens: bool) -> str:
    if len(word) > 1 and word != "US" and word.isupper() and word.replace("'", "").isalpha():
        return word.lower()
    lower = word.lower()
    title = opens and word[:1].isupper() and word[1:].islower() and lower not in _NAMES
    return lower if title and (singular(lower) is not None or known_as(lower, "VERB", "ADJ", "ADV")) else word


_NAMES = frozenset({"will", "rose", "mark", "grant", "bill", "drew", "frank", "sue", "jack", "rob", "pat", "bob"})


ENGLISH = LanguageTools(_tag, tag_all=_tag_all, version=parser.version, phrases=PHRASES)
