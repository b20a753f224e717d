"""Cosine of two texts' word counts, from the package xiangsi."""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from audit.systems import jieba_words
from audit.systems.installed import missing, package_version
from audit.tasks import Input, Output


class Xiangsi:
    """The system `xiangsi-cosine`: the cosine of the words' counts, without the package's stop words.

    jieba finds the words of a text with a Chinese character; any other is split at white space. A text of nothing but
    stop words has a similarity of 0 with every text, itself among them.
    """

    name = "xiangsi-cosine"
    tasks: tuple[str, ...] = ("similarity",)
    languages: tuple[str, ...] = ("zh",)
    summary = "cosine of word counts without stop words (xiangsi, jieba)"

    def __init__(self) -> None:
        self.version = f"{package_version('xiangsi')} jieba {package_version('jieba')}"
        self.settings: Mapping[str, object] = {"weight": "count"}

    def needs(self) -> str | None:
        return missing("xiangsi", 'pip install "audit[chinese]"') or jieba_words.needs()

    def prepare(self) -> None:
        _calculator()

    def run(self, inputs: Sequence[Input]) -> list[Output]:
        cosine = _calculator().cossim
        # Rounding makes a cosine of equal counts 1.0000000000000002.
        return [Output(score=min(1.0, float(cosine(*one.texts)))) for one in inputs]


@lru_cache(maxsize=1)
def _calculator() -> Any:
    """What compares, with jieba's words loaded and silent."""
    jieba_words.load()
    from xiangsi import Calculator

    return Calculator()
