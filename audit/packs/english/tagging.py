"""Words of English texts with tags of the Penn Treebank."""

import re
from collections.abc import Sequence
from functools import lru_cache
from importlib.metadata import version as version_of

from audit.errors import install_line
from audit.packs.english import parser
from audit.packs.english.phrases import PHRASES
from audit.packs.english.vocabulary import FINITE
from audit.text.tokens import Token
from audit.text.tokens import words as _words
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


# Corrections of English tags by their context.
#
# The pattern tagger knows each word's most frequent tag and a few hundred rules, learned on newspapers. In reviews,
# lower-cased ones above all, it takes verbs for nouns ("a film that deals with"), possessives for "is", and participles
# for past tenses. The rules here mend the mistakes that make relations read wrong; on the lower-cased Penn Treebank
# sample they take the tagger from .916 to .935 of words (proper nouns counted as nouns). Each rule looks at the words'
# dictionary forms, so that no word gets a tag it cannot have.

_NOMINATIVE = frozenset({"i", "he", "she", "it", "we", "they"})
_HOSTS = _words(
    "it he she that there here what who where how when why this everything nothing something anything everyone "
    "everybody someone somebody nobody"
)
_NEVER_POSSESSED = frozenset({"a", "an", "the", "not", "been", "got", "no", "n't", "it", "he", "she", "they", "you"})
_BE = frozenset({"is", "are", "was", "were", "am", "be", "been", "being", "'s", "'re", "'m", "’s", "’re", "’m"})
_HAVE = frozenset({"has", "have", "had", "having", "'ve", "’ve"})
_DO = frozenset({"do", "does", "did"})
_RELATIVE = frozenset({"that", "which", "who"})
_OPENERS = frozenset({"DT", "PRP", "PRP$", "TO", "WP", "WRB"})
_BREAKS = frozenset({",", ".", ":", "(", ")", "CC", '"'})
# Nouns that follow "to" and "can" as nouns more often than as verbs.
_AFTER_TO = _words("life death school work love hell heart mind date home bed war fame light")
_DEGREES = _words("too very so more most less quite rather pretty fairly")


def correct(words: Sequence[str], tags: Sequence[str]) -> list[str]:
    """Tags of a text's words (lower-cased words, Penn tags), corrected; same length.

    >>> correct(["it", "'s", "a", "film", "that", "deals", "with", "love"],
    ...         ["PRP", "POS", "DT", "NN", "IN", "NNS", "IN", "NN"])
    ['PRP', 'VBZ', 'DT', 'NN', 'WDT', 'VBZ', 'IN', 'NN']
    """
    new = list(tags)
    for index, word in enumerate(words):
        mark = new[index]
        before = words[index - 1] if index else ""
        rule = _RULES.get(mark)
        if word in ("'s", "’s"):
            new[index] = _apostrophe(before, words[index + 1] if index + 1 < len(words) else "")
        elif word == "that":
            new[index] = _that(new, index, mark)
        elif word == "like":
            new[index] = _like(words, new, index)
        elif rule is not None:
            new[index] = rule(words, new, index)
    return new


def _apostrophe(before: str, after: str) -> str:
    if before == "let":
        return "PRP"
    return "VBZ" if before in _HOSTS or after in _NEVER_POSSESSED else "POS"


def _like(words: Sequence[str], tags: list[str], index: int) -> str:
    at = _governor(words, tags, index)
    if _wants_base(words, tags, at):
        return "VB"
    verbal = at >= 0 and words[at] in ("i", "we", "they", "you", "who") and (at == 0 or words[at - 1] not in _BE)
    return "VBP" if verbal else tags[index]


def _that(tags: list[str], index: int, mark: str) -> str:
    before = tags[index - 1] if index else "."
    after = tags[index + 1] if index + 1 < len(tags) else "."
    if before[:2] == "NN" and (after[:2] in ("VB", "MD") or after == "NNS"):
        return "WDT"
    if before in ("IN", ".", ",", ":", "CC") and (after[:2] in ("VB", "MD", "NN", "JJ") and index > 0):
        return "DT" if before == "IN" or after[:2] in ("VB", "MD") else mark
    if index == 0 and after in ("VBZ", "VBD", "MD"):
        return "DT"
    return mark


