"""Corpora that may not be packaged, from the user's own copies, in the formats in which their authors publish them.

`paws-x:FILE` (Yang et al. 2019, EMNLP), `lcsts:FILE` (Hu, Chen and Zhu 2015, EMNLP) and `thucnews:FOLDER_OR_FILE`
(Sun et al., THUCTC, 2016). A corpus is read as a whole when it is named, so that what is wrong is found before anything
is used, and a second time when its rows are: some have two million, which nobody wants in memory.
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar

from audit.corpora.base import Row, Unit
from audit.errors import BadFile, BadRow
from audit.files import read_text, refuse_no_file
from audit.keys import canonical, fingerprint
from audit.packs.chinese.corpora import tidy
from audit.tasks import Input
from audit.tasks.classification import SCHEMES

_BOM = "\ufeff"
_UNTRANSLATED = ("", "NS")
"""Placeholders of PAWS-X for a sentence that the translators could not translate."""
_PAWS_COLUMNS = ("id", "sentence1", "sentence2", "label")
_DOC = re.compile(r"<doc id=\"?(\d+)\"?>")
_FIELD = re.compile(r"<(human_label|summary|short_text)>(.*?)</\1>", re.DOTALL)


class Published(ABC):
    """Base of the three corpora: read and checked as a whole at once. Raises BadFile or BadRow."""

    prefix: ClassVar[str]
    what: ClassVar[str]
    task: str
    unit: Unit
    has_gold = False
    chooses_language = False
    version = "1"
    """Counts up whenever what is made of a file changes: a study must not go on with other texts."""

    def __init__(self, path: str | Path, language: str | None = None):
        self.path = Path(path)
        self.language = language or "zh"
        self.name = f"{self.prefix}:{self.path.name}"
        self._size = 0
        self._fingerprint = f"{fingerprint(self._contents())}.{self.version}"
        if not self._size:
            raise BadFile(f"{self.path}: there are no rows in it; {self.what} is needed")
        self.summary = f"{self._size:,} rows of {self.path}"

    def needs(self) -> str | None:
        return None

    def size(self) -> int | None:
        return self._size

    def fingerprint(self) -> str:
        return self._fingerprint

    def _contents(self) -> Iterator[str]:
        """Yield the content of each row and count the rows. Raises BadFile for a key that occurs twice."""
        keys: set[str] = set()
        for row in self.rows():
            if row.key in keys:
                raise BadFile(f"{self.path}: the id {row.key!r} is there twice; ids must differ")
            keys.add(row.key)
            self._size += 1
            yield canonical([row.key, *row.input.texts, self.language, row.gold, dict(row.attributes)])

    @abstractmethod
    def rows(self) -> Iterator[Row]:
        """Every row, in the file's order. Raises BadFile or BadRow."""

    def _input(self, line: int, *texts: str) -> Input:
        if any("\0" in text for text in texts):
            raise BadRow(self.path, line, "there is a NUL byte; remove it")
        return Input.of(*texts, language=self.language)


class PawsX(Published):
    """Pairs of PAWS-X with the label 0 or 1 as the attribute `paraphrase`: two labels settle no question about five
    levels of similarity. Pairs of which a sentence was not translated (empty, or `NS`) are left out."""

    prefix = "paws-x"
    chooses_language = True
    what = "a TSV of PAWS-X with the columns id, sentence1, sentence2 and label"
    task = "similarity"
    unit: Unit = "sentence"

    def rows(self) -> Iterator[Row]:
        lines = _lines(self.path)
        line, header = next(lines, (1, ""))
        if tuple(header.split("\t")) != _PAWS_COLUMNS:
            raise BadRow(self.path, line, f"{header[:60]!r} is not the header of PAWS-X; {self.what} is needed")
        for line, text in lines:
            if not text.strip():
                continue
            # The files quote nothing: a quotation mark is a part of its sentence.
            fields = [field.strip() for field in text.split("\t")]
            if len(fields) != len(_PAWS_COLUMNS):
                raise BadRow(self.path, line, f"there are {len(fields)} columns; needed are {', '.join(_PAWS_COLUMNS)}")
            key, first, second, label = fields
            if label not in ("0", "1", "", "-1"):  # some labels are missing
                raise BadRow(self.path, line, f"the label {label!r} is not 0 or 1")
            if not key:
                raise BadRow(self.path, line, "the id is empty")
            if first not in _UNTRANSLATED and second not in _UNTRANSLATED:
                attributes = {"paraphrase": label} if label in ("0", "1") else {}
                yield Row(key, self._input(line, first, second), attributes=attributes)


