"""NLTK's `movie_reviews`, the polarity dataset v2.0 of Pang and Lee (2004): the corpus of the study.

2,000 documents, one sentence per line, tokenised and lower-case. Found on NLTK's data path, zipped or not.
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from audit.corpora.base import Row, Unit
from audit.corpora.nltk_data import contents, find, install_line
from audit.corpora.spacing import has_letter, restored_all
from audit.errors import BadFile, NotInstalled
from audit.keys import fingerprint
from audit.tasks import Input

_INSTALL = install_line("movie_reviews")
_FILE = re.compile(r"(neg|pos)/[\w.-]+\.txt")
_GOLD = {"neg": "negative", "pos": "positive"}


def path() -> Path | None:
    """The corpus's zip file or folder, the first on NLTK's data path; None where there is none."""
    return find("movie_reviews")


@lru_cache(maxsize=2)
def _content(found: Path) -> tuple[tuple[str, str], ...]:
    """(file id such as "neg/cv000_29416.txt", text), sorted by file id. Raises BadFile."""
    chosen = [(name, text) for name, text in contents(found, "movie_reviews").items() if _FILE.fullmatch(name)]
    if not chosen:
        raise BadFile(f"{found} holds no reviews; delete it and run: {_INSTALL}")
    # Every file is ASCII but for a few letters, which are Latin-1.
    return tuple((name, text.decode("latin-1")) for name, text in chosen)


class Polarity:
    """The documents: a restored sentence per line."""

    name = "polarity-v2"
    task = "sentiment"
    language = "en"
    unit: Unit = "document"
    has_gold = True
    summary = "2,000 film reviews of the study's own corpus with gold (NLTK movie_reviews), one sentence a line"
    version = "1"

    def needs(self) -> str | None:
        return None if path() else _INSTALL

    def size(self) -> int | None:
        return len(self._read()) if path() else None

    def fingerprint(self) -> str:
        return f"{fingerprint(part for file in self._read() for part in file)}.{self.version}"

    def rows(self) -> Iterator[Row]:
        for name, text in self._read():
            yield Row(name.removesuffix(".txt"), Input.of("\n".join(_sentences(text))), _GOLD[name[:3]])

    def _read(self) -> tuple[tuple[str, str], ...]:
        found = path()
        if found is None:
            raise NotInstalled(
                f"the corpus {self.name} needs NLTK's movie_reviews, which is not on NLTK's data path; run: {_INSTALL}"
            )
        return _content(found)


class PolaritySentences(Polarity):
    """Their lines, as the study used them. A sentence does not inherit its document's label, so there is no gold."""

    name = "polarity-v2-sentences"
    unit: Unit = "sentence"
    has_gold = False
    summary = "the sentences of polarity-v2, without gold, by document"

    def size(self) -> int | None:
        if path() is None:
            return None
        return sum(1 for _, text in self._read() for line in text.split("\n") if has_letter(line))

    def rows(self) -> Iterator[Row]:
        for name, text in self._read():
            document = name.removesuffix(".txt")
            lines = text.split("\n")
            for number, (line, sentence) in enumerate(zip(lines, restored_all(lines), strict=True), start=1):
                # Lines without a letter are ornaments ("* * *"); they keep their number and are no sources.
                if has_letter(line):
                    yield Row(f"{document}.{number}", Input.of(sentence), cluster=document)


def _sentences(text: str) -> list[str]:
    return restored_all([line for line in text.split("\n") if line.strip()])
