"""Where sources come from."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import PurePath
from types import MappingProxyType
from typing import Literal, Protocol

from audit import registry
from audit.registry import Registry
from audit.resources import cache_folder as folder
from audit.tasks import Input

Unit = Literal["sentence", "document"]


@dataclass(frozen=True, slots=True)
class Row:
    """One row of a corpus, a source in the making. `key` names the row for ever; `cluster` the document it was cut
    from; `gold` is a label of the task or None; `attributes` keeps what else the corpus knows."""

    key: str
    input: Input
    gold: str | None = None
    cluster: str | None = None
    attributes: Mapping[str, str] = field(default_factory=dict)


class Corpus(Protocol):
    """A named list of rows, read only when asked for. One whose texts are all about one thing may say so: `about =
    "film"` has people asked about the film."""

    name: str
    task: str
    language: str
    """The language of its texts, or of most: a corpus with texts in several languages has `languages`, too."""
    unit: Unit
    has_gold: bool
    summary: str

    def size(self) -> int | None:
        """Number of rows that the package or file holds, or None while it is not available."""
        ...

    def needs(self) -> str | None:
        """None when the corpus can be read now; else the line that installs it."""
        ...

    def fingerprint(self) -> str:
        """Names the content: another content, another fingerprint."""
        ...

    def rows(self) -> Iterator[Row]:
        """Every row that may become a source, in corpus order. Raises NotInstalled or BadFile; never a part."""
        ...


CORPORA: Registry[Callable[..., Corpus]] = registry.corpora
"""Who makes the corpora of these names. One with an argument is called with the path and the language (None: the
corpus's own); any other without arguments."""


def languages_of(corpus: Corpus) -> tuple[str, ...]:
    return tuple(getattr(corpus, "languages", (corpus.language,)))


# Corpora that are read from the user's files: PREFIX:PATH.


def split_name(name: str) -> tuple[str, str]:
    """The prefix of a loader and the path behind it, or nothing and the name."""
    prefix, colon, path = name.partition(":")
    found = CORPORA.find(prefix) if colon else None
    return (prefix, path) if found is not None and found.argument else ("", name)


def loaded(prefix: str, path: str, language: str | None, task: str | None = None) -> Corpus:
    """The user's copy of a published corpus. One whose `chooses_language` is False has no choice of languages; one that
    `chooses_task` is read for a task."""
    loader = CORPORA.get(prefix)
    chosen = {"task": task} if getattr(loader, "chooses_task", False) else {}
    return loader(path, language if getattr(loader, "chooses_language", True) else None, **chosen)


def short_name(name: str) -> str:
    """The name of a corpus in a study: that of a file without its folder."""
    prefix, path = split_name(name)
    return f"{prefix}:{PurePath(path).name}" if prefix else PurePath(path).name


__all__ = ["counted", "folder"]


def counted(
    name: str,
    fingerprint: str,
    count: Callable[[], int],
    measured: Mapping[tuple[str, str], int] = MappingProxyType({}),
) -> int:
    """Return a number that depends on nothing but what `fingerprint` names; `measured` has those that took long."""
    return measured.get((name, fingerprint)) or count()