class Lcsts(Published):
    """Short texts of LCSTS. The summary that the author of a text wrote is the attribute `reference`, and how relevant
    people found it, from 1 to 5 (parts II and III alone), is the attribute `human_label`; neither is gold."""

    prefix = "lcsts"
    what = "a part of LCSTS, of <doc id=N> with <summary> and <short_text>"
    task = "summarization"
    unit: Unit = "document"

    def rows(self) -> Iterator[Row]:
        key, first_line = "", 0
        block: list[str] = []
        for line, text in _lines(self.path):
            text = text.strip()
            if match := _DOC.fullmatch(text):
                if first_line:
                    raise BadRow(self.path, line, f"a doc begins before that of line {first_line} has its </doc>")
                key, first_line = match.group(1), line
            elif text and not first_line:
                raise BadRow(self.path, line, f"{text[:40]!r} stands outside of every doc; {self.what} is needed")
            elif text == "</doc>":
                yield self._row(key, first_line, "\n".join(block))
                first_line, block = 0, []
            elif text:
                block.append(text)
        if first_line:
            raise BadRow(
                self.path, first_line, "the doc that begins here has no </doc>; is a part of the file missing?"
            )

    def _row(self, key: str, line: int, block: str) -> Row:
        fields = {name: tidy(value) for name, value in _FIELD.findall(block)}
        if rest := _FIELD.sub("", block).strip():
            raise BadRow(self.path, line, f"the doc has {rest[:40]!r} beside its parts; {self.what} is needed")
        for name in ("summary", "short_text"):
            if not fields.get(name):
                raise BadRow(self.path, line, f"the doc has no {name}, or an empty one; {self.what} is needed")
        attributes = {"reference": fields["summary"]}
        if "human_label" in fields:
            if fields["human_label"] not in ("1", "2", "3", "4", "5"):
                raise BadRow(self.path, line, f"the human_label {fields['human_label'][:20]!r} is not 1 to 5")
            attributes["human_label"] = fields["human_label"]
        return Row(key, self._input(line, fields["short_text"]), attributes=attributes)


class Thucnews(Published):
    """Texts of THUCNews with their category as gold: a folder with a folder of `.txt` files per category, or a file
    with a category, a tab and a text per line (as the subset `cnews.train.txt`)."""

    prefix = "thucnews"
    what = "a folder of THUCNews with a folder per category, or a file with a category, a tab and a text per line,"
    task = "classification/thucnews"
    unit: Unit = "document"
    has_gold = True

    def rows(self) -> Iterator[Row]:
        return self._files() if self.path.is_dir() else self._file()

    def _files(self) -> Iterator[Row]:
        for folder in sorted(self.path.iterdir()):
            if folder.is_dir() and not folder.name.startswith("."):
                gold = folder.name
                if why := _no_category(gold):
                    raise BadFile(f"{folder}: {why}")
                for file in sorted(folder.glob("*.txt")):
                    text = tidy(read_text(file))
                    yield Row(f"{gold}/{file.stem}", self._input(1, text), gold)

    def _file(self) -> Iterator[Row]:
        for line, text in _lines(self.path):
            if not text.strip():
                continue
            name, tab, body = text.partition("\t")
            if not tab:
                raise BadRow(self.path, line, f"there is no tab in {text[:40]!r}; {self.what} is needed")
            gold = name.strip()
            if why := _no_category(gold):
                raise BadRow(self.path, line, why)
            if not (body := tidy(body)):
                raise BadRow(self.path, line, "the text is empty")
            yield Row(str(line), self._input(line, body), gold)


def _no_category(name: str) -> str | None:
    categories = SCHEMES["thucnews"]
    return None if name in categories else f"{name[:40]!r} is no category of THUCNews; they are {', '.join(categories)}"


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    """The lines of a UTF-8 file, with their numbers from 1. Raises BadFile: absent, unreadable, another encoding."""
    refuse_no_file(path)
    try:
        with path.open("rb") as file:
            for number, content in enumerate(file, start=1):
                yield number, _decode_line(path, number, content)
    except OSError as problem:
        raise BadFile(f"{path}: cannot be read ({problem.strerror})") from problem


def _decode_line(path: Path, number: int, content: bytes) -> str:
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as problem:
        raise BadRow(
            path,
            number,
            f"byte {problem.start + 1:,} (0x{content[problem.start]:02x}) is not UTF-8; save the file as UTF-8, for "
            f"example: iconv -f GB18030 -t UTF-8 {path.name}",
        ) from problem
    return (text.removeprefix(_BOM) if number == 1 else text).rstrip("\r\n")
