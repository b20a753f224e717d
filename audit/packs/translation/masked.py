"""Words for a place in a sentence whose word is masked: one module per kind of proposer, all behind one protocol."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, lru_cache
from typing import Protocol

from audit.packs.translation.function_words import is_function_word, is_negation
from audit.resources import Makers, made
from audit.text.languages import entries

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
UNSPACED = frozenset({"zh", "ja", "th"})
"""Languages without white space between words."""

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
    proposer: Proposer = made("proposer", spec, PROPOSERS)
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


PROPOSERS: Makers = {
    "ngram": ("audit.packs.translation.ngrams:ngram_proposer", "[FILE]"),
    "fill-mask": ("audit.packs.translation.fill_mask:FillMask", "MODEL"),
}


__all__ = ["PROPOSERS", "Masked", "Proposer", "get_proposer", "proposer_of", "proposers_in"]


# Which words may stand in a place: other words of letters, of the same part of speech where a tagger tells cheaply.

RULES = "3"
"""Version of the rules of this module; part of that of every proposer."""
_OPENERS = frozenset({".", "!", "?", ":", '"', "“", "("})
"""After these a capital says nothing."""
_CAPITAL_NOUNS = frozenset({"de", "lb"})
"""Languages whose nouns all have capitals, so that a capital makes no name."""
_CHINESE_NAMES = frozenset({"nr", "ns", "nt", "nz"})
_NEAR = 6
"""How many words to each side the tagger is shown: it looks no further, and time grows with the length."""
_TRIED = 40


def replaceable(word: str, language: str) -> bool:
    """Whether a word may be replaced, or proposed, at all: letters only, no negation, and in English no function word
    and no single letter.

    >>> [word for word in ("film", "n't", "is", "well-known", "1990", "café", "than") if replaceable(word, "en")]
    ['film', 'café']
    """
    return (
        word.isalpha()
        and not is_negation(word, language)
        and not is_function_word(word, language)
        and (language != "en" or len(word) > 1)
    )


def may_be_name(tokens: Sequence[str], at: int, language: str) -> bool:
    """Whether the word may be a name, an acronym or a part of one: it has a capital where a sentence does not begin, or
    in front of another word with a capital, or behind its first letter. In German every noun has one, so none is.

    >>> tokens = ("Small", "farms", "of", "New", "York", "use", "GNU", ".")
    >>> [token for at, token in enumerate(tokens) if may_be_name(tokens, at, "en")]
    ['New', 'York', 'GNU']
    """
    word = tokens[at]
    if word == word.lower() or language in _CAPITAL_NOUNS:
        return False
    inside = at > 0 and tokens[at - 1] not in _OPENERS
    followed = at + 1 < len(tokens) and tokens[at + 1][:1].isupper()
    return inside or followed or word[1:] != word[1:].lower()


def cased_like(word: str, old: str) -> str:
    """The word with a capital where the old one has one, else as it is.

    >>> cased_like("dog", "Cat"), cased_like("dog", "I"), cased_like("Paris", "cat")
    ('Dog', 'Dog', 'Paris')
    """
    return word[:1].upper() + word[1:] if old[:1].isupper() else word


def free_words(tokens: Sequence[str], language: str) -> Mapping[int, str]:
    """The places of those words of a sentence that may be replaced, with their parts of speech: `replaceable` ones that
    may be no name, in English only nouns, verbs, adjectives, and adverbs in -ly, in Chinese what the tagger takes for
    one word. The part of speech is empty where nobody tags the language.

    >>> free_words(("We", "never", "saw", "an", "old", "film", "by", "Rossellini", "here", "."), "en")
    {2: 'VBD', 4: 'JJ', 5: 'NN'}
    """
    return _free_words(tuple(tokens), language)


@lru_cache(maxsize=256)
def _free_words(tokens: tuple[str, ...], language: str) -> Mapping[int, str]:
    tags = _tagged(tokens, language)
    return {
        at: tags[at]
        for at, word in enumerate(tokens)
        if replaceable(word, language)
        and not may_be_name(tokens, at, language)
        and _is_open(tokens, tags, at, language)
    }


def first_fitting(tokens: Sequence[str], at: int, ranked: Iterable[str], language: str) -> str | None:
    """The first of some words, the most probable first, that may stand in the place of `tokens[at]`; None where none of
    the first forty does, or where that word may not be replaced (`free_words`).

    It is no word of the sentence and no name. In English it has the very tag that the old word has in its place
    (the number of a noun, the form of a verb), and the dictionary knows this form of it; in Chinese it has a tag of the
    same kind, and both taggers take it for one word; in other languages any part of speech will do.

    >>> tokens = ("a", "good", "film", ".")
    >>> first_fitting(tokens, 1, ["Good", "the", "great"], "en"), first_fitting(tokens, 2, ["films", "story"], "en")
    ('great', 'story')
    """
    old_tag = free_words(tokens, language).get(at)
    if old_tag is None:
        return None
    around, place = _around(tokens, at)
    present = {token.lower() for token in tokens}
    tried = 0
    for word in ranked:
        if word.lower() in present or not replaceable(word, language) or may_be_name(("", word), 1, language):
            continue
        tried += 1
        if tried > _TRIED:
            return None
        new = (*around[:place], cased_like(word, tokens[at]), *around[place + 1 :])
        if _tagged(new, language)[place] == old_tag and _has_form(word, old_tag, language):
            return word
    return None


def _is_open(tokens: Sequence[str], tags: Sequence[str], at: int, language: str) -> bool:
    """Whether many other words could stand for this one, by its tag."""
    tag = tags[at]
    if language != "en":
        return language != "zh" or len(tag) == 1
    if tag[:2] == "JJ":
        before_noun = at + 1 < len(tags) and tags[at + 1][:2] in ("NN", "JJ")
        return before_noun or _is_said_of(tokens, tags, at)
    return tag in ("NN", "NNS") or tag[:2] == "VB" or (tag == "RB" and _ends_in_ly(tokens[at]))


def _is_said_of(tokens: Sequence[str], tags: Sequence[str], at: int) -> bool:
    """Whether an English adjective with no noun behind it is one: it stands behind no noun (shares *outstanding*), and
    behind an adverb or a form of be where it may be a noun itself (the *manual*)."""
    from audit.packs.english.tagging import base, known_as

    if at and tags[at - 1] in ("NN", "NNS"):
        return False
    if not known_as(tokens[at].lower(), "NOUN"):
        return True
    return at > 0 and (tags[at - 1] == "RB" or base(tokens[at - 1].lower()) == "be")


def _ends_in_ly(word: str) -> bool:
    """Whether an English word is an adverb made of an adjective, the one kind of adverb that others can stand for."""
    from audit.packs.english.tagging import known_as

    return word.endswith("ly") and known_as(word.lower(), "ADV") and not known_as(word.lower(), "ADJ")


def _has_form(word: str, tag: str, language: str) -> bool:
    """Whether the English dictionary knows the word as what the tag says; in other languages nobody does."""
    if language != "en":
        return True
    from audit.packs.english.tagging import is_form, known_as, singular

    low = word.lower()
    if tag[:2] == "VB":
        return is_form(low, "VB" if tag == "VBP" else tag)
    if tag == "RB":
        return _ends_in_ly(low)
    if tag[:2] == "JJ":
        return known_as(low, "ADJ")
    return known_as(low, "NOUN") and (singular(low) is not None) == (tag == "NNS")


def _tagged(tokens: Sequence[str], language: str) -> Sequence[str]:
    return _TAGGERS[language](list(tokens)) if language in _TAGGERS else [""] * len(tokens)


def tag_alone(word: str, language: str) -> str:
    """The part of speech of a word by itself; empty where nobody tags the language.

    >>> tag_alone("quickly", "en")
    'RB'
    """
    return _tagged((word,), language)[0]


def _around(tokens: Sequence[str], at: int) -> tuple[tuple[str, ...], int]:
    """A word and its neighbours, and where it stands among them."""
    return tuple(tokens[max(0, at - _NEAR) : at + _NEAR + 1]), min(at, _NEAR)


def _english_tags(tokens: list[str]) -> Sequence[str]:
    from audit.packs.english.tagging import tag_words

    return tag_words(tokens)


def _chinese_tags(tokens: list[str]) -> Sequence[str]:
    return [_chinese_alone(token) for token in tokens]


@lru_cache(maxsize=65536)
def _chinese_alone(word: str) -> str:
    from audit.packs.chinese.taggers import chinese

    tokens = chinese(word)
    if len(tokens) > 1 or tokens[0].tag[:2] in _CHINESE_NAMES:
        return "name, or several words"
    return tokens[0].tag[:1]


_TAGGERS: dict[str, Callable[[list[str]], Sequence[str]]] = {"en": _english_tags, "zh": _chinese_tags}
