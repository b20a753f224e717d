"""TF-IDF of characters and a linear support vector machine, trained on Chinese texts with gold."""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING

from audit.kept_arrays import as_array
from audit.systems.trained_chinese import Classifier, Model

if TYPE_CHECKING:
    import numpy as np


class TfidfSvm(Classifier):
    """The systems `tfidf-svm-SCHEME`: one margin a label (one against the rest), labels weighted by how rare they are.

    Terms are characters and pairs of neighbours, in lower case and with single spaces; nothing else is changed. The
    score is no probability: two labels' margins of 1 and -1 give .88.
    """

    kind = "tfidf-svm"
    about = "TF-IDF of one and two characters, linear support vector machine (scikit-learn)"
    training: Mapping[str, object] = {
        "terms": "1-2 characters, lower case, single spaces",
        "min_df": 3,
        "max_features": 100_000,
        "tf": "1 + ln",
        "C": 0.5,
        "class_weight": "balanced",
    }
    packages = ("scikit-learn",)
    pace = "about a minute"

    def train(self, texts: Sequence[str], golds: Sequence[int]) -> Mapping[str, "np.ndarray"]:
        import numpy as np
        from sklearn.feature_extraction.text import TfidfVectorizer
        from sklearn.svm import LinearSVC

        vectorizer = TfidfVectorizer(
            analyzer=terms,
            min_df=min(int(str(self.training["min_df"])), max(1, len(texts) // 100)),
            max_features=int(str(self.training["max_features"])),
            sublinear_tf=True,
        )
        matrix = vectorizer.fit_transform(texts)
        machine = LinearSVC(C=float(str(self.training["C"])), class_weight="balanced", random_state=0)
        machine.fit(matrix, golds)
        weights, intercept = machine.coef_, machine.intercept_
        if len(machine.classes_) == 2:  # one margin, of the second label
            weights, intercept = np.vstack([-weights, weights]), np.concatenate([-intercept, intercept])
        return {
            "terms": as_array(tuple(vectorizer.get_feature_names_out().tolist())),
            "idf": vectorizer.idf_,
            "weights": np.ascontiguousarray(weights.T),
            "intercept": intercept,
        }

    def margins(self, model: Model, texts: Sequence[str]) -> Iterator["np.ndarray"]:
        rows, idf = model.rows, model.kept.arrays["idf"]
        for text in texts:
            known = {rows[term]: times for term, times in Counter(terms(text)).items() if term in rows}
            values = {row: (1 + math.log(times)) * float(idf[row]) for row, times in known.items()}
            length = math.sqrt(math.fsum(value * value for value in values.values())) or 1.0
            yield model.margins({row: value / length for row, value in values.items()})


def terms(text: str) -> list[str]:
    """Characters and pairs of neighbours.

    >>> terms("去 ABC")
    ['去', ' ', 'a', 'b', 'c', '去 ', ' a', 'ab', 'bc']
    """
    text = " ".join(text.lower().split())
    return [*text, *map("".join, pairwise(text))]


inews = partial(TfidfSvm, "inews")
climate = partial(TfidfSvm, "climate-topics")
