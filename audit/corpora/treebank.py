"""NLTK's sample of the Penn Treebank (Marcus, Santorini and Marcinkiewicz, Computational Linguistics 19, 1993): 3,914
sentences of 199 articles of the Wall Street Journal, 1989, as text that people write.

The trees say where sentences begin and end, the raw files how they were printed: a sentence is the piece of
its article that has the same letters. So spacing is the newspaper's, not a guess; the four sentences that trees and raw
files have differently are put together from their words.
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from audit.corpora.base import Row, Unit
from audit.corpora.nltk_data import contents, find, install_line
from audit.corpora.spacing import has_letter, restored
from audit.errors import BadFile, NotInstalled
from audit.keys import fingerprint
from audit.language.penn_signs import ESCAPED
from audit.tasks import Input

_INSTALL = install_line("treebank")
_TREES = re.compile(r"combined/(wsj_\d{4})\.mrg")
_LEAF = re.compile(r"\(([^\s()]+) ([^\s()]+)\)")
_TRACE = "-NONE-"
"""The tag of what is not in the text: the places that words were moved from."""
_TWO_STOPS = re.compile(r"\.\.(?=[\"')]*$)")
"""Trees end a sentence with a full stop of its own, even where one abbreviation ends it."""
_FAR = 500
"""Letters that the raw text may have between two sentences."""
_MENDS: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r" (?='(?:s|S)\b)"), ""),  # Chrysler Corp. 's division
    (re.compile(r" (?=,)"), ""),
    (re.compile(r"(?<=[a-z]{4}\")(?=[a-z])"), " "),  # "uptick rule"a reform
    (re.compile(r"(?<=[.!?,]) (?=['\"]+$)"), ""),
    (re.compile(r"(?<=[.,!?]) (?='\")"), ""),  # "`Buy, '" he explains
    (re.compile(r"^\" "), '"'),
    (re.compile(r"(?<=[A-Z]\.)\.(?!\.)"), ""),  # in the U.S..]
    (re.compile("`"), "'"),
    (re.compile(r"\{"), "["),  # the newspaper's brackets for words that it put into quotations
    (re.compile(r"\}"), "]"),
    (re.compile(r"#(?=\d)"), "£"),  # the sign of the pound sterling was lost on the way
)


class Treebank:
    """The sentences, without gold, by article; a sentence that was there before is no second source."""

    name = "treebank"
    task = "translation"
    language = "en"
    unit: Unit = "sentence"
    has_gold = False
    summary = "sentences of the Wall Street Journal 1989, without gold, by article (NLTK treebank)"
    version = "1"

    def needs(self) -> str | None:
        return None if find("treebank") else _INSTALL

    def size(self) -> int | None:
        return len(self._read()) if find("treebank") else None

    def fingerprint(self) -> str:
        return f"{fingerprint(part for key, text in self._read() for part in (key, text))}.{self.version}"

    def rows(self) -> Iterator[Row]:
        for key, text in self._read():
            yield Row(key, Input.of(text), cluster=key.partition(".")[0])

    def _read(self) -> tuple[tuple[str, str], ...]:
        found = find("treebank")
        if found is None:
            raise NotInstalled(
                f"the corpus {self.name} needs NLTK's treebank, which is not on NLTK's data path; run: {_INSTALL}"
            )
        return _sources(found)


@lru_cache(maxsize=2)
def _sources(found: Path) -> tuple[tuple[str, str], ...]:
    """(key such as "wsj_0001.1", sentence), in the order of the articles. Raises BadFile."""
    files = contents(found, "treebank")
    seen: set[str] = set()
    kept = []
    for path, trees in files.items():
        if not (match := _TREES.fullmatch(path)):
            continue
        raw = files.get(f"raw/{match[1]}", b"").decode("latin-1")
        for number, text in enumerate(sentences(trees.decode("latin-1"), raw), start=1):
            if has_letter(text) and text not in seen:
                seen.add(text)
                kept.append((f"{match[1]}.{number}", text))
    if not kept:
        raise BadFile(f"{found} holds no trees; delete it and run: {_INSTALL}")
    return tuple(kept)


def sentences(trees: str, raw: str) -> list[str]:
    """The sentences of an article, from its trees and from its raw text (which may be empty).

    >>> sentences("( (S (NP (PRP It) ) (VP (VBD was) (RB n't) (NP (-NONE- *-1) ) ) (. .) ) )", ".START It  wasn't.")
    ["It wasn't."]
    """
    raw = _spelled(raw.replace(".START", ""))
    places = [place for place, letter in enumerate(raw) if not letter.isspace()]
    letters = "".join(raw[place] for place in places)
    found, reached = [], 0
    for words in _words(trees):
        joined = "".join(words)
        at, length = -1, 0
        for spelled in (joined, _TWO_STOPS.sub(".", joined)):
            at, length = letters.find(spelled, reached, reached + _FAR + len(spelled)), len(spelled)
            if at >= 0:
                break
        if at < 0:
            text = restored(_TWO_STOPS.sub(".", " ".join(words)))
        else:
            reached = at + length
            text = " ".join(raw[places[at] : places[reached - 1] + 1].split())
        for pattern, new in _MENDS:
            text = pattern.sub(new, text)
        found.append(text)
    return found


def _spelled(text: str) -> str:
    return text.replace("``", '"').replace("''", '"').replace("\\/", "/").replace("\\*", "*")


def _words(trees: str) -> Iterator[list[str]]:
    """The words of each tree as the raw text spells them."""
    depth = start = 0
    for match in re.finditer(r"[()]", trees):
        if match[0] == "(":
            if depth == 0:
                start = match.start()
            depth += 1
            continue
        depth -= 1
        if depth == 0:
            leaves = _LEAF.findall(trees[start : match.end()])
            yield [ESCAPED.get(word) or _spelled(word) for tag, word in leaves if tag != _TRACE]
