"""Forms of English words: lemmas of verbs and numbers of nouns. A thin, cached layer over lemminflect."""

from functools import lru_cache

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
    return others[0] if others and verb in {"found", "felt", "saw", "left", "lay", "wound"} else lemmas[0]


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

    found = getInflection(noun, tag="NNS", inflect_oov=False)
    return found[0] if found and found[0] != noun else None


@lru_cache(maxsize=16384)
def singular(noun: str) -> str | None:
    """The singular of a lower-cased plural noun, or None where it is not known or no plural.

    >>> singular("stories"), singular("women")
    ('story', 'woman')
    """
    if noun in _SINGULARS:
        return _SINGULARS[noun]
    from lemminflect import getAllLemmas

    found = getAllLemmas(noun).get("NOUN", ())
    return found[0] if found and found[0] != noun else None
