"""MR7.1 and MR7.2 of the task `sentiment`: sentences are removed by their labels (by the system).

Which sentences go depends on what the system says of them, and it may be wrong: a document without the sentences that
it calls positive may well be positive still. So no answer about the source carries to the follow-up. (The study took
the data set's labels of the sources for them.)

Source: Jiang, Chen, Wang, "On the effectiveness of testing sentiment analysis systems with metamorphic testing"
(Information and Software Technology 150, 2022), section 4.3.2 (3).
"""

import random
from collections.abc import Callable

from audit.relations.base import Check, Member, Outcome, Source, Steps, Verdict
from audit.relations.carry import nothing
from audit.relations.documents import rearranged, sentence_inputs
from audit.relations.expect import different, equivalent
from audit.relations.registry import chained
from audit.tasks import Input

_FAMILY = "removing sentences"


@chained("MR7.1", task="sentiment", family=_FAMILY, unit="document", carry=nothing)
def without_same(source: Source, choices: random.Random) -> Steps:
    """All sentences with the document's own label (by the system) are removed; the label becomes another one.

    With a positive document and the labels positive, negative, "Good. Bad." becomes "Bad.". Inapplicable where the
    document is neutral, or where nothing or everything would be removed.
    """
    return (yield from _removed(source, lambda whole, part: whole != part, different))


@chained("MR7.2", task="sentiment", family=_FAMILY, unit="document", carry=nothing)
def without_others(source: Source, choices: random.Random) -> Steps:
    """All sentences with another label than the document (by the system) are removed; the sentiment stays.

    With a positive document and the labels positive, negative, "Good. Bad." becomes "Good.". Inapplicable where the
    document is neutral, or where nothing or everything would be removed.
    """
    return (yield from _removed(source, lambda whole, part: whole == part, equivalent))


def _removed(source: Source, stays: Callable[[str | None, str | None], bool], check: Check) -> Steps:
    """A document of one sentence makes no group. The source runs alone first: a neutral one ends the group, and its
    sentences need not be run."""
    text = source.analysis
    if len(text.spans) < 2:
        return None
    (whole,) = yield [Member("source", source.input)]
    if whole.label == "neutral":
        return Verdict(Outcome.INAPPLICABLE, reason="the source output is neutral")
    parts = yield [Member("probe", made) for made in sentence_inputs(source)]
    kept = [index for index, part in enumerate(parts) if stays(whole.label, part.label)]
    if not kept:
        return Verdict(Outcome.INAPPLICABLE, reason="every sentence would be removed")
    if len(kept) == len(parts):
        return Verdict(Outcome.INAPPLICABLE, reason="no sentence would be removed")
    follow_up = Input((rearranged(text, kept), *source.input.texts[1:]), source.input.languages)
    return check([whole, *(yield [Member("follow_up", follow_up)])])
