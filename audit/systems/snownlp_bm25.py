"""BM25 of a text's words in another one, from the package SnowNLP."""

from collections.abc import Mapping, Sequence

from audit.systems.installed import package_version
from audit.systems.snownlp_words import needs, pieces, words
from audit.tasks import Input, Output


class SnowNlpBm25:
    """The system `snownlp-bm25`: `SnowNLP([second]).sim(first)`, divided by that of the second text with itself.

    The package ranks documents for a query and has no similarity of two texts; with the second one as its only
    document, its score is a number without bound, so it is divided by what the second text itself would have, and cut
    at 1. It is not symmetric: a long first text that has all words of a short second one has a similarity of 1 with it,
    and not the other way round. Words are those of the package, without stop words; two texts without words have a
    similarity of 1.
    """

    name = "snownlp-bm25"
    tasks: tuple[str, ...] = ("similarity",)
    languages: tuple[str, ...] = ("zh",)
    summary = "BM25 of the first text's words in the second, as a share of the second's own (SnowNLP); not symmetric"

    def __init__(self) -> None:
        self.version = package_version("snownlp")
        self.settings: Mapping[str, object] = {"document": "second", "words": "no stop words"}

    def needs(self) -> str | None:
        return needs()

    def prepare(self) -> None:
        words("准备")

    def run(self, inputs: Sequence[Input]) -> list[Output]:
        return [Output(score=share(*map(_words, one.texts))) for one in inputs]


def _words(text: str) -> list[str]:
    return [word for piece in pieces(text) for word in words(piece)]


def share(query: Sequence[str], document: Sequence[str]) -> float:
    """BM25 of the query in the document as a share of the document's own, at most 1.

    >>> share(["猫", "狗"], ["猫", "鱼"]), share(["猫", "狗", "鱼"], ["猫", "鱼"])
    (0.5, 1.0)
    """
    if not document:
        return 0.0 if query else 1.0
    from snownlp.sim.bm25 import BM25

    # One document gives every word the same (negative) weight, which the division takes out.
    ranking = BM25([list(document)])
    return min(1.0, max(0.0, ranking.sim(query, 0) / ranking.sim(document, 0)))
