"""A corpus of a few texts, for tests of any room."""

from collections.abc import Iterator, Sequence

from audit.corpora.base import Row, Unit
from audit.keys import fingerprint
from audit.tasks import Input


class SmallCorpus:
    """These English texts, each with its gold label where `gold` has one; rows are numbered from `first`."""

    task, language = "sentiment", "en"

    def __init__(
        self, name: str, texts: Sequence[str], gold: Sequence[str] = (), unit: Unit = "sentence", first: int = 0
    ):
        self.name = name
        self.unit: Unit = unit
        self.has_gold = bool(gold)
        self.summary = f"{len(texts)} texts."
        self._texts = list(texts)
        self._gold = list(gold) or [None] * len(texts)
        self._first = first

    def size(self) -> int:
        return len(self._texts)

    def needs(self) -> None:
        return None

    def fingerprint(self) -> str:
        return fingerprint(self._texts)

    def rows(self) -> Iterator[Row]:
        for number, (text, gold) in enumerate(zip(self._texts, self._gold, strict=True), start=self._first):
            yield Row(str(number), Input.of(text), gold)
