"""Words for a place in a sentence whose word is masked: one module per kind of proposer, all behind one protocol."""

from collections.abc import Callable, Iterable, Sequence
from functools import cache, lru_cache
from typing import Protocol

from audit import registry
from audit.registry import Registry
from audit.text.languages import entries
from audit.text.tokens import words

# Who proposes words: the protocol, and proposers by name.
#
# A proposer's name is `ngram`, which counted the film reviews of a package that is always there, `ngram:FILE`, which
# counts the user's text, or `fill-mask:MODEL`: a masked language model, by its directory or its name on Hugging Face.
# A new kind is one module and one line that registers it in the pack.
#
# Source of the idea: the multi-granularity study (MGMT, section 3.3.2) masks words of a sentence and takes what BERT
# finds most probable there.

DEFAULT = "ngram"
"""The proposer to use where none is named: n-grams of film reviews."""
ANY = ("*",)
"""Languages of a proposer that is asked about any."""

Masked = tuple[tuple[str, ...], int]
"""The words of a sentence, punctuation among them, and the place (from 0) of the one to be replaced."""


class Proposer(Protocol):
    """Finds the word that stands best in the place of another one.

    The same question has the same answer for ever, as long as `version` is the same.
    """

    name: str
    languages: tuple[str, ...]
    """Codes of languages, or `ANY`."""

    @property
    def version(self) -> str:
        """Names the text or the model, in a few words. Raises NotInstalled or BadFile where it cannot be had."""
        ...

    def needs(self) -> str | None:
        """None when it can be asked now, else the line that installs what is missing."""
        ...

    def propose(self, masked: Sequence[Masked], language: str) -> list[str | None]:
        """For each sentence the most probable word for its place that is another one than the present word, one whole
        word, letters only, and of the same part of speech where that is cheap to tell; None where there is none.

        Raises NotInstalled or BadFile as `version` does.
        """
        ...


@cache
def get_proposer(spec: str) -> Proposer:
    """The proposer of this name, made once in a process. Loads nothing yet.

    Raises UnknownName for another kind of proposer, or one that lacks what has to stand behind the colon.

    >>> get_proposer("ngram").languages
    ('en',)
    """
    proposer: Proposer = PROPOSERS.make(spec)
    return proposer


def proposer_of(language: str, spec: str = "") -> Proposer | None:
    """The first proposer of a list such as `ngram,fill-mask:MODEL` that knows the language; None: none does.

    A proposer of the list may be kept to one language: `es=ngram:spanish.txt`. An empty list is `DEFAULT`. Raises as
    `get_proposer` does, and AuditError for an entry without one.

    >>> proposer_of("en", "es=ngram:spanish.txt,ngram").name
    'ngram(film reviews)'
    >>> proposer_of("fi", "ngram") is None
    True
    """
    for for_language, proposer in _listed(spec):
        if for_language in ("", language) and (proposer.languages == ANY or language in proposer.languages):
            return proposer
    return None


def proposers_in(spec: str = "") -> list[Proposer]:
    """The proposers of such a list, each once: whose words something may depend on. Raises as `proposer_of` does.

    >>> [proposer.name for proposer in proposers_in("en=ngram")]
    ['ngram(film reviews)']
    """
    return list(dict.fromkeys(proposer for _, proposer in _listed(spec)))


def _listed(spec: str) -> list[tuple[str, Proposer]]:
    return [(for_language, get_proposer(name)) for for_language, name in entries(spec or DEFAULT, "proposer")]


PROPOSERS: Registry[Callable[..., Proposer]] = registry.proposers
"""Makers of proposers, given what stands behind the colon where there is one."""


__all__ = ["PROPOSERS", "Masked", "Proposer", "get_proposer", "proposer_of", "proposers_in"]


# Which words may stand in a place: other words of letters, of the same part of speech where a tagger tells cheaply.

RULES = "1"
"""Version of the rules of this module; part of that of every proposer."""
_CLOSED = words("be am is are was were been being have has had having do does did done doing not ain own such")
"""English words that are no one's free choice: in the place of "is" another verb makes another structure, and "own"
needs a word before it that others do not."""
_OPENERS = frozenset({".", "!", "?", ":", '"', "“", "("})
"""After these a capital says nothing."""
_NEAR = 6
"""How many words to each side the tagger is shown: it looks no further, and time grows with the length."""
_TRIED = 40


