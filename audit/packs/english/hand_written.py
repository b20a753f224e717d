"""English corpora that we wrote ourselves: premises with hypotheses, contexts with questions, customers' tickets, pairs
of sentences. data/README.md says by whom and how they were written, and what they are good for.

Two of them have a part of their own that trains systems and is never a source: another file, with other documents.
"""

from collections.abc import Iterator
from functools import lru_cache, partial
from pathlib import Path

from audit.corpora.base import Row, Unit
from audit.corpora.files import FileCorpus
from audit.resources import data_file

TICKET_LABELS = ("account", "billing", "delivery", "other", "product")


def training_file(name: str) -> Path:
    """The file of a corpus's part that trains systems: `training_file("support-tickets")`.

    Raises AuditError where there is none.
    """
    return data_file(f"corpora/{name.replace('-', '_')}_training.csv")


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


class HandWritten:
    """A corpus of data/corpora: `HandWritten("inference-pairs")`."""

    language = "en"

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


@lru_cache(maxsize=8)
def _read(path: Path, task: str, unit: Unit) -> FileCorpus:
    return FileCorpus(path, task, unit, "en")


inference_pairs, question_pairs, support_tickets, similarity_pairs = (partial(HandWritten, name) for name in _SUMMARIES)
