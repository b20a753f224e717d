"""TextRank, from the package SnowNLP: some pieces of a text between its commas and full stops."""

from collections.abc import Mapping, Sequence

from audit.systems.installed import package_version
from audit.systems.snownlp_words import needs, pieces, words
from audit.systems.summaries import summarized
from audit.tasks import Input, Output


class SnowNlpTextRank:
    """The system `snownlp-textrank`: the pieces that `SnowNLP(text).summary(pieces)` has (Mihalcea and Tarau, 2004;
    weights are BM25), in the order of the text, as one sentence.

    The package cuts a text at ，。？！； and line ends. A text of no more pieces than asked for is its own summary.
    """

    name = "snownlp-textrank"
    tasks: tuple[str, ...] = ("summarization",)
    languages: tuple[str, ...] = ("zh",)
    summary = "the five clauses that TextRank rates highest (SnowNLP)"

    def __init__(self, pieces: int = 5) -> None:
        self.version = package_version("snownlp")
        self.settings: Mapping[str, object] = {"pieces": pieces, "words": "no stop words"}
        self._pieces = pieces

    def needs(self) -> str | None:
        return needs()

    def prepare(self) -> None:
        words("准备")

    def run(self, inputs: Sequence[Input]) -> list[Output]:
        return summarized(inputs, self._chosen)

    def _chosen(self, text: str) -> str:
        found = pieces(text)
        if len(found) <= self._pieces:
            return text
        return "，".join(found[place] for place in sorted(best(found, self._pieces))) + "。"


def best(pieces: Sequence[str], number: int) -> list[int]:
    """Places of the best pieces, the best one first: what `SnowNLP.summary` does, with words that are remembered."""
    from snownlp.summary.textrank import TextRank

    rank = TextRank([list(words(piece)) for piece in pieces])
    rank.solve()
    return rank.top_index(number)