def _governor(words: Sequence[str], tags: Sequence[str], index: int) -> int:
    """Index of the word before `index`, adverbs and "not" skipped; -1 at the start."""
    at = index - 1
    while at >= 0 and (tags[at] == "RB" or words[at] in ("n't", "n’t", "not")):
        at -= 1
    return at


def _wants_base(words: Sequence[str], tags: Sequence[str], at: int) -> bool:
    """Whether the word at `at` (a modal, "to" or "do") is followed by a base form."""
    return at >= 0 and (tags[at] == "MD" or words[at] in _DO or (words[at] == "to" and tags[at] == "TO"))


def _has_finite(tags: Sequence[str], index: int) -> bool:
    """Whether a finite verb stands before `index` in the same clause."""
    for mark in reversed(tags[:index]):
        if mark in FINITE:
            return True
        if mark in _BREAKS or mark in ("WDT", "WP"):
            return False
    return False


def _noun(words: Sequence[str], tags: list[str], index: int) -> str:
    word = words[index]
    after = tags[index + 1] if index + 1 < len(words) else "."
    if index == 0 or (after[:2] == "NN" and tags[index - 1] in ("DT", "JJ", "PRP$", "IN")):
        return tags[index]
    before = words[index - 1]
    if before in ("i", "we", "they", "you") and is_form(word, "VB") and after not in ("VBZ", "MD"):
        return "VBP"
    if tags[index - 1] == "NNS" and after in ("DT", "PRP", "PRP$") and is_form(word, "VB"):
        return "VBP" if not _has_finite(tags, index) else "NN"
    at = _governor(words, tags, index)
    if (
        word.endswith("ing")
        and at >= 0
        and words[at] in _BE
        and after in ("IN", "DT", "PRP", "PRP$")
        and is_form(word, "VBG")
    ):
        return "VBG"
    if at > 0 and tags[at - 1] == "MD" and words[at] in ("anyone", "we", "it", "i", "they") and is_form(word, "VB"):
        return "VB"
    if _wants_base(words, tags, at) and is_form(word, "VB"):
        if words[at] == "to" and (
            word in _AFTER_TO or (after not in _OPENERS and after not in ("IN", "RB", ".", "CC", ","))
        ):
            return "NN"
        return "VB" if words[at] not in _DO or at < index - 1 else "NN"
    return "NN"


def _nouns(words: Sequence[str], tags: list[str], index: int) -> str:
    word = words[index]
    if not known_as(word, "VERB") or not is_form(word, "VBZ"):
        return "NNS"
    after = tags[index + 1] if index + 1 < len(words) else "."
    before = words[index - 1] if index else ""
    before_tag = tags[index - 1] if index else "."
    if before in ("he", "she", "it") and after[:2] != "NN" and after not in ("VBP", "VBZ"):
        return "VBZ"
    if before in _RELATIVE and index > 1 and tags[index - 2][:2] in ("NN", ",") and after not in ("VBP", "WDT"):
        return "VBZ"
    if after in _OPENERS or after == "RB":
        likely_verb = (
            after != "RB" or before_tag == "RB" or any(t in ("DT", "PRP$") for t in tags[max(0, index - 4) : index])
        )
        if likely_verb and before_tag in ("NN", "NNP", "RB", ")") and not _has_finite(tags, index):
            return "VBZ"
        if index == 0 and after != "TO":
            return "VBZ"
    if after == "." and before_tag == "NN" and index < 4 and all(t in ("DT", "PRP$", "JJ", "NN") for t in tags[:index]):
        return "VBZ" if tags[0] in ("DT", "PRP$") else "NNS"  # "The film works."
    if (
        before_tag == "CC"
        and "VBZ" in tags[:index]
        and (after == "DT" or (after == "IN" and not known_as(word, "NOUN")))
    ):
        return "VBZ"  # "excites the imagination and tickles the funny bone"
    if before_tag == "RB" and after in ("IN", "JJ", "RP", "VBN", "VBG") and not _has_finite(tags, index):
        return "VBZ"
    return "NNS"


