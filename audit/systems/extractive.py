"""Systems that summarise by choosing sentences of a text: its first ones, or those that the package sumy rates best.

A text too short to choose from is its own summary.
"""

import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from importlib import import_module
from typing import Any

from audit.systems.base import missing, package_version
from audit.tasks import Input, Output
from audit.text import Analysis


def summarize(inputs: Sequence[Input], choose: Callable[[str], str]) -> list[Output]:
    """A summary of each text; the whole text where `choose` finds nothing to choose from, so that none is empty.

    >>> summarize([Input.of(" One. ")], lambda text: "")
    [Output(label=None, score=None, text='One.', error=None)]
    """
    return [Output(text=choose(item.text).strip() or item.text.strip()) for item in inputs]


class Lead:
    """The system `lead-3`: the first `sentences` of a text, as sentences are split in its language.

    >>> Lead(2).run([Input.of("It rains. It snows. It thaws.")])[0].text
    'It rains. It snows.'
    """

    tasks: tuple[str, ...] = ("summarization",)
    languages: tuple[str, ...] = ("*",)
    version = "1"

    def __init__(self, sentences: int = 3):
        self.name = f"lead-{sentences}"
        self.summary = f"the first {sentences} sentences"
        self.settings: Mapping[str, object] = {"sentences": sentences}
        self._sentences = sentences

    def needs(self) -> str | None:
        return None

    def prepare(self) -> None:
        """There is nothing to load."""

    def run(self, inputs: Sequence[Input]) -> list[Output]:
        return [Output(text=self._choose(item.text, item.languages[0])) for item in inputs]

    def _choose(self, text: str, language: str) -> str:
        spans = Analysis(text, language).spans[: self._sentences]
        return text[spans[0][0] : spans[-1][1]] if spans else text.strip()


_CLASSES = {
    "lexrank": ("sumy.summarizers.lex_rank", "LexRankSummarizer"),
    "lsa": ("sumy.summarizers.lsa", "LsaSummarizer"),
    "luhn": ("sumy.summarizers.luhn", "LuhnSummarizer"),
}


class Sumy(ABC):
    """Algorithms of the package sumy for one language: `lexrank` (Erkan and Radev, JAIR 22, 2004), `lsa` (Steinberger
    and Ježek, 2004) and `luhn` (Luhn, IBM Journal 2, 1958).

    The `sentences` with the highest ratings are joined in the order of the text, earlier ones first among equals. A
    text without a sentence, or with as few as asked for, is its own summary.
    """

    tasks: tuple[str, ...] = ("summarization",)
    languages: tuple[str, ...]
    stop_words: str
    """The language whose stop words of sumy's are no words."""
    joint = ""
    """What stands between two sentences."""

    def __init__(self, algorithm: str, name: str, sentences: int = 3):
        self.name = name
        self.summary = f"the {sentences} sentences that {algorithm.upper()} rates highest (sumy)"
        self.version = package_version("sumy")
        self.settings: Mapping[str, object] = {"sentences": sentences, "stop words": "sumy"}
        self._algorithm, self._sentences = algorithm, sentences

    def needs(self) -> str | None:
        return missing("sumy", "pip install 'audit[english]'")

    def prepare(self) -> None:
        self.tokenizer()
        _parts(self._algorithm, self.stop_words)

    def run(self, inputs: Sequence[Input]) -> list[Output]:
        return summarize(inputs, self._choose)

    @staticmethod
    @abstractmethod
    def tokenizer() -> Any:
        """What splits paragraphs into sentences (`to_sentences`) and these into words (`to_words`)."""

    def _choose(self, text: str) -> str:
        summarizer, read, stop_words = _parts(self._algorithm, self.stop_words)
        document = read(text, self.tokenizer())
        if len(document.sentences) <= self._sentences:
            return text
        # Luhn counts words as texts, in the order in which they stand.
        ranker = summarizer(str if self._algorithm == "luhn" else _Numbers())
        ranker.stop_words = stop_words
        ranker._get_best_sentences = partial(_best, ranker._get_best_sentences)
        with warnings.catch_warnings():
            # Of sentences without common words (0 / 0), and of fewer words than sentences: they are rated all the same.
            warnings.simplefilter("ignore")
            return self.joint.join(map(str, ranker(document, self._sentences)))


class _Numbers(dict[str, int]):
    """word -> its number in the text: what sumy calls a stemmer.

    sumy adds and decomposes in the order of sets of what this returns, and a set of texts has another order in every
    process; one of whole numbers has not. So a text has the same summary wherever it is made.
    """

    def __missing__(self, word: str) -> int:
        return self.setdefault(word, len(self))

    __call__ = dict.__getitem__


def _best(best: Callable[..., Any], sentences: Sequence[Any], count: int, rating: Any, *more: Any) -> Any:
    """sumy's choice, by ratings of nine digits: what is equal must not be ranked by the last bit of a machine."""
    rate = rating.__getitem__ if isinstance(rating, dict) else rating
    return best(sentences, count, lambda sentence: round(float(rate(sentence, *more)), 9))


@cache
def _parts(algorithm: str, language: str) -> tuple[Any, Callable[[str, Any], Any], frozenset[str]]:
    """The class of the algorithm, what reads a text with a tokenizer, and the stop words."""
    from sumy.parsers.plaintext import PlaintextParser
    from sumy.utils import get_stop_words

    module, name = _CLASSES[algorithm]
    return (
        getattr(import_module(module), name),
        lambda text, tokenizer: PlaintextParser.from_string(text, tokenizer).document,
        get_stop_words(language),
    )
