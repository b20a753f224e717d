"""MGMT-sentence of the task `translation`: there, back, and there again.

Source: the study of MGMT (multi-granularity metamorphic testing of neural machine translation), section 3.2.1,
definition 1. Its formula is hard to read in the copy we have: a quotient of two similarities, that of the two
translations over that of source and round trip, compared with 1. The text around it says what the quotient is for: a
bad way back makes the round trip unlike its source (the lower similarity is small), and must not be counted against the
way out, whose similarity (the upper one) it makes smaller, too. So we read "at least 1".
"""

import math
import random
from collections.abc import Mapping

from audit.language.text_similarity import normalised_similarity
from audit.relations.agreeing import at_least
from audit.relations.base import ANY, Member, Outcome, Source, Steps, Verdict
from audit.relations.carry import nothing
from audit.relations.registry import chained
from audit.relations.round_trip import turned
from audit.tasks import Input

_UNLIKE = Verdict(Outcome.INAPPLICABLE, reason="the round trip is not similar to its source: nothing to divide by")


def _wrong(params: Mapping[str, object]) -> str | None:
    bound = float(str(params["bound"]))
    return None if math.isfinite(bound) and bound > 0 else f"bound is {bound:g}; allowed are numbers above 0"


@chained(
    "MGMT-sentence",
    task="translation",
    family="multi-granularity",
    unit="any",
    carry=nothing,
    languages=ANY,
    params={"bound": 1.0},
    check_params=_wrong,
)
def there_and_back(source: Source, choices: random.Random, *, bound: float = 1.0) -> Steps:
    """There, back and there again; the two translations are at least as near as the texts they are made from.

    S becomes T, T becomes S', S' becomes T'; the value is similarity(T, T') / similarity(S, S'), with the normalised
    Levenshtein similarity 1 - 2 edit / (length + length). It may be above 1. That similarity is 0 or less where texts
    have next to nothing in common; a quotient by such a one says nothing, and the group is inapplicable.
    """
    given = source.input
    if given.target is None:
        return None
    (there,) = yield [Member("source", given)]
    (back,) = yield [Member("link", turned(given, str(there.text)))]
    again_input = Input.of(str(back.text), language=given.languages[0], target=given.target)
    (again,) = yield [Member("link", again_input)]
    below = normalised_similarity(given.text, str(back.text))
    if below <= 0:
        return _UNLIKE
    return at_least(normalised_similarity(str(there.text), str(again.text)) / below, bound)
