"""Polarity v2.0: on a small copy of its layout, and on the data themselves where they are."""

import zipfile
from pathlib import Path

import nltk.data
import pytest

from audit.corpora import get_corpus

REAL = Path(__file__).parents[3].parent / "shared" / "data" / "nltk_data"
NEGATIVE = "plot : two teens drive . \nthey get into an accident . \n* * * \n"
POSITIVE = 'it \'s " good " ( really ) . \n'


@pytest.fixture
def nltk_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty NLTK data path."""
    monkeypatch.setattr(nltk.data, "path", [str(tmp_path)])
    (tmp_path / "corpora").mkdir()
    return tmp_path


def _write(folder: Path) -> None:
    with zipfile.ZipFile(folder / "corpora" / "movie_reviews.zip", "w") as archive:
        archive.writestr("movie_reviews/README", "about")
        archive.writestr("movie_reviews/pos/cv001_2.txt", POSITIVE)
        archive.writestr("movie_reviews/neg/cv000_1.txt", NEGATIVE)


def test_documents_keep_a_sentence_a_line(nltk_data: Path) -> None:
    _write(nltk_data)
    corpus = get_corpus("polarity-v2")
    negative, positive = corpus.rows()
    assert (negative.key, negative.gold) == ("neg/cv000_1", "negative")
    assert negative.input.text == "plot: two teens drive.\nthey get into an accident.\n***"
    assert (positive.key, positive.gold, positive.input.text) == ("pos/cv001_2", "positive", 'it\'s "good" (really).')
    assert corpus.size() == 2
    assert corpus.needs() is None


def test_sentences_have_no_gold_but_a_document(nltk_data: Path) -> None:
    _write(nltk_data)
    corpus = get_corpus("polarity-v2-sentences")
    rows = list(corpus.rows())
    assert [(row.key, row.cluster, row.gold) for row in rows] == [
        ("neg/cv000_1.1", "neg/cv000_1", None),
        ("neg/cv000_1.2", "neg/cv000_1", None),
        ("pos/cv001_2.1", "pos/cv001_2", None),
    ]
    assert corpus.size() == len(rows)


@pytest.mark.skipif(not (REAL / "corpora" / "movie_reviews.zip").exists(), reason="NLTK's movie_reviews is not there")
def test_the_real_corpus(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nltk.data, "path", [str(REAL)])
    corpus = get_corpus("polarity-v2")
    assert corpus.size() == 2000
    first = next(corpus.rows())
    assert (first.key, first.gold) == ("neg/cv000_29416", "negative")
    assert first.input.text.startswith("plot: two teen couples go to a church party, drink and then drive.\n")
    assert get_corpus("polarity-v2-sentences").size() == 64546
