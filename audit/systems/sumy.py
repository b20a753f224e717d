"""LexRank and latent semantic analysis, from the package sumy: some sentences of a text, as they stand in it."""

import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from typing import Any

from audit.systems import jieba_words
from audit.systems.installed import missing, package_version
from audit.systems.summaries import summarized
from audit.tasks import Input, Output

_CLASSES = {
    "lexrank": ("sumy.summarizers.lex_rank", "LexRankSummarizer"),
    "lsa": ("sumy.summarizers.lsa", "LsaSummarizer"),
}


class Sumy:
    """The systems `sumy-lexrank` (Erkan and Radev, JAIR 22, 2004) and `sumy-lsa` (Steinberger and Ježek, 2004).

    A sentence ends at 。！？ or a wide space; what follows the last of them is in no summary. Words are jieba's,
    without sumy's stop words. The `sentences` with the highest ratings are joined in the order of the text, earlier
    ones first among equals. A text without a sentence, or with as few as asked for, is its own summary.
    """

    tasks: tuple[str, ...] = ("summarization",)
    languages: tuple[str, ...] = ("zh",)

    def __init__(self, algorithm: str, sentences: int = 3):
        self.name = f"sumy-{algorithm}"
        self.summary = f"the {sentences} sentences that {algorithm.upper()} rates highest (sumy, jieba)"
        self.version = f"{package_version('sumy')} jieba {package_version('jieba')}"
        self.settings: Mapping[str, object] = {"sentences": sentences, "stop words": "sumy"}
        self._algorithm, self._sentences = algorithm, sentences

    def needs(self) -> str | None:
        return missing("sumy", 'pip install "audit[chinese]"') or jieba_words.needs()

    def prepare(self) -> None:
        _parts(self._algorithm)

    def run(self, inputs: Sequence[Input]) -> list[Output]:
        return summarized(inputs, self._chosen)

    def _chosen(self, text: str) -> str:
        summarizer, read, stop_words = _parts(self._algorithm)
        document = read(text)
        if len(document.sentences) <= self._sentences:
            return text
        one = summarizer(_Numbers())
        one.stop_words = stop_words
        one._get_best_sentences = partial(_best, one._get_best_sentences)
        with warnings.catch_warnings():
            # Of sentences without common words (0 / 0), and of fewer words than sentences: they are rated all the same.
            warnings.simplefilter("ignore")
            return "".join(map(str, one(document, self._sentences)))


class _Numbers(dict[str, int]):
    """word -> its number in the text: what sumy calls a stemmer.

    sumy adds and decomposes in the order of sets of what this returns, and a set of texts has another order in every
    process; one of whole numbers has not. So a text has the same summary wherever it is made.
    """

    def __missing__(self, word: str) -> int:
        return self.setdefault(word, len(self))

    __call__ = dict.__getitem__


def _best(best: Callable[..., Any], sentences: Sequence[Any], count: int, rating: Any) -> Any:
    """sumy's choice, by ratings of nine digits: what is equal must not be ranked by the last bit of a machine."""
    rate = rating.__getitem__ if isinstance(rating, dict) else rating
    return best(sentences, count, lambda sentence: round(float(rate(sentence)), 9))


@cache
def _parts(algorithm: str) -> tuple[Any, Callable[[str], Any], frozenset[str]]:
    """The class of the algorithm, what reads a text, and the stop words."""
    from importlib import import_module

    jieba_words.load()
    from sumy.nlp.tokenizers import Tokenizer
    from sumy.parsers.plaintext import PlaintextParser
    from sumy.utils import get_stop_words

    module, name = _CLASSES[algorithm]
    tokenizer = Tokenizer("chinese")
    return (
        getattr(import_module(module), name),
        lambda text: PlaintextParser.from_string(text, tokenizer).document,
        get_stop_words("chinese"),
    )


lexrank = partial(Sumy, "lexrank")
lsa = partial(Sumy, "lsa")
