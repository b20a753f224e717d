"""Systems of similarity for any language, that see no more than characters or words."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence

from audit.systems.base import missing, package_version
from audit.systems.trained import tokens
from audit.tasks import Input, Output

ANY = ("*",)


class RapidFuzz:
    """The system `rapidfuzz`: `fuzz.ratio` / 100 = 1 - (insertions + deletions) / (characters of both texts).

    It sees characters alone: no words, no meaning. Two empty texts have a similarity of 1.

    >>> RapidFuzz().run([Input.of("我喜欢猫", "我喜欢狗", language="zh")])
    [Output(label=None, score=0.75, text=None, error=None)]
    """

    name = "rapidfuzz"
    tasks: tuple[str, ...] = ("similarity",)
    languages: tuple[str, ...] = ANY
    summary = "share of characters that stay when one text is edited into the other (rapidfuzz)"

    def __init__(self) -> None:
        self.version = package_version("rapidfuzz")
        self.settings: Mapping[str, object] = {"scorer": "ratio"}

    def needs(self) -> str | None:
        return missing("rapidfuzz", "pip install rapidfuzz")

    def prepare(self) -> None:
        import rapidfuzz.fuzz  # noqa: F401

    def run(self, inputs: Sequence[Input]) -> list[Output]:
        from rapidfuzz.fuzz import ratio

        return [Output(score=ratio(*item.texts) / 100) for item in inputs]


class _OfSurfaces:
    """A similarity of two texts that needs nothing but this file."""

    name: str
    tasks: tuple[str, ...] = ("similarity",)
    languages: tuple[str, ...] = ANY
    summary: str
    version = "1"
    settings: Mapping[str, object] = {}

    def needs(self) -> str | None:
        return None

    def prepare(self) -> None:
        """There is nothing to load."""

    def run(self, inputs: Sequence[Input]) -> list[Output]:
        return [Output(score=self.score(*item.texts)) for item in inputs]

    def score(self, first: str, second: str) -> float:
        """The similarity, from 0 to 1."""
        raise NotImplementedError


class WordJaccard(_OfSurfaces):
    """The system `word-jaccard`: different words that both texts have, for all different words of the two; Chinese and
    Japanese characters are words. Two texts without a word have a similarity of 1.

    >>> WordJaccard().score("The cat sat.", "the cat lay")
    0.5
    """

    name = "word-jaccard"
    summary = "share of all different words that both texts have"
    settings: Mapping[str, object] = {"words": "lower case"}

    def score(self, first: str, second: str) -> float:
        words, others = set(tokens(first)), set(tokens(second))
        return len(words & others) / len(words | others) if words | others else 1.0


class TrigramCosine(_OfSurfaces):
    """The system `trigram-cosine`: cosine of the counts of runs of three characters, in lower case, with a space at
    both ends. It forgives endings and typing errors. Two texts of nothing but white space have a similarity of 1.

    >>> TrigramCosine().score("repairs", "Repairs"), round(TrigramCosine().score("repairs", "repaired"), 2)
    (1.0, 0.67)
    """

    name = "trigram-cosine"
    summary = "cosine of the counts of three neighbouring characters"
    settings: Mapping[str, object] = {"characters": 3}

    def score(self, first: str, second: str) -> float:
        counts, others = _trigrams(first), _trigrams(second)
        if counts == others:
            return 1.0
        if not counts or not others:
            return 0.0
        lengths = sum(n * n for n in counts.values()) * sum(n * n for n in others.values())
        return sum(n * others[run] for run, n in counts.items()) / math.sqrt(lengths)


def _trigrams(text: str) -> Counter[str]:
    line = " ".join(text.lower().split())
    line = f" {line} " if line else ""
    return Counter(line[at : at + 3] for at in range(len(line) - 2))
