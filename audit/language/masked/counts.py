"""Counts of words, pairs and triples in running text, as sorted arrays: small, quick to load, quick to look up."""

from array import array
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from audit.kept_arrays import Kept, as_array, texts_of

if TYPE_CHECKING:
    import numpy as np

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
    def _turned(self) -> "np.ndarray":
        """The pairs with their second words first, in order: keys `b * ids + a`."""
        import numpy as np

        size = len(self.singles)
        return np.sort((self.pairs % size) * size + self.pairs // size)

    def ranked(self, left: Sequence[str], right: Sequence[str], unless: str, tag: str = "") -> list[str]:
        """Words for the place between the words before it and those after it, all in lower case, the most probable
        first; at most fifty, letters only, with this tag if one is given. Empty where no neighbour has a pair.

        Probability is P(w | two before) P(next | one before, w) P(next but one | w, next).
        """
        import numpy as np

        last, after, then = self._id(left, -1), self._id(right, 0), self._id(right, 1)
        if left and left[-1] in _ENDS:
            last = _EDGE  # as it was counted: a sentence begins after it
        before = _EDGE if last == _EDGE else self._id(left, -2)
        follow, precede = self._following(last), self._preceding(after)
        wanted = self._wanted(tag)
        follow, precede = follow[wanted[follow]], precede[wanted[precede]]
        both = np.intersect1d(follow, precede, assume_unique=True)
        found = both if len(both) >= 10 else np.union1d(follow, precede)
        found = found[found != self.ids.get(unless, _UNKNOWN)]
        if not len(found):
            return []
        score = self._log(before, last, found) + self._log(last, found, after) + self._log(found, after, then)
        order = np.lexsort((found, -score))[:50]
        return [self.words[number - _FIRST] for number in found[order]]

    def _id(self, words: Sequence[str], at: int) -> int:
        try:
            return self.ids.get(words[at], _UNKNOWN)
        except IndexError:
            return _EDGE

    @cached_property
    def _masks(self) -> dict[str, "np.ndarray"]:
        return {}

    def _wanted(self, tag: str) -> "np.ndarray":
        """Which ids are words of letters with this tag, or any."""
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
        return self._partners(self._turned, word)

    def _partners(self, keys: "np.ndarray", word: int) -> "np.ndarray":
        import numpy as np

        size = len(self.singles)
        first, last = np.searchsorted(keys, [word * size, (word + 1) * size])
        return keys[first:last] % size if word != _UNKNOWN else keys[:0]

    def _log(self, one: "np.ndarray | int", two: "np.ndarray | int", three: "np.ndarray | int") -> "np.ndarray":
        """log P(three | one two), with steps back; of each of the arrays' elements."""
        import numpy as np

        one, two, three = np.broadcast_arrays(np.int64(one), np.int64(two), np.int64(three))
        size = len(self.singles)
        pair = _looked_up(self.pairs, self.pair_counts, one * size + two)
        triple = _looked_up(self.triples, self.triple_counts, (one * size + two) * size + three)
        next_pair = _looked_up(self.pairs, self.pair_counts, two * size + three)
        total = self.singles.sum()
        alone = _BACK * _BACK * np.maximum(self.singles[three], 1) / total
        backed = np.where(next_pair > 0, _BACK * next_pair / np.maximum(self.singles[two], 1), alone)
        return np.log(np.where((triple > 0) & (pair > 0), triple / np.maximum(pair, 1), backed))


def _looked_up(keys: "np.ndarray", counts: "np.ndarray", wanted: "np.ndarray") -> "np.ndarray":
    """The counts of some keys, 0 for those that are not there."""
    import numpy as np

    if not len(keys):
        return np.zeros(len(wanted), dtype=np.int64)
    at = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    return np.where(keys[at] == wanted, counts[at], 0)


def count(lines: Iterable[Sequence[str]], tag: Callable[[str], str] | None = None) -> Counts:
    """Count the words of lines that are split into words; a line ends a sentence, and so does a full stop. `tag` gives
    the part of speech of a word alone.

    >>> made = count([["a", "good", "film", "."], ["a", "bad", "film", "."]])
    >>> made.ranked(["a"], ["film", "."], "good")
    ['bad']
    """
    import numpy as np

    numbers: dict[str, int] = {}
    found = array("i", [-1, -1])
    for line in lines:
        for word in line:
            found.append(numbers.setdefault(word, len(numbers)))
            if word in _ENDS:
                found.extend((-1, -1))
        found.extend((-1, -1))
    seen = np.frombuffer(found, dtype=np.int32)
    times = np.bincount(seen[seen >= 0], minlength=len(numbers))
    least = 1 if times.sum() < _SMALL else _LEAST
    often = [(-int(times[number]), word) for word, number in numbers.items() if times[number] >= least]
    known = [word for _, word in sorted(often)[:_WORDS]]
    ids = np.full(len(numbers) + 1, _UNKNOWN, dtype=np.int64)
    ids[-1] = _EDGE  # the edges are -1, which is the last place
    for number, word in enumerate(known, start=_FIRST):
        ids[numbers[word]] = number
    text, size = ids[seen], len(known) + _FIRST
    singles = np.bincount(text, minlength=size).astype(np.int64)
    pairs, pair_counts = _counted(text[:-1] * size + text[1:], size, least)
    triples, triple_counts = _counted((text[:-2] * size + text[1:-1]) * size + text[2:], size, least)
    tags = tuple(tag(word) if tag else "" for word in known)
    return Counts(tuple(known), tags, singles, pairs, pair_counts, triples, triple_counts)


def _counted(keys: "np.ndarray", size: int, least: int) -> tuple["np.ndarray", "np.ndarray"]:
    """Keys in order with their counts, without those that are rare or hold an unknown word."""
    import numpy as np

    found, counts = np.unique(keys, return_counts=True)
    rest, good = found, counts >= least
    while rest.any():
        good &= rest % size != _UNKNOWN
        rest = rest // size
    return found[good], counts[good].astype(np.int32)
