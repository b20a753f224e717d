"""An n-gram language model of a corpus's own texts: how usual the words of a text are there, one after the other."""

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from hashlib import blake2b
from itertools import islice
from typing import NamedTuple

from audit.text.similarity import UNSPACED
from audit.text.tokens import ACCENTS

_LETTERS = rf"\w[\w{ACCENTS}]*"
_WORD = re.compile(rf"{_LETTERS}(?:['’]{_LETTERS})*|[^\w\s]")
_EDGE = ""  # What stands before the first word and after the last one; no word is empty
_USUAL_DISCOUNT = 0.75
"""Where a model has no n-gram that stands once, or none that stands twice: Chen and Goodman's usual value."""

Gram = tuple[str, ...]


def model_words(text: str, language: str = "") -> list[str]:
    """Return the words and marks in lower case; characters where `language` has no blanks (zh, ja, th, lo, km, my).

    >>> model_words("It isn't so."), model_words("我 喜欢", "zh")
    (['it', "isn't", 'so', '.'], ['我', '喜', '欢'])
    """
    low = text.lower()
    return list("".join(low.split())) if language in UNSPACED else _WORD.findall(low.replace("’", "'"))


class _Order(NamedTuple):
    """Counts of n-grams of one length; by what stands before the last word, how many (`totals`), and different
    (`kinds`)."""

    counts: dict[Gram, int]
    totals: dict[Gram, int]
    kinds: dict[Gram, int]
    discount: float

    @classmethod
    def of(cls, counts: dict[Gram, int]) -> "_Order":
        totals: Counter[Gram] = Counter()
        for gram, count in counts.items():
            totals[gram[:-1]] += count
        frequent = Counter(counts.values())
        once, twice = frequent[1], frequent[2]
        discount = once / (once + 2 * twice) if once and twice else _USUAL_DISCOUNT
        return cls(dict(counts), dict(totals), dict(Counter(gram[:-1] for gram in counts)), discount)


class NgramModel:
    """An interpolated Kneser-Ney model of texts in one language, by n-grams of 1 to `order` words, with one discount
    for each length (Chen and Goodman, Computer Speech and Language 13, 1999, equation 24). The shortest ones are
    interpolated with the uniform distribution over all words of the texts, the end, and one unknown word. The same
    texts make the same model, in any order. NLTK's own takes a second for a sentence.

    >>> model = NgramModel(["the cat sat", "the dog sat", "the cat ran"], "en")
    >>> model.perplexity("the dog ran") < model.perplexity("ran dog the") < model.perplexity("xyz xyz xyz")
    True
    """

    def __init__(self, texts: Sequence[str], language: str = "", order: int = 3):
        self.language, self.texts, self.order = language, len(texts), order
        counts: dict[Gram, int] = Counter(gram for text in texts for gram in self._grams(text))
        orders = [_Order.of(counts)]
        while len(orders) < order:
            shorter: Counter[Gram] = Counter()
            for gram, count in counts.items():
                shorter[gram[1:]] += count if len(gram) > 2 and gram[1] == _EDGE else 1
            counts = shorter
            orders.append(_Order.of(counts))
        self._orders = tuple(orders[::-1])  # of single words first
        self._uniform = 1 / (len({*(gram[-1] for gram in self._orders[0].counts), _EDGE}) + 1)

    def _grams(self, text: str) -> Iterable[Gram]:
        words = [*[_EDGE] * (self.order - 1), *model_words(text, self.language), _EDGE]
        return zip(*(islice(words, start, None) for start in range(self.order)), strict=False)

    def perplexity(self, text: str) -> float:
        """Return 2 to the mean bits that each word and the end take: 1 and more; the higher, the less usual."""
        logs = [math.log(self._probability(gram)) for gram in self._grams(text)]
        return math.exp(-math.fsum(logs) / len(logs))

    def _probability(self, gram: Gram) -> float:
        """Return that of the last word after those before it."""
        probability = self._uniform
        for length, order in enumerate(self._orders, start=1):
            part = gram[-length:]
            before = part[:-1]
            total = order.totals.get(before)
            if not total:
                break  # what is longer was not seen either
            own = max(order.counts.get(part, 0) - order.discount, 0.0)
            probability = (own + order.discount * order.kinds[before] * probability) / total
        return probability


class HeldOut:
    """Models that leave out a part of the texts each, so that a text is never measured by itself; its content says
    which. No more texts are fitted than have `words` words: a million of film reviews take 2 s and 315 MB."""

    def __init__(self, texts: Iterable[str], language: str = "", folds: int = 2, words: float = 1_000_000):
        parts: list[list[str]] = [[] for _ in range(folds)]
        for text in texts:
            if words <= 0:
                break
            parts[self._fold(text, folds)].append(text)
            words -= len(model_words(text, language))
        others = ([text for part in parts if part is not own for text in part] for own in parts)
        self._models = [NgramModel(fitted, language) for fitted in others]

    def perplexity(self, text: str, like: str | None = None) -> float:
        """Return it under the model that lacks the text, or the one it is compared `like`; NaN where that had no
        text."""
        model = self._models[self._fold(text if like is None else like, len(self._models))]
        return model.perplexity(text) if model.texts else math.nan

    @staticmethod
    def _fold(text: str, folds: int) -> int:
        return int.from_bytes(blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big") % folds
