"""How drawn groups ask a question: how urgently, how many of them, of how many people, and under which protocol."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from sqlalchemy import Connection

from audit.annotation.questions import BEHIND
from audit.sampling.protocols import Terms, arms_of

Key = TypeVar("Key")


@dataclass(frozen=True, slots=True)
class Ask:
    """What a question gets from the groups that ask it.

    `rank` is the best of a group that asks, `waits` the number of drawn (group, system) pairs that ask, `annotators`
    the most people that a sample wants, `protocol` that of the source of the group with the best rank.
    """

    rank: int
    waits: int
    annotators: int
    protocol: str

    def behind(self) -> "Ask":
        """The same behind everything that groups wait for.

        >>> Ask(3, 2, 2, "blind").behind().rank
        1000000003
        """
        return replace(self, rank=BEHIND + self.rank)


class Asking(Generic[Key]):
    """Gathers, group by group, who asks for what; `terms` are those of the samples."""

    def __init__(self, terms: Mapping[int, Terms]) -> None:
        self._terms = terms
        self._best: dict[Key, tuple[int, int, int]] = {}
        self._pairs: dict[Key, set[tuple[int, int]]] = {}
        self._annotators: dict[Key, int] = {}

    def note(self, key: Key, sample: int, rank: int, group: int, system: int) -> None:
        """A drawn group of a system asks for this. A pair that two samples have drawn counts once."""
        asks = (rank, sample, group)
        self._best[key] = min(asks, self._best.get(key, asks))
        self._pairs.setdefault(key, set()).add((group, system))
        self._annotators[key] = max(self._terms[sample].annotators, self._annotators.get(key, 0))

    def asks(self, connection: Connection) -> dict[Key, Ask]:
        """What each question gets."""
        best = {key: (sample, group) for key, (_, sample, group) in self._best.items()}
        arms = arms_of(connection, self._terms, set(best.values()))
        return {
            key: Ask(self._best[key][0], len(self._pairs[key]), self._annotators[key], arms[place])
            for key, place in best.items()
        }
