"""Systems of inference for English that read words, not meaning: rules on overlap, and a regression on pairs.

Both look at the same traits of a pair: which content words of the hypothesis the premise has, negations, opposites,
numbers. So both are right on easy pairs, and wrong on pairs whose words overlap without entailment.
"""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from audit.packs.english.hand_written import training_file
from audit.systems.trained import Logreg, pair_traits, tokens
from audit.tasks import Input, Output
from audit.text.tokens import words

_NEGATIONS = words(
    "not no nor never neither nobody none nothing nowhere without hardly cannot isn't aren't wasn't weren't don't "
    "doesn't didn't hasn't haven't hadn't won't wouldn't can't couldn't mustn't"
)
_FUNCTION_WORDS = _NEGATIONS | words(
    "a an the this that these those it its he him his she her hers they them their theirs we us our you your i me my "
    "mine who whom whose which what when where why how while as than then there here so too also very just only even "
    "and or but if because since although though until unless of to in on at by for from with into onto over under "
    "about after before during between up down off out is are was were be been being am do does did done have has had "
    "having will would shall should can could may might must some any each every both all one ones other others "
    "another such own same"
)
_OPPOSITES = (
    "more less, more fewer, most few, all none, always never, before after, first last, open closed, opened "
    "closed, early late, earlier later, old new, older newer, older younger, longer shorter, larger smaller, "
    "bigger smaller, higher lower, taller shorter, cheaper dearer, faster slower, better worse, best worst, "
    "hot cold, dry wet, full empty, up down, left right, inside outside, rose fell, won lost, bought sold, "
    "accepted rejected, allowed forbidden, remembered forgot, north south, found lost, passed failed, began "
    "ended, came left, arrived left, asleep awake, true false, day night, summer winter, morning evening, "
    "free paid, safe dangerous, clean dirty, many few, with without, both one, alone together, agreed "
    "refused, confirmed denied, increased decreased, included separately"
)
_OPPOSITE_OF: dict[str, set[str]] = {}
for _pair in _OPPOSITES.split(", "):
    for _one, _other in (_pair.split(), _pair.split()[::-1]):
        _OPPOSITE_OF.setdefault(_one, set()).add(_other)
_ENDING = re.compile(r"(?:'s|ies|ied|ing|ed|es|s|e|y)$")
_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")


def stem(word: str) -> str:
    """A word without its ending, where three letters or more are left: "stopped" and "stops" share most of it.

    >>> stem("repairs"), stem("repaired"), stem("is"), stem("carried")
    ('repair', 'repair', 'is', 'carr')
    """
    short = _ENDING.sub("", word)
    return short if len(short) >= 3 else word


def content_stems(text: str) -> list[str]:
    """The stems of the words of a text that are no function words, in order."""
    return [stem(word) for word in tokens(text) if word not in _FUNCTION_WORDS]


def covered(premise: str, hypothesis: str) -> float:
    """Share of the hypothesis' content words that the premise has; 1 where it has no content word.

    >>> covered("The old bridge was closed.", "The bridge is closed."), covered("It rained.", "The bridge rained.")
    (1.0, 0.5)
    """
    stems, known = content_stems(hypothesis), set(content_stems(premise))
    return sum(one in known for one in stems) / len(stems) if stems else 1.0


def negations(text: str) -> int:
    """How many words of a text deny.

    >>> negations("Nobody knows why it isn't open."), negations("All know.")
    (2, 0)
    """
    return sum(word in _NEGATIONS for word in tokens(text))


def has_opposite(premise: str, hypothesis: str) -> bool:
    """Whether the hypothesis has a word whose opposite the premise has, without having it itself.

    >>> has_opposite("It rose in May.", "It fell in May."), has_opposite("It rose, then fell.", "It fell.")
    (True, False)
    """
    known = set(tokens(premise))
    return any(_OPPOSITE_OF.get(word, set()) & known and word not in known for word in tokens(hypothesis))


def other_number(premise: str, hypothesis: str) -> bool:
    """Whether the hypothesis has a number in digits that the premise has not, and the premise has one."""
    here = set(_NUMBER.findall(premise))
    return bool(here) and bool(set(_NUMBER.findall(hypothesis)) - here)


class Overlap:
    """The system `word-overlap`: rules on words, in this order.

    The share c of content words that the premise covers decides whether the two speak of one thing (c >= `related`):
    then a negation in one of them alone, an opposite or another number is a contradiction, and c >= `entailed` is an
    entailment. Whatever is left is neutral. The score is c for entailment, 1 - c for neutral and (1 + c) / 2 for
    contradiction.

    >>> Overlap().run([Input.of("The shop was open all day.", "The shop was not open.")])[0].label
    'contradiction'
    """

    name = "word-overlap"
    tasks: tuple[str, ...] = ("inference",)
    languages: tuple[str, ...] = ("en",)
    summary = "rules on shared words, negations, opposites and numbers"
    version = "1"

    def __init__(self, related: float = 0.5, entailed: float = 0.75):
        self.settings: Mapping[str, object] = {"related": related, "entailed": entailed}
        self._related, self._entailed = related, entailed

    def needs(self) -> str | None:
        return None

    def prepare(self) -> None:
        """There is nothing to load."""

    def run(self, inputs: Sequence[Input]) -> list[Output]:
        return [self._output(*item.texts) for item in inputs]

    def _output(self, premise: str, hypothesis: str) -> Output:
        share = covered(premise, hypothesis)
        denies = (negations(premise) > 0) != (negations(hypothesis) > 0)
        if share >= self._related and (
            denies or has_opposite(premise, hypothesis) or other_number(premise, hypothesis)
        ):
            return Output("contradiction", (1 + share) / 2)
        if share >= self._entailed:
            return Output("entailment", share)
        return Output("neutral", 1 - share)


class PairLogreg(Logreg):
    """The system `pair-logreg`: `logreg` of the reserved pairs, which knows English negations, opposites and content
    words, too."""

    kind = "pair-logreg"
    training: Mapping[str, object] = {**Logreg.training, "traits": "English 1"}
    about = "logistic regression on words, overlap, negations, opposites and numbers of a pair (scikit-learn)"

    def __init__(self, path: str | Path = "", name: str = "pair-logreg"):
        super().__init__(path or training_file("inference-pairs"), name, ("en",))

    def traits(self, texts: Sequence[str]) -> list[float]:
        premise, hypothesis = texts
        here, there = negations(premise) > 0, negations(hypothesis) > 0
        return [
            *pair_traits(premise, hypothesis),
            covered(premise, hypothesis),
            float(here and there),
            float(here and not there),
            float(there and not here),
            float(has_opposite(premise, hypothesis)),
            float(other_number(premise, hypothesis)),
        ]
