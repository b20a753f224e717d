"""How many inputs a batch of a system has, and which."""

from collections import deque
from dataclasses import dataclass, replace

from audit.runner.chunk import Bound
from audit.tasks import Input

MOST = 2_048
"""Inputs of one batch, at most."""
FEW = 8
"""Inputs of a system's first batch: nobody knows yet how long it takes."""
AIM = 2.0
"""Seconds that a batch should take: what a killed run has to do again, and how long a limit of time has to wait."""
MOST_GATHERED = 4_096
"""Inputs of one batch, at most, of a system that begins slowly,"""
FEW_GATHERED = 32
"""of its first,"""
GATHERED = 5_000
"""and sources on their way at once, whose inputs it is given together."""
HASTE = 4
"""A batch should take this part of the limit of time at most: a slow one is not to be taken for one that hangs."""


@dataclass
class Pace:
    """How many inputs a batch of a system has: so many that it takes about `aim` seconds."""

    aim: float = AIM
    size: int = FEW
    lost: int = 0
    """Inputs that were lost one after the other."""
    known: bool = False
    """Whether a batch came back or was lost."""
    growth: int = 4
    """A batch has at most so many times the inputs of the one before,"""
    most: int | None = None
    """and so many at most (default: `MOST`)."""

    def learn(self, inputs: int, seconds: float) -> None:
        """From a batch that came back. A first one also loads a model, so that no batch changes the pace by much."""
        self.known = True
        fitting = int(inputs * self.aim / max(seconds, 1e-6))
        if fitting >= self.size or inputs >= self.size // 2:
            self.size = max(1, self.size // 4, min(self.growth * self.size, fitting, self.most or MOST))

    def lose(self, inputs: int) -> None:
        """A batch of some inputs was lost. It may have had too many of them, and would be lost again and again."""
        self.known = True
        self.size = max(1, min(self.size, inputs // 4))


@dataclass(eq=False)
class Pending:
    """Inputs of a system that wait to be put into a batch; `alone`: each into one of its own."""

    system: int
    inputs: dict[bytes, Input]
    alone: bool = False
    sorted: bool = False
    """Whether they stand in the order of their languages."""


def pace_of(bound: Bound, limit: float | None, first: int = 0) -> Pace:
    """The pace of a system at its beginning; `limit` is the seconds that it may take for a batch, `first` the inputs
    that one call of it takes, where it says so."""
    aim = bound.aim or AIM
    pace = Pace(aim if limit is None else min(aim, limit / HASTE), max(FEW, first))
    if bound.aim:  # each batch that is smaller than it might be is another beginning
        pace = replace(pace, size=FEW_GATHERED, growth=16, most=MOST_GATHERED)
    return pace


def gathered(pending: deque[Pending], first: Pending) -> Pending:
    """All inputs of the system of `first` that wait, in its place: those with the same languages stand together.

    A system that has to begin anew for each pair of languages then begins seldom. What comes later waits until all of
    these are in batches: so chunks go on side by side, and what they want next is gathered again.
    """
    if first.alone or first.sorted:
        return first
    mine = [one for one in pending if one.system == first.system and not one.alone]
    inputs = {key: one for some in mine for key, one in some.inputs.items()}
    for one in mine:
        pending.remove(one)
    ordered = dict(sorted(inputs.items(), key=lambda item: item[1].languages))
    found = Pending(first.system, ordered, sorted=True)
    pending.appendleft(found)
    return found
