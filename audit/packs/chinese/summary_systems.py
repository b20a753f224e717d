"""Chinese systems that choose sentences or clauses of a text."""

import sys
from collections.abc import Mapping, Sequence
from contextlib import redirect_stderr, redirect_stdout
from functools import cache, partial
from io import StringIO
from typing import Any

from audit.errors import BadOutput
from audit.packs.chinese import similarity_systems as chinese_similarity
from audit.packs.chinese.similarity_systems import pieces, snownlp_needs, snownlp_words
from audit.systems.base import missing, package_version
from audit.systems.extractive import Sumy, summarize
from audit.tasks import Input, Output

# Sentences chosen by TF-IDF, topics and place, from the package jionlp.


class JioNlp:
    """The system `jionlp-summary`: `jionlp.summary.extract_summary` with the settings that the package has by default.

    Sentences are weighed by TF-IDF and by how much their words belong to few of 100 topics; the first three weigh 1.2
    times as much, what an earlier one has said weighs less. The best are joined in the order of the text while they
    have no more than `length` characters together. A text that is no longer is its own summary. The package cleans a
    longer one first: tags, addresses and repeated characters go.

    Loading it takes half a minute and 2 GB at its peak.
    """

    name = "jionlp-summary"
    tasks: tuple[str, ...] = ("summarization",)
    languages: tuple[str, ...] = ("zh",)
    summary = "sentences of up to 200 characters by TF-IDF, topics and place (jionlp)"

    def __init__(self, length: int = 200, first: float = 1.2, topics: float = 0.2):
        self.version = f"{package_version('jionlp')} jiojio {package_version('jiojio')}"
        self.settings: Mapping[str, object] = {"summary_length": length, "lead_3_weight": first, "topic_theta": topics}

    def needs(self) -> str | None:
        return missing("jionlp", 'pip install "audit[chinese]"')

    def prepare(self) -> None:
        _extractor()

    def run(self, inputs: Sequence[Input]) -> list[Output]:
        return summarize(inputs, self._choose)

    def _choose(self, text: str) -> str:
        extract, printed = _extractor(), StringIO()
        with redirect_stderr(printed):
            summary: str = extract(text, **self.settings)
        if text.strip() and not summary.strip():
            # The package catches whatever it raises, says so on stderr and returns an empty text.
            raise BadOutput(f"jionlp made no summary: {' '.join(printed.getvalue().split()) or 'it says nothing'}")
        return summary


@cache
def _extractor() -> Any:
    """The package's object, loaded. Importing it prints what it is, and where else one may find its authors."""
    print("loading jionlp-summary, about half a minute", file=sys.stderr, flush=True)
    with redirect_stdout(StringIO()), redirect_stderr(StringIO()):
        import jionlp

        jionlp.summary.extract_summary("准备。" * 100)
    return jionlp.summary.extract_summary


# TextRank, from the package SnowNLP: some pieces of a text between its commas and full stops.


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
        return snownlp_needs()

    def prepare(self) -> None:
        snownlp_words("准备")

    def run(self, inputs: Sequence[Input]) -> list[Output]:
        return summarize(inputs, self._choose)

    def _choose(self, text: str) -> str:
        clauses = pieces(text)
        if len(clauses) <= self._pieces:
            return text
        return "，".join(clauses[place] for place in sorted(best(clauses, self._pieces))) + "。"


def best(pieces: Sequence[str], number: int) -> list[int]:
    """Places of the best pieces, the best one first: what `SnowNLP.summary` does, with words that are remembered."""
    from snownlp.summary.textrank import TextRank

    rank = TextRank([list(snownlp_words(piece)) for piece in pieces])
    rank.solve()
    places: list[int] = rank.top_index(number)
    return places


# LexRank and latent semantic analysis, from the package sumy: some sentences of a text, as they stand in it.


class ChineseSumy(Sumy):
    """The systems `sumy-lexrank` and `sumy-lsa`: a sentence ends at 。！？ or a wide space; what follows the last of
    them is in no summary. Words are jieba's, without sumy's stop words."""

    languages: tuple[str, ...] = ("zh",)
    stop_words = "chinese"

    def __init__(self, algorithm: str, sentences: int = 3):
        super().__init__(algorithm, f"sumy-{algorithm}", sentences)
        self.summary = f"{self.summary.removesuffix(')')}, jieba)"
        self.version = f"{self.version} jieba {package_version('jieba')}"

    def needs(self) -> str | None:
        return missing("sumy", 'pip install "audit[chinese]"') or chinese_similarity.jieba_needs()

    @staticmethod
    @cache
    def tokenizer() -> Any:
        chinese_similarity.load_jieba()
        from sumy.nlp.tokenizers import Tokenizer

        return Tokenizer("chinese")


lexrank = partial(ChineseSumy, "lexrank")
lsa = partial(ChineseSumy, "lsa")
