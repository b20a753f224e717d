"""What the trainings of HanLP's models share: scores of parts, a directory that is whole or absent, quiet progress."""

import io
import logging
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from audit.errors import AuditError
from audit.language.peoples_daily import Score
from audit.new_files import refuse_filled

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


def told(say: Callable[[str], None]) -> logging.Logger:
    """A logger that tells of each epoch what HanLP says of it: HanLP's own would write to stdout."""
    logger = logging.Logger("training")
    logger.addHandler(_Told(say))
    return logger


class _Told(logging.Handler):
    """The rest of what HanLP says is about its own inside."""

    def __init__(self, say: Callable[[str], None]):
        super().__init__(logging.INFO)
        self._say = say

    def emit(self, record: logging.LogRecord) -> None:
        message = _COLOUR.sub("", record.getMessage()).strip()
        if message.startswith("Epoch") or "Accuracy" in message or " LF: " in message:
            self._say(message)


class _Nowhere(io.StringIO):
    """A stream that keeps nothing and is never closed."""

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
