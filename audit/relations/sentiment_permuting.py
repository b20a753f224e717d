"""MR5.1 to MR5.3 of the task `sentiment`: the sentences of a document change their order.

Source: Jiang, Chen, Wang, "On the effectiveness of testing sentiment analysis systems with metamorphic testing"
(Information and Software Technology 150, 2022), section 4.3.2 (1).
"""

import random
from collections.abc import Callable, Sequence

from audit.language import Analysis
from audit.relations.base import Member, Source, Steps
from audit.relations.carry import unchanged
from audit.relations.documents import rearranged, sentence_inputs
from audit.relations.expect import equivalent
from audit.relations.registry import chained, plain
from audit.tasks import Input, Output

_FAMILY = "permuting sentences"
_LABELS = ("positive", "neutral", "negative")


@plain("MR5.1", task="sentiment", family=_FAMILY, unit="document", check=equivalent, carry=unchanged)
def permuted(text: Analysis, choices: random.Random) -> str | None:
    """The sentences come in a random order; the sentiment stays.

    >>> permuted(Analysis("It is long. I like it."), random.Random(0))
    'I like it. It is long.'
    """
    sentences = [text.text[start:end] for start, end in text.spans]
    if len(set(sentences)) < 2:
        return None
    order = list(range(len(sentences)))
    while [sentences[index] for index in order] == sentences:
        choices.shuffle(order)
    return rearranged(text, order)


@chained("MR5.2", task="sentiment", family=_FAMILY, unit="document", carry=unchanged)
def grouped(source: Source, choices: random.Random) -> Steps:
    """Sentences with the same label (by the system) stand together; the sentiment stays.

    Groups come in the order of their first sentences, and a group keeps the order of its sentences: with the labels
    positive, negative, positive, "Good. Bad. Nice." becomes "Good. Nice. Bad.".
    """
    return (yield from _reordered(source, _by_label))


@chained("MR5.3", task="sentiment", family=_FAMILY, unit="document", carry=unchanged)
def ordered_groups(source: Source, choices: random.Random) -> Steps:
    """Sentences stand in groups by label, each ordered by score (both by the system); the sentiment stays.

    Groups come in the order of their first sentences; each is ascending or descending, drawn at random; equal scores
    keep their order. With the outputs positive 0.6, negative 0.9, positive 0.8 and descending groups,
    "Good. Bad. Great." becomes "Great. Good. Bad.".
    """
    descending = {label: choices.random() < 0.5 for label in _LABELS}

    def ordered(outputs: Sequence[Output]) -> list[int]:
        made: list[int] = []
        for group in _groups(outputs):
            sign = -1 if descending[str(outputs[group[0]].label)] else 1
            made += sorted(group, key=lambda index: sign * _score(outputs[index]))
        return made

    return (yield from _reordered(source, ordered))


def _reordered(source: Source, order_of: Callable[[Sequence[Output]], list[int]]) -> Steps:
    text = source.analysis
    sentences = [text.text[start:end] for start, end in text.spans]
    if len(set(sentences)) < 2:
        return None
    members = [Member("source", source.input), *(Member("probe", made) for made in sentence_inputs(source))]
    whole, *parts = yield members
    order = order_of(parts)
    if [sentences[index] for index in order] == sentences:
        return None
    follow_up = Input((rearranged(text, order), *source.input.texts[1:]), source.input.languages)
    return equivalent([whole, *(yield [Member("follow_up", follow_up)])])


def _groups(outputs: Sequence[Output]) -> list[list[int]]:
    """Indices by label, groups in the order of their first member."""
    groups: dict[str | None, list[int]] = {}
    for index, output in enumerate(outputs):
        groups.setdefault(output.label, []).append(index)
    return list(groups.values())


def _by_label(outputs: Sequence[Output]) -> list[int]:
    return [index for group in _groups(outputs) for index in group]


def _score(output: Output) -> float:
    return 1.0 if output.score is None else output.score
