"""Which pairs of languages a system that translates has."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol, runtime_checkable


@dataclass(frozen=True)
class Pair:
    """A system translates from `source` to `target` (codes of ISO 639-1 where there are such) by these `steps`, each
    named as the system names it; more than one go `through` other languages."""

    source: str
    target: str
    steps: tuple[str, ...]
    through: tuple[str, ...] = ()


@runtime_checkable
class HasPairs(Protocol):
    """A system that can say which pairs it has."""

    def pairs(self) -> Iterable[Pair]:
        """Every pair, sorted by languages."""
        ...
