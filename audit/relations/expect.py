"""Checks of output relations, as small functions that compose (after CheckList's expectations), and ways of changing a
text that several relations share. A check takes the outputs of source and follow-ups in order and returns a verdict.
Source of the relations between sentiment outputs: Jiang et al. 2022, section 4.2."""

import random
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import ClassVar

from audit.errors import AuditError
from audit.relations.base import NO_SCORE, Check, Outcome, Perturb, Plain, Rewritten, Verdict, Words
from audit.tasks import Input, Output
from audit.text import Analysis
from audit.text.similarity import word_overlap

_ORDER = {"negative": 0, "neutral": 1, "positive": 2}
_SATISFIED, _VIOLATED = Verdict(Outcome.SATISFIED), Verdict(Outcome.VIOLATED)
UNSCORED = Verdict(Outcome.INAPPLICABLE, reason=NO_SCORE)
"""The verdict of every check that compares scores where an output has none, whatever the labels are: if other labels
alone decided, a system without scores could only violate."""


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


def same_label(outputs: Sequence[Output], words: Words) -> Verdict:
    """Every follow-up has the source's label, whatever words were replaced."""
    return equivalent(outputs)


def same_interval(outputs: Sequence[Output], words: Words = ()) -> Verdict:
    """Both similarities lie in the same interval, their label; the value is the follow-up's less the source's."""
    return Verdict(equivalent(outputs).outcome, (outputs[1].score or 0.0) - (outputs[0].score or 0.0))


def same_text(outputs: Sequence[Output], words: Words) -> Verdict:
    """The follow-up's text is the source's, with the same words replaced: Replace(sum(Ts)) = sum(Tf)."""
    return _verdict(replace_words(str(outputs[0].text), words) == str(outputs[1].text))


def stronger(outputs: Sequence[Output]) -> Verdict:
    """The follow-up has the source's label with a higher score; the value is the difference."""
    source, follow_up = outputs[0], outputs[1]
    if source.score is None or follow_up.score is None:
        return UNSCORED
    if source.label != follow_up.label:
        return _VIOLATED
    gain = follow_up.score - source.score
    return _verdict(gain > 0, gain)


def goes_up(outputs: Sequence[Output]) -> Verdict:
    """Sentiments keep going up over all outputs (conditions i to iv of section 4.2)."""
    if any(output.score is None for output in outputs):
        return UNSCORED
    return _verdict(all(_not_below(earlier, later) for earlier, later in pairwise(outputs)))


def goes_down(outputs: Sequence[Output]) -> Verdict:
    """Sentiments keep going down over all outputs; inapplicable where one has no score."""
    return goes_up(outputs[::-1])


def _not_below(earlier: Output, later: Output) -> bool:
    before, after = _ORDER[str(earlier.label)], _ORDER[str(later.label)]
    if before != after:
        return before < after
    gain = (later.score or 0.0) - (earlier.score or 0.0)
    return earlier.label == "neutral" or (gain >= 0 if earlier.label == "positive" else gain <= 0)


# Checks that hold something are frozen classes, not closures: workers are sent them by pickle.


@dataclass(frozen=True, slots=True)
class Opinionated:
    """The check applies only where the source output is positive or negative; else the group is inapplicable."""

    check: Check

    def __call__(self, outputs: Sequence[Output]) -> Verdict | bool:
        if outputs[0].label == "neutral":
            return Verdict(Outcome.INAPPLICABLE, reason="the source output is neutral")
        return self.check(outputs)


def opinionated(check: Check) -> Check:
    """Return the check for outputs that are positive or negative; else the group is inapplicable."""
    return Opinionated(check)


@dataclass(frozen=True, slots=True)
class LabelsAlone:
    """A check that is shown equal scores."""

    check: Check

    def __call__(self, outputs: Sequence[Output]) -> Verdict | bool:
        return self.check([replace(output, score=1.0) for output in outputs])


@dataclass(frozen=True, slots=True)
class Labelled:
    """The follow-up has this label, whatever the source's is."""

    label: str
    regardless: ClassVar[bool] = True

    def __call__(self, outputs: Sequence[Output]) -> Verdict:
        return _verdict(all(output.label == self.label for output in outputs[1:]))


@dataclass(frozen=True, slots=True)
class Mapped:
    """The follow-up's label is one of those that the source's leads to; inapplicable where it leads to none."""

    labels: tuple[tuple[str, tuple[str, ...]], ...]

    def __call__(self, outputs: Sequence[Output]) -> Verdict:
        expected = dict(self.labels).get(str(outputs[0].label))
        if expected is None:
            return Verdict(Outcome.INAPPLICABLE, reason=f"the source output is {outputs[0].label}")
        return _verdict(all(output.label in expected for output in outputs[1:]))


@dataclass(frozen=True, slots=True)
class SimilarText:
    """Every follow-up's text is similar to the source's: `word_overlap` of both, normalised, reaches the threshold; the
    value is the least of the similarities. Raises AuditError for a threshold that is not above 0 and at most 1."""

    threshold: float
    normalise: Callable[[str], str]

    def __post_init__(self) -> None:
        if not 0 < self.threshold <= 1:
            raise AuditError(f"threshold is {self.threshold:g}; it must be above 0 and at most 1")

    def __call__(self, outputs: Sequence[Output]) -> Verdict:
        source, *others = [self.normalise(str(output.text)).split() for output in outputs]
        value = min(word_overlap(source, other) for other in others)
        return _verdict(value >= self.threshold, value)