def _base(words: Sequence[str], tags: list[str], index: int) -> str:
    at = _governor(words, tags, index)
    if at < 0 or _wants_base(words, tags, at):
        return "VB"
    before, mark = words[at], tags[at]
    if at == index - 1 and mark in ("DT", "PRP$", "POS") and known_as(words[index], "NOUN"):
        return "NN"
    if (before in _HAVE or before in _BE) and is_form(words[index], "VBN"):
        return "VBN"
    helped = at > 0 and words[at - 1] in ("let", "make", "makes", "made", "help", "helps", "see", "watch", "to", "lets")
    if before in ("i", "we", "they", "you") and not helped and not any(t == "MD" for t in tags[max(0, at - 1) : at]):
        return "VBP"
    if mark == "NNS" and not _has_finite(tags, index) and not _questions(words, at):
        return "VBP"
    if before in _RELATIVE and at > 0 and tags[at - 1] == "NNS":
        return "VBP"
    return "VB"


def _questions(words: Sequence[str], at: int) -> bool:
    return any(word in _DO or word == "to" for word in words[max(0, at - 4) : at])


def _present(words: Sequence[str], tags: list[str], index: int) -> str:
    at = _governor(words, tags, index)
    return "VB" if _wants_base(words, tags, at) and is_form(words[index], "VB") else "VBP"


def _past(words: Sequence[str], tags: list[str], index: int) -> str:
    at = _governor(words, tags, index)
    if at >= 0 and (words[at] in _HAVE or words[at] in _BE) and is_form(words[index], "VBN"):
        return "VBN"
    if at > 0 and words[at] in _NOMINATIVE and (words[at - 1] in _HAVE or words[at - 1] in ("is", "was", "were")):
        return "VBN" if is_form(words[index], "VBN") else "VBD"
    return "VBD"


def _participle(words: Sequence[str], tags: list[str], index: int) -> str:
    before = words[index - 1] if index else ""
    if before in ("too", "very") or (before in _DEGREES and known_as(words[index], "ADJ")):
        return "JJ"
    if not is_form(words[index], "VBD"):
        return "VBN"
    at = _governor(words, tags, index)
    if at < 0:
        return "VBN"
    has_auxiliary = at > 0 and (words[at - 1] in _HAVE or words[at - 1] in _BE)
    if (words[at] in _NOMINATIVE or words[at] in ("you", "who")) and not has_auxiliary:
        return "VBD"
    after = tags[index + 1] if index + 1 < len(words) else "."
    direct = after in ("DT", "PRP", "PRP$", "TO") and (tags[at][:2] == "NN" or words[at] in _RELATIVE)
    return "VBD" if direct and not _has_finite(tags, index) else "VBN"


_RULES = {
    "NN": _noun,
    "NNS": _nouns,
    "VB": _base,
    "VBP": _present,
    "VBD": _past,
    "VBN": _participle,
}


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
    split = [_split(text) for text in texts]
    if parser.model_name() is not None:
        words = [[word for word, _, _ in matches] for matches in split]
        spans = [[(start, end) for _, start, end in matches] for matches in split]
        return list(
            parser.parse([parser.Unparsed(*text) for text in zip(words, map(_as_seen, words), spans, strict=True)])
        )
    return [
        tuple(
            Token(word, mark, start, end)
            for (word, start, end), mark in zip(matches, tag_words([word for word, _, _ in matches]), strict=True)
        )
        for matches in split
    ]


def _split(text: str) -> list[tuple[str, int, int]]:
    return [(match.group(), *match.span()) for match in _ENGLISH.finditer(text)]


def split_words(text: str) -> list[str]:
    """The English words of a text as `tag` finds them, without their tags.

    >>> split_words("It isn't 3 o'clock.")
    ['It', 'is', "n't", '3', "o'clock", '.']
    """
    return _ENGLISH.findall(text)


def tag_words(words: list[str]) -> list[str]:
    """Penn tags of English words that are already split (none holds white space): same length, same order."""
    from textblob.en import tag as pattern_tag

    if not words:
        return []
    lower = [word.lower() for word in words]
    seen = _as_seen(words)
    return correct(lower, [mark for _, mark in pattern_tag(" ".join(seen), tokenize=False)])


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


def _version() -> str:
    """What words and tags depend on."""
    return parser.version() if parser.model_name() else f"textblob {version_of('textblob')}"


def _no_trees() -> str | None:
    """Why there are no trees here; None where there are."""
    line = install_line("english")
    return None if parser.model_name() else f"no model of spaCy for English is installed; run: {line}"


ENGLISH = LanguageTools(
    _english, tag_all=_all_english, split=_split, version=_version, no_trees=_no_trees, phrases=PHRASES
)
