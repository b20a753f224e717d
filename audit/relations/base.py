"""The one shape of all metamorphic relations.

A relation is a generator over one source: it yields the members it wants executed, is sent their outputs, any number
of times, and returns its verdict, or None where it makes no group. Most relations perturb the source once and check
the outputs; those are written as a decorated function and a check (`Plain`). The ones that look at the system's own
outputs on the way write the generator themselves (`Chained`). Outputs are stored by (system, input), so replaying a
generator costs nothing and gives the same group.
"""

import random
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Literal, cast

from audit.keys import Late
from audit.language import Analysis
from audit.relations.carry import Carry
from audit.tasks import Input, Output

Role = Literal["source", "follow_up", "link", "probe"]
COUNTED: tuple[Role, ...] = ("source", "follow_up", "link")
"""Roles whose outputs make a satisfaction false; a probe's does not."""


class Outcome(IntEnum):
    """What one check of one group for one system found; stored as the number."""

    SATISFIED = 0
    VIOLATED = 1
    INAPPLICABLE = 2
    ERROR = 3


@dataclass(frozen=True, slots=True)
class Verdict:
    """Outcome, the value that was compared (or None for labels), and why, where that is not plain."""

    outcome: Outcome
    value: float | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Member:
    """One input of a group and the part it plays."""

    role: Role
    input: Input


@dataclass(frozen=True)
class Source:
    """A source as relations see it: its input, analysed once for all relations, and a generator for its choices."""

    input: Input
    analysis: Analysis
    seed: str = ""
    """Study seed and row key; `choices` mixes in the relation's name, so that relations do not disturb each other."""

    def choices(self, relation: str) -> random.Random:
        """The generator of a relation's choices: the same draws from the start each time it is asked for."""
        return cast(random.Random, Late(self.seed, relation))


Steps = Generator[list[Member], list[Output], Verdict | None]
Check = Callable[[Sequence[Output]], Verdict]
"""Outputs of the source and the follow-ups, in order -> verdict. None of them is an error."""
Perturb = Callable[[Analysis, random.Random], "str | list[str] | None"]
"""Analysis of the source's text -> follow-up text(s), or None where no follow-up would read well."""


@dataclass(frozen=True, kw_only=True)
class Relation:
    """What every relation has; `Plain` and `Chained` are the two ways to write one.

    Relations are sent to workers by pickle, which finds functions by module and name. So perturbations, checks and
    rules are functions of a module, or frozen dataclasses with `__call__` where they hold something: no lambdas.
    """

    task: str
    name: str
    family: str
    summary: str
    unit: Literal["sentence", "document"]
    carry: Carry
    version: str = "1"
    params: Mapping[str, object] = field(default_factory=dict)

    @property
    def per_system(self) -> bool:
        """Whether the group depends on the system's outputs, or is the same for every system."""
        return True

    def steps(self, source: Source) -> Steps:
        """Yield members, be sent their outputs, return the verdict, or None where there is no group."""
        raise TypeError(f"{type(self).__name__} must define steps")


@dataclass(frozen=True, kw_only=True)
class Plain(Relation):
    """A relation that perturbs the source once, the same way for every system, and checks the outputs."""

    perturb: Perturb
    check: Check

    @property
    def per_system(self) -> bool:
        return False

    def follow_ups(self, source: Source) -> list[Input]:
        """The follow-ups of one source; empty where the relation makes no group."""
        made = self.perturb(source.analysis, source.choices(self.name))
        texts = [made] if isinstance(made, str) else made or []
        if not texts or source.input.text in texts:
            return []
        return [Input((text, *source.input.texts[1:]), source.input.languages) for text in texts]

    def members(self, source: Source) -> list[Member]:
        """Source and follow-ups; empty where the relation makes no group."""
        follow_ups = self.follow_ups(source)
        if not follow_ups:
            return []
        return [Member("source", source.input), *(Member("follow_up", made) for made in follow_ups)]

    def steps(self, source: Source) -> Steps:
        members = self.members(source)
        return self.check((yield members)) if members else None


@dataclass(frozen=True, kw_only=True)
class Chained(Relation):
    """A relation whose group depends on the system's outputs: `walk` is the generator."""

    walk: Callable[[Source, random.Random], Steps]

    def steps(self, source: Source) -> Steps:
        return self.walk(source, source.choices(self.name))
