"""Words by jieba and complement naive Bayes, trained on Chinese texts with gold."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from audit.kept_arrays import as_array
from audit.systems import jieba_words
from audit.systems.trained_chinese import Classifier, Model

if TYPE_CHECKING:
    import numpy as np


class JiebaNb(Classifier):
    """The systems `jieba-nb-SCHEME`: complement naive Bayes (Rennie et al., ICML 2003) on counts of words.

    The score is that of naive Bayes, which takes words for independent: close to 1 for all but short texts.
    """

    kind = "jieba-nb"
    about = "words by jieba, complement naive Bayes (scikit-learn)"
    training: Mapping[str, object] = {"terms": "words with a letter or digit, lower case", "min_df": 2, "alpha": 1.0}
    packages = ("scikit-learn", "jieba")
    pace = "about a minute"

    def packages_missing(self) -> str | None:
        return super().packages_missing() or jieba_words.needs()

    def prepare(self) -> None:
        super().prepare()
        jieba_words.load()

    def train(self, texts: Sequence[str], golds: Sequence[int]) -> Mapping[str, "np.ndarray"]:
        import numpy as np
        from sklearn.feature_extraction.text import CountVectorizer
        from sklearn.naive_bayes import ComplementNB

        vectorizer = CountVectorizer(analyzer=jieba_words.words, min_df=min(2, max(1, len(texts) // 100)))
        counts = vectorizer.fit_transform(texts)
        bayes = ComplementNB(alpha=float(str(self.training["alpha"]))).fit(counts, golds)
        return {
            "terms": as_array(tuple(vectorizer.get_feature_names_out().tolist())),
            "weights": np.ascontiguousarray(bayes.feature_log_prob_.T),
            "intercept": np.zeros(len(bayes.classes_)),
        }

    def margins(self, model: Model, texts: Sequence[str]) -> Iterator["np.ndarray"]:
        rows = model.rows
        for text in texts:
            counts = Counter(jieba_words.words(text))
            yield model.margins({rows[word]: float(times) for word, times in counts.items() if word in rows})


inews = partial(JiebaNb, "inews")
climate = partial(JiebaNb, "climate-topics")
