"""Systems that see no more than characters, words and sentences: similarities of any language, and summaries that
choose sentences of a text, its first ones or those that the package sumy rates best.
"""

import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from importlib import import_module
from typing import Any

from audit.systems.base import Ready, missing, package_version
from audit.systems.trained import tokens
from audit.tasks import Input, Output
from audit.text import Analysis


class Similarity(Ready):
    """A similarity of two texts by a function of them, symmetric, and 1 of a text with itself."""

    tasks: tuple[str, ...] = ("similarity",)
    languages: tuple[str, ...] = ("*",)

    def __init__(self, name: str, score: Callable[[str, str], float], summary: str, **settings: object):
        self.name, self.summary, self._score = name, summary, score
        self.settings: Mapping[str, object] = settings
        self.version = package_version("rapidfuzz") if name == "rapidfuzz" else "1"

    def run(self, inputs: Sequence[Input]) -> list[Output]:
        return [Output(score=self._score(*item.texts)) for item in inputs]


def edited(first: str, second: str) -> float:
    """Return `fuzz.ratio` / 100 = 1 - (insertions + deletions) / (characters of both texts).

    >>> edited("我喜欢猫", "我喜欢狗")
    0.75
    """
    from rapidfuzz.fuzz import ratio

    return float(ratio(first, second)) / 100


def jaccard(first: str, second: str) -> float:
    """Return the different words that both texts have for all of the two; two texts without a word have 1.

    >>> jaccard("The cat sat.", "the cat lay")
    0.5
    """
    words, others = set(tokens(first)), set(tokens(second))
    return len(words & others) / len(words | others) if words | others else 1.0


_STAY = "share of characters that stay when one text is edited into the other (rapidfuzz)"
_WORDS = "share of all different words that both texts have"
RapidFuzz = partial(Similarity, "rapidfuzz", edited, _STAY, scorer="ratio")
WordJaccard = partial(Similarity, "word-jaccard", jaccard, _WORDS, words="lower case")


class Lead(Ready):
    """The system `lead-3`: the first `sentences` of a text, as sentences are split in its language.

    >>> Lead(2).run([Input.of("It rains. It snows. It thaws.")])[0].text
    'It rains. It snows.'
    """

    tasks: tuple[str, ...] = ("summarization",)
    languages: tuple[str, ...] = ("*",)
    version = "1"

    def __init__(self, sentences: int = 3):
        self.name, self.summary = f"lead-{sentences}", f"the first {sentences} sentences"
        self.settings: Mapping[str, object] = {"sentences": sentences}
        self._sentences = sentences

    def run(self, inputs: Sequence[Input]) -> list[Output]:
        spans = [Analysis(item.text, item.languages[0]).spans[: self._sentences] for item in inputs]
        return [
            Output(text=item.text[of[0][0] : of[-1][1]] if of else item.text.strip())
            for item, of in zip(inputs, spans, strict=True)
        ]


_CLASSES = {"lexrank": ("lex_rank", "LexRank"), "lsa": ("lsa", "Lsa"), "luhn": ("luhn", "Luhn")}


class Sumy(ABC):
    """Algorithms of the package sumy for one language: `lexrank` (Erkan and Radev, JAIR 22, 2004), `lsa` (Steinberger
    and Ježek, 2004) and `luhn` (Luhn, IBM Journal 2, 1958).

    The `sentences` with the highest ratings are joined in the order of the text, earlier ones first among equals. A
    text without a sentence, or with as few as asked for, is its own summary. `stop_words` is the language whose stop
    words of sumy's are no words; `joint` stands between two sentences.
    """

    tasks: tuple[str, ...] = ("summarization",)
    languages: tuple[str, ...]
    stop_words: str
    joint = ""

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
        return [Output(text=self._choose(item.text).strip() or item.text.strip()) for item in inputs]

    @staticmethod
    @abstractmethod
    def tokenizer() -> Any:
        """Return what splits paragraphs into sentences (`to_sentences`) and these into words (`to_words`)."""

    def _choose(self, text: str) -> str:
        summarizer, parser, stop_words = _parts(self._algorithm, self.stop_words)
        document = parser.from_string(text, self.tokenizer()).document
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
    """Return sumy's choice, by ratings of nine digits: equals must not be ranked by the last bit of a machine."""
    rate = rating.__getitem__ if isinstance(rating, dict) else rating
    return best(sentences, count, lambda sentence: round(float(rate(sentence, *more)), 9))


@cache
def _parts(algorithm: str, language: str) -> tuple[Any, Any, frozenset[str]]:
    """Return the class of the algorithm, that which reads a text with a tokenizer, and the stop words."""
    from sumy.parsers.plaintext import PlaintextParser
    from sumy.utils import get_stop_words

    module, name = _CLASSES[algorithm]
    summarizer = getattr(import_module(f"sumy.summarizers.{module}"), f"{name}Summarizer")
    return summarizer, PlaintextParser, get_stop_words(language)
