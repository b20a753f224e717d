"""Words for a masked place of a sentence: which may stand there, and who proposes them.

The study of MGMT (section 3.3.2) masks words of a sentence and takes what BERT finds most probable there. Proposers are
`ngram`, which counted film reviews and needs no model, `ngram:FILE`, which counts the user's text, and
`fill-mask:MODEL`, with the directory of a masked language model or its name on Hugging Face.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, cached_property, lru_cache
from itertools import islice
from typing import Any, Protocol

from audit.errors import BadFile, NotInstalled, install_line
from audit.packs.translation.function_words import is_function_word, is_negation
from audit.resources import Makers, made
from audit.systems.base import missing, package_version
from audit.systems.model_files import absent_model, fingerprint_of, load_part, load_tokenizer, model_folder, one_thread
from audit.text.languages import entries

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
        """Name the text or the model, in a few words. Raises NotInstalled or BadFile where it cannot be had."""
        ...

    def needs(self) -> str | None:
        """Return None when it can be asked now, else the line that installs what is missing."""
        ...

    def propose(self, masked: Sequence[Masked], language: str) -> list[str | None]:
        """Return for each sentence the most probable of the words that may stand in its place (`first_fitting`).

        None where there is none. Raises NotInstalled or BadFile as `version` does.
        """
        ...


PROPOSERS: Makers = {
    "ngram": ("audit.packs.translation.ngrams:NgramProposer", "[FILE]"),
    "fill-mask": ("audit.packs.translation.masked:FillMask", "MODEL"),
}


@cache
def get_proposer(spec: str) -> Proposer:
    """Return the proposer of this name, made once in a process; it loads nothing yet. Raises UnknownName."""
    proposer: Proposer = made("proposer", spec, PROPOSERS)
    return proposer


def proposers_in(spec: str = "", language: str = "") -> list[Proposer]:
    """Return the proposers of a list such as `ngram,es=ngram:spanish.txt`, or those of them that know a language.

    An empty list is `DEFAULT`. Raises UnknownName, and AuditError for an entry without a name.

    >>> [proposer.name for proposer in proposers_in("es=ngram:spanish.txt,ngram", "en")], proposers_in("ngram", "fi")
    (['ngram(film reviews)'], [])
    """
    named = [(kept_to, get_proposer(name)) for kept_to, name in entries(spec or DEFAULT, "proposer")]
    return [
        proposer
        for kept_to, proposer in named
        if not language or (kept_to in ("", language) and (proposer.languages == ANY or language in proposer.languages))
    ]


# Which words may stand in a place: other words of letters, of the same part of speech where a tagger tells cheaply.

RULES = "3"
"""Version of the rules of this module; part of that of every proposer."""
_OPENERS = frozenset({".", "!", "?", ":", '"', "“", "("})
"""After these a capital says nothing."""
_CAPITAL_NOUNS = frozenset({"de", "lb"})
"""Languages whose nouns all have capitals, so that a capital makes no name."""
_NEAR = 6
"""How many words to each side the tagger is shown: it looks no further, and time grows with the length."""
_TRIED = 40


def replaceable(word: str, language: str) -> bool:
    """Return whether a word may be replaced, or proposed, at all: letters only, no negation, no English function word.

    >>> [word for word in ("film", "n't", "is", "well-known", "1990", "café", "than") if replaceable(word, "en")]
    ['film', 'café']
    """
    if not word.isalpha() or is_negation(word, language):
        return False
    return language != "en" or (len(word) > 1 and not is_function_word(word))


def may_be_name(tokens: Sequence[str], at: int, language: str) -> bool:
    """Return whether the word may be a name, an acronym or a part of one.

    It has a capital where a sentence does not begin, or in front of another word with a capital, or behind its first
    letter. In German every noun has one, so none is.

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
    """Return the word with a capital where the old one has one, else as it is."""
    return word[:1].upper() + word[1:] if old[:1].isupper() else word


