"""Checks of output relations, as small functions that compose (after CheckList's expectations).

A check takes the outputs of source and follow-ups in order and returns a verdict. Source of the relations between
sentiment outputs: Jiang et al. 2022, section 4.2.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from audit.relations.base import Check, Outcome, Verdict, Words
from audit.relations.substituting import replaced
from audit.tasks import Output

_ORDER = {"negative": 0, "neutral": 1, "positive": 2}


_SATISFIED, _VIOLATED = Verdict(Outcome.SATISFIED), Verdict(Outcome.VIOLATED)


def _verdict(holds: bool, value: float | None = None) -> Verdict:
    if value is None:
        return _SATISFIED if holds else _VIOLATED  # there are millions of these
    return Verdict(Outcome.SATISFIED if holds else Outcome.VIOLATED, value)


def equivalent(outputs: Sequence[Output]) -> Verdict:
    """Every follow-up has the source's label."""
    label = outputs[0].label
    for output in outputs:
        if output.label != label:
            return _VIOLATED
    return _SATISFIED


def different(outputs: Sequence[Output]) -> Verdict:
    """Every follow-up has another label than the source."""
    return _verdict(all(output.label != outputs[0].label for output in outputs[1:]))


def stronger(outputs: Sequence[Output]) -> Verdict:
    """The follow-up has the source's label with a higher score; the value is the difference of the scores."""
    source, follow_up = outputs[0], outputs[1]
    if source.label != follow_up.label:
        return _verdict(False)
    gain = _score(follow_up) - _score(source)
    return _verdict(gain > 0, gain)


def goes_up(outputs: Sequence[Output]) -> Verdict:
    """Sentiments keep going up over all outputs (conditions i to iv of section 4.2)."""
    return _verdict(all(_not_below(one, other) for one, other in pairwise(outputs)))


def goes_down(outputs: Sequence[Output]) -> Verdict:
    """Sentiments keep going down over all outputs."""
    return _verdict(all(_not_below(other, one) for one, other in pairwise(outputs)))


def opinionated(check: Check) -> Check:
    """The check applies only where the source output is positive or negative; else the group is inapplicable."""
    return _Opinionated(check)


@dataclass(frozen=True, slots=True)
class _Opinionated:
    """A guarded check. A class, not a closure: workers are sent it by pickle."""

    check: Check

    def __call__(self, outputs: Sequence[Output]) -> Verdict:
        if outputs[0].label == "neutral":
            return Verdict(Outcome.INAPPLICABLE, reason="the source output is neutral")
        return self.check(outputs)


def _score(output: Output) -> float:
    return 1.0 if output.score is None else output.score


def _not_below(one: Output, other: Output) -> bool:
    """Whether sentiment does not fall from one output to the next."""
    before, after = _ORDER[str(one.label)], _ORDER[str(other.label)]
    if before != after:
        return before < after
    if one.label == "neutral":
        return True
    gain = _score(other) - _score(one)
    return gain >= 0 if one.label == "positive" else gain <= 0


def same_label(outputs: Sequence[Output], words: Words) -> Verdict:
    """Every follow-up has the source's label, whatever words were replaced."""
    return equivalent(outputs)


def same_interval(outputs: Sequence[Output], words: Words) -> Verdict:
    """Both similarities lie in the same interval, which is their label; the value is what the follow-up's is above the
    source's."""
    return Verdict(equivalent(outputs).outcome, _score(outputs[1]) - _score(outputs[0]))


def same_text(outputs: Sequence[Output], words: Words) -> Verdict:
    """The follow-up's text is the source's, with the same words replaced: Replace(sum(Ts)) = sum(Tf)."""
    return _verdict(replaced(str(outputs[0].text), words) == str(outputs[1].text))