def replaceable(word: str, language: str) -> bool:
    """Whether a word may be replaced at all: letters only, and in English no form of be, have and do, no "not",
    "own" and "such", and no single letter.

    >>> [word for word in ("film", "n't", "is", "well-known", "1990", "café") if replaceable(word, "en")]
    ['film', 'café']
    """
    return word.isalpha() and (language != "en" or (len(word) > 1 and word.lower() not in _CLOSED))


def cased_like(word: str, old: str) -> str:
    """The word in capitals where the old one is, with a capital where the old one has one, else as it is.

    >>> cased_like("dog", "CAT"), cased_like("dog", "Cat"), cased_like("dog", "I"), cased_like("Paris", "cat")
    ('DOG', 'Dog', 'Dog', 'Paris')
    """
    if len(old) > 1 and old.isupper():
        return word.upper()
    return word[:1].upper() + word[1:] if old[:1].isupper() else word


def first_fitting(tokens: Sequence[str], at: int, ranked: Iterable[str], language: str) -> str | None:
    """The first of some words, the most probable first, that may stand in the place of `tokens[at]`; None where none of
    the first forty does.

    It is no repetition of its neighbours. In English it has the tag that the old word has in its place, in Chinese a
    tag of the same kind, and both taggers take it for one word; in other languages any part of speech will do. An
    English adjective with a capital of its own (German) gives way only to another one with a capital.

    >>> first_fitting(("a", "good", "film", "."), 1, ["Good", "the", "is", "great"], "en")
    'great'
    """
    old = tokens[at]
    if not replaceable(old, language):
        return None
    neighbours = {token.lower() for token in tokens[max(0, at - 1) : at + 2]}
    around, place = _around(tokens, at)
    tag = _TAGS.get(language, _no_tag)
    old_tag = tag(around, place)
    inside = at > 0 and tokens[at - 1] not in _OPENERS
    of_name = inside and old_tag.startswith("JJ") and old[:1].isupper() and not old.isupper()
    tried = 0
    for word in ranked:
        if word.lower() in neighbours or not replaceable(word, language) or (of_name and not word[:1].isupper()):
            continue
        tried += 1
        if tried > _TRIED:
            return None
        if tag((*around[:place], cased_like(word, old), *around[place + 1 :]), place) == old_tag:
            return word
    return None


def tag_in_place(tokens: Sequence[str], at: int, language: str) -> str:
    """The part of speech of a word among others, as `first_fitting` compares them; empty where nobody tags.

    >>> tag_in_place(("It", "rains", "."), 1, "en"), tag_in_place(("Il", "pleut", "."), 1, "fr")
    ('VBZ', '')
    """
    return _TAGS.get(language, _no_tag)(*_around(tokens, at))


def tag_alone(word: str, language: str) -> str:
    """The part of speech of a word by itself; empty where nobody tags the language.

    >>> tag_alone("quickly", "en")
    'RB'
    """
    return tag_in_place((word,), 0, language)


def _around(tokens: Sequence[str], at: int) -> tuple[tuple[str, ...], int]:
    """A word and its neighbours, and where it stands among them."""
    return tuple(tokens[max(0, at - _NEAR) : at + _NEAR + 1]), min(at, _NEAR)


def _english_tag(tokens: tuple[str, ...], at: int) -> str:
    from audit.packs.english.tagging import tag_words

    return tag_words(list(tokens))[at]


def _chinese_tag(tokens: tuple[str, ...], at: int) -> str:
    return _chinese_alone(tokens[at])


@lru_cache(maxsize=65536)
def _chinese_alone(word: str) -> str:
    from audit.packs.chinese.taggers import chinese

    tokens = chinese(word)
    return tokens[0].tag[:1] if len(tokens) == 1 else "several words"


def _no_tag(tokens: tuple[str, ...], at: int) -> str:
    return ""


_TAGS: dict[str, Callable[[tuple[str, ...], int], str]] = {"en": _english_tag, "zh": _chinese_tag}