def free_words(tokens: Sequence[str], language: str) -> Mapping[int, str]:
    """Return the places of those words of a sentence that may be replaced, with their parts of speech.

    They are `replaceable` and may be no name; in English only nouns, verbs, adjectives, and adverbs in -ly, in Chinese
    what the tagger takes for one word. The part of speech is empty where nobody tags the language.

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
        and (language != "en" or _is_open(tokens, tags, at))
        and (language != "zh" or len(tags[at]) == 1)
    }


def first_fitting(tokens: Sequence[str], at: int, ranked: Iterable[str], language: str) -> str | None:
    """Return the first of some words, the most probable first, that may stand in the place of `tokens[at]`.

    None where none of the first forty does, or where that word may not be replaced (`free_words`). It is no word of the
    sentence and no name. In English it has the very tag that the old word has in its place (the number of a noun, the
    form of a verb), and the dictionary knows this form of it; in Chinese it has a tag of the same kind, and both
    taggers take it for one word; in other languages any part of speech will do.

    >>> tokens = ("a", "good", "film", ".")
    >>> first_fitting(tokens, 1, ["Good", "the", "great"], "en"), first_fitting(tokens, 2, ["films", "story"], "en")
    ('great', 'story')
    """
    old_tag = free_words(tokens, language).get(at)
    if old_tag is None:
        return None
    around, place = list(tokens[max(0, at - _NEAR) : at + _NEAR + 1]), min(at, _NEAR)
    present = {token.lower() for token in tokens}
    others = (
        word
        for word in ranked
        if word.lower() not in present and replaceable(word, language) and not may_be_name(("", word), 1, language)
    )
    for word in islice(others, _TRIED):
        around[place] = cased_like(word, tokens[at])
        if _tagged(around, language)[place] == old_tag and (language != "en" or _has_form(word.lower(), old_tag)):
            return word
    return None


def _is_open(tokens: Sequence[str], tags: Sequence[str], at: int) -> bool:
    """Whether many other English words could stand for this one, by its tag."""
    from audit.packs.english.tagging import base, known_as

    tag, low = tags[at], tokens[at].lower()
    if tag[:2] != "JJ":
        return tag in ("NN", "NNS") or tag[:2] == "VB" or (tag == "RB" and _has_form(low, "RB"))
    if at + 1 < len(tags) and tags[at + 1][:2] in ("NN", "JJ"):
        return True
    # With no noun behind it, it is said of one where it stands behind no noun (shares *outstanding*), and behind an
    # adverb or a form of be where it may be a noun itself (the *manual*).
    before = tags[at - 1] if at else ""
    said = not known_as(low, "NOUN") or before == "RB" or (at > 0 and base(tokens[at - 1].lower()) == "be")
    return before not in ("NN", "NNS") and said


def _has_form(low: str, tag: str) -> bool:
    """Whether the English dictionary knows the word as what the tag says; of adverbs those made of an adjective."""
    from audit.packs.english.tagging import is_form, known_as, singular

    if tag[:2] == "VB":
        return is_form(low, "VB" if tag == "VBP" else tag)
    if tag == "RB":
        return low.endswith("ly") and known_as(low, "ADV") and not known_as(low, "ADJ")
    if tag[:2] == "JJ":
        return known_as(low, "ADJ")
    return known_as(low, "NOUN") and (singular(low) is not None) == (tag == "NNS")


def _tagged(tokens: Sequence[str], language: str) -> Sequence[str]:
    """Return the part of speech of each word; empty where nobody tags the language."""
    if language == "en":
        from audit.packs.english.tagging import tag_words

        return tag_words(list(tokens))
    return [_chinese_tag(token) for token in tokens] if language == "zh" else [""] * len(tokens)


def tag_alone(word: str, language: str) -> str:
    """Return the part of speech of a word by itself; empty where nobody tags the language."""
    return _tagged((word,), language)[0]


@lru_cache(maxsize=65536)
def _chinese_tag(word: str) -> str:
    from audit.packs.chinese.taggers import chinese

    tokens = chinese(word)
    is_name = tokens[0].tag[:2] in ("nr", "ns", "nt", "nz")
    return "name, or several words" if len(tokens) > 1 or is_name else tokens[0].tag[:1]


# Words by a masked language model. Nothing is downloaded, no code of a model is run, weights are read as numbers only.

_SHOWN = 60
"""Words to each side that the model is shown, at most."""
_BEST = 200
"""Pieces of the vocabulary that are looked at, the most probable ones."""
_BEGINNINGS = 5


def _is_character(piece: str) -> bool:
    """Whether a piece is one character of Chinese and the like: no Latin letter."""
    return len(piece) == 1 and piece.isalpha() and piece > "\u0e00"


class FillMask:
    """Proposes the whole words that a masked language model finds most probable, by transformers' own pipeline.

    Where words have no white space between them, a word gets a mask for each character, filled in from left to right.
    """

    languages = ANY

    def __init__(self, model: str):
        self.model, self.name = model, f"fill-mask:{model}"

    def needs(self) -> str | None:
        return missing("transformers", install_line("translation")) or missing("torch", install_line("translation"))

    @cached_property
    def version(self) -> str:
        about = f"transformers {package_version('transformers')}, model {fingerprint_of(self._folder())}"
        return f"fill-mask({about}, rules {RULES})"

    def propose(self, masked: Sequence[Masked], language: str) -> list[str | None]:
        return [
            first_fitting(tokens, at, self._ranked(tokens, at, language), language)
            if at in free_words(tokens, language)
            else None
            for tokens, at in masked
        ]

    def _ranked(self, tokens: tuple[str, ...], at: int, language: str) -> Iterator[str]:
        """Yield words for the place, the most probable first."""
        gap = "" if language in UNSPACED else " "
        before = "".join(token + gap for token in tokens[max(0, at - _SHOWN) : at])
        after = "".join(gap + token for token in tokens[at + 1 : at + 1 + _SHOWN])
        if language not in UNSPACED:
            yield from self._fill(before, 1, after, str.isalpha)
            return
        for first in self._fill(before, len(tokens[at]), after, _is_character)[:_BEGINNINGS]:
            word = first
            while len(word) < len(tokens[at]):
                best = self._fill(before + word, len(tokens[at]) - len(word), after, _is_character)
                # A character twice is hardly ever a word, but what weak models like best.
                word += next((character for character in best if character not in word), " ")
            yield word

    def _fill(self, before: str, masks: int, after: str, fits: Callable[[str], bool]) -> list[str]:
        """Return the most probable whole words of the vocabulary for the first of several masks."""
        pipe = self._pipe
        text = before + pipe.tokenizer.mask_token * masks + after
        if len(pipe.tokenizer(text)["input_ids"]) > getattr(pipe.model.config, "max_position_embeddings", 512) - 2:
            return []
        one_thread()
        found = pipe(text, top_k=min(_BEST, pipe.model.config.vocab_size))
        pieces = pipe.tokenizer.convert_ids_to_tokens([row["token"] for row in (found[0] if masks > 1 else found)])
        marked = pipe.tokenizer.tokenize("a a")[-1][0] in "Ġ▁"  # what begins a word has a mark in these vocabularies
        whole = [piece.lstrip("Ġ▁") for piece in pieces if not marked or piece[0] in "Ġ▁" or fits is _is_character]
        return [word for word in whole if fits(word)]

    @cached_property
    def _pipe(self) -> Any:
        folder, tokenizer = self._folder(), load_tokenizer(self._folder())
        import transformers

        network, about = load_part(
            transformers.AutoModelForMaskedLM, folder, weights_only=True, output_loading_info=True
        )
        if about["missing_keys"] or tokenizer.mask_token is None:
            raise BadFile(f"{folder}: weights or the mask are missing, so it is no masked language model")
        return transformers.pipeline("fill-mask", model=network.eval(), tokenizer=tokenizer)

    def _folder(self) -> Any:
        if needed := self.needs():
            raise NotInstalled(f"masked language models need transformers and torch; run: {needed}")
        if (folder := model_folder(self.model)) is None:
            raise NotInstalled(absent_model(self.model))
        return folder