def regardless(check: Check) -> Check:
    """Mark a check that looks at the follow-ups' outputs alone: it expects the same behind whatever other relations."""
    check.regardless = True  # type: ignore[attr-defined]
    return check


# A Chinese character is a word here: no blanks say where words end.
_WORDS = re.compile(r"[\u3400-\u9fff]|[^\W\u3400-\u9fff]+(?:['’][^\W\u3400-\u9fff]+)*")


def plain_words(text: str) -> str:
    """Return a text in lower case and without punctuation, white space or signs between its words."""
    return " ".join(_WORDS.findall(text.casefold()))


# Words of a source's texts replaced by others: the same word by the same one wherever it stands.

TITLES = re.compile(r"《[^《》]*》")  # Titles of Chinese works, which no word is replaced in


def replace_words(text: str, words: Words) -> str:
    """Return the text with every old word replaced by its new one, all at once, the longest first."""
    new = dict(words)
    return _any_of(words).sub(lambda match: new[match.group()], text) if words else text


def _any_of(words: Words) -> re.Pattern[str]:
    return re.compile("|".join(re.escape(old) for old in sorted((old for old, _ in words), key=len, reverse=True)))


def exchange_words(texts: Sequence[Analysis], words: Words) -> Rewritten | None:
    """Return the follow-up in which each old word, which may be several tokens, is replaced by its new one; None where
    nothing is replaced, or where an old word is part of a longer token."""
    present = tuple((old, new) for old, new in words if any(old in text.text for text in texts))
    if not present:
        return None
    for text in texts:
        starts, ends = {token.start for token in text.tokens}, {token.end for token in text.tokens}
        matches = _any_of(present).finditer(text.text)
        if any(match.start() not in starts or match.end() not in ends for match in matches):
            return None
    return Rewritten(tuple(replace_words(text.text, present) for text in texts), present)


def substitute(texts: Sequence[Analysis], new: Mapping[str, str]) -> Rewritten | None:
    """Return `exchange_words` of the words and replacements of a mapping."""
    return exchange_words(texts, tuple(new.items()))


# Documents: their sentences as inputs, put together anew, and relations on sentences spread over them.

_WIDE = frozenset("。！？…”’」』）》】—")
"""Marks of Chinese that a sentence ends with; after those of the West, the next sentence needs a space."""


def rearrange(text: Analysis, order: Sequence[int]) -> str:
    """Return the document with only these sentences, in this order.

    The white space between sentences keeps its place when all stay, so that paragraphs stay paragraphs; where some go,
    what stood before each remaining sentence goes with it. A sentence that ended its document without a mark gets a
    full stop when another one follows it. Chinese sentences need no space between them, and are left as they are where
    the one that followed still follows, or where the line ends with them: a heading takes no stop.

    >>> rearrange(Analysis("One. Two. Three"), [2, 0]), rearrange(Analysis("甲走。乙来。丙在", "zh"), [2, 0, 1])
    ('Three. One.', '丙在。甲走。乙来。')
    """
    chinese, edges = text.language == "zh", [0, *(end for _, end in text.spans)]
    gaps = [text.text[edges[index] : start] for index, (start, _) in enumerate(text.spans)]
    parts: list[str] = []
    for place, index in enumerate(order):
        start, end = text.spans[index]
        follows = chinese and place > 0 and order[place - 1] == index - 1
        if place:
            gap = gaps[place] if len(order) == len(text.spans) else gaps[index]
            closed = chinese and any(sign in gap for sign in "\n\r")
            if not (follows or closed) and parts[-1][-1].isalnum():
                parts.append("。" if chinese else ".")
            apart = not follows and parts[-1][-1] not in _WIDE and (text.text[start].isascii() or not chinese)
            parts.append(gap or " " * apart)
        parts.append(text.text[start:end])
    return "".join(parts)


def sentence_inputs(text: Analysis) -> list[Input]:
    """Return one input per sentence of a text, in order."""
    return [Input.of(sentence.text, language=text.language) for sentence in text.sentences]


def on_documents(relation: Plain, share: float = 1.0) -> Plain:
    """Return the same relation for documents: of the sentences that the perturbation applies to, the share (0 < share
    <= 1, at least one) is drawn at random and perturbed. Raises AuditError for another share, and a relation on
    documents already."""
    if not 0 < share <= 1:
        raise AuditError(f"share {share!r} of relation {relation.name!r} must be above 0 and at most 1")
    if relation.unit != "sentence":
        raise AuditError(f"relation {relation.name!r} works on documents already; use it as it is")
    params = {**relation.params, "on": "documents", "share": share}
    spread = Spread(relation.name, relation.perturb, share)
    return replace(relation, unit="document", perturb=spread, params=params)


@dataclass(frozen=True, slots=True)
class Spread:
    """A sentence perturbation of the relation `name`, spread over a `share` of the sentences that it applies to."""

    name: str
    perturb: Perturb
    share: float = 1.0

    def __call__(self, text: Analysis, choices: random.Random) -> str | None:
        perturbed: dict[int, str] = {}
        for index, sentence in enumerate(text.sentences):
            new = self.perturb(sentence, choices)
            if new is None or new == sentence.text:
                continue
            if not isinstance(new, str):
                raise AuditError(f"relation {self.name!r} makes several follow-ups of a sentence: none on documents")
            perturbed[index] = new
        if not perturbed:
            return None
        chosen = choices.sample(sorted(perturbed), max(1, round(self.share * len(perturbed))))
        return text.replace_sentences({index: perturbed[index] for index in chosen})
