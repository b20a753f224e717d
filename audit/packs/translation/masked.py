"""Words for a masked place of a sentence: which may stand there, and who proposes them.

The study of MGMT (section 3.3.2) masks words of a sentence and takes what BERT finds most probable there. Proposers are
`fill-mask:MODEL`, with the directory of a masked language model or its name on Hugging Face; `ngram:FILE`, which counts
a text of the user's; and `ngram`, which counts film reviews (`ngrams.py`) and needs no model. A proposer has `name`,
`version`, `languages`, `needs()` and `propose(masked, language)`, which answers the same for the same version.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, cached_property, lru_cache
from itertools import islice
from typing import Any

from audit.errors import BadFile, NotInstalled, install_line
from audit.packs.translation.tools import ANY
from audit.resources import data_rows
from audit.systems.base import missing, package_version
from audit.systems.models import absent_model, fingerprint_of, load_part, load_tokenizer, model_folder, one_thread

UNSPACED = frozenset({"zh", "ja", "th"})
"""Languages without white space between words."""
RULES = "3"
"""Version of the rules of this module; part of that of every proposer."""
Masked = tuple[tuple[str, ...], int]
"""The words of a sentence, punctuation among them, and the place (from 0) of the one to be replaced."""


# Which words may stand in a place: other words of letters, of the same part of speech where a tagger tells cheaply.

_OPENERS = frozenset({".", "!", "?", ":", '"', "“", "("})
"""After these a capital says nothing."""
_NEAR = 6
"""How many words to each side the tagger is shown: it looks no further, and time grows with the length."""
_TRIED = 40


@cache
def _closed(kind: str, language: str) -> frozenset[str]:
    rows = data_rows("lexicons/closed_words.tsv", 3)
    return frozenset(word for row in rows if row[:2] == (kind, language) for word in row[2].split())


def is_negation(word: str, language: str) -> bool:
    """Return whether a word negates, alone or as a part of what it says, in the languages of `closed_words.tsv`.

    >>> [is_negation(word, "en") for word in ("Never", "knows")], is_negation("不同", "zh"), is_negation("jamás", "es")
    ([True, False], True, True)
    """
    return word.lower() in _closed("negation", language) or (language == "zh" and word.startswith(("不", "没", "沒")))


def replaceable(word: str, language: str) -> bool:
    """Return whether a word may be replaced, or proposed, at all: letters only, no negation, no English function word.

    >>> [word for word in ("film", "n't", "is", "well-known", "1990", "café", "than") if replaceable(word, "en")]
    ['film', 'café']
    """
    if not word.isalpha() or is_negation(word, language):
        return False
    return language != "en" or (len(word) > 1 and word.lower() not in _closed("closed", "en"))


def may_be_name(tokens: Sequence[str], at: int, language: str) -> bool:
    """Return whether the word may be a name, an acronym or a part of one: it has a capital where no sentence begins, in
    front of another word with one, or behind its first letter. In German every noun has one, so none is.

    >>> tokens = ("Small", "farms", "of", "New", "York", "use", "GNU", ".")
    >>> [token for at, token in enumerate(tokens) if may_be_name(tokens, at, "en")]
    ['New', 'York', 'GNU']
    """
    word = tokens[at]
    if word == word.lower() or language in ("de", "lb"):
        return False
    inside = at > 0 and tokens[at - 1] not in _OPENERS
    followed = at + 1 < len(tokens) and tokens[at + 1][:1].isupper()
    return inside or followed or word[1:] != word[1:].lower()


def cased_like(word: str, old: str) -> str:
    """Return the word with a capital where the old one has one, else as it is."""
    return word[:1].upper() + word[1:] if old[:1].isupper() else word


@lru_cache(maxsize=256)
def free_words(tokens: tuple[str, ...], language: str) -> Mapping[int, str]:
    """Return the places of those words of a sentence that may be replaced, with their parts of speech.

    They are `replaceable` and may be no name; in English only nouns, verbs, adjectives, and adverbs in -ly, in Chinese
    what the tagger takes for one word.

    >>> free_words(("We", "never", "saw", "an", "old", "film", "by", "Rossellini", "here", "."), "en")
    {2: 'VBD', 4: 'JJ', 5: 'NN'}
    """
    tags = _tagged(tokens, language)
    return {
        at: tags[at]
        for at, word in enumerate(tokens)
        if replaceable(word, language)
        and not may_be_name(tokens, at, language)
        and (language != "en" or _is_open(tokens, tags, at))
        and (language != "zh" or len(tags[at]) == 1)
    }


def first_fitting(tokens: tuple[str, ...], at: int, ranked: Iterable[str], language: str) -> str | None:
    """Return the first of some words, the most probable first, that may stand in the place of `tokens[at]`.

    None where none of the first forty does, or where that word may not be replaced. It is no word of the sentence and
    no name. In English it has the very tag that the old word has in its place (the number of a noun, the form of a
    verb), and the dictionary knows this form of it; in Chinese it has a tag of the same kind.

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
    """Return whether many other English words could stand for this one, by its tag."""
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
    """Return whether the English dictionary knows the word as what the tag says; of adverbs those of an adjective."""
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
    return [_chinese_tag(token) if language == "zh" else "" for token in tokens]


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
        return [first_fitting(tokens, at, self._ranked(tokens, at, language), language) for tokens, at in masked]

    def _ranked(self, tokens: tuple[str, ...], at: int, language: str) -> Iterator[str]:
        """Yield words for the place, the most probable first."""
        gap = "" if language in UNSPACED else " "
        before = "".join(token + gap for token in tokens[max(0, at - _SHOWN) : at])
        after = "".join(gap + token for token in tokens[at + 1 : at + 1 + _SHOWN])
        if gap:
            yield from filter(str.isalpha, self._fill(before, 1, after, words=True))
            return
        for word in islice(filter(_is_character, self._fill(before, len(tokens[at]), after)), 5):
            while len(word) < len(tokens[at]):
                best = self._fill(before + word, len(tokens[at]) - len(word), after)
                # A character twice is hardly ever a word, but what weak models like best.
                word += next((letter for letter in best if _is_character(letter) and letter not in word), " ")
            yield word

    def _fill(self, before: str, masks: int, after: str, words: bool = False) -> list[str]:
        """Return the most probable pieces of the vocabulary, or whole `words`, for the first of several masks."""
        pipe = self._pipe
        text = before + pipe.tokenizer.mask_token * masks + after
        if len(pipe.tokenizer(text)["input_ids"]) > getattr(pipe.model.config, "max_position_embeddings", 512) - 2:
            return []
        one_thread()
        rows = pipe(text, top_k=min(_BEST, pipe.model.config.vocab_size))
        pieces = pipe.tokenizer.convert_ids_to_tokens([row["token"] for row in (rows[0] if masks > 1 else rows)])
        marked = pipe.tokenizer.tokenize("a a")[-1][0] in "Ġ▁"  # what begins a word has a mark in these vocabularies
        return [piece.lstrip("Ġ▁") for piece in pieces if not (words and marked) or piece[0] in "Ġ▁"]

    @cached_property
    def _pipe(self) -> Any:
        folder, tokenizer = self._folder(), load_tokenizer(self._folder())
        import transformers

        kind = transformers.AutoModelForMaskedLM
        network, about = load_part(kind, folder, weights_only=True, output_loading_info=True)
        if about["missing_keys"] or tokenizer.mask_token is None:
            raise BadFile(f"{folder}: weights or the mask are missing, so it is no masked language model")
        return transformers.pipeline("fill-mask", model=network.eval(), tokenizer=tokenizer)

    def _folder(self) -> Any:
        if needed := self.needs():
            raise NotInstalled(f"masked language models need transformers and torch; run: {needed}")
        if (folder := model_folder(self.model)) is None:
            raise NotInstalled(absent_model(self.model))
        return folder


def _is_character(piece: str) -> bool:
    """Return whether a piece is one character of Chinese and the like: no Latin letter."""
    return len(piece) == 1 and piece.isalpha() and piece > "\u0e00"
