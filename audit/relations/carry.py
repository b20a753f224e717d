"""What an answer about the source says about a follow-up, without asking anybody."""

from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass

from audit.errors import AuditError
from audit.tasks import Input, Output


@dataclass(frozen=True, slots=True)
class Seen:
    """A member with its output, for rules that must look at the texts or outputs."""

    input: Input
    output: Output


Rule = Callable[[str, Seen | None, Seen | None], frozenset[str] | None]
"""(answer about the source, source, follow-up) -> allowed answers about the follow-up, or None: ask."""


@dataclass(frozen=True)
class Carry:
    """A rule that carries answers from the source to each follow-up.

    `preserves_truth`: every answer is carried unchanged. `reads`: the rule looks at the members (they are loaded and
    passed); else it is given None for them and its result depends on the answer alone.
    """

    rule: Rule
    preserves_truth: bool = False
    reads: bool = False

    def __call__(
        self, allowed: Set[str], source: Seen | None = None, follow_up: Seen | None = None
    ) -> frozenset[str] | None:
        """Allowed answers about the follow-up when the source's right answer is one of `allowed`; None: ask.

        >>> sorted(unchanged({"positive"}))
        ['positive']
        >>> stays("positive")({"negative"}) is None
        True
        """
        carried: set[str] = set()
        for answer in allowed:
            result = self.rule(answer, source, follow_up)
            if result is None:
                return None
            carried |= result
        return frozenset(carried) or None


# Functions and a class with a name, not lambdas: relations are sent to workers by pickle.
def _same(answer: str, source: Seen | None, follow_up: Seen | None) -> frozenset[str]:
    return frozenset({answer})


def _unknown(answer: str, source: Seen | None, follow_up: Seen | None) -> None:
    return None


@dataclass(frozen=True, slots=True)
class _Among:
    answers: tuple[str, ...]

    def __call__(self, answer: str, source: Seen | None, follow_up: Seen | None) -> frozenset[str] | None:
        return frozenset({answer}) if answer in self.answers else None


unchanged = Carry(_same, preserves_truth=True)
"""The follow-up means what the source means."""

nothing = Carry(_unknown)
"""The answer about the source says nothing about the follow-up."""


def stays(*answers: str) -> Carry:
    """These answers are carried unchanged, the others are not carried."""
    return Carry(_Among(answers))


def declared(carries: str | Sequence[str]) -> Carry:
    """What somebody declares of a relation that is no code of ours: `everything`, `nothing`, or labels that stay.

    Equal declarations give equal carries. Raises AuditError for another word.

    >>> declared("everything") == unchanged, declared(["positive"]) == stays("positive")
    (True, True)
    """
    if not isinstance(carries, str):
        return stays(*sorted(carries))
    if carries not in ("everything", "nothing"):
        raise AuditError(f"carries is {carries[:40]!r}; it is everything, nothing, or a list of labels")
    return unchanged if carries == "everything" else nothing
