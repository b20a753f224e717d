"""Conditions under which a comparison of two versions fails, as `genuine drop > 2 points`: read, and decided."""

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from audit.errors import AuditError, UnknownName

if TYPE_CHECKING:
    from audit.reports.documents import ChangeEntry, CompareDocument, MeanEntry

GRAMMAR = "[surely|estimated|possibly] [observed|genuine] drop|violations|false [in RELATION] >|>=|<|<= NUMBER points|%"
_EXPRESSION = re.compile(
    r"(?:(?P<how>surely|estimated|possibly)\s+)?(?:(?P<kind>observed|genuine)\s+)?(?P<what>drop|violations|false)"
    r"(?:\s+in\s+(?P<relation>\S+))?\s*(?P<sign>>=|<=|>|<)\s*(?P<number>[-+]?\d+(?:\.\d+)?)\s*(?:points?|%)"
)
Verdict = Literal["passes", "fails", "undecided"]
How = Literal["surely", "estimated", "possibly"]


@dataclass(frozen=True)
class Condition:
    """What makes a comparison fail. `limit` is a fraction; `relation` None: over all relations."""

    text: str
    how: How
    kind: Literal["observed", "genuine"]
    what: Literal["drop", "violations", "false"]
    relation: str | None
    sign: str
    limit: float

    @classmethod
    def read(cls, text: str) -> "Condition":
        """From its text. Raises AuditError, which has the grammar.

        >>> condition = Condition.read("genuine drop in MR1.1 > 2 points")
        >>> condition.how, condition.what, condition.relation, condition.limit
        ('surely', 'drop', 'MR1.1', 0.02)
        >>> Condition.read("genuine dorp > 2")
        Traceback (most recent call last):
        audit.errors.AuditError: 'genuine dorp > 2' is no condition; write [surely|estimated|possibly] \
[observed|genuine] drop|violations|false [in RELATION] >|>=|<|<= NUMBER points|%, as in "genuine drop > 2 points"
        """
        found = _EXPRESSION.fullmatch(" ".join(text.split()))
        if found is None:
            raise AuditError(f'{text[:80]!r} is no condition; write {GRAMMAR}, as in "genuine drop > 2 points"')
        if found["what"] == "false" and found["kind"] == "observed":
            raise AuditError(f'{text[:80]!r}: what is false is never observed; write "false > 20 %"')
        number = float(found["number"])
        if abs(number) > 100:
            raise AuditError(f"{text[:80]!r}: {found['number']} is more than 100 points")
        how = found["how"] or "surely"
        kind, what = found["kind"] or "genuine", found["what"]
        return cls(text, how, kind, what, found["relation"], found["sign"], number / 100)  # type: ignore[arg-type]

    def decide(self, document: "CompareDocument") -> tuple[Verdict, str]:
        """Whether the comparison passes or fails, and why, in a clause.

        `surely` it fails where the whole interval is beyond the limit, `estimated` where the estimate is, `possibly`
        where an end is. Where answers leave bounds alone which hold the limit it is undecided, but for `possibly`.
        Raises UnknownName for a relation that was not compared.
        """
        value = self._value(self._entry(document))
        estimate, low, high = value["estimate"], value["low"], value["high"]
        if low is None or high is None:
            return "undecided", "there is no group to tell from"
        shown = self._shown(estimate, low, high)
        up = self.sign[0] == ">"
        sure, possible = (self._beyond(end) for end in ((low, high) if up else (high, low)))
        if self.how == "possibly":
            return ("fails" if possible else "passes"), shown
        if estimate is None:
            verdict: Verdict = "fails" if sure else "undecided" if possible else "passes"
            return verdict, shown + (", as too little is judged" if verdict == "undecided" else "")
        beyond = sure if self.how == "surely" else self._beyond(estimate)
        return ("fails" if beyond else "passes"), shown

    def _shown(self, estimate: float | None, low: float, high: float) -> str:
        """The value in words: how the violation rate moved, or a rate."""
        if self.what != "drop":
            ends = f"{100 * low:.1f} to {100 * high:.1f}"
            return f"{ends} %" if estimate is None else f"{100 * estimate:.1f} % [{ends}]"
        ends = f"{100 * low:+.1f} to {100 * high:+.1f}"
        if estimate is None:
            return f"the {self.kind} violation rate changed by {ends} points"
        return f"the {self.kind} violation rate {moved(estimate)} [{ends}]"

    def _entry(self, document: "CompareDocument") -> "ChangeEntry":
        if self.relation is None:
            return document["all"]
        entries = {entry["relation"]: entry for entry in document["relations"]}
        if self.relation not in entries:
            raise UnknownName("relation", self.relation, [str(name) for name in entries])
        return entries[self.relation]

    def _value(self, entry: "ChangeEntry") -> "MeanEntry":
        if self.what == "false":
            return entry["fs_new"]
        rates = entry["observed"] if self.kind == "observed" else entry["genuine"]
        return rates["drop"] if self.what == "drop" else rates["vr_new"]

    def _beyond(self, value: float) -> bool:
        # Rates are ratios of whole numbers: .3 - .1 is not above .2.
        apart = value - self.limit
        strictly = apart > 1e-12 if self.sign[0] == ">" else apart < -1e-12
        return strictly or ("=" in self.sign and abs(apart) <= 1e-12)


def moved(value: float) -> str:
    """A difference of rates, new less old, in words.

    >>> moved(-0.25), moved(0.02), moved(0.0)
    ('fell by 25.0 points', 'rose by 2.0 points', 'did not change')
    """
    rounded = round(100 * value, 1)
    return f"{'rose' if rounded > 0 else 'fell'} by {abs(rounded):.1f} points" if rounded else "did not change"
