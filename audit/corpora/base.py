"""What every corpus is: a named list of rows, each a source in the making."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal, Protocol

from audit import registry
from audit.registry import Registry
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
"""Who makes the corpora of these names, without arguments. One with an argument (`paws-x:FILE`) is given the path, the
language and the task, each None where nobody named one."""


def languages_of(corpus: Corpus) -> tuple[str, ...]:
    return tuple(getattr(corpus, "languages", (corpus.language,)))
