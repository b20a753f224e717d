"""The options of rounds and of their forecast: said once for the library, the command line, plans and requests."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Annotated, Any, Literal

from annotated_types import Ge, Gt, Le, Lt

from audit.errors import AuditError
from audit.options import Options, Told, listed

WINNER, RELATIONS, NOTHING = "winner", "relations", "none"
"""What rounds decide: the best system over all relations, or under each of them, or nothing, only rates."""
BASE, EPS = 20, 0.02
"""Satisfied groups of each cell that are asked about before anything is decided; and the difference of SR_g that does
not matter."""
MAJORITY, UNANIMOUS = QUORUMS = ("majority", "all")
"""How many of a question's votes settle it: more than half of them, or all. Questions are shared by the studies of a
database, so all its samples have the same quorum."""
AUDITED_FOLLOW_UPS = 0.1
"""Share of the texts whose follow-ups front ends ask about although answers are carried to them."""


def _sizes(value: Any) -> Any:
    """What a text says, `60` or `MR1.1=40,MR2.1=300`; anything else as it is. Raises AuditError.

    >>> _sizes("60"), _sizes("MR1.1=40, MR2.1=300")
    (60, {'MR1.1': 40, 'MR2.1': 300})
    """
    if not isinstance(value, str):
        return value
    if value.strip().isdecimal():
        return int(value)
    pairs = [(name.strip(), number.strip()) for name, _, number in (part.rpartition("=") for part in value.split(","))]
    named = Counter(name for name, _ in pairs)
    if not all(name and named[name] == 1 and number.isdecimal() for name, number in pairs):
        raise AuditError(f"base {value[:40]!r}: expected a number, or MR1.1=40,MR2.1=300 with each relation once",
                         parameter="base")  # fmt: skip
    return {name: int(number) for name, number in pairs}


@dataclass(frozen=True)
class DecisionOptions(Options):
    """What is asked about first, and what rounds decide then."""

    base: Annotated[
        Annotated[int, Ge(1)] | Mapping[str, Annotated[int, Ge(1)]] | None,
        Told(
            f"the first N satisfied groups of each relation and system, or MR1.1=40,MR2.1=300 (default: {BASE})",
            "N",
            read=_sizes,
            positional=True,
        ),
    ] = None
    share: Annotated[
        float | None, Gt(0), Le(1), Told("this share of them, rounded up, in place of base", "0.01", positional=True)
    ] = None
    decide: Annotated[
        str,
        Told(
            "which system is best: winner (over all relations), relations (under each), a relation's name, or none",
            "WHAT",
        ),
    ] = NOTHING
    eps: Annotated[float, Ge(0), Le(1), Told("the difference that does not matter", "0.02")] = EPS
    annotators: Annotated[
        int | None, Ge(1), Told("how many people answer each question (default: as before; at first 2)", "N")
    ] = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.base is not None and self.share is not None:
            raise AuditError("say how many groups of each cell come first: base=20 or share=0.01, not both",
                             parameter=("base", "share"))  # fmt: skip

    @property
    def relations(self) -> tuple[str, ...]:
        """The relations that are named."""
        named = tuple(self.base) if isinstance(self.base, Mapping) else ()
        return (*named, *([self.decide] if self.decide not in (WINNER, RELATIONS, NOTHING) else []))

    def size(self, length: int, relation: str) -> int:
        """Return how many groups of a cell with `length` satisfied ones come first.

        >>> SampleOptions(base=60).size(100, "MR1.1"), SampleOptions(share=0.01).size(950, "MR1.1")
        (60, 10)
        """
        if self.share is not None:
            return min(length, ceil(round(self.share * length, 9)))
        return min(length, self.base.get(relation, 0) if isinstance(self.base, Mapping) else self.base or BASE)


@dataclass(frozen=True)
class SampleOptions(DecisionOptions):
    """What the next round asks, and how people are asked."""

    most: Annotated[int | None, Ge(1), Told("ask about this many texts in all at most", "N")] = None
    quorum: Annotated[
        Literal["majority", "all"] | None,
        Told("votes that settle a question: majority (more than half) or all (default: as before)"),
    ] = None
    follow_ups: Annotated[
        float | None,
        Ge(0),
        Le(1),
        Told("ask about follow-ups anyway, though answers are carried to them, of this share of the texts", "SHARE"),
    ] = None


@dataclass(frozen=True)
class PlanOptions(DecisionOptions):
    """What is forecast."""

    pace: Annotated[float | None, Gt(0), Lt(1e9), Told("seconds that one answer takes; gives hours", "SECONDS")] = None
    price_per_hour: Annotated[
        float | None, Gt(0), Lt(1e9), Told("of an hour of work, in any currency; gives price", "PER_HOUR", "--price")
    ] = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.price_per_hour is not None and self.pace is None:
            raise AuditError("price_per_hour needs pace, the seconds that an answer takes",
                             parameter=("price_per_hour", "pace"))  # fmt: skip


@dataclass(frozen=True)
class ValidityRequest(Options):
    """What the validity study draws, and how people are asked."""

    per_relation: Annotated[
        int, Ge(1), Le(1_000_000), Told("pairs of a source and a follow-up of each relation", "N")
    ] = 25
    relations: Annotated[
        Sequence[str], Told("of these relations alone (default: all)", "MR1.1,MR2.1", commas=True, read=listed)
    ] = ()
    annotators: Annotated[int, Ge(1), Le(1_000_000), Told("how many people answer each question", "N")] = 3
    seed: Annotated[int | None, Told("of the order of sources (default: the study's)", "S")] = None
    first: Annotated[bool, Told("ask before all other questions; else ratings come after them")] = False
    asks: Annotated[
        Literal["texts", "groups", "both"],
        Told("rate the texts, say of the groups whether the relation holds there, or both", spelled="--ask"),
    ] = "texts"


OF_ROUNDS = ("base", "share", "decide", "eps", "most")
"""The options that say what a round asks; the others say how people are asked."""
FRONT = SampleOptions(decide=WINNER, follow_ups=AUDITED_FOLLOW_UPS)
"""What front ends ask where nothing is said."""
